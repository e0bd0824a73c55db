/* SPDX-License-Identifier: MIT */
/*
 * Tools at work. What they do happens twice, with the same module and so the same probes: in the
 * helper process (serve.c), which rewrites modules for the application, and when the application
 * has ended (result.c), to know what the numbers in its buffers mean.
 */
#ifndef ZS_INSTRUMENT_INSTRUMENT_H
#define ZS_INSTRUMENT_INSTRUMENT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/id_map.h"
#include "base/index.h"

#include <zescope/annotate.h>
#include <zescope/instrument.h>
#include <zescope/record.h>

/* ---- tools ---- */

enum { ZS_TOOL_ARGS_MAX_B = 1024 };

struct zs_tool_ref {
    const struct zs_tool *tool;
    void *library; /* of dlopen, or NULL */
    char args[ZS_TOOL_ARGS_MAX_B];
};
/* "opcodes", "values:k.cl:34", "./mytool.so:args". 0, or -errno with a sentence. */
int zs_tool_find(const char *text, struct zs_tool_ref *ret, struct zs_diag *diag);
void zs_tool_drop(struct zs_tool_ref *ref);
/* Built in: in order; NULL behind the last. */
const struct zs_tool *zs_tool_builtin(size_t index);

/* ---- one module ---- */

struct zs_tool_site {
    uint32_t kernel, inst;
};
struct zs_tool_row {
    char **keys;
    double *values;
    uint64_t hash;
};
/* What instructions of a kernel did: zs_tool_executed. Of the others, only, that is_told is false.
 */
struct zs_tool_counts {
    uint64_t *executions, *lanes;
    bool *is_told;
};

/* What a kernel's instructions have beside them: zs_tool_row_at. */
struct zs_tool_beside {
    char hash[65]; /* of the module */
    uint32_t kernel, count;
    char *name;
    uint32_t *offsets_B;
    double *values; /* by instruction, then column of the tool; keys and ratios are not set */
    bool *is_set;
};

/* Sources of a recording, once they are asked for (variable.c). */
struct zs_tool_sources;
struct zs_tool_sources *zs_tool_sources_open(struct zs_recording *recording);
void zs_tool_sources_close(struct zs_tool_sources *sources);

/* What was found out of a variable before an instruction, by lane: tools ask of each lane of each
 * record. */
enum { ZS_TOOL_LANES = 32 };
struct zs_tool_answers {
    struct zs_tool_answers *next; /* of another variable there */
    const char *name;
    uint32_t known; /* lanes */
    struct zs_tool_answer {
        int error;
        const char *why;
        struct zs_tool_variable variable;
    } lanes[ZS_TOOL_LANES];
};

struct zs_tool_run {
    const struct zs_tool *tool;
    const char *args;
    void *state;
    struct zs_edit *edit; /* of the module at hand */
    bool narrow_atomics;  /* its device's */
    struct zs_tool_site *sites;
    size_t site_count, site_capacity;
    struct zs_tool_counts *counts; /* by kernel, while results are made of it */
    bool instruments;              /* the tool is being asked for probes */
    struct zs_tool_sources *texts; /* while results are made */
    struct zs_id_map answers;      /* by kernel and instruction */
    struct zs_arena answers_arena;
    struct zs_annotation *annotation;
    struct zs_code **codes; /* by kernel, as they are asked for */
    char line[512];
    char hash[65]; /* of the module while results are made of it, else "" */
    /* of the whole run */
    struct {
        struct zs_tool_beside *items;
        size_t count, capacity;
    } beside;
    struct zs_id_map seen; /* by pair; the values say nothing */
    struct zs_tool_row *rows;
    size_t row_count, row_capacity;
    struct zs_index row_index;
    bool out_of_memory;
};

/* Open a module and have the tool put its probes in. Kernels that the tool refuses are told in
 * `notes`, a line each. debug: its debug information, or empty. */
int zs_tool_open(struct zs_tool_run *run, struct zs_span binary, struct zs_span debug,
                 struct zs_buf *notes, struct zs_diag *diag);
void zs_tool_close(struct zs_tool_run *run); /* the module */
/* The line for what is left as it was: a kernel, or the code of exported functions. */
void zs_tool_put_refusal(struct zs_buf *notes, const struct zs_edit_kernel *kernel,
                         const char *why);
/* What zs_tool_variable keeps is found out anew. */
void zs_tool_forget(struct zs_tool_run *run);
/* The kernel's debug information; NULL: none. */
const struct zs_code *zs_tool_code(struct zs_tool_run *run, const struct zs_edit_kernel *kernel);
void zs_tool_fini(struct zs_tool_run *run);
void zs_tool_beside_fini(struct zs_tool_run *run);
/* Keys are a tool's first columns: zs_tool_find() sees to that. */
uint32_t zs_tool_key_count(const struct zs_tool *tool);
/* Of a column that is no key; ratios are worked out: NAN where there is none. */
double zs_tool_value(const struct zs_tool *tool, const double *values, uint32_t column);
/* Keep what instructions have beside them in a recording. 0 or -errno. */
int zs_tool_beside_write(const struct zs_tool_run *run, const char *recording);

/* ---- the helper ---- */

/*
 * Serve applications at a listening socket until it is closed or the process is killed: requests
 * and answers are those of wire/instrument.h. Returns -errno when nothing can be accepted any
 * more.
 */
int zs_instrument_serve(int listen_fd, const struct zs_tool_ref *tool);

/* ---- results ---- */

struct zs_instrument_totals {
    uint32_t modules;      /* whose buffers were found */
    uint32_t damaged;      /* buffers that do not fit their module */
    uint32_t builds;       /* that the application made at all */
    uint32_t refused;      /* notes of modules and kernels that were not instrumented */
    uint32_t partial;      /* of `modules`: the process was gone before what ran had ended */
    uint64_t records_lost; /* units of 32 bytes */
};
/*
 * Make the tool's table of what a recording holds (`instrument/`), keep it there as table.json and
 * write execution counts. 0, or -errno with a sentence. The run's rows stay until zs_tool_fini.
 */
int zs_instrument_results(const char *recording, const struct zs_tool_ref *tool,
                          struct zs_tool_run *run, struct zs_instrument_totals *ret_totals,
                          struct zs_diag *diag);
/* The table, sorted by its first number, as text and as JSON (schema zescope.instrument/1). */
void zs_instrument_text(const struct zs_tool_run *run, uint64_t limit, struct zs_buf *out);
void zs_instrument_json(const struct zs_tool_run *run, const struct zs_instrument_totals *totals,
                        struct zs_buf *out);

#endif
