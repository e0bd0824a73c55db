/* SPDX-License-Identifier: MIT */
#ifndef ZS_CLI_DEBUG_PAGER_H
#define ZS_CLI_DEBUG_PAGER_H

#include "cli/debug/shell.h"

/* A command begins. */
void zs_shell_begin_page(struct zs_shell *shell);
/* Written, with a question at the end of each page. */
void zs_shell_page(struct zs_shell *shell, const char *text, size_t size_B);

#endif
