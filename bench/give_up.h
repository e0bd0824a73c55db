/* SPDX-License-Identifier: MIT */
/* A sentence on stderr and the end of the process, with status 1. */
#ifndef ZS_BENCH_GIVE_UP_H
#define ZS_BENCH_GIVE_UP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((format(printf, 1, 2), noreturn)) static inline void give_up(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

#endif
