"""One side of a text, as the kernels of link files take it.

side     (ids, offsets, words, cuts)
ids      [n_tokens]     token -> word id
offsets  [S + 1]        sentence n is ids[offsets[n]:offsets[n + 1]]
words    [n_bytes]      all words, one after another
cuts     [n_words + 1]  word id w is words[cuts[w]:cuts[w + 1]]
"""

from libc.stdint cimport int32_t, int64_t

from checks cimport check_ids, check_offsets

ctypedef const unsigned char* text_t


cdef struct Side:
    Py_ssize_t S
    const int32_t* ids
    const int64_t* offsets
    text_t words
    const int64_t* cuts


cdef inline Side read_side(tuple arrays):
    """A side, after a look at whether its arrays fit together. None: S is 0."""
    cdef Side s
    s.S = 0
    if arrays is None:
        return s
    cdef const int32_t[::1] ids = arrays[0]
    cdef const int64_t[::1] offsets = arrays[1]
    cdef const unsigned char[::1] words = arrays[2]
    cdef const int64_t[::1] cuts = arrays[3]
    check_offsets("offsets", offsets, offsets.shape[0] - 1, ids.shape[0])
    check_offsets("cuts", cuts, cuts.shape[0] - 1, words.shape[0])
    check_ids("ids", ids, 0, ids.shape[0], 0, cuts.shape[0] - 1)
    s.S = offsets.shape[0] - 1
    s.offsets = &offsets[0]
    s.ids = &ids[0] if ids.shape[0] else NULL
    s.words = &words[0] if words.shape[0] else NULL
    s.cuts = &cuts[0]
    return s
