"""The numbers that a recipe is made of: their bounds, their defaults, and the models that use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from aligner import arguments
from aligner.models.kinds import CONSTRAINED, DIAGONAL, HMMS, LOO, MODELS, SKIPPING, Leaving, Limits, Skips
from aligner.text.classes import MOST_CLASSES

LIMITS = ("eta", "slack", "max_calls")  # the limits that are settings
LEAVING = tuple(field.name for field in fields(Leaving))
SKIPS = ("tension", "skip", "skip_centre")  # the numbers of Skips


@dataclass(frozen=True)
class Setting:
    """A number that a recipe is made of: its bounds, its default and its help stand here and nowhere else.

    default  None: each model has one of its own
    models   the models that use it
    word     a word that can be given instead of a number
    """

    help: str
    least: float
    most: float
    default: float | None = None
    models: tuple[str, ...] = tuple(MODELS)
    whole: bool = False  # an integer
    word: str | None = None


MOST_ITERATIONS = 100_000
SETTINGS = {
    "iterations": Setting("Iterations of the model.", 0, MOST_ITERATIONS, whole=True),
    "ibm1_iterations": Setting(
        "Iterations of Model 1 before all others; 0 by default if training starts from another model.",
        0, MOST_ITERATIONS, None, tuple(name for name in MODELS if name != "ibm1"), whole=True,
    ),
    "hmm_iterations": Setting(
        "Iterations of the HMM without projection, between Model 1 and the model.",
        0, MOST_ITERATIONS, None, tuple(name for name in HMMS if name != "hmm"), whole=True,
    ),
    "identical": Setting(
        "At the start, a translation spelled like the word is this many times likelier.",
        1e-3, 1e6, 5.0,
    ),
    "p0": Setting(
        "Probability of NULL, that is of no link, before words are looked at.", 1e-6, 0.999, None,
        (*DIAGONAL, *HMMS),
    ),
    "tension": Setting(
        "How much links favour the diagonal; learn: as the text says, for diagonal alone.", 0.01, 80, None,
        (*DIAGONAL, *SKIPPING), word="learn",
    ),
    "skip": Setting(
        "How much the links of neighbours favour their likeliest distance.", 0, 80, Skips.skip, SKIPPING
    ),
    "skip_centre": Setting(
        "The likeliest distance of the links of two neighbours: 1, the next word, or 0, the same word.",
        0, 1, Skips.skip_centre, SKIPPING, whole=True,
    ),
    "classes": Setting(
        "Jumps depend on the class of the word that they leave: learn so many classes a side; 0: none.",
        0, MOST_CLASSES, 0, HMMS, whole=True,
    ),
    "window": Setting("Jumps of this distance or more share one probability.", 1, 17, 5, HMMS, whole=True),
    "dirichlet": Setting(
        "Parameter of a Dirichlet prior on translations (variational Bayes); 0: none.", 0, 1e6
    ),
    "left_out": Setting(
        "How much of what a sentence pair taught is left out when the pair is aligned: 0 nothing, 1 all.",
        0, 1, Leaving().left_out, LOO,
    ),
    "smoothing": Setting(
        "Links that are added to those of a word, spread over all words of the other side.",
        1e-6, 1e6, Leaving().smoothing, LOO,
    ),
    "evenness": Setting(
        "Power that the probabilities of jumps are raised to: below 1, order counts for less.",
        0, 10, Leaving().evenness, LOO,
    ),
    "spelling": Setting(
        "Smoothing adds 1 + SPELLING times as much for equal words, and less for words spelled alike.",
        0, 1e6, Leaving().spelling, LOO,
    ),
    "eta": Setting("How far from its constraints a projection may end.", 1e-9, 1e9, None, CONSTRAINED),
    "slack": Setting("How far off all of a pair's constraints together may be.", 0, 1e9, None, CONSTRAINED),
    "max_calls": Setting(
        "Forward-backward calls that one sentence pair's projection may make.",
        1, 2**31 - 1, Limits().max_calls, CONSTRAINED, whole=True,
    ),
    "max_length": Setting(
        "Pairs with a longer side are left out of training; 0: none are.", 0, 2**31 - 1, 0, whole=True
    ),
    "prune": Setting(
        "Forget word pairs that are expected to be linked less often than this in the whole text, after each"
        " stage of an HMM and at the end of training; 0: none.",
        0, 1e6, 0.0,
    ),
    "threshold": Setting(
        "Links that score above this are kept. loo, ibm1, bhmm and shmm have what training finds, others"
        " 0.5, product 0.25.",
        0, 1,
    ),
}  # fmt: skip


class UnusedSetting(ValueError):
    """A setting was given that is not used.

    by      what does not use the setting: a model, or a way to train
    models  the models that use it, if it is the model that does not
    """

    def __init__(self, setting: str, by: str, models: Sequence[str] = ()) -> None:
        self.setting, self.by = setting, by
        others = f"; the models that do are {', '.join(models)}" if models else ""
        super().__init__(f"{by} does not use {setting}{others}")


def checked(name: str, value: Any) -> Any:
    """A setting's value: a number within its bounds, or its word."""
    bounds = SETTINGS[name]
    if bounds.word is not None and value == bounds.word:
        return value
    return arguments.number(name, value, bounds.least, bounds.most, bounds.whole)
