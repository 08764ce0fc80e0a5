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

    from aligner import modelfile

    trained = modelfile.load(model)
    sizes = [
        {
            "view": view.name,
            "source vocabulary": len(view.src),
            "target vocabulary": len(view.tgt),
            "word pairs": len(view.parameters.tgt),
        }
        for view in trained.views
    ]
    if as_json:
        whole = {"settings": trained.settings, "views": sizes, "history": trained.history}
        click.echo(json.dumps(whole, indent=1))
        return
    for key, value in (*trained.settings.items(), *(item for size in sizes for item in size.items())):
        click.echo(f"{key:<18} {value}")
    for entry in trained.history:
        forward, reverse = entry["perplexity"]
        click.echo(
            f"{entry['model']} {entry['iteration']}: perplexity {forward:.2f} forward, {reverse:.2f} reverse"
        )
