/* SPDX-License-Identifier: MIT */
/* What the application can ask of the recorder: zescope/control.h. */
#include <zescope/control.h>

#include "collect/api_trace.h"
#include "collect/pause.h"
#include "store/trace_writer.h"

static int control_pause(void)
{
    return zs_pause_set(true, ZS_PAUSE_API, zs_trace_now_ns()) ? 0 : -EALREADY;
}

static int control_resume(void)
{
    return zs_pause_set(false, ZS_PAUSE_API, zs_trace_now_ns()) ? 0 : -EALREADY;
}

static int control_is_paused(void)
{
    return (zs_pause_flags() & ZS_PAUSE_ON) != 0;
}

static int control_mark(const char *text)
{
    return text ? zs_api_trace_mark(ZS_ACT_MARK, text) : -EINVAL;
}

static int control_range_begin(const char *text)
{
    return text ? zs_api_trace_mark(ZS_ACT_RANGE, text) : -EINVAL;
}

static int control_range_end(void)
{
    return zs_api_trace_mark(ZS_ACT_RANGE_END, NULL);
}

static const struct zescope_control control = {
    .version = ZESCOPE_CONTROL_VERSION,
    .pause = control_pause,
    .resume = control_resume,
    .is_paused = control_is_paused,
    .mark = control_mark,
    .range_begin = control_range_begin,
    .range_end = control_range_end,
};

/* Found with dlsym by name. */
ZS_API extern const struct zescope_control *const zescope_control_v1;
const struct zescope_control *const zescope_control_v1 = &control;
