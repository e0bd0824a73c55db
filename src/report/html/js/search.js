/*
 * Search with a regular expression over what the panes show. A pattern without capitals ignores
 * case. Long kernels are searched in slices, so that typing stays smooth.
 */
const SLICE_ROWS = 4000, HITS_MAX = 100000;

class Search {
    /* changed(): there are new hits or another current one */
    constructor(changed) {
        this.changed = changed;
        this.run = 0;
        this.reset();
    }

    reset() {
        this.pattern = null;
        this.error = '';
        this.hits = [];      // {pane, row}, in reading order
        this.ranges = new Map();
        this.at = -1;
        this.complete = true;
    }

    /* Start anew; hit: which one is to be current when it is found. */
    start(query, panes, hit) {
        const run = ++this.run;
        this.reset();
        this.query = query;
        if (query) {
            try {
                this.pattern = new RegExp(query, /[A-Z]/.test(query.replace(/\\./g, '')) ? 'g' : 'gi');
            } catch (error) {
                this.error = String(error.message).replace(/^Invalid regular expression: (\/.*\/[a-z]*: )?/s, '');
            }
        }
        for (const pane of panes)
            this.ranges.set(pane, new Map());
        this.wanted = hit;
        this.complete = !this.pattern;
        if (this.pattern)
            this.slice(run, panes, 0, 0);
        else
            this.changed(true);
    }

    slice(run, panes, which, row) {
        if (run !== this.run)
            return;
        const until = performance.now() + 12;
        for (; which < panes.length; which++, row = 0) {
            const pane = panes[which], n = pane.layout.n;
            for (; row < n && this.hits.length < HITS_MAX; row++) {
                this.searchRow(pane, row);
                if (row % 64 === 0 && performance.now() > until) {
                    setTimeout(() => this.slice(run, panes, which, row + 1), 0);
                    return;
                }
            }
        }
        this.complete = true;
        this.at = this.hits.length ? clamp(this.wanted, 0, this.hits.length - 1) : -1;
        this.changed(true);
    }

    searchRow(pane, row) {
        if (pane.layout.kinds[row] === GAP) {
            this.searchGap(pane, row);
            return;
        }
        const text = searchText(pane, row);
        if (!text)
            return;
        const ranges = [];
        this.pattern.lastIndex = 0;
        for (let m; ranges.length < 50 && (m = this.pattern.exec(text));) {
            if (m[0].length)
                ranges.push([m.index, m.index + m[0].length]);
            else
                this.pattern.lastIndex++;
        }
        if (ranges.length) {
            this.ranges.get(pane).set(row, ranges);
            this.hits.push({pane, row});
        }
    }

    /* Folded lines: the fold is the match, and opens when it is stepped to. */
    searchGap(pane, row) {
        const first = pane.layout.values[row];
        for (let line = 0; line < pane.layout.counts[row]; line++) {
            this.pattern.lastIndex = 0;
            if (this.pattern.test(visible(pane.kernel.module.files.line(first + line) || ''))) {
                this.ranges.get(pane).set(row, NO_CALLS);
                this.hits.push({pane, row});
                return;
            }
        }
    }

    step(step) {
        if (!this.hits.length)
            return null;
        this.at = (this.at + step + this.hits.length) % this.hits.length;
        this.changed(false);
        return this.hits[this.at];
    }

    /* From a place on, so that the first match shown is near what is looked at. */
    from(pane, row) {
        const at = this.hits.findIndex(hit => hit.pane === pane && hit.row >= row);
        this.at = at < 0 ? 0 : at;
    }

    get current() { return this.hits[this.at] || null; }

    says() {
        if (this.error)
            return this.error;
        if (!this.query)
            return '';
        if (!this.complete)
            return '\u2026';
        return this.hits.length ? `${count(this.at + 1)} of ${count(this.hits.length)}${this.hits.length >= HITS_MAX ? '+' : ''}` : 'no match';
    }
}

/* What a row says to a search; the same text that tokenNodes() counts in. */
function searchText(pane, row) {
    const kind = pane.layout.kinds[row], value = pane.layout.values[row], kernel = pane.kernel;
    if (kind === LINE)
        return visible(kernel.module.files.line(value) || '');
    if (kind !== INSN)
        return '';
    // kept: typing searches again and again
    const texts = kernel.searchTexts || (kernel.searchTexts = []);
    return texts[value] !== undefined ? texts[value] : texts[value] = searchTextOfTokens(insnTokens(kernel, value));
}
