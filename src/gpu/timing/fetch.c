/* SPDX-License-Identifier: MIT */
/*
 * The instruction cache of a subslice, of kernels that are larger. The line that was used longest
 * ago gives way. What is not there comes from L3, and with it what EUs fetch ahead. Nothing is
 * waited for that was never there: that is part of the launch, of small kernels, too.
 */
#include "gpu/timing/replay.h"

#include <errno.h>
#include <stdlib.h>

enum {
    LINE_B = 64,
    AHEAD = 2, /* lines: eight instructions */
};

int zs_timing_fetch_init(struct zs_timing_fetch *f, const struct zs_timing_code *code,
                         uint32_t subslices)
{
    uint32_t last_B = code->op_count ? code->offset_B[code->op_count - 1] : 0;
    *f = (struct zs_timing_fetch){.line_count = last_B / LINE_B + 1,
                                  .room = code->params->icache_B / LINE_B,
                                  .latency = code->params->l3_latency,
                                  .offset_B = code->offset_B};
    if (!f->room || f->line_count <= f->room)
        return 0;
    f->lines = calloc((size_t)subslices * (f->line_count + 1u), sizeof(*f->lines));
    f->held = calloc(subslices, sizeof(*f->held));
    return f->lines && f->held ? 0 : -ENOMEM;
}

void zs_timing_fetch_fini(struct zs_timing_fetch *f)
{
    free(f->lines);
    free(f->held);
}

static void take(struct zs_timing_code_line *lines, uint32_t line)
{
    lines[lines[line].before].after = lines[line].after;
    lines[lines[line].after].before = lines[line].before;
    lines[line].held = false;
}

/* It was used last now; what was not there is from `there` on. */
static void use(struct zs_timing_fetch *f, uint32_t subslice, uint32_t line, uint64_t there)
{
    struct zs_timing_code_line *lines = f->lines + (size_t)subslice * (f->line_count + 1u);
    struct zs_timing_code_line *l = &lines[line];
    bool held = l->held;
    if (held)
        take(lines, line);
    else if (f->held[subslice] == f->room)
        take(lines, lines[0].before);
    else
        f->held[subslice]++;
    if (!held)
        l->there = l->known ? there : 0;
    l->before = 0;
    l->after = lines[0].after;
    l->held = true;
    lines[l->after].before = line;
    lines[0].after = line;
}

uint64_t zs_timing_fetch_lines(struct zs_timing_fetch *f, uint32_t subslice,
                               const struct zs_timing_burst *burst, uint64_t cycle)
{
    uint32_t stop = burst->stop & ~(uint32_t)ZS_TIMING_BURST_EVENT;
    if (stop <= burst->inst)
        return 0;
    uint32_t first = f->offset_B[burst->inst] / LINE_B + 1;
    uint32_t last = f->offset_B[stop - 1] / LINE_B + 1, count = last - first + 1;
    struct zs_timing_code_line *lines = f->lines + (size_t)subslice * (f->line_count + 1u);
    uint64_t waited = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = cycle + waited + (uint64_t)burst->cycles * i / count;
        for (uint32_t n = 0; n <= AHEAD && first + i + n <= f->line_count; n++)
            use(f, subslice, first + i + n, at + f->latency);
        lines[first + i].known = true;
        if (lines[first + i].there > at)
            waited += lines[first + i].there - at;
    }
    return waited;
}
