"""aligner tune: its numbers are those of decode and evaluate, and a model keeps what it found."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from conftest import ROOT
from trained import run

from aligner import DataError, LinkReader, Model, evaluate, read_corpus
from aligner.decoding.tuned import FACT, SYSTEMS, points_of, reached
from aligner.scoring.tuning import Goal, Tuning, system_links

QUICK = "-q", "--threads", 1, "--fast", "--model", "hmm", "--iterations", 2


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("tune") / "model"
    run("train", ROOT / "data" / "sample.en", ROOT / "data" / "sample.fr", *QUICK, "-o", path)
    return path


@pytest.fixture
def sample(data):
    return [data / f"sample.{side}" for side in ("en", "fr", "gold")]


def asked(system: str) -> list[str]:
    """The options of decode that give the links of a system."""
    return ["--direction", system] if system in ("forward", "reverse") else ["--symmetrize", system]


def scores(links: str, gold, write) -> dict[str, float]:
    found = LinkReader(write("links", links)).read()
    return evaluate([found], LinkReader(str(gold)).read(), n_samples=0).results[0].scores


def test_scores_are_those_of_decoded_links(model, sample, write):
    for options in ([], ["--by", "f-alpha", "--alpha", 0.8], ["--at-precision", 0.9], ["--at-recall", 0.6]):
        found = json.loads(run("tune", model, *sample, "--json", *options, "--threads", 1))
        assert list(found["systems"]) == list(SYSTEMS)
        for system, row in found["systems"].items():
            links = run("decode", model, *sample[:2], "--threshold", row["threshold"], *asked(system))
            expected = scores(links, sample[2], write)
            assert {key: row[key] for key in ("aer", "precision", "recall", "f1")} == {
                key: expected[key] for key in ("aer", "precision", "recall", "f1")
            }
            assert row["links"] == len(links.split())
            if "--at-precision" in options:
                assert row["precision"] >= 0.9
    assert [row["threshold"] for row in found["thresholds"]] == [n / 20 for n in range(1, 20)]
    best = json.loads(run("tune", model, *sample, "--json"))["systems"]["soft-union"]["aer"]
    for row in found["thresholds"][::6]:
        links = run("decode", model, *sample[:2], "--threshold", row["threshold"])
        assert row["aer"] == scores(links, sample[2], write)["aer"] >= best


def test_text_has_the_same_numbers(model, sample):
    text = run("tune", model, *sample, "--system", "product")
    found = json.loads(run("tune", model, *sample, "--system", "product", "--json"))
    lines = [line.split() for line in text.splitlines()]
    assert lines[0] == ["best", "by", "AER:"] and lines[1][:3] == ["system", "area", "threshold"]
    for name, area, threshold, n_links, aer, *_ in lines[2:6]:
        row = found["systems"][name]
        assert float(threshold) == row["threshold"] and int(n_links) == row["links"]
        assert [area, aer] == [f"{100 * row[key]:.2f}" for key in ("area", "aer")]
    assert text.split("\n\n")[1].startswith("product, all thresholds:\n") and len(lines) == 6 + 1 + 2 + 19
    assert [line[2] for line in lines[9:]] == [f"{100 * row['aer']:.2f}" for row in found["thresholds"]]


def test_a_model_keeps_thresholds_and_curves(model, sample, tmp_path, write):
    before, new = model.read_bytes(), tmp_path / "new"
    run("tune", model, *sample, "--store", "-o", new, "--at-precision", 0.9)
    assert model.read_bytes() == before
    trained, tuned = Model.load(model), Model.load(new)
    found = Tuning.of(trained, read_corpus(*map(str, sample[:2])), LinkReader(str(sample[2])).read(), Goal())
    for system, kept in tuned.facts[FACT]["systems"].items():
        points, curve = points_of(kept), found.curves[system]
        at = np.searchsorted(-curve.thresholds, -points.thresholds)
        for key in ("thresholds", "precision", "recall"):
            np.testing.assert_array_equal(getattr(points, key), getattr(curve, key)[at])
        assert kept["threshold"] == curve.thresholds[curve.at("precision", 0.9)]
        assert kept["area"] == curve.area and 5 < len(points.recall) <= 200
    signature = trained.signature.replace(
        "|version", f"|tuned:{tuned.signature.split('tuned:')[1][:8]}|version"
    )
    assert tuned.signature == signature != trained.signature
    assert replace(tuned, facts=trained.facts).signature == trained.signature
    shown = run("info", new)
    assert (
        "tuned              by recall at precision 0.9 on 60 sentence pairs, gold links 731c70d8\n" in shown
    )
    assert (
        f"tuned product      threshold {tuned.facts[FACT]['systems']['product']['threshold']:g}, area"
        in shown
    )
    assert "tuned" not in run("info", model)


def test_store_replaces_only_what_it_may(model, sample, tmp_path):
    copy = tmp_path / "copy"
    copy.write_bytes(model.read_bytes())
    assert "-o" in run("tune", copy, *sample, "--store", code=2)
    assert "are for --store" in run("tune", copy, *sample, "-o", tmp_path / "new", code=2)
    assert "the file exists" in run("tune", copy, *sample, "--store", "-o", copy, code=1)
    assert "which is read" in run("tune", copy, *sample, "--store", "-o", sample[0], "--overwrite", code=2)
    for stdout in ("/dev/stdout", "/dev/fd/1"):  # the model would stand before the table
        assert "-o and the table are both" in run("tune", copy, *sample, "--store", "-o", stdout, code=2)
    assert copy.read_bytes() == model.read_bytes()
    run("tune", copy, *sample, "--store", "--overwrite")
    first = copy.read_bytes()
    run("tune", copy, *sample, "--store", "--overwrite")  # what was kept before is replaced
    assert copy.read_bytes() == first != model.read_bytes()
    assert list(tmp_path.iterdir()) == [copy]


def test_one_direction_is_one_system(model, sample, tmp_path):
    path = tmp_path / "forward"
    run("train", *sample[:2], *QUICK[:5], "ibm1", "--direction", "forward", "-o", path)
    for one in (path, model):  # scores are as files have them: thresholds are compared with such scores
        for links in system_links(Model.load(one), read_corpus(*map(str, sample[:2]))).values():
            assert len(links.src) and (np.round(links.scores, 6) == links.scores).all()
    found = json.loads(run("tune", path, *sample, "--json", "--store", "--overwrite"))
    assert list(found["systems"]) == ["forward"] and found["system"] == "forward"
    kept = Model.load(path).threshold_of("forward", "soft-union")
    assert kept == found["systems"]["forward"]["threshold"]
    assert "was trained forward only" in run("tune", path, *sample, "--system", "product", code=2)


def test_what_cannot_be_tuned(model, sample, write, tmp_path):
    possible = write("possible", sample[2].read_text().replace("-", "?"))
    assert "no sure links" in run("tune", model, *sample[:2], possible, code=1)
    short = write("short", "".join(sample[2].read_text().splitlines(keepends=True)[:9]))
    assert "links of 9 sentences, the text has 60" in run("tune", model, *sample[:2], short, code=1)
    assert "exclude each other" in run("tune", model, *sample, "--by", "f1", "--at-recall", 0.3, code=2)
    far = "--at-recall", 1, "--system", "product"
    assert "product" in run("tune", model, *sample, *far)  # it is shown, and cannot be kept
    message = run("tune", model, *sample, *far, "--store", "-o", tmp_path / "new", code=1)
    assert "product never has recall 1; its best recall is 0." in message
    assert not (tmp_path / "new").exists()


def test_a_model_of_other_languages_is_told(model, sample, write, caplog):
    run("tune", model, *sample)
    assert caplog.records == []
    other, gold = write("other", "qqqq\n" * 60), write("gold", "0-0\n" * 60)
    run("tune", model, other, sample[1], gold)
    run("curve", model, "--gold", gold, "--text", other, sample[1])
    for record, name in zip(caplog.records, ("the model", model), strict=True):
        assert f"{name} does not know 60 of 60 source words" in record.getMessage()


def test_damaged_curves_are_refused(model, sample, tmp_path):
    good = tmp_path / "good"
    run("tune", model, *sample, "--store", "-o", good)

    def break_it(change) -> str:
        broken = Model.load(good)
        change(broken.facts[FACT])
        broken.save(tmp_path / "broken", overwrite=True)
        with pytest.raises(DataError) as error:
            Model.load(tmp_path / "broken")
        return str(error.value)

    def product(key, value):
        return lambda tuning: tuning["systems"]["product"].update({key: value})

    def empty(tuning):
        tuning["systems"]["product"].update({"thresholds": [], "precision": [], "recall": []})

    points = Model.load(good).facts[FACT]["systems"]["product"]
    for change, message in (
        (lambda tuning: tuning.pop("gold"), "has no gold"),
        (lambda tuning: tuning["systems"].pop("forward"), "the tuned systems are not"),
        (lambda tuning: tuning["systems"].update(grow=points), "the tuned systems are not"),
        (product("threshold", "0.5"), "is not of type float"),
        (product("threshold", 1.5), "not between 0 and 1"),
        (product("recall", points["recall"][:-1]), "does not have 1 to 200 points"),
        (product("recall", points["recall"][::-1]), "does not fall"),
        (product("precision", [-0.1, *points["precision"][1:]]), "not between 0 and 1"),
        (product("thresholds", sorted(points["thresholds"])), "does not fall"),
        (empty, "does not have 1 to 200 points"),
    ):
        assert message in break_it(change)


def test_decode_takes_what_was_tuned(model, sample, tmp_path, write):
    """By default the best threshold of the system that is asked for; a threshold of its curve if asked."""
    tuned = tmp_path / "tuned"
    found = json.loads(run("tune", model, *sample, "--store", "-o", tuned, "--json"))["systems"]
    for system, row in found.items():
        expected = run("decode", model, *sample[:2], "--threshold", row["threshold"], *asked(system))
        assert run("decode", tuned, *sample[:2], *asked(system)) == expected
        assert run("decode", model, *sample[:2], *asked(system)) != expected
        for key, other in (("precision", "recall"), ("recall", "precision")):
            had = []
            for least in (0.8, 0.5):
                links = run("decode", tuned, *sample[:2], f"--at-{key}", least, *asked(system))
                reached = scores(links, sample[2], write)
                assert reached[key] >= least
                had.append(reached[other])
            assert had[0] < had[1]
    assert run("decode", tuned, *sample[:2], "--symmetrize", "union") == run(
        "decode", model, *sample[:2], "--symmetrize", "union"
    )
    python = Model.load(tuned).align(read_corpus(*map(str, sample[:2])))
    assert python.pairs() == LinkReader(write("links", run("decode", tuned, *sample[:2]))).read().pairs()


def test_what_was_tuned_is_for_posteriors_as_trained(model, sample, tmp_path):
    """Another projection, or best paths, have other scores: the model's own threshold is taken."""
    tuned, text = tmp_path / "tuned", read_corpus(*map(str, sample[:2]))
    run("tune", model, *sample, "--store", "-o", tuned)
    for options in (["--project", "both"], ["--viterbi"]):
        assert run("decode", tuned, *sample[:2], *options) == run("decode", model, *sample[:2], *options)
    one, other = Model.load(tuned), Model.load(model)
    assert one.align(text, project="both").pairs() == other.align(text, project="both").pairs()
    assert one.align(text).pairs() != other.align(text).pairs()


def test_auto_of_a_tuned_model_is_what_training_found_for_a_stream(sample, tmp_path):
    trained, tuned = tmp_path / "trained", tmp_path / "tuned"
    run("train", *sample[:2], "--model", "ibm1", "--views", "word", "-q", "-o", trained)
    run("tune", trained, *sample, "--store", "-o", tuned)
    pairs = zip(*(path.read_text().splitlines() for path in sample[:2]), strict=True)
    stream = "".join(f"{src} ||| {tgt}\n" for src, tgt in pairs)
    found = [run("decode", path, "--threshold", "auto", stdin=stream) for path in (tuned, trained)]
    assert found[0] == found[1] != run("decode", tuned, stdin=stream)


def test_the_order_of_thresholds(model, sample, tmp_path):
    """The given one, what tuning found, product's own, the model's."""
    tuned = tmp_path / "tuned"
    found = json.loads(run("tune", model, *sample, "--store", "-o", tuned, "--json"))["systems"]
    one, other = Model.load(tuned), Model.load(model)
    for direction, method, system in (
        ("both", "soft-union", "soft-union"),
        ("both", "product", "product"),
        ("forward", "soft-union", "forward"),
        ("reverse", "product", "reverse"),
        ("both", "forward", "forward"),
        ("both", "union", None),
    ):
        own = 0.25 if system == "product" else other.threshold
        assert one.threshold_of(direction, method, 0.7) == other.threshold_of(direction, method, 0.7) == 0.7
        assert one.threshold_of(direction, method) == (found[system]["threshold"] if system else own)
        assert one.threshold_of(direction, method, tuned=False) == own
        assert other.threshold_of(direction, method) == own
    one.facts[FACT]["systems"]["product"]["threshold"] = None  # the goal was not reached
    assert one.threshold_of("both", "product") == 0.25


def test_decode_says_what_it_cannot_take(model, sample, tmp_path):
    tuned = tmp_path / "tuned"
    run("tune", model, *sample, "--store", "-o", tuned)
    message = run("decode", model, *sample[:2], "--at-recall", 0.5, code=1)
    assert (
        message
        == f"aligner: {model}: the model keeps no curve of precision and recall; make one from gold"
        + (" links with `aligner tune --store`\n")
    )
    best = max(Model.load(tuned).facts[FACT]["systems"]["product"]["recall"])
    message = run("decode", tuned, *sample[:2], "--symmetrize", "product", "--at-recall", 0.999, code=1)
    assert f"aligner: {tuned}: recall 0.999 is not on the curve of product; the best there" in message
    named = float(message.split()[-1])
    assert best - 0.0001 < named <= best
    run("decode", tuned, *sample[:2], "--symmetrize", "product", "--at-recall", named)
    for share in (0.95186, 0.5, 1.0):
        assert share - 0.0001 < float(reached(share)) <= share
    for options, part in (
        (["--threshold", 0.3], "exclude each other"),
        (["--at-precision", 0.3], "exclude each other"),
        (["--viterbi"], "do not go with --viterbi"),
        (["--project", "none"], "do not go with --project"),
        (["--decode", "one-to-one"], "do not go with --decode"),
        (["--symmetrize", "union"], "are for soft-union and product, not union"),
    ):
        assert part in run("decode", tuned, *sample[:2], "--at-recall", 0.5, *options, code=2)


def test_another_chain_has_not_been_tuned(sample, tmp_path):
    """The posteriors of another chain are others: neither threshold nor curve is of them."""
    model, tuned = tmp_path / "model", tmp_path / "tuned"
    run("train", *sample[:2], "-q", "--fast", "--model", "surrogate", "--iterations", 1, "-o", model)
    run("tune", model, *sample, "--store", "-o", tuned, "--by", "precision")
    for chain in ("hmm", "joint"):
        before, after = (run("decode", path, *sample[:2], "--chain", chain) for path in (model, tuned))
        assert (before == after) == (chain == "joint")
    assert run("decode", tuned, *sample[:2], "--chain", "hmm") == run("decode", tuned, *sample[:2])
    wanted = "decode", tuned, *sample[:2], "--at-recall", 0.1, "--chain"
    assert run(*wanted, "hmm")
    assert "do not go with this --chain: tuning was without it" in run(*wanted, "joint", code=2)
