"""L-BFGS with a preconditioner and lower bounds. The solver knows a function, its gradient and arrays, nothing else.

    minimise   F(x) = f(x) + slack * ||x||_2     over x >= lower, lower -infinity or finite

Two functions say what f is: `value` finds f(x); `slope` finds, at the x of the last `value`, the gradient of f and a
positive diagonal that stands for its Hessian. The last call of `value` is always at the x that the solver
leaves: what `value` keeps of its last x (a lattice, say) belongs to the solution.

A step is -H gradient: H starts as the inverse of the diagonal and learns from the last MEMORY steps (the two-loop
recursion; Nocedal & Wright, ch. 7). Steps are cut so that no variable changes by more than max_step, cut off at the
bounds, and halved until F falls enough (Armijo). A variable at its bound whose gradient points beyond is held there. Where
no step makes F fall, the solver forgets the past steps; where no step helps even then, the solver stops.

||x|| has no gradient at x = 0. There the solver takes the gradient of f, and reduces its norm by slack: the result is
the norm of the smallest subgradient.

x, lower, gradient, ...   [N] variables, n rounded up to whole vectors; the rest is zero
s, y                      [MEMORY, N] steps, and changes of the gradient
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int64_t

from vectors cimport load, padded, real, room, splat, sum, vec


cdef enum:
    MEMORY = 6    # steps that are remembered
    HALVINGS = 8  # of a step, before giving up

ctypedef double (*Value)(void* context, const real* x) noexcept nogil
ctypedef void (*Slope)(void* context, const real* x, real* gradient, real* diagonal) noexcept nogil


cdef struct Solver:
    Value find_value
    Slope find_slope
    void* context      # the first argument of both
    int64_t n, N
    bint bounded       # some lower is finite
    real slack
    real max_step
    double rounding    # relative error of f
    double tolerance   # stop when the norm of the gradient is below it,
    double worst       # and no gradient of a bounded variable is at -worst or below
    int64_t max_calls  # of value at most; one more may be needed to go back
    real* x
    real* lower
    real* gradient
    real* diagonal
    real* trial
    real* old_gradient
    real* step
    real* s
    real* y
    real[MEMORY] rho   # 1 / (s . y)
    double F           # at x
    int64_t calls      # of value so far, that at the first x included
    bint converged


cdef inline int64_t room_for_solver(int64_t n) noexcept nogil:
    """How many reals a solver of n variables needs, without lower."""
    return (6 + 2 * MEMORY) * padded(n)


cdef inline void lay_out_solver(Solver* o, int64_t n, real* memory) noexcept nogil:
    """Gives the arrays of a solver their places; x = 0."""
    cdef int64_t N = padded(n), k
    o.n = n
    o.N = N
    o.x = room(&memory, N)
    o.trial = room(&memory, N)
    o.gradient = room(&memory, N)
    o.diagonal = room(&memory, N)
    o.old_gradient = room(&memory, N)
    o.step = room(&memory, N)
    o.s = room(&memory, MEMORY * N)
    o.y = room(&memory, MEMORY * N)
    for k in range(N):
        o.x[k] = o.trial[k] = 0


cdef inline double dot(const real* a, const real* b, int64_t N) noexcept nogil:
    cdef vec total = splat(0)
    cdef int64_t c
    for c in range(0, N, 16):
        total = total + load(a + c) * load(b + c)
    return sum(total)


cdef inline real longest(const real* x, int64_t N) noexcept nogil:
    """The largest absolute value."""
    cdef int64_t k
    cdef real top = 0
    for k in range(N):
        top = max(top, max(x[k], -x[k]))
    return top


cdef inline double evaluate(Solver* o, const real* x) noexcept nogil:
    """F(x)"""
    o.calls += 1
    return o.find_value(o.context, x) + o.slack * sqrt(dot(x, x, o.N))


cdef inline void hold(Solver* o) noexcept nogil:
    """Takes variables out of the step that are at their bounds and whose gradients point beyond."""
    cdef int64_t k
    if o.bounded:
        for k in range(o.N):
            if o.x[k] <= o.lower[k] and o.gradient[k] > 0:
                o.step[k] = 0


cdef inline bint differentiate(Solver* o) noexcept nogil:
    """The gradient of F at x, after `evaluate` there; returns whether the solver is done."""
    cdef int64_t k
    cdef real norm = <real>sqrt(dot(o.x, o.x, o.N))
    cdef real pull = o.slack / norm if norm > 0 else 0
    cdef double steepest, worst
    o.find_slope(o.context, o.x, o.gradient, o.diagonal)
    for k in range(o.N):
        o.gradient[k] = o.gradient[k] + pull * o.x[k]
        o.step[k] = o.gradient[k]
    hold(o)
    steepest = sqrt(dot(o.step, o.step, o.N))
    worst = o.worst
    if norm == 0:
        steepest = max(steepest - o.slack, 0.0)
        worst += o.slack
    if o.bounded:
        for k in range(o.n):
            if o.gradient[k] <= -worst and o.lower[k] > -INFINITY:
                return False
    return steepest < o.tolerance


cdef inline void find_step(Solver* o, int64_t newest, int64_t n_pairs) noexcept nogil:
    """step = -H gradient, by the two-loop recursion over the last n_pairs steps."""
    cdef double[MEMORY] coefficient
    cdef int64_t k, x, at
    cdef real beta
    cdef real* s
    cdef real* y
    for k in range(o.N):
        o.step[k] = -o.gradient[k]
    hold(o)
    for x in range(n_pairs):
        at = (newest - x + MEMORY) % MEMORY
        s = o.s + at * o.N
        y = o.y + at * o.N
        coefficient[at] = o.rho[at] * dot(s, o.step, o.N)
        beta = <real>coefficient[at]
        for k in range(o.N):
            o.step[k] -= beta * y[k]
    hold(o)  # past steps do not move variables that are held
    for k in range(o.N):
        o.step[k] /= o.diagonal[k]
    for x in range(n_pairs - 1, -1, -1):
        at = (newest - x + MEMORY) % MEMORY
        s = o.s + at * o.N
        y = o.y + at * o.N
        beta = <real>(coefficient[at] - o.rho[at] * dot(y, o.step, o.N))
        for k in range(o.N):
            o.step[k] += beta * s[k]
    hold(o)


cdef inline bint search_line(Solver* o) noexcept nogil:
    """Halves the step until F falls: trial is then the new x, and F its value. False: F does not fall, x and F stay."""
    cdef real top = longest(o.step, o.N)
    cdef real size = 1 if top <= o.max_step else o.max_step / top
    cdef int64_t k, _halving
    cdef double slope, F
    for _halving in range(HALVINGS + 1):
        for k in range(o.N):
            o.trial[k] = o.x[k] + size * o.step[k]
        if o.bounded:
            for k in range(o.N):
                o.trial[k] = max(o.trial[k], o.lower[k])
        slope = dot(o.gradient, o.trial, o.N) - dot(o.gradient, o.x, o.N)
        F = evaluate(o, o.trial)
        if F <= o.F + 1e-4 * slope + o.rounding * (1 + fabs(o.F)):
            o.F = F
            return True
        if o.calls >= o.max_calls:
            return False
        size *= <real>0.5
    return False


cdef inline void swap(real** a, real** b) noexcept nogil:
    cdef real* other = a[0]
    a[0] = b[0]
    b[0] = other


cdef inline void minimize(Solver* o) noexcept nogil:
    """Minimises F from x on. The last call of `value` was at x and found F. Sets x, F, calls and converged."""
    cdef int64_t n_pairs = 0, newest = MEMORY - 1, at, k
    cdef double sy, yy
    o.calls = 1
    o.converged = differentiate(o)
    while o.calls < o.max_calls and not o.converged:
        find_step(o, newest, n_pairs)
        if dot(o.step, o.gradient, o.N) >= 0:  # no way down: the curvature seen so far misleads
            n_pairs = 0
            find_step(o, newest, 0)
        if not search_line(o):
            if n_pairs > 0 and o.calls < o.max_calls:  # once more without the past
                n_pairs = 0
                continue
            evaluate(o, o.x)  # so that the last call of `value` is at x; the gradient still is
            return
        at = (newest + 1) % MEMORY
        for k in range(o.N):
            o.s[at * o.N + k] = o.trial[k] - o.x[k]
        swap(&o.x, &o.trial)
        swap(&o.gradient, &o.old_gradient)
        o.converged = differentiate(o)
        for k in range(o.N):
            o.y[at * o.N + k] = o.gradient[k] - o.old_gradient[k]
        sy = dot(o.s + at * o.N, o.y + at * o.N, o.N)
        yy = dot(o.y + at * o.N, o.y + at * o.N, o.N)
        if sy > 1e-8 * yy:
            o.rho[at] = <real>(1 / sy)
            newest = at
            n_pairs = min(n_pairs + 1, MEMORY)
        else:
            n_pairs = min(n_pairs, MEMORY - 1)  # the oldest has been overwritten
