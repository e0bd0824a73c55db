/* SPDX-License-Identifier: MIT */
/* Operands FILE|DIR of commands that read modules, and --kernel and --device on them. */
#ifndef ZS_CLI_INPUT_H
#define ZS_CLI_INPUT_H

#include "cli/options.h"
#include "report/annotate.h"

#include <zescope/metrics.h>
#include <zescope/module.h>
#include <zescope/record.h>

struct zs_input_select {
    struct zs_string_list kernels; /* POSIX extended regular expressions; none: all kernels */
    const char *device;            /* NULL: all */
    const char *debug;             /* file with debug info of a single FILE, or NULL */
    const char *options;           /* of the compiler, for a FILE that is a source; or NULL */
    bool allow_none;               /* a file without kernels is fine: debug data alone */
    bool each_once;                /* what several recordings hold is one module: of the first */
};

/* One module: a file, or one of a recording's. */
struct zs_input {
    const char *name; /* as the user named it, "DIR: modules/<hash>.bin" */
    struct zs_module *module;
    struct zs_recording *recording; /* it came from, or NULL; owned by struct zs_inputs */
    const struct zs_record_module *record;
    struct zs_kernel_ref *kernels; /* selected; those of one image stand together */
    size_t kernel_count;
};

struct zs_inputs {
    struct {
        struct zs_input *items;
        size_t count, capacity;
    } modules;
    struct {
        struct zs_recording **items;
        size_t count, capacity;
    } recordings;
    size_t failed; /* modules of recordings that cannot be read; each was reported */
};

/*
 * Open all operands and select. ZS_EXIT_OK, or an exit status after a message on stderr: a file
 * that cannot be read, an expression that is none, nothing selected. Close in any case.
 */
int zs_inputs_open(const struct zs_input_select *select, int operand_count, char **operands,
                   struct zs_inputs *ret_inputs);
/* Modules of two recordings, or one, with the same machine code. */
bool zs_input_is_same(const struct zs_record_module *a, const struct zs_record_module *b);
/* What of a recording's modules is not there as it was recorded, on stderr; the number of binaries.
 */
size_t zs_inputs_tell_damage(const struct zs_recording *recording, const char *path);
/* What is missing in the metrics of a recording, or was left out: notes. */
void zs_cli_note_metrics_losses(const struct zs_common_options *common, const char *recording,
                                const struct zs_metrics_info *info);
void zs_inputs_close(struct zs_inputs *inputs);

#endif
