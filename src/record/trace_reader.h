/* SPDX-License-Identifier: MIT */
/*
 * Reading one trace file (trace_writer.h) back: a sequence of Perfetto packets, hostile input.
 * Kinds of packets and fields that are not known are skipped by their length. Reading ends at the
 * first packet that is not whole: `damaged` says whether anything but zeros stood there.
 */
#ifndef ZS_RECORD_TRACE_READER_H
#define ZS_RECORD_TRACE_READER_H

#include "base/arena.h"
#include "base/reader.h"

enum zs_trace_kind {
    ZS_TRACE_TRACK, /* a track was described: track, parent, pid, tid, name */
    ZS_TRACE_BEGIN,
    ZS_TRACE_END,
    ZS_TRACE_INSTANT,
    ZS_TRACE_COUNTER,
    ZS_TRACE_RECORD, /* nothing but field ZS_TRACE_FIELD_ACTIVITY */
};

/*
 * Host backtraces are paths in a tree of return addresses, one tree per file: a node is written
 * before its first use, node ids count from 1. ZS_TRACE_FIELD_STACK_NODES holds LEB128 numbers: the
 * id of the first node, then per node the id of its parent (0: outermost frame) and the zigzag
 * difference of its address to the one of the node before it (of the first: to 0).
 */
enum { ZS_TRACE_NODES_MAX = 1 << 22, ZS_TRACE_STACK_MAX = 128 };

struct zs_trace_node {
    uint64_t pc; /* return address; 0: this id was never written */
    uint32_t parent;
};

struct zs_trace_event_in {
    enum zs_trace_kind kind;
    uint64_t time_ns;      /* CLOCK_MONOTONIC */
    uint64_t track;        /* uuid */
    struct zs_span name;   /* empty where there is none; interned ones live as long as the reader */
    struct zs_span shape;  /* field ZS_TRACE_FIELD_SHAPE of the name; lives as long; may be empty */
    struct zs_span call;   /* field ZS_TRACE_FIELD_CALL */
    struct zs_span record; /* field ZS_TRACE_FIELD_ACTIVITY */
    struct zs_span event;  /* the TrackEvent or TrackDescriptor message, for other fields */
    uint32_t stack;        /* node of the call's innermost frame, 0: none */
    int64_t value;         /* counters */
    uint64_t parent_track; /* tracks */
    uint32_t pid, tid;     /* tracks of threads; pid alone: of processes; 0: others */
    bool is_counter;       /* tracks */
    bool after_drop;       /* packets of this sequence were lost before this one */
};

struct zs_trace_reader {
    struct zs_reader r;
    int fd;          /* -1: everything is in r */
    uint8_t *buffer; /* of a file: r is a window of it */
    size_t buffer_B;
    bool at_end;           /* nothing is left in the file */
    struct zs_arena arena; /* interned names */
    struct zs_span *names; /* by iid */
    struct zs_span *shapes;
    uint32_t name_capacity;
    uint64_t clock_ns; /* of the delta clock */
    uint64_t default_track;
    struct zs_trace_node *nodes; /* by id; [0] is nothing */
    uint32_t node_count, node_capacity;
    bool drop_pending;
    bool damaged;
    uint64_t whole_B;    /* the whole packets that were read so far */
    struct zs_diag diag; /* what was wrong, when damaged */
};

/* `span` is borrowed until close. */
void zs_trace_reader_open(struct zs_trace_reader *reader, struct zs_span span);
/* Reads a file piece by piece, in constant memory, from its current position. fd is borrowed until
 * close. Spans of an event live until the next one, but for names of slices. 0 or -ENOMEM. */
int zs_trace_reader_open_fd(struct zs_trace_reader *reader, int fd);
void zs_trace_reader_close(struct zs_trace_reader *reader);
/* The next event that matters; false at the end. */
bool zs_trace_reader_next(struct zs_trace_reader *reader, struct zs_trace_event_in *ret_event);

/* Return addresses from the innermost frame outwards; how many there are. */
uint32_t zs_trace_stack(const struct zs_trace_reader *reader, uint32_t stack,
                        uint64_t ret_pcs[ZS_TRACE_STACK_MAX]);

/* One field of a protocol-buffer message; for the annotations and flows of `event` above. */
struct zs_pb_field {
    uint32_t number;
    uint64_t value;       /* varint, fixed64, fixed32 */
    struct zs_span bytes; /* length-delimited */
    bool is_bytes;
};
/* False at the end and on damage (then r->error is set). */
bool zs_pb_next(struct zs_reader *r, struct zs_pb_field *ret_field);

#endif
