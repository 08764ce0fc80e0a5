"""--vocabs: the vocabularies of a translation system."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

import click

from aligner.text.vocabulary import Vocabulary, read_vocabulary

F = TypeVar("F", bound=Callable[..., Any])

MANY = 0.1  # of the words: if more are not in a vocabulary, the text is of another one


def option(why: str) -> Callable[[F], F]:
    """--vocabs. why: what the command needs them for"""
    return click.option(
        "--vocabs",
        "vocab_files",
        nargs=2,
        metavar="SRC TGT",
        help=f"The vocabularies of the translation system, {why}: SentencePiece's models, YAML or JSON of"
        " Marian, or lines that begin with a word. Both may be one file.",
    )


def read(paths: tuple[str, str] | None, encoding: str = "utf-8") -> tuple[Vocabulary, Vocabulary] | None:
    """The vocabularies. A file that is given twice is read once. encoding: of words that are compared"""
    if paths is None:
        return None
    src = read_vocabulary(paths[0], encoding)
    return src, src if paths[1] == paths[0] else read_vocabulary(paths[1], encoding)


def warn(vocabulary: Vocabulary, side: str, n: int, total: int) -> None:
    """Says so if n of the `total` words of a side are too many not to be in a vocabulary."""
    if n > MANY * total:
        logging.warning(
            "%s does not have %d of %d %s words, which Marian reads as the unknown word: is the text split"
            " into the pieces of this vocabulary?",
            *(vocabulary.file, n, total, side),
        )
