/* SPDX-License-Identifier: MIT */
#ifndef ZS_COLLECT_ACTIVITY_SHAPE_H
#define ZS_COLLECT_ACTIVITY_SHAPE_H

#include "api_calls.h"
#include "collect/activity_priv.h"

struct act_append_call {
    uint32_t signal; /* index of the parameter hSignalEvent */
    enum zs_activity_kind kind;
    void (*fill)(struct zs_activity *a, const struct zs_trace_event *event,
                 struct act_context *context, struct act_shape *shape);
};

/* What has to be known of an append beyond its parameters. */
enum act_shape_need {
    ACT_SHAPE_TABLES, /* images, contexts: ask `fill`, with the lock */
    ACT_SHAPE_KERNEL, /* its kernel */
    ACT_SHAPE_NOTHING /* `fill` needs no lock */
};
enum act_shape_need act_shape_need(const struct act_append_call *call);
/* The shape of a launch whose kernel is known. */
void act_shape_launch(const struct act_kernel *kernel, const ze_group_count_t *groups,
                      struct act_shape *shape);

/* NULL: the call appends nothing that a device spends time on. */
const struct act_append_call *act_append_call_of(uint32_t call);

#endif
