/* SPDX-License-Identifier: MIT */
/*
 * zescope: what all public headers share.
 *
 * Errors: functions that can fail return 0 or a negative errno value; where they take a
 * struct zs_diag they fill it with the byte offset in the input and a sentence. Nothing here
 * prints, exits or aborts on bad input.
 *
 * Structs of options begin with their size, which the caller sets to sizeof: those of other
 * versions of this library may be shorter or longer. What is not given is zero; something that is
 * set and not known to the library that runs is refused with -E2BIG, a size of less than itself
 * with -EINVAL.
 *
 * Threads: an opened object may be read from several threads at once when its header says so;
 * opening and closing belong to one thread.
 */
#ifndef ZESCOPE_COMMON_H
#define ZESCOPE_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared libraries export; everything else in them is hidden. */
#if defined(__GNUC__)
#define ZS_API __attribute__((visibility("default")))
#else
#define ZS_API
#endif

/* A borrowed range of bytes. Whoever hands one out says how long it lives. */
struct zs_span {
    const uint8_t *data;
    size_t size_B;
};

#define ZS_DIAG_NO_OFFSET UINT64_MAX

/* Why an input was refused. Zero it before use; the first error of an operation is kept. */
struct zs_diag {
    int error;         /* -errno, 0 while nothing was reported */
    uint64_t offset_B; /* into the input, or ZS_DIAG_NO_OFFSET */
    char text[480];    /* one sentence, no trailing newline */
};

/* "at byte 0x1c: sentence", or the sentence alone without an offset. Always terminated. */
ZS_API void zs_diag_print(const struct zs_diag *diag, char *ret_text, size_t size_B);

/* The version of the library that runs, "0.2.0". */
ZS_API const char *zs_version(void);

#ifdef __cplusplus
}
#endif

#endif
