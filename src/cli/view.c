/* SPDX-License-Identifier: MIT */
#include "cli/view.h"

#include "base/os.h"
#include "base/vec.h"
#include "record/metrics_numbers.h"
#include "report/doubts.h"
#include "report/tool_columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* All modules as one document: each of their images is a device of it. */
static int gather(struct zs_view *v)
{
    size_t count = 0;
    for (size_t i = 0; i < v->inputs.modules.count; i++)
        count += v->inputs.modules.items[i].kernel_count;
    v->kernels = calloc(count + 1, sizeof(*v->kernels));
    if (!v->kernels)
        return zs_cli_fail("out of memory");
    v->view.kernels = v->kernels;
    for (size_t i = 0; i < v->inputs.modules.count; i++) {
        const struct zs_input *input = &v->inputs.modules.items[i];
        if (!input->kernel_count)
            continue;
        memcpy(v->kernels + v->view.kernel_count, input->kernels,
               input->kernel_count * sizeof(*v->kernels));
        v->view.kernel_count += input->kernel_count;
    }
    if (v->inputs.modules.count == 1)
        v->view.module = v->inputs.modules.items[0].module;
    return ZS_EXIT_OK;
}

struct counted {
    size_t found;                    /* kernels with counts */
    const struct zs_recording *told; /* its damage was told */
};

/* What one recording counted of a module. */
static void add_counts_of(const struct zs_common_options *common, struct zs_view *v,
                          struct zs_recording *recording, const struct zs_record_module *record,
                          const struct zs_input *input, struct counted *counted)
{
    struct zs_diag diag = {0};
    size_t damaged = 0;
    const char *path = zs_recording_info(recording)->path;
    if (zs_count_columns_add(v->columns, path, recording, record, input->module, &counted->found,
                             &damaged, &diag))
        zs_cli_note(common, "%s: no execution counts: %s", input->name, diag.text);
    if (damaged && counted->told != recording)
        zs_cli_note(common, "%s: %zu damaged file%s of execution counts left out", path, damaged,
                    damaged == 1 ? "" : "s");
    counted->told = damaged ? recording : counted->told;
}

/* Execution counts that recordings hold of their modules, as columns. A module that stands for
 * those of several recordings gets what all of them counted. */
static int add_counts(const struct zs_common_options *common, bool each_once, struct zs_view *v)
{
    struct counted counted = {0};
    v->columns = zs_count_columns_new();
    if (!v->columns)
        return zs_cli_fail("out of memory");
    for (size_t i = 0; i < v->inputs.modules.count; i++) {
        const struct zs_input *input = &v->inputs.modules.items[i];
        if (input->recording && !each_once)
            add_counts_of(common, v, input->recording, input->record, input, &counted);
        for (size_t k = 0; input->recording && each_once && k < v->inputs.recordings.count; k++) {
            uint32_t count;
            struct zs_recording *recording = v->inputs.recordings.items[k];
            const struct zs_record_module *modules = zs_recording_modules(recording, &count);
            for (uint32_t m = 0; m < count; m++)
                if (zs_input_is_same(&modules[m], input->record))
                    add_counts_of(common, v, recording, &modules[m], input, &counted);
        }
    }
    if (counted.found)
        v->view.columns = zs_count_columns_source(v->columns);
    return ZS_EXIT_OK;
}

/* What one recording sampled of a module. */
static int add_stalls_of(struct zs_view *v, const struct zs_metrics *metrics,
                         struct zs_recording *recording, const struct zs_record_module *record,
                         const struct zs_input *input, size_t *ret_found)
{
    if (zs_stall_columns_add(v->stalls, metrics, recording, record, input->module, ret_found))
        return zs_cli_fail("out of memory");
    return ZS_EXIT_OK;
}

static bool is_selected(void *user, const char *kernel)
{
    const struct zs_view *v = user;
    for (size_t i = 0; i < v->inputs.modules.count; i++)
        for (size_t k = 0; k < v->inputs.modules.items[i].kernel_count; k++)
            if (!strcmp(v->inputs.modules.items[i].kernels[k].kernel->name, kernel))
                return true;
    return false;
}

static int add_note(void *user, const char *sentence)
{
    struct zs_view *v = user;
    char *note = strdup(sentence);
    if (note && ZS_VEC_PUSH(&v->notes, note))
        return 0;
    free(note);
    return -ENOMEM;
}

/* Samples of instruction addresses, behind the counts. */
static int add_stalls(const struct zs_common_options *common, bool each_once, struct zs_view *v)
{
    size_t found = 0;
    int status = ZS_EXIT_OK;
    v->stalls = zs_stall_columns_new();
    if (!v->stalls)
        return zs_cli_fail("out of memory");
    for (size_t k = 0; k < v->inputs.recordings.count && !status; k++) {
        struct zs_recording *recording = v->inputs.recordings.items[k];
        struct zs_metrics *metrics;
        uint32_t count;
        const struct zs_record_module *modules = zs_recording_modules(recording, &count);
        const char *path = zs_recording_info(recording)->path;
        struct zs_diag diag = {0};
        if (!zs_metrics_probe(path))
            continue;
        if (zs_metrics_open_numbers(path, &metrics, &diag)) {
            zs_cli_note(common, "%s: no metrics: %s", path, diag.text);
            continue;
        }
        zs_cli_note_metrics_losses(common, path, zs_metrics_info(metrics));
        for (size_t i = 0; i < v->inputs.modules.count && !status; i++) {
            const struct zs_input *input = &v->inputs.modules.items[i];
            if (!each_once && input->recording == recording)
                status = add_stalls_of(v, metrics, recording, input->record, input, &found);
            for (uint32_t m = 0; each_once && input->recording && m < count && !status; m++)
                if (zs_input_is_same(&modules[m], input->record))
                    status = add_stalls_of(v, metrics, recording, &modules[m], input, &found);
        }
        int error = status ? 0 : zs_doubts_tell(metrics, is_selected, add_note, v);
        if (error)
            status = zs_cli_fail("%s: metrics: %s", path, strerror(-error));
        zs_metrics_close(metrics);
    }
    v->view.notes = (const char *const *)v->notes.items;
    v->view.note_count = v->notes.count;
    if (found)
        v->view.columns = zs_stall_columns_source(v->stalls, v->view.columns);
    return status;
}

static void add_tools_of(const struct zs_common_options *common, struct zs_view *v,
                         const char *path, const struct zs_record_module *record,
                         const struct zs_input *input, size_t *ret_found)
{
    struct zs_diag diag = {0};
    if (zs_tool_columns_add(v->tools, path, record, input->module, ret_found, &diag))
        zs_cli_note(common, "%s: columns of instrumentation: %s", path, diag.text);
}

/* What an instrumentation tool said of instructions, behind all that. */
static int add_tools(const struct zs_common_options *common, bool each_once, struct zs_view *v)
{
    size_t found = 0;
    v->tools = zs_tool_columns_new();
    if (!v->tools)
        return zs_cli_fail("out of memory");
    for (size_t k = 0; k < v->inputs.recordings.count; k++) {
        struct zs_recording *recording = v->inputs.recordings.items[k];
        const char *path = zs_recording_info(recording)->path;
        uint32_t count;
        const struct zs_record_module *modules = zs_recording_modules(recording, &count);
        for (size_t i = 0; i < v->inputs.modules.count; i++) {
            const struct zs_input *input = &v->inputs.modules.items[i];
            if (!each_once && input->recording == recording)
                add_tools_of(common, v, path, input->record, input, &found);
            for (uint32_t m = 0; each_once && input->recording && m < count; m++)
                if (zs_input_is_same(&modules[m], input->record))
                    add_tools_of(common, v, path, &modules[m], input, &found);
        }
    }
    if (found)
        v->view.columns = zs_tool_columns_source(v->tools, v->view.columns);
    return ZS_EXIT_OK;
}

static int open_sources(struct zs_source_options *sources, struct zs_view *v)
{
    struct zs_path_info info;
    v->copies.recordings = v->inputs.recordings.items;
    v->copies.recording_count = v->inputs.recordings.count;
    if (v->copies.recording_count)
        sources->provider = zs_source_copies_provider(&v->copies);
    /* of several files the newest: a source is called newer only where it is newer than all */
    for (size_t i = 0; i < v->inputs.modules.count; i++) {
        const struct zs_input *input = &v->inputs.modules.items[i];
        if (!input->recording && zs_os_path_info(input->name, &info) == 0 &&
            info.mtime_s > sources->module_mtime_s)
            sources->module_mtime_s = info.mtime_s;
    }
    return zs_sources_open(sources, &v->view.sources) ? zs_cli_fail("out of memory") : ZS_EXIT_OK;
}

int zs_view_open(const struct zs_common_options *common, const struct zs_input_select *select,
                 struct zs_source_options *sources, int operand_count, char **operands,
                 struct zs_view *ret_view)
{
    *ret_view = (struct zs_view){.view = {.input = operands[0]}};
    int status = zs_inputs_open(select, operand_count, operands, &ret_view->inputs);
    if (status == ZS_EXIT_OK)
        status = add_counts(common, select->each_once, ret_view);
    if (status == ZS_EXIT_OK)
        status = add_stalls(common, select->each_once, ret_view);
    if (status == ZS_EXIT_OK)
        status = add_tools(common, select->each_once, ret_view);
    if (status == ZS_EXIT_OK)
        status = open_sources(sources, ret_view);
    return status == ZS_EXIT_OK ? gather(ret_view) : status;
}

void zs_view_close(struct zs_view *v)
{
    if (v->view.sources)
        zs_sources_close(v->view.sources);
    zs_source_copies_fini(&v->copies);
    free(v->kernels);
    for (size_t i = 0; i < v->notes.count; i++)
        free(v->notes.items[i]);
    free(v->notes.items);
    zs_count_columns_free(v->columns);
    zs_stall_columns_free(v->stalls);
    zs_tool_columns_free(v->tools);
    zs_inputs_close(&v->inputs);
}
