/* SPDX-License-Identifier: MIT */
/*
 * Surfaces, samplers and texel formats as the send units see them: decoded state, not the
 * hardware's RENDER_SURFACE_STATE and SAMPLER_STATE bits.
 */
#ifndef ZS_DATAPORT_SURFACE_H
#define ZS_DATAPORT_SURFACE_H

#include "base/compiler.h"
#include "base/tile.h"

enum zs_port_surface_kind {
    ZS_PORT_SURFACE_NULL,   /* reads give 0, writes are dropped */
    ZS_PORT_SURFACE_FREED,  /* its allocation is gone: every access is a fault */
    ZS_PORT_SURFACE_BUFFER, /* raw bytes */
    ZS_PORT_SURFACE_IMAGE,
};

struct zs_port_format;

struct zs_port_surface {
    enum zs_port_surface_kind kind;
    bool read_only;
    uint8_t dimensions; /* image: 1, 2 or 3 */
    bool is_array;      /* the last coordinate (index `dimensions`) selects a layer */
    uint8_t swizzle[4]; /* what R, G, B, A return: 0 zero, 1 one, 4..7 channel R..A */
    uint8_t *base;
    uint64_t gpu_va; /* of base: what faults and models of time say */
    uint64_t size_B; /* buffer: bytes, a multiple of 4; image: all bytes that may be touched */
    uint32_t pad_B;  /* buffer: those at the end that nobody allocated */
    const struct zs_port_format *format;
    uint32_t width, height, depth; /* texels; depth: layers of an array (1D: too) */
    uint32_t row_pitch_B;
    enum zs_tiling tiling;  /* else than linear: slices begin at whole rows */
    uint64_t slice_pitch_B; /* between z slices or layers */
    /* Two planes: U and V of half the width and height, with the pitch of the rows of Y; NULL:
     * none. */
    const struct zs_port_format *chroma;
    const uint8_t *chroma_base;
};

enum zs_port_wrap {
    ZS_PORT_WRAP_REPEAT,
    ZS_PORT_WRAP_MIRROR,
    ZS_PORT_WRAP_CLAMP,
    ZS_PORT_WRAP_BORDER,
    ZS_PORT_WRAP_MIRROR_ONCE,
};

struct zs_port_sampler {
    enum zs_port_wrap wrap[3]; /* u, v, r */
    bool linear;
    bool normalized;
    float border[4];
};

/* ---- texel formats: rows of format.def ----------------------------------------------------
 */

enum zs_port_format_type {
    ZS_PORT_FORMAT_UINT,
    ZS_PORT_FORMAT_SINT,
    ZS_PORT_FORMAT_UNORM,
    ZS_PORT_FORMAT_SNORM,
    ZS_PORT_FORMAT_FLOAT,
    ZS_PORT_FORMAT_SRGB, /* R, G, B; A is unorm */
};

struct zs_port_format {
    uint32_t code; /* RENDER_SURFACE_STATE's surface format */
    const char *name;
    enum zs_port_format_type type;
    uint8_t texel_B;
    struct {
        uint8_t bit, bits; /* of channels R, G, B, A from bit 0 of the texel; bits 0: absent */
    } channel[4];
};

const struct zs_port_format *zs_port_format_find(uint32_t code);
size_t zs_port_format_count(void);
const struct zs_port_format *zs_port_format_at(size_t index);

/* Channels of the texels of so many lanes. */
enum { ZS_PORT_TEXELS = 32 };
struct zs_port_texels {
    uint32_t channel[4][ZS_PORT_TEXELS];
};

/* Texels' bytes to 32-bit channels: integers as such, else float bits. Absent R, G, B read 0, an
 * absent A reads one. No swizzle. mask: of count lanes; the others read as if of zeros. */
void zs_port_texels_unpack(const struct zs_port_format *format, uint8_t *const *pointer,
                           uint32_t mask, uint32_t count, struct zs_port_texels *ret);
/* The reverse: clamps to the format's range, rounds to nearest even. Of channels that share bits R
 * is written. Leaves nothing of use in texels. */
void zs_port_texels_pack(const struct zs_port_format *format, struct zs_port_texels *texels,
                         uint32_t mask, uint32_t count, uint8_t *const *pointer);

#endif
