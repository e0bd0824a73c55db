/* Kernels of a comparison: what was measured, found, and their code side by side. */
const COMPARE_ROWS = 20000;

/* "26.2 µs", "1.23 M": as the text says it. */
function quantityText(value, unit) {
    if (value === null || !Number.isFinite(value))
        return 'n/a';
    if (unit === 'ns')
        return duration(value);
    return unit === 'B' || unit === 'bytes' ? siNumber(value, 'B').replace(' ', '\u2009') : shortNumber(value) + (unit ? '\u2009' + (unit === 'percent' ? '%' : visible(unit)) : '');
}

class ComparedKernel {
    constructor(json) {
        this.json = json;
        this.name = visible(string(json.name));
        this.instructions = object(json.instructions);
        this.node = el('details.cmp-kernel');
        this.node.append(el('summary', el('b', this.name), ...this.headline()));
        this.node.addEventListener('toggle', () => {
            if (this.node.open && !this.filled)
                this.fill();
        });
    }

    side(name) {
        return this.json[name] ? object(this.json[name]) : null;
    }

    headline() {
        const a = this.side('a'), b = this.side('b'), parts = [];
        if (!a || !b)
            return [el('span.cmp-tag', a ? 'in A alone' : 'in B alone')];
        const ran = ['a', 'b'].filter(s => object(this.json[s]).time_ns !== null);
        if (ran.length === 1)
            parts.push(el('span.cmp-tag', `ran in ${ran[0].toUpperCase()} alone`));
        const x = number(a.time_ns, NaN), y = number(b.time_ns, NaN);
        if (x > 0 && y > 0)
            parts.push(el('span', `${duration(x)} \u2192 ${duration(y)} `), el(y > x ? 'span.cmp-worse' : 'span.cmp-better', percentChange(y / x - 1)));
        if (this.json.same_code)
            parts.push(el('span.cmp-tag', 'the same code'));
        for (const [state, spec] of [['gone', 'span.cmp-better'], ['new', 'span.cmp-worse']])
            for (const f of list(this.json.findings).map(object).filter(f => f.state === state))
                parts.push(el(spec, `${state}: ${visible(string(f.title))}`));
        return parts;
    }

    fill() {
        this.filled = true;
        const a = this.side('a'), b = this.side('b');
        if (!a || !b)
            return;
        if (a.limited_by || b.limited_by)
            this.node.append(el('p', `limited by ${this.limit(a)} \u2192 ${this.limit(b)}`));
        this.node.append(this.findings(), this.values());
        const files = list(this.json.files).map(object);
        for (const file of files)
            this.node.append(this.file(file));
        if (!files.length)
            this.node.append(this.grid(list(this.json.aligned).map(object).map(p => this.instRow(p))));
    }

    limit(side) {
        const part = number(side.limit, NaN);
        return side.limited_by ? visible(string(side.limited_by)) + (Number.isFinite(part) ? `, ${shortNumber(part)}\u2009%` : '') : 'n/a';
    }

    values() {
        const body = el('tbody');
        for (const v of list(this.json.values).map(object).filter(v => v.changed && !string(v.name).startsWith('ZscopeGains.'))) {
            const x = number(v.a, NaN), y = number(v.b, NaN), change = x ? y / x - 1 : NaN;
            const worse = (y > x) === (v.better === 'less'), tone = v.better === 'neither' || x === y ? 'td' : worse ? 'td.cmp-worse' : 'td.cmp-better';
            body.append(el('tr', el('td.name', visible(string(v.name)).replaceAll('_', ' ')), el('td', quantityText(x, string(v.unit))), el('td', quantityText(y, string(v.unit))),
                           el(tone, Number.isFinite(change) ? percentChange(change) : '')));
        }
        return body.children.length ? el('table.diff-table.cmp-values', el('thead', el('tr', el('th.text', 'what changed'), el('th', 'A'), el('th', 'B'), el('th', 'change'))), body)
            : el('p.na', 'No number changed.');
    }

    findings() {
        const node = el('ul.cmp-findings');
        for (const f of list(this.json.findings).map(object)) {
            const of = object(f.state === 'new' ? f.b : f.a), gain = number(of.gain, NaN), line = number(of.line, 0);
            node.append(el('li', el(f.state === 'new' ? 'b.cmp-worse' : f.state === 'gone' ? 'b.cmp-better' : 'b', string(f.state)), ` ${visible(string(f.title))}` +
                (Number.isFinite(gain) ? `, gain ${gain.toFixed(0)}\u2009%` : '') + (line ? `, ${baseName(visible(string(of.path)))}:${line}` : '')));
        }
        return node;
    }

    half(side, spec, number, text, tokens, share) {
        if (!side)
            return [el('div.cmp-num'), el('div.cmp-text.cmp-none')];
        const node = el('div.cmp-text' + spec);
        for (const [part, kind] of tokens)
            node.append(kind && kind !== 'pad' ? el('span.t-' + kind, visible(part)) : visible(part));
        const cell = el('div.cmp-num', number);
        if (share > 0)
            attrs(cell, {title: `${share.toFixed(1)} % of executed instructions`}).prepend(el('i', share >= 0.05 ? share.toFixed(1) + '%' : ''));
        return [cell, node];
    }

    row(change, cells) {
        return el('div.cmp-row.cmp-' + change, ...cells);
    }

    instRow(pair) {
        const cells = [];
        for (const name of ['a', 'b']) {
            const inst = pair[name] === null ? null : object(list(this.instructions[name])[pair[name]]);
            const text = inst ? string(inst.text) : '';
            cells.push(...this.half(inst, '.cmp-inst', inst ? number(inst.offset, 0).toString(16) : '', text, inst ? highlightAsm(text, false, 0) : []));
        }
        return this.row(string(pair.change), cells);
    }

    /* Lines with code, and what changed near them; others are one row that opens them. */
    file(file) {
        const lines = list(file.lines).map(object), parts = [];
        const has = l => ['a', 'b'].some(s => l[s] && number(object(l[s]).instructions, 0));
        const near = i => lines.slice(Math.max(0, i - 2), i + 3).some(l => has(l));
        let hidden = [];
        const flush = () => {
            if (!hidden.length)
                return;
            const rows = hidden, gap = el('button.cmp-gap', `${plural(rows.length, 'line')} without code`);
            gap.addEventListener('click', () => gap.replaceWith(...rows.flatMap(l => this.line(l))));
            parts.push(gap);
            hidden = [];
        };
        for (let i = 0; i < lines.length; i++) {
            if (!near(i)) {
                hidden.push(lines[i]);
                continue;
            }
            flush();
            parts.push(...this.line(lines[i]));
        }
        flush();
        const names = ['a', 'b'].map(s => file[s] ? visible(string(file[s])) : '');
        return el('section', el('h3', names[0] === names[1] ? names[0] : names.join(' \u2192 ')), this.grid(parts));
    }

    line(line) {
        const cells = [], code = list(line.aligned).map(object);
        for (const name of ['a', 'b']) {
            const side = line[name] ? object(line[name]) : null, text = side ? string(side.text) : '';
            cells.push(...this.half(side, '', side ? String(number(side.line, 0)) : '', text, side ? highlightC(text, false) : [], side ? number(side.share, 0) : 0));
        }
        const row = this.row(string(line.change) + (line.same_code || !code.length ? '' : '.cmp-moved'), cells);
        if (!code.length)
            return [row];
        const insts = el('div.cmp-code');
        const show = () => insts.childElementCount ? insts.replaceChildren() : insts.append(...code.map(p => this.instRow(p)));
        row.classList.add('cmp-opens');
        row.addEventListener('click', () => String(getSelection()) || show());
        if (!line.same_code)
            show();
        return [row, insts];
    }

    grid(rows) {
        return el('div.cmp-grid', ...rows.slice(0, COMPARE_ROWS));
    }
}

function showKernels(json) {
    const kernels = list(json.kernels).map(object);
    const nodes = kernels.map(k => new ComparedKernel(k));
    const changed = nodes.filter(k => k.json.changed !== false), alike = nodes.length - changed.length;
    $('cmp-kernels').append(...changed.map(k => k.node));
    if (alike)
        $('cmp-kernels').append(el('p.na', `${plural(alike, 'kernel')} alike`));
    if (changed.length && changed.length <= 3)
        changed.forEach(k => { k.node.open = true; });
    $('cmp-kernels').hidden = !nodes.length;
}
