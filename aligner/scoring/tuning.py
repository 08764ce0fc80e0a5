"""Thresholds chosen by gold links: a curve for each system of a model, its best point, what a model keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aligner.decoding.combine import Decision, combine
from aligner.decoding.model import Model
from aligner.decoding.tuned import MOST_POINTS, OTHER, SYSTEMS, SavedSystem, SavedTuning, reached
from aligner.errors import DataError
from aligner.links.links import Links
from aligner.scoring.curves import Curve
from aligner.scoring.evaluate import evaluate
from aligner.text.corpus import Corpus

STEPS = tuple(n / 20 for n in range(1, 20))  # the thresholds of the table over thresholds
HEAD = {"links": "links", "aer": "AER", "precision": "precision", "recall": "recall", "f1": "F1"}


@dataclass(frozen=True)
class Goal:
    """What a threshold is chosen for.

    by     one of CRITERIA (scoring/curves.py)
    alpha  the weight of precision in F(alpha)
    least  None, or the least precision where the recall is to be best, and the other way round
    """

    by: str = "aer"
    alpha: float = 0.4
    least: float | None = None

    @classmethod
    def at(cls, given: str, least: float, alpha: float = 0.4) -> Goal:
        """The most recall with at least a precision, or the most precision with at least a recall."""
        return cls(OTHER[given], alpha, least)

    def choose(self, curve: Curve) -> int | None:
        """The point of a curve; None if no point has what is wanted."""
        if len(curve) == 0:
            return None
        return curve.best(self.by, self.alpha) if self.least is None else curve.at(OTHER[self.by], self.least)

    def reach(self, curve: Curve, name: str) -> int:
        """The point of a curve. Refuses a curve that has none. name: whose curve it is, for the message"""
        if (at := self.choose(curve)) is not None:
            return at
        if self.least is None or len(curve) == 0:
            raise DataError(f"{name} has no links, and so no best threshold")
        given = OTHER[self.by]
        best = float(np.max(getattr(curve, given)))
        raise DataError(
            f"{name} never has {given} {self.least:g}", hint=f"its best {given} is {reached(best)}"
        )

    def __str__(self) -> str:
        if self.least is not None:
            return f"{self.by} at {OTHER[self.by]} {self.least:g}"
        return {"aer": "AER", "f1": "F1", "f-alpha": f"F({self.alpha:g})"}.get(self.by, self.by)


def system_links(
    model: Model, corpus: Corpus, n_threads: int = 1, name: str = "the model"
) -> dict[str, Links]:
    """system -> the links of a text with their scores, all that are above the cutoff, as files have them.

    Warns if the model does not know most words of a side. name: what the warning calls the model
    """
    seen = model.seen(corpus.bounded(), name)
    blocks = list(model.directions(corpus, seen=seen, n_threads=n_threads))
    forward, reverse = (Links.joined(block[k] for block in blocks) for k in range(2))
    found = {"forward": forward, "reverse": reverse}
    if model.recipe.direction == "both":
        found |= {x: combine(forward, reverse, Decision(0.0, method=x)) for x in ("soft-union", "product")}
    wanted = SYSTEMS if model.recipe.direction == "both" else (model.recipe.direction,)
    return {system: found[system].rounded() for system in wanted}


@dataclass(frozen=True, eq=False)
class Tuning:
    """A model's systems against gold links.

    gold     names the gold links, as the signature of a score does
    pairs    sentence pairs of the development text
    curves   system -> its curve
    chosen   system -> the point that the goal chooses; None: it has none
    """

    goal: Goal
    gold: str
    pairs: int
    curves: Mapping[str, Curve]
    chosen: Mapping[str, int | None]

    @classmethod
    def of(cls, model: Model, corpus: Corpus, gold: Links, goal: Goal, n_threads: int = 1) -> Tuning:
        """Tunes a model on a text and its gold links, which match line by line."""
        if gold.n_sure == 0:
            raise DataError(
                "there are no sure links among the gold links", hint="recall is the share of these"
            )
        links = system_links(model, corpus, n_threads)
        curves = {system: Curve.of(found, gold) for system, found in links.items()}
        name = evaluate([], gold, n_samples=0).gold_hash
        chosen = {system: goal.choose(curve) for system, curve in curves.items()}
        return cls(goal, name, len(gold), curves, chosen)

    def kept(self) -> SavedTuning:
        """What a model keeps: of each system the best threshold, and the points that no other beats."""
        systems: dict[str, SavedSystem] = {}
        for system, curve in self.curves.items():
            if len(curve) == 0:
                raise DataError(f"{system} finds no links in the development text", hint="take more text")
            at, best = curve.thinned(MOST_POINTS, curve.front()), self.chosen[system]
            systems[system] = {
                "area": curve.area,
                "threshold": None if best is None else float(curve.thresholds[best]),
                "thresholds": curve.thresholds[at].tolist(),
                "precision": curve.precision[at].tolist(),
                "recall": curve.recall[at].tolist(),
            }
        return {"gold": self.gold, "pairs": self.pairs, "by": str(self.goal), "systems": systems}

    def as_text(self, system: str) -> str:
        """A row a system at its best threshold, then a row a threshold of one system, in percent."""
        shown = ["threshold", *HEAD, "f_alpha"]
        labels = ["threshold", *HEAD.values(), f"F({self.goal.alpha:g})"]
        rows = [["system", "area", *labels]]
        for name, curve in self.curves.items():
            rows.append([name, f"{100 * curve.area:.2f}", *_cells(self._row(name), shown)])
        table = [labels, *(_cells(row, shown) for row in self._steps(system))]
        head = [f"best by {self.goal}:", *_aligned(rows), "", f"{system}, all thresholds:", *_aligned(table)]
        return "".join(f"{line}\n" for line in head)

    def as_json(self, system: str) -> str:
        """The same for programs: shares between 0 and 1."""
        steps = self._steps(system)
        best = {name: {"area": one.area, **self._row(name)} for name, one in self.curves.items()}
        whole = {"gold": self.gold, "pairs": self.pairs, "by": str(self.goal), "alpha": self.goal.alpha}
        return json.dumps({**whole, "systems": best, "system": system, "thresholds": steps}, indent=1) + "\n"

    def _steps(self, system: str) -> list[dict[str, Any]]:
        """The thresholds of STEPS, and a system's links there."""
        curve = self.curves[system]
        return [{"threshold": t, **curve.row(curve.above(t), self.goal.alpha)} for t in STEPS]

    def _row(self, system: str) -> dict[str, Any]:
        """The threshold of a system, and its links there; empty if the goal has no point there."""
        curve, at = self.curves[system], self.chosen[system]
        if at is None:
            return {}
        return {"threshold": float(curve.thresholds[at]), **curve.row(at, self.goal.alpha)}


def _cells(row: Mapping[str, Any], names: list[str]) -> list[str]:
    """Numbers as text: counts and thresholds as they are, shares in percent; - where there is none."""

    def cell(name: str) -> str:
        if name not in row:
            return "-"
        if name == "links":
            return str(row[name])
        return f"{row[name]:g}" if name == "threshold" else f"{100 * row[name]:.2f}"

    return [cell(name) for name in names]


def _aligned(rows: list[list[str]]) -> list[str]:
    """Lines of columns. Numbers stand at the right, names of rows at the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = 1 if rows[0][0] == "system" else 0
    return [
        "  ".join(
            cell.ljust(w) if k < left else cell.rjust(w)
            for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
