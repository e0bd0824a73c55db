/* SPDX-License-Identifier: MIT */
#include "report/call_tree.h"

#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/times.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Deeper frames than these are left out of pictures and lines, from the outside. */
enum { TREE_DEPTH_MAX = 200, FRAME_NAME_B = 512 };

/* What stands at the end of a stack: one of these for each pair. */
struct tree_twin {
    const char *name, *module;
};

struct zs_tree_leaf {
    uint32_t where;
    const struct tree_twin *what;
    uint64_t ns, count;
};

void zs_call_tree_fini(struct zs_call_tree *tree)
{
    for (int of = 0; of < ZS_TREES; of++) {
        zs_id_map_fini(&tree->leaves[of]);
        free(tree->added[of].items);
    }
    zs_id_map_fini(&tree->names);
    zs_id_map_fini(&tree->twins);
}

/* Names are compared by address: callers give the one copy that they have of a text. */
static const struct tree_twin *twin_of(struct zs_call_tree *tree, const char *name,
                                       const char *module)
{
    struct tree_twin *twin = zs_id_map_get(&tree->twins, (uintptr_t)name, (uintptr_t)module);
    if (twin)
        return twin;
    twin = ZS_ARENA_NEW(tree->arena, struct tree_twin);
    if (!twin || zs_id_map_put(&tree->twins, (uintptr_t)name, (uintptr_t)module, twin))
        return NULL;
    *twin = (struct tree_twin){name, module};
    return twin;
}

int zs_call_tree_add(struct zs_call_tree *tree, enum zs_tree_of of, uint32_t where,
                     const char *name, uint64_t ns)
{
    return zs_call_tree_add_of(tree, of, where, name, NULL, ns);
}

int zs_call_tree_add_of(struct zs_call_tree *tree, enum zs_tree_of of, uint32_t where,
                        const char *name, const char *module, uint64_t ns)
{
    const struct tree_twin *what = twin_of(tree, name, module);
    if (!what)
        return -ENOMEM;
    uint64_t id = (uintptr_t)what;
    struct zs_tree_leaf *leaf = zs_id_map_get(&tree->leaves[of], where, id);
    if (!leaf) {
        leaf = ZS_ARENA_NEW(tree->arena, struct zs_tree_leaf);
        if (!leaf || zs_id_map_put(&tree->leaves[of], where, id, leaf) ||
            !ZS_VEC_PUSH(&tree->added[of], leaf))
            return -ENOMEM;
        *leaf = (struct zs_tree_leaf){where, what, 0, 0};
    }
    leaf->ns += ns;
    leaf->count++;
    return 0;
}

/* ---- the tree ---- */

/* The one copy of a frame's name. */
static const char *one_copy(struct zs_call_tree *tree, const char *text)
{
    uint64_t h = zs_hash_bytes(text, strlen(text));
    for (uint64_t n = 0;; n++) {
        char *known = zs_id_map_get(&tree->names, h, n);
        if (known && !strcmp(known, text))
            return known;
        if (known)
            continue;
        known = zs_arena_strndup(tree->arena, text, strlen(text));
        return known && !zs_id_map_put(&tree->names, h, n, known) ? known : NULL;
    }
}

/* Nodes while the tree grows: found by their parent and what they are: a frame's name, or the end
 * of a stack. */
struct builder {
    struct zs_call_tree *tree;
    struct zs_id_map children;
};

static struct zs_tree_node *child_of(struct builder *b, struct zs_tree_node *parent,
                                     const void *what, const char *name)
{
    uint64_t p = (uintptr_t)parent, n = (uintptr_t)what;
    struct zs_tree_node *node = zs_id_map_get(&b->children, p, n);
    if (node)
        return node;
    node = ZS_ARENA_NEW(b->tree->arena, struct zs_tree_node);
    if (!node || zs_id_map_put(&b->children, p, n, node))
        return NULL;
    *node = (struct zs_tree_node){.name = name, .parent = parent, .next = parent->child};
    parent->child = node;
    return node;
}

/* From the outermost frame inwards; inlined functions are frames, too. NULL: no memory. */
static struct zs_tree_node *descend(struct builder *b, struct zs_tree_node *root,
                                    const struct zs_act_stack *stack, struct zs_symbols *symbols)
{
    struct zs_tree_node *node = root;
    char text[FRAME_NAME_B];
    uint32_t depth = 0;
    for (uint32_t i = stack->count; i-- > 0 && node;) {
        const struct zs_symbol_frame *frames, unknown = {.offset_B = stack->pcs[i]};
        uint32_t count =
            symbols ? zs_symbols_frames(symbols, stack->process, stack->pcs[i], &frames) : 0;
        if (!count) {
            frames = &unknown;
            count = 1;
        }
        for (uint32_t k = count; k-- > 0 && node && depth < TREE_DEPTH_MAX; depth++) {
            const char *name = frames[k].function;
            if (!name) {
                zs_symbol_format(&frames[k], text, sizeof(text));
                name = text;
            }
            name = one_copy(b->tree, name);
            node = name ? child_of(b, node, name, name) : NULL;
        }
    }
    return node;
}

static int compare(const void *a, const void *b)
{
    const struct zs_tree_node *x = *(struct zs_tree_node *const *)a;
    const struct zs_tree_node *y = *(struct zs_tree_node *const *)b;
    return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->name, y->name);
}

/* All nodes, parents before children; NULL behind the last. */
static struct zs_tree_node *next_beside(const struct zs_tree_node *root, struct zs_tree_node *node)
{
    while (node != root && !node->next)
        node = node->parent;
    return node == root ? NULL : node->next;
}

static struct zs_tree_node *next_node(const struct zs_tree_node *root, struct zs_tree_node *node)
{
    return node->child ? node->child : next_beside(root, node);
}

static int sort_children(struct zs_tree_node *parent)
{
    size_t count = 0, i = 0;
    for (struct zs_tree_node *c = parent->child; c; c = c->next)
        count++;
    if (count < 2)
        return 0;
    struct zs_tree_node **all = calloc(count, sizeof(struct zs_tree_node *));
    if (!all)
        return -ENOMEM;
    for (struct zs_tree_node *c = parent->child; c; c = c->next)
        all[i++] = c;
    qsort(all, count, sizeof(struct zs_tree_node *), compare);
    for (i = 0; i < count; i++)
        all[i]->next = i + 1 < count ? all[i + 1] : NULL;
    parent->child = all[0];
    free(all);
    return 0;
}

static int add_leaf(struct builder *b, struct zs_tree_node *root, const struct zs_tree_leaf *leaf,
                    const struct zs_activities *activities, struct zs_symbols *symbols)
{
    struct zs_tree_node *node = root;
    if (leaf->where && leaf->where <= activities->stacks.count)
        node = descend(b, node, &activities->stacks.items[leaf->where - 1], symbols);
    if (node)
        node = child_of(b, node, leaf->what, leaf->what->name);
    if (!node)
        return -ENOMEM;
    node->module = leaf->what->module;
    for (; node; node = node->parent) {
        node->ns += leaf->ns;
        node->count += leaf->count;
    }
    return 0;
}

int zs_call_tree_make(struct zs_call_tree *tree, const struct zs_activities *activities,
                      struct zs_symbols *symbols)
{
    int error = 0;
    for (int of = 0; of < ZS_TREES && !error; of++) {
        struct builder b = {.tree = tree};
        struct zs_tree_node *root = ZS_ARENA_NEW(tree->arena, struct zs_tree_node);
        if (!root)
            return -ENOMEM;
        root->name = of == ZS_TREE_HOST ? "API calls" : "device time";
        for (size_t i = 0; i < tree->added[of].count && !error; i++)
            error = add_leaf(&b, root, tree->added[of].items[i], activities, symbols);
        zs_id_map_fini(&b.children);
        for (struct zs_tree_node *n = root; n && !error; n = next_node(root, n))
            error = sort_children(n);
        tree->roots[of] = tree->added[of].count ? root : NULL;
    }
    return error;
}

/* ---- views ---- */

static uint32_t depth_of(const struct zs_tree_node *node)
{
    uint32_t depth = 0;
    for (; node->parent; node = node->parent)
        depth++;
    return depth;
}

/* Another kernel of that name stands beside it. */
static bool has_twin(const struct zs_tree_node *node)
{
    for (const struct zs_tree_node *n = node->parent ? node->parent->child : NULL; n; n = n->next)
        if (n != node && n->name == node->name && n->module != node->module)
            return true;
    return false;
}

static void put_row(struct zs_buf *out, const struct zs_tree_node *node, uint64_t all, bool color)
{
    double share = all ? 100.0 * (double)node->ns / (double)all : 0;
    bool hot = color && share >= 25, dim = color && share < 5;
    zs_buf_puts(out, hot ? "\033[31m" : dim ? "\033[2m" : "");
    zs_buf_printf(out, "%6.1f%%  ", share);
    zs_format_duration(out, node->ns);
    zs_buf_printf(out, "  %8" PRIu64 "  ", node->count);
    for (uint32_t depth = depth_of(node); depth; depth--)
        zs_buf_puts(out, "│ ");
    zs_text_puts(out, node->name);
    if (has_twin(node))
        zs_buf_printf(out, " of module %s", node->module ? node->module : "n/a");
    zs_buf_puts(out, hot || dim ? "\033[0m" : "");
    zs_buf_putc(out, '\n');
}

/* Skips what is below `least`: their siblings behind them are no longer, so all are left out. */
void zs_call_tree_text(const struct zs_call_tree *tree, enum zs_tree_of of, uint32_t least,
                       bool color, struct zs_buf *out)
{
    struct zs_tree_node *root = tree->roots[of];
    if (!root)
        return;
    uint64_t limit_ns = (uint64_t)((double)root->ns * least / 10000);
    uint64_t hidden = 0;
    zs_buf_printf(out, "%7s  %8s  %8s  %s\n", "share", "time", "count",
                  of == ZS_TREE_HOST ? "where time was spent in API calls"
                                     : "where work of devices was appended");
    for (struct zs_tree_node *n = root; n;) {
        if (n->ns >= limit_ns) {
            put_row(out, n, root->ns, color);
            n = next_node(root, n);
            continue;
        }
        for (const struct zs_tree_node *s = n; s; s = s->next)
            hidden++;
        n = next_beside(root, n->parent);
    }
    if (hidden)
        zs_buf_printf(out, "%" PRIu64 " more with less than %u.%02u%% each are not shown\n", hidden,
                      least / 100, least % 100);
}

static void put_path(struct zs_buf *out, const struct zs_tree_node *node)
{
    const struct zs_tree_node *path[TREE_DEPTH_MAX + 4];
    uint32_t count = 0;
    for (; node->parent && count < ZS_ARRAY_LEN(path); node = node->parent)
        path[count++] = node;
    while (count--) {
        for (const char *c = path[count]->name; *c; c++)
            zs_buf_putc(out, *c == ';' || *c == '\n' ? ':' : *c);
        if (count)
            zs_buf_putc(out, ';');
    }
}

void zs_call_tree_folded(const struct zs_call_tree *tree, enum zs_tree_of of, struct zs_buf *out)
{
    struct zs_tree_node *root = tree->roots[of];
    for (struct zs_tree_node *n = root; n; n = next_node(root, n)) {
        uint64_t own = n->ns;
        for (const struct zs_tree_node *c = n->child; c; c = c->next)
            own -= c->ns;
        if (!own || n == root)
            continue;
        put_path(out, n);
        zs_buf_printf(out, " %" PRIu64 "\n", own);
    }
}

void zs_call_tree_json(const struct zs_call_tree *tree, enum zs_tree_of of, const char *key,
                       struct zs_json *json)
{
    struct zs_tree_node *root = tree->roots[of];
    uint32_t number = 0;
    if (!root) {
        zs_json_null(json, key);
        return;
    }
    zs_json_array(json, key);
    for (struct zs_tree_node *n = root; n; n = next_node(root, n)) {
        n->number = number++;
        zs_json_object(json, NULL);
        if (n->parent)
            zs_json_u64(json, "parent", n->parent->number);
        zs_json_string(json, "name", n->name);
        if (n->module)
            zs_json_string(json, "module", n->module);
        zs_json_u64(json, "total_ns", n->ns);
        zs_json_u64(json, "count", n->count);
        zs_json_end(json);
    }
    zs_json_end(json);
}
