/* SPDX-License-Identifier: MIT */
/* Kinds of checks, by their words: `zescope run --check=KINDS` and ZESCOPE_CHECK. */
#ifndef ZS_BASE_CHECKS_H
#define ZS_BASE_CHECKS_H

#include "base/compiler.h"

enum {
    ZS_CHECK_MEMORY = 1u << 0,
    ZS_CHECK_RACE = 1u << 1,
    ZS_CHECK_SYNC = 1u << 2,
    ZS_CHECK_SWSB = 1u << 3,
    ZS_CHECK_INIT = 1u << 4,
    ZS_CHECK_LEAK = 1u << 5,
    ZS_CHECK_UNDEFINED = 1u << 6,
    ZS_CHECK_API = 1u << 7,
    ZS_CHECK_BUILT = ZS_CHECK_MEMORY | ZS_CHECK_RACE | ZS_CHECK_SYNC | ZS_CHECK_SWSB |
                     ZS_CHECK_INIT | ZS_CHECK_UNDEFINED | ZS_CHECK_LEAK | ZS_CHECK_API,
    ZS_CHECK_DEFAULT =
        ZS_CHECK_MEMORY | ZS_CHECK_INIT | ZS_CHECK_SWSB, /* "1", and no words at all */
};

/* Words with commas between. false: ret_why says which is none, or is not built yet; *ret_kinds
 * then has the others. "0": none; "1": the default ones; "all": what is built. */
bool zs_checks_parse(const char *words, unsigned *ret_kinds, char *ret_why, size_t size_B);

#endif
