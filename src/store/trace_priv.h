/* SPDX-License-Identifier: MIT */
#ifndef ZS_STORE_TRACE_PRIV_H
#define ZS_STORE_TRACE_PRIV_H

#include "store/trace_writer.h"

/* trace_space.c: the window that holds the next byte to write; the file is made first where it is
 * not there. False: nothing can be written now. */
bool zs_trace_space_next(struct zs_trace_file *file);

/* trace_writer.c */
void zs_trace_file_number(struct zs_trace_file *file, uint32_t number);
bool zs_trace_kernel_uses_ticks(void);

#endif
