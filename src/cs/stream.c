/* SPDX-License-Identifier: MIT */
/* The engine: fetches commands, runs them, and those of the memory interface (MI_*). */
#include "cs/cs_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int zs_cs_create(const struct zs_cs_ops *ops, void *ctx, const struct zs_cs_params *params,
                 struct zs_cs **ret_cs)
{
    struct zs_cs *cs = calloc(1, sizeof(*cs));
    if (!cs)
        return -ENOMEM;
    cs->ops = ops;
    cs->ctx = ctx;
    cs->params = *params;
    *ret_cs = cs;
    return 0;
}

void zs_cs_destroy(struct zs_cs *cs)
{
    free(cs);
}

int zs_cs_fail(struct zs_cs *cs, struct zs_diag *diag, int error, const char *format, ...)
{
    char text[192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "command at 0x%" PRIx64 ": %s", cs->at_va,
                       text);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

uint8_t *zs_cs_memory(struct zs_cs *cs, uint64_t gpu_va, uint64_t size_B, bool is_write,
                      struct zs_diag *diag)
{
    uint8_t *host = cs->ops->memory(cs->ctx, gpu_va & ZS_CS_ADDRESS_BITS, size_B, is_write);
    if (!host)
        zs_cs_fail(cs, diag, -EFAULT, "%s of %" PRIu64 " bytes at 0x%" PRIx64 ": nothing is there",
                   is_write ? "write" : "read", size_B, gpu_va);
    return host;
}

static void will_store(const struct zs_cs *cs, const uint8_t *to, uint32_t value)
{
    if (cs->ops->synced)
        cs->ops->synced(cs->ctx, to, value, true);
}

/* Hosts poll what is stored: it is stored at once, behind everything before it. */
int zs_cs_store32(struct zs_cs *cs, uint64_t gpu_va, uint32_t value, struct zs_diag *diag)
{
    uint8_t *to = zs_cs_memory(cs, gpu_va & ~3ull, 4, true, diag);
    if (!to)
        return -EFAULT;
    will_store(cs, to, value);
    __atomic_store_n((uint32_t *)(void *)to, value, __ATOMIC_RELEASE);
    return 0;
}

int zs_cs_store64(struct zs_cs *cs, uint64_t gpu_va, uint64_t value, struct zs_diag *diag)
{
    uint8_t *to = zs_cs_memory(cs, gpu_va & ~3ull, 8, true, diag);
    if (!to)
        return -EFAULT;
    will_store(cs, to, (uint32_t)value);
    will_store(cs, to + 4, (uint32_t)(value >> 32));
    if ((uintptr_t)to % 8 == 0) {
        __atomic_store_n((uint64_t *)(void *)to, value, __ATOMIC_RELEASE);
        return 0;
    }
    __atomic_store_n((uint32_t *)(void *)to, (uint32_t)value, __ATOMIC_RELEASE);
    __atomic_store_n((uint32_t *)(void *)(to + 4), (uint32_t)(value >> 32), __ATOMIC_RELEASE);
    return 0;
}

uint8_t *zs_cs_touch(struct zs_cs *cs, uint64_t gpu_va, uint64_t size_B, bool is_write,
                     struct zs_diag *diag)
{
    uint8_t *host = zs_cs_memory(cs, gpu_va, size_B, is_write, diag);
    if (host && cs->ops->touched)
        cs->ops->touched(cs->ctx, cs->command, host, size_B, is_write);
    return host;
}

int zs_cs_moved(struct zs_cs *cs, uint64_t size_B, struct zs_diag *diag)
{
    enum { LOOK_AROUND_B = 16 << 20 };
    cs->moved_B += size_B;
    cs->has_moved = true;
    if (cs->moved_B < LOOK_AROUND_B)
        return 0;
    cs->moved_B = 0;
    return cs->ops->pause(cs->ctx, 0)
               ? 0
               : zs_cs_fail(cs, diag, -ECANCELED, "it is not waited for any more");
}

int zs_cs_load32(struct zs_cs *cs, uint64_t gpu_va, uint32_t *ret, struct zs_diag *diag)
{
    const uint8_t *from = zs_cs_memory(cs, gpu_va & ~3ull, 4, false, diag);
    if (!from)
        return -EFAULT;
    *ret = __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_ACQUIRE);
    if (cs->ops->synced)
        cs->ops->synced(cs->ctx, from, *ret, false);
    return 0;
}

/* ---- registers ---------------------------------------------------------------------------------
 */

enum { GPR = 0x600, GPR_END = 0x680, TIMESTAMP = 0x358, CTX_TIMESTAMP = 0x3a8 };

uint64_t zs_cs_timestamp(const struct zs_cs *cs)
{
    uint32_t bits = cs->params.timestamp_bits;
    return bits < 64 ? cs->ticks & ((UINT64_C(1) << bits) - 1) : cs->ticks;
}

/* Those of an engine: render, copy, compute ones have the same at other bases. */
static bool is_engines(uint32_t offset)
{
    uint32_t page = offset >> 12;
    return page == 0x0 || page == 0x2 || page == 0x22 || page == 0x1a || page == 0x1c ||
           page == 0x1e || page == 0x26;
}

/* Those of the L3 cache: drivers change bits of L3SQCREG4 around kernels with images' fences. */
static bool is_l3(uint32_t offset)
{
    return offset >= ZS_CS_L3 && offset < ZS_CS_L3_END;
}

static int read_register(struct zs_cs *cs, uint32_t offset, uint32_t *ret, struct zs_diag *diag)
{
    if (is_l3(offset)) {
        *ret = cs->l3[(offset - ZS_CS_L3) / 4];
        return 0;
    }
    if (!is_engines(offset))
        return zs_cs_fail(cs, diag, -ENOTSUP, "register 0x%" PRIx32 " is not modelled", offset);
    uint32_t at = offset % REGISTER_PAGE_B & ~3u, masked = at & ~4u;
    *ret = cs->registers[at / 4];
    if (masked == TIMESTAMP || masked == CTX_TIMESTAMP)
        *ret = (uint32_t)(zs_cs_timestamp(cs) >> (at & 4 ? 32 : 0));
    return 0;
}

/* Others than the engine's own say how caches and the like work. */
static void write_register(struct zs_cs *cs, uint32_t offset, uint32_t value)
{
    if (is_engines(offset))
        cs->registers[offset % REGISTER_PAGE_B / 4] = value;
    if (is_l3(offset))
        cs->l3[(offset - ZS_CS_L3) / 4] = value;
}

static uint32_t register_of(uint32_t dword)
{
    return dword & 0x7ffffcu;
}

int zs_cs_load_registers(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    for (uint32_t i = 1; i + 1 < count; i += 2)
        write_register(cs, register_of(dw[i]), dw[i + 1]);
    return 0;
}

int zs_cs_store_register(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    uint32_t value = 0;
    if (zs_cs_is_predicated_off(cs, dw[0] >> 21 & 1))
        return 0;
    int error = read_register(cs, register_of(dw[1]), &value, diag);
    uint64_t to = zs_cs_qword(dw + 2) + zs_cs_tile_offset_B(cs, dw[0] >> 16 & 1);
    return error ? error : zs_cs_store32(cs, to, value, diag);
}

int zs_cs_load_register_memory(struct zs_cs *cs, const uint32_t *dw, uint32_t count,
                               struct zs_diag *diag)
{
    uint32_t value = 0;
    uint64_t from = zs_cs_qword(dw + 2) + zs_cs_tile_offset_B(cs, dw[0] >> 16 & 1);
    int error = zs_cs_load32(cs, from, &value, diag);
    if (!error)
        write_register(cs, register_of(dw[1]), value);
    return error;
}

int zs_cs_load_register_register(struct zs_cs *cs, const uint32_t *dw, uint32_t count,
                                 struct zs_diag *diag)
{
    uint32_t value = 0;
    int error = read_register(cs, register_of(dw[1]), &value, diag);
    if (!error)
        write_register(cs, register_of(dw[2]), value);
    return error;
}

/* ---- MI_MATH -----------------------------------------------------------------------------------
 */

enum { REG_SRCA = 0x20, REG_SRCB = 0x21, REG_ACCU = 0x31, REG_ZF = 0x32, REG_CF = 0x33 };
struct alu {
    uint64_t a, b, result;
    bool carry;
};

static uint64_t *general(struct zs_cs *cs, uint32_t index)
{
    return (uint64_t *)(void *)&cs->registers[GPR / 4 + index * 2];
}

static bool alu_load(struct zs_cs *cs, struct alu *alu, uint32_t op, uint32_t to, uint32_t from)
{
    uint64_t value;
    if ((to != REG_SRCA && to != REG_SRCB) || from >= 16)
        return false;
    memcpy(&value, general(cs, from), sizeof(value));
    if (op == 0x081 || op == 0x481)
        value = 0;
    *(to == REG_SRCA ? &alu->a : &alu->b) = op >> 10 & 1 ? ~value : value;
    return true;
}

static bool alu_store(struct zs_cs *cs, const struct alu *alu, uint32_t op, uint32_t to,
                      uint32_t from)
{
    uint64_t value = from == REG_ACCU ? alu->result
                     : from == REG_ZF ? (alu->result ? 0 : UINT64_MAX)
                     : from == REG_CF ? (alu->carry ? UINT64_MAX : 0)
                                      : 0;
    if (to >= 16 || from < REG_ACCU || from > REG_CF)
        return false;
    value = op >> 10 & 1 ? ~value : value;
    memcpy(general(cs, to), &value, sizeof(value));
    return true;
}

static bool alu_step(struct zs_cs *cs, struct alu *alu, uint32_t instruction)
{
    uint32_t op = instruction >> 20, to = zs_cs_bits(instruction, 19, 10),
             from = instruction & 0x3ff;
    switch (op) {
    case 0x000:
    case 0x001: /* FENCE_RD, FENCE_WR: all is done in order */
    case 0x002:
        return true;
    case 0x080: /* LOAD, LOADINV, LOAD0, LOAD1 */
    case 0x480:
        return alu_load(cs, alu, op, to, from);
    case 0x081:
    case 0x481:
        return alu_load(cs, alu, op, to, 0);
    case 0x100:
        alu->carry = __builtin_add_overflow(alu->a, alu->b, &alu->result);
        return true;
    case 0x101:
        alu->carry = __builtin_sub_overflow(alu->a, alu->b, &alu->result);
        return true;
    case 0x102:
        alu->result = alu->a & alu->b;
        return true;
    case 0x103:
        alu->result = alu->a | alu->b;
        return true;
    case 0x104:
        alu->result = alu->a ^ alu->b;
        return true;
    case 0x105: /* shifts: from Gen12 on */
        alu->result = alu->a << (alu->b & 63);
        return true;
    case 0x106:
        alu->result = alu->a >> (alu->b & 63);
        return true;
    case 0x180: /* STORE, STOREINV */
    case 0x580:
        return alu_store(cs, alu, op, to, from);
    default:
        return false;
    }
}

/* LOADIND: a register gets the qword of memory at the accumulator. */
static int alu_load_memory(struct zs_cs *cs, const struct alu *alu, uint32_t to,
                           struct zs_diag *diag)
{
    uint32_t low = 0, high = 0;
    int error = zs_cs_load32(cs, alu->result, &low, diag);
    if (!error)
        error = zs_cs_load32(cs, alu->result + 4, &high, diag);
    cs->registers[GPR / 4 + to * 2] = low;
    cs->registers[GPR / 4 + to * 2 + 1] = high;
    return error;
}

/* STOREIND: the qword of memory at the accumulator gets a register. Batches that schedule
 * themselves keep lists of what they put off this way. */
static int alu_store_memory(struct zs_cs *cs, const struct alu *alu, uint32_t from,
                            struct zs_diag *diag)
{
    uint64_t value;
    memcpy(&value, general(cs, from), sizeof(value));
    return zs_cs_store64(cs, alu->result, value, diag);
}

int zs_cs_math(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    enum { LOADIND = 0x082, STOREIND = 0x181 };
    struct alu alu = {0};
    for (uint32_t i = 1; i < count; i++) {
        uint32_t op = dw[i] >> 20, to = zs_cs_bits(dw[i], 19, 10), from = dw[i] & 0x3ff;
        int error = 0;
        if (op == LOADIND && to < 16 && from == REG_ACCU)
            error = alu_load_memory(cs, &alu, to, diag);
        else if (op == STOREIND && to == REG_ACCU && from < 16)
            error = alu_store_memory(cs, &alu, from, diag);
        else if (!alu_step(cs, &alu, dw[i]))
            return zs_cs_fail(cs, diag, -ENOTSUP, "MI_MATH: 0x%08" PRIx32 " is not modelled",
                              dw[i]);
        if (error)
            return error;
    }
    return 0;
}

/* ---- memory interface --------------------------------------------------------------------------
 */

int zs_cs_skip(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    return 0;
}

int zs_cs_refuse(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    return zs_cs_fail(cs, diag, -ENOTSUP, "%s (0x%08" PRIx32 ") is not modelled",
                      zs_cs_find(dw[0])->name, dw[0]);
}

int zs_cs_batch_end(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    cs->ended = cs->depth == 0;
    if (cs->depth)
        cs->next_va = cs->returns[--cs->depth];
    return 0;
}

int zs_cs_batch_start(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    enum { PREDICATED = 1 << 15, INDIRECT = 1 << 18, SECOND_LEVEL = 1 << 22 };
    if (dw[0] & PREDICATED && cs->is_off)
        return 0;
    if (dw[0] & SECOND_LEVEL) { /* second level: its end leads back here */
        if (cs->depth == DEPTH_MAX)
            return zs_cs_fail(cs, diag, -EINVAL, "batches call each other deeper than %d",
                              DEPTH_MAX);
        cs->returns[cs->depth++] = cs->next_va;
    }
    cs->next_va = zs_cs_qword(dw + 1) & ~3ull;
    if (dw[0] & INDIRECT && cs->params.is_xe_hpg) /* in the first general register */
        cs->next_va = zs_cs_qword(&cs->registers[GPR / 4]) & ~3ull;
    return 0;
}

/* What follows begins no earlier than now. */
static void catch_up(struct zs_cs *cs)
{
    uint64_t now = cs->ops->ticks(cs->ctx);
    cs->ticks = ZS_MAX(cs->ticks, now);
}

int zs_cs_semaphore_wait(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    uint32_t how = zs_cs_bits(dw[0], 14, 12), value = 0;
    uint64_t at_va = zs_cs_qword(dw + 2) + zs_cs_tile_offset_B(cs, dw[0] >> 18 & 1);
    cs->phase++; /* for what a walk writes when it is done, or others have done */
    if (how > 5 || !(dw[0] >> 15 & 1)) /* waiting for signals, not for memory */
        return zs_cs_refuse(cs, dw, count, diag);
    for (uint32_t turn = 0;; turn++) {
        int error = zs_cs_load32(cs, at_va, &value, diag);
        if (error)
            return error;
        catch_up(cs); /* it may have been signalled just before it is looked at */
        if (zs_cs_compares(how, value, dw[1]))
            return 0;
        if (!cs->ops->pause(cs->ctx, turn))
            return zs_cs_fail(cs, diag, -ECANCELED,
                              "MI_SEMAPHORE_WAIT: it is not waited for any more");
    }
}

int zs_cs_store_data(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    uint64_t to = (zs_cs_qword(dw + 1) & ~3ull) + zs_cs_tile_offset_B(cs, dw[0] >> 11 & 1);
    if (dw[0] >> 21 & 1)
        return count >= 5 ? zs_cs_store64(cs, to, zs_cs_qword(dw + 3), diag)
                          : zs_cs_refuse(cs, dw, count, diag);
    return zs_cs_store32(cs, to, dw[3], diag);
}

/* What commands write when all before them is done: nothing, data, or the time. */
static int post_sync(struct zs_cs *cs, uint32_t what, uint64_t to, uint64_t data,
                     struct zs_diag *diag)
{
    if (what == 1)
        return zs_cs_store64(cs, to, data, diag);
    if (what == 3)
        return zs_cs_store64(cs, to, zs_cs_timestamp(cs), diag);
    return what ? zs_cs_fail(cs, diag, -ENOTSUP, "a depth count is not modelled") : 0;
}

int zs_cs_flush(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    cs->phase++;
    return post_sync(cs, zs_cs_bits(dw[0], 15, 14), zs_cs_qword(dw + 1) & ~7ull,
                     count >= 5 ? zs_cs_qword(dw + 3) : dw[3], diag);
}

/* RESOURCE_BARRIER: what it waits for is not asked. */
int zs_cs_barrier(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    cs->phase++;
    return 0;
}

int zs_cs_pipe_control(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    enum { STALLS = 1 << 20, POST_SYNC = 3 << 14 };
    cs->phase += (dw[1] & (STALLS | POST_SYNC)) != 0;
    uint64_t to = (zs_cs_qword(dw + 2) & ~3ull) + zs_cs_tile_offset_B(cs, dw[0] >> 14 & 1);
    return post_sync(cs, zs_cs_bits(dw[1], 15, 14), to, zs_cs_qword(dw + 4), diag);
}

int zs_cs_copy_dword(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    uint32_t value = 0;
    int error = zs_cs_load32(cs, zs_cs_qword(dw + 3), &value, diag);
    return error ? error : zs_cs_store32(cs, zs_cs_qword(dw + 1), value, diag);
}

enum { ATOMIC_MOVE = 4, ATOMIC_INCREMENT, ATOMIC_DECREMENT, ATOMIC_ADD, ATOMIC_SUBTRACT };

int zs_cs_atomic(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    uint32_t op = zs_cs_bits(dw[0], 15, 8) & 0x1f, size = zs_cs_bits(dw[0], 20, 19);
    uint64_t operand = op == ATOMIC_INCREMENT || op == ATOMIC_DECREMENT ? 1 : 0;
    if (!operand && (!(dw[0] >> 18 & 1) || count < 6)) /* not in the command itself */
        return zs_cs_refuse(cs, dw, count, diag);
    if (!operand)
        operand = dw[3] | (uint64_t)dw[5] << 32;
    if (op < ATOMIC_MOVE || op > ATOMIC_SUBTRACT || size > 1)
        return zs_cs_refuse(cs, dw, count, diag);
    if (op == ATOMIC_DECREMENT || op == ATOMIC_SUBTRACT)
        operand = 0 - operand;
    uint64_t to = (zs_cs_qword(dw + 1) & ~3ull) + zs_cs_tile_offset_B(cs, dw[1] & 1);
    uint64_t width_B = size ? 8 : 4;
    uint8_t *host = zs_cs_memory(cs, to & ~(width_B - 1), width_B, true, diag);
    if (!host)
        return -EFAULT;
    if (op == ATOMIC_MOVE && size)
        __atomic_store_n((uint64_t *)(void *)host, operand, __ATOMIC_RELEASE);
    else if (op == ATOMIC_MOVE)
        __atomic_store_n((uint32_t *)(void *)host, (uint32_t)operand, __ATOMIC_RELEASE);
    else if (size)
        __atomic_fetch_add((uint64_t *)(void *)host, operand, __ATOMIC_ACQ_REL);
    else
        __atomic_fetch_add((uint32_t *)(void *)host, (uint32_t)operand, __ATOMIC_ACQ_REL);
    return 0;
}

/* ---- the engine --------------------------------------------------------------------------------
 */

/* Run whatever MI_SET_PREDICATE said: the next one, and what ends batches or says itself. */
static bool is_always_run(const struct zs_cs_command *c)
{
    return c->run == zs_cs_set_predicate || c->run == zs_cs_batch_start ||
           c->run == zs_cs_batch_end;
}

static int step(struct zs_cs *cs, struct zs_diag *diag)
{
    uint32_t dw[LENGTH_MAX + 2];
    const uint8_t *at = zs_cs_memory(cs, cs->at_va, 4, false, diag);
    if (!at)
        return -EFAULT;
    dw[0] = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
    const struct zs_cs_command *c = zs_cs_find(dw[0]);
    if (!c)
        return zs_cs_fail(cs, diag, -ENOTSUP, "0x%08" PRIx32 " is no command that is known", dw[0]);
    uint32_t count = zs_cs_length(c, dw[0]);
    if (count > ZS_ARRAY_LEN(dw))
        return zs_cs_fail(cs, diag, -ENOTSUP, "%s has %" PRIu32 " dwords", c->name, count);
    const uint8_t *from = count > 1 ? zs_cs_memory(cs, cs->at_va, count * 4ull, false, diag) : NULL;
    if (count > 1 && !from)
        return -EFAULT;
    if (from)
        memcpy(dw + 1, from + 4, (count - 1) * 4ull);
    /* handlers read what the shortest form of their command has */
    memset(dw + count, 0, (ZS_MIN(count + 8ull, ZS_ARRAY_LEN(dw)) - count) * 4);
    cs->next_va = cs->at_va + count * 4ull;
    if (cs->is_off && !is_always_run(c))
        return 0;
    cs->has_moved = false;
    cs->command = c->name;
    int error = c->run(cs, dw, count, diag);
    /* what is copied takes the time that it takes here, and never none */
    if (cs->has_moved && cs->ops->copied)
        cs->ops->copied(cs->ctx);
    if (cs->has_moved)
        cs->ticks = ZS_MAX(cs->ticks + 1, cs->ops->ticks(cs->ctx));
    return error;
}

int zs_cs_run(struct zs_cs *cs, uint64_t batch_va, struct zs_diag *diag)
{
    enum { LOOK_AROUND = 4096 };
    cs->at_va = batch_va;
    cs->depth = 0;
    cs->phase++;
    cs->ended = cs->is_off = false;
    catch_up(cs);
    for (uint32_t i = 1; !cs->ended; i++) {
        int error = step(cs, diag);
        if (error)
            return error;
        cs->at_va = cs->next_va;
        if (i % LOOK_AROUND)
            continue;
        /* a batch may jump back for ever, or until memory changes, as a semaphore does */
        if (!cs->ops->pause(cs->ctx, 0))
            return zs_cs_fail(cs, diag, -ECANCELED, "it is not waited for any more");
        catch_up(cs);
    }
    return 0;
}
