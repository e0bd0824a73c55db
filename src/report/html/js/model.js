/*
 * The module as the views need it. What the JSON document (schema zescope.module/1) calls things
 * is known here only. Every member is optional but instructions' offset and text: a view shows
 * what is there.
 *
 * Instructions of a kernel are numbered 0..n-1, source files of the module 0..; a source line is
 * a key: file * LINE_SPAN + line.
 */
const LINE_SPAN = 1 << 24;
const lineKey = (file, line) => file * LINE_SPAN + clamp(line, 0, LINE_SPAN - 1);
const keyFile = key => Math.floor(key / LINE_SPAN);
const keyLine = key => key % LINE_SPAN;

const list = value => Array.isArray(value) ? value : [];
const string = value => typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value);
const object = value => value !== null && typeof value === 'object' ? value : {};
const number = (value, otherwise) => Number.isFinite(value) ? value : otherwise;

class Files {
    constructor(documents) {
        this.byPath = new Map();
        this.all = [];
        for (const d of list(documents).map(object)) {
            const file = this.all[this.number(string(d.path))];
            file.note = string(d.note);
            file.text = typeof d.text === 'string' ? d.text : null;
            file.found = string(d.found);
        }
    }

    number(path) {
        let index = this.byPath.get(path);
        if (index === undefined) {
            index = this.all.length;
            this.byPath.set(path, index);
            this.all.push({index, path, name: visible(baseName(path)), text: null, found: '', note: '', split: null});
        }
        return index;
    }

    /* The lines of a file, or null where its text is not at hand. */
    lines(index) {
        const file = this.all[index];
        if (file.text === null)
            return null;
        if (!file.split) {
            file.split = file.text.split(/\r\n|\n|\r/);
            if (file.split.length > 1 && file.split[file.split.length - 1] === '')
                file.split.pop();
        }
        return file.split;
    }

    line(key) {
        const lines = this.lines(keyFile(key));
        return lines && lines[keyLine(key) - 1];
    }
}

class Kernel {
    constructor(module, device, json, index) {
        Object.assign(this, {module, device, json, index});
        this.name = string(json.name);
        this.instructions = list(json.instructions).map(object);
        this.n = this.instructions.length;
        this.indexed = false;
        this.found = new Map(); // offset -> what checks said
    }

    /* The tables that views look up; made when the kernel is first shown. */
    prepare() {
        if (this.indexed)
            return this;
        this.indexed = true;
        this.offsets = new Float64Array(this.n);
        this.lineOf = new Float64Array(this.n).fill(-1);
        this.liveOf = new Int16Array(this.n).fill(-1);
        this.insnsOfLine = new Map();   // innermost line -> ascending instructions
        this.insnsThrough = new Map();  // line with an inlined call -> instructions from it
        this.stacks = new Map();        // frame number -> its calls, outermost first
        this.files = [];                // in the order they are met
        this.filesMet = new Set();
        this.maxLive = -1;
        this.opWidth = OP_WIDTH; // so that mnemonics align
        for (let i = 0; i < this.n; i++)
            this.prepareInstruction(i, this.instructions[i]);
        this.prepareTargets();
        this.grfs = Math.max(1, number(this.json.grf_count, this.maxLive > 128 ? 256 : 128));
        this.columns = dynamicColumns(this);
        for (let i = 0; i < Math.min(this.n, 5000); i++) {
            const op = splitAsm(this.text(i)).find(part => part[0] !== '(') || '';
            this.opWidth = clamp(op.length + 1, this.opWidth, 10);
        }
        this.longestPlace = 0;
        for (const key of this.insnsOfLine.keys())
            this.longestPlace = Math.max(this.longestPlace, this.placeOfKey(key).length);
        this.longestFile = this.files.reduce((most, f) => Math.max(most, (this.module.files.lines(f) || '').length), 0);
        return this;
    }

    prepareInstruction(i, insn) {
        this.offsets[i] = number(insn.offset, 0);
        this.liveOf[i] = clamp(number(insn.live_grfs, -1), -1, 32767);
        this.maxLive = Math.max(this.maxLive, this.liveOf[i]);
        if (typeof insn.file !== 'string' || !(insn.line > 0))
            return;
        const key = lineKey(this.useFile(insn.file), insn.line);
        this.lineOf[i] = key;
        push(this.insnsOfLine, key, i);
        for (const call of this.calls(i))
            if (call.key >= 0 && call.key !== key)
                push(this.insnsThrough, call.key, i);
    }

    useFile(path) {
        const file = this.module.files.number(path);
        if (!this.filesMet.has(file)) {
            this.filesMet.add(file);
            this.files.push(file);
        }
        return file;
    }

    /* The key of a line that has code, or calls of inlined functions; -1: it has none. */
    lineAt(path, line) {
        const key = lineKey(this.module.files.number(path), line);
        return this.insnsOfLine.has(key) || this.insnsThrough.has(key) ? key : -1;
    }

    /* The functions around an instruction: [{name, key}], outermost first; key is the line of the
     * call that was inlined, -1 for the outermost and where it is not known. */
    calls(i) {
        const frame = this.instructions[i].frame;
        if (!Number.isInteger(frame))
            return NO_CALLS;
        let stack = this.stacks.get(frame);
        if (!stack) {
            stack = this.unwind(frame);
            this.stacks.set(frame, stack);
        }
        return stack;
    }

    unwind(frame) {
        const frames = list(this.json.inline), stack = [];
        for (let depth = 0; depth < 64 && frames[frame]; depth++) {
            const f = frames[frame];
            const known = typeof f.call_file === 'string' && f.call_line > 0;
            stack.unshift({
                name: string(f.function) || '?',
                key: known ? lineKey(this.useFile(f.call_file), f.call_line) : -1,
            });
            if (!Number.isInteger(f.parent))
                break;
            frame = f.parent;
        }
        return stack;
    }

    prepareTargets() {
        this.targetsOf = new Map();  // instruction -> instructions it may branch to
        this.sources = new Map();    // instruction -> those that branch to it
        for (let i = 0; i < this.n; i++) {
            for (const offset of list(this.instructions[i].targets)) {
                const to = this.at(offset);
                if (to < 0)
                    continue;
                push(this.targetsOf, i, to);
                push(this.sources, to, i);
            }
        }
    }

    text(i) { return string(this.instructions[i].text); }
    size(i) { return number(this.instructions[i].size, 0); }
    live(i) { return this.liveOf[i]; }
    foundAt(i) { return this.found.get(this.offsets[i]) || NO_CALLS; }
    foundIn(key) { return this.found.size ? [...new Set(this.lineInsns(key).flatMap(i => this.foundAt(i)))] : NO_CALLS; }
    targets(i) { return this.targetsOf.get(i) || NO_CALLS; }
    message(i) {
        const message = this.instructions[i].message;
        return message && typeof message === 'object' ? message : null;
    }
    lineInsns(key) { return this.insnsOfLine.get(key) || NO_CALLS; }
    lineThrough(key) { return this.insnsThrough.get(key) || NO_CALLS; }
    hasCode(key) { return this.insnsOfLine.has(key) || this.insnsThrough.has(key); }
    label(i) { return string(this.instructions[i].label) || 'L' + String(this.offsets[i]).padStart(4, '0'); }

    /* The instruction with this label, or -1. */
    labelled(label) {
        if (!this.labels) {
            this.labels = new Map();
            for (let i = 0; i < this.n; i++)
                if (typeof this.instructions[i].label === 'string')
                    this.labels.set(this.instructions[i].label, i);
        }
        const number = /^L(\d+)$/.exec(label);
        return this.labels.has(label) ? this.labels.get(label) : number ? this.at(Number(number[1])) : -1;
    }

    /* The instruction at exactly this offset, or -1. */
    at(offset) {
        const i = lowerBound(this.offsets, offset);
        return i < this.n && this.offsets[i] === offset ? i : -1;
    }

    /* "file.cl:12" of an instruction, or ''. */
    place(i) { return this.lineOf[i] < 0 ? '' : this.placeOfKey(this.lineOf[i]); }
    placeOfKey(key) { return this.module.files.all[keyFile(key)].name + ':' + keyLine(key); }

    /*
     * Everything that belongs to one row, with how closely: 2 is the row itself and its direct
     * counterpart, 1 what came along (the same line's other instructions, inlined calls).
     */
    related(target) {
        const insns = new Map(), lines = new Map();
        const add = (map, key, level) => map.set(key, Math.max(level, map.get(key) || 0));
        if (target.insn !== undefined) {
            add(insns, target.insn, 2);
            const key = this.lineOf[target.insn];
            if (key >= 0) {
                add(lines, key, 2);
                for (const i of this.lineInsns(key))
                    add(insns, i, 1);
            }
            for (const call of this.calls(target.insn))
                if (call.key >= 0)
                    add(lines, call.key, 1);
        } else {
            add(lines, target.line, 2);
            for (const i of this.lineInsns(target.line))
                add(insns, i, 2);
            for (const i of this.lineThrough(target.line)) {
                add(insns, i, 1);
                add(lines, this.lineOf[i], 1);
            }
        }
        return {insns, lines};
    }
}

const NO_CALLS = Object.freeze([]);

function push(map, key, value) {
    const values = map.get(key);
    if (values)
        values.push(value);
    else
        map.set(key, [value]);
}

class Module {
    constructor(json) {
        this.json = json;
        this.name = visible(string(json.input));
        this.files = new Files(json.files);
        this.notes = list(json.notes).map(string);
        this.kernels = [];
        this.devices = list(json.devices).map(object);
        for (const device of this.devices)
            for (const k of list(device.kernels))
                this.kernels.push(new Kernel(this, string(device.device), object(k), this.kernels.length));
    }
}
