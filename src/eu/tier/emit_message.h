/* SPDX-License-Identifier: MIT */
/* Messages in line: what emit_message.c and emit_atomic.c share. */
#ifndef ZS_EU_EMIT_MESSAGE_H
#define ZS_EU_EMIT_MESSAGE_H

#include "eu/tier/emit.h"

#include "dataport/dataport.h"

struct zs_eu_emit_message {
    const struct zs_eu_send_desc *d;
    const struct zs_eu_op *op;
    const struct zs_port_message *port;
    bool writes, wide;                       /* addresses of 64 bits */
    unsigned lanes, n, elements;             /* lanes in steps of n */
    unsigned size_B, slot_B;                 /* of an element in memory, in registers */
    uint32_t address_at, data_at, element_B; /* in the thread; the next element */
    struct zs_eu_emit_mask active;
    unsigned active_value;
    unsigned slow, done; /* labels */
    unsigned base, size; /* values: i8*, i64 */
    unsigned start;      /* of a range: i64 */
    unsigned at[4];      /* offsets from base of n lanes: <n x i64> or <n x i32> */
    unsigned place_B[4]; /* of elements, from a lane's offset */
    unsigned span_B;     /* of all elements */
    bool is_atomic, is_hooked;
    unsigned ways;           /* ZS_PORT_WAY_...: what is in line of lanes */
    struct zs_eu_send guess; /* where a0 names the surface */
    bool is_guess;
    bool looks; /* at all lanes, whatever is known */
    bool fours; /* anywhere, a lane's elements are one vector: LLVM takes long over it */
    unsigned
        operands; /* of an atomic: elements at data_at, those of all lanes one behind the other */
};

/* ---- emit_area.c ---- */
/* Of what it reaches base, size, start. */
void zs_eu_emit_find_area(struct zs_eu_emit *e, struct zs_eu_emit_message *m);
/* i64: at how many places of it there are so many bytes; or at how many there are some more. */
unsigned zs_eu_emit_places(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                           unsigned size_B, bool fewer);

/* ---- emit_local.c: checks of local memory ---- */
/* Of all bytes from an offset (i64) on they have nothing to say, and what is stored there is told
 * them; else the slow way. may_set: all of the bytes are stored. */
void zs_eu_emit_local_row(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned first,
                          unsigned size_B, bool may_set);
/* The same of n lanes anywhere, of which nothing may be new. */
void zs_eu_emit_local_lanes(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                            unsigned group);

/* ---- emit_reach.c ---- */
/* Hooks are told what it reaches: a place, from the base (i64); or n lanes of m->at. */
void zs_eu_emit_reach(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                      enum zs_eu_reach how, unsigned offset, unsigned first, unsigned lanes);
void zs_eu_emit_reach_lanes(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                            unsigned group);

/* ---- emit_apart.c ---- */
/* Lanes so many bytes apart: whether they may be moved together, from a place on (i64); how many
 * bytes that touches. */
bool zs_eu_emit_may_be_apart(const struct zs_eu_emit_message *m, uint32_t step_B);
uint32_t zs_eu_emit_apart_B(const struct zs_eu_emit_message *m, uint32_t step_B);
void zs_eu_emit_apart(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                      unsigned first, uint32_t step_B);
/* i1: of n lanes of m->at each is behind all of the one before it. */
unsigned zs_eu_emit_ascends(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                            unsigned group);
/* They are moved each for itself; whether a lane's elements are one vector. */
void zs_eu_emit_each_lane(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group);
bool zs_eu_emit_has_fours(const struct zs_eu_emit_message *m);

/* ---- emit_message.c ---- */
/* All of its lanes are on, as is known when the function is written. */
static inline bool zs_eu_emit_all_lanes(const struct zs_eu_emit_message *m)
{
    return m->active.known &&
           m->active.bits == (m->lanes == 32 ? UINT32_MAX : (1u << m->lanes) - 1);
}

/* What was loaded is in variables until all of it is: the payload may be where it goes. */
void zs_eu_emit_put_result(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                           unsigned element, unsigned group, unsigned v);

/* From the first byte of lanes that are neighbours to the last one. */
static inline unsigned zs_eu_emit_row_B(const struct zs_eu_emit_message *m, unsigned lanes)
{
    return m->span_B + m->size_B * (lanes - 1);
}

/* A place behind an offset from the base. */
unsigned zs_eu_emit_pointer(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                            unsigned offset, uint32_t more_B, const char *type);
/* n lanes that are neighbours; an element of them from registers. */
unsigned zs_eu_emit_load_row(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                             unsigned group, const char *type, unsigned at);
unsigned zs_eu_emit_from_slots(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                               unsigned element, unsigned group);
/* Go on where it holds, else the slow way. */
void zs_eu_emit_need(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned condition);
/* m->at[group], of lanes that are off 0: all of them are inside, or the slow way. */
void zs_eu_emit_offsets_inside(struct zs_eu_emit *e, struct zs_eu_emit_message *m, unsigned group);
/* <n x i1>; whether all of such bits are set. */
unsigned zs_eu_emit_lanes_on(struct zs_eu_emit *e, const struct zs_eu_emit_message *m,
                             unsigned group);
unsigned zs_eu_emit_all_of(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned bits);
/* n lanes of what is loaded, lanes that are off stay as they are. */
void zs_eu_emit_put_loaded(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, uint32_t at,
                           unsigned group, unsigned value);
/*
 * A message whose surface a0 names: as if that were ZS_EU_EMIT_SCRATCH_NAME. Spills from XeHPG on
 * are in scratch memory then; others, in the space of global memory, are as if it were a buffer.
 */
enum { ZS_EU_EMIT_NAME_SHIFT = 6, ZS_EU_EMIT_SCRATCH_NAME = ZS_PORT_SCRATCH_HANDLE >> 4 };
bool zs_eu_emit_guess(const struct zs_eu_program *p, const struct zs_eu_program_send *from,
                      struct zs_eu_send *ret);
static inline bool zs_eu_emit_is_slm(const struct zs_eu_emit_message *m)
{
    return !m->wide && m->port->space == ZS_PORT_SPACE_SLM;
}

/* ---- emit_atomic.c ---- */
/* Operands of an atomic; false: it is none that is written in line. */
bool zs_eu_emit_atomic_operands(const struct zs_eu_emit *e, const struct zs_port_message *m,
                                unsigned *ret);
void zs_eu_emit_atomic(struct zs_eu_emit *e, struct zs_eu_emit_message *m);
/* An element of the lanes that are on is stored, lane by lane: <n x size>. */
void zs_eu_emit_scatter(struct zs_eu_emit *e, const struct zs_eu_emit_message *m, unsigned group,
                        unsigned element, unsigned value);

#endif
