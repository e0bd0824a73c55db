/* SPDX-License-Identifier: MIT */
/*
 * How a session begins and ends. `launch` opens the debugger and has the client asked for its
 * breakpoints (event `initialized`); `configurationDone` starts the application, and both are
 * answered then.
 */
#include "dap/dap_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int handle_initialize(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                      struct zs_diag *diag)
{
    static const char *const offered[] = {
        "supportsConfigurationDoneRequest",
        "supportsFunctionBreakpoints",
        "supportsConditionalBreakpoints",
        "supportsHitConditionalBreakpoints",
        "supportsLogPoints",
        "supportsInstructionBreakpoints",
        "supportsBreakpointLocationsRequest",
        "supportsEvaluateForHovers",
        "supportsSetVariable",
        "supportsSetExpression",
        "supportsModulesRequest",
        "supportsExceptionInfoRequest",
        "supportTerminateDebuggee",
        "supportsTerminateRequest",
        "supportsReadMemoryRequest",
        "supportsWriteMemoryRequest",
        "supportsDisassembleRequest",
        "supportsSteppingGranularity",
        "supportsStepInTargetsRequest",
        "supportsGotoTargetsRequest",
        "supportsRestartRequest",
        "supportsDataBreakpointBytes",
        "supportsDelayedStackTraceLoading",
        "supportsCancelRequest",
        "supportsStepBack",
        "supportsDataBreakpoints",
        "supportsCompletionsRequest",
        "supportsLoadedSourcesRequest",
    };
    const char *format = dap_text(arguments, "pathFormat");
    if (dap->initialized)
        return zs_diag_set(diag, -EPROTO, ZS_DIAG_NO_OFFSET, "`initialize` was sent before");
    if (format && strcmp(format, "path") != 0)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET, "paths are understood, no `%.32s`",
                           format);
    dap->lines_at_0 = !dap_flag(arguments, "linesStartAt1", true);
    dap->columns_at_0 = !dap_flag(arguments, "columnsStartAt1", true);
    dap->invalidates = dap_flag(arguments, "supportsInvalidatedEvent", false);
    dap->tells_memory = dap_flag(arguments, "supportsMemoryEvent", false);
    dap->initialized = true;
    for (size_t i = 0; i < ZS_ARRAY_LEN(offered); i++)
        zs_json_bool(body, offered[i], true);
    zs_json_array(body, "exceptionBreakpointFilters");
    zs_json_object(body, NULL);
    zs_json_string(body, "filter", "fault");
    zs_json_string(body, "label", "Faults of kernels");
    zs_json_string(body, "description",
                   "Stop where a kernel reaches memory that is not there, or code that is none");
    zs_json_bool(body, "default", true);
    zs_json_end(body);
    zs_json_end(body);
    return 0;
}

/* ---- launch and attach ---- */

static int apply_environment(const json_t *env, struct zs_diag *diag)
{
    const char *name;
    json_t *value;
    if (env && !json_is_object(env))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`env` is no object of strings");
    json_object_foreach((json_t *)env, name, value)
    {
        bool ok = json_is_null(value)     ? !unsetenv(name)
                  : json_is_string(value) ? !setenv(name, json_string_value(value), 1)
                                          : false;
        if (!ok)
            return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                               "`env`: `%.64s` is no variable with a string", name);
    }
    return 0;
}

static int apply_folder(const char *cwd, struct zs_diag *diag)
{
    if (!cwd || !chdir(cwd))
        return 0;
    int error = -errno;
    return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "`cwd`: %.300s: %s", cwd, strerror(-error));
}

static const char *keep_text(struct zs_dap *dap, const char *text)
{
    return text ? zs_arena_strndup(&dap->strings, text, strlen(text)) : NULL;
}

/* `sourcePath`: folders; `sourceMap`: prefixes of paths, from: to. */
static int take_sources(struct zs_dap *dap, const json_t *arguments,
                        struct zs_source_options *ret_options, struct zs_diag *diag)
{
    const json_t *dirs = json_object_get(arguments, "sourcePath");
    json_t *maps = json_object_get(arguments, "sourceMap"), *to;
    const char *from;
    size_t dir_count = json_array_size(dirs), map_count = 0;
    if ((dirs && !json_is_array(dirs)) || (maps && !json_is_object(maps)))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "`sourcePath` is an array of folders, `sourceMap` an object");
    dap->search_dirs = ZS_ARENA_ARRAY(&dap->strings, dir_count + 1, const char *);
    dap->path_maps = ZS_ARENA_ARRAY(&dap->strings, json_object_size(maps) + 1, struct zs_path_map);
    if (!dap->search_dirs || !dap->path_maps)
        return -ENOMEM;
    for (size_t i = 0; i < dir_count; i++) {
        if (!(dap->search_dirs[i] = keep_text(dap, json_string_value(json_array_get(dirs, i)))))
            return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`sourcePath`: no text");
    }
    json_object_foreach(maps, from, to)
    {
        struct zs_path_map *map = &dap->path_maps[map_count++];
        map->from = keep_text(dap, from);
        map->to = keep_text(dap, json_string_value(to));
        if (!map->from || !map->to)
            return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`sourceMap`: no text");
    }
    *ret_options = (struct zs_source_options){.size_B = sizeof(*ret_options),
                                              .search_dirs = dap->search_dirs,
                                              .search_dir_count = dir_count,
                                              .maps = dap->path_maps,
                                              .map_count = map_count};
    return 0;
}

static int open_debugger(struct zs_dap *dap, const json_t *arguments, struct zs_diag *diag)
{
    struct zs_debug_options options = {.size_B = sizeof(options)};
    const char *driver = dap_text(arguments, "driver"), *devices = dap_text(arguments, "devices");
    int64_t device = dap_int(arguments, "device", dap->options.device);
    if (device < 0 || device > UINT32_MAX)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`device` is no number of a device");
    dap->no_debug = dap_flag(arguments, "noDebug", false);
    dap->stop_on_entry = dap_flag(arguments, "stopOnEntry", false) && !dap->no_debug;
    int error = take_sources(dap, arguments, &options.sources, diag);
    options.driver = driver ? keep_text(dap, driver) : dap->options.driver;
    if (options.driver && !strcmp(options.driver, "system"))
        options.driver = NULL;
    options.devices = devices ? keep_text(dap, devices) : dap->options.devices;
    options.device = (uint32_t)device;
    options.stop_on_load = dap->stop_on_entry;
    error = error ? error : zs_debug_open(&options, &dap->debug, diag);
    if (error)
        dap->debug = NULL;
    return error;
}

static int begin(struct zs_dap *dap, bool attach, const json_t *arguments, struct zs_diag *diag)
{
    struct zs_buf buf;
    if (dap->debug)
        return zs_diag_set(diag, -EPROTO, ZS_DIAG_NO_OFFSET, "this session debugs something");
    int error = apply_folder(dap_text(arguments, "cwd"), diag);
    error = error ? error : apply_environment(json_object_get(arguments, "env"), diag);
    error = error ? error : open_debugger(dap, arguments, diag);
    if (error)
        return error;
    dap->attached = attach;
    dap->launch = json_incref(dap->current);
    struct zs_json json = dap_event_begin(dap, &buf, "initialized");
    dap_event_end(dap, &json);
    return DAP_LATER;
}

static int check_launch(const json_t *arguments, struct zs_diag *diag)
{
    const json_t *args = json_object_get(arguments, "args");
    bool strings = !args || json_is_array(args);
    for (size_t i = 0; i < json_array_size(args); i++)
        strings &= json_is_string(json_array_get(args, i));
    if (!dap_text(arguments, "program"))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`program` does not say what to run");
    if (!strings)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`args` is no array of strings");
    return 0;
}

int handle_launch(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                  struct zs_diag *diag)
{
    int error = check_launch(arguments, diag);
    return error ? error : begin(dap, false, arguments, diag);
}

int handle_attach(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                  struct zs_diag *diag)
{
    int64_t pid = dap_int(arguments, "pid", 0);
    if (pid <= 0 || pid > UINT32_MAX)
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "`pid` is no number of a process");
    return begin(dap, true, arguments, diag);
}

static int launch(struct zs_dap *dap, const json_t *arguments, struct zs_diag *diag)
{
    const json_t *args = json_object_get(arguments, "args");
    size_t count = json_array_size(args);
    char **argv = calloc(count + 2, sizeof(*argv));
    if (!argv)
        return -ENOMEM;
    argv[0] = (char *)dap_text(arguments, "program");
    for (size_t i = 0; i < count; i++)
        argv[i + 1] = (char *)json_string_value(json_array_get(args, i));
    int error = zs_debug_launch(dap->debug, argv, diag);
    free(argv);
    return error;
}

/* `process` tells clients what they debug. */
static void tell_process(struct zs_dap *dap, const json_t *arguments)
{
    struct zs_buf buf;
    struct zs_json json = dap_event_begin(dap, &buf, "process");
    const char *program = dap_text(arguments, "program");
    zs_json_string(&json, "name", program && !dap->attached ? program : "process");
    zs_json_u64(&json, "systemProcessId", zs_debug_pid(dap->debug));
    zs_json_bool(&json, "isLocalProcess", true);
    zs_json_string(&json, "startMethod", dap->attached ? "attach" : "launch");
    dap_event_end(dap, &json);
}

int handle_configurationDone(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                             struct zs_diag *diag)
{
    if (!dap->launch)
        return zs_diag_set(diag, -EPROTO, ZS_DIAG_NO_OFFSET, "`configurationDone` was sent before");
    json_t *request = dap->launch, *current = dap->current;
    const json_t *given = json_object_get(request, "arguments");
    struct zs_diag why = {0};
    int error = dap->attached
                    ? zs_debug_attach(dap->debug, (uint32_t)dap_int(given, "pid", 0), &why)
                    : launch(dap, given, &why);
    dap->launch = NULL;
    dap->live = !error;
    dap->started = dap->live && !dap->attached ? json_incref((json_t *)given) : NULL;
    if (error)
        zs_diag_set(&why, error, ZS_DIAG_NO_OFFSET, "%s", strerror(-error));
    json_incref(current);
    dap_answer_later(dap, current, NULL);
    if (!error)
        tell_process(dap, given);
    dap_answer_later(dap, request, error ? &why : NULL);
    if (error)
        dap_tell_end(dap);
    return DAP_LATER;
}

/* The application anew, with what the client says now; breakpoints stay, and are found again when
 * code is loaded. What was asked of the debugger itself (driver, devices, sources) stays. */
int handle_restart(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                   struct zs_diag *diag)
{
    const json_t *given = json_object_get(arguments, "arguments");
    given = given ? given : dap->started;
    bool was_stopped = dap->stopped;
    if (dap->attached)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "a process that was attached to cannot be started anew");
    int error = check_launch(given, diag);
    if (given != dap->started) /* whose folder it is in */
        error = error ? error : apply_folder(dap_text(given, "cwd"), diag);
    error = error ? error : apply_environment(json_object_get(given, "env"), diag);
    error = error ? error : zs_debug_kill(dap->debug, diag);
    if (error)
        return error;
    if (was_stopped)
        dap_tell_continued(dap);
    dap_forget_stop(dap);
    dap->stop_on_entry = dap_flag(dap->started, "stopOnEntry", false) && !dap->no_debug;
    error = launch(dap, given, diag);
    if (error)
        dap_tell_end(dap);
    else
        tell_process(dap, given);
    dap_breakpoints_changed(dap);
    return error;
}

/* ---- the end ---- */

int handle_terminate(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                     struct zs_diag *diag)
{
    uint32_t pid = zs_debug_pid(dap->debug);
    if (!pid || pid > INT32_MAX || kill((pid_t)pid, SIGTERM))
        return zs_diag_set(diag, -ESRCH, ZS_DIAG_NO_OFFSET, "the application cannot be ended");
    /* a signal's handler may wait for the device */
    if (dap->stopped && !zs_debug_continue(dap->debug, diag))
        dap_forget_stop(dap);
    return 0;
}

int handle_disconnect(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                      struct zs_diag *diag)
{
    dap->end_after = true;
    if (dap->launch) {
        struct zs_diag why = {.error = -ECANCELED, .text = "the client has disconnected"};
        json_t *request = dap->launch;
        dap->launch = NULL;
        dap_answer_later(dap, request, &why);
    }
    if (!dap->live)
        return 0;
    bool kill_it = dap_flag(arguments, "terminateDebuggee", !dap->attached);
    int error = kill_it ? zs_debug_kill(dap->debug, diag) : zs_debug_detach(dap->debug, diag);
    dap_forget_stop(dap);
    dap->live = false;
    return error;
}

/* The one that is meant was marked when this request came. */
int handle_cancel(struct zs_dap *dap, const json_t *arguments, struct zs_json *body,
                  struct zs_diag *diag)
{
    return 0;
}
