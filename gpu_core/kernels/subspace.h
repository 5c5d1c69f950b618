// SPDX-License-Identifier: GPL-3.0-or-later
// Projections onto the modes of the rest-shape H. modes: (r, N), one mode a row.
// Sums over the vertices run in two stages of fixed chunks, so every device adds in the same order.
#pragma once
#include "vector.h"

// partial[mode, chunk] = Σ over the chunk of mode · residual (Uᵀb). One element is (mode, chunk).
KERNEL void restrict_partial(int element, const float *modes OF(count / chunks * vertices),
                             const vec *residual OF(vertices), int vertices, int chunk, int chunks,
                             vec *partial OF(count))
{
    int mode = element / chunks, first = (element % chunks) * chunk;
    int last = first + chunk < vertices ? first + chunk : vertices;
    const float *row = modes + (size_t)mode * vertices;
    vec sum = make_vec(0.0f, 0.0f, 0.0f);
    for (int v = first; v < last; ++v) sum = sum + row[v] * residual[v];
    partial[element] = sum;
}

KERNEL void restrict_total(int mode, const vec *partial OF(count * chunks), int chunks, vec *total OF(count))
{
    vec sum = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = 0; k < chunks; ++k) sum = sum + partial[mode * chunks + k];
    total[mode] = sum;
}

// Δx = U q.
KERNEL void prolong(int v, const float *modes OF(rank * vertices), const vec *q OF(rank), int vertices, int rank,
                    vec *increment OF(count))
{
    vec sum = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = 0; k < rank; ++k) sum = sum + modes[(size_t)k * vertices + v] * q[k];
    increment[v] = sum;
}

// The modes' columns at the touched vertices, side by side: (r, touched).
KERNEL void touched_modes(int element, const float *modes OF(count / touches * vertices),
                          const int *touched OF(touches), int vertices, int touches, float *columns OF(count))
{
    columns[element] = modes[(size_t)(element / touches) * vertices + touched[element % touches]];
}

// VᵀΔHV (docs/theory/method.md §9) as a weighted SYRK over the touched vertices. One element is (a, b, chunk), a row-major pair list.
KERNEL void gram_partial(int element, const float *columns OF(touches), const float *weight OF(cloth),
                         const int *touched OF(touches), const int *row_pair OF(2 * (count / chunks)), int touches,
                         int chunk, int chunks, float *partial OF(count))
{
    int pair = element / chunks, first = (element % chunks) * chunk;
    int last = first + chunk < touches ? first + chunk : touches;
    const float *a = columns + (size_t)row_pair[2 * pair] * touches, *b = columns + (size_t)row_pair[2 * pair + 1] * touches;
    float sum = 0.0f;
    for (int k = first; k < last; ++k) sum += weight[touched[k]] * (a[k] * b[k]);
    partial[element] = sum;
}

// Eq. 19 of the paper to the letter: Σ_j w_j V_j⊗V_j from the outer products stored once, outer: (r(r+1)/2, N).
KERNEL void gram_stored(int element, const float *outer OF(count / chunks * vertices), const float *weight OF(vertices),
                        const int *touched OF(touches), int vertices, int touches, int chunk, int chunks,
                        float *partial OF(count))
{
    int pair = element / chunks, first = (element % chunks) * chunk;
    int last = first + chunk < touches ? first + chunk : touches;
    float sum = 0.0f;
    for (int k = first; k < last; ++k) sum += weight[touched[k]] * outer[(size_t)pair * vertices + touched[k]];
    partial[element] = sum;
}
