"""Which step of a training in jobs comes next.

A step goes through all shards of the text, one job each, and ends with one job that brings together what
they found. Each view has a step that numbers its word pairs, then its iterations by itself. The iterations of
all views together follow. The last step of some models decodes a sample of the text to find the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

from aligner.decoding.model import Model
from aligner.models.recipe import Recipe
from aligner.models.stage import Stage
from aligner.text.views import describe_view

NUMBER, ITERATE, DECIDE = "number", "iterate", "decide"


@dataclass(frozen=True)
class Due:
    """A step of a training.

    kind       NUMBER, ITERATE or DECIDE
    view       which view; -1: all of them
    iteration  the place of the iteration in the recipe's schedule
    """

    kind: str
    view: int = -1
    iteration: int = 0

    def stage(self, recipe: Recipe) -> Stage:
        """The stage that positions are those of."""
        return recipe.schedule[self.iteration] if self.kind == ITERATE else recipe.last

    def place(self, recipe: Recipe) -> int:
        """How many steps come before this one."""
        if self.kind == DECIDE:
            return n_steps(recipe) - 1
        if self.kind == NUMBER:
            return self.view * (1 + recipe.apart)
        if self.view >= 0:
            return self.view * (1 + recipe.apart) + 1 + self.iteration
        return len(recipe.views) * (1 + recipe.apart) + self.iteration - recipe.apart

    def described(self, recipe: Recipe) -> str:
        """The step for people: `step 3 of 21, iteration 2 of ibm1, view 1 of 3 (words)`."""
        said = [f"step {self.place(recipe) + 1} of {n_steps(recipe)}"]
        if self.kind == ITERATE:
            stage = self.stage(recipe)
            same = [n for n, other in enumerate(recipe.schedule) if other.name == stage.name]
            said.append(f"iteration {self.iteration - same[0] + 1} of {len(same)} of {stage.name}")
        else:
            said.append({NUMBER: "numbering word pairs", DECIDE: "finding the threshold"}[self.kind])
        if self.view >= 0:
            said.append(
                f"view {self.view + 1} of {len(recipe.views)} ({describe_view(recipe.views[self.view])})"
            )
        return ", ".join(said)


def n_steps(recipe: Recipe) -> int:
    """How many steps a training has."""
    alone = len(recipe.views) * (1 + recipe.apart)
    return alone + recipe.n_iterations - recipe.apart + decides(recipe)


def decides(recipe: Recipe) -> bool:
    """Whether text is decoded to find the threshold."""
    return recipe.threshold is None and not recipe.last.together


def due(model: Model) -> Due | None:
    """The next step; None: there is none left."""
    recipe, n_views = model.recipe, len(model.views)
    if model.progress is None:
        return None
    done = int(model.progress["iterations"])
    if n_views and done < recipe.apart:
        return Due(ITERATE, n_views - 1, done)
    if n_views < len(recipe.views):
        return Due(NUMBER, n_views)
    if done < recipe.n_iterations:
        return Due(ITERATE, -1, done)
    return Due(DECIDE) if decides(recipe) else None
