/* SPDX-License-Identifier: MIT */
/* Where a thread can be sent: into one of the functions of its line, or to another line. */
#include "dap/dap_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { TARGETS_MAX = 64 };

/* What all targets have; false: no memory. */
static bool begin_target(struct zs_dap *dap, struct zs_json *json, const char *label,
                         uint64_t gpu_va)
{
    if (!ZS_VEC_PUSH(&dap->targets, gpu_va))
        return false;
    zs_json_object(json, NULL);
    zs_json_u64(json, "id", dap->targets.count);
    zs_json_string(json, "label", label);
    return true;
}

int handle_stepInTargets(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                         struct zs_diag *diag)
{
    struct zs_debug_target targets[TARGETS_MAX];
    struct frame_ref at;
    int error = dap_frame(dap, dap_int(arguments, "frameId", 0), &at, diag), count = 0;
    if (!error && !at.frame) /* callers are in the midst of a call */
        count = zs_debug_step_targets(dap->debug, at.thread, targets, TARGETS_MAX, diag);
    if (error || count < 0)
        return error ? error : count;
    zs_json_array(body, "targets");
    for (int i = 0; i < ZS_MIN(count, TARGETS_MAX); i++) {
        if (!begin_target(dap, body, targets[i].function[0] ? targets[i].function : "??",
                          targets[i].gpu_va))
            return -ENOMEM;
        zs_json_end(body);
    }
    zs_json_end(body);
    return 0;
}

/* A kernel that a stopped thread executes. */
static bool is_executed(struct zs_dap *dap, const char *kernel)
{
    const struct zs_debug_thread *threads;
    size_t count = zs_debug_threads(dap->debug, &threads);
    for (size_t i = 0; i < count; i++) {
        if (kernel && threads[i].kernel && !strcmp(threads[i].kernel, kernel))
            return true;
    }
    return false;
}

int handle_gotoTargets(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                       struct zs_diag *diag)
{
    const char *source = dap_source_path(dap, json_object_get(arguments, "source"));
    int64_t line = dap_line_in(dap, arguments, "line");
    struct zs_debug_place places[TARGETS_MAX];
    if (!source || !line)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`source` and `line` say no place");
    int count =
        zs_debug_line_places(dap->debug, source, (uint32_t)line, places, ZS_ARRAY_LEN(places));
    zs_json_array(body, "targets");
    for (int i = 0; i < ZS_MIN(count, TARGETS_MAX); i++) {
        char label[200];
        if (!is_executed(dap, places[i].kernel))
            continue;
        snprintf(label, sizeof(label), "line %" PRIu32 " of %.100s, 0x%" PRIx64, places[i].line,
                 places[i].kernel, places[i].gpu_va);
        if (!begin_target(dap, body, label, places[i].gpu_va))
            return -ENOMEM;
        zs_json_i64(body, "line", dap_line_out(dap, places[i].line));
        dap_put_address(body, "instructionPointerReference", places[i].gpu_va);
        zs_json_end(body);
    }
    zs_json_end(body);
    return 0;
}

static void tell_gone(struct zs_dap *dap, uint32_t thread)
{
    struct zs_buf buf;
    struct zs_json json = dap_event_begin(dap, &buf, "stopped");
    zs_json_string(&json, "reason", "goto");
    zs_json_u64(&json, "threadId", thread);
    zs_json_bool(&json, "allThreadsStopped", true);
    dap_event_end(dap, &json);
}

/* The answer comes first, then the stop. */
int handle_goto(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                struct zs_diag *diag)
{
    uint64_t gpu_va = 0;
    uint32_t thread = 0;
    int error = dap_target(dap, dap_int(arguments, "targetId", 0), &gpu_va, diag);
    error = error ? error : dap_focus_thread(dap, arguments, "send there", diag);
    zs_debug_focus(dap->debug, &thread, NULL, NULL);
    error = error ? error : zs_debug_jump(dap->debug, thread, gpu_va, diag);
    if (error)
        return error;
    dap_forget_stop(dap);
    dap->stopped = true;
    dap->stop = (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_STOPPED, .thread = thread};
    dap_answer_later(dap, json_incref(dap->current), NULL);
    tell_gone(dap, thread);
    return DAP_LATER;
}
