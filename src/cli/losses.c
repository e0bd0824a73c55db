/* SPDX-License-Identifier: MIT */
/* What commands that read traces say about what is missing. */
#include "cli/options.h"

#include "record/traces.h"

#include <inttypes.h>

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
