/* SPDX-License-Identifier: MIT */
#include "cli/demangle.h"

#include "base/name_map.h"
#include "base/sanitizer.h"
#include "base/vec.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pair on the socket is a u32 of its size and so many bytes. */
enum {
    NAME_MOST_B = 8 << 10,
    TEXT_MOST_B = 16 << 10,
    MEMORY_MOST_B = 256 << 20,
    WAIT_MS = 1000,
    FAILURES_MOST = 4, /* then no more is tried */
    KNOWN_MOST = 100000,
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || ZS_HAS_ASAN || ZS_HAS_TSAN
enum { IS_SANITIZED = true };
#else
enum { IS_SANITIZED = false };
#endif

/* ---- the process that does it ---- */

typedef char *demangle_fn(const char *name, char *buffer, size_t *size_B, int *status);

static bool read_all(int fd, void *to, size_t size_B)
{
    for (char *at = to; size_B;) {
        ssize_t n = read(fd, at, size_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size_B -= (size_t)n;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t size_B)
{
    for (const char *at = from; size_B;) {
        ssize_t n = send(fd, at, size_B, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size_B -= (size_t)n;
    }
    return true;
}

int zs_cli_demangle_serve(void)
{
    const struct rlimit memory = {MEMORY_MOST_B, MEMORY_MOST_B}, none = {0, 0};
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    demangle_fn *demangle =
        library ? (demangle_fn *)(uintptr_t)dlsym(library, "__cxa_demangle") : NULL;
    static char name[NAME_MOST_B + 1];
    uint32_t size_B;
    if (!IS_SANITIZED) /* their shadows are large */
        setrlimit(RLIMIT_DATA, &memory);
    setrlimit(RLIMIT_CORE, &none);
    while (demangle && read_all(0, &size_B, sizeof(size_B)) && size_B <= NAME_MOST_B &&
           read_all(0, name, size_B)) {
        int status = 0;
        name[size_B] = '\0';
        char *text = demangle(name, NULL, NULL, &status);
        size_t length = text && !status ? strnlen(text, TEXT_MOST_B + 1) : 0;
        uint32_t answer_B = length > TEXT_MOST_B ? 0 : (uint32_t)length;
        if (!write_all(0, &answer_B, sizeof(answer_B)) || !write_all(0, text, answer_B))
            break;
        free(text);
    }
    return 0;
}

/* ---- who asks ---- */

static struct {
    bool is_off;
    int fd; /* of the process; 0: none */
    pid_t pid;
    unsigned failures;
    struct zs_name_map map; /* name -> index in texts */
    struct {
        const char **items; /* NULL: it is none */
        size_t count, capacity;
    } texts;
} names;

void zs_cli_demangle_off(void)
{
    names.is_off = true;
}

static void stop(void)
{
    if (!names.fd)
        return;
    close(names.fd);
    kill(names.pid, SIGKILL);
    while (waitpid(names.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    names.fd = 0;
}

static bool start(void)
{
    int ends[2];
    if (names.fd)
        return true;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return false;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        int null = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], 0);
        dup2(null, 1);
        dup2(null, 2);
        execl("/proc/self/exe", "zescope", "--demangle", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return false;
    }
    if (!names.texts.count)
        atexit(stop);
    names.fd = ends[0];
    names.pid = pid;
    return true;
}

static bool ask(const char *name, size_t size_B, char ret_text[TEXT_MOST_B], uint32_t *ret_B)
{
    struct pollfd p = {.fd = names.fd, .events = POLLIN};
    uint32_t name_B = (uint32_t)size_B;
    return write_all(names.fd, &name_B, sizeof(name_B)) && write_all(names.fd, name, size_B) &&
           poll(&p, 1, WAIT_MS) == 1 && read_all(names.fd, ret_B, sizeof(*ret_B)) &&
           *ret_B <= TEXT_MOST_B && read_all(names.fd, ret_text, *ret_B);
}

/* Of a SYCL kernel the name is that of a type. */
static char *copy_of(const char *text, uint32_t size_B)
{
    static const char prefix[] = "typeinfo name for ";
    size_t skip = size_B > sizeof(prefix) - 1 && !strncmp(text, prefix, sizeof(prefix) - 1)
                      ? sizeof(prefix) - 1
                      : 0;
    return strndup(text + skip, size_B - skip);
}

const char *zs_cli_demangle(const char *name, size_t size_B)
{
    char text[TEXT_MOST_B], *key;
    uint32_t text_B = 0;
    if (names.is_off || size_B < 4 || size_B > NAME_MOST_B || strncmp(name, "_Z", 2))
        return NULL;
    if (!(key = strndup(name, size_B)))
        return NULL;
    uint32_t known = zs_name_map_get(&names.map, key);
    if (known != ZS_NAME_MAP_NONE || names.failures >= FAILURES_MOST ||
        names.texts.count >= KNOWN_MOST) {
        free(key);
        return known != ZS_NAME_MAP_NONE ? names.texts.items[known] : NULL;
    }
    if (!start() || !ask(name, size_B, text, &text_B)) {
        stop();
        names.failures++;
        text_B = 0;
    }
    const char *found = text_B ? copy_of(text, text_B) : NULL;
    if (ZS_VEC_PUSH(&names.texts, found) &&
        zs_name_map_put(&names.map, key, (uint32_t)names.texts.count - 1))
        return found; /* the map has the key */
    free(key);
    return found;
}

static bool is_of_name(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '$' || c == '.';
}

struct zs_span zs_cli_readable(struct zs_buf *scratch, struct zs_span text)
{
    size_t plain = 0;
    bool has_any = false;
    if (names.is_off)
        return text;
    for (size_t i = 0; i + 2 < text.size_B; i++) {
        const uint8_t *at = memchr(text.data + i, '_', text.size_B - i - 2);
        if (!at)
            break;
        i = (size_t)(at - text.data);
        if (at[1] != 'Z' || (i && is_of_name(at[-1])))
            continue;
        size_t end = i;
        while (end < text.size_B && is_of_name(text.data[end]))
            end++;
        const char *found = zs_cli_demangle((const char *)at, end - i);
        if (found) {
            size_t next = end, width = strlen(found);
            while (next < text.size_B && text.data[next] == ' ')
                next++;
            zs_buf_append(scratch, text.data + plain, i - plain);
            zs_buf_puts(scratch, found);
            plain = end;
            if (next - end > 1) { /* a cell of a table: what stands behind it stays in its column */
                zs_buf_pad(scratch, ' ', width < next - i ? next - i - width : 1);
                plain = next;
            }
            has_any = true;
        }
        i = end - 1;
    }
    if (!has_any)
        return text;
    zs_buf_append(scratch, text.data + plain, text.size_B - plain);
    return scratch->error ? text : zs_buf_span(scratch);
}
