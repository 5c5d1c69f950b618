// SPDX-License-Identifier: GPL-3.0-or-later
// Non-distance barriers: the weights of contacts, their targets, and the gather into the linear system (docs/theory/method.md §7, §8).
#pragma once
#include "elementary.h"
#include "additive_ccd.h"

FUNCTION vec sampled_gap(const int *c, const vec *x, const float weight[4])
{
    vec p[4];
    load_corners(c, x, p);
    return gap_vector(p, weight);
}

FUNCTION bool neighbours(const int *ring_start, const int *ring, int v, int other)
{
    for (int k = ring_start[v]; k < ring_start[v + 1]; ++k)
        if (ring[k] == other) return true;
    return false;
}

// Contact i is the pair near[i]. Arrays are longer than there are contacts: nobody reads what lies beyond the `live` ones.
// owner: the cloth vertex of each corner, or cloth_vertices.
KERNEL void contact_pair(int i, const int *live OF(1), const int *near OF(chosen), const int *pair_feature OF(2 * pairs),
                         const int *pair_corner OF(4 * pairs), const float *pair_offset OF(pairs),
                         const float *pair_activation OF(pairs), int cloth_vertices, int *feature OF(2 * count),
                         int *corner OF(4 * count), float *offset OF(count), float *activation OF(count),
                         int *owner OF(4 * count))
{
    if (i >= live[0]) return;
    int from = near[i];
    for (int k = 0; k < 2; ++k) feature[2 * i + k] = pair_feature[2 * from + k];
    for (int k = 0; k < 4; ++k) {
        int v = pair_corner[4 * from + k];
        corner[4 * i + k] = v;
        owner[4 * i + k] = v < cloth_vertices ? v : cloth_vertices;
    }
    offset[i] = pair_offset[from], activation[i] = pair_activation[from];
}

// The first of the live contacts' corners, in the order of their owners, that belongs to vertex v or a later one.
KERNEL void owner_start(int v, const int *live OF(1), const int *owner OF(corners), const int *order OF(corners),
                        int *start OF(count))
{
    int low = 0, high = 4 * live[0];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (owner[order[middle]] < v) low = middle + 1;
        else high = middle;
    }
    start[v] = low;
}

// Where a pair is among `count` sorted ones, or −1. They are sorted as 64-bit numbers of which `first` is the lower half.
FUNCTION int found_pair(const int *feature, int count, int first, int second)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2, a = feature[2 * middle], b = feature[2 * middle + 1];
        if (b < second || (b == second && static_cast<unsigned>(a) < static_cast<unsigned>(first))) low = middle + 1;
        else high = middle;
    }
    return low < count && feature[2 * low] == first && feature[2 * low + 1] == second ? low : -1;
}

// What is known of contact i from the last contacts, its age, and from the step's start, what friction held there.
KERNEL void contact_recall(int i, const int *live OF(1), const int *feature OF(2 * count), int known, const int *known_feature OF(2 * known),
                           const int *known_age OF(known), int anchored, const int *anchor_feature OF(2 * anchored),
                           const int *anchor_age OF(anchored), const vec *anchor_hold OF(anchored), int *age OF(count),
                           vec *hold OF(count))
{
    if (i >= live[0]) return;
    int k = found_pair(known_feature, known, feature[2 * i], feature[2 * i + 1]);
    age[i] = k >= 0 ? known_age[k] : -1;
    k = found_pair(anchor_feature, anchored, feature[2 * i], feature[2 * i + 1]);
    hold[i] = k >= 0 && anchor_age[k] >= 0 ? anchor_hold[k] : make_vec(0.0f, 0.0f, 0.0f);
}

// The contacts' pairs in their order, with age and hold, to be recalled.
KERNEL void contact_remember(int i, const int *order OF(count), const int *feature OF(2 * count),
                             const int *age OF(count), const vec *hold OF(count), int *known_feature OF(2 * count),
                             int *known_age OF(count), vec *known_hold OF(count))
{
    int from = order[i];
    known_feature[2 * i] = feature[2 * from], known_feature[2 * i + 1] = feature[2 * from + 1];
    known_age[i] = age[from], known_hold[i] = hold[from];
}

const float ROUNDED = 1e-6f;  // cosine that rounding alone can give two vectors at right angles
const float UPRIGHT = 1e-2f;  // angle by which a contact's normal may lean over

// Is the gap of a vertex–triangle pair one that the surface around the triangle has too? Where the closest point lies on
// an edge or a corner, a neighbour may be nearer: that one's pair is the contact, and this one's normal would lean over
// and make a step in a flat floor (Offset Geometric Contact, Chen 2025: the blocks of vertices and edges). What lies on
// the edge has both, as far as neither leans much: it must not change hands by rounding. An edge–edge pair that is closest
// at an end is a vertex–triangle pair's matter.
FUNCTION bool own_contact(const int *c, bool edges, const float weight[4], const vec *x, const int *ring_start, const int *ring)
{
    if (edges) return weight[0] != 0.0f && weight[1] != 0.0f && weight[2] != 0.0f && weight[3] != 0.0f;
    int held[3], count = 0;
    for (int k = 1; k < 4; ++k)
        if (weight[k] != 0.0f) held[count++] = c[k];
    if (count == 3) return true;
    vec origin = x[held[0]], p = x[c[0]] - origin;
    float beside = ROUNDED * length(p) + UPRIGHT * length(sampled_gap(c, x, weight));
    vec along = count == 2 ? direction(x[held[1]] - origin, make_vec(0.0f, 0.0f, 0.0f)) : make_vec(0.0f, 0.0f, 0.0f);
    for (int k = ring_start[held[0]]; k < ring_start[held[0] + 1]; ++k) {
        int w = ring[k];
        if (count == 2 && (w == held[1] || !neighbours(ring_start, ring, held[1], w))) continue;
        vec side = x[w] - origin;
        side = side - dot(side, along) * along;
        if (dot(p, side) > beside * length(side)) return false;
    }
    return true;
}

// Share of its stiffness that an edge–edge pair keeps towards the ends of its edges, where vertex–triangle pairs bear the
// load: else a vertex that lies on an edge of a floor makes and breaks such pairs by rounding alone, and friction's anchor
// goes with each.
FUNCTION float inner_share(const float weight[4])
{
    const float border = 0.05f;
    float least = minimum(minimum(fabsf(weight[0]), fabsf(weight[1])), minimum(fabsf(weight[2]), fabsf(weight[3])));
    return minimum(least / border, 1.0f);
}

// Closest points and normal at the last feasible state x⁻, the stiffness of H under the pair's cloth corners, and the
// gap to aim for: of what the gap at the step's start lacks to ξ + d̂, the share `recovery` (never less than ξ + d̂/2).
// A contact that recovers all at once (1, the default) can throw its sides apart at up to d̂/h.
KERNEL void contact_geometry(int i, const int *live OF(1), const int *feature OF(2 * count), const int *corner OF(4 * count),
                             const vec *x OF(vertices), const vec *start OF(vertices), const float *offset OF(count),
                             const float *activation OF(count), const float *diagonal OF(cloth_vertices),
                             const float *free OF(cloth_vertices), const int *ring_start OF(vertices + 1),
                             const int *ring OF(neighbours), int cloth_vertices, float recovery,
                             vec *barycentric OF(count), vec *normal OF(count), float *stiffness OF(count),
                             float *goal OF(count))
{
    if (i >= live[0]) return;
    const int *c = corner + 4 * i;
    vec p[4];
    load_corners(c, x, p);
    closest now = closest_points(p, feature[2 * i] < 0);
    barycentric[i] = make_vec(now.weight[0], now.weight[1], now.weight[2]);
    barycentric[i].w = now.weight[3];
    normal[i] = direction(gap_vector(p, now.weight), make_vec(0.0f, 0.0f, 0.0f));
    float whole = offset[i] + activation[i], before = dot(normal[i], sampled_gap(c, start, now.weight));
    goal[i] = minimum(whole, maximum(before + recovery * (whole - before), offset[i] + 0.5f * activation[i]));
    if (!own_contact(c, feature[2 * i] < 0, now.weight, x, ring_start, ring)) goal[i] = -1e30f;  // never reached
    float sum = 0.0f, share = 0.0f;
    for (int k = 0; k < 4; ++k) {
        if (c[k] >= cloth_vertices || free[c[k]] == 0.0f) continue;
        sum += fabsf(now.weight[k]) * diagonal[c[k]];
        share += fabsf(now.weight[k]);
    }
    stiffness[i] = share > 0.0f ? sum / share : 0.0f;
    if (feature[2 * i] < 0) stiffness[i] *= inner_share(now.weight);
}

// The distance-based barrier (eq. 6 over d̂², Lan 2022b): the stiffness of a pair at x⁻ goes by how much of d̂ is left there,
// and nothing but a new x⁻ changes it.
KERNEL void distance_weight(int i, const int *live OF(1), const int *corner OF(4 * count), const vec *feasible OF(vertices),
                            const float *offset OF(count), const float *activation OF(count),
                            const vec *barycentric OF(count), const vec *normal OF(count), float *stiffness OF(count))
{
    if (i >= live[0]) return;
    vec b = barycentric[i];
    float weight[4] = {b.x, b.y, b.z, b.w};
    float left = (dot(normal[i], sampled_gap(corner + 4 * i, feasible, weight)) - offset[i]) / activation[i];
    left = minimum(maximum(left, 1e-4f), 1.0f);
    stiffness[i] *= -(1.0f - left) * (1.0f - left) * logarithm(left);
}

// Barycentric coordinates of sample k of a pair: the centre; three points around it; six.
FUNCTION void sample_weights(bool edges, int samples, int k, float weight[4])
{
    const float third = 1.0f / 3.0f;
    if (edges) {
        // points of the unit square of (s, t)
        float s = 0.5f, t = 0.5f;
        if (samples == 3) s = k == 0 ? 0.2f : k == 1 ? 0.8f : 0.5f, t = k == 0 ? 0.3f : k == 1 ? 0.3f : 0.8f;
        if (samples == 6) s = (float)(k % 3) * 0.4f + 0.1f, t = k < 3 ? 0.25f : 0.75f;
        weight[0] = 1.0f - s, weight[1] = s, weight[2] = t - 1.0f, weight[3] = -t;
        return;
    }
    float u = third, v = third;
    if (samples >= 3 && k < 3) u = k == 0 ? 2.0f * third : 0.5f * third, v = k == 1 ? 2.0f * third : 0.5f * third;
    if (samples == 6 && k >= 3) u = k == 3 ? 0.0f : 0.5f, v = k == 4 ? 0.0f : 0.5f;
    weight[0] = 1.0f, weight[1] = u + v - 1.0f, weight[2] = -u, weight[3] = -v;
}

// Marks in a table of `objects` rows which two the active contacts join. object: of each vertex; the last one is all colliders.
KERNEL void touching_objects(int i, const int *live OF(1), const int *corner OF(4 * count), const int *age OF(count), const int *object OF(vertices),
                             int objects, int *touching OF(objects * objects))
{
    if (i >= live[0] || age[i] < 0) return;
    ATOMIC_MAXIMUM(touching + objects * object[corner[4 * i]] + object[corner[4 * i + 3]], 1);
}

// Partial CCD (eq. 9, 10): the pair is active when the gap along n at x is below its goal, or when the gap vector of a
// sample has turned round since x⁻ (Q ≤ 0); then that sample becomes the contact point. The age a of an active pair
// grows while it stays deeper than `growth` of d̂ (paper: while it is active at all); an inactive one forgets
// `forget` rounds (paper: all). age < 0: not a contact. first: the weights are set up, not yet aged.
KERNEL void partial_ccd(int i, const int *live OF(1), const int *accepted OF(1), const int *feature OF(2 * count), const int *corner OF(4 * count),
                        const vec *feasible OF(vertices), const vec *x OF(vertices), const float *offset OF(count),
                        const float *activation OF(count), const float *goal OF(count), int samples, int first,
                        float growth, int forget, int most, vec *barycentric OF(count), vec *normal OF(count),
                        int *age OF(count))
{
    if (i >= live[0] || !accepted[0]) return;
    const int *c = corner + 4 * i;
    vec b = barycentric[i];
    float weight[4] = {b.x, b.y, b.z, b.w};
    float gap = dot(normal[i], sampled_gap(c, x, weight));
    bool active = gap < goal[i];
    for (int k = 0; k < samples && !active; ++k) {
        sample_weights(feature[2 * i] < 0, samples, k, weight);
        vec before = sampled_gap(c, feasible, weight), now = sampled_gap(c, x, weight);
        if (dot(before, now) > 0.0f) continue;
        active = true;
        normal[i] = direction(before, normal[i]);
        gap = dot(normal[i], now);
        barycentric[i] = make_vec(weight[0], weight[1], weight[2]);
        barycentric[i].w = weight[3];
    }
    int a = age[i];
    if (active) {
        bool grows = gap < offset[i] + growth * activation[i];
        if (a < 0) a = 0;
        else if (grows && !first && a < most) ++a;
    } else a = a > 0 && forget < a ? a - forget : -1;
    age[i] = a;
}

// Friction of a pair: of each side's coefficient at the closest point, the geometric mean. By differences, so that a side with
// one coefficient has exactly that. The weights of the first side are positive, those of the second negative.
FUNCTION float pair_friction(const int *c, const float weight[4], const float *friction)
{
    float a = friction[c[0]], b = friction[c[1]], d = friction[c[3]];
    float first = a + maximum(weight[1], 0.0f) * (b - a);
    float second = d - minimum(weight[1], 0.0f) * (b - d) - weight[2] * (friction[c[2]] - d);
    return sqrtf(first * second);
}

// Target of an active contact (A = B = Id): the sides move apart along n until their gap is the goal, and back along the
// tangential slip, at most μ times as far (Coulomb inside the target). The slip counts from where the pair stuck: what
// earlier steps left of it, `hold`, is an elastic displacement at weight 1 (Cundall and Strack 1979), so it shrinks as the
// weight grows and its force stays. A slip counted from the step's start alone is a viscous friction: cloth creeps.
// kept: the part of the slip that friction bears now, at weight 1: the hold of the next step.
// share_k, stiffness_k: factor of `correction` in the residual of corner k, and its entry of ΔH.
// curvature: stiffness of the pair as one spring, N/m: x along n, y across n and the slip, z along the slip. While a pair
// slips faster from iteration to iteration, friction is a constant force and z = 0 (else cloth at rest would start to
// slide by a share of what is missing in each iteration, and look converged); else z is the secant, which never overshoots.
// slide: direction of the slip; in w its length, in and out.
// party_friction: by two parties, the coefficient of both together, below 0 where they have none; parties = 0: none has.
// by_mass = 0: weight w|c_k|, each side moved as a rigid body (forces of a pair sum to zero); 1: ∝ c/m, the paper's.
KERNEL void contact_target(int i, const int *live OF(1), const int *corner OF(4 * count), const vec *x OF(vertices),
                           const vec *start OF(vertices), const float *goal OF(count), const vec *barycentric OF(count),
                           const vec *normal OF(count), const float *stiffness OF(count), const int *age OF(count),
                           const float *free OF(cloth_vertices), const float *mass OF(cloth_vertices),
                           const float *friction OF(vertices), const int *party OF(vertices), int parties,
                           const float *party_friction OF(parties * parties), int cloth_vertices, float weight_start,
                           float weight_base, int by_mass, const vec *hold OF(count), vec *kept OF(count),
                           vec *share OF(count), vec *diagonal OF(count), vec *correction OF(count),
                           vec *curvature OF(count), vec *slide OF(count))
{
    if (i >= live[0]) return;
    const int *c = corner + 4 * i;
    vec b = barycentric[i], zero = make_vec(0.0f, 0.0f, 0.0f);
    float weight[4] = {b.x, b.y, b.z, b.w}, s[4] = {0, 0, 0, 0}, d[4] = {0, 0, 0, 0};
    float depth = age[i] < 0 ? 0.0f : goal[i] - dot(normal[i], sampled_gap(c, x, weight));
    share[i] = diagonal[i] = correction[i] = curvature[i] = kept[i] = zero;
    float slid_before = slide[i].w;
    slide[i] = zero;
    if (depth <= 0.0f || stiffness[i] <= 0.0f) return;

    float w = weight_start * stiffness[i] * power(weight_base, age[i]);
    vec slip = (1.0f / w) * hold[i];
    for (int k = 0; k < 4; ++k) slip = slip + weight[k] * (x[c[k]] - start[c[k]]);
    slip = slip - dot(slip, normal[i]) * normal[i];
    float slid = length(slip), own = parties ? party_friction[parties * party[c[0]] + party[c[3]]] : -1.0f;
    float grip = (own < 0.0f ? pair_friction(c, weight, friction) : own) * depth;
    float held = slid > grip ? grip / slid : 1.0f;
    bool faster = slid > grip && slid_before > 0.0f && slid > slid_before;
    correction[i] = depth * normal[i] - held * slip;
    kept[i] = (held * w) * slip;
    slide[i] = direction(slip, zero), slide[i].w = slid;

    bool movable[4], kinematic = false;
    float compliance = 0.0f;
    for (int k = 0; k < 4; ++k) {
        movable[k] = c[k] < cloth_vertices && free[c[k]] != 0.0f;
        kinematic = kinematic || (!movable[k] && weight[k] != 0.0f);
        if (movable[k]) compliance += weight[k] * weight[k] / mass[c[k]];
    }
    float spring = (kinematic ? 1.0f : 0.5f) * w;
    curvature[i].x = spring, curvature[i].y = held * spring, curvature[i].z = faster ? 0.0f : held * spring;
    for (int k = 0; k < 4; ++k) {
        if (!movable[k] || weight[k] == 0.0f) continue;
        if (by_mass) s[k] = w * weight[k] / (mass[c[k]] * compliance), d[k] = w;
        else s[k] = spring * weight[k], d[k] = w * fabsf(weight[k]);
    }
    share[i].x = s[0], share[i].y = s[1], share[i].z = s[2], share[i].w = s[3];
    diagonal[i].x = d[0], diagonal[i].y = d[1], diagonal[i].z = d[2], diagonal[i].w = d[3];
}

// Gather of the contacts of each vertex into the residual and the diagonal. incident: 4 contact + corner, by vertex.
KERNEL void contact_residual(int v, const int *start OF(count + 1), const int *incident OF(incidences),
                             const vec *share OF(contacts), const vec *diagonal OF(contacts),
                             const vec *correction OF(contacts), vec *residual OF(count), float *added OF(count),
                             float *total OF(count))
{
    vec sum = residual[v];
    float weight = 0.0f;
    for (int k = start[v]; k < start[v + 1]; ++k) {
        int i = incident[k] / 4, corner = incident[k] % 4;
        sum = sum + component(share, i, corner) * correction[i];
        weight += component(diagonal, i, corner);
    }
    residual[v] = sum, added[v] += weight, total[v] += weight;
}
