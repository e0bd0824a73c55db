/* SPDX-License-Identifier: MIT */
/* What the files of shadows (eu/checks/shadow.h) share. */
#ifndef ZS_EU_SHADOW_PRIV_H
#define ZS_EU_SHADOW_PRIV_H

#include "eu/checks/shadow.h"
#include "eu/eu_priv.h"

#include <string.h>

/* shadow_rule.c: one channel of a row: values, bits that are not defined. */
struct zs_eu_shadow_lane {
    uint64_t value[3], bits[3];
    unsigned width, from_width; /* bits of the result, of the first source */
    unsigned param;             /* of the rule */
    uint32_t aux;               /* of the operation */
};
struct zs_eu_shadow_rule {
    uint64_t (*bits)(const struct zs_eu_shadow_lane *lane);
    unsigned param;
};
/* By row of sem.def; bits NULL: any bit spoils all. */
extern const struct zs_eu_shadow_rule zs_eu_shadow_rules[];

/* Operands of kinds whose channels depend on their own sources alone. */
struct zs_eu_shadow_shape {
    uint8_t source_count, src_B, dst_B;
    bool sets_flag;
};
/* Of op; source_count 0: it is of no such kind. */
struct zs_eu_shadow_shape zs_eu_shadow_shape_of(const struct zs_eu_op *op);

/* shadow_parts.c: bytes of the thread that a part of a block needs to be defined, or defines. */
struct zs_eu_shadow_span {
    uint16_t at_B, size_B;
};
struct zs_eu_shadow_lane_span {
    struct zs_eu_shadow_span span;
    uint8_t lane; /* ZS_EU_SHADOW_ALL: whichever lanes are on */
};
enum { ZS_EU_SHADOW_ALL = UINT8_MAX };

struct zs_eu_shadow_range {
    uint32_t first, count;
};
struct zs_eu_shadow_form {
    struct zs_eu_shadow_range needs, needs_by_lane; /* the same, seen twice */
    struct zs_eu_shadow_range defines;              /* spans; for all lanes */
    struct zs_eu_shadow_range masked, masked_by_lane;
};
struct zs_eu_shadow_part {
    struct zs_eu_shadow_form form[2]; /* [1]: all lanes of the program are on */
};

/* What operations read and write, one after the other: whose each byte of the thread is. */
enum { ZS_EU_SHADOW_NOBODY = 0, ZS_EU_SHADOW_EVERYBODY = UINT8_MAX }; /* else 1 + lane */
enum { ZS_EU_SHADOW_LINE_B = 64 };
struct zs_eu_shadow_walk {
    struct zs_eu_program *p;
    uint32_t ce;  /* lanes that are on; 0: any */
    bool flows;   /* what stays as it was is not read */
    uint8_t lane; /* ... and channels are lanes from 1 + it on, whatever the mask is; 0: no */
    bool strays;  /* ... what a lane wrote into accumulators another reads */
    uint8_t owner[ZS_EU_SHADOW_B], need[ZS_EU_SHADOW_B], define[ZS_EU_SHADOW_B];
    uint64_t lines[ZS_EU_SHADOW_B / (64 * ZS_EU_SHADOW_LINE_B) + 1]; /* that are somebody's */
    bool no_memory;
};
/* Nothing was read or written. */
void zs_eu_shadow_forget(struct zs_eu_shadow_walk *w);
static inline bool zs_eu_shadow_is_acc(uint32_t at)
{
    return at - ZS_EU_OFFSET(acc) < 2 * sizeof(((struct zs_eu_thread *)0)->acc);
}
static inline bool zs_eu_shadow_is_temporary(uint32_t at)
{
    return at >= ZS_EU_OFFSET(temp) && at < ZS_EU_OFFSET(pair);
}
void zs_eu_shadow_reads(struct zs_eu_shadow_walk *w, uint32_t at_B, uint32_t size_B, uint8_t who);
void zs_eu_shadow_writes(struct zs_eu_shadow_walk *w, uint32_t at_B, uint32_t size_B, uint8_t who);
/* Of an operation: channels that may be on; who reads what one has for itself, who writes it. */
uint32_t zs_eu_shadow_channels_of(const struct zs_eu_shadow_walk *w, const struct zs_eu_op *op);
uint8_t zs_eu_shadow_reader(const struct zs_eu_shadow_walk *w, const struct zs_eu_op *op,
                            unsigned c);
uint8_t zs_eu_shadow_writer(const struct zs_eu_shadow_walk *w, const struct zs_eu_op *op,
                            unsigned c);
static inline bool zs_eu_shadow_is_sure(const struct zs_eu_op *op)
{
    return op->predicate == ZS_EU_OFFSET(all_ones) && !op->pred_xor;
}
/* false: it is of no part, and nothing was added. */
bool zs_eu_shadow_add(struct zs_eu_shadow_walk *w, const struct zs_eu_op *op, bool known);

/* shadow_flow.c: what of a thread's start has to be defined so that no operation reads anything
 * that is not, if all that messages load is: of operations [0, op_count). */
void zs_eu_shadow_flow(struct zs_eu_shadow_walk *w, const bool *known);

struct zs_eu_shadow_plan {
    /* Of threads that start with any lanes on, with all: registers behind r0 that have to be
     * defined, of the first 32; and whether others must, or nobody knows. */
    uint32_t wants[2];
    bool wants_more[2];
    zs_eu_op_fn **plain; /* handlers of all operations without their shadows */
    size_t careful;      /* operations that look at shadows stand so far behind the others */
    uint32_t *part_of;   /* by operation that begins one */
    struct {
        struct zs_eu_shadow_part *items;
        size_t count, capacity;
    } parts;
    struct {
        struct zs_eu_shadow_span *items;
        size_t count, capacity;
    } spans;
    struct {
        struct zs_eu_shadow_lane_span *items;
        size_t count, capacity;
    } lane_spans;
};

/* The operation itself. */
static inline const struct zs_eu_op *zs_eu_shadow_go_on(struct zs_eu_thread *t,
                                                        const struct zs_eu_op *op)
{
    return t->program->shadows->plain[op - t->program->ops](t, op);
}

/*
 * Operations (count, and as many careful ones behind them) get handlers: keeps[i] does what
 * operation i does to shadows, NULL where that is nothing; known[i]: its result is the same
 * whatever the sources are. Without parts threads may come from and go to other programs in front
 * of each instruction. false: no memory.
 */
bool zs_eu_shadow_parts(struct zs_eu_program *p, bool has_parts, size_t count,
                        zs_eu_op_fn *const *keeps, const bool *known);

#endif
