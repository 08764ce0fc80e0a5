"""aligner symmetrize"""

from __future__ import annotations

import click

from aligner.cli import options
from aligner.files import open_output
from aligner.links.formats import LinkReader, format_links
from aligner.links.symmetrize import METHODS, symmetrize_files


@click.command("symmetrize")
@click.argument("forward")
@click.argument("reverse")
@click.option(
    "-m",
    "--method",
    type=click.Choice(list(METHODS)),
    metavar="METHOD",
    default="grow-diag-final-and",
    help="One of the methods above.",
)
@options.variant
@click.option(
    "--threshold",
    type=options.Share(0, 1),
    help="Keep links that score above this. `align` and `decode` have the model's threshold in place of 0.4."
    "  [default: "
    + ", ".join(f"{how.threshold} for {name}" for name, how in METHODS.items() if how.threshold is not None)
    + "]",
)
@click.option("--scores", is_flag=True, help="Print links with their scores, `i-j:p` (soft-union, product).")
@options.format("--from", "source", "forward", "reverse")
@options.base("--base", "base", "forward", "reverse")
@options.text("The sentences: links to words that are not there are refused.")
@options.output
@options.documented("Methods:", METHODS)
def command(
    forward: str,
    reverse: str,
    method: str,
    variant: str,
    threshold: float | None,
    scores: bool,
    source: str | None,
    base: int | None,
    text: tuple[str, str] | None,
    encoding: str,
    output: str,
    overwrite: bool,
) -> None:
    """Make one alignment of two directional ones.

    FORWARD is the alignment p(tgt | src), at most one link per target word; REVERSE is p(src | tgt), at most
    one link per source word. Both are lines of `i-j` links, source first, or any other format that
    `aligner convert` reads; soft-union and product need scores, `i-j:p`. Words are numbered from 0 in the
    links that are written.

    The two files can be those that `aligner align` writes with --forward and --reverse: the same method and
    variant make the links that `align` prints. For soft-union and product, run `align` with --scores. Give
    soft-union the threshold of the model, which `aligner info MODEL` says. The files have scores of six
    decimals: a score may differ in its last digit, and a link that scores within 0.000001 of the threshold
    may come or go.

    Methods:

    \b
    Example:
      aligner symmetrize data/sample.forward data/sample.reverse -m grow-diag
      aligner symmetrize --variant atools -m union forward.gz reverse.gz -o links.gz
    """
    soft = METHODS[method].threshold is not None
    if not soft and (scores or threshold is not None):
        raise click.UsageError(f"--scores and --threshold are for soft-union and product, not {method}.")
    options.one_stdin(forward, reverse, *(text or ()))
    with open_output(output, overwrite) as out:
        corpus = options.read_text(text, encoding)
        a, b = (LinkReader(path, source, base, text=corpus) for path in (forward, reverse))
        for links in symmetrize_files(a, b, method, variant=variant, threshold=threshold):
            out.write(format_links(links.rounded(), "scored" if scores else "pharaoh"))
