/* SPDX-License-Identifier: MIT */
/* Patch tokens made by hand: what each token means, and what is refused. */
#include "make.h"

#include "module/patch.h"

#include "../test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static struct zs_module *open_ok(struct zs_buf *blob)
{
    struct zs_module *module = NULL;
    struct zs_diag diag = {0};
    struct zs_module_options options = {.size_B = sizeof(options), .verify_checksums = true};
    int error = zs_module_open_memory(zs_buf_span(blob), &options, &module, &diag);
    if (error)
        fail_msg("error %d: %s", error, diag.text);
    zs_buf_fini(blob);
    return module;
}

static void open_fails(struct zs_buf *blob, int want_error, const char *want_text)
{
    struct zs_module *module = NULL;
    struct zs_diag diag = {0};
    int error = zs_module_open_memory(zs_buf_span(blob), NULL, &module, &diag);
    if (error != want_error || !strstr(diag.text, want_text))
        fail_msg("error %d (%s), wanted %d (%s)", error, diag.text, want_error, want_text);
    assert_null(module);
    assert_int_equal(diag.error, error);
    assert_true(diag.offset_B <= blob->size_B);
    zs_buf_fini(blob);
}

static struct made_kernel usual_kernel(void)
{
    struct made_kernel k = {
        .name = "k", .code_B = 32, .heap_B = 192, .dsh_B = 192, .ssh_B = 64 * 3 + 16};
    put_usual_tokens(&k.tokens);
    return k;
}

static void test_empty_program(void **state)
{
    (void)state;
    struct zs_buf blob = {0};
    make_patch_blob(&blob, NULL, NULL, 0);
    struct zs_module *m = open_ok(&blob);
    assert_int_equal(m->container, ZS_CONTAINER_PATCH_TOKENS);
    assert_int_equal(m->image_count, 1);
    assert_int_equal(m->images[0].kernel_count, 0);
    assert_string_equal(m->images[0].device, "skl");
    assert_false(m->images[0].device_exact);
    assert_int_equal(m->images[0].stepping, 9);
    assert_int_equal(m->images[0].pointer_B, 8);
    zs_module_close(m);
}

/* Binding table behind three surface states; it stands at 192 of the SSH. */
static void fill_ssh(struct zs_buf *blob, const struct zs_kernel *k)
{
    size_t at_B = (size_t)(k->code_offset_B + k->heap.size_B + k->dsh.size_B + 192);
    set_u32(blob, at_B, 0);
    set_u32(blob, at_B + 4, 64);
    set_u32(blob, at_B + 8, 128);
}

static void put_arg_info(struct zs_buf *tokens, uint32_t arg, const char *const *texts)
{
    put_u32(tokens, 26);
    put_u32(tokens, 32 + 5 * 16);
    put_u32(tokens, arg);
    for (int i = 0; i < 5; i++)
        put_u32(tokens, 16);
    for (int i = 0; i < 5; i++)
        put_text(tokens, texts[i], 16);
}

static struct zs_buf full_kernel_blob(void)
{
    static const char *const info0[] = {"__global", "NONE", "out", "float4*;8", "const restrict"};
    static const char *const info1[] = {"__private", "NONE", "n", "int;4", "NONE"};
    static const char *const info4[] = {"__global", "__read_only", "im", "image2d_t;8", "NONE"};
    static const char *const info6[] = {"__local", "NONE", "unused", "char*;8", "volatile"};
    struct made_kernel k = usual_kernel();
    struct zs_buf blob = {0}, *t = &k.tokens;
    TOKEN(t, 5, 64, 2, 0);                  /* sampler table */
    TOKEN(t, 8, 192, 3, 0);                 /* binding table */
    TOKEN(t, 21, 96, 0, 0, 0);              /* interface descriptor */
    TOKEN(t, 30, 0, 64, 8, 8, 0, 0, 0);     /* argument 0: pointer at 8, surface at 64 */
    TOKEN(t, 17, 42, 0, 16, 4, 0, 0, 0, 0); /* its buffer offset */
    TOKEN(t, 17, 1, 1, 20, 4, 0, 0, 0, 0);  /* argument 1 by value, in two pieces */
    TOKEN(t, 17, 1, 1, 24, 4, 8, 0, 0, 0);
    TOKEN(t, 17, 8, 2, 28, 8, 16, 0, 0, 0);       /* argument 2: local, aligned to 16 */
    TOKEN(t, 16, 3, 1, 80, 0, 0, 0, 0, 0, 0);     /* argument 3: second sampler of the table */
    TOKEN(t, 12, 4, 4, 128, 0, 0, 1, 1, 0, 0, 0); /* argument 4: writeable 2D image */
    TOKEN(t, 17, 9, 4, 36, 4, 0, 0, 0, 0);
    TOKEN(t, 11, 5, 0, 0, 0, 0);             /* argument 5: stateful buffer */
    TOKEN(t, 17, 2, 0, 40, 4, 4, 0, 0, 0);   /* local size y */
    TOKEN(t, 38, 0xffffffff, 48, 8, 100, 1); /* private memory per work-item */
    TOKEN(t, 33, 0, 0xffffffff, 56, 8);      /* printf */
    TOKEN(t, 15, 0, 512);
    TOKEN(t, 18, 0, 2048);
    TOKEN(t, 55, 0, 1024);
    put_arg_info(t, 0, info0);
    put_arg_info(t, 1, info1);
    put_arg_info(t, 4, info4);
    put_arg_info(t, 6, info6);
    put_u32(t, 27);
    put_u32(t, 12 + 48);
    put_u32(t, 48);
    put_text(t, "intel_reqd_sub_group_size(8) vec_type_hint(int)", 48);
    TOKEN(t, 28, 7, 4, 0x00206968);
    TOKEN(t, 28, 3, 4, 0x00006f6e);
    TOKEN(t, 9999, 1, 2, 3);
    make_patch_blob(&blob, NULL, &k, 1);
    return blob;
}

static void test_full_kernel(void **state)
{
    (void)state;
    struct zs_buf blob = full_kernel_blob();
    struct zs_module *m;
    assert_int_equal(zs_module_open_memory(zs_buf_span(&blob), NULL, &m, NULL), 0);
    fill_ssh(&blob, &m->images[0].kernels[0]);
    zs_module_close(m);
    struct zs_diag diag = {0};
    if (zs_module_open_memory(zs_buf_span(&blob), NULL, &m, &diag))
        fail_msg("%s", diag.text);
    const struct zs_kernel *k = &m->images[0].kernels[0];
    bool ok;
    zs_kernel_checksum(&m->images[0], k, &ok);
    assert_false(ok); /* the surface state heap was changed behind its back */
    assert_int_equal(k->simd, 8);
    assert_int_equal(k->barrier_count, 1);
    assert_int_equal(k->code.size_B, 32);
    assert_int_equal(k->heap.size_B, 192);
    assert_int_equal(k->grf_count, 128);
    assert_int_equal(k->slm_B, 512);
    assert_int_equal(k->scratch_B[0], 2048);
    assert_int_equal(k->scratch_B[1], 1024);
    assert_int_equal(k->private_B, 100);
    assert_int_equal(k->private_per_hw_thread_B, 800);
    assert_int_equal(k->required_subgroup_size, 8);
    assert_int_equal(k->thread.per_thread_B, 96);
    assert_int_equal(k->thread.cross_thread_B, 64);
    assert_int_equal(k->interface_descriptor_offset_B, 96);
    assert_int_equal(k->arg_count, 7);
    assert_int_equal(k->args[0].kind, ZS_ARG_BUFFER);
    assert_string_equal(k->args[0].type, "float4*");
    assert_int_equal(k->args[0].type_size_B, 8);
    assert_int_equal(k->args[0].qualifiers, ZS_QUALIFIER_CONST | ZS_QUALIFIER_RESTRICT);
    assert_int_equal(k->args[0].address_modes, ZS_ADDRESS_STATELESS | ZS_ADDRESS_STATEFUL);
    assert_int_equal(k->surfaces[k->args[0].surface].bti, 1);
    assert_int_equal(k->args[1].kind, ZS_ARG_VALUE);
    assert_int_equal(k->args[1].value_size_B, 12);
    assert_int_equal(k->args[2].kind, ZS_ARG_LOCAL);
    assert_int_equal(k->args[2].slm_alignment_B, 16);
    assert_int_equal(k->args[3].kind, ZS_ARG_SAMPLER);
    assert_int_equal(k->samplers[k->args[3].sampler].index, 1);
    assert_int_equal(k->samplers[0].arg, ZS_NONE);
    assert_int_equal(k->args[4].kind, ZS_ARG_IMAGE);
    assert_int_equal(k->args[4].image_type, ZS_IMAGE_2D);
    assert_int_equal(k->args[4].access, ZS_ACCESS_READ_ONLY); /* what the source says */
    assert_true(k->args[4].transformable);
    assert_int_equal(k->surfaces[k->args[4].surface].bti, 2);
    assert_int_equal(k->args[5].kind, ZS_ARG_BUFFER);
    assert_int_equal(k->args[5].address_modes, ZS_ADDRESS_STATEFUL);
    assert_int_equal(k->args[6].kind, ZS_ARG_LOCAL); /* not used: by its declared type */
    assert_int_equal(k->args[6].qualifiers, ZS_QUALIFIER_VOLATILE);
    assert_int_equal(k->payload_count, 9);
    assert_int_equal(k->payload[0].kind, ZS_PAYLOAD_ARG_POINTER);
    assert_int_equal(k->payload[3].source_offset_B, 8);
    assert_int_equal(k->payload[6].kind, ZS_PAYLOAD_LOCAL_SIZE);
    assert_int_equal(k->payload[6].dim, 1);
    assert_int_equal(k->payload[8].kind, ZS_PAYLOAD_PRINTF_BUFFER);
    assert_string_equal(zs_kernel_string(k, 7), "hi ");
    assert_string_equal(zs_kernel_string(k, 3), "no");
    assert_null(zs_kernel_string(k, 4));
    assert_int_equal(m->note_total, 1); /* token 9999 */
    assert_non_null(strstr(m->notes[0].text, "9999"));
    zs_module_close(m);
    zs_buf_fini(&blob);
}

/* One token behind the usual ones; cross-thread data of 64 bytes, 3 surface states, DSH of 192. */
static const struct {
    const char *text;
    uint32_t number;
    uint32_t words[12];
    uint32_t count;
} bad_tokens[] = {
    {"at least 24 expected", 23, {8, 8}, 2},
    {"1, 8, 16 or 32 expected", 23, {0, 0, 0, 24}, 4},
    {"at least 28 expected", 22, {0}, 1},
    {"bytes 0x3c to 0x44", 17, {1, 0, 60, 8, 0, 0, 0, 0}, 8},
    {"bytes 0xffffffff", 17, {1, 0, 0xffffffff, 8, 0, 0, 0, 0}, 8},
    {"bytes 0x40 to 0x10000003f", 17, {2, 0, 64, 0xffffffff, 0, 0, 0, 0}, 8},
    {"source offset", 17, {1, 0, 0, 4, 0xfffffffe, 0, 0, 0}, 8},
    {"argument number 4294967295", 17, {1, 0xffffffff, 0, 4, 0, 0, 0, 0}, 8},
    {"argument number 4096", 30, {4096, 0, 0, 8, 0, 0, 0}, 7},
    {"argument number", 12, {0x10000, 4, 0, 0, 0, 0, 0, 0, 0, 0}, 10},
    {"surface state at 0xc1", 30, {0, 0xc1, 0, 8, 0, 0, 0}, 7},
    {"surface state at 0xfffffff0", 11, {0, 0xfffffff0, 0, 0, 0}, 5},
    {"surface state at 0xd0", 12, {0, 4, 0xd0, 0, 0, 0, 0, 0, 0, 0}, 10},
    {"sampler state at 0xb1", 16, {0, 1, 0xb1, 0, 0, 0, 0, 0, 0}, 9},
    {"12 samplers at 0x8", 5, {8, 12, 0}, 3},
    {"more than 512 samplers", 5, {0, 0xffffffff, 0}, 3},
    {"257 entries: at most 256", 8, {0, 257, 0}, 3},
    {"5 entries at 0xc0", 8, {192, 5, 0}, 3},
    {"32 bytes at 0xa8", 21, {168, 0, 0, 0}, 4},
    {"argument information", 26, {0, 16, 16, 16, 16, 16, 0}, 7},
    {"string of 16 bytes", 27, {16, 0}, 2},
    {"string of 9 bytes", 28, {0, 9, 0, 0}, 4},
    {"2 symbols do not fit", 53, {2, 0}, 2},
    {"relocation type", 54, {1}, 1},
    {"entry points 0x21", 22, {0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0}, 12},
    {"at least 20 expected", 25, {}, 0},
};

static void test_bad_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZS_ARRAY_LEN(bad_tokens); i++) {
        struct made_kernel k = usual_kernel();
        struct zs_buf blob = {0};
        if (!strcmp(bad_tokens[i].text, "entry points 0x21")) {
            TOKEN(&k.tokens, 22, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0x21, 0);
        } else {
            put_token(&k.tokens, bad_tokens[i].number, bad_tokens[i].words, bad_tokens[i].count);
        }
        make_patch_blob(&blob, NULL, &k, 1);
        const char *text = !strcmp(bad_tokens[i].text, "at least 20 expected")
                               ? "at least 12 expected"
                               : bad_tokens[i].text;
        open_fails(&blob, -EINVAL, text);
    }
}

/* Single bytes of a good blob changed. The kernel header stands at 28. */
static const struct {
    const char *text;
    size_t at_B;
    uint32_t value;
    int error;
} bad_words[] = {
    {"not a module", 0, 0, -EINVAL},
    {"version 1080", 4, 1080, -ENOTSUP},
    {"version 1083", 4, 1083, -ENOTSUP},
    {"4294967295 kernels", 16, 0xffffffff, -EINVAL},
    {"kernel checksum", 16, 2, -EINVAL},
    {"patch list of the program", 24, 0xfffffff0, -EINVAL},
    {"kernel name:", 28 + 12, 0xffffffff, -EINVAL},
    {"patch list of the kernel", 28 + 16, 0x7fffffff, -EINVAL},
    {"kernel heap:", 28 + 20, 0xffffffff, -EINVAL},
    {"general state heap", 28 + 24, 0xffffffff, -EINVAL},
    {"dynamic state heap", 28 + 28, 0xffffffff, -EINVAL},
    {"surface state heap", 28 + 32, 0xffffffff, -EINVAL},
    {"193 bytes of code", 28 + 36, 193, -EINVAL},
};

static void test_bad_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ZS_ARRAY_LEN(bad_words); i++) {
        struct made_kernel k = usual_kernel();
        struct zs_buf blob = {0};
        make_patch_blob(&blob, NULL, &k, 1);
        set_u32(&blob, bad_words[i].at_B, bad_words[i].value);
        open_fails(&blob, bad_words[i].error, bad_words[i].text);
    }
}

static void test_bad_lists(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t number, size_B;
    } rows[] = {
        {"at least 8 expected", 17, 0},
        {"at least 8 expected", 17, 7},
        {"8 remain in the patch list", 17, 9},
        {"remain in the patch list", 17, 0xffffffff},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct made_kernel k = usual_kernel();
        struct zs_buf blob = {0};
        put_u32(&k.tokens, rows[i].number);
        put_u32(&k.tokens, rows[i].size_B);
        make_patch_blob(&blob, NULL, &k, 1);
        open_fails(&blob, -EINVAL, rows[i].text);
    }
    struct made_kernel none = {.name = "none", .code_B = 0};
    struct zs_buf blob = {0};
    TOKEN(&none.tokens, 25, 32);
    make_patch_blob(&blob, NULL, &none, 1);
    open_fails(&blob, -EINVAL, "kernel none: no token 23");
}

static void test_checksum(void **state)
{
    (void)state;
    struct made_kernel k = usual_kernel();
    struct zs_buf blob = {0};
    struct zs_module *m;
    struct zs_diag diag = {0};
    struct zs_module_options options = {.size_B = sizeof(options), .verify_checksums = true};
    make_patch_blob(&blob, NULL, &k, 1);
    set_u32(&blob, 28, 0xdeadbeef);
    assert_int_equal(zs_module_open_memory(zs_buf_span(&blob), &options, &m, &diag), -EINVAL);
    assert_non_null(strstr(diag.text, "checksum 0xdeadbeef"));
    assert_int_equal(zs_module_open_memory(zs_buf_span(&blob), NULL, &m, NULL), 0);
    bool ok = true;
    zs_kernel_checksum(&m->images[0], &m->images[0].kernels[0], &ok);
    assert_false(ok);
    zs_module_close(m);
    zs_buf_fini(&blob);
}

static void put_name_field(struct zs_buf *buf, const char *name)
{
    put_text(buf, name, 1024);
}

/* The program's table of one symbol. */
static void put_symbol(struct zs_buf *buf, uint32_t kind, uint32_t offset_B, uint32_t size_B,
                       const char *name)
{
    put_u32(buf, 53);
    put_u32(buf, 12 + 1036);
    put_u32(buf, 1);
    put_u32(buf, kind);
    put_u32(buf, offset_B);
    put_u32(buf, size_B);
    put_name_field(buf, name);
}

/* The same with an offset of 64 bits, and gaps that have anything in them. */
static void put_wide_symbol(struct zs_buf *buf, uint32_t kind, uint32_t offset_B, uint32_t size_B,
                            const char *name)
{
    put_u32(buf, 53);
    put_u32(buf, 12 + 1048);
    put_u32(buf, 1);
    put_u32(buf, kind);
    put_u32(buf, 32767);
    put_u32(buf, offset_B);
    put_u32(buf, 0);
    put_u32(buf, size_B);
    put_name_field(buf, name);
    put_u32(buf, 4);
}

/* Buffers with inline data (unaligned, so that all behind it is), pointers, symbols, names. */
static void test_program_scope(void **state)
{
    struct zs_buf program = {0}, blob = {0};
    struct made_kernel kernels[2] = {usual_kernel(), usual_kernel()};
    TOKEN(&program, 42, 0, 13);
    zs_buf_append(&program, "thirteen byte", 13);
    TOKEN(&program, 41, 0, 0, 16);
    zs_buf_append(&program, "sixteen bytes...", 16);
    TOKEN(&program, 47, 0, 8, 0, 1, 0); /* in global at 8: address of constant */
    if (*state)                         /* as IGC 1.0.17791 writes it */
        put_wide_symbol(&program, 3, 4, 8, "variable");
    else
        put_symbol(&program, 3, 4, 8, "variable");
    put_u32(&program, 57);
    put_u32(&program, 12 + 2048);
    put_u32(&program, 1);
    put_name_field(&program, "device_variable");
    put_name_field(&program, "host variable");
    put_u32(&kernels[0].tokens, 54); /* two relocations: one of variable, one unresolved */
    put_u32(&kernels[0].tokens, 12 + 2 * 1032);
    put_u32(&kernels[0].tokens, 2);
    put_u32(&kernels[0].tokens, 1);
    put_u32(&kernels[0].tokens, 8);
    put_name_field(&kernels[0].tokens, "variable");
    put_u32(&kernels[0].tokens, 2);
    put_u32(&kernels[0].tokens, 20);
    put_name_field(&kernels[0].tokens, "elsewhere");
    kernels[1].name = ZS_FUNCTION_HOLDER_NAME;
    make_patch_blob(&blob, &program, kernels, 2);
    struct zs_module *m = open_ok(&blob);
    const struct zs_image *image = &m->images[0];
    assert_int_equal(image->buffers[ZS_BUFFER_CONSTANT].size_B, 13);
    assert_memory_equal(image->buffers[ZS_BUFFER_CONSTANT].init.data, "thirteen byte", 13);
    assert_memory_equal(image->buffers[ZS_BUFFER_GLOBAL].init.data, "sixteen bytes...", 16);
    assert_int_equal(image->relocation_count, 1);
    assert_int_equal(image->relocations[0].kind, ZS_RELOCATION_ADD_BASE);
    assert_true(image->relocations[0].adds_in_place);
    assert_int_equal(image->relocations[0].at.kind, ZS_PLACE_GLOBAL);
    assert_int_equal(image->relocations[0].at.offset_B, 8);
    assert_int_equal(image->relocations[0].target.kind, ZS_PLACE_CONSTANT);
    assert_int_equal(image->symbol_count, 1);
    assert_int_equal(image->symbols[0].kind, ZS_SYMBOL_GLOBAL_VARIABLE);
    assert_int_equal(image->host_access_count, 1);
    assert_string_equal(image->host_access[0].host_name, "host variable");
    const struct zs_kernel *k = zs_image_kernel(image, "k");
    assert_int_equal(k->relocation_count, 2);
    assert_int_equal(k->relocations[0].target.kind, ZS_PLACE_GLOBAL);
    assert_int_equal(k->relocations[0].target.offset_B, 4);
    assert_int_equal(k->relocations[1].target.kind, ZS_PLACE_NONE);
    assert_true(image->kernels[1].is_function_holder);
    assert_null(zs_image_kernel(image, "nobody"));
    zs_module_close(m);
}

static void test_bad_program(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t numbers[2];
        uint32_t words[2][6];
        uint32_t counts[2];
    } rows[] = {
        {"inline data", {42, 0}, {{0, 1}}, {2, 0}},
        {"inline data", {41, 0}, {{0, 0, 0xffffffff}}, {3, 0}},
        {"a second buffer", {42, 42}, {{0, 0}, {0, 0}}, {2, 2}},
        {"pointer at 0x0 of a buffer of 0x0 bytes", {42, 48}, {{0, 0}, {0, 0, 0, 1, 0}}, {2, 5}},
        {"buffer type 2", {42, 47}, {{0, 0}, {0, 0, 0, 2, 0}}, {2, 5}},
        {"symbols do not fit", {42, 53}, {{0, 0}, {9, 0}}, {2, 2}},
        {"device name of a global", {42, 57}, {{0, 0}, {1, 0}}, {2, 2}},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_buf program = {0}, blob = {0};
        for (int k = 0; k < 2 && rows[i].counts[k]; k++)
            put_token(&program, rows[i].numbers[k], rows[i].words[k], rows[i].counts[k]);
        make_patch_blob(&blob, &program, NULL, 0);
        open_fails(&blob, -EINVAL, rows[i].text);
    }
}

/* Version 1082 has one more field in the middle of token 23. */
static void test_version_1082(void **state)
{
    (void)state;
    struct made_kernel k = usual_kernel();
    struct zs_buf blob = {0};
    k.tokens.size_B = 0;
    TOKEN(&k.tokens, 23, 4, 2, 1, 16, 0, 3, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 256, 0, 1);
    make_patch_blob(&blob, NULL, &k, 1);
    set_u32(&blob, 4, 1082);
    struct zs_module *m;
    assert_int_equal(zs_module_open_memory(zs_buf_span(&blob), NULL, &m, NULL), 0);
    const struct zs_kernel *kernel = &m->images[0].kernels[0];
    assert_int_equal(kernel->grf_count, 256);
    assert_int_equal(kernel->barrier_count, 3);
    assert_int_equal(kernel->required_group_size[0], 4);
    assert_int_equal(kernel->flags,
                     ZS_KERNEL_SAMPLE | ZS_KERNEL_BUFFERS_OVER_4GB | ZS_KERNEL_GLOBAL_ATOMICS);
    zs_module_close(m);
    zs_buf_fini(&blob);
}

struct seen {
    uint32_t fields;
    char names[2048];
};

static bool see(void *ctx, const struct zs_token_field *f)
{
    struct seen *s = ctx;
    s->fields++;
    size_t used = strlen(s->names);
    snprintf(s->names + used, sizeof(s->names) - used, "%s=%llu ", f->name,
             f->kind == ZS_FIELD_STRING || f->kind == ZS_FIELD_BYTES
                 ? (unsigned long long)f->data.size_B
                 : (unsigned long long)f->value);
    return true;
}

static void test_token_fields(void **state)
{
    (void)state;
    static const struct {
        uint32_t number;
        uint32_t words[14];
        uint32_t count;
        const char *fields;
    } rows[] = {
        {15, {4, 512}, 2, "Offset=4 TotalInlineLocalMemorySize=512 "},
        {15, {4}, 1, "Offset=4 "},
        {15, {4, 5, 6, 7}, 4, "Offset=4 TotalInlineLocalMemorySize=5 rest=8 "},
        {47,
         {1, 2, 3, 1, 4},
         5,
         "GlobalBufferIndex=1 GlobalPointerOffset=12884901890 BufferType=1 BufferIndex=4 "},
        {28, {5, 3, 0x00616161}, 3, "Index=5 StringSize=3 String=3 rest=1 "},
        {28, {5, 99, 0x00616161}, 3, "Index=5 StringSize=99 rest=4 "},
        {27, {4, 0x00000061}, 2, "AttributesSize=4 Attributes=1 "},
        {54, {1, 2, 3}, 3, "NumEntries=1 rest=8 "},
        {50, {0}, 0, ""},
        {777, {1, 2}, 2, "rest=8 "},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_buf bytes = {0};
        struct seen seen = {0};
        put_token(&bytes, rows[i].number, rows[i].words, rows[i].count);
        struct zs_token_list list = {.bytes = zs_buf_span(&bytes), .version = 1081};
        struct zs_token token = {.number = rows[i].number,
                                 .size_B = (uint32_t)bytes.size_B,
                                 .body = zs_span_make(bytes.data + 8, bytes.size_B - 8)};
        zs_token_fields(&list, &token, see, &seen);
        assert_string_equal(seen.names, rows[i].fields);
        zs_buf_fini(&bytes);
    }
    assert_string_equal(zs_token_name(17), "DATA_PARAMETER_BUFFER");
    assert_string_equal(zs_token_name(58), "ALLOCATE_RT_GLOBAL_BUFFER");
    assert_string_equal(zs_token_name(59), "");
}

static void drop_17(void *ctx, const struct zs_token *token, struct zs_buf *out)
{
    (void)ctx;
    if (token->number != 17)
        zs_patch_token_copy(out, token);
}

/* Lists rewritten token by token, heaps replaced, checksums computed anew. */
static void test_edit(void **state)
{
    (void)state;
    struct zs_buf blob = full_kernel_blob(), list = {0}, out = {0};
    struct zs_patch_module patch;
    assert_int_equal(zs_patch_module_read(zs_buf_span(&blob), 0, &patch, NULL), 0);
    struct zs_token_list from = {.bytes = patch.kernels[0].patch_list, .version = 1081};
    assert_int_equal(zs_patch_list_rewrite(&from, &list, drop_17, NULL), 0);
    uint8_t code[320] = {1, 2, 3};
    patch.kernels[0].patch_list = zs_buf_span(&list);
    patch.kernels[0].heap = zs_span_make(code, sizeof(code));
    patch.kernels[0].unpadded_B = 160;
    assert_int_equal(zs_patch_module_write(&patch, &out), 0);
    zs_patch_module_fini(&patch);
    struct zs_module *m = open_ok(&out);
    const struct zs_kernel *k = &m->images[0].kernels[0];
    assert_int_equal(k->code.size_B, 160);
    assert_memory_equal(k->heap.data, code, sizeof(code));
    for (uint32_t i = 0; i < k->payload_count; i++)
        assert_int_not_equal(k->payload[i].kind, ZS_PAYLOAD_LOCAL_SIZE);
    zs_module_close(m);
    zs_buf_fini(&blob);
    zs_buf_fini(&list);
}

static void test_writer_refuses(void **state)
{
    (void)state;
    struct zs_buf out = {0};
    struct zs_patch_kernel k = {.unpadded_B = 1};
    struct zs_patch_module patch = {.version = 1081, .kernels = &k, .kernel_count = 1};
    assert_int_equal(zs_patch_module_write(&patch, &out), -EINVAL);
    k.unpadded_B = 0;
    k.name = zs_span_make("abc", 3);
    assert_int_equal(zs_patch_module_write(&patch, &out), -EINVAL);
    zs_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_program),
        cmocka_unit_test(test_full_kernel),
        cmocka_unit_test(test_bad_tokens),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_bad_lists),
        cmocka_unit_test(test_checksum),
        cmocka_unit_test(test_program_scope),
        cmocka_unit_test_prestate(test_program_scope, (void *)1),
        cmocka_unit_test(test_bad_program),
        cmocka_unit_test(test_version_1082),
        cmocka_unit_test(test_token_fields),
        cmocka_unit_test(test_edit),
        cmocka_unit_test(test_writer_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
