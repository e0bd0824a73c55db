/* SPDX-License-Identifier: MIT */
/* Compiler helpers and the assertion that stays on in release builds. */
#ifndef ZS_BASE_COMPILER_H
#define ZS_BASE_COMPILER_H

#include <zescope/common.h>

#define ZS_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* Of an array of characters that need not end in a zero. */
#if defined(__GNUC__) && !defined(__clang__)
#define ZS_NONSTRING __attribute__((nonstring))
#else
#define ZS_NONSTRING
#endif
#define ZS_MUST_CHECK    __attribute__((warn_unused_result))
#define ZS_ALWAYS_INLINE inline __attribute__((always_inline))
#define ZS_LIKELY(x)     __builtin_expect(!!(x), 1)
#define ZS_UNLIKELY(x)   __builtin_expect(!!(x), 0)
#define ZS_ARRAY_LEN(a)  (sizeof(a) / sizeof((a)[0]))
#define ZS_MIN(a, b)     ((a) < (b) ? (a) : (b))
#define ZS_MAX(a, b)     ((a) > (b) ? (a) : (b))

__attribute__((noreturn, cold)) void zs_assert_fail(const char *expr, const char *file, int line,
                                                    const char *func);

/* For our own bugs only, never for input: stays on in release builds and aborts. */
#define zs_assert(expr)                                                                            \
    (ZS_LIKELY(expr) ? (void)0 : zs_assert_fail(#expr, __FILE__, __LINE__, __func__))

/* Checked arithmetic: false (and *ret unspecified) on overflow. */
static inline bool zs_add_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
    return !__builtin_add_overflow(a, b, ret);
}
static inline bool zs_mul_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
    return !__builtin_mul_overflow(a, b, ret);
}
static inline bool zs_mul_size(size_t a, size_t b, size_t *ret)
{
    return !__builtin_mul_overflow(a, b, ret);
}
/* value rounded up to a power-of-two alignment; the caller guarantees that it does not wrap. */
static inline uint64_t zs_align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

#endif
