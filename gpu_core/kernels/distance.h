// SPDX-License-Identifier: GPL-3.0-or-later
// Closest points of vertex–triangle and edge–edge pairs.
//
// A pair has four corners. Vertex–triangle: corner 0 against 1, 2, 3. Edge–edge: corners 0, 1 against 2, 3.
// `weight` are the signed barycentric coordinates of the gap vector: gap = Σ weight_k corner_k, from the second side
// to the first, so the weights of each side sum to +1 and −1.
// Every candidate for the closest point is tried (interior and all borders) and the nearest is kept: a few more
// divisions than a region search, and no branch that a degenerate triangle or parallel edges can mislead.
#pragma once
#include "vector.h"

struct closest {
    float weight[4];
    float distance;
};

// Parameter of the point of segment [a, b] next to p, in [0, 1].
FUNCTION float segment_parameter(vec p, vec a, vec b)
{
    vec ab = b - a;
    float square = dot(ab, ab);
    return square > 0.0f ? clamp(dot(p - a, ab) / square, 0.0f, 1.0f) : 0.0f;
}

FUNCTION void point_segment(vec p, vec a, vec b, float *s, float *square)
{
    *s = segment_parameter(p, a, b);
    vec offset = (p - a) - *s * (b - a);
    *square = dot(offset, offset);
}

FUNCTION closest point_triangle(vec p, vec a, vec b, vec c)
{
    float u = 0.0f, v = 0.0f, s, square, best;  // closest point = a + u (b − a) + v (c − a)
    point_segment(p, a, b, &s, &best);
    u = s;
    point_segment(p, a, c, &s, &square);
    if (square < best) best = square, u = 0.0f, v = s;
    point_segment(p, b, c, &s, &square);
    if (square < best) best = square, u = 1.0f - s, v = s;

    vec ab = b - a, ac = c - a, ap = p - a;
    float bb = dot(ab, ab), bc = dot(ab, ac), cc = dot(ac, ac), bp = dot(ab, ap), cp = dot(ac, ap);
    float determinant = bb * cc - bc * bc;
    float beta = cc * bp - bc * cp, gamma = bb * cp - bc * bp;
    if (determinant > 0.0f && beta > 0.0f && gamma > 0.0f && beta + gamma < determinant) {
        beta /= determinant, gamma /= determinant;
        vec offset = ap - beta * ab - gamma * ac;
        square = dot(offset, offset);
        if (square < best) best = square, u = beta, v = gamma;
    }
    closest result;
    result.weight[0] = 1.0f;
    result.weight[1] = u + v - 1.0f, result.weight[2] = -u, result.weight[3] = -v;
    result.distance = sqrtf(best);
    return result;
}

FUNCTION closest edge_edge(vec a, vec b, vec c, vec d)
{
    float s = 0.0f, t, trial, square, best;  // closest points = a + s (b − a) and c + t (d − c)
    point_segment(a, c, d, &t, &best);
    point_segment(b, c, d, &trial, &square);
    if (square < best) best = square, s = 1.0f, t = trial;
    point_segment(c, a, b, &trial, &square);
    if (square < best) best = square, s = trial, t = 0.0f;
    point_segment(d, a, b, &trial, &square);
    if (square < best) best = square, s = trial, t = 1.0f;

    vec first = b - a, second = d - c, between = a - c;
    float ff = dot(first, first), fs = dot(first, second), ss = dot(second, second);
    float fb = dot(first, between), sb = dot(second, between);
    float determinant = ff * ss - fs * fs;
    float sigma = fs * sb - ss * fb;
    if (determinant > 0.0f && sigma > 0.0f && sigma < determinant) {
        sigma /= determinant;
        float tau = (fs * sigma + sb) / ss;
        if (tau > 0.0f && tau < 1.0f) {
            vec offset = between + sigma * first - tau * second;
            square = dot(offset, offset);
            if (square < best) best = square, s = sigma, t = tau;
        }
    }
    closest result;
    result.weight[0] = 1.0f - s, result.weight[1] = s;
    result.weight[2] = t - 1.0f, result.weight[3] = -t;
    result.distance = sqrtf(best);
    return result;
}

// `corner` relative to any origin near the pair.
FUNCTION closest closest_points(const vec corner[4], bool edges)
{
    return edges ? edge_edge(corner[0], corner[1], corner[2], corner[3])
                 : point_triangle(corner[0], corner[1], corner[2], corner[3]);
}

FUNCTION vec gap_vector(const vec corner[4], const float weight[4])
{
    // Relative to corner 0, since the weights sum to zero: differences of near points keep their digits.
    return weight[1] * (corner[1] - corner[0]) + weight[2] * (corner[2] - corner[0]) + weight[3] * (corner[3] - corner[0]);
}

FUNCTION int first_side(bool edges) { return edges ? 2 : 1; }
