/* SPDX-License-Identifier: MIT */
/*
 * Annotated source as text.
 *
 * By source: each file's lines in their order, with their machine code beneath, wherever in the
 * kernel it stands; by address: the code in its order, and the source line above it whenever it
 * changes (as `objdump -S` does). Code of an inlined function stands under the line of that
 * function, with the calls that led there.
 *
 * Whatever comes from the module or a source may hold terminal control sequences: control
 * characters are shown as '?'.
 */
#include "base/buf.h"
#include "base/path.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/annotate.h"
#include "report/columns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAB_COLUMNS = 4, CLASSES_MAX = 12 };

enum style {
    STYLE_TITLE,
    STYLE_FILE,
    STYLE_SOURCE,
    STYLE_DIM,
    STYLE_OFFSET,
    STYLE_SEND,
    STYLE_FLOW,
    STYLE_INLINE,
    STYLE_NOTE,
    STYLE_HOT,
    STYLE_WARM,
    STYLE_COUNT
};

static const char *const style_codes[STYLE_COUNT] = {
    [STYLE_TITLE] = "\033[1;7m", [STYLE_FILE] = "\033[1;4m",  [STYLE_SOURCE] = "\033[1m",
    [STYLE_DIM] = "\033[2m",     [STYLE_OFFSET] = "\033[36m", [STYLE_SEND] = "\033[33m",
    [STYLE_FLOW] = "\033[35m",   [STYLE_INLINE] = "\033[34m", [STYLE_NOTE] = "\033[33m",
    [STYLE_HOT] = "\033[31m",    [STYLE_WARM] = "\033[33m",
};

struct text_writer {
    const struct zs_module_view *view;
    const struct zs_annotate_text_options *options;
    struct zs_buf out;
    const struct zs_code *code;
    struct zs_shown_columns columns;
    uint32_t peak;   /* live registers, with --pressure */
    uint32_t gutter; /* digits of the largest line number */
};

/* ---- pieces ---- */

static void begin_style(struct text_writer *t, enum style style)
{
    if (t->options->color)
        zs_buf_puts(&t->out, style_codes[style]);
}

static void end_style(struct text_writer *t)
{
    if (t->options->color)
        zs_buf_puts(&t->out, "\033[0m");
}

/* Text of the input: tabs as spaces, control characters as '?'. */
static void put_safe(struct text_writer *t, const char *text, size_t size_B)
{
    size_t column = 0;
    for (size_t i = 0; i < size_B; i++) {
        uint8_t c = (uint8_t)text[i];
        bool c1 = c == 0xc2 && i + 1 < size_B && (uint8_t)text[i + 1] < 0xa0;
        if (c == '\t') {
            size_t n = TAB_COLUMNS - column % TAB_COLUMNS;
            zs_buf_pad(&t->out, ' ', n);
            column += n;
            continue;
        }
        i += c1;
        zs_buf_putc(&t->out, c < 0x20 || c == 0x7f || c1 ? '?' : (char)c);
        column++;
    }
}

static void put_string(struct text_writer *t, const char *text)
{
    put_safe(t, text, strlen(text));
}

static void put_note(struct text_writer *t, const char *text)
{
    begin_style(t, STYLE_NOTE);
    zs_buf_puts(&t->out, "note: ");
    put_string(t, text);
    end_style(t);
    zs_buf_putc(&t->out, '\n');
}

/* ---- instructions ---- */

static enum style inst_style(const char *text, size_t size_B)
{
    static const char *const flow[] = {"jmpi",  "if",   "else", "endif", "while",
                                       "break", "cont", "goto", "join",  "call",
                                       "calla", "ret",  "halt", "brc",   "brd"};
    size_t at = 0;
    while (at < size_B && text[at] == ' ')
        at++;
    if (at < size_B && text[at] == '(')
        while (at < size_B && text[at++] != ')')
            ;
    while (at < size_B && text[at] == ' ')
        at++;
    size_t end = at;
    while (end < size_B && text[end] >= 'a' && text[end] <= 'z')
        end++;
    if (end - at >= 4 && memcmp(text + at, "send", 4) == 0)
        return STYLE_SEND;
    for (size_t i = 0; i < ZS_ARRAY_LEN(flow); i++)
        if (strlen(flow[i]) == end - at && memcmp(text + at, flow[i], end - at) == 0)
            return STYLE_FLOW;
    return STYLE_COUNT;
}

/* "live 42" as a bar: eight steps of the registers that the thread has. */
static void put_pressure(struct text_writer *t, uint32_t i)
{
    static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint32_t live = zs_isa_live_grf(t->code->isa, i);
    uint32_t all = ZS_MAX(t->code->kernel->grf_count, 1u);
    uint32_t step = ZS_MIN((live * 8 + all - 1) / all, 8u);
    bool hot = live == t->peak && live;
    if (hot)
        begin_style(t, STYLE_HOT);
    zs_buf_printf(&t->out, "%4u %s ", live, bars[step]);
    if (hot)
        end_style(t);
}

/* Cells of an instruction, or (runs not NULL) of a line. */
static void put_columns(struct text_writer *t, uint32_t i, const struct zs_join_run *runs,
                        uint32_t run_count)
{
    static const enum style styles[] = {
        [ZS_HEAT_NONE] = STYLE_COUNT, [ZS_HEAT_SOME] = STYLE_WARM, [ZS_HEAT_MUCH] = STYLE_HOT};
    for (uint32_t c = 0; c < t->columns.count; c++) {
        const struct zs_shown_column *shown = &t->columns.items[c];
        double most = runs ? shown->most_line : shown->most_inst;
        double v =
            runs ? zs_column_of_runs(shown->column, runs, run_count) : shown->column->values[i];
        enum style style = styles[zs_column_heat(shown, v, most)];
        if (style != STYLE_COUNT)
            begin_style(t, style);
        zs_column_cell(&t->out, shown, v, most);
        if (style != STYLE_COUNT)
            end_style(t);
    }
}

/* As wide as the columns of an instruction, for lines that have none. */
static void put_no_columns(struct text_writer *t)
{
    for (uint32_t c = 0; c < t->columns.count; c++)
        zs_buf_pad(&t->out, ' ', t->columns.items[c].width + 1);
}

/* The left edge of what is no source line; the columns are left open, or filled by the caller. */
static void put_edge(struct text_writer *t)
{
    begin_style(t, STYLE_DIM);
    zs_buf_pad(&t->out, ' ', t->gutter + 1);
    zs_buf_puts(&t->out, "│ ");
    end_style(t);
}

static void put_margin(struct text_writer *t)
{
    put_no_columns(t);
    put_edge(t);
}

static void put_instruction(struct text_writer *t, uint32_t i)
{
    const struct zs_isa_kernel *isa = t->code->isa;
    char text[ZS_ISA_LINE_MAX];
    size_t size_B = zs_isa_inst_line(isa, i, text); /* keeps IGA's columns */
    while (size_B && text[size_B - 1] == ' ')
        size_B--;
    uint32_t offset_B = zs_isa_inst_offset(isa, i);
    if (zs_isa_inst_has_label(isa, i)) {
        put_margin(t);
        begin_style(t, STYLE_FLOW);
        zs_buf_printf(&t->out, "L%u:", offset_B);
        end_style(t);
        zs_buf_putc(&t->out, '\n');
    }
    put_columns(t, i, NULL, 0);
    put_edge(t);
    begin_style(t, STYLE_OFFSET);
    zs_buf_printf(&t->out, "%6x  ", offset_B);
    end_style(t);
    if (t->options->pressure)
        put_pressure(t, i);
    enum style style = inst_style(text, size_B);
    if (style != STYLE_COUNT)
        begin_style(t, style);
    put_safe(t, text, size_B);
    if (style != STYLE_COUNT)
        end_style(t);
    zs_buf_putc(&t->out, '\n');
}

/* ---- what a line's code consists of ---- */

struct tally {
    const char *names[CLASSES_MAX];
    uint32_t counts[CLASSES_MAX];
    uint32_t size;
};

static void add_class(struct tally *tally, const char *name)
{
    for (uint32_t i = 0; i < tally->size; i++) {
        if (tally->names[i] == name) {
            tally->counts[i]++;
            return;
        }
    }
    if (tally->size < CLASSES_MAX) {
        tally->names[tally->size] = name;
        tally->counts[tally->size++] = 1;
    }
}

static void put_mix(struct text_writer *t, const struct zs_join_run *runs, uint32_t run_count)
{
    struct tally tally = {0};
    for (uint32_t r = 0; r < run_count; r++)
        for (uint32_t i = runs[r].first; i < runs[r].first + runs[r].count; i++)
            add_class(&tally, zs_report_inst_class(zs_isa_inst(t->code->isa, i)));
    put_margin(t);
    begin_style(t, STYLE_NOTE);
    zs_buf_puts(&t->out, "  mix: ");
    for (uint32_t i = 0; i < tally.size; i++)
        zs_buf_printf(&t->out, "%s%u %s", i ? ", " : "", tally.counts[i], tally.names[i]);
    end_style(t);
    zs_buf_putc(&t->out, '\n');
}

static void put_sends(struct text_writer *t, const struct zs_join_run *runs, uint32_t run_count)
{
    for (uint32_t r = 0; r < run_count; r++) {
        for (uint32_t i = runs[r].first; i < runs[r].first + runs[r].count; i++) {
            const struct zs_isa_message *message = zs_isa_inst_message(t->code->isa, i);
            if (!message)
                continue;
            put_margin(t);
            begin_style(t, STYLE_SEND);
            zs_buf_printf(&t->out, "  send at %x: ", zs_isa_inst_offset(t->code->isa, i));
            zs_report_message(&t->out, message);
            end_style(t);
            zs_buf_putc(&t->out, '\n');
        }
    }
}

/* "  (12 instructions, 42 registers live at most)" behind a source line. */
static void put_line_summary(struct text_writer *t, const struct zs_join_run *runs,
                             uint32_t run_count)
{
    uint32_t most = 0;
    if (!t->options->pressure)
        return;
    for (uint32_t r = 0; r < run_count; r++)
        for (uint32_t i = runs[r].first; i < runs[r].first + runs[r].count; i++)
            most = ZS_MAX(most, zs_isa_live_grf(t->code->isa, i));
    begin_style(t, STYLE_DIM);
    zs_buf_printf(&t->out, "    ◂ up to %u register%s live", most, zs_plural(most));
    end_style(t);
}

static void put_line_extras(struct text_writer *t, const struct zs_join_run *runs,
                            uint32_t run_count)
{
    if (t->options->mix)
        put_mix(t, runs, run_count);
    if (t->options->sends)
        put_sends(t, runs, run_count);
}

/* ---- source lines and frames ---- */

/* `runs`: the line's code, NULL when it has none. */
static void put_source_line(struct text_writer *t, const struct zs_source *source, uint32_t line,
                            const struct zs_join_run *runs, uint32_t run_count)
{
    if (runs)
        put_columns(t, 0, runs, run_count);
    else
        put_no_columns(t);
    begin_style(t, runs ? STYLE_SOURCE : STYLE_DIM);
    zs_buf_printf(&t->out, "%*u │ ", (int)t->gutter, line);
    struct zs_span text = source ? zs_source_line(source, line) : (struct zs_span){0};
    put_safe(t, (const char *)text.data, text.size_B);
    end_style(t);
}

/* "    inlined: norm1 <- dist (a.h:6) <- k1 (k.cl:16)"; nothing for the kernel's own code. */
static void put_inline_stack(struct text_writer *t, uint32_t frame)
{
    const struct zs_dwarf_kernel *info = t->code->info;
    if (frame == ZS_NO_INDEX || info->frames[frame].parent == ZS_NO_INDEX)
        return;
    put_margin(t);
    begin_style(t, STYLE_INLINE);
    zs_buf_puts(&t->out, "  ⤷ inlined ");
    put_string(t, info->frames[frame].function);
    for (uint32_t depth = 0; depth < 64 && info->frames[frame].parent != ZS_NO_INDEX; depth++) {
        const struct zs_frame *f = &info->frames[frame];
        zs_buf_puts(&t->out, " ← ");
        put_string(t, info->frames[f->parent].function);
        if (f->call_file != ZS_NO_INDEX && f->call_line) {
            zs_buf_puts(&t->out, " (");
            put_string(t, zs_path_base_name(info->files[f->call_file].path));
            zs_buf_printf(&t->out, ":%u", f->call_line);
            if (f->call_column)
                zs_buf_printf(&t->out, ":%u", f->call_column);
            zs_buf_puts(&t->out, ")");
        }
        frame = f->parent;
    }
    end_style(t);
    zs_buf_putc(&t->out, '\n');
}

static const struct zs_source *file_source(struct text_writer *t, uint32_t file)
{
    return t->view->sources ? zs_sources_get(t->view->sources, &t->code->info->files[file]) : NULL;
}

static void put_file_header(struct text_writer *t, uint32_t file, const struct zs_source *source)
{
    const char *path = t->code->info->files[file].path;
    zs_buf_putc(&t->out, '\n');
    begin_style(t, STYLE_FILE);
    put_string(t, path);
    end_style(t);
    if (source && source->found && strcmp(source->found, path) != 0) {
        begin_style(t, STYLE_DIM);
        zs_buf_puts(&t->out, "  (read from ");
        put_string(t, source->found);
        zs_buf_putc(&t->out, ')');
        end_style(t);
    }
    zs_buf_putc(&t->out, '\n');
    if (source && source->note)
        put_note(t, source->note);
}

/* ---- by source ---- */

static void put_runs(struct text_writer *t, const struct zs_join_run *runs, uint32_t run_count)
{
    uint32_t frame = ZS_NO_INDEX;
    bool first = true;
    for (uint32_t r = 0; r < run_count; r++) {
        if (r) { /* other lines' code lies between */
            put_margin(t);
            begin_style(t, STYLE_DIM);
            zs_buf_puts(&t->out, "     ┄\n");
            end_style(t);
        }
        for (uint32_t i = runs[r].first; i < runs[r].first + runs[r].count; i++) {
            uint32_t now = zs_code_frame(t->code, i);
            if (first || now != frame)
                put_inline_stack(t, now);
            frame = now;
            first = false;
            put_instruction(t, i);
        }
    }
}

/* Source lines [from, to) that have no code: a few at each end, dots between. */
static void put_gap(struct text_writer *t, const struct zs_source *source, uint32_t from,
                    uint32_t to, bool at_start, bool at_end)
{
    uint32_t context = t->options->context_lines;
    if (!source || !source->found)
        return;
    to = ZS_MIN(to, source->line_count + 1);
    uint32_t head = at_start ? 0 : context, tail = at_end ? 0 : context;
    if (from >= to)
        return;
    uint32_t count = to - from;
    bool all = count <= head + tail + (at_start || at_end ? 0 : 1);
    for (uint32_t i = 0; i < count; i++) {
        if (!all && i >= head && i + tail < count) {
            if (!at_start && !at_end && i == head) {
                put_no_columns(t);
                begin_style(t, STYLE_DIM);
                zs_buf_printf(&t->out, "%*s ┆\n", (int)t->gutter, "");
                end_style(t);
            }
            continue;
        }
        put_source_line(t, source, from + i, NULL, 0);
        zs_buf_putc(&t->out, '\n');
    }
}

static void put_by_source(struct text_writer *t)
{
    const struct zs_join *join = t->code->join;
    for (uint32_t l = 0; l < join->line_count;) {
        uint32_t file = join->lines[l].file, next = 1;
        if (file >= t->code->info->file_count) {
            l++;
            continue;
        }
        const struct zs_source *source = file_source(t, file);
        put_file_header(t, file, source);
        bool first = true;
        for (; l < join->line_count && join->lines[l].file == file; l++) {
            const struct zs_join_line *line = &join->lines[l];
            const struct zs_join_run *runs = &join->runs[line->run_first];
            put_gap(t, source, next, line->line, first, false);
            put_source_line(t, source, line->line, runs, line->run_count);
            put_line_summary(t, runs, line->run_count);
            zs_buf_putc(&t->out, '\n');
            put_line_extras(t, runs, line->run_count);
            put_runs(t, runs, line->run_count);
            next = line->line + 1;
            first = false;
        }
        put_gap(t, source, next, UINT32_MAX, false, true);
    }
}

/* Instructions that no line claims. */
static void put_unclaimed(struct text_writer *t)
{
    uint32_t count = zs_isa_kernel_count(t->code->isa);
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (t->code->join && zs_code_row(t->code, i))
            continue;
        if (!any && t->code->join)
            zs_buf_puts(&t->out, "\ncode without a source line\n");
        any = true;
        put_instruction(t, i);
    }
}

/* ---- by address ---- */

static void put_by_address(struct text_writer *t)
{
    uint32_t count = zs_isa_kernel_count(t->code->isa);
    uint64_t shown = UINT64_MAX;
    uint32_t file = ZS_NO_INDEX, frame = ZS_NO_INDEX;
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_line_row *row = zs_code_row(t->code, i);
        uint64_t key = row ? (uint64_t)row->file << 32 | row->line : UINT64_MAX;
        uint32_t now = zs_code_frame(t->code, i);
        if (row && (key != shown || now != frame)) {
            const struct zs_source *source = file_source(t, row->file);
            if (row->file != file)
                put_file_header(t, row->file, source);
            file = row->file;
            struct zs_join_run run = {i, 1};
            while (run.first + run.count < count && zs_code_frame(t->code, i + run.count) == now) {
                const struct zs_line_row *next = zs_code_row(t->code, i + run.count);
                if (!next || next->file != row->file || next->line != row->line)
                    break;
                run.count++;
            }
            put_source_line(t, source, row->line, &run, 1);
            put_line_summary(t, &run, 1);
            zs_buf_putc(&t->out, '\n');
            put_inline_stack(t, now);
            put_line_extras(t, &run, 1);
        } else if (!row && shown != UINT64_MAX) {
            zs_buf_puts(&t->out, "code without a source line\n");
        }
        shown = key;
        frame = now;
        put_instruction(t, i);
    }
}

/* ---- a kernel ---- */

static void put_title(struct text_writer *t)
{
    const struct zs_kernel *kernel = t->code->kernel;
    begin_style(t, STYLE_TITLE);
    zs_buf_printf(&t->out, " %s ", zs_image_device(t->code->image));
    put_string(t, kernel->name);
    zs_buf_putc(&t->out, ' ');
    end_style(t);
    zs_buf_printf(&t->out, "  SIMD%u, %zu bytes", kernel->simd, kernel->code.size_B);
    if (t->code->isa)
        zs_buf_printf(&t->out, ", %u instruction%s", zs_isa_kernel_count(t->code->isa),
                      zs_plural(zs_isa_kernel_count(t->code->isa)));
    if (t->options->pressure && t->code->isa) {
        uint32_t inst = 0;
        t->peak = zs_isa_live_peak(t->code->isa, &inst);
        zs_buf_printf(&t->out, ", up to %u of %u registers live (at %x)", t->peak,
                      kernel->grf_count, zs_isa_inst_offset(t->code->isa, inst));
    }
    zs_buf_putc(&t->out, '\n');
}

static void put_column_heads(struct text_writer *t)
{
    if (!t->options->pressure && !t->columns.count)
        return;
    begin_style(t, STYLE_DIM);
    for (uint32_t c = 0; c < t->columns.count; c++)
        zs_buf_printf(&t->out, "%*s ", (int)t->columns.items[c].width,
                      t->columns.items[c].column->name);
    end_style(t);
    put_edge(t);
    begin_style(t, STYLE_DIM);
    zs_buf_puts(&t->out, "offset  ");
    if (t->options->pressure)
        zs_buf_puts(&t->out, "live   ");
    end_style(t);
    zs_buf_putc(&t->out, '\n');
}

static uint32_t digits(uint32_t value)
{
    uint32_t n = 1;
    while (value >= 10) {
        value /= 10;
        n++;
    }
    return n;
}

/* ---- the hottest lines ---- */

enum { HOTTEST_LINES = 5 };

struct hot_line {
    const struct zs_join_line *line;
    double sum;
};

/* Lines by the total of the column with heat over their code, the most first. */
static void put_hottest(struct text_writer *t)
{
    const struct zs_code *code = t->code;
    const struct zs_column *column = zs_heat_column(code);
    struct hot_line top[HOTTEST_LINES] = {{0}};
    double all = 0;
    if (!code->join || !column)
        return;
    for (uint32_t i = 0; i < zs_isa_kernel_count(code->isa); i++)
        all += isnan(column->values[i]) ? 0 : column->values[i];
    for (uint32_t l = 0; l < code->join->line_count; l++) {
        const struct zs_join_line *line = &code->join->lines[l];
        struct hot_line hot = {
            line, zs_column_of_runs(column, &code->join->runs[line->run_first], line->run_count)};
        for (size_t k = 0; k < HOTTEST_LINES; k++) {
            if (!(hot.sum > top[k].sum))
                continue;
            struct hot_line pushed = top[k];
            top[k] = hot;
            hot = pushed;
        }
    }
    if (all <= 0)
        return;
    zs_buf_printf(&t->out, "hottest lines by %s %s\n", column->name, column->description);
    for (size_t k = 0; k < HOTTEST_LINES && top[k].sum > 0; k++) {
        zs_buf_printf(&t->out, "  %5.1f%%  ", 100 * top[k].sum / all);
        put_string(t, code->info->files[top[k].line->file].path);
        zs_buf_printf(&t->out, ":%u\n", top[k].line->line);
    }
}

/* What is missing of the columns that were asked for is told once a kernel. */
static int choose_columns(struct text_writer *t)
{
    const char *unknown;
    size_t length = 0;
    int error = zs_shown_columns_init(&t->columns, t->code, t->options->columns, &unknown, &length);
    if (error || !unknown)
        return error;
    struct zs_buf text = {0};
    zs_buf_printf(&text, "there is no column %.*s%s", (int)length, unknown,
                  t->code->column_count ? "; there are:"
                                        : ": a recording with --counts has columns");
    for (uint32_t c = 0; c < t->code->column_count; c++)
        zs_buf_printf(&text, "%s %s", c ? "," : "", t->code->columns[c].name);
    struct zs_missing_columns *missing = t->options->ret_missing;
    if (missing && !missing->kernels++)
        snprintf(missing->text, sizeof(missing->text), "%s", zs_buf_cstr(&text));
    put_note(t, zs_buf_cstr(&text));
    error = text.error;
    zs_buf_fini(&text);
    return error;
}

static int put_kernel(struct text_writer *t, const char *note)
{
    const struct zs_code *code = t->code;
    uint32_t last = 0;
    for (uint32_t l = 0; code->join && l < code->join->line_count; l++)
        last = ZS_MAX(last, code->join->lines[l].line);
    t->gutter = ZS_MAX(digits(last), 5u);
    put_title(t);
    if (code->error)
        put_note(t, code->error);
    if (note)
        put_note(t, note);
    if (!code->isa)
        return 0;
    int error = choose_columns(t);
    if (error)
        return error;
    put_hottest(t);
    put_column_heads(t);
    if (code->join && t->options->by == ZS_BY_SOURCE)
        put_by_source(t);
    if (code->join && t->options->by == ZS_BY_ADDRESS)
        put_by_address(t);
    else
        put_unclaimed(t);
    zs_shown_columns_fini(&t->columns);
    return 0;
}

static int write_kernel(struct text_writer *t, struct zs_annotation *annotation,
                        const struct zs_kernel_ref *ref, uint32_t what)
{
    struct zs_code *code;
    int error = zs_code_open(annotation, ref->image, ref->kernel, what, &code);
    if (error)
        return error;
    const struct zs_column_source *columns = &t->view->columns;
    if (columns->attach)
        error = columns->attach(columns->user, code);
    t->code = code;
    if (!error)
        error = put_kernel(t, zs_kernel_ref_note(ref, code));
    if (columns->release)
        columns->release(columns->user, code);
    zs_code_close(code);
    return error ? error : t->out.error;
}

int zs_report_annotate_text(const struct zs_module_view *view,
                            const struct zs_annotate_text_options *options, zs_write_fn *write,
                            void *user)
{
    struct text_writer t = {.view = view, .options = options};
    struct zs_annotation *annotation;
    uint32_t what = ZS_ISA_TEXT;
    if (options->mix || options->sends)
        what |= ZS_ISA_INSTS;
    if (options->pressure)
        what |= ZS_ISA_LIVENESS;
    int error = zs_annotation_open(view->module, &annotation);
    for (size_t i = 0; !error && i < view->note_count; i++)
        put_note(&t, view->notes[i]);
    for (size_t i = 0; !error && i < view->kernel_count; i++) {
        if (i)
            zs_buf_putc(&t.out, '\n');
        error = write_kernel(&t, annotation, &view->kernels[i], what);
        if (!error)
            error = write(user, t.out.data, t.out.size_B);
        t.out.size_B = 0;
    }
    zs_buf_fini(&t.out);
    zs_annotation_close(annotation);
    return error;
}
