// SPDX-License-Identifier: GPL-3.0-or-later
// Continuous collision detection with thickness: conservative advancement like the additive CCD of Li 2021 (Alg. 1),
// each step along a direction that separates the pair; and the per-vertex filter.
#pragma once
#include "separation.h"

FUNCTION void load_corners(const int *corner, const vec *x, vec p[4])
{
    vec origin = x[corner[0]];  // near points: their differences keep all digits
    for (int k = 0; k < 4; ++k) p[k] = x[corner[k]] - origin;
}

// The pair as seen from its corner 0, at the start and on the way to the end; returns its size, which bounds all
// rounding. Neither the place of the pair nor the motion that it makes as a whole counts.
FUNCTION float load_motion(const int *corner, const vec *x, const vec *x1, vec p[4], vec motion[4])
{
    vec end[4];
    load_corners(corner, x, p);
    load_corners(corner, x1, end);
    float square = 0.0f;
    for (int k = 0; k < 4; ++k) {
        motion[k] = end[k] - p[k];
        square = maximum(square, maximum(dot(p[k], p[k]), dot(end[k], end[k])));
    }
    return sqrtf(square);
}

const float FLOOR = 10.0f;  // margins to which a pair may come near in motion after motion

// Largest fraction t of the motion for which the gap stays above `offset`, or 2 when the whole motion is free.
// Along a direction n the sides' gap changes at a constant rate at worst, so n itself proves a step of 0.9 of what it
// has room for. A start nearer than `offset` keeps 95 % of what it has; below the floor, where rounding is near, no
// approach at all is allowed, and where it hides whether n separates at all, no motion but one that opens the gap for
// certain. margin: bounds the rounding of a gap and of its change; a quarter of it is twice what rounding does to a tiny
// gap at the start.
FUNCTION float additive_ccd(const vec start[4], const vec motion[4], bool edges, float offset, float size)
{
    separation now = separate(start, edges);
    float margin = ROUNDING * size, lower = now.gap - margin, rate = -gap_along(motion, edges, now.normal);
    if (lower <= 0.0f) return now.gap > 0.25f * margin && rate < -margin ? 2.0f : 0.0f;
    if (rate <= 0.0f) return 2.0f;
    if (lower < minimum(0.2f * offset, FLOOR * margin)) return 0.0f;
    offset = minimum(offset, 0.95f * lower);
    float room = lower - offset, close = 0.1f * room, t = 0.0f;
    for (int round = 0; round < 256 && room >= close; ++round) {
        if (rate * (1.0f - t) <= room) return 2.0f;
        t += 0.9f * room / rate;
        vec p[4];
        for (int k = 0; k < 4; ++k) p[k] = start[k] + t * motion[k];
        now = separate(p, edges);
        room = now.gap - margin - offset;
        rate = -gap_along(motion, edges, now.normal);
    }
    return t;
}

FUNCTION bool at_rest(const int *corner, const vec *x, const vec *x1)
{
    for (int k = 0; k < 4; ++k) {
        vec a = x[corner[k]], b = x1[corner[k]];
        if (a.x != b.x || a.y != b.y || a.z != b.z) return false;
    }
    return true;
}

FUNCTION float impact(const int *corner, const vec *x, const vec *x1, bool edges, float offset)
{
    if (at_rest(corner, x, x1)) return 2.0f;
    vec p[4], motion[4];
    float size = load_motion(corner, x, x1, p, motion);
    return additive_ccd(p, motion, edges, offset, size);
}

// Is one of the corners marked?
FUNCTION bool any_of(const int *corner, const int *mark)
{
    return (mark[corner[0]] | mark[corner[1]] | mark[corner[2]] | mark[corner[3]]) != 0;
}

// A pair's four corners, one vector an axis: what is done to all four takes one operation.
struct corners {
    vec x, y, z;
};

FUNCTION corners corners_of(const vec p[4])
{
    corners c;
    c.x = make_four(p[0].x, p[1].x, p[2].x, p[3].x);
    c.y = make_four(p[0].y, p[1].y, p[2].y, p[3].y);
    c.z = make_four(p[0].z, p[1].z, p[2].z, p[3].z);
    return c;
}

FUNCTION vec squares(corners c) { return product(c.x, c.x) + product(c.y, c.y) + product(c.z, c.z); }
FUNCTION vec along(corners c, vec n) { return n.x * c.x + n.y * c.y + n.z * c.z; }

// The smallest gap between the two sides along n on their way; between their paths, if they are free.
FUNCTION float gap_on_the_way(vec n, corners from, corners to, bool edges, bool free)
{
    vec a = along(from, n), b = along(to, n), least = lower(a, b), most = upper(a, b);
    if (edges) {
        if (free) return minimum(least.x, least.y) - maximum(most.z, most.w);
        return minimum(minimum(a.x, a.y) - maximum(a.z, a.w), minimum(b.x, b.y) - maximum(b.z, b.w));
    }
    if (free) return least.x - maximum(most.y, maximum(most.z, most.w));
    return minimum(a.x - maximum(a.y, maximum(a.z, a.w)), b.x - maximum(b.y, maximum(b.z, b.w)));
}

// Who has to wait where a pair collides at t: the corners that come nearer to the other side, along the direction between
// the sides at that time. Bit k: corner k. 0 where the sides turn into each other and none does.
FUNCTION int approaching(const int *corner, const vec *x, const vec *taken, bool edges, float t)
{
    vec p[4], motion[4];
    load_motion(corner, x, taken, p, motion);
    for (int k = 0; k < 4; ++k) p[k] = p[k] + t * motion[k];
    vec n = separate(p, edges).normal;
    int sides = first_side(edges), mask = 0;
    for (int k = 0; k < 4; ++k)
        if (dot(n, taken[corner[k]] - x[corner[k]]) * (k < sides ? 1.0f : -1.0f) < 0.0f) mask |= 1 << k;
    return mask;
}

// Time of impact while the corners of `mask` stay at x: for how long the others need not wait for them.
FUNCTION float impact_without(const int *corner, const vec *x, const vec *taken, bool edges, float offset, int mask)
{
    vec from[4], to[4];
    const int own[4] = {0, 1, 2, 3};
    for (int k = 0; k < 4; ++k) from[k] = x[corner[k]], to[k] = mask >> k & 1 ? from[k] : taken[corner[k]];
    return impact(own, from, to, edges, offset);
}

// One round of the filter. taken: where the vertices go with the fractions so far, x + fraction · (x1 − x): CCD runs on
// exactly these positions, so the rounding of the fractions is nobody's concern.
// fraction: how much of its motion each vertex may take (bits of a float in [0, 1]). held: 1 = collider or hard pin.
// A pair that collides lowers the fraction of at least one corner that moves in `lowered`. own = 1 scales each corner's
// own fraction, which leaves this pair clean for certain. own = 0 asks only those to wait that approach, the fastest
// first; colliders and pins only for what they would hit if the cloth did not come to meet them: cloth gives way.
KERNEL void filter_pair(int i, const int *feature OF(2 * count), const int *corner OF(4 * count),
                        const vec *x OF(vertices), const vec *taken OF(vertices), const float *offset OF(count),
                        const int *held OF(vertices), const int *fraction OF(vertices), int first_round, int own,
                        float safety, int *lowered OF(vertices), int *hits OF(1))
{
    const int *c = corner + 4 * i;
    bool edges = feature[2 * i] < 0;
    float f[4], least = 1.0f;
    for (int k = 0; k < 4; ++k) f[k] = int_as_float(fraction[c[k]]), least = minimum(least, f[k]);
    if (!first_round && least >= 1.0f) return;  // as it was in the first round: clean
    float t = impact(c, x, taken, edges, offset[i]);
    if (t > 1.0f) return;
    ATOMIC_MAXIMUM(hits, 1);
    int waits = own ? 0 : approaching(c, x, taken, edges, t), cloth = 0;
    for (int k = 0; k < 4; ++k)
        if (!held[c[k]]) cloth |= waits & 1 << k;
    float most = 0.0f, other = waits == cloth ? 2.0f : impact_without(c, x, taken, edges, offset[i], cloth);
    for (int k = 0; k < 4; ++k)
        if (cloth >> k & 1) most = maximum(most, f[k]);
    for (int k = 0; k < 4; ++k) {
        if (waits != 0 && !(waits >> k & 1)) continue;
        float allowed = waits == 0 ? t * f[k] : cloth >> k & 1 ? t * most : other * f[k];
        ATOMIC_MINIMUM(lowered + c[k], float_as_int(safety * allowed));
    }
}

// A collider does not bend because one of its vertices was stopped. So this finds the smallest fraction of each collider's
// vertices that move.
KERNEL void slowest_of_collider(int v, const int *collider OF(count), const vec *x OF(count), const vec *x1 OF(count),
                                const int *fraction OF(count), int *slowest OF(colliders))
{
    vec a = x[v], b = x1[v];
    if (collider[v] >= 0 && (a.x != b.x || a.y != b.y || a.z != b.z)) ATOMIC_MINIMUM(slowest + collider[v], fraction[v]);
}

// Gives every vertex of a collider the smallest fraction, `slowest`.
KERNEL void share_fraction(int v, const int *collider OF(count), const int *slowest OF(colliders),
                           int *fraction OF(count))
{
    if (collider[v] >= 0) fraction[v] = slowest[collider[v]];
}

// Time of impact of each pair when everything moves from x to x1 with a common time parameter; 2 where nothing is hit.
KERNEL void pair_impact(int i, const int *feature OF(2 * count), const int *corner OF(4 * count),
                        const vec *x OF(vertices), const vec *x1 OF(vertices), const float *offset OF(count),
                        float *time OF(count))
{
    time[i] = impact(corner + 4 * i, x, x1, feature[2 * i] < 0, offset[i]);
}

KERNEL void pair_distance(int i, const int *feature OF(2 * count), const int *corner OF(4 * count),
                          const vec *x OF(vertices), float *distance OF(count))
{
    vec p[4];
    load_corners(corner + 4 * i, x, p);
    distance[i] = closest_points(p, feature[2 * i] < 0).distance;
}

// A certain lower bound of the distance; a little less than it, unless rounding hides the gap: then 0 or less.
KERNEL void pair_separation(int i, const int *feature OF(2 * count), const int *corner OF(4 * count),
                            const vec *x OF(vertices), float *gap OF(count))
{
    vec p[4], motion[4];
    float size = load_motion(corner + 4 * i, x, x, p, motion);
    gap[i] = separate(p, feature[2 * i] < 0).gap - ROUNDING * size;
}

// Where the vertices go with their fractions; and the fractions that a round of the filter is to lower, its hits none.
KERNEL void take_fraction(int v, const vec *x OF(count), const vec *x1 OF(count), const int *fraction OF(count),
                          vec *taken OF(count), int *lowered OF(count), int *hits OF(1))
{
    float f = int_as_float(fraction[v]);
    taken[v] = f >= 1.0f ? x1[v] : x[v] + f * (x1[v] - x[v]);
    lowered[v] = fraction[v];
    if (v == 0) hits[0] = 0;
}

KERNEL void fill_number(int i, int value, int *to OF(count))
{
    to[i] = value;
}
