/* SPDX-License-Identifier: MIT */
#include "gpu/timing/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BLOCKS_MOST = 64, PAGE_B = 64 << 10 };
static const size_t BLOCKS_KEPT_B = 48 << 20, CACHES_KEPT_B = 16 << 20;

struct zs_timing_store {
    const struct zs_gpu_model *model;
    const struct zs_timing_params *params;
    pthread_mutex_t lock; /* of what follows */
    struct zs_timing_block blocks[BLOCKS_MOST];
    uint32_t block_count;
    size_t blocks_B;
    struct zs_timing_caches *caches;
};

/* ---- blocks ------------------------------------------------------------------------------------
 */

static void drop_block(struct zs_timing_block *block)
{
    if (block->data)
        (void)munmap(block->data, block->size_B);
    *block = (struct zs_timing_block){0};
}

int zs_timing_block_get(struct zs_timing_store *s, size_t size_B, struct zs_timing_block *ret)
{
    *ret = (struct zs_timing_block){0};
    size_B = (size_t)zs_align_up(size_B, PAGE_B);
    (void)pthread_mutex_lock(&s->lock);
    for (uint32_t i = s->block_count; i-- > 0 && !ret->data;) { /* the last one is warm */
        if (s->blocks[i].size_B < size_B || s->blocks[i].size_B / 4 > size_B)
            continue;
        *ret = s->blocks[i];
        s->blocks[i] = s->blocks[--s->block_count];
        s->blocks_B -= ret->size_B;
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (ret->data)
        return 0;
    void *data = mmap(NULL, size_B, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return -ENOMEM;
    *ret = (struct zs_timing_block){data, size_B};
    return 0;
}

void zs_timing_block_put(struct zs_timing_store *s, struct zs_timing_block *block)
{
    if (!block->data)
        return;
    struct zs_timing_block drop = *block;
    (void)pthread_mutex_lock(&s->lock);
    if (s->block_count < BLOCKS_MOST && s->blocks_B + drop.size_B <= BLOCKS_KEPT_B) {
        s->blocks[s->block_count++] = drop;
        s->blocks_B += drop.size_B;
        drop.data = NULL;
    }
    (void)pthread_mutex_unlock(&s->lock);
    drop_block(&drop);
    *block = (struct zs_timing_block){0};
}

/* ---- caches ------------------------------------------------------------------------------------
 */

static void destroy_caches(struct zs_timing_caches *c)
{
    for (uint32_t i = 0; i < c->slices && c->l3; i++)
        zs_timing_cache_fini(&c->l3[i]);
    for (uint32_t i = 0; i < c->subslices && c->sampler && c->l1; i++) {
        zs_timing_cache_fini(&c->sampler[i]);
        zs_timing_cache_fini(&c->l1[i]);
    }
    zs_timing_cache_fini(&c->llc);
    free(c->l3);
    free(c->sampler);
    free(c->l1);
    free(c);
}

static int create_caches(const struct zs_gpu_model *model, const struct zs_timing_params *p,
                         struct zs_timing_caches **ret)
{
    struct zs_timing_caches *c = calloc(1, sizeof(*c));
    if (!c)
        return -ENOMEM;
    c->slices = model->slices;
    c->subslices = model->slices * model->subslices_per_slice;
    c->l3 = calloc(c->slices, sizeof(*c->l3));
    c->sampler = calloc(c->subslices, sizeof(*c->sampler));
    c->l1 = calloc(c->subslices, sizeof(*c->l1));
    int error = c->l3 && c->sampler && c->l1 ? 0 : -ENOMEM;
    uint64_t l3_B =
        p->l3_way_B ? (uint64_t)p->l3_ways * p->l3_way_B : model->l3_cache_B / model->slices;
    for (uint32_t i = 0; i < c->slices && !error; i++)
        error = zs_timing_cache_init(&c->l3[i], l3_B, p->l3_ways);
    for (uint32_t i = 0; i < c->subslices && !error; i++) {
        error = zs_timing_cache_init(&c->sampler[i], p->sampler_cache_B, p->sampler_ways);
        error = error ? error : zs_timing_cache_init(&c->l1[i], p->l1_B, p->l1_ways);
    }
    if (!error)
        error = zs_timing_cache_init(&c->llc, p->llc_B, p->llc_ways);
    if (error)
        destroy_caches(c);
    else
        *ret = c;
    return error;
}

/* What launches have touched of them. */
static size_t caches_B(const struct zs_timing_caches *c)
{
    size_t sum_B = zs_timing_cache_touched_B(&c->llc);
    for (uint32_t i = 0; i < c->slices; i++)
        sum_B += zs_timing_cache_touched_B(&c->l3[i]);
    for (uint32_t i = 0; i < c->subslices; i++)
        sum_B += zs_timing_cache_touched_B(&c->sampler[i]) + zs_timing_cache_touched_B(&c->l1[i]);
    return sum_B;
}

int zs_timing_caches_get(struct zs_timing_store *s, double reach, struct zs_timing_caches **ret)
{
    (void)pthread_mutex_lock(&s->lock);
    struct zs_timing_caches *c = s->caches;
    if (c)
        s->caches = c->next;
    (void)pthread_mutex_unlock(&s->lock);
    int error = c ? 0 : create_caches(s->model, s->params, &c);
    if (error)
        return error;
    for (uint32_t i = 0; i < c->slices; i++)
        zs_timing_cache_clear(&c->l3[i], reach);
    for (uint32_t i = 0; i < c->subslices; i++) {
        zs_timing_cache_clear(&c->sampler[i], 1);
        zs_timing_cache_clear(&c->l1[i], 1);
    }
    zs_timing_cache_clear(&c->llc, reach);
    *ret = c;
    return 0;
}

void zs_timing_caches_put(struct zs_timing_store *s, struct zs_timing_caches *c)
{
    if (!c)
        return;
    bool keep = caches_B(c) <= CACHES_KEPT_B;
    (void)pthread_mutex_lock(&s->lock);
    keep = keep && !s->caches; /* launches mostly come one after the other */
    if (keep) {
        c->next = NULL;
        s->caches = c;
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (!keep)
        destroy_caches(c);
}

/* ---- create ------------------------------------------------------------------------------------
 */

int zs_timing_store_create(const struct zs_gpu_model *model, struct zs_timing_store **ret_store)
{
    struct zs_timing_store *s = calloc(1, sizeof(*s));
    int error = s ? -pthread_mutex_init(&s->lock, NULL) : -ENOMEM;
    if (error) {
        free(s);
        return error;
    }
    s->model = model;
    s->params = zs_timing_params_find(model);
    *ret_store = s;
    return 0;
}

void zs_timing_store_destroy(struct zs_timing_store *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->block_count; i++)
        drop_block(&s->blocks[i]);
    if (s->caches)
        destroy_caches(s->caches);
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}
