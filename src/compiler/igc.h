/* SPDX-License-Identifier: MIT */
/*
 * Inside zescope-compiler: IGC by its own interface, for devices that ocloc does not know (any
 * more).
 *
 * libigc has one C function, CIFCreateMain(). All else are C++ objects ("CIF"): the first word is
 * the table of virtual functions, whose order is that of IGC's headers. Each interface has
 * versions, which add functions behind those of the version before; a library says which it has,
 * and objects are asked for in one that both know.
 */
#ifndef ZS_COMPILER_IGC_H
#define ZS_COMPILER_IGC_H

#include "compiler/compiler.h"

struct zs_igc {
    void *main; /* NULL: none */
    char *path;
    uint64_t versions[8]; /* that are asked for, of igc.c's interfaces */
};

/* Loads a library (a name or a path). False: *ret_why says why. */
bool zs_igc_load(struct zs_igc *igc, const char *library, struct zs_buf *ret_why);
/* Whether there is a row of igc.def. */
bool zs_igc_knows(const char *device);
/* As zs_ocloc_build, and what is made is the same: patch tokens in an ELF file, or a zebin. */
enum zs_compiler_status zs_igc_build(const struct zs_igc *igc,
                                     const struct zs_compiler_request *request,
                                     struct zs_buf *ret_binary, struct zs_buf *ret_log);

#endif
