"""Lines forward and reverse that take turns in one file, as atools reads them from stdin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from aligner.errors import DataError
from aligner.links.formats import LinkReader
from aligner.links.links import Links


class TurnReader(LinkReader):
    """A file of both directions, line by line, forward first. Two lines are read as soon as they come."""

    def _both(self) -> Iterator[tuple[Links, Links]]:
        format, texts = self._texts(eager=True)
        if format.lines > 1 or format.sparse:
            what = f"directions cannot take turns in format {self.format}"
            raise DataError(what, file=self.name, hint="give two files")
        for links in format.read(self, by_twos(texts)):
            if len(links) % 2:
                what = "an odd number of lines: a line forward and a line reverse must take turns"
                raise DataError(what, file=self.name, hint="is a line missing?")
            yield halves(links)


def halves(links: Links) -> tuple[Links, Links]:
    """The links of every other sentence, from the first and from the second on."""
    turn = links.sentences % 2
    first, second = (links.chosen(turn == k) for k in range(2))
    return replace(first, offsets=first.offsets[::2].copy()), replace(
        second, offsets=second.offsets[::2].copy()
    )


def by_twos(blocks: Iterable[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    """The same lines, an even number in each block but the last."""
    rest = b""
    for text, n_lines in blocks:
        text, n_lines = rest + text, n_lines + bool(rest)
        end = text.rfind(b"\n", 0, -1) + 1 if n_lines % 2 else len(text)
        text, rest = text[:end], text[end:]
        if text:
            yield text, n_lines - bool(rest)
    if rest:
        yield rest, 1
