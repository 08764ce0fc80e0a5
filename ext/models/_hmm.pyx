"""Expected counts and posteriors of the HMM, by the lattices (lattice.pxd) of a shard's sentence pairs (shard.pxd).

A known link has its emissions multiplied by its weight.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

import numpy as np

from best_path cimport best_path
from checks cimport check_threads
from constraints cimport BIJECTIVE, SYMMETRIC, UNCONSTRAINED, Extra, Inference, constrain, describe, n_extra
from counts cimport UNDER_WAY, Later, Sums, add_later, add_rest, fixed, new_sums, read_sums
from dual cimport Certificate, Decomposition, Dual, solve_dual
from inputs cimport Text, Words, check_costs, check_scores, check_statistics
from lattice cimport Direction, add_jumps, alpha_rows, beta_rows, loglik
from lbfgs cimport differentiate, evaluate
from projection cimport Outcome, Problem
from shard cimport Jumps, Shard, read_shard, set_up, widest
from shares cimport MOST, Packed, add_entry
from vectors cimport new_work, padded, real

cdef real TINY = 1e-5   # posteriors of at most TINY are not counted

CONSTRAINTS = {"none": UNCONSTRAINED, "bijective": BIJECTIVE, "symmetric": SYMMETRIC}
cdef enum:
    N_STATISTICS = 7
    N_CERTIFICATE = 4

STATISTICS = ("loglik_fwd", "loglik_rev", "kl", "before", "after", "calls", "converged")  # of a sentence pair
CERTIFICATE = ("rounds", "converged", "bound", "primal")  # of a sentence pair's dual decomposition


cdef int check_room(Shard* s, const int64_t[:, ::1] jumps, const double[:, ::1] statistics) except -1:
    """Refuses counts of other jumps, and statistics of other sentence pairs."""
    if jumps is not None and (jumps.shape[0] != 2 or jumps.shape[1] != s.jumps.n_counts):
        raise ValueError("the counts are of jumps of another window, or of other classes")
    return check_statistics(s.x, statistics, N_STATISTICS)


cdef struct Scores:
    # Where a sentence pair's posteriors [I, J] are added to, times share. NULL: those of the direction are not wanted
    real* fwd
    real* rev
    real share


cdef inline void add_posteriors(Scores* scores, Direction* fwd, Direction* rev) noexcept nogil:
    cdef int64_t i, j
    for i in range(fwd.I):
        for j in range(fwd.J):
            if scores.fwd != NULL:
                scores.fwd[i * fwd.J + j] += scores.share * fwd.gamma[j * fwd.K + i]
            if scores.rev != NULL:
                scores.rev[i * fwd.J + j] += scores.share * rev.gamma[i * rev.K + j]


cdef void infer(
    Inference* how, Extra* g, Py_ssize_t n, Direction* fwd, Direction* rev, bint counting, bint best, real* memory,
    double* statistics, Scores* before,
) noexcept nogil:
    """Fills gamma of both lattices of sentence pair n with posteriors, or with 1 on the best path.

    counting: finds expected jumps too. before: posteriors before projection are added to it; NULL: they are not wanted
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
        if before != NULL:
            add_posteriors(before, fwd, rev)
        constrain(how, g, n, fwd, rev, memory, &outcome)
    if counting or not constrained:
        beta_rows(one, other, counting)
    if before != NULL and not constrained:
        add_posteriors(before, fwd, rev)
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
    cdef Shard s
    check_threads(n_threads)
    read_shard(&s, [shard], [lexicon], positions, None, &how, True, held)
    cdef Sums c = read_sums(counts, &s.views[0].w, how.agree, held)
    cdef int64_t[:, ::1] all_jumps = counts.positions
    cdef int64_t[:, :, ::1] jumps = np.zeros((n_threads, 2, s.jumps.n_counts), dtype=np.int64)  # a copy a thread
    cdef Py_ssize_t n
    cdef int k
    check_room(&s, all_jumps, statistics)
    cdef int64_t work_size = widest(&s, &how, False)
    cdef real* work = new_work(n_threads * work_size)
    cdef Later* sums = NULL
    statistics[:, :] = 0
    try:
        sums = new_sums(n_threads)
        for n in prange(s.x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
            k = threadid()
            count_pair(
                &s, n, &how, &c, sums + k * UNDER_WAY, &jumps[k, 0, 0], &statistics[n, 0], work + k * work_size
            )
        add_rest(sums, n_threads)
    finally:
        free(work)
    np.add(all_jumps, np.sum(jumps, axis=0), out=np.asarray(all_jumps))


cdef void count_pair(
    Shard* s, Py_ssize_t n, Inference* how, Sums* c, Later* sums, int64_t* jumps, double* statistics, real* work
) noexcept nogil:
    """Adds the expected counts of sentence pair n."""
    cdef Text* x = s.x
    cdef Words* w = &s.views[0].w
    cdef Direction fwd, rev
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t i, j, width
    cdef int64_t* row
    cdef real f, r
    work = set_up(s, n, &fwd, &rev, work)
    if work == NULL:
        return
    infer(how, &s.given, n, &fwd, &rev, True, False, work, statistics, NULL)
    count_jumps(how, &s.jumps, &fwd, &rev, jumps)
    if how.forward:
        for j in range(fwd.J):
            add_later(sums, c.null_fwd + tgt[j], fixed(fwd.nowhere[j]))
    if how.reverse:
        for i in range(rev.J):
            add_later(sums, c.null_rev + src[i], fixed(rev.nowhere[i]))
    for i in range(rev.J):
        row = c.pairs + c.columns * w.rows[src[i]]
        width = w.rows[src[i] + 1] - w.rows[src[i]]
        for j in range(fwd.J):
            f = fwd.gamma[j * fwd.K + i] if how.forward else 0
            r = rev.gamma[i * rev.K + j] if how.reverse else 0
            if how.agree:  # there is one column
                f = f * r
                r = 0
            if (f > TINY or r > TINY) and 0 <= cell[j] < width:
                if f > TINY:
                    add_later(sums, row + c.columns * cell[j], fixed(f))
                if r > TINY:
                    add_later(sums, row + c.columns * cell[j] + 1, fixed(r))
        cell += fwd.J


cdef void count_jumps(Inference* how, Jumps* m, Direction* fwd, Direction* rev, int64_t* jumps) noexcept nogil:
    """Adds the expected jumps of a sentence pair. jumps: [2, n_counts], those by class at the end"""
    cdef int64_t n = m.n_counts, n_classed = m.C * (2 * m.W + 3)
    if how.forward:
        add_jumps(fwd, jumps, jumps + n - n_classed)
    if how.reverse:
        add_jumps(rev, jumps + n, jumps + 2 * n - n_classed)


def expect_links(
    shards,                              # IN, what each view sees of the same sentence pairs
    lexicons,                            # IN, of each view
    positions,                           # IN
    Inference how,                       # IN
    own,                                 # IN, shares of the sentence pairs in the counts of lexicons with evidence; None
    double cutoff,                       # IN, cells of no more expected links have no entry
    int64_t[:, ::1] jumps,               # OUT, expected jumps, as integers of 2^-32, added to; None: not wanted
    double[:, ::1] statistics not None,  # OUT, [S, len(STATISTICS)] zero for a sentence pair with an empty side
    int n_threads,
):
    """(offsets [S + 1], entries): the expected links of a shard's sentence pairs, sparse (shares.pxd).

    Expected links are the mean of the two directions' posteriors. Several views have one lattice a direction: its emissions
    are geometric means over the views.
    """
    cdef list held = []
    cdef Shard s
    cdef Py_ssize_t n
    cdef int k
    check_threads(n_threads)
    read_shard(&s, shards, lexicons, positions, own, &how, False, held)
    check_room(&s, jumps, statistics)
    if not (how.forward and how.reverse):
        raise ValueError("expected links are means of both directions")
    if not cutoff >= 1.0 / MOST:
        raise ValueError(f"cutoff must be at least 1 / {MOST}, not {cutoff}")
    cdef int64_t[:, :, ::1] counts = np.zeros((n_threads, 2, s.jumps.n_counts), dtype=np.int64)  # a copy a thread
    cdef int32_t[::1] packer = np.zeros(s.x.S, dtype=np.int32)  # the thread that had the sentence pair
    cdef int64_t[::1] begin = np.zeros(s.x.S, dtype=np.int64)   # where its entries begin among those of the thread
    lengths = np.zeros(s.x.S + 1, dtype=np.int64)
    cdef int64_t[::1] length = lengths
    cdef int64_t work_size = widest(&s, &how, False)
    cdef real* work = NULL
    cdef Packed* packed = NULL
    cdef const int64_t[::1] place
    cdef uint32_t[::1] out
    cdef bint counting = jumps is not None, failed = False
    statistics[:, :] = 0
    try:
        work = new_work(n_threads * work_size)
        packed = <Packed*>calloc(n_threads, sizeof(Packed))
        if packed == NULL:
            raise MemoryError("no room for expected links")
        for n in prange(s.x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
            k = threadid()
            packer[n] = k
            begin[n] = packed[k].n
            pack_pair(
                &s, n, &how, <float>cutoff, &packed[k], &counts[k, 0, 0] if counting else NULL, &statistics[n, 0],
                work + k * work_size,
            )
            length[n + 1] = packed[k].n - begin[n]
        for k in range(n_threads):
            failed = failed or packed[k].failed
        if failed:
            raise MemoryError("no room for expected links")
        offsets = np.cumsum(lengths)
        entries = np.empty(offsets[s.x.S], dtype=np.uint32)
        place, out = offsets, entries
        if out.shape[0]:
            for n in prange(s.x.S, schedule="static", num_threads=n_threads, nogil=True):
                memcpy(&out[0] + place[n], packed[packer[n]].entries + begin[n], length[n + 1] * sizeof(uint32_t))
    finally:
        free(work)
        if packed != NULL:
            for k in range(n_threads):
                free(packed[k].entries)
        free(packed)
    if counting:
        np.add(jumps, np.sum(counts, axis=0), out=np.asarray(jumps))
    return offsets, entries


cdef void pack_pair(
    Shard* s, Py_ssize_t n, Inference* how, float cutoff, Packed* packed, int64_t* jumps, double* statistics, real* work
) noexcept nogil:
    """Adds the entries of sentence pair n."""
    cdef Direction fwd, rev
    cdef int64_t i, j, k, n_hits, last = 0
    cdef int32_t* hits  # [J] target words of a row's entries
    cdef float* q       # [J] expected links of a row
    work = set_up(s, n, &fwd, &rev, work)
    if work == NULL:
        return
    infer(how, &s.given, n, &fwd, &rev, jumps != NULL, False, work, statistics, NULL)
    if jumps != NULL:
        count_jumps(how, &s.jumps, &fwd, &rev, jumps)
    hits = <int32_t*>work  # the projection is done with it
    q = <float*>(work + padded(fwd.J))
    for i in range(fwd.I):
        n_hits = 0
        for j in range(fwd.J):  # without a branch: entries come at random
            q[j] = (<float>fwd.gamma[j * fwd.K + i] + <float>rev.gamma[i * rev.K + j]) / 2
            hits[n_hits] = <int32_t>j
            n_hits += q[j] > cutoff
        for k in range(n_hits):
            add_entry(packed, i * fwd.J + hits[k] - last, q[hits[k]])
            last = i * fwd.J + hits[k]


def posteriors(
    shards,                  # IN, what each view sees of the same sentence pairs
    lexicons,                # IN, of each view
    positions,               # IN
    Inference how,           # IN
    own,                     # IN, shares of the sentence pairs in the counts of lexicons that have evidence; None
    bint best,               # IN, 1 on each direction's best path instead of posteriors
    real share,              # IN, what scores are multiplied by
    real[::1] fwd not None,  # OUT, [n_cells] added to
    real[::1] rev not None,  # OUT, [n_cells] added to
    double[:, ::1] costs,    # OUT, [S, 2] share * -log p of both directions is added; None: not wanted
    int n_threads,
    real[::1] fwd_before=None,  # OUT, [n_cells] posteriors before projection are added; None: not wanted
    real[::1] rev_before=None,  # OUT, [n_cells]
):
    """Adds the posteriors of all cells of a shard in the directions that are asked for, views together as above.

    p is that of the lattice, before any projection. A sentence pair with an empty side has no lattice: it adds nothing.
    """
    cdef list held = []
    cdef Shard s
    cdef Py_ssize_t n
    cdef int k
    check_threads(n_threads)
    read_shard(&s, shards, lexicons, positions, own, &how, False, held)
    check_scores(s.x, fwd, rev)
    check_costs(s.x, costs)
    if fwd.shape[0] == 0:
        return
    cdef bint costed = costs is not None, told = fwd_before is not None
    if told != (rev_before is not None):
        raise ValueError("scores before projection are wanted of one direction only")
    if told:
        check_scores(s.x, fwd_before, rev_before)
    cdef Scores after, before
    after.share = before.share = share
    after.fwd = &fwd[0] if how.forward else NULL
    after.rev = &rev[0] if how.reverse else NULL
    before.fwd = &fwd_before[0] if told and how.forward else NULL
    before.rev = &rev_before[0] if told and how.reverse else NULL
    cdef int64_t work_size = widest(&s, &how, False)
    cdef real* work = new_work(n_threads * work_size)
    for n in prange(s.x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        score_pair(&s, n, &how, best, after, before, &costs[n, 0] if costed else NULL, work + k * work_size)
    free(work)


cdef void score_pair(
    Shard* s, Py_ssize_t n, Inference* how, bint best, Scores after, Scores before, double* costs, real* work
) noexcept nogil:
    """Adds the posteriors of sentence pair n, [I, J] in both directions. costs: [2], or NULL

    after, before: where the scores of the shard begin, after projection and before it
    """
    cdef Direction fwd, rev
    cdef double[N_STATISTICS] statistics
    cdef int64_t begin = s.x.cell_offsets[n] - s.x.cell_offsets[0]
    work = set_up(s, n, &fwd, &rev, work)
    if work == NULL:
        return
    after = at(after, begin)
    before = at(before, begin)
    infer(how, &s.given, n, &fwd, &rev, False, best, work, statistics, &before)
    add_posteriors(&after, &fwd, &rev)
    if costs != NULL:
        costs[0] -= <double>after.share * statistics[0]
        costs[1] -= <double>after.share * statistics[1]


cdef inline Scores at(Scores scores, int64_t begin) noexcept nogil:
    """The scores from a cell on."""
    scores.fwd = scores.fwd + begin if scores.fwd != NULL else NULL
    scores.rev = scores.rev + begin if scores.rev != NULL else NULL
    return scores


def decompose(
    shards,                      # IN, what each view sees of the same sentence pairs
    lexicons,                    # IN, of each view
    positions,                   # IN
    Decomposition what,          # IN
    own,                         # IN, shares of the sentence pairs in the counts of lexicons that have evidence; None
    real share,                  # IN, what scores are multiplied by
    real[::1] fwd not None,      # OUT, [n_cells] added to
    real[::1] rev not None,      # OUT, [n_cells] added to
    double[:, ::1] costs,        # OUT, [S, 2] as those of `posteriors`; None: not wanted
    double[:, ::1] certificates,  # OUT, [S, len(CERTIFICATE)] added to; None: not wanted
    int n_threads,
):
    """Adds the scores that dual decomposition (dual.pxd) gives the cells of a shard, of each direction's own links.

    A sentence pair with an empty side has no lattice: it adds nothing.
    """
    cdef list held = []
    cdef Shard s
    cdef Inference how
    cdef Py_ssize_t n
    cdef int k
    how.forward = how.reverse = True
    how.constraint = UNCONSTRAINED
    check_threads(n_threads)
    read_shard(&s, shards, lexicons, positions, own, &how, False, held)
    check_scores(s.x, fwd, rev)
    check_costs(s.x, costs)
    if s.given.offsets != NULL:
        raise ValueError("dual decomposition has no constraints")
    if not (what.penalty >= 0 and 0 < what.rate <= 1e6 and what.rounds >= 1):
        raise ValueError(f"no decomposition has penalty {what.penalty}, rate {what.rate} and {what.rounds} rounds")
    if certificates is not None and (certificates.shape[0] != s.x.S or certificates.shape[1] != N_CERTIFICATE):
        raise ValueError(f"the certificates are not of {s.x.S} sentence pairs")
    if fwd.shape[0] == 0:
        return
    cdef bint costed = costs is not None, certified = certificates is not None
    cdef int64_t work_size = widest(&s, &how, True)
    cdef real* work = new_work(n_threads * work_size)
    for n in prange(s.x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        decompose_pair(
            &s, n, &what, share, &fwd[0], &rev[0], &costs[n, 0] if costed else NULL,
            &certificates[n, 0] if certified else NULL, work + k * work_size,
        )
    free(work)


cdef void decompose_pair(
    Shard* s, Py_ssize_t n, Decomposition* what, real share, real* fwd_out, real* rev_out, double* costs,
    double* certificate, real* work,
) noexcept nogil:
    """Adds the scores of sentence pair n, [I, J] in both directions. costs: [2], or NULL. certificate: [4], or NULL"""
    cdef Direction fwd, rev
    cdef Dual p
    cdef Certificate found
    cdef int64_t x, begin = s.x.cell_offsets[n] - s.x.cell_offsets[0]
    work = set_up(s, n, &fwd, &rev, work)
    if work == NULL:
        return
    if costs != NULL:
        alpha_rows(&fwd, &rev)
        costs[0] -= <double>share * loglik(&fwd)
        costs[1] -= <double>share * loglik(&rev)
    solve_dual(what, &fwd, &rev, certificate != NULL, work, &p, &found)
    for x in range(p.n):
        fwd_out[begin + x] += share * p.sides[0].total[x]
        rev_out[begin + x] += share * p.sides[1].total[x]
    if certificate != NULL:
        certificate[0] += found.rounds
        certificate[1] += found.converged
        certificate[2] += found.bound
        certificate[3] += found.primal


def dual(shard, lexicon, positions, Inference how, int64_t n, const double[::1] lam not None):
    """phi (without - log Z(0)) and its gradient of sentence pair n's problem at lam. For tests.

    Features are numbered as the constraints add them.
    """
    cdef list held = []
    cdef Shard s
    cdef Direction fwd, rev
    cdef Problem p
    cdef int64_t k
    cdef double phi
    read_shard(&s, [shard], [lexicon], positions, None, &how, False, held)
    if not 0 <= n < s.x.S:
        raise ValueError(f"there is no sentence pair {n}")
    cdef real* work = new_work(widest(&s, &how, False))
    cdef real* rest = set_up(&s, n, &fwd, &rev, work)
    try:
        if rest == NULL:
            raise ValueError(f"sentence pair {n} has an empty side")
        alpha_rows(&fwd, &rev)
        beta_rows(&fwd, &rev, False)
        describe(&how, &s.given, n, &fwd, &rev, &p, rest)
        if lam.shape[0] != p.n or p.n == 0:
            raise ValueError(f"{p.n} features, {lam.shape[0]} values of lam")
        for k in range(p.n):
            p.solver.x[k] = <real>lam[k]
        phi = evaluate(&p.solver, p.solver.x)
        differentiate(&p.solver)
        return phi, [p.solver.gradient[k] for k in range(p.n)]
    finally:
        free(work)
