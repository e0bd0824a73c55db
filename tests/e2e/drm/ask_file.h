/* SPDX-License-Identifier: MIT */
#ifndef ASK_FILE_H
#define ASK_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The whole file; nothing without it. */
static inline uint8_t *ask_read_file(const char *path, size_t *ret_size_B)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(3);
    }
    fseek(f, 0, SEEK_END);
    long size_B = ftell(f);
    rewind(f);
    uint8_t *data = malloc((size_t)size_B + 1);
    *ret_size_B = data ? fread(data, 1, (size_t)size_B, f) : 0;
    fclose(f);
    return data;
}

#endif
