/* SPDX-License-Identifier: MIT */
/* debug_dump ELF KERNEL CODE_SIZE_B: what src/dwarf reads, as text for the oracle tests. */
#include "base/file.h"

#include <zescope/correlate.h>

#include <stdio.h>
#include <stdlib.h>

static void dump_rows(const struct zs_dwarf_kernel *k)
{
    for (uint32_t i = 0; i < k->row_count; i++) {
        const struct zs_line_row *r = &k->rows[i];
        if (r->flags & ZS_ROW_END_SEQUENCE)
            printf("row 0x%x end\n", r->offset_B);
        else
            printf("row 0x%x %s %u %u %u%s%s\n", r->offset_B,
                   r->file < k->file_count ? k->files[r->file].path : "?", r->line, r->column,
                   r->discriminator, r->flags & ZS_ROW_IS_STMT ? " is_stmt" : "",
                   r->flags & ZS_ROW_PROLOGUE_END ? " prologue_end" : "");
    }
}

static void dump_scope_ranges(const struct zs_dwarf_kernel *k, uint32_t scope)
{
    const struct zs_scope *s = &k->scopes[scope];
    for (uint32_t i = 0; i < s->range_count; i++)
        printf(" [0x%x,0x%x)", k->ranges[s->range_first + i].begin_B,
               k->ranges[s->range_first + i].end_B);
    printf("\n");
}

static void dump_frames(const struct zs_dwarf_kernel *k)
{
    for (uint32_t i = 0; i < k->frame_count; i++) {
        const struct zs_frame *f = &k->frames[i];
        printf("frame %u %s parent %d call %s:%u:%u decl %s:%u simd %u", i, f->function,
               (int)f->parent, f->call_file == ZS_NO_INDEX ? "-" : k->files[f->call_file].path,
               f->call_line, f->call_column,
               f->decl_file == ZS_NO_INDEX ? "-" : k->files[f->decl_file].path, f->decl_line,
               f->simd);
        dump_scope_ranges(k, f->scope);
    }
    for (uint32_t i = 0; i < k->scope_count; i++) {
        printf("scope %u parent %d frame %d", i, (int)k->scopes[i].parent, (int)k->scopes[i].frame);
        dump_scope_ranges(k, i);
    }
}

static void dump_variables(const struct zs_dwarf_kernel *k, uint32_t grf_B)
{
    for (uint32_t i = 0; i < k->variable_count; i++) {
        const struct zs_variable *v = &k->variables[i];
        char type[256], text[1024], expr[4096];
        struct zs_type t;
        zs_type_print(k->dwarf, v->type, type, sizeof(type));
        if (zs_type_get(k->dwarf, v->type, &t))
            t.size_B = 0;
        uint32_t frame = k->scopes[v->scope].frame;
        uint32_t simd = k->frames[frame].simd;
        printf("variable %s type '%s' size %llu scope %u%s line %u kind %u\n", v->name, type,
               (unsigned long long)t.size_B, v->scope, v->parameter ? " parameter" : "",
               v->decl_line, v->location_kind);
        struct zs_location_iterator it = zs_variable_locations(k, v);
        struct zs_location l;
        while (zs_location_next(&it, &l)) {
            zs_expr_describe(l.expr, simd, grf_B, t.size_B, text, sizeof(text));
            zs_expr_print(l.expr, expr, sizeof(expr));
            printf("  location [0x%x,0x%x) %s | %s\n", l.range.begin_B, l.range.end_B, text, expr);
        }
        if (it.damaged)
            printf("  damaged\n");
    }
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct zs_file file;
    struct zs_diag diag = {0};
    char text[600];
    struct zs_dwarf *debug;
    struct zs_dwarf_kernel *kernel = NULL;
    int error = zs_file_read(argv[1], 0, &file, &diag);
    if (error)
        return 1;
    error = zs_dwarf_open(file.span, &debug, &diag);
    if (!error)
        error = zs_dwarf_kernel_load(debug, argv[2], strtoull(argv[3], NULL, 0), &kernel, &diag);
    if (error) {
        zs_diag_print(&diag, text, sizeof(text));
        printf("error %d %s\n", error, text);
    } else {
        printf("kernel %s producer '%s' comp_dir '%s' dwarf %u truncated %d\n", kernel->name,
               kernel->producer, kernel->comp_dir, kernel->dwarf_version, kernel->truncated);
        dump_rows(kernel);
        dump_frames(kernel);
        dump_variables(kernel, argc > 4 ? (uint32_t)atoi(argv[4]) : 32);
        zs_dwarf_kernel_unload(kernel);
    }
    zs_dwarf_close(debug);
    zs_file_close(&file);
    return error ? 1 : 0;
}
