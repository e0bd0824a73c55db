/* SPDX-License-Identifier: MIT */
#include "base/checks.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    unsigned kinds;
} rows[] = {
    {"memory", ZS_CHECK_MEMORY},
    {"race", ZS_CHECK_RACE},
    {"sync", ZS_CHECK_SYNC},
    {"swsb", ZS_CHECK_SWSB},
    {"init", ZS_CHECK_INIT},
    {"leak", ZS_CHECK_LEAK},
    {"api", ZS_CHECK_API},
    {"undefined", ZS_CHECK_UNDEFINED},
    {"all", ZS_CHECK_BUILT},
    {"1", ZS_CHECK_DEFAULT},
    {"0", 0},
};

static bool add_word(const char *word, size_t length, unsigned *kinds, char *ret_why, size_t size_B)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (strlen(rows[i].word) != length || memcmp(rows[i].word, word, length) != 0)
            continue;
        *kinds |= rows[i].kinds & ZS_CHECK_BUILT;
        if (!(rows[i].kinds & ~(unsigned)ZS_CHECK_BUILT))
            return true;
        snprintf(ret_why, size_B, "the check '%s' is not built yet", rows[i].word);
        return false;
    }
    snprintf(ret_why, size_B,
             "'%.*s' is no check: memory, race, sync, swsb, init, undefined, "
             "leak, api, all",
             (int)ZS_MIN(length, (size_t)40), word);
    return false;
}

bool zs_checks_parse(const char *words, unsigned *ret_kinds, char *ret_why, size_t size_B)
{
    bool good = true;
    *ret_kinds = *words ? 0 : ZS_CHECK_DEFAULT;
    while (*words) {
        size_t length = strcspn(words, ",");
        good = add_word(words, length, ret_kinds, ret_why, size_B) && good;
        words += length + (words[length] == ',');
    }
    return good;
}
