/* SPDX-License-Identifier: MIT */
/*
 * Which part of the device is replayed. Subslices do the same with groups that do the same: where
 * groups are alike, one in eight (or fewer) of the subslices stands for all, with one in as many
 * of the groups, each from another block of neighbours. What subslices share works for the others,
 * too (hierarchy.c): their lines are elsewhere in L3, but those of atomics that meet.
 *
 * They share lines, too: what others touch before the part does they bring into L3. About when a
 * line is touched first follows from what was recorded; of those that touch it then the part's
 * touches miss as often as is its share.
 */
#include "gpu/timing/replay.h"

#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SHARE_MOST = 8,
    SUBSLICES_LEAST = 2, /* of a part; of launches of many instructions one is enough */
    INSTRUCTIONS_MANY = 200000,
    /* ... but on more than a few, where groups advance together: of few rounds one subslice may get
     * a group more than others */
    SUBSLICES_FEW = 6,
    ROUNDS_MANY = 3,
    GROUPS_LEAST = 2, /* for each part */
    ALIKE = 16,       /* parts' work differs by one in so many at most */
    LINES_FIRST = 1 << 12,
    LINES_MOST = 1 << 18,
    STEPS = 8, /* of a wave of groups: what comes in the same one comes at the same time */
};

struct load {
    uint64_t work, longest, groups; /* instructions of all threads, of one */
};

/* Groups go round the subslices, mostly: a part has those of the same ones, which share L1; of each
 * block of as many neighbours as there are parts one, not always the same. */
static uint32_t part_of(const struct zs_timing_trace *t, uint64_t group, uint32_t share)
{
    const struct zs_gpu_model *model = t->launch.model;
    uint64_t subslice = group % (model->slices * model->subslices_per_slice);
    return (uint32_t)((subslice + subslice / share) % share);
}

static double mean_of(const struct load *l)
{
    return (double)l->work / (double)ZS_MAX(l->groups, UINT64_C(1));
}

static bool differ(double a, double b)
{
    return (a > b ? a - b : b - a) * ALIKE > b;
}

/* The part that is most like all, of those with the most groups, of equals the one that has the
 * last group; SHARE_MOST: they are not alike. */
static uint32_t choose_of(const struct zs_timing_trace *t, uint32_t share, double *ret_spread)
{
    struct load parts[SHARE_MOST] = {0}, all = {0};
    uint32_t threads = t->launch.threads_per_group, best = SHARE_MOST;
    double least = 0, spread = 0;
    for (uint64_t g = 0; g < t->sampled; g++) {
        struct load *l = &parts[part_of(t, g, share)];
        l->groups++;
        for (uint32_t i = 0; i < threads; i++) {
            uint64_t executed = t->streams[g * threads + i].executed;
            l->work += executed;
            l->longest = ZS_MAX(l->longest, executed);
        }
    }
    for (uint32_t p = 0; p < share; p++) {
        all.work += parts[p].work;
        all.groups += parts[p].groups;
        all.longest = ZS_MAX(all.longest, parts[p].longest);
    }
    for (uint32_t i = 0; i < share; i++) {
        uint32_t p = (part_of(t, t->sampled - 1, share) + i) % share;
        double off = mean_of(&parts[p]) / mean_of(&all) - 1;
        off = off < 0 ? -off : off;
        spread = off > spread ? off : spread;
        bool most = parts[p].groups * share >= t->sampled;
        if (most && !differ((double)parts[p].longest, (double)all.longest) &&
            (best == SHARE_MOST || off < least)) {
            best = p;
            least = off;
        }
    }
    *ret_spread = spread;
    return spread * ALIKE > 1 ? SHARE_MOST : best;
}

/* ---- lines -------------------------------------------------------------------------------------
 * Those that the part touches are kept, and what others do to them.
 */

/* Neighbours stand together: of those that come one after the other the place is found once. */
struct block {
    uint64_t lines;
    uint32_t place;
};

static inline uint32_t place_in(struct block *block, uint64_t line)
{
    if (line >> 3 != block->lines)
        *block = (struct block){line >> 3, (uint32_t)zs_hash_u64(0, line >> 3) << 3};
    return block->place | (line & 7);
}

static inline uint32_t place_of(uint64_t line)
{
    struct block block = {.lines = UINT64_MAX};
    return place_in(&block, line);
}

static inline uint64_t *word_of_place(struct zs_timing_part *part, uint32_t place)
{
    return &part->touched[place / 64 % ZS_ARRAY_LEN(part->touched)];
}

static struct zs_timing_shared *slot_at(const struct zs_timing_part *part, uint64_t line,
                                        uint32_t place)
{
    uint32_t at = place & part->line_mask;
    while (part->lines[at].line && part->lines[at].line != line)
        at = (at + 1) & part->line_mask;
    return &part->lines[at];
}

static struct zs_timing_shared *slot_of(const struct zs_timing_part *part, uint64_t line)
{
    return slot_at(part, line, place_of(line));
}

static bool grow(struct zs_timing_part *part)
{
    struct zs_timing_part wider = {.line_mask =
                                       part->lines ? 4 * part->line_mask + 3 : LINES_FIRST - 1};
    wider.lines = calloc((size_t)wider.line_mask + 1, sizeof(*wider.lines));
    if (!wider.lines)
        return false;
    for (uint32_t i = 0; part->lines && i <= part->line_mask; i++)
        if (part->lines[i].line)
            *slot_of(&wider, part->lines[i].line) = part->lines[i];
    free(part->lines);
    part->lines = wider.lines;
    part->line_mask = wider.line_mask;
    return true;
}

/* About when, in the launch, a thread is behind word `at`, if it was at *when before. */
static void advance(const struct zs_timing_part *part, uint64_t begin, uint32_t at, uint32_t *when)
{
    while ((uint64_t)at * STEPS >= (*when + 1 - begin) * (part->longest + 1u))
        ++*when;
}

static void count_line(struct zs_timing_shared *to, uint32_t when, bool own)
{
    to->touches++;
    to->own_touches += own;
    if (!to->all || when < to->when) {
        to->when = when;
        to->all = to->own = 0;
    }
    to->all += when == to->when;
    to->own += when == to->when && own;
}

/* Of scratch or private memory. */
static void count_own(struct zs_timing_part *part, uint64_t thread, uint64_t line, bool own)
{
    uint32_t *last = &part->last_touched[line % ZS_ARRAY_LEN(part->last_touched)];
    if (!own || *last == thread + 1)
        return;
    *last = (uint32_t)thread + 1;
    part->own_lines++;
}

static bool count_stream(struct zs_timing_part *part, const struct zs_timing_trace *t,
                         uint64_t thread, bool own)
{
    const struct zs_timing_stream *s = &t->streams[thread];
    uint64_t group = thread / t->launch.threads_per_group;
    uint32_t begin = (uint32_t)(group / part->wave * STEPS), when = begin;
    const struct zs_timing_thread th = {.ranges = s->ranges};
    uint64_t lines[ZS_PORT_FOOTPRINT_LINES];
    struct block block = {.lines = UINT64_MAX};
    for (uint32_t at = 0, words; at < s->count; at += words) {
        bool message = s->words[at] >> 30 == ZS_TIMING_WORD_MESSAGE;
        words = message ? zs_timing_message_words(s->words + at) : 2;
        uint32_t count = message ? zs_timing_read_lines(&th, 0, s->words + at, lines) : 0;
        advance(part, begin, at + words, &when);
        for (uint32_t i = 0; i < count; i++) {
            if (!zs_timing_is_shared(lines[i])) {
                count_own(part, thread, lines[i], own);
                continue;
            }
            uint32_t place = place_in(&block, lines[i]);
            uint64_t *touched = word_of_place(part, place), bit = UINT64_C(1) << place % 64;
            if (!own && !(*touched & bit)) /* mostly: then the table need not be looked at */
                continue;
            struct zs_timing_shared *to = slot_at(part, lines[i], place);
            if (!to->line && !own)
                continue;
            *touched |= bit;
            part->line_count += !to->line;
            to->line = lines[i];
            count_line(to, when, own);
            if (part->line_count * 2 > part->line_mask && !grow(part))
                return false;
        }
    }
    return true;
}

/* Groups that share lines take turns: who comes first brings what all need for that step, and is
 * last in the next one. So a step's lines miss all, or none. */
bool zs_timing_part_misses(const struct zs_timing_part *part, uint64_t line, uint64_t step,
                           double *ret_odds)
{
    const struct zs_timing_shared *of = slot_of(part, line);
    /* evenly over groups and along threads: parts of the plastic number (R2, Roberts 2018) */
    uint32_t turn = (uint32_t)(step >> 32) * 0xc13fa9a9u + (uint32_t)step * 0x91e10da5u;
    *ret_odds = of->all ? (double)of->own / of->all : 1;
    return turn < *ret_odds * 0x1p32;
}

/* How many touch a line for each time that the part does: others do meanwhile. */
double zs_timing_part_meet(const struct zs_timing_part *part, uint64_t line)
{
    const struct zs_timing_shared *of = slot_of(part, line);
    double times = of->own_touches ? (double)of->touches / of->own_touches : 1;
    return ZS_MIN(times, (double)part->share);
}

/* ---- the part ----------------------------------------------------------------------------------
 */

static uint64_t cached_lines(const struct zs_gpu_model *model, const struct zs_timing_params *p)
{
    uint64_t slice_B =
        p->l3_way_B ? (uint64_t)p->l3_ways * p->l3_way_B : model->l3_cache_B / model->slices;
    return slice_B * model->slices / ZS_PORT_LINE_B;
}

/* Lines of the part's groups, or of the others. */
static bool count_groups(const struct zs_timing_trace *t, uint32_t number, bool own,
                         struct zs_timing_part *part)
{
    uint32_t threads = t->launch.threads_per_group;
    bool ok = true;
    for (uint64_t g = 0; g < t->sampled && ok && part->line_count <= LINES_MOST; g++) {
        if ((part_of(t, g, part->share) == number) != own)
            continue;
        if (own)
            part->groups[part->group_count++] = (uint32_t)g;
        part->first_groups += own && g < t->first_groups;
        for (uint32_t i = 0; i < threads && ok; i++)
            ok = count_stream(part, t, g * threads + i, own);
    }
    return ok;
}

/* What a line of the part stands for is as many as others have of their own. L3 that has no room
 * for all lines is as much smaller for the part: that tells what comes back where parts share next
 * to nothing, else *ret_fits is false: others bring back what it has lost. */
static int fill(const struct zs_timing_trace *t, uint32_t number, struct zs_timing_part *part,
                bool *ret_fits)
{
    double most = (double)cached_lines(t->launch.model, t->launch.params), lines = 0;
    part->groups = calloc(t->sampled, sizeof(*part->groups));
    for (uint64_t i = 0; i < t->sampled * t->launch.threads_per_group; i++)
        part->longest = ZS_MAX(part->longest, t->streams[i].count);
    bool ok = part->groups && grow(part) && count_groups(t, number, true, part) &&
              count_groups(t, number, false, part);
    for (uint32_t i = 0; ok && i <= part->line_mask; i++)
        lines += part->lines[i].line
                     ? (double)part->share * part->lines[i].own_touches / part->lines[i].touches
                     : 0;
    /* threads that come one after the other have the same of their own */
    double groups = (double)ZS_MIN(part->group_count, (uint64_t)t->resident_groups / part->share);
    double own = (double)part->own_lines * groups / (double)ZS_MAX(part->group_count, UINT64_C(1));
    lines += own * part->share;
    if (lines > most)
        part->reach = (part->line_count + own) / lines;
    *ret_fits = part->line_count <= LINES_MOST &&
                (lines <= most || part->reach * part->share < 1 + 1.0 / ALIKE);
    return ok ? 0 : -ENOMEM;
}

int zs_timing_part_choose(const struct zs_timing_trace *t, struct zs_timing_part *ret_part)
{
    const struct zs_gpu_model *model = t->launch.model;
    uint32_t subslices = model->slices * model->subslices_per_slice, number = SHARE_MOST, share;
    bool together =
        t->launch.has_barriers && t->sampled < (uint64_t)t->resident_groups * ROUNDS_MANY;
    bool single = t->instructions > INSTRUCTIONS_MANY && (subslices <= SUBSLICES_FEW || !together);
    uint32_t least = single ? 1 : SUBSLICES_LEAST;
    bool fits = true;
    double spread = 0;
    for (share = t->launch.exact ? 1 : SHARE_MOST; share > 1; share--) {
        bool whole = model->slices == 1 ? subslices % share == 0 : model->slices % share == 0;
        if (!whole || subslices / share < least || t->sampled < GROUPS_LEAST * share)
            continue;
        number = choose_of(t, share, &spread);
        if (number < SHARE_MOST)
            break;
    }
    *ret_part = (struct zs_timing_part){.share = share, .reach = 1, .wave = t->resident_groups};
    int error = share > 1 ? fill(t, number, ret_part, &fits) : 0;
    if (!error && !fits) {
        zs_timing_part_fini(ret_part);
        ret_part->share = 1;
        ret_part->reach = 1;
    }
    if (ret_part->share == 1) {
        ret_part->group_count = t->sampled;
        ret_part->first_groups = t->first_groups;
    }
    ret_part->doubt = ret_part->share > 1 ? spread + 1.0 / ALIKE : 0;
    ret_part->times = (double)t->sampled / (double)ret_part->group_count;
    return error;
}

void zs_timing_part_fini(struct zs_timing_part *part)
{
    free(part->groups);
    free(part->lines);
    *part = (struct zs_timing_part){0};
}
