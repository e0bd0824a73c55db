/* The page of `zescope compare --html`: what changed, sorted and filtered. */
const DIFF_COLUMNS = [
    ['kind', 'kind', r => r.kind], ['name', 'name', r => r.name],
    ['count A', 'count_a', r => r.a && number(r.a.count, NaN)], ['count B', 'count_b', r => r.b && number(r.b.count, NaN)],
    ['failed A', 'failed_a', r => r.a && number(r.a.failed, NaN)], ['failed B', 'failed_b', r => r.b && number(r.b.failed, NaN)],
    ['mean A', 'mean_a', r => r.a && number(r.a.mean_ns, NaN)], ['mean B', 'mean_b', r => r.b && number(r.b.mean_ns, NaN)],
    ['total A', 'total_a', r => r.a && number(r.a.total_ns, NaN)], ['total B', 'total_b', r => r.b && number(r.b.total_ns, NaN)],
    ['mean', 'change', r => r.change], ['total', 'total_change', r => r.total_change],
];

class DiffPage {
    constructor(json) {
        this.a = visible(string(json.a));
        this.b = visible(string(json.b));
        this.sort = {key: 'total_change', ascending: false};
        this.rows = list(json.changes).map(object).map(r => this.row(r));
        this.most = Math.max(1, ...this.rows.map(r => Math.abs(r.total_change) || 0));
        $('diff').hidden = false;
        $('diff-name').textContent = `${baseName(this.a)} \u2192 ${baseName(this.b)}`;
        $('diff-name').dataset.tip = `A: ${this.a}\nB: ${this.b}`;
        $('diff-filter').addEventListener('input', () => this.show());
        $('diff-all').addEventListener('change', () => this.show());
        for (const [title, key] of DIFF_COLUMNS) {
            const button = attrs(el('button', title), {'data-key': key});
            button.addEventListener('click', () => {
                this.sort = {key, ascending: this.sort.key === key ? !this.sort.ascending : ['kind', 'name'].includes(key)};
                this.show();
            });
            $('diff-heads').append(el(['kind', 'name'].includes(key) ? 'th.text' : 'th', button));
        }
        this.facts();
        this.show();
        showKernels(json);
    }

    row(json) {
        const side = s => s === null || s === undefined ? null : object(s);
        const a = side(json.a), b = side(json.b), mean = s => s ? number(s.total_ns, NaN) / number(s.timed, NaN) : NaN, total = s => s ? number(s.total_ns, 0) : 0;
        return {
            kind: visible(string(json.kind)), name: visible(string(json.name)), a, b, changed: json.changed !== false,
            change: mean(a) > 0 ? mean(b) / mean(a) - 1 : NaN, total_change: total(b) - total(a),
        };
    }

    facts() {
        const sums = new Map();
        for (const r of this.rows) {
            const sum = sums.get(r.kind) || {a: 0, b: 0};
            sum.a += r.a ? number(r.a.total_ns, 0) : 0;
            sum.b += r.b ? number(r.b.total_ns, 0) : 0;
            sums.set(r.kind, sum);
        }
        for (const [kind, {a, b}] of sums)
            $('diff-facts').append(el('span', el('b', kind), ` ${duration(a)} \u2192 ${duration(b)}${a ? ` (${percentChange(b / a - 1)})` : ''}`));
    }

    show() {
        let test = () => true;
        try {
            const expression = new RegExp($('diff-filter').value, /[A-Z]/.test($('diff-filter').value) ? '' : 'i');
            test = name => expression.test(name);
        } catch (error) {
            // half an expression: everything
        }
        const value = DIFF_COLUMNS.find(c => c[1] === this.sort.key)[2], sign = this.sort.ascending ? 1 : -1;
        const known = x => x !== null && x !== undefined && !Number.isNaN(x);
        const weight = x => this.sort.key.endsWith('change') && !this.sort.ascending ? Math.abs(x) : x;
        const rows = this.rows.filter(r => test(r.name) && (r.changed || $('diff-all').checked));
        rows.sort((p, q) => {
            const x = value(p), y = value(q);
            if (!known(x) || !known(y))
                return known(y) - known(x);
            return (weight(x) < weight(y) ? -1 : weight(x) > weight(y) ? 1 : 0) * sign;
        });
        for (const button of document.querySelectorAll('#diff-heads button')) {
            delete button.dataset.order;
            if (button.dataset.key === this.sort.key)
                button.dataset.order = this.sort.ascending ? 'asc' : 'desc';
        }
        $('diff-rows').replaceChildren(...rows.slice(0, 5000).map(r => this.rowNode(r)));
    }

    rowNode(r) {
        const cells = DIFF_COLUMNS.map(([, key, value]) => {
            const x = value(r);
            if (key === 'kind' || key === 'name')
                return el(key === 'name' ? 'td.name' : 'td.text', x);
            if (x === null || x === undefined || Number.isNaN(x))
                return el('td.na', key === 'change' ? (r.a ? r.b ? 'n/a' : 'gone' : 'new') : 'n/a');
            if (key === 'total_change')
                return this.barNode(x);
            const text = key === 'change' ? percentChange(x) : key.startsWith('mean') || key.startsWith('total') ? duration(x) : count(x);
            return el(key === 'failed_b' && x > (r.a ? number(r.a.failed, 0) : 0) ? 'td.bad' : 'td', text);
        });
        return el('tr', ...cells);
    }

    barNode(change) {
        const cell = el('td.diff-bar', el('span', (change > 0 ? '+' : change < 0 ? '\u2212' : '') + duration(Math.abs(change))));
        if (change) {
            const bar = el(change > 0 ? 'i.slower' : 'i.faster');
            bar.style.width = (Math.abs(change) / this.most * 50).toFixed(1) + '%';
            cell.prepend(bar);
        }
        return cell;
    }
}

/* As the text of `zescope compare`: a number halfway between two is rounded to the even one, which toFixed does not. */
function percentChange(part) {
    const percent = Math.abs(part * 100), halfway = percent * 4 % 4 === 1;
    return `${part > 0 ? '+' : part < 0 ? '\u2212' : ''}${(halfway ? percent - 0.05 : percent).toFixed(1)}\u2009%`;
}

try {
    new DiffPage(object(JSON.parse($('data').textContent)));
} catch (error) {
    document.documentElement.classList.remove('js');
    console.error(error);
}
