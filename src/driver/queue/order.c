/* SPDX-License-Identifier: MIT */
#include "driver/queue/order.h"

#include "base/checks.h"
#include "base/id_map.h"
#include "driver/queue/worker.h"
#include "driver/report.h"

#include <stdlib.h>

struct zs_order {
    struct zs_between *between;
    pthread_mutex_t lock;   /* of what follows, and of all pasts of queues and fences */
    struct zs_past *host;   /* what it knows to be over */
    struct zs_id_map slots; /* pasts of events that were signalled */
    uint32_t running;       /* commands */
};

struct zs_order *zs_order_create(void)
{
    struct zs_order *o = calloc(1, sizeof(*o));
    if (!o)
        return NULL;
    pthread_mutex_init(&o->lock, NULL);
    o->between = zs_between_create();
    if (o->between)
        return o;
    zs_order_destroy(o);
    return NULL;
}

void zs_order_destroy(struct zs_order *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->slots.capacity; i++)
        zs_past_unref(o->slots.slots[i].value);
    zs_id_map_fini(&o->slots);
    zs_past_unref(o->host);
    zs_between_destroy(o->between);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

void zs_order_queue_fini(struct zs_order_queue *queue)
{
    zs_past_unref(queue->base);
    zs_past_unref(queue->all);
}

/* ---- commands ----------------------------------------------------------------------------------
 */

struct zs_past *zs_order_submitted(struct zs_ze_driver *driver)
{
    struct zs_order *o = driver->order;
    if (!o)
        return NULL;
    pthread_mutex_lock(&o->lock);
    struct zs_past *past = zs_past_ref(o->host);
    pthread_mutex_unlock(&o->lock);
    return past;
}

static void join(struct zs_order *o, struct zs_past **past, const struct zs_past *other)
{
    zs_past_join(o->between, past, other);
}

void zs_order_program(struct zs_exec *exec, const struct zs_program *program)
{
    struct zs_order *o = exec->context->driver->order;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    join(o, &exec->order->base, exec->submitted);
    if (!program->is_apart)
        join(o, &exec->order->base, exec->order->all);
    exec->order->is_in_order = program->is_in_order;
    pthread_mutex_unlock(&o->lock);
}

/* Under the lock. Who else signals a shared one is not known. */
static void join_event(struct zs_order *o, struct zs_past **past, const struct zs_ze_event *event)
{
    if (event->pool->file.kept.fd >= 0)
        zs_past_add_all(o->between, past);
    else
        join(o, past, zs_id_map_get(&o->slots, (uintptr_t)event->slot, 0));
}

static void report(void *context, const struct zs_gpu_finding *finding)
{
    const char *const sources[2] = {finding->site[0].source, finding->site[1].source};
    zs_report_finding(finding, sources);
}

static struct zs_between_command command_of(struct zs_order *o, const char *name, uint64_t origin,
                                            const struct zs_ze_context *context)
{
    return (struct zs_between_command){.between = o->between,
                                       .number = zs_between_number(o->between),
                                       .name = name,
                                       .origin = origin,
                                       .memory = context->memory,
                                       .found = report};
}

/* The next one begins no sooner than this one, which has waited. */
void zs_order_begin(struct zs_exec *exec, const struct zs_command *command)
{
    struct zs_order *o = exec->context->driver->order;
    if (!o)
        return;
    struct zs_order_queue *queue = exec->order;
    exec->between = command_of(o, command->op->name, command->origin, exec->context);
    pthread_mutex_lock(&o->lock);
    for (uint32_t i = 0; i < command->wait_count; i++)
        join_event(o, &queue->base, command->waits[i]);
    if (command->op->is_barrier)
        join(o, &queue->base, queue->all);
    join(o, &exec->between.past, queue->base);
    o->running++;
    pthread_mutex_unlock(&o->lock);
    zs_past_add(o->between, &exec->between.past, exec->between.number);
}

static void put_slot(struct zs_order *o, const struct zs_event_slot *slot,
                     const struct zs_past *past)
{
    struct zs_past *kept = NULL;
    join(o, &kept, past);
    zs_past_unref(zs_id_map_remove(&o->slots, (uintptr_t)slot, 0));
    if (kept && zs_id_map_put(&o->slots, (uintptr_t)slot, 0, kept)) /* nothing is missed then */
        zs_past_unref(kept);
}

void zs_order_end(struct zs_exec *exec, const struct zs_command *command)
{
    struct zs_order *o = exec->context->driver->order;
    if (!o)
        return;
    struct zs_order_queue *queue = exec->order;
    pthread_mutex_lock(&o->lock);
    join(o, &queue->all, exec->between.past);
    if (queue->is_in_order)
        join(o, &queue->base, queue->all);
    if (command->signal)
        put_slot(o, command->signal, exec->between.past);
    o->running--;
    pthread_mutex_unlock(&o->lock);
    zs_past_unref(exec->between.past);
    exec->between = (struct zs_between_command){0};
}

/* ---- the host ----------------------------------------------------------------------------------
 */

void zs_order_keep(struct zs_ze_driver *driver, struct zs_past **kept,
                   const struct zs_order_queue *queue)
{
    struct zs_order *o = driver->order;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    join(o, kept, queue->all);
    pthread_mutex_unlock(&o->lock);
}

void zs_order_saw(struct zs_ze_driver *driver, struct zs_past *const *past)
{
    struct zs_order *o = driver->order;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    join(o, &o->host, *past);
    pthread_mutex_unlock(&o->lock);
}

void zs_order_saw_event(const struct zs_ze_event *event)
{
    struct zs_order *o = event->pool->context->driver->order;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    join_event(o, &o->host, event);
    pthread_mutex_unlock(&o->lock);
}

void zs_order_saw_all(struct zs_ze_driver *driver)
{
    struct zs_order *o = driver->order;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    zs_past_add_all(o->between, &o->host);
    pthread_mutex_unlock(&o->lock);
}

void zs_order_host_signals(const struct zs_ze_event *event)
{
    struct zs_order *o = event->pool->context->driver->order;
    if (!o)
        return;
    pthread_mutex_lock(&o->lock);
    put_slot(o, event->slot, o->host);
    pthread_mutex_unlock(&o->lock);
}

void zs_order_made(struct zs_ze_driver *driver, uint64_t base, uint64_t size_B)
{
    if (driver->order)
        zs_between_forget(driver->order->between, base, size_B);
}

void zs_order_freed(struct zs_ze_context *context, const void *host, uint64_t size_B)
{
    struct zs_order *o = context->driver->order;
    if (!o)
        return;
    struct zs_between_command command =
        command_of(o, "zeMemFree", zs_report_origin(ZS_CHECK_RACE), context);
    pthread_mutex_lock(&o->lock);
    zs_past_add(o->between, &o->host, command.number);
    command.past = zs_past_ref(o->host);
    command.leaves_nothing = !o->running; /* what begins later finds no memory */
    pthread_mutex_unlock(&o->lock);
    zs_between_touch(&command, host, size_B, true);
    if (command.leaves_nothing)
        zs_order_made(context->driver, (uintptr_t)host, size_B);
    zs_past_unref(command.past);
}
