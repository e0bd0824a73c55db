/* SPDX-License-Identifier: MIT */
/*
 * The evaluator of DWARF expressions (DWARF 5, 2.5 and 2.6), Intel's vendor operators included.
 *
 * What those mean is nowhere written down; this follows from what IGC emits
 * (IGC/DebugInfo/DwarfCompileUnit.cpp, addSimdLane) and from the registers of real kernels:
 *   0xed push_simd_lane         pushes the lane that is asked about
 *   0xeb regs                   pops a register number, pushes that register as a place
 *   0xec push_bit_piece_stack   pops size and offset in bits and a register place, pushes the bits
 *   0xef bit_piece_stack        pops the same: the variable's next piece is there
 *   0xee piece_stack            pops a size in bytes and a place: likewise
 *   0xfe regval_bits SIZE       pops an offset in bits and a register number, pushes SIZE bits
 * A bit offset may run on into the registers behind.
 *
 * Every operator is checked for the stack entries it needs before it runs; steps are counted, as
 * expressions may branch back.
 */
#include "base/buf.h"
#include "correlate/dwarf_priv.h"
#include "correlate/expr_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STACK_MAX = 64, STEPS_MAX = 4096, RUN_LENGTH = 32 };

/* By value; the runs of 32 stand at their first one. Rows without a name are no operators. */
static const struct zs_dw_op ops[256] = {
#define ZS_DWARF_OP(value, name, first, second, needs)                                             \
    [value] = {value, {ZS_DWARG_##first, ZS_DWARG_##second}, needs, #name},
#include "correlate/dwarf_ops.def"
#undef ZS_DWARF_OP
};

static const struct zs_dw_op *find_op(uint8_t value, uint32_t *ret_index)
{
    /* lit, reg and breg follow each other */
    if (value >= DW_OP_lit && value < DW_OP_breg + RUN_LENGTH) {
        *ret_index = (uint32_t)(value - DW_OP_lit) % RUN_LENGTH;
        value = (uint8_t)(value - *ret_index);
    }
    return ops[value].name ? &ops[value] : NULL;
}

static uint64_t read_operand(struct zs_reader *r, enum zs_dw_operand kind, struct zs_span *block)
{
    switch (kind) {
    case ZS_DWARG_none:
        return 0;
    case ZS_DWARG_u1:
        return zs_read_u8(r, "operand");
    case ZS_DWARG_s1:
        return (uint64_t)(int8_t)zs_read_u8(r, "operand");
    case ZS_DWARG_u2:
        return zs_read_u16(r, "operand");
    case ZS_DWARG_s2:
        return (uint64_t)(int16_t)zs_read_u16(r, "operand");
    case ZS_DWARG_u4:
    case ZS_DWARG_off:
        return zs_read_u32(r, "operand");
    case ZS_DWARG_s4:
        return (uint64_t)(int32_t)zs_read_u32(r, "operand");
    case ZS_DWARG_u8:
    case ZS_DWARG_s8:
    case ZS_DWARG_addr:
        return zs_read_u64(r, "operand");
    case ZS_DWARG_uleb:
        return zs_read_uleb128(r, "operand");
    case ZS_DWARG_sleb:
        return (uint64_t)zs_read_sleb128(r, "operand");
    case ZS_DWARG_block:
        *block = zs_read_bytes(r, zs_read_uleb128(r, "block size"), "block");
        return 0;
    }
    return 0;
}

int zs_expr_step(struct zs_reader *r, struct zs_dw_step *ret_step)
{
    uint8_t value = zs_read_u8(r, "operator");
    *ret_step = (struct zs_dw_step){0};
    if (r->error)
        return r->error;
    ret_step->op = find_op(value, &ret_step->index);
    if (!ret_step->op)
        return zs_reader_fail(r, -EOPNOTSUPP, "DWARF operator 0x%02x is not known", value);
    for (size_t i = 0; i < 2; i++)
        ret_step->operand[i] = read_operand(r, ret_step->op->operand[i], &ret_step->block);
    return r->error;
}

struct eval {
    const struct zs_eval_context *context;
    bool symbolic;
    struct zs_reader r;
    struct zs_sym stack[STACK_MAX];
    uint32_t depth;
    struct zs_sym_piece place; /* what a piece operator ends */
    bool has_place;
    struct zs_sym_result *result;
};

static struct zs_sym known(uint64_t value)
{
    return (struct zs_sym){.value = value};
}

static int push(struct eval *e, struct zs_sym sym)
{
    if (e->depth == STACK_MAX)
        return zs_reader_fail(&e->r, -E2BIG, "more than %d stack entries", STACK_MAX);
    e->stack[e->depth++] = sym;
    return 0;
}

static struct zs_sym pop(struct eval *e)
{
    zs_assert(e->depth);
    return e->stack[--e->depth];
}

static bool is_known(const struct zs_sym *s)
{
    return !s->terms && !s->opaque;
}

static struct zs_sym opaque(void)
{
    return (struct zs_sym){.opaque = true};
}

static struct zs_sym add_syms(struct zs_sym a, struct zs_sym b)
{
    if (a.opaque || b.opaque || a.terms + b.terms > ZS_SYM_TERMS_MAX)
        return opaque();
    a.value += b.value;
    for (uint32_t i = 0; i < b.terms; i++)
        a.term[a.terms++] = b.term[i];
    a.is_register = false;
    return a;
}

/* ---- reading ---- */

static int push_register(struct eval *e, uint64_t number, uint64_t bit_offset, uint64_t bits)
{
    if (bits == 0 || bits > 64)
        return zs_reader_fail(&e->r, -EINVAL, "%" PRIu64 " bits of a register", bits);
    struct zs_sym sym = {.terms = 1, .term = {{number, bit_offset, (uint32_t)bits}}};
    if (!e->symbolic) {
        const struct zs_eval_context *c = e->context;
        int error = c->read_register
                        ? c->read_register(c->user, number, bit_offset, (uint32_t)bits, &sym.value)
                        : -ENODATA;
        if (error)
            return zs_reader_fail(&e->r, error, "register %" PRIu64 " cannot be read", number);
    }
    return push(e, sym);
}

static int push_memory(struct eval *e, struct zs_sym address, uint64_t address_class,
                       uint64_t size_B)
{
    if (size_B == 0 || size_B > 8)
        return zs_reader_fail(&e->r, -EINVAL, "a load of %" PRIu64 " bytes", size_B);
    if (e->symbolic)
        return push(e, opaque());
    const struct zs_eval_context *c = e->context;
    struct zs_sym sym = {0};
    int error = c->read_memory ? c->read_memory(c->user, address.value, (uint32_t)address_class,
                                                (uint32_t)size_B, &sym.value)
                               : -ENODATA;
    if (error)
        return zs_reader_fail(&e->r, error, "memory at 0x%" PRIx64 " cannot be read",
                              address.value);
    return push(e, sym);
}

/* ---- pieces ---- */

static struct zs_sym_piece take_place(struct eval *e)
{
    struct zs_sym_piece place = {.piece = {.kind = ZS_PIECE_EMPTY}};
    if (e->has_place) {
        place = e->place;
    } else if (e->depth) {
        struct zs_sym address = pop(e);
        place = (struct zs_sym_piece){.sym = address};
        if (address.is_register)
            place.piece =
                (struct zs_piece){.kind = ZS_PIECE_REGISTER, .dwarf_register = address.value};
        else
            place.piece = (struct zs_piece){.kind = ZS_PIECE_MEMORY, .gpu_va = address.value};
    }
    e->has_place = false;
    return place;
}

static int add_piece(struct eval *e, uint64_t size_bits, uint64_t bit_offset)
{
    if (e->result->count == ZS_PIECES_MAX)
        return zs_reader_fail(&e->r, -E2BIG, "more than %d pieces", ZS_PIECES_MAX);
    struct zs_sym_piece place = take_place(e);
    place.piece.size_bits = size_bits;
    place.piece.bit_offset += bit_offset;
    e->result->pieces[e->result->count++] = place;
    return 0;
}

static void set_register(struct eval *e, uint64_t number)
{
    e->place =
        (struct zs_sym_piece){.piece = {.kind = ZS_PIECE_REGISTER, .dwarf_register = number}};
    e->has_place = true;
}

static void set_value(struct eval *e, struct zs_sym value)
{
    e->place = (struct zs_sym_piece){.piece = {.kind = ZS_PIECE_VALUE, .value = value.value},
                                     .sym = value};
    /* one whole read: the variable lives there */
    if (value.terms == 1 && !value.opaque && (!e->symbolic || value.value == 0)) {
        e->place.piece.from_register = true;
        e->place.piece.dwarf_register = value.term[0].dwarf_register;
        e->place.piece.bit_offset = value.term[0].bit_offset;
        e->place.piece.size_bits = value.term[0].bits;
    }
    e->has_place = true;
}

/* ---- operators ---- */

static int binary(struct eval *e, uint8_t op)
{
    struct zs_sym right = pop(e), left = pop(e);
    if (op == DW_OP_plus)
        return push(e, add_syms(left, right));
    if (op == DW_OP_minus && is_known(&right)) {
        right.value = 0 - right.value;
        return push(e, add_syms(left, right));
    }
    if (e->symbolic && (!is_known(&left) || !is_known(&right)))
        return push(e, opaque());
    uint64_t a = left.value, b = right.value, v = 0;
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op) {
    case DW_OP_minus:
        v = a - b;
        break;
    case DW_OP_and:
        v = a & b;
        break;
    case DW_OP_or:
        v = a | b;
        break;
    case DW_OP_xor:
        v = a ^ b;
        break;
    case DW_OP_mul:
        v = a * b;
        break;
    case DW_OP_div:
    case DW_OP_mod:
        if (!b)
            return zs_reader_fail(&e->r, -EINVAL, "division by zero");
        if (op == DW_OP_mod)
            v = a % b;
        else
            v = b == UINT64_MAX ? 0 - a : (uint64_t)(sa / sb); /* INT64_MIN / -1 wraps */
        break;
    case DW_OP_shl:
        v = b < 64 ? a << b : 0;
        break;
    case DW_OP_shr:
        v = b < 64 ? a >> b : 0;
        break;
    case DW_OP_shra:
        v = (uint64_t)(sa >> ZS_MIN(b, (uint64_t)63));
        break;
    case DW_OP_eq:
        v = a == b;
        break;
    case DW_OP_ne:
        v = a != b;
        break;
    case DW_OP_ge:
        v = sa >= sb;
        break;
    case DW_OP_gt:
        v = sa > sb;
        break;
    case DW_OP_le:
        v = sa <= sb;
        break;
    default:
        v = sa < sb;
        break;
    }
    return push(e, known(v));
}

static int unary(struct eval *e, uint8_t op, uint64_t operand)
{
    struct zs_sym s = pop(e);
    if (op == DW_OP_plus_uconst)
        return push(e, add_syms(s, known(operand)));
    if (e->symbolic && !is_known(&s))
        return push(e, opaque());
    if (op == DW_OP_abs)
        return push(e, known((int64_t)s.value < 0 ? 0 - s.value : s.value));
    return push(e, known(op == DW_OP_neg ? 0 - s.value : ~s.value));
}

static int shuffle(struct eval *e, uint8_t op, uint64_t operand)
{
    struct zs_sym *top = &e->stack[e->depth - 1]; /* only used with entries there */
    struct zs_sym spare;
    switch (op) {
    case DW_OP_dup:
        return push(e, *top);
    case DW_OP_drop:
        e->depth--;
        return 0;
    case DW_OP_over:
        return push(e, top[-1]);
    case DW_OP_pick:
        if (operand >= e->depth)
            return zs_reader_fail(&e->r, -EINVAL, "entry %" PRIu64 " of %u", operand, e->depth);
        return push(e, top[-(int64_t)operand]);
    case DW_OP_swap:
        spare = top[0];
        top[0] = top[-1];
        top[-1] = spare;
        return 0;
    default: /* rot: the top goes below the two others */
        spare = top[0];
        top[0] = top[-1];
        top[-1] = top[-2];
        top[-2] = spare;
        return 0;
    }
}

static int jump(struct eval *e, int64_t distance)
{
    int64_t at = (int64_t)e->r.at_B + distance;
    if (at < 0 || at > (int64_t)e->r.span.size_B)
        return zs_reader_fail(&e->r, -EINVAL, "a branch out of the expression");
    e->r.at_B = (size_t)at;
    return 0;
}

static int intel(struct eval *e, uint8_t op, uint64_t operand)
{
    if (op == DW_OP_INTEL_push_simd_lane)
        return push(e, known(e->context->lane));
    if (op == DW_OP_INTEL_regs) {
        struct zs_sym place = pop(e);
        place.is_register = true;
        return push(e, place);
    }
    struct zs_sym size = op == DW_OP_INTEL_regval_bits ? known(operand) : pop(e);
    struct zs_sym offset = op == DW_OP_INTEL_piece_stack ? known(0) : pop(e);
    if (e->symbolic && (!is_known(&size) || !is_known(&offset)))
        return zs_reader_fail(&e->r, -ENODATA, "a register that depends on memory");
    if (op == DW_OP_INTEL_piece_stack)
        return add_piece(e, size.value * 8, 0);
    if (op == DW_OP_INTEL_bit_piece_stack)
        return add_piece(e, size.value, offset.value);
    struct zs_sym place = pop(e);
    if (e->symbolic && !is_known(&place))
        return zs_reader_fail(&e->r, -ENODATA, "a register that depends on memory");
    return push_register(e, place.value, offset.value, size.value);
}

static int address_operator(struct eval *e, const struct zs_dw_step *step)
{
    const struct zs_dwarf_kernel *kernel = e->context->kernel;
    if (step->op->value == DW_OP_addr)
        return push(e, known(step->operand[0] + e->context->base_va));
    uint64_t va;
    if (!kernel || !kernel->dwarf->units.count ||
        !zs_unit_address(kernel->dwarf, &kernel->dwarf->units.items[0], step->operand[0], &va))
        return zs_reader_fail(&e->r, -ENODATA, "entry %" PRIu64 " of .debug_addr is not known",
                              step->operand[0]);
    return push(e, known(va));
}

/* Places: registers, constants, pieces. */
static int place_operator(struct eval *e, const struct zs_dw_step *step)
{
    switch (step->op->value) {
    case DW_OP_reg:
        set_register(e, step->index);
        return 0;
    case DW_OP_regx:
        set_register(e, step->operand[0]);
        return 0;
    case DW_OP_stack_value:
        set_value(e, pop(e));
        return 0;
    case DW_OP_implicit_value:
        e->place = (struct zs_sym_piece){.piece = {.kind = ZS_PIECE_BYTES, .bytes = step->block}};
        e->has_place = true;
        return 0;
    case DW_OP_piece:
        return step->operand[0] > UINT32_MAX
                   ? zs_reader_fail(&e->r, -E2BIG, "a piece of %" PRIu64 " bytes", step->operand[0])
                   : add_piece(e, step->operand[0] * 8, 0);
    default:
        return add_piece(e, step->operand[0], step->operand[1]);
    }
}

/* breg, bregx: a base register's contents and an offset. IGC's bases are 64 bits wide. */
static int based_operator(struct eval *e, uint64_t number, uint64_t offset)
{
    int error = push_register(e, number, 0, 64);
    return error ? error : unary(e, DW_OP_plus_uconst, offset);
}

static int run_step(struct eval *e, const struct zs_dw_step *step)
{
    uint8_t op = step->op->value;
    if (e->depth < step->op->needs)
        return zs_reader_fail(&e->r, -EINVAL, "DW_OP_%s needs %u stack entries, there are %u",
                              step->op->name, step->op->needs, e->depth);
    if ((op >= DW_OP_const1u && op <= DW_OP_consts) || op == DW_OP_lit)
        return push(e, known(op == DW_OP_lit ? step->index : step->operand[0]));
    if (op == DW_OP_abs || op == DW_OP_neg || op == DW_OP_not || op == DW_OP_plus_uconst)
        return unary(e, op, step->operand[0]);
    if (op >= DW_OP_dup && op <= DW_OP_rot)
        return shuffle(e, op, step->operand[0]);
    switch (op) {
    case DW_OP_bra: {
        struct zs_sym condition = pop(e);
        if (e->symbolic && !is_known(&condition))
            return zs_reader_fail(&e->r, -ENODATA, "a branch that depends on registers");
        return condition.value ? jump(e, (int64_t)step->operand[0]) : 0;
    }
    case DW_OP_skip:
        return jump(e, (int64_t)step->operand[0]);
    case DW_OP_nop:
        return 0;
    case DW_OP_deref:
        return push_memory(e, pop(e), 0, 8);
    case DW_OP_deref_size:
        return push_memory(e, pop(e), 0, step->operand[0]);
    case DW_OP_xderef:
    case DW_OP_xderef_size: {
        struct zs_sym address = pop(e), space = pop(e);
        return push_memory(e, address, space.value, op == DW_OP_xderef ? 8 : step->operand[0]);
    }
    case DW_OP_breg:
        return based_operator(e, step->index, step->operand[0]);
    case DW_OP_bregx:
        return based_operator(e, step->operand[0], step->operand[1]);
    case DW_OP_addr:
    case DW_OP_addrx:
        return address_operator(e, step);
    case DW_OP_reg:
    case DW_OP_regx:
    case DW_OP_stack_value:
    case DW_OP_implicit_value:
    case DW_OP_piece:
    case DW_OP_bit_piece:
        return place_operator(e, step);
    case DW_OP_INTEL_regs:
    case DW_OP_INTEL_push_bit_piece_stack:
    case DW_OP_INTEL_push_simd_lane:
    case DW_OP_INTEL_piece_stack:
    case DW_OP_INTEL_bit_piece_stack:
    case DW_OP_INTEL_regval_bits:
        return intel(e, op, step->operand[0]);
    case DW_OP_and:
    case DW_OP_div:
    case DW_OP_minus:
    case DW_OP_mod:
    case DW_OP_mul:
    case DW_OP_or:
    case DW_OP_plus:
    case DW_OP_shl:
    case DW_OP_shr:
    case DW_OP_shra:
    case DW_OP_xor:
    case DW_OP_eq:
    case DW_OP_ge:
    case DW_OP_gt:
    case DW_OP_le:
    case DW_OP_lt:
    case DW_OP_ne:
        return binary(e, op);
    default:
        return zs_reader_fail(&e->r, -EOPNOTSUPP, "DW_OP_%s is not implemented", step->op->name);
    }
}

int zs_expr_run(struct zs_span expr, const struct zs_eval_context *context, bool symbolic,
                struct zs_sym_result *ret_result, struct zs_diag *diag)
{
    struct eval e; /* its stack is large, and nothing above its depth is read */
    e.context = context;
    e.symbolic = symbolic;
    e.depth = 0;
    e.has_place = false;
    e.result = ret_result;
    e.r = zs_reader_make(expr, 0, diag);
    ret_result->count = 0;
    uint32_t steps = 0;
    while (zs_reader_left(&e.r)) {
        struct zs_dw_step step;
        if (++steps > STEPS_MAX)
            return zs_reader_fail(&e.r, -E2BIG, "more than %d steps", STEPS_MAX);
        int error = zs_expr_step(&e.r, &step);
        if (!error)
            error = run_step(&e, &step);
        if (error)
            return error;
    }
    /* an address or a place that no piece operator closed is all of the variable */
    if (!e.r.error && (e.has_place || (e.depth && !ret_result->count)) &&
        ret_result->count < ZS_PIECES_MAX) {
        struct zs_sym_piece place = take_place(&e);
        ret_result->pieces[ret_result->count++] = place;
    }
    return e.r.error;
}

int zs_expr_eval(struct zs_span expr, const struct zs_eval_context *context,
                 struct zs_eval_result *ret_result, struct zs_diag *diag)
{
    struct zs_sym_result result;
    ret_result->count = 0;
    int error = zs_expr_run(expr, context, false, &result, diag);
    if (error)
        return error;
    for (uint32_t i = 0; i < result.count; i++)
        ret_result->pieces[i] = result.pieces[i].piece;
    ret_result->count = result.count;
    return 0;
}

size_t zs_expr_print(struct zs_span expr, char *ret_text, size_t size_B)
{
    struct zs_buf out = {0};
    struct zs_reader r = zs_reader_make(expr, 0, NULL);
    while (zs_reader_left(&r)) {
        struct zs_dw_step step;
        if (out.size_B)
            zs_buf_puts(&out, "; ");
        if (zs_expr_step(&r, &step)) {
            zs_buf_puts(&out, "<not a DWARF operator>");
            break;
        }
        uint8_t op = step.op->value;
        zs_buf_printf(&out, "DW_OP_%s", step.op->name);
        if (op == DW_OP_lit || op == DW_OP_reg || op == DW_OP_breg)
            zs_buf_put_u64(&out, step.index);
        for (size_t i = 0; i < 2 && step.op->operand[i]; i++) {
            enum zs_dw_operand kind = step.op->operand[i];
            bool is_signed = kind == ZS_DWARG_sleb || kind == ZS_DWARG_s1 || kind == ZS_DWARG_s2 ||
                             kind == ZS_DWARG_s4 || kind == ZS_DWARG_s8;
            if (kind == ZS_DWARG_block) {
                for (size_t b = 0; b < step.block.size_B; b++)
                    zs_buf_printf(&out, " %02x", step.block.data[b]);
            } else if (is_signed) {
                zs_buf_printf(&out, " %" PRId64, (int64_t)step.operand[i]);
            } else if (kind == ZS_DWARG_addr) {
                zs_buf_printf(&out, " 0x%" PRIx64, step.operand[i]);
            } else {
                zs_buf_printf(&out, " %" PRIu64, step.operand[i]);
            }
        }
    }
    size_t length = out.size_B;
    snprintf(ret_text, size_B, "%s", zs_buf_cstr(&out));
    zs_buf_fini(&out);
    return length;
}
