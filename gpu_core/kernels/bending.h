// Quadratic bending: E = Σ_rows k/2 ‖Σ_j K_j x_j − s n‖², K constant (Bergou 2006), s the rest curvature, n the normal now.
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

// force of a row, before its coefficients: −k (K x − s n). The coefficients of a row sum to 0, so differences suffice.
// hinge: the two vertices whose normals give n (the same one twice for a vertex stencil).
KERNEL void bending_project(int row, const vec *x, const int *start, const int *column, const float *coefficient,
                            const float *stiffness, const int *hinge, const float *rest, const vec *normal, vec *force)
{
    vec origin = x[column[start[row]]], curvature = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = start[row] + 1; k < start[row + 1]; ++k)
        curvature = curvature + coefficient[k] * (x[column[k]] - origin);
    if (rest[row] != 0.0f) {
        vec n = direction(normal[hinge[2 * row]] + normal[hinge[2 * row + 1]], make_vec(0.0f, 0.0f, 0.0f));
        curvature = curvature - rest[row] * n;
    }
    force[row] = -stiffness[row] * curvature;
}
