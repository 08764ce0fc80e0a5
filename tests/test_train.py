"""Training and decoding as a whole: what must rise, what must not matter, and files that keep every bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from aligner import DataError, LinkReader, Links, Model, Recipe, modelfile, read_corpus, train
from aligner.cli import cli
from aligner.corpus import Corpus
from aligner.decode import above, directions
from aligner.evaluate import evaluate
from aligner.recipe import MODELS


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    from conftest import ROOT

    return read_corpus(str(ROOT / "data" / "generated.src"), str(ROOT / "data" / "generated.tgt"))


def plain(ibm1: int, hmm: int, **given) -> Recipe:
    return Recipe.of("hmm", ibm1_iterations=ibm1, iterations=hmm, **given)


def links_of(model, corpus, **options) -> list[Links]:
    found = list(directions(model, corpus, **options))
    return [Links.joined(block[k] for block in found) for k in range(2)]


def same(a: Links, b: Links) -> bool:
    return all(np.array_equal(getattr(a, x), getattr(b, x)) for x in ("offsets", "src", "tgt", "scores"))


def arrays(model) -> dict:
    return {
        f"{view.name} {name}": getattr(view.parameters, name)
        for view in model.views
        for name in modelfile.ARRAYS
    }


def test_model1_never_falls_and_hmm_rises(corpus):
    model = train(corpus, plain(8, 5))
    loglik = np.array([entry["loglik"] for entry in model.history])
    assert (np.diff(loglik[:8], axis=0) >= 0).all()
    assert (np.diff(loglik[8:], axis=0) > 0).all()


def test_tables_are_distributions(corpus):
    model = train(corpus, plain(2, 2))
    m = model.views[0].parameters
    np.testing.assert_allclose(np.add.reduceat(m.t[:, 0], m.rows[:-1]), 1, rtol=1e-4)
    np.testing.assert_allclose(np.bincount(m.tgt, weights=m.t[:, 1]), 1, rtol=1e-4)
    for table in (m.null_fwd[None], m.null_rev[None], m.jump, m.first):
        np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_threads", [2, 3, 8])
def test_threads_change_no_bit(corpus, n_threads, name):
    recipe = Recipe.of(name, iterations=2, ibm1_iterations=2, views=("word", "prefix2"))
    one = train(corpus, recipe, n_threads=1, keep_cells=True)
    many = train(corpus, recipe, n_threads=n_threads, keep_cells=True)
    for table, value in arrays(one).items():
        np.testing.assert_array_equal(value, arrays(many)[table], err_msg=table)
    assert one.history == many.history
    for viterbi in (False, True):
        a = links_of(one, corpus, viterbi=viterbi, n_threads=1)
        b = links_of(many, corpus, viterbi=viterbi, n_threads=n_threads)
        assert same(a[0], b[0]) and same(a[1], b[1])


@pytest.mark.parametrize("name", MODELS)
def test_saved_model_gives_the_same_links(corpus, tmp_path, name):
    recipe = Recipe.of(name, iterations=2, ibm1_iterations=2, views=("word", "suffix3"))
    model = train(corpus, recipe, keep_cells=True)
    path = str(tmp_path / "model")
    model.save(path)
    again = Model.load(path)
    assert again.recipe == recipe and again.facts == model.facts and again.history == model.history
    a, b = links_of(model, corpus), links_of(again, corpus)
    assert same(a[0], b[0]) and same(a[1], b[1])
    c = links_of(train(corpus, recipe), corpus)  # without cells: words are looked up
    assert same(a[0], c[0]) and same(a[1], c[1])
    second = str(tmp_path / "second")
    again.save(second)
    assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()


def test_foreign_and_damaged_models_are_refused(corpus, tmp_path, write):
    model = train(corpus.part(0, 50), plain(1, 1))
    path = tmp_path / "model"
    modelfile.save(model, str(path))
    whole = path.read_bytes()
    with pytest.raises(DataError, match="not a model of aligner"):
        modelfile.load(write("text", "0-0\n"))
    with pytest.raises(DataError, match="not a model of aligner"):
        modelfile.load(write("empty", ""))
    with pytest.raises(DataError, match="has format 99"):
        modelfile.load(write("new", whole[:7] + b"\x63" + whole[8:]))
    with pytest.raises(DataError, match="header is damaged or cut off"):
        modelfile.load(write("cut", whole[:100]))
    with pytest.raises(DataError, match="header is damaged or cut off"):
        modelfile.load(write("odd", whole[:30] + b"x" + whole[31:]))
    with pytest.raises(DataError, match=r"bytes, \d+ were written"):
        modelfile.load(write("short", whole[:-1]))


def test_corpus_written_twice(corpus):
    """The same parameters, up to rounding, and twice the log-likelihood."""
    some = corpus.part(0, 300)
    double = Corpus(*(side_twice(side) for side in (some.src, some.tgt)))
    one = train(some, plain(3, 2))
    two = train(double, plain(3, 2))
    np.testing.assert_allclose(
        2 * np.array([e["loglik"] for e in one.history]), [e["loglik"] for e in two.history], rtol=1e-5
    )
    np.testing.assert_allclose(arrays(one)["word t"], arrays(two)["word t"], rtol=0, atol=1e-3)
    np.testing.assert_allclose(arrays(one)["word jump"], arrays(two)["word jump"], rtol=0, atol=1e-4)


def side_twice(side):
    return type(side)(
        np.concatenate([side.ids, side.ids]),
        np.concatenate([side.offsets, side.offsets[1:] + side.offsets[-1]]),
        side.vocab,
    )


def test_swapped_sides_give_transposed_links(corpus):
    some = corpus.part(0, 300)
    model = train(some, plain(3, 3))
    turned = train(Corpus(some.tgt, some.src), plain(3, 3))
    forward, reverse = (above(x, 0.5) for x in links_of(model, some))
    forward2, reverse2 = (above(x, 0.5) for x in links_of(turned, Corpus(some.tgt, some.src)))

    def sets(links, turn=False):
        return [{link[::-1] if turn else link for link in part} for part in links.pairs()]

    differ = sum(a != b for a, b in zip(sets(forward), sets(reverse2, True), strict=True))
    differ += sum(a != b for a, b in zip(sets(reverse), sets(forward2, True), strict=True))
    assert differ <= 3  # posteriors within a rounding error of the threshold


def test_empty_sides_are_kept_and_not_trained_on(write):
    src, tgt = write("src", "a b\n\nc\n\na\n"), write("tgt", "x y\nz\n\n\nx\n")
    corpus = read_corpus(src, tgt)
    model = train(corpus, plain(2, 2))
    forward, reverse = links_of(model, corpus)
    assert [len(part) > 0 for part in forward.pairs()] == [True, False, False, False, True]
    assert np.isfinite(arrays(model)["word t"]).all()
    assert arrays(model)["word null_fwd"][2] == 0  # z has no sentence to stand in


def test_corpora_without_anything_to_learn(write):
    for text in ("", "\n\n", "a\n\n"):
        corpus = read_corpus(write("src", text), write("tgt", "\n" * text.count("\n")))
        model = train(corpus, plain(1, 1))
        assert [part for part in links_of(model, corpus)[0].pairs()] == [[]] * text.count("\n")


def test_unknown_words_decode_sensibly(corpus, write):
    """They are linked by their places, and spoil nothing around them."""
    model = train(corpus, plain(3, 3))
    text = read_corpus(write("s", "the zzz of the yyy .\nqqq\n"), write("t", "le zzzz du yyyy .\nqqqq\n"))
    forward, reverse = links_of(model, text)
    assert (0, 0) in above(forward, 0.5).pairs()[0] and (5, 4) in above(forward, 0.5).pairs()[0]
    assert above(forward, 0.5).pairs()[1] == [(0, 0)]


def test_max_length_leaves_long_pairs_out_of_training(corpus):
    model = train(corpus, plain(1, 1, max_length=10))
    assert 0 < model.facts["pairs"] < len(corpus)
    assert len(links_of(model, corpus)[0]) == len(corpus)


def test_accuracy_on_generated_text(corpus, data):
    gold = LinkReader(str(data / "generated.gold")).read()
    limits = {"ibm1": 0.3, "hmm": 0.11, "bhmm": 0.1, "shmm": 0.08, "agree": 0.1}
    found = {}
    for name in MODELS:
        links = train(corpus, Recipe.of(name), n_threads=2).align(corpus)
        found[name] = evaluate([links], gold, n_samples=0).results[0].scores["aer"]
    assert all(found[name] < limits[name] for name in MODELS), found


def run(*arguments: object, code: int = 0, stdin: str = "") -> str:
    result = CliRunner().invoke(cli, [str(x) for x in arguments], input=stdin)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def test_align_is_train_and_decode(data, tmp_path):
    files = data / "sample.en", data / "sample.fr"
    model, again = tmp_path / "model", tmp_path / "again"
    links = run("align", *files, "-q", "--save", model, "--lowercase")
    assert len(links.splitlines()) == 60
    run("train", *files, "-q", "-o", again, "--lowercase", "--threads", 2)
    assert again.read_bytes() == model.read_bytes()
    assert run("decode", model, *files) == links
    both = "".join(
        f"{a} ||| {b}\n" for a, b in zip(*(f.read_text().splitlines() for f in files), strict=True)
    )
    assert run("decode", model, stdin=both) == links
    assert run("align", "-q", "--lowercase", stdin=both) == links
    for command in (["train", *files, "-q", "-o", model], ["align", *files, "--save", model]):
        message = run(*command, code=1)  # at once, not after training
        assert "the file exists" in message and "ibm1" not in message


def test_align_writes_directions_and_log(data, tmp_path):
    files = data / "sample.en", data / "sample.fr"
    outs = [tmp_path / name for name in ("links", "forward", "reverse", "log")]
    run(
        "align",
        *files,
        "-q",
        "-o",
        outs[0],
        "--forward",
        outs[1],
        "--reverse",
        outs[2],
        "--log-json",
        outs[3],
    )
    log = [json.loads(line) for line in outs[3].read_text().splitlines()]
    assert [entry["model"] for entry in log] == 2 * (["ibm1"] * 5 + ["shmm"] * MODELS["shmm"].iterations)
    assert {"loglik", "perplexity", "seconds", "tokens_per_second", "memory_mb"} <= log[0].keys()
    model = tmp_path / "model"
    run("train", *files, "-q", "-o", model)
    for direction, out in zip(("forward", "reverse"), outs[1:3], strict=True):
        assert run("decode", model, *files, "--direction", direction, "--scores") == out.read_text()
    viterbi = run("decode", model, *files, "--method", "viterbi", "--direction", "forward").splitlines()
    for line in viterbi:
        targets = [link.split("-")[1] for link in line.split()]
        assert len(set(targets)) == len(targets)  # a path has one state per target word


def test_info_and_lexicon(data, tmp_path):
    model = tmp_path / "model"
    run("train", data / "generated.src", data / "generated.tgt", "-q", "-o", model)
    assert "pairs              2000\n" in run("info", model) and "prefix4 shmm" in run("info", model)
    assert json.loads(run("info", model, "--json"))["facts"]["pairs"] == 2000
    rows = [line.split("\t") for line in run("lexicon", model, "--top", 2, "--min-prob", 0.1).splitlines()]
    best = {row[0]: row[1] for row in reversed(rows)}
    assert best["not"] in ("pas", "ne") and best["Mr."] == "M." and best["."] == "."
    assert all(float(row[2]) >= 0.1 or float(row[3]) >= 0.1 for row in rows)
    assert "not a model" in run("info", data / "sample.en", code=1)


def test_decode_answers_each_line_at_once(data, tmp_path):
    """A resident process: a line in, its links out, before the next line comes."""
    model = tmp_path / "model"
    run("train", data / "sample.en", data / "sample.fr", "-q", "-o", model)
    command = [str(Path(sys.executable).with_name("aligner")), "decode", str(model)]
    pairs = list(zip(*((data / f"sample.{x}").read_text().splitlines() for x in ("en", "fr")), strict=True))
    expected = run("decode", model, data / "sample.en", data / "sample.fr").splitlines()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdin is not None and process.stdout is not None
        for (src, tgt), links in zip(pairs[:5], expected, strict=False):
            process.stdin.write(f"{src} ||| {tgt}\n")
            process.stdin.flush()
            assert process.stdout.readline() == links + "\n"
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "\n"
        process.stdin.write("broken\n")
        process.stdin.close()
        assert "<stdin>:7: no ||| on the line" in process.stderr.read()
    assert process.returncode == 1
