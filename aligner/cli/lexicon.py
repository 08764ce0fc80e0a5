"""aligner lexicon"""

from __future__ import annotations

import click
import numpy as np

from aligner.cli import options
from aligner.decoding.model import Model
from aligner.files import open_output


@click.command("lexicon")
@click.argument("model")
@click.option(
    "--min-prob",
    type=options.Share(0, 1),
    default=0.01,
    help="Leave out word pairs that are less probable than this in all directions of the model.",
)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=0,
    help="Print at most this many translations of a source word; 0: all.",
)
@click.option(
    "--view",
    "name",
    metavar="VIEW",
    help="The view whose table is printed, see `aligner info MODEL`.  [default: the first]",
)
def command(model: str, min_prob: float, top: int, name: str | None) -> None:
    """Print a model's translation table as TSV: source, target, t(target | source), t(source | target).

    Columns are separated by tabs; there is no header. t(target | source) is the probability that the source
    word is translated by the target word, t(source | target) the probability the other way round. A model of
    one direction has one of the two: the column of the other is empty. Source words are in the order of their
    first occurrence, each with its best translation first, by t(target | source) if the model has it.

    \b
    Example:
      aligner lexicon generated.model --top 3
    """
    trained = Model.load(model)
    views = {view.name: view for view in trained.views}
    name = name or next(iter(views))
    if name not in views:
        raise click.UsageError(f"{model} has no view {name}; it has {', '.join(views)}.")
    m, src, tgt = views[name].parameters.lexicon, views[name].src.words, views[name].tgt.words
    table = m.normalised()
    columns = [n for n, other in enumerate(("reverse", "forward")) if trained.recipe.direction != other]
    with open_output("-") as out:
        for e, word in enumerate(src):
            first, last = m.rows[e], m.rows[e + 1]
            t = table[first:last]
            order = np.argsort(-t[:, columns[0]], kind="stable")
            order = order[(t[order][:, columns] >= min_prob).any(axis=1)][: top or None]
            for k in order:
                fwd, rev = (f"{t[k, n]:.6g}" if n in columns else "" for n in range(2))
                out.write(f"{word}\t{tgt[m.tgt[first + k]]}\t{fwd}\t{rev}\n".encode())
