"""The files of Moses' train-model.perl, steps 1 to 4, in its root folder.

Moses translates from F to E: F is our source, E our target. GIZA++ names a file after the language that it
generates: `F-E` has p(F | E), our reverse direction, and E stands first in F-E's .snt file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aligner.compat.giza import Doubles, a3_text
from aligner.decoding.combine import Decision, combine
from aligner.decoding.kept import Kept
from aligner.errors import DataError
from aligner.files import open_output
from aligner.lexicons.counting import count
from aligner.lexicons.formats import FORMATS
from aligner.links.formats import BLOCK, LinkReader, format_links
from aligner.links.links import Links
from aligner.links.symmetrize import METHODS, our_name, symmetrize
from aligner.text.classes import cluster, write_classes
from aligner.text.corpus import Corpus
from aligner.text.giza import FIRST, UNK, Vcb, write_snt, write_vcb
from aligner.text.sides import Side

CLASSES = 50  # that Moses asks mkcls for
PACKED = (".gz", ".bz2")  # in which Moses accepts alignments


@dataclass(frozen=True)
class Folder:
    """Where the files are.

    f, e       the languages, as the names of files end
    overwrite  whether files that exist are replaced
    """

    root: Path
    f: str
    e: str
    overwrite: bool = False

    def open(self, path: Path) -> AbstractContextManager[BinaryIO]:
        """A new file to write to. The folders that it needs are made."""
        path.parent.mkdir(parents=True, exist_ok=True)
        return open_output(str(path), self.overwrite)

    def vcb(self, language: str) -> Path:
        return self.root / "corpus" / f"{language}.vcb"

    def classes(self, language: str) -> Path:
        return self.root / "corpus" / f"{language}.vcb.classes"

    def snt(self, generated: str, given: str) -> Path:
        return self.root / "corpus" / f"{generated}-{given}-int-train.snt"

    def a3(self, generated: str, given: str) -> Path:
        """The alignment that we write."""
        return self.root / f"giza.{generated}-{given}" / f"{generated}-{given}.A3.final.gz"

    def aligned(self, method: str) -> Path:
        return self.root / "model" / f"aligned.{method}"

    def lexicons(self) -> tuple[Path, Path]:
        """Those of p(E | F) and of p(F | E)."""
        return self.root / "model" / "lex.f2e", self.root / "model" / "lex.e2f"

    def prepared(self) -> list[Path]:
        """What step 1 writes."""
        languages = self.f, self.e
        return [
            *(self.vcb(language) for language in languages),
            *(self.classes(language) for language in languages),
            self.snt(*languages),
            self.snt(*languages[::-1]),
        ]

    def directed(self) -> list[Path]:
        """What step 2 writes."""
        return [self.a3(self.f, self.e), self.a3(self.e, self.f)]


def write_text(folder: Folder, corpus: Corpus) -> None:
    """Step 1: the text as numbers, in the bytes of train-model.perl, and classes of words."""
    vcbs = []
    for language, side in ((folder.f, corpus.src), (folder.e, corpus.tgt)):
        vcbs.append(by_count(side))
        with folder.open(folder.vcb(language)) as out:
            write_vcb(out, vcbs[-1], b"\t")
        with folder.open(folder.classes(language)) as out:
            write_classes(out, cluster(side, CLASSES))
    f, e = vcbs[0].ids_of(corpus.src.vocab), vcbs[1].ids_of(corpus.tgt.vocab)
    with folder.open(folder.snt(folder.f, folder.e)) as out:
        write_snt(out, Corpus(corpus.tgt, corpus.src), e, f)
    with folder.open(folder.snt(folder.e, folder.f)) as out:
        write_snt(out, corpus, f, e)


def by_count(side: Side) -> Vcb:
    """The words in the order of train-model.perl: common ones first, equally common ones backwards."""
    counts = side.counts.tolist()
    keys = sorted(
        (b"%07d %b" % pair for pair in zip(counts, side.vocab.encoded(), strict=True)), reverse=True
    )
    rows = [key.split(b" ", 1) for key in keys]
    ids = np.append(UNK, np.arange(FIRST, FIRST + len(rows)))
    return Vcb(ids, [b"UNK", *(word for _, word in rows)], np.array([0, *(int(n) for n, _ in rows)]))


def directed(kept: Kept, corpus: Corpus, n_threads: int) -> tuple[Links, Links, Doubles]:
    """Forward and reverse links, a link at most a generated word, and [S, 2] the costs of sentence pairs.

    They are those that the programs GIZA++ and mgiza write.
    """
    costs = np.empty((len(corpus), 2))
    return *kept.one_each_way(corpus, costs=costs, n_threads=n_threads), costs


def write_directed(folder: Folder, corpus: Corpus, forward: Links, reverse: Links, costs: Doubles) -> None:
    """Step 2: an A3 file a direction."""
    for path, links, src, tgt, column in (
        (folder.a3(folder.e, folder.f), forward, corpus.src, corpus.tgt, 0),
        (folder.a3(folder.f, folder.e), reverse.transposed(), corpus.tgt, corpus.src, 1),
    ):
        with folder.open(path) as out:
            for start in range(0, len(corpus), BLOCK):
                stop = min(start + BLOCK, len(corpus))
                part = Corpus(src.part(start, stop), tgt.part(start, stop))
                out.write(a3_text(links.part(start, stop), part, costs[start:stop, column], start))


def read_directed(folder: Folder, corpus: Corpus) -> tuple[Links, Links]:
    """The forward and reverse links of A3 files that are there, of ours or of GIZA++."""
    found = []
    for names, reverse in (((folder.e, folder.f), False), ((folder.f, folder.e), True)):
        wanted = folder.a3(*names)
        plain = wanted.with_suffix("")
        paths = [
            path for path in (*(plain.with_name(plain.name + end) for end in PACKED), plain) if path.exists()
        ]
        if not paths:
            raise _missing(wanted)
        found.append(LinkReader(str(paths[0]), "a3", text=corpus, reverse=reverse).read())
    return found[0], found[1]


def made_one(forward: Links, reverse: Links, method: str) -> Iterator[Links]:
    """Step 3 of links without scores, as symal makes them one."""
    yield symmetrize(forward, reverse, our_name(method))


def blended(kept: Kept, corpus: Corpus, method: str, n_threads: int) -> Iterator[Links]:
    """Step 3 of a model's scores, block by block: the links of our own commands."""
    how = Decision(kept.model.threshold_of("both", method), method=method)
    for forward, reverse in kept.directions(corpus, n_threads=n_threads):
        yield combine(forward, reverse, how)


def takes_scores(method: str) -> bool:
    """Whether a method needs scores, which A3 files do not have."""
    return METHODS[our_name(method)].threshold is not None


def write_links(folder: Folder, method: str, blocks: Iterator[Links]) -> None:
    """Step 3: `i-j` links from F to E, a line a sentence pair."""
    with folder.open(folder.aligned(method)) as out:
        for links in blocks:
            out.write(format_links(links.rounded(), "pharaoh"))


def write_lexicons(folder: Folder, corpus: Corpus, method: str) -> None:
    """Step 4: word pairs counted along the links that are there."""
    path = folder.aligned(method)
    if not path.exists():
        raise _missing(path)
    table = count(corpus, LinkReader(str(path), "pharaoh", 0, text=corpus).read())
    for name, one in zip(folder.lexicons(), (table, table.transposed()), strict=True):
        with folder.open(name) as out:
            FORMATS["moses"].write(one, out)


def _missing(path: Path) -> DataError:
    return DataError("there is no such file", file=str(path), hint="run the steps before this one")
