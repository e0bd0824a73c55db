/* SPDX-License-Identifier: MIT */
/*
 * The software scoreboard field: what an instruction waits for and what it marks.
 *
 * A code is a distance to an in-order pipe, a token (SBID) that is set or waited for, or both. What
 * "both" means depends on the instruction: one whose time varies sets the token, others wait for
 * it. Rows are tried in order; a row's code has its bits outside of distance and token.
 *
 * Sources: intel-graphics-compiler, visa/iga/IGALibrary/api/iga_types_swsb.cpp; mesa,
 * src/intel/compiler/brw/brw_eu_defines.h (tgl_swsb_encode).
 */
#include "isa/xe.h"

/* Which pair an instruction has. */
enum kind { KIND_OTHER, KIND_MATH, KIND_SEND, KIND_DPAS, KIND_COUNT };

struct row {
    uint16_t code, mask;
    uint8_t pipe, token;
};

/* A pair, by kind of instruction; the first pair of a scheme has the lowest bits above the
 * distance, 0: there is none. */
struct pair {
    uint8_t pipe, token;
};

struct scheme {
    const struct row *rows;
    uint32_t row_count;
    uint32_t pair_bits;  /* bits that a pair has set */
    uint32_t pair_shift; /* where they begin */
    uint32_t distance_shift, sbid_mask;
    struct pair pairs[3][KIND_COUNT]; /* by pair bits - 1 */
};

#define DIST ZS_SWSB_DIST
#define ALL  ZS_SWSB_ALL
#define SET  ZS_SWSB_SET
#define DST  ZS_SWSB_DST
#define SRC  ZS_SWSB_SRC
#define INC  ZS_SWSB_INC

/* Gen12LP: one in-order pipe. */
static const struct row lp_rows[] = {
    {0x00, 0xf0, DIST, 0},
    {0x20, 0xf0, 0, DST},
    {0x30, 0xf0, 0, SRC},
    {0x40, 0xf0, 0, SET},
};
/* XeHP, XeHPG: float, integer and long pipes. */
static const struct row hp_rows[] = {
    {0x00, 0xf8, DIST, 0},        {0x08, 0xf8, ALL, 0},          {0x10, 0xf8, ZS_SWSB_FLOAT, 0},
    {0x18, 0xf8, ZS_SWSB_INT, 0}, {0x50, 0xf8, ZS_SWSB_LONG, 0}, {0x20, 0xf0, 0, DST},
    {0x30, 0xf0, 0, SRC},         {0x40, 0xf0, 0, SET},
};
/* XeHPC: a math pipe, and 32 tokens. The last rows have come later: a scalar pipe with Xe3, tokens
 * that count with Xe3P. */
static const struct row hpc_rows[] = {
    {0x0f0, 0x3ff, 0, ZS_SWSB_NOACCSBSET},
    {0x000, 0x3f8, DIST, 0},
    {0x008, 0x3f8, ALL, 0},
    {0x010, 0x3f8, ZS_SWSB_FLOAT, 0},
    {0x018, 0x3f8, ZS_SWSB_INT, 0},
    {0x020, 0x3f8, ZS_SWSB_LONG, 0},
    {0x028, 0x3f8, ZS_SWSB_MATH, 0},
    {0x080, 0x3e0, 0, DST},
    {0x0a0, 0x3e0, 0, SRC},
    {0x0c0, 0x3e0, 0, SET},
    {0x030, 0x3f8, ZS_SWSB_SCALAR, 0},
    {0x040, 0x3e0, 0, INC},
};

static const struct scheme lp_scheme = {lp_rows,
                                        ZS_ARRAY_LEN(lp_rows),
                                        0x80,
                                        7,
                                        4,
                                        0xf,
                                        {{[KIND_OTHER] = {DIST, DST},
                                          [KIND_MATH] = {DIST, SET},
                                          [KIND_SEND] = {DIST, SET},
                                          [KIND_DPAS] = {DIST, DST}}}};
static const struct scheme hp_scheme = {hp_rows,
                                        ZS_ARRAY_LEN(hp_rows),
                                        0x80,
                                        7,
                                        4,
                                        0xf,
                                        {{[KIND_OTHER] = {DIST, DST},
                                          [KIND_MATH] = {DIST, SET},
                                          [KIND_SEND] = {ALL, SET},
                                          [KIND_DPAS] = {DIST, SET}}}};
/* Pairs of a distance and a token from XeHPC on. */
#define WIDE_PAIRS                                                                                 \
    {                                                                                              \
        {[KIND_OTHER] = {DIST, DST},                                                               \
         [KIND_MATH] = {DIST, DST},                                                                \
         [KIND_SEND] = {ALL, SET},                                                                 \
         [KIND_DPAS] = {DIST, SET}},                                                               \
            {[KIND_OTHER] = {DIST, SRC},                                                           \
             [KIND_MATH] = {DIST, SRC},                                                            \
             [KIND_SEND] = {ZS_SWSB_FLOAT, SET},                                                   \
             [KIND_DPAS] = {DIST, SRC}},                                                           \
        {                                                                                          \
            [KIND_OTHER] = {ALL, DST}, [KIND_MATH] = {ALL, DST}, [KIND_SEND] = {ZS_SWSB_INT, SET}, \
            [KIND_DPAS] = {                                                                        \
                DIST,                                                                              \
                DST                                                                                \
            }                                                                                      \
        }                                                                                          \
    }
static const struct scheme hpc_scheme = {hpc_rows,  ZS_ARRAY_LEN(hpc_rows) - 2, 0x300, 8, 5, 0x1f,
                                         WIDE_PAIRS};
static const struct scheme xe3_scheme = {hpc_rows,  ZS_ARRAY_LEN(hpc_rows) - 1, 0x300, 8, 5, 0x1f,
                                         WIDE_PAIRS};
static const struct scheme xe3p_scheme = {hpc_rows,  ZS_ARRAY_LEN(hpc_rows), 0x300, 8, 5, 0x1f,
                                          WIDE_PAIRS};
#undef WIDE_PAIRS
#undef DIST
#undef ALL
#undef SET
#undef DST
#undef SRC
#undef INC

static const struct scheme *scheme_of(enum zs_isa_platform platform)
{
    return platform >= ZS_ISA_XE3P     ? &xe3p_scheme
           : platform >= ZS_ISA_XE3    ? &xe3_scheme
           : platform >= ZS_ISA_XE_HPC ? &hpc_scheme
           : platform >= ZS_ISA_XE_HP  ? &hp_scheme
                                       : &lp_scheme;
}

static enum kind kind_of(uint32_t op)
{
    switch (op) {
    case ZS_OP_SEND:
    case ZS_OP_SENDC:
    case ZS_OP_SENDG:
    case ZS_OP_SENDGC:
    case ZS_OP_SENDGX:
    case ZS_OP_SENDGXC:
        return KIND_SEND;
    case ZS_OP_MATH:
        return KIND_MATH;
    case ZS_OP_DPAS:
    case ZS_OP_DPASW:
    case ZS_OP_BDPAS:
        return KIND_DPAS;
    default:
        return KIND_OTHER;
    }
}

static bool decode_pair(const struct scheme *s, uint32_t code, struct zs_isa_inst *inst)
{
    const struct pair *pair =
        &s->pairs[((code & s->pair_bits) >> s->pair_shift) - 1][kind_of(inst->op)];
    inst->swsb = (struct zs_isa_swsb){.pipe = pair->pipe,
                                      .distance = (uint8_t)(code >> s->distance_shift & 7),
                                      .token = pair->token,
                                      .sbid = (uint8_t)(code & s->sbid_mask)};
    return true;
}

bool zs_xe_decode_swsb(enum zs_isa_platform platform, uint32_t code, struct zs_isa_inst *inst)
{
    const struct scheme *s = scheme_of(platform);
    if (code == 0)
        return true;
    if (code & s->pair_bits)
        return decode_pair(s, code, inst);
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct row *row = &s->rows[i];
        if ((code & row->mask) != row->code)
            continue;
        uint32_t low = code & ~(uint32_t)row->mask;
        if (row->pipe && low)
            inst->swsb = (struct zs_isa_swsb){.pipe = row->pipe, .distance = (uint8_t)low};
        else if (row->token)
            inst->swsb = (struct zs_isa_swsb){.token = row->token, .sbid = (uint8_t)low};
        return true;
    }
    return false;
}

static bool encode_pair(const struct scheme *s, const struct zs_isa_inst *inst, uint32_t *ret_code)
{
    const struct zs_isa_swsb *w = &inst->swsb;
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(s->pairs); i++) {
        const struct pair *pair = &s->pairs[i][kind_of(inst->op)];
        if (pair->pipe == w->pipe && pair->token == w->token) {
            *ret_code =
                (i + 1) << s->pair_shift | (uint32_t)w->distance << s->distance_shift | w->sbid;
            return true;
        }
    }
    return false;
}

bool zs_xe_encode_swsb(enum zs_isa_platform platform, const struct zs_isa_inst *inst,
                       uint32_t *ret_code)
{
    const struct scheme *s = scheme_of(platform);
    const struct zs_isa_swsb *w = &inst->swsb;
    *ret_code = 0;
    if (w->sbid & ~s->sbid_mask || w->distance > 7 || (w->pipe && !w->distance && !w->token))
        return false;
    if (!w->pipe && !w->token)
        return true;
    if (w->pipe && w->token)
        return encode_pair(s, inst, ret_code);
    for (uint32_t i = 0; i < s->row_count; i++) {
        if (s->rows[i].pipe == w->pipe && s->rows[i].token == w->token) {
            *ret_code = s->rows[i].code | (w->pipe ? w->distance : w->sbid);
            return true;
        }
    }
    return false;
}
