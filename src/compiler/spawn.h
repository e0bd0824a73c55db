/* SPDX-License-Identifier: MIT */
/* Starting a process of ours from within a process that is not ours. */
#ifndef ZS_COMPILER_SPAWN_H
#define ZS_COMPILER_SPAWN_H

#include "base/buf.h"

#include <sys/types.h>

/* The environment that the process gets: a copy, without what would load other code into it. */
struct zs_environment {
    char **strings;    /* ends in NULL */
    struct zs_buf key; /* what changes the results of the compiler */
    bool has_effects;  /* the compiler is asked to leave files: nothing may stand in for a run */
};
int zs_environment_copy(struct zs_environment *ret_environment); /* 0 or -ENOMEM */
void zs_environment_fini(struct zs_environment *environment);

/*
 * Start argv[0] with descriptor 3 as `socket` and /dev/null as 0, 1 and 2, in a session of its own.
 * It is not a child of this process: neither wait() nor SIGCHLD tell of it. 0 or -errno; *ret_pid
 * is 0 when it is not known.
 */
int zs_spawn(char *const argv[], char *const environment[], int socket, pid_t *ret_pid);

/* Orphans of this process become its children (it is the first one of its namespace, or asked for
 * that): there zs_spawn cannot keep its word about wait(), and what it started should end soon. */
bool zs_spawn_adopts(void);
/* Such a child, which is about to end: waits a little for it. */
void zs_spawn_reap(pid_t pid);

#endif
