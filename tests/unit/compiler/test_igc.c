/* SPDX-License-Identifier: MIT */
/*
 * IGC by its own interface makes what ocloc makes of the same: test_igc HELPER SPIRV...
 *
 * With IGC 2 ocloc knows other devices than IGC 1: there, what is asked for is that each device's
 * builds get a compiler.
 */
#include "../test.h"

#include "base/default_device.h"
#include "base/file.h"
#include "compiler/compiler.h"

#include <stdlib.h>

static const char *helper;
static struct zs_file units[16];
static uint32_t unit_count;

static const struct {
    const char *name;
    bool is_old; /* today's ocloc does not know it */
} devices[] = {{"skl", true},    {"bxt", true},      {"icllp", true},
               {"tgllp", false}, {"acm-g10", false}, {"pvc", false}};

struct built {
    enum zs_compiler_status status;
    struct zs_buf binary, log;
};

static struct built build(const char *igc, const char *device, const char *options, uint32_t first,
                          uint32_t count)
{
    const struct zs_compiler_settings settings = {
        .helper = helper, .time_limit_ns = UINT64_C(120000000000), .cache_folder = ""};
    struct zs_span spans[ZS_ARRAY_LEN(units)];
    struct built built = {0};
    setenv("ZESCOPE_IGC", igc, 1);
    struct zs_compiler *compiler = zs_compiler_create(&settings);
    assert_non_null(compiler);
    for (uint32_t i = 0; i < count; i++)
        spans[i] = units[first + i].span;
    const struct zs_compiler_request request = {.device = device,
                                                .options = options,
                                                .internal_options = "",
                                                .unit_count = count,
                                                .units = spans};
    built.status = zs_compiler_build(compiler, &request, &built.binary, &built.log);
    zs_compiler_destroy(compiler);
    return built;
}

static void built_fini(struct built *built)
{
    zs_buf_fini(&built->binary);
    zs_buf_fini(&built->log);
}

static void check_same(const char *device, const char *options, uint32_t first, uint32_t count)
{
    struct built by_ocloc = build("ocloc", device, options, first, count);
    struct built direct = build("libigc.so.1", device, options, first, count);
    if (direct.status != ZS_COMPILER_OK)
        print_error("%s\n", zs_buf_cstr(&direct.log));
    assert_int_equal(by_ocloc.status, ZS_COMPILER_OK);
    assert_int_equal(direct.status, ZS_COMPILER_OK);
    assert_int_equal(by_ocloc.binary.size_B, direct.binary.size_B);
    assert_memory_equal(by_ocloc.binary.data, direct.binary.data, direct.binary.size_B);
    assert_non_null(strstr(zs_buf_cstr(&by_ocloc.log), "libigc.so.1.0.1 by libocloc\n"));
    assert_non_null(strstr(zs_buf_cstr(&direct.log), "libigc.so.1.0.1\n"));
    built_fini(&by_ocloc);
    built_fini(&direct);
}

static void test_units(void **state)
{
    for (uint32_t i = 0; i < unit_count && !zs_has_igc2(NULL); i++)
        check_same("skl", i % 2 ? "-g" : "-cl-fp32-correctly-rounded-divide-sqrt", i, 1);
}

static void test_devices(void **state)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(devices) && !zs_has_igc2(NULL); i++)
        check_same(devices[i].name, "", 0, 1);
}

static void test_links(void **state)
{
    if (!zs_has_igc2(NULL))
        check_same("skl", "", 0, 2);
}

/* A zebin's note of type 6: the IP version; 0: it has none. */
static uint32_t ip_version(const struct zs_buf *binary)
{
    static const char head[] =
        "\x08\0\0\0\x04\0\0\0\x06\0\0\0IntelGT"; /* name, value: sizes; type */
    const char *at = memmem(binary->data, binary->size_B, head, sizeof(head));
    uint32_t version = 0;
    if (at && binary->size_B - (size_t)(at - (const char *)binary->data) >= sizeof(head) + 4)
        memcpy(&version, at + sizeof(head), sizeof(version));
    return version;
}

/* Of IGC 2, as ocloc gives it. */
static void test_versions(void **state)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(devices) && zs_has_igc2(NULL); i++) {
        if (devices[i].is_old)
            continue;
        struct built by_ocloc = build("ocloc", devices[i].name, "", 0, 1);
        struct built direct = build("libigc.so.2", devices[i].name, "", 0, 1);
        if (direct.status != ZS_COMPILER_OK)
            print_error("%s: %s\n", devices[i].name, zs_buf_cstr(&direct.log));
        assert_int_equal(direct.status, ZS_COMPILER_OK);
        assert_int_not_equal(ip_version(&direct.binary), 0);
        assert_int_equal(ip_version(&direct.binary), ip_version(&by_ocloc.binary));
        built_fini(&by_ocloc);
        built_fini(&direct);
    }
}

/* Every device has a compiler, and the log says which. */
static void test_chosen(void **state)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(devices); i++) {
        struct built built = build("", devices[i].name, "", 0, 1);
        if (built.status != ZS_COMPILER_OK)
            print_error("%s: %s\n", devices[i].name, zs_buf_cstr(&built.log));
        assert_int_equal(built.status, ZS_COMPILER_OK);
        const char *line = strstr(zs_buf_cstr(&built.log), "compiler: ");
        assert_non_null(line);
        bool is_old = strstr(line, "libigc.so.1") != NULL;
        assert_int_equal(is_old, !zs_has_igc2(NULL) || devices[i].is_old);
        assert_int_equal(strstr(line, " by libocloc") == NULL, is_old && zs_has_igc2(NULL));
        built_fini(&built);
    }
}

static void test_errors(void **state)
{
    static const struct {
        const char *igc, *device, *says;
        enum zs_compiler_status status;
    } rows[] = {
        {"/nowhere/libigc.so", "skl", "ZESCOPE_IGC=/nowhere/libigc.so: IGC cannot be loaded",
         ZS_COMPILER_UNAVAILABLE},
        {"libc.so.6", "skl", "IGC cannot be loaded", ZS_COMPILER_UNAVAILABLE},
        {"libigc.so.1", "no-such", "cannot be used for the device no-such",
         ZS_COMPILER_BUILD_FAILED},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct built built = build(rows[i].igc, rows[i].device, "", 0, 1);
        assert_int_equal(built.status, rows[i].status);
        assert_non_null(strstr(zs_buf_cstr(&built.log), rows[i].says));
        built_fini(&built);
    }
    struct zs_span whole = units[0].span;
    units[0].span = zs_span_make("no SPIR-V", 9);
    struct built built = build("libigc.so.1", "skl", "", 0, 1);
    units[0].span = whole;
    assert_int_equal(built.status, ZS_COMPILER_BUILD_FAILED);
    built_fini(&built);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),  cmocka_unit_test(test_devices),
        cmocka_unit_test(test_links),  cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_errors), cmocka_unit_test(test_versions),
    };
    struct zs_diag diag = {0};
    helper = argv[1];
    for (int i = 2; i < argc && unit_count < ZS_ARRAY_LEN(units); i++) {
        if (zs_file_read(argv[i], 0, &units[unit_count++], &diag) != 0)
            return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
