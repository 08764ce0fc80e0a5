"""aligner force-align"""

from __future__ import annotations

import click

from aligner.cli.compat.atools import HEURISTICS
from aligner.compat import fast_align
from aligner.files import open_output
from aligner.links.formats import format_links
from aligner.links.links import Links
from aligner.links.symmetrize import our_name, symmetrize
from aligner.text.fast_align import stream_pairs
from aligner.threads import available


@click.command("force-align")
@click.argument("fwd_params")
@click.argument("fwd_err")
@click.argument("rev_params")
@click.argument("rev_err")
@click.argument("heuristic", type=click.Choice(HEURISTICS), default="grow-diag-final-and")
def command(fwd_params: str, fwd_err: str, rev_params: str, rev_err: str, heuristic: str) -> None:
    """Align new text as fast_align's force_align.py does.

    FWD_PARAMS is the table of `fast_align -p`, FWD_ERR the stderr of that run; REV_PARAMS and REV_ERR are
    those of `fast_align -r`. Each line `source ||| target` of stdin is answered at once by a line of links.
    Tables of fast_align itself give the links that it would give. Tables of `aligner fast-align` have models
    beside them, which give better links and need no stderr. A line that lacks a side has no links.

    \b
    Example:
      aligner fast-align -i corpus.both -d -o -v -p fwd 2> fwd.err > forward.links
      aligner fast-align -i corpus.both -d -o -v -r -p rev 2> rev.err > reverse.links
      aligner force-align fwd fwd.err rev rev.err < new.both > new.links
    """
    aligners = [_aligner(fwd_params, fwd_err, "forward"), _aligner(rev_params, rev_err, "reverse")]
    with open_output("-") as out:
        for corpus, _ in stream_pairs("-"):
            fwd, rev = (Links.joined(links for links, _ in aligner.align(corpus)) for aligner in aligners)
            both = symmetrize(fwd, rev, our_name(heuristic), variant="atools")
            out.write(format_links(both, "pharaoh"))
            out.flush()


def _aligner(table: str, errors: str, direction: str) -> fast_align.Aligner:
    """What aligns one direction: the model beside a table, or else the table and the tension."""
    if (kept := fast_align.load_model(table)) is not None:
        return fast_align.ModelAligner(kept, direction, None, available())
    return fast_align.TableAligner(fast_align.read_table(table), direction, fast_align.read_tension(errors))
