"""aligner train"""

from __future__ import annotations

import contextlib

import click

from aligner.cli import options


@click.command("train")
@options.corpus_arguments
@click.option("-o", "--output", metavar="MODEL", required=True, help="Where to write the model.")
@click.option("--overwrite", is_flag=True, help="Replace MODEL if it exists.")
@options.recipe
@options.threads
def command(
    src: str,
    tgt: str | None,
    layout: str | None,
    encoding: str,
    lowercase: bool,
    output: str,
    overwrite: bool,
    iterations: int,
    ibm1_iterations: int,
    p0: float,
    window: int,
    max_length: int,
    quiet: bool,
    log_json: str | None,
    threads: int,
) -> None:
    """Train Model 1 and the HMM on a corpus, both directions at once.

    \b
    Example:
      aligner train data/generated.src data/generated.tgt -o generated.model
      aligner decode generated.model data/generated.src data/generated.tgt > links
    """
    from aligner import em, modelfile
    from aligner.corpus import read_corpus
    from aligner.files import check_output

    check_output(output, overwrite)
    with contextlib.ExitStack() as stack:
        log = None if log_json is None else stack.enter_context(open(log_json, "w"))
        corpus = read_corpus(src, tgt, encoding=encoding, lowercase=lowercase, layout=layout)
        recipe = em.Recipe(ibm1_iterations, iterations, p0, window, max_length)
        model, _ = em.train(
            corpus,
            recipe,
            n_threads=threads,
            quiet=quiet,
            log=log,
            settings={"src": src, "tgt": tgt, "lowercase": lowercase},
        )
        modelfile.save(model, output, overwrite)
