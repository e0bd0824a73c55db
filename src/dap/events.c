/* SPDX-License-Identifier: MIT */
/* What the debugger tells, told to the client; and what makes the application go on. */
#include "dap/dap_priv.h"

#include "base/utf8.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the application's output ---- */

/* How many bytes at the end are the beginning of a character. */
static size_t incomplete_end(const uint8_t *bytes, size_t size_B)
{
    for (size_t n = 1; n <= ZS_MIN(size_B, 3); n++) {
        uint8_t c = bytes[size_B - n];
        if (c >= 0xc0) {
            size_t wanted = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
            return wanted > n ? n : 0;
        }
        if (c < 0x80)
            return 0;
    }
    return 0;
}

void zs_dap_output(struct zs_dap *dap, bool is_stderr, const void *data, size_t size_B)
{
    struct zs_buf text = {0}, buf;
    zs_buf_append(&text, dap->partial[is_stderr].bytes, dap->partial[is_stderr].count);
    zs_buf_append(&text, data, size_B);
    size_t keep = size_B && !text.error ? incomplete_end(text.data, text.size_B) : 0;
    dap->partial[is_stderr].count = keep;
    if (keep)
        memcpy(dap->partial[is_stderr].bytes, text.data + text.size_B - keep, keep);
    if (!text.error && text.size_B > keep) {
        struct zs_json json = dap_event_begin(dap, &buf, "output");
        zs_json_string(&json, "category", is_stderr ? "stderr" : "stdout");
        zs_json_string_n(&json, "output", (const char *)text.data, text.size_B - keep);
        dap_event_end(dap, &json);
    }
    zs_buf_fini(&text);
}

static void tell_exit(struct zs_dap *dap, const struct zs_debug_event *event)
{
    struct zs_buf buf;
    if (dap->options.drain)
        dap->options.drain(dap->options.user);
    zs_dap_output(dap, false, NULL, 0);
    zs_dap_output(dap, true, NULL, 0);
    if (event->kind == ZS_DEBUG_EVENT_EXITED && event->status >= 0) {
        struct zs_json json = dap_event_begin(dap, &buf, "exited");
        zs_json_i64(&json, "exitCode", event->status);
        dap_event_end(dap, &json);
    } else if (event->kind == ZS_DEBUG_EVENT_LOST) {
        dap_say(dap, "important", "the application cannot be debugged any more: %s", event->text);
    }
    dap_tell_end(dap);
}

/* ---- stops ---- */

static const char *stop_reason(const struct zs_dap *dap)
{
    static const char *const words[] = {
        [ZS_DEBUG_REASON_NONE] = "pause",      [ZS_DEBUG_REASON_BREAKPOINT] = "breakpoint",
        [ZS_DEBUG_REASON_STEP] = "step",       [ZS_DEBUG_REASON_INTERRUPT] = "pause",
        [ZS_DEBUG_REASON_FAULT] = "exception", [ZS_DEBUG_REASON_WATCHPOINT] = "data breakpoint",
        [ZS_DEBUG_REASON_LOADED] = "entry",    [ZS_DEBUG_REASON_ENDED] = "step",
        [ZS_DEBUG_REASON_BEGINNING] = "entry", [ZS_DEBUG_REASON_LAUNCH] = "entry",
    };
    if (dap->entry_stop)
        return "entry";
    const struct breakpoint *b = dap_breakpoint(dap, dap->stop.breakpoint);
    if (dap->stop.reason == ZS_DEBUG_REASON_BREAKPOINT && b)
        return b->kind == BREAK_FUNCTION      ? "function breakpoint"
               : b->kind == BREAK_INSTRUCTION ? "instruction breakpoint"
                                              : "breakpoint";
    return dap->stop.reason < ZS_ARRAY_LEN(words) ? words[dap->stop.reason] : "pause";
}

static void tell_stop(struct zs_dap *dap)
{
    const struct zs_debug_event *stop = &dap->stop;
    struct zs_buf buf;
    struct zs_json json = dap_event_begin(dap, &buf, "stopped");
    zs_json_string(&json, "reason", stop_reason(dap));
    if (stop->reason == ZS_DEBUG_REASON_FAULT)
        zs_json_string(&json, "description", "Paused on a fault of a kernel");
    if (stop->reason == ZS_DEBUG_REASON_ENDED)
        zs_json_string(&json, "description", "The thread has ended");
    if (stop->reason == ZS_DEBUG_REASON_BEGINNING)
        zs_json_string(&json, "description", "The beginning of the launch");
    if (stop->text[0])
        zs_json_string(&json, "text", stop->text);
    zs_json_u64(&json, "threadId", stop->thread ? stop->thread : ZS_DAP_DEVICE);
    zs_json_bool(&json, "allThreadsStopped", true);
    if (stop->breakpoint && dap_breakpoint(dap, stop->breakpoint)) {
        zs_json_array(&json, "hitBreakpointIds");
        zs_json_u64(&json, NULL, stop->breakpoint);
        zs_json_end(&json);
    }
    dap_event_end(dap, &json);
}

static void go_on(struct zs_dap *dap)
{
    struct zs_diag diag = {0};
    if (!zs_debug_continue(dap->debug, &diag))
        dap_forget_stop(dap);
    else
        dap_say(dap, "important", "cannot go on: %s", diag.text);
}

/* stopOnEntry: the first kernel of what has been loaded that starts. */
static void break_at_entries(struct zs_dap *dap, uint32_t module)
{
    const struct zs_debug_module *m;
    struct zs_diag diag = {0};
    for (size_t i = 0; (m = zs_debug_modules(dap->debug, i)) && m->id != module;)
        i++;
    for (uint32_t k = 0; m && k < m->kernel_count; k++) {
        struct zs_debug_breakpoint_options options = {
            .size_B = sizeof(options), .location = m->kernels[k], .temporary = true};
        uint32_t id;
        if (!zs_debug_break_add(dap->debug, &options, &id, &diag) &&
            !ZS_VEC_PUSH(&dap->entries, id))
            zs_debug_break_delete(dap->debug, id, &diag);
    }
}

static bool is_entry(const struct zs_dap *dap, uint32_t breakpoint)
{
    for (size_t i = 0; i < dap->entries.count; i++) {
        if (dap->entries.items[i] == breakpoint)
            return true;
    }
    return false;
}

static void remove_entries(struct zs_dap *dap)
{
    struct zs_diag diag = {0};
    for (size_t i = 0; i < dap->entries.count; i++)
        zs_debug_break_delete(dap->debug, dap->entries.items[i], &diag);
    dap->entries.count = 0;
    dap->stop_on_entry = false;
}

static void take_stop(struct zs_dap *dap, const struct zs_debug_event *event)
{
    dap->stop = *event;
    dap->stopped = true;
    if (event->reason == ZS_DEBUG_REASON_LOADED) {
        if (dap->stop_on_entry)
            break_at_entries(dap, event->module);
        go_on(dap);
    } else if (event->reason == ZS_DEBUG_REASON_FAULT && (dap->faults_pass || dap->no_debug)) {
        go_on(dap);
    } else {
        dap->entry_stop =
            event->reason == ZS_DEBUG_REASON_BREAKPOINT && is_entry(dap, event->breakpoint);
        if (dap->stop_on_entry)
            remove_entries(dap);
    }
    if (dap->stopped) {
        if (dap->options.drain)
            dap->options.drain(dap->options.user); /* in the order in which it happened */
        tell_stop(dap);
    }
}

static void put_module(struct zs_json *json, const struct zs_debug_module *m)
{
    char name[160];
    snprintf(name, sizeof(name), "%.120s%s", m->kernel_count ? m->kernels[0] : "(no kernel)",
             m->kernel_count > 1 ? " ..." : "");
    zs_json_u64(json, "id", m->id);
    zs_json_string(json, "name", name);
    zs_json_string(json, "symbolStatus", m->has_lines ? "Lines known." : "No debug information.");
    snprintf(name, sizeof(name), "0x%llx-0x%llx", (unsigned long long)m->load_va,
             (unsigned long long)(m->load_va + m->size_B));
    zs_json_string(json, "addressRange", name);
}

static void tell_module(struct zs_dap *dap, const struct zs_debug_event *event)
{
    const struct zs_debug_module *m = NULL;
    struct zs_buf buf;
    bool loaded = event->kind == ZS_DEBUG_EVENT_MODULE_LOADED;
    if (loaded) {
        for (size_t i = 0; (m = zs_debug_modules(dap->debug, i)) && m->id != event->module;)
            i++;
        if (!m)
            return;
    }
    struct zs_json json = dap_event_begin(dap, &buf, "module");
    zs_json_string(&json, "reason", loaded ? "new" : "removed");
    zs_json_object(&json, "module");
    if (m) {
        put_module(&json, m);
    } else {
        zs_json_u64(&json, "id", event->module);
        zs_json_string(&json, "name", "");
    }
    zs_json_end(&json);
    dap_event_end(dap, &json);
    dap_breakpoints_changed(dap);
}

int handle_modules(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                   struct zs_diag *diag)
{
    uint64_t first = (uint64_t)ZS_MAX(dap_int(arguments, "startModule", 0), 0), total = 0;
    uint64_t count = (uint64_t)ZS_MAX(dap_int(arguments, "moduleCount", 0), 0);
    const struct zs_debug_module *m;
    zs_json_array(body, "modules");
    for (; (m = zs_debug_modules(dap->debug, total)); total++) {
        if (total < first || (count && total - first >= count))
            continue;
        zs_json_object(body, NULL);
        put_module(body, m);
        zs_json_end(body);
    }
    zs_json_end(body);
    zs_json_u64(body, "totalModules", total);
    return 0;
}

/* Nothing can be waited for any more. */
static void take_error(struct zs_dap *dap, const struct zs_diag *diag)
{
    struct zs_debug_event lost = {.kind = ZS_DEBUG_EVENT_LOST};
    snprintf(lost.text, sizeof(lost.text), "%.400s", diag->text);
    tell_exit(dap, &lost);
}

void dap_wait(struct zs_dap *dap, uint32_t timeout_ms)
{
    struct zs_debug_event event = {0};
    struct zs_diag diag = {0};
    int error = zs_debug_wait(dap->debug, timeout_ms, &event, &diag);
    if (error == -EAGAIN || error == -EINTR)
        return;
    if (error) {
        zs_diag_set(&diag, error, ZS_DIAG_NO_OFFSET, "%s", strerror(-error));
        take_error(dap, &diag);
        return;
    }
    switch (event.kind) {
    case ZS_DEBUG_EVENT_NONE:
        break;
    case ZS_DEBUG_EVENT_MODULE_LOADED:
    case ZS_DEBUG_EVENT_MODULE_UNLOADED:
        tell_module(dap, &event);
        break;
    case ZS_DEBUG_EVENT_STOPPED:
        take_stop(dap, &event);
        break;
    case ZS_DEBUG_EVENT_LOG:
        dap_say(dap, "console", "%s", event.text);
        break;
    case ZS_DEBUG_EVENT_EXITED:
    case ZS_DEBUG_EVENT_LOST:
        tell_exit(dap, &event);
        break;
    }
}

/* ---- run control ---- */

int handle_continue(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                    struct zs_diag *diag)
{
    int error = zs_debug_continue(dap->debug, diag);
    if (error)
        return error;
    dap_forget_stop(dap);
    zs_json_bool(body, "allThreadsContinued", true);
    return 0;
}

int handle_pause(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                 struct zs_diag *diag)
{
    if (dap->stopped)
        return zs_diag_set(diag, -EALREADY, ZS_DIAG_NO_OFFSET, "it is stopped");
    zs_debug_interrupt(dap->debug);
    return 0;
}

static int step(struct zs_dap *dap, const json_t *arguments, enum zs_debug_step kind,
                enum zs_debug_step inst_kind, struct zs_diag *diag)
{
    const char *granularity = dap_text(arguments, "granularity");
    int64_t target = kind == ZS_DEBUG_STEP_IN ? dap_int(arguments, "targetId", 0) : 0;
    uint64_t target_va = 0;
    if (granularity && !strcmp(granularity, "instruction"))
        kind = inst_kind;
    int error = dap_focus_thread(dap, arguments, "step", diag);
    if (!error && target)
        error = dap_target(dap, target, &target_va, diag);
    if (!error)
        error = target ? zs_debug_step_into(dap->debug, target_va, diag)
                       : zs_debug_step(dap->debug, kind, diag);
    if (!error)
        dap_forget_stop(dap);
    return error;
}

int handle_next(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                struct zs_diag *diag)
{
    return step(dap, arguments, ZS_DEBUG_STEP_NEXT, ZS_DEBUG_STEP_INST_NEXT, diag);
}

int handle_stepIn(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                  struct zs_diag *diag)
{
    return step(dap, arguments, ZS_DEBUG_STEP_IN, ZS_DEBUG_STEP_INST, diag);
}

int handle_stepOut(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                   struct zs_diag *diag)
{
    return step(dap, arguments, ZS_DEBUG_STEP_OUT, ZS_DEBUG_STEP_OUT, diag);
}
