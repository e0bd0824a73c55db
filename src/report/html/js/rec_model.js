/*
 * A recording as its page needs it. What the document calls things (src/report/html_timeline.h,
 * docs/schema-report.md) is known here only. Times are nanoseconds since the recording's start.
 */
const LANES_MAX = 12;

const isThread = track => track.kind === 'thread';

/* VLQ of source maps: five bits a character, the least first; the lowest of all is the sign. */
const DIGITS = new Uint8Array(128);
[...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].forEach((c, i) => { DIGITS[c.charCodeAt(0)] = i; });

function readNumbers(text) {
    let count = 0;
    for (let i = 0; i < text.length; i++)
        count += DIGITS[text.charCodeAt(i) & 127] < 32;
    const found = new Float64Array(count);
    for (let i = 0, n = 0; n < count; n++) {
        let digit = DIGITS[text.charCodeAt(i++) & 127], value = (digit & 31) >> 1;
        const negative = digit & 1;
        for (let scale = 16; digit & 32; scale *= 32) {
            digit = DIGITS[text.charCodeAt(i++) & 127];
            value += scale < 2 ** 60 ? (digit & 31) * scale : 0;
        }
        found[n] = negative ? -value : value;
    }
    return found;
}

class Track {
    constructor(index, json, start_ns) {
        this.index = index;
        this.kind = json.kind === 'queue' ? 'queue' : 'thread';
        this.pid = number(json.pid, 0);
        this.json = json;
        const flat = readNumbers(string(json.items)), width = isThread(this) ? 7 : 11, n = Math.floor(flat.length / width);
        this.n = n;
        this.starts = new Float64Array(n);
        this.ends = new Float64Array(n);
        this.names = new Uint32Array(n);
        this.lanes = new Uint8Array(n);
        this.flat = flat;
        this.width = width;
        let time = 0;
        for (let i = 0, at = 0; i < n; i++, at += width) {
            time += flat[at];
            this.starts[i] = time;
            this.ends[i] = flat[at + 1] < 0 ? Infinity : time + flat[at + 1];
            this.names[i] = flat[at + 2];
        }
        this.leftOut = number(json.left_out, 0);
        this.readBins(object(json.bins), start_ns);
        this.makeLanes();
    }

    readBins(json, start_ns) {
        const busy = list(json.busy_ns);
        this.bins = busy.length ? {
            start: number(json.start_ns, 0) - start_ns, width: Math.max(1, number(json.width_ns, 1)),
            busy: Float64Array.from(busy), count: Float64Array.from(list(json.count)),
        } : null;
    }

    /* Threads: by nesting. Queues: the first lane that is free. Lanes hold their items in order. */
    makeLanes() {
        const free = new Float64Array(LANES_MAX).fill(-Infinity), counts = new Uint32Array(LANES_MAX);
        for (let i = 0; i < this.n; i++) {
            let lane = 0;
            if (isThread(this))
                lane = clamp(this.flat[i * this.width + 3], 0, LANES_MAX - 1);
            else
                while (lane < LANES_MAX - 1 && free[lane] > this.starts[i])
                    lane++;
            free[lane] = Math.max(free[lane], this.ends[i]);
            this.lanes[i] = lane;
            counts[lane]++;
        }
        const most = counts.reduce((last, count, lane) => (count ? lane : last), 0);
        this.laneItems = Array.from(counts.subarray(0, most + 1), n => ({items: new Uint32Array(n), starts: new Float64Array(n), ends: new Float64Array(n)}));
        counts.fill(0);
        for (let i = 0; i < this.n; i++) {
            const lane = this.lanes[i], {items, starts, ends} = this.laneItems[lane], at = counts[lane]++;
            items[at] = i;
            starts[at] = this.starts[i];
            ends[at] = Math.max(this.ends[i], at ? ends[at - 1] : -Infinity);
        }
    }

    field(i, k) { return this.flat[i * this.width + k] ?? -1; }
    duration(i) { return this.ends[i] - this.starts[i]; }

    get title() {
        return isThread(this) ? string(this.json.name) || `thread ${this.json.tid}`
            : `${this.json.immediate ? 'immediate list' : 'queue'} ${this.json.queue}`;
    }
    get subtitle() { return isThread(this) ? `${this.json.tid}` : `engine ${string(this.json.engine)}`; }
}

class Recording {
    constructor(json) {
        const timeline = object(json.timeline);
        this.info = object(json.recording);
        this.report = object(json.report);
        this.analysis = object(json.analysis);
        this.checks = list(json.checks).map(object);
        this.trees = {host: list(json.host_tree), device: list(json.device_tree)};
        this.start_ns = number(timeline.start_ns, 0);
        this.first_ns = number(this.report.first_ns, this.start_ns); // zero of the tables' times
        this.span = Math.max(1, number(timeline.end_ns, 0) - this.start_ns);
        this.names = list(timeline.names).map(string);
        this.results = object(timeline.results);
        this.stacks = list(timeline.stacks).map(list);
        this.shapes = list(timeline.shapes).map(list);
        this.modules = list(timeline.modules).map(string);
        this.tracks = list(timeline.tracks).map((t, i) => new Track(i, object(t), this.start_ns));
        this.memory = list(timeline.memory).map(m => this.readMemory(object(m)));
        this.counters = list(timeline.counters).map(object).flatMap(c => this.readCounters(c));
        this.marks = list(timeline.marks).map(object).map(m => ({
            track: number(m.track, -1), name: string(m.name), depth: number(m.depth, 0),
            start: number(m.start_ns, 0) - this.start_ns,
            end: m.end_ns ? m.end_ns - this.start_ns : number(m.start_ns, 0) - this.start_ns,
            isRange: Boolean(m.end_ns),
        })).filter(m => this.tracks[m.track]);
        this.pauses = list(timeline.pauses).map(object).map(p => ({
            start: number(p.start_ns, 0) - this.start_ns, end: number(p.end_ns, 0) - this.start_ns, reason: string(p.reason)}));
        this.leftOut = object(timeline.left_out);
        this.items = this.tracks.reduce((n, t) => n + t.n, 0);
        for (const track of this.tracks)
            for (let i = 0; i < track.n; i++)
                if (track.ends[i] === Infinity)
                    track.ends[i] = this.span;
    }

    readMemory(json) {
        const flat = list(json.points), n = flat.length >> 1, times = new Float64Array(n), bytes = new Float64Array(n);
        for (let i = 0, time = 0; i < n; i++) {
            times[i] = time += number(flat[2 * i], 0);
            bytes[i] = number(flat[2 * i + 1], 0);
        }
        return {pid: number(json.pid, 0), peak: number(json.peak_B, 0), n, times, bytes};
    }

    /* Metrics of a group that are ever more than 0; they share their times. */
    readCounters(json) {
        const steps = list(json.starts), lengths = list(json.lengths), n = steps.length, starts = new Float64Array(n), ends = new Float64Array(n);
        for (let i = 0, time = number(json.start_ns, this.start_ns) - this.start_ns; i < n; i++) {
            starts[i] = time += Math.max(0, number(steps[i], 0));
            ends[i] = time + Math.max(0, number(lengths[i], 0));
        }
        return list(json.metrics).map(object).filter(m => number(m.most, 0) > 0).map(m => ({
            pid: number(json.pid, 0), group: string(json.group), perPoint: number(json.reports_a_point, 1), n, starts, ends,
            name: string(m.name), units: string(m.units), most: number(m.most, 0), values: Float64Array.from({length: n}, (_, i) => number(list(m.values)[i], 0))}));
    }

    name(track, i) { return this.names[track.names[i]] || '(no name)'; }

    /* What tells the module of an execution's kernel apart; '' where it is not known. */
    moduleOf(track, i) { return isThread(track) ? '' : this.modules[track.field(i, 10)] || ''; }

    /* Frames of a call, the innermost first. */
    stackOf(track, i) { return (this.stacks[track.field(i, 6)] || []).map(n => this.names[n] || 'n/a'); }

    /* Executions that a call appended: [track, item]. */
    executionsOf(thread, call) {
        if (!this.byCall) {
            this.byCall = new Map();
            for (const t of this.tracks)
                for (let i = 0; !isThread(t) && i < t.n; i++)
                    push(this.byCall, `${t.field(i, 4)}.${t.field(i, 7)}`, [t, i]);
        }
        return this.byCall.get(`${thread}.${call}`) || [];
    }

    /* The call that appended an execution: [track, item], or null where it was left out. */
    callOf(track, i) {
        const thread = this.tracks[track.field(i, 4)], call = track.field(i, 7);
        if (!thread || call <= 0)
            return null;
        const from = Math.max(0, lowerBound(thread.starts, track.starts[i] - track.field(i, 5)) - 8);
        for (let k = from; k < Math.min(thread.n, from + 16); k++)
            if (thread.field(k, 5) === call)
                return [thread, k];
        return null;
    }
}

/* "1.23 ms": three digits and a unit. */
function duration(ns) {
    if (!Number.isFinite(ns))
        return 'n/a';
    const [scale, unit] = Math.abs(ns) < 1e3 ? [1, 'ns'] : Math.abs(ns) < 1e6 ? [1e3, '\u00b5s'] : Math.abs(ns) < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
    const value = ns / scale;
    return (scale === 1 ? String(Math.round(value)) : value.toPrecision(Math.abs(value) < 1000 ? 3 : 4)) + '\u2009' + unit;
}

function sizeText(B) {
    return Number.isFinite(B) && B >= 0 ? metricText(B, 'B') : 'n/a';
}

/* A value of a metric: whole numbers as they are, others with four digits. */
function metricText(value, units) {
    const unit = {percent: '%', bytes: 'B'}[units] || visible(units || '');
    if (unit === 'ns' && value >= 0)
        return duration(value);
    const [scale, base] = unit === 'GB/s' ? [1e9, 'B/s'] : [1, unit];
    if (['B', 'Hz', 'B/s'].includes(base))
        return siNumber(value * scale, base).replace(' ', '\u2009');
    return `${shortNumber(Number(value))}${unit ? `\u2009${unit}` : ''}`;
}
