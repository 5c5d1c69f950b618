// SPDX-License-Identifier: GPL-3.0-or-later
// A point or vector of space.
#pragma once
#include "lanes.h"

FUNCTION vec make_vec(float x, float y, float z) { return make_four(x, y, z, 0.0f); }
FUNCTION float dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
// (dot(row[0], a), dot(row[1], a), dot(row[2], a))
FUNCTION vec rows_times(const vec *row, vec a)
{
    return sums(product(row[0], a), product(row[1], a), product(row[2], a));
}
FUNCTION float length(vec a) { return sqrtf(dot(a, a)); }
FUNCTION vec cross(vec a, vec b) { return make_vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
// Number k of the i-th vector of a table, without a branch.
FUNCTION float component(const vec *table, int i, int k) { return reinterpret_cast<const float *>(table)[4 * i + k]; }

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
