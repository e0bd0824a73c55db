/* SPDX-License-Identifier: MIT */
/*
 * Blocks of two dimensions (XeHPC on): rows of a surface that lies at an address, which the payload
 * describes: base, width - 1 and pitch - 1 in bytes, height - 1, the block's first column and row
 * (of either sign), its columns - 1, rows - 1 and number - 1. What lies outside the surface reads
 * as zeros and is not written.
 *
 * In registers a row takes the next power of two of its elements, a block whole registers.
 * Transposed, columns are the rows there; VNNI puts the elements of two or four rows that share a
 * column into one dword. Blocks of an array lie side by side in memory.
 *
 * Sources: IGC's documentation/visa/instructions/LSC_UNTYPED.md (LOAD_BLOCK2D), what it allows as
 * cl_intel_subgroup_2d_block_io has it.
 */
#include "dataport/dataport_priv.h"

enum {
    COLUMN_B_MAX = 64, /* of all blocks of a message together */
    LOAD_ROWS_MAX = 32,
    STORE_ROWS_MAX = 8,
    BASE_ALIGNMENT_B = 64,
    WIDTH_B_MIN = 64,
    EXTENT_MAX = 1 << 24,
    PITCH_ALIGNMENT_B = 8,
    DWORD_B = 4,
};
struct block {
    uint64_t base;
    uint32_t width_B, height, pitch_B;
    int32_t x, y; /* elements, rows */
    uint32_t columns, rows, count;
    uint32_t row_elements; /* of a row in registers */
    uint32_t block_B;      /* ... and of a block */
};

/* ---- geometry ----------------------------------------------------------------------------------
 */

static uint32_t power_of_two(uint32_t n)
{
    return n > 1 ? 1u << (32 - __builtin_clz(n - 1)) : 1;
}

static bool is_prefetch(const struct zs_port_message *m)
{
    return m->block_B == 0;
}

static bool is_allowed(const struct zs_port_message *m, const struct block *b, bool is_write)
{
    uint32_t row_B = b->columns * m->element_B, offset_B = (uint32_t)b->x * m->element_B;
    return b->base % BASE_ALIGNMENT_B == 0 && b->width_B >= WIDTH_B_MIN &&
           b->width_B <= EXTENT_MAX && b->width_B % DWORD_B == 0 && b->height <= EXTENT_MAX &&
           b->pitch_B >= b->width_B && b->pitch_B <= EXTENT_MAX &&
           b->pitch_B % PITCH_ALIGNMENT_B == 0 && row_B % DWORD_B == 0 && offset_B % DWORD_B == 0 &&
           row_B * b->count <= COLUMN_B_MAX && b->x >= -EXTENT_MAX && b->x <= EXTENT_MAX &&
           b->y >= -EXTENT_MAX && b->y <= EXTENT_MAX &&
           b->rows <= (is_write ? STORE_ROWS_MAX : LOAD_ROWS_MAX) && (!is_write || b->count == 1) &&
           (is_prefetch(m) || (uint64_t)b->block_B * b->count <= m->block_B);
}

/* false: the payload does not describe a block, or one that has more registers than the message. */
static bool describe(const struct zs_port_message *m, const uint8_t *src0, struct block *b)
{
    uint32_t shape = zs_port_load32(src0 + 28);
    *b = (struct block){.base = zs_port_load64(src0),
                        .width_B = zs_port_load32(src0 + 8) + 1,
                        .height = zs_port_load32(src0 + 12) + 1,
                        .pitch_B = zs_port_load32(src0 + 16) + 1,
                        .x = (int32_t)zs_port_load32(src0 + 20),
                        .y = (int32_t)zs_port_load32(src0 + 24),
                        .columns = zs_port_bits(shape, 7, 0) + 1,
                        .rows = zs_port_bits(shape, 15, 8) + 1,
                        .count = zs_port_bits(shape, 19, 16) + 1};
    uint32_t per_dword = m->op & ZS_PORT_BLOCK_VNNI ? DWORD_B / m->element_B : 1;
    uint32_t rows = (b->rows + per_dword - 1) / per_dword * per_dword;
    b->row_elements = power_of_two(m->op & ZS_PORT_BLOCK_TRANSPOSED ? b->rows : b->columns);
    uint32_t elements = b->row_elements * (m->op & ZS_PORT_BLOCK_TRANSPOSED ? b->columns : rows);
    b->block_B = (uint32_t)zs_align_up((uint64_t)elements * m->element_B, m->component_B);
    return is_allowed(m, b, m->bytes_written);
}

static bool read_block(struct zs_port *port, const struct zs_port_message *m, const uint8_t *src0,
                       bool is_write, struct block *b)
{
    return describe(m, src0, b) ||
           zs_port_fail(port, m, ZS_PORT_FAULT_BLOCK2D, -1, b->base, b->width_B, is_write);
}

/* Byte of an element in its block's registers. */
static uint32_t place(const struct zs_port_message *m, const struct block *b, uint32_t row,
                      uint32_t column)
{
    uint32_t element = row * b->row_elements + column;
    if (m->op & ZS_PORT_BLOCK_TRANSPOSED)
        element = column * b->row_elements + row;
    if (m->op & ZS_PORT_BLOCK_VNNI) {
        uint32_t per_dword = DWORD_B / m->element_B;
        element =
            row / per_dword * per_dword * b->row_elements + column * per_dword + row % per_dword;
    }
    return element * m->element_B;
}

/* The columns of a row that lie in the surface: from *ret_first on; their number. 0: none. */
static uint32_t inside(const struct zs_port_message *m, const struct block *b, uint32_t which,
                       uint32_t row, uint32_t *ret_first)
{
    int64_t y = (int64_t)b->y + row, x = (int64_t)b->x + (int64_t)which * b->columns;
    int64_t end = ZS_MIN(x + (int64_t)b->columns, (int64_t)(b->width_B / m->element_B));
    int64_t first = ZS_MAX(x, (int64_t)0);
    if (y < 0 || y >= (int64_t)b->height || first >= end)
        return 0;
    *ret_first = (uint32_t)(first - x);
    return (uint32_t)(end - first);
}

static uint64_t address_of(const struct zs_port_message *m, const struct block *b, uint32_t which,
                           uint32_t row, uint32_t column)
{
    uint64_t y = (uint64_t)((int64_t)b->y + row);
    uint64_t x = (uint64_t)((int64_t)b->x + (int64_t)which * b->columns + column);
    return b->base + y * b->pitch_B + x * m->element_B;
}

uint32_t zs_port_block2d_load_B(uint32_t desc, uint32_t grf_B, const uint8_t *src0)
{
    enum { LONGEST = 32 };
    uint32_t size = zs_port_bits(desc, 11, 9);
    const struct zs_port_message m = {
        .component_B = (uint16_t)grf_B,
        .element_B = (uint8_t)(1u << (size & 3)),
        .op = (uint8_t)((zs_port_bits(desc, 15, 15) ? ZS_PORT_BLOCK_TRANSPOSED : 0) |
                        (zs_port_bits(desc, 7, 7) ? ZS_PORT_BLOCK_VNNI : 0)),
        .block_B = (uint16_t)(LONGEST * grf_B)};
    struct block b;
    bool is_block = size <= 3 && describe(&m, src0, &b);
    return is_block ? b.block_B * b.count : 0;
}

bool zs_port_block2d_row(const struct zs_port_message *m, const uint8_t *src0, uint32_t index,
                         uint64_t *ret_gpu_va, uint32_t *ret_size_B)
{
    struct block b;
    uint32_t first = 0;
    if (!describe(m, src0, &b) || index >= b.rows)
        return false;
    b.columns *= b.count;
    *ret_size_B = inside(m, &b, 0, index, &first) * m->element_B;
    *ret_gpu_va = address_of(m, &b, 0, index, first);
    return true;
}

/* Memory of `size_B` bytes from a column of a row on; NULL: a fault. */
static uint8_t *memory_of(struct zs_port *port, const struct zs_port_message *m,
                          const struct block *b, uint32_t which, uint32_t row, uint32_t column,
                          uint32_t size_B, bool is_write)
{
    uint64_t gpu_va = address_of(m, b, which, row, column);
    const struct zs_port_range *range = zs_port_range(port, m, gpu_va, size_B, -1, is_write);
    if (!range)
        return NULL;
    uint8_t *at = zs_port_host(range, gpu_va);
    if (zs_port_tracks(port) && !zs_port_track(port, m, at, size_B, -1, is_write))
        return NULL;
    return at;
}

/* ---- messages ----------------------------------------------------------------------------------
 */

ZS_PORT_KERNEL_ACCESS static bool move_row(struct zs_port *port, const struct zs_port_message *m,
                                           const struct block *b, uint32_t which, uint32_t row,
                                           uint8_t *load, const uint8_t *store)
{
    uint32_t first = 0, count = inside(m, b, which, row, &first), size_B = m->element_B;
    if (!count)
        return true;
    uint8_t *memory = memory_of(port, m, b, which, row, first, count * size_B, store != NULL);
    if (!memory)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = place(m, b, row, first + i);
        if (load)
            memcpy(load + at, memory + (size_t)i * size_B, size_B);
        else
            memcpy(memory + (size_t)i * size_B, store + at, size_B);
    }
    return true;
}

bool zs_port_run_lsc_block2d_load(struct zs_port *port, const struct zs_port_message *m,
                                  uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                  uint32_t mask)
{
    uint8_t response[32 * 64] = {0};
    struct block b;
    if (is_prefetch(m))
        return true;
    if (!read_block(port, m, src0, false, &b))
        return false;
    for (uint32_t which = 0; which < b.count; which++) {
        for (uint32_t row = 0; row < b.rows; row++) {
            if (!move_row(port, m, &b, which, row, response + (size_t)which * b.block_B, NULL))
                return false;
        }
    }
    memcpy(dst, response, (size_t)b.count * b.block_B);
    return true;
}

bool zs_port_run_lsc_block2d_store(struct zs_port *port, const struct zs_port_message *m,
                                   uint8_t *dst, const uint8_t *src0, const uint8_t *src1,
                                   uint32_t mask)
{
    struct block b;
    if (!read_block(port, m, src0, true, &b))
        return false;
    for (uint32_t row = 0; row < b.rows; row++) {
        if (!move_row(port, m, &b, 0, row, NULL, src1))
            return false;
    }
    return true;
}
