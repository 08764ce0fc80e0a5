"""aligner check"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import click
import numpy as np
import numpy.typing as npt

from aligner.cli import options, vocabs
from aligner.decoding.model import Model
from aligner.decoding.posteriors import known_words, unknown_words
from aligner.errors import DataError
from aligner.files import display_name
from aligner.links.formats import LinkReader
from aligner.text import doubts
from aligner.text.corpus import Corpus, shown
from aligner.text.vocabulary import Vocabulary
from aligner.uses.guided import GuidedReader, ends_early


@click.command("check")
@click.argument("src", default="-", callback=options.not_from_terminal)
@click.argument("tgt", required=False)
@click.option("--links", metavar="LINKS", help="Links of the text, to be checked against it.")
@options.format("--from", "source", "links")
@options.base("--base", "base", "links")
@click.option(
    "--guided",
    is_flag=True,
    help="LINKS are for Marian's --guided-alignment, and the text is as Marian splits it: refuse what Marian"
    " would read as other links, or elsewhere in memory.",
)
@options.layout
@options.encoding
@options.split
@options.lowercase
@click.option("--model", metavar="MODEL", help="A model, to count the words that it does not know.")
@vocabs.option("to count the words that are not in them")
def command(
    src: str,
    tgt: str | None,
    links: str | None,
    source: str | None,
    base: int | None,
    guided: bool,
    layout: str | None,
    vcb: tuple[str, str] | None,
    encoding: str,
    split: str,
    lowercase: bool,
    model: str | None,
    vocab_files: tuple[str, str] | None,
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

    With --guided, LINKS must be `i-j`, counted from 0. A link of the ends of both sentences, whose positions
    are the numbers of words, is allowed: Marian makes one of its own. "links end early" counts sentence pairs
    whose last tenth has no link on either side: links of words beside a text of pieces look so.

    \b
    Example:
      aligner check data/sample.en data/sample.fr --links data/sample.gold
      aligner check corpus.spm.en corpus.spm.fr --links corpus.links --guided --vocabs vocab.spm vocab.spm
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
    if guided and links is None:
        raise click.UsageError("--guided is for --links.")
    if guided and (source is not None or base is not None):
        raise click.UsageError("Marian reads `i-j` from 0: `aligner convert` makes such links of others.")
    options.one_stdin(src, *(path for path in (tgt, links, *(vcb or ()), *{*(vocab_files or ())}) if path))
    vocabularies = vocabs.read(vocab_files)
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
    if links is not None and guided:
        rows += _guided(links, corpus)
    elif links is not None:
        found = LinkReader(links, source, base, text=corpus).read()
        rows.append(("links", f"{len(found.src)}"))
    rows += _doubts(corpus)
    if trained is not None:
        rows += _rows("unknown", corpus, unknown_words(known_words(trained.views, corpus)))
    if vocabularies is not None:
        rows += _rows("not in vocabulary", corpus, _outside(corpus, vocabularies))
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


def _guided(links: str, corpus: Corpus) -> list[tuple[str, str]]:
    """What is in links for guided alignment."""
    reader = GuidedReader(links, corpus)
    found = reader.read()
    if found.scores is not None:
        logging.warning("%s has scores, which Marian does not read", reader.name)
    early = ends_early(found, corpus)
    if early.sum() > vocabs.MANY * (np.diff(found.offsets) > 0).sum():
        logging.warning(
            "the links of many sentence pairs end before the text does: are they of these words or pieces?"
        )
    return [
        ("links", f"{len(found.src)}"),
        ("links of both ends", f"{reader.n_ends}"),
        _row("links end early", early),
    ]


def _outside(corpus: Corpus, vocabularies: Sequence[Vocabulary]) -> list[npt.NDArray[np.bool_]]:
    """Of both sides, [V] whether a word is not in the vocabulary. Warns of a vocabulary of another text."""
    sides = corpus.src, corpus.tgt
    found = [known.find(side.vocab.words) < 0 for known, side in zip(vocabularies, sides, strict=True)]
    for n, name in enumerate(("source", "target")):
        vocabs.warn(vocabularies[n], name, sides[n].counts[found[n]].sum(), len(sides[n].ids))
    return found


def _rows(what: str, corpus: Corpus, flags: Sequence[npt.NDArray[np.bool_]]) -> list[tuple[str, str]]:
    """How many words are flagged, and the lines where they are more than half. flags: of both sides, [V]"""
    rows = []
    for name, side, words in zip(("source", "target"), (corpus.src, corpus.tgt), flags, strict=True):
        rows += [
            (f"{name} words {what}", f"{side.counts[words].sum()}"),
            _row(f"{name} lines {what}", doubts.most(side, words)),
        ]
    return rows
