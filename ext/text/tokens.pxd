"""The source tokens of a text, word by word.

A kernel that counts by source words needs no atomic additions: all word pairs of one source word stand together, so no two
threads touch the same count.
"""

from libc.stdint cimport int32_t, int64_t

cdef enum:
    BLOCKS = 256  # parts of a shard that threads take in turn


cdef inline void sort_tokens(
    const int32_t* ids, const int64_t* offsets, int64_t S, int64_t V, int64_t* starts, int32_t* order, int32_t* sentence,
    int64_t B, int64_t* blocks,
) noexcept nogil:
    """Sorts the tokens of S sentences by word, and cuts the words into B blocks of about equally many tokens.

    ids       word ids; sentence n's are ids[offsets[n]:offsets[n + 1]]; -1 for words that are unknown
    starts    [V + 2]  word e's tokens are order[starts[e]:starts[e + 1]]; zeros to begin with
    order     [n]      tokens of known words, from the first sentence's on, by word; of one word by place in the text
    sentence  [n]      token -> its sentence
    blocks    [B + 1]  block b is the words blocks[b] to blocks[b + 1]
    """
    cdef const int32_t* first = ids + offsets[0]
    cdef int64_t n_tokens = offsets[S] - offsets[0], n_known = 0
    cdef int64_t n, k, e, b
    for n in range(S):
        for k in range(offsets[n], offsets[n + 1]):
            sentence[k - offsets[0]] = <int32_t>n
    for k in range(n_tokens):
        if first[k] >= 0:
            starts[first[k] + 2] += 1
            n_known += 1
    b = 0
    for e in range(V):  # starts[e + 1] becomes the place of e's first token
        starts[e + 1] += starts[e]
        while b < B and starts[e + 1] * B >= b * n_known:
            blocks[b] = e
            b += 1
    while b <= B:
        blocks[b] = V
        b += 1
    for k in range(n_tokens):  # starts[e + 1] becomes the place of the first token of e + 1
        if first[k] >= 0:
            order[starts[first[k] + 1]] = <int32_t>k
            starts[first[k] + 1] += 1
