/* SPDX-License-Identifier: MIT */
/*
 * Filling struct zs_diag (zescope/common.h). Readers return 0 or -errno and fill one with
 * the byte offset and a sentence that says what was found and what was expected. The first error
 * of an operation is the one that is kept.
 */
#ifndef ZS_BASE_DIAG_H
#define ZS_BASE_DIAG_H

#include "base/compiler.h"

static inline void zs_diag_clear(struct zs_diag *diag)
{
    if (diag) {
        diag->error = 0;
        diag->offset_B = ZS_DIAG_NO_OFFSET;
        diag->text[0] = '\0';
    }
}

/*
 * Record an error and return it, so that `return zs_diag_set(diag, -EINVAL, off, "...")` works.
 * diag may be NULL. An earlier error in diag is kept; `error` is returned all the same.
 */
int zs_diag_set(struct zs_diag *diag, int error, uint64_t offset_B, const char *format, ...)
    ZS_PRINTF(4, 5);

#endif
