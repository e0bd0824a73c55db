/* SPDX-License-Identifier: MIT */
/* instrument_bench MODULE...: time to put the probes of `opcodes` into modules, and to write them.
 */
#include "instrument/instrument.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 7, FILE_MAX_B = 64 << 20 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Processor time of one turn, or a negative number; *ret_insts: instructions of the module. */
static double turn(struct zs_span module, uint32_t *ret_insts)
{
    struct zs_tool_run run = {.tool = zs_tool_builtin(0), .args = ""};
    struct zs_diag diag = {0};
    uint8_t *bytes = NULL;
    size_t size_B = 0;
    double start_ms = now_ms();
    int error = zs_tool_open(&run, module, (struct zs_span){0}, NULL, &diag);
    if (!error)
        error = zs_edit_write(run.edit, UINT64_C(0x100000000), &bytes, &size_B, &diag);
    double took_ms = now_ms() - start_ms;
    *ret_insts = 0;
    for (uint32_t i = 0; !error && i < zs_edit_kernel_count(run.edit); i++)
        *ret_insts += zs_isa_kernel_count(zs_edit_kernel_code(zs_edit_kernel(run.edit, i)));
    if (error)
        fprintf(stderr, "%s\n", diag.text);
    zs_isa_code_free(bytes);
    zs_tool_fini(&run);
    return error ? -1 : took_ms;
}

int main(int argc, char **argv)
{
    uint8_t *data = malloc(FILE_MAX_B);
    printf("| module | instructions | ms | ms per 2000 |\n|---|---|---|---|\n");
    for (int i = 1; i < argc && data; i++) {
        FILE *f = fopen(argv[i], "rb");
        size_t size_B = f ? fread(data, 1, FILE_MAX_B, f) : 0;
        uint32_t insts = 0;
        double best_ms = 1e9;
        if (f)
            fclose(f);
        for (int t = 0; t < TURNS; t++) {
            double took_ms = turn((struct zs_span){data, size_B}, &insts);
            best_ms = took_ms < best_ms ? took_ms : best_ms;
        }
        if (best_ms < 0 || !insts)
            return 1;
        printf("| `%s` | %u | %.2f | %.2f |\n", argv[i], insts, best_ms, best_ms * 2000 / insts);
    }
    free(data);
    return 0;
}
