/* SPDX-License-Identifier: MIT */
/* What commands that read traces say about what is missing. */
#include "cli/options.h"

#include "record/traces.h"

#include <zescope/record.h>

#include <inttypes.h>
#include <string.h>

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
        zs_cli_note(common,
                    "%s holds no API calls; 'zescope record' without --no-trace records them",
                    recording);
    if (lost_calls || damaged_files)
        zs_cli_note(common, "%s: %" PRIu64 " calls are incomplete, %" PRIu64 " trace files damaged",
                    recording, lost_calls, damaged_files);
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
