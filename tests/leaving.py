"""Slow twins of the leave-one-out HMM: shares, counts and emissions, recounted cell by cell."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from problems import FLOOR, HMM, Problem, corpus_of, how_of, jumps_of, text_pairs

from aligner.models import _hmm_double
from aligner.models.jumps import Jumps
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.parameters import Parameters
from aligner.models.shares import CUTOFF, Own
from aligner.text.cells import Seen
from aligner.text.corpus import Corpus
from aligner.text.known import NOTHING, Known

MOST = 65535  # how an entry says that one link is expected
Pair = tuple[list[int], list[int]]  # word ids of a sentence pair


def packed(values: np.ndarray) -> list[int]:
    """The entries of one sentence pair's cells, given as whole numbers of 1 / MOST, row by row."""
    entries, last = [], 0
    for k in np.flatnonzero(values).tolist():
        while k - last > MOST:
            entries.append(MOST << 16)
            last += MOST
        entries.append((k - last) << 16 | int(values[k]))
        last = k
    return entries


def unpacked(entries: np.ndarray, n_cells: int) -> np.ndarray:
    """The cells of one sentence pair, as whole numbers of 1 / MOST."""
    values, place = np.zeros(n_cells, dtype=np.int64), 0
    for entry in entries.tolist():
        place += entry >> 16
        values[place] += entry & MOST
    return values


def bits(flags: np.ndarray) -> np.ndarray:
    """A bit a flag, in bytes, the lowest first."""
    found = np.zeros((len(flags) + 7) // 8, dtype=np.uint8)
    for k in np.flatnonzero(flags).tolist():
        found[k // 8] += 1 << k % 8
    return found


@dataclass
class Recounted:
    """What sentence pairs say of the words of one view; pair m has the weight weights[m].

    links    (e, f) -> expected links          many   (side, word) -> occurrences
    nulls    (side, word) -> expected occurrences without a link
    """

    links: Counter
    many: Counter
    nulls: Counter

    @staticmethod
    def of(pairs: list[Pair], shares: list[np.ndarray], weights: list[float]) -> Recounted:
        """shares: [I, J] expected links of each sentence pair."""
        found = Recounted(Counter(), Counter(), Counter())
        for (src, tgt), q, weight in zip(pairs, shares, weights, strict=True):
            if not src or not tgt:
                continue
            for i, e in enumerate(src):
                found.many["src", e] += weight
                found.nulls["src", e] += weight * max(0.0, 1 - q[i].sum())
                for j, f in enumerate(tgt):
                    found.links[e, f] += weight * q[i, j]
            for j, f in enumerate(tgt):
                found.many["tgt", f] += weight
                found.nulls["tgt", f] += weight * max(0.0, 1 - q[:, j].sum())
        return found

    def sum(self, table: str, side: str) -> float:
        return sum(x for (key, _), x in getattr(self, table).items() if key == side)

    def words(self, side: str) -> int:
        """How many words occur, in sentence pairs that have words on both sides."""
        return sum(key == side for key, _ in self.many)


@dataclass
class Left:
    """Sentence pairs as views see them, with any expected links, and what the HMM believes of their jumps.

    views     of each view, the word ids of each sentence pair
    values    [I, J] of each sentence pair: expected links, as whole numbers of 1 / MOST
    """

    views: list[list[Pair]]
    values: list[np.ndarray]
    left_out: float
    alpha: float
    positions: Jumps
    known: Known = NOTHING

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shares(self) -> list[np.ndarray]:
        return [x / MOST for x in self.values]

    @property
    def seen(self) -> list[Seen]:
        return [Seen.of_own_words(corpus_of(*pairs), "word", 1) for pairs in self.views]

    @property
    def own(self) -> Own:
        parts = [packed(x.ravel()) for x in self.values]
        offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        entries = np.array([x for part in parts for x in part], dtype=np.uint32)
        return Own(offsets[:-1].copy(), offsets[1:].copy(), entries, self.left_out)

    def emissions(self, n: int, left_out: float | None = None) -> list[tuple[np.ndarray, np.ndarray]]:
        """emit [I, J] and null of sentence pair n, forward and reverse, recounted over all sentence pairs.

        The sentence pair itself counts for 1 - left_out; kappa alone is of the whole text.
        """
        own = 1 - (self.left_out if left_out is None else left_out)
        found = []
        for pairs in self.views:
            src, tgt = pairs[n]
            whole = Recounted.of(pairs, self.shares, [1.0] * len(self))
            others = Recounted.of(pairs, self.shares, [own if m == n else 1.0 for m in range(len(self))])
            links = sum(whole.links.values())
            one = []
            for e_side, f_side in (("src", "tgt"), ("tgt", "src")):
                kappa, least = links / whole.sum("many", e_side), self.alpha / whole.words(f_side)
                emit = np.zeros((len(src), len(tgt)))
                for i, e in enumerate(src):
                    for j, f in enumerate(tgt):
                        given = e if e_side == "src" else f
                        many = kappa * others.many[e_side, given] + self.alpha
                        emit[i, j] = (others.links[e, f] + least) / many
                nulls = others.sum("nulls", f_side) + self.alpha
                words = tgt if f_side == "tgt" else src
                one.append((emit, np.array([(others.nulls[f_side, f] + least) / nulls for f in words])))
            found.append(one)
        return [
            tuple(np.prod([view[d][k] for view in found], axis=0) ** (1 / len(found)) for k in range(2))
            for d in range(2)
        ]

    def lexicon(self, v: int, seen: Seen, dtype=np.float64) -> Lexicon:
        """What view v learned from the whole text; a word pair without links has t = 0."""
        counts = Recounted.of(self.views[v], self.shares, [1.0] * len(self))
        V_src, V_tgt = len(seen.text.src.vocab), len(seen.text.tgt.vocab)
        words = counts.words("src"), counts.words("tgt")
        least_rev, least_fwd = (self.alpha / n for n in words)
        links = sum(counts.links.values())
        kappa = tuple(links / counts.sum("many", side) for side in ("src", "tgt"))
        many = [
            np.array([kappa[k] * counts.many[side, w] + self.alpha for w in range(V)])
            for k, (side, V) in enumerate((("src", V_src), ("tgt", V_tgt)))
        ]
        t = np.zeros((len(seen.tgt), 2))
        for e in range(V_src):
            for k in range(seen.rows[e], seen.rows[e + 1]):
                f = int(seen.tgt[k])
                if c := counts.links[e, f]:
                    t[k] = (c + least_fwd) / many[0][e], (c + least_rev) / many[1][f]
        nulls = tuple(counts.sum("nulls", side) + self.alpha for side in ("tgt", "src"))
        null = [
            np.array([(counts.nulls[side, w] + least) / nulls[k] for w in range(V)])
            for k, (side, V, least) in enumerate((("tgt", V_tgt, least_fwd), ("src", V_src, least_rev)))
        ]
        evidence = Evidence(
            *(x.astype(dtype) for x in many), nulls, kappa, words, self.alpha, bits(t.any(axis=1))
        )
        return Lexicon(seen.rows, seen.tgt, *(x.astype(dtype) for x in (t, *null)), evidence)

    def found(self, stage=HMM, own="mine", kernel=_hmm_double, dtype=np.float64, **more) -> dict:
        """What the kernel says: forward and reverse [I, J] of each sentence pair, logliks and jumps."""
        seen = self.seen
        shards = [x.shard(0, len(self), 1, self.known) for x in seen]
        lexicons = [self.lexicon(v, x, dtype) for v, x in enumerate(seen)]
        own = self.own if isinstance(own, str) else own
        return scored(kernel, shards, lexicons, self.positions, stage, own, dtype, **more)

    def expected(self, stage=HMM, left_out: float | None = None, best: bool = False) -> dict:
        """The same, of plain lattices with the emissions that were recounted."""
        problem = of_cells([self.emissions(n, left_out) for n in range(len(self))], self.positions)
        shard = replace(problem.shard, known=self.known)
        m = problem.m
        return scored(_hmm_double, [shard], [m.lexicon], m.positions, stage, None, np.float64, best)


def of_cells(emissions: list, positions: Jumps) -> Problem:
    """A problem with any emissions: every token is a word of its own, and every cell a word pair."""
    lengths = [both[0][0].shape for both in emissions]
    starts = np.cumsum([(0, 0), *lengths], axis=0)
    pairs = [
        tuple(list(range(begin, begin + n)) for begin, n in zip(start, shape, strict=True))
        for start, shape in zip(starts, lengths, strict=False)
    ]
    seen = Seen.of_own_words(corpus_of(*pairs), "word", 1)
    t = np.stack([np.concatenate([both[d][0].ravel() for both in emissions]) for d in range(2)], axis=1)
    null = [np.concatenate([both[d][1] for both in emissions]) - FLOOR for d in range(2)]
    assert len(seen.tgt) == len(t)
    return Problem(seen, Parameters(Lexicon(seen.rows, seen.tgt, t - FLOOR, *null), positions))


def whole_numbers(fwd: np.ndarray, rev: np.ndarray, cutoff: float = CUTOFF) -> np.ndarray:
    """Mean posteriors above the cutoff as whole numbers of 1 / MOST, 0 elsewhere."""
    q = (fwd.astype(np.float32) + rev.astype(np.float32)) / np.float32(2)
    units = np.floor(np.minimum(q, np.float32(1)) * np.float32(MOST) + np.float32(0.5))
    return np.where(q > np.float32(cutoff), units, 0).astype(np.int64)


def scored(
    kernel, shards, lexicons, positions, stage=HMM, own=None, dtype=np.float64, best=False, n_threads=1
) -> dict:
    """What the kernel says of shards: links, statistics by name, expected jumps. Sparse links are checked."""
    shard, how = shards[0], how_of(stage)
    fwd, rev = np.zeros(shard.n_cells, dtype), np.zeros(shard.n_cells, dtype)
    jumps = np.zeros((2, positions.n_counts), dtype=np.int64)
    statistics = np.empty((len(shard), len(kernel.STATISTICS)))
    costs = np.zeros((len(shard), 2))
    kernel.posteriors(shards, lexicons, positions, how, own, best, 1.0, fwd, rev, costs, n_threads)
    offsets, entries = kernel.expect_links(
        shards, lexicons, positions, how, own, CUTOFF, jumps, statistics, n_threads
    )
    np.testing.assert_array_equal(costs, -statistics[:, :2])
    cuts = shard.cell_offsets - shard.cell_offsets[0]
    if not best:
        values = whole_numbers(fwd, rev)
        for n in range(len(shard)):
            assert entries[offsets[n] : offsets[n + 1]].tolist() == packed(values[cuts[n] : cuts[n + 1]])
    shapes = zip(np.diff(shard.src_offsets), np.diff(shard.tgt_offsets), strict=True)
    return {
        "links": [
            tuple(x[a:b].reshape(shape) for x in (fwd, rev))
            for a, b, shape in zip(cuts[:-1], cuts[1:], shapes, strict=True)
        ],
        "statistics": dict(zip(kernel.STATISTICS, statistics.T, strict=True)),
        "jumps": jumps,
    }


@st.composite
def left_problems(draw, n_views: int | None = None, left_out=None):
    """A few tiny sentence pairs with any expected links, seen by one to three views."""
    pairs = draw(text_pairs)
    views = [pairs]
    for _ in range((draw(st.integers(1, 3)) if n_views is None else n_views) - 1):
        merged = [draw(st.lists(st.integers(0, 2), min_size=4, max_size=4)) for _ in range(2)]
        views.append([tuple([merged[k][w] for w in pair[k]] for k in range(2)) for pair in pairs])
    value = st.sampled_from([0, 0, 66, 20_000, MOST]) | st.integers(1, MOST)
    values = []
    for src, tgt in pairs:
        size = len(src) * len(tgt)
        cells = draw(st.lists(value, min_size=size, max_size=size))
        values.append(np.array(cells, dtype=np.int64).reshape(len(src), len(tgt)))
    if not any(x.any() for x in values):
        values[0][0, 0] = MOST
    W = draw(st.integers(0, 2))
    share = st.floats(0.01, 1)

    def table(*shape):
        size = int(np.prod(shape))
        return np.array(draw(st.lists(share, min_size=size, max_size=size))).reshape(shape)

    positions = jumps_of(W, draw(st.floats(0.05, 0.9)), table, draw(st.booleans()))
    leave = draw(st.sampled_from([0.3, 0.98, 1.0])) if left_out is None else left_out
    return Left(views, values, leave, draw(st.sampled_from([0.05, 1.0, 10.0])), positions)


def random_left(random, lengths, n_views: int = 1, W: int = 2, n_words: int = 12) -> Left:
    """Longer sentence pairs, whose words repeat, with sparse expected links."""
    pairs = [tuple(random.integers(0, n_words, n).tolist() for n in shape) for shape in lengths]
    views = [[tuple([w // (v + 1) for w in side] for side in pair) for pair in pairs] for v in range(n_views)]
    values = []
    for shape in lengths:
        x = random.integers(66, MOST + 1, shape) * (random.random(shape) < 2 / max(shape))
        values.append(x)
    positions = jumps_of(W, 0.3, lambda *shape: random.random(shape))
    return Left(views, values, 0.98, 1.0, positions)


def twice(corpus: Corpus) -> Corpus:
    """Every sentence pair, and then every sentence pair again."""
    pairs = [(corpus.src.sentence(n), corpus.tgt.sentence(n)) for n in range(len(corpus))]
    return Corpus.from_pairs(pairs + pairs)
