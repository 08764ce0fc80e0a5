"""The nearest point of a polytope that is an intersection of simple sets, by Dykstra's alternating projections.

A simple set bounds some of the variables, its members:

    0 <= z[v] <= 1 for each member v,    sum over members of sign z[v] <= bound,    sign = 1 or -1

The nearest point of one set is clip(y - lam sign, 0, 1), lam = 0 if that is in the set, else the lam > 0 at which the sum
is the bound. The sum falls with lam, and is straight between the lam at which a variable reaches 0 or 1: `multiplier`
sorts these, finds the two between which the bound is reached, and draws the line.

Dykstra (Boyle & Dykstra 1986) goes through the sets again and again, and remembers what each one changed:

    y = z + change[set],  z = nearest point of the set to y,  change[set] = y - z

z tends to the nearest point of the intersection. This is ascent of the dual of the problem, one set after another, so that
it may begin with any changes, with z = x - their sum: those of a point nearby save most of the work. A set moves z by as
much as its change changes. So z has come to rest when no set moves a variable by more than the tolerance.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport fabs
from libc.stdint cimport int8_t, int64_t
from libcpp.algorithm cimport sort

import numpy as np

from checks cimport check_offsets, check_threads


def project(
    const int64_t[::1] sets not None,     # IN, [S + 1] those of sentence pair n: sets[n] to sets[n + 1]
    const int64_t[::1] offsets not None,  # IN, [n_sets + 1] members of a set: offsets[set] to offsets[set + 1]
    const int64_t[::1] members not None,  # IN, [n_members] variables; sentence pairs have none in common
    const int8_t[::1] signs not None,     # IN, [n_members] 1 or -1
    const double[::1] bounds not None,    # IN, [n_sets] 0 or more
    double[::1] z not None,               # IN and OUT, [V] a point -> its projection
    double[::1] changes not None,         # IN and OUT, [n_members] 0, or those of the last point
    double tolerance,                     # IN
    int most_sweeps,                      # IN
    int n_threads,
):
    """The largest step of a variable in the last sweep of a sentence pair: above the tolerance if sweeps ran out."""
    cdef Py_ssize_t S = sets.shape[0] - 1, n
    cdef int64_t n_sets = offsets.shape[0] - 1, largest = 0, k
    check_threads(n_threads)
    check_offsets("offsets", offsets, n_sets, members.shape[0])
    check_offsets("sets", sets, S, n_sets)
    if members.shape[0] != signs.shape[0] or members.shape[0] != changes.shape[0] or bounds.shape[0] != n_sets:
        raise ValueError("members, signs, bounds and changes do not fit together")
    for k in range(members.shape[0]):
        if not 0 <= members[k] < z.shape[0]:
            raise ValueError(f"there is no variable {members[k]}")
        if signs[k] != 1 and signs[k] != -1:
            raise ValueError(f"a sign is 1 or -1, not {signs[k]}")
    for k in range(n_sets):
        if offsets[k + 1] == offsets[k] or not bounds[k] >= 0:
            raise ValueError(f"set {k} has no members, or a bound below 0")
        largest = max(largest, offsets[k + 1] - offsets[k])
    if S == 0 or largest == 0:
        return 0.0
    steps = np.zeros(S)
    cdef double[::1] step = steps
    cdef double[:, ::1] rooms = np.empty((n_threads, 3 * largest))
    for n in prange(S, schedule="dynamic", num_threads=n_threads, nogil=True):
        step[n] = settle(
            sets[n], sets[n + 1], offsets, members, signs, bounds, z, changes, tolerance, most_sweeps,
            &rooms[threadid(), 0], largest,
        )
    return float(steps.max())


cdef double settle(
    int64_t begin, int64_t end, const int64_t[::1] offsets, const int64_t[::1] members, const int8_t[::1] signs,
    const double[::1] bounds, double[::1] z, double[::1] changes, double tolerance, int most_sweeps,
    double* room, int64_t largest,
) noexcept nogil:
    """Projects the variables of one sentence pair."""
    cdef int64_t k, m, size, first
    cdef int _sweep
    cdef double* y = room            # [largest]
    cdef double* points = y + largest  # [2 largest]
    cdef double lam, moved, near, step = 0
    for m in range(offsets[begin], offsets[end]):
        z[members[m]] -= changes[m]
    for _sweep in range(most_sweeps):
        step = 0
        for k in range(begin, end):
            first = offsets[k]
            size = offsets[k + 1] - first
            for m in range(size):
                y[m] = z[members[first + m]] + changes[first + m]
            lam = multiplier(size, y, &signs[first], bounds[k], points)
            for m in range(size):
                near = clipped(y[m] - lam * signs[first + m])
                moved = fabs(near - z[members[first + m]])
                step = max(step, moved)
                z[members[first + m]] = near
                changes[first + m] = y[m] - near
        if step <= tolerance:
            break
    return step


cdef double multiplier(int64_t size, const double* y, const int8_t* signs, double bound, double* points) noexcept nogil:
    """The least lam >= 0 at which the sum of sign clip(y - lam sign, 0, 1) is at most the bound.

    y       [size]
    points  [2 size] room for the lam > 0 at which a variable reaches 0 or 1
    """
    cdef int64_t m, n = 0, low, high, middle
    cdef double begin, end, above, below, found
    above = total(size, y, signs, 0)
    if not above > bound:  # nor if y is no number
        return 0
    for m in range(size):
        # sign 1: y - lam = 1, y - lam = 0; sign -1: y + lam = 0, y + lam = 1
        begin = y[m] - 1 if signs[m] > 0 else -y[m]
        if begin > 0:
            points[n] = begin
            n += 1
        if begin + 1 > 0:
            points[n] = begin + 1
            n += 1
    sort(points, points + n)
    low, high = -1, n - 1  # at points[high] the sum is at most the bound: no variable of sign 1 is left
    begin = 0
    below = total(size, y, signs, points[high])
    while high - low > 1:
        middle = (low + high) // 2
        found = total(size, y, signs, points[middle])
        if found > bound:
            low = middle
            above = found
        else:
            high = middle
            below = found
    begin = points[low] if low >= 0 else 0
    end = points[high]
    return begin + (end - begin) * min(1.0, (above - bound) / (above - below))


cdef inline double total(int64_t size, const double* y, const int8_t* signs, double lam) noexcept nogil:
    cdef double found = 0
    for m in range(size):
        found += signs[m] * clipped(y[m] - lam * signs[m])
    return found


cdef inline double clipped(double x) noexcept nogil:
    return min(max(x, 0.0), 1.0)
