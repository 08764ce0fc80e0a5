"""aligner eflomal-makepriors"""

from __future__ import annotations

import click

from aligner.cli import options
from aligner.cli.compat.command_lines import Getopt
from aligner.cli.compat.eflomal_text import sides, text
from aligner.compat.eflomal import priors_of
from aligner.compat.eflomal.words import corpus_of
from aligner.files import open_in_place
from aligner.links.formats import PLAIN, LinkReader
from aligner.links.priors import format_priors


@click.command("eflomal-makepriors", cls=Getopt)
@text
@click.option("-f", "--forward-alignments", "forward", metavar="FILE", required=True, help="Forward links.")
@click.option("-r", "--reverse-alignments", "reverse", metavar="FILE", required=True, help="Reverse links.")
@click.option("-p", "--priors", metavar="FILE", default="-", help="Where to write the priors; - is stdout.")
@click.option("--reverse-priors", is_flag=True, help="Write priors for the text with its sides swapped.")
@click.option(
    "-v", "--verbose", is_flag=True, expose_value=False, help="Changes nothing: there is nothing to say."
)
def command(
    source: str | None,
    target: str | None,
    joint: str | None,
    forward: str,
    reverse: str,
    priors: str,
    reverse_priors: bool,
) -> None:
    """Count priors as eflomal-makepriors does.

    Writes how often words are linked, how many links they have, and how far links jump. The links may be
    those of two directions, or twice the same file. The text keeps its capitals. The file of priors is
    overwritten.

    Unlike the original, files of different length are refused: the original leaves out the end of the longer
    one. With --reverse-priors, the words of a pair are swapped like all else: those of the original are not,
    so that it cannot use them.

    \b
    Example:
      aligner eflomal-makepriors -s corpus.en -t corpus.fr -f forward.links -r reverse.links -p priors
    """
    both = sides(source, target, joint)
    inputs = [path for path in (source, target, joint, forward, reverse) if path]
    options.one_stdin(*inputs)
    options.check_outputs({"-p": priors}, inputs, overwrite=True)
    corpus = corpus_of(*both)
    links = [LinkReader(path, PLAIN, 0, text=corpus).read() for path in (forward, reverse)]
    found = priors_of(corpus, links[0], links[1], reverse_priors)
    with open_in_place(priors) as out:
        out.writelines(format_priors(found))
