/* SPDX-License-Identifier: MIT */
/*
 * A stop as the client knows it: numbers stand for frames, variables, targets and sources, until
 * something runs; and what it is told when they no longer hold.
 */
#include "dap/dap_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

enum { REFS_MAX = 1 << 20 };

/* ---- numbers ---- */

uint64_t dap_ref(struct zs_dap *dap, struct ref ref)
{
    return dap->refs.count < REFS_MAX && ZS_VEC_PUSH(&dap->refs, ref) ? dap->refs.count : 0;
}

int dap_find_ref(const struct zs_dap *dap, const json_t *arguments, struct ref *ret_ref,
                 struct zs_diag *diag)
{
    int64_t id = dap_int(arguments, "variablesReference", 0);
    if (id <= 0 || (uint64_t)id > dap->refs.count)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "there are no such variables, or something has run since");
    *ret_ref = dap->refs.items[id - 1];
    return 0;
}

int dap_target(const struct zs_dap *dap, int64_t id, uint64_t *ret_va, struct zs_diag *diag)
{
    if (id <= 0 || (uint64_t)id > dap->targets.count)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "there is no such target, or something has run since");
    *ret_va = dap->targets.items[id - 1];
    return 0;
}

int dap_frame(struct zs_dap *dap, int64_t id, struct frame_ref *ret_frame, struct zs_diag *diag)
{
    if (id < 0 || (uint64_t)id > dap->frames.count)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "there is no such frame, or something has run since");
    if (id) {
        *ret_frame = dap->frames.items[id - 1];
        return 0;
    }
    zs_debug_focus(dap->debug, &ret_frame->thread, NULL, &ret_frame->frame);
    if (!ret_frame->thread)
        return zs_diag_set(diag, -ESRCH, ZS_DIAG_NO_OFFSET, "no thread is stopped");
    return 0;
}

uint32_t dap_lane_of(struct zs_dap *dap, uint32_t thread)
{
    uint32_t focus_thread = 0, focus_lane = 0;
    zs_debug_focus(dap->debug, &focus_thread, &focus_lane, NULL);
    if (focus_thread == thread)
        return focus_lane;
    const struct zs_debug_thread *t = zs_debug_thread(dap->debug, thread);
    uint32_t lanes = !t ? 0 : t->running ? t->running : t->lanes;
    return lanes ? (uint32_t)__builtin_ctz(lanes) : 0;
}

int dap_focus_thread(struct zs_dap *dap, const json_t *arguments, const char *what,
                     struct zs_diag *diag)
{
    int64_t thread = dap_int(arguments, "threadId", 0);
    if (thread < 0 || thread > UINT32_MAX || !zs_debug_thread(dap->debug, (uint32_t)thread))
        return zs_diag_set(diag, -ESRCH, ZS_DIAG_NO_OFFSET, "there is no such thread to %s", what);
    return zs_debug_set_focus(dap->debug, (uint32_t)thread, dap_lane_of(dap, (uint32_t)thread), 0,
                              diag);
}

/* ---- lines and sources ---- */

int64_t dap_line_out(const struct zs_dap *dap, uint32_t line)
{
    return (int64_t)line - (dap->lines_at_0 && line ? 1 : 0);
}

int64_t dap_line_in(const struct zs_dap *dap, const json_t *object, const char *key)
{
    int64_t line = dap_int(object, key, -1);
    line += dap->lines_at_0 && line >= 0 ? 1 : 0;
    return line > 0 && line <= UINT32_MAX ? line : 0;
}

/* The number of a source that is known here alone; 0: out of memory. */
static uint64_t source_reference(struct zs_dap *dap, const char *path)
{
    for (size_t i = 0; i < dap->sources.count; i++) {
        if (!strcmp(dap->sources.items[i], path))
            return i + 1;
    }
    const char *kept = zs_arena_strndup(&dap->strings, path, strlen(path));
    return kept && ZS_VEC_PUSH(&dap->sources, kept) ? dap->sources.count : 0;
}

void dap_put_source(struct zs_dap *dap, struct zs_json *json, const char *path, const char *key)
{
    const struct zs_source *source = zs_debug_source(dap->debug, path);
    const char *slash = strrchr(path, '/');
    char found[PATH_MAX];
    zs_json_object(json, key);
    zs_json_string(json, "name", slash && slash[1] ? slash + 1 : path);
    if (source && source->found && realpath(source->found, found)) {
        zs_json_string(json, "path", found);
    } else {
        zs_json_string(json, "path", path);
        if (source && source->text.size_B)
            zs_json_u64(json, "sourceReference", source_reference(dap, path));
        else
            zs_json_string(json, "presentationHint", "deemphasize");
    }
    if (source && source->note)
        zs_json_string(json, "origin", source->note);
    zs_json_end(json);
}

const char *dap_source_path(const struct zs_dap *dap, const json_t *source)
{
    int64_t reference = dap_int(source, "sourceReference", 0);
    if (reference > 0 && (uint64_t)reference <= dap->sources.count)
        return dap->sources.items[reference - 1];
    const char *path = dap_text(source, "path");
    return path ? path : dap_text(source, "name");
}

/* ---- what no longer holds ---- */

void dap_invalidated(struct zs_dap *dap, bool focus_too)
{
    struct zs_buf buf;
    if (!dap->invalidates)
        return;
    struct zs_json json = dap_event_begin(dap, &buf, "invalidated");
    zs_json_array(&json, "areas");
    if (focus_too)
        zs_json_string(&json, NULL, "stacks");
    zs_json_string(&json, NULL, "variables");
    zs_json_end(&json);
    dap_event_end(dap, &json);
}

void dap_memory_changed(struct zs_dap *dap, uint64_t gpu_va, uint64_t size_B)
{
    struct zs_buf buf;
    if (!dap->tells_memory)
        return;
    struct zs_json json = dap_event_begin(dap, &buf, "memory");
    dap_put_address(&json, "memoryReference", gpu_va);
    zs_json_u64(&json, "offset", 0);
    zs_json_u64(&json, "count", size_B);
    dap_event_end(dap, &json);
}

void dap_tell_continued(struct zs_dap *dap)
{
    struct zs_buf buf;
    uint32_t thread = dap->stop.thread;
    struct zs_json json = dap_event_begin(dap, &buf, "continued");
    zs_json_u64(&json, "threadId", thread ? thread : ZS_DAP_DEVICE);
    zs_json_bool(&json, "allThreadsContinued", true);
    dap_event_end(dap, &json);
}

void dap_forget_stop(struct zs_dap *dap)
{
    dap->stopped = dap->entry_stop = false;
    dap->stop = (struct zs_debug_event){0};
    dap->refs.count = dap->frames.count = dap->targets.count = 0;
    zs_arena_fini(&dap->expressions);
    zs_arena_init(&dap->expressions, 0);
}

void dap_tell_end(struct zs_dap *dap)
{
    struct zs_buf buf;
    dap->live = false;
    dap->exited = true;
    dap_forget_stop(dap);
    if (dap->terminated_told)
        return;
    dap->terminated_told = true;
    struct zs_json json = dap_event_begin(dap, &buf, "terminated");
    dap_event_end(dap, &json);
}
