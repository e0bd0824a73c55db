/* SPDX-License-Identifier: MIT */
/* The stack of a thread: calls, and in each the functions that were inlined. */
#include "debugger/debugger_priv.h"

#include <errno.h>

static void put_place(struct zs_debug_frame *frame, const struct zs_dwarf_kernel *info,
                      uint32_t file, uint32_t line, uint32_t column)
{
    frame->file = file < info->file_count && line ? info->files[file].path : NULL;
    frame->line = line;
    frame->column = column;
}

/* The frames of one call, innermost first. */
static uint32_t put_call(struct zs_dbg_call_frame *call, uint32_t level,
                         struct zs_dbg_frame *ret_frames, uint32_t capacity)
{
    const struct zs_dbg_kernel *k = call->kernel;
    struct zs_dbg_frame frame = {.call = call,
                                 .level = level,
                                 .scope = ZS_NO_INDEX,
                                 .dwarf_frame = ZS_NO_INDEX,
                                 .shown = {.gpu_va = call->va, .function = k ? k->name : ""}};
    uint32_t index = zs_dbg_inst_at(k, call->va), count = 0;
    const struct zs_line_row *row = zs_dbg_row_at(k, call->va);
    if (row)
        put_place(&frame.shown, k->info, row->file, row->line, row->column);
    uint32_t scope = index != ZS_NO_INDEX && k->join ? k->join->scope[index] : ZS_NO_INDEX;
    if (scope == ZS_NO_INDEX) {
        ret_frames[0] = frame;
        return 1;
    }
    while (scope != ZS_NO_INDEX && count < capacity) {
        const struct zs_frame *f = &k->info->frames[k->info->scopes[scope].frame];
        frame.scope = scope;
        frame.dwarf_frame = k->info->scopes[scope].frame;
        frame.shown.function = f->function;
        frame.shown.inlined = f->parent != ZS_NO_INDEX;
        ret_frames[count++] = frame;
        put_place(&frame.shown, k->info, f->call_file, f->call_line, f->call_column);
        scope = f->parent == ZS_NO_INDEX ? ZS_NO_INDEX : k->info->scopes[f->scope].parent;
    }
    return count;
}

/* Sessions are long, and a condition asks at each hit. */
static void renew(const struct zs_dbg_kernel *kernel)
{
    if (kernel && kernel->info)
        zs_dwarf_renew(kernel->info->dwarf);
}

int zs_dbg_frames(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_arena *arena,
                  struct zs_dbg_frame **ret_frames, struct zs_diag *diag)
{
    struct zs_dbg_call_frame *calls =
        ZS_ARENA_ARRAY(arena, ZS_DBG_CALLS_MAX, struct zs_dbg_call_frame);
    *ret_frames = ZS_ARENA_ARRAY(arena, ZS_DEBUG_FRAMES_MAX, struct zs_dbg_frame);
    if (!calls || !*ret_frames)
        return zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory");
    renew(t->kernel);
    uint32_t call_count = zs_dbg_unwind(d, t, arena, calls), count = 0;
    for (uint32_t i = 0; i < call_count && count < ZS_DEBUG_FRAMES_MAX; i++) {
        renew(calls[i].kernel);
        count += put_call(&calls[i], i, *ret_frames + count, ZS_DEBUG_FRAMES_MAX - count);
    }
    return (int)count;
}

int zs_debug_frames(struct zs_debugger *d, uint32_t thread, struct zs_debug_frame *ret_frames,
                    uint32_t capacity, struct zs_diag *diag)
{
    struct zs_dbg_thread *t;
    struct zs_dbg_frame *frames;
    int count = zs_dbg_need_thread(d, thread, &t, diag);
    struct zs_arena arena;
    if (count)
        return count;
    zs_arena_init(&arena, 0);
    count = zs_dbg_frames(d, t, &arena, &frames, diag);
    for (int i = 0; i < count && i < (int)capacity; i++)
        ret_frames[i] = frames[i].shown;
    zs_arena_fini(&arena);
    return count < 0 ? count : (int)ZS_MIN((uint32_t)count, capacity);
}
