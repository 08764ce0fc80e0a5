"""aligner check"""

from __future__ import annotations

import logging

import click
import numpy as np
import numpy.typing as npt

from aligner.cli import options
from aligner.decoding.model import Model
from aligner.decoding.posteriors import known_words, unknown_words
from aligner.errors import DataError
from aligner.files import display_name
from aligner.links.formats import LinkReader
from aligner.text import doubts
from aligner.text.corpus import Corpus, shown


@click.command("check")
@click.argument("src", default="-", callback=options.not_from_terminal)
@click.argument("tgt", required=False)
@click.option("--links", metavar="LINKS", help="Links of the text, to be checked against it.")
@options.format("--from", "source", "links")
@options.base("--base", "base", "links")
@options.layout
@options.encoding
@options.split
@options.lowercase
@click.option("--model", metavar="MODEL", help="A model, to count the words that it does not know.")
def command(
    src: str,
    tgt: str | None,
    links: str | None,
    source: str | None,
    base: int | None,
    layout: str | None,
    vcb: tuple[str, str] | None,
    encoding: str,
    split: str,
    lowercase: bool,
    model: str | None,
) -> None:
    """Check that a corpus, and links of it, can be used; count what is there.

    Two files, line by line, or one with `source ||| target` (bars) or `source<TAB>target` (tsv) lines, or one
    with the ids of GIZA++ (snt). A warning names the first line that --split ascii and --split unicode split
    into different words.

    Then come sentence pairs that look wrong, with the first lines: those that are too long to have links,
    more than 4,194,304 source words x target words (a side of fewer than 16 words counts as 16); with one
    side empty; with more than 9 times as many words on one side as on the other; with identical sides; with
    swapped sides, each of which has more words of the other side than of its own; with a punctuation mark
    glued to a word, which tokenised text has in few lines, as in "Mr.". They do not change the exit code.

    \b
    Example:
      aligner check data/sample.en data/sample.fr --links data/sample.gold
      paste corpus.en corpus.fr | aligner check
    """
    options.check_layout(tgt, layout, vcb, split)
    trained = None if model is None else Model.load(model)
    if trained is not None:
        trained.check_trained(model)
    if trained is not None and trained.recipe.lowercase and not lowercase:
        raise click.UsageError(f"{model} was trained with --lowercase: do the same here.")
    if trained is not None and vcb is None and trained.recipe.split != split:
        raise click.UsageError(f"{model} was trained with --split {trained.recipe.split}: do the same here.")
    if links is None and (source is not None or base is not None):
        raise click.UsageError("--from and --base are for --links.")
    options.one_stdin(src, *(vcb or ()), *(path for path in (tgt, links) if path))
    corpus = options.read_pairs(src, tgt, layout, vcb, encoding, split, lowercase)
    if len(corpus) == 0:
        raise DataError("no sentence pairs", file=display_name(src))
    rows = [("pairs", f"{len(corpus)}")]
    for name, side in (("source", corpus.src), ("target", corpus.tgt)):
        lengths = side.lengths
        rows += [
            (f"{name} tokens", f"{len(side.ids)}"),
            (f"{name} vocabulary", f"{len(side.vocab)}"),
            (f"{name} lines empty", f"{int((lengths == 0).sum())}"),
            (f"{name} line longest", f"{lengths.max()} (line {np.argmax(lengths) + 1})"),
        ]
    if links is not None:
        found = LinkReader(links, source, base, text=corpus).read()
        rows.append(("links", f"{len(found.src)}"))
    rows += _doubts(corpus)
    if trained is not None:
        rows += _unknown(corpus, trained)
    width = max(len(label) for label, _ in rows)
    options.show("".join(f"{label:<{width}}  {value}\n" for label, value in rows))


def _row(label: str, flags: npt.NDArray[np.bool_]) -> tuple[str, str]:
    """How many sentence pairs are flagged, and the lines of the first."""
    lines = doubts.lines(flags)
    place = f" (line{'s' if len(lines) > 1 else ''} {shown(lines)})" if lines else ""
    return label, f"{len(lines)}{place}"


def _doubts(corpus: Corpus) -> list[tuple[str, str]]:
    """What looks wrong."""
    rows = [
        _row("too long", corpus.too_long),
        _row("one side empty", doubts.one_empty(corpus)),
        _row("length ratio > 9", doubts.uneven(corpus)),
        _row("identical sides", doubts.identical(corpus)),
        _row("swapped sides", doubts.swapped(corpus)),
    ]
    for name, side in (("source", corpus.src), ("target", corpus.tgt)):
        rows.append(_row(f"{name} glued marks", glued := doubts.glued(side)))
        if 2 * glued.sum() > (side.lengths > 0).sum():
            logging.warning("the %s side looks untokenised: punctuation marks are glued to words", name)
    return rows


def _unknown(corpus: Corpus, model: Model) -> list[tuple[str, str]]:
    """The words that a model does not know, and the lines where they are more than half."""
    rows = []
    unknown = unknown_words(known_words(model.views, corpus))
    for name, side, words in zip(("source", "target"), (corpus.src, corpus.tgt), unknown, strict=True):
        rows += [
            (f"{name} words unknown", f"{side.counts[words].sum()}"),
            _row(f"{name} lines unknown", doubts.most(side, words)),
        ]
    return rows
