/* SPDX-License-Identifier: MIT */
/*
 * Kernels of two builds or recordings side by side: what the modules say of them, what was measured
 * and found, and their source and machine code aligned. Text, JSON (zescope.compare/1,
 * docs/schema-compare.md) and the page are views of it.
 */
#ifndef ZS_REPORT_COMPARE_H
#define ZS_REPORT_COMPARE_H

#include "base/arena.h"
#include "metrics/profile.h"
#include "report/annotate.h"
#include "report/diff.h"

struct zs_compare_side {
    const struct zs_module_view *view;
    struct zs_analysis *analysis; /* NULL: of files, nothing ran */
};

enum { ZS_SIDE_A, ZS_SIDE_B, ZS_SIDES };

struct zs_compared_value {
    const char *name, *unit;
    double of[ZS_SIDES]; /* NaN: not known */
    enum zs_better better;
    bool is_exact;
    bool adds; /* over launches; not the launches themselves, nor their time, which has a mean */
};

struct zs_compared_finding {
    const char *rule, *title;
    const struct zs_finding *of[ZS_SIDES]; /* NULL: not there */
    double gain[ZS_SIDES];                 /* percent; NaN: not measured */
};

/* A kernel of both sides, or of one. */
struct zs_compared_kernel {
    const char *name;                         /* of A, where it has one */
    const struct zs_kernel_ref *of[ZS_SIDES]; /* NULL: not there */
    const struct zs_analyzed *ran[ZS_SIDES];  /* NULL: did not run */
    bool has_same_code;
    bool is_per_launch; /* launches differ: values that add up over them are divided by them */
    uint32_t order;     /* as they stand in A, then in B */
    struct zs_compared_value *values;
    struct zs_compared_finding *findings; /* of A in its order, then new ones of B */
    uint32_t value_count, finding_count;
};

struct zs_compared {
    struct zs_compare_side sides[ZS_SIDES];
    struct zs_annotation *annotations[ZS_SIDES];
    struct zs_compared_kernel *kernels; /* the longest first, then as they stand in A */
    size_t count;
    struct zs_arena arena;
};

/* Kernels are the same by name; where each side has one alone they are compared whatever their
 * names. The sides' views and analyses are borrowed. 0 or -ENOMEM; close in any case. */
int zs_compare_open(const struct zs_compare_side sides[ZS_SIDES], struct zs_compared *ret);
void zs_compare_close(struct zs_compared *compared);

/* Whether it differs by `threshold` percent; what is exact, at all. */
bool zs_compared_value_changed(const struct zs_compared_value *value, double threshold);
bool zs_compared_kernel_changed(const struct zs_compared_kernel *kernel, double threshold);

/* ---- code --------------------------------------------------------------------------------------
 */

enum zs_code_change {
    ZS_CODE_SAME,
    ZS_CODE_RENAMED, /* in other registers, or with another scoreboard */
    ZS_CODE_CHANGED,
    ZS_CODE_A_ALONE,
    ZS_CODE_B_ALONE,
};
extern const char *const zs_code_change_names[]; /* "same" ... */

/* An item of both sequences, or of one: ZS_NO_INDEX. */
struct zs_code_pair {
    uint32_t of[ZS_SIDES];
    enum zs_code_change change;
};

/* A line of source with code on a side, or between such lines. */
struct zs_line_pair {
    uint32_t line[ZS_SIDES];                   /* 0: none */
    const struct zs_join_line *code[ZS_SIDES]; /* NULL: it has no code */
    enum zs_code_change change;                /* of its text */
    bool has_same_code;                        /* registers apart */
    uint32_t pair_first, pair_count;           /* of its instructions, in struct zs_code_diff */
};

struct zs_file_pair {
    uint32_t file[ZS_SIDES]; /* of zs_dwarf_kernel.files, or ZS_NO_INDEX */
    const struct zs_source *source[ZS_SIDES];
    uint32_t line_first, line_count;
};

/* The code of one kernel, both sides open. */
struct zs_code_diff {
    struct zs_code *code[ZS_SIDES];
    struct zs_code_pair *insts; /* the whole code in its order */
    size_t inst_count;
    struct {
        struct zs_file_pair *items;
        size_t count, capacity;
    } files;
    struct {
        struct zs_line_pair *items;
        size_t count, capacity;
    } lines;
    struct {
        struct zs_code_pair *items; /* of lines */
        size_t count, capacity;
    } pairs;
    uint32_t tally[ZS_CODE_B_ALONE + 1]; /* of insts by change */
};

/* 0 or -ENOMEM; close in any case. A side without the kernel, or whose code cannot be read, has
 * no instructions. */
int zs_code_diff_open(const struct zs_compared *compared, const struct zs_compared_kernel *kernel,
                      struct zs_code_diff *ret);
void zs_code_diff_close(const struct zs_compared *compared, struct zs_code_diff *diff);
/* The column of this name; NULL: the side has none. */
const struct zs_column *zs_code_diff_column(const struct zs_code_diff *diff, int side,
                                            const char *name);

/* ---- views -------------------------------------------------------------------------------------
 */

struct zs_compare_options {
    const char *names[ZS_SIDES]; /* as the user named them */
    const struct zs_diff *calls; /* NULL: not two recordings */
    double threshold;            /* percent */
    bool all;                    /* what did not change, too */
    bool with_code;
    bool by_address;
    bool color;
    const char *(*readable)(const char *name, size_t size_B); /* as struct zs_html_page has it */
    unsigned width;                                           /* of the terminal */
    uint32_t context;                                         /* lines around what changed */
    uint32_t indent;                                          /* JSON: levels broken into lines */
};

/* In pieces, kernel by kernel. 0, -ENOMEM, or what `write` returned. */
int zs_compare_text(const struct zs_compared *compared, const struct zs_compare_options *options,
                    zs_write_fn *write, void *user);
int zs_compare_json(const struct zs_compared *compared, const struct zs_compare_options *options,
                    zs_write_fn *write, void *user);
int zs_compare_html(const struct zs_compared *compared, const struct zs_compare_options *options,
                    zs_write_fn *write, void *user);

#endif
