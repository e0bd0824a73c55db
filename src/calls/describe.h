/* SPDX-License-Identifier: MIT */
/* What is known of calls, parameters, structures and enums, as tables (calls_api.def). */
#ifndef ZS_CALLS_DESCRIBE_H
#define ZS_CALLS_DESCRIBE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/reader.h"

#include <zescope/trace.h>

/* Who gives a field its value: fields that the specification does not mark go with the structure
 * or parameter that they are in. The values stand in recordings. */
enum zs_api_field_flow {
    ZS_API_FIELD_IN,
    ZS_API_FIELD_OUT,
    ZS_API_FIELD_INOUT,
    ZS_API_FIELD_ANY,
};

struct zs_api_field {
    const char *name, *base;
    enum zs_api_kind kind;
    enum zs_api_field_flow flow;
    uint32_t offset_B, size_B;
    int sub; /* as in struct zs_api_param */
};

struct zs_api_struct {
    const char *name;
    uint32_t size_B;
    const struct zs_api_field *fields;
    uint32_t field_count;
};

/* What a parameter's `range` is beside an index: -n are n elements, a list goes in pairs up to a
 * zero, and bits above the index name the parameter, + 1, that points to another limit. */
enum { ZS_API_RANGE_LIST = -64, ZS_API_RANGE_LIMIT_SHIFT = 8, ZS_API_RANGE_INDEX = 0xff };

/*
 * The shape of a call: how its arguments are written. A recording holds the shape of every call in
 * it, so that a reader that was built with other headers, or does not know the call, still reads
 * what stands there.
 *
 * As bytes (numbers LEB128, texts 1 + length and the bytes): how many parameters; per parameter
 * kind, flow, size, name, base, then for numbers pointed to 1 + which number it is (value_types of
 * codec.c) or 0, for structures and pointers to them how many fields; per field the same. Pointers
 * inside structures are not followed, so neither are their shapes.
 */
struct zs_api_shape {
    const struct zs_api_param *params;
    uint32_t param_count;
    const struct zs_api_struct *structs;
    uint32_t struct_count;
};

enum {
    ZS_API_SHAPE_MAX_B = 6 << 10,
    ZS_API_SHAPE_PARAMS_MAX = 32,
    ZS_API_SHAPE_FIELDS_MAX = 512,
    ZS_API_SHAPE_DEPTH_MAX = 8,
    ZS_API_VALUE_TYPES = 6, /* numbers that are followed: VALUES of scripts/gen-api */
};

/* How a parameter is written and when, in two bytes: for nearly all of them the writer looks at
 * nothing else. */
enum zs_api_step_how {
    ZS_API_STEP_ANY,     /* by its description */
    ZS_API_STEP_POINTER, /* of 8 bytes, not followed */
    ZS_API_STEP_U32,
    ZS_API_STEP_U64,
    ZS_API_STEP_VALUE_U32, /* a number that is pointed to, one */
    ZS_API_STEP_VALUE_U64,
    ZS_API_STEP_VALUE_I32,
    ZS_API_STEP_IS_NULL,  /* a pointer of which no more than that can be shown */
    ZS_API_STEP_FOLLOWED, /* what a pointer leads to; NULL is a 0 */
};
enum { ZS_API_STEP_ENTER = 1, ZS_API_STEP_EXIT = 2 };
struct zs_api_step {
    uint8_t how, when;
};
/* Of the parameters of a call, which is known. */
const struct zs_api_step *zs_api_call_steps(uint32_t call);

uint32_t zs_api_call_param_count(uint32_t call);
/* The shape that this build knows. */
struct zs_api_shape zs_api_call_shape(uint32_t call);
/* The structure of a parameter's or field's `sub`; NULL for none. */
const struct zs_api_struct *zs_api_shape_struct(const struct zs_api_shape *shape, int index);

/* Its bytes; at most room_B are written. Returns how many there are, 0 when the room is too small.
 */
size_t zs_api_shape_write(uint32_t call, uint8_t *out, size_t room_B);
/* 0, -EINVAL with the reader's diagnostic, -ENOMEM. The shape lives in the arena. */
int zs_api_shape_read(struct zs_arena *arena, struct zs_reader *r, struct zs_api_shape *ret_shape);

/* "A | B | 0x40" for a flags type, "0" for none. */
void zs_api_format_flags(struct zs_buf *out, const char *type, uint64_t value);

#endif
