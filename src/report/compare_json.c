/* SPDX-License-Identifier: MIT */
/* Two sides compared as zescope.compare/1, and as the page that reads it. */
#include "report/columns.h"
#include "report/compare.h"
#include "report/html.h"
#include "report/html_assets.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const side_names[] = {"a", "b"};

struct writer {
    const struct zs_compared *compared;
    const struct zs_compare_options *o;
    struct zs_buf out;
    struct zs_json json;
};

static void put_ran(struct zs_json *j, const struct zs_compared *c,
                    const struct zs_compared_kernel *k, int s)
{
    const struct zs_kernel_ref *ref = k->of[s];
    const struct zs_analyzed *ran = k->ran[s];
    (void)c;
    if (!ref) {
        zs_json_null(j, side_names[s]);
        return;
    }
    zs_json_object(j, side_names[s]);
    zs_json_string(j, "name", ref->kernel->name);
    zs_json_string(j, "device", zs_image_device(ref->image));
    if (*ref->module)
        zs_json_string(j, "module", ref->module);
    else
        zs_json_null(j, "module");
    if (ran && *ran->limit->by) {
        zs_json_string(j, "limited_by", ran->limit->by);
        zs_json_double(j, "limit", ran->limit->percent);
    } else {
        zs_json_null(j, "limited_by");
        zs_json_null(j, "limit");
    }
    if (ran)
        zs_json_double(j, "time_ns", ran->timed ? ran->time_ns : (double)NAN);
    else
        zs_json_null(j, "time_ns");
    zs_json_end(j);
}

static void put_values(struct zs_json *j, const struct zs_compared_kernel *k, double threshold)
{
    static const char *const better[] = {"neither", "less", "more"};
    zs_json_array(j, "values");
    for (uint32_t i = 0; i < k->value_count; i++) {
        const struct zs_compared_value *v = &k->values[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "name", v->name);
        zs_json_string(j, "unit", v->unit);
        zs_json_double(j, "a", v->of[0]);
        zs_json_double(j, "b", v->of[1]);
        zs_json_string(j, "better", better[v->better]);
        zs_json_bool(j, "changed", zs_compared_value_changed(v, threshold));
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_findings(struct zs_json *j, const struct zs_compared_kernel *k)
{
    zs_json_array(j, "findings");
    for (uint32_t i = 0; i < k->finding_count; i++) {
        const struct zs_compared_finding *f = &k->findings[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "rule", f->rule);
        zs_json_string(j, "title", f->title);
        zs_json_string(j, "state", !f->of[0] ? "new" : !f->of[1] ? "gone" : "still");
        for (int s = 0; s < ZS_SIDES; s++) {
            if (!f->of[s]) {
                zs_json_null(j, side_names[s]);
                continue;
            }
            const struct zs_source_place *place = f->of[s]->place_count ? f->of[s]->places : NULL;
            zs_json_object(j, side_names[s]);
            zs_json_double(j, "gain", f->gain[s]);
            zs_json_string(j, "text", f->of[s]->text);
            zs_json_string(j, "path", place ? place->path : "");
            zs_json_u64(j, "line", place ? place->line : 0);
            zs_json_end(j);
        }
        zs_json_end(j);
    }
    zs_json_end(j);
}

/* ---- code ---- */

static void put_pairs(struct zs_json *j, const struct zs_code_pair *pairs, size_t count)
{
    zs_json_array(j, "aligned");
    for (size_t i = 0; i < count; i++) {
        zs_json_object(j, NULL);
        for (int s = 0; s < ZS_SIDES; s++) {
            if (pairs[i].of[s] == ZS_NO_INDEX)
                zs_json_null(j, side_names[s]);
            else
                zs_json_u64(j, side_names[s], pairs[i].of[s]);
        }
        zs_json_string(j, "change", zs_code_change_names[pairs[i].change]);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_insts(struct zs_json *j, const struct zs_code_diff *d, int s)
{
    const struct zs_code *code = d->code[s];
    const struct zs_column *executions = zs_code_diff_column(d, s, "executions");
    uint32_t count = code && code->isa ? zs_isa_kernel_count(code->isa) : 0;
    zs_json_array(j, side_names[s]);
    for (uint32_t i = 0; i < count; i++) {
        char text[ZS_ISA_LINE_MAX];
        zs_isa_inst_text(code->isa, i, text);
        zs_json_object(j, NULL);
        zs_json_u64(j, "offset", zs_isa_inst_offset(code->isa, i));
        zs_json_string(j, "text", text);
        if (executions)
            zs_json_double(j, "executions", executions->values[i]);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_line(struct zs_json *j, const struct zs_code_diff *d,
                     const struct zs_file_pair *file, const struct zs_line_pair *line)
{
    zs_json_object(j, NULL);
    zs_json_string(j, "change", zs_code_change_names[line->change]);
    zs_json_bool(j, "same_code", line->has_same_code);
    for (int s = 0; s < ZS_SIDES; s++) {
        const struct zs_column *share = zs_code_diff_column(d, s, "share");
        if (!line->line[s]) {
            zs_json_null(j, side_names[s]);
            continue;
        }
        struct zs_span text =
            file->source[s] ? zs_source_line(file->source[s], line->line[s]) : (struct zs_span){0};
        zs_json_object(j, side_names[s]);
        zs_json_u64(j, "line", line->line[s]);
        zs_json_string_n(j, "text", (const char *)text.data, text.size_B);
        zs_json_u64(j, "instructions", line->code[s] ? line->code[s]->inst_count : 0);
        if (share && line->code[s])
            zs_json_double(j, "share",
                           zs_column_of_runs(share,
                                             d->code[s]->join->runs + line->code[s]->run_first,
                                             line->code[s]->run_count));
        else
            zs_json_null(j, "share");
        zs_json_end(j);
    }
    put_pairs(j, d->pairs.items + line->pair_first, line->pair_count);
    zs_json_end(j);
}

static void put_files(struct zs_json *j, const struct zs_code_diff *d)
{
    zs_json_array(j, "files");
    for (size_t i = 0; i < d->files.count; i++) {
        const struct zs_file_pair *file = &d->files.items[i];
        zs_json_object(j, NULL);
        for (int s = 0; s < ZS_SIDES; s++) {
            if (file->file[s] == ZS_NO_INDEX)
                zs_json_null(j, side_names[s]);
            else
                zs_json_string(j, side_names[s], d->code[s]->info->files[file->file[s]].path);
        }
        zs_json_array(j, "lines");
        for (uint32_t l = 0; l < file->line_count; l++)
            put_line(j, d, file, &d->lines.items[file->line_first + l]);
        zs_json_end(j);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static int put_code(struct writer *w, const struct zs_compared_kernel *k)
{
    struct zs_code_diff d;
    int error = zs_code_diff_open(w->compared, k, &d);
    if (!error) {
        zs_json_object(&w->json, "tally");
        for (int i = 0; i <= ZS_CODE_B_ALONE; i++)
            zs_json_u64(&w->json, zs_code_change_names[i], d.tally[i]);
        zs_json_end(&w->json);
        if (w->o->with_code) {
            zs_json_object(&w->json, "instructions");
            for (int s = 0; s < ZS_SIDES; s++)
                put_insts(&w->json, &d, s);
            zs_json_end(&w->json);
            put_pairs(&w->json, d.insts, d.inst_count);
            put_files(&w->json, &d);
        }
    }
    zs_code_diff_close(w->compared, &d);
    return error;
}

static int flush(struct writer *w, zs_write_fn *write, void *user)
{
    int error = w->out.error ? w->out.error : write(user, w->out.data, w->out.size_B);
    w->out.size_B = 0;
    return error;
}

int zs_compare_json(const struct zs_compared *c, const struct zs_compare_options *o,
                    zs_write_fn *write, void *user)
{
    struct writer w = {.compared = c, .o = o};
    struct zs_json *j = &w.json;
    int error = 0;
    *j = zs_json_make(&w.out, o->indent);
    zs_json_object(j, NULL);
    zs_json_string(j, "schema", "zescope.compare/1");
    zs_json_string(j, "a", o->names[0]);
    zs_json_string(j, "b", o->names[1]);
    if (o->calls)
        zs_diff_json(o->calls, o->threshold, o->all, j);
    else
        zs_json_null(j, "changes");
    zs_json_array(j, "kernels");
    for (size_t i = 0; i < c->count && !error; i++) {
        const struct zs_compared_kernel *k = &c->kernels[i];
        bool changed = zs_compared_kernel_changed(k, o->threshold);
        if (!changed && !o->all)
            continue;
        zs_json_object(j, NULL);
        zs_json_string(j, "name", k->name);
        zs_json_bool(j, "changed", changed);
        for (int s = 0; s < ZS_SIDES; s++)
            put_ran(j, c, k, s);
        put_values(j, k, o->threshold);
        put_findings(j, k);
        zs_json_bool(j, "same_code", k->has_same_code);
        zs_json_bool(j, "per_launch", k->is_per_launch);
        error = put_code(&w, k);
        zs_json_end(j);
        if (!error)
            error = flush(&w, write, user);
    }
    zs_json_end(j);
    zs_json_end(j);
    zs_buf_putc(&w.out, '\n');
    if (!error)
        error = flush(&w, write, user);
    zs_buf_fini(&w.out);
    return error;
}

/* ---- the page ---- */

struct page {
    const struct zs_compared *compared;
    const struct zs_compare_options *o;
};

static int put_page_json(void *user, zs_html_write_fn *write, void *sink)
{
    const struct page *p = user;
    struct zs_compare_options o = *p->o;
    o.all = true;
    o.with_code = true;
    o.indent = 0;
    return zs_compare_json(p->compared, &o, write, sink);
}

static const char *listing_title(void *user, size_t index)
{
    (void)user;
    (void)index;
    return "Changes";
}

static int put_listing(void *user, size_t index, zs_html_write_fn *write, void *sink)
{
    const struct page *p = user;
    struct zs_compare_options o = *p->o;
    (void)index;
    o.color = false;
    o.width = 160;
    return zs_compare_text(p->compared, &o, write, sink);
}

int zs_compare_html(const struct zs_compared *c, const struct zs_compare_options *o,
                    zs_write_fn *write, void *user)
{
    char title[512];
    struct page page = {c, o};
    snprintf(title, sizeof(title), "%.240s, %.240s", o->names[0], o->names[1]);
    const struct zs_html_page html = {
        .title = title,
        .bundle = &zs_html_compare,
        .user = &page,
        .json = put_page_json,
        .listing_count = 1,
        .listing_title = listing_title,
        .listing = put_listing,
        .readable = o->readable,
    };
    return zs_report_html(&html, write, user);
}
