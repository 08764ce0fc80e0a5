"""aligner train"""

from __future__ import annotations

from typing import IO, Any

import click

from aligner.cli import options, recipes, training
from aligner.decoding.model import Model
from aligner.models.kinds import MODELS
from aligner.models.recipe import DIRECTIONS, Recipe
from aligner.text.cells import Seen
from aligner.text.classes import BothClasses
from aligner.text.corpus import Corpus
from aligner.training.progress import Progress

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
@click.option(
    "--cluster",
    metavar="ADDRESS|local:N",
    help="Train on the workers of Dask's scheduler at ADDRESS, or on N processes of this machine; the model"
    " is the same. A shard of the text has one thread, whatever --threads and --memory say. Not with"
    " --init, --prior, --dev-src, --given, --exclude and --checkpoint.",
)
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
    if cluster is None:
        training.train_model(**settings)
        return
    for name in ("init", "prior", "dev_src", "given", "exclude", "checkpoint"):
        if settings[name] is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} is not for --cluster.")
    try:
        from aligner.cluster.workers import connected, learn_on
    except ImportError as error:
        raise click.UsageError(f"--cluster needs Dask, which word-aligner[cluster] has ({error}).") from None

    with connected(cluster) as client:

        def learn(
            corpus: Corpus,
            recipe: Recipe,
            *,
            classes: BothClasses | None,
            progress: Progress | None,
            log: IO[str] | None,
            facts: dict[str, Any],
            **_: Any,
        ) -> tuple[Model, list[Seen | None]]:
            how: dict[str, Any] = {"classes": classes, "progress": progress, "log": log, "facts": facts}
            return learn_on(client, corpus, recipe, **how), []

        training.train_model(learner=learn, **settings)
