"""What a model file may say: the header's form, the arrays' types and sizes, the bounds of their numbers.

Each function refuses, by a ValueError, what training does not write. What passes can be used: no array leads
outside another one, and no number makes a kernel divide by 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from aligner import store
from aligner.decoding.tuned import FACT, SavedTuning, check_tuning
from aligner.models.census import Census
from aligner.models.jumps import Jumps
from aligner.models.kinds import PLACES
from aligner.models.positions import POSITIONS, Positions, needed, restored
from aligner.models.recipe import Recipe
from aligner.models.settings import checked
from aligner.text.sides import Vocab

Arrays = Mapping[str, npt.NDArray[Any]]

LARGE = ("tgt", "t", "position", "keys", "entries")  # arrays that grow with the text, not with its vocabulary
CENSUS = "census."  # how the names of its arrays begin
MOST = 1e9  # no probability is larger: smoothing that favours equal words may give more than 1
MANY = 1e29  # no evidence is larger
FEW = 1e-30  # no evidence is smaller


class SavedEvidence(TypedDict):
    """Evidence beside its arrays."""

    nulls: tuple[float, float]
    kappa: tuple[float, float]
    words: tuple[int, int]
    alpha: float


class SavedView(TypedDict):
    """A view beside its arrays."""

    name: str
    positions: dict[str, Any] | None  # beside their arrays: kind, and the numbers of the kind
    evidence: SavedEvidence | None


class SavedProgress(TypedDict):
    """How far a training is."""

    iterations: int
    divergence: tuple[float, float] | None


class _Always(TypedDict):
    iteration: int
    view: str
    model: str


class Iteration(_Always, total=False):
    """An entry of the history (training/monitor.py). It has all of PROJECTED, or none.

    A model without a likelihood has objectives of its directions instead.
    """

    loglik: dict[str, float]
    perplexity: dict[str, float]
    bound: dict[str, float]
    kl: float
    objective: Any
    violation: tuple[float, float]
    calls: float
    not_converged: float
    area: float


PROJECTED = {"kl", "objective", "violation", "calls", "not_converged"}


class Facts(TypedDict, total=False):
    """The facts that aligner itself uses. There may be others."""

    version: str
    pairs: int
    tokens: tuple[int, int]
    text: str
    known: str
    init: str
    prior: str
    dev: str
    class_files: str
    threshold: float
    tuned: SavedTuning


class Header(TypedDict):
    """All of a header. Recipe.from_dict checks the recipe."""

    recipe: dict[str, Any]
    facts: dict[str, Any]
    history: list[Iteration]
    progress: SavedProgress | None
    views: list[SavedView]


def check_header(header: Any) -> Recipe:
    """The recipe of a header. Refuses a header of another form, or whose parts do not belong together."""
    store.check_form(header, Header, "header")
    recipe = Recipe.from_dict(header["recipe"])
    facts, progress, views = header["facts"], header["progress"], header["views"]
    store.check_form({key: x for key, x in facts.items() if key in Facts.__optional_keys__}, Facts, "facts")
    for n, iteration in enumerate(header["history"]):
        likely, found = "loglik" in iteration, PROJECTED & iteration.keys()
        if found not in ((set(), PROJECTED) if likely else ({"objective"},)):
            raise ValueError(f"history[{n}] has only some of {', '.join(sorted(PROJECTED))}")
        if found:
            form = float if likely else dict[str, float]
            store.check_form(iteration["objective"], form, f"history[{n}].objective")
    names = tuple(view["name"] for view in views)
    if names != recipe.views[: len(names)] or progress is None and names != recipe.views:
        raise ValueError(f"the views are {', '.join(names) or 'none'}, not {', '.join(recipe.views)}")
    if progress is not None and not 0 <= progress["iterations"] <= recipe.n_iterations:
        raise ValueError(f"{progress['iterations']} of {recipe.n_iterations} iterations cannot be done")
    if FACT in facts:
        check_tuning(facts[FACT], recipe.direction)
    if "threshold" in facts:
        checked("threshold", facts["threshold"])
    elif recipe.threshold is None and progress is None:
        raise ValueError("a threshold is missing")
    for view in views:
        if view["positions"] is not None:
            _check_positions(view["positions"])
        wanted = PLACES.get(recipe.last.family)
        kind = POSITIONS[view["positions"]["kind"]] if view["positions"] else object
        if progress is None and wanted and not issubclass(kind, POSITIONS[wanted]):
            raise ValueError(f"view {view['name']} has no positions of the kind {wanted}")
        if (view["evidence"] is None) != (views[0]["evidence"] is None):
            raise ValueError("some views have evidence, others have none")
        if view["evidence"] is not None:
            _check_evidence(view["evidence"])
    return recipe


def _check_positions(saved: dict[str, Any]) -> None:
    """Refuses an unknown kind, and numbers that the kind does not have, or not with these values."""
    store.check_form(saved.get("kind"), str, "positions.kind")
    if saved["kind"] not in POSITIONS:
        raise ValueError(f"the kind of positions {saved['kind']!r} is unknown")
    names = POSITIONS[saved["kind"]].NUMBERS
    if odd := sorted(saved.keys() ^ {"kind", *names}):
        raise ValueError(f"positions have {'an unknown' if odd[0] in saved else 'no'} {odd[0]!a}")
    for name in names:
        store.check_form(saved[name], float, f"positions.{name}")
        checked(name, saved[name])


def _check_evidence(evidence: SavedEvidence) -> None:
    """Refuses numbers that no counting gives."""
    nulls, kappa, words = evidence["nulls"], evidence["kappa"], evidence["words"]
    if not FEW < evidence["alpha"] < MOST or not all(FEW < x < MANY for x in nulls):
        raise ValueError("the evidence must be positive")
    if not all(0 <= x < MOST for x in kappa) or not all(0 <= x < 2**31 for x in words):
        raise ValueError("the evidence must not be negative")


def tables(P: int, V_src: int, V_tgt: int) -> dict[str, tuple[type, tuple[int, ...]]]:
    """The arrays of a view by name, without those of its positions: dtype and shape.

    P word pairs, V_src and V_tgt words; the length of a vocabulary's text is -1 here
    """
    return {
        "rows": (np.int64, (V_src + 1,)),
        "tgt": (np.int32, (P,)),
        "t": (np.float32, (P, 2)),
        "null_fwd": (np.float32, (V_tgt,)),
        "null_rev": (np.float32, (V_src,)),
        "many_src": (np.float32, (V_src,)),
        "many_tgt": (np.float32, (V_tgt,)),
        "src.text": (np.uint8, (-1,)),
        "src.offsets": (np.int64, (V_src + 1,)),
        "tgt.text": (np.uint8, (-1,)),
        "tgt.offsets": (np.int64, (V_tgt + 1,)),
    }


def check_arrays(
    arrays: Arrays, views: Iterable[SavedView], recipe: Recipe, finished: bool, large: bool
) -> Census | None:
    """The census of a training in jobs, if there is one.

    Refuses arrays that are missing, unknown, of another type or size, or that hold what cannot be.

    finished  the shares of a finished training are sorted by their keys, its jumps have the recipe's window
    large     checks what LARGE arrays hold, too
    """
    known: set[str] = set()
    for n, view in enumerate(views):
        own = {name.removeprefix(f"{n}."): x for name, x in arrays.items() if name.startswith(f"{n}.")}
        known |= {f"{n}.{name}" for name in own}
        try:
            positions = _check_view(own, view, large)
            if finished and PLACES.get(recipe.last.family) == Jumps.kind:
                if isinstance(positions, Jumps) and positions.window != recipe.window:
                    raise ValueError("the jumps do not have the recipe's window")
        except ValueError as error:
            raise ValueError(f"view {view['name']}: {error}") from None
    if shares := {name: x for name, x in arrays.items() if name.startswith("shares.")}:
        S, n = store.size_of(shares, "shares.keys"), store.size_of(shares, "shares.entries")
        forms = {"keys": (np.uint64, (S,)), "offsets": (np.int64, (S + 1,)), "entries": (np.uint32, (n,))}
        store.check_arrays(shares, {f"shares.{name}": form for name, form in forms.items()})
        store.check_rising("shares.offsets", shares["shares.offsets"], n)
        keys = shares["shares.keys"]
        if finished and large and not (keys[1:] > keys[:-1]).all():
            raise ValueError("shares.keys do not rise")
    text = {name: x for name, x in arrays.items() if name.startswith(CENSUS)}
    if odd := sorted(arrays.keys() - known - shares.keys() - text.keys()):
        raise ValueError(f"there is an unknown array {odd[0]}")
    if not text:
        return None
    try:
        return Census.restored({name.removeprefix(CENSUS): x for name, x in text.items()})
    except ValueError as error:
        raise ValueError(f"census: {error}") from None


def _check_view(own: Arrays, view: SavedView, large: bool) -> Positions | None:
    """The positions of a view. Refuses arrays of the view that cannot be."""
    P, V_src, V_tgt = (store.size_of(own, name) for name in ("tgt", "null_rev", "null_fwd"))
    absent = () if view["evidence"] else ("many_src", "many_tgt")
    kind = POSITIONS[view["positions"]["kind"]] if view["positions"] else None
    if kind and (lacking := [name for name in needed(kind) if name not in own]):
        raise ValueError(f"there is no array {lacking[0]}")
    placed = kind.ARRAYS if kind else ()
    forms = {name: form for name, form in tables(P, V_src, V_tgt).items() if name not in absent}
    store.check_arrays({name: x for name, x in own.items() if name not in placed}, forms)
    store.check_rising("rows", own["rows"], P)
    for name in ("null_fwd", "null_rev"):
        store.check_bounds(own, name, 0, MOST)
    if view["evidence"] is not None:
        for name in ("many_src", "many_tgt"):
            store.check_bounds(own, name, FEW, MANY)
    positions = None
    if view["positions"] is not None:
        positions = restored(view["positions"], own)
        positions.check(large)
        for name, V in (("src_class", V_src), ("tgt_class", V_tgt)):
            if name in placed and len(own[name]) != V:
                raise ValueError(f"{name} is of {len(own[name])} words, not of {V}")
    for side in ("src", "tgt"):
        Vocab.restored(side, own[f"{side}.text"], own[f"{side}.offsets"])
    if large:
        store.check_bounds(own, "t", 0, MOST)
        store.check_bounds(own, "tgt", 0, V_tgt - 1)
        rising = own["tgt"][1:] > own["tgt"][:-1]
        starts = own["rows"][(own["rows"] > 0) & (own["rows"] < P)]
        rising[starts - 1] = True  # a new row begins
        if not rising.all():
            raise ValueError("tgt does not rise within each row")
    return positions
