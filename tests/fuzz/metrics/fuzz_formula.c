/* SPDX-License-Identifier: MIT */
/* Texts of definitions and assertions: parsed, bound to a few names, evaluated. */
#include "metrics/formula.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static bool resolve(void *user, const char *name, struct zs_formula_symbol *ret_symbol,
                    char *ret_why, size_t why_B)
{
    static const char *const units[] = {"B", "ns", "%", "cycles", "GB/s", ""};
    (void)user;
    if (name[0] >= 'x') {
        strncpy(ret_why, "not there", why_B);
        return false;
    }
    const char *text = units[(unsigned char)name[0] % ZS_ARRAY_LEN(units)];
    *ret_symbol = (struct zs_formula_symbol){
        .id = (unsigned char)name[0], .unit = zs_unit_of_metric(text), .unit_text = text};
    return true;
}

static double value(void *user, uint32_t id, const char **ret_why)
{
    (void)user;
    *ret_why = "unknown";
    return id % 7 == 0 ? (double)NAN : (double)id;
}

static void check(const struct zs_formula *formula, struct zs_arena *arena)
{
    static const struct zs_formula_names names = {NULL, resolve, value};
    struct zs_formula_error error;
    struct zs_bound bound;
    const char *why;
    if (!formula)
        return;
    if (zs_formula_bind(formula, &names, arena, &bound, &error)) {
        if (!error.line || !error.text[0])
            abort();
        return;
    }
    double v = zs_bound_value(&bound, &names, &why);
    if (isinf(v) || isnan(v) != (why != NULL) ||
        (bound.type == ZS_FORMULA_UNKNOWN && !bound.missing))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_formula_file file;
    struct zs_formula_error error;
    char *text = malloc(size_B + 1);
    if (!text)
        return 0;
    if (size_B)
        memcpy(text, data, size_B);
    text[size_B] = '\0';
    if (zs_formula_file_parse(text, size_B, &file, &error) && (!error.line || !error.column))
        abort();
    for (size_t i = 0; i < file.definitions.count; i++)
        check(file.definitions.items[i].formula, &file.arena);
    for (int kind = 0; kind < 3; kind++)
        zs_formula_file_assert(&file, (enum zs_assertion_kind)kind, text, &error);
    for (size_t i = 0; i < file.assertions.count; i++) {
        check(file.assertions.items[i].value, &file.arena);
        check(file.assertions.items[i].limit, &file.arena);
    }
    zs_formula_file_free(&file);
    free(text);
    return 0;
}
