"""Texts to measure on: of real corpora, generated ones, a user's own; of so many pairs or of one length."""

from __future__ import annotations

import gzip
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import ALIGNER

CORPORA = Path(os.environ.get("ALIGNER_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
LINK = re.compile(r"(\d+)([-?])(\d+)")  # of the format gold
Pair = tuple[str, str, str | None]  # source, target, gold links; None: nobody has linked the pair


@dataclass(frozen=True)
class Text:
    """A text in a folder: src, tgt, both (`src ||| tgt`), and prefixes, which is both, four letters a word.

    gold: links of the last lines; None: there are none
    """

    folder: Path
    gold: Path | None
    n_pairs: int
    n_words: tuple[int, int]


def write_text(folder: Path, sides: Sequence[Sequence[str]], gold: Path | None) -> Text:
    """A text of two sides, line by line, without ends of lines."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in zip(("src", "tgt"), sides, strict=True):
        _write(folder / name, lines)
    both = [f"{a.strip()} ||| {b.strip()}" for a, b in zip(*sides, strict=True)]
    _write(folder / "both", both)
    _write(folder / "prefixes", (" ".join(word[:4] for word in line.split()) for line in both))
    src, tgt = (sum(len(line.split()) for line in lines) for lines in sides)
    return Text(folder, gold, len(both), (src, tgt))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def lines_of(path: Path) -> list[str]:
    """The lines of a file, which may be compressed. Nothing but a newline ends a line."""
    data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    return data.decode("utf-8").removesuffix("\n").split("\n")


def n_lines(path: Path) -> int:
    return len(lines_of(path))


def of_corpus(data: Path, n: int, folder: Path) -> Text:
    """The first n pairs of train, then dev and test, lower-cased; gold links of test."""
    _, *languages = data.name.split("-")
    sides = []
    for language in languages:
        with gzip.open(data / f"train.{language}.gz", "rt", encoding="utf-8", newline="\n") as train:
            lines = [line.removesuffix("\n") for line in itertools.islice(train, n)]
        for part in ("dev", "test"):
            lines += lines_of(data / f"{part}.{language}")
        sides.append([line.lower() for line in lines])
    return write_text(folder, sides, data / "test.gold")


def generated(n: int, folder: Path) -> list[Pair]:
    """n pairs of `aligner generate`."""
    subprocess.run([ALIGNER, "generate", str(folder / "toy"), "--pairs", str(n)], check=True)
    return pairs_of([folder / f"toy.{suffix}" for suffix in ("src", "tgt", "gold")])


def pairs_of(files: Sequence[Path]) -> list[Pair]:
    """The pairs of a source, a target and, if it is given, gold links of the last lines."""
    sides = [lines_of(path) for path in files[:2]]
    if len(sides[0]) != len(sides[1]):
        sys.exit(
            f"{files[0]} has {len(sides[0])} lines, {files[1]} has {len(sides[1])}: they must be as many"
        )
    gold: list[str] = []
    if len(files) > 2:
        command = [ALIGNER, "convert", str(files[2]), "--to", "gold"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        gold = done.stdout.removesuffix("\n").split("\n")
    unknown = [None] * (len(sides[0]) - len(gold))
    return list(zip(*sides, [*unknown, *gold], strict=True))


def of_pairs(pairs: Sequence[Pair], folder: Path) -> Text:
    """A text of pairs, with the gold links that there are."""
    gold = [links for _, _, links in pairs if links is not None]
    sides = [[pair[k] or "" for pair in pairs] for k in (0, 1)]
    text = write_text(folder, sides, folder / "gold" if gold else None)
    _write(folder / "gold", gold)
    return text


def of_length(pairs: Iterable[Pair], length: int) -> Iterator[Pair]:
    """Pairs of `length` words a side: neighbours are joined until both sides have them, then cut to them.

    Links move with their words. Those of a word that is cut off are gone.
    """
    src: list[str] = []
    tgt: list[str] = []
    links: list[str] | None = []
    for one in pairs:
        i, j = len(src), len(tgt)
        src += one[0].split()
        tgt += one[1].split()
        if one[2] is None or links is None:
            links = None
        else:
            marks = ((int(a) + i, mark, int(b) + j) for a, mark, b in LINK.findall(one[2]))
            links += [f"{a}{mark}{b}" for a, mark, b in marks if a < length and b < length]
        if min(len(src), len(tgt)) >= length:
            shown = None if links is None else " ".join(links)
            yield " ".join(src[:length]), " ".join(tgt[:length]), shown
            src, tgt, links = [], [], []
