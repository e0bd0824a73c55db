/* SPDX-License-Identifier: MIT */
/*
 * SPIR-V to machine code by Intel's offline compiler, in processes of its own.
 *
 * The application's process never loads the compiler. What does is `zescope-compiler`
 * (src/compiler/helper.c): started by the first build that no cache answers, it loads the compiler
 * once and forks a worker for each build that runs at the same time. A worker that crashes, hangs
 * or takes too much memory costs that build; the next one gets another worker.
 *
 *     application ── control ── zescope-compiler ─┬─ worker ── a build
 *          └───────── a socket per worker ────────┴─ worker ── a build
 *
 * What the application notices of all this: a few descriptors (close-on-exec), which it may close;
 * they are used after proof that they are still ours. The processes are no children of it that
 * wait() reports and send it no SIGCHLD (spawn.c says how, and where that is not possible), are in
 * a session of their own, and end when it does; what is made for later runs alone may take a few
 * seconds longer.
 *
 * What was compiled before is remembered: in memory, and in files of the user's (cache.h, disk.h).
 * Threads that build the same thing at the same time share one build.
 */
#ifndef ZS_COMPILER_COMPILER_H
#define ZS_COMPILER_COMPILER_H

#include "base/buf.h"

struct zs_compiler_settings {
    const char *helper;       /* path of zescope-compiler; NULL: found from the driver's library */
    uint64_t time_limit_ns;   /* of CPU time of a build */
    uint64_t memory_limit_B;  /* of address space of a worker; 0: by the machine's memory */
    bool remembers;           /* false: neither cache */
    const char *cache_folder; /* of files; NULL: zescope in the user's cache folder; "": none */
    uint64_t cache_B;         /* of files */
    uint64_t cache_memory_B;
};

struct zs_compiler_request {
    const char *device; /* as ocloc names it */
    const char *options, *internal_options;
    uint32_t unit_count; /* more than one: they are linked */
    const struct zs_span *units;
    struct zs_span hint; /* what may make the result better, but does not name it */
    bool is_anew;        /* what caches have is not good enough, and is replaced */
    bool is_source;      /* OpenCL C, one unit with its NUL: SPIR-V is made of it */
    /* What no cache answers is ZS_COMPILER_UNAVAILABLE, or _WANTED if the files know that it was
     * asked for before. Starts nothing. */
    bool only_known;
    /* Nobody waits for it: others go first, and it is ZS_COMPILER_UNAVAILABLE where the processes
     * would be children of this one. It is finished and kept if this process ends before. */
    bool is_background;
};

enum zs_compiler_status {
    ZS_COMPILER_OK,
    ZS_COMPILER_BUILD_FAILED,
    ZS_COMPILER_LINK_FAILED,
    ZS_COMPILER_UNAVAILABLE, /* no compiler, or it cannot be started here */
    ZS_COMPILER_NO_MEMORY,
    ZS_COMPILER_WANTED,
};

enum { ZS_COMPILER_UNITS_MAX = 16 };

/* As `device`: the host. The unit is a kernel of a GPU's (eu/tier/tier.h), and so is the binary;
 * the hint is what is worth it.
 * What the options say is not looked at, but names the result: the host's features. */
#define ZS_COMPILER_HOST_DEVICE "host"
/* As its internal options: in place of that what people read. */
#define ZS_COMPILER_HOST_MODULE   "module"
#define ZS_COMPILER_HOST_ASSEMBLY "assembly"
/* Such a request: the rest is for the caller to say. */
struct zs_compiler_request zs_compiler_for_host(const struct zs_span *unit);

struct zs_compiler;

/* Starts nothing yet. Copies what it needs of the settings and of the environment. NULL: no memory.
 */
struct zs_compiler *zs_compiler_create(const struct zs_compiler_settings *settings);
/* As ZESCOPE_COMPILER, ZESCOPE_CACHE* and ZESCOPE_COMPILE_* say; complain hears what is wrong
 * there. */
struct zs_compiler *zs_compiler_create_as_set(void (*complain)(const char *format, ...));
/* No build may be running. The processes end. NULL: nothing. */
void zs_compiler_destroy(struct zs_compiler *compiler);
/*
 * In a forked child, about the compiler of its parent, whatever the parent's threads were doing:
 * closes the descriptors that are still ours and frees nothing. NULL: nothing.
 */
void zs_compiler_abandon(struct zs_compiler *compiler);

/*
 * Any number of threads at once; as many builds run as there are cores, the others wait. What the
 * compiler said is appended to ret_log in any case, or why it failed; the binary to ret_binary.
 */
enum zs_compiler_status zs_compiler_build(struct zs_compiler *compiler,
                                          const struct zs_compiler_request *request,
                                          struct zs_buf *ret_binary, struct zs_buf *ret_log);

/* For tests and benches: builds that a worker did, that files and that memory answered. */
struct zs_compiler_counts {
    uint64_t compiled, from_files, from_memory;
};
void zs_compiler_count(struct zs_compiler *compiler, struct zs_compiler_counts *ret_counts);

#endif
