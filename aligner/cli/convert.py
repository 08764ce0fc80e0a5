"""aligner convert"""

from __future__ import annotations

import logging
from collections import Counter

import click

from aligner.cli import options
from aligner.files import open_output
from aligner.links.formats import FORMATS, LinkReader, format_links
from aligner.links.formats.bal import format_bal
from aligner.text.corpus import Corpus

BOTH = "bal"  # the format that two files are written in together


@click.command("convert")
@click.argument("links", nargs=-1, default=("-",), callback=options.not_from_terminal)
@options.format("--from", "source", "links")
@click.option(
    "--to",
    "output_format",
    type=click.Choice([*(name for name, format in FORMATS.items() if format.written), BOTH]),
    default="pharaoh",
    help="Format to write.",
)
@options.base("--base", "base", "links")
@options.base("--to-base", "to_base", of="the output", default="1 for talp, wpt and a3, else 0")
@click.option("--transpose", is_flag=True, help="Swap the sides: `i-j` becomes `j-i`.")
@options.text(
    "The sentences of LINKS: links to words that are not there are refused, and so are other words in formats"
    " that have words. Formats that have words can be written with the text only."
)
@options.output
@options.documented("Formats:", FORMATS)
def command(
    links: tuple[str, ...],
    source: str | None,
    output_format: str,
    base: int | None,
    to_base: int | None,
    transpose: bool,
    text: tuple[str, str] | None,
    encoding: str,
    split: str,
    output: str,
    overwrite: bool,
) -> None:
    """Rewrite links in another format.

    LINKS is a file of links; its format and base are detected where that is safe. Several LINKS are the
    parts of one A3 file, as mgiza writes them, in any order. With --to bal, two LINKS are p(tgt | src) and
    p(src | tgt), which symal makes one alignment of.

    Formats:

    A3 files that are written have the alignment score 1 for all sentence pairs. Scores of sentence pairs that
    are read are left out.

    \b
    Example:
      aligner convert data/sample.gold --to talp
      aligner convert fr-en.A3.final.part* -o links
      aligner convert data/sample.forward --to a3 --text data/sample.en data/sample.fr
      aligner convert data/sample.forward data/sample.reverse --to bal --text data/sample.en data/sample.fr
      aligner convert --from wpt --to gold test.wa.nonullalign -o test.gold
    """
    options.one_stdin(*links, *(text or ()))
    options.check_outputs({"-o": output}, (*links, *(text or ())), overwrite)
    both = output_format == BOTH
    if both and (len(links) != 2 or text is None or transpose or to_base == 0):
        raise click.UsageError(
            "--to bal takes two files, p(tgt | src) and p(src | tgt), and --text; positions count from 1."
        )
    with open_output(output, overwrite) as out:
        corpus = options.read_text(text, encoding, split)
        if both and corpus is not None:
            readers = [
                LinkReader(path, source, base, text=corpus, reverse=k > 0) for k, path in enumerate(links)
            ]
            forward, reverse = (reader.read() for reader in readers)
            lost = [FORMATS[BOTH].losses(one) for one in (forward, reverse)]
            out.write(format_bal(forward, reverse, corpus))
        else:
            readers, lost = [LinkReader(links, source, base, text=corpus)], [Counter()]
            written = Corpus(corpus.tgt, corpus.src) if corpus is not None and transpose else corpus
            for first, block in readers[0].blocks():
                lost[0] += FORMATS[output_format].losses(block)
                block = block.transposed() if transpose else block
                out.write(format_links(block, output_format, first, to_base, written))
    for reader, losses in zip(readers, lost, strict=True):
        _tell(reader, losses, output_format)


def _tell(reader: LinkReader, losses: Counter[str], output_format: str) -> None:
    """Says what was left out of what a file has."""
    if reader.n_scored:
        logging.warning("%s: scores of %d sentence pairs left out", reader.name, reader.n_scored)
    reader.tell_null()
    for what, n in losses.items():
        logging.warning("%s: %d %s: %s has no mark for them", reader.name, n, what, output_format)
