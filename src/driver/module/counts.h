/* SPDX-License-Identifier: MIT */
/* The extension functions of zescope/driver_ext.h, and what launches tell them. */
#ifndef ZS_DRIVER_MODULE_COUNTS_H
#define ZS_DRIVER_MODULE_COUNTS_H

#include "driver/queue/launch.h"

/* The function of that name, or NULL. */
void *zs_counts_function(const char *name);
void zs_counts_init(void); /* ZESCOPE_COUNTS */
void zs_counts_after_fork(void);

/* How the next launch is to be counted. */
enum zs_counting {
    ZS_COUNTING_OFF,
    ZS_COUNTING_KERNEL, /* into kernel->counters */
    ZS_COUNTING_LAUNCH, /* apart, for the callback; then added to the kernel's rows as well */
};
enum zs_counting zs_counts_wanted(void);
bool zs_counts_has_callback(void);
/* Call back. The launch's number is given here. */
void zs_counts_report(const struct zs_launch_end *end);

#endif
