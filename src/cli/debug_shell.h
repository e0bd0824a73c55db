/* SPDX-License-Identifier: MIT */
/* The debugger's commands as people type them. */
#ifndef ZS_CLI_DEBUG_SHELL_H
#define ZS_CLI_DEBUG_SHELL_H

#include "base/buf.h"
#include "cli/options.h"

#include <zescope/debug.h>

enum { ZS_SHELL_DISPLAYS_MAX = 32 };

struct zs_shell {
    const struct zs_common_options *common;
    struct zs_debugger *debug;
    char **app; /* argv of `run`, NULL: none */
    struct zs_buf out;
    bool color;
    bool interactive;
    bool quit;
    bool failed;     /* a command of a script failed */
    int exit_status; /* of the application; -1: has not ended */
    char *last;      /* what an empty line repeats */
    char *displays[ZS_SHELL_DISPLAYS_MAX];
    uint32_t display_count;
    char *list_file;
    uint32_t list_line;
};

/* One line. What it prints is written to stdout. */
void zs_shell_execute(struct zs_shell *shell, const char *line);
/* The n-th command's name, for completion; NULL behind the last one. */
const char *zs_shell_command_name(size_t index);
/* Lines from the terminal, until it ends or a command says so. */
void zs_shell_interact(struct zs_shell *shell);
void zs_shell_fini(struct zs_shell *shell);

/* ---- debug_show.c: appended to shell->out ---- */

void zs_shell_say(struct zs_shell *shell, const char *format, ...) ZS_PRINTF(2, 3);
void zs_shell_error(struct zs_shell *shell, const char *format, ...) ZS_PRINTF(2, 3);
void zs_shell_flush(struct zs_shell *shell);
void zs_shell_show_event(struct zs_shell *shell, const struct zs_debug_event *event);
void zs_shell_show_frame(struct zs_shell *shell, uint32_t number,
                         const struct zs_debug_frame *frame);
void zs_shell_show_line(struct zs_shell *shell, const char *file, uint32_t line, bool current);
void zs_shell_show_where(struct zs_shell *shell);
void zs_shell_show_lanes_table(struct zs_shell *shell, const char *expression);
void zs_shell_show_threads(struct zs_shell *shell);
void zs_shell_show_lanes(struct zs_shell *shell);
void zs_shell_show_breakpoints(struct zs_shell *shell);
void zs_shell_show_registers(struct zs_shell *shell, const char *prefix);
void zs_shell_show_code(struct zs_shell *shell, uint64_t gpu_va, uint32_t before, uint32_t count);

#endif
