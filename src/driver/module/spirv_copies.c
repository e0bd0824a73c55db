/* SPDX-License-Identifier: MIT */
/*
 * What work-items do together made visible, for checks: the compiler makes loops of asynchronous
 * copies, and moves between registers of functions of groups and sub-groups, of which nobody sees
 * that a work-item left one out or copies something else. In front of each, and of each wait for
 * events, work-items say what they are about to do:
 *
 *                                      %hash = ... of %to, %from, %count, %stride
 *                                      OpStore at what no memory has: number, hash
 *     %e = OpGroupAsyncCopy ...        ... as it was
 *
 * gpu/together.c compares what they said. Of a wait a hash is made of how many events it takes and
 * where in its variable they begin; of functions (OpGroupAll to OpGroupSMax) of the index that a
 * group's broadcast takes, where it is one number; functions that may be called by some of a
 * sub-group (OpGroupNonUniform...) are not marked.
 *
 * Which work-item copies an element is not specified, and the compiler gives each the element of
 * its own number, which it often wrote or reads itself: nobody sees that they race. For the check
 * of races the first element is copied apart, so that all others are their neighbour's:
 *
 *                                      %r = 1, or 0 where %count is
 *     %e = OpGroupAsyncCopy            %f = OpGroupAsyncCopy %to + %r, %from + %r, %count - %r, %d
 *              %to %from %count %d     %e = OpGroupAsyncCopy %to, %from, %r, %f
 *
 * Before Xe-HPG barriers order local memory without a fence. Those of SPIR-V that ask for none are
 * marked for the check of races, too (ZS_GPU_MARK_BARRIER).
 *
 * The module was checked by zs_spirv_specialize(): lengths are right.
 */
#include "driver/module/compile.h"

#include "driver/module/spirv_words.h"

#include <errno.h>
#include <stdlib.h>

enum { PHYSICAL64 = 2, MARKS_MAX = 1 << ZS_GPU_MARK_KIND_BIT, NO_MARK = 0xff };
enum { SCOPE_GROUP = 2, SCOPE_SUB_GROUP = 3, SCOPES = 7, WIDE = UINT32_MAX };
enum { SEMANTICS_WORKGROUP = 0x100, IS_LOCAL = 0x80 };

/* One id each, where it is needed. */
enum constant { FACTOR, UPPER, HASHES, ZERO, NONE, ONE, BARRIER, CONSTANTS };

struct marks {
    const uint8_t *words;
    size_t count;
    uint32_t next; /* id */
    uint32_t wide, narrow, byte, pointer, boolean;
    uint32_t *types; /* of results, by id; of types that are pointers: 1 + their storage, or WIDE */
    uint32_t *variables; /* of functions: of pointers into one, by id */
    uint8_t *scopes;     /* of constants that may be one, by id; or semantics: IS_LOCAL of them */
    uint32_t bound;
    uint32_t constants[CONSTANTS];
    uint32_t numbers; /* the first of the marks' ids */
    uint32_t mark_count;
    uint8_t kinds[MARKS_MAX]; /* enum zs_gpu_mark */
    bool has_wide, has_byte, has_boolean, is_physical64, marks, turns, has_bare;
    struct zs_buf *out;
};

static uint32_t word(const struct marks *s, size_t at)
{
    return zs_spirv_word(s->words, at);
}

static bool is_copy(const struct marks *s, size_t at)
{
    return word(s, at) == (9u << 16 | OP_GROUP_ASYNC_COPY);
}

static bool is_wait(const struct marks *s, size_t at)
{
    return word(s, at) == (4u << 16 | OP_GROUP_WAIT_EVENTS);
}

static bool is_bare_barrier(const struct marks *s, size_t at)
{
    if (!s->turns || word(s, at) != (4u << 16 | OP_CONTROL_BARRIER) ||
        word(s, at + 1) >= s->bound || word(s, at + 3) >= s->bound)
        return false;
    uint8_t semantics = s->scopes[word(s, at + 3)];
    return s->scopes[word(s, at + 1)] == SCOPE_GROUP && semantics && !(semantics & IS_LOCAL);
}

static uint8_t kind_of(const struct marks *s, size_t at)
{
    uint32_t opcode = word(s, at) & 0xffff, length = word(s, at) >> 16;
    if (is_copy(s, at))
        return ZS_GPU_MARK_COPY;
    if (is_wait(s, at))
        return ZS_GPU_MARK_WAIT;
    if (opcode < OP_GROUP_ALL || opcode > OP_GROUP_S_MAX || length < 5 ||
        word(s, at + 3) >= s->bound)
        return NO_MARK;
    uint8_t scope = s->scopes[word(s, at + 3)];
    return scope == SCOPE_GROUP       ? ZS_GPU_MARK_GROUP
           : scope == SCOPE_SUB_GROUP ? ZS_GPU_MARK_SUB_GROUP
                                      : NO_MARK;
}

/* Of those by id. */
static uint32_t *of_id_at(const struct marks *s, uint32_t *ids, size_t at)
{
    uint32_t id = word(s, at);
    return &ids[id < s->bound ? id : 0];
}

static uint32_t *type_at(const struct marks *s, size_t at)
{
    return of_id_at(s, s->types, at);
}

static void take_pointer(const struct marks *s, size_t at)
{
    uint32_t opcode = word(s, at) & 0xffff, length = word(s, at) >> 16;
    if (opcode == OP_VARIABLE && length > 3 && word(s, at + 3) == STORAGE_FUNCTION)
        *of_id_at(s, s->variables, at + 2) = word(s, at + 2);
    else if (length > 3 && (opcode == OP_BITCAST || opcode == OP_PTR_CAST_TO_GENERIC ||
                            (opcode >= OP_ACCESS_CHAIN && opcode <= OP_IN_BOUNDS_PTR_ACCESS_CHAIN)))
        *of_id_at(s, s->variables, at + 2) = *of_id_at(s, s->variables, at + 3);
}

/* Who has a result has its type in front of it; of others it may look so, of ids seen before. */
static void take_result(const struct marks *s, size_t at)
{
    uint32_t type = word(s, at) >> 16 > 2 ? word(s, at + 1) : 0;
    if (type && type < s->bound && s->types[type] && !*type_at(s, at + 2))
        *type_at(s, at + 2) = type;
}

static void take(struct marks *s, size_t at)
{
    uint32_t opcode = word(s, at) & 0xffff;
    if (word(s, at) == (4u << 16 | OP_TYPE_POINTER))
        *type_at(s, at + 1) = 1 + word(s, at + 2);
    else if (opcode >= OP_VARIABLE || opcode == OP_FUNCTION_PARAMETER)
        take_result(s, at);
    take_pointer(s, at);
    if (word(s, at) == (2u << 16 | OP_TYPE_BOOL)) {
        s->boolean = word(s, at + 1);
        s->has_boolean = true;
    }
    if (word(s, at) == (3u << 16 | OP_MEMORY_MODEL))
        s->is_physical64 = word(s, at + 1) == PHYSICAL64;
    if (word(s, at) == (4u << 16 | OP_TYPE_INT) && word(s, at + 2) == 64) {
        s->wide = word(s, at + 1);
        s->has_wide = true;
        *type_at(s, at + 1) = WIDE;
    }
    if (word(s, at) == (4u << 16 | OP_CONSTANT) && word(s, at + 2) < s->bound)
        s->scopes[word(s, at + 2)] =
            (uint8_t)(ZS_MIN(word(s, at + 3), (uint32_t)SCOPES) |
                      (word(s, at + 3) & SEMANTICS_WORKGROUP ? IS_LOCAL : 0));
    if (word(s, at) == (4u << 16 | OP_TYPE_INT) && word(s, at + 2) == 32) {
        s->narrow = word(s, at + 1);
        *type_at(s, at + 1) = WIDE;
    }
    if (word(s, at) == (4u << 16 | OP_TYPE_INT) && word(s, at + 2) == 8) {
        s->byte = word(s, at + 1);
        s->has_byte = true;
    }
    s->has_bare |= is_bare_barrier(s, at);
    uint8_t kind = kind_of(s, at);
    if (kind != NO_MARK && s->mark_count < MARKS_MAX)
        s->kinds[s->mark_count++] = kind;
}

static void declare_number(struct marks *s, uint32_t id, uint64_t value)
{
    ZS_SPIRV_EMIT(s->out, OP_CONSTANT, s->wide, id, (uint32_t)value, (uint32_t)(value >> 32));
}

static void declare(struct marks *s)
{
    if (!s->has_wide)
        ZS_SPIRV_EMIT(s->out, OP_TYPE_INT, s->wide, 64, 0);
    if (!s->has_byte)
        ZS_SPIRV_EMIT(s->out, OP_TYPE_INT, s->byte, 8, 0);
    ZS_SPIRV_EMIT(s->out, OP_TYPE_POINTER, s->pointer, STORAGE_CROSS_WORKGROUP, s->byte);
    ZS_SPIRV_EMIT(s->out, OP_CONSTANT, s->byte, s->constants[ZERO], 0);
    if (!s->has_boolean)
        ZS_SPIRV_EMIT(s->out, OP_TYPE_BOOL, s->boolean);
    declare_number(s, s->constants[NONE], 0);
    declare_number(s, s->constants[ONE], 1);
    declare_number(s, s->constants[FACTOR], UINT64_C(0x9e3779b97f4a7c15));
    declare_number(s, s->constants[UPPER], 40);
    declare_number(s, s->constants[HASHES], ZS_GPU_MARK_HASHES - 1);
    declare_number(s, s->constants[BARRIER], (uint64_t)ZS_GPU_MARK_TAG << 48 | ZS_GPU_MARK_BARRIER);
    for (uint32_t i = 0; i < s->mark_count; i++) {
        uint64_t number = i | (uint32_t)s->kinds[i] << ZS_GPU_MARK_KIND_BIT;
        declare_number(s, s->numbers + i, (uint64_t)ZS_GPU_MARK_TAG << 48 | number << 32);
    }
}

static uint32_t emit(struct marks *s, uint32_t opcode, uint32_t a, uint32_t b)
{
    ZS_SPIRV_EMIT(s->out, opcode, s->wide, s->next, a, b);
    return s->next++;
}

static uint32_t emit_from(struct marks *s, uint32_t opcode, uint32_t value)
{
    ZS_SPIRV_EMIT(s->out, opcode, s->wide, s->next, value);
    return s->next++;
}

/* A number made of operand i: those of a copy's pointers are addresses, a wait's pointer is how far
 * it is in its variable. */
static uint32_t number_of(struct marks *s, size_t at, size_t i)
{
    uint32_t operand = word(s, at + i);
    if (is_copy(s, at))
        return i < 6 ? emit_from(s, OP_CONVERT_PTR_TO_U, operand) : operand;
    if (!is_wait(s, at))
        return operand;
    if (i == 2)
        return emit_from(s, OP_U_CONVERT, operand);
    uint32_t place = emit_from(s, OP_CONVERT_PTR_TO_U, operand);
    return emit(s, OP_I_SUB, place,
                emit_from(s, OP_CONVERT_PTR_TO_U, *of_id_at(s, s->variables, at + i)));
}

/* Of operands [first, end). */
static uint32_t hash_of(struct marks *s, size_t at, size_t first, size_t end)
{
    uint32_t hash = 0;
    for (size_t i = first; i < end; i++) {
        uint32_t value = number_of(s, at, i);
        hash = hash ? emit(s, OP_I_ADD, hash, value) : value;
        hash = emit(s, OP_I_MUL, hash, s->constants[FACTOR]);
    }
    hash = emit(s, OP_SHIFT_RIGHT_LOGICAL, hash, s->constants[UPPER]); /* its good bits */
    return emit(s, OP_BITWISE_AND, hash, s->constants[HASHES]);
}

static void put_store(struct marks *s, uint32_t where)
{
    ZS_SPIRV_EMIT(s->out, OP_CONVERT_U_TO_PTR, s->pointer, s->next, where);
    ZS_SPIRV_EMIT(s->out, OP_STORE, s->next++, s->constants[ZERO], 3, 1); /* volatile, aligned */
}

static void put_mark(struct marks *s, size_t at, uint32_t number)
{
    uint32_t where = s->numbers + number;
    /* of a wait: how many events, unless that is a constant, and where */
    uint32_t first = s->narrow && *type_at(s, at + 2) == s->narrow ? 2 : 3,
             end = *of_id_at(s, s->variables, at + 3) ? 4 : 3;
    bool has_index = word(s, at) == (6u << 16 | OP_GROUP_BROADCAST) &&
                     s->kinds[number] == ZS_GPU_MARK_GROUP && s->has_wide &&
                     *type_at(s, at + 5) == s->wide;
    if (is_copy(s, at))
        where = emit(s, OP_BITWISE_OR, hash_of(s, at, 4, 8), where);
    else if (is_wait(s, at) && first < end)
        where = emit(s, OP_BITWISE_OR, hash_of(s, at, first, end), where);
    else if (has_index)
        where = emit(s, OP_BITWISE_OR, hash_of(s, at, 5, 6), where);
    put_store(s, where);
}

/* Pointer + elements, in global memory times the copy's stride. 0: what it points to is unknown. */
static uint32_t moved(struct marks *s, size_t at, uint32_t operand, uint32_t by)
{
    uint32_t type = *type_at(s, at + operand);
    uint32_t storage = type && type < s->bound ? s->types[type] : 0;
    if (storage != 1 + STORAGE_CROSS_WORKGROUP && storage != 1 + STORAGE_WORKGROUP)
        return 0;
    if (storage == 1 + STORAGE_CROSS_WORKGROUP)
        by = emit(s, OP_I_MUL, by, word(s, at + 7));
    uint32_t id = s->next++;
    ZS_SPIRV_EMIT(s->out, OP_IN_BOUNDS_PTR_ACCESS_CHAIN, type, id, word(s, at + operand), by);
    return id;
}

/* In place of a copy. false: it has to stay. */
static bool put_turned(struct marks *s, size_t at)
{
    uint32_t count = word(s, at + 6), some = s->next++, first = s->next++;
    ZS_SPIRV_EMIT(s->out, OP_U_GREATER_THAN, s->boolean, some, count, s->constants[NONE]);
    ZS_SPIRV_EMIT(s->out, OP_SELECT, s->wide, first, some, s->constants[ONE], s->constants[NONE]);
    uint32_t to = moved(s, at, 4, first), from = moved(s, at, 5, first);
    if (!to || !from)
        return false;
    uint32_t rest = emit(s, OP_I_SUB, count, first), event = s->next++;
    ZS_SPIRV_EMIT(s->out, OP_GROUP_ASYNC_COPY, word(s, at + 1), event, word(s, at + 3), to, from,
                  rest, word(s, at + 7), word(s, at + 8));
    ZS_SPIRV_EMIT(s->out, OP_GROUP_ASYNC_COPY, word(s, at + 1), word(s, at + 2), word(s, at + 3),
                  word(s, at + 4), word(s, at + 5), first, word(s, at + 7), event);
    return true;
}

static void rewrite(struct marks *s)
{
    uint32_t number = 0;
    bool is_declared = false;
    zs_buf_append(s->out, s->words, 4 * (size_t)SPIRV_HEADER_WORDS);
    for (size_t at = SPIRV_HEADER_WORDS, length; at < s->count; at += length) {
        length = word(s, at) >> 16;
        if ((word(s, at) & 0xffff) == OP_FUNCTION && !is_declared) {
            declare(s);
            is_declared = true;
        }
        if (s->marks && is_declared && number < s->mark_count && kind_of(s, at) != NO_MARK)
            put_mark(s, at, number++);
        if (is_declared && is_bare_barrier(s, at))
            put_store(s, s->constants[BARRIER]);
        if (!s->turns || !is_declared || !is_copy(s, at) || !put_turned(s, at))
            zs_buf_append(s->out, s->words + 4 * at, 4 * length);
    }
    for (unsigned i = 0; i < 4 && !s->out->error; i++)
        s->out->data[12 + i] = (uint8_t)(s->next >> (8 * i));
}

int zs_spirv_mark_copies(struct zs_span spirv, bool marks, bool turns, struct zs_buf *ret_spirv)
{
    struct marks s = {.words = spirv.data,
                      .count = spirv.size_B / 4,
                      .next = zs_spirv_word(spirv.data, 3),
                      .marks = marks,
                      .turns = turns,
                      .out = ret_spirv};
    if (!s.next || s.next > SPIRV_IDS_MAX)
        return 0;
    s.bound = s.next;
    s.types = calloc(s.bound, sizeof(*s.types) + sizeof(*s.variables) + sizeof(*s.scopes));
    if (!s.types)
        return -ENOMEM;
    s.variables = s.types + s.bound;
    s.scopes = (uint8_t *)(s.variables + s.bound);
    for (size_t at = SPIRV_HEADER_WORDS; at < s.count; at += word(&s, at) >> 16)
        take(&s, at);
    if ((!s.mark_count && !s.has_bare) || !s.is_physical64) {
        free(s.types);
        return 0;
    }
    for (uint32_t i = 0; i < CONSTANTS; i++)
        s.constants[i] = s.next++;
    s.pointer = s.next++;
    s.wide = s.has_wide ? s.wide : s.next++;
    s.byte = s.has_byte ? s.byte : s.next++;
    s.boolean = s.has_boolean ? s.boolean : s.next++;
    s.numbers = s.next;
    s.next += s.mark_count;
    rewrite(&s);
    free(s.types);
    return ret_spirv->error;
}
