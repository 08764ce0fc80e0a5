"""--threshold: a number, or a rule that finds one without gold links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from aligner.cli import options
from aligner.cli.options import F
from aligner.decoding.combine import Decision
from aligner.decoding.model import Model
from aligner.decoding.threshold import MOST_PAIRS, RULES, find
from aligner.models.recipe import SETTINGS
from aligner.text.corpus import Corpus


class Threshold(click.ParamType):  # type: ignore[type-arg]
    """One of RULES, or a number between the bounds of the setting."""

    name = "|".join([*RULES, "NUMBER"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | float:
        setting = SETTINGS["threshold"]
        if value in RULES:
            return str(value)
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not setting.least <= number <= setting.most:
            between = f"a number between {setting.least:g} and {setting.most:g}"
            self.fail(f"{value!r} is neither {' nor '.join(RULES)} nor {between}.", param, ctx)
        return number


def option(command: F) -> F:
    return click.option(
        "--threshold",
        type=Threshold(),
        metavar=Threshold.name,
        help=f"{SETTINGS['threshold'].help} auto: that of the least expected AER; points: as many links as"
        f" best paths have; both of the text, or of {MOST_PAIRS:,} of its pairs.  [default: by model]",
    )(command)


def number_of(given: str | float | None) -> float | None:
    """The number that is given; None for a rule, too."""
    return None if isinstance(given, str) else given


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
    number, aer = find(rule, model.views, model.recipe, corpus, how, shares=model.shares, **settings)
    if say is not None:
        expected = "" if aer is None else f", expected AER {100 * aer:.1f}"
        say(f"threshold {number:g} ({rule}){expected}")
    return replace(how, threshold=number)
