/* SPDX-License-Identifier: MIT */
/* Contexts, and a thread for each of their engines that is used. */
#include "drm/drm_priv.h"

#include "base/checks.h"
#include "cs/cs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
    struct job *next;
    struct zs_drm_batch batch;
    struct zs_past *before; /* what was over when it was submitted */
};

struct zs_drm_queue {
    struct zs_drm_context *context;
    struct zs_cs *cs;
    struct zs_gpu_pin pin; /* of the VM's memory, while a batch runs */
    struct zs_drm_order order;
    struct zs_between_command copy; /* that is under way */
    struct job *first, **last;
    _Atomic(bool) closing, cancel;
    uint32_t looks;    /* since it is closing */
    bool lacks_thread; /* which is the parent's */
    pthread_cond_t work;
};

/* ---- what the streamer asks for ----------------------------------------------------------------
 */

static uint8_t *find_memory(void *ctx, uint64_t gpu_va, uint64_t size_B, bool is_write)
{
    const struct zs_drm_queue *q = ctx;
    const struct zs_drm_vm *vm = q->context->vm;
    return zs_gpu_memory_host(vm->memory, zs_drm_canonical(vm, gpu_va), size_B, is_write);
}

static uint64_t read_ticks(void *ctx)
{
    const struct zs_drm_queue *q = ctx;
    struct zs_gpu_device *device = zs_drm_node_device(q->context->file->node);
    return device ? zs_gpu_clock_ticks(device) : 0;
}

static int run_walk(void *ctx, const struct zs_cs_walk *walk, struct zs_cs_ran *ret,
                    struct zs_diag *diag)
{
    struct zs_drm_queue *q = ctx;
    return zs_drm_walk(q->context->file->node, q->context->vm, walk, &q->cancel, &q->pin, &q->order,
                       ret, diag);
}

/* Others may be waiting for memory that is pinned. */
static bool pause_batch(void *ctx, uint32_t turn)
{
    enum { SPINS = 64, SHORT_US = 20, LONG_US = 300, LOOKS_MAX = 1024, TURNS_MAX = 8000 };
    struct zs_drm_queue *q = ctx;
    /* what a failed batch would have written does not come: a hang, as kernel drivers see it */
    if (turn > TURNS_MAX &&
        atomic_load_explicit(&q->context->file->has_failed, memory_order_relaxed))
        return false;
    /* nobody is left who would end a wait, or a batch that goes round */
    if (q->closing && (turn > 0 || ++q->looks > LOOKS_MAX))
        return false;
    zs_gpu_memory_unpin(q->context->vm->memory, &q->pin);
    if (turn > 0)
        usleep(turn < SPINS ? SHORT_US : LONG_US);
    zs_gpu_memory_pin(q->context->vm->memory, &q->pin);
    return !atomic_load_explicit(&q->cancel, memory_order_relaxed);
}

static void synced(void *ctx, const uint8_t *host, uint32_t value, bool is_store)
{
    struct zs_drm_queue *q = ctx;
    if (zs_drm_checks() & ZS_CHECK_RACE)
        zs_drm_order_sync(&q->order, host, value, is_store);
}

static void touched(void *ctx, const char *command, const uint8_t *host, uint64_t size_B,
                    bool is_write)
{
    struct zs_drm_queue *q = ctx;
    if (q->copy.between || zs_drm_order_copy(&q->order, command, q->context->vm->memory, &q->copy))
        zs_between_touch(&q->copy, host, size_B, is_write);
}

static void copied(void *ctx)
{
    struct zs_drm_queue *q = ctx;
    zs_drm_order_end(&q->order, &q->copy);
}

static const struct zs_cs_ops streamer_ops = {find_memory, read_ticks, run_walk, pause_batch,
                                              synced,      touched,    copied};

/* ---- a queue's thread --------------------------------------------------------------------------
 * With file->lock held but while a batch runs.
 */

static void end_job(struct zs_drm_file *file, struct job *job)
{
    const struct zs_drm_batch *batch = &job->batch;
    for (uint32_t i = 0; i < batch->object_count; i++) {
        batch->objects[i]->busy--;
        zs_drm_object_put(batch->objects[i]);
    }
    zs_drm_points_end(batch->points, batch->point_count, true);
    file->jobs--;
    pthread_cond_broadcast(&file->idle);
    zs_past_unref(job->before);
    free(batch->objects);
    free(batch->fences);
    free(job);
}

/* As a kernel driver does after a hang: what is behind the batch is lost, and so is the context. */
static void ban(struct zs_drm_queue *q, const struct zs_diag *diag)
{
    struct zs_drm_context *context = q->context;
    zs_drm_log(ZS_DRM_ERROR, "%s: a batch failed, its context is banned: %s",
               context->file->node->model->name, diag->text);
    context->banned = true;
    atomic_store(&context->file->has_failed, true);
    context->resets++;
    while (q->first) {
        struct job *job = q->first;
        q->first = job->next;
        context->lost++;
        end_job(context->file, job);
    }
    q->last = &q->first;
}

/* ZESCOPE_BATCHES names a folder for what is submitted: the first level of each batch, up to where
 * its object ends. */
static void dump_batch(const struct zs_drm_queue *q, uint64_t batch_va, uint32_t number)
{
    const struct zs_drm_vm *vm = q->context->vm;
    uint64_t gpu_va = zs_drm_canonical(vm, batch_va);
    enum { DUMP_MAX_B = 1 << 20 };
    const char *folder = secure_getenv("ZESCOPE_BATCHES");
    struct zs_gpu_allocation a;
    char path[PATH_MAX];
    if (!folder || !*folder || !zs_gpu_memory_find(vm->memory, gpu_va, &a))
        return;
    snprintf(path, sizeof(path), "%s/batch-%d-%u-%04u-0x%" PRIx64, folder, (int)getpid(),
             (unsigned)q->context->file->inode, number, batch_va);
    FILE *file = fopen(path, "we");
    uint64_t left_B = a.gpu_va + a.size_B - gpu_va;
    if (!file) {
        zs_drm_log(ZS_DRM_WARN, "%s: %s", path, strerror(errno));
        return;
    }
    fwrite((const void *)(uintptr_t)(gpu_va + a.bias), 1, ZS_MIN(left_B, (uint64_t)DUMP_MAX_B),
           file);
    fclose(file);
}

static int signal_fences(struct zs_drm_queue *q, const struct zs_drm_batch *batch,
                         struct zs_diag *diag)
{
    for (uint32_t i = 0; i < batch->fence_count; i++) {
        uint8_t *host = find_memory(q, batch->fences[i].gpu_va, 8, true);
        if (!host)
            return zs_diag_set(diag, -EFAULT, ZS_DIAG_NO_OFFSET,
                               "the fence at 0x%" PRIx64 ": nothing is there",
                               batch->fences[i].gpu_va);
        __atomic_store_n((uint64_t *)(void *)host, batch->fences[i].value, __ATOMIC_RELEASE);
    }
    return 0;
}

/* Until what it waits for is there, or it is killed; true: it waits for something. What was
 * submitted comes in any case. */
static bool wait_for_points(const struct zs_drm_context *context, const struct zs_drm_batch *batch)
{
    bool has_waited = false;
    for (uint32_t i = 0; i < batch->point_count; i++) {
        const struct zs_drm_point *p = &batch->points[i];
        has_waited |= !p->is_signal;
        while (!p->is_signal && !zs_drm_is_reached(p) && !context->banned)
            pthread_cond_wait(&context->file->idle, &context->file->lock);
    }
    return has_waited;
}

static void run_job(struct zs_drm_queue *q, struct job *job)
{
    struct zs_drm_context *context = q->context;
    struct zs_diag diag = {0};
    bool has_waited = wait_for_points(context, &job->batch);
    zs_drm_order_after(&q->order, job->before);
    if (has_waited)
        zs_drm_order_waited(&q->order);
    int error = context->banned ? -EIO : 0;
    if (!error) {
        uint32_t number = context->file->batches++;
        atomic_store(&q->cancel, false);
        pthread_mutex_unlock(&context->file->lock);
        zs_gpu_memory_pin(context->vm->memory, &q->pin);
        if (job->batch.va) {
            dump_batch(q, job->batch.va, number);
            error = zs_cs_run(q->cs, job->batch.va, &diag);
            copied(q); /* one that has failed */
        }
        if (!error)
            error = signal_fences(q, &job->batch, &diag);
        zs_gpu_memory_unpin(context->vm->memory, &q->pin);
        pthread_mutex_lock(&context->file->lock);
        if (error && !(error == -ECANCELED && (context->closed || context->banned)))
            ban(q, &diag);
    }
    end_job(context->file, job);
}

static void context_put(struct zs_drm_context *context);

static void *queue_main(void *arg)
{
    struct zs_drm_queue *q = arg;
    struct zs_drm_file *file = q->context->file;
    pthread_mutex_lock(&file->lock);
    while (!q->closing || q->first) {
        struct job *job = q->first;
        if (!job) {
            pthread_cond_wait(&q->work, &file->lock);
            continue;
        }
        q->first = job->next;
        if (!q->first)
            q->last = &q->first;
        run_job(q, job);
    }
    context_put(q->context);
    pthread_mutex_unlock(&file->lock);
    zs_cs_destroy(q->cs);
    zs_drm_order_fini(&q->order);
    pthread_cond_destroy(&q->work);
    free(q);
    return NULL;
}

static int start_thread(struct zs_drm_queue *q)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* signals are the application's threads' */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, queue_main, q);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return -error;
}

static int queue_create(struct zs_drm_context *context, struct zs_drm_queue **ret_queue)
{
    const struct zs_gpu_model *model = context->file->node->model;
    struct zs_cs_params params = {.is_xe_hpg = model->loads_payload,
                                  .is_xe2 = model->platform >= ZS_ISA_XE2,
                                  .timestamp_bits = model->timestamp_bits};
    struct zs_drm_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return -ENOMEM;
    q->context = context;
    q->last = &q->first;
    pthread_cond_init(&q->work, NULL);
    int error = zs_cs_create(&streamer_ops, q, &params, &q->cs);
    if (!error)
        error = start_thread(q);
    if (error) {
        zs_cs_destroy(q->cs);
        pthread_cond_destroy(&q->work);
        free(q);
        return error;
    }
    context->references++;
    *ret_queue = q;
    return 0;
}

/* ---- contexts ----------------------------------------------------------------------------------
 */

static void context_put(struct zs_drm_context *context)
{
    if (--context->references)
        return;
    zs_drm_vm_put(context->vm);
    free(context);
}

int zs_drm_context_create(struct zs_drm_file *file, struct zs_drm_vm *vm, uint32_t *ret_id)
{
    struct zs_drm_context *context = calloc(1, sizeof(*context));
    if (!context || !ZS_VEC_RESERVE(&file->contexts, 1)) {
        free(context);
        return -ENOMEM;
    }
    context->file = file;
    context->vm = vm;
    context->references = 1;
    context->is_persistent = file->node->interface == ZS_DRM_I915;
    vm->references++;
    size_t id = 0;
    while (id < file->contexts.count && file->contexts.items[id])
        id++;
    file->contexts.items[id] = context;
    file->contexts.count = ZS_MAX(file->contexts.count, id + 1);
    *ret_id = (uint32_t)id;
    return 0;
}

struct zs_drm_context *zs_drm_context(struct zs_drm_file *file, uint32_t id)
{
    return id < file->contexts.count ? file->contexts.items[id] : NULL;
}

void zs_drm_context_kill(struct zs_drm_context *context)
{
    context->banned = true;
    for (uint32_t i = 0; i < ZS_DRM_ENGINES_MAX; i++) {
        if (context->queues[i])
            atomic_store(&context->queues[i]->cancel, true);
    }
    pthread_cond_broadcast(&context->file->idle);
}

/* Of i915 what was submitted goes on, unless the context is not persistent; nobody waits for a
 * semaphore. Queues of xe are killed. */
int zs_drm_context_destroy(struct zs_drm_file *file, uint32_t id)
{
    struct zs_drm_context *context = zs_drm_context(file, id);
    if (!context || id == 0)
        return -ENOENT;
    file->contexts.items[id] = NULL;
    context->closed = true;
    if (!context->is_persistent)
        zs_drm_context_kill(context);
    for (uint32_t i = 0; i < ZS_DRM_ENGINES_MAX; i++) {
        struct zs_drm_queue *q = context->queues[i];
        if (!q)
            continue;
        q->closing = true;
        pthread_cond_signal(&q->work);
    }
    context_put(context);
    return 0;
}

void zs_drm_contexts_inherit(struct zs_drm_file *file)
{
    for (size_t i = 0; i < file->contexts.count; i++) {
        struct zs_drm_context *context = file->contexts.items[i];
        for (uint32_t q = 0; context && q < ZS_DRM_ENGINES_MAX; q++) {
            if (!context->queues[q])
                continue;
            pthread_cond_init(&context->queues[q]->work, NULL);
            context->queues[q]->lacks_thread = true;
        }
    }
}

int zs_drm_submit(struct zs_drm_context *context, uint32_t engine, const struct zs_drm_batch *batch)
{
    struct job *job = calloc(1, sizeof(*job));
    int error = context->banned ? -EIO : !job ? -ENOMEM : 0;
    if (!error && !context->queues[engine])
        error = queue_create(context, &context->queues[engine]);
    if (!error && context->queues[engine]->lacks_thread) {
        error = start_thread(context->queues[engine]);
        context->queues[engine]->lacks_thread = error != 0;
    }
    if (error) {
        free(job);
        free(batch->objects);
        free(batch->fences);
        zs_drm_points_end(batch->points, batch->point_count, false);
        return error;
    }
    struct zs_drm_queue *q = context->queues[engine];
    job->batch = *batch;
    job->before = zs_drm_order_now();
    for (uint32_t i = 0; i < batch->object_count; i++) {
        batch->objects[i]->references++;
        batch->objects[i]->busy++;
    }
    for (uint32_t i = 0; i < batch->point_count; i++) {
        if (batch->points[i].is_signal)
            zs_drm_point_submit(&batch->points[i]);
    }
    context->file->jobs++;
    *q->last = job;
    q->last = &job->next;
    pthread_cond_signal(&q->work);
    return 0;
}

int zs_drm_wait(struct zs_drm_object *object, const struct timespec *deadline)
{
    struct zs_drm_file *file = object->file;
    int error = 0;
    object->references++;
    while (object->busy && !error)
        error = deadline ? pthread_cond_timedwait(&file->idle, &file->lock, deadline)
                         : pthread_cond_wait(&file->idle, &file->lock);
    error = object->busy ? -ETIME : 0;
    zs_drm_object_put(object);
    return error;
}
