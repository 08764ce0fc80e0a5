"""A stage of a training: some iterations of one kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from aligner import arguments
from aligner.models.kinds import (
    CHAINS,
    CONSTRAINTS,
    FAMILIES,
    LATTICES,
    MODELS,
    OBJECTIVES,
    SMOOTHING,
    Leaving,
    Limits,
    Skips,
)
from aligner.models.settings import LEAVING, LIMITS, SKIPS, checked


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
    tension     of diagonal: how much links favour the diagonal; None: it is learned
    skips       of surrogate and convex: how far links are from the diagonal and from those of neighbours
    """

    family: str
    objective: str
    iterations: int
    limits: Limits | None = None
    dirichlet: float = 0.0
    leaving: Leaving | None = None
    tension: float | None = None
    skips: Skips | None = None

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
            raise ValueError("stages of hmm and loo have limits, others have none")
        if (self.leaving is not None) != (self.family == "loo"):
            raise ValueError("stages of loo say what is left out, others do not")
        if (self.skips is not None) != (self.family in ("surrogate", "convex")):
            raise ValueError("stages of surrogate and convex have skips, others have none")
        numbers: dict[str, Any] = {
            name: checked(name, getattr(self, name)) for name in ("iterations", "dirichlet")
        }
        if self.tension is not None:
            if self.family != "diagonal":
                raise ValueError(f"{self.family} has no tension")
            numbers["tension"] = checked("tension", float(self.tension))
        if 0 < numbers["dirichlet"] < 1e-9:
            raise ValueError(f"dirichlet must be 0 or at least 1e-9, not {self.dirichlet}")
        if self.limits is not None:
            arguments.instance("limits", self.limits, Limits, "Limits")
            exact: dict[str, Any] = {name: checked(name, getattr(self.limits, name)) for name in LIMITS}
            numbers["limits"] = Limits(drop=arguments.number("drop", self.limits.drop, 0, 1), **exact)
        if self.leaving is not None:
            arguments.instance("leaving", self.leaving, Leaving, "Leaving")
            numbers["leaving"] = Leaving(**{x: checked(x, getattr(self.leaving, x)) for x in LEAVING})
        if self.skips is not None:
            arguments.instance("skips", self.skips, Skips, "Skips")
            tension: Any = self.skips.tension
            if isinstance(tension, str):
                raise ValueError(f"{self.family} does not learn its tension")
            arguments.choice("smooth", self.skips.smooth, SMOOTHING)
            arguments.choice("chain", self.skips.chain, CHAINS)
            constants: dict[str, Any] = {name: checked(name, getattr(self.skips, name)) for name in SKIPS}
            numbers["skips"] = replace(self.skips, **constants)
        for name, value in numbers.items():
            object.__setattr__(self, name, value)

    @property
    def constrained(self) -> bool:
        """Whether posteriors are projected onto the objective."""
        return self.objective in CONSTRAINTS

    def skipping(self, smooth: str | None = None, chain: str | None = None) -> Stage:
        """The stage with another choice of what its skips have, if it has skips; None: as it is."""
        if self.skips is None:
            return self
        choices = {"smooth": smooth, "chain": chain}
        given: dict[str, Any] = {name: x for name, x in choices.items() if x is not None}
        return replace(self, skips=replace(self.skips, **given))

    @property
    def together(self) -> bool:
        """Whether all views have one lattice. Else each view is trained by itself."""
        return self.family == "loo"

    @property
    def shared(self) -> bool:
        """Whether both directions count the same links."""
        return self.together or self.objective == "agreement"

    @property
    def name(self) -> str:
        """What reports call an iteration: the model that has this family and objective."""
        names = {(kind.family, kind.objective): name for name, kind in MODELS.items()}
        return names.get((self.family, self.objective), self.family)

    @property
    def called(self) -> str:
        """The name, with agreement told where there is no model of that name."""
        agrees = self.objective == "agreement" and self.family not in LATTICES
        return f"{self.name}-agree" if agrees else self.name
