/* SPDX-License-Identifier: MIT */
/* Inside zescope-compiler: the part that calls Intel's compiler. */
#ifndef ZS_COMPILER_HELPER_H
#define ZS_COMPILER_HELPER_H

#include "compiler/compiler.h"

/* Intel's libocloc, whose header compiles as C++ only. */
struct zs_ocloc {
    int (*invoke)(unsigned argc, const char *argv[], uint32_t source_count, const uint8_t **sources,
                  const uint64_t *source_sizes, const char **source_names, uint32_t header_count,
                  const uint8_t **headers, const uint64_t *header_sizes, const char **header_names,
                  uint32_t *ret_count, uint8_t ***ret_outputs, uint64_t **ret_sizes,
                  char ***ret_names);
    int (*free_outputs)(uint32_t *count, uint8_t ***outputs, uint64_t **sizes, char ***names);
};

/* False: *ret_why says why. */
bool zs_ocloc_load(struct zs_ocloc *ocloc, struct zs_buf *ret_why);
bool zs_ocloc_knows(const struct zs_ocloc *ocloc, const char *device);
enum zs_compiler_status zs_ocloc_build(const struct zs_ocloc *ocloc,
                                       const struct zs_compiler_request *request,
                                       struct zs_buf *ret_binary, struct zs_buf *ret_log);

#endif
