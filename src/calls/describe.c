/* SPDX-License-Identifier: MIT */
#include "calls/describe.h"

#include "api_calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Parameters of all calls in one array, in the order of the calls. */
#define ZE_PARAM(function, i, type, name, kind, base, flow, range, sub)                            \
    {#name, #type, #base, ZS_API_KIND_##kind, ZS_API_FLOW_##flow, (uint32_t)sizeof(type),          \
     range, sub},
static const struct zs_api_param params[] = {
#include "calls_api.def"
};

#define KIND_IS(kind, a, b, c, d)                                                                  \
    (ZS_API_KIND_##kind == ZS_API_KIND_##a || ZS_API_KIND_##kind == ZS_API_KIND_##b ||             \
     ZS_API_KIND_##kind == ZS_API_KIND_##c || ZS_API_KIND_##kind == ZS_API_KIND_##d)
/* `sub` of a number that is pointed to: value_types of codec.c. */
#define STEP_VALUE(sub)                                                                            \
    ((sub) == 0                 ? ZS_API_STEP_VALUE_U32                                            \
     : (sub) == 1 || (sub) == 2 ? ZS_API_STEP_VALUE_U64                                            \
     : (sub) == 5               ? ZS_API_STEP_VALUE_I32                                            \
                                : ZS_API_STEP_FOLLOWED)
#define STEP_HOW(kind, size_B, range, sub)                                                         \
    (KIND_IS(kind, HANDLE, PTR, FUNC, FUNC) && (size_B) == 8        ? ZS_API_STEP_POINTER          \
     : ZS_API_KIND_##kind == ZS_API_KIND_VALUE_PTR && (sub) < 0     ? ZS_API_STEP_IS_NULL          \
     : ZS_API_KIND_##kind == ZS_API_KIND_VALUE_PTR && (range) == -1 ? STEP_VALUE(sub)              \
     : KIND_IS(kind, STRING, STRUCT_PTR, HANDLE_PTR, VALUE_PTR)     ? ZS_API_STEP_FOLLOWED         \
     : !KIND_IS(kind, U32, FLAGS, BOOL, U64) && !KIND_IS(kind, SIZE, SIZE, SIZE, SIZE)             \
         ? ZS_API_STEP_ANY                                                                         \
     : (size_B) == 4 ? ZS_API_STEP_U32                                                             \
     : (size_B) == 8 ? ZS_API_STEP_U64                                                             \
                     : ZS_API_STEP_ANY)
#define STEP_WHEN(flow)                                                                            \
    ((ZS_API_FLOW_##flow != ZS_API_FLOW_OUT ? ZS_API_STEP_ENTER : 0) |                             \
     (ZS_API_FLOW_##flow != ZS_API_FLOW_IN ? ZS_API_STEP_EXIT : 0))
#define ZE_PARAM(function, i, type, name, kind, base, flow, range, sub)                            \
    {STEP_HOW(kind, sizeof(type), range, sub), STEP_WHEN(flow)},
static const struct zs_api_step steps[] = {
#include "calls_api.def"
};
_Static_assert(ZS_ARRAY_LEN(steps) == ZS_ARRAY_LEN(params), "a step for each parameter");

struct call {
    const char *name;
    uint32_t param_count, first_param;
};

#define ZE_CALL(index, function, domain, count, first) {#function, count, first},
static const struct call calls[] = {
#include "calls_api.def"
};
_Static_assert(ZS_ARRAY_LEN(calls) == ZS_API_CALL_COUNT, "one row per call");

struct enum_value {
    const char *type, *name;
    int64_t value;
};

#define ZE_ENUM_VALUE(type, value, number) {#type, #value, number},
static const struct enum_value enum_values[] = {
#include "calls_api.def"
};

#define ZE_FLAG(type, value, number) {#type, #value, number},
static const struct enum_value flag_values[] = {
#include "calls_api.def"
};

#define ZE_FIELD(structure, offset_B, size_B, name, kind, base, flow, sub)                         \
    {#name, #base, ZS_API_KIND_##kind, ZS_API_FIELD_##flow, offset_B, size_B, sub},
static const struct zs_api_field fields[] = {
#include "calls_api.def"
};

#define ZE_STRUCT(name, size_B, count, first) {#name, size_B, fields + first, count},
static const struct zs_api_struct structs[] = {
#include "calls_api.def"
};

const struct zs_api_step *zs_api_call_steps(uint32_t call)
{
    return steps + calls[call].first_param;
}

uint32_t zs_api_call_param_count(uint32_t call)
{
    return call < ZS_API_CALL_COUNT ? calls[call].param_count : 0;
}

uint32_t zs_api_call_count(void)
{
    return ZS_API_CALL_COUNT;
}

const char *zs_api_call_name(uint32_t call)
{
    return call < ZS_API_CALL_COUNT ? calls[call].name : NULL;
}

int zs_api_call_find(const char *name)
{
    for (uint32_t i = 0; i < ZS_API_CALL_COUNT; i++)
        if (!strcmp(calls[i].name, name))
            return (int)i;
    return -ENOENT;
}

bool zs_api_call_param(uint32_t call, uint32_t i, struct zs_api_param *ret_param)
{
    if (call >= ZS_API_CALL_COUNT || i >= calls[call].param_count)
        return false;
    *ret_param = params[calls[call].first_param + i];
    return true;
}

const char *zs_api_enum_name(const char *type, int64_t value)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(enum_values); i++)
        if (enum_values[i].value == value && !strcmp(enum_values[i].type, type))
            return enum_values[i].name;
    return NULL;
}

const char *zs_api_result_name(const char *call, int32_t result)
{
    bool is_cl = result < 0 || (call && !strncmp(call, "cl", 2));
    return zs_api_enum_name(is_cl ? "cl_result" : "ze_result_t", result);
}

struct zs_api_shape zs_api_call_shape(uint32_t call)
{
    return (struct zs_api_shape){.params = params + calls[call].first_param,
                                 .param_count = calls[call].param_count,
                                 .structs = structs,
                                 .struct_count = ZS_ARRAY_LEN(structs)};
}

const struct zs_api_struct *zs_api_shape_struct(const struct zs_api_shape *shape, int index)
{
    return index >= 0 && (uint32_t)index < shape->struct_count ? &shape->structs[index] : NULL;
}

void zs_api_format_flags(struct zs_buf *out, const char *type, uint64_t value)
{
    uint64_t left = value;
    bool first = true;
    for (size_t i = 0; i < ZS_ARRAY_LEN(flag_values) && left; i++) {
        uint64_t bit = (uint64_t)flag_values[i].value;
        if (!bit || (left & bit) != bit || strcmp(flag_values[i].type, type) != 0)
            continue;
        zs_buf_printf(out, "%s%s", first ? "" : " | ", flag_values[i].name);
        left &= ~bit;
        first = false;
    }
    if (left || first)
        zs_buf_printf(out, left ? "%s0x%" PRIx64 : "%s%" PRIu64, first ? "" : " | ", left);
}
