"""Phrase pairs that are consistent with links: what phrase tables are made of.

A phrase pair is a span of source words and a span of target words. It is consistent if it holds a link, and
if no link has one end inside and one end outside. Phrase pairs, their order, their orientation and their
lines are those of Moses' `extract`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.errors import DataError
from aligner.links.links import Links
from aligner.scoring.evaluate import Ints, among, as_set
from aligner.text.corpus import Corpus
from aligner.text.sides import Side
from aligner.uses import _lines, _phrases
from aligner.uses._phrases import Kind, Model, Part
from aligner.uses.sorting import LineSorter

MAX_LENGTH = 7  # words that a phrase has at most, unless the user says otherwise
LONGEST = 1 << 30
MOST_CELLS = 1 << 28  # of a sentence pair whose phrase pairs have turns by other phrase pairs: 512 MB
SEPARATOR = "|||"  # between the fields of a line
MODELS = {"wbe": Model.WORD, "phrase": Model.PHRASE, "hier": Model.HIER}
KINDS = {"msd": Kind.MSD, "mslr": Kind.MSLR, "mono": Kind.MONOTONE}
ORIENTATIONS = [f"{model}-{kind}" for model in MODELS for kind in KINDS]
# What each Turn is called; the last is that of no turn, which the kinds call differently.
TURNS = (b"mono", b"swap", b"dleft", b"dright")
NO_TURN = {"msd": b"other", "mslr": b"dright", "mono": b"nomono"}


@dataclass(frozen=True, eq=False, repr=False)
class PhrasePairs:
    """The phrase pairs of S sentence pairs. Iteration gives a list of spans for each sentence pair.

    offsets  [S + 1]       phrase pairs of sentence pair n are those from offsets[n] to offsets[n + 1]
    spans    [n_pairs, 4]  first and last source word, first and last target word
    turns    [n_pairs, 2 M]  how the text goes on before and after the phrase pair, for each of M models
    models   the M models, as `wbe-msd`
    """

    offsets: npt.NDArray[np.int64]
    spans: npt.NDArray[np.int32]
    turns: npt.NDArray[np.uint8]
    models: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __repr__(self) -> str:
        return f"PhrasePairs({len(self)} sentence pairs, {len(self.spans)} phrase pairs)"

    def __iter__(self) -> Iterator[list[tuple[int, int, int, int]]]:
        """The spans of each sentence pair."""
        spans = [(i1, i2, j1, j2) for i1, i2, j1, j2 in self.spans.tolist()]
        for a, b in pairwise(self.offsets.tolist()):
            yield spans[a:b]


def extract_phrases(
    text: Corpus, links: Links, max_length: int = MAX_LENGTH, orientation: Sequence[str] = ()
) -> PhrasePairs:
    """The consistent phrase pairs of a text's links.

    max_length   words that a phrase has at most, on each side
    orientation  models of how phrases follow one another, as "wbe-msd"; see ORIENTATIONS
    """
    arguments.instance("text", text, Corpus, "a Corpus")
    arguments.instance("links", links, Links, "Links")
    arguments.number("max_length", max_length, 1, LONGEST, whole=True)
    models = checked_models(orientation)
    if len(links) != len(text):
        raise DataError(
            f"links of {len(links)} sentence pairs, the text has {len(text)}",
            hint="text and links must match line by line",
        )
    kinds = [(MODELS[model], KINDS[kind]) for model, kind in map(_parts, models)]
    arrays = text.src.offsets, text.tgt.offsets, links.offsets, links.src, links.tgt
    return PhrasePairs(*_phrases.extract(*arrays, int(max_length), kinds), models)


def checked_models(orientation: Sequence[str]) -> tuple[str, ...]:
    """The models in the order of MODELS. Refuses what `extract` would leave out."""
    for name in orientation:
        arguments.choice("orientation", name, ORIENTATIONS)
    models = sorted(orientation, key=ORIENTATIONS.index)
    first = [_parts(name)[0] for name in models]
    if len(set(first)) < len(first):
        raise ValueError("orientation has a model twice")
    if "wbe" in first and len(first) > 1:
        raise ValueError("orientation wbe goes alone: its lines have no place for others")
    return tuple(models)


def _parts(name: str) -> tuple[str, str]:
    model, kind = name.split("-")
    return model, kind


def pair_lines(text: Corpus, links: Links, pairs: PhrasePairs) -> bytes:
    """`src ||| tgt ||| i-j ...` lines of phrase pairs. Positions count from a phrase's first word."""
    return _lines_of(text, links, pairs, Part.PAIR)


def inverse_lines(text: Corpus, links: Links, pairs: PhrasePairs) -> bytes:
    """`tgt ||| src ||| j-i ...` lines of phrase pairs."""
    return _lines_of(text, links, pairs, Part.INVERSE)


def orientation_lines(text: Corpus, links: Links, pairs: PhrasePairs) -> bytes:
    """`src ||| tgt ||| before after` lines of phrase pairs: what their models call the turns."""
    return _lines_of(text, links, pairs, Part.BESIDE)


def _lines_of(text: Corpus, links: Links, pairs: PhrasePairs, part: Part) -> bytes:
    e, f = ((side.ids, side.offsets, side.vocab.text, side.vocab.offsets) for side in (text.src, text.tgt))
    names: list[bytes] = []
    for _, kind in map(_parts, pairs.models):
        names += [*TURNS, NO_TURN[kind]]
    between = {
        (): [b""],
        ("wbe",): [b"", b""],
        ("phrase",): [b" | ", b" | "],
        ("hier",): [b" |  | ", b""],
        ("phrase", "hier"): [b" | ", b" | ", b""],
    }[tuple(model for model, _ in map(_parts, pairs.models))]
    linked = links.offsets, links.src, links.tgt
    found = pairs.offsets, pairs.spans, pairs.turns
    return _phrases.format_pairs(e, f, *linked, *found, names, between, part)


def check_separator(side: Side, name: str, n_before: int = 0) -> None:
    """Refuses a word that separates the fields of lines. n_before: sentences before the side's first"""
    id = int(side.vocab.find([SEPARATOR])[0])
    if id >= 0:
        token = int(np.flatnonzero(side.ids == id)[0])
        sentence = int(np.searchsorted(side.offsets, token, side="right"))
        raise DataError(
            f"the word {SEPARATOR} separates the fields of phrase pairs",
            file=name,
            line=n_before + sentence,
            hint="escape it, as &#124;&#124;&#124;, or take it out, with its links",
        )


def check_cells(text: Corpus, orientation: Sequence[str], name: str, n_before: int = 0) -> None:
    """Refuses a sentence pair that is too long for a model of orientation. name: of the source text"""
    cells = text.src.lengths * text.tgt.lengths
    if any(not model.startswith("wbe") for model in orientation) and (cells > MOST_CELLS).any():
        n = int((cells > MOST_CELLS).argmax())
        size = f"{text.src.lengths[n]} x {text.tgt.lengths[n]}"
        raise DataError(
            f"a sentence pair of {size} words is too long for {orientation[0]}",
            file=name,
            line=n_before + n + 1,
            hint="leave it out, or choose a model wbe",
        )


@dataclass
class Statistics:
    """What phrase pairs are like. They are added in parts.

    n_sentences, n_pairs  sentence pairs; phrase pairs
    lengths               words of source phrases and of target phrases
    n_words, n_unlinked   words of the sides, and those of them that have no link
    n_distinct, n_once    different phrase pairs, and those of them that stand once; see `count`
    """

    n_sentences: int = 0
    n_pairs: int = 0
    lengths: list[int] = field(default_factory=lambda: [0, 0])
    n_words: list[int] = field(default_factory=lambda: [0, 0])
    n_unlinked: list[int] = field(default_factory=lambda: [0, 0])
    n_distinct: int = 0
    n_once: int = 0

    def add(self, text: Corpus, links: Links, pairs: PhrasePairs) -> None:
        self.n_sentences += len(text)
        self.n_pairs += len(pairs.spans)
        at = links.sentences
        for k, (side, positions) in enumerate(((text.src, links.src), (text.tgt, links.tgt))):
            first, last = pairs.spans[:, 2 * k], pairs.spans[:, 2 * k + 1]
            self.lengths[k] += int((last - first + 1).sum(dtype=np.int64))
            self.n_words[k] += len(side.ids)
            self.n_unlinked[k] += len(side.ids) - len(np.unique(side.offsets[at] + positions))

    def count(self, lines: LineSorter) -> None:
        """Counts different phrase pairs. lines: `orientation_lines` of all phrase pairs, without models"""
        n, last = 0, b""  # the line that came last, and how often it has come
        for block in lines.blocks():
            counts = _lines.multiplicities(block)
            if n and block.startswith(last):
                counts[0] += n
            elif n:
                self._counted([n])
            n, last = counts.pop(), block[block.rfind(b"\n", 0, -1) + 1 :]
            self._counted(counts)
        self._counted([n] if n else [])

    def _counted(self, counts: list[int]) -> None:
        self.n_distinct += len(counts)
        self.n_once += counts.count(1)

    def shown(self) -> str:
        """The figures, a line each."""

        def of(part: int, whole: int, digits: int, factor: int = 1) -> str:
            return f"{factor * part / whole:.{digits}f}" if whole else "-"

        rows = [
            ("sentence pairs", str(self.n_sentences)),
            ("phrase pairs", str(self.n_pairs)),
            ("  a sentence pair", of(self.n_pairs, self.n_sentences, 2)),
            ("  source words", of(self.lengths[0], self.n_pairs, 2)),
            ("  target words", of(self.lengths[1], self.n_pairs, 2)),
            ("different ones", str(self.n_distinct)),
            ("  that stand once, %", of(self.n_once, self.n_distinct, 2, 100)),
            ("unlinked source words, %", of(self.n_unlinked[0], self.n_words[0], 2, 100)),
            ("unlinked target words, %", of(self.n_unlinked[1], self.n_words[1], 2, 100)),
        ]
        width = max(len(label) for label, _ in rows)
        return "".join(f"{label:<{width}}  {value}\n" for label, value in rows)


def shared_phrases(hyp: Links, gold: Links, text: Corpus, max_length: int = MAX_LENGTH) -> Ints:
    """[S, 3] how many phrase pairs the links have, how many the sure gold links have, and how many both have.

    A phrase pair is the same if it has the same words at the same places.
    """
    if gold.sure is not None:
        gold = gold.chosen(gold.sure == 1)
    a, b = (_codes(extract_phrases(text, links, max_length), text) for links in (hyp, gold))
    size = _size(text)
    columns = [np.bincount(codes // size, minlength=len(text)) for codes in (a, b, a[among(a, b)])]
    return np.stack(columns, axis=1)


def _size(text: Corpus) -> int:
    """More than all codes of phrase pairs of one sentence pair."""
    I, J = (int(side.lengths.max(initial=1)) for side in (text.src, text.tgt))
    if len(text) * (I * J) ** 2 >= 1 << 63:
        raise DataError(f"sentence pairs of up to {I} and {J} words are too long to compare phrase pairs")
    return (I * J) ** 2


def _codes(pairs: PhrasePairs, text: Corpus) -> Ints:
    """The phrase pairs as sorted numbers, which begin with the sentence pair."""
    I, J = (int(side.lengths.max(initial=1)) for side in (text.src, text.tgt))
    codes = np.repeat(np.arange(len(pairs), dtype=np.int64), np.diff(pairs.offsets))
    for column, size in zip(pairs.spans.T, (I, I, J, J), strict=True):
        codes = codes * size + column
    return as_set(codes)
