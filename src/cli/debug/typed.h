/* SPDX-License-Identifier: MIT */
/*
 * Lines that were typed, kept for later sessions: one after the other in a file that is its user's
 * alone, $XDG_STATE_HOME/zescope/debug_history or ~/.local/state/zescope/debug_history. A line is
 * added as soon as it is typed, so sessions at the same time lose nothing of each other, and what
 * ends a session takes nothing with it. Where it cannot be read or written, nothing is kept.
 */
#ifndef ZS_CLI_DEBUG_TYPED_H
#define ZS_CLI_DEBUG_TYPED_H

#include <stdbool.h>
#include <stddef.h>

enum { ZS_TYPED_LINES = 1000 }; /* that are remembered */

struct zs_typed {
    int fd; /* -1: nothing is kept */
    size_t size_B;
    char *last;
};

/* Lines of earlier sessions are put, the oldest first; NULL: they are not wanted. */
void zs_typed_open(struct zs_typed *typed, void (*put)(void *user, const char *line), void *user);
void zs_typed_add(struct zs_typed *typed, const char *line);
void zs_typed_close(struct zs_typed *typed);

#endif
