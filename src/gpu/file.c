/* SPDX-License-Identifier: MIT */
/*
 * Memory of files that somebody else may make smaller, while kernels run on it.
 *
 * The kernel of the host then answers an access with SIGBUS. For a thread that runs work-groups, in
 * such memory alone, the signal puts zeros in the place of what is gone, so that the thread comes
 * to the end of its slice, and stops the launch, which fails. All other such signals go to who had
 * them before: the program's own accesses end as they do without this driver.
 *
 * A signal handler finds its way by lists that only grow, without locks: items are used again, and
 * never freed. They are as many as there ever were at once.
 */
#include "gpu/gpu_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE_B = 4096 };

struct zs_gpu_file {
    struct zs_gpu_file *next;
    atomic_bool used;
    _Atomic uint64_t begin, end; /* begin is 0: of none */
    atomic_int protection;
    atomic_bool lost;
};

/* A host thread that runs work-groups. */
struct zs_gpu_file_user {
    struct zs_gpu_file_user *next;
    atomic_bool used;
    _Atomic(struct zs_gpu_run *) run; /* NULL: none any more */
    pthread_t thread;
    const struct zs_gpu_worker *worker;
    bool was_blocked; /* SIGBUS, in this thread */
    bool hit;
    bool is_write;
    uint64_t gpu_va, group_index;
    uint32_t thread_index;
};

/* Who had the signal before this file took it. */
struct former {
    struct former *next;
    struct sigaction action;
};

/* A process has one handler of a signal. */
static struct {
    _Atomic(struct zs_gpu_file *) files;
    _Atomic(struct zs_gpu_file_user *) users;
    atomic_uint count; /* of files in use */
    _Atomic(struct former *) former;
    atomic_uintptr_t info, frame; /* of the signal that was handed on last */
    pthread_mutex_t lock;         /* of installing */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- The signal --------------------------------------------------------------------------------
 */

static struct zs_gpu_file_user *running_here(void)
{
    for (struct zs_gpu_file_user *u = atomic_load(&state.users); u; u = u->next)
        if (atomic_load(&u->run) && pthread_equal(u->thread, pthread_self()))
            return u;
    return NULL;
}

/* Zeros from the page on: a file that has no such page has none behind it. */
static bool fill_hole(uint64_t va)
{
    uint64_t end = 0, page = va & ~(uint64_t)(PAGE_B - 1);
    long protection = PROT_NONE;
    for (struct zs_gpu_file *f = atomic_load(&state.files); f; f = f->next) {
        uint64_t begin = atomic_load(&f->begin), own_end = atomic_load(&f->end);
        if (!begin || va < begin || va >= own_end)
            continue;
        atomic_store(&f->lost, true);
        end = ZS_MAX(end, own_end);
        protection = atomic_load(&f->protection);
    }
    return end &&
           syscall(SYS_mmap, page, (size_t)(end - page), protection,
                   (long)(MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE), -1L, 0L) != -1;
}

static bool survive(const siginfo_t *info, const void *machine)
{
    struct zs_gpu_file_user *u = info->si_code == BUS_ADRERR ? running_here() : NULL;
    if (!u || !fill_hole((uintptr_t)info->si_addr))
        return false;
    const struct zs_port *port = &u->worker->port;
    const struct zs_gpu_group *group = /* of the thread that runs */
        (const void *)((const char *)port->named_barriers - offsetof(struct zs_gpu_group, named));
    const greg_t *registers = ((const ucontext_t *)machine)->uc_mcontext.gregs;
    if (!u->hit) {
        u->gpu_va = (uintptr_t)info->si_addr;
        u->is_write = registers[REG_ERR] & 2; /* of the page fault */
        u->group_index = port->named_barriers ? group->index : 0;
        u->thread_index = port->thread;
    }
    u->hit = true;
    atomic_store_explicit(&atomic_load(&u->run)->stop, true, memory_order_relaxed);
    return true;
}

/* The process ends as soon as the handler returns. */
static void end_by(int number)
{
    const struct sigaction none = {.sa_handler = SIG_DFL};
    sigaction(number, &none, NULL);
    raise(number);
}

static void hand_on(int number, siginfo_t *info, void *machine)
{
    const struct sigaction *to = &atomic_load(&state.former)->action;
    if (to->sa_flags & SA_SIGINFO)
        to->sa_sigaction(number, info, machine);
    else if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN)
        to->sa_handler(number);
    else if (to->sa_handler == SIG_DFL || info->si_code > 0) /* no access can be ignored */
        end_by(number);
}

/* The former handler has handed this signal back: the stack has grown since. It may also have left
 * by siglongjmp(), so that nothing says that a signal is over. */
static bool comes_back(const siginfo_t *info)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (atomic_load(&state.info) == (uintptr_t)info && frame < atomic_load(&state.frame))
        return true;
    atomic_store(&state.frame, frame);
    atomic_store(&state.info, (uintptr_t)info);
    return false;
}

static void on_bus_error(int number, siginfo_t *info, void *machine)
{
    int error = errno;
    if (survive(info, machine))
        errno = error;
    else if (comes_back(info))
        end_by(number);
    else
        hand_on(number, info, machine);
}

/* Also after others, test frameworks for one, have put back what was there before. 0 or -ENOMEM. */
static int install(void)
{
    int error = 0;
    const struct sigaction action = {.sa_sigaction = on_bus_error,
                                     .sa_flags = SA_SIGINFO | SA_ONSTACK};
    pthread_mutex_lock(&state.lock);
    struct former *made = malloc(sizeof(*made));
    if (made && sigaction(SIGBUS, NULL, &made->action) == 0 &&
        made->action.sa_sigaction != on_bus_error) {
        made->next = atomic_load(&state.former);
        atomic_store(&state.former, made);
        sigaction(SIGBUS, &action, NULL);
    } else {
        error = made ? 0 : -ENOMEM;
        free(made);
    }
    pthread_mutex_unlock(&state.lock);
    return error;
}

/* ---- Files -------------------------------------------------------------------------------------
 */

static struct zs_gpu_file *take_file(void)
{
    for (struct zs_gpu_file *f = atomic_load(&state.files); f; f = f->next)
        if (!atomic_exchange(&f->used, true))
            return f;
    struct zs_gpu_file *made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    atomic_init(&made->used, true);
    made->next = atomic_load(&state.files);
    while (!atomic_compare_exchange_weak(&state.files, &made->next, made))
        ;
    return made;
}

struct zs_gpu_file *zs_gpu_file_watch(uint64_t gpu_va, uint64_t size_B, int protection)
{
    struct zs_gpu_file *f = install() == 0 ? take_file() : NULL;
    if (!f)
        return NULL;
    atomic_store(&f->lost, false);
    atomic_store(&f->protection, protection);
    atomic_store(&f->end, zs_align_up(gpu_va + size_B, PAGE_B));
    atomic_store(&f->begin, gpu_va);
    atomic_fetch_add(&state.count, 1);
    return f;
}

void zs_gpu_file_unwatch(struct zs_gpu_file *file)
{
    if (!file)
        return;
    atomic_fetch_sub(&state.count, 1);
    atomic_store(&file->begin, 0);
    atomic_store(&file->used, false);
}

bool zs_gpu_file_is_lost(const struct zs_gpu_file *file)
{
    return file && atomic_load(&file->lost);
}

/* ---- Threads -----------------------------------------------------------------------------------
 */

static struct zs_gpu_file_user *take_user(void)
{
    for (struct zs_gpu_file_user *u = atomic_load(&state.users); u; u = u->next)
        if (!atomic_exchange(&u->used, true))
            return u;
    struct zs_gpu_file_user *made = calloc(1, sizeof(*made));
    if (!made)
        return NULL;
    atomic_init(&made->used, true);
    made->next = atomic_load(&state.users);
    while (!atomic_compare_exchange_weak(&state.users, &made->next, made))
        ;
    return made;
}

bool zs_gpu_file_begin(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    if (w->file_user || !atomic_load(&state.count))
        return true;
    struct zs_gpu_file_user *u = w->file_user = take_user();
    if (!u)
        return false;
    sigset_t bus, before;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &bus, &before);
    u->was_blocked = sigismember(&before, SIGBUS);
    u->thread = pthread_self();
    u->worker = w;
    u->hit = false;
    atomic_store(&u->run, run);
    return true;
}

void zs_gpu_file_end(struct zs_gpu_run *run, struct zs_gpu_worker *w)
{
    struct zs_gpu_file_user *u = w->file_user;
    if (!u)
        return;
    atomic_store(&u->run, NULL);
    if (u->hit) { /* also where what the zeros led to has stopped the run already */
        struct zs_gpu_fault fault;
        zs_gpu_fault_file(run, u->gpu_va, u->is_write, u->group_index, u->thread_index, &fault);
        pthread_mutex_lock(&run->lock);
        run->error = -EFAULT;
        run->fault = fault;
        pthread_mutex_unlock(&run->lock);
    }
    if (u->was_blocked) {
        sigset_t bus;
        sigemptyset(&bus);
        sigaddset(&bus, SIGBUS);
        pthread_sigmask(SIG_BLOCK, &bus, NULL);
    }
    w->file_user = NULL;
    atomic_store(&u->used, false);
}
