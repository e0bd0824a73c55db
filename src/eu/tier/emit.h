/* SPDX-License-Identifier: MIT */
/* What the files that write LLVM's language share. */
#ifndef ZS_EU_EMIT_H
#define ZS_EU_EMIT_H

#include "eu/lower/lower_operand.h"
#include "eu/tier/rows_text.h"
#include "eu/tier/tier_priv.h"

/* The thread's bytes are units of 32. */
enum {
    ZS_EU_EMIT_HEAD_B = offsetof(struct zs_eu_thread, acc),
    ZS_EU_EMIT_UNITS = sizeof(struct zs_eu_thread) / 32 + 1,
    ZS_EU_EMIT_SET = (ZS_EU_EMIT_UNITS + 63) / 64,
    ZS_EU_EMIT_AREAS = 1024, /* that messages reach */
};

/* What a unit's variable is: a vector of eight dwords, half of one of sixteen, or eight dwords. */
enum zs_eu_emit_unit {
    ZS_EU_EMIT_SINGLE,
    ZS_EU_EMIT_LOW,
    ZS_EU_EMIT_HIGH,
    ZS_EU_EMIT_WORDS,
};

struct zs_eu_emit_set {
    uint64_t bits[ZS_EU_EMIT_SET];
};

/* How an access reaches a unit: by lanes, each of which has an element of its own, of so many bytes
 * and in one place of all accesses of that size, of eight bytes either half; or whole. */
enum zs_eu_emit_how {
    ZS_EU_EMIT_LANES_2,
    ZS_EU_EMIT_LANES_4,
    ZS_EU_EMIT_LANES_8,
    ZS_EU_EMIT_LANES_8_HIGH,
    ZS_EU_EMIT_WHOLE,
    ZS_EU_EMIT_HOWS,
};

/* Channels that do something: known when the function is written, or a value. */
struct zs_eu_emit_mask {
    bool known, inverted; /* the value is of channels that do nothing */
    uint32_t bits;
    unsigned value;
};

/* Operations of a block that run without leaving it, all lanes on or any: up to a place where
 * threads wait, or the block's end. Numbers: those of a version behind those of the other. */
struct zs_eu_emit_segment {
    uint32_t block, first, end; /* operations, of its version */
    bool full;
    bool in;    /* the function has it */
    bool joins; /* ... for lanes that meet there, and go on as all; others leave */
    bool entry; /* threads come in at its start */
    bool loops; /* it is among a loop's: its own ways out are worth it */
    /* read before it is written, read at all, written, alive at its start: by enum zs_eu_emit_how
     */
    struct zs_eu_emit_set reads[ZS_EU_EMIT_HOWS], looks[ZS_EU_EMIT_HOWS];
    struct zs_eu_emit_set writes[ZS_EU_EMIT_HOWS], alive[ZS_EU_EMIT_HOWS];
    struct zs_eu_emit_set live; /* in any way */
    struct zs_eu_emit_set may;  /* some of it is written in it */
};

/* A vector in registers that rises as another one, its root, does: by a factor, from its first lane
 * on, if a condition (UINT32_MAX: none) holds, and the root rises by no more than the most. */
enum { ZS_EU_EMIT_RISE_MAX = 32 };
struct zs_eu_emit_rise {
    uint32_t at;
    uint8_t size_B, lanes, root_B; /* of elements */
    uint8_t stride_B;              /* between them */
    uint8_t partly; /* only in lanes that run, of which the first is this channel + 1; 0: in all */
    /* the root rises by one if the condition holds: nobody has to look at it; its bit (rising) */
    bool known;
    uint8_t bit;
    bool alike;   /* lanes are alike if the condition holds: no root; where it does not: `vector` */
    bool guessed; /* ... or were, of what it is made of */
    unsigned vector;
    uint32_t factor;
    unsigned first, condition, root; /* values: an element, i1, a vector */
    uint8_t step_count; /* how it is made of the root; more than there are: not known */
    struct zs_eu_emit_rise_step {
        char how[5]; /* as LLVM calls it */
        uint8_t bits;
        uint32_t place; /* where the value still stands; 0: it does not */
        bool is_vector; /* the value is one */
        unsigned value; /* that all lanes have alike, or a vector; of shl bits */
    } steps[6];
};

/* A vector of which it is known from segment to segment how it rises (0: it is alike), up to where
 * threads come in: variables have the condition, and its first element. */
struct zs_eu_emit_carried {
    uint32_t at, factor;
    uint8_t size_B, lanes;
    bool guessed;
};

struct zs_eu_emit {
    const struct zs_eu_program *p;
    struct zs_eu_tier_options options;
    bool counts; /* blocks have counters */
    struct zs_eu_emit_segment *segments;
    uint32_t segment_count;  /* of both versions */
    uint32_t *block_segment; /* the first of each block; all lanes on: half of segment_count on */
    uint8_t *joins;          /* by block: lanes may wait there */
    uint16_t *places;        /* by block, in the function: its number from 1 on; 0: it has none */
    uint16_t *modes;         /* by segment of either version: what is known of cr0 at its start */
    bool changes_modes;      /* some operations run in others than it starts with */
    struct zs_eu_emit_set join; /* live where lanes may wait */
    /* lanes of accesses have elements at different places; the first channel of one, + 1 */
    struct zs_eu_emit_set mixed[ZS_EU_EMIT_WHOLE];
    uint8_t lane_of[ZS_EU_EMIT_WHOLE][ZS_EU_EMIT_UNITS];
    /* of the function */
    unsigned number;
    uint32_t place_count, open_bits; /* where lanes may wait; of a variable for as many bits */
    uint32_t segment;                /* that is written */
    uint16_t mode;                   /* what is known of cr0 there */
    bool rounds;                     /* the host's modes are other ones there, too */
    bool full;                       /* it is one of all lanes on */
    bool dry;                        /* nothing is written: what is touched is found out */
    unsigned quiet;                  /* depth: what is touched has been told */
    uint32_t lane_at; /* vectors are elements of lanes from there on; UINT32_MAX: they are not */
    unsigned lane_B, lane_channel;                    /* of one; of the first */
    uint8_t dwords;                                   /* of each eight that an access touches */
    uint8_t cover[ZS_EU_EMIT_HOWS][ZS_EU_EMIT_UNITS]; /* dwords that the segment has written */
    struct zs_eu_emit_set later[ZS_EU_EMIT_HOWS];     /* read in the segment, or alive behind it */
    struct zs_eu_emit_rise rises[96];                 /* known in the segment, so far */
    unsigned rise_count;
    struct zs_eu_emit_carried carried[32]; /* of the function */
    unsigned carried_count;
    struct zs_buf body;
    unsigned next, label;
    uint8_t kind[ZS_EU_EMIT_UNITS]; /* enum zs_eu_emit_unit */
    uint16_t vectors[ZS_EU_EMIT_UNITS], pairs[ZS_EU_EMIT_UNITS], ones[ZS_EU_EMIT_UNITS];
    uint8_t used[ZS_EU_EMIT_UNITS], dirty[ZS_EU_EMIT_UNITS];
    uint8_t word_used[ZS_EU_EMIT_UNITS * 8], word_dirty[ZS_EU_EMIT_UNITS * 8];
    uint8_t place_used[4];  /* sizes of elements */
    uint8_t result_used[8]; /* ... and numbers of lanes, of what messages load */
    bool uses_lane_arrays;  /* somebody goes lane by lane */
    bool area_used[ZS_EU_EMIT_AREAS];
    uint32_t area_span[ZS_EU_EMIT_AREAS]; /* so many bytes are at how many places: known */
    bool waits;                           /* threads leave it at barriers */
    bool overwrites;                      /* ... and store over what another would begin with */
    bool follows;                         /* threads of a series follow in it */
    bool is_long;                         /* more than LLVM can think of */
    bool in_memory;                       /* registers have no variables */
    bool following;                       /* where one does is being written */
    uint8_t r0_changes;                   /* dwords of r0 that it writes */
    uint8_t *exits;                       /* by segment: somebody leaves to its start, or from it */
    /* of the module */
    bool waits_often; /* between barriers threads do little */
    uint8_t rows[ZS_EU_ROW_COUNT];
};

static inline bool zs_eu_emit_has(const struct zs_eu_emit_set *set, uint32_t unit)
{
    return set->bits[unit / 64] >> unit % 64 & 1;
}

static inline void zs_eu_emit_add(struct zs_eu_emit_set *set, uint32_t unit)
{
    set->bits[unit / 64] |= UINT64_C(1) << unit % 64;
}

/* ---- emit_value.c ---- */
static inline bool zs_eu_emit_in_head(uint32_t at)
{
    return at < ZS_EU_EMIT_HEAD_B;
}
unsigned zs_eu_emit_label(struct zs_eu_emit *e);
void zs_eu_emit_put_label(struct zs_eu_emit *e, unsigned label);
unsigned zs_eu_emit_word(struct zs_eu_emit *e, uint32_t at);
void zs_eu_emit_set_word(struct zs_eu_emit *e, uint32_t at, unsigned value);
/* One element in so many lanes. */
unsigned zs_eu_emit_splat(struct zs_eu_emit *e, unsigned one, unsigned size_B, unsigned lanes);
unsigned zs_eu_emit_value(struct zs_eu_emit *e, const char *format, ...) ZS_PRINTF(2, 3);
void zs_eu_emit_line(struct zs_eu_emit *e, const char *format, ...) ZS_PRINTF(2, 3);
/* Eight or sixteen elements from a place, or to it. */
unsigned zs_eu_emit_read(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes);
void zs_eu_emit_write(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes,
                      unsigned value);
bool zs_eu_emit_can_scalar(uint32_t at, unsigned size_B);
unsigned zs_eu_emit_read_one(struct zs_eu_emit *e, uint32_t at, unsigned size_B);
void zs_eu_emit_write_one(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value);
/* Half of sixteen lanes, and two halves together. */
unsigned zs_eu_emit_half(struct zs_eu_emit *e, unsigned value, unsigned size_B, unsigned half);
unsigned zs_eu_emit_join(struct zs_eu_emit *e, unsigned low, unsigned high, unsigned size_B);
/* Vectors are elements of an operation's lanes, of which others are off, from a place on. */
void zs_eu_emit_lanes_at(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t at,
                         unsigned size_B);
void zs_eu_emit_lanes_end(struct zs_eu_emit *e);
/* Of what follows, until the end of lanes, every second dword from the first-th on is touched. */
void zs_eu_emit_halves(struct zs_eu_emit *e, unsigned first);
/* Bytes are read; written: all of them, or those of the lanes that are on. */
void zs_eu_emit_reads(struct zs_eu_emit *e, uint32_t at, uint32_t size_B);
void zs_eu_emit_writes(struct zs_eu_emit *e, uint32_t at, uint32_t size_B);
void zs_eu_emit_writes_lanes(struct zs_eu_emit *e, uint32_t at, uint32_t size_B);
/* Of channels from the first-th on not all do something, whichever lanes are on. */
bool zs_eu_emit_partly(const struct zs_eu_op *op, unsigned first, unsigned lanes);
/* Where lanes may be off: whether those have to keep what they have of such channels' elements. */
bool zs_eu_emit_keeps(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t at, uint32_t size_B,
                      unsigned first, unsigned lanes);
/* Whether somebody may still read what lanes that are off have of it; of half of eight bytes, the
 * rest of it, too. */
bool zs_eu_emit_others_read(struct zs_eu_emit *e, uint32_t at, uint32_t size_B, bool rest);
/* zs_eu_emit_read() of what is there already, to keep it where a lane is off. */
unsigned zs_eu_emit_read_old(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes);
/* Variables to memory, or from it, of a unit: what the function has of it. */
void zs_eu_emit_spill(struct zs_eu_emit *e, uint32_t unit);
void zs_eu_emit_fill(struct zs_eu_emit *e, uint32_t unit);
/* What is used of a unit's variable becomes zero. */
void zs_eu_emit_clear(struct zs_eu_emit *e, uint32_t unit);
/* ... or anything: nobody reads it any more. */
void zs_eu_emit_forget(struct zs_eu_emit *e, uint32_t unit);
/* Temporaries are of one instruction, what is written to null nobody's: nothing goes round loops.
 */
void zs_eu_emit_clear_temporaries(struct zs_eu_emit *e);
/* Eight dwords to a unit's variable; false: not all of them have one. */
bool zs_eu_emit_set_unit(struct zs_eu_emit *e, uint32_t unit, unsigned value);
/* What the function has of it is stored where it is left. */
void zs_eu_emit_mark_dirty(struct zs_eu_emit *e, uint32_t unit);
void zs_eu_emit_variables(struct zs_eu_emit *e);
/* Before anything is known of them. */
void zs_eu_emit_reset_units(struct zs_eu_emit *e);
/* Of what is known about units what their variables are. */
void zs_eu_emit_choose_units(struct zs_eu_emit *e);

/* Bytes that are wholly among the program's constants; NULL: they are not. */
const uint8_t *zs_eu_emit_constant_at(const struct zs_eu_emit *e, uint32_t at, uint32_t size_B);

/* ---- emit_rise.c ---- */
/* Of what is written nothing is known any more. */
void zs_eu_emit_rise_forget(struct zs_eu_emit *e, uint32_t at, uint32_t size_B);
const struct zs_eu_emit_rise *zs_eu_emit_rise_at(const struct zs_eu_emit *e, uint32_t at,
                                                 unsigned size_B, unsigned lanes);
/* Before a row's result of some lanes is written: whether it is followed. */
bool zs_eu_emit_rise_row(struct zs_eu_emit *e, const struct zs_eu_op *op, struct zs_eu_emit_mask on,
                         unsigned first, unsigned lanes, const unsigned ones[3],
                         const unsigned src[3], struct zs_eu_emit_rise *ret);
/* The same of a strided move. */
bool zs_eu_emit_rise_move(struct zs_eu_emit *e, const struct zs_eu_op *op,
                          struct zs_eu_emit_rise *ret);
void zs_eu_emit_rise_add(struct zs_eu_emit *e, const struct zs_eu_emit_rise *rise);
/* A segment begins, or has been written: what others may know of it is carried from then on. */
void zs_eu_emit_rise_begin(struct zs_eu_emit *e);
void zs_eu_emit_rise_end(struct zs_eu_emit *e);
/* What is carried in the function, whose segments `write` writes. */
void zs_eu_emit_rise_find(struct zs_eu_emit *e, void (*write)(struct zs_eu_emit *e));
void zs_eu_emit_rise_variables(struct zs_eu_emit *e);
/* A vector of which nothing is known is its own root. */
struct zs_eu_emit_rise zs_eu_emit_rise_itself(struct zs_eu_emit *e, unsigned vector,
                                              unsigned size_B, unsigned lanes);
/* Lanes of a vector that are at first (in all lanes) + step * lane. */
unsigned zs_eu_emit_rising(struct zs_eu_emit *e, unsigned vector, unsigned first, unsigned bits,
                           unsigned lanes, unsigned step);
/* Whether it may rise by so much, 0: as one whose lanes are alike; i1: it does. */
bool zs_eu_emit_may_rise_by(const struct zs_eu_emit_rise *r, unsigned step);
unsigned zs_eu_emit_rise_by(struct zs_eu_emit *e, const struct zs_eu_emit_rise *r, unsigned step);
/* i1: both together rise by so much, all 32 lanes; UINT32_MAX: nobody knows. */
unsigned zs_eu_emit_rise_both(struct zs_eu_emit *e, const struct zs_eu_emit_rise *low,
                              const struct zs_eu_emit_rise *high, unsigned step);
/* The vector there is made again, on a way that is seldom gone: others need not make it then. */
void zs_eu_emit_rise_again(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned lanes);

/* ---- emit.c ---- */
struct zs_eu_emit_mask zs_eu_emit_constant_mask(uint32_t bits);
unsigned zs_eu_emit_mask_value(struct zs_eu_emit *e, struct zs_eu_emit_mask mask);
struct zs_eu_emit_mask zs_eu_emit_mask_word(struct zs_eu_emit *e, uint32_t at);
struct zs_eu_emit_mask zs_eu_emit_mask_and(struct zs_eu_emit *e, struct zs_eu_emit_mask a,
                                           struct zs_eu_emit_mask b);
struct zs_eu_emit_mask zs_eu_emit_mask_shift(struct zs_eu_emit *e, struct zs_eu_emit_mask a,
                                             int right);
struct zs_eu_emit_mask zs_eu_emit_mask_xor(struct zs_eu_emit *e, struct zs_eu_emit_mask a,
                                           uint32_t x);
struct zs_eu_emit_mask zs_eu_emit_active(struct zs_eu_emit *e, const struct zs_eu_op *op);
/* <lanes x i1> of a mask from a channel on. */
unsigned zs_eu_emit_lanes(struct zs_eu_emit *e, struct zs_eu_emit_mask mask, unsigned first,
                          unsigned lanes);
/* Whether such bits (<lanes x i1>) are set of all lanes that are on in a mask from one on. */
unsigned zs_eu_emit_all_on(struct zs_eu_emit *e, unsigned bits, unsigned mask, unsigned first,
                           unsigned lanes);
/* It is of registers that a0 names. */
static inline bool zs_eu_emit_is_indirect(const struct zs_eu_op *op)
{
    return (op->kind == ZS_EU_KIND_GATHER_REGION && op->src[0] == UINT32_MAX) ||
           (op->kind == ZS_EU_KIND_SCATTER_REGION && op->dst == UINT32_MAX);
}
/* A row's operands are such as can be written here; it is, but for great arguments. */
bool zs_eu_emit_can_row(const struct zs_eu_op *op);
bool zs_eu_emit_is_limited(const struct zs_eu_op *op);
/* An operation that is no control flow. */
void zs_eu_emit_straight(struct zs_eu_emit *e, uint32_t index);
unsigned zs_eu_emit_address(struct zs_eu_emit *e, const char *base, uint64_t offset_B,
                            const char *type);
unsigned zs_eu_emit_load(struct zs_eu_emit *e, const char *base, uint64_t offset_B,
                         const char *type);
/* A field of the thread, which has no variable: dwords. */
unsigned zs_eu_emit_field(struct zs_eu_emit *e, uint32_t at);
void zs_eu_emit_set_field(struct zs_eu_emit *e, uint32_t at, unsigned value);
/* The interpreter's handler of one operation. */
void zs_eu_emit_one(struct zs_eu_emit *e, uint32_t index);

/* ---- emit_flow.c ---- */
/* Go there; `likely` says which way is usual. */
enum { ZS_EU_EMIT_LIKELY_NOT_KNOWN, ZS_EU_EMIT_LIKELY, ZS_EU_EMIT_UNLIKELY };
void zs_eu_emit_branch(struct zs_eu_emit *e, unsigned condition, unsigned yes, unsigned no,
                       unsigned likely);
void zs_eu_emit_store_status(struct zs_eu_emit *e, enum zs_eu_status status, uint32_t resume);
void zs_eu_emit_store_budget(struct zs_eu_emit *e);
/* Variables of units among a set; of all without one. */
void zs_eu_emit_each_unit(struct zs_eu_emit *e, const struct zs_eu_emit_set *set,
                          void (*what)(struct zs_eu_emit *, uint32_t));
/* What lanes that run add to a block's counters. */
uint64_t zs_eu_emit_counted(uint32_t ce, unsigned i);
/* Where lanes and operations go wrong: what is live is stored, and the function ends. */
void zs_eu_emit_leave(struct zs_eu_emit *e, uint32_t op);
void zs_eu_emit_stop(struct zs_eu_emit *e);
/* Behind a message: where it has brought something undefined the interpreter goes on, which looks
 * at shadows. */
void zs_eu_emit_leave_undefined(struct zs_eu_emit *e, uint32_t op);
/* false: what follows in the segment is not reached from here. */
bool zs_eu_emit_op(struct zs_eu_emit *e, uint32_t index);
/* Of the segments that are `in`: whether registers are named by a0. */
bool zs_eu_emit_has_indirect(const struct zs_eu_emit *e);
/* Append the function of the segments that are `in`. */
void zs_eu_emit_function(struct zs_eu_emit *e, struct zs_buf *out);

/* ---- emit_start.c ---- */
/* From where threads come in to where they begin. */
void zs_eu_emit_entries(struct zs_eu_emit *e);
/* Whether threads come to a segment as they start, and never again. */
bool zs_eu_emit_only_starts(const struct zs_eu_emit *e, uint32_t segment);
/* Variables that say where in its series a thread is. */
void zs_eu_emit_series(struct zs_eu_emit *e);
/* A unit's vector of words, of so many lanes, of which a thread's start says whether they rise by
 * one: the number of that bit, from the first unit of its own on. */
bool zs_eu_emit_may_rise(const struct zs_eu_emit *e, unsigned bit);
/* Whether threads of a series may follow in the function. */
bool zs_eu_emit_can_follow(const struct zs_eu_emit *e);
/* A thread ends here: on to the next of its series, if there is one; and what that begins with. */
void zs_eu_emit_follow(struct zs_eu_emit *e);
/* Of a function in which threads follow: units that are a thread's own. */
void zs_eu_emit_own(struct zs_eu_emit *e, void (*what)(struct zs_eu_emit *, uint32_t));
void zs_eu_emit_next(struct zs_eu_emit *e);
/* A unit is stored at a barrier: whether the next thread there still finds what it begins with. */
void zs_eu_emit_overwrites(struct zs_eu_emit *e, uint32_t unit);

/* ---- emit_part.c ---- */
/* Blocks of the function's branches, and what is known of them as a constant of the module. */
void zs_eu_emit_find_places(struct zs_eu_emit *e);
void zs_eu_emit_put_places(const struct zs_eu_emit *e, struct zs_buf *out);
bool zs_eu_emit_is_place(const struct zs_eu_emit *e, uint32_t block);
void zs_eu_emit_place_variables(struct zs_eu_emit *e);
/* What lanes wait, when a thread comes in and where it leaves. */
void zs_eu_emit_absorb(struct zs_eu_emit *e);
void zs_eu_emit_settle(struct zs_eu_emit *e);
void zs_eu_emit_none_waits(struct zs_eu_emit *e);
unsigned zs_eu_emit_some_wait(struct zs_eu_emit *e); /* i1 */
/* i1: lanes wait at a block, in front of one; the bit of the first place where some do, of others
 * (even ones) or of the function's. */
unsigned zs_eu_emit_waits_at(struct zs_eu_emit *e, uint32_t block);
unsigned zs_eu_emit_waits_before(struct zs_eu_emit *e, uint32_t block);
unsigned zs_eu_emit_first_bit(struct zs_eu_emit *e, uint32_t from, uint32_t block);
/* Of the running lanes some run on, others wait at a place behind. */
void zs_eu_emit_part(struct zs_eu_emit *e, unsigned stays, unsigned leaves, uint32_t block);
/* Those that wait at a place join the running lanes; all of these: i32. */
unsigned zs_eu_emit_meet(struct zs_eu_emit *e, uint32_t block);
/* All running lanes go to a place; those in front of it, at the first bit's, run now. */
void zs_eu_emit_give_way(struct zs_eu_emit *e, unsigned bit, uint32_t block);

/* ---- emit_live.c ---- */
/* Segments of the program, and what is live at their starts. 0, -ENOMEM. */
int zs_eu_emit_segments(struct zs_eu_emit *e);
/* Whether it ends at a barrier; whether the function has one in it. */
bool zs_eu_emit_waits(const struct zs_eu_emit *e, uint32_t segment);
bool zs_eu_emit_can_wait(const struct zs_eu_emit *e);
/* Of a segment that is to be written: e->later. */
void zs_eu_emit_find_later(struct zs_eu_emit *e);
/* What is live behind a segment, for lanes that run and for those that wait. */
void zs_eu_emit_live_behind(const struct zs_eu_emit *e, uint32_t segment,
                            struct zs_eu_emit_set *ret);
/* The segment that starts with an operation; UINT32_MAX: none. */
uint32_t zs_eu_emit_segment_at(const struct zs_eu_emit *e, uint32_t op);
/* Where a segment's lanes may go on, as segments of any lanes; false: anywhere. */
enum { ZS_EU_EMIT_SUCCESSORS = 64 };
bool zs_eu_emit_successors(const struct zs_eu_emit *e, uint32_t segment,
                           uint32_t ret[ZS_EU_EMIT_SUCCESSORS], unsigned *ret_count);

/* ---- emit_modes.c ---- */
/* What is known of cr0 and of modes of floats; 0, -ENOMEM. */
int zs_eu_emit_find_modes(struct zs_eu_emit *e);
uint16_t zs_eu_emit_modes_at(const struct zs_eu_emit *e, uint32_t segment);
/* Floats are rounded to nearest, with denormals, wherever they are computed. */
bool zs_eu_emit_modes_plain(const struct zs_eu_emit *e);
uint16_t zs_eu_emit_modes_behind(const struct zs_eu_emit *e, const struct zs_eu_op *op,
                                 uint16_t mode);
/* Whether LLVM's code of an operation computes in its modes; if constants are not folded. */
bool zs_eu_emit_modes_fit(const struct zs_eu_emit *e, const struct zs_eu_op *op);
bool zs_eu_emit_modes_fold(const struct zs_eu_emit *e, const struct zs_eu_op *op);
/* What goes into an operation, or comes out of it: where it may not be folded, or moved to where
 * modes are others, LLVM knows nothing of it. Eight lanes then. */
unsigned zs_eu_emit_modes_keep(struct zs_eu_emit *e, const struct zs_eu_op *op, unsigned value,
                               unsigned size_B);
/* Behind a handler of the interpreter's, which leaves the modes that the program starts with. */
void zs_eu_emit_modes_again(struct zs_eu_emit *e);
/* Behind a write to cr0. */
void zs_eu_emit_control(struct zs_eu_emit *e, uint32_t index);
/* Where a thread ends, another may start; where the function ends. */
void zs_eu_emit_modes_end(struct zs_eu_emit *e);
void zs_eu_emit_modes_leave(struct zs_eu_emit *e);

/* ---- emit_area.c ---- */
/* What a function begins with, once it has been tried out: whether there are all surfaces that it
 * reaches (UINT32_MAX: it reaches none); behind that, what is known of areas. */
unsigned zs_eu_emit_areas_known(struct zs_eu_emit *e);
void zs_eu_emit_areas(struct zs_eu_emit *e);
/* After the data port has had a message, whose range may be another then. */
void zs_eu_emit_look_again(struct zs_eu_emit *e, const struct zs_eu_send *send);

/* ---- emit_message.c ---- */
/* false: nothing was written, the data port runs it. */
bool zs_eu_emit_message(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                        struct zs_eu_emit_mask active, unsigned active_value);
/* What it reads and writes of the thread; false: nobody knows. */
bool zs_eu_emit_message_notes(struct zs_eu_emit *e, const struct zs_eu_op *op,
                              struct zs_eu_emit_mask active);
/* The data port runs the message. */
void zs_eu_emit_runner(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                       unsigned active);

#endif
