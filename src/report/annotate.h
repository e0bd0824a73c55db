/* SPDX-License-Identifier: MIT */
/* The text and JSON views of annotated modules (docs/schema-module.md, docs/correlation.md). */
#ifndef ZS_REPORT_ANNOTATE_H
#define ZS_REPORT_ANNOTATE_H

#include "base/buf.h"
#include "base/diag.h"
#include "record/builds.h"

#include <zescope/annotate.h>

/* Which kernels are shown. */
struct zs_kernel_ref {
    const struct zs_image *image;
    const struct zs_kernel *kernel;
    char module[ZS_MODULE_NAME_CHARS]; /* of a recording: which of its modules; else empty */
    const char *debug_advice;          /* what to say where it has no debug info; NULL: the usual */
};

/* What is to be said of a kernel's source: the note of its code, or what is known better. */
static inline const char *zs_kernel_ref_note(const struct zs_kernel_ref *ref,
                                             const struct zs_code *code)
{
    bool without = code->note && !code->info && code->kernel->debug.kind == ZS_DEBUG_NONE;
    return without && ref->debug_advice ? ref->debug_advice : code->note;
}

/* Where columns come from: called once per kernel, possibly from several threads; what it sets in
 * the code lives until `release`. Either may be NULL. */
struct zs_column_source {
    void *user;
    int (*attach)(void *user, struct zs_code *code);
    void (*release)(void *user, struct zs_code *code);
};

struct zs_module_view {
    const struct zs_module *module;
    const char *input;                   /* as the user named it */
    const struct zs_kernel_ref *kernels; /* those of one image stand together */
    size_t kernel_count;
    struct zs_sources *sources; /* NULL: files without `found` and text */
    struct zs_column_source columns;
    const char *const *notes; /* of the caller, printed first */
    size_t note_count;
};

struct zs_module_json_options {
    bool pressure;    /* live_grfs, peak_live_grfs */
    bool sends;       /* message */
    bool operands;    /* exec_size */
    bool types;       /* members of variables */
    bool with_source; /* text of files */
    bool no_source;   /* `disasm`: neither debug info nor files */
    uint32_t indent;  /* levels broken into lines */
};

/* Called with pieces of the output, in order. Not 0 stops and is returned. */
typedef int zs_write_fn(void *user, const void *data, size_t size_B);

/*
 * Write schema zescope.module/1. Kernels are decoded and written in parallel, in pieces, so that
 * memory does not grow with the module. 0, -ENOMEM, or what `write` returned.
 */
int zs_report_module_json(const struct zs_module_view *view,
                          const struct zs_module_json_options *options, zs_write_fn *write,
                          void *user);

enum zs_annotate_by { ZS_BY_SOURCE, ZS_BY_ADDRESS };

/* Of the columns that were asked for: how many kernels lack one, and of the first, which. */
struct zs_missing_columns {
    size_t kernels;
    char text[512];
};

struct zs_annotate_text_options {
    enum zs_annotate_by by;
    bool color;
    bool pressure;          /* live registers per instruction, and the highest per line */
    bool mix;               /* kinds of instructions per line */
    bool sends;             /* decoded messages per line */
    uint32_t context_lines; /* source lines shown around those with code */
    const char *columns;    /* names, separated by commas; "all", "none"; NULL: the usual */
    struct zs_missing_columns *ret_missing; /* or NULL */
};

/* The same as text. Pieces are written kernel by kernel. */
int zs_report_annotate_text(const struct zs_module_view *view,
                            const struct zs_annotate_text_options *options, zs_write_fn *write,
                            void *user);

/* What an instruction is, for the mix: "alu", "send", "flow" ...; from its opcode. */
const char *zs_report_inst_class(const struct zs_isa_inst *inst);
/* A decoded message in one line: "load 16 lanes x 4 B, bti 1 (dc1)". */
void zs_report_message(struct zs_buf *out, const struct zs_isa_message *message);
/* Name of its surface: "bti 1", "slm"; false when there is none. */
bool zs_report_surface(const struct zs_isa_message *message, char *ret_text, size_t size_B);

#endif
