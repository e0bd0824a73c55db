/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4): names the files of a recording by their contents. */
#ifndef ZS_STORE_SHA256_H
#define ZS_STORE_SHA256_H

#include "base/span.h"

enum { ZS_SHA256_HEX_CHARS = 64 };

/* 64 lower-case hex digits and a NUL. */
void zs_sha256_hex(struct zs_span span, char ret_hex[ZS_SHA256_HEX_CHARS + 1]);

#endif
