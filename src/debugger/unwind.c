/* SPDX-License-Identifier: MIT */
/*
 * Callers. IGC describes in .debug_frame where a function keeps what it saves: addresses in scratch
 * memory, by expressions over the frame's register, r125 or r127. The return address is the first
 * dword of that at the call. IGC 2 and the last IGC 1 say the places in bytes from the frame's
 * address (CFA), as DWARF has it, and take the instruction pointer for the column of the return
 * address. Everything read is bounded by the section.
 */
#include "debugger/debugger_priv.h"

#include "base/reader.h"

#include <errno.h>
#include <string.h>

enum {
    CFA_advance_loc1 = 2,
    CFA_advance_loc2,
    CFA_advance_loc4,
    CFA_offset_extended,
    CFA_restore_extended,
    CFA_undefined,
    CFA_same_value,
    CFA_register,
    CFA_remember_state,
    CFA_restore_state,
    CFA_def_cfa,
    CFA_def_cfa_register,
    CFA_def_cfa_offset,
    CFA_def_cfa_expression,
    CFA_expression,
    CFA_nop = 0,
    RETURN_REG_MAX = ZS_DBG_REGS,
    EXPRESSION_MAX_B = 64,
    STEPS_MAX = 100000,
};

enum rule_kind { RULE_SAME, RULE_UNDEFINED, RULE_EXPRESSION, RULE_REGISTER };

struct rule {
    enum rule_kind kind;
    struct zs_span expr;
    uint64_t reg;
};

struct table {
    struct rule rules[ZS_DBG_REGS];
    uint64_t return_register;
    uint64_t frame_register; /* where the return address is at the call, as the section has it */
    uint64_t code_align;
    uint64_t at;        /* address that the rules have reached */
    struct zs_span cfa; /* expression of the frame's address */
};

/* Whether expressions start from the frame's address, not from its register. */
static bool from_cfa(const struct table *t)
{
    return zs_dwarf_register(t->return_register).file == ZS_DWREG_IP;
}

static void set_rule(struct table *t, uint64_t reg, struct rule rule)
{
    if (reg < ZS_DBG_REGS)
        t->rules[reg] = rule;
}

static struct zs_span read_block(struct zs_reader *r)
{
    return zs_read_bytes(r, zs_read_uleb128(r, "size"), "expression");
}

/* Instructions up to the address; false: one that is not known. */
static bool run_rules(struct table *t, struct zs_reader *r, uint64_t pc)
{
    for (uint32_t steps = 0; zs_reader_left(r) && !r->error && steps < STEPS_MAX; steps++) {
        uint8_t op = zs_read_u8(r, "instruction");
        uint64_t advance = 0, reg;
        if (op >> 6 == 1)
            advance = op & 0x3f;
        else if (op >> 6)
            return false;
        else if (op == CFA_advance_loc1)
            advance = zs_read_u8(r, "distance");
        else if (op == CFA_advance_loc2)
            advance = zs_read_u16(r, "distance");
        else if (op == CFA_advance_loc4)
            advance = zs_read_u32(r, "distance");
        else if (op == CFA_undefined || op == CFA_same_value) {
            reg = zs_read_uleb128(r, "register");
            set_rule(t, reg,
                     (struct rule){.kind = op == CFA_undefined ? RULE_UNDEFINED : RULE_SAME});
        } else if (op == CFA_register) {
            reg = zs_read_uleb128(r, "register");
            set_rule(t, reg,
                     (struct rule){.kind = RULE_REGISTER, .reg = zs_read_uleb128(r, "register")});
        } else if (op == CFA_expression) {
            reg = zs_read_uleb128(r, "register");
            set_rule(t, reg, (struct rule){.kind = RULE_EXPRESSION, .expr = read_block(r)});
        } else if (op == CFA_def_cfa_expression) {
            t->cfa = read_block(r);
        } else if (op != CFA_nop) {
            return false;
        }
        t->at += advance * t->code_align;
        if (t->at > pc)
            return true;
    }
    return !r->error;
}

struct entry {
    uint64_t offset_B, id;
    struct zs_reader body;
    bool is64;
};

static bool next_entry(struct zs_reader *r, struct entry *ret)
{
    if (zs_reader_left(r) < 4)
        return false;
    ret->offset_B = r->at_B;
    uint64_t length = zs_read_u32(r, "length");
    ret->is64 = length == UINT32_MAX;
    if (ret->is64)
        length = zs_read_u64(r, "length");
    ret->body = zs_read_sub(r, length, "entry");
    ret->id = ret->is64 ? zs_read_u64(&ret->body, "id") : zs_read_u32(&ret->body, "id");
    return !r->error && !ret->body.error;
}

static bool is_cie(const struct entry *e)
{
    return e->id == (e->is64 ? UINT64_MAX : UINT32_MAX);
}

static bool read_cie(struct zs_span section, uint64_t offset_B, struct table *t)
{
    struct zs_reader r = zs_reader_make(section, 0, NULL);
    struct entry e;
    zs_read_seek(&r, offset_B, "common entry");
    if (!next_entry(&r, &e) || !is_cie(&e))
        return false;
    uint8_t version = zs_read_u8(&e.body, "version");
    const char *augmentation = zs_read_cstr(&e.body, "augmentation");
    if (version >= 4 && (zs_read_u8(&e.body, "size") != 8 || zs_read_u8(&e.body, "size") != 0))
        return false;
    t->code_align = zs_read_uleb128(&e.body, "alignment");
    (void)zs_read_sleb128(&e.body, "alignment");
    t->return_register =
        version == 1 ? zs_read_u8(&e.body, "register") : zs_read_uleb128(&e.body, "register");
    if (e.body.error || *augmentation || t->return_register >= RETURN_REG_MAX)
        return false;
    t->at = 0;
    if (!run_rules(t, &e.body, UINT64_MAX))
        return false;
    const struct rule *back = &t->rules[t->return_register];
    t->frame_register = back->kind == RULE_REGISTER ? back->reg : 0;
    return true;
}

/* The rules at an address of the ELF. */
static bool find_rules(struct zs_span section, uint64_t pc, struct table *t)
{
    struct zs_reader r = zs_reader_make(section, 0, NULL);
    struct entry e;
    while (next_entry(&r, &e)) {
        if (is_cie(&e))
            continue;
        uint64_t begin = zs_read_u64(&e.body, "address"), size_B = zs_read_u64(&e.body, "size");
        if (e.body.error || pc < begin || pc - begin >= size_B)
            continue;
        memset(t, 0, sizeof(*t));
        if (!read_cie(section, e.id, t))
            return false;
        t->at = begin;
        return run_rules(t, &e.body, pc);
    }
    return false;
}

struct asked {
    struct zs_debugger *d;
    const struct zs_dbg_thread *t;
    const struct zs_dbg_call_frame *frame;
    const struct table *table;
};

enum { GRF_FIRST = 16, FRAME_DWORD = 3, TAG_SHIFT = 56, SCRATCH_TAG = 9 };

static uint64_t frame_register(const struct asked *a)
{
    return GRF_FIRST + a->frame->kernel->frame_register;
}

/* IGC 1.0.17791 says r125 where its code has r127: one stands for the other. */
static uint64_t really(const struct asked *a, uint64_t number)
{
    uint64_t said = a->table->frame_register;
    if (!said || !a->frame->kernel->frame_register)
        return number;
    if (number == said)
        return frame_register(a);
    return number == frame_register(a) ? said : number;
}

static int ask_register(void *user, uint64_t number, uint64_t bit_offset, uint32_t bits,
                        uint64_t *ret)
{
    const struct asked *a = user;
    return zs_dbg_read_register(a->d, a->t, a->frame, really(a, number), bit_offset, bits, ret);
}

static bool eval_address(struct asked *a, struct zs_span expr, uint64_t *ret_va);

static int ask_cfa(void *user, uint64_t *ret_va)
{
    struct asked *a = user;
    return eval_address(a, a->table->cfa, ret_va) ? 0 : -ENODATA;
}

static bool eval_address(struct asked *a, struct zs_span expr, uint64_t *ret_va)
{
    const struct zs_eval_context context = {.size_B = sizeof(context),
                                            .user = a,
                                            .read_register = ask_register,
                                            .read_cfa = ask_cfa,
                                            .grf_B = a->d->grf_B,
                                            .kernel = a->frame->kernel->info};
    struct zs_eval_result result;
    if (zs_expr_eval(expr, &context, &result, NULL) || result.count != 1)
        return false;
    if (result.pieces[0].kind == ZS_PIECE_MEMORY)
        *ret_va = result.pieces[0].gpu_va;
    else if (result.pieces[0].kind == ZS_PIECE_VALUE)
        *ret_va = result.pieces[0].value;
    else
        return false;
    return true;
}

/* What DW_CFA_expression has: it starts with the frame's address. */
static bool eval_from_cfa(struct asked *a, struct zs_span expr, uint64_t *ret_va)
{
    uint8_t bytes[1 + EXPRESSION_MAX_B] = {0x9c}; /* DW_OP_call_frame_cfa */
    if (expr.size_B > EXPRESSION_MAX_B)
        return false;
    memcpy(bytes + 1, expr.data, expr.size_B);
    return eval_address(a, (struct zs_span){bytes, expr.size_B + 1}, ret_va);
}

/* "add rA.0:ud r125.3:ud imm": what is in front of it in the same function. */
static bool frame_offset(const struct zs_dbg_kernel *k, uint32_t first, uint32_t store,
                         uint32_t reg, uint32_t *ret_B)
{
    const struct zs_isa_kernel *isa = k->isa;
    for (uint32_t i = store; i-- > first;) {
        const struct zs_isa_inst *inst = zs_isa_inst(isa, i);
        if (inst->dst.kind != ZS_OPERAND_REG || inst->dst.file != ZS_FILE_GRF ||
            inst->dst.reg != reg || inst->dst.subreg_B)
            continue;
        if (inst->op != ZS_OP_ADD || inst->src[0].kind != ZS_OPERAND_REG ||
            inst->src[0].reg != k->frame_register || inst->src[0].subreg_B != FRAME_DWORD * 4 ||
            inst->src[1].kind != ZS_OPERAND_IMM)
            return false;
        *ret_B = (uint32_t)inst->src[1].imm;
        return true;
    }
    return false;
}

/* Where load/store messages save registers in scratch memory by bytes IGC's debug info counts the
 * offset in other units: so the function's own store says where a register is. False: this one has
 * none. */
static bool find_save(const struct asked *a, uint32_t grf, uint64_t *ret_va)
{
    const struct zs_dbg_kernel *k = a->frame->kernel;
    uint32_t function = zs_dbg_function_at(k, a->frame->va);
    uint32_t at = zs_dbg_inst_at(k, a->frame->va), offset_B;
    uint64_t frame_B;
    if (function == ZS_NO_INDEX || at == ZS_NO_INDEX)
        return false;
    const struct zs_scope *scope = &k->info->scopes[k->info->frames[function].scope];
    uint32_t first = zs_isa_inst_find(k->isa, k->info->ranges[scope->range_first].begin_B);
    for (uint32_t i = first; first != ZS_NO_INDEX && i < at; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(k->isa, i);
        const struct zs_isa_message *m = zs_isa_inst_message(k->isa, i);
        const struct zs_isa_operand *data = &inst->src[1];
        if (!m || m->kind != ZS_MSG_STORE || inst->sfid != ZS_SFID_UGM || inst->source_count < 2 ||
            inst->src[0].kind != ZS_OPERAND_REG || data->kind != ZS_OPERAND_REG ||
            grf < data->reg || grf - data->reg >= data->grf_count ||
            !frame_offset(k, first, i, inst->src[0].reg, &offset_B))
            continue;
        if (zs_dbg_read_register(a->d, a->t, a->frame, frame_register(a), FRAME_DWORD * 32, 32,
                                 &frame_B))
            return false;
        *ret_va = ((uint64_t)SCRATCH_TAG << TAG_SHIFT) | (uint32_t)(frame_B + offset_B);
        *ret_va += (uint64_t)(grf - data->reg) * a->d->grf_B;
        return true;
    }
    return false;
}

static bool has_scratch_surface(const struct zs_debugger *d)
{
    return d->platform >= ZS_ISA_XE_HPG;
}

/* Where a register is, of which there is an expression. */
static bool find_place(struct asked *a, uint32_t number, struct zs_span expr, uint64_t *ret_va)
{
    if (from_cfa(a->table))
        return eval_from_cfa(a, expr, ret_va);
    bool is_saved = number >= GRF_FIRST && number != frame_register(a) &&
                    number != a->table->return_register && has_scratch_surface(a->d);
    return is_saved ? find_save(a, number - GRF_FIRST, ret_va) : eval_address(a, expr, ret_va);
}

/* The caller's registers from those of the frame, and its address. */
static bool find_caller(struct asked *a, struct zs_arena *arena, struct zs_dbg_call_frame *ret)
{
    const struct table *t = a->table;
    uint64_t ip;
    ret->saved = ZS_ARENA_ARRAY(arena, ZS_DBG_REGS, struct zs_dbg_saved);
    if (!ret->saved)
        return false;
    for (uint32_t i = 0; i < ZS_DBG_REGS; i++) {
        const struct rule *rule = &t->rules[really(a, i)];
        struct zs_dbg_saved *out = &ret->saved[i];
        if (a->frame->saved)
            *out = a->frame->saved[i];
        if (rule->kind == RULE_UNDEFINED)
            *out = (struct zs_dbg_saved){.lost = true};
        else if (rule->kind == RULE_EXPRESSION) {
            *out = (struct zs_dbg_saved){.in_memory = true};
            if (!find_place(a, i, rule->expr, &out->va))
                *out = (struct zs_dbg_saved){.lost = true};
        }
    }
    const struct rule *back = &t->rules[t->return_register];
    if (back->kind == RULE_REGISTER) {
        if (zs_dbg_read_register(a->d, a->t, a->frame, really(a, back->reg), 0, 32, &ip))
            return false;
    } else if (back->kind == RULE_EXPRESSION && ret->saved[t->return_register].in_memory) {
        uint32_t word;
        uint64_t va;
        enum zs_debug_space space =
            zs_dbg_space_of(a->d, a->t, ret->saved[t->return_register].va, &va);
        if (zs_dbg_access(a->d, a->t, space, va, &word, sizeof(word), false))
            return false;
        ip = word;
    } else {
        return false;
    }
    ret->va = a->d->ip_base + (uint32_t)ip;
    return true;
}

/* The kernel's own body has no caller: it is the function that begins where the code does. */
static bool in_entry(const struct zs_dbg_call_frame *frame)
{
    const struct zs_dwarf_kernel *info = frame->kernel->info;
    uint64_t offset_B = frame->va - frame->kernel->va;
    uint32_t f = zs_dbg_function_at(frame->kernel, frame->va);
    if (f == ZS_NO_INDEX)
        return offset_B == 0;
    const struct zs_scope *scope = &info->scopes[info->frames[f].scope];
    for (uint32_t r = 0; r < scope->range_count; r++) {
        const struct zs_code_range *range = &info->ranges[scope->range_first + r];
        if (offset_B >= range->begin_B && offset_B < range->end_B)
            return range->begin_B == 0;
    }
    return false;
}

uint32_t zs_dbg_unwind(struct zs_debugger *d, const struct zs_dbg_thread *t, struct zs_arena *arena,
                       struct zs_dbg_call_frame *ret_frames)
{
    struct table *table = ZS_ARENA_NEW(arena, struct table);
    uint32_t count = 1;
    ret_frames[0] = (struct zs_dbg_call_frame){.va = t->shown.gpu_va, .kernel = t->kernel};
    while (table && count < ZS_DBG_CALLS_MAX) {
        struct zs_dbg_call_frame *frame = &ret_frames[count - 1], next = {0};
        const struct zs_dbg_module *m = frame->kernel ? zs_dbg_module_of(d, frame->kernel) : NULL;
        if (!m || !m->frame_section.size_B || !frame->kernel->isa)
            break;
        uint64_t pc = frame->va - m->shown.load_va + m->text_va;
        struct asked a = {d, t, frame, table};
        if (in_entry(frame) || !find_rules(m->frame_section, pc, table) ||
            !find_caller(&a, arena, &next))
            break;
        next.kernel = zs_dbg_kernel_at(d, next.va - 1);
        uint32_t index = next.va ? zs_dbg_inst_at(next.kernel, next.va - 1) : ZS_NO_INDEX;
        if (index == ZS_NO_INDEX)
            break;
        const struct zs_isa_inst *inst = zs_isa_inst(next.kernel->isa, index);
        if (inst->op != ZS_OP_CALL && inst->op != ZS_OP_CALLA)
            break; /* not where a call returns to: the kernel's own body */
        next.va = next.kernel->va + zs_isa_inst_offset(next.kernel->isa, index);
        ret_frames[count++] = next;
    }
    return count;
}
