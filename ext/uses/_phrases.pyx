"""Phrase pairs of sentence pairs, and where the phrases beside them stand (Koehn et al. 2003, 2005; Galley & Manning 2008).

A phrase pair is a span of source words [i1, i2] and a span of target words [j1, j2], both ends included. It is consistent if
it holds a link, and if each link has both ends inside or both ends outside. Unlinked words at its ends may stay outside.

src_offsets, tgt_offsets  [S + 1]      sentence pair n has src_offsets[n + 1] - src_offsets[n] source words
offsets, src, tgt         [S + 1], [n_links]  the links of sentence pair n are those from offsets[n] to offsets[n + 1]
pair_offsets              [S + 1]      the phrase pairs of sentence pair n are those from pair_offsets[n] to pair_offsets[n + 1]
spans                     [n_pairs, 4] phrase pair -> i1, i2, j1, j2; in the order of j1, j2, falling i1, i2
codes                     [n_pairs, 2 M]  phrase pair -> a Turn before it and a Turn after it, for each of M models

Order, orientations and text are those of Moses' `extract`, bit by bit. That program counts the corners of the next phrase at
its last target word, and one column too few on one side; so do we. A link that stands twice is written twice.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp.string cimport string
from libcpp.vector cimport vector

import numpy as np

from checks cimport check_offsets
from digits cimport put_number
from side cimport Side, read_side

cpdef enum Turn:
    MONO = 0    # the phrase beside it is on the same side of it in both languages
    SWAP = 1    # it is on the other side
    DLEFT = 2   # it is farther away, on the other side
    DRIGHT = 3  # it is farther away, on the same side
    OTHER = 4   # none of these

cpdef enum Model:
    WORD = 0    # links beside the corners of the phrase pair tell the turn
    PHRASE = 1  # phrase pairs that could be extracted tell it
    HIER = 2    # phrase pairs of any length tell it

cpdef enum Kind:
    MSD = 0     # monotone, swap, other
    MSLR = 1    # monotone, swap, left, right
    MONOTONE = 2  # monotone or not

cpdef enum Part:
    PAIR = 0       # `src ||| tgt ||| links`
    INVERSE = 1    # `tgt ||| src ||| links`, target first in the links, too
    BESIDE = 2     # `src ||| tgt ||| turns`


cdef cppclass Corners:
    # Where phrase pairs that end at target word j have their source ends: [J, I] each.
    vector[uint8_t] first  # j, i -> whether a phrase pair begins at source word i
    vector[uint8_t] last   # j, i -> whether a phrase pair ends at source word i


cdef cppclass Sentence:
    # The links of a sentence pair by target word, and the span of each word's links.
    int64_t I, J
    vector[int64_t] starts  # [J + 1] links of target word j are those from starts[j] to starts[j + 1] of `links`
    vector[int32_t] links   # source words, in the order of the file
    vector[int32_t] n       # [I] source word -> number of its links
    vector[int32_t] low     # [I] source word -> the first target word that it is linked with
    vector[int32_t] high    # [I] ... the last one; -1: it has no link


cdef int read_links(
    Sentence* s, const int64_t* src_offsets, const int64_t* tgt_offsets, const int64_t[::1] offsets,
    const int32_t[::1] src, const int32_t[::1] tgt, int64_t n,
) except -1 nogil:
    """The links of sentence pair n, sorted by target word. Links of one word keep their order."""
    cdef int64_t k
    s.I = src_offsets[n + 1] - src_offsets[n]
    s.J = tgt_offsets[n + 1] - tgt_offsets[n]
    s.starts.assign(s.J + 2, 0)
    s.links.resize(offsets[n + 1] - offsets[n])
    s.n.assign(s.I, 0)
    s.low.assign(s.I, <int32_t>s.J)
    s.high.assign(s.I, -1)
    for k in range(offsets[n], offsets[n + 1]):
        s.starts[tgt[k] + 2] += 1
        s.n[src[k]] += 1
        s.low[src[k]] = min(s.low[src[k]], tgt[k])
        s.high[src[k]] = max(s.high[src[k]], tgt[k])
    for k in range(s.J):
        s.starts[k + 2] += s.starts[k + 1]
    for k in range(offsets[n], offsets[n + 1]):
        s.links[s.starts[tgt[k] + 1]] = src[k]
        s.starts[tgt[k] + 1] += 1
    return 0


cdef int64_t extract_one(Sentence* s, int64_t L, int32_t* spans, Corners* corners) noexcept nogil:
    """How many consistent phrase pairs of at most L words a side there are. NULL: spans or corners are not wanted

    A target span [j1, j2] fixes the least source span [a, b]: that of its links. It grows with j2, and so do the target words
    [low, high] that the source words of [a, b] are linked with. The span pair is consistent if these are within [j1, j2].
    """
    cdef int64_t j1, j2, a, b, i1, i2, low, high, i, k, from_a, from_b, n = 0
    for j1 in range(s.J):
        a, b = s.I, -1
        low, high = s.J, -1
        for j2 in range(j1, min(s.J, j1 + L)):
            from_a, from_b = a, b
            for k in range(s.starts[j2], s.starts[j2 + 1]):
                a = min(a, s.links[k])
                b = max(b, s.links[k])
            if b < 0:
                continue
            if b - a >= L:
                break
            if from_b < 0:
                from_a, from_b = b + 1, b
            for i in range(a, from_a):
                low = min(low, s.low[i])
                high = max(high, s.high[i])
            for i in range(from_b + 1, b + 1):
                low = min(low, s.low[i])
                high = max(high, s.high[i])
            if low < j1:
                break
            if high > j2:
                continue
            i1 = a
            while i1 >= 0 and i1 > b - L and (i1 == a or s.n[i1] == 0):
                i2 = b
                while i2 < s.I and i2 < i1 + L and (i2 == b or s.n[i2] == 0):
                    if spans != NULL:
                        spans[4 * n] = <int32_t>i1
                        spans[4 * n + 1] = <int32_t>i2
                        spans[4 * n + 2] = <int32_t>j1
                        spans[4 * n + 3] = <int32_t>j2
                    if corners != NULL:
                        corners.first[j2 * s.I + i1] = 1
                        corners.last[j2 * s.I + i2] = 1
                    n += 1
                    i2 += 1
                i1 -= 1
    return n


cdef bint linked(Sentence* s, int64_t i, int64_t j) noexcept nogil:
    """Whether two words are linked. The words before the first ones are, and so are the words after the last ones."""
    cdef int64_t k
    if (i == -1 and j == -1) or (i == s.I and j == s.J):
        return True
    if i < 0 or j < 0 or i >= s.I or j >= s.J:
        return False
    for k in range(s.starts[j], s.starts[j + 1]):
        if s.links[k] == i:
            return True
    return False


cdef bint corner(Sentence* s, const uint8_t* grid, int64_t i, int64_t j) noexcept nogil:
    return 0 <= i < s.I and 0 <= j < s.J and grid[j * s.I + i]


cdef int word_turn(Sentence* s, int kind, int64_t near, int64_t far, int64_t row, int step) noexcept nogil:
    """The turn to the target word `row` beside a phrase pair.

    near, far  the ends of its source span, `near` on the side of the row; step: 1 before the phrase pair, -1 after it
    """
    cdef bint same = linked(s, near - step, row), other = linked(s, far + step, row)
    cdef int64_t i
    if same and not other:
        return MONO
    if kind == MONOTONE:
        return OTHER
    if other and not same:
        return SWAP
    if kind == MSD:
        return OTHER
    i = near - 2 * step
    while 0 <= i < s.I and not same:
        same = linked(s, i, row)
        i -= step
    i = far + 2 * step
    while 0 <= i < s.I and not other:
        other = linked(s, i, row)
        i += step
    return DRIGHT if same and not other else DLEFT if other and not same else OTHER


cdef int corner_turn(
    Sentence* s, int kind, int64_t near, int64_t far, int64_t row, int step, Corners* corners, int before
) noexcept nogil:
    """The turn to a phrase pair that ends at target word `row`. before: the turn that another model found, or OTHER

    A search upwards ends before the last source word.
    """
    cdef bint same = linked(s, near - step, row), other = linked(s, far + step, row)
    cdef const uint8_t* ending = corners.last.data() if step > 0 else corners.first.data()
    cdef const uint8_t* beginning = corners.first.data() if step > 0 else corners.last.data()
    cdef int64_t i
    if before == MONO or (same and not other) or corner(s, ending, near - step, row):
        return MONO
    if kind == MONOTONE:
        return OTHER
    if before == SWAP or (other and not same) or corner(s, beginning, far + step, row):
        return SWAP
    if kind == MSD:
        return OTHER
    if before != OTHER:
        return before
    i = near - 2 * step
    while i >= 0 if step > 0 else i < s.I - 1:
        if corner(s, ending, i, row):
            return DRIGHT
        i -= step
    i = far + 2 * step
    while i < s.I - 1 if step > 0 else i >= 0:
        if corner(s, beginning, i, row):
            return DLEFT
        i += step
    return OTHER


cdef int clear(Sentence* s, Corners* corners) except -1 nogil:
    corners.first.assign(s.I * s.J, 0)
    corners.last.assign(s.I * s.J, 0)
    return 0


cdef int check_links(
    const int64_t[::1] src_offsets, const int64_t[::1] tgt_offsets, const int64_t[::1] offsets,
    const int32_t[::1] src, const int32_t[::1] tgt,
) except -1:
    """Refuses links to words that are not there."""
    cdef int64_t S = offsets.shape[0] - 1, n, k, I, J
    check_offsets("offsets", offsets, S, min(src.shape[0], tgt.shape[0]))
    check_offsets("src_offsets", src_offsets, S, 1 << 62)
    check_offsets("tgt_offsets", tgt_offsets, S, 1 << 62)
    for n in range(S):
        I = src_offsets[n + 1] - src_offsets[n]
        J = tgt_offsets[n + 1] - tgt_offsets[n]
        if max(I, J) >= 1 << 31:
            raise ValueError(f"sentence pair {n} has {I} x {J} words")
        for k in range(offsets[n], offsets[n + 1]):
            if not (0 <= src[k] < I and 0 <= tgt[k] < J):
                raise ValueError(f"link {src[k]}-{tgt[k]} of sentence pair {n} is outside its {I} x {J} words")
    return 0


def extract(
    const int64_t[::1] src_offsets not None,  # IN
    const int64_t[::1] tgt_offsets not None,  # IN
    const int64_t[::1] offsets not None,      # IN
    const int32_t[::1] src not None,          # IN
    const int32_t[::1] tgt not None,          # IN
    int64_t max_length,                       # IN, words that a phrase has at most
    list models not None,                     # IN, (Model, Kind) of each model
):
    """(pair_offsets, spans, codes) of consistent phrase pairs."""
    cdef int64_t S = offsets.shape[0] - 1, n, k, at, n_pairs
    cdef Sentence s
    cdef Corners within, all_lengths
    cdef bint any_phrase = False, any_hier = False
    cdef vector[int] kinds, whiches
    cdef size_t m
    cdef int before, after
    cdef Corners* corners
    check_links(src_offsets, tgt_offsets, offsets, src, tgt)
    if max_length < 1:
        raise ValueError(f"max_length must be at least 1, not {max_length}")
    max_length = min(max_length, <int64_t>1 << 31)
    for which, kind in models:
        if not (WORD <= which <= HIER and MSD <= kind <= MONOTONE):
            raise ValueError(f"there is no model {which} of kind {kind}")
        whiches.push_back(which)
        kinds.push_back(kind)
        any_phrase |= which == PHRASE
        any_hier |= which == HIER
    counts = np.zeros(S + 1, dtype=np.int64)
    cdef int64_t[::1] count = counts
    for n in range(S):
        read_links(&s, &src_offsets[0], &tgt_offsets[0], offsets, src, tgt, n)
        count[n + 1] = extract_one(&s, max_length, NULL, NULL)
    pair_offsets = np.cumsum(counts)
    n_pairs = pair_offsets[S]
    found = np.empty((n_pairs, 4), dtype=np.int32), np.empty((n_pairs, 2 * len(models)), dtype=np.uint8)
    if n_pairs == 0:
        return pair_offsets, *found
    cdef int32_t[:, ::1] spans = found[0]
    cdef uint8_t[:, ::1] codes = found[1]
    at = 0
    for n in range(S):
        if count[n + 1] == 0:
            continue
        read_links(&s, &src_offsets[0], &tgt_offsets[0], offsets, src, tgt, n)
        if any_phrase:
            clear(&s, &within)
        extract_one(&s, max_length, &spans[at, 0], &within if any_phrase else NULL)
        if any_hier:
            clear(&s, &all_lengths)
            extract_one(&s, <int64_t>1 << 31, NULL, &all_lengths)
        for k in range(at, at + count[n + 1]):
            before = after = OTHER
            for m in range(whiches.size()):
                if whiches[m] == WORD:
                    codes[k, 2 * m] = word_turn(&s, kinds[m], spans[k, 0], spans[k, 1], spans[k, 2] - 1, 1)
                    codes[k, 2 * m + 1] = word_turn(&s, kinds[m], spans[k, 1], spans[k, 0], spans[k, 3] + 1, -1)
                    continue
                corners = &within if whiches[m] == PHRASE else &all_lengths
                before = corner_turn(&s, kinds[m], spans[k, 0], spans[k, 1], spans[k, 2] - 1, 1, corners, before)
                after = corner_turn(&s, kinds[m], spans[k, 1], spans[k, 0], spans[k, 3] + 1, -1, corners, after)
                codes[k, 2 * m] = before
                codes[k, 2 * m + 1] = after
        at += count[n + 1]
    return pair_offsets, *found


cdef int put_sentence(const Side* side, int64_t n, string* text, vector[int64_t]* cuts) except -1 nogil:
    """The words of sentence n, a blank after each. cuts: word -> where it begins in the text; one more"""
    cdef int64_t k, w
    text.clear()
    cuts.clear()
    for k in range(side.offsets[n], side.offsets[n + 1]):
        w = side.ids[k]
        cuts.push_back(text.size())
        text.append(<const char*>side.words + side.cuts[w], side.cuts[w + 1] - side.cuts[w])
        text.push_back(c' ')
    cuts.push_back(text.size())
    return 0


def format_pairs(
    tuple src_side not None,                   # IN, as side.pxd has it
    tuple tgt_side not None,                   # IN
    const int64_t[::1] offsets not None,       # IN
    const int32_t[::1] src not None,           # IN
    const int32_t[::1] tgt not None,           # IN
    const int64_t[::1] pair_offsets not None,  # IN
    const int32_t[:, ::1] spans not None,      # IN
    const uint8_t[:, ::1] codes not None,      # IN
    list names not None,                       # IN, [5 M] what each Turn is called by each model, in UTF-8
    list between not None,                     # IN, [M + 1] what stands before, between and after the turns of models
    int part,                                  # IN, a Part
):
    """The lines of phrase pairs, in their order."""
    cdef Side e = read_side(src_side), f = read_side(tgt_side)
    cdef int64_t S = offsets.shape[0] - 1, n, k, j, link, i1, i2, j1, j2
    cdef size_t m, M = len(names) // 5
    cdef Sentence s
    cdef string out, src_text, tgt_text
    cdef vector[int64_t] src_cuts, tgt_cuts
    cdef vector[string] turns, marks
    if not PAIR <= part <= BESIDE:
        raise ValueError(f"there is no part {part}")
    if e.S != S or f.S != S:
        raise ValueError(f"links of {S} sentence pairs, text of {e.S} and {f.S}")
    check_links(src_side[1], tgt_side[1], offsets, src, tgt)
    check_offsets("pair_offsets", pair_offsets, S, min(spans.shape[0], codes.shape[0]))
    if spans.shape[1] != 4 or codes.shape[1] != 2 * len(names) // 5 or 5 * (len(between) - 1) != len(names):
        raise ValueError("spans, codes and names do not fit together")
    for n in range(S):
        for k in range(pair_offsets[n], pair_offsets[n + 1]):
            if not (
                0 <= spans[k, 0] <= spans[k, 1] < e.offsets[n + 1] - e.offsets[n]
                and 0 <= spans[k, 2] <= spans[k, 3] < f.offsets[n + 1] - f.offsets[n]
            ):
                raise ValueError(f"phrase pair {k} is outside sentence pair {n}")
            for m in range(2 * M):
                if codes[k, m] > OTHER:
                    raise ValueError(f"{codes[k, m]} is no turn")
    turns = names
    marks = between
    with nogil:
        for n in range(S):
            if pair_offsets[n] == pair_offsets[n + 1]:
                continue
            put_sentence(&e, n, &src_text, &src_cuts)
            put_sentence(&f, n, &tgt_text, &tgt_cuts)
            read_links(&s, e.offsets, f.offsets, offsets, src, tgt, n)
            for k in range(pair_offsets[n], pair_offsets[n + 1]):
                i1, i2, j1, j2 = spans[k, 0], spans[k, 1], spans[k, 2], spans[k, 3]
                if part != INVERSE:
                    out.append(src_text.data() + src_cuts[i1], src_cuts[i2 + 1] - src_cuts[i1])
                    out.append(b"||| ", 4)
                out.append(tgt_text.data() + tgt_cuts[j1], tgt_cuts[j2 + 1] - tgt_cuts[j1])
                if part == INVERSE:
                    out.append(b"||| ", 4)
                    out.append(src_text.data() + src_cuts[i1], src_cuts[i2 + 1] - src_cuts[i1])
                out.append(b"|||", 3)
                if part == BESIDE:
                    out.push_back(c' ')
                    out.append(marks[0])
                    for m in range(M):
                        out.append(turns[5 * m + codes[k, 2 * m]])
                        out.push_back(c' ')
                        out.append(turns[5 * m + codes[k, 2 * m + 1]])
                        out.append(marks[m + 1])
                else:
                    for j in range(j1, j2 + 1):
                        for link in range(s.starts[j], s.starts[j + 1]):
                            out.push_back(c' ')
                            put_number(&out, j - j1 if part == INVERSE else s.links[link] - i1)
                            out.push_back(c'-')
                            put_number(&out, s.links[link] - i1 if part == INVERSE else j - j1)
                out.push_back(c'\n')
    return <bytes>out
