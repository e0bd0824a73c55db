/* SPDX-License-Identifier: MIT */
/*
 * Counters. The interpreter counts, for each instruction, executions and active lanes; everything
 * else follows from them and from what the instruction is: a message moves a fixed number of bytes
 * per active lane (or per execution, for blocks). So counts cost nothing where messages execute.
 * Messages whose descriptor is computed count as messages without bytes.
 */
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stdlib.h>

int zs_gpu_counters_create(const struct zs_gpu_kernel *kernel,
                           struct zs_gpu_counters **ret_counters)
{
    struct zs_gpu_counters *counters = calloc(1, sizeof(*counters));
    if (!counters)
        return -ENOMEM;
    counters->kernel = kernel;
    counters->sums = calloc(kernel->counter_count + 1, sizeof(*counters->sums));
    if (!counters->sums) {
        free(counters);
        return -ENOMEM;
    }
    pthread_mutex_init(&counters->lock, NULL);
    *ret_counters = counters;
    return 0;
}

void zs_gpu_counters_destroy(struct zs_gpu_counters *counters)
{
    if (!counters)
        return;
    pthread_mutex_destroy(&counters->lock);
    free(counters->sums);
    free(counters);
}

void zs_gpu_counters_reset(struct zs_gpu_counters *counters)
{
    pthread_mutex_lock(&counters->lock);
    memset(counters->sums, 0, counters->kernel->counter_count * sizeof(*counters->sums));
    pthread_mutex_unlock(&counters->lock);
}

size_t zs_gpu_counters_size(const struct zs_gpu_counters *counters)
{
    return counters->kernel->instruction_count;
}

void zs_gpu_counters_add(struct zs_gpu_counters *counters, const uint64_t *sums)
{
    pthread_mutex_lock(&counters->lock);
    for (size_t i = 0; i < counters->kernel->counter_count; i++)
        counters->sums[i] += sums[i];
    pthread_mutex_unlock(&counters->lock);
}

void zs_gpu_counters_merge(struct zs_gpu_counters *counters, const struct zs_gpu_counters *others)
{
    zs_gpu_counters_add(counters, others->sums);
}

/* Per instruction: executions, then lanes. NULL: no memory. */
static uint64_t *expand(const struct zs_gpu_kernel *kernel, const uint64_t *sums)
{
    uint64_t *executions = calloc(2 * (size_t)kernel->instruction_count + 1, sizeof(uint64_t));
    if (executions)
        zs_eu_program_counters_expand(kernel->program, sums, executions,
                                      executions + kernel->instruction_count);
    return executions;
}

static uint64_t moves(const struct zs_gpu_instruction *instruction, uint64_t executions,
                      uint64_t lanes)
{
    return instruction->is_block ? executions : lanes;
}

size_t zs_gpu_counters_read(struct zs_gpu_counters *counters,
                            struct zs_gpu_instruction_count *ret_rows, size_t capacity)
{
    const struct zs_gpu_kernel *kernel = counters->kernel;
    pthread_mutex_lock(&counters->lock);
    uint64_t *executions = expand(kernel, counters->sums);
    pthread_mutex_unlock(&counters->lock);
    if (!executions)
        return 0;
    size_t count = ZS_MIN((size_t)kernel->instruction_count, capacity);
    for (size_t i = 0; i < count; i++) {
        const struct zs_gpu_instruction *instruction = &kernel->instructions[i];
        uint64_t lanes = executions[kernel->instruction_count + i];
        uint64_t times = moves(instruction, executions[i], lanes);
        ret_rows[i] = (struct zs_gpu_instruction_count){
            .offset_B = (int64_t)instruction->offset_B - (int64_t)kernel->entry_B,
            .executions = executions[i],
            .active_lanes = lanes,
            .bytes_read = times * instruction->bytes_read,
            .bytes_written = times * instruction->bytes_written};
    }
    free(executions);
    return count;
}

/* ---- totals ------------------------------------------------------------------------------------
 */

/* Where a space's messages and bytes are summed; offsets into struct zs_gpu_totals. */
struct space_row {
    size_t messages, bytes_read, bytes_written;
};
#define TOTAL(member) offsetof(struct zs_gpu_totals, member)
static const struct space_row spaces[] = {
    [ZS_PORT_SPACE_GLOBAL] = {TOTAL(untyped_messages), TOTAL(untyped_bytes_read),
                              TOTAL(untyped_bytes_written)},
    /* none writes there */
    [ZS_PORT_SPACE_PAYLOAD] = {TOTAL(argument_messages), TOTAL(argument_bytes_read),
                               TOTAL(argument_bytes_read)},
    [ZS_PORT_SPACE_SLM] = {TOTAL(slm_messages), TOTAL(slm_bytes_read), TOTAL(slm_bytes_written)},
    [ZS_PORT_SPACE_SCRATCH] = {TOTAL(scratch_messages), TOTAL(scratch_bytes_read),
                               TOTAL(scratch_bytes_written)},
    [ZS_PORT_SPACE_TYPED] = {TOTAL(typed_messages), TOTAL(typed_bytes_read),
                             TOTAL(typed_bytes_written)},
};

static void add_to(struct zs_gpu_totals *totals, size_t member, uint64_t value)
{
    uint64_t *sum = (uint64_t *)(void *)((char *)totals + member);
    *sum += value;
}

static void add_send(struct zs_gpu_totals *totals, const struct zs_gpu_instruction *instruction,
                     uint64_t executions, uint64_t lanes)
{
    totals->sends += executions;
    totals->atomics += instruction->is_atomic ? executions : 0;
    totals->barriers += instruction->is_barrier ? executions : 0;
    totals->fences += instruction->is_fence ? executions : 0;
    if (instruction->space == ZS_PORT_SPACE_SAMPLER) {
        totals->sampler_messages += executions;
        totals->sampler_texels += lanes;
        return;
    }
    if (instruction->space >= ZS_ARRAY_LEN(spaces) || !spaces[instruction->space].bytes_read)
        return; /* nothing of memory */
    const struct space_row *row = &spaces[instruction->space];
    uint64_t times = moves(instruction, executions, lanes);
    add_to(totals, row->messages, executions);
    add_to(totals, row->bytes_read, times * instruction->bytes_read);
    add_to(totals, row->bytes_written, times * instruction->bytes_written);
}

int zs_gpu_totals_add(const struct zs_gpu_kernel *kernel, const uint64_t *sums,
                      struct zs_gpu_totals *totals, uint64_t *ret_weighted)
{
    uint64_t *executions = expand(kernel, sums);
    if (!executions)
        return -ENOMEM;
    for (uint32_t i = 0; i < kernel->instruction_count; i++) {
        const struct zs_gpu_instruction *instruction = &kernel->instructions[i];
        uint64_t times = executions[i], lanes = executions[kernel->instruction_count + i];
        if (times == 0)
            continue;
        totals->instructions += times;
        totals->active_lanes += lanes;
        *ret_weighted += instruction->cost * ZS_MAX(times, lanes / 8);
        if (instruction->is_send)
            add_send(totals, instruction, times, lanes);
    }
    free(executions);
    return 0;
}
