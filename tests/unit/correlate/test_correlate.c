/* SPDX-License-Identifier: MIT */
/* Expressions, registers, sources and hostile ELFs; what needs a compiler is in oracle.py. */
#include "../test.h"

#include "base/compiler.h"
#include "base/file.h"
#include "correlate/md5.h"
#include "dwarf/dwarf_priv.h"
#include "dwarf/variables.h"

#include <zescope/correlate.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the evaluator ---- */

/* Registers hold number * 0x100 + the byte of the offset; memory holds its own address + 1. */
static int read_register(void *user, uint64_t reg, uint64_t bit_offset, uint32_t bits,
                         uint64_t *ret_value)
{
    *ret_value = reg * 0x100 + bit_offset / 8;
    return 0;
}

static int read_memory(void *user, uint64_t gpu_va, uint32_t address_class, uint32_t size_B,
                       uint64_t *ret_value)
{
    *ret_value = gpu_va + 1 + address_class * 0x10000;
    return 0;
}

#define EXPR(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

struct eval_row {
    const char *name;
    const uint8_t *bytes;
    size_t size_B;
    int error;
    enum zs_piece_kind kind;
    uint64_t value; /* of the first piece: value, address or register */
    uint64_t bit_offset;
};

static const struct eval_row eval_rows[] = {
    {"lit", EXPR(0x35, 0x9f), 0, ZS_PIECE_VALUE, 5, 0},
    {"const1s", EXPR(0x09, 0xff, 0x9f), 0, ZS_PIECE_VALUE, UINT64_MAX, 0},
    {"const2u", EXPR(0x0a, 0x34, 0x12, 0x9f), 0, ZS_PIECE_VALUE, 0x1234, 0},
    {"const4s", EXPR(0x0d, 0xfe, 0xff, 0xff, 0xff, 0x9f), 0, ZS_PIECE_VALUE, UINT64_MAX - 1, 0},
    {"constu", EXPR(0x10, 0x80, 0x01, 0x9f), 0, ZS_PIECE_VALUE, 128, 0},
    {"consts", EXPR(0x11, 0x7f, 0x9f), 0, ZS_PIECE_VALUE, UINT64_MAX, 0},
    {"dup plus", EXPR(0x33, 0x12, 0x22, 0x9f), 0, ZS_PIECE_VALUE, 6, 0},
    {"over minus", EXPR(0x33, 0x35, 0x14, 0x1c, 0x9f), 0, ZS_PIECE_VALUE, 2, 0},
    {"swap minus", EXPR(0x33, 0x35, 0x16, 0x1c, 0x9f), 0, ZS_PIECE_VALUE, 2, 0},
    {"pick", EXPR(0x33, 0x35, 0x15, 1, 0x9f), 0, ZS_PIECE_VALUE, 3, 0},
    {"pick too deep", EXPR(0x33, 0x15, 1, 0x9f), -EINVAL, 0, 0, 0},
    {"pick of nothing", EXPR(0x15, 0, 0x9f), -EINVAL, 0, 0, 0},
    {"rot", EXPR(0x31, 0x32, 0x33, 0x17, 0x9f), 0, ZS_PIECE_VALUE, 2, 0},
    {"mul div mod", EXPR(0x37, 0x33, 0x1e, 0x34, 0x1b, 0x33, 0x1d, 0x9f), 0, ZS_PIECE_VALUE, 2, 0},
    {"div by zero", EXPR(0x37, 0x30, 0x1b, 0x9f), -EINVAL, 0, 0, 0},
    {"least / -1", EXPR(0x31, 0x08, 63, 0x24, 0x09, 0xff, 0x1b, 0x9f), 0, ZS_PIECE_VALUE,
     UINT64_C(1) << 63, 0},
    {"neg abs", EXPR(0x37, 0x1f, 0x19, 0x9f), 0, ZS_PIECE_VALUE, 7, 0},
    {"not", EXPR(0x30, 0x20, 0x9f), 0, ZS_PIECE_VALUE, UINT64_MAX, 0},
    {"shl past the end", EXPR(0x31, 0x08, 64, 0x24, 0x9f), 0, ZS_PIECE_VALUE, 0, 0},
    {"shra", EXPR(0x09, 0xf0, 0x32, 0x26, 0x9f), 0, ZS_PIECE_VALUE, UINT64_MAX - 3, 0},
    {"and or xor", EXPR(0x3f, 0x33, 0x1a, 0x34, 0x21, 0x31, 0x27, 0x9f), 0, ZS_PIECE_VALUE, 6, 0},
    {"signed less", EXPR(0x09, 0xff, 0x30, 0x2d, 0x9f), 0, ZS_PIECE_VALUE, 1, 0},
    {"branch", EXPR(0x31, 0x28, 2, 0, 0x35, 0x9f, 0x36, 0x9f), 0, ZS_PIECE_VALUE, 6, 0},
    {"branch out", EXPR(0x2f, 0xff, 0x7f), -EINVAL, 0, 0, 0},
    {"endless", EXPR(0x2f, 0xfd, 0xff), -E2BIG, 0, 0, 0},
    {"underflow", EXPR(0x22), -EINVAL, 0, 0, 0},
    {"cut operand", EXPR(0x0c, 1, 2), -EINVAL, 0, 0, 0},
    {"unknown operator", EXPR(0xf0), -EOPNOTSUPP, 0, 0, 0},
    {"no frame base", EXPR(0x91, 0), -ENODATA, 0, 0, 0},
    {"no object", EXPR(0x97), -EOPNOTSUPP, 0, 0, 0},
    {"reg", EXPR(0x5c), 0, ZS_PIECE_REGISTER, 12, 0},
    {"regx", EXPR(0x90, 0x80, 0x02), 0, ZS_PIECE_REGISTER, 256, 0},
    {"reg bit_piece", EXPR(0x68, 0x9d, 0x20, 0xc0, 0x01), 0, ZS_PIECE_REGISTER, 24, 192},
    {"breg", EXPR(0x76, 0x10), 0, ZS_PIECE_MEMORY, 0x610, 0},
    {"bregx", EXPR(0x92, 0x06, 0x7f), 0, ZS_PIECE_MEMORY, 0x5ff, 0},
    {"deref", EXPR(0x08, 0x40, 0x06), 0, ZS_PIECE_MEMORY, 0x41, 0},
    {"xderef", EXPR(0x32, 0x08, 0x40, 0x18), 0, ZS_PIECE_MEMORY, 0x20041, 0},
    {"implicit", EXPR(0x9e, 2, 7, 8), 0, ZS_PIECE_BYTES, 0, 0},
    {"lane", EXPR(0xed, 0x9f), 0, ZS_PIECE_VALUE, 19, 0},
    {"regval_bits", EXPR(0x08, 28, 0x08, 64, 0xfe, 32, 0x9f), 0, ZS_PIECE_VALUE, 0x1c08, 64},
    /* more than a value: where a vector is */
    {"regval_bits of a vector", EXPR(0x08, 28, 0x30, 0xfe, 65, 0x9f), 0, ZS_PIECE_REGISTER, 28, 0},
    {"regval_bits of a vector, as IGC 2 says it",
     EXPR(0x08, 28, 0x30, 0xfe, 128, 0x08, 36, 0x30, 0xfe, 128), 0, ZS_PIECE_REGISTER, 28, 0},
    {"regval_bits of too many", EXPR(0x08, 28, 0x30, 0xfe, 65, 0x31, 0x22, 0x9f), -EINVAL, 0, 0, 0},
    {"bit_piece_stack", EXPR(0x08, 28, 0xeb, 0x38, 0x08, 16, 0xef), 0, ZS_PIECE_REGISTER, 28, 8},
    {"piece_stack", EXPR(0x08, 28, 0xeb, 0x34, 0xee), 0, ZS_PIECE_REGISTER, 28, 0},
    /* what IGC emits for an int in SIMD32: lanes 16-31 live in another register */
    {"sliced variable",
     EXPR(0xed, 0x40, 0x2a, 0x28, 0x13, 0x00, 0xed, 0x33, 0x25, 0x23, 0x1c, 0xeb, 0xed, 0x37, 0x1a,
          0x08, 0x20, 0x1e, 0x08, 0x20, 0xec, 0x9f, 0x2f, 0x13, 0x00, 0xed, 0x40, 0x1c, 0x33, 0x25,
          0x23, 0x88, 0x01, 0xeb, 0xed, 0x37, 0x1a, 0x08, 0x20, 0x1e, 0x08, 0x20, 0xec, 0x9f),
     0, ZS_PIECE_VALUE, 136 * 0x100 + 12, 96},
};

static void test_eval(void **state)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(eval_rows); i++) {
        const struct eval_row *row = &eval_rows[i];
        struct zs_eval_context context = {.size_B = sizeof(context),
                                          .read_register = read_register,
                                          .read_memory = read_memory,
                                          .lane = 19};
        struct zs_eval_result result;
        struct zs_diag diag = {0};
        int error =
            zs_expr_eval((struct zs_span){row->bytes, row->size_B}, &context, &result, &diag);
        print_message("%s\n", row->name);
        assert_int_equal(error, row->error);
        if (error) {
            assert_true(diag.text[0]);
            continue;
        }
        assert_int_equal(result.count, 1);
        const struct zs_piece *p = &result.pieces[0];
        assert_int_equal(p->kind, row->kind);
        uint64_t got = p->kind == ZS_PIECE_VALUE    ? p->value
                       : p->kind == ZS_PIECE_MEMORY ? p->gpu_va
                                                    : p->dwarf_register;
        assert_int_equal(got, row->value);
        assert_int_equal(p->bit_offset, row->bit_offset);
    }
}

/* Without callbacks inputs are missing, and nothing is made up. */
static void test_eval_missing(void **state)
{
    static const uint8_t bytes[] = {0x76, 0x10};
    struct zs_eval_context context = {.size_B = sizeof(context)};
    struct zs_eval_result result;
    assert_int_equal(zs_expr_eval((struct zs_span){bytes, sizeof(bytes)}, &context, &result, NULL),
                     -ENODATA);
}

/* ---- variables of units.S ---- */

static int read_entry(void *user, uint64_t reg, uint64_t bit_offset, uint32_t bits,
                      uint64_t *ret_value)
{
    *ret_value = 1000 + reg;
    return 0;
}

static int read_cfa(void *user, uint64_t *ret_gpu_va)
{
    *ret_gpu_va = 0x8000;
    return 0;
}

static void test_units(void **state)
{
    static const struct {
        const char *name;
        int error;
        enum zs_piece_kind kind;
        uint64_t value;
    } rows[] = {
        {"ax", 0, ZS_PIECE_VALUE, 0x2222},
        {"cx", 0, ZS_PIECE_VALUE, 0x1111},
        {"fb", 0, ZS_PIECE_MEMORY, 0x600 + 8 - 16},
        {"callee", 0, ZS_PIECE_MEMORY, 9},
        {"bx", 0, ZS_PIECE_VALUE, 0x4444},
        {"bfb", 0, ZS_PIECE_MEMORY, 0x600 - 16},
        {"entry", 0, ZS_PIECE_VALUE, 1005},
        {"entry_sum", 0, ZS_PIECE_VALUE, 1008},
        {"fdiv", 0, ZS_PIECE_VALUE, 0x40400000},   /* 1.5f / 0.5f */
        {"wrap", 0, ZS_PIECE_VALUE, 44},           /* 200 + 100 in a byte */
        {"signed", 0, ZS_PIECE_VALUE, 56},         /* -100 - 100 in a signed one */
        {"less", 0, ZS_PIECE_VALUE, 1},            /* -0.5 < 0.25 */
        {"uless", 0, ZS_PIECE_VALUE, 0},           /* UINT_MAX < 1 */
        {"conv", 0, ZS_PIECE_VALUE, (uint64_t)-2}, /* -2.75 */
        {"back", 0, ZS_PIECE_VALUE, 0xc0400000},   /* -3 as a float */
        {"reint", 0, ZS_PIECE_VALUE, 0x3f800000},
        {"gnu", 0, ZS_PIECE_VALUE, 2},
        {"regval", 0, ZS_PIECE_VALUE, 0x700},
        {"deref", 0, ZS_PIECE_VALUE, 0x11},
        {"call", 0, ZS_PIECE_VALUE, 10},
        {"cfa", 0, ZS_PIECE_MEMORY, 0x8008},
        {"two_types", -EINVAL, 0, 0},
        {"bad_size", -EINVAL, 0, 0},
        {"bad_reint", -EINVAL, 0, 0},
        {"no_type", -EINVAL, 0, 0},
        {"half_type", -EOPNOTSUPP, 0, 0},
        {"float_and", -EINVAL, 0, 0},
        {"deep", -E2BIG, 0, 0},
        {"deeper", -E2BIG, 0, 0},
    };
    struct zs_file file;
    struct zs_dwarf *dwarf;
    struct zs_dwarf_kernel *kernel;
    struct zs_diag diag = {0};
    assert_int_equal(zs_file_read(UNITS, 0, &file, NULL), 0);
    assert_int_equal(zs_dwarf_open(file.span, &dwarf, &diag), 0);
    assert_int_equal(zs_dwarf_kernel_load(dwarf, "k", 0x40, &kernel, &diag), 0);
    assert_int_equal(kernel->variable_count, ZS_ARRAY_LEN(rows));
    for (uint32_t i = 0; i < kernel->variable_count; i++) {
        const struct zs_variable *v = &kernel->variables[i];
        struct zs_location_iterator it = zs_variable_locations(kernel, v);
        struct zs_location location;
        struct zs_eval_result result;
        struct zs_eval_context context = {.size_B = sizeof(context),
                                          .read_register = read_register,
                                          .read_memory = read_memory,
                                          .kernel = kernel,
                                          .variable = v,
                                          .read_entry_register = read_entry,
                                          .read_cfa = read_cfa};
        print_message("%s\n", rows[i].name);
        assert_string_equal(v->name, rows[i].name);
        assert_true(zs_location_next(&it, &location));
        assert_int_equal(zs_expr_eval(location.expr, &context, &result, &diag), rows[i].error);
        zs_expr_describe(location.expr, 16, 32, 4, diag.text, sizeof(diag.text));
        if (rows[i].error)
            continue;
        assert_int_equal(result.count, 1);
        assert_int_equal(result.pieces[0].kind, rows[i].kind);
        assert_int_equal(rows[i].kind == ZS_PIECE_VALUE ? result.pieces[0].value
                                                        : result.pieces[0].gpu_va,
                         rows[i].value);
        /* without knowing whose it is, nothing is taken from another unit */
        context.variable = NULL;
        context.read_entry_register = NULL;
        context.read_cfa = NULL;
        int error = zs_expr_eval(location.expr, &context, &result, NULL);
        assert_int_equal(error, strcmp(v->name, "callee") ? -ENODATA : 0);
    }
    zs_dwarf_kernel_unload(kernel);
    zs_dwarf_close(dwarf);
    zs_file_close(&file);
}

/* Contexts of other versions of the library: shorter, longer with nothing more, longer with more.
 */
static void test_context_sizes(void **state)
{
    static const uint8_t lane[] = {0xed, 0x9f}, call[] = {0x9c, 0x9f};
    struct {
        struct zs_eval_context context;
        uint64_t more[2];
    } later = {.context = {.lane = 7, .read_cfa = read_cfa}};
    struct zs_eval_result result;
    struct zs_diag diag = {0};
    struct zs_span lane_expr = {lane, sizeof(lane)}, cfa_expr = {call, sizeof(call)};
    later.context.size_B = offsetof(struct zs_eval_context, grf_B);
    assert_int_equal(zs_expr_eval(lane_expr, &later.context, &result, NULL), 0);
    assert_int_equal(result.pieces[0].value, 7);
    assert_int_equal(zs_expr_eval(cfa_expr, &later.context, &result, NULL), -ENODATA);
    later.context.size_B = sizeof(later);
    assert_int_equal(zs_expr_eval(cfa_expr, &later.context, &result, NULL), 0);
    assert_int_equal(result.pieces[0].value, 0x8000);
    later.more[1] = 1;
    assert_int_equal(zs_expr_eval(cfa_expr, &later.context, &result, &diag), -E2BIG);
    assert_non_null(strstr(diag.text, "not known to this version"));
    later.context.size_B = 4;
    assert_int_equal(zs_expr_eval(cfa_expr, &later.context, &result, NULL), -EINVAL);
    /* the same rule in all others */
    struct {
        struct zs_source_options options;
        uint64_t more;
    } sources_options = {{.size_B = sizeof(sources_options)}, 1};
    struct zs_sources *sources;
    assert_int_equal(zs_sources_open(&sources_options.options, &sources), -E2BIG);
    assert_null(sources);
}

struct words_row {
    const uint8_t *bytes;
    size_t size_B;
    uint32_t simd, grf_B;
    uint64_t object_B;
    const char *text;
};

static const struct words_row words_rows[] = {
    {EXPR(0x68, 0x9d, 0x20, 0xc0, 0x01), 32, 32, 4, "r8.6:d"},
    {EXPR(0x90, 120), 16, 32, 4, "r104.0:d"},
    {EXPR(0x9e, 8, 7, 0, 0, 0, 0, 0, 0, 0), 16, 32, 4, "constant 7"},
    {EXPR(0x76, 0x20), 16, 32, 4, "memory at scratch base + 32"},
    /* scratch base + 64 + 4 * lane */
    {EXPR(0x76, 0xc0, 0x00, 0xed, 0x34, 0x1e, 0x22), 8, 32, 4,
     "memory at scratch base + 64 + 4 x lane"},
    /* one register of eight dwords after the other */
    {EXPR(0xed, 0x33, 0x25, 0x23, 0x1c, 0xeb, 0xed, 0x37, 0x1a, 0x08, 0x20, 0x1e, 0x08, 0x20, 0xec,
          0x9f),
     16, 32, 4, "r12-r13, 4 bytes per lane"},
    {EXPR(0xed, 0x40, 0x2a, 0x28, 0x13, 0x00, 0xed, 0x33, 0x25, 0x23, 0x1c, 0xeb, 0xed, 0x37, 0x1a,
          0x08, 0x20, 0x1e, 0x08, 0x20, 0xec, 0x9f, 0x2f, 0x13, 0x00, 0xed, 0x40, 0x1c, 0x33, 0x25,
          0x23, 0x88, 0x01, 0xeb, 0xed, 0x37, 0x1a, 0x08, 0x20, 0x1e, 0x08, 0x20, 0xec, 0x9f),
     32, 32, 4,
     "r12-r13, 4 bytes per lane (lanes 0-15); r120-r121, 4 bytes per lane (lanes 16-31)"},
    {EXPR(0x23), 16, 32, 4, "in a place without words"},
};

static void test_words(void **state)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(words_rows); i++) {
        const struct words_row *row = &words_rows[i];
        char text[256], cut[4];
        struct zs_span expr = {row->bytes, row->size_B};
        size_t length =
            zs_expr_describe(expr, row->simd, row->grf_B, row->object_B, text, sizeof(text));
        assert_string_equal(text, row->text);
        assert_int_equal(length, strlen(row->text));
        zs_expr_describe(expr, row->simd, row->grf_B, row->object_B, cut, sizeof(cut));
        assert_int_equal(strncmp(cut, row->text, 3), 0);
    }
}

static void test_registers(void **state)
{
    static const struct {
        uint64_t number;
        enum zs_dwarf_register_file file;
        uint32_t index;
        const char *name;
    } rows[] = {
        {0, ZS_DWREG_IP, 0, "ip"},
        {16, ZS_DWREG_GRF, 0, "r0"},
        {271, ZS_DWREG_GRF, 255, "r255"},
        {272, ZS_DWREG_A, 0, "a0"},
        {288, ZS_DWREG_F, 0, "f0"},
        {350, ZS_DWREG_GRF, 256, "r256"},
        {12, ZS_DWREG_NONE, 0, "DWARF register 12"},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        char name[64];
        struct zs_dwarf_register reg = zs_dwarf_register(rows[i].number);
        zs_dwarf_register_name(rows[i].number, name, sizeof(name));
        assert_int_equal(reg.file, rows[i].file);
        assert_int_equal(reg.index, rows[i].index);
        assert_string_equal(name, rows[i].name);
    }
}

/* ---- the join ---- */

static void test_join(void **state)
{
    static const struct zs_dwarf_file files[] = {{.path = "/a.cl"}, {.path = "/b.h"}};
    static const struct zs_line_row rows[] = {
        {.offset_B = 16, .line = 3, .file = 0}, {.offset_B = 32, .line = 9, .file = 1},
        {.offset_B = 32, .line = 4, .file = 0}, /* hides the one before */
        {.offset_B = 56, .line = 3, .file = 0}, {.offset_B = 64, .flags = ZS_ROW_END_SEQUENCE},
    };
    static const struct zs_code_range ranges[] = {{0, 64}, {16, 40}, {24, 32}};
    static const struct zs_scope scopes[] = {{ZS_NO_INDEX, 0, 0, 1}, {0, 1, 1, 1}, {1, 1, 2, 1}};
    struct zs_dwarf_kernel kernel = {.code_size_B = 80,
                                     .files = files,
                                     .file_count = 2,
                                     .rows = rows,
                                     .row_count = ZS_ARRAY_LEN(rows),
                                     .scopes = scopes,
                                     .scope_count = 3,
                                     .ranges = ranges,
                                     .range_count = 3};
    static const uint32_t offsets[] = {0, 16, 24, 32, 40, 56, 64};
    static const uint32_t row[] = {ZS_NO_INDEX, 0, 0, 2, 2, 3, ZS_NO_INDEX};
    static const uint32_t scope[] = {0, 1, 2, 1, 0, 0, ZS_NO_INDEX};
    struct zs_join *join;
    assert_int_equal(zs_join(&kernel, offsets, ZS_ARRAY_LEN(offsets), &join), 0);
    for (size_t i = 0; i < ZS_ARRAY_LEN(offsets); i++) {
        assert_int_equal(join->row[i], row[i]);
        assert_int_equal(join->scope[i], scope[i]);
        assert_int_equal(zs_dwarf_scope_at(&kernel, offsets[i]), scope[i]);
        const struct zs_line_row *at = zs_dwarf_row_at(&kernel, offsets[i]);
        assert_ptr_equal(at, row[i] == ZS_NO_INDEX ? NULL : &rows[row[i]]);
    }
    assert_int_equal(join->line_count, 2);
    const struct zs_join_line *line = zs_join_find_line(join, 0, 3);
    assert_non_null(line);
    assert_int_equal(line->inst_count, 3);
    assert_int_equal(line->run_count, 2);
    assert_int_equal(join->runs[line->run_first].first, 1);
    assert_int_equal(join->runs[line->run_first + 1].first, 5);
    assert_null(zs_join_find_line(join, 1, 9));
    zs_join_free(join);
}

static void test_variables_of_a_block(void **state)
{
    static const struct zs_variable variables[] = {{.name = "i", .scope = 0, .decl_line = 1},
                                                   {.name = "i", .scope = 1, .decl_line = 2},
                                                   {.name = "n", .scope = 0, .decl_line = 3},
                                                   {.name = "i", .scope = 1, .decl_line = 4}};
    static const struct zs_dwarf_kernel kernel = {.variables = variables,
                                                  .variable_count = ZS_ARRAY_LEN(variables)};
    assert_ptr_equal(zs_scope_variable(&kernel, 0, "i"), &variables[0]);
    assert_ptr_equal(zs_scope_variable(&kernel, 1, "i"), &variables[3]);
    assert_null(zs_scope_variable(&kernel, 1, "n"));
    assert_null(zs_scope_variable(&kernel, 2, "i"));
}

/* ---- sources ---- */

static void write_text(const char *path, const char *text)
{
    assert_int_equal(
        zs_file_write(path, (struct zs_span){(const uint8_t *)text, strlen(text)}, NULL), 0);
}

static void test_sources(void **state)
{
    char folder[] = "/tmp/zescope-sources-XXXXXX", path[256], mapped[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/src", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/src/k.cl", folder);
    write_text(path, "one\ntwo\r\nthree");
    snprintf(mapped, sizeof(mapped), "%s/src", folder);
    const char *dirs[] = {folder};
    struct zs_path_map map = {"/old/place/", mapped};
    struct zs_source_options options = {.size_B = sizeof(options),
                                        .search_dirs = dirs,
                                        .search_dir_count = 1,
                                        .maps = &map,
                                        .map_count = 1};
    struct zs_sources *sources;
    assert_int_equal(zs_sources_open(&options, &sources), 0);
    static const struct {
        const char *path;
        bool found;
    } rows[] = {
        {"/build/machine/src/k.cl", true}, /* its end lies under a search directory */
        {"/old/place/k.cl", true},         /* mapped */
        {"/old/placement/k.cl", false},    /* not the same prefix, and no such end */
        {"/nowhere/j.cl", false},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        struct zs_dwarf_file file = {.path = rows[i].path};
        const struct zs_source *source = zs_sources_get(sources, &file);
        assert_non_null(source);
        assert_int_equal(source->found != NULL, rows[i].found);
        assert_int_equal(source->note != NULL, !rows[i].found);
        if (!rows[i].found)
            continue;
        assert_int_equal(source->line_count, 3);
        assert_int_equal(zs_source_line(source, 2).size_B, 3);
        assert_memory_equal(zs_source_line(source, 3).data, "three", 5);
        assert_int_equal(zs_source_line(source, 4).size_B, 0);
        assert_int_equal(zs_source_line(source, 0).size_B, 0);
    }
    zs_sources_close(sources);

    /* newer than the module; a checksum that agrees says that it does not matter */
    options.module_mtime_s = (int64_t)time(NULL) - 1000;
    assert_int_equal(zs_sources_open(&options, &sources), 0);
    struct zs_dwarf_file file = {.path = path};
    assert_non_null(strstr(zs_sources_get(sources, &file)->note, "newer"));
    zs_sources_close(sources);
    file.has_md5 = true;
    zs_md5((struct zs_span){(const uint8_t *)"one\ntwo\r\nthree", 14}, file.md5);
    assert_int_equal(zs_sources_open(&options, &sources), 0);
    assert_null(zs_sources_get(sources, &file)->note);
    zs_sources_close(sources);
    file.md5[0] ^= 1;
    assert_int_equal(zs_sources_open(&options, &sources), 0);
    assert_non_null(strstr(zs_sources_get(sources, &file)->note, "checksum"));
    zs_sources_close(sources);
    unlink(path);
    rmdir(mapped);
    rmdir(folder);
}

/* What the line table's directories and names make, on Linux and on Windows. */
static void test_file_paths(void **state)
{
    static const struct {
        const char *comp_dir, *directory, *name, *path;
    } rows[] = {
        {"/src", "", "k.cl", "/src/k.cl"},
        {"/src", "a/./b", "./k.cl", "/src/a/b/k.cl"},
        {"/src", "/usr//include", "k.h", "/usr/include/k.h"},
        {"/src", "", "a\\k.cl", "/src/a\\k.cl"},
        {"", "", "k.cl", "k.cl"},
        {"C:\\src", "", "k.cl", "C:/src/k.cl"},
        {"C:\\src\\", "a\\.\\b", ".\\k.cl", "C:/src/a/b/k.cl"},
        {"C:/src", "inc", "k.h", "C:/src/inc/k.h"},
        {"C:\\", "", "k.cl", "C:/k.cl"},
        {"C:\\src", "D:\\inc", "k.h", "D:/inc/k.h"},
        {"C:\\src", "\\inc", "k.h", "C:/inc/k.h"}, /* of the same drive */
        {"C:\\src", "/inc", "k.h", "/inc/k.h"},    /* as --path-map of a compiler gives */
        {"/src", "", "C:\\src\\k.cl", "C:/src/k.cl"},
        {"\\\\server\\share", "a\\b", "k.cl", "\\\\server/share/a/b/k.cl"},
        {"C:\\src", "", "\\\\server\\k.h", "\\\\server/k.h"},
        {"C:src", "", "a\\k.cl", "C:src/a\\k.cl"},
    };
    struct zs_file_table *table;
    assert_int_equal(zs_file_table_open(0, &table), 0);
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        uint32_t count, index = zs_file_table_add(table, rows[i].comp_dir, rows[i].directory,
                                                  rows[i].name, NULL);
        const struct zs_dwarf_file *files = zs_file_table_files(table, &count);
        assert_true(index < count);
        assert_string_equal(files[index].path, rows[i].path);
    }
    zs_file_table_close(table);
}

/* A module that was built on Windows, its sources on Linux. */
static void test_windows_sources(void **state)
{
    char folder[] = "/tmp/zescope-sources-XXXXXX", path[256];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/C:", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof(path), "%s/k.cl", folder);
    write_text(path, "one\n");
    snprintf(path, sizeof(path), "%s/C:/here.cl", folder);
    write_text(path, "not this\n");
    const char *dirs[] = {folder};
    const struct zs_path_map maps[] = {{"c:\\Old\\place\\", folder}, {"//server/share", folder}};
    struct zs_source_options options = {.size_B = sizeof(options),
                                        .search_dirs = dirs,
                                        .search_dir_count = 1,
                                        .maps = maps,
                                        .map_count = 2};
    static const struct {
        const char *path;
        bool by_map, by_search;
    } rows[] = {
        {"C:/old/place/k.cl", true, true},
        {"C:\\old\\place\\k.cl", true, true}, /* as somebody else may name it */
        {"\\\\server/share/k.cl", true, true},
        {"D:/old/place/k.cl", false, true},
        {"D:\\k.cl", false, true},
        {"/old/place\\k.cl", false, false},
        {"C:/here.cl", false, false}, /* no folder is named C: */
    };
    assert_int_equal(chdir(folder), 0);
    for (int search = 0; search < 2; search++) {
        struct zs_sources *sources;
        options.search_dir_count = search ? 1 : 0;
        options.map_count = search ? 0 : 2;
        assert_int_equal(zs_sources_open(&options, &sources), 0);
        for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
            struct zs_dwarf_file file = {.path = rows[i].path};
            const struct zs_source *source = zs_sources_get(sources, &file);
            assert_non_null(source);
            assert_int_equal(source->found != NULL, search ? rows[i].by_search : rows[i].by_map);
            assert_string_equal(source->path, rows[i].path);
            if (source->found)
                assert_int_equal(source->line_count, 1);
        }
        zs_sources_close(sources);
    }
    unlink("k.cl");
    unlink("C:/here.cl");
    rmdir("C:");
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
}

static void test_md5(void **state)
{
    static const struct {
        const char *text;
        uint8_t first, last;
    } rows[] = {
        {"", 0xd4, 0x7e},
        {"message digest", 0xf9, 0xd0},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890", 0x57,
         0x7a},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        uint8_t md5[16];
        zs_md5((struct zs_span){(const uint8_t *)rows[i].text, strlen(rows[i].text)}, md5);
        assert_int_equal(md5[0], rows[i].first);
        assert_int_equal(md5[15], rows[i].last);
    }
}

/* ---- hostile ELFs ---- */

enum { SECTION_TABLE_END_B = 5304 };

/* As with more than 65,279 sections: their count and the name table stand in the first header. */
static void test_long_section_count(void **state)
{
    struct zs_file file;
    assert_int_equal(zs_file_read(CORPUS "/skl_k1.elf", 0, &file, NULL), 0);
    uint8_t *copy = malloc(file.span.size_B);
    assert_non_null(copy);
    memcpy(copy, file.span.data, file.span.size_B);
    Elf64_Ehdr *header = (Elf64_Ehdr *)copy;
    Elf64_Shdr *first = (Elf64_Shdr *)(copy + header->e_shoff);
    first->sh_size = header->e_shnum;
    first->sh_link = header->e_shstrndx;
    header->e_shnum = 0;
    header->e_shstrndx = SHN_XINDEX;
    struct zs_span elf = {copy, file.span.size_B};
    struct zs_dwarf *dwarf;
    struct zs_dwarf_kernel *kernel;
    assert_int_equal(zs_dwarf_open(elf, &dwarf, NULL), 0);
    assert_int_equal(zs_dwarf_kernel_load(dwarf, "k1", 0x490, &kernel, NULL), 0);
    assert_true(kernel->row_count > 0);
    zs_dwarf_kernel_unload(kernel);
    zs_dwarf_close(dwarf);
    first->sh_size = UINT64_MAX;
    struct zs_diag diag = {0};
    assert_int_equal(zs_dwarf_open(elf, &dwarf, &diag), -EINVAL);
    assert_non_null(strstr(diag.text, "section headers"));
    free(copy);
    zs_file_close(&file);
}

/* Thousands of symbols with one long name, which ends or does not: the work is refused. */
static void test_shared_symbol_name(void **state)
{
    enum { SYMBOLS = 1 << 14, NAME_B = 1 << 18, INTELGT = 205 };
    static const char names[] = "\0.debug_line\0.rela.debug_line";
    static struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[6];
        Elf64_Rela relocation;
        Elf64_Sym symbols[SYMBOLS];
        char line[8], names[32], text[NAME_B];
    } f;
    enum { NONE, LINE, RELA, SYMTAB, STRTAB, NAMES };
    f.header = (Elf64_Ehdr){.e_type = ET_REL,
                            .e_machine = INTELGT,
                            .e_shoff = sizeof(f.header),
                            .e_shentsize = sizeof(Elf64_Shdr),
                            .e_shnum = 6,
                            .e_shstrndx = NAMES};
    memcpy(f.header.e_ident, ELFMAG "\2\1\1", 7);
#define AT(member) .sh_offset = offsetof(__typeof__(f), member), .sh_size = sizeof(f.member)
    f.sections[LINE] = (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_PROGBITS, AT(line)};
    f.sections[RELA] = (Elf64_Shdr){
        .sh_name = 13, .sh_type = SHT_RELA, .sh_link = SYMTAB, .sh_info = LINE, AT(relocation)};
    f.sections[SYMTAB] = (Elf64_Shdr){.sh_type = SHT_SYMTAB, .sh_link = STRTAB, AT(symbols)};
    f.sections[STRTAB] = (Elf64_Shdr){.sh_type = SHT_STRTAB, AT(text)};
    f.sections[NAMES] = (Elf64_Shdr){.sh_type = SHT_STRTAB, AT(names)};
#undef AT
    memcpy(f.names, names, sizeof(names));
    f.relocation.r_info = ELF64_R_INFO(1, 1);
    for (int ends = 0; ends < 2; ends++) {
        memset(f.text, 'x', sizeof(f.text));
        f.text[NAME_B - 1] = ends ? '\0' : 'x';
        struct zs_dwarf *dwarf = NULL;
        struct zs_diag diag = {0};
        assert_int_equal(zs_dwarf_open(zs_span_make(&f, sizeof(f)), &dwarf, &diag), -E2BIG);
        f.text[0] = '\0';
        assert_int_equal(zs_dwarf_open(zs_span_make(&f, sizeof(f)), &dwarf, &diag), 0);
        zs_dwarf_close(dwarf);
    }
}

/* Every cut of a real ELF gives an error with a sentence, or opens with what is left. */
static void test_truncated(void **state)
{
    struct zs_file file;
    assert_int_equal(zs_file_read(CORPUS "/skl_k1.elf", 0, &file, NULL), 0);
    for (size_t size_B = 0; size_B < file.span.size_B; size_B += 7) {
        uint8_t *copy = malloc(size_B ? size_B : 1);
        assert_non_null(copy);
        memcpy(copy, file.span.data, size_B);
        struct zs_dwarf *dwarf;
        struct zs_diag diag = {0};
        int error = zs_dwarf_open((struct zs_span){copy, size_B}, &dwarf, &diag);
        /* the section table ends there; program headers behind it are not read */
        assert_true(error < 0 || size_B >= SECTION_TABLE_END_B);
        assert_true(!error == !diag.text[0]);
        zs_dwarf_close(dwarf);
        free(copy);
    }
    struct zs_dwarf *dwarf;
    struct zs_dwarf_kernel *kernel;
    struct zs_diag diag = {0};
    assert_int_equal(zs_dwarf_open(file.span, &dwarf, &diag), 0);
    assert_int_equal(zs_dwarf_kernel_load(dwarf, "k1", 0x490, &kernel, &diag), 0);
    assert_false(kernel->truncated);
    assert_true(kernel->row_count > 30 && kernel->frame_count == 6);
    zs_dwarf_kernel_unload(kernel);
    zs_dwarf_close(dwarf);
    zs_file_close(&file);
}

/* Who asks without end gets an end, and who says that it is a new question an answer. */
static void test_renewed(void **state)
{
    enum { MANY = 10000000 };
    struct zs_file file;
    struct zs_dwarf *dwarf;
    struct zs_dwarf_kernel *kernel;
    struct zs_type type;
    assert_int_equal(zs_file_read(CORPUS "/skl_k1.elf", 0, &file, NULL), 0);
    assert_int_equal(zs_dwarf_open(file.span, &dwarf, NULL), 0);
    assert_int_equal(zs_dwarf_kernel_load(dwarf, "k1", 0x490, &kernel, NULL), 0);
    assert_true(kernel->variable_count > 0);
    const uint32_t asked = kernel->variables[0].type;
    uint32_t times = 0;
    while (times < MANY && zs_type_get(dwarf, asked, &type) == 0)
        times++;
    assert_in_range(times, 10000, MANY - 1);
    zs_dwarf_renew(dwarf);
    assert_int_equal(zs_type_get(dwarf, asked, &type), 0);
    assert_true(type.size_B > 0);
    zs_dwarf_kernel_unload(kernel);
    zs_dwarf_close(dwarf);
    zs_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eval),
        cmocka_unit_test(test_eval_missing),
        cmocka_unit_test(test_file_paths),
        cmocka_unit_test(test_windows_sources),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_context_sizes),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_variables_of_a_block),
        cmocka_unit_test(test_sources),
        cmocka_unit_test(test_md5),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_renewed),
        cmocka_unit_test(test_long_section_count),
        cmocka_unit_test(test_shared_symbol_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
