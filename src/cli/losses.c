/* SPDX-License-Identifier: MIT */
/* What commands that read traces say about what is missing. */
#include "cli/demangle.h"
#include "cli/options.h"

#include "base/buf.h"
#include "base/filter.h"
#include "base/text.h"
#include "record/traces.h"

#include <zescope/record.h>

#include <inttypes.h>
#include <string.h>

/* Why there are none is often not known: only what is. */
static void note_no_calls(const struct zs_common_options *common, const char *name)
{
    struct zs_recording *recording = NULL;
    struct zs_traces traces;
    uint32_t processes = 1;
    if (!zs_recording_open(name, &recording, NULL)) {
        zs_recording_processes(recording, &processes);
        zs_recording_close(recording);
    }
    size_t files = 0;
    if (!zs_traces_open(name, &traces, NULL)) {
        files = traces.count;
        zs_traces_close(&traces);
    }
    if (!processes)
        zs_cli_note(common, "%s holds no API calls: no process in it used Level Zero", name);
    else if (files)
        zs_cli_note(common, "%s holds no API calls: there are none in its trace files", name);
    else
        zs_cli_note(common,
                    "%s holds no API calls: it has no trace files, as after 'zescope record "
                    "--no-trace' or when no call was made while recording",
                    name);
}

void zs_cli_note_losses(const struct zs_common_options *common, const char *recording,
                        uint64_t calls, uint64_t lost_calls, uint64_t damaged_files)
{
    uint64_t lost = zs_traces_lost(recording);
    if (lost)
        zs_cli_note(common,
                    "%s: %" PRIu64 " beginnings and ends of calls and other events were lost while "
                    "recording (--trace-limit, or the disk was full)%s",
                    recording, lost, calls ? "" : ": it holds no API calls");
    else if (!calls && !lost_calls && !damaged_files)
        note_no_calls(common, recording);
    if (lost_calls || damaged_files)
        zs_cli_note(common, "%s: %" PRIu64 " call%s incomplete, %" PRIu64 " trace file%s damaged",
                    recording, lost_calls, lost_calls == 1 ? " is" : "s are", damaged_files,
                    zs_plural(damaged_files));
}

void zs_cli_print_notes(const struct zs_common_options *common,
                        const struct zs_recording *recording)
{
    enum { SHOWN_MAX = 5 };
    uint32_t count, shown = 0;
    const struct zs_record_note *notes = zs_recording_notes(recording, &count);
    for (uint32_t i = 0; i < count && shown < SHOWN_MAX; i++) {
        bool is_new = true; /* several processes may say the same */
        for (uint32_t k = 0; k < i && is_new; k++)
            is_new = strcmp(notes[k].text, notes[i].text) != 0;
        if (is_new) {
            zs_cli_note(common, "note: %s", notes[i].text);
            shown++;
        }
    }
    if (count > SHOWN_MAX && shown == SHOWN_MAX)
        zs_cli_note(common, "and more notes: zescope inspect shows all %u", count);
}

/* Names of kernels of the recorded modules, with commas; up to some. */
static void list_kernels(const struct zs_recording *recording, const struct zs_filter *filter,
                         struct zs_buf *out)
{
    enum { NAMES_MAX = 8 };
    uint32_t module_count, count = 0;
    const struct zs_record_module *modules = zs_recording_modules(recording, &module_count);
    for (uint32_t i = 0; i < module_count; i++)
        for (uint32_t k = 0; k < modules[i].kernel_count; k++)
            if (zs_filter_matches(filter, modules[i].kernels[k]) && count++ < NAMES_MAX)
                zs_buf_printf(out, "%s%s", count > 1 ? ", " : "", modules[i].kernels[k]);
    if (count > NAMES_MAX)
        zs_buf_printf(out, " and %u more", count - NAMES_MAX);
}

void zs_cli_note_kernels(const struct zs_common_options *common,
                         const struct zs_recording *recording, const char *what, const char *option,
                         const char *pattern, bool always)
{
    struct zs_filter matching = {0};
    const struct zs_filter all = {0};
    struct zs_buf names = {0};
    int error = zs_filter_compile(&matching, &pattern, 1, NULL);
    matching.other_form = zs_cli_demangle;
    if (!error)
        list_kernels(recording, &matching, &names);
    bool matches = names.size_B;
    if (!matches)
        list_kernels(recording, &all, &names);
    const char *list = names.size_B ? zs_buf_cstr(&names) : "no kernels";
    if (!matches || always)
        zs_cli_note(common, "%s: no kernel that matches %s '%s' was launched (%s: %s)", what,
                    option, pattern, matches ? "modules have" : "none matches; modules have", list);
    zs_buf_fini(&names);
    zs_filter_fini(&matching);
}
