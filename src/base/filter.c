/* SPDX-License-Identifier: MIT */
#include "base/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int zs_filter_compile(struct zs_filter *filter, const char *const *patterns, size_t count,
                      struct zs_diag *diag)
{
    *filter = (struct zs_filter){0};
    if (!count)
        return 0;
    filter->patterns = calloc(count, sizeof(*filter->patterns));
    if (!filter->patterns)
        return -ENOMEM;
    for (; filter->count < count; filter->count++) {
        regex_t *regex = &filter->patterns[filter->count];
        int code = regcomp(regex, patterns[filter->count], REG_EXTENDED | REG_NOSUB);
        char text[160];
        if (!code)
            continue;
        regerror(code, regex, text, sizeof(text));
        int error = diag ? zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET, "'%s': %s",
                                       patterns[filter->count], text)
                         : -EINVAL;
        zs_filter_fini(filter);
        return error;
    }
    return 0;
}

uint64_t zs_filter_cut_number(char *text, uint64_t otherwise)
{
    char *colon = strrchr(text, ':'), *end;

    if (!colon || !colon[1] || colon[1] == ':')
        return otherwise;
    uint64_t number = strtoull(colon + 1, &end, 10);
    if (*end)
        return otherwise;
    *colon = '\0';
    return number;
}

void zs_filter_fini(struct zs_filter *filter)
{
    while (filter->count)
        regfree(&filter->patterns[--filter->count]);
    free(filter->patterns);
    filter->patterns = NULL;
}

bool zs_filter_matches(const struct zs_filter *filter, const char *name)
{
    for (size_t i = 0; i < filter->count; i++)
        if (!regexec(&filter->patterns[i], name, 0, NULL, 0))
            return true;
    const char *other =
        filter->count && filter->other_form ? filter->other_form(name, strlen(name)) : NULL;
    for (size_t i = 0; i < filter->count && other; i++)
        if (!regexec(&filter->patterns[i], other, 0, NULL, 0))
            return true;
    return filter->count == 0;
}

bool zs_filter_matches_span(const struct zs_filter *filter, struct zs_span name)
{
    char text[256];
    if (!filter->count)
        return true;
    size_t length_B = ZS_MIN(name.size_B, sizeof(text) - 1);
    if (length_B)
        memcpy(text, name.data, length_B);
    text[length_B] = '\0';
    return zs_filter_matches(filter, text);
}
