"""aligner check"""

from __future__ import annotations

import click
import numpy as np

from aligner.cli import options
from aligner.errors import DataError
from aligner.files import display_name
from aligner.links.formats import LinkReader
from aligner.text.reading import read_corpus


@click.command("check")
@click.argument("src", default="-")
@click.argument("tgt", required=False)
@click.option("--links", metavar="LINKS", help="Links of the text, to be checked against it.")
@options.format("--from", "source", "links")
@options.base("--base", "base", "links")
@options.layout
@options.encoding
@options.lowercase
def command(
    src: str,
    tgt: str | None,
    links: str | None,
    source: str | None,
    base: int | None,
    layout: str | None,
    encoding: str,
    lowercase: bool,
) -> None:
    """Check that a corpus, and links of it, can be used; count what is there.

    Two files, line by line, or one with `source ||| target` (bars) or `source<TAB>target` (tsv) lines.

    \b
    Example:
      aligner check data/sample.en data/sample.fr --links data/sample.gold
      paste corpus.en corpus.fr | aligner check
    """
    options.check_layout(tgt, layout)
    if links is None and (source is not None or base is not None):
        raise click.UsageError("--from and --base are for --links.")
    options.one_stdin(src, *(path for path in (tgt, links) if path))
    corpus = read_corpus(src, tgt, encoding=encoding, lowercase=lowercase, layout=layout)
    if len(corpus) == 0:
        raise DataError("no sentence pairs", file=display_name(src))
    rows = [("pairs", f"{len(corpus)}")]
    for name, side in (("source", corpus.src), ("target", corpus.tgt)):
        lengths = side.lengths
        rows += [
            (f"{name} tokens", f"{len(side.ids)}"),
            (f"{name} vocabulary", f"{len(side.vocab)}"),
            (f"{name} lines empty", f"{int((lengths == 0).sum())}"),
            (f"{name} line longest", f"{lengths.max()} (line {np.argmax(lengths) + 1})"),
        ]
    if links is not None:
        found = LinkReader(links, source, base, text=corpus).read()
        rows.append(("links", f"{len(found.src)}"))
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        click.echo(f"{label:<{width}}  {value}")
