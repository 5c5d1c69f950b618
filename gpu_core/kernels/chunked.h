// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over all vertices in stages of fixed chunks (solvers/sums.py): every device adds in the same order.
#pragma once
#include "vector.h"

const int CHUNK = 256;  // numbers per partial sum

// Where a vertex's number is: stride 1 = one vertex beside the next, as a processor reads them; stride = chunks: one chunk beside
// the next, whose threads read together on a card.
FUNCTION int place_in_chunks(int v, int stride)
{
    return stride == 1 ? v : (v % CHUNK) * stride + v / CHUNK;
}

// Of products of vectors that are not added up yet.
KERNEL void product_partial(int element, const vec *product_at OF(places), int stride, int vertices, float *partial OF(count))
{
    int first = element * CHUNK, last = first + CHUNK < vertices ? first + CHUNK : vertices;
    const vec *product = product_at + place_in_chunks(first, stride);
    float sum = 0.0f;
    TOGETHER(16)
    for (int k = 0; k < last - first; ++k) sum += across(product[k * stride]);
    partial[element] = sum;
}

FUNCTION float total(const float *partial, int chunks)
{
    float sum = 0.0f;
    TOGETHER(32)
    for (int k = 0; k < chunks; ++k) sum += partial[k];
    return sum;
}

KERNEL void partial_total(int element, const float *partial OF(chunks), int chunks, float *sum OF(count))
{
    int first = element * CHUNK;
    sum[element] = total(partial + first, first + CHUNK < chunks ? CHUNK : chunks - first);
}
