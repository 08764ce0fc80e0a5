"""Constraints. A constraint is a function that adds features to the Problem (projection.pxd) of a sentence pair.

    BIJECTIVE   (3.3) in each direction f_i = links of state word i, E[f_i] <= 1
    SYMMETRIC   (3.4) both directions; f_ij = forward link - reverse link, E[f_ij] = 0. Each direction is normalised by
                itself, as in Ganchev, Graca & Taskar (2008); the article of 2010 normalises them together (eq. 15).
    extra       features from Python, as sparse arrays (aligner/text/known.py), alone or beside one of the others

A new constraint needs a number, a function and a line of `describe` here, a name in CONSTRAINTS (_hmm.pyx), and a
model in MODELS (aligner/models/kinds.py).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

from checks cimport check_offsets
from inputs cimport Text
from lattice cimport Direction
from projection cimport Outcome, Problem, add_feature, begin, complete, project
from tilt cimport Entries, Tilt, add_entry, add_states
from vectors cimport real

cdef enum:
    UNCONSTRAINED = 0
    BIJECTIVE = 1
    SYMMETRIC = 2


cdef struct Inference:
    # What is asked of a sentence pair's lattices (aligner/models/stage.py)
    bint forward
    bint reverse
    bint agree
    int constraint
    double eta
    double slack
    double drop
    int64_t max_calls


cdef struct Extra:
    # Features from Python (aligner/text/known.py)
    const int64_t* offsets      # [S + 1] features of each sentence pair; NULL: there are none
    const double* bound         # [n_features]
    const uint8_t* equal        # [n_features]
    const int64_t* starts       # [n_features + 1] entries of each feature
    const uint8_t* direction    # [n_entries] 0 forward, 1 reverse
    const int32_t* src          # [n_entries]
    const int32_t* tgt          # [n_entries]
    const double* coefficient   # [n_entries]


cdef inline Extra read_extra(object constraints, Text* x, list held) except *:
    """The pointers of constraints. Refuses entries outside their pair, and numbers too large. None: no features."""
    cdef Extra g
    g.offsets = NULL
    if constraints is None:
        return g
    cdef const int64_t[::1] offsets = constraints.offsets
    cdef const double[::1] bound = constraints.bound
    cdef const uint8_t[::1] equal = constraints.equal
    cdef const int64_t[::1] starts = constraints.starts
    cdef const uint8_t[::1] direction = constraints.direction
    cdef const int32_t[::1] src = constraints.src
    cdef const int32_t[::1] tgt = constraints.tgt
    cdef const double[::1] coefficient = constraints.coefficient
    cdef int64_t n, k, e, I, J
    held += [offsets, bound, equal, starts, direction, src, tgt, coefficient]
    if bound.shape[0] != equal.shape[0] or not (
        direction.shape[0] == src.shape[0] == tgt.shape[0] == coefficient.shape[0]
    ):
        raise ValueError("arrays of constraints are of different lengths")
    check_offsets("offsets of constraints", offsets, x.S, bound.shape[0])
    check_offsets("starts of constraints", starts, bound.shape[0], src.shape[0])
    for n in range(x.S):
        I = x.src_offsets[n + 1] - x.src_offsets[n]
        J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
        for k in range(offsets[n], offsets[n + 1]):
            if not -1e6 <= bound[k] <= 1e6:
                raise ValueError(f"bound {bound[k]} of a constraint is not between -1e6 and 1e6")
            for e in range(starts[k], starts[k + 1]):
                if not (0 <= src[e] < I and 0 <= tgt[e] < J and direction[e] <= 1):
                    raise ValueError(f"a constraint counts link {src[e]}-{tgt[e]}, which is outside sentence pair {n}")
                if not -1e3 <= coefficient[e] <= 1e3:
                    raise ValueError(f"coefficient {coefficient[e]} of a constraint is not between -1e3 and 1e3")
    if src.shape[0]:
        g.offsets = &offsets[0]
        g.bound = &bound[0]
        g.equal = &equal[0]
        g.starts = &starts[0]
        g.direction = &direction[0]
        g.src = &src[0]
        g.tgt = &tgt[0]
        g.coefficient = &coefficient[0]
    return g


cdef inline int64_t n_extra(Extra* g, int64_t n) noexcept nogil:
    """How many extra features sentence pair n has."""
    return 0 if g.offsets == NULL else g.offsets[n + 1] - g.offsets[n]


cdef inline int64_t n_entries(Extra* g, int64_t n) noexcept nogil:
    return 0 if g.offsets == NULL else g.starts[g.offsets[n + 1]] - g.starts[g.offsets[n]]


cdef inline void describe(
    Inference* how, Extra* g, int64_t n, Direction* fwd, Direction* rev, Problem* p, real* memory
) noexcept nogil:
    """Makes p the problem of sentence pair n. gamma of both lattices holds the posteriors before the projection."""
    begin(p, fwd, rev, n_extra(g, n), n_entries(g, n), &memory)
    if how.constraint == BIJECTIVE:
        bijective(p, fwd, rev)
    elif how.constraint == SYMMETRIC:
        symmetric(p, fwd, rev, <real>how.drop)
    if g.offsets != NULL:
        extra(p, g, n)
    complete(p, how.slack, how.eta, how.max_calls, memory)


cdef inline void constrain(
    Inference* how, Extra* g, int64_t n, Direction* fwd, Direction* rev, real* memory, Outcome* o
) noexcept nogil:
    """Projects sentence pair n: emit, alpha and gamma of both lattices become those of the projection q."""
    cdef Problem p
    describe(how, g, n, fwd, rev, &p, memory)
    project(&p, o)


cdef inline void symmetric(Problem* p, Direction* fwd, Direction* rev, real drop) noexcept nogil:
    """One feature a link. Links whose posteriors are at most drop in both directions are left out."""
    cdef Entries* f = &p.sides[0].cells
    cdef Entries* r = &p.sides[1].cells
    cdef int64_t i, j, k, feature, n = 0
    p.n_constraints += fwd.I * fwd.J
    p.sides[1].sign = -1
    for i in range(fwd.I):
        for j in range(fwd.J):  # without a branch: features come at random
            f.place[n] = <int32_t>(j * fwd.K + i)
            r.place[n] = <int32_t>(i * rev.K + j)
            n += (fwd.gamma[j * fwd.K + i] > drop) | (rev.gamma[i * rev.K + j] > drop)
    for k in range(n):
        feature = add_feature(p, 0, True)
        add_entry(f, fwd, f.place[k], feature)
        add_entry(r, rev, r.place[k], feature)


cdef inline void bijective(Problem* p, Direction* fwd, Direction* rev) noexcept nogil:
    """One feature a state word. The directions are independent, but as one problem their lattices' rows take turns."""
    cdef int64_t k, _i
    p.n_constraints += fwd.I + rev.I
    for k in range(2):
        add_states(&p.sides[k], p.n)
        for _i in range(p.sides[k].d.I):
            add_feature(p, 1, False)


cdef inline void extra(Problem* p, Extra* g, int64_t n) noexcept nogil:
    cdef int64_t k, e, feature, place
    cdef Tilt* side
    for k in range(g.offsets[n], g.offsets[n + 1]):
        feature = add_feature(p, <real>g.bound[k], g.equal[k])
        p.n_constraints += 1
        for e in range(g.starts[k], g.starts[k + 1]):
            side = &p.sides[g.direction[e]]
            place = g.tgt[e] * side.d.K + g.src[e] if g.direction[e] == 0 else g.src[e] * side.d.K + g.tgt[e]
            side.coefficient[side.extra.n] = <real>g.coefficient[e]
            add_entry(&side.extra, side.d, place, feature)
