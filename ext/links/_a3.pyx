"""Links as an A3 file of GIZA++, one direction: three lines a sentence pair.

    # Sentence pair (N) source length L target length M alignment score : S
    t_1 ... t_M
    NULL ({ 3 }) s_1 ({ 1 2 }) s_2 ({ }) ... s_L ({ 4 })

Line 3 has the source words, each with the positions, from 1, of the target words that it generates. NULL generates the
target words that have no link. Sides are those of side.pxd. Not here: reading (_giza.pyx).
"""

from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy, strlen
from libcpp.vector cimport vector

from checks cimport check_offsets
from side cimport Side, read_side, text_t

cdef extern from "Python.h":
    char* PyOS_double_to_string(double x, char code, int precision, int flags, int* kind) except NULL

cdef enum:
    NUMBER = 22  # bytes that a number and the blank after it need at most
    HEADER = 90 + 4 * NUMBER


cdef inline unsigned char* put(unsigned char* out, text_t text, size_t n) noexcept nogil:
    memcpy(out, text, n)
    return out + n


cdef inline unsigned char* put_words(unsigned char* out, Side* s, int64_t begin, int64_t end) noexcept nogil:
    """The tokens from begin to end, with a blank after each."""
    cdef int64_t k
    cdef int32_t word
    for k in range(begin, end):
        word = s.ids[k]
        out = put(out, s.words + s.cuts[word], s.cuts[word + 1] - s.cuts[word])
        out[0] = c' '
        out += 1
    return out


cdef Py_ssize_t bytes_of(Side* s) noexcept nogil:
    """The bytes of all tokens."""
    cdef Py_ssize_t n = 0
    cdef int64_t k
    for k in range(s.offsets[0], s.offsets[s.S]):
        n += s.cuts[s.ids[k] + 1] - s.cuts[s.ids[k]]
    return n


def format_a3(
    const int64_t[::1] offsets not None,   # IN, [S + 1]
    const int32_t[::1] link_src not None,  # IN
    const int32_t[::1] link_tgt not None,  # IN
    tuple src not None,                    # IN, the side of line 3, of S sentences
    tuple tgt not None,                    # IN, the side of line 2, of S sentences
    const int64_t[::1] numbers not None,   # IN, [S] the numbers of the sentence pairs
    const double[::1] scores not None,     # IN, [S] what stands after "alignment score"
) -> tuple[int, int, bytearray]:
    """(-1, -1, the text). (n, j, nothing): target word j of sentence n has two links, which A3 files cannot say."""
    cdef Side s = read_side(src), t = read_side(tgt)
    cdef Py_ssize_t S = offsets.shape[0] - 1, n
    cdef int64_t k, i, j, L, M
    cdef vector[int64_t] by, begin, order
    cdef char* score
    check_offsets("offsets", offsets, S, min(link_src.shape[0], link_tgt.shape[0]))
    if s.S != S or t.S != S or numbers.shape[0] != S or scores.shape[0] != S:
        raise ValueError("links, sides, numbers and scores do not fit together")
    cdef int64_t n_src = s.offsets[S] - s.offsets[0], n_tgt = t.offsets[S] - t.offsets[0]
    made = bytearray(S * (HEADER + 10) + bytes_of(&s) + bytes_of(&t) + 8 * n_src + (1 + NUMBER) * n_tgt + 1)
    cdef unsigned char[::1] buffer = made
    cdef unsigned char* out = &buffer[0]
    for n in range(S):
        L = s.offsets[n + 1] - s.offsets[n]
        M = t.offsets[n + 1] - t.offsets[n]
        by.assign(M, 0)  # target word -> the source word that generates it, from 1; 0: NULL
        for k in range(offsets[n], offsets[n + 1]):
            if not (0 <= link_src[k] < L and 0 <= link_tgt[k] < M):
                raise ValueError(f"link {link_src[k]}-{link_tgt[k]} of sentence {n} is outside its pair of {L} and {M}")
            if by[link_tgt[k]] and by[link_tgt[k]] != link_src[k] + 1:
                return n, link_tgt[k], bytearray()
            by[link_tgt[k]] = link_src[k] + 1
        begin.assign(L + 3, 0)  # order[begin[i]:begin[i + 1]]: the target words that source word i generates
        for j in range(M):
            begin[by[j] + 2] += 1
        for i in range(2, L + 3):
            begin[i] += begin[i - 1]
        order.resize(M)
        for j in range(M):
            order[begin[by[j] + 1]] = j + 1
            begin[by[j] + 1] += 1
        out += snprintf(<char*>out, HEADER, b"# Sentence pair (%lld) source length %lld target length %lld alignment score : ",
                        <long long>numbers[n], <long long>L, <long long>M)
        score = PyOS_double_to_string(scores[n], c'g', 6, 0, NULL)
        out = put(out, <text_t>score, strlen(score))
        PyMem_Free(score)
        out[0] = c'\n'
        out = put_words(out + 1, &t, t.offsets[n], t.offsets[n + 1])
        out[0] = c'\n'
        out += 1
        for i in range(L + 1):
            if i == 0:
                out = put(out, b"NULL ", 5)
            else:
                out = put_words(out, &s, s.offsets[n] + i - 1, s.offsets[n] + i)
            out = put(out, b"({ ", 3)
            for k in range(begin[i], begin[i + 1]):
                out += snprintf(<char*>out, NUMBER, b"%lld ", <long long>order[k])
            out = put(out, b"}) ", 3)
        out[0] = c'\n'
        out += 1
    cdef Py_ssize_t n_bytes = out - &buffer[0]
    buffer = None
    del made[n_bytes:]
    return -1, -1, made
