"""What eflomal-align and eflomal-makepriors have in common: the options that name text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import click

from aligner.cli.options import F
from aligner.compat.eflomal import sentences_from_joint_file
from aligner.errors import DataError
from aligner.files import display_name
from aligner.text.reading import read_lines


class Lines:
    """The lines of a file, with its name for messages."""

    def __init__(self, path: str) -> None:
        self.path, self.name = path, display_name(path)

    def __iter__(self) -> Iterator[str]:
        return read_lines(self.path)


def text(command: F) -> F:
    """-s and -t, or -i."""
    for add in (
        click.option("-i", "--input", "joint", metavar="FILE", help="Both sides, lines `source ||| target`."),
        click.option("-t", "--target", metavar="FILE", help="The target side, a sentence a line."),
        click.option("-s", "--source", metavar="FILE", help="The source side, a sentence a line."),
    ):
        command = add(command)
    return command


def sides(source: str | None, target: str | None, joint: str | None) -> tuple[Iterable[str], Iterable[str]]:
    """The lines of both sides. A joint file is read now; it comes before two files, as in the original."""
    if joint:
        pairs = list(sentences_from_joint_file(_existing(joint)))
        return [src for src, _ in pairs], [tgt for _, tgt in pairs]
    if not (source and target):
        raise DataError("need to specify either -s and -t, or -i")
    if source == target == "-":
        raise DataError("stdin cannot be both sides", hint="pipe in `source ||| target` lines with -i -")
    return _existing(source), _existing(target)


def _existing(path: str) -> Lines:
    if path != "-" and not os.path.exists(path):
        raise DataError(f"input file {path} does not exist!")
    return Lines(path)
