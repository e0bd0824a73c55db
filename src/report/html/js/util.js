/* Small helpers. Nodes are only ever made from text: no string of the module is parsed as markup. */

const $ = id => document.getElementById(id);

/* el('span.mono.dim', 'text', node, ...): an element with classes and children. */
function el(spec, ...children) {
    const [tag, ...classes] = spec.split('.');
    const node = document.createElement(tag);
    if (classes.length)
        node.className = classes.join(' ');
    for (const child of children)
        if (child !== null && child !== undefined)
            node.append(child);
    return node;
}

function attrs(node, values) {
    for (const name in values)
        node.setAttribute(name, values[name]);
    return node;
}

const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const hex = x => '0x' + x.toString(16);
const plural = (n, one, many) => `${count(n)} ${n === 1 ? one : many || one + 's'}`;
/* Paths of Windows, which modules are built with there, have both slashes. */
const isWindowsPath = path => /^(?:[a-z]:[\\/]|\\\\)/i.test(path);
const folderLength = path => Math.max(path.lastIndexOf('/'), isWindowsPath(path) ? path.lastIndexOf('\\') : -1) + 1;
const baseName = path => path.slice(folderLength(path)) || path;

function pathEndsWith(path, end) {
    const plain = text => text.replaceAll('\\', '/').toLowerCase();
    return isWindowsPath(path) ? plain(path).endsWith(plain(end)) : path.endsWith(end);
}

/* 1234567 -> "1 234 567", with thin spaces. */
const count = n => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u2009');

/* A value in few characters: 1234567 -> "1.23M". */
function shortNumber(value) {
    if (!Number.isFinite(value))
        return 'n/a';
    const size = Math.abs(value);
    if (size >= 1e15)
        return value.toExponential(2);
    const [scale, suffix] = size >= 1e12 ? [1e12, 'T'] : size >= 1e9 ? [1e9, 'G']
        : size >= 1e6 ? [1e6, 'M'] : size >= 1e4 ? [1e3, 'k'] : [1, ''];
    const scaled = value / scale;
    if (scale === 1 && Number.isInteger(value))
        return String(value);
    return significant(scaled) + suffix;
}

/* Three digits that count: 0.0123, 1.2, 110, 12300. Zeros go behind a point alone. */
function significant(value) {
    const text = Math.abs(value) >= 1000 ? value.toFixed(0) : value.toPrecision(3);
    return text.includes('e') ? value.toExponential(2) : text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/* With a unit that takes prefixes: 26214 Gflop/s as siNumber(26214e9, 'flop/s') is "26.2 Tflop/s". */
function siNumber(value, unit) {
    if (!Number.isFinite(value))
        return 'n/a';
    const size = Math.abs(value), steps = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
    const [scale, prefix] = steps.find(step => size >= step[0] * 0.9995) || [1, ''];
    return `${significant(value / scale)} ${prefix}${unit}`;
}

/* Names of C++ by what compilers made of them. */
const NAMES = new Map();
try {
    for (const [mangled, name] of Object.entries(JSON.parse($('names').textContent)))
        NAMES.set(mangled, String(name));
} catch (error) {
    // none are known
}

/*
 * Text as it may be shown: control characters, and characters that reorder text, by name. They
 * would otherwise be invisible, or make a line read other than it is compiled.
 */
const HIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const visible = text => (NAMES.get(text) || text).replace(HIDDEN, c =>
    '\u2039U+' + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u203a');

/* The first position in the ascending array whose value is >= x. */
function lowerBound(array, x) {
    let low = 0, high = array.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (array[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* At most one call a frame, with the last arguments. */
function perFrame(callback) {
    let queued = false, last;
    return (...args) => {
        last = args;
        if (queued)
            return;
        queued = true;
        requestAnimationFrame(() => {
            queued = false;
            callback(...last);
        });
    };
}

function debounce(callback, delay_ms) {
    let timer = 0;
    return (...args) => {
        clearTimeout(timer);
        timer = setTimeout(callback, delay_ms, ...args);
    };
}

/* A CSS variable as a colour that a canvas takes. */
function cssColour(name) {
    const probe = $('probe');
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
}

/* A canvas sized for the screen's pixels; null while it is not laid out. */
function sizedContext(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height)
        return null;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return {context, width, height};
}

let toastTimer = 0;
function toast(text) {
    const node = $('toast');
    node.textContent = text;
    node.hidden = false;
    clearTimeout(toastTimer);
    toastTimer = setTimeout(() => { node.hidden = true; }, 2200);
}

/* Whether this is the page of a recording and its own views are shown, not the code: then keys and
 * the address are theirs. */
const inRecording = () => document.documentElement.classList.contains('in-rec');

/* Why threads wait, in the words of docs/metrics.md, by the ends of metrics' names. */
const STALLS = [
    ['Active', 'issuing'], ['SendStall', 'message unit busy'], ['SbidStall', 'waiting for memory'], ['DistStall', 'waiting for results'],
    ['SyncStall', 'at barriers and fences'], ['PipeStall', 'pipe busy'], ['ControlStall', 'behind branches'], ['InstrFetchStall', 'instruction fetch'], ['OtherStall', 'other'],
];
