/* SPDX-License-Identifier: MIT */
/*
 * Columns of numbers beside code in the text view: which are shown, how wide they are, totals of
 * lines, heat. A zero is a blank: what matters is what is there. What was not collected is "n/a".
 */
#ifndef ZS_REPORT_COLUMNS_H
#define ZS_REPORT_COLUMNS_H

#include "base/buf.h"

#include <zescope/annotate.h>

/* How hot a value is, as a part of the largest. */
enum zs_heat { ZS_HEAT_NONE, ZS_HEAT_SOME, ZS_HEAT_MUCH };

/* The total of a line's code; NaN where nothing was collected. */
double zs_column_of_runs(const struct zs_column *column, const struct zs_join_run *runs,
                         uint32_t run_count);

/*
 * Columns of one's own beside those that a kernel has, `front` of them in front and `behind`
 * behind: empty ones to be filled in, and zeros for their values. They stay until
 * zs_columns_detach(), which takes off what was attached last. 0 or -ENOMEM.
 */
struct zs_attached_columns {
    struct zs_column *front, *behind;
    double *values;
};
int zs_columns_attach(struct zs_code *code, uint32_t front, uint32_t behind, size_t value_count,
                      struct zs_attached_columns *ret);
void zs_columns_detach(struct zs_code *code);

struct zs_shown_column {
    const struct zs_column *column;
    double most_inst, most_line; /* largest values: what heat is a part of */
    uint32_t width;
};

/* The columns of one kernel that are shown. */
struct zs_shown_columns {
    struct zs_shown_column *items;
    uint32_t count;
};

/*
 * `names`: of columns, separated by commas; "all", "none", or NULL for those that are shown unless
 * asked otherwise. *ret_unknown: the first name that the kernel does not have (borrowed from
 * `names`, *ret_length bytes), or NULL. 0 or -ENOMEM; fini in any case.
 */
int zs_shown_columns_init(struct zs_shown_columns *shown, const struct zs_code *code,
                          const char *names, const char **ret_unknown, size_t *ret_length);
void zs_shown_columns_fini(struct zs_shown_columns *shown);

/* The column that heat is shown by: the first with heat, else NULL. */
const struct zs_column *zs_heat_column(const struct zs_code *code);

/* The cell with its blank behind it, always `width + 1` columns. `most`: of this kind of row. */
void zs_column_cell(struct zs_buf *out, const struct zs_shown_column *shown, double value,
                    double most);
enum zs_heat zs_column_heat(const struct zs_shown_column *shown, double value, double most);

#endif
