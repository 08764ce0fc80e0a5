"""Terms of the surrogate of the HMM (skips.pxd), sixteen at once, and what they count.

Lane j has term j, that is word j on the left and word j + 1 on the right:

    term = sum_{i, i'} A(i) T(i, i') B(i')     A(i) = emit_j(i) d(i | j)     B(i) = emit_{j+1}(i)
    left(i) = A(i) (T B)(i)     right(i') = B(i') (T' A)(i')     both sum to the term, NULL among the i

T B and T' A are running sums over the given words (skips.pxd), down first, then up. Lanes beyond the last term have
emissions of 0, their term is 0, and they count nothing.
"""

from libc.stdint cimport int64_t

from skips cimport Direction, smaller
from vectors cimport VECTOR, load, real, splat, store, vec

cdef extern from *:
    """
    /* weight / x, lane by lane; 0 for an x that is less than LEAST. */
    static inline vec share_of(const vec &x, real weight) {
        const vec least = splat(LEAST);
        return x > least ? splat(weight) / (x > least ? x : splat(1)) : splat(0);
    }
    """
    vec share_of(vec x, real weight) noexcept nogil


cdef inline vec weigh(Direction* d, int64_t c) noexcept nogil:
    """The factor that makes of exp(-tension |i / I - j / J|) a place, of sixteen words."""
    cdef int64_t i
    cdef vec total = splat(0)
    for i in range(d.I):
        total = total + near(d, i, c)
    return share_of(total, 1 - d.p0)


cdef inline vec near(Direction* d, int64_t i, int64_t c) noexcept nogil:
    """exp(-tension |i / I - j / J|) of sixteen words j is the smaller of two quotients, each a product here."""
    return smaller(load(d.row_fall + c) * d.rise[i], load(d.row_rise + c) * d.fall[i])


cdef inline void add_terms(Direction* d, int64_t c, real weight, real* sums) noexcept nogil:
    """Adds weight times the marginals of terms c to c + 15 to gamma and nowhere. sums [16]: the terms"""
    cdef int64_t I = d.I, P = d.P, centre = d.centre, i, x
    cdef const real* emit = d.emit + c
    cdef real* gamma
    cdef real* a = d.work                              # [I] A
    cdef real* left = a + (I + 2) * VECTOR             # [I]
    cdef real* right = left + (I + 2) * VECTOR         # [I]
    cdef real* down_a = right + (I + 2) * VECTOR       # [I + 2] running sums of what leaves, from the last word on
    cdef real* down_b = down_a + (I + 2) * VECTOR      # [I + 2] of B
    cdef vec here, all_a = splat(0), all_b = splat(0), total = splat(0), sum_a = splat(0), sum_b = splat(0), part
    cdef vec a_null = load(d.null + c) * d.p0, b_null = load(d.null + c + 1), left_null, right_null
    part = weigh(d, c)
    for i in range(I):
        here = load(emit + i * P) * (near(d, i, c) * part)
        store(a + i * VECTOR, here)
        all_a = all_a + here
        all_b = all_b + load(emit + i * P + 1)
    store(down_a + (I + 1) * VECTOR, sum_a)
    store(down_b + (I + 1) * VECTOR, sum_b)
    for x in range(I, -1, -1):
        sum_a = sum_a * d.r
        sum_b = sum_b * d.r
        if 0 <= x - centre < I:
            sum_a = sum_a + load(a + (x - centre) * VECTOR) * d.leave[x - centre]
        if x < I:
            sum_b = sum_b + load(emit + x * P + 1)
        store(down_a + x * VECTOR, sum_a)
        store(down_b + x * VECTOR, sum_b)
    sum_a = sum_b = splat(0)
    for x in range(I + centre):
        sum_a = sum_a * d.r
        sum_b = sum_b * d.r
        i = x - centre
        if i >= 0:
            sum_a = sum_a + load(a + i * VECTOR) * d.leave[i]
        if x < I:
            here = load(emit + x * P + 1)
            sum_b = sum_b + here
            store(right + x * VECTOR, here * (sum_a + load(down_a + (x + 1) * VECTOR) * d.r + a_null * d.p0))
        if i >= 0:
            here = (sum_b + load(down_b + (x + 1) * VECTOR) * d.r) * d.leave[i] + b_null * d.p0
            here = here * load(a + i * VECTOR)
            store(left + i * VECTOR, here)
            total = total + here
    left_null = a_null * d.p0 * (all_b + b_null)
    right_null = b_null * d.p0 * (all_a + a_null)
    total = total + left_null
    store(sums, total)
    part = share_of(total, weight)
    for i in range(I):
        gamma = d.gamma + i * P + c
        store(gamma, load(gamma) + load(left + i * VECTOR) * part)
        store(gamma + 1, load(gamma + 1) + load(right + i * VECTOR) * part)
    store(d.nowhere + c, load(d.nowhere + c) + left_null * part)
    store(d.nowhere + c + 1, load(d.nowhere + c + 1) + right_null * part)


cdef inline void add_mixtures(Direction* d, int64_t c, bint placed, bint root, real weight, real* sums) noexcept nogil:
    """Adds weight times the posteriors of words c to c + 15, each by itself, by Model 2 with these places, or by Model 1.

    root: the emissions are roots; sums [16]: the words' sums
    """
    cdef int64_t I = d.I, P = d.P, i
    cdef const real* emit = d.emit + c
    cdef real* gamma
    cdef vec here, null = load(d.null + c), total = splat(0), part = splat(d.p0)
    null = null * d.p0 * (null if root else splat(1))
    if placed:
        part = weigh(d, c)
    for i in range(I):
        here = load(emit + i * P) * part
        if placed:
            here = here * near(d, i, c)
        if root:
            here = here * load(emit + i * P)
        store(d.work + i * VECTOR, here)
        total = total + here
    total = total + null
    store(sums, total)
    part = share_of(total, weight)
    for i in range(I):
        gamma = d.gamma + i * P + c
        store(gamma, load(gamma) + load(d.work + i * VECTOR) * part)
    store(d.nowhere + c, load(d.nowhere + c) + null * part)
