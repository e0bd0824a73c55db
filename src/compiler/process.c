/* SPDX-License-Identifier: MIT */
#include "compiler/process.h"

#include "compiler/message.h"

#include "base/parallel.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A start loads the compiler: tens of milliseconds, or what a cold disk takes. */
static const uint64_t start_limit_ns = UINT64_C(60000000000);

enum { ATTEMPTS = 3 };

/* ---- The helper's file -------------------------------------------------------------------------
 */

/* Beside the driver's library: in a build tree, and where both were installed. */
static char *find_helper(void)
{
    static const char *const places[] = {"zescope-compiler", "../compiler/zescope-compiler",
                                         ZS_COMPILER_FROM_LIBRARY,
                                         ("../" ZS_COMPILER_FROM_LIBRARY)};
    Dl_info info;
    struct zs_buf path = {0};
    char *real = dladdr((const void *)(uintptr_t)find_helper, &info) && info.dli_fname
                     ? realpath(info.dli_fname, NULL)
                     : NULL;
    char *slash = real ? strrchr(real, '/') : NULL, *found = NULL;
    for (size_t i = 0; slash && !found && i < ZS_ARRAY_LEN(places); i++) {
        zs_buf_printf(&path, "%.*s/%s", (int)(slash - real), real, places[i]);
        if (!path.error && access(zs_buf_cstr(&path), X_OK) == 0)
            found = strdup(zs_buf_cstr(&path));
        zs_buf_fini(&path);
    }
    free(real);
    return found ? found : strdup(ZS_COMPILER_INSTALLED);
}

int zs_processes_init(struct zs_processes *p, const struct zs_compiler_settings *settings)
{
    *p = (struct zs_processes){.control = ZS_OWN_FD_NONE,
                               .time_limit_ns = settings->time_limit_ns,
                               .memory_limit_B = settings->memory_limit_B,
                               .slot_count = ZS_MIN(zs_host_cores(), (uint32_t)ZS_TURNS_MAX)};
    for (uint32_t i = 0; i < ZS_WORKERS_MAX; i++)
        p->slots[i].fd = ZS_OWN_FD_NONE;
    pthread_mutex_init(&p->start_lock, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->freed, NULL);
    p->helper = settings->helper ? strdup(settings->helper) : find_helper();
    if (p->helper && zs_environment_copy(&p->environment) == 0)
        return 0;
    zs_processes_fini(p);
    return -ENOMEM;
}

/* Also when a forked child has a copy of the descriptor: what is at the other end shall notice. */
static void hang_up(struct zs_own_fd *socket)
{
    if (zs_own_fd_is(socket))
        shutdown(socket->fd, SHUT_RDWR);
    zs_own_fd_close(socket);
}

static void hang_up_all(struct zs_processes *p)
{
    for (uint32_t i = 0; i < ZS_WORKERS_MAX; i++)
        hang_up(&p->slots[i].fd);
    hang_up(&p->control);
}

void zs_processes_abandon(struct zs_processes *p)
{
    for (uint32_t i = 0; i < ZS_WORKERS_MAX; i++)
        zs_own_fd_close(&p->slots[i].fd);
    zs_own_fd_close(&p->control);
}

void zs_processes_fini(struct zs_processes *p)
{
    hang_up_all(p);
    free(p->helper);
    zs_environment_fini(&p->environment);
    zs_buf_fini(&p->identity_text);
    pthread_mutex_destroy(&p->start_lock);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->freed);
}

/* ---- Starting ----------------------------------------------------------------------------------
 */

static int make_sockets(struct zs_own_fd *ret_ours, int *ret_theirs)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -errno;
    *ret_ours = zs_own_fd_make(pair[0]);
    *ret_theirs = pair[1];
    return 0;
}

static void ZS_PRINTF(2, 3) say(struct zs_buf *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    zs_buf_vprintf(why, format, args);
    va_end(args);
}

/* What the helper says first, once. start_lock is held. */
static int greet(struct zs_processes *p, struct zs_buf *ret_why)
{
    struct zs_message hello;
    if (p->has_greeted)
        return 0;
    int error = zs_message_receive(p->control.fd, &hello, zs_message_clock_ns() + start_limit_ns);
    if (error) {
        say(ret_why, "%s started, but did not answer: %s\n", p->helper, strerror(-error));
        return error;
    }
    if (hello.kind != ZS_MESSAGE_HELLO || hello.status != 0 || hello.data.size_B == 0) {
        zs_buf_append(ret_why, hello.text.data, hello.text.size_B);
        error = hello.kind == ZS_MESSAGE_HELLO ? -ENOENT : -EBADMSG;
    } else {
        zs_buf_fini(&p->identity_text);
        p->identity_text = hello.data;
        hello.data = (struct zs_buf){0};
        zs_sha256(zs_buf_span(&p->identity_text), p->identity);
        p->has_greeted = p->has_identity = true;
    }
    zs_message_fini(&hello);
    return error;
}

/* start_lock is held. */
static int start(struct zs_processes *p, struct zs_buf *ret_why)
{
    char pid[32], limit_s[32], limit_B[32];
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    snprintf(limit_s, sizeof(limit_s), "%" PRIu64, (p->time_limit_ns + 999999999u) / 1000000000u);
    snprintf(limit_B, sizeof(limit_B), "%" PRIu64, p->memory_limit_B);
    char *argv[] = {p->helper, pid, limit_s, limit_B, NULL};
    struct zs_own_fd control;
    int theirs = -1, error = make_sockets(&control, &theirs);
    if (error) {
        say(ret_why, "no sockets for the compiler: %s\n", strerror(-error));
        return error;
    }
    error = zs_spawn(argv, p->environment.strings, theirs, &p->pid);
    close(theirs);
    if (error)
        say(ret_why,
            "the compiler's process %s cannot be started: %s. SPIR-V is compiled nowhere else; "
            "native binaries, and what was compiled before, need no compiler\n",
            p->helper, strerror(-error));
    if (error)
        hang_up(&control);
    else
        p->control = control;
    p->has_greeted = false;
    return error;
}

int zs_processes_identity(struct zs_processes *p, struct zs_buf *ret_text, struct zs_buf *ret_why)
{
    pthread_mutex_lock(&p->start_lock);
    int error = p->has_identity ? 0 : start(p, ret_why);
    if (!error && !p->has_identity) {
        error = greet(p, ret_why);
        if (error)
            hang_up(&p->control);
    }
    if (!error)
        zs_buf_append(ret_text, p->identity_text.data, p->identity_text.size_B);
    pthread_mutex_unlock(&p->start_lock);
    return error;
}

/* ---- Connections -------------------------------------------------------------------------------
 */

static int send_socket(int control, int socket)
{
    char byte = 0;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } place = {0};
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = place.bytes,
                             .msg_controllen = sizeof(place.bytes)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &socket, sizeof(int));
    for (;;) {
        if (sendmsg(control, &message, MSG_NOSIGNAL) == 1)
            return 0;
        if (errno != EINTR)
            return -errno;
    }
}

/* A worker that was forked for this. */
static int connect_new(struct zs_processes *p, struct zs_own_fd *ret_fd, struct zs_buf *ret_why)
{
    struct zs_own_fd ours;
    int theirs = -1, error = make_sockets(&ours, &theirs);
    if (error) {
        say(ret_why, "no sockets for the compiler: %s\n", strerror(-error));
        return error;
    }
    pthread_mutex_lock(&p->start_lock);
    error = zs_own_fd_is(&p->control) ? send_socket(p->control.fd, theirs) : -EPIPE;
    if (error) { /* not started yet, ended when it had nothing to do, or was killed */
        hang_up(&p->control);
        error = start(p, ret_why);
        if (!error)
            error = send_socket(p->control.fd, theirs);
        if (error && zs_own_fd_is(&p->control)) /* it says why */
            greet(p, ret_why);
    }
    pthread_mutex_unlock(&p->start_lock);
    close(theirs);
    if (error)
        hang_up(&ours);
    else
        *ret_fd = ours;
    return error;
}

/* A request may be sent before the helper is ready: it is done even if this process ends first. */
static int await_helper(struct zs_processes *p, struct zs_buf *ret_why)
{
    pthread_mutex_lock(&p->start_lock);
    int error = zs_own_fd_is(&p->control) ? greet(p, ret_why) : 0;
    if (error)
        hang_up(&p->control);
    pthread_mutex_unlock(&p->start_lock);
    return error;
}

/* Nothing is ever said before a request: an idle worker that can be read from has ended. */
static bool is_alive(const struct zs_own_fd *worker)
{
    struct pollfd poll_fd = {.fd = worker->fd, .events = POLLIN};
    return zs_own_fd_is(worker) && poll(&poll_fd, 1, 0) == 0;
}

static bool has_turn(const struct zs_processes *p, bool is_background)
{
    uint32_t turns = (p->slot_count + 1) / 2;

    return is_background ? p->background < turns && p->running < p->slot_count
                         : p->running - p->background < p->slot_count;
}

/* A slot of nobody else's, with a live worker if there is one. */
static struct zs_slot *begin(struct zs_processes *p, bool is_background)
{
    struct zs_slot *found = NULL;
    pthread_mutex_lock(&p->lock);
    while (!has_turn(p, is_background))
        pthread_cond_wait(&p->freed, &p->lock);
    p->running++;
    p->background += is_background;
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(p->slots) && (!found || found->fd.fd < 0); i++) {
        struct zs_slot *slot = &p->slots[i];
        if (slot->is_busy)
            continue;
        if (slot->fd.fd >= 0 && !is_alive(&slot->fd))
            hang_up(&slot->fd);
        found = slot->fd.fd >= 0 || !found ? slot : found;
    }
    found->is_busy = true;
    pthread_mutex_unlock(&p->lock);
    return found;
}

static void end(struct zs_processes *p, struct zs_slot *slot, bool is_background)
{
    pthread_mutex_lock(&p->lock);
    slot->is_busy = false;
    p->running--;
    p->background -= is_background;
    pthread_cond_broadcast(&p->freed);
    pthread_mutex_unlock(&p->lock);
}

void zs_processes_rest(struct zs_processes *p)
{
    pid_t gone = 0;
    if (!zs_spawn_adopts())
        return;
    pthread_mutex_lock(&p->lock);
    pthread_mutex_lock(&p->start_lock);
    if (p->running == 0) {
        hang_up_all(p);
        gone = p->pid;
        p->pid = 0;
    }
    pthread_mutex_unlock(&p->start_lock);
    pthread_mutex_unlock(&p->lock);
    if (gone)
        zs_spawn_reap(gone);
}

/* ---- A build -----------------------------------------------------------------------------------
 */

/* How an attempt went: AGAIN leaves everything as it was. */
enum outcome { OUTCOME_SETTLED, OUTCOME_AGAIN };

struct build {
    struct zs_processes *p;
    struct zs_span request, keep;
    struct zs_slot *slot;
    enum zs_compiler_status status;
    struct zs_buf *binary, *text;
};

static void died(struct build *b, const struct zs_message *message)
{
    double limit_s = (double)b->p->time_limit_ns / 1e9;
    b->status = message->status ? ZS_COMPILER_BUILD_FAILED : ZS_COMPILER_UNAVAILABLE;
    if (message->status == SIGXCPU)
        say(b->text, "the compiler did not come to an end within %g s (ZESCOPE_COMPILE_TIMEOUT)\n",
            limit_s);
    else if (message->status > 0)
        say(b->text, "the compiler crashed on this input (signal %d)\n", (int)message->status);
    else if (message->status < 0)
        say(b->text, "the compiler gave up on this input (it ended with %d)\n",
            -1 - (int)message->status);
    zs_buf_append(b->text, message->text.data, message->text.size_B);
}

/* The worker's last word; false: none came. */
static bool take_answer(struct build *b, const struct zs_message *message)
{
    if (message->kind == ZS_MESSAGE_DIED) {
        died(b, message);
    } else if (message->kind == ZS_MESSAGE_DONE && message->status >= ZS_COMPILER_OK &&
               message->status <= ZS_COMPILER_NO_MEMORY) {
        b->status = (enum zs_compiler_status)message->status;
        zs_buf_append(b->text, message->text.data, message->text.size_B);
        zs_buf_append(b->binary, message->data.data, message->data.size_B);
        return b->status == ZS_COMPILER_OK;
    } else {
        b->status = ZS_COMPILER_BUILD_FAILED;
        say(b->text, "the compiler's answer is no answer\n");
    }
    return false;
}

/* Nothing of the build's own made it fail: the helper was killed, or the worker had just ended. */
static bool is_accident(int error, const struct zs_message *message)
{
    return error ? error == -EPIPE || error == -EBADF || error == -ENOTSOCK
                 : message->kind == ZS_MESSAGE_DIED &&
                       (message->status == SIGKILL || message->status == SIGTERM);
}

static enum outcome attempt(struct build *b, bool last)
{
    struct zs_message message = {0};
    /* the processor's time is limited in the worker; this is for what waits for something */
    uint64_t deadline_ns = zs_message_clock_ns() + 2 * b->p->time_limit_ns;
    int error =
        zs_message_send(b->slot->fd.fd, ZS_MESSAGE_REQUEST, 0, b->keep, b->request, deadline_ns);
    if (await_helper(b->p, b->text)) {
        hang_up(&b->slot->fd);
        return OUTCOME_SETTLED;
    }
    do {
        zs_message_fini(&message);
        if (!error)
            error = zs_message_receive(b->slot->fd.fd, &message, deadline_ns);
    } while (!error && message.kind == ZS_MESSAGE_STARTED);
    bool good = false, again = !last && is_accident(error, &message);
    if (!error && !again) {
        good = take_answer(b, &message);
    } else if (!again) {
        b->status = error == -ENOMEM ? ZS_COMPILER_NO_MEMORY : ZS_COMPILER_BUILD_FAILED;
        if (error == -ETIMEDOUT)
            say(b->text,
                "the compiler did not answer within %g s (twice ZESCOPE_COMPILE_TIMEOUT)\n",
                2 * (double)b->p->time_limit_ns / 1e9);
        else
            say(b->text, "the compiler's process is gone: %s\n", strerror(-error));
    }
    zs_message_fini(&message);
    if (!good)
        hang_up(&b->slot->fd);
    return again ? OUTCOME_AGAIN : OUTCOME_SETTLED;
}

enum zs_compiler_status zs_processes_build(struct zs_processes *p, struct zs_span request,
                                           struct zs_span keep, bool is_background,
                                           struct zs_buf *ret_binary, struct zs_buf *ret_text)
{
    struct build b = {.p = p,
                      .request = request,
                      .keep = keep,
                      .slot = begin(p, is_background),
                      .status = ZS_COMPILER_UNAVAILABLE,
                      .binary = ret_binary,
                      .text = ret_text};
    for (int i = 0; i < ATTEMPTS; i++) {
        if (b.slot->fd.fd < 0 && connect_new(p, &b.slot->fd, ret_text) != 0)
            break;
        if (attempt(&b, i == ATTEMPTS - 1) == OUTCOME_SETTLED)
            break;
    }
    end(p, b.slot, is_background);
    return b.status == ZS_COMPILER_OK && ret_binary->error ? ZS_COMPILER_NO_MEMORY : b.status;
}
