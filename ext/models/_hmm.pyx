"""Expected counts and posteriors of the HMM, by the lattices (lattice.pxd) of a shard's sentence pairs.

A lattice is made of emissions (emissions.pxd), from the lexicons of one or more views, and of jumps
(aligner/models/positions.py). A known link has its emissions multiplied by its weight.
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
from emissions cimport MOST_VIEWS, Own, Sight, fill, read_evidence, read_own, room_for_share
from inputs cimport Text, Words, check_scores, read_text, read_words
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


cdef Sight read_sight(object shard, object lexicon, bint counting, list held) except *:
    """What a view sees of a shard, and the view's lexicon."""
    cdef Sight v
    v.w = read_words(lexicon, held)
    v.x = read_text(shard, &v.w, counting, held)
    v.m = read_evidence(lexicon.evidence, &v.w, held)
    return v


cdef real* set_up(
    Sight* views, int64_t n_views, Own* own, Py_ssize_t n, Jumps* m, Direction* fwd, Direction* rev, real* work
) noexcept nogil:
    """Prepares both lattices of sentence pair n for alpha_rows; returns the work space left, NULL if a side is empty.

    The forward lattice has the source's words as states, the reverse the target's.
    """
    cdef Text* x = &views[0].x
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n]
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    if I == 0 or J == 0:
        return NULL
    lay_out(fwd, I, J, work)
    lay_out(rev, J, I, work + room_for(I, J))
    work += room_for(I, J) + room_for(J, I)
    fwd.W = rev.W = m.W
    fwd.p0 = rev.p0 = <real>m.p0
    fwd.jump = m.jump
    rev.jump = m.jump + 2 * m.W + 3
    fwd.first = m.first
    rev.first = m.first + m.W + 1
    set_transitions(fwd)
    set_transitions(rev)
    fill(views, n_views, own, n, fwd, rev, work)
    return work


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
    cdef Sight v = read_sight(shard, lexicon, True, held)
    cdef Jumps m = read_jumps(positions, held)
    cdef Sums c = read_sums(counts, &v.w, held)
    cdef Extra g = read_extra(shard.known.constraints, &v.x, held)
    cdef int64_t[:, ::1] all_jumps = counts.positions
    cdef int64_t[:, :, ::1] jumps = np.zeros((n_threads, 2, 3 * m.W + 4), dtype=np.int64)  # a copy a thread
    cdef Py_ssize_t n
    cdef int k
    if all_jumps.shape[0] != 2 or all_jumps.shape[1] != 3 * m.W + 4:
        raise ValueError("the counts are of jumps of another window")
    if statistics.shape[0] != v.x.S or statistics.shape[1] != N_STATISTICS:
        raise ValueError(f"the statistics are not of {v.x.S} sentence pairs")
    check_directions(&how, &g)
    cdef int64_t work_size = widest(&v.x, 1, &how, &g)
    cdef real* work = new_work(n_threads * work_size)
    statistics[:, :] = 0
    for n in prange(v.x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        count_pair(&v, n, &m, &how, &g, &c, &jumps[k, 0, 0], &statistics[n, 0], work + k * work_size)
    free(work)
    np.add(all_jumps, np.sum(jumps, axis=0), out=np.asarray(all_jumps))


cdef void count_pair(
    Sight* v, Py_ssize_t n, Jumps* m, Inference* how, Extra* g, Sums* c, int64_t* jumps, double* statistics, real* work
) noexcept nogil:
    """Adds the expected counts of sentence pair n."""
    cdef Text* x = &v.x
    cdef Words* w = &v.w
    cdef Own own
    cdef Direction fwd, rev
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t i, j, width
    cdef int64_t* row
    cdef real f, r
    cdef Queue queue
    queue.n = 0
    own.start = NULL
    work = set_up(v, 1, &own, n, m, &fwd, &rev, work)
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
    shards,                         # IN, what each view sees of the same sentence pairs
    lexicons,                       # IN, of each view
    positions,                      # IN
    Inference how,                  # IN
    own,                            # IN, shares of the sentence pairs in the counts of lexicons that have evidence; None
    bint best,                      # IN, 1 on each direction's best path instead of posteriors
    real share,                     # IN, what scores are multiplied by
    real[::1] fwd not None,         # OUT, [n_cells] added to
    real[::1] rev not None,         # OUT, [n_cells] added to
    int n_threads,
    int64_t[:, ::1] jumps=None,     # OUT, expected jumps, as integers of 2^-32, added to
    double[:, ::1] statistics=None,  # OUT, [S, len(STATISTICS)] zero for a sentence pair with an empty side
):
    """Adds the posteriors of all cells of a shard in the directions that are asked for.

    Several views have one lattice a direction: its emissions are geometric means over the views.
    """
    cdef list held = []
    cdef int64_t n_views = len(lexicons)
    cdef Sight[MOST_VIEWS] views
    cdef Py_ssize_t n
    cdef int k
    check_threads(n_threads)
    if not 1 <= n_views == len(shards) <= MOST_VIEWS:
        raise ValueError(f"between 1 and {MOST_VIEWS} views are needed, there are {len(shards)} and {n_views}")
    for k in range(n_views):
        views[k] = read_sight(shards[k], lexicons[k], False, held)
        check_same_text(&views[0].x, &views[k].x)
        if views[k].m.there != views[0].m.there:
            raise ValueError("some lexicons have evidence, others have none")
    cdef Jumps m = read_jumps(positions, held)
    cdef Text* x = &views[0].x
    cdef Extra g = read_extra(shards[0].known.constraints, x, held)
    cdef Own mine = read_own(own, x.S, held)
    cdef int64_t[:, :, ::1] counts = np.zeros((n_threads, 2, 3 * m.W + 4), dtype=np.int64)  # a copy a thread
    check_scores(x, fwd, rev)
    if jumps is not None and (jumps.shape[0] != 2 or jumps.shape[1] != 3 * m.W + 4):
        raise ValueError("the counts are of jumps of another window")
    cdef double[:, ::1] found = statistics
    if found is None:
        found = np.empty((x.S, N_STATISTICS))
    if found.shape[0] != x.S or found.shape[1] != N_STATISTICS:
        raise ValueError(f"the statistics are not of {x.S} sentence pairs")
    found[:, :] = 0
    if fwd.shape[0] == 0:
        return
    check_directions(&how, &g)
    cdef int64_t work_size = widest(x, n_views, &how, &g)
    cdef real* work = new_work(n_threads * work_size)
    cdef bint counting = jumps is not None
    for n in prange(x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        score_pair(
            views, n_views, &mine, n, &m, &how, &g, best, share, &fwd[0], &rev[0],
            &counts[k, 0, 0] if counting else NULL, &found[n, 0], work + k * work_size,
        )
    free(work)
    if counting:
        np.add(jumps, np.sum(counts, axis=0), out=np.asarray(jumps))


cdef void score_pair(
    Sight* views, int64_t n_views, Own* own, Py_ssize_t n, Jumps* m, Inference* how, Extra* g, bint best, real share,
    real* fwd_out, real* rev_out, int64_t* jumps, double* statistics, real* work,
) noexcept nogil:
    """Adds the posteriors of sentence pair n, [I, J] in both directions."""
    cdef Direction fwd, rev
    cdef Text* x = &views[0].x
    cdef int64_t i, j, begin = x.cell_offsets[n] - x.cell_offsets[0]
    work = set_up(views, n_views, own, n, m, &fwd, &rev, work)
    if work == NULL:
        return
    infer(how, g, n, &fwd, &rev, jumps != NULL, best, work, statistics)
    if jumps != NULL and how.forward:
        add_jumps(&fwd, jumps)
    if jumps != NULL and how.reverse:
        add_jumps(&rev, jumps + 3 * m.W + 4)
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
    cdef Sight v = read_sight(shard, lexicon, False, held)
    cdef Jumps m = read_jumps(positions, held)
    cdef Extra g = read_extra(shard.known.constraints, &v.x, held)
    cdef Own own
    cdef Direction fwd, rev
    cdef Problem p
    cdef int64_t k
    cdef double phi
    own.start = NULL
    if not 0 <= n < v.x.S:
        raise ValueError(f"there is no sentence pair {n}")
    check_directions(&how, &g)
    cdef real* work = new_work(widest(&v.x, 1, &how, &g))
    cdef real* rest = set_up(&v, 1, &own, n, &m, &fwd, &rev, work)
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


cdef int check_same_text(Text* one, Text* other) except -1:
    """Refuses views of different sentence pairs."""
    cdef int64_t n
    if one.S != other.S:
        raise ValueError(f"a view sees {other.S} sentence pairs, another {one.S}")
    for n in range(one.S):
        if (
            one.src_offsets[n + 1] - one.src_offsets[n] != other.src_offsets[n + 1] - other.src_offsets[n]
            or one.tgt_offsets[n + 1] - one.tgt_offsets[n] != other.tgt_offsets[n + 1] - other.tgt_offsets[n]
        ):
            raise ValueError(f"two views see sentence pair {n} with different lengths")
    return 0


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


cdef int64_t widest(Text* x, int64_t n_views, Inference* how, Extra* g) noexcept nogil:
    """Reals of work space that are enough for every sentence pair."""
    cdef int64_t most = 1, I, J, size, more
    cdef Py_ssize_t n
    for n in range(x.S):
        I = x.src_offsets[n + 1] - x.src_offsets[n]
        J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
        size = VECTOR + room_for(I, J) + room_for(J, I)
        more = n_views * room_for_share(I, J)  # needed before the projection
        if how.constraint != UNCONSTRAINED or n_extra(g, n) > 0:
            more = max(more, room_for_problem(I, J, n_extra(g, n), n_entries(g, n)))
        most = max(most, padded(size + more))
    return most
