"""Expected counts as integers of 2^-32: they can be added in any order, so threads give the same bits.

A count of 1 is 2^32. No count of a text exceeds the number of its tokens on one side, so an int64 holds the counts of
2^31 tokens.
"""

from libc.stdint cimport int64_t


cdef inline int64_t fixed(double x) noexcept nogil:
    """An expected count, rounded to a multiple of 2^-32."""
    return <int64_t>(x * 4294967296.0 + 0.5)
