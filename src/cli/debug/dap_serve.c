/* SPDX-License-Identifier: MIT */
#include "cli/debug/dap_serve.h"
#include "cli/debug/shell.h"
#include "cli/options.h"

#include "base/diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    WAIT_MS = 20, /* for the device, before the client is looked at again */
    PIPE_B = 1 << 20,
    DRAIN_MAX_B = 16 << 20, /* of output before one event: others write, too */
};

/* ---- one session ---- */

struct session {
    struct zs_dap *dap;
    int in, out;
    int app[2]; /* to read: stdout and stderr */
    bool in_ended;
    struct zs_shell shell; /* commands of its console */
};

static int wake_fds[2]; /* for the handler of signals */

static void wake(int signal_number)
{
    int saved = errno;
    ssize_t ignored = write(wake_fds[1], "", 1);
    (void)ignored;
    errno = saved;
}

static int write_client(void *user, const void *data, size_t size_B)
{
    const struct session *s = user;
    const uint8_t *at = data;
    while (size_B) {
        ssize_t n = write(s->out, at, size_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -EPIPE;
        at += n;
        size_B -= (size_t)n;
    }
    return 0;
}

static bool readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

static void read_client(struct session *s)
{
    uint8_t bytes[65536];
    ssize_t n = read(s->in, bytes, sizeof(bytes));
    if (n > 0)
        zs_dap_feed(s->dap, bytes, (size_t)n);
    else if (!n || errno != EINTR)
        s->in_ended = true;
}

static void poll_client(void *user)
{
    struct session *s = user;
    if (!s->in_ended && readable(s->in))
        read_client(s);
}

static void read_app(struct session *s, int which)
{
    uint8_t bytes[65536];
    ssize_t n;
    for (size_t total = 0;
         total < DRAIN_MAX_B && (n = read(s->app[which], bytes, sizeof(bytes))) > 0;
         total += (size_t)n)
        zs_dap_output(s->dap, which, bytes, (size_t)n);
}

static void drain(void *user)
{
    read_app(user, 0);
    read_app(user, 1);
}

/* ---- the console ---- */

static int run_command(void *user, struct zs_debugger *debug, const char *line, struct zs_buf *out,
                       struct zs_diag *diag)
{
    struct session *s = user;
    if (!zs_shell_is_command(line))
        return -ENOENT;
    s->shell.debug = debug;
    s->shell.capture = out;
    s->shell.runs = false;
    uint32_t errors = s->shell.errors;
    zs_shell_execute(&s->shell, line);
    s->shell.capture = NULL;
    if (s->shell.errors != errors) {
        int length = (int)ZS_MIN(out->size_B, (size_t)400);
        length -= length && out->data[length - 1] == '\n';
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "%.*s", length,
                           (const char *)out->data);
    }
    return s->shell.runs ? ZS_DAP_COMMAND_RUNS : 0;
}

static void complete(void *user, struct zs_debugger *debug, const char *line, size_t length,
                     size_t *ret_begin, void (*put)(void *put_user, const char *word),
                     void *put_user)
{
    struct session *s = user;
    s->shell.debug = debug;
    zs_shell_complete(&s->shell, line, length, ret_begin, put, put_user);
}

/* Replaces fd of this process by a pipe; its other end, or -1. */
static int capture(int fd)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_B);
    int error = dup2(ends[1], fd) < 0;
    close(ends[1]);
    return error ? -1 : ends[0];
}

static bool start_session(struct session *s)
{
    const struct sigaction action = {.sa_handler = wake};
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    fflush(NULL);
    s->app[0] = capture(STDOUT_FILENO);
    s->app[1] = capture(STDERR_FILENO);
    if (null_fd < 0 || s->app[0] < 0 || s->app[1] < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
        pipe2(wake_fds, O_CLOEXEC | O_NONBLOCK))
        return false;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < ZS_ARRAY_LEN(signals); i++)
        sigaction(signals[i], &action, NULL);
    return true;
}

/* False: a signal says that it is over. */
static bool wait_session(struct session *s)
{
    struct pollfd fds[] = {{.fd = wake_fds[0], .events = POLLIN},
                           {.fd = s->app[0], .events = POLLIN},
                           {.fd = s->app[1], .events = POLLIN},
                           {.fd = s->in, .events = POLLIN}};
    nfds_t count = zs_dap_full(s->dap) ? 3 : 4;
    if (poll(fds, count, zs_dap_busy(s->dap) ? 0 : -1) < 0)
        return errno == EINTR;
    for (int which = 0; which < 2; which++) {
        if (fds[1 + which].revents)
            read_app(s, which);
    }
    if (count == 4 && fds[3].revents)
        read_client(s);
    return !fds[0].revents;
}

int zs_dap_serve(struct zs_dap_options *options, int in_fd, int out_fd)
{
    struct session s = {.in = fcntl(in_fd, F_DUPFD_CLOEXEC, 3),
                        .out = fcntl(out_fd, F_DUPFD_CLOEXEC, 3),
                        .shell = {.editor = true, .exit_status = -1}};
    options->user = &s;
    options->write = write_client;
    options->poll = poll_client;
    options->drain = drain;
    options->command = run_command;
    options->complete = complete;
    if (s.in < 0 || s.out < 0 || !start_session(&s) || zs_dap_open(options, &s.dap))
        return zs_cli_fail("a session cannot be started: %s", strerror(errno));
    while (!zs_dap_ended(s.dap) && !s.in_ended && wait_session(&s))
        zs_dap_work(s.dap, WAIT_MS);
    zs_dap_close(s.dap);
    zs_shell_fini(&s.shell);
    return ZS_EXIT_OK;
}

/* ---- sockets ---- */

static int fail_socket(int fd, const char *where)
{
    zs_cli_fail("%s: %s", where, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int zs_dap_listen_port(uint16_t port, uint16_t *ret_port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size_B = sizeof(address);
    char where[32];
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(where, sizeof(where), "127.0.0.1:%u", (unsigned)port);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
        bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 8) ||
        getsockname(fd, (struct sockaddr *)&address, &size_B))
        return fail_socket(fd, where);
    *ret_port = ntohs(address.sin_port);
    return fd;
}

/* What was left by one that has ended: a socket on which nobody listens. */
static void remove_old(const struct sockaddr_un *address)
{
    struct stat st;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!lstat(address->sun_path, &st) && S_ISSOCK(st.st_mode) && fd >= 0 &&
        connect(fd, (const struct sockaddr *)address, sizeof(*address)) && errno == ECONNREFUSED)
        unlink(address->sun_path);
    if (fd >= 0)
        close(fd);
}

int zs_dap_listen_path(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return fail_socket(-1, path);
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    remove_old(&address);
    mode_t mask = umask(0077);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 8);
    umask(mask);
    return error ? fail_socket(fd, path) : fd;
}

/* Another user of this machine may connect to a port, and would have programs run as this one. The
 * kernel's table says whose the other end is. */
static bool port_peer_is_own(const struct sockaddr_in *peer, const struct sockaddr_in *own)
{
    FILE *table = fopen("/proc/net/tcp", "re");
    char line[512];
    bool found = false;
    while (table && !found && fgets(line, sizeof(line), table)) {
        unsigned local, local_port, remote, remote_port, uid;
        if (sscanf(line, " %*u: %x:%x %x:%x %*x %*s %*s %*s %u", &local, &local_port, &remote,
                   &remote_port, &uid) == 5 &&
            local == peer->sin_addr.s_addr && local_port == ntohs(peer->sin_port) &&
            remote == own->sin_addr.s_addr && remote_port == ntohs(own->sin_port))
            found = uid == geteuid() || !uid;
    }
    if (table)
        fclose(table);
    return found;
}

static bool peer_is_own(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
    } peer = {0}, own = {0};
    struct ucred cred;
    socklen_t peer_B = sizeof(peer), own_B = sizeof(own), cred_B = sizeof(cred);
    if (getpeername(fd, &peer.any, &peer_B) || getsockname(fd, &own.any, &own_B))
        return false;
    if (own.any.sa_family == AF_INET)
        return port_peer_is_own(&peer.in, &own.in);
    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &cred_B) &&
           (cred.uid == geteuid() || !cred.uid);
}

/* What the client sends first says whether it speaks the protocol: a page in a browser can have
 * requests sent to a port of this machine, with a message of the protocol in them. */
static bool speaks_dap(int fd)
{
    static const char first[] = "Content-", why[] = "no client of the Debug Adapter Protocol, "
                                                    "whose messages begin with Content-Length";
    char line[64] = "", answer[256];
    ssize_t n = recv(fd, line, sizeof(first) - 1, MSG_PEEK | MSG_WAITALL);
    if (n <= 0 || !strncasecmp(line, first, (size_t)n))
        return true;
    n = recv(fd, line, sizeof(line) - 1, MSG_PEEK);
    line[n > 0 ? n : 0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    zs_cli_fail("%s, was turned away: it sent '%s'", why, line);
    int length = snprintf(answer, sizeof(answer),
                          "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
                          "Connection: close\r\n\r\nzescope dap: this is %s\n",
                          why);
    send(fd, answer, (size_t)length, MSG_NOSIGNAL);
    return false;
}

int zs_dap_accept(struct zs_dap_options *options, int listen_fd, bool once)
{
    signal(SIGCHLD, SIG_IGN); /* nothing is left of sessions that end */
    for (;;) {
        int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return zs_cli_fail("accept: %s", strerror(errno));
        if (!peer_is_own(fd)) {
            zs_cli_fail("a client of another user was turned away");
            close(fd);
            continue;
        }
        pid_t child = once ? 0 : fork();
        if (!child) {
            if (!speaks_dap(fd)) {
                close(fd);
                if (once)
                    continue;
                return ZS_EXIT_FAILED;
            }
            signal(SIGCHLD, SIG_DFL);
            close(listen_fd);
            return zs_dap_serve(options, fd, fd);
        }
        if (child < 0)
            zs_cli_fail("fork: %s", strerror(errno));
        close(fd);
    }
}
