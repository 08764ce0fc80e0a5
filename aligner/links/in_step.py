"""Text and links, read in step: memory has a block of sentence pairs, not the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aligner.errors import DataError
from aligner.files import display_name
from aligner.links import formats
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.text.corpus import Corpus
from aligner.text.reading import stream_side


def read_in_step(
    src: str,
    tgt: str,
    reader: LinkReader,
    *,
    encoding: str = "utf-8",
    lowercase: bool = False,
    split: str = "ascii",
) -> Iterator[tuple[int, Corpus, Links]]:
    """(number of the first sentence pair, sentence pairs, their links) in blocks.

    Refuses files of other lengths, and links to words that are not there. Word ids mean nothing beyond their
    block.
    """
    names = display_name(src), display_name(tgt), reader.name
    sides = [
        stream_side(path, formats.BLOCK, encoding=encoding, lowercase=lowercase, split=split)
        for path in (src, tgt)
    ]
    linked = (links for _, links in reader.blocks())
    n = 0
    while True:
        e, f = (next(side, None) for side in sides)
        links = next(linked, None)
        if reader.sparse and e is not None:
            links = (links or Links.from_pairs([])).padded(len(e))
        sizes = [0 if part is None else len(part) for part in (e, f, links)]
        check_step(names, sizes, n)
        if e is None or f is None or links is None:
            break
        text = Corpus(e, f)
        reader.check(links, text, n_before=n)
        yield n, text, links
        n += len(text)
    reader.tell_null()


def check_step(names: Sequence[str], sizes: Sequence[int], n_before: int) -> None:
    """Refuses files that are not of one length. sizes: lines that each has after the first n_before"""
    if len(set(sizes)) > 1:
        short, long = sizes.index(min(sizes)), sizes.index(max(sizes))
        raise DataError(
            f"{names[short]} has {n_before + sizes[short]} lines, {names[long]} has more",
            hint="text and links must match line by line",
        )
