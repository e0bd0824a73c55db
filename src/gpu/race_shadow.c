/* SPDX-License-Identifier: MIT */
/* Memory of the shadow of races, and what other commands are told of it when the launch ends. */
#include "gpu/race_priv.h"

#include "base/os.h"

#include <stdlib.h>

enum {
    SLAB_B = 1 << 18,
    SLAB_DOUBLINGS = 12,
    SITES_KNOWN = 64,
    READS_UNTIL = 64,
};

/* ---- records -----------------------------------------------------------------------------------
 */

static void forget_all(struct zs_gpu_checks *c)
{
    for (size_t i = 0; i < c->pages.capacity; i++) {
        struct zs_race_page *page = c->pages.slots[i].value;
        if (!page)
            continue;
        page->listed = 0;
        if (!zs_race_is_list(page))
            memset(page->lines, 0, sizeof(page->lines));
        atomic_store_explicit(&page->is_quiet, false, memory_order_relaxed);
        page->quiet_words = 0;
        page->before = NULL; /* what the launch has written is not known any more */
    }
    if (c->local)
        memset(c->local, 0,
               c->run->groups_per_worker * zs_race_local_words(c->run) * sizeof(uint64_t));
    zs_check_ask_anew(&c->at);
    memset(c->reaches.quiet, 0xff, sizeof(c->reaches.quiet));
    memset(c->blocks, 0, c->run->kernel->instruction_count * sizeof(*c->blocks));
    for (size_t i = 0; i < ZS_ARRAY_LEN(c->sites); i++)
        c->sites[i].next.left = 0;
    c->record_count = 0;
    c->generation++;
    c->lost = true;
}

bool zs_race_make_room(struct zs_gpu_checks *c, uint32_t count)
{
    if (count > ZS_RACE_RECORD_MASK - c->record_count)
        forget_all(c);
    if (c->records)
        return true;
    struct zs_gpu_device *device = c->run->device;
    if (zs_gpu_block_get(device, ZS_RACE_RECORDS_MAX * sizeof(*c->records), &c->records_block) ||
        zs_gpu_block_get(device, ZS_RACE_RECORDS_MAX * sizeof(*c->whats), &c->whats_block))
        return false;
    zs_os_expect_fill(c->records_block.data, c->records_block.size_B);
    c->records = (struct zs_check_record *)(void *)c->records_block.data;
    c->whats = (uint32_t *)(void *)c->whats_block.data;
    return true;
}

/* ---- pages -------------------------------------------------------------------------------------
 */

/* Slabs are the device's, as most launches have others behind them: memory that is fresh from the
 * host's system costs more than all that is done with it. */
void *zs_race_get(struct zs_gpu_checks *c, size_t size_B)
{
    struct zs_gpu_block *slab = &c->slabs[c->slab_count - (c->slab_count > 0)];
    if (!c->slab_count || slab->size_B - c->slab_used_B < size_B) {
        size_t wanted_B = (size_t)SLAB_B << ZS_MIN(c->slab_count, (uint32_t)SLAB_DOUBLINGS);
        slab = &c->slabs[c->slab_count];
        if (c->slab_count == ZS_CHECK_SLABS ||
            zs_gpu_block_get(c->run->device, wanted_B, slab) != 0)
            return NULL;
        zs_os_expect_fill(slab->data, slab->size_B);
        if (c->is_helper)
            atomic_fetch_add(&c->told->helpers_B, slab->size_B);
        c->slab_count++;
        c->slab_used_B = 0;
    }
    c->slab_used_B += size_B;
    return slab->data + c->slab_used_B - size_B;
}

/* Lines are zeros, or not there yet. */
static struct zs_race_page *make_page(struct zs_gpu_checks *c, bool is_write)
{
    struct zs_race_page *page = zs_race_get(c, sizeof(*page));
    if (!page)
        return NULL;
    memset(page, 0,
           is_write ? offsetof(struct zs_race_page, words) : offsetof(struct zs_race_page, lines));
    atomic_init(&page->is_list, !is_write);
    page->of = c;
    atomic_init(&page->reads_until, READS_UNTIL);
    return page;
}

static bool has_ended(const struct zs_gpu_checks *c, uint32_t group)
{
    for (uint32_t i = 0; i < c->run->groups_per_worker; i++) {
        if (c->groups[i].index == group)
            return false;
    }
    return true;
}

/* The last record that was found to be a reader's of a group that has ended, and that group; all in
 * front of `resident` have. */
struct ended {
    uint32_t record, group;
    uint64_t resident;
};

static uint64_t first_resident(const struct zs_gpu_checks *c)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < c->run->groups_per_worker; i++)
        first = ZS_MIN(first, c->groups[i].index);
    return first;
}

static inline bool is_quiet(const struct zs_gpu_checks *c, uint64_t word, struct ended *last)
{
    uint32_t read = (uint32_t)word, record = read & ZS_RACE_RECORD_MASK;
    if (!read || !(word >> 63))
        return false;
    if (record == last->record)
        return true;
    const struct zs_check_record *r = zs_race_record(c, read);
    if (r->is_write ||
        (r->group != last->group && r->group >= last->resident && !has_ended(c, r->group)))
        return false;
    last->record = record;
    last->group = r->group;
    return true;
}

void zs_race_look_at(const struct zs_gpu_checks *c, struct zs_race_page *page)
{
    struct ended last = {0, UINT32_MAX, first_resident(c)};
    uint32_t i = page->quiet_words;
    bool is_known = zs_race_is_shared(page) && zs_race_is_quiet_elsewhere(page);
    bool is = is_known || !zs_race_is_list(page);
    while (i < ZS_BETWEEN_WORDS && is && !is_known) {
        uint64_t line = page->lines[i / ZS_RACE_LINE_WORDS];
        is = is_quiet(c, line == ZS_RACE_SPLIT ? page->words[i] : zs_race_word(line, 0), &last);
        i += !is ? 0 : line == ZS_RACE_SPLIT ? 1 : ZS_RACE_LINE_WORDS;
    }
    page->quiet_words = i - i % ZS_RACE_LINE_WORDS;
    atomic_store_explicit(&page->is_quiet, is, memory_order_relaxed);
    page->reads = 0;
    uint32_t until = atomic_load_explicit(&page->reads_until, memory_order_relaxed);
    until = zs_race_is_shared(page) ? until * 3 / 2 : until; /* others' are gone through again */
    atomic_store_explicit(&page->reads_until, ZS_MAX(until, (uint32_t)READS_UNTIL),
                          memory_order_relaxed);
    if (is && zs_race_is_shared(page))
        zs_race_tell_quiet(page);
}

bool zs_race_is_own(const struct zs_gpu_checks *c, uint64_t gpu_va)
{
    bool is =
        gpu_va - c->own.start < c->own.end - c->own.start || gpu_va >> 48 == ZS_GPU_BOUNDS_TAG;
    for (uint32_t i = 0; i < c->run->range_count && !is; i++)
        is = gpu_va >= c->run->ranges[i].start && gpu_va < c->run->ranges[i].end;
    return is;
}

/* Nothing else lies on pages of the launch's memory. */
static bool has_own(const struct zs_gpu_checks *c, uint64_t number)
{
    uint64_t start = number * ZS_BETWEEN_PAGE_B, end = start + ZS_BETWEEN_PAGE_B;
    bool has = zs_race_is_own(c, start);
    for (uint32_t i = 0; i < c->run->range_count && !has; i++)
        has = c->run->ranges[i].start < end && c->run->ranges[i].end > start;
    return has;
}

static bool is_hosts(const struct zs_gpu_checks *c, uint64_t host_va)
{
    struct zs_gpu_allocation a;
    return zs_gpu_memory_of_host(c->run->launch->memory, host_va, &a) &&
           (a.kind == ZS_GPU_MEMORY_HOST || a.kind == ZS_GPU_MEMORY_SHARED);
}

/* The host's pages are as large: all of one is there. What is written first is mostly a result. */
static void keep(struct zs_gpu_checks *c, struct zs_race_page *page, uint64_t host_va,
                 bool is_write)
{
    if (is_write || c->generation || !is_hosts(c, host_va))
        return;
    page->before = zs_race_get(c, ZS_BETWEEN_PAGE_B);
    c->lost |= !page->before;
    if (page->before)
        zs_race_copy(page->before, host_va, ZS_BETWEEN_PAGE_B);
}

struct zs_race_page *zs_race_find_page(struct zs_gpu_checks *c, uint64_t number, bool is_write)
{
    struct zs_race_page *page = zs_id_map_get(&c->pages, number, 0);
    if (!page && !has_own(c, number)) {
        page = make_page(c, is_write);
        if (!page || zs_id_map_put(&c->pages, number, 0, page)) {
            c->lost = true;
            return NULL;
        }
        if (!c->shares || !zs_race_share(c, page, number))
            keep(c, page, number * ZS_BETWEEN_PAGE_B, is_write);
    }
    c->recent[zs_race_slot(number)].number = number;
    return c->recent[zs_race_slot(number)].page = page;
}

uint64_t *zs_race_local(struct zs_gpu_checks *c, const struct zs_gpu_group *group)
{
    size_t words = zs_race_local_words(c->run);
    if (!c->local)
        c->local = calloc(c->run->groups_per_worker * words, sizeof(*c->local));
    c->lost |= !c->local;
    return c->local ? c->local + group->number * words : NULL;
}

void zs_check_races_group(struct zs_gpu_checks *c, const struct zs_gpu_group *group)
{
    struct zs_check_group *of_group = &c->groups[group->number];
    of_group->later_count = 0;
    of_group->is_direct = false;
    if (c->local)
        memset(zs_race_local(c, group), 0, zs_race_local_lines(c->run) * sizeof(uint64_t));
}

/* ---- other commands ----------------------------------------------------------------------------
 */

struct known_site {
    uint64_t what;
    uint32_t number;
};

static uint32_t make_site(struct zs_gpu_checks *c, const struct zs_check_record *r, uint64_t what)
{
    const struct zs_gpu_run *run = c->run;
    const struct zs_gpu_launch *launch = run->launch;
    struct zs_between *between = launch->command->between;
    uint32_t number = zs_between_site(between, run->kernel->number, what);
    char source[2048];
    struct zs_gpu_site site;
    if (number)
        return number;
    zs_race_describe(run, r, 0, &site);
    bool is_known = launch->find_line(launch->found_context, &site.instruction_offset_B, source,
                                      sizeof(source));
    struct zs_check_record first = *r;
    first.inst = run->kernel->instructions[r->inst].half_of;
    if (!is_known && first.inst != r->inst) /* the same of the other lanes */
        return make_site(c, &first, zs_race_what(&first));
    return zs_between_add_site(between, run->kernel->number, what, run->kernel->module->name,
                               is_known ? source : NULL, &site);
}

/* Lanes and records are of this launch alone. */
static inline uint32_t as_command(struct zs_gpu_checks *c, struct known_site *known, uint32_t half)
{
    uint32_t record = half & ZS_RACE_RECORD_MASK;
    if (!record || half & ZS_RACE_EARLIER)
        return 0;
    uint32_t what = c->whats[record - 1];
    struct known_site *k = &known[what % SITES_KNOWN];
    if (ZS_UNLIKELY(!k->number || k->what != what))
        *k = (struct known_site){what, make_site(c, zs_race_record(c, half), what)};
    return k->number | (half & 15u << ZS_RACE_BYTES_SHIFT);
}

static inline uint64_t done_by(struct zs_gpu_checks *c, struct known_site *known, uint64_t word)
{
    uint32_t other = (uint32_t)(word >> 32) & ~ZS_RACE_SECOND_READ;
    uint64_t high = other ? as_command(c, known, other) : 0;
    return high << 32 | as_command(c, known, (uint32_t)word);
}

/* Words of a line; what became of all of them, or ZS_BETWEEN_SPLIT and of each. */
static uint64_t done_by_words(struct zs_gpu_checks *c, struct known_site *known,
                              const uint64_t *words, uint64_t *ret)
{
    const uint64_t lanes = ZS_RACE_BOTH(31u) << ZS_RACE_LANE_SHIFT;
    uint64_t differs = 0;
    for (uint32_t i = 0; i < ZS_RACE_LINE_WORDS; i++)
        differs |= (words[i] ^ words[0]) & ~lanes;
    uint64_t first = done_by(c, known, words[0]);
    if (!differs)
        return first;
    ret[0] = first;
    for (uint32_t i = 1; i < ZS_RACE_LINE_WORDS; i++) {
        ret[i] = done_by(c, known, words[i]);
        differs = i == 1 ? ret[i] ^ first : differs | (ret[i] ^ first);
    }
    return differs ? ZS_BETWEEN_SPLIT : first;
}

/* Lines and words that were read by one. */
static void put_reader(uint64_t by, const uint64_t *of, uint64_t *lines, uint64_t *words)
{
    for (uint32_t line = 0; line < ZS_BETWEEN_LINES; line++) {
        uint32_t first = line * ZS_RACE_LINE_WORDS;
        uint64_t part = of[first / 64], bits = part >> first % 64 & 0xff;
        if (first % 64 == 0 && (!part || part == UINT64_MAX)) {
            for (uint32_t i = 0; part && i < 64 / ZS_RACE_LINE_WORDS; i++)
                lines[line + i] = by;
            line += 64 / ZS_RACE_LINE_WORDS - 1;
            continue;
        }
        if (bits == 0xff)
            lines[line] = by;
        if (!bits || bits == 0xff)
            continue;
        if (!lines[line])
            memset(words + first, 0, ZS_RACE_LINE_WORDS * sizeof(*words));
        lines[line] = ZS_BETWEEN_SPLIT;
        for (; bits; bits &= bits - 1)
            words[first + (uint32_t)__builtin_ctzll(bits)] = by;
    }
}

/* false: by too many. */
static bool done_by_readers(struct zs_gpu_checks *c, struct known_site *known,
                            const struct zs_race_page *page, uint64_t *lines, uint64_t *words)
{
    struct zs_race_reader readers[32];
    uint64_t by[ZS_ARRAY_LEN(readers)];
    uint32_t count = zs_race_list_readers(c, page, readers, ZS_ARRAY_LEN(readers)), kinds = 0;
    memset(lines, 0, ZS_BETWEEN_LINES * sizeof(*lines));
    for (uint32_t i = 0, k; i < count; i++) { /* those of one line of source are one */
        by[kinds] = as_command(c, known, readers[i].number | 15u << ZS_RACE_BYTES_SHIFT);
        for (k = 0; by[k] != by[kinds];)
            k++;
        for (uint32_t at = 0; k < kinds && at < ZS_RACE_PARTS; at++)
            readers[k].words[at] |= readers[i].words[at];
        if (k == kinds)
            readers[kinds++] = readers[i];
    }
    for (uint32_t i = 0; i < kinds; i++)
        put_reader(by[i], readers[i].words, lines, words);
    return count > 0;
}

static void find_done(struct zs_gpu_checks *c, struct known_site *known, struct zs_race_page *page,
                      struct zs_between_done *ret)
{
    if (zs_race_is_list(page) && page->listed &&
        done_by_readers(c, known, page, ret->lines, ret->words))
        return;
    if (zs_race_is_list(page))
        zs_race_unlist(c, page);
    uint64_t written = 0; /* by an instruction alone, the last one */
    uint32_t what = 0;
    for (uint32_t i = 0; i < ZS_BETWEEN_LINES; i++) {
        uint32_t first = i * ZS_RACE_LINE_WORDS, record;
        uint64_t line = page->lines[i];
        record = (uint32_t)(line >> 32) & ZS_RACE_RECORD_MASK;
        bool is_written = line != ZS_RACE_SPLIT && !(uint32_t)line && line;
        if (is_written && written && c->whats[record - 1] == what) {
            ret->lines[i] = written;
            continue;
        }
        ret->lines[i] = line == ZS_RACE_SPLIT
                            ? done_by_words(c, known, page->words + first, ret->words + first)
                            : done_by(c, known, line | ZS_RACE_BOTH(15u) << ZS_RACE_BYTES_SHIFT);
        written = is_written ? ret->lines[i] : written;
        what = is_written ? c->whats[record - 1] : what;
    }
}

void zs_check_races_worker_end(struct zs_gpu_checks *c)
{
    enum { AT_ONCE = 16 }; /* workers get in each other's way */
    const struct zs_between_command *command = c->run->launch->command;
    struct known_site known[SITES_KNOWN] = {{0}};
    struct zs_between_done *done =
        command && c->record_count ? malloc(AT_ONCE * sizeof(*done)) : NULL;
    size_t count = 0;
    c->lost |= command && c->record_count && !done;
    for (size_t i = 0; done && i < c->pages.capacity; i++) {
        if (!c->pages.slots[i].value)
            continue;
        done[count].page = c->pages.slots[i].a;
        find_done(c, known, c->pages.slots[i].value, &done[count++]);
        if (count == AT_ONCE) {
            zs_between_pages(command, done, count);
            count = 0;
        }
    }
    if (count)
        zs_between_pages(command, done, count);
    free(done);
}

/* ---- the host ---------------------------------------------------------------------------------
 */

/* Who has only read all of it; 0: somebody has written it. */
static uint32_t reader_of(const struct zs_gpu_checks *c, uint64_t word)
{
    uint32_t read = (uint32_t)word, other = (uint32_t)(word >> 32);
    bool is_read =
        read && (read >> ZS_RACE_BYTES_SHIFT & 15) == 15 && (!other || other & ZS_RACE_SECOND_READ);
    return is_read && !zs_race_record(c, read)->is_write ? read : 0;
}

static void tell_host(struct zs_gpu_checks *c, uint32_t read, uint64_t host_va)
{
    const struct zs_check_record *r = zs_race_record(c, read);
    struct zs_gpu_finding f = {
        .kind = ZS_GPU_FINDING_RACE,
        .note = ZS_GPU_NOTE_HOST,
        .gpu_va = host_va,
        .site_count = 2,
        .site[1] = {.by = "the host, while the launch ran",
                    .instruction_offset_B = -1,
                    .is_write = true,
                    .size_B = 4},
        .advice = "the host has to wait for the launch before it writes what that reads"};
    if (!zs_check_is_new(c, r->inst, UINT32_MAX >> 5, 0))
        return;
    zs_race_describe(c->run, r, zs_race_lane(read), &f.site[0]);
    zs_check_tell(c, &f);
}

/* What the launch has only read is another value now. Of pages of several workers the first one's
 * knows what was there. */
static void compare_with_host(struct zs_gpu_checks *c, uint64_t number, struct zs_race_page *page)
{
    const uint8_t *now = (const uint8_t *)(uintptr_t)(number * ZS_BETWEEN_PAGE_B);
    if (!page->before || !is_hosts(c, number * ZS_BETWEEN_PAGE_B) ||
        !memcmp(page->before, now, ZS_BETWEEN_PAGE_B))
        return;
    for (struct zs_race_page *p = page; p; p = p->next) {
        if (zs_race_is_list(p))
            zs_race_unlist(p->of, p);
    }
    for (uint32_t i = 0; i < ZS_BETWEEN_WORDS; i++) {
        if (!memcmp(page->before + (size_t)i * 4, now + (size_t)i * 4, 4) ||
            zs_race_is_written(page, i))
            continue;
        for (const struct zs_race_page *p = page; p; p = p->next) {
            uint32_t read = reader_of(p->of, zs_race_page_word(p, i));
            if (read)
                tell_host(p->of, read, (uintptr_t)now + i * 4u);
        }
    }
}

void zs_check_races_free(struct zs_gpu_checks *c)
{
    for (uint32_t i = 0; i < c->slab_count; i++)
        zs_gpu_block_put(c->run->device, &c->slabs[i]);
    zs_gpu_block_put(c->run->device, &c->records_block);
    zs_gpu_block_put(c->run->device, &c->whats_block);
    zs_id_map_fini(&c->pages);
    free(c->held);
    free(c->local);
}

/* ---- the end -----------------------------------------------------------------------------------
 */

static bool is_guess(const struct zs_check_told *told, uint32_t inst)
{
    bool is = false;
    for (uint32_t i = 0; i < told->workers; i++)
        is |= told->of[i] && zs_race_is_guess(told->of[i], inst);
    return is;
}

/* Of a worker: races of atomics with reads, when it is known which of them are guesses. */
static void tell_held(struct zs_check_told *told, struct zs_gpu_checks *c)
{
    for (uint32_t i = 0; i < c->held_count; i++) {
        struct zs_gpu_finding *f = &c->held[i].finding;
        if (f->note != ZS_GPU_NOTE_SAME_VALUE && is_guess(told, c->held[i].inst))
            f->note = ZS_GPU_NOTE_GUESS;
        zs_check_tell(c, f);
    }
}

void zs_check_races_end(struct zs_check_told *told)
{
    bool lost = false;
    zs_race_compare_workers(told);
    for (uint32_t i = 0; i < told->workers; i++)
        lost |= told->of[i] && told->of[i]->lost;
    for (uint32_t i = 0; i < told->workers; i++) {
        if (!told->of[i])
            continue;
        const struct zs_id_map *pages = &told->of[i]->pages;
        tell_held(told, told->of[i]);
        for (size_t k = 0; k < pages->capacity && !lost; k++) {
            if (pages->slots[k].value)
                compare_with_host(told->of[i], pages->slots[k].a, pages->slots[k].value);
        }
    }
}
