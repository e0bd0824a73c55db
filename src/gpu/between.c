/* SPDX-License-Identifier: MIT */
/*
 * A word of shadow is the number of a cell: the accesses that count there, each of a command, a
 * site and some of the word's bytes. Few words differ from their neighbours in that, so a page
 * mostly has one number for all, and what becomes of a cell is found once for many words.
 */
#include "gpu/between.h"

#include "base/hash.h"
#include "base/id_map.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAST_MAX = 1024, /* commands that stand alone: older ones count as over */
    CELL_MAX = 16,   /* accesses that a word remembers */
    CELLS_MAX = 1 << 20,
    SITES_MAX = 1 << ZS_BETWEEN_BYTES_SHIFT,
    BYTES_SHIFT = ZS_BETWEEN_BYTES_SHIFT,
    RECENT = 64,
};

struct zs_past {
    _Atomic uint32_t refs;
    uint32_t count;
    uint64_t floor;   /* all up to it ... */
    uint64_t items[]; /* ... and these above, in order */
};

struct site {
    struct zs_gpu_site as_told;
    bool is_kernel;
};

struct access {
    uint64_t number, origin; /* of its command */
    uint32_t site, bytes;
};

struct cell {
    uint64_t count;
    struct access items[CELL_MAX];
};

enum { SPLIT = UINT32_MAX };
struct cells {
    uint32_t lines[ZS_BETWEEN_LINES]; /* of all words of a line, or SPLIT */
    uint32_t words[ZS_BETWEEN_WORDS];
};

struct page {
    uint32_t all;        /* the cell of each word ... */
    struct cells *cells; /* ... unless they differ */
};

/* What has become of a cell by what a command did there. */
struct recent {
    uint64_t done;
    uint32_t before, after;
    bool is_known;
};

struct zs_between {
    _Atomic uint64_t last;
    _Atomic bool lost; /* nothing is told any more */
    pthread_mutex_t lock;
    struct zs_id_map pages, site_numbers, cell_numbers, told;
    struct {
        struct site *items;
        size_t count, capacity;
    } sites;
    struct {
        struct cell **items;
        size_t count, capacity;
    } cells;
    struct recent recent[RECENT];
    uint64_t recent_of; /* the number of the command */
};

struct zs_between *zs_between_create(void)
{
    struct zs_between *b = calloc(1, sizeof(*b));
    if (b)
        pthread_mutex_init(&b->lock, NULL);
    return b;
}

static void free_page(struct page *page)
{
    if (page)
        free(page->cells);
    free(page);
}

static void forget_all(struct zs_between *b)
{
    for (size_t i = 0; i < b->pages.capacity; i++)
        free_page(b->pages.slots[i].value);
    zs_id_map_fini(&b->pages);
    zs_id_map_fini(&b->cell_numbers);
    for (size_t i = 0; i < b->cells.count; i++)
        free(b->cells.items[i]);
    b->cells.count = 0;
    b->pages = b->cell_numbers = (struct zs_id_map){0};
}

void zs_between_destroy(struct zs_between *b)
{
    if (!b)
        return;
    forget_all(b);
    for (size_t i = 0; i < b->sites.count; i++) {
        free((void *)(uintptr_t)b->sites.items[i].as_told.by);
        free((void *)(uintptr_t)b->sites.items[i].as_told.source);
    }
    free(b->sites.items);
    free(b->cells.items);
    zs_id_map_fini(&b->site_numbers);
    zs_id_map_fini(&b->told);
    pthread_mutex_destroy(&b->lock);
    free(b);
}

/* ---- pasts -------------------------------------------------------------------------------------
 */

struct zs_past *zs_past_ref(struct zs_past *past)
{
    if (past)
        atomic_fetch_add_explicit(&past->refs, 1, memory_order_relaxed);
    return past;
}

void zs_past_unref(struct zs_past *past)
{
    if (past && atomic_fetch_sub_explicit(&past->refs, 1, memory_order_acq_rel) == 1)
        free(past);
}

static bool has(const struct zs_past *past, uint64_t number)
{
    if (!past || number <= past->floor)
        return past != NULL;
    uint32_t low = 0, high = past->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (past->items[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < past->count && past->items[low] == number;
}

static void merge(struct zs_between *b, struct zs_past **past, uint64_t floor,
                  const uint64_t *items, uint32_t count)
{
    static const struct zs_past none = {.floor = 0};
    const struct zs_past *old = *past ? *past : &none;
    struct zs_past *made = malloc(sizeof(*made) + ((size_t)old->count + count) * sizeof(*items));
    if (!made) {
        atomic_store(&b->lost, true);
        return;
    }
    *made = (struct zs_past){.refs = 1, .floor = ZS_MAX(floor, old->floor)};
    for (uint32_t i = 0, k = 0; i < old->count || k < count;) {
        bool is_old = k == count || (i < old->count && old->items[i] <= items[k]);
        uint64_t next = is_old ? old->items[i++] : items[k++];
        if (next == made->floor + 1 && !made->count)
            made->floor = next;
        else if (next > made->floor && (!made->count || made->items[made->count - 1] != next))
            made->items[made->count++] = next;
    }
    if (made->count > PAST_MAX) {
        made->floor = made->items[PAST_MAX / 2 - 1];
        made->count -= PAST_MAX / 2;
        memmove(made->items, made->items + PAST_MAX / 2, made->count * sizeof(*items));
    }
    zs_past_unref(*past);
    *past = made;
}

void zs_past_join(struct zs_between *b, struct zs_past **past, const struct zs_past *other)
{
    if (!other || *past == other)
        return;
    if (!*past)
        *past = zs_past_ref((struct zs_past *)(uintptr_t)other);
    else
        merge(b, past, other->floor, other->items, other->count);
}

void zs_past_add(struct zs_between *b, struct zs_past **past, uint64_t number)
{
    merge(b, past, 0, &number, 1);
}

void zs_past_add_all(struct zs_between *b, struct zs_past **past)
{
    merge(b, past, atomic_load(&b->last), NULL, 0);
}

uint64_t zs_between_number(struct zs_between *b)
{
    return atomic_fetch_add(&b->last, 1) + 1;
}

/* ---- sites -------------------------------------------------------------------------------------
 */

static uint32_t find_site(const struct zs_between *b, uint64_t x, uint64_t y)
{
    return (uint32_t)(uintptr_t)zs_id_map_get(&b->site_numbers, x, y);
}

static uint32_t add_site(struct zs_between *b, uint64_t x, uint64_t y, const struct site *site)
{
    struct site s = *site;
    s.as_told.by = strdup(s.as_told.by);
    s.as_told.source = s.as_told.source ? strdup(s.as_told.source) : NULL;
    uintptr_t number = b->sites.count + 1;
    if (s.as_told.by && number < SITES_MAX && ZS_VEC_RESERVE(&b->sites, 1) &&
        zs_id_map_put(&b->site_numbers, x, y, (void *)number) == 0) {
        b->sites.items[b->sites.count++] = s;
        return (uint32_t)number;
    }
    free((void *)(uintptr_t)s.as_told.by);
    free((void *)(uintptr_t)s.as_told.source);
    atomic_store(&b->lost, true);
    return 0;
}

uint32_t zs_between_site(struct zs_between *b, uint64_t x, uint64_t y)
{
    pthread_mutex_lock(&b->lock);
    uint32_t number = find_site(b, x, y);
    pthread_mutex_unlock(&b->lock);
    return number;
}

uint32_t zs_between_add_site(struct zs_between *b, uint64_t x, uint64_t y, const char *kernel,
                             const char *source, const struct zs_gpu_site *as_told)
{
    struct site site = {.as_told = *as_told, .is_kernel = true};
    site.as_told.by = kernel;
    site.as_told.source = source;
    /* what a line has become: messages of lanes beside each other leave the same then */
    uint64_t line = source ? zs_hash_bytes(source, strlen(source)) << 2 |
                                 (uint64_t)as_told->is_write << 1 | as_told->is_atomic
                           : 0;
    pthread_mutex_lock(&b->lock);
    uint32_t number = line ? find_site(b, ~x, line) : 0;
    if (!number)
        number = add_site(b, x, y, &site);
    else
        (void)!zs_id_map_put(&b->site_numbers, x, y, (void *)(uintptr_t)number);
    if (line && number)
        (void)!zs_id_map_put(&b->site_numbers, ~x, line, (void *)(uintptr_t)number);
    pthread_mutex_unlock(&b->lock);
    return number;
}

static const struct site *site_at(const struct zs_between *b, uint32_t number)
{
    return &b->sites.items[number - 1];
}

/* ---- cells -------------------------------------------------------------------------------------
 */

/* Its number; 0, an empty one: also without memory. */
static uint32_t number_of(struct zs_between *b, const struct cell *cell)
{
    size_t size_B = offsetof(struct cell, items) + cell->count * sizeof(cell->items[0]);
    uint64_t hash = zs_hash_bytes(cell, size_B);
    if (!cell->count)
        return 0;
    uintptr_t number;
    while ((number = (uintptr_t)zs_id_map_get(&b->cell_numbers, hash, cell->count)) != 0) {
        if (!memcmp(b->cells.items[number - 1], cell, size_B))
            return (uint32_t)number;
        hash++;
    }
    struct cell *kept = malloc(size_B);
    number = b->cells.count + 1;
    if (!kept || !ZS_VEC_RESERVE(&b->cells, 1) ||
        zs_id_map_put(&b->cell_numbers, hash, cell->count, (void *)number)) {
        free(kept);
        atomic_store(&b->lost, true);
        return 0;
    }
    memcpy(kept, cell, size_B);
    b->cells.items[b->cells.count++] = kept;
    return (uint32_t)number;
}

static void tell(const struct zs_between_command *command, const struct access *now,
                 const struct access *before, uint64_t host_va)
{
    struct zs_between *b = command->between;
    uint32_t low = ZS_MIN(now->site, before->site), high = ZS_MAX(now->site, before->site);
    if (atomic_load(&b->lost) || zs_id_map_get(&b->told, low, high) ||
        zs_id_map_put(&b->told, low, high, b))
        return;
    const struct site *mine = site_at(b, now->site), *other = site_at(b, before->site);
    const struct site *named = mine->is_kernel ? mine : other;
    struct zs_gpu_finding f = {
        .kind = ZS_GPU_FINDING_RACE,
        .site_count = 2,
        .site = {mine->as_told, other->as_told},
        .gpu_va = host_va + (uint32_t)__builtin_ctz(now->bytes & before->bytes),
        .advice = "nothing orders the two: an event, a barrier, a list in order, or the host that "
                  "waits"};
    f.site[0].origin = now->origin;
    f.site[1].origin = before->origin;
    if (named->is_kernel)
        snprintf(f.kernel, sizeof(f.kernel), "%s", named->as_told.by);
    if (zs_gpu_memory_of_host(command->memory, f.gpu_va, &f.allocation)) {
        f.allocation_count = 1;
        f.gpu_va -= f.allocation.bias;
    }
    command->found(NULL, &f);
}

/* One access more. What it comes after, and stands for, goes. */
static void add_access(const struct zs_between_command *command, struct cell *cell,
                       const struct access *now, uint64_t host_va)
{
    const struct zs_between *b = command->between;
    const struct zs_gpu_site *mine = &site_at(b, now->site)->as_told;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < cell->count; i++) {
        const struct access *old = &cell->items[i];
        const struct zs_gpu_site *its = &site_at(b, old->site)->as_told;
        bool is_before = has(command->past, old->number);
        if (!is_before && (old->bytes & now->bytes) && (mine->is_write || its->is_write) &&
            !(mine->is_atomic && its->is_atomic))
            tell(command, now, old, host_va);
        bool stands_for_it = mine->is_write ? !mine->is_atomic || its->is_atomic : !its->is_write;
        bool goes = !(old->bytes & ~now->bytes) && stands_for_it &&
                    (is_before || (mine->is_write && !mine->is_atomic));
        if (!goes)
            cell->items[kept++] = *old;
    }
    if (kept == CELL_MAX)
        memmove(cell->items, cell->items + 1, --kept * sizeof(cell->items[0]));
    cell->items[kept++] = *now;
    cell->count = kept;
}

static uint32_t after(const struct zs_between_command *command, struct recent *last,
                      uint32_t before, uint64_t done, uint64_t host_va)
{
    if (!done)
        return before;
    if (last->is_known && last->before == before && last->done == done)
        return last->after;
    struct zs_between *b = command->between;
    struct recent *r = &b->recent[zs_hash_u64(before, done) % RECENT];
    if (r->is_known && r->before == before && r->done == done) {
        *last = *r;
        return r->after;
    }
    struct cell cell = {.count = 0};
    if (before)
        memcpy(&cell, b->cells.items[before - 1],
               offsetof(struct cell, items) +
                   b->cells.items[before - 1]->count * sizeof(cell.items[0]));
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t half = (uint32_t)(done >> 32 * i);
        struct access now = {.number = command->number,
                             .origin = command->origin,
                             .site = half & (SITES_MAX - 1),
                             .bytes = half >> BYTES_SHIFT & 15};
        if (now.site && now.bytes)
            add_access(command, &cell, &now, host_va);
    }
    *r = (struct recent){
        .is_known = true, .before = before, .done = done, .after = number_of(b, &cell)};
    *last = *r;
    return r->after;
}

/* ---- pages -------------------------------------------------------------------------------------
 */

static struct page *page_of(struct zs_between *b, uint64_t number)
{
    struct page *page = zs_id_map_get(&b->pages, number, 0);
    if (page)
        return page;
    page = calloc(1, sizeof(*page));
    if (page && zs_id_map_put(&b->pages, number, 0, page)) {
        free(page);
        page = NULL;
    }
    if (!page)
        atomic_store(&b->lost, true);
    return page;
}

static struct cells *split_page(struct zs_between *b, struct page *page)
{
    if (!page->cells)
        page->cells = malloc(sizeof(*page->cells));
    else
        return page->cells;
    for (uint32_t i = 0; i < ZS_BETWEEN_LINES && page->cells; i++)
        page->cells->lines[i] = page->all;
    if (!page->cells)
        atomic_store(&b->lost, true);
    return page->cells;
}

static void join_page(struct page *page)
{
    const uint32_t *lines = page->cells->lines;
    if (lines[0] == (uint32_t)SPLIT ||
        memcmp(lines, lines + 1, (ZS_BETWEEN_LINES - 1) * sizeof(*lines)))
        return;
    page->all = lines[0];
    free(page->cells);
    page->cells = NULL;
}

/* The words of a line, which may change until they are joined. */
static uint32_t *split_line(struct cells *cells, uint32_t line)
{
    uint32_t *words = cells->words + (size_t)line * ZS_BETWEEN_LINE_WORDS;
    for (uint32_t i = 0; i < ZS_BETWEEN_LINE_WORDS && cells->lines[line] != (uint32_t)SPLIT; i++)
        words[i] = cells->lines[line];
    return words;
}

static void join_line(struct cells *cells, uint32_t line)
{
    const uint32_t *words = cells->words + (size_t)line * ZS_BETWEEN_LINE_WORDS;
    bool alike = true;
    for (uint32_t i = 1; i < ZS_BETWEEN_LINE_WORDS; i++)
        alike &= words[i] == words[0];
    cells->lines[line] = alike ? words[0] : (uint32_t)SPLIT;
}

/* Under the lock. `lines` has all, or each is `all`. */
static void change(const struct zs_between_command *command, uint64_t number, const uint64_t *lines,
                   const uint64_t *words, uint64_t all)
{
    struct zs_between *b = command->between;
    struct recent last = {.is_known = false};
    if (b->cells.count >= CELLS_MAX)
        forget_all(b);
    if (b->recent_of != command->number || !b->cells.count)
        memset(b->recent, 0, sizeof(b->recent));
    b->recent_of = command->number;
    struct page *page =
        command->leaves_nothing ? zs_id_map_get(&b->pages, number, 0) : page_of(b, number);
    uint64_t host_va = number * ZS_BETWEEN_PAGE_B;
    if (!page)
        return;
    if (!lines && !page->cells) {
        page->all = after(command, &last, page->all, all, host_va);
        return;
    }
    struct cells *cells = split_page(b, page);
    for (uint32_t i = 0; i < ZS_BETWEEN_LINES && cells; i++) {
        uint64_t done = lines ? lines[i] : all, va = host_va + i * 4ull * ZS_BETWEEN_LINE_WORDS;
        if (done != ZS_BETWEEN_SPLIT && cells->lines[i] != (uint32_t)SPLIT) {
            cells->lines[i] = after(command, &last, cells->lines[i], done, va);
            continue;
        }
        uint32_t *of_line = split_line(cells, i), first = i * ZS_BETWEEN_LINE_WORDS;
        for (uint32_t k = 0; k < ZS_BETWEEN_LINE_WORDS; k++)
            of_line[k] = after(command, &last, of_line[k],
                               done == ZS_BETWEEN_SPLIT ? words[first + k] : done, va + k * 4u);
        join_line(cells, i);
    }
    if (cells)
        join_page(page);
}

void zs_between_pages(const struct zs_between_command *command, const struct zs_between_done *done,
                      size_t count)
{
    pthread_mutex_lock(&command->between->lock);
    for (const struct zs_between_done *d = done; d < done + count; d++) {
        bool alike = d->lines[0] != ZS_BETWEEN_SPLIT &&
                     !memcmp(d->lines, d->lines + 1, sizeof(d->lines) - sizeof(*d->lines));
        if (!alike || d->lines[0])
            change(command, d->page, alike ? NULL : d->lines, d->words, d->lines[0]);
    }
    pthread_mutex_unlock(&command->between->lock);
}

/* Words of a page of which [from, to) was touched; lines are all split. */
static void cut(uint64_t site, uint64_t from, uint64_t to, uint64_t *ret_lines, uint64_t *ret_words)
{
    memset(ret_lines, 0xff, ZS_BETWEEN_LINES * sizeof(*ret_lines));
    memset(ret_words, 0, ZS_BETWEEN_WORDS * sizeof(*ret_words));
    for (uint64_t at = from; at < to; at++)
        ret_words[at % ZS_BETWEEN_PAGE_B / 4] |= site | UINT64_C(1) << (BYTES_SHIFT + (at & 3));
}

static uint32_t command_site(const struct zs_between_command *command, uint64_t size_B,
                             bool is_write)
{
    struct zs_between *b = command->between;
    uint64_t x = (uintptr_t)command->name, y = command->origin << 1 | is_write;
    struct site site = {.as_told = {.by = command->name,
                                    .instruction_offset_B = -1,
                                    .is_write = is_write,
                                    .size_B = (uint32_t)ZS_MIN(size_B, (uint64_t)UINT32_MAX)}};
    uint32_t number = find_site(b, x, y);
    return number ? number : add_site(b, x, y, &site);
}

void zs_between_touch(const struct zs_between_command *command, const void *host, uint64_t size_B,
                      bool is_write)
{
    struct zs_between *b = command->between;
    uint64_t lines[ZS_BETWEEN_LINES], words[ZS_BETWEEN_WORDS];
    uint64_t at = (uintptr_t)host, end = at + size_B;
    if (!b || end < at)
        return;
    pthread_mutex_lock(&b->lock);
    uint64_t site = command_site(command, size_B, is_write);
    while (at < end && site) {
        uint64_t to = ZS_MIN(end, (at / ZS_BETWEEN_PAGE_B + 1) * ZS_BETWEEN_PAGE_B);
        bool whole = to - at == ZS_BETWEEN_PAGE_B;
        if (!whole)
            cut(site, at, to, lines, words);
        change(command, at / ZS_BETWEEN_PAGE_B, whole ? NULL : lines, words,
               site | UINT64_C(15) << BYTES_SHIFT);
        at = to;
    }
    pthread_mutex_unlock(&b->lock);
}

/* Of a page that is there; true: all of it, and the page is gone. */
static bool forget_words(struct zs_between *b, uint64_t number, uint64_t from, uint64_t end)
{
    uint64_t at = number * ZS_BETWEEN_PAGE_B, to = ZS_MIN(end - at, (uint64_t)ZS_BETWEEN_PAGE_B);
    from = from > at ? from - at : 0;
    if (to - from == ZS_BETWEEN_PAGE_B) {
        free_page(zs_id_map_remove(&b->pages, number, 0));
        return true;
    }
    struct page *page = zs_id_map_get(&b->pages, number, 0);
    struct cells *cells = split_page(b, page);
    for (; from < to && cells; from += 4) {
        uint32_t line = (uint32_t)from / 4 / ZS_BETWEEN_LINE_WORDS;
        split_line(cells, line)[from / 4 % ZS_BETWEEN_LINE_WORDS] = 0;
        join_line(cells, line);
    }
    if (cells)
        join_page(page);
    return false;
}

/* Reservations of virtual memory are larger by far than what was touched of them. */
void zs_between_forget(struct zs_between *b, uint64_t host_va, uint64_t size_B)
{
    uint64_t end = host_va + size_B, first = host_va / ZS_BETWEEN_PAGE_B;
    if (!b || end <= host_va)
        return;
    pthread_mutex_lock(&b->lock);
    uint64_t count = (end - 1) / ZS_BETWEEN_PAGE_B - first + 1;
    for (uint64_t i = 0; count <= b->pages.capacity && i < count; i++) {
        if (zs_id_map_get(&b->pages, first + i, 0))
            forget_words(b, first + i, host_va, end);
    }
    for (size_t i = 0; count > b->pages.capacity && i < b->pages.capacity;) {
        const struct zs_id_slot *slot = &b->pages.slots[i];
        bool is_there = slot->value && slot->a - first < count;
        i += !is_there || !forget_words(b, slot->a, host_va, end);
    }
    pthread_mutex_unlock(&b->lock);
}
