/* SPDX-License-Identifier: MIT */
/*
 * What is typed at the debugger's prompt, over the scripted debugger: the input is lines. Each is
 * completed, too.
 */
#include "base/compiler.h"
#include "cli/debug/pager.h"
#include "cli/debug/shell.h"
#include "cli/debug/tui.h"

#include "../../unit/dap/fake_debugger.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

/* ---- what the shell has besides its commands ---- */

int zs_cli_write_text(const void *data, size_t size_B)
{
    (void)data;
    (void)size_B;
    return 0;
}

void zs_cli_print_stderr(const char *format, ...)
{
    (void)format;
}

struct zs_span zs_source_line(const struct zs_source *source, uint32_t line)
{
    return line >= 1 && line <= source->line_count ? source->text : (struct zs_span){0};
}

void zs_tui_idle(struct zs_shell *shell)
{
    (void)shell;
}

void zs_shell_begin_page(struct zs_shell *shell)
{
    (void)shell;
}

void zs_shell_page(struct zs_shell *shell, const char *text, size_t size_B)
{
    (void)shell;
    (void)text;
    (void)size_B;
}

void zs_shell_do_tui(struct zs_shell *shell, const char *args)
{
    zs_shell_error(shell, "%s", args);
}

void zs_shell_do_layout(struct zs_shell *shell, const char *args)
{
    zs_shell_error(shell, "%s", args);
}

void zs_shell_do_refresh(struct zs_shell *shell, const char *args)
{
    zs_shell_error(shell, "%s", args);
}

/* ---- lines ---- */

enum { LINES_MAX = 100 };

static void put(void *user, const char *word)
{
    size_t *count = user;
    zs_assert(word[0] != '\0');
    ++*count;
}

static void type(struct zs_shell *shell, const char *line)
{
    size_t begin, words = 0, length = strlen(line);
    zs_shell_complete(shell, line, length, &begin, put, &words);
    zs_assert(begin <= length);
    zs_shell_execute(shell, line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    static const struct zs_common_options common = {.quiet = true};
    static char program[] = "ends";
    char *app[] = {program, NULL};
    struct zs_buf out = {0};
    struct zs_debug_options options = {.size_B = sizeof(options)};
    struct zs_diag diag = {.offset_B = ZS_DIAG_NO_OFFSET};
    struct zs_shell shell = {.common = &common, .app = app, .capture = &out, .exit_status = -1};
    if (zs_debug_open(&options, &shell.debug, &diag))
        return 0;
    char *text = strndup((const char *)data, size_B), *rest = text, *line;
    for (int i = 0; i < LINES_MAX && !shell.quit && (line = strsep(&rest, "\n")); i++) {
        type(&shell, line);
        zs_buf_fini(&out);
        out = (struct zs_buf){0};
    }
    free(text);
    zs_debug_close(shell.debug);
    zs_shell_fini(&shell);
    zs_buf_fini(&out);
    return 0;
}
