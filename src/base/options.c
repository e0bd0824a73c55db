/* SPDX-License-Identifier: MIT */
#include "base/options.h"

#include <errno.h>
#include <string.h>

int zs_options_take(void *own, size_t own_B, const void *given, struct zs_diag *diag)
{
    const uint8_t *bytes = given;
    size_t given_B;
    memset(own, 0, own_B);
    memcpy(own, &own_B, sizeof(own_B));
    if (!given)
        return 0;
    memcpy(&given_B, given, sizeof(given_B));
    if (given_B < sizeof(given_B))
        return zs_diag_set(diag, -EINVAL, ZS_DIAG_NO_OFFSET,
                           "the size of the options is not set: %zu", given_B);
    for (size_t i = own_B; i < given_B; i++)
        if (bytes[i])
            return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET,
                               "an option at byte %zu is not known to this version of zescope", i);
    memcpy((uint8_t *)own + sizeof(own_B), bytes + sizeof(own_B),
           ZS_MIN(given_B, own_B) - sizeof(own_B));
    return 0;
}
