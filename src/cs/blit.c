/* SPDX-License-Identifier: MIT */
/* The copy engine, as XeHPG has it. */
#include "cs/cs_priv.h"

#include <inttypes.h>

/* Bytes of a texel by the code that commands have. */
static uint32_t texel_B(uint32_t dw0)
{
    static const uint8_t sizes[8] = {1, 2, 4, 8, 12, 16, 0, 0};
    return sizes[zs_cs_bits(dw0, 21, 19)];
}

/* A rectangle of a surface, or of a slice of it. */
struct side {
    uint64_t gpu_va;
    uint32_t pitch_B, x, y, z;
    enum zs_tiling tiling;
};

/* pitch: the dword with the tiling, too. shape: three dwords of what the surface is, NULL: a plane.
 */
static int side_of(struct zs_cs *cs, const uint32_t *pitch, uint32_t corner,
                   const uint32_t *address, const uint32_t *shape, uint32_t element_B,
                   struct side *ret, struct zs_diag *diag)
{
    uint32_t mode = *pitch >> 30, slice = shape ? shape[2] >> 21 : 0;
    bool is_volume = shape && shape[0] >> 29 == 2;
    const int tilings[4] = {ZS_LINEAR, -1, ZS_TILE_4, (int)zs_tile_64_of(element_B, is_volume)};
    if (tilings[mode] < 0)
        return zs_cs_fail(cs, diag, -ENOTSUP, "tiling %" PRIu32 " of a copy is not modelled", mode);
    *ret = (struct side){.gpu_va = zs_cs_qword(address),
                         .pitch_B = (*pitch & 0x3ffff) + 1,
                         .x = corner & 0xffff,
                         .y = corner >> 16,
                         .tiling = (enum zs_tiling)tilings[mode]};
    if (mode == 0)
        return 0;
    ret->pitch_B *= 4; /* counted in dwords */
    uint32_t together = zs_tile_slices(ret->tiling), slice_rows = zs_cs_bits(shape[1], 18, 4) * 4;
    ret->z = slice % together;
    if (together > 1)
        ret->gpu_va += (uint64_t)(slice - ret->z) * slice_rows * ret->pitch_B;
    else
        ret->y += slice * slice_rows;
    return 0;
}

static uint64_t place(const struct side *side, uint64_t x_B, uint32_t row)
{
    return side->gpu_va +
           zs_tiled(side->tiling, side->pitch_B, x_B, (uint64_t)side->y + row, side->z);
}

/* How many bytes of a row are neighbours in memory, from x_B on. */
static uint64_t run_B(const struct side *side, uint64_t x_B, uint64_t wanted_B)
{
    return side->tiling == ZS_LINEAR ? wanted_B : ZS_MIN(wanted_B, 16 - x_B % 16);
}

static int copy_row(struct zs_cs *cs, const struct side *to, const struct side *from, uint32_t row,
                    uint64_t to_x_B, uint64_t from_x_B, uint64_t size_B, struct zs_diag *diag)
{
    for (uint64_t at = 0; at < size_B;) {
        uint64_t part_B = run_B(to, to_x_B + at, run_B(from, from_x_B + at, size_B - at));
        const uint8_t *source =
            zs_cs_touch(cs, place(from, from_x_B + at, row), part_B, false, diag);
        uint8_t *target =
            source ? zs_cs_touch(cs, place(to, to_x_B + at, row), part_B, true, diag) : NULL;
        if (!target)
            return -EFAULT;
        memmove(target, source, part_B);
        at += part_B;
        int error = zs_cs_moved(cs, part_B, diag);
        if (error)
            return error;
    }
    return 0;
}

int zs_cs_block_copy(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    struct side to, from;
    uint32_t element_B = texel_B(dw[0]);
    uint32_t width = (dw[3] & 0xffff) - (dw[2] & 0xffff), height = (dw[3] >> 16) - (dw[2] >> 16);
    if (!element_B || count != 22 || width > 0xffff || height > 0xffff)
        return zs_cs_refuse(cs, dw, count, diag);
    int error = side_of(cs, &dw[1], dw[2], &dw[4], &dw[16], element_B, &to, diag);
    if (!error)
        error = side_of(cs, &dw[8], dw[7], &dw[9], &dw[19], element_B, &from, diag);
    for (uint32_t row = 0; row < height && !error; row++)
        error = copy_row(cs, &to, &from, row, (uint64_t)to.x * element_B,
                         (uint64_t)from.x * element_B, (uint64_t)width * element_B, diag);
    return error;
}

int zs_cs_color_fill(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    struct side to;
    uint32_t element_B = texel_B(dw[0]), width = (dw[3] & 0xffff) - (dw[2] & 0xffff);
    uint32_t height = (dw[3] >> 16) - (dw[2] >> 16);
    if (!element_B || count < 11 || width > 0xffff || height > 0xffff)
        return zs_cs_refuse(cs, dw, count, diag);
    if (dw[1] >> 30) /* tiled */
        return zs_cs_refuse(cs, dw, count, diag);
    int error = side_of(cs, &dw[1], dw[2], &dw[4], NULL, element_B, &to, diag);
    for (uint32_t row = 0; row < height && width && !error; row++) {
        uint64_t at = to.gpu_va + ((uint64_t)to.y + row) * to.pitch_B + (uint64_t)to.x * element_B;
        uint8_t *target = zs_cs_touch(cs, at, (uint64_t)width * element_B, true, diag);
        if (!target)
            return -EFAULT;
        for (uint32_t i = 0; i < width; i++)
            memcpy(target + (size_t)i * element_B, dw + 7, element_B);
        error = zs_cs_moved(cs, (uint64_t)width * element_B, diag);
    }
    return error;
}

int zs_cs_memory_copy(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    bool is_matrix = dw[0] >> 17 & 1;
    uint64_t width_B = is_matrix ? (dw[1] & 0x3ffff) + 1 : (dw[1] & 0xffffff) + 1;
    uint32_t height = is_matrix ? (dw[2] & 0x3ffff) + 1 : 1;
    uint64_t from_pitch_B = (dw[3] & 0x3ffff) + 1, to_pitch_B = (dw[4] & 0x3ffff) + 1;
    if (count < 10)
        return zs_cs_refuse(cs, dw, count, diag);
    int error = 0;
    for (uint32_t row = 0; row < height && !error; row++) {
        const uint8_t *source =
            zs_cs_touch(cs, zs_cs_qword(dw + 5) + row * from_pitch_B, width_B, false, diag);
        uint8_t *target =
            source ? zs_cs_touch(cs, zs_cs_qword(dw + 7) + row * to_pitch_B, width_B, true, diag)
                   : NULL;
        if (!target)
            return -EFAULT;
        memmove(target, source, width_B);
        error = zs_cs_moved(cs, width_B, diag);
    }
    return error;
}

int zs_cs_memory_set(struct zs_cs *cs, const uint32_t *dw, uint32_t count, struct zs_diag *diag)
{
    enum { LINEAR, MATRIX };
    uint32_t type = zs_cs_bits(dw[0], 18, 17), height = (dw[2] & 0x3ffff) + 1;
    uint64_t width_B = (dw[1] & (type == MATRIX ? 0x3ffff : 0xffffff)) + 1;
    uint64_t pitch_B = (dw[3] & 0x3ffff) + 1;
    if (count < 7 || type > MATRIX)
        return zs_cs_refuse(cs, dw, count, diag);
    int error = 0;
    for (uint32_t row = 0; row < (type == MATRIX ? height : 1) && !error; row++) {
        uint8_t *target = zs_cs_touch(cs, zs_cs_qword(dw + 4) + row * pitch_B, width_B, true, diag);
        if (!target)
            return -EFAULT;
        memset(target, (int)(dw[6] >> 24), width_B);
        error = zs_cs_moved(cs, width_B, diag);
    }
    return error;
}
