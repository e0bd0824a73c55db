/* SPDX-License-Identifier: MIT */
/* A compiler whose libocloc.so is fake_ocloc.c, found through LD_LIBRARY_PATH. */
#ifndef TESTS_UNIT_COMPILER_COMMON_H
#define TESTS_UNIT_COMPILER_COMMON_H

#include "../test.h"

#include "compiler/compiler.h"

#include <sys/types.h>

/* Takes the helper's path from the arguments; makes a folder for caches. */
void setup(int argc, char **argv);
void teardown(void);
const char *helper_path(void);
const char *cache_folder(void); /* empty at the start of each test that calls clear_cache */
void clear_cache(void);

struct zs_compiler_settings plain_settings(void);       /* nothing is remembered */
struct zs_compiler_settings remembering_settings(void); /* in cache_folder() */
struct zs_compiler *start(struct zs_compiler_settings settings);

struct result {
    enum zs_compiler_status status;
    char log[4096], made[4096]; /* as text, cut there */
    size_t made_B;
};
struct result build(struct zs_compiler *compiler, const char *input);
struct result build_with(struct zs_compiler *compiler, const char *input, const char *options);
void assert_made(struct zs_compiler *compiler, const char *input); /* it builds, and rightly */
struct zs_compiler_counts counts(struct zs_compiler *compiler);

/* Processes of the helper that was started for a process, workers included; their number. */
int helper_processes(pid_t application, pid_t *ret_pids, int most);
/* They come to be that many within seconds. */
void await_helper_processes(pid_t application, int count);
void await_end(pid_t pid); /* of a child, with 0 */
/* fn in a forked child of its own, which must end with 0. */
void in_child(void (*fn)(void *ctx), void *ctx);

#endif
