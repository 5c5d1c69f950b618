// SPDX-License-Identifier: GPL-3.0-or-later
// Random numbers by place and by time: the same wherever and whenever they are asked for.
#pragma once
#include "compat.h"

FUNCTION float blend(float t, float a, float b) { return a + t * (b - a); }
FUNCTION float fade(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

// One of twelve directions, from the middle of a cube to its edges, times (x, y, z).
FUNCTION float slope(int code, float x, float y, float z)
{
    int h = code & 15;
    float u = h < 8 ? x : y, v = h < 4 ? y : h == 12 || h == 14 ? x : z;
    return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
}

// Gradient noise, in [-1, 1]: K. Perlin, Improving noise, SIGGRAPH 2002. permutation: of 0 … 255.
FUNCTION float gradient_noise(float x, float y, float z, const int *permutation)
{
    float floors[3] = {floorf(x), floorf(y), floorf(z)};
    // A place so far out that no whole number has it is not one of cloth, and int would be undefined.
    int i = static_cast<int>(clamp(floors[0], -1e9f, 1e9f)) & 255, j = static_cast<int>(clamp(floors[1], -1e9f, 1e9f)) & 255;
    int k = static_cast<int>(clamp(floors[2], -1e9f, 1e9f)) & 255;
    x -= floors[0], y -= floors[1], z -= floors[2];
    float layer[2], u = fade(x), v = fade(y), w = fade(z);
    for (int c = 0; c < 2; ++c) {
        float line[2];
        for (int b = 0; b < 2; ++b) {
            float point[2];
            for (int a = 0; a < 2; ++a) {
                int code = permutation[(permutation[(permutation[(i + a) & 255] + j + b) & 255] + k + c) & 255];
                point[a] = slope(code, x - static_cast<float>(a), y - static_cast<float>(b), z - static_cast<float>(c));
            }
            line[b] = blend(u, point[0], point[1]);
        }
        layer[c] = blend(v, line[0], line[1]);
    }
    return blend(w, layer[0], layer[1]);
}

// Three octaves, each with half the strength and half the size of the one before, in [-1, 1].
FUNCTION float turbulence(float x, float y, float z, const int *permutation)
{
    float sum = gradient_noise(x, y, z, permutation);
    sum += 0.5f * gradient_noise(2.0f * x, 2.0f * y, 2.0f * z, permutation);
    return (4.0f / 7.0f) * (sum + 0.25f * gradient_noise(4.0f * x, 4.0f * y, 4.0f * z, permutation));
}

// Bits in which no pattern of the number is left (C. Wellons, `lowbias32`).
FUNCTION unsigned mixed(unsigned bits)
{
    bits ^= bits >> 16, bits *= 0x7feb352dU, bits ^= bits >> 15, bits *= 0x846ca68bU, bits ^= bits >> 16;
    return bits;
}

// As Blender distributes the noise of a field: mostly below 1, more often above 0 than below.
FUNCTION float uneven_number(int seed, int frame, int v)
{
    unsigned bits = mixed(static_cast<unsigned>(v) + mixed(static_cast<unsigned>(frame) + mixed(static_cast<unsigned>(seed))));
    float size = static_cast<float>(bits & 127U) / 128.0f, spread = static_cast<float>((bits >> 8) & 0xffffU) / 65536.0f;
    return ((bits & 127U) > 64U ? size : -size) / (1.0f + spread);
}

// The same with one number a frame and vertex, linear in between: it is none of the time step. passed: of the frame.
FUNCTION float gusty_number(int seed, int frame, float passed, int v)
{
    return blend(passed, uneven_number(seed, frame, v), uneven_number(seed, frame + 1, v));
}
