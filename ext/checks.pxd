"""Checks at the doors of kernels. Offsets and ids that pass them lead nowhere outside their arrays."""

from libc.stdint cimport int32_t, int64_t

cdef enum:
    MOST_THREADS = 1024


cdef inline int check_threads(int n_threads) except -1:
    if not 1 <= n_threads <= MOST_THREADS:
        raise ValueError(f"n_threads must be between 1 and {MOST_THREADS}, not {n_threads}")
    return 0


cdef inline int check_offsets(str name, const int64_t[::1] offsets, int64_t S, int64_t end) except -1:
    """Refuses offsets that are not S + 1 rising numbers between 0 and end."""
    cdef int64_t n
    if S < 0 or offsets.shape[0] != S + 1:
        raise ValueError(f"{name} has {offsets.shape[0]} numbers, {S + 1} are needed")
    if offsets[0] < 0 or offsets[S] > end:
        raise ValueError(f"{name} leaves its array of {end}")
    for n in range(S):
        if offsets[n + 1] < offsets[n]:
            raise ValueError(f"{name} falls at {n + 1}")
    return 0


cdef inline int check_ids(str name, const int32_t[::1] ids, int64_t begin, int64_t end, int32_t least, int64_t V) except -1:
    """Refuses ids[begin:end] unless all are between least and V - 1."""
    cdef int64_t k
    cdef int32_t most = <int32_t>(max(<int64_t>0, min(V, <int64_t>2147483648)) - 1), outside = 0, low, high
    for k in range(begin, end):  # compilers make vectors of this, and of a maximum not for each machine
        outside |= (ids[k] < least) | (ids[k] > most)
    if outside:
        low = high = ids[begin]
        for k in range(begin, end):
            low = min(low, ids[k])
            high = max(high, ids[k])
        raise ValueError(f"{name} must be between {least} and {V - 1}; there are {low} and {high}")
    return 0


cdef inline int check_cells(
    const int64_t[::1] src_offsets, const int64_t[::1] tgt_offsets, const int64_t[::1] cell_offsets, int64_t end
) except -1:
    """Refuses cell_offsets unless every sentence pair has I * J cells and no cell is at end or beyond."""
    cdef int64_t n, I, J, S = src_offsets.shape[0] - 1
    check_offsets("cell_offsets", cell_offsets, S, end)
    for n in range(S):
        I = src_offsets[n + 1] - src_offsets[n]
        J = tgt_offsets[n + 1] - tgt_offsets[n]
        if cell_offsets[n + 1] - cell_offsets[n] != I * J:
            raise ValueError(f"sentence pair {n} has {I} x {J} words, {cell_offsets[n + 1] - cell_offsets[n]} cells")
    return 0
