/* SPDX-License-Identifier: MIT */
/* The modules of a recording, or of a folder of recordings that is read as one (record/traces.h).
 */
#ifndef ZS_RECORD_RECORDINGS_H
#define ZS_RECORD_RECORDINGS_H

#include "base/diag.h"

#include <zescope/record.h>

/* Of a folder, more are left out: each holds descriptors. */
enum { ZS_RECORDINGS_MAX = 64 };

struct zs_recordings {
    struct {
        struct zs_recording *recording; /* NULL: it cannot be read */
        uint32_t first_ordinal;         /* its processes have these numbers from here on */
    } items[ZS_RECORDINGS_MAX];
    uint32_t count;
    uint32_t total;       /* that there are */
    uint32_t left_out;    /* of these: more than there is room for, or they cannot be read */
    uint64_t end_ordinal; /* processes from here on are of those for which there is no room */
};

/* What can be read of it: none at all is no error. 0 or -ENOMEM. */
int zs_recordings_open(const char *path, struct zs_recordings *ret_recordings);
void zs_recordings_close(struct zs_recordings *recordings);

/* The module that a build of a process made, process: ordinal << 32 | pid as in activities.h. NULL:
 * not known. */
const struct zs_record_module *zs_recordings_module(const struct zs_recordings *recordings,
                                                    uint64_t process, uint64_t build,
                                                    uint64_t time_ns);

#endif
