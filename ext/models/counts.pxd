"""Expected counts as integers of 2^-32: sums do not depend on the order of addition.

Threads, shards and machines give the same bits, and a subtraction undoes an addition exactly. A count of 1 is 2^32.
An int64 holds the counts of two billion tokens a side; aligner/models/counts.py refuses longer texts.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport calloc, free

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
    int64_t columns    # of pairs: 2, or 1 where both directions agree and have the same
    int64_t* pairs     # [P, columns] word pair -> forward, reverse
    int64_t* null_fwd  # [V_tgt]
    int64_t* null_rev  # [V_src]


cdef inline Sums read_sums(object counts, Words* w, bint agree, list held) except *:
    """The pointers of counts. Refuses counts of another lexicon, and all but one column with agreement, two without."""
    cdef int64_t[:, ::1] pairs = counts.pairs
    cdef int64_t[::1] null_fwd = counts.null_fwd
    cdef int64_t[::1] null_rev = counts.null_rev
    cdef Sums c
    held += [pairs, null_fwd, null_rev]
    c.columns = 1 if agree else 2
    if pairs.shape[0] != w.P or pairs.shape[1] != c.columns or null_fwd.shape[0] != w.V_tgt or null_rev.shape[0] != w.V_src:
        raise ValueError("the counts are of another lexicon, or of other directions")
    c.pairs = &pairs[0, 0] if w.P else NULL
    c.null_fwd = &null_fwd[0] if w.V_tgt else NULL
    c.null_rev = &null_rev[0] if w.V_src else NULL
    return c


cdef inline int64_t fixed(double x) noexcept nogil:
    """An expected count, rounded to a multiple of 2^-32."""
    return <int64_t>(x * 4294967296.0 + 0.5)


cdef enum:
    UNDER_WAY = 1024  # sums of a thread: their places fit its cache

cdef struct Later:
    # A sum that waits to be added to its place. NULL: there is none
    int64_t* at
    int64_t amount


cdef inline void add_later(Later* sums, int64_t* at, int64_t amount) noexcept nogil:
    """Adds an amount to one of a thread's sums, [UNDER_WAY].

    An atomic addition that waits for memory delays others, and threads wait for each other at frequent words. So amounts of
    one place become one addition, which is made when another place needs the slot: memory was fetched long before. The slot
    of a place is given by the highest 10 bits of a product, 2^10 = UNDER_WAY; the factor is 2^64 over the golden ratio
    (Knuth, The Art of Computer Programming, 6.4).
    """
    cdef Later* own = sums + ((<uint64_t>at * <uint64_t>0x9E3779B97F4A7C15) >> 54)
    if own.at == at:
        own.amount += amount
        return
    if own.at != NULL:
        atomic_add(own.at, own.amount)
    PREFETCH_TO_WRITE(at)
    own.at = at
    own.amount = amount


cdef inline Later* new_sums(int n_threads) except NULL:
    """[n_threads, UNDER_WAY] no sums"""
    cdef Later* sums = <Later*>calloc(n_threads * UNDER_WAY, sizeof(Later))
    if sums == NULL:
        raise MemoryError("no room for sums")
    return sums


cdef inline void add_rest(Later* sums, int n_threads) noexcept nogil:
    """Makes the additions that are left of all threads, and frees their sums."""
    cdef int64_t k
    for k in range(n_threads * UNDER_WAY):
        if sums[k].at != NULL:
            sums[k].at[0] += sums[k].amount
    free(sums)
