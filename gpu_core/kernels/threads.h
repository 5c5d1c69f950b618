// SPDX-License-Identifier: GPL-3.0-or-later
// Threads between two vertices each, which only pull (docs/theory/sewing.md): those of seams grow shorter until the vertices
// meet, cords stay.
#pragma once
#include "vector.h"

const float ALL_BUT_TAUT = 0.99f;  // share of its length from which a cord counts as taut in Newton's matrix

// How long a thread may be after `seconds`: from its length at the start to `closed` in its `duration`, gently at both ends.
KERNEL void thread_length(int i, const float *open OF(count), const float *duration OF(count), float seconds, float closed,
                          float *longest OF(count))
{
    float t = seconds < duration[i] ? seconds / duration[i] : 1.0f;
    longest[i] = maximum(closed, open[i] * (1.0f - t * t * (3.0f - 2.0f * t)));
}

// What a thread pulls with, N: nothing while it is slack, and never more than `most`.
FUNCTION float pull_of(float length, float longest, float stiffness, float most)
{
    return minimum(stiffness * maximum(length - longest, 0.0f), most);
}

// force: on the thread's first end, N.
KERNEL void thread_force(int i, const vec *x OF(vertices), const int *ends OF(2 * count), const float *longest OF(count),
                         const float *stiffness OF(count), const float *most OF(count), vec *force OF(count))
{
    vec way = x[ends[2 * i + 1]] - x[ends[2 * i]];
    float apart = length(way);
    force[i] = apart > 0.0f ? (pull_of(apart, longest[i], stiffness[i], most[i]) / apart) * way : make_vec(0.0f, 0.0f, 0.0f);
}

// incident: 2 (thread) + end, by vertex.
KERNEL void thread_residual(int v, const int *start OF(count + 1), const int *incident OF(ends),
                            const vec *force OF(threads), vec *residual OF(count))
{
    vec sum = residual[v];
    for (int k = start[v]; k < start[v + 1]; ++k) sum = sum + (incident[k] % 2 ? -1.0f : 1.0f) * force[incident[k] / 2];
    residual[v] = sum;
}

// J: the work that a thread can still do.
KERNEL void thread_energy(int i, const vec *x OF(vertices), const int *ends OF(2 * count), const float *longest OF(count),
                          const float *stiffness OF(count), const float *most OF(count), float *energy OF(count))
{
    float slip = length(x[ends[2 * i + 1]] - x[ends[2 * i]]) - longest[i];
    float elastic = minimum(maximum(slip, 0.0f), most[i] / stiffness[i]);
    energy[i] = 0.5f * stiffness[i] * elastic * elastic + most[i] * maximum(slip - elastic, 0.0f);
}

// ∂²E/∂x_a∂x_b of a cord's ends, three rows a cord: −(k n⊗n + pull / length (1 − n⊗n)), 0 where it is slack. One that is all but
// taut counts along itself as if it were: Newton's step would else jump from slack to taut and back, and find no end.
KERNEL void cord_curvature(int i, const vec *x OF(vertices), const int *ends OF(2 * count), const float *longest OF(count),
                           const float *stiffness OF(count), const float *most OF(count), vec *blocks OF(3 * count))
{
    vec way = x[ends[2 * i + 1]] - x[ends[2 * i]];
    float apart = length(way);
    vec n = direction(way, make_vec(0.0f, 0.0f, 0.0f));
    float across = apart > longest[i] ? pull_of(apart, longest[i], stiffness[i], most[i]) / apart : 0.0f;
    float along = apart > ALL_BUT_TAUT * longest[i] ? stiffness[i] - across : 0.0f;
    blocks[3 * i] = (-along * n.x) * n, blocks[3 * i + 1] = (-along * n.y) * n, blocks[3 * i + 2] = (-along * n.z) * n;
    blocks[3 * i].x -= across, blocks[3 * i + 1].y -= across, blocks[3 * i + 2].z -= across;
}
