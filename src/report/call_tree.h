/* SPDX-License-Identifier: MIT */
/*
 * The call tree of a recording with backtraces: functions of the application from the outermost
 * inwards, below them the API calls, or the kernels and copies that were appended there. Times are
 * inclusive.
 *
 * What is added is kept by (stack, leaf); the tree is made once, when everything was read.
 */
#ifndef ZS_REPORT_CALL_TREE_H
#define ZS_REPORT_CALL_TREE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/id_map.h"
#include "base/json.h"
#include "record/activities.h"
#include "symbols/symbols.h"

enum zs_tree_of {
    ZS_TREE_HOST,   /* time in API calls; calls inside calls are not counted twice */
    ZS_TREE_DEVICE, /* time of executions on devices, under the call that appended them */
    ZS_TREES
};

struct zs_tree_node {
    const char *name;
    const char *module;                         /* of a kernel, where it is known; or NULL */
    uint64_t ns, count;                         /* with everything below it */
    struct zs_tree_node *parent, *child, *next; /* children: the longest first */
    uint32_t number;                            /* in JSON */
};

struct zs_call_tree {
    struct zs_arena *arena; /* borrowed */
    struct zs_id_map leaves[ZS_TREES], names, twins;
    struct {
        struct zs_tree_leaf **items;
        size_t count, capacity;
    } added[ZS_TREES];
    struct zs_tree_node *roots[ZS_TREES]; /* made by zs_call_tree_make; NULL: nothing was added */
};

void zs_call_tree_fini(struct zs_call_tree *tree);
/* `where`: number of a stack, 0: not known. `leaf`: the one copy of that text, which lives as long
 * as the tree. 0 or -ENOMEM. */
int zs_call_tree_add(struct zs_call_tree *tree, enum zs_tree_of of, uint32_t where,
                     const char *leaf, uint64_t ns);
/* The same of a kernel whose module is known, by the one copy of its name (or NULL): those of one
 * name that are of several modules stand apart. */
int zs_call_tree_add_of(struct zs_call_tree *tree, enum zs_tree_of of, uint32_t where,
                        const char *leaf, const char *module, uint64_t ns);
/* `symbols` may be NULL: then there are addresses. 0 or -ENOMEM. */
int zs_call_tree_make(struct zs_call_tree *tree, const struct zs_activities *activities,
                      struct zs_symbols *symbols);

/* What takes less than this part of all time (hundredths of a percent) is summed up in a line. */
void zs_call_tree_text(const struct zs_call_tree *tree, enum zs_tree_of of, uint32_t least,
                       bool color, struct zs_buf *out);
/* "main;solve;zeFenceHostSynchronize 1234" lines, nanoseconds of each place itself: what
 * flamegraph.pl, speedscope and others read. */
void zs_call_tree_folded(const struct zs_call_tree *tree, enum zs_tree_of of, struct zs_buf *out);
/* [{"parent", "name", "module", "total_ns", "count"}] as the member `key`, parents (indices) before
 * children, the root without one; null when nothing was added. */
void zs_call_tree_json(const struct zs_call_tree *tree, enum zs_tree_of of, const char *key,
                       struct zs_json *json);

#endif
