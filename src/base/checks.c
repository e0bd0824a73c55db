/* SPDX-License-Identifier: MIT */
#include "base/checks.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    unsigned kinds;
} rows[] = {
#define ZS_CHECK_KIND(NAME, word, is, means, help) {word, ZS_CHECK_##NAME},
#include "base/checks.def"
#undef ZS_CHECK_KIND
    {"all", ZS_CHECK_ALL},
    {"1", ZS_CHECK_DEFAULT},
    {"0", 0},
};

static const char known[] =
#define ZS_CHECK_KIND(NAME, word, is, means, help) word ", "
#include "base/checks.def"
#undef ZS_CHECK_KIND
    "all";

static bool add_word(const char *word, size_t length, unsigned *kinds, char *ret_why, size_t size_B)
{
    for (size_t i = 0; i < ZS_ARRAY_LEN(rows); i++) {
        if (strlen(rows[i].word) != length || memcmp(rows[i].word, word, length) != 0)
            continue;
        *kinds |= rows[i].kinds;
        return true;
    }
    snprintf(ret_why, size_B, "'%.*s' is no check: %s", (int)ZS_MIN(length, (size_t)40), word,
             known);
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
