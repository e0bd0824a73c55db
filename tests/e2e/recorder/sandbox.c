/* SPDX-License-Identifier: MIT */
/*
 * A program that locks itself up before it works: a filter of system calls lets it make no file,
 * no process and nothing that it does not know itself. Argument: what the filter does about the
 * others, eperm or enosys (an error), or trap (SIGSYS, whose handler answers with an error, as
 * sandboxes with a broker have it). Its calls, from before the filter and from two threads after:
 * CALLS each, pairs of allocating and freeing.
 */
#include "app.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

enum { CALLS = 6000 };

/* What the program itself, libc's threads and memory need. */
static const int known[] = {
    SYS_read,
    SYS_write,
    SYS_close,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    SYS_mremap,
    SYS_futex,
    SYS_clone,
    SYS_clone3,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_getpid,
    SYS_gettid,
    SYS_tgkill,
    SYS_sched_yield,
    SYS_nanosleep,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_sched_getaffinity,
};
enum { KNOWN = sizeof(known) / sizeof(known[0]) };

static const struct app *the_app;

static void on_refused(int number, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
#if defined(__x86_64__)
    c->uc_mcontext.gregs[REG_RAX] = -EACCES;
#else
    (void)c;
    _exit(8);
#endif
}

static void lock_up(uint32_t action)
{
    struct sock_filter filter[KNOWN + 3];
    size_t n = 0;
    filter[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < KNOWN; i++)
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)known[i],
                                                   (uint8_t)(KNOWN - i), 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {.len = (unsigned short)n, .filter = filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("sandbox");
        exit(9);
    }
}

static void *work(void *arg)
{
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    for (int i = 0; i < CALLS; i++) {
        void *p;
        OK(zeMemAllocHost(the_app->context, &desc, 4096, 64, &p));
        OK(zeMemFree(the_app->context, p));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct app app;
    pthread_t threads[2];
    const char *how = argc > 1 ? argv[1] : "";
    uint32_t action = !strcmp(how, "eperm")    ? SECCOMP_RET_ERRNO | EPERM
                      : !strcmp(how, "enosys") ? SECCOMP_RET_ERRNO | ENOSYS
                                               : SECCOMP_RET_TRAP;
    the_app = &app;
    app_init(&app);
    work(NULL);
    struct sigaction refused = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &refused, NULL);
    lock_up(action);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 6;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    work(NULL);
    static const char done[] = "made all calls\n";
    return write(STDOUT_FILENO, done, sizeof(done) - 1) == sizeof(done) - 1 ? 7 : 6;
}
