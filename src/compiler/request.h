/* SPDX-License-Identifier: MIT */
/* A request as bytes: what the worker reads, and what names it in the caches. */
#ifndef ZS_COMPILER_REQUEST_H
#define ZS_COMPILER_REQUEST_H

#include "compiler/compiler.h"

#include "base/sha256.h"

/* -EINVAL: a string with a NUL or too many units; -ENOMEM sticks in the buffer. What names it are
 * the first *ret_named_B. */
int zs_request_put(const struct zs_compiler_request *request, struct zs_buf *ret_bytes,
                   size_t *ret_named_B);

/* Strings and units point into the bytes. */
struct zs_parsed_request {
    struct zs_compiler_request request;
    struct zs_span units[ZS_COMPILER_UNITS_MAX];
};
/* 0 or -EBADMSG. */
int zs_request_parse(struct zs_span bytes, struct zs_parsed_request *ret_parsed);

/* Where a worker keeps what nobody waits for any more: who the compiler must be, the result's key,
 * the cache's folder and size. The folder points into the bytes. */
struct zs_keep {
    uint8_t identity[ZS_SHA256_B], key[ZS_SHA256_B];
    uint64_t limit_B;
    const char *folder;
};
void zs_keep_put(const struct zs_keep *keep, struct zs_buf *ret_bytes);
/* 0 or -EBADMSG. */
int zs_keep_parse(struct zs_span bytes, struct zs_keep *ret_keep);

/* A result as a file: bytes of text, the text, the binary. */
void zs_put_result(struct zs_buf *file, struct zs_span text, struct zs_span binary);

void zs_put_u64(struct zs_buf *buf, uint64_t value);
/* A line of an identity: the path, size and time of change of a file. */
void zs_put_file(struct zs_buf *buf, const char *path);

#endif
