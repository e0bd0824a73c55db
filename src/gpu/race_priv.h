/* SPDX-License-Identifier: MIT */
/*
 * The shadow of races (race.c, race_shadow.c).
 *
 * A word of 64 bits stands for four bytes of memory: in its high half who wrote last, in its low
 * half who read (the first of those that nothing orders; while nobody has written the high half has
 * the second one), or who was atomic after a plain write. Who was there before a write stays in the
 * low half, as ZS_RACE_EARLIER, until the next read: that counts where workers are compared
 * (race_workers.c). Each half names a record, a lane and the bytes. A record is what one
 * instruction of a thread does until the thread's next barrier, fence or ordering atomic, so there
 * are far fewer of them than accesses.
 *
 * Eight words are a line. Mostly they are alike but for lanes, which rise by one, and whole: then
 * the line is one word, of which in each half the bits of bytes say that there is one, and whether
 * its lanes rise. Else it is ZS_RACE_SPLIT, and its words stand behind all lines.
 *
 * Most pages are only read. Until one is written, or there is no room for more, each read is a
 * number in a list, in place of the words (race_list.c).
 */
#ifndef ZS_GPU_RACE_PRIV_H
#define ZS_GPU_RACE_PRIV_H

#include "gpu/between.h"
#include "gpu/check.h"

enum {
    ZS_RACE_RECORDS_MAX = 1 << 22,
    ZS_RACE_RECORD_MASK = ZS_RACE_RECORDS_MAX - 1,
    ZS_RACE_LANE_SHIFT = 22,
    ZS_RACE_BYTES_SHIFT = ZS_BETWEEN_BYTES_SHIFT,
    ZS_RACE_IS_THERE = 1 << ZS_RACE_BYTES_SHIFT, /* of half a line */
    ZS_RACE_RISES = 2 << ZS_RACE_BYTES_SHIFT,
    ZS_RACE_LINE_WORDS = ZS_BETWEEN_LINE_WORDS,
    ZS_RACE_LINE_B = 4 * ZS_RACE_LINE_WORDS,
    ZS_RACE_PARTS = ZS_BETWEEN_WORDS / 64, /* of a page, a bit for each word */
    ZS_RACE_LIST_MAX = 384,
};
#define ZS_RACE_SECOND_READ (1u << 31)
#define ZS_RACE_EARLIER     (1u << 31) /* of the low half */
#define ZS_RACE_SPLIT       ZS_BETWEEN_SPLIT
#define ZS_RACE_BOTH(half)  ((uint64_t)(half) << 32 | (half))

/* Of a page that several workers have: what its own worker has stored there. A bit for each word.
 */
struct zs_race_values {
    uint8_t data[ZS_BETWEEN_PAGE_B];
    uint64_t before[ZS_RACE_PARTS];  /* stored before others came ... */
    uint64_t own[ZS_RACE_PARTS];     /* ... and later */
    uint64_t differs[ZS_RACE_PARTS]; /* it is not all that was stored, or not known */
    uint64_t changed[ZS_RACE_PARTS]; /* there was something else as others stored before */
    uint32_t batch; /* of its worker, when values were first asked for; 0: another one asked */
};

struct zs_race_page {
    /* Of the workers that have it: that of the one that came first, if there are others. */
    _Atomic(struct zs_race_page *) first;
    _Atomic(struct zs_race_page *) next;
    struct zs_gpu_checks *of;
    _Atomic(struct zs_race_values *) values; /* NULL: not since others have it */
    uint64_t has[2], writes[2];              /* at the end: lines that were touched, and written */
    /* Each word was read by two that nothing orders, the first of a group that has ended, or
     * another worker's: further reads change nothing. Looked for after so many reads. */
    atomic_bool is_quiet;
    uint32_t reads;
    uint32_t quiet_words; /* so many from the first one on are like that, until it is written */
    atomic_uint reads_until;
    uint8_t *before; /* what the host may write, as the launch found it; NULL: it is not kept */
    /* Lines and words stand for nothing: `listed` reads are all that is known, one a word. */
    atomic_bool is_list;
    atomic_uint listed; /* its worker writes it alone */
    uint64_t lines[ZS_BETWEEN_LINES];
    uint64_t words[ZS_BETWEEN_WORDS]; /* of lines that are split */
};

static inline uint32_t zs_race_lane(uint32_t half)
{
    return half >> ZS_RACE_LANE_SHIFT & 31;
}

static inline const struct zs_check_record *zs_race_record(const struct zs_gpu_checks *c,
                                                           uint32_t half)
{
    return &c->records[(half & ZS_RACE_RECORD_MASK) - 1];
}

static inline uint32_t zs_race_what(const struct zs_check_record *r)
{
    return r->inst << 2 | (uint32_t)r->is_write << 1 | r->is_atomic;
}

/* The i-th word of a line that is not split. */
static inline uint64_t zs_race_word(uint64_t line, uint32_t i)
{
    const uint64_t one = ZS_RACE_BOTH(1u);
    uint64_t is_there = line >> ZS_RACE_BYTES_SHIFT & one;
    uint64_t rises = line >> (ZS_RACE_BYTES_SHIFT + 1) & one;
    uint64_t word = (line & ~(ZS_RACE_BOTH(15u) << ZS_RACE_BYTES_SHIFT)) |
                    is_there * (UINT64_C(15) << ZS_RACE_BYTES_SHIFT);
    return word + rises * ((uint64_t)i << ZS_RACE_LANE_SHIFT);
}

/* Of a range of words, which begins in this qword or before and ends in it or behind, its bits. */
static inline uint64_t zs_race_bits(uint32_t part, uint32_t word, uint32_t end)
{
    uint32_t from = ZS_MAX(word, part * 64) - part * 64;
    uint32_t to = ZS_MIN(end, (part + 1) * 64) - part * 64;
    return (UINT64_MAX >> (64 - (to - from))) << from;
}

/* A number of a list: the record, its lane, whether lanes rise, the first word, how many follow,
 * and as many threads more, each with the next record and so many words further. */
enum {
    ZS_RACE_LIST_RISES = 27,
    ZS_RACE_LIST_WORD = 28,
    ZS_RACE_LIST_COUNT = 38,
    ZS_RACE_LIST_THREADS = 48,
    ZS_RACE_LIST_STEP = 54,
};

/* Of the records that say the same (zs_race_what()) the first one, and what was read by none
 * before. */
struct zs_race_reader {
    uint32_t number, what;
    uint64_t words[ZS_RACE_PARTS];
};

/* What somebody did, to what is done now. */
enum zs_race_relation {
    ZS_RACE_AGAINST, /* or so it seems */
    ZS_RACE_BESIDE,  /* neither writes */
    ZS_RACE_BEFORE,
};

/* What a message does, piece by piece. */
struct zs_race_access {
    struct zs_check_where *at;
    const struct zs_eu_thread *t;
    const struct zs_port_message *m;
    const struct zs_check_record *record;
    uint32_t number; /* of the record, from 1 on */
    uint32_t inst;
    uint32_t passed; /* barriers that the thread has waited for */
    uint64_t gpu_va;
    uint32_t size_B, lane, element;
    uint32_t only; /* the lane in whose name it is one access for all; 0: lanes have their own */
    bool is_slm;
    bool is_quick, fails; /* nothing is told: something conflicts */
    bool is_late;         /* it has been carried out */
    bool rises;           /* of a row: each dword is of the next lane */
    /* Who did the last words' halves: what holds for all that the record stands for. */
    struct {
        uint32_t number; /* 0: nobody yet */
        enum zs_race_relation relation;
    } known[2];
    bool knows_same; /* of stores that were put off: which lanes store what was there */
    uint32_t same;
    /* of stores whose layout is known: values of lanes, else NULL */
    const uint8_t *values;
    const struct zs_port_accesses *pieces; /* of this message; NULL: no two lanes at one place */
    uint32_t slot_B, component_B, chan_offset;
};

/* ---- race.c -----------------------------------------------------------------------------------
 */

/* Where the values of a store's lanes stand. */
void zs_race_find_values(struct zs_race_access *a, const struct zs_eu_send *send,
                         const uint8_t *src0);
/* a->size_B bytes from a->gpu_va on, by a->lane. */
void zs_race_bytes(struct zs_race_access *a);
/* Dwords behind each other, by a->lane, or lanes from there on. */
void zs_race_row(struct zs_race_access *a, uint64_t at, uint32_t count, bool rises);
/* A dword of each lane, whose address is behind that of the first one. false: some is none. */
bool zs_race_lanes(struct zs_race_access *a, const uint64_t *addresses, uint32_t lane_mask,
                   uint32_t first);
void zs_race_describe(const struct zs_gpu_run *run, const struct zs_check_record *r, uint32_t lane,
                      struct zs_gpu_site *ret);
/* Two that nothing orders, the later one first. f: all else, and how much that one reached; advice
 * where it is special. */
void zs_race_tell(struct zs_gpu_checks *c, const struct zs_check_record *const who[2],
                  const uint32_t lanes[2], struct zs_gpu_finding *f);
/* What a lane stores; NULL: it is not known. */
const uint8_t *zs_race_value(const struct zs_race_access *a, uint32_t lane);

/* So many words of a page, from one on; false: enough. */
bool zs_race_page_words(struct zs_race_access *a, struct zs_race_page *page, uint32_t word,
                        uint32_t count);

/* ---- race_list.c ------------------------------------------------------------------------------
 */

static inline bool zs_race_is_list(const struct zs_race_page *page)
{
    return atomic_load_explicit(&page->is_list, memory_order_acquire);
}

/* What is known of a page that is a list goes to its lines and words. */
void zs_race_unlist(struct zs_gpu_checks *c, struct zs_race_page *page);
/* Words that a lane has read, or lanes from there on. */
static inline uint64_t zs_race_read(uint32_t number, uint32_t lane, bool rises, uint32_t word,
                                    uint32_t count)
{
    return number | lane << ZS_RACE_LANE_SHIFT | (uint64_t)rises << ZS_RACE_LIST_RISES |
           (uint64_t)word << ZS_RACE_LIST_WORD | (uint64_t)(count - 1) << ZS_RACE_LIST_COUNT;
}

/* NULL: it is no list, or there is no room. */
static inline uint64_t *zs_race_list(struct zs_race_page *page, uint64_t read)
{
    uint32_t at = atomic_load_explicit(&page->listed, memory_order_relaxed);
    if (!zs_race_is_list(page) || ZS_UNLIKELY(at == ZS_RACE_LIST_MAX))
        return NULL;
    page->words[at] = read;
    atomic_store_explicit(&page->listed, at + 1, memory_order_release);
    return &page->words[at];
}

/* The next thread of one, so many words further. false: as above, or for one more. */
static inline bool zs_race_list_next(const struct zs_race_page *page, uint64_t *read, uint64_t step)
{
    uint64_t threads = *read >> ZS_RACE_LIST_THREADS & 63;
    bool is =
        zs_race_is_list(page) && threads < 63 && (!threads || *read >> ZS_RACE_LIST_STEP == step);
    if (is)
        *read += UINT64_C(1) << ZS_RACE_LIST_THREADS | (threads ? 0 : step << ZS_RACE_LIST_STEP);
    return is;
}
/* Each word was read. Of another worker's page it may be anything, if it is no list behind that. */
bool zs_race_list_is_full(const struct zs_race_page *page);
/* Which records have read the page's words first: bits of words, for each record's number. 0: there
 * are more than `most`. */
uint32_t zs_race_list_readers(const struct zs_gpu_checks *c, const struct zs_race_page *page,
                              struct zs_race_reader *ret, uint32_t most);

/* ---- race_guess.c -----------------------------------------------------------------------------
 */

/* The instruction reads what its thread is atomic on later. */
bool zs_race_is_guess(const struct zs_gpu_checks *c, uint32_t inst);
void zs_race_note_reads(const struct zs_race_access *a, const struct zs_port_accesses *pieces);
void zs_race_note_row(const struct zs_race_access *a, uint64_t address, uint32_t dwords);
/* What the thread has read plainly it is atomic on now: a first guess, or a look before. */
void zs_race_find_guesses(const struct zs_race_access *a, const struct zs_port_accesses *pieces);
void zs_race_guess_lanes(const struct zs_race_access *a, const uint64_t *addresses,
                         uint32_t lane_mask, uint32_t first);
/* An atomic has been carried out. */
void zs_race_order(struct zs_check_where *at, const struct zs_port_accesses *pieces);
void zs_race_order_lanes(const struct zs_race_access *a, const uint64_t *addresses,
                         uint32_t lane_mask, uint32_t first);

/* ---- race_workers.c ----------------------------------------------------------------------------
 */

/* A page is new, of a worker that is not alone. true: others have it. */
bool zs_race_share(struct zs_gpu_checks *c, struct zs_race_page *page, uint64_t number);
/* Plain stores of `count` pieces of size_B, up to a word, one behind the other, by a lane, or lanes
 * from there on. What is not known before the store is carried out, and is_quick, fails. */
void zs_race_note_values(struct zs_race_access *a, struct zs_race_page *page, uint64_t at,
                         uint32_t size_B, uint32_t count, uint32_t lane);
/* The last message has been carried out. */
void zs_race_settle(struct zs_gpu_checks *c);
/* Dwords that were stored, in words that say so already; of which `same` changed nothing. */
void zs_race_note_stored(struct zs_gpu_checks *c, struct zs_race_page *page, uint64_t at,
                         uint32_t count, uint32_t same);
/* Of a page that others have, too, which its worker has only read: one of those is quiet, or both
 * were read from end to end. */
bool zs_race_is_quiet_elsewhere(const struct zs_race_page *page);
/* It is quiet now: the others are to look. */
void zs_race_tell_quiet(const struct zs_race_page *page);
/* Some worker has written the word. */
bool zs_race_is_written(const struct zs_race_page *page, uint32_t word);
/* Of memory that others may write meanwhile. */
void zs_race_copy(uint8_t *to, uint64_t host_va, size_t size_B);
bool zs_race_memory_is(const uint8_t *value, uint64_t host_va, size_t size_B);
/* When all have ended: their pages against each other. */
void zs_race_compare_workers(struct zs_check_told *told);

/* ---- race_shadow.c ----------------------------------------------------------------------------
 */

/* Memory that is c's until the end; NULL: there is none. */
void *zs_race_get(struct zs_gpu_checks *c, size_t size_B);
/* For more records, behind c->record_count. false: no memory. */
bool zs_race_make_room(struct zs_gpu_checks *c, uint32_t count);
/* NULL: there is none, as of memory of the launch's own. */
struct zs_race_page *zs_race_find_page(struct zs_gpu_checks *c, uint64_t number, bool is_write);
/* No address that threads share. */
bool zs_race_is_own(const struct zs_gpu_checks *c, uint64_t gpu_va);
/* Lines of a group's local memory, and words behind them. NULL: no memory. */
uint64_t *zs_race_local(struct zs_gpu_checks *c, const struct zs_gpu_group *group);
/* Finds out whether it is quiet. */
void zs_race_look_at(const struct zs_gpu_checks *c, struct zs_race_page *page);

/* Buffers begin at multiples of large powers of two. */
static inline uint64_t zs_race_slot(uint64_t number)
{
    return (number ^ number >> 6 ^ number >> 11) % ZS_CHECK_PAGES;
}

static inline bool zs_race_is_quiet(const struct zs_race_page *page)
{
    return atomic_load_explicit(&page->is_quiet, memory_order_relaxed);
}

/* Others than its worker have it, too. */
static inline bool zs_race_is_shared(const struct zs_race_page *page)
{
    return atomic_load_explicit(&page->first, memory_order_relaxed) != NULL;
}

static inline struct zs_race_page *zs_race_page_of(struct zs_gpu_checks *c, uint64_t gpu_va,
                                                   bool is_write)
{
    uint64_t number = gpu_va / ZS_BETWEEN_PAGE_B, slot = zs_race_slot(number);
    return c->recent[slot].number == number ? c->recent[slot].page
                                            : zs_race_find_page(c, number, is_write);
}

static inline uint64_t zs_race_page_word(const struct zs_race_page *page, uint32_t i)
{
    uint64_t line = page->lines[i / ZS_RACE_LINE_WORDS];
    return line == ZS_RACE_SPLIT ? page->words[i] : zs_race_word(line, i % ZS_RACE_LINE_WORDS);
}

static inline size_t zs_race_local_lines(const struct zs_gpu_run *run)
{
    return run->slm_B / ZS_RACE_LINE_B + 1u;
}

static inline size_t zs_race_local_words(const struct zs_gpu_run *run)
{
    return zs_race_local_lines(run) * (1 + ZS_RACE_LINE_WORDS);
}

#endif
