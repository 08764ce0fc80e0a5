"""Candidates of links, with scores, labels and features."""

from __future__ import annotations

import numpy as np

Candidates = tuple[np.ndarray, np.ndarray, np.ndarray]  # offsets [S + 1], src [n], tgt [n]


def candidates_of(scores: dict) -> tuple[Candidates, np.ndarray]:
    """Candidates of one sentence pair given as (src, tgt) -> score, and their scores."""
    links = sorted(scores)
    src, tgt = (np.array([link[side] for link in links], np.int32) for side in (0, 1))
    return (np.array([0, len(links)]), src, tgt), np.array([scores[link] for link in links])


def scores_in(candidates: Candidates, s: np.ndarray) -> dict:
    """(src, tgt) -> score, of one sentence pair."""
    links = zip(candidates[1].tolist(), candidates[2].tolist(), strict=True)
    return dict(zip(links, s.tolist(), strict=True))


def random_candidates(
    random, shapes: list, density: float, low: float = -1.0
) -> tuple[Candidates, np.ndarray]:
    """A share of the cells of sentence pairs of some shapes, and scores from low to 1."""
    cells = [np.nonzero(random.random(shape) < density) for shape in shapes]
    src, tgt = (np.concatenate([cell[side] for cell in cells]).astype(np.int32) for side in (0, 1))
    offsets = np.cumsum([0, *(len(cell[0]) for cell in cells)])
    return (offsets, src, tgt), low + (1 - low) * random.random(len(src))


def labelled(random, shapes: list, noise: float, F: int = 6, density: float = 0.7) -> tuple:
    """offsets, src, tgt, X, label: gold along the diagonal, and a first feature that shows it, with noise."""
    candidates, _ = random_candidates(random, shapes, density)
    _, src, tgt = candidates
    label = np.where(src == tgt, 2, np.where(tgt == src + 1, random.integers(0, 3, len(src)), 0)).astype(
        np.int8
    )
    X = random.normal(size=(len(src), F))
    X[:, 0] = (label > 0) - 0.5 + noise * random.normal(size=len(src))
    X[:, -1] = 1
    return *candidates, X, label
