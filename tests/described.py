"""Slow twins of what is known of candidate links: surroundings, spelling, features, one number at a time."""

from __future__ import annotations

import math
import unicodedata
from dataclasses import dataclass

import numpy as np

from aligner import Corpus
from aligner.learning.candidates import Candidates

Cell = tuple[int, int]
Grid = dict[Cell, float]  # the candidates of a sentence pair -> a value


@dataclass
class Pair:
    """A sentence pair and its candidates.

    posteriors  of each candidate: projected forward and reverse, forward and reverse
    tables      of each view and candidate: t(f | e), t(e | f), the count of (e, f), those of e and of f
    """

    src: list[str]
    tgt: list[str]
    posteriors: dict[Cell, tuple[float, ...]]
    tables: dict[str, dict[Cell, tuple[float, ...]]]

    def mean(self, a: int, b: int) -> Grid:
        """The mean of two of the posteriors."""
        return {cell: (p[a] + p[b]) / 2 for cell, p in self.posteriors.items()}


def corpus_of(pairs: list[Pair]) -> Corpus:
    return Corpus.from_pairs([(pair.src, pair.tgt) for pair in pairs])


def candidates_of(pairs: list[Pair]) -> Candidates:
    """The same candidates as arrays."""
    corpus = corpus_of(pairs)
    rows = [(n, *cell) for n, pair in enumerate(pairs) for cell in sorted(pair.posteriors)]
    n, src, tgt = (np.array([row[k] for row in rows], np.int64) for k in range(3))
    lengths = np.array([[len(pair.src) for pair in pairs], [len(pair.tgt) for pair in pairs]], np.int64)
    lengths = lengths.reshape(2, len(pairs))
    begin = np.concatenate([[0], np.cumsum(lengths[0] * lengths[1])])
    sides = ((corpus.src, src), (corpus.tgt, tgt))
    words = [side.ids[side.offsets[n] + at] for side, at in sides]
    views = list(pairs[0].tables) if pairs else []

    def numbers(grids: list[dict[Cell, tuple[float, ...]]], size: int) -> np.ndarray:
        found = [grid[cell] for grid in grids for cell in sorted(grid)]
        return np.array(found, np.float32).reshape(-1, size).T.copy()

    repeats = [
        [pairs[k].src.count(pairs[k].src[i]) for k, i, _ in rows],
        [pairs[k].tgt.count(pairs[k].tgt[j]) for k, _, j in rows],
    ]
    return Candidates(
        np.cumsum([0, *(len(pair.posteriors) for pair in pairs)]),
        src.astype(np.int32),
        tgt.astype(np.int32),
        begin[n] + src * lengths[1][n] + tgt,
        words[0],
        words[1],
        lengths,
        numbers([pair.posteriors for pair in pairs], 4),
        np.array([numbers([pair.tables[view] for pair in pairs], 5) for view in views]),
        np.array(repeats, np.int32),
    )


def log_odds(p: float) -> float:
    p = min(max(p, 1e-4), 1 - 1e-4)
    return math.log(p / (1 - p))


def compared(grid: Grid, cell: Cell, side: int) -> tuple[float, float, int]:
    """(the largest other value of the same word, the sum of the others, how many are before it, up to 3)."""
    same = sorted(other for other in grid if other[side] == cell[side] and other != cell)
    values = [grid[other] for other in same]
    before = [x for x in same if grid[x] > grid[cell] or grid[x] == grid[cell] and x < cell]
    return max(values, default=0.0), sum(values), min(3, len(before))


def competition(grid: Grid, cell: Cell) -> dict[str, float]:
    found = {}
    for side, line in enumerate(("row", "column")):
        other, rest, rank = compared(grid, cell, side)
        found |= {f"{line}: other": other, f"{line}: rest": rest, f"{line}: rank": rank}
        found[f"{line}: lead"] = grid[cell] - other
        found[f"{line}: lead in log-odds"] = log_odds(grid[cell]) - log_odds(other)
        found[f"{line}: left over"] = max(0.0, 1 - rest - grid[cell])
    return found


def neighbours(grid: Grid, cell: Cell) -> dict[str, float]:
    """The values around a cell, by where they are."""

    def at(di: int, dj: int) -> float:
        return grid.get((cell[0] + di, cell[1] + dj), 0.0)

    steps = [(di, dj) for di in (-1, 0, 1) for dj in (-1, 0, 1) if (di, dj) != (0, 0)]
    found = {f"{di} {dj}": at(di, dj) for di, dj in steps}
    found["largest near"] = max(found.values())
    found["diagonal 2"] = at(2, 2) + at(-2, -2)
    found["five by five"] = sum(at(di, dj) for di in (-2, -1, 1, 2) for dj in (-2, -1, 1, 2))
    return found


def surroundings(grid: Grid, cell: Cell) -> list[float]:
    """What ext/learning/_surroundings.pyx says of a candidate, in its order."""
    return [*compared(grid, cell, 0), *compared(grid, cell, 1), *neighbours(grid, cell).values()]


def without_accents(word: str) -> str:
    letters = [x for x in unicodedata.normalize("NFD", word) if not unicodedata.combining(x)]
    return "".join(letters) if letters else word


def common_letters(a: str, b: str) -> tuple[int, int]:
    """(letters of the longest common subsequence, of the longest common beginning) of at most 64 letters."""
    a, b = a[:64], b[:64]
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            best[i + 1][j + 1] = best[i][j] + 1 if x == y else max(best[i][j + 1], best[i + 1][j])
    beginning = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return best[-1][-1], beginning


def spelling(e: str, f: str) -> dict[str, float]:
    """What the spelling of two words says, by name."""
    e, f = without_accents(e), without_accents(f)
    longer, shorter = max(len(e), len(f)), min(len(e), len(f))
    subsequence, beginning = (n / min(longer, 64) for n in common_letters(e, f))
    sign = [not any(x.isalnum() for x in word) for word in (e, f)]
    digits = [any(x.isdigit() for x in word) for word in (e, f)]
    bare = ["".join(x for x in word if x not in "aeiouy") for word in (e, f)]
    return {
        "equal": e == f,
        "equal, long": e == f and longer > 3,
        "common letters": subsequence,
        "common letters, long": subsequence if shorter > 3 else 0,
        "common beginning": beginning,
        "both short": longer <= 3,
        "both signs": all(sign),
        "one a sign": sign[0] != sign[1],
        "both digits": all(digits),
        "one has digits": digits[0] != digits[1],
        "equal consonants": bare[0] == bare[1],
        "length ratio": math.log(len(e) / len(f)),
    }


def features(pair: Pair, cell: Cell) -> dict[str, float]:
    """The features of a candidate by name."""
    i, j = cell
    p = pair.posteriors[cell]
    means = {"projected": pair.mean(0, 1), "unprojected": pair.mean(2, 3)}
    named = dict(zip(("projected forward", "projected reverse", "forward", "reverse"), p, strict=True))
    named |= {name: grid[cell] for name, grid in means.items()}
    found = {name: x for one, x in named.items() for name, x in ((one, x), (f"log-odds {one}", log_odds(x)))}
    found["smaller direction"], found["larger direction"] = sorted(p[2:])
    found["product of directions"] = p[2] * p[3]
    for mean, grid in means.items():
        found |= {f"{mean} {name}": x for name, x in competition(grid, cell).items()}
    found |= {f"near: {name}": x for name, x in neighbours(means["projected"], cell).items()}
    I, J = len(pair.src), len(pair.tgt)
    h = abs((i + 0.5) / I - (j + 0.5) / J)
    found |= {"distance": h, "root of distance": math.sqrt(h), "square of distance": h * h}
    found["log of distance in words"] = math.log(1 + h * max(I, J))
    found |= {f"spelling: {name}": float(x) for name, x in spelling(pair.src[i], pair.tgt[j]).items()}
    found |= {"log source words": math.log(I), "log target words": math.log(J)}
    found["log ratio of words"] = math.log(I / J)
    found["repeats of e"] = pair.src.count(pair.src[i])
    found["repeats of f"] = pair.tgt.count(pair.tgt[j])
    for n, (view, grid) in enumerate(pair.tables.items()):
        forward, reverse, count, e, f = grid[cell]
        if n == 0:
            logs = math.log(e + 0.01), math.log(f + 0.01)
            found |= {"log count of e": logs[0], "log count of f": logs[1]}
            found |= {"log count of the rarer": min(logs), "log ratio of counts": logs[0] - logs[1]}
        share = 2 * count / max(e + f, 1e-6)
        found[f"{view}: log t(f | e)"] = math.log(forward + 1e-6)
        found[f"{view}: log t(e | f)"] = math.log(reverse + 1e-6)
        found[f"{view}: share of links"] = share
        found[f"{view}: log share of links"] = math.log(share + 1e-4)
        found[f"{view}: log links"] = math.log(count + 0.01)
    return found
