/* SPDX-License-Identifier: MIT */
/*
 * Units of .debug_info, their abbreviation tables, and the cursor over DIEs.
 *
 * Bounds: every read goes through the cursor of src/base; every DIE, list and table that is read
 * is charged to a budget of the file (64 times its size and a constant), so that files whose parts
 * refer to each other over and over end in -E2BIG; abbreviation tables, which units may share, are
 * kept in an arena of limited size.
 */
#include "dwarf/dwarf_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct form {
    uint16_t value;
    uint8_t size, form_class;
    bool local;
};

enum { FORM_GNU_FIRST = 0x1f20, FORM_GNU_SLOT = 0x2d, FORM_SLOTS = 0x2f };
/* The two GNU forms are moved behind the standard ones, so that a form is its own index. */
#define FORM_SLOT(value)                                                                           \
    ((value) >= FORM_GNU_FIRST ? (value)-FORM_GNU_FIRST + FORM_GNU_SLOT : (value))

static const struct form forms[FORM_SLOTS] = {
#define ZS_DWARF_FORM(value, name, size, form_class, local)                                        \
    [FORM_SLOT(value)] = {value, ZS_SIZE_##size, ZS_CLASS_##form_class, local},
#include "dwarf/dwarf_forms.def"
#undef ZS_DWARF_FORM
};

static const struct form *find_form(uint64_t value)
{
    uint64_t slot = FORM_SLOT(value);
    return slot < FORM_SLOTS && value && forms[slot].value == value ? &forms[slot] : NULL;
}

int zs_dwarf_charge(const struct zs_dwarf *debug, uint64_t bytes, struct zs_diag *diag)
{
    struct zs_dwarf *d = (struct zs_dwarf *)debug;
    if (atomic_fetch_sub_explicit(&d->work_left_B, (int64_t)bytes, memory_order_relaxed) > 0)
        return 0;
    return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET,
                       "debug info that refers to itself too often: reading it was given up");
}

struct zs_reader zs_dwarf_reader(const struct zs_dwarf *debug, enum zs_dw_section section,
                                 struct zs_diag *diag)
{
    return zs_reader_make(debug->section[section], debug->section_offset_B[section], diag);
}

/* ---- abbreviations ---- */

struct abbrev_builder {
    struct {
        struct zs_abbrev *items;
        size_t count, capacity;
    } abbrevs;
    struct {
        struct zs_abbrev_spec *items;
        size_t count, capacity;
    } specs;
    struct {
        int64_t *items;
        size_t count, capacity;
    } implicit;
    bool any_implicit, ascending;
};

static int read_abbrev_specs(struct abbrev_builder *b, struct zs_reader *r,
                             struct zs_abbrev *abbrev)
{
    for (;;) {
        uint64_t attribute = zs_read_uleb128(r, "attribute of an abbreviation");
        uint64_t form = zs_read_uleb128(r, "form of an abbreviation");
        int64_t value = 0;
        if (form == DW_FORM_implicit_const) {
            value = zs_read_sleb128(r, "implicit constant");
            b->any_implicit = true;
        }
        if (r->error || (attribute == 0 && form == 0))
            return r->error;
        if (attribute > UINT16_MAX || form > UINT16_MAX || abbrev->spec_count == UINT16_MAX)
            return zs_reader_fail(r, -EINVAL, "attribute 0x%" PRIx64 " with form 0x%" PRIx64,
                                  attribute, form);
        abbrev->spec_count++;
        if (!ZS_VEC_PUSH(&b->specs, ((struct zs_abbrev_spec){(uint16_t)attribute, (uint16_t)form})))
            return -ENOMEM;
        if (!ZS_VEC_PUSH(&b->implicit, value))
            return -ENOMEM;
    }
}

static int read_abbrevs(struct abbrev_builder *b, struct zs_reader *r)
{
    uint64_t last = 0;
    b->ascending = true;
    while (zs_reader_left(r)) {
        struct zs_abbrev abbrev = {.spec_first = (uint32_t)b->specs.count};
        abbrev.code = zs_read_uleb128(r, "abbreviation code");
        if (!abbrev.code)
            break;
        uint64_t tag = zs_read_uleb128(r, "tag of an abbreviation");
        abbrev.tag = tag > UINT16_MAX ? UINT16_MAX : (uint16_t)tag;
        abbrev.has_children = zs_read_u8(r, "children flag") != 0;
        int error = r->error ? r->error : read_abbrev_specs(b, r, &abbrev);
        if (error)
            return error;
        if (b->abbrevs.count && abbrev.code <= last)
            b->ascending = false;
        last = abbrev.code;
        if (!ZS_VEC_PUSH(&b->abbrevs, abbrev))
            return -ENOMEM;
    }
    return r->error;
}

static int compare_abbrevs(const void *a, const void *b)
{
    const struct zs_abbrev *x = a, *y = b;
    if (x->code != y->code)
        return x->code < y->code ? -1 : 1;
    return (x->spec_first > y->spec_first) - (x->spec_first < y->spec_first);
}

static void *arena_copy(struct zs_arena *arena, const void *items, size_t count, size_t size_B)
{
    void *copy = zs_arena_array(arena, count, size_B);
    if (copy && count)
        memcpy(copy, items, count * size_B);
    return copy;
}

static struct zs_abbrev_table *keep_table(struct zs_dwarf *debug, const struct abbrev_builder *b)
{
    struct zs_arena *arena = &debug->abbrev_arena;
    struct zs_abbrev_table *table = ZS_ARENA_NEW(arena, struct zs_abbrev_table);
    struct zs_abbrev *abbrevs =
        arena_copy(arena, b->abbrevs.items, b->abbrevs.count, sizeof(*abbrevs));
    struct zs_abbrev_spec *specs =
        arena_copy(arena, b->specs.items, b->specs.count, sizeof(*specs));
    int64_t *implicit =
        b->any_implicit ? arena_copy(arena, b->implicit.items, b->implicit.count, sizeof(*implicit))
                        : NULL;
    if (!table || !abbrevs || !specs || (b->any_implicit && !implicit))
        return NULL;
    if (!b->ascending)
        qsort(abbrevs, b->abbrevs.count, sizeof(*abbrevs), compare_abbrevs);
    table->abbrevs = abbrevs;
    table->count = (uint32_t)b->abbrevs.count;
    table->specs = specs;
    table->implicit = implicit;
    return table;
}

static size_t table_position(const struct zs_dwarf *debug, uint64_t offset_B)
{
    size_t low = 0, high = debug->tables.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (debug->tables.items[middle]->offset_B < offset_B)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Under the lock. */
static int make_table(struct zs_dwarf *debug, uint64_t offset_B,
                      const struct zs_abbrev_table **ret_table, struct zs_diag *diag)
{
    size_t at = table_position(debug, offset_B);
    if (at < debug->tables.count && debug->tables.items[at]->offset_B == offset_B) {
        *ret_table = debug->tables.items[at];
        return 0;
    }
    struct zs_reader r = zs_dwarf_reader(debug, ZS_DW_ABBREV, diag);
    zs_read_seek(&r, offset_B, "abbreviation table");
    struct abbrev_builder b = {0};
    int error = r.error ? r.error : read_abbrevs(&b, &r);
    if (!error)
        error = zs_dwarf_charge(debug, zs_reader_offset(&r) - r.base_B - offset_B, diag);
    struct zs_abbrev_table *table = error ? NULL : keep_table(debug, &b);
    free(b.abbrevs.items);
    free(b.specs.items);
    free(b.implicit.items);
    if (error)
        return error;
    if (!table)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "too many abbreviation tables");
    table->offset_B = offset_B;
    if (!ZS_VEC_RESERVE(&debug->tables, 1))
        return -ENOMEM;
    memmove(debug->tables.items + at + 1, debug->tables.items + at,
            (debug->tables.count - at) * sizeof(*debug->tables.items));
    debug->tables.items[at] = table;
    debug->tables.count++;
    *ret_table = table;
    return 0;
}

static int unit_abbrevs(const struct zs_dwarf *debug, const struct zs_unit *unit,
                        const struct zs_abbrev_table **ret_table, struct zs_diag *diag)
{
    *ret_table = atomic_load_explicit(&unit->abbrevs, memory_order_acquire);
    if (*ret_table)
        return 0;
    /* what is cached does not change what the caller sees: const is about the contents */
    struct zs_dwarf *d = (struct zs_dwarf *)debug;
    pthread_mutex_lock(&d->lock);
    int error = make_table(d, unit->abbrev_offset_B, ret_table, diag);
    pthread_mutex_unlock(&d->lock);
    if (!error)
        atomic_store_explicit(&((struct zs_unit *)unit)->abbrevs, *ret_table, memory_order_release);
    return error;
}

static const struct zs_abbrev *find_abbrev(const struct zs_abbrev_table *table, uint64_t code)
{
    /* compilers number from 1 without holes */
    if (code && code <= table->count && table->abbrevs[code - 1].code == code)
        return &table->abbrevs[code - 1];
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->abbrevs[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->abbrevs[low].code == code ? &table->abbrevs[low] : NULL;
}

/* ---- attributes ---- */

static uint64_t read_sized(struct zs_reader *r, uint32_t size_B, const char *what)
{
    switch (size_B) {
    case 1:
        return zs_read_u8(r, what);
    case 2:
        return zs_read_u16(r, what);
    case 3: {
        uint32_t low = zs_read_u16(r, what);
        return low | (uint32_t)zs_read_u8(r, what) << 16;
    }
    case 4:
        return zs_read_u32(r, what);
    default:
        return zs_read_u64(r, what);
    }
}

static void read_form(struct zs_reader *r, const struct zs_unit *unit, const struct form *form,
                      int64_t implicit, struct zs_attr *attr)
{
    static const uint8_t sizes_B[] = {
        [ZS_SIZE_1] = 1, [ZS_SIZE_2] = 2, [ZS_SIZE_3] = 3, [ZS_SIZE_4] = 4, [ZS_SIZE_8] = 8};
    attr->form_class = form->form_class;
    attr->bytes = (struct zs_span){0};
    attr->value = 0;
    switch ((enum zs_form_size)form->size) {
    case ZS_SIZE_0:
        attr->value = 1;
        break;
    case ZS_SIZE_1:
    case ZS_SIZE_2:
    case ZS_SIZE_3:
    case ZS_SIZE_4:
    case ZS_SIZE_8:
        attr->value = read_sized(r, sizes_B[form->size], "attribute value");
        break;
    case ZS_SIZE_16:
        attr->bytes = zs_read_bytes(r, 16, "attribute value");
        break;
    case ZS_SIZE_ADDRESS:
        attr->value = read_sized(r, unit->address_B, "address");
        break;
    case ZS_SIZE_OFFSET:
        /* DWARF 2 had references of the size of an address here; not read */
        attr->value = read_sized(r, unit->offset_size_B, "section offset");
        break;
    case ZS_SIZE_ULEB:
        attr->value = zs_read_uleb128(r, "attribute value");
        break;
    case ZS_SIZE_SLEB:
        attr->value = (uint64_t)zs_read_sleb128(r, "attribute value");
        break;
    case ZS_SIZE_CSTR: {
        const char *text = zs_read_cstr(r, "string attribute");
        attr->bytes = zs_span_make(text, strlen(text));
        break;
    }
    case ZS_SIZE_BLOCK1:
        attr->bytes = zs_read_bytes(r, zs_read_u8(r, "block size"), "block");
        break;
    case ZS_SIZE_BLOCK2:
        attr->bytes = zs_read_bytes(r, zs_read_u16(r, "block size"), "block");
        break;
    case ZS_SIZE_BLOCK4:
        attr->bytes = zs_read_bytes(r, zs_read_u32(r, "block size"), "block");
        break;
    case ZS_SIZE_BLOCK_ULEB:
        attr->bytes = zs_read_bytes(r, zs_read_uleb128(r, "block size"), "block");
        break;
    case ZS_SIZE_IMPLICIT:
        attr->value = (uint64_t)implicit;
        break;
    case ZS_SIZE_INDIRECT:
        break; /* resolved by the caller */
    }
    if (form->local)
        attr->value += unit->offset_B;
}

static int read_attr(struct zs_reader *r, const struct zs_unit *unit, uint64_t form_value,
                     int64_t implicit, struct zs_attr *attr)
{
    const struct form *form = find_form(form_value);
    if (form && form->size == ZS_SIZE_INDIRECT) {
        form_value = zs_read_uleb128(r, "indirect form");
        form = find_form(form_value);
        if (form && (form->size == ZS_SIZE_INDIRECT || form->size == ZS_SIZE_IMPLICIT))
            form = NULL;
    }
    if (!form)
        return zs_reader_fail(r, -EOPNOTSUPP, "attribute form 0x%" PRIx64 " is not known",
                              form_value);
    attr->form = form->value;
    read_form(r, unit, form, implicit, attr);
    return r->error;
}

int zs_die_read(const struct zs_dwarf *debug, const struct zs_unit *unit, uint64_t offset_B,
                struct zs_die *ret_die, struct zs_diag *diag)
{
    ret_die->unit = unit;
    ret_die->offset_B = offset_B;
    ret_die->tag = 0;
    ret_die->has_children = false;
    ret_die->attr_count = 0;
    if (offset_B < unit->first_die_B || offset_B >= unit->end_B)
        return zs_diag_set(diag, -EINVAL, debug->section_offset_B[ZS_DW_INFO],
                           "0x%" PRIx64 " is no entry of this unit of .debug_info", offset_B);
    const struct zs_abbrev_table *table;
    int error = unit_abbrevs(debug, unit, &table, diag);
    if (error)
        return error;
    struct zs_reader r = zs_dwarf_reader(debug, ZS_DW_INFO, diag);
    r.span.size_B = (size_t)unit->end_B;
    zs_read_seek(&r, offset_B, "debug info entry");
    uint64_t code = zs_read_uleb128(&r, "abbreviation code");
    ret_die->next_B = r.at_B;
    if (r.error || !code)
        return r.error;
    const struct zs_abbrev *abbrev = find_abbrev(table, code);
    if (!abbrev)
        return zs_reader_fail(&r, -EINVAL, "abbreviation %" PRIu64 " does not exist", code);
    ret_die->tag = abbrev->tag;
    ret_die->has_children = abbrev->has_children;
    for (uint32_t i = 0; i < abbrev->spec_count; i++) {
        const struct zs_abbrev_spec *spec = &table->specs[abbrev->spec_first + i];
        int64_t implicit = table->implicit ? table->implicit[abbrev->spec_first + i] : 0;
        struct zs_attr spare, *attr = ret_die->attr_count < ZS_DIE_ATTRS_MAX
                                          ? &ret_die->attrs[ret_die->attr_count]
                                          : &spare;
        attr->name = spec->attribute;
        error = read_attr(&r, unit, spec->form, implicit, attr);
        if (error)
            return error;
        ret_die->attr_count += attr != &spare;
    }
    ret_die->next_B = r.at_B;
    return zs_dwarf_charge(debug, ret_die->next_B - offset_B + abbrev->spec_count, diag);
}

const struct zs_unit *zs_dwarf_find_unit(const struct zs_dwarf *debug, uint64_t die_B)
{
    size_t low = 0, high = debug->units.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (debug->units.items[middle].end_B <= die_B)
            low = middle + 1;
        else
            high = middle;
    }
    const struct zs_unit *unit = low < debug->units.count ? &debug->units.items[low] : NULL;
    return unit && die_B >= unit->first_die_B ? unit : NULL;
}

int zs_die_follow(const struct zs_dwarf *debug, uint64_t offset_B, struct zs_die *ret_die)
{
    const struct zs_unit *unit = zs_dwarf_find_unit(debug, offset_B);
    int error = unit ? zs_die_read(debug, unit, offset_B, ret_die, NULL) : -EINVAL;
    return error ? error : ret_die->tag ? 0 : -EINVAL;
}

const struct zs_attr *zs_die_attr(const struct zs_die *die, uint16_t name)
{
    for (uint32_t i = 0; i < die->attr_count; i++)
        if (die->attrs[i].name == name)
            return &die->attrs[i];
    return NULL;
}

bool zs_die_attr_integrate(const struct zs_dwarf *debug, const struct zs_die *die, uint16_t name,
                           struct zs_attr *ret_attr, const struct zs_unit **ret_unit)
{
    enum { CHAIN_MAX = 8 };
    struct zs_die origin;
    for (uint32_t step = 0; step < CHAIN_MAX; step++) {
        const struct zs_attr *attr = zs_die_attr(die, name);
        if (attr) {
            *ret_attr = *attr;
            if (ret_unit)
                *ret_unit = die->unit;
            return true;
        }
        attr = zs_die_attr(die, DW_AT_abstract_origin);
        if (!attr)
            attr = zs_die_attr(die, DW_AT_specification);
        if (!attr || attr->form_class != ZS_CLASS_REF)
            return false;
        uint64_t offset_B = attr->value;
        if (zs_die_follow(debug, offset_B, &origin))
            return false;
        die = &origin;
    }
    return false;
}

static const char *string_in(const struct zs_dwarf *debug, enum zs_dw_section section,
                             uint64_t offset_B)
{
    struct zs_reader r = zs_dwarf_reader(debug, section, NULL);
    zs_read_seek(&r, offset_B, "string");
    return zs_read_cstr(&r, "string");
}

const char *zs_attr_string(const struct zs_dwarf *debug, const struct zs_unit *unit,
                           const struct zs_attr *attr)
{
    switch (attr->form_class) {
    case ZS_CLASS_STRING:
        return (const char *)attr->bytes.data;
    case ZS_CLASS_STR_OFFSET:
        return string_in(debug, ZS_DW_STR, attr->value);
    case ZS_CLASS_LINE_STR:
        return string_in(debug, ZS_DW_LINE_STR, attr->value);
    case ZS_CLASS_STR_INDEX: {
        uint64_t at_B;
        if (!zs_mul_u64(attr->value, unit->offset_size_B, &at_B) ||
            !zs_add_u64(at_B, unit->str_offsets_base_B, &at_B))
            return "";
        struct zs_reader r = zs_dwarf_reader(debug, ZS_DW_STR_OFFSETS, NULL);
        zs_read_seek(&r, at_B, "string offset");
        uint64_t offset_B = read_sized(&r, unit->offset_size_B, "string offset");
        return r.error ? "" : string_in(debug, ZS_DW_STR, offset_B);
    }
    default:
        return "";
    }
}

bool zs_unit_address(const struct zs_dwarf *debug, const struct zs_unit *unit, uint64_t index,
                     uint64_t *ret_va)
{
    uint64_t at_B;
    if (!zs_mul_u64(index, unit->address_B, &at_B) || !zs_add_u64(at_B, unit->addr_base_B, &at_B))
        return false;
    struct zs_reader r = zs_dwarf_reader(debug, ZS_DW_ADDR, NULL);
    zs_read_seek(&r, at_B, "address");
    *ret_va = read_sized(&r, unit->address_B, "address");
    return !r.error;
}

bool zs_attr_address(const struct zs_dwarf *debug, const struct zs_unit *unit,
                     const struct zs_attr *attr, uint64_t *ret_va)
{
    if (attr->form_class == ZS_CLASS_ADDR_INDEX)
        return zs_unit_address(debug, unit, attr->value, ret_va);
    *ret_va = attr->value;
    return attr->form_class == ZS_CLASS_ADDRESS;
}

bool zs_attr_number(const struct zs_attr *attr, uint64_t *ret_value)
{
    *ret_value = attr->value;
    return attr->form_class == ZS_CLASS_NUMBER || attr->form_class == ZS_CLASS_SIGNED ||
           attr->form_class == ZS_CLASS_FLAG;
}

/* ---- units ---- */

static uint64_t root_offset(const struct zs_die *root, uint16_t name, uint64_t missing)
{
    const struct zs_attr *attr = zs_die_attr(root, name);
    /* DWARF 3 and older wrote offsets as plain numbers */
    return attr && (attr->form_class == ZS_CLASS_SEC_OFFSET || attr->form_class == ZS_CLASS_NUMBER)
               ? attr->value
               : missing;
}

static const char *root_string(const struct zs_dwarf *debug, const struct zs_unit *unit,
                               const struct zs_die *root, uint16_t name)
{
    const struct zs_attr *attr = zs_die_attr(root, name);
    return attr ? zs_attr_string(debug, unit, attr) : "";
}

static int widen(void *ctx, uint64_t low_va, uint64_t high_va)
{
    struct zs_unit *unit = ctx;
    unit->range_low_va = ZS_MIN(unit->range_low_va, low_va);
    unit->range_high_va = ZS_MAX(unit->range_high_va, high_va);
    return 0;
}

static int read_root(struct zs_dwarf *debug, struct zs_unit *unit, struct zs_diag *diag)
{
    struct zs_die root;
    int error = zs_die_read(debug, unit, unit->first_die_B, &root, diag);
    if (error)
        return error;
    uint64_t header_B = unit->offset_size_B == 8 ? 16 : 8; /* of the tables that bases point into */
    unit->str_offsets_base_B = root_offset(&root, DW_AT_str_offsets_base, header_B);
    unit->addr_base_B = root_offset(&root, DW_AT_addr_base, header_B);
    unit->rnglists_base_B = root_offset(&root, DW_AT_rnglists_base, header_B + 4);
    unit->loclists_base_B = root_offset(&root, DW_AT_loclists_base, header_B + 4);
    unit->line_offset_B = root_offset(&root, DW_AT_stmt_list, UINT64_MAX);
    unit->name = root_string(debug, unit, &root, DW_AT_name);
    unit->comp_dir = root_string(debug, unit, &root, DW_AT_comp_dir);
    unit->producer = root_string(debug, unit, &root, DW_AT_producer);
    const struct zs_attr *low = zs_die_attr(&root, DW_AT_low_pc);
    if (low && !zs_attr_address(debug, unit, low, &unit->low_va))
        unit->low_va = 0;
    unit->range_low_va = UINT64_MAX;
    unit->range_high_va = 0;
    error = zs_die_ranges(debug, &root, widen, unit, diag);
    return error == -E2BIG ? error : 0;
}

/* The header of the next unit; *ret_known is false for kinds that hold nothing we read. */
static int read_unit_header(const struct zs_dwarf *debug, struct zs_reader *r, struct zs_unit *unit,
                            bool *ret_known)
{
    *unit = (struct zs_unit){.offset_B = r->at_B, .offset_size_B = 4};
    uint64_t length_B = zs_read_u32(r, "unit length");
    if (length_B == 0xffffffff) {
        unit->offset_size_B = 8;
        length_B = zs_read_u64(r, "unit length");
    }
    if (!r->error && length_B > zs_reader_left(r))
        return zs_reader_fail(r, -EINVAL,
                              "unit of .debug_info: %" PRIu64 " bytes expected, %zu remain",
                              length_B, zs_reader_left(r));
    unit->end_B = r->at_B + length_B;
    struct zs_reader body = zs_read_sub(r, length_B, "unit");
    unit->version = zs_read_u16(&body, "DWARF version");
    uint8_t kind = DW_UT_compile;
    if (unit->version >= 5) {
        kind = zs_read_u8(&body, "unit kind");
        unit->address_B = zs_read_u8(&body, "address size");
    }
    unit->abbrev_offset_B = read_sized(&body, unit->offset_size_B, "abbreviation table offset");
    if (unit->version < 5)
        unit->address_B = zs_read_u8(&body, "address size");
    unit->first_die_B = unit->end_B - zs_reader_left(&body);
    *ret_known = unit->version >= 2 && unit->version <= 5 &&
                 (kind == DW_UT_compile || kind == DW_UT_partial) &&
                 (unit->address_B == 4 || unit->address_B == 8) && zs_reader_left(&body);
    (void)debug;
    return body.error ? body.error : r->error;
}

int zs_dwarf_read_units(struct zs_dwarf *debug, struct zs_diag *diag)
{
    struct zs_reader r = zs_dwarf_reader(debug, ZS_DW_INFO, diag);
    while (zs_reader_left(&r)) {
        struct zs_unit unit;
        bool known = false;
        int error = read_unit_header(debug, &r, &unit, &known);
        if (error)
            return error;
        if (!known)
            continue;
        error = read_root(debug, &unit, diag);
        if (error)
            return error;
        if (!ZS_VEC_PUSH(&debug->units, unit))
            return -ENOMEM;
    }
    return 0;
}
