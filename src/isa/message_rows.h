/* SPDX-License-Identifier: MIT */
/*
 * The rows of messages.def, lsc.def, sampler.def and sampler_xe2.def as tables: what a message is
 * for programs (message.c) and how listings say it (message_text.c) stand in one row.
 */
#ifndef ZS_ISA_MESSAGE_ROWS_H
#define ZS_ISA_MESSAGE_ROWS_H

#include "isa/isa_priv.h"

/* How descriptor bits 13:8 give the amount of data: functions of message.c. */
#define ZS_MESSAGE_SHAPES(X)                                                                       \
    X(NONE)                                                                                        \
    X(FENCE)                                                                                       \
    X(OWORDS)                                                                                      \
    X(BYTES)                                                                                       \
    X(DWORDS)                                                                                      \
    X(QWORDS)                                                                                      \
    X(UNTYPED)                                                                                     \
    X(TYPED)                                                                                       \
    X(ATOMIC)                                                                                      \
    X(ATOMIC16)                                                                                    \
    X(A64_ATOMIC)                                                                                  \
    X(A64_ATOMIC16)                                                                                \
    X(COUNTER)                                                                                     \
    X(COUNTER16)                                                                                   \
    X(TYPED_ATOMIC)                                                                                \
    X(TYPED_ATOMIC16)                                                                              \
    X(FLOAT_ATOMIC)                                                                                \
    X(FLOAT_ATOMIC16)                                                                              \
    X(A64_SCATTERED)                                                                               \
    X(A64_BLOCK)                                                                                   \
    X(MEDIA)

/* What listings add to the words: functions of message_text.c. */
#define ZS_MESSAGE_TAILS(X)                                                                        \
    X(NONE)                                                                                        \
    X(PLAIN)                                                                                       \
    X(OWORDS)                                                                                      \
    X(ALIGNED)                                                                                     \
    X(TIMES)                                                                                       \
    X(BITS)                                                                                        \
    X(CHANNELS)                                                                                    \
    X(TYPED)                                                                                       \
    X(ATOMIC)                                                                                      \
    X(ATOMIC12)                                                                                    \
    X(A64_ATOMIC)                                                                                  \
    X(TYPED_ATOMIC)                                                                                \
    X(TYPED_ATOMIC16)                                                                              \
    X(COUNTER)                                                                                     \
    X(FLOAT)                                                                                       \
    X(FLOAT12)                                                                                     \
    X(A64_SCATTERED)                                                                               \
    X(A64_BLOCK)                                                                                   \
    X(MEDIA)                                                                                       \
    X(FENCE)

#define ZS_SHAPE_ENUM(name) ZS_SHAPE_##name,
#define ZS_TAIL_ENUM(name)  ZS_TAIL_##name,
enum zs_message_shape { ZS_MESSAGE_SHAPES(ZS_SHAPE_ENUM) ZS_SHAPE_COUNT };
enum zs_message_tail { ZS_MESSAGE_TAILS(ZS_TAIL_ENUM) ZS_TAIL_COUNT };
#undef ZS_SHAPE_ENUM
#undef ZS_TAIL_ENUM

struct zs_dataport_row {
    const char *name, *words;
    uint8_t shape, tail, kind, address_bits;
};

struct zs_lsc_row {
    const char *name, *detail, *words;
    uint8_t shape, kind;
};

struct zs_sampler_row {
    const char *name, *words, *wide_words; /* wide: of SIMD mode 32/64 */
    uint8_t kind;
};

/* Never NULL: without a name where nothing is known. `sfid`: DC0, DC1 or DCRO. */
const struct zs_dataport_row *zs_dataport_row(enum zs_isa_sfid sfid, uint32_t desc);
const struct zs_lsc_row *zs_lsc_row(enum zs_isa_platform platform, uint32_t desc);
const struct zs_sampler_row *zs_sampler_row(enum zs_isa_platform platform, uint32_t desc);

/* Whether the shared function takes messages of the load/store cache. Listings call them so also
 * where there is none: their numbers are reserved before XeHPG. */
bool zs_is_lsc(enum zs_isa_platform platform, uint32_t sfid);

#endif
