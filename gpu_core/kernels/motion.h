// Inertia, air drag, the gather of the elastic forces.
#pragma once
#include "membrane.h"

// z = x* + h v + h² g (method.md §1), after the air has slowed the velocity along the normal:
// ½ρ_a C|v_n|v_n per side area, integrated implicitly, so that no step size makes it unstable.
// drag: ½ρ_a C / areal density, 1/m. forwarded: residual forwarding's h² M⁻¹ δf, m.
// displacement: z − x*, before it is rounded to the positions' last digit: the velocity comes from it.
KERNEL void inertia_target(int v, const vec *start, const vec *velocity, const vec *normal, const float *drag,
                           const vec *forwarded, float h, vec gravity, vec *displacement, vec *z)
{
    float along = dot(velocity[v], normal[v]);
    float kept = 1.0f / (1.0f + h * drag[v] * fabsf(along));
    vec slowed = velocity[v] - ((1.0f - kept) * along) * normal[v];
    displacement[v] = h * slowed + (h * h) * gravity + forwarded[v];
    z[v] = start[v] + displacement[v];
}

// −∇ of inertia, membrane, bending and soft pins at x: the right-hand side of (H + ΔH) Δx = residual. Pinned vertices: 0.
// added: ΔH of the strain limit; limit_share 0 leaves it out (then H holds the limit's stiffness everywhere).
KERNEL void elastic_residual(int v, const vec *x, const vec *z, const float *inertia, const float *free,
                             const int *triangle_start, const int *triangle_corner, const vec *membrane_force,
                             const int *row_start, const int *row, const float *coefficient, const vec *bending_force,
                             const float *pin_stiffness, const vec *pin_target, const vec *rest_inverse,
                             const float *limited, float limit_share, const float *rest_diagonal, vec *residual,
                             float *added, float *total)
{
    vec sum = inertia[v] * (z[v] - x[v]);
    float weight = 0.0f;
    for (int k = triangle_start[v]; k < triangle_start[v + 1]; ++k) {
        int t = triangle_corner[k] / 3, corner = triangle_corner[k] % 3;
        vec f1 = membrane_force[2 * t], f2 = membrane_force[2 * t + 1];
        sum = sum + (corner == 0 ? -1.0f * (f1 + f2) : corner == 1 ? f1 : f2);
        if (limited[t] > 0.0f) weight += limit_share * limited[t] * limit_bound(rest_inverse[t], corner);
    }
    for (int k = row_start[v]; k < row_start[v + 1]; ++k) sum = sum + coefficient[k] * bending_force[row[k]];
    if (pin_stiffness[v] > 0.0f) sum = sum + pin_stiffness[v] * (pin_target[v] - x[v]);
    residual[v] = free[v] * sum;
    added[v] = free[v] * weight, total[v] = rest_diagonal[v] + added[v];
}

KERNEL void add_increment(int v, const vec *increment, vec *x, vec *displacement)
{
    x[v] = x[v] + increment[v];
    displacement[v] = displacement[v] + increment[v];
}

// Velocity over the step. A vertex that stands where the solver put it takes the unrounded displacement; one that
// the filter stopped, the difference of its positions.
KERNEL void step_velocity(int v, const vec *start, const vec *solved, const vec *reached, const vec *displacement,
                          float h, vec *velocity)
{
    vec cut = solved[v] - reached[v];
    velocity[v] = (1.0f / h) * (dot(cut, cut) == 0.0f ? displacement[v] : reached[v] - start[v]);
}
