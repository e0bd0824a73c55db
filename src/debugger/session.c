/* SPDX-License-Identifier: MIT */
/* Opening the debugger, starting and attaching to applications, letting them go. */
#include "debugger/debugger_priv.h"

#include "base/clock.h"
#include "base/options.h"

#include <zescope/record.h>

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SLICE_MS = 20,
    VALUES_MAX_B = 256 << 20,
    KEPT_MAX_B = 64 << 20,
    REAP_TRIES = 200,
    REAP_WAIT_US = 10000,
    ATTACH_TRIES = 100,
    ATTACH_WAIT_US = 2000
};

extern char **environ;

static void read_sets(struct zs_debugger *d)
{
    zet_debug_regset_properties_t sets[ZS_DBG_SETS_MAX] = {0};
    uint32_t count = ZS_DBG_SETS_MAX;
    for (uint32_t i = 0; i < ZS_DBG_SETS_MAX; i++)
        sets[i].stype = ZET_STRUCTURE_TYPE_DEBUG_REGSET_PROPERTIES;
    if (d->ze.zetDebugGetRegisterSetProperties(d->device, &count, sets))
        return;
    for (uint32_t i = 0; i < count && i < ZS_DBG_SETS_MAX; i++)
        d->sets[d->set_count++] = (struct zs_dbg_regset){
            .type = sets[i].type,
            .count = sets[i].count,
            .size_B = sets[i].byteSize,
            .writable = (sets[i].generalFlags & ZET_DEBUG_REGSET_FLAG_WRITEABLE) != 0};
    const struct zs_dbg_regset *grf = zs_dbg_regset(d, ZESCOPE_DEBUG_REGSET_GRF);
    d->grf_B = grf && grf->size_B <= ZS_DBG_GRF_MAX_B ? grf->size_B : 32;
}

static bool can_debug(struct zs_debugger *d, ze_device_handle_t device)
{
    zet_device_debug_properties_t p = {.stype = ZET_STRUCTURE_TYPE_DEVICE_DEBUG_PROPERTIES};
    return d->ze.zetDeviceGetDebugProperties(device, &p) == ZE_RESULT_SUCCESS &&
           (p.flags & ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH);
}

/* The number-th device of all drivers, that can be debugged. */
static ze_device_handle_t find_device(struct zs_debugger *d, uint32_t number)
{
    ze_driver_handle_t drivers[16];
    ze_device_handle_t devices[64];
    uint32_t driver_count = ZS_ARRAY_LEN(drivers);
    if (d->ze.zeInit(0) || d->ze.zeDriverGet(&driver_count, drivers))
        return NULL;
    for (uint32_t i = 0; i < driver_count; i++) {
        uint32_t count = ZS_ARRAY_LEN(devices);
        if (d->ze.zeDeviceGet(drivers[i], &count, devices))
            continue;
        for (uint32_t k = 0; k < count; k++)
            if (number-- == 0)
                return can_debug(d, devices[k]) ? devices[k] : NULL;
    }
    return NULL;
}

static int open_device(struct zs_debugger *d, const struct zs_debug_options *o,
                       struct zs_diag *diag)
{
    if ((o->driver && setenv("ZE_ENABLE_ALT_DRIVERS", o->driver, 1)) ||
        (o->devices && setenv("ZESCOPE_DEVICES", o->devices, 1)))
        return -ENOMEM;
    int error = zs_dbg_load_calls(d, diag);
    if (error)
        return error;
    d->device = find_device(d, o->device);
    if (!d->device)
        return zs_diag_set(diag, -ENODEV, ZS_DIAG_NO_OFFSET,
                           "no Level Zero driver here has a device %u that can be debugged",
                           o->device);
    d->properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    if (d->ze.zeDeviceGetProperties(d->device, &d->properties))
        return zs_diag_set(diag, -ENODEV, ZS_DIAG_NO_OFFSET, "the device does not describe itself");
    const char *name = zs_device_ocloc_name(d->properties.vendorId, d->properties.deviceId);
    d->platform = name ? zs_isa_platform_from_device(name) : ZS_ISA_NONE;
    read_sets(d);
    return 0;
}

int zs_debug_open(const struct zs_debug_options *options, struct zs_debugger **ret_debug,
                  struct zs_diag *diag)
{
    struct zs_debug_options own = {.size_B = sizeof(own)};
    *ret_debug = NULL;
    int error = ZS_OPTIONS_TAKE(&own, options, diag);
    if (error)
        return error;
    struct zs_debugger *d = calloc(1, sizeof(*d));
    if (!d)
        return -ENOMEM;
    zs_arena_init(&d->values, VALUES_MAX_B);
    zs_arena_init(&d->kept_arena, KEPT_MAX_B);
    d->source_options = own.sources;
    d->source_options.size_B = sizeof(d->source_options);
    d->stop_on_load = own.stop_on_load;
    d->record = ZS_DEBUG_RECORD_AUTO;
    error = zs_sources_open(&d->source_options, &d->sources);
    if (!error)
        error = open_device(d, &own, diag);
    if (error)
        zs_debug_close(d);
    else
        *ret_debug = d;
    return error;
}

/* The exit status of an application that was launched; false: it runs. */
static bool reap(struct zs_debugger *d, bool wait)
{
    int status;
    for (int i = 0; d->launched && !d->reaped && i < REAP_TRIES; i++) {
        pid_t got = waitpid(d->pid, &status, WNOHANG);
        if (got == d->pid) {
            d->reaped = true;
            d->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        }
        if (got || !wait)
            break;
        usleep(REAP_WAIT_US);
    }
    return d->reaped;
}

static void forget_process(struct zs_debugger *d)
{
    zs_dbg_step_end(d);
    zs_dbg_threads_clear(d);
    for (size_t i = 0; i < d->breakpoints.count; i++)
        d->breakpoints.items[i]->places.count = d->breakpoints.items[i]->shown.place_count = 0;
    for (size_t i = d->breakpoints.count; i-- > 0;) /* their memory is gone */
        if (d->breakpoints.items[i]->shown.watch)
            (void)zs_debug_break_delete(d, d->breakpoints.items[i]->shown.id, NULL);
    d->record_told = d->launch_wanted = false;
    d->watching = 0;
    d->inserted.count = 0;
    zs_dbg_modules_clear(d);
    d->queue.count = d->queue_at = 0;
    d->state = ZS_DBG_IDLE;
    d->ip_base = 0;
    d->process_gone = false;
    atomic_store(&d->interrupt_wanted, false);
}

static int attach(struct zs_debugger *d, uint32_t pid, struct zs_diag *diag)
{
    const zet_debug_config_t config = {.pid = pid};
    char what[64];
    snprintf(what, sizeof(what), "process %u cannot be debugged", pid);
    ze_result_t result = d->ze.zetDebugAttach(d->device, &config, &d->session);
    if (result == ZE_RESULT_SUCCESS) {
        d->pid = (pid_t)pid;
        d->state = ZS_DBG_RUNNING;
        return 0;
    }
    d->session = NULL;
    if (result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "%s: it was not started with ZET_ENABLE_PROGRAM_DEBUGGING=1, or does "
                           "not have this device",
                           what);
    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE)
        return zs_diag_set(diag, -EBUSY, ZS_DIAG_NO_OFFSET, "%s: it has a debugger", what);
    if (result == ZE_RESULT_ERROR_INVALID_ARGUMENT)
        return zs_diag_set(diag, -ESRCH, ZS_DIAG_NO_OFFSET, "%s: there is none", what);
    return zs_dbg_result(result, what, diag);
}

int zs_debug_attach(struct zs_debugger *d, uint32_t pid, struct zs_diag *diag)
{
    if (d->session)
        return zs_diag_set(diag, -EBUSY, ZS_DIAG_NO_OFFSET, "a process is being debugged already");
    d->launched = false;
    int error = attach(d, pid, diag);
    /* the driver tells of queues and modules that are there before it says that it is attached */
    while (!error && !d->process_gone)
        error = zs_dbg_take_event(d, 0, diag);
    return error == -EAGAIN ? 0 : error;
}

/* The environment with the variable that allows debugging. */
static char **debuggable_environment(void)
{
    static char enabled[] = "ZET_ENABLE_PROGRAM_DEBUGGING=1";
    size_t count = 0, out = 0, name_length = strlen("ZET_ENABLE_PROGRAM_DEBUGGING=");
    while (environ[count])
        count++;
    char **all = calloc(count + 2, sizeof(*all));
    for (size_t i = 0; all && i < count; i++)
        if (strncmp(environ[i], enabled, name_length) != 0)
            all[out++] = environ[i];
    if (all)
        all[out] = enabled;
    return all;
}

int zs_debug_launch(struct zs_debugger *d, char *const *argv, struct zs_diag *diag)
{
    if (d->session)
        return zs_diag_set(diag, -EBUSY, ZS_DIAG_NO_OFFSET, "a process is being debugged already");
    pid_t pid;
    bool is_held;
    char **environment = debuggable_environment();
    int error = environment ? zs_dbg_start(argv, environment, &pid, &is_held) : -ENOMEM;
    free(environment);
    if (error)
        return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "cannot start %s: %s", argv[0],
                           strerror(-error));
    d->launched = true;
    d->reaped = false;
    d->pid = pid;
    /* one that is not held: its environment is not to be seen yet when it has just begun */
    struct zs_diag first;
    for (int i = 0; i < ATTACH_TRIES; i++) {
        zs_diag_clear(&first);
        error = attach(d, (uint32_t)pid, &first);
        if ((error != -ENOTSUP && error != -ESRCH) || reap(d, false))
            break;
        usleep(ATTACH_WAIT_US);
    }
    if (is_held)
        zs_dbg_let_go(pid);
    if (error && reap(d, false)) { /* it had nothing to debug */
        struct zs_debug_event ended = {.kind = ZS_DEBUG_EVENT_EXITED, .status = d->exit_status};
        zs_dbg_queue(d, &ended);
        error = 0;
        d->pid = 0;
    } else if (error) {
        if (diag)
            *diag = first;
        kill(pid, SIGKILL);
        reap(d, true);
        d->pid = 0;
    }
    return error;
}

int zs_debug_detach(struct zs_debugger *d, struct zs_diag *diag)
{
    if (!d->session)
        return zs_diag_set(diag, -ECHILD, ZS_DIAG_NO_OFFSET, "nothing is being debugged");
    ze_result_t result = d->ze.zetDebugDetach(d->session);
    d->session = NULL;
    forget_process(d);
    d->pid = 0;
    return zs_dbg_result(result, "detach", diag);
}

int zs_debug_kill(struct zs_debugger *d, struct zs_diag *diag)
{
    if (!d->session)
        return zs_diag_set(diag, -ECHILD, ZS_DIAG_NO_OFFSET, "nothing is being debugged");
    kill(d->pid, SIGKILL);
    (void)d->ze.zetDebugDetach(d->session);
    d->session = NULL;
    reap(d, true);
    forget_process(d);
    d->pid = 0;
    return 0;
}

void zs_dbg_process_ended(struct zs_debugger *d, struct zs_debug_event *ret)
{
    *ret = (struct zs_debug_event){.kind = ZS_DEBUG_EVENT_EXITED, .status = -1};
    if (d->launched && reap(d, true))
        ret->status = d->exit_status;
    if (d->launched && !d->reaped) {
        ret->kind = ZS_DEBUG_EVENT_LOST;
        snprintf(ret->text, sizeof(ret->text), "the driver ended the session; the process runs on");
    }
    (void)d->ze.zetDebugDetach(d->session);
    d->session = NULL;
    forget_process(d);
    d->pid = 0;
}

void zs_debug_close(struct zs_debugger *d)
{
    if (!d)
        return;
    bool kill_it = d->launched && d->session;
    if (kill_it)
        (void)zs_debug_kill(d, NULL);
    else if (d->session)
        (void)zs_debug_detach(d, NULL);
    zs_dbg_breakpoints_clear(d);
    zs_dbg_threads_clear(d);
    zs_dbg_modules_clear(d);
    zs_sources_close(d->sources);
    zs_arena_fini(&d->values);
    zs_dbg_kept_free(d);
    free(d->modules.items);
    free(d->breakpoints.items);
    free(d->inserted.items);
    free(d->threads.items);
    free(d->shown_threads.items);
    free(d->queue.items);
    free(d->focus_file);
    free(d->history);
    free(d); /* the loader stays: drivers do not like to go */
}

uint32_t zs_debug_pid(const struct zs_debugger *d)
{
    return (uint32_t)d->pid;
}

const struct zs_source *zs_debug_source(struct zs_debugger *d, const char *path)
{
    const struct zs_dwarf_file file = {.path = path};
    return zs_sources_get(d->sources, &file);
}

static int begin_interrupt(struct zs_debugger *d, struct zs_diag *diag)
{
    if (d->state != ZS_DBG_RUNNING)
        return 0;
    memset(&d->stop, 0, sizeof(d->stop));
    zs_dbg_stop(d, ZS_DEBUG_REASON_INTERRUPT, NULL, 0, 0);
    return zs_dbg_hold_all(d, diag);
}

int zs_debug_wait(struct zs_debugger *d, uint32_t timeout_ms, struct zs_debug_event *ret_event,
                  struct zs_diag *diag)
{
    uint64_t end_ns = zs_now_ns() + (uint64_t)timeout_ms * 1000000;
    memset(ret_event, 0, sizeof(*ret_event));
    for (;;) {
        if (d->queue_at < d->queue.count) {
            *ret_event = d->queue.items[d->queue_at++];
            return 0;
        }
        if (!d->session)
            return zs_diag_set(diag, -ECHILD, ZS_DIAG_NO_OFFSET, "nothing is being debugged");
        if (d->process_gone) {
            zs_dbg_process_ended(d, ret_event);
            return 0;
        }
        int error = 0;
        if (atomic_exchange(&d->interrupt_wanted, false))
            error = begin_interrupt(d, diag);
        if (!error && d->queue_at == d->queue.count) {
            uint64_t now_ns = zs_now_ns();
            if (timeout_ms != UINT32_MAX && now_ns >= end_ns)
                timeout_ms = 0;
            error = zs_dbg_take_event(d, timeout_ms ? SLICE_MS : 0, diag);
            if (error == -EAGAIN && timeout_ms)
                error = 0;
        }
        if (error == -EAGAIN && d->queue_at < d->queue.count)
            error = 0;
        if (error)
            return error;
    }
}
