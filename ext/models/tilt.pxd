"""Tilting: how features of links change the emissions of one direction; their expectations under its posteriors.

A feature f_k counts links, each with a coefficient. Tilted by lam, the lattice has the posteriors q ~ p exp(-lam . f):
emission (j, i) is multiplied by exp(-sum_k coefficient_k lam_k) over the features that count link (i, j).

Features come in three kinds. The first two are special cases that cost less:

    cells        entry x: feature[x] counts the link at place[x] of emit, with the coefficient `sign`
    state words  feature first + i counts all links of state word i, with the coefficient 1
    extra        entry x: feature[x] counts the link at place[x] of emit, with the coefficient coefficient[x]
"""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from lattice cimport Direction
from vectors cimport VECTOR, exponential, load, padded, real, room, splat, store, vec


cdef struct Entries:
    int64_t n
    int32_t* place      # [n] into emit and gamma
    int32_t* feature    # [n]
    real* base          # [n] emission at lam = 0


cdef struct Tilt:
    Direction* d
    real sign           # of cells: 1 or -1
    Entries cells
    Entries extra
    real* coefficient   # [extra.n]
    int64_t first       # feature of the first state word; -1: there are none
    real* base          # [J, K] emissions at lam = 0, if there are features of state words


cdef inline int64_t room_for_tilt(int64_t I, int64_t J, int64_t n_extra) noexcept nogil:
    """Reals for at most I * J entries of cells and n_extra entries. State words and cells share the room of base."""
    return 2 * padded(I * J) + J * padded(I) + 4 * padded(n_extra)


cdef inline void lay_out_tilt(Tilt* t, Direction* d, int64_t n_extra, real** memory) noexcept nogil:
    """Makes t a tilt without features, and gives its arrays their places."""
    t.d = d
    t.sign = 1
    t.first = -1
    t.cells.n = 0
    t.cells.place = <int32_t*>room(memory, padded(d.I * d.J))
    t.cells.feature = <int32_t*>room(memory, padded(d.I * d.J))
    t.cells.base = t.base = room(memory, d.J * d.K)
    t.extra.n = 0
    t.extra.place = <int32_t*>room(memory, padded(n_extra))
    t.extra.feature = <int32_t*>room(memory, padded(n_extra))
    t.extra.base = room(memory, padded(n_extra))
    t.coefficient = room(memory, padded(n_extra))


cdef inline void add_entry(Entries* x, Direction* d, int64_t place, int64_t feature) noexcept nogil:
    """The feature counts the link at `place` of emit."""
    x.place[x.n] = <int32_t>place
    x.feature[x.n] = <int32_t>feature
    x.base[x.n] = d.emit[place]
    x.n += 1


cdef inline void add_states(Tilt* t, int64_t first) noexcept nogil:
    """Feature first + i counts the links of state word i."""
    t.first = first
    memcpy(t.base, t.d.emit, t.d.J * t.d.K * sizeof(real))


cdef inline void tilt(Tilt* t, const real* lam, const real* weight, int64_t N) noexcept nogil:
    """Sets emit to the emissions at lam. weight: [2, N] exp(-lam) and exp(lam)."""
    cdef int64_t x
    cdef real* emit = t.d.emit
    if t.first >= 0:
        for x in range(0, t.d.J * t.d.K, 16):
            store(emit + x, load(t.base + x) * load(weight + t.first + x % t.d.K))
    else:
        for x in range(t.extra.n):
            emit[t.extra.place[x]] = t.extra.base[x]
        for x in range(t.cells.n):
            emit[t.cells.place[x]] = t.cells.base[x]
    if t.sign < 0:
        weight += N
    for x in range(t.cells.n):
        emit[t.cells.place[x]] *= weight[t.cells.feature[x]]
    for x in range(t.extra.n):
        emit[t.extra.place[x]] *= exponential(-t.coefficient[x] * lam[t.extra.feature[x]])


cdef inline void add_expected(Tilt* t, real* expected, real* variance) noexcept nogil:
    """Adds E_q[f_k] and its variance, as if links were independent of each other, from gamma.

    expected_k = sum coefficient * g      variance_k = sum coefficient^2 * g (1 - g)
    """
    cdef int64_t K = t.d.K, x, j, c, l
    cdef real g, a
    cdef vec row, total, squares
    cdef real[VECTOR] mean
    cdef real[VECTOR] spread
    if t.first >= 0:
        for c in range(0, K, 16):
            total = squares = splat(0)
            for j in range(t.d.J):
                row = load(t.d.gamma + j * K + c)
                total = total + row
                squares = squares + row * row
            store(mean, total)
            store(spread, total - squares)
            for l in range(min(VECTOR, t.d.I - c)):
                expected[t.first + c + l] = mean[l]
                variance[t.first + c + l] = spread[l]
    for x in range(t.cells.n):
        g = t.d.gamma[t.cells.place[x]]
        expected[t.cells.feature[x]] += t.sign * g
        variance[t.cells.feature[x]] += g * (1 - g)
    for x in range(t.extra.n):
        g = t.d.gamma[t.extra.place[x]]
        a = t.coefficient[x]
        expected[t.extra.feature[x]] += a * g
        variance[t.extra.feature[x]] += a * a * g * (1 - g)
