/* SPDX-License-Identifier: MIT */
/*
 * zescope: a tool of one's own for `zescope instrument` and `zescope record --instrument`.
 *
 * A tool is a struct zs_tool with the name zescope_tool in a shared library:
 *
 *     cc -shared -fPIC -o mytool.so mytool.c
 *     zescope instrument ./mytool.so -- app
 *
 * The application runs with its modules rewritten as `instrument` says. When it has ended, the same
 * is done once more to the modules that were recorded, and `counter` and `record` are called with
 * what the probes found out, summed over all launches: a tool keeps nothing in between. They give
 * rows to a table.
 *
 * The library's functions (zs_edit_*, zs_isa_*, zs_module_*, zs_tool_*) are those of the command.
 * Nothing of a tool runs in the application. Should it crash, the application goes on with modules
 * as they were.
 */
#ifndef ZESCOPE_INSTRUMENT_H
#define ZESCOPE_INSTRUMENT_H

#include <zescope/edit.h>

#ifdef __cplusplus
extern "C" {
#endif

struct zs_tool_run;

enum zs_tool_column_kind {
    ZS_TOOL_KEY,   /* text; rows with the same keys are one */
    ZS_TOOL_SUM,   /* numbers of these are added */
    ZS_TOOL_MIN,   /* ... the least of them is kept */
    ZS_TOOL_MAX,   /* ... the largest */
    ZS_TOOL_RATIO, /* of the columns `above` and `below`; nothing is given for it */
};

struct zs_tool_column {
    const char *name; /* "executions" */
    uint32_t kind;    /* enum zs_tool_column_kind */
    uint32_t above, below;
};
enum { ZS_TOOL_COLUMNS_MAX = 16 };

struct zs_tool {
    size_t size_B; /* sizeof(struct zs_tool) */
    const char *name, *summary;
    const struct zs_tool_column *columns; /* keys first */
    uint32_t column_count;
    /* Put probes into a kernel. 0; an error and its diag: the kernel stays as it was. */
    int (*instrument)(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag);
    /* A probe of zs_tool_count's: what its counter says. May be NULL. */
    void (*counter)(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value);
    /* A record of zs_tool_trace's. May be NULL. */
    void (*record)(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                   const struct zs_edit_record *record);
    void (*end)(struct zs_tool_run *run); /* behind all others; may be NULL */
};

/* What stands behind the tool's name on the command line, "mytool:ARGS"; "". */
ZS_API const char *zs_tool_args(const struct zs_tool_run *run);
/* A place of the tool's own, NULL to begin with; freed with free() at the end. */
ZS_API void **zs_tool_state(struct zs_tool_run *run);

/* ---- in `instrument` ---- */

/* A probe before the instruction with a counter of its own: COUNT, LANES, ELAPSED. As
 * zs_edit_probe. */
ZS_API int zs_tool_count(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                         const struct zs_probe *probe, struct zs_diag *diag);
/* The same before it, behind it or on the edge of threads that jump: `where`. */
ZS_API int zs_tool_count_at(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                            enum zs_edit_where where, const struct zs_probe *probe,
                            struct zs_diag *diag);
/* A record before (or behind: `where`) the instruction, with copies of registers. */
ZS_API int zs_tool_trace(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                         enum zs_edit_where where, uint32_t grf, uint32_t grf_count,
                         struct zs_diag *diag);

/* The same with more of a probe: its registers, and lanes. Its kind, and site, are set. */
ZS_API int zs_tool_trace_probe(struct zs_tool_run *run, struct zs_edit_kernel *kernel,
                               uint32_t inst, enum zs_edit_where where,
                               const struct zs_probe *probe, struct zs_diag *diag);

struct zs_tool_variable {
    uint32_t at_B; /* the lane's value, from r0 on */
    uint32_t type; /* enum zs_isa_type: a number, pointer or value of an enumeration */
};
/*
 * Where a variable is before an instruction, by debug information. In `record` that is given out
 * only where it can be believed: optimised code has registers that hold something else by then. 0;
 * -ENOENT: none of that name is visible there; -ENOTSUP: it is no number; -ENODATA: it is not
 * available: diag says why.
 */
ZS_API int zs_tool_variable(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                            const char *name, uint32_t lane, struct zs_tool_variable *ret,
                            struct zs_diag *diag);

/* ---- in `counter`, `record` and `end` ---- */

/* A row: a text for each KEY column, a number for each of the others but RATIO. Rows with the same
 * keys are put together. */
ZS_API void zs_tool_row(struct zs_tool_run *run, const char *const *keys, const double *values);
/* The same, and the numbers stand as columns beside the instruction in annotate and the page, too.
 */
ZS_API void zs_tool_row_at(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                           const char *const *keys, const double *values);
/* For annotate and the page: what an instruction did, added to what is known of it. */
ZS_API void zs_tool_executed(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                             uint64_t executions, uint64_t lanes);
/* Whether this is the first time that the tool says these two numbers: to count distinct things. */
ZS_API bool zs_tool_is_new(struct zs_tool_run *run, uint64_t a, uint64_t b);
/* "kernel.cl:34", "" where no line is known. Valid until the next call. Also in `instrument`. */
ZS_API const char *zs_tool_line(struct zs_tool_run *run, struct zs_edit_kernel *kernel,
                                uint32_t inst);

#ifdef __cplusplus
}
#endif

#endif
