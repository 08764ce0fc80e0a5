"""Dual decomposition: links of both directions found at once, with a certificate (ext/models/dual.pxd).

The two HMMs and their links are one graphical model (DeNero & Macherey 2011). Its best links are searched for
in rounds. The score of a link in a direction is 1 or 0 where the directions agree in the end, else the
share of the last half of the rounds in which the direction had the link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from aligner import arguments
from aligner.models.hmm import _hmm
from aligner.models.parameters import Parameters
from aligner.models.shares import Own
from aligner.text.cells import Shard

Reals = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

DUAL = "dual"  # its name among the ways to make two directions one
METHOD = "soft-union"  # how the scores of its two directions become one
THRESHOLD = 0.5  # of the mean of the two scores
CERTIFICATE: tuple[str, ...] = _hmm.CERTIFICATE
COLUMNS = ("sentence", *CERTIFICATE, "gap")
MOST_ROUNDS = 1_000_000
LEAST_RATE, MOST_RATE = 0.001, 1000.0


@dataclass(frozen=True)
class Dual:
    """How the best links of two directions are searched for.

    penalty  what a link costs, in natural logarithms, that is beside a word's own link; infinite: a word has
             one link
    rounds   the most rounds
    rate     the first step of the multipliers
    """

    penalty: float = math.inf
    rounds: int = 25
    rate: float = 1.0

    def __post_init__(self) -> None:
        arguments.number("penalty", self.penalty, 0, math.inf)
        arguments.number("rounds", self.rounds, 1, MOST_ROUNDS, whole=True)
        arguments.number("rate", self.rate, LEAST_RATE, MOST_RATE)


def add_scores(
    views: Sequence[Parameters], shards: Sequence[Shard], how: Dual, own: Own | None, share: float,
    fwd: Reals, rev: Reals, costs: Doubles | None, certificates: Doubles | None, n_threads: int,
) -> None:  # fmt: skip
    """Adds share times the scores of all cells of a shard to fwd and rev [n_cells].

    views         that have one lattice a direction
    certificates  [S, len(CERTIFICATE)] what is found is added; None: not wanted
    Other arguments are those of Family.posteriors (models/families.py).
    """
    lexicons = [m.lexicon for m in views]
    _hmm.decompose(
        shards,
        lexicons,
        views[0].positions,
        asdict(how),
        own,
        share,
        fwd,
        rev,
        costs,
        certificates,
        n_threads,
    )


def format_certificates(certificates: Doubles, first: int) -> bytes:
    """A line a sentence pair, with the values of COLUMNS between tabs. first: the number of the first one

    A sentence pair without a lattice has no rounds, and nothing is known of it.
    """
    lines = []
    for n, (rounds, converged, bound, primal) in enumerate(certificates.tolist(), first):
        values = "\t\t" if rounds == 0 else f"{bound:.4f}\t{primal:.4f}\t{max(0.0, bound - primal):.4f}"
        lines.append(f"{n}\t{rounds:.0f}\t{int(converged == 1)}\t{values}\n")
    return "".join(lines).encode()
