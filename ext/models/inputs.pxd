"""What kernels read: a shard of text and a lexicon, given as Python objects with arrays by name.

Each function below checks an object once, at the door, and fills a struct of pointers. Offsets that pass rise and end
inside their arrays, ids are of known words or -1, the rows of word pairs end inside t. Cells are not checked here: the
kernels take a cell outside its row for an unknown word pair. The arrays live as long as the caller keeps the list
`held`.
"""

from libc.stdint cimport int32_t, int64_t

from checks cimport check_cells, check_ids, check_offsets
from vectors cimport real

cdef extern from *:
    """
    static const real FLOOR = (real)1e-6;
    """
    const real FLOOR  # added to every emission when decoding, and of an HMM always: no word is impossible

cdef struct Text:
    # A shard (aligner/text/cells.py): S sentence pairs. Offsets need not begin at 0.
    int64_t S
    const int32_t* src_ids       # ids of words, -1 for words that the lexicon does not know
    const int64_t* src_offsets   # [S + 1]
    const int32_t* tgt_ids
    const int64_t* tgt_offsets   # [S + 1]
    const int32_t* cells         # (i, j) of a sentence pair, row by row -> number of the word pair in the row of e_i
    const int64_t* cell_offsets  # [S + 1]
    const int64_t* known_offsets  # [S + 1] known links of each sentence pair; NULL: none in the whole shard
    const int32_t* known_src
    const int32_t* known_tgt
    const float* known_weight    # what the link's emissions are multiplied by


cdef struct Words:
    # A lexicon (aligner/models/lexicon.py)
    int64_t V_src, V_tgt, P
    const int64_t* rows      # [V_src + 1]
    const real* t            # [P, 2]
    const real* null_fwd     # [V_tgt]
    const real* null_rev     # [V_src]


cdef inline Words read_words(object lexicon, list held) except *:
    cdef const int64_t[::1] rows = lexicon.rows
    cdef const int32_t[::1] tgt = lexicon.tgt
    cdef const real[:, ::1] t = lexicon.t
    cdef const real[::1] null_fwd = lexicon.null_fwd
    cdef const real[::1] null_rev = lexicon.null_rev
    cdef Words w
    held += [rows, t, null_fwd, null_rev]
    w.V_src = null_rev.shape[0]
    w.V_tgt = null_fwd.shape[0]
    w.P = tgt.shape[0]
    check_offsets("rows", rows, w.V_src, w.P)
    if rows[0] != 0 or rows[w.V_src] != w.P or t.shape[0] != w.P or t.shape[1] != 2:
        raise ValueError(f"rows, tgt and t are not of the same {w.P} word pairs")
    w.rows = &rows[0]
    w.t = &t[0, 0] if w.P else NULL
    w.null_fwd = &null_fwd[0] if w.V_tgt else NULL
    w.null_rev = &null_rev[0] if w.V_src else NULL
    return w


cdef inline int check_scores(Text* x, const real[::1] fwd, const real[::1] rev) except -1:
    """Refuses scores that are not one a cell of the shard."""
    cdef int64_t n_cells = x.cell_offsets[x.S] - x.cell_offsets[0]
    if fwd.shape[0] != n_cells or rev.shape[0] != n_cells:
        raise ValueError(f"the shard has {n_cells} cells, there is room for {fwd.shape[0]} and {rev.shape[0]}")
    return 0


cdef inline int check_costs(Text* x, const double[:, ::1] costs) except -1:
    """Refuses costs that are not two a sentence pair of the shard; None: no costs are wanted."""
    if costs is not None and (costs.shape[0] != x.S or costs.shape[1] != 2):
        raise ValueError(f"the costs are not of {x.S} sentence pairs")
    return 0


cdef inline int check_statistics(Text* x, const double[:, ::1] statistics, int64_t n) except -1:
    """Refuses statistics that are not n a sentence pair of the shard."""
    if statistics.shape[0] != x.S or statistics.shape[1] != n:
        raise ValueError(f"the statistics are not {n} of each of {x.S} sentence pairs")
    return 0


cdef inline int check_positive(str name, const real[::1] numbers) except -1:
    """Refuses numbers that are not positive, or very large."""
    cdef Py_ssize_t k
    for k in range(numbers.shape[0]):
        if not 0 < numbers[k] < 1e30:
            raise ValueError(f"{name} must be positive, not {numbers[k]}")
    return 0


cdef inline Text read_text(object shard, Words* w, bint counting, list held) except *:
    """The pointers of a shard. counting: refuses words that the lexicon does not know, because they have no counts."""
    cdef const int32_t[::1] src_ids = shard.src_ids
    cdef const int64_t[::1] src_offsets = shard.src_offsets
    cdef const int32_t[::1] tgt_ids = shard.tgt_ids
    cdef const int64_t[::1] tgt_offsets = shard.tgt_offsets
    cdef const int32_t[::1] cells = shard.cells
    cdef const int64_t[::1] cell_offsets = shard.cell_offsets
    cdef const int64_t[::1] known_offsets
    cdef const int32_t[::1] known_src
    cdef const int32_t[::1] known_tgt
    cdef const float[::1] known_weight
    cdef Text x
    cdef int64_t n, k, I, J
    cdef int32_t least = 0 if counting else -1
    held += [src_ids, src_offsets, tgt_ids, tgt_offsets, cells, cell_offsets]
    x.S = src_offsets.shape[0] - 1
    check_offsets("src_offsets", src_offsets, x.S, src_ids.shape[0])
    check_offsets("tgt_offsets", tgt_offsets, x.S, tgt_ids.shape[0])
    check_ids("source ids", src_ids, src_offsets[0], src_offsets[x.S], least, w.V_src)
    check_ids("target ids", tgt_ids, tgt_offsets[0], tgt_offsets[x.S], least, w.V_tgt)
    check_cells(src_offsets, tgt_offsets, cell_offsets, cells.shape[0])
    x.src_ids = &src_ids[0] if src_ids.shape[0] else NULL
    x.src_offsets = &src_offsets[0]
    x.tgt_ids = &tgt_ids[0] if tgt_ids.shape[0] else NULL
    x.tgt_offsets = &tgt_offsets[0]
    x.cells = &cells[0] if cells.shape[0] else NULL
    x.cell_offsets = &cell_offsets[0]
    x.known_offsets = NULL
    weights = shard.known.weights
    if weights is not None:
        known_offsets = weights.offsets
        known_src = weights.src
        known_tgt = weights.tgt
        known_weight = weights.weight
        held += [known_offsets, known_src, known_tgt, known_weight]
        if not known_src.shape[0] == known_tgt.shape[0] == known_weight.shape[0]:
            raise ValueError("known links have source words, target words and weights of different numbers")
        check_offsets("offsets of known links", known_offsets, x.S, known_src.shape[0])
        for n in range(x.S):
            I = src_offsets[n + 1] - src_offsets[n]
            J = tgt_offsets[n + 1] - tgt_offsets[n]
            for k in range(known_offsets[n], known_offsets[n + 1]):
                if k > known_offsets[n] and (
                    known_src[k] < known_src[k - 1] or known_src[k] == known_src[k - 1] and known_tgt[k] <= known_tgt[k - 1]
                ):
                    raise ValueError(f"known links of sentence pair {n} must be sorted, and each there once")
                if not (0 <= known_src[k] < I and 0 <= known_tgt[k] < J):
                    raise ValueError(f"known link {known_src[k]}-{known_tgt[k]} is outside sentence pair {n}")
                if not 0 <= known_weight[k] <= 1e15:
                    raise ValueError(f"weight {known_weight[k]} of a known link is not between 0 and 1e15")
        if known_src.shape[0]:
            x.known_offsets = &known_offsets[0]
            x.known_src = &known_src[0]
            x.known_tgt = &known_tgt[0]
            x.known_weight = &known_weight[0]
    return x
