/* SPDX-License-Identifier: MIT */
/*
 * Host backtraces of calls, as nodes of a tree of return addresses: one tree per trace file, a new
 * node is written once (record/trace_reader.h). Where the addresses lie is noted per process, in
 * trace/<pid>-<ordinal>.maps: a line of JSON for each file that was mapped.
 */
#ifndef ZS_COLLECT_BACKTRACE_H
#define ZS_COLLECT_BACKTRACE_H

#include "base/id_map.h"
#include "collect/collect.h"
#include "store/trace_writer.h"

enum { ZS_BACKTRACE_DEPTH_MAX = 64, ZS_BACKTRACE_NODES_B = 2048 };

/* What is mapped where, of one process. Threads share it. */
struct zs_maps {
    pthread_mutex_t lock;
    const struct zs_trace_process *process;
    uint64_t changes;           /* of the dynamic linker, when it was looked at last; 0: never */
    struct zs_map_range *known; /* that were written */
    size_t count, capacity;
};

/* The tree of one file. Zero-initialised is empty. */
struct zs_stack_tree {
    struct zs_id_map nodes; /* (parent's id, return address) -> id */
    uint32_t next_id;
};

/* Makes the unwinder ready, which may allocate and open libraries. */
void zs_backtrace_init(void);
void zs_maps_init(struct zs_maps *maps, const struct zs_trace_process *process);
/* The calling thread's stack without the frames of tracing itself; its innermost node, 0: none.
 * New nodes are written into the file. */
uint32_t zs_backtrace_take(struct zs_stack_tree *tree, struct zs_maps *maps,
                           struct zs_trace_file *file);
/* Something of the file was lost: forget what was written. */
void zs_stack_tree_clear(struct zs_stack_tree *tree);
void zs_stack_tree_free(struct zs_stack_tree *tree);

#endif
