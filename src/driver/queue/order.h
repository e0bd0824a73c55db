/* SPDX-License-Identifier: MIT */
/*
 * What orders commands, for races between them (--check=race; gpu/between.h): queues, lists in
 * order, barriers, events, fences, and the host that waits or asks.
 *
 * Commands of a list begin in order, and nothing says which ends first. Lists of a queue are one
 * after the other. The host counts as one thread. Without the check driver->order is NULL, and
 * nothing here does anything.
 */
#ifndef ZS_DRIVER_QUEUE_ORDER_H
#define ZS_DRIVER_QUEUE_ORDER_H

#include "driver/queue/event.h"
#include "gpu/between.h"

struct zs_command;
struct zs_exec;
struct zs_program;

/* Of a queue or an immediate list: what is over before its next command begins, and all of it. */
struct zs_order_queue {
    struct zs_past *base, *all;
    bool is_in_order; /* the list that runs there */
};

struct zs_order *zs_order_create(void); /* NULL: no memory */
void zs_order_destroy(struct zs_order *order);
void zs_order_queue_fini(struct zs_order_queue *queue);

/* What the host knows as it submits; the caller's reference. */
struct zs_past *zs_order_submitted(struct zs_ze_driver *driver);
/* A program begins; exec->order is its queue, exec->submitted what the host knew. */
void zs_order_program(struct zs_exec *exec, const struct zs_program *program);
/* A command has waited for its events, and has ended: before others see that. */
void zs_order_begin(struct zs_exec *exec, const struct zs_command *command);
void zs_order_end(struct zs_exec *exec, const struct zs_command *command);

/* The host has seen the end of what the queue had done, of a past that was kept, and of an event;
 * and of all commands. */
void zs_order_keep(struct zs_ze_driver *driver, struct zs_past **kept,
                   const struct zs_order_queue *queue);
void zs_order_saw(struct zs_ze_driver *driver, struct zs_past *const *past);
void zs_order_saw_event(const struct zs_ze_event *event);
void zs_order_saw_all(struct zs_ze_driver *driver);
void zs_order_host_signals(const struct zs_ze_event *event);
/* Memory is made, and freed by the program. */
void zs_order_made(struct zs_ze_driver *driver, uint64_t base, uint64_t size_B);
void zs_order_freed(struct zs_ze_context *context, const void *host, uint64_t size_B);

#endif
