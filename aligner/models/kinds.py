"""The models that can be trained, and the settings that suit them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How exactly posteriors are projected onto constraints (ext/models/constraints.pxd).

    eta        the projection is done when the norm of the dual's gradient, per constraint, is below eta
    slack      how far all constraints together may be off
    drop       links whose posteriors are, in both directions, at most drop are not constrained
    max_calls  the most forward-backward calls of one projection
    """

    eta: float = 0.001
    slack: float = 0.001
    drop: float = 1e-3
    max_calls: int = 50


@dataclass(frozen=True)
class Leaving:
    """How a sentence pair's own share is left out of what it is aligned by (ext/models/emissions.pxd).

    left_out   how much of its share a sentence pair does not see: 0 nothing, 1 all
    smoothing  the counts that are added to a word's row, spread evenly over the words of the other side
    evenness   the jumps' probabilities are raised to this power: below 1, the words count for more than order
    spelling   how much more smoothing gives to word pairs that are spelled alike
    """

    left_out: float = 0.98
    smoothing: float = 10.0
    evenness: float = 0.75
    spelling: float = 100.0


@dataclass(frozen=True)
class Skips:
    """Where links are, and how far the links of neighbours are apart (ext/models/skips.pxd).

    Training does not change them.

    tension      how much links favour the diagonal
    skip         how much the links of neighbours favour one distance
    skip_centre  that distance: the next word, 1; 0 is what Simion, Collins & Stein 2015 have
    smooth       one of SMOOTHING: the model whose log-likelihood the objective is averaged with
    chain        one of CHAINS: what decoding makes of the words of a sentence
    """

    tension: float
    skip: float = 10.0
    skip_centre: int = 1
    smooth: str = "none"
    chain: str = "hmm"


SMOOTHING = ("none", "ibm1", "ibm2")
CHAINS = ("hmm", "joint")
FAMILIES = ("ibm1", "ibm2", "diagonal", "surrogate", "convex", "hmm", "loo")  # models/families.py has them
LATTICES = ("hmm", "loo")  # families of HMMs
# Family -> the kind of its positions (models/positions.py)
PLACES = {"ibm2": "table", "diagonal": "diagonal", "hmm": "jumps", "loo": "jumps"}
MOST_VIEWS = 6  # that have one lattice (ext/models/emissions.pxd)
CONSTRAINTS = ("bijective", "symmetric")
OBJECTIVES = ("likelihood", "agreement", *CONSTRAINTS)


@dataclass(frozen=True)
class Kind:
    """A model, and the settings that suit it unless a recipe has others."""

    help: str
    family: str
    objective: str
    iterations: int
    threshold: float | None  # of a link's score; None: training finds it
    limits: Limits | None = None
    ibm1_agree: bool = False
    ibm1_iterations: int = 5
    hmm_iterations: int = 0  # before those of the model
    leaving: Leaving | None = None
    skips: Skips | None = None
    p0: float = 0.2
    dirichlet: float = 0.0
    tension: float | str = "learn"  # of the diagonal
    views: tuple[str, ...] = ("word", "prefix3", "prefix5")
    fast: tuple[str, ...] = ("word",)  # the views of a quick training


MODELS = {
    "loo": Kind(
        "the HMM of all views at once, each sentence pair aligned by what all others say",
        "loo", "symmetric", 2, None, Limits(eta=0.0005), ibm1_agree=True, ibm1_iterations=4,
        hmm_iterations=1, leaving=Leaving(), views=("word", "stem3", "stem5"), fast=("stem5",),
    ),
    "ibm1": Kind("Model 1: words only, no order", "ibm1", "likelihood", 5, None),
    "ibm2": Kind(
        "Model 2: words, and a table of positions for each size of sentence pairs",
        "ibm2", "likelihood", 5, 0.5,
    ),
    "diagonal": Kind(
        "words, and positions near the diagonal, as fast_align has them",
        "diagonal", "likelihood", 5, 0.5, ibm1_iterations=0, p0=0.12, dirichlet=0.01,
    ),
    "surrogate": Kind(
        "a surrogate of the HMM: a word's link depends on those of its two neighbours alone",
        "surrogate", "likelihood", 2, 0.5, skips=Skips(tension=6.0),
    ),
    "convex": Kind(
        "the surrogate of roots of probabilities: without a prior, its objective has one maximum",
        "convex", "likelihood", 10, 0.5, ibm1_iterations=0, skips=Skips(tension=8.0, smooth="ibm1"),
        dirichlet=0.01,
    ),
    "hmm": Kind(
        "the HMM: where a word is linked depends on where the word before is linked",
        "hmm", "likelihood", 5, 0.5, Limits(),
    ),
    "bhmm": Kind(
        "the HMM, each word with at most one link expected", "hmm", "bijective", 2, None,
        Limits(eta=0.005, slack=0.0), ibm1_agree=True,
    ),
    "shmm": Kind(
        "the HMM, its two directions made to agree on every link", "hmm", "symmetric", 2, None,
        Limits(), ibm1_agree=True,
    ),
    "agree": Kind(
        "the HMM, trained on what its two directions agree on", "hmm", "agreement", 3, 0.5,
        Limits(), ibm1_agree=True,
    ),
}  # fmt: skip

DEFAULT = "loo"
DIAGONAL = tuple(name for name, kind in MODELS.items() if kind.family == "diagonal")
SKIPPING = tuple(name for name, kind in MODELS.items() if kind.skips is not None)
HMMS = tuple(name for name, kind in MODELS.items() if kind.family in LATTICES)
LOO = tuple(name for name, kind in MODELS.items() if kind.family == "loo")
CONSTRAINED = tuple(name for name, kind in MODELS.items() if kind.objective in CONSTRAINTS)
