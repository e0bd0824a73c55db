/* SPDX-License-Identifier: MIT */
/*
 * A recording whose metadata is the input: the parts, separated by the byte 0x1e, are meta.json,
 * process.json, modules.jsonl, notes.jsonl, sources.json and the counters. A blob named by 64
 * zeros, of five bytes, is there for them to name.
 */
#include <zescope/record.h>

#include "../folder.h"
#include "base/compiler.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B);

static const char *const parts[] = {
    "meta.json",
    "process/1/process.json",
    "process/1/modules.jsonl",
    "process/1/notes.jsonl",
    "sources.json",
    "counters",
};
static const char blob[] =
    "modules/0000000000000000000000000000000000000000000000000000000000000000.bin";

/* What the interface promises of an opened recording. */
static void check(const struct zs_recording *r)
{
    uint32_t processes, devices, builds, modules, sources, notes;
    zs_recording_processes(r, &processes);
    const struct zs_record_device *d = zs_recording_devices(r, &devices);
    const struct zs_record_build *b = zs_recording_builds(r, &builds);
    const struct zs_record_module *m = zs_recording_modules(r, &modules);
    const struct zs_record_source *s = zs_recording_sources(r, &sources);
    const struct zs_record_note *n = zs_recording_notes(r, &notes);
    size_t length = 0;
    for (uint32_t i = 0; i < devices; i++)
        length += strlen(d[i].name) + strlen(d[i].uuid) + strlen(d[i].ocloc_name);
    for (uint32_t i = 0; i < builds; i++) {
        zs_assert(b[i].process < processes);
        zs_assert(b[i].device == ZS_RECORD_NONE || b[i].device < devices);
        zs_assert(b[i].module == ZS_RECORD_NONE || b[i].module < modules);
        length += strlen(b[i].flags) + strlen(b[i].app_flags) + strlen(b[i].log);
        for (uint32_t k = 0; k < b[i].input_count; k++)
            length += strlen(b[i].inputs[k].flags) + b[i].inputs[k].constant_count;
    }
    for (uint32_t i = 0; i < modules; i++) {
        struct zs_span span;
        zs_assert(m[i].first_build < builds && m[i].binary.file);
        zs_assert(m[i].device == ZS_RECORD_NONE || m[i].device < devices);
        for (uint32_t k = 0; k < m[i].kernel_count; k++)
            length += strlen(m[i].kernels[k]);
        if (!zs_recording_blob_read(r, &m[i].binary, &span, NULL))
            zs_assert(span.size_B == 5);
        zs_recording_blob_free(&span);
    }
    for (uint32_t i = 0; i < sources; i++)
        zs_assert(zs_recording_find_source(r, s[i].path) != NULL);
    for (uint32_t i = 0; i < notes; i++) {
        zs_assert(n[i].process == ZS_RECORD_NONE || n[i].process < processes);
        length += strlen(n[i].text);
    }
    zs_assert(length < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_B)
{
    struct zs_recording *recording;
    struct zs_diag diag = {0};
    if (!folder[0]) {
        make_folder("modules sources process/1");
        put(blob, (const uint8_t *)"12345", 5);
    }
    for (size_t i = 0, at = 0; i < ZS_ARRAY_LEN(parts); i++) {
        const uint8_t *end = at < size_B ? memchr(data + at, 0x1e, size_B - at) : NULL;
        size_t part_B = end ? (size_t)(end - data) - at : size_B - at;
        put(parts[i], data + at, part_B);
        at = end ? at + part_B + 1 : size_B;
    }
    if (!zs_recording_open(folder, &recording, &diag)) {
        check(recording);
        zs_recording_close(recording);
    } else {
        zs_assert(diag.error && diag.text[0] && !recording);
    }
    return 0;
}
