/* SPDX-License-Identifier: MIT */
/* Which code a DIE covers (low_pc and high_pc, .debug_ranges, .debug_rnglists), and the lists of
 * a variable's locations (.debug_loc, .debug_loclists). DWARF 4: 2.6.2, 2.17.3; 5: 7.25, 7.29. */
#include "dwarf/dwarf_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
    DW_RLE_end_of_list,
    DW_RLE_base_addressx,
    DW_RLE_startx_endx,
    DW_RLE_startx_length,
    DW_RLE_offset_pair,
    DW_RLE_base_address,
    DW_RLE_start_end,
    DW_RLE_start_length,
};

enum {
    DW_LLE_end_of_list,
    DW_LLE_base_addressx,
    DW_LLE_startx_endx,
    DW_LLE_startx_length,
    DW_LLE_offset_pair,
    DW_LLE_default_location,
    DW_LLE_base_address,
    DW_LLE_start_end,
    DW_LLE_start_length,
};

static uint64_t read_va(struct zs_reader *r, const struct zs_unit *unit)
{
    return unit->address_B == 8 ? zs_read_u64(r, "address") : zs_read_u32(r, "address");
}

static uint64_t no_base(const struct zs_unit *unit)
{
    return unit->address_B == 8 ? UINT64_MAX : UINT32_MAX;
}

/* An address by index; failing makes the reader fail. */
static uint64_t read_va_index(const struct zs_dwarf *debug, const struct zs_unit *unit,
                              struct zs_reader *r)
{
    uint64_t va = 0, index = zs_read_uleb128(r, "address index");
    if (!r->error && !zs_unit_address(debug, unit, index, &va))
        zs_reader_fail(r, -EINVAL, "address %" PRIu64 " is not in .debug_addr", index);
    return va;
}

/* Where a list starts in its section: an offset, or an index into the unit's table of offsets. */
bool zs_dwarf_list_offset(const struct zs_dwarf *debug, const struct zs_unit *unit,
                          const struct zs_attr *attr, enum zs_dw_section section, uint64_t base_B,
                          uint64_t *ret_offset_B)
{
    if (attr->form_class == ZS_CLASS_SEC_OFFSET || attr->form_class == ZS_CLASS_NUMBER) {
        *ret_offset_B = attr->value;
        return true;
    }
    if (attr->form_class != ZS_CLASS_LOC_INDEX && attr->form_class != ZS_CLASS_RNG_INDEX)
        return false;
    uint64_t at_B;
    if (!zs_mul_u64(attr->value, unit->offset_size_B, &at_B) || !zs_add_u64(at_B, base_B, &at_B))
        return false;
    struct zs_reader r = zs_dwarf_reader(debug, section, NULL);
    zs_read_seek(&r, at_B, "list offset");
    uint64_t offset_B =
        unit->offset_size_B == 8 ? zs_read_u64(&r, "list offset") : zs_read_u32(&r, "list offset");
    return !r.error && zs_add_u64(offset_B, base_B, ret_offset_B);
}

/* One entry of .debug_ranges: 1 a range, 0 the end, 2 something else. */
static int next_range4(struct zs_reader *r, const struct zs_unit *unit, uint64_t *base_va,
                       uint64_t *ret_low, uint64_t *ret_high)
{
    uint64_t low = read_va(r, unit), high = read_va(r, unit);
    if (r->error || (low == 0 && high == 0))
        return 0;
    if (low == no_base(unit)) {
        *base_va = high;
        return 2;
    }
    *ret_low = *base_va + low;
    *ret_high = *base_va + high;
    return 1;
}

/* The same of .debug_rnglists. */
static int next_range5(const struct zs_dwarf *debug, struct zs_reader *r,
                       const struct zs_unit *unit, uint64_t *base_va, uint64_t *ret_low,
                       uint64_t *ret_high)
{
    uint8_t kind = zs_read_u8(r, "range list entry");
    switch (kind) {
    case DW_RLE_end_of_list:
        return 0;
    case DW_RLE_base_addressx:
        *base_va = read_va_index(debug, unit, r);
        return 2;
    case DW_RLE_base_address:
        *base_va = read_va(r, unit);
        return 2;
    case DW_RLE_startx_endx:
        *ret_low = read_va_index(debug, unit, r);
        *ret_high = read_va_index(debug, unit, r);
        return 1;
    case DW_RLE_startx_length:
        *ret_low = read_va_index(debug, unit, r);
        *ret_high = *ret_low + zs_read_uleb128(r, "range length");
        return 1;
    case DW_RLE_offset_pair:
        *ret_low = *base_va + zs_read_uleb128(r, "range start");
        *ret_high = *base_va + zs_read_uleb128(r, "range end");
        return 1;
    case DW_RLE_start_end:
        *ret_low = read_va(r, unit);
        *ret_high = read_va(r, unit);
        return 1;
    case DW_RLE_start_length:
        *ret_low = read_va(r, unit);
        *ret_high = *ret_low + zs_read_uleb128(r, "range length");
        return 1;
    default:
        zs_reader_fail(r, -EINVAL, "range list entry of kind %u", kind);
        return 0;
    }
}

static int read_range_list(const struct zs_dwarf *debug, const struct zs_unit *unit,
                           const struct zs_attr *attr,
                           int (*fn)(void *ctx, uint64_t low_va, uint64_t high_va), void *ctx,
                           struct zs_diag *diag)
{
    enum zs_dw_section section = unit->version >= 5 ? ZS_DW_RNGLISTS : ZS_DW_RANGES;
    uint64_t offset_B;
    if (!zs_dwarf_list_offset(debug, unit, attr, section, unit->rnglists_base_B, &offset_B))
        return 0;
    struct zs_reader r = zs_dwarf_reader(debug, section, diag);
    zs_read_seek(&r, offset_B, "range list");
    uint64_t base_va = unit->low_va;
    int error = 0;
    while (!error && !r.error) {
        uint64_t low = 0, high = 0, before_B = r.at_B;
        int kind = unit->version >= 5 ? next_range5(debug, &r, unit, &base_va, &low, &high)
                                      : next_range4(&r, unit, &base_va, &low, &high);
        if (kind == 0)
            break;
        if (!r.error && kind == 1 && low < high)
            error = fn(ctx, low, high);
        if (!error)
            error = zs_dwarf_charge(debug, r.at_B - before_B, diag);
    }
    return error ? error : r.error;
}

int zs_die_ranges(const struct zs_dwarf *debug, const struct zs_die *die,
                  int (*fn)(void *ctx, uint64_t low_va, uint64_t high_va), void *ctx,
                  struct zs_diag *diag)
{
    const struct zs_attr *ranges = zs_die_attr(die, DW_AT_ranges);
    if (ranges)
        return read_range_list(debug, die->unit, ranges, fn, ctx, diag);
    const struct zs_attr *low_attr = zs_die_attr(die, DW_AT_low_pc);
    const struct zs_attr *high_attr = zs_die_attr(die, DW_AT_high_pc);
    uint64_t low, high, length;
    if (!low_attr || !high_attr || !zs_attr_address(debug, die->unit, low_attr, &low))
        return 0;
    if (zs_attr_number(high_attr, &length))
        high = low + length;
    else if (!zs_attr_address(debug, die->unit, high_attr, &high))
        return 0;
    return low < high ? fn(ctx, low, high) : 0;
}

/* ---- locations ---- */

struct zs_location_iterator zs_variable_locations(const struct zs_dwarf_kernel *kernel,
                                                  const struct zs_variable *variable)
{
    const struct zs_unit *unit = &kernel->dwarf->units.items[variable->unit];
    return (struct zs_location_iterator){.kernel = kernel,
                                         .variable = variable,
                                         .at_B = variable->location_offset,
                                         .base_va = unit->low_va};
}

static bool clip(const struct zs_dwarf_kernel *kernel, uint64_t low_va, uint64_t high_va,
                 struct zs_code_range *ret)
{
    uint64_t end_va = kernel->base_va + kernel->code_size_B;
    low_va = ZS_MAX(low_va, kernel->base_va);
    high_va = ZS_MIN(high_va, end_va);
    if (low_va >= high_va)
        return false;
    *ret = (struct zs_code_range){(uint32_t)(low_va - kernel->base_va),
                                  (uint32_t)(high_va - kernel->base_va)};
    return true;
}

/* One entry of .debug_loc; kinds as next_range4. */
static int next_location4(struct zs_reader *r, const struct zs_unit *unit, uint64_t *base_va,
                          uint64_t *ret_low, uint64_t *ret_high, struct zs_span *ret_expr)
{
    int kind = next_range4(r, unit, base_va, ret_low, ret_high);
    if (kind == 1)
        *ret_expr = zs_read_bytes(r, zs_read_u16(r, "expression size"), "expression");
    return kind;
}

static int next_location5(const struct zs_dwarf_kernel *kernel, struct zs_reader *r,
                          const struct zs_unit *unit, uint64_t *base_va, uint64_t *ret_low,
                          uint64_t *ret_high, struct zs_span *ret_expr)
{
    const struct zs_dwarf *debug = kernel->dwarf;
    uint8_t kind = zs_read_u8(r, "location list entry");
    switch (kind) {
    case DW_LLE_end_of_list:
        return 0;
    case DW_LLE_base_addressx:
        *base_va = read_va_index(debug, unit, r);
        return 2;
    case DW_LLE_base_address:
        *base_va = read_va(r, unit);
        return 2;
    case DW_LLE_startx_endx:
        *ret_low = read_va_index(debug, unit, r);
        *ret_high = read_va_index(debug, unit, r);
        break;
    case DW_LLE_startx_length:
        *ret_low = read_va_index(debug, unit, r);
        *ret_high = *ret_low + zs_read_uleb128(r, "range length");
        break;
    case DW_LLE_offset_pair:
        *ret_low = *base_va + zs_read_uleb128(r, "range start");
        *ret_high = *base_va + zs_read_uleb128(r, "range end");
        break;
    case DW_LLE_default_location:
        *ret_low = kernel->base_va;
        *ret_high = kernel->base_va + kernel->code_size_B;
        break;
    case DW_LLE_start_end:
        *ret_low = read_va(r, unit);
        *ret_high = read_va(r, unit);
        break;
    case DW_LLE_start_length:
        *ret_low = read_va(r, unit);
        *ret_high = *ret_low + zs_read_uleb128(r, "range length");
        break;
    default:
        zs_reader_fail(r, -EINVAL, "location list entry of kind %u", kind);
        return 0;
    }
    *ret_expr = zs_read_bytes(r, zs_read_uleb128(r, "expression size"), "expression");
    return 1;
}

static bool next_in_list(struct zs_location_iterator *it, struct zs_location *ret_location)
{
    const struct zs_dwarf_kernel *kernel = it->kernel;
    const struct zs_unit *unit = &kernel->dwarf->units.items[it->variable->unit];
    struct zs_reader r =
        zs_dwarf_reader(kernel->dwarf, unit->version >= 5 ? ZS_DW_LOCLISTS : ZS_DW_LOC, NULL);
    zs_read_seek(&r, it->at_B, "location list");
    while (!r.error) {
        uint64_t low = 0, high = 0, before_B = r.at_B;
        struct zs_span expr = {0};
        int kind = unit->version >= 5
                       ? next_location5(kernel, &r, unit, &it->base_va, &low, &high, &expr)
                       : next_location4(&r, unit, &it->base_va, &low, &high, &expr);
        it->at_B = r.at_B;
        if (r.error || zs_dwarf_charge(kernel->dwarf, r.at_B - before_B, NULL))
            break;
        if (kind == 0)
            return false;
        if (kind == 1 && clip(kernel, low, high, &ret_location->range)) {
            ret_location->expr = expr;
            return true;
        }
    }
    it->damaged = true;
    return false;
}

bool zs_location_next(struct zs_location_iterator *it, struct zs_location *ret_location)
{
    const struct zs_variable *variable = it->variable;
    if (it->damaged)
        return false;
    if (variable->location_kind == ZS_LOCATION_LIST)
        return next_in_list(it, ret_location);
    if (variable->location_kind != ZS_LOCATION_EXPR || it->started)
        return false;
    it->started = true;
    ret_location->range = (struct zs_code_range){0, (uint32_t)it->kernel->code_size_B};
    return zs_span_sub(it->kernel->dwarf->section[ZS_DW_INFO], variable->location_offset,
                       variable->location_size_B, &ret_location->expr);
}

struct zs_span zs_variable_const(const struct zs_dwarf_kernel *kernel,
                                 const struct zs_variable *variable)
{
    struct zs_span bytes = {0};
    if (variable->location_kind == ZS_LOCATION_VALUE)
        return zs_span_make(&variable->location_offset, sizeof(variable->location_offset));
    if (variable->location_kind == ZS_LOCATION_CONST &&
        !zs_span_sub(kernel->dwarf->section[ZS_DW_INFO], variable->location_offset,
                     variable->location_size_B, &bytes))
        bytes = (struct zs_span){0};
    return bytes;
}
