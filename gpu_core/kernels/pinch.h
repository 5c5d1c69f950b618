// SPDX-License-Identifier: GPL-3.0-or-later
// Cloth between two bodies that stand, or two parts of one, and leave it less room than it is thick: its thickness gives way
// (docs/theory/filter.md, "Pinched cloth"). `share`: bits of a float, how much of it a vertex keeps where that is less than all.
// What is not known of a vertex is UNKNOWN, which is larger than what is.
#pragma once
#include "candidates.h"

const float OPPOSITE = -0.5f;  // cosine between the directions of two bodies, below which cloth is between them
const float LEAST_SHARE = 0.02f;
const float STANDS = 0.001f;  // share of its range that a body may come nearer in a step: one that comes on is fled from
const float REACH = 0.3f;  // share of the activation that counts as room: within it bodies press on the cloth, and friction holds it

const int UNKNOWN = 0x7f800000;  // the bits of infinity

// An integer that is the greater the greater the value is.
FUNCTION int ordered(float value)
{
    int bits = float_as_int(value);
    return bits >= 0 ? bits : bits ^ 0x7fffffff;
}

// Is one side of the pair cloth and the other a body?
FUNCTION bool of_body(const int *c, int cloth_vertices) { return (c[0] < cloth_vertices) != (c[3] < cloth_vertices); }

// Direction from the body to the cloth, and how far apart they will be along it once the body has gone its way: `way`. nearest:
// `ordered`, the least such distance of each cloth vertex. Nothing of a pair with a body that comes on.
KERNEL void pinch_gap(int i, const int *feature OF(2 * count), const int *corner OF(4 * count), const vec *x OF(vertices),
                      const vec *x1 OF(vertices), int cloth_vertices, const float *offset OF(count),
                      const float *activation OF(count), vec *way OF(count), int *nearest OF(vertices))
{
    const int *c = corner + 4 * i;
    way[i] = make_four(0.0f, 0.0f, 0.0f, 0.0f);
    if (!of_body(c, cloth_vertices)) return;
    vec p[4], moved = make_vec(0.0f, 0.0f, 0.0f);
    load_corners(c, x, p);
    closest found = closest_points(p, feature[2 * i] < 0);
    vec n = direction(gap_vector(p, found.weight), moved);
    if (c[0] >= cloth_vertices) n = -1.0f * n;
    for (int k = 0; k < 4; ++k)
        if (c[k] >= cloth_vertices) moved = moved + fabsf(found.weight[k]) * (x1[c[k]] - x[c[k]]);
    float nearer = dot(moved, n), gap = found.distance - nearer;
    if (nearer > STANDS * (offset[i] + activation[i])) return;
    way[i] = make_four(n.x, n.y, n.z, gap);
    for (int k = 0; k < 4; ++k)
        if (c[k] < cloth_vertices) ATOMIC_MINIMUM(nearest + c[k], ordered(gap));
}

// first: which pair is the nearest of each cloth vertex; of several the first.
KERNEL void pinch_nearest(int i, const int *corner OF(4 * count), int cloth_vertices, const vec *way OF(count),
                          const int *nearest OF(vertices), int *first OF(vertices))
{
    const int *c = corner + 4 * i;
    if (!of_body(c, cloth_vertices) || dot(way[i], way[i]) == 0.0f) return;
    for (int k = 0; k < 4; ++k)
        if (c[k] < cloth_vertices && nearest[c[k]] == ordered(way[i].w)) ATOMIC_MINIMUM(first + c[k], i);
}

// What the pair and the nearest one on the other side of the cloth leave of the thickness and activation of both. Where they
// leave nothing, nothing is to be shared: a body will have to be let through.
KERNEL void pinch_share(int i, const int *corner OF(4 * count), int cloth_vertices, const vec *way OF(count),
                        const int *first OF(vertices), const float *offset OF(count), const float *activation OF(count),
                        int *share OF(vertices))
{
    const int *c = corner + 4 * i;
    if (!of_body(c, cloth_vertices) || dot(way[i], way[i]) == 0.0f) return;
    for (int k = 0; k < 4; ++k) {
        if (c[k] >= cloth_vertices) continue;
        int j = first[c[k]];
        if (dot(way[i], way[j]) >= OPPOSITE) continue;
        float wanted = offset[i] + offset[j] + REACH * (activation[i] + activation[j]);
        if (way[i].w + way[j].w <= 0.0f) continue;
        float left = clamp((way[i].w + way[j].w) / wanted, LEAST_SHARE, 1.0f);
        ATOMIC_MINIMUM(share + c[k], float_as_int(left));
    }
}

// The pairs have less of their ranges.
KERNEL void pinch_yield(int i, const int *corner OF(4 * count), const int *share OF(vertices), float *offset OF(count),
                        float *activation OF(count))
{
    float least = least_share(corner + 4 * i, share);
    offset[i] = least * offset[i], activation[i] = least * activation[i];
}
