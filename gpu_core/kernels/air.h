// SPDX-License-Identifier: GPL-3.0-or-later
// Moving air and force fields: what they do to a vertex (docs/theory/air.md). The fields are Blender's.
#pragma once
#include "elementary.h"
#include "noise.h"
#include "vector.h"

// The order of solvers/air.py.
enum FieldKind { WIND, FORCE, VORTEX, MAGNETIC, HARMONIC, TURBULENCE, DRAG };
enum FieldShape { POINT, LINE, PLANE };
enum FieldFalloff { SPHERE, TUBE, CONE };
enum FieldSide { BOTH_SIDES, POSITIVE_SIDE, NEGATIVE_SIDE };

// A row of the table of fields, seven vectors, as solvers/air.py writes it.
struct field_row {
    vec location, axis;
    int kind, shape, falloff, side, gravity, global, seed, frame;
    float strength, damping, flow, wind_factor, size, power, nearest, farthest, radial_power, radial_nearest, radial_farthest;
    float noise, passed;  // passed: of the frame
};

FUNCTION field_row row_of(const vec *field, int f)
{
    const vec *own = field + 7 * f;
    field_row row;
    row.location = make_vec(own[0].x, own[0].y, own[0].z), row.kind = static_cast<int>(own[0].w);
    row.axis = make_vec(own[1].x, own[1].y, own[1].z), row.shape = static_cast<int>(own[1].w);
    row.falloff = static_cast<int>(own[2].x), row.side = static_cast<int>(own[2].y);
    row.gravity = static_cast<int>(own[2].z), row.global = static_cast<int>(own[2].w);
    row.strength = own[3].x, row.damping = own[3].y, row.flow = own[3].z, row.wind_factor = own[3].w;
    row.size = own[4].x, row.power = own[4].y, row.nearest = own[4].z, row.farthest = own[4].w;
    row.radial_power = own[5].x, row.radial_nearest = own[5].y, row.radial_farthest = own[5].z, row.noise = own[5].w;
    row.seed = static_cast<int>(own[6].x), row.frame = static_cast<int>(own[6].y), row.passed = own[6].z;
    return row;
}

// 1 up to `nearest`, 0 beyond `farthest` (0: there is none), and in between 1 / (1 + way beyond nearest)^power.
FUNCTION float fading(float way, float nearest, float farthest, float power)
{
    if (farthest > 0.0f && way > farthest) return 0.0f;
    if (way <= nearest || power == 0.0f) return 1.0f;
    return exponential(-power * logarithm(1.0f + way - nearest));
}

// away: from the field's origin. way: from what the field's shape is.
FUNCTION float share_at(field_row row, vec away, float way)
{
    float height = dot(row.axis, away);
    if ((row.side == POSITIVE_SIDE && height < 0.0f) || (row.side == NEGATIVE_SIDE && height > 0.0f)) return 0.0f;
    if (row.falloff == SPHERE) return fading(way, row.nearest, row.farthest, row.power);
    float along = fading(fabsf(height), row.nearest, row.farthest, row.power), across;
    if (row.falloff == TUBE)
        across = length(away - height * row.axis);
    else {
        float size = length(away);
        across = size > 0.0f ? 57.29578f * arc_cosine(clamp(height / size, -1.0f, 1.0f)) : 0.0f;
    }
    return along * fading(across, row.radial_nearest, row.radial_farthest, row.radial_power);
}

// What acts on a vertex, summed over the fields. N/m² and m/s.
struct air_sum {
    vec wind, force;
    float own;      // share of the cloth's own velocity that the wind has against it
    float along;    // share of the wind's drag that acts along the surface too
    float pressure; // along the normal
    float damping, normal_damping;  // Pa·s/m, of all motion, and of that along the normal
};

FUNCTION void add_field(field_row row, float weight, vec at, vec centre, vec velocity, vec normal, const int *permutation,
                        int v, air_sum *sum)
{
    vec origin_away = at - row.location, away = origin_away;
    float height = dot(row.axis, origin_away);
    if (row.shape == LINE || (row.shape == PLANE && row.kind == VORTEX)) away = origin_away - height * row.axis;
    else if (row.shape == PLANE) away = height * row.axis;
    float way = length(away), share = weight * share_at(row, origin_away, way);
    if (!(share > 0.0f)) return;
    float strength = row.strength, damping = row.damping;
    if (row.noise > 0.0f) {
        strength += row.noise * gusty_number(2 * row.seed, row.frame, row.passed, v);
        if (row.kind == HARMONIC || row.kind == DRAG)
            damping += row.noise * gusty_number(2 * row.seed + 1, row.frame, row.passed, v);
    }
    float push = strength * share, against = row.flow * share;
    vec force = make_vec(0.0f, 0.0f, 0.0f), zero = force;
    if (row.kind == WIND) {
        sum->wind = sum->wind + push * row.axis;
        sum->own += (row.flow - 1.0f) * share;
        sum->along += (1.0f - row.wind_factor) * share;
        return;
    }
    if (row.kind == FORCE) {
        if (row.gravity) push = way > 1e-6f ? push / (way * way) : 0.0f;
        force = push * direction(away, zero);
    } else if (row.kind == VORTEX && row.shape == POINT) {
        force = (push * way) * direction(cross(row.axis, away), zero);
    } else if (row.kind == VORTEX) {  // towards a turn at `push` radians a second, and inwards with it
        vec turn = push * cross(row.axis, origin_away);
        force = turn + push * cross(row.axis, turn);
        against += 1.0f;
    } else if (row.kind == MAGNETIC) {
        vec lines = row.shape == PLANE ? row.axis : direction(cross(row.axis, away), zero);
        force = push * cross(velocity, lines);
    } else if (row.kind == HARMONIC) {
        float stretch = row.size > 0.0f && way > 1e-6f ? (way - row.size) / way : 1.0f;
        force = (-push * stretch) * away;
        against = 2.0f * damping * sqrtf(fabsf(strength));
    } else if (row.kind == TURBULENCE) {
        vec p = row.global ? at + centre : origin_away + row.axis;
        if (row.size > 0.0f) p = (1.0f / row.size) * p;
        force = push * make_vec(turbulence(p.x, p.y, p.z, permutation), turbulence(p.y, p.z, p.x, permutation),
                                turbulence(p.z, p.x, p.y, permutation));
    } else
        against = share * (minimum(strength, 2.0f) * length(velocity) + minimum(damping, 2.0f));
    sum->force = sum->force + (1.0f - row.wind_factor) * force;
    sum->pressure += row.wind_factor * dot(force, normal);
    sum->damping += (1.0f - row.wind_factor) * against;
    sum->normal_damping += row.wind_factor * against;
}

// acceleration ← what air and fields give a vertex, m/s², from where it is and how fast at the step's start; pushed ← the
// displacement that `inertia_target` adds, with `forwarded` in it. The air takes as much as meets the cloth then, but never
// more than all of the relative velocity: `rate` is the share of it that goes in a second.
// lightness: 1 / areal density, m²/kg. weight: (fields, cloths). gravity: (cloths) what each has in addition, m/s².
KERNEL void air_push(int v, const vec *x OF(vertices), const vec *velocity OF(count), const vec *normal OF(count),
                     const float *lightness OF(count), const float *drag OF(count), const int *cloth OF(count),
                     const vec *field OF(7 * fields), int fields, const float *weight OF(fields * cloths), int cloths,
                     const vec *gravity OF(cloths), const vec *centre OF(1), const int *permutation OF(256),
                     float still_air, float h, const vec *forwarded OF(count), vec *acceleration OF(count),
                     vec *pushed OF(count))
{
    vec zero = make_vec(0.0f, 0.0f, 0.0f), n = normal[v], own = velocity[v];
    air_sum sum = {zero, zero, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (int f = 0; f < fields; ++f) {
        float factor = weight[f * cloths + cloth[v]];
        if (factor > 0.0f) add_field(row_of(field, f), factor, x[v], *centre, own, n, permutation, v, &sum);
    }
    vec relative = sum.wind - maximum(sum.own, 0.0f) * own;
    float met = dot(relative, n), air = drag[v] * (length(relative) + still_air);
    vec beside = clamp(sum.along, 0.0f, 1.0f) * (relative - met * n);
    float all = lightness[v] * sum.damping, across = lightness[v] * sum.normal_damping;
    float rate = air * maximum(sum.own, 1.0f) + maximum(all, 0.0f) + maximum(across, 0.0f);
    float kept = 1.0f / maximum(1.0f, h * rate);
    vec blown = air * (met * n + beside) - all * own - (across * dot(own, n)) * n;
    acceleration[v] = lightness[v] * (sum.force + sum.pressure * n) + kept * blown + gravity[cloth[v]];
    pushed[v] = forwarded[v] + (h * h) * acceleration[v];
}
