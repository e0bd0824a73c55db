/* SPDX-License-Identifier: MIT */
/*
 * Builds that get -g for their lines: some compilers do not survive that of some programs, and the
 * application dies with them. While such a build is under way a file in the user's cache says so,
 * by the program's hash. Where one is whose process is gone, the program is built as it was given.
 */
#ifndef ZS_COLLECT_LINES_H
#define ZS_COLLECT_LINES_H

#include "collect/collect.h"

enum { ZS_LINES_PATH_CHARS = 512 };

struct zs_lines {
    char path[ZS_LINES_PATH_CHARS]; /* "": nothing to take away */
};

/* Whether the program may be built with -g that it did not ask for. false: a note says why. */
bool zs_lines_begin(struct zs_collector *c, struct zs_span program, struct zs_lines *ret);
/* The compiler is back. */
void zs_lines_end(struct zs_lines *lines);

#endif
