/* SPDX-License-Identifier: MIT */
/*
 * Undefined values made visible, for checks: the compiler knows those of SPIR-V (OpUndef, what an
 * array has before anybody writes it) as such, and puts whatever suits it in their place, so that
 * the machine code shows nothing of them. Here they become values that it does not know, loaded
 * where the function begins, or an array's life does, from where no memory is:
 *
 *                                          %u = OpLoad %int, of an address of ZS_GPU_MARK_TAG
 *     %m = OpPhi %int %x %b1 %undef %b2    %m = OpPhi %int %x %b1 %u %b2
 *
 * gpu/undefined.c takes what is loaded there for undefined. The line of such a load is that of the
 * variable. What is overwritten before anybody reads it leaves no code. Not replaced are operands
 * of shuffles (vectors of three elements are made longer so), and what no load brings (pointers,
 * booleans). The module was checked by zs_spirv_specialize(): lengths are right.
 */
#include "driver/module/compile.h"

#include "base/vec.h"
#include "driver/module/spirv_words.h"

#include <errno.h>
#include <stdlib.h>

enum {
    PHYSICAL64 = 2,
    DEBUG_SCOPE = 23,
    DEBUG_LOCAL_VARIABLE = 26,
    DEBUG_DECLARE = 28,
    DEBUG_VALUE = 29,
    DEBUG_SOURCE = 35,
    ARRAY_MAX_B = 512, /* larger ones are never in registers */
    APART_B = 1024,    /* from one value's address to the next */
    SEEDS_MAX = 1 << 12,
    STD_VLOADN = 171,
    STD_VSTORE_LAST = 178,
};

/* What is loaded. */
struct seed {
    uint32_t type;
    uint32_t id;       /* of its value; array: the variable */
    uint32_t variable; /* where its DebugLocalVariable is; 0: not known */
    uint32_t number;
    bool is_array;
    size_t behind; /* this instruction; 0: where the function begins */
};

struct place {
    size_t at; /* the word that names OpUndef */
    uint32_t by;
};

struct seeds {
    struct zs_spirv_defs defs;
    size_t count;
    uint32_t *types;     /* of OpUndef, by id; 0: it is none, or stays */
    uint32_t *pointers;  /* to a type, by its id; 0: not needed yet */
    uint32_t *variables; /* by a value's id: where its DebugLocalVariable is */
    uint32_t *shared;    /* by type: the function's seed for what is no OpPhi */
    uint32_t *arrays;    /* by id, of pointers to them: where the OpVariable is */
    uint32_t next;       /* id */
    uint32_t std, debug; /* sets */
    uint32_t type_void, wide, byte;
    bool is_physical64;
    uint32_t number; /* of seeds in all */
    struct {
        struct seed *items;
        size_t count, capacity;
    } seeds; /* of the function */
    struct {
        struct place *items;
        size_t count, capacity;
    } places;
    struct zs_buf functions;
    struct zs_buf constants; /* what they need */
    bool no_memory;
};

static uint32_t word(const struct seeds *s, size_t at)
{
    return zs_spirv_word(s->defs.words, at);
}

static uint32_t opcode_at(const struct seeds *s, size_t at)
{
    return word(s, at) & 0xffff;
}

static uint32_t length_at(const struct seeds *s, size_t at)
{
    return word(s, at) >> 16;
}

/* 0 for one that is none. */
static uint32_t id_at(const struct seeds *s, size_t at)
{
    uint32_t id = word(s, at);
    return id < s->defs.bound ? id : 0;
}

static bool is_debug(const struct seeds *s, size_t at, uint32_t number, uint32_t least)
{
    return at && length_at(s, at) >= least && opcode_at(s, at) == OP_EXT_INST && s->debug &&
           word(s, at + 3) == s->debug && word(s, at + 4) == number;
}

/* ---- what there is -----------------------------------------------------------------------------
 */

/* Numbers, vectors of them. */
static bool is_number(const struct seeds *s, uint32_t type)
{
    size_t at = s->defs.ids[type].at;
    if (at && opcode_at(s, at) == OP_TYPE_VECTOR)
        at = s->defs.ids[id_at(s, at + 2)].at;
    return at && (opcode_at(s, at) == OP_TYPE_INT || opcode_at(s, at) == OP_TYPE_FLOAT) &&
           zs_spirv_size_B(&s->defs, type);
}

static void take_import(struct seeds *s, size_t at, uint32_t length)
{
    const char *name = (const char *)s->defs.words + 4 * (at + 2);
    if (length < 3 || !memchr(name, 0, 4 * (size_t)(length - 2)))
        return;
    if (!strcmp(name, "OpenCL.std"))
        s->std = id_at(s, at + 1);
    else if (!strcmp(name, "OpenCL.DebugInfo.100"))
        s->debug = id_at(s, at + 1);
}

static void take_type(struct seeds *s, size_t at, uint32_t length)
{
    uint32_t opcode = opcode_at(s, at);
    s->defs.ids[id_at(s, at + 1)].at = (uint32_t)at;
    if (opcode == OP_TYPE_VOID)
        s->type_void = id_at(s, at + 1);
    else if (opcode == OP_TYPE_INT && length == 4 && word(s, at + 2) == 64)
        s->wide = id_at(s, at + 1);
    else if (opcode == OP_TYPE_INT && length == 4 && word(s, at + 2) == 8)
        s->byte = id_at(s, at + 1);
}

static void take(struct seeds *s, size_t at, uint32_t length)
{
    uint32_t opcode = opcode_at(s, at);
    if (opcode == OP_EXT_INST_IMPORT)
        take_import(s, at, length);
    else if (opcode == OP_MEMORY_MODEL && length == 3)
        s->is_physical64 = word(s, at + 1) == PHYSICAL64;
    else if ((opcode == OP_TYPE_VOID && length == 2) ||
             (opcode >= OP_TYPE_INT && opcode <= OP_TYPE_FUNCTION && length > 2))
        take_type(s, at, length);
    else if (length > 2 && (opcode == OP_CONSTANT || opcode == OP_CONSTANT_NULL))
        s->defs.ids[id_at(s, at + 2)].at = (uint32_t)at;
    else if (opcode == OP_UNDEF && length == 3 && is_number(s, id_at(s, at + 1)))
        s->types[id_at(s, at + 2)] = id_at(s, at + 1);
    else if (is_debug(s, at, DEBUG_LOCAL_VARIABLE, 11) || is_debug(s, at, DEBUG_SOURCE, 6))
        s->defs.ids[id_at(s, at + 2)].at = (uint32_t)at;
    else if (is_debug(s, at, DEBUG_VALUE, 8) || is_debug(s, at, DEBUG_DECLARE, 8))
        s->variables[id_at(s, at + 6)] = s->defs.ids[id_at(s, at + 5)].at;
}

/* ---- what a function needs ---------------------------------------------------------------------
 */

/* The id of its value; 0: there is no room. */
static uint32_t add_seed(struct seeds *s, uint32_t type, uint32_t variable, uint32_t array)
{
    if (s->number == SEEDS_MAX)
        return 0;
    struct seed seed = {.type = type,
                        .id = array ? array : s->next++,
                        .variable = variable,
                        .number = s->number++,
                        .is_array = array != 0};
    if (!is_debug(s, variable, DEBUG_LOCAL_VARIABLE, 11))
        seed.variable = 0;
    s->no_memory |= !ZS_VEC_PUSH(&s->seeds, seed);
    return seed.id;
}

static void look_at_operand(struct seeds *s, size_t at, uint32_t result)
{
    uint32_t type = s->types[id_at(s, at)], by = 0;
    if (!type)
        return;
    if (result)
        by = add_seed(s, type, s->variables[result], 0);
    else
        by = s->shared[type] = s->shared[type] ? s->shared[type] : add_seed(s, type, 0, 0);
    if (by)
        s->no_memory |= !ZS_VEC_PUSH(&s->places, ((struct place){at, by}));
}

/* Of instructions with nothing but values from there on: the first of them. 0: of others. */
static uint32_t first_value(const struct seeds *s, size_t at, uint32_t opcode)
{
    if (opcode == OP_EXT_INST)
        return word(s, at + 3) == s->std &&
                       (word(s, at + 4) < STD_VLOADN || word(s, at + 4) > STD_VSTORE_LAST)
                   ? 5
                   : 0;
    if ((opcode >= OP_ACCESS_CHAIN && opcode <= OP_IN_BOUNDS_PTR_ACCESS_CHAIN &&
         (opcode < OP_PTR_ACCESS_CHAIN + 1 || opcode > OP_PTR_ACCESS_CHAIN + 2)) ||
        (opcode >= OP_CONVERT_F_TO_U && opcode <= OP_BIT_COUNT) || opcode == OP_COMPOSITE_CONSTRUCT)
        return 3;
    return opcode == OP_FUNCTION_CALL ? 4 : opcode == OP_RETURN_VALUE ? 1 : 0;
}

static void look_at_instruction(struct seeds *s, size_t at)
{
    uint32_t opcode = opcode_at(s, at), length = length_at(s, at);
    if (opcode == OP_PHI && length > 2) {
        for (uint32_t i = 3; i + 1 < length; i += 2)
            look_at_operand(s, at + i, id_at(s, at + 2));
    } else if (opcode == OP_STORE && length > 2) {
        look_at_operand(s, at + 2, 0);
    } else if (opcode == OP_COMPOSITE_INSERT && length > 4) {
        look_at_operand(s, at + 3, 0);
        look_at_operand(s, at + 4, 0);
    } else if (length > (opcode == OP_EXT_INST ? 5 : opcode == OP_RETURN_VALUE ? 1 : 3)) {
        uint32_t first = first_value(s, at, opcode);
        for (uint32_t i = first; first && i < length; i++)
            look_at_operand(s, at + i, 0);
    }
}

/* Whether numbers are all that is in it; of an array or a struct, their size. */
static uint32_t number_B(const struct seeds *s, uint32_t type, int depth)
{
    size_t at = s->defs.ids[type].at;
    uint32_t opcode = at ? opcode_at(s, at) : 0, least_B = 0;
    if (is_number(s, type)) {
        uint32_t element = opcode == OP_TYPE_VECTOR ? id_at(s, at + 2) : type;
        return (uint32_t)zs_spirv_size_B(&s->defs, element);
    }
    if (depth > 4 || (opcode != OP_TYPE_ARRAY && opcode != OP_TYPE_STRUCT))
        return 0;
    if (s->defs.ids[type].is_packed)
        return 0;
    for (uint32_t i = 2; i < (opcode == OP_TYPE_ARRAY ? 3 : length_at(s, at)); i++) {
        uint32_t size_B = number_B(s, id_at(s, at + i), depth + 1);
        if (!size_B)
            return 0;
        least_B = least_B ? ZS_MIN(least_B, size_B) : size_B;
    }
    return least_B;
}

/* Whether it is an array, or a struct, that is small enough; its type. */
static uint32_t array_at(const struct seeds *s, size_t at)
{
    size_t pointer = s->defs.ids[id_at(s, at + 1)].at;
    if (length_at(s, at) != 4 || word(s, at + 3) != STORAGE_FUNCTION || !pointer ||
        word(s, pointer) != (4u << 16 | OP_TYPE_POINTER))
        return 0;
    uint32_t type = id_at(s, pointer + 3);
    uint64_t size_B = zs_spirv_size_B(&s->defs, type);
    bool is_one = !is_number(s, type) && size_B && size_B <= ARRAY_MAX_B && number_B(s, type, 0);
    return is_one ? type : 0;
}

static void add_array(struct seeds *s, size_t variable, size_t behind)
{
    uint32_t id = id_at(s, variable + 2);
    if (!add_seed(s, array_at(s, variable), s->variables[id], id))
        return;
    if (!s->no_memory)
        s->seeds.items[s->seeds.count - 1].behind = behind;
}

/* Where its life begins, that it is passed on as something else for that; or with the function. */
static void look_at_arrays(struct seeds *s, size_t first, size_t end)
{
    for (size_t at = first; at < end; at += length_at(s, at)) {
        uint32_t opcode = opcode_at(s, at), length = length_at(s, at);
        uint32_t id = length > 2 ? id_at(s, at + 2) : 0;
        if (opcode == OP_VARIABLE && array_at(s, at))
            s->arrays[id] = (uint32_t)at;
        else if (opcode == OP_BITCAST && length == 4)
            s->arrays[id] = s->arrays[id_at(s, at + 3)];
        else if (opcode == OP_LIFETIME_START && length == 3 && s->arrays[id_at(s, at + 1)])
            add_array(s, s->arrays[id_at(s, at + 1)], at);
    }
    size_t with_life = s->seeds.count;
    for (size_t at = first; at < end; at += length_at(s, at)) {
        bool lives = false;
        if (opcode_at(s, at) != OP_VARIABLE || !array_at(s, at))
            continue;
        for (size_t i = 0; i < with_life && !lives; i++)
            lives = s->seeds.items[i].id == id_at(s, at + 2);
        if (!lives)
            add_array(s, at, 0);
    }
}

/* ---- writing -----------------------------------------------------------------------------------
 */

#define EMIT(s, ...) ZS_SPIRV_EMIT(&(s)->functions, __VA_ARGS__)

/* In constant memory: the compiler would make one load of this and one of global memory. */
static uint32_t pointer_to(struct seeds *s, uint32_t type)
{
    if (!s->pointers[type]) {
        s->pointers[type] = s->next++;
        ZS_SPIRV_EMIT(&s->constants, OP_TYPE_POINTER, s->pointers[type], STORAGE_UNIFORM_CONSTANT,
                      type);
    }
    return s->pointers[type];
}

static uint32_t constant(struct seeds *s, uint64_t value)
{
    uint32_t id = s->next++;
    ZS_SPIRV_EMIT(&s->constants, OP_CONSTANT, s->wide, id, (uint32_t)value,
                  (uint32_t)(value >> 32));
    return id;
}

static void put_scope(struct seeds *s, uint32_t scope)
{
    EMIT(s, OP_EXT_INST, s->type_void, s->next, s->debug, DEBUG_SCOPE, scope);
    s->next++;
}

static void put_line(struct seeds *s, const struct seed *seed)
{
    size_t variable = seed->variable,
           source = variable ? s->defs.ids[id_at(s, variable + 7)].at : 0;
    if (!is_debug(s, source, DEBUG_SOURCE, 6))
        return;
    put_scope(s, word(s, variable + 10));
    EMIT(s, OP_LINE, word(s, source + 5), word(s, variable + 8), word(s, variable + 9));
}

static void put_seed(struct seeds *s, const struct seed *seed)
{
    uint64_t address = (uint64_t)ZS_GPU_MARK_TAG << 48 | (uint64_t)seed->number * APART_B;
    uint32_t pointer = s->next++;
    put_line(s, seed);
    EMIT(s, OP_CONVERT_U_TO_PTR, pointer_to(s, seed->is_array ? s->byte : seed->type), pointer,
         constant(s, address));
    if (seed->is_array) {
        uint32_t size = constant(s, zs_spirv_size_B(&s->defs, seed->type));
        EMIT(s, OP_COPY_MEMORY_SIZED, seed->id, pointer, size, 2, number_B(s, seed->type, 0));
    } else {
        uint32_t size_B = (uint32_t)zs_spirv_size_B(&s->defs, seed->type);
        EMIT(s, OP_LOAD, seed->type, seed->id, pointer, 2, size_B);
    }
}

static void put_copy(struct seeds *s, size_t at)
{
    zs_buf_append(&s->functions, s->defs.words + 4 * at, 4 * (size_t)length_at(s, at));
}

/* Lines go on as they did. */
static void put_seeds(struct seeds *s, size_t behind, size_t line, size_t scope)
{
    bool has_lines = false;
    for (size_t i = 0; i < s->seeds.count; i++) {
        if (s->seeds.items[i].behind != behind)
            continue;
        has_lines |= s->seeds.items[i].variable != 0;
        put_seed(s, &s->seeds.items[i]);
    }
    if (has_lines && scope)
        put_scope(s, word(s, scope + 5));
    if (has_lines && line)
        put_copy(s, line);
    else if (has_lines)
        zs_spirv_emit(&s->functions, OP_NO_LINE, 0, NULL);
}

/* Instructions at `first` to `end`. */
static void put_function(struct seeds *s, size_t first, size_t end)
{
    size_t line = 0, scope = 0, place = 0;
    bool is_in = false, is_done = s->seeds.count == 0;
    for (size_t at = first, length; at < end; at += length) {
        uint32_t opcode = opcode_at(s, at);
        length = length_at(s, at);
        bool is_line = opcode == OP_LINE || opcode == OP_NO_LINE,
             is_note = opcode == OP_EXT_INST && s->debug && word(s, at + 3) == s->debug;
        if (is_in && !is_done && !is_line && !is_note && opcode != OP_VARIABLE) {
            put_seeds(s, 0, line, scope);
            is_done = true;
        }
        is_in |= opcode == OP_LABEL;
        line = opcode == OP_LINE ? at : opcode == OP_NO_LINE ? 0 : line;
        scope = is_debug(s, at, DEBUG_SCOPE, 6) ? at : scope;
        size_t from_B = s->functions.size_B;
        put_copy(s, at);
        for (; place < s->places.count && s->places.items[place].at < at + length; place++)
            for (unsigned i = 0; i < 4 && !s->functions.error; i++)
                s->functions.data[from_B + 4 * (s->places.items[place].at - at) + i] =
                    (uint8_t)(s->places.items[place].by >> (8 * i));
        if (opcode == OP_LIFETIME_START)
            put_seeds(s, at, line, scope);
    }
}

static void rewrite_function(struct seeds *s, size_t first, size_t end)
{
    s->seeds.count = s->places.count = 0;
    memset(s->shared, 0, s->defs.bound * sizeof(*s->shared));
    look_at_arrays(s, first, end);
    for (size_t at = first; at < end; at += length_at(s, at))
        look_at_instruction(s, at);
    put_function(s, first, end);
}

static void rewrite(struct seeds *s, struct zs_buf *out)
{
    size_t functions = 0;
    for (size_t at = SPIRV_HEADER_WORDS; at < s->count; at += length_at(s, at)) {
        if (opcode_at(s, at) == OP_FUNCTION && !functions)
            functions = at;
        take(s, at, length_at(s, at));
    }
    if (!functions || !s->is_physical64 || !s->wide || !s->type_void)
        return;
    bool has_byte = s->byte != 0;
    s->byte = has_byte ? s->byte : s->next++;
    for (size_t at = functions, end; at < s->count; at = end) {
        for (end = at; end < s->count && opcode_at(s, end) != OP_FUNCTION_END;)
            end += length_at(s, end);
        end = end < s->count ? end + length_at(s, end) : end;
        rewrite_function(s, at, end);
    }
    if (!s->number)
        return;
    zs_buf_append(out, s->defs.words, 4 * functions);
    if (!has_byte)
        ZS_SPIRV_EMIT(out, OP_TYPE_INT, s->byte, 8, 0);
    zs_buf_append(out, s->constants.data, s->constants.size_B);
    zs_buf_append(out, s->functions.data, s->functions.size_B);
    for (unsigned i = 0; i < 4 && !out->error; i++)
        out->data[12 + i] = (uint8_t)(s->next >> (8 * i));
}

int zs_spirv_seed_undefined(struct zs_span spirv, struct zs_buf *ret_spirv)
{
    struct seeds s = {.count = spirv.size_B / 4};
    uint32_t bound = zs_spirv_word(spirv.data, 3);
    if (!bound || bound > SPIRV_IDS_MAX)
        return 0;
    struct zs_spirv_def *ids = calloc(bound, sizeof(*ids));
    s.types = calloc(bound, 5 * sizeof(*s.types));
    s.defs = (struct zs_spirv_defs){.words = spirv.data, .bound = bound, .ids = ids};
    s.next = bound;
    s.no_memory = !ids || !s.types;
    if (!s.no_memory) {
        s.pointers = s.types + bound;
        s.variables = s.types + 2 * (size_t)bound;
        s.shared = s.types + 3 * (size_t)bound;
        s.arrays = s.types + 4 * (size_t)bound;
        rewrite(&s, ret_spirv);
    }
    free(ids);
    free(s.types);
    free(s.seeds.items);
    free(s.places.items);
    int error = s.no_memory         ? -ENOMEM
                : s.functions.error ? s.functions.error
                : s.constants.error ? s.constants.error
                                    : ret_spirv->error;
    zs_buf_fini(&s.functions);
    zs_buf_fini(&s.constants);
    return error;
}
