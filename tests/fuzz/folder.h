/* SPDX-License-Identifier: MIT */
/* A folder in memory, where there is such, that a harness of recordings fills anew with each input.
 */
#ifndef ZS_TESTS_FUZZ_FOLDER_H
#define ZS_TESTS_FUZZ_FOLDER_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    if (system(command))
        fprintf(stderr, "%s is left behind\n", folder);
}

static void put(const char *name, const uint8_t *data, size_t size_B)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || (size_B && write(fd, data, size_B) != (ssize_t)size_B))
        __builtin_trap();
    close(fd);
}

/* subfolders: as the shell's mkdir -p takes them. */
static void make_folder(const char *subfolders)
{
    char command[256];
    snprintf(folder, sizeof(folder), "%s/zs-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        __builtin_trap();
    atexit(remove_folder);
    snprintf(command, sizeof(command), "cd %s && mkdir -p %s", folder, subfolders);
    if (system(command))
        __builtin_trap();
}

#endif
