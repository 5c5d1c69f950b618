// SPDX-License-Identifier: GPL-3.0-or-later
// A float that counts what is done to it: the kernels compiled with it report their own arithmetic.
// One for + − × ÷ and the square root, a power and a logarithm as one too; comparisons, signs and copies are free.
#pragma once
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

static long long operations = 0;

struct counted {
    float value;
    counted() = default;
    template <class Number> constexpr counted(Number number) : value(number) {}
    explicit operator int() const { return (int)value; }
    counted operator-() const { return -value; }
    counted &operator+=(counted b) { return ++operations, value += b.value, *this; }
    counted &operator-=(counted b) { return ++operations, value -= b.value, *this; }
    counted &operator*=(counted b) { return ++operations, value *= b.value, *this; }
    counted &operator/=(counted b) { return ++operations, value /= b.value, *this; }
};
static inline counted operator+(counted a, counted b) { return a += b; }
static inline counted operator-(counted a, counted b) { return a -= b; }
static inline counted operator*(counted a, counted b) { return a *= b; }
static inline counted operator/(counted a, counted b) { return a /= b; }
static inline bool operator<(counted a, counted b) { return a.value < b.value; }
static inline bool operator>(counted a, counted b) { return a.value > b.value; }
static inline bool operator<=(counted a, counted b) { return a.value <= b.value; }
static inline bool operator>=(counted a, counted b) { return a.value >= b.value; }
static inline bool operator==(counted a, counted b) { return a.value == b.value; }
static inline bool operator!=(counted a, counted b) { return a.value != b.value; }
static inline counted sqrtf(counted a) { return ++operations, std::sqrt(a.value); }
static inline counted powf(counted a, counted b) { return ++operations, std::pow(a.value, b.value); }
static inline counted logf(counted a) { return ++operations, std::log(a.value); }
static inline counted floorf(counted a) { return std::floor(a.value); }
static inline counted fabsf(counted a) { return std::fabs(a.value); }

extern "C" __attribute__((visibility("default"))) long long taffeta_operations() { return operations; }
#define SCALAR_LANES
#define float counted
