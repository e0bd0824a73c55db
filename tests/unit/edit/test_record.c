/* SPDX-License-Identifier: MIT */
/* Traces as probes leave them, read. */
#include "../test.h"

#include "edit/record.h"

#include <zescope/edit.h>

#include <string.h>

enum { UNITS = 8, TRACE_AT_B = 64, RECORDS_AT_B = 128, SLACK_B = 4 * 32 };

static struct {
    uint8_t bytes[RECORDS_AT_B + UNITS * 32 + SLACK_B];
    struct zs_edit_buffer layout;
} trace;

/* A record of a site with registers full of `fill`, at a unit. */
static void put(uint32_t unit, uint32_t site, uint32_t grfs, uint8_t fill)
{
    uint32_t head[8] = {ZS_RECORD_HEAD(1 + grfs, 1), site};
    memcpy(trace.bytes + RECORDS_AT_B + unit * 32, head, sizeof(head));
    memset(trace.bytes + RECORDS_AT_B + (unit + 1) * 32, fill, (size_t)grfs * 32);
}

static int set_up(void **state)
{
    (void)state;
    memset(&trace, 0, sizeof(trace));
    trace.layout = (struct zs_edit_buffer){.size_B = sizeof(trace.bytes),
                                           .trace_offset_B = TRACE_AT_B,
                                           .records_offset_B = RECORDS_AT_B,
                                           .records_size_B = UNITS * 32};
    return 0;
}

static struct zs_span ask(uint64_t units)
{
    memcpy(trace.bytes + TRACE_AT_B, &units, sizeof(units));
    return (struct zs_span){trace.bytes, sizeof(trace.bytes)};
}

/* Sites, as digits. */
static uint32_t read_sites(struct zs_span buffer)
{
    struct zs_edit_record record;
    uint64_t cursor = 0;
    uint32_t sites = 0;
    while (zs_edit_record_next(&trace.layout, buffer, &cursor, &record)) {
        sites = sites * 10 + record.site;
        for (uint32_t i = 0; i < record.grf_count * 32; i++)
            assert_int_equal(record.grf[i], 0x10 * record.site);
    }
    return sites;
}

static void test_all_fit(void **state)
{
    (void)state;
    put(0, 1, 2, 0x10);
    put(3, 2, 0, 0x20);
    put(4, 3, 3, 0x30); /* ends where the trace does */
    assert_int_equal(read_sites(ask(8)), 123);
    assert_int_equal(zs_edit_records_lost(&trace.layout, ask(8)), 0);
    assert_int_equal(read_sites(ask(4)), 12);
    assert_int_equal(read_sites(ask(0)), 0);
}

/* Those that find no room are written behind the end, over what a last one had there. */
static void test_last_one_is_cut(void **state)
{
    (void)state;
    put(0, 1, 2, 0x10);
    put(3, 2, 2, 0x20);
    put(6, 3, 3, 0x30);
    put(8, 4, 1, 0x40);
    assert_int_equal(read_sites(ask(12)), 12);
    assert_int_equal(zs_edit_records_lost(&trace.layout, ask(12)), 12 - 6);
    assert_int_equal(read_sites(ask(10)), 12);
    assert_int_equal(zs_edit_records_lost(&trace.layout, ask(10)), 10 - 6);
}

/* A thread that was ended took its place and wrote nothing. */
static void test_holes(void **state)
{
    (void)state;
    put(0, 1, 1, 0x10);
    put(5, 2, 2, 0x20);
    assert_int_equal(read_sites(ask(8)), 12);
    assert_int_equal(read_sites(ask(9)), 12);
    assert_int_equal(zs_edit_records_lost(&trace.layout, ask(9)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_all_fit, set_up),
        cmocka_unit_test_setup(test_last_one_is_cut, set_up),
        cmocka_unit_test_setup(test_holes, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
