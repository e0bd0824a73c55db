/* SPDX-License-Identifier: MIT */
/* Questions that are asked in a process of their own. */
#include "base/clock.h"
#include "cli/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned now_ms(void)
{
    return (unsigned)(zs_now_ns() / 1000000);
}

__attribute__((noreturn)) static void answer(int (*ask)(const void *question, FILE *out),
                                             const void *question, int fd, const char *folder)
{
    setpgid(0, 0); /* so that what it starts is killed with it */
    int null = open("/dev/null", O_RDWR);
    FILE *out = fdopen(fd, "w");
    if (null < 0 || !out || (folder[0] && chdir(folder)))
        _exit(126);
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    signal(SIGPIPE, SIG_DFL);
    int status = ask(question, out);
    fflush(out);
    _exit(status); /* no destructors: a driver's may hang too */
}

/* Reads until the end, the limit or the time is over; false: time. */
static bool collect(int fd, unsigned timeout_ms, struct doctor_answer *ret)
{
    unsigned start_ms = now_ms();
    size_t size_B = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        unsigned passed_ms = now_ms() - start_ms;
        if (passed_ms >= timeout_ms)
            return false;
        int ready = poll(&p, 1, (int)(timeout_ms - passed_ms));
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        char scratch[512];
        bool full = size_B + 1 >= sizeof(ret->text);
        ssize_t n = read(fd, full ? scratch : ret->text + size_B,
                         full ? sizeof(scratch) : sizeof(ret->text) - 1 - size_B);
        if (n <= 0)
            return true;
        size_B += full ? 0 : (size_t)n;
    }
}

static void remove_folder(const char *folder)
{
    DIR *dir = folder[0] ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static void wait_for(pid_t pid, bool kill_first, struct doctor_answer *ret)
{
    int status = 0;
    if (kill_first)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    kill(-pid, SIGKILL); /* what it left behind */
    ret->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void doctor_ask(int (*ask)(const void *question, FILE *out), const void *question,
                unsigned timeout_ms, struct doctor_answer *ret)
{
    char folder[] = "/tmp/zescope-doctor-XXXXXX";
    int ends[2];
    memset(ret, 0, sizeof(*ret));
    if (!mkdtemp(folder))
        folder[0] = '\0';
    if (pipe2(ends, O_CLOEXEC)) {
        remove_folder(folder);
        return;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        answer(ask, question, ends[1], folder);
    close(ends[1]);
    if (pid > 0) {
        setpgid(pid, pid);
        ret->asked = true;
        ret->timed_out = !collect(ends[0], timeout_ms, ret);
        wait_for(pid, ret->timed_out, ret);
    }
    close(ends[0]);
    remove_folder(folder);
}

bool doctor_value(const struct doctor_answer *from, const char *key, char *ret_value, size_t size_B)
{
    size_t length = strlen(key);
    for (const char *line = from->text; line && *line;) {
        const char *end = strchr(line, '\n');
        if (!strncmp(line, key, length) && line[length] == '=') {
            size_t value_B = (end ? (size_t)(end - line) : strlen(line)) - length - 1;
            snprintf(ret_value, size_B, "%.*s", (int)value_B, line + length + 1);
            return true;
        }
        line = end ? end + 1 : NULL;
    }
    if (size_B)
        ret_value[0] = '\0';
    return false;
}

void doctor_describe_end(const struct doctor_answer *from, char *ret_text, size_t size_B)
{
    if (!from->asked)
        snprintf(ret_text, size_B, "could not be asked: no process could be made");
    else if (from->timed_out)
        snprintf(ret_text, size_B, "did not answer in time and was stopped");
    else if (from->status > 128)
        snprintf(ret_text, size_B, "crashed (%s)", strsignal(from->status - 128));
    else
        snprintf(ret_text, size_B, "ended with status %d", from->status);
}
