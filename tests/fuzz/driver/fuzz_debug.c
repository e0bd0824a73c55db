/* SPDX-License-Identifier: MIT */
/*
 * Both ends of a debugger's connection (src/wire/debug.h) with the other one hostile. The
 * input is a row of messages: a byte says what one is made of, its fields follow; or it is so many
 * bytes as they are. FUZZ_DEBUGGED: the driver is the debugged process, and is asked; afterwards it
 * has to serve a debugger as if nothing had been. Else it is the debugger, and gets these answers
 * and events.
 */
#include "wire/debug.h"
#include "wire/history.h"

#include <level_zero/ze_api.h>
#include <level_zero/zet_api.h>

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { MESSAGES_MAX = 64, REPLY_MS = 5000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

struct input {
    const uint8_t *data;
    size_t left_B;
};

static uint32_t next(struct input *in)
{
    if (!in->left_B)
        return 0;
    in->left_B--;
    return *in->data++;
}

/* Small, or at an edge. */
static uint32_t value(struct input *in)
{
    static const uint32_t edges[] = {UINT32_MAX, 0x7fffffff, 0x8000, 0x8001, 1u << 28, 0x10001};
    uint32_t n = next(in);
    return n < 200 ? n % 40 : edges[n % (sizeof(edges) / sizeof(edges[0]))];
}

static uint64_t address(struct input *in, uint64_t near_va)
{
    uint32_t n = next(in);
    return n < 128 ? near_va + n * 8ull : n < 192 ? (uint64_t)(n - 128) << 40 : UINT64_MAX - n;
}

/* A request of wire/history.h, mostly one that is understood. */
static size_t make_history(struct input *in, uint64_t near_va, struct zs_wire_message *m)
{
    struct zs_history_request r = {.magic = ZS_HISTORY_MAGIC,
                                   .version = ZS_HISTORY_VERSION,
                                   .op = next(in) % (ZS_HISTORY_OP_COUNT + 2),
                                   .mode = value(in) % 4,
                                   .thread = {value(in), value(in), value(in), value(in)},
                                   .position = value(in),
                                   .first = value(in),
                                   .count = value(in),
                                   .flags = value(in),
                                   .code_count = value(in),
                                   .range_count = value(in)};
    r.version = next(in) < 240 ? r.version : value(in);
    for (uint32_t i = 0; i < r.range_count && i < ZS_HISTORY_RANGES_MAX; i++)
        r.ranges[i] = (struct zs_history_range){.gpu_va = address(in, near_va),
                                                .size_B = address(in, 0),
                                                .space = value(in) % 3,
                                                .access = value(in),
                                                .launch = value(in)};
    for (uint32_t i = 0; i < r.code_count && i < ZS_HISTORY_CODES_MAX; i++)
        r.codes[i] = near_va + i;
    m->head.size_B = sizeof(r) - (next(in) < 250 ? 0 : value(in) % sizeof(r));
    memcpy(m->data, &r, sizeof(r));
    return zs_wire_size_B(m);
}

/* Returns its size. */
static size_t make(struct input *in, uint32_t number, uint64_t near_va, struct zs_wire_message *m)
{
    memset(m, 0, ZS_WIRE_FIXED_B);
    uint32_t kind = next(in);
    if (kind > 200) { /* as it comes */
        size_t size_B = next(in) * (kind > 250 ? 160u : 1u);
        for (size_t i = 0; i < size_B && i < sizeof(*m); i++)
            ((uint8_t *)m)[i] = (uint8_t)next(in);
        return size_B < sizeof(*m) ? size_B : sizeof(*m);
    }
    m->head.kind = kind > 180 ? (uint32_t)ZS_WIRE_EVENT : kind % (ZS_WIRE_REQUEST_COUNT + 2);
    m->head.number = next(in) < 250 ? number : next(in);
    m->head.result = next(in) < 200 ? 0 : value(in);
    for (size_t at = sizeof(m->head); at < ZS_WIRE_FIXED_B; at += 4) {
        uint32_t v = value(in);
        memcpy((uint8_t *)m + at, &v, 4);
    }
    switch (m->head.kind) {
    case ZS_WIRE_HELLO:
        m->hello.magic = next(in) < 240 ? (uint32_t)ZS_WIRE_MAGIC : value(in);
        m->hello.version = next(in) < 240 ? (uint32_t)ZS_WIRE_VERSION : value(in);
        m->hello.device = (struct zs_wire_device){0x1912, 0, 0};
        break;
    case ZS_WIRE_READ_MEMORY:
    case ZS_WIRE_WRITE_MEMORY:
        m->memory.gpu_va = address(in, near_va);
        m->memory.space = next(in) % 3;
        break;
    case ZS_WIRE_EVENT:
        m->event.type = next(in) % 10;
        break;
    default:
        break;
    }
    if (m->head.kind == ZS_WIRE_HISTORY && next(in) < 250)
        return make_history(in, near_va, m);
    m->head.size_B = next(in) < 240 ? m->registers.size_B % 4096 : value(in);
    size_t size_B = m->head.size_B <= ZS_WIRE_DATA_B_MAX ? zs_wire_size_B(m) : ZS_WIRE_FIXED_B;
    for (size_t at = ZS_WIRE_FIXED_B; at < size_B; at++)
        ((uint8_t *)m)[at] = (uint8_t)at;
    return size_B;
}

static void must(bool ok)
{
    if (!ok)
        abort();
}

static ze_device_handle_t start(void)
{
    static ze_device_handle_t device;
    ze_driver_handle_t driver;
    uint32_t one = 1;
    if (device)
        return device;
    setenv("ZESCOPE_LOG", "off", 1);
#ifdef FUZZ_DEBUGGED
    setenv("ZET_ENABLE_PROGRAM_DEBUGGING", "1", 1);
#endif
    must(zeInit(0) == 0 && zeDriverGet(&one, &driver) == 0 &&
         zeDeviceGet(driver, &one, &device) == 0);
    return device;
}

static int own_socket(struct sockaddr_un *ret_address, socklen_t *ret_size_B)
{
    *ret_size_B = zs_wire_address((uint32_t)getpid(), NULL, ret_address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    must(fd >= 0);
    return fd;
}

#ifdef FUZZ_DEBUGGED
static int connect_here(void)
{
    struct sockaddr_un address_;
    socklen_t size_B;
    int fd = own_socket(&address_, &size_B);
    must(connect(fd, (const struct sockaddr *)&address_, size_B) == 0);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    static struct zs_wire_message m, reply;
    static uint8_t memory[4096];
    struct input in = {data, size_B};
    start();
    int fd = connect_here();
    for (uint32_t i = 1; in.left_B && i < MESSAGES_MAX; i++) {
        size_t message_B = make(&in, i, (uintptr_t)memory, &m);
        if (send(fd, &m, message_B, MSG_NOSIGNAL) < 0)
            break;
        while (recv(fd, &reply, sizeof(reply), MSG_DONTWAIT) > 0)
            ;
    }
    close(fd);
    /* it goes on: a debugger attaches as soon as that one is seen to be gone */
    for (bool served = false; !served;) {
        fd = connect_here();
        memset(&m, 0, ZS_WIRE_FIXED_B);
        m.hello = (struct zs_wire_hello){ZS_WIRE_MAGIC, ZS_WIRE_VERSION, {0x1912, 0, 0}};
        must(send(fd, &m, ZS_WIRE_FIXED_B, MSG_NOSIGNAL) >= 0);
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        must(poll(&wait, 1, REPLY_MS) == 1 && recv(fd, &reply, sizeof(reply), 0) > 0);
        served = reply.head.result == ZE_RESULT_SUCCESS;
        must(served || reply.head.result == ZE_RESULT_ERROR_NOT_AVAILABLE);
        close(fd);
    }
    return 0;
}
#else
struct process {
    struct input in;
    int listening;
};

/* Answers the hello, and from then on whatever the input says. */
static void *serve(void *arg)
{
    static struct zs_wire_message request, m;
    struct process *p = arg;
    int fd = accept(p->listening, NULL, NULL);
    must(fd >= 0);
    ssize_t got = recv(fd, &request, sizeof(request), 0);
    memset(&m, 0, ZS_WIRE_FIXED_B);
    m.head.number = request.head.number;
    if (got > 0)
        (void)send(fd, &m, ZS_WIRE_FIXED_B, MSG_NOSIGNAL);
    uint32_t number = request.head.number;
    for (int i = 0; p->in.left_B && i < MESSAGES_MAX; i++) {
        if (recv(fd, &request, sizeof(request), MSG_DONTWAIT) > 0)
            number = request.head.number;
        size_t message_B = make(&p->in, number + (uint32_t)(i % 2), 0x10000, &m);
        if (send(fd, &m, message_B, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;
    }
    close(fd);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct process p = {.in = {data, size_B}};
    ze_device_handle_t device = start();
    struct sockaddr_un address_;
    socklen_t address_B;
    p.listening = own_socket(&address_, &address_B);
    must(bind(p.listening, (const struct sockaddr *)&address_, address_B) == 0 &&
         listen(p.listening, 1) == 0);
    pthread_t thread;
    must(pthread_create(&thread, NULL, serve, &p) == 0);
    const zet_debug_config_t config = {.pid = (uint32_t)getpid()};
    const ze_device_thread_t all = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const zet_debug_memory_space_desc_t space = {.address = 0x1000};
    zet_debug_session_handle_t session = NULL;
    static uint8_t bytes[100000];
    must(zetDebugAttach(device, &config, &session) == 0);
    for (int i = 0; i < 8; i++) {
        zet_debug_event_t event;
        if (zetDebugReadEvent(session, 1, &event) == ZE_RESULT_SUCCESS)
            (void)zetDebugAcknowledgeEvent(session, &event);
        (void)zetDebugInterrupt(session, all);
        (void)zetDebugReadMemory(session, all, &space, sizeof(bytes), bytes);
        (void)zetDebugReadRegisters(session, all, 1, 0, 128, bytes);
    }
    must(zetDebugDetach(session) == 0);
    pthread_join(thread, NULL);
    close(p.listening);
    return 0;
}
#endif
