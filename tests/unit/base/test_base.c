/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "base/arena.h"
#include "base/duration.h"
#include "base/file.h"
#include "base/heap.h"
#include "base/id_map.h"
#include "base/index.h"
#include "base/json.h"
#include "base/name_map.h"
#include "base/number.h"
#include "base/options.h"
#include "base/parallel.h"
#include "base/reader.h"
#include "base/text.h"
#include "base/vec.h"

#include <errno.h>
#include <jansson.h>
#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t few_hashes_of(const void *items, size_t i)
{
    return ((const uint32_t *)items)[i] % 7;
}

/* Every item is found where many share a hash, and none that is not there. */
static void index_finds_what_was_put(void **state)
{
    enum { COUNT = 500 };
    (void)state;
    struct zs_index index = {0};
    uint32_t items[COUNT];
    for (uint32_t count = 0; count < COUNT; count++) {
        assert_true(zs_index_reserve(&index, count, few_hashes_of, items));
        assert_true(count * 2 < index.capacity);
        uint32_t value = count * 3;
        uint32_t *slot = zs_index_first(&index, value % 7);
        for (; *slot; slot = zs_index_next(&index, slot))
            assert_int_not_equal(items[*slot - 1], value);
        items[count] = value;
        *slot = count + 1;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t *slot = zs_index_first(&index, i * 3 % 7);
        while (*slot && items[*slot - 1] != i * 3)
            slot = zs_index_next(&index, (uint32_t *)(uintptr_t)slot);
        assert_int_equal(*slot, i + 1);
    }
    zs_index_fini(&index);
}

static void id_map_is_a_map(void **state)
{
    enum { KEYS = 3000, STEPS = 200000 };
    static void *expected[KEYS];
    struct zs_id_map map = {0};
    uint64_t x = 88172645463325252u;
    size_t count = 0;
    for (size_t i = 0; i < STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        size_t key = (size_t)(x % KEYS);
        uint64_t a = key % 7, b = key * 4096;
        assert_ptr_equal(zs_id_map_get(&map, a, b), expected[key]);
        if (x >> 60 < 8) {
            count += !expected[key];
            expected[key] = &expected[x % 100];
            assert_int_equal(zs_id_map_put(&map, a, b, expected[key]), 0);
        } else {
            count -= expected[key] != NULL;
            assert_ptr_equal(zs_id_map_remove(&map, a, b), expected[key]);
            expected[key] = NULL;
        }
        assert_int_equal(map.count, count);
    }
    zs_id_map_fini(&map);
}

/* What comes out first is the least, equal ones included, whatever the size of an item. */
static void heap_gives_the_least_first(void **state)
{
    enum { ITEMS = 500 };
    struct job {
        uint8_t name[67];
        struct {
            uint64_t due_ns;
        } time;
    };
    struct {
        struct job *items;
        size_t count, capacity;
    } jobs = {0};
    for (int round = 0; round < 2; round++) { /* one at a time; all at once */
        uint64_t sum = 0;
        for (uint32_t i = 0; i < ITEMS; i++) {
            struct job job = {.time = {i * 7919u % 251}};
            memset(job.name, (int)job.time.due_ns, sizeof(job.name));
            sum += job.time.due_ns;
            assert_true(ZS_VEC_PUSH(&jobs, job));
            if (!round)
                ZS_HEAP_UP(&jobs, time.due_ns);
        }
        if (round)
            ZS_HEAP_MAKE(&jobs, time.due_ns);
        for (uint64_t last = 0; jobs.count;) {
            struct job first = jobs.items[0];
            ZS_HEAP_POP(&jobs, time.due_ns);
            assert_true(first.time.due_ns >= last);
            assert_int_equal(first.name[0], first.time.due_ns);
            assert_int_equal(first.name[66], first.time.due_ns);
            last = first.time.due_ns;
            sum -= last;
        }
        assert_int_equal(sum, 0);
    }
    free(jobs.items);
}

static void name_map_is_a_map(void **state)
{
    enum { KEYS = 5000 };
    static char keys[KEYS][16];
    struct zs_name_map map = {0};
    assert_int_equal(zs_name_map_get(&map, ""), ZS_NAME_MAP_NONE);
    for (uint32_t i = 0; i < KEYS; i++) {
        snprintf(keys[i], sizeof(keys[i]), "%.*s-%u", (int)(i % 9), "kernel_8", i / 9);
        assert_int_equal(zs_name_map_get(&map, keys[i]), ZS_NAME_MAP_NONE);
        assert_true(zs_name_map_put(&map, keys[i], i));
    }
    assert_true(zs_name_map_put(&map, "kernel_-0", KEYS)); /* replaced */
    for (uint32_t i = 0; i < KEYS; i++) {
        char copy[16];
        memcpy(copy, keys[i], sizeof(copy));
        assert_int_equal(zs_name_map_get(&map, copy), strcmp(copy, "kernel_-0") ? i : KEYS);
    }
    assert_int_equal(map.count, KEYS);
    assert_int_equal(zs_name_map_get(&map, "kernel_"), ZS_NAME_MAP_NONE);
    zs_name_map_fini(&map);
}

static void reader_first_error_sticks(void **state)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6};
    struct zs_diag diag = {0};
    struct zs_reader r = zs_reader_make(zs_span_make(bytes, sizeof(bytes)), 0x100, &diag);
    assert_int_equal(zs_read_u32(&r, "first"), 0x04030201);
    assert_int_equal(zs_read_u32(&r, "second"), 0);
    assert_int_equal(r.error, -EINVAL);
    assert_int_equal(diag.offset_B, 0x104);
    assert_string_equal(diag.text, "second: 4 bytes expected, 2 remain");
    assert_int_equal(zs_read_u8(&r, "third"), 0);
    assert_int_equal(zs_reader_left(&r), 0);
    assert_string_equal(diag.text, "second: 4 bytes expected, 2 remain");
    char text[600];
    zs_diag_print(&diag, text, sizeof(text));
    assert_string_equal(text, "at byte 0x104: second: 4 bytes expected, 2 remain");
}

static void reader_bounds_counts_and_seeks(void **state)
{
    static const uint8_t bytes[12] = {0xff, 0xff, 0xff, 0xff, 2};
    struct zs_reader r = zs_reader_make(zs_span_make(bytes, sizeof(bytes)), 0, NULL);
    assert_int_equal(zs_read_count(&r, 4, "count"), 0);
    assert_int_equal(r.error, -EINVAL);
    r = zs_reader_make(zs_span_make(bytes, sizeof(bytes)), 0, NULL);
    zs_read_seek(&r, 4, "seek");
    assert_int_equal(zs_read_count(&r, 2, "count"), 2);
    struct zs_reader sub = zs_read_sub(&r, 4, "sub");
    assert_int_equal(zs_reader_offset(&sub), 8);
    assert_int_equal(zs_read_u64(&sub, "u64"), 0);
    assert_int_equal(sub.error, -EINVAL);
    assert_int_equal(r.error, 0);
    zs_read_seek(&r, 13, "seek");
    assert_int_equal(r.error, -EINVAL);
    struct zs_span out;
    assert_false(zs_span_sub(zs_span_make(bytes, 12), UINT64_MAX, 2, &out));
    assert_false(zs_span_sub(zs_span_make(bytes, 12), 4, UINT64_MAX, &out));
    assert_true(zs_span_sub(zs_span_make(bytes, 12), 12, 0, &out));
}

static void arena_limit_bounds(void **state)
{
    struct zs_arena arena;
    zs_arena_init(&arena, 4096);
    assert_non_null(zs_arena_alloc(&arena, 4000));
    assert_null(zs_arena_alloc(&arena, 4000));
    assert_null(zs_arena_array(&arena, SIZE_MAX, 16));
    assert_string_equal(zs_arena_strndup(&arena, "ab\0cd", 5), "ab");
    zs_arena_fini(&arena);
}

static void json_is_valid_for_any_bytes(void **state)
{
    struct zs_buf buf = {0};
    struct zs_json j = zs_json_make(&buf, 1);
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    zs_json_object(&j, NULL);
    zs_json_string_n(&j, "all", all + 1, 255);
    zs_json_string(&j, "utf8", "h\xc3\xa9 \xe2\x82\xac");
    zs_json_i64(&j, "min", INT64_MIN);
    zs_json_double(&j, "nan", 0.0 / 0.0);
    zs_json_array(&j, "empty");
    zs_json_end(&j);
    zs_json_u64(&j, "a \"key\"\n\\ \xff", 7);
    zs_json_end(&j);
    json_error_t error;
    json_t *root = json_loads(zs_buf_cstr(&buf), 0, &error);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "utf8")), "h\xc3\xa9 \xe2\x82\xac");
    assert_int_equal(json_integer_value(json_object_get(root, "min")), INT64_MIN);
    assert_true(json_is_null(json_object_get(root, "nan")));
    assert_int_equal(json_integer_value(json_object_get(root, "a \"key\"\n\\ \xef\xbf\xbd")), 7);
    json_decref(root);
    zs_buf_fini(&buf);
    j = zs_json_make(&buf, 0);
    j.html_safe = true;
    zs_json_string(&j, NULL, "</script>&");
    assert_string_equal(zs_buf_cstr(&buf), "\"\\u003c/script\\u003e\\u0026\"");
    zs_buf_fini(&buf);
}

static void file_write_is_atomic_and_reads_back(void **state)
{
    char dir[] = "/tmp/zs-base-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char path[64];
    snprintf(path, sizeof(path), "%s/f", dir);
    struct zs_diag diag = {0};
    struct zs_file file;
    assert_int_equal(zs_file_read(path, 0, &file, &diag), -ENOENT);
    assert_non_null(strstr(diag.text, path));
    assert_int_equal(zs_file_write(path, zs_span_make("hello", 5), NULL), 0);
    assert_int_equal(zs_file_read(path, 4, &file, NULL), -EFBIG);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0); /* refused unread: it has no such memory */
    assert_int_equal(zs_file_read(path, 0, &file, NULL), -EFBIG);
    assert_int_equal(truncate(path, 5), 0);
    assert_int_equal(zs_file_read(path, 0, &file, NULL), 0);
    assert_memory_equal(file.span.data, "hello", 5);
    zs_file_close(&file);
    assert_int_equal(zs_file_read(dir, 0, &file, NULL), -EISDIR);
    unlink(path);
    rmdir(dir);
}

static void file_out_writes_pieces_or_nothing(void **state)
{
    char dir[] = "/tmp/zs-base-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char path[64];
    snprintf(path, sizeof(path), "%s/f", dir);
    static uint8_t large[700000];
    for (size_t i = 0; i < sizeof(large); i++)
        large[i] = (uint8_t)(i * 31);
    struct zs_file_out *out;
    assert_int_equal(zs_file_out_open(path, &out, NULL), 0);
    for (size_t at = 0, n = 1; at < sizeof(large); at += n, n = n * 3 + 1) {
        n = n < sizeof(large) - at ? n : sizeof(large) - at;
        assert_int_equal(zs_file_out_write(out, large + at, n), 0);
    }
    assert_int_equal(access(path, F_OK), -1); /* not there before it is whole */
    assert_int_equal(zs_file_out_close(out, true, NULL), 0);
    struct zs_file file;
    assert_int_equal(zs_file_read(path, 0, &file, NULL), 0);
    assert_int_equal(file.span.size_B, sizeof(large));
    assert_memory_equal(file.span.data, large, sizeof(large));
    zs_file_close(&file);

    assert_int_equal(zs_file_out_open(path, &out, NULL), 0);
    zs_file_out_write(out, "x", 1);
    assert_int_equal(zs_file_out_close(out, false, NULL), 0); /* given up: the old one stays */
    assert_int_equal(zs_file_read(path, 0, &file, NULL), 0);
    assert_int_equal(file.span.size_B, sizeof(large));
    zs_file_close(&file);

    char link[64];
    struct stat st;
    snprintf(link, sizeof(link), "%s/l", dir);
    assert_int_equal(symlink("f", link), 0);
    assert_int_equal(zs_file_write(link, zs_span_make("hello", 5), NULL), 0);
    assert_true(!lstat(link, &st) && S_ISLNK(st.st_mode)); /* as /dev/stdout is one */
    assert_true(!stat(path, &st) && st.st_size == 5);
    unlink(link);

    struct zs_diag diag = {0};
    assert_int_equal(zs_file_out_open("/dev/full", &out, NULL), 0);
    zs_file_out_write(out, "x", 1);
    assert_int_equal(zs_file_out_close(out, true, &diag), -ENOSPC);
    assert_non_null(strstr(diag.text, "/dev/full"));
    assert_int_equal(zs_file_out_open("/nowhere/at/all", &out, NULL), -ENOENT);
    unlink(path);
    assert_int_equal(rmdir(dir), 0); /* no temporary file is left */
}

static void parallel_item(void *ctx, size_t i)
{
    atomic_fetch_add((atomic_size_t *)ctx, i + 1);
}

static void parallel_visits_each_item_once(void **state)
{
    atomic_size_t sum = 0;
    zs_parallel_for(1000, 4, parallel_item, &sum);
    assert_int_equal(sum, 500500);
    zs_parallel_for(0, 0, parallel_item, &sum);
    assert_int_equal(sum, 500500);
}

static void vec_grows(void **state)
{
    struct {
        int *items;
        size_t count, capacity;
    } v = {0};
    for (int i = 0; i < 1000; i++)
        assert_true(ZS_VEC_PUSH(&v, i));
    assert_int_equal(v.items[999], 999);
    free(v.items);
}

static void test_duration(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns; /* 0: refused */
    } cases[] = {
        {"10", 10000000000},
        {"1.5s", 1500000000},
        {"200ms", 200000000},
        {"50us", 50000},
        {".5s", 500000000},
        {"2.", 2000000000},
        {"0.0000000015", 1},
        {"1000000000", 1000000000000000000},
        {"1.5min", 90000000000},
        {"", 0},
        {".", 0},
        {"s", 0},
        {"0", 0},
        {"-5", 0},
        {"+5", 0},
        {"5x", 0},
        {"5 s", 0},
        {"1,5s", 0},
        {"1e3", 0},
        {"1.2.3", 0},
        {"0.0001us", 0},
        {"0.5ns", 0},
        {"80ns", 80},
        {"1000000001", 0},
        {"inf", 0},
        {"99999999999999999999999999", 0},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(cases); i++) {
        uint64_t ns = 0;
        assert_int_equal(zs_duration_parse(cases[i].text, &ns), cases[i].ns > 0);
        assert_int_equal(ns, cases[i].ns);
    }
    uint64_t ns = 0;
    assert_true(zs_period_parse("1.5us", &ns));
    assert_int_equal(ns, 1500);
    assert_false(zs_period_parse("50", &ns));
    assert_false(zs_period_parse("", &ns));
    (void)state;
}

static void expect_clean(const char *text, size_t size_B, const char *line, const char *lines)
{
    struct zs_buf out = {0}, scratch = {0};
    zs_text_put(&out, text, size_B);
    assert_string_equal(zs_buf_cstr(&out), line);
    struct zs_span clean = zs_text_clean(&scratch, text, size_B);
    assert_int_equal(clean.size_B, strlen(lines));
    assert_memory_equal(clean.data, lines, clean.size_B);
    zs_buf_fini(&out);
    zs_buf_fini(&scratch);
}

static void text_is_made_harmless(void **state)
{
    static const struct {
        const char *text;
        size_t size_B;
        const char *line, *lines; /* as a name, as a stream with colours */
    } rows[] = {
#define ROW(text, line, lines) {text, sizeof(text) - 1, line, lines}
        ROW("plain text, more than eight bytes", "plain text, more than eight bytes",
            "plain text, more than eight bytes"),
        ROW("\033[1;31mred\033[0m", "\\x1b[1;31mred\\x1b[0m", "\033[1;31mred\033[0m"),
        ROW("\033[2J", "\\x1b[2J", "\\x1b[2J"),
        ROW("\033]0;x\007", "\\x1b]0;x\\x07", "\\x1b]0;x\\x07"),
        ROW("\033[3", "\\x1b[3", "\\x1b[3"),
        ROW("\033[11111111111111m", "\\x1b[11111111111111m", "\\x1b[11111111111111m"),
        ROW("a\tb\nc\rd\0e", "a\\x09b\\x0ac\\x0dd\\x00e", "a\tb\nc\\x0dd\\x00e"),
        ROW("\x7f\xc2\x9b\xc2\xa0", "\\x7f\\u009b\xc2\xa0", "\\x7f\\u009b\xc2\xa0"),
        ROW("12345678\xe2\x80\xae\xe2\x81\xa6", "12345678\\u202e\\u2066", "12345678\\u202e\\u2066"),
        ROW("\xf3\xa0\x81\x81", "\\ue0041", "\\ue0041"),
        ROW("\xff\xc3\xe2\x82", "\\xff\\xc3\\xe2\\x82", "\\xff\\xc3\\xe2\\x82"),
        ROW("\xe2\x82\xac \xf0\x9f\x8e\x89 \xc3\xbc", "\xe2\x82\xac \xf0\x9f\x8e\x89 \xc3\xbc",
            "\xe2\x82\xac \xf0\x9f\x8e\x89 \xc3\xbc"),
        ROW("", "", ""),
#undef ROW
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++)
        expect_clean(rows[i].text, rows[i].size_B, rows[i].line, rows[i].lines);
    /* every byte at every place of a word */
    for (int byte = 0; byte < 256; byte++) {
        for (size_t at = 0; at < 16; at++) {
            char text[17] = "0123456789abcdef", want[24];
            text[at] = (char)byte;
            bool plain = (byte >= 0x20 && byte < 0x7f);
            snprintf(want, sizeof(want), plain ? "%.*s%c%s" : "%.*s\\x%02x%s", (int)at, text, byte,
                     &"0123456789abcdef"[at + 1]);
            expect_clean(text, 16, want, byte == '\n' || byte == '\t' ? text : want);
        }
    }
}

static void options_of_any_size(void **state)
{
    struct options {
        size_t size_B;
        uint32_t a, b;
    } own, given = {.size_B = sizeof(given), .a = 1, .b = 2};
    struct {
        struct options known;
        uint8_t later[5];
    } longer = {.known = {.size_B = sizeof(longer), .a = 3, .b = 4}};
    assert_int_equal(ZS_OPTIONS_TAKE(&own, &given, NULL), 0);
    assert_int_equal(own.b, 2);
    given.size_B = offsetof(struct options, b);
    assert_int_equal(ZS_OPTIONS_TAKE(&own, &given, NULL), 0);
    assert_int_equal(own.a, 1);
    assert_int_equal(own.b, 0);
    assert_int_equal(own.size_B, sizeof(own));
    assert_int_equal(ZS_OPTIONS_TAKE(&own, &longer.known, NULL), 0);
    assert_int_equal(own.b, 4);
    longer.later[4] = 1;
    assert_int_equal(ZS_OPTIONS_TAKE(&own, &longer.known, NULL), -E2BIG);
    longer.known.size_B = sizeof(longer.known) + 4;
    assert_int_equal(ZS_OPTIONS_TAKE(&own, &longer.known, NULL), 0);
    longer.known.size_B = 7;
    assert_int_equal(ZS_OPTIONS_TAKE(&own, &longer.known, NULL), -EINVAL);
    own.a = 9;
    assert_int_equal(ZS_OPTIONS_TAKE(&own, NULL, NULL), 0);
    assert_int_equal(own.a, 0);
}

/* As localedef makes it: a comma in numbers, a point between thousands. */
static const uint8_t comma_locale[] = {
    0x14, 0x11, 0x03, 0x20, 0x06, 0,    0,    0,    0x20, 0,    0,    0,    0x22, 0,    0, 0,
    0x24, 0,    0,    0,    0x28, 0,    0,    0,    0x2c, 0,    0,    0,    0x30, 0,    0, 0,
    0x2c, 0,    0x2e, 0,    0x03, 0x03, 0,    0,    0x2c, 0,    0,    0,    0x2e, 0,    0, 0,
    0x41, 0x4e, 0x53, 0x49, 0x5f, 0x58, 0x33, 0x2e, 0x34, 0x2d, 0x31, 0x39, 0x36, 0x38, 0};

/* The library in a program that has set a locale with a comma. */
static void numbers_have_a_point(void **state)
{
    char folder[] = "/tmp/zescope-locale-XXXXXX", path[64], text[ZS_NUMBER_CHARS], *end;
    struct zs_buf out = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/comma", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/comma/LC_NUMERIC", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(comma_locale, 1, sizeof(comma_locale), file), sizeof(comma_locale));
    fclose(file);
    setenv("LOCPATH", folder, 1);
    assert_non_null(setlocale(LC_NUMERIC, "comma"));
    snprintf(text, sizeof(text), "%g", 1.5);
    assert_string_equal(text, "1,5");

    struct zs_json json = zs_json_make(&out, 0);
    zs_json_object(&json, NULL);
    zs_json_double(&json, "a", 0.25);
    zs_json_exact(&json, "b", 0.1);
    zs_json_end(&json);
    zs_buf_printf(&out, " %.2f %%", 99.5);
    assert_string_equal(zs_buf_cstr(&out), "{\"a\":0.25,\"b\":0.1} 99.50 %");
    zs_number_format(text, sizeof(text), "%.3f", 0.5);
    assert_string_equal(text, "0.500");
    assert_true(zs_number_parse("2.75 m", &end) == 2.75);
    assert_string_equal(end, " m");
    snprintf(text, sizeof(text), "%g", 1.5); /* the program's own stay as they were */
    assert_string_equal(text, "1,5");

    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    remove(path);
    snprintf(path, sizeof(path), "%s/comma", folder);
    rmdir(path);
    rmdir(folder);
    zs_buf_fini(&out);
    (void)state;
}

static void shortest_numbers(void **state)
{
    static const struct {
        double value;
        unsigned size_B;
        const char *text;
    } rows[] = {{0.1, 8, "0.1"},
                {1.0 / 3, 8, "0.3333333333333333"},
                {5e-324, 8, "5e-324"},
                {(double)0.1f, 4, "0.1"},
                {(double)16777217.0f, 4, "16777216"},
                {(double)(1.0f / 3), 4, "0.33333334"},
                {0.5, 2, "0.5"},
                {65504, 2, "65504"},
                {0.0999755859375, 2, "0.099976"},
                {-0.0, 4, "-0"}};
    char text[ZS_NUMBER_CHARS];
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        zs_number_shortest(text, rows[i].value, rows[i].size_B);
        assert_string_equal(text, rows[i].text);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_made_harmless),
        cmocka_unit_test(options_of_any_size),
        cmocka_unit_test(id_map_is_a_map),
        cmocka_unit_test(index_finds_what_was_put),
        cmocka_unit_test(heap_gives_the_least_first),
        cmocka_unit_test(name_map_is_a_map),
        cmocka_unit_test(reader_first_error_sticks),
        cmocka_unit_test(reader_bounds_counts_and_seeks),
        cmocka_unit_test(arena_limit_bounds),
        cmocka_unit_test(json_is_valid_for_any_bytes),
        cmocka_unit_test(file_write_is_atomic_and_reads_back),
        cmocka_unit_test(file_out_writes_pieces_or_nothing),
        cmocka_unit_test(parallel_visits_each_item_once),
        cmocka_unit_test(vec_grows),
        cmocka_unit_test(test_duration),
        cmocka_unit_test(numbers_have_a_point),
        cmocka_unit_test(shortest_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
