// SPDX-License-Identifier: GPL-3.0-or-later
// Inertia, air drag, pins: the motion of a vertex.
#pragma once
#include "vector.h"

// z = x* + h v + h² g (docs/theory/method.md §2), less what the air takes of the velocity along the normal:
// ½ρ_a C (|v_n| + u) v_n per area, integrated implicitly, so that no step size makes it unstable. The term with u is what
// a sheet feels in small swings, where its drag coefficient rises as it slows (Graham 1980: C ≈ 8 KC^−⅓).
// Air resists the motion that comes, not the one that the cloth would make if nothing held it: of gravity's velocity only
// the share counts that the vertex followed in the last step, all in a fall, none at rest, where air bears nothing.
// drag: ½ρ_a C / areal density, 1/m. forwarded: residual forwarding's h² M⁻¹ δf, m.
// inertial: z − x*, before it is rounded to the positions' last digit.
// guess: where the iterations begin: z, or if `adaptive` is 1, with that share of gravity in place of all of it. At rest
// a start from z would have to be undone in every step, and never quite is.
// displacement: guess − x*, unrounded: the velocity comes from it.
KERNEL void inertia_target(int v, const vec *start OF(count), const vec *velocity OF(count),
                           const vec *normal OF(count), const float *drag OF(count), const vec *forwarded OF(count),
                           float still_air, float h, const vec *gravity OF(1), const float *gravity_share OF(count),
                           float adaptive, vec *displacement OF(count), vec *inertial OF(count), vec *guess OF(count),
                           vec *z OF(count))
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

// The right-hand side of (H + ΔH) Δx = residual, begun: −∇ of inertia at x. Energies and pins add theirs, to the residual and
// to ΔH (`added`), and `constrained_residual` ends it.
KERNEL void inertia_residual(int v, const vec *x OF(count), const vec *z OF(count), const float *inertia OF(count),
                             vec *residual OF(count), float *added OF(count))
{
    residual[v] = inertia[v] * (z[v] - x[v]);
    added[v] = 0.0f;
}

// Soft pins and pulls: springs to their targets.
KERNEL void pin_residual(int v, const vec *x OF(count), const float *stiffness OF(count), const vec *target OF(count),
                         vec *residual OF(count))
{
    if (stiffness[v] > 0.0f) residual[v] = residual[v] + stiffness[v] * (target[v] - x[v]);
}

// Hard pins (free = 0) have no residual and no ΔH. total: diag(H + ΔH).
KERNEL void constrained_residual(int v, const float *free OF(count), const float *rest_diagonal OF(count),
                                 vec *residual OF(count), float *added OF(count), float *total OF(count))
{
    residual[v] = free[v] * residual[v];
    added[v] = free[v] * added[v], total[v] = rest_diagonal[v] + added[v];
}

FUNCTION bool differ(vec a, vec b) { return a.x != b.x || a.y != b.y || a.z != b.z; }

// A step begins where the last one ended. held: 1 = hard pin or collider, which goes to its target; of the cloth, `guess`
// and `displacement` are what `inertia_target` has found.
KERNEL void step_start(int v, const vec *target OF(count), const int *held OF(count), const vec *start OF(count),
                       const vec *velocity OF(cloth), int cloth, float h, vec *x OF(count), vec *displacement OF(cloth),
                       vec *coast OF(cloth))
{
    if (held[v]) x[v] = target[v];
    if (v >= cloth) return;
    if (held[v]) displacement[v] = x[v] - start[v];
    coast[v] = h * velocity[v];
}

// What is free and was stopped by the filter goes back to where it was let.
KERNEL void return_vertex(int v, const vec *feasible OF(count), const int *held OF(count), const vec *start OF(count),
                          int cloth, vec *x OF(count), vec *displacement OF(cloth))
{
    if (held[v] || !differ(x[v], feasible[v])) return;
    x[v] = feasible[v];
    if (v < cloth) displacement[v] = feasible[v] - start[v];
}

KERNEL void copy_vector(int v, const vec *source OF(count), vec *to OF(count))
{
    to[v] = source[v];
}

KERNEL void copy_number(int i, const int *source OF(count), int *to OF(count))
{
    to[i] = source[i];
}

FUNCTION int largest_part(vec a)
{
    int x = float_as_int(fabsf(a.x)), y = float_as_int(fabsf(a.y)), z = float_as_int(fabsf(a.z));
    int most = x > y ? x : y;
    return most > z ? most : z;  // of floats above 0 the bits have their order, and what is no number is above all
}

// How far a step is from its end (solvers/convergence.py). most: 0 the largest part of a way that the filter cut off, 1 of
// one that was taken from `before` to `reached`, the `share` of it that was tried made whole, m as bits; 2: 1 where what is
// held was cut.
KERNEL void step_cut(int v, const vec *x OF(count), const vec *before OF(count), const vec *reached OF(count),
                     const float *share OF(count), const int *held OF(count), int *most OF(3))
{
    int cut = largest_part(x[v] - reached[v]);
    vec way = reached[v] - before[v];
    ATOMIC_MAXIMUM(most, cut);
    ATOMIC_MAXIMUM(most + 1, largest_part(make_vec(way.x / share[v], way.y / share[v], way.z / share[v])));
    if (held[v] && cut != 0) ATOMIC_MAXIMUM(most + 2, 1);
}

// The ways of what is free from one full CCD to the next; gives its product with the way before, m².
KERNEL float free_way(int v, const vec *before OF(count), const vec *reached OF(count), const int *held OF(count),
                      vec *way OF(count))
{
    vec now = held[v] ? make_vec(0.0f, 0.0f, 0.0f) : reached[v] - before[v];
    float along = dot(now, way[v]);
    way[v] = now;
    return along;
}

// last: what was taken last. accepted: whether this increment is, and `share` how much of it.
KERNEL void take_increment(int v, const int *accepted OF(1), const float *share OF(1), const vec *increment OF(count),
                           vec *last OF(count), vec *x OF(count), vec *displacement OF(count))
{
    if (!accepted[0]) return;
    last[v] = share[0] * increment[v];
    x[v] = x[v] + last[v];
    displacement[v] = displacement[v] + last[v];
}

KERNEL void add_increment(int v, const vec *increment OF(count), vec *x OF(count), vec *displacement OF(count))
{
    x[v] = x[v] + increment[v];
    displacement[v] = displacement[v] + increment[v];
}

// Velocity over the step. A vertex that stands where the solver put it takes the unrounded displacement; one that
// the filter stopped, the difference of its positions.
// gravity_share: of gravity's displacement in this step, what was not undone by anything but air, in [0, 1].
KERNEL void step_velocity(int v, const vec *start OF(count), const vec *solved OF(count), const vec *reached OF(count),
                          const vec *displacement OF(count), const vec *inertial OF(count), float h,
                          const vec *gravity OF(1), vec *velocity OF(count), float *gravity_share OF(count))
{
    vec cut = solved[v] - reached[v];
    vec way = dot(cut, cut) == 0.0f ? displacement[v] : reached[v] - start[v];
    velocity[v] = make_vec(way.x / h, way.y / h, way.z / h);  // (1/h) h is not 1: each step would lose momentum
    float strength = h * h * dot(*gravity, *gravity);
    gravity_share[v] = strength > 0.0f ? clamp(1.0f + dot(way - inertial[v], *gravity) / strength, 0.0f, 1.0f) : 1.0f;
}
