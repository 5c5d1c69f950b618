// SPDX-License-Identifier: GPL-3.0-or-later
// A multilevel preconditioner of Newton's matrix: on each level, a vertex moves with all of its aggregate, and of the
// matrix that this leaves only the 3×3 diagonal blocks are kept (Bramble, Pasciak, Xu 1990, with aggregates in place of
// coarse meshes). Aggregates of all levels are numbered through, the finest first; the parts of those on the finest level
// are vertices, of the others aggregates.
#pragma once
#include "curvature.h"

// What contacts add to the blocks of the finest aggregates. aggregate: (vertices) −1 where a pin holds.
KERNEL void aggregate_contact(int a, const int *part_start OF(aggregates + 1), const int *part OF(parts),
                              const int *aggregate OF(cloth_vertices), int cloth_vertices,
                              const int *contact_start OF(cloth_vertices + 1),
                              const int *contact_end OF(cloth_vertices), const int *contact_touching OF(incidences),
                              const int *corner OF(4 * contacts),
                              const vec *barycentric OF(contacts), const vec *normal OF(contacts),
                              const vec *slide OF(contacts), const vec *curvature OF(contacts),
                              vec *contact OF(2 * aggregates))
{
    vec zero = make_vec(0.0f, 0.0f, 0.0f);
    block b = {{zero, zero, zero}};
    for (int k = part_start[a]; k < part_start[a + 1]; ++k)
        for (int at = contact_start[part[k]]; at < contact_end[part[k]]; ++at) {
            int i = contact_touching[at] / 4;
            float together = 0.0f;
            for (int c = 0; c < 4; ++c) {
                int v = corner[4 * i + c];
                if (v < cloth_vertices && aggregate[v] == a) together += component(barycentric, i, c);
            }
            float weight = component(barycentric, i, contact_touching[at] % 4) * together;
            add_identity(&b, weight * curvature[i].y);
            add_outer(&b, weight * (curvature[i].x - curvature[i].y), normal[i], normal[i]);
            add_outer(&b, weight * (curvature[i].z - curvature[i].y), slide[i], slide[i]);
        }
    store_symmetric(contact + 2 * a, b);
}

// The same of a coarser level, as if no contact joined two parts: too stiff where two of a pair's sides are in one
// aggregate, which only makes its correction smaller. element 0 is aggregate `first`.
KERNEL void coarser_contact(int element, int first, const int *part_start OF(aggregates + 1), const int *part OF(parts),
                            vec *contact OF(2 * aggregates))
{
    int a = first + element;
    vec sum[2] = {make_vec(0.0f, 0.0f, 0.0f), make_vec(0.0f, 0.0f, 0.0f)};
    for (int k = part_start[a]; k < part_start[a + 1]; ++k)
        for (int half = 0; half < 2; ++half) sum[half] = sum[half] + contact[2 * part[k] + half];
    contact[2 * a] = sum[0], contact[2 * a + 1] = sum[1];
}

KERNEL void clear_vector(int i, vec *to OF(count))
{
    to[i] = make_vec(0.0f, 0.0f, 0.0f);
}

// The inverse block of each aggregate. weight: its vertices' share of the scalar rows; leaving: the edges that lead out
// of it, for inside it the membrane does not strain.
KERNEL void aggregate_inverse(int a, const float *weight OF(count), const int *leaving_start OF(count + 1),
                              const int *leaving OF(crossings), const vec *columns OF(3 * edges),
                              const vec *contact OF(2 * count), vec *inverse OF(2 * count))
{
    vec zero = make_vec(0.0f, 0.0f, 0.0f);
    block b = {{zero, zero, zero}};
    add_identity(&b, weight[a]);
    const int many = AT_ONCE(8);
    for (int first = leaving_start[a], last = leaving_start[a + 1]; first < last; first += many) {
        vec read[3 * many];
        for (int k = 0; k < 3 * many; ++k) read[k] = columns[3 * leaving[first + k / 3 < last ? first + k / 3 : first] + k % 3];
        for (int k = 0; k < 3 * many; ++k) b.row[k % 3] = b.row[k % 3] - (first + k / 3 < last ? read[k] : zero);
    }
    vec six[2];
    store_symmetric(six, b);
    invert_symmetric(six[0] + contact[2 * a], six[1] + contact[2 * a + 1], inverse + 2 * a);
}

// sum ← the residual of each of an aggregate's parts, together; correction ← its inverse block times that.
FUNCTION void restricted(int a, const int *part_start, const int *part, const vec *below, const vec *inverse, vec *sum,
                         vec *correction)
{
    const int many = AT_ONCE(8);
    vec zero = make_vec(0.0f, 0.0f, 0.0f), total = zero, read[many];
    for (int first = part_start[a], last = part_start[a + 1]; first < last; first += many) {
        for (int k = 0; k < many; ++k) read[k] = below[part[first + k < last ? first + k : first]];
        for (int k = 0; k < many; ++k) total = total + (first + k < last ? read[k] : zero);
    }
    sum[a] = total;
    correction[a] = symmetric_times(inverse + 2 * a, total);
}

// That of the aggregates of one level. element 0 is aggregate `first`.
KERNEL void aggregate_restrict(int element, int first, const int *part_start OF(aggregates + 1),
                               const int *part OF(parts), const vec *below OF(values),
                               const vec *inverse OF(2 * aggregates), vec *sum OF(aggregates),
                               vec *correction OF(aggregates))
{
    restricted(first + element, part_start, part, below, inverse, sum, correction);
}

// That of coarser levels, one after the other: aggregates first[level] to first[level + 1], too few to be worth a launch each.
BLOCK_KERNEL void coarser_restrict(int, int thread, int threads, const int *first OF(levels + 1), int levels,
                                   const int *part_start OF(aggregates + 1), const int *part OF(parts),
                                   const vec *inverse OF(2 * aggregates), vec *sum OF(aggregates),
                                   vec *correction OF(aggregates))
{
    for (int level = 0; level < levels; ++level) {
        for (int a = first[level] + thread; a < first[level + 1]; a += threads)
            restricted(a, part_start, part, sum, inverse, sum, correction);
        BARRIER();
    }
}

// The preconditioned residual: the vertex's own block, and the corrections of all aggregates that it is in.
// Gives the residual times that.
KERNEL float precondition(int v, const vec *inverse OF(2 * count), const vec *left OF(count),
                          const int *aggregate OF(count), const int *parent OF(aggregates),
                          const vec *correction OF(aggregates), vec *preconditioned OF(count))
{
    vec sum = symmetric_times(inverse + 2 * v, left[v]);
    for (int a = aggregate[v]; a >= 0; a = parent[a]) sum = sum + correction[a];
    preconditioned[v] = sum;
    return across(product(left[v], sum));
}
