/* SPDX-License-Identifier: MIT */
/*
 * zescope: one kernel's code with everything known about it: instructions, blocks, source lines,
 * inline frames, variables, and columns of numbers that others add. Text, JSON and HTML are views
 * of this.
 *
 *     struct zs_annotation *annotation;             of a module
 *     struct zs_code *code;                         of one kernel
 *     int error = zs_annotation_open(module, &annotation);
 *     if (!error)
 *         error = zs_code_open(annotation, image, kernel, ZS_ISA_TEXT, &code);
 *     const struct zs_join_line *line = error ? NULL : zs_code_find_line(code, "k.cl", 12);
 *     for (uint32_t r = 0; line && r < line->run_count; r++)
 *         ... code->join->runs[line->run_first + r] ...
 *
 * Threads: kernels may be opened by several threads at once, from one annotation. A kernel belongs
 * to one thread while it decodes more (zs_isa_kernel_decode); otherwise it is only read.
 */
#ifndef ZESCOPE_ANNOTATE_H
#define ZESCOPE_ANNOTATE_H

#include <zescope/correlate.h>
#include <zescope/isa.h>
#include <zescope/module.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The module is borrowed until zs_annotation_close. */
struct zs_annotation;
ZS_API int zs_annotation_open(const struct zs_module *module, struct zs_annotation **ret);
ZS_API void zs_annotation_close(struct zs_annotation *annotation);

/* What the values of several instructions are together: of a line, a block, a kernel. */
enum zs_column_total {
    ZS_TOTAL_SUM,
    ZS_TOTAL_MAX,
    ZS_TOTAL_MEAN, /* by `weights`, where there are some */
    ZS_TOTAL_MIN,
};

/* A number per instruction from somewhere else: execution counts, metrics. */
struct zs_column {
    const char *name;        /* "executions" */
    const char *unit;        /* "" for none */
    const char *description; /* "" for none */
    const double *values;    /* one per instruction; NaN: not collected */
    const double *weights;   /* of a mean, one per instruction; NULL: all alike */
    enum zs_column_total total;
    bool shown; /* views show it unless asked for others */
    bool heat;  /* drawn as a bar in colours, against the largest of the kernel */
};

struct zs_code {
    const struct zs_image *image;
    const struct zs_kernel *kernel;
    struct zs_isa_kernel *isa;          /* NULL: the code cannot be read, see error */
    const struct zs_dwarf_kernel *info; /* NULL: no debug info, see note */
    const struct zs_join *join;         /* NULL likewise */
    const char *error;                  /* a sentence or NULL */
    const char *note;                   /* why there is no source, and what to do; or NULL */
    const struct zs_column *columns;    /* set by whoever adds them; borrowed */
    uint32_t column_count;
};

/*
 * `what`: enum zs_isa_what. Damaged code or debug info is no error of this call: the kernel opens
 * with what can be read, `error` and `note` say what cannot. Fails with -ENOMEM only.
 */
ZS_API int zs_code_open(struct zs_annotation *annotation, const struct zs_image *image,
                        const struct zs_kernel *kernel, uint32_t what, struct zs_code **ret_code);
ZS_API void zs_code_close(struct zs_code *code);

/* The row of instruction i, or NULL where no line is known. */
ZS_API const struct zs_line_row *zs_code_row(const struct zs_code *code, uint32_t i);
/* Its innermost frame, or ZS_NO_INDEX. */
ZS_API uint32_t zs_code_frame(const struct zs_code *code, uint32_t i);
/* The code of a source line; `path` may be the end of the path ("src/k.cl"). NULL: none. */
ZS_API const struct zs_join_line *zs_code_find_line(const struct zs_code *code, const char *path,
                                                    uint32_t line);
/* "skl", or the family's name where the module does not say more; never NULL. */
ZS_API const char *zs_image_device(const struct zs_image *image);
ZS_API enum zs_isa_platform zs_image_platform(const struct zs_image *image);

#ifdef __cplusplus
}
#endif

#endif
