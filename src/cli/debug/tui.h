/* SPDX-License-Identifier: MIT */
/*
 * The debugger's screen: panes with source, code, variables and lanes above the lines that are
 * typed. What commands and the application write scrolls in the rows below the panes; the panes are
 * drawn again at every prompt.
 */
#ifndef ZS_CLI_DEBUG_TUI_H
#define ZS_CLI_DEBUG_TUI_H

#include "cli/debug/shell.h"

/* On, off; false after a message. */
bool zs_tui_enable(struct zs_shell *shell);
void zs_tui_disable(void);
/* The terminal has another size, or the process was continued: what is to be drawn again. */
void zs_tui_idle(struct zs_shell *shell);
/* Ctrl-X A */
void zs_tui_toggle(struct zs_shell *shell);
/* The panes again, as it is now; all: the screen is to be cleared, or has another size. */
void zs_tui_draw(struct zs_shell *shell, bool all);
/* The source pane by pages. */
void zs_tui_scroll(struct zs_shell *shell, int pages);

#endif
