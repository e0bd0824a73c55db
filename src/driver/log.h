/* SPDX-License-Identifier: MIT */
/*
 * Messages that explain results, on stderr or in a file.
 *
 * ZESCOPE_LOG=LEVEL or LEVEL:PATH, LEVEL one of off, error, warn, info, debug; the default is
 * "error". In PATH %p is the process id. One line (or, for reports, one block of lines) is one
 * write, so that lines of several threads and processes do not mix.
 */
#ifndef ZS_DRIVER_LOG_H
#define ZS_DRIVER_LOG_H

#include "base/compiler.h"

enum zs_log_level {
    ZS_LOG_ERROR = 1, /* a launch failed, the driver cannot start */
    ZS_LOG_WARN,      /* a call was refused: why */
    ZS_LOG_INFO,      /* modules, compilations, devices */
    ZS_LOG_DEBUG,     /* submissions and launches */
};

bool zs_log_enabled(enum zs_log_level level);
void zs_log(enum zs_log_level level, const char *format, ...) ZS_PRINTF(2, 3);
/* A setting that is not understood: to stderr as a warning, unless the log is off. */
void zs_log_setting(const char *format, ...) ZS_PRINTF(1, 2);

#endif
