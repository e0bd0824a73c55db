/* SPDX-License-Identifier: MIT */
/*
 * list_code DEVICE FILE [all]: the listing of raw code, as `iga64 -d` prints it. "all" decodes
 * structure, control flow and live registers as well, and checks what must hold for any input.
 */
#include "base/file.h"
#include "isa/isa.h"

#include <stdio.h>
#include <string.h>

static void print_label(uint32_t offset_B)
{
    printf("L%u:\n", offset_B);
}

static void check(bool ok, const char *what)
{
    if (!ok)
        printf("BROKEN: %s\n", what);
}

static void check_structure(const struct zs_isa_kernel *k)
{
    uint32_t insts = 0;
    for (uint32_t b = 0; b < zs_isa_block_count(k); b++) {
        const struct zs_isa_block *block = zs_isa_block(k, b);
        check(block->first == insts && block->count > 0, "blocks cover the code in order");
        check(zs_isa_inst_has_label(k, block->first), "a block starts where a label stands");
        insts += block->count;
    }
    check(insts == zs_isa_kernel_count(k), "blocks cover all instructions");
    for (uint32_t i = 0; i < insts; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(k, i);
        char whole[ZS_ISA_LINE_MAX], *text = whole;
        size_t size_B = zs_isa_inst_text(k, i, whole);
        const char *mnemonic = zs_isa_op_mnemonic((enum zs_isa_op)inst->op);
        if (*text == '(')
            text = memchr(text, ')', size_B) ? strchr(text, ')') + 1 : text;
        while (*text == ' ')
            text++;
        check(strncmp(text, mnemonic, strlen(mnemonic)) == 0, "the text starts with the mnemonic");
        const struct zs_isa_message *m = zs_isa_inst_message(k, i);
        check(!m == !strstr(mnemonic, "send"), "sends and only they have messages");
    }
}

int main(int argc, char **argv)
{
    struct zs_file file;
    struct zs_diag diag = {0};
    struct zs_isa_kernel *k;
    bool all = argc > 3 && strcmp(argv[3], "all") == 0;
    uint32_t what = all ? ZS_ISA_TEXT | ZS_ISA_LIVENESS : ZS_ISA_TEXT;
    if (argc < 3 || zs_file_read(argv[2], 0, &file, &diag) ||
        zs_isa_kernel_open(zs_isa_platform_from_device(argv[1]), file.span, NULL, &k, &diag) ||
        zs_isa_kernel_decode(k, what, &diag)) {
        fprintf(stderr, "list_code: %s\n", diag.text);
        return 1;
    }
    uint32_t count = zs_isa_kernel_count(k);
    for (uint32_t i = 0; i <= count; i++) {
        if (zs_isa_inst_has_label(k, i))
            print_label(zs_isa_inst_offset(k, i));
        if (i == count)
            break;
        char line[ZS_ISA_LINE_MAX];
        size_t size_B = zs_isa_inst_line(k, i, line);
        printf("%.*s\n", (int)size_B, line);
    }
    if (all)
        check_structure(k);
    zs_isa_kernel_close(k);
    zs_file_close(&file);
    return 0;
}
