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
 *     of each allocation: u64 address, size_B, u32 type (ze_memory_type_t), state (enum
 *         zs_launch_memory_state); where it is WHOLE, size_B bytes of before and as many of after
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
    ZS_LAUNCH_ARGUMENTS_MOST = 256,
    ZS_LAUNCH_VALUE_MOST_B = 4096,
    ZS_LAUNCH_NAME_MOST_B = 64 << 10,
};

enum zs_launch_flags {
    ZS_LAUNCH_INDIRECT = 1,    /* the kernel may follow pointers in memory */
    ZS_LAUNCH_COOPERATIVE = 2, /* all groups at a time */
};

enum zs_launch_argument_kind {
    ZS_LAUNCH_VALUE,
    ZS_LAUNCH_POINTER, /* into an allocation */
    ZS_LAUNCH_NOTHING, /* no value: local memory of size_B, or a null pointer */
};

enum zs_launch_memory_state {
    ZS_LAUNCH_WHOLE,
    ZS_LAUNCH_TOO_LARGE, /* beyond the limit */
    ZS_LAUNCH_NO_COPY,   /* the driver refused to copy it */
};

#endif
