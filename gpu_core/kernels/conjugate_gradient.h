// SPDX-License-Identifier: GPL-3.0-or-later
// Preconditioned conjugate gradients with every scalar on the device: the iterations never wait for the host.
// scalar: 0 r·z, 1 step length, 2 weight of the last direction, 3 the r·z that is asked for, 4 one once it was reached: from
// then on iterations change nothing, so the host may be late to stop them; 5 r·z at the start, 6 the checks until it was
// reached, 7 the r·z at the start from which on a solve is not taken: the last one has made things worse; 8 r·Δx, twice the energy
// that the increment so far would save if the matrix were all there is.
#pragma once
#include "chunked.h"

// Below this, in J, sums of squares leave float32's normal range: nothing is left to solve, and the iterations stand still.
const float NOTHING = 1e-30f;

// 1 where the sum is below 0.
KERNEL void negative_total(int element, const float *partial OF(chunks), int chunks, int *negative OF(count))
{
    negative[element] = total(partial, chunks) < 0.0f;
}

KERNEL void gradient_start(int v, const vec *residual OF(count), vec *solution OF(count), vec *left OF(count),
                           vec *p OF(count))
{
    solution[v] = p[v] = make_vec(0.0f, 0.0f, 0.0f);
    left[v] = residual[v];
}

// growth: by how much more than the last solve that was taken this one may begin with, unless `unlimited`. accepted: 1 once the
// increment may be taken.
KERNEL void gradient_energy(int element, const float *partial OF(chunks), int chunks, float share, float growth,
                            int unlimited, int *accepted OF(count), float *scalar OF(count + 8))
{
    if (unlimited) scalar[element + 7] = int_as_float(0x7f800000);
    else if (accepted[element]) scalar[element + 7] = growth * scalar[element + 5];
    accepted[element] = 0;
    scalar[element] = scalar[element + 5] = total(partial, chunks);
    scalar[element + 6] = 0.0f;
    scalar[element + 2] = 0.0f;
    scalar[element + 3] = maximum(share * scalar[element], NOTHING);
    scalar[element + 4] = 0.0f;
    scalar[element + 8] = 0.0f;
}

KERNEL void gradient_check(int element, int *accepted OF(count), float *scalar OF(count + 7))
{
    if (scalar[element + 4] == 0.0f) scalar[element + 6] += 1.0f;
    if (scalar[element] <= scalar[element + 3]) scalar[element + 4] = 1.0f;
    accepted[element] = scalar[element + 4] == 1.0f && scalar[element + 5] <= scalar[element + 7];
}

BLOCK_KERNEL void step_length(int element, int thread, int threads, const float *partial OF(chunks), int chunks,
                              float *scalar OF(count + 8))
{
    float curvature = total_read_together(thread, threads, partial, chunks);
    if (thread > 0) return;
    bool goes = scalar[element + 4] == 0.0f && scalar[element] > NOTHING && curvature > NOTHING;
    scalar[element + 1] = goes ? scalar[element] / curvature : 0.0f;
    scalar[element + 8] += scalar[element + 1] * scalar[element];
}

BLOCK_KERNEL void direction_weight(int element, int thread, int threads, const float *partial OF(chunks), int chunks,
                                   float *scalar OF(count + 2))
{
    float energy = total_read_together(thread, threads, partial, chunks);
    if (thread > 0) return;
    scalar[element + 2] = scalar[element] > NOTHING ? energy / scalar[element] : 0.0f;
    scalar[element] = energy;
}

KERNEL void gradient_step(int v, const float *scalar OF(2), const vec *p OF(count), const vec *product OF(count),
                          vec *solution OF(count), vec *left OF(count))
{
    solution[v] = solution[v] + scalar[1] * p[v];
    left[v] = left[v] - scalar[1] * product[v];
}

KERNEL void next_direction(int v, const float *scalar OF(3), const vec *preconditioned OF(count), vec *p OF(count))
{
    p[v] = preconditioned[v] + scalar[2] * p[v];
}
