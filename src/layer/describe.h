/* SPDX-License-Identifier: MIT */
/* What the headers say of calls, parameters, structures and enums, as tables (api.def). */
#ifndef ZS_LAYER_DESCRIBE_H
#define ZS_LAYER_DESCRIBE_H

#include "base/buf.h"

#include <zescope/trace.h>

struct zs_api_field {
    const char *name, *type, *base;
    enum zs_api_kind kind;
    uint32_t offset_B, size_B;
};

struct zs_api_struct {
    const char *name;
    uint32_t size_B;
    const struct zs_api_field *fields;
    uint32_t field_count;
};

/* "A | B | 0x40" for a flags type. */
void zs_api_format_flags(struct zs_buf *out, const char *type, uint64_t value);
/* One value of a kind, by its bytes; pointers to structures are followed when `follow`. */
void zs_api_format_value(struct zs_buf *out, enum zs_api_kind kind, const char *base,
                         const void *value, uint32_t size_B, bool follow);
/* name(a = 1, b = {...}) of an event; ` = RESULT` on exit. */
void zs_api_format_event(struct zs_buf *out, const struct zs_api_event *event);

#endif
