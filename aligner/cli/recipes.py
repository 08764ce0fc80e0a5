"""The options of a recipe, and the recipe that they ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from aligner.cli import known, options
from aligner.cli.options import F
from aligner.models.kinds import CHAINS, CONSTRAINTS, DEFAULT, HMMS, LOO, MODELS, SKIPPING, SMOOTHING
from aligner.models.recipe import Recipe
from aligner.models.settings import SETTINGS, UnusedSetting
from aligner.models.steps import AGREEING, NAMES, Step, parse_stages
from aligner.text.views import HELP, parse_views

# settings whose option has another name
OPTIONS = {"max_calls": "--max-projection-calls"}


def option_of(setting: str) -> str:
    """The option that sets a setting."""
    return OPTIONS.get(setting, "--" + setting.replace("_", "-"))


def settings(names: Iterable[str], model: str | None = None) -> Callable[[F], F]:
    """The options of some of the recipe's settings: bounds, defaults and help are those of SETTINGS.

    model: the only model that the command trains
    """

    def add(command: F) -> F:
        for name in reversed(list(names)):
            setting = SETTINGS[name]
            default = "by model" if setting.default is None else f"{setting.default:g}"
            if model is not None and name == "iterations":
                default = str(MODELS[model].iterations)
            users = "" if model or setting.models == tuple(MODELS) else f"{', '.join(setting.models)}; "
            bounds = setting.least, setting.most
            kind: click.ParamType[Any] = options.Share(*bounds)
            if setting.whole:
                kind = click.IntRange(int(setting.least), int(setting.most))
            elif setting.word is not None:
                kind = options.NumberOrWord(*bounds, setting.word)
            text = f"{setting.help}  [{users}default: {default}]"
            if setting.word is not None:  # click tells the bounds of numbers only
                text += f"  [{setting.least:g}<=x<={setting.most:g}]"
            command = click.option(option_of(name), name, type=kind, help=text)(command)
        return command

    return add


def _known_views(_: click.Context, __: click.Parameter, names: str | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    views = tuple(name.strip() for name in names.split(","))
    try:
        parse_views(views)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None
    return views


def _stages(_: click.Context, __: click.Parameter, text: str | None) -> tuple[Step, ...] | None:
    if text is None:
        return None
    try:
        return parse_stages(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


def _model(ctx: click.Context, _: click.Parameter, name: str | None) -> str:
    """The model that is named, or that of the last stage."""
    stages = ctx.params["stages"]
    if stages is None:
        return name or DEFAULT
    if name not in (None, stages[-1].model):
        raise click.UsageError(f"--model is {name}, and the last of --stages is of {stages[-1].model}.")
    return str(stages[-1].model)


def views(command: F) -> F:
    for add in (
        click.option("--fast", is_flag=True, help="One view only: quicker, less accurate."),
        click.option(
            "--views",
            metavar="LIST",
            callback=_known_views,
            help=f"What is seen of words, as a list of {HELP}.  [default:"
            f" {','.join(MODELS[DEFAULT].views)} for {DEFAULT},"
            f" {','.join(MODELS['hmm'].views)} for other models]",
        ),
    ):
        command = add(command)
    return command


def chain(command: F) -> F:
    """--chain: what decoding makes of the words of a sentence."""
    return click.option(
        "--chain",
        type=click.Choice(CHAINS),
        help="What text is decoded by: the HMM that has the model's translations and skips, or the product of"
        f" the model's terms, which are of two neighbours each.  [{', '.join(SKIPPING)}; default: hmm]",
    )(command)


def models(command: F) -> F:
    """Which model is trained, and of what."""
    for add in (
        views,
        click.option(
            "--stages",
            metavar="LIST",
            is_eager=True,
            callback=_stages,
            help="Train stage by stage, for example ibm1:5,hmm:2,shmm:2: names of models, each with a number"
            f" of iterations. There are, too, {', '.join(name for name in NAMES if name not in MODELS)}.",
        ),
        click.option(
            "--model",
            type=click.Choice(list(MODELS)),
            metavar="|".join(MODELS),
            callback=_model,
            help=f"The model to train, one of those above.  [default: {DEFAULT}, or that of the last stage]",
        ),
    ):
        command = add(command)
    return command


def training_settings(command: F) -> F:
    """Settings of a recipe. One that is not given has the model's default."""
    smooth = ", ".join(f"{kind.skips.smooth} for {name}" for name, kind in MODELS.items() if kind.skips)
    for add in (
        settings(["identical", "p0", "tension", "window", "dirichlet", "max_length", "prune"]),
        chain,
        click.option(
            "--smooth",
            type=click.Choice(SMOOTHING),
            help="Maximise the mean of the model's objective and of the log-likelihood of Model 1, or of"
            f" Model 2 with the same --tension.  [default: {smooth}]",
        ),
        settings(["skip", "skip_centre"]),
        click.option(
            "--class-files",
            nargs=2,
            metavar="SRC_CLASSES TGT_CLASSES",
            help="Take the classes of words from two files of mkcls or `aligner classes`.  "
            f"[{', '.join(HMMS)}; default: --classes]",
        ),
        settings(["classes"]),
        settings(["left_out", "smoothing", "evenness", "spelling", "eta", "slack", "max_calls"]),
        click.option(
            "--constraint",
            type=click.Choice([*CONSTRAINTS, "none"]),
            help=f"What posteriors are projected onto.  [{', '.join(LOO)}; default: symmetric]",
        ),
        click.option(
            "--agree/--no-agree",
            default=None,
            help=f"Train {', '.join(AGREEING)} on what the two directions agree on; of an HMM, the Model 1"
            " that it begins with.  [default: by model]",
        ),
        settings(["iterations", "ibm1_iterations", "hmm_iterations"]),
    ):
        command = add(command)
    return command


def alone(command: F) -> F:
    """The options of a recipe for a training that reads its text and no other."""
    return models(training_settings(command))


def option(command: F) -> F:
    """All options of a recipe."""
    for add in (
        known.option,
        click.option("--dev-gold", metavar="FILE", help="Gold links of the development text."),
        click.option("--dev-tgt", metavar="FILE", help="Target side of the development text."),
        click.option(
            "--dev-src",
            metavar="FILE",
            help="Source side of a development text: stop when the area under its precision-recall curve no"
            " longer grows, and keep the best iteration.",
        ),
        training_settings,
        click.option(
            "--init",
            metavar="MODEL",
            help="Start from a model, for example of `aligner ibm1`; its views are trained.",
        ),
        click.option(
            "--prior-weight",
            type=options.Share(0, 1e6),
            help="How often the counts of --prior or --dictionary are added; 0 is none.  [default: 1]",
        ),
        click.option(
            "--dictionary",
            metavar="FILE",
            help="Count the word pairs of a dictionary as links that were seen: a line is a source word, a"
            " target word and perhaps a number of times, with tabs or blanks between.",
        ),
        click.option(
            "--prior",
            metavar="FILE",
            help="Add the counts of a model, or the LEX lines of eflomal's priors, to those of the text, so"
            " that chunks of a large text share what a sample taught. The model's views are trained. Sentence"
            " pairs that a loo model was trained on count once; other models count as much as the text.",
        ),
        models,
    ):
        command = add(command)
    return command


def recipe_of(model: str, **settings: Any) -> Recipe:
    """The recipe of a model. What the model cannot have is called by its option."""
    try:
        return Recipe.of(model, **settings)
    except UnusedSetting as error:
        raise click.UsageError(f"{option_of(error.setting)} is not for {error.by}.") from None
    except ValueError as error:
        raise click.UsageError(f"{error}.") from None
