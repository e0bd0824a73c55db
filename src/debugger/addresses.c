/* SPDX-License-Identifier: MIT */
/*
 * Where variables live that have a place in memory for good: all of code that was not optimised.
 *
 * IGC says that a variable is at the address that a register has, in all of the function; but it
 * uses that register for other things before and behind. The addresses themselves do not change:
 *     base of the thread + the variable's offset + lane x its size
 * Each is computed once, by an instruction that adds what is the same for all of them, from the
 * kernel's payload, to the rest. So the instruction of each variable is found: it writes the
 * register that debug info names, and its result grows by the variable's size from one lane to the
 * next. Of variables that share a register and a size the one declared first has the first.
 * Without 64-bit integers the lower half of the result is looked at, which a move puts there.
 * What its operands are is followed back to constants and to values that all lanes share ("terms").
 * Those are read where they still are, computed again from what still is, or taken from another
 * variable's address. Payload is what registers hold at the entry, and from XeHPG on what the
 * prologue loads.
 */
#include "debugger/debugger_priv.h"

#include "isa/reaching.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENTRY = UINT32_MAX,
    TERMS_MAX = 4,
    DEPTH_MAX = 16,
    GRF_FIRST = 16,
    SHARED_MAX = 64,
    PROLOGUE_MAX = 64
};

/* A value that is not a constant: bytes of the registers as an instruction, or the entry, left
 * them. */
struct term {
    uint32_t def, at_B, size_B;
};
struct sum {
    int64_t constant;
    uint32_t count;
    struct term terms[TERMS_MAX];
};

struct zs_dbg_address_maker {
    bool asked, found;
    uint32_t register_B[2]; /* of lanes 0 and 1 */
    uint64_t size_B;
    uint32_t def, def_high; /* def_high: of the upper half, where it is another's; or ENTRY */
    struct sum first;       /* the address of lane 0 */
};

static uint32_t type_B(uint8_t type)
{
    return zs_isa_type_bits((enum zs_isa_type)type) / 8;
}

static bool is_integer(uint8_t type)
{
    const char *name = zs_isa_type_name((enum zs_isa_type)type);
    if (name[0] == 'u')
        name++;
    return (name[0] == 'b' || name[0] == 'w' || name[0] == 'd' || name[0] == 'q') && !name[1];
}

static bool is_signed(uint8_t type)
{
    return zs_isa_type_name((enum zs_isa_type)type)[0] != 'u';
}

static uint64_t extend(uint64_t value, uint8_t type)
{
    uint32_t bits = type_B(type) * 8;
    if (!bits || bits >= 64)
        return value;
    value &= (UINT64_C(1) << bits) - 1;
    return is_signed(type) && value >> (bits - 1) ? value | UINT64_MAX << bits : value;
}

/* An immediate for a channel. */
static bool immediate(const struct zs_isa_operand *o, uint32_t channel, uint64_t *ret)
{
    uint64_t nibble = o->imm >> 4 * (channel % 8) & 15;
    if (o->type == ZS_TYPE_V)
        *ret = nibble | (nibble & 8 ? ~UINT64_C(15) : 0);
    else if (o->type == ZS_TYPE_UV)
        *ret = nibble;
    else
        *ret = extend(o->imm, o->type);
    return o->type != ZS_TYPE_VF;
}

/* Where a channel's element of a source is; false: no plain one. */
static bool element(const struct zs_isa_operand *o, uint32_t grf_B, uint32_t channel,
                    uint32_t *ret_at_B)
{
    if (o->kind != ZS_OPERAND_REG || o->file != ZS_FILE_GRF || o->modifiers ||
        o->vstride >= ZS_REGION_VXH || o->hstride >= ZS_REGION_VXH || o->width == ZS_REGION_VXH)
        return false;
    /* <vs;hs> of three sources: rows follow each other */
    uint32_t width = o->width != ZS_REGION_NONE ? o->width
                     : o->hstride               ? o->vstride / o->hstride
                                                : 1;
    width = ZS_MAX(width, 1u);
    uint32_t at = channel / width * o->vstride + channel % width * o->hstride;
    *ret_at_B = o->reg * grf_B + o->subreg_B + at * type_B(o->type);
    return true;
}

/* All types are integers, or it copies bits. */
static bool is_exact(const struct zs_isa_inst *inst)
{
    bool exact = is_integer(inst->dst.type);
    for (uint32_t s = 0; s < inst->source_count && s < ZS_ISA_SOURCES_MAX; s++)
        exact &= is_integer(inst->src[s].type) || inst->src[s].type == ZS_TYPE_V ||
                 inst->src[s].type == ZS_TYPE_UV;
    return exact || (inst->op == ZS_OP_MOV && inst->src[0].type == inst->dst.type);
}

/* The channel that writes these bytes, if they are one element. */
static bool channel_of(const struct zs_isa_inst *inst, uint32_t grf_B, uint32_t at_B,
                       uint32_t size_B, uint32_t *ret)
{
    const struct zs_isa_operand *o = &inst->dst;
    uint32_t begin_B = o->reg * grf_B + o->subreg_B;
    uint32_t stride_B =
        type_B(o->type) * (o->hstride && o->hstride < ZS_REGION_VXH ? o->hstride : 1);
    if (o->kind != ZS_OPERAND_REG || o->file != ZS_FILE_GRF || o->modifiers || !is_exact(inst) ||
        type_B(o->type) != size_B || at_B < begin_B || (at_B - begin_B) % stride_B || inst->pred ||
        inst->flags & ZS_INST_ILLEGAL)
        return false;
    *ret = (at_B - begin_B) / stride_B;
    return *ret < inst->exec_size;
}

/* What the entry left, or a message of the prologue: of what comes before the kernel sets up the
 * control register. */
static bool is_payload(const struct zs_dbg_kernel *k, uint32_t def)
{
    if (def == ENTRY)
        return true;
    if (!(zs_isa_op_flags((enum zs_isa_op)zs_isa_inst(k->isa, def)->op) & ZS_OPF_SEND))
        return false;
    for (uint32_t i = 0; i < PROLOGUE_MAX && i < zs_isa_kernel_count(k->isa); i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(k->isa, i);
        if (zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH)
            return false;
        if (inst->dst.kind == ZS_OPERAND_REG && inst->dst.file == ZS_FILE_CR)
            return def < i;
    }
    return false;
}

/* The only write that can have left what the bytes hold, or ENTRY. */
static bool only_def(const struct zs_dbg_kernel *k, uint32_t inst, uint32_t at_B, uint32_t size_B,
                     uint32_t *ret)
{
    struct zs_isa_reaching found;
    zs_isa_reaching(k->isa, inst, at_B, size_B, &found);
    if (found.entry && found.count == 1 && is_payload(k, found.insts[0]))
        found.entry = false; /* XeHPC's are of the first lane, which all threads have */
    *ret = found.entry ? ENTRY : found.insts[0];
    return !found.unknown && found.entry + found.count == 1;
}

/* ---- sums ---- */

static bool calculate(uint8_t op, const uint64_t in[3], uint64_t *ret)
{
    uint64_t a = in[0], b = in[1];
    switch (op) {
    case ZS_OP_MOV:
        *ret = a;
        return true;
    case ZS_OP_ADD:
    case ZS_OP_ADDC: /* its result without the carry */
        *ret = a + b;
        return true;
    case ZS_OP_MAD:
        *ret = a + b * in[2];
        return true;
    case ZS_OP_MUL:
        *ret = a * b;
        return true;
    case ZS_OP_SHL:
        *ret = b < 64 ? a << b : 0;
        return b < 64;
    case ZS_OP_AND:
        *ret = a & b;
        return true;
    case ZS_OP_OR:
        *ret = a | b;
        return true;
    default:
        return false;
    }
}

static bool sum_of_bytes(const struct zs_dbg_kernel *k, uint32_t grf_B, uint32_t inst,
                         uint32_t at_B, uint32_t size_B, uint32_t depth, struct sum *ret);

static bool sum_of_source(const struct zs_dbg_kernel *k, uint32_t grf_B, uint32_t inst,
                          const struct zs_isa_operand *o, uint32_t channel, uint32_t depth,
                          struct sum *ret)
{
    uint64_t value;
    uint32_t at_B;
    memset(ret, 0, sizeof(*ret));
    if (o->kind == ZS_OPERAND_IMM) {
        bool known = immediate(o, channel, &value);
        ret->constant = (int64_t)value;
        return known;
    }
    if (!element(o, grf_B, channel, &at_B) ||
        !sum_of_bytes(k, grf_B, inst, at_B, type_B(o->type), depth, ret))
        return false;
    if (!ret->count)
        ret->constant = (int64_t)extend((uint64_t)ret->constant, o->type);
    return true;
}

static bool add_sums(const struct sum *a, const struct sum *b, struct sum *ret)
{
    *ret = *a;
    ret->constant += b->constant;
    if (a->count + b->count > TERMS_MAX)
        return false;
    for (uint32_t i = 0; i < b->count; i++)
        ret->terms[ret->count++] = b->terms[i];
    return true;
}

/* What the operation makes of sums, if that is one. */
static bool sum_of_op(const struct zs_isa_inst *inst, const struct sum in[3], struct sum *ret)
{
    const uint64_t values[3] = {(uint64_t)in[0].constant, (uint64_t)in[1].constant,
                                (uint64_t)in[2].constant};
    uint64_t value;
    memset(ret, 0, sizeof(*ret));
    if (!in[0].count && !in[1].count && !in[2].count && calculate(inst->op, values, &value)) {
        ret->constant = (int64_t)extend(value, inst->dst.type);
        return true;
    }
    if (inst->op == ZS_OP_MOV) {
        *ret = in[0];
        return true;
    }
    if (inst->op == ZS_OP_MAD && !in[1].count && !in[2].count) {
        *ret = in[0];
        ret->constant += in[1].constant * in[2].constant;
        return true;
    }
    return (inst->op == ZS_OP_ADD || inst->op == ZS_OP_ADDC) && add_sums(&in[0], &in[1], ret);
}

/* What instruction `def` leaves there; what is no sum is a term of its own. */
static void sum_of_def(const struct zs_dbg_kernel *k, uint32_t grf_B, uint32_t def, uint32_t at_B,
                       uint32_t size_B, uint32_t depth, struct sum *ret)
{
    const struct zs_isa_inst *inst = zs_isa_inst(k->isa, def);
    struct sum in[ZS_ISA_SOURCES_MAX] = {{0}};
    uint32_t channel;
    bool known = depth && channel_of(inst, grf_B, at_B, size_B, &channel);
    for (uint32_t s = 0; known && s < inst->source_count && s < ZS_ISA_SOURCES_MAX; s++)
        known = sum_of_source(k, grf_B, def, &inst->src[s], channel, depth - 1, &in[s]);
    if (known && sum_of_op(inst, in, ret))
        return;
    *ret = (struct sum){.count = 1, .terms = {{def, at_B, size_B}}};
}

static bool sum_of_bytes(const struct zs_dbg_kernel *k, uint32_t grf_B, uint32_t inst,
                         uint32_t at_B, uint32_t size_B, uint32_t depth, struct sum *ret)
{
    uint32_t def;
    if (!only_def(k, inst, at_B, size_B, &def))
        return false;
    if (def != ENTRY) {
        sum_of_def(k, grf_B, def, at_B, size_B, depth, ret);
        return true;
    }
    *ret = (struct sum){.count = 1, .terms = {{ENTRY, at_B, size_B}}};
    return true;
}

static bool same_terms(const struct sum *a, const struct sum *b)
{
    return a->count == b->count && !memcmp(a->terms, b->terms, a->count * sizeof(a->terms[0]));
}

/* ---- the instruction of a variable ---- */

/* Has something of the payload, as it was: of 64-bit integers as an operand of its own. */
static bool adds_payload(const struct zs_dbg_kernel *k, uint32_t grf_B, uint32_t inst)
{
    const struct zs_isa_inst *i = zs_isa_inst(k->isa, inst);
    uint32_t at_B, def;
    for (uint32_t s = 0; s < 2; s++)
        if (i->src[s].kind == ZS_OPERAND_REG && type_B(i->src[s].type) == 8 &&
            element(&i->src[s], grf_B, 0, &at_B) && only_def(k, inst, at_B, 8, &def) &&
            is_payload(k, def))
            return true;
    return false;
}

/* The bytes that it writes of a lane's address, 8 or the lower 4; 0: it makes none. */
static uint32_t bytes_made(const struct zs_dbg_kernel *k, uint32_t grf_B, uint32_t inst,
                           const struct zs_dbg_address_maker *maker)
{
    const struct zs_isa_inst *i = zs_isa_inst(k->isa, inst);
    uint32_t size_B = i->op == ZS_OP_ADD ? 8 : i->op == ZS_OP_MOV ? 4 : 0, channel;
    if (!size_B || i->source_count != size_B / 4 ||
        (size_B == 4 && i->src[0].kind != ZS_OPERAND_REG))
        return 0;
    bool made = channel_of(i, grf_B, maker->register_B[0], size_B, &channel) && channel == 0 &&
                channel_of(i, grf_B, maker->register_B[1], size_B, &channel) && channel == 1;
    return made && (size_B == 4 || adds_payload(k, grf_B, inst)) ? size_B : 0;
}

static bool has_payload_half(const struct zs_dbg_kernel *k, const struct sum *sum)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < sum->count; i++)
        found += sum->terms[i].size_B == 4 && is_payload(k, sum->terms[i].def);
    return found == 1 && sum->count > 1;
}

static bool makes_address(const struct zs_dbg_kernel *k, uint32_t grf_B, uint32_t inst,
                          const struct zs_dbg_address_maker *maker, struct sum *ret)
{
    uint32_t size_B = bytes_made(k, grf_B, inst, maker);
    struct sum next;
    if (!size_B)
        return false;
    sum_of_def(k, grf_B, inst, maker->register_B[0], size_B, DEPTH_MAX, ret);
    sum_of_def(k, grf_B, inst, maker->register_B[1], size_B, DEPTH_MAX, &next);
    bool whole = ret->count && same_terms(ret, &next) && (size_B == 8 || has_payload_half(k, ret));
    /* the payload's pointer is whole */
    for (uint32_t i = 0; whole && i < ret->count; i++)
        if (size_B == 4 && is_payload(k, ret->terms[i].def))
            ret->terms[i].size_B = 8;
    return whole && (uint64_t)(next.constant - ret->constant) == maker->size_B;
}

/* Who writes the upper half of lane 0's address, behind the lower one. */
static uint32_t find_high(const struct zs_dbg_kernel *k, uint32_t grf_B,
                          const struct zs_dbg_address_maker *maker)
{
    uint32_t channel;
    if (type_B(zs_isa_inst(k->isa, maker->def)->dst.type) == 8)
        return maker->def;
    for (uint32_t i = maker->def + 1; i < zs_isa_kernel_count(k->isa) && i < maker->def + 8; i++)
        if (channel_of(zs_isa_inst(k->isa, i), grf_B, maker->register_B[0] + 4, 4, &channel))
            return i;
    return ENTRY;
}

static bool is_before(const struct zs_variable *a, const struct zs_variable *b)
{
    if (a->parameter != b->parameter)
        return a->parameter;
    if (a->decl_file == b->decl_file && a->decl_line != b->decl_line)
        return a->decl_line < b->decl_line;
    return a->die < b->die;
}

static bool has_same_register(const struct zs_dbg_address_maker *a,
                              const struct zs_dbg_address_maker *b)
{
    return a->size_B && a->size_B == b->size_B && a->register_B[0] == b->register_B[0] &&
           a->register_B[1] == b->register_B[1];
}

/* The n-th of the instructions that make such an address, if there are as many as variables. */
static void find_maker(const struct zs_dbg_kernel *k, uint32_t grf_B, uint32_t index)
{
    struct zs_dbg_address_maker *maker = &k->makers[index];
    uint32_t sharing = 0, place = 0, makers = 0;
    struct sum sum;
    for (uint32_t i = 0; i < k->info->variable_count; i++) {
        if (!has_same_register(&k->makers[i], maker))
            continue;
        sharing++;
        place += is_before(&k->info->variables[i], &k->info->variables[index]);
    }
    for (uint32_t i = 0; i < zs_isa_kernel_count(k->isa); i++) {
        if (!makes_address(k, grf_B, i, maker, &sum))
            continue;
        if (makers++ != place)
            continue;
        maker->def = i;
        maker->first = sum;
    }
    maker->found = makers == sharing && sharing <= SHARED_MAX;
    maker->def_high = maker->found ? find_high(k, grf_B, maker) : ENTRY;
}

static bool collect_makers(const struct zs_dbg_context *c, struct zs_dbg_kernel *k)
{
    if (k->makers)
        return true;
    if (!k->isa || !k->info || zs_isa_kernel_decode(k->isa, ZS_ISA_BLOCKS, NULL))
        return false;
    k->makers = calloc((size_t)k->info->variable_count + 1, sizeof(*k->makers));
    for (uint32_t i = 0; k->makers && i < k->info->variable_count; i++) {
        const struct zs_variable *v = &k->info->variables[i];
        struct zs_dbg_address_maker *maker = &k->makers[i];
        struct zs_type type;
        memset(&type, 0, sizeof(type));
        uint32_t stripped = v->type ? zs_type_strip(k->info->dwarf, v->type) : 0;
        if (!stripped || zs_type_get(k->info->dwarf, stripped, &type) ||
            !zs_dbg_address_registers(c, v, maker->register_B))
            continue;
        maker->size_B = type.size_B ? type.size_B : type.kind == ZS_KIND_POINTER ? 8 : 0;
    }
    return k->makers != NULL;
}

/* ---- addresses ---- */

static bool read_bytes(const struct zs_dbg_context *c, uint32_t at_B, uint32_t size_B,
                       uint64_t *ret)
{
    return !zs_dbg_read_register(c->d, c->thread, c->frame->call, GRF_FIRST + at_B / c->d->grf_B,
                                 at_B % c->d->grf_B * 8u, size_B * 8, ret);
}

/* What an instruction (or the entry) left there, read if it is still there at `inst`, or computed
 * again. */
static bool value_of(const struct zs_dbg_context *c, const struct zs_dbg_kernel *k, uint32_t inst,
                     const struct term *t, uint32_t depth, uint64_t *ret)
{
    uint32_t now, channel, at_B;
    uint64_t in[ZS_ISA_SOURCES_MAX] = {0};
    if (only_def(k, inst, t->at_B, t->size_B, &now) && now == t->def)
        return read_bytes(c, t->at_B, t->size_B, ret);
    if (t->def == ENTRY || !depth)
        return false;
    const struct zs_isa_inst *i = zs_isa_inst(k->isa, t->def);
    if (!channel_of(i, c->d->grf_B, t->at_B, t->size_B, &channel))
        return false;
    for (uint32_t s = 0; s < i->source_count && s < ZS_ISA_SOURCES_MAX; s++) {
        const struct zs_isa_operand *o = &i->src[s];
        struct term source;
        if (o->kind == ZS_OPERAND_IMM && immediate(o, channel, &in[s]))
            continue;
        if (!element(o, c->d->grf_B, channel, &at_B))
            return false;
        source = (struct term){.at_B = at_B, .size_B = type_B(o->type)};
        if (!only_def(k, t->def, at_B, source.size_B, &source.def) ||
            !value_of(c, k, inst, &source, depth - 1, &in[s]))
            return false;
        in[s] = extend(in[s], o->type);
    }
    bool known = calculate(i->op, in, ret);
    *ret = known ? extend(*ret, i->dst.type) : 0;
    return known;
}

static bool terms_value(const struct zs_dbg_context *c, const struct zs_dbg_kernel *k,
                        uint32_t inst, const struct sum *sum, uint64_t *ret)
{
    *ret = 0;
    for (uint32_t i = 0; i < sum->count; i++) {
        uint64_t value;
        if (!value_of(c, k, inst, &sum->terms[i], DEPTH_MAX, &value))
            return false;
        /* of a double word in an address: signed, as IGC extends it */
        if (sum->terms[i].size_B == 4)
            value = (uint64_t)(int64_t)(int32_t)value;
        *ret += value;
    }
    return true;
}

static const struct zs_dbg_address_maker *maker_of(struct zs_dbg_kernel *k, uint32_t grf_B,
                                                   uint32_t index)
{
    struct zs_dbg_address_maker *maker = &k->makers[index];
    if (!maker->asked && maker->size_B)
        find_maker(k, grf_B, index);
    maker->asked = true;
    return maker;
}

/* From the address of another variable that is still in its register. */
static bool terms_of_others(const struct zs_dbg_context *c, struct zs_dbg_kernel *k, uint32_t inst,
                            const struct sum *sum, uint64_t *ret)
{
    for (uint32_t i = 0; i < k->info->variable_count; i++) {
        const struct zs_dbg_address_maker *maker = maker_of(k, c->d->grf_B, i);
        uint32_t def, high;
        if (!maker->found || !same_terms(&maker->first, sum) ||
            !only_def(k, inst, maker->register_B[0], 4, &def) || def != maker->def ||
            !only_def(k, inst, maker->register_B[0] + 4, 4, &high) || high != maker->def_high ||
            !read_bytes(c, maker->register_B[0], 8, ret))
            continue;
        *ret -= (uint64_t)maker->first.constant;
        return true;
    }
    return false;
}

int zs_dbg_variable_address(const struct zs_dbg_context *c, const struct zs_variable *v,
                            uint64_t *ret_address)
{
    /* the kernel is the debugger's own: what is learnt of it is kept there */
    struct zs_dbg_kernel *k = (struct zs_dbg_kernel *)(uintptr_t)c->frame->call->kernel;
    uint32_t inst = zs_dbg_inst_at(k, c->frame->call->va);
    uint64_t base;
    if (inst == ZS_NO_INDEX || !collect_makers(c, k))
        return -ENODATA;
    uint32_t index = (uint32_t)(v - k->info->variables);
    const struct zs_dbg_address_maker *maker = maker_of(k, c->d->grf_B, index);
    if (!maker->found || (!terms_value(c, k, inst, &maker->first, &base) &&
                          !terms_of_others(c, k, inst, &maker->first, &base)))
        return -ENODATA;
    *ret_address = base + (uint64_t)maker->first.constant + c->lane * maker->size_B;
    return 0;
}
