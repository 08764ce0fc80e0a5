"""Options and checks that several commands share."""

from __future__ import annotations

import codecs
import contextlib
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from aligner.formats import FORMATS
from aligner.recipe import MODELS, MOST_ITERATIONS
from aligner.views import HELP, parse_views

if TYPE_CHECKING:
    from aligner.corpus import Corpus
    from aligner.model import Model

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


def model_output(command: F) -> F:
    """-o and --overwrite of a command that makes a model."""
    command = click.option("--overwrite", is_flag=True, help="Replace MODEL if it exists.")(command)
    return click.option("-o", "--output", metavar="MODEL", required=True, help="Where to write the model.")(
        command
    )


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
    from aligner.corpus import read_corpus

    return read_corpus(*paths, encoding=encoding, lowercase=lowercase)


def layout(command: F) -> F:
    return click.option(
        "--layout",
        type=click.Choice(["bars", "tsv"]),
        help="How one file separates the two sides.  [default: detected]",
    )(command)


def inputs(training: Mapping[str, Any]) -> list[str | None]:
    """The files that training reads, but for the model it starts from, which it may replace."""
    return [training.get(name) for name in ("src", "tgt", "dev_src", "dev_tgt", "dev_gold")]


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
    from aligner.modelfile import check_name

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


def _known_views(_: click.Context, __: click.Parameter, names: str | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    views = tuple(name.strip() for name in names.split(","))
    try:
        parse_views(views)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None
    return views


def views(command: F) -> F:
    for add in (
        click.option("--fast", is_flag=True, help="One view, word: a third of the time, less accurate."),
        click.option(
            "--views",
            metavar="LIST",
            callback=_known_views,
            help=f"What models see of words, one model each: {HELP}.  [default: word,prefix3,prefix5]",
        ),
    ):
        command = add(command)
    return command


def progress(command: F) -> F:
    for add in (
        click.option("--log-json", metavar="FILE", help="Write a line of JSON per iteration."),
        click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr about iterations."),
    ):
        command = add(command)
    return command


def recipe(command: F) -> F:
    """How a model is trained. Not given: what is best for the model."""
    names = "|".join(MODELS)
    by_model = "[default: by model]"
    for add in (
        progress,
        click.option("--dev-gold", metavar="FILE", help="Its gold links."),
        click.option("--dev-tgt", metavar="FILE", help="Its target side."),
        click.option(
            "--dev-src",
            metavar="FILE",
            help="Development text: stop when the area under its precision-recall curve no longer grows, and"
            " keep the best iteration.",
        ),
        click.option(
            "--max-projection-calls",
            "max_calls",
            type=click.IntRange(1),
            help="Forward-backward calls per sentence pair at most.  [default: 50]",
        ),
        click.option("--slack", type=Share(0), help=f"How far constraints may be off, in all.  {by_model}"),
        click.option("--eta", type=Share(1e-9), help=f"How exactly constraints are fulfilled.  {by_model}"),
        click.option(
            "--max-length",
            type=click.IntRange(0),
            default=0,
            help="Do not train on pairs with a longer side; 0: on all.",
        ),
        click.option(
            "--window",
            type=click.IntRange(1, 17),
            help="Jumps as far share one probability.  [default: 5, or that of --init]",
        ),
        click.option("--p0", type=Share(1e-6, 0.999), help=f"Probability of NULL.  {by_model}"),
        click.option(
            "--agree/--no-agree",
            "ibm1_agree",
            default=None,
            help=f"Train Model 1 on what its two directions agree on.  {by_model}",
        ),
        click.option(
            "--identical",
            type=Share(1e-3, 1e6),
            default=5.0,
            help="How many times likelier a translation spelled alike is to begin with; 1: no likelier.",
        ),
        click.option(
            "--hmm-iterations",
            type=click.IntRange(0),
            default=0,
            help="Iterations of a plain HMM in between.",
        ),
        click.option(
            "--ibm1-iterations",
            type=click.IntRange(0, MOST_ITERATIONS),
            help="Iterations of Model 1 to begin with.  [default: 5, or 0 with --init]",
        ),
        click.option(
            "--iterations",
            type=click.IntRange(0, MOST_ITERATIONS),
            help=f"Iterations of the model.  {by_model}",
        ),
        click.option("--init", metavar="MODEL", help="Start from a model, for example of `aligner ibm1`."),
        views,
        click.option(
            "--model", type=click.Choice(list(MODELS)), metavar=names, default="shmm", help="What is trained."
        ),
    ):
        command = add(command)
    return command


def _size(_: click.Context, __: click.Parameter, text: str) -> int:
    """Bytes: a number with K, M, G or T after it, or nothing."""
    if not (match := re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B?", text.upper())):
        raise click.BadParameter(f"{text!r} is no size, as 500M or 4G are.")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2] or " "))


def memory(command: F) -> F:
    return click.option(
        "--memory",
        metavar="SIZE",
        default="1.5G",
        callback=_size,
        help="For the cells of sentence pairs, 4 bytes each; what does not fit is looked up again.",
    )(command)


def train(
    *,
    src: str,
    tgt: str | None,
    layout: str | None,
    encoding: str,
    lowercase: bool,
    model: str,
    views: tuple[str, ...] | None,
    fast: bool,
    threads: int,
    quiet: bool,
    log_json: str | None,
    init: str | None = None,
    ibm1_iterations: int | None = None,
    window: int | None = None,
    dev_src: str | None = None,
    dev_tgt: str | None = None,
    dev_gold: str | None = None,
    memory: int = 0,
    **settings: Any,
) -> tuple[Corpus, Model]:
    """What the options of corpus_arguments, recipe and threads ask for: the corpus, and a model of it."""
    from aligner import em
    from aligner.corpus import read_corpus
    from aligner.formats import LinkReader
    from aligner.model import Model
    from aligner.recipe import Recipe

    if fast and views is not None:
        raise click.UsageError("--fast is --views word: give one of them.")
    development = [path for path in (dev_src, dev_tgt, dev_gold) if path is not None]
    if len(development) in (1, 2):
        raise click.UsageError("--dev-src, --dev-tgt and --dev-gold go together.")
    check_layout(tgt, layout)
    one_stdin(src, tgt or "", *development)
    first = None if init is None else Model.load(init, check=True)
    if first is not None:
        window = window or first.views[0].parameters.window
        ibm1_iterations = ibm1_iterations or 0
        views = ("word",) if fast else views or tuple(view.name for view in first.views)
        if lowercase != first.facts.get("lowercase", False):
            raise click.UsageError(
                f"{init} was trained {'without' if lowercase else 'with'} --lowercase: do the same here."
            )
    views = ("word",) if fast else views
    with contextlib.nullcontext() if log_json is None else open(log_json, "w") as log:
        reading: dict[str, Any] = {"encoding": encoding, "lowercase": lowercase}
        dev = None
        if dev_src is not None and dev_gold is not None:
            text = read_corpus(dev_src, dev_tgt, **reading)
            dev = em.Development(text, LinkReader(dev_gold, text=text).read())
        try:
            recipe = Recipe.of(model, views=views, window=window, ibm1_iterations=ibm1_iterations, **settings)
        except ValueError as error:
            raise click.UsageError(f"{error}.") from None
        corpus = read_corpus(src, tgt, layout=layout, **reading)
        trained = em.train(
            corpus,
            recipe,
            init=first,
            development=dev,
            n_threads=threads,
            quiet=quiet,
            log=log,
            facts={"src": src, "tgt": tgt, "lowercase": lowercase},
            memory=memory,
        )
    return corpus, trained
