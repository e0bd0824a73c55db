/* SPDX-License-Identifier: MIT */
/* What bench/gpu.sh measures: kernels with their data, and the back ends that run them. */
#ifndef ZS_BENCH_WORK_H
#define ZS_BENCH_WORK_H

#include "../give_up.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ARGS_MAX = 8 };

enum arg_kind { ARG_NONE, ARG_BUFFER, ARG_VALUE, ARG_LOCAL };

struct arg {
    enum arg_kind kind;
    size_t size_B;
    void *host; /* buffer: contents; value: its bytes */
    bool is_output;
};

struct work {
    const char *name; /* of the kernel, too */
    uint32_t group_size[3], group_count[3];
    /* What kernels read and write: fills args; expect gets the outputs of `launches` launches
     * computed in plain C, in `args[i].host` of a second set. */
    void (*prepare)(struct arg *args);
    void (*compute)(struct arg *args, uint32_t launches);
    float tolerance; /* relative; 0: outputs are words that must be the same */
    uint64_t slack;  /* words that may differ: multiply-add contracts or not */
};

const struct work *work_find(const char *name); /* NULL: no such kernel */
const struct work *work_at(size_t index);       /* NULL past the end */
/* Run and compare with outputs that a back end gave. 0, or how many words differ. */
uint64_t work_check(const struct work *work, const struct arg *outputs, uint32_t launches);

enum mode {
    MODE_TOGETHER,  /* all launches in one submission, one wait */
    MODE_EACH,      /* wait for every launch */
    MODE_IMMEDIATE, /* launches handed over one by one (Level Zero: immediate list), one wait */
};

/* A back end: one of backend_*.c. Errors end the process. */
void backend_open(const char *file, const struct work *work, struct arg *args);
void backend_run(uint32_t launches, enum mode mode);
void backend_read(struct arg *args); /* outputs, to args[i].host */
/* Instructions that one launch executes, 0: it cannot tell. */
uint64_t backend_instructions(void);
void backend_option(const char *option); /* --... that main() does not know */
void backend_close(void);

void *read_file(const char *path, size_t *ret_size_B);

#endif
