"""--system: a way to have scored links of a model (decoding/tuned.py)."""

from __future__ import annotations

from collections.abc import Callable

import click

from aligner.cli.options import F
from aligner.decoding.model import Model
from aligner.decoding.tuned import SYSTEMS


def option(what: str) -> Callable[[F], F]:
    """what: is chosen, for the help"""
    default = "[default: soft-union; of a model of one direction, that]"
    return click.option("--system", type=click.Choice(SYSTEMS), help=f"{what}  {default}")


def system_of(model: Model, path: str, given: str | None) -> str:
    """The system that is given, or the default. Refuses a direction that the model does not have."""
    direction = model.recipe.direction
    check_direction(model, path, given)
    return given or ("soft-union" if direction == "both" else direction)


def check_direction(model: Model, path: str, given: str | None) -> None:
    """Refuses a direction, or a system, that the model was not trained in."""
    direction = model.recipe.direction
    if direction != "both" and given not in (None, direction):
        raise click.UsageError(f"{path} was trained {direction} only.")
