/* The kernels' floating-point type: float in the shipped build, double in the one that tests compare with the oracle;
   vectors of 16 of them, which the compiler cuts into what the machine has, so that all builds give the same bits. */
#ifndef ALIGNER_REAL_H
#define ALIGNER_REAL_H
#include <cmath>
#include <cstdint>
#include <cstring>

#ifdef ALIGNER_DOUBLE
typedef double real;
typedef int64_t whole;
#else
typedef float real;
typedef int32_t whole;
#endif

/* The least sum of probabilities that has an inverse: that of less would be infinite. Below 1.2e-38 a float has few
   digits, and processors are slow with it. */
static const real LEAST = (real)1e-37;

typedef real vec __attribute__((vector_size(16 * sizeof(real))));
typedef real vec8 __attribute__((vector_size(8 * sizeof(real))));
typedef real vec4 __attribute__((vector_size(4 * sizeof(real))));
typedef whole pick4 __attribute__((vector_size(4 * sizeof(real))));

static inline vec load(const real *at) { vec x; std::memcpy(&x, at, sizeof x); return x; }
static inline void store(real *at, const vec &x) { std::memcpy(at, &x, sizeof x); }
static inline vec splat(real x) { return vec{} + x; }

/* The sum of the lanes, by halves. */
static inline real sum(const vec &x) {
    vec8 halves[2]; std::memcpy(halves, &x, sizeof x);
    const vec8 eight = halves[0] + halves[1];
    vec4 quarters[2]; std::memcpy(quarters, &eight, sizeof eight);
    const vec4 four = quarters[0] + quarters[1];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

static inline vec larger(const vec &x, const vec &y) { return x > y ? x : y; }
static inline vec quotient(const vec &x, real y) { return x / y; }  /* Cython would compare a vector with 0 */

/* Where x is larger than best: best becomes x, and whose becomes name. */
static inline void take_larger(vec &best, vec &whose, const vec &x, const vec &name) {
    const vec old = best;
    best = x > old ? x : old;
    whose = x > old ? name : whose;
}

/* The largest of the lanes. */
static inline real largest(const vec &x) {
    real most = x[0];
    for (int k = 1; k < 16; k++) most = x[k] > most ? x[k] : most;
    return most;
}

#ifdef __clang__
#define PICK4(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK4(a, b, ...) __builtin_shuffle(a, b, pick4{__VA_ARGS__})
#endif

/* out[i] = x[0] + ... + x[i], i < n, a multiple of 4; four at a time. */
static inline void add_up(const real *x, real *out, int64_t n) {
    const vec4 zero = {0, 0, 0, 0};
    vec4 carry = zero;
    for (int64_t i = 0; i < n; i += 4) {
        vec4 four; std::memcpy(&four, x + i, sizeof four);
        four = four + PICK4(four, zero, 4, 0, 1, 2);
        four = four + PICK4(four, zero, 4, 4, 0, 1);
        four = four + carry;
        carry = PICK4(four, zero, 3, 3, 3, 3);
        std::memcpy(out + i, &four, sizeof four);
    }
}

/* out[i] = x[i] + ... + x[n - 1], i < n, a multiple of 4; four at a time. */
static inline void add_down(const real *x, real *out, int64_t n) {
    const vec4 zero = {0, 0, 0, 0};
    vec4 carry = zero;
    for (int64_t i = n - 4; i >= 0; i -= 4) {
        vec4 four; std::memcpy(&four, x + i, sizeof four);
        four = four + PICK4(four, zero, 1, 2, 3, 4);
        four = four + PICK4(four, zero, 2, 3, 4, 4);
        four = four + carry;
        carry = PICK4(four, zero, 0, 0, 0, 0);
        std::memcpy(out + i, &four, sizeof four);
    }
}

/* out[i] = x[i] + r out[i - 1], i < n, a multiple of 4; four at a time. */
static inline void fade_up(const real *x, real *out, int64_t n, real r) {
    const vec4 zero = {0, 0, 0, 0}, powers = {r, r * r, r * r * r, r * r * (r * r)};
    vec4 carry = zero;
    for (int64_t i = 0; i < n; i += 4) {
        vec4 four; std::memcpy(&four, x + i, sizeof four);
        four = four + r * PICK4(four, zero, 4, 0, 1, 2);
        four = four + r * r * PICK4(four, zero, 4, 4, 0, 1);
        four = four + carry * powers;
        carry = PICK4(four, zero, 3, 3, 3, 3);
        std::memcpy(out + i, &four, sizeof four);
    }
}

/* out[i] = x[i] + r out[i + 1], i < n, a multiple of 4; four at a time. */
static inline void fade_down(const real *x, real *out, int64_t n, real r) {
    const vec4 zero = {0, 0, 0, 0}, powers = {r * r * (r * r), r * r * r, r * r, r};
    vec4 carry = zero;
    for (int64_t i = n - 4; i >= 0; i -= 4) {
        vec4 four; std::memcpy(&four, x + i, sizeof four);
        four = four + r * PICK4(four, zero, 1, 2, 3, 4);
        four = four + r * r * PICK4(four, zero, 2, 3, 4, 4);
        four = four + carry * powers;
        carry = PICK4(four, zero, 0, 0, 0, 0);
        std::memcpy(out + i, &four, sizeof four);
    }
}

/* The smaller number of each lane. */
static inline vec smaller(const vec &x, const vec &y) { return x < y ? x : y; }

static inline real square_root(real x) { return std::sqrt(x); }

/* exp and log. The C library's do not become vectors, and their rounding differs between machines. */
#ifdef ALIGNER_DOUBLE
static inline real exponential(real x) { return std::exp(x); }
static inline real logarithm(real x) { return std::log(x); }
#else
/* 2^k e^r with k whole and |r| <= ln 2 / 2, e^r by its Taylor series; relative error below 3e-7 for |x| < 80. */
static inline real exponential(real x) {
    x = x < -80.0f ? -80.0f : x > 80.0f ? 80.0f : x;
    const float shifted = x * 1.44269504f + 12582912.0f;  /* 1.5 * 2^23: the fraction is rounded away */
    const float k = shifted - 12582912.0f;
    const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    const float e = 1.0f + r * (1.0f + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720))))));
    int32_t bits;
    std::memcpy(&bits, &shifted, 4);
    bits = (int32_t)((uint32_t)bits << 23) + 0x3f800000;  /* the low bits of `shifted` are k */
    float power;
    std::memcpy(&power, &bits, 4);
    return power * e;
}
/* k ln 2 + ln m with x = 2^k m, 3/4 <= m < 3/2, for normal x > 0; ln m = 2 artanh((m - 1) / (m + 1)), by its series.
   The error is below 2e-7 (1 + |ln x|). */
static inline real logarithm(real x) {
    int32_t bits;
    std::memcpy(&bits, &x, 4);
    const int32_t k = (bits - 0x3f400000) >> 23;  /* 0x3f400000 is 3/4 */
    bits -= (int32_t)((uint32_t)k << 23);
    float m;
    std::memcpy(&m, &bits, 4);
    const float y = (m - 1.0f) / (m + 1.0f), z = y * y;
    const float series = 1.0f + z * (1.0f / 3 + z * (1.0f / 5 + z * (1.0f / 7 + z * (1.0f / 9))));
    return (float)k * 0.69314718f + 2.0f * y * series;
}
#endif
#endif
