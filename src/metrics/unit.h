/* SPDX-License-Identifier: MIT */
/*
 * Units of quantities: which dimensions a number has, and how large one of it is.
 *
 * Dimensions are bytes, time and clock cycles. What is only counted (instructions, lanes, messages,
 * flop) has none: its names may be written, and are all the number 1. Percent is 0.01.
 */
#ifndef ZS_METRICS_UNIT_H
#define ZS_METRICS_UNIT_H

#include "base/buf.h"

enum zs_dimension { ZS_DIM_BYTES, ZS_DIM_TIME, ZS_DIM_CYCLES, ZS_DIM_COUNT };

struct zs_unit {
    double scale; /* of one in bytes, nanoseconds and cycles; never 0 */
    int8_t powers[ZS_DIM_COUNT];
};

enum { ZS_UNIT_TEXT_B = 48, ZS_UNIT_POWER_MAX = 9 };

extern const struct zs_unit zs_unit_one;

/* "B", "GB/s", "%", "flop/B", "1/ns": factors with '*' and '/', without blanks. As many bytes of
 * the text as make up a unit; 0: it begins with none. */
size_t zs_unit_parse(const char *text, size_t size_B, struct zs_unit *ret_unit);
/* The unit of a metric group, as drivers write them ("bytes", "percent", "ns"). What is not known
 * counts something: one. */
struct zs_unit zs_unit_of_metric(const char *text);

bool zs_unit_same_kind(const struct zs_unit *a, const struct zs_unit *b);
/* a * b (sign 1) or a / b (sign -1). False: a power out of range. */
bool zs_unit_combine(const struct zs_unit *a, const struct zs_unit *b, int sign,
                     struct zs_unit *ret_unit);
/* What kind it is, in words for messages: "bytes", "time", "bytes/time", "a plain number". */
void zs_unit_kind(const struct zs_unit *unit, char ret_text[ZS_UNIT_TEXT_B]);

/* How numbers of this kind in bytes, nanoseconds and cycles are called: "B", "GB/s" (bytes per
 * nanosecond), "cycles"; "" for plain numbers, the kind where there is no name. */
void zs_unit_base_text(const struct zs_unit *unit, char ret_text[ZS_UNIT_TEXT_B]);

/* A value that is given in `unit_text`, readably: "12.5 us" for 12500 in "ns", "63 %", "320 B",
 * "1.2 M" for counts, "1.4 Tflop/s" for 1400 in "Gflop/s"; "n/a" for NaN. */
void zs_unit_put_value(struct zs_buf *out, double value, const char *unit_text);

/* "gain 40 %", or a range where ways of mending differ: "gain 30 to 40 %", "gain up to 40 %". */
void zs_unit_put_gain(struct zs_buf *out, double least, double most);

#endif
