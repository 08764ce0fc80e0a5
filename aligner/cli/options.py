"""Options and checks that several commands share."""

from __future__ import annotations

import codecs
import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import click
from click.core import ParameterSource

from aligner.cli.settings import Setting
from aligner.files import check_output, open_output, output_place
from aligner.links.formats import FORMATS
from aligner.store import check_name
from aligner.text.blanks import SPLITS
from aligner.text.corpus import Corpus
from aligner.text.giza import read_snt, read_vcb
from aligner.text.reading import LAYOUTS, read_corpus
from aligner.threads import available

# the parameters that name texts, and tables of words
TEXTS = (
    *("src", "tgt", "vcb", "text", "counts", "dev_src", "dev_tgt", "train_src", "train_tgt", "files"),
    *("old", "new", "remap_src", "remap_tgt", "dictionary", "conllu", "span_file"),
)

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class Entry(Protocol):
    """An entry of a registry."""

    @property
    def help(self) -> str: ...


def documented(title: str, registry: Mapping[str, Entry]) -> Callable[[F], F]:
    """Writes a registry into a command's help, where the title stands."""
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

    command = click.option("--overwrite", is_flag=True, help="Replace files that exist.")(command)
    return click.option(
        "-o",
        "--output",
        metavar="OUT",
        default="-",
        callback=named,
        help="Where to write; compressed if it ends in .gz, .bz2, .xz or .zst.",
    )(command)


def check(command: F) -> F:
    """--no-check, of a command that reads a model."""
    return click.option(
        "--no-check",
        "check",
        flag_value=False,
        type=bool,
        default=True,
        show_default=False,
        help="Trust the largest tables of the model, and do not look for damage: quicker with a large model.",
    )(command)


def text(help: str) -> Callable[[F], F]:
    """--text, its encoding and where its words end."""

    def add(command: F) -> F:
        return click.option("--text", nargs=2, metavar="SRC TGT", help=help)(encoding(split(command)))

    return add


def encoding(command: F) -> F:
    return click.option(
        "--encoding",
        cls=Setting,
        setting="encoding",
        files=TEXTS,
        default="utf-8",
        callback=_known_encoding,
        help="Encoding of the text.",
    )(command)


def split(command: F) -> F:
    return click.option(
        "--split",
        type=click.Choice(SPLITS),
        default="ascii",
        help="Where words of the text end: ascii at spaces and tabs; unicode at all blanks that Python's"
        " str.split() separates words at, such as NBSP. A model remembers it.",
    )(command)


def lowercase(command: F) -> F:
    return click.option("--lowercase", is_flag=True, help="Lower-case the text. A model remembers it.")(
        command
    )


def _known_encoding(_: click.Context, __: click.Parameter, name: str) -> str:
    try:
        "".encode(name)  # refuses codecs that are not of text
        if codecs.lookup(name).name in ("idna", "punycode"):  # of names of hosts
            raise LookupError
        return codecs.lookup(name).name
    except (LookupError, UnicodeError):
        raise click.BadParameter(f"unknown encoding {name!r}.") from None


def format(name: str, target: str, *files: str, of: str = "") -> Callable[[F], F]:
    """The format of the link files that other parameters name. Not given: the files tell."""
    return click.option(
        name,
        target,
        cls=Setting,
        setting="format",
        files=files,
        type=click.Choice(list(FORMATS)),
        help=f"Format of {of or _shown(files)}.  [default: detected]",
    )


def base(name: str, target: str, *files: str, of: str = "", default: str = "detected") -> Callable[[F], F]:
    """The base, 0 or 1, of the link files that other parameters name. Not given: files or formats tell."""
    return click.option(
        name,
        target,
        cls=Setting,
        setting="base",
        files=files,
        type=click.Choice(["0", "1"]),
        callback=lambda _, __, value: None if value is None else int(value),
        help=f"Number of a sentence's first word in {of or _shown(files)}.  [default: {default}]",
    )


def _shown(files: Iterable[str]) -> str:
    """What help calls the files that parameters name."""
    return " and ".join(map(str.upper, files))


class Share(click.FloatRange):
    """A number between two others. nan is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{number} is not a number.", param, ctx)
        return number


class NumberOrWord(click.ParamType):  # type: ignore[type-arg]
    """A number between two others, or one of some words."""

    def __init__(self, least: float, most: float, *words: str) -> None:
        self.least, self.most, self.words = least, most, words
        self.name = "|".join([*words, "NUMBER"])

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return self.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | float:
        if value in self.words:
            return str(value)
        with contextlib.suppress(ValueError):
            if self.least <= (number := float(value)) <= self.most and math.isfinite(number):
                return number
        some = f"between {self.least:g} and {self.most:g}"
        if math.isinf(self.most):
            some = f"of at least {self.least:g}"
        self.fail(f"{value!r} is neither {' nor '.join(self.words)} nor a number {some}.", param, ctx)


def show(text: str) -> None:
    """Prints a result. Names of files that are not UTF-8 are printed as the bytes that they are."""
    with open_output("-") as out:
        out.write(text.encode("utf-8", "surrogateescape"))


def tell(line: str) -> None:
    """Says a line on stderr. A stderr that nobody reads, or that is full, is no error."""
    with contextlib.suppress(OSError):
        click.echo(line, err=True)


def on_terminal(output: str) -> bool:
    """Whether results go to the terminal, where a bar would stand in their way."""
    return output == "-" and sys.stdout is not None and sys.stdout.isatty()


def not_from_terminal(ctx: click.Context, argument: click.Parameter, path: T) -> T:
    """Refuses to wait for a terminal when no file is given. - is the terminal, too."""
    assert argument.name is not None
    if ctx.get_parameter_source(argument.name) is ParameterSource.DEFAULT and not ctx.resilient_parsing:
        no_terminal(ctx)
    return path


def no_terminal(ctx: click.Context) -> None:
    """Refuses to wait for a terminal."""
    if sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError("give a file, or text on stdin; - reads from the terminal.", ctx)


def exclusive(**given: object) -> None:
    """Refuses more than one of some options, which are named as click names them."""
    if sum(value is not None for value in given.values()) > 1:
        *some, last = ("--" + name.replace("_", "-") for name in given)
        raise click.UsageError(f"{', '.join(some)} and {last} exclude each other.")


def one_stdin(*paths: str) -> None:
    """Refuses two files that are both stdin."""
    if sum(path == "-" for path in paths) > 1:
        raise click.UsageError("only one file can be - (stdin).")


def read_text(
    paths: tuple[str, str] | None, encoding: str, split: str, lowercase: bool = False
) -> Corpus | None:
    """The corpus of --text, which may not be given. Then there is nothing to split."""
    if paths is None:
        if split != "ascii":
            raise click.UsageError("--split needs --text.")
        return None
    return read_corpus(*paths, encoding=encoding, split=split, lowercase=lowercase)


def layout(command: F) -> F:
    """--layout, and --vcb, which one layout needs."""
    command = click.option(
        "--vcb", nargs=2, metavar="SRC TGT", help="The .vcb files of the two sides, for --layout snt."
    )(command)
    return click.option(
        "--layout",
        type=click.Choice([*LAYOUTS, "snt"]),
        help="How one file has the two sides: bars, `source ||| target`; first-bar, the same with further |||"
        " among the target words; tsv, `source<TAB>target`; snt, ids as of GIZA++.  [default: bars or tsv is"
        " detected]",
    )(command)


def read_pairs(
    src: str,
    tgt: str | None,
    layout: str | None,
    vcb: tuple[str, str] | None,
    encoding: str,
    split: str,
    lowercase: bool,
) -> Corpus:
    """The corpus of corpus_arguments."""
    if vcb is None:
        return read_corpus(src, tgt, layout=layout, encoding=encoding, split=split, lowercase=lowercase)
    sides = [read_vcb(path, encoding=encoding) for path in vcb]
    return read_snt(src, *sides, encoding=encoding, lowercase=lowercase)


def check_outputs(
    outputs: Mapping[str, str | None],
    inputs: Iterable[str | None],
    overwrite: bool,
    model: str | None = None,
) -> None:
    """Refuses, before long work, an output that is read, given twice, or there already without overwrite.

    outputs: option -> path; model: the one of these paths that is a model's
    """
    if model is not None:
        check_name(model)
    seen: dict[str, str] = {}
    sources = {os.path.realpath(path) for path in inputs if path not in (None, "-")}
    for option, path in outputs.items():
        if path is None:
            continue
        place = output_place(path)
        if place != os.devnull:  # all can go nowhere
            if place in seen:
                raise click.UsageError(f"{option} and {seen[place]} are both {path}.")
            if place in sources:
                raise click.UsageError(f"{option} is {path}, which is read: give another name.")
        seen[place] = option
        check_output(path, overwrite)


def check_layout(
    tgt: str | None, layout: str | None, vcb: tuple[str, str] | None, split: str = "ascii"
) -> None:
    """Refuses --layout with two files, and --layout snt without the words, or with words to be split."""
    if tgt is not None and layout is not None:
        raise click.UsageError("--layout is for one file with both sides.")
    if (layout == "snt") != (vcb is not None):
        raise click.UsageError("--layout snt and --vcb go together.")
    if vcb is not None and split != "ascii":
        raise click.UsageError("--split is for text: the words of --vcb are split already.")


def corpus_arguments(command: F) -> F:
    """SRC [TGT], and the options that say how to read them."""
    for add in (
        corpus_options,
        click.argument("tgt", required=False),
        click.argument("src", default="-", callback=not_from_terminal),
    ):
        command = add(command)
    return command


def corpus_options(command: F) -> F:
    """The options that say how to read a corpus."""
    for add in (lowercase, split, encoding, layout):
        command = add(command)
    return command


def threads(command: F) -> F:
    """--threads, by default as many as this process may use."""
    return click.option(
        "--threads",
        type=click.IntRange(1, 1024),
        callback=lambda _, __, n: n or min(available(), 1024),
        help="Threads at most; results do not depend on them.  [default: the CPUs that this process may use"
        " by affinity and control groups, at most OMP_NUM_THREADS]",
    )(command)
