"""--combiner: links are scored by what `aligner learn` has learned from labelled sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from aligner.cli import options
from aligner.cli.options import F
from aligner.cli.training import Learner
from aligner.decoding.model import Model
from aligner.learning.combiner import Combiner, name_of
from aligner.learning.structure import require
from aligner.models.recipe import Recipe
from aligner.text.corpus import Corpus


def option(command: F) -> F:
    return click.option(
        "--combiner",
        metavar="FILE",
        help="Score links by what `aligner learn` has learned from labelled sentences, for a model with the"
        " same views: a model that is trained has them by default. The threshold is the combiner's, unless"
        " --threshold gives a number.",
    )(command)


def check(path: str | None, **others: Any) -> None:
    """Refuses options that a combiner takes the place of. others: options and what they are, if given"""
    if path is None:
        return
    for name, value in others.items():
        if value is not None and value is not False:
            raise click.UsageError(f"--{name.replace('_', '-')} does not go with --combiner.")


def read(path: str | None) -> Combiner | None:
    """The combiner of a file, if one is given. Refuses one that needs scipy where there is none."""
    if path is None:
        return None
    combiner = Combiner.load(path)
    if combiner.structured is not None and combiner.structured.solves_programs:
        require()
    return combiner


def check_model(
    combiner: Combiner, path: str, model: Model, name: str, tell: Callable[[str], None] = options.tell
) -> None:
    """Refuses a model of other views. Tells if the combiner was learned with another model."""
    combiner.check_recipe(model.recipe, name)
    if combiner.facts.get("model") != name_of(model):
        tell(f"{path} was learned with another model than {name}: scores may mean something else")


def checking(learner: Learner, combiner: Combiner | None) -> Learner:
    """The learner. It refuses a recipe of other views before it trains."""
    if combiner is None:
        return learner
    wanted = combiner

    def learn(corpus: Corpus, recipe: Recipe, **settings: Any) -> Any:
        wanted.check_recipe(recipe.settled(corpus), "this model")
        return learner(corpus, recipe, **settings)

    return learn
