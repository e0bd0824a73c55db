/* SPDX-License-Identifier: MIT */
/*
 * The bounded cursor: the only way in which this project reads raw bytes of a file.
 *
 * The first error sticks: afterwards every read yields zeros and does not move, so a parser may
 * read a whole header and check once. All multi-byte values are little-endian and unaligned.
 *
 *     struct zs_reader r = zs_reader_make(span, 0, diag);
 *     uint32_t magic = zs_read_u32(&r, "magic");
 *     uint32_t count = zs_read_u32(&r, "kernel count");
 *     if (r.error)
 *         return r.error;   // diag says: at byte 0x4: kernel count: 4 bytes expected, 2 remain
 */
#ifndef ZS_BASE_READER_H
#define ZS_BASE_READER_H

#include "base/diag.h"
#include "base/span.h"

struct zs_reader {
    struct zs_span span;
    size_t at_B;     /* next byte, always <= span.size_B */
    uint64_t base_B; /* offset of span[0] in the whole input: for diagnostics only */
    int error;       /* 0 or the first -errno */
    struct zs_diag *diag;
};

static inline struct zs_reader zs_reader_make(struct zs_span span, uint64_t base_B,
                                              struct zs_diag *diag)
{
    return (struct zs_reader){.span = span, .base_B = base_B, .diag = diag};
}
static inline size_t zs_reader_left(const struct zs_reader *r)
{
    return r->error ? 0 : r->span.size_B - r->at_B;
}
/* Offset of the next byte in the whole input. */
static inline uint64_t zs_reader_offset(const struct zs_reader *r)
{
    return r->base_B + r->at_B;
}

/* Fail with a sentence at the current offset; keeps an earlier error. Returns the sticking one. */
int zs_reader_fail(struct zs_reader *r, int error, const char *format, ...) ZS_PRINTF(3, 4);

/* `what` names the field in a diagnostic. On error: 0, or an empty span. */
uint8_t zs_read_u8(struct zs_reader *r, const char *what);
uint16_t zs_read_u16(struct zs_reader *r, const char *what);
uint32_t zs_read_u32(struct zs_reader *r, const char *what);
uint64_t zs_read_u64(struct zs_reader *r, const char *what);
struct zs_span zs_read_bytes(struct zs_reader *r, uint64_t size_B, const char *what);
void zs_read_skip(struct zs_reader *r, uint64_t size_B, const char *what);
/* Move to an absolute offset inside the span. */
void zs_read_seek(struct zs_reader *r, uint64_t at_B, const char *what);
/* A reader over the next size_B bytes, which are consumed here. It shares diag and offsets. */
struct zs_reader zs_read_sub(struct zs_reader *r, uint64_t size_B, const char *what);
/* A count of records of at least record_B bytes each: refused when they cannot fit in what is
 * left, so that a hostile count never sizes an allocation. */
uint32_t zs_read_count(struct zs_reader *r, size_t record_B, const char *what);

/* LEB128 of at most ten bytes; a value that does not fit in 64 bits is refused. */
uint64_t zs_read_uleb128(struct zs_reader *r, const char *what);
int64_t zs_read_sleb128(struct zs_reader *r, const char *what);
/* A string that ends in a NUL inside the span, which is consumed too. On error: "". */
const char *zs_read_cstr(struct zs_reader *r, const char *what);

/* Little-endian loads from bytes that were already checked to be there. */
static inline uint16_t zs_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t zs_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t zs_load_u64(const uint8_t *p)
{
    return (uint64_t)zs_load_u32(p) | (uint64_t)zs_load_u32(p + 4) << 32;
}

static inline void zs_store_u32(uint8_t *p, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static inline void zs_store_u64(uint8_t *p, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

#endif
