/* SPDX-License-Identifier: MIT */
/* Words of SPIR-V, for what rewrites modules that zs_spirv_specialize() has checked: lengths are
 * right. Numbers are those of the SPIR-V specification, section 3. */
#ifndef ZS_DRIVER_MODULE_SPIRV_WORDS_H
#define ZS_DRIVER_MODULE_SPIRV_WORDS_H

#include "base/buf.h"
#include "base/reader.h"

enum {
    SPIRV_HEADER_WORDS = 5,
    OP_UNDEF = 1,
    OP_NAME = 5,
    OP_STRING = 7,
    OP_LINE = 8,
    OP_EXT_INST_IMPORT = 11,
    OP_EXT_INST = 12,
    OP_MEMORY_MODEL = 14,
    OP_ENTRY_POINT = 15,
    OP_CAPABILITY = 17,
    OP_TYPE_VOID = 19,
    OP_TYPE_BOOL = 20,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_STRUCT = 30,
    OP_TYPE_POINTER = 32,
    OP_TYPE_FUNCTION = 33,
    OP_CONSTANT = 43,
    OP_CONSTANT_COMPOSITE = 44,
    OP_CONSTANT_NULL = 46,
    OP_SPEC_CONSTANT_OP = 52,
    OP_FUNCTION = 54,
    OP_FUNCTION_PARAMETER = 55,
    OP_FUNCTION_END = 56,
    OP_FUNCTION_CALL = 57,
    OP_VARIABLE = 59,
    OP_LOAD = 61,
    OP_STORE = 62,
    OP_COPY_MEMORY_SIZED = 64,
    OP_ACCESS_CHAIN = 65,
    OP_IN_BOUNDS_ACCESS_CHAIN = 66,
    OP_PTR_ACCESS_CHAIN = 67,
    OP_IN_BOUNDS_PTR_ACCESS_CHAIN = 70,
    OP_DECORATE = 71,
    OP_COMPOSITE_CONSTRUCT = 80,
    OP_COMPOSITE_INSERT = 82,
    OP_COPY_OBJECT = 83,
    OP_CONVERT_F_TO_U = 109,
    OP_U_CONVERT = 113,
    OP_S_CONVERT = 114,
    OP_CONVERT_PTR_TO_U = 117,
    OP_CONVERT_U_TO_PTR = 120,
    OP_PTR_CAST_TO_GENERIC = 121,
    OP_GENERIC_CAST_TO_PTR = 122,
    OP_BITCAST = 124,
    OP_I_ADD = 128,
    OP_I_SUB = 130,
    OP_I_MUL = 132,
    OP_SELECT = 169,
    OP_U_GREATER_THAN = 172,
    OP_SHIFT_RIGHT_LOGICAL = 194,
    OP_BITWISE_OR = 197,
    OP_BITWISE_AND = 199,
    OP_BIT_COUNT = 205,
    OP_CONTROL_BARRIER = 224,
    OP_ATOMIC_LOAD = 227,
    OP_ATOMIC_STORE = 228,
    OP_ATOMIC_XOR = 242,
    OP_PHI = 245,
    OP_LABEL = 248,
    OP_BRANCH = 249,
    OP_BRANCH_CONDITIONAL = 250,
    OP_RETURN = 253,
    OP_RETURN_VALUE = 254,
    OP_LIFETIME_START = 256,
    OP_GROUP_ASYNC_COPY = 259,
    OP_GROUP_WAIT_EVENTS = 260,
    OP_GROUP_ALL = 261,
    OP_GROUP_BROADCAST = 263,
    OP_GROUP_S_MAX = 271,
    OP_NO_LINE = 317,
    DECORATION_C_PACKED = 10,
    DECORATION_LINKAGE_ATTRIBUTES = 41,
    DECORATION_ALIGNMENT = 44,
    STORAGE_UNIFORM_CONSTANT = 0,
    STORAGE_WORKGROUP = 4,
    STORAGE_CROSS_WORKGROUP = 5,
    STORAGE_FUNCTION = 7,
    SPIRV_IDS_MAX = 1 << 20,
};

/* By id. */
struct zs_spirv_def {
    uint32_t at; /* type, constant, variable: its instruction; 0: something else */
    bool is_packed;
};

struct zs_spirv_defs {
    const uint8_t *words;
    uint32_t bound;
    struct zs_spirv_def *ids; /* bound of them; 0 is no id */
};

/* Bytes of memory that a type takes; 0: not known. */
uint64_t zs_spirv_size_B(const struct zs_spirv_defs *defs, uint32_t type);
/* Where a member of a struct begins. */
bool zs_spirv_member_B(const struct zs_spirv_defs *defs, uint32_t type, uint32_t member,
                       uint64_t *ret_offset_B);
/* The value of an OpConstant of an integer. */
bool zs_spirv_constant(const struct zs_spirv_defs *defs, uint32_t id, int64_t *ret_value);

static inline uint32_t zs_spirv_word(const uint8_t *words, size_t at)
{
    return zs_load_u32(words + 4 * at);
}

static inline void zs_spirv_put(struct zs_buf *out, uint32_t value)
{
    uint8_t bytes[4];
    for (unsigned i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    zs_buf_append(out, bytes, sizeof(bytes));
}

static inline void zs_spirv_emit(struct zs_buf *out, uint32_t opcode, uint32_t count,
                                 const uint32_t *operands)
{
    zs_spirv_put(out, (count + 1) << 16 | opcode);
    for (uint32_t i = 0; i < count; i++)
        zs_spirv_put(out, operands[i]);
}
#define ZS_SPIRV_EMIT(out, opcode, ...)                                                            \
    zs_spirv_emit(out, opcode, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

#endif
