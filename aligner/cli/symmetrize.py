"""aligner symmetrize"""

from __future__ import annotations

import click

from aligner.cli import decision, options
from aligner.decoding.combine import at_most
from aligner.files import open_output
from aligner.links.formats import LinkReader, format_links
from aligner.links.symmetrize import METHODS, OTHER_NAMES, symmetrize_files
from aligner.links.turns import TurnReader


@click.command("symmetrize")
@click.argument("forward")
@click.argument("reverse", required=False)
@click.option(
    "-m",
    "--method",
    type=decision.MethodName(),
    metavar="METHOD",
    default="grow-diag-final-and",
    help="One of the methods above, or what another tool calls it: "
    + ", ".join(f"{name} ({method})" for name, method in OTHER_NAMES.items())
    + ".",
)
@decision.variant
@click.option(
    "--threshold",
    type=options.Share(0, 1),
    help="Keep links that score above this. `align` and `decode` have the model's threshold in place of 0.4."
    "  [default: "
    + ", ".join(f"{how.threshold} for {name}" for name, how in METHODS.items() if how.threshold is not None)
    + "]",
)
@decision.decoder
@click.option(
    "--scores",
    is_flag=True,
    help="Print links with their scores, `i-j:p` (soft-union, product; forward and reverse with --decode).",
)
@options.format("--from", "source", "forward", "reverse")
@options.base("--base", "base", "forward", "reverse")
@options.text("The sentences: links to words that are not there are refused.")
@options.output
@options.documented("Methods:", METHODS)
def command(
    forward: str,
    reverse: str | None,
    method: str,
    variant: str,
    threshold: float | None,
    decode: str,
    max_fertility: int | None,
    scores: bool,
    source: str | None,
    base: int | None,
    text: tuple[str, str] | None,
    encoding: str,
    split: str,
    output: str,
    overwrite: bool,
) -> None:
    """Make one alignment of two directional ones.

    FORWARD is the alignment p(tgt | src), at most one link per target word; REVERSE is p(src | tgt), at most
    one link per source word. Both are lines of `i-j` links, source first, or any other format that
    `aligner convert` reads; soft-union and product need scores, `i-j:p`. Words are numbered from 0 in the
    links that are written. Of two A3 files of GIZA++, REVERSE is read as a3-reverse: for the links of fr-en,
    the files are en-fr.A3.final and fr-en.A3.final, in this order.

    A bal file, symal's input, has both directions and stands alone. If FORWARD and REVERSE are both -, lines
    of stdin take turns, forward first, and each pair of them is answered at once.

    The two files can be those that `aligner align` writes with --forward and --reverse: the same method and
    variant make the links that `align` prints. For soft-union and product, run `align` with --scores. Give
    soft-union the threshold of the model, which `aligner info MODEL` says. The files have scores of six
    decimals: a score may differ in its last digit, and a link that scores within 0.000001 of the threshold
    may come or go.

    --decode one-to-one and fertility choose among the links of soft-union and product; of forward and
    reverse, if the links of that direction have scores: all that score above 0, or above --threshold.

    Methods:

    \b
    Example:
      aligner symmetrize data/sample.forward data/sample.reverse -m grow-diag
      aligner symmetrize --variant atools -m union forward.gz reverse.gz -o links.gz
      aligner symmetrize forward.scored reverse.scored -m soft-union --decode one-to-one
      aligner symmetrize en-fr.A3.final.gz fr-en.A3.final.gz -o aligned.grow-diag-final-and
    """
    one = decode != "threshold" and method in ("forward", "reverse")
    soft = one or METHODS[method].threshold is not None
    fertility = decision.check_decoder(decode, max_fertility, None if one else method)
    if not soft and (scores or threshold is not None):
        raise click.UsageError(f"--scores and --threshold are for soft-union and product, not {method}.")
    limit = (METHODS[method].threshold or 0.0) if threshold is None else threshold
    if turns := forward == reverse == "-":
        reverse = None
    options.one_stdin(forward, *(text or ()), *([] if reverse is None else [reverse]))
    options.check_outputs({"-o": output}, (forward, reverse, *(text or ())), overwrite)
    with open_output(output, overwrite) as out:
        corpus = options.read_text(text, encoding, split)
        a = (TurnReader if turns else LinkReader)(forward, source, base, text=corpus)
        b = None if reverse is None else LinkReader(reverse, source, base, text=corpus, reverse=True)
        for links in symmetrize_files(a, b, method, variant=variant, threshold=limit, one_scored=one):
            if fertility is not None:
                links = at_most(links, fertility, limit)
            out.write(format_links(links.rounded(), "scored" if scores else "pharaoh"))
            if turns:
                out.flush()
