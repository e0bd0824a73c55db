/* SPDX-License-Identifier: MIT */
/* Trace files on the disk: names, windows that are mapped, ends that are cut. See trace_writer.h
 * for why no descriptor is kept. */
#include "base/signals.h"
#include "store/store.h"
#include "store/trace_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_B = 4096, PATIENCE_MAX = 4096, ORDINALS_MAX = 100000 };

/* While the application's thread works for us it is neither cancelled nor interrupted. */
struct quiet {
    sigset_t mask;
    int cancel_state;
};

static void quiet_begin(struct quiet *q)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &q->cancel_state);
    zs_signals_hold(&q->mask);
}

static void quiet_end(const struct quiet *q)
{
    zs_signals_release(&q->mask);
    pthread_setcancelstate(q->cancel_state, NULL);
}

/* The descriptor of dir/name, or -errno. */
static int open_in(const struct zs_trace_process *process, const char *name, int flags)
{
    char path[ZS_TRACE_PATH_CHARS + 64];
    snprintf(path, sizeof(path), "%s/%s", process->dir, name);
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
    return fd >= 0 ? fd : -errno;
}

static bool is_taken(const char *dir, uint32_t ordinal)
{
    char path[ZS_TRACE_PATH_CHARS + 64];
    struct stat st;
    snprintf(path, sizeof(path), "%s/p%u", dir, ordinal);
    return !lstat(path, &st);
}

/* Ordinals are taken in order: the first that is free is found by doubling and halving. */
static uint32_t first_free(const char *dir)
{
    uint32_t taken = 0, end = 1;
    if (!is_taken(dir, 0))
        return 0;
    while (end < ORDINALS_MAX && is_taken(dir, end)) {
        taken = end;
        end *= 2;
    }
    while (taken + 1 < end) {
        uint32_t middle = taken + (end - taken) / 2;
        if (is_taken(dir, middle))
            taken = middle;
        else
            end = middle;
    }
    return end;
}

/* What claims a number is a folder: to make it takes no descriptor. */
int zs_trace_claim(const char *dir, uint32_t *ret_ordinal)
{
    char path[ZS_TRACE_PATH_CHARS + 64];
    if (mkdir(dir, 0777) && errno != EEXIST)
        return -errno;
    for (uint32_t n = first_free(dir); n < ORDINALS_MAX; n++) {
        snprintf(path, sizeof(path), "%.*s/p%u", ZS_TRACE_PATH_CHARS, dir, n);
        if (!mkdir(path, 0777)) {
            *ret_ordinal = n;
            return 0;
        }
        if (errno != EEXIST)
            return -errno;
    }
    return -ENOSPC;
}

/* 0, -EAGAIN while another thread is about it, -errno. */
static int claim(struct zs_trace_process *process)
{
    int state = ZS_TRACE_UNCLAIMED;
    if (!atomic_compare_exchange_strong(&process->claim, &state, ZS_TRACE_CLAIMING))
        return state == ZS_TRACE_CLAIMED ? 0 : -EAGAIN;
    int error = zs_trace_claim(process->dir, &process->ordinal);
    atomic_store(&process->claim, error ? ZS_TRACE_UNCLAIMED : ZS_TRACE_CLAIMED);
    return error;
}

int zs_trace_process_open(struct zs_trace_process *process, const char *dir, uint64_t limit_B,
                          const uint32_t *ordinal)
{
    struct quiet quiet;
    *process = (struct zs_trace_process){.pid = (uint32_t)getpid(),
                                         .limit_B = limit_B,
                                         .ordinal = ordinal ? *ordinal : 0,
                                         .claim = ordinal ? ZS_TRACE_CLAIMED : ZS_TRACE_UNCLAIMED};
    int n = snprintf(process->dir, sizeof(process->dir), "%s", dir);
    if (n < 0 || (size_t)n >= sizeof(process->dir))
        return -ENAMETOOLONG;
    quiet_begin(&quiet);
    process->has_ticks = zs_trace_kernel_uses_ticks();
    int error = claim(process);
    quiet_end(&quiet);
    return error;
}

/* The file that was made, and no other: its descriptor, or -errno. */
static int open_own(const struct zs_trace_file *file)
{
    struct stat st;
    int fd = open_in(file->process, file->name, O_RDWR);
    if (fd < 0)
        return fd;
    if (!fstat(fd, &st) && st.st_dev == file->device && st.st_ino == file->inode)
        return fd;
    close(fd);
    return -ESTALE;
}

static int make_file(struct zs_trace_file *file)
{
    struct zs_trace_process *process = file->process;
    struct stat st;
    int error = claim(process);
    if (error)
        return error;
    char name[sizeof(file->name)];
    uint32_t number = atomic_load(&process->sequences);
    while (!atomic_compare_exchange_weak(&process->sequences, &number, number + 1))
        continue;
    snprintf(name, sizeof(name), "%u-%u-%u.pftrace", process->pid, process->ordinal, number);
    int fd = open_in(process, name, O_CREAT | O_EXCL | O_RDWR);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st)) {
        error = -errno;
        close(fd);
        return error;
    }
    file->device = st.st_dev;
    file->inode = st.st_ino;
    memcpy(file->name, name, sizeof(file->name));
    zs_trace_file_number(file, number);
    return fd;
}

static void unmap(struct zs_trace_file *file)
{
    if (file->window)
        munmap(file->window, file->window_B);
    file->window = NULL;
}

/* Maps the window whose first page holds the next byte to write. The first is small: most threads
 * make few calls. */
static int map_next(struct zs_trace_file *file, int fd)
{
    struct zs_trace_process *process = file->process;
    uint64_t next = file->window_at + file->used_B;
    uint64_t at = next & ~(uint64_t)(PAGE_B - 1);
    uint32_t window_B = next ? ZS_TRACE_WINDOW_B : ZS_TRACE_FIRST_WINDOW_B;
    uint64_t grow_B = next ? next - file->window_at : window_B;
    if (process->limit_B && atomic_load(&process->size_B) + grow_B > process->limit_B) {
        file->is_over = true;
        return -EFBIG;
    }
    int error = zs_store_fill(fd, file->filled_B, at + window_B - file->filled_B);
    if (error)
        return error;
    file->filled_B = at + window_B;
    if (file->window_B != window_B)
        unmap(file);
    void *window = mmap(file->window, window_B, PROT_READ | PROT_WRITE,
                        MAP_SHARED | (file->window ? MAP_FIXED : 0), fd, (off_t)at);
    if (window == MAP_FAILED)
        return -errno;
    atomic_fetch_add(&process->size_B, grow_B);
    file->window = window;
    file->window_B = window_B;
    file->window_at = at;
    file->used_B = (uint32_t)(next - at);
    return 0;
}

static bool may_pass(int error)
{
    return error == -EMFILE || error == -ENFILE || error == -ENOMEM || error == -EAGAIN ||
           error == -EINTR || error == -EACCES || error == -EPERM;
}

static void give_up(struct zs_trace_file *file, int error)
{
    unmap(file);
    file->is_over |= !may_pass(error);
    file->patience = ZS_MIN(2 * file->patience + 1, (uint32_t)PATIENCE_MAX);
    file->wait = file->patience;
    atomic_store(&file->process->last_errno, -error);
}

bool zs_trace_space_next(struct zs_trace_file *file)
{
    struct quiet quiet;
    if (file->is_over || (file->wait && --file->wait))
        return false;
    quiet_begin(&quiet);
    int fd = file->name[0] ? open_own(file) : make_file(file);
    int error = fd < 0 ? fd : map_next(file, fd);
    if (fd >= 0)
        close(fd);
    if (error)
        give_up(file, error);
    else
        file->patience = file->wait = 0;
    quiet_end(&quiet);
    return !error;
}

/* A process that was made without our knowledge (clone by hand) has its maker's windows, but
 * neither its files nor its end. */
static bool is_own_process(const struct zs_trace_file *file)
{
    return file->process && file->process->pid == (uint32_t)getpid();
}

void zs_trace_file_rest(struct zs_trace_file *file)
{
    struct quiet quiet;
    if (!is_own_process(file))
        return;
    quiet_begin(&quiet);
    uint64_t end_B = file->window_at + file->used_B;
    int fd = file->window ? open_own(file) : -ENOENT;
    if (fd >= 0) {
        if (!ftruncate(fd, (off_t)end_B)) /* else a reader finds zeros and stops there */
            file->filled_B = end_B;
        close(fd);
    }
    unmap(file);
    quiet_end(&quiet);
}

void zs_trace_file_close(struct zs_trace_file *file)
{
    zs_trace_file_rest(file);
    file->is_over = true;
}
