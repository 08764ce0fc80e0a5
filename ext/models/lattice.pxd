"""HMM alignment of sentence pairs (Vogel et al. 1996; NULL twins after Och & Ney 2003), both directions.

    p(f, a | e) = prod_j pd(a_j | a_{j-1}) * t(f_j | e_{a_j})

States [0, I) are words, [I, 2I) their NULL twins: twin I + i generates by NULL and remembers position i. From word i'
or its twin alike:

    to word i   (1 - p0) * jump(i - i') / Z(i')     Z(i') = sum of jump over the buckets that have a valid i
    to twin i'  p0                                  to other twins 0

jump has a bucket for each distance from -W to W; two more, for what is farther to the left and to the right, are
shared evenly by the valid positions there. The first position, of words and twins alike, has a distribution of its own:
one probability for each of 0 ... W - 1, and one shared evenly by the rest. So has the last position, counted from the
end, since sentences often end alike:

    p(f, a | e) = first(a_1) * prod_j ... * last(I - 1 - a_J)

`last` is a factor: the chain has drawn a_J already. It is as if a position was drawn once more, and was the same one.
So EM learns `last` as it learns `first`, by expected counts, and the likelihood still rises.

Words may have classes. Then jump depends on the class of the word at i', the one that is left (Och & Ney 2003, section
2.3): every position has its own taps, and its own sums of expected jumps.

A word and its twin are left alike. So beta is one number a position, and the transition product needs only the sum of
word and twin: a window of 2 W + 1 distances, a prefix sum and a suffix sum, O(W) a state.

One direction of one sentence pair; K is I rounded up to whole vectors, padded with zeros:

emit     [J, K]  t(f_j | e_i)                     null   [J]  t(f_j | NULL)
alpha    [J, K]  words, scaled so that a row and its twins sum to one, of the last row times end;
                 log p(f | e) = sum_j log scale_j
twin     [J, K]  alpha of the twins
gamma    [J, K]  posteriors of the words           nowhere  [J]  of NULL
leave    [K]     (1 - p0) / Z(i')
left     [K]     jump of the left bucket, seen from i', divided by the positions in it; right: of the right bucket

A row depends on the row before: one direction alone would mostly wait. The two directions of a sentence pair are
independent, so their rows take turns.
Sums over positions are taken in 16 lanes, which are then added in a fixed order (real.h): the same bits whatever vectors
the machine has.
Not here: sentence length; constraints change emit (projection.pxd).
"""

from libc.math cimport log
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from counts cimport fixed
from vectors cimport VECTOR, load, padded, real, room, splat, store, sum, vec

cdef extern from "real.h":
    void add_up(const real* x, real* out, int64_t n) noexcept nogil
    void add_down(const real* x, real* out, int64_t n) noexcept nogil

cdef enum:
    MARGIN = 32  # zeros on either side of a row that is read at a distance: more than the largest W + 1


cdef struct Direction:
    int64_t I, J, K
    int64_t W           # explicit distances to either side
    real p0
    const double* jump  # [2 W + 3] left, -W ... W, right; from a word that has no class
    const double* by_class  # [C, 2 W + 3] the same, from a word of class 1 ... C
    const double* first  # [W + 1] first position: 0 ... W - 1, and beyond
    const double* last  # [W + 1] last position, counted from the end; NULL: it does not matter
    int32_t* classes    # [K] position -> class of its word, 0: none; NULL: no word has a class
    int64_t stride      # 1, or with classes K + MARGIN
    real* taps          # [2 W + 1, stride] jump as reals, from each position, distance 0 in the middle; 1 beyond I
    int64_t lanes       # VECTOR, or with classes K
    real* cross         # [2 W + 3, lanes] expected jumps of each distance, 0 in the middle; with classes, from each position
    real* emit
    real* null
    real* alpha
    real* twin
    real* gamma
    real* nowhere       # in best_path, the state word of each row, -1 for NULL
    real* scale         # [J]
    real* leave
    real* left
    real* right
    real* start         # [K] start distribution over positions
    real* end           # [K] distribution of the last position; 1 where it does not matter
    real* u             # [MARGIN + K + MARGIN] what leaves each position
    real* v             # [MARGIN + K + MARGIN] what arrives at each position
    real* up            # [MARGIN + K + MARGIN] sums from the left
    real* down          # [MARGIN + K + MARGIN] sums from the right
    real* both          # [K] alpha and twin of the last row; in beta_rows, beta; in best_path, the better of the two
    real* work          # [2, K] what leaves to the right bucket, and to the left; in best_path, from where the best does


cdef inline int64_t room_for_taps(int64_t K, int64_t W, bint classed) noexcept nogil:
    return (2 * W + 1) * (K + MARGIN) if classed else padded(2 * W + 1)


cdef inline int64_t room_for(int64_t I, int64_t J, int64_t W, bint classed) noexcept nogil:
    """How many reals one direction needs. classed: words have classes"""
    cdef int64_t K = padded(I)
    cdef int64_t jumps = (2 * W + 3) * (K if classed else VECTOR) + room_for_taps(K, W, classed) + (K if classed else 0)
    return 4 * J * K + 3 * padded(J) + 12 * K + 8 * MARGIN + jumps


cdef inline void lay_out(Direction* d, int64_t I, int64_t J, int64_t W, bint classed, real* memory) noexcept nogil:
    """Gives the arrays of a direction their places."""
    cdef int64_t K = padded(I)
    d.I = I
    d.J = J
    d.K = K
    d.W = W
    d.lanes = K if classed else VECTOR
    d.cross = room(&memory, (2 * W + 3) * d.lanes) + (W + 1) * d.lanes
    d.stride = K + MARGIN if classed else 1
    d.taps = room(&memory, room_for_taps(K, W, classed)) + W * d.stride
    d.classes = <int32_t*>room(&memory, K) if classed else NULL
    d.u = room(&memory, K + 2 * MARGIN) + MARGIN
    d.v = room(&memory, K + 2 * MARGIN) + MARGIN
    d.up = room(&memory, K + 2 * MARGIN) + MARGIN
    d.down = room(&memory, K + 2 * MARGIN) + MARGIN
    d.leave = room(&memory, K)
    d.left = room(&memory, K)
    d.right = room(&memory, K)
    d.start = room(&memory, K)
    d.end = room(&memory, K)
    d.both = room(&memory, K)
    d.work = room(&memory, 2 * K)
    d.null = room(&memory, padded(J))
    d.scale = room(&memory, padded(J))
    d.nowhere = room(&memory, padded(J))
    d.emit = room(&memory, J * K)
    d.alpha = room(&memory, J * K)
    d.twin = room(&memory, J * K)
    d.gamma = room(&memory, J * K)


cdef inline void set_transitions(Direction* d) noexcept nogil:
    """taps, leave, left, right, start and end for a sentence of I words; margins, padding and cross zero."""
    cdef int64_t I = d.I, W = d.W, i, k
    cdef double z, some = 1 - <double>d.p0
    cdef const double* jump = d.jump + 1 + W  # jump[-W ... W]
    cdef bint classed = d.classes != NULL
    memset(d.u - MARGIN, 0, 4 * (d.K + 2 * MARGIN) * sizeof(real))  # u, v, up, down
    memset(d.leave, 0, 5 * d.K * sizeof(real))  # leave, left, right, start, end
    memset(d.cross - (W + 1) * d.lanes, 0, (2 * W + 3) * d.lanes * sizeof(real))
    if classed:
        for k in range(-W * d.stride, (W + 1) * d.stride):
            d.taps[k] = 1
    for i in range(I):
        if classed:
            jump = (d.jump if d.classes[i] == 0 else d.by_class + (d.classes[i] - 1) * (2 * W + 3)) + 1 + W
        if classed or i == 0:
            for k in range(-W, W + 1):
                d.taps[k * d.stride + i] = <real>jump[k]
        z = 0
        for k in range(-min(W, i), min(W, I - 1 - i) + 1):
            z += jump[k]
        if i > W:
            z += jump[-W - 1]
            d.left[i] = <real>(jump[-W - 1] / (i - W))
        if I - 1 - i > W:
            z += jump[W + 1]
            d.right[i] = <real>(jump[W + 1] / (I - 1 - i - W))
        d.leave[i] = <real>(some / z)
    spread(d.first, W, I, d.start, 1)
    if d.last != NULL:
        spread(d.last, W, I, d.end + I - 1, -1)
    else:
        for i in range(I):
            d.end[i] = 1


cdef inline void spread(const double* share, int64_t W, int64_t I, real* out, int64_t step) noexcept nogil:
    """A distribution over I positions, from share [W + 1] of the first W, and of the rest. step: from one to the next"""
    cdef double total = 0
    cdef int64_t k
    for k in range(min(I, W)):
        total += share[k]
    if I > W:
        total += share[W]
    for k in range(I):
        out[step * k] = <real>((share[k] if k < W else share[W] / (I - W)) / total)


cdef inline void alpha_row(Direction* d, int64_t j) noexcept nogil:
    """Row j of alpha and twin, from u, up, down and both of the row before.

    alpha_j(i) = emit_j(i) * sum_i' (alpha + twin)_{j-1}(i') T(i', i)      twin_j(i) = p0 * null_j * (alpha + twin)_{j-1}(i)
    """
    cdef int64_t K = d.K, W = d.W, c, k
    cdef real* alpha = d.alpha + j * K
    cdef real* twin = d.twin + j * K
    cdef const real* emit = d.emit + j * K
    cdef real null = d.p0 * d.null[j], some = 1 - d.p0
    cdef real inverse
    cdef vec a, b, total = splat(0)
    for c in range(0, K, 16):
        if j == 0:
            a = load(d.start + c) * some
            b = load(d.start + c) * null
        else:
            a = load(d.up + c - W - 1) + load(d.down + c + W + 1)
            if d.classes == NULL:
                b = load(d.u + c) * d.taps[0]
                for k in range(1, W + 1):
                    a = a + load(d.u + c - k) * d.taps[k]
                    b = b + load(d.u + c + k) * d.taps[-k]
            else:
                b = load(d.u + c) * load(d.taps + c)
                for k in range(1, W + 1):
                    a = a + load(d.u + c - k) * load(d.taps + k * d.stride + c - k)
                    b = b + load(d.u + c + k) * load(d.taps - k * d.stride + c + k)
            a = a + b
            b = load(d.both + c) * null
        a = a * load(emit + c)
        store(alpha + c, a)
        store(twin + c, b)
        total = total + ((a + b) if j < d.J - 1 else (a + b) * load(d.end + c))
    d.scale[j] = sum(total)
    inverse = 1 / d.scale[j]
    for c in range(0, K, 16):
        a = load(alpha + c) * inverse
        b = load(twin + c) * inverse
        store(alpha + c, a)
        store(twin + c, b)
        a = a + b
        store(d.both + c, a)
        a = a * load(d.leave + c)
        store(d.u + c, a)
        store(d.work + c, a * load(d.right + c))
        store(d.work + K + c, a * load(d.left + c))
    if d.I > W + 1:
        add_up(d.work, d.up, K)
        add_down(d.work + K, d.down, K)


cdef inline double loglik(Direction* d) noexcept nogil:
    """The sum of log scale_j, with few logarithms: log p(f | e) after alpha_rows, log p(f, a | e) after best_path."""
    cdef double total = 0, product = 1
    cdef int64_t j
    for j in range(d.J):
        product *= d.scale[j]
        if not 1e-200 < product < 1e200:
            total += log(product)
            product = 1
    return total + log(product)


cdef inline void alpha_rows(Direction* fwd, Direction* rev) noexcept nogil:
    """All rows of alpha and twin of two directions, or of one and NULL."""
    cdef int64_t J = 0 if fwd == NULL else fwd.J, I = 0 if rev == NULL else rev.J, j
    for j in range(max(I, J)):
        if j < J:
            alpha_row(fwd, j)
        if j < I:
            alpha_row(rev, j)


cdef inline vec crossing(Direction* d, int64_t k, int64_t c) noexcept nogil:
    """xi, without jump, of distance k from positions c ... c + 15; the far distances are -W - 1 and W + 1."""
    if k < -d.W:
        return load(d.u + c) * load(d.left + c) * load(d.up + c - d.W - 1)
    if k > d.W:
        return load(d.u + c) * load(d.right + c) * load(d.down + c + d.W + 1)
    return load(d.u + c) * load(d.v + c + k)


cdef inline void beta_row(Direction* d, int64_t j, bint counting) noexcept nogil:
    """gamma and nowhere of row j, and then, in `both`, beta of the row before.

    beta_{j-1}(i') = (sum_i T(i', i) v_j(i) + p0 * null_j * beta_j(i')) / scale_j,   v_j(i) = emit_j(i) * beta_j(i)
    xi_j(i', i) = u_{j-1}(i') * v_j(i) / scale_j times jump: its sums by distance, without jump, are added to cross
    """
    cdef int64_t K = d.K, W = d.W, c, k
    cdef const real* alpha = d.alpha + j * K
    cdef const real* twin = d.twin + j * K
    cdef const real* emit = d.emit + j * K
    cdef real* gamma = d.gamma + j * K
    cdef real* beta = d.both
    cdef real* sums
    cdef real inverse = 1 / d.scale[j]
    cdef real null = d.p0 * d.null[j] * inverse
    cdef vec a, b, total = splat(0)
    for c in range(0, K, 16):
        a = load(beta + c)
        total = total + load(twin + c) * a
        store(gamma + c, load(alpha + c) * a)
        store(d.v + c, load(emit + c) * a * inverse)
    d.nowhere[j] = sum(total)
    if j == 0:
        if counting:
            for c in range(0, K, 16):  # posterior of being at i first
                store(d.u + c, (load(alpha + c) + load(twin + c)) * load(beta + c))
        return
    if d.I > W + 1:
        add_up(d.v, d.up, K)
        add_down(d.v, d.down, K)
    if counting:
        for c in range(0, K, 16):
            store(d.u + c, (load(alpha - K + c) + load(twin - K + c)) * load(d.leave + c))
        for k in range(-W - 1, W + 2):
            sums = d.cross + k * d.lanes
            if d.classes == NULL:
                total = load(sums)
                for c in range(0, K, 16):
                    total = total + crossing(d, k, c)
                store(sums, total)
            else:
                for c in range(0, K, 16):
                    store(sums + c, load(sums + c) + crossing(d, k, c))
    for c in range(0, K, 16):
        a = load(d.right + c) * load(d.down + c + W + 1) + load(d.left + c) * load(d.up + c - W - 1)
        if d.classes == NULL:
            b = load(d.v + c) * d.taps[0]
            for k in range(1, W + 1):
                a = a + load(d.v + c + k) * d.taps[k]
                b = b + load(d.v + c - k) * d.taps[-k]
        else:
            b = load(d.v + c) * load(d.taps + c)
            for k in range(1, W + 1):
                a = a + load(d.v + c + k) * load(d.taps + k * d.stride + c)
                b = b + load(d.v + c - k) * load(d.taps - k * d.stride + c)
        store(beta + c, load(d.leave + c) * (a + b) + load(beta + c) * null)


cdef inline void beta_rows(Direction* fwd, Direction* rev, bint counting) noexcept nogil:
    """All rows of gamma of two directions, or of one and NULL; alpha stays as it is. beta_{J-1} = end"""
    cdef int64_t J = 0 if fwd == NULL else fwd.J, I = 0 if rev == NULL else rev.J, j, c
    if fwd != NULL:
        for c in range(0, fwd.K, 16):
            store(fwd.both + c, load(fwd.end + c))
    if rev != NULL:
        for c in range(0, rev.K, 16):
            store(rev.both + c, load(rev.end + c))
    for j in range(max(I, J) - 1, -1, -1):
        if j < J:
            beta_row(fwd, j, counting)
        if j < I:
            beta_row(rev, j, counting)


cdef inline void add_jumps(Direction* d, int64_t* jumps, int64_t* by_class) noexcept nogil:
    """Expected jumps [2 W + 3], first positions and last positions [W + 1] of a direction, after its beta_rows.

    by_class: [C, 2 W + 3] expected jumps from words of each class; jumps has those from other words
    """
    cdef int64_t W = d.W, k, i
    cdef const real* alpha = d.alpha + (d.J - 1) * d.K
    cdef const real* twin = d.twin + (d.J - 1) * d.K
    cdef int64_t* own
    if d.classes == NULL:
        for k in range(-W, W + 1):
            jumps[1 + W + k] += fixed(<double>sum(load(d.cross + k * VECTOR)) * d.taps[k])
        jumps[0] += fixed(sum(load(d.cross - (W + 1) * VECTOR)))
        jumps[2 * W + 2] += fixed(sum(load(d.cross + (W + 1) * VECTOR)))
    else:
        for i in range(d.I):
            own = jumps if d.classes[i] == 0 else by_class + (d.classes[i] - 1) * (2 * W + 3)
            for k in range(-W, W + 1):
                own[1 + W + k] += fixed(<double>d.cross[k * d.lanes + i] * d.taps[k * d.stride + i])
            own[0] += fixed(d.cross[-(W + 1) * d.lanes + i])
            own[2 * W + 2] += fixed(d.cross[(W + 1) * d.lanes + i])
    for i in range(d.I):
        jumps[2 * W + 3 + min(i, W)] += fixed(d.u[i])
    if d.last != NULL:
        for i in range(d.I):
            jumps[3 * W + 4 + min(d.I - 1 - i, W)] += fixed((alpha[i] + twin[i]) * d.end[i])
