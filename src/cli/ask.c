/* SPDX-License-Identifier: MIT */
#include "cli/ask.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noreturn)) static void answer(int (*ask)(const void *question, FILE *out),
                                             const void *question, int fd, const char *folder)
{
    setpgid(0, 0); /* so that what it starts is killed with it */
    int null = open("/dev/null", O_RDWR);
    FILE *out = fdopen(fd, "w");
    if (null < 0 || !out || (folder && chdir(folder)))
        _exit(126);
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    signal(SIGPIPE, SIG_DFL);
    int status = ask(question, out);
    if (fflush(out) && !status)
        status = 1;
    _exit(status); /* no destructors: a driver's may hang too */
}

/* Reads until the end or the time is over; false: time. */
static bool collect(int fd, uint64_t timeout_ms, size_t limit_B, struct zs_buf *ret_text,
                    bool *ret_cut)
{
    uint64_t end_ns = zs_now_ns() + timeout_ms * 1000000;
    size_t left_B = limit_B;
    for (;;) {
        char chunk[65536];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        uint64_t now_ns = zs_now_ns();
        if (now_ns >= end_ns)
            return false;
        int ready = poll(&p, 1, (int)ZS_MIN((end_ns - now_ns) / 1000000 + 1, (uint64_t)1000000));
        if (ready < 0 && errno != EINTR)
            return false;
        ssize_t n = ready > 0 ? read(fd, chunk, sizeof(chunk)) : 0;
        if (ready > 0 && (n == 0 || (n < 0 && errno != EINTR)))
            return true;
        size_t kept_B = n > 0 ? ZS_MIN((size_t)n, left_B) : 0;
        *ret_cut |= n > 0 && kept_B < (size_t)n;
        left_B -= kept_B;
        zs_buf_append(ret_text, chunk, kept_B);
    }
}

static int wait_for(pid_t pid, bool kill_first)
{
    int status = 0;
    if (kill_first)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    kill(-pid, SIGKILL); /* what it left behind */
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct zs_asked zs_cli_ask(int (*ask)(const void *question, FILE *out), const void *question,
                           const char *folder, uint64_t timeout_ms, size_t limit_B,
                           struct zs_buf *ret_text)
{
    struct zs_asked asked = {0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return asked;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        answer(ask, question, ends[1], folder);
    int saved_errno = errno;
    close(ends[1]);
    if (pid > 0) {
        setpgid(pid, pid);
        asked.asked = true;
        asked.timed_out = !collect(ends[0], timeout_ms, limit_B, ret_text, &asked.cut);
        asked.status = wait_for(pid, asked.timed_out);
    }
    close(ends[0]);
    errno = saved_errno;
    return asked;
}
