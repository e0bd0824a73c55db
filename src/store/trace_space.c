/* SPDX-License-Identifier: MIT */
/* Trace files on the disk: names, windows that are mapped, ends that are cut. See trace_writer.h
 * for why no descriptor is kept. */
#include "base/signals.h"
#include "store/perfetto.h"
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

static bool is_taken(const struct zs_trace_process *process, uint32_t ordinal)
{
    char path[ZS_TRACE_PATH_CHARS + 64];
    struct stat st;
    snprintf(path, sizeof(path), "%s/p%u", process->dir, ordinal);
    return !lstat(path, &st);
}

/* Ordinals are taken in order: the first that is free is found by doubling and halving. */
static uint32_t first_free(const struct zs_trace_process *process)
{
    uint32_t taken = 0, end = 1;
    if (!is_taken(process, 0))
        return 0;
    while (end < ORDINALS_MAX && is_taken(process, end)) {
        taken = end;
        end *= 2;
    }
    while (taken + 1 < end) {
        uint32_t middle = taken + (end - taken) / 2;
        if (is_taken(process, middle))
            taken = middle;
        else
            end = middle;
    }
    return end;
}

/* Processes of a recording are numbered by who first makes the file that claims a number. */
static int claim_ordinal(struct zs_trace_process *process)
{
    for (uint32_t n = first_free(process); n < ORDINALS_MAX; n++) {
        char name[32];
        snprintf(name, sizeof(name), "p%u", n);
        int fd = open_in(process, name, O_CREAT | O_EXCL | O_WRONLY);
        if (fd >= 0) {
            close(fd);
            process->ordinal = n;
            return 0;
        }
        if (fd != -EEXIST)
            return fd;
    }
    return -ENOSPC;
}

/* 0, -EAGAIN while another thread is about it, -errno. */
static int claim(struct zs_trace_process *process)
{
    int state = ZS_TRACE_UNCLAIMED;
    if (!atomic_compare_exchange_strong(&process->claim, &state, ZS_TRACE_CLAIMING))
        return state == ZS_TRACE_CLAIMED ? 0 : -EAGAIN;
    int error = mkdir(process->dir, 0777) && errno != EEXIST ? -errno : claim_ordinal(process);
    atomic_store(&process->claim, error ? ZS_TRACE_UNCLAIMED : ZS_TRACE_CLAIMED);
    return error;
}

int zs_trace_process_open(struct zs_trace_process *process, const char *dir, uint64_t limit_B)
{
    struct quiet quiet;
    *process = (struct zs_trace_process){.pid = (uint32_t)getpid(), .limit_B = limit_B};
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

void zs_trace_file_close(struct zs_trace_file *file)
{
    struct quiet quiet;
    quiet_begin(&quiet);
    int fd = file->name[0] ? open_own(file) : -ENOENT;
    if (fd >= 0) {
        int ignored = ftruncate(fd, (off_t)(file->window_at + file->used_B));
        (void)ignored; /* then a reader finds zeros and stops there */
        close(fd);
    }
    unmap(file);
    file->is_over = true;
    quiet_end(&quiet);
}

/* The length of the whole packets at the start of a file that is mapped. */
static size_t whole_packets_B(const uint8_t *data, size_t size_B)
{
    size_t at = 0;
    while (at < size_B && data[at] == (ZS_PF_TRACE_PACKET << 3 | 2)) {
        size_t next = at + 1, length_B = 0;
        for (uint32_t shift = 0; next < size_B && shift < 28; shift += 7) {
            uint8_t byte = data[next++];
            length_B |= (size_t)(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                break;
        }
        if (length_B > size_B - next)
            break;
        at = next + length_B;
    }
    return at;
}

int zs_trace_file_trim(int dir_fd, const char *name)
{
    int fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    struct stat st;
    int error = fstat(fd, &st) ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : 0;
    if (!error && st.st_size) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            error = -errno;
        } else {
            size_t whole_B = whole_packets_B(data, (size_t)st.st_size);
            munmap(data, (size_t)st.st_size);
            if (whole_B < (size_t)st.st_size && ftruncate(fd, (off_t)whole_B))
                error = -errno;
        }
    }
    close(fd);
    return error;
}
