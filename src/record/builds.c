/* SPDX-License-Identifier: MIT */
#include "record/builds.h"

#include <stdio.h>
#include <string.h>

static uint32_t find_process(const struct zs_recording *recording, uint64_t process,
                             uint64_t time_ns)
{
    uint32_t count, ordinal = (uint32_t)(process >> 32), found = ZS_RECORD_NONE;
    const struct zs_record_process *all = zs_recording_processes(recording, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (all[i].pid != (uint32_t)process)
            continue;
        uint32_t its = zs_recording_ordinal(recording, i);
        bool is_known = ordinal != ZS_RECORD_NONE && its != ZS_RECORD_NONE;
        if (is_known && its == ordinal)
            return i;
        if (!is_known && all[i].start_ns <= time_ns &&
            (found == ZS_RECORD_NONE || all[i].start_ns >= all[found].start_ns))
            found = i;
    }
    return found;
}

const struct zs_record_build *zs_recording_find_build(const struct zs_recording *recording,
                                                      uint64_t process, uint64_t build_id,
                                                      uint64_t time_ns)
{
    uint32_t count, index = build_id ? find_process(recording, process, time_ns) : ZS_RECORD_NONE;
    const struct zs_record_build *builds = zs_recording_builds(recording, &count);
    for (uint32_t i = 0; index != ZS_RECORD_NONE && i < count; i++)
        if (builds[i].process == index && builds[i].id == build_id)
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
    if (build && !with_g && build->format == ZS_RECORD_FORMAT_SOURCE)
        return "no debug info, so no source: the program was built without -g; give it in the "
               "options of clBuildProgram, or record with `zescope record --debug-info`";
    if (build && build->format != ZS_RECORD_FORMAT_SPIRV &&
        build->format != ZS_RECORD_FORMAT_SOURCE)
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
