/* SPDX-License-Identifier: MIT */
/*
 * What a program did not give back, with check `leak`: told when the process ends, in the order of
 * the library's destructors, so after the program's own (atexit, static objects). Of one place in
 * the program there is one report, with a count. A process that ends otherwise tells nothing.
 */
#ifndef ZS_DRIVER_LEAKS_H
#define ZS_DRIVER_LEAKS_H

#include "base/compiler.h"

struct zs_ze_context;

enum zs_leak_memory {
    ZS_LEAK_HOST,
    ZS_LEAK_DEVICE,
    ZS_LEAK_SHARED,
    ZS_LEAK_IPC,
    ZS_LEAK_VIRTUAL,
    ZS_LEAK_MEMORY_COUNT
};

/* A context is being destroyed: remember what memory is still in it. */
void zs_leaks_of_context(struct zs_ze_context *context);
/* size_B of memory were not freed. ended: by the time when its context was destroyed. */
void zs_leaks_memory(enum zs_leak_memory kind, uint64_t size_B, uint64_t origin, bool ended);
void zs_leaks_after_fork(void);

/* memory/memory.c and memory/virtual.c: call zs_leaks_memory() for what the program allocated. */
void zs_memory_tell_leaks(struct zs_ze_context *context, bool ended);
void zs_virtual_tell_leaks(struct zs_ze_context *context, bool ended);

#endif
