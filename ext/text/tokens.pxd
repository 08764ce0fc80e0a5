"""The source tokens of a text, word by word.

A kernel that counts by source words needs no atomic additions: all word pairs of one source word stand together, so no two
threads touch the same count.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

cdef enum:
    BLOCKS = 256  # parts of a shard that threads take in turn


cdef inline int64_t n_parts(int64_t n_tokens, int64_t V, int n_threads) noexcept nogil:
    """In how many parts sort_tokens takes tokens: one a thread, as long as a part has more tokens than there are words."""
    return max(1, min(<int64_t>n_threads, n_tokens // (V + 1)))


cdef inline void sort_tokens(
    const int32_t* ids, const int64_t* offsets, int64_t S, int64_t V, int64_t[:, ::1] starts, int32_t* order,
    int32_t* sentence, int64_t B, int64_t* blocks,
) noexcept nogil:
    """Sorts the tokens of S sentences by word, and cuts the words into B blocks of about equally many tokens.

    Each part of the tokens has a thread, which counts the words of its part and later puts its tokens behind those of the
    parts before. The order is the same for any number of parts.

    ids       word ids; sentence n's are ids[offsets[n]:offsets[n + 1]]; -1 for words that are unknown
    starts    [n_parts + 1, V + 1]  word e's tokens are order[starts[0, e]:starts[0, e + 1]]; the rest is for the parts
    order     [n]      tokens of known words, from the first sentence's on, by word; of one word by place in the text
    sentence  [n]      token -> its sentence
    blocks    [B + 1]  block b is the words blocks[b] to blocks[b + 1]
    """
    cdef const int32_t* first = ids + offsets[0]
    cdef int64_t n_tokens = offsets[S] - offsets[0], P = starts.shape[0] - 1, total = 0, count
    cdef int64_t n, k, e, p, b = 0
    cdef int n_threads = <int>P
    for n in prange(S, schedule="static", num_threads=n_threads):
        for k in range(offsets[n], offsets[n + 1]):
            sentence[k - offsets[0]] = <int32_t>n
    for p in prange(P, schedule="static", chunksize=1, num_threads=n_threads):
        count_part(first, p * n_tokens // P, (p + 1) * n_tokens // P, V, &starts[p + 1, 0])
    for e in range(V):  # starts[p + 1, e] becomes the place of e's first token in part p
        starts[0, e] = total
        for p in range(P):
            count = starts[p + 1, e]
            starts[p + 1, e] = total
            total += count
    starts[0, V] = total
    for e in range(V):
        while b < B and starts[0, e] * B >= b * total:
            blocks[b] = e
            b += 1
    while b <= B:
        blocks[b] = V
        b += 1
    for p in prange(P, schedule="static", chunksize=1, num_threads=n_threads):
        place_part(first, p * n_tokens // P, (p + 1) * n_tokens // P, &starts[p + 1, 0], order)


cdef inline void count_part(const int32_t* ids, int64_t begin, int64_t end, int64_t V, int64_t* counts) noexcept nogil:
    """counts  [V] word -> how often it stands among the tokens begin to end"""
    cdef int64_t k
    memset(counts, 0, V * sizeof(int64_t))
    for k in range(begin, end):
        if ids[k] >= 0:
            counts[ids[k]] += 1


cdef inline void place_part(const int32_t* ids, int64_t begin, int64_t end, int64_t* places, int32_t* order) noexcept nogil:
    """places  [V] word -> where its next token goes"""
    cdef int64_t k
    for k in range(begin, end):
        if ids[k] >= 0:
            order[places[ids[k]]] = <int32_t>k
            places[ids[k]] += 1
