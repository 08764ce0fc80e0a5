"""Emissions of a sentence pair's two lattices: from one lexicon, or from the lexicons of several views together.

    one view         FLOOR + t
    several views    the geometric mean of the views' emissions, NULL's too

A lexicon that has evidence (aligner/models/lexicon.py) was learned from counts: t(f | e) = count(e, f) / src(e). If the
sentence pair was counted too, its own share of the counts is left out again, `left_out` of it:

    forward   (count(e, f) - left_out own(e, f)) / (src(e) - left_out kappa_fwd own(e))
    reverse   (count(e, f) - left_out own(e, f)) / (tgt(f) - left_out kappa_rev own(f))
    NULL      (count(f) - left_out own(f)) / (null_fwd - left_out own nulls), and the same of source words

own(e, f) are the expected links of all cells of the sentence pair that have the words e and f, own(e) the occurrences of
e, kappa the expected links of an occurrence. A word pair whose t is 0 has the count that smoothing gives it, alpha / V for V
words: it was never linked, and is not spelled alike.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from inputs cimport FLOOR, Text, Words, check_positive
from lattice cimport Direction
from shares cimport MOST, amount, distance
from vectors cimport exponential, padded, real, room

cdef extern from "real.h":
    real logarithm(real x) noexcept nogil

cdef extern from "prefetch.h":
    void PREFETCH(const void* address) noexcept nogil

cdef extern from *:
    """
    static const real SCALE = (real)1048576;  /* 2^20 */
    static const real LEAST_EMISSION = (real)1e-6;
    """
    const real SCALE  # the product of MOST_VIEWS emissions between 1e-12 and 2, each times SCALE, is a normal float
    const real LEAST_EMISSION  # of an emission times SCALE, where several views have one lattice

cdef enum:
    MOST_VIEWS = 6


cdef struct Believed:
    # How much a lexicon was learned from, of one side's words (aligner/models/lexicon.py)
    const real* many   # [V] how often a word was counted, as the one that is translated
    real kappa         # expected links of an occurrence
    real least         # the count that smoothing gives a word pair, where a word of this side is translated
    const real* null   # [V] probabilities of the words as NULL's translations
    real nulls         # how often NULL was counted


cdef struct Evidence:
    bint there             # whether the lexicon has evidence
    const uint8_t* linked  # a bit a word pair: whether its t is not 0; NULL: all are
    real alpha
    Believed src, tgt


cdef struct Sight:
    # What one view sees of the shard, and what it believes
    Text x
    Words w
    Evidence m


cdef struct Own:
    # The shares of the shard's sentence pairs in the counts (aligner/models/shares.py)
    const int64_t* start     # [S] a sentence pair's entries are those from start to stop; -1: it was not counted
    const int64_t* stop      # [S]
    const uint32_t* entries  # shares.pxd
    real left_out


cdef struct Half:
    # What one sentence pair had counted of one side, in one view. Sums over equal words stand at the first of them.
    int64_t n
    const int32_t* ids  # [n]
    int32_t* first      # [n] the first place of the same word
    real* own           # [n] occurrences
    real* null          # [n] expected occurrences without a link
    real nulls          # their sum
    real* more          # [n] count -> how many times more likely than by smoothing alone; until then, links of each token


cdef struct Share:
    # What one sentence pair had counted, in one view
    Half src, tgt
    real* links  # [I, J] at the first of equal words


cdef struct Hits:
    # Word pairs of a row of cells whose t is not 0
    int64_t n
    int32_t* tgt  # [J]


cdef inline Evidence read_evidence(object evidence, Words* w, list held) except *:
    """The pointers of evidence; None: of a lexicon that has none."""
    cdef Evidence m
    m.there = evidence is not None
    if not m.there:
        return m
    cdef const real[::1] src = evidence.src
    cdef const real[::1] tgt = evidence.tgt
    cdef const uint8_t[::1] linked
    held += [src, tgt]
    if not len(evidence.kappa) == len(evidence.nulls) == len(evidence.words) == 2:
        raise ValueError("kappa, nulls and words of the evidence are not of two directions")
    cdef double[7] numbers = [evidence.alpha, *evidence.kappa, *evidence.nulls, *evidence.words]
    m.alpha = <real>numbers[0]
    m.src.kappa, m.tgt.kappa = <real>numbers[1], <real>numbers[2]
    m.tgt.nulls, m.src.nulls = <real>numbers[3], <real>numbers[4]
    m.tgt.least, m.src.least = <real>(numbers[0] / max(1, numbers[5])), <real>(numbers[0] / max(1, numbers[6]))
    if src.shape[0] != w.V_src or tgt.shape[0] != w.V_tgt:
        raise ValueError("the evidence is of another lexicon")
    check_positive("evidence", src)
    check_positive("evidence", tgt)
    if not (0 < m.alpha < 1e9 and 0 <= m.src.kappa < 1e9 and 0 <= m.tgt.kappa < 1e9):
        raise ValueError("alpha and kappa of the evidence must be positive")
    if not (0 <= numbers[5] <= 2147483647 and 0 <= numbers[6] <= 2147483647):
        raise ValueError("the evidence is of impossible numbers of words")
    if not (0 < m.src.nulls < 1e30 and 0 < m.tgt.nulls < 1e30):
        raise ValueError("the evidence of NULL must be positive")
    m.linked = NULL
    if evidence.linked is not None:
        linked = evidence.linked
        held.append(linked)
        if linked.shape[0] != (w.P + 7) // 8:
            raise ValueError(f"the evidence is not of {w.P} word pairs")
        m.linked = &linked[0] if w.P else NULL
    m.src.many = &src[0] if w.V_src else NULL
    m.tgt.many = &tgt[0] if w.V_tgt else NULL
    m.src.null = w.null_rev
    m.tgt.null = w.null_fwd
    return m


cdef inline Own read_own(object own, int64_t S, list held) except *:
    """The pointers of a shard's own shares; None: no sentence pair was counted."""
    cdef Own o
    cdef int64_t n
    o.start = NULL
    if own is None:
        return o
    cdef const int64_t[::1] start = own.start
    cdef const int64_t[::1] stop = own.stop
    cdef const uint32_t[::1] entries = own.entries
    held += [start, stop, entries]
    cdef double left_out = own.left_out
    o.left_out = <real>left_out
    if start.shape[0] != S or stop.shape[0] != S:
        raise ValueError(f"the shares are not of {S} sentence pairs")
    if not 0 <= o.left_out <= 1:
        raise ValueError(f"left_out must be between 0 and 1, not {o.left_out}")
    for n in range(S):
        if not (start[n] == -1 or 0 <= start[n] <= stop[n] <= entries.shape[0]):
            raise ValueError(f"the share of sentence pair {n} leaves its array of {entries.shape[0]}")
    if S > 0:
        o.start = &start[0]
        o.stop = &stop[0]
        o.entries = &entries[0] if entries.shape[0] else NULL
    return o


cdef inline int64_t room_for_share(int64_t I, int64_t J) noexcept nogil:
    """How many reals from_counts needs for a view: its Share, and two rows of Hits."""
    return padded(I * J) + 4 * padded(I) + 6 * padded(J)


cdef inline void lay_out_half(Half* h, const int32_t* ids, int64_t n, real** memory) noexcept nogil:
    """Gives the arrays of a side their places, nothing counted yet."""
    cdef int64_t i, k
    h.n = n
    h.ids = ids
    h.own = room(memory, padded(n))
    h.null = room(memory, padded(n))
    h.more = room(memory, padded(n))
    memset(h.own, 0, 3 * padded(n) * sizeof(real))  # own, null, more
    h.nulls = 0
    h.first = <int32_t*>room(memory, padded(n))
    for i in range(n):
        k = 0
        while ids[k] != ids[i]:
            k += 1
        h.first[i] = <int32_t>k


cdef inline void count_tokens(Half* h) noexcept nogil:
    """Adds occurrences, and what is left of them without links."""
    cdef int64_t i, k
    cdef real q
    for i in range(h.n):
        k = h.first[i]
        h.own[k] += 1
        q = max(<real>0, 1 - h.more[i])
        h.null[k] += q
        h.nulls += q


cdef inline void find_share(Sight* v, Own* own, int64_t n, int64_t I, int64_t J, Share* s, real** memory) noexcept nogil:
    """What sentence pair n had counted in this view; nothing if the sentence pair was not counted."""
    cdef int64_t i, j, k, place = 0
    cdef real q
    lay_out_half(&s.src, v.x.src_ids + v.x.src_offsets[n], I, memory)
    lay_out_half(&s.tgt, v.x.tgt_ids + v.x.tgt_offsets[n], J, memory)
    s.links = room(memory, padded(I * J))
    memset(s.links, 0, I * J * sizeof(real))
    if own.start == NULL or own.start[n] < 0:
        return
    for k in range(own.start[n], own.stop[n]):
        place += distance(own.entries[k])
        if place >= I * J:
            break
        q = <real>amount(own.entries[k]) / MOST
        i = place // J
        j = place - i * J
        s.links[s.src.first[i] * J + s.tgt.first[j]] += q
        s.src.more[i] += q
        s.tgt.more[j] += q
    count_tokens(&s.src)
    count_tokens(&s.tgt)


cdef inline void begin_rows(
    Half* h, Believed* b, real alpha, real least_of_null, real out, real scale, real floor, real* emit, real* null
) noexcept nogil:
    """Multiplies the first row of emissions that have this side's words as states by smoothing's part, and the emissions of
    these words from NULL."""
    cdef int64_t i
    cdef real many, part, least, count
    cdef real of_null = scale / max(alpha, b.nulls - out * h.nulls)  # rounding alone makes it less than alpha
    for i in range(h.n):
        many = b.many[h.ids[i]] if h.ids[i] >= 0 else alpha
        part = scale / max(alpha, many - out * b.kappa * h.own[h.first[i]])
        least = max(floor, b.least * part)
        emit[i] *= least
        h.more[i] = part / least
        count = b.null[h.ids[i]] * b.nulls if h.ids[i] >= 0 else 0
        null[i] *= max(floor, max(least_of_null, count - out * h.null[h.first[i]]) * of_null)


cdef inline void mark(
    Sight* v, const int32_t* src, const int32_t* tgt, const int32_t* cell, int64_t I, int64_t J, Hits* hits
) noexcept nogil:
    """Finds the word pairs of the first of I rows of cells whose t is not 0, and has their t brought to the cache.

    Bits come from anywhere in memory: those of the next row are brought, too, and no branch waits for a bit.
    """
    cdef const uint8_t* linked = v.m.linked
    cdef const real* t
    cdef int64_t j, k, begin, width, n = 0
    if linked != NULL and I > 1 and src[1] >= 0:
        begin = v.w.rows[src[1]]
        for j in range(J, 2 * J):
            PREFETCH(linked + ((begin + cell[j]) >> 3))  # also where cell[j] is -1
    hits.n = 0
    if src[0] < 0:
        return
    begin = v.w.rows[src[0]]
    width = v.w.rows[src[0] + 1] - begin
    t = v.w.t + 2 * begin
    for j in range(J):
        if 0 <= cell[j] < width and tgt[j] >= 0:
            k = begin + cell[j]
            hits.tgt[n] = <int32_t>j
            n += 1 if linked == NULL else linked[k >> 3] >> (k & 7) & 1
    hits.n = n
    for j in range(n):
        PREFETCH(t + 2 * cell[hits.tgt[j]])


cdef inline void from_counts(
    Sight* views, int64_t n_views, Own* own, int64_t n, real scale, Direction* fwd, Direction* rev, real* memory
) noexcept nogil:
    """Emissions from counts, without the sentence pair's own share.

    Smoothing's part of an emission depends on the state word alone. So rows begin as copies of one row, which holds the
    product over the views; then the word pairs whose t is not 0 multiply their cells by count / smoothing's count.
    """
    cdef int64_t I = fwd.I, J = fwd.J, i, j, k, x
    cdef Sight* v
    cdef Share* s
    cdef Share[MOST_VIEWS] shares
    cdef const int32_t* src
    cdef const int32_t* tgt
    cdef const int32_t* cell
    cdef const real* row
    cdef const real* links
    cdef real out = own.left_out if own.start != NULL else 0
    cdef real many, mine, f, r, floor = 0 if n_views == 1 else LEAST_EMISSION
    cdef Hits[2] hits  # of this row and of the next
    cdef Hits* now
    for k in range(2):
        hits[k].tgt = <int32_t*>room(&memory, padded(J))
    for i in range(I):
        rev.null[i] = fwd.emit[i] = 1
    for j in range(J):
        fwd.null[j] = rev.emit[j] = 1
    for x in range(n_views):
        v = &views[x]
        s = &shares[x]
        find_share(v, own, n, I, J, s, &memory)
        begin_rows(&s.src, &v.m.src, v.m.alpha, v.m.tgt.least, out, scale, floor, fwd.emit, rev.null)
        begin_rows(&s.tgt, &v.m.tgt, v.m.alpha, v.m.src.least, out, scale, floor, rev.emit, fwd.null)
    for j in range(1, J):
        memcpy(fwd.emit + j * fwd.K, fwd.emit, fwd.K * sizeof(real))
    for i in range(1, I):
        memcpy(rev.emit + i * rev.K, rev.emit, rev.K * sizeof(real))
    for x in range(n_views):
        v = &views[x]
        s = &shares[x]
        src = s.src.ids
        tgt = s.tgt.ids
        cell = v.x.cells + v.x.cell_offsets[n]
        mark(v, src, tgt, cell, I, J, &hits[0])
        for i in range(I):
            now = &hits[i & 1]
            if i + 1 < I:
                mark(v, src + i + 1, tgt, cell + J, I - i - 1, J, &hits[(i + 1) & 1])
            if now.n > 0:
                row = v.w.t + 2 * v.w.rows[src[i]]
                links = s.links + s.src.first[i] * J
                many = v.m.src.many[src[i]]
                for k in range(now.n):
                    j = now.tgt[k]
                    mine = out * links[s.tgt.first[j]]
                    f = (row[2 * cell[j]] * many - mine) * s.src.more[i]
                    r = (row[2 * cell[j] + 1] * v.m.tgt.many[tgt[j]] - mine) * s.tgt.more[j]
                    fwd.emit[j * fwd.K + i] *= max(<real>1, f)
                    rev.emit[i * rev.K + j] *= max(<real>1, r)
            cell += J


cdef inline void from_lexicon(
    Sight* v, int64_t n, real scale, bint begin, Direction* fwd, Direction* rev
) noexcept nogil:
    """Emissions FLOOR + t."""
    cdef const int32_t* src = v.x.src_ids + v.x.src_offsets[n]
    cdef const int32_t* tgt = v.x.tgt_ids + v.x.tgt_offsets[n]
    cdef const int32_t* cell = v.x.cells + v.x.cell_offsets[n]
    cdef const real* row
    cdef real f, r
    cdef int64_t i, j, I = fwd.I, J = fwd.J, width
    for j in range(J):
        f = (FLOOR + (v.w.null_fwd[tgt[j]] if tgt[j] >= 0 else 0)) * scale
        fwd.null[j] = f if begin else fwd.null[j] * f
    for i in range(I):
        r = (FLOOR + (v.w.null_rev[src[i]] if src[i] >= 0 else 0)) * scale
        rev.null[i] = r if begin else rev.null[i] * r
        if i + 2 < I and src[i + 2] >= 0:
            row = v.w.t + 2 * v.w.rows[src[i + 2]]
            for j in range(2 * J, 3 * J):
                PREFETCH(row + 2 * cell[j])  # of the word after the next, wherever they are
        row = v.w.t + 2 * v.w.rows[src[i]] if src[i] >= 0 else NULL
        width = v.w.rows[src[i] + 1] - v.w.rows[src[i]] if src[i] >= 0 else 0
        for j in range(J):
            f = r = FLOOR * scale
            if 0 <= cell[j] < width:
                f = (FLOOR + row[2 * cell[j]]) * scale
                r = (FLOOR + row[2 * cell[j] + 1]) * scale
            fwd.emit[j * fwd.K + i] = f if begin else fwd.emit[j * fwd.K + i] * f
            rev.emit[i * rev.K + j] = r if begin else rev.emit[i * rev.K + j] * r
        cell += J


cdef inline void take_root(real* x, int64_t n, int64_t n_views) noexcept nogil:
    """x becomes its n_views-th root, without the factor SCALE of each view."""
    cdef int64_t k
    cdef real share = 1 / <real>n_views, back = 1 / SCALE
    for k in range(n):
        x[k] = exponential(share * logarithm(x[k])) * back


cdef inline void fill(
    Sight* views, int64_t n_views, Own* own, int64_t n, Direction* fwd, Direction* rev, real* memory
) noexcept nogil:
    """emit and null of both lattices of sentence pair n, known links weighted."""
    cdef Text* x = &views[0].x
    cdef int64_t v, k, j, I = fwd.I, J = fwd.J
    cdef real scale = 1 if n_views == 1 else SCALE
    for j in range(J):
        memset(fwd.emit + j * fwd.K + I, 0, (fwd.K - I) * sizeof(real))
    for j in range(I):
        memset(rev.emit + j * rev.K + J, 0, (rev.K - J) * sizeof(real))
    if views[0].m.there:
        from_counts(views, n_views, own, n, scale, fwd, rev, memory)
    for v in range(0 if views[0].m.there else n_views):
        from_lexicon(&views[v], n, scale, v == 0, fwd, rev)
    if n_views > 1:
        take_root(fwd.null, J, n_views)
        take_root(rev.null, I, n_views)
        for j in range(J):
            take_root(fwd.emit + j * fwd.K, I, n_views)
        for j in range(I):
            take_root(rev.emit + j * rev.K, J, n_views)
    if x.known_offsets != NULL:
        for k in range(x.known_offsets[n], x.known_offsets[n + 1]):
            fwd.emit[x.known_tgt[k] * fwd.K + x.known_src[k]] *= x.known_weight[k]
            rev.emit[x.known_src[k] * rev.K + x.known_tgt[k]] *= x.known_weight[k]
