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
    bool is_image; /* what image number `image` holds after the launch */
    size_t image;
    double ulps;        /* 0: the same bits, or both NaN */
    double absolute;    /* a difference up to this is right in any case */
    double oracle_ulps; /* how much further PoCL's may be */
    size_t ignored, ignored_count;
    bool without_alpha; /* of four channels the last may be anything */
};

/* What stands in an argument: to launch a stage with, and to run the same elsewhere. */
struct suite_arg {
    enum { SUITE_VALUE, SUITE_LOCAL, SUITE_BUFFER, SUITE_IMAGE, SUITE_SAMPLER } kind;
    size_t size_B;
    uint8_t value[128]; /* SUITE_VALUE */
    size_t index;       /* of the buffer, image or sampler */
};

/* A launch before the case's own. */
struct suite_stage {
    const char *kernel;
    uint32_t groups[3], local[3];
    struct suite_arg args[12];
    uint32_t arg_count;
};

struct suite_image {
    ze_image_handle_t handle;   /* NULL: refused */
    void *memory;               /* of an image of a buffer, where the driver asks for it */
    ze_image_handle_t views[2]; /* of planes */
    ze_image_desc_t desc;
    void *pixels; /* what it holds before the launch, rows without gaps */
    size_t size_B;
};

enum { SUITE_MAX_BUFFERS = 24, SUITE_MAX_ARGS = 40, SUITE_MAX_STAGES = 80 };

struct suite {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    ze_command_list_handle_t list; /* immediate, synchronous */
    ze_module_handle_t module;
    ze_module_handle_t other;        /* the same once more, for calls between modules; NULL: none */
    ze_kernel_handle_t kernel;       /* of the case */
    const char *variant, *on_device; /* the second with the device's name, where it has one */
    bool doubles, simd8, has_images; /* the device has them */

    /* of the launch */
    uint32_t groups[3], local[3], items[3];
    uint32_t offset[3]; /* of global ids: a case may set it */
    uint32_t n;         /* all items */
    uint32_t simd;      /* the kernel's */
    uint32_t turn;      /* of the case, from 0: suite_case's turns */
    uint32_t arg_count;

    double low, high;  /* range of random floats, see suite_range */
    bool special;      /* random floats have infinities, NaN, denormals among them */
    uint64_t int_mask; /* of random integers of any width; 0: all bits */
    uint64_t random;   /* state */
    char *text; /* what the kernel should print, line by line in any order; NULL: not looked at */
    size_t text_size_B, text_room_B;
    size_t least_lines, most_lines; /* not 0: it prints only so many of those lines */
    bool skipped;                   /* the case does not apply to this variant */
    bool cannot;                    /* something failed on the way */
    struct suite_buffer buffers[SUITE_MAX_BUFFERS];
    size_t buffer_count;
    struct suite_image images[8];
    size_t image_count;
    struct {
        ze_sampler_handle_t handle;
        ze_sampler_desc_t desc;
    } samplers[8];
    size_t sampler_count;
    struct suite_arg args[SUITE_MAX_ARGS];
    struct suite_stage stages[SUITE_MAX_STAGES];
    size_t stage_count;

    struct suite_digest *digest; /* NULL: none; see digest.c */
    struct suite_oracle *oracle; /* NULL: none; see oracle.h */
    size_t oracle_ran, oracle_could_not;
    void *huge;
};

struct suite_case {
    const char *kernel;
    void (*prepare)(struct suite *s);
    const struct suite_shape *shapes; /* NULL: suite_shapes_1d; ends with all zeros */
    const char *not_in; /* [DEVICE:]VARIANTs that cannot build or run it, blank-separated */
    uint32_t turns;     /* each shape is run so often; 0 stands for 1 */
};

struct suite_group {
    const char *name; /* of the .cl file too */
    const struct suite_case *cases;
    size_t count;
    /* Kernels that are not compared with PoCL, blank-separated: the group says why. */
    const char *not_on_pocl;
    /* Kernels of devices that have doubles, sub-groups of eight, none of them, images;
     * blank-separated. */
    const char *doubles, *simd8, *no_simd8, *images;
    /* [igc2:][DEVICE:][VARIANT:]KERNELs that cannot be right there, blank-separated: the group
     * says why. */
    const char *not_in;
};

extern const struct suite_shape suite_shapes_1d[], suite_shapes_2d[], suite_shapes_3d[];
/* One work-group of several sizes; groups of 64 items, for kernels that use a fixed size. */
extern const struct suite_shape suite_shapes_group64[];

extern const struct suite_group suite_arith, suite_extremes, suite_real, suite_half, suite_wide;
extern const struct suite_group suite_floatatomic, suite_lsc, suite_localblock, suite_bindless;
extern const struct suite_group suite_flow, suite_memory, suite_sync, suite_subgroup;
extern const struct suite_group suite_shape, suite_pointers, suite_sycl;
extern const struct suite_group suite_program, suite_data;
extern const struct suite_group suite_image, suite_printf;
extern const struct suite_group suite_joint8[4], suite_joint16[4]; /* by lanes */
extern const struct suite_group suite_matrix, suite_dot, suite_xehpc,
    suite_xe3p; /* of some devices */

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
/* Elements that depend on the order of things are not compared. */
void suite_ignore(struct suite *s, const void *expected, size_t first, size_t count);
/* The device's address of a buffer. */
void *suite_device(struct suite *s, const void *expected);
void suite_value(struct suite *s, size_t size_B, const void *value);
void suite_int(struct suite *s, int32_t value);
void suite_float(struct suite *s, float value);
void suite_local(struct suite *s, size_t size_B);
void suite_null(struct suite *s);
/* Memory of zeros for the kernel alone, of any size. */
void suite_huge(struct suite *s, size_t size_B);
/* pixels: all of them, rows without gaps. */
void suite_image_arg(struct suite *s, const ze_image_desc_t *desc, const void *pixels);
/* An image that the kernel writes, read back as so many values; starts as what a buffer does. */
void *suite_image_out(struct suite *s, const ze_image_desc_t *desc, enum suite_type type,
                      size_t count, double ulps);
/* What the last image holds before the launch. */
void suite_image_start(struct suite *s, const void *pixels);
/* Bytes of a texel of the format. */
size_t suite_texel_size(const ze_image_desc_t *desc);
void suite_sampler_arg(struct suite *s, ze_sampler_address_mode_t address,
                       ze_sampler_filter_mode_t filter, bool normalized);
void suite_skip(struct suite *s);
/* A buffer that is no argument of the case's kernel, and is not compared: for stages. */
void *suite_extra(struct suite *s, enum suite_type type, size_t count);
/* Kernels of the group that run before the case's own, in this order. */
struct suite_stage *suite_stage(struct suite *s, const char *kernel, uint32_t groups,
                                uint32_t local);
void suite_stage_buffer(struct suite *s, struct suite_stage *stage, const void *expected);
void suite_stage_int(struct suite_stage *stage, uint32_t value);
/* Expect this on standard output, too. */
__attribute__((format(printf, 2, 3))) void suite_text(struct suite *s, const char *format, ...);
void suite_stage_local(struct suite_stage *stage, size_t size_B);

uint64_t suite_random(struct suite *s);
size_t suite_type_size(enum suite_type type);
float suite_half_to_float(uint16_t half);
uint16_t suite_float_to_half(float value); /* to nearest even */
uint16_t suite_double_to_half(double value);

#endif
