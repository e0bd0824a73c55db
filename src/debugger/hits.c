/* SPDX-License-Identifier: MIT */
/* Whether a breakpoint that a thread has come to stops it: conditions, counts, logs. */
#include "debugger/debugger_priv.h"

#include <string.h>

enum { LOG_EXPRESSION_MAX = 256 };

/* Whether the condition holds for one lane; one that cannot be evaluated stops, and says why. */
bool zs_dbg_breakpoint_holds(struct zs_debugger *d, const struct zs_dbg_breakpoint *b,
                             struct zs_dbg_thread *t, uint32_t lane)
{
    struct zs_diag diag;
    struct zs_dbg_context c;
    struct zs_dbg_value *value;
    struct zs_dbg_number number = {.kind = ZS_DBG_SIGNED};
    zs_diag_clear(&diag);
    int error = zs_dbg_context_make(d, t->shown.id, lane, 0, &diag, &c);
    if (!error)
        error = zs_dbg_evaluate(&c, b->condition, &value);
    if (!error)
        error = zs_dbg_value_number(value, &number);
    if (!error)
        return number.kind == ZS_DBG_FLOAT ? number.f != 0.0 : number.u != 0;
    snprintf(d->stop.text, sizeof(d->stop.text), "the condition of breakpoint %u: %.400s",
             b->shown.id, diag.text);
    return true;
}

/* The lanes that take a branch, where that is some of those that run. */
static bool parts(struct zs_debugger *d, const struct zs_dbg_thread *t)
{
    uint32_t index = zs_dbg_inst_at(t->kernel, t->shown.gpu_va), flag;
    const struct zs_isa_inst *inst =
        index == ZS_NO_INDEX ? NULL : zs_isa_inst(t->kernel->isa, index);
    if (!inst || zs_dbg_read_regs(d, t->place, ZESCOPE_DEBUG_REGSET_FLAG, inst->flag_reg, 1, &flag))
        return false;
    uint32_t taken = flag >> (inst->flag_subreg * 16u);
    taken = (inst->flags & ZS_INST_PRED_INVERSE ? ~taken : taken) & t->shown.running;
    return taken && taken != t->shown.running;
}

/* Whether the barrier is the one of its thread that is wanted. */
static bool is_nth(struct zs_dbg_breakpoint *b, const struct zs_dbg_thread *t, bool counts)
{
    size_t i = 0;
    if (!b->nth)
        return true;
    while (i < b->counts.count && b->counts.items[i].thread != t->shown.id)
        i++;
    if (i == b->counts.count &&
        !ZS_VEC_PUSH(&b->counts, ((struct zs_dbg_count){.thread = t->shown.id})))
        return false;
    b->counts.items[i].count += counts;
    return b->counts.items[i].count == b->nth;
}

static uint32_t lanes_that_hold(struct zs_debugger *d, const struct zs_dbg_breakpoint *b,
                                struct zs_dbg_thread *t)
{
    uint32_t lanes = 0;
    if (b->kind == ZS_DBG_DIVERGENCE && !parts(d, t))
        return 0;
    if (!b->condition)
        return t->shown.running ? t->shown.running : 1;
    for (uint32_t lane = 0; lane < 32; lane++)
        if (t->shown.running >> lane & 1 && zs_dbg_breakpoint_holds(d, b, t, lane))
            lanes |= 1u << lane;
    return lanes;
}

/* "{expression}" in a log becomes its value; what cannot be evaluated says why. */
static void put_log(struct zs_debugger *d, const struct zs_dbg_breakpoint *b,
                    struct zs_dbg_thread *t, uint32_t lane)
{
    struct zs_debug_event event = {
        .kind = ZS_DEBUG_EVENT_LOG, .breakpoint = b->shown.id, .thread = t->shown.id, .lane = lane};
    struct zs_buf out = {0};
    for (const char *at = b->log; *at;) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        if (!close || close - at >= LOG_EXPRESSION_MAX) {
            zs_buf_putc(&out, *at++);
            continue;
        }
        char expression[LOG_EXPRESSION_MAX];
        struct zs_diag diag;
        struct zs_debug_value *value;
        zs_diag_clear(&diag);
        snprintf(expression, sizeof(expression), "%.*s", (int)(close - at - 1), at + 1);
        int error = zs_debug_evaluate(d, t->shown.id, lane, 0, expression, &value, &diag);
        zs_buf_printf(&out, error ? "<%s>" : "%s", error ? diag.text : value->text);
        at = close + 1;
    }
    snprintf(event.text, sizeof(event.text), "%s", zs_buf_cstr(&out));
    zs_buf_fini(&out);
    zs_dbg_queue(d, &event);
}

uint32_t zs_dbg_breakpoint_would_stop(struct zs_debugger *d, struct zs_dbg_thread *t,
                                      uint32_t *ret_lane)
{
    for (size_t i = 0; i < d->breakpoints.count; i++) {
        const struct zs_dbg_breakpoint *b = d->breakpoints.items[i];
        if (b->hidden || b->log || !b->shown.enabled ||
            !zs_dbg_breakpoint_is_at(b, t->shown.gpu_va))
            continue;
        uint32_t lanes = lanes_that_hold(d, b, t);
        if (!lanes)
            continue;
        *ret_lane = zs_dbg_pick_lane_of(d, t, lanes);
        return b->shown.id;
    }
    return 0;
}

uint32_t zs_dbg_breakpoint_hit(struct zs_debugger *d, struct zs_dbg_thread *t, uint32_t *ret_lane)
{
    uint32_t stops = 0;
    for (size_t i = 0; i < d->breakpoints.count; i++) {
        struct zs_dbg_breakpoint *b = d->breakpoints.items[i];
        if (b->hidden || !b->shown.enabled || !zs_dbg_breakpoint_is_at(b, t->shown.gpu_va))
            continue;
        uint32_t lanes = lanes_that_hold(d, b, t);
        if (!lanes || !is_nth(b, t, true))
            continue;
        b->shown.hits++;
        if (b->shown.ignore_count) {
            b->shown.ignore_count--;
            continue;
        }
        uint32_t lane = zs_dbg_pick_lane_of(d, t, lanes);
        if (b->log)
            for (uint32_t l = 0; l < 32; l++)
                if (lanes >> l & 1 && (b->condition || l == lane))
                    put_log(d, b, t, l);
        if (b->log || stops)
            continue;
        stops = b->shown.id;
        *ret_lane = lane;
    }
    return stops;
}
