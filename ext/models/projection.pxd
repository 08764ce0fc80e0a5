"""Projection of a posterior onto constraints (Graca, Ganchev & Taskar 2010, sections 3.1-3.2 and appendix A).

    q = argmin KL(q || p)   such that   E_q[f] - b <= xi,  ||xi||_2 <= slack        (or = for equalities)

A feature f_k counts links: those of some cells, with one sign a direction, or all those of a state word. So q has the factors of p with emissions
times exp(-sign * lam_k), and its dual, to be minimised over lam (lam >= 0 for inequalities, else free), is

    phi(lam)  = b . lam + log Z(lam) - log Z(0) + slack * ||lam||_2           Z: the product of both directions'
    gradient  = b - E_q[f] + slack * lam / ||lam||_2                          (at lam = 0 without the last term)

One alpha_rows of each direction gives phi, one beta_rows more its gradient: a call. phi is minimised by L-BFGS,
preconditioned by the diagonal of the Hessian as if cells were independent, sum of g (1 - g), with steps cut to MAX_STEP and
halved until phi falls (Armijo). For lam >= 0, features that sit at 0 and would go below are held there, and steps are cut
off at 0. The projection is done when ||gradient||_2 / number of constraints < eta and, of inequalities, no expectation is
above its bound by eta.

Not here: which features there are (constraints.pxd).
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy, memset

from lattice cimport VECTOR, Direction, alpha_rows, beta_rows, load, loglik, padded, real, room, splat, store, sum, vec

cdef extern from "real.h":
    real exponential(real x) noexcept nogil

cdef enum:
    MEMORY = 6     # pairs of steps and gradient changes that L-BFGS remembers
    MAX_STEP = 4   # largest change of a lam in one step
    HALVINGS = 8   # of a step, before giving up


cdef struct Factors:
    # What the features do to one direction. Of cells: entry x multiplies emission place[x] by exp(-sign * lam[feature[x]]).
    # Of state words: feature first + i multiplies all emissions of word i by exp(-lam).
    Direction* d
    int64_t n
    real sign
    int32_t* place    # [n] into emit and gamma
    int32_t* feature  # [n]
    real* base        # [n] emission at lam = 0; of state words, [J, K]
    int64_t first     # feature of the first state word, -1 if features are of cells


cdef struct Problem:
    Factors[2] sides        # forward, reverse
    int64_t n               # features
    int64_t N               # rounded up to whole vectors; all arrays below have this length, padded with zeros
    int64_t n_constraints   # what the gradient is measured by: those left out as fulfilled count too
    bint bounded            # E[f] <= b, lam >= 0; else E[f] = b
    real slack
    real* b
    real* lam
    real* gradient
    real* expected          # E_q[f]
    real* curvature         # diagonal of the Hessian
    real* trial
    real* old_gradient
    real* step
    real* weight            # exp(-lam) and exp(lam): [2, N]
    real* s                 # [MEMORY, N] steps
    real* y                 # [MEMORY, N] changes of the gradient
    real[MEMORY] rho        # 1 / (s . y)


cdef struct Outcome:
    double kl         # KL(q || p)
    double before     # ||E_p[f] - b||_2, of violated inequalities
    double after      # ||E_q[f] - b||_2, likewise
    double calls      # forward-backward calls of both directions
    double converged


cdef inline int64_t room_for_problem(int64_t I, int64_t J) noexcept nogil:
    """Reals that a problem of at most I * J or I + J features, and I * J entries a direction, needs."""
    return (10 + 2 * MEMORY) * padded(I * J + 1) + 4 * padded(I * J) + I * padded(J) + J * padded(I) + VECTOR


cdef inline void begin(Problem* p, Direction* fwd, Direction* rev, int64_t most, real** memory) noexcept nogil:
    """An empty problem with room for `most` entries in each direction."""
    cdef int64_t k
    p.sides[0].d = fwd
    p.sides[1].d = rev
    p.n = 0
    for k in range(2):
        p.sides[k].n = 0
        p.sides[k].sign = 1
        p.sides[k].place = <int32_t*>room(memory, padded(most))
        p.sides[k].feature = <int32_t*>room(memory, padded(most))
        p.sides[k].base = room(memory, p.sides[k].d.J * p.sides[k].d.K)
        p.sides[k].first = -1
    p.b = memory[0]  # grows with the features


cdef inline int64_t add_feature(Problem* p, real b) noexcept nogil:
    """A feature whose expectation is b or at most b; returns its number."""
    p.b[p.n] = b
    p.n += 1
    return p.n - 1


cdef inline void add_cell(Factors* side, int64_t place, int64_t feature) noexcept nogil:
    """The feature counts the link at `place` of emit."""
    side.place[side.n] = <int32_t>place
    side.feature[side.n] = <int32_t>feature
    side.base[side.n] = side.d.emit[place]
    side.n += 1


cdef inline void add_states(Problem* p, Factors* side, real b) noexcept nogil:
    """A feature for each state word of a direction, which counts its links."""
    cdef int64_t _i
    side.first = p.n
    memcpy(side.base, side.d.emit, side.d.J * side.d.K * sizeof(real))
    for _i in range(side.d.I):
        add_feature(p, b)


cdef inline void lay_out_vectors(Problem* p, real* memory) noexcept nogil:
    """The arrays of the solver, once all features are known; lam = 0."""
    cdef int64_t N = padded(p.n)
    p.N = N
    room(&memory, N)  # b
    memset(p.b + p.n, 0, (N - p.n) * sizeof(real))
    p.lam = room(&memory, N)
    p.gradient = room(&memory, N)
    p.expected = room(&memory, N)
    p.curvature = room(&memory, N)
    p.trial = room(&memory, N)
    p.old_gradient = room(&memory, N)
    p.step = room(&memory, N)
    p.weight = room(&memory, 2 * N)
    p.s = room(&memory, MEMORY * N)
    p.y = room(&memory, MEMORY * N)
    memset(p.lam, 0, N * sizeof(real))
    memset(p.trial, 0, N * sizeof(real))


cdef inline double dot(const real* a, const real* b, int64_t N) noexcept nogil:
    cdef vec total = splat(0)
    cdef int64_t c
    for c in range(0, N, 16):
        total = total + load(a + c) * load(b + c)
    return sum(total)


cdef inline double log_z(Problem* p) noexcept nogil:
    """log Z at the lam of the last alpha_rows."""
    cdef double total = 0
    cdef int64_t k
    for k in range(2):
        total += loglik(p.sides[k].d)
    return total


cdef inline double value(Problem* p, real* lam) noexcept nogil:
    """phi(lam) + log Z(0): tilts the emissions, and runs alpha_rows."""
    cdef int64_t k, x
    cdef Factors* side
    cdef const real* weight
    cdef double total = dot(p.b, lam, p.N) + p.slack * sqrt(dot(lam, lam, p.N))
    for k in range(p.N):
        p.weight[k] = exponential(-lam[k])
    for k in range(p.N):
        p.weight[p.N + k] = 1 / p.weight[k]
    for k in range(2):
        side = &p.sides[k]
        if side.first >= 0:
            for x in range(0, side.d.J * side.d.K, 16):
                store(side.d.emit + x, load(side.base + x) * load(p.weight + side.first + x % side.d.K))
            continue
        weight = p.weight if side.sign > 0 else p.weight + p.N
        for x in range(side.n):
            side.d.emit[side.place[x]] = side.base[x]
        for x in range(side.n):
            side.d.emit[side.place[x]] *= weight[side.feature[x]]
    alpha_rows(p.sides[0].d, p.sides[1].d)
    return total + log_z(p)


cdef inline void expect_states(Problem* p, Factors* side) noexcept nogil:
    cdef int64_t K = side.d.K, j, c, l
    cdef vec g, total, squares
    cdef real[VECTOR] mean
    cdef real[VECTOR] variance
    for c in range(0, K, 16):
        total = squares = splat(0)
        for j in range(side.d.J):
            g = load(side.d.gamma + j * K + c)
            total = total + g
            squares = squares + g * g
        store(mean, total)
        store(variance, total - squares)
        for l in range(min(VECTOR, side.d.I - c)):
            p.expected[side.first + c + l] = mean[l]
            p.curvature[side.first + c + l] = variance[l]


cdef inline void expect(Problem* p) noexcept nogil:
    """expected and curvature from gamma."""
    cdef int64_t k, x
    cdef Factors* side
    cdef real g
    memset(p.expected, 0, p.N * sizeof(real))
    memset(p.curvature, 0, p.N * sizeof(real))
    for k in range(2):
        side = &p.sides[k]
        if side.first >= 0:
            expect_states(p, side)
        for x in range(side.n):
            g = side.d.gamma[side.place[x]]
            p.expected[side.feature[x]] += side.sign * g
            p.curvature[side.feature[x]] += g * (1 - g)


cdef inline void hold(Problem* p) noexcept nogil:
    """Features of inequalities at lam = 0 that would go below do not move."""
    cdef int64_t k
    if p.bounded:
        for k in range(p.N):
            if p.lam[k] <= 0 and p.gradient[k] > 0:
                p.step[k] = 0


cdef inline double differentiate(Problem* p) noexcept nogil:
    """The gradient at lam, after expect; returns its norm without features held at 0.

    At lam = 0, where slack * ||lam|| has no gradient, it is that of the smallest subgradient.
    """
    cdef int64_t k
    cdef real norm = <real>sqrt(dot(p.lam, p.lam, p.N))
    cdef real pull = p.slack / norm if norm > 0 else 0
    cdef double steepest
    for k in range(p.N):
        p.gradient[k] = p.b[k] - p.expected[k] + pull * p.lam[k]
        p.step[k] = p.gradient[k]
    hold(p)
    steepest = sqrt(dot(p.step, p.step, p.N))
    return steepest if norm > 0 else max(steepest - p.slack, 0.0)


cdef inline double violation(Problem* p) noexcept nogil:
    cdef int64_t k
    cdef double total = 0, x
    for k in range(p.n):
        x = p.expected[k] - p.b[k]
        if x > 0 or not p.bounded:
            total += x * x
    return sqrt(total)


cdef inline void find_step(Problem* p, int64_t newest, int64_t n_pairs) noexcept nogil:
    """step = -H gradient, H the two-loop recursion of L-BFGS on top of the preconditioner."""
    cdef double[MEMORY] coefficient
    cdef int64_t k, x, at
    cdef real beta
    cdef real* s
    cdef real* y
    for k in range(p.N):
        p.step[k] = -p.gradient[k]
    hold(p)
    for x in range(n_pairs):
        at = (newest - x + MEMORY) % MEMORY
        s = p.s + at * p.N
        y = p.y + at * p.N
        coefficient[at] = p.rho[at] * dot(s, p.step, p.N)
        beta = <real>coefficient[at]
        for k in range(p.N):
            p.step[k] -= beta * y[k]
    hold(p)  # other features' past says nothing of them
    for k in range(p.N):
        p.step[k] /= p.curvature[k] + <real>0.02  # certain links have next to no variance
    for x in range(n_pairs - 1, -1, -1):
        at = (newest - x + MEMORY) % MEMORY
        s = p.s + at * p.N
        y = p.y + at * p.N
        beta = <real>(coefficient[at] - p.rho[at] * dot(y, p.step, p.N))
        for k in range(p.N):
            p.step[k] += beta * s[k]
    hold(p)


cdef inline real longest(const real* x, int64_t N) noexcept nogil:
    cdef int64_t k
    cdef real top = 0
    for k in range(N):
        top = max(top, max(x[k], -x[k]))
    return top


cdef inline bint is_done(Problem* p, double norm, double eta) noexcept nogil:
    """The stop rule, after differentiate, whose result is norm."""
    cdef int64_t k
    if p.bounded:
        for k in range(p.N):
            if p.gradient[k] <= -eta:
                return False
    return norm < eta * p.n_constraints


cdef inline void project(Problem* p, double eta, int64_t max_calls, Outcome* o) noexcept nogil:
    """Emit, alpha and gamma of both directions become, from those of p, those of q."""
    cdef double old = log_z(p), phi = old, new_phi, slope, norm, sy, yy
    cdef int64_t n_pairs = 0, newest = MEMORY - 1, at, k, _halving
    cdef int64_t calls = 1  # that of p
    cdef real size, cap
    cdef bint fell
    cdef real* swap
    expect(p)
    o.before += violation(p)
    norm = differentiate(p)
    while calls < max_calls and not is_done(p, norm, eta):
        find_step(p, newest, n_pairs)
        if dot(p.step, p.gradient, p.N) >= 0:  # no way down: the curvature seen so far misleads
            n_pairs = 0
            find_step(p, newest, 0)
        cap = longest(p.step, p.N)
        size = 1 if cap <= MAX_STEP else MAX_STEP / cap
        fell = False
        for _halving in range(HALVINGS + 1):
            for k in range(p.N):
                p.trial[k] = p.lam[k] + size * p.step[k]
            if p.bounded:
                for k in range(p.N):
                    p.trial[k] = max(p.trial[k], <real>0)
            slope = dot(p.gradient, p.trial, p.N) - dot(p.gradient, p.lam, p.N)
            new_phi = value(p, p.trial)
            calls += 1
            fell = new_phi <= phi + 1e-4 * slope + 1e-6 * (1 + fabs(phi))  # what phi is rounded by
            if fell or calls >= max_calls:
                break
            size *= <real>0.5
        if not fell:
            if n_pairs > 0 and calls < max_calls:  # once more without the past
                n_pairs = 0
                continue
            value(p, p.lam)  # back to where it was
            calls += 1
            beta_rows(p.sides[0].d, p.sides[1].d, False)
            expect(p)
            break
        beta_rows(p.sides[0].d, p.sides[1].d, False)
        at = (newest + 1) % MEMORY
        for k in range(p.N):
            p.s[at * p.N + k] = p.trial[k] - p.lam[k]
        swap = p.lam
        p.lam = p.trial
        p.trial = swap
        swap = p.gradient
        p.gradient = p.old_gradient
        p.old_gradient = swap
        expect(p)
        norm = differentiate(p)
        phi = new_phi
        for k in range(p.N):
            p.y[at * p.N + k] = p.gradient[k] - p.old_gradient[k]
        sy = dot(p.s + at * p.N, p.y + at * p.N, p.N)
        yy = dot(p.y + at * p.N, p.y + at * p.N, p.N)
        if sy > 1e-8 * yy:
            p.rho[at] = <real>(1 / sy)
            newest = at
            n_pairs = min(n_pairs + 1, MEMORY)
        else:
            n_pairs = min(n_pairs, MEMORY - 1)  # the oldest has been overwritten
    o.kl += -dot(p.lam, p.expected, p.N) - (phi - old - dot(p.b, p.lam, p.N) - p.slack * sqrt(dot(p.lam, p.lam, p.N)))
    o.after += violation(p)
    o.calls += calls
    o.converged *= is_done(p, norm, eta)
