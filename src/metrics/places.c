/* SPDX-License-Identifier: MIT */
/* Source lines of a kernel by what was counted there, and reasons for what is not known. */
#include "metrics/profile_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct zs_span trimmed(struct zs_span text)
{
    while (text.size_B && isspace(text.data[0])) {
        text.data++;
        text.size_B--;
    }
    while (text.size_B && isspace(text.data[text.size_B - 1]))
        text.size_B--;
    return text;
}

/* Of an instruction that compilers gave no line: that of one near it in its block, which mostly
 * made what it works on. NULL: none has one. */
static const struct zs_line_row *row_near(const struct zs_profile *p, uint32_t i)
{
    const struct zs_isa_kernel *isa = p->code->isa;
    uint32_t block = zs_isa_inst_block(isa, i);
    const struct zs_line_row *row = zs_code_row(p->code, i);
    for (uint32_t k = i; !row && k-- > 0 && zs_isa_inst_block(isa, k) == block;)
        row = zs_code_row(p->code, k);
    for (uint32_t k = i + 1; !row && k < p->inst_count && zs_isa_inst_block(isa, k) == block; k++)
        row = zs_code_row(p->code, k);
    return row;
}

static void fill_place(const struct zs_profiles *t, const struct zs_profile *p, uint32_t i,
                       struct zs_source_place *place)
{
    const struct zs_line_row *row = row_near(p, i);
    *place = (struct zs_source_place){.path = "", .offset_B = zs_isa_inst_offset(p->code->isa, i)};
    if (!row)
        return;
    const struct zs_dwarf_file *file = &p->code->info->files[row->file];
    const struct zs_source *source = zs_sources_get(t->sources, file);
    place->path = file->path;
    place->line = row->line;
    if (source)
        place->text = trimmed(zs_source_line(source, row->line));
}

struct line_sum {
    uint64_t key; /* file and line; where none is near: the instruction itself */
    double amount, most;
    uint32_t inst; /* with most of it */
};

static int by_key(const void *a, const void *b)
{
    const struct line_sum *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->inst > y->inst) - (x->inst < y->inst);
}

static int by_amount(const void *a, const void *b)
{
    const struct line_sum *x = a, *y = b;
    if (x->amount != y->amount)
        return x->amount < y->amount ? 1 : -1;
    return (x->inst > y->inst) - (x->inst < y->inst);
}

static uint64_t key_of(const struct zs_profile *p, uint32_t i)
{
    const struct zs_line_row *row = row_near(p, i);
    return row ? (uint64_t)row->file << 32 | row->line : UINT64_C(1) << 63 | i;
}

/* Equal keys become one. */
static uint32_t join_lines(struct line_sum *sums, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct line_sum *last = kept ? &sums[kept - 1] : NULL;
        if (!last || last->key != sums[i].key) {
            sums[kept++] = sums[i];
            continue;
        }
        last->amount += sums[i].amount;
        if (sums[i].most > last->most) {
            last->most = sums[i].most;
            last->inst = sums[i].inst;
        }
    }
    return kept;
}

uint32_t zs_profile_lines(const struct zs_profiles *t, const struct zs_profile *p,
                          double (*amount)(const struct zs_profile *, uint32_t, void *), void *user,
                          struct zs_source_place *ret_places, uint32_t max)
{
    uint32_t count = 0;
    struct line_sum *sums = p->insts ? calloc((size_t)p->inst_count + 1, sizeof(*sums)) : NULL;
    for (uint32_t i = 0; sums && i < p->inst_count; i++) {
        double of_inst = amount(p, i, user);
        if (of_inst > 0)
            sums[count++] = (struct line_sum){key_of(p, i), of_inst, of_inst, i};
    }
    if (!count) {
        free(sums);
        return 0;
    }
    qsort(sums, count, sizeof(*sums), by_key);
    count = join_lines(sums, count);
    qsort(sums, count, sizeof(*sums), by_amount);
    count = ZS_MIN(count, max);
    for (uint32_t i = 0; i < count; i++) {
        fill_place(t, p, sums[i].inst, &ret_places[i]);
        ret_places[i].amount = sums[i].amount;
    }
    free(sums);
    return count;
}

bool zs_profile_begin(const struct zs_profiles *t, const struct zs_profile *p,
                      struct zs_source_place *ret_place)
{
    *ret_place = (struct zs_source_place){.path = ""};
    for (uint32_t i = 0; p->insts && i < p->inst_count; i++) {
        if (!zs_code_row(p->code, i))
            continue;
        fill_place(t, p, i, ret_place);
        return true;
    }
    return false;
}

const char *zs_profile_why(const struct zs_profiles *t, const struct zs_profile *p,
                           enum zs_quantity quantity)
{
    enum zs_quantity_source source = zs_quantity_rows[quantity].source;
    if (!isnan(p->values[quantity]))
        return NULL;
    bool needs_counts = source == ZS_FROM_COUNTS || quantity == ZS_Q_FLOP_RATE ||
                        quantity == ZS_Q_GLOBAL_RATE || quantity == ZS_Q_SLM_RATE ||
                        quantity == ZS_Q_ISSUE;
    if (source == ZS_FROM_TRACE)
        return t->has_activity && p->launches
                   ? "the device told no time or size of its launches"
                   : "no launch of it was recorded: `zescope record` without --no-trace records "
                     "them";
    if (!p->code)
        return p->module_index == ZS_RECORD_NONE ? "its module was not recorded"
                                                 : "its module cannot be read";
    if (!p->insts)
        return "its machine code cannot be read";
    if (source == ZS_FROM_MODULE)
        return "its code does not tell";
    if (needs_counts && !p->is_counted)
        return "its instructions were not counted: `zescope record -d DEVICE --counts` (or "
               "`zescope "
               "profile`) counts them";
    if (source == ZS_FROM_DEVICE && !p->peaks.known)
        return "the recording does not hold the size of the device: record it anew";
    if (source == ZS_FROM_DEVICE)
        return "the times or sizes of its launches were not recorded";
    return "its instructions leave it undefined";
}
