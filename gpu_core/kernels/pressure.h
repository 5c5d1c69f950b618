// SPDX-License-Identifier: GPL-3.0-or-later
// Pressure in closed cloth (docs/theory/shape.md): the force p ∂V/∂x of every island, V the volume that it encloses. A hole is
// closed by a cone from its rim to the rim's middle, so V is the same wherever the origin is, and no force has a sum.
#pragma once
#include "vector.h"

// The middle of a rim's corners and twice the area of its cone, as a vector out of the island. ends: (2 per rim edge) in the
// order in which its triangle has them; the cone's triangle runs back: second, first, middle.
KERNEL void rim_middle(int rim, const vec *x OF(vertices), const int *rim_start OF(count + 1), const int *ends OF(2 * edges),
                       vec *middle OF(count), vec *cone OF(count))
{
    vec sum = make_vec(0.0f, 0.0f, 0.0f), origin = x[ends[2 * rim_start[rim]]], area = sum;
    for (int e = rim_start[rim]; e < rim_start[rim + 1]; ++e) sum = sum + (x[ends[2 * e]] - origin);
    vec centre = origin + (1.0f / (rim_start[rim + 1] - rim_start[rim])) * sum;
    for (int e = rim_start[rim]; e < rim_start[rim + 1]; ++e)
        area = area + cross(x[ends[2 * e]] - x[ends[2 * e + 1]], centre - x[ends[2 * e + 1]]);
    middle[rim] = centre, cone[rim] = area;
}

// gradient: ∂V/∂x of a vertex, m². share: (x − x₀)·∂V/∂x / 3, whose sum over an island is V, m³; x₀ is its first vertex.
// incident: 3t + corner by vertex. at_rim: 2e + side by vertex, of the rim edges that end there.
KERNEL void volume_gradient(int v, const vec *x OF(vertices), const int *corners OF(3 * triangles),
                            const int *start OF(count + 1), const int *incident OF(3 * triangles),
                            const int *at_rim_start OF(count + 1), const int *at_rim OF(sides), const int *ends OF(2 * edges),
                            const int *rim_of OF(edges), const int *rim_start OF(rims + 1), const vec *middle OF(rims),
                            const vec *cone OF(rims), const int *island OF(count), const int *first OF(islands),
                            vec *gradient OF(count), float *share OF(count))
{
    vec sum = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = start[v]; k < start[v + 1]; ++k) {
        int t = incident[k] / 3;
        vec origin = x[corners[3 * t]];
        sum = sum + cross(x[corners[3 * t + 1]] - origin, x[corners[3 * t + 2]] - origin);
    }
    for (int k = at_rim_start[v]; k < at_rim_start[v + 1]; ++k) {
        int e = at_rim[k] / 2, rim = rim_of[e];
        vec origin = x[ends[2 * e + 1]];
        sum = sum + cross(x[ends[2 * e]] - origin, middle[rim] - origin);
        if (at_rim[k] % 2 == 0) sum = sum + (1.0f / (rim_start[rim + 1] - rim_start[rim])) * cone[rim];
    }
    gradient[v] = (1.0f / 6.0f) * sum;
    share[v] = (1.0f / 3.0f) * dot(x[v] - x[first[island[v]]], gradient[v]);
}

// Sums over chunks of one island's vertices (`member`): of the volume's shares; and of the places, by area.
KERNEL void volume_partial(int chunk, const int *chunk_start OF(count + 1), const int *member OF(vertices),
                           const vec *x OF(positions), const vec *gradient OF(vertices), const float *share OF(vertices),
                           float *volume OF(count), float *area OF(count), vec *place OF(count))
{
    float sum = 0.0f, whole = 0.0f;
    vec places = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = chunk_start[chunk]; k < chunk_start[chunk + 1]; ++k) {
        int v = member[k];
        float size = length(gradient[v]);
        sum += share[v], whole += size, places = places + size * x[v];
    }
    volume[chunk] = sum, area[chunk] = whole, place[chunk] = places;
}

// What holds in an island. law: pressure that is always there, Pa; the gas's outside, Pa; the volume at which it has that
// inside too, m³ (0: there is no gas); 1 or −1, where the mesh is inside out. weight: of the fluid, ρ g, N/m³.
// state: pressure less the fluid's, Pa; −∂p/∂V, Pa/m³; area, m²; the fluid's pressure that its mean place has, Pa.
// squeezed: share of its volume below which the gas does not get harder.
KERNEL void island_pressure(int i, const int *island_chunk OF(count + 1), const float *volume OF(chunks),
                            const float *area OF(chunks), const vec *place OF(chunks), const vec *law OF(count),
                            const vec *weight OF(count), float squeezed, vec *state OF(count))
{
    float sum = 0.0f, whole = 0.0f;
    vec places = make_vec(0.0f, 0.0f, 0.0f), l = law[i];
    for (int k = island_chunk[i]; k < island_chunk[i + 1]; ++k) sum += volume[k], whole += area[k], places = places + place[k];
    float inside = l.w * sum, least = squeezed * l.z, p = l.x, steep = 0.0f;
    if (l.z > 0.0f) {
        float held = maximum(inside, least);
        p += l.y * (l.z - held) / held;
        if (inside > least) steep = l.y * l.z / (held * held);
    }
    state[i] = make_four(p, steep, whole, whole > 0.0f ? dot(weight[i], places) / whole : 0.0f);
}

// Adds the pressure to the residual, and to ΔH a diagonal that bounds the gas's second derivative from above.
// factor: of the pressure at a vertex, negative where the mesh is inside out. push: ∂V/∂x times that.
KERNEL void pressure_residual(int v, const vec *x OF(vertices), const int *island OF(count), const vec *state OF(islands),
                              const vec *weight OF(islands), const float *factor OF(count), const vec *gradient OF(count),
                              vec *push OF(count), vec *residual OF(count), float *added OF(count))
{
    vec s = state[island[v]], b = factor[v] * gradient[v];
    push[v] = b;
    residual[v] = residual[v] + (s.x + dot(weight[island[v]], x[v]) - s.w) * b;
    added[v] += s.y * s.z * fabsf(factor[v]) * length(b);
}

// The gas's second derivative −∂p/∂V b⊗b, b = `push`, times a vector: sums over chunks, and what follows from them. breath_add
// gives what curvature_times does, now with that.
KERNEL void breath_partial(int chunk, const int *chunk_start OF(count + 1), const int *member OF(vertices),
                           const vec *push OF(vertices), const vec *p OF(vertices), float *partial OF(count))
{
    float sum = 0.0f;
    for (int k = chunk_start[chunk]; k < chunk_start[chunk + 1]; ++k) sum += dot(push[member[k]], p[member[k]]);
    partial[chunk] = sum;
}
KERNEL void breath_total(int i, const int *island_chunk OF(count + 1), const float *partial OF(chunks),
                         const vec *state OF(count), float *breath OF(count))
{
    float sum = 0.0f;
    for (int k = island_chunk[i]; k < island_chunk[i + 1]; ++k) sum += partial[k];
    breath[i] = state[i].y * sum;
}
KERNEL float breath_add(int v, const int *island OF(count), const float *breath OF(islands), const vec *push OF(count),
                        const float *free OF(count), const vec *p OF(count), vec *product OF(count))
{
    vec sum = product[v] + (free[v] * breath[island[v]]) * push[v];
    product[v] = sum;
    return dot(p[v], sum);
}
