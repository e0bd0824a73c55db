/* SPDX-License-Identifier: MIT */
/* ELF, zebin, .ze_info, ar archives and debug data made by hand. */
#include "make.h"

#include "base/reader.h"
#include "module/yaml.h"

#include "../test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const uint8_t code[64] = {1};

/* Symbols: null, k (32 of 64 bytes of section 1), g (8 bytes of section 2), undefined "far". */
static void put_symbol(struct zs_buf *buf, uint32_t name, uint8_t info, uint16_t section,
                       uint64_t value, uint64_t size_B)
{
    put_u32(buf, name);
    zs_buf_putc(buf, (char)info);
    zs_buf_putc(buf, 0);
    put_u16(buf, section);
    put_u64(buf, value);
    put_u64(buf, size_B);
}

static const char strtab[] = "\0k\0g\0far";
static const char usual_info[] = "version: '1.20'\nkernels:\n  - name: k\n    execution_env:\n"
                                 "      simd_size: 16\n      grf_count: 128\n";

struct made_zebin {
    const char *ze_info;
    uint16_t type;
    uint64_t relocation_offset_B;
    uint32_t relocation_symbol;
    uint64_t symbol_size_B;
    uint32_t symbol_name; /* of k, in strtab */
    bool no_text;
};

static struct zs_buf make_zebin(const struct made_zebin *z)
{
    struct zs_buf out = {0}, symbols = {0}, relocations = {0}, notes = {0};
    put_symbol(&symbols, 0, 0, 0, 0, 0);
    put_symbol(&symbols, z->symbol_name ? z->symbol_name : 1, 2, 1, 0,
               z->symbol_size_B ? z->symbol_size_B : 32);
    put_symbol(&symbols, 3, 0x11, 2, 8, 8);
    put_symbol(&symbols, 5, 0x10, 0, 0, 0);
    put_u64(&relocations, z->relocation_offset_B);
    put_u64(&relocations, (uint64_t)(z->relocation_symbol ? z->relocation_symbol : 2) << 32 | 1);
    put_u64(&relocations, 40);
    put_u64(&relocations, (uint64_t)3 << 32 | 2);
    for (uint32_t i = 0; i < 2; i++) { /* product family 18, metadata with stepping 9 */
        put_u32(&notes, 8);
        put_u32(&notes, 4);
        put_u32(&notes, i ? 3 : 1);
        put_text(&notes, "IntelGT", 8);
        put_u32(&notes, i ? 0x00290900 : 18);
    }
    const struct made_section sections[] = {
        {z->no_text ? ".text.other" : ".text.k", ZS_SHT_PROGBITS, code, sizeof(code), 0, 0, 0},
        {".data.global", ZS_SHT_PROGBITS, "sixteen bytes...", 16, 0, 0, 0},
        {".bss.global", ZS_SHT_NOBITS, "", 100, 0, 0, 0},
        {".symtab", ZS_SHT_SYMTAB, symbols.data, symbols.size_B, 5, 0, 24},
        {".strtab", ZS_SHT_STRTAB, strtab, sizeof(strtab), 0, 0, 0},
        {".rel.text.k", ZS_SHT_REL, relocations.data, relocations.size_B, 4, 1, 16},
        {".ze_info", ZS_SHT_ZEINFO, z->ze_info ? z->ze_info : usual_info, 0, 0, 0, 0},
        {".note.intelgt.compat", ZS_SHT_NOTE, notes.data, notes.size_B, 0, 0, 0},
        {".misc.buildOptions", ZS_SHT_MISC, "-g -O0", 0, 0, 0, 0},
    };
    make_elf(&out, z->type ? z->type : ZS_ELF_REL, ZS_EM_INTELGT, sections, ZS_ARRAY_LEN(sections));
    zs_buf_fini(&symbols);
    zs_buf_fini(&relocations);
    zs_buf_fini(&notes);
    return out;
}

static struct zs_module *open_with(struct zs_buf *bytes, struct zs_span debug)
{
    struct zs_module *module = NULL;
    struct zs_diag diag = {0};
    struct zs_module_options options = {.size_B = sizeof(options), .debug = debug};
    int error = zs_module_open_memory(zs_buf_span(bytes), &options, &module, &diag);
    if (error)
        fail_msg("error %d at 0x%llx: %s", error, (unsigned long long)diag.offset_B, diag.text);
    zs_buf_fini(bytes);
    return module;
}

static struct zs_module *open_ok(struct zs_buf *bytes)
{
    return open_with(bytes, (struct zs_span){0});
}

static void open_fails(struct zs_buf *bytes, int want_error, const char *want_text)
{
    struct zs_module *module = NULL;
    struct zs_diag diag = {0};
    int error = zs_module_open_memory(zs_buf_span(bytes), NULL, &module, &diag);
    if (error != want_error || !strstr(diag.text, want_text))
        fail_msg("error %d (%s), wanted %d (%s)", error, diag.text, want_error, want_text);
    assert_null(module);
    zs_buf_fini(bytes);
}

static void test_zebin(void **state)
{
    (void)state;
    struct zs_buf bytes = make_zebin(&(struct made_zebin){0});
    struct zs_module *m = open_ok(&bytes);
    assert_int_equal(m->container, ZS_CONTAINER_ZEBIN);
    const struct zs_image *image = &m->images[0];
    assert_string_equal(image->device, "skl");
    assert_true(image->device_exact);
    assert_int_equal(image->gfxcore, 12);
    assert_int_equal(image->stepping, 9);
    assert_string_equal(image->build_options, "-g -O0");
    assert_string_equal(image->zebin_version, "1.20");
    assert_int_equal(image->buffers[ZS_BUFFER_GLOBAL].init.size_B, 16);
    assert_int_equal(image->buffers[ZS_BUFFER_GLOBAL].size_B, 116);
    assert_int_equal(image->kernel_count, 1);
    const struct zs_kernel *k = &image->kernels[0];
    assert_int_equal(k->simd, 16);
    assert_int_equal(k->code.size_B, 32); /* the symbol ends it */
    assert_int_equal(k->heap.size_B, 64);
    assert_int_equal(k->relocation_count, 2);
    assert_int_equal(k->relocations[0].kind, ZS_RELOCATION_ADDRESS);
    assert_int_equal(k->relocations[0].target.kind, ZS_PLACE_GLOBAL);
    assert_int_equal(k->relocations[0].target.offset_B, 8);
    assert_false(k->relocations[0].adds_in_place);
    assert_int_equal(k->relocations[1].kind, ZS_RELOCATION_ADDRESS_32);
    assert_int_equal(k->relocations[1].target.kind, ZS_PLACE_NONE);
    assert_string_equal(k->relocations[1].symbol, "far");
    assert_int_equal(image->symbol_count, 4);
    assert_int_equal(image->symbols[1].kind, ZS_SYMBOL_KERNEL);
    assert_int_equal(image->symbols[2].kind, ZS_SYMBOL_GLOBAL_VARIABLE);
    assert_int_equal(image->symbols[3].kind, ZS_SYMBOL_UNDEFINED);
    assert_int_equal(k->debug.kind, ZS_DEBUG_NONE);
    zs_module_close(m);
}

static void test_bad_zebin(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int error;
        struct made_zebin zebin;
    } rows[] = {
        {"relocation 0 of .rel.text.k patches 0x3a", -EINVAL, {.relocation_offset_B = 58}},
        {"patches 0xffffffffffffffff", -EINVAL, {.relocation_offset_B = UINT64_MAX}},
        {"names symbol 4 of 4", -EINVAL, {.relocation_symbol = 4}},
        {"symbol k of 0x41 bytes", -EINVAL, {.symbol_size_B = 65}},
        {"name of symbol 1", -EINVAL, {.symbol_name = 1000}},
        {"no section .text.k", -EINVAL, {.no_text = true}},
        {"without name or execution_env", -EINVAL, {.ze_info = "kernels:\n  - name: k\n"}},
        {"1, 8, 16 or 32",
         -EINVAL,
         {.ze_info = "kernels:\n  - name: k\n    execution_env:\n      simd_size: 7\n"}},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_buf bytes = make_zebin(&rows[i].zebin);
        open_fails(&bytes, rows[i].error, rows[i].text);
    }
}

/* Words of the ELF header and of the section table changed. Section i's header is at 64 + 64 i. */
static void test_bad_elf(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t at_B;
        uint32_t value;
        int error;
    } rows[] = {
        {"only 64-bit", 4, 0x00010101, -ENOTSUP},
        {"section headers", 0x28, 0xfffffff0, -EINVAL},
        {"section headers of 65 bytes", 0x38, 0x00410000, -EINVAL},
        {"section headers expected", 0x3c, 0x0000ffff, -EINVAL},
        {"section name table 99", 0x3c, 0x0063000b, -EINVAL},
        {"lies outside the ELF", 64 + 64 + 0x18, 0xffffff, -EINVAL},
        {"lies outside the ELF", 64 + 64 + 0x20, 0xfffffff0, -EINVAL},
        {"name of section 1", 64 + 64, 0xffffff, -EINVAL},
        {"without a .ze_info", 64 + 64 * 7 + 4, 1, -EINVAL},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_buf bytes = make_zebin(&(struct made_zebin){0});
        set_u32(&bytes, rows[i].at_B, rows[i].value);
        open_fails(&bytes, rows[i].error, rows[i].text);
    }
}

/* IGC since 2023 writes no .ze_info for a program without kernels. */
static void test_no_kernels(void **state)
{
    (void)state;
    struct zs_buf bytes = make_zebin(&(struct made_zebin){.no_text = true});
    for (size_t i = 1; i < 12; i++) {
        size_t type_at_B = 64 + 64 * i + 4;
        uint32_t type = zs_load_u32(bytes.data + type_at_B);
        if (type == ZS_SHT_ZEINFO || type == ZS_SHT_REL || type == ZS_SHT_SYMTAB)
            set_u32(&bytes, type_at_B, 1);
        if (type == ZS_SHT_PROGBITS) /* neither is the code there */
            set_u32(&bytes, type_at_B - 4, 0);
    }
    struct zs_module *m = open_ok(&bytes);
    assert_int_equal(m->images[0].kernel_count, 0);
    zs_module_close(m);
}

static const char rich_info[] =
    "# a comment\n---\nversion: '1.20'\nfuture_key:\n  - anything: [ 1, 2 ]\n    deeper:\n"
    "      more: 'x'\nkernels:\n"
    "  - name: k\n"
    "    user_attributes:\n      intel_reqd_sub_group_size: 16\n"
    "      reqd_work_group_size: [ 32, 2, 1 ]\n      vec_type_hint: float4\n"
    "    execution_env:\n      simd_size: 16\n      grf_count: 256\n      barrier_count: 2\n"
    "      slm_size: 1024\n      has_global_atomics: true\n      has_stack_calls: false\n"
    "      inline_data_payload_size: 32\n      required_work_group_size: [ 32, 2, 1 ]\n"
    "      work_group_walk_order_dimensions: [ 1, 0, 2 ]\n      eu_thread_count: 4\n"
    "      spill_size: 96\n      new_feature: true\n"
    "    payload_arguments:\n"
    "      - arg_type: global_id_offset\n        offset: 0\n        size: 12\n"
    "      - arg_type: local_size\n        offset: 12\n        size: 8\n"
    "      - arg_type: arg_bypointer\n        offset: 32\n        size: 8\n        arg_index: 0\n"
    "        addrmode: stateless\n        addrspace: global\n        access_type: readonly\n"
    "      - arg_type: arg_bypointer\n        offset: 0\n        size: 0\n        arg_index: 0\n"
    "        addrmode: stateful\n        addrspace: global\n        access_type: readonly\n"
    "      - arg_type: arg_byvalue\n        offset: 40\n        size: 4\n        arg_index: 1\n"
    "        source_offset: 16\n"
    "      - arg_type: arg_bypointer\n        offset: 44\n        size: 4\n        arg_index: 2\n"
    "        addrmode: slm\n        addrspace: local\n        slm_alignment: 8\n"
    "      - arg_type: arg_bypointer\n        offset: 0\n        size: 0\n        arg_index: 3\n"
    "        addrmode: stateful\n        addrspace: image\n        image_type: image_3d\n"
    "        access_type: writeonly\n"
    "      - arg_type: arg_bypointer\n        offset: 0\n        size: 0\n        arg_index: 4\n"
    "        addrmode: stateful\n        addrspace: sampler\n        sampler_index: 0\n"
    "        sampler_type: texture\n"
    "      - arg_type: private_base_stateless\n        offset: 48\n        size: 8\n"
    "      - arg_type: from_the_future\n        offset: 56\n        size: 8\n"
    "    per_thread_payload_arguments:\n"
    "      - arg_type: local_id\n        offset: 0\n        size: 64\n"
    "    binding_table_indices:\n      - bti_value: 3\n        arg_index: 0\n"
    "      - bti_value: 1\n        arg_index: 3\n"
    "    per_thread_memory_buffers:\n"
    "      - type: global\n        usage: private_space\n        size: 64\n"
    "        is_simt_thread: true\n"
    "      - type: scratch\n        usage: spill_fill_space\n        size: 2048\n        slot: 1\n"
    "    inline_samplers:\n      - sampler_index: 1\n        addrmode: clamp_edge\n"
    "        filtermode: linear\n        normalized: true\n"
    "functions:\n  - name: helper\n    execution_env:\n      simd_size: 8\n"
    "global_host_access_table:\n  - device_name: dev\n    host_name: \"a \\\"host\\\" name\"\n"
    "kernels_misc_info:\n  - name: k\n    args_info:\n"
    "      - index: 0\n        name: in\n        address_qualifier: __global\n"
    "        access_qualifier: NONE\n        type_name: 'float*;8'\n"
    "        type_qualifiers: const\n"
    "      - index: 7\n        name: 'it''s'\n        address_qualifier: __private\n"
    "        access_qualifier: NONE\n        type_name: 'int;4'\n        type_qualifiers: NONE\n"
    "...\n";

static void test_ze_info(void **state)
{
    (void)state;
    struct zs_buf bytes = make_zebin(&(struct made_zebin){.ze_info = rich_info});
    struct zs_module *m = open_ok(&bytes);
    const struct zs_image *image = &m->images[0];
    const struct zs_kernel *k = &image->kernels[0];
    assert_int_equal(k->simd, 16);
    assert_int_equal(k->grf_count, 256);
    assert_int_equal(k->barrier_count, 2);
    assert_int_equal(k->slm_B, 1024);
    assert_int_equal(k->flags, ZS_KERNEL_GLOBAL_ATOMICS);
    assert_int_equal(k->eu_thread_count, 4);
    assert_int_equal(k->spill_B, 96);
    assert_int_equal(k->scratch_B[1], 2048);
    assert_int_equal(k->private_B, 64);
    assert_int_equal(k->private_per_hw_thread_B, 1024);
    assert_int_equal(k->required_group_size[1], 2);
    assert_int_equal(k->required_subgroup_size, 16);
    assert_int_equal(k->walk_order[0], 1);
    assert_int_equal(k->thread.inline_data_B, 32);
    assert_int_equal(k->thread.cross_thread_B, 64);
    assert_int_equal(k->thread.per_thread_B, 64);
    assert_true(k->thread.local_id[1] && !k->thread.local_id[2]);
    assert_string_equal(k->attributes,
                        "reqd_work_group_size(32,2,1) intel_reqd_sub_group_size(16)");
    assert_string_equal(k->vec_type_hint, "float4");
    assert_int_equal(k->arg_count, 8);
    assert_int_equal(k->args[0].kind, ZS_ARG_BUFFER);
    assert_int_equal(k->args[0].address_modes, ZS_ADDRESS_STATELESS | ZS_ADDRESS_STATEFUL);
    assert_int_equal(k->surfaces[k->args[0].surface].bti, 3);
    assert_int_equal(k->args[0].type_size_B, 8);
    assert_int_equal(k->args[1].value_size_B, 20);
    assert_int_equal(k->args[2].kind, ZS_ARG_LOCAL);
    assert_int_equal(k->args[2].slm_alignment_B, 8);
    assert_int_equal(k->args[3].kind, ZS_ARG_IMAGE);
    assert_int_equal(k->args[3].image_type, ZS_IMAGE_3D);
    assert_true(k->surfaces[k->args[3].surface].writable);
    assert_int_equal(k->args[4].kind, ZS_ARG_SAMPLER);
    assert_int_equal(k->args[5].kind, ZS_ARG_UNUSED);
    assert_int_equal(k->args[7].kind, ZS_ARG_VALUE);
    assert_string_equal(k->args[7].name, "it's");
    assert_int_equal(k->binding_table_count, 4);
    assert_int_equal(k->sampler_count, 2);
    assert_int_equal(k->samplers[1].address, ZS_SAMPLER_CLAMP_EDGE);
    assert_true(k->samplers[1].linear && k->samplers[1].normalized && k->samplers[1].has_state);
    /* three words of the offset, two of the local size, pointer, value, local, private */
    assert_int_equal(k->payload_count, 9);
    assert_int_equal(k->payload[2].dim, 2);
    assert_int_equal(k->payload[4].kind, ZS_PAYLOAD_LOCAL_SIZE);
    assert_int_equal(k->payload[4].offset_B, 16);
    assert_int_equal(k->payload[6].source_offset_B, 16);
    assert_int_equal(k->payload[8].kind, ZS_PAYLOAD_PRIVATE_BASE);
    assert_int_equal(image->function_count, 1);
    assert_string_equal(image->functions[0].name, "helper");
    assert_string_equal(image->host_access[0].host_name, "a \"host\" name");
    /* future_key (at the top, once per walk but noted once), new_feature, from_the_future */
    bool future = false, feature = false, type = false;
    for (uint32_t i = 0; i < m->note_count; i++) {
        future = future || strstr(m->notes[i].text, "future_key");
        feature = feature || strstr(m->notes[i].text, "new_feature");
        type = type || strstr(m->notes[i].text, "from_the_future");
    }
    assert_true(future && feature && type);
    assert_int_equal(m->note_total, 3);
    zs_module_close(m);
}

static void test_bad_ze_info(void **state)
{
    (void)state;
#define KERNEL "kernels:\n  - name: k\n    execution_env:\n      simd_size: 8\n"
    static const struct {
        const char *text, *info;
    } rows[] = {
        {"a number expected, not 'x'",
         "kernels:\n  - name: k\n    execution_env:\n      simd_size: x\n"},
        {"a number expected, not '4294967296'",
         "kernels:\n  - name: k\n    execution_env:\n      simd_size: 4294967296\n"},
        {"true or false", KERNEL "      has_dpas: maybe\n"},
        {"[ x, y, z ]", KERNEL "      required_work_group_size: [ 1, 2 ]\n"},
        {"unexpected indentation", KERNEL "        barrier_count: 1\n"},
        {"unexpected indentation", "  version: 1\nkernels:\n"},
        {"'key: value' expected", KERNEL "      nonsense\n"},
        {"more kernels than the 1", KERNEL "  - name: l\n    execution_env:\n      simd_size: 8\n"},
        {"arg_index is too large",
         KERNEL "    payload_arguments:\n      - arg_type: arg_byvalue\n        arg_index: 4096\n"},
        {"arg_byvalue without arg_index",
         KERNEL "    payload_arguments:\n      - arg_type: arg_byvalue\n        size: 4\n"},
        {"arg_bypointer without",
         KERNEL "    payload_arguments:\n      - arg_type: arg_bypointer\n"},
        {"payload ends behind 1 MiB",
         KERNEL "    payload_arguments:\n      - arg_type: local_size\n        offset: 4294967295\n"
                "        size: 12\n"},
        {"index is too large",
         KERNEL "    binding_table_indices:\n      - bti_value: 256\n        arg_index: 0\n"},
        {"index is too large", KERNEL "    binding_table_indices:\n      - bti_value: 1\n"},
        {"scratch slot",
         KERNEL "    per_thread_memory_buffers:\n      - type: scratch\n        slot: 2\n"},
        {"walk order", KERNEL "      work_group_walk_order_dimensions: [ 0, 1, 3 ]\n"},
        {"entry points behind", KERNEL "      offset_to_skip_set_ffid_gp: 65\n"},
        {"at most 65536", KERNEL "    per_thread_payload_arguments:\n      - arg_type: local_id\n"
                                 "        size: 65537\n"},
        {"argument 5000", KERNEL "kernels_misc_info:\n  - name: k\n    args_info:\n"
                                 "      - index: 5000\n"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_buf bytes = make_zebin(&(struct made_zebin){.ze_info = rows[i].info});
        open_fails(&bytes, -EINVAL, rows[i].text);
    }
}

/* Two kernels whose code is the same bytes would stand for twice the work. */
static void test_overlap(void **state)
{
    (void)state;
    static const char info[] = KERNEL "  - name: l\n    execution_env:\n      simd_size: 8\n";
    const struct made_section sections[] = {
        {".text.k", ZS_SHT_PROGBITS, code, sizeof(code), 0, 0, 0},
        {".text.l", ZS_SHT_PROGBITS, code, sizeof(code), 0, 0, 0},
        {".ze_info", ZS_SHT_ZEINFO, info, 0, 0, 0, 0},
    };
    struct zs_buf bytes = {0};
    make_elf(&bytes, ZS_ELF_REL, ZS_EM_INTELGT, sections, 3);
    struct zs_module *m;
    assert_int_equal(zs_module_open_memory(zs_buf_span(&bytes), NULL, &m, NULL), 0);
    zs_module_close(m);
    set_u32(&bytes, 64 + 2 * 64 + 0x18, 64 + 5 * 64 + 32);
    open_fails(&bytes, -EINVAL, "kernels k and l overlaps");
}

static void test_yaml(void **state)
{
    (void)state;
    static const char text[] = "a: 1\n\n# no\nb:\n  - c: 'x: y' # end\n    d: [ 1, two,3 ]\n"
                               "  - plain item\ne: -5\n\"quoted key\": \"t\\tq\\\"\"\n";
    struct zs_arena arena;
    struct zs_yaml y;
    struct zs_span item;
    uint32_t number;
    int64_t wide;
    bool truth;
    zs_arena_init(&arena, 0);
    zs_yaml_init(&y, zs_span_make(text, strlen(text)), 100);
    assert_true(zs_yaml_key_is(&y.line, "a") && zs_yaml_u32(y.line.value, &number) && number == 1);
    assert_int_equal(y.line.offset_B, 100);
    zs_yaml_next(&y);
    assert_true(zs_yaml_key_is(&y.line, "b") && y.line.value.size_B == 0);
    zs_yaml_next(&y);
    assert_int_equal(y.line.dash, 2);
    assert_int_equal(y.line.indent, 4);
    assert_string_equal(zs_yaml_string(y.line.value, &arena), "x: y");
    assert_true(zs_yaml_below(&y, 0) && zs_yaml_below(&y, 2) && !zs_yaml_below(&y, 3));
    zs_yaml_next(&y);
    assert_true(zs_yaml_item(y.line.value, 1, &item) && item.size_B == 3);
    assert_true(zs_yaml_item(y.line.value, 2, &item) && zs_yaml_u32(item, &number) && number == 3);
    assert_false(zs_yaml_item(y.line.value, 3, &item));
    zs_yaml_next(&y);
    assert_int_equal(y.line.key.size_B, 0);
    assert_string_equal(zs_yaml_string(y.line.value, &arena), "plain item");
    zs_yaml_next(&y);
    assert_true(zs_yaml_i64(y.line.value, &wide) && wide == -5);
    assert_false(zs_yaml_u32(y.line.value, &number));
    zs_yaml_next(&y);
    assert_string_equal(zs_yaml_string(y.line.value, &arena), "t\tq\"");
    zs_yaml_next(&y);
    assert_true(y.line.end);
    assert_true(zs_yaml_bool(zs_span_make("true", 4), &truth) && truth);
    assert_true(zs_yaml_bool(zs_span_make("false", 5), &truth) && !truth);
    assert_false(zs_yaml_bool(zs_span_make("yes", 3), &truth));
    assert_false(zs_yaml_i64(zs_span_make("99999999999999999999", 20), &wide));
    assert_false(zs_yaml_i64(zs_span_make("-", 1), &wide));
    zs_arena_fini(&arena);
}

static struct zs_buf made_patch_blob(const char *const *names, uint32_t count)
{
    struct made_kernel kernels[4] = {0};
    struct zs_buf out = {0};
    for (uint32_t i = 0; i < count; i++) {
        kernels[i] = (struct made_kernel){.name = names[i], .code_B = 16, .heap_B = 64};
        put_usual_tokens(&kernels[i].tokens);
    }
    make_patch_blob(&out, NULL, kernels, count);
    return out;
}

static void put_debug_header(struct zs_buf *out, uint32_t device, uint32_t kernels)
{
    put_text(out, "CTNI", 4);
    put_u32(out, 1081);
    put_u32(out, 0);
    put_u32(out, device);
    put_u32(out, 9);
    put_u32(out, 0);
    put_u32(out, kernels);
}

static void put_debug_kernel(struct zs_buf *out, const char *name, struct zs_span elf)
{
    put_u32(out, 8);
    put_u32(out, (uint32_t)elf.size_B);
    put_u32(out, 0);
    put_text(out, name, 8);
    zs_buf_append(out, elf.data, elf.size_B);
}

static struct zs_buf made_debug_elf(void)
{
    const struct made_section sections[] = {
        {".text", ZS_SHT_PROGBITS, code, sizeof(code), 0, 0, 0},
        {".debug_info", ZS_SHT_PROGBITS, "info", 4, 0, 0, 0},
    };
    struct zs_buf elf = {0};
    make_elf(&elf, ZS_ELF_EXEC, 182, sections, 2);
    return elf;
}

static void test_neo_elf_with_debug(void **state)
{
    (void)state;
    static const char *const names[] = {"one", "two", "three"};
    struct zs_buf blob = made_patch_blob(names, 3), elf = made_debug_elf(), debug = {0}, out = {0};
    put_debug_header(&debug, 12, 3); /* IGC counts kernels without debug data and omits them */
    put_debug_kernel(&debug, "three", zs_buf_span(&elf));
    put_debug_kernel(&debug, "one", zs_buf_span(&elf));
    const struct made_section sections[] = {
        {"BuildOptions", ZS_SHT_BUILD_OPTIONS, "-g", 0, 0, 0, 0},
        {"SPIRV Object", ZS_SHT_SPIRV, "spirv", 0, 0, 0, 0},
        {"Intel(R) OpenCL Device Debug", ZS_SHT_DEVICE_DEBUG, debug.data, debug.size_B, 0, 0, 0},
        {"Intel(R) OpenCL Device Binary", ZS_SHT_DEVICE_BINARY, blob.data, blob.size_B, 0, 0, 0},
        {"odd", 0xff0000aa, "?", 0, 0, 0, 0},
    };
    make_elf(&out, ZS_ELF_OPENCL_EXECUTABLE, 0, sections, 5);
    struct zs_buf neo = {0}, archive = {0};
    zs_buf_append(&neo, out.data, out.size_B);
    struct zs_module *m = open_ok(&out);
    assert_int_equal(m->container, ZS_CONTAINER_NEO_ELF);
    assert_int_equal(m->part_count, 3);
    const struct zs_image *image = &m->images[0];
    assert_string_equal(image->build_options, "-g");
    assert_string_equal(image->ir_format, "SPIR-V");
    assert_int_equal(image->ir.size_B, 5);
    assert_true(image->has_debug);
    assert_int_equal(image->kernels[0].debug.kind, ZS_DEBUG_KERNEL_ELF);
    assert_int_equal(image->kernels[1].debug.kind, ZS_DEBUG_NONE);
    assert_int_equal(image->kernels[2].debug.elf.size_B, elf.size_B);
    assert_memory_equal(m->bytes.data + image->kernels[2].debug.offset_B, elf.data, elf.size_B);
    assert_int_equal(m->note_total, 1); /* the section of unknown type */
    zs_module_close(m);

    /* the same in an archive whose member name tells the device, between padding */
    zs_buf_puts(&archive, "!<arch>\n");
    put_ar_member(&archive, "pad_0/", zs_span_make("        ", 8));
    put_ar_member(&archive, "64.9.1.9/", zs_buf_span(&neo));
    put_ar_member(&archive, "64.11.0.0/", zs_buf_span(&blob));
    put_ar_member(&archive, "readme/", zs_span_make("text", 4));
    m = open_ok(&archive);
    assert_int_equal(m->container, ZS_CONTAINER_AR);
    assert_int_equal(m->image_count, 2);
    assert_string_equal(m->images[0].device, "kbl");
    assert_true(m->images[0].device_exact);
    assert_true(m->images[0].has_debug && !m->images[1].has_debug);
    assert_ptr_equal(zs_module_image(m, "KBL"), &m->images[0]);
    assert_ptr_equal(zs_module_image(m, "icllp"), &m->images[1]);
    assert_null(zs_module_image(m, "pvc"));
    assert_null(zs_module_image(m, "nonsense"));
    assert_int_equal(m->note_total, 2);
    zs_module_close(m);

    /* patch tokens and debug data as two inputs */
    m = open_with(&blob, zs_buf_span(&debug));
    assert_int_equal(m->images[0].kernels[0].debug.input, 1);
    assert_int_equal(m->images[0].kernels[2].debug.kind, ZS_DEBUG_KERNEL_ELF);
    assert_int_equal(m->debug_entry_count, 2);
    assert_true(m->debug_entries[0].bound);
    zs_module_close(m);

    /* debug data alone */
    m = open_ok(&debug);
    assert_int_equal(m->container, ZS_CONTAINER_IGC_DEBUG);
    assert_int_equal(m->image_count, 0);
    assert_string_equal(m->debug_entries[0].name, "three");
    assert_false(m->debug_entries[0].bound);
    zs_module_close(m);
    m = open_ok(&elf);
    assert_int_equal(m->container, ZS_CONTAINER_DEBUG_ELF);
    assert_int_equal(m->debug_entry_count, 1);
    zs_module_close(m);
    zs_buf_fini(&neo);
}

/* What zetModuleGetDebugInfo gives for a zebin: linked, with addresses. */
static void test_linked_debug(void **state)
{
    (void)state;
    struct zs_buf bytes = make_zebin(&(struct made_zebin){0});
    struct zs_buf linked = make_zebin(&(struct made_zebin){.type = ZS_ELF_EXEC});
    set_u32(&linked, 64 + 64 + 0x10, 0x12345000);
    struct zs_module *m = open_with(&bytes, zs_buf_span(&linked));
    const struct zs_debug *d = &m->images[0].kernels[0].debug;
    assert_int_equal(d->kind, ZS_DEBUG_LINKED);
    assert_int_equal(d->input, 1);
    assert_int_equal(d->address, 0x12345000);
    assert_int_equal(d->section, 1);
    assert_int_equal(m->parts[d->part].section_count, 11);
    zs_module_close(m);
    zs_buf_fini(&linked);
}

static void test_bad_containers(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size_B;
        int error;
        const char *text;
    } rows[] = {
        {"", 0, -EINVAL, "not a module"},
        {"hello", 5, -EINVAL, "not a module"},
        {"\177ELF", 4, -EINVAL, "not a module: an ELF, but not one"},
        {"\3\2\43\7....", 8, -ENOTSUP, "SPIR-V"},
        {"!<arch>\nx/", 10, -EINVAL, "archive member name"},
        {"!<arch>\nx/              0           0     0     644     zz        `\n", 68, -EINVAL,
         "a decimal size"},
        {"!<arch>\nx/              0           0     0     644     9999      `\n", 68, -EINVAL,
         "archive member: 9999 bytes"},
        {"CTNI\71\4\0\0\0\0\0\0\14\0\0\0\11\0\0\0\0\0\0\0\5\0\0\0", 28, -EINVAL, "kernel count"},
        {"CTNI\70\4\0\0\0\0\0\0\14\0\0\0\11\0\0\0\0\0\0\0\0\0\0\0", 28, -ENOTSUP, "1080"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_buf bytes = {0};
        zs_buf_append(&bytes, rows[i].bytes, rows[i].size_B);
        open_fails(&bytes, rows[i].error, rows[i].text);
    }
    struct zs_buf deep = {0};
    zs_buf_puts(&deep, "!<arch>\n");
    for (int i = 0; i < 10; i++) {
        struct zs_buf outer = {0};
        zs_buf_puts(&outer, "!<arch>\n");
        put_ar_member(&outer, "inner/", zs_buf_span(&deep));
        zs_buf_fini(&deep);
        deep = outer;
    }
    open_fails(&deep, -EFBIG, "nested more than 6 deep");
    struct zs_buf debug = {0};
    put_debug_header(&debug, 12, 1);
    put_debug_kernel(&debug, "k", zs_span_make("not an ELF at all", 17));
    open_fails(&debug, -EINVAL, "debug data of kernel k is not an ELF");
    const struct made_section odd = {
        "Intel(R) OpenCL Device Binary", ZS_SHT_DEVICE_BINARY, "odd", 0, 0, 0, 0};
    struct zs_buf neo = {0};
    make_elf(&neo, ZS_ELF_OPENCL_EXECUTABLE, 0, &odd, 1);
    open_fails(&neo, -EINVAL, "neither patch tokens nor a zebin");
}

static void test_long_ar_names(void **state)
{
    (void)state;
    static const char *const names[] = {"k"};
    struct zs_buf blob = made_patch_blob(names, 1), archive = {0}, bsd = {0};
    zs_buf_puts(&archive, "!<arch>\n");
    put_ar_member(&archive, "//", zs_span_make("first_name/\n64.12.55.8/\n", 24));
    put_ar_member(&archive, "/12", zs_buf_span(&blob));
    put_text(&bsd, "64.12.60.7", 12);
    zs_buf_append(&bsd, blob.data, blob.size_B);
    put_ar_member(&archive, "#1/12", zs_buf_span(&bsd));
    put_ar_member(&archive, "/9999", zs_buf_span(&blob));
    /* versions as ocloc names them today: each device has its own name */
    static const struct {
        const char *version, *device;
    } today[] = {
        {"64.12.70.4", "mtl"},    {"64.12.71.4", "mtl-h"}, {"64.12.74.4", "arl-h"},
        {"64.20.2.0", "bmg-g31"}, {"64.30.1.0", "ptl-u"},  {"64.30.3.1", "wcl"},
        {"64.30.4.4", "nvl-s"},   {"64.30.5.4", "nvl-u"},  {"64.35.11.0", "cri"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(today); i++)
        put_ar_member(&archive, today[i].version, zs_buf_span(&blob));
    struct zs_module *m = open_ok(&archive);
    assert_int_equal(m->image_count, 3 + ZS_ARRAY_LEN(today));
    for (size_t i = 0; i < ZS_ARRAY_LEN(today); i++)
        assert_string_equal(m->images[3 + i].device, today[i].device);
    /* its own code comes before that of another, which would run, too */
    assert_ptr_equal(zs_module_image(m, "nvl-hx"), &m->images[3 + 6]);
    assert_ptr_equal(zs_module_image(m, "acm-g11"), &m->images[0]);
    assert_null(zs_module_image(m, "lnl")); /* of bmg-g31 nothing is said */
    assert_string_equal(m->images[0].device, "dg2");
    assert_string_equal(m->images[1].device, "pvc");
    assert_string_equal(m->images[2].device, "skl");
    zs_module_close(m);
    zs_buf_fini(&blob);
    zs_buf_fini(&bsd);
}

static void test_open_file(void **state)
{
    (void)state;
    struct zs_module *m = NULL;
    struct zs_diag diag = {0};
    assert_int_equal(zs_module_open("/nonexistent/module.bin", NULL, &m, &diag), -ENOENT);
    assert_null(m);
    assert_non_null(strstr(diag.text, "/nonexistent/module.bin"));
    char path[] = "/tmp/zescope-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct zs_buf bytes = make_zebin(&(struct made_zebin){0});
    FILE *file = fdopen(fd, "wb");
    assert_int_equal(fwrite(bytes.data, 1, bytes.size_B, file), bytes.size_B);
    fclose(file);
    struct zs_module_options options = {.size_B = sizeof(options), .debug_path = path};
    assert_int_equal(zs_module_open(path, &options, &m, NULL), 0);
    assert_string_equal(m->path, path);
    assert_int_equal(m->images[0].kernels[0].debug.input, 1);
    zs_module_close(m);
    options = (struct zs_module_options){.size_B = sizeof(options), .file_limit_B = 100};
    assert_int_equal(zs_module_open(path, &options, &m, &diag), -EFBIG);
    remove(path);
    zs_buf_fini(&bytes);
    zs_module_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zebin),
        cmocka_unit_test(test_bad_zebin),
        cmocka_unit_test(test_no_kernels),
        cmocka_unit_test(test_bad_elf),
        cmocka_unit_test(test_ze_info),
        cmocka_unit_test(test_bad_ze_info),
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_neo_elf_with_debug),
        cmocka_unit_test(test_linked_debug),
        cmocka_unit_test(test_bad_containers),
        cmocka_unit_test(test_long_ar_names),
        cmocka_unit_test(test_open_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
