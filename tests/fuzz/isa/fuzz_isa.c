/* SPDX-License-Identifier: MIT */
/*
 * Decoding of arbitrary bytes: text, structure, control flow, live registers. The first byte
 * chooses the instruction set, the rest is code; it is cut where it ends inside an instruction.
 */
#include "isa/isa.h"

#include <string.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

enum { INPUT_MAX_B = 1 << 16 };

static size_t whole_instructions(const uint8_t *code, size_t size_B)
{
    size_t at_B = 0;
    while (size_B - at_B >= 8) {
        size_t inst_B = code[at_B + 3] & 0x20 ? 8 : 16;
        if (inst_B > size_B - at_B)
            break;
        at_B += inst_B;
    }
    return at_B;
}

static void check_blocks(const struct zs_isa_kernel *k)
{
    uint32_t insts = 0;
    for (uint32_t b = 0; b < zs_isa_block_count(k); b++) {
        const struct zs_isa_block *block = zs_isa_block(k, b);
        zs_assert(block->first == insts && block->count > 0);
        zs_assert(zs_isa_inst_block(k, block->first + block->count - 1) == b);
        zs_assert(block->loop == ZS_ISA_NO_INDEX || block->loop < zs_isa_loop_count(k));
        for (uint32_t e = 0; e < block->edge_count; e++)
            zs_assert(zs_isa_edge(k, block->edge_first + e)->from == b);
        insts += block->count;
    }
    zs_assert(insts == zs_isa_kernel_count(k));
    for (uint32_t l = 0; l < zs_isa_loop_count(k); l++) {
        const struct zs_isa_loop *loop = zs_isa_loop(k, l);
        zs_assert(loop->parent == ZS_ISA_NO_INDEX || loop->parent < l);
        zs_assert(zs_isa_block(k, loop->header)->flags & ZS_BLOCK_LOOP_HEADER);
    }
}

/* What was decoded encodes to its bytes; without them, to an instruction of the same text. */
static void check_encoding(enum zs_isa_platform platform, const struct zs_isa_inst *inst)
{
    struct zs_isa_inst copy = *inst, again;
    uint8_t bytes[16], fresh[16];
    char text[ZS_ISA_LINE_MAX], other[ZS_ISA_LINE_MAX];
    uint64_t raw[2] = {0, 0};
    int size_B = zs_isa_encode_one(platform, &copy, bytes, NULL);
    zs_assert(size_B == inst->size_B);
    memcpy(raw, bytes, (size_t)size_B);
    zs_assert(raw[0] == inst->raw[0] && raw[1] == inst->raw[1]);
    copy.raw[0] = copy.raw[1] = 0;
    size_B = zs_isa_encode_one(platform, &copy, fresh, NULL);
    if (size_B < 0)
        return;
    zs_assert(zs_isa_decode_one(platform, zs_span_make(fresh, 16), &again) == size_B);
    size_t text_B = zs_isa_print_one(platform, inst, 0, text);
    zs_assert(text_B == zs_isa_print_one(platform, &again, 0, other));
    zs_assert(memcmp(text, other, text_B) == 0);
}

static void check_insts(const struct zs_isa_kernel *k)
{
    for (uint32_t i = 0; i < zs_isa_kernel_count(k); i++) {
        char text[ZS_ISA_LINE_MAX], line[ZS_ISA_LINE_MAX];
        size_t text_B = zs_isa_inst_text(k, i, text), line_B = zs_isa_inst_line(k, i, line);
        zs_assert(text_B <= line_B && line_B < ZS_ISA_LINE_MAX && text[text_B] == '\0');
        for (size_t c = 0; c < line_B; c++)
            zs_assert(line[c] != '\n' && line[c] != '\0');
        const struct zs_isa_inst *inst = zs_isa_inst(k, i);
        zs_assert(inst->size_B == zs_isa_inst_size(k, i));
        zs_assert(inst->source_count <= ZS_ISA_SOURCES_MAX && inst->op < ZS_OP_COUNT);
        const struct zs_isa_message *m = zs_isa_inst_message(k, i);
        zs_assert(!m || (m->name && m->detail && m->kind < ZS_MSG_KIND_COUNT));
        zs_assert(zs_isa_live_grf(k, i) <= zs_isa_live_peak(k, NULL));
        check_encoding(zs_isa_kernel_platform(k), inst);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    if (size_B < 1 || size_B > INPUT_MAX_B)
        return 0;
    enum zs_isa_platform platform =
        (enum zs_isa_platform)(ZS_ISA_GEN8 + data[0] % (ZS_ISA_PLATFORM_COUNT - ZS_ISA_GEN8));
    struct zs_span code = {data + 1, whole_instructions(data + 1, size_B - 1)};
    struct zs_isa_options options = {.size_B = sizeof(options),
                                     .grf_count = data[0] & 0x80 ? 256 : 0};
    struct zs_isa_kernel *k;
    if (zs_isa_kernel_open(platform, code, &options, &k, NULL))
        return 0;
    int error = zs_isa_kernel_decode(k, ZS_ISA_TEXT | ZS_ISA_LIVENESS, NULL);
    zs_assert(!error);
    check_blocks(k);
    check_insts(k);
    uint64_t set[ZS_ISA_GRF_WORDS];
    if (zs_isa_kernel_count(k))
        zs_isa_live_set(k, 0, set);
    zs_isa_kernel_close(k);
    return 0;
}
