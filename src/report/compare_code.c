/* SPDX-License-Identifier: MIT */
/*
 * Source and machine code of two sides aligned.
 *
 * Instructions are the same by their text, labels left out; what is left between those, by its
 * text without numbers of registers and of the scoreboard, since one more value moves all others;
 * then by opcode and width. Lines of source are the same by their text without blanks at its ends,
 * then by their words; as many lines between two pairs are pairs.
 */
#include "base/hash.h"
#include "base/path.h"
#include "base/vec.h"
#include "report/align.h"
#include "report/compare.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const zs_code_change_names[] = {"same", "renamed", "changed", "a", "b"};

enum { INST_LEVELS = 3, LINE_LEVELS = 2, LINES_MOST = 1 << 20 };

/* ---- keys ---- */

/* Text without what may differ where nothing changed: labels ("L136"), and `loose` registers
 * ("r12.4", "a0.2") and scoreboard ("$3", "@1"). */
static uint64_t inst_key(const char *text, size_t size_B, bool loose)
{
    char kept[ZS_ISA_LINE_MAX];
    size_t n = 0;
    for (size_t i = 0; i < size_B;) {
        bool starts = !i || !isalnum((unsigned char)text[i - 1]);
        char c = text[i];
        bool has_number = i + 1 < size_B && isdigit((unsigned char)text[i + 1]);
        bool drops = has_number && ((c == 'L' && starts) ||
                                    (loose && ((strchr("raf", c) && starts) || strchr("$@", c))));
        kept[n++] = text[i++];
        while (drops && i < size_B && (isdigit((unsigned char)text[i]) || text[i] == '.'))
            i++;
        while (i < size_B && text[i] == ' ' && text[i - 1] == ' ')
            i++;
    }
    return zs_hash_bytes(kept, n);
}

static uint64_t *inst_keys(const struct zs_code *code, uint32_t count)
{
    uint64_t *keys = malloc(((size_t)count * INST_LEVELS + 1) * sizeof(*keys));
    for (uint32_t i = 0; keys && i < count; i++) {
        char text[ZS_ISA_LINE_MAX];
        size_t size_B = zs_isa_inst_text(code->isa, i, text);
        const struct zs_isa_inst *inst = zs_isa_inst(code->isa, i);
        keys[i] = inst_key(text, size_B, false);
        keys[(size_t)count + i] = inst_key(text, size_B, true);
        keys[2 * (size_t)count + i] = (uint64_t)inst->op << 8 | inst->exec_size;
    }
    return keys;
}

/* `words`: letters alone. */
static uint64_t line_key(struct zs_span text, bool words)
{
    uint64_t key = 1;
    const uint8_t *p = text.data, *end = p + text.size_B;
    while (p < end && isspace(*p))
        p++;
    while (end > p && isspace(end[-1]))
        end--;
    for (; p < end; p++)
        if (!words || isalpha(*p))
            key = zs_hash_u64(key, *p);
    return key;
}

/* Without text of both sides a line is that of the same number. */
static uint64_t *line_keys(const struct zs_source *source, uint32_t first, uint32_t count,
                           bool by_text)
{
    uint64_t *keys = malloc(((size_t)count * LINE_LEVELS + 1) * sizeof(*keys));
    for (uint32_t i = 0; keys && i < count * LINE_LEVELS; i++) {
        uint32_t line = first + i % count;
        keys[i] = by_text ? line_key(zs_source_line(source, line), i >= count) : line;
    }
    return keys;
}

/* ---- sequences of pairs ---- */

static enum zs_code_change change_of(const uint64_t *a, uint32_t a_count, uint32_t i,
                                     const uint64_t *b, uint32_t b_count, uint32_t j)
{
    return a[i] == b[j]                                       ? ZS_CODE_SAME
           : a[(size_t)a_count + i] == b[(size_t)b_count + j] ? ZS_CODE_RENAMED
                                                              : ZS_CODE_CHANGED;
}

/* Both sequences as one: what B has alone stands behind what A has alone. ret[a_count + b_count] */
static size_t merge(const uint32_t *partner, uint32_t a_count, uint32_t b_count,
                    struct zs_code_pair *ret)
{
    size_t n = 0;
    uint32_t j = 0;
    for (uint32_t i = 0; i <= a_count; i++) {
        uint32_t until = i == a_count ? b_count : partner[i];
        if (until == UINT32_MAX) {
            ret[n++] = (struct zs_code_pair){{i, ZS_NO_INDEX}, ZS_CODE_A_ALONE};
            continue;
        }
        while (j < until)
            ret[n++] = (struct zs_code_pair){{ZS_NO_INDEX, j++}, ZS_CODE_B_ALONE};
        if (i < a_count)
            ret[n++] = (struct zs_code_pair){{i, j++}, ZS_CODE_SAME};
    }
    return n;
}

/* Items of two sequences with their keys. */
static int pair_up(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count,
                   uint32_t levels, bool pairs_rest, struct zs_code_pair **ret, size_t *ret_count)
{
    uint32_t *partner = malloc(((size_t)a_count + 1) * sizeof(*partner));
    *ret = malloc(((size_t)a_count + b_count + 1) * sizeof(**ret));
    int error = a && b && partner && *ret
                    ? zs_align(&(struct zs_align_side){a, a_count},
                               &(struct zs_align_side){b, b_count}, levels, pairs_rest, partner)
                    : -ENOMEM;
    if (!error) {
        *ret_count = merge(partner, a_count, b_count, *ret);
        for (size_t i = 0; i < *ret_count; i++)
            if ((*ret)[i].change == ZS_CODE_SAME)
                (*ret)[i].change =
                    change_of(a, a_count, (*ret)[i].of[0], b, b_count, (*ret)[i].of[1]);
    }
    free(partner);
    return error;
}

/* ---- a kernel ---- */

struct work {
    struct zs_code_diff *d;
    uint64_t *keys[ZS_SIDES];
    uint32_t counts[ZS_SIDES];
};

static uint32_t count_of(const struct zs_code *code)
{
    return code && code->isa ? zs_isa_kernel_count(code->isa) : 0;
}

/* The keys of a line's instructions, wherever they stand; *ret_items: which they are. */
static int gather(const struct work *w, int side, const struct zs_join_line *line,
                  uint64_t **ret_keys, uint32_t **ret_items, uint32_t *ret_count)
{
    uint32_t count = line ? line->inst_count : 0, n = 0;
    *ret_keys = malloc(((size_t)count * INST_LEVELS + 1) * sizeof(**ret_keys));
    *ret_items = malloc(((size_t)count + 1) * sizeof(**ret_items));
    *ret_count = count;
    if (!*ret_keys || !*ret_items)
        return -ENOMEM;
    for (uint32_t r = 0; line && r < line->run_count; r++) {
        const struct zs_join_run *run = &w->d->code[side]->join->runs[line->run_first + r];
        for (uint32_t i = run->first; i < run->first + run->count && n < count; i++, n++) {
            (*ret_items)[n] = i;
            for (uint32_t level = 0; level < INST_LEVELS; level++)
                (*ret_keys)[(size_t)level * count + n] =
                    w->keys[side][(size_t)level * w->counts[side] + i];
        }
    }
    *ret_count = n;
    return n == count ? 0 : -ENOMEM;
}

/* The instructions of a pair of lines. */
static int pair_line(struct work *w, struct zs_line_pair *line)
{
    uint64_t *keys[ZS_SIDES] = {NULL, NULL};
    uint32_t *items[ZS_SIDES] = {NULL, NULL}, counts[ZS_SIDES];
    struct zs_code_pair *pairs = NULL;
    size_t count = 0;
    int error = 0;
    for (int s = 0; s < ZS_SIDES && !error; s++)
        error = gather(w, s, line->code[s], &keys[s], &items[s], &counts[s]);
    if (!error)
        error = pair_up(keys[0], counts[0], keys[1], counts[1], INST_LEVELS, false, &pairs, &count);
    line->pair_first = (uint32_t)w->d->pairs.count;
    line->pair_count = (uint32_t)count;
    line->has_same_code = true;
    for (size_t i = 0; i < count && !error; i++) {
        for (int s = 0; s < ZS_SIDES; s++)
            if (pairs[i].of[s] != ZS_NO_INDEX)
                pairs[i].of[s] = items[s][pairs[i].of[s]];
        line->has_same_code &= pairs[i].change <= ZS_CODE_RENAMED;
        error = ZS_VEC_PUSH(&w->d->pairs, pairs[i]) ? 0 : -ENOMEM;
    }
    for (int s = 0; s < ZS_SIDES; s++) {
        free(keys[s]);
        free(items[s]);
    }
    free(pairs);
    return error;
}

static int add_line(struct work *w, const struct zs_file_pair *file,
                    const struct zs_code_pair *pair)
{
    struct zs_line_pair line = {.change = pair->change};
    for (int s = 0; s < ZS_SIDES; s++) {
        if (pair->of[s] == ZS_NO_INDEX)
            continue;
        line.line[s] = pair->of[s];
        line.code[s] = zs_join_find_line(w->d->code[s]->join, file->file[s], line.line[s]);
    }
    if (line.change == ZS_CODE_RENAMED)
        line.change = ZS_CODE_CHANGED;
    int error = pair_line(w, &line);
    return error ? error : ZS_VEC_PUSH(&w->d->lines, line) ? 0 : -ENOMEM;
}

/* The lines of a file that are compared: from the first with code to the last, and a few around. */
struct range {
    uint32_t first, count;
};

static struct range range_of(const struct zs_code_diff *d, int side,
                             const struct zs_file_pair *file)
{
    enum { AROUND = 3 };
    uint32_t first = UINT32_MAX, last = 0;
    uint32_t end = file->source[side] ? file->source[side]->line_count : 0;
    if (file->file[side] == ZS_NO_INDEX)
        return (struct range){1, 0};
    const struct zs_join *join = d->code[side]->join;
    for (uint32_t i = 0; i < join->line_count; i++) {
        uint32_t line = join->lines[i].line;
        if (join->lines[i].file != file->file[side] || !line || line >= LINES_MOST)
            continue;
        first = ZS_MIN(first, line);
        last = ZS_MAX(last, line);
    }
    if (!last)
        return (struct range){1, 0};
    first = first > AROUND ? first - AROUND : 1;
    last = ZS_MAX(last, ZS_MIN(last + AROUND, end));
    return (struct range){first, last - first + 1};
}

static int add_file(struct work *w, struct zs_file_pair file)
{
    uint64_t *keys[ZS_SIDES] = {NULL, NULL};
    struct range ranges[ZS_SIDES];
    struct zs_code_pair *pairs = NULL;
    size_t count = 0;
    bool by_text = true;
    for (int s = 0; s < ZS_SIDES; s++)
        by_text &= file.file[s] == ZS_NO_INDEX || (file.source[s] && file.source[s]->line_count);
    for (int s = 0; s < ZS_SIDES; s++) {
        ranges[s] = range_of(w->d, s, &file);
        keys[s] = line_keys(file.source[s], ranges[s].first, ranges[s].count, by_text);
    }
    int error = pair_up(keys[0], ranges[0].count, keys[1], ranges[1].count, LINE_LEVELS, true,
                        &pairs, &count);
    file.line_first = (uint32_t)w->d->lines.count;
    for (size_t i = 0; i < count && !error; i++) {
        for (int s = 0; s < ZS_SIDES; s++)
            if (pairs[i].of[s] != ZS_NO_INDEX)
                pairs[i].of[s] += ranges[s].first;
        error = add_line(w, &file, &pairs[i]);
    }
    file.line_count = (uint32_t)w->d->lines.count - file.line_first;
    if (!error && !ZS_VEC_PUSH(&w->d->files, file))
        error = -ENOMEM;
    free(pairs);
    free(keys[0]);
    free(keys[1]);
    return error;
}

/* ---- which file is which ---- */

static bool has_code(const struct zs_code *code, uint32_t file)
{
    for (uint32_t i = 0; i < code->join->line_count; i++)
        if (code->join->lines[i].file == file)
            return true;
    return false;
}

static const struct zs_source *source_of(const struct zs_compared *c, const struct work *w,
                                         int side, uint32_t file)
{
    struct zs_sources *sources = c->sides[side].view->sources;
    return file != ZS_NO_INDEX && sources
               ? zs_sources_get(sources, &w->d->code[side]->info->files[file])
               : NULL;
}

/* The file of the same path, else of the same name. */
static uint32_t namesake(const char *path, const struct zs_code *in)
{
    uint32_t named = ZS_NO_INDEX;
    for (uint32_t i = 0; i < in->info->file_count; i++) {
        const char *other = in->info->files[i].path;
        if (!has_code(in, i))
            continue;
        if (!strcmp(path, other))
            return i;
        if (!strcmp(zs_path_base_name(path), zs_path_base_name(other)))
            named = i;
    }
    return named;
}

/* The only file that has no namesake; ZS_NO_INDEX: there is none, or several. */
static uint32_t only_one(const struct zs_code *code, const struct zs_code *other)
{
    uint32_t found = ZS_NO_INDEX, count = 0;
    for (uint32_t i = 0; i < code->info->file_count; i++) {
        if (has_code(code, i) && namesake(code->info->files[i].path, other) == ZS_NO_INDEX) {
            found = i;
            count++;
        }
    }
    return count == 1 ? found : ZS_NO_INDEX;
}

/* B's file that is A's: its namesake, or where one file of each was renamed, that. */
static uint32_t file_in_b(const struct zs_code *a, uint32_t file, const struct zs_code *b)
{
    uint32_t named = namesake(a->info->files[file].path, b);
    return named == ZS_NO_INDEX && only_one(a, b) == file ? only_one(b, a) : named;
}

static int pair_files(const struct zs_compared *c, struct work *w)
{
    const struct zs_code *a = w->d->code[ZS_SIDE_A], *b = w->d->code[ZS_SIDE_B];
    int error = 0;
    bool *taken = calloc(b->info->file_count + 1, sizeof(*taken));
    if (!taken)
        return -ENOMEM;
    for (uint32_t i = 0; i < a->info->file_count && !error; i++) {
        if (!has_code(a, i))
            continue;
        uint32_t j = file_in_b(a, i, b);
        if (j != ZS_NO_INDEX && taken[j])
            j = ZS_NO_INDEX;
        if (j != ZS_NO_INDEX)
            taken[j] = true;
        error = add_file(
            w, (struct zs_file_pair){{i, j}, {source_of(c, w, 0, i), source_of(c, w, 1, j)}, 0, 0});
    }
    for (uint32_t j = 0; j < b->info->file_count && !error; j++)
        if (!taken[j] && has_code(b, j))
            error = add_file(
                w, (struct zs_file_pair){{ZS_NO_INDEX, j}, {NULL, source_of(c, w, 1, j)}, 0, 0});
    free(taken);
    return error;
}

static int open_side(const struct zs_compared *c, const struct zs_compared_kernel *k, int side,
                     struct zs_code_diff *d)
{
    const struct zs_column_source *columns = &c->sides[side].view->columns;
    if (!k->of[side])
        return 0;
    int error = zs_code_open(c->annotations[side], k->of[side]->image, k->of[side]->kernel,
                             ZS_ISA_TEXT | ZS_ISA_INSTS, &d->code[side]);
    if (!error && columns->attach)
        error = columns->attach(columns->user, d->code[side]);
    return error;
}

int zs_code_diff_open(const struct zs_compared *c, const struct zs_compared_kernel *k,
                      struct zs_code_diff *ret)
{
    *ret = (struct zs_code_diff){0};
    struct work w = {.d = ret};
    int error = 0;
    for (int s = 0; s < ZS_SIDES && !error; s++) {
        error = open_side(c, k, s, ret);
        w.counts[s] = count_of(ret->code[s]);
        w.keys[s] = error ? NULL : inst_keys(ret->code[s], w.counts[s]);
    }
    if (!error)
        error = pair_up(w.keys[0], w.counts[0], w.keys[1], w.counts[1], INST_LEVELS, false,
                        &ret->insts, &ret->inst_count);
    for (size_t i = 0; i < ret->inst_count && !error; i++)
        ret->tally[ret->insts[i].change]++;
    if (!error && ret->code[0] && ret->code[1] && ret->code[0]->join && ret->code[1]->join)
        error = pair_files(c, &w);
    free(w.keys[0]);
    free(w.keys[1]);
    return error;
}

void zs_code_diff_close(const struct zs_compared *c, struct zs_code_diff *d)
{
    for (int s = 0; s < ZS_SIDES; s++) {
        const struct zs_column_source *columns = &c->sides[s].view->columns;
        if (d->code[s] && columns->release)
            columns->release(columns->user, d->code[s]);
        zs_code_close(d->code[s]);
    }
    free(d->insts);
    free(d->files.items);
    free(d->lines.items);
    free(d->pairs.items);
    *d = (struct zs_code_diff){0};
}

const struct zs_column *zs_code_diff_column(const struct zs_code_diff *d, int side,
                                            const char *name)
{
    const struct zs_code *code = d->code[side];
    for (uint32_t i = 0; code && i < code->column_count; i++)
        if (!strcmp(code->columns[i].name, name))
            return &code->columns[i];
    return NULL;
}
