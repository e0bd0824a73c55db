/* SPDX-License-Identifier: MIT */
/* What can be asked of a stopped thread: its lanes, registers and memory; the focus. */
#include "debugger/debugger_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Work-items by the variables that compilers keep for it. */
static bool read_triple(struct zs_debugger *d, uint32_t thread, uint32_t lane, const char *stem,
                        uint32_t ret[3])
{
    for (uint32_t i = 0; i < 3; i++) {
        char name[64];
        struct zs_dbg_context c;
        struct zs_dbg_value *value;
        struct zs_dbg_number number;
        struct zs_diag diag;
        zs_diag_clear(&diag);
        snprintf(name, sizeof(name), "%s%u", stem, i);
        if (zs_dbg_context_make(d, thread, lane, 0, &diag, &c) ||
            zs_dbg_evaluate(&c, name, &value) || zs_dbg_value_number(value, &number) ||
            number.kind == ZS_DBG_FLOAT)
            return false;
        ret[i] = (uint32_t)number.u;
    }
    return true;
}

static bool item_of_driver(struct zs_debugger *d, struct zs_dbg_thread *t,
                           struct zs_debug_lane *lane)
{
    const struct zs_history_items *items = zs_dbg_items(d, t);
    if (!items || !(items->lanes >> lane->lane & 1))
        return false;
    lane->item_known = true;
    for (uint32_t i = 0; i < 3; i++) {
        lane->local_id[i] = items->local_id[lane->lane][i];
        lane->global_id[i] =
            items->group[i] * items->group_size[i] + lane->local_id[i] + items->global_offset[i];
    }
    return true;
}

int zs_debug_lanes(struct zs_debugger *d, uint32_t thread, struct zs_debug_lane *ret_lanes,
                   struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    int error = zs_dbg_need_thread(d, thread, &t, diag), count = 0;
    if (error)
        return error;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(t->shown.lanes >> lane & 1))
            continue;
        struct zs_debug_lane *out = &ret_lanes[count++];
        *out = (struct zs_debug_lane){.lane = lane, .running = t->shown.running >> lane & 1};
        if (item_of_driver(d, t, out))
            continue;
        out->item_known = read_triple(d, thread, lane, "__ocl_dbg_lid", out->local_id) &&
                          read_triple(d, thread, lane, "__ocl_dbg_gid", out->global_id);
    }
    return count;
}

int zs_debug_find_item(struct zs_debugger *d, const uint32_t group[3], const uint32_t local_id[3],
                       uint32_t *ret_thread, uint32_t *ret_lane, struct zs_diag *diag)
{
    bool known = true; /* of all that are stopped, which items they have */
    for (size_t i = 0; i < d->threads.count; i++) {
        struct zs_dbg_thread *t = &d->threads.items[i];
        struct zs_debug_lane lanes[32];
        known &= !t->stopped || t->shown.group_known;
        if (!t->stopped || !t->shown.group_known || memcmp(t->shown.group, group, 12) != 0)
            continue;
        int count = zs_debug_lanes(d, t->shown.id, lanes, diag);
        for (int k = 0; k < count; k++) {
            known &= lanes[k].item_known;
            if (!lanes[k].item_known || memcmp(lanes[k].local_id, local_id, 12) != 0)
                continue;
            *ret_thread = t->shown.id;
            *ret_lane = lanes[k].lane;
            return 0;
        }
    }
    return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET,
                       known ? "that work-item is not among the threads that are stopped: it "
                               "has not begun, or has ended"
                             : "which work-items the threads have is not known here");
}

int zs_debug_set_focus(struct zs_debugger *d, uint32_t thread, uint32_t lane, uint32_t frame,
                       struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    struct zs_debug_frame frames[ZS_DEBUG_FRAMES_MAX];
    int error = zs_dbg_need_thread(d, thread, &t, diag);
    if (error)
        return error;
    if (lane >= 32 || !(t->shown.lanes >> lane & 1))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "thread %u has no lane %u", thread,
                           lane);
    int count = zs_debug_frames(d, thread, frames, ZS_DEBUG_FRAMES_MAX, diag);
    if (frame && (count < 0 || frame >= (uint32_t)count))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "there is no frame %u", frame);
    d->focus_thread = thread;
    d->focus_lane = lane;
    d->focus_frame = frame;
    if (count > 0 && frames[frame].file) {
        free(d->focus_file);
        d->focus_file = strdup(frames[frame].file);
    }
    return 0;
}

void zs_debug_focus(const struct zs_debugger *d, uint32_t *ret_thread, uint32_t *ret_lane,
                    uint32_t *ret_frame)
{
    if (ret_thread)
        *ret_thread = d->focus_thread;
    if (ret_lane)
        *ret_lane = d->focus_lane;
    if (ret_frame)
        *ret_frame = d->focus_frame;
}

/* In place of what cannot be evaluated. */
static int unavailable(const struct zs_dbg_context *c, const char *expression,
                       struct zs_dbg_value **ret)
{
    struct zs_buf text = {0};
    struct zs_dbg_value *v = *ret = zs_dbg_value_new(c, expression);
    zs_buf_printf(&text, "<%s>", c->diag->text);
    const char *shown = zs_buf_cstr(&text);
    if (v)
        v->why = v->shown.text = zs_arena_strndup(c->arena, shown, strlen(shown));
    zs_buf_fini(&text);
    return v && v->why ? 0 : -ENOMEM;
}

int zs_debug_evaluate_lanes(struct zs_debugger *d, uint32_t thread, uint32_t frame,
                            const char *expression, struct zs_debug_value **ret_values,
                            struct zs_diag *diag)
{
    struct zs_debug_lane lanes[32];
    struct zs_dbg_context c;
    int count = zs_debug_lanes(d, thread, lanes, diag);
    int error = count > 0 ? zs_dbg_context_make(d, thread, lanes[0].lane, frame, diag, &c) : 0;
    if (error)
        return error;
    for (int i = 0; i < count; i++) {
        struct zs_dbg_value *value = NULL;
        struct zs_diag why;
        zs_diag_clear(&why);
        c.lane = lanes[i].lane;
        c.diag = &why;
        if (zs_dbg_evaluate(&c, expression, &value))
            error = unavailable(&c, expression, &value);
        if (error)
            return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory");
        ret_values[i] = &value->shown;
    }
    return count;
}

/* ---- registers and memory ---- */

static const struct {
    uint32_t set;
    const char *name;
} set_names[] = {
    {ZESCOPE_DEBUG_REGSET_GRF, "r"},          {ZESCOPE_DEBUG_REGSET_ADDR, "a"},
    {ZESCOPE_DEBUG_REGSET_FLAG, "f"},         {ZESCOPE_DEBUG_REGSET_CE, "ce"},
    {ZESCOPE_DEBUG_REGSET_SR, "sr"},          {ZESCOPE_DEBUG_REGSET_CR, "cr"},
    {ZESCOPE_DEBUG_REGSET_TDR, "tdr"},        {ZESCOPE_DEBUG_REGSET_ACC, "acc"},
    {ZESCOPE_DEBUG_REGSET_MME, "mme"},        {ZESCOPE_DEBUG_REGSET_SP, "sp"},
    {ZESCOPE_DEBUG_REGSET_SBA, "sba"},        {ZESCOPE_DEBUG_REGSET_DBG, "dbg"},
    {ZESCOPE_DEBUG_REGSET_NOTIFICATION, "n"}, {ZESCOPE_DEBUG_REGSET_TIMESTAMP, "tm"},
};

int zs_debug_registers(struct zs_debugger *d, uint32_t thread,
                       struct zs_debug_register *ret_registers, uint32_t capacity,
                       struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    int error = zs_dbg_need_thread(d, thread, &t, diag);
    if (error)
        return error;
    uint32_t count = 0;
    for (size_t n = 0; n < ZS_ARRAY_LEN(set_names); n++) {
        const struct zs_dbg_regset *set = zs_dbg_regset(d, set_names[n].set);
        for (uint32_t i = 0; set && i < set->count && set->size_B <= ZS_DBG_GRF_MAX_B; i++) {
            struct zs_debug_register r = {.size_B = set->size_B, .writable = set->writable};
            snprintf(r.name, sizeof(r.name), "%s%u", set_names[n].name, i);
            if (zs_dbg_read_regs(d, t->place, set->type, i, 1, r.bytes))
                continue;
            if (count < capacity)
                ret_registers[count] = r;
            count++;
        }
    }
    return (int)count;
}

static int access_public(struct zs_debugger *d, uint32_t id, enum zs_debug_space space, uint64_t va,
                         void *bytes, size_t size_B, bool write, struct zs_diag *diag)
{
    struct zs_dbg_thread *t = NULL;
    int error = id ? zs_dbg_need_thread(d, id, &t, diag) : 0;
    if (!error && !t && space == ZS_DEBUG_SPACE_LOCAL)
        error = zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "local memory is a thread's");
    if (error)
        return error;
    if (t && space == ZS_DEBUG_SPACE_GLOBAL) /* a pointer says which memory it means */
        space = zs_dbg_space_of(d, t, va, &va);
    error = write ? zs_dbg_write(d, t, space, va, bytes, size_B)
                  : zs_dbg_read(d, t, space, va, bytes, size_B);
    if (!error)
        return 0;
    return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "%s memory at %#llx cannot be %s",
                       space == ZS_DEBUG_SPACE_LOCAL ? "local" : "the", (unsigned long long)va,
                       write ? "written" : "read");
}

int zs_debug_memory_read(struct zs_debugger *d, uint32_t thread, enum zs_debug_space space,
                         uint64_t va, void *ret_bytes, size_t size_B, struct zs_diag *diag)
{
    return access_public(d, thread, space, va, ret_bytes, size_B, false, diag);
}

int zs_debug_memory_write(struct zs_debugger *d, uint32_t thread, enum zs_debug_space space,
                          uint64_t va, const void *bytes, size_t size_B, struct zs_diag *diag)
{
    void *copy = malloc(size_B + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, bytes, size_B);
    int error = access_public(d, thread, space, va, copy, size_B, true, diag);
    free(copy);
    return error;
}
