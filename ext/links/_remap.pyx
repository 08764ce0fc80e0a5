"""Links between the tokens of one tokenisation to links between the tokens of another one.

A link (i, j) becomes links (x, y) of all new tokens x that i turns into and all y that j turns into. Where several old links
become one new link, a rule merges them. Of a new pair (x, y), let old tokens i turn into x, old tokens j into y, and p_ij be the
score of the old link (i, j), 1 where links have no scores, 0 where there is no link:

    ANY       the link is there if an old one is; its score is the largest p_ij
    MEAN      its score is the mean of the old tokens' best scores with an old token of the other side,
              (sum_i max_j p_ij + sum_j max_i p_ij) / (number of i + number of j):
              without scores, the share of old tokens that are linked
    MAJORITY  the link is there if this share is above 1/2; the share is its score

A link is sure if an old one is; by MAJORITY, if the share that sure links alone have is above 1/2.

offsets     [S + 1]    links of sentence n are those from offsets[n] to offsets[n + 1]
src, tgt    [n_links]  old positions
first, stop [n_old]    old token -> the new tokens that it turns into, counted from the sentence's first
back_first, back_stop [n_new]  new token -> old tokens that it may come from; those that turn into it count
old, new    [S + 1]    where the old and new tokens of a sentence begin
The tokens of a side are a tuple (old, first, stop, new, back_first, back_stop). New links come by source, then target.
A new token that is nothing comes from no old token: back_first = back_stop; it gets no links.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.vector cimport vector

import numpy as np

from checks cimport check_offsets, check_threads

cpdef enum Merge:
    ANY = 0
    MAJORITY = 1
    MEAN = 2

cdef struct Side:
    const int64_t* old
    const int32_t* first
    const int32_t* stop
    const int64_t* new
    const int32_t* back_first
    const int32_t* back_stop

cdef struct Links:
    const int64_t* offsets
    const int32_t* src
    const int32_t* tgt
    const uint8_t* sure
    const double* scores

cdef struct Entry:
    # A new link that an old one becomes. Positions are two halves of a number: the source in the upper one.
    uint64_t place  # new
    uint64_t via    # old
    double score
    uint8_t sure


cdef Side side(str name, tuple arrays, int64_t S) except *:
    """The tokens of a side, after a look at whether no number leads outside."""
    cdef const int64_t[::1] old = arrays[0]
    cdef const int32_t[::1] first = arrays[1]
    cdef const int32_t[::1] stop = arrays[2]
    cdef const int64_t[::1] new = arrays[3]
    cdef const int32_t[::1] back_first = arrays[4]
    cdef const int32_t[::1] back_stop = arrays[5]
    cdef Side s
    cdef int64_t n
    if first.shape[0] != stop.shape[0] or back_first.shape[0] != back_stop.shape[0]:
        raise ValueError(f"{name}: a token needs a first and a stop")
    check_offsets(f"{name}: old", old, S, first.shape[0])
    check_offsets(f"{name}: new", new, S, back_first.shape[0])
    for n in range(S):
        check_ranges(name, first, stop, old[n], old[n + 1], new[n + 1] - new[n])
        check_ranges(name, back_first, back_stop, new[n], new[n + 1], old[n + 1] - old[n])
    s.old = &old[0]
    s.first = &first[0] if first.shape[0] else NULL
    s.stop = &stop[0] if stop.shape[0] else NULL
    s.new = &new[0]
    s.back_first = &back_first[0] if back_first.shape[0] else NULL
    s.back_stop = &back_stop[0] if back_stop.shape[0] else NULL
    return s


cdef int check_ranges(
    str name, const int32_t[::1] first, const int32_t[::1] stop, int64_t begin, int64_t end, int64_t others
) except -1:
    """Refuses ranges that are not among the others of their sentence."""
    cdef int64_t k
    for k in range(begin, end):
        if not 0 <= first[k] <= stop[k] <= others:
            raise ValueError(f"{name}: tokens {first[k]} to {stop[k]} of {others}")
    return 0


cdef Links links(tuple arrays, const Side* src_side, const Side* tgt_side) except *:
    cdef const int64_t[::1] offsets = arrays[0]
    cdef const int32_t[::1] src = arrays[1]
    cdef const int32_t[::1] tgt = arrays[2]
    cdef const uint8_t[::1] sure = arrays[3]
    cdef const double[::1] scores = arrays[4]
    cdef Links x
    cdef int64_t n, k, S = offsets.shape[0] - 1, n_links = src.shape[0]
    check_offsets("offsets", offsets, S, n_links)
    if tgt.shape[0] != n_links:
        raise ValueError("src and tgt do not fit together")
    if (sure is not None and sure.shape[0] != n_links) or (scores is not None and scores.shape[0] != n_links):
        raise ValueError("links and their marks or scores do not fit together")
    for n in range(S):
        for k in range(offsets[n], offsets[n + 1]):
            if not 0 <= src[k] < src_side.old[n + 1] - src_side.old[n]:
                raise ValueError(f"source position {src[k]} of sentence {n}")
            if not 0 <= tgt[k] < tgt_side.old[n + 1] - tgt_side.old[n]:
                raise ValueError(f"target position {tgt[k]} of sentence {n}")
    x.offsets = &offsets[0]
    x.src = &src[0] if n_links else NULL
    x.tgt = &tgt[0] if n_links else NULL
    x.sure = &sure[0] if sure is not None and n_links else NULL
    x.scores = &scores[0] if scores is not None and n_links else NULL
    return x


cdef bint by_source(const Entry& a, const Entry& b) noexcept nogil:
    """By new link, then by old source, then by old target."""
    return a.place < b.place if a.place != b.place else a.via < b.via


cdef inline uint64_t turned(uint64_t via) noexcept nogil:
    return via << 32 | via >> 32


cdef bint by_target(const Entry& a, const Entry& b) noexcept nogil:
    """Of one new link: by old target, then by old source."""
    return turned(a.via) < turned(b.via)


cdef inline int64_t pieces(const Side* s, int64_t n, int64_t k) noexcept nogil:
    """How many new tokens old token k of sentence n turns into."""
    cdef int64_t x, count = 0
    for x in range(s.new[n] + s.first[s.old[n] + k], s.new[n] + s.stop[s.old[n] + k]):
        count += s.back_first[x] < s.back_stop[x]
    return count


cdef inline int64_t origins(const Side* s, int64_t n, int64_t x) noexcept nogil:
    """How many old tokens turn into new token x of sentence n."""
    cdef int64_t k, count = 0
    for k in range(s.old[n] + s.back_first[s.new[n] + x], s.old[n] + s.back_stop[s.new[n] + x]):
        count += s.first[k] <= x < s.stop[k]
    return count


cdef int64_t expand(const Links* x, const Side* src, const Side* tgt, int64_t n, Entry* entries) noexcept nogil:
    """Writes the new links of sentence n, sorted; returns how many there are. NULL: only counts them."""
    cdef int64_t k, a, b, i, j, count = 0
    for k in range(x.offsets[n], x.offsets[n + 1]):
        i, j = x.src[k], x.tgt[k]
        if entries == NULL:
            count += pieces(src, n, i) * pieces(tgt, n, j)
            continue
        for a in range(src.first[src.old[n] + i], src.stop[src.old[n] + i]):
            if src.back_first[src.new[n] + a] == src.back_stop[src.new[n] + a]:
                continue
            for b in range(tgt.first[tgt.old[n] + j], tgt.stop[tgt.old[n] + j]):
                if tgt.back_first[tgt.new[n] + b] == tgt.back_stop[tgt.new[n] + b]:
                    continue
                entries[count].place = <uint64_t>a << 32 | <uint64_t>b
                entries[count].via = <uint64_t>i << 32 | <uint64_t>j
                entries[count].score = 1.0 if x.scores == NULL else x.scores[k]
                entries[count].sure = 1 if x.sure == NULL else x.sure[k]
                count += 1
    if entries != NULL:
        sort(entries, entries + count, by_source)
    return count


cdef double linked(const Entry* entries, int64_t count, int shift, bint sure) noexcept nogil:
    """How many old tokens of a side are linked: sum_i max_j p_ij. Entries of one token stand together.

    shift: 32 for source tokens, 0 for target tokens; sure: sure links alone count
    """
    cdef int64_t k
    cdef double total = 0, one = 0
    for k in range(count):
        if not sure or entries[k].sure:
            one = max(one, entries[k].score)
        if k + 1 == count or <uint32_t>(entries[k].via >> shift) != <uint32_t>(entries[k + 1].via >> shift):
            total += one
            one = 0
    return total


cdef int64_t merged(const Side* src, const Side* tgt, int64_t n, Entry* entries, int64_t count, int rule) noexcept nogil:
    """Makes one link of all entries of the same place; returns how many links there are."""
    cdef int64_t begin = 0, end, kept = 0, tokens
    cdef Entry one
    cdef double share = 1, certain = 1
    while begin < count:
        end = begin + 1
        one = entries[begin]
        while end < count and entries[end].place == one.place:
            one.score = max(one.score, entries[end].score)
            one.sure |= entries[end].sure
            end += 1
        if rule != ANY:
            tokens = origins(src, n, one.place >> 32) + origins(tgt, n, <uint32_t>one.place)
            share = linked(entries + begin, end - begin, 32, False)
            certain = linked(entries + begin, end - begin, 32, True)
            sort(entries + begin, entries + end, by_target)
            share = (share + linked(entries + begin, end - begin, 0, False)) / tokens
            certain = (certain + linked(entries + begin, end - begin, 0, True)) / tokens
            one.score = share
            if rule == MAJORITY:
                one.sure = certain > 0.5
        if rule != MAJORITY or share > 0.5:
            entries[kept] = one
            kept += 1
        begin = end
    return kept


def sizes(tuple old_links, tuple src_side, tuple tgt_side):
    """[S] how many links the links of a sentence become before they are merged."""
    cdef int64_t n, S = len(old_links[0]) - 1
    cdef Side src = side("source", src_side, S)
    cdef Side tgt = side("target", tgt_side, S)
    cdef Links x = links(old_links, &src, &tgt)
    found = np.empty(S, dtype=np.int64)
    cdef int64_t[::1] out = found
    with nogil:
        for n in range(S):
            out[n] = expand(&x, &src, &tgt, n, NULL)
    return found


def remap(tuple old_links, tuple src_side, tuple tgt_side, Merge rule, int n_threads):
    """(offsets, src, tgt, sure, scores) of the new links. old_links: the same of the old ones; sure and scores may be None"""
    cdef int64_t n, k, S = len(old_links[0]) - 1
    cdef Side src = side("source", src_side, S)
    cdef Side tgt = side("target", tgt_side, S)
    cdef Links x = links(old_links, &src, &tgt)
    cdef vector[int64_t] starts, counts
    cdef vector[Entry] entries
    cdef Entry* at
    check_threads(n_threads)
    starts.resize(S + 1)
    counts.resize(S + 1)
    for n in prange(S, nogil=True, num_threads=n_threads, schedule="static"):
        counts[n] = expand(&x, &src, &tgt, n, NULL)
    for n in range(S):
        starts[n + 1] = starts[n] + counts[n]
    entries.resize(starts[S] + 1)
    at = entries.data()
    for n in prange(S, nogil=True, num_threads=n_threads, schedule="dynamic", chunksize=64):
        expand(&x, &src, &tgt, n, at + starts[n])
        counts[n] = merged(&src, &tgt, n, at + starts[n], starts[n + 1] - starts[n], rule)
    offsets = np.zeros(S + 1, dtype=np.int64)
    cdef int64_t[::1] new_offsets = offsets
    for n in range(S):
        new_offsets[n + 1] = new_offsets[n] + counts[n]
    n_links = new_offsets[S]
    src_array, tgt_array = np.empty(n_links, dtype=np.int32), np.empty(n_links, dtype=np.int32)
    sure_array, score_array = np.empty(n_links, dtype=np.uint8), np.empty(n_links, dtype=np.float64)
    cdef int32_t[::1] new_src = src_array
    cdef int32_t[::1] new_tgt = tgt_array
    cdef uint8_t[::1] new_sure = sure_array
    cdef double[::1] new_scores = score_array
    with nogil:
        for n in range(S):
            for k in range(counts[n]):
                at = entries.data() + starts[n] + k
                new_src[new_offsets[n] + k] = <int32_t>(at.place >> 32)
                new_tgt[new_offsets[n] + k] = <int32_t><uint32_t>at.place
                new_sure[new_offsets[n] + k] = at.sure
                new_scores[new_offsets[n] + k] = at.score
    return offsets, src_array, tgt_array, sure_array, score_array
