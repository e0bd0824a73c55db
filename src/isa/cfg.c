/* SPDX-License-Identifier: MIT */
/*
 * Basic blocks, edges and loops.
 *
 * A block starts at the entry, at every target of a branch, behind every branch and behind the end
 * of the thread: the same places where `iga64 -d` prints labels. Which edges a branch makes stands
 * in branches.def.
 *
 * Loops are found on the edges that lanes take, after Havlak ("Nesting of reducible and irreducible
 * loops", 1997): headers are visited from the innermost outwards and each loop's blocks are
 * collapsed into its header (union-find), so that every edge is looked at about once; dominator
 * trees would do as well, but their simple forms are quadratic on hostile code. An irreducible
 * entry is not made part of the loop it enters.
 */
#include "isa/isa_priv.h"
#include "isa/table.h"

#include <errno.h>
#include <stdlib.h>

enum { NONE = ZS_ISA_NO_INDEX };
enum { RETURN_EDGES_MAX = 1 << 16 }; /* ret x call: more are left out */

enum edge_bits {
    NEXT = 1 << 0,
    JIP = 1 << 1,
    UIP = 1 << 2,
    next = 1 << 3,
    jip = 1 << 4,
    CALL = 1 << 5,
    RETURN = 1 << 6,
    NEXT_OLD = 1 << 7, /* a lane's NEXT up to Gen9 */
};

static const struct branch_row {
    uint8_t plain, predicated;
} branch_rows[16] = {
#define ZS_ISA_BRANCH(opcode, name, plain, predicated) [(opcode)-0x20] = {plain, predicated},
#include "isa/branches.def"
#undef ZS_ISA_BRANCH
};

/* ---- blocks ---- */

static void set_bit(uint8_t *bits, uint32_t i)
{
    bits[i / 8] = (uint8_t)(bits[i / 8] | 1u << i % 8);
}

static bool get_bit(const uint8_t *bits, uint32_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

/* The instruction at a target; NONE when none starts there. */
static uint32_t inst_at(const struct zs_isa_kernel *k, uint32_t offset_B)
{
    uint32_t i = offset_B == NONE ? NONE : zs_isa_inst_find(k, offset_B);
    return i != NONE && k->offsets_B[i] == offset_B ? i : NONE;
}

static void mark_leaders(const struct zs_isa_kernel *k, uint8_t *leaders, uint8_t *targets)
{
    if (k->count)
        set_bit(leaders, 0);
    uint32_t entry = k->entry_B ? inst_at(k, k->entry_B) : NONE;
    if (entry != NONE)
        set_bit(leaders, entry);
    for (size_t b = 0; b < k->branches.count; b++) {
        const struct zs_isa_branch *branch = &k->branches.items[b];
        set_bit(leaders, branch->inst + 1);
        const uint32_t offsets_B[] = {branch->jip_B, branch->uip_B};
        for (uint32_t t = 0; t < ZS_ARRAY_LEN(offsets_B); t++) {
            uint32_t i = inst_at(k, offsets_B[t]);
            if (i != NONE) {
                set_bit(leaders, i);
                set_bit(targets, i);
            }
        }
    }
    for (uint32_t i = 0; i < k->count; i++)
        if (zs_isa_ends_thread(k, i))
            set_bit(leaders, i + 1);
}

static int split_blocks(struct zs_isa_kernel *k, const uint8_t *leaders, const uint8_t *targets)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < k->count; i++)
        count += get_bit(leaders, i) ? 1 : 0;
    k->blocks = calloc((size_t)count + 1, sizeof(*k->blocks));
    if (!k->blocks)
        return -ENOMEM;
    k->block_count = count;
    uint32_t b = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        if (get_bit(leaders, i))
            k->blocks[b++] =
                (struct zs_isa_block){.first = i,
                                      .offset_B = k->offsets_B[i],
                                      .loop = NONE,
                                      .flags = get_bit(targets, i) ? ZS_BLOCK_LABELLED : 0};
        struct zs_isa_block *block = &k->blocks[b - 1];
        block->count++;
        block->size_B = k->offsets_B[i + 1] - block->offset_B;
    }
    return 0;
}

static int make_blocks(struct zs_isa_kernel *k)
{
    size_t bits_B = (size_t)k->count / 8 + 1;
    uint8_t *leaders = calloc(2, bits_B);
    if (!leaders)
        return -ENOMEM;
    mark_leaders(k, leaders, leaders + bits_B);
    int error = split_blocks(k, leaders, leaders + bits_B);
    free(leaders);
    return error;
}

uint32_t zs_isa_inst_block(const struct zs_isa_kernel *k, uint32_t i)
{
    zs_assert(k->blocks && i < k->count);
    uint32_t low = 0, high = k->block_count; /* blocks[low].first <= i < blocks[high].first */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (k->blocks[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- edges ---- */

struct edges {
    struct zs_isa_edge *items;
    size_t count, capacity;
};

struct edge_context {
    struct zs_isa_kernel *k;
    struct edges edges;
    struct {
        uint32_t *items;
        size_t count, capacity;
    } returns; /* blocks behind calls */
    uint32_t ret_count;
};

/* An edge to the block that is already a successor only adds to what is known of that one. */
static int add_edge(struct edge_context *c, uint32_t from, uint32_t to, enum zs_isa_edge_kind kind,
                    bool lane)
{
    if (to >= c->k->block_count)
        return 0;
    struct zs_isa_block *block = &c->k->blocks[from];
    for (size_t e = block->edge_first; kind != ZS_EDGE_RETURN && e < c->edges.count; e++) {
        if (c->edges.items[e].to == to) {
            c->edges.items[e].lane |= lane;
            return 0;
        }
    }
    struct zs_isa_edge edge = {.from = from, .to = to, .kind = (uint8_t)kind, .lane = lane};
    if (!ZS_VEC_PUSH(&c->edges, edge))
        return -ENOMEM;
    block->edge_count++;
    return 0;
}

static int add_target(struct edge_context *c, uint32_t from, uint32_t offset_B,
                      enum zs_isa_edge_kind kind, bool lane)
{
    uint32_t i = inst_at(c->k, offset_B);
    return i == NONE ? 0 : add_edge(c, from, zs_isa_inst_block(c->k, i), kind, lane);
}

static uint32_t edge_bits_of(const struct zs_isa_kernel *k, const struct zs_isa_branch *branch)
{
    const struct branch_row *row = &branch_rows[branch->code & 0xf];
    uint32_t bits = branch->predicated ? row->predicated : row->plain;
    if (bits & NEXT_OLD && k->platform <= ZS_ISA_GEN9)
        bits |= NEXT;
    /* where to is in a register: it may also be what follows */
    if (branch->jip_B == NONE && bits & JIP)
        bits |= NEXT;
    return bits;
}

static int add_return_edges(struct edge_context *c, uint32_t from)
{
    int error = 0;
    uint64_t all = (uint64_t)c->ret_count * c->returns.count;
    c->k->edges_missing |= all > RETURN_EDGES_MAX;
    for (size_t i = 0; i < c->returns.count && all <= RETURN_EDGES_MAX && !error; i++)
        error = add_edge(c, from, c->returns.items[i], ZS_EDGE_RETURN, true);
    return error;
}

static int add_table_edges(struct edge_context *c, uint32_t b, const struct zs_isa_table *table)
{
    int error = 0;
    for (uint32_t n = 0; n < table->count && !error; n++)
        error = add_edge(c, b, zs_isa_inst_block(c->k, table->first + n),
                         n ? ZS_EDGE_JIP : ZS_EDGE_NEXT, true);
    return error;
}

static int add_branch_edges(struct edge_context *c, uint32_t b, const struct zs_isa_branch *branch)
{
    uint32_t bits = edge_bits_of(c->k, branch);
    struct zs_isa_table table;
    int error = 0;
    if (branch->jip_B == NONE && zs_isa_table_find(c->k, branch->inst, &table))
        return add_table_edges(c, b, &table);
    if (bits & (NEXT | next))
        error = add_edge(c, b, b + 1, ZS_EDGE_NEXT, bits & NEXT);
    if (!error && bits & (JIP | jip))
        error = add_target(c, b, branch->jip_B, ZS_EDGE_JIP, bits & JIP);
    if (!error && bits & UIP)
        error = add_target(c, b, branch->uip_B, ZS_EDGE_UIP, true);
    if (!error && bits & CALL)
        error = add_target(c, b, branch->jip_B, ZS_EDGE_CALL, true);
    if (!error && bits & RETURN)
        error = add_return_edges(c, b);
    return error;
}

static int note_calls(struct edge_context *c)
{
    for (size_t i = 0; i < c->k->branches.count; i++) {
        const struct zs_isa_branch *branch = &c->k->branches.items[i];
        const struct branch_row *row = &branch_rows[branch->code & 0xf];
        if (row->plain & RETURN)
            c->ret_count++;
        if (row->plain & CALL && branch->inst + 1 < c->k->count &&
            !ZS_VEC_PUSH(&c->returns, zs_isa_inst_block(c->k, branch->inst + 1)))
            return -ENOMEM;
    }
    return 0;
}

static int add_all_edges(struct edge_context *c)
{
    struct zs_isa_kernel *k = c->k;
    int error = note_calls(c);
    for (uint32_t b = 0; b < k->block_count && !error; b++) {
        struct zs_isa_block *block = &k->blocks[b];
        uint32_t last = block->first + block->count - 1;
        const struct zs_isa_branch *branch = zs_isa_branch_of(k, last);
        block->edge_first = (uint32_t)c->edges.count;
        if (zs_isa_ends_thread(k, last))
            block->flags |= ZS_BLOCK_ENDS_THREAD;
        else if (branch)
            error = add_branch_edges(c, b, branch);
        else
            error = add_edge(c, b, b + 1, ZS_EDGE_NEXT, true);
    }
    return error;
}

static int make_edges(struct zs_isa_kernel *k)
{
    struct edge_context c = {.k = k};
    int error = add_all_edges(&c);
    free(c.returns.items);
    k->edges = c.edges.items;
    k->edge_count = (uint32_t)c.edges.count;
    for (uint32_t e = 0; e < k->edge_count; e++)
        k->blocks[k->edges[e].to].pred_count++;
    return error;
}

/* ---- loops ---- */

/* Arrays are indexed by block unless they say otherwise. */
struct loop_search {
    struct zs_isa_kernel *k;
    uint32_t *number;    /* order of first visit, NONE: not reached along lane edges */
    uint32_t *by_number; /* block of a number */
    uint32_t *last;      /* largest number below it in the tree of first visits */
    uint32_t *cursor;    /* next edge to follow */
    uint32_t *stack;
    uint32_t *set;      /* union-find: header it was collapsed into */
    uint32_t *headed;   /* loop that it heads, NONE */
    uint32_t *mark;     /* the header that last collected it */
    uint32_t *in_first; /* incoming lane edges: sources in in_from[in_first[b]..in_first[b+1]) */
    uint32_t *in_from;
    uint32_t visited;
    struct {
        struct zs_isa_loop *items;
        size_t count, capacity;
    } loops; /* inner before outer */
};

static bool is_above(const struct loop_search *s, uint32_t above, uint32_t below)
{
    return s->number[above] <= s->number[below] && s->number[below] <= s->last[above];
}

static uint32_t find_set(struct loop_search *s, uint32_t b)
{
    while (s->set[b] != b) {
        s->set[b] = s->set[s->set[b]]; /* halve the path */
        b = s->set[b];
    }
    return b;
}

static void visit_from_entry(struct loop_search *s)
{
    struct zs_isa_kernel *k = s->k;
    uint32_t depth = 0;
    s->number[0] = s->visited;
    s->by_number[s->visited++] = 0;
    s->stack[depth++] = 0;
    while (depth) {
        uint32_t b = s->stack[depth - 1];
        const struct zs_isa_block *block = &k->blocks[b];
        if (s->cursor[b] == block->edge_count) {
            s->last[b] = s->visited - 1;
            depth--;
            continue;
        }
        const struct zs_isa_edge *edge = &k->edges[block->edge_first + s->cursor[b]++];
        if (edge->lane && s->number[edge->to] == NONE) {
            s->number[edge->to] = s->visited;
            s->by_number[s->visited++] = edge->to;
            s->stack[depth++] = edge->to;
        }
    }
}

void zs_isa_list_sources(const struct zs_isa_kernel *k, uint32_t *first, uint32_t *from,
                         uint32_t *counts)
{
    for (uint32_t e = 0; e < k->edge_count; e++)
        if (k->edges[e].lane)
            first[k->edges[e].to + 1]++;
    for (uint32_t b = 0; b < k->block_count; b++)
        first[b + 1] += first[b];
    for (uint32_t e = 0; e < k->edge_count; e++)
        if (k->edges[e].lane)
            from[first[k->edges[e].to] + counts[k->edges[e].to]++] = k->edges[e].from;
}

/* Collect the (collapsed) blocks of the loop at `header` on the stack; *ret_found: there is one. */
static uint32_t collect_body(struct loop_search *s, uint32_t header, bool *ret_found)
{
    uint32_t count = 0;
    *ret_found = false;
    for (uint32_t e = s->in_first[header]; e < s->in_first[header + 1]; e++) {
        uint32_t from = s->in_from[e];
        if (s->number[from] == NONE || !is_above(s, header, from))
            continue;
        *ret_found = true;
        from = find_set(s, from);
        if (from != header && s->mark[from] != header) {
            s->mark[from] = header;
            s->stack[count++] = from;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = s->stack[i];
        for (uint32_t e = s->in_first[b]; e < s->in_first[b + 1]; e++) {
            uint32_t from = s->in_from[e];
            if (s->number[from] == NONE || is_above(s, b, from))
                continue; /* not reached, or b's own back edge */
            from = find_set(s, from);
            if (from == header || s->mark[from] == header || !is_above(s, header, from))
                continue;
            s->mark[from] = header;
            s->stack[count++] = from;
        }
    }
    return count;
}

static int make_loop(struct loop_search *s, uint32_t header)
{
    struct zs_isa_kernel *k = s->k;
    bool found;
    uint32_t count = collect_body(s, header, &found);
    if (!found)
        return 0;
    uint32_t index = (uint32_t)s->loops.count;
    struct zs_isa_loop loop = {
        .header = header, .parent = NONE, .block_count = 1, .inst_count = k->blocks[header].count};
    k->blocks[header].loop = index;
    k->blocks[header].flags |= ZS_BLOCK_LOOP_HEADER;
    s->headed[header] = index;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = s->stack[i];
        s->set[b] = header;
        if (s->headed[b] != NONE) {
            struct zs_isa_loop *inner = &s->loops.items[s->headed[b]];
            inner->parent = index;
            loop.block_count += inner->block_count;
            loop.inst_count += inner->inst_count;
        } else {
            k->blocks[b].loop = index;
            loop.block_count++;
            loop.inst_count += k->blocks[b].count;
        }
    }
    return ZS_VEC_PUSH(&s->loops, loop) ? 0 : -ENOMEM;
}

/* The vector has inner loops first: turn it round, and give depths from the outside in. */
static int publish_loops(struct loop_search *s)
{
    struct zs_isa_kernel *k = s->k;
    uint32_t count = (uint32_t)s->loops.count;
    k->loops = calloc((size_t)count + 1, sizeof(*k->loops));
    if (!k->loops)
        return -ENOMEM;
    k->loop_count = count;
    for (uint32_t l = 0; l < count; l++) {
        struct zs_isa_loop *loop = &k->loops[l];
        *loop = s->loops.items[count - 1 - l];
        loop->parent = loop->parent == NONE ? NONE : count - 1 - loop->parent;
        loop->depth = loop->parent == NONE ? 1 : k->loops[loop->parent].depth + 1;
    }
    for (uint32_t b = 0; b < k->block_count; b++) {
        struct zs_isa_block *block = &k->blocks[b];
        if (block->loop != NONE) {
            block->loop = count - 1 - block->loop;
            block->loop_depth = k->loops[block->loop].depth;
        }
    }
    return 0;
}

static int find_loops_with(struct loop_search *s)
{
    uint32_t count = s->k->block_count;
    for (uint32_t b = 0; b < count; b++) {
        s->number[b] = s->headed[b] = s->mark[b] = NONE;
        s->set[b] = b;
    }
    visit_from_entry(s);
    memset(s->cursor, 0, count * sizeof(*s->cursor));
    zs_isa_list_sources(s->k, s->in_first, s->in_from, s->cursor);
    int error = 0;
    for (uint32_t n = s->visited; n-- > 0 && !error;)
        error = make_loop(s, s->by_number[n]);
    return error ? error : publish_loops(s);
}

static int find_loops(struct zs_isa_kernel *k)
{
    enum { ARRAYS = 9 };
    size_t count = (size_t)k->block_count + 1;
    uint32_t *memory = calloc(count * ARRAYS + k->edge_count, sizeof(*memory));
    if (!memory)
        return -ENOMEM;
    struct loop_search s = {.k = k,
                            .number = memory,
                            .by_number = memory + count,
                            .last = memory + 2 * count,
                            .cursor = memory + 3 * count,
                            .stack = memory + 4 * count,
                            .set = memory + 5 * count,
                            .headed = memory + 6 * count,
                            .mark = memory + 7 * count,
                            .in_first = memory + 8 * count,
                            .in_from = memory + 9 * count};
    int error = k->block_count ? find_loops_with(&s) : 0;
    free(s.loops.items);
    free(memory);
    return error;
}

/* ---- what the entry reaches, along any edge ---- */

static int mark_reachable(struct zs_isa_kernel *k)
{
    if (!k->block_count)
        return 0;
    uint32_t *stack = malloc(k->block_count * sizeof(*stack));
    if (!stack)
        return -ENOMEM;
    uint32_t depth = 0;
    stack[depth++] = 0;
    k->blocks[0].flags |= ZS_BLOCK_REACHABLE;
    while (depth) {
        const struct zs_isa_block *block = &k->blocks[stack[--depth]];
        for (uint32_t e = 0; e < block->edge_count; e++) {
            uint32_t to = k->edges[block->edge_first + e].to;
            if (!(k->blocks[to].flags & ZS_BLOCK_REACHABLE)) {
                k->blocks[to].flags |= ZS_BLOCK_REACHABLE;
                stack[depth++] = to;
            }
        }
    }
    free(stack);
    return 0;
}

int zs_isa_make_blocks(struct zs_isa_kernel *k)
{
    free(k->blocks);
    free(k->edges);
    free(k->loops);
    k->blocks = NULL;
    k->edges = NULL;
    k->loops = NULL;
    k->block_count = k->edge_count = k->loop_count = 0;
    int error = make_blocks(k);
    if (!error)
        error = make_edges(k);
    if (!error)
        error = mark_reachable(k);
    return error ? error : find_loops(k);
}

uint32_t zs_isa_block_count(const struct zs_isa_kernel *k)
{
    return k->block_count;
}

const struct zs_isa_block *zs_isa_block(const struct zs_isa_kernel *k, uint32_t b)
{
    zs_assert(b < k->block_count);
    return &k->blocks[b];
}

uint32_t zs_isa_edge_count(const struct zs_isa_kernel *k)
{
    return k->edge_count;
}

const struct zs_isa_edge *zs_isa_edge(const struct zs_isa_kernel *k, uint32_t e)
{
    zs_assert(e < k->edge_count);
    return &k->edges[e];
}

uint32_t zs_isa_loop_count(const struct zs_isa_kernel *k)
{
    return k->loop_count;
}

const struct zs_isa_loop *zs_isa_loop(const struct zs_isa_kernel *k, uint32_t l)
{
    zs_assert(l < k->loop_count);
    return &k->loops[l];
}
