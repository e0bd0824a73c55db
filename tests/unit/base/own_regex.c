/* SPDX-License-Identifier: MIT */
/* The expressions that Windows gets, beside the system's own. */
#include "own_regex.h"

#define regex_t  own_regex_t
#define regcomp  own_regcomp
#define regexec  own_regexec
#define regerror own_regerror
#define regfree  own_regfree
#include "base/windows/regex.c"

int own_regex_match(const char *pattern, const char *text, const char **ret_why)
{
    static char why[160];
    regex_t regex;
    int error = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
    *ret_why = NULL;
    if (error) {
        regerror(error, &regex, why, sizeof(why));
        *ret_why = why;
        return -1;
    }
    int matches = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return matches;
}
