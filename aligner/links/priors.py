"""eflomal's priors: how often words, fertilities and jumps were seen in aligned text, as pseudo-counts.

A line has a kind, then what was counted, then the count, with tabs between them:
    LEX   source-word  target-word  count
    FERF  source-word  fertility    count      how many target words a source word has, forward
    FERR  target-word  fertility    count      how many source words a target word has, reverse
    HMMF  jump         count                   between source positions of neighbouring links, forward
    HMMR  jump         count                   between target positions of neighbouring links, reverse
Words with no links have no fertility here. A sentence begins at position -1, and ends behind its last word.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.files import display_name
from aligner.links.links import Links
from aligner.text.corpus import Corpus
from aligner.text.reading import read_lines
from aligner.text.sides import Side, Vocab, ranks

BLOCK = 1 << 14  # lines written at a time
NULL = "<NULL>"  # the word that words without links are linked with
LARGEST = 2**31 - 1  # of jumps and fertilities
COLUMNS = {"LEX": 4, "FERF": 4, "FERR": 4, "HMMF": 3, "HMMR": 3}  # kind of line -> how many columns it has


class Table(NamedTuple):
    """Pseudo-counts of pairs of numbers, in any order. Counts of equal pairs add up.

    a, b    [n]  the pair
    counts  [n]  its pseudo-count, 0 or more
    """

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    counts: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Priors:
    """The pseudo-counts of a text.

    src, tgt     the words of both sides, with or without NULL
    pairs        of source word and target word
    fertilities  forward: of source word and fertility; reverse: of target word and fertility
    jumps        forward and reverse: jump -> pseudo-count
    """

    src: Vocab
    tgt: Vocab
    pairs: Table
    fertilities: tuple[Table, Table]
    jumps: tuple[dict[int, float], dict[int, float]]

    def transposed(self) -> Priors:
        """The priors of the same text with its sides swapped."""
        a, b, counts = self.pairs
        return Priors(self.tgt, self.src, Table(b, a, counts), self.fertilities[::-1], self.jumps[::-1])

    def seen(self, src: Callable[[str], str], tgt: Callable[[str], str]) -> Priors:
        """The priors of what is seen of source words and of target words. NULL stays NULL."""
        (src_vocab, a), (tgt_vocab, b) = _merged(self.src, src), _merged(self.tgt, tgt)
        (ferf, ferr), pairs = self.fertilities, self.pairs
        return Priors(
            src_vocab,
            tgt_vocab,
            Table(a[pairs.a], b[pairs.b], pairs.counts),
            (Table(a[ferf.a], ferf.b, ferf.counts), Table(b[ferr.a], ferr.b, ferr.counts)),
            self.jumps,
        )

    def __repr__(self) -> str:
        return f"Priors({len(self.pairs.counts)} word pairs of {len(self.src)} and {len(self.tgt)} words)"


def count_priors(text: Corpus, forward: Links, reverse: Links) -> Priors:
    """The pseudo-counts of text with links of both directions; the links of both may be the same."""
    for links, name in ((forward, "forward"), (reverse, "reverse")):
        _check(text, links, name)
    return Priors(
        text.src.vocab,
        text.tgt.vocab,
        _count_pairs(text, forward),
        (_fertilities(text.src, forward, forward.src), _fertilities(text.tgt, reverse, reverse.tgt)),
        (
            _jumps(text.src, forward, forward.src, forward.tgt),
            _jumps(text.tgt, reverse, reverse.tgt, reverse.src),
        ),
    )


def _check(text: Corpus, links: Links, name: str) -> None:
    """Refuses links of other sentences than those of the text."""
    if len(links) != len(text):
        raise DataError(
            f"the {name} links are of {len(links)} sentences, the text has {len(text)}",
            hint="text and links must match line by line",
        )
    outside = links.outside(text.src.lengths, text.tgt.lengths)
    if outside.any():
        k = int(outside.argmax())
        n = int(links.sentences[k])
        raise DataError(
            f"the {name} link {links.src[k]}-{links.tgt[k]} of sentence {n + 1} is outside its pair of"
            f" {text.src.lengths[n]} and {text.tgt.lengths[n]} words",
            hint="are text and links of the same sentences?",
        )


def _counted(a: npt.NDArray[np.int64], b: npt.NDArray[np.int64]) -> Table:
    """How often each pair of numbers occurs. The numbers are 0 or more."""
    width = int(b.max(initial=0)) + 1
    keys, counts = np.unique(a * width + b, return_counts=True)
    return Table(keys // width, keys % width, counts.astype(np.float64))


def _tokens(side: Side, links: Links, positions: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """[n_links] link -> which token of the side it has"""
    return side.offsets[links.sentences] + positions


def _count_pairs(text: Corpus, links: Links) -> Table:
    src, tgt = _tokens(text.src, links, links.src), _tokens(text.tgt, links, links.tgt)
    return _counted(text.src.ids[src].astype(np.int64), text.tgt.ids[tgt].astype(np.int64))


def _fertilities(side: Side, links: Links, positions: npt.NDArray[np.int32]) -> Table:
    """How many links each token has that has any."""
    fertility = np.bincount(_tokens(side, links, positions), minlength=len(side.ids))
    linked = np.flatnonzero(fertility)
    return _counted(side.ids[linked].astype(np.int64), fertility[linked])


def _jumps(
    side: Side, links: Links, state: npt.NDArray[np.int32], generated: npt.NDArray[np.int32]
) -> dict[int, float]:
    """Jumps on a side, from the last link of a generated word to the first link of the next linked one.

    state, generated: the links' positions on the side and on the other, generated one
    """
    at = links.sentences
    order = np.lexsort((generated, at))  # equal ones stay in order
    at, state, generated = at[order], state[order].astype(np.int64), generated[order]
    new = np.ones(len(at), dtype=bool)  # the first link of a sentence
    new[1:] = at[1:] != at[:-1]
    first = new.copy()  # the first link of a generated word
    first[1:] |= generated[1:] != generated[:-1]
    before = np.full(len(at), -1)
    before[1:] = np.where(new[1:], -1, state[:-1])
    last = np.full(len(side), -1)  # of each sentence
    ends = np.append(new[1:], True)[: len(at)]
    last[at[ends]] = state[ends]
    jumps, counts = np.unique(
        np.concatenate([(state - before)[first], side.lengths - last]), return_counts=True
    )
    return {jump: float(count) for jump, count in zip(jumps.tolist(), counts.tolist(), strict=True)}


def format_priors(priors: Priors) -> Iterator[bytes]:
    """The lines of a file of priors, in blocks; each kind is sorted."""
    src, tgt = _ranks(priors.src), _ranks(priors.tgt)
    ferf, ferr = priors.fertilities
    rows = itertools.chain(
        _lines("LEX\t%s\t%s\t%g\n", priors.pairs, src, tgt),
        _lines("FERF\t%s\t%d\t%g\n", ferf, src, None),
        _lines("FERR\t%s\t%d\t%g\n", ferr, tgt, None),
        *(
            map(form.__mod__, sorted(jumps.items()))
            for form, jumps in zip(("HMMF\t%d\t%g\n", "HMMR\t%d\t%g\n"), priors.jumps, strict=True)
        ),
    )
    while block := "".join(itertools.islice(rows, BLOCK)):
        yield block.encode()


class _Ranks(NamedTuple):
    """Words in alphabetical order of their characters' codes. rank: [n_words] word id -> place"""

    words: list[str]
    rank: npt.NDArray[np.int64]


def _ranks(vocab: Vocab) -> _Ranks:
    return _Ranks(sorted(vocab.words), ranks(vocab.words))


def _lines(form: str, table: Table, first: _Ranks, second: _Ranks | None) -> Iterator[str]:
    """The rows of a table. A column is words, by their ranks, or numbers."""
    a, b = first.rank[table.a], table.b if second is None else second.rank[table.b]
    order = np.lexsort((b, a))
    for start in range(0, len(order), BLOCK):
        part = order[start : start + BLOCK]
        numbers = b[part].tolist()
        seconds = numbers if second is None else [second.words[k] for k in numbers]
        firsts = [first.words[k] for k in a[part].tolist()]
        yield from map(form.__mod__, zip(firsts, seconds, table.counts[part].tolist(), strict=True))


def read_priors(path: str) -> Priors:
    """The priors of a file, "-" for stdin. The file is in UTF-8, and may be compressed."""
    try:
        return parse_priors(read_lines(path), display_name(path))
    except DataError as error:
        if error.setting != "encoding":
            raise
        hint = "priors are in UTF-8: convert the file"
        raise DataError(
            error.what, file=error.file, line=error.line, column=error.column, hint=hint
        ) from None


def parse_priors(lines: Iterable[str], file: str, first: int = 1) -> Priors:
    """The priors that lines have, in the lines' order.

    file, first: what messages call the lines, and the number of the first
    """
    src: dict[str, int] = {}
    tgt: dict[str, int] = {}
    columns: dict[str, tuple[list[int], list[int], list[float]]] = {
        kind: ([], [], []) for kind in ("LEX", "FERF", "FERR")
    }
    jumps: dict[str, dict[int, float]] = {"HMMF": {}, "HMMR": {}}
    for n, line in enumerate(lines, first):
        fields = line.rstrip("\r\n").split("\t")
        kind = fields[0]
        if COLUMNS.get(kind) != len(fields):
            raise _wrong(file, n, "not a line of eflomal's priors")
        count = _count_of(fields[-1], file, n)
        if kind in jumps:
            jump = _whole(fields[1], file, n)
            jumps[kind][jump] = jumps[kind].get(jump, 0.0) + count
            continue
        words = tgt if kind == "FERR" else src
        a, b, counts = columns[kind]
        a.append(words.setdefault(fields[1], len(words)))
        b.append(tgt.setdefault(fields[2], len(tgt)) if kind == "LEX" else _whole(fields[2], file, n))
        counts.append(count)
    pairs, ferf, ferr = (
        Table(np.array(a, dtype=np.int64), np.array(b, dtype=np.int64), np.array(counts, dtype=np.float64))
        for a, b, counts in columns.values()
    )
    return Priors(Vocab.of(src), Vocab.of(tgt), pairs, (ferf, ferr), (jumps["HMMF"], jumps["HMMR"]))


def _merged(vocab: Vocab, see: Callable[[str], str]) -> tuple[Vocab, npt.NDArray[np.int64]]:
    """A vocabulary of what is seen of words; and [n_words] word -> what is seen of it there."""
    new: dict[str, int] = {}
    ids = [new.setdefault(word if word == NULL else see(word), len(new)) for word in vocab.words]
    return Vocab.of(new), np.array(ids, dtype=np.int64)


def _count_of(field: str, file: str, n: int) -> float:
    try:
        count = float(field)
    except ValueError:
        count = math.nan
    if not 0 <= count < math.inf:
        raise _wrong(file, n, f"the count {field!r} is not a number of 0 or more")
    return count


def _whole(field: str, file: str, n: int) -> int:
    try:
        number = int(field)
    except ValueError:
        raise _wrong(file, n, f"{field[:40]!r} is not a whole number") from None
    if abs(number) > LARGEST:
        raise _wrong(file, n, f"{field} is no jump and no fertility: {LARGEST} is the largest")
    return number


def _wrong(file: str, n: int, what: str) -> DataError:
    hint = f"a line is LEX, FERF or FERR and {COLUMNS['LEX'] - 1} columns, or HMMF or HMMR and 2, with tabs"
    return DataError(what, file=file, line=n, hint=hint)
