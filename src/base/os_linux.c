/* SPDX-License-Identifier: MIT */
#include "base/os.h"
#include "base/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int take_stat(int failed, const struct stat *st, struct zs_path_info *ret_info)
{
    if (failed)
        return -errno;
    *ret_info = (struct zs_path_info){
        .kind = S_ISREG(st->st_mode)   ? ZS_PATH_FILE
                : S_ISDIR(st->st_mode) ? ZS_PATH_FOLDER
                : S_ISCHR(st->st_mode) ? ZS_PATH_DEVICE
                                       : ZS_PATH_OTHER,
        .size_B = st->st_size > 0 ? (uint64_t)st->st_size : 0,
        .mtime_s = st->st_mtime,
        .mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
    };
    return 0;
}

int zs_os_path_info(const char *path, struct zs_path_info *ret_info)
{
    struct stat st;
    int failed = stat(path, &st);
    return take_stat(failed, &st, ret_info);
}

int zs_os_file_info(int fd, struct zs_path_info *ret_info)
{
    struct stat st;
    int failed = fstat(fd, &st);
    return take_stat(failed, &st, ret_info);
}

static int or_error(int fd)
{
    return fd < 0 ? -errno : fd;
}

int zs_os_open_read(const char *path)
{
    return or_error(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY));
}

int zs_os_open_read_at(int dir_fd, const char *name)
{
    return or_error(
        openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK));
}

int zs_os_open_device(const char *path)
{
    return or_error(open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY));
}

int zs_os_open_temp(char *name)
{
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    mode_t mask = umask(0);
    umask(mask);
    if (!fchmod(fd, 0666 & ~mask))
        return fd;
    int error = -errno;
    close(fd);
    unlink(name);
    return error;
}

char *zs_os_real_path(const char *path)
{
    return realpath(path, NULL);
}

int zs_os_rename(const char *from, const char *to)
{
    return rename(from, to) ? -errno : 0;
}

int zs_os_unlink(const char *path)
{
    return unlink(path) ? -errno : 0;
}

ssize_t zs_os_read(int fd, void *data, size_t size_B)
{
    ssize_t n;
    do
        n = read(fd, data, size_B);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

ssize_t zs_os_write(int fd, const void *data, size_t size_B)
{
    ssize_t n;
    do
        n = write(fd, data, size_B);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

bool zs_os_random(uint64_t *ret_value)
{
    return getrandom(ret_value, sizeof(*ret_value), GRND_NONBLOCK) == sizeof(*ret_value);
}

/* Buffers come and go by the thousand: pages of those that went are kept for those that come. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
    mallopt(M_TOP_PAD, 256 << 10);
#endif
}

static void go_on(int number)
{
    (void)number;
}

/* A file beyond the process's limit is an error then. What is started from here gets the signal as
 * it was: handlers do not outlive exec. */
static void survive_limits(void)
{
    const struct sigaction action = {.sa_handler = go_on, .sa_flags = SA_RESTART};
    struct sigaction before;
    if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

void zs_os_start(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    signal(SIGPIPE, SIG_IGN);
    survive_limits();
    keep_memory();
}

bool zs_os_is_terminal(int fd)
{
    return isatty(fd);
}

unsigned zs_os_columns(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

uint32_t zs_host_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set))
        return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (uint32_t)count : 1;
}

bool zs_os_has_drives(void)
{
    return false;
}

void zs_os_expect_fill(void *data, size_t size_B)
{
    const uintptr_t large_B = (uintptr_t)2 << 20;
    uintptr_t first = ((uintptr_t)data + large_B - 1) & ~(large_B - 1);
    uintptr_t end = ((uintptr_t)data + size_B) & ~(large_B - 1);
    int error = errno;
    if (size_B >= 2 * large_B && end > first)
        madvise((void *)first, end - first, MADV_HUGEPAGE);
    errno = error; /* it is a wish */
}

bool zs_os_may_grow_to(uint64_t size_B)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || size_B <= limit.rlim_cur;
}

struct zs_os_numbers zs_os_numbers_begin(void)
{
    struct zs_os_numbers numbers = {NULL, NULL};
    if (ZS_LIKELY(strcmp(nl_langinfo(RADIXCHAR), ".") == 0))
        return numbers;
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain != (locale_t)0) {
        numbers.plain = plain;
        numbers.before = uselocale(plain);
    }
    return numbers;
}

void zs_os_numbers_end(struct zs_os_numbers numbers)
{
    if (ZS_LIKELY(!numbers.plain))
        return;
    uselocale((locale_t)numbers.before);
    freelocale((locale_t)numbers.plain);
}
