/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "collect/collect.h"

#include "base/file.h"
#include "base/json.h"
#include "store/trace_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SAME_PID_MAX = 10000 };

uint64_t zs_collect_now_ns(void)
{
    return zs_now_ns();
}

static _Thread_local bool working;

bool zs_guard_is_entered(void)
{
    return working;
}

void zs_guard_enter(struct zs_collect_guard *guard)
{
    sigset_t limit, pending;
    guard->was_working = working;
    working = true;
    guard->saved_errno = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &guard->old_mask);
    guard->was_pending = !sigpending(&pending) && sigismember(&pending, SIGXFSZ) == 1;
}

void zs_guard_leave(struct zs_collect_guard *guard)
{
    if (!guard->was_pending) {
        const struct timespec zero = {0};
        sigset_t limit;
        sigemptyset(&limit);
        sigaddset(&limit, SIGXFSZ);
        while (sigtimedwait(&limit, NULL, &zero) == SIGXFSZ)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &guard->old_mask, NULL);
    pthread_setcancelstate(guard->cancel_state, NULL);
    working = guard->was_working;
    errno = guard->saved_errno;
}

static int path_join(char *path, const char *dir, const char *name)
{
    int n = snprintf(path, ZS_COLLECT_PATH_CHARS, "%s/%s", dir, name);
    return n < 0 || n >= ZS_COLLECT_PATH_CHARS ? -ENAMETOOLONG : 0;
}

int zs_collector_init(struct zs_collector *c, const char *dir, bool add_debug_info)
{
    int error = path_join(c->modules_dir, dir, ZS_RECORD_MODULES);
    if (error)
        return error;
    c->add_debug_info = add_debug_info;
    c->counters = zs_store_counters_map(dir);
    memcpy(c->dir, dir, strlen(dir) + 1);
    return 0;
}

void zs_collector_init_names(struct zs_collector *c, bool add_debug_info)
{
    c->names_only = true;
    c->add_debug_info = add_debug_info;
    memcpy(c->dir, "-", sizeof("-"));
}

int zs_collect_ordinal(struct zs_collector *c, uint32_t *ret_ordinal)
{
    char dir[ZS_COLLECT_PATH_CHARS];
    uint64_t pid = (uint32_t)getpid(), now = atomic_load(&c->ordinal);
    if (now >> 32 != pid || !(uint32_t)now) {
        int error = path_join(dir, c->dir, ZS_RECORD_TRACE_DIR);
        error = error ? error : zs_trace_claim(dir, ret_ordinal);
        if (error)
            return error;
        uint64_t mine = pid << 32 | (*ret_ordinal + 1);
        if (atomic_compare_exchange_strong(&c->ordinal, &now, mine))
            now = mine; /* else another thread was first: a number is never used */
    }
    *ret_ordinal = (uint32_t)now - 1;
    return 0;
}

int zs_collect_prefix(struct zs_collector *c, char ret_prefix[ZS_COLLECT_PREFIX_CHARS])
{
    uint32_t ordinal = 0;
    int error = zs_collect_ordinal(c, &ordinal);
    snprintf(ret_prefix, ZS_COLLECT_PREFIX_CHARS, "%u-%u-", (unsigned)getpid(), ordinal);
    return error;
}

/* process/<pid>, or process/<pid>.<n> when an earlier image or process had that number. */
static int make_process_dir(const char *recording, pid_t pid, char *ret_dir)
{
    for (unsigned i = 0; i < SAME_PID_MAX; i++) {
        char suffix[16] = "";
        if (i)
            snprintf(suffix, sizeof(suffix), ".%u", i);
        int n = snprintf(ret_dir, ZS_COLLECT_PATH_CHARS, "%s/%s/%ld%s", recording,
                         ZS_RECORD_PROCESSES, (long)pid, suffix);
        if (n < 0 || n >= ZS_COLLECT_PATH_CHARS)
            return -ENAMETOOLONG;
        if (!mkdir(ret_dir, 0755))
            return 0;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

static void put_argv(struct zs_json *j)
{
    struct zs_file file = {0};
    zs_json_array(j, "argv");
    if (!zs_file_read("/proc/self/cmdline", 1 << 20, &file, NULL)) {
        const char *text = (const char *)file.span.data;
        for (size_t at = 0; at < file.span.size_B;) {
            size_t length = strnlen(text + at, file.span.size_B - at);
            zs_json_string_n(j, NULL, text + at, length);
            at += length + 1;
        }
        zs_file_close(&file);
    }
    zs_json_end(j);
}

static int write_process_file(const char *dir, pid_t pid, const uint32_t *ordinal)
{
    struct zs_buf out = {0};
    struct zs_json j = zs_json_make(&out, 1);
    char exe[ZS_COLLECT_PATH_CHARS];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    exe[n > 0 ? n : 0] = '\0';
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "schema", ZS_PROCESS_SCHEMA);
    zs_json_u64(&j, "pid", (uint64_t)pid);
    if (ordinal)
        zs_json_u64(&j, "ordinal", *ordinal);
    zs_json_u64(&j, "ppid", (uint64_t)getppid());
    zs_json_string(&j, "exe", exe);
    put_argv(&j);
    zs_json_u64(&j, "start_ns", zs_collect_now_ns());
    zs_json_u64(&j, "realtime_ns",
                (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec);
    zs_json_end(&j);
    zs_buf_putc(&out, '\n');
    int error = out.error ? out.error : zs_store_file(dir, ZS_RECORD_PROCESS, zs_buf_span(&out));
    zs_buf_fini(&out);
    return error;
}

struct zs_session *zs_session_get(struct zs_collector *c)
{
    struct zs_session *now = atomic_load_explicit(&c->session, memory_order_acquire);
    pid_t pid = getpid();
    if (now && now->pid == pid)
        return now;
    struct zs_session *fresh = calloc(1, sizeof(*fresh));
    if (!fresh)
        return NULL;
    uint32_t ordinal;
    fresh->pid = pid;
    int error = c->names_only ? 0 : make_process_dir(c->dir, pid, fresh->dir);
    if (error)
        fresh->dir[0] = '\0';
    if (!atomic_compare_exchange_strong(&c->session, &now, fresh)) {
        /* another thread of this process was first */
        if (fresh->dir[0])
            rmdir(fresh->dir);
        free(fresh);
        return now;
    }
    if (!error && !c->names_only)
        error =
            write_process_file(fresh->dir, pid, zs_collect_ordinal(c, &ordinal) ? NULL : &ordinal);
    if (error)
        zs_session_note(c, "process %ld cannot be described: %s", (long)pid, strerror(-error));
    return fresh;
}

void zs_session_lost(struct zs_collector *c, int error)
{
    if (!c->counters)
        return;
    atomic_fetch_add(&c->counters->modules_lost, 1);
    atomic_store(&c->counters->last_errno, -error);
}

int zs_session_blob(struct zs_collector *c, struct zs_json *j, const char *key, const char *ext,
                    struct zs_span span)
{
    char file[ZS_STORE_FILE_CHARS];
    if (c->names_only)
        return 0;
    int error = zs_store_blob(c->modules_dir, ext, span, file);
    zs_json_object(j, key);
    if (!error)
        zs_json_string(j, "blob", file);
    zs_json_u64(j, "size_B", span.size_B);
    if (error)
        zs_json_string(j, "error", strerror(-error));
    zs_json_end(j);
    return error;
}

static int append(struct zs_collector *c, const char *name, struct zs_buf *line)
{
    struct zs_session *session = zs_session_get(c);
    char path[ZS_COLLECT_PATH_CHARS];
    if (c->names_only)
        return 0;
    if (!session || !session->dir[0])
        return -ENOENT;
    int error = line->error ? line->error : path_join(path, session->dir, name);
    return error ? error : zs_store_line(path, zs_buf_span(line));
}

void zs_session_note(struct zs_collector *c, const char *format, ...)
{
    struct zs_buf line = {0};
    struct zs_json j = zs_json_make(&line, 0);
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    zs_json_object(&j, NULL);
    zs_json_u64(&j, "t_ns", zs_collect_now_ns());
    zs_json_u64(&j, "tid", (uint64_t)syscall(SYS_gettid));
    zs_json_string(&j, "text", text);
    zs_json_end(&j);
    if (append(c, ZS_RECORD_NOTES, &line) && c->counters)
        atomic_fetch_add(&c->counters->notes_lost, 1);
    zs_buf_fini(&line);
}

struct zs_json zs_session_event_begin(struct zs_buf *line, const char *event)
{
    struct zs_json j = zs_json_make(line, 0);
    zs_json_object(&j, NULL);
    zs_json_string(&j, "event", event);
    zs_json_u64(&j, "tid", (uint64_t)syscall(SYS_gettid));
    zs_json_u64(&j, "t_ns", zs_collect_now_ns());
    return j;
}

void zs_session_event_end(struct zs_collector *c, struct zs_json *j, struct zs_buf *line)
{
    zs_json_end(j);
    int error = append(c, ZS_RECORD_EVENTS, line);
    if (error) {
        zs_session_lost(c, error);
        zs_session_note(c, "a module event cannot be written: %s", strerror(-error));
    }
    zs_buf_fini(line);
}
