/* The parts around the panes: kernel list, kernel head, inline stack, inspector, column chooser. */

class KernelList {
    constructor(app) {
        this.app = app;
        this.all = this.shown = app.module.kernels;
        this.most = Math.max(1, ...app.module.kernels.slice(0, 50000).map(k => k.n));
        this.filter = $('kernel-filter');
        this.list = new RowList($('kernels'), row => this.row(row), {role: 'listbox', rowRole: 'option', label: 'Kernels'});
        this.filter.addEventListener('input', () => this.apply());
        this.filter.addEventListener('keydown', event => {
            const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
            if (event.key === 'Enter' && this.shown.length && !this.shown.includes(app.kernel))
                app.selectKernel(this.shown[0]);
            else if (step || event.key === 'Enter')
                app.stepKernel(step || 0);
            else
                return;
            event.preventDefault();
        });
        this.list.scroller.addEventListener('click', event => this.choose(this.list.rowOfNode(event.target)));
        this.list.scroller.addEventListener('keydown', event => {
            const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
            if (!step)
                return;
            app.stepKernel(step);
            event.preventDefault();
            event.stopPropagation();
        });
        this.list.setCount(this.shown.length);
        this.says();
    }

    choose(row) {
        if (row < 0)
            return;
        this.app.selectKernel(this.shown[row]);
        if (matchMedia('(max-width: 900px)').matches)
            this.app.toggleNav();
    }

    /* A regular expression where it is one, else plain text; case is ignored. */
    apply() {
        const text = this.filter.value;
        let test = name => name.toLowerCase().includes(text.toLowerCase());
        try {
            const pattern = new RegExp(text, 'i');
            test = name => pattern.test(name);
        } catch (notYet) {
            // half-typed patterns are searched for as text
        }
        this.shown = this.all.filter(k => test(k.name) || (this.app.module.devices.length > 1 && test(k.device)));
        this.list.setCount(this.shown.length);
        this.says();
    }

    /* By what they took, where that is known: the most first. */
    sortByTime() {
        this.time = this.all.reduce((sum, k) => sum + (k.time || 0), 0);
        if (this.time)
            this.all = [...this.all].sort((a, b) => (b.time || 0) - (a.time || 0));
        this.apply();
    }

    says() {
        const all = this.app.module.kernels.length, n = this.shown.length;
        $('kernel-count').textContent = n === all ? count(all) : `${count(n)} of ${count(all)}`;
    }

    row(row) {
        const k = this.shown[row], several = this.app.module.devices.length > 1;
        const size = el('i');
        const share = this.time ? (k.time || 0) / this.time : 0;
        size.style.width = (100 * (this.time ? share : Math.sqrt(k.n / this.most))).toFixed(1) + '%';
        const node = el('div.row.kernel', el('span.name', visible(k.name) || '(no name)'),
                        several ? el('span.dev', visible(k.device)) : null, el('span.n', this.time ? (k.time ? percentText(100 * share, 1) : '') : count(k.n)), el('span.size', size));
        if (k.json.error)
            node.classList.add('broken');
        attrs(node, {'aria-selected': k === this.app.kernel, 'data-tip': `${visible(k.name)}\n${k.time ? `${duration(k.time)} in all launches\n` : ''}${plural(k.n, 'instruction')}${k.json.error ? '\n' + visible(string(k.json.error)) : ''}`});
        node.classList.toggle('on', k === this.app.kernel);
        return node;
    }

    show() {
        this.list.redraw();
        this.list.reveal(this.shown.indexOf(this.app.kernel), 'near');
    }
}

class Inspector {
    constructor(app) {
        this.app = app;
        $('crumbs').addEventListener('click', event => {
            const crumb = event.target.closest('[data-line]');
            if (crumb)
                app.goTo({line: Number(crumb.dataset.line)});
        });
        $('inspector').addEventListener('click', event => {
            const link = event.target.closest('[data-goto], [data-line]');
            if (!link)
                return;
            event.preventDefault();
            app.goTo(link.dataset.goto ? {insn: Number(link.dataset.goto)} : {line: Number(link.dataset.line)});
        });
    }

    showKernel(k) {
        $('kernel-name').textContent = visible(k.name) || '(no name)';
        $('stats').replaceChildren(...kernelStats(k).map(([name, value, tip, warn]) =>
            attrs(el('div' + (warn ? '.warn' : ''), el('dt', name), el('dd', value)), {'data-tip': tip})));
        const note = string(k.json.error) || string(k.json.note);
        if (note)
            $('stats').append(el('p.kernel-note', visible(note)));
    }

    show(target) {
        const k = this.app.kernel;
        $('crumbs').replaceChildren(...(target ? crumbs(k, target) : [el('span.crumb-hint', 'Point at a row to see what belongs to it, click to keep it')]));
        $('inspector').replaceChildren(...(!target ? kernelFacts(k) : target.insn !== undefined ? insnFacts(k, target.insn) : lineFacts(k, target.line)));
    }
}

/* [name, value, tip, warns] */
function kernelStats(k) {
    const j = k.json, stats = [];
    const add = (name, value, tip, warn) => stats.push([name, value, tip, warn]);
    if (k.device)
        add('device', visible(k.device), 'Device the code is for');
    if (j.simd > 0)
        add('SIMD', String(j.simd), 'Work-items that one hardware thread runs at once');
    add('code', `${count(number(j.isa_size_B, 0))} B`, 'Size of the machine code');
    add('instructions', count(k.n), 'Machine instructions');
    const peak = number(j.peak_live_grfs, k.maxLive);
    if (peak >= 0)
        add('peak GRFs', `${peak} / ${k.grfs}`, `Most general registers live at once, of ${k.grfs}`, peak >= 0.9 * k.grfs);
    if (j.spill_B >= 0)
        add('spills', `${count(j.spill_B)} B`, 'Registers spilled to memory, per hardware thread', j.spill_B > 0);
    else if (j.scratch_B > 0)
        add('scratch', `${count(j.scratch_B)} B`, 'Scratch memory per hardware thread: spilled registers and private memory together', true);
    if (j.private_B > 0)
        add('private', `${count(j.private_B)} B`, 'Private memory per hardware thread');
    if (j.slm_B > 0)
        add('SLM', `${count(j.slm_B)} B`, 'Shared local memory per work-group');
    if (j.barriers > 0)
        add('barriers', count(j.barriers), 'Barriers that the kernel uses');
    let sends = 0, read = 0, written = 0;
    for (let i = 0; i < k.n; i++) {
        const m = k.message(i);
        if (!m && !/^sends?c?/.test(string(k.instructions[i].opcode)))
            continue;
        sends++;
        read += number(m && m.read_B, 0);
        written += number(m && m.write_B, 0);
    }
    add('sends', count(sends), `Messages: to memory, sampler, gateway\n${count(read)} B read, ${count(written)} B written, if each ran once`);
    if (list(j.blocks).length)
        add('blocks', count(j.blocks.length), 'Basic blocks');
    const depth = list(j.blocks).reduce((most, b) => Math.max(most, number(object(b).loop_depth, 0)), 0);
    if (depth)
        add('loops', depth === 1 ? '1 deep' : `${depth} deep`, 'How deep loops are nested');
    return stats;
}

/* The inline stack: kernel › function inlined at … › … › the row's own place. */
function crumbs(k, target) {
    let insn = target.insn, others = '';
    if (insn === undefined) {
        const insns = k.lineInsns(target.line).length ? k.lineInsns(target.line) : k.lineThrough(target.line);
        insn = insns[0];
        const stacks = new Set(k.lineInsns(target.line).map(i => k.instructions[i].frame));
        others = stacks.size > 1 ? `one of ${stacks.size} places it is inlined` : '';
    }
    if (insn === undefined)
        return [el('span.crumb-hint', `${k.placeOfKey(target.line)}: no machine code`)];
    const own = target.insn === undefined ? target.line : k.lineOf[insn];
    const calls = k.calls(insn), nodes = [];
    calls.forEach((call, depth) => {
        const place = depth + 1 < calls.length ? calls[depth + 1].key : own;
        nodes.push(crumb(k, call.name, place));
    });
    if (!nodes.length)
        nodes.push(crumb(k, k.name, own));
    if (others)
        nodes.push(el('span.crumb-hint', others));
    return nodes.flatMap((node, i) => i && node.classList.contains('crumb') ? [el('span.crumb-sep', '\u203a'), node] : [node]);
}

function crumb(k, name, key) {
    const node = el('button.crumb', el('b', visible(name)));
    if (key >= 0) {
        node.append(el('span', k.placeOfKey(key)));
        node.dataset.line = key;
        node.dataset.tip = `Go to ${visible(k.module.files.all[keyFile(key)].path)}:${keyLine(key)}`;
    }
    return node;
}

const fact = (name, ...value) => el('div.fact', el('dt', name), el('dd', ...value));

function insnFacts(k, i) {
    const insn = k.instructions[i], facts = [], m = k.message(i);
    const op = string(insn.opcode) || (splitAsm(k.text(i)).find(part => !part.startsWith('(')) || '');
    facts.push(fact('at', `${hex(k.offsets[i])}`, insn.size ? `, ${insn.size} B` : ''));
    if (Number.isInteger(insn.block)) {
        const depth = number(object(list(k.json.blocks)[insn.block]).loop_depth, 0);
        facts.push(fact('block', `B${insn.block}${depth ? `, in ${depth === 1 ? 'a loop' : depth + ' loops'}` : ''}`));
    }
    if (k.live(i) >= 0)
        facts.push(fact('live', `${k.live(i)} of ${k.grfs} registers`));
    const targets = k.targets(i);
    if (targets.length)
        facts.push(fact('goes to', ...targets.map(t => gotoLink(k, t, k.label(t)))));
    const sources = k.sources.get(i);
    if (sources)
        facts.push(fact('reached from', ...sources.slice(0, 8).map(s => gotoLink(k, s, hex(k.offsets[s])))));
    if (m) {
        facts.push(fact('message', visible(string(m.text))));
        if (m.function !== undefined)
            facts.push(fact('function', visible(string(m.function))));
        if (m.surface !== undefined)
            facts.push(fact('surface', visible(string(m.surface))));
        if (m.read_B !== undefined || m.write_B !== undefined)
            facts.push(fact('bytes', [m.read_B > 0 ? `reads ${count(m.read_B)}` : '', m.write_B > 0 ? `writes ${count(m.write_B)}` : ''].filter(Boolean).join(', ') || '0'));
    }
    for (const v of variablesAt(k, k.offsets[i]))
        facts.push(fact(visible(v.name), visible(v.where)));
    return [
        el('div.inspected', ...tokenNodes(highlightAsm(k.text(i).trim(), !m))),
        el('p.says', opcodeTip(op).split('\n').slice(1).join(' ')),
        el('dl.facts', ...facts),
    ];
}

function lineFacts(k, key) {
    const insns = k.lineInsns(key), through = k.lineThrough(key), facts = [];
    const mix = new Map();
    let sends = 0;
    for (const i of insns) {
        const op = string(k.instructions[i].opcode) || '?';
        mix.set(op, (mix.get(op) || 0) + 1);
        sends += k.message(i) ? 1 : 0;
    }
    facts.push(fact('instructions', count(insns.length), through.length ? ` and ${count(through.length)} inlined` : ''));
    const ranges = rangesOf(k, insns);
    if (ranges.length)
        facts.push(fact(ranges.length > 1 ? `in ${ranges.length} ranges` : 'range', ...ranges.slice(0, 6).map(([a, b]) =>
            gotoLink(k, a, `${hex(k.offsets[a])}\u2013${hex(k.offsets[b])}`)), ranges.length > 6 ? ' \u2026' : ''));
    if (mix.size)
        facts.push(fact('mix', [...mix].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([op, n]) => `${n} ${op}`).join(', ')));
    const peak = maxOf(insns, i => k.live(i));
    if (peak >= 0)
        facts.push(fact('live', `up to ${peak} of ${k.grfs} registers`));
    if (sends) {
        const texts = new Set(insns.filter(i => k.message(i)).map(i => visible(string(k.message(i).text))));
        facts.push(fact('messages', `${sends}: ${[...texts].slice(0, 3).join('; ')}${texts.size > 3 ? ' \u2026' : ''}`));
    }
    for (const column of k.columns) {
        const value = column.heat.line(k, key);
        facts.push(fact(column.title, valueText(value, column.unit)));
    }
    const text = k.module.files.line(key);
    return [
        el('div.inspected', ...tokenNodes(highlightC(visible(string(text)).trim(), false))),
        el('p.says', visible(k.module.files.all[keyFile(key)].path) + ':' + keyLine(key)),
        el('dl.facts', ...facts),
    ];
}

/* Without a selection: what there is to know about the kernel at a glance. */
function kernelFacts(k) {
    const mix = new Map();
    for (const insn of k.instructions) {
        const op = string(insn.opcode) || '?';
        mix.set(op, (mix.get(op) || 0) + 1);
    }
    const top = [...mix].sort((a, b) => b[1] - a[1]).slice(0, 10), facts = [];
    if (k.n)
        facts.push(fact('instruction mix', top.map(([op, n]) => `${count(n)} ${op}`).join(', ') + (mix.size > top.length ? ', \u2026' : '')));
    if (k.maxLive >= 0) {
        const at = k.liveOf.indexOf(k.maxLive);
        facts.push(fact('most live registers', gotoLink(k, at, `${k.maxLive} at ${hex(k.offsets[at])}`)));
    }
    const lines = [...k.insnsOfLine].sort((a, b) => b[1].length - a[1].length).slice(0, 4);
    if (lines.length)
        facts.push(fact('most instructions', ...lines.map(([key, insns]) => lineLink(k, key, `${k.placeOfKey(key)} (${insns.length})`))));
    const others = new Set(k.module.kernels.map(other => other.name).filter(name => name !== k.name));
    for (const note of k.module.notes.filter(text => !others.has(text.split(': ')[0])).slice(0, 3))
        facts.push(fact('note', visible(note)));
    return [el('dl.facts', ...facts)];
}

const lineLink = (k, key, text) => attrs(el('a.goto-link', text), {'data-line': key, href: '#'});

function rangesOf(k, insns) {
    const ranges = [];
    for (const i of insns) {
        const last = ranges[ranges.length - 1];
        if (last && last[1] === i - 1)
            last[1] = i;
        else
            ranges.push([i, i]);
    }
    return ranges;
}

/* Variables that have a place at an offset. */
function variablesAt(k, offset) {
    const out = [];
    for (const v of list(k.json.variables).map(object)) {
        const place = list(v.locations).map(object).find(l => l.begin <= offset && offset < l.end);
        if (place)
            out.push({name: `${string(v.type)} ${string(v.name)}`, where: string(place.text || place.expr)});
        if (out.length >= 12)
            break;
    }
    return out;
}

/* ---- column chooser ---- */

class Chooser {
    constructor(app) {
        this.app = app;
        this.node = $('columns');
        this.button = $('columns-button');
        this.button.addEventListener('click', () => this.toggle());
        this.node.addEventListener('change', event => this.changed(event.target));
        document.addEventListener('pointerdown', event => {
            if (!this.node.hidden && !this.node.contains(event.target) && !this.button.contains(event.target))
                this.toggle(false);
        });
    }

    toggle(open = this.node.hidden) {
        this.node.hidden = !open;
        this.button.setAttribute('aria-expanded', open);
        if (!open)
            return;
        this.fill();
        const box = this.button.getBoundingClientRect();
        this.node.style.top = box.bottom + 6 + 'px';
        this.node.style.left = clamp(box.right - this.node.offsetWidth, 8, innerWidth - this.node.offsetWidth - 8) + 'px';
        const first = this.node.querySelector('input');
        if (first)
            first.focus();
    }

    fill() {
        const app = this.app, k = app.kernel;
        if (!k)
            return;
        const columns = allColumns(k).filter(c => !c.fixed);
        const heats = [{id: '', title: 'None', heat: true}, ...columns.filter(c => c.heat)];
        this.node.replaceChildren(
            el('h3', 'Columns'),
            ...columns.map(c => choice('checkbox', 'column', c, app.isShown(c))),
            el('h3', 'Heat'),
            ...heats.map(c => choice('radio', 'heat', c, app.heatId === c.id)),
            el('h3', 'Source'),
            choice('checkbox', 'fold', {id: 'fold', title: 'Fold lines without code'}, app.state.fold));
    }

    changed(input) {
        const app = this.app;
        if (input.name === 'column')
            app.toggleColumn(input.value);
        else if (input.name === 'heat')
            app.setHeat(input.value);
        else
            app.setFold(input.checked);
    }
}

function choice(type, name, column, checked) {
    const input = attrs(el('input'), {type, name, value: column.id});
    input.checked = checked;
    return attrs(el('label.choice', input, el('span', column.title)), column.tip ? {'data-tip': column.tip} : {});
}
