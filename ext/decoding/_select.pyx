"""Chooses links from the scores of all cells: the cells that score above a threshold."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t

import numpy as np

from checks cimport check_cells, check_offsets, check_threads


def above(
    const int64_t[::1] src_offsets not None,   # IN, [S + 1]
    const int64_t[::1] tgt_offsets not None,   # IN, [S + 1]
    const int64_t[::1] cell_offsets not None,  # IN, [S + 1]
    const float[::1] scores not None,          # IN, [n_cells] of the cells from cell_offsets[0] on
    double threshold,                          # IN
    int n_threads,
):
    """(offsets [S + 1], src, tgt, scores [n_links]) of the cells that score above the threshold, by source, then target.

    Rounding can make a score larger than 1: such a score becomes 1.
    """
    cdef Py_ssize_t S = src_offsets.shape[0] - 1, n
    cdef float limit = <float>threshold
    check_threads(n_threads)
    check_offsets("src_offsets", src_offsets, S, 1 << 31)
    check_offsets("tgt_offsets", tgt_offsets, S, 1 << 31)
    if cell_offsets.shape[0] == 0:
        raise ValueError("cell_offsets is empty")
    check_cells(src_offsets, tgt_offsets, cell_offsets, cell_offsets[0] + scores.shape[0])
    lengths = np.zeros(S + 1, dtype=np.int64)
    cdef int64_t[::1] length = lengths
    for n in prange(S, schedule="static", num_threads=n_threads, nogil=True):
        length[n + 1] = count(scores, cell_offsets[n] - cell_offsets[0], cell_offsets[n + 1] - cell_offsets[0], limit)
    offsets = np.cumsum(lengths)
    cdef const int64_t[::1] start = offsets
    found = np.empty(offsets[S], np.int32), np.empty(offsets[S], np.int32), np.empty(offsets[S], np.float64)
    cdef int32_t[::1] src = found[0]
    cdef int32_t[::1] tgt = found[1]
    cdef double[::1] score = found[2]
    for n in prange(S, schedule="static", num_threads=n_threads, nogil=True):
        fill(
            scores, cell_offsets[n] - cell_offsets[0], src_offsets[n + 1] - src_offsets[n],
            tgt_offsets[n + 1] - tgt_offsets[n], limit, start[n], src, tgt, score,
        )
    return offsets, *found


cdef int64_t count(const float[::1] scores, int64_t begin, int64_t end, float limit) noexcept nogil:
    cdef int64_t k, n = 0
    for k in range(begin, end):
        n += scores[k] > limit
    return n


cdef void fill(
    const float[::1] scores, int64_t begin, int64_t I, int64_t J, float limit, int64_t at,
    int32_t[::1] src, int32_t[::1] tgt, double[::1] score,
) noexcept nogil:
    """Writes the links of one sentence pair from place `at` on; its cells [I, J] begin at `begin`."""
    cdef int64_t i, j
    for i in range(I):
        for j in range(J):
            if scores[begin + i * J + j] > limit:
                src[at] = <int32_t>i
                tgt[at] = <int32_t>j
                score[at] = min(scores[begin + i * J + j], <float>1)
                at += 1
