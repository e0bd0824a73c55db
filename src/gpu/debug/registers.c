/* SPDX-License-Identifier: MIT */
/*
 * Registers and memory of a thread that is held, laid out as Intel's driver gives them for the
 * device's generation (the register tables of its system routines; Gen9 and Gen11, which it does
 * not debug, have those of Gen12LP and the macros' accumulators as a set).
 */
#include "gpu/debug/debug_priv.h"

#include "base/reader.h"
#include "eu/checks/shadow.h"
#include "gpu/check.h"

#include <zescope/debug_ext.h>

#include <errno.h>

enum {
    CR_B = 16,
    SR_B = 16,
    ACC_MAX_B = 64,
    FIRST_MACRO_ACC = 2, /* acc2 is what macros call mme0, where it is no plain one */
    MME_COUNT = 8,
    SBA_COUNT = 9,
};
enum { SBA_GENERAL_STATE = 0, SBA_INSTRUCTION = 4, SBA_SCRATCH = 8 };
static const uint32_t R0_5_SCRATCH_MASK = ~0x3ffu;

struct access {
    struct zs_gpu_debug_thread *thread;
    uint32_t index; /* of the register */
    uint8_t *bytes; /* of the register, as the debugger sees it */
    uint32_t size_B;
};

/* 0, or -EINVAL: such a value cannot be written. */
typedef int access_fn(const struct access *a);

/* ---- plain ones --------------------------------------------------------------------------------
 */

static int read_grf(const struct access *a)
{
    memcpy(a->bytes, a->thread->t->grf + (size_t)a->index * a->size_B, a->size_B);
    return 0;
}

static int write_grf(const struct access *a)
{
    uint8_t *grf = a->thread->t->grf + (size_t)a->index * a->size_B;
    memcpy(grf, a->bytes, a->size_B);
    zs_eu_shadow_define(a->thread->t, grf, a->size_B);
    return 0;
}

static int read_addr(const struct access *a)
{
    memcpy(a->bytes, a->thread->t->a0, a->size_B);
    return 0;
}

static int write_addr(const struct access *a)
{
    memcpy(a->thread->t->a0, a->bytes, a->size_B);
    zs_eu_shadow_define(a->thread->t, a->thread->t->a0, a->size_B);
    return 0;
}

static int read_flag(const struct access *a)
{
    memcpy(a->bytes, &a->thread->t->flag[a->index], 4);
    return 0;
}

static int write_flag(const struct access *a)
{
    memcpy(&a->thread->t->flag[a->index], a->bytes, 4);
    zs_eu_shadow_define(a->thread->t, &a->thread->t->flag[a->index], 4);
    return 0;
}

static int read_ce(const struct access *a)
{
    memcpy(a->bytes, &a->thread->t->ce, 4);
    return 0;
}

static int read_sr(const struct access *a)
{
    if (a->index == 0)
        memcpy(a->bytes, a->thread->t->sr0, SR_B);
    return 0;
}

static int read_zero(const struct access *a)
{
    (void)a; /* bytes are zero */
    return 0;
}

static int read_notification(const struct access *a)
{
    memcpy(a->bytes, a->thread->t->n0, 12);
    return 0;
}

static int read_timestamp(const struct access *a)
{
    struct zs_eu_thread *t = a->thread->t;
    uint64_t now = t->clock + t->executed;
    memcpy(a->bytes, &now, 8);
    return 0;
}

static int read_fault_lane(const struct access *a)
{
    memcpy(a->bytes, &a->thread->fault_lane, 4);
    return 0;
}

/* ---- control: cr0.0 modes, cr0.1 why it stopped, cr0.2 the instruction pointer ------------------
 */

uint32_t zs_gpu_debug_ip(const struct zs_eu_thread *t, uint32_t inst)
{
    struct zs_eu_inst_info info;
    if (zs_eu_program_inst(t->program, inst, &info))
        return zs_eu_program_ip(t->program, info.offset_B);
    if (inst && zs_eu_program_inst(t->program, inst - 1, &info)) /* behind the last */
        return zs_eu_program_ip(t->program, info.offset_B) + info.size_B;
    return 0;
}

static uint32_t shown_ip(const struct zs_gpu_debug_thread *thread)
{
    return thread->is_lost       ? thread->lost_ip_B
           : thread->in_prologue ? thread->prologue_ip_B
                                 : zs_gpu_debug_ip(thread->t, zs_eu_thread_place(thread->t));
}

static int read_cr(const struct access *a)
{
    const struct zs_gpu_debug_thread *thread = a->thread;
    const struct zs_eu_thread *t = thread->t;
    const uint32_t cr[4] = {(t->cr0[0] & ~(uint32_t)CR0_0_BREAKPOINT_SUPPRESS) |
                                (thread->suppress ? (uint32_t)CR0_0_BREAKPOINT_SUPPRESS : 0),
                            thread->cr0_1 | t->cr0[1], shown_ip(thread), t->cr0[3]};
    memcpy(a->bytes, cr, CR_B);
    return 0;
}

/* The instruction at an address of the ip register's space; UINT32_MAX: none. */
static uint32_t inst_at_ip(const struct zs_eu_thread *t, uint32_t ip_B)
{
    uint32_t count = zs_eu_program_inst_count(t->program);
    for (uint32_t i = 0; i < count; i++) {
        if (zs_gpu_debug_ip(t, i) == ip_B)
            return i;
    }
    return UINT32_MAX;
}

/* Where there is no instruction the thread stays, until it is resumed. */
static int write_ip(struct zs_gpu_debug_thread *thread, uint32_t ip_B)
{
    struct zs_eu_thread *t = thread->t;
    bool moves = ip_B != (thread->in_prologue ? thread->prologue_ip_B
                                              : zs_gpu_debug_ip(t, zs_eu_thread_place(t)));
    uint32_t inst = moves ? inst_at_ip(t, ip_B) : UINT32_MAX;
    if (inst != UINT32_MAX) {
        if (zs_eu_thread_jump(t, inst) != 0)
            return -EINVAL;
        thread->is_changed = true;
        thread->in_prologue = false;
        thread->passes = thread->suppress = thread->faulted = false;
    }
    thread->is_lost = moves && inst == UINT32_MAX;
    thread->lost_ip_B = ip_B;
    return 0;
}

static int write_cr(const struct access *a)
{
    struct zs_gpu_debug_thread *thread = a->thread;
    struct zs_eu_thread *t = thread->t;
    uint32_t cr0 = zs_load_u32(a->bytes), cr1 = zs_load_u32(a->bytes + 4);
    uint32_t cr3 = zs_load_u32(a->bytes + 12);
    thread->is_changed = false;
    int error = write_ip(thread, zs_load_u32(a->bytes + 8));
    if (error)
        return error;
    thread->is_changed |=
        (cr0 ^ t->cr0[0]) & ~(uint32_t)CR0_0_BREAKPOINT_SUPPRESS || cr3 != t->cr0[3];
    t->cr0[3] = cr3;
    zs_eu_thread_set_control(t, cr0 & ~(uint32_t)CR0_0_BREAKPOINT_SUPPRESS);
    thread->suppress = (cr0 & CR0_0_BREAKPOINT_SUPPRESS) != 0;
    thread->cr0_1 = cr1;
    thread->step = (cr1 & CR0_1_BREAKPOINT) != 0;
    return 0;
}

/* ---- accumulators ------------------------------------------------------------------------------
 * A slot of 64 bits each: seen as dwords. The numbers from 2 on are those of macros, rounded.
 */

static int read_mme(const struct access *a)
{
    for (uint32_t c = 0; c < a->size_B / 4; c++) {
        float value = (float)zs_eu_thread_mme(a->thread->t, a->index, c);
        memcpy(a->bytes + (size_t)c * 4, &value, 4);
    }
    return 0;
}

/* Of an accumulator's number: whether it is one of macros, and its access as such. */
static bool is_macro(const struct access *a, struct access *ret_mme)
{
    *ret_mme = *a;
    ret_mme->index -= FIRST_MACRO_ACC;
    return a->index >= zs_eu_program_registers(a->thread->t->program)->acc_count;
}

/* An accumulator is shown as its dwords. */
static uint32_t first_slot(const struct access *a)
{
    uint32_t end;
    return zs_eu_acc_slot(zs_eu_program_registers(a->thread->t->program), a->index, 4, &end);
}

static int read_acc(const struct access *a)
{
    struct access mme;
    if (is_macro(a, &mme))
        return read_mme(&mme);
    uint32_t first = first_slot(a);
    for (uint32_t c = 0; c < a->size_B / 4; c++) {
        uint32_t low = (uint32_t)zs_eu_acc(a->thread->t, first + c);
        memcpy(a->bytes + (size_t)c * 4, &low, 4);
    }
    return 0;
}

/* What is written what it shows keeps what was rounded away. */
static int write_mme(const struct access *a)
{
    uint8_t shown[ACC_MAX_B] = {0};
    const struct access now = {a->thread, a->index, shown, a->size_B};
    read_mme(&now);
    for (uint32_t c = 0; c < a->size_B / 4; c++) {
        const size_t at_B = (size_t)c * 4;
        float value;
        memcpy(&value, a->bytes + at_B, 4);
        const __float128 wide = value;
        if (memcmp(shown + at_B, a->bytes + at_B, 4) != 0)
            memcpy(a->thread->t->mme[a->index][c], &wide, sizeof(wide));
    }
    return 0;
}

/* Slots that are written what they show keep their upper half. */
static int write_acc(const struct access *a)
{
    uint8_t shown[ACC_MAX_B] = {0};
    const struct access now = {a->thread, a->index, shown, a->size_B};
    struct access mme;
    if (is_macro(a, &mme))
        return write_mme(&mme);
    uint32_t first = first_slot(a);
    read_acc(&now);
    for (uint32_t c = 0; c < a->size_B / 4; c++) {
        uint32_t value = zs_load_u32(a->bytes + (size_t)c * 4);
        if (value != zs_load_u32(shown + (size_t)c * 4))
            zs_eu_acc_set(a->thread->t, first + c, (uint64_t)(int64_t)(int32_t)value);
    }
    return 0;
}

/* ---- state base addresses ----------------------------------------------------------------------
 */

static int read_sba(const struct access *a)
{
    const struct zs_gpu_run *run = a->thread->run;
    uint64_t general = (uint64_t)(uintptr_t)run->scratch.data;
    uint64_t bases[SBA_COUNT] = {[SBA_GENERAL_STATE] =
                                     run->implicit_va ? run->implicit_va : general,
                                 [SBA_INSTRUCTION] = run->kernel->debug->base_va};
    uint64_t scratch_B = zs_load_u32(a->thread->t->grf + (size_t)5 * 4) & R0_5_SCRATCH_MASK;
    if (run->device->model->loads_payload) /* there it names a surface */
        scratch_B = (a->thread->number + 1ull) * run->scratch_B;
    if (general && scratch_B)
        bases[SBA_SCRATCH] = general + scratch_B;
    memcpy(a->bytes, &bases[a->index], 8);
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------------
 */

enum { BY_MODEL = 0 }; /* grf_count registers of grf_B bytes, or of grf_B bytes */
enum {
    GEN9 = 1 << ZS_ISA_GEN9,
    GEN11 = 1 << ZS_ISA_GEN11,
    GEN12 = 1 << ZS_ISA_XE_LP,
    XE_HPG = 1 << ZS_ISA_XE_HPG,
    XE3P = 1 << ZS_ISA_XE3P,
    FROM_XE_HPC = 1 << ZS_ISA_XE_HPC | 1 << ZS_ISA_XE2 | 1 << ZS_ISA_XE3 | XE3P,
    BEFORE_XE_HPG = GEN9 | GEN11 | GEN12,
    FROM_XE_HPG = XE_HPG | FROM_XE_HPC,
    ALL = BEFORE_XE_HPG | FROM_XE_HPG,
};

/* A type stands for each generation at most once. */
static const struct {
    uint32_t generations;
    struct zs_gpu_debug_regset set;
    access_fn *read, *write;
} rows[] = {
    {ALL, {ZESCOPE_DEBUG_REGSET_GRF, true, BY_MODEL, 0, BY_MODEL, 0}, read_grf, write_grf},
    {ALL & ~XE3P, {ZESCOPE_DEBUG_REGSET_ADDR, true, 1, 256, 32, 0}, read_addr, write_addr},
    {XE3P, {ZESCOPE_DEBUG_REGSET_ADDR, true, 1, 512, 64, 0}, read_addr, write_addr},
    {ALL & ~FROM_XE_HPC, {ZESCOPE_DEBUG_REGSET_FLAG, true, 2, 32, 4, 0}, read_flag, write_flag},
    {FROM_XE_HPC, {ZESCOPE_DEBUG_REGSET_FLAG, true, 4, 32, 4, 0}, read_flag, write_flag},
    {ALL, {ZESCOPE_DEBUG_REGSET_CE, false, 1, 32, 4, 0}, read_ce, NULL},
    {GEN9 | GEN11, {ZESCOPE_DEBUG_REGSET_SR, false, 2, 128, 16, 0}, read_sr, NULL},
    {GEN12 | FROM_XE_HPG, {ZESCOPE_DEBUG_REGSET_SR, false, 1, 128, 16, 0}, read_sr, NULL},
    {ALL, {ZESCOPE_DEBUG_REGSET_CR, true, 1, 128, 16, 0}, read_cr, write_cr},
    {ALL & ~XE_HPG, {ZESCOPE_DEBUG_REGSET_TDR, false, 1, 128, 16, 0}, read_zero, NULL},
    {BEFORE_XE_HPG, {ZESCOPE_DEBUG_REGSET_ACC, true, 10, 256, 32, 0}, read_acc, write_acc},
    {FROM_XE_HPG, {ZESCOPE_DEBUG_REGSET_ACC, true, 4, 0, BY_MODEL, 0}, read_acc, write_acc},
    {ALL & ~GEN12,
     {ZESCOPE_DEBUG_REGSET_MME, true, MME_COUNT, 0, BY_MODEL, 0},
     read_mme,
     write_mme},
    {ALL & ~XE_HPG, {ZESCOPE_DEBUG_REGSET_SP, false, 1, 128, 16, 0}, read_zero, NULL},
    {ALL, {ZESCOPE_DEBUG_REGSET_SBA, false, SBA_COUNT, 64, 8, 0}, read_sba, NULL},
    {GEN9 | GEN11, {ZESCOPE_DEBUG_REGSET_DBG, false, 1, 32, 4, 0}, read_zero, NULL},
    {FROM_XE_HPG, {ZESCOPE_DEBUG_REGSET_DBG, false, 1, 64, 8, 0}, read_zero, NULL},
    {ALL, {ZESCOPE_DEBUG_REGSET_NOTIFICATION, false, 1, 96, 12, 0}, read_notification, NULL},
    {ALL, {ZESCOPE_DEBUG_REGSET_TIMESTAMP, false, 1, 128, 16, 0}, read_timestamp, NULL},
    {ALL, {ZESCOPE_DEBUG_REGSET_FAULT_LANE, false, 1, 32, 4, 0}, read_fault_lane, NULL},
};

static struct zs_gpu_debug_regset set_of(const struct zs_gpu_model *model, uint32_t row)
{
    struct zs_gpu_debug_regset set = rows[row].set;
    if (set.count == BY_MODEL)
        set.count = model->grf_count;
    set.most = set.count;
    if (set.type == ZESCOPE_DEBUG_REGSET_GRF && model->platform >= ZS_ISA_XE_HPG)
        set.most = 2 * set.count;
    if (set.bytes == BY_MODEL) {
        set.bytes = model->grf_B;
        set.bits = 8 * set.bytes;
    }
    return set;
}

static bool has_row(const struct zs_gpu_model *model, uint32_t row)
{
    return rows[row].generations >> model->platform & 1;
}

/* -EINVAL: no such registers. */
static int find_row(const struct zs_gpu_model *model, uint32_t type, uint32_t *ret_row)
{
    for (uint32_t row = 0; row < ZS_ARRAY_LEN(rows); row++) {
        if (rows[row].set.type == type && has_row(model, row)) {
            *ret_row = row;
            return 0;
        }
    }
    return -EINVAL;
}

uint32_t zs_gpu_debug_regsets(const struct zs_gpu_model *model,
                              struct zs_gpu_debug_regset *ret_sets, uint32_t capacity)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (!has_row(model, i))
            continue;
        if (count < capacity)
            ret_sets[count] = set_of(model, i);
        count++;
    }
    return count;
}

static int access_registers(struct zs_gpu_debug_session *session, const struct zs_gpu_hw_thread *id,
                            uint32_t type, uint32_t start, uint32_t count, uint8_t *values,
                            bool write)
{
    struct zs_gpu_debug_thread *thread;
    int error = zs_gpu_debug_held(session, id, &thread);
    if (error)
        return error;
    const struct zs_gpu_model *model = thread->run->device->model;
    uint32_t row;
    error = find_row(model, type, &row);
    if (error)
        return error;
    struct zs_gpu_debug_regset set = set_of(model, row);
    if (type == ZESCOPE_DEBUG_REGSET_GRF) /* kernels may be compiled for more of them */
        set.count = zs_eu_program_registers(thread->t->program)->grf_count;
    if (start >= set.count || count > set.count - start)
        return -EINVAL;
    if (write && !rows[row].write)
        return -EPERM;
    for (uint32_t i = 0; i < count && !error; i++) {
        const struct access a = {thread, start + i, values + (size_t)i * set.bytes, set.bytes};
        if (!write)
            memset(a.bytes, 0, set.bytes);
        error = write ? rows[row].write(&a) : rows[row].read(&a);
    }
    if (write && type != ZESCOPE_DEBUG_REGSET_CR) /* how to go on mends nothing; ip: write_cr */
        thread->faulted = false;
    if (write && error &&
        type != ZESCOPE_DEBUG_REGSET_CR) /* which is written whole, or not at all */
        zs_gpu_history_lose(thread->run, ZS_HISTORY_MODIFIED);
    else if (write && (type != ZESCOPE_DEBUG_REGSET_CR || thread->is_changed))
        zs_gpu_history_log(thread->run,
                           &(struct zs_history_write){.kind = ZS_WRITTEN_REGISTERS,
                                                      .group = thread->group,
                                                      .thread = thread->thread,
                                                      .type = type,
                                                      .start = start,
                                                      .count = count,
                                                      .size_B = (size_t)count * set.bytes,
                                                      .bytes = values});
    return error;
}

int zs_gpu_debug_write_again(struct zs_gpu_run *run, struct zs_eu_thread *t,
                             const struct zs_history_write *write)
{
    struct zs_gpu_debug_thread thread = {.run = run, .t = t};
    const struct zs_gpu_model *model = run->device->model;
    uint32_t row;
    int error = find_row(model, write->type, &row);
    if (error)
        return error;
    struct zs_gpu_debug_regset set = set_of(model, row);
    for (uint32_t i = 0; i < write->count && !error; i++) {
        const struct access a = {&thread, write->start + i, write->bytes + (size_t)i * set.bytes,
                                 set.bytes};
        error = rows[row].write(&a);
    }
    return error;
}

int zs_gpu_debug_read_registers(struct zs_gpu_debug_session *session,
                                const struct zs_gpu_hw_thread *thread, uint32_t type,
                                uint32_t start, uint32_t count, void *ret_values)
{
    pthread_mutex_lock(&session->card->debug->lock);
    int error = access_registers(session, thread, type, start, count, ret_values, false);
    pthread_mutex_unlock(&session->card->debug->lock);
    return error;
}

int zs_gpu_debug_write_registers(struct zs_gpu_debug_session *session,
                                 const struct zs_gpu_hw_thread *thread, uint32_t type,
                                 uint32_t start, uint32_t count, const void *values)
{
    pthread_mutex_lock(&session->card->debug->lock);
    int error = type == ZESCOPE_DEBUG_REGSET_CR ? zs_gpu_debug_wait_for_code(session, thread) : 0;
    if (!error)
        error = access_registers(session, thread, type, start, count, (uint8_t *)(uintptr_t)values,
                                 true);
    pthread_mutex_unlock(&session->card->debug->lock);
    return error;
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static void move(struct zs_gpu_run *run, uint8_t *memory, void *bytes, size_t size_B, bool write)
{
    if (write)
        zs_gpu_undefined_define(run, memory, size_B);
    memcpy(write ? (void *)memory : bytes, write ? bytes : (void *)memory, size_B);
}

static int access_slm(struct zs_gpu_debug_session *session, const struct zs_gpu_hw_thread *id,
                      uint64_t offset_B, void *bytes, size_t size_B, bool write)
{
    struct zs_gpu_debug_thread *thread;
    int error = zs_gpu_debug_held(session, id, &thread);
    if (error)
        return error;
    uint32_t slm_B = thread->run->slm_B;
    if (offset_B > slm_B || size_B > slm_B - offset_B)
        return -EFAULT;
    if (write)
        zs_gpu_history_log(thread->run, &(struct zs_history_write){.kind = ZS_WRITTEN_LOCAL,
                                                                   .group = thread->group,
                                                                   .at = offset_B,
                                                                   .size_B = size_B,
                                                                   .bytes = bytes});
    move(thread->run, thread->slm + offset_B, bytes, size_B, write);
    return 0;
}

int zs_gpu_debug_slm(struct zs_gpu_debug_session *session, const struct zs_gpu_hw_thread *thread,
                     uint64_t offset_B, void *bytes, size_t size_B, bool write)
{
    pthread_mutex_lock(&session->card->debug->lock);
    int error = access_slm(session, thread, offset_B, bytes, size_B, write);
    pthread_mutex_unlock(&session->card->debug->lock);
    return error;
}

static int access_launch(struct zs_gpu_debug_session *session, const struct zs_gpu_hw_thread *id,
                         uint64_t gpu_va, void *bytes, size_t size_B, bool write)
{
    struct zs_gpu_debug_thread *thread;
    int error = zs_gpu_debug_held(session, id, &thread);
    if (error)
        return error;
    struct zs_gpu_run *run = thread->run;
    struct zs_port_range ranges[ZS_PORT_LAUNCH_RANGES + 1];
    uint32_t count = run->range_count;
    memcpy(ranges, run->ranges, sizeof(run->ranges));
    if (run->scratch.data)
        ranges[count++] = (struct zs_port_range){.start = (uintptr_t)run->scratch.data,
                                                 .end = (uintptr_t)run->scratch.data +
                                                        run->scratch_B * (run->slots + 1ull)};
    for (uint32_t i = 0; i < count; i++) {
        if (gpu_va < ranges[i].start || gpu_va >= ranges[i].end)
            continue;
        if (size_B > ranges[i].end - gpu_va)
            return -EFAULT;
        if (write)
            zs_gpu_history_log(thread->run, &(struct zs_history_write){.kind = ZS_WRITTEN_MEMORY,
                                                                       .at = gpu_va,
                                                                       .size_B = size_B,
                                                                       .bytes = bytes});
        move(run, (uint8_t *)(uintptr_t)gpu_va, bytes, size_B, write);
        return 0;
    }
    return -ENOENT;
}

int zs_gpu_debug_launch_memory(struct zs_gpu_debug_session *session,
                               const struct zs_gpu_hw_thread *thread, uint64_t gpu_va, void *bytes,
                               size_t size_B, bool write)
{
    pthread_mutex_lock(&session->card->debug->lock);
    int error = access_launch(session, thread, gpu_va, bytes, size_B, write);
    pthread_mutex_unlock(&session->card->debug->lock);
    return error;
}
