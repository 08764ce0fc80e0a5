"""aligner snt2cooc"""

from __future__ import annotations

import click

from aligner.cli.compat.command_lines import of_words
from aligner.cli.options import check_outputs
from aligner.files import open_in_place
from aligner.text.giza import cooccurrences


@of_words("snt2cooc", "[OUT] VCB VCB SNT [-counts]")
def command(words: tuple[str, ...]) -> None:
    """List word pairs of sentence pairs as GIZA++'s snt2cooc does.

    With four files this is mgiza's snt2cooc, which writes OUT. With three files this is GIZA++'s
    snt2cooc.out, which writes to stdout. -counts puts before each pair how often it occurs. The .vcb files
    are not read: the ids of SNT are all that is needed.

    Unlike the originals, the program refuses a SNT that ends within a sentence pair, or that has something
    else than ids. With -counts, each word pair has one line, however large SNT is.

    \b
    Example:
      aligner snt2cooc fr-en.cooc en.vcb fr.vcb fr-en.snt
      aligner snt2cooc en.vcb fr.vcb fr-en.snt > fr-en.cooc
    """
    counted = words[-1:] == ("-counts",)
    files = words[: len(words) - counted]
    if len(files) not in (3, 4) or "-counts" in files:
        raise click.UsageError("give [OUT] VCB VCB SNT, and -counts behind them.")
    *named, _, _, snt = files
    check_outputs({"OUT": named[0] if named else None}, [snt], overwrite=True)
    blocks = cooccurrences(snt, counted)
    with open_in_place(named[0] if named else "-") as out:
        for block in blocks:
            out.write(block)
