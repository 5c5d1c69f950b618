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

// 1 for a candidate none of whose corners strays by more than the margin.
KERNEL void candidate_stays(int i, const int *corner, const float *stray, float margin, int *stays)
{
    const int *c = corner + 4 * i;
    stays[i] = maximum(maximum(stray[c[0]], stray[c[1]]), maximum(stray[c[2]], stray[c[3]])) <= margin;
}

// Thickness ξ and activation distance d̂ of a pair (method.md §3). Pairs of one cloth that are near in the rest mesh
// get less: rest_share of their rest distance at most, so that a fine mesh does not push itself apart.
// kept: which candidates; rest: rest positions of cloth (any value for colliders).
KERNEL void pair_thickness(int i, const int *kept, const int *feature_in, const int *corner_in, const vec *rest,
                           const int *object, const float *thickness, float activation_least, float rest_share,
                           int *feature, int *corner, float *offset, float *activation)
{
    int from = kept[i];
    const int *c = corner_in + 4 * from;
    for (int k = 0; k < 4; ++k) corner[4 * i + k] = c[k];
    feature[2 * i] = feature_in[2 * from], feature[2 * i + 1] = feature_in[2 * from + 1];
    int sides = first_side(feature_in[2 * from] < 0);
    float xi = 0.5f * (side_thickness(c, 0, sides, thickness) + side_thickness(c, sides, 4, thickness));
    float reach = maximum(activation_least, xi);
    if (object[c[0]] == object[c[3]]) {
        vec p[4];
        load_corners(c, rest, p);
        float most = rest_share * closest_points(p, feature_in[2 * from] < 0).distance;
        xi = minimum(xi, most), reach = minimum(reach, most);
    }
    offset[i] = xi, activation[i] = reach;
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
KERNEL void pair_near(int i, const int *feature, const int *corner, const vec *x, const vec *x1, const float *offset,
                      const float *activation, float slack, int *near)
{
    const int *c = corner + 4 * i;
    bool edges = feature[2 * i] < 0;
    vec p[4], motion[4];
    load_corners(c, x, p);
    for (int k = 0; k < 4; ++k) motion[k] = x1[c[k]] - x[c[k]];
    remove_mean(motion);
    near[i] = closest_points(p, edges).distance <= approach_bound(motion, edges) + offset[i] + activation[i] + slack;
}
