"""Random problems: tiny corpora with any parameters, and what the kernels say of them."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
import oracle
import pytest
from hypothesis import strategies as st

from aligner import simd
from aligner.models import _hmm_double, hmm
from aligner.models.class_jumps import ClassJumps
from aligner.models.counts import Counts
from aligner.models.jumps import Jumps
from aligner.models.kinds import MODELS
from aligner.models.lexicon import Lexicon
from aligner.models.parameters import Parameters
from aligner.models.stage import Stage
from aligner.text.cells import Seen, Shard
from aligner.text.corpus import Corpus
from aligner.text.known import NOTHING, Known, Weights
from aligner.text.sides import Side, Vocab

FLOOR = 1e-6  # what kernels add to every emission
TIGHT = {
    "eta": 1e-9,
    "drop": 0.0,
    "max_calls": 500,
}  # so that a projection can be compared with the exact one


BUILDS = ("", *simd.LEVELS)  # of a kernel: the baseline first


def build_of(kernel: str, build: str) -> ModuleType:
    """One of BUILDS of a kernel; skips the test where the machine cannot run it, or it was not built."""
    name = f"aligner.models.{kernel}" + f"_{build}" * bool(build)
    if build and build not in simd._levels(None):
        pytest.skip(f"this machine has no {build}")
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{build} was not built")
    return importlib.import_module(name)


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


@dataclass
class Problem:
    """A text, parameters of it in double precision, and what is known of its links."""

    seen: Seen
    m: Parameters
    known: Known = NOTHING

    def __len__(self) -> int:
        return len(self.seen.text)

    def __repr__(self) -> str:
        text = [
            (self.seen.text.src.sentence(n), self.seen.text.tgt.sentence(n)) for n in range(len(self))
        ]  # hypothesis shows it
        return f"Problem({text}, {self.m}, {self.known})"

    @property
    def shard(self) -> Shard:
        return self.seen.shard(0, len(self), 1, self.known)

    def shape(self, n: int) -> tuple[int, int]:
        """I, J of sentence pair n."""
        return int(self.seen.text.src.lengths[n]), int(self.seen.text.tgt.lengths[n])

    def words(self, n: int) -> tuple[list[int], list[int]]:
        """The word ids of sentence pair n."""
        text = self.seen.text
        src, tgt = (side.ids[side.offsets[n] : side.offsets[n + 1]].tolist() for side in (text.src, text.tgt))
        return src, tgt

    def pair(self, e: int, f: int) -> int:
        """The number of a word pair, found by walking through the row of e."""
        rows = self.seen.rows
        return int(rows[e]) + self.seen.tgt[rows[e] : rows[e + 1]].tolist().index(f)

    def weights(self, n: int) -> np.ndarray:
        """[I, J] weights of the known links of sentence pair n, 1 elsewhere."""
        grid = np.ones(self.shape(n))
        w = self.known.weights
        if w is not None:
            part = slice(w.offsets[n], w.offsets[n + 1])
            grid[w.src[part], w.tgt[part]] = w.weight[part]
        return grid

    def emissions(self, n: int, d: int, floor: float = FLOOR) -> tuple[list, list]:
        """emit [rows][states] and null [rows] of sentence pair n in direction d."""
        src, tgt = self.words(n)
        m = self.m.lexicon
        grid = np.array([[m.t[self.pair(e, f), d] for f in tgt] for e in src]).reshape(self.shape(n)) + floor
        grid *= self.weights(n)
        if d == 0:
            return grid.T.tolist(), [float(m.null_fwd[f]) + floor for f in tgt]
        return grid.tolist(), [float(m.null_rev[e]) + floor for e in src]

    def lattice(self, n: int, d: int) -> tuple:
        """What oracle.hmm takes."""
        places = self.m.positions
        plain = *self.emissions(n, d), *places_of(places, d)
        if not places.n_classes:
            return plain
        classes = (places.src_class, places.tgt_class)[d][self.words(n)[d]]
        return *plain, classes.tolist(), places.by_class[d].tolist()

    def enumerated(self, n: int, d: int) -> dict:
        return oracle.hmm(*self.lattice(n, d))


def problem_of(
    corpus: Corpus, W: int, p0: float, table, with_last: bool = True, n_classes: int = 0
) -> Problem:
    """table(*shape): any numbers from 0 to 1."""
    seen = Seen.of_own_words(corpus, "word", 1)
    P, V_src, V_tgt = len(seen.tgt), len(corpus.src.vocab), len(corpus.tgt.vocab)
    lexicon = Lexicon(seen.rows, seen.tgt, table(P, 2), table(V_tgt) + 0.01, table(V_src) + 0.01)
    jumps = jumps_of(W, p0, table, with_last)
    if n_classes:
        classes = ((table(V) * (n_classes + 0.9)).astype(np.int32) for V in (V_src, V_tgt))
        jumps = ClassJumps.of(jumps, *classes)
        jumps.by_class = table(2, n_classes, 2 * W + 3) + 0.01
    return Problem(seen, Parameters(lexicon, jumps))


def jumps_of(W: int, p0: float, table, with_last: bool = True) -> Jumps:
    jump, first, last = (table(2, n) + 0.01 for n in (2 * W + 3, W + 1, W + 1 if with_last else 0))
    return Jumps(jump, first, p0, last)


def places_of(positions: Jumps, d: int) -> tuple[list, list, float, list]:
    """Positions of direction d as oracle.hmm takes them, after the emissions."""
    jump, first, last = (getattr(positions, name)[d].tolist() for name in ("jump", "first", "last"))
    return jump, first, positions.p0, last


words = st.lists(st.integers(0, 3), min_size=1, max_size=4)
text_pairs = st.lists(
    st.tuples(words, words).filter(lambda p: len(p[0]) * len(p[1]) <= 9), min_size=1, max_size=3
)


@st.composite
def small_problems(draw, with_weights: bool = False):
    """A corpus of a few tiny pairs, and parameters of a window of 1 to 3, with zeros in the tables.

    Words have no classes, or up to two.
    """
    share = st.floats(0.01, 1) | st.just(0.0)

    def table(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(share, min_size=size, max_size=size))).reshape(shape)

    corpus = corpus_of(*draw(text_pairs))
    W, p0, with_last = draw(st.tuples(st.integers(0, 2), st.floats(0.05, 0.9), st.booleans()))
    problem = problem_of(corpus, W, p0, table, with_last, draw(st.sampled_from([0, 0, 1, 2])))
    if with_weights:
        problem.known = Known(draw(some_weights(problem)))
    return problem


@st.composite
def some_weights(draw, problem: Problem):
    """Weights of some cells: excluded, given and in between."""
    weight = st.sampled_from([0.0, 0.5, 3.0, 1e6])
    chosen = []
    for n in range(len(problem)):
        cells = list(np.ndindex(*problem.shape(n)))
        chosen.append(draw(st.dictionaries(st.sampled_from(cells), weight, max_size=3)))
    flat = [(*cell, x) for one in chosen for cell, x in sorted(one.items())]
    return Weights(
        np.cumsum([0, *map(len, chosen)], dtype=np.int64),
        np.array([i for i, _, _ in flat], dtype=np.int32),
        np.array([j for _, j, _ in flat], dtype=np.int32),
        np.array([x for _, _, x in flat], dtype=np.float32),
    )


def random_problem(random, lengths, W: int, n_classes: int = 0) -> Problem:
    """A corpus of pairs of these lengths, and any parameters."""
    corpus = corpus_of(*(tuple(random.integers(0, 30, n).tolist() for n in pair) for pair in lengths))
    p0 = float(random.uniform(0.05, 0.6))
    return problem_of(corpus, W, p0, lambda *shape: random.random(shape) ** 2, n_classes=n_classes)


def even_problem(corpus: Corpus, window: int = 5, dtype=np.float64) -> Problem:
    """The parameters that training begins with."""
    seen = Seen.of_own_words(corpus, "word", 1)
    m = Parameters(Lexicon.even(seen), Jumps.even(window, 0.2))
    tables = {name: getattr(m.lexicon, name).astype(dtype) for name in ("t", "null_fwd", "null_rev")}
    return Problem(seen, replace(m, lexicon=replace(m.lexicon, **tables)))


def without_translations(problem: Problem, d: int) -> Problem:
    """The problem with nothing but zeros in the lexicon of direction d."""
    lexicon = problem.m.lexicon
    t, nulls = lexicon.t.copy(), [lexicon.null_fwd, lexicon.null_rev]
    t[:, d] = 0
    nulls[d] = np.zeros_like(nulls[d])
    lexicon = replace(lexicon, t=t, null_fwd=nulls[0], null_rev=nulls[1])
    return replace(problem, m=replace(problem.m, lexicon=lexicon))


def stage_of(model: str, **limits) -> Stage:
    """The last stage of a model, with other limits of its projection."""
    kind = MODELS[model]
    return Stage(kind.family, kind.objective, 1, replace(kind.limits, **limits), leaving=kind.leaving)


HMM = stage_of("hmm")


def how_of(stage: Stage) -> dict:
    """The stage as the kernel takes it."""
    return hmm.for_kernel(stage, "both")


def counted(problem: Problem, stage: Stage = HMM, kernel=_hmm_double) -> tuple[Counts, list[dict]]:
    """Expected counts as the kernel adds them up, and its statistics of each sentence pair."""
    counts = Counts.zero(problem.m, shared=stage.shared)
    statistics = np.zeros((len(problem), len(kernel.STATISTICS)))
    m = problem.m
    kernel.expect(problem.shard, m.lexicon, m.positions, how_of(stage), counts, statistics, 1)
    return counts, [dict(zip(kernel.STATISTICS, row, strict=True)) for row in statistics.tolist()]


def posteriors(
    problem: Problem, stage: Stage = HMM, best: bool = False, kernel=_hmm_double, dtype=np.float64
) -> list[tuple[np.ndarray, np.ndarray]]:
    """[I, J] of each sentence pair, forward and reverse; best: 1 on each direction's best path."""
    shard, m = problem.shard, problem.m
    fwd, rev = np.zeros(shard.n_cells, dtype), np.zeros(shard.n_cells, dtype)
    kernel.posteriors([shard], [m.lexicon], m.positions, how_of(stage), None, best, 1.0, fwd, rev, None, 1)
    return grids(problem, fwd, rev)


def grids(problem: Problem, fwd: np.ndarray, rev: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scores of all cells, cut into sentence pairs."""
    cuts = problem.shard.cell_offsets[1:-1]
    shapes = [problem.shape(n) for n in range(len(problem))]
    both = ([x.reshape(s) for x, s in zip(np.split(y, cuts), shapes, strict=True)] for y in (fwd, rev))
    return list(zip(*both, strict=True))


def expected_counts(problem: Problem, links: list[tuple[np.ndarray, ...]]) -> np.ndarray:
    """[P, n] counts of word pairs from posteriors [I, J] of n directions, or of both, pair by pair."""
    counts = np.zeros((len(problem.seen.tgt), len(links[0])))
    for n, both in enumerate(links):
        src, tgt = problem.words(n)
        for i, e in enumerate(src):
            for j, f in enumerate(tgt):
                counts[problem.pair(e, f)] += [own[i, j] for own in both]
    return counts
