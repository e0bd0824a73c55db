/*
 * Columns: a registry. A column has
 *   id, title, tip     its name in links, its heading, what it means
 *   width              in characters, or a function of the kernel
 *   side, mixed, src   where it is: machine code beside source, interleaved, the source pane
 *   shown              whether it is shown when nothing was chosen, or a function of the kernel
 *   insn(cell, k, i)   fills the cell of an instruction
 *   line(cell, k, key) fills the cell of a source line; absent: empty
 *   numbers            true: what line() shows holds wherever the line stands, it is no total
 *   heat               {insn(k, i), line(k, key)}: values that colour; NaN where there is none
 * Later views add theirs with addColumn(), modules bring their own in "columns" of a kernel.
 */
const COLUMNS = [];
const addColumn = column => COLUMNS.push(column);
const columnById = (kernel, id) => allColumns(kernel).find(c => c.id === id);
const allColumns = kernel => COLUMNS.concat(kernel.columns);

/* What the text of a pane keeps of its width, in characters, unless the user chose the columns. */
const TEXT_ROOM_CH = {side: 34, mixed: 60, src: 60};
const GAP_CH = 1.2; // between columns

const widthOf = (kernel, column) => typeof column.width === 'function' ? column.width(kernel) : column.width;

/* Of the columns that are shown when nothing was chosen those for which a pane has room: the others go one by one,
 * first what stands elsewhere on the page, too, then those of tools from the last one on, bars last. */
function fittingColumns(kernel, columns, place, room_ch) {
    const goes = c => c.id === 'place' ? 1 : c.id === 'live' || c.id === 'count' ? 2 : c.dynamic && !c.bar ? 3 : c.dynamic ? 4 : 0;
    const kept = [...columns];
    let left_ch = room_ch - kept.reduce((sum, c) => sum + widthOf(kernel, c) + GAP_CH, 0);
    for (let rank = 1; rank <= 4 && room_ch > 0; rank++) {
        for (let i = kept.length - 1; i >= 0 && left_ch < TEXT_ROOM_CH[place]; i--) {
            const isLastBar = kept[i].bar && kept.filter(c => c.bar).length === 1;
            if (goes(kept[i]) !== rank || (isLastBar && left_ch > TEXT_ROOM_CH[place] * 0.7))
                continue;
            left_ch += widthOf(kernel, kept[i]) + GAP_CH;
            kept.splice(i, 1);
        }
    }
    return kept;
}

addColumn({
    id: 'offset', title: 'Offset', tip: 'Byte offset of the instruction in the kernel',
    width: k => 2 + Math.max(4, k.n ? k.offsets[k.n - 1].toString(16).length : 0), side: true, mixed: true, shown: true, numbers: true,
    insn(cell, k, i) { cell.textContent = k.offsets[i].toString(16).padStart(4, '0'); },
    line(cell, k, key) { cell.append(el('span.lineno', String(keyLine(key)))); },
});

addColumn({
    id: 'no', title: 'Line', tip: 'Line of the source file', width: k => 1 + Math.max(3, String(k.longestFile).length), src: true, shown: true, fixed: true,
    line(cell, k, key) { cell.textContent = keyLine(key); },
});

addColumn({
    id: 'count', title: 'Insns', tip: 'Instructions that this line became (its inlined calls not counted)', width: 5, src: true,
    shown: k => !usualHeat(k), // heat tells more, and the text needs the room
    line(cell, k, key) {
        const n = k.lineInsns(key).length, through = k.lineThrough(key).length;
        if (n)
            cell.append(el('span.chip', String(n)));
        else if (through)
            attrs(cell.appendChild(el('span.chip.through', `+${through}`)), {'data-tip': `${plural(through, 'instruction')} of functions inlined here`});
    },
    heat: {insn: () => NaN, line: (k, key) => k.lineInsns(key).length || NaN},
});

addColumn({
    id: 'place', title: 'Source', tip: 'Source file and line', width: k => clamp(2 + k.longestPlace, 8, 24), side: true, shown: true,
    insn(cell, k, i) { cell.textContent = k.place(i); },
});

addColumn({
    id: 'live', title: 'Live', tip: 'General registers that hold a value still needed: register pressure', width: 9, side: true, mixed: true, src: false, shown: true,
    insn(cell, k, i) { pressureBar(cell, k, k.live(i)); },
    line(cell, k, key) { pressureBar(cell, k, maxOf(k.lineInsns(key), i => k.live(i))); },
    heat: {
        insn: (k, i) => k.live(i) < 0 ? NaN : k.live(i),
        line: (k, key) => maxOf(k.lineInsns(key), i => k.live(i)),
    },
});

addColumn({
    id: 'size', title: 'Size', tip: 'Bytes of the instruction: 8 when compacted', width: 5, side: true, mixed: true, shown: false,
    insn(cell, k, i) { cell.textContent = k.size(i) || ''; },
});

addColumn({
    id: 'block', title: 'Block', tip: 'Basic block', width: 6, side: true, mixed: true, shown: false,
    insn(cell, k, i) {
        const block = k.instructions[i].block;
        cell.textContent = Number.isInteger(block) ? 'B' + block : '';
    },
});

addColumn({
    id: 'bytes', title: 'Mem B', tip: 'Bytes that a message reads and writes, over all lanes', width: 10, side: true, mixed: true, shown: false,
    insn(cell, k, i) { cell.textContent = bytesText(k.message(i)); },
    heat: {
        insn: (k, i) => messageBytes(k.message(i)) || NaN,
        line: (k, key) => sumOf(k.lineInsns(key), i => messageBytes(k.message(i)) || NaN),
    },
});

function bytesText(m) {
    if (!m)
        return '';
    const parts = [];
    if (m.read_B > 0)
        parts.push('r' + m.read_B);
    if (m.write_B > 0)
        parts.push('w' + m.write_B);
    return parts.join(' ');
}

const messageBytes = m => m ? number(m.read_B, 0) + number(m.write_B, 0) : 0;

function maxOf(insns, value) {
    let most = NaN;
    for (const i of insns) {
        const v = value(i);
        if (v >= 0 && !(v <= most))
            most = v;
    }
    return most;
}

function sumOf(insns, value) {
    let sum = NaN;
    for (const i of insns) {
        const v = value(i);
        if (Number.isFinite(v))
            sum = (Number.isNaN(sum) ? 0 : sum) + v;
    }
    return sum;
}

function pressureBar(cell, k, live) {
    if (!(live >= 0))
        return;
    const part = clamp(live / k.grfs, 0, 1);
    const fill = el('i');
    fill.style.width = (part * 100).toFixed(1) + '%';
    const bar = el('span.pressure' + (part >= 0.9 ? '.full' : part >= 0.7 ? '.high' : ''), fill);
    cell.append(bar, el('span.value', String(live)));
}

/* The name of a tool in front of its columns' names, "memtrace.bytes", takes room that it need not have, unless another
 * column has the rest for its name. */
function shortHeads(titles) {
    const rest = titles.map(title => title.replace(/^[\w-]+\.(?=.)/, ''));
    return titles.map((title, index) => titles.includes(rest[index]) || rest.indexOf(rest[index]) !== rest.lastIndexOf(rest[index]) ? title : rest[index]);
}

/*
 * Columns that come with the kernel: "columns": [{name, unit, description, total: "sum", "max" or
 * "mean", weights: [of a mean], shown, heat, values: [number or null for each instruction]}]. Null was
 * not collected: "n/a", never 0; a zero is a blank. "heat": a bar and a colour. Where none says what
 * is shown, all are.
 */
function dynamicColumns(kernel) {
    const columns = list(kernel.json.columns).map(object);
    const chosen = columns.some(json => json.shown !== undefined);
    const titles = columns.map((json, index) => visible(string(json.name) || `column ${index + 1}`)), heads = shortHeads(titles);
    const made = columns.map((json, index) => {
        const title = titles[index], values = list(json.values), total = string(json.total || 'sum'), weights = list(json.weights);
        const totals = new Map();
        const insnValue = (k, i) => Number.isFinite(values[i]) ? values[i] : NaN;
        const weight = weights.length ? i => number(weights[i], 0) : null;
        const lineValue = (k, key) => {
            if (!totals.has(key))
                totals.set(key, totalOf(k.lineInsns(key), i => insnValue(k, i), total, weight));
            return totals.get(key);
        };
        const unit = visible(string(json.unit)), bar = json.heat === true;
        const most = once(() => mostOf(kernel, insnValue)), mostLine = once(() => mostOfLines(kernel, lineValue));
        const says = visible(string(json.description));
        return {
            id: 'x-' + (string(json.name) || index), title, tip: title + (unit ? `, ${unit}` : '') + (says ? `: ${says}` : ''),
            head: heads[index], width: bar ? 12 : clamp(Math.ceil(heads[index].length * 0.85), 6, 10),
            side: true, mixed: true, src: true, shown: !chosen || json.shown === true, dynamic: true, unit, bar,
            insn(cell, k, i, above) {
                const value = insnValue(k, i);
                // what all of a block have in common stands at its first row alone
                if (above >= 0 && value && value === insnValue(k, above) && k.instructions[i].block === k.instructions[above].block) {
                    cell.classList.add('dyn', 'same');
                    cell.dataset.tip = `${title}: ${valueText(value, unit)}, as above`;
                } else {
                    valueCell(cell, value, this, most);
                }
            },
            line(cell, k, key) { if (k.lineInsns(key).length) valueCell(cell, lineValue(k, key), this, mostLine); },
            heat: {insn: insnValue, line: lineValue},
            of: insns => totalOf(insns, i => insnValue(kernel, i), total, weight), // of any instructions
        };
    });
    const stalls = made.find(c => c.id === 'x-stalls'), parts = made.filter(c => /^Active$|Stall$/.test(c.title));
    if (stalls)
        addBreakdown(stalls, parts);
    return made;
}

/* What a share is made of, the most first, in the tips of its cells: thread cycles by reason. */
function addBreakdown(column, parts) {
    const {insn, line} = column;
    const tell = (cell, value) => {
        const found = parts.map(p => [p.title, value(p)]).filter(part => part[1] > 0).sort((a, b) => b[1] - a[1]);
        const all = found.reduce((sum, part) => sum + part[1], 0);
        const bar = cell.querySelector('.heatbar i');
        if (bar && all) {
            bar.classList.add('stalls');
            bar.append(...STALLS.flatMap(([name], kind) => found.filter(part => part[0].split('.').pop() === name).map(part => {
                const piece = el(`span.stall-${kind}`);
                piece.style.flexGrow = (1000 * part[1] / all).toFixed(0);
                return piece;
            })));
        }
        if (cell.dataset.tip)
            cell.dataset.tip += found.slice(0, 8).map(part => `\n${percentText(100 * part[1] / all, 1)} ${part[0]}`).join('');
    };
    column.insn = function (cell, k, i, above) {
        insn.call(this, cell, k, i, above);
        tell(cell, p => p.heat.insn(k, i));
    };
    column.line = function (cell, k, key) {
        line.call(this, cell, k, key);
        tell(cell, p => p.heat.line(k, key));
    };
}

function once(make) {
    let value, made = false;
    return () => {
        if (!made) {
            value = make();
            made = true;
        }
        return value;
    };
}

function minOf(insns, value) {
    let least = NaN;
    for (const i of insns) {
        const v = value(i);
        if (Number.isFinite(v) && !(v >= least))
            least = v;
    }
    return least;
}

function mostOf(kernel, value) {
    let most = 0;
    for (let i = 0; i < kernel.n; i++)
        most = Math.max(most, value(kernel, i) || 0);
    return most;
}

function mostOfLines(kernel, value) {
    let most = 0;
    for (const key of kernel.insnsOfLine.keys())
        most = Math.max(most, value(kernel, key) || 0);
    return most;
}

function totalOf(insns, value, how, weight) {
    if (how === 'max')
        return maxOf(insns, value);
    if (how === 'min')
        return minOf(insns, value);
    if (how !== 'mean')
        return sumOf(insns, value);
    let sum = 0, weights = 0, known = false;
    for (const i of insns) {
        const v = value(i), w = weight ? weight(i) : 1;
        if (Number.isFinite(v)) {
            known = true;
            sum += v * w;
            weights += w;
        }
    }
    return weights ? sum / weights : known ? 0 : NaN;
}

/* A value with its unit, in full. */
function valueText(value, unit) {
    if (!Number.isFinite(value))
        return 'n/a';
    const text = Number.isInteger(value) ? count(value) : significant(value);
    return unit ? `${text} ${unit}` : text;
}

/* A percentage: what would round to nothing says so. */
function percentText(value, digits) {
    const least = digits ? 0.05 : 0.5;
    return value > 0 && value < least ? (digits ? '<0.1%' : '<1%') : value.toFixed(digits) + '%';
}

function valueCell(cell, value, column, most) {
    cell.classList.add('dyn');
    if (!Number.isFinite(value)) {
        cell.append(el('span.na', 'n/a'));
        return;
    }
    if (value === 0)
        return;
    const text = column.unit === '%' ? percentText(value, column.bar ? 1 : 0) : shortNumber(value);
    cell.dataset.tip = `${column.title}: ${valueText(value, column.unit)}`;
    if (!column.bar) {
        cell.textContent = text;
        return;
    }
    const part = most() ? value / most() : 0, fill = el('i');
    fill.style.width = Math.max(2, 100 * part).toFixed(1) + '%';
    fill.style.setProperty('--hot', (25 + 75 * Math.sqrt(part)).toFixed(0) + '%');
    cell.classList.add('heated');
    cell.append(el('span.heatbar', fill), el('span.value', text));
}

/* The column that colours when nothing was chosen: the first that asks for it. */
function usualHeat(kernel) {
    const column = kernel.columns.find(c => c.bar);
    return column ? column.id : '';
}

/* The heat of a kernel by a column: parts of the largest value, of instructions and of lines. */
class Heat {
    constructor(kernel, column) {
        this.kernel = kernel;
        this.column = column;
        this.most = 0;
        this.mostLine = 0;
        for (let i = 0; i < kernel.n; i++)
            this.most = Math.max(this.most, column.heat.insn(kernel, i) || 0);
        this.lines = [];
        for (const key of kernel.insnsOfLine.keys()) {
            const value = column.heat.line(kernel, key);
            if (value > 0)
                this.lines.push({key, value});
        }
        this.lines.sort((a, b) => b.value - a.value || a.key - b.key);
        this.mostLine = this.lines.length ? this.lines[0].value : 0;
    }

    insn(i) { return this.most ? (this.column.heat.insn(this.kernel, i) || 0) / this.most : 0; }
    line(key) { return this.mostLine ? (this.column.heat.line(this.kernel, key) || 0) / this.mostLine : 0; }
}
