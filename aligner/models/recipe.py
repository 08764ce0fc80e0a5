"""What can be trained, and how: the models, and a Recipe that names one with all its settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from aligner.text.views import parse_views


@dataclass(frozen=True)
class Inference:
    """What is asked of a sentence pair's lattices.

    mixture     no transitions: Model 1
    agree       counts of both directions are the product of their posteriors (Liang et al. 2006)
    constraint  none, bijective or symmetric: posteriors are projected onto it (ext/constraints.pxd)
    eta         the projection is done when the gradient's norm per constraint is below it
    slack       of the constraints, all together
    drop        links whose posteriors are both up to it are not constrained
    max_calls   forward-backward calls of a projection at most
    """

    mixture: bool = False
    forward: bool = True
    reverse: bool = True
    agree: bool = False
    constraint: str = "none"
    eta: float = 0.001
    slack: float = 0.001
    drop: float = 1e-3
    max_calls: int = 50


@dataclass(frozen=True)
class Kind:
    """A model, and what it is best trained with unless a recipe says otherwise."""

    help: str
    inference: Inference
    iterations: int
    p0: float = 0.2
    ibm1_agree: bool = False  # Model 1 is trained with agreement, from its second iteration on
    threshold: float = 0.5  # of a link's score


MODELS = {
    "ibm1": Kind("Model 1: words only, no order", Inference(mixture=True), 5),
    "hmm": Kind("a word's place depends on that of the word before", Inference(), 5),
    "bhmm": Kind(
        "the HMM, each word with at most one link expected",
        Inference(constraint="bijective", eta=0.005, slack=0.0),
        2,
        ibm1_agree=True,
        threshold=0.4,
    ),
    "shmm": Kind(
        "the HMM, its two directions made to agree on every link",
        Inference(constraint="symmetric"),
        2,
        ibm1_agree=True,
        threshold=0.4,
    ),
    "agree": Kind(
        "the HMM, trained on what its two directions agree on",
        Inference(agree=True),
        3,
        ibm1_agree=True,
    ),
}


MOST_ITERATIONS = 100_000
DIRECTIONS = ("both", "forward", "reverse")


@dataclass(frozen=True)
class Recipe:
    """How a model is trained: iterations of Model 1, of the plain HMM, and of the model itself."""

    model: str
    inference: Inference
    iterations: int
    p0: float  # probability of NULL
    ibm1_agree: bool  # Model 1 is trained with agreement, from its second iteration on
    ibm1_iterations: int = 5
    hmm_iterations: int = 0
    identical: float = 5.0  # how many times likelier a translation spelled alike is, to begin with
    window: int = 5  # jumps as far as this share one probability
    max_length: int = 0  # pairs with a longer side are not trained on; 0: all are
    views: tuple[str, ...] = ("word", "prefix3", "prefix5")

    def __post_init__(self) -> None:
        """Refuses what cannot be trained."""
        object.__setattr__(self, "views", tuple(self.views))
        parse_views(self.views)
        bounds = {
            "iterations": (0, MOST_ITERATIONS),
            "ibm1_iterations": (0, MOST_ITERATIONS),
            "hmm_iterations": (0, MOST_ITERATIONS),
            "p0": (1e-6, 0.999),
            "identical": (1e-3, 1e6),
            "window": (1, 17),
            "max_length": (0, 2**31 - 1),
        }
        for name, (least, most) in bounds.items():
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be between {least} and {most}, not {getattr(self, name)}")

    @classmethod
    def of(cls, model: str = "shmm", *, direction: str = "both", **given: Any) -> Recipe:
        """A recipe of what is given, and not None, and of what the model is best trained with.

        given: fields of Recipe, and eta, slack and max_calls of Inference
        """
        if model not in MODELS:
            raise ValueError(f"unknown model {model!r}; there are {', '.join(MODELS)}")
        if direction not in DIRECTIONS:
            raise ValueError(f"unknown direction {direction!r}; there are {', '.join(DIRECTIONS)}")
        kind = MODELS[model]
        if direction != "both" and (kind.inference.constraint != "none" or kind.inference.agree):
            raise ValueError(f"{model} is a model of both directions")
        given = {name: value for name, value in given.items() if value is not None}
        limits = {name: given.pop(name) for name in ("eta", "slack", "max_calls") if name in given}
        inference = replace(
            kind.inference, forward=direction != "reverse", reverse=direction != "forward", **limits
        )
        usual = {"iterations": kind.iterations, "p0": kind.p0, "ibm1_agree": kind.ibm1_agree}
        return cls(model, inference, **usual | given)

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> Recipe:
        """The recipe that asdict made a dict of."""
        return cls(**saved | {"inference": Inference(**saved["inference"])})

    @property
    def threshold(self) -> float:
        """The score above which links are best kept."""
        return MODELS[self.model].threshold

    @property
    def direction(self) -> str:
        if self.inference.forward and self.inference.reverse:
            return "both"
        return "forward" if self.inference.forward else "reverse"

    @property
    def schedule(self) -> list[tuple[str, Inference]]:
        """The model and inference of each iteration."""
        if self.model == "ibm1":
            return [("ibm1", self._ibm1(n)) for n in range(self.iterations)]
        start = [("ibm1", self._ibm1(n)) for n in range(self.ibm1_iterations)]
        plain = replace(self.inference, constraint="none", agree=False)
        return [
            *start,
            *[("hmm", plain)] * self.hmm_iterations,
            *[(self.model, self.inference)] * self.iterations,
        ]

    def _ibm1(self, n: int) -> Inference:
        return Inference(mixture=True, agree=self.ibm1_agree and n > 0)
