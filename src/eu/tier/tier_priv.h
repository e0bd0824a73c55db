/* SPDX-License-Identifier: MIT */
/* What compiled code and its helpers agree on. */
#ifndef ZS_EU_TIER_PRIV_H
#define ZS_EU_TIER_PRIV_H

#include "eu/eu_priv.h"
#include "eu/tier/tier.h"

/* In the order of struct zs_eu_tier_helpers. */
enum zs_eu_tier_helper {
    ZS_EU_TIER_ORIGINAL, /* the interpreter's handler of an operation */
    ZS_EU_TIER_ONE,      /* one operation alone */
    ZS_EU_TIER_SEND,     /* a message to the lanes of a mask */
    ZS_EU_TIER_REACH,    /* hooks are told what a message reaches; 0: by ZS_EU_TIER_SEND */
    ZS_EU_TIER_MODES,    /* the host's modes of floats become the thread's */
    ZS_EU_TIER_ABSORB,   /* zs_eu_lanes_absorb() */
    ZS_EU_TIER_SETTLE,   /* zs_eu_lanes_settle() */
    ZS_EU_TIER_HELPERS
};

/* The most places where lanes of a function wait: what is beyond is the interpreter's. */
enum { ZS_EU_TIER_PLACES = 256 };

/* A bit of follows: since the thread began, somebody else than compiled code in one go had it. */
enum { ZS_EU_STRAYED = INT32_MIN };
static inline void zs_eu_strayed(struct zs_eu_thread *t)
{
    t->follows |= (uint32_t)ZS_EU_STRAYED;
    if (t->series.end) {
        t->series.settle(t);
        t->series.end = 0;
    }
}

struct zs_eu_tier {
    void *helpers[ZS_EU_TIER_HELPERS]; /* compiled code finds them here */
    zs_eu_op_fn **originals;           /* of all operations of both versions */
    const struct zs_eu_op *start;      /* where threads with all lanes start; NULL: not compiled */
    void *code;                        /* mapped */
    size_t code_B;
    bool overwrites;         /* what threads begin with, at barriers */
    uint8_t *seen;           /* what was worth it; NULL: all */
    _Atomic uint64_t strays; /* messages that went a way which was not */
};

/* Of everything that compiled code knows of this build: structures, rows, kinds. */
uint64_t zs_eu_tier_layout(void);

#endif
