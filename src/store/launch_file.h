/* SPDX-License-Identifier: MIT */
/*
 * A captured kernel launch, launches/<pid>-<process>-<n>.launch in a recording: what the collector
 * writes and `zescope replay` reads. Numbers are little-endian.
 *
 *     "zslaunc1"
 *     u64 build (id in its process), time_ns (CLOCK_MONOTONIC of the append)
 *     u32 number (of the kernel's launches, from 1), flags (enum zs_launch_flags)
 *     u32 groups[3], size[3], offset[3]
 *     u32 name_B, argument_count, memory_count, 0
 *     name_B bytes: the kernel's name
 *     of each argument: u32 index, kind (enum zs_launch_argument_kind), u64 size_B,
 *         u32 memory, 0, u64 offset_B; size_B bytes of its value unless size_B is > VALUE_MOST
 *     of each allocation: u64 address, size_B, u32 type (ze_memory_type_t, or ZS_LAUNCH_IMAGE),
 *         state (enum zs_launch_memory_state); of an image its words (enum zs_launch_image_word);
 *         where it is WHOLE, size_B bytes of before and as many of after
 */
#ifndef ZS_STORE_LAUNCH_FILE_H
#define ZS_STORE_LAUNCH_FILE_H

#include <stdint.h>

#define ZS_LAUNCH_MAGIC "zslaunc1"
#define ZS_LAUNCH_DIR   "launches"

/* Environment of the collector: REGEX[:N], one a line; bytes of all captured memory. */
#define ZS_ENV_COLLECT_CAPTURE       "ZESCOPE_COLLECT_CAPTURE"
#define ZS_ENV_COLLECT_CAPTURE_LIMIT "ZESCOPE_COLLECT_CAPTURE_LIMIT"

enum {
    ZS_LAUNCH_HEAD_B = 8 + 16 + 8 + 36 + 16,
    ZS_LAUNCH_ARGUMENT_B = 32,
    ZS_LAUNCH_MEMORY_B = 24,
    ZS_LAUNCH_SAMPLER_B = 12,
    ZS_LAUNCH_ARGUMENTS_MOST = 256,
    ZS_LAUNCH_VALUE_MOST_B = 4096,
    ZS_LAUNCH_NAME_MOST_B = 64 << 10,
    ZS_LAUNCH_IMAGE = 16,
};

/* Of ze_image_desc_t, of one level; the values are its. */
enum zs_launch_image_word {
    ZS_LAUNCH_IMAGE_FLAGS,
    ZS_LAUNCH_IMAGE_TYPE,
    ZS_LAUNCH_IMAGE_LAYOUT,
    ZS_LAUNCH_IMAGE_FORMAT,
    ZS_LAUNCH_IMAGE_SWIZZLE, /* x, y, z, w: a byte each */
    ZS_LAUNCH_IMAGE_WIDTH,
    ZS_LAUNCH_IMAGE_HEIGHT,
    ZS_LAUNCH_IMAGE_DEPTH,
    ZS_LAUNCH_IMAGE_LEVELS, /* of an array */
    ZS_LAUNCH_IMAGE_WORDS
};

/* Of a pixel, by ze_image_format_layout_t; 0: planar formats, and what is not known. */
static inline uint32_t zs_image_pixel_B(uint32_t layout)
{
    static const uint8_t sizes[] = {1, 2, 4, 2, 4, 4, 8, 8, 16, 4, 4, 2, 2, 2};
    return layout < sizeof(sizes) ? sizes[layout] : 0;
}

/* Of all that an image has, row behind row; 0: not known, or more than anybody has. */
static inline uint64_t zs_launch_image_B(const uint32_t words[ZS_LAUNCH_IMAGE_WORDS])
{
    uint64_t all_B = zs_image_pixel_B(words[ZS_LAUNCH_IMAGE_LAYOUT]);
    for (int i = ZS_LAUNCH_IMAGE_WIDTH; i < ZS_LAUNCH_IMAGE_WORDS; i++) {
        all_B *= words[i] ? words[i] : 1;
        if (all_B > UINT32_MAX)
            return 0;
    }
    return all_B;
}

enum zs_launch_flags {
    ZS_LAUNCH_INDIRECT = 1,    /* the kernel may follow pointers in memory */
    ZS_LAUNCH_COOPERATIVE = 2, /* all groups at a time */
};

enum zs_launch_argument_kind {
    ZS_LAUNCH_VALUE,
    ZS_LAUNCH_POINTER, /* into an allocation, or an image */
    ZS_LAUNCH_NOTHING, /* no value: local memory of size_B, or a null pointer */
    ZS_LAUNCH_SAMPLER, /* its value: address mode, filter mode, whether normalised (u32 each) */
};

enum zs_launch_memory_state {
    ZS_LAUNCH_WHOLE,
    ZS_LAUNCH_TOO_LARGE, /* beyond the limit */
    ZS_LAUNCH_NO_COPY,   /* the driver refused to copy it */
};

#endif
