/* SPDX-License-Identifier: MIT */
/* Two sides compared, for a terminal: side by side where there is room, else one below the other.
 */
#include "base/path.h"
#include "base/text.h"
#include "base/utf8.h"
#include "metrics/unit.h"
#include "report/columns.h"
#include "report/compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From so many columns on halves stand beside each other. */
enum { WIDE = 100, NUMBER_WIDTH = 7, LINE_WIDTH = 5, TAB_WIDTH = 4, UNIT_MOST = 7 };
enum { TIMES_FROM = 10 }; /* what grows more is said as a factor, not in per cent */

struct writer {
    const struct zs_compared *compared;
    const struct zs_compare_options *o;
    struct zs_buf out;
    bool has_shares; /* of this kernel's lines */
};

static const char bold[] = "1", dim[] = "2", red[] = "31", green[] = "32", yellow[] = "33";

static void begin(struct writer *w, const char *style)
{
    if (w->o->color && style)
        zs_buf_printf(&w->out, "\033[%sm", style);
}

static void end(struct writer *w, const char *style)
{
    if (w->o->color && style)
        zs_buf_puts(&w->out, "\033[0m");
}

static void put_styled(struct writer *w, const char *style, const char *text)
{
    begin(w, style);
    zs_text_puts(&w->out, text);
    end(w, style);
}

/* As many columns of the text as there are, and blanks behind it; width 0: all, no blanks. */
static void put_fit(struct writer *w, struct zs_span text, size_t width)
{
    size_t column = 0;
    for (size_t i = 0; i < text.size_B && (!width || column < width);) {
        size_t bytes = zs_utf8_length(text.data + i, text.size_B - i);
        size_t cells = text.data[i] == '\t' ? TAB_WIDTH - column % TAB_WIDTH : 1;
        bool is_last = width && column + cells >= width && i + (bytes ? bytes : 1) < text.size_B;
        if (is_last)
            zs_buf_puts(&w->out, "…");
        else if (text.data[i] == '\t')
            zs_buf_pad(&w->out, ' ', cells);
        else
            zs_text_put(&w->out, text.data + i, bytes ? bytes : 1);
        if (is_last)
            cells = width - column;
        column += cells;
        i += bytes ? bytes : 1;
    }
    if (column < width)
        zs_buf_pad(&w->out, ' ', width - column);
}

/* ---- values and findings ---- */

static void put_number(struct writer *w, const struct zs_compared_value *v, int side)
{
    struct zs_buf text = {0};
    bool is_word = strlen(v->unit) > UNIT_MOST; /* "instructions": the name says it */
    zs_unit_put_value(&text, v->of[side], is_word ? "" : v->unit);
    zs_buf_printf(&w->out, "  %14s", zs_buf_cstr(&text));
    zs_buf_fini(&text);
}

static void put_value(struct writer *w, const struct zs_compared_value *v)
{
    double change = v->of[1] - v->of[0];
    bool is_worse = (change > 0) == (v->better == ZS_BETTER_LESS);
    const char *style = v->better == ZS_BETTER_NEITHER || !(fabs(change) > 0) ? NULL
                        : is_worse                                            ? red
                                                                              : green;
    zs_buf_printf(&w->out, "  %-34s", v->name);
    put_number(w, v, ZS_SIDE_A);
    put_number(w, v, ZS_SIDE_B);
    begin(w, style);
    if (fabs(change) > 0 && v->of[0] > 0 && v->of[1] >= TIMES_FROM * v->of[0])
        zs_buf_printf(&w->out, "  %8.3g times", v->of[1] / v->of[0]);
    else if (fabs(change) > 0 && v->of[0] != 0)
        zs_buf_printf(&w->out, "  %+8.1f %%", 100 * change / fabs(v->of[0]));
    else if (fabs(change) > 0)
        zs_buf_puts(&w->out, "  from 0");
    end(w, style);
    zs_buf_putc(&w->out, '\n');
}

static void put_place(struct writer *w, const struct zs_finding *f)
{
    if (!f->place_count || !f->places[0].line)
        return;
    zs_buf_puts(&w->out, ", ");
    zs_text_puts(&w->out, zs_path_base_name(f->places[0].path));
    zs_buf_printf(&w->out, ":%u", f->places[0].line);
}

static void put_gain(struct writer *w, double gain)
{
    if (isnan(gain))
        zs_buf_puts(&w->out, "gain n/a");
    else
        zs_buf_printf(&w->out, "gain %.0f %%", gain);
}

static void put_finding(struct writer *w, const struct zs_compared_finding *f)
{
    bool is_new = !f->of[0], is_gone = !f->of[1];
    const char *style = is_new ? red : is_gone ? green : dim;
    begin(w, style);
    zs_buf_printf(&w->out, "  %-6s", is_new ? "new" : is_gone ? "gone" : "still");
    end(w, style);
    zs_buf_printf(&w->out, "%s, ", f->title);
    put_gain(w, f->gain[is_new]);
    if (!is_new && !is_gone && !isnan(f->gain[0]) && !isnan(f->gain[1]))
        zs_buf_printf(&w->out, " → %.0f %%", f->gain[1]);
    put_place(w, f->of[is_new]);
    zs_buf_putc(&w->out, '\n');
}

static void put_limit(struct writer *w, const struct zs_compared_kernel *k)
{
    const struct zs_analyzed *const *ran = k->ran;
    if (!ran[0] || !ran[1] || (!*ran[0]->limit->by && !*ran[1]->limit->by))
        return;
    zs_buf_puts(&w->out, "  limited by ");
    for (int s = 0; s < ZS_SIDES; s++) {
        zs_buf_puts(&w->out, *ran[s]->limit->by ? ran[s]->limit->by : "n/a");
        if (*ran[s]->limit->by && !isnan(ran[s]->limit->percent))
            zs_buf_printf(&w->out, ", %.0f %%", ran[s]->limit->percent);
        zs_buf_puts(&w->out, s ? "\n" : "  →  ");
    }
}

/* ---- code ---- */

static const char *style_of(enum zs_code_change change)
{
    static const char *const styles[] = {[ZS_CODE_SAME] = dim,
                                         [ZS_CODE_RENAMED] = dim,
                                         [ZS_CODE_CHANGED] = yellow,
                                         [ZS_CODE_A_ALONE] = red,
                                         [ZS_CODE_B_ALONE] = green};
    return styles[change];
}

/* A row of both sides: what stands in front of the text, and the text. */
struct row {
    enum zs_code_change change;
    bool is_there[ZS_SIDES];
    char front[ZS_SIDES][40];
    struct zs_span text[ZS_SIDES];
    const char *style;
};

static void put_half(struct writer *w, const struct row *row, int side, char mark, size_t width)
{
    size_t front = strlen(row->front[0]) > strlen(row->front[1]) ? strlen(row->front[0])
                                                                 : strlen(row->front[1]);
    begin(w, row->style);
    zs_buf_printf(&w->out, "%c%-*s", row->is_there[side] ? mark : ' ', (int)front,
                  row->front[side]);
    put_fit(w, row->text[side], width ? width - front - 1 : 0);
    end(w, row->style);
}

static void put_row(struct writer *w, const struct row *row)
{
    static const char marks[] = {[ZS_CODE_SAME] = ' ',
                                 [ZS_CODE_RENAMED] = ' ',
                                 [ZS_CODE_CHANGED] = '~',
                                 [ZS_CODE_A_ALONE] = '-',
                                 [ZS_CODE_B_ALONE] = '+'};
    char mark = marks[row->change];
    if (w->o->width >= WIDE) {
        size_t half = (w->o->width - 3) / 2;
        put_half(w, row, ZS_SIDE_A, mark, half);
        zs_buf_puts(&w->out, " │ ");
        put_half(w, row, ZS_SIDE_B, mark, half);
        zs_buf_putc(&w->out, '\n');
        return;
    }
    for (int s = 0; s < ZS_SIDES; s++) {
        bool is_told = s && row->is_there[0] && row->change <= ZS_CODE_RENAMED;
        if (!row->is_there[s] || is_told)
            continue;
        char own = mark == '~' ? (s ? '+' : '-') : mark;
        put_half(w, row, s, own, w->o->width);
        zs_buf_putc(&w->out, '\n');
    }
}

static void put_skipped(struct writer *w, size_t count, const char *what)
{
    if (!count)
        return;
    begin(w, dim);
    zs_buf_printf(&w->out, "  ┆ %zu %s%s\n", count, what, zs_plural(count));
    end(w, dim);
}

static void put_inst(struct writer *w, const struct zs_code_diff *d,
                     const struct zs_code_pair *pair)
{
    char text[ZS_SIDES][ZS_ISA_LINE_MAX]; /* without the blanks of IGA's columns */
    struct row row = {.change = pair->change, .style = style_of(pair->change)};
    for (int s = 0; s < ZS_SIDES; s++) {
        uint32_t i = pair->of[s];
        row.is_there[s] = i != ZS_NO_INDEX;
        if (!row.is_there[s])
            continue;
        size_t size_B = zs_isa_inst_text(d->code[s]->isa, i, text[s]), kept = 0;
        for (size_t at = 0; at < size_B; at++)
            if (text[s][at] != ' ' || (kept && text[s][kept - 1] != ' '))
                text[s][kept++] = text[s][at];
        row.text[s] = (struct zs_span){(const uint8_t *)text[s], kept};
        snprintf(row.front[s], sizeof(row.front[s]), "%*s%6x  ", w->has_shares ? NUMBER_WIDTH : 0,
                 "", zs_isa_inst_offset(d->code[s]->isa, i));
    }
    put_row(w, &row);
}

static double share_of(const struct zs_code_diff *d, int side, const struct zs_join_line *line)
{
    const struct zs_column *share = zs_code_diff_column(d, side, "share");
    return line && share ? zs_column_of_runs(share, d->code[side]->join->runs + line->run_first,
                                             line->run_count)
                         : (double)NAN;
}

static void put_line(struct writer *w, const struct zs_code_diff *d,
                     const struct zs_file_pair *file, const struct zs_line_pair *line)
{
    struct row row = {.change = line->change};
    bool has_code = line->code[0] || line->code[1];
    row.style = line->change ? style_of(line->change) : has_code ? bold : dim;
    for (int s = 0; s < ZS_SIDES; s++) {
        double share = share_of(d, s, line->code[s]);
        char number[NUMBER_WIDTH + 1] = "";
        row.is_there[s] = line->line[s];
        if (!row.is_there[s])
            continue;
        if (share > 0)
            snprintf(number, sizeof(number), "%5.1f%%", share);
        snprintf(row.front[s], sizeof(row.front[s]), "%-*s%*u  ", w->has_shares ? NUMBER_WIDTH : 0,
                 number, LINE_WIDTH, line->line[s]);
        if (file->source[s])
            row.text[s] = zs_source_line(file->source[s], line->line[s]);
    }
    put_row(w, &row);
}

/* What is worth a look: other text near code, other code, another share of the time. */
static bool is_interesting(const struct writer *w, const struct zs_code_diff *d,
                           const struct zs_line_pair *line)
{
    double a = share_of(d, ZS_SIDE_A, line->code[0]), b = share_of(d, ZS_SIDE_B, line->code[1]);
    bool has_moved = fabs((isnan(a) ? 0 : a) - (isnan(b) ? 0 : b)) >= 1;
    bool has_code = line->code[0] || line->code[1];
    return has_code && (w->o->all || line->change || !line->has_same_code || has_moved);
}

static bool is_near(const bool *marks, size_t count, size_t at, size_t reach)
{
    for (size_t i = at < reach ? 0 : at - reach; i <= at + reach && i < count; i++)
        if (marks[i])
            return true;
    return false;
}

static int put_file(struct writer *w, const struct zs_code_diff *d, const struct zs_file_pair *file)
{
    const struct zs_line_pair *lines = d->lines.items + file->line_first;
    bool *marks = calloc((size_t)file->line_count + 1, sizeof(*marks));
    size_t skipped = 0;
    if (!marks)
        return -ENOMEM;
    for (size_t i = 0; i < file->line_count; i++)
        marks[i] = is_interesting(w, d, &lines[i]);
    for (int s = 0; s < ZS_SIDES; s++) {
        if (file->file[s] == ZS_NO_INDEX)
            continue;
        zs_buf_printf(&w->out, "%c: ", "AB"[s]);
        put_styled(w, bold, d->code[s]->info->files[file->file[s]].path);
        zs_buf_putc(&w->out, '\n');
        if (file->source[s] && file->source[s]->note) {
            zs_buf_puts(&w->out, "   note: ");
            zs_text_puts(&w->out, file->source[s]->note);
            zs_buf_putc(&w->out, '\n');
        }
    }
    for (size_t i = 0; i < file->line_count; i++) {
        if (!is_near(marks, file->line_count, i, w->o->context)) {
            skipped++;
            continue;
        }
        put_skipped(w, skipped, "line");
        skipped = 0;
        put_line(w, d, file, &lines[i]);
        for (uint32_t p = 0; marks[i] && p < lines[i].pair_count; p++)
            if (w->o->all || !lines[i].has_same_code)
                put_inst(w, d, &d->pairs.items[lines[i].pair_first + p]);
    }
    put_skipped(w, skipped, "line");
    free(marks);
    return w->out.error;
}

static int put_addresses(struct writer *w, const struct zs_code_diff *d)
{
    bool *marks = calloc(d->inst_count + 1, sizeof(*marks));
    size_t skipped = 0;
    if (!marks)
        return -ENOMEM;
    for (size_t i = 0; i < d->inst_count; i++)
        marks[i] = w->o->all || d->insts[i].change > ZS_CODE_RENAMED;
    for (size_t i = 0; i < d->inst_count; i++) {
        if (!is_near(marks, d->inst_count, i, w->o->context)) {
            skipped++;
            continue;
        }
        put_skipped(w, skipped, "instruction");
        skipped = 0;
        put_inst(w, d, &d->insts[i]);
    }
    put_skipped(w, skipped, "instruction");
    free(marks);
    return w->out.error;
}

static void put_tally(struct writer *w, const struct zs_code_diff *d)
{
    static const char *const words[] = {"the same", "in other registers", "changed", "in A alone",
                                        "in B alone"};
    bool has_any = false;
    zs_buf_puts(&w->out, "  instructions: ");
    for (int i = 0; i <= ZS_CODE_B_ALONE; i++) {
        if (!d->tally[i])
            continue;
        zs_buf_printf(&w->out, "%s%u %s", has_any ? ", " : "", d->tally[i], words[i]);
        has_any = true;
    }
    zs_buf_puts(&w->out, has_any ? "\n" : "none\n");
}

static int put_code(struct writer *w, const struct zs_compared_kernel *k)
{
    struct zs_code_diff d;
    int error = zs_code_diff_open(w->compared, k, &d);
    if (!error) {
        w->has_shares = zs_code_diff_column(&d, 0, "share") || zs_code_diff_column(&d, 1, "share");
        put_tally(w, &d);
        for (int s = 0; s < ZS_SIDES; s++) {
            const char *why =
                d.code[s] ? (d.code[s]->error ? d.code[s]->error : d.code[s]->note) : NULL;
            if (why && w->o->with_code) {
                zs_buf_printf(&w->out, "  note: %c: ", "AB"[s]);
                zs_text_puts(&w->out, why);
                zs_buf_putc(&w->out, '\n');
            }
        }
        bool has_lines = d.files.count && !w->o->by_address;
        for (size_t i = 0; i < d.files.count && has_lines && w->o->with_code && !error; i++)
            error = put_file(w, &d, &d.files.items[i]);
        if (w->o->with_code && !has_lines && !error)
            error = put_addresses(w, &d);
    }
    zs_code_diff_close(w->compared, &d);
    return error;
}

/* ---- a kernel ---- */

static void put_title(struct writer *w, const struct zs_compared_kernel *k)
{
    zs_buf_putc(&w->out, '\n');
    begin(w, bold);
    zs_text_puts(&w->out, k->name);
    if (k->of[0] && k->of[1] && strcmp(k->of[1]->kernel->name, k->name)) {
        zs_buf_puts(&w->out, "  →  ");
        zs_text_puts(&w->out, k->of[1]->kernel->name);
    }
    end(w, bold);
    for (int s = 0; s < ZS_SIDES; s++)
        if (k->of[s])
            zs_buf_printf(&w->out, "  %c: %s%s%s", "AB"[s], zs_image_device(k->of[s]->image),
                          *k -> of[s] -> module ? ", module " : "", k->of[s]->module);
    if (!k->of[0] || !k->of[1])
        zs_buf_printf(&w->out, "  in %c alone", k->of[0] ? 'A' : 'B');
    else if (!k->ran[0] != !k->ran[1] && w->o->calls)
        zs_buf_printf(&w->out, "  ran in %c alone", k->ran[0] ? 'A' : 'B');
    zs_buf_putc(&w->out, '\n');
}

static int put_kernel(struct writer *w, const struct zs_compared_kernel *k)
{
    put_title(w, k);
    if (!k->of[0] || !k->of[1])
        return w->out.error;
    put_limit(w, k);
    if (k->is_per_launch) {
        put_styled(w, dim, "  launches differ: what adds up over them is that of a launch");
        zs_buf_putc(&w->out, '\n');
    }
    for (uint32_t i = 0; i < k->value_count; i++)
        if (w->o->all || (zs_compared_value_changed(&k->values[i], w->o->threshold) &&
                          strncmp(k->values[i].name, "ZscopeGains.", 12))) /* findings tell it */
            put_value(w, &k->values[i]);
    for (uint32_t i = 0; i < k->finding_count; i++)
        put_finding(w, &k->findings[i]);
    if (k->has_same_code && !w->o->with_code) {
        zs_buf_puts(&w->out, "  instructions: the same\n");
        return w->out.error;
    }
    return put_code(w, k);
}

/* That calls do not differ is no answer where kernels do. */
static bool tells_calls(const struct zs_compared *c, const struct zs_compare_options *o)
{
    size_t calls = 0, kernels = 0;
    for (size_t i = 0; o->calls && i < o->calls->count; i++)
        calls += zs_diff_changed(&o->calls->rows[i], o->threshold);
    for (size_t i = 0; i < c->count; i++)
        kernels += o->all || zs_compared_kernel_changed(&c->kernels[i], o->threshold);
    return o->calls && (calls || !kernels);
}

int zs_compare_text(const struct zs_compared *c, const struct zs_compare_options *o,
                    zs_write_fn *write, void *user)
{
    struct writer w = {.compared = c, .o = o};
    size_t alike = 0;
    int error = 0;
    if (tells_calls(c, o))
        zs_diff_text(o->calls, o->threshold, o->color, &w.out);
    for (size_t i = 0; i < c->count && !error; i++) {
        if (!o->all && !zs_compared_kernel_changed(&c->kernels[i], o->threshold)) {
            alike++;
            continue;
        }
        error = put_kernel(&w, &c->kernels[i]);
        if (!error)
            error = write(user, w.out.data, w.out.size_B);
        w.out.size_B = 0;
    }
    if (alike && (!o->calls || alike < c->count))
        zs_buf_printf(&w.out, "%zu kernel%s alike\n", alike, zs_plural(alike));
    if (!error)
        error = w.out.error ? w.out.error : write(user, w.out.data, w.out.size_B);
    zs_buf_fini(&w.out);
    return error;
}
