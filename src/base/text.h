/* SPDX-License-Identifier: MIT */
/*
 * Text for terminals. What names, paths, sources and notes of a file say is shown, and obeyed by no
 * terminal: everything that is not a printable character, a newline or a tab is written as an
 * escape, "\x1b" for a byte, "\u202e" for a character. That goes for control characters (C0, DEL,
 * C1), bytes that are no UTF-8, and characters that have no shape of their own but change how
 * others are shown: overrides and isolates of direction, joiners, separators of lines, tags.
 *
 * Writers of views clean what comes from files with zs_text_put, so that no colour in it is taken
 * for one of ours; commands pass all that they print through a filter, which lets colours pass and
 * nothing else: nothing can be forgotten.
 */
#ifndef ZS_BASE_TEXT_H
#define ZS_BASE_TEXT_H

#include "base/buf.h"

/* "1 file", "2 files". */
static inline const char *zs_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* Whole lines of text, clean but for colours: `data` itself where nothing is wrong with it, else in
 * `scratch` (whose error says when memory ran out). */
struct zs_span zs_text_clean(struct zs_buf *scratch, const void *data, size_t size_B);

/* Append a name or another text of one line, clean: without colours, newlines and tabs. */
void zs_text_put(struct zs_buf *out, const void *data, size_t size_B);
void zs_text_puts(struct zs_buf *out, const char *text);

#endif
