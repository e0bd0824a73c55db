/* SPDX-License-Identifier: MIT */
/*
 * The debugger's screen: panes with source, code, variables and lanes above the lines that are
 * typed. What commands and the application write scrolls in the rows below the panes; the panes are
 * drawn again at every prompt. The terminal is left as it was at the end, by signals too.
 */
#ifndef ZS_CLI_DEBUG_TUI_H
#define ZS_CLI_DEBUG_TUI_H

#include "cli/debug/shell.h"

/* Between them signals that end the process restore the terminal, which `fd` is. */
void zs_tui_init(int fd);
void zs_tui_fini(void);

/* The screen as it was, until all is drawn again; for handlers, too. */
void zs_tui_suspend(void);

bool zs_tui_is_on(void);
/* On, off; false after a message. */
bool zs_tui_enable(struct zs_shell *shell);
void zs_tui_disable(void);
/* Ctrl-X A */
void zs_tui_toggle(struct zs_shell *shell);
/* The panes again, as it is now; all: the screen is to be cleared, or has another size. */
void zs_tui_draw(struct zs_shell *shell, bool all);
/* The source pane by pages. */
void zs_tui_scroll(struct zs_shell *shell, int pages);

#endif
