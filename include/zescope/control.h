/* SPDX-License-Identifier: MIT */
/*
 * zescope: what an application can say to the recorder it runs under.
 *
 *     zescope_record_resume();                 // `zescope record --paused -- ./app`
 *     zescope_range_begin("solve");
 *     ...
 *     zescope_range_end();
 *     zescope_mark("residual below 1e-6");
 *     zescope_record_pause();
 *
 * Header only: nothing to link. The functions of the recorder are found when they are first used;
 * without a recorder each call costs a load and a comparison and says -ENOSYS. They may be called
 * from any thread.
 */
#ifndef ZESCOPE_CONTROL_H
#define ZESCOPE_CONTROL_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the recorder exports: version is ZESCOPE_CONTROL_VERSION or above, members are added at the
 * end. All return 0 or a negative errno value. */
enum { ZESCOPE_CONTROL_VERSION = 1 };
struct zescope_control {
    unsigned version;
    int (*pause)(void);  /* -EALREADY: it was paused */
    int (*resume)(void); /* -EALREADY: it was not paused */
    int (*is_paused)(void);
    int (*mark)(const char *text);        /* -EAGAIN: paused, nothing was recorded */
    int (*range_begin)(const char *text); /* ranges of a thread nest */
    int (*range_end)(void);
};

static inline const struct zescope_control *zescope_control(void)
{
    static const struct zescope_control *volatile found;
    static volatile int looked;
    if (!looked) {
        const struct zescope_control *const *control = (const struct zescope_control *const *)dlsym(
            (void *)0 /* RTLD_DEFAULT */, "zescope_control_v1");
        found = control ? *control : NULL;
        looked = 1;
    }
    return found;
}

/* Stop recording, of the whole process, and go on. */
static inline int zescope_record_pause(void)
{
    const struct zescope_control *c = zescope_control();
    return c ? c->pause() : -ENOSYS;
}
static inline int zescope_record_resume(void)
{
    const struct zescope_control *c = zescope_control();
    return c ? c->resume() : -ENOSYS;
}
/* 1 paused, 0 recording, -ENOSYS no recorder. */
static inline int zescope_record_is_paused(void)
{
    const struct zescope_control *c = zescope_control();
    return c ? c->is_paused() : -ENOSYS;
}

/* A moment, or a range of time, of the calling thread, shown on its track of the timeline. The text
 * is copied (at most 1000 bytes). */
static inline int zescope_mark(const char *text)
{
    const struct zescope_control *c = zescope_control();
    return c ? c->mark(text) : -ENOSYS;
}
static inline int zescope_range_begin(const char *text)
{
    const struct zescope_control *c = zescope_control();
    return c ? c->range_begin(text) : -ENOSYS;
}
static inline int zescope_range_end(void)
{
    const struct zescope_control *c = zescope_control();
    return c ? c->range_end() : -ENOSYS;
}

#ifdef __cplusplus
}
#endif

#endif
