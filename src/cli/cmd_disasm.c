/* SPDX-License-Identifier: MIT */
/* zescope disasm: machine code of modules and recordings. */
#include "base/file.h"
#include "base/text.h"
#include "cli/input.h"
#include "cli/lowered.h"

#include "report/disasm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { RAW_MAX_B = 256 << 20 };

extern const struct zs_command zs_command_disasm;

struct disasm_options {
    struct zs_common_options common;
    struct zs_input_select select;
    struct zs_disasm_options view;
    const char *raw, *lowered;
    bool json;
};

#define AT(member) offsetof(struct disasm_options, member)
static const struct zs_option options[] = {
    {"kernel", 'k', ZS_OPTION_LIST, AT(select.kernels), "REGEX",
     "only kernels whose name matches; may be given several times"},
    {"device", 'd', ZS_OPTION_STRING, AT(select.device), "NAME",
     "only code for this device, where a file has several; a source is compiled "
     "for it (skl)"},
    {"build-options", 0, ZS_OPTION_STRING, AT(select.options), "OPTIONS",
     "of the compiler, where FILE is a source: '-cl-std=CL3.0 -DN=4'"},
    {"raw", 0, ZS_OPTION_STRING, AT(raw), "DEVICE",
     "FILE is machine code without a container, for this device; - is standard input"},
    {"offsets", 0, ZS_OPTION_FLAG, AT(view.offsets), NULL, "show each instruction's offset"},
    {"encoding", 0, ZS_OPTION_FLAG, AT(view.encoding), NULL,
     "show each instruction's dwords, the lowest first"},
    {"pressure", 'r', ZS_OPTION_FLAG, AT(view.pressure), NULL,
     "show how many registers are live before each instruction"},
    {"blocks", 'B', ZS_OPTION_FLAG, AT(view.blocks), NULL,
     "say where control goes from each basic block, and in which loop it lies"},
    {"sends", 'M', ZS_OPTION_FLAG, AT(view.sends), NULL, "decode the messages of sends"},
    {"lowered", 0, ZS_OPTION_STRING, AT(lowered), "STEP",
     "print what the kernels become on the software GPU: its operations for each instruction "
     "(operations), the module of their code for the host (llvm), that code (host)"},
    {"json", 'j', ZS_OPTION_FLAG, AT(json), NULL,
     "print JSON, schema zescope.module/1, without debug info; a document per module"},
};
#undef AT

static int print_json(const struct disasm_options *o, const struct zs_input *input)
{
    struct zs_module_view view = {.module = input->module,
                                  .input = input->name,
                                  .kernels = input->kernels,
                                  .kernel_count = input->kernel_count};
    struct zs_module_json_options json = {
        .pressure = o->view.pressure, .sends = o->view.sends, .no_source = true};
    int status = ZS_EXIT_OK;
    int error = zs_report_module_json(&view, &json, zs_cli_sink_stdout, &status);
    if (error && status == ZS_EXIT_OK && !zs_cli_stdout_closed())
        return zs_cli_fail("%s: out of memory", input->name);
    return status;
}

static int print_text(const struct disasm_options *o, const struct zs_input *input)
{
    int status = ZS_EXIT_OK;
    size_t failed = 0;
    int error = zs_report_disasm_text(input->kernels, input->kernel_count, &o->view,
                                      zs_cli_sink_text, &status, &failed);
    if (error && status == ZS_EXIT_OK && !zs_cli_stdout_closed())
        return zs_cli_fail("%s: out of memory", input->name);
    if (failed && status == ZS_EXIT_OK)
        return zs_cli_fail("%s: the code of %zu kernel%s cannot be read; the listing says why",
                           input->name, failed, failed == 1 ? "" : "s");
    return status;
}

static void print_name(const char *name, bool is_next)
{
    struct zs_buf line = {0};
    zs_buf_puts(&line, is_next ? "\n// " : "// ");
    zs_text_puts(&line, name);
    zs_buf_putc(&line, '\n');
    zs_cli_write_text(line.data, line.size_B);
    zs_buf_fini(&line);
}

/* A file of code alone, as if it were a kernel. */
static int print_raw(const struct disasm_options *o, const char *path)
{
    struct zs_file file;
    struct zs_diag diag = {0};
    size_t failed = 0;
    int status = ZS_EXIT_OK;
    enum zs_isa_platform platform = zs_isa_platform_from_device(o->raw);
    if (platform == ZS_ISA_NONE)
        return zs_cli_usage(&zs_command_disasm, "--raw %s: its instruction set is not known",
                            o->raw);
    if (zs_file_read(strcmp(path, "-") ? path : "/dev/stdin", RAW_MAX_B, &file, &diag))
        return zs_cli_fail("%s", diag.text);
    const struct zs_image image = {.device = o->raw};
    const struct zs_kernel kernel = {.name = path, .code = file.span};
    const struct zs_kernel_ref ref = {.image = &image, .kernel = &kernel};
    int error = zs_report_disasm_text(&ref, 1, &o->view, zs_cli_sink_text, &status, &failed);
    if (error && status == ZS_EXIT_OK && !zs_cli_stdout_closed())
        status = zs_cli_fail("%s: out of memory", path);
    if (failed && status == ZS_EXIT_OK)
        status = zs_cli_fail("%s: the code cannot be read; the listing says why", path);
    zs_file_close(&file);
    return status;
}

static int run_disasm(void *opaque, int operand_count, char **operands)
{
    struct disasm_options *o = opaque;
    if (operand_count == 0)
        return zs_cli_usage(&zs_command_disasm, "a file or a recording is needed");
    if (o->raw && (o->json || operand_count != 1))
        return zs_cli_usage(&zs_command_disasm, "--raw takes one file, and prints text");
    if (o->lowered && (o->raw || o->json))
        return zs_cli_usage(&zs_command_disasm, "--lowered takes modules, and prints text");
    if (o->raw && (o->select.kernels.count || o->select.device))
        return zs_cli_usage(
            &zs_command_disasm,
            "--raw has no kernels or devices to choose from: no --kernel, --device");
    if (o->raw)
        return print_raw(o, operands[0]);
    struct zs_inputs inputs;
    int status = zs_inputs_open(&o->select, operand_count, operands, &inputs);
    for (size_t i = 0; i < inputs.modules.count && status == ZS_EXIT_OK; i++) {
        const struct zs_input *input = &inputs.modules.items[i];
        if (inputs.modules.count > 1 && !o->json)
            print_name(input->name, i > 0);
        status = o->json      ? print_json(o, input)
                 : o->lowered ? zs_cli_print_lowered(&zs_command_disasm, input, o->lowered)
                              : print_text(o, input);
    }
    if (status == ZS_EXIT_OK && inputs.failed)
        status = ZS_EXIT_FAILED;
    zs_inputs_close(&inputs);
    return status;
}

const struct zs_command zs_command_disasm = {
    .name = "disasm",
    .summary = "print machine code",
    .operands = "[FILE|DIR...]",
    .takes_recording = true,
    .description =
        "Prints the machine code of the kernels in a module or a recording, in the syntax of "
        "Intel's assembler iga64: without further options each kernel is a comment with its facts "
        "and then the lines that `iga64 -d` prints for its code.\n\n"
        "FILE is what ocloc writes, a native binary as drivers return it, or an archive for "
        "several devices. DIR is a recording.",
    .examples = "zescope disasm gemm.bin\n    all kernels of a module\n"
                "zescope disasm -k '^gemm' -rMB gemm.bin\n"
                "    one kernel with live registers, decoded sends and control flow\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct disasm_options),
    .prints_code = true,
    .run = run_disasm,
};
