"""An evaluation as text, TSV or JSON, with the signature that says how it was made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from aligner import __version__
from aligner.scoring.evaluate import COLUMNS, Evaluation, measures, overlap_rates

NAMES = {"aer": "AER", "precision": "precision", "recall": "recall", "f1": "F1", "f_alpha": "F({alpha:g})"}
# Columns of the statistics of phrase pairs
PHRASES = ("phrases", "gold_phrases", "shared_phrases")


def signature(evaluation: Evaluation, settings: dict[str, object], runs: Iterable[str] = ()) -> str:
    """What the scores depend on, as key:value pairs in sacrebleu's manner. The version is the last.

    runs: signatures of the runs that made the hypotheses, added after ||
    """
    n = len(evaluation.results[0].statistics)
    fields = {"gold": evaluation.gold_hash, "n": n, **settings, "version": __version__}
    scores = "AER|" + "|".join(f"{key}:{value}" for key, value in fields.items())
    return "||".join([scores, *runs])


def as_text(evaluation: Evaluation, names: list[str], signature: str, alpha: float, width: int) -> str:
    """A table for people, in percent: a row a measure, a column a hypothesis."""
    results = evaluation.results

    def percent(x: float) -> str:
        return f"{100 * x:.{width}f}"

    rows: list[list[str]] = []
    if len(results) > 1:
        rows.append(["", *names])

    def cell(scores: dict[str, float], intervals: dict[str, tuple[float, float]], key: str) -> str:
        if not intervals:
            return percent(scores[key])
        low, high = intervals[key]
        return f"{percent(scores[key])}  [{percent(low)}, {percent(high)}]"

    for key, label in NAMES.items():
        cells = (cell(result.scores, result.intervals, key) for result in results)
        rows.append([label.format(alpha=alpha), *cells])
    for column, label in (("links", "links"), ("sure", "sure links"), ("possible", "gold links")):
        k = COLUMNS.index(column)
        rows.append([label, *(str(int(result.statistics[:, k].sum())) for result in results)])
    rows.append(["one-to-one", *(percent(result.scores["one_to_one"]) for result in results)])
    rows.append(["  in gold", *(percent(result.scores["gold_one_to_one"]) for result in results)])
    for part in ("rare", "common"):
        for key in ("precision", "recall", "aer"):
            scores = [getattr(result, part) for result in results]
            if scores[0] is not None:
                label = NAMES[key] if key == "aer" else key
                rows.append([f"{part} {label}", *(percent(score[key]) for score in scores)])
    compared = [result.phrases for result in results if result.phrases is not None]
    if compared:
        for key in ("precision", "recall", "f1"):
            cells = (cell(phrases.scores, phrases.intervals, key) for phrases in compared)
            rows.append([f"phrase {NAMES[key]}", *cells])
        for k, label in enumerate(("phrase pairs", "  in gold", "  in both")):
            rows.append([label, *(str(int(phrases.statistics[:, k].sum())) for phrases in compared)])
    if evaluation.symmetry is not None:
        rows.append(["symmetry", percent(evaluation.symmetry)])
    if evaluation.p_value is not None:
        rows.append(["p (AER)", f"{evaluation.p_value:.4f}"])
    widths = [max(len(row[k]) for row in rows if k < len(row)) for k in range(len(results) + 1)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=False)).rstrip() for row in rows]
    return "\n".join([*lines, signature]) + "\n"


def as_json(evaluation: Evaluation, names: list[str], signature: str, by_sentence: bool, alpha: float) -> str:
    """JSON for programs: scores are shares between 0 and 1."""
    hypotheses: list[dict[str, Any]] = []
    for name, result in zip(names, evaluation.results, strict=True):
        item: dict[str, Any] = {"name": name, **result.scores}
        totals = result.statistics.sum(axis=0).tolist()
        item["counts"] = dict(zip(COLUMNS, totals, strict=True))
        item["intervals"] = result.intervals
        for part in ("rare", "common"):
            if (scores := getattr(result, part)) is not None:
                item[part] = scores
        if result.phrases is not None:
            totals = result.phrases.statistics.sum(axis=0).tolist()
            counts = dict(zip(PHRASES, totals, strict=True))
            item["phrases"] = {
                **result.phrases.scores,
                "counts": counts,
                "intervals": result.phrases.intervals,
            }
        if by_sentence:
            shares = measures(result.statistics, alpha)
            item["sentences"] = [
                {
                    "sentence": n + 1,
                    **{key: float(shares[key][n]) for key in NAMES},
                    **dict(zip(COLUMNS, row, strict=True)),
                }
                for n, row in enumerate(result.statistics.tolist())
            ]
            if result.phrases is not None:
                for sentence, row in zip(item["sentences"], result.phrases.statistics.tolist(), strict=True):
                    sentence |= dict(zip(PHRASES, row, strict=True))
        hypotheses.append(item)
    whole: dict[str, Any] = {"signature": signature, "hypotheses": hypotheses}
    for key in ("symmetry", "p_value"):
        if (value := getattr(evaluation, key)) is not None:
            whole[key] = value
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def as_tsv(evaluation: Evaluation, names: list[str], signature: str, alpha: float, width: int) -> str:
    """A line a sentence and hypothesis, a line `all` a hypothesis, and the signature as a comment."""
    header = ["hypothesis", "sentence", *(label.format(alpha=alpha) for label in NAMES.values()), *COLUMNS]
    if evaluation.results[0].phrases is not None:
        header += [f"phrase {NAMES[key]}" for key in ("precision", "recall", "f1")] + list(PHRASES)
    lines = ["\t".join(header)]
    for name, result in zip(names, evaluation.results, strict=True):
        table = np.vstack([result.statistics, result.statistics.sum(axis=0)])
        shares = measures(table, alpha)
        for n, row in enumerate(table.tolist()):
            sentence = str(n + 1) if n + 1 < len(table) else "all"
            scores = (f"{100 * shares[key][n]:.{width}f}" for key in NAMES)
            lines.append("\t".join([name, sentence, *scores, *map(str, row)]))
        if result.phrases is not None:
            table = result.phrases.statistics
            table = np.vstack([table, table.sum(axis=0)])
            columns = overlap_rates(table).values()
            for n, row in enumerate(table.tolist()):
                scores = (f"{100 * column[n]:.{width}f}" for column in columns)
                lines[n - len(table)] = "\t".join([lines[n - len(table)], *scores, *map(str, row)])
    return "\n".join([*lines, f"# {signature}"]) + "\n"
