/* SPDX-License-Identifier: MIT */
/*
 * The rows of sem.def as functions of eight lanes, which the compiled tier inlines: this file is
 * compiled to LLVM's text by clang, and rows_text.py makes a table of it that the compiler's
 * process has in it. Operands are memory, which the optimiser then takes away. A comparison returns
 * a bit per lane and writes all ones or zeros. What a row takes of the thread and of its operation
 * are two numbers.
 */
#include "eu/exec/lanes_math.h"

struct thread {
    uint32_t cr0[4];
};
struct op {
    uint32_t aux;
};

/* Of arguments below LANES_SIN_LIMIT: emit.c sees to it that there are no others. */
#define lanes_sin(a) LANES_PICK(f32, LANES_IS(f32, eq, a, 0), a, lanes_sin_quadrant(a, 0))
#define lanes_cos(a) lanes_sin_quadrant(a, 1)

#define SIGNATURE                                                                                  \
    (uint8_t *restrict d_at, const uint8_t *a_at, const uint8_t *b_at, const uint8_t *c_at,        \
     uint32_t cr0, uint32_t aux)
#define BEGIN                                                                                      \
    const struct thread thread = {.cr0 = {cr0}}, *t = &thread;                                     \
    const struct op operation = {aux}, *op = &operation;                                           \
    (void)t, (void)op, (void)a_at, (void)b_at, (void)c_at
#define READ(T, x)                                                                                 \
    T##x8 x;                                                                                       \
    memcpy(&x, x##_at, sizeof(x))
#define WRITE(T, value)                                                                            \
    T##x8 d = (T##x8)(value);                                                                      \
    memcpy(d_at, &d, sizeof(d))

#define ROW(id, TD, READS, EXPR)                                                                   \
    void zs_row_##id SIGNATURE;                                                                    \
    void zs_row_##id SIGNATURE                                                                     \
    {                                                                                              \
        BEGIN;                                                                                     \
        READS;                                                                                     \
        WRITE(TD, EXPR);                                                                           \
    }
#define ZS_EU_UN(id, TD, TA, MODE, EXPR)      ROW(id, TD, READ(TA, a), EXPR)
#define ZS_EU_BIN(id, TD, TA, TB, MODE, EXPR) ROW(id, TD, READ(TA, a); READ(TB, b), EXPR)
#define ZS_EU_TER(id, TD, TA, TB, TC, MODE, EXPR)                                                  \
    ROW(id, TD, READ(TA, a); READ(TB, b); READ(TC, c), EXPR)
#define ZS_EU_CMP(id, TA, MODE, EXPR)                                                              \
    uint32_t zs_row_##id SIGNATURE;                                                                \
    uint32_t zs_row_##id SIGNATURE                                                                 \
    {                                                                                              \
        BEGIN;                                                                                     \
        READ(TA, a);                                                                               \
        READ(TA, b);                                                                               \
        LANES_BITS_##TA value = (LANES_BITS_##TA)(EXPR);                                           \
        memcpy(d_at, &value, sizeof(value));                                                       \
        return LANES_TO_BITS_##TA(value);                                                          \
    }
#define ZS_EU_SEL(id, TA) /* the tier selects by itself */
#include "eu/exec/sem.def"
