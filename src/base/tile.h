/* SPDX-License-Identifier: MIT */
/* Where bytes of a surface are in memory when it is kept in tiles, as Intel's GPUs do. */
#ifndef ZS_BASE_TILE_H
#define ZS_BASE_TILE_H

#include <stdbool.h>
#include <stdint.h>

/* Tiles of 64 KB have a shape for each size of texels, and another one for volumes. */
enum zs_tiling {
    ZS_LINEAR,
    ZS_TILE_X,
    ZS_TILE_Y,
    ZS_TILE_4,
    ZS_TILE_64, /* of texels of a byte; then of 2 and 4, and of 8 and 16 bytes */
    ZS_TILE_64_DWORDS,
    ZS_TILE_64_LARGE,
    ZS_TILE_64_3D, /* 1, 2, 4, 8 and more bytes */
    ZS_TILE_64_3D_WORDS,
    ZS_TILE_64_3D_DWORDS,
    ZS_TILE_64_3D_LARGE,
    ZS_TILINGS,
};

/* Which bits of an offset in a tile are those of x (in bytes), y and z. */
struct zs_tile {
    uint16_t x, y, z;
};
static const struct zs_tile zs_tiles[ZS_TILINGS] = {
    [ZS_TILE_X] = {0x01ff, 0x0e00, 0},
    [ZS_TILE_Y] = {0x0e0f, 0x01f0, 0},
    [ZS_TILE_4] = {0x02cf, 0x0d30, 0},
    [ZS_TILE_64] = {0x12cf, 0xed30, 0},
    [ZS_TILE_64_DWORDS] = {0x32cf, 0xcd30, 0},
    [ZS_TILE_64_LARGE] = {0x72cf, 0x8d30, 0},
    [ZS_TILE_64_3D] = {0x104f, 0x0d30, 0xe280},
    [ZS_TILE_64_3D_WORDS] = {0x044f, 0x1930, 0xe280},
    [ZS_TILE_64_3D_DWORDS] = {0x144f, 0x2930, 0xc280},
    [ZS_TILE_64_3D_LARGE] = {0x1c4f, 0x2130, 0xc280},
};

static inline enum zs_tiling zs_tile_64_of(uint32_t texel_B, bool is_volume)
{
    if (is_volume)
        return texel_B == 1   ? ZS_TILE_64_3D
               : texel_B == 2 ? ZS_TILE_64_3D_WORDS
               : texel_B <= 4 ? ZS_TILE_64_3D_DWORDS
                              : ZS_TILE_64_3D_LARGE;
    return texel_B == 1 ? ZS_TILE_64 : texel_B <= 4 ? ZS_TILE_64_DWORDS : ZS_TILE_64_LARGE;
}

static inline uint32_t zs_tile_size_B(enum zs_tiling tiling)
{
    return tiling >= ZS_TILE_64 ? 65536 : 4096;
}
static inline uint32_t zs_tile_rows(enum zs_tiling tiling)
{
    return tiling == ZS_LINEAR ? 1 : 1u << __builtin_popcount(zs_tiles[tiling].y);
}
static inline uint32_t zs_tile_slices(enum zs_tiling tiling)
{
    return 1u << __builtin_popcount(zs_tiles[tiling].z);
}
static inline uint32_t zs_tile_width_B(enum zs_tiling tiling)
{
    return tiling == ZS_LINEAR ? 1 : 1u << __builtin_popcount(zs_tiles[tiling].x);
}

/* The low bits of a number at the places of a mask's. */
static inline uint32_t zs_tile_spread(uint32_t value, uint32_t mask)
{
    uint32_t spread = 0;
    for (; mask; mask &= mask - 1, value >>= 1)
        spread |= value & 1 ? mask & -mask : 0;
    return spread;
}

/* Bytes from the surface's start to byte x_B of row y. Tiles stand in rows. z: the slice, in tiles
 * that have several. */
static inline uint64_t zs_tiled(enum zs_tiling tiling, uint32_t row_pitch_B, uint64_t x_B,
                                uint64_t y, uint32_t z)
{
    if (tiling == ZS_LINEAR)
        return y * row_pitch_B + x_B;
    const struct zs_tile *tile = &zs_tiles[tiling];
    uint64_t width_B = zs_tile_width_B(tiling), rows = zs_tile_rows(tiling);
    uint64_t index = y / rows * (row_pitch_B / width_B) + x_B / width_B;
    return index * zs_tile_size_B(tiling) + (zs_tile_spread((uint32_t)x_B, tile->x) |
                                             zs_tile_spread((uint32_t)y, tile->y) |
                                             zs_tile_spread(z, tile->z));
}

#endif
