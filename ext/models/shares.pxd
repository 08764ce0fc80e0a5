"""How the expected links of a sentence pair are kept: as entries of 32 bits.

An entry has the distance from the cell of the entry before, in row-major order, in its upper half, and the expected links
of the cell, times MOST, in its lower half. The first entry's distance is from cell 0. Where two cells are more than MOST
apart, entries of no links stand between them.
"""

from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport realloc

cdef enum:
    MOST = 65535


cdef inline int64_t distance(uint32_t entry) noexcept nogil:
    return entry >> 16


cdef inline int64_t amount(uint32_t entry) noexcept nogil:
    """Expected links, times MOST."""
    return entry & MOST


cdef struct Packed:
    # The entries of the sentence pairs that one thread had, one sentence pair after another
    uint32_t* entries
    int64_t n, room
    bint failed  # there was no room


cdef inline bint make_room(Packed* p) noexcept nogil:
    """Doubles the room for entries."""
    cdef int64_t room = max(4096, 2 * p.room)
    cdef void* more = realloc(p.entries, room * sizeof(uint32_t))
    if more == NULL:
        p.failed = True
        return False
    p.entries = <uint32_t*>more
    p.room = room
    return True


cdef inline void add_entry(Packed* p, int64_t gap, float q) noexcept nogil:
    """Adds a cell that is `gap` cells after the last one, and has q expected links."""
    while True:
        if p.n == p.room and not make_room(p):
            return
        p.entries[p.n] = <uint32_t>min(gap, MOST) << 16
        p.n += 1
        if gap <= MOST:
            break
        gap -= MOST
    p.entries[p.n - 1] |= <uint32_t>(min(q, <float>1) * MOST + <float>0.5)
