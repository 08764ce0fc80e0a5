"""Mixtures in both directions at once (Brown et al. 1993): each word is translated by itself.

    forward  p(f_j | e) = d(NULL | j) t(f_j | NULL) + sum_i d(i | j) t(f_j | e_i)
    reverse  the same with the sides swapped

Model 1 has d = 1 / (I + 1) for all. Model 2 and the diagonal model have positions (places.pxd), by which d is a number
of the cell times a number of the token.

inv_fwd    [n_tgt]   target token -> its number in d over p(f_j | e); of Model 1 1 / (t(f_j | NULL) + sum_i t(f_j | e_i))
inv_rev    [n_src]   source token -> the same of the reverse direction
nulls_fwd  [n_tgt]   target token -> d(NULL | j) / p(f_j | e); Model 1 has inv_fwd
nulls_rev  [n_src]   source token -> the same of the reverse direction

A link's posterior is t times the cell's number times the token's inverse. So counting and decoding both make one pass
over the sentence pairs that keeps nothing but the inverses. Decoding adds FLOOR to every t: no word is impossible.

Counting makes a second pass, over source words. All word pairs of one source word stand together, so no two threads touch
the same count. The tokens of a word are all over the shard, so what comes next is fetched ahead. With agreement (Liang et
al. 2006) both directions count the product of their posteriors.

A known link has its emissions multiplied by its weight. Sentence pairs with known links, or with word pairs that the
lexicon does not have, are gone through cell by cell; all others take a quicker loop.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport log
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

from checks cimport check_threads
from counts cimport Sums, fixed, read_sums
from inputs cimport FLOOR, Text, Words, check_costs, check_scores, check_statistics, read_text, read_words
from mixture cimport PREFETCH, emission, has_known, inside, weight_of
from placed cimport count_places, invert_placed
from places cimport FLAT, Place, Places, fill_row, of_cell, of_null, place_of, read_places, scale_of
from tokens cimport BLOCKS, n_parts, sort_tokens
from vectors cimport LEAST, real

cdef enum:
    AHEAD = 8  # tokens

REAL = np.float32 if sizeof(real) == 4 else np.float64


cdef void invert_sentence(
    Text* x, Words* w, Py_ssize_t n, real floor, real* inv_fwd, real* inv_rev, double* loglik, uint8_t* whole
) noexcept nogil:
    """The inverses of sentence pair n's tokens and its two log-likelihoods; zero where a side is empty.

    whole: whether the lexicon has all word pairs of the sentence pair.
    """
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n], J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef int64_t i, j
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef const real* row
    cdef real* fwd = inv_fwd + (x.tgt_offsets[n] - x.tgt_offsets[0])
    cdef real* rev = inv_rev + (x.src_offsets[n] - x.src_offsets[0])
    cdef real total, weight
    cdef bint known = has_known(x, n)
    loglik[0] = 0
    loglik[1] = 0
    whole[0] = True
    if I == 0 or J == 0:
        for j in range(J):
            fwd[j] = 0
        for i in range(I):
            rev[i] = 0
        return
    for j in range(J):
        fwd[j] = floor + (w.null_fwd[tgt[j]] if tgt[j] >= 0 else 0)
    for i in range(I):
        if i + 2 < I and src[i + 2] >= 0:
            row = w.t + 2 * w.rows[src[i + 2]]
            for j in range(2 * J, 3 * J):
                PREFETCH(row + 2 * cell[j])  # of the word after the next, wherever they are
        total = floor + (w.null_rev[src[i]] if src[i] >= 0 else 0)
        if known:
            for j in range(J):
                weight = weight_of(x, n, i, j)
                fwd[j] += weight * emission(w, src[i], cell[j], 0, floor)
                total += weight * emission(w, src[i], cell[j], 1, floor)
            whole[0] = False  # count_block takes sentence pairs with known links cell by cell
        elif src[i] >= 0 and inside(cell, J, w.rows[src[i] + 1] - w.rows[src[i]]):
            row = w.t + 2 * w.rows[src[i]]
            for j in range(J):
                fwd[j] += floor + row[2 * cell[j]]
                total += floor + row[2 * cell[j] + 1]
        else:
            for j in range(J):
                fwd[j] += emission(w, src[i], cell[j], 0, floor)
                total += emission(w, src[i], cell[j], 1, floor)
            whole[0] = False
        cell += J
        loglik[1] += log(total) if total > LEAST else 0
        rev[i] = 1 / total if total > LEAST else 0
    for j in range(J):
        loglik[0] += log(fwd[j]) if fwd[j] > LEAST else 0
        fwd[j] = 1 / fwd[j] if fwd[j] > LEAST else 0
    loglik[0] -= J * log(<double>(I + 1))
    loglik[1] -= I * log(<double>(J + 1))


def expect(
    shard, lexicon,                      # IN
    places,                              # IN, None: Model 1
    bint agree,                          # IN
    counts,                              # OUT, added to
    double[:, ::1] statistics not None,  # OUT, [S, 2] log-likelihoods; zero where a side is empty
    int n_threads,
):
    """Adds the expected counts of a shard in both directions, as integers of 2^-32."""
    cdef list held = []
    check_threads(n_threads)
    cdef Words w = read_words(lexicon, held)
    cdef Text x = read_text(shard, &w, True, held)
    cdef Sums c = read_sums(counts, &w, agree, held)
    cdef Places p = read_places(places, reals_of(places), counts, &x, 0, held)
    cdef Py_ssize_t n, b, longest = longest_target(&x)
    cdef int k
    check_statistics(&x, statistics, 2)
    if x.S == 0 or x.cell_offsets[x.S] == x.cell_offsets[0]:
        statistics[:, :] = 0
        return
    cdef int64_t n_src = x.src_offsets[x.S] - x.src_offsets[0], n_tgt = x.tgt_offsets[x.S] - x.tgt_offsets[0]
    cdef real[::1] inv_fwd = np.empty(n_tgt, dtype=REAL)
    cdef real[::1] inv_rev = np.empty(n_src, dtype=REAL)
    cdef int32_t[::1] order = np.empty(n_src, dtype=np.int32)
    cdef int32_t[::1] sentence = np.empty(n_src, dtype=np.int32)
    cdef uint8_t[::1] whole = np.empty(x.S, dtype=np.uint8)
    cdef int64_t[:, ::1] starts = np.empty((n_parts(n_src, w.V_src, n_threads) + 1, w.V_src + 1), dtype=np.int64)
    cdef int64_t[::1] blocks = np.zeros(BLOCKS + 1, dtype=np.int64)
    cdef real[::1] nulls_fwd = inv_fwd if p.kind == FLAT else np.empty(n_tgt, dtype=REAL)
    cdef real[::1] nulls_rev = inv_rev if p.kind == FLAT else np.empty(n_src, dtype=REAL)
    cdef real[:, ::1] room = np.empty((n_threads, 3 * longest), dtype=REAL)
    with nogil:
        for n in prange(x.S, schedule="dynamic", chunksize=256, num_threads=n_threads):
            k = threadid()
            if p.kind == FLAT:
                invert_sentence(&x, &w, n, 0, &inv_fwd[0], &inv_rev[0], &statistics[n, 0], &whole[n])
            else:
                invert_placed(
                    &x, &w, &p, n, 0, &inv_fwd[0], &inv_rev[0], &nulls_fwd[0], &nulls_rev[0], &statistics[n, 0],
                    &whole[n], &room[k, 0],
                )
            if p.counts[0] != NULL:
                count_places(
                    &x, &w, &p, n, &inv_fwd[0], &inv_rev[0], &nulls_fwd[0], &nulls_rev[0], whole[n], agree,
                    &room[k, 0],
                )
        sort_tokens(
            x.src_ids, x.src_offsets, x.S, w.V_src, starts, &order[0], &sentence[0], BLOCKS, &blocks[0]
        )
        for b in prange(BLOCKS + 2, schedule="dynamic", num_threads=n_threads):
            if b == 0:
                count_nulls(x.tgt_ids + x.tgt_offsets[0], n_tgt, w.null_fwd, &nulls_fwd[0], c.null_fwd)
            elif b == 1:
                count_nulls(x.src_ids + x.src_offsets[0], n_src, w.null_rev, &nulls_rev[0], c.null_rev)
            else:
                k = threadid()
                count_block(
                    &x, &w, &p, blocks[b - 2], blocks[b - 1], &order[0], &starts[0, 0], &sentence[0], &whole[0],
                    &inv_fwd[0], &inv_rev[0], agree, &c, &room[k, 0],
                )


cdef object reals_of(object places):
    """The ramps of the diagonal as reals: up, down; None without them."""
    if places is None or places.ramps is None:
        return None
    return tuple(np.ascontiguousarray(x, dtype=REAL) for x in (places.ramps.up, places.ramps.down))


cdef int64_t longest_target(Text* x) noexcept nogil:
    """The most target words of a sentence pair; at least 1."""
    cdef int64_t n, most = 1
    for n in range(x.S):
        most = max(most, x.tgt_offsets[n + 1] - x.tgt_offsets[n])
    return most


cdef void count_block(
    Text* x, Words* w, Places* places, int64_t first, int64_t last, const int32_t* order, const int64_t* starts,
    const int32_t* sentence, const uint8_t* whole, const real* inv_fwd, const real* inv_rev, bint agree, Sums* c, real* room,
) noexcept nogil:
    """Adds the posteriors of the tokens of the source words first to last. room: [2, J] of the longest J"""
    cdef int64_t e, k, j, n, J, width, src_begin = x.src_offsets[0], tgt_begin = x.tgt_offsets[0]
    cdef int64_t end = starts[last]
    cdef int32_t token
    cdef const int32_t* cell
    cdef const int32_t* cells = x.cells
    cdef const int64_t* src_offsets = x.src_offsets
    cdef const int64_t* tgt_offsets = x.tgt_offsets
    cdef const int64_t* cell_offsets = x.cell_offsets
    cdef const real* fwd
    cdef const real* row
    cdef int64_t* total
    cdef real rev, weight, f, r
    cdef bint placed = places.kind != FLAT
    cdef real* d_fwd = room
    cdef real* d_rev = NULL
    cdef Place place
    for e in range(first, last):
        row = w.t + 2 * w.rows[e]
        total = c.pairs + c.columns * w.rows[e]
        width = w.rows[e + 1] - w.rows[e]
        for k in range(starts[e], starts[e + 1]):
            if k + AHEAD < end:
                token = order[k + AHEAD]
                n = sentence[token]
                cell = cells + cell_offsets[n]
                cell += (token + src_begin - src_offsets[n]) * (tgt_offsets[n + 1] - tgt_offsets[n])
                fwd = inv_fwd + (tgt_offsets[n] - tgt_begin)
                PREFETCH(cell)
                PREFETCH(cell + 16)
                PREFETCH(fwd)
                PREFETCH(fwd + 16)
                PREFETCH(inv_rev + token)
            if k + 2 * AHEAD < end:
                n = sentence[order[k + 2 * AHEAD]]
                PREFETCH(tgt_offsets + n)
                PREFETCH(src_offsets + n)
                PREFETCH(cell_offsets + n)
                PREFETCH(whole + n)
            if k + 3 * AHEAD < end:
                PREFETCH(sentence + order[k + 3 * AHEAD])
            token = order[k]
            n = sentence[token]
            J = tgt_offsets[n + 1] - tgt_offsets[n]
            cell = cells + cell_offsets[n] + (token + src_begin - src_offsets[n]) * J
            fwd = inv_fwd + (tgt_offsets[n] - tgt_begin)
            rev = inv_rev[token]
            if placed and J > 0:
                place = place_of(places, x, n)
                d_rev = room + J
                fill_row(&place, 0, token + src_begin - src_offsets[n], d_fwd)
                fill_row(&place, 1, token + src_begin - src_offsets[n], d_rev)
            if not whole[n]:
                for j in range(J):
                    if 0 <= cell[j] < width:  # other word pairs have no counts
                        weight = weight_of(x, n, token + src_begin - src_offsets[n], j)
                        f = weight * (d_fwd[j] if placed else 1) * row[2 * cell[j]] * fwd[j]
                        r = weight * (d_rev[j] if placed else 1) * row[2 * cell[j] + 1] * rev
                        add_link(total, cell[j], f, r, agree)
            elif placed:
                for j in range(J):
                    f = d_fwd[j] * row[2 * cell[j]] * fwd[j]
                    r = d_rev[j] * row[2 * cell[j] + 1] * rev
                    add_link(total, cell[j], f, r, agree)
            elif agree:
                for j in range(J):
                    total[cell[j]] += fixed(row[2 * cell[j]] * fwd[j] * (row[2 * cell[j] + 1] * rev))
            else:
                for j in range(J):
                    total[2 * cell[j]] += fixed(row[2 * cell[j]] * fwd[j])
                    total[2 * cell[j] + 1] += fixed(row[2 * cell[j] + 1] * rev)


cdef inline void add_link(int64_t* total, int64_t k, real f, real r, bint agree) noexcept nogil:
    """Counts a link of word pair k, whose posteriors are f and r."""
    if agree:
        total[k] += fixed(f * r)
    else:
        total[2 * k] += fixed(f)
        total[2 * k + 1] += fixed(r)


cdef void count_nulls(
    const int32_t* ids, int64_t n_tokens, const real* null, const real* inverse, int64_t* counts
) noexcept nogil:
    """Adds the posteriors of NULL in one direction: null times NULL's inverse, token by token."""
    cdef int64_t k
    for k in range(n_tokens):
        counts[ids[k]] += fixed(null[ids[k]] * inverse[k])


def posteriors(
    shard, lexicon,             # IN
    places,                     # IN, None: Model 1
    bint best,                  # IN, 1 for the best link of each word instead of posteriors
    real share,                 # IN, what scores are multiplied by
    real[::1] fwd not None,     # OUT, [n_cells] added to
    real[::1] rev not None,     # OUT, [n_cells] added to
    double[:, ::1] costs,       # OUT, [S, 2] share * -log p of both directions is added; None: not wanted
    int n_threads,
):
    """Adds the posteriors of all cells of a shard in both directions."""
    cdef list held = []
    check_threads(n_threads)
    cdef Words w = read_words(lexicon, held)
    cdef Text x = read_text(shard, &w, False, held)
    cdef Places p = read_places(places, reals_of(places), None, &x, FLOOR, held)
    cdef Py_ssize_t n, longest = longest_target(&x)
    cdef int k
    check_scores(&x, fwd, rev)
    check_costs(&x, costs)
    if fwd.shape[0] == 0:
        return
    cdef real[::1] inv_fwd = np.empty(x.tgt_offsets[x.S] - x.tgt_offsets[0], dtype=REAL)
    cdef real[::1] inv_rev = np.empty(x.src_offsets[x.S] - x.src_offsets[0], dtype=REAL)
    cdef double[:, ::1] loglik = np.empty((x.S, 2))
    cdef uint8_t[::1] whole = np.empty(x.S, dtype=np.uint8)
    cdef real[::1] nulls_fwd = inv_fwd if p.kind == FLAT else np.empty_like(inv_fwd)
    cdef real[::1] nulls_rev = inv_rev if p.kind == FLAT else np.empty_like(inv_rev)
    cdef real[:, ::1] room = np.empty((n_threads, 2 * longest), dtype=REAL)
    for n in prange(x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        if p.kind == FLAT:
            invert_sentence(&x, &w, n, FLOOR, &inv_fwd[0], &inv_rev[0], &loglik[n, 0], &whole[n])
        else:
            invert_placed(
                &x, &w, &p, n, FLOOR, &inv_fwd[0], &inv_rev[0], &nulls_fwd[0], &nulls_rev[0], &loglik[n, 0], &whole[n],
                &room[k, 0],
            )
        score_sentence(&x, &w, &p, n, best, share, &inv_fwd[0], &inv_rev[0], &fwd[0], &rev[0], &room[k, 0])
    if costs is not None:
        np.subtract(costs, share * np.asarray(loglik), out=np.asarray(costs))


cdef void score_sentence(
    Text* x, Words* w, Places* places, Py_ssize_t n, bint best, real share, const real* inv_fwd, const real* inv_rev,
    real* fwd, real* rev, real* room,
) noexcept nogil:
    """Adds the posteriors of sentence pair n. best: adds 1 for each word's best link. room: [2, J]"""
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n], J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t i, j
    cdef real weight
    cdef real* d_fwd = room
    cdef real* d_rev = room + J
    cdef Place place
    place.kind = FLAT
    if I == 0 or J == 0:
        return
    if places.kind != FLAT:
        place = place_of(places, x, n)
    inv_fwd += x.tgt_offsets[n] - x.tgt_offsets[0]
    inv_rev += x.src_offsets[n] - x.src_offsets[0]
    fwd += x.cell_offsets[n] - x.cell_offsets[0]
    rev += x.cell_offsets[n] - x.cell_offsets[0]
    if best:
        add_best(x, w, &place, n, 0, x.tgt_ids + x.tgt_offsets[n], J, I, w.null_fwd, share, fwd)
        add_best(x, w, &place, n, 1, src, I, J, w.null_rev, share, rev)
        return
    for j in range(J):
        d_fwd[j] = d_rev[j] = 1
    for i in range(I):
        if place.kind != FLAT:
            fill_row(&place, 0, i, d_fwd)
            fill_row(&place, 1, i, d_rev)
        for j in range(J):
            weight = weight_of(x, n, i, j)
            fwd[i * J + j] += share * (weight * emission(w, src[i], cell[i * J + j], 0, FLOOR) * inv_fwd[j] * d_fwd[j])
            rev[i * J + j] += share * (weight * emission(w, src[i], cell[i * J + j], 1, FLOOR) * inv_rev[i] * d_rev[j])


cdef void add_best(
    Text* x, Words* w, Place* place, Py_ssize_t n, int direction, const int32_t* words, int64_t n_words,
    int64_t n_states, const real* null, real share, real* scores,
) noexcept nogil:
    """Adds share for the most probable link of each word that a direction generates, unless NULL is more probable."""
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t word, state, i, j, top
    cdef real most, value, scale = 1
    for word in range(n_words):
        most = FLOOR + (null[words[word]] if words[word] >= 0 else 0)
        if place.kind != FLAT:
            most *= of_null(place, direction, word)
            scale = scale_of(place, direction, word)
        top = -1  # the best link's cell
        for state in range(n_states):
            i = state if direction == 0 else word
            j = word if direction == 0 else state
            value = emission(w, src[i], cell[i * J + j], direction, FLOOR) * weight_of(x, n, i, j)
            if place.kind != FLAT:
                value *= of_cell(place, direction, i, j) * scale
            if value > most or (value == most and top < 0):
                most = value
                top = i * J + j
        if top >= 0:
            scores[top] += share
