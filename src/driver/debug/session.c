/* SPDX-License-Identifier: MIT */
/*
 * zetDebug*: the debugger's side. A session is a connection to the debugged process
 * (wire/debug.h), or a socket at which one that has not called zeInit yet will find us.
 *
 * There is no thread: whoever waits for something, an event or the answer to a request, receives
 * for all, one at a time, and hands on what is for others.
 */
#include "driver/ddi.h"
#include "driver/debug/debug.h"
#include "driver/driver_priv.h"
#include "wire/debug.h"
#include "wire/history.h"

#include "base/own_fd.h"
#include "gpu/debug/debug.h"

#include <zescope/debug_ext.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HELLO_TIMEOUT_MS = 10000,
    WAIT_CHECK_MS = 200, /* whether a process that is waited for is still there */
};
static const uint64_t NS_PER_MS = 1000000;

struct event {
    struct event *next;
    uint64_t id;
    bool nobody; /* see interrupts_nobody() */
    zet_debug_event_t event;
};

struct zs_ze_debug_session {
    struct zs_object object;
    struct zs_ze_device *device;
    uint32_t pid;
    pthread_mutex_t request_lock; /* one request at a time */
    pthread_mutex_t lock;         /* of all that follows */
    pthread_cond_t changed;
    struct zs_own_fd fd;        /* none: the process has not called zeInit yet */
    struct zs_own_fd listening; /* where it will find us */
    bool receiving;             /* some thread does */
    bool sending;               /* some thread does, from where its answer is to go */
    bool gone;
    bool entered; /* the debugger was told of its entry, and not of its exit */
    bool told;    /* that there is nobody to be interrupted, as the process is gone */
    struct event *events, **events_end;
    struct event *unacknowledged;
    uint32_t number;                /* of the last request */
    struct zs_wire_message *answer; /* where it is to go; NULL: none is wanted */
    bool answered;
    struct zs_wire_message incoming;   /* of who receives */
    struct zs_history_answer *history; /* to the last request of that kind, NULL: none */
    /* which threads are stopped, until something happens: debuggers ask for each of thousands */
    struct zs_wire_message *held; /* NULL: not known */
    uint64_t happened;            /* events, and requests that change it */
    bool missed;                  /* since then a thread was asked for that is not stopped */
};

/* ---- messages that come ------------------------------------------------------------------------
 */

static void add_event(struct zs_ze_debug_session *s, const zet_debug_event_t *event, uint64_t id)
{
    struct event *item = malloc(sizeof(*item));
    s->happened++;
    s->missed = false;
    if (!item)
        return; /* nothing can be told any more */
    *item = (struct event){.id = id, .event = *event};
    *s->events_end = item;
    s->events_end = &item->next;
}

static bool take_event(struct zs_ze_debug_session *s, const struct zs_wire_event *wire)
{
    zet_debug_event_t event = {.type = (zet_debug_event_type_t)wire->type, .flags = wire->flags};
    switch (wire->type) {
    case ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY:
    case ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT:
        s->entered = wire->type == ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY;
        break;
    case ZET_DEBUG_EVENT_TYPE_MODULE_LOAD:
    case ZET_DEBUG_EVENT_TYPE_MODULE_UNLOAD:
        event.info.module.moduleBegin = wire->info[0];
        event.info.module.moduleEnd = wire->info[1];
        event.info.module.load = wire->info[2];
        break;
    case ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED:
    case ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE:
        event.info.thread.thread = (ze_device_thread_t){wire->thread.slice, wire->thread.subslice,
                                                        wire->thread.eu, wire->thread.thread};
        break;
    case ZET_DEBUG_EVENT_TYPE_PAGE_FAULT:
        event.info.page_fault.address = wire->info[0];
        event.info.page_fault.mask = wire->info[1];
        event.info.page_fault.reason = (zet_debug_page_fault_reason_t)wire->info[2];
        break;
    default:
        return false;
    }
    add_event(s, &event, wire->id);
    return true;
}

/* The process is gone, or talks nonsense. */
static void lose(struct zs_ze_debug_session *s)
{
    const zet_debug_event_t exit = {.type = ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT};
    zet_debug_event_t detached = {.type = ZET_DEBUG_EVENT_TYPE_DETACHED};
    detached.info.detached.reason = ZET_DEBUG_DETACH_REASON_HOST_EXIT;
    if (s->gone)
        return;
    s->gone = true;
    if (s->entered)
        add_event(s, &exit, 0);
    s->entered = false;
    add_event(s, &detached, 0);
}

/* Under the lock: what was received. size_B <= 0: the end. */
static void handle(struct zs_ze_debug_session *s, ssize_t size_B)
{
    const struct zs_wire_message *m = &s->incoming;
    bool good = size_B > 0 && (size_t)size_B <= sizeof(*m) && zs_wire_is_whole(m, (size_t)size_B);
    if (good && m->head.kind == ZS_WIRE_EVENT)
        good = take_event(s, &m->event);
    else if (good && m->head.kind == ZS_WIRE_HELLO && m->head.number == 0)
        good = m->hello.magic == ZS_WIRE_MAGIC && m->hello.version == ZS_WIRE_VERSION;
    else if (good && s->answer && m->head.number == s->number) {
        memcpy(s->answer, m, (size_t)size_B);
        s->answer = NULL;
        s->answered = true;
    } else if (good)
        good = false;
    if (!good)
        lose(s);
}

/* ---- waiting -----------------------------------------------------------------------------------
 */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t deadline_of(uint64_t timeout_ms)
{
    uint64_t now = now_ns();
    return timeout_ms > (UINT64_MAX - now) / NS_PER_MS ? UINT64_MAX : now + timeout_ms * NS_PER_MS;
}

static int left_ms(uint64_t deadline_ns)
{
    uint64_t now = now_ns();
    if (deadline_ns == UINT64_MAX)
        return -1;
    uint64_t ms = deadline_ns > now ? (deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
    return (int)ZS_MIN(ms, (uint64_t)INT32_MAX);
}

/* The process has called zeInit. */
static void meet(struct zs_ze_debug_session *s)
{
    struct ucred peer;
    int fd = accept4(s->listening.fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (!zs_wire_is_ours(fd, geteuid(), &peer) || peer.pid != (pid_t)s->pid) {
        close(fd);
        return;
    }
    s->fd = zs_own_fd_make(fd);
    zs_own_fd_close(&s->listening);
}

/* Receive one message, or see the process come. Called and returns with the lock. false: it took
 * too long. */
static bool receive_one(struct zs_ze_debug_session *s, uint64_t deadline_ns)
{
    bool waits = s->fd.fd < 0;
    struct pollfd fd = {.fd = waits ? s->listening.fd : s->fd.fd, .events = POLLIN};
    int timeout_ms = left_ms(deadline_ns), ready = -1;
    bool cut = waits && (timeout_ms < 0 || timeout_ms > WAIT_CHECK_MS);
    ssize_t got = 0;
    if (!zs_own_fd_is(waits ? &s->listening : &s->fd)) { /* closed by somebody */
        lose(s);
        return true;
    }
    s->receiving = true;
    pthread_mutex_unlock(&s->lock);
    ready = poll(&fd, 1, cut ? WAIT_CHECK_MS : timeout_ms);
    bool alive = !waits || ready > 0 || zs_debug_process_is_alive(s->pid);
    if (ready > 0 && !waits)
        got = recv(fd.fd, &s->incoming, sizeof(s->incoming), MSG_TRUNC);
    if (got < 0 && errno == ECONNRESET) /* it ended with a request unread: what it said before */
        got = recv(fd.fd, &s->incoming, sizeof(s->incoming), MSG_TRUNC);
    pthread_mutex_lock(&s->lock);
    /* the answer can be here before the thread that asked is back from sending */
    while (s->sending && got > 0 && s->incoming.head.kind != ZS_WIRE_EVENT)
        pthread_cond_wait(&s->changed, &s->lock);
    s->receiving = false;
    if (!alive)
        lose(s);
    else if (ready > 0 && waits)
        meet(s);
    else if (ready > 0)
        handle(s, got);
    pthread_cond_broadcast(&s->changed);
    return ready > 0 || !alive || cut || (ready < 0 && errno == EINTR);
}

/* Under the lock. false: not within the time, or never. */
static bool wait_for(struct zs_ze_debug_session *s, bool (*done)(struct zs_ze_debug_session *),
                     uint64_t deadline_ns)
{
    while (!done(s)) {
        if (s->gone)
            return false;
        if (!s->receiving) {
            if (!receive_one(s, deadline_ns))
                return done(s);
            continue;
        }
        struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                                 .tv_nsec = (long)(deadline_ns % 1000000000)};
        if (deadline_ns == UINT64_MAX)
            pthread_cond_wait(&s->changed, &s->lock);
        else if (pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT)
            return done(s);
    }
    return true;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static bool is_answered(struct zs_ze_debug_session *s)
{
    return s->answered;
}

static bool only_reads(uint32_t kind)
{
    return kind == ZS_WIRE_READ_MEMORY || kind == ZS_WIRE_READ_REGISTERS || kind == ZS_WIRE_HELD;
}

/* The answer replaces the message. */
static ze_result_t ask(struct zs_ze_debug_session *s, struct zs_wire_message *m)
{
    ze_result_t result = ZE_RESULT_ERROR_DEVICE_LOST;
    pthread_mutex_lock(&s->request_lock);
    pthread_mutex_lock(&s->lock);
    if (!only_reads(m->head.kind)) {
        s->happened++;
        s->missed = false;
    }
    if (s->fd.fd < 0 && !s->gone) { /* has it come meanwhile? */
        if (!s->receiving)
            receive_one(s, 0);
        result = s->fd.fd < 0 && !s->gone ? ZE_RESULT_ERROR_NOT_AVAILABLE : result;
    }
    if (s->fd.fd >= 0 && !s->gone && zs_own_fd_is(&s->fd)) {
        m->head.number = ++s->number ? s->number : ++s->number;
        s->answer = m;
        s->answered = false;
        s->sending = true;
        int fd = s->fd.fd;
        pthread_mutex_unlock(&s->lock);
        /* the other side always reads */
        bool sent = send(fd, m, zs_wire_size_B(m), MSG_NOSIGNAL) >= 0;
        pthread_mutex_lock(&s->lock);
        s->sending = false;
        pthread_cond_broadcast(&s->changed);
        if (sent && wait_for(s, is_answered, UINT64_MAX))
            result = (ze_result_t)m->head.result;
        while (!sent && !s->gone && !s->receiving && receive_one(s, 0))
            ; /* what it said before; who receives now comes to the end of it */
        if (!sent && !s->receiving)
            lose(s);
        s->answer = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&s->request_lock);
    return result;
}

static struct zs_wire_thread wire_of(ze_device_thread_t t)
{
    return (struct zs_wire_thread){t.slice, t.subslice, t.eu, t.thread};
}

static struct zs_wire_message *message_new(enum zs_wire_kind kind)
{
    struct zs_wire_message *m = malloc(sizeof(*m));
    if (m) {
        memset(m, 0, ZS_WIRE_FIXED_B);
        m->head.kind = kind;
    }
    return m;
}

/* ---- attaching ---------------------------------------------------------------------------------
 */

void zs_ze_debug_session_fini(struct zs_ze_debug_session *s)
{
    for (struct event *lists[2] = {s->events, s->unacknowledged}, **list = lists; list < lists + 2;
         list++) {
        while (*list) {
            struct event *item = *list;
            *list = item->next;
            free(item);
        }
    }
    zs_own_fd_close(&s->fd);
    zs_own_fd_close(&s->listening);
    free(s->history);
    free(s->held);
    pthread_mutex_destroy(&s->request_lock);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
}

static struct zs_ze_debug_session *session_new(struct zs_ze_device *device, uint32_t pid)
{
    struct zs_ze_debug_session *s = zs_object_new(ZS_OBJECT_debug_session, sizeof(*s));
    pthread_condattr_t attr;
    if (!s)
        return NULL;
    s->device = device;
    s->pid = pid;
    s->fd = s->listening = ZS_OWN_FD_NONE;
    s->events_end = &s->events;
    pthread_mutex_init(&s->request_lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    return s;
}

static struct zs_wire_device name_of(const struct zs_ze_device *device)
{
    return (struct zs_wire_device){device->model->device_id, device->card, device->tile};
}

/* -ECONNREFUSED: it does not listen. */
static int connect_to(struct zs_ze_debug_session *s)
{
    struct sockaddr_un address;
    struct ucred peer;
    socklen_t size_B = zs_wire_address(s->pid, NULL, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = connect(fd, (const struct sockaddr *)&address, size_B) ? -errno : 0;
    if (!error && (!zs_wire_is_ours(fd, geteuid(), &peer) || peer.pid != (pid_t)s->pid))
        error = -EACCES;
    if (error) {
        close(fd);
        return error == -ENOENT ? -ECONNREFUSED : error;
    }
    s->fd = zs_own_fd_make(fd);
    return 0;
}

static ze_result_t say_hello(struct zs_ze_debug_session *s)
{
    struct zs_wire_message *m = message_new(ZS_WIRE_HELLO);
    if (!m)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    m->hello = (struct zs_wire_hello){ZS_WIRE_MAGIC, ZS_WIRE_VERSION, name_of(s->device)};
    ze_result_t result = ask(s, m);
    free(m);
    return result;
}

/* Listen where the process will find us. */
static int expect(struct zs_ze_debug_session *s)
{
    struct zs_wire_device name = name_of(s->device);
    struct sockaddr_un address;
    socklen_t size_B = zs_wire_address(s->pid, &name, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    s->listening = zs_own_fd_make(fd);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size_B) != 0 || listen(fd, 1) != 0)
        return -errno;
    return 0;
}

static ze_result_t result_of(int error)
{
    return error == -EADDRINUSE || error == -EBUSY ? ZE_RESULT_ERROR_NOT_AVAILABLE
           : error == -EACCES || error == -EPERM   ? ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS
                                                   : ZE_RESULT_ERROR_UNKNOWN;
}

/*
 * It may call zeInit at any moment. There it listens first, then looks for debuggers, then answers:
 * so once it has answered it has found us, or has been asked before we were there.
 */
static ze_result_t attach_early(struct zs_ze_debug_session *s)
{
    int error = expect(s);
    if (error)
        return result_of(error);
    error = connect_to(s);
    if (error == -ECONNREFUSED)
        return ZE_RESULT_SUCCESS;
    if (error)
        return result_of(error);
    ze_result_t result = say_hello(s);
    if (result == ZE_RESULT_SUCCESS) {
        zs_own_fd_close(&s->listening);
        return result;
    }
    zs_own_fd_close(&s->fd);
    s->gone = false;
    meet(s);
    return s->fd.fd >= 0 ? ZE_RESULT_SUCCESS : result;
}

static ze_result_t attach(struct zs_ze_debug_session *s)
{
    int error = connect_to(s);
    if (!error)
        return say_hello(s);
    if (error != -ECONNREFUSED)
        return result_of(error);
    if (!zs_debug_process_is_enabled(s->pid))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return attach_early(s);
}

ze_result_t ZE_APICALL zetDebugAttach(zet_device_handle_t hDevice, const zet_debug_config_t *config,
                                      zet_debug_session_handle_t *phDebug)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(config);
    ZS_CHECK_POINTER(phDebug);
    char path[32];
    struct stat st;
    *phDebug = NULL;
    snprintf(path, sizeof(path), "/proc/%u", config->pid);
    ZS_CHECK(config->pid > 0 && config->pid <= INT32_MAX &&
                 zs_debug_process_is_alive(config->pid) && stat(path, &st) == 0,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "there is no process %u", config->pid);
    ZS_CHECK(st.st_uid == geteuid(), ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS,
             "process %u belongs to another user", config->pid);
    struct zs_ze_debug_session *s = session_new(device, config->pid);
    ZS_CHECK(s, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory");
    ze_result_t result = attach(s);
    if (result == ZE_RESULT_SUCCESS && !zs_object_publish(s))
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (result != ZE_RESULT_SUCCESS) {
        zs_object_unref(s);
        return ZS_REFUSE(result, "process %u cannot be debugged: %s", config->pid,
                         result == ZE_RESULT_ERROR_NOT_AVAILABLE ? "a debugger is attached"
                         : result == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
                             ? "it was not started with ZET_ENABLE_PROGRAM_DEBUGGING=1, or does "
                               "not have this device"
                             : "it does not let us");
    }
    *phDebug = s->object.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugDetach(zet_debug_session_handle_t hDebug)
{
    ZS_OBJECT(debug_session, s, hDebug);
    if (!zs_object_retract(s))
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    struct zs_wire_message *m = message_new(ZS_WIRE_DETACH);
    if (m)
        (void)ask(s, m); /* whoever is gone is detached, too */
    free(m);
    pthread_mutex_lock(&s->lock);
    s->gone = true;
    if (zs_own_fd_is(&s->fd))
        shutdown(s->fd.fd, SHUT_RDWR);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    zs_object_unref(s);
    return ZE_RESULT_SUCCESS;
}

/* ---- events ------------------------------------------------------------------------------------
 */

static bool has_event(struct zs_ze_debug_session *s)
{
    return s->events != NULL;
}

ze_result_t ZE_APICALL zetDebugReadEvent(zet_debug_session_handle_t hDebug, uint64_t timeout,
                                         zet_debug_event_t *event)
{
    ZS_OBJECT(debug_session, s, hDebug);
    ZS_CHECK_POINTER(event);
    ze_result_t result = ZE_RESULT_SUCCESS;
    memset(event, 0, sizeof(*event));
    zs_object_ref(s);
    pthread_mutex_lock(&s->lock);
    if (wait_for(s, has_event, timeout == 0 ? 0 : deadline_of(timeout))) {
        struct event *item = s->events;
        s->events = item->next;
        if (!s->events)
            s->events_end = &s->events;
        *event = item->event;
        s->told |= item->nobody;
        if (event->flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK) {
            item->next = s->unacknowledged;
            s->unacknowledged = item;
        } else {
            free(item);
        }
    } else {
        result = s->gone ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_NOT_READY;
    }
    pthread_mutex_unlock(&s->lock);
    zs_object_unref(s);
    return result;
}

static bool is_same(const zet_debug_event_t *a, const zet_debug_event_t *b)
{
    return a->type == b->type && a->info.module.moduleBegin == b->info.module.moduleBegin &&
           a->info.module.moduleEnd == b->info.module.moduleEnd &&
           a->info.module.load == b->info.module.load;
}

ze_result_t ZE_APICALL zetDebugAcknowledgeEvent(zet_debug_session_handle_t hDebug,
                                                const zet_debug_event_t *event)
{
    ZS_OBJECT(debug_session, s, hDebug);
    ZS_CHECK_POINTER(event);
    ZS_CHECK(event->type > ZET_DEBUG_EVENT_TYPE_INVALID &&
                 event->type <= ZET_DEBUG_EVENT_TYPE_PAGE_FAULT,
             ZE_RESULT_ERROR_INVALID_ARGUMENT, "event of type %u", (unsigned)event->type);
    if (!(event->flags & ZET_DEBUG_EVENT_FLAG_NEED_ACK))
        return ZE_RESULT_SUCCESS; /* nobody waits for it */
    pthread_mutex_lock(&s->lock);
    struct event **at = &s->unacknowledged;
    while (*at && !is_same(&(*at)->event, event))
        at = &(*at)->next;
    struct event *item = *at;
    if (item)
        *at = item->next;
    pthread_mutex_unlock(&s->lock);
    ZS_CHECK(item, ZE_RESULT_ERROR_INVALID_ARGUMENT, "no such event waits to be acknowledged");
    struct zs_wire_message *m = message_new(ZS_WIRE_ACK);
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (m) {
        m->ack = item->id;
        result = ask(s, m);
    }
    free(m);
    free(item);
    return result;
}

/* ---- run control -------------------------------------------------------------------------------
 */

static ze_result_t control(struct zs_ze_debug_session *s, enum zs_wire_kind kind,
                           ze_device_thread_t thread)
{
    struct zs_wire_message *m = message_new(kind);
    if (!m)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    m->thread = wire_of(thread);
    ze_result_t result = ask(s, m);
    free(m);
    return result;
}

static bool exists(const struct zs_ze_debug_session *s, ze_device_thread_t t)
{
    const struct zs_gpu_model *model = s->device->model;
    return (t.slice == UINT32_MAX || t.slice < model->slices) &&
           (t.subslice == UINT32_MAX || t.subslice < model->subslices_per_slice) &&
           (t.eu == UINT32_MAX || t.eu < model->eus_per_subslice) &&
           (t.thread == UINT32_MAX || t.thread < model->threads_per_eu);
}

/* The process is not there yet, or gone, which the debugger has not read: nobody is there to be
 * interrupted, and it is told so. The session's last event stays the last; who asks again and again
 * comes to an end. */
static bool interrupts_nobody(struct zs_ze_debug_session *s, ze_device_thread_t thread)
{
    zet_debug_event_t event = {.type = ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE};
    event.info.thread.thread = thread;
    pthread_mutex_lock(&s->lock);
    struct event **at = &s->events, *item = NULL;
    while (*at && (!s->gone || (*at)->next))
        at = &(*at)->next;
    bool may = s->gone ? *at && !s->told : s->fd.fd < 0;
    if (may && exists(s, thread))
        item = malloc(sizeof(*item));
    if (item) {
        *item = (struct event){.next = *at, .nobody = s->gone, .event = event};
        *at = item;
        if (!item->next)
            s->events_end = &item->next;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return item != NULL;
}

ze_result_t ZE_APICALL zetDebugInterrupt(zet_debug_session_handle_t hDebug,
                                         ze_device_thread_t thread)
{
    ZS_OBJECT(debug_session, s, hDebug);
    ze_result_t result = control(s, ZS_WIRE_INTERRUPT, thread);
    bool nobody = result == ZE_RESULT_ERROR_DEVICE_LOST || result == ZE_RESULT_ERROR_NOT_AVAILABLE;
    return nobody && interrupts_nobody(s, thread) ? ZE_RESULT_SUCCESS : result;
}

ze_result_t ZE_APICALL zetDebugResume(zet_debug_session_handle_t hDebug, ze_device_thread_t thread)
{
    ZS_OBJECT(debug_session, s, hDebug);
    return control(s, ZS_WIRE_RESUME, thread);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static ze_result_t access_memory(struct zs_ze_debug_session *s, ze_device_thread_t thread,
                                 const zet_debug_memory_space_desc_t *desc, size_t size_B,
                                 uint8_t *bytes, bool write)
{
    enum zs_wire_kind kind = write ? ZS_WIRE_WRITE_MEMORY : ZS_WIRE_READ_MEMORY;
    struct zs_wire_message *m = message_new(kind);
    ze_result_t result = m ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    size_t done_B = 0;
    while (m && result == ZE_RESULT_SUCCESS) {
        uint32_t part_B = (uint32_t)ZS_MIN(size_B - done_B, (size_t)ZS_WIRE_DATA_B_MAX);
        m->head = (struct zs_wire_head){.kind = kind, .size_B = write ? part_B : 0};
        m->memory = (struct zs_wire_memory){.thread = wire_of(thread),
                                            .space = (uint32_t)desc->type,
                                            .size_B = part_B,
                                            .gpu_va = desc->address + done_B};
        if (write && part_B)
            memcpy(m->data, bytes + done_B, part_B);
        result = ask(s, m);
        if (result == ZE_RESULT_SUCCESS && !write) {
            if (m->head.size_B != part_B)
                result = ZE_RESULT_ERROR_DEVICE_LOST;
            else if (part_B)
                memcpy(bytes + done_B, m->data, part_B);
        }
        done_B += part_B;
        if (done_B == size_B)
            break;
    }
    free(m);
    return result;
}

static ze_result_t check_memory(const char *function, const zet_debug_memory_space_desc_t *desc,
                                const void *buffer, size_t size_B)
{
    if (!desc || !buffer)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_POINTER, function, "%s is null",
                         desc ? "buffer" : "desc");
    if ((uint32_t)desc->type > ZET_DEBUG_MEMORY_SPACE_TYPE_SLM)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, function, "memory space %u",
                         (unsigned)desc->type);
    if (size_B > UINT64_MAX - desc->address)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function, "the memory wraps");
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zetDebugReadMemory(zet_debug_session_handle_t hDebug,
                                          ze_device_thread_t thread,
                                          const zet_debug_memory_space_desc_t *desc, size_t size,
                                          void *buffer)
{
    ZS_OBJECT(debug_session, s, hDebug);
    ze_result_t result = check_memory(__func__, desc, buffer, size);
    return result == ZE_RESULT_SUCCESS ? access_memory(s, thread, desc, size, buffer, false)
                                       : result;
}

ze_result_t ZE_APICALL zetDebugWriteMemory(zet_debug_session_handle_t hDebug,
                                           ze_device_thread_t thread,
                                           const zet_debug_memory_space_desc_t *desc, size_t size,
                                           const void *buffer)
{
    ZS_OBJECT(debug_session, s, hDebug);
    ze_result_t result = check_memory(__func__, desc, buffer, size);
    return result == ZE_RESULT_SUCCESS
               ? access_memory(s, thread, desc, size, (uint8_t *)(uintptr_t)buffer, true)
               : result;
}

/* ---- registers ---------------------------------------------------------------------------------
 */

enum { REGSETS_MAX = 32 };

static uint32_t register_sets(const struct zs_ze_device *device,
                              struct zs_gpu_debug_regset ret_sets[REGSETS_MAX])
{
    uint32_t count = zs_gpu_debug_regsets(device->model, ret_sets, REGSETS_MAX);
    return ZS_MIN(count, (uint32_t)REGSETS_MAX);
}

ze_result_t ZE_APICALL zetDeviceGetDebugProperties(zet_device_handle_t hDevice,
                                                   zet_device_debug_properties_t *pDebugProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pDebugProperties);
    pDebugProperties->flags = ZET_DEVICE_DEBUG_PROPERTY_FLAG_ATTACH;
    return ZE_RESULT_SUCCESS;
}

static void put_register_sets(const struct zs_ze_device *device, uint32_t *count_inout,
                              zet_debug_regset_properties_t *ret_properties)
{
    struct zs_gpu_debug_regset sets[REGSETS_MAX];
    uint32_t have = register_sets(device, sets);
    uint32_t count = zs_list_count(count_inout, have, ret_properties != NULL);
    for (uint32_t i = 0; i < count; i++) {
        zet_debug_regset_properties_t *p = &ret_properties[i];
        p->type = sets[i].type;
        p->version = 0;
        p->generalFlags = ZET_DEBUG_REGSET_FLAG_READABLE |
                          (sets[i].writable ? (uint32_t)ZET_DEBUG_REGSET_FLAG_WRITEABLE : 0);
        p->deviceFlags = 0;
        p->count = sets[i].count;
        p->bitSize = sets[i].bits;
        p->byteSize = sets[i].bytes;
    }
}

ze_result_t ZE_APICALL
zetDebugGetRegisterSetProperties(zet_device_handle_t hDevice, uint32_t *pCount,
                                 zet_debug_regset_properties_t *pRegisterSetProperties)
{
    ZS_OBJECT(device, device, hDevice);
    ZS_CHECK_POINTER(pCount);
    put_register_sets(device, pCount, pRegisterSetProperties);
    return ZE_RESULT_SUCCESS;
}

/* wire/history.h: a request that stands in the registers of a set that is not listed. */
static ze_result_t ask_history(const char *function, struct zs_ze_debug_session *s,
                               const struct zs_wire_registers *wanted, const void *request)
{
    if (wanted->start || wanted->count * 8ull != sizeof(struct zs_history_request))
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "%u registers of set %#x are no request", wanted->count, wanted->type);
    struct zs_wire_message *m = message_new(ZS_WIRE_HISTORY);
    struct zs_history_answer *answer = malloc(sizeof(*answer));
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (m && answer) {
        m->head.size_B = sizeof(struct zs_history_request);
        memcpy(m->data, request, sizeof(struct zs_history_request));
        result = ask(s, m);
    }
    if (result == ZE_RESULT_SUCCESS && m->head.size_B != sizeof(*answer))
        result = ZE_RESULT_ERROR_DEVICE_LOST;
    if (result == ZE_RESULT_SUCCESS) {
        memcpy(answer, m->data, sizeof(*answer));
        pthread_mutex_lock(&s->lock);
        struct zs_history_answer *before = s->history;
        s->history = answer;
        pthread_mutex_unlock(&s->lock);
        answer = before;
    }
    free(answer);
    free(m);
    return result;
}

static ze_result_t access_history(const char *function, struct zs_ze_debug_session *s,
                                  const struct zs_wire_registers *wanted, void *values, bool write)
{
    uint64_t at_B = wanted->start * 8ull, size_B = wanted->count * 8ull;
    bool known = false;
    if (!values)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_POINTER, function, "pRegisterValues is null");
    if (write)
        return ask_history(function, s, wanted, values);
    pthread_mutex_lock(&s->lock);
    if (s->history && at_B + size_B <= sizeof(*s->history)) {
        memcpy(values, (const uint8_t *)s->history + at_B, size_B);
        known = true;
    }
    pthread_mutex_unlock(&s->lock);
    return known ? ZE_RESULT_SUCCESS
                 : zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                             "there is no such answer in set %#x", wanted->type);
}

/* Its bit; session's ids, as zs_gpu_debug_held_map() has them. */
static bool is_held(const struct zs_ze_debug_session *s, ze_device_thread_t thread)
{
    const struct zs_gpu_model *model = s->device->model;
    uint64_t index = thread.slice;
    index = index * model->subslices_per_slice + thread.subslice;
    index = index * model->eus_per_subslice + thread.eu;
    index = index * model->threads_per_eu + thread.thread;
    return thread.subslice >= model->subslices_per_slice || thread.eu >= model->eus_per_subslice ||
           thread.thread >= model->threads_per_eu || index / 8 >= s->held->head.size_B ||
           s->held->data[index / 8] >> index % 8 & 1;
}

/* Which threads are stopped, when one that is not has been asked for before. */
static void learn_held(struct zs_ze_debug_session *s)
{
    struct zs_wire_message *m = message_new(ZS_WIRE_HELD), *before;
    pthread_mutex_lock(&s->lock);
    uint64_t happened = s->happened;
    pthread_mutex_unlock(&s->lock);
    bool ok = m && ask(s, m) == ZE_RESULT_SUCCESS;
    pthread_mutex_lock(&s->lock);
    before = s->held;
    if (ok && happened == s->happened) {
        m->ack = happened;
        s->held = m;
        m = before;
    }
    pthread_mutex_unlock(&s->lock);
    free(m);
}

/* It is not stopped, as far as is known here; what the process has sent meanwhile is taken in. */
static bool runs(struct zs_ze_debug_session *s, ze_device_thread_t thread)
{
    pthread_mutex_lock(&s->lock);
    while (!s->gone && !s->receiving && s->fd.fd >= 0 && receive_one(s, 0))
        ;
    bool current = s->held && s->held->ack == s->happened;
    bool wanted = !current && s->missed && !s->gone;
    pthread_mutex_unlock(&s->lock);
    if (wanted)
        learn_held(s);
    pthread_mutex_lock(&s->lock);
    current = !s->gone && s->held && s->held->ack == s->happened;
    bool known = current && !is_held(s, thread);
    pthread_mutex_unlock(&s->lock);
    return known;
}

static ze_result_t access_registers(const char *function, struct zs_ze_debug_session *s,
                                    ze_device_thread_t thread,
                                    const struct zs_wire_registers *wanted, void *values,
                                    bool write)
{
    struct zs_gpu_debug_regset sets[REGSETS_MAX];
    uint32_t have = register_sets(s->device, sets), i = 0;
    if (wanted->type == ZS_HISTORY_SET)
        return access_history(function, s, wanted, values, write);
    while (i < have && sets[i].type != wanted->type)
        i++;
    if (i == have || wanted->start >= sets[i].most || wanted->count > sets[i].most - wanted->start)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function,
                         "registers %u to %llu of set %u do not exist", wanted->start,
                         (unsigned long long)wanted->start + wanted->count, wanted->type);
    if (write && !sets[i].writable)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, function, "set %u is read-only",
                         wanted->type);
    if (!values)
        return zs_refuse(ZE_RESULT_ERROR_INVALID_NULL_POINTER, function, "pRegisterValues is null");
    if (!write && runs(s, thread))
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    struct zs_wire_message *m =
        message_new(write ? ZS_WIRE_WRITE_REGISTERS : ZS_WIRE_READ_REGISTERS);
    if (!m)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    uint32_t size_B = wanted->count * sets[i].bytes;
    m->registers = *wanted;
    m->registers.thread = wire_of(thread);
    m->head.size_B = write ? size_B : 0;
    if (write)
        memcpy(m->data, values, size_B);
    ze_result_t result = ask(s, m);
    if (result == ZE_RESULT_SUCCESS && !write) {
        if (m->head.size_B != size_B)
            result = ZE_RESULT_ERROR_DEVICE_LOST;
        else
            memcpy(values, m->data, size_B);
    }
    if (result == ZE_RESULT_ERROR_NOT_AVAILABLE) {
        pthread_mutex_lock(&s->lock);
        s->missed = true;
        pthread_mutex_unlock(&s->lock);
    }
    free(m);
    return result;
}

ze_result_t ZE_APICALL zetDebugReadRegisters(zet_debug_session_handle_t hDebug,
                                             ze_device_thread_t thread, uint32_t type,
                                             uint32_t start, uint32_t count, void *pRegisterValues)
{
    ZS_OBJECT(debug_session, s, hDebug);
    const struct zs_wire_registers wanted = {.type = type, .start = start, .count = count};
    return access_registers(__func__, s, thread, &wanted, pRegisterValues, false);
}

ze_result_t ZE_APICALL zetDebugWriteRegisters(zet_debug_session_handle_t hDebug,
                                              ze_device_thread_t thread, uint32_t type,
                                              uint32_t start, uint32_t count, void *pRegisterValues)
{
    ZS_OBJECT(debug_session, s, hDebug);
    const struct zs_wire_registers wanted = {.type = type, .start = start, .count = count};
    return access_registers(__func__, s, thread, &wanted, pRegisterValues, true);
}

/* Threads differ in how many general registers their kernel was compiled for. */
static void put_thread_count(struct zs_ze_debug_session *s, ze_device_thread_t thread,
                             uint32_t count, zet_debug_regset_properties_t *properties)
{
    struct zs_gpu_debug_regset sets[REGSETS_MAX];
    uint32_t have = register_sets(s->device, sets);
    uint8_t last[ZS_GPU_DEBUG_REGISTER_B_MAX];
    for (uint32_t i = 0; i < count && i < have; i++) {
        const struct zs_wire_registers wanted = {
            .type = sets[i].type, .start = sets[i].most - 1, .count = 1};
        if (sets[i].most > sets[i].count &&
            access_registers(__func__, s, thread, &wanted, last, false) == ZE_RESULT_SUCCESS)
            properties[i].count = sets[i].most;
    }
}

ze_result_t ZE_APICALL zetDebugGetThreadRegisterSetProperties(
    zet_debug_session_handle_t hDebug, ze_device_thread_t thread, uint32_t *pCount,
    zet_debug_regset_properties_t *pRegisterSetProperties)
{
    ZS_OBJECT(debug_session, s, hDebug);
    ZS_CHECK_POINTER(pCount);
    const struct zs_wire_registers wanted = {.type = ZESCOPE_DEBUG_REGSET_CE, .count = 1};
    uint32_t ce;
    ze_result_t result = access_registers(__func__, s, thread, &wanted, &ce, false);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    put_register_sets(s->device, pCount, pRegisterSetProperties);
    if (pRegisterSetProperties)
        put_thread_count(s, thread, *pCount, pRegisterSetProperties);
    return result;
}

void *zs_debug_function(const char *name)
{
    return strcmp(name, "zetDebugGetThreadRegisterSetProperties") == 0
               ? (void *)zetDebugGetThreadRegisterSetProperties
               : NULL;
}
