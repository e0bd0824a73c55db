/* SPDX-License-Identifier: MIT */
/* Opening, and what callers want to be inserted. */
#include "edit/edit_priv.h"
#include "isa/isa.h"

#include "base/options.h"
#include "base/vec.h"
#include "isa/register_use.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACE_DEFAULT_B = 16 << 20, TRACE_MAX_B = 1 << 30, TRACE_MIN_B = 4096 };
/* Records that begin before the end may run past it. */
enum { GRF_MAX_B = 64, TRACE_SLACK_B = ZS_UNIT_B + ZS_RECORD_GRF_MAX * GRF_MAX_B };

static const struct zs_image *choose(const struct zs_module *module, const char *device)
{
    if (device)
        return zs_module_image(module, device);
    return module->image_count ? &module->images[0] : NULL;
}

static enum zs_isa_platform platform_of(const struct zs_image *image)
{
    enum zs_isa_platform platform = zs_isa_platform_from_device(image->device);
    return platform ? platform : zs_isa_platform_from_gfxcore(image->gfxcore);
}

static int open_image(struct zs_edit *edit, const char *device, struct zs_diag *diag)
{
    edit->image = choose(edit->module, device);
    if (!edit->image)
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "no machine code for %s",
                           device ? device : "any device");
    edit->platform = platform_of(edit->image);
    if (!edit->platform)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "machine code of a device that is not known (family %u)",
                           edit->image->gfxcore);
    edit->kernel_count = edit->image->kernel_count;
    edit->kernels = calloc(edit->kernel_count + 1u, sizeof(*edit->kernels));
    if (!edit->kernels)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for kernels");
    for (uint32_t i = 0; i < edit->kernel_count; i++) {
        edit->kernels[i].edit = edit;
        edit->kernels[i].info = &edit->image->kernels[i];
    }
    return 0;
}

int zs_edit_open(struct zs_span binary, const struct zs_edit_options *given,
                 struct zs_edit **ret_edit, struct zs_diag *diag)
{
    struct zs_edit_options options;
    int error = ZS_OPTIONS_TAKE(&options, given, diag);
    if (error)
        return error;
    struct zs_edit *edit = calloc(1, sizeof(*edit));
    if (!edit)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for an editor");
    struct zs_module_options open = {.size_B = sizeof(open), .debug = options.debug};
    error = zs_module_open_memory(binary, &open, &edit->module, diag);
    if (error && open.debug.size_B) { /* debug information is a help: the module comes first */
        open.debug = (struct zs_span){0};
        error = zs_module_open_memory(binary, &open, &edit->module, NULL);
    }
    if (!error)
        error = open_image(edit, options.device, diag);
    if (error) {
        zs_edit_close(edit);
        return error;
    }
    edit->trace_B = TRACE_DEFAULT_B;
    edit->narrow_atomics = options.narrow_atomics;
    *ret_edit = edit;
    return 0;
}

void zs_edit_close(struct zs_edit *edit)
{
    if (!edit)
        return;
    for (uint32_t i = 0; i < edit->kernel_count; i++) {
        struct zs_edit_kernel *k = &edit->kernels[i];
        zs_isa_kernel_close(k->code);
        zs_placed_fini(&k->placed);
        zs_buf_fini(&k->pool);
        free(k->live_grf);
        free(k->insertions);
        free(k->probes);
    }
    free(edit->kernels);
    zs_redirects_fini(edit);
    zs_module_close(edit->module);
    free(edit);
}

const struct zs_module *zs_edit_module(const struct zs_edit *edit)
{
    return edit->module;
}

const struct zs_image *zs_edit_image(const struct zs_edit *edit)
{
    return edit->image;
}

uint32_t zs_edit_kernel_count(const struct zs_edit *edit)
{
    return edit->kernel_count;
}

struct zs_edit_kernel *zs_edit_kernel(struct zs_edit *edit, uint32_t index)
{
    return index < edit->kernel_count ? &edit->kernels[index] : NULL;
}

const struct zs_kernel *zs_edit_kernel_info(const struct zs_edit_kernel *kernel)
{
    return kernel->info;
}

static int open_code(struct zs_edit_kernel *k)
{
    struct zs_isa_options options = {.size_B = sizeof(options),
                                     .grf_count = k->info->grf_count,
                                     .entry_B = k->info->thread.skip_per_thread_load_B};
    struct zs_diag diag = {0};
    int error = zs_isa_kernel_open(k->edit->platform, k->info->code, &options, &k->code, &diag);
    if (!error)
        error =
            zs_isa_kernel_decode(k->code, ZS_ISA_INSTS | ZS_ISA_BLOCKS | ZS_ISA_LIVENESS, &diag);
    if (!error)
        return 0;
    zs_isa_kernel_close(k->code);
    k->code = NULL;
    zs_edit_refuse(k, "%s", diag.text);
    return error;
}

const struct zs_isa_kernel *zs_edit_kernel_code(struct zs_edit_kernel *kernel)
{
    if (!kernel->code && !kernel->code_error)
        kernel->code_error = open_code(kernel);
    return kernel->code;
}

int zs_edit_refuse(struct zs_edit_kernel *k, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!k->refusal[0])
        vsnprintf(k->refusal, sizeof(k->refusal), format, args);
    va_end(args);
    return -ENOTSUP;
}

const char *zs_edit_refusal(const struct zs_edit_kernel *kernel)
{
    return kernel->refusal[0] ? kernel->refusal : NULL;
}

/* ---- insertions ---- */

/* A branch that a thread may leave for the next instruction. */
static bool may_go_on(const struct zs_isa_inst *in)
{
    static const bool structured[ZS_OP_COUNT] = {
        [ZS_OP_IF] = true,    [ZS_OP_ELSE] = true,  [ZS_OP_ENDIF] = true,
        [ZS_OP_WHILE] = true, [ZS_OP_BREAK] = true, [ZS_OP_CONT] = true,
        [ZS_OP_HALT] = true,  [ZS_OP_GOTO] = true,  [ZS_OP_JOIN] = true};
    bool asks = in->op == ZS_OP_JMPI || in->op == ZS_OP_BRD || in->op == ZS_OP_BRC;
    return structured[in->op] || (asks && in->pred);
}

static int check_place(struct zs_edit_kernel *k, uint32_t inst, enum zs_edit_where where,
                       struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(k);
    if (!code)
        return zs_diag_set(diag, k->code_error, ZS_DIAG_NO_OFFSET, "%s", k->refusal);
    if (where == ZS_EDIT_ENTRY)
        return 0;
    if ((unsigned)where > ZS_EDIT_JUMP || inst >= zs_isa_kernel_count(code))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "instruction %u of %u in %s: there is no such place", inst,
                           zs_isa_kernel_count(code), k->info->name);
    const struct zs_isa_inst *in = zs_isa_inst(code, inst);
    const char *why = where == ZS_EDIT_JUMP ? zs_jump_find(k, inst).why : NULL;
    if (why)
        return zs_diag_set(diag, -ENOTSUP, in->offset_B,
                           "no edge for threads that jump from %s: %s",
                           zs_isa_op_mnemonic((enum zs_isa_op)in->op), why);
    if (where == ZS_EDIT_JUMP)
        return 0;
    bool leaves =
        in->flags & ZS_INST_EOT || zs_isa_op_flags((enum zs_isa_op)in->op) & ZS_OPF_BRANCH;
    bool edge = where == ZS_EDIT_AFTER && !(in->flags & ZS_INST_EOT) && may_go_on(in);
    if (where != ZS_EDIT_BEFORE && leaves && !edge)
        return zs_diag_set(diag, -EINVAL, in->offset_B,
                           "nothing can be put behind a jump, a call or the end of a thread, or "
                           "replace a branch");
    return 0;
}

static int add(struct zs_edit_kernel *k, const struct zs_insertion *insertion, struct zs_diag *diag)
{
    struct {
        struct zs_insertion *items;
        size_t count, capacity;
    } v = {k->insertions, k->insertion_count, k->insertion_capacity};
    bool ok = v.count < ZS_EDIT_INSERTIONS_MAX && ZS_VEC_PUSH(&v, *insertion);
    k->insertions = v.items;
    k->insertion_count = v.count;
    k->insertion_capacity = v.capacity;
    return ok ? 0 : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for insertions");
}

/* What headers of messages to scratch memory are kept in must be nothing that text touches, or what
 * it calls. */
static int note_text(struct zs_edit_kernel *k, struct zs_span bytes, struct zs_diag *diag)
{
    struct zs_isa_options options = {.size_B = sizeof(options), .grf_count = k->info->grf_count};
    struct zs_isa_kernel *code;
    int error = zs_isa_kernel_open(k->edit->platform, bytes, &options, &code, diag);
    if (error)
        return error;
    error = zs_isa_kernel_decode(code, ZS_ISA_INSTS | ZS_ISA_BLOCKS, diag);
    if (!error) {
        struct zs_isa_register_use touched;
        zs_isa_kernel_register_use(code, 0, &touched);
        k->text_acc |= touched.closed ? touched.acc : UINT16_MAX;
        k->text_address |= touched.closed ? touched.address : UINT16_MAX;
        k->text_writes_header |= !touched.known;
    }
    for (uint32_t i = 0; !error && i < zs_isa_kernel_count(code); i++) {
        struct zs_isa_effects e;
        zs_isa_inst_effects(code, i, &e);
        k->text_writes_header |= zs_grf_has(e.grf_written, 0);
    }
    zs_isa_kernel_close(code);
    return error;
}

/* Machine code of the caller's, as it will stand there, is appended to the pool. */
static int put_code(struct zs_edit_kernel *k, struct zs_span code, struct zs_insertion *insertion,
                    struct zs_diag *diag)
{
    size_t before_B = k->pool.size_B;
    bool asks = insertion->where == ZS_EDIT_JUMP && zs_jump_asks_lanes(k, insertion);
    int error = code.size_B ? note_text(k, code, diag) : 0;
    if (!error && asks && zs_isa_has_fused_eus(k->edit->platform))
        error = zs_guard_make(k, code, &insertion->guard, &k->pool, diag);
    else if (!error)
        zs_buf_append(&k->pool, code.data, code.size_B);
    insertion->index = (uint32_t)before_B;
    insertion->size_B = (uint32_t)(k->pool.size_B - before_B);
    if (error)
        k->pool.size_B = before_B;
    return error ? error : k->pool.error;
}

int zs_edit_insert(struct zs_edit_kernel *kernel, uint32_t inst, enum zs_edit_where where,
                   const char *text, struct zs_diag *diag)
{
    int error = text ? check_place(kernel, inst, where, diag)
                     : zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no text");
    if (error)
        return error;
    struct zs_isa_asm_error asm_error = {.size_B = sizeof(asm_error)};
    uint8_t *code = NULL;
    size_t size_B = 0;
    error = zs_isa_assemble(kernel->edit->platform,
                            (struct zs_span){(const uint8_t *)text, strlen(text)}, &code, &size_B,
                            &asm_error);
    if (error)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "line %u, column %u: %s", asm_error.line,
                           asm_error.column, asm_error.text);
    struct zs_insertion insertion = {.inst = where == ZS_EDIT_ENTRY ? 0 : inst,
                                     .where = (uint8_t)where};
    error = put_code(kernel, (struct zs_span){code, size_B}, &insertion, diag);
    zs_isa_code_free(code);
    return error ? error : add(kernel, &insertion, diag);
}

static bool counts(uint32_t kind)
{
    return kind == ZS_PROBE_COUNT || kind == ZS_PROBE_LANES || kind == ZS_PROBE_ELAPSED;
}

static int check_probe(const struct zs_edit_kernel *k, uint32_t inst, enum zs_edit_where where,
                       const struct zs_probe *p, struct zs_diag *diag)
{
    const struct zs_isa_inst *in = zs_isa_inst(k->code, inst);
    if (!zs_emit_has(k->edit->platform) ||
        (k->edit->narrow_atomics && k->edit->platform > ZS_ISA_GEN11))
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "no probes are known for %s",
                           zs_isa_platform_info(k->edit->platform)->name);
    if (p->kind >= ZS_PROBE_KIND_COUNT || where == ZS_EDIT_INSTEAD)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "no such probe, or none of this place");
    if (counts(p->kind) && p->counter >= k->edit->counter_count)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "counter %u of %u", p->counter,
                           k->edit->counter_count);
    if (p->clock >= ZS_EDIT_CLOCKS_MAX)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "clock %u of %d", p->clock,
                           ZS_EDIT_CLOCKS_MAX);
    if (p->kind == ZS_PROBE_TRACE && (p->grf_count > ZS_RECORD_GRF_MAX || p->grf > ZS_GRFS_MAX ||
                                      p->grf + p->grf_count > zs_edit_grf_count(k)))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "registers r%u to r%u in a record",
                           p->grf, p->grf + p->grf_count - 1);
    bool masked =
        (p->kind == ZS_PROBE_LANES || p->kind == ZS_PROBE_TRACE) && !p->all_active && !p->all_lanes;
    if (masked && in->pred > ZS_PRED_SEQ && !zs_emit_pred_width(in))
        return zs_diag_set(diag, -ENOTSUP, in->offset_B,
                           "a predicate that looks at part of its lanes, or at two flags");
    return 0;
}

int zs_edit_probe(struct zs_edit_kernel *kernel, uint32_t inst, enum zs_edit_where where,
                  const struct zs_probe *probe, struct zs_diag *diag)
{
    int error = probe ? check_place(kernel, inst, where, diag)
                      : zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "no probe");
    inst = where == ZS_EDIT_ENTRY ? 0 : inst;
    if (!error && zs_isa_kernel_count(kernel->code) == 0)
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%s has no code", kernel->info->name);
    if (!error)
        error = check_probe(kernel, inst, where, probe, diag);
    if (error)
        return error;
    struct {
        struct zs_probe_at *items;
        size_t count, capacity;
    } v = {kernel->probes, kernel->probe_count, kernel->probe_capacity};
    bool ok = ZS_VEC_PUSH(&v, ((struct zs_probe_at){*probe, inst}));
    kernel->probes = v.items;
    kernel->probe_capacity = v.capacity;
    if (!ok)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for probes");
    struct zs_insertion insertion = {.inst = inst,
                                     .where = (uint8_t)where,
                                     .is_probe = true,
                                     .index = (uint32_t)kernel->probe_count};
    error = add(kernel, &insertion, diag);
    if (!error)
        kernel->probe_count = v.count;
    kernel->edit->traces |= !error && probe->kind == ZS_PROBE_TRACE;
    return error;
}

const struct zs_probe *zs_edit_probe_at(const struct zs_edit_kernel *kernel, uint32_t index,
                                        uint32_t *ret_inst)
{
    if (index >= kernel->probe_count)
        return NULL;
    *ret_inst = kernel->probes[index].inst;
    return &kernel->probes[index].probe;
}

/* ---- the buffer ---- */

uint32_t zs_edit_counters(struct zs_edit *edit, uint32_t count)
{
    if (count > ZS_EDIT_COUNTERS_MAX - edit->counter_count)
        return ZS_NONE;
    uint32_t first = edit->counter_count;
    edit->counter_count += count;
    return first;
}

void zs_edit_set_trace_size(struct zs_edit *edit, uint32_t size_B)
{
    size_B = size_B ? ZS_MIN(size_B, (uint32_t)TRACE_MAX_B) : (uint32_t)TRACE_DEFAULT_B;
    edit->trace_B = ZS_MAX(size_B, (uint32_t)TRACE_MIN_B) / ZS_GROUP_B * ZS_GROUP_B;
}

struct zs_edit_buffer zs_edit_buffer(const struct zs_edit *edit)
{
    uint64_t groups = (edit->counter_count + ZS_GROUP_COUNTERS - 1) / ZS_GROUP_COUNTERS;
    struct zs_edit_buffer b = {.size_B = groups * ZS_GROUP_B, .counter_count = edit->counter_count};
    if (!edit->traces)
        return b;
    b.trace_offset_B = b.size_B;
    b.records_offset_B = b.trace_offset_B + ZS_GROUP_B;
    b.records_size_B = edit->trace_B;
    b.size_B = b.records_offset_B + edit->trace_B + TRACE_SLACK_B;
    return b;
}
