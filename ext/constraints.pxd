"""The constraints of one sentence pair, each a function that writes its features into a Problem (projection.pxd).

To add one: give it a number, a function, a line in `constrain`, and a model that uses it (aligner/em.py).

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


cdef struct Limits:
    # How a projection is to be done
    int constraint
    double eta
    double slack
    double drop         # cells whose posteriors are both up to it are not constrained
    int64_t max_calls


cdef inline void constrain(Limits* limits, Direction* fwd, Direction* rev, const double* loglik, real* memory,
                           Outcome* o) noexcept nogil:
    """p's lattices become q's: emit, alpha and gamma; log p(f | e) and log p(e | f) are those of p."""
    cdef Problem problem
    if limits.constraint == SYMMETRIC:
        symmetric(&problem, fwd, rev, <real>limits.drop, memory)
        problem.slack = <real>limits.slack
        project(&problem, loglik[0] + loglik[1], limits.eta, limits.max_calls, o)
    elif limits.constraint == BIJECTIVE:
        bijective(&problem, fwd, memory)
        problem.slack = <real>limits.slack
        project(&problem, loglik[0], limits.eta, limits.max_calls, o)
        bijective(&problem, rev, memory)
        problem.slack = <real>limits.slack
        project(&problem, loglik[1], limits.eta, limits.max_calls, o)


cdef inline void symmetric(Problem* p, Direction* fwd, Direction* rev, real drop, real* memory) noexcept nogil:
    cdef int64_t i, j, k
    begin(p, fwd, rev, fwd.I * fwd.J, &memory)
    p.bounded = False
    p.n_constraints = fwd.I * fwd.J
    p.sides[1].sign = -1
    for i in range(fwd.I):
        for j in range(fwd.J):
            if fwd.gamma[j * fwd.K + i] > drop or rev.gamma[i * rev.K + j] > drop:
                k = add_feature(p, 0)
                add_cell(&p.sides[0], j * fwd.K + i, k)
                add_cell(&p.sides[1], i * rev.K + j, k)
    lay_out_vectors(p, memory)


cdef inline void bijective(Problem* p, Direction* d, real* memory) noexcept nogil:
    cdef int64_t i, j, k
    begin(p, d, NULL, d.I * d.J, &memory)
    p.bounded = True
    p.n_constraints = d.I
    for i in range(d.I):
        k = add_feature(p, 1)
        for j in range(d.J):
            add_cell(&p.sides[0], j * d.K + i, k)
    lay_out_vectors(p, memory)
