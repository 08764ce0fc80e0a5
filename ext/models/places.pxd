"""Where a word is believed to be linked, whatever the words: the positions of Model 2 and of the diagonal model.

A sentence pair has I source words and J target words. i and j count from 0 in code and from 1 in these formulas.

    table     p(i | j, I, J) is any number; a size (I, J) that is not in the table has 1 / (I + 1) (Brown et al. 1993)
    diagonal  p(NULL | j) = p0, p(i | j) = (1 - p0) exp(-tension h) / Z, h = |i / I - j / J|, Z = sum_i exp(-tension h)
              (Dyer, Chahuneau & Smith 2013)

The reverse direction has the sides swapped, and numbers of its own.

Exponentials of cells are products: exp(-tension h) = min(up(i, I) down(j, J), down(i, I) up(j, J)), where ramps hold
up(k, L) = exp(tension k / L) and down(k, L) = exp(-tension k / L) of every length L. A tension of at most 80 keeps the
products within float.
"""

from libc.stdint cimport int64_t

from inputs cimport Text
from vectors cimport real

cdef enum:
    FLAT = 0      # Model 1
    TABLE = 1     # Model 2
    DIAGONAL = 2


cdef struct Ramps:
    # Numbers of lengths L = 1 ... longest, for the tension of one direction; k = 0 ... L
    int64_t longest
    const int64_t* starts  # [longest + 1] length -> where its L + 1 numbers begin; -1: there are none
    const double* up       # exp(tension k / L)
    const double* down     # exp(-tension k / L)
    const double* gap      # 1 - exp(-tension k / L)


cdef struct Places:
    # The positions of a shard (aligner/models/places.py). Index 0 is forward, 1 is reverse.
    int kind
    real floor                # added to the table's probabilities
    const real* table[2]      # of each size [I + 1, J + 1]; row 0 and column 0 are NULL's
    const int64_t* starts     # [S] where the size of a sentence pair begins, in the table and in the counts; -1: nowhere
    double p0
    Ramps ramps[2]
    const real* up[2]         # the ramps as reals
    const real* down[2]
    int64_t* counts[2]        # NULL: positions are not counted


cdef struct Place:
    # The positions of one sentence pair
    int kind
    int64_t I, J
    double p0
    real floor
    real even[2]              # 1 / (I + 1), 1 / (J + 1)
    const real* table[2]      # NULL: the size is not in the table
    const real* up_src[2]
    const real* down_src[2]
    const real* up_tgt[2]
    const real* down_tgt[2]
    Ramps ramps[2]


cdef inline Ramps read_ramps(object ramps, int direction, list held) except *:
    """The pointers of a direction's ramps. Refuses places outside them, and numbers that no tension between 0 and 80 gives."""
    cdef const int64_t[::1] starts = ramps.starts
    cdef const double[:, ::1] up = ramps.up
    cdef const double[:, ::1] down = ramps.down
    cdef const double[:, ::1] gap = ramps.gap
    cdef Ramps x
    cdef int64_t k, d, n = up.shape[1]
    held += [starts, up, down, gap]
    if not 0 <= direction <= 1:
        raise ValueError(f"the direction must be 0 or 1, not {direction}")
    if up.shape[0] != 2 or down.shape[0] != 2 or gap.shape[0] != 2 or down.shape[1] != n or gap.shape[1] != n:
        raise ValueError("the ramps are of different sizes, or not of two directions")
    for k in range(starts.shape[0]):
        if starts[k] < -1 or starts[k] >= 0 and starts[k] + k + 1 > n:
            raise ValueError(f"the ramp of length {k} is outside its array")
    for d in range(2):
        for k in range(n):
            if not (1 <= up[d, k] < 1e35 and 0 < down[d, k] <= 1 and 0 <= gap[d, k] <= 1):
                raise ValueError(f"the ramps have {up[d, k]}, {down[d, k]} and {gap[d, k]} at {k}")
    x.longest = starts.shape[0] - 1
    x.starts = &starts[0] if starts.shape[0] else NULL
    x.up = &up[direction, 0] if n else NULL
    x.down = &down[direction, 0] if n else NULL
    x.gap = &gap[direction, 0] if n else NULL
    return x


cdef inline int check_length(Ramps* ramps, int64_t length) except -1:
    """Refuses a length that has no ramp. No words need none."""
    if length and (length > ramps.longest or ramps.starts[length] < 0):
        raise ValueError(f"there is no ramp of length {length}")
    return 0


cdef inline Places read_places(object places, object reals, object counts, Text* x, real floor, list held) except *:
    """The pointers of positions.

    places  None is Model 1
    reals   the ramps up and down as reals; None where there are none
    counts  None if positions are not counted
    """
    cdef const real[:, ::1] table
    cdef const int64_t[::1] starts
    cdef const real[:, ::1] up
    cdef const real[:, ::1] down
    cdef int64_t[:, ::1] sums
    cdef Places p
    cdef int64_t n, I, J, end = 0, need
    cdef int d
    p.kind = FLAT
    p.floor = floor
    p.p0 = 0
    p.starts = NULL
    p.counts[0] = p.counts[1] = NULL
    if places is None:
        return p
    p.kind = TABLE if places.table is not None else DIAGONAL
    if places.starts is not None and (places.table is not None or counts is not None):
        starts = places.starts
        held.append(starts)
        if starts.shape[0] != x.S:
            raise ValueError(f"the places are not of {x.S} sentence pairs")
        p.starts = &starts[0] if x.S else NULL
    if p.kind == TABLE:
        table = places.table
        held.append(table)
        if table.shape[0] != 2 or places.starts is None:
            raise ValueError("the table is not of two directions, or has no places")
        end = table.shape[1]
        for d in range(2):
            p.table[d] = &table[d, 0] if end else NULL
    else:
        if not 0 < places.p0 < 1:
            raise ValueError(f"p0 must be between 0 and 1, not {places.p0}")
        p.p0 = places.p0
        up, down = reals
        held += [up, down]
        for d in range(2):
            p.ramps[d] = read_ramps(places.ramps, d, held)
            p.up[d] = &up[d, 0] if up.shape[1] else NULL
            p.down[d] = &down[d, 0] if down.shape[1] else NULL
    if counts is not None and counts.positions.shape[1]:
        sums = counts.positions
        held.append(sums)
        if p.starts == NULL or sums.shape[0] != 2 or p.kind == TABLE and sums.shape[1] != end:
            raise ValueError("the counts are of other positions")
        end = sums.shape[1]
        for d in range(2):
            p.counts[d] = &sums[d, 0]
    for n in range(x.S):
        I = x.src_offsets[n + 1] - x.src_offsets[n]
        J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
        if p.kind == DIAGONAL:
            check_length(&p.ramps[0], I)
            check_length(&p.ramps[0], J)
        if I == 0 or J == 0 or p.starts == NULL or p.starts[n] == -1 and p.counts[0] == NULL:
            continue
        need = (I + 1) * (J + 1) if p.kind == TABLE else max(I, J) + 1
        if not 0 <= p.starts[n] <= end - need:
            raise ValueError(f"the place of sentence pair {n} is outside its array")
    return p


cdef inline Place place_of(Places* p, Text* x, Py_ssize_t n) noexcept nogil:
    """The positions of sentence pair n, which has words on both sides. They are of TABLE or of DIAGONAL."""
    cdef Place q
    cdef int d
    q.kind = p.kind
    q.I = x.src_offsets[n + 1] - x.src_offsets[n]
    q.J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    q.p0 = p.p0
    q.floor = p.floor
    q.even[0] = <real>(1.0 / (q.I + 1))
    q.even[1] = <real>(1.0 / (q.J + 1))
    for d in range(2):
        if p.kind == TABLE:
            q.table[d] = p.table[d] + p.starts[n] if p.starts[n] >= 0 else NULL
        else:
            q.ramps[d] = p.ramps[d]
            q.up_src[d] = p.up[d] + p.ramps[d].starts[q.I]
            q.down_src[d] = p.down[d] + p.ramps[d].starts[q.I]
            q.up_tgt[d] = p.up[d] + p.ramps[d].starts[q.J]
            q.down_tgt[d] = p.down[d] + p.ramps[d].starts[q.J]
    return q


cdef inline void fill_row(Place* p, int direction, int64_t i, real* row) noexcept nogil:
    """row[j] = the probability of cell (i, j) in a direction; of DIAGONAL exp(-tension h), without (1 - p0) / Z."""
    cdef int64_t j
    cdef const real* table
    cdef const real* up
    cdef const real* down
    cdef real rise, fall, one, other
    if p.kind == TABLE and p.table[direction] == NULL:
        for j in range(p.J):
            row[j] = p.even[direction]
    elif p.kind == TABLE:
        table = p.table[direction] + (i + 1) * (p.J + 1) + 1
        for j in range(p.J):
            row[j] = p.floor + table[j]
    else:
        up = p.up_tgt[direction] + 1
        down = p.down_tgt[direction] + 1
        rise = p.up_src[direction][i + 1]
        fall = p.down_src[direction][i + 1]
        for j in range(p.J):
            one = rise * down[j]
            other = fall * up[j]
            row[j] = one if one < other else other


cdef inline real of_cell(Place* p, int direction, int64_t i, int64_t j) noexcept nogil:
    """The number that fill_row has for cell (i, j)."""
    cdef real one, other
    if p.kind == TABLE:
        return p.even[direction] if p.table[direction] == NULL else (
            p.floor + p.table[direction][(i + 1) * (p.J + 1) + j + 1]
        )
    one = p.up_src[direction][i + 1] * p.down_tgt[direction][j + 1]
    other = p.down_src[direction][i + 1] * p.up_tgt[direction][j + 1]
    return one if one < other else other


cdef inline real of_null(Place* p, int direction, int64_t k) noexcept nogil:
    """The probability of NULL for the word k that a direction generates."""
    if p.kind == DIAGONAL:
        return <real>p.p0
    if p.table[direction] == NULL:
        return p.even[direction]
    return p.floor + (p.table[0][k + 1] if direction == 0 else p.table[1][(k + 1) * (p.J + 1)])


cdef inline real scale_of(Place* p, int direction, int64_t k) noexcept nogil:
    """What the row's numbers for the word k that a direction generates are multiplied by: (1 - p0) / Z, or 1."""
    cdef double mean, variance
    if p.kind == TABLE:
        return 1
    return <real>((1 - p.p0) / distances(
        &p.ramps[direction], p.I if direction == 0 else p.J, p.J if direction == 0 else p.I, k, &mean, &variance
    ))


cdef inline double distances(
    Ramps* r, int64_t I, int64_t J, int64_t j, double* mean, double* variance
) noexcept nogil:
    """Z of generated word j of J, from 0; mean and variance of h, over the I given words and without NULL.

    The terms of Z are two geometric series, which fall from the diagonal to both sides by the factor
    q = exp(-tension / I). With k = floor(j I / J), j from 1:

        Z = g (1 - q^(I - k)) / (1 - q) + g' (1 - q^k) / (1 - q),  g = exp(-tension h(k + 1)), g' = exp(-tension h(k))
    """
    cdef int64_t k = (j + 1) * I // J
    cdef const double* down = r.down + r.starts[I]
    cdef const double* gap = r.gap + r.starts[I]
    cdef double place = (j + 1) / <double>J
    cdef double up_j = r.up[r.starts[J] + j + 1], down_j = r.down[r.starts[J] + j + 1]
    cdef double sums[3]
    sums[0] = sums[1] = sums[2] = 0
    if k < I:
        add_series(up_j * down[k + 1], (k + 1) / <double>I - place, I, I - k, down, gap, sums)
    if k > 0:
        add_series(down_j * r.up[r.starts[I] + k], place - k / <double>I, I, k, down, gap, sums)
    mean[0] = sums[1] / sums[0]
    variance[0] = sums[2] / sums[0] - mean[0] * mean[0]
    return sums[0]


cdef inline void add_series(
    double g, double a, int64_t I, int64_t n, const double* down, const double* gap, double* sums
) noexcept nogil:
    """Adds sum_m x^p g q^m for p = 0, 1, 2, where x = a + m / I, q = down[1] and m = 0 ... n - 1.

        A_0 = sum_m q^m      = (1 - q^n) / (1 - q)
        A_1 = sum_m m q^m    = (A_0 - 1 - (n - 1) q^n) / (1 - q)
        A_2 = sum_m m^2 q^m  = (2 A_1 - A_0 + 1 - (n - 1)^2 q^n) / (1 - q)

    Each comes from A - q A, in which all but a few terms cancel.
    """
    cdef double step = gap[1], last = down[n], s = 1.0 / I
    cdef double A_0 = gap[n] / step
    cdef double A_1 = (A_0 - 1 - (n - 1) * last) / step
    cdef double A_2 = (2 * A_1 - A_0 + 1 - (n - 1.0) * (n - 1.0) * last) / step
    sums[0] += g * A_0
    sums[1] += g * (a * A_0 + s * A_1)
    sums[2] += g * (a * a * A_0 + 2 * a * s * A_1 + s * s * A_2)
