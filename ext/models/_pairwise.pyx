"""The surrogate of the HMM and its concave form, in both directions at once (Simion, Collins & Stein 2015).

    surrogate   sum_j log sum_{i, i'} t(f_j | e_i) d(i | j) T(i, i') t(f_{j+1} | e_i')
    root        the same with the root of each t; it is concave in t, so that it has one maximum

j = 1 ... J - 1; a sentence of one word has log sum_i t(f_1 | e_i) d(i | 1). d and T (skips.pxd) are constants: t alone is
learned. The objective is a composite likelihood: all words but the first and the last are generated twice.

With smoothing, the objective is the mean of this one and of Model 1's or Model 2's log-likelihood, the latter with the
same d.

Expected counts are those of the objective's own bound: a term counts 1 for each of its two words, with roots 1/2, because
log sqrt t = 1/2 log t. With agreement both directions count the product of their posteriors; the posterior of a cell is the
mean over the terms that its word is in.

A known link has its emissions multiplied by its weight, before the root is taken.

Counting makes two passes. The first goes over sentence pairs, and keeps what each cell counts, 8 bytes a cell of the shard.
The second goes over source words, and adds (tokens.pxd).
"""

from cython.parallel cimport prange, threadid
from libc.math cimport log
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free
from libc.string cimport memset

import numpy as np

from checks cimport check_threads
from counts cimport Sums, atomic_add, fixed, read_sums
from inputs cimport FLOOR, Text, Words, check_costs, check_scores, check_statistics, read_text, read_words
from skips cimport Direction, alpha_rows, best_path, beta_rows, join, lay_out, room_for, set_skips, turn
from terms cimport add_mixtures, add_terms
from tokens cimport BLOCKS, n_parts, sort_tokens
from vectors cimport LEAST, VECTOR, new_work, padded, real

cdef extern from "prefetch.h":
    void PREFETCH(const void* address) noexcept nogil

cdef extern from "real.h":
    real square_root(real x) noexcept nogil

cdef enum:
    NO_SMOOTHING = 0
    MODEL_1 = 1
    MODEL_2 = 2
    AHEAD = 4  # tokens

SMOOTHING = {"none": NO_SMOOTHING, "ibm1": MODEL_1, "ibm2": MODEL_2}
REAL = np.float32 if sizeof(real) == 4 else np.float64
MOST = 80.0  # tension and skip: exp(-80) is still a normal float


cdef struct Skips:
    double tension
    double skip
    int64_t centre
    bint root
    int64_t smooth  # one of SMOOTHING
    bint joint      # decoding: by the product of all terms instead of the HMM


cdef int check_skips(Skips* how) except -1:
    if not (0 <= how.tension <= MOST and 0 <= how.skip <= MOST):
        raise ValueError(f"tension and skip must be between 0 and {MOST:g}, not {how.tension} and {how.skip}")
    if not (how.centre == 0 or how.centre == 1):
        raise ValueError(f"centre must be 0 or 1, not {how.centre}")
    if not NO_SMOOTHING <= how.smooth <= MODEL_2:
        raise ValueError(f"smooth must be one of {', '.join(map(str, SMOOTHING.values()))}, not {how.smooth}")
    return 0


cdef int64_t widest(Text* x) noexcept nogil:
    """Reals of work space that are enough for both directions of every sentence pair."""
    cdef int64_t most = 1, I, J
    cdef Py_ssize_t n
    for n in range(x.S):
        I = x.src_offsets[n + 1] - x.src_offsets[n]
        J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
        most = max(most, padded(room_for(I, J) + room_for(J, I)))
    return most


cdef bint set_up(
    Text* x, Words* w, Skips* how, Py_ssize_t n, bint training, real floor, Direction* fwd, Direction* rev, real* work
) noexcept nogil:
    """Prepares both directions of sentence pair n; False if a side is empty.

    emit and null are floor + t, and floor alone where a word pair is not known.
    """
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n], J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef const real* row
    cdef int64_t i, j, k, width
    cdef real f, r
    if I == 0 or J == 0:
        return False
    lay_out(fwd, I, J, work)
    lay_out(rev, J, I, work + room_for(I, J))
    set_skips(fwd, how.tension, how.skip, how.centre)
    set_skips(rev, how.tension, how.skip, how.centre)
    fwd.row_rise, fwd.row_fall = rev.rise, rev.fall
    rev.row_rise, rev.row_fall = fwd.rise, fwd.fall
    for j in range(J):
        fwd.null[j] = floor + (w.null_fwd[tgt[j]] if tgt[j] >= 0 else 0)
        memset(fwd.emit + j * fwd.K + I, 0, (fwd.K - I) * sizeof(real))
    for i in range(I):
        memset(rev.emit + i * rev.K + J, 0, (rev.K - J) * sizeof(real))
    if training:
        turn(fwd, rev)
    for i in range(I):
        rev.null[i] = floor + (w.null_rev[src[i]] if src[i] >= 0 else 0)
        if i + 2 < I and src[i + 2] >= 0:
            row = w.t + 2 * w.rows[src[i + 2]]
            for j in range(2 * J, 3 * J):
                PREFETCH(row + 2 * cell[j])  # of the word after the next, wherever they are
        row = w.t + 2 * w.rows[src[i]] if src[i] >= 0 else NULL
        width = w.rows[src[i] + 1] - w.rows[src[i]] if src[i] >= 0 else 0
        for j in range(J):
            f = r = floor
            if 0 <= cell[j] < width:
                f = floor + row[2 * cell[j]]
                r = floor + row[2 * cell[j] + 1]
            fwd.emit[j * fwd.by_row + i * fwd.by_state] = f
            rev.emit[i * rev.by_row + j * rev.by_state] = r
        cell += J
    if x.known_offsets != NULL:
        for k in range(x.known_offsets[n], x.known_offsets[n + 1]):
            fwd.emit[x.known_tgt[k] * fwd.by_row + x.known_src[k] * fwd.by_state] *= x.known_weight[k]
            rev.emit[x.known_src[k] * rev.by_row + x.known_tgt[k] * rev.by_state] *= x.known_weight[k]
    return True


cdef void take_roots(Direction* d) noexcept nogil:
    cdef int64_t k
    for k in range(d.I * d.P):
        d.emit[k] = square_root(d.emit[k])
    for k in range(d.J):
        d.null[k] = square_root(d.null[k])


cdef struct Weights:
    # How much a term of two words, a word by smoothing, and the word of a sentence of one word count
    real term, smooth, single


cdef inline Weights weights_of(Skips* how) noexcept nogil:
    cdef Weights a
    cdef real share = 1 if how.smooth == NO_SMOOTHING else <real>0.5  # the mean of two objectives
    a.term = share / 2 if how.root else share
    a.smooth = 1 - share
    a.single = share
    return a


cdef inline real all_of(Weights* a, int64_t j, int64_t J) noexcept nogil:
    """What all counts of word j are together."""
    if J == 1:
        return a.single + a.smooth
    return ((j > 0) + (j < J - 1)) * a.term + a.smooth


cdef double count_words(Direction* d, Skips* how) noexcept nogil:
    """Expected counts of a direction, in gamma and nowhere. Returns the objective."""
    cdef Weights a = weights_of(how)
    cdef real[VECTOR] sums
    cdef double total = 0, smoothed = 0
    cdef int64_t c
    memset(d.gamma, 0, d.I * d.P * sizeof(real))
    if d.J == 1:
        add_mixtures(d, 0, True, False, a.single, sums)
        total = logs(sums, 1)
    if how.root:
        take_roots(d)
    for c in range(0, d.J - 1, 16):
        add_terms(d, c, a.term, sums)
        total += logs(sums, d.J - 1 - c)
    if how.smooth == NO_SMOOTHING:
        return total
    for c in range(0, d.J, 16):
        add_mixtures(d, c, how.smooth == MODEL_2, how.root, a.smooth, sums)
        smoothed += logs(sums, d.J - c)
    return (total + smoothed) / 2


cdef inline double logs(const real* sums, int64_t n) noexcept nogil:
    """The sum of the logarithms of the first n of 16 numbers, without those that say nothing; with few logarithms."""
    cdef double total = 0, product = 1
    cdef int64_t k
    for k in range(min(n, VECTOR)):
        if sums[k] > LEAST:
            product *= sums[k]
        if not 1e-200 < product < 1e200:
            total += log(product)
            product = 1
    return total + log(product)


def expect(
    shard, lexicon,                      # IN
    Skips how,                           # IN
    bint agree,                          # IN
    counts,                              # OUT, added to
    double[:, ::1] statistics not None,  # OUT, [S, 2] objectives; zero where a side is empty
    int n_threads,
):
    """Adds the expected counts of a shard in both directions, as integers of 2^-32."""
    cdef list held = []
    check_threads(n_threads)
    check_skips(&how)
    cdef Words w = read_words(lexicon, held)
    cdef Text x = read_text(shard, &w, True, held)
    cdef Sums c = read_sums(counts, &w, agree, held)
    cdef Py_ssize_t n, b
    cdef int k
    check_statistics(&x, statistics, 2)
    statistics[:, :] = 0
    if x.S == 0 or x.cell_offsets[x.S] == x.cell_offsets[0]:
        return
    cdef int64_t n_src = x.src_offsets[x.S] - x.src_offsets[0]
    cdef real[:, ::1] links = np.empty((x.cell_offsets[x.S] - x.cell_offsets[0], c.columns), dtype=REAL)
    cdef int32_t[::1] order = np.empty(n_src, dtype=np.int32)
    cdef int32_t[::1] sentence = np.empty(n_src, dtype=np.int32)
    cdef int64_t[:, ::1] starts = np.empty((n_parts(n_src, w.V_src, n_threads) + 1, w.V_src + 1), dtype=np.int64)
    cdef int64_t[::1] blocks = np.zeros(BLOCKS + 1, dtype=np.int64)
    cdef int64_t work_size = widest(&x)
    cdef real* work = new_work(n_threads * work_size)
    with nogil:
        for n in prange(x.S, schedule="dynamic", chunksize=64, num_threads=n_threads):
            k = threadid()
            count_pair(&x, &w, &how, n, agree, &c, &links[0, 0], &statistics[n, 0], work + k * work_size)
        sort_tokens(
            x.src_ids, x.src_offsets, x.S, w.V_src, starts, &order[0], &sentence[0], BLOCKS, &blocks[0]
        )
        for b in prange(BLOCKS, schedule="dynamic", num_threads=n_threads):
            add_block(&x, &w, blocks[b], blocks[b + 1], &order[0], &starts[0, 0], &sentence[0], &links[0, 0], &c)
    free(work)


cdef void count_pair(
    Text* x, Words* w, Skips* how, Py_ssize_t n, bint agree, Sums* c, real* links, double* statistics, real* work
) noexcept nogil:
    """What the cells of sentence pair n count, in links [n_cells, columns]; adds what NULL counts."""
    cdef Direction fwd, rev
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef Weights a = weights_of(how)
    cdef int64_t i, j
    cdef real whole
    if not set_up(x, w, how, n, True, 0, &fwd, &rev, work):
        return
    statistics[0] = count_words(&fwd, how)
    statistics[1] = count_words(&rev, how)
    for j in range(fwd.J):
        atomic_add(c.null_fwd + tgt[j], fixed(fwd.nowhere[j]))
    for i in range(rev.J):
        atomic_add(c.null_rev + src[i], fixed(rev.nowhere[i]))
    links += c.columns * (x.cell_offsets[n] - x.cell_offsets[0])
    for i in range(rev.J):
        if agree:
            whole = all_of(&a, i, rev.J)
            for j in range(fwd.J):
                links[j] = fwd.gamma[i * fwd.P + j] / all_of(&a, j, fwd.J) * (rev.gamma[j * rev.P + i] / whole)
        else:
            for j in range(fwd.J):
                links[2 * j] = fwd.gamma[i * fwd.P + j]
                links[2 * j + 1] = rev.gamma[j * rev.P + i]
        links += c.columns * fwd.J


cdef void add_block(
    Text* x, Words* w, int64_t first, int64_t last, const int32_t* order, const int64_t* starts, const int32_t* sentence,
    const real* links, Sums* c,
) noexcept nogil:
    """Adds what the cells of the source words first to last count. Word pairs that the lexicon lacks have no counts."""
    cdef int64_t e, k, j, n, J, width, begin, d
    cdef const int32_t* cell
    cdef const real* link
    cdef int64_t* total
    for e in range(first, last):
        total = c.pairs + c.columns * w.rows[e]
        width = w.rows[e + 1] - w.rows[e]
        for k in range(starts[e], starts[e + 1]):
            if k + AHEAD < starts[last]:
                n = sentence[order[k + AHEAD]]
                J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
                begin = x.cell_offsets[n] + (order[k + AHEAD] + x.src_offsets[0] - x.src_offsets[n]) * J
                link = links + c.columns * (begin - x.cell_offsets[0])
                PREFETCH(x.cells + begin)
                PREFETCH(x.cells + begin + 16)
                PREFETCH(link)
                PREFETCH(link + 16)
                PREFETCH(link + 32)
            n = sentence[order[k]]
            J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
            begin = x.cell_offsets[n] + (order[k] + x.src_offsets[0] - x.src_offsets[n]) * J
            cell = x.cells + begin
            link = links + c.columns * (begin - x.cell_offsets[0])
            for j in range(J):
                if 0 <= cell[j] < width:
                    for d in range(c.columns):
                        total[c.columns * cell[j] + d] += fixed(link[c.columns * j + d])


def posteriors(
    shard, lexicon,             # IN
    Skips how,                  # IN
    bint best,                  # IN, 1 on each direction's best path instead of posteriors
    real share,                 # IN, what scores are multiplied by
    real[::1] fwd not None,     # OUT, [n_cells] added to
    real[::1] rev not None,     # OUT, [n_cells] added to
    double[:, ::1] costs,       # OUT, [S, 2] share * -log p of both directions is added; None: not wanted
    int n_threads,
):
    """Adds the posteriors of all cells of a shard in both directions.

    p is that of the HMM. A sentence pair with an empty side adds nothing.
    """
    cdef list held = []
    check_threads(n_threads)
    check_skips(&how)
    cdef Words w = read_words(lexicon, held)
    cdef Text x = read_text(shard, &w, False, held)
    cdef Py_ssize_t n
    cdef int k
    cdef bint costed = costs is not None
    check_scores(&x, fwd, rev)
    check_costs(&x, costs)
    if fwd.shape[0] == 0:
        return
    cdef int64_t work_size = widest(&x)
    cdef real* work = new_work(n_threads * work_size)
    for n in prange(x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        score_pair(
            &x, &w, &how, n, best, share, &fwd[0], &rev[0], &costs[n, 0] if costed else NULL, work + k * work_size
        )
    free(work)


cdef void score_pair(
    Text* x, Words* w, Skips* how, Py_ssize_t n, bint best, real share, real* fwd_out, real* rev_out, double* costs,
    real* work,
) noexcept nogil:
    """Adds the posteriors of sentence pair n, [I, J] in both directions. costs: [2], or NULL"""
    cdef Direction fwd, rev
    cdef int64_t i, j, begin = x.cell_offsets[n] - x.cell_offsets[0]
    if not set_up(x, w, how, n, False, FLOOR, &fwd, &rev, work):
        return
    if costs != NULL:
        alpha_rows(&fwd, &rev)
        costs[0] -= <double>share * loglik(&fwd)
        costs[1] -= <double>share * loglik(&rev)
    if how.joint:
        join(&fwd)
        join(&rev)
    if best:
        best_path(&fwd)
        best_path(&rev)
    else:
        if costs == NULL or how.joint:
            alpha_rows(&fwd, &rev)
        beta_rows(&fwd, &rev)
    fwd_out += begin
    rev_out += begin
    for i in range(fwd.I):
        for j in range(fwd.J):
            fwd_out[i * fwd.J + j] += share * fwd.gamma[j * fwd.K + i]
            rev_out[i * fwd.J + j] += share * rev.gamma[i * rev.K + j]


cdef double loglik(Direction* d) noexcept nogil:
    """log p(f | e), after alpha_rows."""
    cdef double total = 0
    cdef int64_t j
    for j in range(d.J):
        total += log(<double>d.scale[j])
    return total
