/* SPDX-License-Identifier: MIT */
/*
 * Arbitrary bytes as a Gen9 kernel: decoded, lowered and executed on a small memory, on the fast
 * and on the general path. Nothing may crash, run for ever, or touch what is not its own; both
 * paths must come to the same end. The first byte chooses SIMD size and cr0. With FUZZ_LATER it is
 * a kernel of another generation: a second byte chooses which, registers and checks. With
 * FUZZ_COMPILED it is compiled, too, by LLVM in this process: memory, counts and the end must be
 * the interpreter's, so that nothing beyond the memory was touched.
 */
#include "dataport/dataport.h"
#include "eu/eu.h"
#ifdef FUZZ_COMPILED
#include "compiler/host_code.h"
#include "eu/tier/tier.h"
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_B = 4096, SLM_B = 4096, SCRATCH_B = 4096, BUDGET = 3000, SLICE = 500 };

struct choice {
    uint8_t mode; /* SIMD size, cr0 */
    enum zs_isa_platform platform;
    uint32_t grf_count, flags;
};

struct machine {
    struct zs_port_named_barriers barriers;
    struct zs_port port;
    struct zs_port_node node;
    struct zs_port_surface surfaces[2];
    struct zs_port_sampler samplers[1];
    _Alignas(64) uint8_t memory[MEMORY_B];
    _Alignas(64) uint8_t slm[SLM_B];
    _Alignas(64) uint8_t scratch[2 * SCRATCH_B];
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void boot(struct machine *m)
{
    memset(m, 0, sizeof(*m));
    m->node.range.start = (uint64_t)(uintptr_t)m->memory;
    m->node.range.end = m->node.range.start + MEMORY_B;
    m->surfaces[0] = (struct zs_port_surface){
        .kind = ZS_PORT_SURFACE_BUFFER, .base = m->memory, .size_B = MEMORY_B};
    m->port.map = (struct zs_port_map){&m->node};
    m->port.surfaces = m->surfaces;
    m->port.surface_count = 2;
    m->port.samplers = m->samplers;
    m->port.sampler_count = 1;
    m->port.slm = m->slm;
    m->port.slm_B = SLM_B;
    m->port.scratch = m->scratch;
    m->port.scratch_start = m->port.scratch_bias = SCRATCH_B;
    m->port.scratch_end = 2 * SCRATCH_B;
    m->port.named_barriers = &m->barriers;
}

static void payload(struct zs_eu_thread *t, const struct machine *m,
                    const struct zs_eu_registers *registers)
{
    uint64_t va = m->node.range.start;

    for (unsigned i = 0; i < (unsigned)registers->grf_count * registers->grf_B; i++)
        t->grf[i] = (uint8_t)(i * 37 % 256 & 0x3f);
    /* some registers hold addresses */
    for (unsigned i = 0; i < 8; i++) {
        uint64_t lane = va + i * 8;
        memcpy(t->grf + 4u * registers->grf_B + i * 8, &lane, 8);
    }
}

#ifdef FUZZ_COMPILED
enum { COMPILED = UINT32_C(1) << 31, WAYS_ALIKE = ZS_EU_TIER_LOWER };

/* What both ways leave. */
struct end {
    enum zs_eu_status status;
    uint64_t executed, counted;
    uint8_t memory[MEMORY_B], slm[SLM_B], scratch[2 * SCRATCH_B];
};
static struct end ends[2];

static void compile(const struct zs_eu_lower_params *params, struct zs_eu_program *program)
{
    struct zs_buf request = {0}, blob = {0}, why = {0};
    struct zs_diag diag = {0};

    zs_eu_tier_request_put(params, &(struct zs_eu_tier_options){0}, &request);
    int error =
        zs_host_build(zs_buf_span(&request), zs_span_make(NULL, 0), ZS_HOST_BLOB, &blob, &why);
    if (!error)
        error = zs_eu_tier_install(program, zs_buf_span(&blob), &diag);
    if (error && error != -ENOTSUP) {
        fprintf(stderr, "%s%s\n", zs_buf_cstr(&why), diag.text);
        abort();
    }
    zs_buf_fini(&request);
    zs_buf_fini(&blob);
    zs_buf_fini(&why);
}

/* Compiled code looks at the budget in fewer places: what does not end goes on to where that was,
 * which ran before. 0: there. */
static uint64_t slice_of(const struct zs_eu_thread *t, uint32_t flags, uint64_t spent)
{
    if (flags & COMPILED || (ends[1].status != ZS_EU_BUDGET && ends[1].status != ZS_EU_BARRIER))
        return spent < BUDGET ? SLICE : 0;
    uint64_t left = ends[1].executed - ZS_MIN(ends[1].executed, t->executed);
    return left > 4 * SLICE ? SLICE : left > 0;
}

static void keep(const struct zs_eu_thread *t, const struct machine *m, enum zs_eu_status status,
                 const uint64_t *counters, size_t count, struct end *ret)
{
    *ret = (struct end){.status = status, .executed = t->executed};
    for (size_t i = 0; i < count; i++)
        ret->counted = ret->counted * 31 + counters[i];
    memcpy(ret->memory, m->memory, MEMORY_B);
    memcpy(ret->slm, m->slm, SLM_B);
    memcpy(ret->scratch, m->scratch, sizeof(m->scratch));
}

static void compare(void)
{
    const struct end *a = &ends[0], *b = &ends[1];
    const char *what =
        a->status != b->status       ? "the end"
        : a->executed != b->executed ? "instructions"
        : a->counted != b->counted   ? "counters"
        : memcmp(a->memory, b->memory, sizeof(a->memory) + sizeof(a->slm) + sizeof(a->scratch)) != 0
            ? "memory"
            : NULL;
    if (!what)
        return;
    fprintf(stderr, "%s: interpreted %d, compiled %d\n", what, (int)a->status, (int)b->status);
    abort();
}
#else
enum { WAYS_ALIKE = 0 };
static uint64_t slice_of(const struct zs_eu_thread *t, uint32_t flags, uint64_t spent)
{
    (void)t, (void)flags;
    return spent < BUDGET ? SLICE : 0;
}
#endif

/* Runs to some end; true when both ends can be compared. */
static bool run(struct zs_eu_thread *t, struct machine *m, struct zs_span code,
                const struct choice *c, uint32_t flags)
{
    uint8_t choice = c->mode;
    static const uint32_t simds[] = {8, 16, 32, 16};
    struct zs_eu_program *program;
    struct zs_eu_registers registers;
    struct zs_eu_inst_info info;
    struct zs_diag diag = {0};
    struct zs_eu_lower_params params = {
        .code = code,
        .simd = simds[choice & 3],
        .payload_B = ZS_EU_GRF_FILE_MAX_B, /* all of it: payload() */
        .flags = (flags & INT32_MAX) | c->flags | WAYS_ALIKE | ZS_EU_LOWER_COUNTS,
        .platform = c->platform,
        .registers = &registers,
    };
    enum zs_eu_status status = ZS_EU_BUDGET;
    uint64_t spent = 0, slice;

    if (!zs_eu_registers_of(c->platform, c->grf_count, &registers))
        abort();
    if (zs_eu_lower(&params, &program, &diag) < 0)
        return false;
#ifdef FUZZ_COMPILED
    if (flags & COMPILED)
        compile(&params, program);
#endif
    uint64_t *counters = calloc(zs_eu_program_counter_count(program), 8);
    if (!counters)
        abort();
    boot(m);
    zs_eu_thread_init(t, program, choice & 4 ? UINT32_MAX : 0x55);
    zs_eu_thread_set_control(t, (choice & 8 ? 0x4c0u : 0u) | (choice & 0x30u));
    payload(t, m, &registers);
    if (c->platform >= ZS_ISA_XE_HPG) {
        m->port.payload = m->memory;
        m->port.payload_B = MEMORY_B;
    }
    t->env = &m->port;
    t->counters = counters;
    while ((status == ZS_EU_BUDGET || status == ZS_EU_BARRIER) &&
           (slice = slice_of(t, flags, spent)) > 0) {
        status = zs_eu_run(t, program, slice);
        if (status == ZS_EU_BARRIER)
            t->n0[0] = t->n0[1] = t->n0[2] = 1, t->passed_barriers = UINT32_MAX;
        spent += SLICE;
    }
    if (status == ZS_EU_FAULT && t->fault.text[0] == '\0')
        abort();
    for (uint32_t i = 0; zs_eu_program_inst(program, i, &info); i += 1 + i / 8)
        if (info.offset_B >= code.size_B)
            abort();
#ifdef FUZZ_COMPILED
    size_t count = zs_eu_program_counter_count(program);
    zs_eu_program_counters_settle(program, counters);
    keep(t, m, status, counters, count, &ends[flags & COMPILED ? 1 : 0]);
#endif
    free(counters);
    zs_eu_program_destroy(program);
    return status == ZS_EU_EOT;
}

#ifdef FUZZ_LATER
enum { CHOICES = 2 };
static struct choice choose(const uint8_t *data)
{
    static const enum zs_isa_platform platforms[] = {ZS_ISA_GEN11, ZS_ISA_XE_LP, ZS_ISA_XE_HPG,
                                                     ZS_ISA_XE_HPC};
    struct choice c = {.mode = data[0], .platform = platforms[data[1] & 3]};

    if (c.platform == ZS_ISA_XE_HPC && data[1] & 96)
        c.platform = data[1] & 64 ? ZS_ISA_XE3 : ZS_ISA_XE2;
    c.grf_count = data[1] & 4 && c.platform >= ZS_ISA_XE_HPG ? 256 : 128;
    if (c.platform == ZS_ISA_XE3 && data[1] & 128)
        c.grf_count -= 64;
    c.flags = (data[1] & 8 ? (uint32_t)ZS_EU_LOWER_SCOREBOARD : 0) |
              (data[1] & 16 ? (uint32_t)ZS_EU_LOWER_LONG_INTEGERS : 0);
    return c;
}
#else
enum { CHOICES = 1 };
static struct choice choose(const uint8_t *data)
{
    return (struct choice){.mode = data[0], .platform = ZS_ISA_GEN9, .grf_count = 128};
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct machine *m;
    static struct zs_eu_thread *t[2];

    if (size < CHOICES + 8 || size > 1 << 16)
        return 0;
    if (!m) { /* once, kept: reachable memory is no leak */
        m = aligned_alloc(64, (sizeof(*m) + 63) & ~(size_t)63);
        t[0] = aligned_alloc(64, sizeof(*t[0]));
        t[1] = aligned_alloc(64, sizeof(*t[1]));
        if (!m || !t[0] || !t[1])
            abort();
    }
    struct choice c = choose(data);
    struct zs_span code = zs_span_make(data + CHOICES, size - CHOICES);
#ifdef FUZZ_COMPILED
    c.flags &= ~(uint32_t)ZS_EU_LOWER_SCOREBOARD;
    memset(ends, 0, sizeof(ends));
    run(t[1], m, code, &c, COMPILED);
    run(t[0], m, code, &c, 0);
    compare();
    return 0;
#endif
    bool fast = run(t[0], m, code, &c, 0);
    bool general = run(t[1], m, code, &c, ZS_EU_LOWER_GENERAL);
    if (fast != general)
        abort();
    return 0;
}
