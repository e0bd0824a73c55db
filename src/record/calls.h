/* SPDX-License-Identifier: MIT */
/*
 * The API calls of one trace file, in the order in which they began: begin and end are paired,
 * nested calls stand behind the one around them. Memory is bounded by the nesting, not by the file.
 */
#ifndef ZS_RECORD_CALLS_H
#define ZS_RECORD_CALLS_H

#include "calls/codec.h"
#include "record/trace_reader.h"

enum { ZS_CALLS_PENDING_MAX = 4096 };

struct zs_call {
    struct zs_span name;    /* "zeInit" */
    uint64_t start_ns;      /* CLOCK_MONOTONIC */
    uint64_t duration_ns;   /* 0 while not finished */
    struct zs_span in, out; /* arguments on enter and exit as they were written */
    uint32_t depth;         /* 0: called by the application */
    bool finished;
    bool in_after_drop, out_after_drop; /* packets were lost just before */
    uint32_t stack;                     /* for zs_trace_stack(&calls->reader, ...); 0: none */
    uint32_t where;                     /* merge.h: the same, of the recording */
    int32_t result;                     /* ze_result_t; 0 while not finished */
    struct zs_span shape;               /* how the arguments are written; see zs_trace_event_in */
    int call;                           /* index for zs_api_call_*, or -1: unknown to this build */
};

/* What a file says of a call. */
struct zs_call_kind {
    struct zs_span name;       /* where it stands, not what: names live as long as the reader */
    int call;                  /* as in struct zs_call */
    struct zs_api_shape shape; /* this build's, or the file's own where they differ */
    bool is_readable;          /* the arguments can be decoded */
};

struct zs_calls {
    struct zs_trace_reader reader;
    uint32_t pid, tid;
    char thread_name[64], process_name[256]; /* may be empty; cut to fit */
    uint64_t track;                          /* of the thread */
    const char *rank;        /* borrowed: stands before the name of the process; NULL: none */
    struct zs_call *pending; /* [pending_count]: since the last call at depth 0 */
    struct zs_buf bytes;     /* their arguments; spans of pending calls are offsets into it */
    uint32_t pending_count, pending_at, pending_capacity;
    uint32_t open[64]; /* indices into pending */
    uint32_t depth;
    uint64_t lost; /* ends without a begin, begins nested too deep */
    struct zs_codec codec;
    struct zs_api_values values;   /* of the call that was given last */
    struct zs_call_kind kinds[64]; /* cache, by name */
    struct zs_arena arena;         /* shapes that are not this build's */
    uint64_t unreadable;           /* calls whose arguments are of a kind that nobody knows here */
    bool ended;
    bool drop_pending;
    /* Set by a reader that wants records of device activity (store/activity.h): called while
     * reading ahead, with the calls that began so far counted in `begun`. After record_limit of
     * them outside of calls, zs_calls_step returns (0: never). */
    void (*on_record)(void *user, const struct zs_calls *calls, const struct zs_trace_event_in *e);
    void *record_user;
    uint32_t record_limit, records;
    uint64_t begun;
};

void zs_calls_open(struct zs_calls *calls, struct zs_span span);
/* Piece by piece, in bounded memory; fd is borrowed until close. 0 or -ENOMEM. */
int zs_calls_open_fd(struct zs_calls *calls, int fd);
void zs_calls_close(struct zs_calls *calls);
/* The next call; false at the end. A call that never returned comes with finished = false. Its
 * arguments, as far as they were recorded, stand in calls->values until the next one. */
bool zs_calls_next(struct zs_calls *calls, struct zs_call *ret_call);

enum zs_calls_step { ZS_CALLS_END, ZS_CALLS_CALL, ZS_CALLS_RECORDS };
/* The same, but returns ZS_CALLS_RECORDS when record_limit records came without a call. */
enum zs_calls_step zs_calls_step(struct zs_calls *calls, struct zs_call *ret_call);

#endif
