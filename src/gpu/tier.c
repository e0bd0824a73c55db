/* SPDX-License-Identifier: MIT */
/*
 * Kernels that are worth it get compiled code (eu/tier/tier.h) while they go on running.
 *
 * A kernel starts in the interpreter and counts instructions. When it has executed some, a thread
 * of its own asks whether its code has been compiled before; when it has executed about what
 * compiling costs, it is compiled, in the compiler's process: sooner if an earlier run asked, too.
 * Nobody waits for that: threads of the GPU that start behind it take the other program. It has the
 * same counters.
 *
 * Only what has run is compiled: of each block the code for all lanes on, or for any, or both. What
 * runs later is interpreted, and if that becomes much it is compiled once more, with that.
 */
#include "gpu/gpu_priv.h"

#include "eu/tier/tier.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

enum {
    ASK_AFTER = 1 << 18,    /* instructions until it is looked for: some 1 ms of one core */
    MAKE_AFTER = 20 << 20,  /* until it is made ... */
    MAKE_EACH = 250 * 1000, /* ... and for each instruction that it has: 0.6 ms of LLVM's */
    AGAIN = 4,              /* ... with what it has not: of what it took at first */
    WANTED = 16,            /* that part of them if earlier runs would have had a use for it */
    MAKE_MOST = 2000,       /* instructions that count: longer programs are compiled in part */
    ASKERS_MAX = 4,         /* of a device at once; others ask later */
    MADE_MOST = 3,          /* times; the last with everything */
};

enum asking { ASK_NOT, ASK_KNOWN, ASK_MAKE, ASK_AGAIN };

/* Of a kernel, and of the thread that works for it. */
struct zs_gpu_tier {
    struct zs_gpu_device *device;
    enum zs_gpu_compiled (*compile)(void *context, const struct zs_gpu_compile *what,
                                    struct zs_buf *ret_blob);
    void *context;
    size_t counter_count; /* of the program that is interpreted: both add to the same */
    struct zs_buf request;
    _Atomic uint64_t make_after, executed;
    _Atomic uint32_t asked; /* enum asking */
    _Atomic(struct zs_eu_program *) program;
    _Atomic uint32_t users; /* the kernel, and its threads */
    /* What has run; instructions of it that the program has not. */
    _Atomic(bool) has_all; /* or nobody knows: nothing is collected */
    _Atomic uint64_t others;
    pthread_mutex_t lock; /* of the next */
    struct zs_buf seen;
    struct zs_eu_program *before[MADE_MOST]; /* threads may still be in them */
    uint32_t made;
};

static void release(struct zs_gpu_tier *tier)
{
    if (atomic_fetch_sub(&tier->users, 1) != 1)
        return;
    zs_eu_program_destroy(atomic_load(&tier->program));
    for (uint32_t i = 0; i < MADE_MOST; i++)
        zs_eu_program_destroy(tier->before[i]);
    zs_buf_fini(&tier->request);
    zs_buf_fini(&tier->seen);
    pthread_mutex_destroy(&tier->lock);
    free(tier);
}

/* What is worth compiling, as far as anything has run. */
static void copy_seen(struct zs_gpu_tier *tier, struct zs_buf *ret)
{
    bool any = false;

    pthread_mutex_lock(&tier->lock);
    for (size_t i = 0; i < tier->seen.size_B; i++)
        any |= tier->seen.data[i];
    if (any && tier->made + 1 < MADE_MOST)
        zs_buf_append(ret, tier->seen.data, tier->seen.size_B);
    pthread_mutex_unlock(&tier->lock);
}

/* The program of the request, with compiled code in it; NULL: there is none. */
static struct zs_eu_program *make(struct zs_gpu_tier *tier, enum asking asking)
{
    struct zs_buf blob = {0}, seen = {0};
    struct zs_eu_tier_request parsed;
    struct zs_eu_program *program = NULL;
    struct zs_diag ignored = {0};

    copy_seen(tier, &seen);
    const struct zs_gpu_compile what = {.request = zs_buf_span(&tier->request),
                                        .seen = zs_buf_span(&seen),
                                        .only_known = asking == ASK_KNOWN,
                                        .is_anew = asking == ASK_AGAIN};
    enum zs_gpu_compiled how = tier->compile(tier->context, &what, &blob);
    zs_buf_fini(&seen);
    if (how == ZS_GPU_COMPILED_WANTED)
        atomic_store(&tier->make_after, tier->make_after / WANTED);
    if (how != ZS_GPU_COMPILED ||
        zs_eu_tier_request_parse(zs_buf_span(&tier->request), &parsed) != 0) {
        zs_buf_fini(&blob);
        return NULL;
    }
    if (zs_eu_lower(&parsed.params, &program, &ignored) != 0 ||
        zs_eu_program_counter_count(program) != tier->counter_count ||
        zs_eu_program_seen_B(program) != tier->seen.size_B ||
        zs_eu_tier_install(program, zs_buf_span(&blob), &ignored) != 0) {
        zs_eu_program_destroy(program);
        program = NULL;
    }
    zs_eu_tier_request_fini(&parsed);
    zs_buf_fini(&blob);
    return program;
}

static void take(struct zs_gpu_tier *tier, enum asking asking)
{
    struct zs_eu_program *program = make(tier, asking);

    pthread_mutex_lock(&tier->lock);
    if (program && tier->made < MADE_MOST) {
        atomic_store(&tier->has_all, zs_eu_tier_seen(program) == NULL);
        atomic_store(&tier->others, 0);
        tier->before[tier->made++] = atomic_exchange(&tier->program, program);
        atomic_store(&tier->asked, ASK_MAKE);
    } else if (asking != ASK_KNOWN) {
        zs_eu_program_destroy(program);
        atomic_store(&tier->has_all, true);
    }
    pthread_mutex_unlock(&tier->lock);
}

struct task {
    struct zs_gpu_tier *tier;
    enum asking asking;
};

static void *ask(void *arg)
{
    struct task task = *(struct task *)arg;
    struct zs_gpu_device *device = task.tier->device;

    free(arg);
    take(task.tier, task.asking);
    release(task.tier);
    pthread_mutex_lock(&device->lock);
    device->askers--;
    pthread_cond_broadcast(&device->wake);
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

/* In a thread that takes none of the application's signals. */
static void start(struct zs_gpu_tier *tier, enum asking asking)
{
    struct task *task = malloc(sizeof(*task));
    sigset_t all, before;
    pthread_t thread;

    if (!task)
        return;
    *task = (struct task){tier, asking};
    atomic_fetch_add(&tier->users, 1);
    pthread_mutex_lock(&tier->device->lock);
    tier->device->askers++;
    pthread_mutex_unlock(&tier->device->lock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, ask, task) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_detach(thread);
        return;
    }
    free(task);
    release(tier);
    pthread_mutex_lock(&tier->device->lock);
    tier->device->askers--;
    pthread_mutex_unlock(&tier->device->lock);
}

void zs_gpu_tier_wait(struct zs_gpu_device *device)
{
    pthread_mutex_lock(&device->lock);
    while (device->askers)
        pthread_cond_wait(&device->wake, &device->lock);
    pthread_mutex_unlock(&device->lock);
}

/* If nobody else does. */
static void go_on(struct zs_gpu_tier *tier, uint32_t from, enum asking to)
{
    if (to > from &&
        atomic_load_explicit(&tier->device->askers, memory_order_relaxed) < ASKERS_MAX &&
        atomic_compare_exchange_strong(&tier->asked, &from, to))
        start(tier, to);
}

/* What it has run, and how much of that the program does not have. */
static void collect(struct zs_gpu_tier *tier, const struct zs_gpu_kernel *kernel,
                    const uint64_t *counters, bool has_ended)
{
    const struct zs_eu_program *program = zs_gpu_tier_program(kernel);
    const uint8_t *known = program ? zs_eu_tier_seen(program) : NULL;

    pthread_mutex_lock(&tier->lock);
    uint64_t more = zs_eu_program_counters_seen(kernel->program, counters, known, tier->seen.data);
    if (program)
        more += zs_eu_tier_strays(program, tier->seen.data);
    pthread_mutex_unlock(&tier->lock);
    if (has_ended && program &&
        atomic_fetch_add(&tier->others, more) + more >= tier->make_after / AGAIN)
        go_on(tier, ASK_MAKE, ASK_AGAIN);
}

void zs_gpu_tier_executed(const struct zs_gpu_kernel *kernel, uint64_t *executed,
                          const uint64_t *counters, bool has_ended)
{
    struct zs_gpu_tier *tier = kernel->tier;
    uint64_t count = *executed;

    *executed = 0;
    if (!tier)
        return;
    uint32_t asked = atomic_load_explicit(&tier->asked, memory_order_relaxed);
    /* most kernels are never worth it */
    if (asked != ASK_NOT && !atomic_load_explicit(&tier->has_all, memory_order_relaxed))
        collect(tier, kernel, counters, has_ended);
    if (asked >= ASK_MAKE)
        return;
    count += atomic_fetch_add(&tier->executed, count);
    go_on(tier, asked,
          count >= tier->make_after ? ASK_MAKE
          : count >= ASK_AFTER      ? ASK_KNOWN
                                    : ASK_NOT);
}

const struct zs_eu_program *zs_gpu_tier_program(const struct zs_gpu_kernel *kernel)
{
    return kernel->tier ? atomic_load_explicit(&kernel->tier->program, memory_order_acquire) : NULL;
}

int zs_gpu_tier_create(struct zs_gpu_kernel *kernel, const struct zs_gpu_kernel_desc *desc,
                       const struct zs_eu_lower_params *params)
{
    struct zs_gpu_tier *tier = calloc(1, sizeof(*tier));
    struct zs_eu_lower_params plain = *params;
    const struct zs_gpu_model *model = kernel->device->model;
    const struct zs_eu_tier_options options = {
        .own_B = kernel->per_thread_B,
        .own = 1 << 5 | (model->loads_payload ? 1 << 2 : 0) |
               (model->sr0_number || model->msg0_shift || model->tid_count ? ZS_EU_OWN_STATE : 0)};

    if (!tier)
        return -ENOMEM;
    plain.flags |= ZS_EU_TIER_LOWER;
    tier->device = kernel->device;
    tier->counter_count = zs_eu_program_counter_count(kernel->program);
    tier->make_after =
        MAKE_AFTER + (uint64_t)MAKE_EACH * ZS_MIN(params->code.size_B / 16, (size_t)MAKE_MOST);
    tier->compile = desc->compile;
    tier->context = desc->compile_context;
    atomic_init(&tier->users, 1);
    atomic_init(&tier->has_all, !(params->flags & ZS_EU_LOWER_COUNTS));
    pthread_mutex_init(&tier->lock, NULL);
    zs_eu_tier_request_put(&plain, &options, &tier->request);
    zs_buf_pad(&tier->seen, 0, zs_eu_program_seen_B(kernel->program));
    if (tier->request.error || tier->seen.error) {
        release(tier);
        return -ENOMEM;
    }
    kernel->tier = tier;
    if (desc->flags & ZS_GPU_KERNEL_COMPILED) { /* before anything runs */
        atomic_store(&tier->asked, ASK_MAKE);
        take(tier, ASK_MAKE);
    }
    return 0;
}

struct zs_span zs_gpu_kernel_tier_request(const struct zs_gpu_kernel *kernel)
{
    return kernel->tier ? zs_buf_span(&kernel->tier->request) : zs_span_make(NULL, 0);
}

void zs_gpu_tier_free(struct zs_gpu_kernel *kernel)
{
    if (kernel->tier)
        release(kernel->tier);
}
