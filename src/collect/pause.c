/* SPDX-License-Identifier: MIT */
#include "collect/pause.h"

#include "collect/collect.h"
#include "collect/pause_kernels.h"
#include "store/trace_writer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES = 64 };

atomic_uint zs_pause_word;

static struct {
    /* a ring of what is to be written: filled by whoever pauses, a signal handler at times */
    struct {
        _Atomic uint64_t time_ns;
        atomic_uint word; /* 0: not filled yet; else 1 | paused << 1 | reason << 2 */
    } notes[NOTES];
    atomic_uint note_count, notes_taken;
    _Atomic uint64_t resume_at_ns, pause_at_ns; /* UINT64_MAX: never */
    uint64_t duration_ns;                       /* 0: no limit */
} state = {.resume_at_ns = UINT64_MAX, .pause_at_ns = UINT64_MAX};

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
    if (zs_pause_kernels_init())
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
    zs_pause_kernels_fork_child();
    for (size_t i = 0; i < NOTES; i++)
        atomic_store(&state.notes[i].word, 0);
    atomic_store(&state.notes_taken, atomic_load(&state.note_count));
    if (zs_pause_flags() & ZS_PAUSE_ON)
        push_note(true, ZS_PAUSE_START, zs_trace_now_ns());
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
    zs_pause_kernels_follow(event);
    if (!event->is_exit && flags & ZS_PAUSE_ON &&
        zs_pause_kernels_launched(event) & ZS_PAUSE_KERNEL_START)
        zs_pause_set(false, ZS_PAUSE_KERNEL, zs_trace_now_ns());
}

void zs_pause_after(const struct zs_trace_event *event)
{
    unsigned flags = zs_pause_flags();
    if (flags & ZS_PAUSE_KERNELS && !(flags & ZS_PAUSE_ON) && event->is_exit && !*event->result &&
        zs_pause_kernels_launched(event) & ZS_PAUSE_KERNEL_STOP)
        zs_pause_set(true, ZS_PAUSE_KERNEL, zs_trace_now_ns());
}
