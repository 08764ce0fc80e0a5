"""A sentence pair of a mixture that has positions (places.pxd): its inverses, and what it says of positions."""

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t, uint8_t

from counts cimport atomic_add, fixed
from inputs cimport Text, Words
from mixture cimport PREFETCH, emission, has_known, inside, weight_of
from places cimport TABLE, Place, Places, fill_row, of_null, place_of, scale_of
from vectors cimport LEAST, real


cdef inline void invert_placed(
    Text* x, Words* w, Places* places, Py_ssize_t n, real floor, real* inv_fwd, real* inv_rev, real* nulls_fwd,
    real* nulls_rev, double* loglik, uint8_t* whole, real* room,
) noexcept nogil:
    """The inverses of sentence pair n's tokens (_mixture.pyx) and its two log-likelihoods; zero where a side is empty.

    whole  whether the lexicon has all word pairs of the sentence pair, and no link is known
    room   [2, J]
    """
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n], J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef int64_t i, j
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef const real* row
    cdef real* fwd = inv_fwd + (x.tgt_offsets[n] - x.tgt_offsets[0])
    cdef real* rev = inv_rev + (x.src_offsets[n] - x.src_offsets[0])
    cdef real* d_fwd = room
    cdef real* d_rev = room + J
    cdef real bare, weight
    cdef bint known = has_known(x, n)
    cdef Place place
    nulls_fwd += x.tgt_offsets[n] - x.tgt_offsets[0]
    nulls_rev += x.src_offsets[n] - x.src_offsets[0]
    loglik[0] = 0
    loglik[1] = 0
    whole[0] = True
    for j in range(J):
        fwd[j] = 0
        nulls_fwd[j] = 0
    for i in range(I):
        rev[i] = 0
        nulls_rev[i] = 0
    if I == 0 or J == 0:
        return
    place = place_of(places, x, n)
    for i in range(I):
        if i + 2 < I and src[i + 2] >= 0:
            row = w.t + 2 * w.rows[src[i + 2]]
            for j in range(2 * J, 3 * J):
                PREFETCH(row + 2 * cell[j])  # of the word after the next, wherever they are
        fill_row(&place, 0, i, d_fwd)
        fill_row(&place, 1, i, d_rev)
        bare = 0
        if not known and src[i] >= 0 and inside(cell, J, w.rows[src[i] + 1] - w.rows[src[i]]):
            row = w.t + 2 * w.rows[src[i]]
            for j in range(J):
                fwd[j] += d_fwd[j] * (floor + row[2 * cell[j]])
                bare += d_rev[j] * (floor + row[2 * cell[j] + 1])
        else:
            for j in range(J):
                weight = weight_of(x, n, i, j)
                fwd[j] += d_fwd[j] * (weight * emission(w, src[i], cell[j], 0, floor))
                bare += d_rev[j] * (weight * emission(w, src[i], cell[j], 1, floor))
            whole[0] = False
        cell += J
        finish(
            bare, floor + (w.null_rev[src[i]] if src[i] >= 0 else 0), scale_of(&place, 1, i), of_null(&place, 1, i),
            rev + i, nulls_rev + i, loglik + 1,
        )
    for j in range(J):
        finish(
            fwd[j], floor + (w.null_fwd[tgt[j]] if tgt[j] >= 0 else 0), scale_of(&place, 0, j), of_null(&place, 0, j),
            fwd + j, nulls_fwd + j, loglik,
        )


cdef inline void finish(
    real bare, real null, real scale, real p_null, real* inverse, real* nulls, double* loglik
) noexcept nogil:
    """The inverses of a token whose cells sum to bare, without the token's number in d, which is scale.

    A word whose emissions sum to less than LEAST has no translation left, and counts nothing.
    """
    cdef real total = p_null * null + scale * bare
    inverse[0] = scale / total if total > LEAST else 0
    nulls[0] = p_null / total if total > LEAST else 0
    loglik[0] += log(total) if total > LEAST else 0


cdef inline void count_places(
    Text* x, Words* w, Places* places, Py_ssize_t n, const real* inv_fwd, const real* inv_rev, const real* nulls_fwd,
    const real* nulls_rev, bint whole, bint agree, real* room,
) noexcept nogil:
    """Adds what sentence pair n says of positions. whole: as invert_placed found it; room: [3, J]

    A table counts the posteriors of its cells, and of NULL. The diagonal has at 0 the sum of posteriors times h, then
    for each generated word of a size the sum of its posteriors without NULL. Both numbers go into the update of the
    tension. With agreement both directions count the product of their posteriors.
    """
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n], J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef int64_t i, j, begin = places.starts[n], at
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef const real* row = NULL
    cdef real* d_fwd = room
    cdef real* d_rev = room + J
    cdef real* linked = room + 2 * J
    cdef real weight, f, r, sum_rev
    cdef double h, far_fwd = 0, far_rev = 0, down, across
    cdef Place place
    if I == 0 or J == 0 or begin < 0:
        return
    inv_fwd += x.tgt_offsets[n] - x.tgt_offsets[0]
    inv_rev += x.src_offsets[n] - x.src_offsets[0]
    nulls_fwd += x.tgt_offsets[n] - x.tgt_offsets[0]
    nulls_rev += x.src_offsets[n] - x.src_offsets[0]
    place = place_of(places, x, n)
    down, across = 1.0 / J, 1.0 / I
    for j in range(J):
        linked[j] = 0
        if place.kind == TABLE:
            atomic_add(places.counts[0] + begin + j + 1, fixed(nulls_fwd[j] * w.null_fwd[tgt[j]]))
    for i in range(I):
        fill_row(&place, 0, i, d_fwd)
        fill_row(&place, 1, i, d_rev)
        sum_rev = 0
        at = begin + (i + 1) * (J + 1)
        if place.kind == TABLE:
            atomic_add(places.counts[1] + at, fixed(nulls_rev[i] * w.null_rev[src[i]]))
        if whole:
            row = w.t + 2 * w.rows[src[i]]
        for j in range(J):
            if whole:
                f = d_fwd[j] * row[2 * cell[j]] * inv_fwd[j]
                r = d_rev[j] * row[2 * cell[j] + 1] * inv_rev[i]
            else:
                weight = weight_of(x, n, i, j)
                f = d_fwd[j] * (weight * emission(w, src[i], cell[j], 0, 0)) * inv_fwd[j]
                r = d_rev[j] * (weight * emission(w, src[i], cell[j], 1, 0)) * inv_rev[i]
            if agree:
                f = r = f * r
            if place.kind == TABLE:
                atomic_add(places.counts[0] + at + j + 1, fixed(f))
                atomic_add(places.counts[1] + at + j + 1, fixed(r))
            else:
                h = (i + 1) * across - (j + 1) * down
                h = h if h > 0 else -h
                far_fwd += f * h
                far_rev += r * h
                linked[j] += f
                sum_rev += r
        if place.kind != TABLE:
            atomic_add(places.counts[1] + 1 + begin + i, fixed(sum_rev))
        cell += J
    if place.kind != TABLE:
        atomic_add(places.counts[0], fixed(far_fwd))
        atomic_add(places.counts[1], fixed(far_rev))
        for j in range(J):
            atomic_add(places.counts[0] + 1 + begin + j, fixed(linked[j]))
