/* SPDX-License-Identifier: MIT */
/* Where the other files of an installation are. */
#ifndef ZS_CLI_PATHS_H
#define ZS_CLI_PATHS_H

#include "base/compiler.h"

#include <limits.h>

/*
 * The absolute path of one of our libraries: what the environment variable names, else beside the
 * command (../lib and its kin), else in the build tree (../<build_folder>). False: not there.
 */
bool zs_cli_find_library(const char *name, const char *variable, const char *build_folder,
                         char ret_path[PATH_MAX]);

/*
 * The last recording that was made in the current folder: where the link ZS_CLI_LAST leads. False:
 * there is none.
 */
#define ZS_CLI_LAST "zescope-last"
bool zs_cli_last_recording(char ret_path[PATH_MAX]);
/* Let the link lead to `recording` (absolute). Where something else has that name, it stays. */
void zs_cli_link_last(const char *recording);

/* A word as a shell takes it: as it is, or in single quotes where that is needed. Cut when it does
 * not fit, but always ended. */
void zs_cli_quote(const char *word, char *ret_text, size_t size_B);

/* Where the program is that a shell would start by this name, whose folder is looked for in PATH:
 * 0, -ENOENT, or -EACCES for what cannot be executed. */
int zs_cli_find_program(const char *name, char ret_path[PATH_MAX]);

/* Whether the driver (its path) can be the devices of a list ("skl,kbl:2"). If not, ret_why says
 * what is wrong and which devices there are. A driver that cannot be asked can be anything. */
bool zs_cli_check_devices(const char *driver, const char *list, char *ret_why, size_t size_B);

/*
 * Let the applications that are started find zescope's driver alone, with these devices (NULL: what
 * the environment says). An exit status, after a message for `command`.
 */
struct zs_command;
int zs_cli_use_software_gpu(const struct zs_command *command, const char *devices);
/* Where the driver is, for those who tell it to somebody else. An exit status after a message. */
int zs_cli_find_driver(char ret_driver[PATH_MAX]);

#endif
