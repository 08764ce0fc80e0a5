"""Sentence pairs that are chosen of a text, --first, --last and --lines, and the links of them in files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from aligner.cli import options
from aligner.cli.options import F
from aligner.errors import DataError, number_of
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.text.corpus import Corpus

MOST = 5_000  # sentence pairs of a page: more would be slow to open


class Lines(click.ParamType):  # type: ignore[type-arg]
    """A line, or the lines from one to another, counted from 1."""

    name = "lines"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        found = re.fullmatch(r"([0-9]+)(?:-([0-9]+))?", value)
        start, stop = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= start <= stop:
            self.fail(f"{value!r} is neither a line, as 12, nor lines, as 12-20.", param, ctx)
        return start, stop


def part(verb: str) -> Callable[[F], F]:
    """--first, --last and --lines. verb: what the command does with the sentence pairs, for the help"""

    def add(command: F) -> F:
        for option in (
            click.option(
                "--line",
                "--lines",
                "lines",
                type=Lines(),
                metavar="A[-B]",
                help=f"{verb} line A, or lines A to B, only.",
            ),
            click.option(
                "--last", type=click.IntRange(1), metavar="N", help=f"{verb} the last N sentence pairs only."
            ),
            click.option(
                "--first",
                type=click.IntRange(1),
                metavar="N",
                help=f"{verb} the first N sentence pairs only.",
            ),
        ):
            command = option(command)
        return command

    return add


def formats(command: F) -> F:
    """The formats and bases of the files of --links and --gold."""
    for name in ("gold", "links"):
        of = f"--{name}"
        command = options.base(f"{of}-base", f"{name}_base", name, of=of)(command)
        command = options.format(f"{of}-format", f"{name}_format", name, of=of)(command)
    return command


def check_formats(option: str, files: object, format: str | None, base: int | None) -> None:
    """Refuses the format and the base of files that are not given. option: that names the files"""
    if not files and (format, base) != (None, None):
        raise click.UsageError(f"{option}-format and {option}-base are for {option}.")


@dataclass(frozen=True, eq=False)
class Part:
    """The sentence pairs start to stop, that are chosen of a text.

    corpus  the whole text
    name    of its source side
    last    whether the pairs were chosen as the text's last
    """

    corpus: Corpus
    name: str
    start: int
    stop: int
    last: bool

    @classmethod
    def of(
        cls, corpus: Corpus, name: str, first: int | None, last: int | None, lines: tuple[int, int] | None
    ) -> Part:
        """What --first, --last or --lines choose. Refuses more than there is."""
        n = len(corpus)
        if n == 0:
            raise DataError("the text has no lines", file=name)
        wanted = lines[1] if lines else first or last or 0
        if wanted > n:
            raise DataError(f"the text has {number_of(n, 'line')}, fewer than {wanted}", file=name)
        if lines:
            start, stop = lines[0] - 1, lines[1]
        else:
            start, stop = (n - last, n) if last else (0, first or n)
        return cls(corpus, name, start, stop, last is not None)

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def text(self) -> Corpus:
        return self.corpus.part(self.start, self.stop)

    def check_page(self) -> None:
        """Refuses a page of too many sentence pairs."""
        if len(self) > MOST:
            raise DataError(
                f"{len(self):,} sentence pairs are too many for one page, which has {MOST:,} at most",
                file=self.name,
                hint="choose some of them with --first, --last or --lines",
            )

    def links(self, reader: LinkReader) -> Links:
        """The links of the pairs, from a file of the whole text or of these pairs alone.

        A sparse file, as WPT's, does not tell how many sentences it has. It is of the pairs alone if they are
        the text's last, and it has no more sentences than they are.
        """
        links, whole, alone = reader.read(), len(self.corpus), len(self)
        reader.tell_null()
        if reader.sparse:
            links = links.padded(alone if self.last and len(links) <= alone else whole)
        if len(links) not in (whole, alone):
            which = "" if alone == whole else f", and {alone} of them are chosen"
            choose = "; --first, --last and --lines choose lines of the text" if alone == whole else ""
            found = number_of(len(links), "sentence")
            raise DataError(
                f"{reader.name} has links of {found}, the text has {whole}{which}",
                hint=f"text and links must match line by line{choose}",
            )
        if len(links) == whole:
            reader.check(links, self.corpus)
            return links.part(self.start, self.stop)
        reader.check(links, self.text)
        return links
