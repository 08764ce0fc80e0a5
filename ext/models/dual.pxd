"""Dual decomposition (DeNero & Macherey 2011): the links that the two lattices of a sentence pair agree on.

    maximise  f(a, c) + g(b, c)          a [J] a path of the forward lattice, b [I] of the reverse, c [I, J] links, 0 or 1
    f(a, c) = log p(tgt, a | src) - penalty * #{(i, j): c_ij = 1, a_j is not i}
    g(b, c) = log p(src, b | tgt) - penalty * #{(i, j): c_ij = 1, b_i is not j}

Links must be coherent with both paths. Where a_j is word i, link c_ij is there, its neighbours c_{i-1, j} and c_{i+1, j}
may be there, and no other link of word j is. Where a_j is NULL, which is any twin, word j has no link. The same holds for
b and the neighbours c_{i, j-1} and c_{i, j+1}. An infinite penalty allows no neighbours.

With a copy of c for each side, and a multiplier u_ij for c^a_ij = c^b_ij, the two sides come apart:

    h(u) = max_{a, c^a} [f + sum u c^a] + max_{b, c^b} [g - sum u c^b]        never below the maximum, for any u

Given a_j, each link next to it is there if it pays. So c^a is maximised out, and what is left is the best path of a lattice
whose emission (j, i) is multiplied by exp(gain):

    gain_ij = u_ij + max(0, u_{i-1, j} - penalty) + max(0, u_{i+1, j} - penalty)        of the reverse, the same of -u

c^a - c^b is a subgradient of h. A round finds both best paths and descends:

    u_ij <- u_ij + step * (c^b_ij - c^a_ij)        step = rate / (1 + rounds in which h rose)

When c^a = c^b, h(u) is the value of links that are coherent: these links are the best, and the bound is exact. Else the
score of a link is the mean of its c over the last half of the rounds, which tends to a solution of the linear relaxation.

Cost: two best paths a round, O(W I J). Not here: a search that closes the gap where the relaxation is not tight.
"""

from libc.math cimport INFINITY, log
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from best_path cimport best_path
from lattice cimport Direction, loglik
from vectors cimport exponential, padded, real, room

cdef enum:
    MOST_GAIN = 75  # the largest float is e^88; an emission times exp(gain) stays below e^75


cdef struct Decomposition:
    # What is asked (aligner/decoding/dual.py)
    double penalty  # of a link beside a path's own; infinite: there are none
    double rate     # the first step
    int64_t rounds  # at most


cdef struct Side:
    # A lattice, and the links that it believes in. Cell (j, i) of the lattice is at j * row + i * state of [I, J].
    Direction* d
    real sign      # of u: 1 forward, -1 reverse
    int64_t row
    int64_t state
    real* base     # [J, K] emissions at u = 0
    real* masked   # [J, K] emissions of the paths that are coherent with some links
    real* nulls    # [J] the same of NULL
    real* links    # [I, J] c^a, or c^b
    real* total    # [I, J] sum of the links over the last half of the rounds


cdef struct Dual:
    Side[2] sides
    int64_t n         # cells, I * J
    real penalty
    real limit        # of |u_ij|
    real* u           # [I, J]
    real* candidate   # [I, J] links whose value is asked for


cdef struct Certificate:
    double rounds
    double converged  # 1: c^a = c^b, and links are the best
    double bound      # the least h(u) seen
    double primal     # the largest value of coherent links seen; -infinity unless it is asked for


cdef inline int64_t room_for_dual(int64_t I, int64_t J) noexcept nogil:
    """How many reals solve_dual needs."""
    return 2 * (J * padded(I) + I * padded(J)) + padded(I) + padded(J) + 6 * padded(I * J)


cdef inline void lay_out_side(Side* x, Direction* d, bint reverse, real** memory) noexcept nogil:
    """Gives the arrays of a side their places. No links yet, emissions as they are."""
    cdef int64_t n = d.I * d.J
    x.d = d
    x.sign = -1 if reverse else 1
    x.row = d.I if reverse else 1
    x.state = 1 if reverse else d.J
    x.base = room(memory, d.J * d.K)
    x.masked = room(memory, d.J * d.K)
    x.nulls = room(memory, padded(d.J))
    x.links = room(memory, padded(n))
    x.total = room(memory, padded(n))
    memcpy(x.base, d.emit, d.J * d.K * sizeof(real))
    memset(x.total, 0, n * sizeof(real))


cdef inline void begin_dual(Dual* p, Decomposition* how, Direction* fwd, Direction* rev, real* memory) noexcept nogil:
    """u is 0, and may not grow so large that an emission overflows."""
    cdef int64_t x, k
    cdef real top = 1
    lay_out_side(&p.sides[0], fwd, False, &memory)
    lay_out_side(&p.sides[1], rev, True, &memory)
    p.n = fwd.I * fwd.J
    p.u = room(&memory, padded(p.n))
    p.candidate = room(&memory, padded(p.n))
    memset(p.u, 0, p.n * sizeof(real))
    p.penalty = <real>how.penalty
    for k in range(2):
        for x in range(p.sides[k].d.J * p.sides[k].d.K):
            top = max(top, p.sides[k].base[x])
    p.limit = <real>(MOST_GAIN - log(top))
    if p.penalty < INFINITY:
        p.limit /= 3  # a gain is at most three times the largest |u_ij|
    p.limit = min(p.limit, MOST_GAIN // 2)  # nor may an emission vanish


cdef inline real pays(Side* x, Dual* p, int64_t at) noexcept nogil:
    """What a link beside the path's own adds; nothing if it does not pay. at: place of the link in [I, J]"""
    return max(<real>0, x.sign * p.u[at] - p.penalty)


cdef inline void tilt_emission(Side* x, Dual* p, int64_t j, int64_t i) noexcept nogil:
    """Sets emission (j, i) of a side to that at u."""
    cdef int64_t at = j * x.row + i * x.state
    cdef real gain = x.sign * p.u[at]
    if i > 0:
        gain += pays(x, p, at - x.state)
    if i < x.d.I - 1:
        gain += pays(x, p, at + x.state)
    x.d.emit[j * x.d.K + i] = x.base[j * x.d.K + i] * exponential(gain)


cdef inline double believe(Side* x, Dual* p) noexcept nogil:
    """Finds the links of a side at u; returns the value of its half of h(u)."""
    cdef int64_t i, j, at
    best_path(x.d)
    memset(x.links, 0, p.n * sizeof(real))
    for j in range(x.d.J):
        i = <int64_t>x.d.nowhere[j]
        if i < 0:
            continue
        at = j * x.row + i * x.state
        x.links[at] = 1
        if i > 0 and pays(x, p, at - x.state) > 0:
            x.links[at - x.state] = 1
        if i < x.d.I - 1 and pays(x, p, at + x.state) > 0:
            x.links[at + x.state] = 1
    return loglik(x.d)


cdef inline double best_coherent(Side* x, Dual* p) noexcept nogil:
    """max_a f(a, candidate), or max_b g: the best path among those that the candidate is coherent with.

    -infinity if there is none. Of n links of a word j, all next to a_j or there, n - 1 cost the penalty, whichever a_j is.
    """
    cdef Direction* d = x.d
    cdef int64_t i, j, n, low, high
    cdef bint possible
    cdef double cost = 0
    cdef real* emit = d.emit
    cdef real* null = d.null
    memset(x.masked, 0, d.J * d.K * sizeof(real))
    for j in range(d.J):
        n = low = high = 0
        for i in range(d.I):
            if p.candidate[j * x.row + i * x.state] > 0:
                low = low if n else i
                high = i
                n += 1
        x.nulls[j] = 0 if n else null[j]
        if n == 0:
            continue
        possible = n == 1 or p.penalty < INFINITY
        if possible and n > 1:
            cost += p.penalty * (n - 1)
        if possible:
            possible = False
            for i in range(max(low, high - 1), min(high, low + 1) + 1):  # no link is farther than 1 from these
                if p.candidate[j * x.row + i * x.state] > 0 and x.base[j * d.K + i] > 0:
                    x.masked[j * d.K + i] = x.base[j * d.K + i]
                    possible = True
        if not possible:
            return -INFINITY
    d.emit = x.masked
    d.null = x.nulls
    best_path(d)
    d.emit = emit
    d.null = null
    return loglik(d) - cost


cdef inline double value_of_candidate(Dual* p) noexcept nogil:
    """The largest f + g of the candidate; -infinity if it is coherent with no paths."""
    cdef double f = best_coherent(&p.sides[0], p)
    return f if f == -INFINITY else f + best_coherent(&p.sides[1], p)


cdef inline double best_candidate(Dual* p) noexcept nogil:
    """The largest value of c^a, of c^b and of the links in both."""
    cdef int64_t k
    cdef int side
    cdef double best
    for k in range(p.n):
        p.candidate[k] = p.sides[0].links[k] * p.sides[1].links[k]
    best = value_of_candidate(p)
    for side in range(2):
        memcpy(p.candidate, p.sides[side].links, p.n * sizeof(real))
        best = max(best, value_of_candidate(p))
    return best


cdef inline bint descend(Dual* p, real step) noexcept nogil:
    """One step of u, where the two sides differ. Returns whether they do."""
    cdef Side* f = &p.sides[0]
    cdef Side* g = &p.sides[1]
    cdef int64_t I = f.d.I, J = f.d.J, i, j, k
    cdef bint differ = False
    for k in range(p.n):
        if f.links[k] != g.links[k]:
            differ = True
            p.u[k] = min(p.limit, max(-p.limit, p.u[k] + step * (g.links[k] - f.links[k])))
    for i in range(I if differ else 0):
        for j in range(J):
            if f.links[i * J + j] != g.links[i * J + j]:
                for k in range(max(0, i - 1), min(I, i + 2)):
                    tilt_emission(f, p, j, k)
                for k in range(max(0, j - 1), min(J, j + 2)):
                    tilt_emission(g, p, i, k)
    return differ


cdef inline void solve_dual(
    Decomposition* how, Direction* fwd, Direction* rev, bint certify, real* memory, Dual* p, Certificate* out
) noexcept nogil:
    """Fills `total` of both sides with scores from 0 to 1. What the lattices held is lost.

    certify: whether the primal is wanted, which costs up to six more best paths a round
    """
    cdef int64_t t, x, n_rose = 0, n_summed = 0
    cdef int side
    cdef double h, last = INFINITY
    begin_dual(p, how, fwd, rev, memory)
    out.rounds = out.converged = 0
    out.bound = INFINITY
    out.primal = -INFINITY
    if certify:
        memset(p.candidate, 0, p.n * sizeof(real))  # no links and all words at NULL are always coherent
        out.primal = value_of_candidate(p)
    for t in range(1, how.rounds + 1):
        h = believe(&p.sides[0], p) + believe(&p.sides[1], p)
        out.rounds = t
        out.bound = min(out.bound, h)
        n_rose += h > last
        last = h
        if certify:
            out.primal = max(out.primal, best_candidate(p))
        if t > how.rounds // 2:
            n_summed += 1
            for side in range(2):
                for x in range(p.n):
                    p.sides[side].total[x] += p.sides[side].links[x]
        if not descend(p, <real>(how.rate / (1 + n_rose))):
            out.converged = 1
            out.bound = out.primal = h
            break
    for side in range(2):
        if out.converged:
            memcpy(p.sides[side].total, p.sides[side].links, p.n * sizeof(real))
        else:
            for x in range(p.n):
                p.sides[side].total[x] /= n_summed
