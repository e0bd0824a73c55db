/* SPDX-License-Identifier: MIT */
/*
 * Reading traces. A record is a register of its own and the registers that were asked for, one
 * behind the other, in units of 32 bytes:
 *
 *     dword 0   0x5a53 in the high half, units of a register in the byte below it (1 or 2), those
 *               of the record in the lowest
 *     dword 1   site      2   lanes      3   0      4   time      5   sr0.0
 *
 * Where a thread took its place but never wrote (it was killed) there are zeros. Who finds no room
 * writes behind the end, so that a record that begins before it and ends behind it is lost, too.
 */
#include "edit/record.h"
#include "edit/edit_priv.h"

#include <string.h>

static uint64_t asked_B(const struct zs_edit_buffer *layout, struct zs_span buffer)
{
    struct zs_span at;
    if (!layout->records_size_B || !zs_span_sub(buffer, layout->trace_offset_B, 8, &at))
        return 0;
    uint64_t units = zs_load_u64(at.data);
    return units > UINT64_MAX / ZS_UNIT_B ? UINT64_MAX : units * ZS_UNIT_B;
}

bool zs_edit_record_next(const struct zs_edit_buffer *layout, struct zs_span buffer,
                         uint64_t *cursor, struct zs_edit_record *ret)
{
    uint64_t end_B = ZS_MIN(asked_B(layout, buffer), layout->records_size_B);
    while (*cursor < end_B) {
        struct zs_span head, body;
        uint64_t at_B = layout->records_offset_B + *cursor;
        if (!zs_span_sub(buffer, at_B, ZS_UNIT_B, &head))
            return false;
        uint32_t tag = zs_load_u32(head.data), units = tag & 0xff, grf_units = tag >> 8 & 0xff;
        bool ok = tag >> 16 == ZS_RECORD_TAG && (grf_units == 1 || grf_units == 2) && units >= 1 &&
                  units <= 1 + ZS_RECORD_GRF_MAX * grf_units && (units - 1) % grf_units == 0 &&
                  *cursor + (uint64_t)units * ZS_UNIT_B <= layout->records_size_B &&
                  zs_span_sub(buffer, at_B + ZS_UNIT_B, (uint64_t)(units - 1) * ZS_UNIT_B, &body);
        *cursor += (uint64_t)(ok ? units : 1) * ZS_UNIT_B;
        if (!ok)
            continue;
        *ret = (struct zs_edit_record){.site = zs_load_u32(head.data + 4),
                                       .lanes = zs_load_u32(head.data + 8),
                                       .time = zs_load_u32(head.data + 16),
                                       .thread = zs_load_u32(head.data + 20),
                                       .grf_count = (units - 1) / grf_units,
                                       .grf = body.data};
        return true;
    }
    return false;
}

uint64_t zs_edit_records_lost(const struct zs_edit_buffer *layout, struct zs_span buffer)
{
    struct zs_edit_record record;
    uint64_t asked = asked_B(layout, buffer), cursor = 0, end_B = 0;
    if (asked <= layout->records_size_B)
        return 0;
    while (zs_edit_record_next(layout, buffer, &cursor, &record))
        end_B = cursor;
    return (asked - end_B) / ZS_UNIT_B;
}
