"""How a model is trained: a Recipe, which is saved with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from itertools import pairwise
from typing import Any

from aligner import arguments
from aligner.models.kinds import (
    CONSTRAINTS,
    DEFAULT,
    LOO,
    MODELS,
    MOST_VIEWS,
    SKIPPING,
    Leaving,
    Limits,
    Skips,
)
from aligner.models.settings import LEAVING, LIMITS, SETTINGS, UnusedSetting, checked
from aligner.models.stage import Stage
from aligner.models.steps import Step, check_used, parse_stages, stage_of, usual, values_of
from aligner.store import check_form
from aligner.text.blanks import SPLITS
from aligner.text.corpus import Corpus
from aligner.text.views import parse_views, settled

DIRECTIONS = ("both", "forward", "reverse")
NUMBERS = ("p0", "window", "classes", "identical", "max_length", "prune", "threshold")  # of all stages
NEW = ("classes", "prune")  # a signature tells them if they are not 0: some models are older than they
ITERATIONS = ("iterations", "ibm1_iterations", "hmm_iterations")


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
    classes: int
    identical: float
    max_length: int
    prune: float

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
        for name in NUMBERS:
            if name != "threshold" or self.threshold is not None:
                object.__setattr__(self, name, checked(name, getattr(self, name)))
        if self.last.together and len(self.views) > MOST_VIEWS:
            raise ValueError(f"{self.model} has at most {MOST_VIEWS} views, not {len(self.views)}")
        arguments.choice("direction", self.direction, DIRECTIONS)
        joint = [stage for stage in self.stages if stage.together or stage.objective != "likelihood"]
        if self.direction != "both" and joint:
            raise ValueError(f"{joint[-1].called} is a model of both directions")
        for before, stage in pairwise(self.stages):
            if before.together and not stage.together:
                raise ValueError(
                    f"{stage.called} stands after {before.called}; stages of all views together come after"
                    " those of each view by itself"
                )

    @classmethod
    def of(
        cls,
        model: str | None = None,
        *,
        stages: str | Sequence[Step] | None = None,
        direction: str = "both",
        views: tuple[str, ...] | list[str] | None = None,
        constraint: str | None = None,
        lowercase: bool = False,
        split: str = "ascii",
        agree: bool | None = None,
        smooth: str | None = None,
        chain: str | None = None,
        **settings: float | None,
    ) -> Recipe:
        """A recipe of the settings that are given and not None, and of the model's defaults for the others.

        model       one of MODELS; None is that of the last stage, or the default
        stages      the iterations, stage by stage, such as ibm1:5,hmm:2 (models/steps.py); None: as usual
        constraint  of loo: symmetric, bijective or none, what its posteriors are projected onto
        agree       Model 1 is trained with agreement from its second iteration on; so are the models that
                    have no lattice
        smooth      of surrogate and convex: one of SMOOTHING (models/kinds.py)
        chain       of surrogate and convex: one of CHAINS (models/kinds.py)
        settings    SETTINGS
        """
        given = {name: value for name, value in settings.items() if value is not None}
        if stages is None:
            model = DEFAULT if model is None else arguments.choice("model", model, MODELS)
            steps: Sequence[Step] = _usual(model, given, constraint, agree, direction)
        else:
            arguments.instance("stages", stages, (str, tuple, list), "a list such as ibm1:5,hmm:2")
            steps = parse_stages(stages) if isinstance(stages, str) else stages
            for step in steps:
                arguments.instance("a step of stages", step, Step, "a Step")
            own = {"constraint": constraint, "agree": agree, **{x: given.get(x) for x in ITERATIONS}}
            for name, value in own.items():
                if value is not None:
                    raise UnusedSetting(name, "training by stages")
            if not steps:
                raise ValueError("a recipe has at least one stage")
            if model not in (None, steps[-1].model):
                raise ValueError(f"the last stage is of {steps[-1].model}, not of {model}")
            model = steps[-1].model
            check_used([step.model for step in steps], "training by these stages", given)
        kind, values = MODELS[model], values_of(model, given)
        made = [stage_of(step, given) for step in steps]
        # Decoding, by the last stage, has the chain
        for name, choice, users in (("smooth", smooth, made), ("chain", chain, made[-1:])):
            if choice is not None and all(stage.skips is None for stage in users):
                raise UnusedSetting(name, model, SKIPPING)
        return cls(
            model,
            tuple(stage.skipping(smooth=smooth, chain=chain) for stage in made),
            direction,
            kind.views if views is None else views,  # type: ignore[arg-type]
            lowercase,
            split,
            **{name: values[name] for name in NUMBERS},
        )

    def __repr__(self) -> str:
        directions = "both directions" if self.direction == "both" else self.direction
        views = ",".join(self.views)
        return f"Recipe({self.model}, {directions}, {len(self.schedule)} iterations, views {views})"

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Recipe:
        """The recipe that asdict made a dict of, which may have been JSON; a ValueError if there is none."""
        saved = {"split": "ascii", "classes": 0, "prune": 0.0, **saved}  # as it was before there was a choice
        if isinstance(saved.get("stages"), list):  # some fields are younger than some model files
            defaults = {field.name: field.default for field in fields(Stage) if field.default is not MISSING}
            saved["stages"] = [{**defaults, **x} if isinstance(x, dict) else x for x in saved["stages"]]
        check_form(saved, Recipe, "recipe")

        def stage(found: Mapping[str, Any]) -> Stage:
            parts = {"limits": Limits, "leaving": Leaving, "skips": Skips}
            made = {name: part(**found[name]) for name, part in parts.items() if found[name] is not None}
            return Stage(**{**found, **made})

        return cls(**{**saved, "stages": tuple(stage(found) for found in saved["stages"])})

    @property
    def last(self) -> Stage:
        """The last stage. Decoding has its objective."""
        return self.stages[-1]

    def chained(self, chain: str) -> Recipe:
        """The recipe with another chain to decode by (models/kinds.py)."""
        return replace(self, stages=(*self.stages[:-1], self.last.skipping(chain=chain)))

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
            details += [] if stage.tension is None else [f"tension={stage.tension!r}"]
            details += (
                [] if stage.leaving is None else [f"{key}={x!r}" for key, x in asdict(stage.leaving).items()]
            )
            details += [] if stage.skips is None else [f"{key}={x}" for key, x in asdict(stage.skips).items()]
            return f"{stage.iterations}x{name}" + (f"({','.join(details)})" if details else "")

        def users(setting: str) -> set[str]:
            return {MODELS[name].family for name in SETTINGS[setting].models}

        families = {stage.family for stage in self.stages}
        numbers = [name for name in NUMBERS if name not in NEW or getattr(self, name)]
        return {
            "model": self.model,
            "stages": "+".join(map(described, self.stages)),
            "direction": self.direction,
            "views": ",".join(self.views),
            "lc": "yes" if self.lowercase else "no",
            **({} if self.split == "ascii" else {"split": self.split}),
            **{name: repr(getattr(self, name)) for name in numbers if families & users(name)},
            **({"threshold": "auto"} if self.threshold is None else {}),
        }


def _usual(
    model: str, given: Mapping[str, float], constraint: str | None, agree: bool | None, direction: str
) -> list[Step]:
    """The usual steps of a model. Refuses settings that have no effect on them."""
    kind = MODELS[model]
    check_used([model], model, given)
    if agree is not None:
        arguments.instance("agree", agree, bool, "True or False")
    objective = kind.objective
    if constraint is not None:
        if kind.leaving is None:
            raise UnusedSetting("constraint", model, LOO)
        arguments.choice("constraint", constraint, ("none", *CONSTRAINTS))
        objective = "likelihood" if constraint == "none" else constraint
    steps = usual(model, objective, kind.ibm1_agree if agree is None else agree, given)
    iterations = {name: sum(x.iterations for x in steps if x.model == name) for name in ("ibm1", model)}
    for name, used, by in (
        *((name, objective != "likelihood", f"{model} without a constraint") for name in LIMITS),
        *((name, iterations[model], f"{model} without iterations") for name in LEAVING),
        (
            "dirichlet",
            iterations["ibm1"] or kind.leaving is None or not given.get("dirichlet"),
            f"{model} without Model 1",
        ),
    ):
        if name in given and not used:
            raise UnusedSetting(name, by)
    if agree and direction != "both":
        raise UnusedSetting("agree", "training in one direction")
    if agree and not any(step.objective == "agreement" and step.iterations for step in steps):
        raise UnusedSetting("agree", "Model 1 with fewer than two iterations")
    return steps
