/* SPDX-License-Identifier: MIT */
#include "report/analysis.h"

#include "base/text.h"
#include "metrics/unit.h"
#include "report/doubts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR_COLUMNS = 20, GAIN_SHOWN = 2 /* percent */ };

static bool is_shown(const struct zs_analysis_view *view, const struct zs_analyzed *k,
                     size_t *shown)
{
    if (view->kernels && !zs_filter_matches(view->kernels, k->name))
        return false;
    return !view->limit || (*shown)++ < view->limit;
}

/* ---- text ---- */

struct colors {
    const char *bold, *bad, *dim, *plain;
};

static void put_bar(struct zs_buf *out, double part)
{
    int full = part > 1 ? BAR_COLUMNS : part > 0 ? (int)(part * BAR_COLUMNS + 0.5) : 0;
    for (int i = 0; i < BAR_COLUMNS; i++)
        zs_buf_puts(out, i < full ? "█" : "░");
}

static double value_of(struct zs_analysis *a, const struct zs_analyzed *k, const char *name)
{
    struct zs_named_value value;
    return zs_analysis_find(a, k, name, &value) ? value.value : (double)NAN;
}

/* Of a modelled time, how much was replayed, and how far that may be off: where it is known. */
static void put_modelled(struct zs_analysis *a, const struct zs_analyzed *k, struct zs_buf *out)
{
    double share = value_of(a, k, "ReplayedShare"), error = value_of(a, k, "EstimateError");
    zs_buf_puts(out, zs_analysis_info(a)->is_estimated ? " (estimated from counts" : " (modelled");
    if (share < 100 && !isnan(error)) {
        zs_buf_puts(out, ": ");
        zs_doubt_put(out, share, error);
    }
    zs_buf_putc(out, ')');
}

static void put_head(struct zs_analysis *a, const struct zs_analyzed *k, const struct colors *c,
                     struct zs_buf *out)
{
    zs_buf_puts(out, c->bold);
    zs_text_puts(out, k->name);
    zs_buf_puts(out, c->plain);
    if (k->ordinal)
        zs_buf_printf(out, " (%s)", k->module);
    if (*k->rank) {
        zs_buf_puts(out, "  of ");
        zs_text_puts(out, k->rank);
    }
    if (k->simd)
        zs_buf_printf(out, "  SIMD%u", k->simd);
    zs_buf_printf(out, "  %llu launch%s", (unsigned long long)k->launches,
                  k->launches == 1 ? "" : "es");
    if (k->timed) {
        zs_buf_puts(out, "  ");
        zs_unit_put_value(out, k->time_ns, "ns");
        if (zs_analysis_info(a)->is_modelled)
            put_modelled(a, k, out);
    }
    zs_buf_putc(out, '\n');
}

static void put_roofline(const struct zs_analyzed *k, const struct colors *c, struct zs_buf *out)
{
    const struct zs_roofline *r = k->roofline;
    if (isnan(r->count)) {
        zs_buf_printf(out, "  roofline    %sn/a: its instructions were not counted%s\n", c->dim,
                      c->plain);
        return;
    }
    zs_buf_puts(out, "  roofline    ");
    if (!isnan(r->rate) && !isnan(r->attainable)) {
        put_bar(out, r->rate / r->attainable);
        zs_buf_putc(out, ' ');
        zs_unit_put_value(out, r->rate, r->rate_unit);
        zs_buf_puts(out, " of ");
        zs_unit_put_value(out, r->attainable, r->rate_unit);
        zs_buf_printf(out, " that %s allow%s (peak ",
                      strcmp(r->bound, "compute") ? r->bound : "its operations",
                      strcmp(r->bound, "compute") ? "s" : "");
        zs_unit_put_value(out, r->peak, r->rate_unit);
        zs_buf_printf(out, "%s%s)\n", *r->precision ? ", " : "", r->precision);
    } else {
        zs_unit_put_value(out, r->count, r->operations);
        zs_buf_puts(out, isnan(r->rate) ? "; no times were recorded\n"
                                        : "; the peak of the device is not known\n");
    }
    for (uint32_t i = 0; i < r->roof_count; i++) {
        const struct zs_roof *roof = &r->roofs[i];
        zs_buf_printf(out, "    %-12s  %.3g %s/B, ", roof->name, roof->intensity, r->operations);
        zs_unit_put_value(out, roof->bytes, "B");
        if (!isnan(roof->asked_rate)) {
            zs_buf_puts(out, ", ");
            zs_unit_put_value(out, roof->asked_rate, "GB/s");
        }
        if (!isnan(roof->rate)) {
            zs_buf_puts(out, " of ");
            zs_unit_put_value(out, roof->rate, "GB/s");
        }
        zs_buf_putc(out, '\n');
    }
    if (r->rate > 1.02 * r->attainable && !strcmp(r->bound, "memory"))
        zs_buf_puts(out, "    above the roof: what caches still hold of a launch's writes counts, "
                         "but is written when it is over\n");
}

static void put_occupancy(struct zs_analysis *a, const struct zs_analyzed *k,
                          const struct colors *c, struct zs_buf *out)
{
    double occupancy = value_of(a, k, "occupancy"), waves = value_of(a, k, "waves");
    zs_buf_puts(out, "  occupancy   ");
    if (isnan(occupancy)) {
        zs_buf_printf(out, "%sn/a%s\n", c->dim, c->plain);
        return;
    }
    put_bar(out, occupancy / 100);
    zs_buf_printf(out, " %.3g %% of %u threads fit", occupancy, k->threads);
    if (*k->limiter)
        zs_buf_printf(out, ", limited by %s", k->limiter);
    if (!isnan(k->limit->occupancy))
        zs_buf_printf(out, "; %.3g %% are there, over time", k->limit->occupancy);
    if (!isnan(waves))
        zs_buf_printf(out, "; a launch takes %.3g rounds", waves);
    zs_buf_putc(out, '\n');
}

static void put_place(const struct zs_source_place *place, struct zs_buf *out)
{
    zs_buf_puts(out, "      ");
    if (*place->path) {
        zs_text_puts(out, place->path);
        zs_buf_printf(out, ":%u", place->line);
        if (place->text.size_B) {
            zs_buf_puts(out, ": ");
            zs_text_put(out, place->text.data, ZS_MIN(place->text.size_B, (size_t)120));
        }
    } else {
        zs_buf_printf(out, "offset 0x%x", place->offset_B);
    }
    zs_buf_putc(out, '\n');
}

/* Those of most, as far as they matter. */
static void put_parts(const char *head, const struct zs_limit_part *parts, uint32_t count,
                      struct zs_buf *out)
{
    enum { MOST = 4, LEAST = 3 /* percent */ };
    for (uint32_t i = 0; i < count && i < MOST && (!i || parts[i].percent >= LEAST); i++) {
        if (i)
            zs_buf_puts(out, ", ");
        else
            zs_buf_printf(out, "    %-10s", head);
        zs_buf_printf(out, "%s %.0f %%", parts[i].text, parts[i].percent);
    }
    if (count)
        zs_buf_putc(out, '\n');
}

static void put_limit(const struct zs_analyzed *k, struct zs_buf *out)
{
    if (!*k->limit->by)
        return;
    zs_buf_printf(out, "  limited by  %s\n", k->limit->text);
    put_parts("busy", k->limit->units, k->limit->unit_count, out);
    put_parts("threads", k->limit->stalls, k->limit->stall_count, out);
}

/* In one line: what is so, and costs nothing. */
static void put_harmless(const struct zs_analyzed *k, struct zs_buf *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->finding_count; i++)
        if (k->gains[i] < GAIN_SHOWN)
            zs_buf_printf(out, "%s%s", count++ ? ", " : "  costs nothing: ", k->findings[i].title);
    if (count)
        zs_buf_putc(out, '\n');
}

static void put_findings(const struct zs_analyzed *k, const struct colors *c, struct zs_buf *out)
{
    for (uint32_t i = 0; i < k->finding_count; i++) {
        const struct zs_finding *f = &k->findings[i];
        if (k->gains[i] < GAIN_SHOWN)
            continue;
        zs_buf_printf(out, "  %s%s%s", c->bad, f->title, c->plain);
        if (!isnan(k->gains[i])) {
            zs_buf_puts(out, " (");
            zs_unit_put_gain(out, k->gains_least[i], k->gains[i]);
            zs_buf_putc(out, ')');
        }
        zs_buf_printf(out, ": %s\n", f->text);
        for (uint32_t l = 0; l < f->place_count; l++)
            put_place(&f->places[l], out);
        zs_buf_printf(out, "      %stry: %s%s\n", c->dim, f->advice, c->plain);
    }
    put_harmless(k, out);
    if (!k->finding_count)
        zs_buf_printf(out, "  %snothing found%s%s\n", c->dim,
                      k->not_judged_count ? " of what was judged" : "", c->plain);
    /* rules that lack the same are told together */
    for (uint32_t r = 0; r < k->not_judged_count; r++) {
        const char *why = k->not_judged[r].why;
        bool told = false;
        for (uint32_t before = 0; before < r && !told; before++)
            told = !strcmp(k->not_judged[before].why, why);
        if (told)
            continue;
        zs_buf_printf(out, "  %snot judged: %s", c->dim, k->not_judged[r].title);
        for (uint32_t other = r + 1; other < k->not_judged_count; other++)
            if (!strcmp(k->not_judged[other].why, why))
                zs_buf_printf(out, ", %s", k->not_judged[other].title);
        zs_buf_printf(out, ": %s%s\n", why, c->plain);
    }
}

static void put_value(struct zs_buf *out, const char *name, double value, const char *unit)
{
    zs_buf_puts(out, "    ");
    zs_text_puts(out, name);
    zs_buf_pad(out, ' ', strlen(name) < 30 ? 30 - strlen(name) : 1);
    zs_unit_put_value(out, value, unit);
    zs_buf_putc(out, '\n');
}

static void put_quantities(struct zs_analysis *a, const struct zs_analyzed *k, bool all,
                           struct zs_buf *out)
{
    struct zs_named_value value;
    for (uint32_t i = 0; zs_analysis_value(a, k, i, &value); i++)
        if (all || value.kind == ZS_VALUE_DEFINITION)
            put_value(out, value.name, value.value, value.unit);
}

void zs_analysis_text(struct zs_analysis *a, const struct zs_analysis_view *view,
                      struct zs_buf *out)
{
    static const struct colors none = {"", "", "", ""},
                               some = {"\033[1m", "\033[1;33m", "\033[2m", "\033[0m"};
    const struct colors *c = view->color ? &some : &none;
    size_t shown = 0, printed = 0, left = 0;
    const struct zs_analyzed *k;
    for (uint32_t i = 0; (k = zs_analysis_kernel(a, i)); i++) {
        if (!is_shown(view, k, &shown)) {
            left += !view->kernels || zs_filter_matches(view->kernels, k->name);
            continue;
        }
        if (printed++)
            zs_buf_putc(out, '\n');
        put_head(a, k, c, out);
        put_limit(k, out);
        put_roofline(k, c, out);
        put_occupancy(a, k, c, out);
        put_quantities(a, k, view->quantities, out);
        put_findings(k, c, out);
    }
    if (left)
        zs_buf_printf(out, "\n%zu more kernel%s: --limit 0 shows all\n", left,
                      left == 1 ? "" : "s");
}

/* ---- JSON ---- */

static void put_roofs(const struct zs_roofline *r, struct zs_json *j)
{
    zs_json_object(j, "roofline");
    zs_json_string(j, "operations", r->operations);
    zs_json_string(j, "precision", r->precision);
    zs_json_exact(j, "count", r->count);
    zs_json_exact(j, "rate", r->rate);
    zs_json_exact(j, "peak", r->peak);
    zs_json_exact(j, "attainable", r->attainable);
    zs_json_string(j, "bound", r->bound);
    zs_json_array(j, "roofs");
    for (uint32_t i = 0; i < r->roof_count; i++) {
        const struct zs_roof *roof = &r->roofs[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "name", roof->name);
        zs_json_exact(j, "moved_B", roof->bytes);
        zs_json_exact(j, "intensity", roof->intensity);
        zs_json_exact(j, "rate", roof->asked_rate);
        zs_json_exact(j, "peak_rate", roof->rate);
        zs_json_exact(j, "attainable", roof->attainable);
        zs_json_end(j);
    }
    zs_json_end(j);
    zs_json_end(j);
}

static void put_finding(const struct zs_finding *f, double gain, double least, struct zs_json *j)
{
    zs_json_object(j, NULL);
    zs_json_string(j, "rule", f->rule);
    zs_json_string(j, "title", f->title);
    zs_json_exact(j, "severity", f->severity);
    zs_json_exact(j, "gain", gain);
    zs_json_exact(j, "gain_least", least);
    zs_json_string(j, "text", f->text);
    zs_json_string(j, "advice", f->advice);
    zs_json_array(j, "numbers");
    for (uint32_t i = 0; i < f->number_count; i++) {
        zs_json_object(j, NULL);
        zs_json_string(j, "name", f->numbers[i].name);
        zs_json_exact(j, "value", f->numbers[i].value);
        zs_json_string(j, "unit", f->numbers[i].unit);
        zs_json_end(j);
    }
    zs_json_end(j);
    zs_json_array(j, "places");
    for (uint32_t i = 0; i < f->place_count; i++) {
        const struct zs_source_place *place = &f->places[i];
        zs_json_object(j, NULL);
        zs_json_string(j, "path", place->path);
        zs_json_u64(j, "line", place->line);
        zs_json_u64(j, "offset", place->offset_B);
        zs_json_exact(j, "amount", place->amount);
        zs_json_string_n(j, "text", (const char *)place->text.data, place->text.size_B);
        zs_json_end(j);
    }
    zs_json_end(j);
    zs_json_end(j);
}

static void put_values(struct zs_analysis *a, const struct zs_analyzed *k, struct zs_json *j)
{
    struct zs_named_value value;
    uint32_t i = 0;
    bool more = zs_analysis_value(a, k, i, &value); /* quantities are first */
    zs_json_object(j, "quantities");
    for (; more && value.kind == ZS_VALUE_QUANTITY; more = zs_analysis_value(a, k, ++i, &value))
        zs_json_exact(j, value.name, value.value);
    zs_json_end(j);
    zs_json_array(j, "metrics");
    for (; more && value.kind == ZS_VALUE_METRIC; more = zs_analysis_value(a, k, ++i, &value)) {
        if (isnan(value.value))
            continue;
        zs_json_object(j, NULL);
        zs_json_string(j, "name", value.name);
        zs_json_exact(j, "value", value.value);
        zs_json_end(j);
    }
    zs_json_end(j);
    zs_json_array(j, "definitions");
    for (; more; more = zs_analysis_value(a, k, ++i, &value)) {
        if (value.kind != ZS_VALUE_DEFINITION)
            continue;
        zs_json_object(j, NULL);
        zs_json_string(j, "name", value.name);
        zs_json_exact(j, "value", value.value);
        zs_json_string(j, "unit", value.unit);
        zs_json_string(j, "description", value.description);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_parts_json(const char *name, const struct zs_limit_part *parts, uint32_t count,
                           struct zs_json *j)
{
    zs_json_array(j, name);
    for (uint32_t i = 0; i < count; i++) {
        zs_json_object(j, NULL);
        zs_json_string(j, "metric", parts[i].metric);
        zs_json_string(j, "text", parts[i].text);
        zs_json_exact(j, "percent", parts[i].percent);
        zs_json_end(j);
    }
    zs_json_end(j);
}

static void put_limit_json(const struct zs_limit *l, struct zs_json *j)
{
    zs_json_string(j, "limited_by", l->by);
    zs_json_exact(j, "limit", l->percent);
    zs_json_string(j, "limit_text", l->text);
    zs_json_exact(j, "occupancy_achieved", l->occupancy);
    put_parts_json("units", l->units, l->unit_count, j);
    put_parts_json("stalls", l->stalls, l->stall_count, j);
}

static void put_kernel(struct zs_analysis *a, const struct zs_analyzed *k, struct zs_json *j)
{
    zs_json_object(j, NULL);
    zs_json_string(j, "name", k->name);
    zs_json_string(j, "module", k->module);
    zs_json_string(j, "device", k->device);
    if (*k->rank)
        zs_json_string(j, "rank", k->rank);
    put_values(a, k, j);
    zs_json_array(j, "occupancy_if");
    for (uint32_t i = 0; i < k->occupancy_case_count; i++) {
        zs_json_object(j, NULL);
        zs_json_string(j, "what", k->occupancy_cases[i].what);
        zs_json_exact(j, "occupancy", k->occupancy_cases[i].percent);
        zs_json_bool(j, "now", k->occupancy_cases[i].is_now);
        zs_json_end(j);
    }
    zs_json_end(j);
    put_roofs(k->roofline, j);
    zs_json_string(j, "limiter", k->limiter);
    put_limit_json(k->limit, j);
    zs_json_array(j, "findings");
    for (uint32_t i = 0; i < k->finding_count; i++)
        put_finding(&k->findings[i], k->gains[i], k->gains_least[i], j);
    zs_json_end(j);
    zs_json_array(j, "not_judged");
    for (uint32_t r = 0; r < k->not_judged_count; r++) {
        zs_json_object(j, NULL);
        zs_json_string(j, "rule", k->not_judged[r].rule);
        zs_json_string(j, "why", k->not_judged[r].why);
        zs_json_end(j);
    }
    zs_json_end(j);
    zs_json_end(j);
}

void zs_analysis_json_members(struct zs_analysis *a, const struct zs_analysis_view *view,
                              struct zs_json *j)
{
    size_t shown = 0;
    const struct zs_analyzed *k;
    zs_json_string(j, "schema", "zescope.analysis/1");
    zs_json_string(j, "recording", zs_analysis_info(a)->recording);
    zs_json_bool(j, "modelled", zs_analysis_info(a)->is_modelled);
    zs_json_bool(j, "estimated", zs_analysis_info(a)->is_estimated);
    zs_json_array(j, "kernels");
    for (uint32_t i = 0; (k = zs_analysis_kernel(a, i)); i++)
        if (is_shown(view, k, &shown))
            put_kernel(a, k, j);
    zs_json_end(j);
}

void zs_analysis_json(struct zs_analysis *a, const struct zs_analysis_view *view,
                      struct zs_buf *out)
{
    struct zs_json j = zs_json_make(out, 4);
    zs_json_object(&j, NULL);
    zs_analysis_json_members(a, view, &j);
    zs_json_end(&j);
    zs_buf_putc(out, '\n');
}
