"""aligner ibm1"""

from __future__ import annotations

from typing import Any

import click

from aligner.cli import options


@click.command("ibm1")
@options.corpus_arguments
@options.model_output
@click.option("--iterations", type=click.IntRange(1), default=5, help="Iterations.")
@click.option("--agree", "ibm1_agree", is_flag=True, help="Train on what the two directions agree on.")
@options.views
@click.option(
    "--max-length",
    type=click.IntRange(0),
    default=0,
    help="Do not train on pairs with a longer side; 0: on all.",
)
@options.progress
@options.threads
def command(output: str, overwrite: bool, **training: Any) -> None:
    """Train Model 1 on a corpus, both directions: translation probabilities without word order.

    It aligns as any model does, only worse; other models start from it with --init.

    \b
    Example:
      aligner ibm1 data/generated.src data/generated.tgt -o ibm1.model
      aligner train data/generated.src data/generated.tgt --model hmm --init ibm1.model -o hmm.model
    """
    named = {"-o": output, "--log-json": training["log_json"]}
    options.check_outputs(named, options.inputs(training), overwrite, output)
    _, model = options.train(model="ibm1", **training)
    model.save(output, overwrite)
