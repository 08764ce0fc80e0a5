"""aligner ibm1"""

from __future__ import annotations

from typing import Any

import click

from aligner.cli import known, options, recipes, training


@click.command("ibm1")
@options.corpus_arguments
@training.model_output
@recipes.settings(["iterations", "identical", "dirichlet", "max_length"], model="ibm1")
@click.option("--agree", is_flag=True, help="Train on what the two directions agree on.")
@recipes.views
@known.option
@training.progress
@training.memory
@options.threads
def command(**settings: Any) -> None:
    """Train Model 1 on a corpus, both directions: translation probabilities without word order.

    Model 1 aligns as other models do, but worse. Other models can start from Model 1 with --init.

    \b
    Example:
      aligner ibm1 data/generated.src data/generated.tgt -o ibm1.model
      aligner train data/generated.src data/generated.tgt --model hmm --init ibm1.model -o hmm.model
    """
    training.train_model(model="ibm1", **settings)
