// Continuous collision detection: the additive CCD of Li 2021 (Alg. 1) with thickness, and the per-vertex filter.
#pragma once
#include "distance.h"

FUNCTION void load_corners(const int *corner, const vec *x, vec p[4])
{
    vec origin = x[corner[0]];  // near points: their differences keep all digits
    for (int k = 0; k < 4; ++k) p[k] = x[corner[k]] - origin;
}

// Bound of how much the gap can shrink while the corners move by `motion` (removed mean or not): the longest path of
// each side, added.
FUNCTION float approach_bound(const vec motion[4], bool edges)
{
    float first = length(motion[0]), second = maximum(length(motion[2]), length(motion[3]));
    if (edges) first = maximum(first, length(motion[1]));
    else second = maximum(second, length(motion[1]));
    return first + second;
}

FUNCTION void remove_mean(vec motion[4])
{
    vec mean = 0.25f * (motion[0] + motion[1] + motion[2] + motion[3]);
    for (int k = 0; k < 4; ++k) motion[k] = motion[k] - mean;
}

// Do the sides come no nearer along their separating direction n? Then a pair that already touches may move freely.
FUNCTION bool separating(const vec p[4], const vec motion[4], bool edges, closest now)
{
    vec n = direction(gap_vector(p, now.weight), make_vec(0.0f, 0.0f, 0.0f));
    if (dot(n, n) == 0.0f) return false;
    int sides = first_side(edges);
    float first = 0.0f, second = 0.0f;  // largest move of a corner against the gap
    for (int k = 0; k < 4; ++k) {
        float along = dot(n, motion[k]);
        if (k < sides) first = maximum(first, -along);
        else second = maximum(second, along);
    }
    return first + second <= 0.0f;
}

// Largest fraction t of the motion for which the gap provably stays above `offset`, or 2 when the whole motion is free.
// Conservative advancement: in each round the gap can shrink by at most the remaining path, so a step of 0.9 of
// (distance − offset) / bound cannot cross. A start nearer than `offset` keeps 95 % of what it has; below 0.2 offset
// (the floor, where float32 normals cannot be trusted) no approach at all is allowed.
FUNCTION float additive_ccd(const vec start[4], const vec moved[4], bool edges, float offset)
{
    vec p[4], motion[4];
    for (int k = 0; k < 4; ++k) p[k] = start[k], motion[k] = moved[k];
    closest now = closest_points(p, edges);
    if (now.distance < 0.2f * offset) return separating(p, motion, edges, now) ? 2.0f : 0.0f;
    remove_mean(motion);
    float bound = approach_bound(motion, edges);
    offset = minimum(offset, 0.95f * now.distance);
    float room = now.distance - offset;
    if (bound <= room) return 2.0f;
    float close = 0.1f * room, t = 0.0f, step = 0.9f * room / bound;
    for (int round = 0; round < 256; ++round) {
        if (t + step >= 1.0f) return 2.0f;
        for (int k = 0; k < 4; ++k) p[k] = start[k] + (t + step) * motion[k];
        room = closest_points(p, edges).distance - offset;
        if (room < close) return t > 0.0f ? t : 0.5f * step;
        t += step;
        step = 0.9f * room / bound;
    }
    return t;
}

// Are the boxes that the two sides sweep farther apart than `reach`? A cheap way out before the exact distance.
FUNCTION bool sweeps_apart(const vec p[4], const vec moved[4], bool edges, float reach)
{
    vec low[2], high[2];
    int sides = first_side(edges);
    for (int k = 0; k < 4; ++k) {
        vec least = lower(p[k], p[k] + moved[k]), most = upper(p[k], p[k] + moved[k]);
        int side = k < sides ? 0 : 1;
        bool opens = k == 0 || k == sides;
        low[side] = opens ? least : lower(low[side], least);
        high[side] = opens ? most : upper(high[side], most);
    }
    vec a = low[0] - high[1], b = low[1] - high[0];
    return maximum(maximum(maximum(a.x, b.x), maximum(a.y, b.y)), maximum(a.z, b.z)) > reach;
}

// 1 for a candidate that can matter in the motion from x to x1 whatever fraction of it each vertex takes: then the
// absolute paths count, not the relative ones.
KERNEL void candidate_reach(int i, const int *feature, const int *corner, const vec *x, const vec *x1, float reach,
                            int *matters)
{
    const int *c = corner + 4 * i;
    bool edges = feature[2 * i] < 0;
    vec p[4], motion[4];
    load_corners(c, x, p);
    for (int k = 0; k < 4; ++k) motion[k] = x1[c[k]] - x[c[k]];
    matters[i] = !sweeps_apart(p, motion, edges, reach) &&
                 closest_points(p, edges).distance <= approach_bound(motion, edges) + reach;
}

// One round of the filter. fraction: how much of its motion each vertex may take (bits of a float in [0, 1]).
// A pair that collides lowers the fractions of its corners in `lowered`; own = 1 scales each corner's own fraction,
// which leaves this pair clean for certain; own = 0 lowers the fastest corners first, which freezes less.
KERNEL void filter_pair(int i, const int *feature, const int *corner, const vec *x, const vec *x1, const float *offset,
                        const int *fraction, int first_round, int own, float safety, int *lowered, int *hits)
{
    const int *c = corner + 4 * i;
    float f[4], most = 0.0f, least = 1.0f;
    for (int k = 0; k < 4; ++k) {
        f[k] = int_as_float(fraction[c[k]]);
        most = maximum(most, f[k]), least = minimum(least, f[k]);
    }
    if (!first_round && least >= 1.0f) return;  // as it was in the first round: clean
    vec p[4], motion[4];
    load_corners(c, x, p);
    for (int k = 0; k < 4; ++k) motion[k] = f[k] * (x1[c[k]] - x[c[k]]);
    float t = additive_ccd(p, motion, feature[2 * i] < 0, offset[i]);
    if (t > 1.0f) return;
    ATOMIC_MAXIMUM(hits, 1);
    for (int k = 0; k < 4; ++k)
        ATOMIC_MINIMUM(lowered + c[k], float_as_int(safety * t * (own ? f[k] : most)));
}

// Time of impact of each pair when everything moves from x to x1 at one pace; 2 where nothing is hit.
KERNEL void pair_impact(int i, const int *feature, const int *corner, const vec *x, const vec *x1, const float *offset,
                        float *time)
{
    const int *c = corner + 4 * i;
    vec p[4], motion[4];
    load_corners(c, x, p);
    for (int k = 0; k < 4; ++k) motion[k] = x1[c[k]] - x[c[k]];
    time[i] = additive_ccd(p, motion, feature[2 * i] < 0, offset[i]);
}

KERNEL void pair_distance(int i, const int *feature, const int *corner, const vec *x, float *distance)
{
    vec p[4];
    load_corners(corner + 4 * i, x, p);
    distance[i] = closest_points(p, feature[2 * i] < 0).distance;
}

KERNEL void take_fraction(int v, const vec *x, const vec *x1, const int *fraction, vec *taken)
{
    float f = int_as_float(fraction[v]);
    taken[v] = f >= 1.0f ? x1[v] : x[v] + f * (x1[v] - x[v]);
}
