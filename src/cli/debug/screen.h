/* SPDX-License-Identifier: MIT */
/* The terminal is left as it was at the end, by signals too. */
#ifndef ZS_CLI_DEBUG_SCREEN_H
#define ZS_CLI_DEBUG_SCREEN_H

#include "base/buf.h"

/* Between them signals that end the process restore the terminal, which `fd` is. */
void zs_screen_init(int fd);
void zs_screen_fini(void);
/* The screen as it was, until all is drawn again; for handlers, too. */
void zs_screen_suspend(void);
/* What brings the whole screen back; NULL: it is not split. */
void zs_screen_keep(const struct zs_buf *restore);
/* Panes have a part of it. */
bool zs_screen_is_split(void);

#endif
