/* Shared by the kernel and the host program, which checks the kernel's results with it. */
#ifndef GRAVITY_H
#define GRAVITY_H

#define BODIES    256
#define TIME_STEP 0.01f
#define SOFTENING 0.05f

#ifdef __OPENCL_VERSION__
/* What a body of mass `there.w` at `there` does to one at `here`: an acceleration. */
inline float3 pull(float4 here, float4 there)
{
    float3 way = there.xyz - here.xyz;
    float distance2 = dot(way, way) + SOFTENING * SOFTENING;
    float inverse = native_rsqrt(distance2);
    return way * (there.w * inverse * inverse * inverse);
}
#endif

#endif
