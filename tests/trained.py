"""What tests of whole trainings share: the sample, the generated corpus, recipes, how to compare results."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from click.testing import CliRunner
from conftest import ROOT
from leaving import bits

from aligner import Corpus, Links, Model, Recipe, read_corpus
from aligner.cli import cli
from aligner.decoding.model import LEXICON
from aligner.decoding.posteriors import directions
from aligner.models.lexicon import Evidence, Lexicon
from aligner.models.settings import SETTINGS
from aligner.models.shares import Shares

SRC, TGT, GOLD, FORWARD = (ROOT / "data" / f"sample.{x}" for x in ("en", "fr", "gold", "forward"))


def generated() -> Corpus:
    """The corpus that ships with the project."""
    return read_corpus(str(ROOT / "data" / "generated.src"), str(ROOT / "data" / "generated.tgt"))


def recipe_of(name: str, **given: Any) -> Recipe:
    """A recipe of those of the settings that the model uses."""
    used = {key: x for key, x in given.items() if key not in SETTINGS or name in SETTINGS[key].models}
    return Recipe.of(name, **used)


def plain(ibm1: int, hmm: int, **given: Any) -> Recipe:
    """An HMM of words."""
    return Recipe.of("hmm", ibm1_iterations=ibm1, iterations=hmm, views=["word"], **given)


def links_of(model: Model, corpus: Corpus, **options: Any) -> list[Links]:
    """The links of both directions, with their scores."""
    found = list(directions(model.views, model.recipe, corpus, **{"shares": model.shares, **options}))
    return [Links.joined(block[k] for block in found) for k in range(2)]


def same(a: Links, b: Links) -> bool:
    """Whether links and scores are equal to the last bit."""
    return all(np.array_equal(getattr(a, x), getattr(b, x)) for x in ("offsets", "src", "tgt", "scores"))


def arrays(model: Model) -> dict[str, np.ndarray]:
    """All arrays of a model by the names of view and array. The bitmap of evidence is checked by itself."""
    found = {}
    for view in model.views:
        m = view.parameters
        found |= {f"{view.name} {name}": getattr(m.lexicon, name) for name in LEXICON}
        if m.lexicon.evidence is not None:
            check_linked(m.lexicon)
            names = [x.name for x in fields(Evidence) if x.name != "linked"]
            evidence = {f"many {name}": getattr(m.lexicon.evidence, name) for name in names}
            found |= {f"{view.name} {name}": np.asarray(value) for name, value in evidence.items()}
        if m.positions is not None:
            found |= {f"{view.name} {name}": getattr(m.positions, name) for name in m.positions.ARRAYS}
            numbers = {name: np.array(getattr(m.positions, name)) for name in m.positions.NUMBERS}
            found |= {f"{view.name} {name}": value for name, value in numbers.items()}
    if model.shares is not None:
        found |= {f"shares {x.name}": getattr(model.shares, x.name) for x in fields(Shares)}
    return found


def check_linked(m: Lexicon) -> None:
    """The bitmap of evidence says which word pairs have a t, if there is a bitmap: files have none."""
    assert m.evidence is not None
    if m.evidence.linked is not None:
        linked = m.t.any(axis=1)
        assert (m.t.all(axis=1) == linked).all()
        np.testing.assert_array_equal(m.evidence.linked, bits(linked))


def assert_same_arrays(a: Model, b: Model) -> None:
    """The two models believe the same, to the last bit."""
    one, other = arrays(a), arrays(b)
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value.dtype == other[name].dtype, name
        np.testing.assert_array_equal(value, other[name], err_msg=name)


def run(*arguments: object, code: int = 0, stdin: str = "") -> str:
    """stdout of a command that must exit with `code`; stderr where it must fail."""
    result = CliRunner().invoke(cli, [str(x) for x in arguments], input=stdin)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr
