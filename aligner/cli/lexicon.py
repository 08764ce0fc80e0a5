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
    help="Leave out word pairs that are less probable than this in both directions.",
)
@click.option("--top", type=click.IntRange(0), default=0, help="Most translations per source word; 0: all.")
@click.option("--view", "name", metavar="VIEW", help="Which view's table.  [default: the first]")
def command(model: str, min_prob: float, top: int, name: str | None) -> None:
    """Print a model's translation table as TSV: source, target, t(target | source), t(source | target).

    Source words are in the order of their first occurrence, each with its best translation first.

    \b
    Example:
      aligner lexicon generated.model --top 3
    """
    views = {view.name: view for view in Model.load(model, check=True).views}
    name = name or next(iter(views))
    if name not in views:
        raise click.UsageError(f"{model} has no view {name}; it has {', '.join(views)}.")
    m, src, tgt = views[name].parameters.lexicon, views[name].src.words, views[name].tgt.words
    table = m.normalised()
    with open_output("-") as out:
        for e, word in enumerate(src):
            first, last = m.rows[e], m.rows[e + 1]
            t = table[first:last]
            order = np.argsort(-t[:, 0], kind="stable")
            order = order[(t[order] >= min_prob).any(axis=1)][: top or None]
            for k in order:
                f = tgt[m.tgt[first + k]]
                out.write(f"{word}\t{f}\t{t[k, 0]:.6g}\t{t[k, 1]:.6g}\n".encode())
