"""HMM alignment of sentence pairs (Vogel et al. 1996; NULL twins after Och & Ney 2003), both directions.

    p(f, a | e) = prod_j pd(a_j | a_{j-1}) * t(f_j | e_{a_j})

States [0, I) are words, [I, 2I) their NULL twins: twin I + i generates by NULL and remembers position i. From word i'
or its twin alike:

    to word i   (1 - p0) * jump(i - i') / Z(i')     Z(i') = sum of jump over the buckets that have a valid i
    to twin i'  p0                                  to other twins 0

jump has a bucket for each distance from -W to W; two more, for what is farther to the left and to the right, are
shared evenly by the valid positions there. The first position, of words and twins alike, has a distribution of its own:
one probability for each of 0 ... W - 1, and one shared evenly by the rest.

Leaving a word and leaving its twin being the same, beta is one number a position, and the transition product needs the
sum of word and twin only: a window of 2 W + 1 distances, a prefix sum and a suffix sum, O(W) a state.

One direction of one sentence pair; K is I rounded up to whole vectors, padded with zeros:

emit     [J, K]  t(f_j | e_i)                     null   [J]  t(f_j | NULL)
alpha    [J, K]  words, scaled so that a row and its twins sum to one; log p(f | e) = sum_j log scale_j.
                 After beta_pass: the posteriors gamma_j(i)
twin     [J, K]  alpha of the twins
leave    [K]     (1 - p0) / Z(i')
left     [K]     the left bucket's share of one position, from i'; right likewise

Sums over positions are taken in VECTOR lanes, which are then added in a fixed order: that is how a vector would do it,
and it gives the same bits whatever vectors the machine has.
Not here: word classes, sentence length, constraints.
"""

from cython.parallel cimport prange, threadid
from libc.math cimport log
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from libcpp.vector cimport vector

import numpy as np

cdef extern from "real.h":
    ctypedef float real

cdef extern from *:
    """
    #include <cstdint>
    static inline void atomic_add(int64_t *at, int64_t value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
    #define PREFETCH(address) __builtin_prefetch(address, 1)
    """
    void PREFETCH(const void* address) noexcept nogil
    void atomic_add(int64_t* at, int64_t value) noexcept nogil

cdef enum:
    VECTOR = 16  # K is a multiple
    MARGIN = 16  # zeros on either side of a row that is convolved: the largest W


cdef double ONE = 4294967296.0  # 2^32: expected counts are added up as integers, whose sums do not depend on order
cdef real FLOOR = 1e-6          # added to every emission: no word is impossible, and t smoothed a little
cdef real TINY = 1e-5           # posteriors up to it are not counted


cdef struct Direction:
    int64_t I, J, K
    int64_t W           # explicit distances to either side
    real p0
    const double* jump  # [2 W + 3] left, -W ... W, right
    const double* first  # [W + 1] first position: 0 ... W - 1, and beyond
    real* taps          # [2 MARGIN + 1] jump as reals, that of distance 0 in the middle
    real* cross         # [2 MARGIN + 1, VECTOR] expected jumps of each distance, lane by lane
    real* emit
    real* null
    real* alpha
    real* twin
    real* scale         # [J]
    real* leave
    real* left
    real* right
    real* start         # [K] start distribution over positions
    real* u             # [MARGIN + K + MARGIN] a row to be convolved
    real* v             # [MARGIN + K + MARGIN]
    real* beta          # [K]
    real* next          # [K]
    real far_left, far_right  # expected jumps to the left and right bucket


cdef int64_t padded(int64_t n) noexcept nogil:
    return (n + VECTOR - 1) // VECTOR * VECTOR


cdef real* room(real** memory, int64_t n) noexcept nogil:
    cdef real* here = memory[0]
    memory[0] += n
    return here


cdef int64_t room_for(int64_t I, int64_t J) noexcept nogil:
    """How many reals one direction needs."""
    cdef int64_t K = padded(I)
    return 3 * J * K + 2 * padded(J) + 8 * K + 4 * MARGIN + (2 * MARGIN + 4) * VECTOR


cdef void lay_out(Direction* d, int64_t I, int64_t J, real* memory) noexcept nogil:
    """Gives the arrays of a direction their places."""
    cdef int64_t K = padded(I)
    d.I = I
    d.J = J
    d.K = K
    d.cross = room(&memory, (2 * MARGIN + 1) * VECTOR)
    d.taps = room(&memory, 3 * VECTOR) + MARGIN
    d.u = room(&memory, K + 2 * MARGIN) + MARGIN
    d.v = room(&memory, K + 2 * MARGIN) + MARGIN
    d.leave = room(&memory, K)
    d.left = room(&memory, K)
    d.right = room(&memory, K)
    d.start = room(&memory, K)
    d.beta = room(&memory, K)
    d.next = room(&memory, K)
    d.null = room(&memory, padded(J))
    d.scale = room(&memory, padded(J))
    d.emit = room(&memory, J * K)
    d.alpha = room(&memory, J * K)
    d.twin = room(&memory, J * K)


cdef void set_transitions(Direction* d) noexcept nogil:
    """taps, leave, left, right and start for a sentence of I words; margins, padding and cross zero."""
    cdef int64_t I = d.I, W = d.W, i, k
    cdef double z, total
    cdef const double* jump = d.jump + 1 + W  # jump[-W ... W]
    memset(d.u - MARGIN, 0, (d.K + 2 * MARGIN) * sizeof(real))
    memset(d.v - MARGIN, 0, (d.K + 2 * MARGIN) * sizeof(real))
    memset(d.leave, 0, d.K * sizeof(real))
    memset(d.left, 0, d.K * sizeof(real))
    memset(d.right, 0, d.K * sizeof(real))
    memset(d.start, 0, d.K * sizeof(real))
    memset(d.cross, 0, (2 * MARGIN + 1) * VECTOR * sizeof(real))
    for k in range(-W, W + 1):
        d.taps[k] = <real>jump[k]
    for i in range(I):
        z = 0
        for k in range(-min(W, i), min(W, I - 1 - i) + 1):
            z += jump[k]
        if i > W:
            z += jump[-W - 1]
            d.left[i] = <real>(jump[-W - 1] / (i - W))
        if I - 1 - i > W:
            z += jump[W + 1]
            d.right[i] = <real>(jump[W + 1] / (I - 1 - i - W))
        d.leave[i] = <real>((1 - d.p0) / z)
    total = 0
    for k in range(min(I, W)):
        total += d.first[k]
    if I > W:
        total += d.first[W]
    for i in range(I):
        d.start[i] = <real>((d.first[i] if i < W else d.first[W] / (I - W)) / total)


cdef inline void convolve(Direction* d, const real* row, int64_t sign, real* out) noexcept nogil:
    """out[i] = sum over the window of row[i - sign * k] * jump(k)."""
    cdef int64_t c, k, l
    cdef real[VECTOR] total
    cdef const real* at
    cdef real tap
    for c in range(0, d.K, 16):
        for l in range(VECTOR):
            total[l] = 0
        for k in range(-d.W, d.W + 1):
            at = row + c - sign * k
            tap = d.taps[k]
            for l in range(VECTOR):
                total[l] += at[l] * tap
        for l in range(VECTOR):
            out[c + l] = total[l]


cdef inline real add_lanes(real* lanes) noexcept nogil:
    """The sum of VECTOR numbers, by halves; they are used up."""
    cdef int64_t l
    for l in range(8):
        lanes[l] += lanes[l + 8]
    for l in range(4):
        lanes[l] += lanes[l + 4]
    for l in range(2):
        lanes[l] += lanes[l + 2]
    return lanes[0] + lanes[1]


cdef double alpha_pass(Direction* d) noexcept nogil:
    """alpha and twin of every row; returns log p(f | e).

    alpha_j(i) = emit_j(i) * sum_i' (alpha + twin)_{j-1}(i') T(i', i)      twin_j(i) = p0 * null_j * (alpha + twin)_{j-1}(i)
    """
    cdef int64_t K = d.K, W = d.W, i, j, c, l
    cdef real[VECTOR] lanes
    cdef real* alpha = d.alpha
    cdef real* twin = d.twin
    cdef const real* emit = d.emit
    cdef real total, inverse, null, far
    cdef double loglik = 0
    for j in range(d.J):
        null = d.p0 * d.null[j]
        if j == 0:
            for i in range(K):
                alpha[i] = (1 - d.p0) * d.start[i] * emit[i]
                twin[i] = null * d.start[i]
        else:
            convolve(d, d.u, 1, d.next)
            far = 0
            for i in range(W + 1, d.I):  # from positions before i - W
                far += d.u[i - W - 1] * d.right[i - W - 1]
                d.next[i] += far
            far = 0
            for i in range(d.I - W - 2, -1, -1):  # from positions beyond i + W
                far += d.u[i + W + 1] * d.left[i + W + 1]
                d.next[i] += far
            for i in range(K):
                twin[i] = null * d.beta[i]
                alpha[i] = d.next[i] * emit[i]
        for l in range(VECTOR):
            lanes[l] = 0
        for c in range(0, K, 16):
            for l in range(VECTOR):
                lanes[l] += alpha[c + l] + twin[c + l]
        total = add_lanes(lanes)
        loglik += log(total)
        d.scale[j] = total
        inverse = 1 / total
        for i in range(K):
            alpha[i] *= inverse
            twin[i] *= inverse
            d.beta[i] = alpha[i] + twin[i]  # what the next row comes from
            d.u[i] = d.beta[i] * d.leave[i]
        alpha += K
        twin += K
        emit += K
    return loglik


cdef void beta_pass(Direction* d) noexcept nogil:
    """alpha becomes gamma, and null the posterior of NULL; cross collects expected jumps of the window.

    beta_{j-1}(i') = (sum_i T(i', i) v_j(i) + p0 * null_j * beta_j(i')) / scale_j,   v_j(i) = emit_j(i) * beta_j(i)
    xi_j(i', i) = u_{j-1}(i') * v_j(i) / scale_j times jump: its sums by distance, without jump, are added to cross
    """
    cdef int64_t I = d.I, K = d.K, W = d.W, i, j, k, c, l
    cdef real* alpha = d.alpha + d.J * K
    cdef real* twin = d.twin + d.J * K
    cdef const real* emit = d.emit + d.J * K
    cdef real* beta = d.beta
    cdef real* near = d.next
    cdef real* u = d.u
    cdef real* v = d.v
    cdef real[VECTOR] lanes
    cdef const real* before
    cdef const real* twin_before
    cdef real* sums
    cdef const real* at
    cdef real total, inverse, null
    cdef real far_left = 0, far_right = 0
    for i in range(K):
        beta[i] = 1
    for j in range(d.J - 1, -1, -1):
        alpha -= K
        twin -= K
        emit -= K
        for l in range(VECTOR):
            lanes[l] = 0
        for c in range(0, K, 16):
            for l in range(VECTOR):
                lanes[l] += twin[c + l] * beta[c + l]
        total = add_lanes(lanes)
        inverse = 1 / d.scale[j]
        null = d.p0 * d.null[j] * inverse
        d.null[j] = total
        if j == 0:
            break
        before = alpha - K
        twin_before = twin - K
        for i in range(K):
            v[i] = emit[i] * beta[i] * inverse
        for i in range(K):
            u[i] = (before[i] + twin_before[i]) * d.leave[i]
        for i in range(K):
            alpha[i] *= beta[i]
        convolve(d, v, -1, near)
        for k in range(-W, W + 1):
            sums = d.cross + (MARGIN + k) * VECTOR
            for l in range(VECTOR):
                lanes[l] = sums[l]  # a copy, which nothing else can point to: the loop below becomes one instruction
            for c in range(0, K, 16):
                at = v + c + k
                for l in range(VECTOR):
                    lanes[l] += u[c + l] * at[l]
            for l in range(VECTOR):
                sums[l] = lanes[l]
        total = 0
        for i in range(I - W - 2, -1, -1):  # to positions beyond i + W
            total += v[i + W + 1]
            near[i] += d.right[i] * total
            far_right += u[i] * d.right[i] * total
        total = 0
        for i in range(W + 1, I):  # to positions before i - W
            total += v[i - W - 1]
            near[i] += d.left[i] * total
            far_left += u[i] * d.left[i] * total
        for i in range(K):
            beta[i] = d.leave[i] * near[i] + null * beta[i]
    for i in range(K):
        d.u[i] = (alpha[i] + twin[i]) * beta[i]  # posterior of being at i first
        alpha[i] *= beta[i]
    d.far_left = far_left
    d.far_right = far_right


cdef inline int64_t fixed(double x) noexcept nogil:
    """An expected count as an integer: 1 is 2^32."""
    return <int64_t>(x * ONE + 0.5)


cdef void add_jumps(Direction* d, int64_t* jumps) noexcept nogil:
    """Expected jumps [2 W + 3] and first positions [W + 1] of a direction, after its beta_pass."""
    cdef int64_t W = d.W, k, l, i
    cdef double total
    for k in range(-W, W + 1):
        total = 0
        for l in range(VECTOR):
            total += d.cross[(MARGIN + k) * VECTOR + l]
        jumps[1 + W + k] += fixed(total * d.taps[k])
    jumps[0] += fixed(d.far_left)
    jumps[2 * W + 2] += fixed(d.far_right)
    for i in range(d.I):
        jumps[2 * W + 3 + (i if i < W else W)] += fixed(d.u[i])


cdef struct Parameters:
    # What the lattices are made of, see the module's docstring
    const int64_t* rows
    const real* t
    const real* null_fwd
    const real* null_rev
    const double* jump
    const double* first
    int64_t W
    double p0


cdef Parameters parameters(
    const int64_t[::1] rows, const real[:, ::1] t, const real[::1] null_fwd, const real[::1] null_rev,
    const double[:, ::1] jump, const double[:, ::1] first, double p0,
):
    cdef Parameters m
    m.rows = &rows[0]
    m.t = &t[0, 0] if t.shape[0] else NULL
    m.null_fwd = &null_fwd[0] if null_fwd.shape[0] else NULL
    m.null_rev = &null_rev[0] if null_rev.shape[0] else NULL
    m.jump = &jump[0, 0]
    m.first = &first[0, 0]
    m.W = first.shape[1] - 1
    m.p0 = p0
    return m


cdef struct Text:
    # Sentence pairs and their cells; ids and cells are -1 for what the model does not know
    const int32_t* src_ids
    const int64_t* src_offsets
    const int32_t* tgt_ids
    const int64_t* tgt_offsets
    const int32_t* cells
    const int64_t* cell_offsets


cdef Text sentences(
    const int32_t[::1] src_ids, const int64_t[::1] src_offsets, const int32_t[::1] tgt_ids,
    const int64_t[::1] tgt_offsets, const int32_t[::1] cells, const int64_t[::1] cell_offsets,
):
    cdef Text x
    x.src_ids = &src_ids[0] if src_ids.shape[0] else NULL
    x.src_offsets = &src_offsets[0]
    x.tgt_ids = &tgt_ids[0] if tgt_ids.shape[0] else NULL
    x.tgt_offsets = &tgt_offsets[0]
    x.cells = &cells[0] if cells.shape[0] else NULL
    x.cell_offsets = &cell_offsets[0]
    return x


cdef bint set_up(Text* x, Py_ssize_t n, Parameters* m, Direction* fwd, Direction* rev, real* work) noexcept nogil:
    """Both lattices of sentence pair n, ready for alpha_pass; False if a side is empty.

    The forward lattice has the source's words as states, the reverse the target's.
    """
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n]
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef const real* row
    cdef int64_t i, j
    if I == 0 or J == 0:
        return False
    lay_out(fwd, I, J, work)
    lay_out(rev, J, I, work + room_for(I, J))
    fwd.W = rev.W = m.W
    fwd.p0 = rev.p0 = <real>m.p0
    fwd.jump = m.jump
    rev.jump = m.jump + 2 * m.W + 3
    fwd.first = m.first
    rev.first = m.first + m.W + 1
    set_transitions(fwd)
    set_transitions(rev)
    for j in range(J):
        fwd.null[j] = FLOOR + (m.null_fwd[tgt[j]] if tgt[j] >= 0 else 0)
        for i in range(I, fwd.K):
            fwd.emit[j * fwd.K + i] = 0
    for i in range(I):
        rev.null[i] = FLOOR + (m.null_rev[src[i]] if src[i] >= 0 else 0)
        row = m.t + 2 * m.rows[src[i]] if src[i] >= 0 else NULL
        for j in range(J):
            if cell[j] >= 0:
                fwd.emit[j * fwd.K + i] = FLOOR + row[2 * cell[j]]
                rev.emit[i * rev.K + j] = FLOOR + row[2 * cell[j] + 1]
            else:
                fwd.emit[j * fwd.K + i] = FLOOR
                rev.emit[i * rev.K + j] = FLOOR
        for j in range(J, rev.K):
            rev.emit[i * rev.K + j] = 0
        cell += J
    return True


cdef void find_posteriors(Direction* fwd, Direction* rev, double* loglik) noexcept nogil:
    """alpha becomes gamma in both lattices. What an E-step does to one sentence pair: constraints change it here."""
    loglik[0] = alpha_pass(fwd)
    loglik[1] = alpha_pass(rev)
    beta_pass(fwd)
    beta_pass(rev)


def e_step(
    const int32_t[::1] src_ids not None, const int64_t[::1] src_offsets not None,  # IN
    const int32_t[::1] tgt_ids not None, const int64_t[::1] tgt_offsets not None,  # IN
    const int32_t[::1] cells not None, const int64_t[::1] cell_offsets not None,   # IN
    const int64_t[::1] rows not None, const real[:, ::1] t not None,               # IN
    const real[::1] null_fwd not None, const real[::1] null_rev not None,          # IN
    const double[:, ::1] jump not None,    # IN, [2, 2 W + 3] forward, reverse
    const double[:, ::1] first not None,   # IN, [2, W + 1]
    double p0,                             # IN
    int64_t work_size,                     # IN, the largest width(I, J)
    int64_t[:, ::1] counts not None,       # OUT, [P, 2] added to
    int64_t[:, ::1] fwd_nulls not None,    # OUT, [n_threads, V_tgt] added to
    int64_t[:, ::1] rev_nulls not None,    # OUT, [n_threads, V_src] added to
    int64_t[:, :, ::1] jumps not None,     # OUT, [n_threads, 2, 3 W + 4] added to
    double[:, ::1] loglik not None,        # OUT, [S, 2]
    int n_threads,
):
    """Expected counts of both directions, as integers of 2^-32."""
    cdef Parameters m = parameters(rows, t, null_fwd, null_rev, jump, first, p0)
    cdef Text x = sentences(src_ids, src_offsets, tgt_ids, tgt_offsets, cells, cell_offsets)
    cdef int64_t* counts_at = &counts[0, 0] if counts.shape[0] else NULL
    cdef Py_ssize_t n
    cdef int k
    cdef real* work = <real*>calloc(n_threads * work_size, sizeof(real))
    if work == NULL:
        raise MemoryError("no room for the lattices")
    for n in prange(loglik.shape[0], schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        k = threadid()
        count_pair(
            &x, n, &m, counts_at, &fwd_nulls[k, 0], &rev_nulls[k, 0], &jumps[k, 0, 0], &loglik[n, 0], work + k * work_size
        )
    free(work)


cdef enum:
    QUEUE = 16  # additions under way

cdef struct Queue:
    # Additions whose place in memory has been asked for: an atomic addition would wait for it, and all others with it
    int64_t n
    int64_t* at[QUEUE]
    int64_t value[QUEUE]


cdef inline void add_later(Queue* q, int64_t* at, int64_t value) noexcept nogil:
    cdef int64_t slot = q.n % QUEUE
    if q.n >= QUEUE:
        atomic_add(q.at[slot], q.value[slot])
    PREFETCH(at)
    q.at[slot] = at
    q.value[slot] = value
    q.n += 1


cdef inline void add_rest(Queue* q) noexcept nogil:
    cdef int64_t k
    for k in range(q.n if q.n < QUEUE else QUEUE):
        atomic_add(q.at[k], q.value[k])


cdef void count_pair(
    Text* x, Py_ssize_t n, Parameters* m, int64_t* counts, int64_t* fwd_nulls, int64_t* rev_nulls, int64_t* jumps,
    double* loglik, real* work,
) noexcept nogil:
    """Adds the expected counts of sentence pair n."""
    cdef Direction fwd, rev
    cdef const int32_t* src = x.src_ids + x.src_offsets[n]
    cdef const int32_t* tgt = x.tgt_ids + x.tgt_offsets[n]
    cdef const int32_t* cell = x.cells + x.cell_offsets[n]
    cdef int64_t i, j
    cdef int64_t* row
    cdef real f, r
    cdef Queue queue
    queue.n = 0
    loglik[0] = 0
    loglik[1] = 0
    if not set_up(x, n, m, &fwd, &rev, work):
        return
    find_posteriors(&fwd, &rev, loglik)
    add_jumps(&fwd, jumps)
    add_jumps(&rev, jumps + 3 * m.W + 4)
    for j in range(fwd.J):
        fwd_nulls[tgt[j]] += fixed(fwd.null[j])
    for i in range(rev.J):
        rev_nulls[src[i]] += fixed(rev.null[i])
        row = counts + 2 * m.rows[src[i]]
        for j in range(fwd.J):
            f = fwd.alpha[j * fwd.K + i]
            r = rev.alpha[i * rev.K + j]
            if f > TINY:
                add_later(&queue, row + 2 * cell[j], fixed(f))
            if r > TINY:
                add_later(&queue, row + 2 * cell[j] + 1, fixed(r))
        cell += fwd.J
    add_rest(&queue)


def normalize(
    const int64_t[::1] rows not None, const int32_t[::1] pair_tgt not None,  # IN
    int n_tgt_words,                                                         # IN
    const int64_t[:, ::1] counts not None,                                   # IN, [P, 2]
    real[:, ::1] t not None,                                                 # OUT, [P, 2]
):
    """t(f | e) and t(e | f) from expected counts: each divided by the sum of its row, of its target word."""
    cdef int64_t[::1] total = np.zeros(max(1, n_tgt_words), dtype=np.int64)
    cdef Py_ssize_t e, k
    cdef int64_t mass
    with nogil:
        for e in range(rows.shape[0] - 1):
            mass = 0
            for k in range(rows[e], rows[e + 1]):
                mass += counts[k, 0]
                total[pair_tgt[k]] += counts[k, 1]
            for k in range(rows[e], rows[e + 1]):
                t[k, 0] = <real>(counts[k, 0] / <double>max(mass, 1))
        for k in range(pair_tgt.shape[0]):
            t[k, 1] = <real>(counts[k, 1] / <double>max(total[pair_tgt[k]], 1))


def decode(
    const int32_t[::1] src_ids not None, const int64_t[::1] src_offsets not None,  # IN
    const int32_t[::1] tgt_ids not None, const int64_t[::1] tgt_offsets not None,  # IN
    const int32_t[::1] cells not None, const int64_t[::1] cell_offsets not None,   # IN
    const int64_t[::1] rows not None, const real[:, ::1] t not None,               # IN
    const real[::1] null_fwd not None, const real[::1] null_rev not None,          # IN
    const double[:, ::1] jump not None, const double[:, ::1] first not None,       # IN
    double p0,                             # IN
    int64_t work_size,                     # IN, the largest width(I, J)
    bint viterbi,                          # IN, the best path; else posteriors
    double cutoff,                         # IN, posteriors up to it are left out
    int n_threads,
):
    """Links of each direction: [forward, reverse], each (offsets [S + 1], src, tgt, scores [n_links])."""
    cdef Parameters m = parameters(rows, t, null_fwd, null_rev, jump, first, p0)
    cdef Text x = sentences(src_ids, src_offsets, tgt_ids, tgt_offsets, cells, cell_offsets)
    cdef Py_ssize_t S = src_offsets.shape[0] - 1
    cdef Py_ssize_t B = (S + 63) // 64
    cdef Py_ssize_t b, n, k, begin, last
    cdef int64_t[:, ::1] lengths = np.zeros((2, S + 1), dtype=np.int64)
    cdef vector[vector[Link]] found = vector[vector[Link]](2 * B)
    cdef real* work = <real*>calloc(n_threads * work_size, sizeof(real))
    if work == NULL:
        raise MemoryError("no room for the lattices")
    for b in prange(B, schedule="dynamic", num_threads=n_threads, nogil=True):
        begin = 64 * b
        last = min(begin + 64, S)
        for n in range(begin, last):
            decode_pair(
                &x, n, &m, viterbi, <real>cutoff, found[2 * b], found[2 * b + 1], &lengths[0, n + 1], &lengths[1, n + 1],
                work + threadid() * work_size,
            )
    free(work)
    results = []
    for k in range(2):
        offsets = np.cumsum(lengths[k])
        results.append((offsets, *collect(found, k, offsets[S])))
    return results


cdef struct Link:
    int32_t src
    int32_t tgt
    real score


cdef tuple collect(vector[vector[Link]]& found, Py_ssize_t k, Py_ssize_t n_links):
    """The links of direction k from all blocks, as arrays."""
    arrays = np.empty(n_links, np.int32), np.empty(n_links, np.int32), np.empty(n_links, np.float64)
    cdef int32_t[::1] src = arrays[0]
    cdef int32_t[::1] tgt = arrays[1]
    cdef double[::1] scores = arrays[2]
    cdef Py_ssize_t at = 0
    cdef size_t b, i
    with nogil:
        for b in range(k, found.size(), 2):
            for i in range(found[b].size()):
                src[at] = found[b][i].src
                tgt[at] = found[b][i].tgt
                scores[at] = found[b][i].score
                at += 1
    return arrays


cdef void decode_pair(
    Text* x, Py_ssize_t n, Parameters* m, bint viterbi, real cutoff, vector[Link]& fwd_found, vector[Link]& rev_found,
    int64_t* fwd_length, int64_t* rev_length, real* work,
) noexcept nogil:
    """Appends the links of sentence pair n, by source, then target."""
    cdef Direction fwd, rev
    cdef double[2] loglik
    cdef int64_t i, j
    cdef Link link
    if not set_up(x, n, m, &fwd, &rev, work):
        return
    if viterbi:
        best_path(&fwd)
        best_path(&rev)
    else:
        find_posteriors(&fwd, &rev, loglik)
    for i in range(fwd.I):
        for j in range(fwd.J):
            link.src = <int32_t>i
            link.tgt = <int32_t>j
            link.score = fwd.alpha[j * fwd.K + i]
            if link.score > cutoff:
                fwd_found.push_back(link)
                fwd_length[0] += 1
            link.score = rev.alpha[i * rev.K + j]
            if link.score > cutoff:
                rev_found.push_back(link)
                rev_length[0] += 1


cdef void best_path(Direction* d) noexcept nogil:
    """alpha becomes 1 on the links of the best path, 0 elsewhere.

    delta_j(i) = emit_j(i) * max_i' best_{j-1}(i') T(i', i)    twin_j(i) = p0 * null_j * best_{j-1}(i)
    best_j(i) = max(delta_j(i), twin_j(i)), rows scaled by their maximum. Ties go to the first position, and to words.
    alpha keeps delta, twin the twins'; from [J, K], laid over emit when its row is done, where each word came from.
    """
    cdef int64_t I = d.I, K = d.K, W = d.W, i, j, k, low, high, from_right, from_left, k2
    cdef real* delta = d.alpha
    cdef real* twin = d.twin
    cdef real* emit = d.emit
    cdef real* best = d.beta
    cdef real top, value, right, left, null
    for j in range(d.J):
        null = d.p0 * d.null[j]
        if j == 0:
            for i in range(I):
                delta[i] = (1 - d.p0) * d.start[i] * emit[i]
                twin[i] = null * d.start[i]
        else:
            for i in range(I):
                twin[i] = null * best[i]
                d.u[i] = best[i] * d.leave[i]
            right = -1  # the best start of a jump to the right bucket, of positions up to i - W - 1
            from_right = 0
            for i in range(I):
                d.next[i] = -1
                if i > W and d.u[i - W - 1] * d.right[i - W - 1] > right:
                    right = d.u[i - W - 1] * d.right[i - W - 1]
                    from_right = i - W - 1
                value = right
                k = from_right
                low = max(0, i - W)
                high = min(I - 1, i + W)
                for k2 in range(low, high + 1):
                    if d.u[k2] * d.taps[i - k2] > value:
                        value = d.u[k2] * d.taps[i - k2]
                        k = k2
                d.next[i] = value
                d.v[i] = <real>k
            left = -1
            from_left = 0
            for i in range(I - 1, -1, -1):
                if i + W + 1 < I and d.u[i + W + 1] * d.left[i + W + 1] >= left:
                    left = d.u[i + W + 1] * d.left[i + W + 1]
                    from_left = i + W + 1
                if left > d.next[i]:
                    d.next[i] = left
                    d.v[i] = <real>from_left
                delta[i] = d.next[i] * emit[i]
                emit[i] = d.v[i]
        top = 0
        for i in range(I):
            best[i] = max(delta[i], twin[i])
            top = max(top, best[i])
        for i in range(I):
            delta[i] /= top
            twin[i] /= top
            best[i] /= top
        delta += K
        twin += K
        emit += K
    k = 0
    for i in range(I):
        if best[i] > best[k]:
            k = i
    for j in range(d.J - 1, -1, -1):
        delta -= K
        twin -= K
        emit -= K
        high = delta[k] >= twin[k]  # the word itself, not its twin
        memset(delta, 0, K * sizeof(real))
        if high:
            delta[k] = 1
            if j > 0:
                k = <int64_t>emit[k]


def width(int64_t I, int64_t J) -> int:
    """Reals of work space that a pair of I and J words needs, both directions."""
    return room_for(I, J) + room_for(J, I)
