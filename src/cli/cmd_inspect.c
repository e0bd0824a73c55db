/* SPDX-License-Identifier: MIT */
/* zescope inspect: what is inside modules and recordings. */
#include "cli/input.h"

#include "report/failed_builds.h"
#include "report/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern const struct zs_command zs_command_inspect;

struct inspect_options {
    struct zs_common_options common;
    struct zs_input_select select;
    bool details, tokens, json;
};

#define AT(member) offsetof(struct inspect_options, member)
static const struct zs_option options[] = {
    {"kernel", 'k', ZS_OPTION_LIST, AT(select.kernels), "REGEX",
     "only kernels whose name matches, with all details; may be given several times"},
    {"device", 'd', ZS_OPTION_STRING, AT(select.device), "NAME",
     "only what is for this device, where a file has several; a source is compiled "
     "for it (skl)"},
    {"build-options", 0, ZS_OPTION_STRING, AT(select.options), "OPTIONS",
     "of the compiler, where FILE is a source: '-cl-std=CL3.0 -DN=4'"},
    {"debug", 0, ZS_OPTION_STRING, AT(select.debug), "FILE",
     "debug information of the module, where it is a file of its own"},
    {"details", 'D', ZS_OPTION_FLAG, AT(details), NULL,
     "show arguments, payload, surfaces, symbols, relocations and sections"},
    {"tokens", 'T', ZS_OPTION_FLAG, AT(tokens), NULL,
     "show every patch token with its fields, or the text of .ze_info; implies --details"},
    {"json", 'j', ZS_OPTION_FLAG, AT(json), NULL,
     "print JSON, schema zescope.inspect/1: everything but tokens, which --tokens adds"},
};
#undef AT

/* What was selected, to be looked up by address. */
struct selection {
    const struct zs_image *only_image; /* NULL: all */
    const void **kernels;              /* sorted */
    size_t count;
};

static int compare_pointers(const void *a, const void *b)
{
    uintptr_t p = (uintptr_t) * (const void *const *)a, q = (uintptr_t) * (const void *const *)b;
    return (p > q) - (p < q);
}

static bool want_image(void *user, const struct zs_image *image)
{
    const struct selection *s = user;
    return !s->only_image || s->only_image == image;
}

static bool want_kernel(void *user, const struct zs_kernel *kernel)
{
    const struct selection *s = user;
    const void *key = kernel;
    return s->count && bsearch(&key, s->kernels, s->count, sizeof(*s->kernels), compare_pointers);
}

static int print_module(const struct inspect_options *o, const struct zs_input *input)
{
    struct selection s = {.count = input->kernel_count};
    s.kernels = calloc(s.count + 1, sizeof(*s.kernels));
    if (!s.kernels)
        return zs_cli_fail("out of memory");
    for (size_t i = 0; i < s.count; i++)
        s.kernels[i] = input->kernels[i].kernel;
    qsort(s.kernels, s.count, sizeof(*s.kernels), compare_pointers);
    if (o->select.device)
        s.only_image = zs_module_image(input->module, o->select.device);
    struct zs_inspect_options view = {
        .input = input->name,
        .color = zs_cli_color(&o->common, STDOUT_FILENO),
        .details = o->details || o->select.kernels.count,
        .tokens = o->tokens,
        .want_image = want_image,
        .want_kernel = want_kernel,
        .want_user = &s,
    };
    int status = ZS_EXIT_OK;
    int error = o->json ? zs_report_inspect_json(input->module, &view, zs_cli_sink_stdout, &status)
                        : zs_report_inspect_text(input->module, &view, zs_cli_sink_text, &status);
    free(s.kernels);
    if (error && status == ZS_EXIT_OK && !zs_cli_stdout_closed())
        return zs_cli_fail("%s: out of memory", input->name);
    return status;
}

/* Of recordings: what was to become modules and did not. */
static int print_failed_builds(const struct inspect_options *o, const struct zs_inputs *inputs)
{
    struct zs_buf text = {0};
    for (size_t i = 0; i < inputs->recordings.count; i++)
        zs_failed_builds_text(inputs->recordings.items[i], 0, &text);
    int status = text.error ? zs_cli_fail("out of memory")
                 : text.size_B || inputs->modules.count || inputs->failed
                     ? ZS_EXIT_OK
                     : zs_cli_fail("no kernels: no modules");
    if (status == ZS_EXIT_OK && text.size_B && o->json)
        zs_cli_note(&o->common, "%.*s", (int)text.size_B, (const char *)text.data);
    else if (status == ZS_EXIT_OK && text.size_B)
        status = zs_cli_write_text(text.data, text.size_B);
    zs_buf_fini(&text);
    return status;
}

static int run_inspect(void *opaque, int operand_count, char **operands)
{
    struct inspect_options *o = opaque;
    if (operand_count == 0)
        return zs_cli_usage(&zs_command_inspect, "a file or a recording is needed");
    struct zs_inputs inputs;
    o->select.allow_none = true;
    int status = zs_inputs_open(&o->select, operand_count, operands, &inputs);
    for (size_t i = 0; i < inputs.modules.count && status == ZS_EXIT_OK; i++)
        status = print_module(o, &inputs.modules.items[i]);
    int printed = status == ZS_EXIT_OK ? print_failed_builds(o, &inputs) : status;
    status = status ? status : printed;
    if (status == ZS_EXIT_OK && inputs.failed)
        status = ZS_EXIT_FAILED;
    zs_inputs_close(&inputs);
    return status;
}

const struct zs_command zs_command_inspect = {
    .name = "inspect",
    .summary = "show what is inside modules: devices, kernels, arguments, tokens",
    .operands = "[FILE|DIR...]",
    .takes_recording = true,
    .description =
        "Shows the containers that a module consists of, the devices it is for, and a table of "
        "its kernels with their SIMD size, code size, local memory, barriers, scratch, private "
        "memory and spills. --details adds each kernel's arguments, payload layout, surfaces, "
        "samplers, printf strings, symbols and relocations; --tokens every patch token with its "
        "fields decoded.\n\n"
        "FILE is what ocloc writes (.bin, .dbg), a native binary as drivers return it, or an "
        "archive for several devices. DIR is a recording.",
    .examples = "zescope inspect gemm.bin\n    containers, devices and a table of kernels\n"
                "zescope inspect -k '^gemm$' --tokens gemm.bin\n"
                "    one kernel, down to its patch tokens\n"
                "zescope inspect --json gemm.bin | jq '.devices[].kernels[].simd'\n"
                "    the same as data\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct inspect_options),
    .run = run_inspect,
};
