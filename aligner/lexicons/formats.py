"""The formats of tables of word pairs. A format is a row of FORMATS.

Originals write the word pairs in the order of a hash table or of addresses in memory, which is not the same
everywhere. Here the order is that of the words, so that equal tables are equal files.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aligner.errors import DataError
from aligner.lexicons.format import Format, Row, printed
from aligner.lexicons.table import NULL, Reals, Table

WORD = re.compile(r"[-\w']+")  # a word as bicleaner's dictionaries have them
RATIO = math.log(10)  # bicleaner's dictionaries leave out what is less probable than the best by this factor
LEAST = 1e-7  # GIZA++ leaves out probabilities that are not above this


@dataclass(frozen=True)
class Spaced(Format):
    """`f e p`. single: p is a number of single precision, as Marian computes it"""

    of: str
    names: tuple[str, str]
    single: bool = False
    decimals: int = 7
    shape = "tgt src p"

    def kept(self, table: Table) -> Table:
        return table.forward().alphabetical(self.null)

    def lines(self, table: Table, src: list[str], tgt: list[str]) -> list[str]:
        numbers = table.p[:, 0].astype(np.float32) if self.single else table.p[:, 0]
        p = printed(numbers, f"{{:.{self.decimals}f}}")
        return [f"{tgt[f]} {src[e]} {x}\n" for e, f, x in _rows(table, p)]

    def parse(self, line: str) -> Row:
        f, e, p = line.split(" ")
        return self.word(e), self.word(f), float(p), None


class Bicleaner(Spaced):
    """`f e p` of words of letters, digits, - and ', without what is much less probable than the best.

    NULL stands as e, never as f.
    """

    def kept(self, table: Table) -> Table:
        table = super().kept(table)
        table = table.chosen(_clean(table) & (table.f != NULL))
        log_p = _log(np.round(table.p[:, 0].astype(np.float64), 7))
        return table.chosen((log_p >= _best(table, log_p) - RATIO) & (log_p > -math.inf))

    def losses(self, table: Table) -> Counter[str]:
        table = table.forward()
        n = len(table) - int(_clean(table).sum())
        return +Counter({"word pairs with other characters than letters, digits, - and ' left out": n})


@dataclass(frozen=True)
class FastAlign(Format):
    """`e<TAB>f<TAB>log p`, six digits.

    beam: of a word e whose best p is P, what is less probable than P to the power of -beam is left out
    """

    beam: float = -4.0
    shape = "src<TAB>tgt<TAB>log p"
    of = "fast_align's -p, with <eps> for NULL"
    null = "<eps>"

    def kept(self, table: Table) -> Table:
        table = table.forward().alphabetical(self.null)
        log_p = _log(table.p[:, 0].astype(np.float64))
        with np.errstate(invalid="ignore"):  # -inf * 0
            return table.chosen((log_p >= -_best(table, log_p) * self.beam) & (log_p > -math.inf))

    def lines(self, table: Table, src: list[str], tgt: list[str]) -> list[str]:
        log_p = printed(_log(table.p[:, 0].astype(np.float64)), "{:g}")
        return [f"{src[e]}\t{tgt[f]}\t{x}\n" for e, f, x in _rows(table, log_p)]

    def parse(self, line: str) -> Row:
        e, f, log_p = line.split("\t")
        return self.word(e), self.word(f), math.exp(min(float(log_p), 1.0)), None


@dataclass(frozen=True)
class Giza(Format):
    """`e f p`, six digits, words as numbers. numbers: word -> its number, of both sides; NULL's is 0"""

    numbers: tuple[Mapping[str, int], Mapping[str, int]] = field(default_factory=lambda: ({}, {}))
    shape = "src_id tgt_id p"
    of = "GIZA++'s t3.final; .vcb files have the words of the numbers"

    def transposed(self) -> Giza:
        return Giza(self.numbers[::-1])

    def kept(self, table: Table) -> Table:
        table = table.forward()
        table = table.chosen(table.p[:, 0] > LEAST)
        e, f = (np.array(numbers) for numbers in self._found(table))
        return table.chosen(np.lexsort((f[table.f], e[table.e])))

    def _found(self, table: Table) -> list[list[int]]:
        """Of both sides, word id -> the number of the word, and NULL's at the end. -1: it has none"""
        sides = zip((table.src, table.tgt), self.numbers, strict=True)
        return [[*(numbers.get(word, -1) for word in vocab.words), 0] for vocab, numbers in sides]

    def spelled(self, table: Table) -> list[list[str]]:
        sides = self._found(table)
        for numbers, vocab, ids in zip(sides, (table.src, table.tgt), (table.e, table.f), strict=True):
            if (without := np.flatnonzero(np.array(numbers)[ids] < 0)).size:
                raise DataError(
                    f"the word {vocab.words[ids[without[0]]]} has no number in the vocabulary file",
                    hint="give the vocabulary files of the source and of the target, in this order",
                )
        return [[str(number) for number in numbers] for numbers in sides]

    def lines(self, table: Table, src: list[str], tgt: list[str]) -> list[str]:
        p = printed(table.p[:, 0], "{:g}")
        return [f"{src[e]} {tgt[f]} {x}\n" for e, f, x in _rows(table, p)]

    @cached_property
    def _words(self) -> list[dict[int, str | None]]:
        """Of both sides, number -> word; None for NULL"""
        return [{0: None, **{k: word for word, k in numbers.items()}} for numbers in self.numbers]

    def parse(self, line: str) -> Row:
        e, f, p = line.split()
        return self._words[0][int(e)], self._words[1][int(f)], float(p), None


class Tsv(Format):
    """`e<TAB>f<TAB>p(f | e)<TAB>p(e | f)`, six digits."""

    shape = "src<TAB>tgt<TAB>p(tgt | src)<TAB>p(src | tgt)"
    of = "both directions in one file, without NULL"
    null = ""
    both = True

    def kept(self, table: Table) -> Table:
        return table.without_null()

    def lines(self, table: Table, src: list[str], tgt: list[str]) -> list[str]:
        fwd, rev = (["" if x == "nan" else x for x in printed(column, "{:.6g}")] for column in table.p.T)
        return [
            f"{src[e]}\t{tgt[f]}\t{x}\t{y}\n" for (e, f, x), y in zip(_rows(table, fwd), rev, strict=True)
        ]

    def parse(self, line: str) -> Row:
        e, f, fwd, rev = line.split("\t")
        if not fwd and not rev:
            raise ValueError
        return self.word(e), self.word(f), float(fwd) if fwd else None, float(rev) if rev else None


def _rows(table: Table, texts: list[str]) -> Iterable[tuple[int, int, str]]:
    return zip(table.e.tolist(), table.f.tolist(), texts, strict=True)


def _clean(table: Table) -> npt.NDArray[np.bool_]:
    """[P] whether the words of a word pair are as bicleaner wants them; NULL is."""
    src, tgt = (
        np.array([*(WORD.fullmatch(word) is not None for word in vocab.words), True])
        for vocab in (table.src, table.tgt)
    )
    return np.asarray(src[table.e] & tgt[table.f])


def _log(p: Reals) -> Reals:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))


def _best(table: Table, goodness: Reals) -> Reals:
    """[P] word pair -> the goodness of the best word pair of the same source word"""
    best = np.full(len(table.src) + 1, -math.inf)  # NULL, -1, is the last
    np.maximum.at(best, table.e, goodness)
    return best[table.e]


FORMATS: dict[str, Format] = {
    "tsv": Tsv(),
    "moses": Spaced("Moses' lex.f2e and lex.e2f, with NULL", (".f2e", ".e2f")),
    "marian": Spaced("extract_lex's, with NULL", (".s2t", ".t2s"), single=True),
    "bicleaner": Bicleaner("bicleaner's dictionaries, pruned, with p(tgt | NULL)", (".f2e.gz", ".e2f.gz")),
    "fast_align": FastAlign(),
    "giza": Giza(),
}
