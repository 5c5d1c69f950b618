// SPDX-License-Identifier: GPL-3.0-or-later
// From candidates to pairs: copying the ones that matter, their thickness, their keys.
#pragma once
#include "additive_ccd.h"

// Thickness of one side: of its thinnest corner, since a vertex is thin where its edges are short.
FUNCTION float side_thickness(const int *c, int first, int last, const float *thickness)
{
    float least = thickness[c[first]];
    for (int k = first + 1; k < last; ++k) least = minimum(least, thickness[c[k]]);
    return least;
}

// 1 for a candidate none of whose corners is fresh.
KERNEL void candidate_stays(int i, const int *corner OF(4 * count), const int *fresh OF(vertices), int *stays OF(count))
{
    stays[i] = !any_of(corner + 4 * i, fresh);
}

struct contact_range {
    float offset, activation;  // ξ, d̂
};

// How far apart the two sides are along the mesh, across a seam that both are near: its sides belong together.
FUNCTION float across_seam(const int *c, bool edges, const int *seam, const float *seam_distance)
{
    int sides = first_side(edges);
    float least = 1e30f;
    for (int i = 0; i < sides; ++i)
        for (int j = sides; j < 4; ++j)
            if (seam[c[i]] >= 0 && seam[c[i]] == seam[c[j]]) least = minimum(least, seam_distance[c[i]] + seam_distance[c[j]]);
    return least;
}

// Thickness ξ and activation distance d̂ of a pair (docs/theory/method.md §6). Pairs of one cloth that are near in the rest mesh
// get less: rest_share of their rest distance at most, so that a fine mesh does not push itself apart.
// rest: rest positions of cloth (any value for colliders). So do pairs across a seam, which keep at least seam_gap.
FUNCTION contact_range range_of(const int *c, bool edges, const vec *rest, const int *piece, const float *thickness,
                                const int *seam, const float *seam_distance, float seam_gap, float activation_least,
                               float rest_share)
{
    int sides = first_side(edges);
    contact_range range;
    range.offset = 0.5f * (side_thickness(c, 0, sides, thickness) + side_thickness(c, sides, 4, thickness));
    range.activation = maximum(activation_least, range.offset);
    if (piece[c[0]] == piece[c[3]] && piece[c[0]] == piece[c[1]] && piece[c[0]] == piece[c[2]]) {
        vec p[4];
        load_corners(c, rest, p);
        float most = rest_share * closest_points(p, edges).distance;
        range.offset = minimum(range.offset, most), range.activation = minimum(range.activation, most);
    }
    float most = seam_gap + rest_share * across_seam(c, edges, seam, seam_distance);
    range.offset = minimum(range.offset, most), range.activation = minimum(range.activation, most);
    return range;
}

// room: by how much the candidate's sides stay farther apart than their range, for certain, in the motion from x to x1, in
// which all share one time parameter but for the free vertices, which may take any fraction: along the direction between the sides'
// middles (cheap, and enough for most) or their closest points. With one time a gap along a direction is the least difference of
// numbers that change evenly, so it is never less than at one of the ends. most_range: what no pair's range is beyond.
// enough: more than this need not be known exactly.
FUNCTION float room_of(const int *c, bool edges, const vec *x, const vec *x1, const int *free, const vec *rest,
                       const int *piece, const float *thickness, const int *seam, const float *seam_distance,
                       float seam_gap, float activation_least, float rest_share, float most_range, float enough)
{
    bool any = any_of(c, free);
    vec p[4], end[4], origin = x[c[0]], zero = make_vec(0.0f, 0.0f, 0.0f);
    load_corners(c, x, p);
    for (int k = 0; k < 4; ++k) end[k] = x1[c[k]] - origin;
    corners from = corners_of(p), to = corners_of(end);
    vec square = upper(squares(from), squares(to));
    float rounding = ROUNDING * sqrtf(maximum(maximum(square.x, square.y), maximum(square.z, square.w)));
    vec apart = edges ? 0.5f * (p[0] + p[1]) - 0.5f * (p[2] + p[3]) : p[0] - 0.33333333f * (p[1] + p[2] + p[3]);
    float gap = gap_on_the_way(direction(apart, zero), from, to, edges, any) - rounding;
    if (gap - most_range > enough) return gap - most_range;
    vec n = direction(gap_vector(p, closest_points(p, edges).weight), zero);
    gap = maximum(gap, gap_on_the_way(n, from, to, edges, any) - rounding);
    if (gap - most_range > enough) return gap - most_range;
    contact_range own = range_of(c, edges, rest, piece, thickness, seam, seam_distance, seam_gap, activation_least,
                                 rest_share);
    return gap - (1.0f + 1e-6f) * (own.offset + own.activation);
}

// near: 1 where there is no more room than `enough`.
KERNEL void candidate_room(int i, const int *feature OF(2 * count), const int *corner OF(4 * count),
                           const vec *x OF(vertices), const vec *x1 OF(vertices), const int *free OF(vertices),
                           const vec *rest OF(vertices), const int *piece OF(vertices),
                           const float *thickness OF(vertices), const int *seam OF(vertices),
                           const float *seam_distance OF(vertices), float seam_gap, float activation_least,
                           float rest_share, float most_range, float enough, float *room OF(count), int *near OF(count))
{
    room[i] = room_of(corner + 4 * i, feature[2 * i] < 0, x, x1, free, rest, piece, thickness, seam, seam_distance, seam_gap,
                      activation_least, rest_share, most_range, enough);
    near[i] = room[i] <= enough;
}

// Candidates that come within their range in the motion from x to x1. Those are passed over whose sides have come no
// nearer than their range since `room` was found, because no corner strayed far enough from the way that it was found for: along
// the direction that kept the sides apart then, neither has moved by more than the farthest of its corners.
KERNEL void candidate_nears(int i, const int *feature OF(2 * count), const int *corner OF(4 * count),
                            const float *room OF(count), const float *stray OF(vertices), const vec *x OF(vertices),
                            const vec *x1 OF(vertices), const int *free OF(vertices), const vec *rest OF(vertices),
                            const int *piece OF(vertices), const float *thickness OF(vertices),
                            const int *seam OF(vertices), const float *seam_distance OF(vertices), float seam_gap,
                            float activation_least, float rest_share, float most_range, int *nears OF(count))
{
    const int *c = corner + 4 * i;
    bool edges = feature[2 * i] < 0;
    float first = stray[c[0]], other = stray[c[1]], second = maximum(stray[c[2]], stray[c[3]]);
    if (edges) first = maximum(first, other);
    else second = maximum(second, other);
    nears[i] = !(room[i] > (1.0f + 1e-6f) * (first + second)) &&
               room_of(c, edges, x, x1, free, rest, piece, thickness, seam, seam_distance, seam_gap, activation_least, rest_share,
                       most_range, 0.0f) <= 0.0f;
}

// Candidate `kept[i]` of one list becomes number first + i of another.
KERNEL void candidate_taken(int i, const int *kept OF(count), int first, const int *feature_in OF(2 * found),
                            const int *corner_in OF(4 * found), const float *room_in OF(found),
                            int *feature OF(2 * total), int *corner OF(4 * total), float *room OF(total))
{
    int from = kept[i], to = first + i;
    feature[2 * to] = feature_in[2 * from], feature[2 * to + 1] = feature_in[2 * from + 1];
    for (int k = 0; k < 4; ++k) corner[4 * to + k] = corner_in[4 * from + k];
    room[to] = room_in[from];
}

FUNCTION float least_share(const int *c, const int *share)
{
    float least = 1.0f;
    for (int k = 0; k < 4; ++k) least = minimum(least, int_as_float(share[c[k]]));
    return least;
}

// The pairs' corners, features, and what ranges they have. kept: which candidates. share: bits of how much of its range each vertex
// keeps (pinch.h); a pair what the one keeps that keeps least.
KERNEL void pair_thickness(int i, const int *kept OF(count), const int *feature_in OF(2 * found),
                           const int *corner_in OF(4 * found), const vec *rest OF(vertices),
                           const int *piece OF(vertices), const float *thickness OF(vertices),
                           const int *seam OF(vertices), const float *seam_distance OF(vertices), float seam_gap,
                           float activation_least, float rest_share, const int *share OF(vertices), int *feature OF(2 * count),
                           int *corner OF(4 * count), float *offset OF(count), float *activation OF(count))
{
    int from = kept[i];
    const int *c = corner_in + 4 * from;
    for (int k = 0; k < 4; ++k) corner[4 * i + k] = c[k];
    feature[2 * i] = feature_in[2 * from], feature[2 * i + 1] = feature_in[2 * from + 1];
    contact_range range = range_of(c, feature[2 * i] < 0, rest, piece, thickness, seam, seam_distance, seam_gap,
                                   activation_least, rest_share);
    float kept_of_it = least_share(c, share);
    offset[i] = kept_of_it * range.offset, activation[i] = kept_of_it * range.activation;
}

// Bound of how much the gap can shrink while the corners move by `motion`: the longest path of each side, added.
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

// Can the pair become a contact within the motion to x1? Here the relative motion counts.
KERNEL void pair_near(int i, const int *feature OF(2 * count), const int *corner OF(4 * count),
                      const vec *x OF(vertices), const vec *x1 OF(vertices), const float *offset OF(count),
                      const float *activation OF(count), float slack, int *near OF(count))
{
    const int *c = corner + 4 * i;
    bool edges = feature[2 * i] < 0;
    vec p[4], motion[4];
    load_corners(c, x, p);
    for (int k = 0; k < 4; ++k) motion[k] = x1[c[k]] - x[c[k]];
    remove_mean(motion);
    near[i] = closest_points(p, edges).distance <= approach_bound(motion, edges) + offset[i] + activation[i] + slack;
}
