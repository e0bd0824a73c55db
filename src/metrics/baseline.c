/* SPDX-License-Identifier: MIT */
/* Values of kernels that later recordings are held against. */
#include "metrics/check.h"

#include "base/json.h"
#include "base/number.h"
#include "base/vec.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAX = 1 << 16, VALUES_MAX = 1 << 14, TEXT_MAX_B = 64 << 20 };
#define SCHEMA "zescope.baseline/1"

void zs_baseline_init(struct zs_baseline *b)
{
    *b = (struct zs_baseline){0};
    zs_arena_init(&b->arena, (size_t)256 << 20);
}

void zs_baseline_free(struct zs_baseline *b)
{
    free(b->kernels.items);
    zs_arena_fini(&b->arena);
    *b = (struct zs_baseline){0};
}

/* ---- files ---- */

static const char *text_of(struct zs_baseline *b, const json_t *json)
{
    const char *text = json_string_value(json);
    return text ? zs_arena_strndup(&b->arena, text, strlen(text)) : NULL;
}

static int wrong(struct zs_diag *diag, const char *sentence)
{
    return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no baseline: %s", sentence);
}

static int read_values(struct zs_baseline *b, const json_t *object,
                       struct zs_baseline_kernel *kernel, struct zs_diag *diag)
{
    size_t count = json_object_size(object);
    const char *name;
    json_t *member;
    if (!json_is_object(object) || count > VALUES_MAX)
        return wrong(diag, "a kernel's \"values\" are an object of at most 16384 members");
    struct zs_baseline_value *values = ZS_ARENA_ARRAY(&b->arena, count, struct zs_baseline_value);
    kernel->values = values;
    json_object_foreach((json_t *)(uintptr_t)object, name, member)
    {
        const json_t *number = json_object_get(member, "value");
        const char *unit = text_of(b, json_object_get(member, "unit"));
        if (!json_is_number(number) || !unit)
            return wrong(diag, "a value is an object of \"value\", a number, and \"unit\"");
        const char *kept = zs_arena_strndup(&b->arena, name, strlen(name));
        if (!values || !kept)
            return -ENOMEM;
        values[kernel->value_count++] =
            (struct zs_baseline_value){kept, unit, json_number_value(number)};
    }
    return 0;
}

static int read_kernels(struct zs_baseline *b, const json_t *array, struct zs_diag *diag)
{
    if (!json_is_array(array) || json_array_size(array) > KERNELS_MAX)
        return wrong(diag, "\"kernels\" is an array of at most 65536 objects");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *json = json_array_get(array, i);
        const json_t *rank = json_object_get(json, "rank");
        struct zs_baseline_kernel kernel = {.name = text_of(b, json_object_get(json, "name")),
                                            .rank = rank ? text_of(b, rank) : ""};
        if (!kernel.name || !kernel.rank)
            return wrong(diag, "a kernel has a \"name\", and may have a \"rank\", which are texts");
        if (i && !*kernel.rank != !*b->kernels.items[0].rank)
            return wrong(diag, "either each kernel has a \"rank\", or none has");
        for (size_t k = 0; k < b->kernels.count; k++)
            kernel.ordinal += !strcmp(b->kernels.items[k].name, kernel.name) &&
                              !strcmp(b->kernels.items[k].rank, kernel.rank);
        int error = read_values(b, json_object_get(json, "values"), &kernel, diag);
        if (!error && !ZS_VEC_PUSH(&b->kernels, kernel))
            error = -ENOMEM;
        if (error)
            return error;
    }
    return 0;
}

int zs_baseline_parse(struct zs_span text, struct zs_baseline *ret_baseline, struct zs_diag *diag)
{
    json_error_t where;
    if (text.size_B > TEXT_MAX_B)
        return wrong(diag, "larger than 64 MiB");
    if (!text.size_B)
        return wrong(diag, "the file is empty");
    json_t *json = json_loadb((const char *)text.data, text.size_B, JSON_REJECT_DUPLICATES, &where);
    if (!json)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no baseline: line %d, column %d: %s",
                           where.line, where.column, where.text);
    const char *schema = json_string_value(json_object_get(json, "schema"));
    ret_baseline->clock = text_of(ret_baseline, json_object_get(json, "clock"));
    int error = schema && !strcmp(schema, SCHEMA)
                    ? read_kernels(ret_baseline, json_object_get(json, "kernels"), diag)
                    : wrong(diag, "its \"schema\" is not \"" SCHEMA "\"");
    json_decref(json);
    return error;
}

/* ---- a recording's ---- */

/* Nothing of it may point into the recording. */
static int add_value(struct zs_names *n, struct zs_baseline *b, const char *name,
                     struct zs_baseline_value *values, size_t *count)
{
    char why[300];
    double value;
    const char *unit;
    if (!zs_names_value(n, name, &value, &unit, why, sizeof(why)) || isnan(value))
        return 0;
    values[*count] =
        (struct zs_baseline_value){zs_arena_strndup(&b->arena, name, strlen(name)),
                                   zs_arena_strndup(&b->arena, unit, strlen(unit)), value};
    bool kept = values[*count].name && values[*count].unit;
    ++*count;
    return kept ? 0 : -ENOMEM;
}

static int take_kernel(struct zs_names *n, const struct zs_profile *p, const char *rank,
                       struct zs_baseline *b)
{
    const struct zs_profiles *t = n->profiles;
    size_t most = ZS_QUANTITIES + t->metrics.count + n->definitions.count;
    struct zs_baseline_value *values = ZS_ARENA_ARRAY(&b->arena, most, struct zs_baseline_value);
    struct zs_baseline_kernel kernel = {.name =
                                            zs_arena_strndup(&b->arena, p->name, strlen(p->name)),
                                        .rank = zs_arena_strndup(&b->arena, rank, strlen(rank)),
                                        .ordinal = p->ordinal,
                                        .values = values};
    size_t *count = &kernel.value_count;
    int error = values && kernel.name && kernel.rank ? zs_names_select(n, p) : -ENOMEM;
    for (int q = 0; q < ZS_QUANTITIES && !error; q++)
        error = add_value(n, b, zs_quantity_rows[q].name, values, count);
    for (size_t i = 0; i < n->definitions.count && !error; i++)
        error = add_value(n, b, n->definitions.items[i].definition->name, values, count);
    for (size_t i = 0; i < t->metrics.count && !error; i++)
        error = add_value(n, b, t->metrics.items[i].full_name, values, count);
    return error ? error : ZS_VEC_PUSH(&b->kernels, kernel) ? 0 : -ENOMEM;
}

int zs_baseline_take(struct zs_names *n, const char *rank, struct zs_baseline *b)
{
    int error = 0;
    for (size_t i = 0; i < n->profiles->kernels.count && !error; i++)
        error = take_kernel(n, n->profiles->kernels.items[i], rank, b);
    return error;
}

void zs_baseline_json(const struct zs_baseline *b, const char *recording, struct zs_buf *out)
{
    struct zs_json j = zs_json_make(out, 4);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "schema", SCHEMA);
    zs_json_string(&j, "recording", recording);
    if (b->clock)
        zs_json_string(&j, "clock", b->clock);
    zs_json_array(&j, "kernels");
    for (size_t i = 0; i < b->kernels.count; i++) {
        const struct zs_baseline_kernel *k = &b->kernels.items[i];
        zs_json_object(&j, NULL);
        zs_json_string(&j, "name", k->name);
        if (*k->rank)
            zs_json_string(&j, "rank", k->rank);
        zs_json_object(&j, "values");
        for (size_t v = 0; v < k->value_count; v++) {
            struct zs_buf key = {0};
            /* names of metrics are a driver's words */
            zs_json_escape(&key, k->values[v].name, strlen(k->values[v].name), false);
            const char *quoted = zs_buf_cstr(&key);
            size_t n = strlen(quoted);
            char name[1400];
            snprintf(name, sizeof(name), "%.*s", n >= 2 ? (int)(n - 2) : 0, quoted + 1);
            zs_json_object(&j, name);
            zs_json_exact(&j, "value", k->values[v].value);
            zs_json_string(&j, "unit", k->values[v].unit);
            zs_json_end(&j);
            zs_buf_fini(&key);
        }
        zs_json_end(&j);
        zs_json_end(&j);
    }
    zs_json_end(&j);
    zs_json_end(&j);
    zs_buf_putc(out, '\n');
}

/* ---- tolerances ---- */

static int no_tolerance(const char *text, struct zs_diag *diag)
{
    return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                       "'%s' is no tolerance: [KERNEL:]NAME=[+|-|+-]VALUE[%%] is expected, as in "
                       "'time_mean=5%%', 'gemm*:spills=0', 'EuActive=-2%%'",
                       text);
}

int zs_tolerance_parse(const char *text, struct zs_tolerance *t, struct zs_diag *diag)
{
    const char *equals = strrchr(text, '='), *colon = NULL, *at;
    char *end;
    *t = (struct zs_tolerance){.text = text};
    if (!equals)
        return no_tolerance(text, diag);
    for (const char *c = text; c < equals; c++)
        colon = *c == ':' ? c : colon;
    const char *name = colon ? colon + 1 : text;
    name += strspn(name, " ");
    size_t name_B = (size_t)(equals - name);
    while (name_B && name[name_B - 1] == ' ')
        name_B--;
    at = equals + 1;
    t->up = *at == '+';
    at += t->up;
    t->down = *at == '-';
    at += t->down;
    t->amount = zs_number_parse(at, &end);
    t->is_percent = *end == '%';
    if (!name_B || end == at || *at == '-' || *at == '+' || !(t->amount >= 0) ||
        !isfinite(t->amount) || end[t->is_percent] || (colon && colon == text))
        return no_tolerance(text, diag);
    t->name = strndup(name, name_B);
    t->glob = colon ? strndup(text, (size_t)(colon - text)) : NULL;
    return t->name && (!colon || t->glob)
               ? 0
               : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "out of memory");
}

void zs_tolerance_free(struct zs_tolerance *t)
{
    free(t->name);
    free(t->glob);
}
