/* SPDX-License-Identifier: MIT */
/*
 * Functions, inlined bodies, blocks and variables of one kernel: a walk over the unit's DIEs in
 * their order, with a stack of its own. What has no code in the kernel (declarations, abstract
 * bodies, other kernels) is passed by, with what is inside.
 *
 * A body that was inlined but lost its code (IGC writes such) stays: its variables may have
 * locations; but no instruction belongs to it.
 */
#include "dwarf/dwarf_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 512, ENTRY_MIN_B = 6, SPARE_ENTRIES = 256 };

struct level {
    uint32_t scope; /* what encloses the children here */
    bool skip;      /* nothing inside is of this kernel */
};

struct walk {
    struct zs_kernel_loader *loader;
    const struct zs_unit *unit;
    struct level levels[DEPTH_MAX];
    uint32_t depth;
    struct zs_die die;
};

/* Records of one kind are bounded by the bytes that a real one takes at least. */
static bool room_for(struct walk *w, size_t count)
{
    const struct zs_dwarf *debug = w->loader->debug;
    if (count < debug->section[ZS_DW_INFO].size_B / ENTRY_MIN_B + SPARE_ENTRIES)
        return true;
    w->loader->kernel->truncated = true;
    return false;
}

static int add_range(void *ctx, uint64_t low_va, uint64_t high_va)
{
    struct walk *w = ctx;
    struct zs_kernel_loader *loader = w->loader;
    low_va = ZS_MAX(low_va, loader->begin_va);
    high_va = ZS_MIN(high_va, loader->end_va);
    if (low_va >= high_va || !room_for(w, loader->ranges.count))
        return 0;
    struct zs_code_range range = {(uint32_t)(low_va - loader->begin_va),
                                  (uint32_t)(high_va - loader->begin_va)};
    return ZS_VEC_PUSH(&loader->ranges, range) ? 0 : -ENOMEM;
}

static uint32_t number_attr(struct walk *w, uint16_t name)
{
    const struct zs_attr *attr = zs_die_attr(&w->die, name);
    uint64_t value;
    return attr && zs_attr_number(attr, &value) && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* A number that may stand in the abstract body. */
static uint32_t number_integrate(struct walk *w, uint16_t name)
{
    struct zs_attr attr;
    uint64_t value;
    if (!zs_die_attr_integrate(w->loader->debug, &w->die, name, &attr, NULL))
        return 0;
    return zs_attr_number(&attr, &value) && value <= UINT32_MAX ? (uint32_t)value : 0;
}

static const char *string_integrate(struct walk *w, uint16_t name)
{
    struct zs_attr attr;
    const struct zs_unit *unit;
    if (!zs_die_attr_integrate(w->loader->debug, &w->die, name, &attr, &unit))
        return "";
    return zs_attr_string(w->loader->debug, unit, &attr);
}

static uint32_t ref_integrate(struct walk *w, uint16_t name)
{
    struct zs_attr attr;
    if (!zs_die_attr_integrate(w->loader->debug, &w->die, name, &attr, NULL) ||
        attr.form_class != ZS_CLASS_REF || attr.value > UINT32_MAX)
        return 0;
    return (uint32_t)attr.value;
}

/* File numbers of an abstract body are those of its own unit; IGC has one unit per kernel, and a
 * body of another unit gets no file rather than a wrong one. */
static uint32_t file_integrate(struct walk *w, uint16_t name)
{
    struct zs_attr attr;
    const struct zs_unit *unit;
    uint64_t number;
    if (!zs_die_attr_integrate(w->loader->debug, &w->die, name, &attr, &unit) ||
        unit->line_offset_B != w->unit->line_offset_B || !zs_attr_number(&attr, &number))
        return ZS_NO_INDEX;
    return zs_load_unit_file(w->loader, number);
}

static uint32_t enclosing_frame(const struct walk *w, uint32_t scope)
{
    return scope == ZS_NO_INDEX ? ZS_NO_INDEX : w->loader->scopes.items[scope].frame;
}

static int add_frame(struct walk *w, uint32_t parent_scope)
{
    bool inlined = w->die.tag == DW_TAG_inlined_subroutine;
    struct zs_frame frame = {
        .function = string_integrate(w, DW_AT_name),
        .parent = inlined ? enclosing_frame(w, parent_scope) : ZS_NO_INDEX,
        .scope = (uint32_t)w->loader->scopes.count,
        .call_file = ZS_NO_INDEX,
        .decl_file = file_integrate(w, DW_AT_decl_file),
        .decl_line = number_integrate(w, DW_AT_decl_line),
        .return_type = ref_integrate(w, DW_AT_type),
        .simd = (uint16_t)ZS_MIN(number_integrate(w, DW_AT_INTEL_simd_width), 0xffffu),
    };
    if (inlined) {
        frame.call_file = file_integrate(w, DW_AT_call_file);
        frame.call_line = number_attr(w, DW_AT_call_line);
        frame.call_column = number_attr(w, DW_AT_call_column);
    }
    uint32_t die = (uint32_t)w->die.offset_B;
    if (!ZS_VEC_PUSH(&w->loader->frames, frame) || !ZS_VEC_PUSH(&w->loader->frame_dies, die))
        return -ENOMEM;
    return 0;
}

/* IGC describes variables in local memory (__local arrays) in a body of the function that is
 * inlined into the function itself, without code: they are the function's own. */
static bool is_inlined_in_itself(struct walk *w, uint32_t parent)
{
    if (w->die.tag != DW_TAG_inlined_subroutine || parent == ZS_NO_INDEX)
        return false;
    const struct zs_frame *frame = &w->loader->frames.items[enclosing_frame(w, parent)];
    return !strcmp(frame->function, string_integrate(w, DW_AT_name)) &&
           frame->decl_line == number_integrate(w, DW_AT_decl_line);
}

/* The scope that the DIE opens; *ret_scope is the parent's where it opens none of its own. */
static int add_scope(struct walk *w, uint32_t parent, uint32_t *ret_scope, bool *ret_skip)
{
    struct zs_kernel_loader *loader = w->loader;
    bool block = w->die.tag == DW_TAG_lexical_block;
    uint32_t range_first = (uint32_t)loader->ranges.count;
    int error = zs_die_ranges(loader->debug, &w->die, add_range, w, loader->diag);
    uint32_t range_count = (uint32_t)loader->ranges.count - range_first;
    *ret_scope = parent;
    if (error)
        return error;
    /* a function without code here, and with it all that is inside */
    *ret_skip = w->die.tag == DW_TAG_subprogram && range_count == 0;
    if (*ret_skip || (block && range_count == 0) || !room_for(w, loader->scopes.count))
        return 0;
    if ((block && parent == ZS_NO_INDEX) || (!range_count && is_inlined_in_itself(w, parent)))
        return 0;
    if (!block) {
        error = add_frame(w, parent);
        if (error)
            return error;
    }
    struct zs_scope scope = {
        .parent = parent,
        .frame = block ? enclosing_frame(w, parent) : (uint32_t)loader->frames.count - 1,
        .range_first = range_first,
        .range_count = range_count,
    };
    if (!ZS_VEC_PUSH(&loader->scopes, scope))
        return -ENOMEM;
    *ret_scope = (uint32_t)loader->scopes.count - 1;
    return 0;
}

static void set_location(struct walk *w, struct zs_variable *variable)
{
    const struct zs_dwarf *debug = w->loader->debug;
    const uint8_t *info = debug->section[ZS_DW_INFO].data;
    const struct zs_attr *attr = zs_die_attr(&w->die, DW_AT_location);
    struct zs_attr constant;
    uint64_t number;
    if (attr && (attr->form_class == ZS_CLASS_EXPR || attr->form_class == ZS_CLASS_BLOCK)) {
        if (!attr->bytes.size_B)
            return;
        variable->location_kind = ZS_LOCATION_EXPR;
        variable->location_offset = (uint64_t)(attr->bytes.data - info);
        variable->location_size_B = (uint32_t)attr->bytes.size_B;
    } else if (attr) {
        enum zs_dw_section section = w->unit->version >= 5 ? ZS_DW_LOCLISTS : ZS_DW_LOC;
        if (zs_dwarf_list_offset(debug, w->unit, attr, section, w->unit->loclists_base_B,
                                 &variable->location_offset))
            variable->location_kind = ZS_LOCATION_LIST;
    } else if (zs_die_attr_integrate(debug, &w->die, DW_AT_const_value, &constant, NULL)) {
        if (zs_attr_number(&constant, &number)) {
            variable->location_kind = ZS_LOCATION_VALUE;
            variable->location_offset = number;
        } else if (constant.form_class == ZS_CLASS_BLOCK && constant.bytes.size_B) {
            variable->location_kind = ZS_LOCATION_CONST;
            variable->location_offset = (uint64_t)(constant.bytes.data - info);
            variable->location_size_B = (uint32_t)constant.bytes.size_B;
        }
    }
}

static int add_variable(struct walk *w, uint32_t scope)
{
    struct zs_kernel_loader *loader = w->loader;
    if (scope == ZS_NO_INDEX || !room_for(w, loader->variables.count))
        return 0;
    struct zs_variable variable = {
        .name = string_integrate(w, DW_AT_name),
        .scope = scope,
        .die = (uint32_t)w->die.offset_B,
        .unit = (uint32_t)(w->unit - loader->debug->units.items),
        .parameter = w->die.tag == DW_TAG_formal_parameter,
    };
    if (!variable.name[0])
        return 0;
    variable.type = ref_integrate(w, DW_AT_type);
    variable.decl_file = file_integrate(w, DW_AT_decl_file);
    variable.decl_line = number_integrate(w, DW_AT_decl_line);
    variable.artificial = number_integrate(w, DW_AT_artificial) != 0;
    set_location(w, &variable);
    return ZS_VEC_PUSH(&loader->variables, variable) ? 0 : -ENOMEM;
}

static int visit(struct walk *w, struct level *ret_inner)
{
    const struct level *outer = &w->levels[w->depth];
    *ret_inner = *outer;
    if (outer->skip)
        return 0;
    switch (w->die.tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
        return add_scope(w, outer->scope, &ret_inner->scope, &ret_inner->skip);
    case DW_TAG_formal_parameter:
    case DW_TAG_variable:
        ret_inner->skip = true;
        return add_variable(w, outer->scope);
    case DW_TAG_compile_unit:
    case DW_TAG_namespace:
        return 0;
    default:
        ret_inner->skip = true; /* types and what else has no code */
        return 0;
    }
}

int zs_load_scopes(struct zs_kernel_loader *loader, const struct zs_unit *unit)
{
    struct walk *w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    *w = (struct walk){.loader = loader, .unit = unit, .levels = {{.scope = ZS_NO_INDEX}}};
    uint64_t at_B = unit->first_die_B;
    int error = 0;
    while (!error && at_B < unit->end_B) {
        error = zs_die_read(loader->debug, unit, at_B, &w->die, loader->diag);
        if (error)
            break;
        at_B = w->die.next_B;
        if (!w->die.tag) {
            if (w->depth <= 1)
                break;
            w->depth--;
            continue;
        }
        struct level inner;
        bool has_children = w->die.has_children;
        error = visit(w, &inner);
        if (error || !has_children) {
            if (w->depth == 0)
                break;
            continue;
        }
        /* what is skipped need not be read where the compiler says where it ends */
        const struct zs_attr *sibling = inner.skip ? zs_die_attr(&w->die, DW_AT_sibling) : NULL;
        if (sibling && sibling->form_class == ZS_CLASS_REF && sibling->value > at_B &&
            sibling->value < unit->end_B) {
            at_B = sibling->value;
            continue;
        }
        if (w->depth + 1 == DEPTH_MAX) {
            error = zs_diag_set(loader->diag, -E2BIG,
                                loader->debug->section_offset_B[ZS_DW_INFO] + at_B,
                                "entries of .debug_info are nested deeper than %d", DEPTH_MAX);
            break;
        }
        w->levels[++w->depth] = inner;
    }
    free(w);
    return error;
}
