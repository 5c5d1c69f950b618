// SPDX-License-Identifier: GPL-3.0-or-later
// How far apart the two sides of a pair are, for certain: what the guarantee trusts (docs/theory/float32.md).
//
// For any unit vector n the distance is at least the gap of the sides' extents along n (weak duality). So neither the
// closest points nor n need be accurate: rounding there only makes the bound smaller. What must be trusted is a dot
// product of each corner, whose error is a few roundings of the pair's size, whatever the shapes.
#pragma once
#include "distance.h"

// Bound of all rounding between the corners' coordinates and a gap along n, or its change over the whole motion, per
// size of the pair: 64 unit roundoffs, of which the derivation needs 56.
const float ROUNDING = 3.814697265625e-6f;  // 2^-18

struct separation {
    vec normal;  // unit, from the second side to the first; 0 where the sides touch
    float gap;   // of the sides along it
};

// Gap of the sides' extents along n: negative where n does not separate them. Of a motion: how fast that gap opens, at
// the least.
FUNCTION float gap_along(const vec p[4], bool edges, vec n)
{
    float a = dot(n, p[0]), b = dot(n, p[1]), c = dot(n, p[2]), d = dot(n, p[3]);
    return edges ? minimum(a, b) - maximum(c, d) : a - maximum(b, maximum(c, d));
}

FUNCTION void widen(separation *best, const vec p[4], bool edges, vec along)
{
    vec n = direction(along, make_vec(0.0f, 0.0f, 0.0f));
    float gap = gap_along(p, edges, n);
    if (gap > best->gap) best->normal = n, best->gap = gap;
}

// The normal of the triangle, from its two shorter edges, or of both edges.
FUNCTION vec common_normal(const vec p[4], bool edges)
{
    if (edges) return cross(p[1] - p[0], p[3] - p[2]);
    vec ab = p[2] - p[1], bc = p[3] - p[2], ca = p[1] - p[3];
    float c = dot(ab, ab), a = dot(bc, bc), b = dot(ca, ca);
    return c >= a && c >= b ? cross(bc, ca) : a >= b ? cross(ca, ab) : cross(ab, bc);
}

FUNCTION vec without(vec a, vec edge)
{
    float square = dot(edge, edge);
    return square > 0.0f ? a - (dot(a, edge) / square) * edge : a;
}

// Where the sides are much larger than their gap, the rounding of the gap vector tilts it by more than they can bear.
// Directions that are at right angles to edges by construction: the gap vector without its part along each edge, and
// without that along all edges that the closest points lie on; and the common normal.
FUNCTION void straighten(separation *best, const vec p[4], bool edges, const float weight[4], vec gap)
{
    vec straight = gap;
    int sides = first_side(edges);
    for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j) {
            if ((i < sides) != (j < sides)) continue;
            widen(best, p, edges, without(gap, p[j] - p[i]));
            if (weight[i] != 0.0f && weight[j] != 0.0f) straight = without(straight, p[j] - p[i]);
        }
    widen(best, p, edges, straight);
    vec normal = common_normal(p, edges);
    widen(best, p, edges, dot(normal, gap) < 0.0f ? -1.0f * normal : normal);
}

// A direction that separates the sides about as far as they are apart. p: relative to a corner.
FUNCTION separation separate(const vec p[4], bool edges)
{
    closest now = closest_points(p, edges);
    vec gap = gap_vector(p, now.weight);
    separation best;
    best.normal = direction(gap, make_vec(0.0f, 0.0f, 0.0f));
    best.gap = gap_along(p, edges, best.normal);
    if (best.gap < 0.98f * now.distance) straighten(&best, p, edges, now.weight, gap);
    return best;
}
