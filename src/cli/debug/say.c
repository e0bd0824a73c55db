/* SPDX-License-Identifier: MIT */
/* zescope debug: what all commands share: words and errors, the focus, numbers. */
#include "cli/debug/pager.h"
#include "cli/debug/shell.h"

#include "base/diag.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *zs_shell_tone(const struct zs_shell *s, enum zs_shell_tone tone)
{
    static const char *const colored[] = {"\x1b[0m", "\x1b[1m", "\x1b[33m", "\x1b[36m"};
    return s->color ? colored[tone] : "";
}

void zs_shell_say(struct zs_shell *shell, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    zs_buf_vprintf(&shell->out, format, args);
    va_end(args);
}

void zs_shell_flush(struct zs_shell *shell)
{
    if (shell->out.size_B && shell->capture)
        zs_buf_append(shell->capture, shell->out.data, shell->out.size_B);
    else if (shell->out.size_B)
        zs_shell_page(shell, (const char *)shell->out.data, shell->out.size_B);
    shell->out.size_B = 0;
    fflush(stdout);
}

void zs_shell_error(struct zs_shell *shell, const char *format, ...)
{
    struct zs_buf text = {0};
    va_list args;
    va_start(args, format);
    zs_buf_vprintf(&text, format, args);
    va_end(args);
    zs_shell_flush(shell);
    if (shell->capture)
        zs_buf_printf(shell->capture, "%s\n", zs_buf_cstr(&text));
    else
        zs_cli_print_stderr("%s\n", zs_buf_cstr(&text));
    zs_buf_fini(&text);
    shell->failed = true;
    shell->errors++;
}

/* What a person can do where nothing is stopped. */
static void add_next_step(const struct zs_shell *s, struct zs_buf *out)
{
    if (s->editor)
        zs_buf_puts(out, zs_debug_pid(s->debug) ? ": pause it first" : "");
    else if (zs_debug_pid(s->debug))
        zs_buf_puts(out, ": `continue` waits for a stop, and Ctrl-C makes one");
    else if (s->app)
        zs_buf_printf(out, ": `run` starts %s%s", s->app[0], s->has_run ? " again" : "");
    else
        zs_buf_puts(out, ": `zescope debug --pid N` attaches to another process");
}

bool zs_shell_ok(struct zs_shell *s, int error, const struct zs_diag *diag)
{
    if (error >= 0)
        return true;
    struct zs_buf text = {0};
    zs_buf_puts(&text, diag->text[0] ? diag->text : strerror(-error));
    if (!zs_debug_pid(s->debug) && (error == -ECHILD || error == -ESRCH))
        add_next_step(s, &text);
    else if (zs_debug_pid(s->debug) && !zs_debug_stopped(s->debug) &&
             (error == -EBUSY || error == -ESRCH))
        add_next_step(s, &text);
    zs_shell_error(s, "%s", zs_buf_cstr(&text));
    zs_buf_fini(&text);
    return false;
}

bool zs_shell_needs_stop(struct zs_shell *s)
{
    struct zs_diag diag = NEW_DIAG;
    if (zs_debug_pid(s->debug) && zs_debug_stopped(s->debug))
        return true;
    zs_diag_set(&diag, -ESRCH, ZS_DIAG_NO_OFFSET, "%s",
                zs_debug_pid(s->debug) ? "it runs" : "nothing is being debugged");
    return zs_shell_ok(s, -ESRCH, &diag);
}

struct zs_shell_focus zs_shell_focus(const struct zs_shell *s)
{
    struct zs_shell_focus f;
    zs_debug_focus(s->debug, &f.thread, &f.lane, &f.frame);
    return f;
}

bool zs_shell_scan_number(struct zs_shell *s, const char **args, uint64_t most, uint64_t *ret)
{
    const char *at = *args;
    char *end = NULL;
    bool is_number = isdigit((unsigned char)*at);
    bool is_hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
    errno = 0;
    *ret = is_number ? strtoull(at, &end, is_hex ? 16 : 10) : 0;
    if (is_number && !errno && *ret <= most) {
        *args = end;
        return true;
    }
    if (is_number)
        zs_shell_error(s, "%.*s is too large: a number up to %" PRIu64 " was expected",
                       (int)(end - at), at, most);
    else
        zs_shell_error(s, "a number was expected, not '%s'", at);
    return false;
}

bool zs_shell_take_number(struct zs_shell *s, const char **args, uint64_t otherwise, uint64_t most,
                          uint64_t *ret)
{
    const char *at = *args;
    *ret = otherwise;
    if (!*at)
        return true;
    if (!zs_shell_scan_number(s, &at, most, ret))
        return false;
    if (*at && !isspace((unsigned char)*at)) {
        zs_shell_error(s, "a number was expected, not '%s'", *args);
        return false;
    }
    while (isspace((unsigned char)*at))
        at++;
    *args = at;
    return true;
}

bool zs_shell_number(struct zs_shell *s, const char *args, uint64_t otherwise, uint64_t most,
                     uint64_t *ret)
{
    const char *at = args;
    if (!zs_shell_take_number(s, &at, otherwise, most, ret))
        return false;
    if (*at)
        zs_shell_error(s, "one number was expected, not '%s'", args);
    return !*at;
}
