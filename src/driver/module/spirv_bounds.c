/* SPDX-License-Identifier: MIT */
/*
 * Accesses to variables compared with the variables' bounds, for checks: arrays in private memory
 * or registers, in local memory, at program scope. The machine code of an access says nothing of
 * the array that the program meant, so the comparison is put in front of it here:
 *
 *     %p = OpInBoundsPtrAccessChain %pointer %a %0 %i     ... as it was
 *                                                         %offset = OpIMul %ulong %i %4
 *                                                         OpFunctionCall %void %check %offset
 *                                                             %last %site
 *     %v = OpLoad %int %p                                 ... as it was
 *
 * Offsets are of the variable as a whole. check() stores, where the offset is behind the last good
 * one, a byte at an address that no memory has: the number of the site and the offset. Everything
 * else is as for other accesses out of bounds; gpu/fault.c knows such addresses.
 *
 * A parameter points to what all calls of its function pass, where they agree. A pointer that is
 * one of several (OpPhi, OpSelect: also `*p++` in a loop) has three values beside it that are
 * chosen as it is: its offset, the size of what it points into, and which variable that is.
 * Pointers whose variable is not seen (loaded ones) are not compared. The module was checked by
 * zs_spirv_specialize(): lengths are right.
 */
#include "driver/module/compile.h"

#include "base/vec.h"
#include "driver/module/spirv_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    DEBUG_GLOBAL_VARIABLE = 18,
    DEBUG_LOCAL_VARIABLE = 26,
    DEBUG_DECLARE = 28,
    DEBUG_SOURCE = 35,
    STD_VLOADN = 171,
    STD_VSTOREN = 172,
    PHYSICAL64 = 2,
    FUNCTION_INLINE = 1,
    OBJECT_MAX_B = INT32_MAX,
    CAPABILITY_FUNCTION_POINTERS = 5603,
    CALLS_DEEP = 3,  /* so far pointers are followed into functions */
    SEVERAL_MAX = 8, /* variables of a function that pointers choose from, and 0: another */
    WAYS_MAX = 32,   /* ... and kinds of accesses through them */
    LOOKS_MAX = 8,
};
/* Of a pointer into what is not known: far from both ends. */
static const uint64_t UNKNOWN_AT = UINT64_C(1) << 62, UNKNOWN_B = UINT64_C(1) << 63;

struct id {
    uint32_t type;    /* of a result */
    uint32_t name;    /* OpName */
    uint32_t debug;   /* variable: DebugLocalVariable, DebugGlobalVariable */
    uint32_t base;    /* pointer: the variable that it points into; 0: not known */
    uint32_t dynamic; /* ... plus this value of 64 bits; 0: none */
    int64_t constant; /* ... plus this */
    /* An array in a struct that it points into: where it begins and ends; 0 bytes: not known. */
    int64_t part;
    uint64_t part_B;
    /* One of several: values of 64 bits, the size of what it points into, and the number of that
     * variable in bits 32 and up; 0: it is not. */
    uint32_t size, which;
};

/* What a pointer that is chosen, or chosen from, has beside it: ids of values. */
struct chosen {
    bool reaches;  /* a variable that is seen */
    bool is_fixed; /* it is one, or a parameter */
    bool is_wanted, is_written;
    uint32_t offset; /* and size, and which: the ids behind it */
};

/* A function's parameter: where all calls let it point to. */
struct passed {
    struct id to;
    bool is_seen, is_known;
};

struct literal {
    uint64_t value;
    uint32_t id;
};

struct bounds {
    struct zs_spirv_defs defs;
    size_t count;
    struct id *ids;
    struct passed *passed;                        /* by id: what the calls say that were seen */
    struct chosen *chosen;                        /* by id */
    uint32_t several[SEVERAL_MAX], several_count; /* variables of this function */
    struct {
        uint64_t access_B;
        bool is_write;
        uint32_t site; /* of several[1]; the others' are behind it */
    } ways[WAYS_MAX];
    uint32_t way_count;
    uint32_t next;       /* id */
    uint32_t std, debug; /* sets */
    uint32_t type[65];   /* OpTypeInt by width */
    uint32_t type_void, type_bool;
    uint32_t check;                   /* function */
    bool is_physical64, has_pointers; /* to functions, or other callers */
    struct {
        struct literal *items;
        size_t count, capacity;
    } literals; /* of 64 bits */
    struct zs_buf functions;
    struct zs_bounds_sites *sites;
    int error;
};

#define EMIT(s, ...) ZS_SPIRV_EMIT(&(s)->functions, __VA_ARGS__)

static uint32_t word(const struct bounds *s, size_t at)
{
    return zs_spirv_word(s->defs.words, at);
}

static uint32_t number_at(const struct bounds *s, size_t at)
{
    uint32_t id = word(s, at);
    return id < s->defs.bound ? id : 0;
}

static struct id *id_at(const struct bounds *s, size_t at)
{
    return &s->ids[number_at(s, at)];
}

/* ---- What there is -----------------------------------------------------------------------------
 */

static bool is_debug(const struct bounds *s, size_t at, uint32_t length, uint32_t number)
{
    uint32_t least = number == DEBUG_DECLARE || number == DEBUG_SOURCE ? 6 : 9;
    return length >= least && (word(s, at) & 0xffff) == OP_EXT_INST &&
           word(s, at + 3) == s->debug && word(s, at + 4) == number;
}

static void take_ext_inst(struct bounds *s, size_t at, uint32_t length)
{
    s->defs.ids[number_at(s, at + 2)].at = (uint32_t)at;
    uint32_t local = length > 6 ? s->defs.ids[number_at(s, at + 5)].at : 0;
    if (is_debug(s, at, length, DEBUG_DECLARE) && local &&
        is_debug(s, local, word(s, local) >> 16, DEBUG_LOCAL_VARIABLE))
        id_at(s, at + 6)->debug = local;
    else if (is_debug(s, at, length, DEBUG_GLOBAL_VARIABLE) && length > 12)
        id_at(s, at + 12)->debug = (uint32_t)at;
}

static void take_type(struct bounds *s, size_t at, uint32_t length)
{
    uint32_t opcode = word(s, at) & 0xffff, id = number_at(s, at + 1);
    s->defs.ids[id].at = (uint32_t)at;
    if (opcode == OP_TYPE_INT && length == 4 && word(s, at + 2) <= 64 && !s->type[word(s, at + 2)])
        s->type[word(s, at + 2)] = id;
    else if (opcode == OP_TYPE_VOID)
        s->type_void = id;
    else if (opcode == OP_TYPE_BOOL)
        s->type_bool = id;
}

static void take_import(struct bounds *s, size_t at)
{
    const char *name = (const char *)s->defs.words + 4 * (at + 2);
    if (!strcmp(name, "OpenCL.std"))
        s->std = number_at(s, at + 1);
    else if (!strcmp(name, "OpenCL.DebugInfo.100"))
        s->debug = number_at(s, at + 1);
}

static bool is_text(const struct bounds *s, size_t at, uint32_t length, uint32_t first)
{
    return length > first &&
           memchr(s->defs.words + 4 * (at + first), 0, 4 * (size_t)(length - first)) != NULL;
}

static void take(struct bounds *s, size_t at, uint32_t length)
{
    uint32_t opcode = word(s, at) & 0xffff;
    if (opcode == OP_EXT_INST_IMPORT && is_text(s, at, length, 2))
        take_import(s, at);
    else if (opcode == OP_NAME && is_text(s, at, length, 2))
        id_at(s, at + 1)->name = (uint32_t)at;
    else if (opcode == OP_CAPABILITY && length == 2)
        s->has_pointers |= word(s, at + 1) == CAPABILITY_FUNCTION_POINTERS;
    else if (opcode == OP_FUNCTION && length > 2)
        s->defs.ids[number_at(s, at + 2)].at = (uint32_t)at;
    else if (opcode == OP_MEMORY_MODEL && length == 3)
        s->is_physical64 = word(s, at + 1) == PHYSICAL64;
    else if (opcode == OP_STRING && is_text(s, at, length, 2))
        id_at(s, at + 1)->name = (uint32_t)at;
    else if (opcode == OP_DECORATE && length > 2 && word(s, at + 2) == DECORATION_C_PACKED)
        s->defs.ids[number_at(s, at + 1)].is_packed = true;
    else if (((opcode == OP_TYPE_VOID || opcode == OP_TYPE_BOOL) && length == 2) ||
             (opcode >= OP_TYPE_INT && opcode <= OP_TYPE_FUNCTION && length > 2))
        take_type(s, at, length);
    else if (opcode == OP_EXT_INST && length > 4)
        take_ext_inst(s, at, length);
    else if (length > 2 &&
             (opcode == OP_CONSTANT || opcode == OP_CONSTANT_NULL || opcode == OP_VARIABLE))
        s->defs.ids[number_at(s, at + 2)].at = (uint32_t)at;
}

/* ---- Where pointers point ----------------------------------------------------------------------
 */

static uint32_t literal(struct bounds *s, uint64_t value)
{
    for (size_t i = 0; i < s->literals.count; i++)
        if (s->literals.items[i].value == value)
            return s->literals.items[i].id;
    const struct literal added = {value, s->next++};
    if (!ZS_VEC_PUSH(&s->literals, added))
        s->error = -ENOMEM;
    return added.id;
}

static uint32_t type_of_width(struct bounds *s, uint32_t width)
{
    if (!s->type[width])
        s->type[width] = s->next++;
    return s->type[width];
}

/* What a pointer's type points to. */
static uint32_t pointee(const struct bounds *s, uint32_t type)
{
    uint32_t at = s->defs.ids[type].at;
    return at && word(s, at) == (4u << 16 | OP_TYPE_POINTER) ? number_at(s, at + 3) : 0;
}

static uint64_t object_B(const struct bounds *s, uint32_t variable)
{
    uint32_t at = s->defs.ids[variable].at;
    return at ? zs_spirv_size_B(&s->defs, pointee(s, number_at(s, at + 1))) : 0;
}

static void take_variable(struct bounds *s, uint32_t variable)
{
    uint32_t at = s->defs.ids[variable].at;
    if (!at || (word(s, at) & 0xffff) != OP_VARIABLE)
        return;
    uint32_t storage = (word(s, at) >> 16) > 3 ? word(s, at + 3) : UINT32_MAX;
    uint64_t size_B = object_B(s, variable);
    s->ids[variable].type = number_at(s, at + 1);
    if (size_B && size_B <= OBJECT_MAX_B &&
        (storage == STORAGE_UNIFORM_CONSTANT || storage == STORAGE_WORKGROUP ||
         storage == STORAGE_CROSS_WORKGROUP || storage == STORAGE_FUNCTION))
        s->ids[variable].base = variable;
}

/* Adds index * stride. false: it is not known. */
static bool add_index(struct bounds *s, struct id *to, uint32_t index, uint64_t stride_B)
{
    int64_t value, product;
    if (!stride_B)
        return false;
    if (zs_spirv_constant(&s->defs, index, &value))
        return !__builtin_mul_overflow(value, (int64_t)stride_B, &product) &&
               !__builtin_add_overflow(to->constant, product, &to->constant);
    uint32_t type_at = s->defs.ids[s->ids[index].type].at, wide = type_of_width(s, 64);
    if (!type_at || (word(s, type_at) & 0xffff) != OP_TYPE_INT)
        return false;
    if (word(s, type_at + 2) != 64) {
        EMIT(s, OP_S_CONVERT, wide, s->next, index);
        index = s->next++;
    }
    if (stride_B != 1) {
        uint32_t stride = literal(s, stride_B);
        EMIT(s, OP_I_MUL, wide, s->next, index, stride);
        index = s->next++;
    }
    if (to->dynamic) {
        EMIT(s, OP_I_ADD, wide, s->next, to->dynamic, index);
        index = s->next++;
    }
    to->dynamic = index;
    return true;
}

/* Into a part of what has the type. Returns the part's type; 0: it is not known. */
static uint32_t add_part(struct bounds *s, struct id *to, uint32_t type, uint32_t index)
{
    uint32_t at = s->defs.ids[type].at, opcode = at ? word(s, at) & 0xffff : 0;
    if (opcode == OP_TYPE_ARRAY || opcode == OP_TYPE_VECTOR) {
        uint32_t element = number_at(s, at + 2);
        return add_index(s, to, index, zs_spirv_size_B(&s->defs, element)) ? element : 0;
    }
    int64_t member;
    uint64_t offset_B;
    if (opcode != OP_TYPE_STRUCT || !zs_spirv_constant(&s->defs, index, &member) || member < 0 ||
        member >= (int64_t)(word(s, at) >> 16) - 2 ||
        !zs_spirv_member_B(&s->defs, type, (uint32_t)member, &offset_B))
        return 0;
    uint32_t part = number_at(s, at + 2 + (uint32_t)member), part_at = s->defs.ids[part].at;
    to->constant += (int64_t)offset_B;
    to->part = to->constant;
    to->part_B = part_at && !to->dynamic && (word(s, part_at) & 0xffff) == OP_TYPE_ARRAY
                     ? zs_spirv_size_B(&s->defs, part)
                     : 0;
    return part;
}

/* An access chain; what it needs is written behind it. */
static void follow_chain(struct bounds *s, size_t at, uint32_t length)
{
    bool has_element = (word(s, at) & 0xffff) >= OP_PTR_ACCESS_CHAIN;
    struct id *from = id_at(s, at + 3), to = *from;
    uint32_t type = pointee(s, from->type);
    bool known = (from->base || from->size) && length > 4;
    int64_t element;
    if (known && has_element &&
        (!zs_spirv_constant(&s->defs, number_at(s, at + 4), &element) || element))
        to.part_B = 0;
    if (known && has_element)
        known = add_index(s, &to, number_at(s, at + 4), zs_spirv_size_B(&s->defs, type));
    for (uint32_t i = has_element ? 5 : 4; i < length && known; i++) {
        type = add_part(s, &to, type, number_at(s, at + i));
        known = type != 0;
    }
    struct id *result = id_at(s, at + 2);
    to.type = result->type;
    to.name = result->name;
    to.debug = result->debug;
    if (!known)
        to.base = to.size = 0;
    *result = to;
}

static void follow_copy(struct bounds *s, size_t at)
{
    const struct id *from = id_at(s, at + 3);
    struct id *to = id_at(s, at + 2);
    to->base = pointee(s, to->type) ? from->base : 0;
    to->size = pointee(s, to->type) ? from->size : 0;
    to->which = from->which;
    to->dynamic = from->dynamic;
    to->constant = from->constant;
    to->part = from->part;
    to->part_B = from->part_B;
}

static bool is_same(const struct id *a, const struct id *b)
{
    return a->base == b->base && a->constant == b->constant && a->part == b->part &&
           a->part_B == b->part_B;
}

static void follow_call(struct bounds *s, size_t at, uint32_t length)
{
    size_t to = length > 3 ? s->defs.ids[number_at(s, at + 3)].at : 0;
    if (!to || (word(s, to) & 0xffff) != OP_FUNCTION)
        return;
    to += word(s, to) >> 16;
    for (uint32_t i = 4; i < length && to < s->count; i++, to += word(s, to) >> 16) {
        if (word(s, to) != (3u << 16 | OP_FUNCTION_PARAMETER))
            return;
        struct passed *p = &s->passed[number_at(s, to + 2)];
        const struct id *from = id_at(s, at + i);
        bool is_known = from->base && !from->dynamic;
        p->is_known = is_known && (!p->is_seen || (p->is_known && is_same(&p->to, from)));
        p->is_seen = true;
        p->to = *from;
    }
}

/* What was found out of its calls. */
static void follow_parameter(struct bounds *s, uint32_t parameter, const struct passed *passed)
{
    struct id *id = &s->ids[parameter];
    id->base = 0;
    if (!passed[parameter].is_known || !pointee(s, id->type))
        return;
    struct id to = passed[parameter].to;
    to.type = id->type;
    to.name = id->name;
    to.debug = id->debug;
    *id = to;
}

/* ---- One of several ----------------------------------------------------------------------------
 */

/* Where operands of a choice begin; 0: it is none. */
static uint32_t choice(const struct bounds *s, size_t at, uint32_t length, uint32_t *ret_step)
{
    uint32_t opcode = word(s, at) & 0xffff;
    *ret_step = opcode == OP_PHI ? 2 : 1;
    if (opcode == OP_PHI && length > 4 && length % 2)
        return 3;
    return opcode == OP_SELECT && length == 6 ? 4 : 0;
}

static bool follows(const struct bounds *s, size_t at, uint32_t length)
{
    uint32_t opcode = word(s, at) & 0xffff;
    return (opcode >= OP_ACCESS_CHAIN && opcode <= OP_IN_BOUNDS_PTR_ACCESS_CHAIN &&
            opcode != OP_PTR_ACCESS_CHAIN + 1 && opcode != OP_PTR_ACCESS_CHAIN + 2 && length > 3) ||
           (length == 4 && (opcode == OP_BITCAST || opcode == OP_COPY_OBJECT ||
                            opcode == OP_PTR_CAST_TO_GENERIC || opcode == OP_GENERIC_CAST_TO_PTR));
}

static bool reaches(const struct bounds *s, uint32_t id)
{
    return s->chosen[id].reaches || (s->defs.ids[id].at && s->ids[id].base);
}

static void want(struct bounds *s, uint32_t id)
{
    struct chosen *c = &s->chosen[id];
    if (c->is_wanted)
        return;
    c->is_wanted = true;
    c->offset = s->next;
    s->next += 3;
}

/* A pointer that leads to a variable that is seen: whether this is news. */
static bool look_at(struct bounds *s, size_t at, uint32_t length)
{
    uint32_t step, first = choice(s, at, length, &step);
    bool found = false;
    if (!first && !follows(s, at, length)) /* it may have less than three words */
        return false;
    uint32_t result = number_at(s, at + 2);
    if (!pointee(s, number_at(s, at + 1)) || s->chosen[result].reaches)
        return false;
    for (uint32_t i = first ? first : 3; i < (first ? length : 4) && !found; i += step)
        found = reaches(s, number_at(s, at + i));
    s->chosen[result].reaches = found;
    return found;
}

/* A function begins: which of its pointers lead to a variable, and are chosen. */
static void find_choices(struct bounds *s, size_t at, const struct passed *passed)
{
    bool news = true;
    size_t end = at;
    s->several_count = s->way_count = 0;
    for (int looks = 0; looks < LOOKS_MAX && news; looks++) {
        news = false;
        for (end = at; end < s->count && (word(s, end) & 0xffff) != OP_FUNCTION_END;
             end += word(s, end) >> 16) {
            uint32_t length = word(s, end) >> 16, opcode = word(s, end) & 0xffff;
            uint32_t result = length > 2 ? number_at(s, end + 2) : 0;
            if (opcode == OP_VARIABLE || opcode == OP_FUNCTION_PARAMETER) {
                s->chosen[result].is_fixed = true;
                s->chosen[result].reaches = opcode == OP_VARIABLE || passed[result].is_known;
            } else {
                news |= look_at(s, end, length);
            }
        }
    }
    for (; at < end; at += word(s, at) >> 16) {
        uint32_t length = word(s, at) >> 16, step, first = choice(s, at, length, &step);
        if (!first || !s->chosen[number_at(s, at + 2)].reaches)
            continue;
        want(s, number_at(s, at + 2));
        for (uint32_t i = first; i < length; i += step) {
            uint32_t from = number_at(s, at + i);
            if (s->chosen[from].reaches && !s->chosen[from].is_fixed)
                want(s, from);
        }
    }
}

/* Its number among those that pointers choose from; 0: there is no room, or none is known. */
static uint32_t number_of(struct bounds *s, uint32_t variable)
{
    for (uint32_t i = 1; i < s->several_count; i++)
        if (s->several[i] == variable)
            return i;
    if (!variable || s->several_count >= SEVERAL_MAX)
        return 0;
    s->several_count += !s->several_count;
    s->several[s->several_count] = variable;
    return s->several_count++;
}

/* Its offset as a value. */
static uint32_t offset_of(struct bounds *s, const struct id *at)
{
    uint32_t constant = literal(s, (uint64_t)at->constant), offset = at->dynamic;
    if (!offset)
        return constant;
    if (at->constant) {
        offset = s->next++;
        EMIT(s, OP_I_ADD, type_of_width(s, 64), offset, at->dynamic, constant);
    }
    return offset;
}

/* Offset, size and which of a pointer that is defined: ids of literals or values. */
static void values_of(struct bounds *s, const struct id *id, uint32_t ret_values[3])
{
    uint32_t number = id->size ? 0 : number_of(s, id->base);
    ret_values[0] = id->size || number ? offset_of(s, id) : literal(s, UNKNOWN_AT);
    ret_values[1] = id->size ? id->size : literal(s, number ? object_B(s, id->base) : UNKNOWN_B);
    ret_values[2] = id->size ? id->which : literal(s, (uint64_t)number << 32);
}

/* Behind a pointer that is chosen from before, in the order of the code, it was seen. */
static void write_values(struct bounds *s, uint32_t pointer)
{
    struct chosen *c = &s->chosen[pointer];
    uint32_t values[3];
    if (!c->is_wanted || c->is_written)
        return;
    c->is_written = true;
    values_of(s, &s->ids[pointer], values);
    for (uint32_t i = 0; i < 3; i++)
        EMIT(s, OP_COPY_OBJECT, type_of_width(s, 64), c->offset + i, values[i]);
}

static void operand_values(struct bounds *s, uint32_t from, uint32_t ret_values[3])
{
    const struct chosen *c = &s->chosen[from];
    for (uint32_t i = 0; i < 3; i++)
        ret_values[i] = c->offset + i;
    if (!c->is_wanted) {
        struct id known = s->ids[from];
        if (known.dynamic || !reaches(s, from))
            known.base = 0;
        known.dynamic = known.size = 0;
        values_of(s, &known, ret_values);
    }
}

static void follow_choice(struct bounds *s, size_t at, uint32_t length)
{
    uint32_t step, first = choice(s, at, length, &step), result = number_at(s, at + 2);
    struct chosen *c = &s->chosen[result];
    struct id *id = &s->ids[result];
    id->base = id->size = 0;
    if (!first || !c->is_wanted || c->is_written || !pointee(s, id->type))
        return;
    c->is_written = true;
    for (uint32_t i = 0; i < 3; i++) {
        zs_spirv_put(&s->functions, word(s, at));
        zs_spirv_put(&s->functions, type_of_width(s, 64));
        zs_spirv_put(&s->functions, c->offset + i);
        if (first == 4)
            zs_spirv_put(&s->functions, word(s, at + 3));
        for (uint32_t k = first; k < length; k += step) {
            uint32_t values[3];
            operand_values(s, number_at(s, at + k), values);
            zs_spirv_put(&s->functions, values[i]);
            if (step == 2)
                zs_spirv_put(&s->functions, word(s, at + k + 1));
        }
    }
    id->dynamic = c->offset;
    id->size = c->offset + 1;
    id->which = c->offset + 2;
    id->constant = 0;
    id->part_B = 0;
}

/* ---- Comparisons -------------------------------------------------------------------------------
 */

static void put_text(const struct bounds *s, uint32_t at, uint32_t first, char *ret, size_t size_B)
{
    snprintf(ret, size_B, "%s", at ? (const char *)s->defs.words + 4 * (size_t)(at + first) : "");
}

static void describe(const struct bounds *s, uint32_t variable, struct zs_gpu_bounds_site *ret)
{
    const struct id *id = &s->ids[variable];
    uint32_t debug = id->debug, source = debug ? s->defs.ids[number_at(s, debug + 7)].at : 0;
    char file[200] = "";
    if (id->name)
        put_text(s, id->name, 2, ret->name, sizeof(ret->name));
    else
        snprintf(ret->name, sizeof(ret->name), "a variable");
    if (source && is_debug(s, source, word(s, source) >> 16, DEBUG_SOURCE))
        put_text(s, id_at(s, source + 5)->name, 2, file, sizeof(file));
    if (file[0])
        snprintf(ret->declared, sizeof(ret->declared), "%s:%u", file, word(s, debug + 8));
}

/* Its number; UINT32_MAX: there is no room. */
static uint32_t site_of(struct bounds *s, uint32_t variable, uint64_t size_B, uint64_t access_B,
                        bool is_write)
{
    struct zs_gpu_bounds_site site;
    memset(&site, 0, sizeof(site)); /* it is compared as a whole */
    site.size_B = (uint32_t)size_B;
    site.in_struct = size_B != object_B(s, variable);
    site.access_B = (uint32_t)access_B;
    site.is_write = is_write;
    describe(s, variable, &site);
    for (size_t i = 0; i < s->sites->count; i++)
        if (!memcmp(&s->sites->items[i], &site, sizeof(site)))
            return (uint32_t)i;
    if (s->sites->count >= ZS_GPU_BOUNDS_SITES_MAX || !ZS_VEC_PUSH(s->sites, site))
        return UINT32_MAX;
    return (uint32_t)s->sites->count - 1;
}

/* The site of the first of several variables; those of the others, as far as they are known when
 * the function ends, are behind it. UINT32_MAX: there is no room. */
static uint32_t way_of(struct bounds *s, uint64_t access_B, bool is_write)
{
    for (uint32_t i = 0; i < s->way_count; i++)
        if (s->ways[i].access_B == access_B && s->ways[i].is_write == is_write)
            return s->ways[i].site;
    size_t first = s->sites->count;
    if (s->way_count == WAYS_MAX || first + SEVERAL_MAX > ZS_GPU_BOUNDS_SITES_MAX)
        return UINT32_MAX;
    for (uint32_t i = 0; i < SEVERAL_MAX; i++) {
        struct zs_gpu_bounds_site site;
        memset(&site, 0, sizeof(site));
        site.access_B = (uint32_t)access_B;
        site.is_write = is_write;
        if (!ZS_VEC_PUSH(s->sites, site))
            return UINT32_MAX;
    }
    s->ways[s->way_count].access_B = access_B;
    s->ways[s->way_count].is_write = is_write;
    return s->ways[s->way_count++].site = (uint32_t)first;
}

static void describe_several(struct bounds *s)
{
    for (uint32_t i = 0; i < s->way_count; i++)
        for (uint32_t k = 1; k < s->several_count; k++) {
            struct zs_gpu_bounds_site *site = &s->sites->items[s->ways[i].site + k];
            site->size_B = (uint32_t)object_B(s, s->several[k]);
            describe(s, s->several[k], site);
        }
}

/* What an access may reach: the variable, or an array in it. */
static uint64_t reachable_B(const struct bounds *s, struct id *at)
{
    uint64_t size_B = at->base ? object_B(s, at->base) : 0;
    if (at->part < 0 || (uint64_t)at->part + at->part_B > size_B || !at->part_B)
        return size_B;
    at->constant -= at->part;
    return at->part_B;
}

static void call_check(struct bounds *s, uint32_t offset, uint32_t last, uint32_t where)
{
    if (!s->check)
        s->check = s->next++;
    EMIT(s, OP_FUNCTION_CALL, s->type_void, s->next, s->check, offset, last, where);
    s->next++;
}

/* An access through one of several pointers. */
static void compare_several(struct bounds *s, const struct id *at, uint64_t access_B, bool is_write)
{
    uint32_t way = way_of(s, access_B, is_write), wide = type_of_width(s, 64);
    if (way == UINT32_MAX)
        return;
    uint32_t offset = offset_of(s, at), last = s->next++, where = s->next++;
    uint32_t access = literal(s, access_B);
    uint32_t first = literal(s, (uint64_t)ZS_GPU_BOUNDS_TAG << 48 | (uint64_t)way << 32);
    EMIT(s, OP_I_SUB, wide, last, at->size, access);
    EMIT(s, OP_I_ADD, wide, where, first, at->which);
    call_check(s, offset, last, where);
}

/* In front of an access. extra: an index of pieces of access_B bytes beside the pointer; 0: none */
static void compare(struct bounds *s, uint32_t pointer, uint64_t access_B, bool is_write,
                    uint32_t extra)
{
    struct id at = s->ids[pointer];
    if (at.size && access_B) {
        if (!extra || add_index(s, &at, extra, access_B))
            compare_several(s, &at, access_B, is_write);
        return;
    }
    uint64_t size_B = reachable_B(s, &at);
    if (!at.base || !access_B || access_B > size_B ||
        (extra && !add_index(s, &at, extra, access_B)))
        return;
    uint64_t last = size_B - access_B;
    if (!at.dynamic && at.constant >= 0 && (uint64_t)at.constant <= last)
        return;
    uint32_t site = site_of(s, at.base, size_B, access_B, is_write);
    if (site == UINT32_MAX)
        return;
    uint32_t offset = offset_of(s, &at), last_id = literal(s, last);
    uint32_t where = literal(s, (uint64_t)ZS_GPU_BOUNDS_TAG << 48 | (uint64_t)site << 32);
    call_check(s, offset, last_id, where);
}

static uint64_t size_of_value(const struct bounds *s, uint32_t id)
{
    return zs_spirv_size_B(&s->defs, s->ids[id].type);
}

/* Of a vector of three only so much is accessed. */
static uint64_t accessed_B(const struct bounds *s, uint32_t type)
{
    uint32_t at = s->defs.ids[type].at;
    bool has_three = at && word(s, at) == (4u << 16 | OP_TYPE_VECTOR) && word(s, at + 3) == 3;
    return zs_spirv_size_B(&s->defs, type) / (has_three ? 4 : 1) * (has_three ? 3 : 1);
}

static void compare_vector(struct bounds *s, size_t at, uint32_t length)
{
    bool stores = word(s, at + 4) == STD_VSTOREN;
    if (word(s, at + 3) != s->std || length < 7 || (!stores && word(s, at + 4) != STD_VLOADN) ||
        (stores && length < 8))
        return;
    uint32_t type = stores ? id_at(s, at + 5)->type : number_at(s, at + 1);
    uint32_t first = stores ? 6 : 5;
    compare(s, number_at(s, at + first + 1), accessed_B(s, type), stores, number_at(s, at + first));
}

static void before(struct bounds *s, size_t at, uint32_t length)
{
    uint32_t opcode = word(s, at) & 0xffff;
    if (opcode == OP_LOAD && length > 3) {
        compare(s, number_at(s, at + 3), accessed_B(s, number_at(s, at + 1)), false, 0);
    } else if (opcode == OP_STORE && length > 2) {
        compare(s, number_at(s, at + 1), accessed_B(s, id_at(s, at + 2)->type), true, 0);
    } else if (opcode == OP_COPY_MEMORY_SIZED && length > 3) {
        int64_t size_B;
        if (!zs_spirv_constant(&s->defs, number_at(s, at + 3), &size_B) || size_B <= 0)
            return;
        /* of a struct, by a pointer to its first member */
        id_at(s, at + 1)->part_B = id_at(s, at + 2)->part_B = 0;
        compare(s, number_at(s, at + 2), (uint64_t)size_B, false, 0);
        compare(s, number_at(s, at + 1), (uint64_t)size_B, true, 0);
    } else if (opcode == OP_ATOMIC_STORE && length > 4) {
        compare(s, number_at(s, at + 1), size_of_value(s, number_at(s, at + 4)), true, 0);
    } else if (opcode >= OP_ATOMIC_LOAD && opcode <= OP_ATOMIC_XOR && length > 3) {
        compare(s, number_at(s, at + 3), zs_spirv_size_B(&s->defs, number_at(s, at + 1)),
                opcode != OP_ATOMIC_LOAD, 0);
    } else if (opcode == OP_EXT_INST) {
        compare_vector(s, at, length);
    }
}

static void after(struct bounds *s, size_t at, uint32_t length)
{
    uint32_t opcode = word(s, at) & 0xffff;
    if (opcode == OP_ACCESS_CHAIN || opcode == OP_IN_BOUNDS_ACCESS_CHAIN ||
        opcode == OP_PTR_ACCESS_CHAIN || opcode == OP_IN_BOUNDS_PTR_ACCESS_CHAIN)
        follow_chain(s, at, length);
    else if (length == 4 && (opcode == OP_BITCAST || opcode == OP_COPY_OBJECT ||
                             opcode == OP_PTR_CAST_TO_GENERIC || opcode == OP_GENERIC_CAST_TO_PTR))
        follow_copy(s, at);
    else if (opcode == OP_FUNCTION_CALL)
        follow_call(s, at, length);
    else if (opcode == OP_VARIABLE)
        take_variable(s, number_at(s, at + 2));
    else if ((opcode == OP_PHI || opcode == OP_SELECT) && length > 2)
        follow_choice(s, at, length);
    else if (opcode == OP_FUNCTION_END)
        describe_several(s);
    if (length > 2 && pointee(s, number_at(s, at + 1)))
        write_values(s, number_at(s, at + 2));
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

static void write_check(struct bounds *s, uint32_t function_type, uint32_t pointer_type,
                        uint32_t zero)
{
    uint32_t wide = type_of_width(s, 64), id = s->next;
    uint32_t offset = id, last = id + 1, site = id + 2, entry = id + 3, is_behind = id + 4,
             behind = id + 5, end = id + 6, low = id + 7, where = id + 8, pointer = id + 9;
    s->next += 10;
    EMIT(s, OP_FUNCTION, s->type_void, s->check, FUNCTION_INLINE, function_type);
    EMIT(s, OP_FUNCTION_PARAMETER, wide, offset);
    EMIT(s, OP_FUNCTION_PARAMETER, wide, last);
    EMIT(s, OP_FUNCTION_PARAMETER, wide, site);
    EMIT(s, OP_LABEL, entry);
    EMIT(s, OP_U_GREATER_THAN, s->type_bool, is_behind, offset, last);
    EMIT(s, OP_BRANCH_CONDITIONAL, is_behind, behind, end);
    EMIT(s, OP_LABEL, behind);
    EMIT(s, OP_BITWISE_AND, wide, low, offset, literal(s, UINT32_MAX));
    EMIT(s, OP_BITWISE_OR, wide, where, low, site);
    EMIT(s, OP_CONVERT_U_TO_PTR, pointer_type, pointer, where);
    EMIT(s, OP_STORE, pointer, zero, 3, 1); /* volatile, aligned to 1 */
    EMIT(s, OP_BRANCH, end);
    EMIT(s, OP_LABEL, end);
    zs_spirv_emit(&s->functions, OP_RETURN, 0, NULL);
    zs_spirv_emit(&s->functions, OP_FUNCTION_END, 0, NULL);
}

static void declare(struct bounds *s, struct zs_buf *out, const uint32_t was[65],
                    uint32_t function_type, uint32_t pointer_type, uint32_t zero)
{
    for (uint32_t width = 0; width <= 64; width++)
        if (s->type[width] && !was[width])
            ZS_SPIRV_EMIT(out, OP_TYPE_INT, s->type[width], width, 0);
    uint32_t wide = s->type[64], byte = s->type[8];
    for (size_t i = 0; i < s->literals.count; i++) {
        const struct literal *l = &s->literals.items[i];
        ZS_SPIRV_EMIT(out, OP_CONSTANT, wide, l->id, (uint32_t)l->value,
                      (uint32_t)(l->value >> 32));
    }
    if (!s->check)
        return;
    ZS_SPIRV_EMIT(out, OP_CONSTANT, byte, zero, 0);
    ZS_SPIRV_EMIT(out, OP_TYPE_POINTER, pointer_type, STORAGE_CROSS_WORKGROUP, byte);
    ZS_SPIRV_EMIT(out, OP_TYPE_FUNCTION, function_type, s->type_void, wide, wide, wide);
}

static bool is_type(const struct bounds *s, uint32_t id)
{
    uint32_t at = s->defs.ids[id].at, opcode = at ? word(s, at) & 0xffff : 0;
    return opcode >= OP_TYPE_VOID && opcode <= OP_TYPE_FUNCTION;
}

static void write_functions(struct bounds *s, size_t at, const struct passed *passed)
{
    for (uint32_t length; at < s->count; at += length) {
        length = word(s, at) >> 16;
        /* a result has the type that stands in front of it */
        if (length > 2 && is_type(s, number_at(s, at + 1)))
            id_at(s, at + 2)->type = number_at(s, at + 1);
        if ((word(s, at) & 0xffff) == OP_FUNCTION)
            find_choices(s, at, passed);
        if ((word(s, at) & 0xffff) == OP_FUNCTION_PARAMETER && length == 3)
            follow_parameter(s, number_at(s, at + 2), passed);
        before(s, at, length);
        zs_buf_append(&s->functions, s->defs.words + 4 * at, 4 * (size_t)length);
        after(s, at, length);
    }
}

static size_t first_function(const struct bounds *s)
{
    size_t at = SPIRV_HEADER_WORDS;
    while (at < s->count && (word(s, at) & 0xffff) != OP_FUNCTION)
        at += word(s, at) >> 16;
    return at;
}

/* Each time with what the calls said the last time, as if it were the first. */
static void write_often(struct bounds *s, size_t functions)
{
    size_t sites = s->sites->count, size_B = s->defs.bound * sizeof(*s->passed);
    struct passed *known = calloc(1, size_B);
    uint32_t types[65], next = s->next;
    memcpy(types, s->type, sizeof(types));
    s->passed = calloc(1, size_B);
    s->chosen = calloc(s->defs.bound, sizeof(*s->chosen));
    if (!known || !s->passed || !s->chosen)
        s->error = -ENOMEM;
    for (int i = 0; i <= (s->has_pointers ? 0 : CALLS_DEEP) && !s->error; i++) {
        memcpy(s->type, types, sizeof(types));
        s->next = next;
        s->check = 0;
        s->sites->count = sites;
        s->literals.count = 0;
        zs_buf_fini(&s->functions);
        s->functions = (struct zs_buf){0};
        memset(s->passed, 0, size_B);
        memset(s->chosen, 0, s->defs.bound * sizeof(*s->chosen));
        write_functions(s, functions, known);
        struct passed *swapped = known;
        known = s->passed;
        s->passed = swapped;
    }
    free(known);
    free(s->passed);
    free(s->chosen);
}

static void rewrite(struct bounds *s, struct zs_buf *out)
{
    uint32_t was[65];
    for (size_t at = SPIRV_HEADER_WORDS; at < s->count; at += word(s, at) >> 16)
        take(s, at, word(s, at) >> 16);
    memcpy(was, s->type, sizeof(was));
    if (!s->is_physical64 || !s->type_void)
        return;
    size_t functions = first_function(s);
    for (uint32_t i = 1; i < s->defs.bound; i++)
        if (s->defs.ids[i].at && s->defs.ids[i].at < functions) {
            uint32_t at = s->defs.ids[i].at, opcode = word(s, at) & 0xffff;
            if (opcode == OP_CONSTANT || opcode == OP_CONSTANT_NULL)
                s->ids[i].type = number_at(s, at + 1);
            take_variable(s, i);
        }
    write_often(s, functions);
    if (!s->check)
        return;
    uint32_t has_bool = s->type_bool, ids = s->next;
    s->next += 3;
    s->type_bool = has_bool ? has_bool : s->next++;
    type_of_width(s, 8);
    write_check(s, ids, ids + 1, ids + 2);
    zs_buf_append(out, s->defs.words, 4 * functions);
    if (!has_bool)
        ZS_SPIRV_EMIT(out, OP_TYPE_BOOL, s->type_bool);
    declare(s, out, was, ids, ids + 1, ids + 2);
    zs_buf_append(out, s->functions.data, s->functions.size_B);
    for (unsigned i = 0; i < 4 && !out->error; i++)
        out->data[12 + i] = (uint8_t)(s->next >> (8 * i));
}

int zs_spirv_compare_bounds(struct zs_span spirv, bool is_whole, struct zs_bounds_sites *sites,
                            struct zs_buf *ret_spirv)
{
    struct bounds s = {.count = spirv.size_B / 4, .has_pointers = !is_whole, .sites = sites};
    uint32_t bound = zs_spirv_word(spirv.data, 3);
    if (!bound || bound > SPIRV_IDS_MAX)
        return 0;
    s.ids = calloc(bound, sizeof(*s.ids));
    struct zs_spirv_def *ids = calloc(bound, sizeof(*ids));
    s.defs = (struct zs_spirv_defs){.words = spirv.data, .bound = bound, .ids = ids};
    s.next = bound;
    if (s.ids && ids)
        rewrite(&s, ret_spirv);
    else
        s.error = -ENOMEM;
    free(s.ids);
    free(ids);
    free(s.literals.items);
    int error = s.error ? s.error : s.functions.error ? s.functions.error : ret_spirv->error;
    zs_buf_fini(&s.functions);
    return error;
}
