"""--prior and --prior-weight of commands that train."""

from __future__ import annotations

from pathlib import Path

import pytest
from trained import run

from aligner import Model


@pytest.fixture
def halves(data: Path, tmp_path: Path) -> Path:
    """A folder: a few lines, chunk.src and chunk.tgt; the model of others; priors in eflomal's format."""
    for side in ("src", "tgt"):
        lines = (data / f"generated.{side}").read_text().splitlines(keepends=True)
        (tmp_path / f"chunk.{side}").write_text("".join(lines[:40]))
        (tmp_path / f"rest.{side}").write_text("".join(lines[40:500]))
    rest = [tmp_path / "rest.src", tmp_path / "rest.tgt"]
    run("train", *rest, "-q", "--views", "word,prefix4", "-o", tmp_path / "model")
    (tmp_path / "priors").write_text("LEX\tthe\tla\t90\nLEX\tof\tde\t80\nFERF\tthe\t1\t90\nHMMF\t1\t300\n")
    return tmp_path


def chunk(folder: Path) -> list[Path]:
    return [folder / "chunk.src", folder / "chunk.tgt"]


def test_a_model_is_a_prior(halves: Path):
    """Its views are trained; the signature names the prior; a weight of 0 is no prior."""
    options = ["-q", "--save", halves / "new", "--overwrite"]
    with_prior = run("align", *chunk(halves), *options, "--prior", halves / "model")
    new = Model.load(halves / "new")
    assert new.recipe.views == ("word", "prefix4") and "|prior:" in new.signature
    assert [entry["model"] for entry in new.history].count("ibm1") == 8  # Model 1 is trained, too
    again = run("align", *chunk(halves), *options, "--prior", halves / "model", "--prior-weight", 1)
    assert again == with_prior
    alone = run("align", *chunk(halves), "-q", "--views", "word,prefix4")
    assert alone != with_prior
    zero = ["--prior", halves / "model", "--prior-weight", 0]
    assert run("align", *chunk(halves), "-q", *zero) == alone
    run("train", *chunk(halves), "-q", "-o", halves / "other", "--prior", halves / "model")
    assert Model.load(halves / "other").signature == new.signature
    assert "prior" in run("info", halves / "other")


def test_priors_of_eflomal_are_a_prior(halves: Path):
    alone = run("align", *chunk(halves), "-q", "--views", "word,prefix4")
    found = run("align", *chunk(halves), "-q", "--views", "word,prefix4", "--prior", halves / "priors")
    assert found != alone and len(found.splitlines()) == 40
    text = (halves / "priors").read_text()
    assert run("align", *chunk(halves), "-q", "--views", "word,prefix4", "--prior", "-", stdin=text) == found
    (halves / "wrong").write_text("LEX\tthe\tla\t90\nLEX\tthe\tla\n")
    message = run("align", *chunk(halves), "--prior", halves / "wrong", code=1)
    assert "wrong:2:" in message or "wrong, line 2" in message


def test_what_cannot_be_is_refused(halves: Path):
    model = halves / "model"
    for options, message in (
        (["--prior", model, "--init", model], "--prior and --init do not go together"),
        (["--prior-weight", 2], "--prior-weight is for --prior"),
        (["--prior", model, "--prior-weight", -1], "--prior-weight"),
        (["--prior", model, "--prior-weight", "nan"], "--prior-weight"),
        (["--prior", model, "--lowercase"], "was trained without --lowercase: do the same here"),
        (["--prior", model, "--split", "unicode"], "was trained with --split ascii: do the same here"),
        (["--prior", "-", "--given", "-"], "only one file can be -"),
        (["--prior", model, "--save", model, "--overwrite"], "which is read"),
    ):
        assert message in run("align", *chunk(halves), "-q", *options, code=2)
    for options, message in (
        (["--prior", model, "--views", "word,prefix3"], "has the views word,prefix4, not prefix3"),
        (["--prior", model, "--window", 7], "have a window of 5, not 7"),
        (["--prior", model, "--dirichlet", 0.1], "not both"),
        (["--prior", halves / "none"], "none"),
    ):
        assert message in run("align", *chunk(halves), "-q", *options, code=1)
