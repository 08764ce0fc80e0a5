"""aligner align"""

from __future__ import annotations

import contextlib
from typing import Any

import click

from aligner.cli import options, training
from aligner.decoding.combine import above, combine
from aligner.decoding.posteriors import directions
from aligner.files import open_output
from aligner.links.formats import format_links
from aligner.links.known import known_of
from aligner.links.symmetrize import METHODS
from aligner.models.recipe import MODELS


@click.command("align")
@options.corpus_arguments
@click.option(
    "--symmetrize",
    "method",
    type=click.Choice(list(METHODS)),
    metavar="METHOD",
    default="soft-union",
    help="How the two directions become one, see `aligner symmetrize --help`.",
)
@training.settings(["threshold"])
@click.option("--scores", is_flag=True, help="Print `i-j:p` (soft-union, product).")
@click.option("--forward", metavar="FILE", help="Write the links p(tgt | src) with their scores.")
@click.option("--reverse", metavar="FILE", help="Write the links p(src | tgt) with their scores.")
@click.option("--save", metavar="MODEL", help="Keep the model, for `aligner decode`.")
@training.recipe
@training.memory
@options.threads
@options.output
@options.documented("Models:", MODELS)
def command(
    method: str,
    scores: bool,
    forward: str | None,
    reverse: str | None,
    save: str | None,
    output: str,
    overwrite: bool,
    **settings: Any,
) -> None:
    """Align a corpus: train a model of it in both directions, and print links.

    SRC and TGT are two files, line by line; or SRC alone, a file or stdin of `source ||| target` or
    tab-separated lines. A sentence pair becomes a line of `i-j` links; the order stays. The defaults are the
    best we know.

    Models:

    \b
    Example:
      aligner align data/generated.src data/generated.tgt -o generated.links
      aligner align --lowercase --symmetrize grow-diag-final-and < corpus.both > links
    """
    if scores and METHODS[method].threshold is None:
        raise click.UsageError(f"--scores is for soft-union and product, not {method}.")
    named = {"-o": output, "--forward": forward, "--reverse": reverse, "--save": save}
    options.check_outputs(
        named | {"--log-json": settings["log_json"]}, training.inputs(settings), overwrite, save
    )
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(open_output(output, overwrite))
        files = [
            None if path is None else stack.enter_context(open_output(path, overwrite))
            for path in (forward, reverse)
        ]
        corpus, model, seen, known = training.train(run={"sym": method}, **settings)
        recipe = model.recipe
        if save is not None:
            model.save(save, overwrite)
        for links in directions(
            model.views,
            recipe,
            corpus,
            seen=seen,
            shares=model.shares,
            known=known_of(known, None, corpus),
            n_threads=settings["threads"],
        ):
            for side, one in zip(files, links, strict=True):
                if side is not None:
                    side.write(format_links(above(one, model.threshold).rounded(), "scored"))
            both = combine(*links, recipe.direction, method, model.threshold)
            out.write(format_links(both.rounded(), "scored" if scores else "pharaoh"))
