/* SPDX-License-Identifier: MIT */
/* What a debugger finds out about a process before it talks to it: /proc. */
#include "driver/debug/debug.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ENVIRON_B_MAX = 4 << 20 };

static bool read_proc(uint32_t pid, const char *name, struct zs_buf *out)
{
    char path[64], part[4096];
    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;
    if (fd < 0)
        return false;
    while (out->size_B < ENVIRON_B_MAX && (got = read(fd, part, sizeof(part))) > 0)
        zs_buf_append(out, part, (size_t)got);
    close(fd);
    return !out->error;
}

bool zs_debug_process_is_alive(uint32_t pid)
{
    struct zs_buf text = {0};
    bool alive = read_proc(pid, "stat", &text) && text.size_B;
    const char *name_end = alive ? strrchr(zs_buf_cstr(&text), ')') : NULL;
    alive = name_end && name_end[1] == ' ' && name_end[2] != 'Z' && name_end[2] != 'X';
    zs_buf_fini(&text);
    return alive;
}

/* Within exec a process has no environment for a moment, although what started it (posix_spawn,
 * vfork) has gone on: it is waited for, for a second. */
static bool read_environment(uint32_t pid, struct zs_buf *text)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    bool ok = read_proc(pid, "environ", text);
    for (int i = 0; i < 1000 && ok && !text->size_B; i++) {
        nanosleep(&pause, NULL);
        ok = read_proc(pid, "environ", text);
    }
    return ok;
}

bool zs_debug_process_is_enabled(uint32_t pid)
{
    static const char setting[] = "ZET_ENABLE_PROGRAM_DEBUGGING=1";
    struct zs_buf text = {0};
    bool found = false;
    if (read_environment(pid, &text)) {
        for (size_t at_B = 0; at_B < text.size_B && !found;) {
            size_t length = strnlen((const char *)text.data + at_B, text.size_B - at_B);
            found = length == sizeof(setting) - 1 && memcmp(text.data + at_B, setting, length) == 0;
            at_B += length + 1;
        }
    }
    zs_buf_fini(&text);
    return found;
}
