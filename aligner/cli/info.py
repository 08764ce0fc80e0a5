"""aligner info"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from aligner.cli import options
from aligner.cluster.due import due, n_steps
from aligner.decoding.model import Model
from aligner.decoding.tuned import FACT, SavedTuning
from aligner.models.diagonal import Diagonal
from aligner.models.positions import Positions
from aligner.models.table import Table
from aligner.training.monitor import describe


@click.command("info")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--steps-left", is_flag=True, help="Print only how many steps a training in jobs has left.")
@options.check
def command(model: str, as_json: bool, steps_left: bool, check: bool) -> None:
    """Say what a model was trained on and how, its sizes, and how training went.

    Of a training in jobs (`aligner shard`), also which step comes next.

    \b
    Example:
      aligner info generated.model
    """
    if as_json and steps_left:
        raise click.UsageError("--json and --steps-left do not go together.")
    trained = Model.load(model, check)
    step = None if trained.census is None else due(trained)
    left = 0 if step is None else n_steps(trained.recipe) - step.place(trained.recipe)
    if steps_left:
        options.show(f"{left}\n")
        return
    sizes = [
        {
            "view": view.name,
            "source vocabulary": len(view.src),
            "target vocabulary": len(view.tgt),
            "word pairs": len(view.parameters.lexicon.tgt),
            **_placed(view.parameters.positions),
        }
        for view in trained.views
    ]
    recipe = asdict(trained.recipe)
    if as_json:
        whole = {
            "signature": trained.signature,
            "facts": trained.facts,
            "progress": trained.progress,
            **({} if step is None else {"next": step.described(trained.recipe), "steps_left": left}),
            "recipe": recipe,
            "views": sizes,
            "history": trained.history,
        }
        lines = [json.dumps(whole, indent=1)]
    else:
        lines = _describe(trained, sizes, "" if step is None else step.described(trained.recipe))
    options.show("".join(line + "\n" for line in lines))


def _describe(trained: Model, sizes: list[dict[str, Any]], step: str) -> list[str]:
    """step: the next one of a training in jobs"""
    recipe = {key: value for key, value in trained.recipe.signature().items() if key not in trained.facts}
    facts = [(key, value) for key, value in trained.facts.items() if key != FACT]
    facts += [*_tuned(trained.facts[FACT]), *recipe.items()] if FACT in trained.facts else recipe.items()
    if trained.unfinished:
        facts.insert(0, ("not finished", trained.unfinished))
    if step:
        facts.insert(1, ("next", step))
    rows = [*facts, *(item for size in sizes for item in size.items())]
    lines = [f"{key:<18} {value}" for key, value in rows]
    return [f"{'signature':<18} {trained.signature}", *lines, *map(describe, trained.history)]


def _placed(positions: Positions | None) -> dict[str, Any]:
    """What is known of positions that a few numbers tell."""
    if isinstance(positions, Diagonal):
        forward, reverse = positions.tension.tolist()
        return {"tension forward": round(forward, 6), "tension reverse": round(reverse, 6)}
    return {"sizes in table": len(positions.sizes)} if isinstance(positions, Table) else {}


def _tuned(tuning: SavedTuning) -> list[tuple[str, Any]]:
    """What tuning found, a row a system."""
    rows: list[tuple[str, Any]] = [
        ("tuned", f"by {tuning['by']} on {tuning['pairs']} sentence pairs, gold links {tuning['gold']}")
    ]
    for name, system in tuning["systems"].items():
        own = "none" if system["threshold"] is None else f"{system['threshold']:g}"
        points = len(system["thresholds"])
        rows.append((f"tuned {name}", f"threshold {own}, area {100 * system['area']:.2f}, {points} points"))
    return rows
