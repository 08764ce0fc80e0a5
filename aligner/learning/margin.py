"""Weights learned with a large margin, by extragradient steps.

    minimise   ||w||^2 / 2C + sum over sentence pairs of max over z in Z of [w.G(z) + l(z)] - w.G(y)

    w     [W]  weights: of features, of later links of source words, of target words, of patterns
    z     [V]  an alignment, in whole or in part; Z is what may be chosen (learning/polytope.py)
    G(z)  [W]  features of an alignment: w.G(z) is its score
    y     [V]  the target: of the alignments that have sure links only, one that has most
    l(z)  the loss: c- for each link of y that is not in z, 1 for each link in z that is not in the gold

(Taskar, Lacoste-Julien & Klein 2005; Lacoste-Julien, Taskar, Klein & Jordan 2006; they bound ||w|| instead.)
Penalties are 0 or more and do not fall, pattern scores are 0 or more. Links that are only possible cost
nothing, nor do sure links for which y has no room. The loss is linear, so that we want the saddle point of

    L(w, z) = ||w||^2 / 2C + w.(G(z) - G(y)) + costs.z + c- |y|,    the least in w, the largest in z

over all sentence pairs at once. An extragradient step (Taskar, Lacoste-Julien & Jordan 2006) goes from (w, z)
to (w', z') by the derivatives at (w, z), and then again from (w, z) by those at (w', z'):

    w' = P((w - b_w (G(z) - G(y))) / (1 + b_w / C)),    z' = P(z + b_z gains),  gains.z = w.G(z) + costs.z

P is the nearest point that is allowed. ||w||^2 / 2C is minimised exactly in the step, by the division. Steps
are safe if b_w b_z ||G||^2 < 1. The means of w' and z' tend to the saddle point. When their gap, the largest
L(mean w, .) - the least L(., mean z), is half of what it was, steps and means begin again from the means.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.learning.polytope import PATTERNS, Ints, Polytope, Positions, Reals
from aligner.learning.structure import fertility, require
from aligner.learning.weights import Progress, Weights, rising, scores
from aligner.threads import useful

STRUCTURES = ("matching", "fertility", "quadratic")
NO_LINK, POSSIBLE, SURE = range(3)  # labels of candidates
SAFE = 0.9  # of the longest safe step
RATIO = 10.0  # sqrt(b_w / b_z) = RATIO / sqrt(n): z has n links to move, and w a few weights
POWER_STEPS = 50  # after which ||G|| is known well enough
NEAR = 0.01  # tolerance of projections / tolerance of the gap
MOST_SWEEPS = 1000  # of a projection
CHECK = 20  # steps between two measurements; one of pattern scores solves a linear program a sentence pair


def learn_margin(
    offsets: Ints,
    src: Positions,
    tgt: Positions,
    X: Reals,
    label: npt.NDArray[np.int8],
    structure: str,
    *,
    most_links: int = 3,
    C: float = 0.1,
    missed: float = 3.0,
    tolerance: float = 0.01,
    most_steps: int = 2000,
    n_threads: int = 1,
    report: Callable[[Progress], None] = lambda progress: None,
) -> Weights:
    """Weights of one of STRUCTURES, the same for any number of threads.

    offsets     [S + 1]  candidates of sentence pair n: offsets[n] to offsets[n + 1]
    src, tgt    [n]      their positions, by source, then target, each once
    X           [n, F]   their features
    label       [n]      0 not in the gold, 1 possible only, 2 sure
    most_links  that a word may have; a matching has 1 in any case, and with 1 quadratic is one-to-one
    C           how much errors count beside the size of weights
    missed      c-, what a missed link costs where a wrong one costs 1
    tolerance   learning ends when gap <= tolerance * primal, or after most_steps
    report      is given each measurement
    """
    arguments.choice("structure", structure, STRUCTURES)
    arguments.number("C", C, 1e-9, 1e9)
    arguments.number("missed", missed, 0, 1e9)
    arguments.number("tolerance", tolerance, 1e-9, 1)
    arguments.number("most_steps", most_steps, 1, 1e9, whole=True)
    arguments.threads(n_threads)
    if X.ndim != 2 or not len(X) == len(label) == len(src) == len(tgt):
        raise ValueError("features, labels and positions do not fit together")
    if not np.isfinite(X).all():
        raise ValueError("features must be finite")
    if not np.isin(label, (NO_LINK, POSSIBLE, SURE)).all():
        raise ValueError("labels must be 0, 1 or 2")
    if structure == "quadratic":
        require()
    most = 1 if structure == "matching" else arguments.number("most_links", most_links, 1, 1000, whole=True)
    later = int(most) - 1, int(most) - 1
    polytope = Polytope.of(offsets, src, tgt, later, paired=structure == "quadratic")
    problem = Problem(polytope, src, tgt, X, label, C, missed, useful(n_threads, X.size))
    w, progress = saddle(problem, tolerance, most_steps, report)
    return problem.weights(w, progress)


@dataclass(frozen=True)
class Problem:
    """L(w, z) of labelled candidates; the fields are arguments of `learn_margin`."""

    polytope: Polytope
    src: Positions
    tgt: Positions
    X: Reals
    label: npt.NDArray[np.int8]
    C: float
    missed: float
    n_threads: int

    @cached_property
    def target(self) -> Reals:
        """[V] y."""
        src, tgt = (np.zeros(later) for later in self.polytope.later)
        sure = (self.label == SURE).astype(np.float64)
        links = fertility(self.polytope.offsets, self.src, self.tgt, sure, src, tgt, self.n_threads)
        return self.polytope.completed(links)

    @cached_property
    def wanted(self) -> Reals:
        """[W] G(y)."""
        return self.features(self.target)

    @cached_property
    def costs(self) -> Reals:
        """[n] what a link of z adds to the loss: -c- in y, 1 if it is not in the gold, else 0."""
        links = self.target[self.polytope.parts[0]]
        return np.where(links > 0, -self.missed, (self.label == NO_LINK).astype(np.float64))

    def features(self, z: Reals) -> Reals:
        """[W] G(z). Sums have a fixed order, as in `scores`."""
        links, src, tgt, pairs = (z[part] for part in self.polytope.parts)
        (R, C), (src_later, tgt_later) = self.polytope.n_words, self.polytope.later
        parts = [np.einsum("kf,k->f", self.X, links)]
        parts += [-src.reshape(R, src_later).sum(axis=0), -tgt.reshape(C, tgt_later).sum(axis=0)]
        return np.concatenate([*parts, np.bincount(self.polytope.pattern, pairs, len(PATTERNS))])

    def scored(self, w: Reals) -> Reals:
        """[V] what each variable adds to a score: w.G(z) = scored.z."""
        features, src_penalties, tgt_penalties, pattern_scores = self.cut(w)
        s = scores(self.X, features)
        return self.polytope.gains(s, src_penalties, tgt_penalties, pattern_scores)

    def gains(self, w: Reals) -> Reals:
        """[V] what each variable adds to L: w.G(z) + costs.z = gains.z."""
        found = self.scored(w)
        found[self.polytope.parts[0]] += self.costs
        return found

    def cut(self, w: Reals) -> list[Reals]:
        """Weights of features, of later links of source words, of target words, of patterns."""
        return np.split(w, np.cumsum([self.X.shape[1], *self.polytope.later]))

    def allowed(self, w: Reals) -> Reals:
        """[W] the nearest weights that are allowed."""
        features, src_penalties, tgt_penalties, pattern_scores = self.cut(w)
        parts = features, rising(src_penalties), rising(tgt_penalties), np.maximum(pattern_scores, 0)
        return np.concatenate(parts)

    def weights(self, w: Reals, progress: tuple[Progress, ...] = ()) -> Weights:
        features, src_penalties, tgt_penalties, pattern_scores = self.cut(w)
        return Weights(features, src_penalties, tgt_penalties, pattern_scores, progress)

    def value(self, w: Reals, z: Reals) -> float:
        """L(w, z)."""
        missed = self.missed * self.target[self.polytope.parts[0]].sum()
        linear = (self.gains(w) * z).sum() - (w * self.wanted).sum() + missed
        return float((w * w).sum() / (2 * self.C) + linear)

    def primal(self, w: Reals) -> float:
        """The largest L(w, z): what is minimised. Without patterns a whole alignment has it."""
        weights = self.weights(w)
        s = scores(self.X, weights.features) + self.costs
        links = weights.best(self.polytope.offsets, self.src, self.tgt, s, self.n_threads, relax=True)
        return self.value(w, self.polytope.completed(links))

    def dual(self, z: Reals) -> float:
        """The least L(w, z), that of w = P(C (G(y) - G(z))). z: in Z, as nearly as projections are."""
        return self.value(self.allowed(self.C * (self.wanted - self.features(z))), z)

    def norm(self) -> float:
        """||G||, the largest ||G(z)|| of ||z|| = 1, by power iteration. It comes from below, hence SAFE."""
        z = np.random.default_rng(0).random(len(self.target))
        for _ in range(POWER_STEPS):
            size = length(z)
            if size == 0:
                return 0.0
            z = self.scored(self.features(z / size))
        return math.sqrt(length(z))


def saddle(
    problem: Problem, tolerance: float, most_steps: int, report: Callable[[Progress], None]
) -> tuple[Reals, tuple[Progress, ...]]:
    """The weights of the saddle point, and what was measured on the way."""
    sets, n_threads = problem.polytope.sets, problem.n_threads
    safe, ratio = SAFE / (problem.norm() or 1.0), RATIO / math.sqrt(max(1, len(problem.X)))
    b_w, b_z = safe * ratio, safe / ratio
    w, z = np.zeros(len(problem.wanted)), problem.target.copy()
    changes = np.zeros(len(sets.members))  # a projection begins with those of the last one
    mean_w, mean_z, n = w, z, 0  # means of n steps
    last_gap = math.inf  # when steps began from means
    progress: list[Progress] = []

    def stepped(at_w: Reals, at_z: Reals) -> tuple[Reals, Reals]:
        """A step from (w, z) by the derivatives at (at_w, at_z)."""
        slope = problem.features(at_z) - problem.wanted
        new_z = z + b_z * problem.gains(at_w)
        sets.project(new_z, changes, NEAR * tolerance, MOST_SWEEPS, n_threads)
        return problem.allowed((w - b_w * slope) / (1 + b_w / problem.C)), new_z

    for step in range(1, most_steps + 1):
        half_w, half_z = stepped(w, z)
        w, z = stepped(half_w, half_z)
        n += 1
        mean_w, mean_z = mean_w + (half_w - mean_w) / n, mean_z + (half_z - mean_z) / n
        if step % CHECK and step < most_steps:
            continue
        now = Progress(step, problem.primal(mean_w), problem.dual(mean_z))
        progress.append(now)
        report(now)
        if now.gap <= tolerance * now.primal:
            break
        if now.gap <= last_gap / 2:
            w, z, n, last_gap = mean_w, mean_z, 0, now.gap
    return mean_w, tuple(progress)


def length(x: Reals) -> float:
    return math.sqrt(float((x * x).sum()))
