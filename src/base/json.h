/* SPDX-License-Identifier: MIT */
/*
 * A streaming JSON writer into a buffer. Commas are placed by the writer. Strings are escaped;
 * bytes that are not valid UTF-8 become U+FFFD, so the output is valid JSON for any input.
 *
 *     zs_json_object(&j, NULL);
 *     zs_json_string(&j, "name", name);
 *     zs_json_array(&j, "lines");
 *     zs_json_u64(&j, NULL, 7);
 *     zs_json_end(&j);
 *     zs_json_end(&j);
 */
#ifndef ZS_BASE_JSON_H
#define ZS_BASE_JSON_H

#include "base/buf.h"

enum { ZS_JSON_DEPTH_MAX = 64 };

struct zs_json {
    struct zs_buf *out;
    uint32_t depth;
    uint32_t indent; /* levels that are broken into lines; deeper ones stay on one line */
    bool html_safe;  /* '<', '>' and '&' become \\u escapes: may stand in an HTML script */
    bool has_member[ZS_JSON_DEPTH_MAX];
    char closer[ZS_JSON_DEPTH_MAX];
};

static inline struct zs_json zs_json_make(struct zs_buf *out, uint32_t indent)
{
    return (struct zs_json){.out = out, .indent = indent};
}

/* `key` is NULL inside arrays and at the top. Keys are literals: they are not escaped. */
void zs_json_object(struct zs_json *j, const char *key);
void zs_json_array(struct zs_json *j, const char *key);
void zs_json_end(struct zs_json *j);
void zs_json_string(struct zs_json *j, const char *key, const char *text);
void zs_json_string_n(struct zs_json *j, const char *key, const char *text, size_t size_B);
void zs_json_u64(struct zs_json *j, const char *key, uint64_t value);
void zs_json_i64(struct zs_json *j, const char *key, int64_t value);
void zs_json_double(struct zs_json *j, const char *key, double value); /* NaN, inf: null */
/* The same with as many digits as it takes to read the value back. */
void zs_json_exact(struct zs_json *j, const char *key, double value);
void zs_json_bool(struct zs_json *j, const char *key, bool value);
void zs_json_null(struct zs_json *j, const char *key);
/* The quoted, escaped string alone. */
void zs_json_escape(struct zs_buf *out, const char *text, size_t size_B, bool html_safe);

#endif
