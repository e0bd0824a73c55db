/* SPDX-License-Identifier: MIT */
#include "cli/source.h"

#include "base/buf.h"
#include "base/default_device.h"
#include "cli/ask.h"
#include "cli/scratch.h"

#include <zescope/isa.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMPILE_MAX_MS = 120 * 1000, LOG_MAX_B = 1 << 20 };

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size > end_size && !strcmp(text + size - end_size, end);
}

static bool is_spirv(const char *path)
{
    static const uint8_t magic[2][4] = {{0x03, 0x02, 0x23, 0x07}, {0x07, 0x23, 0x02, 0x03}};
    uint8_t start[4] = {0};
    FILE *file = fopen(path, "rbe");
    bool is = file && fread(start, 1, sizeof(start), file) == sizeof(start) &&
              (!memcmp(start, magic[0], 4) || !memcmp(start, magic[1], 4));
    if (file)
        fclose(file);
    return is;
}

bool zs_cli_is_source(const char *path)
{
    return ends_with(path, ".cl") || ends_with(path, ".clcpp") || is_spirv(path);
}

struct compile {
    const char *path, *device, *options, *folder;
};

/* In a process of its own, whose standard output is `out`: becomes the compiler. */
static int become_compiler(const void *question, FILE *out)
{
    const struct compile *c = question;
    struct zs_buf options = {0};
    const char *slash = strrchr(c->path, '/');
    /* as compilers of C do, a file finds what lies beside it */
    zs_buf_printf(&options, "-g -I %.*s %s", slash ? (int)(slash - c->path) : 1,
                  slash ? c->path : ".", c->options ? c->options : "");
    zs_buf_putc(&options, '\0');
    if (options.error || dup2(fileno(out), STDOUT_FILENO) < 0 ||
        dup2(fileno(out), STDERR_FILENO) < 0)
        return 1;
    const char *words[] = {"ocloc",
                           "compile",
                           "-file",
                           c->path,
                           "-device",
                           c->device,
                           "-options",
                           (char *)options.data,
                           "-output",
                           "module",
                           "-out_dir",
                           c->folder,
                           is_spirv(c->path) ? "-spirv_input" : NULL,
                           NULL};
    execvp(words[0], (char *const *)(uintptr_t)words);
    return ZS_EXIT_NOT_FOUND;
}

/* The module in the folder that the compiler wrote to: its name has the family of the device. */
static bool find_module(const char *folder, char ret_path[PATH_MAX])
{
    DIR *dir = opendir(folder);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        found = ends_with(entry->d_name, ".bin");
        if (found)
            snprintf(ret_path, PATH_MAX, "%.3000s/%s", folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}

/* What the compiler said, without how it was called: that names our folder. */
static void print_log(const struct zs_buf *log)
{
    const char *at = (const char *)log->data, *end = at + log->size_B;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline ? newline + 1 : end;
        if (strncmp(at, "Command was:", ZS_MIN((size_t)(end - at), 12)) != 0)
            zs_cli_print_stderr("%.*s", (int)(next - at), at);
        at = next;
    }
}

static int tell_failure(const struct compile *c, const struct zs_asked *asked,
                        const struct zs_buf *log)
{
    if (!asked->asked)
        return zs_cli_fail("no process can be made: %s", strerror(errno));
    if (asked->status == ZS_EXIT_NOT_FOUND)
        return zs_cli_fail("%s is a source: ocloc, which compiles it, is not in PATH (Debian's "
                           "package intel-opencl-icd or intel-ocloc)",
                           c->path);
    if (asked->timed_out)
        return zs_cli_fail("%s: ocloc took more than %d s and was stopped", c->path,
                           COMPILE_MAX_MS / 1000);
    print_log(log);
    return zs_cli_fail("%s (%s) cannot be compiled for %s", c->path,
                       is_spirv(c->path) ? "SPIR-V" : "OpenCL C", c->device);
}

int zs_cli_compile(const char *path, const char *device, const char *options,
                   char ret_folder[PATH_MAX], char ret_path[PATH_MAX])
{
    struct zs_buf log = {0};
    if (access(path, R_OK))
        return zs_cli_fail("cannot open %s: %s", path, strerror(errno));
    if (device && zs_isa_platform_from_device(device) == ZS_ISA_NONE) {
        zs_cli_fail("--device %s: no device of this name is known that sources are compiled for; "
                    "one name is expected, such as skl, tgllp, dg2, pvc, bmg",
                    device);
        return ZS_EXIT_USAGE;
    }
    if (!zs_cli_scratch_make(ret_folder))
        return ZS_EXIT_FAILED;
    const struct compile c = {path, device ? device : zs_default_intel_device(), options,
                              ret_folder};
    struct zs_asked asked = zs_cli_ask(become_compiler, &c, NULL, COMPILE_MAX_MS, LOG_MAX_B, &log);
    /* ocloc of Debian 12 may abort at its exit with good files written: these count */
    bool made = asked.asked && find_module(ret_folder, ret_path);
    int status = made ? ZS_EXIT_OK : tell_failure(&c, &asked, &log);
    zs_buf_fini(&log);
    if (!made)
        zs_cli_scratch_remove(ret_folder);
    return status;
}
