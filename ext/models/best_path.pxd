"""The best path of a lattice (lattice.pxd): the most probable alignment of one direction (Viterbi).

Ties go to the first position, and to words. A row is found in vectors of positions: for each distance, what arrives from
there is compared with the best so far, the first positions first.
"""

from libc.stdint cimport int64_t
from libc.string cimport memset

from lattice cimport MARGIN, Direction
from vectors cimport VECTOR, load, real, splat, store, vec

cdef extern from "real.h":
    vec larger(vec x, vec y) noexcept nogil
    vec quotient(vec x, real y) noexcept nogil
    void take_larger(vec& best, vec& whose, vec x, vec name) noexcept nogil
    real largest(vec x) noexcept nogil


cdef inline void best_far(Direction* d) noexcept nogil:
    """up: the best arrival by a jump to the right bucket, of positions up to i - W - 1; down: to the left; work: from where.

    Less than anything where no position is so far.
    """
    cdef int64_t I = d.I, W = d.W, i, k, from_ = 0
    cdef real best = -1
    for i in range(I):
        k = i - W - 1
        if k >= 0 and d.u[k] * d.right[k] > best:
            best = d.u[k] * d.right[k]
            from_ = k
        d.up[i] = best
        d.work[i] = <real>from_
    best = -1
    for i in range(I - 1, -1, -1):
        k = i + W + 1
        if k < I and d.u[k] * d.left[k] >= best:
            best = d.u[k] * d.left[k]
            from_ = k
        d.down[i] = best
        d.work[d.K + i] = <real>from_


cdef inline void best_row(Direction* d, int64_t j) noexcept nogil:
    """Row j of delta, of the twins and of origins, from u and both of the row before."""
    cdef int64_t I = d.I, K = d.K, W = d.W, i, c, k
    cdef real* delta = d.alpha + j * K
    cdef real* twin = d.twin + j * K
    cdef real* origin = d.gamma + j * K
    cdef const real* emit = d.emit + j * K
    cdef real null = d.p0 * d.null[j], some = 1 - d.p0
    cdef bint far = j > 0 and I > W + 1
    cdef real[VECTOR] lanes
    cdef vec a, b, arrival, from_, top = splat(0)
    for i in range(VECTOR):
        lanes[i] = <real>i
    if far:
        best_far(d)
    for c in range(0, K, 16):
        if j == 0:
            a = load(d.start + c) * some
            b = load(d.start + c) * null
            from_ = splat(0)
        else:
            a = load(d.up + c) if far else splat(-1)
            from_ = load(d.work + c) if far else splat(0)
            for k in range(W, -W - 1, -1):  # positions from the first one on
                if d.classes == NULL:
                    arrival = load(d.u + c - k) * d.taps[k]
                else:
                    arrival = load(d.u + c - k) * load(d.taps + k * d.stride + c - k)
                take_larger(a, from_, arrival, load(lanes) + splat(<real>(c - k)))
            if far:
                take_larger(a, from_, load(d.down + c), load(d.work + K + c))
            b = load(d.both + c) * null
        a = a * load(emit + c)
        store(delta + c, a)
        store(twin + c, b)
        store(origin + c, from_)
        top = larger(top, larger(a, b))
    d.scale[j] = largest(top)
    for c in range(0, K, 16):
        a = quotient(load(delta + c), d.scale[j])
        b = quotient(load(twin + c), d.scale[j])
        store(delta + c, a)
        store(twin + c, b)
        a = larger(a, b)
        store(d.both + c, a)
        if c + 16 <= I:
            store(d.u + c, a * load(d.leave + c))
        else:
            for i in range(c, I):
                d.u[i] = d.both[i] * d.leave[i]


cdef inline void best_path(Direction* d) noexcept nogil:
    """gamma becomes 1 on the links of the best path, 0 elsewhere; nowhere the state word of each row, -1 for NULL.

    delta_j(i) = emit_j(i) * max_i' best_{j-1}(i') T(i', i)    twin_j(i) = p0 * null_j * best_{j-1}(i)
    best_j(i) = max(delta_j(i), twin_j(i)), rows scaled by their maximum. The path ends where best_{J-1}(i) * end(i) is
    largest. scale keeps the maxima, the last one times best and end there: log p(f, a | e) of the path is loglik.
    alpha keeps delta, twin the twins'; gamma, until the path is known, where each word came from.
    """
    cdef int64_t I = d.I, K = d.K, i, j, k
    cdef real* origin
    for i in range(-MARGIN, 0):  # what leaves where there is no position: less than anything that leaves one
        d.u[i] = -1
    for i in range(I, K + MARGIN):
        d.u[i] = -1
    for j in range(d.J):
        best_row(d, j)
    memset(d.u - MARGIN, 0, (K + 2 * MARGIN) * sizeof(real))
    k = 0
    for i in range(I):
        if d.both[i] * d.end[i] > d.both[k] * d.end[k]:
            k = i
    d.scale[d.J - 1] *= d.both[k] * d.end[k]
    for j in range(d.J - 1, -1, -1):
        origin = d.gamma + j * K
        i = k
        d.nowhere[j] = -1
        if d.alpha[j * K + i] >= d.twin[j * K + i]:  # the word itself, not its twin
            k = max(0, min(I - 1, <int64_t>origin[i]))
            d.nowhere[j] = <real>i
        memset(origin, 0, K * sizeof(real))
        if d.nowhere[j] >= 0:
            origin[i] = 1
