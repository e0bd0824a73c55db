/* SPDX-License-Identifier: MIT */
/* MD5 (RFC 1321), only to compare sources with the checksums that DWARF 5 records. */
#ifndef ZS_CORRELATE_MD5_H
#define ZS_CORRELATE_MD5_H

#include "base/span.h"

void zs_md5(struct zs_span text, uint8_t ret_md5[16]);

#endif
