/* SPDX-License-Identifier: MIT */
/* What the headers say of calls, parameters, structures and enums, as tables (layer_api.def). */
#ifndef ZS_LAYER_DESCRIBE_H
#define ZS_LAYER_DESCRIBE_H

#include "base/buf.h"

#include <zescope/trace.h>

struct zs_api_field {
    const char *name, *type, *base;
    enum zs_api_kind kind;
    uint32_t offset_B, size_B;
    int sub; /* as in struct zs_api_param */
};

struct zs_api_struct {
    const char *name;
    uint32_t size_B;
    const struct zs_api_field *fields;
    uint32_t field_count;
};

uint32_t zs_api_call_param_count(uint32_t call);
/* The first of the parameters of a call that is known. */
const struct zs_api_param *zs_api_call_params(uint32_t call);
/* The structure of a parameter's or field's `sub`; NULL for none. */
const struct zs_api_struct *zs_api_struct_at(int index);
/* "A | B | 0x40" for a flags type, "0" for none. */
void zs_api_format_flags(struct zs_buf *out, const char *type, uint64_t value);

#endif
