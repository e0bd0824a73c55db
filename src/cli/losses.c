/* SPDX-License-Identifier: MIT */
/* What commands that read traces say about what is missing. */
#include "cli/options.h"

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
