/*
 * The control-flow graph of a kernel as a picture: basic blocks in layers from top to bottom, edges
 * that lead back in another colour, heat where a column gives it.
 *
 * Blocks stand in the order of their addresses, and IGC's code goes back only in loops. So an edge
 * to a lower or the same address leads back, all others make the layers (longest path from the
 * entry). Edges over several layers get a place in each of them; places are ordered by the mean of
 * their neighbours, a few sweeps down and up, then moved towards them as far as there is room.
 */
const GRAPH_BLOCKS_MAX = 1500, GRAPH_PLACES_MAX = 20000, GRAPH_SWEEPS = 6;
const GRAPH_CHAR = 6.7, GRAPH_LINE = 16, GRAPH_PAD = 8, GRAPH_GAP_X = 26, GRAPH_GAP_Y = 40;

/* {nodes: [{block, layer, x, y, w, h}], edges: [{from, to, back, points}], width, height}; nodes
 * without a block are places of edges. null: too large to be drawn. */
function layoutGraph(blocks, sizeOf) {
    const n = blocks.length;
    const succ = blocks.map(b => [...new Set(list(b.successors))].filter(s => Number.isInteger(s) && s >= 0 && s < n));
    const layer = new Int32Array(n);
    for (let b = 0; b < n; b++)
        for (const s of succ[b])
            if (s > b)
                layer[s] = Math.max(layer[s], layer[b] + 1);
    const nodes = blocks.map((block, b) => ({block: b, layer: layer[b], ...sizeOf(block, b), up: [], down: []}));
    const edges = [];
    for (let b = 0; b < n; b++) {
        for (const s of succ[b]) {
            // both ends in layers: upper, then lower; an edge within a layer or to itself has no places
            const back = s <= b, upper = layer[b] <= layer[s] ? b : s, lower = upper === b ? s : b;
            const chain = [upper];
            for (let l = layer[upper] + 1; l < layer[lower]; l++) {
                chain.push(nodes.length);
                nodes.push({block: -1, layer: l, w: 2, h: 0, up: [], down: []});
                if (nodes.length > GRAPH_PLACES_MAX)
                    return null;
            }
            chain.push(lower);
            if (layer[upper] !== layer[lower])
                for (let c = 1; c < chain.length; c++) {
                    nodes[chain[c - 1]].down.push(chain[c]);
                    nodes[chain[c]].up.push(chain[c - 1]);
                }
            edges.push({from: b, to: s, back, chain: upper === b ? chain : chain.reverse()});
        }
    }
    const layers = [];
    nodes.forEach((node, i) => (layers[node.layer] = layers[node.layer] || []).push(i));
    orderLayers(nodes, layers);
    placeLayers(nodes, layers);
    for (const edge of edges)
        edge.points = edge.chain.map(i => nodes[i]);
    const width = Math.max(...nodes.map(v => v.x + v.w / 2)), height = Math.max(...nodes.map(v => v.y + v.h));
    return {nodes: nodes.slice(0, n), edges, width, height};
}

function meanOf(items, value, otherwise) {
    return items.length ? items.reduce((sum, i) => sum + value(i), 0) / items.length : otherwise;
}

function orderLayers(nodes, layers) {
    const renumber = row => row.forEach((i, at) => { nodes[i].at = at; });
    layers.forEach(renumber);
    for (let sweep = 0; sweep < GRAPH_SWEEPS; sweep++) {
        const down = sweep % 2 === 0, rows = down ? layers : layers.slice().reverse();
        for (const row of rows) {
            for (const i of row)
                nodes[i].want = meanOf(down ? nodes[i].up : nodes[i].down, k => nodes[k].at, nodes[i].at);
            row.sort((a, b) => nodes[a].want - nodes[b].want || a - b);
            renumber(row);
        }
    }
}

function placeLayers(nodes, layers) {
    let y = 0;
    for (const row of layers) {
        let x = 0, most = 0;
        for (const i of row) {
            nodes[i].x = x + nodes[i].w / 2;
            x += nodes[i].w + GRAPH_GAP_X;
            most = Math.max(most, nodes[i].h);
        }
        for (const i of row)
            nodes[i].y = y + (nodes[i].block < 0 ? most / 2 : 0);
        y += most + GRAPH_GAP_Y;
    }
    const apart = (a, b) => (nodes[a].w + nodes[b].w) / 2 + GRAPH_GAP_X;
    for (let sweep = 0; sweep < 2 * GRAPH_SWEEPS; sweep++) {
        const down = sweep % 2 === 0;
        for (const row of down ? layers : layers.slice().reverse()) {
            const want = row.map(i => meanOf(down ? nodes[i].up : nodes[i].down, k => nodes[k].x, nodes[i].x));
            // pushed right where there is no room, and pushed left: the middle of both keeps them apart
            const right = want.slice(), left = want.slice();
            for (let k = 1; k < row.length; k++)
                right[k] = Math.max(right[k], right[k - 1] + apart(row[k - 1], row[k]));
            for (let k = row.length - 2; k >= 0; k--)
                left[k] = Math.min(left[k], left[k + 1] - apart(row[k], row[k + 1]));
            row.forEach((i, k) => { nodes[i].x = (left[k] + right[k]) / 2; });
        }
    }
    const least = Math.min(...nodes.map(v => v.x - v.w / 2));
    for (const node of nodes)
        node.x -= least;
}

/* The page has an empty picture, which knows the name space. */
const svg = (name, values) => attrs(document.createElementNS($('svg').namespaceURI, name), values);

class Graph {
    /* pin(insn): a block was chosen */
    constructor(pin) {
        this.pin = pin;
        this.host = attrs(el('div.graph-host'), {tabindex: '0', role: 'img', 'aria-label': 'Control-flow graph'});
        this.note = el('span.pane-note');
        this.node = el('section.pane.graph', el('header.pane-head', el('h2', 'Control flow'), this.note), this.host);
        this.node.dataset.pane = 'graph';
        this.host.addEventListener('wheel', event => this.wheel(event), {passive: false});
        this.host.addEventListener('pointerdown', event => this.grab(event));
        this.host.addEventListener('pointermove', event => this.drag(event));
        this.host.addEventListener('pointerup', event => this.drop(event));
        this.host.addEventListener('keydown', event => this.key(event));
        // until it is moved by hand, the graph fits its pane
        new ResizeObserver(() => this.moved || this.fit()).observe(this.host);
    }

    show(kernel, heat) {
        if (this.kernel === kernel && this.heat === heat)
            return;
        const same = this.kernel === kernel;
        this.kernel = kernel;
        this.heat = heat;
        this.host.replaceChildren();
        this.boxes = [];
        const blocks = list(kernel.json.blocks).map(object);
        const graph = blocks.length && blocks.length <= GRAPH_BLOCKS_MAX ? layoutGraph(blocks, (b, k) => this.sizeOf(b, k)) : null;
        this.note.textContent = plural(blocks.length, 'block');
        if (!graph) {
            this.picture = null;
            this.host.append(el('p.says', blocks.length ? 'Too large to be drawn: use the machine code with its arrows.' : 'No blocks are known of this kernel.'));
            return;
        }
        this.draw(graph);
        if (same && this.moved)
            this.apply();
        else
            this.fit();
    }

    /* ---- boxes ---- */

    insnsOf(block) {
        const first = number(block.first, 0), n = Math.min(number(block.count, 0), this.kernel.n - first);
        return first >= 0 && n > 0 ? Array.from({length: Math.min(n, 100000)}, (_, k) => first + k) : NO_CALLS;
    }

    /* What a box says: place, share, lines, what it does. */
    textOf(block, index) {
        const k = this.kernel, insns = this.insnsOf(block), lines = [`B${index}  ${insns.length ? hex(k.offsets[insns[0]]) : ''}`];
        const values = k.columns.filter(c => c.shown).map(c => `${c.title} ${valueText(round(c.of(insns)), c.unit)}`);
        if (values.length)
            lines.push(values.join('  '));
        const places = new Set(insns.filter(i => k.lineOf[i] >= 0).map(i => k.lineOf[i]));
        if (places.size)
            lines.push(placesText(k, [...places]));
        const mix = new Map();
        for (const i of insns)
            mix.set(string(k.instructions[i].opcode), (mix.get(string(k.instructions[i].opcode)) || 0) + 1);
        lines.push([...mix].sort((a, b) => b[1] - a[1]).slice(0, 4).map(([op, n]) => `${n} ${op}`).join('  '));
        return lines.map(text => visible(text).slice(0, 44));
    }

    sizeOf(block, index) {
        const text = this.textOf(block, index);
        return {text, w: Math.max(...text.map(t => t.length)) * GRAPH_CHAR + 2 * GRAPH_PAD, h: text.length * GRAPH_LINE + GRAPH_PAD};
    }

    draw(graph) {
        this.size = {w: graph.width, h: graph.height};
        this.picture = svg('svg', {class: 'graph-picture'});
        this.world = svg('g', {});
        this.picture.append(this.world);
        for (const edge of graph.edges) {
            const kind = edge.back ? 'edge back' : 'edge', {path, tip} = edgePath(edge);
            this.world.append(svg('path', {class: kind, d: path}), svg('path', {class: kind + ' tip-of', d: tip}));
        }
        graph.nodes.forEach(node => this.world.append(this.box(node)));
        this.host.append(this.picture);
    }

    box(node) {
        const block = object(list(this.kernel.json.blocks)[node.block]), insns = this.insnsOf(block);
        const g = svg('g', {class: 'block', transform: `translate(${(node.x - node.w / 2).toFixed(1)} ${node.y.toFixed(1)})`, 'data-block': node.block});
        g.append(svg('rect', {width: node.w.toFixed(1), height: node.h, rx: 5}));
        const column = this.heat && this.heat.column;
        const part = column && column.of ? this.partOf(column, insns) : 0;
        if (part > 0) {
            const bar = svg('rect', {class: 'heat', width: 5, height: node.h, rx: 2});
            bar.style.setProperty('--hot', (8 + 92 * Math.sqrt(part)).toFixed(0) + '%');
            g.append(bar);
        }
        node.text.forEach((text, line) => {
            const t = svg('text', {x: GRAPH_PAD + 2, y: GRAPH_LINE * (line + 1) - 2, class: line ? '' : 'head'});
            t.textContent = text;
            g.append(t);
        });
        this.boxes.push({node, g, first: insns.length ? insns[0] : -1, end: insns.length ? insns[insns.length - 1] : -2});
        return g;
    }

    partOf(column, insns) {
        if (!this.most || this.most.column !== column || this.most.kernel !== this.kernel)
            this.most = {column, kernel: this.kernel, value: Math.max(...list(this.kernel.json.blocks).map(b => column.of(this.insnsOf(object(b))) || 0))};
        return this.most.value > 0 ? (column.of(insns) || 0) / this.most.value : 0;
    }

    /* related: of Kernel.related(), or null */
    setMarks(name, related) {
        for (const box of this.boxes || []) {
            let level = 0;
            if (related)
                for (const [i, at] of related.insns)
                    if (i >= box.first && i <= box.end)
                        level = Math.max(level, at);
            box.g.classList.toggle(name, level === 2);
            box.g.classList.toggle(name + '-rel', level === 1);
        }
    }

    /* ---- moving about ---- */

    apply() {
        const {x, y, scale} = this.view;
        this.world.setAttribute('transform', `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale.toFixed(4)})`);
    }

    fit() {
        if (!this.picture)
            return;
        const w = this.host.clientWidth, h = this.host.clientHeight, margin = 16;
        // a long graph is read from its top; it is not made so small that it cannot be read
        const scale = clamp(Math.min((w - 2 * margin) / this.size.w, (h - 2 * margin) / this.size.h), 0.65, 1.3);
        this.view = {scale, x: Math.max(margin, (w - this.size.w * scale) / 2), y: margin};
        this.moved = false;
        this.apply();
    }

    zoom(by, x = this.host.clientWidth / 2, y = this.host.clientHeight / 2) {
        if (!this.picture)
            return;
        const v = this.view, scale = clamp(v.scale * by, 0.05, 4), ratio = scale / v.scale;
        this.view = {scale, x: x - (x - v.x) * ratio, y: y - (y - v.y) * ratio};
        this.moved = true;
        this.apply();
    }

    wheel(event) {
        if (!this.picture)
            return;
        event.preventDefault();
        const box = this.host.getBoundingClientRect();
        this.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.left, event.clientY - box.top);
    }

    grab(event) {
        if (!this.picture || event.button !== 0)
            return;
        this.held = {x: event.clientX, y: event.clientY, view: {...this.view}, moved: false, on: event.target};
        this.host.setPointerCapture(event.pointerId);
    }

    drag(event) {
        if (!this.held)
            return;
        const dx = event.clientX - this.held.x, dy = event.clientY - this.held.y;
        this.held.moved = this.held.moved || Math.hypot(dx, dy) > 4;
        if (this.held.moved) {
            this.view = {...this.held.view, x: this.held.view.x + dx, y: this.held.view.y + dy};
            this.moved = true;
            this.apply();
        }
    }

    drop() {
        const held = this.held;
        this.held = null;
        const group = held && !held.moved && held.on.closest('[data-block]');
        const box = group && this.boxes.find(b => b.g === group);
        if (box && box.first >= 0)
            this.pin(box.first);
    }

    key(event) {
        const step = {ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40]}[event.key];
        if (step && this.picture) {
            this.moved = true;
            this.view.x += step[0];
            this.view.y += step[1];
            this.apply();
        } else if (event.key === '+' || event.key === '-') {
            this.zoom(event.key === '+' ? 1.25 : 0.8);
        } else if (event.key === '0') {
            this.fit();
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }
}

const round = value => Number.isFinite(value) ? Number(value.toPrecision(3)) : value;

/* "a.cl:3,5-9 b.h:1" */
function placesText(kernel, keys) {
    const files = new Map();
    for (const key of keys.sort((a, b) => a - b))
        push(files, keyFile(key), keyLine(key));
    return [...files].map(([file, lines]) => {
        const parts = [];
        for (const line of lines) {
            const last = parts[parts.length - 1];
            if (last && last[1] === line - 1)
                last[1] = line;
            else
                parts.push([line, line]);
        }
        return `${kernel.module.files.all[file].name}:${parts.map(([a, b]) => a === b ? a : `${a}-${b}`).join(',')}`;
    }).join(' ');
}

const xy = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)} `;
/* An arrow's tip that ends in x, y and points down, or left. */
const tipDown = (x, y) => `M${xy(x, y)}l-4 -7h8z`;
const tipLeft = (x, y) => `M${xy(x, y)}l7 -4v8z`;

/* {path, tip}: from box to box through the places of the layers between. */
function edgePath(edge) {
    const from = edge.points[0], to = edge.points[edge.points.length - 1];
    if (edge.from === edge.to) { // a loop of one block stands beside it
        const x = from.x + from.w / 2, y = from.y + from.h / 2;
        return {path: `M${xy(x, y + 8)}c24 8 24 -24 0 -16`, tip: tipLeft(x, y - 8)};
    }
    if (from.layer === to.layer) // side by side: over the top
        return {path: `M${xy(from.x, from.y)}C${xy(from.x, from.y - 30)}${xy(to.x, to.y - 30)}${xy(to.x, to.y)}`, tip: tipDown(to.x, to.y)};
    if (edge.back)
        return backPath(edge.points.slice(1, -1), from, to);
    let x = from.x, y = from.y + from.h, path = `M${xy(x, y)}`;
    for (const [nx, ny] of edge.points.slice(1, -1).map(p => [p.x, p.y]).concat([[to.x, to.y]])) {
        const middle = (y + ny) / 2;
        path += `C${xy(x, middle)}${xy(nx, middle)}${xy(nx, ny)}`;
        [x, y] = [nx, ny];
    }
    return {path, tip: tipDown(to.x, to.y)};
}

/* From the right side of a box to the right side of one above it. */
function backPath(places, from, to) {
    const sx = from.x + from.w / 2, sy = from.y + from.h / 2, tx = to.x + to.w / 2, ty = to.y + to.h / 2;
    const tip = tipLeft(tx, ty);
    if (!places.length) {
        const x = Math.max(sx, tx) + 36;
        return {path: `M${xy(sx, sy)}C${xy(x, sy)}${xy(x, ty)}${xy(tx, ty)}`, tip};
    }
    let path = `M${xy(sx, sy)}`, x = sx + 30, y = sy, first = true;
    for (const p of places) {
        const middle = (y + p.y) / 2;
        path += `C${xy(x, first ? sy : middle)}${xy(p.x, middle)}${xy(p.x, p.y)}`;
        [x, y, first] = [p.x, p.y, false];
    }
    return {path: `${path}C${xy(x, (y + ty) / 2)}${xy(tx + 30, ty)}${xy(tx, ty)}`, tip};
}
