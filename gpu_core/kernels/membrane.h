// SPDX-License-Identifier: GPL-3.0-or-later
// Stretch, shear and strain limit of one triangle as projective-dynamics constraints (docs/theory/method.md §3).
#pragma once
#include "vector.h"

// Columns of the rotation nearest to F (3×2), by the closed form of the square root S of FᵀF: R = F S⁻¹.
// *trace and *determinant of S give the singular values.
FUNCTION void polar_rotation(vec f1, vec f2, vec *r1, vec *r2, float *trace, float *determinant)
{
    float a = dot(f1, f1), b = dot(f1, f2), c = dot(f2, f2);
    float root = length(cross(f1, f2));  // = √det FᵀF, without the cancellation of ac − b²
    float sum = sqrtf(a + c + 2.0f * root);
    *trace = sum, *determinant = root;
    if (root > 1e-6f * (a + c)) {
        float s11 = (a + root) / sum, s12 = b / sum, s22 = (c + root) / sum, inverse = 1.0f / root;
        *r1 = inverse * (s22 * f1 - s12 * f2);
        *r2 = inverse * (s11 * f2 - s12 * f1);
    } else {  // collapsed to a line or a point: keep the longer column, open the other at right angles
        bool first = a >= c;
        vec keep = direction(first ? f1 : f2, make_vec(1.0f, 0.0f, 0.0f));
        vec open = first ? f2 : f1;
        open = direction(open - dot(open, keep) * keep, perpendicular(keep));
        *r1 = first ? keep : open, *r2 = first ? open : keep;
    }
}

// F with its singular values cut to at most `limit`: f(S) of a symmetric 2×2 matrix is αI + βS, so R f(S) = αR + βF.
FUNCTION bool limit_stretch(vec f1, vec f2, vec r1, vec r2, float trace, float determinant, float limit, vec *c1, vec *c2)
{
    float half = 0.5f * trace, spread = sqrtf(maximum(half * half - determinant, 0.0f));
    float large = half + spread, small = half - spread;
    if (large <= limit) return false;
    float cut_small = minimum(small, limit);
    float beta = spread > 1e-6f * half ? (limit - cut_small) / (large - small) : 0.0f;
    float alpha = limit - beta * large;
    *c1 = alpha * r1 + beta * f1, *c2 = alpha * r2 + beta * f2;
    return true;
}

FUNCTION void deformation_gradient(int t, const vec *x, const int *corners, vec d, vec *f1, vec *f2)
{
    vec origin = x[corners[3 * t]], e1 = x[corners[3 * t + 1]] - origin, e2 = x[corners[3 * t + 2]] - origin;
    *f1 = d.x * e1 + d.z * e2, *f2 = d.y * e1 + d.w * e2;
}

// force, limited: as in membrane_project.
FUNCTION void membrane_force(int t, vec f1, vec f2, vec r1, vec r2, float trace, float determinant, vec d, vec k,
                             float limit, vec *force, float *limited)
{
    vec c1, c2, p1 = k.x * (r1 - f1) + k.y * (direction(f1, r1) - f1);  // −∂E/∂F by columns
    vec p2 = k.x * (r2 - f2) + k.z * (direction(f2, r2) - f2);
    bool limits = k.w > 0.0f && limit_stretch(f1, f2, r1, r2, trace, determinant, limit, &c1, &c2);
    if (limits) p1 = p1 + k.w * (c1 - f1), p2 = p2 + k.w * (c2 - f2);
    limited[t] = limits ? k.w : 0.0f;
    force[2 * t] = d.x * p1 + d.y * p2;
    force[2 * t + 1] = d.z * p1 + d.w * p2;
}

FUNCTION float membrane_energy(vec f1, vec f2, vec r1, vec r2, float trace, float determinant, vec k, float limit)
{
    float half = 0.5f * trace, spread = sqrtf(maximum(half * half - determinant, 0.0f));
    float warp = length(f1) - 1.0f, weft = length(f2) - 1.0f;
    float over = maximum(half + spread - limit, 0.0f), under = maximum(half - spread - limit, 0.0f);
    float turned = dot(f1 - r1, f1 - r1) + dot(f2 - r2, f2 - r2), limited = over * over + under * under;
    return 0.5f * (k.x * turned + k.y * warp * warp + k.z * weft * weft + k.w * limited);
}

// force: (2 per triangle) on corners 1 and 2; corner 0 takes minus their sum. N.
// limited: stiffness of the strain limit where it acts now, else 0. N·m
// rest_inverse: D⁻¹ of the rest edges, row by row, in the warp–weft frame, so F = [x1−x0, x2−x0] D⁻¹. 1/m
// stiffness: rest area times (rotation, warp, weft, limit) stiffness, N·m; limit: largest allowed stretch;
// hardness: times which the limit is stiffer than that.
KERNEL void membrane_project(int t, const vec *x OF(vertices), const int *corners OF(3 * count),
                             const vec *rest_inverse OF(count), const vec *stiffness OF(count),
                             const float *limit OF(count), const float *hardness OF(count), vec *force OF(2 * count),
                             float *limited OF(count))
{
    vec k = stiffness[t], f1, f2, r1, r2;
    float trace, determinant;
    deformation_gradient(t, x, corners, rest_inverse[t], &f1, &f2);
    polar_rotation(f1, f2, &r1, &r2, &trace, &determinant);
    k.w *= hardness[t];
    membrane_force(t, f1, f2, r1, r2, trace, determinant, rest_inverse[t], k, limit[t], force, limited);
}

// Kelvin and Voigt's damping: the law of `membrane_force` without a limit, but from what the triangle was when the step
// began, turned as it is turned now: −∂/∂F of k/2 min ‖F − QF*‖² over turns Q, and of k/2 (|f| − |f*|)² of both columns.
// So what turns is not damped. damping: as `stiffness`, times time constants over h. q1, q2: columns of Q's turn of the polar
// rotation of F*.
FUNCTION void damping_force(int t, const vec *x, const vec *before, const int *corners, vec d, vec k, vec *force,
                            vec *f1, vec *f2, vec *q1, vec *q2)
{
    vec g1, g2;
    deformation_gradient(t, x, corners, d, f1, f2);
    deformation_gradient(t, before, corners, d, &g1, &g2);
    float a = dot(g1, g1), b = dot(g1, g2), c = dot(g2, g2), root = length(cross(g1, g2));
    float sum = sqrtf(a + c + 2.0f * root), trace, determinant;
    float s11 = (a + root) / sum, s12 = b / sum, s22 = (c + root) / sum;  // S of F* = R S
    polar_rotation(s11 * *f1 + s12 * *f2, s12 * *f1 + s22 * *f2, q1, q2, &trace, &determinant);
    vec p1 = k.x * (s11 * *q1 + s12 * *q2 - *f1) + (k.y * (sqrtf(a) - length(*f1))) * direction(*f1, *q1);
    vec p2 = k.x * (s12 * *q1 + s22 * *q2 - *f2) + (k.z * (sqrtf(c) - length(*f2))) * direction(*f2, *q2);
    force[2 * t] = force[2 * t] + d.x * p1 + d.y * p2;
    force[2 * t + 1] = force[2 * t + 1] + d.z * p1 + d.w * p2;
}

// Adds that to the force of `membrane_project`. before: where the step began.
KERNEL void membrane_damping(int t, const vec *x OF(vertices), const vec *before OF(cloth), const int *corners OF(3 * count),
                             const vec *rest_inverse OF(count), const vec *damping OF(count), vec *force OF(2 * count))
{
    vec f1, f2, q1, q2;
    damping_force(t, x, before, corners, rest_inverse[t], damping[t], force, &f1, &f2, &q1, &q2);
}

// E(x1) − E(x0), J, with the strain limits as stiff as at first: one that has got harder must not give back more than it took.
// Other arguments as in membrane_project.
KERNEL void membrane_gain(int t, const vec *x0 OF(vertices), const vec *x1 OF(vertices),
                          const int *corners OF(3 * count), const vec *rest_inverse OF(count),
                          const vec *stiffness OF(count), const float *limit OF(count), float *gain OF(count))
{
    vec f1, f2, r1, r2;
    float trace, determinant;
    deformation_gradient(t, x0, corners, rest_inverse[t], &f1, &f2);
    polar_rotation(f1, f2, &r1, &r2, &trace, &determinant);
    float before = membrane_energy(f1, f2, r1, r2, trace, determinant, stiffness[t], limit[t]);
    deformation_gradient(t, x1, corners, rest_inverse[t], &f1, &f2);
    polar_rotation(f1, f2, &r1, &r2, &trace, &determinant);
    gain[t] = membrane_energy(f1, f2, r1, r2, trace, determinant, stiffness[t], limit[t]) - before;
}

// By how much the larger singular value of F exceeds the strain limit; −1 where there is none.
KERNEL void strain_excess(int t, const vec *x OF(vertices), const int *corners OF(3 * count),
                          const vec *rest_inverse OF(count), const vec *stiffness OF(count),
                          const float *limit OF(count), float *excess OF(count))
{
    vec f1, f2, r1, r2;
    float trace, determinant;
    deformation_gradient(t, x, corners, rest_inverse[t], &f1, &f2);
    polar_rotation(f1, f2, &r1, &r2, &trace, &determinant);
    float spread = sqrtf(maximum(0.25f * trace * trace - determinant, 0.0f));
    excess[t] = stiffness[t].w > 0.0f ? 0.5f * trace + spread - limit[t] : -1.0f;
}

// A limit that a step leaves exceeded by more than `most` is twice as hard in the next, by at most `least` half as hard.
// It is a spring: where much pulls at few triangles, one stiffness for all would let these go too far. What even the hardest
// would not hold at `most` gives way too: a body or pins ask for that length, and a hard limit would only press on them.
KERNEL void limit_hardness(int t, const float *excess OF(count), float least, float most, float hardest,
                           float *hardness OF(count))
{
    bool held = hardness[t] * excess[t] <= hardest * most;
    if (excess[t] > most && held) hardness[t] = minimum(2.0f * hardness[t], hardest);
    else if (excess[t] <= least || !held) hardness[t] = maximum(0.5f * hardness[t], 1.0f);
}

// Row sum of |GᵀG| for one corner, G the gradient of F: times a stiffness it is a diagonal that bounds the constraint's
// Hessian from above. The strain limit enters the system so, as contacts do: only where and while it acts.
FUNCTION float limit_bound(vec d, int corner)
{
    vec g[3] = {make_vec(-d.x - d.z, -d.y - d.w, 0.0f), make_vec(d.x, d.y, 0.0f), make_vec(d.z, d.w, 0.0f)};
    return fabsf(dot(g[corner], g[0])) + fabsf(dot(g[corner], g[1])) + fabsf(dot(g[corner], g[2]));
}

// Adds −∇E of the triangles around a vertex to the residual, and the strain limits that act to ΔH (`added`).
// limit_share: 0 leaves them out (then H holds the limit's stiffness everywhere). force, limited: as in membrane_project.
KERNEL void membrane_residual(int v, const int *triangle_start OF(count + 1), const int *triangle_corner OF(3 * triangles),
                              const vec *force OF(2 * triangles), const vec *rest_inverse OF(triangles),
                              const float *limited OF(triangles), float limit_share, vec *residual OF(count),
                              float *added OF(count))
{
    vec sum = residual[v];
    float weight = added[v];
    for (int k = triangle_start[v]; k < triangle_start[v + 1]; ++k) {
        int t = triangle_corner[k] / 3, corner = triangle_corner[k] % 3;
        vec f1 = force[2 * t], f2 = force[2 * t + 1];
        sum = sum + (corner == 0 ? -1.0f * (f1 + f2) : corner == 1 ? f1 : f2);
        if (limited[t] > 0.0f) weight += limit_share * limited[t] * limit_bound(rest_inverse[t], corner);
    }
    residual[v] = sum, added[v] = weight;
}
