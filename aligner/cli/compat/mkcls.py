"""aligner mkcls"""

from __future__ import annotations

import logging

import click

from aligner.cli.compat.command_lines import of_words, warn_of_words
from aligner.cli.options import check_outputs
from aligner.compat.giza import write_classes
from aligner.files import open_in_place
from aligner.text.corpus import Builder
from aligner.text.giza import add_plain

CLASSES = 100  # of mkcls, unless the caller says how many
USED = ("-c", "-p", "-V")  # the options that mean something here


@of_words("mkcls", "[-cN] [-pTEXT] [-VFILE] [opt]")
def command(words: tuple[str, ...]) -> None:
    """Write word classes as mkcls does.

    FILE has a line `word<TAB>class` for each word of TEXT, sorted by word. Classes are numbered from 2 on.

    The classes are no clusters: they are bands of frequency, each with about the same share of TEXT. Programs
    that call mkcls find the file that they need. Our models, those of the programs GIZA++ and mgiza included,
    have no use for classes. A real mkcls is needed for programs that have. -n and all other options of mkcls
    are accepted, and change nothing.

    \b
    Example:
      aligner mkcls -c50 -n2 -pcorpus.fr -Vfr.vcb.classes opt
    """
    given = {word[:2]: word[2:] for word in words if word.startswith("-")}
    try:
        n_classes = int(given.get("-c", CLASSES))
    except ValueError:
        n_classes = 0
    if n_classes < 1:
        raise click.UsageError("-c needs a number of classes, as in -c50.")
    text, path = given.get("-p", "train"), given.get("-V")
    if "" in (text, path):
        raise click.UsageError("the name of a file follows -p and -V at once, as in -pcorpus.fr.")
    check_outputs({"-V": path}, [text], overwrite=True)
    warn_of_words([word for word in words if not word.startswith(USED)])
    logging.warning("classes are bands of frequency, no clusters; our models have no use for classes")
    builder = Builder()
    add_plain(builder, text)
    side = builder.side(lowercase=False)
    if path is None:
        return
    with open_in_place(path) as out:
        write_classes(out, side, n_classes)
