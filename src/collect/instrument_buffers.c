/* SPDX-License-Identifier: MIT */
/*
 * The buffers that instrumented kernels write to. A buffer is shared memory of the module's
 * context. What it holds goes to its file in the recording (wire/instrument.h):
 *
 * - at the end of the module, the context or the process, whichever is first,
 * - and, so that a process that is killed leaves something, when a call returns that waits for the
 *   device, and four times a second in a thread of its own, as one kernel may run for long:
 *   counters that changed, and records that are new. Kernels may run meanwhile, which needs memory
 *   that both may use at a time. Between two looks is a pause of nine times what the one took, at
 *   most 0.1 s.
 *
 * Counters only grow, so that their sum tells whether one did. Records are written with their head
 * last (edit/emit.c) and read with it first: who finds a head finds its record. The end reads all
 * once more that is in memory.
 *
 * A trace of which a quarter is used is emptied, where host and device may add to one place of
 * memory at a time: when all records that threads have taken a place for are there and in the file,
 * their memory is cleared, and the number of places taken becomes 0 by an exchange that fails when
 * somebody takes one meanwhile. Threads that run, of any queue, see a trace with more room. Calls
 * that wait look for such traces each time, and the thread of its own a hundred times a second, or
 * a thousand times while kernels fill one. Large ones are emptied sooner, so that few of their
 * pages are used, but nobody hurries.
 *
 * What the recording keeps of a module's records is an end to what is read of its trace, too: who
 * writes behind that finds no room in the file, and is counted with those that find none in memory.
 *
 * A trace that cannot be emptied, as its file cannot be written or a record in it is not whole (the
 * thread that took its place may be gone), is none that is looked for: not until a look has written
 * it, or the record has become whole. Its records are looked at in a tenth of the time meanwhile.
 *
 * A buffer is held while somebody reads it: its memory goes only after that. Nobody waits long for
 * another thread that holds it: a signal handler that ends the process may have interrupted it. Who
 * only asks whether a trace is to be emptied holds nothing, but is counted: see is_filling.
 */
#include "collect/instrument.h"

#include "base/reader.h"
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { UNIT_B = 32, TAG = 0x5a53, CHUNK_B = 32 << 10, HOLD_TRIES = 500 };
enum {
    PAUSE_FACTOR = 9,
    PAUSE_MAX_NS = 100000000,
    REST_MAX_S = 10,
    WATCH_NS = 250000000,
    WATCH_TRACE_NS = 10000000,
    WATCH_FILLING_NS = 1000000,
    WATCH_FILLING_TIMES = 20,
    WATCH_STACK_B = 128 << 10
};
/* A trace is emptied as soon as it has this much, in haste when a part of it is used. */
enum { EMPTY_PART = 4, EMPTY_SOON_B = 4 << 20, EMPTY_TRIES = 1000, EMPTY_TRIES_SOON = 10 };
#define NO_HOLE UINT64_MAX

struct zs_instrument_buffer {
    struct zs_instrument_buffer *next;
    _Atomic(struct zs_instrument_buffer *) next_used; /* leaves out some that are over */
    ze_context_handle_t context;
    _Atomic(ze_module_handle_t) module;
    void *memory; /* of who holds the buffer; NULL: its contents are kept, and it is over */
    struct zs_instrument_file head;
    uint64_t counter_count, trace_offset_B, records_offset_B, records_size_B;
    bool is_concurrent; /* may be read while kernels run ... */
    bool is_emptied;    /* ... and its trace emptied, until the file is full */
    uint64_t room_B;    /* of the records in memory, as many as the file has room for, too */
    atomic_bool is_held;
    atomic_bool is_lost; /* over, while somebody read it */
    atomic_bool is_over;
    /* for who does not hold it: see is_filling */
    _Atomic(const uint64_t *) shown; /* the memory, as long as it is there */
    atomic_uint glances;
    atomic_bool wants_room;  /* is_emptied, in haste, and the last look could write */
    _Atomic uint64_t hole_B; /* the record that was not whole, in a trace that is not emptied */
    /* of who holds it: what the file has */
    uint32_t number;
    bool has_file;
    uint64_t sum, asked, cursor_B;
    uint64_t moved_B;    /* of records that were in memory before it was emptied */
    uint64_t cleared_B;  /* of what is in memory: it is in the file, and zeros now */
    bool is_cut;         /* the last record, which ends behind the trace, is cleared, too */
    uint64_t kept_B;     /* of what is in memory: up to a record that ends behind the trace */
    uint64_t lost_units; /* of what was there before */
    uint64_t rest_ns;    /* until when records that cannot be written or emptied are left alone */
};

/* ---- files ---- */

static int write_at(int fd, const void *from, size_t size_B, uint64_t at_B)
{
    for (const uint8_t *at = from; size_B;) {
        ssize_t n = pwrite(fd, at, size_B, (off_t)at_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EIO;
        at += n;
        at_B += (uint64_t)n;
        size_B -= (size_t)n;
    }
    return 0;
}

/* The folder's path, and the file's name behind it. */
static int make_paths(const struct zs_collector *c, const struct zs_instrument_buffer *b,
                      char path[ZS_COLLECT_PATH_CHARS], char temp[ZS_COLLECT_PATH_CHARS])
{
    int n = snprintf(path, ZS_COLLECT_PATH_CHARS, "%s/" ZS_INSTRUMENT_DIR, c->dir);
    if (n < 0 || n + 64 >= ZS_COLLECT_PATH_CHARS)
        return -ENAMETOOLONG;
    if (mkdir(path, 0755) && errno != EEXIST)
        return -errno;
    snprintf(temp, ZS_COLLECT_PATH_CHARS, "%.*s/.new-%u-%u-%u", n, path, b->head.pid,
             b->head.ordinal, b->number);
    snprintf(path + n, (size_t)(ZS_COLLECT_PATH_CHARS - n), "/%u-%u-%u.data", b->head.pid,
             b->head.ordinal - 1, b->number);
    return 0;
}

/* It appears as soon as it says whose it is, and grows with what is written. */
static int make_file(struct zs_collector *c, struct zs_instrument_buffer *b)
{
    char path[ZS_COLLECT_PATH_CHARS], temp[ZS_COLLECT_PATH_CHARS];
    b->number = atomic_fetch_add(&c->instrument_files, 1);
    int error = make_paths(c, b, path, temp);
    if (error)
        return error;
    int fd = open(temp, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -errno;
    error = write_at(fd, &b->head, sizeof(b->head), 0);
    close(fd);
    if (!error && rename(temp, path))
        error = -errno;
    if (error)
        unlink(temp);
    b->has_file = !error;
    return error;
}

static int open_file(struct zs_collector *c, struct zs_instrument_buffer *b)
{
    char path[ZS_COLLECT_PATH_CHARS], temp[ZS_COLLECT_PATH_CHARS];
    int error = b->has_file ? 0 : make_file(c, b);
    if (!error)
        error = make_paths(c, b, path, temp);
    if (error)
        return error;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd < 0 ? -errno : fd;
}

/* ---- what a buffer holds ---- */

static uint64_t load(const struct zs_instrument_buffer *b, uint64_t at_B)
{
    return __atomic_load_n((const uint64_t *)b->memory + at_B / 8, __ATOMIC_RELAXED);
}

/* Copy a part of the memory to its place in the file, which is farther by what was moved before. */
static int put(const struct zs_instrument_buffer *b, int fd, uint64_t at_B, uint64_t end_B,
               uint64_t moved_B, uint64_t *chunk)
{
    int error = 0;
    while (at_B < end_B && !error) {
        uint64_t size_B = ZS_MIN(end_B - at_B, (uint64_t)CHUNK_B);
        for (uint64_t i = 0; i < size_B / 8; i++)
            chunk[i] =
                __atomic_load_n((const uint64_t *)b->memory + at_B / 8 + i, __ATOMIC_ACQUIRE);
        error = write_at(fd, chunk, (size_t)size_B, sizeof(b->head) + at_B + moved_B);
        at_B += size_B;
    }
    return error;
}

static bool is_head(uint64_t word)
{
    return (word >> 16 & 0xffff) == TAG && (word & 0xff);
}

/* How far the records are whole. One that ends behind the trace is none: *ret_cut, it is written.
 */
static uint64_t whole_B(const struct zs_instrument_buffer *b, uint64_t end_B, bool *ret_cut)
{
    uint64_t at_B = b->cursor_B;
    *ret_cut = b->is_cut;
    while (at_B < end_B && !*ret_cut) {
        uint64_t head = load(b, b->records_offset_B + at_B), size_B = (head & 0xff) * UNIT_B;
        if (!is_head(head))
            break;
        *ret_cut = at_B + size_B > b->room_B;
        at_B += *ret_cut ? 0 : size_B;
    }
    return ZS_MIN(at_B, end_B);
}

/* Places of records that are taken, as far as there is room. */
static uint64_t taken_B(const struct zs_instrument_buffer *b, uint64_t asked)
{
    return asked > b->room_B / UNIT_B ? b->room_B : asked * UNIT_B;
}

/* Kernels may find no room soon. */
static bool is_hurried(const struct zs_instrument_buffer *b, uint64_t asked)
{
    return asked >= b->records_size_B / EMPTY_PART / UNIT_B;
}

struct found {
    uint64_t sum, asked, records_B;
};

static struct found look(const struct zs_instrument_buffer *b)
{
    struct found f = {0};
    for (uint64_t i = 0; i < b->counter_count; i++)
        f.sum += load(b, i * 8);
    if (b->records_size_B) {
        f.asked = load(b, b->trace_offset_B);
        f.records_B = taken_B(b, f.asked);
    }
    return f;
}

/* Records and how many units of them the file has. */
static int put_records(struct zs_instrument_buffer *b, int fd, uint64_t from_B, uint64_t end_B,
                       uint64_t *chunk)
{
    uint64_t units = (b->moved_B + end_B) / UNIT_B, at_B = b->records_offset_B;
    int error = put(b, fd, at_B + from_B, at_B + end_B, b->moved_B, chunk);
    return error ? error : write_at(fd, &units, sizeof(units), sizeof(b->head) + b->trace_offset_B);
}

/* Others may read a head meanwhile. */
static void clear(const struct zs_instrument_buffer *b, uint64_t from_B, uint64_t end_B)
{
    uint64_t *records = (uint64_t *)b->memory + b->records_offset_B / 8;
    for (uint64_t i = from_B / 8; i < end_B / 8; i++)
        __atomic_store_n(records + i, 0, __ATOMIC_RELAXED);
}

static bool take_all_places_back(struct zs_instrument_buffer *b, uint64_t asked)
{
    return __atomic_compare_exchange_n((uint64_t *)b->memory + b->trace_offset_B / 8, &asked, 0,
                                       false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* What the recording keeps of a module's records. */
static uint64_t records_limit_B(const struct zs_collector *c)
{
    uint64_t limit_B = c->instrument_records_limit_B;
    limit_B =
        !limit_B ? ZS_INSTRUMENT_RECORDS_LIMIT_B : ZS_MIN(limit_B, ZS_INSTRUMENT_RECORDS_MOST_B);
    return limit_B / UNIT_B * UNIT_B;
}

uint64_t zs_instrument_take_room_B(struct zs_collector *c, uint64_t part_B)
{
    uint64_t set_B = atomic_load(&c->instrument_trace_B);
    uint64_t most_B = ZS_MIN(records_limit_B(c), (uint64_t)ZS_INSTRUMENT_ROOM_MOST_B);
    uint64_t rooms_B = ZS_MAX((uint64_t)ZS_INSTRUMENT_ROOMS_B, 2 * most_B), room_B;
    if (!set_B)
        rooms_B = ZS_MIN(rooms_B, part_B);
    uint64_t used_B = atomic_load(&c->instrument_rooms_B);
    do {
        uint64_t left_B = rooms_B - ZS_MIN(used_B, rooms_B);
        room_B = ZS_MIN(ZS_MAX(left_B / 2, (uint64_t)ZS_INSTRUMENT_ROOM_LEAST_B), most_B);
        if (set_B)
            room_B = ZS_MIN(set_B, records_limit_B(c));
    } while (!atomic_compare_exchange_weak(&c->instrument_rooms_B, &used_B, used_B + room_B));
    return room_B;
}

void zs_instrument_give_room(struct zs_collector *c, uint64_t room_B)
{
    atomic_fetch_sub(&c->instrument_rooms_B, room_B);
}

void zs_instrument_forked(struct zs_collector *c)
{
    atomic_store(&c->instrument_rooms_B, 0);
    atomic_store(&c->instrument_traces, 0);
}

static uint64_t left_in_file_B(const struct zs_collector *c, const struct zs_instrument_buffer *b)
{
    return records_limit_B(c) - ZS_MIN(b->moved_B, records_limit_B(c));
}

/* All that the file has room for finds room in memory: nobody has to hurry. */
static bool is_bound(const struct zs_collector *c, const struct zs_instrument_buffer *b)
{
    return left_in_file_B(c, b) <= b->records_size_B;
}

/* Make room in a trace: see above. It stays as it is where records do not become whole: *ret_hole_B
 * is the first of these. */
static int empty_trace(struct zs_collector *c, struct zs_instrument_buffer *b, int fd,
                       uint64_t *chunk, uint64_t *ret_hole_B)
{
    bool is_cut;
    int tries = is_bound(c, b) ? EMPTY_TRIES_SOON : EMPTY_TRIES;
    for (int i = 0; i < tries; i++) {
        uint64_t asked = load(b, b->trace_offset_B), end_B = taken_B(b, asked);
        b->is_emptied = b->room_B == b->records_size_B || asked <= b->room_B / UNIT_B;
        if (!b->is_emptied)
            return 0; /* the file is full */
        uint64_t whole = whole_B(b, end_B, &is_cut);
        int error = whole > b->cursor_B ? put_records(b, fd, b->cursor_B, whole, chunk) : 0;
        if (error)
            return error;
        b->cursor_B = whole;
        *ret_hole_B = whole < end_B && !is_cut ? whole : NO_HOLE;
        if (*ret_hole_B != NO_HOLE)
            continue;
        clear(b, b->cleared_B, is_cut ? b->records_size_B : whole);
        b->cleared_B = is_cut ? b->records_size_B : whole;
        b->is_cut = is_cut;
        if (!take_all_places_back(b, asked))
            continue;
        b->lost_units += asked - whole / UNIT_B;
        b->moved_B += whole;
        b->cursor_B = b->cleared_B = b->kept_B = b->asked = 0;
        b->is_cut = false;
        b->room_B = ZS_MIN(b->records_size_B, left_in_file_B(c, b));
        return 0;
    }
    return 0;
}

static int update_records(struct zs_collector *c, struct zs_instrument_buffer *b,
                          const struct found *f, bool all, int fd, uint64_t *chunk)
{
    bool is_cut;
    uint64_t whole = whole_B(b, f->records_B, &is_cut); /* before they are copied */
    uint64_t from_B = all ? ZS_MIN(b->cleared_B, b->cursor_B) : b->cursor_B;
    uint64_t end_B = is_cut ? whole : f->records_B;
    int error = put_records(b, fd, from_B, ZS_MAX(from_B, end_B), chunk);
    if (error)
        return error;
    b->asked = f->asked;
    b->cursor_B = whole;
    b->kept_B = end_B;
    uint64_t hole_B = whole < f->records_B && !is_cut ? whole : NO_HOLE;
    bool is_much = is_hurried(b, f->asked) || f->records_B >= EMPTY_SOON_B;
    if (!all && b->is_emptied && is_much)
        error = empty_trace(c, b, fd, chunk, &hole_B);
    atomic_store(&b->hole_B, hole_B);
    return error;
}

static bool is_resting(const struct zs_instrument_buffer *b)
{
    uint64_t hole_B = atomic_load(&b->hole_B);
    bool is_closed = hole_B != NO_HOLE && is_head(load(b, b->records_offset_B + hole_B));
    return b->rest_ns && !is_closed && zs_collect_now_ns() < b->rest_ns;
}

/* After a look at records. */
static void rest(const struct zs_collector *c, struct zs_instrument_buffer *b, int error,
                 uint64_t start_ns)
{
    uint64_t end_ns = zs_collect_now_ns();
    uint64_t pause_ns =
        ZS_MIN(PAUSE_FACTOR * (end_ns - start_ns), UINT64_C(1000000000) * REST_MAX_S);
    bool is_done = !error && atomic_load(&b->hole_B) == NO_HOLE;
    b->rest_ns = is_done ? 0 : end_ns + pause_ns;
    atomic_store(&b->wants_room, b->is_emptied && !error && !is_bound(c, b));
}

/* Bring the file up to date. `all`: what was taken for whole, too. */
static int update(struct zs_collector *c, struct zs_instrument_buffer *b, bool all)
{
    struct found f = look(b);
    uint64_t start_ns = zs_collect_now_ns();
    bool has_records = b->records_size_B && (all || !is_resting(b));
    bool is_new = f.asked != b->asked || b->cursor_B < f.records_B;
    if (!all && f.sum == b->sum && !(has_records && is_new))
        return 0;
    uint64_t *chunk = malloc(CHUNK_B);
    int fd = chunk ? open_file(c, b) : -ENOMEM;
    int error = fd < 0 ? fd : 0;
    if (!error && has_records)
        error = update_records(c, b, &f, all, fd, chunk);
    if (!error)
        error = put(b, fd, 0, ZS_MIN(b->counter_count * 8, b->head.buffer_B), 0, chunk);
    if (!error)
        b->sum = f.sum;
    uint64_t lost_units = b->lost_units;
    if (b->asked > b->room_B / UNIT_B)
        lost_units += b->asked - b->kept_B / UNIT_B;
    if (!error && (all || lost_units != b->head.lost_units)) {
        b->head.is_final = all;
        b->head.lost_units = lost_units;
        error = write_at(fd, &b->head, sizeof(b->head), 0);
    }
    if (fd >= 0)
        close(fd);
    free(chunk);
    if (has_records && !all)
        rest(c, b, error, start_ns);
    return error;
}

/* ---- who may look ---- */

static bool hold(struct zs_instrument_buffer *b)
{
    return !atomic_exchange_explicit(&b->is_held, true, memory_order_acquire);
}

static void leave(struct zs_instrument_buffer *b)
{
    atomic_store_explicit(&b->is_held, false, memory_order_release);
}

static bool hold_in_time(struct zs_instrument_buffer *b)
{
    const struct timespec tick = {.tv_nsec = 1000000};
    for (int i = 0; i < HOLD_TRIES; i++) {
        if (hold(b))
            return true;
        nanosleep(&tick, NULL);
    }
    return false;
}

/* Those that are over are never of use again: who passes them leaves a way round them. */
static struct zs_instrument_buffer *next_used(struct zs_instrument_buffer *b)
{
    struct zs_instrument_buffer *first = atomic_load(&b->next_used), *next = first;
    while (next && atomic_load(&next->is_over))
        next = atomic_load(&next->next_used);
    if (next != first)
        atomic_store(&b->next_used, next);
    return next;
}

/* Nobody begins a glance who sees the memory. False: somebody does not end it, whom a signal
 * handler that got here may have interrupted. */
static bool hide(struct zs_instrument_buffer *b)
{
    const struct timespec tick = {.tv_nsec = 1000000};
    atomic_store(&b->shown, NULL);
    for (int i = 0; i < HOLD_TRIES && atomic_load(&b->glances); i++)
        nanosleep(&tick, NULL);
    return !atomic_load(&b->glances);
}

static void end_buffer(struct zs_collector *c, struct zs_instrument_buffer *b, bool is_freed)
{
    if (!hold_in_time(b)) {
        atomic_store(&b->is_lost, true);
        zs_session_note(c, "what was found out about module %u last is lost: it was being read",
                        b->head.build);
        return;
    }
    int error = b->memory ? update(c, b, true) : 0;
    if (error)
        zs_session_note(c, "what was found out about module %u is lost: %s", b->head.build,
                        strerror(-error));
    if (b->memory && is_freed && hide(b))
        c->api.zeMemFree(b->context, b->memory);
    if (b->memory && b->records_size_B) {
        atomic_fetch_sub(&c->instrument_traces, 1);
        atomic_fetch_sub(&c->instrument_rooms_B, b->records_size_B);
    }
    atomic_store(&b->shown, NULL);
    b->memory = NULL;
    atomic_store(&b->is_over, true);
    leave(b);
}

/* Of a process that forked its child has a copy, and nothing to do with it. */
static bool is_mine(const struct zs_instrument_buffer *b, pid_t pid)
{
    return b->head.pid == (uint32_t)pid;
}

bool zs_instrument_is_of(const struct zs_collector *c, uint64_t build)
{
    struct zs_instrument_buffer *b = atomic_load(&c->instrument_buffers);
    pid_t pid = getpid();
    while (b && !(is_mine(b, pid) && b->head.build == build))
        b = next_used(b);
    return b;
}

void zs_instrument_module_ends(struct zs_collector *c, ze_module_handle_t module)
{
    struct zs_instrument_buffer *b = atomic_load(&c->instrument_buffers);
    pid_t pid = getpid();
    for (; module && b; b = next_used(b)) {
        ze_module_handle_t expected = module;
        if (is_mine(b, pid) && atomic_compare_exchange_strong(&b->module, &expected, NULL))
            end_buffer(c, b, true);
    }
}

const void *zs_instrument_memory_of(const struct zs_collector *c, ze_module_handle_t module)
{
    const struct zs_instrument_buffer *b = atomic_load(&c->instrument_buffers);
    while (b && atomic_load(&b->module) != module)
        b = b->next;
    return b && module ? atomic_load(&b->shown) : NULL;
}

void zs_instrument_context_ends(struct zs_collector *c, ze_context_handle_t context)
{
    struct zs_instrument_buffer *b = atomic_load(&c->instrument_buffers);
    pid_t pid = getpid();
    for (; context && b; b = next_used(b))
        if (is_mine(b, pid) && b->context == context) {
            atomic_store(&b->module, NULL);
            end_buffer(c, b, true);
        }
}

void zs_instrument_process_ends(struct zs_collector *c)
{
    struct zs_instrument_buffer *b = atomic_load(&c->instrument_buffers);
    for (pid_t pid = getpid(); b; b = next_used(b))
        if (is_mine(b, pid) && !atomic_load(&b->is_lost))
            end_buffer(c, b, false);
}

/* A trace that is to be emptied before kernels find no room in it, or is being emptied. To hold the
 * buffer would stand in the way of who ends it, or has to; one that is over waits for glances. */
static bool is_filling(struct zs_instrument_buffer *b)
{
    bool is_so = false;
    if (!b->records_size_B || !atomic_load(&b->wants_room) || !atomic_load(&b->module))
        return false;
    atomic_fetch_add(&b->glances, 1);
    const uint64_t *memory = atomic_load(&b->shown);
    if (memory) {
        uint64_t asked = __atomic_load_n(memory + b->trace_offset_B / 8, __ATOMIC_RELAXED);
        uint64_t hole_B = atomic_load(&b->hole_B);
        is_so = is_hurried(b, asked);
        if (is_so && hole_B != NO_HOLE)
            is_so = is_head(
                __atomic_load_n(memory + (b->records_offset_B + hole_B) / 8, __ATOMIC_RELAXED));
    }
    atomic_fetch_sub(&b->glances, 1);
    return is_so;
}

static bool is_any_filling(const struct zs_collector *c)
{
    bool is_so = false;
    if (!atomic_load_explicit(&c->instrument_traces, memory_order_relaxed))
        return false;
    struct zs_instrument_buffer *b = atomic_load(&c->instrument_buffers);
    for (pid_t pid = getpid(); b && !is_so; b = next_used(b))
        is_so = is_mine(b, pid) && is_filling(b);
    return is_so;
}

bool zs_instrument_is_due(const struct zs_collector *c)
{
    if (!atomic_load_explicit(&c->instrument_buffers, memory_order_relaxed))
        return false;
    return zs_collect_now_ns() >=
               atomic_load_explicit(&c->instrument_pause, memory_order_relaxed) ||
           is_any_filling(c);
}

/* False: another thread does. */
static bool look_at_all(struct zs_collector *c)
{
    pid_t pid = getpid(), reader = atomic_load(&c->instrument_reader);
    uint64_t start_ns = zs_collect_now_ns();
    /* one thread at a time; one that was looking as the process forked is not here */
    if (reader == pid || !atomic_compare_exchange_strong(&c->instrument_reader, &reader, pid))
        return false;
    for (struct zs_instrument_buffer *b = atomic_load(&c->instrument_buffers); b;
         b = next_used(b)) {
        if (!is_mine(b, pid) || !b->is_concurrent || !atomic_load(&b->module) || !hold(b))
            continue;
        if (b->memory)
            update(c, b, false);
        leave(b);
    }
    uint64_t end_ns = zs_collect_now_ns();
    uint64_t pause_ns = ZS_MIN(PAUSE_FACTOR * (end_ns - start_ns), (uint64_t)PAUSE_MAX_NS);
    atomic_store(&c->instrument_pause, end_ns + pause_ns);
    atomic_store(&c->instrument_reader, 0);
    return true;
}

void zs_instrument_synchronized(struct zs_collector *c)
{
    const struct timespec tick = {.tv_nsec = 1000000};
    /* what the application launches next finds room */
    for (int i = 0; !look_at_all(c) && i < HOLD_TRIES && is_any_filling(c); i++)
        nanosleep(&tick, NULL);
}

/* A kernel may run longer than the process: somebody looks who waits for nothing. */
static void *watch(void *collector)
{
    struct zs_collector *c = collector;
    int soon = 0; /* how often yet: one record that is not whole says little of the next moment */
    for (;;) {
        bool has_traces = atomic_load_explicit(&c->instrument_traces, memory_order_relaxed) > 0;
        const struct timespec pause = {.tv_nsec = soon         ? WATCH_FILLING_NS
                                                  : has_traces ? WATCH_TRACE_NS
                                                               : WATCH_NS};
        nanosleep(&pause, NULL);
        bool is_so = is_any_filling(c);
        soon = is_so ? WATCH_FILLING_TIMES : ZS_MAX(soon - 1, 0);
        if (is_so || zs_instrument_is_due(c))
            zs_instrument_synchronized(c);
    }
    return NULL;
}

/* One thread of a process, which ends with it. Where none can be made, calls that wait are left. */
static void start_watching(struct zs_collector *c)
{
    pid_t pid = getpid();
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t before;
    if (atomic_exchange(&c->instrument_watcher, pid) == pid || pthread_attr_init(&attributes))
        return;
    pthread_attr_setstacksize(&attributes, WATCH_STACK_B);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    zs_signals_hold(&before);
    if (pthread_create(&thread, &attributes, watch, c))
        zs_session_note(
            c, "what kernels find out is kept only as calls return: no thread could be made");
    zs_signals_release(&before);
    pthread_attr_destroy(&attributes);
}

/* ---- new ones ---- */

bool zs_instrument_fits(const struct zs_instrument_answer *l)
{
    bool counters =
        l->buffer_B <= ZS_INSTRUMENT_BUFFER_MAX_B && l->counter_count <= l->buffer_B / 8;
    if (!l->records_size_B)
        return counters;
    return counters && l->buffer_B % 8 == 0 && l->records_size_B % 8 == 0 &&
           l->records_offset_B % 8 == 0 && l->trace_offset_B % 8 == 0 &&
           l->records_offset_B <= l->buffer_B && l->trace_offset_B < l->records_offset_B &&
           l->records_size_B <= l->buffer_B - l->records_offset_B;
}

bool zs_instrument_keep(struct zs_collector *c, const struct zs_instrument_place_of *place,
                        const struct zs_instrument_answer *layout)
{
    struct zs_instrument_buffer *b = calloc(1, sizeof(*b));
    if (!b)
        return false;
    b->context = place->context;
    b->module = place->module;
    b->memory = place->memory;
    atomic_init(&b->shown, place->memory);
    atomic_init(&b->hole_B, NO_HOLE);
    b->counter_count = layout->counter_count;
    b->trace_offset_B = layout->trace_offset_B;
    b->records_offset_B = layout->records_offset_B;
    b->records_size_B = layout->records_size_B;
    ze_memory_access_cap_flags_t can = place->sharing;
    b->is_concurrent = can & ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT;
    b->is_emptied = b->is_concurrent && can & ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
    b->room_B = ZS_MIN(b->records_size_B, records_limit_B(c));
    uint32_t ordinal;
    bool has_ordinal = !zs_collect_ordinal(c, &ordinal);
    b->head = (struct zs_instrument_file){.magic = ZS_INSTRUMENT_MAGIC,
                                          .pid = (uint32_t)getpid(),
                                          .build = place->build,
                                          .ordinal = has_ordinal ? ordinal + 1 : 0,
                                          .buffer_B = layout->buffer_B,
                                          .trace_B = layout->records_size_B};
    memcpy(b->head.hash, layout->hash, sizeof(b->head.hash));
    atomic_init(&b->wants_room, b->is_emptied && !is_bound(c, b));
    if (b->records_size_B)
        atomic_fetch_add(&c->instrument_traces, 1);
    atomic_fetch_add(&c->instrument_rooms_B, b->records_size_B - place->room_B);
    b->next = atomic_load(&c->instrument_buffers);
    do
        atomic_init(&b->next_used, b->next);
    while (!atomic_compare_exchange_weak(&c->instrument_buffers, &b->next, b));
    /* before drivers' own handlers, which were registered as they were loaded */
    if (c->at_exit && !atomic_exchange(&c->exit_is_watched, true))
        atexit(c->at_exit);
    if (b->is_concurrent)
        start_watching(c);
    return true;
}
