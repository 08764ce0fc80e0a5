"""Two tokenisations of the same text: which tokens of one overlap which tokens of the other.

Tokens are decoded by their scheme (text/schemes.py). Blanks are left out, so that any tokenisations will do.
A sentence's text must be the same in both tokenisations, at one of the levels of text/likeness.py.
"""

from __future__ import annotations

import array
import itertools
import re
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.errors import DataError
from aligner.text import _subwords
from aligner.text.likeness import EXACT, LEVELS, NOTHING, UNKNOWN, filled, likened, meant, recut
from aligner.text.reading import SideReader
from aligner.text.schemes import SCHEMES, likely
from aligner.text.sides import Side, Vocab

LOOK = 1000  # sentences that tell the scheme
RESUMED = 4  # bytes that two texts must have in common behind a difference
FAR = 200  # bytes that a difference has at most, both texts together, to be found as the shortest one
SHOWN, LONGEST = 6, 60  # tokens and characters that a message shows

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Which old and new tokens of a side overlap, as the kernels have it (ext/text/_subwords.pyx).

    old, new               [S + 1]  where the tokens of a sentence begin
    first, stop            [n_old]  old token -> the new tokens that it overlaps, counted in their sentence
    back_first, back_stop  [n_new]  new token -> old tokens
    """

    old: Int64
    first: Int32
    stop: Int32
    new: Int64
    back_first: Int32
    back_stop: Int32

    @staticmethod
    def same(side: Side) -> Overlaps:
        """Those of a side that stays as it is."""
        at = np.arange(len(side.ids)) - np.repeat(side.offsets[:-1], side.lengths)
        first = at.astype(np.int32)
        return Overlaps(side.offsets, first, first + 1, side.offsets, first, first + 1)

    def taking(self, pieces: str) -> Overlaps:
        """Those where an old token turns into every new token that it overlaps, or into one."""
        first, stop = self.first, self.stop
        if pieces == "first":
            stop = np.minimum(stop, first + 1)
        elif pieces == "last":
            first = np.maximum(first, stop - 1)
        return Overlaps(self.old, first, stop, self.new, self.back_first, self.back_stop)

    def part(self, start: int, stop: int) -> Overlaps:
        """Those of sentences start to stop."""
        old, new = self.old[start : stop + 1], self.new[start : stop + 1]
        a, b = slice(old[0], old[-1]), slice(new[0], new[-1])
        return Overlaps(
            old - old[0],
            *(self.first[a], self.stop[a]),
            new - new[0],
            *(self.back_first[b], self.back_stop[b]),
        )

    @property
    def arrays(self) -> tuple[Int64, Int32, Int32, Int64, Int32, Int32]:
        return self.old, self.first, self.stop, self.new, self.back_first, self.back_stop


class Surfaces:
    """What words stand for in a scheme, at each level of likeness. The vocabulary may grow."""

    def __init__(self, scheme: str) -> None:
        self.scheme = SCHEMES[scheme]
        self._levels = [(bytearray(), array.array("q", [0]), array.array("b")) for _ in LEVELS]
        self._arrays: list[tuple[bytes, Int64, npt.NDArray[np.int8]] | None] = [None for _ in LEVELS]

    def arrays(self, vocab: Vocab, level: int) -> tuple[bytes, Int64, npt.NDArray[np.int8]]:
        """(surfaces, where they begin, what words without one are), as the kernel takes them."""
        text, starts, holds = self._levels[level]
        known = self._arrays[level]
        if known is None or len(holds) < len(vocab):
            cuts = vocab.offsets[len(holds) :].tolist()
            for a, b in itertools.pairwise(cuts):
                surface, hold = self._surface(vocab.text[a:b].decode(), level)
                text += surface
                starts.append(len(text))
                holds.append(hold)
            known = bytes(text), np.array(starts, dtype=np.int64), np.array(holds, dtype=np.int8)
            self._arrays[level] = known
        return known

    def exact(self, word: str) -> bytes:
        """The text that a word stands for, without blanks."""
        raw = self.scheme.decode(word)
        try:
            return "".join(raw.decode().split()).encode()
        except UnicodeDecodeError:  # a part of a character
            return b"".join(raw.split())

    def hold(self, exact: bytes) -> int:
        """What a word without text at some level is: a blank, nothing, or a mark on what stands before."""
        return self.scheme.holds if not exact else 0 if exact.decode(errors="replace") in NOTHING else -1

    def _surface(self, word: str, level: int) -> tuple[bytes, int]:
        exact = self.exact(word)
        if level == EXACT:
            return exact, self.hold(exact)
        try:
            return likened(exact.decode(), level).encode(), self.hold(exact)
        except UnicodeDecodeError:
            return exact, -1


class Tokens(Protocol):
    """One tokenisation of a side, sentence by sentence.

    name    what messages call it
    scheme  how its tokens are written; None: not known yet
    """

    name: str
    scheme: str | None

    def take(self, n: int) -> Side:
        """The next n sentences, or the last ones, which may be fewer."""

    def surfaces(self) -> Surfaces:
        """What the words of the sentences that were taken last stand for. The scheme must be known."""

    def place(self, sentence: int, token: int) -> tuple[int, int | None]:
        """Line and column, from 1, of a token of the sentences that were taken last. None: unknown"""

    def count(self) -> int:
        """How many sentences there are in all. None can be taken afterwards."""


class TokenFile(SideReader):
    """A file of tokens."""

    def __init__(
        self, path: str, scheme: str | None = None, encoding: str = "utf-8", split: str = "ascii"
    ) -> None:
        super().__init__(path, encoding, split)
        self.scheme = scheme if scheme is None else arguments.choice("scheme", scheme, SCHEMES)
        self._surfaces: tuple[object, Surfaces] | None = None

    def surfaces(self) -> Surfaces:
        if self._surfaces is None or self._surfaces[0] is not self.words:
            assert self.scheme is not None
            self._surfaces = self.words, Surfaces(self.scheme)
        return self._surfaces[1]

    def place(self, sentence: int, token: int) -> tuple[int, int | None]:
        line = self.lines.split(b"\n")[sentence].decode()
        starts = [match.start() + 1 for match in re.finditer(r"[^ \t]+", line)]
        starts = starts[2:] if self._wrapped else starts  # behind `<s snum=N>`
        return self.n_before + sentence + 1, starts[token] if token < len(starts) else len(line) + 1


class HeldTokens:
    """The tokens of a side that was read before."""

    def __init__(self, side: Side, name: str, n_before: int = 0, scheme: str | None = None) -> None:
        """n_before: how many sentences stand before the side's, for messages"""
        self.side, self.name, self.n_before = side, name, n_before
        self.scheme = scheme if scheme is None else arguments.choice("scheme", scheme, SCHEMES)
        self.n_taken = self.n_last = 0
        self._surfaces: Surfaces | None = None

    def take(self, n: int) -> Side:
        self.n_last, self.n_taken = self.n_taken, min(self.n_taken + n, len(self.side))
        return self.side.part(self.n_last, self.n_taken)

    def surfaces(self) -> Surfaces:
        if self._surfaces is None:
            assert self.scheme is not None
            self._surfaces = Surfaces(self.scheme)
        return self._surfaces

    def place(self, sentence: int, token: int) -> tuple[int, int | None]:
        return self.n_before + self.n_last + sentence + 1, None

    def count(self) -> int:
        return len(self.side)


class Retokenised:
    """Two tokenisations of a side of a text, block by block. Schemes that are not known are found."""

    def __init__(self, old: Tokens, new: Tokens, n_threads: int = 1) -> None:
        self.old, self.new, self.n_threads = old, new, n_threads

    def take(self, n: int) -> Overlaps:
        """The overlaps of the next n sentences; of fewer, where one of the two ends before."""
        a, b = self.old.take(n), self.new.take(n)
        n = min(len(a), len(b))
        a, b = a.part(0, n), b.part(0, n)
        if n and (self.old.scheme is None or self.new.scheme is None):
            self.old.scheme, self.new.scheme = self._find_schemes(a, b)
        if self.old.scheme is None or self.new.scheme is None:
            return _overlaps(a, b)
        return self._overlaps(a, b)

    def _find_schemes(self, a: Side, b: Side) -> tuple[str, str]:
        """The schemes with which most sentences have the same texts; of several, the first of SCHEMES."""
        sides = [side.part(0, LOOK).compact() for side in (a, b)]
        known = (self.old.scheme, self.new.scheme)
        choices = [
            likely(side.vocab.words) if scheme is None else [scheme]
            for side, scheme in zip(sides, known, strict=True)
        ]
        found, best = (choices[0][0], choices[1][0]), (-1, -1)
        for one, other in itertools.product(*choices) if max(map(len, choices)) > 1 else ():
            overlaps, matched = _overlaps(*sides), np.zeros(len(sides[0]), dtype=np.uint8)
            surfaces, sums = (Surfaces(one), Surfaces(other)), []
            for level in LEVELS:
                _match(sides, surfaces, level, matched, overlaps, self.n_threads)
                sums.append(int(matched.sum()))
            if (sums[-1], sums[0]) > best:
                found, best = (one, other), (sums[-1], sums[0])
        return found

    def _overlaps(self, a: Side, b: Side) -> Overlaps:
        overlaps, matched = _overlaps(a, b), np.zeros(len(a), dtype=np.uint8)
        surfaces = self.old.surfaces(), self.new.surfaces()
        for level in LEVELS:
            if not matched.all():
                _match((a, b), surfaces, level, matched, overlaps, self.n_threads)
        for n in np.flatnonzero(matched == 0).tolist():
            self._match_one(n, a, b, overlaps)
        return overlaps

    def _match_one(self, n: int, a: Side, b: Side, overlaps: Overlaps) -> None:
        """The overlaps of a sentence whose texts differ token by token. Refuses two different texts."""
        exact = [
            [tokens.surfaces().exact(word) for word in side.sentence(n)]
            for tokens, side in ((self.old, a), (self.new, b))
        ]
        holds = [
            [tokens.surfaces().hold(x) for x in side]
            for tokens, side in zip((self.old, self.new), exact, strict=True)
        ]
        for escapes in (False, True):
            known = _filled(*(_cut(side, escapes) for side in exact))
            a_one, b_one = (_single(*both) for both in zip(known, holds, strict=True))
            first, stop, back_first, back_stop = (
                np.empty(len(side), np.int32) for side in known for _ in "12"
            )
            matched = np.zeros(1, dtype=np.uint8)
            _subwords.match(a_one, b_one, matched, first, stop, back_first, back_stop, 1)
            if matched[0]:
                break
        else:
            raise self._differ(n, a, b, *known)
        old, new = slice(*overlaps.old[n : n + 2]), slice(*overlaps.new[n : n + 2])
        overlaps.first[old], overlaps.stop[old] = first, stop
        overlaps.back_first[new], overlaps.back_stop[new] = back_first, back_stop

    def _differ(self, n: int, a: Side, b: Side, old: list[bytes], new: list[bytes]) -> DataError:
        """The error of a sentence that has two texts: their shortest difference, and where it is."""
        at, n_old, n_new = difference(b"".join(old), b"".join(new))
        there, _ = _shown(a.sentence(n), old, at, n_old)
        here, token = _shown(b.sentence(n), new, at, n_new)
        line, place = self.old.place(n, 0)[0], self.new.place(n, token)
        return DataError(
            f"the text is not that of {self.old.name}, line {line}: {here} here, {there} there",
            file=self.new.name,
            line=place[0],
            column=place[1],
            hint=f"are both tokenisations of one text, line by line? they were read as {self.old.scheme} and"
            f" {self.new.scheme}; if that is wrong, name the schemes",
        )


def difference(a: bytes, b: bytes) -> tuple[int, int, int]:
    """(where two texts begin to differ, bytes of a, bytes of b) of the first difference, as short as can be.

    Behind it both have RESUMED bytes in common, or their ends. A difference longer than FAR ends where the
    common end of both texts begins.
    """
    at = _common(a, b)
    a, b = a[at:], b[at:]
    for total in range(1, FAR + 1):
        for n in range(max(0, total - len(b)), min(total, len(a)) + 1):
            x, y = a[n : n + RESUMED], b[total - n : total - n + RESUMED]
            if x == y and (len(x) == RESUMED or len(a) - n == len(b) - total + n):
                return at, n, total - n
    common = _common(a[::-1], b[::-1])
    return at, len(a) - common, len(b) - common


def _common(a: bytes, b: bytes) -> int:
    """How many bytes two texts have in common before they differ."""
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _shown(words: list[str], surfaces: list[bytes], at: int, n_bytes: int) -> tuple[str, int]:
    """(the tokens of a difference, as a message shows them; the first of them)."""
    ends = list(itertools.accumulate(map(len, surfaces)))
    first = next((k for k, end in enumerate(ends) if end > at), max(0, len(ends) - 1))
    if n_bytes == 0 and at in (0, *ends):
        return "nothing", first
    last = next((k for k, end in enumerate(ends) if end >= at + max(1, n_bytes)), len(ends) - 1)
    some = words[first : last + 1]
    text = " ".join(some[:SHOWN])
    more = " ..." if len(some) > SHOWN or len(text) > LONGEST else ""
    return f'"{text[:LONGEST]}{more}"', first


def _cut(exact: list[bytes], escapes: bool) -> list[bytes | None]:
    """The tokens of a sentence by their letters alone; None for those that stand for what is unknown."""
    words = [x.decode(errors="surrogateescape") for x in exact]
    cut: list[bytes | None] = []
    for unknown, run in itertools.groupby(words, key=UNKNOWN.__contains__):
        texts = [meant(word).encode(errors="surrogateescape") for word in run]
        cut += [None] * len(texts) if unknown else recut(texts, escapes)
    return cut


def _filled(a: list[bytes | None], b: list[bytes | None]) -> tuple[list[bytes], list[bytes]]:
    """Two tokenisations with the text of one in place of what is unknown in the other, if it is found."""
    known = [[b"?" if x is None else x for x in side] for side in (a, b)]
    if None in a and None not in b:
        return filled(a, known[1]) or known[0], known[1]
    if None in b and None not in a:
        return known[0], filled(b, known[0]) or known[1]
    return known[0], known[1]


def _single(
    surfaces: list[bytes], holds: list[int]
) -> tuple[Int32, Int64, bytes, Int64, npt.NDArray[np.int8]]:
    """One sentence of tokens that are all different words, as the kernel takes it."""
    n = len(surfaces)
    starts = np.cumsum([0, *map(len, surfaces)], dtype=np.int64)
    ids, offsets = np.arange(n, dtype=np.int32), np.array([0, n], dtype=np.int64)
    return ids, offsets, b"".join(surfaces), starts, np.array(holds, dtype=np.int8)


def _overlaps(a: Side, b: Side) -> Overlaps:
    """Overlaps that are not known yet: there are none."""
    first, stop = (np.zeros(len(a.ids), dtype=np.int32) for _ in range(2))
    back_first, back_stop = (np.zeros(len(b.ids), dtype=np.int32) for _ in range(2))
    return Overlaps(a.offsets, first, stop, b.offsets, back_first, back_stop)


def _match(
    sides: tuple[Side, Side] | list[Side],
    surfaces: tuple[Surfaces, Surfaces],
    level: int,
    matched: npt.NDArray[np.uint8],
    overlaps: Overlaps,
    n_threads: int,
) -> None:
    """Fills in the overlaps of sentences that have the same text at a level, and no overlaps yet."""
    a, b = (
        (side.ids, side.offsets, *some.arrays(side.vocab, level))
        for side, some in zip(sides, surfaces, strict=True)
    )
    ranges = overlaps.first, overlaps.stop, overlaps.back_first, overlaps.back_stop
    _subwords.match(a, b, matched, *ranges, n_threads)
