/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *helper;
    char folder[64], cache[80];
} suite = {.folder = "/tmp/zescope-compiler-XXXXXX"};

void setup(int argc, char **argv)
{
    if (argc < 2 || !mkdtemp(suite.folder)) {
        fprintf(stderr, "usage: %s PATH-OF-zescope-compiler\n", argv[0]);
        _exit(2);
    }
    suite.helper = argv[1];
    snprintf(suite.cache, sizeof(suite.cache), "%s/cache", suite.folder);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    return remove(path);
}

static void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void teardown(void)
{
    remove_tree(suite.folder);
}

const char *helper_path(void)
{
    return suite.helper;
}

const char *cache_folder(void)
{
    return suite.cache;
}

void clear_cache(void)
{
    remove_tree(suite.cache);
    assert_int_equal(mkdir(suite.cache, 0700), 0);
}

struct zs_compiler_settings plain_settings(void)
{
    return (struct zs_compiler_settings){.helper = suite.helper,
                                         .time_limit_ns = UINT64_C(60000000000),
                                         .cache_folder = "",
                                         .cache_B = 16 << 20,
                                         .cache_memory_B = 16 << 20};
}

struct zs_compiler_settings remembering_settings(void)
{
    struct zs_compiler_settings settings = plain_settings();
    settings.remembers = true;
    settings.cache_folder = suite.cache;
    return settings;
}

struct zs_compiler *start(struct zs_compiler_settings settings)
{
    struct zs_compiler *compiler = zs_compiler_create(&settings);
    assert_non_null(compiler);
    return compiler;
}

struct result build_with(struct zs_compiler *compiler, const char *input, const char *options)
{
    struct result result = {0};
    struct zs_buf binary = {0}, log = {0};
    struct zs_span unit = {(const uint8_t *)input, strlen(input)};
    const struct zs_compiler_request request = {.device = "skl",
                                                .options = options,
                                                .internal_options = "",
                                                .unit_count = 1,
                                                .units = &unit};
    result.status = zs_compiler_build(compiler, &request, &binary, &log);
    result.made_B = binary.size_B;
    snprintf(result.log, sizeof(result.log), "%s", zs_buf_cstr(&log));
    snprintf(result.made, sizeof(result.made), "%s", zs_buf_cstr(&binary));
    zs_buf_fini(&binary);
    zs_buf_fini(&log);
    return result;
}

struct result build(struct zs_compiler *compiler, const char *input)
{
    return build_with(compiler, input, "-o");
}

void assert_made(struct zs_compiler *compiler, const char *input)
{
    char expected[256];
    struct result result = build(compiler, input);
    snprintf(expected, sizeof(expected), "made:1:%s:skl:-o", input);
    if (result.status != ZS_COMPILER_OK)
        print_error("%s: %s\n", input, result.log);
    assert_int_equal(result.status, ZS_COMPILER_OK);
    assert_string_equal(result.made, expected);
}

struct zs_compiler_counts counts(struct zs_compiler *compiler)
{
    struct zs_compiler_counts now;
    zs_compiler_count(compiler, &now);
    return now;
}

/* The helper's first argument is the application's process; workers have the helper's line. */
static bool is_helper_of(pid_t pid, pid_t application)
{
    char path[64], line[4096] = {0}, number[32];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    FILE *f = fopen(path, "re");
    size_t size_B = f ? fread(line, 1, sizeof(line) - 1, f) : 0;
    if (f)
        fclose(f);
    snprintf(number, sizeof(number), "%d", (int)application);
    size_t first_B = strlen(line) + 1;
    return size_B > first_B && strcmp(line, suite.helper) == 0 &&
           strcmp(line + first_B, number) == 0;
}

int helper_processes(pid_t application, pid_t *ret_pids, int most)
{
    int count = 0;
    DIR *dir = opendir("/proc");
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        pid_t pid = atoi(entry->d_name);
        if (pid > 0 && is_helper_of(pid, application)) {
            if (count < most)
                ret_pids[count] = pid;
            count++;
        }
    }
    closedir(dir);
    return count;
}

void await_helper_processes(pid_t application, int count)
{
    int have = -1;
    for (int i = 0; i < 30000; i++) {
        have = helper_processes(application, NULL, 0);
        if (have == count)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_int_equal(have, count);
}

void await_end(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

void in_child(void (*fn)(void *ctx), void *ctx)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1); /* the other tests are not for the child */
        fn(ctx);
        _exit(0);
    }
    await_end(pid);
}
