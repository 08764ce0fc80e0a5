"""aligner extract-lex"""

from __future__ import annotations

import click

from aligner.cli import options
from aligner.files import open_in_place
from aligner.lexicons.counting import BYTES, count_files
from aligner.lexicons.formats import FORMATS


@click.command("extract-lex")
@click.argument("tgt")
@click.argument("src")
@click.argument("links")
@click.argument("s2t")
@click.argument("t2s")
def command(tgt: str, src: str, links: str, s2t: str, t2s: str) -> None:
    """Count lexicons along links as Marian's extract_lex does.

    LINKS are `i-j`, source-target, of the text SRC and TGT; scores, `i-j:0.93`, are ignored. The lines of
    S2T are `tgt src p(tgt | src)`, those of T2S `src tgt p(src | tgt)`. NULL stands for the partner of words
    without a link. Links that point outside their sentences are left out, and a warning says so.

    The lines are those of extract_lex, but sorted by the second word, then by the first. extract_lex's order
    is that of addresses in memory. Words end at tabs, too, and at the carriage return of a line. Files that
    do not match line by line are refused. Counts above 16,777,216 are right; extract_lex's stop there.

    \b
    Example:
      aligner extract-lex corpus.tgt corpus.src corpus.links lex.s2t lex.t2s
    """
    options.one_stdin(tgt, src, links)
    options.check_outputs({"S2T": s2t, "T2S": t2s}, (tgt, src, links), overwrite=True)
    table = count_files(src, tgt, links)
    with open_in_place(s2t) as forward, open_in_place(t2s) as reverse:
        FORMATS["marian"].write(table, forward, BYTES)
        FORMATS["marian"].write(table.transposed(), reverse, BYTES)
