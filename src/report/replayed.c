/* SPDX-License-Identifier: MIT */
#include "report/replayed.h"

#include "base/small_float.h"
#include "base/text.h"
#include "metrics/unit.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- elements ---- */

struct element {
    const char *name;
    uint32_t size_B;
    bool is_float, is_signed;
};

static const struct element elements[] = {
    {"double", 8, true, true},  {"float", 4, true, true},    {"half", 2, true, true},
    {"ulong", 8, false, false}, {"long", 8, false, true},    {"uint", 4, false, false},
    {"int", 4, false, true},    {"ushort", 2, false, false}, {"short", 2, false, true},
    {"uchar", 1, false, false}, {"char", 1, false, true},    {"size_t", 8, false, false},
};
/* Where the type is not known. */
static const struct element words = {"4 bytes", 4, false, false}, bytes = {"byte", 1, false, false};

/* "float4*" is floats; of structures and other pointers words are compared. */
static const struct element *element_of(const struct zs_replayed_memory *m)
{
    size_t length = strcspn(m->type, "*0123456789 ");
    for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
        if (strlen(elements[i].name) == length && !strncmp(elements[i].name, m->type, length) &&
            m->size_B % elements[i].size_B == 0)
            return &elements[i];
    return m->size_B % words.size_B ? &bytes : &words;
}

static uint64_t bits_at(struct zs_span span, const struct element *e, uint64_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, span.data + i * e->size_B, e->size_B);
    return bits;
}

static double value_of(const struct element *e, uint64_t bits)
{
    float single;
    double value;
    uint32_t low = (uint32_t)bits;
    if (e->size_B == 2)
        return (double)zs_half_to_float((uint16_t)bits);
    if (e->size_B == 4) {
        memcpy(&single, &low, sizeof(single));
        return (double)single;
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Floats in their order as integers, 0 and -0 the same. */
static int64_t order_of(const struct element *e, uint64_t bits)
{
    uint64_t sign = UINT64_C(1) << (8 * e->size_B - 1);
    return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

/* How many floats lie between; UINT64_MAX: one of them is NaN. Integers: 1 where they differ. */
static uint64_t distance(const struct element *e, uint64_t a, uint64_t b)
{
    if (a == b)
        return 0;
    if (!e->is_float)
        return 1;
    bool is_nan = isnan(value_of(e, a)), other_is_nan = isnan(value_of(e, b));
    if (is_nan || other_is_nan)
        return is_nan && other_is_nan ? 0 : UINT64_MAX;
    int64_t x = order_of(e, a), y = order_of(e, b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static void put_element(struct zs_buf *out, const struct element *e, uint64_t bits)
{
    if (e->is_float)
        zs_buf_printf(out, "%.*g", e->size_B == 8 ? 17 : e->size_B == 4 ? 9 : 5, value_of(e, bits));
    else if (!e->is_signed && (e == &words || e == &bytes))
        zs_buf_printf(out, "0x%0*" PRIx64, (int)e->size_B * 2, bits);
    else if (e->is_signed)
        zs_buf_printf(out, "%" PRId64,
                      (int64_t)(bits << (64 - 8 * e->size_B)) >> (64 - 8 * e->size_B));
    else
        zs_buf_printf(out, "%" PRIu64, bits);
}

/* ---- one allocation ---- */

struct tally {
    const struct element *element;
    uint64_t count, written, differing, most; /* most: the largest distance */
};

static struct tally compare(const struct zs_replayed_memory *m, uint64_t ulp)
{
    struct tally t = {.element = element_of(m)};
    t.count = m->size_B / t.element->size_B;
    for (uint64_t i = 0; i < t.count; i++) {
        uint64_t before = bits_at(m->before, t.element, i), after = bits_at(m->after, t.element, i);
        uint64_t far = distance(t.element, after, bits_at(m->now, t.element, i));
        t.written += before != after;
        t.differing += far > ulp || (far && !t.element->is_float);
        t.most = far > t.most ? far : t.most;
    }
    return t;
}

/* The next element from *at on that differs. */
static bool next_difference(const struct zs_replayed_memory *m, const struct tally *t, uint64_t ulp,
                            uint64_t *at)
{
    for (; *at < t->count; ++*at) {
        uint64_t far = distance(t->element, bits_at(m->after, t->element, *at),
                                bits_at(m->now, t->element, *at));
        if (far > ulp || (far && !t->element->is_float))
            return true;
    }
    return false;
}

bool zs_replayed_is_same(const struct zs_replayed *r, uint64_t ulp)
{
    for (size_t i = 0; i < r->memory_count && !r->failed; i++)
        if (r->memory[i].why_not || compare(&r->memory[i], ulp).differing)
            return false;
    return !r->failed;
}

/* ---- text ---- */

static void put_distance(struct zs_buf *out, uint64_t far)
{
    if (far == UINT64_MAX)
        zs_buf_puts(out, "NaN");
    else
        zs_buf_printf(out, "%" PRIu64, far);
}

static void put_differences(const struct zs_replayed_memory *m, const struct tally *t, uint64_t ulp,
                            uint64_t limit, struct zs_buf *out)
{
    uint64_t at = 0, shown = 0;
    zs_buf_printf(out, "      %12s  %20s  %20s%s\n", "offset", "original", "now",
                  t->element->is_float ? "         ULP" : "");
    for (; shown < limit && next_difference(m, t, ulp, &at); at++, shown++) {
        uint64_t sides[] = {bits_at(m->after, t->element, at), bits_at(m->now, t->element, at)};
        zs_buf_printf(out, "      %#12" PRIx64, at * t->element->size_B);
        for (int s = 0; s < 2; s++) {
            struct zs_buf text = {0};
            put_element(&text, t->element, sides[s]);
            zs_buf_printf(out, "  %20s", zs_buf_cstr(&text));
            zs_buf_fini(&text);
        }
        if (t->element->is_float) {
            struct zs_buf text = {0};
            put_distance(&text, distance(t->element, sides[0], sides[1]));
            zs_buf_printf(out, "  %10s", zs_buf_cstr(&text));
            zs_buf_fini(&text);
        }
        zs_buf_putc(out, '\n');
    }
    if (shown < t->differing)
        zs_buf_printf(out, "      (%" PRIu64 " more)\n", t->differing - shown);
}

static void put_memory(const struct zs_replayed_memory *m, uint64_t ulp, uint64_t limit, bool color,
                       struct zs_buf *out)
{
    zs_buf_puts(out, "  ");
    zs_text_puts(out, *m->name ? m->name : "memory");
    zs_buf_printf(out, " (argument %u, ", m->argument);
    if (m->why_not) {
        zs_buf_printf(out, "%" PRIu64 " B): not compared: %s\n", m->size_B, m->why_not);
        return;
    }
    struct tally t = compare(m, ulp);
    zs_buf_printf(out, "%" PRIu64 " of %s): %" PRIu64 " changed by the original, ", t.count,
                  t.element->name, t.written);
    if (!t.differing && !t.most) {
        zs_buf_puts(out, "the same now\n");
        return;
    }
    if (!t.differing) {
        zs_buf_printf(out, "the same within %" PRIu64 " ULP now\n", t.most);
        return;
    }
    zs_buf_printf(out, "%s%" PRIu64 " differ%s now", color ? "\033[31m" : "", t.differing,
                  color ? "\033[0m" : "");
    if (t.element->is_float) {
        zs_buf_puts(out, ", by at most ");
        put_distance(out, t.most);
        zs_buf_puts(out, t.most == UINT64_MAX ? "" : " ULP");
    }
    zs_buf_putc(out, '\n');
    put_differences(m, &t, ulp, limit, out);
}

void zs_replayed_text(const struct zs_replayed *r, uint64_t ulp, uint64_t limit, bool color,
                      struct zs_buf *out)
{
    zs_buf_puts(out, color ? "\033[1m" : "");
    zs_text_puts(out, r->kernel);
    zs_buf_puts(out, color ? "\033[0m" : "");
    zs_buf_printf(out, ", launch %u: %ux%ux%u groups of %ux%ux%u, ", r->number, r->groups[0],
                  r->groups[1], r->groups[2], r->size[0], r->size[1], r->size[2]);
    zs_text_puts(out, r->device);
    if (*r->built)
        zs_buf_printf(out, ", from %s", r->built);
    if (!isnan(r->time_ns)) {
        zs_buf_puts(out, ", ");
        zs_unit_put_value(out, r->time_ns, "ns");
        if (*r->clock)
            zs_buf_printf(out, " (%s)", r->clock);
    }
    zs_buf_putc(out, '\n');
    for (size_t i = 0; i < r->note_count; i++) {
        zs_buf_puts(out, "  note: ");
        zs_text_puts(out, r->notes[i]);
        zs_buf_putc(out, '\n');
    }
    if (r->failed) {
        zs_buf_puts(out, "  failed: ");
        zs_text_puts(out, r->failed);
        zs_buf_putc(out, '\n');
    }
    for (size_t i = 0; i < r->memory_count && !r->failed; i++)
        put_memory(&r->memory[i], ulp, limit, color, out);
}

/* ---- JSON ---- */

static void element_json(struct zs_json *j, const char *key, const struct element *e, uint64_t bits)
{
    struct zs_buf text = {0};
    put_element(&text, e, bits);
    zs_json_string(j, key, zs_buf_cstr(&text));
    zs_buf_fini(&text);
}

static void memory_json(const struct zs_replayed_memory *m, uint64_t ulp, uint64_t limit,
                        struct zs_json *j)
{
    struct tally t = {.element = element_of(m)};
    uint64_t at = 0;
    zs_json_object(j, NULL);
    zs_json_u64(j, "argument", m->argument);
    zs_json_string(j, "name", m->name);
    zs_json_u64(j, "size_B", m->size_B);
    if (m->why_not) {
        zs_json_string(j, "not_compared", m->why_not);
        zs_json_end(j);
        return;
    }
    t = compare(m, ulp);
    zs_json_null(j, "not_compared");
    zs_json_string(j, "element", t.element->name);
    zs_json_u64(j, "elements", t.count);
    zs_json_u64(j, "changed", t.written);
    zs_json_u64(j, "differ", t.differing);
    if (t.element->is_float && t.most != UINT64_MAX)
        zs_json_u64(j, "ulp_most", t.most);
    else
        zs_json_null(j, "ulp_most");
    zs_json_array(j, "differences");
    for (uint64_t shown = 0; shown < limit && next_difference(m, &t, ulp, &at); at++, shown++) {
        uint64_t a = bits_at(m->after, t.element, at), b = bits_at(m->now, t.element, at);
        uint64_t far = distance(t.element, a, b);
        zs_json_object(j, NULL);
        zs_json_u64(j, "offset_B", at * t.element->size_B);
        element_json(j, "original", t.element, a);
        element_json(j, "now", t.element, b);
        if (t.element->is_float && far != UINT64_MAX)
            zs_json_u64(j, "ulp", far);
        else
            zs_json_null(j, "ulp");
        zs_json_end(j);
    }
    zs_json_end(j);
    zs_json_end(j);
}

static void three_json(struct zs_json *j, const char *key, const uint32_t value[3])
{
    zs_json_array(j, key);
    for (int i = 0; i < 3; i++)
        zs_json_u64(j, NULL, value[i]);
    zs_json_end(j);
}

void zs_replayed_json(const struct zs_replayed *r, uint64_t ulp, uint64_t limit, struct zs_json *j)
{
    zs_json_object(j, NULL);
    zs_json_string(j, "kernel", r->kernel);
    zs_json_string(j, "file", r->file);
    zs_json_u64(j, "launch", r->number);
    three_json(j, "groups", r->groups);
    three_json(j, "group_size", r->size);
    zs_json_string(j, "device", r->device);
    zs_json_string(j, "built_from", r->built);
    if (r->failed)
        zs_json_string(j, "failed", r->failed);
    else
        zs_json_null(j, "failed");
    zs_json_double(j, "time_ns", r->time_ns);
    zs_json_string(j, "clock", r->clock);
    zs_json_bool(j, "same", zs_replayed_is_same(r, ulp));
    zs_json_array(j, "notes");
    for (size_t i = 0; i < r->note_count; i++)
        zs_json_string(j, NULL, r->notes[i]);
    zs_json_end(j);
    zs_json_array(j, "memory");
    for (size_t i = 0; i < r->memory_count && !r->failed; i++)
        memory_json(&r->memory[i], ulp, limit, j);
    zs_json_end(j);
    zs_json_end(j);
}
