/* SPDX-License-Identifier: MIT */
/* Where values are: pieces in registers and memory, for one lane; read and written. */
#include "debugger/debugger_priv.h"

#include "correlate/value_check.h"

#include <errno.h>
#include <string.h>

enum {
    SCRATCH_TAG = 0x09, /* bits 56..63 of addresses in debug info */
    LOCAL_TAG = 0x0a,
    TAG_SHIFT = 56,
    GENERIC_SHIFT = 61, /* pointers of the generic address space: 1 private, 2 local */
    LOCAL_B_LOG2 = 18,  /* IGC from 1.0.17791 on has local memory so large, untagged, behind 2^28 */
    LOCAL_OFFSET = (1 << 28) - 1,
    SBA_GENERAL = 0,
    SBA_SCRATCH = 8,
};

static bool read_base(struct zs_debugger *d, const struct zs_dbg_thread *t, uint32_t index,
                      uint64_t *ret)
{
    return !zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_SBA, index, 1, ret);
}

enum zs_debug_space zs_dbg_space_of(struct zs_debugger *d, const struct zs_dbg_thread *t,
                                    uint64_t address, uint64_t *ret_va)
{
    const uint64_t low = (UINT64_C(1) << TAG_SHIFT) - 1;
    uint64_t base;
    *ret_va = address;
    if (address >> TAG_SHIFT == LOCAL_TAG || address >> GENERIC_SHIFT == 2 ||
        address >> LOCAL_B_LOG2 == UINT64_C(1) << (28 - LOCAL_B_LOG2)) {
        *ret_va = address & LOCAL_OFFSET; /* as messages have it, whose surface is local memory */
        return ZS_DEBUG_SPACE_LOCAL;
    }
    if (address >> TAG_SHIFT == SCRATCH_TAG && t && read_base(d, t, SBA_SCRATCH, &base))
        *ret_va = base + (address & low);
    else if (address >> GENERIC_SHIFT == 1)
        *ret_va = address & ((UINT64_C(1) << GENERIC_SHIFT) - 1);
    return ZS_DEBUG_SPACE_GLOBAL;
}

static uint64_t bits_of(const uint8_t *bytes, uint64_t bit_offset, uint32_t bits)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < bits; i++)
        value |= (uint64_t)(bytes[(bit_offset + i) / 8] >> (bit_offset + i) % 8 & 1) << i;
    return value;
}

static void put_bits(uint8_t *bytes, uint64_t bit_offset, uint32_t bits, uint64_t value)
{
    for (uint32_t i = 0; i < bits; i++) {
        uint8_t *byte = &bytes[(bit_offset + i) / 8], bit = (uint8_t)(1u << (bit_offset + i) % 8);
        *byte = (uint8_t)(value >> i & 1 ? *byte | bit : *byte & ~bit);
    }
}

/* Register set, first register and bit in it; false: debug info names what cannot be read. */
static bool find_register(const struct zs_debugger *d, uint64_t number, uint64_t *bit_offset,
                          uint32_t *ret_set, uint32_t *ret_index)
{
    struct zs_dwarf_register r = zs_dwarf_register(number);
    uint64_t bit = *bit_offset;
    static const struct {
        enum zs_dwarf_register_file file;
        uint32_t set;
        uint32_t unit_bits; /* of one number, within a set of larger registers; 0: one each */
    } files[] = {
        {ZS_DWREG_GRF, ZESCOPE_DEBUG_REGSET_GRF, 0},
        {ZS_DWREG_GRF_HIGH, ZESCOPE_DEBUG_REGSET_GRF, 0},
        {ZS_DWREG_A, ZESCOPE_DEBUG_REGSET_ADDR, 16},
        {ZS_DWREG_F, ZESCOPE_DEBUG_REGSET_FLAG, 16},
        {ZS_DWREG_ACC, ZESCOPE_DEBUG_REGSET_ACC, 0},
        {ZS_DWREG_EMASK, ZESCOPE_DEBUG_REGSET_CE, 0},
    };
    for (size_t i = 0; i < ZS_ARRAY_LEN(files); i++) {
        const struct zs_dbg_regset *set = zs_dbg_regset(d, files[i].set);
        if (files[i].file != r.file || !set)
            continue;
        uint64_t unit = files[i].unit_bits ? files[i].unit_bits : set->size_B * 8u;
        bit += r.index * unit;
        *ret_set = set->type;
        *ret_index = (uint32_t)(bit / (set->size_B * 8u));
        *bit_offset = bit % (set->size_B * 8u);
        return *ret_index < set->count;
    }
    return false;
}

static int read_special(struct zs_debugger *d, const struct zs_dbg_thread *t, uint64_t number,
                        uint64_t *ret)
{
    switch (zs_dwarf_register(number).file) {
    case ZS_DWREG_IP:
        *ret = t->shown.gpu_va;
        return 0;
    case ZS_DWREG_SCRATCH_BASE:
        return read_base(d, t, SBA_SCRATCH, ret) ? 0 : -ENODATA;
    case ZS_DWREG_GENERAL_BASE:
        return read_base(d, t, SBA_GENERAL, ret) ? 0 : -ENODATA;
    default:
        return -ENODATA;
    }
}

static int read_saved(struct zs_debugger *d, const struct zs_dbg_thread *t,
                      const struct zs_dbg_saved *saved, uint64_t bit_offset, uint32_t bits,
                      uint64_t *ret)
{
    uint8_t bytes[ZS_DBG_GRF_MAX_B];
    uint64_t va;
    if (saved->lost || bit_offset + bits > d->grf_B * 8u)
        return -ENODATA;
    enum zs_debug_space space = zs_dbg_space_of(d, t, saved->va, &va);
    if (zs_dbg_read(d, t, space, va, bytes, d->grf_B))
        return -ENODATA;
    *ret = bits_of(bytes, bit_offset, bits);
    return 0;
}

int zs_dbg_read_register(struct zs_debugger *d, const struct zs_dbg_thread *t,
                         const struct zs_dbg_call_frame *call, uint64_t dwarf_register,
                         uint64_t bit_offset, uint32_t bits, uint64_t *ret_value)
{
    uint8_t bytes[ZS_DBG_GRF_MAX_B * 3];
    uint32_t set, index;
    uint64_t shift = bit_offset / (d->grf_B * 8u);
    if (dwarf_register >= 16 && shift && bit_offset % (d->grf_B * 8u) + bits <= d->grf_B * 8u) {
        dwarf_register += shift; /* runs on into a register behind */
        bit_offset %= d->grf_B * 8u;
    }
    if (call && call->saved && dwarf_register < ZS_DBG_REGS &&
        (call->saved[dwarf_register].lost || call->saved[dwarf_register].in_memory))
        return read_saved(d, t, &call->saved[dwarf_register], bit_offset, bits, ret_value);
    if (!find_register(d, dwarf_register, &bit_offset, &set, &index))
        return read_special(d, t, dwarf_register, ret_value);
    const struct zs_dbg_regset *known = zs_dbg_regset(d, set);
    uint32_t count =
        (uint32_t)((bit_offset + bits + known->size_B * 8u - 1) / (known->size_B * 8u));
    if ((size_t)count * known->size_B > sizeof(bytes) || index + count > known->count ||
        zs_dbg_read_regs(d, t->place, set, index, count, bytes))
        return -ENODATA;
    *ret_value = bits_of(bytes, bit_offset, bits);
    return 0;
}

static int write_register(const struct zs_dbg_context *c, uint64_t number, uint64_t bit_offset,
                          uint32_t bits, uint64_t value)
{
    uint8_t bytes[ZS_DBG_GRF_MAX_B * 3];
    uint32_t set, index;
    if (c->frame && c->frame->call->saved && number < ZS_DBG_REGS &&
        (c->frame->call->saved[number].lost || c->frame->call->saved[number].in_memory))
        return -EACCES;
    if (!find_register(c->d, number, &bit_offset, &set, &index))
        return -EACCES;
    const struct zs_dbg_regset *known = zs_dbg_regset(c->d, set);
    uint32_t count =
        (uint32_t)((bit_offset + bits + known->size_B * 8u - 1) / (known->size_B * 8u));
    if (!known->writable || (size_t)count * known->size_B > sizeof(bytes) ||
        zs_dbg_read_regs(c->d, c->thread->place, set, index, count, bytes))
        return -EACCES;
    put_bits(bytes, bit_offset, bits, value);
    return zs_dbg_write_regs(c->d, c->thread->place, set, index, count, bytes);
}

/* ---- expressions of debug info ---- */

enum { READS_MAX = 32, GRF_FIRST = 16 };

/* An evaluation, and what it reads of registers. */
struct evaluation {
    const struct zs_dbg_context *c;
    bool dry;        /* registers are not read: 0 */
    bool others;     /* not only general registers, or too many reads */
    uint32_t lane_B; /* registers are read that far behind the place that is named */
    uint32_t count;
    struct {
        uint32_t at_B, size_B, bits;
    } reads[READS_MAX];
};

/* General registers as one range of bytes; false: another register. */
static bool grf_range(const struct zs_debugger *d, uint64_t number, uint64_t bit_offset,
                      uint64_t bits, uint32_t *ret_at_B, uint32_t *ret_size_B)
{
    struct zs_dwarf_register r = zs_dwarf_register(number);
    if (r.file != ZS_DWREG_GRF && r.file != ZS_DWREG_GRF_HIGH)
        return false;
    uint64_t begin = (uint64_t)r.index * d->grf_B * 8 + bit_offset;
    *ret_at_B = (uint32_t)(begin / 8);
    *ret_size_B = (uint32_t)((begin + bits + 7) / 8 - begin / 8);
    return begin + bits < UINT32_MAX && bits;
}

static int eval_register(void *user, uint64_t number, uint64_t bit_offset, uint32_t bits,
                         uint64_t *ret)
{
    struct evaluation *e = user;
    const struct zs_dbg_context *c = e->c;
    uint32_t i = e->count;
    bit_offset += e->lane_B * 8u;
    if (i < READS_MAX &&
        grf_range(c->d, number, bit_offset, bits, &e->reads[i].at_B, &e->reads[i].size_B))
        e->reads[e->count++].bits = bits;
    else
        e->others = true;
    *ret = 0;
    return e->dry ? 0
                  : zs_dbg_read_register(c->d, c->thread, c->frame ? c->frame->call : NULL, number,
                                         bit_offset, bits, ret);
}

static int eval_memory(void *user, uint64_t address, uint32_t address_class, uint32_t size_B,
                       uint64_t *ret)
{
    const struct zs_dbg_context *c = ((struct evaluation *)user)->c;
    uint64_t va;
    (void)address_class;
    enum zs_debug_space space = zs_dbg_space_of(c->d, c->thread, address, &va);
    *ret = 0;
    return zs_dbg_read(c->d, c->thread, space, va, ret, size_B) ? -ENODATA : 0;
}

static int evaluate(struct evaluation *e, struct zs_span expr, const struct zs_variable *v,
                    uint32_t lane, struct zs_eval_result *ret, struct zs_diag *diag)
{
    const struct zs_dbg_call_frame *call = e->c->frame->call;
    const struct zs_eval_context context = {
        .size_B = sizeof(context),
        .user = e,
        .read_register = eval_register,
        .read_memory = eval_memory,
        .lane = lane,
        .grf_B = e->c->d->grf_B,
        .base_va = 0,
        .kernel = call->kernel->info,
        .variable = v,
        .offset_B = (uint32_t)(call->va - call->kernel->va),
    };
    return zs_expr_eval(expr, &context, ret, diag);
}

bool zs_dbg_address_registers(const struct zs_dbg_context *c, const struct zs_variable *v,
                              uint32_t ret_at_B[2])
{
    struct zs_location location;
    struct zs_location_iterator it = zs_variable_locations(c->frame->call->kernel->info, v);
    if (v->location_kind != ZS_LOCATION_EXPR || !zs_location_next(&it, &location))
        return false;
    for (uint32_t lane = 0; lane < 2; lane++) {
        struct evaluation e = {.c = c, .dry = true};
        struct zs_eval_result place;
        if (evaluate(&e, location.expr, v, lane, &place, NULL) || e.others || !e.count ||
            place.count != 1 || place.pieces[0].kind != ZS_PIECE_MEMORY || place.pieces[0].gpu_va ||
            e.reads[0].bits != 64)
            return false;
        ret_at_B[lane] = e.reads[0].at_B;
    }
    return ret_at_B[0] != ret_at_B[1];
}

static struct zs_value_check query(const struct zs_dbg_context *c, const struct zs_variable *v)
{
    const struct zs_dbg_kernel *k = c->frame->call->kernel;
    return (struct zs_value_check){.isa = k->isa,
                                   .info = k->info,
                                   .join = k->join,
                                   .sources = c->d->sources,
                                   .grf_B = c->d->grf_B,
                                   .optimised = k->optimised,
                                   .variable = v,
                                   .inst =
                                       k->isa ? zs_dbg_inst_at(k, c->frame->call->va) : ZS_NO_INDEX,
                                   .lane = c->lane,
                                   .waits = !(c->thread->shown.running >> c->lane & 1)};
}

bool zs_dbg_holds(const struct zs_dbg_context *c, const struct zs_variable *v, uint32_t begin_B,
                  uint32_t size_B)
{
    const struct zs_value_check q = query(c, v);
    return zs_value_is_there(&q, begin_B, size_B);
}

bool zs_dbg_holds_of_lane(const struct zs_dbg_context *c, const struct zs_variable *v,
                          uint32_t begin_B, uint32_t size_B)
{
    const struct zs_value_check q = query(c, v);
    return zs_value_is_lanes_own(&q, begin_B, size_B);
}

bool zs_dbg_has_begun(const struct zs_dbg_context *c, const struct zs_variable *v)
{
    const struct zs_value_check q = query(c, v);
    return zs_value_has_begun(&q);
}

static bool stripped_type(const struct zs_dbg_context *c, uint32_t type, struct zs_type *ret)
{
    const struct zs_dwarf *dwarf = c->frame->call->kernel->info->dwarf;
    return type && zs_type_get(dwarf, zs_type_strip(dwarf, type), ret) == 0;
}

/* Elements of a vector: each has its lanes together, of 32 lanes in registers of 32 bytes those of
 * a half. */
static bool spread_vector(const struct zs_dbg_context *c, const struct zs_variable *v,
                          struct zs_eval_result *place)
{
    const struct zs_piece wide = place->pieces[0];
    const struct zs_dwarf_kernel *info = c->frame->call->kernel->info;
    struct zs_type vector, element;
    uint32_t simd = info->frames[info->scopes[v->scope].frame].simd;
    uint32_t lanes = simd == 32 && c->d->grf_B == 32 ? 16 : simd,
             in_half = lanes ? c->lane % lanes : 0;
    uint64_t number = wide.dwarf_register, grf_bits = c->d->grf_B * 8u;
    if (place->count != 1 || !lanes || zs_dwarf_register(number).file != ZS_DWREG_GRF ||
        !stripped_type(c, v->type, &vector) || vector.kind != ZS_KIND_VECTOR ||
        !stripped_type(c, vector.target, &element) || !element.size_B || element.size_B > 8 ||
        vector.count > 16 || vector.count * element.size_B * 8 > wide.size_bits)
        return false;
    uint64_t at = (number - GRF_FIRST) * grf_bits + wide.bit_offset;
    if (at < in_half * wide.size_bits)
        return false;
    at -= in_half * wide.size_bits;
    for (uint32_t i = 0; i < vector.count; i++) {
        uint64_t begin = at + (i * lanes + in_half) * element.size_B * 8;
        place->pieces[i] = (struct zs_piece){.kind = ZS_PIECE_REGISTER,
                                             .dwarf_register = GRF_FIRST + begin / grf_bits,
                                             .bit_offset = begin % grf_bits,
                                             .size_bits = element.size_B * 8};
    }
    place->count = (uint32_t)vector.count;
    return true;
}

static bool is_constant_type(const struct zs_dbg_context *c, uint32_t type)
{
    struct zs_type t;
    const struct zs_dwarf *dwarf = c->frame->call->kernel->info->dwarf;
    return type && zs_type_get(dwarf, type, &t) == 0 && t.kind == ZS_KIND_CONST;
}

static int unavailable(const struct zs_dbg_context *c, const char *why)
{
    return zs_diag_set(c->diag, -ENODATA, ZS_DIAG_NO_OFFSET, "not available here: %s", why);
}

static const char reused[] = "its register may hold something else";
static const char first_value[] = "the compiler tells its first value alone";

/* Memory at an address that registers give. */
static int check_memory(const struct zs_dbg_context *c, const struct zs_variable *v,
                        const struct evaluation *e, struct zs_eval_result *place)
{
    uint32_t at_B[2];
    if (!e->count)
        return 0;
    if (c->frame->call->kernel->optimised || place->count != 1)
        return unavailable(c, "optimised code stores it when it likes");
    struct zs_type type;
    if (v->location_kind == ZS_LOCATION_LIST && stripped_type(c, v->type, &type) &&
        type.kind == ZS_KIND_ARRAY) /* IGC 2 transposes them, or not */
        return unavailable(c, "the elements of its lanes may alternate, which is not told");
    if (!zs_dbg_has_begun(c, v))
        return unavailable(c, "the function has not begun");
    if (!zs_dbg_address_registers(c, v, at_B))
        return 0; /* from the frame pointer */
    return zs_dbg_variable_address(c, v, &place->pieces[0].gpu_va) ? unavailable(c, reused) : 0;
}

/* What the expression gives, if it is true of this place. */
static int check_place(const struct zs_dbg_context *c, const struct zs_variable *v,
                       const struct evaluation *e, struct zs_eval_result *place)
{
    struct zs_type type;
    uint64_t object_bits = stripped_type(c, v->type, &type) ? type.size_B * 8 : 0;
    uint32_t at_B, size_B;
    if (place->pieces[0].wide && !spread_vector(c, v, place))
        return unavailable(c, "a vector in registers that is not understood");
    bool memory = false, constant = false;
    for (uint32_t i = 0; i < place->count; i++) {
        const struct zs_piece *p = &place->pieces[i];
        memory |= p->kind == ZS_PIECE_MEMORY;
        constant |= p->kind == ZS_PIECE_BYTES || (p->kind == ZS_PIECE_VALUE && !e->count);
        if (p->kind != ZS_PIECE_REGISTER)
            continue;
        if (!grf_range(c->d, p->dwarf_register, p->bit_offset,
                       p->size_bits ? p->size_bits : object_bits, &at_B, &size_B) ||
            !zs_dbg_holds(c, v, at_B, size_B))
            return unavailable(c, reused);
    }
    if (constant && !is_constant_type(c, v->type))
        return unavailable(c, first_value);
    if (memory)
        return check_memory(c, v, e, place);
    for (uint32_t i = 0; i < e->count; i++)
        if (!zs_dbg_holds(c, v, e->reads[i].at_B, e->reads[i].size_B))
            return unavailable(c, reused);
    return e->others ? unavailable(c, reused) : 0;
}

/* Pointers to local memory live in memory as 32 bits, and IGC names the register with their
 * addresses without the lane: the expression is that of lane 0, whose address is the first there.
 * Where those of all lanes stand behind each other *e and *ret become those of this lane. */
static void of_this_lane(const struct zs_dbg_context *c, const struct zs_variable *v,
                         struct zs_span expr, struct evaluation *e, struct zs_eval_result *ret)
{
    struct evaluation own = {.c = c, .lane_B = c->lane * 8};
    struct zs_eval_result place;
    if (!c->lane || e->others || e->count != 1 || e->reads[0].bits != 64 || ret->count != 1 ||
        ret->pieces[0].kind != ZS_PIECE_VALUE || ret->pieces[0].from_register ||
        c->frame->call->kernel->optimised ||
        !zs_dbg_holds_of_lane(c, v, e->reads[0].at_B + own.lane_B, 8) ||
        evaluate(&own, expr, v, c->lane, &place, NULL) || place.count != 1)
        return;
    *e = own;
    *ret = place;
}

/* IGC 1.0.17791 lets private variables of kernels without calls be 8 bytes from lane to lane, as
 * pointers are ("lane x lit8 +" ends the expression, which reads its base as IGC 2 has it); its
 * code has them as far apart as their type is large. */
static void step_by_size(const struct zs_dbg_context *c, const struct zs_variable *v,
                         struct zs_span expr, struct zs_eval_result *place)
{
    static const uint8_t by_eight[] = {0xed, 0x38, 0x1e, 0x22}; /* push_simd_lane lit8 mul plus */
    const size_t tail_B = sizeof(by_eight);
    struct zs_type type;
    bool is_so = expr.size_B > tail_B && place->pieces[0].kind == ZS_PIECE_MEMORY &&
                 memcmp(expr.data + expr.size_B - tail_B, by_eight, tail_B) == 0 &&
                 memchr(expr.data, 0xfe, expr.size_B) != NULL; /* regval_bits */
    if (is_so && stripped_type(c, v->type, &type) && type.size_B)
        place->pieces[0].gpu_va += c->lane * (type.size_B - 8);
}

int zs_dbg_locate(const struct zs_dbg_context *c, const struct zs_variable *v,
                  struct zs_eval_result *ret, struct zs_eval_result *ret_perhaps)
{
    const struct zs_dbg_kernel *k = c->frame->call->kernel;
    uint32_t offset_B = (uint32_t)(c->frame->call->va - k->va);
    memset(ret, 0, sizeof(*ret));
    memset(ret_perhaps, 0, sizeof(*ret_perhaps));
    if (v->location_kind == ZS_LOCATION_NONE)
        return zs_diag_set(c->diag, -ENODATA, ZS_DIAG_NO_OFFSET, "not available: optimised away");
    if (v->location_kind == ZS_LOCATION_CONST || v->location_kind == ZS_LOCATION_VALUE) {
        ret->count = 1;
        ret->pieces[0] =
            (struct zs_piece){.kind = ZS_PIECE_BYTES, .bytes = zs_variable_const(k->info, v)};
        if (is_constant_type(c, v->type))
            return 0;
        *ret_perhaps = *ret;
        return unavailable(c, first_value);
    }
    struct zs_location_iterator it = zs_variable_locations(k->info, v);
    struct zs_location location;
    while (zs_location_next(&it, &location)) {
        if (offset_B < location.range.begin_B || offset_B >= location.range.end_B)
            continue;
        if (!location.expr.size_B)
            break;
        struct evaluation e = {.c = c};
        struct zs_diag diag;
        zs_diag_clear(&diag);
        int error = evaluate(&e, location.expr, v, c->lane, ret, &diag);
        if (!error && ret->count) {
            step_by_size(c, v, location.expr, ret);
            of_this_lane(c, v, location.expr, &e, ret);
            const struct zs_eval_result place = *ret;
            error = check_place(c, v, &e, ret);
            if (error && k->optimised && !ret->pieces[0].wide)
                *ret_perhaps = place.pieces[0].wide ? *ret : place;
            return error;
        }
        return unavailable(c, error == -EOPNOTSUPP || error == -EINVAL || error == -E2BIG
                                  ? "its place is described in a way that is not understood"
                              : diag.text[0] ? diag.text
                                             : "its place is empty");
    }
    return zs_diag_set(c->diag, -ENODATA, ZS_DIAG_NO_OFFSET, "not available here");
}

/* ---- bits of a value ---- */

struct run {
    const struct zs_piece *piece;
    uint64_t at_bits; /* in the piece */
    uint32_t bits;
};

/* The piece that has a bit of the object, and how many of those behind it. */
static bool find_run(const struct zs_dbg_value *v, uint64_t bit, uint64_t bits, struct run *ret)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < v->place.count; i++) {
        const struct zs_piece *p = &v->place.pieces[i];
        uint64_t size = p->size_bits ? p->size_bits : UINT64_MAX / 2;
        if (bit < at + size) {
            uint64_t left = at + size - bit;
            *ret = (struct run){p, bit - at, (uint32_t)ZS_MIN(ZS_MIN(left, bits), 64u)};
            return true;
        }
        at += size;
    }
    return false;
}

static int read_run(const struct zs_dbg_context *c, const struct run *r, uint64_t *ret)
{
    const struct zs_piece *p = r->piece;
    uint8_t bytes[16];
    uint64_t va, bit;
    switch (p->kind) {
    case ZS_PIECE_REGISTER:
        return zs_dbg_read_register(c->d, c->thread, c->frame ? c->frame->call : NULL,
                                    p->dwarf_register, p->bit_offset + r->at_bits, r->bits, ret);
    case ZS_PIECE_MEMORY: {
        bit = p->bit_offset + r->at_bits;
        enum zs_debug_space space = zs_dbg_space_of(c->d, c->thread, p->gpu_va, &va);
        if (zs_dbg_read(c->d, c->thread, space, va + bit / 8, bytes, (bit % 8 + r->bits + 7) / 8))
            return -EFAULT;
        *ret = bits_of(bytes, bit % 8, r->bits);
        return 0;
    }
    case ZS_PIECE_VALUE:
        if (r->at_bits + r->bits > 64)
            return -ENODATA;
        *ret = p->value >> r->at_bits;
        if (r->bits < 64)
            *ret &= (UINT64_C(1) << r->bits) - 1;
        return 0;
    case ZS_PIECE_BYTES:
        if (r->at_bits + r->bits > p->bytes.size_B * 8)
            return -ENODATA;
        *ret = bits_of(p->bytes.data, r->at_bits, r->bits);
        return 0;
    default:
        return -ENODATA;
    }
}

/* Whole objects in memory at once. */
static bool read_plain(const struct zs_dbg_value *v, uint8_t *ret, size_t size_B, int *ret_error)
{
    const struct zs_piece *p = &v->place.pieces[0];
    uint64_t va, bit = p->bit_offset + v->at_bits;
    if (v->place.count != 1 || p->kind != ZS_PIECE_MEMORY || bit % 8)
        return false;
    enum zs_debug_space space = zs_dbg_space_of(v->context.d, v->context.thread, p->gpu_va, &va);
    *ret_error = zs_dbg_read(v->context.d, v->context.thread, space, va + bit / 8, ret, size_B);
    return true;
}

int zs_dbg_place_read(const struct zs_dbg_value *v, uint8_t *ret, size_t size_B)
{
    uint64_t bits = v->bit_size ? v->bit_size : size_B * 8u, done = 0, value;
    int error = 0;
    memset(ret, 0, size_B);
    if (!v->bit_size && read_plain(v, ret, size_B, &error))
        return error;
    while (done < bits && !error) {
        struct run r;
        if (!find_run(v, v->at_bits + done, bits - done, &r))
            return -ENODATA;
        error = read_run(&v->context, &r, &value);
        if (!error)
            put_bits(ret, done, r.bits, value);
        done += r.bits;
    }
    return error;
}

static int write_run(const struct zs_dbg_context *c, const struct run *r, uint64_t value)
{
    const struct zs_piece *p = r->piece;
    uint8_t bytes[16];
    uint64_t va, bit = p->bit_offset + r->at_bits;
    if (p->kind == ZS_PIECE_REGISTER || (p->kind == ZS_PIECE_VALUE && p->from_register))
        return write_register(c, p->dwarf_register, bit, r->bits, value);
    if (p->kind != ZS_PIECE_MEMORY)
        return -EACCES;
    enum zs_debug_space space = zs_dbg_space_of(c->d, c->thread, p->gpu_va, &va);
    size_t size_B = (bit % 8 + r->bits + 7) / 8;
    int error = zs_dbg_read(c->d, c->thread, space, va + bit / 8, bytes, size_B);
    put_bits(bytes, bit % 8, r->bits, value);
    return error ? error : zs_dbg_write(c->d, c->thread, space, va + bit / 8, bytes, size_B);
}

int zs_dbg_place_write(const struct zs_dbg_value *v, const uint8_t *bytes, size_t size_B)
{
    uint64_t bits = v->bit_size ? v->bit_size : size_B * 8u, done = 0;
    int error = 0;
    while (done < bits && !error) {
        struct run r;
        if (!find_run(v, v->at_bits + done, bits - done, &r))
            return -EACCES;
        error = write_run(&v->context, &r, bits_of(bytes, done, r.bits));
        done += r.bits;
    }
    return error;
}
