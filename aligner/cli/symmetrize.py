"""aligner symmetrize"""

from __future__ import annotations

import click

from aligner.cli import options
from aligner.symmetrize import METHODS, VARIANTS


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
@click.option(
    "--variant",
    type=click.Choice(VARIANTS),
    default="symal",
    help="Whose links and whose order of links, byte for byte.",
)
@click.option("--threshold", type=float, help="Of soft-union (0.4) and product (0.25).")
@click.option("--scores", is_flag=True, help="Print `i-j:p` (soft-union, product).")
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
    text: tuple[str, str] | None,
    encoding: str,
    output: str,
    overwrite: bool,
) -> None:
    """Make one alignment of two directional ones.

    FORWARD is the alignment p(tgt | src), at most one link a target word; REVERSE is p(src | tgt), at most
    one link a source word. Both are lines of `i-j` links, source first; `i-j:p` for soft-union and product.

    Methods:

    \b
    Example:
      aligner symmetrize data/sample.forward data/sample.reverse -m grow-diag
      aligner symmetrize --variant atools -m union forward.gz reverse.gz -o links.gz
    """
    from aligner.files import open_output
    from aligner.links import LinkReader, format_links
    from aligner.symmetrize import symmetrize_files

    soft = METHODS[method].blend is not None
    if not soft and (scores or threshold is not None):
        raise click.UsageError(f"--scores and --threshold are for soft-union and product, not {method}.")
    options.one_stdin(forward, reverse, *(text or ()))
    with open_output(output, overwrite) as out:
        corpus = options.read_text(text, encoding)
        # Heuristics do not care where counting begins: positions are read, and written, as they stand.
        a, b = (LinkReader(path, "scored" if soft else None, 0, text=corpus) for path in (forward, reverse))
        blocks = symmetrize_files(a, b, method, variant=variant, threshold=threshold)
        for links in options.progress(blocks):
            out.write(format_links(links, "scored" if scores else "pharaoh"))
