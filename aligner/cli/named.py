"""Files that may have names in a picture, or sizes of training texts: FILE, NAME=FILE, NAME:SIZE=FILE."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import click

from aligner.files import display_name

UNITS = {"": 1, "k": 1_000, "M": 1_000_000}


class NamedFile(str):
    """The path of a file that may have a label, given as LABEL=FILE."""

    label: str | None = None


class NamedFileType(click.ParamType):  # type: ignore[type-arg]
    """FILE or LABEL=FILE."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NamedFile:
        label, equals, path = value.partition("=")
        if not equals:
            return NamedFile(value)
        if not label or not path:
            self.fail(f"{value!r} is neither FILE nor NAME=FILE.", param, ctx)
        if os.path.exists(value) and not os.path.exists(path):
            self.fail(f"the name of {value} has a =: give it another name, as in NAME={value}.", param, ctx)
        file = NamedFile(path)
        file.label = label
        return file


def labels(files: Sequence[NamedFile], sized: bool) -> list[tuple[str, float]]:
    """(name, size) of each file; the size is 0 where none is wanted. Refuses two files of the same label."""
    found = [_label(file, sized) for file in files]
    if again := [label for label, n in Counter(found).items() if n > 1]:
        form = "NAME:SIZE=FILE" if sized else "NAME=FILE"
        raise click.UsageError(f"two files are {_spoken(*again[0])}: give them names, as in {form}.")
    return found


def _label(file: NamedFile, sized: bool) -> tuple[str, float]:
    """(name, size) of a file. size: 0 where none is wanted"""
    if not sized:
        return _whole(file.label or display_name(file)), 0
    name, _, size = (file.label or "").rpartition(":")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kM]?)", size)
    if match is None or float(match[1]) == 0:
        raise click.UsageError(
            f"{file} has no size: give SIZE=FILE or NAME:SIZE=FILE, as in 10k={file}. A size is a number,"
            " with k for thousands and M for millions."
        )
    return _whole(name), float(match[1]) * UNITS[match[2]]


def _whole(name: str) -> str:
    """Refuses a name that would break a table."""
    if "\t" in name or "\n" in name:
        raise click.UsageError("a name has no tabs and no line ends: give another one, as in NAME=FILE.")
    return name


def _spoken(name: str, size: float) -> str:
    """What messages call a file with a label."""
    return f"{name or 'without a name'} of size {size:g}" if size else f"called {name}"
