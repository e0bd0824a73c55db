/* SPDX-License-Identifier: MIT */
/*
 * The evaluator of DWARF expressions (DWARF 5, 2.5 and 2.6), Intel's vendor operators included.
 *
 * What those mean is nowhere written down; this follows from what IGC emits
 * (IGC/DebugInfo/DwarfCompileUnit.cpp, addSimdLane) and from the registers of real kernels:
 *   0xed push_simd_lane         pushes the lane that is asked about
 *   0xeb regs                   pops a register number, pushes that register as a place
 *   0xec push_bit_piece_stack   pops size and offset in bits and a register place (or takes that of
 *                               a reg, regx before), pushes the bits
 *   0xef bit_piece_stack        pops the same: the variable's next piece is there
 *   0xee piece_stack            pops a size in bytes and a place: likewise
 *   0xfe regval_bits SIZE       pops an offset in bits and a register number, pushes SIZE bits
 * A bit offset may run on into the registers behind.
 *
 * Every operator is checked for the stack entries it needs before it runs; steps are counted, as
 * expressions may branch back.
 */
#include "base/buf.h"
#include "base/options.h"
#include "dwarf/dwarf_priv.h"
#include "dwarf/expr_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { STACK_MAX = 64, STEPS_MAX = 4096, RUN_LENGTH = 32, LEVELS_MAX = 4 };
enum { WIDE_MAX_BITS = 1024 }; /* the largest vector: sixteen elements of 64 bits */

/* By value; the runs of 32 stand at their first one. Rows without a name are no operators. */
static const struct zs_dw_op ops[256] = {
#define ZS_DWARF_OP(value, name, first, second, needs)                                             \
    [value] = {value, {ZS_DWARG_##first, ZS_DWARG_##second}, needs, #name},
#include "dwarf/dwarf_ops.def"
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
    case ZS_DWARG_block1:
        *block = zs_read_bytes(r, zs_read_u8(r, "block size"), "block");
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
    bool at_entry;  /* registers are those at the entry of the function */
    uint32_t level; /* expressions inside expressions */
    uint32_t *steps;
    struct zs_sym_result *result;
};

static int run(struct eval *e);
static void end_place(struct eval *e);
static void set_wide(struct eval *e, const struct zs_sym *value);

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

/* The unit that the expression stands in: its own variable's, or the only one that there is. */
static const struct zs_unit *unit_of(const struct eval *e)
{
    const struct zs_eval_context *c = e->context;
    if (!c->kernel)
        return NULL;
    const struct zs_dwarf *debug = c->kernel->dwarf;
    if (c->variable && c->variable->unit < debug->units.count)
        return &debug->units.items[c->variable->unit];
    return debug->units.count == 1 ? &debug->units.items[0] : NULL;
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
    struct zs_sym sym = {.terms = 1, .term = {{number, bit_offset, (uint32_t)bits}}};
    bool is_value = zs_reader_left(&e->r) && e->r.span.data[e->r.at_B] == DW_OP_stack_value;
    if (bits == 0 || bits > (e->symbolic ? 64 : WIDE_MAX_BITS))
        return zs_reader_fail(&e->r, -EINVAL, "%" PRIu64 " bits of a register", bits);
    if (bits > 64 && !is_value) {
        set_wide(e, &sym);
        return 0;
    }
    if (bits > 64)
        return push(e, sym);
    if (e->symbolic && e->at_entry) {
        sym = opaque();
    } else if (!e->symbolic) {
        const struct zs_eval_context *c = e->context;
        int (*read)(void *, uint64_t, uint64_t, uint32_t, uint64_t *) =
            e->at_entry ? c->read_entry_register : c->read_register;
        int error = read ? read(c->user, number, bit_offset, (uint32_t)bits, &sym.value) : -ENODATA;
        if (error)
            return zs_reader_fail(&e->r, error, "register %" PRIu64 " cannot be read%s", number,
                                  e->at_entry ? " as it was on entry" : "");
        if (e->at_entry) /* it does not live there any more */
            sym.terms = 0;
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

/* More bits than a value can have are a place, which IGC 2 says without DW_OP_stack_value. IGC
 * describes a vector's elements one after the other in this way, each as if it were the whole
 * vector: the first one counts. */
static void set_wide(struct eval *e, const struct zs_sym *value)
{
    if (e->has_place && e->place.piece.wide)
        return;
    e->place = (struct zs_sym_piece){.piece = {.kind = ZS_PIECE_REGISTER,
                                               .wide = true,
                                               .dwarf_register = value->term[0].dwarf_register,
                                               .bit_offset = value->term[0].bit_offset,
                                               .size_bits = value->term[0].bits}};
    e->has_place = true;
}

static void set_value(struct eval *e, struct zs_sym value)
{
    if (!e->symbolic && value.terms == 1 && value.term[0].bits > 64) {
        set_wide(e, &value);
        return;
    }
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

static int binary(struct eval *e, const struct zs_dw_op *row)
{
    struct zs_sym right = pop(e), left = pop(e), value;
    bool generic = !left.size_B && !right.size_B;
    if (generic && row->value == DW_OP_plus)
        return push(e, add_syms(left, right));
    if (generic && row->value == DW_OP_minus && is_known(&right)) {
        right.value = 0 - right.value;
        return push(e, add_syms(left, right));
    }
    if (e->symbolic && (!is_known(&left) || !is_known(&right)))
        return push(e, opaque());
    int error = zs_typed_binary(&e->r, row, &left, &right, &value);
    return error ? error : push(e, value);
}

static int unary(struct eval *e, const struct zs_dw_op *row, uint64_t operand)
{
    struct zs_sym s = pop(e);
    uint8_t op = row->value;
    if (op == DW_OP_plus_uconst && !s.size_B)
        return push(e, add_syms(s, known(operand)));
    if (e->symbolic && !is_known(&s))
        return push(e, opaque());
    struct zs_sym other = zs_typed_make(operand, s.encoding, s.size_B), value;
    int error = op == DW_OP_plus_uconst
                    ? zs_typed_binary(&e->r, &ops[DW_OP_plus], &s, &other, &value)
                    : zs_typed_unary(&e->r, row, &s, &value);
    return error ? error : push(e, value);
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
    struct zs_sym place = known(0);
    if (e->has_place && e->place.piece.kind == ZS_PIECE_REGISTER &&
        !e->place.piece.wide) { /* DW_OP_regx before it */
        place = known(e->place.piece.dwarf_register);
        e->has_place = false;
    } else if (e->depth) {
        place = pop(e);
    } else {
        return zs_reader_fail(&e->r, -EINVAL, "bits of a register, and no register before them");
    }
    if (e->symbolic && !is_known(&place))
        return zs_reader_fail(&e->r, -ENODATA, "a register that depends on memory");
    return push_register(e, place.value, offset.value, size.value);
}

static int address_operator(struct eval *e, const struct zs_dw_step *step)
{
    uint64_t base_va = step->op->value == DW_OP_constx ? 0 : e->context->base_va;
    if (step->op->value == DW_OP_addr)
        return push(e, known(step->operand[0] + base_va));
    const struct zs_unit *unit = unit_of(e);
    uint64_t va;
    if (!unit || !zs_unit_address(e->context->kernel->dwarf, unit, step->operand[0], &va))
        return zs_reader_fail(&e->r, -ENODATA, "entry %" PRIu64 " of .debug_addr is not known",
                              step->operand[0]);
    return push(e, known(va + base_va));
}

/* ---- expressions inside expressions ---- */

/* Another expression with a stack of its own; *ret is what it ends with: a place or a value. */
static int run_inner(struct eval *e, struct zs_span expr, bool at_entry, struct zs_sym_piece *ret)
{
    struct zs_sym_result result = {0};
    struct eval inner;
    if (e->level == LEVELS_MAX)
        return zs_reader_fail(&e->r, -E2BIG, "expressions in expressions, %d deep", LEVELS_MAX);
    inner.context = e->context;
    inner.symbolic = e->symbolic;
    inner.depth = 0;
    inner.has_place = false;
    inner.at_entry = at_entry;
    inner.level = e->level + 1;
    inner.steps = e->steps;
    inner.result = &result;
    inner.r = zs_reader_make(expr, 0, e->r.diag);
    int error = run(&inner);
    if (!error)
        end_place(&inner);
    if (!error && result.count != 1)
        error =
            zs_reader_fail(&inner.r, -EINVAL, "an expression that gives %u places", result.count);
    if (error)
        return e->r.error = error;
    *ret = result.pieces[0];
    return 0;
}

/* The block is a register, whose value on entry is meant, or an expression. */
static int entry_value(struct eval *e, struct zs_span block)
{
    struct zs_sym_piece piece;
    int error = run_inner(e, block, true, &piece);
    if (error)
        return error;
    if (piece.piece.kind != ZS_PIECE_REGISTER)
        return push(e, piece.sym);
    bool was_at_entry = e->at_entry;
    e->at_entry = true;
    error = push_register(e, piece.piece.dwarf_register, 0, 64);
    e->at_entry = was_at_entry;
    return error;
}

/* What DW_AT_frame_base says at the instruction: an expression, or a list of them. */
static int frame_base_expr(struct eval *e, struct zs_span *ret_expr)
{
    const struct zs_eval_context *c = e->context;
    const struct zs_dwarf_kernel *kernel = c->kernel;
    struct zs_attr attr;
    const struct zs_unit *unit = NULL;
    if (!kernel || !c->variable || c->variable->scope >= kernel->scope_count ||
        !zs_dwarf_frame_base(kernel, kernel->scopes[c->variable->scope].frame, &attr, &unit))
        return zs_reader_fail(&e->r, -ENODATA, "the function's frame base is not known");
    if (attr.form_class == ZS_CLASS_EXPR || attr.form_class == ZS_CLASS_BLOCK) {
        *ret_expr = attr.bytes;
        return 0;
    }
    struct zs_variable list = {.unit = (uint32_t)(unit - kernel->dwarf->units.items),
                               .location_kind = ZS_LOCATION_LIST};
    enum zs_dw_section section = unit->version >= 5 ? ZS_DW_LOCLISTS : ZS_DW_LOC;
    struct zs_location location;
    if (zs_dwarf_list_offset(kernel->dwarf, unit, &attr, section, unit->loclists_base_B,
                             &list.location_offset)) {
        struct zs_location_iterator it = zs_variable_locations(kernel, &list);
        while (zs_location_next(&it, &location)) {
            if (c->offset_B < location.range.begin_B || c->offset_B >= location.range.end_B)
                continue;
            *ret_expr = location.expr;
            return 0;
        }
    }
    return zs_reader_fail(&e->r, -ENODATA, "the function has no frame base at 0x%x", c->offset_B);
}

static int frame_operator(struct eval *e, uint64_t offset)
{
    struct zs_span expr = {0};
    struct zs_sym_piece base = {0};
    int error = frame_base_expr(e, &expr);
    if (!error)
        error = run_inner(e, expr, e->at_entry, &base);
    if (!error && base.piece.kind == ZS_PIECE_REGISTER)
        error = push_register(e, base.piece.dwarf_register, 0, 64);
    else if (!error)
        error = push(e, base.sym);
    return error ? error : unary(e, &ops[DW_OP_plus_uconst], offset);
}

/* The expression of another entry of .debug_info runs on this one's stack. */
static int call_operator(struct eval *e, const struct zs_dw_step *step)
{
    const struct zs_unit *unit = unit_of(e);
    uint64_t at_B = step->operand[0];
    struct zs_die die;
    if (!unit)
        return zs_reader_fail(&e->r, -ENODATA, "the unit of the expression is not known");
    if (step->op->value != DW_OP_call_ref)
        at_B += unit->offset_B;
    if (zs_die_follow(e->context->kernel->dwarf, at_B, &die))
        return zs_reader_fail(&e->r, -EINVAL, "no entry of .debug_info at 0x%" PRIx64, at_B);
    const struct zs_attr *attr = zs_die_attr(&die, DW_AT_location);
    if (!attr || (attr->form_class != ZS_CLASS_EXPR && attr->form_class != ZS_CLASS_BLOCK))
        return 0; /* no location: it does nothing */
    if (e->level == LEVELS_MAX)
        return zs_reader_fail(&e->r, -E2BIG, "expressions in expressions, %d deep", LEVELS_MAX);
    struct zs_reader after = e->r;
    e->r = zs_reader_make(attr->bytes, 0, after.diag);
    e->level++;
    int error = run(e);
    e->level--;
    e->r = after;
    return error ? (e->r.error = error) : 0;
}

static int cfa_operator(struct eval *e)
{
    const struct zs_eval_context *c = e->context;
    uint64_t va = 0;
    if (e->symbolic)
        return push(e, opaque());
    int error = c->read_cfa ? c->read_cfa(c->user, &va) : -ENODATA;
    return error ? zs_reader_fail(&e->r, error, "the frame's address is not known")
                 : push(e, known(va));
}

/* ---- typed values ---- */

/* The base type of the unit's entry at an offset; 0 is the generic type. */
static int find_type(struct eval *e, uint64_t offset_B, uint8_t *ret_encoding, uint8_t *ret_size_B)
{
    const struct zs_unit *unit = unit_of(e);
    struct zs_type type;
    *ret_encoding = *ret_size_B = 0;
    if (!offset_B)
        return 0;
    if (!unit)
        return zs_reader_fail(&e->r, -ENODATA, "the unit of the expression is not known");
    offset_B += unit->offset_B;
    if (offset_B > UINT32_MAX ||
        zs_type_get(e->context->kernel->dwarf, (uint32_t)offset_B, &type) ||
        type.kind != ZS_KIND_BASE)
        return zs_reader_fail(&e->r, -EINVAL, "no base type at 0x%" PRIx64 " of .debug_info",
                              offset_B);
    bool is_float = type.encoding == ZS_ENCODING_FLOAT;
    if (!type.size_B || type.size_B > 8 || (is_float && type.size_B != 4 && type.size_B != 8))
        return zs_reader_fail(&e->r, -EOPNOTSUPP, "values of the type \"%.40s\", %" PRIu64 " bytes",
                              type.name, type.size_B);
    *ret_encoding = (uint8_t)type.encoding;
    *ret_size_B = (uint8_t)type.size_B;
    return 0;
}

/* What was pushed last is of that type. */
static int give_type(struct eval *e, uint8_t encoding, uint8_t size_B)
{
    struct zs_sym *top = &e->stack[e->depth - 1];
    if (e->symbolic && !is_known(top))
        return 0; /* as a sum of unknowns it has no type */
    struct zs_sym typed = zs_typed_make(top->value, encoding, size_B);
    typed.terms = top->terms;
    memcpy(typed.term, top->term, sizeof(typed.term));
    *top = typed;
    return 0;
}

static int typed_operator(struct eval *e, const struct zs_dw_step *step)
{
    static const uint8_t type_operand[] = {0, 1, 1, 1, 0, 0}; /* const_type ... reinterpret */
    uint8_t op = step->op->value, encoding, size_B;
    uint8_t what = op >= DW_OP_GNU_const_type ? (uint8_t)(op - DW_OP_GNU_const_type)
                                              : (uint8_t)(op - DW_OP_const_type);
    if (op == DW_OP_GNU_convert || op == DW_OP_GNU_reinterpret)
        what = op == DW_OP_GNU_convert ? DW_OP_convert - DW_OP_const_type
                                       : DW_OP_reinterpret - DW_OP_const_type;
    uint64_t first = step->operand[0];
    int error = find_type(e, step->operand[type_operand[what]], &encoding, &size_B);
    if (error)
        return error;
    switch (what + DW_OP_const_type) {
    case DW_OP_const_type: {
        uint64_t bits = 0;
        if (step->block.size_B != size_B)
            return zs_reader_fail(&e->r, -EINVAL, "a constant of %zu bytes of a type of %u",
                                  step->block.size_B, size_B);
        memcpy(&bits, step->block.data, step->block.size_B);
        return push(e, zs_typed_make(bits, encoding, size_B));
    }
    case DW_OP_regval_type:
        error = push_register(e, first, 0, size_B ? size_B * 8u : 64);
        return error ? error : give_type(e, encoding, size_B);
    case DW_OP_deref_type:
    case DW_OP_xderef_type: {
        struct zs_sym address = pop(e);
        uint64_t space = what + DW_OP_const_type == DW_OP_xderef_type ? pop(e).value : 0;
        if (size_B && first != size_B)
            return zs_reader_fail(&e->r, -EINVAL, "a load of %" PRIu64 " bytes of a type of %u",
                                  first, size_B);
        error = push_memory(e, address, space, first);
        return error ? error : give_type(e, encoding, size_B);
    }
    case DW_OP_convert: {
        struct zs_sym *top = &e->stack[e->depth - 1];
        if (!(e->symbolic && !is_known(top)))
            *top = zs_typed_convert(top, encoding, size_B);
        return 0;
    }
    default: {
        struct zs_sym *top = &e->stack[e->depth - 1];
        if ((top->size_B ? top->size_B : 8) != (size_B ? size_B : 8) && is_known(top))
            return zs_reader_fail(&e->r, -EINVAL, "DW_OP_reinterpret of %u bytes as %u",
                                  top->size_B ? top->size_B : 8, size_B ? size_B : 8);
        return give_type(e, encoding, size_B);
    }
    }
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
    return error ? error : unary(e, &ops[DW_OP_plus_uconst], offset);
}

static int run_step(struct eval *e, const struct zs_dw_step *step)
{
    uint8_t op = step->op->value;
    if (step->op->value == DW_OP_deref_size && !e->depth && e->has_place &&
        e->place.piece.kind == ZS_PIECE_REGISTER) { /* IGC: the register has the address */
        e->has_place = false;
        int error = push_register(e, e->place.piece.dwarf_register, 0, 64);
        if (error)
            return error;
    }
    if (e->depth < step->op->needs)
        return zs_reader_fail(&e->r, -EINVAL, "DW_OP_%s needs %u stack entries, there are %u",
                              step->op->name, step->op->needs, e->depth);
    if ((op >= DW_OP_const1u && op <= DW_OP_consts) || op == DW_OP_lit)
        return push(e, known(op == DW_OP_lit ? step->index : step->operand[0]));
    if (op == DW_OP_abs || op == DW_OP_neg || op == DW_OP_not || op == DW_OP_plus_uconst)
        return unary(e, step->op, step->operand[0]);
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
    case DW_OP_constx:
        return address_operator(e, step);
    case DW_OP_fbreg:
        return frame_operator(e, step->operand[0]);
    case DW_OP_entry_value:
    case DW_OP_GNU_entry_value:
        return entry_value(e, step->block);
    case DW_OP_call2:
    case DW_OP_call4:
    case DW_OP_call_ref:
        return call_operator(e, step);
    case DW_OP_call_frame_cfa:
        return cfa_operator(e);
    case DW_OP_const_type:
    case DW_OP_regval_type:
    case DW_OP_deref_type:
    case DW_OP_xderef_type:
    case DW_OP_convert:
    case DW_OP_reinterpret:
    case DW_OP_GNU_const_type:
    case DW_OP_GNU_regval_type:
    case DW_OP_GNU_deref_type:
    case DW_OP_GNU_convert:
    case DW_OP_GNU_reinterpret:
        return typed_operator(e, step);
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
        return binary(e, step->op);
    default:
        return zs_reader_fail(&e->r, -EOPNOTSUPP, "DW_OP_%s is not implemented", step->op->name);
    }
}

/* To the end of the expression, or of the one that it calls. */
static int run(struct eval *e)
{
    while (zs_reader_left(&e->r)) {
        struct zs_dw_step step;
        if (++*e->steps > STEPS_MAX)
            return zs_reader_fail(&e->r, -E2BIG, "more than %d steps", STEPS_MAX);
        int error = zs_expr_step(&e->r, &step);
        if (!error)
            error = run_step(e, &step);
        if (error)
            return error;
    }
    return e->r.error;
}

/* An address or a place that no piece operator closed is all of the variable. */
static void end_place(struct eval *e)
{
    /* of a vector in memory IGC pushes an address for each element; those behind the first are of
     * registers that have nothing to do with it */
    bool plain = e->depth > 1 && !e->has_place;
    for (uint32_t i = 0; i < e->depth && plain; i++)
        plain = e->stack[i].terms == 1 && !e->stack[i].opaque && !e->stack[i].is_register;
    if (plain && !e->symbolic)
        e->depth = 1;
    if ((e->has_place || (e->depth && !e->result->count)) && e->result->count < ZS_PIECES_MAX) {
        struct zs_sym_piece place = take_place(e);
        e->result->pieces[e->result->count++] = place;
    }
}

int zs_expr_run(struct zs_span expr, const struct zs_eval_context *context, bool symbolic,
                struct zs_sym_result *ret_result, struct zs_diag *diag)
{
    struct eval e; /* its stack is large, and nothing above its depth is read */
    uint32_t steps = 0;
    e.context = context;
    e.symbolic = symbolic;
    e.depth = 0;
    e.has_place = false;
    e.at_entry = false;
    e.level = 0;
    e.steps = &steps;
    e.result = ret_result;
    e.r = zs_reader_make(expr, 0, diag);
    ret_result->count = 0;
    int error = run(&e);
    if (!error)
        end_place(&e);
    return error;
}

int zs_expr_eval(struct zs_span expr, const struct zs_eval_context *context,
                 struct zs_eval_result *ret_result, struct zs_diag *diag)
{
    struct zs_sym_result result;
    struct zs_eval_context known;
    ret_result->count = 0;
    int error = ZS_OPTIONS_TAKE(&known, context, diag);
    if (!error)
        error = zs_expr_run(expr, &known, false, &result, diag);
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
            if (kind == ZS_DWARG_block || kind == ZS_DWARG_block1) {
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
