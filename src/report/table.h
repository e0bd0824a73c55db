/* SPDX-License-Identifier: MIT */
/*
 * A table of cells as text, CSV and JSON, with the same sorting and filtering for all tables.
 *
 * Rows and cells belong to whoever made the table; texts are borrowed.
 */
#ifndef ZS_REPORT_TABLE_H
#define ZS_REPORT_TABLE_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/json.h"

enum zs_cell_kind {
    ZS_CELL_TEXT,
    ZS_CELL_COUNT,
    ZS_CELL_ID,   /* a number that is a name: not summed, text sorts it ascending */
    ZS_CELL_NS,   /* a duration */
    ZS_CELL_TIME, /* a point in time, nanoseconds, an int64_t */
    ZS_CELL_BYTES,
    ZS_CELL_HEX,
    ZS_CELL_REAL,    /* a number that need not be whole */
    ZS_CELL_PERCENT, /* hundredths of a percent */
    ZS_CELL_TRIPLE,  /* three numbers */
    ZS_CELL_RESULTS, /* counts by result */
    ZS_CELL_TIMES,   /* how durations spread: in text a small picture from min to max */
};

struct zs_result_count {
    int32_t result;
    uint64_t count;
};

struct zs_results {
    const struct zs_result_count *items;
    uint32_t count;
};

struct zs_cell {
    bool known; /* else it reads n/a, null */
    union {
        uint64_t number;
        double real;
        const char *text;
        const uint32_t *triple;
        struct zs_results results;
        const struct zs_times *times;
    };
};

enum {
    ZS_COLUMN_IN_TEXT = 1,
    ZS_COLUMN_IN_CSV = 2,
    ZS_COLUMN_IN_JSON = 4,
    ZS_COLUMN_NAMES = 8,     /* in text behind the numbers */
    ZS_COLUMN_IF_KNOWN = 16, /* in text only if some row has it */
};

struct zs_table_column {
    const char *key;   /* "total_ns": of JSON and CSV, and for --sort and --where */
    const char *title; /* of text */
    enum zs_cell_kind kind;
    uint32_t where; /* ZS_COLUMN_... */
};

struct zs_table {
    const char *name; /* "calls" */
    struct zs_table_column *columns;
    size_t column_count;
    struct zs_cell *cells; /* row_count * column_count */
    size_t row_count;
    size_t left_out; /* rows beyond a limit */
};

/* One condition, "total_ns>1ms", "name~zeMem", "tid=12": a column (its unit may be left out), one
 * of = != < <= > >= ~ !~ (expressions), a value with an optional unit (ns us ms s K M G). */
struct zs_table_view {
    const char *sort; /* column, with ":asc" or ":desc" behind it if wanted; NULL: as it is */
    const char *const *where;
    size_t where_count;
    uint64_t limit; /* rows, 0: all */
};

/* NULL: no such column. "total" finds "total_ns", "bytes" "bytes". */
const struct zs_table_column *zs_table_find(const struct zs_table *table, const char *name,
                                            size_t length);
/* Sorts, filters, cuts in place. Columns that this table does not have are passed over; *ret_used
 * (as many as conditions, then the sort) says which were found. 0, -EINVAL with a sentence. */
int zs_table_apply(struct zs_table *table, const struct zs_table_view *view, bool *ret_used,
                   struct zs_diag *diag);

void zs_table_text(const struct zs_table *table, bool color, struct zs_buf *out);
void zs_table_csv(const struct zs_table *table, struct zs_buf *out);
/* An array of objects. */
void zs_table_json(const struct zs_table *table, const char *key, struct zs_json *json);

#endif
