/*
 * What limits the kernels of a recording (zescope.analysis/1): the roofline as a picture, both axes
 * logarithmic, a roof for each memory and each peak, a mark for each kernel; below it what was found
 * of the kernel that is chosen, with links into the code.
 */
const ROOF = {width: 760, height: 380, left: 64, right: 150, top: 16, bottom: 44};
const positive = value => Number.isFinite(value) && value > 0 ? value : 0;

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
        findings: list(json.findings).map(object), notJudged: list(json.not_judged).map(object),
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
        this.picture();
        this.details();
        this.app.saveLink();
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
        const ridges = [...rates.values()].filter(() => highest).map(r => highest / r);
        const x = decades([...drawn.map(k => k.roof.intensity), ...ridges]);
        const y = decades([...drawn.map(k => k.rate), ...peaks.values()]);
        return {drawn, rates, peaks, highest, x, y,
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
                this.label(ROOF.left - 6, s.atY(10 ** e) + 4, shortNumber(10 ** e), 'roof-tick', 'end'));
        nodes.push(this.label((ROOF.left + ROOF.width - ROOF.right) / 2, ROOF.height - 8, 'operations for each byte', 'roof-title', 'middle'),
            this.label(6, ROOF.top - 4, 'Gop/s', 'roof-title'));
        return nodes;
    }

    /* A memory's roof rises until it meets the highest peak. Its name lies on it; those of the same rate share one. */
    roofs(s) {
        const nodes = [], named = new Map();
        for (const [name, rate] of s.rates) {
            const from = Math.max(10 ** s.x[0], 10 ** s.y[0] / rate), to = s.highest ? Math.min(10 ** s.x[1], s.highest / rate) : 10 ** s.x[1];
            if (to <= from)
                continue;
            const [x1, y1, x2, y2] = [s.atX(from), s.atY(from * rate), s.atX(to), s.atY(to * rate)];
            nodes.push(attrs(svg('line', {x1, y1, x2, y2, class: 'roof-line'}), {'data-roof': name}));
            const text = `${shortNumber(rate)} GB/s`, other = named.get(text);
            if (other)
                other.textContent = `${name}, ${other.textContent}`;
            else
                named.set(text, attrs(this.label(0, -6, `${name} ${text}`, 'roof-name'),
                    {transform: `translate(${x1} ${y1}) rotate(${Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI}) translate(8 0)`}));
        }
        nodes.push(...named.values());
        for (const [name, peak] of s.peaks)
            nodes.push(attrs(svg('line', {x1: s.atX(10 ** s.x[0]), y1: s.atY(peak), x2: s.atX(10 ** s.x[1]), y2: s.atY(peak), class: 'roof-line roof-peak'}),
                {'data-roof': name}), this.label(ROOF.width - ROOF.right + 6, s.atY(peak) + 4, `${name} ${shortNumber(peak)}`, 'roof-name'));
        return nodes;
    }

    mark(k, s) {
        const all = this.kernels.reduce((sum, other) => sum + other.time, 0), share = all ? k.time / all : 0;
        const tip = `${k.title}\n${shortNumber(k.rate)} of ${shortNumber(k.attainable)} G${k.operations}/s\n${shortNumber(k.roof.intensity)} ${k.operations} for each byte of ${k.roof.name}\n${duration(k.time)}`;
        return svg('circle', {cx: s.atX(k.roof.intensity).toFixed(1), cy: s.atY(k.rate).toFixed(1), r: (5 + 9 * Math.sqrt(share)).toFixed(1),
            class: `roof-mark${k.index === this.chosen ? ' on' : ''}`, tabindex: 0, role: 'button', 'data-kernel': k.index, 'data-tip': tip, 'aria-label': k.title});
    }

    picture() {
        const s = this.scales(), host = $('rec-roofline');
        if (!s.drawn.length) {
            host.replaceChildren(el('p.rec-empty', 'No kernel has counts and times: zescope run -- zescope record --counts records them.'));
            return;
        }
        const picture = svg('svg', {viewBox: `0 0 ${ROOF.width} ${ROOF.height}`, class: 'roofline', role: 'group', 'aria-label': 'Roofline of the kernels'});
        // the longest lie below, so that short ones can be chosen
        picture.append(...this.axes(s), ...this.roofs(s), ...s.drawn.sort((a, b) => b.time - a.time).map(k => this.mark(k, s)));
        host.replaceChildren(picture);
    }

    /* ---- what was found ---- */

    place(k, json) {
        const path = string(json.path), line = number(json.line, 0);
        const text = path ? `${baseName(path)}:${line}` : `offset ${hex(number(json.offset, 0))}`;
        const button = attrs(el('button.finding-place', visible(text)), {'data-code': k.index, 'data-tip': visible(path)});
        return el('li', button, el('code', visible(string(json.text))));
    }

    finding(k, f) {
        const numbers = list(f.numbers).map(object).map(n => `${visible(string(n.name))} ${shortNumber(n.value)} ${visible(string(n.unit))}`.trim());
        return el('section.finding', el('h3', visible(string(f.title))), el('p', visible(string(f.text))),
            el('ul', ...list(f.places).map(object).map(p => this.place(k, p))), el('p.finding-numbers', numbers.join(' \u00b7 ')), el('p.finding-advice', `Try: ${visible(string(f.advice))}.`));
    }

    details() {
        const k = this.kernels[this.chosen];
        const chooser = el('div.finding-kernels', ...this.kernels.map(other => attrs(el('button.text', other.title), {'data-kernel': other.index, 'aria-pressed': other === k})));
        const facts = [];
        if (k.rate && k.attainable)
            facts.push(`${shortNumber(k.rate)} of ${shortNumber(k.attainable)} G${k.operations}/s that ${k.bound === 'compute' ? 'its operations allow' : `${k.bound} allows`}`);
        if (Number.isFinite(k.occupancy))
            facts.push(`occupancy ${shortNumber(k.occupancy)} %${k.limiter && k.limiter !== 'nothing' ? `, limited by ${visible(k.limiter)}` : ''}`);
        $('rec-findings').replaceChildren(chooser, el('h2', k.title), el('p', facts.join(' \u00b7 ')),
            ...(k.findings.length ? k.findings.map(f => this.finding(k, f)) : [el('p.rec-empty', 'Nothing found.')]),
            ...k.notJudged.map(n => el('p.finding-numbers', `Not judged: ${visible(string(n.rule))}: ${visible(string(n.why))}`)));
    }

    clicked(event) {
        const code = event.target.closest('[data-code]'), kernel = event.target.closest('[data-kernel]');
        if (code) {
            const k = this.kernels[Number(code.dataset.code)];
            this.app.openCode(k.name, this.app.codeOf(k.name, k.module) ? k.module : '');
        } else if (kernel) {
            this.show(Number(kernel.dataset.kernel));
        }
    }
}
