/* SPDX-License-Identifier: MIT */
/*
 * The suite's kernels with probes in them, in one process:
 *
 *     each WAYS FIRST STEP   one probe in each kernel, at its instruction FIRST, in the next turn
 *                            at FIRST + STEP and so on to the end of the longest, in each way
 *     random FIRST LAST      random probes at random places, as each of these numbers has it
 *
 * STEP /N: in about N turns. WAYS /...: each instruction in one of them, in turn.
 *
 * Of each kernel one launch is compared with plain C (of random ones all), and what a probe counts
 * with what the driver counts exactly in the same launch of the plain kernel. Runs in which next to
 * nothing was compared fail, and so do kernels that are refused though no register was reserved
 * (but functions, and flow_tally where it writes registers that a0 chooses: which are free is not
 * known).
 *
 * Ways: l lanes, c executions, t a record with two registers, a executions behind the instruction,
 * j threads that jump from it (before it, where there is no such place); capitals: with all
 * registers reserved, so that some have to be saved.
 */
#include "suite_priv.h"

#include "edit/edit_priv.h"

#include <zescope/driver_ext.h>
#include <zescope/edit.h>

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { CASES_MAX = 256, TRACE_B = 1 << 20, BUFFER_B = 2 << 20, FAILURES_MAX = 8, TURN_S = 600 };

/* What a case's launches executed of one kernel, or of the module's functions. */
struct ran {
    bool is_known;
    uint64_t *executions, *lanes; /* by instruction; NULL: it did not run */
};

struct plain {
    const struct suite_case *c;
    struct suite_shape shape;
    bool races; /* what it executes depends on the order in which threads come */
    struct ran *ran;
};

struct each {
    struct suite *s;
    const struct suite_group *group;
    struct zs_span binary;
    struct zs_edit *edit; /* of the module as it was, and with the probes of a turn */
    struct plain cases[CASES_MAX];
    size_t case_count;
    struct plain *counting;
    uint8_t *buffer; /* of the probes */
    char way;
    uint32_t at;
    size_t pressed, pressed_refused; /* kernels without registers; functions apart */
    size_t turns, probes, executed, compared, refused, rewritten, none, overflows, failures;
};

/* The turn, for who finds the process hanging. */
static char doing[256];

static void on_alarm(int number)
{
    (void)number;
    ssize_t unused = write(2, doing, strlen(doing));
    (void)unused;
    _exit(1);
}

static void say_doing(const struct each *e, const char *kernel)
{
    snprintf(doing, sizeof(doing), "hangs: %s %s, way %c, instruction or number %u, %s\n",
             e->group->name, e->s->variant, e->way, e->at, kernel);
    alarm(TURN_S);
}

static bool fails(struct each *e, const char *kernel, const char *what, uint64_t got,
                  uint64_t expected)
{
    fprintf(stderr, "%s at %u, way %c: %llu %s, not %llu\n", kernel, e->at, e->way,
            (unsigned long long)got, what, (unsigned long long)expected);
    return false;
}

/* ---- the plain kernels ---- */

static uint32_t find_kernel(const struct each *e, const char *name)
{
    uint32_t k = 0;
    while (k < zs_edit_kernel_count(e->edit) &&
           strcmp(zs_edit_kernel_info(zs_edit_kernel(e->edit, k))->name, name) != 0)
        k++;
    return k;
}

static uint32_t inst_count(struct zs_edit *edit, uint32_t k)
{
    struct zs_edit_kernel *kernel = zs_edit_kernel(edit, k);
    const struct zs_isa_kernel *code = kernel ? zs_edit_kernel_code(kernel) : NULL;
    return code ? zs_isa_kernel_count(code) : 0;
}

static void add(struct each *e, uint32_t k, uint32_t inst, const zescope_instruction_count_t *row)
{
    struct ran *ran = &e->counting->ran[k];
    uint32_t count = inst_count(e->edit, k);
    if (!ran->executions) {
        ran->executions = calloc(count, sizeof(uint64_t));
        ran->lanes = calloc(count, sizeof(uint64_t));
    }
    if (!ran->executions || !ran->lanes)
        exit(2);
    ran->executions[inst] += row->executions;
    ran->lanes[inst] += row->active_lanes;
}

/* Rows before the kernel's first instruction are of the functions of the module, and of the same
 * ones of another that it is linked with, one for each instruction. */
static uint32_t find_functions(const struct each *e, const zescope_launch_info_t *info,
                               uint32_t *ret_rows)
{
    uint32_t rows = 0, k = 0;
    while (rows < info->instruction_count && info->instructions[rows].offset_B < 0)
        rows++;
    *ret_rows = rows;
    while (k < zs_edit_kernel_count(e->edit) &&
           !(zs_edit_kernel_info(zs_edit_kernel(e->edit, k))->is_function_holder && rows &&
             rows % inst_count(e->edit, k) == 0))
        k++;
    return k;
}

static void on_launch(const zescope_launch_info_t *info, void *user)
{
    struct each *e = user;
    uint32_t rows, k = find_kernel(e, info->kernel_name);
    uint32_t functions = find_functions(e, info, &rows);
    if (k == zs_edit_kernel_count(e->edit))
        return;
    for (uint32_t i = 0; i < info->instruction_count; i++) {
        const zescope_instruction_count_t *row = &info->instructions[i];
        const struct zs_isa_kernel *code = zs_edit_kernel_code(zs_edit_kernel(e->edit, k));
        if (i < rows && functions < zs_edit_kernel_count(e->edit))
            add(e, functions, i % inst_count(e->edit, functions), row);
        if (i < rows || row->offset_B >= zs_isa_kernel_size_B(code))
            continue;
        uint32_t inst = zs_isa_inst_find(code, (uint32_t)row->offset_B);
        if (inst < zs_isa_kernel_count(code))
            add(e, k, inst, row);
    }
}

/* One that is small, and has several groups and lanes that are off. */
static struct suite_shape choose_shape(const struct suite_case *c)
{
    enum { ENOUGH = 40 };
    const struct suite_shape *at = c->shapes ? c->shapes : suite_shapes_1d, *best = at;
    uint32_t best_n = 0;
    for (; at->groups[0]; at++) {
        uint32_t n = 1;
        for (int d = 0; d < 3; d++)
            n *= (at->groups[d] ? at->groups[d] : 1) * (at->local[d] ? at->local[d] : 1);
        bool better = best_n < ENOUGH ? n > best_n : n >= ENOUGH && n < best_n;
        if (better) {
            best = at;
            best_n = n;
        }
    }
    return *best;
}

bool suite_has_races(const char *kernel)
{
    static const char *const names[] = {"sync_atomic_", "sync_chain", "sync_float",
                                        "printf_overflow"};
    for (size_t i = 0; i < SUITE_COUNT(names); i++)
        if (!strncmp(kernel, names[i], strlen(names[i])))
            return true;
    return false;
}

static bool run_plain(struct each *e)
{
    zescope_pfnDriverSetLaunchCallback_t set_callback = NULL;
    if (!SUITE_CHECK(e->s, zeDriverGetExtensionFunctionAddress(
                               e->s->driver, ZESCOPE_DRIVER_SET_LAUNCH_CALLBACK_NAME,
                               (void **)&set_callback)) ||
        !SUITE_CHECK(e->s, set_callback(e->s->driver, on_launch, e, 1)))
        return false;
    for (size_t i = 0; i < e->group->count && e->case_count < CASES_MAX; i++) {
        struct plain *p = &e->cases[e->case_count];
        if (!suite_has(e->s, e->group, &e->group->cases[i]))
            continue;
        *p = (struct plain){.c = &e->group->cases[i],
                            .shape = choose_shape(&e->group->cases[i]),
                            .races = suite_has_races(e->group->cases[i].kernel),
                            .ran = calloc(zs_edit_kernel_count(e->edit), sizeof(*p->ran))};
        e->counting = p;
        e->s->turn = 0;
        if (!p->ran || !suite_run_shape(e->s, p->c, &p->shape, false))
            return false;
        e->case_count++;
    }
    return SUITE_CHECK(e->s, set_callback(e->s->driver, NULL, NULL, 0));
}

/* ---- rewritten ones ---- */

static bool create(struct each *e, struct zs_span bytes, ze_module_handle_t *ret_module)
{
    const ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                   .format = ZE_MODULE_FORMAT_NATIVE,
                                   .inputSize = bytes.size_B,
                                   .pInputModule = bytes.data};
    return SUITE_CHECK(e->s, zeModuleCreate(e->s->context, e->s->device, &desc, ret_module, NULL));
}

static void destroy(struct suite *s)
{
    if (s->module)
        zeModuleDestroy(s->module);
    if (s->other)
        zeModuleDestroy(s->other);
    s->module = s->other = NULL;
}

/* The suite's modules become what the edit writes. */
static bool use(struct each *e, struct zs_edit *edit, bool has_other)
{
    struct zs_diag diag = {0};
    uint8_t *bytes;
    size_t size_B;
    if (zs_edit_buffer(edit).size_B > BUFFER_B ||
        zs_edit_write(edit, (uint64_t)(uintptr_t)e->buffer, &bytes, &size_B, &diag)) {
        fprintf(stderr, "%s cannot be rewritten: %s\n", e->group->name, diag.text);
        return false;
    }
    bool good = create(e, (struct zs_span){bytes, size_B}, &e->s->module);
    if (good && has_other)
        good = create(e, (struct zs_span){bytes, size_B}, &e->s->other);
    zs_isa_code_free(bytes);
    return good;
}

static struct zs_edit *open_edit(const struct each *e)
{
    struct zs_edit *edit = NULL;
    struct zs_diag diag = {0};
    if (zs_edit_open(e->binary, NULL, &edit, &diag))
        fprintf(stderr, "%s: %s\n", e->group->name, diag.text);
    else
        zs_edit_set_trace_size(edit, TRACE_B);
    return edit;
}

/* Without what was put in: what is known of its code stays, which most of the time goes into. */
static void take_out(struct zs_edit *edit)
{
    for (uint32_t i = 0; i < edit->kernel_count; i++) {
        struct zs_edit_kernel *k = &edit->kernels[i];
        k->probe_count = k->insertion_count = 0;
        k->refusal[0] = '\0';
        memset(k->reserved_grf, 0, sizeof(k->reserved_grf));
        zs_placed_fini(&k->placed);
    }
    edit->counter_count = edit->kernel_count; /* one for each */
    edit->traces = false;
}

static void clear_buffer(const struct each *e, const struct zs_edit_buffer *layout)
{
    uint64_t asked = 0, end_B = layout->records_offset_B;
    if (layout->records_size_B) {
        memcpy(&asked, e->buffer + layout->trace_offset_B, sizeof(asked));
        end_B = asked > layout->records_size_B / 32 ? layout->size_B : end_B + asked * 32;
    }
    memset(e->buffer, 0, end_B ? end_B : layout->size_B);
}

/* ---- one by one ---- */

/* sel writes all lanes, by one or the other source, and branches are executed by all. */
static bool chooses(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_SEL || zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH;
}

static bool goes_back(const struct zs_isa_inst *inst)
{
    return inst->op == ZS_OP_WHILE || (inst->op == ZS_OP_GOTO && inst->flags & ZS_INST_BRANCH_CTRL);
}

/* What a turn put into a kernel. */
struct placed {
    bool is_there;
    enum zs_probe_kind kind;
    enum zs_edit_where where;
};

static int put(struct each *e, struct zs_edit *edit, uint32_t k, struct placed *ret)
{
    static const enum zs_probe_kind kinds[128] = {
        ['l'] = ZS_PROBE_LANES, ['c'] = ZS_PROBE_COUNT, ['t'] = ZS_PROBE_TRACE,
        ['a'] = ZS_PROBE_COUNT, ['j'] = ZS_PROBE_COUNT,
    };
    struct zs_edit_kernel *kernel = zs_edit_kernel(edit, k);
    const struct zs_isa_inst *inst = zs_isa_inst(zs_edit_kernel_code(kernel), e->at);
    char way = (char)tolower(e->way);
    struct zs_probe probe = {.kind = kinds[(int)way],
                             .counter = k,
                             .site = k,
                             .grf = e->at % 100,
                             .grf_count = 2,
                             .all_active = chooses(inst)};
    uint64_t all[4];
    ret->where = way == 'a' ? ZS_EDIT_AFTER : way == 'j' ? ZS_EDIT_JUMP : ZS_EDIT_BEFORE;
    memset(all, 0xff, sizeof(all));
    if (isupper(e->way))
        zs_edit_reserve_grf(kernel, all);
    int error = zs_edit_probe(kernel, e->at, ret->where, &probe, NULL);
    /* nothing goes behind some, some have no edge, and some a predicate of several kinds */
    if (error == -ENOTSUP || (error == -EINVAL && ret->where != ZS_EDIT_BEFORE)) {
        e->none += ret->where != ZS_EDIT_BEFORE;
        ret->where = ZS_EDIT_BEFORE;
        probe.kind = ZS_PROBE_COUNT;
        error = zs_edit_probe(kernel, e->at, ret->where, &probe, NULL);
    }
    ret->kind = (enum zs_probe_kind)probe.kind;
    ret->is_there = !error;
    return error;
}

static bool compare_trace(struct each *e, const struct zs_edit_buffer *layout, const char *name,
                          uint32_t k, uint64_t executions, uint64_t lanes)
{
    struct zs_span buffer = {e->buffer, layout->size_B};
    struct zs_edit_record record;
    uint64_t cursor = 0, records = 0, sum = 0;
    if (zs_edit_records_lost(layout, buffer)) {
        e->overflows++;
        return true;
    }
    while (zs_edit_record_next(layout, buffer, &cursor, &record)) {
        records += record.site == k;
        sum += record.site == k ? (uint64_t)__builtin_popcount(record.lanes) : 0;
    }
    return (records == executions || fails(e, name, "records", records, executions)) &&
           (sum == lanes || fails(e, name, "lanes of records", sum, lanes));
}

static bool compare(struct each *e, struct zs_edit *edit, const struct plain *p,
                    const struct placed *placed)
{
    struct zs_edit_buffer layout = zs_edit_buffer(edit);
    bool right = true;
    for (uint32_t k = 0; k < zs_edit_kernel_count(edit) && right; k++) {
        struct zs_edit_kernel *kernel = zs_edit_kernel(edit, k);
        if (!placed[k].is_there || zs_edit_refusal(kernel))
            continue;
        const struct ran *ran = &p->ran[k];
        const struct zs_isa_inst *inst = zs_isa_inst(zs_edit_kernel_code(kernel), e->at);
        const char *name = zs_edit_kernel_info(kernel)->name;
        uint64_t executions = ran->executions ? ran->executions[e->at] : 0, got;
        uint64_t lanes = ran->lanes ? ran->lanes[e->at] : 0;
        memcpy(&got, e->buffer + 8 * (size_t)k, sizeof(got));
        e->executed += executions > 0;
        e->compared++;
        bool leaves = zs_isa_op_flags((enum zs_isa_op)inst->op) & ZS_OPF_BRANCH;
        /* behind such a branch go on, too, who left the loop elsewhere */
        if (leaves && placed[k].where == ZS_EDIT_AFTER && goes_back(inst))
            continue;
        if (placed[k].kind == ZS_PROBE_TRACE)
            right = compare_trace(e, &layout, name, k, executions, lanes);
        else if (placed[k].where != ZS_EDIT_BEFORE && leaves)
            right = got <= executions || fails(e, name, "threads on an edge", got, executions);
        else if (placed[k].kind == ZS_PROBE_LANES)
            right = got == lanes || fails(e, name, "lanes", got, lanes);
        else
            right = got == executions || fails(e, name, "executions", got, executions);
    }
    return right;
}

/* Where which EU of a pair a thread runs on is asked, it may execute something else each time. */
static bool goes_by_place(const struct each *e)
{
    const char *device = getenv("ZESCOPE_DEVICES");
    return e->group == &suite_pointers && device && !strcmp(device, "acm-g10");
}

static bool is_known_refusal(const char *kernel, const char *refusal)
{
    bool has_array = !strcmp(kernel, "flow_tally") || !strcmp(kernel, "flow_quicksort");
    return has_array && (strstr(refusal, "writes registers that a0 chooses") ||
                         strstr(refusal, "which registers are free for clocks is not known"));
}

static bool take_refusals(struct each *e, struct zs_edit *edit, const struct placed *placed)
{
    bool right = true;
    for (uint32_t k = 0; k < zs_edit_kernel_count(edit); k++) {
        const struct zs_edit_kernel *kernel = zs_edit_kernel(edit, k);
        const char *name = zs_edit_kernel_info(kernel)->name;
        bool pressed = isupper(e->way) && !zs_edit_kernel_info(kernel)->is_function_holder;
        if (!placed[k].is_there)
            continue;
        e->pressed += pressed;
        if (!zs_edit_refusal(kernel))
            continue;
        e->refused++;
        e->pressed_refused += pressed;
        if (!isupper(e->way) && !is_known_refusal(name, zs_edit_refusal(kernel))) {
            /* with registers that are free none may be */
            fprintf(stderr, "%s at %u, way %c: %s\n", name, e->at, e->way, zs_edit_refusal(kernel));
            right = false;
        }
    }
    return right;
}

/* The case executes something of a kernel that has a probe. */
static bool concerns(const struct zs_edit *edit, const struct plain *p, const struct placed *placed)
{
    for (uint32_t k = 0; k < zs_edit_kernel_count(edit); k++)
        if (placed[k].is_there && p->ran[k].executions)
            return true;
    return false;
}

static bool run_cases(struct each *e, struct zs_edit *edit, const struct placed *placed)
{
    struct zs_edit_buffer layout = zs_edit_buffer(edit);
    bool right = true;
    for (size_t i = 0; i < e->case_count && e->failures < FAILURES_MAX; i++) {
        const struct plain *p = &e->cases[i];
        if (!concerns(edit, p, placed))
            continue;
        say_doing(e, p->c->kernel);
        clear_buffer(e, &layout);
        bool good = suite_run_shape(e->s, p->c, &p->shape, false) &&
                    (p->races || goes_by_place(e) || compare(e, edit, p, placed));
        if (!good)
            fprintf(stderr, "  that was %s with a probe at %u, way %c\n", p->c->kernel, e->at,
                    e->way);
        e->failures += !good;
        right &= good;
    }
    return right;
}

static bool turn(struct each *e, bool has_other)
{
    struct zs_edit *edit = e->edit;
    uint32_t kernels = zs_edit_kernel_count(edit);
    struct placed *placed = calloc(kernels + 1u, sizeof(*placed));
    bool good = placed != NULL, any = false;
    take_out(edit);
    for (uint32_t k = 0; good && k < kernels; k++) {
        if (e->at >= inst_count(e->edit, k))
            continue;
        good = put(e, edit, k, &placed[k]) == 0;
        e->probes += placed[k].is_there;
        any |= placed[k].is_there;
        if (!good)
            fprintf(stderr, "no probe at %u, way %c\n", e->at, e->way);
    }
    say_doing(e, "rewritten");
    if (good && any) {
        destroy(e->s);
        good =
            use(e, edit, has_other) && take_refusals(e, edit, placed) && run_cases(e, edit, placed);
    }
    e->failures += !good;
    e->turns++;
    free(placed);
    return good;
}

static void one_by_one(struct each *e, const char *ways, uint32_t first, const char *by)
{
    bool has_other = e->s->other != NULL;
    uint32_t longest = 0;
    for (uint32_t k = 0; k < zs_edit_kernel_count(e->edit); k++)
        longest = inst_count(e->edit, k) > longest ? inst_count(e->edit, k) : longest;
    uint32_t step = (uint32_t)atoi(by[0] == '/' ? by + 1 : by);
    if (by[0] == '/' && step)
        step = longest / step;
    step += step == 0;
    bool in_turn = ways[0] == '/';
    uint32_t way_count = (uint32_t)strlen(ways + in_turn);
    for (uint32_t w = 0; w < (in_turn ? 1 : way_count); w++) {
        for (e->at = first; e->at < longest && e->failures < FAILURES_MAX; e->at += step) {
            e->way = in_turn ? ways[1 + e->at % way_count] : ways[w];
            turn(e, has_other);
        }
    }
    printf("%s [%s]: %zu turns, %zu probes, %zu compared of which %zu executed, %zu refused, %zu "
           "places without, %zu overflows, %zu failures\n",
           e->group->name, e->s->variant, e->turns, e->probes, e->compared, e->executed, e->refused,
           e->none, e->overflows, e->failures);
}

/* ---- random ones ---- */

static uint32_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 16777619u;
    return h;
}

/* Some registers less: windows are saved then. */
static void reserve(struct zs_edit_kernel *kernel, uint64_t *state)
{
    uint64_t bits[4];
    for (int w = 0; w < 4; w++)
        bits[w] = next(state) % 4 ? UINT64_MAX : (uint64_t)next(state) << 32 | next(state);
    zs_edit_reserve_grf(kernel, bits);
}

static const enum zs_edit_where places[] = {ZS_EDIT_BEFORE, ZS_EDIT_JUMP, ZS_EDIT_AFTER,
                                            ZS_EDIT_ENTRY};

/* What clocks count cannot be compared. Functions have no scratch memory to keep some in. The state
 * is the caller's still: other probes are the same with clocks and without. */
static void put_clock(struct zs_edit *edit, struct zs_edit_kernel *kernel, uint32_t inst,
                      uint32_t kind, uint64_t state)
{
    enum { CLOCKS = 12 }; /* more than a register has */
    struct zs_probe probe = {.kind = kind, .clock = next(&state) % CLOCKS};
    enum zs_edit_where where = places[next(&state) % 4];
    if (zs_edit_kernel_info(kernel)->is_function_holder)
        return;
    if (kind == ZS_PROBE_ELAPSED)
        probe.counter = zs_edit_counters(edit, 1);
    if (zs_edit_probe(kernel, inst, where, &probe, NULL))
        zs_edit_probe(kernel, inst, ZS_EDIT_BEFORE, &probe, NULL);
}

static void put_random(struct zs_edit *edit, struct zs_edit_kernel *kernel, uint32_t count,
                       bool has_clocks, uint64_t *state)
{
    uint32_t inst = next(state) % count, kind = next(state) % ZS_PROBE_KIND_COUNT;
    struct zs_probe probe = {.kind = kind, .all_active = next(state) % 2};
    if (kind == ZS_PROBE_CLOCK || kind == ZS_PROBE_ELAPSED) {
        if (has_clocks)
            put_clock(edit, kernel, inst, kind, *state);
        return;
    }
    if (kind == ZS_PROBE_TRACE) {
        enum zs_edit_where where = places[next(state) % 3];
        probe = (struct zs_probe){.kind = kind,
                                  .grf = next(state) % 112,
                                  .grf_count = next(state) % (ZS_RECORD_GRF_MAX + 1)};
        zs_edit_probe(kernel, inst, where, &probe, NULL);
    } else {
        probe.counter = zs_edit_counters(edit, 1);
        bool both = zs_edit_probe(kernel, inst, ZS_EDIT_JUMP, &probe, NULL) || next(state) % 2;
        probe.counter = both ? zs_edit_counters(edit, 1) : 0;
        if (both)
            zs_edit_probe(kernel, inst, ZS_EDIT_BEFORE, &probe, NULL);
    }
    if (next(state) % 8 == 0)
        zs_edit_insert(kernel, inst, places[next(state) % 4], "nop\n", NULL);
}

/* Even numbers have clocks. True: some registers were reserved. */
static bool arrange(struct zs_edit *edit, uint32_t k, uint32_t number)
{
    struct zs_edit_kernel *kernel = zs_edit_kernel(edit, k);
    uint32_t count = inst_count(edit, k);
    uint64_t state = number * UINT64_C(2654435761) ^ hash(zs_edit_kernel_info(kernel)->name);
    bool reserves = next(&state) % 2;
    if (reserves)
        reserve(kernel, &state);
    for (uint32_t n = count ? 1 + next(&state) % (2 * count) : 0; n; n--)
        put_random(edit, kernel, count, number % 2 == 0, &state);
    return reserves;
}

static void run_all_shapes(struct each *e)
{
    for (size_t i = 0; i < e->case_count && e->failures < FAILURES_MAX; i++) {
        const struct suite_case *c = e->cases[i].c;
        bool right = true;
        say_doing(e, c->kernel);
        for (const struct suite_shape *at = c->shapes ? c->shapes : suite_shapes_1d;
             right && at->groups[0]; at++)
            for (e->s->turn = 0; right && e->s->turn < (c->turns ? c->turns : 1); e->s->turn++)
                right = suite_run_shape(e->s, c, at, false);
        if (!right)
            fprintf(stderr, "  that was %s with random probes %u\n", c->kernel, e->at);
        e->failures += !right;
    }
}

static void take_random_refusals(struct each *e, struct zs_edit *edit, const bool *reserved)
{
    for (uint32_t k = 0; k < zs_edit_kernel_count(edit); k++) {
        const struct zs_edit_kernel *kernel = zs_edit_kernel(edit, k);
        const char *refusal = zs_edit_refusal(kernel);
        e->refused += refusal != NULL;
        e->rewritten += zs_edit_is_changed(kernel);
        /* functions lend what their callers let them, which may be too little */
        if (refusal && !reserved[k] &&
            !is_known_refusal(zs_edit_kernel_info(kernel)->name, refusal) &&
            !zs_edit_kernel_info(kernel)->is_function_holder) {
            fprintf(stderr, "%s with random probes %u: %s\n", zs_edit_kernel_info(kernel)->name,
                    e->at, refusal);
            e->failures++;
        }
    }
}

static void random_ones(struct each *e, uint32_t first, uint32_t last)
{
    bool has_other = e->s->other != NULL;
    bool *reserved = calloc(zs_edit_kernel_count(e->edit) + 1u, sizeof(*reserved));
    if (!reserved)
        exit(2);
    e->way = 'r';
    for (e->at = first; e->at <= last && e->failures < FAILURES_MAX; e->at++) {
        struct zs_edit *edit = open_edit(e);
        say_doing(e, "rewritten");
        for (uint32_t k = 0; edit && k < zs_edit_kernel_count(edit); k++)
            reserved[k] = arrange(edit, k, e->at);
        destroy(e->s);
        if (edit && use(e, edit, has_other))
            run_all_shapes(e);
        else
            e->failures++;
        if (edit)
            take_random_refusals(e, edit, reserved);
        e->turns++;
        zs_edit_close(edit);
    }
    free(reserved);
    printf("%s [%s]: %zu turns of %zu cases with random probes, %zu kernels rewritten, %zu "
           "refused, %zu failures\n",
           e->group->name, e->s->variant, e->turns, e->case_count, e->rewritten, e->refused,
           e->failures);
}

/* ---- */

/* Something was put in, executed and looked at; of kernels without registers most. */
static bool has_tested(const struct each *e)
{
    if (!e->turns || !e->case_count)
        return false;
    if (e->way == 'r')
        return e->rewritten > e->refused;
    bool looks = goes_by_place(e) || (e->executed > e->overflows && e->refused < e->compared);
    return looks && e->probes > e->refused && 2 * e->pressed_refused <= e->pressed;
}

static void finish(struct each *e)
{
    for (size_t i = 0; i < e->case_count; i++) {
        for (uint32_t k = 0; k < zs_edit_kernel_count(e->edit); k++) {
            free(e->cases[i].ran[k].executions);
            free(e->cases[i].ran[k].lanes);
        }
        free(e->cases[i].ran);
    }
    zs_edit_close(e->edit);
    if (e->buffer)
        zeMemFree(e->s->context, e->buffer);
    free((void *)e->binary.data);
    free(e);
}

int suite_each(struct suite *s, const struct suite_group *group, const char *path, int argc,
               char **argv)
{
    ze_device_mem_alloc_desc_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    struct each *e = calloc(1, sizeof(*e));
    if (!e)
        return 2;
    e->s = s;
    e->group = group;
    e->binary.data = suite_read_file(path, &e->binary.size_B);
    e->edit = open_edit(e);
    signal(SIGALRM, on_alarm);
    /* aligned so that it crosses no border of 4 GiB */
    bool good = e->edit &&
                SUITE_CHECK(s, zeMemAllocShared(s->context, &device, &host, BUFFER_B, BUFFER_B,
                                                s->device, (void **)&e->buffer)) &&
                run_plain(e);
    if (good)
        memset(e->buffer, 0, BUFFER_B);
    if (good && argc == 4 && !strcmp(argv[0], "each"))
        one_by_one(e, argv[1], (uint32_t)atoi(argv[2]), argv[3]);
    else if (good && argc == 3 && !strcmp(argv[0], "random"))
        random_ones(e, (uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]));
    else
        e->failures++;
    bool right = !e->failures && has_tested(e);
    if (!e->failures && !right)
        fprintf(stderr,
                "next to nothing was tested; of %zu with nearly all registers in use %zu refused\n",
                e->pressed, e->pressed_refused);
    finish(e);
    return right ? 0 : 1;
}
