/* SPDX-License-Identifier: MIT */
/*
 * With ZS_TEST_GOES_BACK launches of the runner are recorded, and a debugger takes them back to
 * their beginning when their last group starts: all memory must be then as it was before the
 * launch. It goes on from there, and the test finds what it always finds.
 */
#ifndef ZS_TESTS_GOES_BACK_H
#define ZS_TESTS_GOES_BACK_H

#include "../test.h"

#include "gpu/debug/history.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BACK_ALLOCATIONS_MAX = 256, BACK_IP_B = 64 };
static const uint64_t BACK_BASE_VA = 0x7a0000000000;

struct goes_back {
    bool on;
    struct zs_gpu_debug *debug;
    struct zs_gpu_debug_card *card;
    struct zs_gpu_debug_session *session;
    struct zs_gpu_debug_code *code;
    struct {
        uint8_t *data, *before;
        size_t size_B;
    } allocations[BACK_ALLOCATIONS_MAX];
    uint32_t allocation_count;
    uint64_t last; /* stops until the last group's first one */
    atomic_uint_fast64_t stops;
    atomic_bool ended;
    pthread_mutex_t lock; /* of: */
    struct zs_gpu_hw_thread stopped[1024];
    uint32_t stopped_count;
    uint64_t went, differing;
};

static void back_sink(void *ctx, const struct zs_gpu_debug_event *event)
{
    struct goes_back *b = ctx;
    pthread_mutex_lock(&b->lock);
    if (event->kind == ZS_GPU_DEBUG_STOPPED && b->stopped_count < 1024)
        b->stopped[b->stopped_count++] = event->thread;
    pthread_mutex_unlock(&b->lock);
}

static struct zs_history_answer back_ask(struct goes_back *b, struct zs_history_request *request)
{
    struct zs_history_answer answer;
    request->magic = ZS_HISTORY_MAGIC;
    request->version = ZS_HISTORY_VERSION;
    answer.error = zs_gpu_history_request(b->session, request, &answer);
    return answer;
}

static void back_breakpoint(struct goes_back *b, bool on)
{
    uint32_t word;
    zs_gpu_debug_code_read(b->debug, BACK_BASE_VA + BACK_IP_B, &word, sizeof(word));
    uint32_t bit = word >> 29 & 1 ? 1u << 7 : 1u << 30;
    word = on ? word | bit : word & ~bit;
    zs_gpu_debug_code_write(b->debug, BACK_BASE_VA + BACK_IP_B, &word, sizeof(word));
}

/* To the beginning, once all threads that are there are held: some may wait for those that are. */
static void back_go(struct goes_back *b, struct zs_gpu_hw_thread t)
{
    struct zs_history_request go = {.op = ZS_HISTORY_GO,
                                    .thread = {t.slice, t.subslice, t.eu, t.thread}};
    static const struct zs_gpu_hw_thread all = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct zs_history_answer answer;
    zs_gpu_debug_interrupt(b->session, &all);
    while ((answer = back_ask(b, &go)).error == -EBUSY) {
        zs_gpu_debug_poll(b->session);
        usleep(200);
    }
    if (answer.error)
        return;
    struct zs_history_request status = {.op = ZS_HISTORY_STATUS, .thread = go.thread};
    do
        usleep(200);
    while ((answer = back_ask(b, &status)).flags & ZS_HISTORY_BUSY);
    b->went++;
    for (uint32_t i = 0; i < b->allocation_count; i++)
        b->differing +=
            memcmp(b->allocations[i].data, b->allocations[i].before, b->allocations[i].size_B) != 0;
}

static void *back_debugger(void *arg)
{
    static const struct zs_gpu_hw_thread all = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    struct goes_back *b = arg;
    while (!atomic_load(&b->ended)) {
        struct zs_gpu_hw_thread t = {0};
        pthread_mutex_lock(&b->lock);
        bool any = b->stopped_count > 0;
        if (any)
            t = b->stopped[--b->stopped_count];
        pthread_mutex_unlock(&b->lock);
        if (!any) {
            usleep(100);
            continue;
        }
        if (atomic_fetch_add(&b->stops, 1) + 1 != b->last) {
            zs_gpu_debug_resume(b->session, &t, NULL, NULL);
            continue;
        }
        back_breakpoint(b, false);
        back_go(b, t);
        zs_gpu_debug_resume(b->session, &all, NULL, NULL);
    }
    return NULL;
}

/* ---- the runner ---- */

static inline void back_open(struct goes_back *b, struct zs_gpu_device *device,
                             const struct zs_gpu_model *model)
{
    *b = (struct goes_back){.on = getenv("ZS_TEST_GOES_BACK") != NULL};
    if (!b->on)
        return;
    pthread_mutex_init(&b->lock, NULL);
    assert_int_equal(zs_gpu_debug_create(&b->debug), 0);
    assert_int_equal(zs_gpu_debug_card_add(b->debug, model, model->slices, &b->card), 0);
    zs_gpu_device_debug(device, b->card, 0);
}

/* What is launched is `code`. */
static inline void back_code(struct goes_back *b, struct zs_span code)
{
    if (!b->on)
        return;
    zs_gpu_debug_code_remove(b->debug, b->code);
    assert_int_equal(zs_gpu_debug_code_add(b->debug, BACK_BASE_VA + BACK_IP_B, code, &b->code), 0);
}

static inline void back_memory(struct goes_back *b, void *data, size_t size_B)
{
    if (!b->on)
        return;
    assert_true(b->allocation_count < BACK_ALLOCATIONS_MAX);
    b->allocations[b->allocation_count].data = data;
    b->allocations[b->allocation_count++].size_B = size_B;
}

static inline void back_freed(struct goes_back *b, const void *data)
{
    for (uint32_t i = 0; i < b->allocation_count; i++) {
        if (b->allocations[i].data == data)
            b->allocations[i--] = b->allocations[--b->allocation_count];
    }
}

static inline int back_launch(struct goes_back *b, struct zs_gpu_device *device,
                              const struct zs_gpu_launch *launch, struct zs_gpu_result *ret_result)
{
    if (!b->on || launch->time_limit_ns || launch->cancel) /* limits do not count in a debugger */
        return zs_gpu_launch_run(device, launch, ret_result);
    uint64_t groups = 1, items = 1;
    for (uint32_t i = 0; i < 3; i++) {
        groups *= launch->group_count[i];
        items *= launch->group_size[i];
    }
    uint32_t simd = zs_gpu_kernel_simd(launch->kernel);
    b->last = (groups - (groups > 0)) * ((items + simd - 1) / simd) + 1;
    b->stops = 0;
    b->stopped_count = 0;
    b->ended = false;
    b->went = b->differing = 0;
    for (uint32_t i = 0; i < b->allocation_count; i++) {
        b->allocations[i].before = malloc(b->allocations[i].size_B);
        memcpy(b->allocations[i].before, b->allocations[i].data, b->allocations[i].size_B);
    }
    struct zs_history_request mode = {.op = ZS_HISTORY_MODE, .mode = ZS_HISTORY_ON};
    pthread_t thread;
    assert_int_equal(zs_gpu_debug_attach(b->card, 0, UINT32_C(1), back_sink, b, &b->session), 0);
    assert_int_equal(back_ask(b, &mode).error, 0);
    back_breakpoint(b, true);
    assert_int_equal(pthread_create(&thread, NULL, back_debugger, b), 0);
    int error = zs_gpu_launch_run(device, launch, ret_result);
    b->ended = true;
    pthread_join(thread, NULL);
    zs_gpu_debug_detach(b->session);
    for (uint32_t i = 0; i < b->allocation_count; i++)
        free(b->allocations[i].before);
    assert_int_equal(b->differing, 0);
    if (!error && groups && items)
        assert_int_equal(b->went, 1);
    return error;
}

#endif
