/* SPDX-License-Identifier: MIT */
/*
 * annotate_elf GFXCORE GRF_B SIMD ELF KERNEL [OPTION...]: the views of one debug ELF, whose .text
 * is the kernel's code, without a module around it.
 * Options: json text by-address pressure mix sends color columns types with-source
 */
#include "base/file.h"
#include "base/reader.h"
#include "report/annotate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int write_out(void *user, const void *data, size_t size_B)
{
    return fwrite(data, 1, size_B, user) == size_B ? 0 : -1;
}

/* A column that counts from 0, with a hole. */
static int attach(void *user, struct zs_code *code)
{
    static struct zs_column column = {
        .name = "executions", .unit = "", .description = "how often it ran"};
    uint32_t count = code->isa ? zs_isa_kernel_count(code->isa) : 0;
    double *values = calloc(count + 1, sizeof(*values));
    for (uint32_t i = 0; i < count; i++)
        values[i] = i == 1 ? (double)NAN : (double)i;
    column.values = values;
    code->columns = &column;
    code->column_count = 1;
    return 0;
}

static void release(void *user, struct zs_code *code)
{
    if (code->column_count)
        free((void *)code->columns[0].values);
}

/* .text of the ELF: its first PROGBITS section with code. */
static struct zs_span find_code(struct zs_span elf, const char *name)
{
    uint64_t table_B = zs_load_u64(elf.data + 40);
    uint32_t count = zs_load_u16(elf.data + 60), names = zs_load_u16(elf.data + 62);
    uint64_t names_B = zs_load_u64(elf.data + table_B + 64 * names + 24);
    char wanted[256];
    snprintf(wanted, sizeof(wanted), ".text.%s", name);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *header = elf.data + table_B + 64 * i;
        const char *section = (const char *)elf.data + names_B + zs_load_u32(header);
        if (strcmp(section, ".text") == 0 || strcmp(section, wanted) == 0)
            return zs_span_make(elf.data + zs_load_u64(header + 24),
                                (size_t)zs_load_u64(header + 32));
    }
    return (struct zs_span){0};
}

int main(int argc, char **argv)
{
    struct zs_file file;
    if (argc < 7 || zs_file_read(argv[4], 0, &file, NULL))
        return 2;
    struct zs_kernel kernel = {.name = argv[5],
                               .code = find_code(file.span, argv[5]),
                               .simd = (uint32_t)atoi(argv[3]),
                               .grf_count = 128,
                               .grf_B = (uint32_t)atoi(argv[2]),
                               .debug = {.kind = ZS_DEBUG_KERNEL_ELF, .elf = file.span}};
    struct zs_image image = {.device = "",
                             .gfxcore = (uint32_t)strtoul(argv[1], NULL, 0),
                             .format = ZS_CONTAINER_PATCH_TOKENS,
                             .kernels = &kernel,
                             .kernel_count = 1};
    struct zs_module module = {.path = argv[4], .images = &image, .image_count = 1};
    struct zs_kernel_ref ref = {.image = &image, .kernel = &kernel};
    struct zs_source_options sources = {.size_B = sizeof(sources)};
    struct zs_module_view view = {
        .module = &module, .input = "test", .kernels = &ref, .kernel_count = 1};
    struct zs_module_json_options json = {0};
    struct zs_annotate_text_options text = {.context_lines = 2};
    bool as_json = false;
    for (int i = 6; i < argc; i++) {
        bool pressure = strcmp(argv[i], "pressure") == 0, sends = strcmp(argv[i], "sends") == 0;
        as_json |= strcmp(argv[i], "json") == 0;
        text.by = strcmp(argv[i], "by-address") == 0 ? ZS_BY_ADDRESS : text.by;
        text.color |= strcmp(argv[i], "color") == 0;
        text.mix |= strcmp(argv[i], "mix") == 0;
        text.pressure |= pressure;
        json.pressure |= pressure;
        text.sends |= sends;
        json.sends |= sends;
        json.types |= strcmp(argv[i], "types") == 0;
        json.with_source |= strcmp(argv[i], "with-source") == 0;
        if (strcmp(argv[i], "columns") == 0)
            view.columns = (struct zs_column_source){NULL, attach, release};
    }
    zs_sources_open(&sources, &view.sources);
    int error = as_json ? zs_report_module_json(&view, &json, write_out, stdout)
                        : zs_report_annotate_text(&view, &text, write_out, stdout);
    zs_sources_close(view.sources);
    zs_file_close(&file);
    return error ? 1 : 0;
}
