// SPDX-License-Identifier: GPL-3.0-or-later
// What differs between the devices, and nothing else (as Cycles' compat.h). The kernels see only these words.
#pragma once

// How many elements an array has, as a parameter of a kernel declares it: `const vec *x OF(vertices)`. For the launch, which
// checks it (backend/signatures.py); a compiler sees nothing.
#define OF(length)

#ifdef __CUDACC_RTC__
// How much of a list a thread reads before it makes use of the first of it. One that reads one number after the other waits half
// a µs for each, and so does one that looks before each whether there is one: beyond the list's end, the first is read again.
#define AT_ONCE(many) many
#define FUNCTION __device__ __forceinline__
#define KERNEL __device__ __forceinline__
// Of a BLOCK_KERNEL (backend/signatures.py): all its threads have come this far; an array that they have in common.
#define BARRIER() __syncthreads()
#define SHARED __shared__
// Of integers: the order of the updates does not change the result, so this stays deterministic.
#define ATOMIC_MINIMUM(address, value) atomicMin(address, value)
#define ATOMIC_MAXIMUM(address, value) atomicMax(address, value)
#define ATOMIC_SUM(address, value) atomicAdd(address, value)
FUNCTION int float_as_int(float value) { return __float_as_int(value); }
FUNCTION float int_as_float(int bits) { return __int_as_float(bits); }
FUNCTION int lowest_bit(int bits) { return __ffs(bits) - 1; }
#else
#include <math.h>
#include <string.h>
#define AT_ONCE(many) 1
#define BARRIER()
#define SHARED
// Always: what g++ inlines is otherwise decided by how much there is in all, and a line elsewhere costs a kernel a third.
#define FUNCTION static inline __attribute__((always_inline))
#define KERNEL static inline
FUNCTION void atomic_minimum(int *address, int value)
{
    int seen = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(address, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}
FUNCTION void atomic_maximum(int *address, int value)
{
    int seen = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (value > seen && !__atomic_compare_exchange_n(address, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}
#define ATOMIC_MINIMUM(address, value) atomic_minimum(address, value)
#define ATOMIC_MAXIMUM(address, value) atomic_maximum(address, value)
#define ATOMIC_SUM(address, value) __atomic_fetch_add(address, value, __ATOMIC_RELAXED)
FUNCTION int float_as_int(float value)
{
    int bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
FUNCTION float int_as_float(int bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
FUNCTION int lowest_bit(int bits) { return __builtin_ctz(static_cast<unsigned>(bits)); }
#endif

#define BLOCK_KERNEL KERNEL

FUNCTION float minimum(float a, float b) { return b < a ? b : a; }
FUNCTION float maximum(float a, float b) { return b > a ? b : a; }
FUNCTION float clamp(float value, float low, float high) { return minimum(maximum(value, low), high); }
