"""Model 1 in both directions at once (Brown et al. 1993).

    forward  p(f_j | e) = 1 / (I + 1) * (t(f_j | NULL) + sum_i t(f_j | e_i))
    reverse  the same with the sides swapped

t         [P, 2]     pair -> t(f | e), t(e | f)
null_fwd  [V_tgt]    f -> t(f | NULL)
null_rev  [V_src]    e -> t(e | NULL)
inv_fwd   [n_tgt]    target token -> 1 / (t(f_j | NULL) + sum_i t(f_j | e_i))
inv_rev   [n_src]    source token -> the same of the reverse direction

A link's posterior is t times the token's inverse, so that the inverses are all that one pass over the sentences must
keep. A second pass over source words then adds up the posteriors of each word's pairs, which stand together: no two
threads touch the same pair. What comes next is fetched ahead: the words' tokens are all over the text. With agreement (Liang et al. 2006), what is added up for both directions is the
product of their posteriors. Not here: what a pair is (_pairs.pyx).
"""

from cython.parallel cimport prange
from libc.math cimport log
from libc.stdint cimport int32_t, int64_t

from counts cimport fixed

cdef extern from "real.h":
    ctypedef float real

cdef extern from "prefetch.h":
    void PREFETCH(const void* address) noexcept nogil

cdef enum:
    AHEAD = 8  # tokens


def invert(
    const int32_t[::1] src_ids not None, const int64_t[::1] src_offsets not None,  # IN
    const int32_t[::1] tgt_ids not None, const int64_t[::1] tgt_offsets not None,  # IN
    const int32_t[::1] cells not None, const int64_t[::1] cell_offsets not None,   # IN
    const int64_t[::1] rows not None,                                              # IN
    const real[:, ::1] t not None,                                                 # IN
    const real[::1] null_fwd not None, const real[::1] null_rev not None,          # IN
    real[::1] inv_fwd not None, real[::1] inv_rev not None,                        # OUT
    double[:, ::1] loglik not None,                                                # OUT, [S, 2]
    int n_threads,
):
    """The inverses of all tokens, and each sentence's log-likelihoods; zero where a side is empty."""
    cdef Py_ssize_t S = loglik.shape[0]
    cdef Py_ssize_t n
    if cells.shape[0] == 0:  # every pair has an empty side
        inv_fwd[:] = 0
        inv_rev[:] = 0
        loglik[:, :] = 0
        return
    for n in prange(S, schedule="dynamic", chunksize=256, num_threads=n_threads, nogil=True):
        invert_sentence(
            &src_ids[0], src_offsets[n], src_offsets[n + 1], &tgt_ids[0], tgt_offsets[n], tgt_offsets[n + 1],
            &cells[0] + cell_offsets[n], &rows[0], &t[0, 0], &null_fwd[0], &null_rev[0], &inv_fwd[0], &inv_rev[0],
            &loglik[n, 0],
        )


cdef void invert_sentence(
    const int32_t* src_ids, int64_t src_begin, int64_t src_end, const int32_t* tgt_ids, int64_t tgt_begin,
    int64_t tgt_end, const int32_t* cell, const int64_t* rows, const real* t, const real* null_fwd,
    const real* null_rev, real* inv_fwd, real* inv_rev, double* loglik,
) noexcept nogil:
    cdef int64_t I = src_end - src_begin, J = tgt_end - tgt_begin
    cdef int64_t i, j
    cdef const real* row
    cdef real* fwd = inv_fwd + tgt_begin
    cdef real* rev = inv_rev + src_begin
    cdef real total
    loglik[0] = 0
    loglik[1] = 0
    if I == 0 or J == 0:
        for j in range(J):
            fwd[j] = 0
        for i in range(I):
            rev[i] = 0
        return
    for j in range(J):
        fwd[j] = null_fwd[tgt_ids[tgt_begin + j]]
    for i in range(I):
        row = t + 2 * rows[src_ids[src_begin + i]]
        total = null_rev[src_ids[src_begin + i]]
        for j in range(J):
            fwd[j] += row[2 * cell[j]]
            total += row[2 * cell[j] + 1]
        cell += J
        loglik[1] += log(total)
        rev[i] = 1 / total
    for j in range(J):
        loglik[0] += log(fwd[j])
        fwd[j] = 1 / fwd[j]
    loglik[0] -= J * log(<double>(I + 1))
    loglik[1] -= I * log(<double>(J + 1))


def count(
    const int64_t[::1] src_offsets not None, const int64_t[::1] tgt_offsets not None,  # IN
    const int32_t[::1] cells not None, const int64_t[::1] cell_offsets not None,       # IN
    const int64_t[::1] rows not None,                                                  # IN
    const int32_t[::1] order not None, const int64_t[::1] starts not None,             # IN
    const int32_t[::1] sentence not None, const int64_t[::1] blocks not None,          # IN
    const real[:, ::1] t not None,                                                     # IN
    const real[::1] inv_fwd not None, const real[::1] inv_rev not None,                # IN
    bint agree,                                                                        # IN
    int64_t[:, ::1] counts not None,                                                   # OUT, [P, 2] added to
    int n_threads,
):
    """Expected counts of both directions, as integers of 2^-32."""
    cdef Py_ssize_t B = blocks.shape[0] - 1
    cdef Py_ssize_t b
    if cells.shape[0] == 0:
        return
    for b in prange(B, schedule="dynamic", num_threads=n_threads, nogil=True):
        count_block(
            blocks[b], blocks[b + 1], &src_offsets[0], &tgt_offsets[0], &cells[0], &cell_offsets[0], &rows[0],
            &order[0], &starts[0], &sentence[0], &t[0, 0], &inv_fwd[0], &inv_rev[0], agree, &counts[0, 0],
        )


cdef void count_block(
    int64_t first, int64_t last, const int64_t* src_offsets, const int64_t* tgt_offsets, const int32_t* cells,
    const int64_t* cell_offsets, const int64_t* rows, const int32_t* order, const int64_t* starts,
    const int32_t* sentence, const real* t, const real* inv_fwd, const real* inv_rev, bint agree, int64_t* counts,
) noexcept nogil:
    """Source words [first, last)."""
    cdef int64_t e, k, j, n, J, both
    cdef int32_t token
    cdef const int32_t* cell
    cdef const real* fwd
    cdef const real* row
    cdef int64_t* total
    cdef real rev
    for e in range(first, last):
        row = t + 2 * rows[e]
        total = counts + 2 * rows[e]
        for k in range(starts[e], starts[e + 1]):
            if k + AHEAD < starts[last]:
                token = order[k + AHEAD]
                n = sentence[token]
                cell = cells + cell_offsets[n] + (token - src_offsets[n]) * (tgt_offsets[n + 1] - tgt_offsets[n])
                fwd = inv_fwd + tgt_offsets[n]
                PREFETCH(cell)
                PREFETCH(cell + 16)
                PREFETCH(fwd)
                PREFETCH(fwd + 16)
                PREFETCH(inv_rev + token)
            if k + 2 * AHEAD < starts[last]:
                n = sentence[order[k + 2 * AHEAD]]
                PREFETCH(tgt_offsets + n)
                PREFETCH(src_offsets + n)
                PREFETCH(cell_offsets + n)
            if k + 3 * AHEAD < starts[last]:
                PREFETCH(sentence + order[k + 3 * AHEAD])
            token = order[k]
            n = sentence[token]
            J = tgt_offsets[n + 1] - tgt_offsets[n]
            cell = cells + cell_offsets[n] + (token - src_offsets[n]) * J
            fwd = inv_fwd + tgt_offsets[n]
            rev = inv_rev[token]
            if agree:
                for j in range(J):
                    both = fixed(row[2 * cell[j]] * fwd[j] * (row[2 * cell[j] + 1] * rev))
                    total[2 * cell[j]] += both
                    total[2 * cell[j] + 1] += both
            else:
                for j in range(J):
                    total[2 * cell[j]] += fixed(row[2 * cell[j]] * fwd[j])
                    total[2 * cell[j] + 1] += fixed(row[2 * cell[j] + 1] * rev)


def count_nulls(
    const int32_t[::1] ids not None,    # IN, [n_tokens]
    const real[::1] null not None,      # IN, [V]
    const real[::1] inverse not None,   # IN, [n_tokens]
    int64_t[::1] counts not None,       # OUT, [V] added to
):
    """Expected counts of NULL in one direction: those of a token are null times its inverse."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(ids.shape[0]):
            counts[ids[k]] += fixed(null[ids[k]] * inverse[k])
