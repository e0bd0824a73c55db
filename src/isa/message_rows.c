/* SPDX-License-Identifier: MIT */
#include "isa/message_rows.h"

enum { TYPES = 32, PORTS = 3 };

enum { PORT_DC0, PORT_DC1, PORT_DCRO };

static const struct zs_dataport_row dataport_rows[PORTS][TYPES] = {
#define ZS_MESSAGE(sfid, type, shape, kind, address, name, tail, words)                            \
    [PORT_##sfid][type] = {name, words, ZS_SHAPE_##shape, ZS_TAIL_##tail, ZS_MSG_##kind, address},
#include "isa/messages.def"
#undef ZS_MESSAGE
};

static const struct zs_lsc_row lsc_rows[64] = {
#define ZS_LSC(opcode, id, shape, kind, name, words)                                               \
    [opcode] = {name, "", words, ZS_SHAPE_##shape, ZS_MSG_##kind, 0},
#define ZS_LSC_ATOMIC(opcode, atomic, detail, words)                                               \
    [opcode] = {"atomic", detail, words, ZS_SHAPE_VECTOR, ZS_MSG_ATOMIC, ZS_ATOMIC_##atomic},
#define ZS_LSC_COUNTER(opcode, id, detail, words)                                                  \
    [opcode] = {"atomic", detail, words, ZS_SHAPE_LSC_COUNTER, ZS_MSG_ATOMIC, 0},
#include "isa/lsc.def"
};

static const struct zs_sampler_row sampler_rows[TYPES] = {
#define ZS_SAMPLER(type, message, operation, text)                                                 \
    [type].name = operation, [type].kind = ZS_MSG_##message, [type].words = text,
#define ZS_SAMPLER_WIDE(type, text) [type].wide_words = text,
#include "isa/sampler.def"
#undef ZS_SAMPLER
#undef ZS_SAMPLER_WIDE
};

static const struct zs_sampler_row sampler_xe2_rows[2 * TYPES] = {
#define ZS_SAMPLER(type, kind, name, text) [type] = {name, name, NULL, ZS_MSG_##kind},
#include "isa/sampler_xe2.def"
#undef ZS_SAMPLER
};

static const struct zs_sampler_row sampler_e64_rows[2 * TYPES] = {
#define ZS_SAMPLER(type, kind, name, text) [type] = {name, text, NULL, ZS_MSG_##kind},
#include "isa/sampler_xe2.def"
#undef ZS_SAMPLER
};

static const struct zs_atomic_row atomic_rows[ZS_ATOMIC_COUNT] = {
#define ZS_ATOMIC(number, id, name, words) [number] = {name, words},
#include "isa/atomics.def"
};

const struct zs_dataport_row *zs_dataport_row(enum zs_isa_sfid sfid, uint32_t desc)
{
    uint32_t port = sfid == ZS_SFID_DC0 ? PORT_DC0 : sfid == ZS_SFID_DC1 ? PORT_DC1 : PORT_DCRO;
    return &dataport_rows[port][desc >> 14 & (TYPES - 1)];
}

const struct zs_lsc_row *zs_lsc_row(const struct zs_isa_generation *generation, uint32_t desc)
{
    static const struct zs_lsc_row unknown = {0};
    uint32_t operation = desc & 63;
    return operation < generation->lsc_operations ? &lsc_rows[operation] : &unknown;
}

const struct zs_sampler_row *zs_sampler_row(const struct zs_isa_generation *generation,
                                            uint32_t desc)
{
    uint32_t type = desc >> 12 & (TYPES - 1);
    return generation->has_sampler_offsets ? &sampler_xe2_rows[desc >> 31 << 5 | type]
                                           : &sampler_rows[type];
}

const struct zs_sampler_row *zs_sampler_e64_row(uint32_t type)
{
    return &sampler_e64_rows[type & (2 * TYPES - 1)];
}

const struct zs_atomic_row *zs_atomic_row(uint32_t operation)
{
    static const struct zs_atomic_row none = {"", ""};
    return atomic_rows[operation].name ? &atomic_rows[operation] : &none;
}

bool zs_is_lsc(const struct zs_isa_generation *generation, uint32_t sfid)
{
    return sfid == ZS_SFID_UGM || sfid == ZS_SFID_UGML || sfid == ZS_SFID_SLM ||
           sfid == ZS_SFID_TGM || (sfid == ZS_SFID_URB && generation->urb_is_lsc);
}
