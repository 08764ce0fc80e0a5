"""What the lexicon of a view says of candidate links: translation probabilities, and the counts behind them.

A lexicon with evidence leaves out what the sentence pair itself had counted, as the emissions of lattices do
(emissions.pxd). A lexicon without evidence has probabilities and no counts.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free

import numpy as np

from checks cimport check_offsets, check_threads
from emissions cimport Own, Share, Sight, find_share, read_evidence, read_own, room_for_share
from inputs cimport Text, read_text, read_words
from vectors cimport new_work, padded, real

cdef enum:
    N_ROWS = 5  # of what is told of a candidate


def tables(
    object shard, object lexicon, object own,  # IN, a view's (aligner/text/cells.py, models/lexicon.py, models/shares.py)
    const int64_t[::1] offsets not None,       # IN, [S + 1] candidates of each sentence pair
    const int32_t[::1] src not None,           # IN, [n]
    const int32_t[::1] tgt not None,           # IN, [n]
    int n_threads,
):
    """[5, n] of each candidate (e, f): t(f | e), t(e | f), the count of (e, f), those of e and of f."""
    cdef list held = []
    cdef Sight v
    cdef Own o
    cdef Py_ssize_t n
    check_threads(n_threads)
    v.w = read_words(lexicon, held)
    v.x = read_text(shard, &v.w, False, held)
    v.m = read_evidence(lexicon.evidence, &v.w, held)
    o = read_own(own, v.x.S, held)
    check_candidates(&v.x, offsets, src, tgt)
    found = np.zeros((N_ROWS, src.shape[0]), np.float32)
    cdef float[:, ::1] out = found
    cdef int64_t room = widest(&v.x)
    cdef real* work = new_work(n_threads * room)
    try:
        for n in prange(v.x.S, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
            if offsets[n] < offsets[n + 1]:
                if v.m.there:
                    from_counts(&v, &o, n, offsets[n], offsets[n + 1], src, tgt, out, work + threadid() * room)
                else:
                    from_lexicon(&v, n, offsets[n], offsets[n + 1], src, tgt, out)
    finally:
        free(work)
    return found


cdef int check_candidates(
    Text* x, const int64_t[::1] offsets, const int32_t[::1] src, const int32_t[::1] tgt
) except -1:
    """Refuses candidates that are outside their sentence pairs."""
    cdef int64_t n, k
    check_offsets("offsets", offsets, x.S, src.shape[0])
    if src.shape[0] != tgt.shape[0]:
        raise ValueError("candidates have source and target words of different numbers")
    for n in range(x.S):
        for k in range(offsets[n], offsets[n + 1]):
            if not (
                0 <= src[k] < x.src_offsets[n + 1] - x.src_offsets[n]
                and 0 <= tgt[k] < x.tgt_offsets[n + 1] - x.tgt_offsets[n]
            ):
                raise ValueError(f"candidate {src[k]}-{tgt[k]} is outside sentence pair {n}")
    return 0


cdef int64_t widest(Text* x) noexcept nogil:
    """Reals of work space that are enough for every sentence pair."""
    cdef int64_t n, most = 1
    for n in range(x.S):
        most = max(
            most, room_for_share(x.src_offsets[n + 1] - x.src_offsets[n], x.tgt_offsets[n + 1] - x.tgt_offsets[n])
        )
    return padded(most)


cdef inline const real* entry(Sight* v, int64_t n, int64_t i, int64_t j) noexcept nogil:
    """Where the two probabilities of cell (i, j) stand; NULL: the word pair is unknown."""
    cdef int64_t J = v.x.tgt_offsets[n + 1] - v.x.tgt_offsets[n]
    cdef int32_t e = v.x.src_ids[v.x.src_offsets[n] + i]
    cdef int32_t cell = v.x.cells[v.x.cell_offsets[n] + i * J + j]
    if e < 0 or v.x.tgt_ids[v.x.tgt_offsets[n] + j] < 0 or not 0 <= cell < v.w.rows[e + 1] - v.w.rows[e]:
        return NULL
    return v.w.t + 2 * (v.w.rows[e] + cell)


cdef void from_lexicon(
    Sight* v, int64_t n, int64_t begin, int64_t end, const int32_t[::1] src, const int32_t[::1] tgt, float[:, ::1] out
) noexcept nogil:
    cdef int64_t k
    cdef const real* t
    for k in range(begin, end):
        t = entry(v, n, src[k], tgt[k])
        if t != NULL:
            out[0, k] = t[0]
            out[1, k] = t[1]


cdef void from_counts(
    Sight* v, Own* own, int64_t n, int64_t begin, int64_t end, const int32_t[::1] src, const int32_t[::1] tgt,
    float[:, ::1] out, real* memory,
) noexcept nogil:
    """count = t(f | e) src(e) - left_out own(e, f), and what the counts are divided by, as emissions.pxd has them."""
    cdef int64_t I = v.x.src_offsets[n + 1] - v.x.src_offsets[n], J = v.x.tgt_offsets[n + 1] - v.x.tgt_offsets[n]
    cdef int64_t k, i, j
    cdef Share s
    cdef const real* t
    cdef real left = own.left_out if own.start != NULL else 0
    cdef real many_e, many_f, count
    find_share(v, own, n, I, J, &s, &memory)
    for k in range(begin, end):
        i = s.src.first[src[k]]
        j = s.tgt.first[tgt[k]]
        many_e = v.m.src.many[s.src.ids[i]] if s.src.ids[i] >= 0 else v.m.alpha
        many_f = v.m.tgt.many[s.tgt.ids[j]] if s.tgt.ids[j] >= 0 else v.m.alpha
        t = entry(v, n, src[k], tgt[k])
        count = 0
        if t != NULL:
            count = max(<real>0, t[0] * many_e - left * s.links[i * J + j])
        many_e = max(v.m.alpha, many_e - left * v.m.src.kappa * s.src.own[i])
        many_f = max(v.m.alpha, many_f - left * v.m.tgt.kappa * s.tgt.own[j])
        out[0, k] = count / many_e
        out[1, k] = count / many_f
        out[2, k] = count
        out[3, k] = many_e
        out[4, k] = many_f
