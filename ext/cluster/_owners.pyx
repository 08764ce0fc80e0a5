"""Word pairs that an owner has (aligner/cluster/owners.py): those of all shards, and their counts.

n_words  [N + 1]  the source words of shard n are those from n_words[n] to n_words[n + 1]
src      [w]      source word, from 0, rising in each shard
begins   [w + 1]  the word pairs of source word w are those from begins[w] to begins[w + 1]
tgt      [p]      word pair of a shard -> target word, rising in each row
rows     [V + 1]  word pairs of source word e of the owner are those from rows[e] to rows[e + 1]
total    [P, n]   counts of all word pairs; n = 2 directions, or 1 if both have the same
places   [p]      word pair of a shard -> word pair of the owner
own      [p, n]   counts of the shard
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libcpp.vector cimport vector

from checks cimport check_ids, check_offsets


def merge_rows(
    const int64_t[::1] n_words not None,     # IN
    const int32_t[::1] src not None,         # IN
    const int64_t[::1] begins not None,      # IN
    const int32_t[::1] tgt not None,         # IN
    int64_t[::1] rows not None,              # OUT
):
    """(target words of all word pairs, each once, sorted in each row; places). Rows are merged one by one."""
    cdef int64_t N = n_words.shape[0] - 1, V = rows.shape[0] - 1, P = 0, n, e, p, last
    cdef int32_t least
    check_offsets("n_words", n_words, N, src.shape[0])
    check_offsets("begins", begins, src.shape[0], tgt.shape[0])
    check_ids("src", src, 0, src.shape[0], 0, V)
    merged_array, places_array = np.empty(tgt.shape[0], np.int32), np.zeros(tgt.shape[0], np.int64)
    cdef int32_t[::1] merged = merged_array
    cdef int64_t[::1] places = places_array
    cdef vector[int64_t] word, at, end  # for each shard: its next source word; of shards that have a row: what is left of it
    with nogil:
        for n in range(N):
            word.push_back(n_words[n])
        rows[0] = 0
        for e in range(V):
            at.clear()
            end.clear()
            for n in range(N):
                if word[n] < n_words[n + 1] and src[word[n]] == e:
                    if begins[word[n]] < begins[word[n] + 1]:
                        at.push_back(begins[word[n]])
                        end.push_back(begins[word[n] + 1])
                    word[n] += 1
            while at.size():
                least = tgt[at[0]]
                for n in range(1, <int64_t>at.size()):
                    least = min(least, tgt[at[n]])
                for n in range(<int64_t>at.size() - 1, -1, -1):
                    p = at[n]
                    if tgt[p] == least:
                        places[p] = P
                        at[n] += 1
                        if at[n] == end[n]:
                            last = at.size() - 1
                            at[n] = at[last]
                            end[n] = end[last]
                            at.pop_back()
                            end.pop_back()
                merged[P] = least
                P += 1
            rows[e + 1] = P
    return merged_array[:P].copy(), places_array


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
