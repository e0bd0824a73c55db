/* SPDX-License-Identifier: MIT */
/*
 * The rows of messages.def, lsc.def, sampler.def, sampler_xe2.def and atomics.def as tables: what a
 * message is for programs (message_form.c) and how listings say it (message_text.c) stand in one
 * row.
 */
#ifndef ZS_ISA_MESSAGE_ROWS_H
#define ZS_ISA_MESSAGE_ROWS_H

#include "isa/isa_priv.h"
#include "isa/message_form.h"

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

#define ZS_TAIL_ENUM(name) ZS_TAIL_##name,
enum zs_message_tail { ZS_MESSAGE_TAILS(ZS_TAIL_ENUM) ZS_TAIL_COUNT };
#undef ZS_TAIL_ENUM

/* Indices of the binding table that are none. */
enum {
    ZS_INDEX_BINDLESS = 252,
    ZS_INDEX_NON_COHERENT = 253,
    ZS_INDEX_SLM = 254,
    ZS_INDEX_STATELESS = 255,
};

struct zs_dataport_row {
    const char *name, *words;
    uint8_t shape, tail, kind, address_bits;
};

struct zs_lsc_row {
    const char *name, *detail, *words;
    uint8_t shape, kind, atomic;
};

struct zs_sampler_row {
    const char *name, *words, *wide_words; /* wide: of SIMD mode 32/64 */
    uint8_t kind;
};

struct zs_atomic_row {
    const char *name, *words;
};

/* Never NULL: without a name where nothing is known. `sfid`: DC0, DC1 or DCRO. */
const struct zs_dataport_row *zs_dataport_row(enum zs_isa_sfid sfid, uint32_t desc);
const struct zs_lsc_row *zs_lsc_row(const struct zs_isa_generation *generation, uint32_t desc);
const struct zs_sampler_row *zs_sampler_row(const struct zs_isa_generation *generation,
                                            uint32_t desc);
const struct zs_sampler_row *
zs_sampler_e64_row(uint32_t type); /* of sendg; words: "name:parameters" */
const struct zs_atomic_row *zs_atomic_row(uint32_t operation); /* "" where there is none */

#endif
