/* SPDX-License-Identifier: MIT */
#ifndef ZS_CLI_GPU_H
#define ZS_CLI_GPU_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a Level Zero driver of this machine, other than zescope's, has a GPU, and its name. The
 * drivers are asked in a process of their own. */
bool zs_cli_find_gpu(char *ret_name, size_t size_B);

#endif
