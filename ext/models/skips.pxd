"""One direction of one sentence pair of the surrogate of the HMM (Simion, Collins & Stein 2015).

A generated sentence has J words, a given one I words; i = NULL is beside them. The model knows where a word is, and how
far two neighbours skip:

    place    d(NULL | j) = p0     d(i | j) = (1 - p0) exp(-tension |i / I - j / J|) / Z(j)     i, j from 1, p0 = 1 / (I + 1)
    skip     T(i, NULL) = p0      T(i, i') = (1 - p0) r^|i' - i - centre| / Z(i)               r = exp(-skip / I)
             T(NULL, i') = p0, NULL as well

Two neighbours, j and j + 1, are a term. A is the left one's row, by its place; B the right one's:

    A_j(i) = emit_j(i) d(i | j)     B_j(i) = emit_j(i)     term_j = sum_{i, i'} A_j(i) T(i, i') B_{j+1}(i')

Training (terms.pxd) adds the marginals of all terms to gamma: each term says where its left and where its right word is.
Decoding takes all words at once, as an HMM.

A sum over skips is two running sums that fade by r a word:  (T x)(i) is read at i + centre of up(x) + r down(x + 1), with
up(x) = x + r up(x - 1) and down(x) = x + r down(x + 1). So a row costs O(I), not O(I^2).

K is I + 1 rounded up to whole vectors, padded with zeros: the word after the last has a place, for the centre. P is the
same of J. Decoding has a row a generated word, [J, K]: rows wait for each other. Training has a row a given word, [I, P]:
terms do not depend on each other, and sixteen of them go through the given words at once.
"""

from libc.stdint cimport int64_t
from libc.string cimport memset

from vectors cimport VECTOR, exponential, load, padded, real, room, splat, store, sum, vec

cdef extern from "real.h":
    vec smaller(vec x, vec y) noexcept nogil
    void fade_up(const real* x, real* out, int64_t n, real r) noexcept nogil
    void fade_down(const real* x, real* out, int64_t n, real r) noexcept nogil


cdef struct Direction:
    int64_t I, J, K, P
    int64_t by_row, by_state  # (j, i) of emit and gamma is at j * by_row + i * by_state
    int64_t centre         # 0 or 1
    real r, p0
    real* emit             # [J, K] or [I, P]  t(f_j | e_i), or its root
    real* null             # [P + VECTOR]      t(f_j | NULL), or its root
    real* gamma            # as emit           training: expected counts; decoding: posteriors, or 1 on the best path
    real* nowhere          # [P + VECTOR]      the same of NULL
    real* alpha            # [J, K] decoding: scaled so that a row and its NULL sum to one
    real* alpha_null       # [J]
    real* scale            # [J]    what the rows were divided by; the sum of logs is log p(f | e)
    real* rise             # [K] exp(tension i / I), of the given words
    real* fall             # [K] its inverse
    const real* row_rise   # [J] the same of the generated words
    const real* row_fall   # [J]
    real* leave            # [K] (1 - p0) / Z(i)
    real* place            # [K] d(i | j) of the row at hand
    real* beta             # [K]
    real* v                # [K] what arrives at each word
    real* u                # [K + VECTOR] what leaves each word, at the place where skips are centred
    real* up               # [K + VECTOR] running sums of u, or of v
    real* down             # [K + VECTOR]
    real* work             # [5, I + 2, VECTOR] of sixteen terms
    real beta_null


cdef inline int64_t room_for(int64_t I, int64_t J) noexcept nogil:
    """How many reals one direction needs."""
    cdef int64_t K = padded(I + 1), P = padded(J + 1)
    return 3 * J * K + VECTOR + 2 * (P + VECTOR) + 2 * padded(J) + 6 * K + 3 * (K + VECTOR) + 5 * (I + 2) * VECTOR


cdef inline void lay_out(Direction* d, int64_t I, int64_t J, real* memory) noexcept nogil:
    """Gives the arrays of a direction their places."""
    cdef int64_t K = padded(I + 1)
    d.I = I
    d.J = J
    d.K = K
    d.P = padded(J + 1)
    d.rise = room(&memory, K)
    d.fall = room(&memory, K)
    d.leave = room(&memory, K)
    d.place = room(&memory, K)
    d.beta = room(&memory, K)
    d.v = room(&memory, K)
    d.u = room(&memory, K + VECTOR)
    d.up = room(&memory, K + VECTOR)
    d.down = room(&memory, K + VECTOR)
    d.null = room(&memory, d.P + VECTOR)
    d.nowhere = room(&memory, d.P + VECTOR)
    d.alpha_null = room(&memory, padded(J))
    d.scale = room(&memory, padded(J))
    d.emit = room(&memory, J * K)
    d.gamma = room(&memory, J * K + VECTOR)
    d.alpha = room(&memory, J * K)
    d.work = room(&memory, 5 * (I + 2) * VECTOR)
    d.by_row = K
    d.by_state = 1


cdef inline void turn(Direction* fwd, Direction* rev) noexcept nogil:
    """Rows become given words: emit and gamma of a direction are as large as those of the other one were."""
    fwd.emit, rev.emit = rev.emit, fwd.emit
    fwd.gamma, rev.gamma = rev.gamma, fwd.gamma
    fwd.by_row = rev.by_row = 1
    fwd.by_state = fwd.P
    rev.by_state = rev.P


cdef inline void fade(Direction* d, const real* x) noexcept nogil:
    """The running sums of x [K], in up and down."""
    fade_up(x, d.up, d.K, d.r)
    fade_down(x, d.down, d.K, d.r)


cdef inline vec faded(Direction* d, int64_t c) noexcept nogil:
    """sum_k x(k) r^|k - c| of sixteen places, after `fade`."""
    return load(d.up + c) + load(d.down + c + 1) * d.r


cdef inline void set_skips(Direction* d, double tension, double skip, int64_t centre) noexcept nogil:
    """rise, fall and leave for a sentence of I words; padding zero."""
    cdef int64_t I = d.I, K = d.K, i
    cdef real step = <real>(tension / I)
    d.centre = centre
    d.r = exponential(<real>(-skip / I))
    d.p0 = 1 / <real>(I + 1)
    memset(d.rise, 0, 3 * K * sizeof(real))  # rise, fall, leave
    memset(d.v, 0, K * sizeof(real))
    memset(d.u, 0, (3 * (K + VECTOR) + 2 * (d.P + VECTOR)) * sizeof(real))  # u, up, down, null, nowhere
    for i in range(I):
        d.rise[i] = exponential(step * (i + 1))
        d.fall[i] = exponential(-step * (i + 1))
        d.v[i] = 1
    fade(d, d.v)
    for i in range(I):
        d.leave[i] = (1 - d.p0) / (d.up[i + centre] + d.down[i + centre + 1] * d.r)


cdef inline void set_place(Direction* d, int64_t j) noexcept nogil:
    """place = d(i | j). exp(-tension |i / I - j / J|) is the smaller of two quotients, each a product here."""
    cdef int64_t c
    cdef vec w, total = splat(0)
    cdef real share
    for c in range(0, d.K, 16):
        w = smaller(load(d.rise + c) * d.row_fall[j], load(d.fall + c) * d.row_rise[j])
        store(d.place + c, w)
        total = total + w
    share = (1 - d.p0) / sum(total)
    for c in range(0, d.K, 16):
        store(d.place + c, load(d.place + c) * share)


cdef inline void send(Direction* d, const real* x) noexcept nogil:
    """Running sums of what leaves each word: x * leave, at the place where its skips are centred."""
    cdef int64_t c
    for c in range(0, d.K, 16):
        store(d.u + d.centre + c, load(x + c) * load(d.leave + c))
    fade(d, d.u)


cdef inline void join(Direction* d) noexcept nogil:
    """Emissions that make of the HMM the product of all terms: an inner word is the right word of a term and the left one
    of the next."""
    cdef int64_t K = d.K, j, c
    cdef real* emit
    for j in range(1, d.J - 1):
        emit = d.emit + j * K
        set_place(d, j)
        for c in range(0, K, 16):
            store(emit + c, load(emit + c) * load(emit + c) * load(d.place + c))
        d.null[j] = d.null[j] * d.null[j] * d.p0


cdef inline void alpha_row(Direction* d, int64_t j) noexcept nogil:
    """Row j of alpha, from the running sums of the row before.

    alpha_j(i') = emit_j(i') sum_i alpha_{j-1}(i) T(i, i')     the first word has its place instead of skips
    """
    cdef int64_t K = d.K, c
    cdef real* alpha = d.alpha + j * K
    cdef const real* emit = d.emit + j * K
    cdef real null = d.p0 * d.null[j], inverse
    cdef vec x, total = splat(0)
    if j == 0:
        set_place(d, 0)
    for c in range(0, K, 16):
        if j == 0:
            x = load(d.place + c) * load(emit + c)
        else:
            x = (faded(d, c) + d.p0 * d.alpha_null[j - 1]) * load(emit + c)
        store(alpha + c, x)
        total = total + x
    d.scale[j] = sum(total) + null
    inverse = 1 / d.scale[j]
    for c in range(0, K, 16):
        store(alpha + c, load(alpha + c) * inverse)
    d.alpha_null[j] = null * inverse
    send(d, alpha)


cdef inline void beta_row(Direction* d, int64_t j) noexcept nogil:
    """gamma and nowhere of row j, and then, in beta and beta_null, that of the row before.

    beta_{j-1}(i) = sum_i' T(i, i') v(i')     v(i') = emit_j(i') beta_j(i') / scale_j
    """
    cdef int64_t K = d.K, c
    cdef real* beta = d.beta
    cdef real* v = d.v
    cdef const real* emit = d.emit + j * K
    cdef real inverse = 1 / d.scale[j]
    cdef real null = d.null[j] * d.beta_null * inverse
    cdef vec x, total = splat(0)
    for c in range(0, K, 16):
        store(d.gamma + j * K + c, load(d.alpha + j * K + c) * load(beta + c))
        x = load(emit + c) * load(beta + c) * inverse
        store(v + c, x)
        total = total + x
    d.nowhere[j] = d.alpha_null[j] * d.beta_null
    fade(d, v)
    for c in range(0, K, 16):
        store(beta + c, load(d.leave + c) * faded(d, c + d.centre) + d.p0 * null)
    d.beta_null = d.p0 * (sum(total) + null)


cdef inline void alpha_rows(Direction* fwd, Direction* rev) noexcept nogil:
    """All rows of alpha. A row waits for the row before; the directions do not wait for each other, so they take turns."""
    cdef int64_t j
    for j in range(max(fwd.J, rev.J)):
        if j < fwd.J:
            alpha_row(fwd, j)
        if j < rev.J:
            alpha_row(rev, j)


cdef inline void begin_beta(Direction* d) noexcept nogil:
    cdef int64_t c
    for c in range(0, d.K, 16):
        store(d.beta + c, splat(1))
    d.beta_null = 1


cdef inline void beta_rows(Direction* fwd, Direction* rev) noexcept nogil:
    """All rows of gamma, after alpha_rows."""
    cdef int64_t j
    begin_beta(fwd)
    begin_beta(rev)
    for j in range(max(fwd.J, rev.J) - 1, -1, -1):
        if j < fwd.J:
            beta_row(fwd, j)
        if j < rev.J:
            beta_row(rev, j)


cdef inline void best_path(Direction* d) noexcept nogil:
    """gamma becomes 1 on the links of the best path, 0 elsewhere.

    best_j(i') = emit_j(i') max_i best_{j-1}(i) T(i, i'), rows divided by their maximum. The maximum over skips is two running
    maxima, as the sum is two running sums. Ties go to words before NULL, and to the first of them.
    gamma and nowhere keep, until the path is known, where a word or NULL came from; -1 is NULL.
    """
    cdef int64_t I = d.I, K = d.K, i, j, x, k
    cdef real* best = d.alpha
    cdef real* come = d.up     # [K] the best arrival at each place, from words before it, then from all
    cdef real* origin = d.gamma
    cdef const real* emit
    cdef real top, value, null = 0
    cdef int64_t who
    for j in range(d.J):
        emit = d.emit + j * K
        origin = d.gamma + j * K
        if j == 0:
            set_place(d, 0)
            for i in range(I):
                best[i] = d.place[i] * emit[i]
            null = d.p0 * d.null[0]
        else:
            value, who = null, -1
            for i in range(I):
                if best[i] > value or (who < 0 and best[i] == value):
                    value, who = best[i], i
            d.nowhere[j] = <real>who
            top = d.p0 * d.null[j] * value
            value, who = -1, 0  # arrivals from the left: words that are centred at x or before
            for x in range(I):
                value *= d.r
                if x >= d.centre and best[x - d.centre] * d.leave[x - d.centre] > value:
                    value, who = best[x - d.centre] * d.leave[x - d.centre], x - d.centre
                come[x] = value
                origin[x] = <real>who
            value, who = -1, 0
            for x in range(I + d.centre - 1, -1, -1):
                value *= d.r
                if x >= d.centre and best[x - d.centre] * d.leave[x - d.centre] >= value:
                    value, who = best[x - d.centre] * d.leave[x - d.centre], x - d.centre
                if x < I and value > come[x]:
                    come[x] = value
                    origin[x] = <real>who
            for i in range(I):
                if d.p0 * null > come[i]:
                    come[i] = d.p0 * null
                    origin[i] = -1
                best[i] = emit[i] * come[i]
            null = top
        top = null
        for i in range(I):
            top = max(top, best[i])
        for i in range(I):
            best[i] /= top
        null /= top
    k = -1
    value = null
    for i in range(I):
        if best[i] > value or (k < 0 and best[i] == value):
            value, k = best[i], i
    for j in range(d.J - 1, -1, -1):
        origin = d.gamma + j * K
        x = 0
        if j > 0:
            x = <int64_t>(origin[k] if k >= 0 else d.nowhere[j])
        memset(origin, 0, K * sizeof(real))
        if k >= 0:
            origin[k] = 1
        k = x
