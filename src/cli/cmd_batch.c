/* SPDX-License-Identifier: MIT */
/* zescope batch: what drivers hand to command streamers. */
#include "base/file.h"
#include "cli/input.h"

#include "cs/cs.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_MAX_B = 256 << 20 };

struct batch_options {
    struct zs_common_options common;
    const char *at;
};

static int run_batch(void *options, int operand_count, char **operands);

#define AT(member) offsetof(struct batch_options, member)
static const struct zs_option options_table[] = {
    {"at", 0, ZS_OPTION_STRING, AT(at), "ADDRESS", "where the batch stood in memory (0)"},
};

const struct zs_command zs_command_batch = {
    .name = "batch",
    .summary = "print the commands of batch buffers",
    .operands = "FILE",
    .description =
        "Prints what a driver has written for the command streamer of an Intel GPU, Gen9 to XeHPG: "
        "each command's address, name and dwords, and what matters of its fields. FILE has the "
        "dwords as they stand in memory; - is standard input. It ends with the batch, or at what "
        "is no command. Or FILE is a dump, whose batches are printed with those that they lead "
        "to: an error state of i915 (/sys/class/drm/card0/error), a coredump of xe "
        "(/sys/class/drm/card0/device/devcoredump/data), an AUB file with a memory trace.\n\n"
        "`zescope run --intel --batches FOLDER` writes such files.",
    .examples = "zescope batch batch-0001-0x7f0012340000\n"
                "zescope batch /sys/class/drm/card0/error\n"
                "zescope batch --at 0x7f0012340000 dump.bin\n",
    .options = options_table,
    .option_count = ZS_ARRAY_LEN(options_table),
    .options_size_B = sizeof(struct batch_options),
    .run = run_batch,
};

static int run_batch(void *opaque, int operand_count, char **operands)
{
    const struct batch_options *o = opaque;
    struct zs_file file;
    struct zs_diag diag = {0};
    uint64_t at = 0;
    if (operand_count != 1)
        return zs_cli_usage(&zs_command_batch, "one file is needed");
    char *end = NULL;
    if (o->at)
        at = strtoull(o->at, &end, 0);
    if (o->at && (end == o->at || *end))
        return zs_cli_usage(&zs_command_batch, "--at takes an address, not '%s'", o->at);
    const char *path = strcmp(operands[0], "-") ? operands[0] : "/dev/stdin";
    if (zs_file_read(path, BATCH_MAX_B, &file, &diag))
        return zs_cli_fail("%s", diag.text);
    struct zs_buf out = {0};
    int error = zs_cs_print_dump(file.span, &out, &diag);
    bool is_dump = error <= 0;
    if (!is_dump)
        error = zs_cs_print(file.span, at, NULL, &out, &diag);
    int status = ZS_EXIT_OK;
    if (out.error)
        status = zs_cli_fail("%s: out of memory", operands[0]);
    else
        zs_cli_write_text(out.data, out.size_B);
    if (error && is_dump && status == ZS_EXIT_OK)
        status = zs_cli_fail("%s: %s", operands[0], diag.text);
    else if (error && status == ZS_EXIT_OK)
        status = zs_cli_fail("%s: at 0x%llx: %s", operands[0],
                             (unsigned long long)(at + diag.offset_B), diag.text);
    zs_buf_fini(&out);
    zs_file_close(&file);
    return status;
}
