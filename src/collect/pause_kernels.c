/* SPDX-License-Identifier: MIT */
#include "collect/pause_kernels.h"

#include "api_calls.h"
#include "base/filter.h"
#include "base/id_map.h"
#include "collect/collect.h"
#include "collect/launches.h"
#include "store/store.h"

#include <pthread.h>
#include <stdlib.h>

enum thing { KERNEL, LIST };
/* Of a list that is executed: it is known, with or without kernels that matter. */
enum { KNOWN_BIT = 4 };

static struct {
    bool has_start, has_stop;
    struct zs_filter start, stop;
    pthread_mutex_t lock;
    struct zs_id_map bits; /* (handle, enum thing) -> bits: kernels that matter, lists that are
                              executed, which immediate ones are not */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define ARG(type, i)    (*(type *)event->params[i])
#define RESULT(type, i) (*ARG(type *, i))

static bool compile(const char *name, struct zs_filter *ret_filter)
{
    const char *text = getenv(name);
    return text && text[0] && !zs_filter_compile(ret_filter, &text, 1, NULL);
}

bool zs_pause_kernels_init(void)
{
    state.has_start = compile(ZS_ENV_COLLECT_START_KERNEL, &state.start);
    state.has_stop = compile(ZS_ENV_COLLECT_STOP_KERNEL, &state.stop);
    return state.has_start || state.has_stop;
}

/* What another thread of the parent was changing is not whole, and is left behind. */
void zs_pause_kernels_fork_child(void)
{
    if (pthread_mutex_trylock(&state.lock))
        state.bits = (struct zs_id_map){0};
    pthread_mutex_init(&state.lock, NULL);
}

/* --- what is known; with the lock --- */

static unsigned bits_of(enum thing thing, const void *handle)
{
    return (unsigned)(uintptr_t)zs_id_map_get(&state.bits, (uintptr_t)handle, thing);
}

/* Without memory the thing is not known. */
static void set_bits(enum thing thing, const void *handle, unsigned bits)
{
    if (!bits || zs_id_map_put(&state.bits, (uintptr_t)handle, thing, (void *)(uintptr_t)bits))
        zs_id_map_remove(&state.bits, (uintptr_t)handle, thing);
}

static unsigned bits_of_all(enum thing thing, const void *const *handles, uint32_t count)
{
    unsigned bits = 0;
    for (uint32_t i = 0; handles && i < count; i++)
        bits |= bits_of(thing, handles[i]);
    return bits;
}

/* --- calls --- */

static unsigned bits_of_name(const char *name)
{
    unsigned bits = 0;
    if (name && state.has_start && zs_launches_name_matches(&state.start, name))
        bits |= ZS_PAUSE_KERNEL_START;
    if (name && state.has_stop && zs_launches_name_matches(&state.stop, name))
        bits |= ZS_PAUSE_KERNEL_STOP;
    return bits;
}

/* Kernels that a call appends to the list which is its first parameter; NULL: none. */
static const void *const *appended(const struct zs_trace_event *event, uint32_t *ret_count)
{
    *ret_count = 1;
    switch (event->call) {
    case ZS_API_zeCommandListAppendLaunchKernel:
    case ZS_API_zeCommandListAppendLaunchCooperativeKernel:
    case ZS_API_zeCommandListAppendLaunchKernelIndirect:
    case ZS_API_zeCommandListAppendLaunchKernelWithParameters:
    case ZS_API_zeCommandListAppendLaunchKernelWithArguments:
        return &ARG(const void *, 1);
    case ZS_API_zeCommandListAppendLaunchMultipleKernelsIndirect:
        *ret_count = ARG(uint32_t, 1);
        return ARG(const void *const *, 2);
    default:
        return NULL;
    }
}

/* Lists that a call executes; NULL: none. */
static const void *const *executed(const struct zs_trace_event *event, uint32_t *ret_count)
{
    switch (event->call) {
    case ZS_API_zeCommandQueueExecuteCommandLists:
    case ZS_API_zeCommandListImmediateAppendCommandListsExp:
    case ZS_API_zeCommandListImmediateAppendCommandListsWithParameters:
        *ret_count = ARG(uint32_t, 1);
        return ARG(const void *const *, 2);
    default:
        return NULL;
    }
}

/* Before the call: what is destroyed may be created anew by another thread before it returns. */
static void follow_enter(const struct zs_trace_event *event)
{
    const void *handle = ARG(const void *, 0);
    if (event->call == ZS_API_zeKernelDestroy)
        set_bits(KERNEL, handle, 0);
    else if (event->call == ZS_API_zeCommandListDestroy)
        set_bits(LIST, handle, 0);
    else
        set_bits(LIST, handle, bits_of(LIST, handle) & KNOWN_BIT);
}

static void follow_exit(const struct zs_trace_event *event)
{
    const void *handle = ARG(const void *, 0);
    const void *const *kernels;
    uint32_t count;
    switch (event->call) {
    case ZS_API_zeKernelCreate:
        set_bits(KERNEL, RESULT(const void *, 2),
                 bits_of_name(ARG(const ze_kernel_desc_t *, 1)->pKernelName));
        return;
    case ZS_API_zeCommandListCreate:
        set_bits(LIST, RESULT(const void *, 3), KNOWN_BIT);
        return;
    case ZS_API_zeCommandListCreateImmediate:
        set_bits(LIST, RESULT(const void *, 3), 0);
        return;
    case ZS_API_zeCommandListCreateCloneExp:
        set_bits(LIST, RESULT(const void *, 1), bits_of(LIST, handle));
        return;
    default:
        kernels = appended(event, &count);
        if (bits_of(LIST, handle))
            set_bits(LIST, handle, bits_of(LIST, handle) | bits_of_all(KERNEL, kernels, count));
    }
}

static bool is_followed(const struct zs_trace_event *event)
{
    uint32_t count;
    switch (event->call) {
    case ZS_API_zeKernelDestroy:
    case ZS_API_zeCommandListDestroy:
    case ZS_API_zeCommandListReset:
        return !event->is_exit;
    case ZS_API_zeKernelCreate:
    case ZS_API_zeCommandListCreate:
    case ZS_API_zeCommandListCreateImmediate:
    case ZS_API_zeCommandListCreateCloneExp:
        return event->is_exit && !*event->result;
    default:
        return event->is_exit && !*event->result && appended(event, &count);
    }
}

void zs_pause_kernels_follow(const struct zs_trace_event *event)
{
    if (!is_followed(event))
        return;
    pthread_mutex_lock(&state.lock);
    if (event->is_exit)
        follow_exit(event);
    else
        follow_enter(event);
    pthread_mutex_unlock(&state.lock);
}

unsigned zs_pause_kernels_launched(const struct zs_trace_event *event)
{
    uint32_t kernel_count, list_count;
    const void *const *kernels = appended(event, &kernel_count);
    const void *const *lists = executed(event, &list_count);
    unsigned bits = 0;
    if (!kernels && !lists)
        return 0;
    pthread_mutex_lock(&state.lock);
    if (kernels)
        bits = bits_of_all(KERNEL, kernels, kernel_count);
    if (kernels && event->is_exit && bits_of(LIST, ARG(const void *, 0)))
        bits = 0; /* it is launched later */
    if (lists)
        bits = bits_of_all(LIST, lists, list_count);
    pthread_mutex_unlock(&state.lock);
    return bits;
}
