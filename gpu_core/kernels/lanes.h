// SPDX-License-Identifier: GPL-3.0-or-later
// Four floats, so that every device loads a point or vector of space in one aligned access; w is unused there and 0.
// What is done to all four alike. The bits are the same whichever way they are computed, and a NaN has the same say: it is not
// negative, so that what nobody can tell apart counts as near.
#pragma once
#include "compat.h"

// One register where the compiler has a type for it: left to itself, g++ takes the four numbers one by one.
#if defined(__GNUC__) && !defined(__CUDACC_RTC__) && !defined(SCALAR_LANES)
typedef float lanes __attribute__((vector_size(16)));
#if __GNUC__ >= 12 || defined(__clang__)
#define SHUFFLES
#endif
union alignas(16) vec {
    struct {
        float x, y, z, w;
    };
    lanes all;
};
FUNCTION vec vec_of(lanes all)
{
    vec result;
    result.all = all;
    return result;
}
FUNCTION vec make_four(float x, float y, float z, float w) { return vec_of(lanes{x, y, z, w}); }
FUNCTION vec operator+(vec a, vec b) { return vec_of(a.all + b.all); }
FUNCTION vec operator-(vec a, vec b) { return vec_of(a.all - b.all); }
FUNCTION vec operator*(float s, vec a) { return vec_of(s * a.all); }
FUNCTION vec product(vec a, vec b) { return vec_of(a.all * b.all); }
FUNCTION float across(vec a) { return a.all[0] + a.all[1] + a.all[2]; }
FUNCTION vec lower(vec a, vec b) { return vec_of(b.all < a.all ? b.all : a.all); }
FUNCTION vec upper(vec a, vec b) { return vec_of(b.all > a.all ? b.all : a.all); }
FUNCTION bool none_negative(vec a)
{
    typedef long long halves __attribute__((vector_size(16)));
    halves signs = (halves)(a.all < 0.0f);
    return (signs[0] | signs[1]) == 0;
}
#else
struct alignas(16) vec {
    float x, y, z, w;
};
FUNCTION vec make_four(float x, float y, float z, float w)
{
    vec result;
    result.x = x, result.y = y, result.z = z, result.w = w;
    return result;
}
FUNCTION vec operator+(vec a, vec b) { return make_four(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
FUNCTION vec operator-(vec a, vec b) { return make_four(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
FUNCTION vec operator*(float s, vec a) { return make_four(s * a.x, s * a.y, s * a.z, s * a.w); }
FUNCTION vec product(vec a, vec b) { return make_four(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
FUNCTION float across(vec a) { return a.x + a.y + a.z; }
FUNCTION vec lower(vec a, vec b)
{
    return make_four(minimum(a.x, b.x), minimum(a.y, b.y), minimum(a.z, b.z), minimum(a.w, b.w));
}
FUNCTION vec upper(vec a, vec b)
{
    return make_four(maximum(a.x, b.x), maximum(a.y, b.y), maximum(a.z, b.z), maximum(a.w, b.w));
}
FUNCTION bool none_negative(vec a) { return !(a.x < 0.0f || a.y < 0.0f || a.z < 0.0f || a.w < 0.0f); }
#endif

// The sums of the numbers of a, of b and of c, whose fourth ones are 0. Left to itself, g++ adds one by one.
FUNCTION vec sums(vec a, vec b, vec c)
{
#ifdef SHUFFLES
    lanes low = __builtin_shufflevector(a.all, b.all, 0, 4, 1, 5), high = __builtin_shufflevector(a.all, b.all, 2, 6, 3, 7);
    lanes x = __builtin_shufflevector(low, c.all, 0, 1, 4, 7), y = __builtin_shufflevector(low, c.all, 2, 3, 5, 7);
    return vec_of(x + y + __builtin_shufflevector(high, c.all, 0, 1, 6, 7));
#else
    return make_four(a.x + a.y + a.z, b.x + b.y + b.z, c.x + c.y + c.z, 0.0f);
#endif
}
