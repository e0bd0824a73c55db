/* SPDX-License-Identifier: MIT */
/* Durations as people write them: "10" (seconds), "1.5s", "200ms", "50us", "80ns", "3min". */
#ifndef ZS_BASE_DURATION_H
#define ZS_BASE_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* False: text is no such duration, is zero or is longer than 30 years. The locale plays no part. */
bool zs_duration_parse(const char *text, uint64_t *ret_ns);
/* The same with a unit: what is mostly short is not taken for seconds. */
bool zs_period_parse(const char *text, uint64_t *ret_ns);

/* "4096", "64k", "16M", "1G": bytes. Hexadecimal and octal as in C. False: not that, or too much.
 */
bool zs_size_parse(const char *text, uint64_t *ret_B);

#endif
