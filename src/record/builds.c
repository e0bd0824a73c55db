/* SPDX-License-Identifier: MIT */
#include "record/builds.h"

#include <stdio.h>
#include <string.h>

const struct zs_record_build *zs_recording_find_build(const struct zs_recording *recording,
                                                      uint32_t pid, uint64_t build_id,
                                                      uint64_t time_ns)
{
    uint32_t build_count, process_count;
    const struct zs_record_build *builds = zs_recording_builds(recording, &build_count);
    const struct zs_record_process *processes = zs_recording_processes(recording, &process_count);
    uint32_t process = ZS_RECORD_NONE;
    for (uint32_t i = 0; i < process_count; i++)
        if (processes[i].pid == pid && processes[i].start_ns <= time_ns &&
            (process == ZS_RECORD_NONE || processes[i].start_ns >= processes[process].start_ns))
            process = i;
    for (uint32_t i = 0; build_id && process != ZS_RECORD_NONE && i < build_count; i++)
        if (builds[i].process == process && builds[i].id == build_id)
            return &builds[i];
    return NULL;
}

void zs_record_module_name(const struct zs_record_module *module,
                           char ret_name[ZS_MODULE_NAME_CHARS])
{
    const char *slash = module->binary.file ? strrchr(module->binary.file, '/') : NULL;
    snprintf(ret_name, ZS_MODULE_NAME_CHARS, "%s", slash ? slash + 1 : "");
}
