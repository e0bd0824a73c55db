/* SPDX-License-Identifier: MIT */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PARALLEL_THREADS_MAX = 64 };

struct parallel_job {
    void (*fn)(void *ctx, size_t i);
    void *ctx;
    size_t count;
    atomic_size_t next;
};

static void *parallel_work(void *arg)
{
    struct parallel_job *job = arg;
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (i >= job->count)
            return NULL;
        job->fn(job->ctx, i);
    }
}

void zs_parallel_for(size_t count, uint32_t threads, void (*fn)(void *ctx, size_t i), void *ctx)
{
    struct parallel_job job = {.fn = fn, .ctx = ctx, .count = count};
    size_t want = threads ? threads : zs_host_cores();
    want = ZS_MIN(ZS_MIN(want, count), (size_t)PARALLEL_THREADS_MAX);
    pthread_t helpers[PARALLEL_THREADS_MAX];
    size_t made = 0;
    while (made + 1 < want && !pthread_create(&helpers[made], NULL, parallel_work, &job))
        made++;
    parallel_work(&job);
    for (size_t i = 0; i < made; i++)
        pthread_join(helpers[i], NULL);
}
