"""aligner info"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from aligner.models.model import Model


@click.command("info")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(model: str, as_json: bool) -> None:
    """Say what a model was trained on and how, its sizes, and how training went.

    \b
    Example:
      aligner info generated.model
    """
    import json
    from dataclasses import asdict

    from aligner.files import open_output
    from aligner.models.model import Model

    trained = Model.load(model, check=True)
    sizes = [
        {
            "view": view.name,
            "source vocabulary": len(view.src),
            "target vocabulary": len(view.tgt),
            "word pairs": len(view.parameters.tgt),
        }
        for view in trained.views
    ]
    recipe = asdict(trained.recipe)
    if as_json:
        whole = {"facts": trained.facts, "recipe": recipe, "views": sizes, "history": trained.history}
        lines = [json.dumps(whole, indent=1)]
    else:
        lines = _describe(trained, recipe, sizes)
    with open_output("-") as out:
        out.write("".join(line + "\n" for line in lines).encode())


def _describe(trained: Model, recipe: dict[str, Any], sizes: list[dict[str, Any]]) -> list[str]:
    from aligner.training.loop import describe

    inference = recipe.pop("inference")
    limits = {name: inference[name] for name in ("eta", "slack", "max_calls")}
    recipe |= {"views": ",".join(recipe["views"]), "direction": trained.recipe.direction}
    if trained.recipe.inference.constraint != "none":
        recipe |= {"constraint": trained.recipe.inference.constraint, **limits}
    facts = [*trained.facts.items(), *recipe.items(), *(item for size in sizes for item in size.items())]
    return [f"{key:<18} {value}" for key, value in facts] + [describe(entry) for entry in trained.history]
