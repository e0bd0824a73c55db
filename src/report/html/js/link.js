/*
 * The view's state as the part of the address after '#', so that a link reproduces it. Members
 * that have their usual value are left out.
 *   k, d    kernel, device (where there are several); kn: which of several of one name
 *   v       side, source, address, graph
 *   pin     o1f8: instruction at 0x1f8; s0:12: line 12 of file 0
 *   q       search; hit: which match
 *   cols    shown columns; heat: the column that colours, 'none'
 *   fold    0: lines without code are shown; open: folds that were opened
 *   t       light, dark; nav: 0 or 1: without, with the kernel list; w: width of the source pane in percent
 *   y, ys   top row of the code (or only) pane and of the source pane
 */
const VIEWS = ['side', 'source', 'address', 'graph'];

function encodeLink(state, kernel) {
    const p = new URLSearchParams();
    const twins = kernel.module.kernels.filter(k => k.name === kernel.name && k.device === kernel.device);
    p.set('k', kernel.name);
    if (kernel.module.devices.length > 1)
        p.set('d', kernel.device);
    if (twins.length > 1)
        p.set('kn', twins.indexOf(kernel));
    if (state.view !== 'side')
        p.set('v', state.view);
    if (state.pin)
        p.set('pin', encodeTarget(kernel, state.pin));
    if (state.query) {
        p.set('q', state.query);
        if (state.hit > 0)
            p.set('hit', state.hit);
    }
    if (state.columns)
        p.set('cols', [...state.columns].join(','));
    if (state.heat !== null)
        p.set('heat', state.heat || 'none');
    if (!state.fold)
        p.set('fold', '0');
    else if (state.opened.size)
        p.set('open', [...state.opened].map(key => `${keyFile(key)}:${keyLine(key)}`).join(','));
    if (state.theme)
        p.set('t', state.theme);
    if (state.nav !== usualNav(kernel.module))
        p.set('nav', state.nav ? '1' : '0');
    if (state.split !== SPLIT_USUAL)
        p.set('w', Math.round(state.split));
    if (state.tops.main)
        p.set('y', state.tops.main);
    if (state.tops.source)
        p.set('ys', state.tops.source);
    return '#' + p.toString();
}

function encodeTarget(kernel, target) {
    return target.insn !== undefined ? 'o' + kernel.offsets[target.insn].toString(16)
        : `s${keyFile(target.line)}:${keyLine(target.line)}`;
}

function decodeTarget(kernel, text) {
    let m = /^o([0-9a-f]{1,12})$/.exec(text);
    if (m) {
        const insn = kernel.at(parseInt(m[1], 16));
        return insn < 0 ? null : {insn};
    }
    m = /^s(\d{1,6}):(\d{1,8})$/.exec(text);
    return m && Number(m[1]) < kernel.module.files.all.length ? {line: lineKey(Number(m[1]), Number(m[2]))} : null;
}

/* Which kernel a link names; the first where it names none. */
function linkedKernel(module, p) {
    const named = module.kernels.filter(k => k.name === p.get('k') && (!p.has('d') || k.device === p.get('d')));
    return named[Number(p.get('kn')) || 0] || named[0] || module.kernels[0];
}

function decodeLink(module, hash) {
    const p = new URLSearchParams(hash.replace(/^#/, ''));
    const kernel = linkedKernel(module, p);
    if (!kernel)
        return {kernel: null, state: usualState()};
    kernel.prepare();
    const state = usualState();
    const of = (name, usual, allowed) => allowed.includes(p.get(name)) ? p.get(name) : usual;
    state.view = of('v', 'side', VIEWS);
    state.theme = of('t', '', ['light', 'dark']);
    state.pin = decodeTarget(kernel, p.get('pin') || '');
    state.query = p.get('q') || '';
    state.hit = Math.max(0, Math.floor(number(Number(p.get('hit')), 0)));
    state.columns = p.has('cols') ? new Set(p.get('cols').split(',').filter(id => columnById(kernel, id))) : null;
    const heat = columnById(kernel, p.get('heat'));
    state.heat = heat && heat.heat ? heat.id : p.get('heat') === 'none' ? '' : null;
    state.fold = p.get('fold') !== '0';
    for (const part of (p.get('open') || '').split(',')) {
        const m = /^(\d{1,6}):(\d{1,8})$/.exec(part);
        if (m)
            state.opened.add(lineKey(Number(m[1]), Number(m[2])));
    }
    state.nav = p.has('nav') ? p.get('nav') !== '0' : usualNav(module);
    state.split = clamp(number(Number(p.get('w') || SPLIT_USUAL), SPLIT_USUAL), 10, 90);
    state.tops = {main: Math.floor(number(Number(p.get('y')), 0)), source: Math.floor(number(Number(p.get('ys')), 0))};
    return {kernel, state};
}

const SPLIT_USUAL = 50;

/* One kernel needs no list. */
const usualNav = module => module.kernels.length > 1;

const usualState = () => ({
    view: 'side', theme: '', pin: null, query: '', hit: 0, columns: null, heat: null, fold: true, opened: new Set(),
    nav: true, split: SPLIT_USUAL, tops: {main: 0, source: 0},
});

function writeLink(hash) {
    if (inRecording())
        return;
    try {
        history.replaceState(null, '', hash);
    } catch (refused) {
        // an embedding that has no address of its own: the link cannot be kept, the view works
    }
}
