/* SPDX-License-Identifier: MIT */
/*
 * Races of groups that ran on different workers. A group runs on one, and each worker has a shadow
 * of its own; when all have ended, pages that several have touched are compared. Nothing orders
 * groups of different workers: kernels whose atomics may do that (orders_groups) have one.
 *
 * Whether two of them stored the same is no matter of shadows. So when a worker stores in a page
 * that others have, too, it gets room for values: from then on what each worker stores there is
 * kept. What they had stored before is what memory has then, but for stores of this one that were
 * put off and are carried out: of those compiled code says whether they changed something.
 */
#include "gpu/race_priv.h"

#include "base/sanitizer.h"

enum { BITS = 64, LINE_WORDS = ZS_RACE_LINE_WORDS, AREA_PAGES = 16 };

/* Of pages that follow each other the first worker's. */
struct zs_race_area {
    _Atomic(struct zs_race_page *) pages[AREA_PAGES];
};

/* Accesses of kernels to memory race when the kernels do. */
#define OF_MEMORY __attribute__((no_sanitize("thread")))

OF_MEMORY void zs_race_copy(uint8_t *to, uint64_t host_va, size_t size_B)
{
    const uint8_t *from = (const uint8_t *)(uintptr_t)host_va;
    if (!ZS_HAS_TSAN)
        memcpy(to, from, size_B);
    for (size_t i = 0; ZS_HAS_TSAN && i < size_B; i++) /* it looks at calls */
        to[i] = from[i];
}

OF_MEMORY bool zs_race_memory_is(const uint8_t *value, uint64_t host_va, size_t size_B)
{
    const uint8_t *now = (const uint8_t *)(uintptr_t)host_va;
    bool is = true;
    for (size_t i = 0; i < size_B; i++)
        is &= value[i] == now[i];
    return is;
}

/* ---- pages that several workers have -----------------------------------------------------------
 */

/* Another one that has it; NULL: that was all of them from the first one on. */
static struct zs_race_page *next_of(const struct zs_race_page *page)
{
    return atomic_load_explicit(&page->next, memory_order_acquire);
}

static bool is_plain_write(const struct zs_race_page *page, uint32_t half)
{
    const struct zs_check_record *r = half ? zs_race_record(page->of, half) : NULL;
    return r && r->is_write && !r->is_atomic;
}

/* Of a line's words a bit for each that is written. */
OF_MEMORY static uint64_t written_of(const struct zs_race_page *page, uint32_t line)
{
    if (zs_race_is_list(page))
        return 0;
    uint64_t all = page->lines[line], ret = 0;
    if (all != ZS_RACE_SPLIT)
        return all >> 32 && !(all >> 63) ? (1u << LINE_WORDS) - 1 : 0;
    for (uint32_t i = 0; i < LINE_WORDS; i++) {
        uint64_t word = page->words[line * LINE_WORDS + i];
        ret |= (uint64_t)(word >> 32 && !(word >> 63)) << i;
    }
    return ret;
}

/* Its worker goes on meanwhile: what it does just now may be seen, or not. false: none is. */
static bool find_written(const struct zs_race_page *page, uint64_t *ret)
{
    uint64_t any = 0;
    memset(ret, 0, ZS_BETWEEN_WORDS / 8);
    for (uint32_t i = 0; i < ZS_BETWEEN_LINES; i++) {
        uint64_t written = written_of(page, i);
        any |= written;
        ret[i * LINE_WORDS / BITS] |= written << i * LINE_WORDS % BITS;
    }
    return any != 0;
}

/* All of it was read, and nothing written. */
OF_MEMORY static bool is_read(const struct zs_race_page *page)
{
    if (zs_race_is_list(page))
        return zs_race_list_is_full(page) && zs_race_is_list(page);
    bool is = true;
    for (uint32_t i = 0; i < ZS_BETWEEN_LINES && is; i++) {
        uint64_t line = page->lines[i];
        bool is_split = line == ZS_RACE_SPLIT;
        for (uint32_t k = 0; k < (is_split ? LINE_WORDS : 1u); k++) {
            uint64_t word = is_split ? page->words[i * LINE_WORDS + k] : line;
            is &= (uint32_t)word && (!(word >> 32) || word >> 63);
        }
    }
    return is;
}

bool zs_race_is_quiet_elsewhere(const struct zs_race_page *page)
{
    uint64_t written[ZS_BETWEEN_WORDS / BITS];
    bool is_all = is_read(page), is = false;
    for (const struct zs_race_page *p = atomic_load(&page->first); p && !is; p = next_of(p))
        is = zs_race_is_quiet(p) || (is_all && p != page && is_read(p));
    return is && !find_written(page, written);
}

void zs_race_tell_quiet(const struct zs_race_page *page)
{
    for (struct zs_race_page *p = atomic_load(&page->first); p; p = next_of(p))
        atomic_store_explicit(&p->reads_until, 0, memory_order_relaxed);
}

/* NULL: no memory. */
static struct zs_race_area *find_area(struct zs_gpu_checks *c, uint64_t number)
{
    struct zs_check_told *told = c->told;
    pthread_mutex_lock(&told->pages_lock);
    struct zs_race_area *area = zs_id_map_get(&told->areas, number, 0);
    if (!area && (area = zs_race_get(c, sizeof(*area)))) {
        memset(area, 0, sizeof(*area));
        area = zs_id_map_put(&told->areas, number, 0, area) ? NULL : area;
    }
    pthread_mutex_unlock(&told->pages_lock);
    c->area_number = number;
    return c->area = area;
}

static void link_page(struct zs_race_page *page, struct zs_race_page *first)
{
    bool is_quiet = false;
    pthread_mutex_lock(&page->of->told->pages_lock);
    atomic_store_explicit(&page->next, atomic_load(&first->next), memory_order_relaxed);
    atomic_store_explicit(&first->next, page, memory_order_release);
    atomic_store_explicit(&page->first, first, memory_order_relaxed);
    atomic_store_explicit(&first->first, first, memory_order_relaxed);
    for (const struct zs_race_page *p = first; p && !is_quiet; p = p->next)
        is_quiet = zs_race_is_quiet(p);
    atomic_store_explicit(&page->is_quiet, is_quiet, memory_order_relaxed);
    pthread_mutex_unlock(&page->of->told->pages_lock);
}

bool zs_race_share(struct zs_gpu_checks *c, struct zs_race_page *page, uint64_t number)
{
    uint64_t at = number / AREA_PAGES;
    struct zs_race_area *area = c->area && c->area_number == at ? c->area : find_area(c, at);
    struct zs_race_page *first = NULL;
    c->lost |= !area;
    if (!area || atomic_compare_exchange_strong(&area->pages[number % AREA_PAGES], &first, page))
        return false;
    link_page(page, first);
    return true;
}

bool zs_check_races_share(struct zs_gpu_checks *c)
{
    for (size_t i = 0; i < c->pages.capacity; i++) {
        if (c->pages.slots[i].value)
            (void)zs_race_share(c, c->pages.slots[i].value, c->pages.slots[i].a);
    }
    c->shares = true;
    return !c->lost;
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* What memory has of the page around an address. Where that is not all, nothing is known of what
 * was stored before. */
static void find_values(const struct zs_gpu_checks *c, uint64_t at, struct zs_race_values *v)
{
    struct zs_gpu_allocation there;
    uint64_t start = at - at % ZS_BETWEEN_PAGE_B, from = at, to = at;
    if (zs_gpu_memory_of_host(c->run->launch->memory, at, &there)) {
        from = ZS_MAX(start, there.gpu_va + there.bias);
        to = ZS_MIN(start + ZS_BETWEEN_PAGE_B, there.gpu_va + there.bias + there.size_B);
    }
    bool is_all = to - from == ZS_BETWEEN_PAGE_B;
    for (uint64_t va = start; !is_all && va < start + ZS_BETWEEN_PAGE_B; va += 4) {
        uint32_t word = (uint32_t)(va - start) / 4;
        if (va < from || va + 4 > to)
            v->differs[word / BITS] |= v->before[word / BITS] & UINT64_C(1) << word % BITS;
    }
    zs_race_copy(v->data + (from - start), from, to - from);
}

/* Somebody stores in a page that others have: what all of them have stored there before. */
static struct zs_race_values *ask_for_values(struct zs_gpu_checks *c, struct zs_race_page *page,
                                             uint64_t at)
{
    uint64_t before[ZS_BETWEEN_WORDS / BITS];
    pthread_mutex_lock(&c->told->pages_lock);
    for (struct zs_race_page *p = atomic_load(&page->first); p; p = p->next) {
        bool is_any = find_written(p, before);
        struct zs_race_values *v = atomic_load(&p->values);
        if (v || (!is_any && p != page))
            continue;
        v = zs_race_get(c, sizeof(*v));
        if (!v) {
            c->lost = true;
            break;
        }
        memset(v->before, 0, sizeof(*v) - offsetof(struct zs_race_values, before));
        memcpy(v->before, before, sizeof(before));
        if (is_any)
            find_values(c, at, v);
        v->batch = p == page ? c->batch : 0;
        atomic_store_explicit(&p->values, v, memory_order_release);
    }
    pthread_mutex_unlock(&c->told->pages_lock);
    return atomic_load(&page->values);
}

/* Another worker has written some of these lines. It has touched its words before it looks here, as
 * this one has: one of them sees the other. */
static bool is_written_elsewhere(const struct zs_race_page *page, uint32_t word, uint32_t count)
{
    bool is = false;
    atomic_thread_fence(memory_order_seq_cst);
    for (const struct zs_race_page *p = atomic_load(&page->first); p && !is; p = next_of(p)) {
        for (uint32_t i = word / LINE_WORDS; i <= (word + count - 1) / LINE_WORDS; i++)
            is |= p != page && written_of(p, i);
    }
    return is;
}

static inline struct zs_race_values *values_of(struct zs_gpu_checks *c, struct zs_race_page *page,
                                               uint64_t at)
{
    struct zs_race_values *v = atomic_load_explicit(&page->values, memory_order_acquire);
    return ZS_LIKELY(v != NULL) ? v : ask_for_values(c, page, at);
}

static void note_value(struct zs_race_values *v, uint64_t at, uint32_t size_B, const uint8_t *value,
                       bool changes)
{
    uint32_t in_B = (uint32_t)(at % ZS_BETWEEN_PAGE_B), word = in_B / 4;
    uint64_t bit = UINT64_C(1) << word % BITS;
    bool is_again = (v->before[word / BITS] | v->own[word / BITS]) & bit;
    if (!value || (is_again && size_B == 4 && memcmp(v->data + in_B, value, size_B) != 0))
        v->differs[word / BITS] |= bit;
    v->changed[word / BITS] |= changes ? bit : 0;
    v->own[word / BITS] |= bit;
    if (value)
        memcpy(v->data + in_B, value, size_B);
}

void zs_race_note_stored(struct zs_gpu_checks *c, struct zs_race_page *page, uint64_t at,
                         uint32_t count, uint32_t same)
{
    enum { MOST = 32 };
    for (; count > MOST; at += MOST * 4, count -= MOST)
        zs_race_note_stored(c, page, at, MOST, 0);
    uint32_t word = (uint32_t)(at % ZS_BETWEEN_PAGE_B / 4), in = word % BITS;
    uint8_t now[MOST * 4];
    bool is_wanted = atomic_load_explicit(&page->values, memory_order_relaxed) ||
                     is_written_elsewhere(page, word, count);
    struct zs_race_values *v = is_wanted ? values_of(c, page, at) : NULL;
    if (!v)
        return;
    zs_race_copy(now, at, count * 4);
    uint64_t bits = ((UINT64_C(1) << count) - 1) << in;
    if (in + count <= BITS && v->batch != c->batch &&
        !((v->before[word / BITS] | v->own[word / BITS]) & bits)) {
        v->own[word / BITS] |= bits;
        memcpy(v->data + (size_t)word * 4, now, count * 4);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        note_value(v, at + i * 4, 4, now + (size_t)i * 4, v->batch == c->batch && !(same >> i & 1));
}

static void keep_value(struct zs_gpu_checks *c, struct zs_race_page *page, uint64_t at,
                       uint32_t size_B, const uint8_t *value)
{
    if (!value || c->storing_count == ZS_ARRAY_LEN(c->storing))
        return;
    c->storing[c->storing_count].page = page;
    c->storing[c->storing_count].in_B = (uint16_t)(at % ZS_BETWEEN_PAGE_B);
    c->storing[c->storing_count].size_B = (uint16_t)size_B;
    memcpy(c->storing[c->storing_count++].value, value, size_B);
}

/* Others that have come to a page meanwhile may have looked for values that were not there yet. */
void zs_race_settle(struct zs_gpu_checks *c)
{
    for (uint32_t i = 0; i < c->storing_count; i++) {
        const struct zs_race_page *page = c->storing[i].page;
        struct zs_race_values *v = atomic_load_explicit(&page->values, memory_order_acquire);
        uint32_t in_B = c->storing[i].in_B, word = in_B / 4;
        if (!v)
            continue;
        v->before[word / BITS] &= ~(UINT64_C(1) << word % BITS);
        v->own[word / BITS] |= UINT64_C(1) << word % BITS;
        memcpy(v->data + in_B, c->storing[i].value, c->storing[i].size_B);
    }
    c->storing_count = 0;
}

void zs_race_note_values(struct zs_race_access *a, struct zs_race_page *page, uint64_t at,
                         uint32_t size_B, uint32_t count, uint32_t lane)
{
    struct zs_gpu_checks *c = a->at->c;
    uint32_t same = a->same >> (lane - a->chan_offset) % 32, by = a->rises;
    uint8_t now[4];
    if (a->is_quick && !a->is_late) {
        a->fails = true;
        return;
    }
    if (a->is_late && size_B == 4) {
        zs_race_note_stored(c, page, at, count, same);
        return;
    }
    bool is_shared = zs_race_is_shared(page);
    struct zs_race_values *v = is_shared ? values_of(c, page, at) : NULL;
    for (uint32_t i = 0; (v || !is_shared) && i < count; i++) {
        const uint8_t *value = zs_race_value(a, lane + i * by);
        if (a->is_late) {
            zs_race_copy(now, at, size_B);
            value = now;
        } else if (value && count == 1) { /* part of an element */
            value += at - a->gpu_va;
        }
        if (!is_shared)
            keep_value(c, page, at + i * size_B, size_B, value);
        else
            note_value(v, at + i * size_B, size_B, value,
                       a->is_late && v->batch == c->batch && !(same & 1));
    }
}

/* ---- the end -----------------------------------------------------------------------------------
 */

/* What a page's worker did to a word: two halves, each what it says. */
static void halves_of(const struct zs_race_page *page, uint32_t word, uint32_t ret[2])
{
    uint64_t both = zs_race_page_word(page, word);
    ret[0] = (uint32_t)(both >> 32);
    ret[1] = (uint32_t)both;
}

static bool writes(const struct zs_race_page *page, uint32_t half)
{
    return half && zs_race_record(page->of, half)->is_write;
}

bool zs_race_is_written(const struct zs_race_page *page, uint32_t word)
{
    uint32_t halves[2];
    for (; page; page = page->next) {
        halves_of(page, word, halves);
        if (writes(page, halves[0]) || writes(page, halves[1]))
            return true;
    }
    return false;
}

static bool is_set(const uint64_t *bits, uint32_t word)
{
    return bits[word / BITS] >> word % BITS & 1;
}

/* Of plain writes: all of them stored the same there. */
static bool are_same(const struct zs_race_page *const of[2], uint32_t word, uint32_t bytes)
{
    const struct zs_race_values *v[2] = {atomic_load(&of[0]->values), atomic_load(&of[1]->values)};
    for (uint32_t i = 0; i < 2; i++) {
        if (!v[i] || is_set(v[i]->differs, word) ||
            (is_set(v[i]->changed, word) && v[!i] && is_set(v[!i]->before, word)))
            return false;
    }
    for (uint32_t i = word * 4; bytes; bytes >>= 1, i++) {
        if (bytes & 1 && v[0]->data[i] != v[1]->data[i])
            return false;
    }
    return true;
}

static void tell(struct zs_check_told *told, const struct zs_race_page *const of[2],
                 const uint32_t halves[2], uint64_t number, uint32_t word)
{
    struct zs_gpu_checks *c = told->of[0];
    uint32_t bytes = halves[0] & halves[1] & 15u << ZS_RACE_BYTES_SHIFT;
    const struct zs_check_record *r[2] = {zs_race_record(of[0]->of, halves[0]),
                                          zs_race_record(of[1]->of, halves[1])};
    bool is_turned = r[1]->group > r[0]->group;
    struct zs_gpu_finding f = {.gpu_va = number * ZS_BETWEEN_PAGE_B + word * 4 +
                                         (uint32_t)__builtin_ctz(bytes >> ZS_RACE_BYTES_SHIFT),
                               .site[0] = {.size_B = r[is_turned]->size_B}};
    if (is_plain_write(of[0], halves[0]) && is_plain_write(of[1], halves[1]) &&
        are_same(of, word, bytes >> ZS_RACE_BYTES_SHIFT))
        f.note = ZS_GPU_NOTE_SAME_VALUE;
    if (!zs_check_is_new(c, ZS_MIN(r[0]->inst, r[1]->inst), ZS_MAX(r[0]->inst, r[1]->inst),
                         f.note != 0))
        return;
    const struct zs_check_record *const who[2] = {r[is_turned], r[!is_turned]};
    const uint32_t lanes[2] = {zs_race_lane(halves[is_turned]), zs_race_lane(halves[!is_turned])};
    zs_race_tell(c, who, lanes, &f);
}

/* ret: told, or, where told is NULL, whether something would be. */
static bool compare_words(struct zs_check_told *told, const struct zs_race_page *const of[2],
                          uint64_t number, uint32_t word)
{
    uint32_t a[2], b[2];
    halves_of(of[0], word, a);
    halves_of(of[1], word, b);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t halves[2] = {a[i / 2], b[i % 2]};
        if (!(halves[0] & halves[1] & 15u << ZS_RACE_BYTES_SHIFT) || !halves[0] || !halves[1])
            continue;
        const struct zs_check_record *r = zs_race_record(of[0]->of, halves[0]),
                                     *s = zs_race_record(of[1]->of, halves[1]);
        if (!(r->is_write || s->is_write) || (r->is_atomic && s->is_atomic))
            continue;
        if (!told)
            return true;
        tell(told, of, halves, number, word);
    }
    return false;
}

static void compare_lines(struct zs_check_told *told, const struct zs_race_page *const of[2],
                          uint64_t number, uint32_t line)
{
    uint32_t first = line * LINE_WORDS;
    bool are_alike = of[0]->lines[line] != ZS_RACE_SPLIT && of[1]->lines[line] != ZS_RACE_SPLIT;
    if (are_alike && !compare_words(NULL, of, number, first))
        return;
    for (uint32_t i = 0; i < LINE_WORDS; i++)
        (void)compare_words(told, of, number, first + i);
}

static void find_lines(struct zs_race_page *page)
{
    memset(page->has, 0, sizeof(page->has));
    memset(page->writes, 0, sizeof(page->writes));
    for (uint32_t i = 0; i < ZS_BETWEEN_LINES; i++) {
        page->has[i / BITS] |= (uint64_t)(page->lines[i] != 0) << i % BITS;
        page->writes[i / BITS] |= (uint64_t)(written_of(page, i) != 0) << i % BITS;
    }
}

static void compare_pages(struct zs_check_told *told, const struct zs_race_page *a,
                          const struct zs_race_page *b, uint64_t number)
{
    const struct zs_race_page *const of[2] = {a, b};
    for (uint32_t i = 0; i < ZS_BETWEEN_LINES / BITS; i++) {
        uint64_t rest = (a->writes[i] & b->has[i]) | (b->writes[i] & a->has[i]);
        for (; rest; rest &= rest - 1)
            compare_lines(told, of, number, i * BITS + (uint32_t)__builtin_ctzll(rest));
    }
}

void zs_race_compare_workers(struct zs_check_told *told)
{
    for (size_t i = 0; i < told->areas.capacity * AREA_PAGES; i++) {
        const struct zs_id_slot *slot = &told->areas.slots[i / AREA_PAGES];
        struct zs_race_area *area = slot->value;
        struct zs_race_page *first = area ? atomic_load(&area->pages[i % AREA_PAGES]) : NULL;
        bool is_list = true; /* nobody writes */
        for (const struct zs_race_page *p = first; p && is_list; p = p->next)
            is_list = zs_race_is_list(p);
        for (struct zs_race_page *p = is_list ? NULL : first; p; p = p->next) {
            if (zs_race_is_list(p))
                zs_race_unlist(p->of, p);
            find_lines(p);
            for (const struct zs_race_page *q = first; q != p; q = q->next)
                compare_pages(told, q, p, slot->a * AREA_PAGES + i % AREA_PAGES);
        }
    }
}
