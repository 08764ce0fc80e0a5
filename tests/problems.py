"""Random problems: tiny corpora with any parameters, and what the kernels say of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from aligner.models import _hmm_double, hmm, start
from aligner.models.model import Parameters
from aligner.models.recipe import Inference
from aligner.text.cells import number_pairs
from aligner.text.corpus import Corpus, Side, Vocab

FLOOR = 1e-6  # what _hmm.pyx adds to every emission


def corpus_of(*pairs: tuple[list[int], list[int]]) -> Corpus:
    """Sentences given as word ids."""
    sides = []
    for k in range(2):
        lines = [pair[k] for pair in pairs]
        ids = np.array([x for line in lines for x in line], dtype=np.int32)
        offsets = np.cumsum([0, *map(len, lines)], dtype=np.int64)
        words = [f"w{n}" for n in range(max(ids, default=-1) + 1)]
        starts = np.cumsum([0, *map(len, words)], dtype=np.int64)
        sides.append(Side(ids, offsets, Vocab("".join(words).encode(), starts)))
    return Corpus(*sides)


@st.composite
def small_problems(draw):
    """A corpus of a few tiny pairs, and parameters of a window of 1, with zeros in the tables."""
    words = st.lists(st.integers(0, 3), min_size=1, max_size=4)
    pairs = draw(
        st.lists(st.tuples(words, words).filter(lambda p: len(p[0]) * len(p[1]) <= 9), min_size=1, max_size=3)
    )
    corpus = corpus_of(*pairs)
    numbers = number_pairs(corpus, 1)
    share = st.floats(0.01, 1) | st.just(0.0)
    W = draw(st.integers(0, 2))

    def table(*shape):
        return np.array(
            draw(st.lists(share, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        ).reshape(shape)

    m = start.uniform(corpus, numbers, W + 1, draw(st.floats(0.05, 0.9)))
    return corpus, numbers, replace(
        m,
        t=table(len(numbers), 2),
        null_fwd=table(len(m.null_fwd)) + 0.01,
        null_rev=table(len(m.null_rev)) + 0.01,
        jump=table(2, 2 * W + 3) + 0.01,
        first=table(2, W + 1) + 0.01,
    )  # fmt: skip


def random_problem(random, lengths, W: int):
    """A corpus of pairs of these lengths, and any parameters."""
    corpus = corpus_of(*(tuple(random.integers(0, 30, n).tolist() for n in pair) for pair in lengths))
    numbers = number_pairs(corpus, 1)
    m = start.uniform(corpus, numbers, W + 1, float(random.uniform(0.05, 0.6)))
    return corpus, numbers, replace(
        m,
        t=random.random((len(numbers), 2)) ** 4,
        null_fwd=random.random(len(m.null_fwd)),
        null_rev=random.random(len(m.null_rev)),
        jump=random.random((2, 2 * W + 3)) ** 2 + 0.01,
        first=random.random((2, W + 1)) + 0.01,
    )  # fmt: skip


def problem_of(corpus: Corpus, numbers, m: Parameters, n: int, direction: int):
    """emit [J][I] and null [J] of one sentence pair in one direction."""
    src, tgt = (side.ids[side.offsets[n] : side.offsets[n + 1]].tolist() for side in (corpus.src, corpus.tgt))

    def t(e: int, f: int) -> float:
        row = numbers.tgt[numbers.rows[e] : numbers.rows[e + 1]].tolist()
        return float(m.t[numbers.rows[e] + row.index(f), direction])

    if direction == 0:
        return [[t(e, f) for e in src] for f in tgt], [float(m.null_fwd[f]) for f in tgt]
    return [[t(e, f) for f in tgt] for e in src], [float(m.null_rev[e]) for e in src]


def add(x: list, value: float) -> list:
    return [[y + value for y in row] if isinstance(row, list) else row + value for row in x]


def counted(problem, how: Inference | None = None):
    """Expected counts [P, 2], NULLs and jumps as the kernel adds them up, and its statistics."""
    corpus, numbers, m = problem
    W = m.first.shape[1] - 1
    counts = np.zeros((len(numbers), 2), dtype=np.int64)
    nulls = [np.zeros((1, len(x)), dtype=np.int64) for x in (m.null_fwd, m.null_rev)]
    jumps = np.zeros((1, 2, 3 * W + 4), dtype=np.int64)
    statistics = np.zeros((len(corpus), len(_hmm_double.STATISTICS)))
    view = hmm._view(m, corpus, numbers.cells, numbers.offsets)
    how = how or Inference()
    _hmm_double.e_step(view, hmm.for_kernel(how), counts, *nulls, jumps, statistics, 1)
    return counts, nulls, jumps, statistics


def decoded(problem, viterbi: bool, kernel=_hmm_double, how: Inference | None = None):
    corpus, numbers, m = problem
    view = hmm._view(m, corpus, numbers.cells, numbers.offsets)
    how = how or Inference()
    return kernel.decode([view], hmm.for_kernel(how), viterbi, 0.5 if viterbi else 0.0, 1)
