/* SPDX-License-Identifier: MIT */
/*
 * Source files are copied by the launcher after the application ended, not inside it: finding them
 * means reading debug info, which has no place in somebody else's process.
 */
#include "record/writer.h"

#include <zescope/correlate.h>
#include <zescope/module.h>
#include <zescope/record.h>

#include <errno.h>
#include <string.h>

static int add_kernel(struct zs_recording_writer *writer, const struct zs_dwarf *dwarf,
                      const struct zs_kernel *kernel)
{
    struct zs_dwarf_kernel *info;
    int error = 0;
    if (zs_dwarf_kernel_load(dwarf, kernel->name, kernel->code.size_B, &info, NULL))
        return 0; /* other views say what is wrong with it */
    for (uint32_t i = 0; !error && i < info->file_count; i++)
        if (info->files[i].path[0])
            error = zs_recording_add_source(writer, info->files[i].path);
    zs_dwarf_kernel_unload(info);
    return error < 0 ? error : 0;
}

static int add_image(struct zs_recording_writer *writer, const struct zs_image *image)
{
    struct zs_dwarf *dwarf = NULL;
    const uint8_t *open_elf = NULL; /* a zebin's kernels share one */
    int error = 0;
    for (uint32_t i = 0; !error && i < image->kernel_count; i++) {
        const struct zs_kernel *kernel = &image->kernels[i];
        if (kernel->debug.kind == ZS_DEBUG_NONE)
            continue;
        if (kernel->debug.elf.data != open_elf) {
            zs_dwarf_close(dwarf);
            dwarf = NULL;
            open_elf = kernel->debug.elf.data;
            if (zs_dwarf_open(kernel->debug.elf, &dwarf, NULL))
                dwarf = NULL;
        }
        if (dwarf)
            error = add_kernel(writer, dwarf, kernel);
    }
    zs_dwarf_close(dwarf);
    return error;
}

static int add_module(struct zs_recording_writer *writer, const struct zs_recording *recording,
                      const struct zs_record_module *recorded)
{
    struct zs_span binary = {0}, debug = {0};
    struct zs_module *module = NULL;
    int error = 0;
    if (recorded->debug.file &&
        !zs_recording_blob_read(recording, &recorded->binary, &binary, NULL))
        zs_recording_blob_read(recording, &recorded->debug, &debug, NULL);
    const struct zs_module_options options = {
        .size_B = sizeof(options), .borrow = true, .debug = debug};
    if (debug.size_B && !zs_module_open_memory(binary, &options, &module, NULL))
        for (uint32_t i = 0; !error && i < module->image_count; i++)
            error = add_image(writer, &module->images[i]);
    zs_module_close(module);
    zs_recording_blob_free(&binary);
    zs_recording_blob_free(&debug);
    return error;
}

int zs_recording_add_sources(struct zs_recording_writer *writer, struct zs_diag *diag)
{
    struct zs_recording *recording;
    int error = zs_recording_open(zs_recording_writer_path(writer), &recording, diag);
    if (error)
        return error;
    uint32_t count;
    const struct zs_record_module *modules = zs_recording_modules(recording, &count);
    for (uint32_t i = 0; !error && i < count; i++)
        error = add_module(writer, recording, &modules[i]);
    zs_recording_close(recording);
    return error ? zs_diag_set(diag, error, ZS_DIAG_NO_OFFSET, "%s", strerror(-error)) : 0;
}
