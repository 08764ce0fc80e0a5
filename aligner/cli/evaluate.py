"""aligner evaluate"""

from __future__ import annotations

import json
from dataclasses import replace

import click

from aligner.cli import annotation, compared, options
from aligner.decoding.model import Model
from aligner.errors import DataError
from aligner.files import display_name
from aligner.links.formats import LinkReader
from aligner.scoring import report
from aligner.scoring.evaluate import evaluate, overlap
from aligner.store import MAGIC
from aligner.uses.annotated import Filters
from aligner.uses.phrases import LONGEST, MAX_LENGTH, shared_phrases


@click.command("evaluate")
@click.argument("hyp")
@click.argument("gold")
@click.argument("hyp2", required=False)
@compared.part
@click.option("--by-sentence", is_flag=True, help="Print a line of scores per sentence, as TSV.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, shares between 0 and 1.")
@click.option("-b", "--score-only", is_flag=True, help="Print the AER only, in percent.")
@click.option("-w", "--width", type=click.IntRange(0, 15), default=2, help="Digits after the point.")
@click.option("--alpha", type=options.Share(0, 1), default=0.4, help="Weight of precision in F(alpha).")
@click.option(
    "--bootstrap", type=click.IntRange(0), default=1000, metavar="N", help="Samples; 0: no intervals."
)
@click.option(
    "--level",
    type=options.Share(0, 100),
    default=95.0,
    help="Confidence level of the intervals, in percent.",
)
@click.option("--seed", type=click.IntRange(0), default=1, help="Seed of the bootstrap.")
@options.format("--hyp-format", "hyp_format", "hyp", "hyp2")
@options.format("--gold-format", "gold_format", "gold")
@options.base("--hyp-base", "hyp_base", "hyp", "hyp2")
@options.base("--gold-base", "gold_base", "gold")
@options.text("The sentences of HYP and GOLD: links are checked, scores split by rare and common words.")
@click.option("--counts", nargs=2, metavar="SRC TGT", help="Corpus to count words in.  [default: --text]")
@options.lowercase
@click.option("--phrases", is_flag=True, help="Compare phrase pairs, too; needs --text.")
@click.option(
    "--max-length",
    type=click.IntRange(1, LONGEST),
    metavar="N",
    help=f"Words that a phrase has at most, for --phrases.  [default: {MAX_LENGTH}]",
)
@click.option(
    "--run",
    "runs",
    multiple=True,
    metavar="FILE",
    help="The model, or the --log-json file, of the run that made HYP, and once more of HYP2: the signature"
    " then says how the links were made.",
)
@click.option(
    "--edges",
    metavar="SRC",
    help="Count dependency edges of SRC that the links carry to the trees of the target. SRC and GOLD are"
    " CoNLL-U.",
)
@annotation.filters
@click.option("--spans", is_flag=True, help="Compare spans, such as names: HYP and GOLD are files of spans.")
@annotation.span_key
@click.pass_context
def command(
    ctx: click.Context,
    hyp: str,
    gold: str,
    hyp2: str | None,
    first: int | None,
    last: int | None,
    by_sentence: bool,
    as_json: bool,
    score_only: bool,
    width: int,
    alpha: float,
    bootstrap: int,
    level: float,
    seed: int,
    hyp_format: str | None,
    gold_format: str | None,
    hyp_base: int | None,
    gold_base: int | None,
    text: tuple[str, str] | None,
    counts: tuple[str, str] | None,
    encoding: str,
    split: str,
    lowercase: bool,
    phrases: bool,
    max_length: int | None,
    runs: tuple[str, ...],
    edges: str | None,
    compatible: bool,
    verb_root: bool,
    no_punct: bool,
    spans: bool,
    span_key: str,
) -> None:
    """Score links against a gold standard.

    Precision against all gold links, sure or possible; recall against the sure ones; AER, F1 and F(alpha);
    the share of one-to-one links (both words have no other link), in HYP and in GOLD; bootstrap intervals.
    With HYP2 also the p-value of the difference in AER by paired bootstrap, and the symmetry
    |A n B| / |A u B|. With --text also the scores of links with a rare word on either side (at most 5
    occurrences), and of all others. A share of nothing is 100%.

    With --edges, GOLD are dependency trees of the target: how many edges do links above a threshold transfer
    from SRC, and how many of them does GOLD have? With --spans, the words and the type of a span must be
    those of GOLD; both files are CoNLL-U, BIO columns or standoff, as for `aligner transfer`.

    With --phrases also precision, recall and F1 of phrase pairs: those that are consistent with HYP, as
    `aligner phrases` extracts them, against those that are consistent with the sure links of GOLD (DeNero &
    Macherey 2011). Where GOLD has few sure links, it has many phrase pairs: compare systems on one GOLD only.

    \b
    Example:
      aligner evaluate data/sample.forward data/sample.gold
      aligner evaluate --last 447 all.links test.gold --json
      aligner evaluate data/sample.forward data/sample.gold data/sample.reverse
      aligner evaluate generated.links data/generated.gold --run generated.model
      aligner evaluate en-fr.links fr.conllu --edges en.conllu --compatible
      aligner evaluate --spans carried.conllu fr.conllu
      aligner evaluate hyp test.gold --phrases --text test.en test.fr
    """
    hyps = [hyp] if hyp2 is None else [hyp, hyp2]
    filters = Filters(compatible, verb_root, no_punct)
    if edges is not None or spans:
        options.exclusive(edges=edges, spans=spans or None)
        options.one_stdin(*hyps, gold, *([] if edges is None else [edges]))
        annotation.check_stdin(len(hyps), gold, edges)
    if spans:
        annotation.only(ctx, "--spans", ("spans", "span_key", "as_json", "score_only", "width"))
        if as_json and score_only:
            raise click.UsageError("--score-only prints one number: not with --json.")
        scored = annotation.spans_compared(hyps, gold, span_key)
        by_file = list(zip(map(display_name, hyps), scored, strict=True))
        options.show(annotation.show_spans(by_file, as_json, score_only, width))
        return
    if edges is not None:
        allowed = ("edges", *annotation.FILTERS, "as_json", "width", "hyp_format", "hyp_base")
        annotation.only(ctx, "--edges", allowed)
        linked = [LinkReader(path, hyp_format, hyp_base) for path in hyps]
        curves = [(reader.name, annotation.edge_curve(edges, gold, reader, filters)) for reader in linked]
        options.show(annotation.show_edges(curves, filters, as_json, width))
        return
    if filters != Filters():
        raise click.UsageError("--compatible, --verb-root and --no-punct are for --edges.")
    compared.check_part(first, last)
    if score_only and (as_json or by_sentence):
        raise click.UsageError("--score-only prints one number: not with --json or --by-sentence.")
    if text is None and (counts is not None or lowercase or split != "ascii"):
        raise click.UsageError("--counts, --lowercase and --split need --text.")
    if phrases and (text is None or score_only):
        raise click.UsageError("--phrases needs --text, and goes without --score-only.")
    if max_length is not None and not phrases:
        raise click.UsageError("--max-length is for --phrases.")
    if len(runs) > len(hyps):
        raise click.UsageError("there are more --run than files of links.")
    made = [signature_of(path) for path in runs]
    options.one_stdin(*hyps, gold, *(text or ()), *(counts or ()))
    corpus = options.read_text(text, encoding, split, lowercase)
    readers = [LinkReader(path, hyp_format, hyp_base) for path in hyps]
    readers.append(LinkReader(gold, gold_format, gold_base))
    *found, answer = compared.matched(readers, first, last)
    settings: dict[str, object] = {"lines": compared.lines(first, last)}
    settings |= {"null": "no", "alpha": f"{alpha:g}", "ci": f"{level:g}", "boot": bootstrap, "seed": seed}
    counted = None if counts is None else options.read_text(counts, encoding, split, lowercase)
    if corpus is not None and text is not None:
        corpus = compared.matched_text(corpus, text[0], readers, len(answer), first, last)
        for reader, links in zip(readers, [*found, answer], strict=True):
            reader.check(links, corpus)
        settings |= compared.counting(counted or corpus, lowercase, split)
    evaluation = evaluate(
        found,
        answer,
        alpha=alpha,
        n_samples=0 if score_only else bootstrap,
        seed=seed,
        level=level,
        text=corpus,
        counted=counted,
    )
    if phrases and corpus is not None:
        longest = max_length or MAX_LENGTH
        settings["phrases"] = longest
        how = {"n_samples": bootstrap, "seed": seed}
        shared = [shared_phrases(links, answer, corpus, longest) for links in found]
        results = [
            replace(result, phrases=overlap(table, level=level, **how))
            for result, table in zip(evaluation.results, shared, strict=True)
        ]
        evaluation = replace(evaluation, results=results)
    signature = report.signature(evaluation, settings, made)
    if score_only:
        shown = "".join(f"{100 * result.scores['aer']:.{width}f}\n" for result in evaluation.results)
    elif as_json:
        shown = report.as_json(evaluation, hyps, signature, by_sentence, alpha)
    elif by_sentence:
        shown = report.as_tsv(evaluation, hyps, signature, alpha, width)
    else:
        shown = report.as_text(evaluation, hyps, signature, alpha, width)
    options.show(shown)


def signature_of(path: str) -> str:
    """The signature of a run, from its model or from its log."""
    with open(path, "rb") as file:
        first = file.readline(1 << 20)
    if first.startswith(MAGIC[:7]):
        return Model.load(path, check=False).signature
    try:
        return str(json.loads(first)["signature"])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DataError("this is neither a model nor a log of iterations", file=path) from None
