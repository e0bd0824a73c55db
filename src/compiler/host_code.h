/* SPDX-License-Identifier: MIT */
/* Inside zescope-compiler: what LLVM, found at run time, makes of the compiled tier's modules. */
#ifndef ZS_COMPILER_HOST_CODE_H
#define ZS_COMPILER_HOST_CODE_H

#include "base/buf.h"

struct zs_host_llvm; /* functions of the library */

/* NULL: there is no LLVM here, and ret_why says so. It stays loaded. */
const struct zs_host_llvm *zs_host_llvm_load(struct zs_buf *ret_why);

/*
 * From a module in LLVM's language to code without relocations: its functions e0 ... are at
 * ret_entries. 0; -ENOTSUP, -EBADMSG and a reason.
 */
int zs_host_code(const struct zs_host_llvm *llvm, struct zs_buf *text, uint32_t entry_count,
                 uint32_t *ret_entries_B, struct zs_buf *ret_code, struct zs_buf *ret_why);

/* A request of the tier's (zs_eu_tier_request_put) to a blob, or to what people read of it: the
 * module as it is written, the host's code; `seen` is that of the options. -ENOENT: no LLVM here;
 * -ENOTSUP: it stays with the interpreter. */
enum zs_host_form { ZS_HOST_BLOB, ZS_HOST_MODULE, ZS_HOST_ASSEMBLY };
int zs_host_build(struct zs_span request, struct zs_span seen, enum zs_host_form form,
                  struct zs_buf *ret_blob, struct zs_buf *ret_why);

#endif
