/*
 * The page: the state, the panes that show it, and what ties them together. Everything that the
 * user does ends in a change of `state` here, and the address follows it.
 */
class App {
    constructor(module) {
        this.module = module;
        this.state = usualState();
        this.kernel = null;
        this.hover = null;
        this.search = new Search(moved => this.searchChanged(moved));
        this.saveLink = debounce(() => this.save(), 150);
        this.handlers = {
            hover: (pane, target) => this.preview(target, pane),
            pin: (pane, target) => this.pin(target, pane),
            openGap: key => this.openGap(key),
            activate: pane => this.activate(pane),
            jump: insn => this.goTo({insn}),
            scrolled: () => this.saveLink(),
        };
        this.panes = {
            source: new Pane('source', 'Source', this.handlers),
            code: new Pane('code', 'Machine code', this.handlers),
            mixed: new Pane('mixed', 'Source and machine code', this.handlers),
        };
        this.graph = new Graph(insn => this.goTo({insn}));
        this.inspector = new Inspector(this);
        this.nav = new KernelList(this);
        this.chooser = new Chooser(this);
        this.buildPanes();
        this.resized();
    }

    buildPanes() {
        const {source, code, mixed} = this.panes;
        this.divider = attrs(el('div.divider'), {
            role: 'separator', 'aria-orientation': 'vertical', 'aria-label': 'Width of the source', tabindex: '0',
        });
        $('panes').append(source.node, this.graph.node, this.divider, code.node, mixed.node);
        const set = split => {
            this.state.split = clamp(split, 10, 90);
            this.showSplit();
            this.saveLink();
        };
        this.divider.addEventListener('pointerdown', event => this.divider.setPointerCapture(event.pointerId));
        this.divider.addEventListener('pointermove', event => {
            if (!(event.buttons & 1))
                return;
            const box = $('panes').getBoundingClientRect(), stacked = getComputedStyle($('panes')).flexDirection === 'column';
            set(stacked ? (event.clientY - box.top) / box.height * 100 : (event.clientX - box.left) / box.width * 100);
        });
        this.divider.addEventListener('dblclick', () => set(SPLIT_USUAL));
        this.divider.addEventListener('keydown', event => {
            const step = {ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2}[event.key];
            if (step) {
                set(this.state.split + step);
                event.preventDefault();
            }
        });
    }

    resized() {
        new ResizeObserver(debounce(() => this.refit(), 100)).observe(this.panes.code.scroller);
        new ResizeObserver(debounce(() => this.refit(), 100)).observe(this.panes.mixed.scroller);
    }

    showSplit() {
        $('panes').style.setProperty('--split', this.state.split + '%');
        this.divider.setAttribute('aria-valuenow', Math.round(this.state.split));
    }

    /* ---- the whole view from a link ---- */

    load(hash) {
        const {kernel, state} = decodeLink(this.module, hash);
        this.state = state;
        this.kernel = kernel;
        this.loaded = hash;
        this.showTheme();
        $('find').value = state.query;
        document.body.classList.toggle('nav-hidden', !state.nav);
        this.showSplit();
        this.nav.show();
        if (!kernel) {
            $('kernel-name').textContent = 'No kernels in this module';
            return;
        }
        if (state.pin)
            this.openGapOf(state.pin);
        this.showKernel();
        this.restoreTops();
        if (this.revealHit && this.search.complete)
            this.searchChanged(true);
    }

    /* A recording knows what kernels took: the hottest is shown unless a link names one. */
    sortByTime() {
        this.nav.sortByTime();
        if (this.kernel && !new URLSearchParams(location.hash.slice(1)).has('k') && this.nav.shown[0] !== this.kernel)
            this.selectKernel(this.nav.shown[0]);
    }

    restoreTops() {
        const {main, source} = this.state.tops;
        this.revealHit = Boolean(this.state.query) && !main && !source;
        if (main || source || !this.state.pin) {
            this.main.list.top = main;
            this.panes.source.list.top = source;
            if (!source && this.state.view === 'side')
                this.toFirstCode();
        } else {
            this.revealEverywhere(this.state.pin);
        }
    }

    /* The source starts where the kernel does, not at the top of its file. */
    toFirstCode() {
        const layout = this.panes.source.layout, first = [...this.kernel.insnsOfLine.keys()].sort((a, b) => a - b)[0];
        const own = this.kernel.files.length ? lineKeyOfKernel(this.kernel) : undefined;
        const row = layout.rowOf({line: own === undefined ? first : own});
        if (row > 4)
            this.panes.source.list.top = Math.max(0, row - 3);
    }

    save() {
        if (!this.kernel)
            return;
        this.state.tops = {main: this.main.list.top, source: this.state.view === 'side' ? this.panes.source.list.top : 0};
        this.loaded = encodeLink(this.state, this.kernel);
        writeLink(this.loaded);
    }

    selectKernel(kernel) {
        if (!kernel || kernel === this.kernel)
            return;
        this.kernel = kernel.prepare();
        Object.assign(this.state, {pin: null, opened: new Set(), tops: {main: 0, source: 0}, hit: 0});
        if (this.state.heat && !columnById(kernel, this.state.heat))
            this.state.heat = null;
        this.showKernel();
        this.restoreTops();
        this.nav.show();
        this.saveLink();
    }

    stepKernel(step) {
        const shown = this.nav.shown, at = shown.indexOf(this.kernel);
        if (shown.length)
            this.selectKernel(shown[(at + step + shown.length) % shown.length]);
    }

    /* ---- showing ---- */

    get main() { return this.isBeside ? this.panes.code : this.panes.mixed; }
    get isBeside() { return this.state.view === 'side' || this.state.view === 'graph'; } // machine code beside something
    get visiblePanes() {
        return this.state.view === 'side' ? [this.panes.source, this.panes.code] : this.isBeside ? [this.panes.code] : [this.panes.mixed];
    }

    showKernel() {
        document.title = `${visible(this.kernel.name)} · ${this.module.name || 'zescope'}`;
        this.inspector.showKernel(this.kernel);
        this.showPanes();
    }

    /* The column that colours, '' for none. */
    get heatId() { return this.state.heat === null ? usualHeat(this.kernel) : this.state.heat; }

    /* Lay out and draw again; keepTop: what was on top stays there. */
    showPanes(keepTop) {
        const {kernel, state} = this;
        const none = () => {}, column = this.heatId && columnById(kernel, this.heatId);
        this.heat = column ? new Heat(kernel, column) : null;
        this.hover = null;
        $('hottest').hidden = !this.heat;
        $('panes').dataset.view = state.view;
        for (const button of document.querySelectorAll('[data-view][role=radio]'))
            button.setAttribute('aria-checked', button.dataset.view === state.view);
        this.fitted = this.fitColumns();
        const columns = place => this.fitted.get(place) || this.columnsOf(place);
        if (this.isBeside) {
            if (state.view === 'side')
                this.panes.source.show(layoutSource(kernel, state.fold, state.opened, none), columns('src'), this.heat, keepTop);
            else
                this.graph.show(kernel, this.heat);
            this.panes.code.show(layoutCode(kernel), columns('side'), this.heat, keepTop);
        } else {
            const layout = state.view === 'source' ? layoutBySource(kernel, state.fold, state.opened) : layoutByAddress(kernel);
            this.panes.mixed.show(layout, columns('mixed'), this.heat, keepTop);
        }
        if (!this.visiblePanes.includes(this.active))
            this.activate(this.main);
        this.showMarks();
        this.search.start(state.query, this.visiblePanes, state.hit);
    }

    /* By the user's choice, or the page's, whether there is room or not. */
    columnsOf(place) {
        const usual = c => typeof c.shown === 'function' ? c.shown(this.kernel) : c.shown;
        return allColumns(this.kernel).filter(c => c[place] && (c.fixed || (this.state.columns ? this.state.columns.has(c.id) : usual(c))));
    }

    /* What the user did not choose gives way to the text: {place: columns} of the panes that are shown. */
    fitColumns() {
        const {source, code, mixed} = this.panes, fitted = new Map();
        const places = this.state.view === 'side' ? [['src', source], ['side', code]] : this.isBeside ? [['side', code]] : [['mixed', mixed]];
        for (const [place, pane] of this.state.columns ? [] : places)
            fitted.set(place, fittingColumns(this.kernel, this.columnsOf(place), place, pane.room_ch()));
        return fitted;
    }

    /* The panes have another width now. */
    refit() {
        const ids = fitted => JSON.stringify([...fitted].map(([place, columns]) => [place, columns.map(c => c.id)]));
        if (this.kernel && this.fitted && ids(this.fitColumns()) !== ids(this.fitted))
            this.showPanes(true);
    }

    isShown(column) {
        return this.state.columns ? this.state.columns.has(column.id) : [...this.fitted.values()].some(columns => columns.includes(column));
    }

    toggleColumn(id) {
        const shown = new Set(allColumns(this.kernel).filter(c => this.isShown(c)).map(c => c.id));
        if (!shown.delete(id))
            shown.add(id);
        this.state.columns = shown;
        this.showPanes(true);
        this.saveLink();
    }

    setHeat(id) {
        this.state.heat = id;
        this.showPanes(true);
        this.saveLink();
    }

    setView(view) {
        if (view === this.state.view)
            return;
        const at = this.state.pin || this.topTarget();
        this.state.view = view;
        this.showPanes();
        if (at)
            this.revealEverywhere(at);
        this.saveLink();
    }

    /* What the main pane has on top: it stays in view when the view changes. */
    topTarget() {
        const layout = this.main.layout;
        for (let row = this.main.list.top + 1; row < layout.n; row++)
            if (layout.kinds[row] === INSN)
                return this.main.list.top > 2 ? layout.target(row) : null;
        return null;
    }

    setFold(fold) {
        this.state.fold = fold;
        this.state.opened.clear();
        this.showPanes(true);
        this.saveLink();
    }

    openGap(key) {
        this.state.opened.add(key);
        this.showPanes(true);
        this.saveLink();
    }

    /* A folded line that is gone to opens its fold. */
    openGapOf(target) {
        if (target.line === undefined || !this.state.fold || this.kernel.hasCode(target.line))
            return;
        const gap = layoutSource(this.kernel, true, this.state.opened, () => {}).gapWith(target.line);
        if (gap)
            this.state.opened.add(gap.from);
    }

    toggleTheme() {
        const dark = this.state.theme ? this.state.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
        this.state.theme = dark ? 'light' : 'dark';
        this.showTheme();
        this.saveLink();
    }

    showTheme() {
        if (this.state.theme)
            document.documentElement.dataset.theme = this.state.theme;
        else
            delete document.documentElement.dataset.theme;
        this.repaint();
    }

    repaint() {
        for (const pane of Object.values(this.panes)) {
            pane.minimap.draw();
            pane.flow && pane.flow.draw();
        }
    }

    toggleNav() {
        this.state.nav = !document.body.classList.toggle('nav-hidden');
        document.body.classList.toggle('nav-open', this.state.nav);
        this.saveLink();
    }

    /* ---- pins, previews, the cursor ---- */

    activate(pane) {
        if (pane === this.active)
            return;
        this.active = pane;
        for (const p of Object.values(this.panes))
            p.node.classList.toggle('active', p === pane);
    }

    preview(target, pane) {
        this.hover = target;
        this.showMarks();
    }

    showMarks() {
        const related = target => target && this.kernel.related(target);
        const pin = related(this.state.pin), hover = sameTarget(this.hover, this.state.pin) ? null : related(this.hover);
        for (const pane of this.visiblePanes) {
            pane.setMarks('pin', pin);
            pane.setMarks('hover', hover);
        }
        if (this.state.view === 'graph') {
            this.graph.setMarks('pin', pin);
            this.graph.setMarks('hover', hover);
        }
        this.inspector.show(this.hover || this.state.pin);
    }

    /* A click pins, a click on what is pinned takes the pin away. */
    pin(target, pane) {
        const same = sameTarget(target, this.state.pin);
        this.state.pin = same ? null : target;
        this.showMarks();
        if (!same)
            this.revealCounterparts(pane, target);
        this.saveLink();
    }

    unpin() {
        this.state.pin = this.hover = null;
        this.showMarks();
        this.saveLink();
    }

    /* In the other panes, bring the nearest correlated row into view unless one is. */
    revealCounterparts(from, target) {
        const related = this.kernel.related(target);
        for (const pane of this.visiblePanes) {
            if (pane === from)
                continue;
            const rows = pane.layout.rowsOf(related), close = rows.filter(r => r[1] === 2);
            const use = (close.length ? close : rows).map(r => r[0]);
            if (use.length && !use.some(row => pane.list.inView(row)))
                pane.list.reveal(use[0], 'centre');
        }
    }

    revealEverywhere(target) {
        for (const pane of this.visiblePanes) {
            const row = pane.layout.rowOf(target);
            if (row < 0)
                continue;
            pane.setCursor(row, 'centre');
            this.activate(pane);
            this.revealCounterparts(pane, target);
            return;
        }
    }

    /* Pin a place and show it. */
    goTo(target) {
        this.openGapOf(target);
        if (target.line !== undefined && this.visiblePanes.every(p => p.layout.rowOf(target) < 0))
            this.showPanes(true);
        this.state.pin = target;
        this.hover = null;
        this.showMarks();
        this.revealEverywhere(target);
        this.saveLink();
    }

    moveCursor(step) {
        const pane = this.active;
        let from = pane.cursor;
        if (from < 0) {
            const pinned = this.state.pin ? pane.layout.rowOf(this.state.pin) : -1;
            from = pinned >= 0 ? pinned : pane.list.top - (step > 0 ? 1 : 0);
        }
        this.cursorTo(pane, pane.stepFrom(from, step));
    }

    cursorTo(pane, row) {
        pane.setCursor(row, 'near');
        this.hover = pane.layout.target(row);
        this.showMarks();
        if (this.hover)
            this.revealCounterparts(pane, this.hover);
    }

    /* Enter: what a click does. */
    pressCursor() {
        const pane = this.active, row = pane.cursor;
        if (row < 0)
            return;
        if (pane.layout.kinds[row] === GAP)
            this.openGap(pane.layout.values[row]);
        else if (pane.layout.target(row))
            this.pin(pane.layout.target(row), pane);
    }

    followBranch() {
        const at = this.hover || this.state.pin;
        const to = at && at.insn !== undefined ? this.kernel.targets(at.insn)[0] : undefined;
        if (to !== undefined)
            this.goTo({insn: to});
        else
            toast('Not a branch');
    }

    hottest() {
        if (!this.heat || !this.heat.lines.length)
            return;
        const lines = this.heat.lines, at = lines.findIndex(l => this.state.pin && l.key === this.state.pin.line);
        this.goTo({line: lines[(at + 1) % Math.min(lines.length, 20)].key});
    }

    /* ---- search ---- */

    find(query) {
        this.state.query = query;
        this.state.hit = 0;
        this.search.start(query, this.visiblePanes, 0);
        this.saveLink();
    }

    searchChanged(moved) {
        const search = this.search, here = search.current;
        $('find-count').textContent = search.says();
        $('find').setAttribute('aria-invalid', search.error ? 'true' : 'false');
        $('find').classList.toggle('none', search.complete && Boolean(search.query) && !search.hits.length);
        for (const pane of this.visiblePanes) {
            const at = here && here.pane === pane ? here.row : -1;
            if (moved)
                pane.setHits(search.ranges.get(pane) || new Map(), at);
            else
                pane.setHitAt(at);
        }
        if (here && moved && (this.revealHit || document.activeElement === $('find')))
            here.pane.list.reveal(here.row, 'centre');
        if (search.complete)
            this.revealHit = false;
    }

    /* Next or previous match; without a search, the next or previous correlated row. */
    stepHit(step) {
        if (!this.search.query) {
            if (!this.active.stepMark(step))
                toast('Nothing is pinned and nothing searched for');
            return;
        }
        const hit = this.search.step(step);
        if (!hit)
            return;
        this.state.hit = this.search.at;
        this.saveLink();
        if (hit.pane.layout.kinds[hit.row] === GAP) {
            this.openGap(hit.pane.layout.values[hit.row]);
            return;
        }
        this.activate(hit.pane);
        hit.pane.setCursor(hit.row);
        hit.pane.list.reveal(hit.row, 'centre');
        this.hover = hit.pane.layout.target(hit.row);
        this.showMarks();
        this.revealCounterparts(hit.pane, this.hover);
    }

    async copyLink() {
        this.save();
        try {
            await navigator.clipboard.writeText(location.href);
            toast('Link copied');
        } catch (refused) {
            toast('The address bar has the link');
        }
    }
}

const sameTarget = (a, b) => Boolean(a && b) && a.insn === b.insn && a.line === b.line;

/* Where the kernel's function is declared, else the first line of its own function with code. */
function lineKeyOfKernel(kernel) {
    const own = object(list(kernel.json.inline)[0]);
    if (typeof own.decl_file === 'string' && own.decl_line > 0 && kernel.module.files.byPath.has(own.decl_file))
        return lineKey(kernel.module.files.number(own.decl_file), own.decl_line);
    return undefined;
}
