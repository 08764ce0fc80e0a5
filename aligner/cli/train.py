"""aligner train"""

from __future__ import annotations

from typing import Any

import click

from aligner.cli import options
from aligner.recipe import DIRECTIONS, MODELS


@click.command("train")
@options.corpus_arguments
@options.model_output
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="both",
    help="Train p(tgt | src), p(src | tgt) or both (ibm1 and hmm).",
)
@options.recipe
@options.threads
@options.documented("Models:", MODELS)
def command(output: str, overwrite: bool, **training: Any) -> None:
    """Train a model on a corpus, both directions at once, and keep it in a file.

    SRC and TGT as for `aligner align`. Training begins with Model 1, or with the model of --init.

    Models:

    \b
    Example:
      aligner train data/generated.src data/generated.tgt -o generated.model
      aligner decode generated.model data/generated.src data/generated.tgt > links
    """
    named = {"-o": output, "--log-json": training["log_json"]}
    options.check_outputs(named, options.inputs(training), overwrite, output)
    _, model = options.train(**training)
    model.save(output, overwrite)
