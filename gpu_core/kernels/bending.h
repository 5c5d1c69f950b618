// SPDX-License-Identifier: GPL-3.0-or-later
// Quadratic bending: E = Σ_rows k/2 ‖Σ_j K_j x_j − F s − p‖², K constant (Bergou 2006), s the row's value in the rest shape
// in the frame F that an edge and the normal span, and which turns with the cloth; p what yarns that rub hold on to.
#pragma once
#include "vector.h"

// Area-weighted normal of a vertex, unit length, from its triangles.
KERNEL void vertex_normal(int v, const vec *x OF(vertices), const int *corners OF(3 * triangles),
                          const int *start OF(count + 1), const int *incident OF(3 * triangles), vec *normal OF(count))
{
    vec sum = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = start[v]; k < start[v + 1]; ++k) {
        int t = incident[k] / 3;
        vec origin = x[corners[3 * t]];
        sum = sum + cross(x[corners[3 * t + 1]] - origin, x[corners[3 * t + 2]] - origin);
    }
    normal[v] = direction(sum, make_vec(0.0f, 0.0f, 0.0f));
}

// K x of a row. Its coefficients sum to 0, so differences suffice.
FUNCTION vec row_curvature(int row, const vec *x, const int *start, const int *column, const float *coefficient)
{
    vec origin = x[column[start[row]]], curvature = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = start[row] + 1; k < start[row + 1]; ++k)
        curvature = curvature + coefficient[k] * (x[column[k]] - origin);
    return curvature;
}

// The frame of a row. hinge: the ends of its edge (twice the same vertex: no edge, the frame is the normal alone).
FUNCTION void row_frame(int row, const vec *x, const int *hinge, const vec *normal, vec *edge, vec *n)
{
    int first = hinge[2 * row], second = hinge[2 * row + 1];
    *edge = direction(x[second] - x[first], make_vec(0.0f, 0.0f, 0.0f));
    *n = normal[first] + normal[second];
    *n = direction(*n - dot(*n, *edge) * *edge, make_vec(0.0f, 0.0f, 0.0f));
}

// force of a row, before its coefficients: −k (K x − F s − p).
// rest: s along (edge, normal × edge, normal); all 0 in a flat rest shape. held: p.
KERNEL void bending_project(int row, const vec *x OF(vertices), const int *start OF(count + 1),
                            const int *column OF(entries), const float *coefficient OF(entries),
                            const float *stiffness OF(count), const int *hinge OF(2 * count), const vec *rest OF(count),
                            const vec *normal OF(cloth), const vec *held OF(count), vec *force OF(count))
{
    vec curvature = row_curvature(row, x, start, column, coefficient) - held[row], s = rest[row];
    if (dot(s, s) > 0.0f) {
        vec edge, n;
        row_frame(row, x, hinge, normal, &edge, &n);
        curvature = curvature - s.x * edge - s.y * cross(n, edge) - s.z * n;
    }
    force[row] = -stiffness[row] * curvature;
}

// Adds −∇E of the rows that hold a vertex to the residual. force: of the rows, as in bending_project.
KERNEL void bending_residual(int v, const int *row_start OF(count + 1), const int *row OF(entries),
                             const float *coefficient OF(entries), const vec *force OF(rows), vec *residual OF(count))
{
    vec sum = residual[v];
    for (int k = row_start[v]; k < row_start[v + 1]; ++k) sum = sum + coefficient[k] * force[row[k]];
    residual[v] = sum;
}

// p of a row: where its yarns have slid to, in the frame at x, as far as they bear (`share`).
KERNEL void bending_turn(int row, const vec *x OF(vertices), const int *hinge OF(2 * count),
                         const vec *normal OF(cloth), const float *share OF(count), const vec *slid OF(count),
                         vec *held OF(count))
{
    vec edge, n;
    row_frame(row, x, hinge, normal, &edge, &n);
    held[row] = share[row] * (slid[row].x * edge + slid[row].y * cross(n, edge) + slid[row].z * n);
}

// s* of a row: K x along its frame.
KERNEL void bending_past(int row, const vec *x OF(vertices), const int *start OF(count + 1), const int *column OF(entries),
                         const float *coefficient OF(entries), const int *hinge OF(2 * count), const vec *normal OF(cloth),
                         vec *past OF(count))
{
    vec curvature = row_curvature(row, x, start, column, coefficient), edge, n;
    row_frame(row, x, hinge, normal, &edge, &n);
    past[row] = make_vec(dot(curvature, edge), dot(curvature, cross(n, edge)), dot(curvature, n));
}

// What a damped row holds on to: what it holds without damping, and in its `share` the curvature that it had, turned as the
// cloth is turned at x.
KERNEL void bending_lag(int row, const vec *x OF(vertices), const int *hinge OF(2 * count), const vec *normal OF(cloth),
                        const float *share OF(count), const vec *past OF(count), const vec *held OF(count),
                        vec *damped OF(count))
{
    vec edge, n;
    row_frame(row, x, hinge, normal, &edge, &n);
    damped[row] = (1.0f - share[row]) * held[row] +
                  share[row] * (past[row].x * edge + past[row].y * cross(n, edge) + past[row].z * n);
}

// Where the yarns of a plate (the rows first[plate] to first[plate + 1], at most three) have slid to in a step that ends at
// x: they hold to `slid`, K x in the frame, with `stiffness` until their moment is `most`; what is beyond takes them along.
KERNEL void bending_slide(int plate, const int *first OF(count + 1), const float *stiffness OF(count),
                          const float *most OF(count), const vec *x OF(vertices), const int *start OF(rows + 1),
                          const int *column OF(entries), const float *coefficient OF(entries),
                          const int *hinge OF(2 * rows), const vec *normal OF(cloth), vec *slid OF(rows))
{
    vec now[3];
    float away = 0.0f;
    int row = first[plate], rows = first[plate + 1] - row;
    for (int k = 0; k < rows; ++k) {
        vec curvature = row_curvature(row + k, x, start, column, coefficient), edge, n;
        row_frame(row + k, x, hinge, normal, &edge, &n);
        now[k] = make_vec(dot(curvature, edge), dot(curvature, cross(n, edge)), dot(curvature, n));
        away += dot(now[k] - slid[row + k], now[k] - slid[row + k]);
    }
    float moment = stiffness[plate] * sqrtf(away);
    if (most[plate] > 0.0f && moment <= most[plate]) return;
    float kept = most[plate] > 0.0f ? most[plate] / moment : 0.0f;  // yarns that bear nothing are where the cloth is
    for (int k = 0; k < rows; ++k) slid[row + k] = now[k] + kept * (slid[row + k] - now[k]);
}
