/* SPDX-License-Identifier: MIT */
/* Results in files: found again, bounded, and never believed when they are damaged. */
#include "common.h"

#include "compiler/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a program that starts with these files does: how many compiled it, how many had a file. */
static struct zs_compiler_counts second_start(const char *input)
{
    struct zs_compiler *compiler = start(remembering_settings());
    assert_made(compiler, input);
    struct zs_compiler_counts now = counts(compiler);
    zs_compiler_destroy(compiler);
    return now;
}

static void test_second_start(void **state)
{
    clear_cache();
    assert_int_equal(second_start("a").compiled, 1);
    await_helper_processes(getpid(), 0);
    struct zs_compiler *compiler = start(remembering_settings());
    assert_made(compiler, "a");
    assert_int_equal(counts(compiler).compiled, 0);
    assert_int_equal(counts(compiler).from_files, 1);
    assert_int_equal(helper_processes(getpid(), NULL, 0), 0); /* nothing was even started */
    struct result result = build(compiler, "a");
    assert_string_equal(result.log, "a log\n");
    assert_int_equal(counts(compiler).from_memory, 1);
    assert_int_equal(build_with(compiler, "a", "-p").status, ZS_COMPILER_OK);
    assert_int_equal(counts(compiler).compiled, 1);
    zs_compiler_destroy(compiler);
}

static void test_off(void **state)
{
    clear_cache();
    struct zs_compiler *compiler = start(plain_settings());
    assert_made(compiler, "a");
    assert_made(compiler, "a");
    assert_int_equal(counts(compiler).compiled, 2);
    zs_compiler_destroy(compiler);
    assert_int_equal(rmdir(cache_folder()), 0); /* nothing in it */
}

/* IGC's settings change results, or ask for files as it runs. */
static void test_environment(void **state)
{
    clear_cache();
    assert_int_equal(second_start("a").compiled, 1);
    setenv("IGC_Something", "1", 1);
    assert_int_equal(second_start("a").compiled, 1);
    assert_int_equal(second_start("a").compiled, 0);
    setenv("IGC_ShaderDumpEnable", "1", 1);
    assert_int_equal(second_start("a").compiled, 1);
    assert_int_equal(second_start("a").compiled, 1);
    unsetenv("IGC_ShaderDumpEnable");
    unsetenv("IGC_Something");
    assert_int_equal(second_start("a").compiled, 0);
}

/* Another compiler is another key: here the library's time of change. */
static void test_new_compiler(void **state)
{
    clear_cache();
    char source[4096], path[256], command[8192];
    char *before = strdup(getenv("LD_LIBRARY_PATH"));
    snprintf(source, sizeof(source), "%.*s/libocloc.so", (int)strcspn(before, ":"), before);
    snprintf(path, sizeof(path), "%s/../compiler", cache_folder());
    mkdir(path, 0700);
    setenv("LD_LIBRARY_PATH", path, 1);
    strcat(path, "/libocloc.so");
    snprintf(command, sizeof(command), "cp '%s' '%s'", source, path);
    assert_int_equal(system(command), 0);
    assert_int_equal(second_start("a").compiled, 1);
    assert_int_equal(second_start("a").compiled, 0);
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(second_start("a").compiled, 1);
    assert_int_equal(second_start("a").compiled, 0);
    setenv("LD_LIBRARY_PATH", before, 1);
    free(before);
    assert_int_equal(second_start("a").compiled, 1);
}

/* ---- Hostile files ---- */

static char found[2][512];
static int found_count;

static int find_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    if (flag == FTW_F && found_count < 2)
        snprintf(found[found_count++], sizeof(found[0]), "%s", path);
    return 0;
}

/* The files of one result: it, and who the compiler is. */
static void find_files(void)
{
    found_count = 0;
    nftw(cache_folder(), find_file, 8, FTW_PHYS);
    assert_int_equal(found_count, 2);
}

static void flip(const char *path, long at)
{
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    int c = fgetc(f);
    fseek(f, -1, SEEK_CUR);
    fputc(c ^ 0x10, f);
    fclose(f);
}

static void become_fifo(const char *path)
{
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void become_link(const char *path)
{
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
}

static void become_empty(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void become_short(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 1), 0);
}

static void become_huge(const char *path)
{
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
}

static void become_writable(const char *path)
{
    assert_int_equal(chmod(path, 0666), 0);
}

static void flip_start(const char *path)
{
    flip(path, 0);
}

static void flip_key(const char *path)
{
    flip(path, 20);
}

static void flip_sum(const char *path)
{
    flip(path, 60);
}

static void flip_end(const char *path)
{
    flip(path, -1);
}

static void test_damaged(void **state)
{
    static void (*const damages[])(const char *path) = {
        become_fifo,     become_link, become_empty, become_short, become_huge,
        become_writable, flip_start,  flip_key,     flip_sum,     flip_end};
    for (size_t i = 0; i < ZS_ARRAY_LEN(damages); i++) {
        clear_cache();
        assert_int_equal(second_start("a").compiled, 1);
        find_files();
        for (int k = 0; k < found_count; k++)
            damages[i](found[k]);
        assert_int_equal(second_start("a").compiled, 1);
        assert_int_equal(second_start("a").compiled, 0); /* the damage is gone */
    }
}

/* A file in the place of another has a good checksum, but the wrong key. */
static void test_swapped(void **state)
{
    clear_cache();
    assert_int_equal(second_start("a").compiled, 1);
    find_files();
    char spare[600];
    snprintf(spare, sizeof(spare), "%s.spare", found[0]);
    rename(found[0], spare);
    rename(found[1], found[0]);
    rename(spare, found[1]);
    assert_int_equal(second_start("a").compiled, 1);
}

/* ---- Folders ---- */

static void expect_no_files(void *ctx)
{
    struct zs_compiler *compiler = start(remembering_settings());
    assert_made(compiler, "a");
    zs_compiler_destroy(compiler);
    assert_int_equal(second_start("a").compiled, 1); /* nothing was kept, nothing is wrong */
}

static void without_rights(void *ctx)
{
    if (geteuid() == 0) { /* root writes anywhere, and this folder is not nobody's */
        chmod(cache_folder(), 0755);
        assert_int_equal(setresuid(65534, 65534, 65534), 0);
    }
    struct zs_disk disk;
    const uint8_t key[ZS_SHA256_B] = {1};
    struct zs_buf bytes = {0};
    zs_disk_init(&disk, cache_folder(), 16 << 20);
    zs_disk_put(&disk, key, zs_span_make("abc", 3));
    assert_false(zs_disk_get(&disk, key, &bytes));
    zs_disk_fini(&disk);
}

static void test_folders(void **state)
{
    clear_cache();
    chmod(cache_folder(), 0500);
    in_child(without_rights, NULL);
    chmod(cache_folder(), 0777); /* anybody could put anything in it */
    in_child(expect_no_files, NULL);
    clear_cache();
    rmdir(cache_folder());
    FILE *f = fopen(cache_folder(), "w"); /* no folder at all */
    fclose(f);
    in_child(expect_no_files, NULL);
    unlink(cache_folder());
    assert_int_equal(second_start("a").compiled, 1); /* made when it is missing */
    assert_int_equal(second_start("a").compiled, 0);
}

/* The file would outgrow the limit of this process: that is a signal which ends it. */
static void with_small_files(void *ctx)
{
    struct rlimit limit = {32, 32};
    setrlimit(RLIMIT_FSIZE, &limit);
    expect_no_files(NULL);
}

static void test_no_room(void **state)
{
    clear_cache();
    in_child(with_small_files, NULL);
}

static void use_default_folder(void *ctx)
{
    char home[200], made[256];
    struct stat st;
    snprintf(home, sizeof(home), "%s/home", cache_folder());
    assert_int_equal(mkdir(home, 0700), 0);
    setenv("HOME", home, 1);
    unsetenv("XDG_CACHE_HOME");
    struct zs_disk disk;
    zs_disk_init(&disk, NULL, 16 << 20);
    snprintf(made, sizeof(made), "%s/.cache/zescope", home);
    assert_string_equal(disk.folder, made);
    zs_disk_fini(&disk);
    snprintf(made, sizeof(made), "%s/.cache", home);
    assert_int_equal(stat(made, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    setenv("XDG_CACHE_HOME", home, 1);
    zs_disk_init(&disk, NULL, 16 << 20);
    snprintf(made, sizeof(made), "%s/zescope", home);
    assert_string_equal(disk.folder, made);
    zs_disk_fini(&disk);
    snprintf(made, sizeof(made), "%s/new", home); /* is not there yet */
    setenv("XDG_CACHE_HOME", made, 1);
    zs_disk_init(&disk, NULL, 16 << 20);
    assert_non_null(disk.folder);
    zs_disk_fini(&disk);
    setenv("XDG_CACHE_HOME", home, 1);
    if (geteuid() == 0) { /* as under sudo: the home of somebody else */
        assert_int_equal(chown(home, 65534, 65534), 0);
        zs_disk_init(&disk, NULL, 16 << 20);
        assert_null(disk.folder);
        zs_disk_fini(&disk);
        unsetenv("XDG_CACHE_HOME");
        zs_disk_init(&disk, NULL, 16 << 20);
        assert_null(disk.folder);
        zs_disk_fini(&disk);
    }
}

static void test_default_folder(void **state)
{
    clear_cache();
    in_child(use_default_folder, NULL);
}

/* ---- Room ---- */

static uint64_t total_B;

static int add_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    total_B += flag == FTW_F ? (uint64_t)st->st_blocks * 512 : 0;
    return 0;
}

static void key_of(int i, uint8_t ret_key[ZS_SHA256_B])
{
    zs_sha256(zs_span_make(&i, sizeof(i)), ret_key);
}

static void test_bounded(void **state)
{
    const uint64_t limit_B = 4 << 20;
    uint8_t key[ZS_SHA256_B];
    char *bytes = calloc(1, 100000);
    struct zs_disk disk;
    struct zs_buf got = {0};
    clear_cache();
    zs_disk_init(&disk, cache_folder(), limit_B);
    for (int i = 0; i < 400; i++) { /* ten times the room */
        key_of(i, key);
        zs_disk_put(&disk, key, zs_span_make(bytes, 100000));
    }
    total_B = 0;
    nftw(cache_folder(), add_file, 8, FTW_PHYS);
    assert_in_range(total_B, limit_B / 4, limit_B);
    key_of(399, key);
    assert_true(zs_disk_get(&disk, key, &got)); /* the newest */
    assert_int_equal(got.size_B, 100000);
    key_of(0, key);
    assert_false(zs_disk_get(&disk, key, &got));
    /* half of a part and more is not taken: it would push all else out */
    key_of(1000, key);
    char *large = calloc(1, 200000);
    zs_disk_put(&disk, key, zs_span_make(large, 200000));
    assert_false(zs_disk_get(&disk, key, &got));
    free(large);
    free(bytes);
    zs_buf_fini(&got);
    zs_disk_fini(&disk);
}

/* What a writer left that was killed goes after a while; files of others are left alone. */
static void test_leftovers(void **state)
{
    uint8_t key[ZS_SHA256_B];
    char part[256], left[300], other[300];
    struct zs_disk disk;
    clear_cache();
    zs_disk_init(&disk, cache_folder(), 4 << 20);
    key_of(1, key);
    zs_disk_put(&disk, key, zs_span_make("a", 1));
    snprintf(part, sizeof(part), "%s/%x", cache_folder(), key[0] >> 4);
    snprintf(left, sizeof(left), "%s/new.1.2.3", part);
    snprintf(other, sizeof(other), "%s/notes.txt", part);
    close(open(left, O_CREAT | O_WRONLY, 0600));
    close(open(other, O_CREAT | O_WRONLY, 0600));
    zs_disk_put(&disk, key, zs_span_make("a", 1));
    assert_int_equal(access(left, F_OK), 0); /* its writer may be at it */
    const struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    utimensat(AT_FDCWD, left, times, 0);
    utimensat(AT_FDCWD, other, times, 0);
    zs_disk_put(&disk, key, zs_span_make("a", 1));
    assert_int_equal(access(left, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    zs_disk_fini(&disk);
}

static void use_at_once(void *ctx)
{
    for (int i = 0; i < 300; i++) {
        uint8_t key[ZS_SHA256_B];
        struct zs_disk disk;
        struct zs_buf got = {0};
        char bytes[5000];
        int which = i % 10;
        key_of(which, key);
        memset(bytes, which, sizeof(bytes));
        zs_disk_init(&disk, cache_folder(), 16 * 20000);
        zs_disk_put(&disk, key, zs_span_make(bytes, sizeof(bytes)));
        if (zs_disk_get(&disk, key, &got)) {
            assert_int_equal(got.size_B, sizeof(bytes));
            assert_memory_equal(got.data, bytes, sizeof(bytes));
        }
        zs_buf_fini(&got);
        zs_disk_fini(&disk);
    }
}

static void test_processes(void **state)
{
    clear_cache();
    pid_t pids[3];
    for (int i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            use_at_once(NULL);
            _exit(0);
        }
    }
    use_at_once(NULL);
    for (int i = 0; i < 3; i++)
        await_end(pids[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_start),   cmocka_unit_test(test_off),
        cmocka_unit_test(test_environment),    cmocka_unit_test(test_new_compiler),
        cmocka_unit_test(test_damaged),        cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_folders),        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_default_folder), cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_leftovers),      cmocka_unit_test(test_processes),
    };
    setup(argc, argv);
    int failed = cmocka_run_group_tests_name("compiler's files", tests, NULL, NULL);
    teardown();
    return failed;
}
