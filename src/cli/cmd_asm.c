/* SPDX-License-Identifier: MIT */
/* zescope asm: text in IGA's syntax to machine code. */
#include "cli/options.h"

#include "base/file.h"
#include "base/text.h"

#include <zescope/isa.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX_B = 256 << 20 };

struct asm_options {
    struct zs_common_options common;
    const char *device, *output;
    bool hex;
};

#define AT(member) offsetof(struct asm_options, member)
static const struct zs_option options[] = {
    {"device", 'd', ZS_OPTION_STRING, AT(device), "NAME",
     "what it is assembled for: a device or family as ocloc names it (skl, gen12lp, dg2, pvc, "
     "bmg)"},
    {"output", 'o', ZS_OPTION_STRING, AT(output), "FILE",
     "write the code there; - and without it: to standard output"},
    {"hex", 0, ZS_OPTION_FLAG, AT(hex), NULL,
     "print an instruction's dwords a line, the lowest first"},
};
#undef AT

extern const struct zs_command zs_command_asm;

/* "file:3:12: a type is expected", the line, and a mark below the place. */
static int fail_at(const char *path, struct zs_span text, const struct zs_isa_asm_error *e)
{
    struct zs_buf out = {0};
    const char *at = (const char *)text.data, *end = at + text.size_B;
    for (uint32_t line = 1; line < e->line && at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline ? newline + 1 : end;
    }
    size_t size = (size_t)(end - at);
    const char *newline = size ? memchr(at, '\n', size) : NULL;
    size = newline ? (size_t)(newline - at) : size;
    zs_buf_printf(&out, "%s:%u:%u: %s\n  ", path, e->line, e->column, e->text);
    zs_buf_append(&out, at, ZS_MIN(size, (size_t)200));
    if (e->column <= 200) {
        zs_buf_puts(&out, "\n  ");
        zs_buf_pad(&out, ' ', e->column ? e->column - 1 : 0);
        zs_buf_putc(&out, '^');
    }
    zs_cli_fail("%s", zs_buf_cstr(&out));
    zs_buf_fini(&out);
    return ZS_EXIT_FAILED;
}

static void put_hex(struct zs_buf *out, const uint8_t *code, size_t size_B)
{
    for (size_t at_B = 0; at_B + 8 <= size_B;) {
        size_t length_B = code[at_B + 3] >> 5 & 1 ? 8 : 16; /* the compaction bit */
        for (size_t i = 0; i < length_B && at_B + i + 4 <= size_B; i += 4)
            zs_buf_printf(out, "%s%02x%02x%02x%02x", i ? " " : "", code[at_B + i + 3],
                          code[at_B + i + 2], code[at_B + i + 1], code[at_B + i]);
        zs_buf_putc(out, '\n');
        at_B += length_B;
    }
}

static int write_code(const struct asm_options *o, const uint8_t *code, size_t size_B)
{
    struct zs_buf out = {0};
    if (o->hex)
        put_hex(&out, code, size_B);
    else
        zs_buf_append(&out, code, size_B);
    const char *path = o->output ? o->output : "-";
    int status = !o->hex && !strcmp(path, "-") && isatty(STDOUT_FILENO)
                     ? zs_cli_fail("machine code is not for a terminal: -o FILE, or --hex")
                     : zs_cli_write_to(NULL, path, zs_cli_put_buf, &out);
    zs_buf_fini(&out);
    return status;
}

static int run(void *parsed, int operand_count, char **operands)
{
    const struct asm_options *o = parsed;
    struct zs_file file;
    struct zs_diag diag = {0};
    struct zs_isa_asm_error error = {.size_B = sizeof(error)};
    uint8_t *code = NULL;
    size_t size_B = 0;
    if (operand_count > 1)
        return zs_cli_usage(&zs_command_asm, "one file, or - for standard input");
    if (!o->device)
        return zs_cli_usage(&zs_command_asm, "--device says what it is assembled for");
    enum zs_isa_platform platform = zs_isa_platform_from_device(o->device);
    if (platform == ZS_ISA_NONE)
        return zs_cli_usage(&zs_command_asm, "--device %s: its instruction set is not known",
                            o->device);
    const char *path = operand_count && strcmp(operands[0], "-") != 0 ? operands[0] : "/dev/stdin";
    if (zs_file_read(path, TEXT_MAX_B, &file, &diag))
        return zs_cli_fail("%s", diag.text);
    int failed = zs_isa_assemble(platform, file.span, &code, &size_B, &error);
    int status = failed == -EINVAL ? fail_at(operand_count ? operands[0] : "-", file.span, &error)
                 : failed          ? zs_cli_fail("%s", strerror(-failed))
                                   : write_code(o, code, size_B);
    zs_isa_code_free(code);
    zs_file_close(&file);
    return status;
}

const struct zs_command zs_command_asm = {
    .name = "asm",
    .summary = "assemble machine code",
    .operands = "[FILE|-]",
    .description =
        "Assembles text in the syntax of Intel's assembler iga64, as `zescope disasm` and `iga64 "
        "-d` "
        "print it, for any instruction set from Gen8 to Xe3. What is written is the code alone, "
        "without a container; `zescope disasm --raw DEVICE` reads it.\n\n"
        "A line is a label (\"L0:\"), an instruction, or both; comments are // and /* */. "
        "{Compacted} asks for the short form of an instruction, which not each has. Branches name "
        "labels.",
    .examples = "zescope asm -d skl loop.asm -o loop.bin\n    to a file\n"
                "zescope disasm --raw skl loop.bin\n    and back\n"
                "echo '(W) mov (8|M0) r3.0<1>:ud r0.0<1;1,0>:ud' | zescope asm -d skl --hex\n"
                "    one instruction's dwords\n",
    .options = options,
    .option_count = ZS_ARRAY_LEN(options),
    .options_size_B = sizeof(struct asm_options),
    .prints_code = true,
    .run = run,
};
