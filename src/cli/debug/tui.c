/* SPDX-License-Identifier: MIT */
#include "cli/debug/tui.h"
#include "cli/debug/screen.h"
#include "cli/debug/signals.h"

#include "base/text.h"
#include "cli/debug/term.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum {
    ROWS_MIN = 14, /* of the terminal */
    COLUMNS_MIN = 40,
    LINES_MIN = 6, /* for what is typed */
    SIDE_MIN = 30, /* columns of the pane at the right */
    CODE_MAX = 256,
    REGISTERS_MAX = 512,
};

enum layout { LAYOUT_SRC, LAYOUT_ASM, LAYOUT_SPLIT, LAYOUT_REGS, LAYOUT_COUNT };
static const char *const layout_names[LAYOUT_COUNT] = {"src", "asm", "split", "regs"};

/* One terminal in a process. */
static struct {
    bool on;
    enum layout layout;
    unsigned rows, columns;
    unsigned height;     /* rows of the panes; below them are the lines */
    unsigned side;       /* columns of the right pane, 0: none */
    int scrolled;        /* lines, from where the pane would be */
    uint64_t stopped_va; /* what it was scrolled at */
} tui;

static void write_all(const struct zs_buf *out)
{
    fflush(stdout);
    for (size_t at = 0; !out->error && at < out->size_B;) {
        ssize_t n = write(STDOUT_FILENO, out->data + at, out->size_B - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
}

/* ---- text in cells ---- */

/* Clean text cut or filled to a number of columns. */
static void put_cells(struct zs_buf *out, const char *text, unsigned columns)
{
    struct zs_buf flat = {0}, clean = {0};
    for (; *text; text++) {
        if (*text == '\t')
            zs_buf_puts(&flat, "    ");
        else
            zs_buf_putc(&flat, *text);
    }
    zs_text_puts(&clean, zs_buf_cstr(&flat));
    const char *at = zs_buf_cstr(&clean);
    size_t left = strlen(at);
    mbstate_t state = {0};
    unsigned used = 0;
    while (left && used < columns) {
        wchar_t c;
        size_t n = mbrtowc(&c, at, left, &state);
        int width = n && n < (size_t)-2 ? wcwidth(c) : -1;
        if (width < 0) { /* no character of this locale */
            memset(&state, 0, sizeof(state));
            zs_buf_putc(out, '?');
            n = 1;
            width = 1;
        } else if (used + (unsigned)width > columns) {
            break;
        } else {
            zs_buf_append(out, at, n);
        }
        used += (unsigned)width;
        at += n;
        left -= n;
    }
    zs_buf_printf(out, "%*s", (int)(columns - used), "");
    zs_buf_fini(&flat);
    zs_buf_fini(&clean);
}

struct pane {
    struct zs_buf *out;
    unsigned row, column, rows, columns;
    unsigned used;
};

static void put_row(struct pane *p, const char *text, enum zs_term_tone tone)
{
    if (p->used >= p->rows)
        return;
    zs_term_at(p->out, p->row + p->used++, p->column);
    if (tone != ZS_TERM_PLAIN)
        zs_term_tone(p->out, tone);
    put_cells(p->out, text, p->columns);
    if (tone != ZS_TERM_PLAIN)
        zs_term_tone(p->out, ZS_TERM_PLAIN);
}

static void put_rowf(struct pane *p, enum zs_term_tone tone, const char *format, ...)
    ZS_PRINTF(3, 4);

static void put_rowf(struct pane *p, enum zs_term_tone tone, const char *format, ...)
{
    struct zs_buf text = {0};
    va_list args;
    va_start(args, format);
    zs_buf_vprintf(&text, format, args);
    va_end(args);
    put_row(p, zs_buf_cstr(&text), tone);
    zs_buf_fini(&text);
}

static void fill(struct pane *p)
{
    while (p->used < p->rows)
        put_row(p, "", ZS_TERM_PLAIN);
}

/* ---- panes ---- */

struct view {
    struct zs_shell *shell;
    struct zs_shell_focus focus;
    const struct zs_debug_thread *thread; /* NULL: nothing has stopped */
    struct zs_debug_frame frame;
};

static struct view look(struct zs_shell *s)
{
    struct view v = {.shell = s, .focus = zs_shell_focus(s)};
    struct zs_debug_frame frames[ZS_DEBUG_FRAMES_MAX];
    v.thread = zs_debug_thread(s->debug, v.focus.thread);
    int count =
        v.thread ? zs_debug_frames(s->debug, v.focus.thread, frames, ZS_DEBUG_FRAMES_MAX, NULL) : 0;
    if (count > 0 && v.focus.frame < (uint32_t)count)
        v.frame = frames[v.focus.frame];
    return v;
}

static const char *nothing(const struct view *v)
{
    if (!zs_debug_pid(v->shell->debug))
        return v->shell->app ? "Nothing is being debugged: `run` starts the application."
                             : "Nothing is being debugged.";
    return zs_debug_stopped(v->shell->debug) ? "No kernel runs: `continue` goes on."
                                             : "It runs: `continue` waits for a stop.";
}

/* 'B' and 'b': a breakpoint that is on, off. */
static char breakpoint_at(const struct view *v, const char *file, uint32_t line, uint64_t va)
{
    const struct zs_debug_breakpoint *b;
    char mark = ' ';
    for (size_t i = 0; (b = zs_debug_break_get(v->shell->debug, i)); i++)
        for (uint32_t p = 0; p < b->place_count; p++) {
            const struct zs_debug_place *place = &b->places[p];
            bool here = file ? place->line == line && place->file && !strcmp(place->file, file)
                             : place->gpu_va == va;
            if (here && mark != 'B')
                mark = b->enabled ? 'B' : 'b';
        }
    return mark;
}

static void draw_source(const struct view *v, struct pane p)
{
    const char *file = v->frame.file;
    const struct zs_source *source = file ? zs_debug_source(v->shell->debug, file) : NULL;
    size_t length = file ? strlen(file) : 0,
           cut = length > p.columns - 1 ? length - p.columns + 1 : 0;
    put_rowf(&p, ZS_TERM_REVERSE, " %s", file ? file + cut : "source");
    if (!source || !source->found) {
        put_row(&p, "", ZS_TERM_PLAIN);
        put_rowf(&p, ZS_TERM_PLAIN, "  %s",
                 !v->thread               ? nothing(v)
                 : source && source->note ? source->note
                 : v->frame.function[0]   ? "No debug info: build the module with -g."
                                          : "No code of a kernel.");
        fill(&p);
        return;
    }
    int64_t room = (int64_t)p.rows - 1;
    int64_t first = (int64_t)v->frame.line - room / 2 + tui.scrolled;
    first = ZS_MAX(ZS_MIN(first, (int64_t)source->line_count - room + 1), 1);
    for (int64_t line = first; line < first + room && line <= (int64_t)source->line_count; line++) {
        struct zs_span text = zs_source_line(source, (uint32_t)line);
        bool current = line == (int64_t)v->frame.line;
        put_rowf(&p, current ? ZS_TERM_STRONG : ZS_TERM_PLAIN, "%c%c %4" PRId64 "  %.*s",
                 breakpoint_at(v, file, (uint32_t)line, 0), current ? '>' : ' ', line,
                 (int)text.size_B, (const char *)text.data);
    }
    fill(&p);
}

/* Instructions stand in columns, which are wider than panes. */
static void squeeze(char *text)
{
    char *out = text;
    for (const char *at = text; *at; at++)
        if (*at != ' ' || at[1] != ' ')
            *out++ = *at;
    *out = '\0';
}

static void draw_code(const struct view *v, struct pane p)
{
    struct zs_debug_inst *insts = calloc(CODE_MAX, sizeof(*insts));
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    uint64_t va = v->thread ? (v->frame.gpu_va ? v->frame.gpu_va : v->thread->gpu_va) : 0;
    uint32_t room = ZS_MIN(p.rows - 1, (uint32_t)CODE_MAX);
    int count =
        insts && va ? zs_debug_disassemble(v->shell->debug, va, room / 3, insts, room, &diag) : 0;
    put_rowf(&p, ZS_TERM_REVERSE, " %s",
             v->thread && v->thread->kernel ? v->thread->kernel : "code");
    if (count <= 0)
        put_rowf(&p, ZS_TERM_PLAIN, "  %s", v->thread ? diag.text : nothing(v));
    for (int i = 0; i < count; i++) {
        bool current = insts[i].gpu_va == va;
        squeeze(insts[i].text);
        put_rowf(&p, current ? ZS_TERM_STRONG : ZS_TERM_PLAIN, "%c%c +%#06x %s",
                 breakpoint_at(v, NULL, 0, insts[i].gpu_va), current ? '>' : ' ', insts[i].offset_B,
                 insts[i].text);
    }
    free(insts);
    fill(&p);
}

/* Lanes of the thread: the one in focus in brackets, '.' for those that wait elsewhere. */
static void draw_lanes(const struct view *v, struct pane *p)
{
    struct zs_buf text = {0};
    zs_buf_puts(&text, "lanes ");
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(v->thread->lanes >> lane & 1))
            continue;
        bool focus = lane == v->focus.lane, runs = v->thread->running >> lane & 1;
        if (text.size_B + 5 > p->columns) {
            put_row(p, zs_buf_cstr(&text), ZS_TERM_PLAIN);
            text.size_B = 0;
            zs_buf_puts(&text, "      ");
        }
        zs_buf_putc(&text, focus ? '[' : ' ');
        zs_buf_printf(&text, runs ? "%u" : focus ? "%u." : ".", lane);
        zs_buf_puts(&text, focus ? "]" : "");
    }
    put_row(p, zs_buf_cstr(&text), ZS_TERM_PLAIN);
    zs_buf_fini(&text);
}

static void draw_variables(const struct view *v, struct pane *p)
{
    struct zs_debug_value **values;
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    uint32_t count = 0;
    if (zs_debug_variables(v->shell->debug, v->focus.thread, v->focus.lane, v->focus.frame, &values,
                           &count, &diag))
        put_row(p, diag.text, ZS_TERM_PLAIN);
    for (uint32_t i = 0; i < count; i++)
        put_rowf(p, ZS_TERM_PLAIN, "%s = %s", values[i]->name, values[i]->text);
}

static void draw_registers(const struct view *v, struct pane *p)
{
    struct zs_debug_register *all = calloc(REGISTERS_MAX, sizeof(*all));
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    int count =
        all ? zs_debug_registers(v->shell->debug, v->focus.thread, all, REGISTERS_MAX, &diag) : 0;
    for (int i = 0; i < count && i < REGISTERS_MAX; i++) {
        struct zs_buf text = {0};
        zs_buf_printf(&text, "%-5s", all[i].name);
        for (uint32_t b = 0; b + 4 <= all[i].size_B && b < sizeof(all[i].bytes); b += 4) {
            uint32_t word;
            memcpy(&word, all[i].bytes + b, 4);
            zs_buf_printf(&text, " %08x", word);
        }
        put_row(p, zs_buf_cstr(&text), ZS_TERM_PLAIN);
        zs_buf_fini(&text);
    }
    free(all);
}

static void draw_side(const struct view *v, struct pane p)
{
    const struct zs_debug_thread *t = v->thread;
    if (!t) {
        put_row(&p, " variables", ZS_TERM_REVERSE);
        fill(&p);
        return;
    }
    if (t->group_known)
        put_rowf(&p, ZS_TERM_REVERSE, " thread %u, group %u,%u,%u", t->id, t->group[0], t->group[1],
                 t->group[2]);
    else
        put_rowf(&p, ZS_TERM_REVERSE, " thread %u", t->id);
    put_rowf(&p, ZS_TERM_STRONG, "%s%s", v->frame.function ? v->frame.function : "",
             v->frame.inlined ? " (inlined)" : "");
    draw_lanes(v, &p);
    if (tui.layout == LAYOUT_REGS)
        draw_registers(v, &p);
    else
        draw_variables(v, &p);
    fill(&p);
}

/* Panes at the left are above each other. */
static void draw_panes(const struct view *v, struct zs_buf *out)
{
    unsigned left = tui.columns - (tui.side ? tui.side + 1 : 0), rows = tui.height - 1;
    unsigned upper = tui.layout == LAYOUT_SPLIT ? rows / 2 : rows;
    struct pane p = {.out = out, .rows = upper, .columns = left};
    if (tui.layout == LAYOUT_ASM)
        draw_code(v, p);
    else
        draw_source(v, p);
    if (tui.layout == LAYOUT_SPLIT)
        draw_code(v,
                  (struct pane){.out = out, .row = upper, .rows = rows - upper, .columns = left});
    if (tui.side) {
        struct pane edge = {.out = out, .column = left, .rows = rows, .columns = 1};
        while (edge.used < edge.rows)
            put_row(&edge, "|", ZS_TERM_PLAIN);
        draw_side(v,
                  (struct pane){.out = out, .column = left + 1, .rows = rows, .columns = tui.side});
    }
    struct pane bar = {.out = out, .row = rows, .rows = 1, .columns = tui.columns};
    put_rowf(&bar, ZS_TERM_REVERSE, " layout %s  |  Ctrl-X A leaves, PgUp and PgDn scroll",
             layout_names[tui.layout]);
}

/* ---- the screen ---- */

/* False: it is too small. */
static bool measure(void)
{
    zs_term_size(&tui.rows, &tui.columns);
    if (tui.rows < ROWS_MIN || tui.columns < COLUMNS_MIN)
        return false;
    unsigned lines = ZS_MAX((unsigned)LINES_MIN, tui.rows / 3);
    tui.height = tui.rows - lines;
    tui.side = tui.columns >= 2 * SIDE_MIN ? ZS_MAX(tui.columns * 2 / 5, (unsigned)SIDE_MIN) : 0;
    return true;
}

void zs_tui_draw(struct zs_shell *s, bool all)
{
    struct zs_buf out = {0};
    if (!tui.on)
        return;
    if (all && !measure()) {
        zs_tui_disable();
        zs_shell_error(s,
                       "the terminal has become too small for panes: tui enable brings them back");
        return;
    }
    struct view v = look(s);
    uint64_t va = v.thread ? v.thread->gpu_va + v.frame.line : 0;
    if (va != tui.stopped_va)
        tui.scrolled = 0;
    tui.stopped_va = va;
    if (all) {
        zs_term_leave(&out, tui.rows);
        zs_screen_keep(&out);
        out.size_B = 0;
        zs_term_enter(&out, tui.height, tui.rows);
    }
    zs_term_begin(&out);
    draw_panes(&v, &out);
    zs_term_end(&out);
    write_all(&out);
    zs_buf_fini(&out);
}

void zs_tui_idle(struct zs_shell *shell)
{
    if (!zs_signals.resized && !zs_signals.continued)
        return;
    zs_signals.resized = zs_signals.continued = 0;
    zs_tui_draw(shell, true);
}

bool zs_tui_enable(struct zs_shell *s)
{
    const char *why = "with --batch there is nobody to look at it";
    if (tui.on)
        return true;
    if (s->in == stdin || !zs_term_open(&why)) {
        zs_shell_error(s, "no panes can be shown: %s", why);
        return false;
    }
    if (!measure()) {
        zs_shell_error(s,
                       "no panes can be shown: the terminal has %u columns and %u rows, %d and %d "
                       "are needed",
                       tui.columns, tui.rows, COLUMNS_MIN, ROWS_MIN);
        return false;
    }
    tui.on = true;
    zs_tui_draw(s, true);
    return true;
}

void zs_tui_disable(void)
{
    struct zs_buf out = {0};
    if (!tui.on)
        return;
    tui.on = false;
    zs_screen_keep(NULL);
    zs_term_leave(&out, tui.rows);
    write_all(&out);
    zs_buf_fini(&out);
}

void zs_tui_toggle(struct zs_shell *s)
{
    if (tui.on)
        zs_tui_disable();
    else
        zs_tui_enable(s);
}

void zs_tui_scroll(struct zs_shell *s, int pages)
{
    struct view v = look(s);
    const struct zs_source *source = v.frame.file ? zs_debug_source(s->debug, v.frame.file) : NULL;
    int most = source ? (int)ZS_MIN(source->line_count, (uint32_t)INT16_MAX) : 0;
    int page = (int)tui.height / (tui.layout == LAYOUT_SPLIT ? 3 : 2);
    tui.scrolled = ZS_MAX(ZS_MIN(tui.scrolled + pages * page, most), -most);
    zs_tui_draw(s, false);
}

/* ---- commands ---- */

void zs_shell_do_tui(struct zs_shell *s, const char *args)
{
    if (!args[0] || !strcmp(args, "enable"))
        zs_tui_enable(s);
    else if (!strcmp(args, "disable"))
        zs_tui_disable();
    else
        zs_shell_error(s, "tui enable, tui disable");
}

void zs_shell_do_layout(struct zs_shell *s, const char *args)
{
    size_t n = strlen(args);
    for (int i = 0; n && i < LAYOUT_COUNT; i++)
        if (!strncmp(layout_names[i], args, n)) {
            tui.layout = (enum layout)i;
            tui.scrolled = 0;
            zs_tui_enable(s);
            return;
        }
    if (!strcmp(args, "next")) {
        tui.layout = (enum layout)((tui.layout + 1) % LAYOUT_COUNT);
        zs_tui_enable(s);
    } else {
        zs_shell_error(s, "layout src, asm, split, regs or next");
    }
}

void zs_shell_do_refresh(struct zs_shell *s, const char *args)
{
    (void)args;
    if (tui.on)
        zs_tui_draw(s, true);
}
