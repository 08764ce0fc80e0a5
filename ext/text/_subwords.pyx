"""Two tokenisations of the same sentences: which tokens of one overlap which tokens of the other.

A token stands for some bytes, its surface. The surfaces of a sentence's tokens, one after another, are the sentence's text.
Where both tokenisations have the same text, tokens overlap if they share a byte of it.

A token whose surface is empty is a blank, a mark, or nothing. To place it, each byte p has two slots: 2 p is the blank
before the byte, 2 p + 1 the byte itself. Tokens cover slots:

    a token of bytes p to q                  2 p to 2 q; from 2 p + 1 if a token of its own has the blank before p
    an empty token that begins what follows  the slot 2 p of the byte that follows it; at the end as the next
    an empty token that ends what stands before  the slot 2 p - 1 of the byte before it
    an empty token that is nothing           none

So a blank that one tokenisation has as a token belongs to the word after it, unless the other tokenisation has it as a token, too.

ids      [n_tokens]  token -> word
offsets  [S + 1]     sentence n's tokens are those from offsets[n] to offsets[n + 1]
text     [n_bytes]   the surfaces of the words, one after another
starts   [V + 1]     word -> where its surface begins in text
holds    [V]         of a word whose surface is empty: 1 begins what follows, -1 ends what stands before, 0 is nothing
first,stop [n_tokens] the tokens of the other tokenisation that a token overlaps, counted from the sentence's first; tokens that
                     are nothing may stand among them. first = stop: there are none

Cost and memory grow with bytes and tokens. Not here: what words stand for, and texts that differ (subwords.py).
"""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from libc.string cimport memcmp
from libcpp.vector cimport vector

from checks cimport check_ids, check_offsets, check_threads

cdef struct Tokens:
    int64_t S
    int64_t n
    const int32_t* ids
    const int64_t* offsets
    const uint8_t* text
    const int64_t* starts
    const int8_t* holds


cdef Tokens tokens(str name, tuple arrays) except *:
    """One tokenisation, after a look at whether its arrays fit together."""
    cdef const int32_t[::1] ids = arrays[0]
    cdef const int64_t[::1] offsets = arrays[1]
    cdef const uint8_t[::1] text = arrays[2]
    cdef const int64_t[::1] starts = arrays[3]
    cdef const int8_t[::1] holds = arrays[4]
    cdef Tokens t
    t.S = offsets.shape[0] - 1
    t.n = ids.shape[0]
    check_offsets(f"{name}: offsets", offsets, t.S, t.n)
    check_offsets(f"{name}: starts", starts, holds.shape[0], text.shape[0])
    check_ids(f"{name}: ids", ids, 0, t.n, 0, holds.shape[0])
    t.ids = &ids[0] if t.n else NULL
    t.offsets = &offsets[0]
    t.text = &text[0] if text.shape[0] else NULL
    t.starts = &starts[0]
    t.holds = &holds[0] if holds.shape[0] else NULL
    return t


cdef inline int64_t width(const Tokens* t, int64_t k) noexcept nogil:
    """How many bytes token k stands for."""
    return t.starts[t.ids[k] + 1] - t.starts[t.ids[k]]


cdef bint same_text(const Tokens* a, const Tokens* b, int64_t n) noexcept nogil:
    """Whether sentence n has the same text in both tokenisations."""
    cdef int64_t k = a.offsets[n], m = b.offsets[n], left_a = 0, left_b = 0, step
    cdef const uint8_t* at_a = NULL
    cdef const uint8_t* at_b = NULL
    while True:
        while left_a == 0 and k < a.offsets[n + 1]:
            left_a = width(a, k)
            at_a = a.text + a.starts[a.ids[k]]
            k += 1
        while left_b == 0 and m < b.offsets[n + 1]:
            left_b = width(b, m)
            at_b = b.text + b.starts[b.ids[m]]
            m += 1
        if left_a == 0 or left_b == 0:
            return left_a == left_b
        step = min(left_a, left_b)
        if memcmp(at_a, at_b, step) != 0:
            return False
        at_a, at_b = at_a + step, at_b + step
        left_a, left_b = left_a - step, left_b - step


cdef void place(const Tokens* t, int64_t n, int64_t* low, int64_t* high) noexcept nogil:
    """The slots of each token of sentence n, from low to high; low = high: none. Tokens with slots never go back."""
    cdef int64_t k, p = 0, w, end = 0
    cdef bint blank = False  # a token of its own has the blank before byte p
    for k in range(t.offsets[n], t.offsets[n + 1]):
        end += width(t, k)
    for k in range(t.offsets[n], t.offsets[n + 1]):
        w = width(t, k)
        if w > 0:
            low[k] = 2 * p + blank
            p += w
            high[k] = 2 * p
            blank = False
        elif t.holds[t.ids[k]] == 0 or end == 0:
            low[k] = high[k] = 0
        elif p < end and (t.holds[t.ids[k]] > 0 or blank or p == 0):
            low[k], high[k] = 2 * p, 2 * p + 1
            blank = True
        else:
            low[k], high[k] = 2 * p - 1, 2 * p


cdef void overlap(
    const int64_t* low, const int64_t* high, int64_t begin, int64_t end,
    const int64_t* other_low, const int64_t* other_high, int64_t other_begin, int64_t other_end,
    int32_t* first, int32_t* stop,
) noexcept nogil:
    """The tokens of the other tokenisation that share a slot with each token of a sentence."""
    cdef int64_t k, a = other_begin, b
    for k in range(begin, end):
        first[k] = stop[k] = 0
        if low[k] == high[k]:
            continue
        while a < other_end and (other_low[a] == other_high[a] or other_high[a] <= low[k]):
            a += 1
        b = a
        while b < other_end and (other_low[b] == other_high[b] or other_low[b] < high[k]):
            b += 1
        while b > a and other_low[b - 1] == other_high[b - 1]:
            b -= 1
        first[k] = <int32_t>(a - other_begin)
        stop[k] = <int32_t>(b - other_begin)


def match(
    tuple a,                    # IN  (ids, offsets, text, starts, holds)
    tuple b,                    # IN  the same of the other tokenisation
    uint8_t[::1] matched,       # IN  [S] 0: compare this sentence; OUT 1: it has the same text
    int32_t[::1] a_first,       # OUT of the sentences that are matched here
    int32_t[::1] a_stop,        # OUT
    int32_t[::1] b_first,       # OUT
    int32_t[::1] b_stop,        # OUT
    int n_threads,
) -> None:
    """Overlaps of the sentences that have not been matched and have the same text."""
    cdef Tokens x = tokens("a", a)
    cdef Tokens y = tokens("b", b)
    cdef int64_t n
    cdef vector[int64_t] a_low, a_high, b_low, b_high
    cdef int64_t* places[4]
    cdef int32_t* out[4]
    check_threads(n_threads)
    if x.S != y.S or matched.shape[0] != x.S:
        raise ValueError(f"{x.S} and {y.S} sentences, {matched.shape[0]} marks")
    if a_first.shape[0] != x.n or a_stop.shape[0] != x.n or b_first.shape[0] != y.n or b_stop.shape[0] != y.n:
        raise ValueError("a token needs a first and a stop")
    a_low.resize(x.n + 1)
    a_high.resize(x.n + 1)
    b_low.resize(y.n + 1)
    b_high.resize(y.n + 1)
    places[0], places[1], places[2], places[3] = a_low.data(), a_high.data(), b_low.data(), b_high.data()
    out[0] = &a_first[0] if x.n else NULL
    out[1] = &a_stop[0] if x.n else NULL
    out[2] = &b_first[0] if y.n else NULL
    out[3] = &b_stop[0] if y.n else NULL
    for n in prange(x.S, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=64):
        if not matched[n] and same_text(&x, &y, n):
            matched[n] = 1
            place(&x, n, places[0], places[1])
            place(&y, n, places[2], places[3])
            overlap(
                places[0], places[1], x.offsets[n], x.offsets[n + 1], places[2], places[3], y.offsets[n], y.offsets[n + 1],
                out[0], out[1],
            )
            overlap(
                places[2], places[3], y.offsets[n], y.offsets[n + 1], places[0], places[1], x.offsets[n], x.offsets[n + 1],
                out[2], out[3],
            )
