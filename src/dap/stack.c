/* SPDX-License-Identifier: MIT */
/* Threads, their stacks and sources, what a frame has to show, why it stopped. */
#include "dap/dap_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

enum { SOURCES_MAX = 256 };

/* ---- threads ---- */

static void put_thread(struct zs_json *json, uint64_t id, const char *name)
{
    zs_json_object(json, NULL);
    zs_json_u64(json, "id", id);
    zs_json_string(json, "name", name);
    zs_json_end(json);
}

static void name_thread(const struct zs_debug_thread *t, char *ret_name, size_t size_B)
{
    char group[64] = "";
    if (t->group_known)
        snprintf(group, sizeof(group), " group %" PRIu32 ",%" PRIu32 ",%" PRIu32, t->group[0],
                 t->group[1], t->group[2]);
    snprintf(ret_name, size_B,
             "%.160s%s (slice %" PRIu32 " subslice %" PRIu32 " EU %" PRIu32 " thread %" PRIu32 ")",
             t->kernel ? t->kernel : "unknown code", group, t->slice, t->subslice, t->eu,
             t->thread);
}

int handle_threads(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                   struct zs_diag *diag)
{
    const struct zs_debug_thread *threads = NULL;
    size_t count = dap->stopped ? zs_debug_threads(dap->debug, &threads) : 0;
    char name[320];
    zs_json_array(body, "threads");
    for (size_t i = 0; i < count; i++) {
        name_thread(&threads[i], name, sizeof(name));
        put_thread(body, threads[i].id, name);
    }
    if (!count && dap->live)
        put_thread(body, ZS_DAP_DEVICE, dap->stopped ? "device (idle)" : "device (running)");
    zs_json_end(body);
    return 0;
}

/* ---- frames ---- */

int handle_source(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                  struct zs_diag *diag)
{
    const json_t *given = json_object_get(arguments, "source");
    int64_t reference = dap_int(given, "sourceReference", dap_int(arguments, "sourceReference", 0));
    const char *path = dap_text(given, "path");
    if (reference > 0 && (uint64_t)reference <= dap->sources.count)
        path = dap->sources.items[reference - 1];
    const struct zs_source *source = path ? zs_debug_source(dap->debug, path) : NULL;
    if (!source || (!source->text.size_B && source->note))
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "%s",
                           source ? source->note : "no debug information names such a source");
    zs_json_string_n(body, "content", (const char *)source->text.data, source->text.size_B);
    return 0;
}

int handle_loadedSources(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                         struct zs_diag *diag)
{
    const char *paths[SOURCES_MAX];
    int count = zs_debug_sources(dap->debug, paths, SOURCES_MAX);
    zs_json_array(body, "sources");
    for (int i = 0; i < count && i < SOURCES_MAX; i++)
        dap_put_source(dap, body, paths[i], NULL);
    zs_json_end(body);
    return 0;
}

static int put_frame(struct zs_dap *dap, struct zs_json *json, const struct zs_debug_frame *frame,
                     struct frame_ref ref)
{
    if (!ZS_VEC_PUSH(&dap->frames, ref))
        return -ENOMEM;
    char name[320];
    snprintf(name, sizeof(name), "%.256s%s", frame->function[0] ? frame->function : "??",
             frame->inlined ? " [inlined]" : "");
    zs_json_object(json, NULL);
    zs_json_u64(json, "id", dap->frames.count);
    zs_json_string(json, "name", name);
    dap_put_address(json, "instructionPointerReference", frame->gpu_va);
    if (frame->file)
        dap_put_source(dap, json, frame->file, "source");
    zs_json_i64(json, "line", frame->file ? dap_line_out(dap, frame->line) : 0);
    /* 0 is no column: of one that is not known the line's first */
    uint32_t column = ZS_MAX(frame->column, 1u) - (dap->columns_at_0 ? 1 : 0);
    zs_json_u64(json, "column", frame->file ? column : 0);
    zs_json_end(json);
    return 0;
}

int handle_stackTrace(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                      struct zs_diag *diag)
{
    struct zs_debug_frame *frames = calloc(ZS_DEBUG_FRAMES_MAX, sizeof(*frames));
    int64_t thread = dap_int(arguments, "threadId", 0);
    int64_t first = ZS_MAX(dap_int(arguments, "startFrame", 0), 0);
    int64_t levels = dap_int(arguments, "levels", 0);
    int count = 0, error = 0;
    if (!frames)
        return -ENOMEM;
    if (thread != ZS_DAP_DEVICE)
        count =
            thread > 0 && thread <= UINT32_MAX
                ? zs_debug_frames(dap->debug, (uint32_t)thread, frames, ZS_DEBUG_FRAMES_MAX, diag)
                : zs_diag_set(diag, -ESRCH, ZS_DIAG_NO_OFFSET, "there is no such thread");
    if (count >= 0) {
        zs_json_array(body, "stackFrames");
        for (int64_t i = first; !error && i < count && (levels <= 0 || i - first < levels); i++)
            error =
                put_frame(dap, body, &frames[i], (struct frame_ref){(uint32_t)thread, (uint32_t)i});
        zs_json_end(body);
        zs_json_i64(body, "totalFrames", count);
    }
    free(frames);
    return count < 0 ? count : error;
}

/* ---- scopes ---- */

static void put_scope(struct zs_dap *dap, struct zs_json *json, const char *name, const char *hint,
                      bool expensive, struct ref ref)
{
    zs_json_object(json, NULL);
    zs_json_string(json, "name", name);
    if (hint)
        zs_json_string(json, "presentationHint", hint);
    zs_json_u64(json, "variablesReference", dap_ref(dap, ref));
    zs_json_bool(json, "expensive", expensive);
    zs_json_end(json);
}

static void put_lane_scope(struct zs_dap *dap, struct zs_json *json,
                           const struct zs_debug_lane *lane, bool focus, struct frame_ref at)
{
    char name[160], item[96] = "";
    if (lane->item_known)
        snprintf(item, sizeof(item), ": item %" PRIu32 ",%" PRIu32 ",%" PRIu32, lane->global_id[0],
                 lane->global_id[1], lane->global_id[2]);
    snprintf(name, sizeof(name), "%sane %" PRIu32 "%s%s", focus ? "Variables of l" : "L",
             lane->lane, item, lane->running ? "" : " (waits elsewhere)");
    put_scope(
        dap, json, name, focus ? "locals" : NULL, !focus,
        (struct ref){.kind = REF_LANE, .thread = at.thread, .lane = lane->lane, .frame = at.frame});
}

int handle_scopes(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                  struct zs_diag *diag)
{
    struct frame_ref at;
    struct zs_debug_lane lanes[32];
    int error = dap_frame(dap, dap_int(arguments, "frameId", -1), &at, diag);
    if (error)
        return error;
    int count = zs_debug_lanes(dap->debug, at.thread, lanes, diag);
    if (count < 0)
        return count;
    uint32_t focus = dap_lane_of(dap, at.thread);
    zs_json_array(body, "scopes");
    for (int i = 0; i < count; i++) {
        if (lanes[i].lane == focus)
            put_lane_scope(dap, body, &lanes[i], true, at);
    }
    put_scope(
        dap, body, "All lanes", NULL, true,
        (struct ref){.kind = REF_LANES, .thread = at.thread, .lane = focus, .frame = at.frame});
    put_scope(
        dap, body, "Registers", "registers", true,
        (struct ref){.kind = REF_REGISTERS, .thread = at.thread, .lane = focus, .frame = at.frame});
    for (int i = 0; i < count; i++) {
        if (lanes[i].lane != focus)
            put_lane_scope(dap, body, &lanes[i], false, at);
    }
    zs_json_end(body);
    return 0;
}

/* ---- why ---- */

int handle_exceptionInfo(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                         struct zs_diag *diag)
{
    int64_t thread = dap_int(arguments, "threadId", 0);
    if (dap->stop.reason != ZS_DEBUG_REASON_FAULT || thread != dap->stop.thread)
        return zs_diag_set(diag, -ENOENT, ZS_DIAG_NO_OFFSET, "the thread did not stop at a fault");
    zs_json_string(body, "exceptionId", "fault");
    zs_json_string(body, "description", dap->stop.text);
    zs_json_string(body, "breakMode", "always");
    zs_json_object(body, "details");
    zs_json_string(body, "message", dap->stop.text);
    if (dap->stop.fault_va_known)
        dap_put_address(body, "evaluateName", dap->stop.fault_va);
    zs_json_end(body);
    return 0;
}
