/*
 * The timeline: what part of the time is in view, what is selected, how mouse and keys change it.
 */
class Timeline {
    constructor(app) {
        this.app = app;
        this.recording = app.recording;
        this.canvas = $('rec-canvas');
        this.overview = $('rec-overview');
        this.scroller = $('rec-scroller');
        this.layout = layOut(this.recording);
        this.from = 0;
        this.to = this.recording.span;
        this.selected = null; // {track, i}
        this.hover = null;
        this.matches = null;  // by name: whether the search finds it
        this.flows = false;
        this.labels = new Map(); // cut to the room they have
        this.palette = new Palette(this.recording);
        this.draw = perFrame(() => this.paint());
        this.listen();
        new ResizeObserver(() => this.resized()).observe(this.scroller);
    }

    get width() { return this.canvas.clientWidth; }
    get scale() { return Math.max(1, this.width - LABEL_PX) / (this.to - this.from); }
    timeAt(x) { return this.from + (x - LABEL_PX) / this.scale; }

    resized() {
        const height = this.scroller.clientHeight;
        this.canvas.style.height = height + 'px';
        $('rec-height').style.height = Math.max(height, this.layout.height + AXIS_PX) + 'px';
        this.overviewImage = null;
        this.draw();
    }

    /* ---- what is in view ---- */

    show(from, to) {
        const span = clamp(to - from, 20, this.recording.span * 1.02);
        const low = -this.recording.span * .01, high = this.recording.span * 1.01;
        this.from = clamp(from, low, Math.max(low, high - span));
        this.to = this.from + span;
        hideTip();
        this.draw();
        this.app.saveLink();
    }

    zoom(factor, x = LABEL_PX + (this.width - LABEL_PX) / 2) {
        const at = this.timeAt(Math.max(LABEL_PX, x));
        this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
    }

    pan(share) {
        const step = (this.to - this.from) * share;
        this.show(this.from + step, this.to + step);
    }

    fit() { this.show(0, this.recording.span); }

    /* ---- selection ---- */

    select(track, i, reveal) {
        this.selected = track ? {track, i} : null;
        if (track && reveal)
            this.reveal(track, i);
        this.app.showSelection(this.selected);
        this.draw();
        this.app.saveLink();
    }

    reveal(track, i) {
        const start = track.starts[i], end = track.ends[i], span = this.to - this.from;
        if (end - start > span || start < this.from || end > this.to) {
            const room = Math.max(span, (end - start) * 1.5);
            this.show((start + end - room) / 2, (start + end + room) / 2);
        }
        const row = this.layout.rows.find(r => r.track === track);
        const top = row.y - 40, bottom = row.y + row.height + AXIS_PX + 10;
        if (this.scroller.scrollTop > top)
            this.scroller.scrollTop = Math.max(0, top);
        else if (this.scroller.scrollTop + this.scroller.clientHeight < bottom)
            this.scroller.scrollTop = bottom - this.scroller.clientHeight;
    }

    zoomToSelected() {
        if (!this.selected)
            return;
        const {track, i} = this.selected, start = track.starts[i], length = Math.max(40, track.duration(i));
        this.show(start - length * .6, start + length * 1.6);
    }

    /* Next or previous item of the track; the first one in view where nothing is selected. */
    step(direction) {
        if (!this.selected) {
            this.stepTrack(1);
            return;
        }
        const {track, i} = this.selected, next = i + direction;
        if (next >= 0 && next < track.n)
            this.select(track, next, true);
    }

    /* The item nearest in time on the next track that has items. */
    stepTrack(direction) {
        const rows = this.layout.rows.filter(r => r.track && r.track.n);
        if (!rows.length)
            return;
        const at = this.selected ? rows.findIndex(r => r.track === this.selected.track) : -1;
        const row = rows[clamp(at + direction, 0, rows.length - 1)], track = row.track;
        const time = this.selected ? this.selected.track.starts[this.selected.i] : this.from;
        this.select(track, Math.min(track.n - 1, lowerBound(track.starts, time)), true);
    }

    /* ---- search ---- */

    find(expression) {
        this.matches = expression ? this.recording.names.map(name => expression.test(name)) : null;
        this.found = 0;
        for (const t of this.matches ? this.recording.tracks : [])
            for (let i = 0; i < t.n; i++)
                this.found += this.matches[t.names[i]];
        this.draw();
    }

    /* The match that starts next, over all tracks. */
    stepMatch(direction) {
        if (!this.matches)
            return this.step(direction);
        const at = this.selected ? this.selected.track.starts[this.selected.i] : direction > 0 ? this.from - 1 : this.to;
        const order = this.selected ? this.selected.track.index : -1;
        let best = null;
        for (const t of this.recording.tracks) {
            const later = direction > 0 ? t.index > order : t.index < order;
            for (let i = lowerBound(t.starts, at) - (direction > 0 ? 0 : 1); i >= 0 && i < t.n; i += direction) {
                if (direction < 0 && i === lowerBound(t.starts, at) - 1 && later)
                    while (i + 1 < t.n && t.starts[i + 1] === at)
                        i++;
                if (!this.matches[t.names[i]] || (t.starts[i] === at && (!later || this.isSelected(t, i))))
                    continue;
                if (!best || (t.starts[i] - best.track.starts[best.i]) * direction < 0)
                    best = {track: t, i};
                break;
            }
        }
        if (best)
            this.select(best.track, best.i, true);
        else
            toast('No more matches');
        return undefined;
    }

    isSelected(track, i) { return this.selected && this.selected.track === track && this.selected.i === i; }

    /* ---- drawing ---- */

    view() {
        return {from: this.from, to: this.to, scale: this.scale, width: this.width, mono: this.palette.mono, sans: this.palette.sans};
    }

    paint() {
        const sized = sizedContext(this.canvas);
        if (!sized)
            return;
        const {context: c, width, height} = sized, view = this.view();
        const painter = new Painter(c, this.palette, view), top = this.scroller.scrollTop;
        const strength = this.matches ? (t, i) => (this.matches[t.names[i]] ? 1 : .16) : () => 1;
        painter.axis(height);
        c.save();
        c.beginPath();
        c.rect(0, AXIS_PX, width, height - AXIS_PX);
        c.clip();
        this.paintPauses(c, painter, height);
        for (const row of this.layout.rows) {
            const y = row.y - top + AXIS_PX;
            if (y + row.height >= AXIS_PX && y < height)
                this.paintRow(c, painter, row, y, width, strength);
        }
        this.paintFlows(c, painter, top);
        this.paintLabels(c, top, height);
        c.restore();
        this.paintRange(c, height);
        this.paintOverview();
    }

    paintRow(c, painter, row, y, width, strength) {
        if (row.kind === 'head') {
            c.fillStyle = this.palette['bg-bar'];
            c.fillRect(0, y, width, row.height - 2);
        }
        if (row.kind === 'memory')
            painter.memory(row.memory, y, MEMORY_PX);
        if (row.kind === 'counter')
            painter.counter(row.counter, y, COUNTER_PX);
        if (row.kind !== 'track')
            return;
        const {track} = row;
        let at = y + 2;
        if (row.marks.length)
            painter.marks(row.marks, at);
        at += row.top || 0;
        if (track.bins)
            painter.bins(track.bins, at, TRACK_PX - 2);
        track.laneItems.forEach((lane, k) => painter.lane(this.recording, track, lane, at + k * TRACK_PX, TRACK_PX - 2, strength));
        for (const [item, colour] of [[this.hover, this.palette['text-dim']], [this.selected, this.palette['pin-strong']]])
            if (item && item.track === track)
                this.paintFrame(c, painter, track, item.i, at + track.lanes[item.i] * TRACK_PX, colour, item === this.selected);
    }

    paintFrame(c, painter, track, i, y, colour, strong) {
        const x0 = painter.x(track.starts[i]), x1 = Math.max(x0 + 2, painter.x(track.ends[i]));
        c.strokeStyle = colour;
        c.lineWidth = strong ? 2 : 1;
        c.strokeRect(Math.max(LABEL_PX, x0) - .5, y - .5, Math.min(this.width, x1) - Math.max(LABEL_PX, x0), TRACK_PX - 1);
        c.lineWidth = 1;
    }

    paintPauses(c, painter, height) {
        c.fillStyle = this.palette['text-faint'];
        c.globalAlpha = .12;
        for (const p of this.recording.pauses) {
            const x0 = Math.max(LABEL_PX, painter.x(p.start)), x1 = Math.min(this.width, painter.x(p.end));
            if (x1 > x0)
                c.fillRect(x0, AXIS_PX, x1 - x0, height);
        }
        c.globalAlpha = 1;
    }

    paintLabels(c, top, height) {
        c.fillStyle = this.palette.bg;
        c.fillRect(0, AXIS_PX, LABEL_PX - 1, height);
        c.textBaseline = 'middle';
        for (const row of this.layout.rows) {
            const y = row.y - top + AXIS_PX;
            if (y + row.height < AXIS_PX || y > height)
                continue;
            if (row.kind === 'head' || row.kind === 'subhead') {
                const head = row.kind === 'head';
                if (head) {
                    c.fillStyle = this.palette['bg-bar'];
                    c.fillRect(0, y, LABEL_PX, row.height - 2);
                }
                this.text(c, row.text, 10, y + row.height / 2, head ? this.width - 20 : LABEL_PX - 14, head ? '600 12px' : '600 10.5px', head ? 'text' : 'text-faint');
            } else if (row.kind === 'memory') {
                this.text(c, 'Memory', 14, y + 14, 90, '12px', 'text');
                this.text(c, 'peak ' + sizeText(row.memory.peak), 14, y + 30, LABEL_PX - 20, '10.5px', 'text-faint');
            } else if (row.kind === 'counter') {
                this.text(c, visible(row.counter.name), 14, y + 9, LABEL_PX - 20, '11.5px', 'text');
                this.text(c, 'up to ' + metricText(row.counter.most, row.counter.units), 14, y + 22, LABEL_PX - 20, '10px', 'text-faint');
            } else {
                this.text(c, visible(row.track.title), 14, y + 10 + (row.top || 0), LABEL_PX - 84, '12px', 'text');
                this.text(c, row.track.subtitle, LABEL_PX - 10, y + 10 + (row.top || 0), 64, '10.5px', 'text-faint', true);
            }
        }
        c.fillStyle = this.palette.line;
        c.fillRect(LABEL_PX - 1, AXIS_PX, 1, height);
    }

    text(c, text, x, y, room, font, colour, right) {
        c.font = `${font} ${this.palette.sans}`;
        c.fillStyle = this.palette[colour];
        const key = `${font}/${Math.round(room)}/${text}`;
        let shown = this.labels.get(key);
        if (shown === undefined) {
            shown = text;
            while (shown.length > 2 && c.measureText(shown).width > room)
                shown = shown.slice(0, Math.max(1, Math.floor(shown.length * .85) - 1)) + '\u2026';
            this.labels.set(key, shown);
        }
        c.textAlign = right ? 'right' : 'left';
        c.fillText(shown, x, y);
        c.textAlign = 'left';
    }

    /* From the selection; all of those in view where they are wanted. */
    paintFlows(c, painter, top) {
        const rows = new Map(this.layout.rows.filter(r => r.track).map(r => [r.track, r]));
        const y = (track, lane) => rows.get(track).y - top + AXIS_PX + 2 + (rows.get(track).top || 0) + lane * TRACK_PX + TRACK_PX / 2;
        const arrow = (track, i) => {
            const thread = this.recording.tracks[track.field(i, 4)];
            if (!thread || !rows.has(thread))
                return;
            const x0 = painter.x(track.starts[i] - track.field(i, 5)), x1 = painter.x(track.starts[i]), middle = (x0 + x1) / 2;
            c.beginPath();
            c.moveTo(x0, y(thread, 0));
            c.bezierCurveTo(middle, y(thread, 0), middle, y(track, track.lanes[i]), x1, y(track, track.lanes[i]));
            c.stroke();
        };
        c.save();
        c.beginPath();
        c.rect(LABEL_PX, AXIS_PX, this.width, this.canvas.clientHeight);
        c.clip();
        if (this.flows) {
            c.strokeStyle = this.palette['text-faint'];
            c.globalAlpha = .35;
            for (const track of this.recording.tracks)
                for (const lane of isThread(track) ? [] : track.laneItems) {
                    const first = lowerBound(lane.ends, this.from), end = lowerBound(lane.starts, this.to);
                    const step = Math.max(1, Math.floor((end - first) / 300));
                    for (let k = first; k < end; k += step)
                        arrow(track, lane.items[k]);
                }
            c.globalAlpha = 1;
        }
        c.strokeStyle = this.palette['pin-strong'];
        c.lineWidth = 1.5;
        if (this.selected && !isThread(this.selected.track))
            arrow(this.selected.track, this.selected.i);
        else if (this.selected)
            for (const [track, i] of this.recording.executionsOf(this.selected.track.index, this.selected.track.field(this.selected.i, 5)).slice(0, 200))
                arrow(track, i);
        c.restore();
    }

    paintRange(c, height) {
        if (!this.range)
            return;
        const [a, b] = [Math.min(...this.range), Math.max(...this.range)];
        c.fillStyle = this.palette.accent;
        c.globalAlpha = .14;
        c.fillRect(a, 0, b - a, height);
        c.globalAlpha = 1;
        this.text(c, duration(this.timeAt(b) - this.timeAt(a)), (a + b) / 2 - 20, AXIS_PX + 12, 200, '600 12px', 'accent');
    }

    /* All of the time: how busy devices (above) and threads (below) are. Drawn once per size. */
    paintOverview() {
        const sized = sizedContext(this.overview);
        if (!sized)
            return;
        const {context: c, width, height} = sized;
        if (!this.overviewImage)
            this.overviewImage = this.makeOverview(Math.max(1, Math.round(width)), height);
        c.drawImage(this.overviewImage, 0, 0, width, height);
        const span = this.recording.span, x0 = this.from / span * width, x1 = this.to / span * width;
        c.fillStyle = this.palette.bg;
        c.globalAlpha = .6;
        c.fillRect(0, 0, x0, height);
        c.fillRect(x1, 0, width, height);
        c.globalAlpha = 1;
        c.strokeStyle = this.palette.accent;
        c.strokeRect(Math.max(.5, x0), .5, Math.max(3, Math.min(width - 1, x1) - Math.max(.5, x0)), height - 1);
    }

    makeOverview(width, height) {
        const image = document.createElement('canvas'), c = image.getContext('2d'), busy = this.busy(width), half = height / 2;
        image.width = width;
        image.height = height;
        for (const [sums, colour, alpha, up] of [[busy.queue, this.palette.accent, .75, true], [busy.thread, this.palette['text-faint'], .6, false]]) {
            c.fillStyle = colour;
            c.globalAlpha = alpha;
            for (let x = 0; x < width; x++)
                c.fillRect(x, up ? half - (half - 4) * sums[x] : half + 1, 1, (half - 4) * sums[x]);
        }
        return image;
    }

    busy(width) {
        const found = {width, queue: new Float64Array(width), thread: new Float64Array(width)}, px = this.recording.span / width;
        for (const track of this.recording.tracks) {
            const sums = found[track.kind], own = new Float64Array(width);
            const add = (start, end) => {
                for (let x = clamp(Math.floor(start / px), 0, width - 1); x < width && x * px < end; x++)
                    own[x] += Math.max(0, Math.min(end, (x + 1) * px) - Math.max(start, x * px)) / px;
            };
            for (let i = 0; i < track.n; i++)
                if (!isThread(track) || track.lanes[i] === 0)
                    add(track.starts[i], track.ends[i]);
            for (let i = 0; track.bins && i < track.bins.busy.length; i++)
                if (track.bins.busy[i])
                    add(track.bins.start + i * track.bins.width, track.bins.start + i * track.bins.width + Math.min(track.bins.width, track.bins.busy[i]));
            for (let x = 0; x < width; x++)
                sums[x] = Math.max(sums[x], Math.min(1, own[x]));
        }
        return found;
    }

    /* ---- mouse and touch ---- */

    itemAt(x, y) {
        const top = y - AXIS_PX + this.scroller.scrollTop;
        const row = x > LABEL_PX && y > AXIS_PX && this.layout.rows.find(r => r.track && top >= r.y && top < r.y + r.height);
        const lane = row && row.track.laneItems[Math.floor((top - row.y - 2 - (row.top || 0)) / TRACK_PX)];
        if (!lane)
            return null;
        const slack = 2 / this.scale, time = this.timeAt(x), from = Math.max(0, lowerBound(lane.starts, time + slack) - 1);
        let best = null, least = Infinity;
        for (let k = from; k >= 0 && k > from - 40; k--) {
            const i = lane.items[k], away = Math.max(0, row.track.starts[i] - time, time - row.track.ends[i]);
            if (away <= slack && away < least) {
                best = {track: row.track, i};
                least = away;
            }
        }
        return best;
    }

    listen() {
        const canvas = this.canvas;
        let drag = null;
        const at = event => {
            const box = canvas.getBoundingClientRect();
            return [event.clientX - box.left, event.clientY - box.top];
        };
        canvas.addEventListener('pointerdown', event => {
            const [x, y] = at(event);
            if (event.button !== 0)
                return;
            canvas.setPointerCapture(event.pointerId);
            drag = {x, y, from: this.from, to: this.to, top: this.scroller.scrollTop, moved: false, ranges: event.shiftKey || y < AXIS_PX};
        });
        canvas.addEventListener('pointermove', event => {
            const [x, y] = at(event);
            if (!drag) {
                this.point(x, y);
                return;
            }
            drag.moved = drag.moved || Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4;
            if (!drag.moved)
                return;
            canvas.classList.add(drag.ranges ? 'ranging' : 'panning');
            if (drag.ranges) {
                this.range = [Math.max(LABEL_PX, drag.x), Math.max(LABEL_PX, x)];
                this.draw();
            } else {
                const moved = (drag.x - x) / this.scale;
                this.scroller.scrollTop = drag.top + drag.y - y;
                this.show(drag.from + moved, drag.to + moved);
            }
        });
        const end = event => {
            if (!drag)
                return;
            const [x, y] = at(event), range = this.range;
            canvas.classList.remove('ranging', 'panning');
            if (range)
                this.show(this.timeAt(Math.min(...range)), this.timeAt(Math.max(...range)));
            else if (!drag.moved && event.type === 'pointerup') {
                const item = this.itemAt(x, y);
                this.select(item && item.track, item && item.i);
            }
            this.range = null;
            drag = null;
            this.draw();
        };
        canvas.addEventListener('pointerup', end);
        canvas.addEventListener('pointercancel', end);
        canvas.addEventListener('pointerleave', () => this.point(-1, -1));
        canvas.addEventListener('dblclick', () => this.zoomToSelected());
        canvas.addEventListener('wheel', event => {
            const [x] = at(event), unit = event.deltaMode === 1 ? 16 : 1;
            const scrolls = this.layout.height + AXIS_PX > this.scroller.clientHeight + 1;
            if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
                this.pan((event.deltaX || event.deltaY) * unit / 1000);
            else if (event.ctrlKey || event.metaKey || !scrolls || x > LABEL_PX && !event.altKey)
                this.zoom(Math.exp(event.deltaY * unit / 500), x);
            else
                return;
            event.preventDefault();
        }, {passive: false});
        this.scroller.addEventListener('scroll', () => this.draw(), {passive: true});
        this.listenOverview();
    }

    listenOverview() {
        const move = event => {
            if (!(event.buttons & 1))
                return;
            const box = this.overview.getBoundingClientRect(), time = (event.clientX - box.left) / box.width * this.recording.span;
            const half = (this.to - this.from) / 2;
            this.show(time - half, time + half);
        };
        this.overview.addEventListener('pointerdown', event => {
            this.overview.setPointerCapture(event.pointerId);
            move(event);
        });
        this.overview.addEventListener('pointermove', move);
    }

    /* The report of a metric under the pointer. */
    counterAt(x, y) {
        const top = y - AXIS_PX + this.scroller.scrollTop;
        const row = x > LABEL_PX && y > AXIS_PX && this.layout.rows.find(r => r.counter && top >= r.y && top < r.y + r.height);
        const time = this.timeAt(x), slack = 2 / this.scale;
        for (let i = row ? lowerBound(row.counter.starts, time + slack) - 1 : -1, k = 0; i >= 0 && k < 16; i--, k++)
            if (row.counter.ends[i] + slack >= time)
                return {counter: row.counter, i};
        return null;
    }

    /* True: the pointer is on one, and its value is shown. */
    pointCounter(x, y) {
        const on = this.counterAt(x, y), same = on && this.overCounter && this.overCounter.counter === on.counter && this.overCounter.i === on.i;
        if (same || (!on && !this.overCounter))
            return Boolean(on);
        this.overCounter = on;
        hideTip();
        if (on) {
            const {counter: m, i} = on, box = this.canvas.getBoundingClientRect();
            const place = {getBoundingClientRect: () => new DOMRect(box.left + x, box.top + y, 1, 8)};
            showTip(place, `${visible(m.name)}: ${metricText(m.values[i], m.units)}\n${m.perPoint > 1 ? `the most of ${m.perPoint} reports, ` : ''}${duration(m.ends[i] - m.starts[i])} at ${duration(m.starts[i])}`);
        }
        return Boolean(on);
    }

    point(x, y) {
        if (this.pointCounter(x, y))
            return;
        const item = this.itemAt(x, y);
        if (item ? this.hover && this.hover.track === item.track && this.hover.i === item.i : !this.hover)
            return;
        this.hover = item;
        this.canvas.classList.toggle('over', Boolean(item));
        hideTip();
        if (item) {
            const box = this.canvas.getBoundingClientRect();
            const place = {getBoundingClientRect: () => new DOMRect(box.left + x, box.top + y, 1, 8)};
            showTip(place, `${visible(this.recording.name(item.track, item.i))}\n${duration(item.track.duration(item.i))} at ${duration(item.track.starts[item.i])}`);
        }
        this.draw();
    }

    recolour() {
        this.palette.read();
        this.overviewImage = null;
        this.draw();
    }
}
