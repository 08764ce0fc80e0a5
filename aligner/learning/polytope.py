"""What may be chosen, as a polytope: links, second and later links of words, pairs of adjacent links.

The variables z are numbers from 0 to 1, in this order:

    links    [n]        z[k]: link k is chosen
    src      [R, D - 1] of each source word: it has a second, third, ... D-th link
    tgt      [C, D - 1] of each target word; its D may be another one
    pairs    [Q]        both links of a pair are chosen

    sum of the links of a word <= 1 + sum of its later links,    pair <= first link,  pair <= second link

(Lacoste-Julien, Taskar, Klein & Jordan 2006, eq. 2 and 3.) Each of these is a simple set of
ext/learning/_polytope.pyx. Words are those that have candidates: R source words and C target words.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aligner.learning._polytope import project

Ints = npt.NDArray[np.int64]
Positions = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
PATTERNS = ((1, 1), (1, -1), (0, 1), (1, 0))  # (source, target) from the first link of a pair to the second


@dataclass(frozen=True)
class Polytope:
    """What may be chosen of some candidates.

    offsets  [S + 1]  candidates of sentence pair n: offsets[n] to offsets[n + 1]
    row      [n]      the source word of a link, from 0 to R - 1
    column   [n]      the target word of a link, from 0 to C - 1
    first    [Q]      the first link of a pair
    second   [Q]      the second link
    pattern  [Q]      which of PATTERNS it is
    later    [2]      D - 1 of source words, of target words
    """

    offsets: Ints
    row: Ints
    column: Ints
    first: Ints
    second: Ints
    pattern: Ints
    later: tuple[int, int]

    @staticmethod
    def of(
        offsets: Ints, src: Positions, tgt: Positions, later: tuple[int, int] = (0, 0), paired: bool = False
    ) -> Polytope:
        """What may be chosen of candidates; without variables of pairs, unless they are wanted."""
        none = np.zeros(0, np.int64)
        first, second, pattern = adjacent(offsets, src, tgt) if paired else (none, none, none)
        row, column = numbered(offsets, src)[1], numbered(offsets, tgt)[1]
        return Polytope(offsets, row, column, first, second, pattern, later)

    @cached_property
    def n_words(self) -> tuple[int, int]:
        """R and C."""
        return int(self.row.max(initial=-1)) + 1, int(self.column.max(initial=-1)) + 1

    @cached_property
    def parts(self) -> list[slice]:
        """Where links, later links of source words, of target words, and pairs stand among the variables."""
        sizes = [
            len(self.row),
            *(n * d for n, d in zip(self.n_words, self.later, strict=True)),
            len(self.first),
        ]
        ends = np.cumsum([0, *sizes]).tolist()
        return [slice(*ends[k : k + 2]) for k in range(4)]

    @cached_property
    def sentence(self) -> Ints:
        """[n] the sentence pair of a link."""
        return sentences(self.offsets)

    @cached_property
    def sets(self) -> Sets:
        """The simple sets, by sentence pair: source words, target words, first links, second links."""
        links, *later, pairs = (np.arange(part.start, part.stop) for part in self.parts)
        (R, C), Q = self.n_words, len(pairs)
        set_of = [self.row, R + self.column]
        set_of += [np.repeat(n, d) for n, d in zip((np.arange(R), R + np.arange(C)), self.later, strict=True)]
        set_of += [R + C + np.arange(2 * Q)] * 2
        members = [links, links, *later, np.tile(pairs, 2), np.concatenate([self.first, self.second])]
        signs = np.repeat([1, 1, -1, -1, 1, -1], [len(part) for part in members])
        sentence = np.empty(R + C + 2 * Q, np.int64)
        sentence[self.row] = sentence[R + self.column] = self.sentence
        sentence[R + C :] = np.tile(self.sentence[self.first], 2)
        order = np.argsort(sentence, kind="stable")
        place = np.argsort(order)[np.concatenate(set_of)]
        by_set = np.argsort(place, kind="stable")
        return Sets(
            np.searchsorted(sentence[order], np.arange(len(self.offsets))),
            np.searchsorted(place[by_set], np.arange(len(order) + 1)),
            np.concatenate(members)[by_set],
            signs[by_set].astype(np.int8),
            (order < R + C).astype(np.float64),
        )

    def completed(self, links: npt.NDArray[np.generic]) -> Reals:
        """[V] all variables of links that are chosen, in whole or in part [n]: those that score best.

        The d-th link of a word with f links is clip(f - d + 1, 0, 1), a pair the smaller of its two links.
        """
        z = np.asarray(links, np.float64)
        parts = [z]
        for words, n_words, later in zip((self.row, self.column), self.n_words, self.later, strict=True):
            links_of = np.bincount(words, z, n_words)
            parts.append(np.clip(links_of[:, None] - np.arange(1, later + 1), 0, 1).ravel())
        return np.concatenate([*parts, np.minimum(z[self.first], z[self.second])])

    def gains(self, s: Reals, src_penalties: Reals, tgt_penalties: Reals, pattern_scores: Reals) -> Reals:
        """[V] what each variable adds to the score of an alignment.

        s  [n] of links;  *_penalties  [D - 1] of later links;  pattern_scores  [4] of pairs
        """
        R, C = self.n_words
        later = [np.tile(-src_penalties, R), np.tile(-tgt_penalties, C)]
        return np.concatenate([s, *later, pattern_scores[self.pattern]])


@dataclass(frozen=True)
class Sets:
    """The simple sets whose intersection is the polytope, as ext/learning/_polytope.pyx has them."""

    sets: Ints
    offsets: Ints
    members: Ints
    signs: npt.NDArray[np.int8]
    bounds: Reals

    def project(
        self, z: Reals, changes: Reals, tolerance: float = 1e-6, most_sweeps: int = 10_000, n_threads: int = 1
    ) -> float:
        """Makes z [V] the nearest point of the polytope, and changes what a projection nearby can begin with.

        Returns the largest step of the last sweep, which is at most the tolerance unless sweeps ran out.
        """
        how = tolerance, most_sweeps, n_threads
        return project(self.sets, self.offsets, self.members, self.signs, self.bounds, z, changes, *how)


def sentences(offsets: Ints) -> Ints:
    """[n] the sentence pair of each candidate."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def numbered(offsets: Ints, positions: Positions) -> tuple[Ints, Ints]:
    """Words with candidates, in order, as sentence pair << 32 | position; and the word of each candidate."""
    words, word = np.unique(sentences(offsets) << 32 | positions, return_inverse=True)
    return words, word.reshape(-1)


def adjacent(offsets: Ints, src: Positions, tgt: Positions) -> tuple[Ints, Ints, Ints]:
    """Pairs of candidates that are as PATTERNS has it: first, second, pattern; by pattern, then first."""
    words, row = numbered(offsets, src)
    places = row << 32 | tgt  # rising; row is the number of the source word, so that places of all pairs fit
    found = []
    for pattern, (down, right) in enumerate(PATTERNS):
        below = np.searchsorted(words, words + down)
        there = np.append(words, -1)[below] == words + down
        wanted = np.where(there[row], below[row] << 32 | (tgt.astype(np.int64) + right), -1)
        second = np.searchsorted(places, wanted)
        first = np.flatnonzero(np.append(places, -2)[second] == wanted)
        found.append((first, second[first], np.full(len(first), pattern)))
    first, second, of = (np.concatenate(column) for column in zip(*found, strict=True))
    return first, second, of
