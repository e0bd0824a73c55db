/* SPDX-License-Identifier: MIT */
#include "record/recordings.h"

#include "record/builds.h"
#include "record/traces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void add(struct zs_recordings *r, const char *path, uint32_t first_ordinal)
{
    struct zs_recording *recording = NULL;
    r->total++;
    if (r->count == ZS_RECORDINGS_MAX) {
        r->end_ordinal = ZS_MIN(r->end_ordinal, (uint64_t)first_ordinal);
        r->left_out++;
        return;
    }
    if (zs_recording_open(path, &recording, NULL)) {
        recording = NULL;
        r->left_out++;
    }
    r->items[r->count].recording = recording;
    r->items[r->count++].first_ordinal = first_ordinal;
}

int zs_recordings_open(const char *path, struct zs_recordings *ret_recordings)
{
    struct zs_traces traces;
    int error = 0;
    *ret_recordings = (struct zs_recordings){.end_ordinal = UINT64_MAX};
    if (zs_recording_probe(path) || zs_traces_open(path, &traces, NULL)) {
        add(ret_recordings, path, 0);
        return 0;
    }
    for (size_t i = 0; i < traces.part_count && !error; i++) {
        char *part;
        if (asprintf(&part, "%s/%s", path, traces.parts[i].rank) < 0) {
            error = -ENOMEM;
            continue;
        }
        add(ret_recordings, part, traces.parts[i].first_ordinal);
        free(part);
    }
    zs_traces_close(&traces);
    if (error)
        zs_recordings_close(ret_recordings);
    return error;
}

void zs_recordings_close(struct zs_recordings *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        zs_recording_close(r->items[i].recording);
    *r = (struct zs_recordings){0};
}

const struct zs_record_module *zs_recordings_module(const struct zs_recordings *r, uint64_t process,
                                                    uint64_t build, uint64_t time_ns)
{
    const struct zs_recording *of = NULL;
    uint64_t first = 0;
    uint32_t count;
    for (uint32_t i = 0; i < r->count && process >> 32 < r->end_ordinal; i++) {
        if (r->items[i].first_ordinal > process >> 32)
            continue;
        of = r->items[i].recording;
        first = r->items[i].first_ordinal;
    }
    const struct zs_record_build *found =
        of ? zs_recording_find_build(of, process - (first << 32), build, time_ns) : NULL;
    return found && found->module != ZS_RECORD_NONE
               ? &zs_recording_modules(of, &count)[found->module]
               : NULL;
}
