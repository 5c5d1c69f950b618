// A point or vector of space. Four floats, so that every device loads it in one aligned access; w is unused and 0.
#pragma once
#include "compat.h"

struct alignas(16) vec {
    float x, y, z, w;
};

FUNCTION vec make_vec(float x, float y, float z)
{
    vec result;
    result.x = x, result.y = y, result.z = z, result.w = 0.0f;
    return result;
}
FUNCTION vec operator+(vec a, vec b)
{
    a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
    return a;
}
FUNCTION vec operator-(vec a, vec b)
{
    a.x -= b.x, a.y -= b.y, a.z -= b.z, a.w -= b.w;
    return a;
}
FUNCTION vec operator*(float s, vec a)
{
    a.x *= s, a.y *= s, a.z *= s, a.w *= s;
    return a;
}
FUNCTION float dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
FUNCTION float length(vec a) { return sqrtf(dot(a, a)); }
FUNCTION vec cross(vec a, vec b) { return make_vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
FUNCTION vec lower(vec a, vec b)
{
    a.x = minimum(a.x, b.x), a.y = minimum(a.y, b.y), a.z = minimum(a.z, b.z), a.w = minimum(a.w, b.w);
    return a;
}
FUNCTION vec upper(vec a, vec b)
{
    a.x = maximum(a.x, b.x), a.y = maximum(a.y, b.y), a.z = maximum(a.z, b.z), a.w = maximum(a.w, b.w);
    return a;
}

FUNCTION float component(vec a, int k) { return k == 0 ? a.x : k == 1 ? a.y : k == 2 ? a.z : a.w; }

// A unit vector along a, or `fallback` where a is too short to have a direction.
FUNCTION vec direction(vec a, vec fallback)
{
    float size = length(a);
    return size > 1e-18f ? (1.0f / size) * a : fallback;  // shorter, and its square loses digits
}
// Any unit vector at right angles to the unit vector a.
FUNCTION vec perpendicular(vec a)
{
    vec other = fabsf(a.x) < 0.9f ? make_vec(1.0f, 0.0f, 0.0f) : make_vec(0.0f, 1.0f, 0.0f);
    return direction(other - dot(other, a) * a, make_vec(0.0f, 0.0f, 1.0f));
}
