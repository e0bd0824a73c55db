/* SPDX-License-Identifier: MIT */
/*
 * zescope-compiler: the process that the driver starts to compile SPIR-V. Nobody calls it by hand:
 *
 *     zescope-compiler APPLICATION-PID CPU-SECONDS ADDRESS-SPACE-BYTES     descriptor 3: a socket
 *
 * It loads the compiler, says HELLO, and forks a worker for each socket that it is sent. It has one
 * thread and compiles nothing itself, so that a fork is a whole compiler, ready and unused. It
 * keeps a copy of each worker's socket: when the worker dies it says how, and when the driver hangs
 * up (the application gave up, or ended) it kills the worker. It ends when the application does,
 * which the socket and, as a forked child may hold that, a descriptor of the process tell; and when
 * there was nothing to do for a while. Workers die with it. Only one that makes what nobody waited
 * for is let finish, within a limit: it keeps that in the cache for the application's next run.
 *
 * A worker does one request after the other. It ends after a build that failed (who knows what the
 * compiler left behind), after many, and when nothing comes.
 */
#include "compiler/backend.h"
#include "compiler/disk.h"
#include "compiler/host_code.h"
#include "compiler/message.h"
#include "compiler/request.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CONTROL = 3,
    WORKERS_MAX = 512,
    BUILDS_MAX = 256,      /* of a worker */
    WORKER_IDLE_ms = 5000, /* then it ends */
    HELPER_IDLE_ms = 20000,
    HOST_LIMIT_s = 20, /* of code for the host, which is made for speed alone */
    LINGER_ms = 10000, /* after the application */
    STARTING_ms = 500, /* until a worker has its request */
    SAID_MAX_B = 64 << 10,
};

enum worker_state { WORKER_WAITS, WORKER_READS, WORKER_KEEPS, WORKER_WORKS };
struct worker {
    pid_t pid;
    int fd, said;
    bool left;           /* the driver hung up, but it keeps what it makes */
    _Atomic(int) *state; /* enum worker_state, in memory of both */
};

struct helper {
    struct zs_backends backends;
    struct zs_buf why;        /* there are none: machine code alone is compiled */
    int signals, application; /* descriptors; application: -1 when the kernel has none such */
    uint64_t cpu_limit_s, memory_limit_B;
    uint8_t identity[ZS_SHA256_B]; /* checksum of what HELLO says */
    uint32_t count;
    struct worker workers[WORKERS_MAX];
};

/* ---- A worker ----------------------------------------------------------------------------------
 */

/* What the compiler printed, whose stdout and stderr are that file. */
static void take_said(int said, struct zs_buf *ret_text)
{
    fflush(stdout);
    fflush(stderr);
    struct stat st;
    if (said < 0 || fstat(said, &st) != 0 || st.st_size <= 0)
        return;
    size_t size_B = (size_t)ZS_MIN(st.st_size, (off_t)SAID_MAX_B);
    uint8_t *place = zs_buf_reserve(ret_text, size_B);
    ssize_t got_B = place ? pread(said, place, size_B, 0) : 0;
    ret_text->size_B += got_B > 0 ? (size_t)got_B : 0;
    if (ftruncate(said, 0) == 0)
        lseek(said, 0, SEEK_SET);
}

/* The processor's time that the next build may take; the hard limit ends what ignores the signal.
 */
static void limit_time(uint64_t limit_s)
{
    struct rusage used;
    struct rlimit limit;
    if (limit_s == 0 || getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    rlim_t soft = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec + limit_s + 1;
    limit.rlim_cur = ZS_MIN(soft, limit.rlim_max);
    setrlimit(RLIMIT_CPU, &limit);
}

static void limit_memory(uint64_t limit_B)
{
    struct rlimit limit;
    struct sysinfo machine;
    if (limit_B == 0) {
        const uint64_t least_B = UINT64_C(2) << 30, most_B = UINT64_C(8) << 30;
        uint64_t half_B =
            sysinfo(&machine) == 0 ? (uint64_t)machine.totalram * machine.mem_unit / 2 : least_B;
        limit_B = ZS_MAX(least_B, ZS_MIN(most_B, half_B));
    }
    if (getrlimit(RLIMIT_AS, &limit) == 0) {
        limit.rlim_cur = ZS_MIN((rlim_t)limit_B, limit.rlim_max);
        setrlimit(RLIMIT_AS, &limit);
    }
}

/* Machine code of a GPU's kernel to the host's. */
static enum zs_compiler_status build_for_host(const struct zs_compiler_request *request,
                                              struct zs_buf *ret_blob, struct zs_buf *ret_log)
{
#ifdef ZS_COMPILER_HAS_TIER
    const char *form = request->internal_options;
    int error = zs_host_build(request->units[0], request->hint,
                              strcmp(form, ZS_COMPILER_HOST_MODULE) == 0     ? ZS_HOST_MODULE
                              : strcmp(form, ZS_COMPILER_HOST_ASSEMBLY) == 0 ? ZS_HOST_ASSEMBLY
                                                                             : ZS_HOST_BLOB,
                              ret_blob, ret_log);
    if (error == -ENOTSUP && !*form) { /* that is remembered as a blob that is none */
        ret_blob->size_B = 0;
        zs_buf_puts(ret_blob, "none");
        error = ret_blob->error;
    }
    return error == 0 ? ZS_COMPILER_OK : ZS_COMPILER_BUILD_FAILED;
#else
    (void)request, (void)ret_blob;
    zs_buf_puts(ret_log, "zescope was built without clang, or with sanitizers\n");
    return ZS_COMPILER_UNAVAILABLE;
#endif
}

static enum zs_compiler_status build(const struct helper *helper,
                                     const struct zs_compiler_request *request,
                                     struct zs_buf *ret_binary, struct zs_buf *ret_log)
{
    if (strcmp(request->device, ZS_COMPILER_HOST_DEVICE) == 0)
        return build_for_host(request, ret_binary, ret_log);
    if (!helper->why.size_B)
        return zs_backends_build(&helper->backends, request, ret_binary, ret_log);
    zs_buf_append(ret_log, helper->why.data, helper->why.size_B);
    return ZS_COMPILER_UNAVAILABLE;
}

/* The driver is gone: what was made for it is kept where it would look first. */
static void keep(const struct zs_keep *keep, struct zs_span log, struct zs_span binary)
{
    struct zs_buf file = {0};
    struct zs_disk disk;
    zs_put_result(&file, log, binary);
    zs_disk_init(&disk, keep->folder, keep->limit_B);
    if (!file.error)
        zs_disk_put(&disk, keep->key, zs_buf_span(&file));
    zs_disk_fini(&disk);
    zs_buf_fini(&file);
}

/* 0, or that the worker is to end. */
static int serve(const struct helper *helper, int fd, int said, _Atomic(int) *state)
{
    struct zs_message request;
    struct zs_parsed_request parsed;
    struct zs_keep kept;
    struct zs_buf binary = {0}, log = {0};
    struct zs_span none = zs_span_make(NULL, 0);
    struct pollfd idle = {.fd = fd, .events = POLLIN};
    if (poll(&idle, 1, WORKER_IDLE_ms) <= 0)
        return -ETIMEDOUT;
    atomic_store(state, WORKER_READS);
    int error = zs_message_receive(fd, &request, 0);
    if (error) {
        atomic_store(state, WORKER_WAITS);
        return error;
    }
    error = zs_request_parse(zs_buf_span(&request.data), &parsed);
    bool is_host = !error && strcmp(parsed.request.device, ZS_COMPILER_HOST_DEVICE) == 0;
    bool is_longer = helper->cpu_limit_s == 0 || helper->cpu_limit_s > HOST_LIMIT_s;
    limit_time(is_host && is_longer ? HOST_LIMIT_s : helper->cpu_limit_s);
    bool keeps = !error && zs_keep_parse(zs_buf_span(&request.text), &kept) == 0 &&
                 memcmp(kept.identity, helper->identity, sizeof(kept.identity)) == 0;
    atomic_store(state, keeps ? WORKER_KEEPS : WORKER_WORKS);
    if (!error)
        error = zs_message_send(fd, ZS_MESSAGE_STARTED, 0, none, none, 0);
    if (!error) {
        enum zs_compiler_status status = build(helper, &parsed.request, &binary, &log);
        take_said(said, &log);
        log.size_B = ZS_MIN(log.size_B, (size_t)ZS_MESSAGE_TEXT_MAX_B);
        error = zs_message_send(fd, ZS_MESSAGE_DONE, (int)status, zs_buf_span(&log),
                                status == ZS_COMPILER_OK ? zs_buf_span(&binary) : none, 0);
        if (error && keeps && status == ZS_COMPILER_OK)
            keep(&kept, zs_buf_span(&log), zs_buf_span(&binary));
        if (!error && status != ZS_COMPILER_OK)
            error = -ECANCELED;
        atomic_store(state, WORKER_WAITS);
    }
    zs_message_fini(&request);
    zs_buf_fini(&binary);
    zs_buf_fini(&log);
    return error;
}

/* By a signal that nobody else uses: a worker that exits did so because the compiler wanted to. */
static void be_gone(void)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGRTMAX, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    raise(SIGRTMAX);
    _exit(1);
}

/* After the fork. */
static void be_worker(struct helper *helper, int fd, int said, _Atomic(int) *state)
{
    sigset_t none;
    close(CONTROL); /* what another process is to notice the end of must not be open here */
    close(helper->signals);
    close(helper->application);
    for (uint32_t i = 0; i < helper->count; i++) {
        close(helper->workers[i].fd);
        close(helper->workers[i].said);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (said >= 0) {
        dup2(said, STDOUT_FILENO);
        dup2(said, STDERR_FILENO);
        setvbuf(stdout, NULL, _IOLBF, 0);
    }
    prctl(PR_SET_DUMPABLE, 0); /* a crash is an answer, not something to keep an image of */
    limit_memory(helper->memory_limit_B);
    for (int i = 0; i < BUILDS_MAX && serve(helper, fd, said, state) == 0; i++) {
    }
}

/* ---- The helper --------------------------------------------------------------------------------
 */

static void say_died(int fd, int status, const char *text, size_t size_B)
{
    zs_message_send(fd, ZS_MESSAGE_DIED, status, zs_span_make(text, size_B), zs_span_make(NULL, 0),
                    zs_message_clock_ns() + UINT64_C(1000000000));
}

static void start_worker(struct helper *helper, int fd)
{
    int said = memfd_create("zescope-compiler", MFD_CLOEXEC);
    _Atomic(int) *state =
        mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t helper_pid = getpid(), pid = -1;
    if (helper->count < WORKERS_MAX && state != MAP_FAILED)
        pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == helper_pid)
            be_worker(helper, fd, said, state);
        be_gone();
    }
    if (pid < 0) {
        char text[100];
        int size_B = snprintf(text, sizeof(text), "no process for the compiler: %s\n",
                              helper->count < WORKERS_MAX ? strerror(errno) : "too many workers");
        say_died(fd, 0, text, (size_t)size_B);
        close(fd);
        close(said);
        if (state != MAP_FAILED)
            munmap(state, sizeof(*state));
        return;
    }
    helper->workers[helper->count++] =
        (struct worker){.pid = pid, .fd = fd, .said = said, .state = state};
}

static void reap(struct helper *helper)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (uint32_t i = 0; i < helper->count; i++) {
            struct worker worker = helper->workers[i];
            if (worker.pid != pid)
                continue;
            struct zs_buf text = {0};
            take_said(worker.said, &text);
            if (WIFSIGNALED(status) && WTERMSIG(status) != SIGRTMAX)
                say_died(worker.fd, WTERMSIG(status), (const char *)text.data, text.size_B);
            else if (WIFEXITED(status))
                say_died(worker.fd, -1 - WEXITSTATUS(status), (const char *)text.data, text.size_B);
            zs_buf_fini(&text);
            close(worker.fd);
            close(worker.said);
            munmap(worker.state, sizeof(*worker.state));
            helper->workers[i] = helper->workers[--helper->count];
            break;
        }
    }
}

/* A descriptor that came with a byte; -1: none, and *ret_ended says whether none will come. */
static int receive_socket(bool *ret_ended)
{
    char byte;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } place;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = place.bytes,
                             .msg_controllen = sizeof(place.bytes)};
    ssize_t n = recvmsg(CONTROL, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    *ret_ended = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
    const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    int fd = -1;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(head), sizeof(int));
    return fd;
}

/* Nobody is at the other end of the worker's socket any more; it may have been asked for something
 * just before. */
static void let_go(struct worker *worker)
{
    char byte;
    for (int i = 0; i < STARTING_ms; i++) {
        bool unread = recv(worker->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
        int state = atomic_load(worker->state);
        if (state != WORKER_READS && !(state == WORKER_WAITS && unread))
            break;
        poll(NULL, 0, 1);
    }
    worker->left = atomic_load(worker->state) == WORKER_KEEPS;
    if (!worker->left)
        kill(worker->pid, SIGKILL);
}

/* The application has ended; it may have asked for something just before. */
static void end_all(struct helper *helper)
{
    bool ended;
    for (int fd = 0; (fd = receive_socket(&ended)) >= 0;)
        start_worker(helper, fd);
    uint64_t until_ns = zs_message_clock_ns() + LINGER_ms * UINT64_C(1000000);
    struct pollfd signals = {.fd = helper->signals, .events = POLLIN};
    struct signalfd_siginfo gone;
    for (uint32_t i = 0; i < helper->count; i++)
        let_go(&helper->workers[i]);
    while (helper->count && zs_message_clock_ns() < until_ns) {
        if (poll(&signals, 1, 100) > 0)
            (void)!read(helper->signals, &gone, sizeof(gone));
        reap(helper);
    }
    /* orphans of this process may become children of the application, which did not start any */
    for (uint32_t i = 0; i < helper->count; i++)
        kill(helper->workers[i].pid, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
}

static void run(struct helper *helper)
{
    struct pollfd fds[WORKERS_MAX + 3];
    struct signalfd_siginfo gone;
    bool ended = false;
    while (!ended) {
        fds[0] = (struct pollfd){.fd = CONTROL, .events = POLLIN};
        fds[1] = (struct pollfd){.fd = helper->signals, .events = POLLIN};
        fds[2] = (struct pollfd){.fd = helper->application, .events = POLLIN};
        for (uint32_t i = 0; i < helper->count; i++)
            fds[3 + i] =
                (struct pollfd){.fd = helper->workers[i].left ? -1 : helper->workers[i].fd};
        int n = poll(fds, 3 + helper->count, helper->count ? -1 : HELPER_IDLE_ms);
        if (n == 0 || fds[2].revents)
            break;
        for (uint32_t i = 0; i < helper->count; i++) {
            if (fds[3 + i].revents)
                let_go(&helper->workers[i]);
        }
        if (fds[1].revents)
            (void)!read(helper->signals, &gone, sizeof(gone));
        reap(helper);
        if (fds[0].revents) {
            int fd = receive_socket(&ended);
            if (fd >= 0)
                start_worker(helper, fd);
        }
    }
    end_all(helper);
}

/* What the application had set for itself. */
static void shed(void)
{
    sigset_t none;
    struct rlimit limit = {0};
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (syscall(SYS_close_range, CONTROL + 1, ~0u, 0) != 0) {
        int most = (int)sysconf(_SC_OPEN_MAX);
        for (int fd = CONTROL + 1; fd < ZS_MIN(most, 1 << 16); fd++)
            close(fd);
    }
    setrlimit(RLIMIT_CORE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    static struct helper helper;
    struct zs_buf identity = {0};
    sigset_t child;
    struct stat st;
    if (argc != 4 || fstat(CONTROL, &st) != 0 || !S_ISSOCK(st.st_mode)) {
        fprintf(stderr, "zescope-compiler is started by the driver libze_zescope.so\n");
        return 2;
    }
    shed();
    helper.application = (int)syscall(SYS_pidfd_open, (pid_t)atoi(argv[1]), 0);
    helper.cpu_limit_s = strtoull(argv[2], NULL, 10);
    helper.memory_limit_B = strtoull(argv[3], NULL, 10);
    fcntl(CONTROL, F_SETFD, FD_CLOEXEC);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    bool loaded = zs_backends_load(&helper.backends, &identity, &helper.why);
#ifdef ZS_COMPILER_HAS_TIER
    loaded = true;
#endif
    zs_put_file(&identity, argv[0]);
    zs_sha256(zs_buf_span(&identity), helper.identity);
    zs_message_send(CONTROL, ZS_MESSAGE_HELLO, loaded ? 0 : -1, zs_buf_span(&helper.why),
                    zs_buf_span(&identity), 0);
    sigprocmask(SIG_BLOCK, &child, NULL);
    helper.signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (loaded && helper.signals >= 0)
        run(&helper);
    zs_buf_fini(&identity);
    zs_buf_fini(&helper.why);
    _exit(loaded ? 0 : 1); /* the compiler's destructors have nothing to do any more */
}
