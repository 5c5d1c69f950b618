// SPDX-License-Identifier: GPL-3.0-or-later
// How much an iteration changes, by cloth (solvers/change.py), in two stages of fixed chunks that end where a cloth does.
#pragma once
#include "vector.h"

// (largest |Δx|², Σ|Δx|², Σ|displacement − coast|²) of the vertices first[element] to first[element + 1].
KERNEL void change_partial(int element, const int *first OF(count + 1), const vec *increment OF(cloth),
                           const vec *displacement OF(cloth), const vec *coast OF(cloth), vec *partial OF(count))
{
    float largest = 0.0f, sum = 0.0f, gained = 0.0f;
    TOGETHER(8)
    for (int v = first[element]; v < first[element + 1]; ++v) {
        float square = dot(increment[v], increment[v]);
        vec gain = displacement[v] - coast[v];
        largest = maximum(largest, square);
        sum += square;
        gained += dot(gain, gain);
    }
    partial[element] = make_vec(largest, sum, gained);
}

// (largest, root mean square, root mean square of what the displacement gained) of a cloth with chunks start[cloth] to
// start[cloth + 1], m. What is no number makes the second no number.
KERNEL void change_total(int cloth, const int *start OF(count + 1), const int *vertices OF(count),
                         const vec *partial OF(chunks), vec *size OF(count))
{
    float largest = 0.0f, sum = 0.0f, gained = 0.0f;
    TOGETHER(16)
    for (int k = start[cloth]; k < start[cloth + 1]; ++k) {
        largest = maximum(largest, partial[k].x);
        sum += partial[k].y;
        gained += partial[k].z;
    }
    float count = (float)vertices[cloth];
    size[cloth] = make_vec(sqrtf(largest), sqrtf(sum / count), sqrtf(gained / count));
}
