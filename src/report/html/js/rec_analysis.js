/*
 * What limits the kernels of a recording (zescope.analysis/1): a table of them, the longest first;
 * beside it the roofline as a picture, both axes logarithmic, a roof for each memory and each peak,
 * a mark for each kernel and for the chosen one one under each roof; below what was found of the
 * chosen kernel, with links to the lines.
 */
const ROOF = {width: 760, height: 380, left: 64, right: 24, top: 26, bottom: 44, letter: 6.2};
const GAIN_SHOWN = .5; // per cent of the time: less saves nothing, as `zescope analyze` has it
const positive = value => Number.isFinite(value) && value > 0 ? value : 0;
const percent = value => Number.isFinite(value) ? `${shortNumber(value)} %` : '';
const rateText = (gops, operations) => siNumber(gops * 1e9, `${operations.replace(/s$/, '')}/s`);

/* What threads do, in the order of STALLS: [[words, part of all thread cycles, colour]]. */
function stallsOf(json) {
    const found = list(json).map(object);
    return STALLS.map(([name], i) => [found.find(s => s.metric === name), i]).filter(([s]) => s)
        .map(([s, i]) => [visible(string(s.text)), positive(s.percent) / 100, i]);
}

/* A bar of such parts; those that are wide enough say what they are. */
function stallBar(stalls, labelled) {
    return el('span.stalls', ...stalls.map(([words, part, i]) => {
        const piece = attrs(el(`span.stall-${i}`, labelled && part > 0.14 ? `${percent(100 * part)} ${words}` : ''), {'data-tip': `${percent(100 * part)} ${words}`});
        piece.style.flexGrow = (part * 1000).toFixed(0);
        return piece;
    }));
}

/* A kernel as far as it can be drawn: against the roof that is lowest over it. */
function analyzedKernel(json, index) {
    const roofline = object(json.roofline), roofs = list(roofline.roofs).map(object)
        .map(r => ({name: string(r.name), intensity: positive(r.intensity), peakRate: positive(r.peak_rate), rate: positive(r.rate)}));
    const bound = string(roofline.bound);
    const roof = roofs.find(r => r.name === bound && r.intensity) || roofs.filter(r => r.intensity).sort((a, b) => a.intensity - b.intensity)[0] || null;
    return {
        index, roofs, roof, bound, name: string(json.name), title: visible(string(json.name)) + (json.rank ? ` of ${visible(string(json.rank))}` : ''), module: string(json.module), limiter: string(json.limiter),
        operations: string(roofline.operations) || 'flop', precision: string(roofline.precision),
        rate: positive(roofline.rate), peak: positive(roofline.peak), attainable: positive(roofline.attainable),
        time: positive(object(json.quantities).time_total), occupancy: object(json.quantities).occupancy,
        metrics: new Map(list(json.metrics).map(object).map(m => [string(m.name), number(m.value, NaN)])), quantities: object(json.quantities), cases: json.occupancy_if,
        limitedBy: visible(string(json.limited_by)), limit: json.limit, limitText: visible(string(json.limit_text)), achieved: json.occupancy_achieved, units: list(json.units).map(object).map(u => [visible(string(u.text)), positive(u.percent)]), stalls: stallsOf(json.stalls), findings: list(json.findings).map(object), notJudged: list(json.not_judged).map(object),
    };
}

/* Powers of ten that hold all values, at least one of them. */
function decades(values) {
    const logs = values.filter(v => v > 0).map(v => clamp(Math.log10(v), -12, 15));
    const low = logs.length ? Math.floor(Math.min(...logs)) : 0, high = logs.length ? Math.ceil(Math.max(...logs)) : 1;
    return [low, Math.max(high, low + 1)];
}

class Analysis {
    constructor(app) {
        this.app = app;
        const json = object(app.recording.analysis);
        this.clock = json.estimated === true ? 'estimated from counts' : json.modelled === true ? 'modelled' : '';
        this.kernels = list(json.kernels).map(object).map(analyzedKernel);
        this.chosen = 0;
        $('rec-analysis').addEventListener('click', event => this.clicked(event));
        $('rec-analysis').addEventListener('keydown', event => {
            if (['Enter', ' '].includes(event.key) && event.target.closest('.roof-mark')) {
                event.preventDefault();
                this.clicked(event);
            }
        });
    }

    get any() { return this.kernels.length > 0; }

    show(index) {
        this.chosen = clamp(index, 0, this.kernels.length - 1);
        this.table();
        this.picture();
        this.details();
        this.app.saveLink();
    }

    /* ---- the table ---- */

    cell(text, className = '') { return el(`td${className}`, text); }

    metric(k, name) { return k.metrics.get(`ZscopeMemory.${name}`); }

    /* Why its threads waited, as a bar and in words. */
    stalls(k) {
        const stalls = k.stalls;
        return stalls.length ? el('section.card', el('h3', 'Where its threads are'), stallBar(stalls, false),
            el('ul.legend', ...stalls.filter(([, part]) => part >= .001).sort((a, b) => b[1] - a[1]).map(([words, part, i]) => el('li', el(`i.stall-${i}`), `${percent(100 * part)} ${words}`)))) : '';
    }

    /* How much of what it can each unit does: that with most is as near to its limit as anything. */
    busy(k) {
        const row = ([text, part]) => {
            const bar = el('i.share');
            bar.style.width = `${clamp(part, 0, 100)}%`;
            return el('tr', el('td', text), el('td.num.shared', bar, el('span', percent(part))));
        };
        return k.units.length ? el('section.card', el('h3', 'What works, of what it can do'), el('table.kernels.cases', el('tbody', ...k.units.slice(0, 6).map(row)))) : '';
    }

    /*
     * Bytes between the EUs and each memory, and how much of them each cache has. Lines are of 64
     * bytes, which is what a miss moves.
     */
    memory(k) {
        const m = name => this.metric(k, name), q = k.quantities;
        if (!Number.isFinite(m('L3Hits')))
            return '';
        const rate = (hits, misses) => hits + misses ? `${percent(100 * hits / (hits + misses))} hits` : 'not used';
        const l3 = (m('L3Hits') + m('L3Misses')) * 64, llc = (m('LlcHits') + m('LlcMisses')) * 64;
        const memory = positive(m('MemoryBytesRead')) + positive(m('MemoryBytesWritten')), asked = positive(m('GlobalBytesAsked')) + positive(m('TypedBytesAsked')) + positive(m('ScratchBytesAsked'));
        const roof = name => k.roofs.find(r => r.name === name), reached = name => roof(name) && roof(name).rate && roof(name).peakRate ? `${siNumber(roof(name).rate * 1e9, 'B/s')}, ${percent(100 * roof(name).rate / roof(name).peakRate)} of what it has` : '';
        const box = (name, fact, more) => el('div.mem-box', el('b', name), el('span', fact), more ? el('span.dim', more) : '');
        const arrow = (bytes, label) => {
            const node = el('div.mem-arrow', el('span', siNumber(bytes, 'B')), el('i'), el('span.dim', label));
            node.lastChild.previousSibling.style.height = `${bytes ? clamp(1 + Math.log2(1 + bytes / 1024), 1, 14).toFixed(1) : 0.5}px`;
            return node;
        };
        return el('section.card.wide', el('h3', 'Memory'), el('div.mem-row',
            box('EUs', `${siNumber(asked, 'B')} asked for`, Number.isFinite(m('SectorUse')) ? `${percent(m('SectorUse'))} of what moves is used` : ''),
            arrow(l3, 'lines'), box('L3', rate(m('L3Hits'), m('L3Misses')), reached('L3')),
            ...(llc ? [arrow(llc, 'misses'), box('LLC', rate(m('LlcHits'), m('LlcMisses')))] : []), arrow(memory, 'misses'), box('memory', siNumber(memory, 'B'), reached('memory'))),
        positive(q.slm_moved) ? el('div.mem-row', box('EUs', `${shortNumber(positive(q.slm_messages))} messages`), arrow(q.slm_moved, ''), box('local memory',
            positive(m('SlmConflictCycles')) ? `${shortNumber(m('SlmConflictCycles'))} cycles of bank conflicts` : 'no bank conflicts', reached('local memory'))) : '');
    }

    line(k, all) {
        const worst = k.findings.find(f => !(f.gain < GAIN_SHOWN));
        const share = all ? 100 * k.time / all : NaN, reached = k.attainable ? 100 * k.rate / k.attainable : NaN;
        const bar = el('i.share');
        bar.style.width = `${clamp(share || 0, 0, 100)}%`;
        return attrs(el('tr', el('th', attrs(el('button.text', k.title), {'data-kernel': k.index, 'aria-pressed': k.index === this.chosen})),
            this.cell(k.time ? duration(k.time) : 'n/a', '.num'), el('td.num.shared', bar, el('span', percent(share))),
            el('td', stallBar(k.stalls, false)), this.cell(k.limitedBy ? `${k.limitedBy}${Number.isFinite(k.limit) ? `, ${percent(k.limit)}` : ''}` : k.bound),
            reached > 100 ? attrs(this.cell('100 %', '.num'), {'data-tip': 'what caches still hold of a launch\'s writes counts, but is written when it is over'}) : this.cell(percent(reached), '.num'), this.cell(worst ? visible(string(worst.title)) : ''), this.cell(worst ? percent(worst.gain) : '', '.num')),
        {'data-kernel': k.index, class: k.index === this.chosen ? 'on' : ''});
    }

    table() {
        const all = this.kernels.reduce((sum, k) => sum + k.time, 0);
        const heads = [['kernel', ''], [this.clock ? `time, ${this.clock}` : 'time', 'of all of its launches'], ['share', 'of the kernels\' time'], ['threads', 'what they do: issue, or wait for what'], ['limited by', ''],
            ['reached', 'of what the roof that is lowest over it allows'], ['first finding', ''], ['gain', 'of its time that mending it saves at most']];
        $('rec-kernels').replaceChildren(el('table.kernels',
            el('thead', el('tr', ...heads.map(([name, tip], i) => attrs(el([1, 2, 5, 7].includes(i) ? 'th.num' : 'th', name), tip ? {'data-tip': tip} : {})))),
            el('tbody', ...this.kernels.map(k => this.line(k, all)))));
    }

    /* What would fit with other groups, or other registers: as the model of a device counts it. */
    occupancy(k) {
        const cases = list(k.cases).map(object);
        if (!cases.length)
            return '';
        const row = c => {
            const bar = el('i.share'), percentFits = number(c.occupancy, 0);
            bar.style.width = `${clamp(percentFits, 0, 100)}%`;
            return el(c.now === true ? 'tr.on' : 'tr', el('td', visible(string(c.what))), el('td.num.shared', bar, el('span', percent(percentFits))));
        };
        return el('section.card', el('h3', 'Occupancy, if'), el('table.kernels.cases', el('tbody', ...cases.map(row))));
    }

    /* ---- the picture ---- */

    scales() {
        const drawn = this.kernels.filter(k => k.roof && k.rate);
        const rates = new Map(), peaks = new Map();
        for (const k of this.kernels) {
            for (const r of k.roofs)
                if (r.peakRate)
                    rates.set(r.name, r.peakRate);
            if (k.peak)
                peaks.set(k.precision || 'integers', k.peak);
        }
        const highest = Math.max(0, ...peaks.values());
        const chosen = this.kernels[this.chosen], marks = chosen && chosen.rate ? chosen.roofs.filter(r => r.intensity) : [];
        const colors = new Map([...rates.keys()].map((name, i) => [name, `roof-${i % 5}`]));
        const ridges = [...rates.values()].filter(() => highest).map(r => highest / r);
        const x = decades([...drawn.map(k => k.roof.intensity), ...marks.map(r => r.intensity), ...ridges]);
        const y = decades([...drawn.map(k => k.rate), ...peaks.values()]);
        return {drawn, rates, peaks, highest, x, y, marks, colors, taken: [],
            atX: v => ROOF.left + (clamp(Math.log10(v), x[0], x[1]) - x[0]) / (x[1] - x[0]) * (ROOF.width - ROOF.left - ROOF.right),
            atY: v => ROOF.height - ROOF.bottom - (clamp(Math.log10(v), y[0], y[1]) - y[0]) / (y[1] - y[0]) * (ROOF.height - ROOF.top - ROOF.bottom)};
    }

    label(x, y, text, className, anchor = 'start') {
        const node = svg('text', {x, y, class: className, 'text-anchor': anchor});
        node.textContent = text;
        return node;
    }

    axes(s) {
        const nodes = [];
        for (let e = s.x[0]; e <= s.x[1]; e++)
            nodes.push(svg('line', {x1: s.atX(10 ** e), x2: s.atX(10 ** e), y1: ROOF.top, y2: ROOF.height - ROOF.bottom, class: 'roof-grid'}),
                this.label(s.atX(10 ** e), ROOF.height - ROOF.bottom + 15, shortNumber(10 ** e), 'roof-tick', 'middle'));
        for (let e = s.y[0]; e <= s.y[1]; e++)
            nodes.push(svg('line', {x1: ROOF.left, x2: ROOF.width - ROOF.right, y1: s.atY(10 ** e), y2: s.atY(10 ** e), class: 'roof-grid'}),
                this.label(ROOF.left - 6, s.atY(10 ** e) + 4, siNumber(10 ** e * 1e9, ''), 'roof-tick', 'end'));
        nodes.push(this.label((ROOF.left + ROOF.width - ROOF.right) / 2, ROOF.height - 8, 'operations for each byte', 'roof-title', 'middle'),
            this.label(6, ROOF.top - 14, 'operations a second', 'roof-title'));
        return nodes;
    }

    marksOf(s) { return s.drawn.map(k => ({x: s.atX(k.roof.intensity), y: s.atY(k.rate), width: 10})); }

    /* How far boxes are from the nearest of others; far enough is as good as further. */
    room(boxes, others) {
        return Math.min(40, ...boxes.flatMap(p => others.map(o => Math.hypot(Math.max(0, Math.abs(o.x - p.x) - (o.width + p.width) / 2), o.y - p.y))));
    }

    /* A peak's name, over its left end or its right one: there are fewer marks, and no roofs of memories. */
    namePeak(s, text, y, slopes) {
        const width = text.length * ROOF.letter, right = ROOF.width - ROOF.right - 4;
        const boxes = [ROOF.left + 4 + width / 2, right - width / 2].map(x => ({x, y: y - 5, width}));
        const others = [...this.marksOf(s), ...slopes];
        const atRight = this.room([boxes[1]], others) > this.room([boxes[0]], others);
        s.taken.push(boxes[atRight ? 1 : 0]);
        return this.label(atRight ? right : ROOF.left + 4, y - 5, text, 'roof-name', atRight ? 'end' : 'start');
    }

    /* Where along a roof its name is furthest from marks and other names; what it covers is taken. */
    nameRoof(s, text, [x1, y1, x2, y2]) {
        const slope = (y2 - y1) / (x2 - x1), width = text.length * ROOF.letter * Math.cos(Math.atan(slope));
        const others = [...s.taken, ...this.marksOf(s)];
        const parts = part => [-2, -1, 0, 1, 2].map(i => ({x: x1 + (x2 - x1) * part + i * width / 5, y: y1 + (y2 - y1) * part + i * width / 5 * slope - 6, width: width / 5 + 4}));
        const covered = [.5, .4, .6, .3, .7, .2, .8].map(parts).reduce((best, next) => this.room(next, others) > this.room(best, others) ? next : best), {x, y} = covered[2];
        s.taken.push(...covered);
        return attrs(this.label(0, 0, text, 'roof-name', 'middle'), {transform: `translate(${x} ${y}) rotate(${Math.atan(slope) * 180 / Math.PI})`});
    }

    /* A memory's roof rises until it meets the highest peak. Names lie on roofs; memories of the same rate share one. */
    roofs(s) {
        const nodes = [], named = new Map();
        for (const [name, rate] of s.rates) {
            const from = Math.max(10 ** s.x[0], 10 ** s.y[0] / rate), to = s.highest ? Math.min(10 ** s.x[1], s.highest / rate) : 10 ** s.x[1];
            if (to <= from)
                continue;
            const [x1, y1, x2, y2] = [s.atX(from), s.atY(from * rate), s.atX(to), s.atY(to * rate)];
            nodes.push(attrs(svg('line', {x1, y1, x2, y2, class: `roof-line ${s.colors.get(name)}`}), {'data-roof': name}));
            const text = siNumber(rate * 1e9, 'B/s'), other = named.get(text);
            named.set(text, [other ? `${name}, ${other[0]}` : `${name} ${text}`, [x1, y1, x2, y2]]);
        }
        const slopes = [...named.values()].flatMap(([, [x1, y1, x2, y2]]) => [...Array(25).keys()].map(i => ({x: x1 + (x2 - x1) * i / 24, y: y1 + (y2 - y1) * i / 24, width: 1})));
        const peaks = [...s.peaks].map(([name, peak]) => this.namePeak(s, `${name} ${rateText(peak, 'op')}`, s.atY(peak), slopes));
        for (const [name, peak] of s.peaks)
            nodes.push(attrs(svg('line', {x1: s.atX(10 ** s.x[0]), y1: s.atY(peak), x2: s.atX(10 ** s.x[1]), y2: s.atY(peak), class: 'roof-line roof-peak'}), {'data-roof': name}));
        return [...nodes, ...[...named.values()].map(([text, line]) => this.nameRoof(s, text, line)), ...peaks];
    }

    /* The chosen kernel under every roof: as many operations a second, for each byte of that memory. */
    intensities(s) {
        const k = this.kernels[this.chosen];
        return s.marks.filter(r => r !== k.roof).map(r => attrs(svg('rect', {x: (s.atX(r.intensity) - 4).toFixed(1), y: (s.atY(k.rate) - 4).toFixed(1), width: 8, height: 8,
            class: `roof-other ${s.colors.get(r.name) || ''}`}), {'data-tip': `${k.title}\n${shortNumber(r.intensity)} ${k.operations} for each byte of ${r.name}`}));
    }

    /* Names of kernels over their marks, those of the longest first, where there is room for them; the chosen one's always. */
    names(s) {
        const nodes = [], chosen = this.kernels[this.chosen];
        const taken = [...s.taken, ...s.marks.map(r => ({x: s.atX(r.intensity), y: s.atY(chosen.rate) + 4, width: 10}))];
        for (const k of [...s.drawn].sort((a, b) => (b === chosen) - (a === chosen))) {
            const text = k.title.length > 24 ? `${k.title.slice(0, 23)}\u2026` : k.title, width = text.length * ROOF.letter;
            const r = this.radius(k), beside = r + 4 + width / 2;
            const places = [[0, -r - 4], [beside, 4], [-beside, 4], [0, r + 12]]
                .map(([right, down]) => [clamp(s.atX(k.roof.intensity) + right, ROOF.left + width / 2, ROOF.width - width / 2), s.atY(k.rate) + down]);
            const [x, y] = places
                .find(([atX, atY]) => taken.every(t => Math.abs(t.x - atX) >= (t.width + width) / 2 || Math.abs(t.y - atY) >= 12)
                    && s.drawn.every(o => o === k || Math.abs(s.atX(o.roof.intensity) - atX) >= this.radius(o) + width / 2 || Math.abs(s.atY(o.rate) + 4 - atY) >= this.radius(o) + 5)) || (k === chosen ? places[0] : []);
            if (x === undefined)
                continue;
            taken.push({x, y, width});
            nodes.push(this.label(x, y, text, `roof-kernel${k.index === this.chosen ? ' on' : ''}`, 'middle'));
        }
        return nodes;
    }

    /* A mark's area is the kernel's share of the time. */
    radius(k) {
        const all = this.kernels.reduce((sum, other) => sum + other.time, 0);
        return 5 + 9 * Math.sqrt(all ? k.time / all : 0);
    }

    mark(k, s) {
        const tip = `${k.title}\n${rateText(k.rate, k.operations)} of ${rateText(k.attainable, k.operations)}\n${shortNumber(k.roof.intensity)} ${k.operations} for each byte of ${k.roof.name}\n${duration(k.time)}`;
        return svg('circle', {cx: s.atX(k.roof.intensity).toFixed(1), cy: s.atY(k.rate).toFixed(1), r: this.radius(k).toFixed(1),
            class: `roof-mark${k.index === this.chosen ? ' on' : ''}`, tabindex: 0, role: 'button', 'data-kernel': k.index, 'data-tip': tip, 'aria-label': k.title});
    }

    picture() {
        const s = this.scales(), host = $('rec-roofline');
        if (!s.drawn.length) {
            host.replaceChildren(el('p.rec-empty', 'No kernel has counts and times: zescope record -d DEVICE --counts records them.'));
            return;
        }
        const picture = svg('svg', {viewBox: `0 0 ${ROOF.width} ${ROOF.height}`, class: 'roofline', role: 'group', 'aria-label': 'Roofline of the kernels'});
        // the longest lie below, so that short ones can be chosen
        s.drawn.sort((a, b) => b.time - a.time);
        picture.append(...this.axes(s), ...this.roofs(s), ...this.names(s), ...this.intensities(s), ...s.drawn.map(k => this.mark(k, s)));
        host.replaceChildren(picture);
    }

    /* ---- what was found ---- */

    place(k, json) {
        const path = string(json.path), line = number(json.line, 0);
        const text = path ? `${baseName(path)}:${line}` : `offset ${hex(number(json.offset, 0))}`;
        const button = attrs(el('button.finding-place', visible(text)), {'data-code': k.index, 'data-path': path, 'data-line': line, 'data-tip': visible(path)});
        return el('li', button, el('code', visible(string(json.text))));
    }

    finding(k, f) {
        const nameOf = text => visible(string(text)).replaceAll('_', ' ').replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().replace(/\bl3\b/, 'L3');
        const numbers = list(f.numbers).map(object).filter(n => n.value !== 0).map(n => [nameOf(n.name), n.value, string(n.unit)])
            .map(([name, value, unit]) => `${name} ${metricText(value, name.split(' ').includes(unit) ? '' : unit)}`); // "lines touched 12"
        const least = Math.round(number(f.gain_least, f.gain)), from = least >= Math.round(f.gain) ? '' : least > 0 ? `${least} to ` : 'up to ';
        const gain = Number.isFinite(f.gain) ? el('span.gain', `gain ${from}${percent(f.gain)}`) : '';
        return el('section.finding', el('h3', visible(string(f.title)), gain), el('p', visible(string(f.text))),
            el('ul', ...list(f.places).map(object).map(p => this.place(k, p))), el('p.finding-numbers', numbers.join(' \u00b7 ')), el('p.finding-advice', `Try: ${visible(string(f.advice))}.`));
    }

    details() {
        const k = this.kernels[this.chosen];
        const facts = [];
        if (k.rate && k.attainable)
            facts.push(`${rateText(k.rate, k.operations)} of ${rateText(k.attainable, k.operations)} that ${k.bound === 'compute' ? 'its operations allow' : `${k.bound} allows`}`);
        if (Number.isFinite(k.occupancy))
            facts.push(`${Number.isFinite(k.achieved) ? `occupancy ${shortNumber(k.achieved)} % of ` : 'occupancy '}${shortNumber(k.occupancy)} % that fit${k.limiter && k.limiter !== 'nothing' ? `, limited by ${visible(k.limiter)}` : ''}`);
        const costly = k.findings.filter(f => !(f.gain < GAIN_SHOWN)), harmless = k.findings.filter(f => f.gain < GAIN_SHOWN);
        const unknown = new Map(); // rules that lack the same are told together
        for (const n of k.notJudged) {
            const why = visible(string(n.why));
            unknown.set(why, [...unknown.get(why) || [], visible(string(n.title) || string(n.rule))]);
        }
        $('rec-findings').replaceChildren(el('div.found', el('h2', k.title), k.limitText ? el('p.limit', `Limited by ${k.limitText}.`) : '', el('p', facts.join(' \u00b7 ')), ...costly.map(f => this.finding(k, f)),
            harmless.length ? el('p.finding-numbers', `Costs nothing: ${harmless.map(f => visible(string(f.title))).join(', ')}`) : '',
            k.findings.length ? '' : el('p.rec-empty', 'Nothing found.'),
            ...[...unknown].map(([why, rules]) => el('p.finding-numbers', `Not judged: ${rules.join(', ')}: ${why}`))),
        el('div.cards', this.busy(k), this.stalls(k), this.memory(k), this.occupancy(k)));
    }

    clicked(event) {
        const code = event.target.closest('[data-code]'), kernel = event.target.closest('[data-kernel]');
        if (code) {
            const k = this.kernels[Number(code.dataset.code)];
            this.app.openCode(k.name, this.app.codeOf(k.name, k.module) ? k.module : '', {path: code.dataset.path, line: Number(code.dataset.line)});
        } else if (kernel) {
            this.show(Number(kernel.dataset.kernel));
        }
    }
}
