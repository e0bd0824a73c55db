/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "metrics/formula.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What formulas of these tests can name. */
static const struct {
    const char *name, *unit;
    double value;
} known[] = {
    {"bytes_read", "B", 4096}, {"moved", "kB", 2},
    {"time", "ns", 500},       {"clocks", "cycles", 600},
    {"active", "percent", 60}, {"n", "", 8},
    {"zero", "", 0},           {"missing", "B", NAN},
    {"L3.Hits", "events", 5},  {"frequency", "MHz", 1150},
    {"odd name", "", 3},
};

static bool resolve(void *user, const char *name, struct zs_formula_symbol *ret_symbol,
                    char *ret_why, size_t why_B)
{
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(known); i++) {
        if (strcmp(known[i].name, name))
            continue;
        *ret_symbol =
            (struct zs_formula_symbol){i, zs_unit_of_metric(known[i].unit), known[i].unit};
        return true;
    }
    snprintf(ret_why, why_B, "there is no %s", name);
    return false;
}

static double value(void *user, uint32_t id, const char **ret_why)
{
    *ret_why = "it was not recorded";
    return known[id].value;
}

static const struct zs_formula_names names = {NULL, resolve, value};

/* The value of "x = TEXT" in base units; NaN with the reason, or with "LINE:COLUMN: sentence". */
static double evaluate(const char *text, const char **ret_why)
{
    static char why[500];
    struct zs_formula_file file;
    struct zs_formula_error error;
    struct zs_bound bound;
    char source[20000];
    double result = NAN;
    *ret_why = NULL;
    snprintf(source, sizeof(source), "x = %s", text);
    if (!zs_formula_file_parse(source, strlen(source), &file, &error) &&
        !zs_formula_bind(file.definitions.items[0].formula, &names, &file.arena, &bound, &error)) {
        result = zs_bound_value(&bound, &names, ret_why);
        if (*ret_why)
            snprintf(why, sizeof(why), "%s", *ret_why);
    } else {
        snprintf(why, sizeof(why), "%u:%u: %s", error.line, error.column, error.text);
    }
    *ret_why = isnan(result) ? why : NULL;
    zs_formula_file_free(&file);
    return result;
}

static void values(void **state)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"2 - 3 - 4", -5},
        {"16 / 4 / 2", 2},
        {"-n + -(-2)", -6},
        {"- - 5", 5},
        {"1.5e3 + .5", 1500.5},
        {"bytes_read + moved", 6096},
        {"bytes_read + 1 KiB", 5120},
        {"bytes_read / time", 8.192}, /* bytes per nanosecond */
        {"bytes_read / time / 1GB/s", 8.192},
        {"2 us + time", 2500},
        {"active + 40%", 1},
        {"active * bytes_read", 2457.6},
        {"clocks / frequency", 600 / 1.15}, /* ns */
        {"clocks / frequency + time", 600 / 1.15 + 500},
        {"min(n, 3, 5)", 3},
        {"max(n, 3)", 8},
        {"abs(3 - n)", 5},
        {"if(n > 3, 1 B, 2 B)", 1},
        {"if(n > 3 and time < 1 us, 1, 2)", 1},
        {"if(n > 3 or missing > 1 B, 1, 2)", 1},
        {"if(missing > 1 B and n < 3, 1, 2)", 2},
        {"if(not n == 8, 1, 2)", 2},
        {"if(n != 8, missing, moved)", 2000},
        {"if(bytes_read > 0, 1, 2)", 1}, /* a zero has every unit */
        {"if(zero == 0, 0, bytes_read / zero)", 0},
        {"L3.Hits * 2", 10},
        {"\"odd name\" + 1", 4},
        {"(1 +\n # of the next line\n 2)", 3},
        {"100 B/s * 1 s", 100},
        {"2 k + 1", 2001},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        const char *why;
        double got = evaluate(rows[i].text, &why);
        if (!(fabs(got - rows[i].value) <= 1e-9 * fabs(rows[i].value)))
            fail_msg("%s: %g, not %g (%s)", rows[i].text, got, rows[i].value, why ? why : "");
    }
}

static void unknown_values(void **state)
{
    static const char *const rows[][2] = {
        {"missing + 1 B", "it was not recorded"},
        {"n / zero", "a division by zero"},
        {"bytes_read + nowhere", "there is no nowhere"},
        {"nowhere * 3 ns", "there is no nowhere"},
        {"max(1, nowhere)", "there is no nowhere"},
        {"if(nowhere > 3 ns, 1, 2)", "there is no nowhere"},
        {"1e308 * 1e308", "it is larger than numbers go"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        const char *why;
        assert_true(isnan(evaluate(rows[i][0], &why)));
        assert_non_null(why);
        assert_string_equal(why, rows[i][1]);
    }
}

/* Line and column, and what is said. */
static void mistakes(void **state)
{
    static const char *const rows[][2] = {
        {"bytes_read + time", "1:16: a sum of bytes and time: the units do not fit"},
        {"1 +", "1:8: a number, a name or '(' is expected, not the end"},
        {"bytes_read - clocks", "1:16: a difference of bytes and cycles"},
        {"if(time < bytes_read, 1, 2)", "1:13: a comparison of time and bytes"},
        {"min(time, bytes_read)", "1:5: min() of time and bytes"},
        {"bytes_read / time + time", "1:23: a sum of bytes/time and time"},
        {"n + bytes_read", "1:7: a sum of a plain number and bytes"},
        {"active > 60", "1:12: a comparison of a value in percent and a number without unit"},
        {"3 parsecs", "1:7: 'parsecs' is no unit"},
        {"(1 + 2", "1:11: ')' is expected, not the end"},
        {"1 2", "1:7: an operator or the end of the line is expected, not '2'"},
        {"foo(1)", "1:5: there is no function 'foo': there are min, max, if, abs"},
        {"1 +\n2", "1:8: a number, a name or '(' is expected, not the end of the line"},
        {"(1 +\n * 2)", "2:2: a number, a name or '(' is expected, not '*'"},
        {"n > 1 > 0", "1:11: comparisons do not follow each other"},
        {"1 + (n > 2)", "1:7: a number is needed here"},
        {"if(n, 1, 2)", "1:5: if() needs a condition"},
        {"not n", "1:5: 'not' needs a condition"},
        {"if(n > 1, 1 B, 2 ns)", "1:5: if() of bytes and time"},
        {"\"open", "1:5: the quotation mark is not closed"},
        {"1 $ 2", "1:7: '$' means nothing here"},
        {"1e999", "1:5: '1e999' is no number"},
        {"1.2.3", "1:5: '1.2.3' is no number"},
        {"\x01", "1:5: byte 0x01 means nothing here"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        const char *why;
        assert_true(isnan(evaluate(rows[i][0], &why)));
        if (strncmp(why, rows[i][1], strlen(rows[i][1])))
            fail_msg("%s: '%s', not '%s'", rows[i][0], why, rows[i][1]);
    }
}

static void depth_and_size(void **state)
{
    static char text[20000];
    const char *why;
    memset(text, '(', 5000);
    text[5000] = '\0';
    assert_true(isnan(evaluate(text, &why)));
    assert_non_null(strstr(why, "nested deeper than 100 levels"));
    memset(text, '-', 5000);
    assert_true(isnan(evaluate(text, &why)));
    assert_non_null(strstr(why, "nested deeper"));
    for (size_t i = 0; i < 5000; i++)
        memcpy(text + 2 * i, "1+", 3);
    strcpy(text + 10000, "1");
    assert_true(isnan(evaluate(text, &why)));
    assert_non_null(strstr(why, "more than 4096 parts"));
    strcpy(text + 4000, "1");
    assert_true(evaluate(text, &why) == 2001);
}

static void definitions(void **state)
{
    static const char text[] = "# not this\n\n# What is moved\n#  for each byte.\n"
                               "ratio [%] = moved / bytes_read # nor this\n"
                               "second=ratio*2\r\n"
                               "max = 3\n"
                               "\n"
                               "assert gemm*: ratio < 50%\n"
                               "max spills = 0\n"
                               "min \"a: b\": ratio >= -3.5\n";
    struct zs_formula_file file;
    struct zs_formula_error error;
    assert_int_equal(zs_formula_file_parse(text, sizeof(text) - 1, &file, &error), 0);
    assert_int_equal(file.definitions.count, 3);
    assert_string_equal(file.definitions.items[0].name, "ratio");
    assert_string_equal(file.definitions.items[0].unit, "%");
    assert_string_equal(file.definitions.items[0].description, "What is moved for each byte.");
    assert_string_equal(file.definitions.items[1].description, "");
    assert_string_equal(file.definitions.items[2].name, "max");
    assert_int_equal(file.assertions.count, 3);
    const struct zs_assertion *a = file.assertions.items;
    assert_int_equal(a[0].kind, ZS_ASSERT_HOLDS);
    assert_string_equal(a[0].kernels, "gemm*");
    assert_string_equal(a[0].text, "gemm*: ratio < 50%");
    assert_null(a[0].limit);
    assert_int_equal(a[1].kind, ZS_ASSERT_MAX);
    assert_null(a[1].kernels);
    assert_true(a[1].limit_is_bare);
    assert_int_equal(a[1].line, 10);
    assert_string_equal(a[2].kernels, "a: b");
    assert_true(a[2].limit_is_bare);
    zs_formula_file_free(&file);
}

static void assertions(void **state)
{
    static const struct {
        enum zs_assertion_kind kind;
        const char *text, *error; /* NULL: none */
    } rows[] = {
        {ZS_ASSERT_MAX, "spills=0", NULL},
        {ZS_ASSERT_MAX, "spills<=0", NULL},
        {ZS_ASSERT_MAX, "spills<1 B", NULL},
        {ZS_ASSERT_MIN, "gemm:XVE_ACTIVE>60%", NULL},
        {ZS_ASSERT_MIN, "x*[ab]?:n >= 3 + 4", NULL},
        {ZS_ASSERT_HOLDS, "k: n > 3 and time < 1 s", NULL},
        {ZS_ASSERT_MAX, "spills>0", "1:7: '>' does not go with max: '=', '<' or '<='"},
        {ZS_ASSERT_MIN, "spills<0", "1:7: '<' does not go with min: '=', '>' or '>='"},
        {ZS_ASSERT_MAX, "spills", "1:7: '=' and the limit is expected, not the end"},
        {ZS_ASSERT_MAX, ":spills=0", "1:1: a kernel's name"},
        {ZS_ASSERT_MAX, "k:spills=", "1:10: a number, a name or '('"},
        {ZS_ASSERT_MAX, "k:spills=0 B B", "1:14: an operator or the end is expected, not 'B'"},
        {ZS_ASSERT_MAX, "", "1:1: a number, a name or '(' is expected, not the end"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_formula_file file;
        struct zs_formula_error error;
        char got[400];
        assert_int_equal(zs_formula_file_parse("", 0, &file, &error), 0);
        int result = zs_formula_file_assert(&file, rows[i].kind, rows[i].text, &error);
        snprintf(got, sizeof(got), "%u:%u: %s", error.line, error.column, error.text);
        if (!rows[i].error != !result ||
            (result && strncmp(got, rows[i].error, strlen(rows[i].error))))
            fail_msg("%s: %d '%s'", rows[i].text, result, got);
        assert_int_equal(file.assertions.count, !result);
        zs_formula_file_free(&file);
    }
}

static void statements_that_are_none(void **state)
{
    static const char *const rows[][2] = {
        {"a = 1\na = 2\n", "2:1: 'a' is defined already, in line 1"},
        {"a [parsec] = 1\n", "1:4: 'parsec' is no unit"},
        {"a [B = 1\n", "1:3: '[' is not closed"},
        {"a [] = 1\n", "1:4: '' is no unit"},
        {"a 1\n", "1:3: '=' is expected, not '1'"},
        {"= 1\n", "1:1: a definition (name = formula), assert, max or min is expected, not '='"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_formula_file file;
        struct zs_formula_error error;
        char got[400];
        assert_int_equal(zs_formula_file_parse(rows[i][0], strlen(rows[i][0]), &file, &error),
                         -EINVAL);
        snprintf(got, sizeof(got), "%u:%u: %s", error.line, error.column, error.text);
        if (strncmp(got, rows[i][1], strlen(rows[i][1])))
            fail_msg("%s: '%s'", rows[i][0], got);
        zs_formula_file_free(&file);
    }
}

static void shown(void **state)
{
    static const struct {
        double value;
        const char *unit, *text;
    } rows[] = {
        {12500, "ns", "12.5 us"},
        {0, "ns", "0 ns"},
        {3e9, "ns", "3 s"},
        {320, "B", "320 B"},
        {1.5e5, "bytes", "150 kB"},
        {1.5e6, "bytes", "1.50 MB"},
        {2.5e10, "B", "25 GB"},
        {63.25, "percent", "63.2 %"},
        {63, "%", "63 %"},
        {17, "messages", "17 messages"},
        {NAN, "B", "n/a"},
        {0.25, "", "0.250"},
        {34.1, "GB/s", "34.1 GB/s"},
        {0.0341, "GB/s", "34.1 MB/s"},
        {26214, "Gflop/s", "26.2 Tflop/s"},
        {2.5e7, "instructions", "25 M instructions"},
        {1e-9, "", "1e-09"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_buf out = {0};
        zs_unit_put_value(&out, rows[i].value, rows[i].unit);
        assert_string_equal(zs_buf_cstr(&out), rows[i].text);
        zs_buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(unknown_values),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(depth_and_size),
        cmocka_unit_test(definitions),
        cmocka_unit_test(assertions),
        cmocka_unit_test(statements_that_are_none),
        cmocka_unit_test(shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
