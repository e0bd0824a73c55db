/* SPDX-License-Identifier: MIT */
/* A captured launch run again through the Level Zero loader, on the first device that it finds. */
#ifndef ZS_CLI_REPLAY_ZE_H
#define ZS_CLI_REPLAY_ZE_H

#include "base/buf.h"
#include "record/launches.h"

struct zs_replay_build {
    const char *what; /* "the recorded binary" */
    bool is_spirv;
    struct zs_span bytes;
    const char *flags;
    const struct zs_record_constant *constants;
    uint32_t constant_count;
};

struct zs_replay {
    const struct zs_launch *launch;
    const struct zs_replay_build *builds; /* the first that the driver takes */
    size_t build_count;
};

struct zs_replay_result {
    char device[256];
    const struct zs_replay_build *built; /* NULL: none */
    double time_ns;                      /* NaN: not known */
    uint8_t **now;                       /* of each allocation; NULL: it was not whole */
    struct zs_buf failed;                /* a sentence; empty: it ran */
};

/* True: it ran. Otherwise `failed` says why. Free in any case. */
bool zs_replay_run(const struct zs_replay *replay, struct zs_replay_result *ret);
void zs_replay_free(const struct zs_replay *replay, struct zs_replay_result *result);

#endif
