"""The distance from the diagonal that a tension makes expected (places.pxd): what the update of a tension needs."""

from libc.stdint cimport int64_t

import numpy as np

from places cimport Ramps, check_length, distances, read_ramps


def expected_distance(
    const int64_t[:, ::1] sizes not None,  # IN, [n, 2] source words, target words
    const int64_t[::1] starts not None,    # IN, [n] where the weights of a size begin
    const double[::1] weights not None,    # IN, a number for each generated word of each size
    ramps,                                 # IN
    int direction,                         # IN, 0 forward, 1 reverse
):
    """(sum w E[h], sum w Var[h]) over the generated words of all sizes, w: their weights."""
    cdef list held = []
    cdef Ramps r = read_ramps(ramps, direction, held)
    cdef int64_t n, k, I, J
    cdef double mean, variance, means = 0, variances = 0
    if sizes.shape[1] != 2 or starts.shape[0] != sizes.shape[0]:
        raise ValueError("a size must be two numbers and a place")
    for n in range(sizes.shape[0]):
        I, J = sizes[n, direction], sizes[n, 1 - direction]
        if I < 1 or J < 1 or starts[n] < 0 or starts[n] + J > weights.shape[0]:
            raise ValueError(f"size {n} has no words, or its weights are outside their array")
        check_length(&r, I)
        check_length(&r, J)
    with nogil:
        for n in range(sizes.shape[0]):
            I, J = sizes[n, direction], sizes[n, 1 - direction]
            for k in range(J):
                if weights[starts[n] + k] != 0:
                    distances(&r, I, J, k, &mean, &variance)
                    means += weights[starts[n] + k] * mean
                    variances += weights[starts[n] + k] * variance
    return means, variances


def partition(
    int64_t I, int64_t J,  # IN, given and generated words
    ramps,                 # IN
    int direction,         # IN
):
    """[J, 3] Z, mean and variance of h for each generated word. For tests."""
    cdef list held = []
    cdef Ramps r = read_ramps(ramps, direction, held)
    cdef double[:, ::1] found = np.empty((J, 3))
    cdef int64_t j
    if I < 1 or J < 1:
        raise ValueError(f"sentences have at least one word, not {I} and {J}")
    check_length(&r, I)
    check_length(&r, J)
    for j in range(J):
        found[j, 0] = distances(&r, I, J, j, &found[j, 1], &found[j, 2])
    return np.asarray(found)
