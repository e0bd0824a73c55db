/* SPDX-License-Identifier: MIT */
/*
 * Live allocations by address: a tree of which many launches have a version each.
 *
 * A version is a reference to a root. Who changes a map copies the nodes on its way that others
 * see, too, and no others: so a version costs nothing, and a change as many nodes as the tree is
 * deep, fewer when nobody looks. The tree is a treap: parents have the greater priority, a hash of
 * the address, which keeps it about twice as deep as a balanced one and needs no other balancing.
 *
 * One thread changes a map at a time; references are dropped by any.
 */
#include "dataport/dataport.h"

#include <stdatomic.h>
#include <stdlib.h>

void zs_port_node_init(struct zs_port_node *node, const struct zs_port_range *range, bool embedded)
{
    node->range = *range;
    node->left = node->right = NULL;
    atomic_init(&node->references, 1);
    node->priority = (uint32_t)(range->start * 0x9e3779b97f4a7c15ull >> 32);
    node->embedded = embedded;
}

static struct zs_port_node *ref(struct zs_port_node *node)
{
    if (node)
        atomic_fetch_add_explicit(&node->references, 1, memory_order_relaxed);
    return node;
}

/* As deep as the tree. */
static void drop(struct zs_port_node *node)
{
    while (node && atomic_fetch_sub_explicit(&node->references, 1, memory_order_acq_rel) == 1) {
        struct zs_port_node *right = node->right;
        drop(node->left);
        if (!node->embedded)
            free(node);
        node = right;
    }
}

struct zs_port_map zs_port_map_ref(const struct zs_port_map *map)
{
    return (struct zs_port_map){ref(map->root)};
}

void zs_port_map_drop(struct zs_port_map *map)
{
    drop(map->root);
    map->root = NULL;
}

/* Make a node, whose parents nobody else sees, one that may be changed. false: no memory. */
static bool own(struct zs_port_node **at)
{
    struct zs_port_node *node = *at;
    if (atomic_load_explicit(&node->references, memory_order_acquire) == 1)
        return true;
    struct zs_port_node *copy = malloc(sizeof(*copy));
    if (!copy)
        return false;
    zs_port_node_init(copy, &node->range, false);
    copy->left = ref(node->left);
    copy->right = ref(node->right);
    *at = copy;
    drop(node);
    return true;
}

/* What lies below an address goes to *left, the rest to *right. */
static bool split(struct zs_port_node *node, uint64_t start, struct zs_port_node **left,
                  struct zs_port_node **right)
{
    bool ok = true;
    *left = *right = NULL;
    while (node && (ok = own(&node))) {
        struct zs_port_node ***side = node->range.start < start ? &left : &right;
        struct zs_port_node **inner = node->range.start < start ? &node->right : &node->left;
        **side = node;
        *side = inner;
        node = *inner;
        *inner = NULL;
    }
    drop(node);
    return ok;
}

bool zs_port_map_put(struct zs_port_map *map, struct zs_port_node *fresh)
{
    struct zs_port_node **at = &map->root;
    uint64_t start = fresh->range.start;
    bool ok = true;
    while (*at && (*at)->priority >= fresh->priority && (ok = own(at)))
        at = (*at)->range.start < start ? &(*at)->right : &(*at)->left;
    struct zs_port_node *below = ok ? *at : NULL;
    if (ok) {
        *at = fresh;
        ok = split(below, start, &fresh->left, &fresh->right);
    } else if (!fresh->embedded) {
        free(fresh);
    }
    if (!ok)
        zs_port_map_drop(map);
    return ok;
}

bool zs_port_map_insert(struct zs_port_map *map, const struct zs_port_range *range)
{
    struct zs_port_node *fresh = malloc(sizeof(*fresh));
    if (!fresh) {
        zs_port_map_drop(map);
        return false;
    }
    zs_port_node_init(fresh, range, false);
    return zs_port_map_put(map, fresh);
}

/* All of a lies below all of b. */
static bool merge(struct zs_port_node *a, struct zs_port_node *b, struct zs_port_node **at)
{
    *at = NULL;
    while (a && b) {
        bool first = a->priority >= b->priority;
        struct zs_port_node **top = first ? &a : &b;
        if (!own(top)) {
            drop(a);
            drop(b);
            return false;
        }
        *at = *top;
        at = first ? &(*top)->right : &(*top)->left;
        *top = *at;
        *at = NULL;
    }
    *at = a ? a : b;
    return true;
}

bool zs_port_map_remove(struct zs_port_map *map, uint64_t start)
{
    struct zs_port_node **at = &map->root;
    bool ok = true;
    while (*at && (*at)->range.start != start && (ok = own(at)))
        at = (*at)->range.start < start ? &(*at)->right : &(*at)->left;
    struct zs_port_node *gone = ok ? *at : NULL;
    if (gone) {
        struct zs_port_node *left = ref(gone->left), *right = ref(gone->right);
        *at = NULL;
        /* its own references to them go first: they may be changed when nobody else has it */
        drop(gone);
        ok = merge(left, right, at);
    }
    if (!ok)
        zs_port_map_drop(map);
    return ok;
}

/* ---- Looking -----------------------------------------------------------------------------------
 */

const struct zs_port_range *zs_port_map_floor(const struct zs_port_map *map, uint64_t gpu_va)
{
    const struct zs_port_range *found = NULL;
    for (const struct zs_port_node *n = map->root; n;) {
        bool below = n->range.start <= gpu_va;
        found = below ? &n->range : found;
        n = below ? n->right : n->left;
    }
    return found;
}

const struct zs_port_range *zs_port_map_above(const struct zs_port_map *map, uint64_t gpu_va)
{
    const struct zs_port_range *found = NULL;
    for (const struct zs_port_node *n = map->root; n;) {
        bool above = n->range.start > gpu_va;
        found = above ? &n->range : found;
        n = above ? n->left : n->right;
    }
    return found;
}

const struct zs_port_range *zs_port_map_find(const struct zs_port_map *map, uint64_t gpu_va,
                                             uint64_t size_B)
{
    const struct zs_port_range *range = zs_port_map_floor(map, gpu_va);
    return range && gpu_va < range->end && size_B <= range->end - gpu_va ? range : NULL;
}

bool zs_port_map_reach(const struct zs_port_map *map, uint64_t gpu_va, uint64_t size_B,
                       struct zs_port_range *ret)
{
    const struct zs_port_range *range = zs_port_map_floor(map, gpu_va);
    *ret = (struct zs_port_range){0};
    if (!range || gpu_va >= range->end)
        return false;
    *ret = *range;
    while (size_B > ret->end - gpu_va) {
        const struct zs_port_range *next = zs_port_map_above(map, range->start);
        if (!ret->is_joined || !next || !next->is_joined || next->start != ret->end ||
            next->bias != ret->bias || next->read_only != ret->read_only)
            return false;
        ret->end = next->end;
        range = next;
    }
    return true;
}
