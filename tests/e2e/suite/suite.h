/* SPDX-License-Identifier: MIT */
/*
 * A suite of OpenCL C kernels that run through the stock Level Zero loader, each compared with a
 * reference in plain C.
 *
 * A case is one function. It adds the kernel's arguments in their order; suite_in, suite_out and
 * suite_inout fill the device's buffer and return the host's copy of it, in which the function then
 * computes what the kernel should leave there. When the function returns, the harness launches the
 * kernel and compares every out and inout buffer with the host's copy.
 */
#ifndef ZS_TESTS_E2E_SUITE_H
#define ZS_TESTS_E2E_SUITE_H

#include <level_zero/ze_api.h>

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUITE_COUNT(a) (sizeof(a) / sizeof((a)[0]))

enum suite_type {
    S_I8,
    S_U8,
    S_I16,
    S_U16,
    S_I32,
    S_U32,
    S_I64,
    S_U64,
    S_F16,
    S_F32,
    S_F64,
    S_TYPE_COUNT
};

/* Sizes of a launch: groups and items of a group in each dimension; 0 stands for 1. */
struct suite_shape {
    uint32_t groups[3], local[3];
};

struct suite_buffer {
    enum suite_type type;
    size_t count;
    void *device; /* shared memory */
    void *expected;
    bool compared;
    double ulps;     /* 0: the same bits, or both NaN */
    double absolute; /* a difference up to this is right in any case */
};

enum { SUITE_MAX_BUFFERS = 24 };

struct suite {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list; /* immediate, synchronous */
    ze_module_handle_t module;
    ze_kernel_handle_t kernel; /* of the case */
    const char *variant;

    /* of the launch */
    uint32_t groups[3], local[3], items[3];
    uint32_t offset[3];
    uint32_t n;    /* all items */
    uint32_t simd; /* the kernel's */
    uint32_t arg_count;

    double low, high;  /* range of random floats, see suite_range */
    bool special;      /* random floats have infinities, NaN, denormals among them */
    uint64_t int_mask; /* of random integers of any width; 0: all bits */
    uint64_t random;   /* state */
    bool skipped;      /* the case does not apply to this variant */
    bool cannot;       /* something failed on the way */
    struct suite_buffer buffers[SUITE_MAX_BUFFERS];
    size_t buffer_count;
    ze_image_handle_t images[8];
    size_t image_count;
    ze_sampler_handle_t samplers[8];
    size_t sampler_count;
};

struct suite_case {
    const char *kernel;
    void (*prepare)(struct suite *s);
    const struct suite_shape *shapes; /* NULL: suite_shapes_1d; ends with all zeros */
    const char *not_in;               /* variants that cannot build or run it, blank-separated */
};

struct suite_group {
    const char *name; /* of the .cl file too */
    const struct suite_case *cases;
    size_t count;
};

extern const struct suite_shape suite_shapes_1d[], suite_shapes_2d[], suite_shapes_3d[];
/* One work-group of several sizes; groups of 64 items, for kernels that use a fixed size. */
extern const struct suite_shape suite_shapes_group64[];

extern const struct suite_group suite_arith, suite_real, suite_half, suite_wide;

/* ---- Arguments ---- */
void suite_range(struct suite *s, double low, double high);
void *suite_in(struct suite *s, enum suite_type type, size_t count);
void *suite_inout(struct suite *s, enum suite_type type, size_t count, double ulps);
/* Both copies start as a pattern, so that what the kernel must not write is seen. */
void *suite_out(struct suite *s, enum suite_type type, size_t count, double ulps);
/* Both copies start as zeros. */
void *suite_zeroed(struct suite *s, enum suite_type type, size_t count, double ulps);
/* Copy what the function has put into the host's copy to the device: the kernel starts from it. */
void suite_upload(struct suite *s, const void *expected);
void suite_absolute(struct suite *s, const void *expected, double absolute);
/* The device's address of a buffer. */
void *suite_device(struct suite *s, const void *expected);
void suite_value(struct suite *s, size_t size_B, const void *value);
void suite_int(struct suite *s, int32_t value);
void suite_float(struct suite *s, float value);
void suite_local(struct suite *s, size_t size_B);
void suite_null(struct suite *s);
void suite_image_arg(struct suite *s, const ze_image_desc_t *desc, const void *pixels);
void suite_sampler_arg(struct suite *s, ze_sampler_address_mode_t address,
                       ze_sampler_filter_mode_t filter, bool normalized);
void suite_skip(struct suite *s);

uint64_t suite_random(struct suite *s);
size_t suite_type_size(enum suite_type type);
float suite_half_to_float(uint16_t half);
uint16_t suite_float_to_half(float value); /* to nearest even */
uint16_t suite_double_to_half(double value);

#endif
