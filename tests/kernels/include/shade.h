#ifndef SHADE_H
#define SHADE_H

#include "geometry.h"

float shade(float4 point, float4 light)
{
    float facing = dot(unit(point), unit(light));
    return facing > 0.0f ? facing : 0.0f;
}

#endif
