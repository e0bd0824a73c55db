/* SPDX-License-Identifier: MIT */
#ifndef ZS_REPORT_RECORDING_PRIV_H
#define ZS_REPORT_RECORDING_PRIV_H

#include "base/filter.h"
#include "record/merge.h"
#include "record/recordings.h"
#include "report/call_tree.h"
#include "report/groups.h"
#include "report/recording.h"
#include "symbols/symbols.h"

#include <zescope/metrics.h>

/* What rows can be told apart by. */
enum key {
    KEY_CALL,
    KEY_RESULT,
    KEY_KERNEL,
    KEY_MODULE,
    KEY_DIRECTION,
    KEY_KIND,
    KEY_DEVICE,
    KEY_QUEUE,
    KEY_ENGINE,
    KEY_SHAPE,
    KEY_SIMD,
    KEY_SIZE,
    KEY_LIST,
    KEY_MARK,
    KEY_CALLER,
    KEY_BACKTRACE,
    KEY_PROCESS,
    KEY_THREAD,
    KEYS
};

#define BIT(key) (1u << KEY_##key)
enum {
    THREAD_KEYS = BIT(PROCESS) | BIT(THREAD),
    ORIGIN_KEYS = THREAD_KEYS | BIT(CALLER) | BIT(BACKTRACE),
    PLACE_KEYS = BIT(DEVICE) | BIT(QUEUE) | BIT(ENGINE) | BIT(LIST) | ORIGIN_KEYS,
    EVERYWHERE = ZS_COLUMN_IN_TEXT | ZS_COLUMN_IN_CSV | ZS_COLUMN_IN_JSON,
    DATA_ONLY = ZS_COLUMN_IN_CSV | ZS_COLUMN_IN_JSON,
};

struct report_key {
    const char *name; /* of --group-by */
    struct zs_table_column column;
};

struct report_table {
    const char *name;
    uint32_t usual, allowed; /* keys */
    uint32_t metrics;        /* enum metric */
    int order;               /* metric, falling */
};

extern const struct report_key report_keys[KEYS];
extern const struct report_table report_tables[ZS_REPORT_TABLES];

/* Rows that are not groups: of leaks and builds, each with a table's row of its own. */
struct item {
    uint64_t values[8];
    const char *text;
    uint32_t where; /* stack; 0: not known */
};

/* Groups of kernels by (groups, size): the text, and the numbers. */
struct shape {
    uint32_t groups[3], size[3];
    char text[96];
};

struct names {
    uint64_t process;
    uint32_t tid;
    const char *thread, *image;
};

struct zs_report {
    struct zs_arena arena;
    struct zs_activities activities;
    struct zs_merge_totals totals;
    struct zs_groups groups[ZS_REPORT_TABLES];
    uint32_t keys[ZS_REPORT_TABLES]; /* 0: items */
    struct {
        struct item *items;
        size_t count, capacity;
    } items[ZS_REPORT_TABLES];
    struct zs_table tables[ZS_REPORT_TABLES];
    uint64_t live_B, peak_B;
    struct zs_id_map strings, shapes, threads;
    struct zs_filter filter;
    const struct zs_merge_sink *also;
    const char **call_names; /* by index; NULL: the filter leaves it out */
    uint32_t call_count;
    struct zs_symbols *symbols; /* NULL: no backtraces, or none can be read */
    const char **callers;       /* by number of a stack - 1: its innermost frame, once asked for */
    size_t caller_count;
    struct zs_call_tree tree;
    bool wants_tree;
    const struct zs_act_kernel *recent_kernel;
    const char *recent_kernel_name;
    struct zs_recordings recordings; /* their modules */
    struct zs_metrics *metrics;      /* NULL: there are none */
    bool has_metrics;                /* a record of some was seen */
    struct zs_id_map modules;        /* names of kernels' modules that were looked up */
};

/* A stack's innermost frame, or all; NULL: not known, or no memory. */
const char *report_caller(struct zs_report *r, uint32_t where);
const char *report_backtrace(struct zs_report *r, uint32_t where);
/* The tables out of the groups and items. */
int report_build_tables(struct zs_report *r);
/* recording_metrics.c */
int report_metrics_table(struct zs_report *r);
/* A condition or order that no table knows is a mistake. */
int report_apply_view(struct zs_report *r, const struct zs_report_options *o, struct zs_diag *diag);

#endif
