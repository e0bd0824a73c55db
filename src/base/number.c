/* SPDX-License-Identifier: MIT */
#include "base/number.h"

#include "base/os.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int zs_number_format(char *ret_text, size_t size_B, const char *format, ...)
{
    struct zs_os_numbers plain = zs_os_numbers_begin();
    va_list args;
    va_start(args, format);
    int length = vsnprintf(ret_text, size_B, format, args);
    va_end(args);
    zs_os_numbers_end(plain);
    return length;
}

double zs_number_parse(const char *text, char **ret_end)
{
    struct zs_os_numbers plain = zs_os_numbers_begin();
    double value = strtod(text, ret_end);
    zs_os_numbers_end(plain);
    return value;
}

void zs_number_shortest(char ret_text[ZS_NUMBER_CHARS], double value, unsigned size_B)
{
    /* so many digits always survive (of denormals fewer), so many suffice */
    const double normal = size_B == 8 ? 0x1p-1022 : size_B == 4 ? 0x1p-126 : 0x1p-14;
    const int fewest = fabs(value) < normal ? 1 : size_B == 8 ? 15 : size_B == 4 ? 6 : 3;
    const int most = size_B == 8 ? 17 : size_B == 4 ? 9 : 5;
    struct zs_os_numbers plain = zs_os_numbers_begin();
    for (int digits = fewest; digits <= most; digits++) {
        snprintf(ret_text, ZS_NUMBER_CHARS, "%.*g", digits, value);
        double back = strtod(ret_text, NULL);
        if (size_B == 8 ? back == value : (float)back == (float)value)
            break;
    }
    zs_os_numbers_end(plain);
}
