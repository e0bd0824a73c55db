/* SPDX-License-Identifier: MIT */
/*
 * A hash table of rendered words. Entries are complete before they are published and never change,
 * so that they are looked up under the lock, copied and rendered outside of it; two threads may
 * render the same words at once, and the second one's are dropped. What the table keeps is bounded:
 * hostile debug info may bring as many expressions as it has bytes.
 */
#include "report/words.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/span.h"

#include <zescope/correlate.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 13, KEPT_MAX = SLOTS / 2, KEPT_MAX_B = 4 << 20 };

struct entry {
    uint64_t hash;
    struct zs_words_of of;
    size_t expr_B, words_B;
    uint8_t bytes[]; /* the expression, then the words */
};

struct zs_words_memo {
    pthread_mutex_t lock;
    size_t count, kept_B;
    struct entry *slots[SLOTS];
};

struct zs_words_memo *zs_words_memo_open(void)
{
    struct zs_words_memo *memo = calloc(1, sizeof(*memo));
    if (memo && pthread_mutex_init(&memo->lock, NULL)) {
        free(memo);
        memo = NULL;
    }
    return memo;
}

void zs_words_memo_close(struct zs_words_memo *memo)
{
    if (!memo)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(memo->slots[i]);
    pthread_mutex_destroy(&memo->lock);
    free(memo);
}

static uint64_t hash_key(struct zs_span expr, const struct zs_words_of *of)
{
    uint64_t shape = of->object_B << 20 ^ (uint64_t)of->grf_B << 8 ^ of->simd;
    return zs_hash_u64(shape, zs_hash_bytes(expr.data, expr.size_B));
}

/* The entry's slot, or the free one where it would stand: half of the slots stay free. */
static struct entry **find_slot(struct zs_words_memo *memo, uint64_t hash, struct zs_span expr,
                                const struct zs_words_of *of)
{
    for (size_t i = hash & (SLOTS - 1);; i = (i + 1) & (SLOTS - 1)) {
        const struct entry *e = memo->slots[i];
        if (!e || (e->hash == hash && e->of.simd == of->simd && e->of.grf_B == of->grf_B &&
                   e->of.object_B == of->object_B && e->expr_B == expr.size_B &&
                   (!expr.size_B || memcmp(e->bytes, expr.data, expr.size_B) == 0)))
            return &memo->slots[i];
    }
}

static void render(struct zs_span expr, const struct zs_words_of *of, struct zs_buf *out)
{
    char text[1024], expr_text[2048];
    zs_expr_describe(expr, of->simd, of->grf_B, of->object_B, text, sizeof(text));
    zs_expr_print(expr, expr_text, sizeof(expr_text));
    zs_buf_puts(out, ",\"text\":");
    zs_json_escape(out, text, strlen(text), false);
    zs_buf_puts(out, ",\"expr\":");
    zs_json_escape(out, expr_text, strlen(expr_text), false);
}

static void keep(struct zs_words_memo *memo, uint64_t hash, struct zs_span expr,
                 const struct zs_words_of *of, struct zs_span words)
{
    size_t size_B = sizeof(struct entry) + expr.size_B + words.size_B;
    struct entry *e = size_B <= KEPT_MAX_B ? malloc(size_B) : NULL;
    if (!e)
        return;
    *e = (struct entry){.hash = hash, .of = *of, .expr_B = expr.size_B, .words_B = words.size_B};
    if (expr.size_B)
        memcpy(e->bytes, expr.data, expr.size_B);
    memcpy(e->bytes + expr.size_B, words.data, words.size_B);
    pthread_mutex_lock(&memo->lock);
    struct entry **slot = find_slot(memo, hash, expr, of);
    if (!*slot && memo->count < KEPT_MAX && size_B <= KEPT_MAX_B - memo->kept_B) {
        *slot = e;
        e = NULL;
        memo->count++;
        memo->kept_B += size_B;
    }
    pthread_mutex_unlock(&memo->lock);
    free(e);
}

void zs_words_put(struct zs_words_memo *memo, struct zs_span expr, const struct zs_words_of *of,
                  struct zs_buf *out)
{
    uint64_t hash = hash_key(expr, of);
    pthread_mutex_lock(&memo->lock);
    const struct entry *known = *find_slot(memo, hash, expr, of);
    pthread_mutex_unlock(&memo->lock);
    if (known) {
        zs_buf_append(out, known->bytes + known->expr_B, known->words_B);
        return;
    }
    size_t at = out->size_B;
    render(expr, of, out);
    if (!out->error)
        keep(memo, hash, expr, of, zs_span_make(out->data + at, out->size_B - at));
}
