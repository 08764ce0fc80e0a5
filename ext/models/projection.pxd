"""Projection of a posterior onto constraints (Graca, Ganchev & Taskar 2010, sections 3.1-3.2 and appendix A).

    q = argmin KL(q || p)   such that   E_q[f_k] - b_k <= xi_k  (or = xi_k),  ||xi||_2 <= slack

q is p tilted by lam (tilt.pxd). The dual, to be minimised over lam, lam_k >= 0 for inequalities and free for equalities, is

    phi(lam)  = b . lam + log Z(lam) - log Z(0) + slack * ||lam||_2           Z: the product of both directions'
    gradient  = b - E_q[f] + slack * lam / ||lam||_2

A call is one alpha_rows of each direction, which gives phi, and one beta_rows, which gives the gradient. The solver
(lbfgs.pxd) is preconditioned by the diagonal of the Hessian, as if links were independent. The projection is done when
||gradient||_2 / number of constraints < eta and no inequality's expectation is above its bound by eta.

Not here: which features there are (constraints.pxd).
"""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memset

from lattice cimport Direction, alpha_rows, beta_rows, loglik
from lbfgs cimport Solver, dot, lay_out_solver, minimize, room_for_solver
from tilt cimport Tilt, add_expected, lay_out_tilt, room_for_tilt, tilt
from vectors cimport VECTOR, exponential, padded, real, room

cdef enum:
    MAX_STEP = 4  # largest change of a lam in one step


cdef struct Problem:
    Tilt[2] sides           # forward, reverse
    int64_t n               # features
    int64_t n_constraints   # divisor of the gradient's norm; constraints that were dropped as fulfilled count too
    bint bounded            # whether some features have inequalities
    real* b                 # [n] bounds of the features' expectations
    real* lower             # [n] of lam: 0 for inequalities, -infinity for equalities
    real* expected          # [N] E_q[f]
    real* weight            # [2, N] exp(-lam) and exp(lam)
    bint current            # gamma is of the last alpha_rows
    double before           # violation under p; -1 until it is known
    Solver solver           # its x is lam


cdef struct Outcome:
    double kl         # KL(q || p)
    double before     # ||E_p[f] - b||_2, of violated inequalities and of equalities
    double after      # ||E_q[f] - b||_2, of the same
    double calls      # forward-backward calls of both directions
    double converged


cdef inline int64_t most_features(int64_t I, int64_t J, int64_t n_extra) noexcept nogil:
    return I * J + 1 + n_extra  # cells have I * J features; state words have I + J, at most I * J + 1


cdef inline int64_t room_for_problem(int64_t I, int64_t J, int64_t n_extra, int64_t n_entries) noexcept nogil:
    """Reals that a problem needs: of n_extra features from Python, with n_entries entries."""
    cdef int64_t N = padded(most_features(I, J, n_extra))
    return 5 * N + room_for_solver(N) + room_for_tilt(I, J, n_entries) + room_for_tilt(J, I, n_entries) + VECTOR


cdef inline void begin(
    Problem* p, Direction* fwd, Direction* rev, int64_t n_extra, int64_t n_entries, real** memory
) noexcept nogil:
    """Makes p a problem without features. beta_rows of both directions has been run."""
    cdef int64_t N = padded(most_features(fwd.I, fwd.J, n_extra))
    lay_out_tilt(&p.sides[0], fwd, n_entries, memory)
    lay_out_tilt(&p.sides[1], rev, n_entries, memory)
    p.b = room(memory, N)
    p.lower = room(memory, N)
    p.n = p.n_constraints = 0
    p.bounded = False
    p.current = True
    p.before = -1


cdef inline int64_t add_feature(Problem* p, real b, bint equal) noexcept nogil:
    """Adds a feature whose expectation must be b (equal) or at most b; returns the feature's number."""
    p.b[p.n] = b
    p.lower[p.n] = -INFINITY if equal else 0
    p.bounded = p.bounded or not equal
    p.n += 1
    return p.n - 1


cdef inline double log_z(Problem* p) noexcept nogil:
    """log Z at the lam of the last alpha_rows."""
    return loglik(p.sides[0].d) + loglik(p.sides[1].d)


cdef inline double violation(Problem* p) noexcept nogil:
    cdef int64_t k
    cdef double total = 0, x
    for k in range(p.n):
        x = p.expected[k] - p.b[k]
        if x > 0 or p.lower[k] < 0:
            total += x * x
    return sqrt(total)


cdef inline double value(void* context, const real* lam) noexcept nogil:
    """b . lam + log Z(lam): tilts the emissions, and runs alpha_rows."""
    cdef Problem* p = <Problem*>context
    cdef int64_t N = p.solver.N, k
    for k in range(N):
        p.weight[k] = exponential(-lam[k])
    for k in range(N):
        p.weight[N + k] = 1 / p.weight[k]
    tilt(&p.sides[0], lam, p.weight, N)
    tilt(&p.sides[1], lam, p.weight, N)
    alpha_rows(p.sides[0].d, p.sides[1].d)
    p.current = False
    return dot(p.b, lam, N) + log_z(p)


cdef inline void slope(void* context, const real* lam, real* gradient, real* diagonal) noexcept nogil:
    """b - E_q[f] at the lam of the last alpha_rows, and the diagonal of the Hessian."""
    cdef Problem* p = <Problem*>context
    cdef int64_t N = p.solver.N, k
    if not p.current:
        beta_rows(p.sides[0].d, p.sides[1].d, False)
    p.current = True
    memset(p.expected, 0, N * sizeof(real))
    memset(diagonal, 0, N * sizeof(real))
    add_expected(&p.sides[0], p.expected, diagonal)
    add_expected(&p.sides[1], p.expected, diagonal)
    for k in range(N):
        gradient[k] = p.b[k] - p.expected[k]
        diagonal[k] += <real>0.02  # keeps the diagonal from 0 where links are certain
    if p.before < 0:
        p.before = violation(p)


cdef inline void complete(Problem* p, double slack, double eta, int64_t max_calls, real* memory) noexcept nogil:
    """Prepares the solver at lam = 0, after the last feature has been added."""
    cdef Solver* o = &p.solver
    cdef int64_t N = padded(p.n), k
    p.expected = room(&memory, N)
    p.weight = room(&memory, 2 * N)
    lay_out_solver(o, p.n, memory)
    for k in range(p.n, N):
        p.b[k] = 0
        p.lower[k] = 0
    o.lower = p.lower
    o.bounded = p.bounded
    o.context = p
    o.find_value = value
    o.find_slope = slope
    o.slack = <real>slack
    o.max_step = MAX_STEP
    o.rounding = 1e-6
    o.tolerance = eta * p.n_constraints
    o.worst = eta
    o.max_calls = max_calls


cdef inline void project(Problem* p, Outcome* out) noexcept nogil:
    """Projects: emit, alpha and gamma of both directions become those of q."""
    cdef Solver* o = &p.solver
    cdef double old = log_z(p)
    o.F = old
    minimize(o)
    # KL = E_q[log q - log p] = -lam . E_q[f] - (log Z(lam) - log Z(0)), and log Z(lam) = F - b . lam - slack * ||lam||
    out.kl = -dot(o.x, p.expected, o.N) - (
        o.F - dot(p.b, o.x, o.N) - o.slack * sqrt(dot(o.x, o.x, o.N)) - old
    )
    out.before = p.before
    out.after = violation(p)
    out.calls = o.calls
    out.converged = o.converged
