"""aligner shortlist"""

from __future__ import annotations

import logging

import click
import numpy as np

from aligner import store
from aligner.cli import options, vocabs
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.files import open_output
from aligner.lexicons.counting import BYTES, count, count_files
from aligner.lexicons.table import Table
from aligner.text.reading import read_corpus
from aligner.text.vocabulary import Vocabulary
from aligner.uses.shortlist import (
    BEST,
    MOST,
    SPECIAL,
    Shortlist,
    as_written,
    binary,
    first_words,
    last_is_listed,
    n_unknown,
    pruned,
)


@click.command("shortlist")
@click.argument("made_of", metavar="LINKS|MODEL|LEXICON")
@click.argument("src", required=False)
@click.argument("tgt", required=False)
@options.base("--base", "base", "made_of", of="LINKS", default="0")
@click.option(
    "--best",
    type=click.IntRange(1, MOST),
    default=BEST,
    help="Keep so many target words of each source word.",
)
@click.option(
    "--first",
    type=click.IntRange(0, MOST),
    help=f"Add lines of the first so many words, and {SPECIAL} more, of the target vocabulary. With --binary:"
    " the number of words that Marian always offers.  [default: as --best]",
)
@click.option(
    "--min-prob",
    type=options.Share(0, 1),
    default=0.0,
    help="Leave out word pairs with a smaller p(tgt | src).",
)
@vocabs.option("as Marian's --vocabs")
@click.option("--binary", "packed", is_flag=True, help="Write Marian's binary shortlist, of --vocabs.")
@click.option(
    "--direction",
    type=click.Choice(["forward", "reverse"]),
    default="forward",
    help="forward: for translation from SRC to TGT; reverse: from TGT to SRC.",
)
@options.check
@options.threads
@options.output
def command(
    made_of: str,
    src: str | None,
    tgt: str | None,
    base: int | None,
    best: int,
    first: int | None,
    min_prob: float,
    vocab_files: tuple[str, str] | None,
    packed: bool,
    direction: str,
    check: bool,
    threads: int,
    output: str,
    overwrite: bool,
) -> None:
    """Make a shortlist for Marian: of each source word the target words to choose from.

    \b
    aligner shortlist LINKS SRC TGT   counts word pairs along links of a text
    aligner shortlist MODEL SRC TGT   aligns the text with a model, and counts
    aligner shortlist MODEL           takes the probabilities of a model's words
    aligner shortlist LEXICON         reads `tgt src p`: a lexicon of extract_lex, a shortlist

    The text must be split into words or pieces as the translation system splits it. LINKS are `i-j`, with or
    without scores. They are read in step with the text, whose words may be of any encoding. A link to a word
    that is not there is refused. Words without a link count as extract_lex counts them.

    The lines are `tgt src p`, as those of extract_lex and then prune_shortlist.py: of each source word the
    --best target words, the best first, and then those that are among the first words of the target
    vocabulary. A word pair can stand twice, therefore. Without --vocabs there are the best ones only. Source
    words are sorted; of equal probabilities the alphabetical order counts, or that of the lines of LEXICON.
    NULL is left out.

    With --binary, the file is that of `marian-conv --shortlist LEXICON FIRST BEST 0`, whose LEXICON has all
    word pairs: words that are not in a vocabulary are its unknown word, and of equal probabilities the larger
    number counts.

    \b
    Example:
      aligner shortlist corpus.links corpus.en corpus.fr -o lex.s2t.gz
      aligner shortlist corpus.links corpus.en corpus.fr --vocabs vocab.spm vocab.spm --binary -o lex.s2t.bin
      aligner shortlist corpus.model --best 50 --min-prob 0.001 -o lex.s2t
      aligner shortlist lex.s2t.gz --vocabs vocab.spm vocab.spm --first 50 --best 50 --binary -o lex.bin
    """
    if src is not None and tgt is None:
        raise click.UsageError("give SRC and TGT, or neither.")
    if packed and vocab_files is None:
        raise click.UsageError("--binary needs --vocabs SRC TGT.")
    if packed and options.on_terminal(output):
        raise click.UsageError("--binary is not for a terminal: give -o OUT.")
    if first is not None and vocab_files is None:
        raise click.UsageError("--first is for words of --vocabs.")
    first = best if first is None else first
    of_model = store.is_model(made_of)
    of_links = tgt is not None and not of_model
    if base is not None and not of_links:
        raise click.UsageError("--base is for LINKS with SRC and TGT.")
    if direction == "reverse" and tgt is None and not of_model:
        raise click.UsageError("a LEXICON has one direction: give the lexicon of the other one.")
    inputs = *(path for path in (made_of, src, tgt) if path is not None), *{*(vocab_files or ())}
    options.one_stdin(*inputs)
    options.check_outputs({"-o": output}, inputs, overwrite)
    encoding = BYTES if of_links else "utf-8"
    sides = vocabs.read(vocab_files, encoding)
    with open_output(output, overwrite) as out:
        if of_model:
            table = _of_model(made_of, check, src, tgt, threads)
        elif src is not None and tgt is not None:
            table = count_files(src, tgt, made_of, base=base or 0, strict=True)
        else:
            table = Shortlist().read(made_of)
        if direction == "reverse":
            table, sides = table.transposed(), sides and (sides[1], sides[0])
        if len(table) and np.isnan(table.p[:, 0]).all():
            raise DataError(f"there are no probabilities of direction {direction}", file=made_of)
        table = as_written(table) if of_model or of_links else table.forward()
        table = table.probable(min_prob) if min_prob else table
        if sides is not None:
            _tell(table, sides, packed)
        if sides is not None and packed:
            out.write(binary(table, *sides, best, first))
        else:
            tops = [] if sides is None else first_words(sides[1], first)
            Shortlist().write(pruned(table, best, tops), out, encoding)


def _of_model(path: str, check: bool, src: str | None, tgt: str | None, threads: int) -> Table:
    """The table of a model's words, or of its links of a text."""
    model = Model.load(path, check)
    model.check_trained(path)
    recipe = model.recipe
    if src is not None:
        text = read_corpus(src, tgt, split=recipe.split)
        model.seen(text.fitted(recipe.lowercase, recipe.split), path)
        return count(text, model.align(text, n_threads=threads))
    if recipe.lowercase:
        logging.warning("%s was trained on lower-cased text: the shortlist has no other words", path)
    view = next((view for view in model.views if view.name == "word"), None)
    if view is None:
        raise DataError(
            "the model has no view of whole words",
            file=path,
            hint="count along links of a text, or train a model with the view word",
        )
    return view.parameters.lexicon.table(view.src, view.tgt, recipe.direction)


def _tell(table: Table, sides: tuple[Vocabulary, Vocabulary], packed: bool) -> None:
    """Warns of what the translation system will not read as it is meant."""
    words = zip(("source", "target"), n_unknown(table, *sides), (table.e, table.f), strict=True)
    for vocabulary, (side, n, ids) in zip(sides, words, strict=True):
        vocabs.warn(vocabulary, side, n, len(np.unique(ids)))
    if packed and not last_is_listed(table, sides[0]):
        logging.warning(
            "the last word of %s has no target words: Marian refuses such a binary shortlist as out of"
            " bounds, unless it is read unchecked, `--shortlist OUT 0`",
            sides[0].file,
        )
