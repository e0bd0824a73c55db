/* SPDX-License-Identifier: MIT */
/*
 * Modes of floats: rounding and denormals, as cr0 says. A function runs in those that its program
 * starts with. Where cr0 asks for others for a while (divisions of integers do, by double floats
 * that are rounded toward zero), the host's modes change for so long; LLVM thinks that they never
 * do, and must neither move what depends on them in or out, nor fold it. So such a stretch is
 * between branches, operands and results go through empty assembly, which keeps its place, and
 * what others compute for it is there before it begins. Where there is no such stretch, the
 * interpreter's handlers run what depends on modes, in line.
 */
#include "eu/tier/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE(...) zs_eu_emit_value(e, __VA_ARGS__)
#define LINE(...)  zs_eu_emit_line(e, __VA_ARGS__)

enum {
    BITS = 0xff,               /* of cr0, if they are known */
    CARES = 0x5 | 0x30 | 0xc0, /* modes, rounding, denormals */
    KNOWN = 0x100,
    USUAL = 0x200, /* the modes are those that the program starts with */
    REACHED = 0x400,
};
enum { CSR_FLUSH = 0x8040, CSR_ROUNDS = 0x6000 };

static uint32_t half(const struct zs_eu_emit *e)
{
    return e->segment_count / 2;
}

bool zs_eu_emit_modes_plain(const struct zs_eu_emit *e)
{
    uint32_t csr = e->p->host_csr[0] | e->p->host_csr[1];

    return !e->changes_modes && !(csr & (CSR_FLUSH | CSR_ROUNDS));
}

static bool is_usual(const struct zs_eu_emit *e, uint32_t cr0)
{
    uint32_t csr[2];

    zs_eu_host_modes(cr0, csr);
    return !(cr0 & 0x5) && csr[0] == e->p->host_csr[0] && csr[1] == e->p->host_csr[1];
}

static uint32_t usual_bits(const struct zs_eu_emit *e)
{
    uint32_t bits = 0;

    while (bits < BITS && !is_usual(e, bits))
        bits += 0x10;
    return bits;
}

/* ---- what is known ---- */

/* A scalar operation's constant source beside cr0; false: it has none. */
static bool constant_beside(const struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t *ret)
{
    uint32_t at = ZS_EU_OFFSET(cr0), other = op->src[0] == at ? op->src[1] : op->src[0];
    const uint8_t *value = zs_eu_emit_constant_at(e, other, sizeof(*ret));

    if (!value || (op->src[0] != at && op->src[1] != at))
        return false;
    memcpy(ret, value, sizeof(*ret));
    return true;
}

static bool writes_control(const struct zs_eu_op *op)
{
    uint32_t at = ZS_EU_OFFSET(cr0), size_B = 32;

    if (op->kind < ZS_EU_ROW_COUNT)
        size_B = zs_eu_row_infos[op->kind].dst_B *
                 (op->cls == ZS_EU_CLASS_N1 ? 1 : UINT32_C(8) * op->chunks);
    else if (op->kind != ZS_EU_KIND_GATHER && op->kind != ZS_EU_KIND_SCATTER &&
             op->kind != ZS_EU_KIND_GATHER_REGION && op->kind != ZS_EU_KIND_SCATTER_REGION)
        return false;
    return op->dst < at + 4 && op->dst + size_B > at;
}

uint16_t zs_eu_emit_modes_behind(const struct zs_eu_emit *e, const struct zs_eu_op *op,
                                 uint16_t mode)
{
    uint32_t all = ZS_EU_OFFSET(all_ones), with;
    bool always = op->predicate == all && !op->pred_xor && op->enables == all && op->lanes & 1;

    if (!e->modes || !writes_control(op))
        return mode;
    bool known = mode & KNOWN && always && op->cls == ZS_EU_CLASS_N1 &&
                 op->dst == ZS_EU_OFFSET(cr0) && constant_beside(e, op, &with);
    mode &= (uint16_t)~KNOWN;
    if (!known)
        return mode & (uint16_t)~BITS;
    if (op->kind == ZS_EU_ROW_OR_32)
        mode |= with & BITS;
    else if (op->kind == ZS_EU_ROW_XOR_32)
        mode ^= with & BITS;
    else if (op->kind == ZS_EU_ROW_AND_32)
        mode &= (uint16_t)(with | ~(uint32_t)BITS);
    else
        return mode & (uint16_t)~BITS;
    return mode | KNOWN;
}

/* Behind a write: other bits than those that are looked for leave the function. */
static uint16_t behind_control(const struct zs_eu_emit *e, uint16_t mode)
{
    uint32_t bits = mode & KNOWN ? mode & BITS : usual_bits(e);

    return (uint16_t)(REACHED | KNOWN | bits | (is_usual(e, bits) ? USUAL : 0));
}

static bool meet(uint16_t *to, uint16_t from)
{
    uint16_t before = *to;

    if (!(before & REACHED))
        *to = from;
    else if ((before & (KNOWN | BITS)) != (from & (KNOWN | BITS)))
        *to = REACHED | (before & from & USUAL);
    else
        *to = before & (uint16_t)(from | ~USUAL);
    return *to != before;
}

static bool flow(struct zs_eu_emit *e, uint32_t number, uint16_t *waiting)
{
    const struct zs_eu_emit_segment *s = &e->segments[number];
    uint32_t to[ZS_EU_EMIT_SUCCESSORS];
    uint16_t mode = e->modes[number];
    bool changed = false, parts = false;
    unsigned count;

    for (uint32_t i = s->first; i < s->end; i++) {
        const struct zs_eu_op *op = &e->p->ops[i];
        mode = zs_eu_emit_modes_behind(e, op, mode);
        if (op->kind == ZS_EU_KIND_CONTROL_REGISTER) {
            e->changes_modes |= !(mode & USUAL);
            mode = behind_control(e, mode);
            e->changes_modes |= !(mode & USUAL);
        }
        parts |= op->kind == ZS_EU_KIND_BRANCH || op->kind == ZS_EU_KIND_GOTO ||
                 op->kind == ZS_EU_KIND_JUMP_UNIFORM || op->kind == ZS_EU_KIND_CALL ||
                 op->kind == ZS_EU_KIND_RET;
    }
    bool anywhere = !zs_eu_emit_successors(e, number, to, &count);
    for (unsigned i = 0; i < count; i++)
        changed |= meet(&e->modes[to[i]], mode);
    /* lanes that wait run on when others are through with something else */
    if (anywhere || parts)
        changed |= meet(waiting, mode);
    for (uint32_t i = 0; i < half(e); i++) {
        if (*waiting & REACHED && (anywhere || e->joins[e->segments[i].block]))
            changed |= meet(&e->modes[i], *waiting);
    }
    return changed;
}

int zs_eu_emit_find_modes(struct zs_eu_emit *e)
{
    uint32_t writes = 0;
    uint16_t waiting = 0;
    bool more = true;

    for (uint32_t i = 0; i < e->p->op_count; i++)
        writes += e->p->ops[i].kind == ZS_EU_KIND_CONTROL_REGISTER;
    if (!writes)
        return 0;
    e->modes = calloc(half(e), sizeof(*e->modes));
    if (!e->modes)
        return -ENOMEM;
    e->modes[e->block_segment[e->p->entry_block]] = REACHED | KNOWN | USUAL; /* cr0 is zero */
    while (more) {
        more = false;
        for (uint32_t i = 0; i < half(e); i++)
            more |= e->modes[i] & REACHED && flow(e, i, &waiting);
    }
    return 0;
}

uint16_t zs_eu_emit_modes_at(const struct zs_eu_emit *e, uint32_t segment)
{
    return e->modes ? e->modes[segment % half(e)] : USUAL;
}

/* ---- what is written ---- */

static bool has_modes(const struct zs_eu_op *op)
{
    return op->kind < ZS_EU_ROW_COUNT && zs_eu_row_infos[op->kind].mode != ZS_EU_MODE_PLAIN;
}

bool zs_eu_emit_modes_fold(const struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    uint32_t flush = (e->p->host_csr[0] | e->p->host_csr[1]) & CSR_FLUSH;

    return !has_modes(op) || (!flush && !e->rounds);
}

unsigned zs_eu_emit_modes_keep(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned value,
                               unsigned size_B)
{
    const char *how = e->rounds ? "sideeffect " : "";
    unsigned bits = 8 * size_B, part[2];

    if (zs_eu_emit_modes_fold(e, op))
        return value;
    if (size_B < 8)
        return VALUE("call <8 x i%u> asm %s\"\", \"=x,0\"(<8 x i%u> %%v%u)", bits, how, bits,
                     value);
    value = VALUE("bitcast <8 x i64> %%v%u to <16 x i32>", value);
    for (unsigned i = 0; i < 2; i++)
        part[i] = VALUE("call <8 x i32> asm %s\"\", \"=x,0\"(<8 x i32> %%v%u)", how,
                        zs_eu_emit_half(e, value, 4, i));
    return VALUE("bitcast <16 x i32> %%v%u to <8 x i64>", zs_eu_emit_join(e, part[0], part[1], 4));
}

/* Conversions of which denormals are no arguments and no results, or as good as zero. */
static bool has_no_denormals(unsigned row)
{
    return row == ZS_EU_ROW_S32_F32 || row == ZS_EU_ROW_U32_F32 || row == ZS_EU_ROW_S32_F64 ||
           row == ZS_EU_ROW_U32_F64 || row == ZS_EU_ROW_F32_S32 || row == ZS_EU_ROW_F32_U32;
}

bool zs_eu_emit_modes_fit(const struct zs_eu_emit *e, const struct zs_eu_op *op)
{
    uint32_t single = e->p->host_csr[0], both = e->p->host_csr[1];

    if (!has_modes(op) || e->rounds)
        return true;
    unsigned mode = zs_eu_row_infos[op->kind].mode;
    if (!(e->mode & USUAL) || single & CSR_ROUNDS)
        return false;
    if (mode == ZS_EU_MODE_DOUBLE)
        return single == both;
    return mode == ZS_EU_MODE_SINGLE || !(single & CSR_FLUSH) || has_no_denormals(op->kind);
}

static void set_modes(struct zs_eu_emit *e, const uint32_t csr[2])
{
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(host_csr), VALUE("add i32 0, %u", csr[0]));
    zs_eu_emit_set_field(e, ZS_EU_OFFSET(host_csr_double), VALUE("add i32 0, %u", csr[1]));
}

/* ---- a stretch in other modes ---- */

/* Operations from one on, up to where the modes are the usual ones again, all of which stand in one
 * place; 0: there is none. */
static uint32_t stretch_end(const struct zs_eu_emit *e, uint32_t first)
{
    uint16_t mode = e->mode;

    for (uint32_t i = first; i < e->segments[e->segment].end; i++) {
        const struct zs_eu_op *op = &e->p->ops[i];
        mode = zs_eu_emit_modes_behind(e, op, mode);
        switch (op->kind) {
        case ZS_EU_KIND_CONTROL_REGISTER:
            return behind_control(e, mode) & USUAL ? i : 0;
        case ZS_EU_KIND_GATHER:
        case ZS_EU_KIND_SCATTER:
        case ZS_EU_KIND_PREDICATE:
        case ZS_EU_KIND_HOP:
            break;
        default:
            if (op->kind >= ZS_EU_ROW_COUNT || !zs_eu_emit_can_row(op) || zs_eu_emit_is_limited(op))
                return 0;
        }
    }
    return 0;
}

static void compute_unit(struct zs_eu_emit *e, uint32_t unit)
{
    bool words = e->kind[unit] == ZS_EU_EMIT_WORDS;

    for (uint32_t i = unit * 8; words && i < unit * 8 + 8; i++) {
        if (e->word_used[i] && i * 4 >= ZS_EU_EMIT_HEAD_B)
            LINE("call void asm sideeffect \"\", \"r\"(i32 %%v%u)", zs_eu_emit_word(e, i * 4));
    }
    if (!words && e->used[e->kind[unit] == ZS_EU_EMIT_HIGH ? unit - 1 : unit])
        LINE("call void asm sideeffect \"\", \"x\"(<8 x i32> %%v%u)",
             zs_eu_emit_read(e, unit * 32, 4, 8));
}

/* Units that bytes are in, or that they fill. */
static void mark(struct zs_eu_emit_set *set, uint32_t at, uint32_t size_B, bool whole)
{
    for (uint32_t unit = at / 32; size_B && unit <= (at + size_B - 1) / 32; unit++) {
        if (unit < ZS_EU_EMIT_UNITS &&
            (!whole || (unit * 32 >= at && unit * 32 + 32 <= at + size_B)))
            zs_eu_emit_add(set, unit);
    }
}

/* Whether a row's result goes where there was something that is still read. */
static bool keeps_old(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned size_B)
{
    unsigned lanes = 8u * op->chunks;

    if (op->cls == ZS_EU_CLASS_N1)
        return true;
    if (op->enables != ZS_EU_OFFSET(ce) || e->segments[e->segment].full)
        return zs_eu_emit_partly(op, 0, lanes);
    zs_eu_emit_lanes_at(e, op, op->dst, size_B);
    bool keeps = zs_eu_emit_keeps(e, op, op->dst, lanes * size_B, 0, lanes);
    zs_eu_emit_lanes_end(e);
    return keeps;
}

/* What is read or blended there has been computed before, or LLVM may do it there. */
static void compute(struct zs_eu_emit *e, uint32_t first, uint32_t end)
{
    struct zs_eu_emit_set units = {{0}}, own = {{0}};

    for (uint32_t i = first; i < end && !e->dry; i++) {
        const struct zs_eu_op *op = &e->p->ops[i];
        struct zs_eu_emit_set reads = {{0}};
        bool is_row = op->kind < ZS_EU_ROW_COUNT;
        bool moves = op->kind == ZS_EU_KIND_GATHER || op->kind == ZS_EU_KIND_SCATTER;
        bool writes = is_row && (zs_eu_row_infos[op->kind].form != ZS_EU_FORM_CMP || op->arg);
        uint32_t lanes = 8u * op->chunks, dst_B = writes ? zs_eu_row_infos[op->kind].dst_B : 0;
        for (unsigned s = 0; s < 3; s++) {
            uint32_t src_B = is_row ? zs_eu_row_infos[op->kind].src_B[s] : 0;
            bool one = op->cls == ZS_EU_CLASS_N1 || op->cls >> s & 1;
            mark(&reads, op->src[s], src_B * (one ? 1 : lanes), false);
        }
        if (moves) {
            mark(&reads, op->src[0], op->src[1] * lanes, false);
            mark(&reads, op->dst, op->src[1] * lanes, false);
        } else if (dst_B && keeps_old(e, op, dst_B)) {
            mark(&reads, op->dst, dst_B * lanes, false);
        }
        for (unsigned k = 0; k < ZS_EU_EMIT_SET; k++)
            units.bits[k] |= reads.bits[k] & ~own.bits[k];
        if (op->cls != ZS_EU_CLASS_N1)
            mark(&own, op->dst, dst_B * lanes, true);
    }
    e->quiet++;
    zs_eu_emit_each_unit(e, &units, compute_unit);
    e->quiet--;
}

static void set_host(struct zs_eu_emit *e, const char *base, uint64_t at)
{
    LINE("call void @llvm.x86.sse.ldmxcsr(i8* %%v%u)",
         VALUE("getelementptr i8, i8* %s, i64 %llu", base, (unsigned long long)at));
}

/* LLVM cannot know that the thread's field is so. */
static void branch_apart(struct zs_eu_emit *e, uint32_t csr, unsigned yes, unsigned no)
{
    unsigned at = zs_eu_emit_address(e, "%t", ZS_EU_OFFSET(host_csr), "i32");
    unsigned is = VALUE("load volatile i32, i32* %%v%u", at);

    zs_eu_emit_branch(e, VALUE("icmp eq i32 %%v%u, %u", is, csr), yes, no, 1);
    zs_eu_emit_put_label(e, yes);
}

void zs_eu_emit_modes_again(struct zs_eu_emit *e)
{
    if (e->rounds)
        set_host(e, "%t", ZS_EU_OFFSET(host_csr));
}

/* Comparisons do not depend on that: LLVM may move them where it likes. */
static bool only_rounds(const struct zs_eu_emit *e, const uint32_t csr[2])
{
    return csr[0] == csr[1] && !((csr[0] ^ e->p->host_csr[0]) & CSR_FLUSH) &&
           e->p->host_csr[0] == e->p->host_csr[1];
}

void zs_eu_emit_control(struct zs_eu_emit *e, uint32_t index)
{
    unsigned go_on = zs_eu_emit_label(e), leave = zs_eu_emit_label(e), apart = zs_eu_emit_label(e);
    unsigned bits = VALUE("and i32 %%v%u, %d", zs_eu_emit_word(e, ZS_EU_OFFSET(cr0)), CARES);
    uint16_t before = e->mode;
    uint32_t csr[2], end;

    e->mode = behind_control(e, before);
    bits = VALUE("icmp eq i32 %%v%u, %d", bits, e->mode & BITS & CARES);
    zs_eu_emit_branch(e, bits, go_on, leave, 1);
    zs_eu_emit_put_label(e, leave);
    zs_eu_emit_leave(e, index);
    zs_eu_emit_put_label(e, go_on);
    if (before & e->mode & USUAL)
        return;
    zs_eu_host_modes(e->mode & BITS, csr);
    set_modes(e, csr);
    if (e->rounds) {
        set_host(e, "%program", offsetof(struct zs_eu_program, host_csr));
        e->rounds = false;
        branch_apart(e, csr[0], apart, leave);
    } else if (before & USUAL && only_rounds(e, csr) && (end = stretch_end(e, index + 1)) > 0) {
        compute(e, index + 1, end);
        e->rounds = true;
        branch_apart(e, csr[0], apart, leave);
        set_host(e, "%t", ZS_EU_OFFSET(host_csr));
    }
}

void zs_eu_emit_modes_end(struct zs_eu_emit *e)
{
    if (!(e->mode & USUAL))
        set_modes(e, e->p->host_csr);
}

void zs_eu_emit_modes_leave(struct zs_eu_emit *e)
{
    if (e->changes_modes)
        VALUE("call coldcc i32 @zs_modes(i8* %%t) #3");
}
