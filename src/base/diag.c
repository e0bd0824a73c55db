/* SPDX-License-Identifier: MIT */
#include "base/diag.h"
#include "base/version.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int zs_diag_set(struct zs_diag *diag, int error, uint64_t offset_B, const char *format, ...)
{
    zs_assert(error < 0);
    if (!diag || diag->error)
        return error;
    diag->error = error;
    diag->offset_B = offset_B;
    va_list args;
    va_start(args, format);
    vsnprintf(diag->text, sizeof(diag->text), format, args);
    va_end(args);
    return error;
}

void zs_diag_print(const struct zs_diag *diag, char *ret_text, size_t size_B)
{
    const char *text = diag->text[0] ? diag->text : strerror(-diag->error);
    if (diag->offset_B == ZS_DIAG_NO_OFFSET)
        snprintf(ret_text, size_B, "%s", text);
    else
        snprintf(ret_text, size_B, "at byte 0x%" PRIx64 ": %s", diag->offset_B, text);
}

const char *zs_version(void)
{
    return ZS_VERSION;
}
