/* SPDX-License-Identifier: MIT */
/*
 * Which source lines became the most machine code?
 *
 *     cc lib_hot_lines.c $(pkg-config --cflags --libs zescope) -o hot_lines
 *     ./hot_lines gemm.bin           a module built with -g
 *     ./hot_lines zescope-app-1234   a recording
 *
 * For each kernel its ten largest lines: how many instructions and sends they have, and the most
 * general registers that are live at one of them.
 */
#include <zescope/annotate.h>
#include <zescope/record.h>

#include <stdio.h>
#include <stdlib.h>

enum { LINES_MAX = 10 };

static int larger_first(const void *a, const void *b)
{
    const struct zs_join_line *x = a, *y = b;
    if (x->inst_count != y->inst_count)
        return x->inst_count > y->inst_count ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void print_line(const struct zs_code *code, const struct zs_join_line *line)
{
    uint32_t sends = 0, live_grfs = 0;
    for (uint32_t r = 0; r < line->run_count; r++) {
        const struct zs_join_run *run = &code->join->runs[line->run_first + r];
        for (uint32_t i = run->first; i < run->first + run->count; i++) {
            uint32_t live = zs_isa_live_grf(code->isa, i);
            live_grfs = live > live_grfs ? live : live_grfs;
            sends += zs_isa_inst_message(code->isa, i) != NULL;
        }
    }
    printf("  %6u instructions %4u sends %4u live GRFs  %s:%u\n", line->inst_count, sends,
           live_grfs, code->info->files[line->file].path, line->line);
}

static int print_kernel(struct zs_annotation *annotation, const struct zs_image *image,
                        const struct zs_kernel *kernel)
{
    struct zs_code *code;
    if (zs_code_open(annotation, image, kernel, ZS_ISA_INSTS | ZS_ISA_LIVENESS, &code))
        return -1;
    printf("%s (%s, SIMD%u)\n", kernel->name, zs_image_device(image), kernel->simd);
    if (code->error)
        printf("  %s\n", code->error);
    else if (!code->join)
        printf("  %s\n", code->note ? code->note : "no debug info");
    uint32_t count = code->isa && code->join ? code->join->line_count : 0;
    struct zs_join_line *lines = malloc((count + 1) * sizeof(*lines));
    for (uint32_t i = 0; lines && i < count; i++)
        lines[i] = code->join->lines[i];
    if (lines)
        qsort(lines, count, sizeof(*lines), larger_first);
    for (uint32_t i = 0; lines && i < count && i < LINES_MAX; i++)
        print_line(code, &lines[i]);
    int error = lines ? 0 : -1;
    free(lines);
    zs_code_close(code);
    return error;
}

static int print_module(const struct zs_module *module)
{
    struct zs_annotation *annotation;
    if (zs_annotation_open(module, &annotation))
        return -1;
    int error = 0;
    for (uint32_t i = 0; i < module->image_count && !error; i++)
        for (uint32_t k = 0; k < module->images[i].kernel_count && !error; k++)
            error = print_kernel(annotation, &module->images[i], &module->images[i].kernels[k]);
    zs_annotation_close(annotation);
    return error;
}

static int print_file(const char *path, struct zs_diag *diag)
{
    struct zs_module *module;
    int error = zs_module_open(path, NULL, &module, diag);
    if (error)
        return error;
    error = print_module(module);
    zs_module_close(module);
    return error;
}

static int print_recorded(const struct zs_recording *recording,
                          const struct zs_record_module *record, struct zs_diag *diag)
{
    struct zs_module_options options = {.size_B = sizeof(options)};
    struct zs_span binary = {0};
    struct zs_module *module;
    int error = zs_recording_blob_read(recording, &record->binary, &binary, diag);
    if (!error && record->debug.file)
        error = zs_recording_blob_read(recording, &record->debug, &options.debug, diag);
    if (!error)
        error = zs_module_open_memory(binary, &options, &module, diag);
    zs_recording_blob_free(&binary); /* the module has a copy */
    zs_recording_blob_free(&options.debug);
    if (error)
        return error;
    error = print_module(module);
    zs_module_close(module);
    return error;
}

static int print_recording(const char *path, struct zs_diag *diag)
{
    struct zs_recording *recording;
    int error = zs_recording_open(path, &recording, diag);
    if (error)
        return error;
    uint32_t count;
    const struct zs_record_module *modules = zs_recording_modules(recording, &count);
    for (uint32_t i = 0; i < count && !error; i++)
        error = print_recorded(recording, &modules[i], diag);
    zs_recording_close(recording);
    return error;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s MODULE|RECORDING\n", argv[0]);
        return 2;
    }
    struct zs_diag diag = {0};
    int error =
        zs_recording_probe(argv[1]) ? print_recording(argv[1], &diag) : print_file(argv[1], &diag);
    if (error) {
        char text[600] = "out of memory";
        if (diag.error)
            zs_diag_print(&diag, text, sizeof(text));
        fprintf(stderr, "%s: %s\n", argv[1], text);
        return 1;
    }
    return 0;
}
