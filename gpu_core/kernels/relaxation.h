// SPDX-License-Identifier: GPL-3.0-or-later
// Sweeps on (H + ΔH) Δx = residual: Chebyshev, damped Jacobi, and the paper's aggregated Jacobi (A-Jacobi).
// H: rows of the free–free block without the diagonal; diagonal: of H + ΔH. Pinned vertices have empty rows.
#pragma once
#include "vector.h"

FUNCTION vec row_times(int v, const int *start, const int *column, const float *value, const vec *x)
{
    vec sum = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = start[v]; k < start[v + 1]; ++k) sum = sum + value[k] * x[column[k]];
    return sum;
}

FUNCTION vec preconditioned(int v, const int *start, const int *column, const float *value, const float *diagonal,
                            const vec *residual, const vec *increment)
{
    vec left = residual[v] - row_times(v, start, column, value, increment);
    return (1.0f / diagonal[v]) * left - increment[v];
}

// One step of the Chebyshev semi-iteration in its three-term form: p ← keep p + gain D⁻¹ r; Δx ← Δx + p.
KERNEL void chebyshev_sweep(int v, const int *start OF(count + 1), const int *column OF(entries),
                            const float *value OF(entries), const float *diagonal OF(count),
                            const float *free OF(count), const vec *residual OF(count), const vec *before OF(count),
                            float keep, float gain, vec *p OF(count), vec *after OF(count))
{
    vec step = free[v] * (gain * preconditioned(v, start, column, value, diagonal, residual, before));
    if (keep != 0.0f) step = step + keep * p[v];
    p[v] = step;
    after[v] = before[v] + step;
}

// Two sweeps of Jacobi in one pass over the mesh, ω = weight: the neighbours' first sweep is computed again on the fly.
KERNEL void a_jacobi(int v, const int *start OF(count + 1), const int *column OF(entries),
                     const float *value OF(entries), const float *diagonal OF(count), const float *free OF(count),
                     const vec *residual OF(count), const vec *before OF(count), float weight, vec *after OF(count))
{
    vec sum = make_vec(0.0f, 0.0f, 0.0f);
    for (int k = start[v]; k < start[v + 1]; ++k) {
        int j = column[k];
        vec first = before[j] + (weight * free[j]) * preconditioned(j, start, column, value, diagonal, residual, before);
        sum = sum + value[k] * first;
    }
    vec own = before[v] + (weight * free[v]) * preconditioned(v, start, column, value, diagonal, residual, before);
    after[v] = own + (weight * free[v]) * ((1.0f / diagonal[v]) * (residual[v] - sum) - own);
}
