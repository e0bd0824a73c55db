/* SPDX-License-Identifier: MIT */
/*
 * Specialization of SPIR-V: the values of the program replace the defaults in OpSpecConstant*.
 * Besides, what the compiler does not know and need not know is taken out.
 * The numbers below are those of the SPIR-V specification, section 3.
 */
#include "driver/module/compile.h"

#include "base/reader.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SPIRV_MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    OP_NOP = 0,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_SPEC_CONSTANT_TRUE = 48,
    OP_SPEC_CONSTANT_FALSE = 49,
    OP_SPEC_CONSTANT = 50,
    OP_FUNCTION = 54,
    OP_VARIABLE = 59,
    OP_DECORATE = 71,
    OP_IMAGE_SAMPLE_IMPLICIT_LOD = 87,
    OP_IMAGE_SAMPLE_EXPLICIT_LOD = 88,
    OP_IMAGE_READ = 98,
    OP_IMAGE_WRITE = 99,
    OPERAND_EXTEND = 0x3000, /* SignExtend, ZeroExtend */
    DECORATION_SPEC_ID = 1,
    DECORATION_LINKAGE_ATTRIBUTES = 41,
    LINKAGE_EXPORT = 0,
    IDS_MAX = 1 << 22,
};

struct state {
    uint8_t *words; /* the copy that is patched */
    size_t count;
    uint32_t bound;
    uint32_t *spec_of; /* result id -> index of constant + 1 */
    const ze_module_constants_t *constants;
    uint32_t *bits_of; /* type id -> width */
    bool *applied;
};

static uint32_t word(const struct state *s, size_t at)
{
    return zs_load_u32(s->words + 4 * at);
}

static void put_word(struct state *s, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        s->words[4 * at + i] = (uint8_t)(value >> (8 * i));
}

static void decorate(struct state *s, size_t at, uint32_t length)
{
    if (length < 4 || word(s, at + 2) != DECORATION_SPEC_ID || word(s, at + 1) >= s->bound)
        return;
    for (uint32_t i = 0; i < s->constants->numConstants; i++) {
        if (s->constants->pConstantIds[i] == word(s, at + 3))
            s->spec_of[word(s, at + 1)] = i + 1;
    }
}

static void specialize(struct state *s, size_t at, uint32_t opcode, uint32_t length)
{
    uint32_t type = length >= 3 ? word(s, at + 1) : 0;
    uint32_t id = length >= 3 ? word(s, at + 2) : 0;
    if (id >= s->bound || type >= s->bound || !s->spec_of[id])
        return;
    uint32_t index = s->spec_of[id] - 1;
    const uint8_t *value = s->constants->pConstantValues[index];
    s->applied[index] = true;
    if (opcode != OP_SPEC_CONSTANT) {
        put_word(s, at, 3u << 16 | (*value ? OP_SPEC_CONSTANT_TRUE : OP_SPEC_CONSTANT_FALSE));
        return;
    }
    uint32_t bytes = s->bits_of[type] / 8;
    uint64_t bits = 0;
    if (bytes == 0 || bytes > 8 || length != 3 + (bytes + 3) / 4)
        return;
    memcpy(&bits, value, bytes);
    put_word(s, at + 3, (uint32_t)bits);
    if (bytes == 8)
        put_word(s, at + 4, (uint32_t)(bits >> 32));
}

static uint32_t least_words(uint32_t opcode)
{
    static const struct {
        uint16_t opcode, words;
    } rows[] = {
#define SPIRV(number, name, least) {number, least},
#include "driver/module/spirv_length.def"
#undef SPIRV
    };
    size_t low = 0, high = ZS_ARRAY_LEN(rows);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].opcode < opcode)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ZS_ARRAY_LEN(rows) && rows[low].opcode == opcode ? rows[low].words : 1;
}

/*
 * SPIR-V 1.4 lets image operations say how the texel is extended. Here the image's format decides
 * that in any case, and IGC releases of that time look for functions that they do not have.
 */
static void drop_extension(struct state *s, size_t at, uint32_t opcode, uint32_t length)
{
    uint32_t mask_at = opcode == OP_IMAGE_WRITE ? 4 : 5;
    if (length <= mask_at)
        return;
    uint32_t mask = word(s, at + mask_at) & ~(uint32_t)OPERAND_EXTEND;
    put_word(s, at + mask_at, mask);
    if (mask == 0 &&
        length == mask_at + 1) { /* no operands: an instruction without them, a no-op */
        put_word(s, at, mask_at << 16 | opcode);
        put_word(s, at + mask_at, 1u << 16 | OP_NOP);
    }
}

static bool walk(struct state *s)
{
    for (size_t at = HEADER_WORDS; at < s->count;) {
        uint32_t opcode = word(s, at) & 0xffff, length = word(s, at) >> 16;
        if (length < least_words(opcode) || length > s->count - at)
            return false;
        if (opcode == OP_DECORATE)
            decorate(s, at, length);
        else if ((opcode == OP_TYPE_INT || opcode == OP_TYPE_FLOAT) && length >= 3 &&
                 word(s, at + 1) < s->bound)
            s->bits_of[word(s, at + 1)] = word(s, at + 2);
        else if (opcode >= OP_SPEC_CONSTANT_TRUE && opcode <= OP_SPEC_CONSTANT)
            specialize(s, at, opcode, length);
        else if (opcode == OP_IMAGE_SAMPLE_IMPLICIT_LOD || opcode == OP_IMAGE_SAMPLE_EXPLICIT_LOD ||
                 opcode == OP_IMAGE_READ || opcode == OP_IMAGE_WRITE)
            drop_extension(s, at, opcode, length);
        at += length;
    }
    return true;
}

static int check_applied(const struct state *s, struct zs_buf *log)
{
    for (uint32_t i = 0; i < s->constants->numConstants; i++) {
        if (!s->applied[i]) {
            zs_buf_printf(log, "the module has no specialization constant %u\n",
                          s->constants->pConstantIds[i]);
            return -EINVAL;
        }
    }
    return 0;
}

int zs_spirv_specialize(struct zs_span spirv, const ze_module_constants_t *constants,
                        struct zs_buf *ret_spirv, struct zs_buf *ret_log)
{
    if (spirv.size_B < 4 * HEADER_WORDS || spirv.size_B % 4 ||
        zs_load_u32(spirv.data) != SPIRV_MAGIC) {
        zs_buf_puts(ret_log, "this is not SPIR-V\n");
        return -EINVAL;
    }
    zs_buf_append(ret_spirv, spirv.data, spirv.size_B);
    if (ret_spirv->error)
        return ret_spirv->error;
    /* also when there is nothing to write: the compiler does not survive every damaged module */
    static const ze_module_constants_t none;
    constants = constants ? constants : &none;
    struct state s = {.words = ret_spirv->data, .count = spirv.size_B / 4, .constants = constants};
    s.bound = ZS_MIN(word(&s, 3), (uint32_t)IDS_MAX);
    s.spec_of = calloc(s.bound + 1u, sizeof(*s.spec_of));
    s.bits_of = calloc(s.bound + 1u, sizeof(*s.bits_of));
    s.applied = calloc(constants->numConstants + 1u, sizeof(*s.applied));
    int error = s.spec_of && s.bits_of && s.applied ? 0 : -ENOMEM;
    if (!error && !walk(&s)) {
        zs_buf_puts(ret_log, "the SPIR-V module is damaged\n");
        error = -EINVAL;
    }
    if (!error)
        error = check_applied(&s, ret_log);
    free(s.spec_of);
    free(s.bits_of);
    free(s.applied);
    return error;
}

bool zs_spirv_exports_variable(struct zs_span spirv)
{
    size_t count = spirv.size_B / 4;
    uint32_t bound =
        count > HEADER_WORDS ? ZS_MIN(zs_load_u32(spirv.data + 12), (uint32_t)IDS_MAX) : 0;
    bool *exported = calloc(bound + 1u, sizeof(*exported));
    bool found = false;
    uint32_t opcode = 0;
    for (size_t at = HEADER_WORDS; exported && !found && opcode != OP_FUNCTION && at < count;) {
        const uint8_t *words = spirv.data + 4 * at;
        opcode = zs_load_u32(words) & 0xffff;
        uint32_t length = zs_load_u32(words) >> 16;
        if (length == 0 || length > count - at)
            break;
        uint32_t id = length > 2 ? zs_load_u32(words + (opcode == OP_DECORATE ? 4 : 8)) : bound;
        if (opcode == OP_DECORATE && id < bound && length > 4 &&
            zs_load_u32(words + 8) == DECORATION_LINKAGE_ATTRIBUTES)
            exported[id] = zs_load_u32(words + 4 * (length - 1)) == LINKAGE_EXPORT;
        found = opcode == OP_VARIABLE && id < bound && exported[id];
        at += length;
    }
    free(exported);
    return found;
}
