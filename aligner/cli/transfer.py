"""aligner transfer"""

from __future__ import annotations

import contextlib

import click

from aligner.cli import annotation, options
from aligner.files import open_output
from aligner.links.formats import LinkReader
from aligner.uses.annotated import Filters, aligned, checked
from aligner.uses.conllu import FORM, read_conllu
from aligner.uses.spans import PARTS, SpanFile, SpanRules, format_spans
from aligner.uses.transfer import HEADS, LAYERS, Rules, carried


@click.command("transfer")
@click.argument("src")
@click.argument("tgt")
@click.argument("links")
@click.option(
    "--only",
    "layers",
    multiple=True,
    type=click.Choice(LAYERS),
    help="Carry this: parts of speech, features, dependencies or spans. Can be given several times."
    "  [default: all]",
)
@click.option(
    "--threshold", type=options.Share(0, 1), help="Carry along links that score above this.  [default: all]"
)
@click.option(
    "--heads",
    type=click.Choice(HEADS),
    default=Rules.heads,
    help="A word to which links carry several heads gets none (single), or the best of them.",
)
@annotation.filters
@click.option(
    "--replace", is_flag=True, help="Take out what TGT has of what is carried first.  [default: keep it]"
)
@annotation.span_key
@click.option(
    "--spans",
    "span_file",
    metavar="FILE",
    help="Spans of SRC, as BIO columns or standoff.  [default: those of MISC]",
)
@click.option(
    "--spans-to", metavar="OUT", help="Also write spans of TGT here, in the form of --spans, or as standoff."
)
@click.option(
    "--gap",
    type=click.IntRange(0),
    default=SpanRules.gap,
    metavar="N",
    help="Fill gaps of a span of up to N words.",
)
@click.option(
    "--parts",
    type=click.Choice(PARTS),
    default=SpanRules.parts,
    help="What to keep of a span with larger gaps: the longest part, all parts, all with the gaps (hull), or"
    " nothing.",
)
@click.option("--trim", is_flag=True, help="Take punctuation off both ends of spans.")
@click.option(
    "--least",
    type=options.Share(0, 1),
    default=SpanRules.least,
    help="Carry spans of at least this score: the mean, over their words, of the score of the best link.",
)
@click.option(
    "--ratio",
    type=options.Share(0, min_open=True),
    metavar="X",
    help="Carry no span to more than X times as many words.  [default: to any number]",
)
@options.format("--from", "source", "links")
@options.base("--base", "base", "links")
@options.text("The text that LINKS were made of: another number of words in a sentence is refused.")
@options.output
def command(
    src: str,
    tgt: str,
    links: str,
    layers: tuple[str, ...],
    threshold: float | None,
    heads: str,
    compatible: bool,
    verb_root: bool,
    no_punct: bool,
    replace: bool,
    span_key: str,
    span_file: str | None,
    spans_to: str | None,
    gap: int,
    parts: str,
    trim: bool,
    least: float,
    ratio: float | None,
    source: str | None,
    base: int | None,
    text: tuple[str, str] | None,
    encoding: str,
    split: str,
    output: str,
    overwrite: bool,
) -> None:
    """Carry annotation along links: parts of speech, features, dependencies, spans.

    SRC is an annotated text in CoNLL-U, TGT its translation: CoNLL-U, or tokenised text, one sentence a line.
    LINKS are those of its words; `aligner words` prints the words of a CoNLL-U file. TGT is written as
    CoNLL-U, with what is carried in columns that were empty. All else is written as it was read.

    UPOS is that of most linked words, FEATS those of the best linked word of this UPOS. HEAD and DEPREL are
    carried where both ends of an edge are linked, and the links carry one head only. Of edges that make a
    cycle, and of several roots, those of the best products of link scores are carried, of equal ones that of
    the first source word. HEAD stays _ elsewhere: such a tree has parts missing, and is no valid tree of
    Universal Dependencies.

    MISC says where words were carried from: From is the source word, Projected the score of its link,
    ProjectedHead the product of the scores of an edge, ProjectedSpan, at the first word, that of a span.
    Links without scores give From alone.

    Spans, such as names, are BIO tags in MISC (NER=B-PER), or a file: BIO columns, `word<TAB>tag`, an empty
    line after each sentence; or standoff, `sentence<TAB>start<TAB>end<TAB>type`, sentences from 1, words from
    0, the end not included. Of spans that overlap the one of the best score is carried.

    \b
    Example:
      aligner words en.conllu -o en.txt
      aligner align en.txt fr.txt --lowercase --scores -o en-fr.links
      aligner transfer en.conllu fr.txt en-fr.links -o fr.conllu
      aligner transfer en.conllu fr.tagged.conllu en-fr.links --only deps --compatible --threshold 0.8
    """
    if (span_file is not None or spans_to is not None) and layers and "spans" not in layers:
        raise click.UsageError("--spans and --spans-to are for --only spans.")
    inputs = (src, tgt, links, *(text or ()), *([] if span_file is None else [span_file]))
    options.one_stdin(*inputs)
    options.check_outputs({"-o": output, "--spans-to": spans_to}, inputs, overwrite)
    rules = Rules(
        layers=layers or LAYERS,
        heads=heads,
        replace=replace,
        filters=Filters(compatible, verb_root, no_punct),
        key=span_key,
        spans=SpanRules(gap, parts, trim, least, ratio),
    )
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(open_output(output, overwrite))
        more = None if spans_to is None else stack.enter_context(open_output(spans_to, overwrite))
        reader = LinkReader(links, source, base)
        src_side, tgt_side = (read_conllu(path, encoding=encoding, split=split) for path in (src, tgt))
        if text is not None:
            src_text, tgt_text = (read_conllu(path, encoding=encoding, split=split) for path in text)
            src_side, tgt_side = checked(src_side, src_text), checked(tgt_side, tgt_text)
        if span_file is None:
            src_side = annotation.annotated(src_side)
        given = None if span_file is None else SpanFile(span_file, span_key, encoding)
        form = "standoff" if given is None or given.form == "conllu" else given.form
        pairs = aligned(src_side, tgt_side, reader, threshold)
        for n, (sentence, found) in enumerate(carried(pairs, rules, given), 1):
            out.write(sentence.text().encode())
            if more is not None:
                more.write(format_spans(form, n, sentence.column(FORM), found).encode())
        reader.tell_null()
