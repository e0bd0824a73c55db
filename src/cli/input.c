/* SPDX-License-Identifier: MIT */
#include "cli/input.h"
#include "cli/demangle.h"
#include "cli/scratch.h"
#include "cli/source.h"

#include "base/diag.h"
#include "base/filter.h"
#include "base/os.h"
#include "base/text.h"
#include "base/vec.h"
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct opener {
    const struct zs_input_select *select;
    struct zs_inputs *inputs;
    struct zs_filter kernels;
    size_t image_count; /* of the wanted device */
    char devices[512];  /* that there are, for a message */
};

static int out_of_memory(void)
{
    return zs_cli_fail("out of memory");
}

static int compile_patterns(struct opener *o)
{
    struct zs_diag diag = {0};
    int error =
        zs_filter_compile(&o->kernels, o->select->kernels.items, o->select->kernels.count, &diag);
    o->kernels.other_form = zs_cli_demangle;
    if (error == -ENOMEM)
        return out_of_memory();
    if (error)
        zs_cli_fail("--kernel %s", diag.text);
    return error ? ZS_EXIT_USAGE : ZS_EXIT_OK;
}

static void note_device(struct opener *o, const char *device)
{
    size_t used = strlen(o->devices);
    snprintf(o->devices + used, sizeof(o->devices) - used, "%s%s", used ? ", " : "", device);
}

static int select_kernels(struct opener *o, struct zs_input *input)
{
    const struct zs_module *module = input->module;
    const struct zs_image *wanted = NULL;
    size_t count = 0;
    if (o->select->device)
        wanted = zs_module_image(module, o->select->device);
    for (uint32_t i = 0; i < module->image_count; i++)
        count += module->images[i].kernel_count;
    input->kernels = calloc(count + 1, sizeof(*input->kernels));
    if (!input->kernels)
        return out_of_memory();
    for (uint32_t i = 0; i < module->image_count; i++) {
        const struct zs_image *image = &module->images[i];
        note_device(o, zs_image_device(image));
        if (o->select->device && image != wanted)
            continue;
        o->image_count++;
        for (uint32_t k = 0; k < image->kernel_count; k++) {
            if (!zs_filter_matches(&o->kernels, image->kernels[k].name))
                continue;
            struct zs_kernel_ref *ref = &input->kernels[input->kernel_count++];
            *ref = (struct zs_kernel_ref){.image = image, .kernel = &image->kernels[k]};
            if (!input->record)
                continue;
            zs_record_module_name(input->record, ref->module);
            ref->debug_advice = zs_record_debug_advice(input->recording, input->record);
        }
    }
    return ZS_EXIT_OK;
}

/* Takes the module over. */
static int add_module(struct opener *o, const struct zs_input *input)
{
    if (!ZS_VEC_PUSH(&o->inputs->modules, *input)) {
        zs_module_close(input->module);
        free((void *)(uintptr_t)input->name);
        return out_of_memory();
    }
    return select_kernels(o, &o->inputs->modules.items[o->inputs->modules.count - 1]);
}

static int report(const char *name, const struct zs_diag *diag)
{
    char text[600];
    zs_diag_print(diag, text, sizeof(text));
    return zs_cli_fail("%s: %s", name, text);
}

/* Which of the two files could not be read: the module, unless it can be without the other. */
static const char *bad_file(const char *path, const char *debug)
{
    const struct zs_module_options options = {.size_B = sizeof(options)};
    struct zs_module *module;
    struct zs_diag diag;
    zs_diag_clear(&diag);
    if (!debug || zs_module_open(path, &options, &module, &diag))
        return path;
    zs_module_close(module);
    return debug;
}

static int open_module(struct opener *o, const char *path, const char *name)
{
    struct zs_diag diag;
    zs_diag_clear(&diag);
    struct zs_module_options options = {.size_B = sizeof(options), .debug_path = o->select->debug};
    struct zs_input input = {.name = strdup(name)};
    if (!input.name)
        return out_of_memory();
    if (zs_module_open(path, &options, &input.module, &diag)) {
        free((void *)(uintptr_t)input.name);
        return report(bad_file(path, o->select->debug), &diag);
    }
    return add_module(o, &input);
}

static int open_file(struct opener *o, const char *path)
{
    char folder[PATH_MAX], compiled[PATH_MAX];
    if (!zs_cli_is_source(path))
        return open_module(o, path, path);
    int status = zs_cli_compile(path, o->select->device, o->select->options, folder, compiled);
    if (status != ZS_EXIT_OK)
        return status;
    status = open_module(o, compiled, path);
    zs_cli_scratch_remove(folder);
    return status;
}

static int open_recorded(struct opener *o, struct zs_recording *recording, const char *path,
                         const struct zs_record_module *record)
{
    struct zs_diag diag;
    zs_diag_clear(&diag);
    char name[600];
    snprintf(name, sizeof(name), "%s: %s", path, record->binary.file ? record->binary.file : "?");
    struct zs_span binary = {0}, debug = {0};
    struct zs_input input = {.name = strdup(name), .recording = recording, .record = record};
    int error = zs_recording_blob_read(recording, &record->binary, &binary, &diag);
    if (!error && record->debug.file)
        error = zs_recording_blob_read(recording, &record->debug, &debug, &diag);
    struct zs_module_options options = {.size_B = sizeof(options), .debug = debug};
    if (!error)
        error = zs_module_open_memory(binary, &options, &input.module, &diag);
    zs_recording_blob_free(&binary);
    zs_recording_blob_free(&debug);
    if (!input.name)
        return out_of_memory();
    if (!error)
        return add_module(o, &input);
    /* the other modules of the recording are still good */
    report(name, &diag);
    free((void *)(uintptr_t)input.name);
    o->inputs->failed++;
    return ZS_EXIT_OK;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && !strcmp(text + size - end_size, end);
}

/* Names of files end the first word of such notes. What modules were built from is not read. */
static bool is_lost_blob(const char *note, const char *ending)
{
    char word[160];
    return !strncmp(note, ZS_RECORD_MODULES "/", sizeof(ZS_RECORD_MODULES)) &&
           sscanf(note, "%159s", word) == 1 && ends_with(word, ending);
}

size_t zs_inputs_tell_damage(const struct zs_recording *recording, const char *path)
{
    uint32_t count;
    size_t binaries = 0;
    const struct zs_record_note *notes = zs_recording_notes(recording, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool binary = is_lost_blob(notes[i].text, ".bin"), told = false;
        if (!binary && !is_lost_blob(notes[i].text, ".dbg"))
            continue;
        for (uint32_t before = 0; before < i && !told; before++)
            told = !strcmp(notes[before].text, notes[i].text);
        if (!told)
            zs_cli_fail("%s: %s", path, notes[i].text);
        binaries += binary && !told;
    }
    return binaries;
}

void zs_cli_note_metrics_losses(const struct zs_common_options *common, const char *recording,
                                const struct zs_metrics_info *info)
{
    if (info->lost)
        zs_cli_note(common, "%" PRIu64 " kernel launches could not be measured, mostly: %s",
                    info->lost, info->lost_reason);
    if (info->damaged || info->orphans)
        zs_cli_note(common,
                    "%" PRIu64 " records of metrics make no sense, %" PRIu64
                    " belong to no kernel launch: they are left out",
                    info->damaged, info->orphans);
    if (info->runs_mismatch[0])
        zs_cli_note(common, "%s", info->runs_mismatch);
    if (info->overflows)
        zs_cli_note(common,
                    "reports over time were lost %" PRIu64 " time%s, as the driver's buffer was "
                    "full before they were read: sums are too small; make the period longer",
                    info->overflows, zs_plural(info->overflows));
    if (info->events_lost)
        zs_cli_note(common,
                    "%s: %" PRIu64 " events were lost while recording (--trace-limit, or the disk "
                    "was full): metrics may be among them",
                    recording, info->events_lost);
    if (info->damaged_files)
        zs_cli_note(common,
                    "%s: %" PRIu64 " trace file%s damaged: what stands behind the damage is "
                    "missing in the metrics",
                    recording, info->damaged_files, info->damaged_files == 1 ? " is" : "s are");
}

bool zs_input_is_same(const struct zs_record_module *a, const struct zs_record_module *b)
{
    return a->binary.file && b->binary.file && !strcmp(a->binary.file, b->binary.file);
}

static bool is_open(const struct zs_inputs *inputs, const struct zs_record_module *record)
{
    for (size_t i = 0; i < inputs->modules.count; i++)
        if (inputs->modules.items[i].record &&
            zs_input_is_same(inputs->modules.items[i].record, record))
            return true;
    return false;
}

static int open_recording(struct opener *o, const char *path)
{
    struct zs_diag diag;
    zs_diag_clear(&diag);
    struct zs_recording *recording;
    if (zs_recording_open(path, &recording, &diag))
        return report(path, &diag);
    if (!ZS_VEC_PUSH(&o->inputs->recordings, recording)) {
        zs_recording_close(recording);
        return out_of_memory();
    }
    uint32_t count;
    const struct zs_record_module *modules = zs_recording_modules(recording, &count);
    int status = ZS_EXIT_OK;
    o->inputs->failed += zs_inputs_tell_damage(recording, path);
    for (uint32_t i = 0; i < count && status == ZS_EXIT_OK; i++)
        if (!o->select->each_once || !is_open(o->inputs, &modules[i]))
            status = open_recorded(o, recording, path, &modules[i]);
    return status;
}

/* Something has to be left; otherwise say what there would have been. */
static int check_selection(const struct opener *o)
{
    size_t kernels = 0;
    for (size_t i = 0; i < o->inputs->modules.count; i++)
        kernels += o->inputs->modules.items[i].kernel_count;
    if (kernels || o->inputs->failed)
        return ZS_EXIT_OK;
    if (o->select->allow_none && !o->select->device && !o->kernels.count &&
        (o->inputs->modules.count || o->inputs->recordings.count))
        return ZS_EXIT_OK;
    if (o->select->device && !o->image_count)
        return zs_cli_fail("nothing for device %s; there is: %s", o->select->device,
                           *o->devices ? o->devices : "no device code at all");
    if (o->kernels.count)
        return zs_cli_fail("no kernel matches --kernel '%s'", o->select->kernels.items[0]);
    return zs_cli_fail("no kernels%s", o->inputs->modules.count ? " in there" : ": no modules");
}

static bool is_folder(const char *path)
{
    struct zs_path_info info;
    return !zs_os_path_info(path, &info) && info.kind == ZS_PATH_FOLDER;
}

int zs_inputs_open(const struct zs_input_select *select, int operand_count, char **operands,
                   struct zs_inputs *ret_inputs)
{
    *ret_inputs = (struct zs_inputs){0};
    struct opener o = {.select = select, .inputs = ret_inputs};
    int status = compile_patterns(&o);
    for (int i = 0; i < operand_count && status == ZS_EXIT_OK; i++)
        status = zs_recording_probe(operands[i]) || is_folder(operands[i])
                     ? open_recording(&o, operands[i])
                     : open_file(&o, operands[i]);
    if (status == ZS_EXIT_OK)
        status = check_selection(&o);
    zs_filter_fini(&o.kernels);
    return status;
}

void zs_inputs_close(struct zs_inputs *inputs)
{
    for (size_t i = 0; i < inputs->modules.count; i++) {
        struct zs_input *input = &inputs->modules.items[i];
        zs_module_close(input->module);
        free((void *)(uintptr_t)input->name);
        free(input->kernels);
    }
    for (size_t i = 0; i < inputs->recordings.count; i++)
        zs_recording_close(inputs->recordings.items[i]);
    free(inputs->modules.items);
    free(inputs->recordings.items);
    *inputs = (struct zs_inputs){0};
}
