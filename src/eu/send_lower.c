/* SPDX-License-Identifier: MIT */
/* No message is modelled yet: every send faults with its numbers. */
#include "eu/eu.h"

#include <errno.h>

int zs_eu_send_lower(struct zs_eu_send *ret, struct zs_diag *diag)
{
    return zs_diag_set(diag, -ENOTSUP, ZS_DIAG_NO_OFFSET,
                       "message to SFID %u with descriptor 0x%08x is not modelled",
                       (unsigned)ret->d.sfid, (unsigned)ret->d.desc);
}
