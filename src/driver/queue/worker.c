/* SPDX-License-Identifier: MIT */
#include "driver/queue/worker.h"

#include "driver/debug/debug.h"
#include "driver/queue/engine_time.h"

#include "base/signals.h"
#include "base/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

struct submission {
    struct submission *next;
    struct zs_worker *worker;
    struct zs_ze_fence *fence;
    struct zs_past *past; /* what the host knew */
    uint32_t *targets;    /* of each wait for a counter-based event, in the order of the commands */
    uint32_t count;
    struct zs_program *programs[];
};

/*
 * Of one device, ordinal and index of a context, which owns it. The thread is started by the first
 * submission and detached; it ends when the context is cancelled and nothing is left, and keeps a
 * reference to the context until then.
 */
struct zs_engine {
    struct zs_engine *next;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    uint32_t ordinal, index;
    bool low;             /* of low priority */
    pthread_mutex_t lock; /* of all that follows, and of its workers */
    pthread_cond_t work;  /* something to do, or cancelled */
    pthread_cond_t done;  /* completed changed, for zs_workers_drain() */
    struct submission *head, **tail;
    uint64_t submitted, completed;
    uint32_t drains;
    bool running; /* has a thread */
    bool lent;    /* a caller of zs_worker_run runs a program itself */
};

/* A queue or an immediate list. One reference is its owner's, one each submission's. */
struct zs_worker {
    _Atomic uint32_t refs;
    struct zs_engine *engine;
    struct zs_ze_context *context;
    pthread_cond_t done; /* completed changed */
    uint64_t submitted, completed;
    ze_result_t failure; /* first one that nobody was told of */
    struct zs_order_queue order;
};

/* ---- Programs ----------------------------------------------------------------------------------
 */

struct zs_program *zs_program_new(struct zs_ze_context *context)
{
    struct zs_program *program = calloc(1, sizeof(*program));
    if (!program)
        return NULL;
    atomic_init(&program->refs, 1);
    program->context = zs_object_ref(context);
    return program;
}

struct zs_program *zs_program_ref(struct zs_program *program)
{
    atomic_fetch_add_explicit(&program->refs, 1, memory_order_relaxed);
    return program;
}

void zs_command_release(struct zs_command *command)
{
    if (command->op && command->op->release)
        command->op->release(command);
    for (uint32_t i = 0; i < command->wait_count; i++)
        zs_object_unref(command->waits[i]);
    free(command->waits);
}

void zs_program_unref(struct zs_program *program)
{
    if (!program || atomic_fetch_sub_explicit(&program->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < program->count; i++)
        zs_command_release(&program->items[i]);
    free(program->items);
    for (size_t i = 0; i < program->pools.count; i++)
        zs_object_unref(program->pools.items[i]);
    free(program->pools.items);
    zs_object_unref(program->context);
    free(program);
}

/* Lists signal events of one pool, mostly: it is asked for once. */
static bool hold_pool(struct zs_program *program, struct zs_ze_event_pool *pool)
{
    size_t count = program->pools.count;
    if (!pool || (count && program->pools.items[count - 1] == pool))
        return true;
    if (!ZS_VEC_PUSH(&program->pools, pool))
        return false;
    zs_object_ref(pool);
    return true;
}

bool zs_program_append(struct zs_program *program, const struct zs_command *command,
                       struct zs_ze_event_pool *pool)
{
    if (!hold_pool(program, pool) || !ZS_VEC_PUSH(program, *command))
        return false;
    program->counted |= command->counted != NULL;
    for (uint32_t i = 0; i < command->wait_count; i++)
        program->counted_waits += command->waits[i]->counted;
    return true;
}

/* Room for count_submission(), NULL when nothing is waited for. False: no memory. */
static bool targets_new(uint32_t count, struct zs_program *const *programs, uint32_t **ret_targets)
{
    size_t waits = 0;
    for (uint32_t i = 0; i < count; i++)
        waits += programs[i]->counted_waits;
    *ret_targets = waits ? calloc(waits, sizeof(**ret_targets)) : NULL;
    return *ret_targets || !waits;
}

/* Counter-based events at the moment of submission: those waited for mean what was submitted up to
 * here, by the commands in front, too. */
static void count_submission(uint32_t count, struct zs_program *const *programs, uint32_t *targets)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct zs_program *program = programs[i];
        bool any = program->counted || program->counted_waits;
        for (size_t k = 0; any && k < program->count; k++) {
            const struct zs_command *command = &program->items[k];
            for (uint32_t w = 0; w < command->wait_count; w++)
                if (command->waits[w]->counted)
                    *targets++ = zs_event_counter_target(command->waits[w]->slot);
            if (command->counted)
                zs_event_counter_expect(command->counted, command->signal);
        }
    }
}

/* ---- Execution ---------------------------------------------------------------------------------
 */

/* False: an event failed, or the context is going away. */
static bool wait_for_events(struct zs_exec *exec, const struct zs_command *command)
{
    for (uint32_t i = 0; i < command->wait_count; i++) {
        struct zs_event_slot *slot = command->waits[i]->slot;
        bool ok = command->waits[i]->counted
                      ? zs_event_counter_wait(slot, *exec->targets++, exec->cancel)
                      : zs_signal_wait(&slot->state, UINT64_MAX, exec->cancel) == ZS_SIGNAL_READY;
        if (!ok)
            return false;
    }
    return true;
}

static int run_command(struct zs_exec *exec, struct zs_command *command)
{
    if (!wait_for_events(exec, command))
        return atomic_load(exec->cancel) ? -ECANCELED : -EFAULT;
    exec->start_ticks = zs_gpu_clock_ticks(exec->device->gpu);
    exec->end_ticks = 0;
    zs_order_begin(exec, command);
    int error = command->op->run ? command->op->run(exec, command) : 0;
    zs_order_end(exec, command);
    if (exec->end_ticks) /* of a launch: the engine's time was taken for it */
        return error;
    exec->end_ticks = zs_gpu_clock_ticks(exec->device->gpu);
    zs_engine_take(exec->device, exec->ordinal, ZS_ENGINE_MEASURED, 0, &exec->start_ticks,
                   &exec->end_ticks);
    bool over = zs_engine_wait(exec->device, exec->end_ticks, exec->cancel);
    return over || error ? error : -ECANCELED;
}

static int run_program(struct zs_exec *exec, struct zs_program *program, int error)
{
    exec->context = program->context;
    zs_order_program(exec, program);
    for (size_t i = 0; i < program->count; i++) {
        struct zs_command *command = &program->items[i];
        if (!error) {
            error = run_command(exec, command);
            if (error && error != -ECANCELED) {
                atomic_store(&exec->context->lost, true);
                atomic_store(&exec->queue_context->lost, true);
                zs_log(ZS_LOG_ERROR, "%s failed (%s); the commands behind it do not run",
                       command->op->name, strerror(-error));
            }
        } else {
            exec->start_ticks = exec->end_ticks = zs_gpu_clock_ticks(exec->device->gpu);
        }
        if (command->counted)
            zs_event_counter_signal(command->counted, command->signal, !error, exec->start_ticks,
                                    exec->end_ticks);
        else if (command->signal)
            zs_event_signal(command->signal, !error, exec->start_ticks, exec->end_ticks);
    }
    return error;
}

static struct zs_exec exec_of(const struct zs_engine *engine, struct zs_order_queue *order)
{
    return (struct zs_exec){.queue_context = engine->context,
                            .order = order,
                            .device = engine->device,
                            .ordinal = engine->ordinal,
                            .cancel = &engine->context->cancelled};
}

static int run_submission(const struct zs_engine *engine, struct submission *submission)
{
    struct zs_exec exec = exec_of(engine, &submission->worker->order);
    exec.targets = submission->targets;
    exec.submitted = submission->past;
    int error = 0;
    for (uint32_t i = 0; i < submission->count; i++)
        error = run_program(&exec, submission->programs[i], error);
    return error;
}

static void worker_unref(struct zs_worker *worker)
{
    if (atomic_fetch_sub(&worker->refs, 1) != 1)
        return;
    pthread_cond_destroy(&worker->done);
    zs_order_queue_fini(&worker->order);
    zs_object_unref(worker->context);
    free(worker);
}

static void free_submission(struct submission *submission)
{
    for (uint32_t i = 0; i < submission->count; i++)
        zs_program_unref(submission->programs[i]);
    zs_object_unref(submission->fence);
    zs_past_unref(submission->past);
    worker_unref(submission->worker);
    free(submission->targets);
    free(submission);
}

/* Under the engine's lock. */
static void complete(struct zs_worker *worker)
{
    struct zs_engine *engine = worker->engine;
    worker->completed++;
    engine->completed++;
    pthread_cond_broadcast(&worker->done);
    if (engine->drains)
        pthread_cond_broadcast(&engine->done);
}

static void finish_submission(struct zs_engine *engine, struct submission *submission, int error)
{
    struct zs_worker *worker = submission->worker;
    ze_result_t result = zs_result_of_errno(error);
    /* references go first: what the program destroys after waiting is then really gone */
    for (uint32_t i = 0; i < submission->count; i++)
        zs_program_unref(submission->programs[i]);
    submission->count = 0;
    struct zs_ze_fence *fence = submission->fence;
    if (fence)
        zs_order_keep(engine->context->driver, &fence->past, &worker->order);
    pthread_mutex_lock(&engine->lock);
    if (worker->failure == ZE_RESULT_SUCCESS)
        worker->failure = result;
    /* under one lock: who sees the fence or the queue sees both, and a fence that is reset then is
     * not signalled by what is over */
    if (fence)
        atomic_store(&fence->state, (uint32_t)(error ? ZS_SIGNAL_FAILED : ZS_SIGNAL_READY));
    complete(worker);
    pthread_mutex_unlock(&engine->lock);
    if (fence)
        zs_word_wake(&fence->state);
    free_submission(submission);
}

/* ---- Engines -----------------------------------------------------------------------------------
 */

static void *engine_main(void *arg)
{
    struct zs_engine *engine = arg;
    struct zs_ze_context *context = engine->context;
    pthread_setname_np(pthread_self(), "zescope-queue");
    pthread_mutex_lock(&engine->lock);
    for (;;) {
        while (engine->lent || (!engine->head && !atomic_load(&context->cancelled)))
            pthread_cond_wait(&engine->work, &engine->lock);
        struct submission *submission = engine->head;
        if (!submission)
            break;
        engine->head = submission->next;
        if (!engine->head)
            engine->tail = &engine->head;
        pthread_mutex_unlock(&engine->lock);
        int error = run_submission(engine, submission);
        finish_submission(engine, submission, error);
        pthread_mutex_lock(&engine->lock);
    }
    engine->running = false;
    pthread_mutex_unlock(&engine->lock);
    pthread_mutex_lock(&context->workers_lock);
    context->engine_threads--;
    pthread_cond_broadcast(&context->workers_gone);
    pthread_mutex_unlock(&context->workers_lock);
    zs_object_unref(context);
    return NULL;
}

/* Under the engine's lock. Signals of the program are not for this thread. */
static bool start_thread(struct zs_engine *engine)
{
    struct zs_ze_context *context = engine->context;
    sigset_t before;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    zs_object_ref(context);
    pthread_mutex_lock(&context->workers_lock);
    context->engine_threads++;
    pthread_mutex_unlock(&context->workers_lock);
    zs_signals_hold(&before);
    pthread_t thread;
    int error = pthread_create(&thread, &attr, engine_main, engine);
    zs_signals_release(&before);
    pthread_attr_destroy(&attr);
    engine->running = error == 0;
    if (error) {
        pthread_mutex_lock(&context->workers_lock);
        context->engine_threads--;
        pthread_mutex_unlock(&context->workers_lock);
        zs_object_unref(context); /* the caller has one of its own */
    }
    return error == 0;
}

/* Under workers_lock. */
static struct zs_engine *engine_new(struct zs_ze_context *context, struct zs_ze_device *device,
                                    uint32_t ordinal, uint32_t index, bool low)
{
    struct zs_engine *engine = calloc(1, sizeof(*engine));
    if (!engine)
        return NULL;
    engine->context = context;
    engine->device = device;
    engine->ordinal = ordinal;
    engine->index = index;
    engine->low = low;
    engine->tail = &engine->head;
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->work, NULL);
    pthread_cond_init(&engine->done, NULL);
    engine->next = context->engines;
    context->engines = engine;
    return engine;
}

static struct zs_engine *engine_of(struct zs_ze_context *context, struct zs_ze_device *device,
                                   const ze_command_queue_desc_t *desc)
{
    bool low = desc->priority == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW &&
               desc->ordinal == ZS_ORDINAL_COMPUTE && !device->sub_count;
    pthread_mutex_lock(&context->workers_lock);
    struct zs_engine *engine = context->engines;
    while (engine && (engine->device != device || engine->ordinal != desc->ordinal ||
                      engine->index != desc->index || engine->low != low))
        engine = engine->next;
    if (!engine)
        engine = engine_new(context, device, desc->ordinal, desc->index, low);
    pthread_mutex_unlock(&context->workers_lock);
    return engine;
}

void zs_engines_free(struct zs_ze_context *context)
{
    while (context->engines) {
        struct zs_engine *engine = context->engines;
        context->engines = engine->next;
        pthread_cond_destroy(&engine->work);
        pthread_cond_destroy(&engine->done);
        pthread_mutex_destroy(&engine->lock);
        free(engine);
    }
}

/* The engines of a context stand where they are until it goes, and new ones before them. */
static struct zs_engine *first_engine(struct zs_ze_context *context)
{
    pthread_mutex_lock(&context->workers_lock);
    struct zs_engine *first = context->engines;
    pthread_mutex_unlock(&context->workers_lock);
    return first;
}

void zs_workers_stop(struct zs_ze_context *context)
{
    /* what is submitted from now on is refused: see zs_worker_submit() */
    for (struct zs_engine *engine = first_engine(context); engine; engine = engine->next) {
        pthread_mutex_lock(&engine->lock);
        pthread_cond_signal(&engine->work);
        pthread_mutex_unlock(&engine->lock);
    }
    pthread_mutex_lock(&context->workers_lock);
    while (context->engine_threads)
        pthread_cond_wait(&context->workers_gone, &context->workers_lock);
    pthread_mutex_unlock(&context->workers_lock);
}

void zs_workers_drain(struct zs_ze_context *context)
{
    for (struct zs_engine *engine = first_engine(context); engine; engine = engine->next) {
        pthread_mutex_lock(&engine->lock);
        uint64_t wanted = engine->submitted;
        engine->drains++;
        while (engine->completed < wanted)
            pthread_cond_wait(&engine->done, &engine->lock);
        engine->drains--;
        pthread_mutex_unlock(&engine->lock);
    }
}

/* ---- Workers -----------------------------------------------------------------------------------
 */

struct zs_worker *zs_worker_new(struct zs_ze_context *context, struct zs_ze_device *device,
                                const ze_command_queue_desc_t *desc)
{
    struct zs_engine *engine = engine_of(context, device, desc);
    struct zs_worker *worker = engine ? calloc(1, sizeof(*worker)) : NULL;
    if (!worker)
        return NULL;
    atomic_init(&worker->refs, 1);
    worker->engine = engine;
    worker->context = zs_object_ref(context);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->done, &attr);
    pthread_condattr_destroy(&attr);
    zs_debug_queue_made(device);
    return worker;
}

void zs_worker_close(struct zs_worker *worker)
{
    zs_debug_queue_gone(worker->engine->device);
    worker_unref(worker);
}

static struct submission *submission_new(struct zs_worker *worker, uint32_t count,
                                         struct zs_program *const *programs,
                                         struct zs_ze_fence *fence)
{
    struct submission *submission =
        calloc(1, sizeof(*submission) + count * sizeof(struct zs_program *));
    if (!submission || !targets_new(count, programs, &submission->targets)) {
        free(submission);
        return NULL;
    }
    atomic_fetch_add_explicit(&worker->refs, 1, memory_order_relaxed);
    submission->worker = worker;
    submission->fence = zs_object_ref(fence);
    submission->past = zs_order_submitted(worker->context->driver);
    submission->count = count;
    for (uint32_t i = 0; i < count; i++)
        submission->programs[i] = zs_program_ref(programs[i]);
    return submission;
}

ze_result_t zs_worker_submit(struct zs_worker *worker, uint32_t count,
                             struct zs_program *const *programs, struct zs_ze_fence *fence)
{
    struct zs_engine *engine = worker->engine;
    struct submission *submission = submission_new(worker, count, programs, fence);
    if (!submission)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&engine->lock);
    bool cancelled = atomic_load(&engine->context->cancelled);
    bool ok = !cancelled && (engine->running || start_thread(engine));
    if (ok) {
        count_submission(count, programs, submission->targets);
        *engine->tail = submission;
        engine->tail = &submission->next;
        engine->submitted++;
        worker->submitted++;
        pthread_cond_signal(&engine->work);
    }
    pthread_mutex_unlock(&engine->lock);
    if (!ok)
        free_submission(submission);
    return ok          ? ZE_RESULT_SUCCESS
           : cancelled ? ZE_RESULT_ERROR_DEVICE_LOST
                       : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

/* Nothing is queued: the caller may as well do it itself, which spares two changes of threads. */
static bool lend(struct zs_worker *worker)
{
    struct zs_engine *engine = worker->engine;
    pthread_mutex_lock(&engine->lock);
    bool idle = !engine->lent && engine->completed == engine->submitted &&
                !atomic_load(&engine->context->cancelled);
    if (idle) {
        engine->lent = true;
        engine->submitted++;
        worker->submitted++;
    }
    pthread_mutex_unlock(&engine->lock);
    return idle;
}

ze_result_t zs_worker_run(struct zs_worker *worker, struct zs_program *program)
{
    struct zs_engine *engine = worker->engine;
    uint32_t *targets;
    if (!targets_new(1, &program, &targets))
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (!lend(worker)) {
        free(targets);
        ze_result_t result = zs_worker_submit(worker, 1, &program, NULL);
        return result == ZE_RESULT_SUCCESS ? zs_worker_synchronize(worker, UINT64_MAX) : result;
    }
    struct zs_exec exec = exec_of(engine, &worker->order);
    count_submission(1, &program, targets);
    exec.targets = targets;
    exec.submitted = zs_order_submitted(worker->context->driver);
    ze_result_t result = zs_result_of_errno(run_program(&exec, program, 0));
    zs_order_saw(worker->context->driver, &worker->order.all);
    zs_past_unref(exec.submitted);
    free(targets);
    pthread_mutex_lock(&engine->lock);
    if (result == ZE_RESULT_SUCCESS) {
        result = worker->failure;
        worker->failure = ZE_RESULT_SUCCESS;
    }
    engine->lent = false;
    complete(worker);
    pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&engine->lock);
    return result;
}

/* CLOCK_MONOTONIC now + timeout, far away when that overflows. */
static struct timespec deadline_of(uint64_t timeout_ns)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    uint64_t seconds = ZS_MIN(timeout_ns / 1000000000u, 1000000000u);
    at.tv_sec += (time_t)seconds;
    at.tv_nsec += (long)(timeout_ns % 1000000000u);
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

ze_result_t zs_worker_synchronize(struct zs_worker *worker, uint64_t timeout_ns)
{
    struct timespec until = deadline_of(timeout_ns);
    pthread_mutex_lock(&worker->engine->lock);
    uint64_t wanted = worker->submitted;
    int error = 0;
    while (worker->completed < wanted && error == 0 && timeout_ns > 0)
        error = pthread_cond_timedwait(&worker->done, &worker->engine->lock, &until);
    ze_result_t result = ZE_RESULT_NOT_READY;
    if (worker->completed >= wanted) {
        zs_order_saw(worker->context->driver, &worker->order.all);
        result = worker->failure;
        worker->failure = ZE_RESULT_SUCCESS;
    }
    pthread_mutex_unlock(&worker->engine->lock);
    return result;
}
