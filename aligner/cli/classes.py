"""aligner classes"""

from __future__ import annotations

import click

from aligner.cli import options
from aligner.files import open_output
from aligner.text.classes import CLASSES, MOST_CLASSES, MOST_ROUNDS, ROUNDS, Round, cluster, write_classes
from aligner.text.reading import read_sentences


@click.command("classes")
@click.argument("text", default="-", callback=options.not_from_terminal)
@click.option(
    "--classes",
    "n_classes",
    type=click.IntRange(1, MOST_CLASSES),
    default=CLASSES,
    metavar="N",
    help="How many classes to make, at most.",
)
@click.option(
    "--rounds",
    type=click.IntRange(0, MOST_ROUNDS),
    default=ROUNDS,
    metavar="N",
    help="Rounds with noise: more take longer, and give better classes.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, metavar="N", help="Seed of the noise.")
@options.encoding
@options.split
@options.lowercase
@options.output
@click.option("-v", "--verbose", is_flag=True, help="Print a line a round on stderr.")
def command(
    text: str,
    n_classes: int,
    rounds: int,
    seed: int,
    encoding: str,
    split: str,
    lowercase: bool,
    output: str,
    overwrite: bool,
    verbose: bool,
) -> None:
    """Make word classes: words that stand beside the same words have one class.

    TEXT is one side of a corpus. The output has a line `word<TAB>class` for each word, sorted by the bytes of
    the words. Classes are numbered from 2 on, in the order of their most frequent words. These are the files
    of mkcls, which GIZA++ reads. They are in UTF-8, whatever --encoding says.

    The classes are those of a bigram model of classes that makes the text likely. Words change their classes
    one by one: at first with noise, which falls from round to round, then each word to its best class, until
    no word moves. The same options give the same classes. --verbose prints the perplexity of the text after
    each round. It never rises in rounds without noise.

    \b
    Example:
      aligner classes data/sample.en -o sample.en.classes
      aligner classes corpus.fr.gz --classes 100 --rounds 200 -v -o fr.classes
      zcat corpus.*.gz | aligner classes --lowercase | cut -f2 | sort | uniq -c
    """
    options.check_outputs({"-o": output}, [text], overwrite)
    with open_output(output, overwrite) as out:
        side = read_sentences(text, encoding=encoding, split=split, lowercase=lowercase)
        tell = _tell if verbose else None
        write_classes(out, cluster(side, n_classes, rounds=rounds, seed=seed, tell=tell))


def _tell(done: Round) -> None:
    """Says how a round went."""
    noise = f"noise {done.temperature:.4f}, " if done.temperature else ""
    options.tell(f"round {done.number}: {noise}{done.moved} words moved, perplexity {done.perplexity:.4f}")
