"""Expected counts and posteriors of the HMM, by the lattices (lattice.pxd) of a shard's sentence pairs.

A lattice is made of a lexicon (aligner/models/lexicon.py) and of jumps (aligner/models/positions.py). Emissions are
FLOOR + t. A known link has its emissions multiplied by its weight.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free
from posix.stdlib cimport posix_memalign

import numpy as np

from checks cimport check_threads
from constraints cimport (
    BIJECTIVE, SYMMETRIC, UNCONSTRAINED, Extra, Inference, constrain, describe, n_entries, n_extra, read_extra,
)
from counts cimport Queue, Sums, add_later, add_rest, fixed, read_sums
from inputs cimport FLOOR, Text, Words, check_scores, read_text, read_words
from lattice cimport (
    MARGIN, VECTOR, Direction, add_jumps, alpha_rows, best_path, beta_rows, lay_out, loglik, padded, real, room_for,
    set_transitions,
)
from lbfgs cimport differentiate, evaluate
from projection cimport Outcome, Problem, room_for_problem

cdef real TINY = 1e-5   # posteriors of at most TINY are not counted

CONSTRAINTS = {"none": UNCONSTRAINED, "bijective": BIJECTIVE, "symmetric": SYMMETRIC}
cdef enum:
    N_STATISTICS = 7

STATISTICS = ("loglik_fwd", "loglik_rev", "kl", "before", "after", "calls", "converged")  # of a sentence pair


cdef struct Jumps:
    # Jumps (aligner/models/positions.py)
    const double* jump   # [2, 2 W + 3]
    const double* first  # [2, W + 1]
    int64_t W
    double p0


cdef Jumps read_jumps(object positions, list held) except *:
    """The pointers of jumps. Refuses a window too wide for the lattice, and numbers that are not positive."""
    cdef const double[:, ::1] jump = positions.jump
    cdef const double[:, ::1] first = positions.first
    cdef Jumps m
    held += [jump, first]
    m.W = first.shape[1] - 1
    m.p0 = positions.p0
    if not 0 <= m.W < MARGIN - 1 or jump.shape[1] != 2 * m.W + 3 or jump.shape[0] != 2 or first.shape[0] != 2:
        raise ValueError(f"jumps of a window of {m.W + 1} are not between 1 and {MARGIN - 1} wide in two directions")
    if not (0 < m.p0 < 1 and np.min(jump) > 0 and np.min(first) > 0 and np.max(jump) <= 1e9 and np.max(first) <= 1e9):
        raise ValueError("jumps, first positions and p0 must be positive")
    m.jump = &jump[0, 0]
    m.first = &first[0, 0]
    return m


cdef real* set_up(
    Text* x, Py_ssize_t n, Words* w, Jumps* m, Direction* fwd, Direction* rev, real* work
) noexcept nogil:
    """Prepares both lattices of sentence pair n for alpha_rows; returns the work space left, NULL if a side is empty.

    The forward lattice has the source's words as states, the reverse the target's.
    """
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n]
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef const real* row
    cdef int64_t i, j, k, width
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
        fwd.null[j] = FLOOR + (w.null_fwd[tgt[j]] if tgt[j] >= 0 else 0)
        for i in range(I, fwd.K):
            fwd.emit[j * fwd.K + i] = 0
    for i in range(I):
        rev.null[i] = FLOOR + (w.null_rev[src[i]] if src[i] >= 0 else 0)
        row = w.t + 2 * w.rows[src[i]] if src[i] >= 0 else NULL
        width = w.rows[src[i] + 1] - w.rows[src[i]] if src[i] >= 0 else 0
        for j in range(J):
            if 0 <= cell[j] < width:
                fwd.emit[j * fwd.K + i] = FLOOR + row[2 * cell[j]]
                rev.emit[i * rev.K + j] = FLOOR + row[2 * cell[j] + 1]
            else:
                fwd.emit[j * fwd.K + i] = FLOOR
                rev.emit[i * rev.K + j] = FLOOR
        for j in range(J, rev.K):
            rev.emit[i * rev.K + j] = 0
        cell += J
    if x.known_offsets != NULL:
        for k in range(x.known_offsets[n], x.known_offsets[n + 1]):
            fwd.emit[x.known_tgt[k] * fwd.K + x.known_src[k]] *= x.known_weight[k]
            rev.emit[x.known_src[k] * rev.K + x.known_tgt[k]] *= x.known_weight[k]
    return work + room_for(I, J) + room_for(J, I)


cdef void infer(
    Inference* how, Extra* g, Py_ssize_t n, Direction* fwd, Direction* rev, bint counting, bint best, real* memory,
    double* statistics,
) noexcept nogil:
    """Fills gamma of both lattices of sentence pair n with posteriors, or with 1 on the best path.

    counting: finds expected jumps too.
    """
    cdef Outcome outcome
    cdef double[2] old
    cdef Direction* one
    cdef Direction* other
    cdef bint constrained = how.constraint != UNCONSTRAINED or n_extra(g, n) > 0
    old[0] = old[1] = 0
    outcome.kl = outcome.before = outcome.after = outcome.calls = 0
    outcome.converged = 1
    one = fwd if how.forward else NULL
    other = rev if how.reverse else NULL
    alpha_rows(one, other)
    if how.forward:
        old[0] = loglik(fwd)
    if how.reverse:
        old[1] = loglik(rev)
    if constrained:
        beta_rows(fwd, rev, False)
        constrain(how, g, n, fwd, rev, memory, &outcome)
    if counting or not constrained:
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


def expect(
    shard, lexicon, positions,           # IN
    Inference how,                       # IN
    counts,                              # OUT, added to
    double[:, ::1] statistics not None,  # OUT, [S, len(STATISTICS)] zero for a sentence pair with an empty side
    int n_threads,
):
    """Adds the expected counts of a shard in both directions, as integers of 2^-32."""
    cdef list held = []
    check_threads(n_threads)
    cdef Words w = read_words(lexicon, held)
    cdef Text x = read_text(shard, &w, True, held)
    cdef Jumps m = read_jumps(positions, held)
    cdef Sums c = read_sums(counts, &w, held)
    cdef Extra g = read_extra(shard.known.constraints, &x, held)
    cdef int64_t[:, ::1] all_jumps = counts.positions
    cdef int64_t[:, :, ::1] jumps = np.zeros((n_threads, 2, 3 * m.W + 4), dtype=np.int64)  # a copy a thread
    cdef Py_ssize_t n
    cdef int k
    if all_jumps.shape[0] != 2 or all_jumps.shape[1] != 3 * m.W + 4:
        raise ValueError("the counts are of jumps of another window")
    if statistics.shape[0] != x.S or statistics.shape[1] != N_STATISTICS:
        raise ValueError(f"the statistics are not of {x.S} sentence pairs")
    check_directions(&how, &g)
    cdef int64_t work_size = widest(&x, &how, &g)
    cdef real* work = new_work(n_threads * work_size)
    statistics[:, :] = 0
    for n in prange(x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        count_pair(&x, n, &w, &m, &how, &g, &c, &jumps[k, 0, 0], &statistics[n, 0], work + k * work_size)
    free(work)
    np.add(all_jumps, np.sum(jumps, axis=0), out=np.asarray(all_jumps))


cdef void count_pair(
    Text* x, Py_ssize_t n, Words* w, Jumps* m, Inference* how, Extra* g, Sums* c, int64_t* jumps, double* statistics,
    real* work,
) noexcept nogil:
    """Adds the expected counts of sentence pair n."""
    cdef Direction fwd, rev
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t i, j, width
    cdef int64_t* row
    cdef real f, r
    cdef Queue queue
    queue.n = 0
    work = set_up(x, n, w, m, &fwd, &rev, work)
    if work == NULL:
        return
    infer(how, g, n, &fwd, &rev, True, False, work, statistics)
    if how.forward:
        add_jumps(&fwd, jumps)
        for j in range(fwd.J):
            add_later(&queue, c.null_fwd + tgt[j], fixed(fwd.nowhere[j]))
    if how.reverse:
        add_jumps(&rev, jumps + 3 * m.W + 4)
        for i in range(rev.J):
            add_later(&queue, c.null_rev + src[i], fixed(rev.nowhere[i]))
    for i in range(rev.J):
        row = c.pairs + 2 * w.rows[src[i]]
        width = w.rows[src[i] + 1] - w.rows[src[i]]
        for j in range(fwd.J):
            f = fwd.gamma[j * fwd.K + i] if how.forward else 0
            r = rev.gamma[i * rev.K + j] if how.reverse else 0
            if how.agree:
                f = r = f * r
            if (f > TINY or r > TINY) and 0 <= cell[j] < width:
                if f > TINY:
                    add_later(&queue, row + 2 * cell[j], fixed(f))
                if r > TINY:
                    add_later(&queue, row + 2 * cell[j] + 1, fixed(r))
        cell += fwd.J
    add_rest(&queue)


def posteriors(
    shard, lexicon, positions,  # IN
    Inference how,              # IN
    bint best,                  # IN, 1 on each direction's best path instead of posteriors
    real share,                 # IN, what scores are multiplied by
    real[::1] fwd not None,     # OUT, [n_cells] added to
    real[::1] rev not None,     # OUT, [n_cells] added to
    int n_threads,
):
    """Adds the posteriors of all cells of a shard in the directions that are asked for."""
    cdef list held = []
    check_threads(n_threads)
    cdef Words w = read_words(lexicon, held)
    cdef Text x = read_text(shard, &w, False, held)
    cdef Jumps m = read_jumps(positions, held)
    cdef Extra g = read_extra(shard.known.constraints, &x, held)
    cdef Py_ssize_t n
    check_scores(&x, fwd, rev)
    if fwd.shape[0] == 0:
        return
    check_directions(&how, &g)
    cdef int64_t work_size = widest(&x, &how, &g)
    cdef real* work = new_work(n_threads * work_size)
    for n in prange(x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        score_pair(&x, n, &w, &m, &how, &g, best, share, &fwd[0], &rev[0], work + threadid() * work_size)
    free(work)


cdef void score_pair(
    Text* x, Py_ssize_t n, Words* w, Jumps* m, Inference* how, Extra* g, bint best, real share, real* fwd_out,
    real* rev_out, real* work,
) noexcept nogil:
    """Adds the posteriors of sentence pair n, [I, J] in both directions."""
    cdef Direction fwd, rev
    cdef double[N_STATISTICS] statistics
    cdef int64_t i, j, begin = x.cell_offsets[n] - x.cell_offsets[0]
    work = set_up(x, n, w, m, &fwd, &rev, work)
    if work == NULL:
        return
    infer(how, g, n, &fwd, &rev, False, best, work, statistics)
    fwd_out += begin
    rev_out += begin
    for i in range(fwd.I):
        for j in range(fwd.J):
            if how.forward:
                fwd_out[i * fwd.J + j] += share * fwd.gamma[j * fwd.K + i]
            if how.reverse:
                rev_out[i * fwd.J + j] += share * rev.gamma[i * rev.K + j]


def dual(shard, lexicon, positions, Inference how, int64_t n, const double[::1] lam not None):
    """phi (without - log Z(0)) and its gradient of sentence pair n's problem at lam. For tests.

    Features are numbered as the constraints add them.
    """
    cdef list held = []
    cdef Words w = read_words(lexicon, held)
    cdef Text x = read_text(shard, &w, False, held)
    cdef Jumps m = read_jumps(positions, held)
    cdef Extra g = read_extra(shard.known.constraints, &x, held)
    cdef Direction fwd, rev
    cdef Problem p
    cdef int64_t k
    cdef double phi
    if not 0 <= n < x.S:
        raise ValueError(f"there is no sentence pair {n}")
    check_directions(&how, &g)
    cdef real* work = new_work(widest(&x, &how, &g))
    cdef real* rest = set_up(&x, n, &w, &m, &fwd, &rev, work)
    try:
        if rest == NULL:
            raise ValueError(f"sentence pair {n} has an empty side")
        alpha_rows(&fwd, &rev)
        beta_rows(&fwd, &rev, False)
        describe(&how, &g, n, &fwd, &rev, &p, rest)
        if lam.shape[0] != p.n or p.n == 0:
            raise ValueError(f"{p.n} features, {lam.shape[0]} values of lam")
        for k in range(p.n):
            p.solver.x[k] = <real>lam[k]
        phi = evaluate(&p.solver, p.solver.x)
        differentiate(&p.solver)
        return phi, [p.solver.gradient[k] for k in range(p.n)]
    finally:
        free(work)


cdef int check_directions(Inference* how, Extra* g) except -1:
    """Refuses constraints where a direction is left out."""
    if (how.constraint != UNCONSTRAINED or g.offsets != NULL) and not (how.forward and how.reverse):
        raise ValueError("constraints need both directions")
    return 0


cdef real* new_work(int64_t n) except NULL:
    """Room for n reals, from the start of a cache line. Pages that are never touched cost no memory."""
    cdef void* memory = NULL
    if posix_memalign(&memory, 64, max(1, n) * sizeof(real)):
        raise MemoryError("no room for the lattices")
    return <real*>memory


cdef int64_t widest(Text* x, Inference* how, Extra* g) noexcept nogil:
    """Reals of work space that are enough for every sentence pair."""
    cdef int64_t most = 1, I, J, size
    cdef Py_ssize_t n
    for n in range(x.S):
        I = x.src_offsets[n + 1] - x.src_offsets[n]
        J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
        size = VECTOR + room_for(I, J) + room_for(J, I)
        if how.constraint != UNCONSTRAINED or n_extra(g, n) > 0:
            size += room_for_problem(I, J, n_extra(g, n), n_entries(g, n))
        most = max(most, padded(size))
    return most
