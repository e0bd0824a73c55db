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
#define ZS_LSC(opcode, shape, kind, name, detail, words)                                           \
    [opcode] = {name, detail, words, ZS_LSC_##shape, ZS_MSG_##kind},
#include "isa/lsc.def"
#undef ZS_LSC
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
#define ZS_SAMPLER(type, kind, name) [type] = {name, name, NULL, ZS_MSG_##kind},
#include "isa/sampler_xe2.def"
#undef ZS_SAMPLER
};

const struct zs_dataport_row *zs_dataport_row(enum zs_isa_sfid sfid, uint32_t desc)
{
    uint32_t port = sfid == ZS_SFID_DC0 ? PORT_DC0 : sfid == ZS_SFID_DC1 ? PORT_DC1 : PORT_DCRO;
    return &dataport_rows[port][desc >> 14 & (TYPES - 1)];
}

const struct zs_lsc_row *zs_lsc_row(enum zs_isa_platform platform, uint32_t desc)
{
    static const struct zs_lsc_row unknown = {0};
    uint32_t operation = desc & 63;
    bool is_known = operation < zs_isa_generation(platform)->lsc_operations;
    return is_known ? &lsc_rows[operation] : &unknown;
}

const struct zs_sampler_row *zs_sampler_row(enum zs_isa_platform platform, uint32_t desc)
{
    uint32_t type = desc >> 12 & (TYPES - 1);
    return platform < ZS_ISA_XE2 ? &sampler_rows[type] : &sampler_xe2_rows[desc >> 31 << 5 | type];
}

bool zs_is_lsc(enum zs_isa_platform platform, uint32_t sfid)
{
    return sfid == ZS_SFID_UGM || sfid == ZS_SFID_UGML || sfid == ZS_SFID_SLM ||
           sfid == ZS_SFID_TGM || (sfid == ZS_SFID_URB && zs_isa_generation(platform)->urb_is_lsc);
}
