"""aligner train"""

from __future__ import annotations

from typing import Any

import click

from aligner.cli import on_cluster, options, recipes, training
from aligner.models.kinds import MODELS
from aligner.models.recipe import DIRECTIONS

# the models whose directions are trained each by itself
ALONE = [name for name, kind in MODELS.items() if kind.objective == "likelihood"]


@click.command("train")
@options.corpus_arguments
@training.model_output
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="both",
    help=f"Train one direction only ({', '.join(ALONE)}): forward is p(tgt | src), reverse is p(src | tgt).",
)
@recipes.option
@on_cluster.option("train")
@training.checkpoint
@training.progress
@training.memory
@options.threads
@options.documented("Models:", MODELS)
def command(cluster: str | None, **settings: Any) -> None:
    """Train a model on a corpus, both directions at once, and keep it in a file.

    SRC and TGT as for `aligner align`. Training begins with Model 1, or with the model of --init; that of
    diagonal and convex begins with the model itself.

    Models:

    \b
    Example:
      aligner train data/generated.src data/generated.tgt -o generated.model
      aligner decode generated.model data/generated.src data/generated.tgt > links
      aligner train corpus.src corpus.tgt --checkpoint run --resume --overwrite -o corpus.model
      aligner train data/generated.src data/generated.tgt -o generated.model --cluster local:2
    """
    if cluster is not None:
        on_cluster.check()
        settings["cluster"] = on_cluster.learner_on(cluster)
    training.train_model(**settings)
