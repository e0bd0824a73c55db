/* SPDX-License-Identifier: MIT */
#include "driver/worker.h"

#include "driver/memory.h"

#include "base/vec.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct submission {
    struct submission *next;
    struct zs_ze_fence *fence;
    uint32_t count;
    struct zs_program *programs[];
};

/*
 * Two references: the queue's and the thread's (while there is a thread). The thread is started by
 * the first submission and detached; it ends when the worker is closed or cancelled and nothing is
 * left. context->workers lists those with a thread.
 */
struct zs_worker {
    _Atomic uint32_t refs;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    pthread_mutex_t lock;
    pthread_cond_t work; /* something to do, or closed */
    pthread_cond_t done; /* completed changed */
    struct submission *head, **tail;
    uint64_t submitted, completed;
    ze_result_t failure; /* first one that nobody was told of */
    bool running;        /* has a thread */
    bool closed;
    bool lent;                      /* a caller of zs_worker_run runs a program itself */
    struct zs_worker *context_next; /* under context->workers_lock */
};

/* ---- Programs ----------------------------------------------------------------------------------
 */

struct zs_program *zs_program_new(void)
{
    struct zs_program *program = calloc(1, sizeof(*program));
    if (program)
        atomic_init(&program->refs, 1);
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
    zs_object_unref(command->signal);
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
    free(program);
}

bool zs_program_append(struct zs_program *program, const struct zs_command *command)
{
    return ZS_VEC_PUSH(program, *command);
}

/* ---- Execution ---------------------------------------------------------------------------------
 */

/* False: an event failed, or the context is going away. */
static bool wait_for_events(struct zs_exec *exec, const struct zs_command *command)
{
    for (uint32_t i = 0; i < command->wait_count; i++) {
        if (zs_signal_wait(&command->waits[i]->slot->state, UINT64_MAX, exec->cancel) !=
            ZS_SIGNAL_READY)
            return false;
    }
    return true;
}

static int run_command(struct zs_exec *exec, struct zs_command *command)
{
    if (!wait_for_events(exec, command))
        return atomic_load(exec->cancel) ? -ECANCELED : -EFAULT;
    pthread_rwlock_rdlock(&exec->context->exec_lock);
    exec->start_ticks = zs_gpu_clock_ticks(exec->device->gpu);
    exec->end_ticks = 0;
    int error = command->op->run ? command->op->run(exec, command) : 0;
    /* a tick at least: tools take "no time" for a counter that went round once */
    while (exec->end_ticks <= exec->start_ticks)
        exec->end_ticks = zs_gpu_clock_ticks(exec->device->gpu);
    pthread_rwlock_unlock(&exec->context->exec_lock);
    zs_memory_reap(exec->context);
    return error;
}

static int run_program(struct zs_exec *exec, struct zs_program *program, int error)
{
    for (size_t i = 0; i < program->count; i++) {
        struct zs_command *command = &program->items[i];
        if (!error) {
            error = run_command(exec, command);
            if (error && error != -ECANCELED) {
                atomic_store(&exec->context->lost, true);
                zs_log(ZS_LOG_ERROR, "%s failed (%s); the commands behind it do not run",
                       command->op->name, strerror(-error));
            }
        } else {
            exec->start_ticks = exec->end_ticks = zs_gpu_clock_ticks(exec->device->gpu);
        }
        if (command->signal)
            zs_event_signal(command->signal, !error, exec->start_ticks, exec->end_ticks);
    }
    return error;
}

static int run_submission(struct zs_worker *worker, struct submission *submission)
{
    struct zs_exec exec = {.context = worker->context,
                           .device = worker->device,
                           .cancel = &worker->context->cancelled};
    int error = 0;
    for (uint32_t i = 0; i < submission->count; i++)
        error = run_program(&exec, submission->programs[i], error);
    return error;
}

static void free_submission(struct submission *submission)
{
    for (uint32_t i = 0; i < submission->count; i++)
        zs_program_unref(submission->programs[i]);
    zs_object_unref(submission->fence);
    free(submission);
}

static void finish_submission(struct zs_worker *worker, struct submission *submission, int error)
{
    ze_result_t result = zs_result_of_errno(error);
    /* references go first: what the program destroys after waiting is then really gone */
    for (uint32_t i = 0; i < submission->count; i++)
        zs_program_unref(submission->programs[i]);
    submission->count = 0;
    pthread_mutex_lock(&worker->lock);
    if (worker->failure == ZE_RESULT_SUCCESS)
        worker->failure = result;
    worker->completed++;
    pthread_cond_broadcast(&worker->done);
    pthread_mutex_unlock(&worker->lock);
    if (submission->fence)
        zs_signal_set(&submission->fence->state, error ? ZS_SIGNAL_FAILED : ZS_SIGNAL_READY);
    free_submission(submission);
}

/* ---- The thread --------------------------------------------------------------------------------
 */

static void worker_unref(struct zs_worker *worker)
{
    if (atomic_fetch_sub(&worker->refs, 1) != 1)
        return;
    pthread_cond_destroy(&worker->work);
    pthread_cond_destroy(&worker->done);
    pthread_mutex_destroy(&worker->lock);
    zs_object_unref(worker->context);
    free(worker);
}

static void unlink_worker(struct zs_worker *worker)
{
    struct zs_ze_context *context = worker->context;
    pthread_mutex_lock(&context->workers_lock);
    struct zs_worker **at = &context->workers;
    while (*at != worker)
        at = &(*at)->context_next;
    *at = worker->context_next;
    pthread_cond_broadcast(&context->workers_gone);
    pthread_mutex_unlock(&context->workers_lock);
}

static void *worker_main(void *arg)
{
    struct zs_worker *worker = arg;
    struct zs_ze_context *context = worker->context;
    pthread_mutex_lock(&worker->lock);
    for (;;) {
        while (worker->lent ||
               (!worker->head && !worker->closed && !atomic_load(&context->cancelled)))
            pthread_cond_wait(&worker->work, &worker->lock);
        struct submission *submission = worker->head;
        if (!submission)
            break;
        worker->head = submission->next;
        if (!worker->head)
            worker->tail = &worker->head;
        pthread_mutex_unlock(&worker->lock);
        int error = run_submission(worker, submission);
        finish_submission(worker, submission, error);
        pthread_mutex_lock(&worker->lock);
    }
    worker->running = false;
    pthread_mutex_unlock(&worker->lock);
    /* whoever stops the context frees it only after this */
    zs_object_ref(context);
    unlink_worker(worker);
    worker_unref(worker);
    zs_object_unref(context);
    return NULL;
}

/* Under the worker's lock. Signals of the program are not for this thread. */
static bool start_thread(struct zs_worker *worker)
{
    struct zs_ze_context *context = worker->context;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    atomic_fetch_add(&worker->refs, 1);
    pthread_mutex_lock(&context->workers_lock);
    worker->context_next = context->workers;
    context->workers = worker;
    pthread_mutex_unlock(&context->workers_lock);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int error = pthread_create(&thread, &attr, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    worker->running = error == 0;
    if (error) {
        unlink_worker(worker);
        atomic_fetch_sub(&worker->refs, 1);
    }
    return error == 0;
}

struct zs_worker *zs_worker_new(struct zs_ze_context *context, struct zs_ze_device *device)
{
    struct zs_worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return NULL;
    atomic_init(&worker->refs, 1);
    worker->context = zs_object_ref(context);
    worker->device = device;
    worker->tail = &worker->head;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->work, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&worker->done, &attr);
    pthread_condattr_destroy(&attr);
    return worker;
}

void zs_worker_close(struct zs_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->closed = true;
    pthread_cond_signal(&worker->work);
    pthread_mutex_unlock(&worker->lock);
    worker_unref(worker);
}

ze_result_t zs_worker_submit(struct zs_worker *worker, uint32_t count,
                             struct zs_program *const *programs, struct zs_ze_fence *fence)
{
    struct submission *submission =
        calloc(1, sizeof(*submission) + count * sizeof(struct zs_program *));
    if (!submission)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    submission->fence = zs_object_ref(fence);
    submission->count = count;
    for (uint32_t i = 0; i < count; i++)
        submission->programs[i] = zs_program_ref(programs[i]);
    pthread_mutex_lock(&worker->lock);
    bool cancelled = atomic_load(&worker->context->cancelled);
    bool ok = !cancelled && (worker->running || start_thread(worker));
    if (ok) {
        *worker->tail = submission;
        worker->tail = &submission->next;
        worker->submitted++;
        pthread_cond_signal(&worker->work);
    }
    pthread_mutex_unlock(&worker->lock);
    if (!ok)
        free_submission(submission);
    return ok          ? ZE_RESULT_SUCCESS
           : cancelled ? ZE_RESULT_ERROR_DEVICE_LOST
                       : ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

/* Nothing is queued: the caller may as well do it itself, which spares two changes of threads. */
static bool lend(struct zs_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool idle = !worker->lent && worker->completed == worker->submitted &&
                !atomic_load(&worker->context->cancelled);
    if (idle) {
        worker->lent = true;
        worker->submitted++;
    }
    pthread_mutex_unlock(&worker->lock);
    return idle;
}

ze_result_t zs_worker_run(struct zs_worker *worker, struct zs_program *program)
{
    if (!lend(worker)) {
        ze_result_t result = zs_worker_submit(worker, 1, &program, NULL);
        return result == ZE_RESULT_SUCCESS ? zs_worker_synchronize(worker, UINT64_MAX) : result;
    }
    struct zs_exec exec = {.context = worker->context,
                           .device = worker->device,
                           .cancel = &worker->context->cancelled};
    ze_result_t result = zs_result_of_errno(run_program(&exec, program, 0));
    pthread_mutex_lock(&worker->lock);
    if (result == ZE_RESULT_SUCCESS) {
        result = worker->failure;
        worker->failure = ZE_RESULT_SUCCESS;
    }
    worker->lent = false;
    worker->completed++;
    pthread_cond_broadcast(&worker->done);
    pthread_cond_signal(&worker->work);
    pthread_mutex_unlock(&worker->lock);
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
    pthread_mutex_lock(&worker->lock);
    uint64_t wanted = worker->submitted;
    int error = 0;
    while (worker->completed < wanted && error == 0 && timeout_ns > 0)
        error = pthread_cond_timedwait(&worker->done, &worker->lock, &until);
    ze_result_t result = ZE_RESULT_NOT_READY;
    if (worker->completed >= wanted) {
        result = worker->failure;
        worker->failure = ZE_RESULT_SUCCESS;
    }
    pthread_mutex_unlock(&worker->lock);
    return result;
}

void zs_workers_stop(struct zs_ze_context *context)
{
    pthread_mutex_lock(&context->workers_lock);
    while (context->workers) {
        for (struct zs_worker *worker = context->workers; worker; worker = worker->context_next)
            pthread_cond_signal(&worker->work);
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 10000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&context->workers_gone, &context->workers_lock, &until);
    }
    pthread_mutex_unlock(&context->workers_lock);
}

void zs_workers_drain(struct zs_ze_context *context)
{
    pthread_mutex_lock(&context->workers_lock);
    struct zs_worker *workers[64];
    uint32_t count = 0;
    for (struct zs_worker *w = context->workers; w && count < ZS_ARRAY_LEN(workers);
         w = w->context_next) {
        atomic_fetch_add(&w->refs, 1);
        workers[count++] = w;
    }
    pthread_mutex_unlock(&context->workers_lock);
    for (uint32_t i = 0; i < count; i++) {
        pthread_mutex_lock(&workers[i]->lock);
        uint64_t wanted = workers[i]->submitted;
        while (workers[i]->completed < wanted && !atomic_load(&context->cancelled))
            pthread_cond_wait(&workers[i]->done, &workers[i]->lock);
        pthread_mutex_unlock(&workers[i]->lock);
        worker_unref(workers[i]);
    }
}
