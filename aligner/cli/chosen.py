"""Sentence pairs that are chosen of a text: --first, --last and --lines; and the links of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

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


def limits(
    corpus: Corpus, first: int | None, last: int | None, lines: tuple[int, int] | None, name: str
) -> tuple[int, int]:
    """The sentence pairs that are chosen, from and up to. Refuses more than there are."""
    n = len(corpus)
    if n == 0:
        raise DataError("the text has no lines", file=name)
    wanted = lines[1] if lines else first or last or 0
    if wanted > n:
        raise DataError(f"the text has {number_of(n, 'line')}, fewer than {wanted}", file=name)
    if lines:
        return lines[0] - 1, lines[1]
    return (n - last, n) if last else (0, first or n)


def check_page(n: int, name: str) -> None:
    """Refuses a page of n sentence pairs, if they are too many. name: of the text"""
    if n > MOST:
        raise DataError(
            f"{n:,} sentence pairs are too many for one page, which has {MOST:,} at most",
            file=name,
            hint="choose some of them with --first, --last or --lines",
        )


def fitted(reader: LinkReader, corpus: Corpus, start: int, stop: int, last: bool) -> Links:
    """The links of the sentence pairs start to stop, from a file of the whole text or of these pairs alone.

    A sparse file, as WPT's, does not tell how many sentences it has. It is of the pairs alone if they are
    the text's last, and it has no more sentences than they are.
    """
    links, whole, alone = reader.read(), len(corpus), stop - start
    reader.tell_null()
    if reader.sparse:
        links = links.padded(alone if last and len(links) <= alone else whole)
    if len(links) not in (whole, alone):
        which = "" if alone == whole else f", and {alone} of them are chosen"
        choose = "; --first, --last and --lines choose lines of the text" if alone == whole else ""
        raise DataError(
            f"{reader.name} has links of {number_of(len(links), 'sentence')}, the text has {whole}{which}",
            hint=f"text and links must match line by line{choose}",
        )
    if len(links) == whole:
        reader.check(links, corpus)
        return links.part(start, stop)
    reader.check(links, corpus.part(start, stop))
    return links
