"""What commands that train have in common: options of a recipe, and the training itself."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from aligner.cli import options
from aligner.cli.options import F
from aligner.models.recipe import MODELS, MOST_ITERATIONS
from aligner.text.views import HELP, parse_views

if TYPE_CHECKING:
    from aligner.models.model import Model
    from aligner.text.corpus import Corpus


def model_output(command: F) -> F:
    """-o and --overwrite of a command that makes a model."""
    command = click.option("--overwrite", is_flag=True, help="Replace MODEL if it exists.")(command)
    return click.option("-o", "--output", metavar="MODEL", required=True, help="Where to write the model.")(
        command
    )


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


def max_length(command: F) -> F:
    return click.option(
        "--max-length",
        type=click.IntRange(0),
        default=0,
        help="Do not train on pairs with a longer side; 0: on all.",
    )(command)


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
        click.option(
            "--slack", type=options.Share(0), help=f"How far constraints may be off, in all.  {by_model}"
        ),
        click.option(
            "--eta", type=options.Share(1e-9), help=f"How exactly constraints are fulfilled.  {by_model}"
        ),
        max_length,
        click.option(
            "--window",
            type=click.IntRange(1, 17),
            help="Jumps as far share one probability.  [default: 5, or that of --init]",
        ),
        click.option("--p0", type=options.Share(1e-6, 0.999), help=f"Probability of NULL.  {by_model}"),
        click.option(
            "--agree/--no-agree",
            "ibm1_agree",
            default=None,
            help=f"Train Model 1 on what its two directions agree on.  {by_model}",
        ),
        click.option(
            "--identical",
            type=options.Share(1e-3, 1e6),
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


def inputs(training: Mapping[str, Any]) -> list[str | None]:
    """The files that training reads, but for the model it starts from, which it may replace."""
    return [training.get(name) for name in ("src", "tgt", "dev_src", "dev_tgt", "dev_gold")]


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
    from aligner.links.formats import LinkReader
    from aligner.models.model import Model
    from aligner.models.recipe import Recipe
    from aligner.text.reading import read_corpus
    from aligner.training import loop

    if fast and views is not None:
        raise click.UsageError("--fast is --views word: give one of them.")
    development = [path for path in (dev_src, dev_tgt, dev_gold) if path is not None]
    if len(development) in (1, 2):
        raise click.UsageError("--dev-src, --dev-tgt and --dev-gold go together.")
    options.check_layout(tgt, layout)
    options.one_stdin(src, tgt or "", *development)
    views = ("word",) if fast else views
    first = None if init is None else Model.load(init, check=True)
    if first is not None:
        window = window or first.views[0].parameters.window
        ibm1_iterations = ibm1_iterations or 0
        views = views or tuple(view.name for view in first.views)
        if lowercase != first.facts.get("lowercase", False):
            raise click.UsageError(
                f"{init} was trained {'without' if lowercase else 'with'} --lowercase: do the same here."
            )
    with contextlib.nullcontext() if log_json is None else open(log_json, "w") as log:
        reading: dict[str, Any] = {"encoding": encoding, "lowercase": lowercase}
        dev = None
        if dev_src is not None and dev_gold is not None:
            text = read_corpus(dev_src, dev_tgt, **reading)
            dev = loop.Development(text, LinkReader(dev_gold, text=text).read())
        try:
            recipe = Recipe.of(model, views=views, window=window, ibm1_iterations=ibm1_iterations, **settings)
        except ValueError as error:
            raise click.UsageError(f"{error}.") from None
        corpus = read_corpus(src, tgt, layout=layout, **reading)
        trained = loop.train(
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
