/* SPDX-License-Identifier: MIT */
#include "base/compiler.h"

#include <stdio.h>
#include <stdlib.h>

void zs_assert_fail(const char *expr, const char *file, int line, const char *func)
{
    fprintf(stderr, "zescope: internal error: %s:%d: %s: `%s' does not hold\n", file, line, func,
            expr);
    abort();
}
