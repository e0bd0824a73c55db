/* SPDX-License-Identifier: MIT */
/*
 * Instructions joined to rows, scopes and lines.
 *
 * Rows: both sides are sorted, one pass. Scopes: painted from the last one to the first; children
 * stand behind their parents, so the first to paint an instruction is the innermost, and a jump
 * list (union-find) passes over what is painted: nearly linear in instructions and ranges, however
 * deep they nest. Lines: a sort of the runs of instructions that share a line, of which there are
 * about as many as rows.
 */
#include "correlate/join.h"

#include "base/compiler.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>

struct join_owner {
    struct zs_join join;
    uint32_t *row, *scope;
    struct zs_join_line *lines;
    struct zs_join_run *runs;
};

static void join_rows(const struct zs_dwarf_kernel *kernel, const uint32_t *offsets, uint32_t count,
                      uint32_t *ret_row)
{
    uint32_t next = 0; /* first row behind the instruction */
    for (uint32_t i = 0; i < count; i++) {
        while (next < kernel->row_count && kernel->rows[next].offset_B <= offsets[i])
            next++;
        bool none = next == 0 || (kernel->rows[next - 1].flags & ZS_ROW_END_SEQUENCE);
        ret_row[i] = none ? ZS_NO_INDEX : next - 1;
    }
}

static uint32_t first_at(const uint32_t *offsets, uint32_t count, uint32_t offset_B)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (offsets[middle] < offset_B)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first instruction from i on that is not painted; halves the path it walks. */
static uint32_t skip_painted(uint32_t *jump, uint32_t i)
{
    while (jump[i] != i) {
        jump[i] = jump[jump[i]];
        i = jump[i];
    }
    return i;
}

static int join_scopes(const struct zs_dwarf_kernel *kernel, const uint32_t *offsets,
                       uint32_t count, uint32_t *ret_scope)
{
    uint32_t *jump = malloc(((size_t)count + 1) * sizeof(*jump));
    if (!jump)
        return -ENOMEM;
    for (uint32_t i = 0; i <= count; i++)
        jump[i] = i;
    for (uint32_t i = 0; i < count; i++)
        ret_scope[i] = ZS_NO_INDEX;
    for (uint32_t s = kernel->scope_count; s-- > 0;) {
        const struct zs_scope *scope = &kernel->scopes[s];
        for (uint32_t r = 0; r < scope->range_count; r++) {
            const struct zs_code_range *range = &kernel->ranges[scope->range_first + r];
            uint32_t end = first_at(offsets, count, range->end_B);
            uint32_t i = skip_painted(jump, first_at(offsets, count, range->begin_B));
            for (; i < end; i = skip_painted(jump, i)) {
                ret_scope[i] = s;
                jump[i] = i + 1;
            }
        }
    }
    free(jump);
    return 0;
}

struct keyed_run {
    uint64_t key; /* file << 32 | line */
    struct zs_join_run run;
};

static int compare_runs(const void *a, const void *b)
{
    const struct keyed_run *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->run.first < y->run.first ? -1 : x->run.first > y->run.first;
}

static uint64_t line_key(const struct zs_dwarf_kernel *kernel, uint32_t row)
{
    if (row == ZS_NO_INDEX || !kernel->rows[row].line)
        return UINT64_MAX;
    return (uint64_t)kernel->rows[row].file << 32 | kernel->rows[row].line;
}

struct run_list {
    struct keyed_run *items;
    size_t count, capacity;
};

static int find_runs(const struct zs_dwarf_kernel *kernel, const uint32_t *row, uint32_t count,
                     struct run_list *runs)
{
    for (uint32_t i = 0; i < count;) {
        uint64_t key = line_key(kernel, row[i]);
        uint32_t first = i;
        /* rows are few beside instructions: compare the row before its line */
        do
            i++;
        while (i < count && (row[i] == row[first] || line_key(kernel, row[i]) == key));
        if (key != UINT64_MAX && !ZS_VEC_PUSH(runs, ((struct keyed_run){key, {first, i - first}})))
            return -ENOMEM;
    }
    if (runs->count)
        qsort(runs->items, runs->count, sizeof(*runs->items), compare_runs);
    return 0;
}

static int join_lines(const struct zs_dwarf_kernel *kernel, uint32_t count,
                      struct join_owner *owner)
{
    struct run_list runs = {0};
    int error = find_runs(kernel, owner->row, count, &runs);
    size_t line_count = 0;
    for (size_t i = 0; i < runs.count; i++)
        line_count += i == 0 || runs.items[i].key != runs.items[i - 1].key;
    owner->lines = calloc(line_count + 1, sizeof(*owner->lines));
    owner->runs = calloc(runs.count + 1, sizeof(*owner->runs));
    if (!owner->lines || !owner->runs)
        error = -ENOMEM;
    struct zs_join_line *line = NULL;
    for (uint32_t i = 0; !error && i < runs.count; i++) {
        if (i == 0 || runs.items[i].key != runs.items[i - 1].key) {
            line = line ? line + 1 : owner->lines;
            *line = (struct zs_join_line){.file = (uint32_t)(runs.items[i].key >> 32),
                                          .line = (uint32_t)runs.items[i].key,
                                          .run_first = i};
        }
        owner->runs[i] = runs.items[i].run;
        line->run_count++;
        line->inst_count += runs.items[i].run.count;
    }
    owner->join.line_count = (uint32_t)line_count;
    free(runs.items);
    return error;
}

int zs_join_as(const struct zs_dwarf_kernel *kernel, const uint32_t *offsets, const uint32_t *as,
               uint32_t count, struct zs_join **ret_join)
{
    *ret_join = NULL;
    struct join_owner *owner = calloc(1, sizeof(*owner));
    if (!owner)
        return -ENOMEM;
    owner->row = malloc(((size_t)count + 1) * sizeof(*owner->row));
    owner->scope = malloc(((size_t)count + 1) * sizeof(*owner->scope));
    int error = owner->row && owner->scope ? 0 : -ENOMEM;
    if (!error) {
        join_rows(kernel, offsets, count, owner->row);
        error = join_scopes(kernel, offsets, count, owner->scope);
    }
    for (uint32_t i = 0; !error && as && i < count; i++) {
        owner->row[i] = owner->row[as[i]];
        owner->scope[i] = owner->scope[as[i]];
    }
    if (!error)
        error = join_lines(kernel, count, owner);
    owner->join.count = count;
    owner->join.row = owner->row;
    owner->join.scope = owner->scope;
    owner->join.lines = owner->lines;
    owner->join.runs = owner->runs;
    if (error)
        zs_join_free(&owner->join);
    else
        *ret_join = &owner->join;
    return error;
}

int zs_join(const struct zs_dwarf_kernel *kernel, const uint32_t *offsets, uint32_t count,
            struct zs_join **ret_join)
{
    return zs_join_as(kernel, offsets, NULL, count, ret_join);
}

void zs_join_free(struct zs_join *join)
{
    if (!join)
        return;
    struct join_owner *owner = (struct join_owner *)join;
    free(owner->row);
    free(owner->scope);
    free(owner->lines);
    free(owner->runs);
    free(owner);
}

const struct zs_join_line *zs_join_find_line(const struct zs_join *join, uint32_t file,
                                             uint32_t line)
{
    uint64_t key = (uint64_t)file << 32 | line;
    uint32_t low = 0, high = join->line_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct zs_join_line *l = &join->lines[middle];
        if (((uint64_t)l->file << 32 | l->line) < key)
            low = middle + 1;
        else
            high = middle;
    }
    bool found =
        low < join->line_count && join->lines[low].file == file && join->lines[low].line == line;
    return found ? &join->lines[low] : NULL;
}
