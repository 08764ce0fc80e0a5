"""Options of thresholds: --threshold, a number or a rule; --at-precision and --at-recall, of a tuned curve.

These exclude each other. Where none of them is given, Model.threshold_of says which threshold counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from aligner.cli import options
from aligner.cli.options import F
from aligner.decoding.combine import Decision
from aligner.decoding.model import Model
from aligner.decoding.threshold import MOST_PAIRS, RULES
from aligner.decoding.tuned import FACT, OTHER, SYSTEMS, threshold_at
from aligner.errors import DataError
from aligner.models.settings import SETTINGS
from aligner.text.corpus import Corpus


def option(command: F) -> F:
    setting = SETTINGS["threshold"]
    return click.option(
        "--threshold",
        type=options.NumberOrWord(setting.least, setting.most, *RULES),
        help=f"{setting.help} auto: that of the least expected AER; points: as many links as"
        f" best paths have; both of the text, or of {MOST_PAIRS:,} of its pairs.  [default: by model]",
    )(command)


def at(where: str) -> Callable[[F], F]:
    """--at-precision and --at-recall. where: for the help, of which text, or for what"""

    def add(command: F) -> F:
        for name, other in reversed(OTHER.items()):
            command = click.option(
                f"--at-{name}",
                type=options.Share(0, 1),
                metavar="SHARE",
                help=f"Take the threshold of the most {other} with at least this {name}, for example 0.95,"
                f" {where}.",
            )(command)
        return command

    return add


def wanted_of(at_precision: float | None, at_recall: float | None) -> tuple[str, float] | None:
    """(precision or recall, its least value) of --at-precision and --at-recall; None: neither is given."""
    if at_precision is not None:
        return "precision", at_precision
    return None if at_recall is None else ("recall", at_recall)


def number_of(given: str | float | None) -> float | None:
    """The number that is given; None for a rule, too."""
    return None if isinstance(given, str) else given


def check_combiner(combiner: str | None, given: str | float | None) -> None:
    """Refuses a rule beside --combiner. given: the value of --threshold"""
    if combiner is not None and isinstance(given, str):
        raise click.UsageError(f"--threshold {given} does not go with --combiner: give a number, or nothing.")


def limit_of(
    model: Model,
    path: str,
    direction: str,
    method: str,
    given: str | float | None,
    wanted: tuple[str, float] | None,
    as_tuned: bool,
) -> float:
    """The threshold of a run that has a trained model. A rule may find another one of the text.

    path      of the model
    given     the value of --threshold
    wanted    that of `wanted_of`
    as_tuned  whether links are of posteriors as tuning sees them
    """
    number = number_of(given) if wanted is None else of_curve(model, path, direction, method, wanted)
    return model.threshold_of(direction, method, number, tuned=as_tuned and given is None)


def check_wanted(viterbi: bool, project: str, rechained: bool, decode: str, dual: bool) -> None:
    """Refuses options that --at-precision and --at-recall do not go with.

    rechained: --chain is not the chain of the model
    """
    for given, name in (
        (viterbi, "--viterbi"),
        (project != "trained", "--project"),
        (rechained, "this --chain"),
        (decode != "threshold", "--decode"),
        (dual, "--symmetrize dual"),
    ):
        if given:
            raise click.UsageError(
                f"--at-precision and --at-recall do not go with {name}: tuning was without it."
            )


def of_curve(model: Model, path: str, direction: str, method: str, wanted: tuple[str, float]) -> float:
    """The threshold on the curve of a direction, or of two directions made one by a method."""
    system = method if direction == "both" else direction
    if system not in SYSTEMS:
        raise click.UsageError(
            f"--at-precision and --at-recall are for soft-union and product, not {method}."
        )
    if FACT not in model.facts:
        raise DataError(
            "the model keeps no curve of precision and recall",
            file=path,
            hint="make one from gold links with `aligner tune --store`",
        )
    return threshold_at(model.facts[FACT], system, *wanted, name=path)


def check_found(model: Model, path: str, direction: str, method: str) -> None:
    """Refuses auto for a stream where training found no threshold of such links."""
    if (direction, method) == ("both", "product"):
        what = "training finds none for product"
    elif model.recipe.threshold is not None:
        what = f"the training of {path} found none"
    else:
        return
    raise click.UsageError(
        f"--threshold auto of a stream is what training found, and {what}:"
        " give two files, SRC and TGT, or a number."
    )


def found(
    rule: str | float | None,
    model: Model,
    corpus: Corpus,
    how: Decision,
    say: Callable[[str], None] | None = options.tell,
    **settings: Any,
) -> Decision:
    """The decision with the threshold that a rule finds, and tells. Without a rule, the decision as it is.

    say: how the threshold is told; None: not at all. settings: those of decoding.threshold.find
    """
    if not isinstance(rule, str):
        return how
    number, aer = model.find_threshold(rule, corpus, how, **settings)
    if say is not None:
        expected = "" if aer is None else f", expected AER {100 * aer:.1f}"
        say(f"threshold {number:g} ({rule}){expected}")
    return replace(how, threshold=number)
