/* SPDX-License-Identifier: MIT */
/*
 * Pages that are only read. What reads are to each other matters to nobody until the page is
 * written; so they are listed, in order, and looked at if that comes.
 */
#include "gpu/race_priv.h"

struct read {
    uint32_t number, lane, word, count, threads, step;
    bool rises;
};

static struct read read_of(uint64_t read)
{
    return (struct read){.number = (uint32_t)read & ZS_RACE_RECORD_MASK,
                         .lane = zs_race_lane((uint32_t)read),
                         .rises = read >> ZS_RACE_LIST_RISES & 1,
                         .word = (uint32_t)(read >> ZS_RACE_LIST_WORD) % ZS_BETWEEN_WORDS,
                         .count = (uint32_t)(read >> ZS_RACE_LIST_COUNT) % ZS_BETWEEN_WORDS + 1,
                         .threads = (uint32_t)(read >> ZS_RACE_LIST_THREADS) % 64 + 1,
                         .step = (uint32_t)(read >> ZS_RACE_LIST_STEP)};
}

static void touch(struct zs_race_access *a, struct zs_race_page *page, const struct read *read)
{
    for (uint32_t i = 0; i < read->threads; i++) {
        if (a->number != read->number + i)
            zs_check_ask_anew(a->at);
        a->number = read->number + i;
        a->record = zs_race_record(a->at->c, a->number);
        a->passed = a->record->signals;
        a->known[0].number = a->known[1].number = 0;
        a->lane = read->lane;
        a->rises = read->rises;
        (void)zs_race_page_words(a, page, read->word + i * read->step, read->count);
    }
}

void zs_race_unlist(struct zs_gpu_checks *c, struct zs_race_page *page)
{
    uint64_t reads[ZS_BETWEEN_WORDS];
    struct zs_race_access a = {.at = &c->at, .is_quick = true, .is_late = true};
    uint32_t count = page->listed;
    memcpy(reads, page->words, count * sizeof(*reads));
    memset(page->lines, 0, sizeof(page->lines));
    page->listed = 0;
    atomic_store_explicit(&page->is_list, false, memory_order_release);
    for (uint32_t i = 0; i < count; i++) {
        struct read read = read_of(reads[i]);
        touch(&a, page, &read);
    }
    zs_check_ask_anew(a.at);
}

__attribute__((no_sanitize("thread"))) bool zs_race_list_is_full(const struct zs_race_page *page)
{
    uint64_t seen[ZS_RACE_PARTS] = {0}, all = UINT64_MAX;
    for (uint32_t i = 0, count = page->listed; i < count; i++) {
        struct read read = read_of(page->words[i]);
        for (; read.threads; read.threads--, read.word += read.step) {
            uint32_t end = ZS_MIN(read.word + read.count, (uint32_t)ZS_BETWEEN_WORDS);
            for (uint32_t part = read.word / 64; part * 64 < end; part++)
                seen[part] |= zs_race_bits(part, read.word, end);
        }
    }
    for (uint32_t i = 0; i < ZS_RACE_PARTS; i++)
        all &= seen[i];
    return all == UINT64_MAX;
}

static void add_words(struct zs_race_reader *reader, uint64_t *seen, uint32_t word, uint32_t end)
{
    for (uint32_t part = word / 64; part * 64 < end; part++) {
        uint64_t bits = zs_race_bits(part, word, end) & ~seen[part];
        reader->words[part] |= bits;
        seen[part] |= bits;
    }
}

uint32_t zs_race_list_readers(const struct zs_gpu_checks *c, const struct zs_race_page *page,
                              struct zs_race_reader *ret, uint32_t most)
{
    uint64_t seen[ZS_RACE_PARTS] = {0};
    uint8_t guess[61] = {0}; /* where one is */
    uint32_t count = 0;
    for (uint32_t i = 0; i < page->listed; i++) {
        struct read read = read_of(page->words[i]);
        uint32_t what = c->whats[read.number - 1], at = guess[what % ZS_ARRAY_LEN(guess)];
        for (at = at < count && ret[at].what == what ? at : 0; at < count && ret[at].what != what;)
            at++;
        if (at == most)
            return 0;
        guess[what % ZS_ARRAY_LEN(guess)] = (uint8_t)at;
        if (at == count)
            ret[count++] = (struct zs_race_reader){.number = read.number, .what = what};
        if (read.step == read.count) {
            read.count *= read.threads;
            read.threads = 1;
        }
        for (; read.threads; read.threads--, read.word += read.step)
            add_words(&ret[at], seen, read.word, read.word + read.count);
    }
    return count;
}
