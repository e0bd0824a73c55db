/*
 * The virtual list: a scroller as high as all rows, with nodes for those in view only. Heights
 * beyond what browsers can lay out are scaled; then a step of the scroll bar is several rows.
 */
const ROW_PX = 20, OVERSCAN = 6, HEIGHT_MAX_PX = 12e6;

class RowList {
    /* make(row) -> node; role: ARIA role of the scroller and of its rows */
    constructor(host, make, {role, rowRole, label, onScroll}) {
        this.make = make;
        this.rowRole = rowRole;
        this.onScroll = onScroll || (() => {});
        this.nodes = new Map();
        this.n = 0;
        this.head_px = 0;
        this.scroller = attrs(el('div.rows'), {role, 'aria-label': label, tabindex: '0'});
        this.canvas = attrs(el('div.rows-canvas'), {role: 'presentation'});
        this.scroller.append(this.canvas);
        host.append(this.scroller);
        const update = perFrame(() => this.update());
        this.scroller.addEventListener('scroll', update, {passive: true});
        new ResizeObserver(update).observe(this.scroller);
    }

    setHead(node) {
        if (this.head)
            this.head.remove();
        this.head = node;
        this.head_px = ROW_PX + 4;
        this.scroller.insertBefore(node, this.canvas);
    }

    setCount(n) {
        this.n = n;
        const height = n * ROW_PX;
        this.scale = height > HEIGHT_MAX_PX ? height / HEIGHT_MAX_PX : 1;
        this.canvas.style.height = Math.min(height, HEIGHT_MAX_PX) + 'px';
        if (this.rowRole === 'row')
            this.scroller.setAttribute('aria-rowcount', n);
        this.clear();
        this.update();
    }

    clear() {
        for (const node of this.nodes.values())
            node.remove();
        this.nodes.clear();
    }

    view_px() { return Math.max(0, this.scroller.clientHeight - this.head_px); }

    /* First row in view and the one behind the last. */
    range() {
        const first = this.scroller.scrollTop * this.scale / ROW_PX;
        return [first, Math.min(this.n, first + this.view_px() / ROW_PX)];
    }

    update() {
        const [first, end] = this.range();
        const from = Math.max(0, Math.floor(first) - OVERSCAN), to = Math.min(this.n, Math.ceil(end) + OVERSCAN);
        for (const [row, node] of this.nodes) {
            if (row < from || row >= to) {
                node.remove();
                this.nodes.delete(row);
            }
        }
        const fresh = document.createDocumentFragment();
        for (let row = from; row < to; row++) {
            if (!this.nodes.has(row)) {
                const node = attrs(this.make(row), {role: this.rowRole, [this.rowRole === 'row' ? 'aria-rowindex' : 'aria-posinset']: row + 1});
                node.dataset.row = row;
                this.nodes.set(row, node);
                fresh.append(node);
            }
            this.place(row);
        }
        this.canvas.append(fresh);
        this.onScroll();
    }

    place(row) {
        const shift = this.scale === 1 ? 0 : this.scroller.scrollTop * (1 - this.scale);
        this.nodes.get(row).style.top = row * ROW_PX + shift + 'px';
    }

    redraw() {
        this.clear();
        this.update();
    }

    inView(row) {
        const [first, end] = this.range();
        return row >= first && row + 1 <= end;
    }

    /* Top row, for links. */
    get top() { return Math.round(this.range()[0]); }
    set top(row) { this.scroller.scrollTop = row * ROW_PX / this.scale; this.update(); }

    /* Bring a row into view: 'near' scrolls no more than needed, 'centre' puts it in the middle
     * (where it is not in view already). */
    reveal(row, how) {
        if (row < 0 || row >= this.n)
            return;
        const [first, end] = this.range(), rows = this.view_px() / ROW_PX, margin = Math.min(2, rows / 4);
        if (how === 'centre') {
            if (row < first + 1 || row + 2 > end)
                this.top = Math.max(0, row - rows / 2 + 1);
        } else if (row < first + margin) {
            this.top = Math.max(0, row - margin);
        } else if (row + 1 + margin > end) {
            this.top = row + 1 + margin - rows;
        }
    }

    rowOfNode(node) {
        const element = node.closest && node.closest('[data-row]');
        return element && this.canvas.contains(element) ? Number(element.dataset.row) : -1;
    }
}
