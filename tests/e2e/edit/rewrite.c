/* SPDX-License-Identifier: MIT */
/*
 * Modules rewritten in one of these ways:
 *
 *     rewrite same IN          without insertions the output is the input
 *     rewrite nops IN OUT      a nop before and behind every instruction, two at the entry
 *     rewrite pairs IN OUT     every instruction but branches stands twice: itself, between nops,
 *                              and not what it was (replaced by its own text)
 *     rewrite tables IN OUT    a table of jumps at the entry, which does nothing that anybody sees
 *     rewrite probes IN OUT    every kind of probe at every instruction, one on its edge, for a
 *                              buffer at 0x100000000
 *     rewrite end IN           a probe behind the last instruction
 *     rewrite code IN FOLDER   nothing: what the kernels' code is, as FOLDER/<kernel>
 *
 * Each output is opened again and compared with the input, instruction by instruction. Prints how
 * many kernels were rewritten and refused.
 */
#include <zescope/edit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rewrite: " __VA_ARGS__);                                              \
            fprintf(stderr, " (line %d)\n", __LINE__);                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static struct zs_span slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    CHECK(f && fseek(f, 0, SEEK_END) == 0, "%s cannot be read", path);
    long size_B = ftell(f);
    rewind(f);
    uint8_t *data = malloc((size_t)size_B + 1);
    CHECK(data && fread(data, 1, (size_t)size_B, f) == (size_t)size_B, "%s cannot be read", path);
    fclose(f);
    return (struct zs_span){data, (size_t)size_B};
}

/* Behind what nothing can be put: jumps without a condition, calls, the end. */
static bool ends_here(const struct zs_isa_inst *inst)
{
    bool jump = inst->op == ZS_OP_JMPI || inst->op == ZS_OP_BRD || inst->op == ZS_OP_BRC;
    return inst->flags & ZS_INST_EOT || inst->op == ZS_OP_CALL || inst->op == ZS_OP_CALLA ||
           inst->op == ZS_OP_RET || (jump && !inst->pred);
}

static bool may_follow(const struct zs_isa_inst *inst)
{
    return !(inst->flags & ZS_INST_EOT) &&
           !(zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH);
}

static void insert(struct zs_edit_kernel *k, uint32_t i, enum zs_edit_where where, const char *text)
{
    struct zs_diag diag = {0};
    int error = zs_edit_insert(k, i, where, text, &diag);
    CHECK(!error, "%s at %u: %s", text, i, diag.text);
}

/* On the edge of threads that jump, where there is one: refused by name elsewhere. */
static void put_jump(struct zs_edit_kernel *k, uint32_t i, const char *text)
{
    const struct zs_isa_inst *inst = zs_isa_inst(zs_edit_kernel_code(k), i);
    const char *name = zs_isa_op_mnemonic((enum zs_isa_op)inst->op);
    bool by_lanes = inst->op == ZS_OP_IF || inst->op == ZS_OP_WHILE || inst->op == ZS_OP_BREAK ||
                    inst->op == ZS_OP_CONT || inst->op == ZS_OP_GOTO;
    bool has_one = inst->op == ZS_OP_JMPI || by_lanes;
    struct zs_diag diag = {0};
    int error = zs_edit_insert(k, i, ZS_EDIT_JUMP, text, &diag);
    CHECK(!error || error == -ENOTSUP, "jump at %u: %s", i, diag.text);
    CHECK(!error == has_one || inst->src[0].kind != ZS_OPERAND_LABEL || inst->op == ZS_OP_GOTO,
          "jump at %u: %s", i, diag.text);
    CHECK(!error || strstr(diag.text, name), "%s is not named: %s", name, diag.text);
}

static void put_nops(struct zs_edit *edit, struct zs_edit_kernel *k, uint32_t i)
{
    (void)edit;
    const struct zs_isa_inst *inst = zs_isa_inst(zs_edit_kernel_code(k), i);
    insert(k, i, ZS_EDIT_BEFORE, "nop\n");
    if (!ends_here(inst))
        insert(k, i, ZS_EDIT_AFTER, "nop\n");
    else
        CHECK(zs_edit_insert(k, i, ZS_EDIT_AFTER, "nop\n", NULL) == -EINVAL, "behind %u", i);
    if (i == 0)
        insert(k, i, ZS_EDIT_ENTRY, "nop\nnop\n");
    put_jump(k, i, "nop\nnop\nnop\n");
}

static bool relocated(const struct zs_edit_kernel *k, const struct zs_isa_inst *inst)
{
    const struct zs_kernel *info = zs_edit_kernel_info(k);
    for (uint32_t r = 0; r < info->relocation_count; r++)
        if (info->relocations[r].at.offset_B >= inst->offset_B &&
            info->relocations[r].at.offset_B < inst->offset_B + inst->size_B)
            return true;
    return false;
}

static void put_pairs(struct zs_edit *edit, struct zs_edit_kernel *k, uint32_t i)
{
    const struct zs_isa_inst *inst = zs_isa_inst(zs_edit_kernel_code(k), i);
    char text[ZS_ISA_LINE_MAX + 1];
    (void)edit;
    if (!may_follow(inst) || relocated(k, inst))
        return;
    zs_isa_inst_text(zs_edit_kernel_code(k), i, text);
    strcat(text, "\n");
    insert(k, i, ZS_EDIT_INSTEAD, text);
    insert(k, i, ZS_EDIT_AFTER, "nop\n");
}

static void put_probes(struct zs_edit *edit, struct zs_edit_kernel *k, uint32_t i)
{
    const struct zs_isa_inst *inst = zs_isa_inst(zs_edit_kernel_code(k), i);
    for (uint32_t kind = 0; kind < ZS_PROBE_KIND_COUNT; kind++) {
        struct zs_probe probe = {.kind = kind,
                                 .counter = zs_edit_counters(edit, 1),
                                 .clock = i % ZS_EDIT_CLOCKS_MAX,
                                 .site = i,
                                 .grf = 2,
                                 .grf_count = i % 6};
        struct zs_diag diag = {0};
        int error = zs_edit_probe(k, i, ZS_EDIT_BEFORE, &probe, &diag);
        CHECK(!error || (error == -ENOTSUP && inst->pred > ZS_PRED_SEQ), "probe %u at %u: %s", kind,
              i, diag.text);
        if (kind == i % ZS_PROBE_KIND_COUNT)
            error = zs_edit_probe(k, i, ZS_EDIT_JUMP, &probe, &diag);
        CHECK(!error || error == -ENOTSUP, "probe %u on the edge at %u: %s", kind, i, diag.text);
    }
}

/* The number of a group chooses one of four jumps. */
static void put_table(struct zs_edit *edit, struct zs_edit_kernel *k, uint32_t i)
{
    enum zs_isa_platform platform = zs_isa_kernel_platform(zs_edit_kernel_code(k));
    const char *wait = platform >= ZS_ISA_XE_HPG  ? " {A@1}"
                       : platform >= ZS_ISA_XE_LP ? " {@1}"
                                                  : "";
    const char *region = platform >= ZS_ISA_XE_LP ? "" : "<0;1,0>:d";
    uint64_t bits[4];
    char text[1500], add[200] = "";
    uint32_t reg = 1;
    (void)edit;
    if (i || !zs_edit_free_grf(k, bits))
        return;
    while (reg < 128 && !(bits[reg / 64] >> reg % 64 & 1))
        reg++;
    if (reg == 128)
        return;
    if (platform >= ZS_ISA_XE_LP)
        snprintf(add, sizeof(add), "(W) add (1|M0) r%u.1<1>:d r%u.1<0;1,0>:d 0x10:uw%s\n", reg, reg,
                 wait);
    snprintf(text, sizeof(text),
             "(W) and (1|M0) r%u.0<1>:ud r0.1<0;1,0>:ud 0x3:ud%s\n"
             "(W) shl (1|M0) r%u.1<1>:d r%u.0<0;1,0>:d 0x4:uw%s\n"
             "%s"
             "(W) jmpi (1|M0) r%u.1%s%s\n"
             "(W) jmpi (1|M0) LA\n(W) jmpi (1|M0) LB\n(W) jmpi (1|M0) LC\n(W) jmpi (1|M0) LD\n"
             "LA:\n(W) mov (1|M0) r%u.2<1>:ud 0x1:ud\n"
             "LB:\n(W) mov (1|M0) r%u.2<1>:ud 0x2:ud\n"
             "LC:\n(W) mov (1|M0) r%u.2<1>:ud 0x3:ud\n"
             "LD:\n(W) mov (1|M0) r%u.2<1>:ud 0x4:ud\n",
             reg, wait, reg, reg, wait, add, reg, region, wait, reg, reg, reg, reg);
    insert(k, 0, ZS_EDIT_ENTRY, text);
}

/* A probe behind the last instruction, as far as one can be there, with no registers of its own. */
static void put_end(struct zs_edit *edit, struct zs_edit_kernel *k, uint32_t i)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(k);
    const struct zs_probe probe = {.kind = ZS_PROBE_COUNT, .counter = zs_edit_counters(edit, 1)};
    uint64_t all[4];
    memset(all, 0xff, sizeof(all));
    if (i + 1 < zs_isa_kernel_count(code) || ends_here(zs_isa_inst(code, i)))
        return;
    zs_edit_reserve_grf(k, all);
    CHECK(!zs_edit_probe(k, i, ZS_EDIT_AFTER, &probe, NULL), "behind %u", i);
}

/* Every original instruction stands where the map says, the same but for distances. */
static void compare_kernel(struct zs_edit_kernel *old, struct zs_edit_kernel *new, bool replaced)
{
    const struct zs_isa_kernel *a = zs_edit_kernel_code(old), *b = zs_edit_kernel_code(new);
    CHECK(a && b, "no code");
    bool reads_ip = false;
    for (uint32_t i = 0; i < zs_isa_kernel_count(a); i++)
        for (uint32_t n = 0; n < zs_isa_inst(a, i)->source_count; n++)
            reads_ip |= zs_isa_inst(a, i)->src[n].file == ZS_FILE_IP;
    for (uint32_t i = 0; i < zs_isa_kernel_count(a); i++) {
        uint32_t at_B = zs_edit_map_new(old, zs_isa_inst_offset(a, i));
        uint32_t n = zs_isa_inst_find(b, at_B);
        CHECK(n != ZS_ISA_NO_INDEX && zs_isa_inst_offset(b, n) == at_B, "%u went to %u", i, at_B);
        CHECK(zs_edit_map_old(old, at_B) == zs_isa_inst_offset(a, i), "%u does not come back", i);
        const struct zs_isa_inst *x = zs_isa_inst(a, i), *y = zs_isa_inst(b, n);
        CHECK(x->op == y->op && x->exec_size == y->exec_size && x->pred == y->pred, "%u", i);
        uint32_t targets[2][2] = {{x->jip_B, y->jip_B}, {x->uip_B, y->uip_B}};
        for (uint32_t t = 0; t < 2; t++) {
            if (targets[t][0] == ZS_ISA_NO_INDEX || targets[t][0] == x->offset_B)
                continue;
            uint32_t target = zs_isa_inst_find(b, targets[t][1]);
            bool is_end = targets[t][1] == zs_isa_kernel_size_B(b);
            CHECK(is_end ||
                      (target != ZS_ISA_NO_INDEX && zs_isa_inst_offset(b, target) == targets[t][1]),
                  "%u branches into an instruction", i);
            bool next = x->op == ZS_OP_GOTO && targets[t][0] == x->offset_B + x->size_B &&
                        targets[t][1] == y->offset_B + y->size_B;
            CHECK(zs_edit_map_old(old, targets[t][1]) == targets[t][0] || is_end || next,
                  "%u branches to 0x%x, which was 0x%x, not 0x%x", i, targets[t][1],
                  zs_edit_map_old(old, targets[t][1]), targets[t][0]);
        }
        /* numbers that are added to what came of ip follow the code; the run tells whether they do
         */
        bool is_number = reads_ip && x->op == ZS_OP_ADD && x->src[1].kind == ZS_OPERAND_IMM &&
                         y->src[1].kind == ZS_OPERAND_IMM && x->dst.reg == y->dst.reg;
        if (x->jip_B == ZS_ISA_NO_INDEX && !replaced && !is_number)
            CHECK(x->raw[0] == y->raw[0] && x->raw[1] == y->raw[1], "%u has other bits", i);
    }
}

static void compare_symbols(struct zs_edit_kernel *old, struct zs_edit_kernel *new)
{
    const struct zs_kernel *a = zs_edit_kernel_info(old), *b = zs_edit_kernel_info(new);
    CHECK(!strcmp(a->name, b->name), "%s became %s", a->name, b->name);
    CHECK(a->symbol_count == b->symbol_count && a->relocation_count == b->relocation_count,
          "symbols");
    for (uint32_t s = 0; s < a->symbol_count; s++) {
        uint64_t at_B = a->symbols[s].place.offset_B;
        bool is_code =
            a->symbols[s].kind == ZS_SYMBOL_FUNCTION || a->symbols[s].kind == ZS_SYMBOL_KERNEL;
        if (at_B && is_code)
            CHECK(zs_edit_map_old(old, (uint32_t)b->symbols[s].place.offset_B) == at_B, "symbol %u",
                  s);
    }
    for (uint32_t r = 0; r < a->relocation_count; r++) {
        uint64_t x = a->relocations[r].at.offset_B, y = b->relocations[r].at.offset_B;
        uint32_t i = zs_isa_inst_find(zs_edit_kernel_code(old), (uint32_t)x);
        uint32_t start_B = zs_isa_inst_offset(zs_edit_kernel_code(old), i);
        CHECK(y == zs_edit_map_new(old, start_B) + (x - start_B), "relocation %u", r);
    }
}

/* Options of callers of other versions: too short for their own size, or with members set that are
 * not known. */
static void check_options(struct zs_span in)
{
    struct {
        struct zs_edit_options options;
        uint64_t later;
    } given = {.options = {.size_B = sizeof(given)}};
    struct zs_edit *edit;
    CHECK(!zs_edit_open(in, &given.options, &edit, NULL), "later options that are zero");
    zs_edit_close(edit);
    given.later = 1;
    CHECK(zs_edit_open(in, &given.options, &edit, NULL) == -E2BIG, "later options");
    given.options.size_B = 0;
    CHECK(zs_edit_open(in, &given.options, &edit, NULL) == -EINVAL, "options without their size");
    given.options.size_B = sizeof(size_t); /* before there were members */
    given.options.device = "none";
    CHECK(!zs_edit_open(in, &given.options, &edit, NULL), "options of an earlier version");
    zs_edit_close(edit);
}

static void write_file(const char *path, struct zs_span bytes)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes.data, 1, bytes.size_B, f) == bytes.size_B && fclose(f) == 0, "%s",
          path);
}

static void write_code(struct zs_edit *edit, const char *folder)
{
    for (uint32_t i = 0; i < zs_edit_kernel_count(edit); i++) {
        const struct zs_kernel *info = zs_edit_kernel_info(zs_edit_kernel(edit, i));
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, info->name);
        write_file(path, info->code);
    }
}

typedef void (*put_fn)(struct zs_edit *edit, struct zs_edit_kernel *k, uint32_t i);

int main(int argc, char **argv)
{
    CHECK(argc >= 3, "what, and of which file?");
    struct zs_diag diag = {0};
    struct zs_span in = slurp(argv[2]);
    struct zs_edit *edit, *again;
    int error = zs_edit_open(in, NULL, &edit, &diag);
    CHECK(!error, "%s: %s", argv[2], diag.text);
    if (!strcmp(argv[1], "code")) {
        write_code(edit, argv[3]);
        zs_edit_close(edit);
        free((void *)in.data);
        return 0;
    }
    put_fn put = !strcmp(argv[1], "nops")     ? put_nops
                 : !strcmp(argv[1], "pairs")  ? put_pairs
                 : !strcmp(argv[1], "probes") ? put_probes
                 : !strcmp(argv[1], "tables") ? put_table
                 : !strcmp(argv[1], "end")    ? put_end
                                              : NULL;
    for (uint32_t i = 0; put && i < zs_edit_kernel_count(edit); i++) {
        struct zs_edit_kernel *k = zs_edit_kernel(edit, i);
        for (uint32_t n = 0; n < zs_isa_kernel_count(zs_edit_kernel_code(k)); n++)
            put(edit, k, n);
    }
    uint8_t *bytes;
    size_t size_B;
    error = zs_edit_write(edit, UINT64_C(0x100000000), &bytes, &size_B, &diag);
    CHECK(!error, "%s: %s", argv[2], diag.text);
    if (!put) {
        check_options(in);
        struct zs_span image = zs_edit_image(edit)->bytes;
        CHECK(size_B == image.size_B && !memcmp(bytes, image.data, size_B), "%s changed", argv[2]);
    } else {
        error = zs_edit_open((struct zs_span){bytes, size_B}, NULL, &again, &diag);
        CHECK(!error, "the output cannot be opened: %s", diag.text);
        CHECK(zs_edit_kernel_count(edit) == zs_edit_kernel_count(again), "kernels are lost");
        uint32_t refused = 0;
        for (uint32_t i = 0; i < zs_edit_kernel_count(edit); i++) {
            struct zs_edit_kernel *k = zs_edit_kernel(edit, i);
            compare_kernel(k, zs_edit_kernel(again, i), put == put_pairs);
            compare_symbols(k, zs_edit_kernel(again, i));
            if (zs_edit_refusal(k)) {
                printf("%s: %s\n", zs_edit_kernel_info(k)->name, zs_edit_refusal(k));
                refused++;
            }
        }
        printf("%u kernels, %u refused\n", zs_edit_kernel_count(edit), refused);
        zs_edit_close(again);
    }
    if (argc > 3)
        write_file(argv[3], (struct zs_span){bytes, size_B});
    zs_isa_code_free(bytes);
    zs_edit_close(edit);
    free((void *)in.data);
    return 0;
}
