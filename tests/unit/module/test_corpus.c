/* SPDX-License-Identifier: MIT */
/*
 * Real modules (the corpus of the fuzzers, argv[1]): written back byte for byte, cut off at every
 * place, opened from several threads.
 */
#include "base/file.h"
#include "base/parallel.h"
#include "make.h"
#include "module/patch.h"

#include "../test.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static char **main_argv;

static void each_file(const char *folder, void (*fn)(struct zs_span bytes, const char *name))
{
    char path[4096], name[8192];
    snprintf(path, sizeof(path), "%s/%s", main_argv[1], folder);
    DIR *dir = opendir(path);
    int count = 0;
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        struct zs_file file;
        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        assert_int_equal(zs_file_read(name, 0, &file, NULL), 0);
        fn(file.span, name);
        zs_file_close(&file);
        count++;
    }
    closedir(dir);
    assert_true(count > 0);
}

static void write_back(struct zs_span bytes, const char *name)
{
    struct zs_patch_module patch;
    struct zs_buf out = {0};
    assert_int_equal(zs_patch_module_read(bytes, 0, &patch, NULL), 0);
    assert_int_equal(zs_patch_module_write(&patch, &out), 0);
    if (!zs_span_equal(zs_buf_span(&out), bytes))
        fail_msg("%s is not written back byte for byte", name);
    zs_patch_module_fini(&patch);
    zs_buf_fini(&out);
}

static void write_back_elf(struct zs_span bytes, const char *name)
{
    struct zs_arena arena;
    struct zs_elf elf;
    struct zs_buf out = {0};
    zs_arena_init(&arena, 0);
    assert_int_equal(zs_elf_parse(bytes, 0, &arena, NULL, NULL, &elf), 0);
    const struct zs_section *device = zs_elf_section_of_type(&elf, ZS_SHT_DEVICE_BINARY);
    assert_non_null(device);
    assert_int_equal(zs_neo_elf_rewrite(&elf, device->bytes, &out), 0);
    if (!zs_span_equal(zs_buf_span(&out), bytes))
        fail_msg("%s is not written back byte for byte", name);
    zs_arena_fini(&arena);
    zs_buf_fini(&out);
}

static void test_round_trip(void **state)
{
    (void)state;
    each_file("patch_tokens", write_back);
    each_file("neo_elf", write_back_elf);
}

/* A longer heap in the first kernel of a real module: everything else stays what it was. */
static void edit(struct zs_span bytes, const char *name)
{
    (void)name;
    struct zs_patch_module patch;
    struct zs_buf out = {0}, heap = {0};
    struct zs_module *before, *after;
    struct zs_module_options options = {.size_B = sizeof(options), .verify_checksums = true};
    assert_int_equal(zs_patch_module_read(bytes, 0, &patch, NULL), 0);
    zs_buf_append(&heap, patch.kernels[0].heap.data, patch.kernels[0].heap.size_B);
    zs_buf_pad(&heap, 0x55, 64);
    patch.kernels[0].heap = zs_buf_span(&heap);
    patch.kernels[0].unpadded_B += 16;
    assert_int_equal(zs_patch_module_write(&patch, &out), 0);
    assert_int_equal(out.size_B, bytes.size_B + 64);
    assert_int_equal(zs_module_open_memory(bytes, &options, &before, NULL), 0);
    assert_int_equal(zs_module_open_memory(zs_buf_span(&out), &options, &after, NULL), 0);
    const struct zs_image *a = &before->images[0], *b = &after->images[0];
    assert_int_equal(a->kernel_count, b->kernel_count);
    assert_int_equal(b->kernels[0].code.size_B, a->kernels[0].code.size_B + 16);
    assert_memory_equal(b->kernels[0].heap.data, heap.data, heap.size_B);
    for (uint32_t i = 0; i < a->kernel_count; i++) {
        assert_string_equal(a->kernels[i].name, b->kernels[i].name);
        assert_true(zs_span_equal(a->kernels[i].ssh, b->kernels[i].ssh));
        assert_true(zs_span_equal(a->kernels[i].tokens.bytes, b->kernels[i].tokens.bytes));
        assert_int_equal(a->kernels[i].payload_count, b->kernels[i].payload_count);
        assert_true(i == 0 || a->kernels[i].checksum == b->kernels[i].checksum);
    }
    zs_module_close(before);
    zs_module_close(after);
    zs_patch_module_fini(&patch);
    zs_buf_fini(&out);
    zs_buf_fini(&heap);
}

/* A zebin inside a NEO ELF, as drivers pack it, is the same module. */
static void nest(struct zs_span bytes, const char *name)
{
    (void)name;
    const struct zs_neo_section section = {
        .name = "Intel(R) OpenCL Device Binary", .type = ZS_SHT_DEVICE_BINARY, .bytes = bytes};
    struct zs_buf out = {0};
    struct zs_module *bare, *nested;
    assert_int_equal(zs_neo_elf_write(ZS_ELF_OPENCL_EXECUTABLE, &section, 1, &out), 0);
    assert_int_equal(zs_module_open_memory(bytes, NULL, &bare, NULL), 0);
    assert_int_equal(zs_module_open_memory(zs_buf_span(&out), NULL, &nested, NULL), 0);
    assert_int_equal(nested->container, ZS_CONTAINER_NEO_ELF);
    const struct zs_image *a = &bare->images[0], *b = &nested->images[0];
    assert_int_equal(b->format, ZS_CONTAINER_ZEBIN);
    assert_int_equal(a->kernel_count, b->kernel_count);
    for (uint32_t i = 0; i < a->kernel_count; i++) {
        assert_string_equal(a->kernels[i].name, b->kernels[i].name);
        assert_true(zs_span_equal(a->kernels[i].code, b->kernels[i].code));
        assert_memory_equal(nested->bytes.data + b->kernels[i].code_offset_B,
                            a->kernels[i].code.data, a->kernels[i].code.size_B);
    }
    zs_module_close(bare);
    zs_module_close(nested);
    zs_buf_fini(&out);
}

static void test_nested_zebin(void **state)
{
    (void)state;
    each_file("zebin", nest);
}

static void test_edit(void **state)
{
    (void)state;
    each_file("patch_tokens", edit);
}

/* Cut off anywhere: an error with a place inside the input, or (behind the last thing that
 * matters) a module. */
static void cut(struct zs_span bytes, const char *name)
{
    for (size_t size_B = 0; size_B < bytes.size_B; size_B += 1 + size_B / 512) {
        struct zs_module *module;
        struct zs_diag diag = {0};
        uint8_t *exact = malloc(size_B ? size_B : 1);
        struct zs_module_options options = {.size_B = sizeof(options), .borrow = true};
        memcpy(exact, bytes.data, size_B);
        int error = zs_module_open_memory(zs_span_make(exact, size_B), &options, &module, &diag);
        if (error && (!diag.text[0] || diag.offset_B > size_B))
            fail_msg("%s cut to %zu: error %d without a place: %s", name, size_B, error, diag.text);
        zs_module_close(module);
        free(exact);
    }
}

static void test_cut(void **state)
{
    (void)state;
    static const char *const folders[] = {"patch_tokens", "neo_elf", "zebin", "ar", "igc_debug"};
    for (size_t i = 0; i < ZS_ARRAY_LEN(folders); i++)
        each_file(folders[i], cut);
}

static struct zs_span shared;

static void open_once(void *ctx, size_t i)
{
    (void)i;
    struct zs_module *module;
    struct zs_module_options options = {.size_B = sizeof(options), .borrow = true};
    if (zs_module_open_memory(shared, &options, &module, NULL))
        __atomic_add_fetch((int *)ctx, 1, __ATOMIC_RELAXED);
    else
        zs_module_close(module);
}

static void open_parallel(struct zs_span bytes, const char *name)
{
    (void)name;
    int failures = 0;
    shared = bytes;
    zs_parallel_for(32, 4, open_once, &failures);
    assert_int_equal(failures, 0);
}

static void test_threads(void **state)
{
    (void)state;
    each_file("zebin", open_parallel);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_nested_zebin),
        cmocka_unit_test(test_edit),       cmocka_unit_test(test_cut),
        cmocka_unit_test(test_threads),
    };
    main_argv = argv;
    if (argc < 2)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
