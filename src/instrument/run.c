/* SPDX-License-Identifier: MIT */
/* What tools call, and a module being instrumented. */
#include "instrument/instrument.h"

#include "base/vec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *zs_tool_args(const struct zs_tool_run *run)
{
    return run->args;
}

void **zs_tool_state(struct zs_tool_run *run)
{
    return &run->state;
}

static uint32_t kernel_index(const struct zs_edit_kernel *kernel)
{
    return zs_edit_kernel_info(kernel)->index;
}

/* ---- probes ---- */

int zs_tool_count(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                  const struct zs_probe *probe, struct zs_diag *diag)
{
    return zs_tool_count_at(run, kernel, inst, ZS_EDIT_BEFORE, probe, diag);
}

int zs_tool_count_at(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                     enum zs_edit_where where, const struct zs_probe *probe, struct zs_diag *diag)
{
    struct zs_probe mine = *probe;
    if (probe->kind == ZS_PROBE_CLOCK)
        return zs_edit_probe(kernel, inst, where, &mine, diag);
    mine.counter = zs_edit_counters(run->edit, 1);
    if (mine.counter == ZS_NONE)
        return zs_diag_set(diag, -E2BIG, ZS_DIAG_NO_OFFSET, "too many counters in one module");
    return zs_edit_probe(kernel, inst, where, &mine, diag);
}

int zs_tool_trace(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                  enum zs_edit_where where, uint32_t grf, uint32_t grf_count, struct zs_diag *diag)
{
    const struct zs_probe probe = {.grf = grf, .grf_count = grf_count};
    return zs_tool_trace_probe(run, kernel, inst, where, &probe, diag);
}

int zs_tool_trace_probe(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                        enum zs_edit_where where, const struct zs_probe *given,
                        struct zs_diag *diag)
{
    struct {
        struct zs_tool_site *items;
        size_t count, capacity;
    } v = {run->sites, run->site_count, run->site_capacity};
    struct zs_probe probe = *given;
    probe.kind = ZS_PROBE_TRACE;
    probe.site = (uint32_t)run->site_count;
    int error = zs_edit_probe(kernel, inst, where, &probe, diag);
    if (error)
        return error;
    bool ok = ZS_VEC_PUSH(&v, ((struct zs_tool_site){kernel_index(kernel), inst}));
    run->sites = v.items;
    run->site_count = v.count;
    run->site_capacity = v.capacity;
    return ok ? 0 : zs_diag_set(diag, -ENOMEM, ZS_DIAG_NO_OFFSET, "no memory for places");
}

/* ---- lines and counts ---- */

const struct zs_code *zs_tool_code(struct zs_tool_run *run, const struct zs_edit_kernel *kernel)
{
    const uint32_t k = kernel_index(kernel);
    const struct zs_image *image = zs_edit_image(run->edit);
    if (!run->annotation && zs_annotation_open(zs_edit_module(run->edit), &run->annotation))
        return NULL;
    if (!run->codes)
        run->codes = calloc(image->kernel_count + 1u, sizeof(*run->codes));
    if (!run->codes)
        return NULL;
    if (!run->codes[k] &&
        zs_code_open(run->annotation, image, &image->kernels[k], ZS_ISA_INSTS, &run->codes[k]))
        return NULL;
    return run->codes[k];
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *zs_tool_line(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst)
{
    const struct zs_code *code = zs_tool_code(run, kernel);
    run->line[0] = '\0';
    const struct zs_line_row *row =
        code && code->join && inst < code->join->count ? zs_code_row(code, inst) : NULL;
    if (row && row->line) {
        bool known = row->file < code->info->file_count;
        snprintf(run->line, sizeof(run->line), "%.400s:%u",
                 known ? base_name(code->info->files[row->file].path) : "?", row->line);
    }
    return run->line;
}

void zs_tool_executed(struct zs_tool_run *run, struct zs_edit_kernel *kernel, uint32_t inst,
                      uint64_t executions, uint64_t lanes)
{
    const struct zs_isa_kernel *code = zs_edit_kernel_code(kernel);
    if (!run->counts || !code || inst >= zs_isa_kernel_count(code))
        return;
    struct zs_tool_counts *c = &run->counts[kernel_index(kernel)];
    if (!c->executions) {
        c->executions = calloc(zs_isa_kernel_count(code), sizeof(uint64_t));
        c->lanes = calloc(zs_isa_kernel_count(code), sizeof(uint64_t));
        c->is_told = calloc(zs_isa_kernel_count(code), sizeof(bool));
        if (!c->executions || !c->lanes || !c->is_told) {
            free(c->executions);
            free(c->lanes);
            free(c->is_told);
            *c = (struct zs_tool_counts){0};
            run->out_of_memory = true;
            return;
        }
    }
    c->executions[inst] += executions;
    c->lanes[inst] += lanes;
    c->is_told[inst] = true;
}

/* ---- distinct things ---- */

bool zs_tool_is_new(struct zs_tool_run *run, uint64_t a, uint64_t b)
{
    size_t before = run->seen.count;
    if (zs_id_map_put(&run->seen, a, b, run)) {
        run->out_of_memory = true;
        return false;
    }
    return run->seen.count > before;
}

/* ---- a module ---- */

void zs_tool_put_refusal(struct zs_buf *notes, const struct zs_edit_kernel *kernel, const char *why)
{
    const struct zs_kernel *info = zs_edit_kernel_info(kernel);
    if (info->is_function_holder)
        zs_buf_puts(notes, "code of exported functions");
    else
        zs_buf_printf(notes, "kernel %s", info->name);
    zs_buf_printf(notes, " is not instrumented: %s\n", why);
}

/* What a tool returned and wrote, which may be anything. */
static void put_tool_refusal(struct zs_buf *notes, const struct zs_edit_kernel *kernel, int error,
                             struct zs_diag *why)
{
    why->text[sizeof(why->text) - 1] = '\0';
    if (!why->text[0])
        snprintf(why->text, sizeof(why->text), "the tool returned %d (%s)", error,
                 error < 0 && error > -200 ? strerror(-error) : "not a negative error number");
    for (char *c = why->text; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > '~')
            *c = '?';
    zs_tool_put_refusal(notes, kernel, why->text);
}

static int instrument(struct zs_tool_run *run, struct zs_buf *notes, struct zs_diag *diag)
{
    for (uint32_t i = 0; i < zs_edit_kernel_count(run->edit); i++) {
        struct zs_edit_kernel *kernel = zs_edit_kernel(run->edit, i);
        struct zs_diag why = {0};
        zs_tool_forget(run); /* what is believed is another matter then */
        run->instruments = true;
        pid_t self = getpid();
        int error = run->tool->instrument(run, kernel, &why);
        if (getpid() != self) /* a copy that the tool made: its parent answers, it just ends */
            kill(getpid(), SIGKILL);
        run->instruments = false;
        zs_tool_forget(run);
        if (error == -ENOMEM)
            return zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "no memory for probes");
        if (error && notes)
            put_tool_refusal(notes, kernel, error, &why);
    }
    return 0;
}

int zs_tool_open(struct zs_tool_run *run, struct zs_span binary, struct zs_span debug,
                 struct zs_buf *notes, struct zs_diag *diag)
{
    const struct zs_edit_options options = {
        .size_B = sizeof(options), .debug = debug, .narrow_atomics = run->narrow_atomics};
    int error = zs_edit_open(binary, &options, &run->edit, diag);
    if (!error)
        error = instrument(run, notes, diag);
    /* a module without a buffer counts as one that needs no rewriting */
    if (!error && zs_edit_has_edits(run->edit) && !zs_edit_buffer(run->edit).size_B)
        zs_edit_counters(run->edit, 1);
    if (error)
        zs_tool_close(run);
    return error;
}

void zs_tool_close(struct zs_tool_run *run)
{
    uint32_t count = run->edit ? zs_edit_kernel_count(run->edit) : 0;
    for (uint32_t i = 0; i < count; i++) {
        if (run->codes)
            zs_code_close(run->codes[i]);
        if (run->counts) {
            free(run->counts[i].executions);
            free(run->counts[i].lanes);
        }
    }
    free(run->codes);
    free(run->counts);
    free(run->sites);
    zs_annotation_close(run->annotation);
    zs_edit_close(run->edit);
    run->codes = NULL;
    run->counts = NULL;
    run->sites = NULL;
    run->site_count = run->site_capacity = 0;
    run->annotation = NULL;
    run->edit = NULL;
    zs_tool_forget(run);
}
