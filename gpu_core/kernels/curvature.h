// SPDX-License-Identifier: GPL-3.0-or-later
// Newton's matrix of the step: the second derivative of inertia, membrane, bending and contact at x, with every negative
// eigenvalue cut to 0 (the isotropic ones in closed form: Smith, de Goes, Kim 2019), and its product with a vector.
// Inertia, bending and soft pins are scalar rows and never change; the membrane is one 3×3 block an edge.
#pragma once
#include "chunked.h"
#include "membrane.h"

// Rows of a 3×3 matrix.
struct block {
    vec row[3];
};

FUNCTION void add_outer(block *b, float weight, vec left, vec right)
{
    b->row[0] = b->row[0] + (weight * left.x) * right;
    b->row[1] = b->row[1] + (weight * left.y) * right;
    b->row[2] = b->row[2] + (weight * left.z) * right;
}
FUNCTION void add_identity(block *b, float weight)
{
    b->row[0].x += weight, b->row[1].y += weight, b->row[2].z += weight;
}

// ∂²E/∂F² of one triangle on F = (f1, f2): [[b11, b12], [b12ᵀ, b22]].
struct membrane_hessian {
    block b11, b12, b22;
};

// Adds weight · q⊗q for the direction q = (q1, q2) of F.
FUNCTION void add_direction(membrane_hessian *b, float weight, vec q1, vec q2)
{
    add_outer(&b->b11, weight, q1, q1), add_outer(&b->b12, weight, q1, q2), add_outer(&b->b22, weight, q2, q2);
}

// Adds n⊗n for the out-of-plane motions, times the symmetric 2×2 matrix (m11, m12, m22) between the columns.
FUNCTION void add_flip(membrane_hessian *b, vec n, float m11, float m12, float m22)
{
    add_outer(&b->b11, m11, n, n), add_outer(&b->b12, m12, n, n), add_outer(&b->b22, m22, n, n);
}

// k/2 (|f| − 1)²: along f the full stiffness, across it the tension's, none under compression.
FUNCTION void add_length(block *b, float k, vec f)
{
    float size = length(f), across = size > 1.0f ? k * (1.0f - 1.0f / size) : 0.0f;
    vec along = direction(f, make_vec(0.0f, 0.0f, 0.0f));
    add_identity(b, across), add_outer(b, k - across, along, along);
}

// Rows of ∂²E/∂x_i∂x_j of the edge from corner edge + 1 to corner edge + 2. d: as `rest_inverse`.
FUNCTION void edge_block(const membrane_hessian &b, vec d, int edge, vec *rows)
{
    vec g[3] = {make_vec(-d.x - d.z, -d.y - d.w, 0.0f), make_vec(d.x, d.y, 0.0f), make_vec(d.z, d.w, 0.0f)};
    vec i = g[(edge + 1) % 3], j = g[(edge + 2) % 3];
    for (int axis = 0; axis < 3; ++axis) {
        vec mirrored = axis == 0 ? make_vec(b.b12.row[0].x, b.b12.row[1].x, b.b12.row[2].x)
                     : axis == 1 ? make_vec(b.b12.row[0].y, b.b12.row[1].y, b.b12.row[2].y)
                                 : make_vec(b.b12.row[0].z, b.b12.row[1].z, b.b12.row[2].z);
        rows[axis] = (i.x * j.x) * b.b11.row[axis] + (i.y * j.y) * b.b22.row[axis] +
                     (i.x * j.y) * b.b12.row[axis] + (i.y * j.x) * mirrored;
    }
}

// membrane_project with its derivative: block, 3 per triangle, is ∂²E/∂x_i∂x_j of the edges (corner k+1, corner k+2).
KERNEL void membrane_curvature(int t, const vec *x OF(vertices), const int *corners OF(3 * count),
                               const vec *rest_inverse OF(count), const vec *stiffness OF(count),
                               const float *limit OF(count), const float *hardness OF(count), vec *force OF(2 * count),
                               float *limited OF(count), vec *blocks OF(9 * count))
{
    vec d = rest_inverse[t], k = stiffness[t], f1, f2, r1, r2;
    float trace, determinant;
    deformation_gradient(t, x, corners, d, &f1, &f2);
    polar_rotation(f1, f2, &r1, &r2, &trace, &determinant);
    k.w *= hardness[t];
    membrane_force(t, f1, f2, r1, r2, trace, determinant, d, k, limit[t], force, limited);
    vec n = cross(r1, r2), zero = make_vec(0.0f, 0.0f, 0.0f);
    block empty = {{zero, zero, zero}};
    membrane_hessian b = {empty, empty, empty};

    // singular values, and S = V diag(σ) Vᵀ with the angle of v1
    float half = 0.5f * trace, spread = sqrtf(maximum(half * half - determinant, 0.0f));
    float large = half + spread, small = half - spread;
    float a11 = dot(f1, f1), a12 = dot(f1, f2), a22 = dot(f2, f2);
    float cosine2 = 1.0f, sine2 = 0.0f, difference = a11 - a22, size = sqrtf(difference * difference + 4.0f * a12 * a12);
    if (size > 1e-20f) cosine2 = difference / size, sine2 = 2.0f * a12 / size;

    // k/2 ‖F − R‖²: identity, less the turn within the plane and the turns out of it, as far as they stay positive
    float out_large = 1.0f / maximum(large, 1.0f), out_small = 1.0f / maximum(small, 1.0f);
    float mean = 0.5f * (out_large + out_small), swing = 0.5f * (out_large - out_small);
    add_identity(&b.b11, k.x), add_identity(&b.b22, k.x);
    add_direction(&b, -0.5f * k.x * minimum(1.0f, 2.0f / maximum(trace, 1e-20f)), -1.0f * r2, r1);
    add_flip(&b, n, -k.x * (mean + swing * cosine2), -k.x * swing * sine2, -k.x * (mean - swing * cosine2));
    add_length(&b.b11, k.y, f1), add_length(&b.b22, k.z, f2);

    if (k.w > 0.0f && large > limit[t]) {  // strain limit: k/2 Σ (σ − limit)₊²
        float angle_cos = sqrtf(maximum(0.5f * (1.0f + cosine2), 0.0f));
        float angle_sin = (sine2 < 0.0f ? -1.0f : 1.0f) * sqrtf(maximum(0.5f * (1.0f - cosine2), 0.0f));
        vec u1 = angle_cos * r1 + angle_sin * r2, u2 = angle_cos * r2 - angle_sin * r1;
        float pull_large = k.w * (large - limit[t]), pull_small = k.w * maximum(small - limit[t], 0.0f);
        add_direction(&b, k.w, angle_cos * u1, angle_sin * u1);
        if (pull_small > 0.0f) add_direction(&b, k.w, -angle_sin * u2, angle_cos * u2);
        float turn = (pull_large + pull_small) / trace;
        float shear = spread > 1e-6f * half ? (pull_large - pull_small) / (large - small) : k.w;
        vec p1 = angle_cos * u2 - angle_sin * u1, p2 = angle_sin * u2 + angle_cos * u1;  // u1 v2ᵀ + u2 v1ᵀ
        add_direction(&b, 0.5f * turn, -1.0f * r2, r1);
        add_direction(&b, 0.5f * shear, p1, p2);
        float lift_large = pull_large / large, lift_small = pull_small / maximum(small, 1e-20f);
        float lift = 0.5f * (lift_large + lift_small), tilt = 0.5f * (lift_large - lift_small);
        add_flip(&b, n, lift + tilt * cosine2, tilt * sine2, lift - tilt * cosine2);
    }

    for (int edge = 0; edge < 3; ++edge) edge_block(b, d, edge, blocks + 9 * t + 3 * edge);
}

// membrane_damping with its derivative, less what the rest of the strain would change in it: added to `blocks`.
KERNEL void membrane_damping_curvature(int t, const vec *x OF(vertices), const vec *before OF(cloth),
                                       const int *corners OF(3 * count), const vec *rest_inverse OF(count),
                                       const vec *damping OF(count), vec *force OF(2 * count), vec *blocks OF(9 * count))
{
    vec d = rest_inverse[t], k = damping[t], f1, f2, q1, q2, zero = make_vec(0.0f, 0.0f, 0.0f), rows[3];
    damping_force(t, x, before, corners, d, k, force, &f1, &f2, &q1, &q2);
    block empty = {{zero, zero, zero}};
    membrane_hessian b = {empty, empty, empty};
    vec n = cross(q1, q2), t1 = cross(n, f1), t2 = cross(n, f2);
    add_identity(&b.b11, k.x), add_identity(&b.b22, k.x);  // all but the turns of F, in its plane and out of it
    add_direction(&b, -k.x / maximum(dot(t1, t1) + dot(t2, t2), 1e-20f), t1, t2);
    add_flip(&b, n, -k.x, 0.0f, -k.x);
    vec along = direction(f1, zero), across = direction(f2, zero);
    add_outer(&b.b11, k.y, along, along), add_outer(&b.b22, k.z, across, across);
    for (int edge = 0; edge < 3; ++edge) {
        edge_block(b, d, edge, rows);
        for (int axis = 0; axis < 3; ++axis)
            blocks[9 * t + 3 * edge + axis] = blocks[9 * t + 3 * edge + axis] + rows[axis];
    }
}

// ∂²E/∂x_a∂x_b of each edge from a to b, by columns: `constant` of bending, and the triangles' and cords' at the edge.
// What b meets of a is its transpose, so the matrix is symmetric to the last bit.
// side: (`sides` per edge) 2 (3t + side) + 1 where the triangle runs through the edge from a to b; −1 where there is none. Cords
// are sides too, after those of all triangles. block: three rows a side.
KERNEL void edge_curvature(int e, const int *side OF(sides * count), int sides, const float *constant OF(count),
                           const vec *block OF(rows), vec *columns OF(3 * count))
{
    vec zero = make_vec(0.0f, 0.0f, 0.0f), sum[3] = {zero, zero, zero};
    for (int k = 0; k < sides; ++k) {
        int at = side[sides * e + k];
        if (at < 0) continue;
        const vec *row = block + 3 * (at / 2);
        bool along = at % 2 == 1;
        sum[0] = sum[0] + (along ? make_vec(row[0].x, row[1].x, row[2].x) : row[0]);
        sum[1] = sum[1] + (along ? make_vec(row[0].y, row[1].y, row[2].y) : row[1]);
        sum[2] = sum[2] + (along ? make_vec(row[0].z, row[1].z, row[2].z) : row[2]);
    }
    sum[0].x += constant[e], sum[1].y += constant[e], sum[2].z += constant[e];
    for (int axis = 0; axis < 3; ++axis) columns[3 * e + axis] = sum[axis];
}

FUNCTION vec symmetric_times(const vec *six, vec a)
{
    vec first = six[0], second = six[1];
    return make_vec(first.x * a.x + first.y * a.y + first.z * a.z, first.y * a.x + second.x * a.y + second.y * a.z,
                    first.z * a.x + second.y * a.y + second.z * a.z);
}

// inverse ← of the symmetric block a = xx xy xz, b = yy yz zz, in the same order. The block is positive definite, by the mass
// over h² on its diagonal; where it is not, for a NaN or an overflow in it, the inverse is no number, and the solve says so.
FUNCTION void invert_symmetric(vec a, vec b, vec *inverse)
{
    float xx = a.x, xy = a.y, xz = a.z, yy = b.x, yz = b.y, zz = b.z;
    float cxx = yy * zz - yz * yz, cxy = xz * yz - xy * zz, cxz = xy * yz - xz * yy;
    float scale = 1.0f / (xx * cxx + xy * cxy + xz * cxz);
    inverse[0] = scale * make_vec(cxx, cxy, cxz);
    inverse[1] = scale * make_vec(xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy);
}

FUNCTION void store_symmetric(vec *six, block b)
{
    six[0] = make_vec(b.row[0].x, 0.5f * (b.row[0].y + b.row[1].x), 0.5f * (b.row[0].z + b.row[2].x));
    six[1] = make_vec(b.row[1].y, 0.5f * (b.row[1].z + b.row[2].y), b.row[2].z);
}

// Of the contacts of each vertex, those that push: the others have no part in K. start, incident: as in contact_residual; touching:
// what is kept of `incident`, in its order, from start[v] to end[v].
KERNEL void contacts_touching(int v, const int *start OF(count + 1), const int *incident OF(incidences),
                              const vec *curvature OF(contacts), int *touching OF(incidences), int *end OF(count))
{
    int at = start[v];
    for (int k = start[v]; k < start[v + 1]; ++k)
        if (curvature[incident[k] / 4].x > 0.0f) touching[at++] = incident[k];
    end[v] = at;
}

// The inverse of the 3×3 diagonal block of each vertex: the finest level of the preconditioner. inverse: (2 per vertex)
// xx xy xz · yy yz zz. contact_*: as in contacts_touching; curvature: stiffness of a contact along the normal, across, and
// along the slip.
KERNEL void block_inverse(int v, const float *diagonal OF(count), const int *above OF(count + 1),
                          const int *below_start OF(count + 1), const int *below OF(edges),
                          const vec *columns OF(3 * edges), const int *contact_start OF(count + 1),
                          const int *contact_end OF(count), const int *contact_touching OF(incidences),
                          const vec *barycentric OF(contacts), const vec *normal OF(contacts),
                          const vec *slide OF(contacts), const vec *curvature OF(contacts), vec *inverse OF(2 * count))
{
    vec zero = make_vec(0.0f, 0.0f, 0.0f);
    block b = {{zero, zero, zero}};
    add_identity(&b, diagonal[v]);
    for (int e = above[v]; e < above[v + 1]; ++e)
        for (int axis = 0; axis < 3; ++axis) b.row[axis] = b.row[axis] - columns[3 * e + axis];
    for (int k = below_start[v]; k < below_start[v + 1]; ++k)  // as good as its transpose: only b + bᵀ is kept
        for (int axis = 0; axis < 3; ++axis) b.row[axis] = b.row[axis] - columns[3 * below[k] + axis];
    for (int k = contact_start[v]; k < contact_end[v]; ++k) {
        int i = contact_touching[k] / 4;
        float weight = component(barycentric, i, contact_touching[k] % 4);
        add_identity(&b, weight * weight * curvature[i].y);
        add_outer(&b, weight * weight * (curvature[i].x - curvature[i].y), normal[i], normal[i]);
        add_outer(&b, weight * weight * (curvature[i].z - curvature[i].y), slide[i], slide[i]);
    }
    vec six[2];
    store_symmetric(six, b);
    invert_symmetric(six[0], six[1], inverse + 2 * v);
}

// The relative motion of a contact's sides, times its stiffness.
KERNEL void contact_curvature(int i, const int *live OF(1), const int *corner OF(4 * count), const vec *barycentric OF(count),
                              const vec *normal OF(count), const vec *slide OF(count), const vec *curvature OF(count),
                              int cloth_vertices, const vec *p OF(cloth_vertices), vec *force OF(count))
{
    if (i >= live[0]) return;
    if (curvature[i].x <= 0.0f) return;  // which nobody asks for
    vec moved = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = 0; k < 4; ++k)
        if (corner[4 * i + k] < cloth_vertices) moved = moved + component(barycentric, i, k) * p[corner[4 * i + k]];
    float along = dot(moved, normal[i]), slipping = dot(moved, slide[i]);
    force[i] = curvature[i].y * moved + ((curvature[i].x - curvature[i].y) * along) * normal[i] +
               ((curvature[i].z - curvature[i].y) * slipping) * slide[i];
}

// product = K p; gives p times that. start, column, value: bending between vertices without a common edge; diagonal: inertia,
// soft pins, and what makes up for the neighbours' bending, which goes into differences; above, below: edges to larger and to
// smaller vertices. Four sums, since a processor waits for each addition before the next to the same.
KERNEL float curvature_times(int v, const int *start OF(count + 1), const int *column OF(entries),
                             const float *value OF(entries), const float *diagonal OF(count),
                             const float *free OF(count), const int *ends OF(2 * edges), const int *above OF(count + 1),
                             const int *below_start OF(count + 1), const int *below OF(edges),
                             const vec *columns OF(3 * edges), const int *contact_start OF(count + 1),
                             const int *contact_end OF(count), const int *contact_touching OF(incidences),
                             const vec *barycentric OF(contacts),
                             const vec *contact_force OF(contacts), const vec *p OF(count), vec *product OF(count))
{
    vec zero = make_vec(0.0f, 0.0f, 0.0f), own = p[v], far = zero, forth = zero, back = zero, touched = zero;
    for (int k = start[v]; k < start[v + 1]; ++k) far = far + value[k] * p[column[k]];
    for (int e = above[v]; e < above[v + 1]; ++e) {
        const vec *block = columns + 3 * e;
        vec apart = p[ends[2 * e + 1]] - own;
        forth = forth + (apart.x * block[0] + apart.y * block[1] + apart.z * block[2]);
    }
    for (int k = below_start[v]; k < below_start[v + 1]; ++k) {
        const vec *block = columns + 3 * below[k];
        vec apart = p[ends[2 * below[k]]] - own;
        back = back + rows_times(block, apart);
    }
    for (int k = contact_start[v]; k < contact_end[v]; ++k) {
        int i = contact_touching[k] / 4;
        touched = touched + component(barycentric, i, contact_touching[k] % 4) * contact_force[i];
    }
    vec sum = diagonal[v] * own + far + (forth + back) + touched;
    sum.w = 0.0f;
    sum = free[v] * sum;
    product[v] = sum;
    return across(::product(own, sum));
}
