/* SPDX-License-Identifier: MIT */
/*
 * What the rewriter's functions say of arguments that are none: places, probes, buffers, records
 * and names out of range. CORPUS: modules that the fuzzers begin with.
 */
#include "../test.h"

#include "base/compiler.h"
#include "edit/edit_priv.h"
#include "module/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zescope/edit.h>

enum { MODULE_MAX_B = 1 << 16 };

static struct zs_span module_of(const char *name, uint8_t bytes[MODULE_MAX_B])
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/%s", CORPUS, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t size_B = fread(bytes, 1, MODULE_MAX_B, f);
    fclose(f);
    return (struct zs_span){bytes, size_B};
}

static struct zs_edit *opened(const char *name)
{
    static uint8_t bytes[MODULE_MAX_B];
    struct zs_edit *edit = NULL;
    assert_int_equal(zs_edit_open(module_of(name, bytes), NULL, &edit, NULL), 0);
    return edit;
}

static uint32_t find_op(struct zs_edit_kernel *k, enum zs_isa_op op)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(k);
    uint32_t i = 0;
    while (i < zs_isa_kernel_count(code) && zs_isa_inst(code, i)->op != op)
        i++;
    assert_true(i < zs_isa_kernel_count(code));
    return i;
}

static void opening(void **state)
{
    static uint8_t bytes[MODULE_MAX_B];
    struct zs_edit_options options = {.size_B = sizeof(options), .device = "pvc"};
    struct zs_span archive = module_of("ar/two_devices", bytes);
    struct zs_edit *edit = NULL;
    struct zs_diag diag = {0};
    (void)state;
    zs_edit_close(NULL);
    assert_true(zs_edit_open((struct zs_span){NULL, 0}, NULL, &edit, NULL) < 0);
    assert_true(zs_edit_open((struct zs_span){bytes, 3}, NULL, &edit, &diag) < 0);
    assert_true(diag.text[0]);
    diag = (struct zs_diag){0};
    assert_int_equal(zs_edit_open(archive, &options, &edit, &diag), -ENOENT);
    assert_non_null(strstr(diag.text, "pvc"));
    assert_int_equal(zs_edit_open(archive, &options, &edit, NULL), -ENOENT);
    options.device = "icllp";
    options.debug = (struct zs_span){bytes, 7}; /* no debug information: the module comes first */
    assert_int_equal(zs_edit_open(archive, &options, &edit, &diag), 0);
    assert_non_null(zs_edit_module(edit));
    assert_string_equal(zs_edit_image(edit)->device, "icllp");
    assert_int_equal(zs_edit_kernel_count(edit), 1);
    assert_string_equal(zs_edit_kernel_info(zs_edit_kernel(edit, 0))->name, "mix_halves");
    assert_null(zs_edit_kernel(edit, 1));
    assert_null(zs_edit_kernel(edit, UINT32_MAX));
    zs_edit_close(edit);
}

static void places(void **state)
{
    struct zs_edit *edit = opened("patch_tokens/structs");
    struct zs_edit_kernel *k = zs_edit_kernel(edit, 0);
    uint32_t count = zs_isa_kernel_count(zs_edit_kernel_code(k)), end = count - 1;
    const struct {
        uint32_t inst, where;
        const char *text;
        int error;
    } rows[] = {
        {count, ZS_EDIT_BEFORE, "nop\n", -EINVAL},
        {UINT32_MAX, ZS_EDIT_AFTER, "nop\n", -EINVAL},
        {0, ZS_EDIT_JUMP + 1, "nop\n", -EINVAL},
        {0, UINT32_MAX, "nop\n", -EINVAL},
        {0, ZS_EDIT_BEFORE, NULL, -EINVAL},
        {0, ZS_EDIT_BEFORE, "nop\nnip\n", -EINVAL},
        {end, ZS_EDIT_AFTER, "nop\n", -EINVAL},
        {end, ZS_EDIT_INSTEAD, "nop\n", -EINVAL},
        {end, ZS_EDIT_JUMP, "nop\n", -ENOTSUP},
        {0, ZS_EDIT_JUMP, "nop\n", -ENOTSUP},
        {end, ZS_EDIT_BEFORE, "nop\n", 0},
        {UINT32_MAX, ZS_EDIT_ENTRY, "nop\n", 0}, /* the instruction is ignored */
        {1, ZS_EDIT_BEFORE, "", 0},
    };
    (void)state;
    assert_false(zs_edit_has_edits(edit));
    for (size_t r = 0; r < ZS_ARRAY_LEN(rows); r++) {
        enum zs_edit_where where = (enum zs_edit_where)rows[r].where;
        struct zs_diag diag = {0};
        assert_int_equal(zs_edit_insert(k, rows[r].inst, where, rows[r].text, &diag),
                         rows[r].error);
        assert_true(!rows[r].error == !diag.text[0]);
        assert_int_equal(zs_edit_insert(k, rows[r].inst, where, rows[r].text, NULL), rows[r].error);
        assert_true(zs_edit_has_edits(edit) == (rows[r].error == 0 || r > 10));
        if (r == 5)
            assert_non_null(strstr(diag.text, "line 2"));
    }
    zs_edit_close(edit);
}

static void probes(void **state)
{
    struct zs_edit *edit = opened("patch_tokens/structs");
    struct zs_edit_kernel *k = zs_edit_kernel(edit, 0);
    uint32_t counter = zs_edit_counters(edit, 3), inst;
    const struct {
        uint32_t where;
        struct zs_probe probe;
        int error;
    } rows[] = {
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_KIND_COUNT}, -EINVAL},
        {ZS_EDIT_BEFORE, {.kind = UINT32_MAX}, -EINVAL},
        {ZS_EDIT_INSTEAD, {.kind = ZS_PROBE_COUNT}, -EINVAL},
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_COUNT, .counter = 3}, -EINVAL},
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_LANES, .counter = ZS_NONE}, -EINVAL},
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_ELAPSED, .counter = 4}, -EINVAL},
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_CLOCK, .clock = ZS_EDIT_CLOCKS_MAX}, -EINVAL},
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_TRACE, .grf_count = ZS_RECORD_GRF_MAX + 1}, -EINVAL},
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_TRACE, .grf = 127, .grf_count = 2}, -EINVAL},
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_TRACE, .grf = UINT32_MAX, .grf_count = 1}, -EINVAL},
        {ZS_EDIT_JUMP, {.kind = ZS_PROBE_COUNT}, -ENOTSUP},
        {ZS_EDIT_BEFORE, {.kind = ZS_PROBE_COUNT, .counter = 2}, 0},
        {ZS_EDIT_ENTRY, {.kind = ZS_PROBE_LANES, .site = 7}, 0},
        {ZS_EDIT_AFTER, {.kind = ZS_PROBE_TRACE, .grf = 112, .grf_count = 16}, 0},
    };
    (void)state;
    assert_int_equal(counter, 0);
    assert_int_equal(zs_edit_counters(edit, 0), 3);
    assert_int_equal(zs_edit_counters(edit, UINT32_MAX), ZS_NONE);
    for (size_t r = 0; r < ZS_ARRAY_LEN(rows); r++) {
        enum zs_edit_where where = (enum zs_edit_where)rows[r].where;
        struct zs_diag diag = {0};
        assert_int_equal(zs_edit_probe(k, 2, where, &rows[r].probe, &diag), rows[r].error);
        assert_true(!rows[r].error == !diag.text[0]);
        if (rows[r].error)
            assert_int_equal(zs_edit_probe(k, 2, where, &rows[r].probe, NULL), rows[r].error);
    }
    assert_int_equal(zs_edit_probe(k, 2, ZS_EDIT_BEFORE, NULL, NULL), -EINVAL);
    assert_int_equal(zs_edit_probe(k, UINT32_MAX, ZS_EDIT_BEFORE, &rows[11].probe, NULL), -EINVAL);
    assert_int_equal(zs_edit_probe_at(k, 0, &inst)->counter, 2);
    assert_int_equal(inst, 2);
    assert_int_equal(zs_edit_probe_at(k, 1, &inst)->site, 7);
    assert_int_equal(inst, 0);
    assert_non_null(zs_edit_probe_at(k, 2, &inst));
    assert_null(zs_edit_probe_at(k, 3, &inst));
    assert_null(zs_edit_probe_at(zs_edit_kernel(edit, 1), 0, &inst));
    zs_edit_close(edit);
}

/* Adding 32 bits at a time is made for Gen9 and Gen11. */
static void narrow(void **state)
{
    static uint8_t bytes[MODULE_MAX_B];
    const struct zs_edit_options options = {.size_B = sizeof(options), .narrow_atomics = true};
    const struct zs_probe probe = {.kind = ZS_PROBE_COUNT};
    struct zs_edit *edit;
    (void)state;
    assert_int_equal(
        zs_edit_open(module_of("patch_tokens/printf_dg2", bytes), &options, &edit, NULL), 0);
    zs_edit_counters(edit, 1);
    assert_int_equal(zs_edit_probe(zs_edit_kernel(edit, 0), 0, ZS_EDIT_BEFORE, &probe, NULL),
                     -ENOTSUP);
    zs_edit_close(edit);
}

static void registers(void **state)
{
    struct zs_edit *edit = opened("patch_tokens/structs");
    struct zs_edit_kernel *k = zs_edit_kernel(edit, 0);
    uint64_t first[4], again[4], one[4] = {0};
    (void)state;
    assert_true(zs_edit_free_grf(k, first));
    assert_int_equal(first[2] | first[3], 0);
    assert_int_equal(first[0] & 15, 0); /* r0 to r3 come with the thread */
    one[first[0] ? 0 : 1] = first[0] ? first[0] & -first[0] : first[1] & -first[1];
    zs_edit_reserve_grf(k, one);
    zs_edit_reserve_grf(k, one);
    assert_true(zs_edit_free_grf(k, again));
    for (int w = 0; w < 4; w++)
        assert_int_equal(again[w], first[w] & ~one[w]);
    zs_edit_close(edit);
}

static void buffers(void **state)
{
    struct zs_edit *edit = opened("patch_tokens/structs");
    struct zs_edit_kernel *k = zs_edit_kernel(edit, 0);
    const struct zs_probe trace = {.kind = ZS_PROBE_TRACE};
    uint8_t *bytes;
    size_t size_B;
    (void)state;
    assert_int_equal(zs_edit_buffer(edit).size_B, 0);
    zs_edit_counters(edit, 9);
    assert_int_equal(zs_edit_buffer(edit).size_B, 128);
    assert_int_equal(zs_edit_buffer(edit).counter_count, 9);
    assert_int_equal(zs_edit_buffer(edit).records_size_B, 0);
    assert_int_equal(zs_edit_probe(k, 0, ZS_EDIT_BEFORE, &trace, NULL), 0);
    assert_int_equal(zs_edit_buffer(edit).records_size_B, 16 << 20);
    zs_edit_set_trace_size(edit, UINT32_MAX);
    assert_int_equal(zs_edit_buffer(edit).records_size_B, 1 << 30);
    zs_edit_set_trace_size(edit, 1);
    struct zs_edit_buffer b = zs_edit_buffer(edit);
    assert_int_equal(b.records_size_B, 4096);
    assert_true(b.size_B > b.records_offset_B + b.records_size_B);
    struct zs_diag diag = {0};
    assert_int_equal(zs_edit_write(edit, 1, &bytes, &size_B, &diag), -EINVAL);
    assert_int_equal(zs_edit_write(edit, 32, &bytes, &size_B, NULL), -EINVAL);
    assert_int_equal(zs_edit_write(edit, (UINT64_C(1) << 32) - 4096, &bytes, &size_B, NULL),
                     -ERANGE);
    for (uint64_t gpu_va = 0; gpu_va <= UINT64_C(1) << 40; gpu_va += UINT64_C(1) << 40) {
        assert_int_equal(zs_edit_write(edit, gpu_va, &bytes, &size_B, NULL), 0);
        assert_null(zs_edit_refusal(k));
        zs_isa_code_free(bytes);
    }
    zs_edit_close(edit);
}

static void maps(void **state)
{
    struct zs_edit *edit = opened("zebin/includes_g");
    struct zs_edit_kernel *k = zs_edit_kernel(edit, 0);
    uint32_t size_B = zs_isa_kernel_size_B(zs_edit_kernel_code(k));
    uint8_t *bytes;
    size_t bytes_B;
    (void)state;
    assert_int_equal(zs_edit_write(edit, 0, &bytes, &bytes_B, NULL), 0);
    zs_isa_code_free(bytes);
    assert_int_equal(zs_edit_map_new(k, 16), 16);
    assert_int_equal(zs_edit_map_new(k, size_B), size_B);
    assert_int_equal(zs_edit_map_new(k, size_B + 1), ZS_NONE);
    assert_int_equal(zs_edit_map_old(k, size_B), ZS_NONE);
    assert_int_equal(zs_edit_insert(k, 0, ZS_EDIT_BEFORE, "nop\nnop\n", NULL), 0);
    assert_int_equal(zs_edit_write(edit, 0, &bytes, &bytes_B, NULL), 0);
    zs_isa_code_free(bytes);
    assert_int_equal(zs_edit_map_new(k, 0), 32);
    assert_int_equal(zs_edit_map_new(k, 1), ZS_NONE);
    assert_int_equal(zs_edit_map_new(k, size_B), size_B + 32);
    assert_int_equal(zs_edit_map_new(k, UINT32_MAX), ZS_NONE);
    assert_int_equal(zs_edit_map_old(k, 16), 0);
    assert_int_equal(zs_edit_map_old(k, 32), 0);
    assert_int_equal(zs_edit_map_old(k, size_B + 31), size_B - 16);
    assert_int_equal(zs_edit_map_old(k, size_B + 32), ZS_NONE);
    assert_int_equal(zs_edit_map_old(k, UINT32_MAX), ZS_NONE);
    zs_edit_close(edit);
}

static void redirections(void **state)
{
    struct zs_edit *edit = opened("zebin/globals");
    char name[ZS_NAME_FIELD_B + 1];
    (void)state;
    memset(name, 'a', sizeof(name));
    name[ZS_NAME_FIELD_B] = '\0';
    struct zs_diag diag = {0};
    assert_int_equal(zs_edit_redirect(edit, "nobody", "other", &diag), -ENOENT);
    assert_non_null(strstr(diag.text, "nobody"));
    assert_int_equal(zs_edit_redirect(edit, "nobody", name, NULL), -ENAMETOOLONG);
    assert_int_equal(zs_edit_redirect(edit, "", "other", NULL), -ENAMETOOLONG);
    assert_int_equal(zs_edit_redirect(edit, "nobody", "", NULL), -ENAMETOOLONG);
    assert_int_equal(zs_edit_redirect(edit, NULL, "other", NULL), -ENAMETOOLONG);
    assert_int_equal(zs_edit_redirect(edit, "nobody", NULL, NULL), -ENAMETOOLONG);
    assert_false(zs_edit_has_edits(edit));
    zs_edit_close(edit);
}

/* Counts and records as threads may have left them, and as they cannot have. */
static void records(void **state)
{
    const struct zs_edit_buffer b = {.size_B = 256,
                                     .counter_count = 1,
                                     .trace_offset_B = 64,
                                     .records_offset_B = 128,
                                     .records_size_B = 96};
    const struct zs_edit_buffer none = {0};
    static const uint32_t tags[] = {0, 0x5a530000, 0x5a530101, 0x5a530302, 0x5a5301ff, 0x5a530103};
    uint32_t dwords[64] = {0};
    struct zs_span whole = {(const uint8_t *)dwords, sizeof(dwords)};
    struct zs_edit_record r;
    uint64_t cursor = 0;
    (void)state;
    assert_false(zs_edit_record_next(&b, whole, &cursor, &r));
    assert_false(zs_edit_record_next(&none, whole, &cursor, &r));
    assert_int_equal(zs_edit_records_lost(&none, whole), 0);
    for (size_t t = 0; t < ZS_ARRAY_LEN(tags); t++) {
        dwords[16] = 3; /* units */
        dwords[17] = 0;
        dwords[32] = tags[t];
        dwords[33] = 77;
        uint32_t found = 0;
        for (cursor = 0; zs_edit_record_next(&b, whole, &cursor, &r); found++)
            assert_int_equal(r.site, 77);
        assert_int_equal(found, t == 2 || t == 5);
        assert_true(cursor <= 128);
    }
    assert_int_equal(zs_edit_records_lost(&b, whole), 0);
    dwords[16] = dwords[17] = UINT32_MAX;
    assert_true(zs_edit_records_lost(&b, whole) > UINT64_C(1) << 58);
    cursor = UINT64_MAX;
    assert_false(zs_edit_record_next(&b, whole, &cursor, &r));
    cursor = 0;
    assert_false(zs_edit_record_next(&b, (struct zs_span){NULL, 0}, &cursor, &r));
    whole.size_B = 144; /* less than a record */
    assert_false(zs_edit_record_next(&b, whole, &cursor, &r));
}

/* Where threads of fused EUs jump, text has to take a predicate. */
static void guarded(void **state)
{
    struct zs_edit *edit = opened("patch_tokens/printf_dg2");
    struct zs_edit_kernel *k = zs_edit_kernel(edit, 0);
    static const struct {
        const char *text, *why; /* NULL: it is taken */
    } rows[] = {
        {"(W) add (1|M0) r100.0<1>:ud r100.0<0;1,0>:ud 0x1:ud {A@1}\n", NULL},
        {"mov (16|M0) r100.0<1>:ud 0x1:ud {A@1}\nnop\n(W) sync.allwr null\n", NULL},
        {"(W) mov (1|M0) r100.0<1>:ud f0.0<0;1,0>:ud {A@1}\n", NULL},
        {"(W) send.ugm (1|M0) null r100 r101:1 0x0 0x0200C584 {A@1,$0}\n", NULL},
        {"(W) mov (1|M0) f0.0<1>:ud f1.0<0;1,0>:ud {A@1}\n", "a flag register"},
        {"(W&f0.0) mov (1|M0) r100.0<1>:ud 0x1:ud {A@1}\n", "a flag of its own"},
        {"(W) cmp (8|M0) (eq)f0.0 null<1>:ud r9.0<1;1,0>:ud 0x1:ud {A@1}\n", "a flag of its own"},
        {"(W) sel (1|M0) (lt)f0.0 r9.0<1>:ud r9.0<0;1,0>:ud 0x1:ud {A@1}\n", "a flag of its own"},
        {"(W) jmpi (1|M0) L16\n", "the other thread"},
        {"(W) send.gtwy (8|M0) null r112 null:0 0x0 0x02000010 {EOT,A@1}\n", "the other thread"},
        {"(W) mov (1|M0) r[a0.0]<1>:d 1:w {A@1}\n", "a0 chooses"},
    };
    (void)state;
    uint32_t inst = find_op(k, ZS_OP_GOTO);
    for (size_t r = 0; r < ZS_ARRAY_LEN(rows); r++) {
        struct zs_diag diag = {0};
        int error = zs_edit_insert(k, inst, ZS_EDIT_JUMP, rows[r].text, &diag);
        assert_int_equal(error, rows[r].why ? -ENOTSUP : 0);
        if (rows[r].why)
            assert_non_null(strstr(diag.text, rows[r].why));
        assert_int_equal(zs_edit_insert(k, inst, ZS_EDIT_BEFORE, rows[r].text, &diag), 0);
    }
    uint8_t *bytes;
    size_t size_B;
    assert_int_equal(zs_edit_write(edit, 0, &bytes, &size_B, NULL), 0);
    assert_null(zs_edit_refusal(k));
    zs_isa_code_free(bytes);
    zs_edit_close(edit);
}

/* Instructions of the new code that touch one of these accumulators or words of a0. */
static uint32_t count_touching(struct zs_span module, uint32_t acc, uint32_t address)
{
    struct zs_edit *edit = NULL;
    uint32_t found = 0;
    assert_int_equal(zs_edit_open(module, NULL, &edit, NULL), 0);
    const struct zs_isa_kernel *code = zs_edit_kernel_code(zs_edit_kernel(edit, 0));
    for (uint32_t i = 0; i < zs_isa_kernel_count(code); i++) {
        struct zs_isa_effects e;
        zs_isa_inst_effects(code, i, &e);
        found +=
            (e.acc_read | e.acc_written) & acc || (e.address_read | e.address_written) & address;
    }
    zs_edit_close(edit);
    return found;
}

/* Text beside registers that are saved keeps what it touches to itself. */
static const struct beside {
    const char *module, *text;
    uint32_t scratch;
    uint32_t acc, address; /* what nobody but the kernel and the text touches, ... */
    uint32_t touching;     /* ... which does in so many instructions */
} besides[] = {
#define GEN9   "patch_tokens/structs"
#define ADDC   "addc (8|M0) r100.0<1>:ud r9.0<8;8,1>:ud r9.0<8;8,1>:ud {AccWrEn}\n"
#define MACH   "mach (8|M0) r100.0<1>:d r9.0<8;8,1>:d r9.0<8;8,1>:d {AccWrEn}\n"
#define XE_HPG "patch_tokens/printf_dg2" /* uses acc0 */
#define ACC2   "(W) mov (8|M0) acc2.0<1>:f r9.0<1;1,0>:f {A@1}\n"
#define HEADER "(W) mov (1|M0) r0.3<1>:ud 0x1:ud {A@1}\n"
#define A0_END "(W) mov (1|M0) a0.14<1>:uw 0x1:uw {A@1}\n"
    {GEN9, "nop\n", ZS_SCRATCH_BY_ACC, 0, 0xfc00, 0},
    {GEN9, ADDC, ZS_SCRATCH_BY_CODE, 3, 0xfc00, 1},
    {GEN9, MACH, ZS_SCRATCH_BY_CODE, 3, 0xfc00, 1},
    {XE_HPG, "nop\n", ZS_SCRATCH_BY_ACC, 0, 0xfc00, 0},
    {XE_HPG, HEADER A0_END, ZS_SCRATCH_BY_ACC, 0, 0xfc00, 1},
    {XE_HPG, ACC2, ZS_SCRATCH_BY_CODE, 12, 0xfc00, 1},
    {XE_HPG, ACC2 A0_END, ZS_SCRATCH_BY_CODE, 12, 0xfc00, 2},
    {XE_HPG, ACC2 HEADER, ZS_SCRATCH_BY_A0, 12, 0, 1},
    {XE_HPG, ACC2 HEADER A0_END, ZS_SCRATCH_NONE, 0, 0, 0},
};

static void put_beside(const struct beside *row, enum zs_edit_where where)
{
    static const uint64_t all[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    static const struct zs_probe probe = {.kind = ZS_PROBE_COUNT};
    static uint8_t plain[MODULE_MAX_B];
    struct zs_span before = module_of(row->module, plain), after;
    struct zs_edit *edit = opened(row->module);
    struct zs_edit_kernel *k = zs_edit_kernel(edit, 0);
    uint32_t inst = where == ZS_EDIT_JUMP ? find_op(k, ZS_OP_GOTO) : 1;
    struct zs_plan plan;
    uint8_t *bytes;
    zs_edit_counters(edit, 1);
    zs_edit_reserve_grf(k, all);
    assert_int_equal(zs_edit_insert(k, inst, where, row->text, NULL), 0);
    assert_int_equal(zs_edit_probe(k, inst, ZS_EDIT_BEFORE, &probe, NULL), 0);
    assert_int_equal(zs_plan_make(k, &plan), 0);
    assert_int_equal(plan.scratch, row->scratch);
    zs_plan_fini(&plan);
    assert_int_equal(zs_edit_write(edit, 0, &bytes, &after.size_B, NULL), 0);
    after.data = bytes;
    if (row->scratch == ZS_SCRATCH_NONE)
        assert_non_null(strstr(zs_edit_refusal(k), "text that is inserted"));
    else
        assert_null(zs_edit_refusal(k));
    assert_int_equal(count_touching(after, row->acc, row->address),
                     count_touching(before, row->acc, row->address) + row->touching);
    zs_isa_code_free(bytes);
    zs_edit_close(edit);
}

static void beside_saved(void **state)
{
    (void)state;
    for (size_t r = 0; r < ZS_ARRAY_LEN(besides); r++) {
        put_beside(&besides[r], ZS_EDIT_BEFORE);
        if (strcmp(besides[r].module, GEN9) != 0)
            put_beside(&besides[r], ZS_EDIT_JUMP);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening),      cmocka_unit_test(places),       cmocka_unit_test(probes),
        cmocka_unit_test(narrow),       cmocka_unit_test(buffers),      cmocka_unit_test(registers),
        cmocka_unit_test(maps),         cmocka_unit_test(records),      cmocka_unit_test(guarded),
        cmocka_unit_test(redirections), cmocka_unit_test(beside_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
