"""Thresholds from the curve that a tuned model keeps: --at-precision and --at-recall."""

from __future__ import annotations

import click

from aligner.cli import options
from aligner.cli.options import F
from aligner.decoding.model import Model
from aligner.decoding.tuned import FACT, SYSTEMS, threshold_at
from aligner.errors import DataError


def at(command: F) -> F:
    for name, other in (("recall", "precision"), ("precision", "recall")):
        command = click.option(
            f"--at-{name}",
            type=options.Share(0, 1),
            metavar="SHARE",
            help=f"Take the threshold that gave the most {other} with at least this {name}, for example 0.95,"
            " on the text that `aligner tune --store` tuned the model on.",
        )(command)
    return command


def check(
    precision: float | None,
    recall: float | None,
    threshold: str | float | None,
    viterbi: bool,
    projected: bool,
    decode: str,
) -> None:
    """Refuses options that --at-precision and --at-recall do not go with. projected: not as trained"""
    if sum(x is not None for x in (precision, recall, threshold)) > 1:
        raise click.UsageError("--at-precision, --at-recall and --threshold exclude each other.")
    for given, option in (
        (viterbi, "--viterbi"),
        (projected, "--project"),
        (decode != "threshold", "--decode"),
    ):
        if given:
            raise click.UsageError(
                f"--at-precision and --at-recall do not go with {option}: tuning was without it."
            )


def threshold(
    model: Model, path: str, direction: str, method: str, precision: float | None, recall: float | None
) -> float:
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
    return threshold_at(model.facts[FACT], system, precision=precision, recall=recall)
