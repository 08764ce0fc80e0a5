"""The source tokens of a shard, word by word.

A kernel that counts by source words needs no atomic additions: all word pairs of one source word stand together, so no two
threads touch the same count.
"""

from libc.stdint cimport int32_t, int64_t

from inputs cimport Text

cdef enum:
    BLOCKS = 256  # parts of a shard that threads take in turn


cdef inline void sort_tokens(
    Text* x, int64_t V, int64_t* starts, int32_t* order, int32_t* sentence, int64_t* blocks
) noexcept nogil:
    """Sorts the source tokens of a shard by word, and cuts the words into blocks of about equally many tokens.

    order     [n_src]       tokens, from the shard's first on, sorted by word
    starts    [V + 2]       word e's tokens are order[starts[e]:starts[e + 1]]; zeros to begin with
    sentence  [n_src]       token -> its sentence pair
    blocks    [BLOCKS + 1]  block b is the words blocks[b] to blocks[b + 1]
    """
    cdef const int32_t* src = x.src_ids + x.src_offsets[0]
    cdef int64_t n_src = x.src_offsets[x.S] - x.src_offsets[0]
    cdef int64_t n, k, e, b
    for n in range(x.S):
        for k in range(x.src_offsets[n], x.src_offsets[n + 1]):
            sentence[k - x.src_offsets[0]] = <int32_t>n
    for k in range(n_src):
        starts[src[k] + 2] += 1
    b = 0
    for e in range(V):  # starts[e + 1] becomes the place of e's first token
        starts[e + 1] += starts[e]
        while b < BLOCKS and starts[e + 1] * BLOCKS >= b * n_src:
            blocks[b] = e
            b += 1
    while b <= BLOCKS:
        blocks[b] = V
        b += 1
    for k in range(n_src):  # starts[e + 1] becomes the place of the first token of e + 1
        order[starts[src[k] + 1]] = <int32_t>k
        starts[src[k] + 1] += 1
