/* SPDX-License-Identifier: MIT */
/*
 * What the debugger's screen needs of a terminal, by terminfo: a region that scrolls alone, at the
 * bottom of the screen, and text at places above it. The cursor stays where it is.
 */
#ifndef ZS_CLI_DEBUG_TERM_H
#define ZS_CLI_DEBUG_TERM_H

#include "base/buf.h"

/* True, or false with why not: a sentence. */
bool zs_term_open(const char **ret_why);
/* The size of the terminal now. */
void zs_term_size(unsigned *ret_rows, unsigned *ret_columns);

/* Sequences, appended to a buffer. */
/* Another screen, cleared, whose rows from `first` on scroll; the cursor is at the bottom. */
void zs_term_enter(struct zs_buf *out, unsigned first, unsigned rows);
/* The screen as it was. */
void zs_term_leave(struct zs_buf *out, unsigned rows);
/* What is put between them leaves the cursor where it was. */
void zs_term_begin(struct zs_buf *out);
void zs_term_end(struct zs_buf *out);
void zs_term_at(struct zs_buf *out, unsigned row, unsigned column);
enum zs_term_tone { ZS_TERM_PLAIN, ZS_TERM_STRONG, ZS_TERM_REVERSE };
void zs_term_tone(struct zs_buf *out, enum zs_term_tone as);

#endif
