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

/* "-g" among the flags. */
static bool has_g(const char *flags)
{
    for (const char *at = flags; at && (at = strstr(at, "-g")); at += 2)
        if ((at == flags || at[-1] == ' ') && (!at[2] || at[2] == ' '))
            return true;
    return false;
}

const char *zs_record_debug_advice(const struct zs_recording *recording,
                                   const struct zs_record_module *module)
{
    uint32_t count;
    const struct zs_record_build *builds = zs_recording_builds(recording, &count);
    const struct zs_record_build *build =
        module->first_build < count ? &builds[module->first_build] : NULL;
    bool has_lines = false, with_g = build && has_g(build->flags);
    for (uint32_t i = 0; build && i < build->input_count; i++) {
        has_lines |= build->inputs[i].has_debug_info;
        with_g |= has_g(build->inputs[i].flags);
    }
    if (build && build->format != ZS_RECORD_FORMAT_SPIRV)
        return "no debug info, so no source: the application brought machine code without it; "
               "compile that with -g (ocloc: -options \"-g\")";
    if (build && !has_lines)
        return "no debug info, so no source: the SPIR-V that the module was built from has no "
               "source lines, and --debug-info cannot add them; compile it with -g (ocloc: "
               "-options "
               "\"-g\"; clang, icpx: -g)";
    if (with_g)
        return "no debug info, so no source: the driver gave none, though the module was built "
               "with -g from SPIR-V with source lines";
    return "no debug info, so no source: the SPIR-V has source lines, but the module was built "
           "without -g; give it in pBuildFlags, or record with `zescope record --debug-info`";
}
