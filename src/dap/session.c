/* SPDX-License-Identifier: MIT */
/* Requests are answered in the order in which they came, by the handlers of requests.def. */
#include "dap/dap_priv.h"

#include <errno.h>
#include <stdlib.h>

enum when { ANY, READY, OPEN, LIVE, STOPPED };

static const struct {
    const char *name;
    enum when when;
    dap_handler *handle;
} requests[] = {
#define REQUEST(name, when) {#name, when, handle_##name},
#include "dap/requests.def"
#undef REQUEST
};

static int check_when(const struct zs_dap *dap, enum when when, struct zs_diag *diag)
{
    if (when >= READY && !dap->initialized)
        return zs_diag_set(diag, -EPROTO, ZS_DIAG_NO_OFFSET, "`initialize` comes first");
    if (when >= OPEN && !dap->debug)
        return zs_diag_set(diag, -EPROTO, ZS_DIAG_NO_OFFSET,
                           "nothing is debugged: `launch` or `attach` comes first");
    if (when >= LIVE && !dap->live)
        return zs_diag_set(diag, -ECHILD, ZS_DIAG_NO_OFFSET,
                           dap->exited ? "the application has ended"
                                       : "the application has not been started");
    if (when >= STOPPED && !dap->stopped)
        return zs_diag_set(diag, -EBUSY, ZS_DIAG_NO_OFFSET, "the device runs: pause it first");
    return 0;
}

static int handle(struct zs_dap *dap, const json_t *request, struct zs_json *body,
                  struct zs_diag *diag)
{
    const char *command = dap_text(request, "command");
    const json_t *arguments = json_object_get(request, "arguments");
    for (size_t i = 0; i < ZS_ARRAY_LEN(requests); i++) {
        if (strcmp(requests[i].name, command) != 0)
            continue;
        int error = check_when(dap, requests[i].when, diag);
        return error ? error : requests[i].handle(dap, arguments, body, diag);
    }
    return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "`%.64s` is not offered", command);
}

/* The writer closes what a handler that failed has left open: that body is thrown away. */
static void dispatch(struct zs_dap *dap, struct request request)
{
    struct zs_buf buf = {0};
    struct zs_json body = zs_json_make(&buf, 0);
    struct zs_diag diag = {0};
    dap->current = request.json;
    dap->current_cancelled = request.cancelled;
    zs_json_object(&body, NULL);
    int error = request.cancelled ? 0 : handle(dap, request.json, &body, &diag);
    if (dap->current_cancelled && error != DAP_LATER) {
        diag = (struct zs_diag){.error = -ECANCELED, .text = "cancelled"};
        error = -ECANCELED;
    }
    dap->current = NULL;
    if (!error) {
        zs_json_end(&body);
        zs_assert(!body.depth);
        dap_answer(dap, request.json, NULL, NULL, &buf);
    } else if (error < 0) {
        zs_diag_set(&diag, error, ZS_DIAG_NO_OFFSET, "%s", strerror(-error));
        dap_answer(dap, request.json,
                   error == -ECANCELED            ? "cancelled"
                   : error == -EBUSY && dap->live ? "notStopped"
                                                  : NULL,
                   &diag, NULL);
    }
    zs_buf_fini(&buf);
    json_decref(request.json);
}

void zs_dap_work(struct zs_dap *dap, uint32_t timeout_ms)
{
    if (dap->ended)
        return;
    if (dap->queue.count) {
        struct request first = dap->queue.items[0];
        memmove(dap->queue.items, dap->queue.items + 1, --dap->queue.count * sizeof(first));
        dispatch(dap, first);
        dap->ended |= dap->end_after;
        return;
    }
    if (dap->live && !dap->stopped)
        dap_wait(dap, timeout_ms);
}

bool zs_dap_busy(const struct zs_dap *dap)
{
    return dap->queue.count || (dap->live && !dap->stopped);
}

bool zs_dap_ended(const struct zs_dap *dap)
{
    return dap->ended;
}

int zs_dap_open(const struct zs_dap_options *options, struct zs_dap **ret_dap)
{
    struct zs_dap *dap = *ret_dap = calloc(1, sizeof(*dap));
    if (!dap)
        return -ENOMEM;
    dap->options = *options;
    zs_arena_init(&dap->strings, 0);
    zs_arena_init(&dap->expressions, 0);
    return 0;
}

void zs_dap_close(struct zs_dap *dap)
{
    if (!dap)
        return;
    if (dap->debug)
        zs_debug_close(dap->debug);
    for (size_t i = 0; i < dap->queue.count; i++)
        json_decref(dap->queue.items[i].json);
    json_decref(dap->launch);
    json_decref(dap->started);
    dap_breakpoints_fini(dap);
    zs_arena_fini(&dap->strings);
    zs_arena_fini(&dap->expressions);
    zs_buf_fini(&dap->in);
    free(dap->queue.items);
    free(dap->entries.items);
    free(dap->sources.items);
    free(dap->refs.items);
    free(dap->frames.items);
    free(dap->targets.items);
    free(dap);
}
