/* SPDX-License-Identifier: MIT */
/*
 * A recording whose backtraces' files are the input: the parts, separated by the byte 0x1e, are the
 * .maps and the .symbols of a process, and the addresses to look up, eight bytes each.
 */
#include "record/symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

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
    snprintf(path, sizeof(path), "%s/trace/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size_B) != (ssize_t)size_B)
        __builtin_trap();
    close(fd);
}

static void make_folder(void)
{
    char command[256];
    snprintf(folder, sizeof(folder), "%s/zs-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder))
        __builtin_trap();
    atexit(remove_folder);
    snprintf(command, sizeof(command), "mkdir %s/trace", folder);
    if (system(command))
        __builtin_trap();
    put("1-0-0.pftrace", (const uint8_t *)"", 0);
}

static void look_up(struct zs_symbols *symbols, uint64_t pc)
{
    const struct zs_symbol_frame *frames;
    uint32_t count = zs_symbols_frames(symbols, 1, pc, &frames);
    if (!count)
        __builtin_trap();
    for (uint32_t i = 0; i < count; i++) {
        char text[64];
        zs_symbol_format(&frames[i], text, sizeof(text));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    static const char *const names[] = {"1-0.maps", "1-0.symbols"};
    struct zs_symbols *symbols;
    if (!folder[0])
        make_folder();
    for (size_t i = 0; i < ZS_ARRAY_LEN(names); i++) {
        const uint8_t *end = size_B ? memchr(data, 0x1e, size_B) : NULL;
        size_t part_B = end ? (size_t)(end - data) : size_B;
        put(names[i], data, part_B);
        data += part_B;
        size_B -= part_B;
        if (end) {
            data++;
            size_B--;
        }
    }
    if (zs_symbols_open(folder, &symbols, NULL))
        return 0;
    for (; size_B >= 8; data += 8, size_B -= 8) {
        uint64_t pc;
        memcpy(&pc, data, sizeof(pc));
        look_up(symbols, pc);
    }
    look_up(symbols, 0);
    zs_symbols_close(symbols);
    return 0;
}
