/* SPDX-License-Identifier: MIT */
/* Commands found in their table, and batches as text. */
#include "cs/cs_priv.h"

#include "base/reader.h"

#include <inttypes.h>

static const struct zs_cs_command commands[] = {
#define ZS_CS_COMMAND(mask, value, name, length, handler)                                          \
    {mask, value, name, length, zs_cs_##handler},
#include "cs/commands.def"
#undef ZS_CS_COMMAND
};

const struct zs_cs_command *zs_cs_find(uint32_t header)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(commands); i++) {
        if ((header & commands[i].mask) == commands[i].value)
            return &commands[i];
    }
    return NULL;
}

uint32_t zs_cs_length(const struct zs_cs_command *command, uint32_t header)
{
    if (!(command->length & ZS_CS_LONG_FLAG))
        return command->length;
    return (header & ((1u << (command->length & 31)) - 1)) + 2;
}

/* ---- text --------------------------------------------------------------------------------------
 */

static void put_address(struct zs_buf *out, const char *what, const uint32_t *dw, uint32_t low_bits)
{
    zs_buf_printf(out, "  %s 0x%" PRIx64, what, zs_cs_qword(dw) >> low_bits << low_bits);
}

static void put_three(struct zs_buf *out, const char *what, uint32_t x, uint32_t y, uint32_t z)
{
    zs_buf_printf(out, "  %s %" PRIu32 " %" PRIu32 " %" PRIu32, what, x, y, z);
}

/* What people look for in the commands that matter most. */
static void put_meaning(const struct zs_cs_command *c, const uint32_t *dw, uint32_t count,
                        struct zs_buf *out)
{
    if (c->run == zs_cs_batch_start && count >= 3) {
        put_address(out, "to", dw + 1, 2);
        if (dw[0] >> 22 & 1)
            zs_buf_puts(out, "  second level");
    } else if (c->run == zs_cs_semaphore_wait && count >= 4) {
        static const char *const compare[8] = {">", ">=", "<", "<=", "==", "!=", "?", "?"};
        put_address(out, "until", dw + 2, 2);
        zs_buf_printf(out, " %s 0x%" PRIx32, compare[dw[0] >> 12 & 7], dw[1]);
    } else if (c->run == zs_cs_store_data && count >= 4) {
        put_address(out, "at", dw + 1, 2);
    } else if (c->run == zs_cs_load_registers) {
        for (uint32_t i = 1; i + 1 < count; i += 2)
            zs_buf_printf(out, "  reg 0x%" PRIx32 " = 0x%" PRIx32, dw[i] & 0x7ffffcu, dw[i + 1]);
    } else if ((c->run == zs_cs_store_register || c->run == zs_cs_load_register_memory) &&
               count >= 4) {
        zs_buf_printf(out, "  reg 0x%" PRIx32, dw[1] & 0x7ffffcu);
        put_address(out, "at", dw + 2, 2);
    } else if (c->run == zs_cs_pipe_control && count >= 6 && dw[1] >> 14 & 3) {
        put_address(out, (dw[1] >> 14 & 3) == 3 ? "time to" : "store to", dw + 2, 2);
    } else if (c->run == zs_cs_base_address && count >= 12) {
        put_address(out, "general", dw + 1, 12);
        put_address(out, "surface", dw + 4, 12);
        put_address(out, "dynamic", dw + 6, 12);
        put_address(out, "indirect", dw + 8, 12);
        put_address(out, "instruction", dw + 10, 12);
    } else if (c->run == zs_cs_gpgpu_walker && count >= 15) {
        put_three(out, "groups to", dw[7], dw[10], dw[12]);
        zs_buf_printf(out, "  SIMD%u  descriptor %" PRIu32, 8u << (dw[4] >> 30), dw[1] & 63);
    } else if (c->run == zs_cs_compute_walker && count >= 39) {
        put_three(out, "groups", dw[7], dw[8], dw[9]);
        put_three(out, "of", (dw[6] & 0x3ff) + 1, (dw[6] >> 10 & 0x3ff) + 1,
                  (dw[6] >> 20 & 0x3ff) + 1);
        zs_buf_printf(out, "  SIMD%u", 8u << (dw[4] >> 30));
    }
}

static void put_line(const struct zs_cs_command *c, const uint32_t *dw, uint32_t count, uint64_t va,
                     struct zs_buf *out)
{
    zs_buf_printf(out, "0x%012" PRIx64 "  %-32s", va, c->name);
    put_meaning(c, dw, count, out);
    zs_buf_puts(out, "\n");
    for (uint32_t i = 0; i < count; i++)
        zs_buf_printf(out, "%s%08" PRIx32 "%s", i % 8 ? " " : "                ", dw[i],
                      i % 8 == 7 || i + 1 == count ? "\n" : "");
}

int zs_cs_print(struct zs_span batch, uint64_t base_va, struct zs_cs_starts *starts,
                struct zs_buf *out, struct zs_diag *diag)
{
    uint32_t dw[LENGTH_MAX + 2];
    for (size_t at_B = 0; batch.size_B - at_B >= 4;) {
        dw[0] = zs_load_u32(batch.data + at_B);
        const struct zs_cs_command *c = zs_cs_find(dw[0]);
        if (!c)
            return zs_diag_set(diag, -EINVAL, at_B, "0x%08" PRIx32 " is no command that is known",
                               dw[0]);
        uint32_t count = zs_cs_length(c, dw[0]);
        if (count > ZS_ARRAY_LEN(dw) || count > (batch.size_B - at_B) / 4)
            return zs_diag_set(diag, -EINVAL, at_B, "%s of %" PRIu32 " dwords is cut off", c->name,
                               count);
        for (uint32_t i = 1; i < count; i++)
            dw[i] = zs_load_u32(batch.data + at_B + i * 4ull);
        put_line(c, dw, count, base_va + at_B, out);
        at_B += count * 4ull;
        bool is_start = c->run == zs_cs_batch_start && count >= 3,
             is_ring = starts && starts->is_ring;
        if (is_start && starts && starts->count < ZS_ARRAY_LEN(starts->va))
            starts->va[starts->count++] = zs_cs_qword(dw + 1) & ZS_CS_ADDRESS_BITS & ~3ull;
        if (c->run == zs_cs_batch_end || (is_start && !is_ring && !(dw[0] >> 22 & 1)))
            break;
    }
    return 0;
}
