"""The constraints of one sentence pair, each a function that writes its features into a Problem (projection.pxd).

To add one: give it a number, a function, its line in `describe`; a name in CONSTRAINTS (_hmm.pyx) and a
model that uses it in MODELS (aligner/recipe.py).

    BIJECTIVE   (3.3) in each direction f_i = links of state word i, E[f_i] <= 1
    SYMMETRIC   (3.4) both directions; f_ij = forward link - reverse link, E[f_ij] = 0. Each direction is normalised by
                itself, as in Ganchev, Graca & Taskar (2008); the article of 2010 normalises them together (eq. 15).
"""

from libc.stdint cimport int64_t

from lattice cimport Direction, real
from projection cimport Outcome, Problem, add_cell, add_feature, add_states, begin, lay_out_vectors, project

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


cdef inline void describe(
    Inference* how, Direction* fwd, Direction* rev, Problem* p, real* memory
) noexcept nogil:
    """The problem of one sentence pair, from the posteriors of p."""
    begin(p, fwd, rev, fwd.I * fwd.J, &memory)
    if how.constraint == BIJECTIVE:
        bijective(p, fwd, rev)
    elif how.constraint == SYMMETRIC:
        symmetric(p, fwd, rev, <real>how.drop)
    p.slack = <real>how.slack
    lay_out_vectors(p, memory)


cdef inline void constrain(Inference* how, Direction* fwd, Direction* rev, real* memory, Outcome* o) noexcept nogil:
    """p's lattices become q's: emit, alpha and gamma."""
    cdef Problem p
    describe(how, fwd, rev, &p, memory)
    project(&p, how.eta, how.max_calls, o)


cdef inline void symmetric(Problem* p, Direction* fwd, Direction* rev, real drop) noexcept nogil:
    cdef int64_t i, j, k
    p.bounded = False
    p.n_constraints = fwd.I * fwd.J
    p.sides[1].sign = -1
    for i in range(fwd.I):
        for j in range(fwd.J):
            if fwd.gamma[j * fwd.K + i] > drop or rev.gamma[i * rev.K + j] > drop:
                k = add_feature(p, 0)
                add_cell(&p.sides[0], j * fwd.K + i, k)
                add_cell(&p.sides[1], i * rev.K + j, k)


cdef inline void bijective(Problem* p, Direction* fwd, Direction* rev) noexcept nogil:
    """Two problems that do not depend on each other, as one: the lattices' rows can take turns."""
    p.bounded = True
    p.n_constraints = fwd.I + rev.I
    add_states(p, &p.sides[0], 1)
    add_states(p, &p.sides[1], 1)
