/* SPDX-License-Identifier: MIT */
/*
 * Traces on disk, written inside the traced process: one file per thread (or other source of
 * events), each a sequence of Perfetto TracePackets. docs/recording.md tells the packets' fields.
 *
 *  - A file is mapped into memory: what was written is kept when the process is killed. A packet's
 *    first byte is stored last, so a reader that stops at a zero byte sees whole packets only.
 *  - Space is filled with zeros before it is mapped, so a full disk is an error and not a SIGBUS.
 *    What cannot be written is dropped and counted.
 *  - No descriptor is kept: the application may close all, or get any number again. A file is
 * opened by its path when it grows or ends, and is used only when device and inode are those of the
 * file that was made. Where that fails for a reason that may pass (no descriptors, no memory), it
 * is tried again after more and more packets have been dropped.
 *  - A thread writes its own file only: no locks, no shared cache lines but one counter that
 *    changes when a file grows.
 *  - Only who writes a file cuts its unused end off, when its thread or process ends: a process may
 *    outlive the recorder, and a window of a file that has shrunk is a trap (SIGBUS). Who is killed
 *    leaves a window of zeros behind its last packet; readers stop there.
 */
#ifndef ZS_STORE_TRACE_WRITER_H
#define ZS_STORE_TRACE_WRITER_H

#include "base/compiler.h"

#include <stdatomic.h>

enum {
    ZS_TRACE_FIRST_WINDOW_B = 64 << 10,
    ZS_TRACE_WINDOW_B = 256 << 10,   /* mapped at a time; fits a cache of the second level */
    ZS_TRACE_PACKET_MAX_B = 8 << 10, /* larger packets are dropped */
    ZS_TRACE_CALL_MAX_B = 7 << 10,   /* of call data */
    ZS_TRACE_NAMES_MAX = 4096,       /* interned names per file */
    ZS_TRACE_PATH_CHARS = 4096,
    /* TracePacket field that holds a call's arguments; Perfetto skips fields it does not know */
    ZS_TRACE_FIELD_CALL = 2047,
    /* ... and a record of device activity (store/activity.h) */
    ZS_TRACE_FIELD_ACTIVITY = 2046,
    /* host backtraces: nodes of the file's call tree, the innermost of a call
     * (record/trace_reader.h) */
    ZS_TRACE_FIELD_STACK_NODES = 2045,
    ZS_TRACE_FIELD_STACK = 2044,
    /* with a name's first use: the name's iid, LEB128, and how its calls' arguments are written */
    ZS_TRACE_FIELD_SHAPE = 2043,
    /* clock of the packets: sequence-scoped, nanoseconds, each the difference to the one before */
    ZS_TRACE_CLOCK_DELTA = 64,
    ZS_TRACE_CLOCK_MONOTONIC = 3,
    ZS_TRACE_CLOCK_BOOTTIME = 6,
};

enum zs_trace_claim { ZS_TRACE_UNCLAIMED, ZS_TRACE_CLAIMING, ZS_TRACE_CLAIMED };

/* One traced process; shared by its threads. */
struct zs_trace_process {
    char dir[ZS_TRACE_PATH_CHARS]; /* where files are made */
    uint32_t pid;
    atomic_int claim;             /* enum zs_trace_claim: whether the ordinal is known */
    uint32_t ordinal;             /* of the process in the recording: makes sequence ids unique */
    uint64_t limit_B;             /* of all files of this process, 0: none */
    atomic_uint_fast64_t size_B;  /* reserved so far */
    atomic_uint_fast64_t dropped; /* packets that could not be written */
    atomic_uint sequences;
    bool has_ticks; /* the time-stamp counter can be used (struct zs_trace_clock) */
    atomic_int last_errno;
    _Atomic uint64_t *lost; /* counts what is dropped too, may be NULL; borrowed */
};

/* Processes of a recording are numbered by who first claims a number in the folder `dir`, which is
 * made where it is missing: process ids are used again, stay through exec, and are not one's own in
 * namespaces. 0 or -errno. */
int zs_trace_claim(const char *dir, uint32_t *ret_ordinal);
/* ordinal: what was claimed in `dir`; NULL: one is claimed now. 0 or -errno; the process can be
 * used after an error: its files try again. */
int zs_trace_process_open(struct zs_trace_process *process, const char *dir, uint64_t limit_B,
                          const uint32_t *ordinal);

/*
 * The time-stamp counter as CLOCK_MONOTONIC: half the cost of asking. Each file (thread) has its
 * own; it asks again every millisecond, and all the time until it has measured the counter's rate.
 */
struct zs_trace_clock {
    bool usable; /* the kernel's own clock is the time-stamp counter */
    uint64_t first_ns, first_ticks;
    uint64_t last_ns, last_ticks, limit_ticks; /* good for so many ticks after the last asking */
    uint64_t ns_per_tick;                      /* << 32 */
};

/* One file. */
struct zs_trace_file {
    struct zs_trace_process *process;
    char name[48];          /* in the process's folder; "": not made yet */
    uint64_t device, inode; /* of the file that was made */
    uint32_t tid;
    char thread_name[32];
    const char *process_name; /* borrowed */
    bool is_begun;            /* its first packets are written */
    bool is_over;             /* it can grow no more */
    uint32_t wait, patience;  /* packets to drop before it is tried to grow it again */
    uint32_t sequence_id;
    uint64_t track_uuid;
    uint8_t *window;    /* mapped; NULL when nothing can be written (any more) */
    uint64_t window_at; /* file offset of the window */
    uint64_t filled_B;  /* of the file, with zeros or what was written */
    uint32_t window_B;
    uint32_t used_B;  /* in the window */
    uint64_t last_ns; /* timestamp of the last packet */
    struct zs_trace_clock clock;
    uint8_t header[8]; /* what stands behind the timestamp of each begin: sequence id, flags */
    uint32_t header_B;
    uint8_t *open_length, *open_start; /* of the packet between _open and _close */
    uint32_t reported_drops;
    uint32_t drops;                          /* since the last packet that was written */
    uint64_t names[ZS_TRACE_NAMES_MAX / 64]; /* bit: the name has been written to this file */
    /* Set by whoever writes call data: its shape by name_id (calls/describe.h), for readers that
     * were built with other headers. Returns the bytes written, 0 for none. NULL: none. */
    size_t (*shape)(uint32_t name_id, uint8_t *out, size_t room_B);
};

/* Make the file of a thread: descriptors of its process and thread and a clock snapshot go first.
 * Both names may be NULL; that of the process is borrowed. 0 or -errno; the file can be used after
 * an error: it drops, and is made later if that becomes possible. */
int zs_trace_file_open(struct zs_trace_file *file, struct zs_trace_process *process, uint32_t tid,
                       const char *thread_name, const char *process_name);
/* Cut the file to what was written, unmap. Nothing more is written to it, or (rest) it goes on with
 * the next packet. Both do nothing in a process that does not own the file. */
void zs_trace_file_close(struct zs_trace_file *file);
void zs_trace_file_rest(struct zs_trace_file *file);

/* A slice of the thread's track. name_id < ZS_TRACE_NAMES_MAX names it, `name` is written the first
 * time; call_data (may be empty) goes into field ZS_TRACE_FIELD_CALL. Nanoseconds are
 * CLOCK_MONOTONIC and do not go back within a file. */
void zs_trace_begin(struct zs_trace_file *file, uint64_t now_ns, uint32_t name_id, const char *name,
                    const void *call_data, size_t call_data_B);
void zs_trace_end(struct zs_trace_file *file, uint64_t now_ns, const void *call_data,
                  size_t call_data_B);
/*
 * The same without copying: returns where at most ZS_TRACE_CALL_MAX_B bytes of call data are to be
 * written; then close with how many there are, and nothing in between. NULL: dropped, no close.
 * stack: the innermost node of its backtrace, 0 without.
 */
uint8_t *zs_trace_begin_open(struct zs_trace_file *file, uint64_t now_ns, uint32_t name_id,
                             const char *name, uint32_t stack);
uint8_t *zs_trace_end_open(struct zs_trace_file *file, uint64_t now_ns);
/* An end that has no call data but a record of activity in its place. */
uint8_t *zs_trace_end_record_open(struct zs_trace_file *file, uint64_t now_ns);
void zs_trace_call_close(struct zs_trace_file *file, uint64_t now_ns, size_t call_data_B);
/* The same for the message in field ZS_TRACE_FIELD_ACTIVITY. */
uint8_t *zs_trace_record_open(struct zs_trace_file *file, uint64_t now_ns);
/* Any packet: `packet` holds the fields of a TracePacket but for the sequence id and timestamp. */
void zs_trace_packet(struct zs_trace_file *file, uint64_t now_ns, const void *packet,
                     size_t packet_B);

/* The same with a time of its own, in any order: CLOCK_MONOTONIC, absolute. */
void zs_trace_packet_at(struct zs_trace_file *file, uint64_t time_ns, const void *packet,
                        size_t packet_B);
/* uuid of the track of a process; others of a process hang below it. */
uint64_t zs_trace_process_uuid(const struct zs_trace_process *process);
/* A uuid that no other track of the recording has, for (process, any number). */
uint64_t zs_trace_track_uuid(const struct zs_trace_process *process, uint64_t number);

uint64_t zs_trace_now_ns(void);
/* The same, cheaper, for whoever writes the file. */
uint64_t zs_trace_file_now_ns(struct zs_trace_file *file);

#endif
