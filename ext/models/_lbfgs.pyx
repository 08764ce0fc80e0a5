"""The solver (lbfgs.pxd) for functions in Python, in double precision: for tests, and for what is learned in Python."""

from cpython.ref cimport PyObject
from libc.math cimport sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free

import numpy as np

from lbfgs cimport Solver, dot, lay_out_solver, minimize as run, room_for_solver
from vectors cimport padded, real


cdef class Problem:
    """A function in Python, its last x, its gradient and diagonal there, and the exception that it raised."""
    cdef object function, x, gradient, diagonal, raised
    cdef int64_t n


cdef double find_value(void* context, const real* x) noexcept nogil:
    with gil:
        return ask(<Problem><PyObject*>context, x)


cdef double ask(Problem p, const real* x):
    """f(x); after an exception infinity, so that the solver stops."""
    cdef double[::1] copy = np.empty(p.n)
    cdef int64_t k
    if p.raised is not None:
        return float("inf")
    for k in range(p.n):
        copy[k] = x[k]
    p.x = np.asarray(copy)
    try:
        value, p.gradient, p.diagonal = p.function(p.x)
        p.gradient = np.ascontiguousarray(p.gradient, dtype=np.float64).reshape(p.n)
        p.diagonal = np.ascontiguousarray(p.diagonal, dtype=np.float64).reshape(p.n)
        if not np.min(p.diagonal) > 0:
            raise ValueError("the diagonal must be positive")
        return value
    except BaseException as error:
        p.raised = error
        p.gradient, p.diagonal = np.zeros(p.n), np.ones(p.n)
        return float("inf")


cdef void find_slope(void* context, const real* x, real* gradient, real* diagonal) noexcept nogil:
    with gil:
        tell(<Problem><PyObject*>context, gradient, diagonal)


cdef void tell(Problem p, real* gradient, real* diagonal):
    cdef double[::1] g = p.gradient
    cdef double[::1] d = p.diagonal
    cdef int64_t k
    for k in range(padded(p.n)):
        gradient[k] = g[k] if k < p.n else 0
        diagonal[k] = d[k] if k < p.n else 1


def minimize(
    function,                          # IN, x -> (f(x), its gradient, a positive diagonal that stands for its Hessian)
    const double[::1] start not None,  # IN, [n]
    const double[::1] lower=None,      # IN, [n] bounds, -inf or finite; None: all are -inf
    double slack=0,                    # IN, of slack * ||x||_2, which is added to f
    double tolerance=1e-8,             # IN, of the gradient's norm
    double worst=np.inf,               # IN, at the end no bounded variable has a gradient of -worst or less
    double max_step=np.inf,            # IN
    double rounding=1e-15,             # IN
    int64_t max_calls=1000,            # IN
):
    """Minimises F(x) = f(x) + slack * ||x||_2 over x >= lower; returns (x, F(x), calls, converged)."""
    cdef Problem p = Problem()
    cdef Solver o
    cdef int64_t n = start.shape[0], k
    cdef real* memory
    if lower is not None and (lower.shape[0] != n or not np.all(np.asarray(lower) <= np.asarray(start))):
        raise ValueError(f"start and its lower bounds must be {n} numbers, and start above the bounds")
    if n == 0 or not np.isfinite(start).all():
        raise ValueError("start must be numbers")
    memory = <real*>calloc(room_for_solver(n) + 2 * padded(n), sizeof(real))
    if memory == NULL:
        raise MemoryError("no room for the solver")
    try:
        lay_out_solver(&o, n, memory + padded(n))
        o.lower = memory
        o.bounded = lower is not None
        for k in range(n):
            o.x[k] = start[k]
            o.lower[k] = -np.inf if lower is None else lower[k]
        o.find_value = find_value
        o.find_slope = find_slope
        o.context = <PyObject*>p
        o.slack = slack
        o.max_step = max_step
        o.rounding = rounding
        o.tolerance = tolerance
        o.worst = worst
        o.max_calls = max_calls
        p.function = function
        p.n = n
        o.F = ask(p, o.x) + slack * sqrt(dot(o.x, o.x, o.N))
        if p.raised is None:
            run(&o)
        if p.raised is not None:
            raise p.raised
        x = np.empty(n)
        for k in range(n):
            x[k] = o.x[k]
        return x, o.F, o.calls, bool(o.converged)
    finally:
        free(memory)
