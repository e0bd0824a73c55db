/*
 * The minimap beside a pane: the whole layout in one strip. Its ground shows where code is and how
 * hot it is, over it stand search hits, correlated rows and what is in view. A click or a drag
 * scrolls.
 */
class Minimap {
    constructor(pane) {
        this.pane = pane;
        this.canvas = attrs(el('canvas.minimap'), {role: 'img', 'aria-label': 'Overview'});
        this.view = el('div.minimap-view');
        this.node = el('div.minimap-frame', this.canvas, this.view);
        pane.body.append(this.node);
        this.draw = perFrame(() => this.drawNow());
        new ResizeObserver(() => this.draw()).observe(this.canvas);
        this.node.addEventListener('pointerdown', event => this.drag(event));
        this.node.addEventListener('pointermove', event => {
            if (event.buttons & 1)
                this.drag(event);
        });
        this.node.addEventListener('wheel', event => {
            pane.scroller.scrollTop += event.deltaY;
        }, {passive: true});
    }

    drag(event) {
        if (event.type === 'pointerdown')
            this.node.setPointerCapture(event.pointerId);
        const box = this.node.getBoundingClientRect(), rows = this.pane.list.view_px() / ROW_PX;
        const at = clamp((event.clientY - box.top) / this.extent(box.height), 0, 1);
        this.pane.list.top = Math.max(0, at * this.pane.layout.n - rows / 2);
        event.preventDefault();
    }

    setLayout() { this.draw(); }

    /* Short layouts do not stretch: a row is at most three pixels high. */
    extent(height) { return Math.min(height, this.pane.layout.n * 3); }

    drawNow() {
        const pane = this.pane, sized = pane.layout && sizedContext(this.canvas);
        if (!sized)
            return;
        const {context, width, height} = sized;
        this.scale = this.extent(height) / Math.max(1, pane.layout.n);
        this.ground(context, width);
        this.ticks(context, pane.hitRows, 0, 5, cssColour('--hit-strong'));
        const hover = pane.marks.hover, pin = pane.marks.pin;
        this.ticks(context, levelRows(hover, 1), 5, width - 5, cssColour('--hover-weak'));
        this.ticks(context, levelRows(pin, 1), 5, width - 5, cssColour('--pin-weak'));
        this.ticks(context, levelRows(hover, 2), 5, width - 5, cssColour('--hover-strong'));
        this.ticks(context, levelRows(pin, 2), 5, width - 5, cssColour('--pin-strong'));
        this.canvas.dataset.marks = pane.marked.length;
        this.canvas.dataset.hits = pane.hitRows.length;
        attrs(this.canvas, {'aria-label': `Overview: ${plural(pane.marked.length, 'correlated row')}, ${plural(pane.hitRows.length, 'match', 'matches')}`});
        this.drawView();
    }

    ticks(context, rows, x, width, colour) {
        context.fillStyle = colour;
        const high = Math.max(2, this.scale);
        let last = -9;
        for (const row of rows) {
            const y = Math.floor(row * this.scale);
            if (y === last)
                continue;
            last = y;
            context.fillRect(x, y, width, high);
        }
    }

    /* One bar for each pixel: as long as the text of its hottest or first row, in its colour. */
    ground(context, width) {
        const {layout, kernel, heat} = this.pane, step = Math.max(1, 1 / this.scale);
        const code = cssColour('--map-code'), plain = cssColour('--map-plain'), hot = cssColour('--heat');
        for (let at = 0; at < layout.n; at += step) {
            const row = Math.floor(at), kind = layout.kinds[row], value = layout.values[row];
            const has = kind === INSN || (kind === LINE && kernel.hasCode(value));
            let part = 0;
            if (heat)
                for (let r = row; r < Math.min(layout.n, at + step); r++)
                    part = Math.max(part, layout.kinds[r] === INSN ? heat.insn(layout.values[r]) : layout.kinds[r] === LINE ? heat.line(layout.values[r]) : 0);
            const [indent, length] = this.shape(kind, value);
            context.fillStyle = has ? code : plain;
            context.fillRect(6 + indent * (width - 8), row * this.scale, length * (width - 8), Math.max(1, this.scale - 0.6));
            if (part > 0.02) {
                context.globalAlpha = 0.15 + 0.85 * Math.sqrt(part);
                context.fillStyle = hot;
                context.fillRect(6, row * this.scale, width - 6, Math.max(1, this.scale));
                context.globalAlpha = 1;
            }
        }
    }

    /* Where a row's text starts and how long it is, as parts of the width. */
    shape(kind, value) {
        const kernel = this.pane.kernel;
        if (kind === INSN)
            return [this.pane.kind === 'mixed' ? 0.12 : 0, clamp(kernel.text(value).length / 130, 0.1, 0.85)];
        if (kind !== LINE)
            return [0, kind === FILE ? 1 : 0.2];
        const text = kernel.module.files.line(value) || '';
        const indent = text.length - text.trimStart().length;
        return [clamp(indent / 100, 0, 0.6), clamp((text.length - indent) / 100, 0, 1 - clamp(indent / 100, 0, 0.6))];
    }

    drawView() {
        if (!this.scale)
            return;
        const [first, end] = this.pane.list.range();
        this.view.style.top = first * this.scale + 'px';
        this.view.style.height = Math.max(8, (end - first) * this.scale) + 'px';
    }
}

function levelRows(marks, level) {
    const rows = [];
    for (const [row, l] of marks)
        if (l === level)
            rows.push(row);
    return rows;
}

/*
 * Branch arrows left of the code: each branch has a lane, short ones close to the code. Drawn for
 * what is in view; of those that only pass by, the shortest ones.
 */
const FLOW_LANES = 7, LANE_PX = 6, FLOW_PASSING_MAX = 40;

class FlowGutter {
    constructor(pane) {
        this.pane = pane;
        this.canvas = attrs(el('canvas.flow'), {'aria-hidden': 'true'});
        pane.body.append(this.canvas);
        this.arcs = [];
        this.draw = perFrame(() => this.drawNow());
        new ResizeObserver(() => this.draw()).observe(this.canvas);
    }

    setLayout(layout) {
        this.arcs = layout.inOrder ? layout.flowArcs || (layout.flowArcs = flowArcs(layout)) : [];
        const lanes = Math.min(FLOW_LANES, 1 + this.arcs.reduce((most, arc) => Math.max(most, arc.lane), -1));
        this.canvas.style.width = (lanes ? lanes * LANE_PX + 12 : 8) + 'px';
        this.draw();
    }

    drawNow() {
        const sized = this.pane.layout && sizedContext(this.canvas);
        if (!sized)
            return;
        const {context, width, height} = sized, list = this.pane.list, [first, end] = list.range();
        const y = row => list.head_px + (row - first + 0.5) * ROW_PX;
        const marks = this.pane.marks, colours = {back: cssColour('--flow-back'), on: cssColour('--flow'), strong: cssColour('--accent')};
        const touched = arc => [arc.from, arc.to].some(r => marks.hover.get(r) === 2 || marks.pin.get(r) === 2);
        context.beginPath();
        context.rect(0, list.head_px, width, height);
        context.clip();
        for (const strong of [false, true]) {
            let passing = 0;
            for (const arc of this.arcs) {
                if (arc.high < first - 1 || arc.low > end + 1 || touched(arc) !== strong)
                    continue;
                if (arc.low < first && arc.high > end && ++passing > FLOW_PASSING_MAX)
                    continue;
                const colour = strong ? colours.strong : arc.to <= arc.from ? colours.back : colours.on;
                this.arc(context, arc, y, width, colour, strong ? 2 : 1.25);
            }
        }
    }

    arc(context, {from, to, lane}, y, width, colour, thick) {
        const x = width - 10 - lane * LANE_PX, a = y(from), b = y(to), bend = Math.min(4, Math.abs(b - a) / 2), way = b > a ? 1 : -1;
        context.strokeStyle = context.fillStyle = colour;
        context.lineWidth = thick;
        context.beginPath();
        context.moveTo(width - 2, a);
        context.lineTo(x + bend, a);
        context.quadraticCurveTo(x, a, x, a + way * bend);
        context.lineTo(x, b - way * bend);
        context.quadraticCurveTo(x, b, x + bend, b);
        context.lineTo(width - 5, b);
        context.stroke();
        context.beginPath();
        context.moveTo(width - 1, b);
        context.lineTo(width - 6, b - 3.5);
        context.lineTo(width - 6, b + 3.5);
        context.fill();
    }
}

/* Branches as rows with lanes: from the shortest on, each takes the lowest that is free. */
function flowArcs(layout) {
    const arcs = [];
    for (const [from, targets] of layout.kernel.targetsOf)
        for (const to of targets) {
            const a = layout.rowOfInsn[from], b = layout.rowOfInsn[to];
            if (a >= 0 && b >= 0)
                arcs.push({from: a, to: b, low: Math.min(a, b), high: Math.max(a, b), lane: 0});
        }
    arcs.sort((p, q) => (p.high - p.low) - (q.high - q.low));
    const lanes = Array.from({length: FLOW_LANES}, () => new Uint8Array(Math.ceil(layout.n / 8) + 1));
    let budget = 4e6;
    for (const arc of arcs) {
        budget -= arc.high - arc.low + 1;
        arc.lane = budget < 0 ? -1 : lanes.findIndex(lane => laneFree(lane, arc.low, arc.high));
        if (arc.lane < 0)
            arc.lane = FLOW_LANES - 1;
        else
            laneTake(lanes[arc.lane], arc.low, arc.high);
    }
    return arcs;
}

/* A lane is a bit for each row. */
function laneFree(lane, low, high) {
    for (let row = low; row <= high; row++)
        if (lane[row >> 3] & (1 << (row & 7)))
            return false;
    return true;
}

function laneTake(lane, low, high) {
    for (let row = low; row <= high; row++)
        lane[row >> 3] |= 1 << (row & 7);
}
