// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over all vertices in stages of fixed chunks (solvers/sums.py): every device adds in the same order. The first stage is the
// launch's: what a kernel that is no void gives for each of CHUNK elements, one after the other (backend/signatures.py).
#pragma once
#include "vector.h"

const int CHUNK = 256;  // numbers per partial sum

FUNCTION float total(const float *partial, int chunks)
{
    const int many = AT_ONCE(32);
    float sum = 0.0f, read[many];
    for (int first = 0; first < chunks; first += many) {
        for (int k = 0; k < many; ++k) read[k] = partial[first + k < chunks ? first + k : first];
        for (int k = 0; k < many; ++k) sum += first + k < chunks ? read[k] : 0.0f;
    }
    return sum;
}

// The same, read by a whole block, of which thread 0 has it. chunks: CHUNK at most.
FUNCTION float total_read_together(int thread, int threads, const float *partial, int chunks)
{
    SHARED float read[CHUNK];
    for (int k = thread; k < chunks; k += threads) read[k] = partial[k];
    BARRIER();
    float sum = 0.0f;
    for (int k = 0; k < chunks && thread == 0; ++k) sum += read[k];
    return sum;
}

// Numbers that are there already.
KERNEL float each_number(int i, const float *number OF(count))
{
    return number[i];
}
