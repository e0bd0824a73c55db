/* SPDX-License-Identifier: MIT */
/*
 * The recording of API calls: one tracer on the zescope layer, one trace file per thread.
 *
 * The loader asks for its validation layer by name; entry.c lets it have ours. A call then costs
 * two clock readings and a few dozen bytes copied into the thread's own mapped file. Slow things
 * (making a thread's file) happen at its first call, inside the collector's guard.
 */
#include "collect/collect.h"

#include "collect/activity.h"
#include "collect/api_trace.h"
#include "collect/backtrace.h"
#include "collect/instrument.h"
#include "collect/kernels.h"
#include "collect/live.h"
#include "collect/opencl.h"
#include "collect/own_stack.h"
#include "collect/pause.h"

#include "api_calls.h"
#include "calls/codec.h"
#include "layer/layer.h"
#include "store/trace_writer.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A process that is traced; replaced, never freed, in the child of a fork. */
struct api_process {
    struct zs_trace_process trace;
    struct zs_collector *collector;
    struct zs_activity *activity; /* NULL: not recorded */
    struct zs_cl *cl;             /* NULL: calls of OpenCL alone are recorded */
    char name[256];
    pthread_mutex_t control_lock;
    struct zs_maps maps;          /* of backtraces */
    struct zs_trace_file control; /* pauses; not open while control.process is NULL */
};

struct api_thread;

/* A call under way. */
struct api_frame {
    struct api_thread *thread;
    uint64_t start_ns;
    void *capture, *launch;
    bool told;    /* it is not muted and was asked for */
    bool written; /* its begin is in the file: so must be its end */
    struct zs_activity_call call;
    struct zs_cl_call cl_call;
};

struct api_thread {
    struct zs_trace_file file;
    struct zs_codec codec, nested;
    struct zs_activity_thread activity;
    struct api_process *process; /* another one after a fork: start anew */
    struct zs_stack_tree stacks;
    uint32_t depth;
    uint32_t written_depth; /* without the calls that are skipped */
    uint32_t drops_seen;
    uint64_t range_track;    /* 0: none yet */
    uint64_t ranges_written; /* bit: the range of that depth was recorded */
    uint32_t range_depth;
    struct api_frame frames[ZS_TRACE_DEPTH_MAX]; /* under way, by depth */
};

static struct {
    _Atomic(struct api_process *) process;
    struct zs_collector *collector;
    const struct zs_layer_interface *layer;
    bool backtrace;
    bool lines_only; /* nothing is followed */
    bool no_files;
    bool *skipped; /* by call: not to be recorded; NULL: none */
    struct zs_live live;
    const struct zs_capture_hook *captures[ZS_API_CALL_COUNT]; /* by call, NULL: none */
    struct zs_kernels *kernels;          /* whose launches are captured; NULL: none */
    bool has_counts[ZS_API_CALL_COUNT];  /* by call: zs_codec_enter has something to keep */
    bool has_results[ZS_API_CALL_COUNT]; /* by call: its exit tells more than success */
    atomic_bool has_retired, has_exit;
    atomic_uint *belongs; /* enum belonging; NULL: cannot be told from a fork's child cheaply */
    pthread_key_t key;
    pthread_once_t once;
} api = {.once = PTHREAD_ONCE_INIT};

static _Thread_local struct api_thread *api_self;

static bool is_own(const struct api_process *process)
{
    return process->trace.pid == (uint32_t)getpid();
}

static void process_name(char *ret_name, size_t size_B)
{
    char exe[ZS_COLLECT_PATH_CHARS];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    exe[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(exe, '/');
    snprintf(ret_name, size_B, "%.200s", slash ? slash + 1 : exe);
}

static int open_process(struct zs_collector *c, struct zs_trace_process *trace)
{
    char dir[ZS_COLLECT_PATH_CHARS];
    uint32_t ordinal;
    if (c->names_only) {
        trace->pid = (uint32_t)getpid();
        return 0;
    }
    int claimed = zs_collect_ordinal(c, &ordinal);
    int n = snprintf(dir, sizeof(dir), "%s/" ZS_RECORD_TRACE_DIR, c->dir);
    return n > 0 && (size_t)n < sizeof(dir)
               ? zs_trace_process_open(trace, dir, c->trace_limit_B, claimed ? NULL : &ordinal)
               : -ENAMETOOLONG;
}

static struct api_process *process_make(struct zs_collector *c)
{
    struct api_process *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->collector = c;
    pthread_mutex_init(&p->control_lock, NULL);
    process_name(p->name, sizeof(p->name));
    int error = open_process(c, &p->trace);
    p->trace.lost = c->counters ? &c->counters->packets_lost : NULL;
    if (api.backtrace)
        zs_maps_init(&p->maps, &p->trace);
    p->activity = c->activity ? zs_activity_create(c, &p->trace) : NULL;
    p->cl = api.lines_only ? NULL : zs_cl_create(c, p->activity, &p->trace);
    /* modules are captured all the same, calls are counted as lost until files can be made */
    if (error)
        zs_session_note(c, "API calls are not recorded: %s", strerror(-error));
    return p;
}

static void end_thread(void *arg)
{
    struct api_thread *t = arg;
    api_self = NULL;
    if (t->process == atomic_load(&api.process))
        zs_trace_file_close(&t->file);
    zs_stack_tree_free(&t->stacks);
    free(t);
}

static void thread_ends(void *arg)
{
    zs_own_stack_run(end_thread, arg);
}

/* What the word at api.belongs says of this process. */
enum belonging {
    NOT_SEEN, /* nobody told us of this process: the kernel made the page zeros */
    BEING_SEEN,
    SEEN,
};

/* The child has its parent's mappings, but files of its own. */
static void begin_child(void *unused)
{
    api_self = NULL;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    zs_pause_fork_child();
    atomic_store(&api.process, process_make(api.collector));
    if (api.belongs)
        atomic_store(api.belongs, SEEN);
    zs_guard_leave(&guard);
}

static void fork_child(void)
{
    zs_own_stack_run(begin_child, NULL);
}

/* A child of clone or _Fork runs no handlers of pthread_atfork, and would write into its parent's
 * windows. A page that the kernel empties in children tells of them at the cost of one load. */
static void watch_for_children(void)
{
    enum { PAGE_B = 4096 };
    void *page = mmap(NULL, PAGE_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    if (madvise(page, PAGE_B, MADV_WIPEONFORK)) {
        munmap(page, PAGE_B);
        return;
    }
    api.belongs = page;
    atomic_store(api.belongs, SEEN);
}

/* False: another thread of such a child is about it. */
static bool is_seen_late(void)
{
    struct api_process *process = atomic_load(&api.process);
    if (!api.belongs && process && !is_own(process))
        fork_child(); /* an old kernel: it is asked each time */
    unsigned expected = NOT_SEEN;
    if (api.belongs && atomic_compare_exchange_strong(api.belongs, &expected, BEING_SEEN)) {
        zs_instrument_forked(api.collector);
        fork_child();
    }
    return !api.belongs || atomic_load(api.belongs) == SEEN;
}

/* Whether this process's files may be written. */
static inline bool is_seen(void)
{
    return ZS_LIKELY(api.belongs &&
                     atomic_load_explicit(api.belongs, memory_order_acquire) == SEEN) ||
           is_seen_late();
}

static void setup(void)
{
    watch_for_children();
    pthread_key_create(&api.key, thread_ends);
    pthread_atfork(NULL, NULL, fork_child);
}

static struct api_thread *thread_make(struct api_process *process)
{
    struct zs_collect_guard guard;
    char name[32] = "";
    struct api_thread *t = calloc(1, sizeof(*t));
    if (!t)
        return NULL;
    zs_guard_enter(&guard);
    t->process = process;
    t->activity.file = &t->file;
    pthread_getname_np(pthread_self(), name, sizeof(name));
    if (!api.no_files)
        zs_trace_file_open(&t->file, &process->trace, (uint32_t)syscall(SYS_gettid), name,
                           process->name);
    t->file.shape = zs_api_shape_write;
    pthread_setspecific(api.key, t);
    api_self = t;
    zs_guard_leave(&guard);
    return t;
}

/* What was dropped never reached the reader: its pointer cache and ours start anew. */
static void after_write(struct api_thread *t)
{
    if (ZS_LIKELY(t->file.drops == t->drops_seen))
        return;
    if (t->file.drops)
        memset(&t->codec, 0, sizeof(t->codec));
    if (t->file.drops)
        zs_stack_tree_clear(&t->stacks);
    t->drops_seen = t->file.drops;
}

/* Calls inside calls are encoded without the pointer cache: their order is not the reader's. */
static void write_event(struct api_thread *t, const struct zs_trace_event *event, uint64_t now_ns,
                        uint32_t stack)
{
    const struct zs_api_event public_event = {
        .call = event->call,
        .is_exit = event->is_exit,
        .param_count = event->param_count,
        .params = event->params,
        .result = event->result,
        .internal = event->counts,
    };
    struct zs_codec *codec = &t->codec;
    if (event->is_exit)
        t->written_depth--;
    else if (api.has_counts[event->call])
        zs_codec_enter(&public_event);
    if (ZS_UNLIKELY(t->written_depth)) {
        codec = &t->nested;
        memset(codec, 0, sizeof(*codec));
    }
    uint8_t *to = event->is_exit ? zs_trace_end_open(&t->file, now_ns)
                                 : zs_trace_begin_open(&t->file, now_ns, event->call,
                                                       zs_api_call_name(event->call), stack);
    if (ZS_LIKELY(to != NULL))
        zs_trace_call_close(&t->file, now_ns, zs_codec_encode(codec, &public_event, to));
    t->written_depth += !event->is_exit;
    after_write(t);
}

/* The clock is read last: what we do is not the call's time. */
static void write_begin(struct api_thread *t, const struct zs_trace_event *event)
{
    uint32_t stack = 0;
    if (ZS_UNLIKELY(api.backtrace)) {
        stack = zs_backtrace_take(&t->stacks, &t->process->maps, &t->file);
        stack = t->file.drops ? 0 : stack; /* its nodes may be lost */
    }
    write_event(t, event, zs_trace_file_now_ns(&t->file), stack);
}

static bool is_skipped(const struct zs_trace_event *event)
{
    return ZS_UNLIKELY(api.skipped != NULL) && api.skipped[event->call];
}

static void write_line(const struct api_frame *f, const struct zs_trace_event *event,
                       uint64_t now_ns)
{
    const struct zs_api_event public_event = {
        .call = event->call,
        .name = zs_api_call_name(event->call),
        .is_exit = true,
        .param_count = event->param_count,
        .params = event->params,
        .result = event->result,
        .internal = event->counts,
    };
    zs_live_write(&api.live, api.collector, &public_event, f->start_ns, now_ns);
}

/* Pauses stand in a file of their own: whoever makes the next call writes them down. */
static void write_notes(struct api_process *process)
{
    struct zs_collect_guard guard;
    struct zs_pause_note note;
    if (!process || pthread_mutex_trylock(&process->control_lock))
        return;
    zs_guard_enter(&guard);
    while (zs_pause_next_note(&note)) {
        if (api.no_files)
            continue;
        if (!process->control.process)
            zs_trace_file_open(&process->control, &process->trace, 0, NULL, process->name);
        act_write_pause(&process->control, &process->trace, note.paused, (uint32_t)note.reason,
                        note.time_ns);
    }
    zs_guard_leave(&guard);
    pthread_mutex_unlock(&process->control_lock);
}

static unsigned attend(struct api_process *process, const struct zs_trace_event *event)
{
    zs_pause_before(event);
    if (zs_pause_flags() & ZS_PAUSE_NOTES)
        write_notes(process);
    return zs_pause_flags();
}

static struct api_thread *thread_of(struct api_process *process)
{
    struct api_thread *t = api_self;
    if (ZS_UNLIKELY(!t) && process)
        t = thread_make(process);
    return t && t->process == process ? t : NULL;
}

static bool is_opencl(uint32_t call)
{
    return call >= ZS_API_CL_FIRST;
}

/* Whether a call is followed while recording is paused. */
static bool is_followed(const struct api_process *process, uint32_t call)
{
    if (!process)
        return false;
    return is_opencl(call) ? process->cl && zs_cl_hooks(call)
                           : process->activity && zs_activity_hooks(call);
}

/* What the application gave is written before activity changes it, and what it gets after. */
static void enter(const struct zs_trace_event *event, void **instance_data)
{
    struct api_process *process = atomic_load_explicit(&api.process, memory_order_acquire);
    unsigned flags = zs_pause_flags();
    if (ZS_UNLIKELY(flags))
        flags = attend(process, event);
    bool muted = flags & ZS_PAUSE_ON;
    const struct zs_capture_hook *capture = api.captures[event->call];
    if (ZS_UNLIKELY(muted) && !capture && !api.kernels && !is_followed(process, event->call))
        return;
    struct api_thread *t = thread_of(process);
    if (!t || t->depth == ZS_TRACE_DEPTH_MAX) {
        if (capture && capture->enter)
            zs_session_lost(api.collector, -ENOMEM);
        return;
    }
    struct api_frame *f = &t->frames[t->depth++];
    *instance_data = f;
    f->thread = t;
    f->told = !muted && !is_skipped(event);
    f->written = f->told && !api.no_files;
    if (f->written)
        write_begin(t, event);
    f->capture = NULL;
    if (ZS_UNLIKELY(capture && capture->enter))
        capture->enter(event->params, 0, process->collector, &f->capture);
    if (ZS_UNLIKELY(api.kernels))
        zs_kernels_enter(api.kernels, event, &f->launch);
    if (is_opencl(event->call) && process->cl)
        zs_cl_enter(process->cl, &t->file, event, &f->cl_call, muted);
    else if (process->activity && !is_opencl(event->call))
        zs_activity_enter(process->activity, &t->activity, event, &f->call, muted);
    after_write(t);
    if (ZS_UNLIKELY(api.live.is_on))
        f->start_ns = zs_trace_now_ns();
}

static void leave(const struct zs_trace_event *event, struct api_frame *f)
{
    struct api_thread *t = api_self;
    struct api_process *process = atomic_load_explicit(&api.process, memory_order_acquire);
    if (!t || t != f->thread || t->process != process)
        return;                                       /* entered before a fork */
    uint64_t now_ns = zs_trace_file_now_ns(&t->file); /* before our own work */
    const struct zs_capture_hook *capture = api.captures[event->call];
    t->depth--;
    if (ZS_UNLIKELY(capture && capture->leave))
        capture->leave(event->params, (ze_result_t)*event->result, process->collector, &f->capture);
    f->call.build = event->call == ZS_API_zeModuleCreate ? (uint32_t)(uintptr_t)f->capture : 0;
    if (ZS_UNLIKELY(api.kernels))
        zs_kernels_leave(api.kernels, event, f->call.build, f->launch);
    bool ended = false;
    if (is_opencl(event->call) && process->cl) {
        zs_cl_exit(process->cl, &t->file, event, &f->cl_call, now_ns);
        after_write(t);
    } else if (process->activity && !is_opencl(event->call)) {
        ended = zs_activity_exit(process->activity, &t->activity, event, &f->call, now_ns,
                                 f->written && !api.has_results[event->call]);
        after_write(t);
    }
    if (ended)
        t->written_depth--;
    else if (f->written)
        write_event(t, event, now_ns, 0);
    if (ZS_UNLIKELY(api.live.is_on) && f->told)
        write_line(f, event, now_ns);
}

/* What is destroyed while recording is paused would look like a leak. */
static void after_muted(const struct zs_trace_event *event, const struct api_frame *f)
{
    if (!(zs_pause_flags() & ZS_PAUSE_ON) || (f && f->written) || *event->result ||
        !act_destroys(event->call))
        return;
    struct api_process *process = atomic_load_explicit(&api.process, memory_order_acquire);
    struct api_thread *t = thread_of(process);
    if (!t || api.no_files)
        return;
    act_write_gone(&t->file, event);
    after_write(t);
}

static void end_process(void *arg)
{
    struct api_process *process = arg;
    struct zs_collect_guard guard;
    zs_guard_enter(&guard);
    struct api_thread *t = thread_of(process);
    if (t && process->cl)
        zs_cl_end(process->cl, &t->file);
    if (t && process->activity) {
        zs_activity_end(process->activity, &t->file);
        act_write_ended(&t->file);
        after_write(t);
    }
    zs_guard_leave(&guard);
}

/* Before the drivers' own ends, which were registered earlier. */
static void at_exit(void)
{
    struct api_process *process = atomic_load_explicit(&api.process, memory_order_acquire);
    if (process && is_own(process)) /* else a child that made no calls of its own */
        zs_own_stack_run(end_process, process);
}

/* The loader has its tables: what we ask the driver need not go through all that lies above. */
static void first_call(void)
{
    struct zs_collect_api *functions = &api.collector->api;
    zs_tracer_retire(api.collector);
#define API(type, name)                                                                            \
    if (api.layer->next(ZS_API_##name))                                                            \
        functions->name = (ze_result_t(*) type)(uintptr_t)api.layer->next(ZS_API_##name);
#include "collect/api.def"
#undef API
}

static void resolve_opencl(void)
{
    struct api_process *process = atomic_load_explicit(&api.process, memory_order_acquire);
    if (process && process->cl)
        zs_cl_resolve(process->cl, api.layer->next);
}

/* An end of a call, as the tracer tells it. */
struct told {
    const struct zs_trace_event *event;
    void **instance;
};

static void take_call(void *arg)
{
    const struct told *told = arg;
    const struct zs_trace_event *event = told->event;
    if (ZS_UNLIKELY(!atomic_load_explicit(&api.has_exit, memory_order_relaxed)) &&
        !atomic_exchange(&api.has_exit, true))
        atexit(at_exit);
    if (is_opencl(event->call))
        resolve_opencl();
    else if (ZS_UNLIKELY(!atomic_load_explicit(&api.has_retired, memory_order_relaxed)) &&
             !atomic_exchange(&api.has_retired, true))
        first_call();
    if (!event->is_exit) {
        enter(event, told->instance);
        return;
    }
    if (*told->instance)
        leave(event, *told->instance);
    if (ZS_UNLIKELY(zs_pause_flags())) {
        after_muted(event, *told->instance);
        zs_pause_before(event);
        zs_pause_after(event);
    }
}

static void on_call(const struct zs_trace_event *event, void *user_data, void **instance_data)
{
    struct told told = {event, instance_data};
    int saved_errno = errno;
    if (ZS_UNLIKELY(zs_guard_is_entered() || !is_seen()))
        return; /* what a capture asks the driver is none of the application's calls */
    zs_own_stack_run(take_call, &told);
    errno = saved_errno;
}

struct mark {
    enum zs_activity_record record;
    const char *text;
    int error;
};

static void put_mark(void *arg)
{
    enum { RANGES_MAX = 64, RANGE_TRACKS = 1 << 30 };
    struct mark *mark = arg;
    struct api_process *process = atomic_load_explicit(&api.process, memory_order_acquire);
    struct api_thread *t = thread_of(process);
    bool paused = zs_pause_flags() & ZS_PAUSE_ON, is_end = mark->record == ZS_ACT_RANGE_END;
    if (!t || (is_end && !t->range_depth)) {
        mark->error = t ? -EINVAL : -ENOTCONN;
        return;
    }
    if (is_end) {
        /* a range that was begun is ended, paused or not; what was not, is not */
        paused = --t->range_depth >= RANGES_MAX || !(t->ranges_written >> t->range_depth & 1);
    } else if (mark->record == ZS_ACT_RANGE) {
        if (t->range_depth < RANGES_MAX)
            t->ranges_written = (t->ranges_written & ~(UINT64_C(1) << t->range_depth)) |
                                (uint64_t)!paused << t->range_depth;
        paused |= t->range_depth++ >= RANGES_MAX;
    }
    if (paused) {
        mark->error = is_end ? 0 : -EAGAIN;
        return;
    }
    bool is_first = !t->range_track;
    if (is_first)
        t->range_track = zs_trace_track_uuid(&process->trace, RANGE_TRACKS + t->file.sequence_id);
    act_write_mark(&t->file, t->range_track, is_first, mark->record, mark->text, zs_trace_now_ns());
    after_write(t);
}

int zs_api_trace_mark(enum zs_activity_record record, const char *text)
{
    struct mark mark = {record, text, 0};
    int saved_errno = errno;
    if (!api.collector || api.no_files || !is_seen())
        return -ENOTCONN;
    zs_own_stack_run(put_mark, &mark);
    errno = saved_errno;
    return mark.error;
}

static void flush(void *arg)
{
    struct api_process *process = arg;
    struct api_thread *t = api_self;
    if (zs_pause_flags() & ZS_PAUSE_NOTES)
        write_notes(process);
    if (t && t->process == process)
        zs_trace_file_rest(&t->file);
    if (!pthread_mutex_trylock(&process->control_lock)) {
        zs_trace_file_rest(&process->control);
        pthread_mutex_unlock(&process->control_lock);
    }
}

/* Calls that come still are recorded all the same. */
void zs_api_trace_flush(void)
{
    struct api_process *process = atomic_load(&api.process);
    if (process && is_own(process))
        zs_own_stack_run(flush, process);
}

void zs_api_trace_ends(void)
{
    if (api.kernels)
        zs_kernels_process_ends(api.kernels);
}

static void take_captures(const struct zs_collector *c)
{
    size_t count;
    const struct zs_capture_hook *hooks = zs_capture_hooks(c, &count);
    for (size_t i = 0; i < count; i++) {
        int call = zs_api_call_find(hooks[i].call);
        if (call >= 0)
            api.captures[call] = &hooks[i];
    }
}

bool zs_api_trace_start(struct zs_collector *c, void *layer_library)
{
    const struct zs_layer_interface *(*get)(void) = (const struct zs_layer_interface *(*)(void))(
        uintptr_t)dlsym(layer_library, "zs_layer_get_interface");
    const struct zs_layer_interface *layer = get ? get() : NULL;
    struct zs_tracer *tracer;
    if (!layer || layer->size_B < sizeof(*layer) || layer->call_count != zs_api_call_count()) {
        zs_session_note(c, "API calls are not recorded: the layer is of another version");
        return false;
    }
    const char *backtraces = getenv(ZS_ENV_COLLECT_BACKTRACE);
    api.collector = c;
    api.layer = layer;
    api.backtrace = backtraces && !strcmp(backtraces, "1");
    if (api.backtrace)
        zs_backtrace_init();
    zs_live_init(&api.live, c);
    api.skipped = zs_live_skipped();
    api.lines_only = c->lines_only;
    api.no_files = c->lines_only || c->names_only;
    if (!api.lines_only) {
        take_captures(c);
        api.kernels = zs_kernels_new(c);
    }
    for (uint32_t call = 0; call < ZS_API_CALL_COUNT; call++) {
        api.has_counts[call] = zs_codec_has_counts(call);
        api.has_results[call] = zs_codec_has_results(call);
    }
    pthread_once(&api.once, setup);
    atomic_store(&api.process, process_make(c));
    int error = layer->tracer_new(layer->set, NULL, &tracer);
    if (!error)
        error = layer->tracer_set_any(tracer, on_call);
    if (!error)
        error = layer->tracer_enable(tracer, true);
    if (error)
        zs_session_note(c, "API calls are not recorded: %s", strerror(-error));
    return !error;
}
