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
met f, and `number[f]` has the number of that word pair. Blocks of source words are independent: threads need no locks,
and numbers do not depend on how many threads there are.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

import numpy as np

from checks cimport check_cells, check_ids, check_offsets, check_threads
from tokens cimport BLOCKS, n_parts, sort_tokens

cdef extern from "prefetch.h":
    void PREFETCH(const void* address) noexcept nogil
    void PREFETCH_TO_WRITE(const void* address) noexcept nogil

cdef enum:
    AHEAD = 8   # tokens: so far ahead memory is fetched, since a word's tokens are all over the text
    LONG = 8    # a row of more word pairs than LONG times its word's cells is searched: quicker than to go through it
    FEW = 8     # where a lexicon has more source words than FEW times the tokens, tokens are not worth being sorted


def number_pairs(
    const int32_t[::1] src_ids not None, const int64_t[::1] src_offsets not None,  # IN
    const int32_t[::1] tgt_ids not None, const int64_t[::1] tgt_offsets not None,  # IN
    int64_t n_blocks,                                                              # IN, of source words
    int n_tgt_words,                                                               # IN
    int64_t[::1] rows not None,                                                    # OUT, [V_src + 1]
    int n_threads,
):
    """Fills rows; returns pair_tgt."""
    cdef Py_ssize_t S = src_offsets.shape[0] - 1, V = rows.shape[0] - 1, n_src = src_ids.shape[0]
    cdef Py_ssize_t b
    cdef int64_t e, n_pairs
    cdef vector[vector[int32_t]] found
    check_threads(n_threads)
    check_offsets("src_offsets", src_offsets, S, n_src)
    check_offsets("tgt_offsets", tgt_offsets, S, tgt_ids.shape[0])
    check_ids("source ids", src_ids, 0, n_src, 0, V)
    check_ids("target ids", tgt_ids, 0, tgt_ids.shape[0], 0, n_tgt_words)
    if V < 0 or n_blocks < 1 or src_offsets[0] != 0 or src_offsets[S] != n_src or n_src > 2147483647:
        raise ValueError("rows, blocks or tokens are not of a whole text")
    rows[:] = 0
    if n_src == 0 or tgt_ids.shape[0] == 0:
        return np.empty(0, dtype=np.int32)
    cdef int32_t[::1] order = np.empty(n_src, dtype=np.int32)
    cdef int32_t[::1] sentence = np.empty(n_src, dtype=np.int32)
    cdef int64_t[:, ::1] starts = np.empty((n_parts(n_src, V, n_threads) + 1, V + 1), dtype=np.int64)
    cdef int64_t[::1] blocks = np.zeros(n_blocks + 1, dtype=np.int64)
    cdef int32_t[:, ::1] met = np.full((n_threads, n_tgt_words), -1, dtype=np.int32)  # -1: no word yet
    found.resize(n_blocks)
    with nogil:
        sort_tokens(&src_ids[0], &src_offsets[0], S, V, starts, &order[0], &sentence[0], n_blocks, &blocks[0])
        for b in prange(n_blocks, schedule="dynamic", num_threads=n_threads):
            number_block(
                blocks[b], blocks[b + 1], &tgt_ids[0], n_tgt_words, &tgt_offsets[0], &order[0], &starts[0, 0],
                &sentence[0], &met[threadid(), 0], &rows[0], found[b],
            )
    n_pairs = 0  # rows[e + 1] is the number of e's word pairs until here
    rows[0] = 0
    for e in range(V):
        n_pairs += rows[e + 1]
        rows[e + 1] = n_pairs
    pair_tgt = np.empty(n_pairs, dtype=np.int32)
    cdef int32_t[::1] out = pair_tgt
    for b in prange(n_blocks, schedule="dynamic", num_threads=n_threads, nogil=True):
        if found[b].size():
            memcpy(&out[rows[blocks[b]]], found[b].data(), found[b].size() * sizeof(int32_t))
        found[b] = vector[int32_t]()  # frees the block's memory
    return pair_tgt


cdef int number_block(
    int64_t first, int64_t last, const int32_t* tgt_ids, int64_t n_tgt_words, const int64_t* tgt_offsets,
    const int32_t* order, const int64_t* starts, const int32_t* sentence, int32_t* met, int64_t* rows,
    vector[int32_t]& found,
) except -1 nogil:
    """Finds the word pairs of the source words [first, last). rows[e + 1] becomes the number of e's word pairs."""
    cdef int64_t e, k, j, n, J, f, count, begin
    cdef const int32_t* tgt
    for e in range(first, last):
        begin = found.size()
        for k in range(starts[e], starts[e + 1]):  # which words stand beside e
            if k + AHEAD < starts[last]:
                n = sentence[order[k + AHEAD]]
                tgt = tgt_ids + tgt_offsets[n]
                PREFETCH(tgt)
                PREFETCH(tgt + 16)
            if k + 2 * AHEAD < starts[last]:
                PREFETCH(tgt_offsets + sentence[order[k + 2 * AHEAD]])
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
    """The cells of any text, found among the word pairs of a lexicon. Offsets need not begin at 0.

    A large text is gone through source word by source word: the row of a word is written into an array over the target
    vocabulary once, and serves all tokens of the word. Cells of other texts are found by bisection in their rows.
    """
    cdef Py_ssize_t n, b, S = src_offsets.shape[0] - 1, V = rows.shape[0] - 1
    cdef int64_t n_tgt_words, k, n_src
    cdef int32_t last_word = -1
    check_threads(n_threads)
    check_offsets("rows", rows, V, pair_tgt.shape[0])
    check_offsets("src_offsets", src_offsets, S, src_ids.shape[0])
    check_offsets("tgt_offsets", tgt_offsets, S, tgt_ids.shape[0])
    check_cells(src_offsets, tgt_offsets, cell_offsets, cells.shape[0])
    check_ids("source ids", src_ids, src_offsets[0], src_offsets[S], -1, V)
    if cells.shape[0] == 0 or cell_offsets[S] == cell_offsets[0]:
        return
    n_src = src_offsets[S] - src_offsets[0]
    if n_src > 2147483647:
        raise ValueError(f"there are {n_src} source tokens, more than an int32 can number")
    cdef const int32_t* pair = &pair_tgt[0] if pair_tgt.shape[0] else NULL
    if V > FEW * n_src:
        for n in prange(S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
            find_sentence(
                &src_ids[0] + src_offsets[n], src_offsets[n + 1] - src_offsets[n], &tgt_ids[0] + tgt_offsets[n],
                tgt_offsets[n + 1] - tgt_offsets[n], &rows[0], pair, &cells[0] + cell_offsets[n],
            )
        return
    for k in range(tgt_offsets[0], tgt_offsets[S]):
        last_word = max(last_word, tgt_ids[k])
    n_tgt_words = <int64_t>last_word + 1
    cdef int32_t[::1] order = np.empty(n_src, dtype=np.int32)
    cdef int32_t[::1] sentence = np.empty(n_src, dtype=np.int32)
    cdef int64_t[:, ::1] starts = np.empty((n_parts(n_src, V, n_threads) + 1, V + 1), dtype=np.int64)
    cdef int64_t[::1] blocks = np.zeros(BLOCKS + 1, dtype=np.int64)
    # [n_threads, V_tgt] a source word, times 2^32, and the number of its word pair with a target word; -1: none yet
    cdef int64_t[:, ::1] work = np.empty((n_threads, max(1, n_tgt_words)), dtype=np.int64)
    with nogil:
        for b in prange(n_threads, schedule="static", chunksize=1, num_threads=n_threads):
            memset(&work[b, 0], -1, work.shape[1] * sizeof(int64_t))
        for n in prange(S, schedule="static", num_threads=n_threads):  # unknown words have no tokens in the order
            for k in range(src_offsets[n], src_offsets[n + 1]):
                if src_ids[k] < 0:
                    fill_unknown(
                        &cells[0] + cell_offsets[n] + (k - src_offsets[n]) * (tgt_offsets[n + 1] - tgt_offsets[n]),
                        tgt_offsets[n + 1] - tgt_offsets[n],
                    )
        sort_tokens(&src_ids[0], &src_offsets[0], S, V, starts, &order[0], &sentence[0], BLOCKS, &blocks[0])
        for b in prange(BLOCKS, schedule="dynamic", num_threads=n_threads):
            find_block(
                blocks[b], blocks[b + 1], &src_offsets[0], &tgt_ids[0], &tgt_offsets[0], &cell_offsets[0], &order[0],
                &starts[0, 0], &sentence[0], &rows[0], pair, n_tgt_words, &work[threadid(), 0], &cells[0],
            )


cdef void fill_unknown(int32_t* cell, int64_t J) noexcept nogil:
    cdef int64_t j
    for j in range(J):
        cell[j] = -1


cdef struct Place:
    # Where a source token has its cells
    int64_t cell  # the first of them
    int64_t tgt   # the first target token of its sentence pair
    int64_t J     # target tokens


cdef int find_block(
    int64_t first, int64_t last, const int64_t* src_offsets, const int32_t* tgt_ids, const int64_t* tgt_offsets,
    const int64_t* cell_offsets, const int32_t* order, const int64_t* starts, const int32_t* sentence,
    const int64_t* rows, const int32_t* pair_tgt, int64_t n_tgt_words, int64_t* number, int32_t* cells,
) except -1 nogil:
    """The cells of the source words [first, last).

    number  [n_tgt_words]  f -> e * 2^32 + k, if f is the k-th of row e; what another word left there has another e
    places  [n + AHEAD]    the n tokens of these words, found in a loop of their own: it waits for memory of many at a time
    A row that is too long for a few cells is searched instead (LONG): cell (i, j) = k where row[k] = f_j, else -1.
    """
    cdef int64_t e, k, j, n, J, found, width, n_cells, begin = src_offsets[0], n_tokens = starts[last] - starts[first]
    cdef int32_t token, word
    cdef const int32_t* tgt
    cdef const int32_t* row
    cdef int32_t* cell
    cdef vector[Place] places
    cdef Place* place
    places.resize(n_tokens + AHEAD)  # zeros behind the last: the first cells are fetched in vain
    for k in range(n_tokens):
        token = order[starts[first] + k]
        n = sentence[token]
        J = tgt_offsets[n + 1] - tgt_offsets[n]
        places[k].cell = cell_offsets[n] + (token + begin - src_offsets[n]) * J
        places[k].tgt = tgt_offsets[n]
        places[k].J = J
    place = places.data()
    for e in range(first, last):
        n_tokens = starts[e + 1] - starts[e]
        if n_tokens == 0:
            continue
        n_cells = 0
        for k in range(n_tokens):
            n_cells += place[k].J
        row = pair_tgt + rows[e]
        width = rows[e + 1] - rows[e]
        if width <= LONG * n_cells:
            for k in range(width):
                if 0 <= row[k] < n_tgt_words:
                    number[row[k]] = e << 32 | k
        for k in range(n_tokens):
            cell = cells + place[k + AHEAD].cell
            tgt = tgt_ids + place[k + AHEAD].tgt
            PREFETCH_TO_WRITE(cell)
            PREFETCH_TO_WRITE(cell + 16)
            PREFETCH(tgt)
            PREFETCH(tgt + 16)
            cell = cells + place[k].cell
            tgt = tgt_ids + place[k].tgt
            J = place[k].J
            if width <= LONG * n_cells:
                for j in range(J):
                    word = tgt[j]
                    found = number[word] if word >= 0 else -1
                    cell[j] = <int32_t>found if found >> 32 == e else -1
            else:
                find_row(row, width, tgt, J, cell)
        place += n_tokens
    return 0


cdef void find_sentence(
    const int32_t* src, int64_t I, const int32_t* tgt, int64_t J, const int64_t* rows, const int32_t* pair_tgt,
    int32_t* cell,
) noexcept nogil:
    """The cells of a sentence pair, [I, J]."""
    cdef int64_t i
    for i in range(I):
        if src[i] >= 0:
            find_row(pair_tgt + rows[src[i]], rows[src[i] + 1] - rows[src[i]], tgt, J, cell)
        else:
            fill_unknown(cell, J)
        cell += J


cdef void find_row(const int32_t* row, int64_t n, const int32_t* tgt, int64_t J, int32_t* cell) noexcept nogil:
    """The cells [J] of one source token, whose word has n word pairs, by bisection.

    All target words take each step together: no word waits for another, and no branch depends on a word. Of n word pairs
    from cell[j] on, one is f_j, if any is; a step leaves the lower or the upper ones. Both have n - half, and may have one
    in common.
    """
    cdef int64_t j, half
    if n == 0:
        fill_unknown(cell, J)
        return
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
