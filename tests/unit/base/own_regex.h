/* SPDX-License-Identifier: MIT */
/* 1, 0, or -1 with what regerror says: the expression is none. */
int own_regex_match(const char *pattern, const char *text, const char **ret_why);
