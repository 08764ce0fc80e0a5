"""aligner phrases"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

import click

from aligner import arguments
from aligner.cli import options
from aligner.files import SUFFIX, display_name, open_output
from aligner.links.formats import LinkReader
from aligner.links.in_step import read_in_step
from aligner.links.links import Links
from aligner.text.corpus import Corpus
from aligner.uses import phrases
from aligner.uses.phrase_table import phrase_table
from aligner.uses.phrases import ORIENTATIONS, PhrasePairs, Statistics
from aligner.uses.sorting import MEMORY, LineSorter

Lines = Callable[[Corpus, Links, PhrasePairs], bytes]
PART = 1 << 11  # sentence pairs whose lines are in memory at a time
SORTED = ".sorted"  # what Moses puts before .gz


def _size(_: click.Context, __: click.Parameter, text: str) -> int:
    try:
        return arguments.size(text)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from None


@click.command("phrases")
@click.argument("src")
@click.argument("tgt")
@click.argument("links")
@click.option(
    "--max-length",
    type=click.IntRange(1, phrases.LONGEST),
    default=phrases.MAX_LENGTH,
    metavar="N",
    help="Words that a phrase has at most.",
)
@click.option(
    "--sort", "in_order", is_flag=True, help="Sort the lines by their bytes, as LC_ALL=C sort does."
)
@click.option("--inverse", is_flag=True, help="Also write OUT.inv: `tgt ||| src ||| j-i ...` lines.")
@click.option(
    "--orientation",
    type=click.Choice(ORIENTATIONS),
    multiple=True,
    metavar="MODEL",
    help="Also write OUT.o, from which lexical reordering is learned: `src ||| tgt ||| before after` lines of"
    " one of the models below. phrase and hier can be given both.",
)
@click.option("--table", is_flag=True, help="Write a phrase table instead.")
@click.option("--stats", is_flag=True, help="Print what phrase pairs are like instead.")
@click.option(
    "--memory",
    metavar="SIZE",
    default=MEMORY,
    callback=_size,
    help="Room for sorting, in bytes. Lines that do not fit wait in a temporary file, in $TMPDIR.",
)
@options.format("--from", "source", "links")
@options.base("--base", "base", "links")
@options.lowercase
@options.split
@options.encoding
@options.output
def command(
    src: str,
    tgt: str,
    links: str,
    max_length: int,
    in_order: bool,
    inverse: bool,
    orientation: tuple[str, ...],
    table: bool,
    stats: bool,
    memory: int,
    source: str | None,
    base: int | None,
    lowercase: bool,
    split: str,
    encoding: str,
    output: str,
    overwrite: bool,
) -> None:
    """Extract phrase pairs that are consistent with links, or make a phrase table of them.

    SRC and TGT are the text, and LINKS its links, in any format that `aligner convert` reads; possible links
    count as links. A phrase pair is some consecutive words of a sentence and some consecutive words of its
    translation. It has a link, and none of its words is linked with a word outside. Lines, their order and
    their orientation are those of Moses' `extract`, whose source is SRC:

    \b
      src words ||| tgt words ||| i-j ...

    Positions count from the first words of the phrases. --inverse and --orientation write the other files of
    `extract`. Their names have .inv and .o before .sorted and before .gz, as Moses has them.

    The models of --orientation are wbe, links beside the corners of the phrase pair; phrase, phrase pairs
    beside it; hier, phrase pairs of any length beside it. msd tells mono, swap and other; mslr tells mono,
    swap, dleft and dright; mono tells mono and nomono. Example: wbe-msd.

    --table writes what Moses' `score` and `consolidate` make of the lines, sorted:

    \b
      src words ||| tgt words ||| p(src | tgt) lex(src | tgt) p(tgt | src) lex(tgt | src) ||| i-j ...
        ||| count of tgt, of src, of the pair ||| |||

    p is a relative frequency. lex is the product, over the words, of the mean probability given the words
    that a word is linked with, or given NULL, as `aligner lexicon --links --format moses` has it. i-j are the
    links that the phrase pair has most often.

    Memory does not grow with the text, but with its different words and, for --table, with its different
    word pairs.

    \b
    Example:
      aligner phrases data/sample.en data/sample.fr data/sample.forward
      aligner phrases fr en links --sort --inverse --orientation wbe-msd -o model/extract.sorted.gz
      aligner phrases fr en links --table -o model/phrase-table.gz
      aligner phrases fr en links --stats
    """
    if table + stats > 1 or (table or stats) and (in_order or inverse or orientation):
        raise click.UsageError(
            "--table and --stats exclude each other, and --sort, --inverse and --orientation."
        )
    try:
        phrases.checked_models(orientation)
    except ValueError as error:
        raise click.UsageError(f"{error}.".replace("orientation", "--orientation", 1)) from None
    options.one_stdin(src, tgt, links)
    if output == "-" and (inverse or orientation):
        raise click.UsageError("--inverse and --orientation need -o OUT, beside which they write.")
    wanted: dict[str, tuple[str, Lines]] = {"-o": (output, phrases.pair_lines)}  # option -> file, its lines
    if inverse:
        wanted["--inverse"] = _beside(output, ".inv"), phrases.inverse_lines
    if orientation:
        wanted["--orientation"] = _beside(output, ".o"), phrases.orientation_lines
    files = {option: path for option, (path, _) in wanted.items()}
    options.check_outputs(files, (src, tgt, links), overwrite)
    reader = LinkReader(links, source, base)

    def blocks() -> Iterator[tuple[Corpus, Links]]:
        step = read_in_step(src, tgt, reader, encoding=encoding, lowercase=lowercase, split=split)
        for n, text, linked in step:
            for path, side in ((src, text.src), (tgt, text.tgt)):
                phrases.check_separator(side, display_name(path), n)
            phrases.check_cells(text, orientation, display_name(src), n)
            for start in range(0, len(text), PART):
                stop = min(start + PART, len(text))
                yield text.part(start, stop), linked.part(start, stop)

    with contextlib.ExitStack() as stack:
        outs = [stack.enter_context(open_output(path, overwrite)) for path in files.values()]
        if table:
            outs[0].writelines(phrase_table(blocks(), memory, max_length))
        elif stats:
            outs[0].write(_statistics(blocks(), memory, max_length).shown().encode())
        else:
            sorters = [stack.enter_context(LineSorter(memory // len(outs))) for _ in outs]
            for text, linked in blocks():
                found = phrases.extract_phrases(text, linked, max_length, orientation)
                for out, sorter, (_, lines_of) in zip(outs, sorters, wanted.values(), strict=True):
                    (sorter.add if in_order else out.write)(lines_of(text, linked, found))
            for out, sorter in zip(outs, sorters, strict=True):
                out.writelines(sorter.blocks())


def _statistics(blocks: Iterator[tuple[Corpus, Links]], memory: int, max_length: int) -> Statistics:
    found = Statistics()
    with LineSorter(memory) as lines:
        for text, links in blocks:
            pairs = phrases.extract_phrases(text, links, max_length)
            found.add(text, links, pairs)
            lines.add(phrases.orientation_lines(text, links, pairs))
        found.count(lines)
    return found


def _beside(output: str, name: str) -> str:
    """The name of a file beside the output: extract.sorted.gz -> extract.inv.sorted.gz"""
    stem, packed = os.path.splitext(output)
    if packed.lower() not in SUFFIX:
        stem, packed = output, ""
    kept = SORTED if stem.endswith(SORTED) else ""
    return stem.removesuffix(SORTED) + name + kept + packed
