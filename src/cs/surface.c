/* SPDX-License-Identifier: MIT */
/* RENDER_SURFACE_STATE. */
#include "cs/cs_priv.h"

#include "base/reader.h"

enum { TYPE_1D, TYPE_2D, TYPE_3D, TYPE_CUBE, TYPE_BUFFER, TYPE_STRUCTURED, TYPE_NULL = 7 };
enum { PLANAR_420_8 = 0x1a5, PLANAR_420_16 = 0x1a6 };

static int decode_tiling(uint32_t dw0, bool has_tile4, struct zs_cs_surface *ret,
                         struct zs_diag *diag)
{
    static const int8_t modes[2][4] = {{ZS_LINEAR, -1, ZS_TILE_X, ZS_TILE_Y},
                                       {ZS_LINEAR, ZS_TILE_64, ZS_TILE_X, ZS_TILE_4}};
    int mode = modes[has_tile4][zs_cs_bits(dw0, 13, 12)];
    if (mode < 0)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "a surface in tiles of W is not modelled");
    ret->tiling = (enum zs_tiling)mode;
    return 0;
}

/* Buffers have their count of elements where images have width, height and depth. */
static void decode_buffer(const uint32_t dw[16], struct zs_cs_surface *ret)
{
    uint64_t count = ((uint64_t)zs_cs_bits(dw[3], 31, 21) << 21 |
                      (uint64_t)zs_cs_bits(dw[2], 29, 16) << 7 | zs_cs_bits(dw[2], 6, 0)) +
                     1;
    ret->kind = ret->format == ZS_CS_FORMAT_RAW ? ZS_CS_SURFACE_BUFFER : ZS_CS_SURFACE_IMAGE;
    ret->size_B = count * ((dw[3] & 0x3ffff) + 1ull);
    if (ret->format == ZS_CS_FORMAT_RAW)
        ret->size_B = count;
    ret->is_buffer = true;
    ret->dimensions = 1;
    ret->width = (uint32_t)ZS_MIN(count, (uint64_t)UINT32_MAX);
    ret->height = ret->depth = 1;
}

int zs_cs_surface_decode(const uint8_t state[ZS_CS_SURFACE_STATE_B], bool has_tile4,
                         struct zs_cs_surface *ret, struct zs_diag *diag)
{
    uint32_t dw[ZS_CS_SURFACE_STATE_B / 4];
    for (uint32_t i = 0; i < ZS_ARRAY_LEN(dw); i++)
        dw[i] = zs_load_u32(state + i * 4ull);
    uint32_t type = dw[0] >> 29;
    *ret = (struct zs_cs_surface){.format = zs_cs_bits(dw[0], 26, 18)};
    ret->gpu_va = zs_cs_qword(dw + 8) & ZS_CS_ADDRESS_BITS;
    for (uint32_t i = 0; i < 4; i++)
        ret->swizzle[i] = (uint8_t)(dw[7] >> (25 - 3 * i) & 7);
    if (type == TYPE_NULL)
        return 0;
    if (type == TYPE_BUFFER) {
        decode_buffer(dw, ret);
        return 0;
    }
    if (type > TYPE_3D)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "a surface of type %u (RENDER_SURFACE_STATE) is not modelled", type);
    ret->kind = ZS_CS_SURFACE_IMAGE;
    ret->dimensions = type + 1;
    ret->is_array = dw[0] >> 28 & 1;
    ret->width = zs_cs_bits(dw[2], 13, 0) + 1;
    ret->height = zs_cs_bits(dw[2], 29, 16) + 1;
    ret->depth = zs_cs_bits(dw[3], 31, 21) + 1;
    ret->row_pitch_B = zs_cs_bits(dw[3], 17, 0) + 1;
    ret->slice_rows = zs_cs_bits(dw[1], 14, 0) * 4;
    if (ret->format == PLANAR_420_8 || ret->format == PLANAR_420_16)
        ret->chroma_rows = zs_cs_bits(dw[6], 13, 0);
    if (ret->chroma_rows && dw[6] >> 16)
        return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                           "planes side by side, or three, are not modelled");
    return decode_tiling(dw[0], has_tile4, ret, diag);
}
