/* SPDX-License-Identifier: MIT */
/*
 * The device: its clock, its pool of host threads, and what launches reuse from one another.
 *
 * The pool's threads are started by the first job that is offered. A job stands in a list until
 * it has as many helpers as it wants or is taken back; idle threads take the first job of the
 * list. The thread that launches always works itself, so a launch ends even when no helper comes.
 */
#include "base/clock.h"
#include "base/parallel.h"
#include "base/signals.h"
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { BLOCK_KEEP_B = 512 << 20 };

uint64_t zs_gpu_now_ns(void)
{
    return zs_now_ns();
}

int zs_gpu_device_create(const struct zs_gpu_model *model, uint32_t workers,
                         struct zs_gpu_device **ret_device)
{
    struct zs_gpu_device *device = calloc(1, sizeof(*device));
    if (!device)
        return -ENOMEM;
    device->model = model;
    device->worker_limit = workers ? workers : zs_host_cores() - 1;
    int error = zs_timing_params_find(model) ? zs_timing_store_create(model, &device->timing) : 0;
    if (error) {
        free(device);
        return error;
    }
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->wake, NULL);
    *ret_device = device;
    return 0;
}

void zs_gpu_device_destroy(struct zs_gpu_device *device)
{
    if (!device)
        return;
    zs_gpu_tier_wait(device);
    pthread_mutex_lock(&device->lock);
    device->stopping = true;
    pthread_cond_broadcast(&device->wake);
    pthread_mutex_unlock(&device->lock);
    for (uint32_t i = 0; i < device->thread_count; i++)
        pthread_join(device->threads[i], NULL);
    free(device->threads);
    while (device->free_workers) {
        struct zs_gpu_worker *worker = device->free_workers;
        device->free_workers = worker->next_free;
        zs_gpu_worker_fini(worker);
        free(worker);
    }
    for (uint32_t i = 0; i < device->block_count; i++)
        munmap(device->blocks[i].data, device->blocks[i].size_B);
    zs_timing_store_destroy(device->timing);
    pthread_cond_destroy(&device->wake);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

const struct zs_gpu_model *zs_gpu_device_model(const struct zs_gpu_device *device)
{
    return device->model;
}

/* ---- clock -------------------------------------------------------------------------------------
 */

uint64_t zs_gpu_clock_from_ns(const struct zs_gpu_device *device, uint64_t monotonic_ns)
{
    return (uint64_t)((__uint128_t)monotonic_ns * device->model->timer_Hz / 1000000000u);
}

uint64_t zs_gpu_clock_to_ns(const struct zs_gpu_device *device, uint64_t ticks)
{
    return (uint64_t)((__uint128_t)ticks * 1000000000u / device->model->timer_Hz);
}

uint64_t zs_gpu_clock_ticks(const struct zs_gpu_device *device)
{
    return zs_gpu_clock_from_ns(device, zs_gpu_now_ns());
}

/* ---- reuse -------------------------------------------------------------------------------------
 */

struct zs_gpu_worker *zs_gpu_worker_get(struct zs_gpu_device *device)
{
    pthread_mutex_lock(&device->lock);
    struct zs_gpu_worker *worker = device->free_workers;
    if (worker)
        device->free_workers = worker->next_free;
    pthread_mutex_unlock(&device->lock);
    return worker ? worker : calloc(1, sizeof(*worker));
}

void zs_gpu_worker_put(struct zs_gpu_device *device, struct zs_gpu_worker *worker)
{
    pthread_mutex_lock(&device->lock);
    worker->next_free = device->free_workers;
    device->free_workers = worker;
    pthread_mutex_unlock(&device->lock);
}

int zs_gpu_block_get(struct zs_gpu_device *device, size_t size_B, struct zs_gpu_block *ret_block)
{
    pthread_mutex_lock(&device->lock);
    for (uint32_t i = 0; i < device->block_count; i++) {
        if (device->blocks[i].size_B >= size_B && device->blocks[i].size_B / 4 <= size_B) {
            *ret_block = device->blocks[i];
            device->blocks[i] = device->blocks[--device->block_count];
            pthread_mutex_unlock(&device->lock);
            return 0;
        }
    }
    pthread_mutex_unlock(&device->lock);
    size_B = (size_t)zs_align_up(size_B, 64 << 10);
    void *data = mmap(NULL, size_B, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED)
        return -ENOMEM;
    *ret_block = (struct zs_gpu_block){data, size_B};
    return 0;
}

void zs_gpu_block_put(struct zs_gpu_device *device, struct zs_gpu_block *block)
{
    if (!block->data)
        return;
    struct zs_gpu_block drop = *block;
    *block = (struct zs_gpu_block){0};
    if (drop.size_B <= BLOCK_KEEP_B) {
        pthread_mutex_lock(&device->lock);
        if (device->block_count == BLOCKS_MAX) { /* the oldest one makes room */
            struct zs_gpu_block oldest = device->blocks[0];
            memmove(device->blocks, device->blocks + 1, (BLOCKS_MAX - 1) * sizeof(oldest));
            device->blocks[BLOCKS_MAX - 1] = drop;
            drop = oldest;
        } else {
            device->blocks[device->block_count++] = drop;
            drop.data = NULL;
        }
        pthread_mutex_unlock(&device->lock);
    }
    if (drop.data)
        munmap(drop.data, drop.size_B);
}

/* ---- pool --------------------------------------------------------------------------------------
 */

static void unlist(struct zs_gpu_device *device, struct zs_gpu_job *job)
{
    if (!job->listed)
        return;
    if (job->previous)
        job->previous->next = job->next;
    else
        device->jobs = job->next;
    if (job->next)
        job->next->previous = job->previous;
    job->listed = false;
}

static void *pool_main(void *arg)
{
    struct zs_gpu_device *device = arg;
    pthread_setname_np(pthread_self(), "zescope-eu");
    pthread_mutex_lock(&device->lock);
    while (!device->stopping) {
        struct zs_gpu_job *job = device->jobs;
        if (!job) {
            pthread_cond_wait(&device->wake, &device->lock);
            continue;
        }
        job->helpers_running++;
        if (++job->helpers_started == job->helpers_max)
            unlist(device, job);
        pthread_mutex_unlock(&device->lock);
        job->run(job);
        pthread_mutex_lock(&device->lock);
        unlist(device, job); /* it ran out of work: no more helpers */
        if (--job->helpers_running == 0)
            pthread_cond_signal(&job->idle);
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

/* Start the pool's threads. Too few of them, or none, only make launches slower. */
static void pool_start(struct zs_gpu_device *device)
{
    device->started = true;
    device->threads = calloc(device->worker_limit, sizeof(*device->threads));
    if (!device->threads)
        return;
    sigset_t before;
    zs_signals_hold(&before);
    while (device->thread_count < device->worker_limit &&
           pthread_create(&device->threads[device->thread_count], NULL, pool_main, device) == 0)
        device->thread_count++;
    zs_signals_release(&before);
}

void zs_gpu_job_offer(struct zs_gpu_device *device, struct zs_gpu_job *job)
{
    if (device->worker_limit == 0 || job->helpers_max == 0)
        return;
    pthread_mutex_lock(&device->lock);
    if (!device->started)
        pool_start(device);
    struct zs_gpu_job **tail = &device->jobs, *previous = NULL;
    while (*tail) {
        previous = *tail;
        tail = &(*tail)->next;
    }
    *tail = job;
    job->previous = previous;
    job->next = NULL;
    job->listed = true;
    pthread_cond_broadcast(&device->wake);
    pthread_mutex_unlock(&device->lock);
}

void zs_gpu_job_finish(struct zs_gpu_device *device, struct zs_gpu_job *job)
{
    pthread_mutex_lock(&device->lock);
    unlist(device, job);
    while (job->helpers_running)
        pthread_cond_wait(&job->idle, &device->lock);
    pthread_mutex_unlock(&device->lock);
}
