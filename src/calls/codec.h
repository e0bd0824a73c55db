/* SPDX-License-Identifier: MIT */
/*
 * The arguments of a call as a few bytes, and back.
 *
 * What is written follows the tables of describe.h, so nothing but values needs to be stored: a
 * call's parameters in order, each by its kind:
 *
 *   numbers, enums, flags, bool   LEB128, signed ones zigzag
 *   F32, F64                      4 or 8 bytes
 *   handles, void *, functions    pointer code: 0 for NULL; 2 * slot + 1 for a value in the
 *                                 pointer cache; 2 and 8 bytes for a value that is put into it
 *   text                          0 for NULL, else 1 + length (at most TEXT_MAX) and the bytes
 *   struct *                      0 for NULL, 1 and the fields, 2 where there is none to be read
 *   handle *, number *            0 for NULL, else 1 + count, then that many elements (at most
 *                                 ELEMENTS_MAX; the rest is left out)
 *
 * On enter the parameters marked IN and INOUT are written, structures without their fields marked
 * OUT; on exit the result, and when it is success the parameters marked OUT and INOUT. Nothing is
 * read that nobody has written yet, and no more of it than there was room for on enter
 * (zs_codec_enter). Pointers inside structures are written as pointers, but for text. The pointer
 * cache is a state shared by a writer and its reader: both see the same sequence of pointers, so a
 * handle that is used again costs one or two bytes.
 */
#ifndef ZS_CALLS_CODEC_H
#define ZS_CALLS_CODEC_H

#include "base/buf.h"
#include "base/reader.h"
#include "calls/describe.h"
#include "tracers/tracers.h"

enum {
    ZS_CODEC_CACHE_SLOTS = 256,
    ZS_CODEC_TEXT_MAX_B = 250,
    ZS_CODEC_ELEMENTS_MAX = 16,
    ZS_CODEC_EVENT_MAX_B = 4096, /* longer events are cut; the reader says so */
    ZS_CODEC_VALUES_MAX = 512,
};

/* What is kept of a thread's pointers: see above. */
struct zs_codec {
    uint64_t cache[ZS_CODEC_CACHE_SLOTS];
};

/* A decoded value, in preorder: a structure is followed by its fields, one deeper. */
struct zs_api_value {
    const char *name; /* of the parameter or field; NULL for an element of an array */
    const char *base; /* type, for enums and flags */
    struct zs_span text;
    uint64_t bits;     /* number (signed ones sign-extended), pointer, bits of a float */
    uint32_t elements; /* of HANDLE_PTR, VALUE_PTR: values that follow, one deeper */
    uint8_t kind;      /* enum zs_api_kind */
    uint8_t depth;
    bool is_null; /* a NULL pointer */
    bool is_out;  /* seen on exit */
};

struct zs_api_values {
    struct zs_api_value items[ZS_CODEC_VALUES_MAX];
    uint32_t count;
    bool cut; /* the writer or this array ran out of room */
};

/* On enter: note the values of counts that go in and out, in event->internal (the `counts` of
 * struct zs_trace_event). Without, an exit is taken to have had room for what it says. */
void zs_codec_enter(const struct zs_api_event *event);
/* Whether that does anything for a call. */
bool zs_codec_has_counts(uint32_t call);
/* Whether the exit of a call that succeeded has anything else to tell. */
bool zs_codec_has_results(uint32_t call);

/* Write an event's values to `out`, at most ZS_CODEC_EVENT_MAX_B. Returns the bytes written; 0 for
 * an exit that tells nothing but success. No allocation, no lock. */
size_t zs_codec_encode(struct zs_codec *codec, const struct zs_api_event *event, uint8_t *out);

/* Read what encode wrote for a call's enter, or exit (*ret_result). Appends to values. 0 or -EINVAL
 * with the reader's diagnostic. Texts point into the reader's bytes. */
int zs_codec_decode(struct zs_codec *codec, const struct zs_api_shape *shape, bool is_exit,
                    struct zs_reader *r, struct zs_api_values *values, int32_t *ret_result);

/* "name(a = 1, b = 0x7f.. -> {...})" of values; exit values replace what enter showed. */
void zs_api_format_call(struct zs_buf *out, const char *name, const struct zs_api_values *values);

#endif
