/* SPDX-License-Identifier: MIT */
/* Applications on Intel's own drivers (docs/intel-stack.md). */
#ifndef ZS_CLI_INTEL_H
#define ZS_CLI_INTEL_H

#include "base/compiler.h"

/*
 * Let the applications that are started find emulated nodes of these devices (NULL: what the
 * environment says), which are told the names of kernels and memory. with_checks: modules get
 * debug information, and drivers give each allocation memory of its own. An exit status, after a
 * message.
 */
struct zs_command;
int zs_cli_use_intel(const struct zs_command *command, const char *devices, bool with_checks);
/* Whether this process, and what it starts, has emulated nodes already. */
bool zs_cli_has_intel_nodes(void);
/* Tells drivers, by the environment, to give each allocation memory of its own. false: no memory.
 */
bool zs_cli_separate_allocations(void);

#endif
