// Images of several kinds, a sampler argument, inline samplers.
__constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t smooth =
    CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_MIRRORED_REPEAT | CLK_FILTER_LINEAR;

__kernel void resample(__read_only image2d_t in, __write_only image2d_t out, sampler_t sampler,
                       float2 step)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 a = read_imagef(in, sampler, (float2)(at.x, at.y) * step);
    float4 b = read_imagef(in, nearest, at);
    float4 c = read_imagef(in, smooth, (float2)(at.x, at.y) * step);
    write_imagef(out, at, a + b + c);
}

__kernel void image_facts(__read_only image3d_t volume, __read_only image2d_array_t layers,
                          __read_only image1d_buffer_t line, __global int *out)
{
    out[0] = get_image_width(volume);
    out[1] = get_image_height(volume);
    out[2] = get_image_depth(volume);
    out[3] = (int)get_image_array_size(layers);
    out[4] = get_image_channel_order(volume);
    out[5] = get_image_channel_data_type(volume);
    out[6] = read_imagei(line, (int)get_global_id(0)).x;
}

// pvc has no samplers: images without them
__kernel void copy_image(__read_only image2d_t in, __write_only image2d_t out)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imageui(out, at, read_imageui(in, at));
}
