"""The emissions of mixtures: what a cell of a sentence pair has in a lexicon."""

from libc.stdint cimport int32_t, int64_t

from inputs cimport Text, Words
from vectors cimport real

cdef extern from "prefetch.h":
    void PREFETCH(const void* address) noexcept nogil


cdef inline real weight_of(Text* x, Py_ssize_t n, int64_t i, int64_t j) noexcept nogil:
    """What the emissions of cell (i, j) are multiplied by: the weight of a known link, else 1."""
    cdef int64_t k
    if x.known_offsets == NULL:
        return 1
    for k in range(x.known_offsets[n], x.known_offsets[n + 1]):
        if x.known_src[k] == i and x.known_tgt[k] == j:
            return x.known_weight[k]
    return 1


cdef inline bint has_known(Text* x, Py_ssize_t n) noexcept nogil:
    return x.known_offsets != NULL and x.known_offsets[n] < x.known_offsets[n + 1]


cdef inline bint inside(const int32_t* cell, int64_t J, int64_t width) noexcept nogil:
    """Whether all cells of a row are of word pairs that the lexicon has: 0 <= cell < width."""
    cdef int64_t j
    cdef int32_t sign = 0, last = <int32_t>width - 1
    for j in range(J):
        sign |= cell[j] | (last - cell[j])
    return sign >= 0


cdef inline real emission(Words* w, int32_t e, int32_t cell, int direction, real floor) noexcept nogil:
    """floor + t of a cell; floor alone where the word pair is not known."""
    if e < 0 or cell < 0 or cell >= w.rows[e + 1] - w.rows[e]:
        return floor
    return floor + w.t[2 * (w.rows[e] + cell) + direction]
