/* SPDX-License-Identifier: MIT */
/* What kernels become on the software GPU (zescopeKernelGetLowered). */
#ifndef ZS_CLI_LOWERED_H
#define ZS_CLI_LOWERED_H

#include "cli/input.h"

/* operations, llvm, host: to stdout, of the selected kernels. An exit status. */
int zs_cli_print_lowered(const struct zs_command *command, const struct zs_input *input,
                         const char *step);

#endif
