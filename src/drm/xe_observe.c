/* SPDX-License-Identifier: MIT */
/*
 * EU stall sampling as xe has it: a stream of records that say how often samples met threads at an
 * instruction, by what they waited for. Launches of a node that is observed run with the model of
 * time; what it found is cut into samples. A stream is a pipe, so that reading and polling are the
 * system's; what does not fit into it is dropped, as hardware does it.
 */
#include "drm/xe.h"

#include "gpu/timing/timing.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RATE_UNIT = 251, RATES = ZS_XE_STALL_RATES, PIPE_B = 1 << 20 };

/* ---- the query ---------------------------------------------------------------------------------
 */

size_t zs_drm_xe_put_stalls(const struct zs_drm_node *node, uint8_t *to)
{
    enum { XE_CORE_B = 512 << 10, BASE = 1 };
    struct zs_xe_stall_query q = {.capabilities = BASE,
                                  .record_B = ZS_XE_STALL_RECORD_B,
                                  .buffer_B = XE_CORE_B,
                                  .rate_count = RATES};
    for (uint64_t i = 0; i < RATES; i++)
        q.rates[i] = (i + 1) * RATE_UNIT;
    memcpy(to, &q, sizeof(q));
    return sizeof(q);
}

bool zs_drm_xe_has_stalls(const struct zs_drm_node *node)
{
    return node->model->stall_sampler && zs_gpu_model_is_timed(node->model);
}

/* ---- streams -----------------------------------------------------------------------------------
 */

struct zs_drm_stalls {
    struct zs_drm_stalls *next;
    int write_fd;
    dev_t device;
    ino_t inode;
    uint64_t rate_cycles;
    uint32_t active_at; /* in records */
    bool is_enabled;
};

static int read_properties(uint64_t at, uint64_t ret_values[ZS_XE_STALL_PROPERTIES])
{
    for (uint32_t i = 0; at; i++) {
        struct zs_xe_property p;
        int error = i == 16 ? -E2BIG : zs_drm_copy_in(&p, at, sizeof(p));
        if (error)
            return error;
        if (p.name || p.id >= ZS_XE_STALL_PROPERTIES)
            return -EINVAL;
        ret_values[p.id] = p.value;
        at = p.next;
    }
    return 0;
}

static int stream_create(struct zs_drm_node *node, uint64_t rate_cycles)
{
    int ends[2];
    struct stat st;
    struct zs_drm_stalls *s = calloc(1, sizeof(*s));
    if (!s || pipe2(ends, O_CLOEXEC)) {
        int error = s ? -errno : -ENOMEM;
        free(s);
        return error;
    }
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_B);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    if (zs_drm_real_fstat(ends[0], &st)) {
        int error = -errno;
        close(ends[0]);
        close(ends[1]);
        free(s);
        return error;
    }
    *s = (struct zs_drm_stalls){.write_fd = ends[1],
                                .device = st.st_dev,
                                .inode = st.st_ino,
                                .rate_cycles = rate_cycles,
                                .active_at = node->model->stall_active};
    pthread_mutex_lock(&node->lock);
    s->next = node->stalls;
    node->stalls = s;
    pthread_mutex_unlock(&node->lock);
    return ends[0];
}

/* A descriptor. */
int zs_drm_xe_observation(struct zs_drm_file *file, void *argument)
{
    enum { EU_STALL = 1, STREAM_OPEN = 0 };
    const struct zs_xe_observation *o = argument;
    uint64_t values[ZS_XE_STALL_PROPERTIES] = {[ZS_XE_STALL_RATE] = RATE_UNIT};
    if (o->extensions || o->type != EU_STALL || o->op != STREAM_OPEN ||
        !zs_drm_xe_has_stalls(file->node)) {
        zs_drm_log(ZS_DRM_WARN, "observation %" PRIu64 ", operation %" PRIu64 " is not modelled",
                   o->type, o->op);
        return o->type == EU_STALL ? -EINVAL : -EOPNOTSUPP;
    }
    int error = read_properties(o->param, values);
    uint64_t units = values[ZS_XE_STALL_RATE] / RATE_UNIT;
    if (!error &&
        (!units || units > RATES || values[ZS_XE_STALL_GT] >= ZS_MAX(file->node->model->tiles, 1u)))
        error = -EINVAL;
    return error ? error : stream_create(file->node, units * RATE_UNIT);
}

static void forget(struct zs_drm_stalls **at)
{
    struct zs_drm_stalls *s = *at;
    *at = s->next;
    close(s->write_fd);
    free(s);
}

/* Enable and disable: _IO('i', 0) and 1. false: the descriptor is no stream. */
bool zs_drm_xe_stream_ioctl(int fd, unsigned long request, int *ret)
{
    struct stat st;
    bool is_ours = false;
    if (_IOC_NR(request) > 1 || zs_drm_real_fstat(fd, &st) || !S_ISFIFO(st.st_mode))
        return false;
    for (uint32_t i = 0; i < zs_drm_node_count() && !is_ours; i++) {
        struct zs_drm_node *node = zs_drm_node(i);
        pthread_mutex_lock(&node->lock);
        for (struct zs_drm_stalls *s = node->stalls; s && !is_ours; s = s->next) {
            is_ours = s->inode == st.st_ino && s->device == st.st_dev;
            if (is_ours)
                s->is_enabled = _IOC_NR(request) == 0;
        }
        pthread_mutex_unlock(&node->lock);
    }
    *ret = 0;
    return is_ours;
}

bool zs_drm_stalls_wanted(struct zs_drm_node *node)
{
    bool wanted = false;
    pthread_mutex_lock(&node->lock);
    for (const struct zs_drm_stalls *s = node->stalls; s; s = s->next)
        wanted |= s->is_enabled;
    pthread_mutex_unlock(&node->lock);
    return wanted;
}

/* ---- records -----------------------------------------------------------------------------------
 */

/* Counts of a record by where they stand, and the model's reasons; from Xe2 on what stands first
 * (pixels) is what it does not know. Where active cycles stand the model of the device says. */
enum { OTHER = 1, CONTROL, PIPE, SEND, DIST, SBID, SYNC, FETCH, LAST, COUNTS };
static const uint8_t place_of[ZS_TIMING_REASONS] = {
    [ZS_TIMING_CONTROL] = CONTROL, [ZS_TIMING_PIPE] = PIPE,  [ZS_TIMING_SEND] = SEND,
    [ZS_TIMING_DIST] = DIST,       [ZS_TIMING_SBID] = SBID,  [ZS_TIMING_SYNC] = SYNC,
    [ZS_TIMING_OTHER] = OTHER,     [ZS_TIMING_FETCH] = FETCH};

/* 29 bits of the address in units of 8 bytes, then counts of 8 bits each. */
static void put_record(uint8_t to[ZS_XE_STALL_RECORD_B], uint64_t ip, const uint8_t counts[COUNTS])
{
    enum { IP_BITS = 29 };
    unsigned __int128 bits = ip >> 3 & ((1u << IP_BITS) - 1);
    for (uint32_t i = 0; i < COUNTS; i++)
        bits |= (unsigned __int128)counts[i] << (IP_BITS + i * 8);
    memset(to, 0, ZS_XE_STALL_RECORD_B);
    memcpy(to, &bits, sizeof(bits));
}

/* One sample for each `rate` of thread cycles; what is left counts for the next instruction, so
 * that sums are right. Records of up to 255. Engines' threads have SIGPIPE blocked. false: nobody
 * reads. */
static bool send_instruction(struct zs_drm_stalls *s, uint64_t ip, const uint64_t *cycles,
                             uint64_t left[ZS_TIMING_REASONS])
{
    uint64_t samples[COUNTS] = {0}, most = 0;
    for (uint32_t r = 0; r < ZS_TIMING_REASONS; r++) {
        uint64_t all = cycles[r] + left[r];
        samples[r == ZS_TIMING_ACTIVE ? s->active_at : place_of[r]] += all / s->rate_cycles;
        left[r] = all % s->rate_cycles;
    }
    for (uint32_t i = 0; i < COUNTS; i++)
        most = ZS_MAX(most, samples[i]);
    for (; most; most -= ZS_MIN(most, UINT8_MAX)) {
        uint8_t record[ZS_XE_STALL_RECORD_B], counts[COUNTS];
        for (uint32_t i = 0; i < COUNTS; i++) {
            counts[i] = (uint8_t)ZS_MIN(samples[i], UINT8_MAX);
            samples[i] -= counts[i];
        }
        put_record(record, ip, counts);
        if (write(s->write_fd, record, sizeof(record)) < 0 && errno == EPIPE)
            return false;
    }
    return true;
}

/* Functions stand elsewhere in the same 4 GB. */
static uint64_t address_of(uint64_t kernel_va, const struct zs_gpu_kernel *kernel, int64_t offset_B)
{
    uint32_t distance_B = zs_gpu_kernel_ip(kernel, offset_B) - zs_gpu_kernel_ip(kernel, 0);
    return (kernel_va & ~(uint64_t)UINT32_MAX) | ((uint32_t)kernel_va + distance_B);
}

void zs_drm_stalls_put(struct zs_drm_node *node, uint64_t kernel_va,
                       const struct zs_gpu_kernel *kernel, const struct zs_gpu_timing *timing)
{
    pthread_mutex_lock(&node->lock);
    for (struct zs_drm_stalls **at = &node->stalls; *at;) {
        uint64_t left[ZS_TIMING_REASONS] = {0};
        bool goes_on = true;
        for (uint32_t i = 0; i < timing->stall_count && goes_on && (*at)->is_enabled; i++)
            goes_on =
                send_instruction(*at, address_of(kernel_va, kernel, timing->stalls[i].offset_B),
                                 timing->stalls[i].cycles, left);
        if (goes_on)
            at = &(*at)->next;
        else
            forget(at);
    }
    pthread_mutex_unlock(&node->lock);
}
