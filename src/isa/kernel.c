/* SPDX-License-Identifier: MIT */
/*
 * A kernel's code: where instructions start, and the order in which parts of it are decoded.
 *
 * Instructions are decoded from their bytes whenever they are asked for; that costs less than
 * finding them again would. So text is never kept: TEXT computes labels alone, for which branches
 * and the ends of the thread have to be known.
 */
#include "isa/isa_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_LIMIT_B = 256 << 20 };

static int count_instructions(struct zs_isa_kernel *k, struct zs_diag *diag)
{
    size_t at_B = 0;
    uint32_t count = 0;
    while (at_B < k->code.size_B) {
        size_t left_B = k->code.size_B - at_B;
        uint32_t size_B = left_B >= 8 ? zs_isa_raw_size_B(k->code.data + at_B) : 8;
        if (size_B > left_B)
            return zs_diag_set(diag, -EINVAL, at_B,
                               "code ends inside an instruction: %u bytes expected, %zu remain",
                               size_B, left_B);
        at_B += size_B;
        count++;
    }
    k->count = count;
    return 0;
}

static int find_instructions(struct zs_isa_kernel *k, struct zs_diag *diag)
{
    int error = count_instructions(k, diag);
    if (error)
        return error;
    k->offsets_B = malloc(((size_t)k->count + 1) * sizeof(*k->offsets_B));
    if (!k->offsets_B)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for %u instructions",
                           k->count);
    uint32_t at_B = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        k->offsets_B[i] = at_B;
        at_B += zs_isa_raw_size_B(k->code.data + at_B);
    }
    k->offsets_B[k->count] = at_B;
    return 0;
}

int zs_isa_kernel_open(enum zs_isa_platform platform, struct zs_span code,
                       const struct zs_isa_options *options, struct zs_isa_kernel **ret_kernel,
                       struct zs_diag *diag)
{
    const struct zs_isa_platform_info *info = zs_isa_platform_info(platform);
    if (!info || !zs_isa_model(platform))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "its instruction set is not known");
    if (code.size_B > CODE_LIMIT_B)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET,
                           "%zu bytes of code in one kernel: more than the limit of %u",
                           code.size_B, CODE_LIMIT_B);
    struct zs_isa_kernel *k = calloc(1, sizeof(*k));
    if (!k)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for a kernel");
    k->platform = platform;
    k->model = zs_isa_model(platform);
    k->code = code;
    k->grf_B = info->grf_B;
    k->grf_count = options && options->grf_count ? ZS_MIN(options->grf_count, info->grf_count_max)
                                                 : info->grf_count;
    k->entry_B = options && options->size_B >= sizeof(*options) ? options->entry_B : 0;
    int error = find_instructions(k, diag);
    if (error) {
        zs_isa_kernel_close(k);
        return error;
    }
    *ret_kernel = k;
    return 0;
}

void zs_isa_kernel_close(struct zs_isa_kernel *k)
{
    if (!k)
        return;
    free(k->offsets_B);
    free(k->branches.items);
    free(k->insts);
    free(k->messages);
    free(k->blocks);
    free(k->edges);
    free(k->loops);
    free(k->ends);
    free(k->label_bits);
    free(k->live_grf);
    free(k->live_out);
    free(k->parked);
    free(k);
}

/* ---- instructions ---- */

static bool decode_at(const struct zs_isa_kernel *k, uint32_t i, struct zs_isa_inst *ret)
{
    bool ok = zs_isa_decode(k->model, k->code.data + k->offsets_B[i], ret);
    ret->offset_B = k->offsets_B[i];
    return ok;
}

static uint32_t absolute(uint32_t offset_B, int64_t relative_B)
{
    int64_t target_B = offset_B + relative_B;
    return target_B < 0 || target_B >= ZS_ISA_NO_INDEX ? ZS_ISA_NO_INDEX : (uint32_t)target_B;
}

/* Labels become places in the code: the first is JIP, a second UIP. */
static void place(struct zs_isa_inst *inst)
{
    uint32_t from_B = inst->op == ZS_OP_CALLA ? 0 : inst->offset_B;
    bool first = true;
    for (uint32_t s = 0; s < inst->source_count && s < 2; s++) {
        if (inst->src[s].kind != ZS_OPERAND_LABEL)
            continue;
        uint32_t target_B = absolute(from_B, (int64_t)inst->src[s].imm);
        *(first ? &inst->jip_B : &inst->uip_B) = target_B;
        first = false;
    }
}

static bool is_branch(const struct zs_isa_inst *inst)
{
    return zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH;
}

static int note_flow(struct zs_isa_kernel *k, uint32_t i, const struct zs_isa_inst *inst)
{
    if (inst->flags & ZS_INST_EOT)
        k->ends[i / 8] = (uint8_t)(k->ends[i / 8] | 1u << i % 8);
    if (!is_branch(inst))
        return 0;
    struct zs_isa_branch branch = {.inst = i,
                                   .jip_B = inst->jip_B,
                                   .uip_B = inst->uip_B,
                                   .code = (uint8_t)(inst->raw[0] & 0x7f),
                                   .predicated = inst->pred != ZS_PRED_NONE};
    return ZS_VEC_PUSH(&k->branches, branch) ? 0 : -ENOMEM;
}

/* Branches, ends of the thread, and how many instructions are none. */
static int scan(struct zs_isa_kernel *k)
{
    struct zs_isa_inst inst;
    int error = 0;
    k->branches.count = 0;
    k->illegal_count = 0;
    free(k->ends);
    k->ends = calloc(1, (size_t)k->count / 8 + 1);
    if (!k->ends)
        return -ENOMEM;
    for (uint32_t i = 0; i < k->count && !error; i++) {
        k->illegal_count += decode_at(k, i, &inst) ? 0 : 1;
        place(&inst);
        error = note_flow(k, i, &inst);
    }
    k->scanned = !error;
    return error;
}

static uint32_t count_sends(const struct zs_isa_kernel *k)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->count; i++)
        count += zs_isa_raw_is_send(k->code.data + k->offsets_B[i]) ? 1 : 0;
    return count;
}

static int make_insts(struct zs_isa_kernel *k)
{
    k->insts = malloc(((size_t)k->count + 1) * sizeof(*k->insts));
    k->messages = malloc(((size_t)count_sends(k) + 1) * sizeof(*k->messages));
    if (!k->insts || !k->messages)
        return -ENOMEM;
    k->message_count = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        struct zs_isa_inst *inst = &k->insts[i];
        decode_at(k, i, inst);
        place(inst);
        if (!(zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_SEND))
            continue;
        inst->message = k->message_count++;
        zs_isa_make_message(k->model, inst, &k->messages[inst->message]);
    }
    return 0;
}

/* ---- labels ---- */

static void set_label(struct zs_isa_kernel *k, uint32_t i)
{
    k->label_bits[i / 8] = (uint8_t)(k->label_bits[i / 8] | 1u << i % 8);
}

/* At the instruction that starts there, or the code's end. iga64 also prints labels for targets
 * inside an instruction or outside the code; only damaged code has those. */
static void set_label_at(struct zs_isa_kernel *k, uint32_t offset_B)
{
    uint32_t i = offset_B == k->code.size_B ? k->count : zs_isa_inst_find(k, offset_B);
    if (i != ZS_ISA_NO_INDEX && k->offsets_B[i] == offset_B)
        set_label(k, i);
}

static int make_labels(struct zs_isa_kernel *k)
{
    k->label_bits = calloc(1, (size_t)k->count / 8 + 1);
    if (!k->label_bits)
        return -ENOMEM;
    if (k->count)
        set_label(k, 0);
    for (size_t b = 0; b < k->branches.count; b++) {
        const struct zs_isa_branch *branch = &k->branches.items[b];
        set_label(k, branch->inst + 1);
        if (branch->jip_B != ZS_ISA_NO_INDEX)
            set_label_at(k, branch->jip_B);
        if (branch->uip_B != ZS_ISA_NO_INDEX)
            set_label_at(k, branch->uip_B);
    }
    for (uint32_t i = 0; i < k->count; i++)
        if (zs_isa_ends_thread(k, i))
            set_label(k, i + 1);
    return 0;
}

/* ---- stages ---- */

static int decode_missing(struct zs_isa_kernel *k, uint32_t want, struct zs_diag *diag)
{
    int error = 0;
    if (want && !k->scanned)
        error = scan(k);
    if (!error && want & ZS_ISA_TEXT)
        error = make_labels(k);
    if (!error && want & ZS_ISA_INSTS)
        error = make_insts(k);
    if (error)
        return error;
    k->done |= want & (ZS_ISA_TEXT | ZS_ISA_INSTS);
    if (want & ZS_ISA_BLOCKS)
        error = zs_isa_make_blocks(k);
    if (!error) {
        k->done |= want & ZS_ISA_BLOCKS;
        if (want & ZS_ISA_LIVENESS)
            error = zs_isa_make_liveness(k, diag);
    }
    if (!error)
        k->done |= want & ZS_ISA_LIVENESS;
    return error;
}

int zs_isa_kernel_decode(struct zs_isa_kernel *k, uint32_t what, struct zs_diag *diag)
{
    if (what & ZS_ISA_LIVENESS)
        what |= ZS_ISA_INSTS | ZS_ISA_BLOCKS;
    int error = decode_missing(k, what & ~k->done, diag);
    if (error && (!diag || !diag->error))
        zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory to decode %u instructions",
                    k->count);
    return error;
}

/* ---- accessors ---- */

enum zs_isa_platform zs_isa_kernel_platform(const struct zs_isa_kernel *k)
{
    return k->platform;
}

uint32_t zs_isa_kernel_size_B(const struct zs_isa_kernel *k)
{
    return (uint32_t)k->code.size_B;
}

uint32_t zs_isa_kernel_count(const struct zs_isa_kernel *k)
{
    return k->count;
}

uint32_t zs_isa_kernel_illegal_count(const struct zs_isa_kernel *k)
{
    return k->illegal_count;
}

uint32_t zs_isa_inst_offset(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(i <= k->count);
    return k->offsets_B[i];
}

uint32_t zs_isa_inst_size(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(i < k->count);
    return k->offsets_B[i + 1] - k->offsets_B[i];
}

uint32_t zs_isa_inst_find(const struct zs_isa_kernel *k, uint32_t offset_B)
{
    if (offset_B >= k->code.size_B)
        return ZS_ISA_NO_INDEX;
    uint32_t low = 0, high = k->count; /* offsets_B[low] <= offset_B < offsets_B[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (k->offsets_B[middle] <= offset_B)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const struct zs_isa_branch *zs_isa_branch_of(const struct zs_isa_kernel *k, uint32_t i)
{
    size_t low = 0, high = k->branches.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (k->branches.items[middle].inst < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->branches.count && k->branches.items[low].inst == i ? &k->branches.items[low]
                                                                       : NULL;
}

size_t zs_isa_inst_line(const struct zs_isa_kernel *k, uint32_t i, char ret_line[ZS_ISA_LINE_MAX])
{
    struct zs_isa_inst inst;
    zs_assert(i < k->count);
    decode_at(k, i, &inst);
    return zs_isa_print(k->model, &inst, inst.offset_B, ret_line);
}

size_t zs_isa_inst_text(const struct zs_isa_kernel *k, uint32_t i, char ret_text[ZS_ISA_LINE_MAX])
{
    size_t size_B = zs_isa_inst_line(k, i, ret_text), lead_B = 0;
    while (size_B && ret_text[size_B - 1] == ' ')
        size_B--;
    while (lead_B < size_B && ret_text[lead_B] == ' ')
        lead_B++;
    memmove(ret_text, ret_text + lead_B, size_B - lead_B);
    ret_text[size_B - lead_B] = '\0';
    return size_B - lead_B;
}

bool zs_isa_inst_has_label(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(k->done & ZS_ISA_TEXT && i <= k->count);
    return k->label_bits[i / 8] >> i % 8 & 1;
}

const struct zs_isa_inst *zs_isa_inst(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(k->done & ZS_ISA_INSTS && i < k->count);
    return &k->insts[i];
}

uint32_t zs_isa_message_count(const struct zs_isa_kernel *k)
{
    return k->message_count;
}

const struct zs_isa_message *zs_isa_message(const struct zs_isa_kernel *k, uint32_t message)
{
    zs_assert(message < k->message_count);
    return &k->messages[message];
}

const struct zs_isa_message *zs_isa_inst_message(const struct zs_isa_kernel *k, uint32_t i)
{
    uint32_t message = zs_isa_inst(k, i)->message;
    return message == ZS_ISA_NO_INDEX ? NULL : &k->messages[message];
}
