"""The sparse store of expected links (shares.pxd): put in another order, and counted for the lexicon of a view."""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

import numpy as np

from checks cimport check_offsets, check_threads
from counts cimport UNDER_WAY, Later, add_later, add_rest, fixed, new_sums
from inputs cimport Text, Words, read_text, read_words
from shares cimport MOST, amount, distance


def gather(
    const int64_t[::1] offsets not None,   # IN, [S + 1] entries of each sentence pair
    const uint32_t[::1] entries not None,  # IN
    const int64_t[::1] order not None,     # IN, [n] sentence pairs
    int n_threads,
):
    """(offsets [n + 1], entries) of the sentence pairs in `order`."""
    cdef Py_ssize_t S = offsets.shape[0] - 1, n
    cdef int64_t k
    check_threads(n_threads)
    check_offsets("offsets", offsets, S, entries.shape[0])
    lengths = np.zeros(order.shape[0] + 1, dtype=np.int64)
    cdef int64_t[::1] length = lengths
    for n in range(order.shape[0]):
        k = order[n]
        if not 0 <= k < S:
            raise ValueError(f"there is no sentence pair {k}")
        length[n + 1] = offsets[k + 1] - offsets[k]
    places = np.cumsum(lengths)
    found = np.empty(places[order.shape[0]], dtype=np.uint32)
    cdef const int64_t[::1] place = places
    cdef uint32_t[::1] out = found
    if out.shape[0]:
        for n in prange(order.shape[0], schedule="static", num_threads=n_threads, nogil=True):
            memcpy(&out[0] + place[n], &entries[0] + offsets[order[n]], length[n + 1] * sizeof(uint32_t))
    return places, found


def count(
    shard, lexicon,                       # IN
    const int64_t[::1] offsets not None,  # IN, [S + 1] entries of each sentence pair
    const uint32_t[::1] entries not None,  # IN
    counts,                               # OUT, pairs [P, 1], null_fwd and null_rev, added to
    int n_threads,
):
    """Adds the expected links of a shard to the counts of a view's word pairs, and what is left of a token to NULL's."""
    cdef list held = []
    check_threads(n_threads)
    cdef Words w = read_words(lexicon, held)
    cdef Text x = read_text(shard, &w, True, held)
    cdef int64_t[:, ::1] pairs = counts.pairs
    cdef int64_t[::1] null_fwd = counts.null_fwd
    cdef int64_t[::1] null_rev = counts.null_rev
    cdef Py_ssize_t n
    if pairs.shape[0] != w.P or pairs.shape[1] != 1 or null_fwd.shape[0] != w.V_tgt or null_rev.shape[0] != w.V_src:
        raise ValueError("the counts are of another lexicon, or of two directions")
    check_offsets("offsets", offsets, x.S, entries.shape[0])
    if w.P == 0 or x.S == 0:
        return
    cdef int64_t src_begin = x.src_offsets[0], tgt_begin = x.tgt_offsets[0]
    cdef int64_t n_src = x.src_offsets[x.S] - src_begin, n_tgt = x.tgt_offsets[x.S] - tgt_begin
    cdef double[::1] mass_src = np.zeros(n_src + 1), mass_tgt = np.zeros(n_tgt + 1)  # expected links of each token
    cdef const uint32_t* packed = &entries[0] if entries.shape[0] else NULL
    cdef Later* sums = new_sums(n_threads)
    with nogil:
        for n in prange(x.S, schedule="dynamic", chunksize=256, num_threads=n_threads):
            count_pair(
                &x, n, &w, packed, offsets[n], offsets[n + 1], &mass_src[x.src_offsets[n] - src_begin],
                &mass_tgt[x.tgt_offsets[n] - tgt_begin], &pairs[0, 0], sums + threadid() * UNDER_WAY,
            )
        add_rest(sums, n_threads)
        for n in prange(2, schedule="dynamic", num_threads=n_threads):
            if n == 0:
                count_nulls(x.tgt_ids + tgt_begin, n_tgt, &mass_tgt[0], &null_fwd[0])
            else:
                count_nulls(x.src_ids + src_begin, n_src, &mass_src[0], &null_rev[0])


cdef void count_pair(
    Text* x, Py_ssize_t n, Words* w, const uint32_t* entries, int64_t start, int64_t stop, double* mass_src,
    double* mass_tgt, int64_t* pairs, Later* sums,
) noexcept nogil:
    """Counts the links of sentence pair n. Tokens beside an empty side have no place for a link, nor for NULL's: mass 1."""
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n]
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t i, j, k, place = 0
    cdef double q
    if I == 0 or J == 0:
        for i in range(I):
            mass_src[i] = 1
        for j in range(J):
            mass_tgt[j] = 1
        return
    for k in range(start, stop):
        place += distance(entries[k])
        if place >= I * J:
            break
        q = <double>amount(entries[k]) / MOST
        i = place // J
        j = place - i * J
        mass_src[i] += q
        mass_tgt[j] += q
        if q > 0 and 0 <= cell[place] < w.rows[src[i] + 1] - w.rows[src[i]]:
            add_later(sums, pairs + w.rows[src[i]] + cell[place], fixed(q))


cdef void count_nulls(const int32_t* ids, int64_t n, const double* mass, int64_t* nulls) noexcept nogil:
    """Adds what is left of each of n tokens. One thread has all of a side: others would wait for it at frequent words."""
    cdef int64_t k
    for k in range(n):
        nulls[ids[k]] += fixed(max(0, 1 - mass[k]))
