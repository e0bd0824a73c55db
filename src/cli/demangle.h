/* SPDX-License-Identifier: MIT */
/*
 * Names of C++ as they were written: "_ZTSZZ4mainENK..6VecAdd" is main::{lambda ...}::VecAdd.
 *
 * The demangler is libstdc++'s, which hostile names can make take endless memory and time: a name
 * of 600 bytes can stand for one of gigabytes. So it works in a process of its own (this command
 * started again) with a limit of memory, and a second for each name. Where there is no libstdc++,
 * names stay as they are.
 */
#ifndef ZS_CLI_DEMANGLE_H
#define ZS_CLI_DEMANGLE_H

#include "base/buf.h"

/* Off for everything that is printed from now on (--no-demangle). */
void zs_cli_demangle_off(void);
/* NULL: it is no such name, or cannot be read. What is returned lives as long as the process. */
const char *zs_cli_demangle(const char *name, size_t size_B);
/* Text with each such name in it replaced: `text` itself where there is none, else in `scratch`. */
struct zs_span zs_cli_readable(struct zs_buf *scratch, struct zs_span text);
/* In the process that does it: answers what stdin asks, until it ends. */
int zs_cli_demangle_serve(void);

#endif
