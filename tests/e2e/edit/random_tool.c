/* SPDX-License-Identifier: MIT */
/*
 * Random probes at random places, random_tool.so:SEED: the kernels must compute what they compute
 * plainly. What the probes count is nobody's business here.
 */
#include <stdlib.h>
#include <string.h>
#include <zescope/instrument.h>

static const struct zs_tool_column columns[] = {{.name = "kernel", .kind = ZS_TOOL_KEY},
                                                {.name = "count", .kind = ZS_TOOL_SUM}};

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

static void put(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t count,
                uint64_t *state)
{
    static const enum zs_edit_where places[] = {ZS_EDIT_BEFORE, ZS_EDIT_JUMP, ZS_EDIT_AFTER,
                                                ZS_EDIT_ENTRY};
    uint32_t inst = next(state) % count, kind = next(state) % ZS_PROBE_KIND_COUNT;
    const struct zs_probe probe = {.kind = kind, .all_active = next(state) % 2};
    /* clocks need registers of their own, and a kernel without them would be refused */
    if (kind == ZS_PROBE_CLOCK || kind == ZS_PROBE_ELAPSED)
        return;
    if (kind == ZS_PROBE_TRACE)
        zs_tool_trace(run, kernel, inst, places[next(state) % 3], next(state) % 112,
                      next(state) % (ZS_RECORD_GRF_MAX + 1), NULL);
    else if (zs_tool_count_at(run, kernel, inst, ZS_EDIT_JUMP, &probe, NULL) || next(state) % 2)
        zs_tool_count(run, kernel, inst, &probe, NULL);
    if (next(state) % 8 == 0)
        zs_edit_insert(kernel, inst, places[next(state) % 4], "nop\n", NULL);
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    uint32_t count = code ? zs_isa_kernel_count(code) : 0;
    uint64_t state = strtoull(zs_tool_args(run), NULL, 10) * 2654435761u ^
                     hash(zs_edit_kernel_info(kernel)->name);
    (void)diag;
    if (next(&state) % 2)
        reserve(kernel, &state);
    for (uint32_t n = count ? 1 + next(&state) % (2 * count) : 0; n; n--)
        put(run, kernel, count, &state);
    return 0;
}

const struct zs_tool zescope_tool = {.size_B = sizeof(struct zs_tool),
                                     .name = "random",
                                     .columns = columns,
                                     .column_count = 2,
                                     .instrument = instrument};
