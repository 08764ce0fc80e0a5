"""Alignments of the largest score: one-to-one, with penalties for later links of a word, with adjacent links.

    score = sum of s over the chosen links - penalties of source words - penalties of target words
            + sum of pattern scores over the pairs of adjacent links that are both chosen

(Taskar, Lacoste-Julien & Klein 2005, eq. 1; Lacoste-Julien, Taskar, Klein & Jordan 2006, eq. 2 and 3.) The
d-th link of a word costs penalties[d - 2], the first one nothing. No word has more than 1 + len(penalties)
links. Penalties are 0 or more and do not fall: otherwise a third link would be taken before a second one.

    offsets  [S + 1]  candidates of sentence pair n: offsets[n] to offsets[n + 1]
    src, tgt [n]      their positions, by source, then target, each once
    s        [n]      what a link gains, of any sign
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aligner.decoding._matching import flow
from aligner.errors import DataError
from aligner.learning.polytope import PATTERNS, Ints, Polytope, Positions, Reals
from aligner.threads import useful

Numbers = Sequence[float] | Reals


def matching(
    offsets: Ints, src: Positions, tgt: Positions, s: Reals, n_threads: int = 1
) -> npt.NDArray[np.bool_]:
    """[n] the links of the largest score in which no word has two."""
    return fertility(offsets, src, tgt, s, (), (), n_threads)


def fertility(
    offsets: Ints,
    src: Positions,
    tgt: Positions,
    s: Reals,
    src_penalties: Numbers,
    tgt_penalties: Numbers,
    n_threads: int = 1,
) -> npt.NDArray[np.bool_]:
    """[n] the links of the largest score, without patterns, by min-cost flow (ext/decoding/_matching.pyx).

    A link that gains nothing is never chosen: the score is as large without it.
    """
    s = scores_of(s)
    worth = np.flatnonzero(s > 0)
    columns = src[worth], tgt[worth], s[worth]
    penalties = convex(src_penalties), convex(tgt_penalties)
    chosen = np.zeros(len(s), bool)
    chosen[worth] = flow(np.searchsorted(worth, offsets), *columns, *penalties, useful(n_threads, len(worth)))
    return chosen


def quadratic(
    offsets: Ints,
    src: Positions,
    tgt: Positions,
    s: Reals,
    pattern_scores: Numbers,
    src_penalties: Numbers = (),
    tgt_penalties: Numbers = (),
    relax: bool = False,
) -> npt.NDArray[Any]:
    """[n] the links of the largest score, as bool, by an integer program of each sentence pair.

    pattern_scores  [4]  of PATTERNS, 0 or more
    relax           links may be chosen in part: the linear program's shares of links, as float64
    """
    require()
    z = np.zeros(len(s))
    s, patterns = scores_of(s), scores_of(pattern_scores)
    if patterns.shape != (len(PATTERNS),) or (patterns < 0).any():
        raise ValueError(
            f"pattern_scores must be {len(PATTERNS)} numbers of 0 or more, not {patterns.tolist()}"
        )
    penalties = convex(src_penalties), convex(tgt_penalties)
    later = len(penalties[0]), len(penalties[1])
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        if begin < end:
            one = Polytope.of(np.array([0, end - begin]), src[begin:end], tgt[begin:end], later, paired=True)
            gains = one.gains(s[begin:end], *penalties, patterns)
            z[begin:end] = best_of(one, gains, relax)[: end - begin]
    return z if relax else z > 0.5


def best_of(polytope: Polytope, gains: Reals, relax: bool) -> Reals:
    """[V] the variables of the largest total gain [V]; links are whole unless the program is relaxed."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # 0.3 s
    from scipy.sparse import csr_array

    sets = polytope.sets
    sums = csr_array(
        (sets.signs.astype(np.float64), sets.members, sets.offsets), (len(sets.bounds), len(gains))
    )
    whole = np.zeros(len(gains))
    whole[polytope.parts[0]] = not relax  # the others then are whole by themselves
    found = milp(
        -gains,
        integrality=whole,
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(sums, ub=sets.bounds),
        options={"mip_rel_gap": 0},
    )
    if not found.success:
        raise RuntimeError(f"the program of a sentence pair has not been solved: {found.message}")
    return np.asarray(found.x, np.float64)


def require() -> None:
    """Refuses to score adjacent links where scipy is not installed. For use before long work."""
    if importlib.util.find_spec("scipy") is None:
        raise DataError(
            "integer programs need scipy",
            hint="install it with the extra word-aligner[ilp]: pip install 'word-aligner[ilp]'",
        )


def scores_of(s: Numbers) -> Reals:
    """Numbers as an array; refuses those that are not finite."""
    scores = np.ascontiguousarray(s, np.float64)
    if not np.isfinite(scores).all():
        raise ValueError("scores must be finite")
    return scores


def convex(penalties: Numbers) -> Reals:
    """Penalties as an array; refuses those that are below 0 or fall."""
    found = np.ascontiguousarray(penalties, np.float64)
    if not (np.isfinite(found).all() and (np.diff(found, prepend=0) >= 0).all()):
        raise ValueError(f"penalties must be 0 or more, and must not fall, not {found.tolist()}")
    return found
