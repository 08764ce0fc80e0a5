"""The sparse store of expected links (shares.pxd): put in another order, and counted for the lexicon of a view."""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

import numpy as np

from checks cimport check_offsets, check_threads
from counts cimport Queue, add_later, add_rest, fixed
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
    cdef int64_t I, J, longest = 1
    if pairs.shape[0] != w.P or pairs.shape[1] != 1 or null_fwd.shape[0] != w.V_tgt or null_rev.shape[0] != w.V_src:
        raise ValueError("the counts are of another lexicon, or of two directions")
    check_offsets("offsets", offsets, x.S, entries.shape[0])
    for n in range(x.S):
        I = x.src_offsets[n + 1] - x.src_offsets[n]
        J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
        longest = max(longest, I + J)
    if w.P == 0:
        return
    cdef double[:, ::1] mass = np.empty((n_threads, longest))
    cdef const uint32_t* packed = &entries[0] if entries.shape[0] else NULL
    for n in prange(x.S, schedule="dynamic", chunksize=256, num_threads=n_threads, nogil=True):
        count_pair(
            &x, n, &w, packed, offsets[n], offsets[n + 1], &mass[threadid(), 0], &pairs[0, 0], &null_fwd[0], &null_rev[0]
        )


cdef void count_pair(
    Text* x, Py_ssize_t n, Words* w, const uint32_t* entries, int64_t start, int64_t stop, double* mass,
    int64_t* pairs, int64_t* null_fwd, int64_t* null_rev,
) noexcept nogil:
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n]
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t i, j, k, place = 0
    cdef double q
    cdef Queue queue
    queue.n = 0
    if I == 0 or J == 0:
        return
    for i in range(I + J):
        mass[i] = 0
    for k in range(start, stop):
        place += distance(entries[k])
        if place >= I * J:
            break
        q = <double>amount(entries[k]) / MOST
        i = place // J
        j = place - i * J
        mass[i] += q
        mass[I + j] += q
        if q > 0 and 0 <= cell[place] < w.rows[src[i] + 1] - w.rows[src[i]]:
            add_later(&queue, pairs + w.rows[src[i]] + cell[place], fixed(q))
    for i in range(I):
        add_later(&queue, null_rev + src[i], fixed(max(0, 1 - mass[i])))
    for j in range(J):
        add_later(&queue, null_fwd + tgt[j], fixed(max(0, 1 - mass[I + j])))
    add_rest(&queue)
