/*
 * The page of a recording: timeline, tables, and behind them the view of its modules. The address
 * says what is shown: `r` timeline or tables; without it the link is one of the code's view.
 *
 *   r       timeline | tables | flame | analysis
 *   an      number of the kernel whose findings are shown
 *   fl      host|device.NODE of the flame graph
 *   f, u    from, until: nanoseconds since the start
 *   s       TRACK.ITEM that is selected
 *   q       search
 *   tab, sort, flt   table, its order (-KEY falls), its filter
 *   t       light | dark
 */
const REC_KEYS = [
    ['Move', [
        ['w s', 'zoom in, out'], ['a d', 'earlier, later'], ['+ -', 'zoom in, out'], ['0', 'all of the time'], ['f', 'zoom to the selection'],
    ]],
    ['Select', [
        ['\u2190 \u2192', 'previous, next on the track'], ['\u2191 \u2193', 'the track above, below; the row'], ['n p', 'next, previous match'], ['/', 'search'],
        ['Enter', 'the code of the kernel'], ['Esc', 'end the search, the selection'],
    ]],
    ['View', [
        ['1 2 3 4 5', 'timeline, tables, code, flame graph, analysis'], ['[ ]', 'previous, next table'], ['l', 'flows'], ['t', 'light, dark'], ['y', 'copy rows, link'], ['?', 'this help'],
    ]],
];

function copyText(text) {
    if (navigator.clipboard)
        return navigator.clipboard.writeText(text);
    return Promise.reject(new Error('no clipboard'));
}

class RecordingApp {
    constructor(recording, code) {
        this.recording = recording;
        this.code = code; // the App of the modules
        this.view = '';
        this.saveLink = debounce(() => this.save(), 150);
        this.kernels = new Map();
        // by name, and by name and module: names are not unique
        const times = list(recording.report.kernels).map(object);
        for (const kernel of code.module.kernels)
            kernel.time = times.filter(t => t.name === kernel.name && (!t.module || t.module === kernel.json.module)).reduce((sum, t) => sum + number(t.total_ns, 0), 0);
        for (const finding of recording.checks)
            for (const kernel of code.module.kernels.filter(k => k.name === finding.kernel))
                for (const site of list(finding.sites).map(object))
                    push(kernel.found, number(site.offset, -1), string(finding.text));
        code.sortByTime();
        if (recording.checks.length && code.kernel)
            code.showPanes(true);
        for (const kernel of code.module.kernels)
            for (const key of [kernel.name, `${string(kernel.json.module)} ${kernel.name}`])
                if (!this.kernels.has(key))
                    this.kernels.set(key, kernel);
        this.timeline = new Timeline(this);
        this.tables = new Tables(this);
        this.flame = new Flame(this);
        this.analysis = new Analysis(this);
        this.head();
        this.listen();
    }

    get hasCode() { return this.kernels.size > 0; }
    codeOf(name, module = '') { return this.kernels.get(module ? `${module} ${name}` : name); }

    head() {
        const {info, recording} = {info: this.recording.info, recording: this.recording};
        $('rec-name').textContent = visible(list(info.argv).map(string).map(baseName).join(' ')) || document.title;
        $('rec-name').dataset.tip = `${visible(list(info.argv).map(string).join(' '))}\n${visible(`${string(info.start_time)} on ${string(info.host)}`)}`;
        const queues = recording.tracks.filter(t => !isThread(t)), threads = recording.tracks.filter(isThread);
        const all = rows => list(rows).reduce((n, row) => n + number(row.count, 0), 0), kernels = all(recording.report.kernels);
        const facts = [
            ['calls', count(number(recording.report.call_count, 0))],
            ['kernels run', recording.report.kernels === null ? 'n/a' : count(kernels)],
            ['threads', count(threads.length)], ['queues', count(queues.length)],
            ['peak memory', sizeText(number(object(recording.report.memory).peak_B, 0))],
            ['time', duration(recording.span)],
        ];
        if (number(info.recordings, 0) > 1)
            facts.unshift(['recordings', count(info.recordings)]);
        if (info.finished && info.exit_status)
            facts.push(['exit status', string(info.exit_status)]);
        $('rec-stats').append(...facts.map(([name, value]) => el('div', el('dt', name), el('dd', value))));
        const left = recording.leftOut, notes = info.code_note ? [visible(string(info.code_note))] : [];
        if (this.analysis.clock)
            notes.push(`times of kernels are ${this.analysis.clock}: the device was the software GPU`);
        attrs($('rec-clock'), {'data-tip': notes.at(-1) || ''}).hidden = !this.analysis.clock;
        $('rec-clock').textContent = `times ${this.analysis.clock}`;
        const say = (n, what) => n && notes.push(`${count(n)} ${what}`);
        say(number(left.calls, 0), `of ${count(number(recording.report.call_count, 0))} calls are shown as shading`);
        say(number(left.executions, 0), `of ${count(kernels + all(recording.report.copies) + all(recording.report.barriers))} executions are shown as shading`);
        say(number(left.untimed, 0), 'executions have no times');
        say(number(left.marks, 0), 'marks are left out');
        say(number(recording.report.lost_calls, 0), 'calls are incomplete');
        say(number(recording.report.damaged_files, 0), 'files are damaged');
        $('rec-note').textContent = notes.join(' \u00b7 ');
        this.failedBuilds(list(recording.report.failed_builds));
    }

    /* What the compiler said is what is read first. */
    failedBuilds(builds) {
        const box = $('rec-failed'), text = b => `${string(b.result)}${b.flags ? `, flags '${string(b.flags)}'` : ''}\n${string(b.log) || 'the driver gave no log'}`;
        box.hidden = !builds.length;
        box.open = builds.length > 0;
        box.querySelector('summary').textContent = `${count(builds.length)} build${builds.length === 1 ? '' : 's'} failed`;
        box.querySelector('pre').textContent = builds.map(b => text(object(b)).split('\n').map(visible).join('\n')).join('\n');
    }

    /* ---- views ---- */

    setView(view) {
        if (view === 'code' && !this.hasCode) {
            toast(this.recording.info.code_note ? visible(string(this.recording.info.code_note)) : 'The recording has no modules');
            return;
        }
        if (view === 'flame' && !this.flame.any) {
            toast('The recording has no backtraces: record with --backtrace');
            return;
        }
        if (view === 'analysis' && !this.analysis.any) {
            toast('The recording has no kernels that could be analysed');
            return;
        }
        const changed = view !== this.view;
        this.view = view;
        const inCode = view === 'code';
        document.documentElement.classList.toggle('in-rec', !inCode);
        $('rec').hidden = inCode;
        $('rec-timeline').hidden = view !== 'timeline';
        $('rec-tables').hidden = view !== 'tables';
        $('rec-flame').hidden = view !== 'flame';
        $('rec-analysis').hidden = view !== 'analysis';
        for (const id of ['rec-flows', 'rec-fit'])
            $(id).hidden = view !== 'timeline';
        $('rec-find').parentElement.hidden = view === 'tables' || view === 'analysis';
        for (const button of document.querySelectorAll('[data-rec]'))
            button.setAttribute('aria-checked', button.dataset.rec === view);
        hideTip();
        if (inCode) {
            if (changed)
                this.code.showPanes(true);
            this.code.main.scroller.focus({preventScroll: true});
        } else if (view === 'timeline') {
            this.timeline.resized();
            this.timeline.canvas.focus({preventScroll: true});
        } else if (view === 'flame') {
            this.flame.show(this.flame.kind, this.flame.top ? this.flame.top.i : 0);
            this.find();
        } else if (view === 'analysis') {
            this.analysis.show(this.analysis.chosen);
        } else {
            this.tables.show(this.tables.name || 'calls');
            this.tables.list.scroller.focus({preventScroll: true});
        }
        this.saveLink();
    }

    /* Its code; with a place, that line pinned. */
    openCode(name, module, place = null) {
        const kernel = this.codeOf(name, module);
        if (!kernel) {
            toast('There is no code of this kernel');
            return;
        }
        this.setView('code');
        this.code.selectKernel(kernel);
        const line = place && place.line ? kernel.prepare().lineAt(place.path, place.line) : -1;
        if (line >= 0)
            this.code.goTo({line});
        this.code.saveLink();
    }

    findInTimeline(name) {
        this.setView('timeline');
        $('rec-find').value = `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
        this.find();
        this.timeline.fit();
        this.timeline.select(null);
        this.timeline.stepMatch(1);
    }

    /* ---- selection ---- */

    showSelection(selected) {
        const host = $('rec-details');
        if (!selected) {
            host.replaceChildren(el('p.says', 'Select what ran: click, or the arrow keys. Drag moves, the wheel zooms, Shift and drag zooms to a stretch of time.'));
            return;
        }
        const {track, i} = selected, name = this.recording.name(track, i), swatch = el('span.swatch');
        swatch.style.background = this.timeline.palette.fill(name, isThread(track));
        const actions = el('div.rec-actions');
        const add = (text, act) => {
            const button = el('button.small', text);
            button.addEventListener('click', act);
            actions.append(button);
        };
        const kind = isThread(track) ? 'API call' : KIND_NAMES[track.field(i, 3)] || 'execution';
        const module = this.recording.moduleOf(track, i);
        if (!isThread(track) && this.codeOf(name, module))
            add('Source and machine code', () => this.openCode(name, module));
        add('Zoom to it', () => this.timeline.zoomToSelected());
        const call = isThread(track) ? [track, i] : this.recording.callOf(track, i);
        const frames = call ? this.recording.stackOf(...call) : [];
        const facts = isThread(track) ? this.callFacts(track, i, add) : this.executionFacts(track, i, add);
        host.replaceChildren(el('div.rec-title', swatch, el('span', visible(name)), el('span.kind', kind), actions),
            el('dl.facts', ...facts.map(([key, value]) => el('div.fact', el('dt', key), el('dd', value)))),
            frames.length ? el('ol.rec-stack', ...frames.map(text => el('li', visible(text)))) : '');
    }

    callFacts(track, i, add) {
        const result = track.field(i, 4), finished = track.field(i, 1) >= 0;
        const executions = this.recording.executionsOf(track.index, track.field(i, 5));
        if (executions.length)
            add('What it appended', () => this.timeline.select(...executions[0], true));
        return [
            ['took', finished ? duration(track.duration(i)) : 'never returned'], ['at', this.timeText(track.starts[i])],
            ['result', finished ? this.recording.results[result] || (result === 0 ? 'ZE_RESULT_SUCCESS' : hex(result >>> 0)) : 'n/a'],
            ['thread', `${visible(track.title)} (${track.json.tid})`], ['call', `number ${count(track.field(i, 5))} of its thread`],
            ...(executions.length ? [['executions', count(executions.length)]] : []),
        ];
    }

    executionFacts(track, i, add) {
        const thread = this.recording.tracks[track.field(i, 4)], shape = this.recording.shapes[track.field(i, 9)];
        const call = this.recording.callOf(track, i), bytes = track.field(i, 8);
        if (call)
            add('The call', () => this.timeline.select(...call, true));
        const by = d => d[0] ? d.join('\u00d7') : 'n/a';
        const facts = [['took', duration(track.duration(i))], ['at', this.timeText(track.starts[i])],
            ['append to start', duration(number(track.flat[i * track.width + 5], NaN))],
            ['submit to start', duration(number(track.flat[i * track.width + 6], NaN))]];
        if (this.recording.moduleOf(track, i))
            facts.push(['module', visible(this.recording.moduleOf(track, i))]);
        if (shape)
            facts.push(['groups', by(shape.slice(0, 3))], ['of size', by(shape.slice(3))]);
        if (bytes >= 0)
            facts.push(['bytes', sizeText(bytes)], ['rate', metricText(bytes / Math.max(1, track.duration(i)) * 1e9, 'B/s')]);
        facts.push(['on', `${visible(string(track.json.device))}, ${track.title}, ${track.subtitle}`]);
        if (thread)
            facts.push(['appended by', `${visible(thread.title)} (${thread.json.tid})`]);
        return facts;
    }

    timeText(ns) { return (ns / 1e9).toFixed(9) + '\u2009s'; }

    /* ---- search ---- */

    find() {
        const text = $('rec-find').value;
        let expression = null;
        $('rec-find').setAttribute('aria-invalid', 'false');
        try {
            expression = text ? new RegExp(text, /[A-Z]/.test(text) ? '' : 'i') : null;
        } catch (error) {
            $('rec-find').setAttribute('aria-invalid', 'true');
            $('rec-count').textContent = 'not an expression';
            return;
        }
        this.timeline.find(expression);
        const inFlame = this.flame.find(expression), found = this.view === 'flame' ? inFlame : this.timeline.found;
        $('rec-count').textContent = expression ? plural(found, 'match', 'matches') : '';
        $('rec-find').classList.toggle('none', Boolean(expression) && !found);
        this.saveLink();
    }

    /* ---- links ---- */

    load(hash) {
        const p = new URLSearchParams(hash.replace(/^#/, ''));
        this.loaded = hash;
        if (['light', 'dark'].includes(p.get('t')))
            this.setTheme(p.get('t'));
        if (p.has('k') && !p.has('r') && this.hasCode) {
            this.setView('code');
            return;
        }
        this.tables.name = TABLES.includes(p.get('tab')) ? p.get('tab') : 'calls';
        const sort = /^(-?)([a-z_0-9]+)$/.exec(p.get('sort') || '');
        if (sort)
            this.tables.sort[this.tables.name] = {key: sort[2], ascending: !sort[1]};
        $('rec-filter').value = p.get('flt') || '';
        $('rec-find').value = p.get('q') || '';
        const fl = /^(host|device)\.(\d{1,7})$/.exec(p.get('fl') || '');
        if (fl)
            this.flame.show(fl[1], Number(fl[2]));
        if (/^\d{1,6}$/.test(p.get('an') || ''))
            this.analysis.chosen = Number(p.get('an'));
        const view = p.get('r');
        this.setView(view === 'tables' || view === 'flame' && this.flame.any || view === 'analysis' && this.analysis.any ? view : 'timeline');
        this.find();
        const from = Number(p.get('f')), until = Number(p.get('u'));
        if (p.has('f') && Number.isFinite(from) && until > from)
            this.timeline.show(from, until);
        const m = /^(\d+)\.(\d+)$/.exec(p.get('s') || ''), track = m && this.recording.tracks[Number(m[1])];
        this.timeline.select(track && Number(m[2]) < track.n ? track : null, m ? Number(m[2]) : 0, !p.has('f'));
    }

    save() {
        if (this.view === 'code')
            return;
        const p = new URLSearchParams(), t = this.timeline;
        p.set('r', this.view);
        if (t.from > 0 || t.to < this.recording.span) {
            p.set('f', Math.round(t.from));
            p.set('u', Math.round(t.to));
        }
        if (t.selected)
            p.set('s', `${t.selected.track.index}.${t.selected.i}`);
        if ($('rec-find').value)
            p.set('q', $('rec-find').value);
        if (this.view === 'flame')
            p.set('fl', `${this.flame.kind}.${this.flame.top ? this.flame.top.i : 0}`);
        if (this.view === 'analysis')
            p.set('an', this.analysis.chosen);
        if (this.view === 'tables') {
            const sort = this.tables.sort[this.tables.name];
            p.set('tab', this.tables.name);
            if (sort)
                p.set('sort', (sort.ascending ? '' : '-') + sort.key);
            if ($('rec-filter').value)
                p.set('flt', $('rec-filter').value);
        }
        if (document.documentElement.dataset.theme)
            p.set('t', document.documentElement.dataset.theme);
        this.loaded = '#' + p.toString();
        history.replaceState(null, '', this.loaded);
    }

    /* ---- theme ---- */

    setTheme(theme) {
        document.documentElement.dataset.theme = theme;
        this.code.state.theme = theme;
        this.recolour();
    }

    toggleTheme() {
        const now = document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
        this.setTheme(now === 'dark' ? 'light' : 'dark');
        this.saveLink();
    }

    recolour() {
        this.timeline.recolour();
        this.showSelection(this.timeline.selected);
    }

    /* ---- keys ---- */

    actions() {
        const t = this.timeline, inTimeline = this.view === 'timeline';
        const both = {
            '1': () => this.setView('timeline'), '2': () => this.setView('tables'), '3': () => this.setView('code'), '4': () => this.setView('flame'), '5': () => this.setView('analysis'),
            t: () => this.toggleTheme(), '?': () => this.help(),
            '/': () => { const field = $(this.view === 'tables' ? 'rec-filter' : 'rec-find'); field.focus(); field.select(); },
        };
        if (this.view === 'flame')
            return {...both, '0': () => this.flame.show(this.flame.kind, 0), y: () => copyText(location.href).then(() => toast('Link copied'), () => toast('The address has the link'))};
        if (this.view === 'analysis')
            return {...both, ArrowDown: () => this.analysis.show(this.analysis.chosen + 1), ArrowUp: () => this.analysis.show(this.analysis.chosen - 1),
                y: () => copyText(location.href).then(() => toast('Link copied'), () => toast('The address has the link'))};
        if (!inTimeline)
            return {...both, ArrowDown: () => this.tables.step(1), ArrowUp: () => this.tables.step(-1), j: () => this.tables.step(1), k: () => this.tables.step(-1),
                '[': () => this.tables.stepTab(-1), ']': () => this.tables.stepTab(1), y: () => this.tables.copy()};
        return {...both,
            w: () => t.zoom(.7), s: () => t.zoom(1 / .7), '+': () => t.zoom(.7), '=': () => t.zoom(.7), '-': () => t.zoom(1 / .7),
            a: () => t.pan(-.2), d: () => t.pan(.2), '0': () => t.fit(), f: () => t.zoomToSelected(), l: () => this.toggleFlows(),
            ArrowLeft: () => t.step(-1), ArrowRight: () => t.step(1), ArrowUp: () => t.stepTrack(-1), ArrowDown: () => t.stepTrack(1),
            n: () => t.stepMatch(1), p: () => t.stepMatch(-1), y: () => copyText(location.href).then(() => toast('Link copied'), () => toast('The address has the link')),
            Enter: () => t.selected && !isThread(t.selected.track) && this.openCode(this.recording.name(t.selected.track, t.selected.i), this.recording.moduleOf(t.selected.track, t.selected.i)),
        };
    }

    toggleFlows() {
        this.timeline.flows = !this.timeline.flows;
        $('rec-flows').setAttribute('aria-pressed', this.timeline.flows);
        this.timeline.draw();
    }

    help() {
        toggleHelp(REC_KEYS, 'Short items that lie closer than a pixel are drawn as one; zoom in to see them apart. Shading under a track is what was left out of the page because it was short. The place, the selection, the search and the filters are in the address: a link brings back this view.');
    }

    escape(event) {
        if ($('help').open)
            return;
        if (event.target.closest('input'))
            event.target.closest('input').blur();
        else if (this.view !== 'tables' && $('rec-find').value) {
            $('rec-find').value = '';
            this.find();
        } else if (this.view === 'tables' && $('rec-filter').value) {
            $('rec-filter').value = '';
            this.tables.filter();
        } else {
            this.timeline.select(null);
        }
        event.preventDefault();
    }

    onKey(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing)
            return;
        if (event.key === 'Escape') {
            hideTip();
            this.escape(event);
            return;
        }
        const inField = event.target.closest('input, select, textarea'), onButton = event.target.closest('button');
        if (inField || onButton && [' ', 'Enter'].includes(event.key) || $('help').open && event.key !== '?')
            return;
        const actions = this.actions(), action = Object.hasOwn(actions, event.key) && actions[event.key];
        if (!action)
            return;
        event.preventDefault();
        hideTip();
        action();
    }

    listen() {
        document.addEventListener('keydown', event => {
            if (this.view !== 'code')
                this.onKey(event);
        });
        for (const button of document.querySelectorAll('[data-rec]')) {
            button.addEventListener('click', () => this.setView(button.dataset.rec));
            button.hidden = button.dataset.rec === 'code' && !this.hasCode || button.dataset.rec === 'flame' && !this.flame.any || button.dataset.rec === 'analysis' && !this.analysis.any;
        }
        $('rec-theme').addEventListener('click', () => this.toggleTheme());
        $('rec-help').addEventListener('click', () => this.help());
        $('rec-fit').addEventListener('click', () => this.timeline.fit());
        $('rec-unzoom').addEventListener('click', () => this.flame.show(this.flame.kind, 0));
        $('rec-flows').addEventListener('click', () => this.toggleFlows());
        $('rec-prev').addEventListener('click', () => this.timeline.stepMatch(-1));
        $('rec-next').addEventListener('click', () => this.timeline.stepMatch(1));
        $('rec-find').addEventListener('input', debounce(() => this.find(), 80));
        $('rec-find').addEventListener('keydown', event => {
            if (event.key !== 'Enter')
                return;
            event.preventDefault();
            this.find();
            this.timeline.stepMatch(event.shiftKey ? -1 : 1);
        });
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.recolour());
        const back = attrs(el('button.text', '\u2190 Recording'), {id: 'to-recording', 'data-tip': 'Timeline and tables'});
        back.addEventListener('click', () => this.setView('timeline'));
        document.querySelector('#app .bar').prepend(back);
    }
}

function startRecording(code) {
    const app = new RecordingApp(new Recording(object(JSON.parse($('recording').textContent))), code);
    window.addEventListener('hashchange', () => {
        if (location.hash !== app.loaded && location.hash !== code.loaded)
            app.load(location.hash);
    });
    app.load(location.hash);
}
