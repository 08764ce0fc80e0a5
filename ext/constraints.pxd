"""The constraints of one sentence pair, each a function that writes its features into a Problem (projection.pxd).

To add one: give it a number, a function, its lines in `n_problems` and `describe`; a name in CONSTRAINTS (_hmm.pyx) and a
model that uses it in MODELS (aligner/recipe.py).

    BIJECTIVE   (3.3) each direction by itself; f_i = links of state word i, E[f_i] <= 1
    SYMMETRIC   (3.4) both directions; f_ij = forward link - reverse link, E[f_ij] = 0. Each direction is normalised by
                itself, as in Ganchev, Graca & Taskar (2008); the article of 2010 normalises them together (eq. 15).
"""

from libc.stdint cimport int64_t

from lattice cimport Direction, real
from projection cimport Outcome, Problem, add_cell, add_feature, begin, lay_out_vectors, project

cdef enum:
    UNCONSTRAINED = 0
    BIJECTIVE = 1
    SYMMETRIC = 2


cdef struct Inference:
    # What is asked of a sentence pair's lattices (aligner/recipe.py)
    bint mixture
    bint forward
    bint reverse
    bint agree
    int constraint
    double eta
    double slack
    double drop
    int64_t max_calls


cdef inline int64_t n_problems(Inference* how) noexcept nogil:
    """Projections that are independent of each other."""
    return 2 if how.constraint == BIJECTIVE else 1


cdef inline void describe(
    Inference* how, int64_t which, Direction* fwd, Direction* rev, Problem* p, real* memory
) noexcept nogil:
    """A problem, from the posteriors of p."""
    if how.constraint == BIJECTIVE:
        bijective(p, fwd if which == 0 else rev, &memory)
    elif how.constraint == SYMMETRIC:
        symmetric(p, fwd, rev, <real>how.drop, &memory)
    p.slack = <real>how.slack
    lay_out_vectors(p, memory)


cdef inline void constrain(
    Inference* how, Direction* fwd, Direction* rev, real* memory, Outcome* o
) noexcept nogil:
    """p's lattices become q's: emit, alpha and gamma."""
    cdef Problem p
    cdef int64_t which
    for which in range(n_problems(how)):
        describe(how, which, fwd, rev, &p, memory)
        project(&p, how.eta, how.max_calls, o)


cdef inline void symmetric(Problem* p, Direction* fwd, Direction* rev, real drop, real** memory) noexcept nogil:
    cdef int64_t i, j, k
    begin(p, fwd, rev, fwd.I * fwd.J, memory)
    p.bounded = False
    p.n_constraints = fwd.I * fwd.J
    p.sides[1].sign = -1
    for i in range(fwd.I):
        for j in range(fwd.J):
            if fwd.gamma[j * fwd.K + i] > drop or rev.gamma[i * rev.K + j] > drop:
                k = add_feature(p, 0)
                add_cell(&p.sides[0], j * fwd.K + i, k)
                add_cell(&p.sides[1], i * rev.K + j, k)


cdef inline void bijective(Problem* p, Direction* d, real** memory) noexcept nogil:
    cdef int64_t i, j, k
    begin(p, d, NULL, d.I * d.J, memory)
    p.bounded = True
    p.n_constraints = d.I
    for i in range(d.I):
        k = add_feature(p, 1)
        for j in range(d.J):
            add_cell(&p.sides[0], j * d.K + i, k)
