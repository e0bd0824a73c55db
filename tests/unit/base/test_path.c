/* SPDX-License-Identifier: MIT */
/* Paths of Linux and of Windows. */
#include "../test.h"
#include "base/default_device.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_kinds(void **state)
{
    static const struct {
        const char *path;
        bool windows;
        const char *base_name;
    } rows[] = {
        {"/src/k.cl", false, "k.cl"},
        {"k.cl", false, "k.cl"},
        {"", false, ""},
        {"/", false, "/"},
        {"/src/", false, "/src/"},
        {"/src//a", false, "a"},
        {"/src/a\\b.cl", false, "a\\b.cl"}, /* a name of Linux */
        {"a\\b.cl", false, "a\\b.cl"},      /* may be one, too */
        {"C:k.cl", false, "C:k.cl"},        /* no absolute path */
        {"C:", false, "C:"},
        {"1:\\k.cl", false, "1:\\k.cl"},
        {"C:\\src\\k.cl", true, "k.cl"},
        {"z:/src/k.cl", true, "k.cl"},
        {"C:\\src/a\\k.cl", true, "k.cl"},
        {"C:\\", true, "C:\\"},
        {"C:\\src\\", true, "C:\\src\\"},
        {"\\\\server\\share\\k.cl", true, "k.cl"},
        {"\\\\server/share/k.cl", true, "k.cl"},
        {"\\k.cl", false, "\\k.cl"},
        {"//server/k.cl", false, "k.cl"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(zs_path_is_windows(rows[i].path), rows[i].windows);
        assert_string_equal(zs_path_base_name(rows[i].path), rows[i].base_name);
    }
    assert_string_equal(zs_path_own_base_name("a/k.bin"), "k.bin");
}

static void test_below(void **state)
{
    static const struct {
        const char *path, *folder, *rest; /* NULL: elsewhere */
    } rows[] = {
        {"/src/a/k.cl", "/src", "/a/k.cl"},
        {"/src/a/k.cl", "/src//", "/a/k.cl"},
        {"/src/a/k.cl", "/src/a/k.cl", ""},
        {"/src/a/k.cl", "/", "/src/a/k.cl"},
        {"/src/a/k.cl", "/sr", NULL},
        {"/src/a/k.cl", "/SRC", NULL},
        {"/src\\a/k.cl", "/src", NULL},
        {"/src", "/src/a", NULL},
        {"C:/src/a/k.cl", "C:\\src", "/a/k.cl"},
        {"C:/src/a/k.cl", "C:\\src\\a\\", "/k.cl"},
        {"C:/src/a/k.cl", "c:/SRC", "/a/k.cl"},
        {"C:/src/a/k.cl", "C:\\", "/src/a/k.cl"},
        {"C:\\src\\a\\k.cl", "C:/src", "\\a\\k.cl"},
        {"C:/src/a/k.cl", "C:\\sr", NULL},
        {"C:/src/a/k.cl", "D:\\src", NULL},
        {"C:/src/a/k.cl", "/", NULL},
        {"C:/src/a/k.cl", "", NULL},
        {"\\\\server/share/k.cl", "\\\\Server\\share", "/k.cl"},
        {"\\\\server/share/k.cl", "//server/share", "/k.cl"},
        {"\\\\server/share/k.cl", "\\", NULL},
        {"C:/src[/k.cl", "C:\\src{", NULL}, /* the case of letters alone */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *rest = zs_path_below(rows[i].path, rows[i].folder);
        assert_int_equal(rest != NULL, rows[i].rest != NULL);
        if (rest)
            assert_string_equal(rest, rows[i].rest);
    }
}

static void test_ends(void **state)
{
    static const struct {
        const char *path, *end;
        bool ends;
    } rows[] = {
        {"/src/a/k.cl", "k.cl", true},           {"/src/a/k.cl", "a/k.cl", true},
        {"/src/a/k.cl", "/src/a/k.cl", true},    {"/src/a/k.cl", ".cl", false},
        {"/src/a/k.cl", "/k.cl", false},         {"/src/a/k.cl", "a\\k.cl", false},
        {"/src/a/k.cl", "K.cl", false},          {"k.cl", "a/k.cl", false},
        {"C:/src/a/k.cl", "a\\k.cl", true},      {"C:/src/a/k.cl", "c:\\src\\A\\k.cl", true},
        {"C:/src/a/k.cl", "rc\\a\\k.cl", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(zs_path_ends_with(rows[i].path, rows[i].end), rows[i].ends);
}

/* One of several folders has it; empty names of folders are nobody's. */
static void test_compiler(void **state)
{
    char folder[] = "/tmp/zescope-path-XXXXXX", file[64], list[96];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof(file), "%s/libigdfcl.so.2", folder);
    snprintf(list, sizeof(list), "/nowhere::%s:", folder);
    bool before = zs_has_igc2(list);
    assert_int_equal(before, zs_has_igc2(NULL));
    fclose(fopen(file, "w"));
    assert_true(zs_has_igc2(list));
    setenv("LD_LIBRARY_PATH", list, 1);
    assert_string_equal(zs_default_intel_device(), "tgllp");
    bool has_igc1 = zs_has_library("libigc.so.1", NULL);
    assert_string_equal(zs_default_device(), has_igc1 ? "skl" : "tgllp");
    unlink(file);
    assert_string_equal(zs_default_intel_device(), before ? "tgllp" : "skl");
    assert_string_equal(zs_default_device(), before && !has_igc1 ? "tgllp" : "skl");
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
