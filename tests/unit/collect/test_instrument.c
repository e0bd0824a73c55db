/* SPDX-License-Identifier: MIT */
/* The recorder's half of instrumentation against a driver and a helper that are played by this
 * file: traces that cannot be emptied, and rooms for records. */
#include "../test.h"

#include "base/file.h"
#include "base/socket.h"
#include "collect/instrument.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { UNIT_B = 32, PLACES_AT_B = 64, RECORDS_AT_B = 128, ROOM_B = 4096 };
/* Rooms are a part of what is asked for, so that they are small. */
enum { PART = 1024 };
enum { QUARTER = ROOM_B / UNIT_B / 4, BUILD = 7 };
#define HEAD     UINT64_C(0x5a530001) /* of a record of one unit */
#define TIMES_MS 60000

/* ---- driver ---- */

static struct zs_collector *collector; /* of the driver's calls */
static size_t memory_limit_B;
static uint64_t rooms_in_create_B;
static bool was_due_in_free, is_refused;
static int frees;

static ze_result_t allocate(size_t size_B, void **ret_memory)
{
    size_t rounded_B = (size_B + 4095) / 4096 * 4096;
    if (size_B > memory_limit_B || !(*ret_memory = aligned_alloc(4096, rounded_B)))
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    memset(*ret_memory, 0xcd, rounded_B);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_shared(ze_context_handle_t context,
                               const ze_device_mem_alloc_desc_t *device_desc,
                               const ze_host_mem_alloc_desc_t *host_desc, size_t size_B,
                               size_t align_B, ze_device_handle_t device, void **ret_memory)
{
    return allocate(size_B, ret_memory);
}

static ze_result_t fake_host(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc,
                             size_t size_B, size_t align_B, void **ret_memory)
{
    return allocate(size_B, ret_memory);
}

static ze_result_t fake_free(ze_context_handle_t context, void *memory)
{
    was_due_in_free |= zs_instrument_is_due(collector);
    frees++;
    free(memory);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_access(ze_device_handle_t device,
                               ze_device_memory_access_properties_t *properties)
{
    properties->sharedSingleDeviceAllocCapabilities =
        ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_binary(ze_module_handle_t module, size_t *size_B, uint8_t *data)
{
    if (data)
        *data = 1;
    *size_B = 1;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_debug(ze_module_handle_t module, zet_module_debug_info_format_t format,
                              size_t *size_B, uint8_t *data)
{
    *size_B = 0;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t fake_create(ze_context_handle_t context, ze_device_handle_t device,
                               const ze_module_desc_t *desc, ze_module_handle_t *ret_module,
                               ze_module_build_log_handle_t *log)
{
    static uintptr_t last = 0x1000;
    rooms_in_create_B = atomic_load(&collector->instrument_rooms_B);
    *ret_module = (ze_module_handle_t)++last;
    return is_refused ? ZE_RESULT_ERROR_INVALID_NATIVE_BINARY : ZE_RESULT_SUCCESS;
}

static ze_result_t fake_destroy(ze_module_handle_t module)
{
    return ZE_RESULT_SUCCESS;
}

/* ---- a collector ---- */

struct fixture {
    struct fixture *before;
    char dir[64], socket[100];
    struct zs_collector collector;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    snprintf(f->dir, sizeof(f->dir), "/tmp/zs-instrument-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(zs_collector_init(&f->collector, f->dir, false), 0);
    f->collector.api = (struct zs_collect_api){
        .zeModuleCreate = fake_create,
        .zeModuleDestroy = fake_destroy,
        .zeModuleGetNativeBinary = fake_binary,
        .zetModuleGetDebugInfo = fake_debug,
        .zeDeviceGetMemoryAccessProperties = fake_access,
        .zeMemAllocShared = fake_shared,
        .zeMemAllocHost = fake_host,
        .zeMemFree = fake_free,
    };
    atomic_store(&f->collector.instrument_watcher, getpid()); /* nobody looks but the tests */
    collector = &f->collector;
    memory_limit_B = SIZE_MAX;
    was_due_in_free = is_refused = false;
    frees = 0;
    signal(SIGXFSZ, SIG_IGN);
    *state = f;
    return 0;
}

/* What is in memory stays reachable for the leak checker: buffers of a process live as long as it.
 */
static int tear_down(void **state)
{
    static struct fixture *last;
    struct fixture *f = *state;
    char command[256];
    snprintf(command, sizeof(command), "rm -rf %s", f->dir);
    assert_int_equal(system(command), 0);
    f->before = last;
    last = f;
    return 0;
}

static struct zs_instrument_answer layout(uint64_t room_B)
{
    return (struct zs_instrument_answer){.buffer_B = RECORDS_AT_B + room_B + 64,
                                         .counter_count = 1,
                                         .trace_offset_B = PLACES_AT_B,
                                         .records_offset_B = RECORDS_AT_B,
                                         .records_size_B = room_B};
}

static ze_module_handle_t handle(uintptr_t number)
{
    return (ze_module_handle_t)number;
}

/* A buffer that is in use. */
static uint64_t *keep(struct fixture *f, uintptr_t module)
{
    struct zs_instrument_answer answer = layout(ROOM_B);
    void *memory = NULL;
    assert_int_equal(allocate((size_t)answer.buffer_B, &memory), 0);
    memset(memory, 0, (size_t)answer.buffer_B);
    const struct zs_instrument_place_of place = {.module = handle(module),
                                                 .memory = memory,
                                                 .sharing =
                                                     ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT |
                                                     ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC,
                                                 .build = BUILD};
    assert_true(zs_instrument_keep(&f->collector, &place, &answer));
    assert_true(zs_instrument_is_of(&f->collector, BUILD));
    assert_false(zs_instrument_is_of(&f->collector, BUILD + 1));
    return memory;
}

/* What threads do: take places, then write records, but the one at a hole. */
static void run(uint64_t *memory, uint64_t units, uint64_t hole)
{
    uint64_t first = memory[PLACES_AT_B / 8];
    memory[PLACES_AT_B / 8] += units;
    for (uint64_t i = first; i < first + units && i < ROOM_B / UNIT_B; i++)
        if (i != hole)
            memory[(RECORDS_AT_B + i * UNIT_B) / 8] = HEAD;
}

static bool is_filling(struct fixture *f)
{
    atomic_store(&f->collector.instrument_pause, UINT64_MAX);
    return zs_instrument_is_due(&f->collector);
}

static void look(struct fixture *f)
{
    zs_instrument_synchronized(&f->collector);
}

/* Looks rest, and do not for ever. */
static void look_until_empty(struct fixture *f, const uint64_t *memory)
{
    const struct timespec tick = {.tv_nsec = 1000000};
    for (int i = 0; memory[PLACES_AT_B / 8] && i < TIMES_MS; i++) {
        look(f);
        nanosleep(&tick, NULL);
    }
    assert_int_equal(memory[PLACES_AT_B / 8], 0);
}

/* The module ends: its file says so many units of records are there. */
static void end(struct fixture *f, uintptr_t module, unsigned file, uint64_t units, uint64_t lost)
{
    char path[200];
    struct zs_file data;
    struct zs_instrument_file head;
    uint64_t there;
    zs_instrument_module_ends(&f->collector, handle(module));
    snprintf(path, sizeof(path), "%s/" ZS_INSTRUMENT_DIR "/%d-0-%u.data", f->dir, (int)getpid(),
             file);
    assert_int_equal(zs_file_read(path, 0, &data, NULL), 0);
    assert_true(data.span.size_B >= sizeof(head) + RECORDS_AT_B + units * UNIT_B);
    memcpy(&head, data.span.data, sizeof(head));
    memcpy(&there, data.span.data + sizeof(head) + PLACES_AT_B, sizeof(there));
    assert_int_equal(head.is_final, 1);
    assert_int_equal(head.lost_units, lost);
    assert_int_equal(there, units);
    for (uint64_t i = 0; i < units; i++) {
        uint64_t word;
        memcpy(&word, data.span.data + sizeof(head) + RECORDS_AT_B + i * UNIT_B, sizeof(word));
        assert_int_equal(word, HEAD);
    }
    zs_file_close(&data);
}

/* ---- traces ---- */

static void test_file_that_cannot_grow(void **state)
{
    struct fixture *f = *state;
    struct rlimit old, little;
    uint64_t *memory = keep(f, 1);
    assert_false(is_filling(f));
    run(memory, QUARTER, UINT64_MAX);
    assert_true(is_filling(f));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    little = (struct rlimit){.rlim_cur = 600, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    look(f);
    bool was_filling = is_filling(f);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_false(was_filling);
    assert_int_equal(memory[PLACES_AT_B / 8], QUARTER);
    look_until_empty(f, memory);
    run(memory, QUARTER, UINT64_MAX);
    assert_true(is_filling(f));
    end(f, 1, 0, 2 * QUARTER, 0);
}

static void test_record_that_is_not_whole(void **state)
{
    struct fixture *f = *state;
    uint64_t *memory = keep(f, 1);
    run(memory, QUARTER, 5);
    assert_true(is_filling(f)); /* nobody has looked */
    look(f);
    assert_false(is_filling(f));
    run(memory, QUARTER, UINT64_MAX);
    assert_false(is_filling(f));
    look(f);
    assert_false(is_filling(f));
    memory[(RECORDS_AT_B + 5 * UNIT_B) / 8] = HEAD;
    assert_true(is_filling(f));
    look(f); /* does not rest */
    assert_int_equal(memory[PLACES_AT_B / 8], 0);
    for (size_t i = RECORDS_AT_B / 8; i < (RECORDS_AT_B + ROOM_B) / 8; i++)
        assert_int_equal(memory[i], 0);
    assert_false(is_filling(f));
    end(f, 1, 0, 2 * QUARTER, 0);
}

/* Whoever asks as a buffer ends is not told to wait for it. */
static void test_buffers_that_are_over(void **state)
{
    struct fixture *f = *state;
    enum { COUNT = 5 };
    uint64_t *memory[COUNT];
    for (uintptr_t i = 0; i < COUNT; i++)
        memory[i] = keep(f, 1 + i);
    for (uintptr_t i = 0; i < COUNT; i += 2) {
        run(memory[i], QUARTER, UINT64_MAX);
        assert_true(is_filling(f));
        end(f, 1 + i, (unsigned)(i / 2), QUARTER, 0);
        assert_false(is_filling(f));
    }
    assert_false(was_due_in_free);
    assert_int_equal(frees, 3);
    assert_int_equal(atomic_load(&f->collector.instrument_rooms_B), 2 * ROOM_B);
    for (uintptr_t i = 1; i < COUNT; i += 2) {
        run(memory[i], QUARTER, UINT64_MAX);
        assert_true(is_filling(f));
        look(f);
        assert_int_equal(memory[i][PLACES_AT_B / 8], 0);
    }
    uint64_t *later = keep(f, 20);
    run(later, 2, UINT64_MAX);
    zs_instrument_context_ends(&f->collector, (ze_context_handle_t)(uintptr_t)1);
    assert_int_equal(frees, 3);
    end(f, 20, 5, 2, 0);
    end(f, 4, 4, QUARTER, 0);
    end(f, 2, 3, QUARTER, 0);
    assert_int_equal(frees, COUNT + 1);
    assert_int_equal(atomic_load(&f->collector.instrument_rooms_B), 0);
    assert_int_equal(atomic_load(&f->collector.instrument_traces), 0);
}

/* ---- rooms ---- */

/* Up to the last one that is whole. */
static void test_what_is_kept(void **state)
{
    enum { LEFT = ROOM_B / UNIT_B - QUARTER + 2 };
    struct fixture *f = *state;
    f->collector.instrument_records_limit_B = ROOM_B + 2 * UNIT_B + 1;
    uint64_t *memory = keep(f, 1);
    run(memory, QUARTER, UINT64_MAX);
    assert_true(is_filling(f));
    look(f);
    assert_int_equal(memory[PLACES_AT_B / 8], 0);
    /* all that is kept has room: nobody hurries */
    run(memory, LEFT, UINT64_MAX);
    assert_false(is_filling(f));
    run(memory, 3, UINT64_MAX);
    look(f);
    assert_int_equal(memory[PLACES_AT_B / 8], LEFT + 3);
    assert_false(is_filling(f));
    end(f, 1, 0, QUARTER + LEFT, 3);
    /* nor where nothing of the room is too much */
    f->collector.instrument_records_limit_B = ROOM_B / 2;
    memory = keep(f, 2);
    run(memory, ROOM_B / UNIT_B + 3, UINT64_MAX);
    assert_false(is_filling(f));
    end(f, 2, 1, ROOM_B / UNIT_B / 2, ROOM_B / UNIT_B / 2 + 3);
}

struct helper {
    int fd;
    int asks;
    uint64_t trace_B[2]; /* that were asked for */
    bool is_broken;      /* nothing is asserted in its thread */
};

static void answer(struct helper *h, int fd)
{
    struct zs_instrument_ask ask;
    struct zs_instrument_place place;
    struct zs_instrument_module module = {.size_B = 1};
    uint8_t byte = 0;
    h->is_broken |=
        zs_socket_receive(fd, &ask, sizeof(ask)) || zs_socket_receive(fd, &byte, 1) || h->asks == 2;
    if (h->is_broken)
        return;
    h->trace_B[h->asks++] = ask.trace_B;
    struct zs_instrument_answer a = layout(ask.trace_B / PART / UNIT_B * UNIT_B);
    h->is_broken |= zs_socket_send(fd, &a, sizeof(a));
    if (zs_socket_receive(fd, &place, sizeof(place)))
        return;
    h->is_broken |= zs_socket_send(fd, &module, sizeof(module)) || zs_socket_send(fd, &byte, 1);
}

static void *help(void *helper)
{
    struct helper *h = helper;
    for (int fd; (fd = accept(h->fd, NULL, NULL)) >= 0; close(fd))
        answer(h, fd);
    return NULL;
}

/* A module as it is created: whether it is instrumented, and what the helper was asked for. */
static struct helper create(struct fixture *f, ze_module_handle_t *ret_module)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct helper h = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    pthread_t thread;
    snprintf(f->socket, sizeof(f->socket), "%s/socket", f->dir);
    unlink(f->socket);
    memcpy(address.sun_path, f->socket, strlen(f->socket) + 1);
    assert_int_equal(bind(h.fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(h.fd, 4), 0);
    assert_int_equal(pthread_create(&thread, NULL, help, &h), 0);
    f->collector.instrument_socket = f->socket;
    f->collector.instrument_limit_s = 60;
    ze_context_handle_t context = NULL;
    ze_device_handle_t device = NULL;
    const ze_module_desc_t *desc = NULL;
    ze_module_handle_t *module_at = NULL;
    ze_module_build_log_handle_t *log_at = NULL;
    const ze_module_create_params_t params = {&context, &device, &desc, &module_at, &log_at};
    *ret_module = zs_instrument_module(&f->collector, BUILD, &params, handle(1));
    shutdown(h.fd, SHUT_RDWR);
    pthread_join(thread, NULL);
    close(h.fd);
    assert_false(h.is_broken);
    return h;
}

static uint64_t device_memory_B;

static ze_result_t fake_memory(ze_device_handle_t device, uint32_t *count,
                               ze_device_memory_properties_t *properties)
{
    *count = 1;
    properties->totalSize = device_memory_B;
    return ZE_RESULT_SUCCESS;
}

/* What is asked for a module that gets it. */
static uint64_t asked(struct fixture *f)
{
    ze_module_handle_t module;
    uint64_t others_B = atomic_load(&f->collector.instrument_rooms_B);
    struct helper h = create(f, &module);
    assert_non_null(module);
    assert_int_equal(h.asks, 1);
    assert_int_equal(rooms_in_create_B, others_B + h.trace_B[0]); /* others see it meanwhile */
    assert_int_equal(atomic_load(&f->collector.instrument_rooms_B),
                     others_B + h.trace_B[0] / PART / UNIT_B * UNIT_B);
    zs_instrument_module_ends(&f->collector, module);
    assert_int_equal(atomic_load(&f->collector.instrument_rooms_B), others_B);
    return h.trace_B[0];
}

static void test_rooms_that_cannot_be_had(void **state)
{
    enum { LEAST_B = ZS_INSTRUMENT_ROOM_LEAST_B, MUCH_B = 4 * LEAST_B };
    struct fixture *f = *state;
    struct zs_collector *c = &f->collector;
    ze_module_handle_t module;
    for (int is_set = 0; is_set < 2; is_set++) {
        atomic_store(&c->instrument_trace_B, is_set ? MUCH_B : 0);
        memory_limit_B = MUCH_B / PART / 2;
        struct helper h = create(f, &module);
        assert_non_null(module);
        assert_int_equal(h.asks, 2);
        assert_int_equal(h.trace_B[0], is_set ? MUCH_B : ZS_INSTRUMENT_RECORDS_LIMIT_B);
        assert_int_equal(h.trace_B[1], LEAST_B);
        assert_int_equal(atomic_load(&c->instrument_trace_B), is_set ? MUCH_B : LEAST_B);
        assert_int_equal(atomic_load(&c->instrument_rooms_B), LEAST_B / PART);
        zs_instrument_module_ends(c, module);
    }
    /* nor is there memory for less */
    memory_limit_B = 1;
    assert_int_equal(create(f, &module).asks, 2);
    assert_null(module);
    atomic_store(&c->instrument_trace_B, LEAST_B / 2);
    assert_int_equal(create(f, &module).asks, 1);
    assert_null(module);
    /* nor does the driver take it: all that was taken for such modules was given back */
    memory_limit_B = SIZE_MAX;
    is_refused = true;
    assert_int_equal(create(f, &module).asks, 1);
    assert_null(module);
    assert_int_equal(atomic_load(&c->instrument_rooms_B), 0);
    /* the helper is gone */
    const ze_module_create_params_t params = {.phContext = &(ze_context_handle_t){NULL},
                                              .phDevice = &(ze_device_handle_t){NULL}};
    assert_null(zs_instrument_module(c, BUILD, &params, handle(1)));
    assert_int_equal(atomic_load(&c->instrument_rooms_B), 0);
}

/* Modules that are on their way at the same time. */
static void *take_room(void *arg)
{
    return (void *)(uintptr_t)zs_instrument_take_room_B(arg, UINT64_MAX);
}

static void test_rooms_at_the_same_time(void **state)
{
    enum { LEAST_B = ZS_INSTRUMENT_ROOM_LEAST_B, COUNT = 16 };
    struct fixture *f = *state;
    pthread_t threads[COUNT];
    uint64_t sum_B = 0;
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_room, &f->collector), 0);
    for (int i = 0; i < COUNT; i++) {
        void *room;
        assert_int_equal(pthread_join(threads[i], &room), 0);
        assert_in_range((uintptr_t)room, LEAST_B, ZS_INSTRUMENT_RECORDS_LIMIT_B);
        sum_B += (uintptr_t)room;
    }
    assert_int_equal(atomic_load(&f->collector.instrument_rooms_B), sum_B);
    assert_in_range(sum_B, ZS_INSTRUMENT_ROOMS_B / 2,
                    ZS_INSTRUMENT_ROOMS_B + (uint64_t)COUNT * LEAST_B);
    zs_instrument_give_room(&f->collector, sum_B);
    assert_int_equal(atomic_load(&f->collector.instrument_rooms_B), 0);
}

/* A child of fork() has none of its parent's: what it makes has as much room, and what it ends is
 * nothing of theirs. */
static void test_rooms_of_a_child(void **state)
{
    struct fixture *f = *state;
    keep(f, 1);
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        zs_instrument_forked(&f->collector);
        bool ok = !atomic_load(&f->collector.instrument_traces) &&
                  !atomic_load(&f->collector.instrument_rooms_B);
        zs_instrument_module_ends(&f->collector, handle(1));
        ok &= !atomic_load(&f->collector.instrument_traces) &&
              !atomic_load(&f->collector.instrument_rooms_B);
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(atomic_load(&f->collector.instrument_rooms_B), ROOM_B);
    zs_instrument_module_ends(&f->collector, handle(1));
    assert_int_equal(atomic_load(&f->collector.instrument_rooms_B), 0);
}

static void test_rooms_of_many(void **state)
{
    enum { LEAST_B = ZS_INSTRUMENT_ROOM_LEAST_B, MUCH_B = 4 * LEAST_B };
    struct fixture *f = *state;
    struct zs_collector *c = &f->collector;
    assert_int_equal(asked(f), ZS_INSTRUMENT_RECORDS_LIMIT_B);
    /* half of what is left for all of them */
    static const uint64_t left_B[][2] = {
        {2 * MUCH_B, MUCH_B}, {2 * LEAST_B + 2, LEAST_B + 1}, {LEAST_B, LEAST_B}, {0, LEAST_B}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(left_B); i++) {
        atomic_store(&c->instrument_rooms_B, ZS_INSTRUMENT_ROOMS_B - left_B[i][0]);
        assert_int_equal(asked(f), left_B[i][1]);
    }
    atomic_store(&c->instrument_rooms_B, UINT64_C(2) * ZS_INSTRUMENT_ROOMS_B);
    assert_int_equal(asked(f), LEAST_B);
    atomic_store(&c->instrument_rooms_B, 0);
    /* a part of the device's memory */
    c->api.zeDeviceGetMemoryProperties = fake_memory;
    static const uint64_t memory_B[][2] = {
        {UINT64_C(16) * MUCH_B, MUCH_B}, {LEAST_B, LEAST_B}, {0, ZS_INSTRUMENT_RECORDS_LIMIT_B}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(memory_B); i++) {
        device_memory_B = memory_B[i][0];
        assert_int_equal(asked(f), memory_B[i][1]);
    }
    device_memory_B = UINT64_C(16) * MUCH_B;
    atomic_store(&c->instrument_rooms_B, MUCH_B);
    assert_int_equal(asked(f), MUCH_B / 2);
    atomic_store(&c->instrument_rooms_B, 0);
    device_memory_B = 0;
    /* twice as much for all of them where more is kept, but no room is larger than this */
    static const uint64_t limit_B[][2] = {
        {ZS_INSTRUMENT_ROOM_MOST_B - MUCH_B, ZS_INSTRUMENT_ROOM_MOST_B - MUCH_B},
        {ZS_INSTRUMENT_RECORDS_MOST_B, ZS_INSTRUMENT_ROOM_MOST_B}};
    for (size_t i = 0; i < ZS_ARRAY_LEN(limit_B); i++) {
        c->instrument_records_limit_B = limit_B[i][0];
        assert_int_equal(asked(f), limit_B[i][1]);
    }
    /* what was asked for, but no more than is kept */
    c->instrument_records_limit_B = LEAST_B / 2;
    assert_int_equal(asked(f), LEAST_B / 2);
    for (uint64_t room_B = LEAST_B / 4; room_B <= LEAST_B; room_B *= 2) {
        atomic_store(&c->instrument_trace_B, room_B);
        assert_int_equal(asked(f), room_B == LEAST_B / 4 ? room_B : LEAST_B / 2);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_file_that_cannot_grow),    CASE(test_record_that_is_not_whole),
        CASE(test_buffers_that_are_over),    CASE(test_what_is_kept),
        CASE(test_rooms_that_cannot_be_had), CASE(test_rooms_of_many),
        CASE(test_rooms_at_the_same_time),   CASE(test_rooms_of_a_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
