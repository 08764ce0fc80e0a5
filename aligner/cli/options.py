"""Options and checks that several commands share."""

from __future__ import annotations

import codecs
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from aligner.links.formats import FORMATS

if TYPE_CHECKING:
    from aligner.text.corpus import Corpus

F = TypeVar("F", bound=Callable[..., Any])


class Entry(Protocol):
    """What registries hold."""

    @property
    def help(self) -> str: ...


def documented(title: str, registry: Mapping[str, Entry]) -> Callable[[F], F]:
    """Writes a registry into a command's help, under the title that stands there."""
    width = max(map(len, registry))
    lines = [f"  {name:<{width}}  {entry.help}" for name, entry in registry.items()]
    block = "\n    ".join(["\b", title, *lines])

    def document(command: F) -> F:
        assert command.__doc__ is not None and title in command.__doc__
        command.__doc__ = command.__doc__.replace(title, block)
        return command

    return document


def output(command: F) -> F:
    """-o and --overwrite."""

    def named(_: click.Context, __: click.Parameter, path: str) -> str:
        if not path:
            raise click.BadParameter("a file name is needed.")
        return path

    command = click.option("--overwrite", is_flag=True, help="Replace OUT if it exists.")(command)
    return click.option(
        "-o",
        "--output",
        metavar="OUT",
        default="-",
        callback=named,
        help="Where to write; compressed if it ends in .gz, .bz2, .xz or .zst.",
    )(command)


def text(help: str) -> Callable[[F], F]:
    """--text and its encoding."""

    def add(command: F) -> F:
        return click.option("--text", nargs=2, metavar="SRC TGT", help=help)(encoding(command))

    return add


def encoding(command: F) -> F:
    return click.option(
        "--encoding", default="utf-8", callback=_known_encoding, help="Encoding of the text."
    )(command)


def lowercase(command: F) -> F:
    return click.option("--lowercase", is_flag=True, help="Lower-case the text.")(command)


def _known_encoding(_: click.Context, __: click.Parameter, name: str) -> str:
    try:
        "".encode(name)  # refuses codecs that are not of text
        return codecs.lookup(name).name
    except LookupError:
        raise click.BadParameter(f"unknown encoding {name!r}.") from None


def format(name: str, target: str, of: str) -> Callable[[F], F]:
    """A choice of link formats; not given: seen from the file."""
    return click.option(
        name, target, type=click.Choice(list(FORMATS)), help=f"Format of {of}.  [default: detected]"
    )


def base(name: str, target: str, of: str, default: str = "detected") -> Callable[[F], F]:
    """0 or 1; not given: seen from the file, or usual in its format."""
    return click.option(
        name,
        target,
        type=click.Choice(["0", "1"]),
        callback=lambda _, __, value: None if value is None else int(value),
        help=f"Number of a sentence's first word in {of}.  [default: {default}]",
    )


class Share(click.FloatRange):
    """A number between two others, and a number at all."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number} is not a number.", param, ctx)
        return number


def one_stdin(*paths: str) -> None:
    """There is one stdin to read."""
    if sum(path == "-" for path in paths) > 1:
        raise click.UsageError("only one file can be - (stdin).")


def read_text(paths: tuple[str, str] | None, encoding: str, lowercase: bool = False) -> Corpus | None:
    """The corpus of an option that may not be given."""
    if paths is None:
        return None
    from aligner.text.corpus import read_corpus

    return read_corpus(*paths, encoding=encoding, lowercase=lowercase)


def layout(command: F) -> F:
    return click.option(
        "--layout",
        type=click.Choice(["bars", "tsv"]),
        help="How one file separates the two sides.  [default: detected]",
    )(command)


def check_outputs(
    outputs: Mapping[str, str | None],
    inputs: Iterable[str | None],
    overwrite: bool,
    model: str | None = None,
) -> None:
    """Refuses, before long work, outputs that would replace each other, an input or, if not told to, a file.

    outputs: option -> path; model: the path of a model among them
    """
    from aligner.files import check_output
    from aligner.models.modelfile import check_name

    if model is not None:
        check_name(model)
    seen: dict[str, str] = {}
    sources = {os.path.realpath(path) for path in inputs if path not in (None, "-")}
    for option, path in outputs.items():
        if path is None:
            continue
        place = path if path == "-" else os.path.realpath(path)
        if place in seen:
            raise click.UsageError(f"{option} and {seen[place]} are both {path}.")
        seen[place] = option
        if place in sources:
            raise click.UsageError(f"{option} is {path}, which is read: give another name.")
        if path != "-":
            check_output(path, overwrite)


def check_layout(tgt: str | None, layout: str | None) -> None:
    """--layout is of one file."""
    if tgt is not None and layout is not None:
        raise click.UsageError("--layout is for one file with both sides.")


def corpus_arguments(command: F) -> F:
    """SRC [TGT] and how they are read."""
    for add in (
        lowercase,
        encoding,
        layout,
        click.argument("tgt", required=False),
        click.argument("src", default="-"),
    ):
        command = add(command)
    return command


def threads(command: F) -> F:
    """--threads, by default as many as this process may use; results do not depend on it."""

    def available(_: click.Context, __: click.Parameter, n: int | None) -> int:
        if n is None and hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return n or os.cpu_count() or 1

    return click.option(
        "--threads",
        type=click.IntRange(1, 1024),
        callback=available,
        help="Threads; results do not depend on them.  [default: all cores]",
    )(command)
