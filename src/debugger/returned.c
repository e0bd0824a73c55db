/* SPDX-License-Identifier: MIT */
/*
 * What a function has returned, behind its call. IGC's stack calls give numbers and vectors of them
 * from r26 on: the first elements of all lanes, then the second ones.
 */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <string.h>

enum { VALUE_REGISTER = 26, DWARF_GRF = 16 };

struct zs_dbg_returned zs_dbg_returns(struct zs_debugger *d, const struct zs_dbg_thread *t)
{
    struct zs_dbg_returned none = {0};
    struct zs_arena arena;
    struct zs_dbg_call_frame frames[ZS_DBG_CALLS_MAX];
    zs_arena_init(&arena, 0);
    uint32_t count = zs_dbg_unwind(d, t, &arena, frames);
    zs_arena_fini(&arena);
    uint32_t call = count > 1 ? zs_dbg_inst_at(frames[1].kernel, frames[1].va) : ZS_NO_INDEX;
    uint32_t function = zs_dbg_function_at(t->kernel, t->shown.gpu_va);
    if (call == ZS_NO_INDEX || function == ZS_NO_INDEX)
        return none;
    const struct zs_isa_inst *inst = zs_isa_inst(frames[1].kernel->isa, call);
    const struct zs_frame *f = &t->kernel->info->frames[function];
    if (!inst->dst.reg || inst->dst.reg != t->kernel->frame_register)
        return none;
    return (struct zs_dbg_returned){t->kernel->info->dwarf, f->return_type, inst->exec_size, 0};
}

/* Of one lane: pieces, one for each element. */
static bool find_pieces(const struct zs_dbg_context *c, const struct zs_dbg_returned *r,
                        struct zs_eval_result *ret)
{
    struct zs_type type, element;
    uint32_t lanes = r->lanes == 32 ? 16 : r->lanes, grf_bits = c->d->grf_B * 8;
    if (!lanes || r->lanes == 32 || zs_type_get(r->dwarf, zs_type_strip(r->dwarf, r->type), &type))
        return false;
    element = type;
    bool is_vector = type.kind == ZS_KIND_VECTOR;
    if (is_vector && zs_type_get(r->dwarf, zs_type_strip(r->dwarf, type.target), &element))
        return false;
    uint64_t count = is_vector ? type.count : 1;
    if ((element.kind != ZS_KIND_BASE && element.kind != ZS_KIND_POINTER &&
         element.kind != ZS_KIND_ENUM) ||
        (element.size_B != 4 && element.size_B != 8) || !count || count > ZS_DBG_PICKED_MAX)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = (i * lanes + c->lane) * element.size_B * 8;
        ret->pieces[i] =
            (struct zs_piece){.kind = ZS_PIECE_REGISTER,
                              .dwarf_register = DWARF_GRF + VALUE_REGISTER + at / grf_bits,
                              .bit_offset = at % grf_bits,
                              .size_bits = element.size_B * 8};
    }
    ret->count = (uint32_t)count;
    return true;
}

int zs_debug_returned(struct zs_debugger *d, struct zs_debug_value **ret_value,
                      struct zs_diag *diag)
{
    struct zs_dbg_context c;
    int error = zs_dbg_context_make(d, d->focus_thread, d->focus_lane, 0, diag, &c);
    if (error)
        return error;
    if (!d->returned.type || d->returned.va != c.thread->shown.gpu_va)
        return zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET, "no value is known");
    struct zs_dbg_value *v = zs_dbg_value_new(&c, "");
    if (!v)
        return -ENOMEM;
    v->dwarf = d->returned.dwarf;
    v->type = d->returned.type;
    if (!find_pieces(&c, &d->returned, &v->place))
        return zs_diag_set(diag, -ENODATA, ZS_DIAG_NO_OFFSET, "where it is is not known");
    *ret_value = &v->shown;
    return zs_dbg_value_load(v);
}
