/* SPDX-License-Identifier: MIT */
/*
 * Copies and fills of commands.
 *
 * Each side is memory of a context or any other memory of the process. The first kind is held
 * while bytes move, so memcpy does it. Of the second kind nobody knows whether it is mapped, or
 * stays so, and of an imported file whether it keeps its size: there the kernel copies
 * (process_vm_readv of this process), and says so when a page is missing. Such a system call costs
 * more than a row of an image, so rows go through a buffer, many with each call.
 *
 * Everything moves in pieces. Between two of them a command looks whether its context is going
 * away, and lets go of memory when somebody wants to change what is mapped; what it then touches is
 * looked up anew.
 */
#include "driver/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    PIECE_B = 4 << 20,  /* between two looks around */
    PIECE_ROWS = 65536, /* ... when rows are short */
    BUFFER_B = 64 << 10,
    ROW_B_MAX = BUFFER_B / 4, /* longer rows are worth a system call each */
    GAP_B_MAX = 1024,         /* between rows, read along with them: less than a page */
    IOV_MAX_COUNT = 1024,
};

enum side { SIDE_BAD, SIDE_DEVICE, SIDE_HOST, SIDE_MIXED };

/* ---- Holding memory ----------------------------------------------------------------------------
 */

struct transfer {
    struct zs_ze_context *context, *src_context;
    const _Atomic(bool) *cancel; /* or NULL */
    struct zs_memory_pin pin;
    uint64_t moved_B, rows; /* since the last look */
};

static void begin(struct transfer *t)
{
    zs_memory_pin(t->context, t->src_context, &t->pin);
}

static void end(struct transfer *t)
{
    zs_memory_unpin(&t->pin);
}

/* A piece has moved. *ret_anew: memory was let go meanwhile. */
static int look_around(struct transfer *t, uint64_t moved_B, uint64_t rows, bool *ret_anew)
{
    t->moved_B += moved_B;
    t->rows += rows;
    *ret_anew = false;
    if (t->moved_B < PIECE_B && t->rows < PIECE_ROWS)
        return 0;
    t->moved_B = t->rows = 0;
    if (t->cancel && atomic_load_explicit(t->cancel, memory_order_relaxed))
        return -ECANCELED;
    *ret_anew = zs_memory_is_wanted(&t->pin);
    if (*ret_anew) {
        end(t);
        begin(t);
    }
    return 0;
}

/* ---- The kernel copies -------------------------------------------------------------------------
 */

struct vector {
    struct iovec *items;
    unsigned long count;
};

static int kernel_copy(const struct vector *to, const struct vector *from, size_t size_B)
{
    ssize_t n = process_vm_readv(getpid(), to->items, to->count, from->items, from->count, 0);
    if (n == (ssize_t)size_B)
        return 0;
    return n < 0 && (errno == ENOSYS || errno == EPERM) ? -ENOSYS : -EFAULT;
}

static int host_copy(void *dst, const void *src, uint64_t size_B)
{
    struct iovec to = {dst, (size_t)size_B}, from = {(void *)(uintptr_t)src, (size_t)size_B};
    int error = kernel_copy(&(struct vector){&to, 1}, &(struct vector){&from, 1}, (size_t)size_B);
    if (error != -ENOSYS)
        return error;
    memmove(dst, src, (size_t)size_B); /* no such system call here: as well as one can */
    return 0;
}

bool zs_memory_is_there(const void *host)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)(uintptr_t)host, 1};
    return kernel_copy(&(struct vector){&to, 1}, &(struct vector){&from, 1}, 1) != -EFAULT;
}

/* ---- What memory it is -------------------------------------------------------------------------
 */

/* Memory of a context must hold all bytes; anything else is for the host's kernel to judge. */
static enum side side_of(struct zs_ze_context *context, const void *p, uint64_t size_B, bool write)
{
    struct zs_range range;
    if (!zs_memory_find(context, p, &range))
        return SIDE_HOST;
    if ((write && range.read_only) || size_B > range.base + range.size_B - (uintptr_t)p ||
        zs_gpu_file_is_lost(range.watched))
        return SIDE_BAD;
    return range.may_shrink ? SIDE_HOST : SIDE_DEVICE;
}

/* Of rows: one kind for all of them, or SIDE_MIXED: each is to be asked for. */
static enum side side_of_all(struct zs_ze_context *context, const void *p, uint64_t span_B,
                             bool write)
{
    struct zs_range range;
    if (!zs_memory_find(context, p, &range))
        return zs_memory_touches(context, p, span_B) ? SIDE_MIXED : SIDE_HOST;
    bool inside = span_B <= range.base + range.size_B - (uintptr_t)p;
    if (!inside || (write && range.read_only) || zs_gpu_file_is_lost(range.watched))
        return SIDE_MIXED;
    return range.may_shrink ? SIDE_HOST : SIDE_DEVICE;
}

static void mark_written(struct zs_ze_context *context, void *dst, uint64_t size_B)
{
    if (context->driver->check)
        zs_gpu_memory_mark_written(context->memory, (uintptr_t)dst, size_B);
}

/* ---- One row -----------------------------------------------------------------------------------
 */

static struct zs_ze_context *source_of(const struct transfer *t)
{
    return t->src_context ? t->src_context : t->context;
}

static int move(struct transfer *t, char *dst, const char *src, uint64_t size_B)
{
    enum side to = side_of(t->context, dst, size_B, true);
    enum side from = side_of(source_of(t), src, size_B, false);
    if (to == SIDE_BAD || from == SIDE_BAD)
        return -EFAULT;
    int error = 0;
    if (to == SIDE_DEVICE && from == SIDE_DEVICE)
        memmove(dst, src, (size_t)size_B);
    else
        error = host_copy(dst, src, size_B);
    if (!error && to == SIDE_DEVICE)
        mark_written(t->context, dst, size_B);
    return error;
}

/* In pieces; from its end on, when it moves up over itself. */
static int copy_row(struct transfer *t, char *dst, const char *src, uint64_t size_B)
{
    bool up = (uintptr_t)dst > (uintptr_t)src && (uintptr_t)dst - (uintptr_t)src < size_B, anew;
    int error = 0;
    for (uint64_t done_B = 0; done_B < size_B && !error;) {
        uint64_t piece_B = ZS_MIN(size_B - done_B, (uint64_t)PIECE_B);
        uint64_t at_B = up ? size_B - done_B - piece_B : done_B;
        error = move(t, dst + at_B, src + at_B, piece_B);
        done_B += piece_B;
        if (!error)
            error = look_around(t, piece_B, 1, &anew);
    }
    return error;
}

/* ---- Many rows ---------------------------------------------------------------------------------
 */

/* Short rows of one slice, through a buffer. */
struct rows {
    struct transfer *t;
    const struct zs_region *region;
    enum side to, from;
    char *buffer;
    struct iovec *vector;
};

static unsigned long gather_vector(struct rows *r, const char *first, size_t pitch_B, size_t count)
{
    unsigned long used = 0;
    size_t row_B = r->region->row_B;
    for (size_t i = 0; i < count; i++) {
        char *row = (char *)(uintptr_t)first + i * pitch_B;
        struct iovec *last = used ? &r->vector[used - 1] : NULL;
        if (last && (char *)last->iov_base + last->iov_len == row)
            last->iov_len += row_B;
        else
            r->vector[used++] = (struct iovec){row, row_B};
    }
    return used;
}

/* Bytes from row to row in the buffer: gaps of the source, when they are small, come along. */
static size_t buffered_pitch(const struct rows *r)
{
    const struct zs_region *g = r->region;
    bool along = r->from == SIDE_HOST && g->src_pitch_B >= g->row_B &&
                 g->src_pitch_B - g->row_B <= GAP_B_MAX;
    return along ? g->src_pitch_B : g->row_B;
}

static int into_buffer(struct rows *r, const char *src, size_t count)
{
    size_t row_B = r->region->row_B, pitch_B = buffered_pitch(r);
    size_t total_B = (count - 1) * pitch_B + row_B;
    if (r->from == SIDE_DEVICE) {
        for (size_t i = 0; i < count; i++)
            memcpy(r->buffer + i * row_B, src + i * r->region->src_pitch_B, row_B);
        return 0;
    }
    struct iovec all = {r->buffer, total_B}, span = {(char *)(uintptr_t)src, total_B};
    struct vector from = {&span, 1};
    if (pitch_B != r->region->src_pitch_B)
        from = (struct vector){r->vector, gather_vector(r, src, r->region->src_pitch_B, count)};
    return kernel_copy(&(struct vector){&all, 1}, &from, total_B);
}

static int out_of_buffer(struct rows *r, char *dst, size_t count)
{
    size_t row_B = r->region->row_B, pitch_B = buffered_pitch(r);
    for (size_t i = 0; i < count && r->to == SIDE_DEVICE; i++)
        memcpy(dst + i * r->region->dst_pitch_B, r->buffer + i * pitch_B, row_B);
    if (r->to == SIDE_DEVICE)
        return 0;
    for (size_t i = 1; i < count && pitch_B != row_B; i++)
        memmove(r->buffer + i * row_B, r->buffer + i * pitch_B, row_B);
    struct iovec all = {r->buffer, count * row_B};
    struct vector to = {r->vector, gather_vector(r, dst, r->region->dst_pitch_B, count)};
    return kernel_copy(&to, &(struct vector){&all, 1}, count * row_B);
}

/* As many rows as one call moves; 0: it has to go row by row. */
static size_t rows_at_once(struct rows *r, size_t left)
{
    size_t room = BUFFER_B / buffered_pitch(r);
    return ZS_MIN(ZS_MIN(left, room), (size_t)IOV_MAX_COUNT);
}

static int copy_some(struct rows *r, char *dst, const char *src, size_t count)
{
    const struct zs_region *g = r->region;
    int error = 0;
    if (r->to == SIDE_DEVICE && r->from == SIDE_DEVICE) {
        for (size_t i = 0; i < count; i++)
            memmove(dst + i * g->dst_pitch_B, src + i * g->src_pitch_B, g->row_B);
    } else {
        error = into_buffer(r, src, count);
        if (!error)
            error = out_of_buffer(r, dst, count);
    }
    for (size_t i = 0; i < count && r->to == SIDE_DEVICE && r->t->context->driver->check; i++)
        mark_written(r->t->context, dst + i * g->dst_pitch_B, g->row_B);
    return error;
}

/* Bytes from the first row to the end of the last one; 0: too many to count. */
static uint64_t span_of(const struct zs_region *g, size_t rows, size_t pitch_B)
{
    uint64_t span_B;
    return zs_mul_u64(rows - 1, pitch_B, &span_B) && zs_add_u64(span_B, g->row_B, &span_B) ? span_B
                                                                                           : 0;
}

static void find_sides(struct rows *r, const char *dst, const char *src, size_t rows)
{
    const struct zs_region *g = r->region;
    uint64_t dst_B = span_of(g, rows, g->dst_pitch_B), src_B = span_of(g, rows, g->src_pitch_B);
    r->to = dst_B ? side_of_all(r->t->context, dst, dst_B, true) : SIDE_MIXED;
    r->from = src_B ? side_of_all(source_of(r->t), src, src_B, false) : SIDE_MIXED;
}

static int copy_slice(struct rows *r, char *dst, const char *src)
{
    const struct zs_region *g = r->region;
    bool anew = true;
    int error = 0;
    for (size_t y = 0; y < g->rows && !error;) {
        char *to = dst + y * g->dst_pitch_B;
        const char *from = src + y * g->src_pitch_B;
        if (anew)
            find_sides(r, to, from, g->rows - y);
        bool alike = r->to != SIDE_MIXED && r->from != SIDE_MIXED && r->buffer;
        size_t count = alike ? rows_at_once(r, g->rows - y) : 1;
        error = alike ? copy_some(r, to, from, count) : -ENOSYS;
        if (error == -ENOSYS) {
            error = copy_row(r->t, to, from, g->row_B);
            count = 1;
        }
        if (!error)
            error = look_around(r->t, count * g->row_B, count, &anew);
        y += count;
    }
    return error;
}

/* Rows that follow each other without a gap, on both sides, are one; so are such slices. */
static struct zs_region merged(const struct zs_region *region)
{
    struct zs_region g = *region;
    for (int i = 0; i < 2; i++) {
        size_t all_B;
        if (g.dst_pitch_B == g.row_B && g.src_pitch_B == g.row_B &&
            !__builtin_mul_overflow(g.row_B, g.rows, &all_B)) {
            g.row_B = all_B;
            g.rows = 1;
        }
        if (g.rows != 1)
            break;
        g.rows = g.slices;
        g.slices = 1;
        g.dst_pitch_B = g.dst_slice_B;
        g.src_pitch_B = g.src_slice_B;
    }
    return g;
}

int zs_memory_copy_region(struct zs_ze_context *context, struct zs_ze_context *src_context,
                          const struct zs_region *region, const _Atomic(bool) *cancel)
{
    struct transfer t = {.context = context, .src_context = src_context, .cancel = cancel};
    struct zs_region g = merged(region);
    if (g.row_B == 0 || g.rows == 0 || g.slices == 0)
        return 0;
    struct rows r = {.t = &t, .region = &g};
    bool many = (g.rows > 1 || g.slices > 1) && g.row_B <= ROW_B_MAX;
    if (many) { /* without memory for it rows go one by one */
        r.vector = malloc(IOV_MAX_COUNT * sizeof(*r.vector) + BUFFER_B);
        r.buffer = r.vector ? (char *)(r.vector + IOV_MAX_COUNT) : NULL;
    }
    int error = 0;
    begin(&t);
    for (size_t z = 0; z < g.slices && !error; z++)
        error = g.rows == 1 ? copy_row(&t, g.dst, g.src, g.row_B)
                            : copy_slice(&r, g.dst + z * g.dst_slice_B, g.src + z * g.src_slice_B);
    end(&t);
    free(r.vector);
    return error;
}

int zs_memory_copy(struct zs_ze_context *context, void *dst, struct zs_ze_context *src_context,
                   const void *src, uint64_t size_B, const _Atomic(bool) *cancel)
{
    const struct zs_region region = {
        .dst = dst, .src = src, .row_B = (size_t)size_B, .rows = 1, .slices = 1};
    return zs_memory_copy_region(context, src_context, &region, cancel);
}

/* ---- Fills -------------------------------------------------------------------------------------
 */

/* The pattern as often as it fits; a power of two of bytes, as patterns are. */
struct block {
    const char *data;
    size_t size_B;
};

static int fill_pieces(struct transfer *t, char *dst, uint64_t size_B, const struct block *block)
{
    bool anew = true;
    enum side to = SIDE_BAD;
    int error = 0;
    for (uint64_t done_B = 0; done_B < size_B && !error;) {
        uint64_t piece_B = ZS_MIN(size_B - done_B, (uint64_t)block->size_B);
        if (anew)
            to = side_of(t->context, dst + done_B, size_B - done_B, true);
        if (to == SIDE_BAD)
            error = -EFAULT;
        else if (to == SIDE_HOST)
            error = host_copy(dst + done_B, block->data, piece_B);
        else
            memcpy(dst + done_B, block->data, (size_t)piece_B);
        done_B += piece_B;
        if (!error)
            error = look_around(t, piece_B, 1, &anew);
    }
    if (!error && to == SIDE_DEVICE)
        mark_written(t->context, dst, size_B);
    return error;
}

int zs_memory_fill(struct zs_ze_context *context, void *dst, const void *pattern, size_t pattern_B,
                   uint64_t size_B, const _Atomic(bool) *cancel)
{
    struct transfer t = {.context = context, .cancel = cancel};
    struct block block = {pattern, pattern_B};
    uint64_t wanted_B = ZS_MIN(size_B, (uint64_t)BUFFER_B);
    char *made = pattern_B < wanted_B ? malloc(2 * (size_t)wanted_B) : NULL;
    if (made) { /* double what is there */
        memcpy(made, pattern, pattern_B);
        for (; block.size_B < wanted_B; block.size_B *= 2)
            memcpy(made + block.size_B, made, block.size_B);
        block.data = made;
    }
    begin(&t);
    int error = fill_pieces(&t, dst, size_B, &block);
    end(&t);
    free(made);
    return error;
}
