/* SPDX-License-Identifier: MIT */
/* Starting an application, passing signals on to it and waiting for it. */
#ifndef ZS_CLI_LAUNCH_H
#define ZS_CLI_LAUNCH_H

/*
 * argv[0] is looked up in PATH. SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 that come meanwhile are passed
 * on to the application, and one more (0: none); SIGINT and SIGQUIT of the terminal reach it anyway
 * and are ignored here. What was ignored before stays so. 0 with the exit status as a shell shows
 * it (128 + n: signal n), or -errno: it could not be started. One at a time.
 */
int zs_cli_run_app(char **argv, char **environment, int one_more_signal, int *ret_status);
/* SIGTERM for the application, while there is one. From any thread. */
void zs_cli_end_app(void);

#endif
