/* SPDX-License-Identifier: MIT */
/* A tool that crashes, refuses, or puts in what does not wait for itself, as its argument says. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zescope/instrument.h>

/* The second instruction reads what the first one writes. */
static int put_hazard(struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    uint64_t free_grf[4];
    char text[200];
    unsigned reg = 0;
    if (!zs_edit_free_grf(kernel, free_grf))
        return 0;
    while (reg < 256 && !(free_grf[reg / 64] >> reg % 64 & 1))
        reg++;
    if (reg == 256)
        return 0;
    snprintf(text, sizeof(text),
             "(W) mov (1|M0) r%u.0<1>:ud 0x1:ud\n(W) mov (1|M0) r%u.1<1>:ud r%u.0<0;1,0>:ud\n", reg,
             reg, reg);
    return zs_edit_insert(kernel, 0, ZS_EDIT_ENTRY, text, diag);
}

static int instrument(struct zs_tool_run *run, struct zs_edit_kernel *kernel, struct zs_diag *diag)
{
    if (!strcmp(zs_tool_args(run), "hazard"))
        return put_hazard(kernel, diag);
    const struct zs_probe probe = {.kind = ZS_PROBE_COUNT};
    const char *args = zs_tool_args(run);
    if (!strcmp(args, "abort"))
        abort();
    if (!strcmp(args, "loop"))
        for (;;)
            pause();
    if (!strcmp(args, "stop"))
        raise(SIGSTOP);
    if (!strcmp(args, "fork") && fork() < 0)
        return -EAGAIN;
    if (!strcmp(args, "print"))
        puts("noise");
    fflush(stdout);
    if (strcmp(args, "refuse") != 0)
        return zs_tool_count(run, kernel, 0, &probe, diag);
    return -EPERM;
}

static void counter(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                    const struct zs_probe *probe, uint64_t value)
{
    if (!strcmp(zs_tool_args(run), "abort-later"))
        abort();
    if (!strcmp(zs_tool_args(run), "exit-later"))
        exit(3);
}

static const struct zs_tool_column columns[] = {{.name = "nothing", .kind = ZS_TOOL_KEY}};
const struct zs_tool zescope_tool = {.size_B = sizeof(struct zs_tool),
                                     .name = "bad",
                                     .columns = columns,
                                     .column_count = 1,
                                     .instrument = instrument,
                                     .counter = counter};
