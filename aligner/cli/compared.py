"""Links and the gold standard that they are compared with: the same sentences of each file."""

from __future__ import annotations

import logging
from typing import TypeVar

import click

from aligner.cli import options
from aligner.cli.options import F
from aligner.errors import DataError, number_of
from aligner.files import display_name
from aligner.links.formats import LinkReader
from aligner.links.links import Links
from aligner.scoring.evaluate import RARE
from aligner.text.corpus import Corpus

Sentences = TypeVar("Sentences", Links, Corpus)


def part(command: F) -> F:
    """--first and --last."""
    for name, help in (
        ("--last", "Score the last N of each file only."),
        ("--first", "Score the first N sentences only."),
    ):
        command = click.option(name, type=click.IntRange(1), metavar="N", help=help)(command)
    return command


def check_part(first: int | None, last: int | None) -> None:
    """Refuses --first together with --last."""
    options.exclusive(first=first, last=last)


def lines(first: int | None, last: int | None) -> str:
    """What a signature calls the sentences that are compared."""
    return f"first{first}" if first else f"last{last}" if last else "all"


def counting(counted: Corpus, lowercase: bool, split: str) -> dict[str, object]:
    """What a signature says of the text in which words are counted to find the rare ones."""
    tokens = f"{len(counted.src.ids)}+{len(counted.tgt.ids)}"
    settings: dict[str, object] = {"rare": RARE, "lc": "yes" if lowercase else "no", "tokens": tokens}
    return settings if split == "ascii" else settings | {"split": split}


def matched(readers: list[LinkReader], first: int | None, last: int | None) -> list[Links]:
    """The sentences to compare, the same number of each file. The gold standard is the last file.

    A WPT file does not tell how many sentences without links it ends with. Such a file is filled up; its last
    sentences are known only if it has no more than are wanted.
    """
    files = [reader.read() for reader in readers]
    for reader in readers:
        reader.tell_null()
    wanted = first or last or max(len(links) for links in files)
    if wanted == 0:
        raise DataError("no sentences to score", file=readers[-1].name)
    for k, (reader, links) in enumerate(zip(readers, files, strict=True)):
        if reader.sparse:
            if last is not None and len(links) > last:
                raise DataError(
                    "a WPT file does not tell which its last sentences are",
                    file=reader.name,
                    hint="convert it with `aligner convert --to gold --text SRC TGT` first",
                )
            files[k] = links.padded(wanted)
    if first is None and last is None and any(len(links) != wanted for links in files):
        counts = (f"{reader.name} has {len(links)}" for reader, links in zip(readers, files, strict=True))
        raise DataError(f"{', '.join(counts)} lines", hint="score a part of them with --first N or --last N")
    for reader, links in zip(readers, files, strict=True):
        if len(links) < wanted:
            raise DataError(f"{number_of(len(links), 'line')}, fewer than {wanted}", file=reader.name)
    files = [cut(links, wanted, bool(last)) for links in files]
    look(readers, files)
    return files


def cut(sentences: Sentences, n: int, last: bool) -> Sentences:
    """The first or the last n sentences of links or text."""
    if len(sentences) < n:
        raise DataError(f"the text has {number_of(len(sentences), 'sentence')}, {n} are scored")
    return sentences.part(len(sentences) - n, len(sentences)) if last else sentences.part(0, n)


def matched_text(
    text: Corpus, name: str, readers: list[LinkReader], n: int, first: int | None, last: int | None
) -> Corpus:
    """The sentences of a text whose n sentences of links are compared. name: of the text's source side

    Refuses a text of another length, unless a part is wanted, or no file of links tells its length.
    """
    if first is None and last is None and len(text) != n and not all(reader.sparse for reader in readers):
        raise DataError(
            f"the text has {number_of(len(text), 'line')}, {readers[-1].name} has {n}",
            file=display_name(name),
            hint="take a part of them with --first N or --last N",
        )
    return cut(text, n, bool(last))


def look(readers: list[LinkReader], files: list[Links]) -> None:
    """Warns of what looks wrong, and of scores that are a matter of definition."""
    *hyps, gold = files
    for reader, links in zip(readers, files, strict=True):
        if len(links.src) == 0:
            logging.warning("%s: no links", reader.name)
    if len(gold.src) and gold.n_sure == 0:
        logging.warning("%s: no sure links: recall is 100%% by definition", readers[-1].name)
    if gold.sure is None and any(links.sure is not None for links in hyps):
        logging.warning("HYP has possible links and GOLD has none: are they in the right order?")
