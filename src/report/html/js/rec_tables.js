/* The tables: sorted by any column, filtered by words, expressions and conditions. */
const TABLES = ['calls', 'kernels', 'copies', 'barriers', 'memory', 'allocations', 'leaks', 'builds', 'threads', 'marks', 'pauses', 'metrics'];
const TITLES = {
    share: 'time', total_ns: 'total', mean_ns: 'mean', min_ns: 'min', median_ns: 'median', p90_ns: '90 %', p99_ns: '99 %', max_ns: 'max',
    append_to_submit_ns: 'to submit', submit_to_start_ns: 'to start', peak_B: 'peak', left_B: 'never freed', B_per_s: 'rate',
    lifetime_ns: 'lifetime', first_ns: 'from', last_ns: 'until', time_ns: 'at', duration_ns: 'took', pid: 'process', tid: 'thread',
    thread_name: 'thread name', process_name: 'of process', start_ns: 'from', end_ns: 'until', simd: 'SIMD',
};
const NOT_SHOWN = new Set(['groups', 'group_size', 'timed', 'unfinished', 'append_to_submit_max_ns', 'submit_to_start_max_ns', 'histogram']);
const TIMES = new Set(['first_ns', 'last_ns', 'time_ns', 'start_ns', 'end_ns']);
const TEXTS = new Set(['name', 'device', 'shape', 'direction', 'kind', 'queue', 'engine', 'type', 'result', 'results', 'thread_name', 'process_name', 'reason', 'group', 'metric', 'units']);

function cellText(app, key, value) {
    if (value === null || value === undefined)
        return 'n/a';
    if (key === 'results')
        return Object.entries(object(value)).map(([name, n]) => `${name.replace('ZE_RESULT_', '')} \u00d7${n}`).join(', ');
    if (TIMES.has(key))
        return ((value + app.recording.first_ns - app.recording.start_ns) / 1e9).toFixed(6) + '\u2009s';
    if (key.endsWith('_ns'))
        return duration(value);
    if (key === 'B_per_s')
        return metricText(value, 'B/s');
    if (key === 'share')
        return value.toFixed(1) + '\u2009%';
    if (key === 'value')
        return metricText(value, '');
    if (key === 'handle' || key === 'list')
        return hex(value);
    if (key === 'size' || key.endsWith('_B'))
        return sizeText(value);
    return typeof value === 'number' ? count(value) : visible(string(value));
}

/* "total>1ms", "/zeMem/", words: what a row must have. Throws a sentence. */
function rowTest(text, columns) {
    const units = {'': 1, ns: 1, us: 1e3, '\u00b5s': 1e3, ms: 1e6, s: 1e9, k: 1024, K: 1024, M: 1048576, G: 1073741824, '%': 1};
    const tests = text.split(/\s+/).filter(Boolean).map(word => {
        const m = /^([A-Za-z_0-9]+)(<=|>=|!=|=|<|>)(.+)$/.exec(word);
        const key = m && columns.find(c => c === m[1] || c === m[1] + '_ns' || c === m[1] + '_B' || TITLES[c] === m[1]);
        if (key) {
            const v = /^(-?[\d.]+)([a-zA-Z%\u00b5]*)$/.exec(m[3]);
            if (v && v[2] in units) {
                const y = Number(v[1]) * units[v[2]];
                const compare = {'<': x => x < y, '>': x => x > y, '<=': x => x <= y, '>=': x => x >= y, '=': x => x === y, '!=': x => x !== y}[m[2]];
                return row => typeof row[key] === 'number' && compare(row[key]);
            }
            return row => (string(row[key]) === m[3]) === (m[2] === '=');
        }
        const r = /^\/(.+)\/$/.exec(word);
        const expression = r ? new RegExp(r[1], /[A-Z]/.test(r[1]) ? '' : 'i') : null, plain = word.toLowerCase();
        return row => columns.some(c => TEXTS.has(c) && (expression ? expression.test(string(row[c])) : cellOfText(row[c]).includes(plain)));
    });
    return row => tests.every(test => test(row));
}

const cellOfText = value => (typeof value === 'object' ? JSON.stringify(value) : string(value)).toLowerCase();

/* Rows of one value each as rows of kernels with a column for each metric: group -> {rows, units}. */
function pivotMetrics(values) {
    const groups = new Map();
    for (const v of values.map(object)) {
        const {group, metric, value, units, reports, ...kernel} = v, name = string(group);
        if (!groups.has(name))
            groups.set(name, {rows: new Map(), units: new Map()});
        const pivot = groups.get(name), key = JSON.stringify(kernel), title = string(metric);
        if (!pivot.rows.has(key))
            pivot.rows.set(key, {...kernel, reports});
        pivot.rows.get(key)[title] = value;
        pivot.units.set(title, string(units));
    }
    return new Map([...groups].map(([name, p]) => [name, {rows: [...p.rows.values()], units: p.units}]));
}

class Tables {
    constructor(app) {
        this.app = app;
        this.name = '';
        this.sort = {};
        this.documents = {};
        for (const name of TABLES) {
            const value = app.recording.report[name];
            this.documents[name] = name === 'memory' ? list(object(value).kinds) : value === null ? null : list(value);
        }
        this.pivots = pivotMetrics(list(this.documents.metrics));
        this.group = [...this.pivots.keys()][0] || '';
        if (this.pivots.size)
            this.documents.metrics = this.pivots.get(this.group).rows;
        this.groups = [...this.pivots.keys()].map(name => {
            const button = attrs(el('button', visible(name)), {role: 'radio', 'data-group': name});
            button.addEventListener('click', () => {
                this.group = name;
                this.documents.metrics = this.pivots.get(name).rows;
                this.show('metrics');
            });
            return button;
        });
        $('rec-groups').append(...this.groups);
        this.list = new RowList($('rec-table'), row => this.makeRow(row), {role: 'table', rowRole: 'row', label: 'Table'});
        this.tabs = TABLES.filter(name => this.documents[name] === null || this.documents[name].length || name === 'calls').map(name => {
            const rows = this.documents[name];
            const tab = attrs(el('button', name[0].toUpperCase() + name.slice(1), el('span.n', rows ? count(rows.length) : 'n/a')),
                {role: 'tab', 'data-table': name, 'aria-controls': 'rec-table'});
            tab.addEventListener('click', () => this.show(name));
            return tab;
        });
        $('rec-tabs').append(...this.tabs);
        $('rec-filter').addEventListener('input', debounce(() => this.filter(), 80));
        $('rec-copy').addEventListener('click', () => this.copy());
        $('rec-table').addEventListener('click', event => this.clicked(event));
        $('rec-table').addEventListener('keydown', event => this.key(event));
    }

    show(name) {
        if (!TABLES.includes(name) || !this.tabs.some(t => t.dataset.table === name))
            name = 'calls';
        this.name = name;
        this.on = -1;
        for (const tab of this.tabs) {
            tab.setAttribute('aria-selected', tab.dataset.table === name);
            tab.tabIndex = tab.dataset.table === name ? 0 : -1;
        }
        this.rows = list(this.documents[name]).map(object);
        this.units = name === 'metrics' && this.pivots.size ? this.pivots.get(this.group).units : new Map();
        $('rec-groups').hidden = name !== 'metrics' || this.groups.length < 2;
        for (const button of this.groups)
            button.setAttribute('aria-checked', button.dataset.group === this.group);
        const failed = this.rows.some(row => Object.keys(object(row.results)).length);
        const keys = [...new Set(this.rows.slice(0, 50).flatMap(row => Object.keys(row)))].filter(k => !NOT_SHOWN.has(k) && (failed || k !== 'results'));
        const order = [...keys.filter(k => TEXTS.has(k) && k !== 'results'), ...keys.filter(k => !TEXTS.has(k)), ...keys.filter(k => k === 'results')];
        this.columns = order;
        this.widths = this.measure();
        this.head();
        this.filter();
    }

    text(key, value) {
        return this.units.has(key) && typeof value === 'number' ? metricText(value, this.units.get(key)) : cellText(this.app, key, value);
    }

    measure() {
        return this.columns.map(key => {
            let most = (TITLES[key] || key).length + 2;
            for (const row of this.rows.slice(0, 300))
                most = Math.max(most, this.text(key, row[key]).length);
            if (this.units.has(key)) // its whole name is in the head
                return `${Math.max(most, 5) * 7 + 18}px`;
            return TEXTS.has(key) ? `minmax(${clamp(most, 6, 46) * 7.4 + 18}px, max-content)` : `${clamp(most, 5, 22) * 6.8 + 20}px`;
        });
    }

    get template() { return `${this.widths.slice(0, 1).join('')} ${this.linked ? '128px ' : ''}${this.widths.slice(1).join(' ')} 1fr`; }
    /* Tables whose rows lead somewhere. */
    get linked() { return ['calls', 'kernels', 'copies', 'barriers'].includes(this.name); }

    head() {
        const head = attrs(el('div.rec-head'), {role: 'row'});
        head.style.gridTemplateColumns = this.template;
        const sort = this.sort[this.name];
        for (const key of this.columns) {
            const button = attrs(el(TEXTS.has(key) ? 'button' : 'button.num', TITLES[key] || key.replace(/_/g, ' ')), {role: 'columnheader', 'data-key': key});
            button.dataset.tip = this.units.get(key) ? `${key}, ${visible(this.units.get(key))}` : key;
            if (sort && sort.key === key) {
                button.dataset.order = sort.ascending ? 'asc' : 'desc';
                button.setAttribute('aria-sort', sort.ascending ? 'ascending' : 'descending');
            }
            button.addEventListener('click', () => this.sortBy(key));
            head.append(button);
            if (this.linked && key === this.columns[0])
                head.append(el('span'));
        }
        this.list.setHead(head);
    }

    sortBy(key, ascending) {
        const old = this.sort[this.name];
        this.sort[this.name] = {key, ascending: ascending !== undefined ? ascending : old && old.key === key ? !old.ascending : TEXTS.has(key)};
        this.head();
        this.filter();
    }

    filter() {
        const text = $('rec-filter').value.trim();
        let shown = this.rows;
        try {
            const test = text ? rowTest(text, this.columns) : null;
            shown = test ? this.rows.filter(test) : this.rows.slice();
            $('rec-filter').removeAttribute('aria-invalid');
        } catch (error) {
            $('rec-filter').setAttribute('aria-invalid', 'true');
        }
        const sort = this.sort[this.name];
        if (sort) {
            const sign = sort.ascending ? 1 : -1, value = row => typeof row[sort.key] === 'object' && row[sort.key] ? JSON.stringify(row[sort.key]) : row[sort.key];
            shown.sort((a, b) => {
                const x = value(a), y = value(b);
                if (x === null || x === undefined || y === null || y === undefined)
                    return (x === null || x === undefined) - (y === null || y === undefined);
                return (x < y ? -1 : x > y ? 1 : 0) * sign;
            });
        }
        this.shown = shown;
        const left = number(object(this.app.recording.report.left_out)[this.name], 0);
        const known = this.documents[this.name] !== null;
        $('rec-rows').textContent = known ? `${count(shown.length)} of ${plural(this.rows.length, 'row')}${left ? `, ${count(left)} more are not on this page` : ''}` : 'was not recorded: n/a';
        this.on = -1;
        this.spread();
        this.list.setCount(shown.length);
        this.app.saveLink();
    }

    makeRow(index) {
        const row = this.shown[index], node = el('div.rec-row');
        node.style.gridTemplateColumns = this.template;
        node.classList.toggle('on', index === this.on);
        for (const key of this.columns) {
            const value = row[key], text = this.text(key, value);
            const cell = attrs(el('span', key === 'share' ? el('span', text) : text), {role: 'cell'});
            cell.className = (TEXTS.has(key) ? 'name' : 'num') + (value === null || value === undefined ? ' na' : '') +
                (key === 'share' ? ' share' : '') + (key === 'results' || key === 'failed' && value ? ' bad' : '');
            if (key === 'share' && value) {
                const bar = el('i');
                bar.style.width = clamp(value, 0, 100) + '%';
                cell.prepend(bar);
            }
            if (TEXTS.has(key))
                cell.title = text;
            node.append(cell);
            if (this.linked && key === this.columns[0])
                node.append(this.links(row, node));
        }
        return node;
    }

    links(row, node) {
        const links = attrs(el('span.links'), {role: 'cell'});
        const add = (text, act) => {
            const button = el('button', text);
            button.addEventListener('click', act);
            links.append(button);
        };
        if (this.name === 'kernels' && this.app.codeOf(string(row.name), string(row.module))) {
            node.classList.add('pick');
            add('Code', () => this.app.openCode(string(row.name), string(row.module)));
        }
        const name = string(this.name === 'copies' ? row.direction : row.name);
        add('Timeline', () => this.app.findInTimeline(this.name === 'copies' && !name.startsWith('fill') ? 'copy ' + name : name));
        return links;
    }

    clicked(event) {
        const index = this.list.rowOfNode(event.target);
        if (index < 0)
            return;
        this.choose(index);
        if (event.target.closest('.pick .name:first-child'))
            this.app.openCode(string(this.shown[index].name), string(this.shown[index].module));
    }

    choose(index) {
        this.on = clamp(index, 0, this.shown.length - 1);
        this.spread();
        this.list.redraw();
        this.list.reveal(this.on, 'near');
    }

    /* How the durations of the chosen row spread: a bar for each eighth of an octave between the
     * shortest and the longest. */
    spread() {
        const buckets = this.on >= 0 ? list(object(this.shown[this.on]).histogram).map(list).filter(b => b.length === 3 && b[1] > b[0] && b[2] > 0) : [];
        $('rec-bars').replaceChildren();
        if (!buckets.length)
            return;
        const place = ns => ns < 8 ? Math.floor(ns) : Math.floor(Math.log2(ns)) * 8 + Math.floor(ns / 2 ** (Math.floor(Math.log2(ns)) - 3)) % 8;
        const first = place(buckets[0][0]), n = place(buckets[buckets.length - 1][0]) - first + 1;
        const most = Math.max(...buckets.map(b => b[2])), all = buckets.reduce((sum, b) => sum + b[2], 0);
        const bars = Array.from({length: clamp(n, 1, 400)}, () => el('i'));
        for (const bar of bars)
            bar.style.height = '1px';
        for (const [from, to, times] of buckets) {
            const bar = bars[place(from) - first];
            if (!bar)
                continue;
            bar.style.height = (times / most * 100).toFixed(1) + '%';
            bar.dataset.tip = `${duration(from)} to ${duration(to)}: ${plural(times, 'time')}, ${(times / all * 100).toFixed(1)} %`;
        }
        $('rec-bars').append(...bars, el('span.says', `${plural(all, 'execution')}, ${duration(buckets[0][0])} to ${duration(buckets[buckets.length - 1][1])}`));
    }

    step(step) {
        if (this.shown.length)
            this.choose(this.on + step);
    }

    key(event) {
        if (event.key === 'Enter' && this.on >= 0 && this.name === 'kernels' && !event.target.closest('button'))
            this.app.openCode(string(this.shown[this.on].name), string(this.shown[this.on].module));
    }

    stepTab(step) {
        const at = this.tabs.findIndex(t => t.dataset.table === this.name), tab = this.tabs[(at + step + this.tabs.length) % this.tabs.length];
        this.show(tab.dataset.table);
    }

    csv() {
        const quote = text => /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
        const cell = value => value === null || value === undefined ? 'n/a' : quote(typeof value === 'object' ? JSON.stringify(value) : string(value));
        return [this.columns.join(','), ...this.shown.map(row => this.columns.map(k => cell(row[k])).join(','))].join('\n') + '\n';
    }

    copy() {
        copyText(this.csv()).then(() => toast(`${plural(this.shown.length, 'row')} copied`), () => toast('The clipboard is not to be had'));
    }
}
