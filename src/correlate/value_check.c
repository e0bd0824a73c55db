/* SPDX-License-Identifier: MIT */
/*
 * Whether a register still holds the variable that debug info says is there.
 *
 * For optimised code IGC says where a variable is from where it got its value to where it gets the
 * next one, in the order of its own instructions before they were scheduled and got registers:
 * nothing is said of registers that are used for something else meanwhile, of values that are
 * computed a little later or earlier than they should be, or of lanes that have come another way.
 * So a place is believed only where
 *  - every write that may have left what the register holds (zs_isa_reaching) assigns the variable:
 *    it belongs to a statement of the source that does so, in the variable's function; of arguments
 *    of a kernel, also what was there when it began;
 *  - no write in this block behind the place may be one that should have come before it, and none
 *    before it one that should come behind: of the statements that write the register in this block
 *    only one may assign the variable, it must be done, and it must be its first value;
 *  - the place is not one of a line before those that are done: IGC gives some code of later lines
 *    to an earlier one;
 *  - a write for all lanes at once, in a loop, is not what this lane left with earlier.
 * What cannot be known (a source that is not there, a macro, a line that several have) counts
 * against it. Lanes that wait elsewhere only have arguments that nothing wrote.
 */
#include "correlate/value_check.h"

#include "dwarf/variables.h"
#include "isa/reaching.h"

#include <ctype.h>
#include <string.h>

enum { STATEMENT_LINES = 8, CALLEE_SAVED = 60 };
enum assigns { NO, MAYBE, YES };

/* ---- the source ---- */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The last character of a comment or a number that begins here; else `at`. */
static const char *skip_token(const char *at, const char *end)
{
    bool line = end - at >= 2 && !strncmp(at, "//", 2);
    bool block = end - at >= 2 && !strncmp(at, "/*", 2);
    while (line && at + 1 < end && at[1] != '\n')
        at++;
    if (block)
        for (at += 2; at + 1 < end && strncmp(at, "*/", 2) != 0;)
            at++;
    else if (isdigit((unsigned char)*at)) /* 1.0f, 0xff */
        while (at + 1 < end && (is_name(at[1]) || at[1] == '.'))
            at++;
    return at;
}

/* The next name in [at, end), or NULL; *ret_size is its length. */
static const char *next_name(const char *at, const char *end, size_t *ret_size)
{
    while (at < end && !(isalpha((unsigned char)*at) || *at == '_'))
        at = skip_token(at, end) + 1;
    at = at > end ? end : at;
    const char *name = at;
    while (at < end && is_name(*at))
        at++;
    *ret_size = (size_t)(at - name);
    return *ret_size ? name : NULL;
}

/* Members and elements behind a variable's name. */
static const char *skip_parts(const char *at, const char *end)
{
    for (;;) {
        while (at < end && isspace((unsigned char)*at))
            at++;
        if (at < end && *at == '.') {
            at++;
            while (at < end && is_name(*at))
                at++;
        } else if (at < end && *at == '[') {
            for (int depth = 0; at < end; at++) {
                depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
                if (!depth)
                    break;
            }
            at += at < end;
        } else {
            return at;
        }
    }
}

/* Whether a name that ends at `at` is assigned: "= ", "+=", "<<=", "++" behind it, "++" before. */
static bool is_assigned(const char *begin, const char *name, const char *at, const char *end)
{
    while (name > begin && isspace((unsigned char)name[-1]))
        name--;
    if (name - begin >= 2 && (!strncmp(name - 2, "++", 2) || !strncmp(name - 2, "--", 2)))
        return true;
    at = skip_parts(at, end);
    if (end - at >= 2 && (!strncmp(at, "++", 2) || !strncmp(at, "--", 2)))
        return true;
    if (end - at >= 2 && *at == '=' && at[1] == '=')
        return false;
    const char *op = at;
    while (op < end && op < at + 2 && strchr("+-*/%&|^<>", *op))
        op++;
    if (op - at == 1 && (*at == '<' || *at == '>')) /* a comparison */
        return false;
    return op < end && *op == '=' && (op == at || op[-1] != '=');
}

static bool source_defines(const struct zs_source *s, const char *name, size_t size)
{
    for (uint32_t line = 1; line <= s->line_count; line++) {
        struct zs_span text = zs_source_line(s, line);
        const char *at = (const char *)text.data, *end = at + text.size_B;
        while (at < end && isspace((unsigned char)*at))
            at++;
        size_t found;
        if (at == end || *at != '#' || !(at = next_name(at, end, &found)) || found != 6 ||
            memcmp(at, "define", 6) != 0)
            continue;
        at = next_name(at + 6, end, &found);
        if (at && found == size && !memcmp(at, name, size))
            return true;
    }
    return false;
}

static bool is_capital(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (islower((unsigned char)name[i]))
            return false;
    return size > 1;
}

static enum assigns text_assigns(const struct zs_source *s, const char *begin, const char *end,
                                 const char *variable)
{
    enum assigns found = NO;
    size_t size;
    for (const char *at = begin; (at = next_name(at, end, &size)); at += size) {
        if (size == strlen(variable) && !memcmp(at, variable, size)) {
            if (is_assigned(begin, at, at + size, end))
                return YES;
            found = MAYBE;
        } else if (is_capital(at, size) || source_defines(s, at, size)) {
            found = MAYBE;
        }
    }
    return found;
}

static bool ends_statement(struct zs_span text)
{
    while (text.size_B && isspace(text.data[text.size_B - 1]))
        text.size_B--;
    return !text.size_B || text.data[0] == '#' || strchr(";{}", text.data[text.size_B - 1]);
}

/* The statement of a line, with the lines before it that belong to it. */
static enum assigns line_assigns(struct zs_sources *sources, const struct zs_dwarf_kernel *info,
                                 uint32_t file, uint32_t line, const char *variable)
{
    const struct zs_source *s =
        file < info->file_count ? zs_sources_get(sources, &info->files[file]) : NULL;
    if (!s || !s->line_count || line > s->line_count || s->note)
        return MAYBE;
    uint32_t first = line;
    while (first > 1 && line - first < STATEMENT_LINES &&
           !ends_statement(zs_source_line(s, first - 1)))
        first--;
    struct zs_span begin = zs_source_line(s, first), end = zs_source_line(s, line);
    return text_assigns(s, (const char *)begin.data, (const char *)end.data + end.size_B, variable);
}

/* ---- writes ---- */

struct claim {
    const struct zs_value_check *k;
    const struct zs_variable *v;
    uint32_t inst, frame; /* where it is asked; the variable's function */
    uint32_t begin_B, size_B;
    bool argument; /* of a kernel: in its payload */
};

static uint32_t frame_of(const struct zs_value_check *k, uint32_t inst)
{
    uint32_t scope = k->join->scope[inst];
    return scope == ZS_NO_INDEX ? ZS_NO_INDEX : k->info->scopes[scope].frame;
}

static const struct zs_line_row *row_of(const struct zs_value_check *k, uint32_t inst)
{
    uint32_t row = k->join->row[inst];
    return row == ZS_NO_INDEX ? NULL : &k->info->rows[row];
}

/* Another variable of that name is meant there. */
static bool is_hidden(const struct claim *q, uint32_t inst)
{
    const struct zs_dwarf_kernel *info = q->k->info;
    for (uint32_t s = q->k->join->scope[inst];
         s != ZS_NO_INDEX && info->scopes[s].frame == q->frame && s != q->v->scope;
         s = info->scopes[s].parent)
        if (zs_scope_variable(info, s, q->v->name))
            return true;
    return false;
}

static enum assigns inst_assigns(const struct claim *q, uint32_t inst)
{
    const struct zs_dwarf_kernel *info = q->k->info;
    const struct zs_line_row *row = row_of(q->k, inst);
    uint32_t frame = frame_of(q->k, inst);
    if (!row || !row->line || frame == ZS_NO_INDEX)
        return MAYBE;
    for (uint32_t f = frame; frame != q->frame && f != ZS_NO_INDEX; f = info->frames[f].parent)
        if (f == q->frame)
            return MAYBE; /* a function that was inlined into it may write it through a pointer */
    if (frame != q->frame)
        return q->v->parameter ? MAYBE : NO;
    if (is_hidden(q, inst))
        return NO;
    enum assigns found = line_assigns(q->k->sources, info, row->file, row->line, q->v->name);
    if (found == MAYBE && row->line == q->v->decl_line && row->file == q->v->decl_file)
        return YES;
    return found;
}

static uint32_t loop_of(const struct zs_value_check *k, uint32_t inst)
{
    return zs_isa_block(k->isa, zs_isa_inst_block(k->isa, inst))->loop;
}

static bool is_in_loop(const struct zs_value_check *k, uint32_t inst, uint32_t loop)
{
    uint32_t at = loop_of(k, inst);
    while (at != ZS_ISA_NO_INDEX && at != loop)
        at = zs_isa_loop(k->isa, at)->parent;
    return at == loop;
}

/* The call in the variable's function through which the place has come; 0: it is there itself. */
static uint32_t line_of_call(const struct claim *q)
{
    uint32_t frame = frame_of(q->k, q->inst), line = 0;
    while (frame != ZS_NO_INDEX && frame != q->frame) {
        line = q->k->info->frames[frame].call_line;
        frame = q->k->info->frames[frame].parent;
    }
    return line;
}

static bool has_place(const struct claim *q, const uint64_t grf[ZS_ISA_GRF_WORDS])
{
    uint32_t grf_B = q->k->grf_B;
    bool found = false;
    for (uint32_t r = q->begin_B / grf_B; r * grf_B < q->begin_B + q->size_B && r < 256; r++)
        found |= grf[r / 64] >> r % 64 & 1;
    return found;
}

/* What an instruction left in the place is no result: its statement goes on with it, in an
 * accumulator, where debug info does not follow. */
static bool goes_to_accumulator(const struct claim *q, uint32_t inst)
{
    const struct zs_isa_block *b = zs_isa_block(q->k->isa, zs_isa_inst_block(q->k->isa, inst));
    const struct zs_line_row *row = row_of(q->k, inst);
    for (uint32_t i = inst + 1; i < b->first + b->count; i++) {
        const struct zs_isa_operand *dst = &zs_isa_inst(q->k->isa, i)->dst;
        const struct zs_line_row *next = row_of(q->k, i);
        struct zs_isa_effects e;
        zs_isa_inst_effects(q->k->isa, i, &e);
        if (dst->kind == ZS_OPERAND_REG && dst->file == ZS_FILE_ACC && next && row &&
            next->line == row->line && has_place(q, e.grf_read))
            return true;
        if (has_place(q, e.grf_written))
            return false;
    }
    return false;
}

/* Of a write that may have been the last: it is the variable's, and this lane's. */
static bool is_own(const struct claim *q, uint32_t inst)
{
    const struct zs_line_row *row = row_of(q->k, inst), *here = row_of(q->k, q->inst);
    uint32_t call = line_of_call(q), line = call ? call : here ? here->line : 0;
    if (inst_assigns(q, inst) != YES || row->line == call || goes_to_accumulator(q, inst))
        return false;
    if (inst < q->inst && row->line > line)
        return false; /* a line that has been left for good, or whose code is elsewhere */
    bool all_lanes = zs_isa_inst(q->k->isa, inst)->flags & ZS_INST_NOMASK;
    uint32_t loop = loop_of(q->k, inst);
    return !all_lanes || loop == ZS_ISA_NO_INDEX || is_in_loop(q->k, q->inst, loop);
}

static bool writes(const struct claim *q, uint32_t inst)
{
    struct zs_isa_effects e;
    zs_isa_inst_effects(q->k->isa, inst, &e);
    return e.indirect_written || has_place(q, e.grf_written);
}

/* Whether what the block began with may be the variable's, too: by another statement than `line` of
 * the block. Then the block's write may have been moved before what should see the former value. */
static bool had_value(const struct claim *q, const struct zs_isa_block *b, uint32_t line)
{
    struct zs_isa_reaching found;
    zs_isa_reaching(q->k->isa, b->first, q->begin_B, q->size_B, &found);
    bool had = found.unknown || (found.entry && q->argument);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct zs_line_row *row = row_of(q->k, found.insts[i]);
        bool same = found.insts[i] - b->first < b->count && row && row->line == line;
        had |= !same && inst_assigns(q, found.insts[i]) != NO;
    }
    return had;
}

/* Scheduling moves instructions within their block alone. */
static bool is_settled(const struct claim *q)
{
    const struct zs_isa_block *b = zs_isa_block(q->k->isa, zs_isa_inst_block(q->k->isa, q->inst));
    uint32_t line = 0;
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        if (!writes(q, i) || inst_assigns(q, i) == NO)
            continue;
        const struct zs_line_row *row = row_of(q->k, i);
        if (i >= q->inst || !row || (line && line != row->line))
            return false;
        line = row->line;
    }
    return !line || !had_value(q, b, line);
}

/* Its elements are those of lanes as debug info has them: not closer, not another lane's. */
static bool is_of_lane(const struct claim *q, uint32_t inst)
{
    const struct zs_isa_inst *i = zs_isa_inst(q->k->isa, inst);
    const struct zs_isa_operand *o = &i->dst;
    uint32_t element_B = zs_isa_type_bits((enum zs_isa_type)o->type) / 8;
    uint32_t step = o->hstride && o->hstride < ZS_REGION_VXH ? o->hstride : 1;
    if (i->exec_size <= 1 || i->message != ZS_ISA_NO_INDEX)
        return true;
    uint32_t begin_B = o->reg * q->k->grf_B + o->subreg_B;
    uint32_t at_B = ZS_MAX(q->begin_B, begin_B);
    if (!element_B || q->size_B < element_B)
        return false;
    uint32_t channel = (at_B - begin_B) / (step * element_B);
    channel +=
        (at_B - begin_B) % (step * element_B) >= element_B; /* the upper halves of addresses */
    return i->channel_offset + channel == q->k->lane;
}

static bool can_ask(const struct zs_value_check *k)
{
    return k->isa && k->info && k->join && !zs_isa_kernel_decode(k->isa, ZS_ISA_BLOCKS, NULL);
}

static uint32_t function_of(const struct zs_value_check *k, uint32_t frame)
{
    while (frame != ZS_NO_INDEX && k->info->frames[frame].parent != ZS_NO_INDEX)
        frame = k->info->frames[frame].parent;
    return frame;
}

/* An instruction of the function behind the place, which no branch leads back from: it has not been
 * executed, though by the edges of calls, which go back to behind all calls, it may. */
static bool is_ahead(const struct claim *q, uint32_t inst)
{
    const struct zs_isa_kernel *isa = q->k->isa;
    uint32_t here_B = zs_isa_inst_offset(isa, q->inst), count = zs_isa_kernel_count(isa);
    bool ahead = inst > q->inst;
    for (uint32_t i = inst; i < count && ahead; i++) {
        const struct zs_isa_inst *branch = zs_isa_inst(isa, i);
        bool jumps = zs_isa_op_flags((enum zs_isa_op)branch->op) & ZS_OPF_BRANCH &&
                     branch->op != ZS_OP_CALL && branch->op != ZS_OP_CALLA;
        ahead = !jumps || (branch->jip_B > here_B && branch->uip_B > here_B);
    }
    return ahead;
}

/* Two instructions write what one does where there are 64-bit integers: of each lane's element the
 * lower and the upper half. */
static bool are_halves(const struct claim *q, uint32_t low, uint32_t high)
{
    const struct zs_isa_inst *a = zs_isa_inst(q->k->isa, low), *b = zs_isa_inst(q->k->isa, high);
    return a->op == ZS_OP_MOV && b->op == ZS_OP_MOV && a->exec_size == b->exec_size &&
           a->channel_offset == b->channel_offset && a->pred == b->pred && a->dst.hstride == 2 &&
           b->dst.hstride == 2 && a->dst.reg == b->dst.reg &&
           zs_isa_type_bits((enum zs_isa_type)a->dst.type) == 32 &&
           zs_isa_type_bits((enum zs_isa_type)b->dst.type) == 32 &&
           a->dst.subreg_B + 4 == b->dst.subreg_B;
}

/* The function has written that register nowhere else. */
static bool is_only_write(const struct claim *q, uint32_t function)
{
    uint32_t count = 0, found[2] = {0};
    for (uint32_t i = 0; i < zs_isa_kernel_count(q->k->isa) && count <= 2; i++)
        if (function_of(q->k, frame_of(q->k, i)) == function && !is_ahead(q, i) && writes(q, i))
            found[count++ & 1] = i;
    return count == 1 || (count == 2 && are_halves(q, found[0], found[1]));
}

/* Code of the function's head: of the line of its name, or (from XeHPG on) of its last line in
 * front of its first one. */
static bool is_head(const struct zs_value_check *k, uint32_t function, uint32_t inst)
{
    const struct zs_line_row *row = row_of(k, inst);
    const struct zs_frame *f = &k->info->frames[function];
    if (!row || f->scope == ZS_NO_INDEX || !k->info->scopes[f->scope].range_count)
        return row && row->line == f->decl_line;
    const struct zs_code_range *range = &k->info->ranges[k->info->scopes[f->scope].range_first];
    uint32_t last;
    const struct zs_line_row *first =
        zs_value_first_line(k->info, f, range->begin_B, range->end_B, &last);
    return row->line == f->decl_line ||
           (first && row->line == last && zs_isa_inst_offset(k->isa, inst) < first->offset_B);
}

/* In code that was not optimised nothing moves: what has a register gets it at the function's head,
 * or has it for itself; functions that are called give back what they use of those behind. */
static bool is_plain(const struct claim *q, uint32_t inst)
{
    uint32_t function = function_of(q->k, q->frame);
    if (function_of(q->k, frame_of(q->k, inst)) != function)
        return q->begin_B >= CALLEE_SAVED * q->k->grf_B;
    return is_ahead(q, inst) || is_head(q->k, function, inst) || inst_assigns(q, inst) == YES ||
           is_only_write(q, function);
}

bool zs_value_is_there(const struct zs_value_check *k, uint32_t begin_B, uint32_t size_B)
{
    struct zs_isa_reaching found;
    struct claim q = {
        .k = k, .v = k->variable, .inst = k->inst, .begin_B = begin_B, .size_B = size_B};
    if (!can_ask(k) || k->inst == ZS_NO_INDEX || !size_B || size_B > 64)
        return false;
    q.frame = k->info->scopes[q.v->scope].frame;
    zs_isa_reaching(k->isa, q.inst, begin_B, size_B, &found);
    q.argument = q.v->parameter && k->info->frames[q.frame].parent == ZS_NO_INDEX;
    if (found.unknown || (found.entry && !q.argument) || (k->waits && found.count && k->optimised))
        return false;
    for (uint32_t i = 0; i < found.count; i++)
        if (!(k->optimised ? is_own(&q, found.insts[i]) : is_plain(&q, found.insts[i])) ||
            !is_of_lane(&q, found.insts[i]))
            return false;
    return !k->optimised || is_settled(&q);
}

bool zs_value_is_lanes_own(const struct zs_value_check *k, uint32_t begin_B, uint32_t size_B)
{
    struct zs_isa_reaching found;
    uint32_t own = 0;
    if (!zs_value_is_there(k, begin_B, size_B))
        return false;
    uint32_t function = function_of(k, k->info->scopes[k->variable->scope].frame);
    const struct claim q = {.k = k, .inst = k->inst};
    zs_isa_reaching(k->isa, q.inst, begin_B, size_B, &found);
    for (uint32_t i = 0; i < found.count; i++) {
        const struct zs_isa_inst *inst = zs_isa_inst(k->isa, found.insts[i]);
        if (function_of(k, frame_of(k, found.insts[i])) != function || is_ahead(&q, found.insts[i]))
            continue; /* it gives back what was there, or has not been executed */
        if (inst->exec_size <= 1 || inst->message != ZS_ISA_NO_INDEX ||
            inst->flags & ZS_INST_NOMASK)
            return false;
        own++;
    }
    return !found.entry && own;
}

bool zs_value_has_begun(const struct zs_value_check *k)
{
    if (!can_ask(k) || k->inst == ZS_NO_INDEX)
        return false;
    uint32_t function = function_of(k, k->info->scopes[k->variable->scope].frame);
    /* its first line behind that of its name; what was not optimised stands in order */
    bool has_head = false;
    for (uint32_t i = 0; i <= k->inst; i++) {
        const struct zs_line_row *row = row_of(k, i);
        if (!row || !row->line || function_of(k, frame_of(k, i)) != function)
            continue;
        if (!is_head(k, function, i))
            return true;
        has_head = true;
    }
    return !has_head;
}

static int any_register(void *user, uint64_t number, uint64_t bit_offset, uint32_t bits,
                        uint64_t *ret_value)
{
    (void)user, (void)number, (void)bit_offset, (void)bits;
    *ret_value = 0;
    return 0;
}

static int any_memory(void *user, uint64_t gpu_va, uint32_t address_class, uint32_t size_B,
                      uint64_t *ret_value)
{
    (void)user, (void)gpu_va, (void)address_class, (void)size_B;
    *ret_value = 0;
    return 0;
}

/* It stays in one place of memory. */
static bool stays(const struct zs_dwarf_kernel *info, const struct zs_variable *v)
{
    const struct zs_eval_context context = {.size_B = sizeof(context),
                                            .read_register = any_register,
                                            .read_memory = any_memory,
                                            .kernel = info,
                                            .variable = v};
    struct zs_location_iterator it = zs_variable_locations(info, v);
    struct zs_location location, other;
    struct zs_eval_result place;
    return zs_location_next(&it, &location) && !zs_location_next(&it, &other) &&
           zs_expr_eval(location.expr, &context, &place, NULL) == 0 && place.count == 1 &&
           place.pieces[0].kind == ZS_PIECE_MEMORY;
}

/* IGC 2 has lists without optimisation, too: of one place each, from where it is set up on. */
bool zs_value_is_optimised(const struct zs_dwarf_kernel *info)
{
    bool optimised = false;
    for (uint32_t i = 0; i < info->variable_count && !optimised; i++)
        optimised = info->variables[i].location_kind == ZS_LOCATION_LIST &&
                    !stays(info, &info->variables[i]);
    return optimised;
}

const struct zs_line_row *zs_value_first_line(const struct zs_dwarf_kernel *info,
                                              const struct zs_frame *f, uint32_t begin_B,
                                              uint32_t end_B, uint32_t *ret_last)
{
    const struct zs_line_row *first = NULL;
    *ret_last = 0;
    for (uint32_t r = 0; r < info->row_count; r++) {
        const struct zs_line_row *row = &info->rows[r];
        if (row->offset_B < begin_B || row->offset_B >= end_B || row->line <= f->decl_line ||
            row->file != f->decl_file)
            continue;
        *ret_last = ZS_MAX(*ret_last, row->line);
        if (!first || row->line < first->line)
            first = row;
    }
    return first;
}
