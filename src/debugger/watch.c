/* SPDX-License-Identifier: MIT */
/*
 * Watchpoints: memory of an expression, watched by the driver at each message of each lane; and who
 * wrote some memory last.
 */
#include "debugger/debugger_priv.h"

#include "base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { HEX_DIGITS = 2 };

/* ---- where ---- */

/* The memory that an expression names, in the context of a lane. */
static int find_memory(struct zs_debugger *d, struct zs_dbg_thread *t, uint32_t lane,
                       uint32_t frame, const char *expression, struct zs_dbg_value **ret,
                       struct zs_history_range *ret_range, struct zs_diag *diag)
{
    struct zs_dbg_context c;
    int error = zs_dbg_context_make(d, t->shown.id, lane, frame, diag, &c);
    if (!error)
        error = zs_dbg_evaluate(&c, expression, ret);
    if (error)
        return error;
    const struct zs_dbg_value *v = *ret;
    if (v->picked_count && !v->shown.in_memory)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s: only elements that lie behind each other in memory can be watched",
                           expression);
    if (!v->shown.in_memory || !v->shown.size_B)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "%s is not in memory here: what registers hold can be a breakpoint's "
                           "condition",
                           expression);
    uint64_t va;
    enum zs_debug_space space = zs_dbg_space_of(d, t, v->shown.gpu_va, &va);
    *ret_range = (struct zs_history_range){
        .gpu_va = va,
        .size_B = v->shown.size_B,
        .space = space == ZS_DEBUG_SPACE_LOCAL ? ZS_HISTORY_LOCAL : ZS_HISTORY_MEMORY};
    return 0;
}

/* "*ADDRESS" needs no debug info: the dword there. */
int zs_dbg_watch_find(struct zs_debugger *d, struct zs_dbg_thread *t, uint32_t lane, uint32_t frame,
                      const char *expression, struct zs_dbg_value **ret,
                      struct zs_history_range *ret_range, struct zs_diag *diag)
{
    char *end;
    *ret = NULL;
    const char *number = expression + (expression[0] == '*');
    errno = 0;
    uint64_t address = strtoull(number, &end, 0);
    if (end == number || *end || errno)
        return find_memory(d, t, lane, frame, expression, ret, ret_range, diag);
    uint64_t va;
    enum zs_debug_space space = zs_dbg_space_of(d, t, address, &va);
    *ret_range = (struct zs_history_range){
        .gpu_va = va,
        .size_B = sizeof(uint32_t),
        .space = space == ZS_DEBUG_SPACE_LOCAL ? ZS_HISTORY_LOCAL : ZS_HISTORY_MEMORY};
    uint32_t word;
    return zs_dbg_access(d, t, space, va, &word, sizeof(word), false)
               ? zs_diag_set(diag, -EFAULT, ZS_DIAG_NO_OFFSET, "there is no memory at %s", number)
               : 0;
}

/* ---- values as text ---- */

struct zs_dbg_elements zs_dbg_elements_of(struct zs_dbg_value *v)
{
    struct zs_dbg_value *first;
    if (!v)
        return (struct zs_dbg_elements){ZS_DBG_UNSIGNED, sizeof(uint32_t)};
    if (v->scalar == ZS_DBG_NOT_SCALAR && v->shown.child_count &&
        !zs_dbg_value_element(v, 0, &first))
        v = first;
    if (v->scalar == ZS_DBG_NOT_SCALAR || v->shown.size_B > sizeof(uint64_t))
        return (struct zs_dbg_elements){ZS_DBG_NOT_SCALAR, 0};
    return (struct zs_dbg_elements){v->scalar, (uint32_t)v->shown.size_B};
}

static void put_scalar(struct zs_buf *out, enum zs_dbg_scalar scalar, const uint8_t *bytes,
                       uint32_t size_B)
{
    uint64_t bits = 0;
    float f;
    double wide;
    memcpy(&bits, bytes, size_B);
    memcpy(&f, &bits, sizeof(f));
    memcpy(&wide, &bits, sizeof(wide));
    char text[ZS_NUMBER_CHARS];
    uint32_t shift = 64 - 8 * size_B;
    if (scalar == ZS_DBG_FLOAT && size_B >= sizeof(f)) {
        zs_number_shortest(text, size_B == sizeof(f) ? (double)f : wide, size_B);
        zs_buf_puts(out, text);
    } else if (scalar == ZS_DBG_SIGNED)
        zs_buf_printf(out, "%" PRId64, (int64_t)(bits << shift) >> shift);
    else if (scalar == ZS_DBG_UNSIGNED)
        zs_buf_printf(out, "%" PRIu64, bits);
    else
        zs_buf_printf(out, "0x%0*" PRIx64, (int)(size_B * HEX_DIGITS), bits);
}

/* What of it was reached. */
static void put_bytes(struct zs_buf *out, struct zs_dbg_elements e, uint64_t at_B,
                      const uint8_t *bytes, uint32_t size_B)
{
    if (!e.size_B || at_B % e.size_B || size_B % e.size_B)
        e = (struct zs_dbg_elements){ZS_DBG_NOT_SCALAR, size_B % 4 ? 1 : 4};
    bool one = size_B == e.size_B;
    zs_buf_puts(out, one ? "" : "{");
    for (uint32_t i = 0; i < size_B; i += e.size_B) {
        zs_buf_puts(out, i ? ", " : "");
        put_scalar(out, e.scalar, bytes + i, e.size_B);
    }
    zs_buf_puts(out, one ? "" : "}");
}

void zs_dbg_put_hit(char *text, size_t text_B, const char *name, struct zs_dbg_elements e,
                    uint64_t begin_va, const struct zs_history_hit *hit)
{
    struct zs_buf out = {0};
    uint32_t size_B = ZS_MIN(hit->size_B, (uint32_t)ZS_HISTORY_VALUE_B);
    bool wrote = hit->access & ZS_HISTORY_WRITE;
    zs_buf_printf(&out, "%s", name);
    if (hit->gpu_va != begin_va)
        zs_buf_printf(&out, ", from byte %" PRIu64 " on", hit->gpu_va - begin_va);
    zs_buf_puts(&out, ": ");
    put_bytes(&out, e, hit->gpu_va - begin_va, hit->old, size_B);
    zs_buf_puts(&out, wrote ? " -> " : " read");
    if (wrote)
        put_bytes(&out, e, hit->gpu_va - begin_va, hit->now, size_B);
    zs_buf_puts(&out, ", by ");
    if (hit->lane < 32)
        zs_buf_printf(&out, "item %u,%u,%u of ", hit->item[0], hit->item[1], hit->item[2]);
    zs_buf_printf(&out, "group %u,%u,%u", hit->group[0], hit->group[1], hit->group[2]);
    if (hit->lane < 32)
        zs_buf_printf(&out, " (lane %u)", hit->lane);
    else
        zs_buf_puts(&out, " (a block of its thread)");
    snprintf(text, text_B, "%s", zs_buf_cstr(&out));
    zs_buf_fini(&out);
}

/* ---- the list ---- */

static uint32_t access_of(uint32_t access)
{
    return (access & ZS_DEBUG_WATCH_READ ? ZS_HISTORY_READ : 0u) |
           (access & ZS_DEBUG_WATCH_WRITE ? ZS_HISTORY_WRITE : 0u) |
           (access & ZS_DEBUG_WATCH_CHANGE ? ZS_HISTORY_CHANGE : 0u);
}

static int prepare(struct zs_debugger *d, const struct zs_debug_watch_options *o,
                   struct zs_dbg_thread **ret_thread, struct zs_dbg_value **ret_value,
                   struct zs_history_range *ret_range, struct zs_diag *diag)
{
    if (!o->expression || !access_of(o->access))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "what is to be watched?");
    if (d->watching >= ZS_HISTORY_RANGES_MAX)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "there are %d watchpoints already",
                           ZS_HISTORY_RANGES_MAX);
    int error = zs_dbg_need_thread(d, d->focus_thread, ret_thread, diag);
    if (!error)
        error = zs_dbg_watch_find(d, *ret_thread, d->focus_lane, d->focus_frame, o->expression,
                                  ret_value, ret_range, diag);
    ret_range->access = access_of(o->access);
    return error;
}

int zs_debug_watch_add(struct zs_debugger *d, const struct zs_debug_watch_options *options,
                       uint32_t *ret_id, struct zs_diag *diag)
{
    struct zs_debug_watch_options o = {.size_B = sizeof(o)};
    struct zs_dbg_thread *t;
    struct zs_dbg_value *v;
    struct zs_history_range range = {0};
    if (options)
        memcpy(&o, options, ZS_MIN(options->size_B, sizeof(o)));
    int error = prepare(d, &o, &t, &v, &range, diag);
    if (error)
        return error;
    struct zs_dbg_breakpoint *b = zs_dbg_breakpoint_new(d, o.expression, o.condition);
    if (!b)
        return -ENOMEM;
    b->shown.watch = o.access;
    b->shown.temporary = o.temporary;
    b->shown.gpu_va = v ? v->shown.gpu_va : range.gpu_va;
    b->shown.size_B = range.size_B;
    struct zs_dbg_elements e = zs_dbg_elements_of(v);
    b->scalar = e.scalar;
    b->element_B = e.size_B;
    b->range = range;
    b->range.id = b->shown.id;
    error = zs_dbg_watch_tell(d, t, diag);
    if (error)
        (void)zs_debug_break_delete(d, b->shown.id, NULL);
    else
        *ret_id = b->shown.id;
    return error;
}

/* ---- hits ---- */

uint32_t zs_dbg_watch_would_stop(struct zs_debugger *d, struct zs_dbg_thread *t,
                                 const struct zs_history_hit *hit, uint32_t *ret_lane)
{
    struct zs_dbg_breakpoint *b = zs_dbg_breakpoint_find(d, hit->id);
    if (!b || !b->shown.watch)
        return 0;
    *ret_lane =
        hit->lane < 32 && t->shown.lanes >> hit->lane & 1 ? hit->lane : zs_dbg_pick_lane(d, t);
    if (b->condition && !zs_dbg_breakpoint_holds(d, b, t, *ret_lane))
        return 0;
    const struct zs_dbg_elements e = {b->scalar, b->element_B};
    zs_dbg_put_hit(d->stop.text, sizeof(d->stop.text), b->location, e, b->range.gpu_va, hit);
    return b->shown.id;
}

bool zs_dbg_watch_hit(struct zs_debugger *d, struct zs_dbg_thread *t)
{
    if (!d->watching && !d->launch_wanted)
        return false;
    struct zs_history_request request = zs_dbg_history_request(ZS_HISTORY_STOP, t);
    if (zs_dbg_history_ask(d, &request, NULL) || !d->history->count)
        return false;
    struct zs_history_hit hit = d->history->hits[0];
    if (hit.kind == ZS_HISTORY_BEGIN) {
        d->launch_wanted = false;
        zs_dbg_stop(d, ZS_DEBUG_REASON_LAUNCH, t, zs_dbg_pick_lane(d, t), 0);
        snprintf(d->stop.text, sizeof(d->stop.text), "launch %llu begins",
                 (unsigned long long)d->history->launch);
        return true;
    }
    uint32_t lane = 0, id = zs_dbg_watch_would_stop(d, t, &hit, &lane);
    struct zs_dbg_breakpoint *b = zs_dbg_breakpoint_find(d, id);
    if (!b)
        return false;
    b->shown.hits++;
    if (b->shown.ignore_count) {
        b->shown.ignore_count--;
        d->stop.text[0] = '\0'; /* what stops it otherwise says why itself */
        return false;
    }
    t->hides_breakpoint = zs_dbg_is_inserted(d, t->shown.gpu_va);
    zs_dbg_stop(d, ZS_DEBUG_REASON_WATCHPOINT, t, lane, id);
    return true;
}
