// Quadratic bending: E = Σ_rows k/2 ‖Σ_j K_j x_j − F s‖², K constant (Bergou 2006), s the row's value in the rest shape in
// the frame F that an edge and the normal span, and which turns with the cloth.
#pragma once
#include "vector.h"

// Area-weighted normal of a vertex, unit length, from its triangles.
KERNEL void vertex_normal(int v, const vec *x, const int *corners, const int *start, const int *incident, vec *normal)
{
    vec sum = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = start[v]; k < start[v + 1]; ++k) {
        int t = incident[k] / 3;
        vec origin = x[corners[3 * t]];
        sum = sum + cross(x[corners[3 * t + 1]] - origin, x[corners[3 * t + 2]] - origin);
    }
    normal[v] = direction(sum, make_vec(0.0f, 0.0f, 0.0f));
}

// force of a row, before its coefficients: −k (K x − F s). The coefficients of a row sum to 0, so differences suffice.
// hinge: the ends of the row's edge (twice the same vertex: no edge, the frame is the normal alone).
// rest: s along (edge, normal × edge, normal); all 0 in a flat rest shape.
KERNEL void bending_project(int row, const vec *x, const int *start, const int *column, const float *coefficient,
                            const float *stiffness, const int *hinge, const vec *rest, const vec *normal, vec *force)
{
    vec origin = x[column[start[row]]], curvature = make_vec(0.0f, 0.0f, 0.0f), s = rest[row];
    for (int k = start[row] + 1; k < start[row + 1]; ++k)
        curvature = curvature + coefficient[k] * (x[column[k]] - origin);
    if (dot(s, s) > 0.0f) {
        int first = hinge[2 * row], second = hinge[2 * row + 1];
        vec edge = direction(x[second] - x[first], make_vec(0.0f, 0.0f, 0.0f)), n = normal[first] + normal[second];
        n = direction(n - dot(n, edge) * edge, make_vec(0.0f, 0.0f, 0.0f));
        curvature = curvature - s.x * edge - s.y * cross(n, edge) - s.z * n;
    }
    force[row] = -stiffness[row] * curvature;
}
