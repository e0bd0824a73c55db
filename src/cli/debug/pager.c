/* SPDX-License-Identifier: MIT */
/* zescope debug: what one command writes to a terminal, by pages. */
#include "cli/debug/pager.h"
#include "cli/debug/screen.h"
#include "cli/debug/signals.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char question[] = "--RET for more, q to quit, c to continue without pages--";

/* Rows and columns of the terminal; false: it has none, or there are no pages. */
static bool page_size(const struct zs_shell *s, uint32_t *ret_rows, uint32_t *ret_columns)
{
    struct winsize size;
    if (!s->interactive || s->no_pages || s->capture || s->waits || zs_screen_is_split() ||
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        return false;
    *ret_rows = s->page_rows ? s->page_rows : size.ws_row;
    *ret_columns = size.ws_col;
    return *ret_rows > 1 && *ret_columns;
}

/* How many rows a line takes; escape sequences take no place. */
static uint32_t rows_of(const char *line, size_t length, uint32_t columns)
{
    uint32_t width = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\x1b')
            while (i + 1 < length && line[i] != 'm')
                i++;
        else if (line[i] == '\t')
            width += 8 - width % 8;
        else
            width += ((unsigned char)line[i] & 0xc0) != 0x80;
    }
    return width ? (width + columns - 1) / columns : 1;
}

void zs_shell_page(struct zs_shell *s, const char *text, size_t size_B)
{
    uint32_t rows, columns;
    const char *end = text + size_B;
    if (!page_size(s, &rows, &columns)) {
        (void)zs_cli_write_text(text, size_B);
        return;
    }
    while (text < end && !s->page_dropped) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = newline ? (size_t)(newline - text) : (size_t)(end - text);
        uint32_t more = rows_of(text, length, columns);
        if (s->page_shown && s->page_shown + more >= rows) {
            (void)zs_cli_write_text(question, sizeof(question) - 1);
            fflush(stdout);
            char answer = zs_signals_ask(fileno(s->in));
            s->page_shown = 0;
            s->no_pages_now = answer == 'c';
            s->page_dropped = answer == 'q';
            if (s->page_dropped)
                return;
        }
        length += newline != NULL;
        if (s->no_pages_now)
            length = (size_t)(end - text);
        (void)zs_cli_write_text(text, length);
        text += length;
        s->page_shown += s->no_pages_now ? 0 : more;
    }
}

void zs_shell_begin_page(struct zs_shell *s)
{
    s->page_shown = 0;
    s->page_dropped = s->no_pages_now = false;
}
