/* SPDX-License-Identifier: MIT */
/* Types: kind, size, members, and the C declaration. Chains of types are followed a limited number
 * of steps, since hostile ones go in circles. */
#include "base/buf.h"
#include "dwarf/dwarf_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { TYPE_DEPTH_MAX = 32, TYPE_CHILDREN_MAX = 65536 };

struct type_tag {
    uint16_t tag;
    uint8_t kind;
    const char *keyword; /* "struct", or the qualifier */
};

static const struct type_tag type_tags[] = {
    {DW_TAG_base_type, ZS_KIND_BASE, ""},
    {DW_TAG_unspecified_type, ZS_KIND_BASE, ""},
    {DW_TAG_pointer_type, ZS_KIND_POINTER, "*"},
    {DW_TAG_reference_type, ZS_KIND_REFERENCE, "&"},
    {DW_TAG_rvalue_reference_type, ZS_KIND_REFERENCE, "&&"},
    {DW_TAG_array_type, ZS_KIND_ARRAY, ""},
    {DW_TAG_structure_type, ZS_KIND_STRUCT, "struct"},
    {DW_TAG_class_type, ZS_KIND_CLASS, "class"},
    {DW_TAG_union_type, ZS_KIND_UNION, "union"},
    {DW_TAG_enumeration_type, ZS_KIND_ENUM, "enum"},
    {DW_TAG_subroutine_type, ZS_KIND_FUNCTION, ""},
    {DW_TAG_typedef, ZS_KIND_TYPEDEF, ""},
    {DW_TAG_const_type, ZS_KIND_CONST, "const"},
    {DW_TAG_volatile_type, ZS_KIND_VOLATILE, "volatile"},
    {DW_TAG_restrict_type, ZS_KIND_RESTRICT, "restrict"},
    {DW_TAG_atomic_type, ZS_KIND_ATOMIC, "_Atomic"},
};

static const struct type_tag *find_tag(uint16_t tag)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(type_tags); i++)
        if (type_tags[i].tag == tag)
            return &type_tags[i];
    return NULL;
}

static uint64_t die_number(const struct zs_die *die, uint16_t name, uint64_t missing)
{
    const struct zs_attr *attr = zs_die_attr(die, name);
    uint64_t value;
    return attr && zs_attr_number(attr, &value) ? value : missing;
}

static const char *die_name(const struct zs_dwarf *debug, const struct zs_die *die)
{
    const struct zs_attr *attr = zs_die_attr(die, DW_AT_name);
    return attr ? zs_attr_string(debug, die->unit, attr) : "";
}

static uint32_t die_target(const struct zs_die *die)
{
    const struct zs_attr *attr = zs_die_attr(die, DW_AT_type);
    return attr && attr->form_class == ZS_CLASS_REF && attr->value <= UINT32_MAX
               ? (uint32_t)attr->value
               : 0;
}

/* Call fn for each direct child; false from it stops. */
static void for_children(const struct zs_dwarf *debug, const struct zs_die *parent,
                         bool (*fn)(void *ctx, const struct zs_dwarf *debug,
                                    const struct zs_die *child),
                         void *ctx)
{
    struct zs_die child;
    uint64_t at_B = parent->next_B;
    uint32_t depth = 0;
    if (!parent->has_children)
        return;
    for (uint32_t i = 0; i < TYPE_CHILDREN_MAX; i++) {
        if (zs_die_read(debug, parent->unit, at_B, &child, NULL))
            return;
        at_B = child.next_B;
        if (!child.tag) {
            if (depth == 0)
                return;
            depth--;
            continue;
        }
        if (depth == 0 && !fn(ctx, debug, &child))
            return;
        depth += child.has_children;
    }
}

/* ---- arrays ---- */

struct dimensions {
    uint32_t count;
    uint64_t sizes[ZS_TYPE_DIMENSIONS_MAX]; /* 0: not known */
};

static bool add_dimension(void *ctx, const struct zs_dwarf *debug, const struct zs_die *child)
{
    struct dimensions *d = ctx;
    if (child->tag != DW_TAG_subrange_type)
        return true;
    uint64_t count = die_number(child, DW_AT_count, 0);
    uint64_t upper = die_number(child, DW_AT_upper_bound, UINT64_MAX);
    d->sizes[d->count++] = count ? count : upper == UINT64_MAX ? 0 : upper + 1;
    (void)debug;
    return d->count < ZS_TYPE_DIMENSIONS_MAX;
}

static struct dimensions array_dimensions(const struct zs_dwarf *debug, const struct zs_die *die)
{
    struct dimensions d = {0};
    for_children(debug, die, add_dimension, &d);
    return d;
}

/* ---- questions ---- */

static int type_get(const struct zs_dwarf *debug, uint32_t type, struct zs_type *ret_type,
                    uint32_t depth)
{
    *ret_type = (struct zs_type){.kind = ZS_KIND_VOID, .name = ""};
    if (!type)
        return 0;
    struct zs_die die;
    int error = zs_die_follow(debug, type, &die);
    const struct type_tag *tag = error ? NULL : find_tag(die.tag);
    if (!tag)
        return -EINVAL;
    *ret_type = (struct zs_type){
        .kind = tag->kind,
        .encoding = (enum zs_type_encoding)die_number(&die, DW_AT_encoding, 0),
        .name = die_name(debug, &die),
        .size_B = die_number(&die, DW_AT_byte_size, 0),
        .target = die_target(&die),
        .address_class = (uint32_t)die_number(&die, DW_AT_address_class, 0),
    };
    if ((ret_type->kind == ZS_KIND_POINTER || ret_type->kind == ZS_KIND_REFERENCE) &&
        !ret_type->size_B)
        ret_type->size_B = die.unit->address_B;
    bool alias = ret_type->kind >= ZS_KIND_TYPEDEF;
    bool array = ret_type->kind == ZS_KIND_ARRAY;
    if (depth == TYPE_DEPTH_MAX || (!alias && !array))
        return 0;
    struct zs_type target;
    bool has_target = type_get(debug, ret_type->target, &target, depth + 1) == 0;
    if (alias) {
        ret_type->size_B = has_target ? target.size_B : 0;
        return 0;
    }
    if (zs_die_attr(&die, DW_AT_GNU_vector))
        ret_type->kind = ZS_KIND_VECTOR;
    struct dimensions d = array_dimensions(debug, &die);
    ret_type->count = d.count ? 1 : 0;
    for (uint32_t i = 0; i < d.count; i++)
        if (!zs_mul_u64(ret_type->count, d.sizes[i], &ret_type->count))
            ret_type->count = 0;
    if (!ret_type->size_B &&
        (!has_target || !zs_mul_u64(ret_type->count, target.size_B, &ret_type->size_B)))
        ret_type->size_B = 0;
    return 0;
}

size_t zs_type_dimensions(const struct zs_dwarf *debug, uint32_t type, uint64_t *ret_counts,
                          size_t capacity)
{
    struct zs_die die;
    const struct type_tag *tag =
        type && !zs_die_follow(debug, type, &die) ? find_tag(die.tag) : NULL;
    if (!tag || tag->kind != ZS_KIND_ARRAY)
        return 0;
    struct dimensions d = array_dimensions(debug, &die);
    for (size_t i = 0; i < d.count && i < capacity; i++)
        ret_counts[i] = d.sizes[i];
    return d.count;
}

int zs_type_get(const struct zs_dwarf *debug, uint32_t type, struct zs_type *ret_type)
{
    return type_get(debug, type, ret_type, 0);
}

uint32_t zs_type_strip(const struct zs_dwarf *debug, uint32_t type)
{
    for (uint32_t i = 0; type && i < TYPE_DEPTH_MAX; i++) {
        struct zs_die die;
        const struct type_tag *tag = zs_die_follow(debug, type, &die) ? NULL : find_tag(die.tag);
        if (!tag || tag->kind < ZS_KIND_TYPEDEF)
            return type;
        type = die_target(&die);
    }
    return type;
}

struct member_list {
    struct zs_type_member *items;
    size_t capacity, count;
};

static bool add_member(void *ctx, const struct zs_dwarf *debug, const struct zs_die *child)
{
    struct member_list *list = ctx;
    bool field = child->tag == DW_TAG_member || child->tag == DW_TAG_inheritance;
    if (!field && child->tag != DW_TAG_enumerator)
        return true;
    if (list->count < list->capacity) {
        struct zs_type_member *m = &list->items[list->count];
        *m = (struct zs_type_member){
            .name = die_name(debug, child),
            .type = die_target(child),
            .offset_B = die_number(child, DW_AT_data_member_location, 0),
            .bit_size = (uint32_t)die_number(child, DW_AT_bit_size, 0),
            .bit_offset = (uint32_t)die_number(child, DW_AT_data_bit_offset, 0),
            .value = (int64_t)die_number(child, DW_AT_const_value, 0),
        };
    }
    list->count++;
    return true;
}

size_t zs_type_members(const struct zs_dwarf *debug, uint32_t type,
                       struct zs_type_member *ret_members, size_t capacity)
{
    struct member_list list = {.items = ret_members, .capacity = capacity};
    struct zs_die die;
    if (type && zs_die_follow(debug, zs_type_strip(debug, type), &die) == 0)
        for_children(debug, &die, add_member, &list);
    return list.count;
}

/* ---- C declarations ---- */

/*
 * C writes a type around the name: what is to its left and what to its right. Pointers put "*" in
 * front of what stands already, arrays and functions go behind it, in parentheses where a pointer
 * is inside: "float (*)[4]".
 */
struct declaration {
    char left[256], right[256]; /* around the name; left is built from its end */
    size_t left_at, right_at;
    bool pointer_last; /* the last thing added was a pointer */
};

static void put_left(struct declaration *d, const char *text)
{
    size_t n = strlen(text);
    if (n > d->left_at)
        return;
    d->left_at -= n;
    memcpy(d->left + d->left_at, text, n);
}

static void put_right(struct declaration *d, const char *text)
{
    size_t n = strlen(text);
    if (n >= sizeof(d->right) - d->right_at)
        return;
    memcpy(d->right + d->right_at, text, n + 1);
    d->right_at += n;
}

static void put_word(struct declaration *d, const char *word)
{
    char next = d->left[d->left_at];
    if (d->left_at < sizeof(d->left) - 1 && next != ' ' && next != ')')
        put_left(d, " ");
    put_left(d, word);
}

static void put_parentheses(struct declaration *d)
{
    if (!d->pointer_last)
        return;
    put_left(d, "(");
    put_right(d, ")");
    d->pointer_last = false;
}

static void put_array(struct declaration *d, const struct zs_dwarf *debug, const struct zs_die *die)
{
    struct dimensions dimensions = array_dimensions(debug, die);
    put_parentheses(d);
    for (uint32_t i = 0; i < dimensions.count; i++) {
        char text[32];
        if (dimensions.sizes[i])
            snprintf(text, sizeof(text), "[%" PRIu64 "]", dimensions.sizes[i]);
        else
            snprintf(text, sizeof(text), "[]");
        put_right(d, text);
    }
}

/* A vector without a typedef's name: "float __vector(4)". */
static void put_vector(struct declaration *d, const struct zs_dwarf *debug,
                       const struct zs_die *die)
{
    struct dimensions dimensions = array_dimensions(debug, die);
    char element[128], text[200];
    zs_type_print(debug, die_target(die), element, sizeof(element));
    snprintf(text, sizeof(text), "%s __vector(%" PRIu64 ")", element,
             dimensions.count ? dimensions.sizes[0] : 0);
    put_word(d, text);
}

/* One step of the chain; true when it goes on with *type. */
static bool put_type(struct declaration *d, const struct zs_dwarf *debug, uint32_t *type)
{
    struct zs_die die;
    const struct type_tag *tag = NULL;
    if (*type && zs_die_follow(debug, *type, &die) == 0)
        tag = find_tag(die.tag);
    if (!tag) {
        put_word(d, *type ? "?" : "void");
        return false;
    }
    const char *name = die_name(debug, &die);
    *type = die_target(&die);
    switch (tag->kind) {
    case ZS_KIND_POINTER:
    case ZS_KIND_REFERENCE:
        put_left(d, tag->keyword);
        d->pointer_last = true;
        return true;
    case ZS_KIND_ARRAY:
        if (zs_die_attr(&die, DW_AT_GNU_vector)) {
            put_vector(d, debug, &die);
            return false;
        }
        put_array(d, debug, &die);
        return true;
    case ZS_KIND_FUNCTION:
        put_parentheses(d);
        put_right(d, "()");
        return true;
    case ZS_KIND_CONST:
    case ZS_KIND_VOLATILE:
    case ZS_KIND_RESTRICT:
    case ZS_KIND_ATOMIC:
        put_word(d, tag->keyword);
        return true;
    case ZS_KIND_STRUCT:
    case ZS_KIND_CLASS:
    case ZS_KIND_UNION:
    case ZS_KIND_ENUM:
        put_word(d, *name ? name : "{...}");
        put_word(d, tag->keyword);
        return false;
    default:
        put_word(d, *name ? name : "?");
        return false;
    }
}

/* A qualifier of a base stands before it in the text ("const float *"), but one of a pointer
 * behind its star ("float *const"): the chain gives "const" before "float", so a run of
 * qualifiers is held back until what they qualify is written. */
size_t zs_type_print(const struct zs_dwarf *debug, uint32_t type, char *ret_text, size_t size_B)
{
    struct declaration d = {.left_at = sizeof(d.left) - 1};
    uint32_t held[4];
    uint32_t held_count = 0;
    for (uint32_t i = 0; i < TYPE_DEPTH_MAX; i++) {
        struct zs_die die;
        const struct type_tag *tag =
            type && zs_die_follow(debug, type, &die) == 0 ? find_tag(die.tag) : NULL;
        bool qualifier = tag && tag->kind >= ZS_KIND_CONST;
        if (qualifier && held_count < ZS_ARRAY_LEN(held)) {
            held[held_count++] = type;
            type = die_target(&die);
            continue;
        }
        bool pointer = tag && (tag->kind == ZS_KIND_POINTER || tag->kind == ZS_KIND_REFERENCE);
        bool more = true;
        if (pointer) /* "*const" */
            for (uint32_t h = 0; h < held_count; h++)
                put_type(&d, debug, &(uint32_t){held[h]});
        more = put_type(&d, debug, &type);
        if (!pointer && (!more || (tag && tag->kind != ZS_KIND_ARRAY)))
            for (uint32_t h = held_count; h-- > 0;)
                put_type(&d, debug, &(uint32_t){held[h]});
        if (pointer || !more)
            held_count = 0;
        if (!more)
            break;
    }
    int length = snprintf(ret_text, size_B, "%.*s%s", (int)(sizeof(d.left) - 1 - d.left_at),
                          d.left + d.left_at, d.right);
    return length < 0 ? 0 : (size_t)length;
}
