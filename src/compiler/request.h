/* SPDX-License-Identifier: MIT */
/* A request as bytes: what the worker reads, and what names it in the caches. */
#ifndef ZS_COMPILER_REQUEST_H
#define ZS_COMPILER_REQUEST_H

#include "compiler/compiler.h"

/* -EINVAL: a string with a NUL or too many units; -ENOMEM sticks in the buffer. */
int zs_request_put(const struct zs_compiler_request *request, struct zs_buf *ret_bytes);

/* Strings and units point into the bytes. */
struct zs_parsed_request {
    struct zs_compiler_request request;
    struct zs_span units[ZS_COMPILER_UNITS_MAX];
};
/* 0 or -EBADMSG. */
int zs_request_parse(struct zs_span bytes, struct zs_parsed_request *ret_parsed);

void zs_put_u64(struct zs_buf *buf, uint64_t value);
/* A line of an identity: the path, size and time of change of a file. */
void zs_put_file(struct zs_buf *buf, const char *path);

#endif
