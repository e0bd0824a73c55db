/* SPDX-License-Identifier: MIT */
#include "driver/metrics/share.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW };
static const uint64_t SEGMENT_MAGIC = UINT64_C(0x3130474553534d5a); /* "ZMSSEG01" */
static const uint64_t BUSY_MOST_NS = 2000000; /* that the reader waits for a writer */

struct zs_metric_ring {
    _Atomic pid_t owner;   /* 0: free */
    _Atomic uint32_t busy; /* a launch takes its time on the clock */
    _Atomic uint64_t head; /* slots that were put */
    _Atomic uint64_t tail; /* slots that were taken */
    _Atomic uint64_t lost;
    uint8_t room[ZS_METRIC_SLOT_B - 32];
    struct zs_metric_slot slots[ZS_METRIC_SLOTS];
};

struct zs_metric_segment {
    uint64_t magic;
    uint32_t version, counters, set;
    _Atomic uint32_t closed;
    _Atomic uint64_t told_ticks;
    uint8_t room[4096 - 32];
    struct zs_metric_ring
        rings[ZS_METRIC_RINGS]; /* the first one is the streamer's own process's */
};

/* ---- The streamer's side -----------------------------------------------------------------------
 */

static int make_file(void)
{
    int fd = memfd_create("zescope-streamer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, sizeof(struct zs_metric_segment)) != 0 || fcntl(fd, F_ADD_SEALS, SEALS)) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

static struct zs_metric_segment *map(int fd)
{
    void *at = mmap(NULL, sizeof(struct zs_metric_segment), PROT_READ | PROT_WRITE,
                    (fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_NORESERVE, fd, 0);
    if (at == MAP_FAILED)
        return NULL;
    (void)madvise(at, sizeof(struct zs_metric_segment), MADV_DONTFORK);
    return at;
}

int zs_metric_share_open(uint32_t set, struct zs_metric_share *ret)
{
    *ret = (struct zs_metric_share){.file = ZS_OWN_FD_NONE};
    int fd = make_file();
    ret->segment = map(fd < 0 ? -1 : fd);
    if (!ret->segment) {
        if (fd >= 0)
            close(fd);
        return -ENOMEM;
    }
    if (fd < 0)
        zs_log(ZS_LOG_INFO,
               "metrics: nothing can be shared (%s): the streamer does not see what "
               "other processes launch",
               strerror(-fd));
    else
        ret->file = zs_own_fd_make(fd);
    struct zs_metric_segment *s = ret->segment;
    s->version = ZS_RAW_VERSION;
    s->counters = ZS_METRIC_COUNTERS;
    s->set = set;
    atomic_store(&s->rings[0].owner, getpid());
    s->magic = SEGMENT_MAGIC;
    return 0;
}

void zs_metric_share_close(struct zs_metric_share *share)
{
    if (!share->segment)
        return;
    atomic_store(&share->segment->closed, 1);
    munmap(share->segment, sizeof(*share->segment));
    zs_own_fd_close(&share->file);
    share->segment = NULL;
}

/* Whoever died within a launch waits for nothing. */
static void wait_for(struct zs_metric_ring *ring)
{
    const uint64_t until_ns = zs_now_ns() + BUSY_MOST_NS;
    while (atomic_load(&ring->busy)) {
        if (zs_now_ns() > until_ns) {
            if (kill(atomic_load(&ring->owner), 0) != 0 && errno == ESRCH)
                atomic_store(&ring->busy, 0);
            return;
        }
        sched_yield();
    }
}

void zs_metric_share_tell(struct zs_metric_share *share, uint64_t ticks)
{
    atomic_store(&share->segment->told_ticks, ticks);
    for (uint32_t i = 0; i < ZS_METRIC_RINGS; i++)
        if (atomic_load(&share->segment->rings[i].owner))
            wait_for(&share->segment->rings[i]);
}

static bool is_slot(const struct zs_metric_slot *slot)
{
    return slot->kind == ZS_METRIC_SLOT_STRETCH || slot->kind == ZS_METRIC_SLOT_MARK ||
           (slot->kind == ZS_METRIC_SLOT_AT && slot->count <= ZS_METRIC_SLOT_ADDRESSES);
}

static bool drain_ring(struct zs_metric_share *share, uint32_t number,
                       void (*take)(void *opaque, const struct zs_metric_slot *slot), void *opaque)
{
    struct zs_metric_ring *ring = &share->segment->rings[number];
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t lost = atomic_load_explicit(&ring->lost, memory_order_relaxed);
    bool ok = lost == share->lost[number];
    share->lost[number] = lost;
    if (head - share->tails[number] > ZS_METRIC_SLOTS) { /* no writer of ours did that */
        share->tails[number] = head;
        ok = false;
    }
    while (share->tails[number] != head) {
        struct zs_metric_slot slot = ring->slots[share->tails[number] % ZS_METRIC_SLOTS];
        if (is_slot(&slot))
            take(opaque, &slot);
        else
            ok = false;
        atomic_store_explicit(&ring->tail, ++share->tails[number], memory_order_release);
    }
    return ok;
}

bool zs_metric_share_drain(struct zs_metric_share *share,
                           void (*take)(void *opaque, const struct zs_metric_slot *slot),
                           void *opaque)
{
    bool ok = true;
    for (uint32_t i = 0; i < ZS_METRIC_RINGS; i++)
        ok = drain_ring(share, i, take, opaque) && ok;
    return ok;
}

/* ---- The side of launches ----------------------------------------------------------------------
 */

/* A file that cannot shrink under us, of this user. */
static int open_file(pid_t pid, int fd)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)pid, fd);
    int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return -1;
    if (fstat(file, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
        st.st_size != sizeof(struct zs_metric_segment) ||
        (fcntl(file, F_GET_SEALS) & SEALS) != SEALS) {
        close(file);
        return -1;
    }
    return file;
}

/* One that is free, or whose process is gone. */
static struct zs_metric_ring *take_ring(struct zs_metric_segment *s)
{
    for (uint32_t i = 1; i < ZS_METRIC_RINGS; i++) {
        pid_t owner = atomic_load(&s->rings[i].owner);
        bool free = owner <= 0 || owner == getpid() || (kill(owner, 0) != 0 && errno == ESRCH);
        if (free && atomic_compare_exchange_strong(&s->rings[i].owner, &owner, getpid())) {
            atomic_store(&s->rings[i].busy, 0);
            return &s->rings[i];
        }
    }
    return NULL;
}

bool zs_metric_out_open(struct zs_metric_out *out, pid_t pid, int fd)
{
    int file = open_file(pid, fd);
    struct zs_metric_segment *s = file >= 0 ? map(file) : NULL;
    if (file >= 0)
        close(file);
    if (!s)
        return false;
    bool is_ours = s->magic == SEGMENT_MAGIC && s->version == ZS_RAW_VERSION &&
                   s->counters == ZS_METRIC_COUNTERS && !atomic_load(&s->closed);
    struct zs_metric_ring *ring = is_ours ? take_ring(s) : NULL;
    if (!ring) {
        munmap(s, sizeof(*s));
        zs_log(ZS_LOG_INFO,
               "metrics: the streamer of process %ld does not see this process's "
               "launches: it is %s",
               (long)pid, is_ours ? "told of too many processes" : "of another version");
        return false;
    }
    *out = (struct zs_metric_out){.segment = s,
                                  .ring = ring,
                                  .head = atomic_load(&ring->head),
                                  .streamer = pid,
                                  .set = s->set};
    return true;
}

void zs_metric_out_own(struct zs_metric_out *out, const struct zs_metric_share *share)
{
    struct zs_metric_ring *ring = &share->segment->rings[0];
    *out = (struct zs_metric_out){.segment = share->segment,
                                  .ring = ring,
                                  .head = atomic_load(&ring->head),
                                  .streamer = getpid(),
                                  .is_own = true,
                                  .set = share->segment->set};
}

void zs_metric_out_close(struct zs_metric_out *out)
{
    if (out->segment && !out->is_own) {
        atomic_store(&out->ring->owner, 0);
        munmap(out->segment, sizeof(*out->segment));
    }
    *out = (struct zs_metric_out){0};
}

bool zs_metric_out_lives(const struct zs_metric_out *out)
{
    return !atomic_load(&out->segment->closed) && (kill(out->streamer, 0) == 0 || errno != ESRCH);
}

uint64_t zs_metric_out_begin(struct zs_metric_out *out, uint64_t now_ticks)
{
    atomic_store(&out->ring->busy, 1);
    return ZS_MIN(atomic_load(&out->segment->told_ticks), now_ticks);
}

void zs_metric_out_end(struct zs_metric_out *out)
{
    atomic_store_explicit(&out->ring->busy, 0, memory_order_release);
}

static uint64_t untaken(const struct zs_metric_out *out)
{
    return out->head - atomic_load_explicit(&out->ring->tail, memory_order_acquire);
}

bool zs_metric_out_presses(const struct zs_metric_out *out)
{
    return untaken(out) >= ZS_METRIC_SLOTS / 2;
}

void zs_metric_out_put(struct zs_metric_out *out, const struct zs_metric_slot *slot)
{
    struct zs_metric_ring *ring = out->ring;
    if (untaken(out) >= ZS_METRIC_SLOTS) {
        atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
        return;
    }
    ring->slots[out->head % ZS_METRIC_SLOTS] = *slot;
    atomic_store_explicit(&ring->head, ++out->head, memory_order_release);
}
