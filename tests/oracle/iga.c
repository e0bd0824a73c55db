/* SPDX-License-Identifier: MIT */
#include "iga.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *iga_context_t;
typedef struct {
    size_t cb;
    int gen;
} iga_context_options_t;
typedef struct {
    uint32_t cb, formatting_opts, reserved0, reserved1, decoder_opts, base_pc_offset;
} iga_disassemble_options_t;
typedef struct {
    uint32_t cb, enabled_warnings, encoder_opts, syntax_opts, reserved0, reserved1, sbid_count;
    uint32_t swsb_encode_mode;
} iga_assemble_options_t;
typedef struct {
    uint32_t line, column, offset, extent;
    const char *message;
} iga_diagnostic_t;
typedef const char *(*iga_label_fn)(int32_t pc, void *env);

enum { IGA_SUCCESS = 0, IGA_DECODE_ERROR = 4, IGA_LISTING = 0x80 };

int iga_context_create(const iga_context_options_t *opts, iga_context_t *ctx);
int iga_context_release(iga_context_t ctx);
int iga_context_disassemble(iga_context_t ctx, const iga_disassemble_options_t *opts,
                            const void *input, uint32_t input_size, iga_label_fn label,
                            void *label_env, char **kernel_text);
int iga_context_disassemble_instruction(iga_context_t ctx, const iga_disassemble_options_t *opts,
                                        const void *input, iga_label_fn label, void *label_env,
                                        char **kernel_text);
int iga_context_assemble(iga_context_t ctx, const iga_assemble_options_t *opts,
                         const char *kernel_text, void **output, uint32_t *output_size);
int iga_context_get_errors(iga_context_t ctx, const iga_diagnostic_t **ds, uint32_t *ds_len);

static const iga_disassemble_options_t listing_options = {.cb = sizeof(listing_options),
                                                          .formatting_opts = IGA_LISTING};
static const int generations[ZS_ISA_PLATFORM_COUNT] = {
    [ZS_ISA_GEN8] = 0x80000,     [ZS_ISA_GEN9] = 0x90000,    [ZS_ISA_GEN11] = 0xb0000,
    [ZS_ISA_XE_LP] = 0x1000000,  [ZS_ISA_XE_HP] = 0x1000001, [ZS_ISA_XE_HPG] = 0x1000002,
    [ZS_ISA_XE_HPC] = 0x1000004, [ZS_ISA_XE2] = 0x2000000,   [ZS_ISA_XE3] = 0x3000000,
    [ZS_ISA_XE3P] = 0x3000003,
};

struct iga {
    int generation;
    iga_context_t disassembler, assembler;
    char *text; /* all lines of the last batch */
    size_t size_B, capacity_B;
    char error[256];
};

static iga_context_t open_context(int generation)
{
    iga_context_options_t options = {.cb = sizeof(options), .gen = generation};
    iga_context_t context = NULL;
    if (iga_context_create(&options, &context) != IGA_SUCCESS)
        return NULL;
    return context;
}

struct iga *iga_open(enum zs_isa_platform platform)
{
    if (!generations[platform])
        return NULL;
    struct iga *iga = calloc(1, sizeof(*iga));
    zs_assert(iga);
    iga->generation = generations[platform];
    iga->disassembler = open_context(iga->generation);
    iga->assembler = open_context(iga->generation);
    zs_assert(iga->disassembler && iga->assembler);
    return iga;
}

void iga_close(struct iga *iga)
{
    if (!iga)
        return;
    iga_context_release(iga->disassembler);
    iga_context_release(iga->assembler);
    free(iga->text);
    free(iga);
}

/* Returns where it was put, as an offset: the memory may move. */
static size_t keep_line(struct iga *iga, const char *line, size_t size_B)
{
    while (size_B && line[size_B - 1] == ' ')
        size_B--;
    if (iga->size_B + size_B + 1 > iga->capacity_B) {
        iga->capacity_B = (iga->size_B + size_B + 1) * 2 + 65536;
        iga->text = realloc(iga->text, iga->capacity_B);
        zs_assert(iga->text);
    }
    size_t at_B = iga->size_B;
    memcpy(iga->text + at_B, line, size_B);
    iga->text[at_B + size_B] = '\0';
    iga->size_B += size_B + 1;
    return at_B;
}

static const char *name_label(int32_t pc, void *env)
{
    static _Thread_local char names[2][16];
    uint32_t *count = env;
    char *name = names[(*count)++ & 1];
    snprintf(name, sizeof(names[0]), pc < 0 ? "L_N%u" : "L%u",
             pc < 0 ? 0u - (uint32_t)pc : (uint32_t)pc);
    return name;
}

/* The first line of a listing that is no label. */
static const char *inst_line(const char *text, const char **ret_next, size_t *ret_size_B)
{
    while (*text) {
        const char *end = strchrnul(text, '\n');
        *ret_next = *end ? end + 1 : end;
        *ret_size_B = (size_t)(end - text);
        if (end != text && (*text == ' ' || *text == '('))
            return text;
        text = *ret_next;
    }
    return NULL;
}

/* Whether decoding reported an error at this byte; the listing shows something all the same. */
static const char *error_at(struct iga *iga, uint32_t offset_B)
{
    const iga_diagnostic_t *errors = NULL;
    uint32_t count = 0;
    iga_context_get_errors(iga->disassembler, &errors, &count);
    for (uint32_t i = 0; i < count; i++)
        if (errors[i].offset == offset_B)
            return errors[i].message;
    return NULL;
}

static size_t keep_error(struct iga *iga, const char *error)
{
    char line[256];
    int size_B = snprintf(line, sizeof(line), "illegal // %s", error);
    line[strcspn(line, "\n")] = ';';
    return keep_line(iga, line, strnlen(line, ZS_MIN((size_t)size_B, sizeof(line) - 1)));
}

static bool print_one(struct iga *iga, const uint8_t inst[16], size_t *ret_at_B)
{
    uint8_t bytes[32] = {0};
    memcpy(bytes, inst, inst_size_B(inst));
    char *text = NULL;
    uint32_t labels = 0;
    int status = iga_context_disassemble_instruction(iga->disassembler, &listing_options, bytes,
                                                     name_label, &labels, &text);
    if ((status != IGA_SUCCESS && status != IGA_DECODE_ERROR) || !text)
        return false;
    const char *next, *error = status == IGA_DECODE_ERROR ? error_at(iga, 0) : NULL;
    size_t size_B = 0;
    const char *line = inst_line(text, &next, &size_B);
    if (error)
        *ret_at_B = keep_error(iga, error);
    else
        *ret_at_B = line ? keep_line(iga, line, size_B) : keep_line(iga, "nothing", 7);
    return true;
}

/* Instructions that are no branches, as one kernel. False when the listing has not one line each.
 */
static bool print_batch(struct iga *iga, const uint8_t (*insts)[16], uint32_t count, size_t *at_B)
{
    uint8_t bytes[512 * 16];
    uint32_t size_B = 0, lines = 0;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(bytes + size_B, insts[i], inst_size_B(insts[i]));
        size_B += inst_size_B(insts[i]);
    }
    char *text = NULL;
    int status = iga_context_disassemble(iga->disassembler, &listing_options, bytes, size_B, NULL,
                                         NULL, &text);
    if ((status != IGA_SUCCESS && status != IGA_DECODE_ERROR) || !text)
        return false;
    const char *line = text, *next = text;
    size_t line_size_B;
    uint32_t offset_B = 0;
    for (; (line = inst_line(line, &next, &line_size_B)); line = next, lines++) {
        if (lines >= count)
            continue;
        const char *error = status == IGA_DECODE_ERROR ? error_at(iga, offset_B) : NULL;
        at_B[lines] = error ? keep_error(iga, error) : keep_line(iga, line, line_size_B);
        offset_B += inst_size_B(insts[lines]);
    }
    return lines == count;
}

static bool print_run(struct iga *iga, const uint8_t (*insts)[16], uint32_t count, size_t *at_B)
{
    size_t before_B = iga->size_B;
    if (count == 0 || print_batch(iga, insts, count, at_B))
        return true;
    iga->size_B = before_B;
    for (uint32_t i = 0; i < count; i++)
        if (!print_one(iga, insts[i], &at_B[i]))
            return false;
    return true;
}

bool iga_print(struct iga *iga, const uint8_t (*insts)[16], uint32_t count, const char **lines)
{
    size_t at_B[512];
    zs_assert(count <= ZS_ARRAY_LEN(at_B));
    iga->size_B = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!inst_is_branch(insts[i]))
            continue;
        if (!print_run(iga, insts + first, i - first, at_B + first) ||
            !print_one(iga, insts[i], &at_B[i]))
            return false;
        first = i + 1;
    }
    if (!print_run(iga, insts + first, count - first, at_B + first))
        return false;
    for (uint32_t i = 0; i < count; i++)
        lines[i] = iga->text + at_B[i];
    return true;
}

bool iga_assemble(struct iga *iga, const char *line, uint8_t ret_bytes[16], uint32_t *ret_size_B)
{
    iga_assemble_options_t options = {.cb = sizeof(options), .sbid_count = 16};
    void *output = NULL;
    uint32_t size_B = 0;
    iga->error[0] = '\0';
    int status = iga_context_assemble(iga->assembler, &options, line, &output, &size_B);
    if (status != IGA_SUCCESS || !output || (size_B != 8 && size_B != 16)) {
        const iga_diagnostic_t *errors = NULL;
        uint32_t count = 0;
        iga_context_get_errors(iga->assembler, &errors, &count);
        snprintf(iga->error, sizeof(iga->error), "%s", count ? errors[0].message : "no message");
        return false;
    }
    memset(ret_bytes, 0, 16);
    memcpy(ret_bytes, output, size_B);
    *ret_size_B = size_B;
    return true;
}

const char *iga_error(struct iga *iga)
{
    return iga->error;
}
