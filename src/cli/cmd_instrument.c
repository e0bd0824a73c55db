/* SPDX-License-Identifier: MIT */
/* zescope instrument: run an application with its kernels rewritten by a tool. */
#include "cli/instrument.h"
#include "cli/options.h"

#include "instrument/instrument.h"

#include <stdio.h>
#include <stdlib.h>

struct instrument_options {
    struct zs_common_options common;
    const char *output;
    uint64_t limit, records_buffer, records_limit;
    bool json, debug_info, list;
};

extern const struct zs_command zs_command_instrument;

static int list_tools(void)
{
    const struct zs_tool *tool;
    for (size_t i = 0; (tool = zs_tool_builtin(i)); i++)
        printf("%-10s %s\n", tool->name, tool->summary);
    return ZS_EXIT_OK;
}

static int run_instrument(void *options, int operand_count, char **operands)
{
    const struct instrument_options *o = options;
    if (o->list)
        return list_tools();
    if (operand_count < 1)
        return zs_cli_usage(&zs_command_instrument, "no tool given; --list shows them");
    if (operand_count < 2)
        return zs_cli_usage(&zs_command_instrument, "no application given");
    const struct zs_cli_instrument what = {.tool = operands[0],
                                           .output = o->output,
                                           .limit = o->limit,
                                           .table = true,
                                           .json = o->json,
                                           .debug_info = o->debug_info,
                                           .last = true,
                                           .records_buffer = o->records_buffer,
                                           .records_limit = o->records_limit};
    return zs_cli_record_instrumented(&o->common, &what, operands + 1);
}

#define OPTION(member) offsetof(struct instrument_options, member)
static const struct zs_option options_table[] = {
    {"output", 'o', ZS_OPTION_STRING, OPTION(output), "DIR",
     "folder of the recording, as of zescope record (zescope-<app>-%p)"},
    {"debug-info", 0, ZS_OPTION_FLAG, OPTION(debug_info), NULL,
     "add -g to the build flags of every module that the application creates"},
    {"limit", 'n', ZS_OPTION_U64, OPTION(limit), "N", "show so many rows, 0: all"},
    {"json", 'j', ZS_OPTION_FLAG, OPTION(json), NULL, "print JSON, schema zescope.instrument/1"},
    {"records-buffer", 0, ZS_OPTION_U64, OPTION(records_buffer), "BYTES",
     ZS_CLI_RECORDS_BUFFER_HELP},
    {"records-limit", 0, ZS_OPTION_U64, OPTION(records_limit), "BYTES", ZS_CLI_RECORDS_LIMIT_HELP},
    {"list", 'l', ZS_OPTION_FLAG, OPTION(list), NULL, "show the tools that there are"},
};
static const struct instrument_options default_options = {.limit = 40};

const struct zs_command zs_command_instrument = {
    .name = "instrument",
    .summary = "run an application with its kernels rewritten by a tool",
    .operands = "TOOL[:ARGS] -- APP [ARGS...]",
    .description =
        "Runs an application, on whatever driver, with probes in its kernels, and prints what they "
        "found out. TOOL is one of --list, or the path of a shared library of one's own "
        "(zescope/instrument.h, docs/instrumentation.md).\n\n"
        "Modules are rewritten by a process of its own. A module that cannot be rewritten stays as "
        "it was, and so does a kernel; a note says why. The application's exit status is passed "
        "through. What is found out goes into a recording: annotate and report show what the tool "
        "counted beside the code.",
    .examples = "zescope instrument memtrace -- ./nbody\n"
                "    how kernels access memory, by source line\n"
                "zescope instrument opcodes --json -- ./app > opcodes.json\n"
                "    how often each opcode is executed\n"
                "zescope instrument ./mytool.so:args -- ./app\n"
                "    a tool of one's own\n",
    .options = options_table,
    .defaults = &default_options,
    .option_count = ZS_ARRAY_LEN(options_table),
    .options_size_B = sizeof(struct instrument_options),
    .run = run_instrument,
};
