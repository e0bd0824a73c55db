/* SPDX-License-Identifier: MIT */
/*
 * Functions that computed jumps of a walk's kernel may lead to. A driver puts them somewhere in the
 * heap of code, and only addresses in registers and tables say where. So all code of the heap is
 * looked at, once for each kernel that computes jumps:
 *
 *     kernel ... send {EOT}   f ... ret   g ... ret   0 0 0
 *                             '---------------------' a segment with two places to jump to
 *
 * What ends the thread is a kernel's. What ends in a return, behind that or at the start, are
 * functions: each stands behind the end of the one before, or behind padding. Before Gen12
 * functions return by `jmpi` with a register, and call by it, too: a place behind a call is taken
 * for one more to jump to, which does no harm, as a block starts there anyway.
 */
#include "gpu/walk.h"

#include "base/reader.h"
#include "base/vec.h"
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stdlib.h>

enum { LINE_B = 64, INST_B = 16, CODE_MAX_B = 16 << 20 };

/* Where functions begin, in bytes from the start of what is read, and where the last one ends. */
struct found {
    struct zs_gpu_walk_starts starts_B;
    uint32_t end_B;
};

void zs_gpu_walk_functions_fini(struct zs_gpu_walk_functions *f)
{
    free(f->segments.items);
    free(f->starts_B.items);
    zs_buf_fini(&f->code);
    *f = (struct zs_gpu_walk_functions){0};
}

static bool is_return(const struct zs_isa_inst *inst)
{
    bool by_register = inst->op == ZS_OP_JMPI && inst->src[0].kind != ZS_OPERAND_LABEL;
    return inst->op == ZS_OP_RET || (by_register && inst->pred == ZS_PRED_NONE);
}

/* What may stand between functions: padding, and the numbers behind a kernel's end by which IGC 2
 * tells its source, as moves to null. */
static bool is_between(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_NOP || (inst->op == ZS_OP_MOV && inst->dst.file == ZS_FILE_NULL &&
                                     !inst->cond && inst->src[0].kind == ZS_OPERAND_IMM);
}

/* Up to what is no instruction. false: no memory. */
static bool read_run(const struct zs_isa_kernel *k, struct found *found, bool *ret_is_code)
{
    uint32_t start_B = 0, reached_B = 0;
    bool is_open = false; /* there are instructions since the last end */
    for (uint32_t i = 0; i < zs_isa_kernel_count(k); i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(k, i);
        if (!inst || inst->flags & ZS_INST_ILLEGAL)
            break;
        if (!is_open && is_between(inst))
            continue;
        start_B = is_open ? start_B : inst->offset_B;
        is_open = true;
        if (inst->jip_B != ZS_ISA_NO_INDEX)
            reached_B = ZS_MAX(reached_B, inst->jip_B);
        if (inst->uip_B != ZS_ISA_NO_INDEX)
            reached_B = ZS_MAX(reached_B, inst->uip_B);
        if (inst->offset_B < reached_B)
            continue;
        *ret_is_code |= inst->flags & ZS_INST_EOT || inst->op == ZS_OP_RET;
        if (inst->flags & ZS_INST_EOT) {
            found->starts_B.count = 0;
            is_open = false;
        } else if (is_return(inst)) {
            if (!ZS_VEC_PUSH(&found->starts_B, start_B))
                return false;
            found->end_B = inst->offset_B + inst->size_B;
            is_open = false;
        }
    }
    return true;
}

static int put(struct zs_gpu_walk_functions *f, const struct found *found, uint32_t ip_B,
               struct zs_span code)
{
    uint32_t from_B = found->starts_B.items[0], offset_B = (uint32_t)f->code.size_B;
    const struct zs_gpu_segment segment = {offset_B, found->end_B - from_B, ip_B + from_B};
    zs_buf_append(&f->code, code.data + from_B, segment.size_B);
    if (f->code.error || !ZS_VEC_PUSH(&f->segments, segment))
        return -ENOMEM;
    for (size_t i = 0; i < found->starts_B.count; i++)
        if (!ZS_VEC_PUSH(&f->starts_B, offset_B + found->starts_B.items[i] - from_B))
            return -ENOMEM;
    return 0;
}

static int decode(enum zs_isa_platform platform, struct zs_span code, struct zs_isa_kernel **ret)
{
    struct zs_diag diag = {0};
    int error = zs_isa_kernel_open(platform, code, NULL, ret, &diag);
    return error ? error : zs_isa_kernel_decode(*ret, ZS_ISA_INSTS, &diag);
}

/* What stands in a row, code or not. */
static int add_run(struct zs_gpu_walk_functions *f, enum zs_isa_platform platform, uint32_t ip_B,
                   struct zs_span code, bool *ret_is_code)
{
    struct zs_isa_kernel *k = NULL;
    struct found found = {.end_B = 0};
    if (decode(platform, code, &k)) { /* its last instruction may be half as long */
        zs_isa_kernel_close(k);
        code.size_B -= INST_B / 2;
        k = NULL;
    }
    int error = 0;
    if (k || !decode(platform, code, &k))
        error = read_run(k, &found, ret_is_code) ? 0 : -ENOMEM;
    if (!error && found.starts_B.count)
        error = put(f, &found, ip_B, code);
    zs_isa_kernel_close(k);
    free(found.starts_B.items);
    return error;
}

/* Up to the first instruction's worth of zeros, which are none. */
static size_t filled_B(struct zs_span code)
{
    size_t at_B = 0;
    while (at_B + INST_B <= code.size_B &&
           (zs_load_u64(code.data + at_B) | zs_load_u64(code.data + at_B + 8)) != 0)
        at_B += INST_B;
    return at_B;
}

int zs_gpu_walk_functions_add(struct zs_gpu_walk_functions *f, const struct zs_gpu_device *device,
                              uint32_t ip_B, struct zs_span memory, bool *ret_is_code)
{
    int error = 0;
    for (size_t at_B = 0, size_B; at_B + INST_B <= memory.size_B && !error; at_B += size_B) {
        struct zs_span code = {memory.data + at_B, memory.size_B - at_B};
        code.size_B = filled_B(code);
        if (code.size_B && code.size_B <= CODE_MAX_B)
            error = add_run(f, device->model->platform, ip_B + (uint32_t)at_B, code, ret_is_code);
        size_B = zs_align_up(ZS_MAX(code.size_B, (size_t)1), LINE_B);
    }
    return error;
}
