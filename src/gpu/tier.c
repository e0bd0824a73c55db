/* SPDX-License-Identifier: MIT */
/*
 * Kernels that are worth it get compiled code (eu/tier/tier.h) while they go on running.
 *
 * A kernel starts in the interpreter and counts instructions. When it has executed some, a thread
 * of its own asks whether its code has been compiled before; when it has executed about what
 * compiling costs, it is compiled, in the compiler's process: sooner if an earlier run asked, too.
 * Both are once and for all, and nobody waits for them: threads of the GPU that start behind that
 * take the other program. It has the same counters.
 */
#include "gpu/gpu_priv.h"

#include "eu/tier/tier.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

enum {
    ASK_AFTER = 1 << 18,    /* instructions until it is looked for: some 1 ms of one core */
    MAKE_AFTER = 20 << 20,  /* until it is made ... */
    MAKE_EACH = 400 * 1000, /* ... and for each instruction that it has: 1 ms of LLVM's */
    WANTED = 16,            /* that part of them if earlier runs would have had a use for it */
    MAKE_MOST = 2000,       /* instructions that count: longer programs are compiled in part */
    ASKERS_MAX = 4,         /* of a device at once; others ask later */
};

/* Of a kernel, and of the thread that works for it. */
struct zs_gpu_tier {
    struct zs_gpu_device *device;
    enum zs_gpu_compiled (*compile)(void *context, struct zs_span request, bool only_known,
                                    struct zs_buf *ret_blob);
    void *context;
    size_t counter_count; /* of the program that is interpreted: both add to the same */
    struct zs_buf request;
    _Atomic uint64_t make_after, executed;
    _Atomic uint32_t asked; /* 0, 1: whether it is known, 2: to make it */
    _Atomic(struct zs_eu_program *) program;
    _Atomic uint32_t users; /* the kernel, and its threads */
};

static void release(struct zs_gpu_tier *tier)
{
    if (atomic_fetch_sub(&tier->users, 1) != 1)
        return;
    zs_eu_program_destroy(atomic_load(&tier->program));
    zs_buf_fini(&tier->request);
    free(tier);
}

/* The program of the request, with compiled code in it; NULL: there is none. */
static struct zs_eu_program *make(struct zs_gpu_tier *tier, bool only_known)
{
    struct zs_buf blob = {0};
    struct zs_eu_tier_request parsed;
    struct zs_eu_program *program = NULL;
    struct zs_diag ignored = {0};

    enum zs_gpu_compiled how =
        tier->compile(tier->context, zs_buf_span(&tier->request), only_known, &blob);
    if (how == ZS_GPU_COMPILED_WANTED)
        atomic_store(&tier->make_after, tier->make_after / WANTED);
    if (how != ZS_GPU_COMPILED ||
        zs_eu_tier_request_parse(zs_buf_span(&tier->request), &parsed) != 0) {
        zs_buf_fini(&blob);
        return NULL;
    }
    if (zs_eu_lower(&parsed.params, &program, &ignored) != 0 ||
        zs_eu_program_counter_count(program) != tier->counter_count ||
        zs_eu_tier_install(program, zs_buf_span(&blob), &ignored) != 0) {
        zs_eu_program_destroy(program);
        program = NULL;
    }
    zs_eu_tier_request_fini(&parsed);
    zs_buf_fini(&blob);
    return program;
}

static void take(struct zs_gpu_tier *tier, bool only_known)
{
    struct zs_eu_program *none = NULL, *program = make(tier, only_known);

    if (program && !atomic_compare_exchange_strong(&tier->program, &none, program))
        zs_eu_program_destroy(program);
    if (program)
        atomic_store(&tier->asked, 2);
}

struct asking {
    struct zs_gpu_tier *tier;
    bool only_known;
};

static void *ask(void *arg)
{
    struct asking asking = *(struct asking *)arg;
    struct zs_gpu_device *device = asking.tier->device;

    free(arg);
    take(asking.tier, asking.only_known);
    release(asking.tier);
    pthread_mutex_lock(&device->lock);
    device->askers--;
    pthread_cond_broadcast(&device->wake);
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

/* In a thread that takes none of the application's signals. */
static void start(struct zs_gpu_tier *tier, bool only_known)
{
    struct asking *asking = malloc(sizeof(*asking));
    sigset_t all, before;
    pthread_t thread;

    if (!asking)
        return;
    *asking = (struct asking){tier, only_known};
    atomic_fetch_add(&tier->users, 1);
    pthread_mutex_lock(&tier->device->lock);
    tier->device->askers++;
    pthread_mutex_unlock(&tier->device->lock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, ask, asking) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) {
        pthread_detach(thread);
        return;
    }
    free(asking);
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

void zs_gpu_tier_executed(const struct zs_gpu_kernel *kernel, uint64_t count)
{
    struct zs_gpu_tier *tier = kernel->tier;
    uint32_t asked = tier ? atomic_load_explicit(&tier->asked, memory_order_relaxed) : 2;

    if (asked == 2)
        return;
    uint64_t executed = atomic_fetch_add(&tier->executed, count) + count;
    uint32_t wanted = executed >= tier->make_after ? 2 : executed >= ASK_AFTER ? 1 : 0;
    if (wanted > asked &&
        atomic_load_explicit(&tier->device->askers, memory_order_relaxed) < ASKERS_MAX &&
        atomic_compare_exchange_strong(&tier->asked, &asked, wanted))
        start(tier, wanted == 1);
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
    zs_eu_tier_request_put(&plain, &options, &tier->request);
    if (tier->request.error) {
        release(tier);
        return -ENOMEM;
    }
    kernel->tier = tier;
    if (desc->flags & ZS_GPU_KERNEL_COMPILED) { /* before anything runs */
        atomic_store(&tier->asked, 2);
        take(tier, false);
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
