/* SPDX-License-Identifier: MIT */
/*
 * Where variables are, for tools: in registers, by debug information. Probes are put where that
 * says so, which is the same each time a module is instrumented; of what they copied only that is
 * given out which the rule of correlate/value_check.c lets pass, as the debugger does.
 */
#include "instrument/instrument.h"

#include "correlate/value_check.h"
#include "dwarf/variables.h"
#include "record/source_copies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct claim {
    const struct zs_code *code;
    const struct zs_variable *variable;
    uint32_t inst, lane, grf_B;
    uint32_t at_B, size_B;
};

/* ---- sources, which tell what assigns a variable ---- */

struct zs_tool_sources {
    struct zs_recording *recording;
    struct zs_source_copies copies;
    struct zs_sources *sources;
};

void zs_tool_sources_close(struct zs_tool_sources *s)
{
    if (!s)
        return;
    zs_sources_close(s->sources);
    zs_source_copies_fini(&s->copies);
    free(s);
}

struct zs_tool_sources *zs_tool_sources_open(struct zs_recording *recording)
{
    struct zs_tool_sources *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->recording = recording;
    s->copies.recordings = &s->recording;
    s->copies.recording_count = 1;
    const struct zs_source_options options = {.size_B = sizeof(options),
                                              .provider = zs_source_copies_provider(&s->copies)};
    if (!zs_sources_open(&options, &s->sources))
        return s;
    zs_tool_sources_close(s);
    return NULL;
}

/* ---- places ---- */

/* The innermost of that name. */
static const struct zs_variable *find_variable(const struct zs_code *code, uint32_t inst,
                                               const char *name)
{
    const struct zs_variable *found = NULL;
    for (uint32_t s = code->join->scope[inst]; !found && s != ZS_NO_INDEX;
         s = code->info->scopes[s].parent)
        found = zs_scope_variable(code->info, s, name);
    return found;
}

static enum zs_isa_type type_of(const struct zs_dwarf *dwarf, uint32_t number, uint32_t *ret_size_B)
{
    static const enum zs_isa_type floats[9] = {[2] = ZS_TYPE_HF, [4] = ZS_TYPE_F, [8] = ZS_TYPE_DF};
    static const enum zs_isa_type numbers[2][9] = {
        {[1] = ZS_TYPE_UB, [2] = ZS_TYPE_UW, [4] = ZS_TYPE_UD, [8] = ZS_TYPE_UQ},
        {[1] = ZS_TYPE_B, [2] = ZS_TYPE_W, [4] = ZS_TYPE_D, [8] = ZS_TYPE_Q}};
    struct zs_type t;
    *ret_size_B = 0;
    if (!number || zs_type_get(dwarf, zs_type_strip(dwarf, number), &t))
        return ZS_TYPE_NONE;
    bool pointer = t.kind == ZS_KIND_POINTER || t.kind == ZS_KIND_REFERENCE;
    uint64_t size_B = t.size_B || !pointer ? t.size_B : 8;
    bool is_signed = t.kind == ZS_KIND_ENUM || t.encoding == ZS_ENCODING_SIGNED ||
                     t.encoding == ZS_ENCODING_SIGNED_CHAR;
    if (size_B > 8 || (t.kind != ZS_KIND_BASE && t.kind != ZS_KIND_ENUM && !pointer))
        return ZS_TYPE_NONE;
    *ret_size_B = (uint32_t)size_B;
    if (t.kind == ZS_KIND_BASE && t.encoding == ZS_ENCODING_FLOAT)
        return floats[size_B];
    return numbers[is_signed && !pointer][size_B];
}

/* What an expression reads is not known here: where it is read from is what counts. */
static int count_read(void *user, uint64_t dwarf_register, uint64_t bit_offset, uint32_t bits,
                      uint64_t *ret_value)
{
    (void)dwarf_register;
    (void)bit_offset;
    (void)bits;
    *ret_value = 0;
    ++*(uint32_t *)user;
    return 0;
}

static bool has_place(struct claim *q, struct zs_span expr)
{
    uint32_t reads = 0;
    struct zs_eval_result found;
    const struct zs_eval_context context = {
        .size_B = sizeof(context),
        .user = &reads,
        .read_register = count_read,
        .lane = q->lane,
        .grf_B = q->grf_B,
        .kernel = q->code->info,
        .variable = q->variable,
        .offset_B = zs_isa_inst_offset(q->code->isa, q->inst),
    };
    if (zs_expr_eval(expr, &context, &found, NULL) || found.count != 1)
        return false;
    const struct zs_piece *p = &found.pieces[0];
    bool place = p->kind == ZS_PIECE_REGISTER && !p->wide && !reads;
    bool read = p->kind == ZS_PIECE_VALUE && p->from_register && reads == 1;
    struct zs_dwarf_register r = zs_dwarf_register(p->dwarf_register);
    if ((!place && !read) || r.file != ZS_DWREG_GRF || p->bit_offset % 8 ||
        (p->size_bits && p->size_bits < q->size_B * UINT64_C(8)))
        return false;
    uint64_t at_B = (uint64_t)r.index * q->grf_B + p->bit_offset / 8;
    q->at_B = (uint32_t)at_B;
    return at_B + q->size_B <= (uint64_t)256 * q->grf_B;
}

/* NULL, or why it cannot be known. */
static const char *locate(struct claim *q)
{
    const uint32_t offset_B = zs_isa_inst_offset(q->code->isa, q->inst);
    struct zs_location_iterator it = zs_variable_locations(q->code->info, q->variable);
    struct zs_location location;
    if (q->variable->location_kind == ZS_LOCATION_NONE)
        return "it was optimised away";
    if (q->variable->location_kind != ZS_LOCATION_EXPR &&
        q->variable->location_kind != ZS_LOCATION_LIST)
        return "the compiler tells its first value alone";
    while (zs_location_next(&it, &location))
        if (offset_B >= location.range.begin_B && offset_B < location.range.end_B)
            return !location.expr.size_B         ? "it has no value there"
                   : has_place(q, location.expr) ? NULL
                                                 : "it is not in registers there";
    return "it has no value there";
}

static bool is_believed(struct zs_tool_run *run, const struct claim *q)
{
    const struct zs_value_check holds = {.isa = q->code->isa,
                                         .info = q->code->info,
                                         .join = q->code->join,
                                         .sources = run->texts->sources,
                                         .grf_B = q->grf_B,
                                         .optimised = zs_value_is_optimised(q->code->info),
                                         .variable = q->variable,
                                         .inst = q->inst,
                                         .lane = q->lane};
    return zs_value_is_there(&holds, q->at_B, q->size_B);
}

static struct zs_tool_answer answer(struct zs_tool_run *run, const struct zs_code *code,
                                    uint32_t inst, const char *name, uint32_t lane)
{
    struct claim q = {.code = code, .inst = inst, .lane = lane};
    struct zs_tool_variable found = {.type = ZS_TYPE_NONE};
    q.variable = find_variable(code, inst, name);
    if (!q.variable)
        return (struct zs_tool_answer){-ENOENT, "no variable of that name is visible there", found};
    q.grf_B = zs_isa_platform_info(zs_isa_kernel_platform(code->isa))->grf_B;
    found.type = (uint32_t)type_of(code->info->dwarf, q.variable->type, &q.size_B);
    if (found.type == ZS_TYPE_NONE)
        return (struct zs_tool_answer){-ENOTSUP, "it is no number", found};
    const char *why = locate(&q);
    if (!why && !run->instruments && (!run->texts || !is_believed(run, &q)))
        why = "its register may hold something else";
    found.at_B = q.at_B;
    return (struct zs_tool_answer){why ? -ENODATA : 0, why, found};
}

/* What is kept of a variable there; NULL: no memory. Without it, records by the million would use
 * up what debug information may be read (dwarf_priv.h: work_left_B). */
static struct zs_tool_answers *answers_of(struct zs_tool_run *run, uint32_t kernel, uint32_t inst,
                                          const char *name)
{
    struct zs_tool_answers *first = zs_id_map_get(&run->answers, kernel, inst);
    for (struct zs_tool_answers *a = first; a; a = a->next)
        if (!strcmp(a->name, name))
            return a;
    struct zs_tool_answers *a = ZS_ARENA_NEW(&run->answers_arena, struct zs_tool_answers);
    if (!a)
        return NULL;
    a->next = first;
    a->name = zs_arena_strndup(&run->answers_arena, name, strlen(name));
    return a->name && !zs_id_map_put(&run->answers, kernel, inst, a) ? a : NULL;
}

void zs_tool_forget(struct zs_tool_run *run)
{
    zs_id_map_fini(&run->answers);
    zs_arena_fini(&run->answers_arena);
}

int zs_tool_variable(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                     const char *name, uint32_t lane, struct zs_tool_variable *ret,
                     struct zs_diag *diag)
{
    const struct zs_code *code = zs_tool_code(run, kernel);
    struct zs_tool_answer found = {-ENOENT, "there is no debug information", {0}};
    if (code && code->info && code->join && code->isa && inst < code->join->count) {
        struct zs_tool_answers *kept =
            lane < ZS_TOOL_LANES ? answers_of(run, zs_edit_kernel_info(kernel)->index, inst, name)
                                 : NULL;
        bool is_known = kept && kept->known >> lane & 1;
        found = is_known ? kept->lanes[lane] : answer(run, code, inst, name, lane);
        if (kept) {
            kept->lanes[lane] = found;
            kept->known |= UINT32_C(1) << lane;
        }
    }
    *ret = found.variable;
    return found.error
               ? zs_diag_set(diag, found.error, ZS_DIAG_NO_OFFSET, "%s: %s", name, found.why)
               : 0;
}
