/* SPDX-License-Identifier: MIT */
/*
 * Control flow, sends, faults, and the loop that runs a thread.
 *
 * Every lane has a place. Lanes whose place is the running block are t->ce; the others are
 * t->waiting, and key[lane] is their place: 12 bits that fall with the call depth, then 20 bits
 * of block number. The lanes with the least key run: deepest call first, then lowest address.
 * Structured code and IGC's goto/join code always joins at or behind the branch, so nothing is
 * ever run twice that a reconverging machine would run once. JIPs need no attention but for where
 * lanes go.
 *
 * While no lane waits, a branch that all running lanes take alike is one comparison. merge_block
 * is where the least waiting key lies when it has the running call depth: a block start compares
 * its number with it, and nothing else.
 */
#include "eu/control.h"

#include "dataport/dataport.h"
#include "eu/lower/send_lower.h"
#include "eu/tier/tier_priv.h"

#include <errno.h>
#include <smmintrin.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_BITS = ZS_EU_BLOCK_BITS, DEPTH_MAX = ZS_EU_DEPTHS - 1 };
#define BLOCK_MASK ZS_EU_BLOCK_MASK
#define NO_BLOCK   UINT32_MAX
enum { SR0_START = 7u << 24 }; /* fixed function: GPGPU */

/* In the version for the lanes that run. */
static const struct zs_eu_op *block_start(const struct zs_eu_thread *t, uint32_t block)
{
    const struct zs_eu_program *p = t->program;

    return &p->ops[p->block_op[block] + (t->ce == p->full_ce ? p->op_count : 0)];
}

/* ---- faults ---- */

enum zs_eu_status zs_eu_fault_set(struct zs_eu_thread *t, enum zs_eu_fault_kind kind,
                                  const char *format, ...)
{
    const struct zs_eu_program *program = t->program;
    struct zs_eu_fault *fault = &t->fault;
    va_list args;

    if (fault->kind != ZS_EU_FAULT_NONE)
        return ZS_EU_FAULT;
    fault->kind = kind;
    fault->lanes = t->ce;
    fault->inst = t->current ? t->current->inst : 0;
    if (fault->inst < program->inst_count) {
        const struct zs_eu_inst *inst = &program->insts[fault->inst];
        fault->offset_B = inst->offset_B;
        fault->raw[0] = inst->raw[0];
        fault->raw[1] = inst->raw[1];
    } else {
        fault->offset_B = program->code_B;
    }
    va_start(args, format);
    vsnprintf(fault->text, sizeof(fault->text), format, args);
    va_end(args);
    return ZS_EU_FAULT;
}

/* aux: index of the fault; arg: even if no lane is active. */
const struct zs_eu_op *zs_eu_op_fault(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_program_fault *fault = &t->program->faults.items[op->aux];

    if (!op->arg && !zs_eu_active(t, op))
        return op + 1;
    t->current = op;
    t->status = zs_eu_fault_set(t, fault->kind, "%s", fault->text);
    return NULL;
}

/* ---- places of lanes ---- */

/* What block starts count while `ce` runs. */
static void count_lanes(struct zs_eu_thread *t)
{
    uint32_t lanes = t->ce; /* of each byte how many are on */

    lanes -= lanes >> 1 & 0x55555555;
    lanes = (lanes & 0x33333333) + (lanes >> 2 & 0x33333333);
    lanes = (lanes + (lanes >> 4)) & 0x0f0f0f0f;
    t->block_count[0] = 1 | (uint64_t)(lanes & 0xff) << ZS_EU_PACKED_LOW |
                        (uint64_t)(lanes >> 8 & 0xff) << ZS_EU_PACKED_HIGH;
    t->block_count[1] = (lanes >> 16 & 0xff) | (uint64_t)(lanes >> 24) << 32;
}

/* Keys of four lanes from `lane` on; all ones for those that are not among `lanes`. */
static inline __m128i keys_at(const struct zs_eu_thread *t, uint32_t lanes, unsigned lane)
{
    const __m128i bits = _mm_set_epi32(8, 4, 2, 1);
    __m128i mine = _mm_and_si128(_mm_set1_epi32((int)(lanes >> lane)), bits);
    __m128i others = _mm_cmpeq_epi32(mine, _mm_setzero_si128());

    return _mm_or_si128(_mm_load_si128((const __m128i *)(const void *)(t->key + lane)), others);
}

/* The least key of some lanes. */
static uint32_t least_key(const struct zs_eu_thread *t, uint32_t lanes)
{
    __m128i least = _mm_set1_epi32(-1);

    for (unsigned lane = 0; lane < ZS_EU_LANES_MAX && lanes >> lane; lane += 4)
        least = _mm_min_epu32(least, keys_at(t, lanes, lane));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, _MM_SHUFFLE(1, 0, 3, 2)));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint32_t)_mm_cvtsi128_si32(least);
}

/* Those of some lanes that have this key, which is not all ones. */
static uint32_t lanes_with(const struct zs_eu_thread *t, uint32_t lanes, uint32_t key)
{
    __m128i wanted = _mm_set1_epi32((int)key);
    uint32_t found = 0;

    for (unsigned lane = 0; lane < ZS_EU_LANES_MAX && lanes >> lane; lane += 4) {
        __m128i same = _mm_cmpeq_epi32(keys_at(t, lanes, lane), wanted);
        found |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(same)) << lane;
    }
    return found;
}

/* Lanes run: where the next ones join them. */
static void run_lanes(struct zs_eu_thread *t, uint32_t lanes)
{
    t->ce = lanes;
    t->waiting &= ~lanes;
    count_lanes(t);
    t->merge_block = NO_BLOCK;
    if (t->waiting) {
        uint32_t next = least_key(t, t->waiting);
        if ((next & ~BLOCK_MASK) == t->depth_key)
            t->merge_block = next & BLOCK_MASK;
    }
}

/* Let the lanes with the least key run. Every live lane waits, and there is one. */
static const struct zs_eu_op *run_least(struct zs_eu_thread *t)
{
    uint32_t least = least_key(t, t->waiting);

    t->depth_key = least & ~BLOCK_MASK;
    run_lanes(t, lanes_with(t, t->waiting, least));
    return block_start(t, least & BLOCK_MASK);
}

static void place(struct zs_eu_thread *t, uint32_t lanes, uint32_t key)
{
    const __m128i bits = _mm_set_epi32(8, 4, 2, 1), new = _mm_set1_epi32((int)key);

    t->waiting |= lanes;
    for (unsigned lane = 0; lane < ZS_EU_LANES_MAX && lanes >> lane; lane += 4) {
        __m128i *at = (__m128i *)(void *)(t->key + lane);
        __m128i mine = _mm_and_si128(_mm_set1_epi32((int)(lanes >> lane)), bits);
        _mm_store_si128(at, _mm_blendv_epi8(_mm_load_si128(at), new, _mm_cmpeq_epi32(mine, bits)));
    }
}

/* Running lanes: `taken` go to key, the others to the block behind. Mostly nobody waits in front of
 * the first of these blocks: whoever goes there runs on. */
static const struct zs_eu_op *split(struct zs_eu_thread *t, uint32_t taken, uint32_t key,
                                    uint32_t next_block)
{
    uint32_t rest = t->ce & ~taken, block = key & BLOCK_MASK, first = ZS_MIN(block, next_block);

    if (taken && rest && (key & ~BLOCK_MASK) == t->depth_key && block != next_block &&
        first < t->merge_block) {
        uint32_t last = ZS_MAX(block, next_block), stays = first == block ? taken : rest;
        place(t, t->ce & ~stays, t->depth_key | last);
        t->ce = stays;
        t->merge_block = ZS_MIN(t->merge_block, last);
        count_lanes(t);
        return block_start(t, first);
    }
    place(t, taken, key);
    place(t, rest, t->depth_key | next_block);
    return run_least(t);
}

/* Waiting lanes join at the start of their block: there again, perhaps in the other version. */
static const struct zs_eu_op *__attribute__((noinline))
merge(struct zs_eu_thread *t, uint32_t block)
{
    run_lanes(t, t->ce | lanes_with(t, t->waiting, t->depth_key | block));
    return block_start(t, block);
}

uint32_t zs_eu_lanes_absorb(struct zs_eu_thread *t, uint32_t *ret_lanes, const uint32_t *blocks,
                            uint32_t count, uint64_t *ret_open)
{
    uint32_t same, number;

    t->merge_block = NO_BLOCK;
    for (uint32_t left = t->waiting; left; left &= ~same) {
        uint32_t key = t->key[__builtin_ctz(left)], block = key & BLOCK_MASK;
        same = lanes_with(t, left, key);
        if ((key & ~BLOCK_MASK) != t->depth_key)
            continue;
        for (number = 0; number < count && blocks[number] < block;)
            number++;
        if (number < count && blocks[number] == block) {
            ret_lanes[number] = same;
            ret_open[number / 32] |= UINT64_C(2) << 2 * (number % 32);
            t->waiting &= ~same;
            continue;
        }
        t->merge_block = ZS_MIN(t->merge_block, block);
        if (number < count)
            ret_open[number / 32] |= UINT64_C(1) << 2 * (number % 32);
    }
    return 0;
}

uint32_t zs_eu_lanes_settle(struct zs_eu_thread *t, const uint32_t *lanes, const uint32_t *blocks,
                            uint32_t count, const uint64_t *open)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(open[i / 32] >> (2 * (i % 32) + 1) & 1))
            continue;
        place(t, lanes[i], t->depth_key | blocks[i]);
        t->merge_block = ZS_MIN(t->merge_block, blocks[i]);
    }
    return 0;
}

/* ---- block starts ---- */

/* Stop when the budget is used up; the block is then executed by the next run. aux: the number of
 * its instructions. */
static inline bool out_of_budget(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (ZS_UNLIKELY(t->budget <= 0)) {
        t->status = ZS_EU_BUDGET;
        t->resume = op;
        return true;
    }
    t->budget -= op->aux;
    return false;
}

/* next_block: index of the block's counters; pred_xor: of one of lanes among `full`, 0: there is
 * none. */
static inline void count_block(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (t->counters) {
        uint64_t *counter = t->counters + op->next_block;
        counter[0] += t->block_count[0];
        if (ZS_UNLIKELY(t->block_count[1])) /* SIMD32 alone has lanes above 15 */
            counter[1] += t->block_count[1];
        if (op->pred_xor)
            t->counters[op->pred_xor] += (unsigned)__builtin_popcount(t->ce & op->full);
    }
}

/* cls: the hook is told. */
const struct zs_eu_op *zs_eu_op_block(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (ZS_UNLIKELY(op->block == t->merge_block))
        return merge(t, op->block);
    if (out_of_budget(t, op))
        return NULL;
    if (op->arg)
        count_block(t, op);
    if (ZS_UNLIKELY(op->cls) && t->hooks && t->hooks->block)
        t->hooks->block(t, op->inst, op->aux);
    ZS_EU_NEXT(t, op);
}

/* ---- single steps ---- */

const struct zs_eu_op *zs_eu_op_step(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    bool asked = t->stopped;

    t->stopped = false;
    if (!asked && t->hooks && t->hooks->step && t->hooks->step(t, op->inst)) {
        t->stopped = true;
        t->status = ZS_EU_STOP;
        t->resume = op;
        return NULL;
    }
    ZS_EU_NEXT(t, op);
}

/* Instructions whose active lanes do not follow from the block's: aux is their counter. */
const struct zs_eu_op *zs_eu_op_lane_count(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (t->counters)
        t->counters[op->aux] += (unsigned)__builtin_popcount(zs_eu_active(t, op));
    ZS_EU_NEXT(t, op);
}

const struct zs_eu_op *zs_eu_op_hop(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    return op + 1;
}

/* ---- branches ---- */

/* All running lanes go to `block`. */
static const struct zs_eu_op *go(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (ZS_LIKELY(op->block <= t->merge_block))
        return op->jump;
    return split(t, t->ce, t->depth_key | op->block, op->next_block);
}

/* Lanes outside the instruction's channels stay. */
const struct zs_eu_op *zs_eu_op_branch(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t taken = zs_eu_active(t, op) << op->chan_offset, own = op->lanes << op->chan_offset;

    if (op->arg & ZS_EU_BRANCH_WHEN_FALSE)
        taken = own & ~taken;
    taken &= t->ce;
    if (op->arg & ZS_EU_BRANCH_TOGETHER && !(t->ce & own & ~taken))
        taken = t->ce;
    if (taken == 0 || (op->arg & ZS_EU_BRANCH_ALL_OR_NONE && taken != t->ce))
        ZS_EU_NEXT(t, op);
    if (ZS_LIKELY(taken == t->ce))
        ZS_EU_FOLLOW(t, go(t, op));
    return split(t, taken, t->depth_key | op->block, op->next_block);
}

/* goto.b: lanes whose predicate is true go to `block`, the others to `next_block`, which need not
 * be the one behind. Mostly all do the same: it closes loops. */
const struct zs_eu_op *zs_eu_op_goto(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t taken = zs_eu_active(t, op) << op->chan_offset & t->ce;

    if (taken == t->ce && op->block <= t->merge_block)
        ZS_EU_FOLLOW(t, op->jump);
    if (taken == 0 && op->next_block <= t->merge_block)
        ZS_EU_FOLLOW(t, block_start(t, op->next_block));
    return split(t, taken, t->depth_key | op->block, op->next_block);
}

/* jmpi: the whole thread goes when channel 0's predicate is true. aux: its counter, 0: none. */
const struct zs_eu_op *zs_eu_op_jump_uniform(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t taken = zs_eu_active(t, op) & 1;

    if (op->aux && t->counters)
        t->counters[op->aux] += taken;
    if (taken)
        ZS_EU_FOLLOW(t, go(t, op));
    ZS_EU_NEXT(t, op);
}

/* The block that starts at an address of the ip register's space, or NO_BLOCK after a fault. */
static uint32_t block_at(struct zs_eu_thread *t, const struct zs_eu_op *op, uint32_t ip_B)
{
    int64_t offset_B = zs_eu_program_offset(t->program, ip_B);
    uint32_t block =
        offset_B < t->program->code_B ? zs_eu_block_at(t->program, offset_B) : NO_BLOCK;

    if (block != NO_BLOCK)
        return block;
    t->current = op;
    t->status =
        zs_eu_fault_set(t, ZS_EU_FAULT_TARGET,
                        "computed jump to 0x%x, where no block of the code starts", (unsigned)ip_B);
    return NO_BLOCK;
}

/* Lanes that run are the deepest: nobody else is where a call goes, so a depth has one return. */
static bool deeper(struct zs_eu_thread *t, const struct zs_eu_op *op, uint32_t return_ip_B,
                   uint32_t *ret_depth_key)
{
    if (t->depth_key == 0) {
        t->current = op;
        t->status = zs_eu_fault_set(t, ZS_EU_FAULT_STACK, "more than %d nested calls", DEPTH_MAX);
        return false;
    }
    *ret_depth_key = t->depth_key - (1u << BLOCK_BITS);
    t->return_ip_B[*ret_depth_key >> BLOCK_BITS] = return_ip_B;
    return true;
}

static bool is_outermost(const struct zs_eu_thread *t)
{
    return t->depth_key == (uint32_t)DEPTH_MAX << BLOCK_BITS;
}

/*
 * jmpi with a register: how function pointers are called, how such functions return, and how a
 * table of jumps is entered that stands behind it. src[0]: the distance, aux: the place behind,
 * where a call returns to, src[1]: bytes of the table, src[2]: how far before aux the distance
 * begins.
 */
const struct zs_eu_op *zs_eu_op_jump_register(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t target_B = op->aux - op->src[2] + zs_eu_word(t, op->src[0]), depth_key;

    if (!(zs_eu_active(t, op) & 1))
        return op + 1;
    uint32_t block = block_at(t, op, target_B);
    if (block == NO_BLOCK)
        return NULL;
    if (target_B - op->aux < op->src[1])
        depth_key = t->depth_key;
    else if (!is_outermost(t) && t->return_ip_B[t->depth_key >> BLOCK_BITS] == target_B)
        depth_key = t->depth_key + (1u << BLOCK_BITS);
    else if (!deeper(t, op, op->aux, &depth_key))
        return NULL;
    return split(t, t->ce, depth_key | block, 0);
}

/* Lanes `taken` go to `block`, those that stay to `next_block`. arg: has a destination, at byte
 * offset aux. */
static const struct zs_eu_op *call(struct zs_eu_thread *t, const struct zs_eu_op *op,
                                   uint32_t taken, uint32_t block, uint32_t next_block)
{
    const struct zs_eu_program *program = t->program;
    const struct zs_eu_inst *inst = &program->insts[op->inst];
    uint32_t link[2] = {zs_eu_program_ip(program, inst->offset_B) + inst->size_B, t->ce};
    uint32_t depth_key;

    if (!deeper(t, op, link[0], &depth_key))
        return NULL;
    if (op->arg)
        memcpy((uint8_t *)t + op->aux, link, sizeof(link));
    if (ZS_UNLIKELY(taken != t->ce))
        return split(t, taken, depth_key | block, next_block);
    /* they stay the deepest: whoever waits does so at depths above */
    t->depth_key = depth_key;
    t->merge_block = NO_BLOCK;
    return block_start(t, block);
}

const struct zs_eu_op *zs_eu_op_call(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t taken = zs_eu_active(t, op) << op->chan_offset & t->ce;

    return taken ? call(t, op, taken, op->block, op->next_block) : op + 1;
}

/* src[0]: where the target is, relative to dst; src[1]: the block behind. */
const struct zs_eu_op *zs_eu_op_call_register(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t taken = zs_eu_active(t, op) << op->chan_offset & t->ce;

    if (taken == 0)
        return op + 1;
    uint32_t block = block_at(t, op, op->dst + zs_eu_word(t, op->src[0]));
    return block == NO_BLOCK ? NULL : call(t, op, taken, block, op->src[1]);
}

/* src[0]: where the return address is. aux: the block behind. */
const struct zs_eu_op *zs_eu_op_ret(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t taken = zs_eu_active(t, op) << op->chan_offset & t->ce;

    if (taken == 0)
        return op + 1;
    uint32_t block = block_at(t, op, zs_eu_word(t, op->src[0]));
    if (block == NO_BLOCK)
        return NULL;
    uint32_t depth_key = is_outermost(t) ? t->depth_key : t->depth_key + (1u << BLOCK_BITS);
    if (ZS_UNLIKELY(taken != t->ce || t->waiting))
        return split(t, taken, depth_key | block, op->aux);
    t->depth_key = depth_key;
    return block_start(t, block);
}

/* arg: which notification register, and whether it keeps what it has. */
const struct zs_eu_op *zs_eu_op_wait(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t *n0 = &t->n0[op->arg & ~ZS_EU_WAIT_LEAVES];

    if (*n0 == 0) {
        t->awaited_barrier = 0;
        t->status = ZS_EU_BARRIER;
        t->resume = op;
        return NULL;
    }
    zs_eu_reached(t);
    *n0 -= !(op->arg & ZS_EU_WAIT_LEAVES);
    return op + 1;
}

/* In front of a dpasw. src[0]: what this thread has of src2, src[1], src[2]: bytes of the even and
 * of the odd thread. */
const struct zs_eu_op *zs_eu_op_pair(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (!t->paired) {
        t->current = op;
        t->status = ZS_EU_PAIR;
        t->resume = op;
        return NULL;
    }
    t->paired = false;
    return op + 1;
}

int zs_eu_thread_pair(struct zs_eu_thread *even, struct zs_eu_thread *odd)
{
    const struct zs_eu_thread *waits = even->status == ZS_EU_PAIR ? even : odd;
    const struct zs_eu_op *op = waits->resume;
    uint32_t a = zs_eu_thread_place(even), b = zs_eu_thread_place(odd);

    zs_assert(waits->status == ZS_EU_PAIR);
    if (a >= even->program->inst_count || b >= odd->program->inst_count ||
        even->program->insts[a].offset_B != odd->program->insts[b].offset_B)
        return -EINVAL;
    memcpy(even->pair, (const uint8_t *)even + op->src[0], op->src[1]);
    memcpy(even->pair + op->src[1], (const uint8_t *)odd + op->src[0], op->src[2]);
    memcpy(odd->pair, even->pair, op->src[1] + op->src[2]);
    even->paired = odd->paired = true;
    return 0;
}

/* arg: which named barrier. */
const struct zs_eu_op *zs_eu_op_wait_named(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    if (!(t->passed_barriers >> op->arg & 1)) {
        t->awaited_barrier = op->arg;
        t->status = ZS_EU_BARRIER;
        t->resume = op;
        return NULL;
    }
    t->passed_barriers &= ~(1u << op->arg);
    return op + 1;
}

const struct zs_eu_op *zs_eu_op_end(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    t->current = op;
    t->status = zs_eu_fault_set(t, ZS_EU_FAULT_RUNAWAY, "execution ran past the end of the code");
    return NULL;
}

/* ---- sends ---- */

/* A descriptor from a0: lowered now, or found among the instruction's last two. NULL after a fault.
 */
static const struct zs_eu_send *dynamic_send(struct zs_eu_thread *t,
                                             const struct zs_eu_program_send *from)
{
    struct zs_eu_send send = from->send;
    size_t first = (size_t)(from - t->program->sends.items) * 2 % ZS_EU_SEND_CACHE, slot;
    struct zs_diag diag;
    const uint8_t *a0 = (const uint8_t *)t->a0;

    if (send.d.is_e64) {
        send.d.ex_desc = (uint32_t)t->s0[from->ex_desc_a0] & ~63u;
        send.d.sampler_state = from->sampler_is_reg ? (uint32_t)t->s0[from->sampler_s0] : 0;
    } else if (from->desc_is_reg) {
        memcpy(&send.d.desc, a0 + from->desc_a0 * 4, 4);
    }
    if (from->ex_desc_is_reg && !send.d.is_e64) {
        memcpy(&send.d.ex_desc, a0 + from->ex_desc_a0 * 4, 4);
        if (from->sfid_in_ex_desc)
            send.d.sfid = send.d.ex_desc & 15;
        send.d.ex_desc = (send.d.ex_desc & ~32u) | (from->send.d.ex_desc & 32u);
    }
    for (slot = first; slot < first + 2; slot++) {
        const struct zs_eu_send *cached = &t->send_cache[slot];
        if (t->send_cached >> slot & 1 && cached->d.inst == send.d.inst &&
            cached->d.desc == send.d.desc && cached->d.ex_desc == send.d.ex_desc &&
            cached->d.sampler_state == send.d.sampler_state)
            return cached;
    }
    if (zs_eu_send_finish(t->program, &send) < 0) {
        zs_eu_fault_set(t, ZS_EU_FAULT_OPERAND,
                        "message with descriptor 0x%08x leaves the "
                        "register file",
                        (unsigned)send.d.desc);
        return NULL;
    }
    zs_diag_clear(&diag);
    int error = t->program->has_handles ? zs_eu_send_lower_handle(t, &send, &diag)
                                        : t->program->send_lower(&send, &diag);
    if (error < 0) {
        zs_eu_fault_set(t, zs_eu_send_fault_kind(error), "%s", diag.text);
        return NULL;
    }
    slot = first + t->send_cache_next++ % 2;
    t->send_cached |= UINT64_C(1) << slot;
    t->send_cache[slot] = send;
    return &t->send_cache[slot];
}

const struct zs_eu_send *zs_eu_program_send(const struct zs_eu_program *program, uint32_t op)
{
    return &program->ops[op].send->send;
}

const struct zs_eu_send *zs_eu_send_of(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    const struct zs_eu_program_send *from = op->send;

    t->current = op;
    if (ZS_UNLIKELY(from->desc_is_reg || from->ex_desc_is_reg))
        return dynamic_send(t, from);
    return &from->send;
}

static const struct zs_eu_op *stop_behind(struct zs_eu_thread *t, const struct zs_eu_op *op,
                                          enum zs_eu_status status)
{
    t->status = status;
    t->resume = op + 1;
    return NULL;
}

void zs_eu_send_look(struct zs_eu_thread *t, const struct zs_eu_op *op,
                     const struct zs_eu_send *send, uint32_t active)
{
    const struct zs_port_message_row *row;
    const struct zs_port_message *m = send->exec ? zs_eu_send_message(send, &row) : NULL;
    uint8_t *ways = &t->program->ways[op->send - t->program->sends.items];

    if (!m || row->is_atomic || send->d.gathers)
        return;
    unsigned before = __atomic_load_n(ways, __ATOMIC_RELAXED);
    unsigned way = before | zs_port_way(m, t->grf + send->d.src0_B, active);
    if (way != before)
        __atomic_store_n(ways, (uint8_t)way, __ATOMIC_RELAXED);
}

/* One message of so many, whatever the order in which they come. */
static bool looks(struct zs_eu_thread *t)
{
    t->looks = t->looks * 1664525 + 1013904223;
    return t->looks >> 28 == 0;
}

/* arg: it ends the thread, whichever lanes are left. cls: the hook is told. */
const struct zs_eu_op *zs_eu_op_send(struct zs_eu_thread *t, const struct zs_eu_op *op)
{
    uint32_t active = zs_eu_active(t, op);

    if (active || op->arg) {
        const struct zs_eu_send *send = zs_eu_send_of(t, op);
        if (ZS_UNLIKELY(op->cls) && send && t->hooks && t->hooks->message)
            t->hooks->message(t, send, active);
        if (ZS_UNLIKELY(t->fault.kind != ZS_EU_FAULT_NONE))
            return stop_behind(t, op, ZS_EU_FAULT);
        if (ZS_UNLIKELY(looks(t)) && active)
            zs_eu_send_look(t, op, send, active);
        enum zs_eu_status status = send->exec && active ? send->exec(t, send, active) : ZS_EU_OK;
        if (ZS_UNLIKELY(status != ZS_EU_OK || send->d.eot))
            return stop_behind(t, op, status == ZS_EU_OK ? ZS_EU_EOT : status);
    }
    ZS_EU_NEXT(t, op);
}

/* ---- running ---- */

/* Zeros. A few stores in line: what is cleared is short, and compilers would make a call or a
 * `rep stos` of it, which take longer to begin than all this. Start and size: multiples of 32. */
static inline void clear(void *start, size_t size_B)
{
    __m128i zero = _mm_setzero_si128(), *to = start;

    __asm__("" : "+x"(zero)); /* no zero to the compiler */
    for (size_t i = 0; i < size_B / sizeof(*to); i += 2) {
        _mm_store_si128(to + i, zero);
        _mm_store_si128(to + i + 1, zero);
    }
}

void zs_eu_thread_init(struct zs_eu_thread *t, const struct zs_eu_program *program,
                       uint32_t dispatch_mask)
{
    t->send_cached = 0;
    t->looks = 0;
    t->shadow = NULL;
    /* temporaries are written before they are read */
    memcpy(t->constant, program->constant, program->constant_B);
    memset(t->grf, 0, zs_eu_file_B(program) + ZS_EU_GUARD_B);
    memset(t->acc, 0, sizeof(t->acc));
    memset(t->acc_high, 0, sizeof(t->acc_high));
    zs_eu_thread_restart(t, program, dispatch_mask);
}

void zs_eu_thread_restart(struct zs_eu_thread *t, const struct zs_eu_program *program,
                          uint32_t dispatch_mask)
{
    uint32_t looks = t->looks; /* short threads begin with others of their messages each */

    clear(t, ZS_EU_OFFSET(acc));
    t->looks = looks;
    t->fault.kind = ZS_EU_FAULT_NONE;
    t->fault.text[0] = '\0';
    if (program->scores)
        memset(&t->scoreboard, 0, sizeof(t->scoreboard));
    for (uint32_t left = program->read_acc_slots; left; left &= left - 1) {
        size_t at = (size_t)__builtin_ctz(left) * ZS_EU_ACC_RUN;
        clear(t->acc + at, ZS_EU_ACC_RUN * sizeof(t->acc[0]));
        clear(t->acc_high + at, ZS_EU_ACC_RUN * sizeof(t->acc[0]));
    }
    dispatch_mask &= program->simd_mask;
    unsigned all = dispatch_mask == program->simd_mask;
    for (uint32_t i = 0; i < program->clear_count[all]; i++) {
        const struct zs_eu_clear *registers = &program->clear[all][i];
        clear(t->grf + registers->start_B, registers->end_B - (size_t)registers->start_B);
    }
    t->program = program;
    t->ce = t->alive = dispatch_mask;
    t->sr0[0] = SR0_START;
    t->sr0[2] = t->sr0[3] = t->dispatched = dispatch_mask;
    t->all_ones = UINT32_MAX;
    t->merge_block = NO_BLOCK;
    t->depth_key = (uint32_t)DEPTH_MAX << BLOCK_BITS;
    count_lanes(t);
    t->host_csr = program->host_csr[0];
    t->host_csr_double = program->host_csr[1];
}

uint32_t zs_eu_thread_inst(const struct zs_eu_thread *t)
{
    return t->resume ? t->resume->inst : UINT32_MAX;
}

void zs_eu_thread_set_control(struct zs_eu_thread *t, uint32_t cr0)
{
    t->cr0[0] = cr0;
    zs_eu_control_register_changed(t);
}

/* It stands at a barrier, behind which it goes on in compiled code, with what another thread begins
 * with as it was. */
static bool stays_compiled(const struct zs_eu_program *p, const struct zs_eu_op *op)
{
    return op->kind == ZS_EU_KIND_WAIT && p->tier && !p->tier->overwrites &&
           op[1].fn != p->tier->originals[op + 1 - p->ops];
}

/* Run for about `budget` instructions; returns how many were executed. */
static uint64_t run(struct zs_eu_thread *t, uint64_t budget)
{
    const struct zs_eu_op *op = t->resume;

    bool begins = op == NULL;
    if (begins)
        op = block_start(t, t->program->entry_block);
    t->status = ZS_EU_OK;
    t->budget = (int64_t)budget;
    t->budget_start = budget;
    if (!begins && stays_compiled(t->program, op)) {
        begins = true;
        op = op->fn(t, op);
    }
    op = op ? op->fn(t, op) : NULL;
    if (op || !begins)
        zs_eu_strayed(t);
    while (op)
        op = op->fn(t, op);
    uint64_t executed = budget - (uint64_t)t->budget;
    t->executed += t->budget_start - (uint64_t)t->budget; /* a series has moved the start */
    t->spent += executed;
    t->budget_start = (uint64_t)t->budget;
    return executed;
}

uint32_t zs_eu_host_csr(void)
{
    return _mm_getcsr();
}

void zs_eu_host_csr_restore(uint32_t csr)
{
    _mm_setcsr(csr);
}

enum zs_eu_status zs_eu_run_among(struct zs_eu_thread *t, const struct zs_eu_program *program,
                                  uint64_t budget, uint32_t *host_csr)
{
    zs_assert(t->program == program && t->fault.kind == ZS_EU_FAULT_NONE);
    if (t->ce == 0)
        return ZS_EU_EOT;
    budget = ZS_MIN(budget, (uint64_t)1 << 62);
    if (t->host_csr != *host_csr)
        _mm_setcsr(t->host_csr);
    for (bool more = true; more;) { /* in pieces, between which the counters are settled */
        uint64_t executed =
            run(t, t->counters ? ZS_MIN(budget, (uint64_t)ZS_EU_SETTLE_RUN) : budget);
        if (t->counters && (t->counters[0] += executed + 1) > ZS_EU_SETTLE_AFTER)
            zs_eu_program_counters_settle(t->program, t->counters);
        more = t->status == ZS_EU_BUDGET && executed < budget;
        budget -= executed;
    }
    *host_csr = t->host_csr;
    return (enum zs_eu_status)t->status;
}

bool zs_eu_thread_repeat(struct zs_eu_thread *t, const struct zs_eu_program *program,
                         uint32_t dispatch_mask)
{
    if (t->program != program || !program->tier || !program->tier->start ||
        dispatch_mask != program->full_ce || t->dispatched != dispatch_mask ||
        t->status != ZS_EU_EOT || t->follows & (uint32_t)ZS_EU_STRAYED)
        return false;
    bool parted = t->ce != dispatch_mask;              /* where it ended */
    clear(t, ZS_EU_OFFSET(passed_barriers) / 32 * 32); /* barriers leave flags there, and cr0 */
    t->sr0[0] = SR0_START;
    t->sr0[2] = t->sr0[3] = t->ce = dispatch_mask;
    t->passed_barriers = t->awaited_barrier = t->predicate = 0;
    t->executed = 0;
    t->resume = NULL;
    t->host_csr = program->host_csr[0];
    t->host_csr_double = program->host_csr[1];
    t->waiting = 0;
    t->merge_block = NO_BLOCK;
    t->depth_key = (uint32_t)DEPTH_MAX << BLOCK_BITS;
    if (parted)
        count_lanes(t);
    return true;
}

enum zs_eu_status zs_eu_run(struct zs_eu_thread *t, const struct zs_eu_program *program,
                            uint64_t budget)
{
    uint32_t saved = _mm_getcsr(), csr = saved;
    enum zs_eu_status status = zs_eu_run_among(t, program, budget, &csr);

    _mm_setcsr(saved);
    return status;
}
