/* SPDX-License-Identifier: MIT */
#include "cli/paths.h"

#include <stdio.h>
#include <string.h>

static bool is_plain(const char *word)
{
    size_t plain = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "%+,-./:=@_");
    return word[0] && !word[plain];
}

void zs_cli_quote(const char *word, char *ret_text, size_t size_B)
{
    enum { LONGEST_B = 4 }; /* a quote itself: '\'' */
    size_t at = 0;
    if (is_plain(word)) {
        snprintf(ret_text, size_B, "%s", word);
        return;
    }
    ret_text[at++] = '\'';
    for (; *word && at + LONGEST_B + 2 <= size_B; word++) {
        size_t length = *word == '\'' ? 4 : 1;
        memcpy(ret_text + at, *word == '\'' ? "'\\''" : word, length);
        at += length;
    }
    ret_text[at++] = '\'';
    ret_text[at] = '\0';
}
