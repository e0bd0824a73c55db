/* SPDX-License-Identifier: MIT */
/* Command lists, and how the append functions are written: see copy.c for examples. */
#ifndef ZS_DRIVER_QUEUE_LIST_H
#define ZS_DRIVER_QUEUE_LIST_H

#include "driver/queue/worker.h"

enum { ZS_COPY_PATTERN_B_MAX = 16 }; /* fill pattern of the copy group */

struct zs_ze_queue {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    struct zs_worker *worker;
    uint32_t ordinal, index;
    ze_command_queue_mode_t mode;
    ze_command_queue_priority_t priority;
    uint32_t flags;
};

struct zs_ze_list {
    struct zs_object object;
    struct zs_ze_context *context;
    struct zs_ze_device *device;
    uint32_t ordinal, index;
    bool closed;
    bool in_order;
    struct zs_program *program; /* regular lists */
    struct zs_worker *worker;   /* immediate lists */
    bool synchronous;           /* immediate: an append returns when its command is done */
    uint32_t flags;             /* of a list, or of a queue */
    ze_command_queue_priority_t priority; /* immediate */
};

/* An append under construction. */
struct zs_append {
    struct zs_ze_list *list;
    struct zs_command command;
    struct zs_ze_event_pool *pool; /* of the event that it signals, NULL: none; not held yet */
    struct zs_ze_event *counter;   /* that event, when it is counter-based: its slot comes last */
    ze_result_t result;            /* first refusal */
};

/*
 * Check the handles that all appends have in common and take references to the events waited for.
 * On refusal the result is not SUCCESS, and the append is nothing that needs ending.
 */
ze_result_t zs_append_begin(const char *function, ze_command_list_handle_t list,
                            ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits,
                            struct zs_append *ret_append);
/* Record or submit the command, which is taken over in any case. */
ze_result_t zs_append_end(struct zs_append *append);
/* The part of zs_append_end that records: `command` (the append's, or another one that signals in
 * its place) goes into the program. False, and still the caller's: no memory. */
bool zs_append_record(struct zs_append *append, struct zs_command *command,
                      struct zs_program *program);
/* The program was not submitted: nobody shall wait for the counter-based events that it signals. */
void zs_append_lost(struct zs_program *program);
/* Give it up again: releases the command, returns the result. */
ze_result_t zs_append_abandon(struct zs_append *append, ze_result_t result);

#endif
