/*
 * Drawing tracks: what is shorter than a pixel is drawn as one, found by bisection, so that a frame
 * costs as many steps as there are pixels, whatever the number of items.
 */
const LABEL_PX = 190, AXIS_PX = 24, TRACK_PX = 19, GAP_PX = 7, HEAD_PX = 22, MEMORY_PX = 46, MARK_PX = 15, COUNTER_PX = 28;

const KIND_NAMES = ['', 'kernel', 'copy', 'fill', 'barrier', 'map', 'unmap', 'migrate', 'other'];
const CALL_GROUPS = [
    [/Alloc|Mem(Free|Get)|Virtual|Physical/, 285], [/Append/, 212], [/Synchronize|QueryStatus/, 12],
    [/Execute|Close|Reset/, 178], [/Module|Kernel/, 45], [/Event|Fence/, 330], [/Init|Driver|Device|Context/, 95],
];

/* A hue for a name: calls by what they are about, kernels each their own. */
function hueOf(name, isCall) {
    if (isCall) {
        const group = CALL_GROUPS.find(g => g[0].test(name));
        return group ? group[1] : 240;
    }
    let h = 2166136261;
    for (let i = 0; i < name.length; i++)
        h = Math.imul(h ^ name.charCodeAt(i), 16777619);
    return (h >>> 8) % 360;
}

class Palette {
    constructor(recording) {
        this.recording = recording;
        this.read();
    }

    read() {
        this.dark = getComputedStyle(document.body).colorScheme === 'dark' ||
            (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
        for (const name of ['text', 'text-dim', 'text-faint', 'line', 'line-soft', 'bg', 'bg-bar', 'bg-sunk', 'accent', 'accent-soft', 'pin-strong', 'hit-strong', 'warn', 'bad'])
            this[name] = cssColour('--' + name);
        const style = getComputedStyle(document.body);
        this.mono = style.getPropertyValue('--mono');
        this.sans = style.getPropertyValue('--sans');
        this.fills = {};
    }

    /* The colour of a name, and what is read best on it: black or white, one of which always has a contrast of 4.5. */
    colours(name, isCall) {
        const key = (isCall ? 'c' : 'k') + name;
        if (!this.fills[key]) {
            const hue = hueOf(name, isCall);
            const [s, l] = isCall ? (this.dark ? [28, 38] : [52, 74]) : (this.dark ? [48, 45] : [62, 64]);
            const luminance = [[0, .2126], [8, .7152], [4, .0722]].reduce((sum, [n, part]) => {
                const k = (n + hue / 30) % 12, v = l / 100 - s / 100 * Math.min(l, 100 - l) / 100 * Math.max(-1, Math.min(k - 3, 9 - k, 1));
                return sum + part * (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
            }, 0);
            this.fills[key] = {fill: `hsl(${hue} ${s}% ${l}%)`, ink: luminance > .179 ? '#000' : '#fff'};
        }
        return this.fills[key];
    }
    fill(name, isCall) { return this.colours(name, isCall).fill; }
}

/* Where tracks stand: rows with their top and height. */
function layOut(recording) {
    const rows = [];
    let y = 0;
    const add = (kind, height, more) => {
        rows.push({kind, y, height, ...more});
        y += height;
    };
    const pids = [...new Set([...recording.tracks.map(t => t.pid), ...recording.memory.map(m => m.pid)])];
    for (const pid of pids) {
        const threads = recording.tracks.filter(t => t.pid === pid && isThread(t));
        const queues = recording.tracks.filter(t => t.pid === pid && !isThread(t));
        const image = threads.map(t => string(t.json.process)).find(Boolean) || 'process';
        add('head', HEAD_PX, {text: `${visible(image)} \u00b7 ${pid}`});
        for (const device of [...new Set(queues.map(q => string(q.json.device)))]) {
            add('subhead', HEAD_PX - 4, {text: visible(device)});
            for (const track of queues.filter(q => string(q.json.device) === device))
                add('track', track.laneItems.length * TRACK_PX + GAP_PX, {track, marks: []});
        }
        for (const memory of recording.memory.filter(m => m.pid === pid))
            add('memory', MEMORY_PX + GAP_PX, {memory});
        if (threads.length)
            add('subhead', HEAD_PX - 4, {text: 'Host threads'});
        for (const track of threads) {
            const marks = recording.marks.filter(m => m.track === track.index);
            const depth = marks.reduce((d, m) => Math.max(d, m.depth + 1), 0);
            add('track', Math.max(1, track.laneItems.length) * TRACK_PX + depth * MARK_PX + GAP_PX, {track, marks, top: depth * MARK_PX});
        }
        for (const group of [...new Set(recording.counters.filter(c => c.pid === pid).map(c => c.group))]) {
            add('subhead', HEAD_PX - 4, {text: visible(group)});
            for (const counter of recording.counters.filter(c => c.pid === pid && c.group === group))
                add('counter', COUNTER_PX + 3, {counter});
        }
    }
    return {rows, height: y + 8};
}

class Painter {
    constructor(context, palette, view) {
        Object.assign(this, {context, palette, view});
    }

    x(time) { return LABEL_PX + (time - this.view.from) * this.view.scale; }

    /* One lane's items in view. shown(item) -> 0..1: how strongly. */
    lane(recording, track, lane, y, height, shown) {
        const {from, to, scale, width} = this.view, c = this.context;
        const items = lane.items, starts = lane.starts;
        const perPixel = 1 / scale, call = isThread(track);
        c.font = `11px ${this.view.mono}`;
        c.textBaseline = 'middle';
        for (let i = lowerBound(lane.ends, from); i < items.length && starts[i] < to;) {
            const item = items[i], x0 = this.x(starts[i]), x1 = this.x(track.ends[item]);
            const name = recording.name(track, item);
            if (x1 - x0 < 1.5) {
                const until = starts[i] + 1.5 * perPixel;
                let strength = 0, next = i;
                for (; next < items.length && starts[next] < until && track.ends[items[next]] < until + perPixel; next++)
                    strength = strength || next - i < 64 ? Math.max(strength, shown(track, items[next])) : strength;
                next = Math.max(next, i + 1);
                c.globalAlpha = (next - i > 1 ? 1 : .8) * strength;
                c.fillStyle = this.palette.fill(name, call);
                c.fillRect(x0, y, Math.max(1.2, x1 - x0), height);
                i = next;
                continue;
            }
            const left = Math.max(x0, LABEL_PX), right = Math.min(x1, width);
            c.globalAlpha = shown(track, item);
            c.fillStyle = this.palette.fill(name, call);
            c.fillRect(left, y, Math.max(1, right - left - .6), height);
            if (right - left > 26)
                this.label(name, call, left + 5, y + height / 2 + .5, right - left - 9);
            i++;
        }
        c.globalAlpha = 1;
    }

    label(name, call, x, y, room) {
        const letters = Math.floor(room / 6.7);
        if (letters < 3)
            return;
        this.context.fillStyle = this.palette.colours(name, call).ink;
        const text = visible(name);
        this.context.fillText(text.length <= letters ? text : text.slice(0, letters - 1) + '\u2026', x, y);
    }

    /* What was left out, as how much of the time it took. */
    bins(bins, y, height) {
        const c = this.context;
        const first = Math.max(0, Math.floor((this.view.from - bins.start) / bins.width));
        const step = Math.max(1, Math.floor(1 / (bins.width * this.view.scale)));
        c.fillStyle = this.palette['text-faint'];
        for (let i = first - first % step; i < bins.busy.length; i += step) {
            const time = bins.start + i * bins.width;
            if (time > this.view.to)
                break;
            let busy = 0;
            for (let k = i; k < Math.min(bins.busy.length, i + step); k++)
                busy = Math.max(busy, bins.busy[k]);
            if (!busy)
                continue;
            const share = Math.min(1, busy / bins.width), x = this.x(time);
            c.globalAlpha = .25 + .35 * share;
            const tall = Math.max(2, height * share);
            c.fillRect(Math.max(LABEL_PX, x), y + height - tall, Math.max(1, bins.width * step * this.view.scale), tall);
        }
        c.globalAlpha = 1;
    }

    /* A metric: each report from its start to its end; of those in one pixel the largest. */
    counter(counter, y, height) {
        const c = this.context, {from, to, scale, width} = this.view, {starts, ends, values, most} = counter;
        c.fillStyle = this.palette.fill(counter.name, false);
        for (let i = Math.max(0, lowerBound(starts, from) - 1); i < counter.n && starts[i] < to;) {
            const x0 = Math.max(LABEL_PX, this.x(starts[i])), next = Math.max(i + 1, lowerBound(starts, starts[i] + 1 / scale));
            let value = 0, end = starts[i];
            for (let k = i; k < next; k++) {
                value = Math.max(value, values[k]);
                end = Math.max(end, ends[k]);
            }
            const x1 = Math.min(width, this.x(end)), tall = clamp(value / most, 0, 1) * (height - 2);
            if (x1 >= x0 && tall > 0)
                c.fillRect(x0, y + height - tall, Math.max(1, x1 - x0), tall);
            i = next;
        }
    }

    memory(memory, y, height) {
        const c = this.context, {from, to, width} = this.view;
        const of = b => y + height - (memory.peak ? b / memory.peak : 0) * (height - 12);
        let i = Math.max(0, lowerBound(memory.times, from) - 1), at = LABEL_PX;
        c.beginPath();
        c.moveTo(LABEL_PX, y + height);
        let level = i < memory.n && memory.times[i] <= from ? memory.bytes[i] : 0;
        c.lineTo(LABEL_PX, of(level));
        while (i < memory.n && memory.times[i] < to) {
            const x = Math.max(LABEL_PX, this.x(memory.times[i]));
            const next = Math.max(i + 1, lowerBound(memory.times, memory.times[i] + 1 / this.view.scale));
            let most = memory.bytes[i];
            for (let k = i; k < next; k++)
                most = Math.max(most, memory.bytes[k]);
            c.lineTo(x, of(level));
            c.lineTo(x, of(most));
            level = memory.bytes[next - 1];
            c.lineTo(x, of(level));
            at = x;
            i = next;
        }
        c.lineTo(Math.max(at, width), of(level));
        c.lineTo(Math.max(at, width), y + height);
        c.closePath();
        c.globalAlpha = .25;
        c.fillStyle = this.palette.accent;
        c.fill();
        c.globalAlpha = 1;
        c.strokeStyle = this.palette.accent;
        c.lineWidth = 1;
        c.stroke();
    }

    marks(marks, y) {
        const c = this.context;
        c.font = `10.5px ${this.view.sans}`;
        c.textBaseline = 'middle';
        for (const m of marks) {
            if (m.end < this.view.from || m.start > this.view.to)
                continue;
            const top = y + m.depth * MARK_PX;
            const left = Math.max(LABEL_PX, this.x(m.start)), right = Math.min(this.view.width, this.x(m.end));
            c.fillStyle = this.palette['pin-strong'];
            if (!m.isRange) {
                c.fillRect(left, top, 2, MARK_PX - 1);
            } else {
                c.globalAlpha = .28;
                c.fillRect(left, top, Math.max(1, right - left), MARK_PX - 2);
                c.globalAlpha = 1;
                c.fillRect(left, top, 2, MARK_PX - 2);
            }
            const room = Math.floor((m.isRange ? right - left - 8 : 90) / 6);
            if (room > 2) {
                c.fillStyle = this.palette.text;
                c.fillText(visible(m.name).slice(0, room), left + 5, top + MARK_PX / 2 - .5);
            }
        }
    }

    axis(height) {
        const c = this.context, {from, to, width} = this.view, span = to - from;
        c.fillStyle = this.palette['bg-bar'];
        c.fillRect(0, 0, width, AXIS_PX);
        const wanted = span / Math.max(1, (width - LABEL_PX) / 110), power = 10 ** Math.floor(Math.log10(wanted));
        const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= wanted) || power * 10;
        c.font = `11px ${this.view.sans}`;
        c.textBaseline = 'middle';
        for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
            const x = Math.round(this.x(t)) + .5;
            c.strokeStyle = this.palette['line-soft'];
            c.beginPath();
            c.moveTo(x, AXIS_PX);
            c.lineTo(x, height);
            c.stroke();
            c.fillStyle = this.palette['text-dim'];
            const text = axisText(t, step);
            if (x + 4 + c.measureText(text).width <= width) // none is cut
                c.fillText(text, x + 4, AXIS_PX / 2);
            c.fillRect(x, AXIS_PX - 6, 1, 6);
        }
        c.fillStyle = this.palette.line;
        c.fillRect(0, AXIS_PX - 1, width, 1);
    }
}

/* A time on the axis, with as many digits as its step needs. */
function axisText(ns, step) {
    const [scale, unit] = step >= 1e9 || ns >= 1e10 ? [1e9, 's'] : step >= 1e5 ? [1e6, 'ms'] : step >= 100 ? [1e3, '\u00b5s'] : [1, 'ns'];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
    return (ns / scale).toFixed(Math.min(9, digits)) + '\u2009' + unit;
}
