"""aligner info"""

from __future__ import annotations

import click


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

    from aligner.em import describe
    from aligner.model import Model

    trained = Model.load(model)
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
        click.echo(json.dumps(whole, indent=1))
        return
    inference = recipe.pop("inference")
    limits = {name: inference[name] for name in ("eta", "slack", "max_calls")}
    recipe |= {"views": ",".join(recipe["views"]), "direction": trained.recipe.direction}
    if trained.recipe.inference.constraint != "none":
        recipe |= {"constraint": trained.recipe.inference.constraint, **limits}
    for key, value in (*trained.facts.items(), *recipe.items()):
        click.echo(f"{key:<18} {value}")
    for size in sizes:
        for key, value in size.items():
            click.echo(f"{key:<18} {value}")
    for entry in trained.history:
        click.echo(describe(entry))
