/* SPDX-License-Identifier: MIT */
/* What the files that write LLVM's language share. */
#ifndef ZS_EU_EMIT_H
#define ZS_EU_EMIT_H

#include "eu/lower_operand.h"
#include "eu/rows_text.h"
#include "eu/tier_priv.h"

enum {
    ZS_EU_EMIT_HEAD_B = offsetof(struct zs_eu_thread, acc),
    ZS_EU_EMIT_CELLS = sizeof(struct zs_eu_thread) / 32 + 1,
};

/* Channels that do something: known when the function is written, or a value. */
struct zs_eu_emit_mask {
    bool known;
    uint32_t bits;
    unsigned value;
};

struct zs_eu_emit {
    const struct zs_eu_program *p;
    struct zs_eu_tier_options options;
    bool full;   /* the version for all lanes on */
    bool counts; /* blocks have counters */
    /* of the function */
    unsigned number;
    uint32_t entry, entry_block; /* operation */
    uint8_t *region;             /* by block */
    struct zs_buf body;
    unsigned next, label;
    uint8_t used[ZS_EU_EMIT_CELLS], dirty[ZS_EU_EMIT_CELLS];
    uint8_t word_used[ZS_EU_EMIT_HEAD_B / 4], word_dirty[ZS_EU_EMIT_HEAD_B / 4];
    uint8_t place_used[4]; /* sizes of elements */
    /* of the module */
    uint8_t rows[ZS_EU_ROW_COUNT];
};

/* ---- emit_value.c ---- */
static inline bool zs_eu_emit_in_head(uint32_t at)
{
    return at < ZS_EU_EMIT_HEAD_B;
}
unsigned zs_eu_emit_label(struct zs_eu_emit *e);
void zs_eu_emit_put_label(struct zs_eu_emit *e, unsigned label);
unsigned zs_eu_emit_word(struct zs_eu_emit *e, uint32_t at);
void zs_eu_emit_set_word(struct zs_eu_emit *e, uint32_t at, unsigned value);
/* One element in eight lanes. */
unsigned zs_eu_emit_splat(struct zs_eu_emit *e, unsigned one, unsigned size_B);
unsigned zs_eu_emit_value(struct zs_eu_emit *e, const char *format, ...) ZS_PRINTF(2, 3);
void zs_eu_emit_line(struct zs_eu_emit *e, const char *format, ...) ZS_PRINTF(2, 3);
unsigned zs_eu_emit_read(struct zs_eu_emit *e, uint32_t at, unsigned size_B);
void zs_eu_emit_write(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value);
bool zs_eu_emit_can_scalar(uint32_t at, unsigned size_B);
unsigned zs_eu_emit_read_one(struct zs_eu_emit *e, uint32_t at, unsigned size_B);
void zs_eu_emit_write_one(struct zs_eu_emit *e, uint32_t at, unsigned size_B, unsigned value);

/* ---- emit.c ---- */
struct zs_eu_emit_mask zs_eu_emit_active(struct zs_eu_emit *e, const struct zs_eu_op *op);
unsigned zs_eu_emit_address(struct zs_eu_emit *e, const char *base, uint64_t offset_B,
                            const char *type);
unsigned zs_eu_emit_modes(struct zs_eu_emit *e);
/* The data port runs the message. */
void zs_eu_emit_runner(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                       unsigned active);
/* Append the function of entry, entry_block, region. */
void zs_eu_emit_function(struct zs_eu_emit *e, struct zs_buf *out);

/* ---- emit_message.c ---- */
/* false: nothing was written, the data port runs it. */
bool zs_eu_emit_message(struct zs_eu_emit *e, const struct zs_eu_op *op, uint32_t index,
                        struct zs_eu_emit_mask active, unsigned active_value);

#endif
