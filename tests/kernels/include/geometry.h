#ifndef GEOMETRY_H
#define GEOMETRY_H

float length_squared(float4 v)
{
    return v.x * v.x + v.y * v.y + v.z * v.z;
}

float4 unit(float4 v)
{
    return v * rsqrt(length_squared(v));
}

#endif
