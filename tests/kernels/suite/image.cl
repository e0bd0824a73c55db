/* SPDX-License-Identifier: MIT */
#ifdef SIMD
#define KERNEL __attribute__((intel_reqd_sub_group_size(SIMD))) kernel
#else
#define KERNEL kernel
#endif
#define I get_global_id(0)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#pragma OPENCL EXTENSION cl_intel_subgroups : enable

/* Images of every type, read and written. Coordinates are int4 or float4: x, y, z; or x, layer;
 * or x, y, layer. */

#define LD(type, T, f, V, at)                                                                      \
    KERNEL void image_ld_##type##_##f(read_only T image, global const int4 *coordinates,           \
                                      global V *out)                                               \
    {                                                                                              \
        int4 c = coordinates[I];                                                                   \
        out[I] = read_image##f(image, c.at);                                                       \
    }
#define WRITE(type, T, f, V, at)                                                                   \
    KERNEL void image_write_##type##_##f(write_only T image, global const int4 *coordinates,       \
                                         global const V *in)                                       \
    {                                                                                              \
        int4 c = coordinates[I];                                                                   \
        write_image##f(image, c.at, in[I]);                                                        \
    }
#define BOTH(type, T, f, V, at)                                                                    \
    KERNEL void image_both_##type##_##f(read_write T image, global const int4 *coordinates)        \
    {                                                                                              \
        int4 c = coordinates[I];                                                                   \
        V v = read_image##f(image, c.at);                                                          \
        write_image##f(image, c.at, v.wzyx);                                                       \
    }
#define SAMPLE(type, T, f, V, at)                                                                  \
    KERNEL void image_sample_##type##_##f(read_only T image, sampler_t sampler,                    \
                                          global const float4 *coordinates, global V *out)         \
    {                                                                                              \
        float4 c = coordinates[I];                                                                 \
        out[I] = read_image##f(image, sampler, c.at);                                              \
    }
#define WHOLE(type, T, f, V, at)                                                                   \
    KERNEL void image_whole_##type##_##f(read_only T image, sampler_t sampler,                     \
                                         global const int4 *coordinates, global V *out)            \
    {                                                                                              \
        int4 c = coordinates[I];                                                                   \
        out[I] = read_image##f(image, sampler, c.at);                                              \
    }
#define ALL(M, type, T, at)                                                                        \
    M(type, T, f, float4, at) M(type, T, i, int4, at) M(type, T, ui, uint4, at)

ALL(LD, 1d, image1d_t, x)
ALL(LD, 1d_array, image1d_array_t, xy)
ALL(LD, 2d, image2d_t, xy)
ALL(LD, 2d_array, image2d_array_t, xyzw)
ALL(LD, 3d, image3d_t, xyzw)
ALL(LD, buffer, image1d_buffer_t, x)
ALL(WRITE, 1d, image1d_t, x)
ALL(WRITE, 1d_array, image1d_array_t, xy)
ALL(WRITE, 2d, image2d_t, xy)
ALL(WRITE, 2d_array, image2d_array_t, xyzw)
ALL(WRITE, 3d, image3d_t, xyzw)
ALL(WRITE, buffer, image1d_buffer_t, x)
ALL(BOTH, 2d, image2d_t, xy)
BOTH(1d, image1d_t, f, float4, x)
BOTH(1d_array, image1d_array_t, i, int4, xy)
BOTH(2d_array, image2d_array_t, ui, uint4, xyzw)
BOTH(3d, image3d_t, f, float4, xyzw)
BOTH(buffer, image1d_buffer_t, i, int4, x)
ALL(SAMPLE, 2d, image2d_t, xy)
SAMPLE(1d, image1d_t, f, float4, x)
SAMPLE(1d_array, image1d_array_t, f, float4, xy)
SAMPLE(2d_array, image2d_array_t, f, float4, xyzw)
SAMPLE(3d, image3d_t, f, float4, xyzw)
SAMPLE(1d, image1d_t, ui, uint4, x)
SAMPLE(1d_array, image1d_array_t, i, int4, xy)
SAMPLE(2d_array, image2d_array_t, ui, uint4, xyzw)
SAMPLE(3d, image3d_t, i, int4, xyzw)
ALL(WHOLE, 2d, image2d_t, xy)
WHOLE(1d, image1d_t, f, float4, x)
WHOLE(1d_array, image1d_array_t, ui, uint4, xy)
WHOLE(2d_array, image2d_array_t, f, float4, xyzw)
WHOLE(3d, image3d_t, i, int4, xyzw)

KERNEL void image_facts(read_only image1d_t a, read_only image1d_array_t b, read_only image2d_t c,
                        read_only image2d_array_t d, read_only image3d_t e,
                        write_only image1d_buffer_t f, write_only image2d_t g, global int *out)
{
    out[0] = get_image_width(a);
    out[1] = get_image_width(b);
    out[2] = (int)get_image_array_size(b);
    out[3] = get_image_width(c);
    out[4] = get_image_height(c);
    out[5] = get_image_dim(c).y;
    out[6] = get_image_width(d);
    out[7] = get_image_height(d);
    out[8] = (int)get_image_array_size(d);
    out[9] = get_image_width(e);
    out[10] = get_image_height(e);
    out[11] = get_image_depth(e);
    out[12] = get_image_dim(e).z;
    out[13] = get_image_width(f);
    out[14] = get_image_width(g) * get_image_height(g);
    out[15] = get_image_channel_data_type(a) - CLK_FLOAT;
    out[16] = get_image_channel_order(a) - CLK_R;
    out[17] = get_image_channel_data_type(b) - CLK_UNORM_INT8;
    out[18] = get_image_channel_order(b) - CLK_RGBA;
    out[19] = get_image_channel_data_type(c) - CLK_HALF_FLOAT;
    out[20] = get_image_channel_order(c) - CLK_RG;
    out[21] = get_image_channel_data_type(d) - CLK_SIGNED_INT16;
    out[22] = get_image_channel_data_type(e) - CLK_UNSIGNED_INT32;
    out[23] = get_image_channel_data_type(f) - CLK_SNORM_INT8;
    out[24] = get_image_channel_order(g) - CLK_BGRA;
}

constant sampler_t near_edge =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t near_border =
    CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t smooth_repeat =
    CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
constant sampler_t smooth_mirror =
    CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;

KERNEL void image_inline(read_only image2d_t image, global const float4 *coordinates,
                         global float4 *out)
{
    float4 c = coordinates[I];
    float2 whole = (float2)(get_image_width(image), get_image_height(image));
    out[4 * I] = read_imagef(image, near_edge, c.xy * whole);
    out[4 * I + 1] = read_imagef(image, near_border, c.xy);
    out[4 * I + 2] = read_imagef(image, smooth_repeat, c.xy);
    out[4 * I + 3] = read_imagef(image, smooth_mirror, c.xy);
}

#ifndef POCL /* it knows neither depth nor halves nor levels */
KERNEL void image_depth(read_only image2d_depth_t image, sampler_t sampler,
                        global const float4 *coordinates, global float *out)
{
    out[I] = read_imagef(image, sampler, coordinates[I].xy);
}

KERNEL void image_half(read_only image2d_t image, sampler_t sampler,
                       global const float4 *coordinates, global half4 *out)
{
    out[I] = read_imageh(image, sampler, coordinates[I].xy);
}

KERNEL void image_half_write(write_only image2d_t image, global const int4 *coordinates,
                             global const half4 *in)
{
    write_imageh(image, coordinates[I].xy, in[I]);
}

/* Levels of detail of images that have one level. */
#define GRADIENT(type, T, f, V, at, along)                                                         \
    KERNEL void image_gradient_##type##_##f(read_only T image, sampler_t sampler,                  \
                                            global const float4 *coordinates, global V *out)       \
    {                                                                                              \
        float4 c = coordinates[I];                                                                 \
        out[I] = read_image##f(image, sampler, c.at, (c * 0.5f).along, (c + 1.0f).along);          \
    }
#define LOD(type, T, f, V, at)                                                                     \
    KERNEL void image_lod_##type##_##f(read_only T image, sampler_t sampler,                       \
                                       global const float4 *coordinates, global V *out)            \
    {                                                                                              \
        float4 c = coordinates[I];                                                                 \
        out[I] = read_image##f(image, sampler, c.at, c.w);                                         \
    }
GRADIENT(1d, image1d_t, f, float4, x, x)
GRADIENT(1d_array, image1d_array_t, i, int4, xy, x)
GRADIENT(2d, image2d_t, f, float4, xy, xy)
#ifndef NO_GRADIENT_OF_UINTS /* IGC 2.40 lacks the function */
GRADIENT(2d_array, image2d_array_t, ui, uint4, xyzw, xy)
#endif
GRADIENT(3d, image3d_t, f, float4, xyzw, xyzw)
LOD(1d, image1d_t, f, float4, x)
LOD(1d_array, image1d_array_t, i, int4, xy)
LOD(2d, image2d_t, f, float4, xy)
LOD(2d_array, image2d_array_t, ui, uint4, xyzw)
LOD(3d, image3d_t, f, float4, xyzw)
#endif

#if defined(cl_intel_subgroups) && (!defined(SIMD) || SIMD < 32)
/* A sub-group reads a block of an image and writes it elsewhere. */
KERNEL void image_block(read_only image2d_t in, write_only image2d_t out)
{
    int x = 4 * (get_group_id(0) * get_local_size(0) + get_sub_group_id() * get_max_sub_group_size());
    intel_sub_group_block_write4(out, (int2)(x, 0), intel_sub_group_block_read4(in, (int2)(x, 3)));
    uint2 two = intel_sub_group_block_read2(in, (int2)(x, 1));
    intel_sub_group_block_write2(out, (int2)(x, 5), two + 1u);
    intel_sub_group_block_write(out, (int2)(x, 8), intel_sub_group_block_read(in, (int2)(x, 7)));
}
#endif
