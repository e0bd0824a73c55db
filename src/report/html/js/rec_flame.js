/*
 * The flame graph of a recording with backtraces: the application's functions from the outermost at
 * the top, below them API calls (host time), or the kernels and copies that were appended there
 * (device time). Width is time, everything below included. A click makes a function as wide as the
 * page; what is narrower than half a pixel is not drawn.
 */
const FLAME_ROW_PX = 22, FLAME_LEAST_PX = 0.5;

/* Parents stand before children; what does not is left out. */
function flameNodes(json) {
    const nodes = [];
    json.map(object).forEach((n, i) => {
        const parent = Number.isInteger(n.parent) && n.parent >= 0 && n.parent < i ? nodes[n.parent] : null;
        const node = {i, name: visible(string(n.name)), kernel: string(n.name), module: string(n.module), ns: Math.max(0, number(n.total_ns, 0)), count: number(n.count, 0), parent, children: [], depth: parent ? parent.depth + 1 : 0};
        nodes.push(node);
        if (parent)
            parent.children.push(node);
    });
    return nodes;
}

class Flame {
    constructor(app) {
        this.app = app;
        this.trees = {};
        for (const [kind, json] of Object.entries(app.recording.trees)) {
            const nodes = flameNodes(json);
            if (nodes.length > 1 && nodes[0].ns > 0)
                this.trees[kind] = nodes;
        }
        this.kind = this.trees.device ? 'device' : 'host';
        this.top = null;
        this.expression = null;
        this.host = $('rec-flames');
        this.host.addEventListener('click', event => this.clicked(event));
        this.host.addEventListener('keydown', event => this.key(event));
        new ResizeObserver(() => this.draw()).observe(this.host);
        for (const button of document.querySelectorAll('[data-flame]')) {
            button.hidden = !this.trees[button.dataset.flame];
            button.addEventListener('click', () => this.show(button.dataset.flame, 0));
        }
    }

    get any() { return Object.keys(this.trees).length > 0; }

    /* kind: host, device; at: number of the node that is as wide as the page */
    show(kind, at) {
        this.kind = this.trees[kind] ? kind : this.kind;
        const nodes = this.trees[this.kind];
        this.top = nodes && nodes[at] || nodes && nodes[0];
        for (const button of document.querySelectorAll('[data-flame]'))
            button.setAttribute('aria-checked', button.dataset.flame === this.kind);
        this.draw();
        this.app.saveLink();
    }

    draw() {
        const width = this.host.clientWidth;
        if (!this.top || !width)
            return;
        const above = [];
        for (let n = this.top; n; n = n.parent)
            above.unshift(n);
        const boxes = document.createDocumentFragment();
        let deepest = 0;
        const put = (node, x, w) => {
            deepest = Math.max(deepest, node.depth);
            boxes.append(this.box(node, x, w, above));
        };
        for (const node of above)
            put(node, 0, width);
        // without recursion: stacks may be deep
        const open = [[this.top, 0, width]];
        while (open.length) {
            const [node, x, w] = open.pop();
            let at = x;
            for (const child of node.children) {
                const wide = node.ns ? w * child.ns / node.ns : 0;
                if (wide < FLAME_LEAST_PX)
                    continue;
                put(child, at, wide);
                open.push([child, at, wide]);
                at += wide;
            }
        }
        const canvas = el('div.flame-canvas', boxes);
        canvas.style.height = (deepest + 1) * FLAME_ROW_PX + 'px';
        this.host.replaceChildren(canvas);
    }

    box(node, x, w, above) {
        const all = this.trees[this.kind][0].ns, share = (node.ns / all * 100).toFixed(1);
        const own = node.ns - node.children.reduce((sum, c) => sum + c.ns, 0);
        const box = attrs(el('button.flame', w > 30 ? node.name : ''), {
            'data-node': node.i, tabindex: node === this.top ? '0' : '-1', 'aria-label': `${node.name}, ${duration(node.ns)}, ${share} percent`,
            'data-tip': `${node.name}\n${duration(node.ns)}, ${share} % of all, ${plural(node.count, 'time')}${node.children.length && own > 0 ? `\nitself ${duration(own)}` : ''}`,
        });
        box.style.left = x + 'px';
        box.style.width = Math.max(w - 1, 0.5) + 'px';
        box.style.top = node.depth * FLAME_ROW_PX + 'px';
        box.style.setProperty('--hue', flameHue(node.name));
        if (node !== this.top && above.includes(node))
            box.classList.add('above');
        if (this.expression)
            box.classList.add(this.expression.test(node.name) ? 'found' : 'faded');
        return box;
    }

    clicked(event) {
        const box = event.target.closest('[data-node]');
        if (!box)
            return;
        const node = this.trees[this.kind][Number(box.dataset.node)];
        if (node === this.top && !node.children.length && this.kind === 'device' && this.app.codeOf(node.kernel, node.module))
            this.app.openCode(node.kernel, node.module);
        else
            this.show(this.kind, node.i);
    }

    key(event) {
        if (event.key !== 'Backspace' || !this.top.parent)
            return;
        this.show(this.kind, this.top.parent.i);
        event.preventDefault();
    }

    /* How many of the shown tree match. */
    find(expression) {
        this.expression = expression;
        this.draw();
        return expression ? list(this.trees[this.kind]).filter(n => expression.test(n.name)).length : 0;
    }
}

/* The same name has the same colour everywhere; API calls and functions of the application differ. */
function flameHue(name) {
    let h = 0;
    for (let i = 0; i < name.length; i++)
        h = (h * 31 + name.charCodeAt(i)) >>> 0;
    return /^ze[st]?[A-Z]/.test(name) ? 205 + h % 40 : 12 + h % 45;
}
