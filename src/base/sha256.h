/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4): names the files of a recording and of the compiler's cache by contents. */
#ifndef ZS_BASE_SHA256_H
#define ZS_BASE_SHA256_H

#include "base/span.h"

enum { ZS_SHA256_B = 32, ZS_SHA256_HEX_CHARS = 64 };

void zs_sha256(struct zs_span span, uint8_t ret_digest[ZS_SHA256_B]);

/* 64 lower-case hex digits and a NUL. */
void zs_sha256_hex(struct zs_span span, char ret_hex[ZS_SHA256_HEX_CHARS + 1]);

#endif
