"""From expected counts to translation tables: maximum likelihood, variational Bayes, and shares of occurrences.

Word pairs (e, f) are sorted by e; the counts c are integers of 2^-32, [P, n]: n = 2 columns, forward and reverse, or one if
both directions have the same. A forward table has a row for each source word e, over the target words that stand beside e. A
reverse table has a row for each target word f, over its source words.

    maximum likelihood   t(f | e) = c(e, f) / (sum_f c(e, f) + rest(e)), rest(e): what e counts with words not beside it
    variational Bayes    t(f | e) = exp(psi(c(e, f) + alpha) - psi(sum_f (c(e, f) + alpha)))
    of occurrences       t(f | e) = (c(e, f) + w alpha / V) / many(e), many(e) = kappa N(e) + alpha, V target words;
                         w is 1, and more for words that are spelled alike

Variational Bayes has a symmetric Dirichlet prior with parameter alpha on each row. Its rows sum to less than 1: the
geometric mean under the posterior Dirichlet(c + alpha) is smaller than the arithmetic. An update raises a bound: the
log-likelihood under t minus the divergence of each row's posterior from its prior (Beal 2003, ch. 3); n words, C = sum c:

    KL(Dir(alpha + c) || Dir(alpha)) = ln G(n alpha + C) - sum ln G(alpha + c) - ln G(n alpha) + n ln G(alpha)
                                       + sum c (psi(alpha + c) - psi(n alpha + C))

A word without counts adds nothing to the divergence, because ln G(alpha) cancels. All such words of a row have one t.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

import numpy as np

from checks cimport check_ids, check_offsets, check_threads
from vectors cimport LEAST, real

cdef extern from "math.h":
    double lgamma_r(double x, int* sign) noexcept nogil

cpdef enum:
    FEW = 16  # threads that have totals of their own: each takes 8 bytes a target word

cdef enum:
    BLOCK = 1 << 16  # counts that a thread clears at a time

REAL = np.float32 if sizeof(real) == 4 else np.float64
cdef double UNIT = 1 / 4294967296.0  # counts are multiples of UNIT
cdef double LOG_LEAST = log(<double>LEAST)  # of the smallest probability


cdef inline double psi(double x) noexcept nogil:
    """The digamma function of x > 0: the recurrence psi(x) = psi(x + 1) - 1 / x up to 7, then the asymptotic series."""
    cdef double below = 0, square
    while x < 7:
        below += 1 / x
        x += 1
    square = 1 / (x * x)
    return log(x) - 0.5 / x - below - square * (
        1 / 12.0 - square * (1 / 120.0 - square * (1 / 252.0 - square * (1 / 240.0 - square * (1 / 132.0))))
    )


cdef inline double log_gamma(double x) noexcept nogil:
    """ln G(x). The function lgamma would write the sign of G to a place that all threads share."""
    cdef int sign
    return lgamma_r(x, &sign)


def digamma(const double[::1] x not None):
    """psi of each number. For tests."""
    return np.array([psi(value) for value in x])


cdef int check(
    const int64_t[::1] rows, const int32_t[::1] tgt, int n_tgt_words, const int64_t[:, ::1] counts, real[:, ::1] t
) except -1:
    check_offsets("rows", rows, rows.shape[0] - 1, tgt.shape[0])
    check_ids("target words", tgt, 0, tgt.shape[0], 0, n_tgt_words)
    if counts.shape[0] != tgt.shape[0] or t.shape[0] != tgt.shape[0] or t.shape[1] != 2 or not 1 <= counts.shape[1] <= 2:
        raise ValueError(f"counts have not one or two columns, or t not two, of {tgt.shape[0]} word pairs")
    return 0


cdef int check_alpha(double alpha) except -1:
    if not 1e-9 <= alpha < 1e9:
        raise ValueError(f"alpha must be between 1e-9 and 1e9, not {alpha}")
    return 0


def maximum_likelihood(
    const int64_t[::1] rows not None, const int32_t[::1] tgt not None,  # IN
    int n_tgt_words,                                                    # IN
    const int64_t[:, ::1] counts not None,                              # IN, [P, n]
    const int64_t[::1] rest_src not None,                               # IN, [V_src]
    const int64_t[::1] rest_tgt not None,                               # IN, [V_tgt]
    real[:, ::1] t not None,                                            # OUT, [P, 2]
    int n_threads=1,
):
    """t(f | e) and t(e | f). A row without counts becomes zero.

    Threads that added to one array would wait for each other's memory: each of a few has totals of its own.
    """
    cdef Py_ssize_t e, f, k, few = min(n_threads, FEW), n = counts.shape[1]
    check_threads(n_threads)
    check(rows, tgt, n_tgt_words, counts, t)
    if rest_src.shape[0] != rows.shape[0] - 1 or rest_tgt.shape[0] != n_tgt_words:
        raise ValueError("the rest is not of these words")
    if tgt.shape[0] == 0:
        return
    cdef int64_t[:, ::1] total = np.zeros((few, n_tgt_words), dtype=np.int64)
    with nogil:
        for e in prange(rows.shape[0] - 1, schedule="dynamic", chunksize=64, num_threads=few):
            divide_row(
                rows[e + 1] - rows[e], &tgt[0] + rows[e], &counts[0, 0] + n * rows[e], n, rest_src[e],
                &total[threadid(), 0], &t[0, 0] + 2 * rows[e],
            )
        for f in prange(n_tgt_words, schedule="static", num_threads=n_threads):
            total[0, f] = total_of(f, total, rest_tgt[f])
        for k in prange(tgt.shape[0], schedule="static", num_threads=n_threads):
            t[k, 1] = <real>(counts[k, n - 1] / <double>max(total[0, tgt[k]], 1))


cdef int64_t total_of(Py_ssize_t f, const int64_t[:, ::1] total, int64_t rest) noexcept nogil:
    """What threads have counted of a target word, and the rest."""
    cdef Py_ssize_t k
    for k in range(total.shape[0]):
        rest += total[k, f]
    return rest


cdef void divide_row(
    int64_t n, const int32_t* tgt, const int64_t* counts, int64_t columns, int64_t rest, int64_t* total, real* t
) noexcept nogil:
    """t(f | e) of the n word pairs of a source word, whose reverse counts are added to the totals of target words."""
    cdef int64_t k, mass = rest
    for k in range(n):
        mass += counts[columns * k]
        total[tgt[k]] += counts[columns * k + columns - 1]
    for k in range(n):
        t[2 * k] = <real>(counts[columns * k] / <double>max(mass, 1))


def of_occurrences(
    const int64_t[::1] rows not None, const int32_t[::1] tgt not None,  # IN
    const int64_t[:, ::1] counts not None,                              # IN, [P, 1] of both directions
    double least_fwd, double least_rev,                                 # IN, counts that smoothing adds, alpha / V
    const uint8_t[::1] alike not None,                                  # IN, [P] how alike words are spelled
    const double[::1] weight not None,                                  # IN, [256] alike -> times as much is added
    const real[::1] many_src not None,                                  # IN, [V_src]
    const real[::1] many_tgt not None,                                  # IN, [V_tgt]
    real[:, ::1] t not None,                                            # OUT, [P, 2]
    int n_threads=1,
):
    """t of both directions. A word pair becomes zero that has no counts, and smoothing's with the weight 1.

    Returns a bit a word pair, in bytes, the lowest first: whether the word pair did not become zero.
    """
    cdef Py_ssize_t e, b, P = tgt.shape[0]
    linked = np.zeros((P + 7) // 8, dtype=np.uint8)
    cdef uint8_t[::1] bits = linked
    check_threads(n_threads)
    check_offsets("rows", rows, many_src.shape[0], tgt.shape[0])
    check_ids("target words", tgt, 0, tgt.shape[0], 0, many_tgt.shape[0])
    if counts.shape[0] != tgt.shape[0] or t.shape[0] != tgt.shape[0] or counts.shape[1] != 1 or t.shape[1] != 2:
        raise ValueError(f"counts and t are not of {tgt.shape[0]} word pairs")
    if alike.shape[0] != tgt.shape[0] or weight.shape[0] != 256:
        raise ValueError(f"spelling is not of {tgt.shape[0]} word pairs, or has no 256 weights")
    if P == 0:
        return linked
    with nogil:
        for e in prange(rows.shape[0] - 1, schedule="dynamic", chunksize=64, num_threads=n_threads):
            smooth_row(
                rows[e + 1] - rows[e], &tgt[0] + rows[e], &counts[0, 0] + rows[e], least_fwd, least_rev,
                &alike[0] + rows[e], &weight[0], many_src[e], &many_tgt[0], &t[0, 0] + 2 * rows[e],
            )
        for b in prange(bits.shape[0], schedule="static", num_threads=n_threads):
            bits[b] = linked_of(min(8, P - 8 * b), &counts[0, 0] + 8 * b, &alike[0] + 8 * b, &weight[0])
    return linked


cdef inline bint is_linked(int64_t count, double w) noexcept nogil:
    """Whether t of a word pair is not zero. w: times as much as usual smoothing adds"""
    return count > 0 or w > 1


cdef void smooth_row(
    int64_t n, const int32_t* tgt, const int64_t* counts, double least_fwd, double least_rev, const uint8_t* alike,
    const double* weight, real many, const real* many_tgt, real* t,
) noexcept nogil:
    """t of the n word pairs of a source word, in both directions."""
    cdef int64_t k
    cdef double c, w
    for k in range(n):
        c = counts[k] * UNIT
        w = weight[alike[k]]
        t[2 * k] = <real>((c + w * least_fwd) / many) if is_linked(counts[k], w) else 0
        t[2 * k + 1] = <real>((c + w * least_rev) / many_tgt[tgt[k]]) if is_linked(counts[k], w) else 0


cdef uint8_t linked_of(int64_t n, const int64_t* counts, const uint8_t* alike, const double* weight) noexcept nogil:
    """A bit for each of n word pairs, at most 8."""
    cdef int64_t k
    cdef uint8_t bits = 0
    for k in range(n):
        bits |= <uint8_t>(is_linked(counts[k], weight[alike[k]]) << k)
    return bits


cdef inline real probability(double log_t) noexcept nogil:
    """exp(log_t); 0 for what float holds with few digits or none, which processors are slow with."""
    return <real>exp(log_t) if log_t > LOG_LEAST else 0


cdef inline double set_probability(
    double c, double alpha, double prior, double shared, real unlinked, real* t
) noexcept nogil:
    """Sets t of a word that counts c; returns what the word adds to the divergence of its row.

    prior     ln G(alpha)
    shared    psi of the row's sum
    unlinked  t of the row's words without counts: psi and ln G are slow, and most words have no counts
    """
    cdef double log_t
    if c == 0:
        t[0] = unlinked
        return 0
    log_t = psi(c + alpha) - shared
    t[0] = probability(log_t)
    return prior - log_gamma(c + alpha) + c * log_t


cdef inline double of_all(double total, int64_t n, double alpha) noexcept nogil:
    """What a row of n words adds to its divergence beside what each of its words adds."""
    return log_gamma(total) - log_gamma(n * alpha)


def column_sums(
    const int32_t[::1] tgt not None,        # IN, [P]
    const int64_t[:, ::1] counts not None,  # IN, [P, n]
    int n_tgt_words,                        # IN
):
    """(totals, widths) [V_tgt]: what target words count in the last of the n columns, and how many word pairs they have."""
    cdef Py_ssize_t k, last = counts.shape[1] - 1
    check_ids("target words", tgt, 0, tgt.shape[0], 0, n_tgt_words)
    if counts.shape[0] != tgt.shape[0] or last < 0:
        raise ValueError(f"counts are not of {tgt.shape[0]} word pairs")
    totals, widths = np.zeros(n_tgt_words, dtype=np.int64), np.zeros(n_tgt_words, dtype=np.int64)
    cdef int64_t[::1] total = totals, width = widths
    with nogil:
        for k in range(tgt.shape[0]):
            total[tgt[k]] += counts[k, last]
            width[tgt[k]] += 1
    return totals, widths


def widths_of(const int32_t[::1] tgt not None, int n_tgt_words, int n_threads):
    """[V_tgt] how many word pairs target words have. tgt: [P]"""
    cdef Py_ssize_t f, k, few = min(n_threads, FEW), P = tgt.shape[0]
    check_threads(n_threads)
    check_ids("target words", tgt, 0, P, 0, n_tgt_words)
    widths = np.zeros((few, n_tgt_words), dtype=np.int64)
    cdef int64_t[:, ::1] width = widths
    with nogil:
        for k in prange(P, schedule="static", num_threads=few):
            width[threadid(), tgt[k]] += 1
        for f in prange(n_tgt_words, schedule="static", num_threads=n_threads):
            width[0, f] = total_of(f, width, 0)
    return widths[0]


def set_even(
    const int64_t[::1] rows not None, const int32_t[::1] tgt not None,      # IN
    const real[::1] share_src not None, const real[::1] share_tgt not None,  # IN, [V_src], [V_tgt]
    real[:, ::1] t not None,                                                # OUT, [P, 2]
    int n_threads,
):
    """t(f | e) = share(e), t(e | f) = share(f)"""
    cdef Py_ssize_t e, k
    check_threads(n_threads)
    check_offsets("rows", rows, share_src.shape[0], tgt.shape[0])
    check_ids("target words", tgt, 0, tgt.shape[0], 0, share_tgt.shape[0])
    if t.shape[0] != tgt.shape[0] or t.shape[1] != 2:
        raise ValueError(f"t is not of {tgt.shape[0]} word pairs in two directions")
    for e in prange(rows.shape[0] - 1, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        for k in range(rows[e], rows[e + 1]):
            t[k, 0] = share_src[e]
            t[k, 1] = share_tgt[tgt[k]]


def clear(int64_t[::1] counts not None, int n_threads):
    """Sets counts to 0."""
    cdef Py_ssize_t b, n = counts.shape[0]
    check_threads(n_threads)
    for b in prange((n + BLOCK - 1) // BLOCK, schedule="static", num_threads=n_threads, nogil=True):
        memset(&counts[b * BLOCK], 0, min(BLOCK, n - b * BLOCK) * sizeof(int64_t))


def variational_bayes(
    const int64_t[::1] rows not None, const int32_t[::1] tgt not None,  # IN
    const int64_t[:, ::1] counts not None,                              # IN, [P, n]
    const int64_t[::1] totals not None,                                 # IN, [V_tgt] counts of target words, reverse
    const int64_t[::1] widths not None,                                 # IN, [V_tgt] word pairs of target words
    double alpha,                                                       # IN
    real[:, ::1] t not None,                                            # OUT, [P, 2]
    int n_threads,
):
    """t of both directions. Returns what target words add to the reverse divergence, and what each source word adds: [V_src, 2].

    totals and widths are those of all source words. The rows may be those of some.
    What the word pairs of a source word add is summed by itself: sums do not depend on threads.
    """
    cdef int n_tgt_words = totals.shape[0]
    check_threads(n_threads)
    check(rows, tgt, n_tgt_words, counts, t)
    check_alpha(alpha)
    if widths.shape[0] != n_tgt_words:
        raise ValueError("totals and widths must be of one length")
    cdef double[::1] mass = np.zeros(n_tgt_words)  # of a target word: n alpha + C
    cdef double[::1] shared = np.empty(n_tgt_words)  # psi(mass)
    cdef real[::1] unlinked = np.empty(n_tgt_words, dtype=REAL)
    found = np.zeros((rows.shape[0] - 1, 2))
    cdef double[:, ::1] added = found
    cdef double rev = 0, prior = log_gamma(alpha), least = psi(alpha)
    cdef Py_ssize_t e, k, f
    for k in range(tgt.shape[0]):
        if counts[k, 0] < 0 or counts[k, counts.shape[1] - 1] < 0:
            raise ValueError(f"count {k} is negative")
        if widths[tgt[k]] < 1:
            raise ValueError(f"target word {tgt[k]} has no word pairs")
    for f in range(n_tgt_words):
        if totals[f] < 0:
            raise ValueError(f"target word {f} has a negative count")
    with nogil:
        for f in prange(n_tgt_words, schedule="static", num_threads=n_threads):
            if widths[f] > 0:
                mass[f] = totals[f] * UNIT + widths[f] * alpha
                shared[f] = psi(mass[f])
                unlinked[f] = probability(least - shared[f])
        for e in prange(rows.shape[0] - 1, schedule="dynamic", chunksize=64, num_threads=n_threads):
            if rows[e] < rows[e + 1]:
                set_row(
                    rows[e + 1] - rows[e], &tgt[rows[e]], &counts[rows[e], 0], counts.shape[1], alpha, prior, least, &shared[0],
                    &unlinked[0], &t[rows[e], 0], &added[e, 0],
                )
        for f in range(n_tgt_words):
            if widths[f] > 0:
                rev += of_all(mass[f], widths[f], alpha)
    return rev, found


cdef void set_row(
    int64_t n, const int32_t* tgt, const int64_t* counts, int64_t columns, double alpha, double prior, double least,
    const double* shared, const real* unlinked, real* t, double* added,
) noexcept nogil:
    """t of the n word pairs of a source word, in both directions.

    tgt, counts, t    [n], [n, columns], [n, 2] of the word pairs
    least             psi(alpha)
    shared, unlinked  [V_tgt] of the rows of target words
    added             [2] what is added to divergences: forward all, reverse that of these word pairs alone
    """
    cdef int64_t k
    cdef double total = 0, below
    cdef real without
    for k in range(n):
        total += counts[columns * k] * UNIT + alpha
    below = psi(total)
    without = probability(least - below)
    added[0] = of_all(total, n, alpha)
    for k in range(n):
        added[0] += set_probability(counts[columns * k] * UNIT, alpha, prior, below, without, t + 2 * k)
        added[1] += set_probability(
            counts[columns * k + columns - 1] * UNIT, alpha, prior, shared[tgt[k]], unlinked[tgt[k]], t + 2 * k + 1
        )


def variational_bayes_row(
    const int64_t[::1] counts not None,  # IN, [n]
    double alpha,                        # IN
    real[::1] row not None,              # OUT, [n]
):
    """t of one row, such as NULL's; returns the row's divergence."""
    cdef double total = 0, shared, prior = log_gamma(alpha), divergence
    cdef real unlinked
    cdef Py_ssize_t k
    if counts.shape[0] != row.shape[0]:
        raise ValueError("counts and row must be of one length")
    check_alpha(alpha)
    if counts.shape[0] == 0:
        return 0.0
    if np.min(counts) < 0:
        raise ValueError("a count is negative")
    with nogil:
        for k in range(counts.shape[0]):
            total += counts[k] * UNIT + alpha
        shared = psi(total)
        unlinked = probability(psi(alpha) - shared)
        divergence = of_all(total, counts.shape[0], alpha)
        for k in range(counts.shape[0]):
            divergence += set_probability(counts[k] * UNIT, alpha, prior, shared, unlinked, &row[k])
    return divergence
