/* SPDX-License-Identifier: MIT */
/* Numbers as text: with a point, whatever locale the program has set. */
#ifndef ZS_BASE_NUMBER_H
#define ZS_BASE_NUMBER_H

#include "base/compiler.h"

#include <stddef.h>

enum { ZS_NUMBER_CHARS = 32 };

/* As snprintf and strtod. */
int zs_number_format(char *ret_text, size_t size_B, const char *format, ...) ZS_PRINTF(3, 4);
double zs_number_parse(const char *text, char **ret_end);
/* The shortest text that reads back as the same float, or (size_B 8) double; of a half (2) what it
 * can tell apart. */
void zs_number_shortest(char ret_text[ZS_NUMBER_CHARS], double value, unsigned size_B);

#endif
