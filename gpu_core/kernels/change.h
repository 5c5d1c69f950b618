// SPDX-License-Identifier: GPL-3.0-or-later
// How much an iteration changes, by cloth (solvers/change.py), in two stages of chunks that end where a cloth does.
#pragma once
#include "chunked.h"

// (largest |Δx|², Σ|Δx|², Σ|displacement − coast|²) of the vertices first[element] to first[element + 1].
BLOCK_KERNEL void change_partial(int chunk, int thread, int threads, const int *first OF(count + 1),
                                 const vec *increment OF(cloth), const vec *displacement OF(cloth),
                                 const vec *coast OF(cloth), vec *partial OF(count))
{
    SHARED float square[CHUNK], gain[CHUNK];
    int vertices = first[chunk + 1] - first[chunk];
    for (int k = thread; k < vertices; k += threads) {
        int v = first[chunk] + k;
        vec gained = displacement[v] - coast[v];
        square[k] = dot(increment[v], increment[v]);
        gain[k] = dot(gained, gained);
    }
    BARRIER();
    if (thread > 0) return;
    float largest = 0.0f, sum = 0.0f, gained = 0.0f;
    for (int k = 0; k < vertices; ++k) {
        largest = maximum(largest, square[k]);
        sum += square[k];
        gained += gain[k];
    }
    partial[chunk] = make_vec(largest, sum, gained);
}

// (largest, root mean square, root mean square of what the displacement gained) of a cloth with chunks start[cloth] to
// start[cloth + 1], m. What is no number makes the second no number.
KERNEL void change_total(int cloth, const int *start OF(count + 1), const int *vertices OF(count),
                         const vec *partial OF(chunks), vec *size OF(count))
{
    const int many = AT_ONCE(16);
    vec read[many];
    float largest = 0.0f, sum = 0.0f, gained = 0.0f;
    for (int first = start[cloth], last = start[cloth + 1]; first < last; first += many) {
        for (int k = 0; k < many; ++k) read[k] = partial[first + k < last ? first + k : first];
        for (int k = 0; k < many; ++k) {
            vec own = first + k < last ? read[k] : make_vec(0.0f, 0.0f, 0.0f);
            largest = maximum(largest, own.x), sum += own.y, gained += own.z;
        }
    }
    float count = (float)vertices[cloth];
    size[cloth] = make_vec(sqrtf(largest), sqrtf(sum / count), sqrtf(gained / count));
}
