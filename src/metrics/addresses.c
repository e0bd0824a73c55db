/* SPDX-License-Identifier: MIT */
/*
 * Values are a symbol (something unknown, the same for all who hold it) and a constant. Symbols of
 * sums and multiples are found again by what they are made of, so that two lanes which compute the
 * same thing from the same unknown have the same symbol, and what differs is in the constants. A
 * thread's lanes differ in their local ids only, which is where constants begin: local id x of lane
 * l is a symbol + l. Whatever is not followed gives each lane a symbol of its own: then nothing is
 * known of the distances.
 */
#include "metrics/addresses.h"

#include "base/hash.h"
#include "base/index.h"
#include "base/vec.h"
#include "metrics/profile_priv.h"

#include <stdlib.h>
#include <string.h>

enum {
    GRF_COUNT_MAX = 256,
    GRF_B_MAX = 64,
    ACC_REGISTERS = 8, /* of the accumulators, behind the general ones */
    SLOT_COUNT = (GRF_COUNT_MAX + ACC_REGISTERS) * GRF_B_MAX / 2,
    INSTS_MAX = 1 << 18,
    SYMBOLS_MAX = 1 << 20,
    LANES_MAX = 32,
    LINE_B = 64,
    WORDS_MAX = 16, /* of a lane */
    BANKS = 16,     /* of local memory, four bytes each */
};

enum symbol_op {
    SYMBOL_START,
    SYMBOL_SUM,
    SYMBOL_MULTIPLE,
    SYMBOL_PRODUCT,
    SYMBOL_OTHER,
    SYMBOL_UNKNOWN,
    SYMBOL_LOADED,
    SYMBOL_OPCODE /* and those behind it: a row of the opcodes */
};

struct value {
    uint32_t symbol; /* 0: none, a plain number */
    int64_t constant;
};

struct slot {
    struct value value;
    uint8_t size_B; /* 0: as the thread started */
};

struct symbol {
    uint32_t op;
    uint32_t a;
    int64_t b;
    bool loaded; /* it is made of what lanes have loaded */
};

struct flow {
    const struct zs_isa_kernel *isa;
    uint32_t grf_B;
    struct slot *slots; /* of two bytes each */
    struct zs_index index;
    struct {
        struct symbol *items;
        size_t count, capacity;
    } symbols;
    uint64_t unknowns;
    uint32_t flags_loaded[4]; /* a bit for each lane's flag: it follows from what was loaded */
    bool failed;
};

/* ---- symbols ---- */

static uint64_t hash_symbol(const void *symbols, size_t i)
{
    const struct symbol *s = &((const struct symbol *)symbols)[i];
    return zs_hash_u64(zs_hash_u64(s->op, s->a), (uint64_t)s->b);
}

static bool is_loaded(const struct flow *f, uint64_t symbol)
{
    return symbol && symbol <= f->symbols.count && f->symbols.items[symbol - 1].loaded;
}

static bool is_made_of_loaded(const struct flow *f, uint32_t op, uint32_t a, int64_t b)
{
    bool two = op == SYMBOL_SUM || op == SYMBOL_PRODUCT || op >= SYMBOL_OPCODE;
    return op == SYMBOL_LOADED ||
           (op != SYMBOL_START && (is_loaded(f, a) || (two && b > 0 && is_loaded(f, (uint64_t)b))));
}

/* Its place, and one more; 0 for all when there is no room. */
static uint32_t symbol_of(struct flow *f, uint32_t op, uint32_t a, int64_t b)
{
    const struct symbol symbol = {op, a, b, is_made_of_loaded(f, op, a, b)};
    f->failed |= f->symbols.count >= SYMBOLS_MAX ||
                 !zs_index_reserve(&f->index, f->symbols.count, hash_symbol, f->symbols.items);
    if (f->failed)
        return 0;
    uint32_t *slot = zs_index_first(&f->index, hash_symbol(&symbol, 0));
    for (; *slot; slot = zs_index_next(&f->index, slot)) {
        const struct symbol *s = &f->symbols.items[*slot - 1];
        if (s->op == op && s->a == a && s->b == b)
            return *slot;
    }
    f->failed = !ZS_VEC_PUSH(&f->symbols, symbol);
    if (!f->failed)
        *slot = (uint32_t)f->symbols.count;
    return *slot;
}

static struct value unknown(struct flow *f)
{
    return (struct value){symbol_of(f, SYMBOL_UNKNOWN, 0, (int64_t)++f->unknowns), 0};
}

static int64_t wrapped(uint64_t value)
{
    return (int64_t)value;
}

static struct value sum(struct flow *f, struct value a, struct value b)
{
    struct value v = {0, wrapped((uint64_t)a.constant + (uint64_t)b.constant)};
    if (!a.symbol || !b.symbol)
        v.symbol = a.symbol ? a.symbol : b.symbol;
    else
        v.symbol = symbol_of(f, SYMBOL_SUM, ZS_MIN(a.symbol, b.symbol), ZS_MAX(a.symbol, b.symbol));
    return v;
}

static struct value multiple(struct flow *f, struct value a, int64_t by)
{
    struct value v = {0, wrapped((uint64_t)a.constant * (uint64_t)by)};
    if (a.symbol && by)
        v.symbol = by == 1 ? a.symbol : symbol_of(f, SYMBOL_MULTIPLE, a.symbol, by);
    return v;
}

static struct value product(struct flow *f, struct value a, struct value b)
{
    if (!a.symbol)
        return multiple(f, b, a.constant);
    if (!b.symbol)
        return multiple(f, a, b.constant);
    struct value both = {
        symbol_of(f, SYMBOL_PRODUCT, ZS_MIN(a.symbol, b.symbol), ZS_MAX(a.symbol, b.symbol)),
        wrapped((uint64_t)a.constant * (uint64_t)b.constant)};
    struct value left = multiple(f, (struct value){a.symbol, 0}, b.constant);
    struct value right = multiple(f, (struct value){b.symbol, 0}, a.constant);
    return sum(f, both, sum(f, left, right));
}

/* ---- registers ---- */

/* SIZE_MAX: not a register that is followed. */
static size_t place_of(const struct flow *f, const struct zs_isa_operand *o)
{
    if (o->kind != ZS_OPERAND_REG)
        return SIZE_MAX;
    if (o->file == ZS_FILE_GRF)
        return (size_t)o->reg * f->grf_B + o->subreg_B;
    if (o->file == ZS_FILE_ACC)
        return ((size_t)GRF_COUNT_MAX * GRF_B_MAX) + (size_t)(o->reg & 3) * GRF_B_MAX + o->subreg_B;
    return SIZE_MAX;
}

static struct value load(struct flow *f, size_t at_B, uint32_t size_B)
{
    if (at_B / 2 >= SLOT_COUNT || at_B % 2)
        return unknown(f);
    const struct slot *s = &f->slots[at_B / 2];
    if (!s->size_B)
        return (struct value){symbol_of(f, SYMBOL_START, (uint32_t)at_B, 0), 0};
    /* the low half of an address stands for it */
    return s->size_B >= size_B || size_B == 8 ? s->value : unknown(f);
}

static void store(struct flow *f, size_t at_B, uint32_t size_B, struct value value)
{
    if (at_B / 2 >= SLOT_COUNT || at_B % 2)
        return;
    f->slots[at_B / 2] = (struct slot){value, (uint8_t)ZS_MAX(size_B, 2u)};
    for (uint32_t part = 1; part < size_B / 2 && at_B / 2 + part < SLOT_COUNT; part++)
        f->slots[at_B / 2 + part] = (struct slot){unknown(f), 2};
}

static bool is_float(uint8_t type)
{
    return type == ZS_TYPE_F || type == ZS_TYPE_HF || type == ZS_TYPE_DF || type == ZS_TYPE_BF ||
           type == ZS_TYPE_VF || type == ZS_TYPE_TF32;
}

static struct value immediate(struct flow *f, const struct zs_isa_operand *o, uint32_t lane)
{
    uint64_t bits = o->imm;
    switch (o->type) {
    case ZS_TYPE_V: {
        int64_t n = (int64_t)(bits >> (4 * (lane & 7)) & 15);
        return (struct value){0, n >= 8 ? n - 16 : n};
    }
    case ZS_TYPE_UV:
        return (struct value){0, (int64_t)(bits >> (4 * (lane & 7)) & 15)};
    case ZS_TYPE_W:
        return (struct value){0, (int16_t)bits};
    case ZS_TYPE_UW:
        return (struct value){0, (uint16_t)bits};
    case ZS_TYPE_D:
        return (struct value){0, (int32_t)bits};
    case ZS_TYPE_UD:
        return (struct value){0, (uint32_t)bits};
    case ZS_TYPE_Q:
    case ZS_TYPE_UQ:
        return (struct value){0, (int64_t)bits};
    default:
        return unknown(f);
    }
}

/* Of a region of registers. Those of instructions with three sources say no width: it is that of a
 * row without gaps; the last source has no rows, either. */
static uint32_t element_of(const struct zs_isa_operand *o, uint32_t lane)
{
    uint32_t hstride = o->hstride == ZS_REGION_NONE ? 1 : o->hstride;
    uint32_t width = hstride ? ZS_MAX(o->vstride / hstride, 1u) : 1;
    if (o->vstride == ZS_REGION_NONE)
        return lane * hstride;
    if (o->width != ZS_REGION_NONE && o->width)
        width = o->width;
    return lane / width * o->vstride + lane % width * hstride;
}

static struct value source(struct flow *f, const struct zs_isa_inst *inst, uint32_t s,
                           uint32_t lane)
{
    const struct zs_isa_operand *o = &inst->src[s];
    uint32_t size_B = zs_isa_type_bits((enum zs_isa_type)o->type) / 8;
    if (o->kind == ZS_OPERAND_IMM)
        return immediate(f, o, lane);
    size_t at_B = place_of(f, o);
    if (at_B == SIZE_MAX || !size_B || (inst->flags & ZS_INST_ALIGN16) ||
        (o->modifiers & ZS_MOD_ABS) || o->vstride == ZS_REGION_VXH)
        return unknown(f);
    struct value v = load(f, at_B + (size_t)element_of(o, lane) * size_B, size_B);
    return o->modifiers & ZS_MOD_NEG ? multiple(f, v, -1) : v;
}

/* ---- instructions ---- */

/* What is not followed, but is the same for lanes with the same operands. */
static struct value opaque(struct flow *f, uint32_t op, struct value a, struct value b)
{
    uint32_t left = symbol_of(f, SYMBOL_OTHER, a.symbol, a.constant);
    uint32_t right = symbol_of(f, SYMBOL_OTHER, b.symbol, b.constant);
    return (struct value){symbol_of(f, SYMBOL_OPCODE + op, left, right), 0};
}

/* Compilers write `or` for a sum whose parts have no bit in common. */
static bool is_shifted(const struct flow *f, struct value v)
{
    return v.symbol && f->symbols.items[v.symbol - 1].op == SYMBOL_MULTIPLE &&
           f->symbols.items[v.symbol - 1].b > 1;
}

static bool is_multiple(const struct flow *f, uint32_t symbol, int64_t of)
{
    const struct symbol *s = symbol ? &f->symbols.items[symbol - 1] : NULL;
    if (!s || of == 1)
        return true;
    if (s->op == SYMBOL_SUM)
        return is_multiple(f, s->a, of) && is_multiple(f, (uint32_t)s->b, of);
    return s->op == SYMBOL_MULTIPLE && s->b % of == 0;
}

/* A mask keeps an index within an array, its bytes, too: lanes lie as before, unless it is so small
 * that they must be beyond its end. */
static struct value masked(struct flow *f, const struct zs_isa_inst *inst, struct value a,
                           struct value b)
{
    struct value of = a.symbol ? a : b, mask = a.symbol ? b : a;
    if (!of.symbol)
        return (struct value){0, a.constant & b.constant};
    int64_t step = mask.constant & -mask.constant; /* its bits are those from there on */
    bool row = !mask.symbol && mask.constant > 0 && !(mask.constant & (mask.constant + step));
    if (!row || of.constant % step || !is_multiple(f, of.symbol, step) ||
        llabs(of.constant) > mask.constant)
        return opaque(f, inst->op, a, b);
    uint32_t part = symbol_of(f, SYMBOL_OTHER, of.symbol, 0);
    uint32_t by = symbol_of(f, SYMBOL_OTHER, 0, mask.constant);
    return (struct value){symbol_of(f, SYMBOL_OPCODE + inst->op, part, by), of.constant};
}

static struct value evaluate(struct flow *f, const struct zs_isa_inst *inst, uint32_t lane)
{
    struct value a = source(f, inst, 0, lane), b = {0, 0};
    if (inst->source_count > 1)
        b = source(f, inst, 1, lane);
    switch (inst->op) {
    case ZS_OP_MOV:
        return a;
    case ZS_OP_ADD:
        return sum(f, a, b);
    case ZS_OP_ADD3:
        return sum(f, sum(f, a, b), source(f, inst, 2, lane));
    case ZS_OP_NOT: /* of a number one less than its negative: of `size - 1 - i` */
        return sum(f, multiple(f, a, -1), (struct value){0, -1});
    case ZS_OP_MUL:
        return product(f, a, b);
    case ZS_OP_MAD:
        return sum(f, a, product(f, b, source(f, inst, 2, lane)));
    case ZS_OP_MACL: /* behind a multiplication into the accumulator, which has the low half */
        return product(f, a, b);
    case ZS_OP_SHL:
        return !b.symbol && b.constant >= 0 && b.constant < 63
                   ? multiple(f, a, (int64_t)1 << b.constant)
                   : opaque(f, inst->op, a, b);
    case ZS_OP_OR:
        return is_shifted(f, a) || is_shifted(f, b) ? sum(f, a, b) : opaque(f, inst->op, a, b);
    case ZS_OP_SEL:
        return a.symbol ? a : b; /* of a clamped index what it is clamped from */
    case ZS_OP_AND:
        return masked(f, inst, a, b);
    case ZS_OP_BFN:
        b = opaque(f, inst->op, b, source(f, inst, 2, lane));
        return opaque(f, inst->op, opaque(f, inst->op, a, b), (struct value){0, inst->subfunction});
    default:
        return inst->source_count < 3 ? opaque(f, inst->op, a, b) : unknown(f);
    }
}

static struct value loaded(struct flow *f)
{
    return (struct value){symbol_of(f, SYMBOL_LOADED, 0, (int64_t)++f->unknowns), 0};
}

static uint32_t flag_of(const struct zs_isa_inst *inst, uint32_t lane)
{
    return UINT32_C(1) << (inst->channel_offset + lane) % LANES_MAX;
}

static void compare_lanes(struct flow *f, const struct zs_isa_inst *inst)
{
    uint32_t *flags = &f->flags_loaded[inst->flag_reg & 3];
    for (uint32_t lane = 0; lane < ZS_MIN(inst->exec_size, (uint32_t)LANES_MAX); lane++) {
        bool of = is_loaded(f, source(f, inst, 0, lane).symbol) ||
                  is_loaded(f, source(f, inst, 1, lane).symbol);
        *flags = of ? *flags | flag_of(inst, lane) : *flags & ~flag_of(inst, lane);
    }
}

static void execute(struct flow *f, const struct zs_isa_inst *inst)
{
    struct value values[LANES_MAX];
    size_t at_B = place_of(f, &inst->dst);
    uint32_t size_B = zs_isa_type_bits((enum zs_isa_type)inst->dst.type) / 8;
    uint32_t lanes = ZS_MIN(inst->exec_size, (uint32_t)LANES_MAX);
    uint32_t hstride = inst->dst.hstride == ZS_REGION_NONE ? 1 : inst->dst.hstride;
    if (inst->op == ZS_OP_CMP)
        compare_lanes(f, inst);
    if (!(inst->flags & ZS_INST_HAS_DST) || at_B == SIZE_MAX || !size_B)
        return;
    bool hidden = is_float(inst->dst.type) || (inst->source_count && is_float(inst->src[0].type));
    /* copies of bits keep what they are */
    if (inst->op == ZS_OP_MOV && inst->dst.type == inst->src[0].type)
        hidden = false;
    uint32_t chosen = inst->pred ? f->flags_loaded[inst->flag_reg & 3] : 0;
    for (uint32_t lane = 0; lane < lanes; lane++)
        values[lane] = chosen & flag_of(inst, lane) ? loaded(f)
                       : hidden                     ? unknown(f)
                                                    : evaluate(f, inst, lane);
    for (uint32_t lane = 0; lane < lanes; lane++)
        store(f, at_B + (size_t)lane * hstride * size_B, size_B, values[lane]);
}

/* What a message brings is not known. Lanes that ask each for its own have loaded it. */
static void forget_result(struct flow *f, const struct zs_isa_inst *inst,
                          const struct zs_isa_message *m)
{
    bool loads = inst->exec_size > 1 && m->kind == ZS_MSG_LOAD && !(m->flags & ZS_MSGF_BLOCK);
    size_t at_B = place_of(f, &inst->dst), end_B = at_B + (size_t)inst->dst.grf_count * f->grf_B;
    for (size_t at = at_B; at_B != SIZE_MAX && at < end_B; at += 4)
        store(f, at, 4, loads ? loaded(f) : unknown(f));
}

/* ---- messages ---- */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t distinct(int64_t *numbers, uint32_t count)
{
    uint32_t kept = 0;
    qsort(numbers, count, sizeof(*numbers), compare);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    return kept;
}

static int64_t divided(int64_t address, int64_t by)
{
    return address >= 0 ? address / by : -((-address + by - 1) / by);
}

/* Distances are from the first lane, whose own address is taken for aligned. */
static void count_lines(const int64_t *offsets, uint32_t lanes, uint32_t bytes,
                        struct zs_lane_access *access)
{
    int64_t lines[LANES_MAX * 2], words[LANES_MAX * WORDS_MAX];
    uint32_t line_count = 0, n = 0, banks[BANKS] = {0};
    for (uint32_t l = 0; l < lanes; l++) {
        lines[line_count++] = divided(offsets[l], LINE_B);
        lines[line_count++] = divided(offsets[l] + bytes - 1, LINE_B);
        for (uint32_t w = 0; w < ZS_MIN((bytes + 3) / 4, (uint32_t)WORDS_MAX); w++)
            words[n++] = divided(offsets[l], 4) + w;
    }
    n = distinct(words, n);
    for (uint32_t w = 0; w < n; w++)
        banks[(uint64_t)words[w] % BANKS]++;
    for (uint32_t b = 0; b < BANKS; b++)
        access->cycles = ZS_MAX(access->cycles, banks[b]);
    access->cycles_least = (n + BANKS - 1) / BANKS;
    access->lines = distinct(lines, line_count);
    /* what the bytes need when they lie together; bytes that several lanes want count once */
    uint64_t together_B = ZS_MIN((uint64_t)n * 4, (uint64_t)lanes * bytes);
    access->lines_least = ZS_MIN((uint32_t)((together_B + LINE_B - 1) / LINE_B), access->lines);
}

static void look_at(struct flow *f, const struct zs_isa_inst *inst, const struct zs_isa_message *m,
                    struct zs_lane_access *access)
{
    int64_t offsets[LANES_MAX];
    uint32_t size_B = m->address_bits / 8, lanes = ZS_MIN(m->lanes, (uint32_t)LANES_MAX);
    size_t at_B = place_of(f, &inst->src[0]);
    bool moves = m->kind == ZS_MSG_LOAD || m->kind == ZS_MSG_STORE || m->kind == ZS_MSG_ATOMIC;
    if (!moves || (m->flags & (ZS_MSGF_BLOCK | ZS_MSGF_TYPED | ZS_MSGF_DESC_REG)) ||
        at_B == SIZE_MAX || (size_B != 4 && size_B != 8) || lanes < 2)
        return;
    if (m->flags & ZS_MSGF_HEADER)
        at_B += f->grf_B;
    struct value first = load(f, at_B, size_B);
    access->from_load = is_loaded(f, first.symbol);
    access->has_stride = true;
    for (uint32_t l = 0; l < lanes; l++) {
        struct value v = load(f, at_B + (size_t)l * size_B, size_B);
        if (v.symbol != first.symbol)
            return;
        offsets[l] = wrapped((uint64_t)v.constant - (uint64_t)first.constant);
        if (offsets[l] > INT32_MAX || offsets[l] < INT32_MIN)
            return;
        access->has_stride = access->has_stride && offsets[l] == offsets[1] * (int64_t)l;
    }
    access->is_known = true;
    access->from_load = false;
    access->lanes = lanes;
    access->stride_B = offsets[1];
    count_lines(offsets, lanes, ZS_MAX((uint32_t)m->element_B * ZS_MAX(m->components, 1u), 1u),
                access);
}

/* ---- a kernel ---- */

/* Local ids stand behind r0, sixteen bits each, a register or two for each dimension. */
static void start(struct flow *f, const struct zs_profile *p)
{
    const struct zs_kernel *kernel = p->code->kernel;
    const struct zs_shape *shape = profile_main_shape(p);
    uint32_t size[2] = {shape ? shape->size[0] : UINT32_MAX, shape ? shape->size[1] : 1};
    size_t at_B = f->grf_B, dimension_B = kernel->simd == 32 ? 64 : 32;
    for (uint32_t dim = 0; dim < 2; dim++) {
        if (!kernel->thread.local_id[dim])
            continue;
        for (uint32_t lane = 0; lane < ZS_MIN(kernel->simd, (uint32_t)LANES_MAX); lane++) {
            uint32_t id =
                dim ? lane / ZS_MAX(size[0], 1u) % ZS_MAX(size[1], 1u) : lane % ZS_MAX(size[0], 1u);
            store(f, at_B + 2 * lane, 2,
                  (struct value){symbol_of(f, SYMBOL_START, (uint32_t)at_B, 1), id});
        }
        at_B += ZS_MAX(dimension_B, (size_t)f->grf_B);
    }
}

/* From XeHPG on threads load their local ids themselves, before anything else. */
static bool is_payload(const struct flow *f, const struct zs_isa_inst *inst,
                       const struct zs_isa_message *m)
{
    return m->kind == ZS_MSG_LOAD && m->flags & ZS_MSGF_BLOCK &&
           place_of(f, &inst->dst) == f->grf_B;
}

static void follow(struct flow *f, const struct zs_isa_inst *inst, const struct zs_isa_message *m)
{
    if (m)
        forget_result(f, inst, m);
    else
        execute(f, inst);
}

/* Of a branch back the first instruction of the loop; else its own number. */
static uint32_t loop_of(const struct flow *f, uint32_t i)
{
    const struct zs_isa_inst *inst = zs_isa_inst(f->isa, i);
    uint32_t first = i, to_B = ZS_MIN(inst->jip_B, inst->uip_B); /* NO_INDEX: the largest */
    if (!(zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH) ||
        to_B >= zs_isa_inst_offset(f->isa, i))
        return i;
    while (first && zs_isa_inst_offset(f->isa, first) > to_B)
        first--;
    return first;
}

/* With what the first time through a loop has left: an address that follows from what the last
 * round has loaded is data. How far others are apart is told by the first time. */
static void follow_again(struct flow *f, uint32_t first, uint32_t last,
                         struct zs_lane_access *accesses)
{
    for (uint32_t i = first; i <= last && !f->failed; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(f->isa, i);
        const struct zs_isa_message *m = zs_isa_inst_message(f->isa, i);
        struct zs_lane_access access = {0};
        if (m)
            look_at(f, inst, m, &access);
        accesses[i].from_load |= access.from_load;
        accesses[i].is_known = accesses[i].is_known && !accesses[i].from_load;
        follow(f, inst, m);
    }
}

struct zs_lane_access *zs_accesses(const struct zs_profile *p)
{
    bool own_code = false; /* an instruction that lanes can be off for */
    struct flow f = {.isa = p->code ? p->code->isa : NULL};
    if (!p->insts || p->inst_count > INSTS_MAX)
        return NULL;
    struct zs_lane_access *accesses = calloc((size_t)p->inst_count + 1, sizeof(*accesses));
    f.slots = calloc(SLOT_COUNT, sizeof(*f.slots));
    f.grf_B = zs_isa_platform_info(zs_isa_kernel_platform(f.isa))->grf_B;
    f.failed = !accesses || !f.slots;
    if (!f.failed)
        start(&f, p);
    uint32_t again = 0; /* behind the last loop that was followed twice */
    for (uint32_t i = 0; i < p->inst_count && !f.failed; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(f.isa, i);
        const struct zs_isa_message *m = zs_isa_inst_message(f.isa, i);
        own_code = own_code || p->insts[i].is_masked;
        if (m)
            look_at(&f, inst, m, &accesses[i]);
        follow(&f, inst, m);
        if (m && !own_code && is_payload(&f, inst, m))
            start(&f, p);
        uint32_t first = loop_of(&f, i);
        if (first < i && first >= again) {
            follow_again(&f, first, i, accesses);
            again = i;
        }
    }
    free(f.slots);
    zs_index_fini(&f.index);
    free(f.symbols.items);
    if (f.failed) {
        free(accesses);
        return NULL;
    }
    return accesses;
}
