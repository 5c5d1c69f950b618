// Inertia, air drag, the gather of the elastic forces.
#pragma once
#include "membrane.h"

// z = x* + h v + h² g (method.md §1), less what the air takes of the velocity along the normal:
// ½ρ_a C (|v_n| + u) v_n per area, integrated implicitly, so that no step size makes it unstable. The term with u is what
// a sheet feels in small swings, where its drag coefficient rises as it slows (Graham 1980: C ≈ 8 KC^−⅓).
// Air resists the motion that comes, not the one that the cloth would make if nothing held it: of gravity's velocity only
// the share counts that the vertex followed in the last step, all in a fall, none at rest, where air bears nothing.
// drag: ½ρ_a C / areal density, 1/m. forwarded: residual forwarding's h² M⁻¹ δf, m.
// inertial: z − x*, before it is rounded to the positions' last digit.
// guess: where the iterations begin: z, or if `adaptive` is 1, with that share of gravity in place of all of it. At rest
// a start from z would have to be undone in every step, and never quite is.
// displacement: guess − x*, unrounded: the velocity comes from it.
KERNEL void inertia_target(int v, const vec *start, const vec *velocity, const vec *normal, const float *drag,
                           const vec *forwarded, float still_air, float h, const vec *gravity,
                           const float *gravity_share, float adaptive, vec *displacement, vec *inertial, vec *guess,
                           vec *z)
{
    float along = dot(velocity[v] + (gravity_share[v] * h) * *gravity, normal[v]);
    float kept = 1.0f / (1.0f + h * drag[v] * (fabsf(along) + still_air));
    vec falling = velocity[v] + h * *gravity - ((1.0f - kept) * along) * normal[v];
    vec withheld = (adaptive * (1.0f - gravity_share[v]) * h * h) * *gravity;
    inertial[v] = h * falling + forwarded[v];
    displacement[v] = inertial[v] - withheld;
    guess[v] = start[v] + displacement[v];
    z[v] = guess[v] + withheld;
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
// gravity_share: of gravity's displacement in this step, what was not undone by anything but air, in [0, 1].
KERNEL void step_velocity(int v, const vec *start, const vec *solved, const vec *reached, const vec *displacement,
                          const vec *inertial, float h, const vec *gravity, vec *velocity, float *gravity_share)
{
    vec cut = solved[v] - reached[v];
    vec way = dot(cut, cut) == 0.0f ? displacement[v] : reached[v] - start[v];
    velocity[v] = make_vec(way.x / h, way.y / h, way.z / h);  // (1/h) h is not 1: each step would lose momentum
    float strength = h * h * dot(*gravity, *gravity);
    gravity_share[v] = strength > 0.0f ? clamp(1.0f + dot(way - inertial[v], *gravity) / strength, 0.0f, 1.0f) : 1.0f;
}
