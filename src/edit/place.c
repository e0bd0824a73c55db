/* SPDX-License-Identifier: MIT */
/*
 * The new code. At each instruction stand, in this order:
 *
 *     [what is put in at the entry, at the first instruction only: nobody jumps to it]
 *     label:   [before] [at ends of the thread: what the plan needs] [jump] [the instruction]
 * [after]
 *
 * Who jumps to an instruction comes to its label, so what is before it sees all lanes that meet
 * there. Branches name instructions; their distances follow from where those went.
 *
 * From XeHP on threads may start at a second place, behind the instructions that load local ids.
 * That is aligned, has its own copy of what is put in at the entry, and who comes from above passes
 * by:
 *
 *     jmpi over    [fill]    second entry: [what is put in at the entry]    over: label: ...
 *
 * Jumps of a table stay side by side where they are. If anything is put in at one of them they all
 * go to copies of their own behind the table, where that stands:
 *
 *     jmpi x    jmpi c0    jmpi c1 ...    c0: label: [before] [jump] jmpi L0    c1: ...
 */
#include "edit/edit_priv.h"

#include "isa/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INST_B = 16, ENTRY_ALIGN_B = 64 };

void zs_placed_fini(struct zs_placed *placed)
{
    zs_buf_fini(&placed->code);
    free(placed->label_B);
    free(placed->inst_B);
    *placed = (struct zs_placed){0};
}

/* Insertions by instruction: `order` is sorted by instruction, then place, then time of call. */
static uint32_t *make_order(const struct zs_edit_kernel *k)
{
    static const uint8_t rank[] = {[ZS_EDIT_ENTRY] = 0,
                                   [ZS_EDIT_BEFORE] = 1,
                                   [ZS_EDIT_JUMP] = 2,
                                   [ZS_EDIT_INSTEAD] = 3,
                                   [ZS_EDIT_AFTER] = 4};
    enum { RANKS = 5 };
    size_t keys = (size_t)zs_isa_kernel_count(k->code) * RANKS + 1;
    uint32_t *order = calloc(k->insertion_count + 1, sizeof(*order));
    uint32_t *start = calloc(keys + 1, sizeof(*start));
    for (size_t i = 0; start && i < k->insertion_count; i++)
        start[(size_t)k->insertions[i].inst * RANKS + rank[k->insertions[i].where] + 1]++;
    for (size_t key = 0; start && key < keys; key++)
        start[key + 1] += start[key];
    for (size_t i = 0; order && start && i < k->insertion_count; i++)
        order[start[(size_t)k->insertions[i].inst * RANKS + rank[k->insertions[i].where]]++] =
            (uint32_t)i;
    bool ok = order && start;
    free(start);
    if (ok)
        return order;
    free(order);
    return NULL;
}

struct placer {
    struct zs_edit_kernel *k;
    const struct zs_pieces *pieces;
    const uint32_t *order;
    size_t next;      /* in order */
    size_t entry_end; /* in order: behind what is put in at the entry */
    uint32_t second;  /* the instruction at the second entry, or ZS_NONE */
    uint32_t *slot_B; /* of jumps of tables that go to copies: where they stand; else 0 */
    struct zs_placed *placed;
};

/* Append what is put in at `inst` with this place; how many there were. */
static uint32_t put_pieces(struct placer *p, uint32_t inst, enum zs_edit_where where)
{
    uint32_t count = 0;
    for (; p->next < p->k->insertion_count; p->next++, count++) {
        uint32_t i = p->order[p->next];
        const struct zs_insertion *insertion = &p->k->insertions[i];
        if (insertion->inst != inst || insertion->where != where)
            break;
        uint32_t begin_B = p->pieces->begin_B[i], end_B = p->pieces->begin_B[i + 1];
        zs_buf_append(&p->placed->code, p->pieces->code.data + begin_B, end_B - begin_B);
    }
    return count;
}

static void put_part(struct placer *p, uint32_t begin_B, uint32_t end_B)
{
    if (end_B > begin_B)
        zs_buf_append(&p->placed->code, p->pieces->code.data + begin_B, end_B - begin_B);
}

static void put_filling(struct zs_buf *text, uint32_t size_B)
{
    if (size_B % INST_B)
        zs_buf_puts(text, "sync.nop null {Compacted}\n");
    for (; size_B >= INST_B; size_B -= INST_B)
        zs_buf_puts(text, "nop\n");
}

static int put_second_entry(struct placer *p)
{
    struct zs_buf text = {0}, *code = &p->placed->code;
    uint32_t passed_B = p->pieces->entry_end_B - p->pieces->entry_begin_B;
    for (size_t n = 0; n < p->entry_end; n++)
        passed_B += p->pieces->begin_B[p->order[n] + 1] - p->pieces->begin_B[p->order[n]];
    uint32_t at_B = (uint32_t)code->size_B + INST_B;
    uint32_t fill_B = (ENTRY_ALIGN_B - at_B % ENTRY_ALIGN_B) % ENTRY_ALIGN_B;
    uint8_t *bytes = NULL;
    size_t size_B = 0;
    /* the label's name is its place */
    zs_buf_printf(&text, "(W) jmpi (1|M0) L%u\n", INST_B + fill_B + passed_B);
    put_filling(&text, fill_B);
    int error = text.error ? text.error
                           : zs_isa_assemble(p->k->edit->platform, zs_buf_span(&text), &bytes,
                                             &size_B, NULL);
    zs_buf_fini(&text);
    if (!error && size_B != (size_t)INST_B + fill_B)
        error = -EINVAL;
    if (error)
        return error == -ENOMEM ? error : zs_edit_refuse(p->k, "its second entry cannot be made");
    zs_buf_append(code, bytes, size_B);
    zs_isa_code_free(bytes);
    p->placed->entry_B = (uint32_t)code->size_B;
    put_part(p, p->pieces->entry_begin_B, p->pieces->entry_end_B);
    for (size_t n = 0; n < p->entry_end; n++)
        put_part(p, p->pieces->begin_B[p->order[n]], p->pieces->begin_B[p->order[n] + 1]);
    return code->error;
}

/* Whether anything is put in at one of a table's jumps. */
static bool has_pieces(const struct placer *p, const struct zs_isa_table *table)
{
    uint32_t i = p->next < p->k->insertion_count ? p->order[p->next] : ZS_NONE;
    return i != ZS_NONE && p->k->insertions[i].inst < table->first + table->count;
}

/* Behind instruction i, which has just been put: the table that it jumps into, if that goes to
 * copies. Where to is put in later. */
static void put_slots(struct placer *p, uint32_t i)
{
    const struct zs_isa_kernel *code = p->k->code;
    struct zs_isa_table table;
    if (!zs_isa_table_find(code, i, &table) || !has_pieces(p, &table))
        return;
    for (uint32_t e = table.first; e < table.first + table.count; e++) {
        p->slot_B[e] = (uint32_t)p->placed->code.size_B;
        zs_buf_append(&p->placed->code, p->k->info->code.data + zs_isa_inst_offset(code, e),
                      zs_isa_inst_size(code, e));
    }
}

static int put_inst(struct placer *p, uint32_t i)
{
    const struct zs_isa_kernel *code = p->k->code;
    int error = 0;
    if (i == 0) {
        put_part(p, p->pieces->entry_begin_B, p->pieces->entry_end_B);
        put_pieces(p, i, ZS_EDIT_ENTRY);
        p->entry_end = p->next;
    }
    if (i == p->second)
        error = put_second_entry(p);
    p->placed->label_B[i] = (uint32_t)p->placed->code.size_B;
    put_pieces(p, i, ZS_EDIT_BEFORE);
    if (zs_isa_inst(code, i)->flags & ZS_INST_EOT)
        put_part(p, p->pieces->exit_begin_B, p->pieces->exit_end_B);
    put_pieces(p, i, ZS_EDIT_JUMP);
    p->placed->inst_B[i] = (uint32_t)p->placed->code.size_B;
    if (!put_pieces(p, i, ZS_EDIT_INSTEAD))
        zs_buf_append(&p->placed->code, p->k->info->code.data + zs_isa_inst_offset(code, i),
                      zs_isa_inst_size(code, i));
    put_pieces(p, i, ZS_EDIT_AFTER);
    if (zs_isa_inst(code, i)->op == ZS_OP_JMPI)
        put_slots(p, i);
    return error;
}

/* ---- branches ---- */

static uint32_t index_at(const struct zs_isa_kernel *code, uint64_t offset_B)
{
    if (offset_B == zs_isa_kernel_size_B(code))
        return zs_isa_kernel_count(code);
    uint32_t i = offset_B < UINT32_MAX ? zs_isa_inst_find(code, (uint32_t)offset_B) : ZS_NONE;
    return i != ZS_ISA_NO_INDEX && zs_isa_inst_offset(code, i) == offset_B ? i : ZS_NONE;
}

/* Lanes that leave a loop by `break` go on behind the `while` that it names: that instruction must
 * be the one named, not what was put in before it. */
static bool names_the_end(const struct zs_isa_kernel *code, uint32_t i, uint32_t s, uint32_t target)
{
    return s == 1 && zs_isa_inst(code, i)->op == ZS_OP_BREAK &&
           target < zs_isa_kernel_count(code) && zs_isa_inst(code, target)->op == ZS_OP_WHILE;
}

/* A thread without lanes left goes on at the next instruction: by the edge that others go who do
 * not jump, past what stands there. */
static bool names_the_next(const struct zs_isa_kernel *code, uint32_t i, uint32_t s,
                           uint32_t target)
{
    return s == 0 && zs_isa_inst(code, i)->op == ZS_OP_GOTO && target == i + 1;
}

/* Label operand s for the new places; a distance of 0 names no place. */
static int move_label(struct zs_edit_kernel *k, uint32_t i, uint32_t s, struct zs_isa_operand *op)
{
    const struct zs_isa_inst *inst = zs_isa_inst(k->code, i);
    int64_t distance_B = (int64_t)op->imm;
    if (distance_B == 0)
        return 0;
    uint32_t target = index_at(k->code, (uint64_t)((int64_t)inst->offset_B + distance_B));
    if (target == ZS_NONE || inst->op == ZS_OP_CALLA)
        return zs_edit_refuse(k, "the branch at 0x%x goes to what is no instruction",
                              inst->offset_B);
    uint32_t to_B = names_the_end(k->code, i, s, target)    ? k->placed.inst_B[target]
                    : names_the_next(k->code, i, s, target) ? k->placed.inst_B[i] + inst->size_B
                                                            : k->placed.label_B[target];
    op->imm = (uint64_t)((int64_t)to_B - (int64_t)k->placed.inst_B[i]);
    return 0;
}

static int encode_at(struct zs_edit_kernel *k, const struct zs_isa_inst *inst, uint32_t at_B)
{
    uint8_t bytes[16];
    const char *field = "";
    int size_B = zs_isa_encode_one(k->edit->platform, inst, bytes, &field);
    if (size_B != inst->size_B)
        return zs_edit_refuse(k, "the branch at 0x%x cannot go as far as it must (%s)",
                              inst->offset_B, size_B < 0 ? field : "size");
    memcpy(k->placed.code.data + at_B, bytes, (size_t)size_B);
    return 0;
}

static int encode_again(struct zs_edit_kernel *k, uint32_t i, const struct zs_isa_inst *inst)
{
    return encode_at(k, inst, k->placed.inst_B[i]);
}

/* A jump of a table, to its copy. */
static int move_slot(const struct placer *p, uint32_t i)
{
    struct zs_isa_inst inst = *zs_isa_inst(p->k->code, i);
    if (!p->slot_B[i])
        return 0;
    inst.src[0].imm = (uint64_t)((int64_t)p->placed->label_B[i] - (int64_t)p->slot_B[i]);
    return encode_at(p->k, &inst, p->slot_B[i]);
}

static bool is_replaced(const struct zs_edit_kernel *k, uint32_t i)
{
    for (size_t n = 0; n < k->insertion_count; n++)
        if (k->insertions[n].where == ZS_EDIT_INSTEAD && k->insertions[n].inst == i)
            return true;
    return false;
}

static int move_branch(struct zs_edit_kernel *k, uint32_t i)
{
    struct zs_isa_inst inst = *zs_isa_inst(k->code, i);
    bool moved = false;
    for (uint32_t s = 0; s < inst.source_count; s++) {
        uint64_t before = inst.src[s].imm;
        if (inst.src[s].kind != ZS_OPERAND_LABEL)
            continue;
        int error = move_label(k, i, s, &inst.src[s]);
        if (error)
            return error;
        moved |= inst.src[s].imm != before;
    }
    return moved ? encode_again(k, i, &inst) : 0;
}

static int move_number(struct zs_edit_kernel *k, uint32_t i)
{
    struct zs_ip_use use;
    if (!zs_ip_is_read(zs_isa_inst(k->code, i)) || !zs_ip_find(k->code, i, &use))
        return 0;
    struct zs_isa_inst inst = *zs_isa_inst(k->code, use.number);
    uint32_t number = (uint32_t)zs_ip_number(k, i, &use);
    if (is_replaced(k, i) || is_replaced(k, use.number))
        return zs_edit_refuse(k, "the instruction at 0x%x that goes works with its own address",
                              inst.offset_B);
    if (inst.src[use.source].imm == number)
        return 0;
    inst.src[use.source].imm = number;
    return encode_again(k, use.number, &inst);
}

/* What cannot be moved. led_to: branches that numbers lead to. */
static int check_inst(struct zs_edit_kernel *k, uint32_t i, uint8_t *led_to)
{
    const struct zs_isa_inst *inst = zs_isa_inst(k->code, i);
    struct zs_ip_use use;
    if (inst->flags & ZS_INST_ILLEGAL)
        return zs_edit_refuse(k, "what stands at 0x%x is no instruction", inst->offset_B);
    if (zs_ip_is_read(inst) && !zs_ip_find(k->code, i, &use))
        return zs_edit_refuse(k, "the instruction at 0x%x works with its own address",
                              inst->offset_B);
    if (zs_ip_is_read(inst) && use.branch != ZS_NONE)
        led_to[use.branch] = 1;
    if ((inst->op == ZS_OP_BRD || inst->op == ZS_OP_BRC) && inst->src[0].kind != ZS_OPERAND_LABEL)
        return zs_edit_refuse(k, "the branch at 0x%x goes to a computed distance", inst->offset_B);
    return 0;
}

static int check_code(struct zs_edit_kernel *k)
{
    uint32_t count = zs_isa_kernel_count(k->code);
    uint8_t *led_to = calloc(1, count + 1u);
    int error = led_to ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < count && !error; i++)
        error = check_inst(k, i, led_to);
    struct zs_isa_table table;
    for (uint32_t i = 0; i < count && !error; i++)
        if (zs_ip_is_needed(zs_isa_inst(k->code, i)) && !led_to[i] &&
            !zs_isa_table_find(k->code, i, &table))
            error = zs_edit_refuse(k, "the branch at 0x%x goes to a computed distance",
                                   zs_isa_inst_offset(k->code, i));
    free(led_to);
    return error;
}

static int check_relocations(struct zs_edit_kernel *k)
{
    for (size_t i = 0; i < k->insertion_count; i++) {
        const struct zs_insertion *insertion = &k->insertions[i];
        if (insertion->where != ZS_EDIT_INSTEAD)
            continue;
        uint32_t begin_B = zs_isa_inst_offset(k->code, insertion->inst);
        uint32_t end_B = begin_B + zs_isa_inst_size(k->code, insertion->inst);
        for (uint32_t r = 0; r < k->info->relocation_count; r++)
            if (k->info->relocations[r].at.offset_B >= begin_B &&
                k->info->relocations[r].at.offset_B < end_B)
                return zs_edit_refuse(k, "the instruction at 0x%x that goes has a relocation",
                                      begin_B);
    }
    return 0;
}

int zs_place(struct zs_edit_kernel *k, const struct zs_pieces *pieces)
{
    uint32_t count = zs_isa_kernel_count(k->code);
    int error = check_code(k);
    if (!error)
        error = check_relocations(k);
    if (error)
        return error;
    uint32_t *order = make_order(k), *slot_B = calloc(count + 1u, sizeof(*slot_B));
    k->placed.label_B = calloc(count + 1u, sizeof(uint32_t));
    k->placed.inst_B = calloc(count + 1u, sizeof(uint32_t));
    uint32_t second_B = k->info->thread.skip_per_thread_load_B;
    struct placer p = {.k = k,
                       .pieces = pieces,
                       .order = order,
                       .placed = &k->placed,
                       .slot_B = slot_B,
                       .second = second_B ? index_at(k->code, second_B) : ZS_NONE};
    if (second_B && (p.second == ZS_NONE || p.second == count))
        error = zs_edit_refuse(k, "its second entry at 0x%x is no instruction", second_B);
    if (!error && (!order || !slot_B || !k->placed.label_B || !k->placed.inst_B))
        error = -ENOMEM;
    for (uint32_t i = 0; i < count && !error; i++)
        error = put_inst(&p, i);
    free(order);
    k->placed.scratch_B = pieces->scratch_B;
    error = error ? error : k->placed.code.error;
    if (!error) {
        k->placed.label_B[count] = (uint32_t)k->placed.code.size_B;
        k->placed.inst_B[count] = (uint32_t)k->placed.code.size_B;
    }
    for (uint32_t i = 0; i < count && !error; i++)
        error = move_branch(k, i);
    for (uint32_t i = 0; i < count && !error; i++)
        error = move_slot(&p, i);
    free(slot_B);
    for (uint32_t i = 0; i < count && !error; i++)
        error = move_number(k, i);
    if (error)
        zs_placed_fini(&k->placed);
    return error;
}

/* ---- where things went ---- */

uint32_t zs_place_label(const struct zs_edit_kernel *k, uint64_t offset_B)
{
    uint32_t i = index_at(k->code, offset_B);
    return i == ZS_NONE ? ZS_NONE : k->placed.label_B[i];
}

uint32_t zs_place_inside(const struct zs_edit_kernel *k, uint64_t offset_B)
{
    uint32_t i = offset_B < UINT32_MAX ? zs_isa_inst_find(k->code, (uint32_t)offset_B) : ZS_NONE;
    return i == ZS_ISA_NO_INDEX
               ? ZS_NONE
               : k->placed.inst_B[i] + ((uint32_t)offset_B - zs_isa_inst_offset(k->code, i));
}

uint32_t zs_edit_map_new(const struct zs_edit_kernel *kernel, uint32_t offset_B)
{
    if (!zs_edit_is_changed(kernel))
        return offset_B <= kernel->info->code.size_B ? offset_B : ZS_NONE;
    uint32_t i = index_at(kernel->code, offset_B);
    return i == ZS_NONE ? ZS_NONE : kernel->placed.inst_B[i];
}

uint32_t zs_edit_map_old(const struct zs_edit_kernel *kernel, uint32_t offset_B)
{
    if (!zs_edit_is_changed(kernel))
        return offset_B < kernel->info->code.size_B ? offset_B : ZS_NONE;
    if (offset_B >= kernel->placed.code.size_B)
        return ZS_NONE;
    uint32_t low = 0, high = zs_isa_kernel_count(kernel->code);
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(kernel->placed.label_B[middle] <= offset_B ? &low : &high) = middle;
    }
    return zs_isa_inst_offset(kernel->code, low);
}
