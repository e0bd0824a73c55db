/* SPDX-License-Identifier: MIT */
/*
 * Device activity in trace files: field ZS_TRACE_FIELD_ACTIVITY of a packet is a protocol-buffer
 * message of the fields below; ZS_ACT_TYPE says which record it is. Numbers in brackets are
 * enumerators of this file.
 *
 *   DEVICE   ID, NAME, FREQUENCY_HZ of its timestamps, ORDINAL of a tile, from 1, INDEX among those
 *            of its name, from 1
 *   QUEUE    ID, DEVICE, ORDINAL, INDEX, IMMEDIATE, TRACK; API (of a DEVICE, too). One of OpenCL
 *            says IMMEDIATE, for what is enqueued is executed once
 *   KERNEL   ID, NAME, BUILD (id of the zeModuleCreate in the process's modules.jsonl), SIMD,
 *            SPILL_B, PRIVATE_B, LOCAL_B, BASE (device address of its code), REWRITTEN (by a tool)
 *   APPEND   ID, KIND, LIST (handle), DEVICE; kernels: KERNEL, GROUPS and SIZE x y z, LOCAL_B of
 *            local memory in arguments, COUNT of kernels in one call; copies and fills: BYTES, FROM
 *            and TO. Written inside the API call that appended, or with its end. A field that is
 *            absent was not known.
 *   EXECUTE  ID of the append, QUEUE, SUBMIT_NS, START_NS, END_NS (CLOCK_MONOTONIC); without START
 *            and END: it was executed, its times are not known. ESTIMATED: the device tells no time
 *            that could be tied to the host's, only the duration is measured. AGAIN: the append may
 *            be executed again, though the queue is that of an immediate list.
 *
 *   PAUSE    ID, REASON: nothing is recorded from the packet's time on, until the next
 *   RESUME   ID, REASON. Modules, handles and what is appended to regular lists are followed all
 *            the same; such an APPEND comes with its first recorded execution and says EARLIER.
 *   MARK     ID, NAME: the application said so at the packet's time, on this file's thread
 *   RANGE    ID, NAME; RANGE_END ID: the same for a range; they nest
 *   METRIC_GROUP  ID, DEVICE, NAME, DESCRIPTION, DOMAIN, SAMPLING (of the API), COUNT of metrics,
 *            which follow: METRIC: ID (from 1, the order of values), GROUP, NAME, DESCRIPTION,
 *            COMPONENT, UNITS, METRIC_TYPE, VALUE_TYPE, TIER
 *   QUERY    ID of the append, SUBMIT_NS of the EXECUTE, GROUP, RAW (the report as the driver gave
 *            it), VALUES (as it calculated them: 8 bytes for each metric, little-endian, an
 *            unsigned number or a double by VALUE_TYPE; absent when it could not; several sets
 *            where the report has more than one). PART n > 0: more sets of the QUERY before it
 *   SAMPLES  GROUP, START_NS, RAW: data of a streamer, a part. LOST: some before it were
 *   SAMPLE   GROUP, START_NS, END_NS, VALUES: a report that was calculated from them
 *   UNMEASURED  COUNT of executions that have no metrics, DESCRIPTION: why. The last of a process
 *            and description counts
 *   GONE     LIST (handle), KIND (a row of act_objects.def): it was destroyed or freed while
 *            recording was paused, so that it is not taken for a leak
 *
 * Ids count from 1 in each process (its ordinal is in the files' names). An EXECUTE may stand in
 * another thread's file than its APPEND, before or behind it; an APPEND that is executed again has
 * several.
 */
#ifndef ZS_STORE_ACTIVITY_H
#define ZS_STORE_ACTIVITY_H

#include "base/compiler.h"

enum zs_activity_kind {
#define ACTIVITY(enumerator, number, name) ZS_ACTIVITY_##enumerator = number,
#include "store/activity.def"
#undef ACTIVITY
    ZS_ACTIVITY_KINDS
};

enum zs_activity_memory { /* where a copy's bytes lie */
                          ZS_MEMORY_UNKNOWN,
                          ZS_MEMORY_SYSTEM, /* not allocated through Level Zero */
                          ZS_MEMORY_HOST,
                          ZS_MEMORY_DEVICE,
                          ZS_MEMORY_SHARED,
                          ZS_MEMORY_IMAGE,
};

enum zs_activity_record {
    ZS_ACT_DEVICE = 1,
    ZS_ACT_QUEUE,
    ZS_ACT_KERNEL,
    ZS_ACT_APPEND,
    ZS_ACT_EXECUTE,
    ZS_ACT_PAUSE,
    ZS_ACT_RESUME,
    ZS_ACT_MARK,
    ZS_ACT_RANGE,
    ZS_ACT_RANGE_END,
    ZS_ACT_GONE,
    ZS_ACT_ENDED, /* the process ends in good order; its time is all that matters */
    ZS_ACT_METRIC_GROUP,
    ZS_ACT_METRIC,
    ZS_ACT_QUERY,
    ZS_ACT_SAMPLES,
    ZS_ACT_SAMPLE,
    ZS_ACT_UNMEASURED,
};

/* Through what the application uses a device; absent: Level Zero. */
enum zs_activity_api { ZS_ACT_API_LEVEL_ZERO, ZS_ACT_API_OPENCL };

/* Why recording was paused or went on. */
enum zs_pause_reason {
    ZS_PAUSE_START = 1, /* --paused, --delay, --start-at-kernel */
    ZS_PAUSE_SIGNAL,
    ZS_PAUSE_API,
    ZS_PAUSE_KERNEL,
    ZS_PAUSE_TIME,
};

enum zs_activity_field {
    ZS_ACT_TYPE = 1,
    ZS_ACT_ID = 2,
    ZS_ACT_NAME = 3,
    ZS_ACT_FREQUENCY_HZ = 4,
    ZS_ACT_DEVICE_ID = 5,
    ZS_ACT_ORDINAL = 6,
    ZS_ACT_INDEX = 7,
    ZS_ACT_IMMEDIATE = 8,
    ZS_ACT_TRACK = 9,
    ZS_ACT_SIMD = 10,
    ZS_ACT_SPILL_B = 11,
    ZS_ACT_PRIVATE_B = 12,
    ZS_ACT_LOCAL_B = 13,
    ZS_ACT_KIND = 14,
    ZS_ACT_LIST = 15,
    ZS_ACT_KERNEL_ID = 16,
    ZS_ACT_GROUPS = 17, /* three times */
    ZS_ACT_SIZE = 18,   /* three times */
    ZS_ACT_COUNT = 19,
    ZS_ACT_BYTES = 20,
    ZS_ACT_FROM = 21,
    ZS_ACT_TO = 22,
    ZS_ACT_QUEUE_ID = 23,
    ZS_ACT_SUBMIT_NS = 24,
    ZS_ACT_START_NS = 25,
    ZS_ACT_END_NS = 26,
    ZS_ACT_ESTIMATED = 27,
    ZS_ACT_REASON = 28,
    ZS_ACT_EARLIER = 29,
    ZS_ACT_AGAIN = 30,
    ZS_ACT_BUILD = 31,
    ZS_ACT_FIELDS, /* of the records above; those of metrics: */
    ZS_ACT_DESCRIPTION = 32,
    ZS_ACT_COMPONENT = 33,
    ZS_ACT_UNITS = 34,
    ZS_ACT_GROUP_ID = 35,
    ZS_ACT_DOMAIN = 36,
    ZS_ACT_SAMPLING = 37,
    ZS_ACT_METRIC_TYPE = 38,
    ZS_ACT_VALUE_TYPE = 39,
    ZS_ACT_TIER = 40,
    ZS_ACT_RAW = 41,
    ZS_ACT_VALUES = 42,
    ZS_ACT_LOST = 43,
    ZS_ACT_PART = 44,
    ZS_ACT_BASE = 45,      /* of KERNEL */
    ZS_ACT_REWRITTEN = 46, /* of KERNEL, too */
    ZS_ACT_API = 47,       /* of DEVICE and QUEUE: enum zs_activity_api */
};

#endif
