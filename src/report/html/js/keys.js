/* Keys, tooltips, the help overlay and the go-to box. */

const KEYS = [
    ['Move', [
        ['j k', 'next, previous row'], ['n p', 'next, previous match; without a search, correlated row'],
        ['N P', 'next, previous correlated row'], ['[ ]', 'previous, next kernel'],
        ['g', 'go to an offset, label or line'], ['b', 'follow the branch'], ['x', 'hottest line, then the next'],
        ['PgUp PgDn', 'a page'], ['Home End', 'first, last row'],
    ]],
    ['Select', [
        ['Enter', 'pin or unpin the row'], ['Esc', 'unpin, close'], ['h l', 'to the source, to the machine code'], ['/', 'search with a regular expression'],
    ]],
    ['View', [
        ['v', 'side by side, by source, by address, graph'], ['c', 'columns and heat'], ['f', 'fold lines without code'],
        ['m', 'kernel list'], ['t', 'light, dark'], ['y', 'copy a link to this view'], ['?', 'this help'],
    ]],
];

function keyActions(app) {
    const page = direction => {
        const pane = app.active, step = Math.max(1, Math.floor(pane.list.view_px() / ROW_PX) - 2);
        const from = pane.cursor < 0 ? pane.list.top : pane.cursor;
        app.cursorTo(pane, pane.stepFrom(clamp(from + direction * step, 0, pane.layout.n - 1) - direction, direction));
    };
    return {
        j: () => app.moveCursor(1), ArrowDown: () => app.moveCursor(1),
        k: () => app.moveCursor(-1), ArrowUp: () => app.moveCursor(-1),
        n: () => app.stepHit(1), p: () => app.stepHit(-1),
        N: () => app.active.stepMark(1), P: () => app.active.stepMark(-1),
        '[': () => app.stepKernel(-1), ']': () => app.stepKernel(1),
        g: () => openGoto(), b: () => app.followBranch(), x: () => app.hottest(),
        '/': () => { $('find').focus(); $('find').select(); },
        Enter: () => app.pressCursor(),
        h: () => switchPane(app, -1), l: () => switchPane(app, 1),
        Home: () => app.cursorTo(app.active, app.active.stepFrom(-1, 1)),
        End: () => app.cursorTo(app.active, app.active.stepFrom(app.active.layout.n, -1)),
        PageDown: () => page(1), PageUp: () => page(-1),
        v: () => app.setView(VIEWS[(VIEWS.indexOf(app.state.view) + 1) % VIEWS.length]),
        c: () => app.chooser.toggle(), f: () => app.setFold(!app.state.fold), m: () => app.toggleNav(),
        t: () => app.toggleTheme(), y: () => app.copyLink(), '?': () => toggleHelp(KEYS, HELP_NOTE),
    };
}

function switchPane(app, step) {
    const panes = app.visiblePanes, next = panes[clamp(panes.indexOf(app.active) + step, 0, panes.length - 1)];
    next.scroller.focus({preventScroll: true});
    app.activate(next);
}

/* Keys that belong to what has the focus: text fields, buttons, menus. */
function isOwnKey(event) {
    const at = event.target;
    if (at.closest('input, select, textarea'))
        return true;
    const inRows = at === document.body || at.closest('.rows');
    return !inRows && ['Enter', ' ', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'].includes(event.key);
}

function listenKeys(app) {
    const actions = keyActions(app);
    document.addEventListener('keydown', event => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || inRecording())
            return;
        if (event.key === 'Escape') {
            onEscape(app, event);
            return;
        }
        if (!app.kernel || $('help').open && event.key !== '?')
            return;
        const action = !isOwnKey(event) && Object.hasOwn(actions, event.key) && actions[event.key];
        if (!action)
            return;
        event.preventDefault();
        hideTip();
        action();
    });
}

/* One thing at a time: what is open, then the field's focus, then the search, then the pin. */
function onEscape(app, event) {
    hideTip();
    if ($('help').open)
        return;
    if (!$('columns').hidden)
        closeColumns(app);
    else if (!$('goto').hidden)
        closeGoto(app);
    else if (event.target.closest('input'))
        app.active.scroller.focus({preventScroll: true});
    else if (app.state.pin || app.hover)
        app.unpin();
    else if (app.state.query)
        clearFind(app);
    event.preventDefault();
}

function clearFind(app) {
    $('find').value = '';
    app.find('');
}

/* Keys go to the rows again at once, not from when the browser sees that the field is hidden. */
function closeColumns(app) {
    app.chooser.toggle(false);
    app.active.scroller.focus({preventScroll: true});
}

/* ---- go to ---- */

function openGoto() {
    $('goto').hidden = false;
    $('goto-note').textContent = '';
    $('goto-input').value = '';
    $('goto-input').focus();
}

function closeGoto(app) {
    $('goto').hidden = true;
    app.active.scroller.focus({preventScroll: true});
}

/* What was typed as a target of the kernel, or a sentence why not. */
function parseGoto(kernel, text) {
    let m = /^0x([0-9a-f]+)$/i.exec(text);
    if (m)
        return insnAtOrBefore(kernel, parseInt(m[1], 16));
    const labelled = kernel.labelled(text.toUpperCase());
    if (labelled >= 0)
        return {insn: labelled};
    m = /^(?:(.+):)?(\d+)$/.exec(text);
    if (!m)
        return 'an offset (0x1f8), a label (L504) or a line (42, file.cl:42)';
    const files = m[1] === undefined ? kernel.files
        : kernel.files.filter(f => pathEndsWith(kernel.module.files.all[f].path, m[1]));
    if (!files.length)
        return m[1] === undefined ? 'there is no source' : 'no such file in this kernel';
    const file = files[0], lines = kernel.module.files.lines(file), line = Number(m[2]);
    if (line < 1 || (lines && line > lines.length))
        return `${kernel.module.files.all[file].name} has ${lines ? lines.length : 'no such'} lines`;
    return {line: lineKey(file, line)};
}

function insnAtOrBefore(kernel, offset) {
    const i = lowerBound(kernel.offsets, offset + 1) - 1;
    const end = kernel.n ? kernel.offsets[kernel.n - 1] + Math.max(1, kernel.size(kernel.n - 1)) : 0;
    return i < 0 || offset >= end ? `the code ends at ${hex(end)}` : {insn: i};
}

function listenGoto(app) {
    $('goto').addEventListener('submit', event => {
        event.preventDefault();
        const target = parseGoto(app.kernel, $('goto-input').value.trim());
        if (typeof target === 'string') {
            $('goto-note').textContent = target;
            return;
        }
        closeGoto(app);
        app.goTo(target);
    });
    $('goto-input').addEventListener('blur', () => { $('goto').hidden = true; });
}

/* ---- help ---- */

const HELP_NOTE = 'Point at a row to preview what belongs to it, click to pin it. Rows that belong to it are marked in the other pane and in the strips beside; \u25b2 and \u25bc lead to those out of view. A pin, the search, the columns and the place are all in the address: a link brings back this view.';

function toggleHelp(keys, note) {
    const help = $('help');
    if (help.open) {
        help.close();
        return;
    }
    if (help.keys !== keys) {
        help.keys = keys;
        const close = attrs(el('button.icon', '\u2715'), {'aria-label': 'Close'});
        close.addEventListener('click', () => help.close());
        help.replaceChildren(el('header', el('h2', 'Keys'), close), el('div.keys', ...keys.map(([name, rows]) =>
            el('section', el('h3', name), el('dl', ...rows.flatMap(([key, says]) =>
                [el('dt', ...key.split(' ').map(one => el('kbd', one))), el('dd', says)]))))),
        el('p', note));
        help.onclick = event => {
            if (event.target === help)
                help.close();
        };
    }
    help.showModal();
}

/* ---- tooltips ---- */

let tipTimer = 0;

function hideTip() {
    clearTimeout(tipTimer);
    $('tip').hidden = true;
}

const TOKEN_TIPS = {
    't-op': opcodeTip, 't-exec': execTip, 't-pred': predicateTip, 't-opt': optionTip, 't-reg': registerTip, 't-arf': registerTip,
    't-type': text => TYPES[text.slice(1)] ? `${text}\n${TYPES[text.slice(1)]}` : '',
    't-rgn': text => `${text}\n${text.includes(';') || text.includes(',') ? 'Source region: rows this far apart; elements in a row, and the step between them.' : 'Step between elements.'}`,
};

function tipOf(node) {
    const own = node.closest('[data-tip]');
    if (own)
        return own.dataset.tip;
    if (!node.closest('.insn, .inspected'))
        return '';
    for (const name in TOKEN_TIPS)
        if (node.classList.contains(name) && !(name === 't-type' && node.closest('.line')))
            return TOKEN_TIPS[name](node.textContent);
    return '';
}

function showTip(node, text) {
    const tip = $('tip'), [first, ...rest] = text.split('\n');
    tip.replaceChildren(el('b', first), ...rest.map(line => line.startsWith('key: ')
        ? el('div.tip-key', 'key ', el('kbd', line.slice(5))) : el('div', line)));
    tip.hidden = false;
    const box = node.getBoundingClientRect(), below = box.bottom + 8 + tip.offsetHeight < innerHeight;
    tip.style.left = clamp(box.left, 8, Math.max(8, innerWidth - tip.offsetWidth - 8)) + 'px';
    tip.style.top = (below ? box.bottom + 6 : Math.max(4, box.top - tip.offsetHeight - 6)) + 'px';
}

function listenTips() {
    const later = node => {
        hideTip();
        const text = node && node.closest ? tipOf(node) : '';
        if (text)
            tipTimer = setTimeout(() => node.isConnected && showTip(node, text), 350);
    };
    document.addEventListener('pointerover', event => later(event.target));
    document.addEventListener('pointerdown', hideTip);
    document.addEventListener('scroll', hideTip, true);
    document.addEventListener('focusin', event => event.target.matches(':focus-visible') && event.target.dataset.tip ? later(event.target) : hideTip());
}
