/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "base/filter.h"
#include "report/table.h"
#include "report/times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void filters(void **state)
{
    const char *const patterns[] = {"^zeMem", "Barrier$"}, *const wrong[] = {"x", "("};
    struct zs_filter filter = {0};
    struct zs_diag diag = {0};
    assert_true(zs_filter_matches(&filter, "anything"));
    assert_int_equal(zs_filter_compile(&filter, patterns, 2, &diag), 0);
    assert_true(zs_filter_matches(&filter, "zeMemFree"));
    assert_true(zs_filter_matches_span(&filter, zs_span_make("AppendBarrierX", 13)));
    assert_false(zs_filter_matches_span(&filter, zs_span_make("AppendBarrierX", 14)));
    assert_false(zs_filter_matches_span(&filter, zs_span_make(NULL, 0)));
    zs_filter_fini(&filter);
    assert_int_equal(zs_filter_compile(&filter, wrong, 2, &diag), -EINVAL);
    assert_non_null(strstr(diag.text, "'('"));
    assert_null(filter.patterns);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Against the sorted values: within a sixteenth. */
static void percentiles(void **state)
{
    enum { COUNT = 20000 };
    static uint64_t values[COUNT];
    struct zs_arena arena;
    struct zs_times times = {0};
    uint64_t x = 88172645463325252u, total = 0, got;
    zs_arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        values[i] = x >> (20 + x % 40);
        total += values[i];
        zs_times_add(&times, values[i], &arena);
    }
    qsort(values, COUNT, sizeof(*values), compare);
    assert_int_equal(times.total_ns, total);
    assert_int_equal(times.min_ns, values[0]);
    assert_int_equal(times.max_ns, values[COUNT - 1]);
    for (int percent = 1; percent < 100; percent++) {
        assert_true(zs_times_percentile(&times, percent, &got));
        uint64_t exact = values[COUNT * (size_t)percent / 100 - 1];
        uint64_t away = got > exact ? got - exact : exact - got;
        assert_true(away <= exact / 16 + 1);
    }
    struct zs_times one = {0};
    zs_times_add(&one, 77, NULL);
    assert_true(zs_times_percentile(&one, 50, &got) && got == 77);
    zs_times_add(&one, 78, NULL);
    assert_false(zs_times_percentile(&one, 50, &got));
    zs_arena_fini(&arena);
}

enum { ROWS = 4 };

static struct zs_table_column columns[] = {
    {"name", "call", ZS_CELL_TEXT, 7 | ZS_COLUMN_NAMES},
    {"count", "count", ZS_CELL_COUNT, 7},
    {"total_ns", "total", ZS_CELL_NS, 7},
    {"peak_B", "peak", ZS_CELL_BYTES, 7 | ZS_COLUMN_IF_KNOWN},
};

static void make_table(struct zs_table *table, struct zs_cell *cells)
{
    static const struct {
        const char *name;
        uint64_t count, total_ns; /* 0: not known */
    } rows[ROWS] = {{"b", 5, 3000}, {"a", 5, 9000000}, {"c", 7, 0}, {"with, \"comma\"", 1, 40}};
    for (size_t i = 0; i < ROWS; i++) {
        cells[4 * i] = (struct zs_cell){.known = true, .text = rows[i].name};
        cells[4 * i + 1] = (struct zs_cell){.known = true, .number = rows[i].count};
        cells[4 * i + 2] =
            (struct zs_cell){.known = rows[i].total_ns != 0, .number = rows[i].total_ns};
        cells[4 * i + 3] = (struct zs_cell){0};
    }
    *table = (struct zs_table){"t", columns, 4, cells, ROWS, 0};
}

/* The first letters of the names that are left, in order; an error as '!', "?" for what is unused.
 */
static const char *apply(const char *sort, const char *where, uint64_t limit)
{
    static char names[16];
    struct zs_cell cells[ROWS * 4];
    struct zs_table table;
    struct zs_diag diag = {0};
    bool used[2] = {0};
    make_table(&table, cells);
    const struct zs_table_view view = {sort, &where, where ? 1 : 0, limit};
    int error = zs_table_apply(&table, &view, used, &diag);
    if (error)
        return diag.text[0] && error == -EINVAL ? "!" : "no sentence";
    if ((where && !used[0]) || (sort && !used[where ? 1 : 0]))
        return "?";
    for (size_t i = 0; i < table.row_count; i++)
        names[i] = cells[4 * i].text[0];
    names[table.row_count] = '\0';
    return names;
}

static void conditions_and_order(void **state)
{
    static const struct {
        const char *sort, *where;
        uint64_t limit;
        const char *expected;
    } cases[] = {
        {"total", NULL, 0, "abwc"},        {"total_ns:asc", NULL, 0, "wbac"},
        {"count", NULL, 0, "cbaw"},        {"name", NULL, 0, "abcw"},
        {"name:desc", NULL, 2, "wc"},      {NULL, "count=5", 0, "ba"},
        {NULL, "count != 5", 0, "cw"},     {NULL, "total>3us", 0, "a"},
        {NULL, "total>=3us", 0, "ba"},     {NULL, "total_ns<1ms", 0, "bw"},
        {NULL, "count>0x5", 0, "c"},       {NULL, "name~^[ab]$", 0, "ba"},
        {NULL, "name!~^[ab]$", 0, "cw"},   {NULL, "name=a", 0, "a"},
        {NULL, "peak>1K", 0, ""},          {"peak", NULL, 0, "bacw"},
        {"colour", NULL, 0, "?"},          {NULL, "colour=3", 0, "?"},
        {"total:up", NULL, 0, "!"},        {NULL, "count", 0, "!"},
        {NULL, "count=five", 0, "!"},      {NULL, "count~5", 0, "!"},
        {NULL, "name>a", 0, "!"},          {NULL, "name~(", 0, "!"},
        {NULL, "total>3 parsecs", 0, "!"}, {NULL, "=5", 0, "!"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(cases); i++)
        assert_string_equal(apply(cases[i].sort, cases[i].where, cases[i].limit),
                            cases[i].expected);
}

static void texts(void **state)
{
    struct zs_cell cells[ROWS * 4];
    struct zs_table table;
    struct zs_buf out = {0};
    make_table(&table, cells);
    table.left_out = 3;
    zs_table_text(&table, false, &out);
    assert_string_equal(zs_buf_cstr(&out), "count      total  call\n"
                                           "    5    3.00 us  b\n"
                                           "    5    9.00 ms  a\n"
                                           "    7        n/a  c\n"
                                           "    1      40 ns  with, \"comma\"\n"
                                           "(3 more)\n");
    out.size_B = 0;
    zs_table_csv(&table, &out);
    assert_string_equal(zs_buf_cstr(&out), "name,count,total_ns,peak_B\n"
                                           "b,5,3000,n/a\n"
                                           "a,5,9000000,n/a\n"
                                           "c,7,n/a,n/a\n"
                                           "\"with, \"\"comma\"\"\",1,40,n/a\n");
    out.size_B = 0;
    struct zs_json json = zs_json_make(&out, 0);
    table.row_count = 1;
    zs_json_object(&json, NULL);
    zs_table_json(&table, "t", &json);
    zs_json_end(&json);
    for (size_t i = 0; i < out.size_B; i++) /* spaces are not the question */
        if (out.data[i] == ' ')
            memmove(&out.data[i], &out.data[i + 1], --out.size_B - i);
    assert_string_equal(zs_buf_cstr(&out),
                        "{\"t\":[{\"name\":\"b\",\"count\":5,\"total_ns\":3000,\"peak_B\":null}]}");
    zs_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters),
        cmocka_unit_test(percentiles),
        cmocka_unit_test(conditions_and_order),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
