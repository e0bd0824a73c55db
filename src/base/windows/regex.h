/* SPDX-License-Identifier: MIT */
/*
 * What base/filter.c needs of POSIX <regex.h>, for systems that have none: whether an extended
 * regular expression matches, without where. As glibc has it in the C locale, \w \W \s \S \b \B \<
 * \> included; back references are refused. Time is linear in the text whatever the expression.
 */
#ifndef ZS_BASE_WINDOWS_REGEX_H
#define ZS_BASE_WINDOWS_REGEX_H

#include <stddef.h>

typedef struct {
    struct zs_regex_program *program;
} regex_t;

enum { REG_EXTENDED = 1, REG_NOSUB = 8 }; /* both are taken for granted */

enum {
    REG_NOMATCH = 1,
    REG_BADPAT,
    REG_ECOLLATE,
    REG_ECTYPE,
    REG_EESCAPE,
    REG_ESUBREG,
    REG_EBRACK,
    REG_EPAREN,
    REG_EBRACE,
    REG_BADBR,
    REG_ERANGE,
    REG_ESPACE,
    REG_BADRPT,
};

/* 0 or one of the above. */
int regcomp(regex_t *regex, const char *pattern, int flags);
/* match_count is 0. */
int regexec(const regex_t *regex, const char *text, size_t match_count, void *matches, int flags);
size_t regerror(int error, const regex_t *regex, char *text, size_t size_B);
void regfree(regex_t *regex);

#endif
