"""Options of commands that write links of other tokens than those that were aligned."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from aligner.cli.options import F
from aligner.errors import DataError, number_of
from aligner.files import display_name
from aligner.links.links import Links
from aligner.links.remap import MERGES, PIECES, Remapping
from aligner.text.corpus import Corpus
from aligner.text.schemes import SCHEMES
from aligner.text.sides import Side
from aligner.text.subwords import HeldTokens, Overlaps, Retokenised, TokenFile

Schemes = tuple[str | None, str | None]  # of source and target; None: to be found


class SchemePair(click.ParamType):  # type: ignore[type-arg]
    """A scheme for both sides, or two with a comma between them."""

    name = "SCHEME[,SCHEME]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Schemes:
        if isinstance(value, tuple):
            return value
        names = value.split(",") * (2 if "," not in value else 1)
        if len(names) != 2 or not SCHEMES.keys() >= set(names):
            self.fail(f"{value!r} is not one or two of {', '.join(SCHEMES)}.", param, ctx)
        return names[0], names[1]


def scheme(name: str, target: str, files: str) -> Callable[[F], F]:
    """The schemes of two files."""
    return click.option(
        name,
        target,
        type=SchemePair(),
        metavar="SCHEME[,SCHEME]",
        default=(None, None),
        show_default=False,
        help=f"Scheme of {files}, one for both or two.  [default: detected]",
    )


def rules(command: F) -> F:
    """--pieces and --merge: what becomes of one link and of several."""
    command = click.option(
        "--merge",
        type=click.Choice(list(MERGES)),
        default="any",
        help="What becomes of links that fall together. "
        + " ".join(f"{name}: {rule.help}." for name, rule in MERGES.items()),
    )(command)
    return click.option(
        "--pieces",
        type=click.Choice(list(PIECES)),
        default="every",
        help="What a token's links go to. " + " ".join(f"{name}: {what}." for name, what in PIECES.items()),
    )(command)


def option(command: F) -> F:
    """--remap-src and --remap-tgt, and how links are remapped."""
    for add in (
        rules,
        scheme("--remap-scheme", "remap_schemes", "the files of --remap-src and --remap-tgt"),
        click.option("--remap-tgt", metavar="FILE", help="The same for the target sentences."),
        click.option(
            "--remap-src",
            metavar="FILE",
            help="Write links of the tokens of FILE, for example of subwords, in place of those of the source"
            " words. FILE has the source sentences in other tokens, line by line (see `aligner remap`).",
        ),
    ):
        command = add(command)
    return command


class Remapper:
    """Remaps links of a text to other tokens of it, block by block. Without a file they stay as they are.

    paths    of the other tokens of source and target; None: those of a side stay
    scores   whether links are written with their scores
    """

    def __init__(
        self,
        paths: tuple[str | None, str | None],
        schemes: Schemes,
        pieces: str,
        merge: str,
        scores: bool,
        n_threads: int,
    ) -> None:
        self.paths, self.schemes, self.scores = paths, schemes, scores
        self.wanted = paths != (None, None)
        self._how = Remapping(pieces, merge, n_threads)
        self._files: list[TokenFile | None] = [None, None]
        self._sides: list[_Same | Retokenised] = []
        self._n = 0
        self._check()
        for path in self.inputs:  # before long work
            if path != "-":
                os.stat(path)

    def _check(self) -> None:
        """Refuses options that have no effect."""
        context = click.get_current_context()
        for name in ("pieces", "merge", "remap_schemes"):
            given = context.get_parameter_source(name) is not ParameterSource.DEFAULT
            if given and not self.wanted:
                option = {"remap_schemes": "remap-scheme"}.get(name, name)
                raise click.UsageError(f"--{option} is for --remap-src and --remap-tgt.")
        if self._how.merge == "mean" and not self.scores:
            raise click.UsageError("--merge mean makes scores: give --scores, too.")

    @property
    def inputs(self) -> list[str]:
        return [path for path in self.paths if path is not None]

    def begin(self, corpus: Corpus, src: str, tgt: str | None, encoding: str, split: str) -> None:
        """The next part of the text, as it was aligned. src, tgt: the files that it comes from"""
        if not self.wanted:
            return
        self._sides = []
        for k, (side, name) in enumerate(((corpus.src, src), (corpus.tgt, tgt or src))):
            path = self.paths[k]
            if path is None:
                self._sides.append(_Same(side))
                continue
            file = self._files[k] or TokenFile(path, self.schemes[k], encoding, split)
            self._files[k] = file
            held = HeldTokens(side, display_name(name), self._n)
            self._sides.append(Retokenised(held, file, self._how.n_threads))

    def remapped(self, links: Links) -> Links:
        """The new links of the next sentence pairs."""
        if not self.wanted:
            return links
        links = links if self.scores else replace(links, scores=None)
        src, tgt = (side.take(len(links)) for side in self._sides)
        if min(len(src.old), len(tgt.old)) <= len(links):
            self._refuse_short(self._n + len(links))
        found = self._how.remapped(links, src, tgt, self._n)
        self._n += len(links)
        return found

    def end(self, src: str) -> None:
        """Refuses files with more lines than the text, and says what was left out. src: where the text is"""
        if self.wanted:
            self._refuse_long()
            self._how.tell(display_name(src))
        for file in self._files:
            if file is not None:
                file.splitter.warn()

    def _refuse_short(self, n: int) -> None:
        """Names the file that ends before line n of the text."""
        for file in self._files:
            if file is not None and (count := file.count()) < n:
                self._unequal(file, count, "the text has more")

    def _refuse_long(self) -> None:
        for file in self._files:
            if file is not None and (count := file.count()) != self._n:
                self._unequal(file, count, f"the text has {self._n}")

    def _unequal(self, file: TokenFile, count: int, text: str) -> None:
        what = f"{file.name} has {number_of(count, 'line')}, {text}"
        raise DataError(what, hint="it must match the text line by line")


class _Same:
    """A side whose tokens stay."""

    def __init__(self, side: Side) -> None:
        self.side, self.n_taken = side, 0

    def take(self, n: int) -> Overlaps:
        self.n_taken += n
        return Overlaps.same(self.side.part(self.n_taken - n, self.n_taken))
