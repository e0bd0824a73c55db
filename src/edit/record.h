/* SPDX-License-Identifier: MIT */
/* What the probe and the reader of traces agree on: record.c. */
#ifndef ZS_EDIT_RECORD_H
#define ZS_EDIT_RECORD_H

enum { ZS_RECORD_TAG = 0x5a53 };

#endif
