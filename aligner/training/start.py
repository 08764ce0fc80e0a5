"""How a training begins: the sentence pairs that it uses, a model without views, or one that goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner import __version__
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.models.parameters import View
from aligner.models.recipe import Recipe
from aligner.text.corpus import Corpus, text_hash
from aligner.text.known import NOTHING, Known
from aligner.training.prior import Prior

GIVEN = {  # beside a recipe: what a signature has checksums of, in words
    "text": "text",
    "known": "file of known links",
    "init": "model to start from",
    "prior": "prior",
    "dev": "development set",
    "class_files": "pair of class files",
}

logger = logging.getLogger(__name__)


def trained_on(corpus: Corpus, recipe: Recipe, known: Known = NOTHING) -> tuple[Corpus, Recipe, Known]:
    """The sentence pairs that are trained on, the recipe with their views, and what is known of their links.

    corpus: without what is too long
    """
    if recipe.max_length:
        keep = kept(corpus, recipe)
        corpus, known = corpus.select(keep), known.select(keep)
    if not ((corpus.src.lengths > 0) & (corpus.tgt.lengths > 0)).any():
        some = f" of at most {recipe.max_length} words a side" if recipe.max_length else ""
        logger.warning("there is nothing to learn from: no sentence pair%s has words on both sides", some)
    return corpus, recipe.settled(corpus), known


def kept(corpus: Corpus, recipe: Recipe) -> npt.NDArray[np.bool_]:
    """[S] which sentence pairs a recipe trains on"""
    if not recipe.max_length:
        return np.ones(len(corpus), dtype=bool)
    return np.asarray(np.maximum(corpus.src.lengths, corpus.tgt.lengths) <= recipe.max_length)


def begun(
    corpus: Corpus, recipe: Recipe, learned_from: Mapping[str, str], facts: Mapping[str, Any] | None
) -> Model:
    """A model without views: a training that has just begun.

    learned_from: checksums of what it learns from beside the text; empty ones are left out
    """
    size = {
        "version": __version__,
        "pairs": len(corpus),
        "tokens": [len(corpus.src.ids), len(corpus.tgt.ids)],
    }
    learned = {key: x for key, x in ({"text": text_hash(corpus)} | dict(learned_from)).items() if x}
    return Model(recipe, [], size | learned | dict(facts or {}))


def check_start(recipe: Recipe, init: Model | None) -> None:
    """Refuses a start from a model that is not finished, of other views, another direction or other words."""
    if init is None:
        return
    init.check_trained()
    known = ",".join(view.name for view in init.views)
    if known != ",".join(recipe.views):
        raise DataError(
            f"the model to start from has the views {known}, not {','.join(recipe.views)}",
            hint=f"train the views {known}",
        )
    init.check_text(recipe, "the model to start from")


def check_prior(recipe: Recipe, prior: Prior | None, init: Model | None) -> None:
    """Refuses a prior of other words, or beside what takes its place."""
    if prior is None:
        return
    if init is not None:
        raise DataError(
            "a training has a prior or a model to start from, not both", hint="give the prior alone"
        )
    if any(stage.dirichlet for stage in recipe.stages):
        raise DataError("a training has a prior of counts or a Dirichlet prior, not both", hint="give one")
    prior.check(recipe)


def resumed(old: Model, new: Model) -> Model:
    """The model as it was left; refuses another text or recipe."""
    if old.signature != new.signature or old.recipe != new.recipe:
        raise other_text(f"it had {'; '.join(_differences(old, new))}")
    if old.progress is not None and old.shares is not None and len(old.shares.keys) != new.facts["pairs"]:
        raise other_text(f"{len(old.shares.keys)} sentence pairs are left out, not {new.facts['pairs']}")
    views = [
        View(view.name, view.src, view.tgt, view.parameters.copied()) for view in old.views
    ]  # what is read from a file cannot be changed
    facts = dict(new.facts)
    if not old.unfinished and new.recipe.threshold is None:
        facts["threshold"] = old.facts["threshold"]
    return Model(new.recipe, views, facts, list(old.history), old.progress, old.shares)


def _differences(old: Model, new: Model) -> Iterator[str]:
    """What a training had that another one has not, in words."""
    was, now = (dict(part.split(":", 1) for part in model.signature.split("|")) for model in (old, new))
    for key in {**was, **now}:
        if was.get(key) != now.get(key) and key in GIVEN:
            yield f"{'no' if key not in was else 'a' if key not in now else 'another'} {GIVEN[key]}"
        elif was.get(key) != now.get(key):
            yield f"{key} {was.get(key, 'not set')}, not {now.get(key, 'not set')}"
    if was == now:
        kept, given = asdict(old.recipe), asdict(new.recipe)
        yield from (f"{key} {kept[key]}, not {given[key]}" for key in kept if kept[key] != given[key])


def other_text(what: str) -> DataError:
    return DataError(
        f"the training to go on with is of another text or recipe: {what}",
        hint="go on with the same, or start anew",
        setting="resume",
    )
