/* SPDX-License-Identifier: MIT */
/* What a launch that was run again left in memory, against what the original left: text and
 * zescope.replay/1 (docs/recording.md). */
#ifndef ZS_REPORT_REPLAYED_H
#define ZS_REPORT_REPLAYED_H

#include "base/buf.h"
#include "base/json.h"

#include <zescope/common.h>

/* One allocation. */
struct zs_replayed_memory {
    uint32_t argument; /* the first that points into it */
    const char *name;  /* of that argument, "" */
    const char *type;  /* of what it points to, as in the source: "float", "int4", "" */
    uint64_t size_B;
    const char *why_not;               /* it was not compared: a sentence; NULL: it was */
    struct zs_span before, after, now; /* of the original; of the one run again */
};

struct zs_replayed {
    const char *kernel, *recording, *file;
    uint32_t number, groups[3], size[3];
    const char *device; /* as the driver names it */
    const char *built;  /* "the recorded binary", "SPIR-V", ... */
    const char *failed; /* a sentence: it was not run to its end; NULL */
    double time_ns;     /* of the device; NaN */
    const char *clock;  /* "modelled", "estimated from counts"; "": that of a real one */
    const char *const *notes;
    size_t note_count;
    const struct zs_replayed_memory *memory;
    size_t memory_count;
};

/* Elements that differ by more than `ulp` units in the last place (integers: at all) are told, so
 * many of them. Whether there are none, and all was compared that the original wrote. */
bool zs_replayed_is_same(const struct zs_replayed *r, uint64_t ulp);
void zs_replayed_text(const struct zs_replayed *r, uint64_t ulp, uint64_t limit, bool color,
                      struct zs_buf *out);
void zs_replayed_json(const struct zs_replayed *r, uint64_t ulp, uint64_t limit,
                      struct zs_json *json);

#endif
