"""Counts of a shard's word pairs, added to those of all word pairs that an owner has (aligner/cluster/owners.py).

total   [P, n]  counts of all word pairs; n = 2 directions, or 1 if both have the same
places  [p]     word pair of the shard -> where it stands in total
own     [p, n]  counts of the shard
"""

from libc.stdint cimport int64_t


def add_rows(
    int64_t[:, ::1] total not None,          # IN, OUT
    const int64_t[::1] places not None,      # IN
    const int64_t[:, ::1] own not None,      # IN
):
    """total[places] += own, without arrays beside them. Places are all different."""
    cdef int64_t P = total.shape[0], n = total.shape[1], p, k, outside = 0
    if own.shape[0] != places.shape[0] or own.shape[1] != n:
        raise ValueError(f"the counts are of {own.shape[0]} word pairs, not {places.shape[0]}, or of other directions")
    with nogil:
        for p in range(places.shape[0]):
            outside += not 0 <= places[p] < P
    if outside:
        raise ValueError(f"{outside} places are not among {P} word pairs")
    with nogil:
        for p in range(places.shape[0]):
            for k in range(n):
                total[places[p], k] += own[p, k]
