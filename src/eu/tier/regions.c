/* SPDX-License-Identifier: MIT */
/*
 * Which functions a program is compiled to: one, if it is not too long, with all that threads may
 * reach from where they start. Else loops are what time is spent in: each outermost one that is
 * short enough is a function; what is left is cut into pieces.
 *
 * Threads come in where they start, at heads of loops and behind barriers; in between they come
 * back from the interpreter at the next of these.
 */
#include "eu/tier/emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTION_OPS = 3000, /* of both versions */
    LONG_OPS = 12000,    /* of one without variables, of which LLVM has less to think */
    MANY_WAITS = 8,
    MODULE_OPS = 24000, /* of all functions together */
    BOTH_OPS = 200, /* threads with some lanes are interpreted where no lanes part, behind it, if
                       nobody knows of any */
};

struct plan {
    struct zs_eu_emit *e;
    struct zs_eu_tier_module *module;
    uint8_t *head;  /* by segment: somebody goes back to it */
    uint8_t *taken; /* a function has it */
    uint32_t ops;   /* written */
    bool cuts;      /* into pieces: a longer one is one segment */
    struct zs_buf functions;
};

static uint32_t ops_of(const struct zs_eu_emit_segment *s)
{
    return s->end - s->first;
}

/* Whether threads have needed it, as far as that is known. */
static bool is_seen(const struct zs_eu_emit *e, const struct zs_eu_emit_segment *s)
{
    unsigned needed = s->full ? ZS_EU_SEEN_ALL : ZS_EU_SEEN_ANY;

    return !e->options.seen.size_B || ((const uint8_t *)e->options.seen.data)[s->block] & needed;
}

static void find_heads(struct plan *plan)
{
    struct zs_eu_emit *e = plan->e;
    uint32_t to[ZS_EU_EMIT_SUCCESSORS], half = e->segment_count / 2;
    unsigned count;

    for (uint32_t i = 0; i < half; i++) {
        zs_eu_emit_successors(e, i, to, &count);
        for (unsigned k = 0; k < count; k++)
            plan->head[to[k]] |= to[k] <= i;
    }
}

/* Where lanes part, so that others than all may be on; calls and barriers change nothing. */
static bool parts(const struct zs_eu_emit *e)
{
    for (uint32_t i = 0; i < e->p->op_count; i++) {
        const struct zs_eu_op *op = &e->p->ops[i];
        if (op->kind == ZS_EU_KIND_BRANCH || op->kind == ZS_EU_KIND_GOTO)
            return true;
    }
    return false;
}

/* Segments of any lanes that are reached from one; those of a range of blocks. */
static void mark_reached(const struct plan *plan, uint32_t from, uint32_t first, uint32_t last,
                         uint8_t *in)
{
    struct zs_eu_emit *e = plan->e;
    uint32_t to[ZS_EU_EMIT_SUCCESSORS];
    unsigned count;
    bool more = true;

    in[from] = 1;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < e->segment_count / 2; i++) {
            if (!in[i])
                continue;
            zs_eu_emit_successors(e, i, to, &count);
            for (unsigned k = 0; k < count; k++) {
                uint32_t block = e->segments[to[k]].block;
                if (in[to[k]] || block < first || block > last)
                    continue;
                in[to[k]] = 1;
                more = true;
            }
        }
    }
}

static bool add_function(struct plan *plan, const uint8_t *in, bool any_lanes)
{
    struct zs_eu_emit *e = plan->e;
    struct zs_eu_tier_module *m = plan->module;
    uint32_t half = e->segment_count / 2, ops = 0;

    for (uint32_t i = 0; i < e->segment_count; i++) {
        struct zs_eu_emit_segment *s = &e->segments[i];
        s->in = in[i % half] && (any_lanes || s->full) && is_seen(e, s);
        s->joins = false;
        ops += s->in ? ops_of(s) : 0;
    }
    for (uint32_t i = 0; any_lanes && i < half; i++) { /* full ones have been seen behind them */
        struct zs_eu_emit_segment *s = &e->segments[i];
        s->joins =
            !s->in && (s + half)->in && e->joins[s->block] && i == e->block_segment[s->block];
        s->in |= s->joins;
    }
    uint32_t most = plan->cuts || zs_eu_emit_has_indirect(e) ? LONG_OPS : FUNCTION_OPS;
    e->is_long = ops > FUNCTION_OPS;
    if (!ops || ops > most || plan->ops + ops > MODULE_OPS)
        return false;
    for (uint32_t i = 0; i < e->segment_count; i++) {
        struct zs_eu_emit_segment *s = &e->segments[i];
        uint32_t k = i % half;
        bool starts = s->block == e->p->entry_block && k == e->block_segment[s->block];
        s->entry =
            s->in && !s->joins && (starts || plan->head[k] || k != e->block_segment[s->block]);
        plan->taken[i] |= s->in;
        if (s->entry && m->entry_count < ZS_EU_TIER_ENTRIES_MAX)
            m->entries[m->entry_count++] =
                (struct zs_eu_tier_entry){.op = s->first, .code_B = m->function_count};
    }
    plan->ops += ops;
    e->number = m->function_count++;
    zs_eu_emit_function(e, &plan->functions);
    return true;
}

/* The last block from which somebody goes back to a head. */
static uint32_t loop_end(const struct plan *plan, uint32_t head)
{
    struct zs_eu_emit *e = plan->e;
    uint32_t to[ZS_EU_EMIT_SUCCESSORS], end = e->segments[head].block;
    unsigned count;

    for (uint32_t i = head; i < e->segment_count / 2; i++) {
        zs_eu_emit_successors(e, i, to, &count);
        for (unsigned k = 0; k < count; k++)
            end = to[k] == head ? e->segments[i].block : end;
    }
    return end;
}

static void add_loops(struct plan *plan, bool any_lanes, uint8_t *in)
{
    struct zs_eu_emit *e = plan->e;
    uint32_t half = e->segment_count / 2;

    for (uint32_t i = 0; i < half; i++) {
        if (!plan->head[i] || plan->taken[i + half])
            continue;
        memset(in, 0, half);
        mark_reached(plan, i, e->segments[i].block, loop_end(plan, i), in);
        add_function(plan, in, any_lanes);
    }
}

/* What no function has yet, in order, as much at once as one may have. Threads come in where others
 * leave to it. */
static void add_pieces(struct plan *plan, bool any_lanes, uint8_t *in)
{
    struct zs_eu_emit *e = plan->e;
    uint32_t to[ZS_EU_EMIT_SUCCESSORS], half = e->segment_count / 2;
    unsigned count;

    plan->cuts = true;
    for (uint32_t first = 0, next; first < half; first = next) {
        uint32_t ops = 0;
        memset(in, 0, half);
        for (next = first; next < half; next++) {
            const struct zs_eu_emit_segment *any = &e->segments[next], *all = any + half;
            ops += any_lanes && is_seen(e, any) ? ops_of(any) : 0;
            ops += is_seen(e, all) ? ops_of(all) : 0;
            if (ops > FUNCTION_OPS && next > first)
                break;
            in[next] = !plan->taken[next + half];
        }
        plan->head[first] = 1;
        for (uint32_t i = 0; i < half; i++) {
            zs_eu_emit_successors(e, i, to, &count);
            for (unsigned k = 0; k < count && !in[i]; k++)
                plan->head[to[k]] |= in[to[k]];
        }
        add_function(plan, in, any_lanes);
    }
}

static void put_rows(const struct zs_eu_emit *e, struct zs_buf *out)
{
    uint8_t uses[256] = {0};

    for (unsigned row = 0; row < ZS_EU_ROW_COUNT; row++) {
        if (!e->rows[row] || !zs_eu_row_texts[row].uses)
            continue;
        if (zs_eu_row_texts[row].function)
            zs_buf_puts(out, zs_eu_row_texts[row].function);
        for (unsigned i = 0; zs_eu_row_declares[i].name; i++)
            uses[i] |= strstr(zs_eu_row_texts[row].uses, zs_eu_row_declares[i].name) != NULL;
    }
    for (unsigned i = 0; zs_eu_row_declares[i].name; i++) {
        if (uses[i])
            zs_buf_printf(out, "%s\n", zs_eu_row_declares[i].text);
    }
}

/* What takes vectors from memory; functions until the passes that move what may be moved are over:
 * all lanes' elements from anywhere, and neighbours of the lanes that are on. */
static void put_loads(struct zs_buf *out, unsigned n, unsigned bits)
{
    char v[16], name[16];

    snprintf(v, sizeof(v), "<%u x i%u>", n, bits);
    snprintf(name, sizeof(name), "v%ui%u", n, bits);
    zs_buf_printf(out,
                  "declare %s @llvm.masked.gather.%s.v%up0i%u(<%u x i%u*>, i32 immarg, <%u x i1>, "
                  "%s)\n"
                  "define internal %s @zs_gather_%u_%u(<%u x i%u*> %%p) #0 {\n"
                  "  %%on = bitcast i%u -1 to <%u x i1>\n"
                  "  %%v = call %s @llvm.masked.gather.%s.v%up0i%u(<%u x i%u*> %%p, i32 1, "
                  "<%u x i1> %%on, %s undef)\n"
                  "  ret %s %%v\n}\n",
                  v, name, n, bits, n, bits, n, v, v, n, bits, n, bits, n, n, v, name, n, bits, n,
                  bits, n, v, v);
    zs_buf_printf(out,
                  "declare %s @llvm.masked.load.%s.p0%s(%s*, i32 immarg, <%u x i1>, %s)\n"
                  "define internal %s @zs_load_%u_%u(%s* %%p, <%u x i1> %%on) #0 {\n"
                  "  %%v = call %s @llvm.masked.load.%s.p0%s(%s* %%p, i32 1, <%u x i1> %%on, "
                  "%s undef)\n"
                  "  ret %s %%v\n}\n"
                  "declare void @llvm.masked.store.%s.p0%s(%s, %s*, i32 immarg, <%u x i1>)\n",
                  v, name, name, v, n, v, v, n, bits, v, n, v, name, name, v, n, v, v, name, name,
                  v, v, n);
}

static void put_vectors(struct zs_buf *out)
{
    zs_buf_puts(out, "declare i64 @llvm.usub.sat.i64(i64, i64)\n");
    for (unsigned n = 8; n <= 16; n += 8) {
        for (unsigned bits = 8; bits <= 64; bits *= 2) {
            if (bits >= 32) {
                zs_buf_printf(out, "declare i%u @llvm.vector.reduce.umax.v%ui%u(<%u x i%u>)\n",
                              bits, n, bits, n, bits);
                put_loads(out, n, bits);
            }
            zs_buf_printf(out,
                          "declare void @llvm.masked.scatter.v%ui%u.v%up0i%u(<%u x i%u>, <%u x "
                          "i%u*>, i32 immarg, <%u x i1>)\n",
                          n, bits, n, bits, n, bits, n, bits, n);
        }
    }
}

/* Helpers, as functions that leave the registers of whoever calls them alone: it is seldom done,
 * and what is in registers stays there. Those that are called. */
static void put_helpers(const char *functions, struct zs_buf *out)
{
    static const struct {
        const char *name, *result, *types, *values;
    } helpers[ZS_EU_TIER_HELPERS] = {
        [ZS_EU_TIER_ORIGINAL] = {"zs_original", "i8*", "i8*, i8*", "i8* %t, i8* %a"},
        [ZS_EU_TIER_ONE] = {"zs_one", "i32", "i8*, i32", "i8* %t, i32 %a"},
        [ZS_EU_TIER_SEND] = {"zs_send", "i32", "i8*, i32, i32", "i8* %t, i32 %a, i32 %b"},
        [ZS_EU_TIER_REACH] = {"zs_reach", "i32", "i8*, i32, i32, i32, i64, i32",
                              "i8* %t, i32 %a, i32 %b, i32 %c, i64 %d, i32 %f"},
        [ZS_EU_TIER_MODES] = {"zs_modes", "i32", "i8*", "i8* %t"},
        [ZS_EU_TIER_ABSORB] = {"zs_absorb", "i32", "i8*, i32*, i32*, i32, i64*",
                               "i8* %t, i32* %a, i32* %b, i32 %c, i64* %d"},
        [ZS_EU_TIER_SETTLE] = {"zs_settle", "i32", "i8*, i32*, i32*, i32, i64*",
                               "i8* %t, i32* %a, i32* %b, i32 %c, i64* %d"},
    };

    for (unsigned i = 0; i < ZS_EU_TIER_HELPERS; i++) {
        const char *result = helpers[i].result, *types = helpers[i].types;
        if (!strstr(functions, helpers[i].name))
            continue;
        zs_buf_printf(out, "define internal coldcc %s @%s(%s) #1 {\n", result, helpers[i].name,
                      helpers[i].values);
        zs_buf_printf(out,
                      "  %%1 = getelementptr i8, i8* %%t, i64 %zu\n"
                      "  %%2 = bitcast i8* %%1 to i8**\n"
                      "  %%3 = load i8*, i8** %%2\n"
                      "  %%4 = getelementptr i8, i8* %%3, i64 %zu\n"
                      "  %%5 = bitcast i8* %%4 to i8***\n"
                      "  %%6 = load i8**, i8*** %%5\n"
                      "  %%7 = getelementptr i8*, i8** %%6, i64 %u\n"
                      "  %%8 = bitcast i8** %%7 to %s (%s)**\n"
                      "  %%9 = load %s (%s)*, %s (%s)** %%8\n"
                      "  %%10 = call %s %%9(%s)\n"
                      "  ret %s %%10\n}\n",
                      (size_t)ZS_EU_OFFSET(program), offsetof(struct zs_eu_program, tier), i,
                      result, types, result, types, result, types, result, helpers[i].values,
                      result);
    }
}

static void put_module(struct plan *plan)
{
    struct zs_buf *out = &plan->module->text;

    zs_buf_puts(out, "target triple = \"x86_64-unknown-linux-gnu\"\n\n");
    put_rows(plan->e, out);
    put_vectors(out);
    if (!strstr(zs_buf_cstr(out), "declare i32 @llvm.ctpop.i32("))
        zs_buf_puts(out, "declare i32 @llvm.ctpop.i32(i32)\n\n");
    if (!strstr(zs_buf_cstr(out), "declare i32 @llvm.cttz.i32("))
        zs_buf_puts(out, "declare i32 @llvm.cttz.i32(i32, i1 immarg)\n\n");
    if (strstr(zs_buf_cstr(&plan->functions), "@llvm.x86.sse.ldmxcsr("))
        zs_buf_puts(out, "declare void @llvm.x86.sse.ldmxcsr(i8*)\n\n");
    put_helpers(zs_buf_cstr(&plan->functions), out);
    for (unsigned bits = 64; bits <= 2 * ZS_EU_TIER_PLACES; bits *= 2)
        zs_buf_printf(out, "declare i%u @llvm.cttz.i%u(i%u, i1 immarg)\n", bits, bits, bits);
    zs_buf_append(out, plan->functions.data, plan->functions.size_B);
    zs_buf_puts(out, "attributes #0 = { nounwind alwaysinline }\n"
                     "attributes #1 = { nounwind noinline }\n"
                     "attributes #2 = { nounwind \"stackrealign\" \"no-jump-tables\"=\"true\" "
                     "\"frame-pointer\"=\"none\" \"prefer-vector-width\"=\"512\" "
                     "\"min-legal-vector-width\"=\"512\" }\n"
                     "attributes #3 = { nounwind cold }\n"
                     "!0 = !{!\"branch_weights\", i32 2000, i32 1}\n"
                     "!1 = !{!\"branch_weights\", i32 1, i32 2000}\n"
                     "!2 = !{}\n");
}

/* What threads read of what they find: what is live where they start. */
static void put_read(struct plan *plan)
{
    struct zs_eu_emit *e = plan->e;

    for (unsigned all = 0; all < 2; all++) {
        uint32_t start = e->block_segment[e->p->entry_block] + (all ? e->segment_count / 2 : 0);
        for (uint32_t unit = ZS_EU_OFFSET(acc) / 32; unit < ZS_EU_OFFSET(fault) / 32; unit++)
            plan->module->read[all][ZS_EU_TIER_READ_ACC] |=
                zs_eu_emit_has(&e->segments[start].live, unit) || !plan->taken[start];
        for (uint32_t i = 0; i < ZS_EU_GRF_FILE_MAX_B / 32; i++) {
            bool live = zs_eu_emit_has(&e->segments[start].live, ZS_EU_OFFSET(grf) / 32 + i);
            if (live || !plan->taken[start])
                plan->module->read[all][i / 64] |= UINT64_C(1) << i % 64;
        }
        plan->module->read[all][ZS_EU_TIER_READ_ACC] |= e->overwrites ? ZS_EU_TIER_OVERWRITES : 0;
    }
}

/* Segments of loops. */
static void mark_loops(struct plan *plan)
{
    struct zs_eu_emit *e = plan->e;
    uint32_t half = e->segment_count / 2;

    for (uint32_t i = 0; i < half; i++) {
        uint32_t end = plan->head[i] ? loop_end(plan, i) : 0;
        for (uint32_t k = i; k < half; k++)
            e->segments[k].loops |= end && e->segments[k].block <= end;
    }
    for (uint32_t i = 0; i < half; i++)
        e->segments[half + i].loops = e->segments[i].loops;
}

/* Registers would be stored and loaded at each barrier: all loops have one, or there are many and
 * no loops. */
static bool waits_often(const struct plan *plan)
{
    const struct zs_eu_emit *e = plan->e;
    uint32_t half = e->segment_count / 2, count = 0;
    bool in_loop = false;

    for (uint32_t i = 0; i < half; i++) {
        count += zs_eu_emit_waits(e, i);
        if (!plan->head[i])
            continue;
        uint32_t end = loop_end(plan, i);
        in_loop = false;
        for (uint32_t k = i; k < half && e->segments[k].block <= end; k++)
            in_loop |= zs_eu_emit_waits(e, k);
        if (!in_loop)
            return false;
    }
    return in_loop || count >= MANY_WAITS;
}

static int plan_all(struct plan *plan, uint8_t *in)
{
    struct zs_eu_emit *e = plan->e;
    uint32_t start = e->block_segment[e->p->entry_block];
    bool both =
        parts(e) || e->options.keeps_state || e->p->op_count <= BOTH_OPS || e->options.seen.size_B;

    find_heads(plan);
    mark_loops(plan);
    e->waits_often = waits_often(plan);
    mark_reached(plan, start, 0, UINT32_MAX, in);
    if (!add_function(plan, in, both)) {
        add_loops(plan, both, in);
        add_pieces(plan, both, in);
    }
    put_module(plan);
    put_read(plan);
    if (plan->module->text.error || plan->functions.error || e->body.error)
        return -ENOMEM;
    return plan->module->entry_count ? 0 : -E2BIG;
}

int zs_eu_tier_emit(const struct zs_eu_program *program, const struct zs_eu_tier_options *options,
                    struct zs_eu_tier_module *ret)
{
    struct plan plan = {.module = ret};
    int error = -ENOMEM;

    memset(ret, 0, sizeof(*ret));
    if (!program->full_ce)
        return -ENOTSUP;
    struct zs_eu_emit *e = plan.e = calloc(1, sizeof(*plan.e));
    if (!e)
        return error;
    e->p = program;
    e->options = *options;
    if (options->seen.size_B != zs_eu_program_seen_B(program))
        e->options.seen = zs_span_make(NULL, 0);
    ret->seen = e->options.seen;
    e->counts = program->ops[program->block_op[0]].arg;
    error = zs_eu_emit_segments(e);
    uint8_t *bytes = calloc(e->segment_count, 3);
    if (!bytes)
        error = -ENOMEM;
    plan.head = bytes;
    plan.taken = bytes + e->segment_count;
    if (!error)
        error = plan_all(&plan, bytes + 2 * (size_t)e->segment_count);
    zs_buf_fini(&e->body);
    zs_buf_fini(&plan.functions);
    free(e->segments);
    free(e->block_segment);
    free(e->exits);
    free(e->joins);
    free(e->places);
    free(e->modes);
    free(e);
    free(bytes);
    return error;
}
