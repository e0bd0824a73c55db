/* SPDX-License-Identifier: MIT */
#include "base/duration.h"

#include "base/compiler.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {{"", 1000000000}, {"s", 1000000000}, {"ms", 1000000},
             {"us", 1000},     {"ns", 1},         {"min", 60000000000}};

bool zs_duration_parse(const char *text, uint64_t *ret_ns)
{
    const uint64_t most_ns = UINT64_C(1000000000000000000);
    uint64_t digits = 0, scale = 1, unit_ns = 0;
    bool any = false, fraction = false;

    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !fraction); text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        any = true;
        if (fraction && scale == 1000000000)
            continue; /* below a nanosecond */
        if (digits >= most_ns / 10)
            return false;
        digits = digits * 10 + (uint64_t)(*text - '0');
        scale *= fraction ? 10 : 1;
    }
    for (size_t i = 0; i < ZS_ARRAY_LEN(units); i++) {
        if (strcmp(text, units[i].name) == 0)
            unit_ns = units[i].ns;
    }
    unsigned __int128 ns = (unsigned __int128)digits * unit_ns / scale;
    if (!any || ns == 0 || ns > most_ns)
        return false;
    *ret_ns = (uint64_t)ns;
    return true;
}

bool zs_period_parse(const char *text, uint64_t *ret_ns)
{
    return text[strspn(text, "0123456789.")] && zs_duration_parse(text, ret_ns);
}

bool zs_size_parse(const char *text, uint64_t *ret_B)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    unsigned shift = *end == 'k' || *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    end += shift ? 1 : 0;
    *ret_B = value << shift;
    return !errno && !*end && *ret_B >> shift == value;
}
