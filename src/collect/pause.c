/* SPDX-License-Identifier: MIT */
#include "collect/pause.h"

#include "base/filter.h"
#include "collect/collect.h"
#include "layer_calls.h"
#include "store/trace_writer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES = 64, START_BIT = 1, STOP_BIT = 2 };

atomic_uint zs_pause_word;

/* A kernel whose name matters. */
struct named_kernel {
    void *handle;
    unsigned bits;
};

static struct {
    /* a ring of what is to be written: filled by whoever pauses, a signal handler at times */
    struct {
        _Atomic uint64_t time_ns;
        atomic_uint word; /* 0: not filled yet; else 1 | paused << 1 | reason << 2 */
    } notes[NOTES];
    atomic_uint note_count, notes_taken;
    _Atomic uint64_t resume_at_ns, pause_at_ns; /* UINT64_MAX: never */
    uint64_t duration_ns;                       /* 0: no limit */
    bool has_start, has_stop;
    struct zs_filter start, stop;
    pthread_mutex_t lock; /* of the kernels */
    struct named_kernel *kernels;
    size_t kernel_count, kernel_capacity;
} state = {
    .resume_at_ns = UINT64_MAX, .pause_at_ns = UINT64_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};

static void push_note(bool paused, enum zs_pause_reason reason, uint64_t time_ns)
{
    unsigned at = atomic_load(&state.note_count);
    do {
        if (at - atomic_load(&state.notes_taken) >= NOTES)
            return; /* nobody makes calls: nothing is missed but the moment */
    } while (!atomic_compare_exchange_weak(&state.note_count, &at, at + 1));
    atomic_store(&state.notes[at % NOTES].time_ns, time_ns);
    atomic_store(&state.notes[at % NOTES].word, 1u | (paused ? 2u : 0u) | (unsigned)reason << 2);
    atomic_fetch_or(&zs_pause_word, ZS_PAUSE_NOTES);
}

bool zs_pause_next_note(struct zs_pause_note *ret_note)
{
    unsigned at = atomic_load(&state.notes_taken);
    atomic_fetch_and(&zs_pause_word, ~(unsigned)ZS_PAUSE_NOTES);
    if (at == atomic_load(&state.note_count))
        return false;
    unsigned word = atomic_exchange(&state.notes[at % NOTES].word, 0);
    if (!word) { /* it is being filled */
        atomic_fetch_or(&zs_pause_word, ZS_PAUSE_NOTES);
        return false;
    }
    *ret_note = (struct zs_pause_note){.time_ns = atomic_load(&state.notes[at % NOTES].time_ns),
                                       .paused = (word & 2) != 0,
                                       .reason = (enum zs_pause_reason)(word >> 2)};
    atomic_store(&state.notes_taken, at + 1);
    return true;
}

bool zs_pause_set(bool paused, enum zs_pause_reason reason, uint64_t time_ns)
{
    unsigned before = paused ? atomic_fetch_or(&zs_pause_word, ZS_PAUSE_ON)
                             : atomic_fetch_and(&zs_pause_word, ~(unsigned)ZS_PAUSE_ON);
    if (((before & ZS_PAUSE_ON) != 0) == paused)
        return false;
    if (!paused && state.duration_ns) {
        atomic_store(&state.pause_at_ns, time_ns + state.duration_ns);
        atomic_fetch_or(&zs_pause_word, ZS_PAUSE_TIMED);
    }
    push_note(paused, reason, time_ns);
    return true;
}

static void on_signal(int number)
{
    int saved = errno;
    zs_pause_set(!(zs_pause_flags() & ZS_PAUSE_ON), ZS_PAUSE_SIGNAL, zs_trace_now_ns());
    errno = saved;
}

static uint64_t number(const char *name)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

static bool compile(const char *name, struct zs_filter *ret_filter)
{
    const char *text = getenv(name);
    return text && text[0] && !zs_filter_compile(ret_filter, &text, 1, NULL);
}

/* The times are absolute, so that all processes of a recording agree. */
static void init_times(void)
{
    uint64_t resume_ns = number(ZS_ENV_COLLECT_RESUME_AT), now_ns = zs_trace_now_ns();
    bool paused = zs_pause_flags() & ZS_PAUSE_ON;
    state.duration_ns = number(ZS_ENV_COLLECT_DURATION);
    if (resume_ns) {
        atomic_store(&state.resume_at_ns, resume_ns);
        atomic_fetch_or(&zs_pause_word, ZS_PAUSE_TIMED);
    }
    if (state.duration_ns && !paused) {
        uint64_t start_ns = number(ZS_ENV_COLLECT_START);
        atomic_store(&state.pause_at_ns, (start_ns ? start_ns : now_ns) + state.duration_ns);
        atomic_fetch_or(&zs_pause_word, ZS_PAUSE_TIMED);
    }
}

void zs_pause_init(void)
{
    state.has_start = compile(ZS_ENV_COLLECT_START_KERNEL, &state.start);
    state.has_stop = compile(ZS_ENV_COLLECT_STOP_KERNEL, &state.stop);
    if (state.has_start || state.has_stop)
        atomic_fetch_or(&zs_pause_word, ZS_PAUSE_KERNELS);
    if (number(ZS_ENV_COLLECT_PAUSED))
        zs_pause_set(true, ZS_PAUSE_START, zs_trace_now_ns());
    init_times();
    int signal_number = (int)number(ZS_ENV_COLLECT_TOGGLE_SIGNAL);
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (signal_number)
        sigaction(signal_number, &action, NULL);
}

void zs_pause_fork_child(void)
{
    pthread_mutex_init(&state.lock, NULL);
    for (size_t i = 0; i < NOTES; i++)
        atomic_store(&state.notes[i].word, 0);
    atomic_store(&state.notes_taken, atomic_load(&state.note_count));
    if (zs_pause_flags() & ZS_PAUSE_ON)
        push_note(true, ZS_PAUSE_START, zs_trace_now_ns());
}

/* --- kernels --- */

static size_t find_kernel(const void *handle)
{
    for (size_t i = 0; i < state.kernel_count; i++)
        if (state.kernels[i].handle == handle)
            return i;
    return SIZE_MAX;
}

static void kernel_created(const char *name, void *handle)
{
    unsigned bits = 0;
    if (name && state.has_start && zs_filter_matches(&state.start, name))
        bits |= START_BIT;
    if (name && state.has_stop && zs_filter_matches(&state.stop, name))
        bits |= STOP_BIT;
    if (!bits)
        return;
    pthread_mutex_lock(&state.lock);
    if (state.kernel_count == state.kernel_capacity) {
        size_t capacity = state.kernel_capacity ? 2 * state.kernel_capacity : 16;
        struct named_kernel *bigger = realloc(state.kernels, capacity * sizeof(*bigger));
        if (bigger) {
            state.kernels = bigger;
            state.kernel_capacity = capacity;
        }
    }
    if (state.kernel_count < state.kernel_capacity)
        state.kernels[state.kernel_count++] = (struct named_kernel){handle, bits};
    pthread_mutex_unlock(&state.lock);
}

static void kernel_destroyed(const void *handle)
{
    pthread_mutex_lock(&state.lock);
    size_t at = find_kernel(handle);
    if (at != SIZE_MAX)
        state.kernels[at] = state.kernels[--state.kernel_count];
    pthread_mutex_unlock(&state.lock);
}

#define ARG(type, i) (*(type *)event->params[i])

/* What is known of the kernels that a call launches. */
static unsigned launched_bits(const struct zs_trace_event *event)
{
    const ze_kernel_handle_t *handles;
    uint32_t count = 1;
    switch (event->call) {
    case ZS_API_zeCommandListAppendLaunchKernel:
    case ZS_API_zeCommandListAppendLaunchCooperativeKernel:
    case ZS_API_zeCommandListAppendLaunchKernelIndirect:
        handles = &ARG(ze_kernel_handle_t, 1);
        break;
    case ZS_API_zeCommandListAppendLaunchMultipleKernelsIndirect:
        count = ARG(uint32_t, 1);
        handles = ARG(const ze_kernel_handle_t *, 2);
        break;
    default:
        return 0;
    }
    unsigned bits = 0;
    pthread_mutex_lock(&state.lock);
    for (uint32_t i = 0; handles && state.kernel_count && i < count; i++) {
        size_t at = find_kernel(handles[i]);
        bits |= at == SIZE_MAX ? 0 : state.kernels[at].bits;
    }
    pthread_mutex_unlock(&state.lock);
    return bits;
}

static void check_times(void)
{
    uint64_t now_ns = zs_trace_now_ns();
    uint64_t resume_ns = atomic_load(&state.resume_at_ns);
    if (now_ns >= resume_ns &&
        atomic_compare_exchange_strong(&state.resume_at_ns, &resume_ns, UINT64_MAX))
        zs_pause_set(false, ZS_PAUSE_TIME, resume_ns);
    uint64_t pause_ns = atomic_load(&state.pause_at_ns);
    if (now_ns >= pause_ns &&
        atomic_compare_exchange_strong(&state.pause_at_ns, &pause_ns, UINT64_MAX))
        zs_pause_set(true, ZS_PAUSE_TIME, pause_ns);
}

void zs_pause_before(const struct zs_trace_event *event)
{
    unsigned flags = zs_pause_flags();
    if (flags & ZS_PAUSE_TIMED && !event->is_exit)
        check_times();
    if (!(flags & ZS_PAUSE_KERNELS))
        return;
    if (event->is_exit && event->call == ZS_API_zeKernelCreate && !*event->result)
        kernel_created(ARG(const ze_kernel_desc_t *, 1)->pKernelName,
                       *ARG(ze_kernel_handle_t *, 2));
    if (!event->is_exit && event->call == ZS_API_zeKernelDestroy)
        kernel_destroyed(ARG(ze_kernel_handle_t, 0));
    if (!event->is_exit && flags & ZS_PAUSE_ON && launched_bits(event) & START_BIT)
        zs_pause_set(false, ZS_PAUSE_KERNEL, zs_trace_now_ns());
}

void zs_pause_after(const struct zs_trace_event *event)
{
    unsigned flags = zs_pause_flags();
    if (flags & ZS_PAUSE_KERNELS && !(flags & ZS_PAUSE_ON) && event->is_exit &&
        launched_bits(event) & STOP_BIT)
        zs_pause_set(true, ZS_PAUSE_KERNEL, zs_trace_now_ns());
}
