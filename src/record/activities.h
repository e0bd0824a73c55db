/* SPDX-License-Identifier: MIT */
/*
 * Device activity and the objects of an application as records give them (activity.h), with ids
 * resolved. Hostile input: ids that lead nowhere are NULL. merge.h reads them.
 */
#ifndef ZS_RECORD_ACTIVITIES_H
#define ZS_RECORD_ACTIVITIES_H

#include "base/arena.h"
#include "base/id_map.h"
#include "base/span.h"
#include "store/activity.h"

/* process: ordinal << 32 | pid, as in the files' names. */
struct zs_act_device {
    uint64_t process, id;
    const char *name;
    const char *label; /* the name, and which of several it is: "..., tile 1", "... #2" */
    uint64_t frequency_hz;
};

struct zs_act_queue {
    uint64_t process, id, device_id;
    const struct zs_act_device *device;
    uint32_t ordinal, index;
    bool once;      /* what it is given is executed once */
    bool immediate; /* of an immediate list */
};

struct zs_act_kernel {
    uint64_t process, id;
    const char *name;
    uint64_t simd, spill_B, private_B, local_B;
    uint64_t build;    /* id of its module's build in the process, 0: not known */
    uint64_t base;     /* device address of its code, 0: not known */
    bool is_rewritten; /* by a tool: addresses are not those of the module that is recorded */
    uint64_t time_ns;  /* when it was seen first */
};

struct zs_act_append {
    uint64_t process, id;
    uint64_t time_ns; /* when its call was entered; where that is not recorded, when it returned */
    uint64_t list, kernel_id, device_id, bytes, count;
    uint64_t call;  /* number of the API call in its thread, from 1; 0: not recorded (paused) */
    uint64_t track; /* of the thread */
    uint32_t tid, kind;
    uint64_t local_B;            /* of arguments: local memory whose size the application sets */
    uint32_t groups[3], size[3]; /* groups[0] == 0 or size[0] == 0: not known */
    uint8_t from, to;            /* enum zs_activity_memory */
    bool has_bytes;
    uint32_t where; /* stack of the call; 0: not recorded */
    const struct zs_act_kernel *kernel;
    const struct zs_act_device *device;
};

struct zs_act_execute {
    uint64_t process, id, queue_id;
    uint64_t submit_ns, start_ns, end_ns; /* end_ns 0: not known */
    bool estimated;
    bool again;                         /* the append stays: its list may be executed again */
    const struct zs_act_append *append; /* NULL: not recorded */
    const struct zs_act_queue *queue;
};

/* An object or allocation that came or went. */
struct zs_act_object {
    uint64_t process, time_ns, handle, size_B;
    uint64_t call;       /* number of the call in its thread, from 1 */
    uint64_t created_ns; /* when it goes: when it came; 0: not seen */
    uint32_t tid;
    uint32_t where; /* stack of the call that created it; 0: not recorded */
    uint8_t type;   /* of zs_act_object_name */
    bool is_create;
    uint32_t references; /* of OpenCL, beyond the first */
    bool is_implied;     /* it must have gone, for another came in its place: no call was seen */
};

/* One zeModuleCreate. */
struct zs_act_build {
    uint64_t process, time_ns, duration_ns;
    uint32_t tid;
    int32_t result;
    uint32_t where;
};

/* A time without recording. */
struct zs_act_pause {
    uint64_t process, start_ns, end_ns; /* end_ns 0: it was never resumed */
    uint32_t reason, end_reason;        /* enum zs_pause_reason */
};

/* What the application said (zescope/control.h). */
struct zs_act_mark {
    uint64_t process, time_ns, end_ns; /* end_ns 0: a mark, UINT64_MAX: a range that did not end */
    uint64_t track;                    /* of the thread */
    const char *name;
    uint32_t tid;
    uint32_t depth; /* ranges around it */
};

/* Return addresses from the innermost frame outwards. */
struct zs_act_stack {
    uint64_t process;
    const uint64_t *pcs;
    uint32_t count;
};

/* What activities refer to, and pauses. */
struct zs_activities {
    struct zs_arena arena;
    struct zs_id_map devices, queues, kernels, names, stack_ids;
    struct {
        struct zs_act_pause *items;
        size_t count, capacity;
    } pauses; /* by process and time, once all was read */
    struct {
        struct zs_act_stack *items;
        size_t count, capacity;
    } stacks;       /* by `where` - 1 */
    bool collected; /* some device was seen: activity was recorded */
};

void zs_activities_init(struct zs_activities *activities);
void zs_activities_free(struct zs_activities *activities);

/* A record's fields. */
struct zs_act_record {
    bool is_rewritten, is_opencl;
    uint64_t fields[ZS_ACT_FIELDS];
    uint32_t groups[3], size[3], group_count, size_count;
    uint64_t base;
    struct zs_span name;
    bool has_bytes;
};

bool zs_act_record_parse(struct zs_span span, struct zs_act_record *ret_record);
/* Devices, queues, kernels, pauses; others are left alone. 0 or -ENOMEM. */
int zs_activities_add(struct zs_activities *activities, uint64_t process,
                      const struct zs_act_record *record, uint64_t time_ns);
/* Number of a stack, from 1; 0: no memory. */
uint32_t zs_activities_stack(struct zs_activities *activities, uint64_t process,
                             const uint64_t *pcs, uint32_t count);
/* The one copy of a mark's name; NULL: no memory. */
const char *zs_activities_name(struct zs_activities *activities, struct zs_span name);
/* Pauses and resumes, as they were added, become times without recording. */
void zs_activities_join_pauses(struct zs_activities *activities);
/* Without the call that it stands in. False: its device or kernel is not known (yet). */
bool zs_act_append_make(const struct zs_activities *activities, uint64_t process,
                        const struct zs_act_record *record, uint64_t time_ns,
                        struct zs_act_append *ret_append);
/* Without its append. */
struct zs_act_execute zs_act_execute_make(const struct zs_activities *activities, uint64_t process,
                                          const struct zs_act_record *record);

enum zs_act_object_type {
#define OBJECT(enumerator, name) ZS_ACT_OBJECT_##enumerator,
#include "store/act_objects.def"
#undef OBJECT
    ZS_ACT_OBJECT_TYPES
};

/* "device memory", "event pool"; NULL beyond the last. The first three are allocations. */
const char *zs_act_object_name(uint32_t type);
enum { ZS_ACT_ALLOCATION_TYPES = 3 };
/* "signal", "API"; "unknown" beyond the last. */
const char *zs_act_pause_reason_name(uint32_t reason);
/* "kernel", "copy". */
const char *zs_act_kind_name(uint32_t kind);
/* "host-to-device"; where something is not known "unknown". */
void zs_act_direction(const struct zs_act_append *append, char *ret_text, size_t size_B);

#endif
