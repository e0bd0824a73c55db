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
    bool adds_acc, sets_acc, sets_flag;
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

struct zs_eu_shadow_plan {
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
