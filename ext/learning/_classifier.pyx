"""Log-linear classification of candidates: class probabilities, and the gradient of their log-likelihood.

    p(c | k) = exp(s_kc) / sum_c' exp(s_kc')        s_kc = sum_f weights[f, c] x[f, k] + sum over g of weights[F + g, c]

where g are the indicators that candidate k has. The gradient of -sum_k log p(y_k | k) is

    d / d weights[f, c] = sum_k x[f, k] (p(c | k) - [y_k = c])

Candidates are taken in blocks of BLOCK. Sums over candidates are those of the blocks, in order: they do not depend on the
number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport exp
from libc.stdint cimport int32_t

import numpy as np

from checks cimport check_ids, check_threads

cdef enum:
    BLOCK = 1024  # candidates
    LANES = 8     # partial sums of a block. The loop says 8: Cython wants a number for a step
    MOST_CLASSES = 3


cdef int check(
    const float[:, ::1] x, const int32_t[:, ::1] indicators, Py_ssize_t n_weights, Py_ssize_t n_classes
) except -1:
    """Refuses indicators and weights that do not belong to the features."""
    cdef Py_ssize_t g
    if not 2 <= n_classes <= MOST_CLASSES or indicators.shape[1] != x.shape[1] or n_weights < x.shape[0]:
        raise ValueError("features, indicators and weights do not fit together")
    for g in range(indicators.shape[0]):
        check_ids("indicators", indicators[g], 0, indicators.shape[1], -1, n_weights - x.shape[0])
    return 0


def standardised(
    const float[:, ::1] x not None,       # IN, [F, n] features
    const float[::1] mean not None,       # IN, [F]
    const float[::1] deviation not None,  # IN, [F]
    float farthest,                       # IN
    int n_threads,
):
    """[F + 1, n] features in deviations from their means, at most `farthest` of them, and the constant 1."""
    cdef Py_ssize_t F = x.shape[0], n = x.shape[1], f, k
    check_threads(n_threads)
    if not mean.shape[0] == deviation.shape[0] == F:
        raise ValueError(f"means and deviations are not of {F} features")
    found = np.empty((F + 1, n), np.float32)
    found[F] = 1
    cdef float[:, ::1] out = found
    for f in prange(F, schedule="static", num_threads=n_threads, nogil=True):
        for k in range(n):
            out[f, k] = min(farthest, max(-farthest, (x[f, k] - mean[f]) / deviation[f]))
    return found


def probabilities(
    const float[:, ::1] x not None,             # IN, [F, n] features
    const int32_t[:, ::1] indicators not None,  # IN, [G, n] which indicators a candidate has; -1: none
    const double[:, ::1] weights not None,      # IN, [F + indicators, C]
    int n_threads,
):
    """[C, n] the probability of each class."""
    cdef Py_ssize_t n = x.shape[1], n_blocks = (n + BLOCK - 1) // BLOCK, b
    check_threads(n_threads)
    check(x, indicators, weights.shape[0], weights.shape[1])
    found = np.zeros((weights.shape[1], n))
    cdef double[:, ::1] p = found
    for b in prange(n_blocks, schedule="static", num_threads=n_threads, nogil=True):
        classify(x, indicators, weights, p, b * BLOCK, min(n, (b + 1) * BLOCK))
    return found


cdef void classify(
    const float[:, ::1] x, const int32_t[:, ::1] indicators, const double[:, ::1] weights, double[:, ::1] p,
    Py_ssize_t begin, Py_ssize_t end,
) noexcept nogil:
    """The probabilities of one block; p is 0 before."""
    cdef Py_ssize_t F = x.shape[0], C = weights.shape[1], f, g, c, k
    cdef double w, largest, total
    for f in range(F):
        for c in range(C):
            w = weights[f, c]
            for k in range(begin, end):
                p[c, k] += w * x[f, k]
    for g in range(indicators.shape[0]):
        for k in range(begin, end):
            if indicators[g, k] >= 0:
                for c in range(C):
                    p[c, k] += weights[F + indicators[g, k], c]
    for k in range(begin, end):
        largest = p[0, k]
        for c in range(1, C):
            largest = max(largest, p[c, k])
        total = 0
        for c in range(C):
            p[c, k] = exp(p[c, k] - largest)
            total += p[c, k]
        for c in range(C):
            p[c, k] /= total


def gradient(
    const float[:, ::1] x not None,             # IN, [F, n]
    const int32_t[:, ::1] indicators not None,  # IN, [G, n]
    const double[:, ::1] rest not None,         # IN, [C, n] p(c | k) - [y_k = c]
    Py_ssize_t n_weights,                       # IN
    int n_threads,
):
    """[n_weights, C] the sum over candidates of what they have times their rest."""
    cdef Py_ssize_t F = x.shape[0], n = x.shape[1], C = rest.shape[0], n_blocks = (n + BLOCK - 1) // BLOCK, b, g, k, c
    check_threads(n_threads)
    check(x, indicators, n_weights, C)
    if rest.shape[1] != n:
        raise ValueError(f"the rest is not of {n} candidates")
    parts = np.zeros((n_blocks, F, C))
    found = np.zeros((n_weights, C))
    cdef double[:, :, ::1] part = parts
    cdef double[:, ::1] total = found
    for b in prange(n_blocks, schedule="static", num_threads=n_threads, nogil=True):
        add_up(x, rest, part, b, b * BLOCK, min(n, (b + 1) * BLOCK))
    for b in range(n_blocks):
        for k in range(F):
            for c in range(C):
                total[k, c] += part[b, k, c]
    for g in range(indicators.shape[0]):
        for k in range(n):
            if indicators[g, k] >= 0:
                for c in range(C):
                    total[F + indicators[g, k], c] += rest[c, k]
    return found


cdef void add_up(
    const float[:, ::1] x, const double[:, ::1] rest, double[:, :, ::1] part, Py_ssize_t b, Py_ssize_t begin,
    Py_ssize_t end,
) noexcept nogil:
    """The sums of one block, in LANES that are added in order."""
    cdef Py_ssize_t f, c, k, lane, whole = begin + (end - begin) // LANES * LANES
    cdef double[LANES] sums
    for f in range(x.shape[0]):
        for c in range(rest.shape[0]):
            for lane in range(LANES):
                sums[lane] = 0
            for k in range(begin, whole, 8):
                for lane in range(LANES):
                    sums[lane] += x[f, k + lane] * rest[c, k + lane]
            for k in range(whole, end):
                sums[k - whole] += x[f, k] * rest[c, k]
            for lane in range(LANES):
                part[b, f, c] += sums[lane]
