"""How alike two words are spelled: the letters of their longest common subsequence, as a share of the longer word.

The subsequence is found a letter of the second word at a time, by additions of 64-bit words in which bit i stands for letter
i of the first word (Hyyro 2004). Letters beyond the 64th do not count.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

import numpy as np

from checks cimport check_ids, check_offsets, check_threads

cdef extern from *:
    """
    static inline int count_bits(unsigned long long x) { return __builtin_popcountll(x); }
    """
    int count_bits(uint64_t x) noexcept nogil

cdef enum:
    SHORT = 3   # words of fewer letters are alike only if they are equal
    LONG = 64

MOST_LETTERS = LONG  # of a word that are compared


cdef inline int64_t common(const uint32_t* a, int64_t n_a, const uint32_t* b, int64_t n_b) noexcept nogil:
    """The length of the longest common subsequence of two words of up to 64 letters."""
    cdef uint64_t rest = ~<uint64_t>0, match, hit
    cdef int64_t i, j
    for j in range(n_b):
        match = 0
        for i in range(n_a):
            match |= <uint64_t>(a[i] == b[j]) << i
        hit = rest & match
        rest = (rest + hit) | (rest - hit)
    return count_bits(~rest & (~<uint64_t>0 >> (LONG - n_a)))


cdef inline uint8_t alike(const uint32_t* a, int64_t n_a, const uint32_t* b, int64_t n_b) noexcept nogil:
    """255 times the share; 0 if it is below a half, or if one word is short and the words are not equal."""
    cdef int64_t longer, n
    n_a = min(n_a, <int64_t>LONG)
    n_b = min(n_b, <int64_t>LONG)
    longer = max(n_a, n_b)
    if min(n_a, n_b) == 0 or 2 * min(n_a, n_b) < longer:
        return 0
    n = common(a, n_a, b, n_b)
    if 2 * n < longer or min(n_a, n_b) < SHORT and not n == n_a == n_b:
        return 0
    return <uint8_t>(255 * n // longer)


def likeness(
    const uint32_t[::1] src not None, const int64_t[::1] src_offsets not None,  # IN, letters of source words
    const uint32_t[::1] tgt not None, const int64_t[::1] tgt_offsets not None,  # IN, letters of target words
    const int64_t[::1] rows not None, const int32_t[::1] pairs not None,        # IN, word pairs of each source word
    int n_threads,
):
    """[P] how alike the words of each word pair are, from 0 to 255."""
    cdef Py_ssize_t V = src_offsets.shape[0] - 1, e, k
    cdef const uint32_t* a
    cdef int64_t n_a
    check_threads(n_threads)
    check_offsets("offsets of source words", src_offsets, V, src.shape[0])
    check_offsets("offsets of target words", tgt_offsets, tgt_offsets.shape[0] - 1, tgt.shape[0])
    check_offsets("rows", rows, V, pairs.shape[0])
    check_ids("target words", pairs, 0, pairs.shape[0], 0, tgt_offsets.shape[0] - 1)
    found = np.zeros(pairs.shape[0], dtype=np.uint8)
    cdef uint8_t[::1] share = found
    if src.shape[0] == 0 or tgt.shape[0] == 0:
        return found
    for e in prange(V, schedule="dynamic", chunksize=64, num_threads=n_threads, nogil=True):
        a = &src[0] + src_offsets[e]
        n_a = src_offsets[e + 1] - src_offsets[e]
        for k in range(rows[e], rows[e + 1]):
            share[k] = alike(
                a, n_a, &tgt[0] + tgt_offsets[pairs[k]], tgt_offsets[pairs[k] + 1] - tgt_offsets[pairs[k]]
            )
    return found


def common_letters(
    const uint32_t[::1] src not None, const int64_t[::1] src_offsets not None,  # IN, letters of source words
    const uint32_t[::1] tgt not None, const int64_t[::1] tgt_offsets not None,  # IN, letters of target words
    const int32_t[::1] e not None, const int32_t[::1] f not None,               # IN, [n] word pairs
    int n_threads,
):
    """[2, n] of each word pair: letters of the longest common subsequence, and of the longest common beginning."""
    cdef Py_ssize_t k
    check_threads(n_threads)
    check_offsets("offsets of source words", src_offsets, src_offsets.shape[0] - 1, src.shape[0])
    check_offsets("offsets of target words", tgt_offsets, tgt_offsets.shape[0] - 1, tgt.shape[0])
    check_ids("source words", e, 0, e.shape[0], 0, src_offsets.shape[0] - 1)
    check_ids("target words", f, 0, f.shape[0], 0, tgt_offsets.shape[0] - 1)
    if e.shape[0] != f.shape[0]:
        raise ValueError("there are other numbers of source and target words")
    found = np.zeros((2, e.shape[0]), dtype=np.int32)
    cdef int32_t[:, ::1] n = found
    if src.shape[0] == 0 or tgt.shape[0] == 0:
        return found
    for k in prange(e.shape[0], schedule="static", num_threads=n_threads, nogil=True):
        compare(
            &src[0] + src_offsets[e[k]], src_offsets[e[k] + 1] - src_offsets[e[k]],
            &tgt[0] + tgt_offsets[f[k]], tgt_offsets[f[k] + 1] - tgt_offsets[f[k]], &n[0, k], &n[1, k],
        )
    return found


cdef inline void compare(
    const uint32_t* a, int64_t n_a, const uint32_t* b, int64_t n_b, int32_t* subsequence, int32_t* beginning
) noexcept nogil:
    cdef int64_t n = 0
    n_a = min(n_a, <int64_t>LONG)
    n_b = min(n_b, <int64_t>LONG)
    while n < n_a and n < n_b and a[n] == b[n]:
        n += 1
    beginning[0] = <int32_t>n
    subsequence[0] = <int32_t>common(a, n_a, b, n_b) if n_a > 0 and n_b > 0 else 0
