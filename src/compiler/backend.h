/* SPDX-License-Identifier: MIT */
/*
 * Inside zescope-compiler: which compiler a device's builds get.
 *
 * libocloc comes first, with the IGC that it loads itself. What it does not know is left to the IGC
 * 1 that may be installed beside IGC 2 (Gen8 to Gen11), or, without libocloc, to whichever is here:
 * by IGC's own interface. ZESCOPE_IGC: "ocloc", or the library that is called for all devices.
 */
#ifndef ZS_COMPILER_BACKEND_H
#define ZS_COMPILER_BACKEND_H

#include "compiler/helper.h"
#include "compiler/igc.h"

struct zs_backends {
    struct zs_ocloc ocloc; /* invoke NULL: none */
    struct zs_igc igc;     /* main NULL: none */
    char *ocloc_igc;       /* path of the IGC that libocloc loads; NULL: not known */
    bool is_old_known;     /* libocloc's devices are all that there are */
};

/* False: there is none at all, and *ret_why says why. The identity has a line for each file that
 * was loaded. */
bool zs_backends_load(struct zs_backends *backends, struct zs_buf *ret_identity,
                      struct zs_buf *ret_why);
/* The log's last line says which compiler it was. */
enum zs_compiler_status zs_backends_build(const struct zs_backends *backends,
                                          const struct zs_compiler_request *request,
                                          struct zs_buf *ret_binary, struct zs_buf *ret_log);

#endif
