/* SPDX-License-Identifier: MIT */
/*
 * An application may wait for any child, count them, or have a handler of SIGCHLD: none of that may
 * meet a process that it did not start. A child that was made without an exit signal is invisible
 * to wait() and silent, but only until it executes a program: the kernel gives it SIGCHLD then. So
 * there are two: the first has no exit signal, starts the second, and ends; the second, an orphan
 * by then, executes the helper, and is the init process's to wait for.
 *
 * Both share the memory of the calling thread, which sleeps meanwhile (as posix_spawn has it):
 * nothing is copied however large the application is, handlers of fork do not run, and what went
 * wrong is told through that memory. Neither may therefore do more than system calls.
 */
#include "compiler/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The environment ---------------------------------------------------------------------------
 */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* LD_LIBRARY_PATH stays: the compiler may be found through it. */
static bool is_dropped(const char *setting)
{
    static const char *const names[] = {
        "LD_PRELOAD=", "LD_AUDIT=",    "LD_DEBUG=",    "LD_DEBUG_OUTPUT=",
        "LD_PROFILE=", "LD_BIND_NOT=", "LD_SHOW_AUXV="};
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        if (starts_with(setting, names[i]))
            return true;
    }
    /* a library that a set-user-id program would load */
    return starts_with(setting, "ZESCOPE_IGC=") && !secure_getenv("ZESCOPE_IGC");
}

/* IGC's own settings change what it makes; with the driver's debug keys read, any variable may. */
static void note_setting(struct zs_environment *e, const char *setting, bool any)
{
    if (any || starts_with(setting, "IGC_") || starts_with(setting, "ZESCOPE_IGC="))
        zs_buf_append(&e->key, setting, strlen(setting) + 1);
    if (starts_with(setting, "IGC_") && strstr(setting, "Dump"))
        e->has_effects = true;
}

int zs_environment_copy(struct zs_environment *ret_environment)
{
    const char *keys = getenv("NEOReadDebugKeys");
    size_t count = 0, used = 0;
    *ret_environment = (struct zs_environment){0};
    while (environ && environ[count])
        count++;
    char **strings = calloc(count + 1, sizeof(*strings));
    if (!strings)
        return -ENOMEM;
    ret_environment->strings = strings;
    for (size_t i = 0; i < count && environ[i]; i++) {
        if (is_dropped(environ[i]))
            continue;
        note_setting(ret_environment, environ[i], keys && *keys);
        strings[used] = strdup(environ[i]);
        if (!strings[used++]) {
            zs_environment_fini(ret_environment);
            return -ENOMEM;
        }
    }
    return 0;
}

void zs_environment_fini(struct zs_environment *environment)
{
    for (size_t i = 0; environment->strings && environment->strings[i]; i++)
        free(environment->strings[i]);
    free(environment->strings);
    zs_buf_fini(&environment->key);
    *environment = (struct zs_environment){0};
}

/* ---- The processes -----------------------------------------------------------------------------
 */

enum { STACK_B = 64 << 10, SOCKET = 3 };

struct start {
    char *const *argv, *const *environment;
    int socket;
    uint8_t *stack; /* of the second process */
    volatile pid_t pid;
    volatile int error;
};

/*
 * Nothing of a sanitizer's, neither of this library's nor of the application's, may run in the two
 * processes: it would find the memory of another one changed under its feet. So they are made
 * without the library's clone, which thread sanitizers replace, and call the kernel alone.
 */
#if defined(__has_attribute)
#if __has_attribute(disable_sanitizer_instrumentation)
#define UNTRACED __attribute__((disable_sanitizer_instrumentation))
#endif
#endif
#if !defined(UNTRACED)
#define UNTRACED __attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif

#if defined(__x86_64__)
static UNTRACED long make_process(int (*fn)(void *ctx), uint8_t *stack_end, long flags, void *ctx)
{
    long result;
    register int (*r12)(void *) __asm__("r12") = fn;
    register void *r13 __asm__("r13") = ctx;
    register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "mov %%eax, %%edi\n\t"
                     "mov %[end], %%eax\n\t"
                     "syscall\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "0"((long)SYS_clone), "D"(flags), "S"(stack_end), "d"(0L), "r"(r10), "r"(r8),
                       "r"(r12), "r"(r13), [end] "i"(SYS_exit_group)
                     : "rcx", "r11", "memory", "cc");
    return result;
}
#else
static UNTRACED long make_process(int (*fn)(void *ctx), uint8_t *stack_end, long flags, void *ctx)
{
    int pid = clone(fn, stack_end, (int)flags, ctx);
    return pid < 0 ? -errno : pid;
}
#endif

/* The table of descriptors is a copy: what the application has open is closed by the helper. */
static UNTRACED int be_helper(void *ctx)
{
    struct start *start = ctx;
    const char *null = "/dev/null";
    syscall(SYS_setsid);
    if (start->socket == SOCKET ? syscall(SYS_fcntl, SOCKET, F_SETFD, 0)
                                : syscall(SYS_dup3, start->socket, SOCKET, 0) < 0) {
        start->error = errno;
        return 127;
    }
    for (int fd = 0; fd < SOCKET; fd++)
        syscall(SYS_close, fd);
    if (syscall(SYS_openat, AT_FDCWD, null, O_RDWR | O_NOCTTY) == 0) {
        syscall(SYS_dup3, 0, 1, 0);
        syscall(SYS_dup3, 0, 2, 0);
    }
    syscall(SYS_execve, start->argv[0], start->argv, start->environment);
    start->error = errno;
    return 127;
}

static UNTRACED int be_between(void *ctx)
{
    struct start *start = ctx;
    long pid =
        make_process(be_helper, start->stack + STACK_B, CLONE_VM | CLONE_VFORK | SIGCHLD, start);
    if (pid < 0)
        start->error = (int)-pid;
    else
        start->pid = (pid_t)pid;
    return 0;
}

static int start_both(struct start *start, uint8_t *stack)
{
    sigset_t all, before;
    int cancel, status, saved = errno;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    long pid = make_process(be_between, stack + STACK_B, CLONE_VM | CLONE_VFORK, start);
    int error = pid < 0 ? (int)pid : 0;
    while (pid > 0 && waitpid((pid_t)pid, &status, (int)__WCLONE) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return error ? error : -start->error;
}

int zs_spawn(char *const argv[], char *const environment[], int socket, pid_t *ret_pid)
{
    *ret_pid = 0;
    uint8_t *stacks = mmap(NULL, 2 * STACK_B, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED)
        return -ENOMEM;
    struct start start = {
        .argv = argv, .environment = environment, .socket = socket, .stack = stacks + STACK_B};
    int error = start_both(&start, stacks);
    munmap(stacks, 2 * STACK_B);
    if (error && start.pid && zs_spawn_adopts())
        zs_spawn_reap(start.pid);
    else if (!error)
        *ret_pid = start.pid;
    return error;
}

bool zs_spawn_adopts(void)
{
    int adopts = 0;
    return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts);
}

void zs_spawn_reap(pid_t pid)
{
    int status;
    for (int i = 0; i < 200 && waitpid(pid, &status, WNOHANG) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}
