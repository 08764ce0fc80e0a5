"""The sparse store of expected links: made from the posteriors of a shard's cells, counted for the lexicon of a view.

An entry is 32 bits: the distance from the cell of the entry before, in row-major order, in the upper half, and the
expected links of the cell, times 65535, in the lower half. The first entry's distance is from cell 0. Where two cells are
more than 65535 apart, entries of no links stand between them.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy

import numpy as np

from checks cimport check_offsets, check_threads
from counts cimport Queue, add_later, add_rest, fixed
from inputs cimport Text, Words, read_text, read_words

cdef enum:
    MOST = 65535


cdef inline int64_t value(const float* fwd, const float* rev, int64_t k, float cutoff) noexcept nogil:
    """The mean of the two directions' posteriors of cell k, times MOST; 0 if it is not above the cutoff."""
    cdef float q = (fwd[k] + rev[k]) / 2
    return <int64_t>(min(q, <float>1) * MOST + <float>0.5) if q > cutoff else 0


cdef int64_t pack_pair(
    const float* fwd, const float* rev, int64_t n_cells, float cutoff, uint32_t* entries
) noexcept nogil:
    """Writes the entries of one sentence pair, unless entries is NULL; returns their number."""
    cdef int64_t k, q, last = 0, n = 0
    for k in range(n_cells):
        q = value(fwd, rev, k, cutoff)
        if q > 0:
            while k - last > MOST:
                if entries != NULL:
                    entries[n] = <uint32_t>MOST << 16
                last += MOST
                n += 1
            if entries != NULL:
                entries[n] = <uint32_t>(k - last) << 16 | <uint32_t>q
            last = k
            n += 1
    return n


def pack(
    const int64_t[::1] cell_offsets not None,  # IN, [S + 1]
    const float[::1] fwd not None,             # IN, [n_cells] posteriors of the cells from cell_offsets[0] on
    const float[::1] rev not None,             # IN, [n_cells]
    double cutoff,                             # IN, cells that do not score above it have no entry
    int n_threads,
):
    """(offsets [S + 1], entries) of the cells' mean posteriors."""
    cdef Py_ssize_t S = cell_offsets.shape[0] - 1, n
    cdef int64_t begin
    check_threads(n_threads)
    if S < 0 or fwd.shape[0] != rev.shape[0]:
        raise ValueError("cell_offsets is empty, or the directions have different numbers of cells")
    check_offsets("cell_offsets", cell_offsets, S, cell_offsets[0] + fwd.shape[0])
    if not cutoff >= 1.0 / MOST:
        raise ValueError(f"cutoff must be at least 1 / {MOST}, not {cutoff}")
    lengths = np.zeros(S + 1, dtype=np.int64)
    cdef int64_t[::1] length = lengths
    cdef const float* f = &fwd[0] if fwd.shape[0] else NULL
    cdef const float* r = &rev[0] if rev.shape[0] else NULL
    for n in prange(S, schedule="static", num_threads=n_threads, nogil=True):
        begin = cell_offsets[n] - cell_offsets[0]
        length[n + 1] = pack_pair(f + begin, r + begin, cell_offsets[n + 1] - cell_offsets[n], cutoff, NULL)
    offsets = np.cumsum(lengths)
    cdef const int64_t[::1] start = offsets
    packed = np.empty(offsets[S], dtype=np.uint32)
    cdef uint32_t[::1] entries = packed
    if offsets[S]:
        for n in prange(S, schedule="static", num_threads=n_threads, nogil=True):
            begin = cell_offsets[n] - cell_offsets[0]
            pack_pair(f + begin, r + begin, cell_offsets[n + 1] - cell_offsets[n], cutoff, &entries[0] + start[n])
    return offsets, packed


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
        place += entries[k] >> 16
        if place >= I * J:
            break
        q = <double>(entries[k] & MOST) / MOST
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
