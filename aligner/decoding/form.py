"""What a model file may say: the header's form, the arrays' types and sizes, the bounds of their numbers.

Each function refuses, by a ValueError, what training does not write. What passes can be used: no array leads
outside another one, and no number makes a kernel divide by 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from aligner.decoding.tuned import FACT, SavedTuning, check_tuning
from aligner.models.kinds import LATTICES
from aligner.models.positions import LEAST, POSITIONS
from aligner.models.recipe import Recipe
from aligner.models.settings import checked
from aligner.store import check_form

Arrays = Mapping[str, npt.NDArray[Any]]

LARGE = ("tgt", "t", "keys", "entries")  # arrays that grow with the text, not with its vocabulary
MOST = 1e9  # no probability is larger: smoothing that favours equal words may give more than 1
MANY = 1e29  # no evidence is larger
FEW = 1e-30  # no evidence is smaller


class SavedPositions(TypedDict):
    """Positions beside their arrays."""

    kind: str
    p0: float


class SavedEvidence(TypedDict):
    """Evidence beside its arrays."""

    nulls: tuple[float, float]
    kappa: tuple[float, float]
    words: tuple[int, int]
    alpha: float


class SavedView(TypedDict):
    """A view beside its arrays."""

    name: str
    positions: SavedPositions | None
    evidence: SavedEvidence | None


class SavedProgress(TypedDict):
    """How far a training is."""

    iterations: int
    divergence: tuple[float, float] | None


class _Always(TypedDict):
    iteration: int
    view: str
    model: str
    loglik: dict[str, float]


class Iteration(_Always, total=False):
    """An entry of the history (training/monitor.py). It has all of PROJECTED, or none."""

    perplexity: dict[str, float]
    bound: dict[str, float]
    kl: float
    objective: float
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
    check_form(header, Header, "header")
    recipe = Recipe.from_dict(header["recipe"])
    facts, progress, views = header["facts"], header["progress"], header["views"]
    check_form({key: x for key, x in facts.items() if key in Facts.__optional_keys__}, Facts, "facts")
    for n, iteration in enumerate(header["history"]):
        if PROJECTED & iteration.keys() not in (set(), PROJECTED):
            raise ValueError(f"history[{n}] has only some of {', '.join(sorted(PROJECTED))}")
    names = tuple(view["name"] for view in views)
    if not names or names != recipe.views[: len(names)] or progress is None and names != recipe.views:
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
            if view["positions"]["kind"] not in POSITIONS:
                raise ValueError(f"the kind of positions {view['positions']['kind']!r} is unknown")
            checked("p0", view["positions"]["p0"])
        elif progress is None and recipe.last.family in LATTICES:
            raise ValueError(f"view {view['name']} has no positions")
        if (view["evidence"] is None) != (views[0]["evidence"] is None):
            raise ValueError("some views have evidence, others have none")
        if view["evidence"] is not None:
            _check_evidence(view["evidence"])
    return recipe


def _check_evidence(evidence: SavedEvidence) -> None:
    """Refuses numbers that no counting gives."""
    nulls, kappa, words = evidence["nulls"], evidence["kappa"], evidence["words"]
    if not FEW < evidence["alpha"] < MOST or not all(FEW < x < MANY for x in nulls):
        raise ValueError("the evidence must be positive")
    if not all(0 <= x < MOST for x in kappa) or not all(0 <= x < 2**31 for x in words):
        raise ValueError("the evidence must not be negative")


def tables(P: int, V_src: int, V_tgt: int, W: int) -> dict[str, tuple[type, tuple[int, ...]]]:
    """The arrays of a view by name: dtype and shape.

    P word pairs, V_src and V_tgt words, a window of W + 1; the length of a vocabulary's text is -1 here
    """
    return {
        "rows": (np.int64, (V_src + 1,)),
        "tgt": (np.int32, (P,)),
        "t": (np.float32, (P, 2)),
        "null_fwd": (np.float32, (V_tgt,)),
        "null_rev": (np.float32, (V_src,)),
        "many_src": (np.float32, (V_src,)),
        "many_tgt": (np.float32, (V_tgt,)),
        "jump": (np.float64, (2, 2 * W + 3)),
        "first": (np.float64, (2, W + 1)),
        "src.text": (np.uint8, (-1,)),
        "src.offsets": (np.int64, (V_src + 1,)),
        "tgt.text": (np.uint8, (-1,)),
        "tgt.offsets": (np.int64, (V_tgt + 1,)),
    }


def check_arrays(
    arrays: Arrays, views: Iterable[SavedView], recipe: Recipe, finished: bool, large: bool
) -> None:
    """Refuses arrays that are missing, unknown, of another type or size, or that hold what cannot be.

    finished  the shares of a finished training are sorted by their keys, its jumps have the recipe's window
    large     checks what LARGE arrays hold, too
    """
    known: set[str] = set()
    for n, view in enumerate(views):
        own = {name.removeprefix(f"{n}."): x for name, x in arrays.items() if name.startswith(f"{n}.")}
        known |= {f"{n}.{name}" for name in own}
        try:
            _check_view(own, view, large)
            if finished and recipe.last.family in LATTICES and _size(own, "first", 1) != recipe.window:
                raise ValueError("the jumps do not have the recipe's window")
        except ValueError as error:
            raise ValueError(f"view {view['name']}: {error}") from None
    if shares := {name: x for name, x in arrays.items() if name.startswith("shares.")}:
        S, n = _size(shares, "shares.keys"), _size(shares, "shares.entries")
        forms = {"keys": (np.uint64, (S,)), "offsets": (np.int64, (S + 1,)), "entries": (np.uint32, (n,))}
        _check_forms(shares, {f"shares.{name}": form for name, form in forms.items()})
        _check_rising(shares, "shares.offsets", n, strictly=False)
        keys = shares["shares.keys"]
        if finished and large and not (keys[1:] > keys[:-1]).all():
            raise ValueError("shares.keys do not rise")
    if odd := sorted(arrays.keys() - known - shares.keys()):
        raise ValueError(f"there is an unknown array {odd[0]}")


def _check_view(own: Arrays, view: SavedView, large: bool) -> None:
    P, V_src, V_tgt, window = (
        _size(own, name, axis) for name, axis in (("tgt", 0), ("null_rev", 0), ("null_fwd", 0), ("first", 1))
    )
    absent = [] if view["evidence"] else ["many_src", "many_tgt"]
    absent += [] if view["positions"] else ["jump", "first"]
    forms = tables(P, V_src, V_tgt, window - 1)
    _check_forms(own, {name: form for name, form in forms.items() if name not in absent})
    _check_rising(own, "rows", P, strictly=False)
    for name in ("null_fwd", "null_rev"):
        _check_bounds(own, name, 0, MOST)
    if view["evidence"] is not None:
        for name in ("many_src", "many_tgt"):
            _check_bounds(own, name, FEW, MANY)
    if view["positions"] is not None:
        checked("window", window)
        for name in ("jump", "first"):
            _check_bounds(own, name, LEAST, 1)
    for side in ("src", "tgt"):
        _check_words(own, f"{side}.text", f"{side}.offsets")
    if large:
        _check_bounds(own, "t", 0, MOST)
        _check_bounds(own, "tgt", 0, V_tgt - 1)
        rising = own["tgt"][1:] > own["tgt"][:-1]
        starts = own["rows"][(own["rows"] > 0) & (own["rows"] < P)]
        rising[starts - 1] = True  # a new row begins
        if not rising.all():
            raise ValueError("tgt does not rise within each row")


def _size(arrays: Arrays, name: str, axis: int = 0) -> int:
    """The size of an array; 0 if the array is not there."""
    return int(arrays[name].shape[axis]) if name in arrays and arrays[name].ndim > axis else 0


def _check_forms(arrays: Arrays, forms: Mapping[str, tuple[type, tuple[int, ...]]]) -> None:
    """Refuses arrays that are missing, unknown, or of other types and shapes; -1: of any length."""
    if odd := sorted(arrays.keys() ^ forms.keys()):
        raise ValueError(f"there is {'an unknown' if odd[0] in arrays else 'no'} array {odd[0]}")
    for name, (dtype, shape) in forms.items():
        found = arrays[name]
        wanted = found.shape if found.ndim == 1 and shape == (-1,) else shape
        if found.dtype != dtype or found.shape != wanted:
            raise ValueError(f"{name} is {found.dtype} {found.shape}, not {np.dtype(dtype)} {wanted}")


def _check_bounds(arrays: Arrays, name: str, least: float, most: float) -> None:
    """Refuses numbers that are not between two bounds, and what is not a number."""
    x = arrays[name]
    if x.size and not (x.min() >= least and x.max() <= most):
        raise ValueError(
            f"{name} must be between {least:g} and {most:g}; there are {x.min():g} and {x.max():g}"
        )


def _check_rising(arrays: Arrays, name: str, end: int, strictly: bool) -> None:
    """Refuses offsets that do not rise from 0 to end."""
    x = arrays[name]
    falls = x[1:] <= x[:-1] if strictly else x[1:] < x[:-1]
    if x[0] != 0 or x[-1] != end or falls.any():
        raise ValueError(f"{name} does not rise from 0 to {end}")


def _check_words(arrays: Arrays, text: str, offsets: str) -> None:
    """Refuses words that are empty, not UTF-8, or have blanks in them."""
    _check_rising(arrays, offsets, len(arrays[text]), strictly=True)
    words = arrays[text].tobytes()
    try:
        words.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{text} is not UTF-8") from None
    starts = arrays[text][arrays[offsets][:-1]]
    if ((starts & 0xC0) == 0x80).any() or any(blank in words for blank in (b" ", b"\t", b"\n")):
        raise ValueError(f"{text} is not cut into words")
