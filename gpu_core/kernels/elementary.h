// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of which every C library has its own last digit. These give the same bits on every device.
#pragma once
#include "compat.h"

// The natural logarithm of a normal number above 0, to about an ulp (Moshier, Cephes: logf).
FUNCTION float logarithm(float value)
{
    int bits = float_as_int(value), exponent = (bits >> 23) - 126;
    float x = int_as_float((bits & 0x007fffff) | 0x3f000000);  // in [1/2, 1)
    if (x < 0.70710678f) {
        exponent -= 1;
        x = x + x - 1.0f;
    } else
        x = x - 1.0f;
    float square = x * x, e = static_cast<float>(exponent);
    float series = 7.0376836292e-2f;
    series = series * x - 1.1514610310e-1f;
    series = series * x + 1.1676998740e-1f;
    series = series * x - 1.2420140846e-1f;
    series = series * x + 1.4249322787e-1f;
    series = series * x - 1.6668057665e-1f;
    series = series * x + 2.0000714765e-1f;
    series = series * x - 2.4999993993e-1f;
    series = series * x + 3.3333331174e-1f;
    return x + (series * x * square - 2.12194440e-4f * e - 0.5f * square) + 0.693359375f * e;
}

// base to the power of n ≥ 0, by squaring.
FUNCTION float power(float base, int n)
{
    float result = 1.0f;
    for (; n > 0; n >>= 1, base *= base)
        if (n & 1) result *= base;
    return result;
}

// e to the power of x, to about an ulp (Moshier, Cephes: expf); beyond ±87 as there.
FUNCTION float exponential(float x)
{
    x = clamp(x, -87.0f, 87.0f);
    float n = floorf(1.44269504f * x + 0.5f);
    x = x - n * 0.693359375f - n * -2.12194440e-4f;
    float series = 1.9875691500e-4f;
    series = series * x + 1.3981999507e-3f;
    series = series * x + 8.3334519073e-3f;
    series = series * x + 4.1665795894e-2f;
    series = series * x + 1.6666665459e-1f;
    series = series * x + 5.0000001201e-1f;
    return (series * x * x + x + 1.0f) * int_as_float((static_cast<int>(n) + 127) << 23);
}

// Of |x| <= 1/2, to about an ulp (Moshier, Cephes: asinf).
FUNCTION float arc_sine_near_0(float x)
{
    float z = x * x, series = 4.2163199048e-2f;
    series = series * z + 2.4181311049e-2f;
    series = series * z + 4.5470025998e-2f;
    series = series * z + 7.4953002686e-2f;
    series = series * z + 1.6666752422e-1f;
    return x + x * z * series;
}

// Of |x| <= 1, in radians.
FUNCTION float arc_cosine(float x)
{
    if (x > 0.5f) return 2.0f * arc_sine_near_0(sqrtf(0.5f * (1.0f - x)));
    if (x < -0.5f) return 3.14159265f - 2.0f * arc_sine_near_0(sqrtf(0.5f * (1.0f + x)));
    return 1.57079633f - arc_sine_near_0(x);
}
