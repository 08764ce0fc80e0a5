"""Two directional alignments of each sentence pair into one, over sorted sparse points.

The union of a sentence's links is one sorted array; its order is the scan order of the heuristics:

points  [U]     (row << 33 | column << 2 | flags): row = tgt and column = src where `by_tgt` (symal), else the other way
                round (atools, lilt). Flags: FORWARD, REVERSE, or both.
inside  [U]     whether the point is in the result by now
covered_row, covered_column  [1 + largest position]  whether a word has a link in the result by now
near    [U, 8]  the point's neighbours in the union, as indices into `points`, -1 where there is none, in symal's order:
                (-1,0) (0,-1) (1,0) (0,1), then the diagonal (-1,-1) (-1,1) (1,-1) (1,1), as (row, column)

Alignments are passed as tuples (offsets [S + 1], src [n_links], tgt [n_links]), with scores [n_links] where they have them.
No grid is made, so that cost and memory grow with the links, not with the product of the sentence lengths.
Not here: formats, unequal files, the methods' names (symmetrize.py).
"""

from libc.math cimport rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libcpp.algorithm cimport inplace_merge, is_sorted, sort
from libcpp.vector cimport vector

cdef enum:
    FORWARD = 1
    REVERSE = 2
    FLAGS = 3
    COLUMN = 33  # bits below the row
    MAX_POSITION = 0x7FFFFFFF

cpdef enum Scan:  # whose order of scanning
    ATOOLS = 0
    SYMAL = 1
    LILT = 2

cdef int[8] NEIGHBOURS = [0, 1, 2, 3, 4, 5, 6, 7]       # symal's order of near
cdef int[8] LILT_NEIGHBOURS = [0, 1, 2, 3, 4, 5, 7, 6]  # the order of lilt's set of neighbours, in Python 3.8 and later

cdef inline int64_t row(uint64_t point) noexcept nogil:
    return point >> COLUMN

cdef inline int64_t column(uint64_t point) noexcept nogil:
    return (point >> 2) & MAX_POSITION

cdef inline uint64_t place(int64_t r, int64_t c) noexcept nogil:
    return <uint64_t>r << COLUMN | <uint64_t>c << 2


cdef struct Side:
    # One alignment of S sentences: the links of sentence n are those from offsets[n] to offsets[n + 1]
    Py_ssize_t S
    Py_ssize_t n_links
    const int64_t* offsets
    const int32_t* src
    const int32_t* tgt
    const double* scores


cdef Side side(tuple links):
    """One direction, after a look at whether its arrays fit together."""
    cdef const int64_t[::1] offsets = links[0]
    cdef const int32_t[::1] src = links[1]
    cdef const int32_t[::1] tgt = links[2]
    cdef const double[::1] scores = links[3] if len(links) > 3 else None
    cdef Side s
    cdef Py_ssize_t k
    s.S = offsets.shape[0] - 1
    s.n_links = src.shape[0]
    if s.S < 0 or offsets[0] != 0 or offsets[s.S] != s.n_links or s.n_links != tgt.shape[0]:
        raise ValueError("offsets and positions do not fit together")
    if scores is not None and scores.shape[0] != s.n_links:
        raise ValueError("positions and scores do not fit together")
    for k in range(s.S):
        if offsets[k] > offsets[k + 1]:
            raise ValueError("offsets fall")
    for k in range(s.n_links):
        if src[k] < 0 or tgt[k] < 0:
            raise ValueError("a position is negative")
    s.offsets = &offsets[0]
    s.src = &src[0] if s.n_links else NULL
    s.tgt = &tgt[0] if s.n_links else NULL
    s.scores = &scores[0] if scores is not None and s.n_links else NULL
    return s


cdef struct Result:
    # Where the result goes
    int64_t* offsets
    int32_t* src
    int32_t* tgt
    double* scores


cdef Result result(tuple links, Side* f, Side* r):
    """The arrays of the result, after a look at whether all links of both directions have room."""
    cdef int64_t[::1] offsets = links[0]
    cdef int32_t[::1] src = links[1]
    cdef int32_t[::1] tgt = links[2]
    cdef double[::1] scores = links[3] if len(links) > 3 else None
    cdef Result out
    cdef Py_ssize_t n = f.n_links + r.n_links
    if r.S != f.S or offsets.shape[0] != f.S + 1:
        raise ValueError("the directions differ in their number of sentences")
    if src.shape[0] < n or tgt.shape[0] < n or (scores is not None and scores.shape[0] < n):
        raise ValueError("no room for the links")
    out.offsets = &offsets[0]
    out.src = &src[0] if n else NULL
    out.tgt = &tgt[0] if n else NULL
    out.scores = &scores[0] if scores is not None and n else NULL
    return out


cdef int unite(Side* f, Side* r, Py_ssize_t n, bint by_tgt, vector[uint64_t]& points) except -1 nogil:
    """The union of both directions' links of sentence n, sorted, each once with its flags."""
    cdef int64_t k
    cdef size_t p, last
    cdef vector[uint64_t].iterator middle
    points.clear()
    for k in range(f.offsets[n], f.offsets[n + 1]):
        points.push_back((place(f.tgt[k], f.src[k]) if by_tgt else place(f.src[k], f.tgt[k])) | FORWARD)
    for k in range(r.offsets[n], r.offsets[n + 1]):
        points.push_back((place(r.tgt[k], r.src[k]) if by_tgt else place(r.src[k], r.tgt[k])) | REVERSE)
    if points.empty():
        return 0
    middle = points.begin() + (f.offsets[n + 1] - f.offsets[n])
    if is_sorted(points.begin(), middle) and is_sorted(middle, points.end()):
        inplace_merge(points.begin(), middle, points.end())
    else:
        sort(points.begin(), points.end())
    last = 0
    for p in range(1, points.size()):
        if points[p] >> 2 == points[last] >> 2:
            points[last] |= points[p]
        else:
            last += 1
            points[last] = points[p]
    points.resize(last + 1)
    return 0


cdef inline int64_t put(uint64_t point, bint by_tgt, Result* out, int64_t m) noexcept nogil:
    """Writes a point as the m-th link; returns m + 1."""
    out.src[m] = <int32_t>(column(point) if by_tgt else row(point))
    out.tgt[m] = <int32_t>(row(point) if by_tgt else column(point))
    return m + 1


def select(
    tuple forward not None,  # IN
    tuple reverse not None,  # IN
    int wanted,              # IN, bit set: flags 1, 2, 3 are wanted if bit 1, 2, 3 is set
    bint by_tgt,             # IN, order of the result
    tuple links not None,    # OUT, with room for at least as many links as both inputs have
) -> int:
    """The links that are in the forward direction only, the reverse only, or both, as `wanted` says; their number."""
    cdef Side f = side(forward), r = side(reverse)
    cdef Result out = result(links, &f, &r)
    cdef vector[uint64_t] points
    cdef Py_ssize_t n
    cdef size_t p
    cdef int64_t m = 0
    with nogil:
        out.offsets[0] = 0
        for n in range(f.S):
            unite(&f, &r, n, by_tgt, points)
            for p in range(points.size()):
                if wanted >> (points[p] & FLAGS) & 1:
                    m = put(points[p], by_tgt, &out, m)
            out.offsets[n + 1] = m
    return m


cdef struct Coverage:
    uint8_t* row
    uint8_t* column


cdef inline void take(size_t p, vector[uint64_t]& points, vector[uint8_t]& inside, Coverage* covered) noexcept nogil:
    inside[p] = 1
    covered.row[row(points[p])] = 1
    covered.column[column(points[p])] = 1


cdef inline bint one_is_free(uint64_t point, Coverage* covered) noexcept nogil:
    return not (covered.row[row(point)] and covered.column[column(point)])


cdef inline bint both_are_free(uint64_t point, Coverage* covered) noexcept nogil:
    return not (covered.row[row(point)] or covered.column[column(point)])


cdef int find_neighbours(vector[uint64_t]& points, bint diagonal, vector[int32_t]& near) except -1 nogil:
    """near[p] of every point. Two cursors, at (row - 1, column - 1) and (row + 1, column - 1), only move forward."""
    cdef size_t U = points.size()
    cdef size_t p, q, above = 0, below = 0
    cdef int64_t r, c, step
    cdef int32_t* mine
    near.assign(8 * U, -1)
    for p in range(U):
        mine = &near[8 * p]
        r = row(points[p])
        c = column(points[p])
        if p > 0 and row(points[p - 1]) == r and column(points[p - 1]) == c - 1:
            mine[1] = <int32_t>(p - 1)
        if p + 1 < U and row(points[p + 1]) == r and column(points[p + 1]) == c + 1:
            mine[3] = <int32_t>(p + 1)
        while above < p and (row(points[above]) < r - 1 or
                             (row(points[above]) == r - 1 and column(points[above]) < c - 1)):
            above += 1
        q = above
        while q < p and row(points[q]) == r - 1 and column(points[q]) <= c + 1:
            step = column(points[q]) - c
            if step == 0:
                mine[0] = <int32_t>q
            elif diagonal:
                mine[4 if step < 0 else 5] = <int32_t>q
            q += 1
        while below < U and (row(points[below]) < r + 1 or
                             (row(points[below]) == r + 1 and column(points[below]) < c - 1)):
            below += 1
        q = below
        while q < U and row(points[q]) == r + 1 and column(points[q]) <= c + 1:
            step = column(points[q]) - c
            if step == 0:
                mine[2] = <int32_t>q
            elif diagonal:
                mine[6 if step < 0 else 7] = <int32_t>q
            q += 1
    return 0


cdef void grow_points(
    vector[uint64_t]& points, vector[int32_t]& near, vector[uint8_t]& inside, Coverage* covered, bint lilt
) noexcept nogil:
    """symal: repeat until nothing is added: walk the result in order, while it grows, and add to it each neighbour in
    the union that has a free word; lilt: that has two free words. What is added behind the walker waits for the next
    round."""
    cdef size_t p, o
    cdef int32_t q
    cdef const int* order = NEIGHBOURS
    cdef bint added = True
    if lilt:
        order = LILT_NEIGHBOURS
    while added:
        added = False
        for p in range(points.size()):
            if not inside[p]:
                continue
            for o in range(8):
                q = near[8 * p + order[o]]
                if q >= 0 and (both_are_free(points[q], covered) if lilt else one_is_free(points[q], covered)):
                    take(q, points, inside, covered)
                    added = True


cdef void grow_candidates(
    vector[uint64_t]& points, vector[int32_t]& near, vector[uint8_t]& inside, Coverage* covered
) noexcept nogil:
    """atools: repeat until nothing is added: walk the union's other points in order, and add each that has a free word
    and a neighbour in the result."""
    cdef size_t p, o
    cdef int32_t q
    cdef bint added = True
    while added:
        added = False
        for p in range(points.size()):
            if inside[p] or not one_is_free(points[p], covered):
                continue
            for o in range(8):
                q = near[8 * p + o]
                if q >= 0 and inside[q]:
                    take(p, points, inside, covered)
                    added = True
                    break


def grow(
    tuple forward not None,  # IN
    tuple reverse not None,  # IN
    Scan scan,               # IN, as whose tool does
    bint diagonal,           # IN, diagonal neighbours count
    bint final,              # IN, then add what links a free word, forward's links before reverse's
    bint both,               # IN, final: only what links two free words
    tuple links not None,    # OUT, as for select
) -> int:
    """The intersection grown into the union; the number of links."""
    cdef Side f = side(forward), r = side(reverse)
    cdef Result out = result(links, &f, &r)
    cdef vector[uint64_t] points
    cdef vector[uint8_t] inside
    cdef vector[int32_t] near
    cdef Coverage covered
    cdef int64_t largest = 0
    cdef int64_t m = 0
    cdef Py_ssize_t n, k
    cdef size_t p
    cdef int direction
    cdef bint symal = scan == SYMAL
    for k in range(f.n_links):
        largest = max(largest, f.src[k], f.tgt[k])
    for k in range(r.n_links):
        largest = max(largest, r.src[k], r.tgt[k])
    covered.row = <uint8_t*>calloc(largest + 1, 1)
    covered.column = <uint8_t*>calloc(largest + 1, 1)
    try:
        if covered.row == NULL or covered.column == NULL:
            raise MemoryError(f"no room for sentences of {largest + 1} words")
        with nogil:
            out.offsets[0] = 0
            for n in range(f.S):
                unite(&f, &r, n, symal, points)
                inside.assign(points.size(), 0)
                for p in range(points.size()):
                    if points[p] & FLAGS == FLAGS:
                        take(p, points, inside, &covered)
                find_neighbours(points, diagonal, near)
                if scan == ATOOLS:
                    grow_candidates(points, near, inside, &covered)
                else:
                    grow_points(points, near, inside, &covered, scan == LILT)
                if final:
                    for direction in range(FORWARD, REVERSE + 1):
                        for p in range(points.size()):
                            if <int>(points[p] & FLAGS) == direction and not inside[p] and (
                                both_are_free(points[p], &covered) if both else one_is_free(points[p], &covered)
                            ):
                                take(p, points, inside, &covered)
                for p in range(points.size()):
                    if inside[p]:
                        m = put(points[p], symal, &out, m)
                    covered.row[row(points[p])] = 0
                    covered.column[column(points[p])] = 0
                out.offsets[n + 1] = m
    finally:
        free(covered.row)
        free(covered.column)
    return m


def blend(
    tuple forward not None,  # IN, with scores
    tuple reverse not None,  # IN, likewise
    bint product,            # IN, a link's score is the product of its two scores; else their mean
    double threshold,        # IN, links of a higher score, also when it is rounded to six decimals, are kept
    tuple links not None,    # OUT, as for select, with scores
) -> int:
    """The links whose two posteriors together pass the threshold, by source, then target; their number.

    A link that one direction does not list has score 0 there. A link listed twice has the last score.
    """
    cdef Side f = side(forward), r = side(reverse)
    cdef Result out = result(links, &f, &r)
    cdef vector[uint64_t] points
    cdef vector[double] f_score, r_score
    cdef Py_ssize_t n
    cdef size_t p
    cdef double score
    cdef int64_t m = 0
    with nogil:
        out.offsets[0] = 0
        for n in range(f.S):
            unite(&f, &r, n, False, points)
            scatter(&f, n, points, f_score)
            scatter(&r, n, points, r_score)
            for p in range(points.size()):
                score = f_score[p] * r_score[p] if product else 0.5 * (f_score[p] + r_score[p])
                if score > threshold and rint(score * 1e6) / 1e6 > threshold:
                    out.scores[m] = score
                    m = put(points[p], False, &out, m)
            out.offsets[n + 1] = m
    return m


cdef int scatter(Side* s, Py_ssize_t n, vector[uint64_t]& points, vector[double]& score) except -1 nogil:
    """score[p] = the score of point p in this direction, 0 where it has none. Points are by source."""
    cdef int64_t k
    cdef uint64_t wanted
    cdef size_t low = 0, high, middle
    score.assign(points.size(), 0.0)
    for k in range(s.offsets[n], s.offsets[n + 1]):
        wanted = place(s.src[k], s.tgt[k]) >> 2
        if low + 1 < points.size() and points[low + 1] >> 2 == wanted:  # links by source: often the next point
            low += 1
        elif points[low] >> 2 != wanted:
            low = 0
            high = points.size()
            while high - low > 1:
                middle = (low + high) // 2
                if points[middle] >> 2 <= wanted:
                    low = middle
                else:
                    high = middle
        score[low] = s.scores[k]
    return 0
