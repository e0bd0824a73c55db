/* SPDX-License-Identifier: MIT */
/*
 * How the collector gets between the application and the driver.
 *
 * Level Zero is reached in many ways: programs link the loader, open it with dlopen and look its
 * functions up with dlsym, carry a static loader that opens the shared one, or load a plug-in
 * that does any of these. Interposing zeInit would see the first of them only, and calling zeInit
 * at start would initialise drivers before the application has said what it wants (environment
 * variables, flags, a fork). All ways have one step in common: with ZE_ENABLE_TRACING_LAYER=1 the
 * loader, while it initialises, opens libze_tracing_layer.so.1 by that name with dlopen. (Loaders
 * since 1.17 open it always; the variable still says whether it is used.) A tracer needs nothing
 * but that library: zelTracerCreate of the loader only forwards to it. So:
 *
 *   - dlopen is interposed, and when somebody opens the tracing layer, the collector opens it
 *     first and installs its tracer through the layer's own table. The loader then gets the same
 *     library (the dynamic linker knows it by its soname), with our tracer in it, before the
 *     first API call is possible.
 *   - All other calls of dlopen are passed on by a tail call: dlopen looks at its return address
 *     to find the caller's RUNPATH and namespace, and must see the application there, not us.
 *   - A library opened with RTLD_DEEPBIND, and a loader that comes with it, do not see our
 *     dlopen. What they find by name is what is there already: before such a call our layer is
 *     brought in, whose soname is the one that the loader will ask for. That serves where calls
 *     are recorded. For modules alone, we look after such a call whether the loader has come in,
 *     and if so open the tracing layer beside it right then. This call of dlopen cannot be a tail
 *     call; only paths (with '/'), for which the caller does not matter, are treated so.
 *   - A namespace of dlmopen has libraries of its own, and none of ours: a note says so.
 *
 * In a process that never touches Level Zero nothing happens beyond reading a few variables.
 *
 * This file has the collector's only mutable globals: the dynamic linker gives no user pointer.
 */
#include "collect/api_trace.h"
#include "collect/collect.h"
#include "collect/instrument.h"
#include "collect/own_stack.h"
#include "collect/pause.h"
#include "wire/instrument.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define LAYER_NAME      "libze_tracing_layer.so.1"
#define LOADER_NAME     "libze_loader.so.1"
#define VALIDATION_NAME "libze_validation_layer.so.1"

#if __has_attribute(musttail)
#define MUST_TAIL __attribute__((musttail))
#else
#define MUST_TAIL /* gcc makes it one when it optimises; a test looks */
#endif

typedef void *(*dlopen_fn)(const char *file, int flags);

static struct zs_collector collector;
static _Atomic(dlopen_fn) next_dlopen;
static atomic_flag installed = ATOMIC_FLAG_INIT;
static atomic_flag tracing = ATOMIC_FLAG_INIT;
static atomic_bool deepbound;

static dlopen_fn real_dlopen(void)
{
    dlopen_fn fn = atomic_load_explicit(&next_dlopen, memory_order_relaxed);
    if (ZS_UNLIKELY(!fn)) {
        fn = (dlopen_fn)(uintptr_t)dlsym(RTLD_NEXT, "dlopen");
        atomic_store_explicit(&next_dlopen, fn, memory_order_relaxed);
    }
    return fn;
}

typedef void *(*dlmopen_fn)(Lmid_t space, const char *file, int flags);

static dlmopen_fn real_dlmopen(void)
{
    return (dlmopen_fn)(uintptr_t)dlsym(RTLD_NEXT, "dlmopen");
}

/* What is done in a thread of the application: on a stack of our own, inside a guard. */
struct task {
    void (*work)(struct task *task);
    const char *path, *name;
    void *result;
};

static void run_guarded(void *arg)
{
    struct task *task = arg;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    task->work(task);
    zs_guard_leave(&guard);
}

static void *run(void (*work)(struct task *task), const char *path, const char *name)
{
    struct task task = {work, path, name, NULL};
    zs_own_stack_run(run_guarded, &task);
    return task.result;
}

static void end_process(struct task *task)
{
    zs_instrument_process_ends(&collector);
}

static void process_exits(void)
{
    zs_api_trace_ends();
    run(end_process, NULL, NULL);
}

static void forked(void)
{
    zs_instrument_forked(&collector);
}

/* Before the application's own constructors can change the environment. */
__attribute__((constructor)) static void read_environment(void)
{
    const char *dir = getenv(ZS_ENV_COLLECT_DIR);
    const char *debug_info = getenv(ZS_ENV_COLLECT_DEBUG_INFO);
    const char *limit = getenv(ZS_ENV_COLLECT_TRACE_LIMIT), *count = getenv(ZS_ENV_COLLECT_COUNTS);
    collector.at_exit = process_exits;
    const char *names = getenv(ZS_ENV_COLLECT_NAMES);
    const char *lines_only = getenv(ZS_ENV_COLLECT_LINES_ONLY);
    collector.lines_only = lines_only && !strcmp(lines_only, "1");
    collector.count = count && !strcmp(count, "1");
    const char *activity = getenv(ZS_ENV_COLLECT_ACTIVITY);
    collector.activity = !activity || strcmp(activity, "0") != 0;
    collector.trace_limit_B = limit ? strtoull(limit, NULL, 10) : 0;
    const char *instrument = getenv(ZS_ENV_COLLECT_INSTRUMENT);
    if (instrument && instrument[0] == '/') {
        collector.instrument_socket = strdup(instrument);
        pthread_atfork(NULL, NULL, forked);
    }
    const char *buffer = getenv(ZS_ENV_COLLECT_RECORDS_BUFFER);
    const char *records = getenv(ZS_ENV_COLLECT_RECORDS_LIMIT);
    atomic_store(&collector.instrument_trace_B, buffer ? strtoull(buffer, NULL, 10) : 0);
    collector.instrument_records_limit_B = records ? strtoull(records, NULL, 10) : 0;
    unsigned limit_s = zs_instrument_limit_s();
    collector.instrument_limit_s = limit_s + limit_s / 4 + 1;
    zs_launches_init(&collector.launches);
    zs_below_init(&collector.below);
    if (dir && dir[0] == '/')
        zs_collector_init(&collector, dir, debug_info && !strcmp(debug_info, "1"));
    else if (names && !strcmp(names, "1"))
        zs_collector_init_names(&collector, debug_info && !strcmp(debug_info, "1"));
    const char *layer = getenv(ZS_ENV_COLLECT_LAYER);
    if (collector.dir[0] && layer && layer[0])
        zs_pause_init();
}

__attribute__((destructor)) static void process_ends(void)
{
    zs_api_trace_flush();
}

/* dir of path + name. */
static bool beside(char *ret, size_t size_B, const char *path, const char *name)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!slash)
        return false;
    int n = snprintf(ret, size_B, "%.*s/%s", (int)(slash - path), path, name);
    return n > 0 && (size_t)n < size_B;
}

/*
 * loader_path: the file of the loader, or NULL; name: how the layer was asked for. The layer
 * beside the loader is taken first: it has the loader's version.
 */
static void *open_layer(const char *loader_path, const char *name)
{
    char path[ZS_COLLECT_PATH_CHARS];
    void *layer = NULL;
    if (strchr(name, '/'))
        layer = real_dlopen()(name, RTLD_LAZY | RTLD_LOCAL);
    if (!layer && beside(path, sizeof(path), loader_path, LAYER_NAME))
        layer = real_dlopen()(path, RTLD_LAZY | RTLD_LOCAL);
    return layer ? layer : real_dlopen()(LAYER_NAME, RTLD_LAZY | RTLD_LOCAL);
}

static void bring_tracer(struct task *task)
{
    zs_session_get(&collector);
    void *layer = open_layer(task->path, task->name);
    void *loader = task->path ? real_dlopen()(task->path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!loader)
        loader = real_dlopen()(LOADER_NAME, RTLD_LAZY | RTLD_NOLOAD);
    if (layer && loader)
        zs_tracer_install(&collector, layer, loader);
    else
        zs_session_note(&collector, "%s cannot be opened: nothing is captured",
                        layer ? LOADER_NAME : LAYER_NAME);
    (void)dlerror(); /* the application must not find our errors there */
}

static void install(const char *loader_path, const char *name)
{
    if (collector.dir[0] && !collector.lines_only && !atomic_flag_test_and_set(&installed))
        run(bring_tracer, loader_path, name);
}

static void install_for_caller(const void *caller, const char *name)
{
    Dl_info info;
    bool known = dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libze_loader");
    install(known ? info.dli_fname : NULL, name);
}

static void install_if_loader_is_here(void)
{
    struct link_map *map = real_dlopen()(LOADER_NAME, RTLD_LAZY | RTLD_NOLOAD);
    (void)dlerror();
    if (map)
        install(map->l_name, LAYER_NAME);
}

/*
 * API calls are recorded through the loader's other layer, the one for validation: with
 * ZE_ENABLE_VALIDATION_LAYER=1 the loader opens it by name and gets ours, which keeps the real one
 * in the chain when the application had asked for it (src/layer). Ours itself opens the real one
 * by its path: that call must pass.
 */
static void bring_layer(struct task *task)
{
    task->result = real_dlopen()(task->path, RTLD_NOW | RTLD_LOCAL);
    if (!task->result)
        zs_session_note(&collector, "API calls are not recorded: %s", dlerror());
    else if (!atomic_flag_test_and_set(&tracing))
        zs_api_trace_start(&collector, task->result);
}

static void *trace_layer(void)
{
    const char *path = getenv(ZS_ENV_COLLECT_LAYER);
    return collector.dir[0] && path && path[0] ? run(bring_layer, path, NULL) : NULL;
}

/* OpenCL's loader opens our layer by its path, which OPENCL_LAYERS says. */
static bool is_layer(const char *file)
{
    const char *path = getenv(ZS_ENV_COLLECT_LAYER);
    return path && !strcmp(file, path);
}

/* What has to happen before `file` is opened; a handle that is to be given instead, or NULL. */
__attribute__((noinline)) static void *before_open(const char *file, const void *caller)
{
    void *layer = !strcmp(file, VALIDATION_NAME) || is_layer(file) ? trace_layer() : NULL;
    if (!layer && strstr(file, "libze_tracing_layer"))
        install_for_caller(caller, file);
    return layer;
}

/* True: it is a path. */
__attribute__((noinline)) static bool before_deepbound(const char *file)
{
    if (!atomic_load_explicit(&deepbound, memory_order_relaxed) &&
        !atomic_exchange(&deepbound, true))
        trace_layer();
    return strchr(file, '/');
}

static void note_space(struct task *task)
{
    zs_session_note(&collector,
                    "%.200s was opened with dlmopen: what is called through it is not recorded",
                    task->path);
}

/* The other namespace has nothing of ours, and its calls cannot be seen from here. */
__attribute__((noinline)) static void before_other_space(const char *file)
{
    const char *slash = strrchr(file, '/');
    if (collector.dir[0] && strstr(slash ? slash : file, "libze_loader"))
        run(note_space, file, NULL);
}

__attribute__((noinline)) static void *open_deepbound(const char *file, int flags)
{
    void *handle = real_dlopen()(file, flags);
    if (handle)
        install_if_loader_is_here();
    return handle;
}

/* The work is done in functions of their own: with locals of theirs in its frame, this one's last
 * call would be no tail call. */
ZS_API void *dlopen(const char *file, int flags)
{
    void *instead =
        file && strstr(file, "libze") ? before_open(file, __builtin_return_address(0)) : NULL;
    if (instead)
        return instead;
    if (ZS_UNLIKELY(flags & RTLD_DEEPBIND) && file && before_deepbound(file))
        return open_deepbound(file, flags);
    MUST_TAIL return real_dlopen()(file, flags);
}

ZS_API void *dlmopen(Lmid_t space, const char *file, int flags)
{
    if (space != LM_ID_BASE && file)
        before_other_space(file);
    MUST_TAIL return real_dlmopen()(space, file, flags);
}
