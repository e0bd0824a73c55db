/* SPDX-License-Identifier: MIT */
/* Prints the backtraces of calls of one name: a line each, innermost frame first. */
#include "record/calls.h"
#include "record/traces.h"
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print(struct zs_symbols *symbols, uint64_t process, const struct zs_calls *calls,
                  const struct zs_call *call)
{
    uint64_t pcs[ZS_TRACE_STACK_MAX];
    uint32_t depth = zs_trace_stack(&calls->reader, call->stack, pcs);
    for (uint32_t i = 0; i < depth; i++) {
        const struct zs_symbol_frame *frames;
        uint32_t count = zs_symbols_frames(symbols, process, pcs[i], &frames);
        for (uint32_t k = 0; k < count; k++) {
            char text[512];
            zs_symbol_format(&frames[k], text, sizeof(text));
            printf("%s%s%s", i || k ? " | " : "", text, frames[k].is_inline ? " (inlined)" : "");
        }
    }
    puts("");
}

int main(int argc, char **argv)
{
    static struct zs_calls calls;
    struct zs_traces traces;
    struct zs_symbols *symbols;
    struct zs_diag diag = {0};
    if (argc != 3 || zs_traces_open(argv[1], &traces, &diag) ||
        zs_symbols_open(argv[1], &symbols, &diag)) {
        fprintf(stderr, "%s\n", diag.text);
        return 1;
    }
    for (size_t i = 0; i < traces.count; i++) {
        unsigned pid = 0, ordinal = 0;
        struct zs_call call;
        int fd = zs_traces_open_file(&traces, i, NULL);
        if (fd < 0 || sscanf(traces.files[i].name, "%u-%u-", &pid, &ordinal) != 2 ||
            zs_calls_open_fd(&calls, fd))
            return 1;
        while (zs_calls_next(&calls, &call))
            if (call.name.size_B == strlen(argv[2]) &&
                !memcmp(call.name.data, argv[2], call.name.size_B))
                print(symbols, (uint64_t)ordinal << 32 | pid, &calls, &call);
        zs_calls_close(&calls);
        close(fd);
    }
    zs_symbols_close(symbols);
    zs_traces_close(&traces);
    return 0;
}
