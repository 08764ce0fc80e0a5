"""What can be trained, and how: the models, their settings, and a Recipe, which is saved with a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from aligner import arguments
from aligner.store import check_form
from aligner.text.blanks import SPLITS
from aligner.text.corpus import Corpus
from aligner.text.views import parse_views, settled


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


LIMITS = ("eta", "slack", "max_calls")  # the limits that are settings
LEAVING = tuple(field.name for field in fields(Leaving))
FAMILIES = ("ibm1", "hmm", "loo")  # models/families.py has them
LATTICES = ("hmm", "loo")  # families of HMMs
MOST_VIEWS = 6  # that have one lattice (ext/models/emissions.pxd)
CONSTRAINTS = ("bijective", "symmetric")
OBJECTIVES = ("likelihood", "agreement", *CONSTRAINTS)


@dataclass(frozen=True)
class Stage:
    """Some iterations of one kind.

    family      one of FAMILIES
    objective   likelihood: each direction by itself
                agreement: both directions count the product of their posteriors (Liang et al. 2006)
                bijective, symmetric: posteriors are projected onto the constraint
    limits      of HMMs: how exactly posteriors are projected onto constraints
    dirichlet   parameter of the prior on the lexicon's rows; 0: no prior, maximum likelihood
    leaving     of loo: how a sentence pair's own share is left out
    """

    family: str
    objective: str
    iterations: int
    limits: Limits | None = None
    dirichlet: float = 0.0
    leaving: Leaving | None = None

    def __post_init__(self) -> None:
        """Refuses what cannot be trained."""
        arguments.choice("family", self.family, FAMILIES)
        arguments.choice("objective", self.objective, OBJECTIVES)
        if (
            self.constrained
            and self.family not in LATTICES
            or (self.family, self.objective) == ("loo", "agreement")
        ):
            raise ValueError(f"{self.family} has no objective {self.objective}")
        if (self.limits is not None) != (self.family in LATTICES):
            raise ValueError("stages of hmm and loo have limits, those of ibm1 have none")
        if (self.leaving is not None) != (self.family == "loo"):
            raise ValueError("stages of loo say what is left out, others do not")
        numbers: dict[str, Any] = {
            name: checked(name, getattr(self, name)) for name in ("iterations", "dirichlet")
        }
        if 0 < numbers["dirichlet"] < 1e-9:
            raise ValueError(f"dirichlet must be 0 or at least 1e-9, not {self.dirichlet}")
        if self.limits is not None:
            arguments.instance("limits", self.limits, Limits, "Limits")
            exact: dict[str, Any] = {name: checked(name, getattr(self.limits, name)) for name in LIMITS}
            numbers["limits"] = Limits(drop=arguments.number("drop", self.limits.drop, 0, 1), **exact)
        if self.leaving is not None:
            arguments.instance("leaving", self.leaving, Leaving, "Leaving")
            numbers["leaving"] = Leaving(**{x: checked(x, getattr(self.leaving, x)) for x in LEAVING})
        for name, value in numbers.items():
            object.__setattr__(self, name, value)

    @property
    def constrained(self) -> bool:
        """Whether posteriors are projected onto the objective."""
        return self.objective in CONSTRAINTS

    @property
    def together(self) -> bool:
        """Whether all views have one lattice. Else each view is trained by itself."""
        return self.family == "loo"

    @property
    def name(self) -> str:
        """What reports call an iteration: the model that has this family and objective."""
        names = {(kind.family, kind.objective): name for name, kind in MODELS.items()}
        return names.get((self.family, self.objective), self.family)


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
    views: tuple[str, ...] = ("word", "prefix3", "prefix5")
    fast: tuple[str, ...] = ("word",)  # the views of a quick training


MODELS = {
    "loo": Kind(
        "the HMM of all views at once, each sentence pair aligned by what all others say",
        "loo", "symmetric", 2, None, Limits(eta=0.0005), ibm1_agree=True, ibm1_iterations=4,
        hmm_iterations=1, leaving=Leaving(), views=("word", "stem3", "stem5"), fast=("stem5",),
    ),
    "ibm1": Kind("Model 1: words only, no order", "ibm1", "likelihood", 5, None),
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
HMMS = tuple(name for name, kind in MODELS.items() if kind.family in LATTICES)
LOO = tuple(name for name, kind in MODELS.items() if kind.family == "loo")
CONSTRAINED = tuple(name for name, kind in MODELS.items() if kind.objective in CONSTRAINTS)


@dataclass(frozen=True)
class Setting:
    """A number that a recipe is made of: its bounds, its default and its help stand here and nowhere else.

    default  None: each model has one of its own
    models   the models that use it
    """

    help: str
    least: float
    most: float
    default: float | None = None
    models: tuple[str, ...] = tuple(MODELS)
    whole: bool = False  # an integer


MOST_ITERATIONS = 100_000
SETTINGS = {
    "iterations": Setting("Iterations of the model.", 0, MOST_ITERATIONS, whole=True),
    "ibm1_iterations": Setting(
        "Iterations of Model 1 before all others; 0 by default if training starts from another model.",
        0, MOST_ITERATIONS, None, HMMS, whole=True,
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
        "Probability of NULL, that is of no link, before words are looked at.", 1e-6, 0.999, 0.2, HMMS
    ),
    "window": Setting("Jumps of this distance or more share one probability.", 1, 17, 5, HMMS, whole=True),
    "dirichlet": Setting(
        "Parameter of a Dirichlet prior on translations (variational Bayes); 0: none.", 0, 1e6, 0.0
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
    "threshold": Setting(
        "Links that score above this are kept. hmm and agree have 0.5, other models what training finds,"
        " product has 0.25.",
        0, 1,
    ),
}  # fmt: skip

DIRECTIONS = ("both", "forward", "reverse")


class UnusedSetting(ValueError):
    """A setting was given that is not used.

    by      what does not use the setting: a model, or a way to train
    models  the models that use it, if it is the model that does not
    """

    def __init__(self, setting: str, by: str, models: Sequence[str] = ()) -> None:
        self.setting, self.by = setting, by
        others = f"; the models that do are {', '.join(models)}" if models else ""
        super().__init__(f"{by} does not use {setting}{others}")


def checked(name: str, value: float) -> float:
    """A setting's value within its bounds."""
    bounds = SETTINGS[name]
    return arguments.number(name, value, bounds.least, bounds.most, bounds.whole)


@dataclass(frozen=True, repr=False)
class Recipe:
    """How a model is trained, and how its links are chosen. All of it is saved with the model.

    model       the name of what is trained, one of MODELS
    stages      the iterations, stage by stage; decoding has the last stage's objective
    direction   both, forward or reverse
    views       what is seen of words (text/views.py); each has a lexicon of its own
    lowercase   the text is lower-cased
    split       where words of the text end (text/blanks.py)
    threshold   links that score above it are kept; None: training finds it
    """

    model: str
    stages: tuple[Stage, ...]
    direction: str
    views: tuple[str, ...]
    lowercase: bool
    split: str
    threshold: float | None
    p0: float
    window: int
    identical: float
    max_length: int

    def __post_init__(self) -> None:
        """Refuses what cannot be trained."""
        arguments.choice("model", self.model, MODELS)
        arguments.instance("views", self.views, (tuple, list), "a list of names")
        for name in self.views:
            arguments.instance("a view", name, str, "a name")
        object.__setattr__(self, "views", tuple(self.views))
        parse_views(self.views)
        arguments.instance("stages", self.stages, tuple, "a tuple of stages")
        for stage in self.stages:
            arguments.instance("a stage", stage, Stage, "a Stage")
        if not self.stages:
            raise ValueError("a recipe has at least one stage")
        arguments.instance("lowercase", self.lowercase, bool, "True or False")
        arguments.choice("split", self.split, SPLITS)
        for name in ("threshold", "p0", "window", "identical", "max_length"):
            if name != "threshold" or self.threshold is not None:
                object.__setattr__(self, name, checked(name, getattr(self, name)))
        if self.last.together and len(self.views) > MOST_VIEWS:
            raise ValueError(f"{self.model} has at most {MOST_VIEWS} views, not {len(self.views)}")
        arguments.choice("direction", self.direction, DIRECTIONS)
        if self.direction != "both" and any(
            stage.together or stage.objective != "likelihood" for stage in self.stages
        ):
            raise ValueError(f"{self.model} is a model of both directions")
        together = [stage.together for stage in self.stages]
        if together != sorted(together):
            raise ValueError("stages of all views together come after those of each view by itself")

    @classmethod
    def of(
        cls,
        model: str = DEFAULT,
        *,
        direction: str = "both",
        views: tuple[str, ...] | list[str] | None = None,
        constraint: str | None = None,
        lowercase: bool = False,
        split: str = "ascii",
        ibm1_agree: bool | None = None,
        **given: float | None,
    ) -> Recipe:
        """A recipe of the settings that are given and not None, and of the model's defaults for the others.

        constraint  of loo: symmetric, bijective or none, what its posteriors are projected onto
        ibm1_agree  Model 1 is trained with agreement from its second iteration on
        given       SETTINGS
        """
        kind = MODELS[arguments.choice("model", model, MODELS)]
        values: dict[str, Any] = {
            "iterations": kind.iterations,
            "ibm1_iterations": kind.ibm1_iterations,
            "hmm_iterations": kind.hmm_iterations,
            "threshold": kind.threshold,
            **(asdict(kind.limits) if kind.limits is not None else {}),
        }
        for name, setting in SETTINGS.items():
            if setting.default is not None and name not in values:
                values[name] = checked(name, setting.default)
        for name, value in given.items():
            if value is None:
                continue
            if name not in SETTINGS:
                raise ValueError(f"unknown setting {name!r}; there are {', '.join(SETTINGS)}")
            if model not in SETTINGS[name].models:
                raise UnusedSetting(name, model, SETTINGS[name].models)
            values[name] = checked(name, value)
        if ibm1_agree is not None:
            arguments.instance("ibm1_agree", ibm1_agree, bool, "True or False")
        agree = kind.ibm1_agree if ibm1_agree is None else ibm1_agree
        objective = kind.objective
        if constraint is not None:
            if kind.leaving is None:
                raise UnusedSetting("constraint", model, LOO)
            arguments.choice("constraint", constraint, ("none", *CONSTRAINTS))
            objective = "likelihood" if constraint == "none" else constraint
        prior = values["dirichlet"]
        own = values["iterations"]
        first = own if kind.family == "ibm1" else values["ibm1_iterations"]
        asked = [name for name, value in given.items() if value is not None]
        for name, used, by in (
            *((name, objective != "likelihood", f"{model} without a constraint") for name in LIMITS),
            *((name, own or values["hmm_iterations"], f"{model} without iterations") for name in LEAVING),
            ("dirichlet", first or kind.leaving is None or not prior, f"{model} without Model 1"),
        ):
            if name in asked and not used:
                raise UnusedSetting(name, by)
        if ibm1_agree and direction != "both":
            raise UnusedSetting("ibm1_agree", "training in one direction")
        if ibm1_agree and first < 2:
            raise UnusedSetting("ibm1_agree", "Model 1 with fewer than two iterations")
        stages = [Stage("ibm1", "likelihood", min(first, 1) if agree else first, dirichlet=prior)]
        if agree:
            stages.append(Stage("ibm1", "agreement", max(first - 1, 0), dirichlet=prior))
        if kind.limits is not None:
            limits = replace(kind.limits, **{name: values[name] for name in LIMITS})
            leaving = None
            if kind.leaving is not None:
                leaving, prior = Leaving(**{name: values[name] for name in LEAVING}), 0.0
            if objective != "likelihood" or leaving is not None:
                plain = values["hmm_iterations"]
                stages.append(Stage(kind.family, "likelihood", plain, limits, prior, leaving))
            stages.append(Stage(kind.family, objective, own, limits, prior, leaving))
        last = len(stages) - 1
        return cls(
            model,
            tuple(stage for n, stage in enumerate(stages) if stage.iterations or n == last),
            direction,
            kind.views if views is None else views,  # type: ignore[arg-type]
            lowercase,
            split,
            **{name: values[name] for name in ("threshold", "p0", "window", "identical", "max_length")},
        )

    def __repr__(self) -> str:
        directions = "both directions" if self.direction == "both" else self.direction
        views = ",".join(self.views)
        return f"Recipe({self.model}, {directions}, {len(self.schedule)} iterations, views {views})"

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Recipe:
        """The recipe that asdict made a dict of, which may have been JSON; a ValueError if there is none."""
        saved = {"split": "ascii", **saved}  # the only way before there was a choice
        check_form(saved, Recipe, "recipe")

        def stage(fields: Mapping[str, Any]) -> Stage:
            parts = {"limits": Limits, "leaving": Leaving}
            made = {
                name: part(**fields[name]) for name, part in parts.items() if fields.get(name) is not None
            }
            return Stage(**{**fields, **made})

        return cls(**{**saved, "stages": tuple(stage(fields) for fields in saved["stages"])})

    @property
    def last(self) -> Stage:
        """The last stage. Decoding has its objective."""
        return self.stages[-1]

    @property
    def schedule(self) -> list[Stage]:
        """The stage of each iteration: first each view by itself, then all views together."""
        return [stage for stage in self.stages for _ in range(stage.iterations)]

    @property
    def n_iterations(self) -> int:
        """How many iterations the schedule has."""
        return sum(stage.iterations for stage in self.stages)

    @property
    def apart(self) -> int:
        """How many iterations each view has by itself."""
        return sum(stage.iterations for stage in self.stages if not stage.together)

    def settled(self, corpus: Corpus) -> Recipe:
        """The recipe with the views that stems are in this corpus."""
        return replace(self, views=settled(self.views, corpus))

    def signature(self) -> dict[str, str]:
        """All that the links depend on beside the text, as short strings."""

        def described(stage: Stage) -> str:
            name = stage.family if stage.objective == "likelihood" else f"{stage.family}.{stage.objective}"
            limits = asdict(stage.limits) if stage.limits is not None and stage.constrained else {}
            details = [f"{key}={value!r}" for key, value in limits.items()]
            details += [f"dirichlet={stage.dirichlet!r}"] if stage.dirichlet else []
            details += (
                [] if stage.leaving is None else [f"{key}={x!r}" for key, x in asdict(stage.leaving).items()]
            )
            return f"{stage.iterations}x{name}" + (f"({','.join(details)})" if details else "")

        numbers = ("p0", "window", "identical", "max_length", "threshold")
        return {
            "model": self.model,
            "stages": "+".join(map(described, self.stages)),
            "direction": self.direction,
            "views": ",".join(self.views),
            "lc": "yes" if self.lowercase else "no",
            **({} if self.split == "ascii" else {"split": self.split}),
            **{name: repr(getattr(self, name)) for name in numbers if self.model in SETTINGS[name].models},
            **({"threshold": "auto"} if self.threshold is None else {}),
        }
