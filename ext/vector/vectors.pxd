"""Vectors of 16 reals (real.h), and room for rows that are whole vectors."""

from libc.stdint cimport int64_t
from posix.stdlib cimport posix_memalign

cdef extern from "real.h":
    ctypedef float real
    const real LEAST    # the least sum of probabilities that has an inverse
    ctypedef float vec  # 16 of them
    vec load(const real* at) noexcept nogil
    void store(real* at, vec x) noexcept nogil
    vec splat(real x) noexcept nogil
    real sum(vec x) noexcept nogil
    real exponential(real x) noexcept nogil

cdef enum:
    VECTOR = 16  # lanes. Loops say 16: Cython wants a number for a step


cdef inline int64_t padded(int64_t n) noexcept nogil:
    """n rounded up to whole vectors."""
    return (n + VECTOR - 1) // VECTOR * VECTOR


cdef inline real* room(real** memory, int64_t n) noexcept nogil:
    """Takes n reals from memory."""
    cdef real* here = memory[0]
    memory[0] += n
    return here


cdef inline real* new_work(int64_t n) except NULL:
    """Room for n reals, from the start of a cache line. Pages that are never touched cost no memory."""
    cdef void* memory = NULL
    if posix_memalign(&memory, 64, max(1, n) * sizeof(real)):
        raise MemoryError("no room for the rows of sentence pairs")
    return <real*>memory
