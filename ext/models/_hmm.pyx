"""Sentence pairs of a text through their lattices (lattice.pxd): expected counts, and links.

A view, text and model together, is a tuple of

    src ids, offsets, tgt ids, offsets   [n_tokens], [S + 1]; ids are -1 for words that the model does not know
    cells, offsets                       [n_cells], [S + 1]; -1 for pairs that it does not know
    rows, t, null_fwd, null_rev          [V_src + 1], [P, 2], [V_tgt], [V_src]     (aligner/model.py)
    jump, first, p0                      [2, 2 W + 3], [2, W + 1]
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free
from libc.string cimport memset
from posix.stdlib cimport posix_memalign
from libcpp.vector cimport vector

import numpy as np

from constraints cimport BIJECTIVE, SYMMETRIC, UNCONSTRAINED, Inference, constrain, describe
from counts cimport fixed
from lattice cimport (
    MARGIN, VECTOR, Direction, add_jumps, alpha_rows, best_path, beta_rows, lay_out, loglik, mix, padded, real, room_for,
    set_transitions,
)
from projection cimport Outcome, Problem, differentiate, expect, room_for_problem, value

cdef extern from *:
    """
    #include <cstdint>
    static inline void atomic_add(int64_t *at, int64_t value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
    """
    void atomic_add(int64_t* at, int64_t value) noexcept nogil

cdef extern from "prefetch.h":
    void PREFETCH_TO_WRITE(const void* address) noexcept nogil

cdef real FLOOR = 1e-6  # added to every emission: no word is impossible, and t smoothed a little
cdef real TINY = 1e-5   # posteriors up to it are not counted

CONSTRAINTS = {"none": UNCONSTRAINED, "bijective": BIJECTIVE, "symmetric": SYMMETRIC}
cdef enum:
    N_STATISTICS = 7

STATISTICS = ("loglik_fwd", "loglik_rev", "kl", "before", "after", "calls", "converged")  # of a sentence pair


cdef struct Parameters:
    # What the lattices are made of, see the module's docstring
    const int64_t* rows
    const real* t
    const real* null_fwd
    const real* null_rev
    const double* jump
    const double* first
    int64_t W
    double p0


cdef Parameters parameters(tuple view):
    cdef Parameters m
    cdef const int64_t[::1] rows = view[6]
    cdef const real[:, ::1] t = view[7]
    cdef const real[::1] null_fwd = view[8]
    cdef const real[::1] null_rev = view[9]
    cdef const double[:, ::1] jump = view[10]
    cdef const double[:, ::1] first = view[11]
    m.rows = &rows[0]
    m.t = &t[0, 0] if t.shape[0] else NULL
    m.null_fwd = &null_fwd[0] if null_fwd.shape[0] else NULL
    m.null_rev = &null_rev[0] if null_rev.shape[0] else NULL
    m.jump = &jump[0, 0]
    m.first = &first[0, 0]
    m.W = first.shape[1] - 1
    if not 0 <= m.W < MARGIN - 1 or jump.shape[1] != 2 * m.W + 3:
        raise ValueError(f"a window of {m.W + 1} is not between 1 and {MARGIN - 1}")
    m.p0 = view[12]
    return m


cdef struct Text:
    # Sentence pairs and their cells; ids and cells are -1 for what the model does not know
    const int32_t* src_ids
    const int64_t* src_offsets
    const int32_t* tgt_ids
    const int64_t* tgt_offsets
    const int32_t* cells
    const int64_t* cell_offsets


cdef Text sentences(tuple view):
    cdef Text x
    cdef const int32_t[::1] src_ids = view[0]
    cdef const int64_t[::1] src_offsets = view[1]
    cdef const int32_t[::1] tgt_ids = view[2]
    cdef const int64_t[::1] tgt_offsets = view[3]
    cdef const int32_t[::1] cells = view[4]
    cdef const int64_t[::1] cell_offsets = view[5]
    x.src_ids = &src_ids[0] if src_ids.shape[0] else NULL
    x.src_offsets = &src_offsets[0]
    x.tgt_ids = &tgt_ids[0] if tgt_ids.shape[0] else NULL
    x.tgt_offsets = &tgt_offsets[0]
    x.cells = &cells[0] if cells.shape[0] else NULL
    x.cell_offsets = &cell_offsets[0]
    return x


cdef real* set_up(Text* x, Py_ssize_t n, Parameters* m, Direction* fwd, Direction* rev, real* work) noexcept nogil:
    """Both lattices of sentence pair n, ready for alpha_rows; returns the work space left, NULL if a side is empty.

    The forward lattice has the source's words as states, the reverse the target's.
    """
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n]
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef const real* row
    cdef int64_t i, j
    if I == 0 or J == 0:
        return NULL
    lay_out(fwd, I, J, work)
    lay_out(rev, J, I, work + room_for(I, J))
    fwd.W = rev.W = m.W
    fwd.p0 = rev.p0 = <real>m.p0
    fwd.jump = m.jump
    rev.jump = m.jump + 2 * m.W + 3
    fwd.first = m.first
    rev.first = m.first + m.W + 1
    set_transitions(fwd)
    set_transitions(rev)
    for j in range(J):
        fwd.null[j] = FLOOR + (m.null_fwd[tgt[j]] if tgt[j] >= 0 else 0)
        for i in range(I, fwd.K):
            fwd.emit[j * fwd.K + i] = 0
    for i in range(I):
        rev.null[i] = FLOOR + (m.null_rev[src[i]] if src[i] >= 0 else 0)
        row = m.t + 2 * m.rows[src[i]] if src[i] >= 0 else NULL
        for j in range(J):
            if cell[j] >= 0:
                fwd.emit[j * fwd.K + i] = FLOOR + row[2 * cell[j]]
                rev.emit[i * rev.K + j] = FLOOR + row[2 * cell[j] + 1]
            else:
                fwd.emit[j * fwd.K + i] = FLOOR
                rev.emit[i * rev.K + j] = FLOOR
        for j in range(J, rev.K):
            rev.emit[i * rev.K + j] = 0
        cell += J
    return work + room_for(I, J) + room_for(J, I)


cdef void infer(
    Inference* how, Direction* fwd, Direction* rev, bint counting, bint best, real* memory, double* statistics
) noexcept nogil:
    """gamma of both lattices: posteriors, or 1 on the best path. What an E-step does to one sentence pair.

    counting: expected jumps are wanted too.
    """
    cdef Outcome outcome
    cdef double[2] old
    cdef Direction* one
    cdef Direction* other
    old[0] = old[1] = 0
    outcome.kl = outcome.before = outcome.after = outcome.calls = 0
    outcome.converged = 1
    if how.mixture:
        if how.forward:
            old[0] = mix(fwd, best)
        if how.reverse:
            old[1] = mix(rev, best)
    else:
        one = fwd if how.forward else NULL
        other = rev if how.reverse else NULL
        alpha_rows(one, other)
        if how.forward:
            old[0] = loglik(fwd)
        if how.reverse:
            old[1] = loglik(rev)
        if how.constraint != UNCONSTRAINED:
            beta_rows(fwd, rev, False)
            constrain(how, fwd, rev, memory, &outcome)
        if counting or how.constraint == UNCONSTRAINED:
            beta_rows(one, other, counting)
        if best and how.forward:
            best_path(fwd)
        if best and how.reverse:
            best_path(rev)
    statistics[0] = old[0]
    statistics[1] = old[1]
    statistics[2] = outcome.kl
    statistics[3] = outcome.before
    statistics[4] = outcome.after
    statistics[5] = outcome.calls
    statistics[6] = outcome.converged


def e_step(
    tuple view not None,                   # IN
    Inference how,                         # IN
    int64_t[:, ::1] counts not None,       # OUT, [P, 2] added to
    int64_t[:, ::1] fwd_nulls not None,    # OUT, [n_threads, V_tgt] added to
    int64_t[:, ::1] rev_nulls not None,    # OUT, [n_threads, V_src] added to
    int64_t[:, :, ::1] jumps not None,     # OUT, [n_threads, 2, 3 W + 4] added to
    double[:, ::1] statistics not None,    # OUT, [S, len(STATISTICS)] zero for a pair with an empty side
    int n_threads,
):
    """Expected counts of both directions, as integers of 2^-32."""
    cdef Parameters m = parameters(view)
    cdef Text x = sentences(view)
    cdef int64_t* counts_at = &counts[0, 0] if counts.shape[0] else NULL
    cdef Py_ssize_t n
    cdef int k
    cdef int64_t work_size = widest(&x, statistics.shape[0], how.constraint != UNCONSTRAINED)
    cdef real* work = new_work(n_threads * work_size)
    for n in prange(statistics.shape[0], schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        count_pair(
            &x, n, &m, &how, counts_at, &fwd_nulls[k, 0], &rev_nulls[k, 0], &jumps[k, 0, 0], &statistics[n, 0],
            work + k * work_size,
        )
    free(work)


cdef enum:
    QUEUE = 16  # additions under way

cdef struct Queue:
    # Additions whose place in memory has been asked for: an atomic addition would wait for it, and all others with it
    int64_t n
    int64_t* at[QUEUE]
    int64_t amount[QUEUE]


cdef inline void add_later(Queue* q, int64_t* at, int64_t amount) noexcept nogil:
    cdef int64_t slot = q.n % QUEUE
    if q.n >= QUEUE:
        atomic_add(q.at[slot], q.amount[slot])
    PREFETCH_TO_WRITE(at)
    q.at[slot] = at
    q.amount[slot] = amount
    q.n += 1


cdef inline void add_rest(Queue* q) noexcept nogil:
    cdef int64_t k
    for k in range(q.n if q.n < QUEUE else QUEUE):
        atomic_add(q.at[k], q.amount[k])


cdef void count_pair(
    Text* x, Py_ssize_t n, Parameters* m, Inference* how, int64_t* counts, int64_t* fwd_nulls, int64_t* rev_nulls,
    int64_t* jumps, double* statistics, real* work,
) noexcept nogil:
    """Adds the expected counts of sentence pair n."""
    cdef Direction fwd, rev
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t i, j
    cdef int64_t* row
    cdef real f, r
    cdef Queue queue
    queue.n = 0
    work = set_up(x, n, m, &fwd, &rev, work)
    if work == NULL:
        return
    infer(how, &fwd, &rev, True, False, work, statistics)
    if how.forward:
        add_jumps(&fwd, jumps)
        for j in range(fwd.J):
            fwd_nulls[tgt[j]] += fixed(fwd.nowhere[j])
    if how.reverse:
        add_jumps(&rev, jumps + 3 * m.W + 4)
        for i in range(rev.J):
            rev_nulls[src[i]] += fixed(rev.nowhere[i])
    for i in range(rev.J):
        row = counts + 2 * m.rows[src[i]]
        for j in range(fwd.J):
            f = fwd.gamma[j * fwd.K + i] if how.forward else 0
            r = rev.gamma[i * rev.K + j] if how.reverse else 0
            if how.agree:
                f = r = f * r
            if f > TINY:
                add_later(&queue, row + 2 * cell[j], fixed(f))
            if r > TINY:
                add_later(&queue, row + 2 * cell[j] + 1, fixed(r))
        cell += fwd.J
    add_rest(&queue)


def normalize(
    const int64_t[::1] rows not None, const int32_t[::1] pair_tgt not None,  # IN
    int n_tgt_words,                                                         # IN
    const int64_t[:, ::1] counts not None,                                   # IN, [P, 2]
    real[:, ::1] t not None,                                                 # OUT, [P, 2]
):
    """t(f | e) and t(e | f) from expected counts: each divided by the sum of its row, of its target word."""
    cdef int64_t[::1] total = np.zeros(max(1, n_tgt_words), dtype=np.int64)
    cdef Py_ssize_t e, k
    cdef int64_t mass
    with nogil:
        for e in range(rows.shape[0] - 1):
            mass = 0
            for k in range(rows[e], rows[e + 1]):
                mass += counts[k, 0]
                total[pair_tgt[k]] += counts[k, 1]
            for k in range(rows[e], rows[e + 1]):
                t[k, 0] = <real>(counts[k, 0] / <double>max(mass, 1))
        for k in range(pair_tgt.shape[0]):
            t[k, 1] = <real>(counts[k, 1] / <double>max(total[pair_tgt[k]], 1))


def decode(
    list views not None,                   # IN, of the same sentences
    Inference how,                         # IN
    bint viterbi,                          # IN, the best path; else posteriors
    double cutoff,                         # IN, posteriors up to it are left out
    int n_threads,
):
    """Links of each direction: [forward, reverse], each (offsets [S + 1], src, tgt, scores [n_links]).

    A score is the mean over the views.
    """
    cdef vector[Parameters] models
    cdef vector[Text] texts
    for view in views:
        texts.push_back(sentences(view))
        models.push_back(parameters(view))
    cdef Py_ssize_t S = len(views[0][1]) - 1
    cdef Py_ssize_t B = (S + 63) // 64
    cdef Py_ssize_t b, n, k, begin, last
    cdef int64_t[:, ::1] lengths = np.zeros((2, S + 1), dtype=np.int64)
    cdef vector[vector[Link]] found = vector[vector[Link]](2 * B)
    cdef int64_t work_size = widest(&texts[0], S, how.constraint != UNCONSTRAINED)
    cdef real* work = new_work(n_threads * work_size)
    for b in prange(B, schedule="dynamic", num_threads=n_threads, nogil=True):
        begin = 64 * b
        last = min(begin + 64, S)
        for n in range(begin, last):
            decode_pair(
                texts, models, n, &how, viterbi, <real>cutoff, found[2 * b], found[2 * b + 1], &lengths[0, n + 1],
                &lengths[1, n + 1], work + threadid() * work_size,
            )
    free(work)
    results = []
    for k in range(2):
        offsets = np.cumsum(lengths[k])
        results.append((offsets, *collect(found, k, offsets[S])))
    return results


cdef struct Link:
    int32_t src
    int32_t tgt
    real score


cdef tuple collect(vector[vector[Link]]& found, Py_ssize_t k, Py_ssize_t n_links):
    """The links of direction k from all blocks, as arrays."""
    arrays = np.empty(n_links, np.int32), np.empty(n_links, np.int32), np.empty(n_links, np.float64)
    cdef int32_t[::1] src = arrays[0]
    cdef int32_t[::1] tgt = arrays[1]
    cdef double[::1] scores = arrays[2]
    cdef Py_ssize_t at = 0
    cdef size_t b, i
    with nogil:
        for b in range(k, found.size(), 2):
            for i in range(found[b].size()):
                src[at] = found[b][i].src
                tgt[at] = found[b][i].tgt
                scores[at] = found[b][i].score
                at += 1
    return arrays


cdef int decode_pair(
    vector[Text]& texts, vector[Parameters]& models, Py_ssize_t n, Inference* how, bint viterbi, real cutoff,
    vector[Link]& fwd_found, vector[Link]& rev_found, int64_t* fwd_length, int64_t* rev_length, real* work,
) except -1 nogil:
    """Appends the links of sentence pair n, by source, then target."""
    cdef Direction fwd, rev
    cdef double[N_STATISTICS] statistics
    cdef int64_t I = texts[0].src_offsets[n + 1] - texts[0].src_offsets[n]
    cdef int64_t J = texts[0].tgt_offsets[n + 1] - texts[0].tgt_offsets[n]
    cdef int64_t i, j
    cdef real* fwd_sum = work          # [I, J] scores, added up over the views
    cdef real* rev_sum = work + I * J  # [I, J]
    cdef real* rest
    cdef real share = <real>(1.0 / models.size())
    cdef size_t v
    cdef Link link
    memset(fwd_sum, 0, 2 * I * J * sizeof(real))
    for v in range(models.size()):
        rest = set_up(&texts[v], n, &models[v], &fwd, &rev, work + padded(2 * I * J))
        if rest == NULL:
            return 0
        infer(how, &fwd, &rev, False, viterbi, rest, statistics)
        for i in range(I):
            for j in range(J):
                if how.forward:
                    fwd_sum[i * J + j] += share * fwd.gamma[j * fwd.K + i]
                if how.reverse:
                    rev_sum[i * J + j] += share * rev.gamma[i * rev.K + j]
    for i in range(I):
        for j in range(J):
            link.src = <int32_t>i
            link.tgt = <int32_t>j
            link.score = min(fwd_sum[i * J + j], <real>1)
            if how.forward and link.score > cutoff:
                fwd_found.push_back(link)
                fwd_length[0] += 1
            link.score = min(rev_sum[i * J + j], <real>1)
            if how.reverse and link.score > cutoff:
                rev_found.push_back(link)
                rev_length[0] += 1
    return 0


def dual(tuple view not None, Inference how, int64_t n, const double[::1] lam not None):
    """phi (without - log Z(0)) and its gradient of sentence pair n's problem at lam. For tests.

    Features are numbered as the constraint adds them.
    """
    cdef Parameters m = parameters(view)
    cdef Text x = sentences(view)
    cdef Direction fwd, rev
    cdef Problem p
    cdef int64_t k
    cdef double phi
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n]
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    if how.constraint == UNCONSTRAINED:
        raise ValueError("there is no constraint")
    cdef real* work = new_work(width(I, J, True))
    cdef real* rest = set_up(&x, n, &m, &fwd, &rev, work)
    if rest == NULL:
        free(work)
        raise ValueError(f"pair {n} has an empty side")
    alpha_rows(&fwd, &rev)
    beta_rows(&fwd, &rev, False)
    describe(&how, &fwd, &rev, &p, rest)
    if lam.shape[0] != p.n:
        free(work)
        raise ValueError(f"{p.n} features, {lam.shape[0]} values of lam")
    for k in range(p.n):
        p.lam[k] = <real>lam[k]
    phi = value(&p, p.lam)
    beta_rows(p.sides[0].d, p.sides[1].d, False)
    expect(&p)
    differentiate(&p)
    gradient = [p.gradient[k] for k in range(p.n)]
    free(work)
    return phi, gradient


cdef real* new_work(int64_t n) except NULL:
    """Room in whole cache lines, of which only what is used costs memory."""
    cdef void* memory = NULL
    if n < 0:
        raise ValueError("a negative number of threads")
    if posix_memalign(&memory, 64, max(1, n) * sizeof(real)):
        raise MemoryError("no room for the lattices")
    return <real*>memory


cdef int64_t width(int64_t I, int64_t J, bint constrained) noexcept nogil:
    """Reals of work space that a pair of I and J words needs."""
    return padded(
        2 * I * J + VECTOR + room_for(I, J) + room_for(J, I) + (room_for_problem(I, J) if constrained else 0)
    )


cdef int64_t widest(Text* x, Py_ssize_t S, bint constrained) noexcept nogil:
    """Reals of work space that any of S sentence pairs needs."""
    cdef int64_t most = 1
    cdef Py_ssize_t n
    for n in range(S):
        most = max(most, width(
            x.src_offsets[n + 1] - x.src_offsets[n], x.tgt_offsets[n + 1] - x.tgt_offsets[n], constrained
        ))
    return most
