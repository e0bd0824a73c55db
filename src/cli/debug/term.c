/* SPDX-License-Identifier: MIT */
#include "cli/debug/term.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifdef ZS_HAVE_TINFO
/* clang-format off */
#include <curses.h> /* terminfo's header wants it first */
#include <term.h>
/* clang-format on */
/* Names of terminfo that are macros there. */
#undef lines
#undef columns

enum cap {
    CAP_SCROLL,
    CAP_AT,
    CAP_SAVE,
    CAP_RESTORE,
    CAP_CLEAR,
    CAP_NEEDED,
    CAP_ENTER = CAP_NEEDED,
    CAP_LEAVE,
    CAP_STRONG,
    CAP_REVERSE,
    CAP_PLAIN,
    CAP_HIDE,
    CAP_SHOW,
    CAP_COUNT
};
static const char *const cap_names[CAP_COUNT] = {"csr",   "cup",  "sc",  "rc",   "clear", "smcup",
                                                 "rmcup", "bold", "rev", "sgr0", "civis", "cnorm"};
static const char *caps[CAP_COUNT];
static struct zs_buf *sink; /* of tputs, whose function has no argument for it */

static int put_byte(int byte)
{
    zs_buf_putc(sink, (char)byte);
    return byte;
}

static void put(struct zs_buf *out, enum cap cap, unsigned a, unsigned b)
{
    if (!caps[cap])
        return;
    sink = out;
    tputs(tparm((char *)(uintptr_t)caps[cap], (long)a, (long)b, 0L, 0L, 0L, 0L, 0L, 0L, 0L), 1,
          put_byte);
}

bool zs_term_open(const char **ret_why)
{
    static bool opened;
    int error;
    if (!isatty(STDOUT_FILENO)) {
        *ret_why = "stdout is no terminal";
        return false;
    }
    if (!opened && setupterm(NULL, STDOUT_FILENO, &error) != OK) {
        *ret_why = "the terminal is not known: TERM names none that terminfo has";
        return false;
    }
    opened = true;
    for (int i = 0; i < CAP_COUNT; i++) {
        const char *found = tigetstr((char *)(uintptr_t)cap_names[i]);
        caps[i] = found && found != (const char *)-1 && *found ? found : NULL;
        if (!caps[i] && i < CAP_NEEDED) {
            *ret_why = "the terminal (TERM) cannot keep a part of its screen while another scrolls";
            return false;
        }
    }
    return true;
}

void zs_term_enter(struct zs_buf *out, unsigned first, unsigned rows)
{
    put(out, CAP_ENTER, 0, 0);
    put(out, CAP_CLEAR, 0, 0);
    put(out, CAP_SCROLL, first, rows - 1);
    put(out, CAP_AT, rows - 1, 0);
}

void zs_term_leave(struct zs_buf *out, unsigned rows)
{
    put(out, CAP_PLAIN, 0, 0);
    put(out, CAP_SHOW, 0, 0);
    put(out, CAP_SCROLL, 0, rows - 1);
    put(out, CAP_AT, rows - 1, 0);
    put(out, CAP_LEAVE, 0, 0);
}

void zs_term_begin(struct zs_buf *out)
{
    put(out, CAP_SAVE, 0, 0);
    put(out, CAP_HIDE, 0, 0);
}

void zs_term_end(struct zs_buf *out)
{
    put(out, CAP_PLAIN, 0, 0);
    put(out, CAP_RESTORE, 0, 0);
    put(out, CAP_SHOW, 0, 0);
}

void zs_term_at(struct zs_buf *out, unsigned row, unsigned column)
{
    put(out, CAP_AT, row, column);
}

void zs_term_tone(struct zs_buf *out, enum zs_term_tone as)
{
    put(out,
        as == ZS_TERM_STRONG    ? CAP_STRONG
        : as == ZS_TERM_REVERSE ? CAP_REVERSE
                                : CAP_PLAIN,
        0, 0);
}

#else

bool zs_term_open(const char **ret_why)
{
    *ret_why = "this zescope was built without ncurses";
    return false;
}

void zs_term_enter(struct zs_buf *out, unsigned first, unsigned rows)
{
}

void zs_term_leave(struct zs_buf *out, unsigned rows)
{
}

void zs_term_begin(struct zs_buf *out)
{
}

void zs_term_end(struct zs_buf *out)
{
}

void zs_term_at(struct zs_buf *out, unsigned row, unsigned column)
{
}

void zs_term_tone(struct zs_buf *out, enum zs_term_tone as)
{
}
#endif

void zs_term_size(unsigned *ret_rows, unsigned *ret_columns)
{
    struct winsize size;
    bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col;
    *ret_rows = known ? size.ws_row : 24;
    *ret_columns = known ? size.ws_col : 80;
}
