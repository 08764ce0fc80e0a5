"""Word pairs of a corpus: every cell (i, j) of every sentence pair gets the number of its word pair, once.

Pairs are numbered by source word, so that those of one word stand together: pair `rows[e] + cell` is source word e with
the `cell`-th different target word that it meets, in the order of the text. Both directions share the numbers.

src, tgt            the corpus: ids [n_tokens], offsets [S + 1]
order   [n_src]     source tokens by their word, and by place in the text among equals
starts  [V_src + 1] word e's tokens are order[starts[e]:starts[e + 1]]
sentence [n_src]    source token -> its sentence
cell_offsets [S + 1]  sentence n's cells are those from cell_offsets[n] on, row by row: cell [I, J]
cells   [n_cells]   (i, j) -> number of the pair within the row of e_i
rows    [V_src + 1] source word -> its first pair
pair_tgt [P]        pair -> its target word

One array over the target vocabulary, small enough for the cache, replaces hashing: `met[f]` is the last source word
that met f, `number[f]` the pair's number then. Blocks of source words are independent, so that threads need no locks,
and numbers do not depend on their count.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

import numpy as np

cdef extern from "prefetch.h":
    void PREFETCH(const void* address) noexcept nogil

cdef enum:
    AHEAD = 8  # tokens whose sentence and row are fetched ahead: they are all over the text


def number_cells(
    const int32_t[::1] tgt_ids not None,       # IN
    const int64_t[::1] src_offsets not None,   # IN
    const int64_t[::1] tgt_offsets not None,   # IN
    const int32_t[::1] order not None,         # IN
    const int64_t[::1] starts not None,        # IN
    const int32_t[::1] sentence not None,      # IN
    const int64_t[::1] cell_offsets not None,  # IN
    const int64_t[::1] blocks not None,        # IN, [B + 1] block b is the source words blocks[b] to blocks[b + 1]
    int n_tgt_words,                           # IN
    int32_t[::1] cells not None,               # OUT, [n_cells]
    int64_t[::1] rows not None,                # OUT, [V_src + 1]
    int n_threads,
):
    """Fills cells and rows; returns pair_tgt."""
    cdef Py_ssize_t B = blocks.shape[0] - 1
    cdef Py_ssize_t b
    cdef int64_t e, k, n_pairs
    cdef vector[vector[int32_t]] found = vector[vector[int32_t]](B)
    # [n_threads, 2, V_tgt] met, which starts as -1 (no word), and number
    cdef int32_t[:, :, ::1] work = np.full((n_threads, 2, max(1, n_tgt_words)), -1, dtype=np.int32)
    cdef int thread
    if cells.shape[0] == 0:
        return np.empty(0, dtype=np.int32)
    with nogil:
        for b in prange(B, schedule="dynamic", num_threads=n_threads):
            thread = threadid()
            number_block(
                blocks[b], blocks[b + 1], &tgt_ids[0], &src_offsets[0], &tgt_offsets[0], &order[0], &starts[0],
                &sentence[0], &cell_offsets[0], &work[thread, 0, 0], &work[thread, 1, 0], &cells[0], &rows[0], found[b],
            )
    n_pairs = 0  # rows[e + 1] is the number of e's pairs until here
    rows[0] = 0
    for e in range(rows.shape[0] - 1):
        n_pairs += rows[e + 1]
        rows[e + 1] = n_pairs
    pair_tgt = np.empty(n_pairs, dtype=np.int32)
    cdef int32_t[::1] out = pair_tgt
    k = 0
    for b in range(B):
        for e in range(<int64_t>found[b].size()):
            out[k] = found[b][e]
            k += 1
    return pair_tgt


cdef int number_block(
    int64_t first, int64_t last, const int32_t* tgt_ids, const int64_t* src_offsets, const int64_t* tgt_offsets,
    const int32_t* order, const int64_t* starts, const int32_t* sentence, const int64_t* cell_offsets,
    int32_t* met, int32_t* number, int32_t* cells, int64_t* rows, vector[int32_t]& found,
) except -1 nogil:
    """Source words [first, last): rows[e + 1] is the number of e's pairs."""
    cdef int64_t e, k, i, j, n, J
    cdef int32_t token, count, f
    cdef const int32_t* tgt
    cdef int32_t* row
    for e in range(first, last):
        count = 0
        for k in range(starts[e], starts[e + 1]):
            if k + AHEAD < starts[last]:
                token = order[k + AHEAD]
                n = sentence[token]
                tgt = tgt_ids + tgt_offsets[n]
                J = tgt_offsets[n + 1] - tgt_offsets[n]
                row = cells + cell_offsets[n] + (token - src_offsets[n]) * J
                PREFETCH(tgt)
                PREFETCH(tgt + 16)
                PREFETCH(row)
                PREFETCH(row + 16)
            if k + 2 * AHEAD < starts[last]:
                n = sentence[order[k + 2 * AHEAD]]
                PREFETCH(tgt_offsets + n)
                PREFETCH(src_offsets + n)
                PREFETCH(cell_offsets + n)
            token = order[k]
            n = sentence[token]
            i = token - src_offsets[n]
            J = tgt_offsets[n + 1] - tgt_offsets[n]
            tgt = tgt_ids + tgt_offsets[n]
            row = cells + cell_offsets[n] + i * J
            for j in range(J):
                f = tgt[j]
                if met[f] != e:
                    met[f] = <int32_t>e
                    number[f] = count
                    count = count + 1
                    found.push_back(f)
                row[j] = number[f]
        rows[e + 1] = count
    return 0


cdef struct Entry:
    int32_t tgt
    int32_t place


cdef bint before(const Entry& a, const Entry& b) noexcept nogil:
    return a.tgt < b.tgt


def sort_rows(
    const int64_t[::1] rows not None,      # IN, [V_src + 1]
    const int32_t[::1] pair_tgt not None,  # IN, [P]
    const float[:, ::1] t not None,        # IN, [P, 2]
):
    """(pair_tgt, t) with the pairs of each source word in the order of their target words."""
    sorted_tgt, sorted_t = np.empty(pair_tgt.shape[0], np.int32), np.empty((t.shape[0], 2), np.float32)
    cdef int32_t[::1] tgt_out = sorted_tgt
    cdef float[:, ::1] t_out = sorted_t
    cdef vector[Entry] row
    cdef Py_ssize_t e, k, at
    with nogil:
        for e in range(rows.shape[0] - 1):
            row.resize(rows[e + 1] - rows[e])
            for k in range(<Py_ssize_t>row.size()):
                row[k].tgt = pair_tgt[rows[e] + k]
                row[k].place = <int32_t>k
            sort(row.begin(), row.end(), &before)
            for k in range(<Py_ssize_t>row.size()):
                at = rows[e] + row[k].place
                tgt_out[rows[e] + k] = row[k].tgt
                t_out[rows[e] + k, 0] = t[at, 0]
                t_out[rows[e] + k, 1] = t[at, 1]
    return sorted_tgt, sorted_t


def find_cells(
    const int32_t[::1] src_ids not None, const int64_t[::1] src_offsets not None,  # IN, -1 for unknown words
    const int32_t[::1] tgt_ids not None, const int64_t[::1] tgt_offsets not None,  # IN, likewise
    const int64_t[::1] cell_offsets not None,                                      # IN
    const int64_t[::1] rows not None,                                              # IN
    const int32_t[::1] pair_tgt not None,                                          # IN, sorted within each row
    int32_t[::1] cells not None,                                                   # OUT, -1 for unknown pairs
    int n_threads,
):
    """The cells of other text than the model's own, by bisection."""
    cdef Py_ssize_t n
    if cells.shape[0] == 0:
        return
    for n in prange(src_offsets.shape[0] - 1, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        find_sentence(
            &src_ids[0] + src_offsets[n], src_offsets[n + 1] - src_offsets[n], &tgt_ids[0] + tgt_offsets[n],
            tgt_offsets[n + 1] - tgt_offsets[n], &rows[0], &pair_tgt[0] if pair_tgt.shape[0] else NULL,
            &cells[0] + cell_offsets[n],
        )


cdef void find_sentence(
    const int32_t* src, int64_t I, const int32_t* tgt, int64_t J, const int64_t* rows, const int32_t* pair_tgt,
    int32_t* cell,
) noexcept nogil:
    cdef int64_t i, j, low, high, middle, first
    for i in range(I):
        for j in range(J):
            cell[j] = -1
            if src[i] >= 0 and tgt[j] >= 0:
                first = rows[src[i]]
                low = first
                high = rows[src[i] + 1]
                while low < high:
                    middle = (low + high) // 2
                    if pair_tgt[middle] < tgt[j]:
                        low = middle + 1
                    else:
                        high = middle
                if low < rows[src[i] + 1] and pair_tgt[low] == tgt[j]:
                    cell[j] = <int32_t>(low - first)
        cell += J
