// SPDX-License-Identifier: GPL-3.0-or-later
// Threads between two vertices each, which only pull (docs/theory/sewing.md): those of seams grow shorter until the vertices
// meet, cords stay.
#pragma once
#include "chunked.h"

const float ALL_BUT_TAUT = 0.99f;  // share of its length from which a cord counts as taut in Newton's matrix
const float BETTER = 1e-3f;        // by which a shorter share of an increment must be better

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

// What Newton's matrix has of a cord: along it and across it, N/m. One that is all but taut counts along itself as if it were:
// Newton's step would else jump from slack to taut and back, and find no end.
FUNCTION void cord_stiffness(float apart, float longest, float stiffness, float most, float *along, float *across)
{
    *across = apart > longest ? pull_of(apart, longest, stiffness, most) / apart : 0.0f;
    *along = apart > ALL_BUT_TAUT * longest ? stiffness - *across : 0.0f;
}

// ∂²E/∂x_a∂x_b of a cord's ends, three rows a cord: −(k n⊗n + pull / length (1 − n⊗n)), 0 where it is slack.
KERNEL void cord_curvature(int i, const vec *x OF(vertices), const int *ends OF(2 * count), const float *longest OF(count),
                           const float *stiffness OF(count), const float *most OF(count), vec *blocks OF(3 * count))
{
    vec way = x[ends[2 * i + 1]] - x[ends[2 * i]];
    float along, across;
    cord_stiffness(length(way), longest[i], stiffness[i], most[i], &along, &across);
    vec n = direction(way, make_vec(0.0f, 0.0f, 0.0f));
    blocks[3 * i] = (-along * n.x) * n, blocks[3 * i + 1] = (-along * n.y) * n, blocks[3 * i + 2] = (-along * n.z) * n;
    blocks[3 * i].x -= across, blocks[3 * i + 1].y -= across, blocks[3 * i + 2].z -= across;
}

// By how much more than Newton's matrix has it a cord's energy changes on 1, 1/2, 1/4, … of an increment, J: those of the first
// share, then those of the second, each with room for more.
KERNEL void cord_surprise(int i, const vec *x OF(vertices), const vec *increment OF(cloth), const int *ends OF(2 * count),
                          const float *longest OF(count), const float *stiffness OF(count), const float *most OF(count),
                          int shares, int room, float *surprise OF(shares * room))
{
    vec way = x[ends[2 * i + 1]] - x[ends[2 * i]], turn = increment[ends[2 * i + 1]] - increment[ends[2 * i]];
    float apart = length(way), along, across;
    cord_stiffness(apart, longest[i], stiffness[i], most[i], &along, &across);
    vec n = direction(way, make_vec(0.0f, 0.0f, 0.0f));
    float drawn = dot(turn, n), pull = pull_of(apart, longest[i], stiffness[i], most[i]);
    float curvature = along * drawn * drawn + across * dot(turn, turn), share = 1.0f;
    float stretched = maximum(apart - longest[i], 0.0f);
    for (int k = 0; k < shares; ++k, share *= 0.5f)
    {
        vec there = way + share * turn;
        // a difference of two lengths, without that of two roots
        float longer = share * dot(way + there, turn) / maximum(apart + length(there), 1e-18f);
        float now = maximum(apart - longest[i] + longer, 0.0f);
        surprise[k * room + i] = 0.5f * stiffness[i] * (now - stretched) * (now + stretched) - share * pull * drawn
            - 0.5f * share * share * curvature;
    }
}

// The share of an increment that lowers the energy most: on t of it by (t − t²/2) r·Δx, less what surprises, of which there are
// `chunks` sums a share. scalar: conjugate_gradient.h.
KERNEL void increment_share(int element, const float *surprise OF(shares * chunks), int shares, int chunks,
                            const float *scalar OF(count + 8), float *share OF(count))
{
    float least = 0.0f, tried = 1.0f, best = 0.0f;
    for (int k = 0; k < shares; ++k, tried *= 0.5f)
    {
        float energy = scalar[element + 8] * tried * (0.5f * tried - 1.0f) + total(surprise + k * chunks, chunks);
        if (best == 0.0f ? energy < 0.0f || k == shares - 1 : energy < (1.0f + BETTER) * least) least = energy, best = tried;
    }
    share[element] = best;
}
