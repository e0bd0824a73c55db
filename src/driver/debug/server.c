/* SPDX-License-Identifier: MIT */
/*
 * The thread of the debugged process that debuggers talk to. It answers requests in order and sends
 * events; no request takes long. What other threads want to be sent they put into a connection's
 * queue. The lock is taken after src/gpu's (events of threads come with that held), so nothing of
 * src/gpu is called with it.
 *
 * A debugger that does not read its events is dropped when EVENTS_MAX of them wait.
 */
#include "driver/debug/debug.h"

#include "base/own_fd.h"
#include "base/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 16,
    EVENTS_MAX = 1 << 16,
    POLL_MS = 2,   /* while an interrupt is under way */
    LOOK_MS = 500, /* whether the sockets of debuggers are still ours */
    LISTEN_BACKLOG = 8,
};

/* A message that waits to be sent. */
struct parcel {
    struct parcel *next;
    size_t size_B;
    uint8_t message[]; /* struct zs_wire_message, cut behind its data */
};

/* An event that a thread of the process waits for. */
struct ack {
    struct ack *next;
    uint64_t id;
};

/* Made and freed by the server's thread alone. */
struct connection {
    struct connection *next;
    struct zs_debug_server *server;
    struct zs_own_fd fd;
    atomic_bool dead;
    struct zs_ze_device *device; /* NULL: it has not said hello */
    struct zs_gpu_debug_session *session;
    bool answered; /* the request that is being served */
    /* under the lock */
    bool listens; /* gets events */
    struct parcel *head, **tail;
    uint32_t count;
    struct ack *acks;
};

/* Queues of a device. */
struct presence {
    const struct zs_ze_device *device;
    uint32_t queues;
};

struct zs_debug_server {
    struct zs_ze_driver *driver;
    struct zs_gpu_debug *gpu;
    pthread_t thread;
    bool started;
    atomic_bool stopping;
    atomic_bool
        settled; /* who set it first: the thread, which nobody joins then, or who joins it */
    struct zs_own_fd listening, wake;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t acked;
    struct connection *connections;
    uint32_t connection_count;
    struct zs_debug_module *modules;
    struct presence *presences;
    uint32_t presence_count;
    uint64_t next_event;
    struct zs_wire_message request; /* of the server's thread */
};

struct zs_gpu_debug *zs_debug_gpu(struct zs_debug_server *server)
{
    return server->gpu;
}

/* ---- queues of messages ------------------------------------------------------------------------
 */

static void wake_server(struct zs_debug_server *server)
{
    const uint64_t one = 1;
    if (zs_own_fd_is(&server->wake))
        (void)!write(server->wake.fd, &one, sizeof(one));
}

/* Under the lock. */
static void post(struct connection *c, const struct zs_wire_message *message)
{
    size_t size_B = zs_wire_size_B(message);
    struct parcel *parcel = c->count < EVENTS_MAX ? malloc(sizeof(*parcel) + size_B) : NULL;
    if (!parcel) { /* the debugger cannot be told: it goes */
        c->dead = true;
        return;
    }
    parcel->next = NULL;
    parcel->size_B = size_B;
    memcpy(parcel->message, message, size_B);
    *c->tail = parcel;
    c->tail = &parcel->next;
    c->count++;
}

/* Under the lock. Returns the event's id. */
static uint64_t post_event(struct connection *c, const struct zs_debug_event *event)
{
    struct {
        struct zs_wire_head head;
        uint8_t rest[ZS_WIRE_FIXED_B - sizeof(struct zs_wire_head)];
    } small = {.head = {.kind = ZS_WIRE_EVENT}};
    struct zs_wire_event wire = {.id = ++c->server->next_event,
                                 .type = event->type,
                                 .flags = event->flags,
                                 .thread = event->thread};
    memcpy(wire.info, event->info, sizeof(wire.info));
    _Static_assert(sizeof(wire) <= sizeof(small.rest), "it fits");
    memcpy((uint8_t *)&small + offsetof(struct zs_wire_message, event), &wire, sizeof(wire));
    post(c, (const struct zs_wire_message *)(const void *)&small);
    return wire.id;
}

/* Under the lock: as much as the socket takes; whether some is left. */
static bool flush(struct connection *c)
{
    while (c->head) {
        struct parcel *parcel = c->head;
        ssize_t sent = send(c->fd.fd, parcel->message, parcel->size_B, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        if (sent < 0) {
            c->dead = true;
            break;
        }
        c->head = parcel->next;
        if (!c->head)
            c->tail = &c->head;
        c->count--;
        free(parcel);
    }
    return c->head != NULL;
}

/* Under the lock, on a thread of the process, which may end as soon as that goes on: what it has
 * to tell is in the sockets by then. */
static void flush_all(struct zs_debug_server *server)
{
    for (struct connection *c = server->connections; c; c = c->next) {
        if (c->head && !c->dead && zs_own_fd_is(&c->fd))
            flush(c);
    }
    wake_server(server); /* for what did not fit, and for those that are dead now */
}

static void post_hello(struct connection *c, const struct zs_wire_device *device)
{
    struct {
        struct zs_wire_head head;
        struct zs_wire_hello hello;
        uint8_t rest[ZS_WIRE_FIXED_B - sizeof(struct zs_wire_head) - sizeof(struct zs_wire_hello)];
    } small = {.head = {.kind = ZS_WIRE_HELLO}, .hello = {ZS_WIRE_MAGIC, ZS_WIRE_VERSION, *device}};
    pthread_mutex_lock(&c->server->lock);
    post(c, (const struct zs_wire_message *)(const void *)&small);
    pthread_mutex_unlock(&c->server->lock);
}

static void expect_ack(struct connection *c, uint64_t id)
{
    struct ack *ack = malloc(sizeof(*ack));
    if (!ack) {
        c->dead = true;
        return;
    }
    ack->id = id;
    ack->next = c->acks;
    c->acks = ack;
}

static bool take_ack(struct connection *c, uint64_t id)
{
    struct ack **at = &c->acks;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    struct ack *ack = *at;
    if (ack)
        *at = ack->next;
    free(ack);
    return ack != NULL;
}

/* ---- what happens in the process ---------------------------------------------------------------
 */

static bool awaits_ack(const struct zs_debug_server *server, uint64_t first, uint64_t last)
{
    for (const struct connection *c = server->connections; c; c = c->next) {
        for (const struct ack *ack = c->dead ? NULL : c->acks; ack; ack = ack->next) {
            if (ack->id >= first && ack->id <= last)
                return true;
        }
    }
    return false;
}

/* waits: somebody does, until it has been acknowledged. */
static void post_module(struct connection *c, const struct zs_debug_module *m, bool load,
                        bool waits)
{
    for (const struct zs_debug_piece *piece = m->pieces; piece; piece = piece->next) {
        struct zs_debug_event event;
        if (!piece->elf)
            continue;
        zs_debug_event_of(piece, load, &event);
        event.flags = waits ? ZET_DEBUG_EVENT_FLAG_NEED_ACK : 0u;
        uint64_t id = post_event(c, &event);
        if (waits)
            expect_ack(c, id);
    }
}

static void list_module(struct zs_debug_server *server, struct zs_debug_module *m)
{
    m->next = server->modules;
    if (m->next)
        m->next->at = &m->next;
    m->at = &server->modules;
    server->modules = m;
}

static bool unlist_module(struct zs_debug_module *m)
{
    if (!m->at)
        return false;
    *m->at = m->next;
    if (m->next)
        m->next->at = m->at;
    m->at = NULL;
    return true;
}

void zs_debug_announce(struct zs_debug_server *server, struct zs_debug_module *module, bool load)
{
    pthread_mutex_lock(&server->lock);
    uint64_t first = server->next_event + 1;
    bool news = load || unlist_module(module);
    if (load)
        list_module(server, module);
    for (struct connection *c = server->connections; news && c; c = c->next) {
        if (c->listens && zs_debug_concerns(c->device, module->device))
            post_module(c, module, load, load);
    }
    uint64_t last = server->next_event;
    if (last >= first)
        flush_all(server);
    while (load && awaits_ack(server, first, last))
        pthread_cond_wait(&server->acked, &server->lock);
    pthread_mutex_unlock(&server->lock);
}

/* Queues on devices that concern a session's. */
static uint32_t queues_of(const struct zs_debug_server *server, const struct zs_ze_device *device)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < server->presence_count; i++) {
        if (zs_debug_concerns(device, server->presences[i].device))
            count += server->presences[i].queues;
    }
    return count;
}

static struct presence *presence_of(struct zs_debug_server *server,
                                    const struct zs_ze_device *device)
{
    for (uint32_t i = 0; i < server->presence_count; i++) {
        if (server->presences[i].device == device)
            return &server->presences[i];
    }
    struct presence *more =
        realloc(server->presences, (server->presence_count + 1) * sizeof(*server->presences));
    if (!more)
        return NULL;
    server->presences = more;
    more[server->presence_count] = (struct presence){.device = device};
    return &more[server->presence_count++];
}

/* Under the lock: a session's first queue is there, or its last one gone. */
static void post_presence(struct zs_debug_server *server, const struct zs_ze_device *device,
                          uint32_t queues, uint32_t type)
{
    const struct zs_debug_event event = {.type = type};
    for (struct connection *c = server->connections; c; c = c->next) {
        if (c->listens && zs_debug_concerns(c->device, device) &&
            queues_of(server, c->device) == queues)
            post_event(c, &event);
    }
    flush_all(server);
}

void zs_debug_queue_made(struct zs_ze_device *device)
{
    struct zs_debug_server *server = device->driver->debug;
    if (!server)
        return;
    pthread_mutex_lock(&server->lock);
    struct presence *presence = presence_of(server, device);
    if (presence) {
        presence->queues++;
        post_presence(server, device, 1, ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY);
    }
    pthread_mutex_unlock(&server->lock);
}

void zs_debug_queue_gone(struct zs_ze_device *device)
{
    struct zs_debug_server *server = device->driver->debug;
    if (!server)
        return;
    pthread_mutex_lock(&server->lock);
    struct presence *presence = presence_of(server, device);
    if (presence && presence->queues) {
        presence->queues--;
        post_presence(server, device, 0, ZET_DEBUG_EVENT_TYPE_PROCESS_EXIT);
    }
    pthread_mutex_unlock(&server->lock);
}

/* Of src/gpu, under its lock. */
static void take_event(void *ctx, const struct zs_gpu_debug_event *from)
{
    static const uint32_t types[] = {
        [ZS_GPU_DEBUG_STOPPED] = ZET_DEBUG_EVENT_TYPE_THREAD_STOPPED,
        [ZS_GPU_DEBUG_UNAVAILABLE] = ZET_DEBUG_EVENT_TYPE_THREAD_UNAVAILABLE,
        [ZS_GPU_DEBUG_PAGE_FAULT] = ZET_DEBUG_EVENT_TYPE_PAGE_FAULT,
    };
    struct connection *c = ctx;
    struct zs_debug_event event = {.type = types[from->kind]};
    if (from->kind == ZS_GPU_DEBUG_PAGE_FAULT) {
        event.info[0] = from->gpu_va;
        event.info[1] = UINT64_MAX;
        event.info[2] = from->is_permission ? ZET_DEBUG_PAGE_FAULT_REASON_PERMISSION_ERROR
                                            : ZET_DEBUG_PAGE_FAULT_REASON_MAPPING_ERROR;
    } else {
        event.thread = (struct zs_wire_thread){from->thread.slice, from->thread.subslice,
                                               from->thread.eu, from->thread.thread};
    }
    pthread_mutex_lock(&c->server->lock);
    post_event(c, &event);
    pthread_mutex_unlock(&c->server->lock);
    wake_server(c->server);
}

int zs_debug_read_elf(struct zs_debug_server *server, uint64_t gpu_va, void *ret_bytes,
                      size_t size_B)
{
    int error = -ENOENT;
    pthread_mutex_lock(&server->lock);
    for (const struct zs_debug_module *m = server->modules; m; m = m->next) {
        for (const struct zs_debug_piece *piece = m->pieces; piece; piece = piece->next) {
            uint64_t at_B = gpu_va - (uintptr_t)piece->elf;
            if (!piece->elf || at_B >= piece->elf_B)
                continue;
            error = size_B > piece->elf_B - at_B ? -EINVAL : 0;
            if (!error && ret_bytes)
                memcpy(ret_bytes, piece->elf + at_B, size_B);
        }
    }
    pthread_mutex_unlock(&server->lock);
    return error;
}

/* ---- attaching ---------------------------------------------------------------------------------
 */

static struct zs_ze_device *find_device(const struct zs_ze_driver *driver,
                                        const struct zs_wire_device *wanted)
{
    for (uint32_t i = 0; i < driver->owned_count; i++) {
        struct zs_ze_device *root = driver->owned[i];
        struct zs_wire_device name = zs_debug_name(root);
        if (!root->hidden && memcmp(&name, wanted, sizeof(name)) == 0)
            return root;
        for (uint32_t k = 0; k < root->sub_count; k++) {
            name = zs_debug_name(root->subs[k]);
            if (memcmp(&name, wanted, sizeof(name)) == 0)
                return root->subs[k];
        }
    }
    return NULL;
}

static int open_session(struct connection *c, struct zs_ze_device *device)
{
    int error = zs_gpu_debug_attach(device->debug_card, device->first_slice, device->model->slices,
                                    take_event, c, &c->session);
    if (error)
        return error;
    pthread_mutex_lock(&c->server->lock);
    c->device = device;
    c->listens = true;
    if (queues_of(c->server, device))
        post_event(c, &(struct zs_debug_event){.type = ZET_DEBUG_EVENT_TYPE_PROCESS_ENTRY});
    for (const struct zs_debug_module *m = c->server->modules; m; m = m->next) {
        if (zs_debug_concerns(device, m->device))
            post_module(c, m, true, false);
    }
    pthread_mutex_unlock(&c->server->lock);
    return 0;
}

static struct connection *connection_new(struct zs_debug_server *server, int fd)
{
    struct connection *c = calloc(1, sizeof(*c));
    if (!c) {
        close(fd);
        return NULL;
    }
    c->server = server;
    c->fd = zs_own_fd_make(fd);
    c->tail = &c->head;
    pthread_mutex_lock(&server->lock);
    c->next = server->connections;
    server->connections = c;
    server->connection_count++;
    pthread_mutex_unlock(&server->lock);
    return c;
}

static void connection_close(struct connection *c)
{
    struct zs_debug_server *server = c->server;
    struct connection **at = &server->connections;
    if (c->session) /* no event comes after this */
        zs_gpu_debug_detach(c->session);
    pthread_mutex_lock(&server->lock);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    server->connection_count--;
    pthread_cond_broadcast(&server->acked);
    pthread_mutex_unlock(&server->lock);
    for (struct parcel *p = c->head, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    for (struct ack *ack = c->acks, *next; ack; ack = next) {
        next = ack->next;
        free(ack);
    }
    zs_own_fd_close(&c->fd);
    free(c);
}

static void accept_one(struct zs_debug_server *server)
{
    struct ucred peer;
    int fd = accept4(server->listening.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    if (!zs_wire_is_ours(fd, geteuid(), &peer) || server->connection_count >= CONNECTIONS_MAX) {
        close(fd);
        return;
    }
    connection_new(server, fd);
}

/* A debugger that waits for this device of this process. */
static void meet(struct zs_debug_server *server, struct zs_ze_device *device)
{
    struct zs_wire_device name = zs_debug_name(device);
    struct sockaddr_un address;
    struct ucred peer;
    socklen_t size_B = zs_wire_address((uint32_t)getpid(), &name, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)&address, size_B) != 0 ||
        !zs_wire_is_ours(fd, geteuid(), &peer)) {
        close(fd);
        return;
    }
    struct connection *c = connection_new(server, fd);
    if (!c)
        return;
    post_hello(c, &name);
    if (open_session(c, device) != 0)
        c->dead = true;
}

/* ---- requests ----------------------------------------------------------------------------------
 */

static struct zs_gpu_hw_thread thread_of(const struct zs_wire_thread *t)
{
    return (struct zs_gpu_hw_thread){t->slice, t->subslice, t->eu, t->thread};
}

static bool is_all(const struct zs_wire_thread *t)
{
    return (t->slice & t->subslice & t->eu & t->thread) == UINT32_MAX;
}

static uint32_t result_of(int error)
{
    switch (error) {
    case 0:
        return ZE_RESULT_SUCCESS;
    case -EINPROGRESS:
        return ZE_RESULT_NOT_READY;
    case -EALREADY:
    case -EAGAIN:
    case -EBUSY:
        return ZE_RESULT_ERROR_NOT_AVAILABLE;
    case -ENOMEM:
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    default:
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
}

static uint32_t do_hello(struct connection *c, struct zs_wire_message *m)
{
    struct zs_ze_device *device = find_device(c->server->driver, &m->hello.device);
    if (m->hello.magic != ZS_WIRE_MAGIC || m->hello.version != ZS_WIRE_VERSION || !device)
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return result_of(open_session(c, device));
}

/* Under the lock. What lets the program go on is answered first: it may be gone a moment later. */
static void answer(struct connection *c, const struct zs_wire_message *m)
{
    post(c, m);
    flush(c);
    c->answered = true;
}

static uint32_t do_ack(struct connection *c, struct zs_wire_message *m)
{
    pthread_mutex_lock(&c->server->lock);
    bool known = take_ack(c, m->ack);
    m->head.result = known ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
    answer(c, m);
    if (known)
        pthread_cond_broadcast(&c->server->acked);
    pthread_mutex_unlock(&c->server->lock);
    return m->head.result;
}

static uint32_t do_interrupt(struct connection *c, struct zs_wire_message *m)
{
    const struct zs_gpu_hw_thread thread = thread_of(&m->thread);
    return result_of(zs_gpu_debug_interrupt(c->session, &thread));
}

/* Of src/gpu, under its lock. */
static void answer_resumed(void *ctx)
{
    struct connection *c = ctx;
    struct zs_wire_message *m = &c->server->request;
    m->head.result = ZE_RESULT_SUCCESS;
    pthread_mutex_lock(&c->server->lock);
    answer(c, m);
    pthread_mutex_unlock(&c->server->lock);
}

static uint32_t do_resume(struct connection *c, struct zs_wire_message *m)
{
    const struct zs_gpu_hw_thread thread = thread_of(&m->thread);
    return result_of(zs_gpu_debug_resume(c->session, &thread, answer_resumed, c));
}

static uint32_t access_memory(struct connection *c, struct zs_wire_message *m, bool write)
{
    const struct zs_gpu_hw_thread thread = thread_of(&m->memory.thread);
    const struct zs_debug_access access = {.driver = c->server->driver,
                                           .session = c->session,
                                           .thread = is_all(&m->memory.thread) ? NULL : &thread,
                                           .space = m->memory.space,
                                           .gpu_va = m->memory.gpu_va,
                                           .bytes = m->data,
                                           .size_B = m->memory.size_B,
                                           .write = write};
    if (m->memory.size_B > ZS_WIRE_DATA_B_MAX || (write && m->memory.size_B != m->head.size_B))
        return ZE_RESULT_ERROR_INVALID_SIZE;
    uint32_t result = zs_debug_access_memory(&access);
    m->head.size_B = write || result != ZE_RESULT_SUCCESS ? 0 : m->memory.size_B;
    return result;
}

static uint32_t do_read_memory(struct connection *c, struct zs_wire_message *m)
{
    return access_memory(c, m, false);
}

static uint32_t do_write_memory(struct connection *c, struct zs_wire_message *m)
{
    return access_memory(c, m, true);
}

/* Bytes of the registers that a message names; 0: no such set, or too many. */
static uint32_t registers_B(const struct connection *c, const struct zs_wire_registers *wanted)
{
    struct zs_gpu_debug_regset sets[32];
    uint32_t count = zs_gpu_debug_regsets(c->device->model, sets, ZS_ARRAY_LEN(sets));
    for (uint32_t i = 0; i < count && i < ZS_ARRAY_LEN(sets); i++) {
        if (sets[i].type == wanted->type && wanted->count <= ZS_WIRE_DATA_B_MAX / sets[i].bytes)
            return wanted->count * sets[i].bytes;
    }
    return 0;
}

static uint32_t access_registers(struct connection *c, struct zs_wire_message *m, bool write)
{
    const struct zs_wire_registers *r = &m->registers;
    const struct zs_gpu_hw_thread thread = thread_of(&r->thread);
    uint32_t size_B = registers_B(c, r);
    if (write && size_B != m->head.size_B)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    int error = write ? zs_gpu_debug_write_registers(c->session, &thread, r->type, r->start,
                                                     r->count, m->data)
                : size_B == 0 && r->count
                    ? zs_gpu_debug_check_stopped(c->session, &thread)
                    : zs_gpu_debug_read_registers(c->session, &thread, r->type, r->start, r->count,
                                                  m->data);
    if (!write && size_B == 0 && r->count && !error)
        error = -EINVAL;
    m->head.size_B = write || error ? 0 : size_B;
    return result_of(error);
}

static uint32_t do_read_registers(struct connection *c, struct zs_wire_message *m)
{
    return access_registers(c, m, false);
}

static uint32_t do_write_registers(struct connection *c, struct zs_wire_message *m)
{
    return access_registers(c, m, true);
}

static uint32_t do_held(struct connection *c, struct zs_wire_message *m)
{
    m->head.size_B = (uint32_t)zs_gpu_debug_held_map(c->session, m->data, sizeof(m->data));
    return ZE_RESULT_SUCCESS;
}

static uint32_t do_history(struct connection *c, struct zs_wire_message *m)
{
    struct zs_history_request request;
    struct zs_history_answer *answer = (void *)m->data;
    _Static_assert(sizeof(*answer) <= ZS_WIRE_DATA_B_MAX, "it fits");
    if (m->head.size_B != sizeof(request))
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    memcpy(&request, m->data, sizeof(request));
    int error = zs_gpu_history_request(c->session, &request, answer);
    answer->error = error;
    m->head.size_B = sizeof(*answer);
    return ZE_RESULT_SUCCESS;
}

static uint32_t do_detach(struct connection *c, struct zs_wire_message *m)
{
    (void)m;
    c->dead = true;
    return ZE_RESULT_SUCCESS;
}

static const struct {
    uint32_t (*run)(struct connection *c, struct zs_wire_message *m);
    bool has_data; /* the request */
} requests[ZS_WIRE_REQUEST_COUNT] = {
    [ZS_WIRE_HELLO] = {do_hello, false},
    [ZS_WIRE_ACK] = {do_ack, false},
    [ZS_WIRE_INTERRUPT] = {do_interrupt, false},
    [ZS_WIRE_RESUME] = {do_resume, false},
    [ZS_WIRE_READ_MEMORY] = {do_read_memory, false},
    [ZS_WIRE_WRITE_MEMORY] = {do_write_memory, true},
    [ZS_WIRE_READ_REGISTERS] = {do_read_registers, false},
    [ZS_WIRE_WRITE_REGISTERS] = {do_write_registers, true},
    [ZS_WIRE_DETACH] = {do_detach, false},
    [ZS_WIRE_HISTORY] = {do_history, true},
    [ZS_WIRE_HELD] = {do_held, false},
};

/* false: nonsense, the connection ends. */
static bool serve(struct connection *c, struct zs_wire_message *m, size_t size_B)
{
    bool known = c->session != NULL;
    if (!zs_wire_is_whole(m, size_B) || m->head.kind >= ZS_WIRE_REQUEST_COUNT ||
        (m->head.kind == ZS_WIRE_HELLO) == known ||
        (m->head.size_B && !requests[m->head.kind].has_data))
        return false;
    c->answered = false;
    m->head.result = requests[m->head.kind].run(c, m);
    if (c->answered)
        return true;
    if (m->head.kind == ZS_WIRE_WRITE_MEMORY || m->head.kind == ZS_WIRE_WRITE_REGISTERS ||
        m->head.result != ZE_RESULT_SUCCESS)
        m->head.size_B = 0;
    pthread_mutex_lock(&c->server->lock);
    answer(c, m);
    pthread_mutex_unlock(&c->server->lock);
    return true;
}

static void receive(struct connection *c)
{
    struct zs_wire_message *m = &c->server->request;
    ssize_t size_B = recv(c->fd.fd, m, sizeof(*m), MSG_DONTWAIT | MSG_TRUNC);
    if (size_B < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (size_B <= 0 || (size_t)size_B > sizeof(*m) || !serve(c, m, (size_t)size_B))
        c->dead = true;
}

static bool send_queued(struct connection *c)
{
    pthread_mutex_lock(&c->server->lock);
    bool left = flush(c);
    pthread_mutex_unlock(&c->server->lock);
    return left;
}

/* ---- the thread --------------------------------------------------------------------------------
 */

struct watch {
    struct pollfd fds[CONNECTIONS_MAX + 64];
    struct connection *connections[CONNECTIONS_MAX + 64];
    uint32_t count;
    int timeout_ms;
};

static void watch_fd(struct watch *w, const struct zs_own_fd *own, short events,
                     struct connection *c)
{
    if (w->count == ZS_ARRAY_LEN(w->fds) || !zs_own_fd_is(own))
        return;
    w->connections[w->count] = c;
    w->fds[w->count++] = (struct pollfd){.fd = own->fd, .events = events};
}

static void set_up(struct zs_debug_server *server, struct watch *w)
{
    w->count = 0;
    w->timeout_ms = -1;
    watch_fd(w, &server->wake, POLLIN, NULL);
    watch_fd(w, &server->listening, POLLIN, NULL);
    for (struct connection *c = server->connections, *next; c; c = next) {
        next = c->next;
        bool left = !c->dead && send_queued(c);
        if (!zs_own_fd_is(&c->fd))
            c->dead = true;
        if (c->dead) {
            connection_close(c);
            continue;
        }
        watch_fd(w, &c->fd, (short)(POLLIN | (left ? POLLOUT : 0)), c);
        if (w->timeout_ms < 0)
            w->timeout_ms = LOOK_MS;
        if (c->session && zs_gpu_debug_poll(c->session))
            w->timeout_ms = POLL_MS;
    }
}

static void attend(struct zs_debug_server *server, const struct watch *w)
{
    uint64_t ignored;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct pollfd *fd = &w->fds[i];
        if (!fd->revents)
            continue;
        if (w->connections[i])
            receive(w->connections[i]);
        else if (fd->fd == server->wake.fd)
            (void)!read(fd->fd, &ignored, sizeof(ignored));
        else
            accept_one(server);
    }
}

static void *server_main(void *arg)
{
    struct zs_debug_server *server = arg;
    struct watch watch;
    pthread_setname_np(pthread_self(), "zescope-debug");
    while (!atomic_load(&server->stopping)) {
        set_up(server, &watch);
        if (watch.count == 0) /* somebody has closed all that we had */
            break;
        if (poll(watch.fds, watch.count, watch.timeout_ms) > 0)
            attend(server, &watch);
    }
    while (server->connections)
        connection_close(server->connections);
    if (!atomic_exchange(&server->settled, true)) /* it ends by itself: nobody joins it */
        pthread_detach(pthread_self());
    return NULL;
}

static int listen_here(struct zs_debug_server *server)
{
    struct sockaddr_un address;
    socklen_t size_B = zs_wire_address((uint32_t)getpid(), NULL, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    server->listening = zs_own_fd_make(fd);
    server->wake = zs_own_fd_make(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (server->listening.fd < 0 || server->wake.fd < 0 ||
        bind(fd, (const struct sockaddr *)&address, size_B) != 0 || listen(fd, LISTEN_BACKLOG) != 0)
        return -errno;
    return 0;
}

static void close_sockets(struct zs_debug_server *server)
{
    zs_own_fd_close(&server->listening);
    zs_own_fd_close(&server->wake);
    for (struct connection *c = server->connections; c; c = c->next)
        zs_own_fd_close(&c->fd);
}

struct zs_debug_server *zs_debug_start(struct zs_ze_driver *driver)
{
    struct zs_debug_server *server = calloc(1, sizeof(*server));
    if (!server)
        return NULL;
    server->driver = driver;
    server->listening = server->wake = ZS_OWN_FD_NONE;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->acked, NULL);
    if (zs_gpu_debug_create(&server->gpu) != 0) {
        free(server);
        return NULL;
    }
    return server;
}

void zs_debug_open(struct zs_ze_driver *driver)
{
    struct zs_debug_server *server = driver->debug;
    sigset_t before;
    int error = listen_here(server);
    for (uint32_t i = 0; i < driver->owned_count && !error; i++) {
        struct zs_ze_device *root = driver->owned[i];
        if (!root->hidden)
            meet(server, root);
        for (uint32_t k = 0; k < root->sub_count; k++)
            meet(server, root->subs[k]);
    }
    zs_signals_hold(&before);
    if (!error)
        error = -pthread_create(&server->thread, NULL, server_main, server);
    zs_signals_release(&before);
    server->started = !error;
    if (error) {
        close_sockets(server);
        zs_log(ZS_LOG_ERROR, "this process cannot be debugged: %s", strerror(-error));
    }
}

void zs_debug_stop(struct zs_debug_server *server)
{
    if (server && server->started) {
        atomic_store(&server->stopping, true);
        wake_server(server);
        if (!atomic_exchange(&server->settled, true))
            pthread_join(server->thread, NULL);
        close_sockets(server);
    }
}

void zs_debug_after_fork(struct zs_debug_server *server)
{
    if (server)
        close_sockets(server);
}
