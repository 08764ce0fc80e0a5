"""What commands that carry annotation, or compare what was carried, share."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Sequence

import click
from click.core import ParameterSource

from aligner import __version__
from aligner.cli.options import F
from aligner.errors import DataError
from aligner.files import display_name
from aligner.links.formats import LinkReader
from aligner.uses.annotated import Filters, aligned
from aligner.uses.conllu import Sentence, read_conllu
from aligner.uses.edges import EdgeCurve
from aligner.uses.spans import KEY, SpanFile, SpanScores, score_spans

FILTERS = ("compatible", "verb_root", "no_punct")  # parameters


def filters(command: F) -> F:
    """--compatible, --verb-root and --no-punct."""
    for name, help in (
        ("--no-punct", "Carry no edges to and from punctuation."),
        ("--verb-root", "Carry no edges of sentences whose root is no verb, or is linked to no verb."),
        ("--compatible", "Leave out links of nouns with verbs. The target must have parts of speech."),
    ):
        command = click.option(name, is_flag=True, help=help)(command)
    return command


def span_key(command: F) -> F:
    """--span-key."""

    def named(_: click.Context, __: click.Parameter, key: str) -> str:
        if not key or any(x in key for x in "=|\t\n "):
            raise click.BadParameter("a name without blanks, = and | is needed.")
        return key

    help = "The attribute of MISC that has the BIO tags of spans."
    return click.option("--span-key", default=KEY, metavar="KEY", callback=named, help=help)(command)


def only(ctx: click.Context, mode: str, allowed: Iterable[str]) -> None:
    """Refuses options that are not for a mode of a command. allowed: names of parameters"""
    for option in ctx.command.params:
        given = ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if isinstance(option, click.Option) and given and option.name not in allowed:
            raise click.UsageError(f"{option.opts[-1]} is not for {mode}.")


def check_stdin(n_hyps: int, *others: str | None) -> None:
    """Refuses stdin as a file that is read once for each hypothesis, if there are several."""
    if n_hyps > 1 and "-" in others:
        raise click.UsageError("stdin can be read only once: give one file to compare, or no -.")


def annotated(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The same sentences. Says so if the file is text, which has nothing to carry."""
    for n, sentence in enumerate(sentences):
        if n == 0 and sentence.plain:
            what = "%s is no CoNLL-U, but text: it has no parts of speech, features, dependencies and spans"
            logging.warning(what, sentence.file)
        yield sentence


def edge_curve(src: str, tgt: str, reader: LinkReader, some: Filters) -> EdgeCurve:
    """The edges that links carry from the trees of a file to those of another one."""
    curve = EdgeCurve.of(aligned(annotated(read_conllu(src)), annotated(read_conllu(tgt)), reader), some)
    reader.tell_null()
    if curve.n_sentences == 0:
        raise DataError("no sentences to score", file=display_name(tgt))
    return curve


def show_edges(named: Sequence[tuple[str, EdgeCurve]], some: Filters, as_json: bool, width: int) -> str:
    """Tables of transferred and conserved edges over thresholds."""
    n = named[0][1].n_sentences
    signature = f"EDGES|n:{n}|filters:{some}|version:{__version__}"
    if as_json:
        found = [
            {"name": name, "rows": [{"threshold": t, **row} for t, row in curve.table()]}
            for name, curve in named
        ]
        return json.dumps({"signature": signature, "hypotheses": found}, indent=1, ensure_ascii=False) + "\n"
    lines = []
    for name, curve in named:
        lines += [name] if len(named) > 1 else []
        rows = [["threshold", "links", "edges", "a sentence", "conserved", "accuracy"]]
        for threshold, row in curve.table():
            cells = [f"{row[key]:.0f}" for key in ("links", "edges")] + [
                f"{row['edges_a_sentence']:.{width}f}"
            ]
            cells += [f"{row['conserved']:.0f}", f"{100 * row['accuracy']:.{width}f}"]
            rows.append(["all" if threshold is None else f"{threshold:g}", *cells])
        lines += _lined_up(rows)
    return "\n".join([*lines, signature]) + "\n"


def spans_compared(hyps: Sequence[str], gold: str, key: str) -> list[SpanScores]:
    """The scores of each file of spans. The gold spans are read once for each."""
    return [score_spans(SpanFile(hyp, key), SpanFile(gold, key)) for hyp in hyps]


def show_spans(named: Sequence[tuple[str, SpanScores]], as_json: bool, score_only: bool, width: int) -> str:
    """Tables of precision, recall and F1, by type."""
    signature = f"SPANS|n:{named[0][1].n_sentences}|match:exact|version:{__version__}"
    if score_only:
        return "".join(f"{100 * scores.rows()['all']['f1']:.{width}f}\n" for _, scores in named)
    if as_json:
        found = [{"name": name, "types": scores.rows()} for name, scores in named]
        return json.dumps({"signature": signature, "hypotheses": found}, indent=1, ensure_ascii=False) + "\n"
    lines = []
    for name, scores in named:
        lines += [name] if len(named) > 1 else []
        rows = [["", "precision", "recall", "F1", "found", "gold", "right"]]
        for kind, row in scores.rows().items():
            shares = [f"{100 * row[key]:.{width}f}" for key in ("precision", "recall", "f1")]
            rows.append([kind, *shares, *(f"{row[key]:.0f}" for key in ("found", "gold", "right"))])
        lines += _lined_up(rows)
    return "\n".join([*lines, signature]) + "\n"


def _lined_up(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of a table, the first column to the left, the others to the right."""
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    return [
        "  ".join([row[0].ljust(first), *(x.rjust(w) for x, w in zip(row[1:], widths, strict=True))])
        for row in rows
    ]
