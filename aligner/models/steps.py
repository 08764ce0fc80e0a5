"""From the settings of a training to its stages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from aligner.models.kinds import LATTICES, LOO, MODELS, Leaving
from aligner.models.settings import LEAVING, LIMITS, MOST_ITERATIONS, SETTINGS, SKIPS, UnusedSetting, checked
from aligner.models.stage import Stage

AGREEING = tuple(name for name, kind in MODELS.items() if kind.family not in LATTICES)
# What a stage can be called -> its model and objective
NAMES = {
    **{name: (name, kind.objective) for name, kind in MODELS.items()},
    **{f"{name}-agree": (name, "agreement") for name in AGREEING},
    **{f"{name}-plain": (name, "likelihood") for name in LOO},
}


class Step(NamedTuple):
    """Some iterations of a model, perhaps with another objective than the model's own."""

    model: str
    objective: str
    iterations: int


def parse_stages(text: str) -> tuple[Step, ...]:
    """The steps of a list such as ibm1:5,hmm:2,shmm:2."""
    steps = []
    for part in text.split(","):
        name, colon, number = part.strip().partition(":")
        if name not in NAMES:
            raise ValueError(f"unknown stage {name!r}; there are {', '.join(NAMES)}")
        if not colon or not number.isascii() or not number.isdigit():
            raise ValueError(f"a stage is a name, a colon and a number of iterations, not {part.strip()!r}")
        if int(number) > MOST_ITERATIONS:
            raise ValueError(f"a stage has at most {MOST_ITERATIONS} iterations, not {number}")
        steps.append(Step(*NAMES[name], int(number)))
    return tuple(steps)


def check_used(models: Sequence[str], by: str, given: Mapping[str, float]) -> None:
    """Refuses settings that none of some models uses. by: what the models are called"""
    for name in given:
        if name not in SETTINGS:
            raise ValueError(f"unknown setting {name!r}; there are {', '.join(SETTINGS)}")
        if not set(models) & set(SETTINGS[name].models):
            raise UnusedSetting(name, by, SETTINGS[name].models)


def values_of(model: str, given: Mapping[str, float]) -> dict[str, Any]:
    """All settings of a model: those that are given if the model uses them, else its defaults."""
    kind = MODELS[model]
    values = {name: checked(name, x.default) for name, x in SETTINGS.items() if x.default is not None}
    values |= {name: getattr(kind, name) for name in SETTINGS if hasattr(kind, name)}
    for part in (kind.limits, kind.skips):
        values |= asdict(part) if part is not None else {}
    used = {name: value for name, value in given.items() if model in SETTINGS[name].models}
    return values | {name: checked(name, value) for name, value in used.items()}


def usual(model: str, objective: str, agree: bool, given: Mapping[str, float]) -> list[Step]:
    """The steps of a model, with those before its own. The last step may have no iterations.

    agree: Model 1, and the models of AGREEING, count what their two directions agree on. The first iteration
    of all does not: nothing is known yet.
    """
    values = values_of(model, given)
    before = 0 if model == "ibm1" else values["ibm1_iterations"]
    steps = _from_second_on("ibm1", before) if agree else [Step("ibm1", "likelihood", before)]
    if agree and model in AGREEING:
        own = values["iterations"]
        steps += [Step(model, "agreement", own)] if before else _from_second_on(model, own)
    else:
        plain = values["hmm_iterations"] if model in SETTINGS["hmm_iterations"].models else 0
        steps += [Step(model, "likelihood", plain), Step(model, objective, values["iterations"])]
    return [step for step in steps[:-1] if step.iterations] + steps[-1:]


def _from_second_on(model: str, iterations: int) -> list[Step]:
    """Iterations that count what both directions agree on, after a first one that does not."""
    first = min(iterations, 1)
    return [Step(model, "likelihood", first), Step(model, "agreement", iterations - first)]


def stage_of(step: Step, given: Mapping[str, float]) -> Stage:
    """The stage of a step. What is not given has the default of the step's model."""
    kind, values = MODELS[step.model], values_of(step.model, given)
    limits, leaving, prior = kind.limits, kind.leaving, values["dirichlet"]
    if limits is not None:
        limits = replace(limits, **{name: values[name] for name in LIMITS})
    if leaving is not None:
        leaving, prior = Leaving(**{name: values[name] for name in LEAVING}), 0.0
    tension = None
    if kind.family == "diagonal" and values["tension"] != SETTINGS["tension"].word:
        tension = values["tension"]
    skips = kind.skips
    if skips is not None:
        skips = replace(skips, **{name: values[name] for name in SKIPS})
    return Stage(kind.family, step.objective, step.iterations, limits, prior, leaving, tension, skips)
