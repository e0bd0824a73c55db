/* SPDX-License-Identifier: MIT */
/*
 * What zescope's debugger and its software GPU say to each other beyond the standard API: going
 * back within a launch, watched memory, counted launches. A private extension of zetDebug*: the
 * request is written to "registers" of a set that no driver lists, of the thread "all", and the
 * answer is read from there. Other drivers refuse the number of the set; another version of this
 * one refuses the version. Both sides check what they get.
 *
 * A launch that is recorded is executed by one host thread. What its threads did is a list of
 * steps: the position 0 is its beginning, and each instruction that a thread of the device executes
 * is one step. Going back puts the memory that the launch has written into its first state and
 * executes the same list again up to the position. What was ahead of it is forgotten: from there
 * the launch is executed anew.
 */
#ifndef ZS_WIRE_HISTORY_H
#define ZS_WIRE_HISTORY_H

#include <stdint.h>

enum {
    ZS_HISTORY_SET = 0x5a530100,   /* type of the register set; its registers have 8 bytes */
    ZS_HISTORY_MAGIC = 0x5453495a, /* "ZIST" */
    ZS_HISTORY_VERSION = 3,
    ZS_HISTORY_CODES_MAX = 256,
    ZS_HISTORY_RANGES_MAX = 16,
    ZS_HISTORY_HITS_MAX = 200,   /* in one answer */
    ZS_HISTORY_KEPT_MAX = 65536, /* of one search: the last ones */
    ZS_HISTORY_VALUE_B = 16,
};

enum zs_history_op {
    ZS_HISTORY_STATUS, /* of the thread's launch */
    ZS_HISTORY_MODE,   /* `mode`: which launches are recorded from now on */
    ZS_HISTORY_LAUNCH, /* stop in front of the first instruction of launch number `position` */
    ZS_HISTORY_GO,     /* to `position` of the thread's launch */
    ZS_HISTORY_BACK,   /* in front of the `count`th last instruction of the thread */
    ZS_HISTORY_SEARCH, /* up to now, in the last `position` instructions of the launch (0: all), for
                          `codes` and `ranges`, and with TRACE all that the thread executed;
                          afterwards all is as before */
    ZS_HISTORY_HITS,   /* of the last search: `count` from `first` on, ascending by position */
    ZS_HISTORY_WATCH,  /* stop threads that reach ranges[0 .. range_count): all that are watched */
    ZS_HISTORY_STOP,   /* why the thread has stopped: one hit, when its kind is not NONE */
    ZS_HISTORY_FIND,   /* thread `first` of the group with the id codes[0 .. 3), held, of the
                          request's thread's launch: hits[0].place */
    ZS_HISTORY_CANCEL,
    ZS_HISTORY_ITEMS, /* of the request's thread, recorded or not: `items` */
    ZS_HISTORY_FAULT, /* the access that the request's thread is stopped by: `memory` */
    ZS_HISTORY_NEAR, /* the allocation at or nearest to `position`: `memory`, of which the rest is 0
                      */
    ZS_HISTORY_OP_COUNT,
};

enum zs_history_mode {
    ZS_HISTORY_OFF,
    ZS_HISTORY_AUTO, /* launches of kernels that have breakpoints, or while memory is watched */
    ZS_HISTORY_ON,
};

/* What is the matter with a history. */
enum zs_history_lack {
    ZS_HISTORY_WHOLE,
    ZS_HISTORY_NOT_RECORDED,
    ZS_HISTORY_MODIFIED,  /* a debugger wrote memory while threads ran */
    ZS_HISTORY_TOO_LARGE, /* it had to remember more than it may */
    ZS_HISTORY_UNKNOWN,   /* a message that may have written what is not known */
    ZS_HISTORY_SHARED,    /* another launch ran at the same time */
    ZS_HISTORY_OTHERWISE, /* executing it again took another course: somebody else wrote memory */
    ZS_HISTORY_NO_MEMORY,
    ZS_HISTORY_NOWHERE, /* a thread stood where code that a debugger wrote has no instruction */
    ZS_HISTORY_LACK_COUNT,
};

enum { ZS_HISTORY_READ = 1, ZS_HISTORY_WRITE = 2, ZS_HISTORY_CHANGE = 4 /* writes that differ */ };
enum { ZS_HISTORY_MEMORY = 0, ZS_HISTORY_LOCAL = 1 };

struct zs_history_range {
    uint64_t gpu_va; /* or the offset in local memory: of the group of the request's thread */
    uint64_t size_B;
    uint64_t launch, group; /* local memory, and what a launch alone has: filled in by the driver
                               when launch is 0; the debugger keeps them */
    uint32_t space, access, id;
    uint32_t thread; /* private memory: that of its group, counted from 1; filled in likewise */
};

struct zs_history_thread {
    uint32_t slice, subslice, eu, thread;
};

enum { ZS_HISTORY_TRACE = 1 };
struct zs_history_request {
    uint32_t magic, version, op, mode;
    struct zs_history_thread thread;
    uint64_t position;
    uint32_t first, count, flags;
    uint32_t code_count, range_count, pad;
    uint64_t codes[ZS_HISTORY_CODES_MAX]; /* addresses of instructions */
    struct zs_history_range ranges[ZS_HISTORY_RANGES_MAX];
};

enum zs_history_kind {
    ZS_HISTORY_NONE,
    ZS_HISTORY_CODE,   /* a thread was about to execute one of `codes` */
    ZS_HISTORY_STEPS,  /* traced */
    ZS_HISTORY_ACCESS, /* of a range */
    ZS_HISTORY_BEGIN,  /* of the launch that was waited for */
};
struct zs_history_hit {
    uint64_t position; /* in front of the instruction */
    uint64_t ip_va;    /* its address */
    uint64_t gpu_va;   /* accesses: the first byte in the range */
    uint32_t kind, id; /* id: of the range */
    uint32_t access;   /* READ, WRITE or both */
    uint32_t size_B;   /* of what is in old and now, at most ZS_HISTORY_VALUE_B */
    uint32_t lane;     /* UINT32_MAX: the access is of the thread as a whole */
    uint32_t lanes;    /* all that reached the range, and of others those that ran */
    uint32_t group[3], item[3];
    uint32_t thread; /* of the group */
    uint32_t pad;
    struct zs_history_thread place; /* FIND alone */
    uint8_t old[ZS_HISTORY_VALUE_B], now[ZS_HISTORY_VALUE_B];
};

enum { ZS_HISTORY_LANES_MAX = 32 };
/* The work-items of a thread. */
struct zs_history_items {
    uint32_t group[3], group_size[3], global_offset[3];
    uint32_t thread; /* of the group */
    uint32_t lanes;  /* bits: those that have an item */
    uint32_t pad;
    uint32_t local_id[ZS_HISTORY_LANES_MAX][3];
};

/* An access that was refused, and what is near it. */
struct zs_history_memory {
    uint64_t gpu_va; /* or the offset, in local memory */
    uint32_t size_B; /* of one lane; 0: not known */
    uint32_t is_write, is_local;
    uint32_t is_freed;                    /* the allocation */
    uint64_t allocation_va, allocation_B; /* 0 bytes: none */
    char what[192];                       /* "out of bounds" */
};

enum { ZS_HISTORY_BUSY = 1 };
struct zs_history_answer {
    uint32_t magic, version;
    int32_t error; /* 0, or as zs_gpu_history_request() gives it: -errno */
    uint32_t pad;
    uint32_t flags, lack;
    uint64_t launch, position;     /* of the thread's launch */
    uint64_t launches;             /* that have begun */
    uint64_t at;                   /* BACK: the position that it leads to */
    uint32_t hit_count, hits_lost; /* of the search; lost: earlier ones that were not kept */
    uint32_t count, range_count;   /* in this answer */
    union {
        struct zs_history_hit hits[ZS_HISTORY_HITS_MAX];
        struct zs_history_range ranges[ZS_HISTORY_RANGES_MAX]; /* WATCH: filled in */
        struct zs_history_items items;
        struct zs_history_memory memory;
    };
};

_Static_assert(sizeof(struct zs_history_request) % 8 == 0, "registers of 8 bytes");
_Static_assert(sizeof(struct zs_history_answer) % 8 == 0, "registers of 8 bytes");

#endif
