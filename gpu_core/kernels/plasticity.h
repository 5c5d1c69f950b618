// SPDX-License-Identifier: GPL-3.0-or-later
// What a triangle has taken on for good: F = [x1−x0, x2−x0] D⁻¹ P, P of what it was stretched by beyond what springs back.
#pragma once
#include "membrane.h"

KERNEL void rest_after_yield(int t, const vec *elastic OF(count), const vec *taken OF(count), vec *rest_inverse OF(count))
{
    vec d = elastic[t], p = taken[t];
    rest_inverse[t] = make_four(d.x * p.x + d.y * p.z, d.x * p.y + d.y * p.w, d.z * p.x + d.w * p.z, d.z * p.y + d.w * p.w);
}

// P ← P A, A the symmetric matrix that leaves of every singular value of F at most 1 + most. Cloth that is pressed together
// buckles: nothing is taken on there. most: 0 where all springs back. rest_inverse: D⁻¹ P.
KERNEL void membrane_yield(int t, const vec *x OF(vertices), const int *corners OF(3 * count),
                           const vec *rest_inverse OF(count), const float *most OF(count), vec *taken OF(count))
{
    if (most[t] <= 0.0f) return;
    vec f1, f2;
    deformation_gradient(t, x, corners, rest_inverse[t], &f1, &f2);
    float a = dot(f1, f1), b = dot(f1, f2), c = dot(f2, f2), root = length(cross(f1, f2));
    float sum = sqrtf(a + c + 2.0f * root), half = 0.5f * sum, spread = sqrtf(maximum(half * half - root, 0.0f));
    float large = half + spread, small = half - spread, limit = 1.0f + most[t];
    if (large <= limit) return;
    float kept_large = limit / large, kept_small = small > limit ? limit / small : 1.0f;
    float slope = spread > 1e-6f * half ? (kept_large - kept_small) / (large - small) : 0.0f;
    float base = kept_large - slope * large;  // A = base I + slope S, S the root of FᵀF
    float a11 = base + slope * (a + root) / sum, a12 = slope * b / sum, a22 = base + slope * (c + root) / sum;
    vec p = taken[t];
    taken[t] = make_four(p.x * a11 + p.y * a12, p.x * a12 + p.y * a22, p.z * a11 + p.w * a12, p.z * a12 + p.w * a22);
}
