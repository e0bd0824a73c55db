/* SPDX-License-Identifier: MIT */
/* Kinds of checks, by their words: `zescope run --check=KINDS` and ZESCOPE_CHECK. */
#ifndef ZS_BASE_CHECKS_H
#define ZS_BASE_CHECKS_H

#include "base/compiler.h"

enum {
#define ZS_CHECK_KIND(NAME, word, is, means, help) ZS_CHECK_AT_##NAME,
#include "base/checks.def"
#undef ZS_CHECK_KIND
    ZS_CHECK_KINDS
};
enum {
#define ZS_CHECK_KIND(NAME, word, is, means, help) ZS_CHECK_##NAME = 1u << ZS_CHECK_AT_##NAME,
#include "base/checks.def"
#undef ZS_CHECK_KIND
    ZS_CHECK_ALL = (1u << ZS_CHECK_KINDS) - 1,
    ZS_CHECK_DEFAULT =
        ZS_CHECK_MEMORY | ZS_CHECK_INIT | ZS_CHECK_SWSB, /* "1", and no words at all */
};

/* Words with commas between. false: ret_why says which is none; *ret_kinds then has the others.
 * "0": none; "1": the default ones. */
bool zs_checks_parse(const char *words, unsigned *ret_kinds, char *ret_why, size_t size_B);

#endif
