"""aligner decode"""

from __future__ import annotations

from typing import Any

import click

from aligner.cli import options, training
from aligner.decoding.combine import combine
from aligner.decoding.model import Model
from aligner.decoding.posteriors import directions
from aligner.files import open_output
from aligner.links.formats import format_links
from aligner.links.known import known_of
from aligner.links.symmetrize import METHODS
from aligner.models.recipe import DIRECTIONS
from aligner.text.reading import read_corpus, stream_corpus


@click.command("decode")
@click.argument("model")
@click.argument("src", default="-")
@click.argument("tgt", required=False)
@options.layout
@options.encoding
@click.option(
    "--method",
    type=click.Choice(["posterior", "viterbi"]),
    default="posterior",
    help="Take links by posterior probability, or take those of each direction's best path.",
)
@click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    help="forward: p(tgt | src); reverse: p(src | tgt); both: the two made one.  [default: as trained]",
)
@click.option(
    "--symmetrize",
    "combination",
    type=click.Choice(list(METHODS)),
    metavar="METHOD",
    help="How two directions become one.  [default: soft-union; of best paths grow-diag-final-and]",
)
@click.option(
    "--project/--no-project",
    default=True,
    help="Project posteriors onto the constraints that the model was trained with.",
)
@training.settings(["threshold"])
@training.known
@click.option("--scores", is_flag=True, help="Print `i-j:p`.")
@options.threads
@options.output
def command(
    model: str,
    src: str,
    tgt: str | None,
    layout: str | None,
    encoding: str,
    method: str,
    direction: str | None,
    combination: str | None,
    project: bool,
    threshold: float | None,
    given: str | None,
    exclude: str | None,
    known_base: int | None,
    known_format: str | None,
    scores: bool,
    threads: int,
    output: str,
    overwrite: bool,
) -> None:
    """Print links of any text with a trained model.

    SRC and TGT as for `aligner align`. The text need not be the text that MODEL was trained on; for
    that text the links are those of `aligner align`. Lines of stdin are answered as they come.

    \b
    Example:
      aligner decode generated.model data/generated.src data/generated.tgt
      aligner decode generated.model --direction forward --scores < corpus.both
    """
    viterbi = method == "viterbi"
    options.check_layout(tgt, layout)
    options.one_stdin(src, tgt or "", *(path for path in (given, exclude) if path))
    if tgt is None and (given or exclude):
        raise click.UsageError("--given and --exclude are for two files, SRC and TGT.")
    training.check_known(given, exclude, known_base, known_format, threshold)
    options.check_outputs({"-o": output}, (model, src, tgt, given, exclude), overwrite)
    trained = Model.load(model)
    trained.check_trained()
    trained_direction = trained.recipe.direction
    if direction is not None and trained_direction not in ("both", direction):
        raise click.UsageError(f"{model} was trained {trained_direction} only.")
    direction = direction or trained_direction
    if combination is not None and direction != "both":
        raise click.UsageError("--symmetrize is for both directions.")
    combination = combination or ("grow-diag-final-and" if viterbi else "soft-union")
    limit = trained.threshold if threshold is None else threshold
    if scores and direction == "both" and METHODS[combination].threshold is None:
        raise click.UsageError(f"--scores is for soft-union and product, not {combination}.")
    with open_output(output, overwrite) as out:
        reading: dict[str, Any] = {"encoding": encoding, "lowercase": trained.recipe.lowercase}
        if tgt is None:
            parts = stream_corpus(src, layout=layout, **reading)
        else:
            parts = iter([read_corpus(src, tgt, **reading)])
        for corpus in parts:
            known = known_of(
                training.read_known(given, exclude, known_base, known_format, corpus), None, corpus
            )
            for forward, reverse in directions(
                trained.views,
                trained.recipe,
                corpus,
                shares=trained.shares,
                known=known,
                viterbi=viterbi,
                project=project,
                n_threads=threads,
            ):
                links = combine(forward, reverse, direction, combination, limit)
                out.write(format_links(links.rounded(), "scored" if scores else "pharaoh"))
            out.flush()
