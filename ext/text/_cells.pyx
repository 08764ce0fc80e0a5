"""Word pairs of a text: every cell (i, j) of every sentence pair gets the number of its word pair.

Word pairs (e, f) are sorted by e, then by f. Word pair `rows[e] + cell` is source word e with the `cell`-th of the
different target words that stand beside e in some sentence pair. Both directions share the numbers.

src, tgt     the text: ids [n_tokens], offsets [S + 1]
order        [n_src]      source tokens by word; among tokens of one word, by place in the text
starts       [V_src + 1]  word e's tokens are order[starts[e]:starts[e + 1]]
sentence     [n_src]      source token -> its sentence pair
cell_offsets [S + 1]      sentence pair n's cells are those from cell_offsets[n] on, row by row: cells [I, J]
cells        [n_cells]    (i, j) -> number of the word pair within the row of e_i
rows         [V_src + 1]  source word -> its first word pair
pair_tgt     [P]          word pair -> its target word

One array over the target vocabulary, small enough for the cache, replaces hashing: `met[f]` is the last source word that
met f, `number[f]` the number of that word pair. Blocks of source words are independent: threads need no locks, and
numbers do not depend on how many threads there are.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

import numpy as np

from checks cimport check_cells, check_ids, check_offsets, check_threads

cdef extern from "prefetch.h":
    void PREFETCH(const void* address) noexcept nogil

cdef enum:
    AHEAD = 8  # tokens: so far ahead memory is fetched, since a word's tokens are all over the text


def sort_tokens(
    const int32_t[::1] ids not None,       # IN, [n]
    const int64_t[::1] starts not None,    # IN, [V + 1]
    int32_t[::1] order not None,           # OUT, [n]
):
    """Tokens by word: order = argsort(ids), stable. starts[e] is the number of tokens of the words before e."""
    cdef int64_t[::1] next_place = np.array(starts)
    cdef Py_ssize_t k
    check_offsets("starts", starts, starts.shape[0] - 1, ids.shape[0])
    check_ids("ids", ids, 0, ids.shape[0], 0, starts.shape[0] - 1)
    if order.shape[0] != ids.shape[0]:
        raise ValueError("ids and order are not of the same tokens")
    for k in range(ids.shape[0]):
        if next_place[ids[k]] >= starts[ids[k] + 1]:
            raise ValueError(f"word {ids[k]} has more tokens than starts says")
        order[next_place[ids[k]]] = <int32_t>k
        next_place[ids[k]] += 1


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
    cdef Py_ssize_t B = blocks.shape[0] - 1, S = src_offsets.shape[0] - 1
    cdef Py_ssize_t b
    cdef int64_t e, k, n_pairs
    cdef vector[vector[int32_t]] found
    cdef int32_t[:, :, ::1] work
    cdef int thread
    check_threads(n_threads)
    check_ids("target ids", tgt_ids, 0, tgt_ids.shape[0], 0, n_tgt_words)
    check_offsets("src_offsets", src_offsets, S, order.shape[0])
    check_offsets("tgt_offsets", tgt_offsets, S, tgt_ids.shape[0])
    check_cells(src_offsets, tgt_offsets, cell_offsets, cells.shape[0])
    check_offsets("starts", starts, rows.shape[0] - 1, order.shape[0])
    check_offsets("blocks", blocks, B, rows.shape[0] - 1)
    check_ids("tokens", order, 0, order.shape[0], 0, sentence.shape[0])
    check_ids("sentences", sentence, 0, sentence.shape[0], 0, S)
    for k in range(sentence.shape[0]):
        if not src_offsets[sentence[k]] <= k < src_offsets[sentence[k] + 1]:
            raise ValueError(f"token {k} is not in sentence {sentence[k]}")
    rows[:] = 0
    if cells.shape[0] == 0:
        return np.empty(0, dtype=np.int32)
    found.resize(B)
    # [n_threads, 2, V_tgt] met, which starts as -1 (no word), and number
    work = np.full((n_threads, 2, max(1, n_tgt_words)), -1, dtype=np.int32)
    with nogil:
        for b in prange(B, schedule="dynamic", num_threads=n_threads):
            thread = threadid()
            number_block(
                blocks[b], blocks[b + 1], &tgt_ids[0], n_tgt_words, &src_offsets[0], &tgt_offsets[0], &order[0],
                &starts[0], &sentence[0], &cell_offsets[0], &work[thread, 0, 0], &work[thread, 1, 0], &cells[0],
                &rows[0], found[b],
            )
    n_pairs = 0  # rows[e + 1] is the number of e's word pairs until here
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
        found[b] = vector[int32_t]()  # frees the block's memory
    return pair_tgt


cdef int number_block(
    int64_t first, int64_t last, const int32_t* tgt_ids, int64_t n_tgt_words, const int64_t* src_offsets,
    const int64_t* tgt_offsets, const int32_t* order, const int64_t* starts, const int32_t* sentence,
    const int64_t* cell_offsets, int32_t* met, int32_t* number, int32_t* cells, int64_t* rows, vector[int32_t]& found,
) except -1 nogil:
    """Numbers the cells of the source words [first, last). rows[e + 1] becomes the number of e's word pairs."""
    cdef int64_t e, k, j, n, J, f, count, begin
    cdef int32_t token
    cdef const int32_t* tgt
    cdef int32_t* row
    for e in range(first, last):
        begin = found.size()
        for k in range(starts[e], starts[e + 1]):  # which words stand beside e
            if k + AHEAD < starts[last]:
                n = sentence[order[k + AHEAD]]
                tgt = tgt_ids + tgt_offsets[n]
                PREFETCH(tgt)
                PREFETCH(tgt + 16)
            if k + 2 * AHEAD < starts[last]:
                n = sentence[order[k + 2 * AHEAD]]
                PREFETCH(tgt_offsets + n)
                PREFETCH(src_offsets + n)
                PREFETCH(cell_offsets + n)
            n = sentence[order[k]]
            J = tgt_offsets[n + 1] - tgt_offsets[n]
            tgt = tgt_ids + tgt_offsets[n]
            for j in range(J):
                if met[tgt[j]] != e:
                    met[tgt[j]] = <int32_t>e
                    found.push_back(tgt[j])
        count = found.size() - begin
        if 16 * count > n_tgt_words:  # a walk through the vocabulary is quicker than sorting
            k = begin
            for f in range(n_tgt_words):
                if met[f] == e:
                    found[k] = <int32_t>f
                    k += 1
        else:
            sort(found.begin() + begin, found.end())
        for k in range(count):
            number[found[begin + k]] = <int32_t>k
        for k in range(starts[e], starts[e + 1]):
            if k + AHEAD < starts[e + 1]:
                token = order[k + AHEAD]
                n = sentence[token]
                row = cells + cell_offsets[n] + (token - src_offsets[n]) * (tgt_offsets[n + 1] - tgt_offsets[n])
                PREFETCH(row)
                PREFETCH(row + 16)
                PREFETCH(tgt_ids + tgt_offsets[n])
            token = order[k]
            n = sentence[token]
            J = tgt_offsets[n + 1] - tgt_offsets[n]
            tgt = tgt_ids + tgt_offsets[n]
            row = cells + cell_offsets[n] + (token - src_offsets[n]) * J
            for j in range(J):
                row[j] = number[tgt[j]]
        rows[e + 1] = count
    return 0


def find_cells(
    const int32_t[::1] src_ids not None, const int64_t[::1] src_offsets not None,  # IN, -1 for unknown words
    const int32_t[::1] tgt_ids not None, const int64_t[::1] tgt_offsets not None,  # IN, -1 for unknown words
    const int64_t[::1] cell_offsets not None,                                      # IN
    const int64_t[::1] rows not None,                                              # IN
    const int32_t[::1] pair_tgt not None,                                          # IN
    int32_t[::1] cells not None,                                                   # OUT, -1 for unknown word pairs
    int n_threads,
):
    """The cells of any text, by bisection among the word pairs of a lexicon. Offsets need not begin at 0."""
    cdef Py_ssize_t n, S = src_offsets.shape[0] - 1
    check_threads(n_threads)
    check_offsets("rows", rows, rows.shape[0] - 1, pair_tgt.shape[0])
    check_offsets("src_offsets", src_offsets, S, src_ids.shape[0])
    check_offsets("tgt_offsets", tgt_offsets, S, tgt_ids.shape[0])
    check_cells(src_offsets, tgt_offsets, cell_offsets, cells.shape[0])
    check_ids("source ids", src_ids, src_offsets[0], src_offsets[S], -1, rows.shape[0] - 1)
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
    int32_t* cells,
) noexcept nogil:
    """The cells of a sentence pair, [I, J].

    All target words of a row bisect the same word pairs, so they take each step together: no word waits for another, and no
    branch depends on a word. Of n word pairs from cell[j] on, one is f_j, if any is; a step leaves the lower or the upper
    ones. Both have n - half, and may have one in common.
    """
    cdef int64_t i, j, n, half
    cdef const int32_t* row
    cdef int32_t* cell
    for i in range(I):
        cell = cells + i * J
        n = rows[src[i] + 1] - rows[src[i]] if src[i] >= 0 else 0
        if n == 0:
            for j in range(J):
                cell[j] = -1
            continue
        row = pair_tgt + rows[src[i]]
        for j in range(J):
            cell[j] = 0
        while n > 1:
            half = n // 2
            for j in range(J):
                cell[j] += <int32_t>half * (row[cell[j] + half - 1] < tgt[j])
            n -= half
        for j in range(J):
            if row[cell[j]] != tgt[j] or tgt[j] < 0:
                cell[j] = -1
