/*
 * A pane: one layout in a virtual list, with branch arrows on its left, a minimap on its right,
 * marks for what is pinned and previewed, and a cursor. It knows nothing of other panes: what the
 * user does in it goes to its owner's handlers.
 */
class Pane {
    /* kind: 'source', 'code' or 'mixed'; handlers: hover, pin, openGap, activate, jump */
    constructor(kind, title, handlers) {
        this.kind = kind;
        this.handlers = handlers;
        this.cursor = -1;
        this.marks = {pin: new Map(), hover: new Map()};
        this.marked = [];
        this.hits = new Map();
        this.hitRows = [];
        this.build(title);
        this.listen();
    }

    build(title) {
        this.titleNode = el('h2', title);
        this.noteNode = el('span.pane-note');
        this.above = attrs(el('button.edge'), {hidden: '', 'data-tip': 'Correlated rows above\nkey: P'});
        this.below = attrs(el('button.edge'), {hidden: '', 'data-tip': 'Correlated rows below\nkey: N'});
        this.body = el('div.pane-body');
        this.node = el(`section.pane.${this.kind}`, el('header.pane-head', this.titleNode, this.noteNode, el('span.grow'), this.above, this.below), this.body);
        this.node.dataset.pane = this.kind;
        if (this.kind !== 'source')
            this.flow = new FlowGutter(this);
        this.list = new RowList(this.body, row => this.makeRow(row), {
            role: 'grid', rowRole: 'row', label: title, onScroll: () => this.scrolled(),
        });
        this.scroller = this.list.scroller;
        this.minimap = new Minimap(this);
    }

    listen() {
        const s = this.scroller;
        s.addEventListener('pointermove', event => this.hoverRow(this.list.rowOfNode(event.target)));
        s.addEventListener('pointerleave', () => this.hoverRow(-1));
        s.addEventListener('click', event => this.clicked(event));
        s.addEventListener('focus', () => this.handlers.activate(this));
        s.addEventListener('pointerdown', () => this.handlers.activate(this));
        this.above.addEventListener('click', () => this.stepMark(-1, true));
        this.below.addEventListener('click', () => this.stepMark(1, true));
    }

    /* columns: those to show; search: {ranges(text)}; heat: Heat or null */
    show(layout, columns, heat, keepTop) {
        const top = keepTop ? this.list.top : 0;
        this.layout = layout;
        this.kernel = layout.kernel;
        this.heat = heat;
        this.cursor = -1;
        this.hovered = -1;
        this.setColumns(columns);
        this.list.setCount(layout.n);
        this.list.top = top;
        this.flow && this.flow.setLayout(layout);
        this.minimap.setLayout();
        this.showFiles();
    }

    /* The kernel's files, each a way to where it starts. */
    showFiles() {
        this.noteNode.replaceChildren();
        if (this.layout.inOrder)
            return;
        this.layout.kinds.forEach((kind, row) => {
            if (kind !== FILE || this.noteNode.childElementCount >= 8)
                return;
            const file = this.kernel.module.files.all[this.layout.values[row]];
            const button = attrs(el('button.file-link', file.name), {'data-tip': visible(file.path)});
            button.addEventListener('click', () => { this.list.top = row; });
            this.noteNode.append(button);
        });
    }

    /* How many characters a row has room for; 0: not known, the pane is not shown. */
    room_ch() {
        const probe = this.body.appendChild(el('span.ch-probe', '0'.repeat(40)));
        const ch_px = probe.getBoundingClientRect().width / 40;
        probe.remove();
        return ch_px > 0 ? this.scroller.clientWidth / ch_px : 0;
    }

    setColumns(columns) {
        this.columns = columns;
        const tracks = columns.map(c => `calc(${widthOf(this.kernel, c)}ch + 8px)`);
        this.node.style.setProperty('--cols', [...tracks, 'minmax(max-content, 1fr)'].join(' '));
        const head = attrs(el('div.colhead'), {role: 'row'});
        for (const c of columns)
            head.append(attrs(el(`span.c-${c.dynamic ? 'dyn' : c.id}`, c.head || c.title), {role: 'columnheader', 'data-tip': c.tip}));
        head.append(attrs(el('span.c-text', this.kind === 'source' ? 'Text' : 'Instruction'), {role: 'columnheader'}));
        this.list.setHead(head);
    }

    /* ---- rows ---- */

    makeRow(row) {
        const kind = this.layout.kinds[row], value = this.layout.values[row];
        const node = ROW_MAKERS[kind](this, value, row);
        node.id = `${this.kind}-${row}`;
        this.markRow(row, node);
        return node;
    }

    cell(column) {
        return attrs(el(`span.cell.c-${column.dynamic ? 'dyn' : column.id}`), {role: 'gridcell'});
    }

    textCell(tokens, row, extra) {
        const cell = attrs(el('span.cell.c-text', ...tokenNodes(tokens, this.hits.get(row))), {role: 'gridcell'});
        if (extra)
            cell.append(extra);
        return cell;
    }

    insnRow(i, row) {
        const node = el('div.row.insn');
        for (const column of this.columns) {
            const cell = this.cell(column);
            if (column.insn)
                column.insn(cell, this.kernel, i, this.layout.kinds[row - 1] === INSN ? this.layout.values[row - 1] : -1);
            this.heatCell(cell, column, () => this.heat.insn(i));
            node.append(cell);
        }
        node.append(this.textCell(insnTokens(this.kernel, i), row));
        if (this.layout.kinds[row - 1] === INSN && this.layout.values[row - 1] !== i - 1)
            node.classList.add('breaks');
        if (this.kernel.targets(i).length)
            node.classList.add('branch');
        return this.markFound(node, this.kernel.foundAt(i));
    }

    lineRow(key, row) {
        const node = el('div.row.line');
        if (this.kernel.lineInsns(key).length)
            node.classList.add('has-code');
        else if (this.kernel.lineThrough(key).length)
            node.classList.add('through');
        for (const column of this.columns) {
            const cell = this.cell(column);
            // in address order a line may stand in several places: its totals are of no one place
            if (column.line && (!this.layout.inOrder || column.numbers))
                column.line(cell, this.kernel, key);
            if (!this.layout.inOrder)
                this.heatCell(cell, column, () => this.heat.line(key));
            node.append(cell);
        }
        node.append(this.textCell(this.sourceTokens(key), row));
        return this.markFound(node, this.kernel.foundIn(key));
    }

    /* What checks said of a row. */
    markFound(node, texts) {
        if (texts.length) {
            node.classList.add('at-fault');
            node.lastChild.dataset.tip = texts.map(t => t.split('\n').map(visible).join('\n')).join('\n\n');
        }
        return node;
    }

    sourceTokens(key) {
        const files = this.kernel.module.files, file = files.all[keyFile(key)], lines = files.lines(keyFile(key));
        const text = lines && lines[keyLine(key) - 1];
        if (text === undefined || text === null)
            return [[lines ? '(beyond the end of the file)' : '(no source text)', 'missing']];
        file.comments = file.comments || commentStates(lines);
        return highlightC(visible(text), file.comments[keyLine(key) - 1]);
    }

    heatCell(cell, column, value) {
        if (!this.heat || column.bar || this.heat.column.id !== column.id)
            return;
        const part = value();
        if (part > 0) {
            cell.classList.add('hot');
            cell.style.setProperty('--hot', (8 + 72 * Math.sqrt(part)).toFixed(0) + '%');
        }
    }

    /* ---- marks, cursor, hits ---- */

    setMarks(name, related) {
        const rows = related ? this.layout.rowsOf(related) : [];
        this.marks[name] = new Map(rows);
        const lead = this.marks.pin.size ? this.marks.pin : this.marks.hover;
        this.marked = [...lead.keys()].sort((a, b) => a - b);
        for (const [row, node] of this.list.nodes)
            this.markRow(row, node);
        this.minimap.draw();
        this.flow && this.flow.draw();
        this.edges();
    }

    markRow(row, node) {
        const pin = this.marks.pin.get(row) || 0, hover = this.marks.hover.get(row) || 0;
        const classes = node.classList;
        classes.toggle('pin', pin === 2);
        classes.toggle('pin-rel', pin === 1);
        classes.toggle('hover', hover === 2);
        classes.toggle('hover-rel', hover === 1);
        classes.toggle('hit', this.hits.has(row));
        classes.toggle('at', this.hitAt === row);
        classes.toggle('cursor', this.cursor === row);
        node.setAttribute('aria-selected', pin === 2 ? 'true' : 'false');
    }

    setHits(rows, at) {
        this.hits = rows;
        this.hitRows = [...rows.keys()];
        this.hitAt = at;
        this.list.redraw();
        this.minimap.draw();
    }

    setHitAt(row) {
        const old = this.hitAt;
        this.hitAt = row;
        for (const r of [old, row])
            if (this.list.nodes.has(r))
                this.markRow(r, this.list.nodes.get(r));
    }

    setCursor(row, how) {
        const old = this.cursor;
        this.cursor = row;
        if (row >= 0 && how)
            this.list.reveal(row, how);
        for (const r of [old, row])
            if (this.list.nodes.has(r))
                this.markRow(r, this.list.nodes.get(r));
        if (row >= 0)
            this.scroller.setAttribute('aria-activedescendant', `${this.kind}-${row}`);
        else
            this.scroller.removeAttribute('aria-activedescendant');
    }

    /* The next row after `row` in steps of +-1 that can carry the cursor. */
    stepFrom(row, step) {
        const kinds = this.layout.kinds;
        for (let r = row + step; r >= 0 && r < this.layout.n; r += step)
            if (kinds[r] === INSN || kinds[r] === LINE || kinds[r] === GAP)
                return r;
        return row;
    }

    /* To the next marked row; outside: the next that is out of view. */
    stepMark(step, outside) {
        if (!this.marked.length)
            return false;
        let from = this.cursor;
        if (outside) {
            const [first, end] = this.list.range();
            from = step < 0 ? Math.ceil(first) : Math.floor(end) - 1;
        }
        const at = step > 0 ? lowerBound(this.marked, from + 1) : lowerBound(this.marked, from) - 1;
        const row = this.marked[(at + this.marked.length) % this.marked.length];
        this.setCursor(row);
        this.list.reveal(row, 'centre');
        return true;
    }

    /* Correlated rows out of view: how many, and a way to them. */
    edges() {
        const [first, end] = this.list.range();
        const above = lowerBound(this.marked, Math.ceil(first - 0.5));
        const below = this.marked.length - lowerBound(this.marked, Math.floor(end + 0.5));
        this.above.hidden = !above;
        this.below.hidden = !below;
        this.above.textContent = `\u25b2 ${above}`;
        this.below.textContent = `\u25bc ${below}`;
    }

    scrolled() {
        if (!this.layout)
            return;
        this.minimap.drawView();
        this.flow && this.flow.draw();
        this.edges();
        this.handlers.scrolled && this.handlers.scrolled(this);
    }

    /* ---- what the user does ---- */

    hoverRow(row) {
        if (row === this.hovered)
            return;
        this.hovered = row;
        this.handlers.hover(this, row < 0 ? null : this.layout.target(row));
    }

    clicked(event) {
        const row = this.list.rowOfNode(event.target);
        const link = event.target.closest && event.target.closest('[data-goto]');
        if (link) {
            event.preventDefault();
            this.handlers.jump(Number(link.dataset.goto));
            return;
        }
        if (row < 0 || String(getSelection()))
            return;
        if (this.layout.kinds[row] === GAP) {
            this.handlers.openGap(this.layout.values[row]);
            return;
        }
        const target = this.layout.target(row);
        if (target) {
            this.setCursor(row);
            this.handlers.pin(this, target);
        }
    }
}

const ROW_MAKERS = {
    [INSN]: (pane, i, row) => linkTargets(pane, i, pane.insnRow(i, row)),
    [LINE]: (pane, key, row) => pane.lineRow(key, row),
    [FILE](pane, file) {
        const {path, note, found} = pane.kernel.module.files.all[file];
        const cut = folderLength(path);
        const name = el('span.cell.file-name', el('span.dir', visible(path.slice(0, cut))), el('b', visible(path.slice(cut))));
        const says = note || (pane.kernel.module.files.lines(file) ? '' : 'source text not found');
        return attrs(el('div.row.file', name, says ? el('span.file-note', visible(says)) : null),
                     {'data-tip': found && found !== path ? `${visible(path)}\nread from ${visible(found)}` : visible(path)});
    },
    [GAP](pane, key, row) {
        const lines = pane.layout.counts[row];
        return el('div.row.gap', el('span.gap-mark', '\u22ef'), `${count(lines)} lines without code`, el('span.gap-open', 'show'));
    },
    [LABEL](pane, i) {
        const node = el('div.row.label', el('b', pane.kernel.label(i) + ':'), el('span.from', 'from '));
        const sources = pane.kernel.sources.get(i) || NO_CALLS;
        for (const from of sources.slice(0, 6))
            node.append(gotoLink(pane.kernel, from, hex(pane.kernel.offsets[from])));
        if (sources.length > 6)
            node.append(el('span.from', `and ${sources.length - 6} more`));
        return node;
    },
    [NOTE]: (pane, text) => el('div.row.note', text),
};

function gotoLink(kernel, insn, text) {
    return attrs(el('a.goto-link', text), {'data-goto': insn, href: '#', tabindex: '-1', 'data-tip': `Go to ${hex(kernel.offsets[insn])}`});
}

/* Labels within an instruction become links to where they stand; targets that its text does not
 * name follow it. */
function linkTargets(pane, i, node) {
    const kernel = pane.kernel, named = new Set();
    for (const token of node.querySelectorAll('.t-tgt')) {
        const to = kernel.labelled(token.textContent);
        if (to < 0)
            continue;
        named.add(to);
        const link = gotoLink(kernel, to, token.textContent);
        link.classList.add('t-tgt');
        token.replaceWith(link);
    }
    for (const to of kernel.targets(i))
        if (!named.has(to))
            node.lastChild.append('  ', gotoLink(kernel, to, '\u2192 ' + visible(kernel.label(to))));
    return node;
}

/*
 * Tokens to nodes; `ranges` ([start, end] in the text that a search sees) become <mark>. Padding
 * counts as one character there.
 */
function tokenNodes(tokens, ranges) {
    const nodes = [];
    let at = 0, next = 0;
    for (const [text, kind] of tokens) {
        const length = kind === 'pad' ? (at ? 1 : 0) : text.length;
        const parts = kind === 'pad' || !ranges ? [text] : [];
        if (!parts.length) {
            let from = 0;
            while (next < ranges.length && ranges[next][1] <= at)
                next++;
            for (let r = next; r < ranges.length && ranges[r][0] < at + length; r++) {
                const start = Math.max(0, ranges[r][0] - at), end = Math.min(length, ranges[r][1] - at);
                parts.push(text.slice(from, start), el('mark', text.slice(start, end)));
                from = end;
            }
            parts.push(text.slice(from));
        }
        if (kind && kind !== 'pad')
            nodes.push(el(`span.t-${kind}`, ...parts));
        else
            nodes.push(...parts);
        at += length;
    }
    return nodes;
}
