/*
 * Layouts: what stands in which row of a pane. All rows are equally high, so a row's place is its
 * number, and a pane makes only those in view.
 */
const INSN = 0, LINE = 1, FILE = 2, GAP = 3, LABEL = 4, NOTE = 5;

/* Lines without code are folded where more than FOLD_MIN follow each other, but for FOLD_KEEP. */
const FOLD_MIN = 40, FOLD_KEEP = 6;

class Layout {
    constructor(kernel) {
        this.kernel = kernel;
        this.kinds = [];
        this.values = [];   // INSN, LABEL: instruction; LINE: key; FILE: file; NOTE: text; GAP: first key
        this.counts = [];   // GAP: lines
        this.rowOfInsn = new Int32Array(kernel.n).fill(-1);
        this.rowsOfLine = new Map();
        this.gaps = [];
        this.inOrder = false; // instructions stand by address: branches can be drawn
    }

    get n() { return this.kinds.length; }

    add(kind, value, lines = 0) {
        const row = this.kinds.length;
        this.kinds.push(kind);
        this.values.push(value);
        this.counts.push(lines);
        if (kind === INSN)
            this.rowOfInsn[value] = row;
        else if (kind === LINE)
            push(this.rowsOfLine, value, row);
        else if (kind === GAP)
            this.gaps.push({row, from: value, lines});
    }

    /* The row as a target of pins and previews; null for rows that are neither. */
    target(row) {
        return this.kinds[row] === INSN ? {insn: this.values[row]}
            : this.kinds[row] === LINE ? {line: this.values[row]} : null;
    }

    rowOf(target) {
        if (target.insn !== undefined)
            return target.insn < this.rowOfInsn.length ? this.rowOfInsn[target.insn] : -1;
        const rows = this.rowsOfLine.get(target.line);
        return rows ? rows[0] : -1;
    }

    gapWith(key) { return this.gaps.find(g => key >= g.from && key < g.from + g.lines); }

    /* Rows with their level, ascending, for what Kernel.related() found. */
    rowsOf(related) {
        const rows = [];
        for (const [i, level] of related.insns)
            if (this.rowOfInsn[i] >= 0)
                rows.push([this.rowOfInsn[i], level]);
        for (const [key, level] of related.lines)
            for (const row of this.rowsOfLine.get(key) || NO_CALLS)
                rows.push([row, level]);
        return rows.sort((a, b) => a[0] - b[0]);
    }
}

/* Machine code in address order, with a row for each branch target. */
function layoutCode(kernel) {
    const layout = new Layout(kernel);
    layout.inOrder = true;
    for (let i = 0; i < kernel.n; i++) {
        if (kernel.sources.has(i))
            layout.add(LABEL, i);
        layout.add(INSN, i);
    }
    if (!kernel.n)
        layout.add(NOTE, 'This kernel has no instructions.');
    return layout;
}

/* The source files of a kernel, one after the other; `each(layout, key)` follows each line. */
function layoutSource(kernel, fold, opened, each) {
    const layout = new Layout(kernel);
    for (const file of kernel.files) {
        layout.add(FILE, file);
        const lines = kernel.module.files.lines(file);
        if (lines)
            layoutFile(layout, file, lines.length, fold, opened, each);
        else
            layoutMissing(layout, file, each);
    }
    if (!kernel.files.length)
        layout.add(NOTE, visible(string(kernel.json.note)) || 'No debug info: compile with -g to see the source here.');
    return layout;
}

function layoutFile(layout, file, lines, fold, opened, each) {
    const kernel = layout.kernel;
    let beyond = 0;
    const used = [...kernel.insnsOfLine.keys(), ...kernel.insnsThrough.keys()].filter(key => keyFile(key) === file)
        .map(keyLine).sort((a, b) => a - b);
    used.push(lines + 1 + FOLD_KEEP);
    let line = 1;
    for (const next of used) {
        const from = line === 1 ? 1 : line + FOLD_KEEP, to = Math.min(next - FOLD_KEEP, lines + 1);
        const folds = fold && to - from >= FOLD_MIN && !opened.has(lineKey(file, from));
        for (; line < Math.min(next + 1, lines + 1); line++) {
            if (folds && line === from) {
                layout.add(GAP, lineKey(file, from), to - from);
                line = to;
                if (line > lines)
                    break;
            }
            layout.add(LINE, lineKey(file, line));
            each(layout, lineKey(file, line));
        }
        if (next > lines && next !== lines + 1 + FOLD_KEEP && next !== beyond) {
            beyond = next;
            layout.add(LINE, lineKey(file, next));
            each(layout, lineKey(file, next));
        }
    }
}

function layoutMissing(layout, file, each) {
    const kernel = layout.kernel, seen = new Set();
    for (const key of [...kernel.insnsOfLine.keys(), ...kernel.insnsThrough.keys()].sort((a, b) => a - b)) {
        if (keyFile(key) !== file || seen.has(key))
            continue;
        seen.add(key);
        layout.add(LINE, key);
        each(layout, key);
    }
}

function layoutBySource(kernel, fold, opened) {
    const layout = layoutSource(kernel, fold, opened, (to, key) => {
        for (const i of kernel.lineInsns(key))
            to.add(INSN, i);
    });
    let heading = false;
    for (let i = 0; i < kernel.n; i++) {
        if (layout.rowOfInsn[i] >= 0)
            continue;
        if (!heading && kernel.files.length)
            layout.add(NOTE, 'Instructions without a source line');
        heading = true;
        layout.add(INSN, i);
    }
    return layout;
}

function layoutByAddress(kernel) {
    const layout = new Layout(kernel);
    layout.inOrder = true;
    let last = -1;
    for (let i = 0; i < kernel.n; i++) {
        const key = kernel.lineOf[i];
        if (key !== last && key >= 0) {
            if (last < 0 || keyFile(last) !== keyFile(key))
                layout.add(FILE, keyFile(key));
            layout.add(LINE, key);
        } else if (key !== last) {
            layout.add(NOTE, 'No source line');
        }
        if (kernel.sources.has(i))
            layout.add(LABEL, i);
        last = key;
        layout.add(INSN, i);
    }
    if (!kernel.n)
        layout.add(NOTE, 'This kernel has no instructions.');
    return layout;
}
