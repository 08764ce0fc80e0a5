"""What stands around each candidate link: the other candidates of its two words, and those of neighbouring words.

    same source word, same target word    the largest other value, the sum of the others, how many are larger (up to 3)
    the eight adjacent cells              their values, and the largest of them
    farther away                          the sum along the diagonal at distance 2, and the sum over the cells that are one
                                          or two words away on both sides

A cell that is no candidate has the value 0. Equal values are ranked by their places.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

import numpy as np

from checks cimport check_offsets, check_threads

NAMES = (
    "row other", "row rest", "row rank", "column other", "column rest", "column rank",
    "-1 -1", "-1 0", "-1 1", "0 -1", "0 1", "1 -1", "1 0", "1 1", "largest near", "diagonal 2", "five by five",
)
cdef enum:
    N_NAMES = 17
    EDGE = 2  # rows and columns of 0 around a grid
    MOST_WORDS = 1 << 30  # of a sentence: positions and an edge are int32


cdef struct Room:
    float* grid      # [(I + 4) (J + 4)] values by cell; 0 between sentence pairs
    int64_t* starts  # [J + 1] the first candidate of each target word, in `column`
    int64_t* column  # [n] candidates by target, then source word


def surroundings(
    const int64_t[::1] offsets not None,  # IN, [S + 1]
    const int32_t[::1] src not None,      # IN, [n] candidates, by source, then target
    const int32_t[::1] tgt not None,      # IN, [n]
    const float[::1] values not None,     # IN, [n] not negative
    int n_threads,
):
    """[17, n] of each candidate, in the order of NAMES."""
    cdef Py_ssize_t S = offsets.shape[0] - 1, n
    cdef int64_t cells, words, most
    cdef int k
    cdef Room* rooms
    check_threads(n_threads)
    cells, words, most = check_candidates(offsets, src, tgt, values)
    found = np.empty((N_NAMES, src.shape[0]), np.float32)
    cdef float[:, ::1] out = found
    rooms = <Room*>calloc(n_threads, sizeof(Room))
    try:
        if rooms == NULL:
            raise MemoryError("no room for candidates")
        for k in range(n_threads):
            rooms[k].grid = <float*>calloc(cells, sizeof(float))
            rooms[k].starts = <int64_t*>calloc(words + 1, sizeof(int64_t))
            rooms[k].column = <int64_t*>calloc(most, sizeof(int64_t))
            if rooms[k].grid == NULL or rooms[k].starts == NULL or rooms[k].column == NULL:
                raise MemoryError("no room for candidates")
        for n in prange(S, schedule="dynamic", chunksize=16, num_threads=n_threads, nogil=True):
            if offsets[n] < offsets[n + 1]:
                look(offsets[n], offsets[n + 1], src, tgt, values, out, &rooms[threadid()])
    finally:
        for k in range(n_threads if rooms != NULL else 0):
            free(rooms[k].grid)
            free(rooms[k].starts)
            free(rooms[k].column)
        free(rooms)
    return found


cdef tuple check_candidates(
    const int64_t[::1] offsets, const int32_t[::1] src, const int32_t[::1] tgt, const float[::1] values
):
    """(most cells of a grid, most target words, most candidates of a sentence pair). Refuses what is not sorted."""
    cdef int64_t S = offsets.shape[0] - 1, n, k, J, cells = 1, words = 1, most = 1
    check_offsets("offsets", offsets, S, src.shape[0])
    if not src.shape[0] == tgt.shape[0] == values.shape[0] or offsets[0] != 0 or offsets[S] != src.shape[0]:
        raise ValueError("candidates have source words, target words and values of different numbers")
    for n in range(S):
        J = 0
        for k in range(offsets[n], offsets[n + 1]):
            if not (0 <= src[k] < MOST_WORDS and 0 <= tgt[k] < MOST_WORDS):
                raise ValueError(f"sentence pair {n} has a position that is negative or too large")
            if not 0 <= values[k] <= 1e30:
                raise ValueError(f"sentence pair {n} has a value of {values[k]}")
            if k > offsets[n] and (src[k] < src[k - 1] or src[k] == src[k - 1] and tgt[k] <= tgt[k - 1]):
                raise ValueError(f"the candidates of sentence pair {n} are not by source, then target, each once")
            J = max(J, tgt[k] + 1)
        if offsets[n] < offsets[n + 1]:
            cells = max(cells, (src[offsets[n + 1] - 1] + 1 + 2 * EDGE) * (J + 2 * EDGE))
        words = max(words, J)
        most = max(most, offsets[n + 1] - offsets[n])
    return cells, words, most


cdef void look(
    int64_t begin, int64_t end, const int32_t[::1] src, const int32_t[::1] tgt, const float[::1] values,
    float[:, ::1] out, Room* room,
) noexcept nogil:
    """Looks around the candidates of one sentence pair."""
    cdef int64_t k, first, J = 0, width, di, dj, at
    cdef float* here
    cdef float largest, five
    for k in range(begin, end):
        J = max(J, tgt[k] + 1)
    width = J + 2 * EDGE
    # Candidates of each target word, by a counting sort; those of each source word stand together already.
    for k in range(J + 1):
        room.starts[k] = 0
    for k in range(begin, end):
        room.grid[(src[k] + EDGE) * width + tgt[k] + EDGE] = values[k]
        room.starts[tgt[k]] += 1
    at = 0
    for k in range(J):
        at += room.starts[k]
        room.starts[k] = at
    room.starts[J] = at
    for k in range(end - 1, begin - 1, -1):
        room.starts[tgt[k]] -= 1
        room.column[room.starts[tgt[k]]] = k
    for k in range(J):
        compare(room.column + room.starts[k], room.starts[k + 1] - room.starts[k], 0, values, out, 3)
    first = begin
    for k in range(begin, end):
        if k + 1 == end or src[k + 1] != src[k]:
            compare(NULL, k + 1 - first, first, values, out, 0)
            first = k + 1
    for k in range(begin, end):
        here = room.grid + (src[k] + EDGE) * width + tgt[k] + EDGE
        at = 6
        largest = 0
        for di in range(-1, 2):
            for dj in range(-1, 2):
                if di != 0 or dj != 0:
                    out[at, k] = here[di * width + dj]
                    largest = max(largest, here[di * width + dj])
                    at += 1
        five = 0
        for di in range(-2, 3):
            for dj in range(-2, 3):
                if di != 0 and dj != 0:
                    five += here[di * width + dj]
        out[14, k] = largest
        out[15, k] = here[2 * width + 2] + here[-2 * width - 2]
        out[16, k] = five
    for k in range(begin, end):
        room.grid[(src[k] + EDGE) * width + tgt[k] + EDGE] = 0


cdef void compare(
    const int64_t* members, int64_t n, int64_t first, const float[::1] values, float[:, ::1] out, int64_t at
) noexcept nogil:
    """Compares the n candidates of one word: the members, or those from `first` on. out[at:at + 3] is filled."""
    cdef int64_t a, b, k, m
    cdef float other, rest
    cdef int64_t rank
    for a in range(n):
        k = members[a] if members != NULL else first + a
        other = rest = 0
        rank = 0
        for b in range(n):
            if b != a:
                m = members[b] if members != NULL else first + b
                other = max(other, values[m])
                rest += values[m]
                rank += values[m] > values[k] or values[m] == values[k] and b < a
        out[at, k] = other
        out[at + 1, k] = rest
        out[at + 2, k] = min(rank, 3)
