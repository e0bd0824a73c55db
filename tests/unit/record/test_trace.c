/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "base/file.h"
#include "record/calls.h"
#include "store/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static unsigned open_calls, lstat_calls, interruptions;
static size_t disk_left_B = SIZE_MAX;

/* Calls of the writer are counted (--wrap; names with large files), and what fills files is
 * interrupted, or does a part only, when told so. */
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    open_calls++;
    return __real_open64(path, flags, mode);
}

int __real_lstat64(const char *path, struct stat *st);
int __wrap_lstat64(const char *path, struct stat *st);
int __wrap_lstat64(const char *path, struct stat *st)
{
    lstat_calls++;
    return __real_lstat64(path, st);
}

int __real_posix_fallocate64(int fd, off_t at, off_t size);
int __wrap_posix_fallocate64(int fd, off_t at, off_t size);
int __wrap_posix_fallocate64(int fd, off_t at, off_t size)
{
    if (!interruptions)
        return __real_posix_fallocate64(fd, at, size);
    interruptions--;
    return EINTR;
}

ssize_t __real_pwritev64(int fd, const struct iovec *parts, int count, off_t at);
ssize_t __wrap_pwritev64(int fd, const struct iovec *parts, int count, off_t at);
ssize_t __wrap_pwritev64(int fd, const struct iovec *parts, int count, off_t at)
{
    if (!disk_left_B) {
        errno = ENOSPC;
        return -1;
    }
    if (disk_left_B != SIZE_MAX) {
        ssize_t n = pwrite(fd, parts->iov_base, ZS_MIN(parts->iov_len, disk_left_B), at);
        disk_left_B -= (size_t)n;
        return n;
    }
    if (!interruptions)
        return __real_pwritev64(fd, parts, count, at);
    if (--interruptions & 1)
        return pwrite(fd, parts->iov_base, ZS_MIN(parts->iov_len, (size_t)1001), at);
    errno = EINTR;
    return -1;
}

static int make_dir(void **state)
{
    strcpy(dir, "/tmp/zs-trace-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static void read_file(const char *name, struct zs_file *ret_file)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(zs_file_read(path, 0, ret_file, NULL), 0);
}

static void what_is_written_is_read(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    assert_int_equal(zs_trace_process_open(&process, dir, 0, NULL), 0);
    assert_int_equal(zs_trace_file_open(&file, &process, 77, "worker", "app"), 0);
    uint64_t start_ns = file.last_ns;
    uint8_t big[5000];
    memset(big, 7, sizeof(big));
    for (uint32_t i = 0; i < 100000; i++) { /* several windows */
        zs_trace_begin(&file, start_ns + 10 * i, i % 3, i % 3 ? "other" : "zeInit", &i, sizeof(i));
        zs_trace_end(&file, start_ns + 10 * i + 5, NULL, 0);
    }
    zs_trace_begin(&file, start_ns + 2000000, 1, "other", big, sizeof(big));
    zs_trace_file_close(&file);
    assert_int_equal(atomic_load(&process.dropped), 0);
    char name[64];
    snprintf(name, sizeof(name), "%u-0-0.pftrace", (unsigned)getpid());
    struct zs_file bytes;
    read_file(name, &bytes);
    struct zs_trace_reader reader;
    struct zs_trace_event_in e;
    zs_trace_reader_open(&reader, bytes.span);
    assert_true(zs_trace_reader_next(&reader, &e));
    assert_int_equal(e.kind, ZS_TRACE_TRACK);
    assert_int_equal(e.pid, getpid());
    assert_memory_equal(e.name.data, "app", 3);
    uint64_t process_track = e.track;
    assert_true(zs_trace_reader_next(&reader, &e));
    assert_int_equal(e.tid, 77);
    assert_int_equal(e.parent_track, process_track);
    uint64_t thread_track = e.track;
    for (uint32_t i = 0; i < 100000; i++) {
        assert_true(zs_trace_reader_next(&reader, &e));
        assert_int_equal(e.kind, ZS_TRACE_BEGIN);
        assert_int_equal(e.time_ns, start_ns + 10 * i);
        assert_int_equal(e.track, thread_track);
        assert_int_equal(e.call.size_B, 4);
        assert_memory_equal(e.call.data, &i, 4);
        assert_int_equal(e.name.size_B, i % 3 ? 5 : 6);
        assert_true(zs_trace_reader_next(&reader, &e));
        assert_int_equal(e.kind, ZS_TRACE_END);
        assert_int_equal(e.time_ns, start_ns + 10 * i + 5);
    }
    assert_true(zs_trace_reader_next(&reader, &e));
    assert_int_equal(e.call.size_B, sizeof(big));
    assert_false(zs_trace_reader_next(&reader, &e));
    assert_false(reader.damaged);
    zs_trace_reader_close(&reader);
    /* every cut of the file is read up to its last whole packet, never as damage of the process */
    const size_t step = getenv("ZS_TEST_ROUNDS") ? 37 : 397;
    for (size_t cut = bytes.span.size_B - 6000; cut < bytes.span.size_B; cut += step) {
        zs_trace_reader_open(&reader, zs_span_make(bytes.span.data, cut));
        size_t events = 0;
        while (zs_trace_reader_next(&reader, &e))
            events++;
        assert_true(events > 100000);
        zs_trace_reader_close(&reader);
    }
    zs_file_close(&bytes);
}

static void a_killed_process_keeps_what_it_wrote(void **state)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct zs_trace_process process;
        struct zs_trace_file file;
        if (zs_trace_process_open(&process, dir, 0, NULL) ||
            zs_trace_file_open(&file, &process, 1, NULL, NULL))
            _exit(1);
        for (uint32_t i = 0;; i++) {
            zs_trace_begin(&file, zs_trace_now_ns(), i % 7, "name", &i, 4);
            zs_trace_end(&file, zs_trace_now_ns(), NULL, 0);
            if (i == 20000 && write(ready[1], "x", 1) != 1)
                _exit(1);
        }
    }
    char c;
    assert_int_equal(read(ready[0], &c, 1), 1);
    kill(pid, SIGKILL);
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status));
    char name[64];
    snprintf(name, sizeof(name), "%u-1-0.pftrace", (unsigned)pid);
    struct zs_file bytes;
    read_file(name, &bytes);
    struct zs_trace_reader reader;
    struct zs_trace_event_in e;
    zs_trace_reader_open(&reader, bytes.span);
    size_t begins = 0;
    while (zs_trace_reader_next(&reader, &e))
        begins += e.kind == ZS_TRACE_BEGIN;
    assert_true(begins >= 20000);
    assert_false(reader.damaged);
    zs_trace_reader_close(&reader);
    zs_file_close(&bytes);
    close(ready[0]);
    close(ready[1]);
}

static size_t begins_of_fd(int fd, bool *ret_damaged)
{
    struct zs_trace_reader reader;
    struct zs_trace_event_in e;
    size_t begins = 0;
    assert_int_equal(zs_trace_reader_open_fd(&reader, fd), 0);
    while (zs_trace_reader_next(&reader, &e))
        begins += e.kind == ZS_TRACE_BEGIN;
    *ret_damaged = reader.damaged;
    zs_trace_reader_close(&reader);
    return begins;
}

/* Terabytes of nothing take no time, and what stands behind them is not overlooked. */
static void holes_are_passed_over(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    const off_t behind = (off_t)1 << 40;
    char path[128];
    bool damaged;
    assert_int_equal(zs_trace_process_open(&process, dir, 0, NULL), 0);
    assert_int_equal(zs_trace_file_open(&file, &process, 1, NULL, NULL), 0);
    for (uint32_t i = 0; i < 10; i++)
        zs_trace_begin(&file, zs_trace_now_ns(), 0, "name", &i, 4);
    snprintf(path, sizeof(path), "%s/%s", dir, file.name);
    int fd = open(path, O_RDWR);
    if (ftruncate(fd, behind) == 0) {
        assert_int_equal(begins_of_fd(fd, &damaged), 10);
        assert_false(damaged);
        assert_int_equal(pwrite(fd, "x", 1, behind), 1);
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        assert_int_equal(begins_of_fd(fd, &damaged), 10);
        assert_true(damaged);
    }
    close(fd);
    zs_trace_file_close(&file);
    assert_int_equal(unlink(path), 0);
}

/* A file that rests is as long as what was written, and goes on. In a child that has its windows
 * nothing is cut: the parent writes on. */
static void only_the_owner_cuts(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    struct stat st;
    char path[128];
    bool damaged;
    int status;
    assert_int_equal(zs_trace_process_open(&process, dir, 0, NULL), 0);
    assert_int_equal(zs_trace_file_open(&file, &process, 1, NULL, NULL), 0);
    snprintf(path, sizeof(path), "%s/%s", dir, file.name);
    for (uint32_t i = 0; i < 10; i++)
        zs_trace_begin(&file, zs_trace_now_ns(), 0, "name", &i, 4);
    pid_t pid = fork();
    if (pid == 0) {
        zs_trace_file_close(&file);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, ZS_TRACE_FIRST_WINDOW_B);
    zs_trace_begin(&file, zs_trace_now_ns(), 0, "name", NULL, 0);
    for (uint32_t i = 0; i < 3; i++) {
        zs_trace_file_rest(&file);
        assert_int_equal(stat(path, &st), 0);
        assert_true(st.st_size < 4096);
        zs_trace_begin(&file, zs_trace_now_ns(), 0, "name", NULL, 0);
    }
    zs_trace_file_close(&file);
    int fd = open(path, O_RDONLY);
    assert_int_equal(begins_of_fd(fd, &damaged), 14);
    assert_false(damaged);
    close(fd);
    assert_int_equal(unlink(path), 0);
}

static void limits_drop_and_count(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    assert_int_equal(zs_trace_process_open(&process, dir, 2 << 20, NULL), 0);
    assert_int_equal(zs_trace_file_open(&file, &process, 1, NULL, NULL), 0);
    uint8_t bytes[1000] = {0};
    for (uint32_t i = 0; i < 5000; i++)
        zs_trace_begin(&file, zs_trace_now_ns(), 0, "name", bytes, sizeof(bytes));
    assert_true(atomic_load(&process.dropped) > 2000);
    zs_trace_file_close(&file);
    uint8_t huge[ZS_TRACE_PACKET_MAX_B + 1] = {0};
    int error = 0;
    for (uint32_t tid = 2; tid < 8 && !error; tid++) /* less than a large window is left */
        error = zs_trace_file_open(&file, &process, tid, NULL, NULL);
    assert_int_equal(error, -EFBIG);
    zs_trace_begin(&file, zs_trace_now_ns(), 0, "name", huge, sizeof(huge));
    zs_trace_file_close(&file);
}

static size_t count_calls(const char *name, bool *ret_damaged)
{
    struct zs_file bytes;
    struct zs_trace_reader reader;
    struct zs_trace_event_in e;
    size_t begins = 0;
    read_file(name, &bytes);
    zs_trace_reader_open(&reader, bytes.span);
    while (zs_trace_reader_next(&reader, &e))
        if (e.kind == ZS_TRACE_BEGIN) {
            assert_int_equal(e.name.size_B, 4);
            assert_memory_equal(e.name.data, "name", 4);
            begins++;
        }
    *ret_damaged = reader.damaged;
    zs_trace_reader_close(&reader);
    zs_file_close(&bytes);
    return begins;
}

static void write_calls(struct zs_trace_file *file, unsigned count)
{
    const uint8_t bytes[1000] = {0};
    for (unsigned i = 0; i < count; i++) {
        zs_trace_begin(file, zs_trace_now_ns(), 0, "name", bytes, sizeof(bytes));
        zs_trace_end(file, zs_trace_now_ns(), NULL, 0);
    }
}

static int lowest_free(void)
{
    int fd = dup(STDERR_FILENO);
    close(fd);
    return fd;
}

/* What stands at the path of the file, or has the number of a descriptor, is somebody else's. */
static void no_descriptor_is_kept(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    char path[128], moved[160];
    int before = lowest_free();
    assert_int_equal(zs_trace_process_open(&process, dir, 0, NULL), 0);
    assert_int_equal(zs_trace_file_open(&file, &process, 1, NULL, NULL), 0);
    assert_int_equal(lowest_free(), before);
    write_calls(&file, 1500); /* another window */
    assert_int_equal(lowest_free(), before);
    snprintf(path, sizeof(path), "%s/%s", dir, file.name);
    snprintf(moved, sizeof(moved), "%s.moved", path);
    assert_int_equal(rename(path, moved), 0);
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
    assert_int_equal(write(fd, "mine", 4), 4);
    write_calls(&file, 2000);
    assert_true(atomic_load(&process.dropped) > 0);
    zs_trace_file_close(&file);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 4);
    close(fd);
    assert_int_equal(lowest_free(), before);
}

/* A file that cannot be made or grown for want of descriptors goes on when there are some. */
static void descriptors_may_come_back(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    struct rlimit limit, none;
    bool damaged;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int opened = zs_trace_process_open(&process, dir, 0, NULL);
    int made = zs_trace_file_open(&file, &process, 1, NULL, NULL);
    write_calls(&file, 100);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(opened, 0); /* to claim a number takes none */
    assert_int_equal(made, -EMFILE);
    uint64_t lost = atomic_load(&process.dropped);
    assert_int_equal(lost, 200);
    write_calls(&file, 300);
    uint64_t late = atomic_load(&process.dropped) - lost;
    assert_true(late < 400);
    lost += late;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    write_calls(&file, 2000);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(atomic_load(&process.dropped) > lost);
    write_calls(&file, 6000);
    lost = atomic_load(&process.dropped);
    write_calls(&file, 10);
    assert_int_equal(atomic_load(&process.dropped), lost);
    zs_trace_file_close(&file);
    size_t begins = count_calls(file.name, &damaged);
    assert_false(damaged);
    assert_true(begins > 1010 && 2 * begins + lost / 2 < 2 * 8410);
}

static void filling_may_be_interrupted(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    bool damaged;
    assert_int_equal(zs_trace_process_open(&process, dir, 0, NULL), 0);
    interruptions = 5;
    assert_int_equal(zs_trace_file_open(&file, &process, 1, NULL, NULL), 0);
    assert_int_equal(interruptions, 0);
    interruptions = 1;
    write_calls(&file, 1500);
    assert_int_equal(interruptions, 0);
    assert_int_equal(atomic_load(&process.dropped), 0);
    zs_trace_file_close(&file);
    assert_int_equal(count_calls(file.name, &damaged), 1500);
    assert_false(damaged);
}

/* What a file holds when its disk is full stays readable, though it ends in the middle of a window
 * that was never mapped. Files in memory (tmpfs) are reserved instead. */
static void full_disks_keep_what_was_written(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    bool damaged;
    assert_int_equal(zs_trace_process_open(&process, dir, 0, NULL), 0);
    disk_left_B = ZS_TRACE_FIRST_WINDOW_B + ZS_TRACE_WINDOW_B + 5000;
    assert_int_equal(zs_trace_file_open(&file, &process, 1, NULL, NULL), 0);
    write_calls(&file, 1500);
    bool is_reserved = disk_left_B > 5000;
    disk_left_B = SIZE_MAX;
    zs_trace_file_close(&file);
    size_t calls = count_calls(file.name, &damaged);
    assert_false(damaged);
    if (is_reserved) {
        assert_int_equal(calls, 1500);
    } else {
        assert_in_range(calls, 290, 320); /* a thousand bytes each */
        assert_in_range(atomic_load(&process.dropped), 2 * (1500 - 320), 2 * (1500 - 289));
    }
}

/* The thousandth process finds its number as quickly as the tenth. */
static void processes_are_numbered_quickly(void **state)
{
    enum { PROCESSES = 1000 };
    static struct zs_trace_process process;
    char folder[128];
    snprintf(folder, sizeof(folder), "%s/many", dir);
    for (unsigned i = 0; i < PROCESSES; i++) {
        open_calls = lstat_calls = 0;
        assert_int_equal(zs_trace_process_open(&process, folder, 0, NULL), 0);
        assert_int_equal(process.ordinal, i);
        assert_true(open_calls + lstat_calls < 30);
    }
}

static void garbage_is_damage(void **state)
{
    const char *more = getenv("ZS_TEST_ROUNDS");
    unsigned seed = 3, rounds = more ? (unsigned)strtoul(more, NULL, 0) : 2000;
    uint8_t bytes[256];
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)rand_r(&seed);
        if (round % 2) /* mostly well-formed framing */
            for (size_t i = 0; i + 9 < sizeof(bytes); i += 9) {
                bytes[i] = 10;
                bytes[i + 1] = 7;
                bytes[i + 2] = (uint8_t)(rand_r(&seed) % 12 << 3 | rand_r(&seed) % 3);
            }
        struct zs_trace_reader reader;
        struct zs_trace_event_in e;
        zs_trace_reader_open(&reader, zs_span_make(bytes, sizeof(bytes)));
        size_t events = 0;
        while (zs_trace_reader_next(&reader, &e))
            events++;
        assert_true(events <= sizeof(bytes));
        zs_trace_reader_close(&reader);
    }
}

/* Names 0, 1 and 2 of a build with other headers: zeInit has a second parameter, zeNew is a call
 * that this build does not know, and nobody knows the kind of what zeOdd takes. */
static size_t foreign_shape(uint32_t name, uint8_t *out, size_t room_B)
{
    static const uint8_t init[] = {
        2, ZS_API_KIND_U32, 0, 4, 2, 'a', 1, ZS_API_KIND_U64, 0, 8, 2, 'b', 1};
    static const uint8_t fresh[] = {1, ZS_API_KIND_HANDLE, 0, 8, 2, 'h', 1};
    static const uint8_t odd[] = {1, 99, 0, 8, 2, 'h', 1};
    static const struct zs_span shapes[] = {
        {init, sizeof(init)}, {fresh, sizeof(fresh)}, {odd, sizeof(odd)}};
    assert_true(name < 3 && room_B > 64);
    memcpy(out, shapes[name].data, shapes[name].size_B);
    return shapes[name].size_B;
}

static void expect_call(struct zs_calls *calls, const char *name, bool known, bool cut,
                        const char *text)
{
    struct zs_call call;
    struct zs_buf out = {0};
    assert_true(zs_calls_next(calls, &call));
    assert_int_equal(call.name.size_B, strlen(name));
    assert_memory_equal(call.name.data, name, call.name.size_B);
    assert_int_equal(call.call >= 0, known);
    assert_int_equal(calls->values.cut, cut);
    zs_api_format_call(&out, name, &calls->values);
    assert_string_equal(zs_buf_cstr(&out), text);
    zs_buf_fini(&out);
}

static void arguments_of_other_builds(void **state)
{
    struct zs_trace_process process;
    struct zs_trace_file file;
    char name[64];
    uint8_t two[] = {7, 9}, handle[] = {2, 0x34, 0x12, 0, 0, 0, 0, 0, 0};
    assert_int_equal(zs_trace_process_open(&process, dir, 0, NULL), 0);
    assert_int_equal(zs_trace_file_open(&file, &process, 5, NULL, NULL), 0);
    snprintf(name, sizeof(name), "%u-%u-0.pftrace", (unsigned)getpid(), process.ordinal);
    file.shape = foreign_shape;
    for (int i = 0; i < 2; i++) {
        zs_trace_begin(&file, file.last_ns, 0, "zeInit", two, sizeof(two));
        zs_trace_end(&file, file.last_ns, NULL, 0);
        zs_trace_begin(&file, file.last_ns, 1, "zeNew", handle, sizeof(handle));
        zs_trace_end(&file, file.last_ns, NULL, 0);
        zs_trace_begin(&file, file.last_ns, 2, "zeOdd", handle, sizeof(handle));
        zs_trace_end(&file, file.last_ns, NULL, 0);
    }
    zs_trace_file_close(&file);
    struct zs_file bytes;
    struct zs_calls *calls = calloc(1, sizeof(*calls));
    struct zs_call none;
    assert_non_null(calls);
    read_file(name, &bytes);
    zs_calls_open(calls, bytes.span);
    for (int i = 0; i < 2; i++) {
        expect_call(calls, "zeInit", true, false, "zeInit(a = 7, b = 9)");
        expect_call(calls, "zeNew", false, false, "zeNew(h = 0x1234)");
        expect_call(calls, "zeOdd", false, true, "zeOdd(...)");
    }
    assert_false(zs_calls_next(calls, &none));
    assert_int_equal(calls->unreadable, 2);
    assert_false(calls->reader.damaged);
    zs_calls_close(calls);
    free(calls);
    zs_file_close(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(a_killed_process_keeps_what_it_wrote),
        cmocka_unit_test(arguments_of_other_builds),
        cmocka_unit_test(holes_are_passed_over),
        cmocka_unit_test(only_the_owner_cuts),
        cmocka_unit_test(limits_drop_and_count),
        cmocka_unit_test(no_descriptor_is_kept),
        cmocka_unit_test(descriptors_may_come_back),
        cmocka_unit_test(filling_may_be_interrupted),
        cmocka_unit_test(full_disks_keep_what_was_written),
        cmocka_unit_test(processes_are_numbered_quickly),
        cmocka_unit_test(garbage_is_damage),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
