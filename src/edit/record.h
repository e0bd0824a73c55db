/* SPDX-License-Identifier: MIT */
/* What the probe and the reader of traces agree on: record.c. */
#ifndef ZS_EDIT_RECORD_H
#define ZS_EDIT_RECORD_H

enum { ZS_RECORD_TAG = 0x5a53 };

/* Dword 0: units of the record and of one of its registers. */
#define ZS_RECORD_HEAD(units, grf_units)                                                           \
    ((uint32_t)ZS_RECORD_TAG << 16 | (uint32_t)(grf_units) << 8 | (uint32_t)(units))

#endif
