/* SPDX-License-Identifier: MIT */
/*
 * The helper and its workers, as seen from the application: starting, handing out connections,
 * noticing that one ended. See message.h for what is said on them.
 */
#ifndef ZS_COMPILER_PROCESS_H
#define ZS_COMPILER_PROCESS_H

#include "base/own_fd.h"
#include "compiler/compiler.h"
#include "compiler/spawn.h"

#include "base/sha256.h"

#include <pthread.h>

enum { ZS_TURNS_MAX = 128, ZS_WORKERS_MAX = 2 * ZS_TURNS_MAX };

struct zs_processes {
    char *helper; /* its path */
    struct zs_environment environment;
    uint64_t time_limit_ns, memory_limit_B;
    pthread_mutex_t start_lock; /* of the next six; taken inside `lock`, held during a start */
    struct zs_own_fd control;
    pid_t pid;
    bool has_greeted, has_identity;
    uint8_t identity[ZS_SHA256_B];
    struct zs_buf identity_text;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t freed;
    uint32_t running, background, slot_count; /* the first includes the second */
    struct zs_slot {
        struct zs_own_fd fd; /* its worker, which may have ended */
        bool is_busy;
    } slots[ZS_WORKERS_MAX];
};

/* 0 or -ENOMEM. */
int zs_processes_init(struct zs_processes *p, const struct zs_compiler_settings *settings);
void zs_processes_fini(struct zs_processes *p);
void zs_processes_abandon(struct zs_processes *p); /* see zs_compiler_abandon */

/*
 * Who the compiler is, as text: the helper's files, one in a line with its size and time. Starts
 * the helper unless it was ever started. 0, or -errno and why.
 */
int zs_processes_identity(struct zs_processes *p, struct zs_buf *ret_text, struct zs_buf *ret_why);

/* Have a worker do a request, waiting for a turn. Those that nobody waits for take half of the
 * turns at most, and others one more than there are rather than wait for them. `keep`
 * (zs_keep_put): the worker finishes after this process, too, and keeps the result; empty: not. */
enum zs_compiler_status zs_processes_build(struct zs_processes *p, struct zs_span request,
                                           struct zs_span keep, bool is_background,
                                           struct zs_buf *ret_binary, struct zs_buf *ret_text);

/* After a build, and whatever else may have started the helper: see zs_spawn_adopts. */
void zs_processes_rest(struct zs_processes *p);

#endif
