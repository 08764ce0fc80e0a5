"""Expected counts as integers of 2^-32: sums do not depend on the order of addition.

Threads, shards and machines give the same bits, and a subtraction undoes an addition exactly. A count of 1 is 2^32.
An int64 holds the counts of 2^30 tokens a side with room to spare; aligner/models/counts.py refuses longer texts.
"""

from libc.stdint cimport int64_t

from inputs cimport Words

cdef extern from *:
    """
    #include <cstdint>
    static inline void atomic_add(int64_t *at, int64_t value) { __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
    """
    void atomic_add(int64_t* at, int64_t value) noexcept nogil

cdef extern from "prefetch.h":
    void PREFETCH_TO_WRITE(const void* address) noexcept nogil


cdef struct Sums:
    # Counts of a lexicon (aligner/models/counts.py)
    int64_t* pairs     # [P, 2] word pair -> forward, reverse
    int64_t* null_fwd  # [V_tgt]
    int64_t* null_rev  # [V_src]


cdef inline Sums read_sums(object counts, Words* w, list held) except *:
    """The pointers of counts. Refuses counts of another lexicon."""
    cdef int64_t[:, ::1] pairs = counts.pairs
    cdef int64_t[::1] null_fwd = counts.null_fwd
    cdef int64_t[::1] null_rev = counts.null_rev
    cdef Sums c
    held += [pairs, null_fwd, null_rev]
    if pairs.shape[0] != w.P or pairs.shape[1] != 2 or null_fwd.shape[0] != w.V_tgt or null_rev.shape[0] != w.V_src:
        raise ValueError("the counts are of another lexicon")
    c.pairs = &pairs[0, 0] if w.P else NULL
    c.null_fwd = &null_fwd[0] if w.V_tgt else NULL
    c.null_rev = &null_rev[0] if w.V_src else NULL
    return c


cdef inline int64_t fixed(double x) noexcept nogil:
    """An expected count, rounded to a multiple of 2^-32."""
    return <int64_t>(x * 4294967296.0 + 0.5)


cdef enum:
    QUEUE = 16  # additions under way

cdef struct Queue:
    # Additions that wait until their places are in the cache. An atomic addition that waits for memory delays others.
    int64_t n
    int64_t* at[QUEUE]
    int64_t amount[QUEUE]


cdef inline void add_later(Queue* q, int64_t* at, int64_t amount) noexcept nogil:
    cdef int64_t slot = q.n % QUEUE
    if q.n >= QUEUE:
        atomic_add(q.at[slot], q.amount[slot])
    PREFETCH_TO_WRITE(at)
    q.at[slot] = at
    q.amount[slot] = amount
    q.n += 1


cdef inline void add_rest(Queue* q) noexcept nogil:
    cdef int64_t k
    for k in range(q.n if q.n < QUEUE else QUEUE):
        atomic_add(q.at[k], q.amount[k])
