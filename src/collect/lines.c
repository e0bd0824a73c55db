/* SPDX-License-Identifier: MIT */
#include "collect/lines.h"

#include "base/cache_folder.h"
#include "base/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "without-lines"

/* In the driver's cache. false: there is none. */
static bool make_folder(char path[static ZS_LINES_PATH_CHARS])
{
    char *cache = zs_cache_folder(secure_getenv("ZESCOPE_CACHE_DIR"));
    int n = cache ? snprintf(path, ZS_LINES_PATH_CHARS, "%s/" FOLDER, cache) : -1;
    bool fits = n > 0 && n < ZS_LINES_PATH_CHARS - ZS_SHA256_HEX_CHARS - 2;
    if (fits)
        (void)mkdir(cache, 0700);
    free(cache);
    return fits && (!mkdir(path, 0700) || errno == EEXIST);
}

/* The process that has left it; 0: no file, or nothing that can be read. */
static pid_t owner_of(const char *path)
{
    char text[16] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
}

static void leave(const char *path)
{
    char text[16];
    int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    (void)!write(fd, text, (size_t)n);
    close(fd);
}

bool zs_lines_begin(struct zs_collector *c, struct zs_span program, struct zs_lines *ret)
{
    char hex[ZS_SHA256_HEX_CHARS + 1];
    ret->path[0] = '\0';
    if (!program.size_B || !make_folder(ret->path)) {
        ret->path[0] = '\0';
        return true;
    }
    zs_sha256_hex(program, hex);
    size_t length = strlen(ret->path);
    snprintf(ret->path + length, sizeof(ret->path) - length, "/%s", hex);
    pid_t owner = owner_of(ret->path);
    bool is_gone = owner > 0 && owner != getpid() && kill(owner, 0) && errno == ESRCH;
    if (is_gone) {
        zs_session_note(c,
                        "a program is built without -g, and has no lines: the compiler did not "
                        "come back from it with -g before (%s: remove it to try again)",
                        ret->path);
        ret->path[0] = '\0';
        return false;
    }
    leave(ret->path);
    return true;
}

void zs_lines_end(struct zs_lines *lines)
{
    if (lines->path[0])
        (void)unlink(lines->path);
    lines->path[0] = '\0';
}
