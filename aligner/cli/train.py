"""aligner train"""

from __future__ import annotations

from typing import Any

import click

from aligner.cli import options


@click.command("train")
@options.corpus_arguments
@click.option("-o", "--output", metavar="MODEL", required=True, help="Where to write the model.")
@click.option("--overwrite", is_flag=True, help="Replace MODEL if it exists.")
@options.recipe
@options.threads
def command(
    output: str,
    overwrite: bool,
    **training: Any,
) -> None:
    """Train Model 1 and the HMM on a corpus, both directions at once.

    \b
    Example:
      aligner train data/generated.src data/generated.tgt -o generated.model
      aligner decode generated.model data/generated.src data/generated.tgt > links
    """
    from aligner import modelfile
    from aligner.files import check_output

    check_output(output, overwrite)
    _, model, _ = options.train(**training)
    modelfile.save(model, output, overwrite)
