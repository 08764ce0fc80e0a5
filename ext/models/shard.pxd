"""The shard that the HMM's kernel reads: sentence pairs as views see them, lexicons, jumps; and the lattices of a pair.

A lattice (lattice.pxd) is made of emissions (emissions.pxd), from the lexicons of one or more views, and of jumps
(aligner/models/jumps.py).
"""

from libc.stdint cimport int32_t, int64_t

from checks cimport check_ids
from constraints cimport UNCONSTRAINED, Extra, Inference, n_entries, n_extra, read_extra
from dual cimport room_for_dual
from emissions cimport MOST_VIEWS, Own, Sight, fill, read_evidence, read_own, room_for_share
from inputs cimport Text, Words, read_text, read_words
from lattice cimport MARGIN, Direction, lay_out, room_for, set_transitions
from projection cimport room_for_problem
from vectors cimport VECTOR, padded, real


cdef struct Jumps:
    # Jumps (aligner/models/jumps.py)
    const double* jump   # [2, 2 W + 3]
    const double* first  # [2, W + 1]
    const double* last   # [2, W + 1], or NULL
    int64_t W
    int64_t n_counts     # of a direction
    double p0
    int64_t C                  # classes of words; 0: jumps do not depend on classes
    const double* by_class     # [2, C, 2 W + 3]
    const int32_t* src_class   # [V_src] word -> its class, 1 ... C; 0: none
    const int32_t* tgt_class   # [V_tgt]


cdef inline int check_shares(str name, const double* shares, int64_t n) except -1:
    """Refuses numbers that are not positive, or very large."""
    cdef int64_t k
    for k in range(n):
        if not 0 < shares[k] <= 1e9:
            raise ValueError(f"{name} must be positive, not {shares[k]}")
    return 0


cdef inline int read_by_class(Jumps* m, object positions, Words* w, list held) except -1:
    """The pointers of jumps by class. Refuses classes of other words, and classes that have no jumps."""
    cdef const double[:, :, ::1] by_class = positions.by_class
    cdef const int32_t[::1] src_class = positions.src_class
    cdef const int32_t[::1] tgt_class = positions.tgt_class
    held += [by_class, src_class, tgt_class]
    m.C = by_class.shape[1]
    if by_class.shape[0] != 2 or m.C < 1 or by_class.shape[2] != 2 * m.W + 3:
        raise ValueError(f"jumps by class are not of a window of {m.W + 1} in two directions")
    if src_class.shape[0] != w.V_src or tgt_class.shape[0] != w.V_tgt:
        raise ValueError(f"the classes are not of {w.V_src} and {w.V_tgt} words")
    check_ids("classes of source words", src_class, 0, w.V_src, 0, m.C + 1)
    check_ids("classes of target words", tgt_class, 0, w.V_tgt, 0, m.C + 1)
    m.by_class = &by_class[0, 0, 0]
    check_shares("jumps by class", m.by_class, 2 * m.C * by_class.shape[2])
    m.src_class = &src_class[0] if w.V_src else NULL
    m.tgt_class = &tgt_class[0] if w.V_tgt else NULL
    m.n_counts += m.C * (2 * m.W + 3)
    return 0


cdef inline Jumps read_jumps(object positions, Words* w, list held) except *:
    """The pointers of jumps. Refuses a window too wide for the lattice, and numbers that are not positive."""
    cdef const double[:, ::1] jump = positions.jump
    cdef const double[:, ::1] first = positions.first
    cdef const double[:, ::1] last = positions.last
    cdef Jumps m
    held += [jump, first, last]
    m.W = first.shape[1] - 1
    m.p0 = positions.p0
    if (
        not 0 <= m.W < MARGIN - 1 or jump.shape[1] != 2 * m.W + 3 or last.shape[1] not in (0, m.W + 1)
        or not jump.shape[0] == first.shape[0] == last.shape[0] == 2
    ):
        raise ValueError(f"jumps of a window of {m.W + 1} are not between 1 and {MARGIN - 1} wide in two directions")
    if not 0 < m.p0 < 1:
        raise ValueError(f"p0 must be between 0 and 1, not {m.p0}")
    m.jump = &jump[0, 0]
    m.first = &first[0, 0]
    m.last = &last[0, 0] if last.shape[1] else NULL
    check_shares("jumps", m.jump, 2 * jump.shape[1])
    check_shares("first positions", m.first, 2 * first.shape[1])
    check_shares("last positions", m.last, 2 * last.shape[1])
    m.n_counts = jump.shape[1] + first.shape[1] + last.shape[1]
    m.C = 0
    if positions.n_classes:
        read_by_class(&m, positions, w, held)
    return m


cdef struct Shard:
    # The same sentence pairs as views see them, and what the views believe
    Sight[MOST_VIEWS] views
    int64_t n_views
    Text* x  # of the first view
    Own own
    Jumps jumps
    Extra given


cdef inline int check_same_text(Text* one, Text* other) except -1:
    """Refuses views of different sentence pairs."""
    cdef int64_t n
    if one.S != other.S:
        raise ValueError(f"a view sees {other.S} sentence pairs, another {one.S}")
    for n in range(one.S):
        if (
            one.src_offsets[n + 1] - one.src_offsets[n] != other.src_offsets[n + 1] - other.src_offsets[n]
            or one.tgt_offsets[n + 1] - one.tgt_offsets[n] != other.tgt_offsets[n + 1] - other.tgt_offsets[n]
        ):
            raise ValueError(f"two views see sentence pair {n} with different lengths")
    return 0


cdef inline int read_shard(
    Shard* s, object shards, object lexicons, object positions, object own, Inference* how, bint counting, list held
) except -1:
    """Fills a Shard. Refuses views of different sentence pairs, and constraints where a direction is left out."""
    cdef int64_t k
    s.n_views = len(lexicons)
    if not 1 <= s.n_views == len(shards) <= MOST_VIEWS:
        raise ValueError(f"between 1 and {MOST_VIEWS} views are needed, there are {len(shards)} and {s.n_views}")
    for k in range(s.n_views):
        s.views[k].w = read_words(lexicons[k], held)
        s.views[k].x = read_text(shards[k], &s.views[k].w, counting, held)
        s.views[k].m = read_evidence(lexicons[k].evidence, &s.views[k].w, held)
        check_same_text(&s.views[0].x, &s.views[k].x)
        if s.views[k].m.there != s.views[0].m.there:
            raise ValueError("some lexicons have evidence, others have none")
    s.x = &s.views[0].x
    s.jumps = read_jumps(positions, &s.views[0].w, held)
    s.given = read_extra(shards[0].known.constraints, s.x, held)
    s.own = read_own(own, s.x.S, held)
    if (how.constraint != UNCONSTRAINED or s.given.offsets != NULL) and not (how.forward and how.reverse):
        raise ValueError("constraints need both directions")
    return 0


cdef inline int64_t widest(Shard* s, Inference* how, bint decomposing) noexcept nogil:
    """Reals of work space that are enough for every sentence pair."""
    cdef Text* x = s.x
    cdef Extra* g = &s.given
    cdef int64_t most = 1, I, J, size, more
    cdef Py_ssize_t n
    for n in range(x.S):
        I = x.src_offsets[n + 1] - x.src_offsets[n]
        J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
        size = VECTOR + room_for(I, J, s.jumps.W, s.jumps.C > 0) + room_for(J, I, s.jumps.W, s.jumps.C > 0)
        more = s.n_views * room_for_share(I, J)  # needed before the projection
        if how.constraint != UNCONSTRAINED or n_extra(g, n) > 0:
            more = max(more, room_for_problem(I, J, n_extra(g, n), n_entries(g, n)))
        if decomposing:
            more = max(more, room_for_dual(I, J))
        most = max(most, padded(size + more))
    return most


cdef inline void classify(Direction* d, const int32_t* ids, const int32_t* class_of) noexcept nogil:
    """The classes of the positions of a direction. Unknown words have none."""
    cdef int64_t i
    for i in range(d.I):
        d.classes[i] = class_of[ids[i]] if ids[i] >= 0 else 0


cdef inline real* set_up(Shard* s, Py_ssize_t n, Direction* fwd, Direction* rev, real* work) noexcept nogil:
    """Prepares both lattices of sentence pair n for alpha_rows; returns the work space left, NULL if a side is empty.

    The forward lattice has the source's words as states, the reverse the target's. Their classes are those of the first
    view's words.
    """
    cdef Text* x = s.x
    cdef Jumps* m = &s.jumps
    cdef int64_t I = x.src_offsets[n + 1] - x.src_offsets[n]
    cdef int64_t J = x.tgt_offsets[n + 1] - x.tgt_offsets[n]
    if I == 0 or J == 0:
        return NULL
    lay_out(fwd, I, J, m.W, m.C > 0, work)
    work += room_for(I, J, m.W, m.C > 0)
    lay_out(rev, J, I, m.W, m.C > 0, work)
    work += room_for(J, I, m.W, m.C > 0)
    if m.C > 0:
        classify(fwd, x.src_ids + x.src_offsets[n], m.src_class)
        classify(rev, x.tgt_ids + x.tgt_offsets[n], m.tgt_class)
        fwd.by_class = m.by_class
        rev.by_class = m.by_class + m.C * (2 * m.W + 3)
    fwd.p0 = rev.p0 = <real>m.p0
    fwd.jump = m.jump
    rev.jump = m.jump + 2 * m.W + 3
    fwd.first = m.first
    rev.first = m.first + m.W + 1
    fwd.last = m.last
    rev.last = m.last + m.W + 1 if m.last != NULL else NULL
    set_transitions(fwd)
    set_transitions(rev)
    fill(s.views, s.n_views, &s.own, n, fwd, rev, work)
    return work
