/* SPDX-License-Identifier: MIT */
/* Instructions of a block that are lowered together (lower_merge.c). */
#ifndef ZS_EU_LOWER_MERGE_H
#define ZS_EU_LOWER_MERGE_H

#include "eu/lower.h"
#include "eu/scoreboard.h"

/* What an instruction touches, in bytes of the thread. */
struct zs_eu_touch {
    struct zs_eu_bytes written[2], read[4]; /* operands, then the accumulator that is implied */
    uint16_t flags_written, flags_read;     /* a bit for every eight channels of a register */
    bool stays;                             /* nothing is moved past it */
    bool unknown;                           /* it may touch anything else */
};

enum { ZS_EU_WINDOW = 128 };

enum zs_eu_slot_state {
    ZS_EU_SLOT_OWN,
    ZS_EU_SLOT_HALF,    /* lowered with the one that it is a half of */
    ZS_EU_SLOT_DROPPED, /* nobody wants what it does */
};

struct zs_eu_slot {
    struct zs_isa_inst inst;  /* as decoded */
    struct zs_isa_inst whole; /* what is lowered in its place */
    struct zs_eu_touch touch; /* of that */
    uint8_t halves[3];        /* slots that are part of it, ... */
    uint8_t half_count;       /* ... itself not counted */
    uint8_t shift;            /* of an add whose first source is shifted before: 1 + how far */
    uint8_t indices;          /* of a message by indices: 1 + the slot that would add the base */
    uint8_t state;            /* enum zs_eu_slot_state */
    bool is_rewritten;        /* `whole` is not `inst` */
    bool is_forwarded;        /* its first source is another one's, which may be dropped */
    bool is_product;          /* the low half of one, for another instruction */
    bool is_passed;           /* the next one alone reads what it writes */
};

/* Instructions in a row of one block: all of it, if it is no longer than that. */
struct zs_eu_window {
    uint32_t first, count;
    bool is_merging;
    bool acc_lives;              /* some block may read accumulators that it did not write */
    bool addresses;              /* some may be made in several instructions */
    bool passes;                 /* what is passed on need not be stored */
    uint64_t carried[4];         /* registers that some block may read, which it did not write */
    uint8_t order[ZS_EU_WINDOW]; /* in which slots are lowered */
    struct zs_eu_slot slots[ZS_EU_WINDOW];
};

/* Whether programs with these parameters are merged at all, and what holds for the whole program.
 * `window` is scratch memory, too. */
void zs_eu_merge_begin(struct zs_eu_lowering *l, struct zs_eu_window *window);
/* The window that begins with an instruction of a block that ends in front of `end`. */
void zs_eu_merge_window(struct zs_eu_lowering *l, struct zs_eu_window *window, uint32_t first,
                        uint32_t end);

/* It touches its operands, flags and accumulators, and nothing else; sends and branches apart. */
bool zs_eu_touches_operands_alone(const struct zs_isa_inst *inst);

/* Whether `later` may be done before the other one. */
bool zs_eu_may_pass(const struct zs_eu_touch *later, const struct zs_eu_touch *other);
/* The same of slots, which may be part of others or dropped. */
bool zs_eu_slot_passes(const struct zs_eu_slot *later, const struct zs_eu_slot *other);

/* After slot->whole has changed. */
void zs_eu_touch_again(const struct zs_eu_lowering *l, struct zs_eu_slot *slot);

/* ---- lower_address.c ---- */
/* Addresses that are made in several instructions. at_end: the window ends with its block. */
void zs_eu_find_addresses(struct zs_eu_lowering *l, struct zs_eu_window *w, bool at_end);
/* What the addresses are made from of a message whose slot has `indices`; its `run` stays. */
void zs_eu_find_indices(const struct zs_eu_lowering *l, const struct zs_isa_inst *sum,
                        struct zs_eu_send_indices *ret);

/* ---- lower_order.c ---- */
/* Change w->order so that results can be passed on. at_end: the window ends with its block. */
void zs_eu_order(const struct zs_eu_lowering *l, struct zs_eu_window *w, bool at_end);
/* A slot has been lowered; its operations stand from `first` on. */
void zs_eu_note_passed(struct zs_eu_lowering *l, const struct zs_eu_slot *slot, size_t first);

/* ---- lower_start.c ---- */
/* Registers that a thread of the lowered program which has all lanes on may read before it has
 * written them; false: they are not known. */
bool zs_eu_exposed_registers(struct zs_eu_lowering *l, uint32_t entry_block, uint64_t ret[4]);
/* Registers that some block may read in a lane where it has not written them itself; false: they
 * are not known. */
bool zs_eu_carried_registers(struct zs_eu_lowering *l, uint64_t ret[4]);
/* Slots of a window, a bit each, and the message whose addresses they make. */
struct zs_eu_left_out {
    uint64_t slots[(ZS_EU_WINDOW + 63) / 64];
    uint32_t message;
};
/* Whether nobody would read what these slots write, if the message did not; which registers it
 * reads beside its addresses is not looked at. at_end: the window ends with its block. */
bool zs_eu_nobody_reads(struct zs_eu_lowering *l, const struct zs_eu_window *w,
                        const struct zs_eu_left_out *out, bool at_end);
/* cr0 as the program's first write to it leaves it, if nothing before depends on it; else 0. */
uint32_t zs_eu_early_control(const struct zs_eu_lowering *l, uint32_t entry_block);

#endif
