/* SPDX-License-Identifier: MIT */
/*
 * Asynchronous copies of a group made visible, for checks: the compiler makes loops of them, of
 * which nobody sees that a work-item left one out or copies something else. In front of each, and
 * of each wait for events, work-items say what they are about to do:
 *
 *                                      %hash = ... of %to, %from, %count, %stride
 *                                      OpStore at what no memory has: number, hash
 *     %e = OpGroupAsyncCopy ...        ... as it was
 *
 * gpu/copies.c compares what they said. The module was checked by zs_spirv_specialize(): lengths
 * are right.
 */
#include "driver/module/compile.h"

#include "driver/module/spirv_words.h"

#include <errno.h>

enum { PHYSICAL64 = 2, MARKS_MAX = ZS_GPU_MARK_WAITS };

/* One id each, where it is needed. */
enum constant { FACTOR, UPPER, HASHES, ZERO, CONSTANTS };

struct marks {
    const uint8_t *words;
    size_t count;
    uint32_t next; /* id */
    uint32_t wide, byte, pointer;
    uint32_t constants[CONSTANTS];
    uint32_t numbers; /* the first of the marks' ids */
    uint32_t mark_count;
    uint32_t is_wait[MARKS_MAX / 32];
    bool has_wide, has_byte, is_physical64;
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

static void take(struct marks *s, size_t at)
{
    if (word(s, at) == (3u << 16 | OP_MEMORY_MODEL))
        s->is_physical64 = word(s, at + 1) == PHYSICAL64;
    if (word(s, at) == (4u << 16 | OP_TYPE_INT) && word(s, at + 2) == 64) {
        s->wide = word(s, at + 1);
        s->has_wide = true;
    }
    if (word(s, at) == (4u << 16 | OP_TYPE_INT) && word(s, at + 2) == 8) {
        s->byte = word(s, at + 1);
        s->has_byte = true;
    }
    if ((is_copy(s, at) || is_wait(s, at)) && s->mark_count < MARKS_MAX) {
        s->is_wait[s->mark_count / 32] |= (uint32_t)is_wait(s, at) << s->mark_count % 32;
        s->mark_count++;
    }
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
    declare_number(s, s->constants[FACTOR], UINT64_C(0x9e3779b97f4a7c15));
    declare_number(s, s->constants[UPPER], 40);
    declare_number(s, s->constants[HASHES], ZS_GPU_MARK_HASHES - 1);
    for (uint32_t i = 0; i < s->mark_count; i++) {
        uint64_t number = i | (s->is_wait[i / 32] >> i % 32 & 1 ? ZS_GPU_MARK_WAITS : 0);
        declare_number(s, s->numbers + i, (uint64_t)ZS_GPU_MARK_TAG << 48 | number << 32);
    }
}

static uint32_t emit(struct marks *s, uint32_t opcode, uint32_t a, uint32_t b)
{
    ZS_SPIRV_EMIT(s->out, opcode, s->wide, s->next, a, b);
    return s->next++;
}

/* Of operands of the copy; those of its pointers are addresses first. */
static uint32_t hash_of(struct marks *s, size_t at)
{
    uint32_t hash = 0;
    for (size_t i = 4; i < 8; i++) {
        uint32_t value = word(s, at + i);
        if (i < 6) {
            ZS_SPIRV_EMIT(s->out, OP_CONVERT_PTR_TO_U, s->wide, s->next, value);
            value = s->next++;
        }
        hash = hash ? emit(s, OP_I_ADD, hash, value) : value;
        hash = emit(s, OP_I_MUL, hash, s->constants[FACTOR]);
    }
    return emit(s, OP_SHIFT_RIGHT_LOGICAL, hash, s->constants[UPPER]); /* its good bits */
}

static void put_mark(struct marks *s, size_t at, uint32_t number)
{
    uint32_t where = s->numbers + number;
    if (is_copy(s, at)) {
        uint32_t hash = emit(s, OP_BITWISE_AND, hash_of(s, at), s->constants[HASHES]);
        where = emit(s, OP_BITWISE_OR, hash, where);
    }
    ZS_SPIRV_EMIT(s->out, OP_CONVERT_U_TO_PTR, s->pointer, s->next, where);
    ZS_SPIRV_EMIT(s->out, OP_STORE, s->next++, s->constants[ZERO], 3, 1); /* volatile, aligned */
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
        if (is_declared && (is_copy(s, at) || is_wait(s, at)) && number < s->mark_count)
            put_mark(s, at, number++);
        zs_buf_append(s->out, s->words + 4 * at, 4 * length);
    }
    for (unsigned i = 0; i < 4 && !s->out->error; i++)
        s->out->data[12 + i] = (uint8_t)(s->next >> (8 * i));
}

int zs_spirv_mark_copies(struct zs_span spirv, struct zs_buf *ret_spirv)
{
    struct marks s = {.words = spirv.data,
                      .count = spirv.size_B / 4,
                      .next = zs_spirv_word(spirv.data, 3),
                      .out = ret_spirv};
    if (!s.next || s.next > SPIRV_IDS_MAX)
        return 0;
    for (size_t at = SPIRV_HEADER_WORDS; at < s.count; at += word(&s, at) >> 16)
        take(&s, at);
    if (!s.mark_count || !s.is_physical64)
        return 0;
    for (uint32_t i = 0; i < CONSTANTS; i++)
        s.constants[i] = s.next++;
    s.pointer = s.next++;
    s.wide = s.has_wide ? s.wide : s.next++;
    s.byte = s.has_byte ? s.byte : s.next++;
    s.numbers = s.next;
    s.next += s.mark_count;
    rewrite(&s);
    return ret_spirv->error;
}
