/* SPDX-License-Identifier: MIT */
#ifndef ZS_METRICS_PROFILE_PRIV_H
#define ZS_METRICS_PROFILE_PRIV_H

#include "metrics/profile.h"

/* work.c: what instructions are; *insts lives in the arena. 0 or -ENOMEM. */
int profile_classify(struct zs_arena *arena, struct zs_profile *profile);
/* peaks.c: of a device by the name that ocloc knows it by; NULL: its platform's. */
struct zs_peaks profile_peaks(const struct zs_record_device_shape *shape, const char *name,
                              enum zs_isa_platform platform);
/* derive.c: the values, from all that was read. */
void profile_derive(struct zs_profile *profile);
/* The shape with most launches; NULL: none is known. */
const struct zs_shape *profile_main_shape(const struct zs_profile *profile);

/* measured.c: recorded metrics into profiles. 0 or -ENOMEM. */
int profile_add_metrics(struct zs_profiles *profiles);

#endif
