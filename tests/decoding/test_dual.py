"""--symmetrize dual: links of models by dual decomposition, from Python and on the command line."""

from __future__ import annotations

import math

import numpy as np
import pytest
from trained import GOLD, SRC, TGT, generated, links_of, recipe_of, run, same

from aligner import Constraints, DataError, Dual, Links, Model, Recipe, read_corpus, symmetrize, train
from aligner.decoding.dual import CERTIFICATE, COLUMNS
from aligner.decoding.posteriors import directions
from aligner.models.kinds import HMMS

SHORT = {"iterations": 1, "ibm1_iterations": 2, "views": ["word", "prefix3"]}


@pytest.fixture(scope="module")
def text():
    return generated().part(0, 60)


@pytest.fixture(scope="module")
def models(text) -> dict[str, Model]:
    return {name: train(text, recipe_of(name, **SHORT)) for name in HMMS}


@pytest.fixture(scope="module")
def path(tmp_path_factory, text) -> str:
    """An HMM of the sample, with one view."""
    path = str(tmp_path_factory.mktemp("dual") / "hmm")
    run("train", SRC, TGT, "-q", "--fast", "--model", "hmm", "--iterations", 2, "-o", path)
    return path


def certified(model: Model, text, dual: Dual, **options) -> tuple[list[Links], np.ndarray]:
    """The links of both directions, and the certificates."""
    found = np.full((len(text), len(CERTIFICATE)), np.nan)
    return links_of(model, text, dual=dual, certificates=found, **options), found


@pytest.mark.parametrize("name", HMMS)
def test_one_round_is_the_mean_of_best_paths(name, models, text):
    """loo has one lattice for its views; others have one a view. Nothing is projected."""
    model = models[name]
    best = links_of(model, text, viterbi=True, project="none")
    assert all(map(same, links_of(model, text, dual=Dual(rounds=1)), best))
    found = model.align(text, symmetrize="dual", dual=Dual(rounds=1))
    assert same(found, symmetrize(*best, "soft-union", threshold=0.5))


@pytest.mark.parametrize("name", ["hmm", "loo"])
def test_certificates_are_of_all_views(name, models, text):
    model = models[name]
    for rounds in (3, 40):
        links, found = certified(model, text, Dual(rounds=rounds))
        assert all(map(same, links, links_of(model, text, dual=Dual(rounds=rounds))))
        n_lattices = 1 if name == "loo" else 2
        most, share, bound, primal = found.T
        assert (most >= n_lattices).all() and (most <= rounds * n_lattices).all()
        assert set(share) <= {k / n_lattices for k in range(n_lattices + 1)}
        assert (primal <= bound + 1e-3).all() and (bound[share == 1] == primal[share == 1]).all()
        assert (most[share < 1] >= rounds).all()
    assert (share == 1).any() and (share < 1).any()
    forward, reverse = (side.scored() for side in links)
    for n in np.flatnonzero(share == 1):  # in each view the directions agree
        assert forward[n] == reverse[n]


@pytest.mark.parametrize("name", ["hmm", "loo"])
def test_shards_and_threads_change_nothing(name, models, text, monkeypatch):
    one = certified(models[name], text, Dual(penalty=0.3))
    monkeypatch.setattr("aligner.text.cells.SCORED_CELLS", 2000)
    other = certified(models[name], text, Dual(penalty=0.3), n_threads=3)
    assert all(map(same, one[0], other[0]))
    np.testing.assert_array_equal(one[1], other[1])


def test_known_links_are_kept(models, text):
    pairs = [[] for _ in range(len(text))]
    pairs[0] = [(0, 5, 1e12), (1, 1, 0.0)]
    links = models["hmm"].align(text, symmetrize="dual", links=Links.from_pairs(pairs))
    assert (0, 5) in links[0] and (1, 1) not in links[0]


def test_what_does_not_go_with_it(models, text):
    model = models["hmm"]
    for given, error, told in (
        ({"symmetrize": "dual", "threshold": "auto"}, ValueError, "threshold auto is for probabilities"),
        ({"symmetrize": "dual", "project": "both"}, ValueError, "and not the projection both"),
        ({"symmetrize": "union", "dual": Dual()}, ValueError, "dual is for symmetrize dual, not union"),
        ({"symmetrize": "dual", "dual": 3}, TypeError, "dual must be a Dual, not 3"),
        ({"symmetrize": "twin"}, ValueError, "unknown symmetrize 'twin'; there are .*product, dual$"),
    ):
        with pytest.raises(error, match=told):
            model.align(text, **given)
    few = Constraints.of([[([("forward", 0, 0, 1.0)], "<=", 0.1)], *[[]] * 59])
    with pytest.raises(DataError, match="constraints are not for dual decomposition"):
        model.align(text, symmetrize="dual", constraints=few)
    with pytest.raises(ValueError, match="and not best paths"):
        next(directions(model.views, model.recipe, text, viterbi=True, dual=Dual()))
    with pytest.raises(TypeError, match="dual must be a Dual, not True"):
        next(model.directions(text, dual=True))
    for room in (np.zeros((59, 4)), np.zeros((60, 3))):
        with pytest.raises(ValueError, match="the certificates are not of dual decomposition of 60"):
            next(directions(model.views, model.recipe, text, dual=Dual(), certificates=room))
    with pytest.raises(ValueError, match="the certificates are not"):
        next(directions(model.views, model.recipe, text, certificates=np.zeros((60, 4))))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rounds": 0},
        {"rounds": 2.5},
        {"rate": 0.0},
        {"rate": math.inf},
        {"penalty": -1},
        {"penalty": math.nan},
    ],
)
def test_settings_have_bounds(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a"):
        Dual(**wrong)


def test_models_without_two_lattices_are_refused(text, tmp_path, path):
    forward = train(text, Recipe.of("hmm", direction="forward", iterations=1, views=["word"]))
    ibm1 = train(text, Recipe.of("ibm1", iterations=1, views=["word"]))
    for model, told in ((forward, "hmm, trained forward only"), (ibm1, "ibm1")):
        with pytest.raises(DataError, match=f"for HMMs of both directions; this model is {told};"):
            model.align(text, symmetrize="dual")
        model.save(tmp_path / "model", overwrite=True)
        message = run("decode", tmp_path / "model", SRC, TGT, "--symmetrize", "dual", code=2)
        assert "--symmetrize is for both" in message or "dual is for HMMs of both directions" in message
    message = run("align", SRC, TGT, "--model", "ibm1", "--symmetrize", "dual", code=2)
    assert "--symmetrize dual is for HMMs of both directions" in message and "not for ibm1" in message


def test_align_prints_what_decode_prints(tmp_path):
    model, out = tmp_path / "model", {x: tmp_path / x for x in ("f", "r", "scores", "log")}
    common = ["--symmetrize", "dual", "--rounds", 9, "--penalty", 0.5, "--rate", 2, "--threads", 1]
    training = ["-q", "--fast", "--model", "hmm", "--iterations", 2, "--save", model]
    training += ["--forward", out["f"], "--reverse", out["r"], "--sentence-scores", out["scores"]]
    links = run("align", SRC, TGT, *training, *common, "--dual-log", out["log"])
    assert links.count("\n") == 60
    assert links == run("decode", model, SRC, TGT, *common, "--dual-log", tmp_path / "again")
    assert out["log"].read_text() == (tmp_path / "again").read_text()
    lines = [line.split("\t") for line in out["log"].read_text().splitlines()]
    assert lines[0] == list(COLUMNS) and [line[0] for line in lines[1:]] == [str(n + 1) for n in range(60)]
    for _, rounds, converged, bound, primal, gap in lines[1:]:
        assert 1 <= int(rounds) <= 9 and float(gap) >= 0 and (float(gap) == 0) >= int(converged)
        assert abs(float(bound) - float(primal) - float(gap)) < 2e-4 or float(bound) < float(primal)
    assert all(
        line.count("\t") == 2 and line.endswith("\t") for line in out["scores"].read_text().splitlines()
    )
    both = Model.load(model).align(read_corpus(str(SRC), str(TGT)), symmetrize="dual", dual=Dual(0.5, 9, 2.0))
    assert links.splitlines() == [" ".join(f"{i}-{j}" for i, j in line) for line in both]


def test_scores_decoders_and_streams(path, tmp_path):
    dual = ["--symmetrize", "dual", "--threads", 1]
    plain = run("decode", path, SRC, TGT, *dual)
    assert run("decode", path, SRC, TGT, *dual, "--threshold", 0.5, "--project", "none") == plain
    assert run("decode", path, SRC, TGT, *dual, "--threshold", 0.9) != plain
    scored = run("decode", path, SRC, TGT, *dual, "--scores").split()
    assert [x.split(":")[0] for x in scored] == plain.split()
    assert all(0.5 < float(x.split(":")[1]) <= 1 for x in scored)
    one = run("decode", path, SRC, TGT, *dual, "--decode", "one-to-one", "--threshold", 0.2)
    for line in one.splitlines():
        for side in zip(*(x.split("-") for x in line.split()), strict=True):
            assert len(set(side)) == len(side)
    lines = "".join(f"{a} ||| {b}\n" for a, b in zip(_lines(SRC), _lines(TGT), strict=True))
    log = tmp_path / "log"
    assert run("decode", path, *dual, "--dual-log", log, stdin=f"{lines}a ||| \n") == plain + "\n"
    assert log.read_text().splitlines()[-1] == "61\t0\t0\t\t\t"


def _lines(path) -> list[str]:
    return path.read_text().splitlines()


def test_options_that_do_not_go_with_it(path, tmp_path):
    for given, told in (
        (["--rounds", 9], "--rounds is for --symmetrize dual."),
        (["--penalty", "inf"], "--penalty is for --symmetrize dual."),
        (["--rate", 2, "--symmetrize", "union"], "--rate is for --symmetrize dual."),
        (["--dual-log", tmp_path / "x"], "--dual-log is for --symmetrize dual."),
        (["--symmetrize", "dual", "--viterbi"], "not for --viterbi"),
        (["--symmetrize", "dual", "--project", "both"], "not for --project both"),
        (["--symmetrize", "dual", "--threshold", "auto"], "--threshold auto is not for --symmetrize dual"),
        (
            ["--symmetrize", "dual", "--threshold", "points"],
            "--threshold points is not for --symmetrize dual",
        ),
        (["--symmetrize", "dual", "--rounds", 0], "0 is not in the range"),
        (["--symmetrize", "dual", "--rate", "nan"], "'--rate'"),
        (["--symmetrize", "dual", "--penalty", -1], "'-1' is neither inf nor a number of at least 0"),
        (["--symmetrize", "dual", "--penalty", "nan"], "'nan' is neither inf nor"),
        (["--symmetrize", "dual", "--penalty", "much"], "'much' is neither inf nor"),
    ):
        for command in (["decode", path, SRC, TGT], ["align", SRC, TGT, "--model", "hmm"]):
            assert told in run(*command, *given, code=2)
    with_one = ["decode", path, SRC, TGT, "--symmetrize", "dual"]
    assert "--symmetrize is for both directions" in run(*with_one, "--direction", "forward", code=2)
    assert "do not go with --symmetrize dual" in run(*with_one, "--at-precision", 0.9, code=2)
    assert "--dual-log and -o are both" in run(
        *with_one, "-o", tmp_path / "y", "--dual-log", tmp_path / "y", code=2
    )
    message = run(
        "symmetrize", SRC.with_name("sample.forward"), SRC.with_name("sample.reverse"), "-m", "dual", code=2
    )
    assert "dual needs a model: it is a method of `aligner align` and `aligner decode`" in message


def test_a_tuned_threshold_is_not_that_of_dual(path, tmp_path):
    plain = run("decode", path, SRC, TGT, "--symmetrize", "dual")
    tuned = tmp_path / "tuned"
    run("tune", path, SRC, TGT, GOLD, "--store", "-o", tuned)
    assert run("decode", tuned, SRC, TGT, "--symmetrize", "dual") == plain
