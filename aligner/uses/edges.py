"""Dependency edges that links carry, against the trees of the target.

This is figure 10 of Graça, Ganchev & Taskar (2010). An edge head -> dependent of the source is transferred to
an edge between target words for each link of the head and each link of the dependent, if the two target words
differ. It is conserved if the target's tree has it. Edges of the target that several source edges are
transferred to count once. The root is no word, and has no edge.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aligner.scoring.charts import POINTS, Cell, Chart, Line, Panel
from aligner.uses.annotated import Filters, Pair, edge_targets, filtered
from aligner.uses.conllu import UPOS

Floats = npt.NDArray[np.float64]
FEW = 100
STEPS = tuple(n / 10 for n in range(10))  # thresholds of a table


@dataclass(frozen=True, eq=False)
class EdgeCurve:
    """Transferred edges by the threshold of links: a threshold takes the links that score above it.

    scores     [E]  of transferred edges, falling: an edge is transferred by thresholds below its score
    conserved  [E]  whether the target's tree has the edge
    links      [L]  scores of the links, falling
    scored     whether links have scores; if not, all scores are 1
    """

    scores: Floats
    conserved: npt.NDArray[np.bool_]
    links: Floats
    n_sentences: int
    scored: bool

    @classmethod
    def of(cls, pairs: Iterable[Pair], filters: Filters) -> EdgeCurve:
        """The curve of annotated sentence pairs."""
        scores, conserved, links = array("d"), array("b"), array("d")
        n, scored = 0, False
        for pair in pairs:
            n += 1
            scored |= pair.scored
            kept = filtered(pair, filters)
            links.extend(score for _, _, score in kept)
            heads = pair.tgt.heads()
            for (head, j), score in transferred(pair, filters).items():
                scores.append(score)
                conserved.append(heads[j] == head + 1)
        order = np.argsort(-np.array(scores), kind="stable")
        falling = -np.sort(-np.array(links))
        return cls(np.array(scores)[order], np.array(conserved, dtype=bool)[order], falling, n, scored)

    def at(self, threshold: float) -> dict[str, float]:
        """What a threshold gives: numbers of links, edges, conserved edges; edges a sentence; accuracy.

        A share of nothing is 1.
        """
        n_links, n = (int(np.searchsorted(-x, -threshold, side="left")) for x in (self.links, self.scores))
        right = int(self.conserved[:n].sum())
        each, accuracy = n / max(1, self.n_sentences), right / n if n else 1.0
        return {
            "links": n_links,
            "edges": n,
            "conserved": right,
            "edges_a_sentence": each,
            "accuracy": accuracy,
        }

    def table(self) -> list[tuple[float | None, dict[str, float]]]:
        """(threshold, what it gives): ten of them; None, one for all, if links have no scores."""
        return [(step, self.at(step)) for step in STEPS] if self.scored else [(None, self.at(0.0))]


def transferred(pair: Pair, filters: Filters) -> dict[tuple[int, int], float]:
    """(head, dependent) of the target, from 0 -> the edge's score: thresholds below it transfer the edge."""
    heads = pair.src.heads()
    root = heads.index(0) if 0 in heads else None
    links = filtered(pair, filters)
    found = edge_targets(links, pair.src.column(UPOS), pair.tgt.column(UPOS), root, filters)
    edges: dict[tuple[int, int], float] = {}
    if found is None:
        return edges
    targets, most = found
    for c, head in enumerate(heads):
        if head <= 0:
            continue
        for j, score in targets[c]:
            for k, other in targets[head - 1]:
                if j != k:
                    least = min(score, other, most)
                    if least > edges.get((k, j), -1.0):
                        edges[k, j] = least
    return edges


def edge_chart(named: Sequence[tuple[str, EdgeCurve]]) -> Chart:
    """Accuracy by transferred edges a sentence, at every threshold; one point of links without scores.

    Points of fewer than FEW edges are left out: their accuracy is chance.
    """
    lines = []
    rows: list[list[Cell]] = []
    for name, curve in named:
        n = np.flatnonzero(np.append(np.diff(curve.scores) != 0, True)[: len(curve.scores)]) + 1
        n = n[n >= min(FEW, len(curve.scores))]
        n = n[np.unique(np.linspace(0, len(n) - 1, POINTS).astype(int))] if len(n) > POINTS else n
        right = np.cumsum(curve.conserved)[n - 1] if len(n) else n
        each, accuracy = (n / max(1, curve.n_sentences)).tolist(), (100 * right / np.maximum(1, n)).tolist()
        lines.append(Line(name, each, accuracy))
        shown = [f"{x:.6f}" if curve.scored else None for x in curve.scores[n - 1].tolist()]
        rows += [
            list(row)
            for row in zip([name] * len(n), shown, n.tolist(), right.tolist(), each, accuracy, strict=True)
        ]
    panel = Panel("transferred edges a sentence", "conserved edges (%)", lines)
    return Chart([panel], ["name", "least score", "edges", "conserved", "edges a sentence", "accuracy"], rows)
