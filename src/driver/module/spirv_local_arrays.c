/* SPDX-License-Identifier: MIT */
/*
 * Arrays in local memory moved apart, for checks: behind each there are bytes that belong to
 * nothing, and whoever touches them ran over the end of an array.
 *
 * The compiler places variables as it likes. So those that one kernel uses become parts of a single
 * one, an array of words, whose layout is ours:
 *
 *     %a = OpVariable %pointer Workgroup        %all = OpVariable %words Workgroup
 *     ...                                       ...
 *     %k = OpFunction                           %k = OpFunction
 *     %l = OpLabel                              %l = OpLabel
 *                                               %p = OpInBoundsAccessChain %word %all %offset
 *                                               %a = OpBitcast %pointer %p
 *
 * What refers to %a stays as it is. Whether the kernel has this variable and no other one, at 0, is
 * seen from the size of its local memory (module/kernel.c). What is not understood stays as it is.
 * The module was checked by zs_spirv_specialize(): lengths are right.
 */
#include "driver/module/compile.h"

#include "driver/module/spirv_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MODEL_KERNEL = 6,
    GAP_B = 256,
    PLACE_B = 128, /* the greatest alignment there is */
    TOTAL_MAX_B = 32 << 10,
    MANY = -1, /* of functions */
};

struct id {
    int32_t within; /* local variable: the function that uses it; function: the one that calls it */
    uint32_t name;  /* OpName */
    uint32_t entry; /* OpEntryPoint */
    uint32_t all;   /* function: its one variable */
    uint32_t total_B;
    uint32_t offset_B; /* local variable */
    uint32_t first;    /* of the new ids */
    bool is_local, is_linked, moves;
};

struct apart {
    const uint8_t *words;
    size_t count, before;           /* arrays of other modules */
    uint32_t bound, word_type, std; /* OpenCL's functions */
    struct id *ids;
    struct zs_spirv_defs defs;
    struct zs_buf *out;
    struct zs_local_arrays *arrays;
};

static uint32_t word(const struct apart *s, size_t at)
{
    return zs_spirv_word(s->words, at);
}

/* 0 is no id. */
static uint32_t number_at(const struct apart *s, size_t at)
{
    uint32_t id = word(s, at);
    return id < s->bound ? id : 0;
}

static struct id *id_at(const struct apart *s, size_t at)
{
    return &s->ids[number_at(s, at)];
}

/* ---- What there is -----------------------------------------------------------------------------
 */

static void take_function(struct apart *s, size_t at, uint32_t length, uint32_t function)
{
    uint32_t opcode = word(s, at) & 0xffff;
    if (opcode == OP_LINE || (opcode == OP_EXT_INST && length > 3 && word(s, at + 3) != s->std))
        return; /* most of it are numbers of lines, and no ids */
    for (size_t i = at + 1; i < at + length; i++) {
        struct id *id = id_at(s, i);
        if (id->is_local)
            id->within = !id->within || id->within == (int32_t)function ? (int32_t)function : MANY;
    }
    if (opcode == OP_FUNCTION_CALL && length > 3) {
        struct id *callee = id_at(s, at + 3);
        callee->within = callee->within ? MANY : (int32_t)function;
    }
}

/* Beside functions: what refers to a variable there has to find it there. */
static void refuse_uses(struct apart *s, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        id_at(s, i)->within = MANY;
}

static void take_global(struct apart *s, size_t at, uint32_t length)
{
    uint32_t opcode = word(s, at) & 0xffff;
    if (opcode == OP_EXT_INST_IMPORT && length == 5 &&
        !memcmp(s->words + 4 * (at + 2), "OpenCL.std", 11)) {
        s->std = word(s, at + 1);
    } else if (opcode == OP_NAME) {
        id_at(s, at + 1)->name = (uint32_t)at;
    } else if (opcode == OP_ENTRY_POINT && length > 3 && word(s, at + 1) == MODEL_KERNEL) {
        id_at(s, at + 2)->entry = (uint32_t)at;
    } else if (opcode == OP_DECORATE && length > 2 && word(s, at + 2) == DECORATION_C_PACKED) {
        s->defs.ids[number_at(s, at + 1)].is_packed = true;
    } else if (opcode == OP_DECORATE && length > 3 &&
               word(s, at + 2) == DECORATION_LINKAGE_ATTRIBUTES) {
        id_at(s, at + 1)->is_linked = true; /* others may name it */
    } else if (opcode >= OP_TYPE_INT && opcode <= OP_TYPE_POINTER && length > 2) {
        s->defs.ids[number_at(s, at + 1)].at = (uint32_t)at;
        if (opcode == OP_TYPE_INT && length == 4 && word(s, at + 2) == 32 && !word(s, at + 3))
            s->word_type = s->word_type ? s->word_type : word(s, at + 1);
    } else if (opcode == OP_CONSTANT && (length == 4 || (length == 5 && !word(s, at + 4)))) {
        s->defs.ids[number_at(s, at + 2)].at = (uint32_t)at;
    } else if (opcode == OP_VARIABLE && length > 3 && word(s, at + 3) == STORAGE_WORKGROUP) {
        s->defs.ids[number_at(s, at + 2)].at = (uint32_t)at;
        id_at(s, at + 2)->is_local = s->word_type != 0; /* it stands in front */
    } else if (opcode == OP_CONSTANT_COMPOSITE || opcode == OP_SPEC_CONSTANT_OP ||
               opcode == OP_VARIABLE) {
        refuse_uses(s, at + 3, at + length);
    }
}

static void take_all(struct apart *s)
{
    uint32_t function = 0;
    for (size_t at = SPIRV_HEADER_WORDS, length; at < s->count; at += length) {
        uint32_t opcode = word(s, at) & 0xffff;
        length = word(s, at) >> 16;
        if (opcode == OP_FUNCTION)
            function = number_at(s, at + 2);
        else if (opcode == OP_FUNCTION_END)
            function = 0;
        else if (function)
            take_function(s, at, (uint32_t)length, function);
        else
            take_global(s, at, (uint32_t)length);
    }
}

/* Of a pointer's type: what it points to; 0: not known. */
static uint64_t size_of_variable(const struct apart *s, uint32_t variable)
{
    uint32_t at = s->defs.ids[number_at(s, s->defs.ids[variable].at + 1)].at;
    bool known = at && word(s, at) == (4u << 16 | OP_TYPE_POINTER);
    return known ? zs_spirv_size_B(&s->defs, number_at(s, at + 3)) : 0;
}

/* ---- Where it goes -----------------------------------------------------------------------------
 */

/* The kernel that a function is, or that alone calls it; 0: there is none. */
static uint32_t entry_of(const struct apart *s, uint32_t function)
{
    const struct id *id = &s->ids[function];
    if (!id->entry && id->within > 0)
        id = &s->ids[id->within];
    return id->entry;
}

static void put_name(const struct apart *s, uint32_t at, const char *otherwise, char *ret,
                     size_t size_B, uint32_t first)
{
    const char *name = at ? (const char *)s->words + 4 * (size_t)(at + first) : otherwise;
    size_t length = at ? 4 * (size_t)((word(s, at) >> 16) - first) : strlen(otherwise);
    snprintf(ret, size_B, "%.*s", (int)strnlen(name, length), name);
}

static void place(struct apart *s, uint32_t variable)
{
    struct id *id = &s->ids[variable];
    uint64_t size_B =
        id->is_local && !id->is_linked && id->within > 0 ? size_of_variable(s, variable) : 0;
    uint32_t entry = size_B ? entry_of(s, (uint32_t)id->within) : 0;
    if (!entry || size_B > TOTAL_MAX_B)
        return;
    struct id *function = &s->ids[id->within];
    uint64_t end_B = function->total_B + size_B;
    if (end_B + GAP_B + PLACE_B > TOTAL_MAX_B)
        return;
    struct zs_local_array array = {.array = {function->total_B, (uint32_t)size_B, ""},
                                   .function = (uint32_t)id->within,
                                   .variable = variable};
    put_name(s, entry, "", array.kernel, sizeof(array.kernel), 3);
    put_name(s, id->name, "a local array", array.array.name, sizeof(array.array.name), 2);
    if (zs_local_arrays_add(s->arrays, &array))
        return;
    id->moves = true;
    id->offset_B = function->total_B;
    function->total_B = (uint32_t)zs_align_up(end_B + GAP_B, PLACE_B);
}

/* ---- Writing -----------------------------------------------------------------------------------
 */

#define EMIT(s, ...) ZS_SPIRV_EMIT((s)->out, __VA_ARGS__)

static void put(struct apart *s, uint32_t value)
{
    zs_spirv_put(s->out, value);
}

/* New ids: s->bound is a pointer to a word, then come those of declare(). Returns their number. */
static uint32_t give_ids(struct apart *s)
{
    uint32_t next = s->bound + 1;
    for (uint32_t i = 1; i < s->bound; i++) {
        struct id *id = &s->ids[i];
        id->first = next;
        next += id->total_B ? 4 : id->moves ? 2 : 0;
        id->all = id->total_B ? next - 1 : 0;
    }
    return next - s->bound;
}

/* Its parts are where they are aligned if it is. */
static void decorate(struct apart *s)
{
    for (uint32_t i = 1; i < s->bound; i++) {
        if (s->ids[i].all)
            EMIT(s, OP_DECORATE, s->ids[i].all, DECORATION_ALIGNMENT, PLACE_B);
    }
}

static void declare(struct apart *s)
{
    EMIT(s, OP_TYPE_POINTER, s->bound, STORAGE_WORKGROUP, s->word_type);
    for (uint32_t i = 1; i < s->bound; i++) {
        const struct id *id = &s->ids[i];
        if (id->total_B) {
            EMIT(s, OP_CONSTANT, s->word_type, id->first, id->total_B / 4);
            EMIT(s, OP_TYPE_ARRAY, id->first + 1, s->word_type, id->first);
            EMIT(s, OP_TYPE_POINTER, id->first + 2, STORAGE_WORKGROUP, id->first + 1);
            EMIT(s, OP_VARIABLE, id->first + 2, id->all, STORAGE_WORKGROUP);
        } else if (id->moves) {
            EMIT(s, OP_CONSTANT, s->word_type, id->first, id->offset_B / 4);
        }
    }
}

static void point(struct apart *s, uint32_t function)
{
    for (size_t i = s->before; i < s->arrays->count; i++) {
        const struct zs_local_array *array = &s->arrays->at[i];
        const struct id *id = &s->ids[array->variable];
        if (array->function != function)
            continue;
        EMIT(s, OP_IN_BOUNDS_ACCESS_CHAIN, s->bound, id->first + 1, s->ids[function].all,
             id->first);
        EMIT(s, OP_BITCAST, word(s, s->defs.ids[array->variable].at + 1), array->variable,
             id->first + 1);
    }
}

static void copy(struct apart *s, size_t at, size_t length)
{
    zs_buf_append(s->out, s->words + 4 * at, 4 * length);
}

/* Of the interface no variable is left that is in a function now. */
static void copy_entry(struct apart *s, size_t at, uint32_t length)
{
    size_t begin = s->out->size_B, name = at + 3, end = at + length;
    while (name < end && word(s, name) >> 24)
        name++;
    name = ZS_MIN(name + 1, end);
    copy(s, at, name - at);
    uint32_t kept = (uint32_t)(name - at);
    for (size_t i = name; i < end; i++) {
        if (id_at(s, i)->moves)
            continue;
        put(s, word(s, i));
        kept++;
    }
    if (!s->out->error) {
        s->out->data[begin + 2] = (uint8_t)kept;
        s->out->data[begin + 3] = (uint8_t)(kept >> 8);
    }
}

/* Debug information names the variable that there is. */
static void copy_debug(struct apart *s, size_t at, uint32_t length)
{
    enum { DEBUG_GLOBAL_VARIABLE = 18, VARIABLE = 12 };
    bool names = length > VARIABLE && word(s, at + 4) == DEBUG_GLOBAL_VARIABLE &&
                 id_at(s, at + VARIABLE)->moves;
    if (!names) {
        copy(s, at, length);
        return;
    }
    copy(s, at, VARIABLE);
    put(s, s->ids[id_at(s, at + VARIABLE)->within].all);
    copy(s, at + VARIABLE + 1, length - VARIABLE - 1);
}

static void write_all(struct apart *s, uint32_t ids)
{
    uint32_t function = 0;
    bool decorated = false, declared = false, pointed = true;
    copy(s, 0, 3);
    put(s, s->bound + ids);
    copy(s, 4, 1);
    for (size_t at = SPIRV_HEADER_WORDS, length; at < s->count; at += length) {
        uint32_t opcode = word(s, at) & 0xffff;
        length = word(s, at) >> 16;
        bool is_variable = opcode == OP_VARIABLE && !function && id_at(s, at + 2)->moves;
        if (is_variable && !declared) {
            declare(s);
            declared = true;
        }
        if (opcode == OP_DECORATE && !decorated) {
            decorate(s);
            decorated = true;
        }
        if (opcode == OP_FUNCTION) {
            function = number_at(s, at + 2);
            pointed = true;
        }
        if (!pointed && opcode != OP_VARIABLE && opcode != OP_LINE && opcode != OP_NO_LINE) {
            point(s, function);
            pointed = true;
        }
        if (opcode == OP_LABEL && function && s->ids[function].all)
            pointed = s->ids[function].entry == UINT32_MAX;
        if (opcode == OP_LABEL && function)
            s->ids[function].entry = UINT32_MAX; /* its first block has begun */
        if (opcode == OP_ENTRY_POINT)
            copy_entry(s, at, (uint32_t)length);
        else if (opcode == OP_EXT_INST && !function)
            copy_debug(s, at, (uint32_t)length);
        else if (!is_variable && !(opcode == OP_DECORATE && id_at(s, at + 1)->moves))
            copy(s, at, length);
    }
}

int zs_spirv_part_locals(struct zs_span spirv, struct zs_local_arrays *arrays,
                         struct zs_buf *ret_spirv)
{
    struct apart s = {
        .words = spirv.data, .count = spirv.size_B / 4, .out = ret_spirv, .arrays = arrays};
    s.before = arrays->count;
    arrays->looked = true;
    arrays->has_sub_groups |= zs_spirv_has_sub_groups(spirv);
    s.bound = word(&s, 3);
    if (!s.bound || s.bound > SPIRV_IDS_MAX)
        return 0;
    s.ids = calloc(s.bound + 1u, sizeof(*s.ids));
    struct zs_spirv_def *ids = calloc(s.bound + 1u, sizeof(*ids));
    s.defs = (struct zs_spirv_defs){.words = s.words, .bound = s.bound, .ids = ids};
    if (!s.ids || !ids) {
        free(s.ids);
        free(ids);
        return -ENOMEM;
    }
    take_all(&s);
    for (uint32_t i = 1; i < s.bound; i++)
        place(&s, i);
    for (size_t i = s.before; i < arrays->count; i++)
        arrays->at[i].total_B = s.ids[arrays->at[i].function].total_B;
    if (arrays->count > s.before)
        write_all(&s, give_ids(&s));
    free(s.ids);
    free(ids);
    return ret_spirv->error;
}

int zs_local_arrays_add(struct zs_local_arrays *arrays, const struct zs_local_array *array)
{
    struct zs_local_array *grown = realloc(arrays->at, (arrays->count + 1) * sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    arrays->at = grown;
    arrays->at[arrays->count++] = *array;
    return 0;
}
