"""aligner remap"""

from __future__ import annotations

import logging
from collections import Counter

import click

from aligner.cli import options, retokenised
from aligner.files import open_output
from aligner.links.formats import FORMATS, LinkReader, format_links
from aligner.links.remap import Remapping, remap_file
from aligner.text.schemes import SCHEMES
from aligner.text.subwords import Retokenised, TokenFile

WITHOUT_WORDS = [name for name, format in FORMATS.items() if format.written and format.lines == 1]


@click.command("remap")
@click.argument("links", default="-", callback=options.not_from_terminal)
@click.option("--from", "old", nargs=2, metavar="SRC TGT", required=True, help="The sentences of LINKS.")
@click.option(
    "--to", "new", nargs=2, metavar="SRC2 TGT2", required=True, help="The same sentences in other tokens."
)
@retokenised.scheme("--from-scheme", "old_schemes", "SRC and TGT")
@retokenised.scheme("--to-scheme", "new_schemes", "SRC2 and TGT2")
@retokenised.rules
@options.format("--format", "source", "links")
@options.base("--base", "base", "links")
@click.option(
    "--output-format",
    type=click.Choice(WITHOUT_WORDS),
    help="Format to write.  [default: that of LINKS; scored with --merge mean; else pharaoh]",
)
@options.encoding
@options.split
@options.threads
@options.output
@options.documented("Schemes:", SCHEMES)
def command(
    links: str,
    old: tuple[str, str],
    new: tuple[str, str],
    old_schemes: retokenised.Schemes,
    new_schemes: retokenised.Schemes,
    pieces: str,
    merge: str,
    source: str | None,
    base: int | None,
    output_format: str | None,
    encoding: str,
    split: str,
    threads: int,
    output: str,
    overwrite: bool,
) -> None:
    """Rewrite links of one tokenisation as links of another: words to subwords, and back.

    LINKS are links of the tokens of SRC and TGT, in any format that `aligner convert` reads. SRC2 and TGT2
    have the same text in other tokens, line by line. A token of SRC becomes the tokens of SRC2 that stand for
    the same characters. Blanks do not count, so that any tokenisation will do. One of the sides may stay as
    it is: give its file twice.

    Texts may differ by what tokenisers do to text: Unicode normalisation (NFKC), case, accents, escapes such
    as Moses' &apos; and @-@, kinds of quotes, unknown characters as <unk> or [UNK]. Tokens such as [CLS] and
    </s> stand for nothing, and links to them are left out. Any other difference is an error.

    Schemes:

    The links that are written stand in the order of their source words, then of their target words, each
    once. Words are numbered from 0, in talp and wpt from 1.

    \b
    Example:
      aligner remap words.links --from en.words fr.words --to en.bpe fr.bpe -o bpe.links
      aligner remap bpe.links --from en.bpe fr.bpe --to en.words fr.words --merge majority
      aligner remap moses.links --from en.tok fr.tok --to en.txt fr.txt --split unicode
      aligner remap words.links --from en.words fr.words --to en.words fr.spm --to-scheme words,sentencepiece
    """
    files = *old, *new
    options.one_stdin(links, *files)
    options.check_outputs({"-o": output}, (links, *files), overwrite)
    how = Remapping(pieces, merge, threads)
    reader = LinkReader(links, source, base)
    named = zip(files, (*old_schemes, *new_schemes), strict=True)
    texts = [TokenFile(path, scheme, encoding, split) for path, scheme in named]
    src, tgt = (Retokenised(*both, threads) for both in zip(texts[:2], texts[2:], strict=True))
    lost: Counter[str] = Counter()
    try:
        with open_output(output, overwrite) as out:
            for first, block in remap_file(reader, src, tgt, how):
                if output_format is None:
                    output_format = _format(reader.format or "", merge)
                lost += FORMATS[output_format].losses(block)
                out.write(format_links(block.rounded(), output_format, first))
    finally:  # words that were split otherwise than links count them are refused
        for file in texts:
            file.splitter.warn()
    how.tell(reader.name)
    reader.tell_null()
    for what, n in lost.items():
        logging.warning("%s: %d %s: %s has no mark for them", reader.name, n, what, output_format)


def _format(source: str, merge: str) -> str:
    """The format to write where none is named: that of the links, if the new links can be written in it."""
    if merge == "mean" and source == "pharaoh":
        return "scored"
    return source if source in WITHOUT_WORDS else "scored" if merge == "mean" else "pharaoh"
