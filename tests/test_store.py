"""Model files: they keep every bit, and what is damaged, foreign or not a file is refused."""

from __future__ import annotations

import gzip
import json
import lzma
import mmap
import os
import re
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import ROOT
from fuzz import packed, parts
from trained import assert_same_arrays, generated, links_of, plain, recipe_of, run, same

from aligner import DataError, Model, store, train
from aligner.cli import cli
from aligner.decoding.form import LARGE
from aligner.models.kinds import MODELS, Limits
from aligner.text.corpus import Corpus
from aligner.training.loop import learn


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return generated()


def without_zeros(model: Model) -> Model:
    """The model without word pairs that are impossible in both directions: files leave them out."""
    views = []
    for view in model.views:
        lexicon = view.parameters.lexicon
        kept = [k for k, row in enumerate(lexicon.t.tolist()) if row != [0, 0]]
        e = np.repeat(np.arange(len(view.src)), np.diff(lexicon.rows))[kept]
        rows = np.cumsum([0, *np.bincount(e, minlength=len(view.src))], dtype=np.int64)
        small = replace(lexicon, rows=rows, tgt=lexicon.tgt[kept], t=lexicon.t[kept])
        if small.evidence is not None:
            small.evidence = replace(small.evidence, linked=None)
        views.append(replace(view, parameters=replace(view.parameters, lexicon=small)))
    return replace(model, views=views)


@pytest.mark.parametrize("name", MODELS)
def test_saved_model_gives_the_same_links(corpus, tmp_path, name):
    recipe = recipe_of(name, iterations=2, ibm1_iterations=2, views=("word", "suffix3"))
    model, seen = learn(corpus, recipe, memory=1 << 30)
    assert None not in seen
    path = str(tmp_path / "model")
    model.save(path)
    again = Model.load(path)
    assert again.recipe == recipe and again.facts == model.facts and again.history == model.history
    assert again.progress is None and again.signature == model.signature
    assert_same_arrays(again, without_zeros(model))
    a, b = links_of(model, corpus, seen=seen), links_of(again, corpus)
    assert same(a[0], b[0]) and same(a[1], b[1])
    c = links_of(train(corpus, recipe), corpus)  # without cells: words are looked up
    assert same(a[0], c[0]) and same(a[1], c[1])
    second = str(tmp_path / "second")
    again.save(second)
    assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()


def test_foreign_and_damaged_models_are_refused(corpus, tmp_path, write):
    model = train(corpus.part(0, 50), plain(1, 1))
    path = tmp_path / "model"
    model.save(str(path))
    whole = path.read_bytes()
    with pytest.raises(DataError, match="not a model of aligner"):
        Model.load(write("text", "0-0\n"))
    with pytest.raises(DataError, match="not a model of aligner"):
        Model.load(write("empty", ""))
    with pytest.raises(DataError, match="has format 99"):
        Model.load(write("new", whole[:7] + b"\x63" + whole[8:]))
    with pytest.raises(DataError, match="header is damaged or cut off"):
        Model.load(write("cut", whole[:100]))
    with pytest.raises(DataError, match="header is damaged or cut off"):
        Model.load(write("odd", whole[:30] + b"x" + whole[31:]))
    with pytest.raises(DataError, match=r"bytes, \d+ were written"):
        Model.load(write("short", whole[:-1]))


def test_every_damaged_byte_of_the_arrays_is_found(tmp_path, write):
    """Arrays that lead to others are always checked, the others when a check is asked for."""
    path = tmp_path / "model"
    store.write(path, {"of": "tests"}, {"rows": np.arange(3), "t": np.ones((2, 2), np.float32)})
    whole = path.read_bytes()
    start = len(whole) - 64 - 16  # rows has 24 bytes and 40 of padding, t 16
    for k in (*range(start, start + 24), *range(start + 64, len(whole))):
        broken = write("broken", whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
        name = "rows" if k < start + 24 else "t"
        with pytest.raises(DataError, match=f"the model's {name} is damaged"):
            store.read(broken, lambda _: True)
        if name == "rows":
            with pytest.raises(DataError, match="the model's rows is damaged"):
                store.read(broken, lambda name: name == "rows")
        else:
            store.read(broken, lambda name: name == "rows")


def test_arrays_and_header_come_back_as_they_were(tmp_path):
    random = np.random.default_rng(0)
    tables = {
        "bytes": np.frombuffer(b"abc", np.uint8),
        "none": np.empty((0, 2), np.float32),
        "longs": np.array([-(2**63), 2**63 - 1]),
        "doubles": np.array([0.1, -0.0, np.inf, np.nan, 5e-324]),
        "turned": random.random((3, 4)).T,
    }
    header = {"numbers": [0.1, 1e-300, 2**53], "nothing": None, "text": "\u00e9\u4e00"}
    store.write(tmp_path / "m", header, tables)
    found, mapped = store.read(tmp_path / "m", lambda _: True)
    assert {key: found[key] for key in header} == header
    assert mapped.keys() == tables.keys()
    for name, array in tables.items():
        assert mapped[name].dtype == array.dtype
        np.testing.assert_array_equal(mapped[name], array)
        assert not mapped[name].flags.writeable
    with pytest.raises(DataError, match="the file exists"):
        store.write(tmp_path / "m", header, tables)
    store.write(tmp_path / "m", {}, {}, overwrite=True)
    assert store.read(tmp_path / "m", lambda _: True)[1] == {}


def test_a_saved_recipe_does_not_follow_new_defaults(corpus, tmp_path, monkeypatch):
    """A model decodes as it was trained, whatever a later version thinks suits its kind."""
    some = corpus.part(0, 200)
    model = train(some, recipe_of("shmm", iterations=1, views=["word"]))
    links = model.align(some)
    model.save(tmp_path / "m")
    kind = MODELS["shmm"]
    monkeypatch.setitem(
        MODELS,
        "shmm",
        replace(kind, iterations=9, threshold=0.9, objective="bijective", limits=Limits(eta=1.0, slack=9.0)),
    )
    again = Model.load(tmp_path / "m")
    assert again.recipe == model.recipe and again.recipe.last.limits == Limits()
    assert same(again.align(some), links)
    other = train(some, recipe_of("shmm", iterations=1, views=["word"]))
    assert not same(other.align(some), links)  # so the new defaults do make a difference


# Crafted files: each is refused by a message that names the file and says what to do, whoever reads it.


@pytest.fixture(scope="module")
def saved(corpus, tmp_path_factory) -> Path:
    """A small model of leave-one-out with shares."""
    path = tmp_path_factory.mktemp("saved") / "model"
    short = {"ibm1_iterations": 1, "hmm_iterations": 1, "iterations": 1}
    train(corpus.part(0, 20), recipe_of("loo", views=["word", "prefix3"], **short)).save(path)
    return path


def test_files_without_last_positions(saved, corpus, tmp_path):
    """As older versions wrote them: where paths end does not matter then. Such a model is saved as it was."""
    header, arrays = store.read(saved, lambda _: True)
    store.write(tmp_path / "old", header, {k: x for k, x in arrays.items() if not k.endswith(".last")})
    new, old = Model.load(saved), Model.load(tmp_path / "old")
    jumps = [model.views[0].parameters.positions for model in (new, old)]
    assert jumps[0].last.shape == (2, 5) and jumps[1].last.shape == (2, 0)
    np.testing.assert_array_equal(jumps[0].first, jumps[1].first)
    old.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "old").read_bytes()
    links = [links_of(model, corpus) for model in (new, old)]
    assert not any(map(same, *links))
    for view in new.views:
        view.parameters.positions = jumps[1]
    assert all(map(same, links_of(new, corpus), links[1]))


def assert_refused(path: str, what: str) -> None:
    with pytest.raises(DataError, match=re.escape(what)) as refused:
        Model.load(path)
    assert refused.value.file == path and refused.value.hint


def at(header: Any, place: str) -> tuple[Any, Any]:
    """The list or object that a place of the header is in, and its key there."""
    *steps, last = (int(step) if step.isdigit() else step for step in place.split("/"))
    for step in steps:
        header = header[step]
    return header, last


MISSING = object()
CRAFTED = [
    ("views", MISSING, "header has no views"),
    ("more", 1, "header has an unknown 'more'"),
    ("arrays", [], "header.arrays is not an object"),
    ("arrays/0.t/shape", [-1, 2], "0.t is not where it belongs"),
    ("arrays/0.t/shape", [2**40, 2], "0.t is not where it belongs"),
    ("arrays/0.t/shape", [2**62, 2**62], "0.t is not where it belongs"),
    ("arrays/0.t/shape", [1.5], "0.t.shape[0] is not of type int"),
    ("arrays/0.t/start", 0, "0.t is not where it belongs"),
    ("arrays/0.t/start", 2**60, "0.t is not where it belongs"),
    ("arrays/0.t/dtype", "|O", "0.t is not where it belongs"),
    ("arrays/0.t/dtype", "<i4", "t is int32"),
    ("bytes", 10**400, "header.bytes is not of type int"),
    ("views", [], "the views are none"),
    ("views/1/name", "word", "the views are word, word"),
    ("views/1/positions", None, "view prefix3 has no positions of the kind jumps"),
    ("views/0/positions/kind", "leaps", "the kind of positions 'leaps' is unknown"),
    ("views/0/positions/kind", ["jumps"], "positions.kind is not of type str"),
    ("views/0/positions/p1", 0.5, "positions have an unknown 'p1'"),
    ("views/0/positions", {"kind": "jumps"}, "positions have no 'p0'"),
    ("views/0/positions/p0", "0.2", "positions.p0 is not of type float"),
    ("views/0/positions/p0", float("nan"), "NaN is not a number"),
    ("views/0/positions/p0", 0, "p0 must be a number between"),
    ("views/0/evidence/alpha", 0, "the evidence must be positive"),
    ("views/0/evidence/alpha", 1e-300, "the evidence must be positive"),
    ("recipe/window", 17, "the jumps do not have the recipe's window"),
    ("views/0/evidence/kappa", [0.5, -0.1], "the evidence must not be negative"),
    ("views/0/evidence/words", [1, 2**31], "the evidence must not be negative"),
    ("views/0/evidence/nulls", [1.0, 0], "the evidence must be positive"),
    ("views/0/evidence/words", [1], "words is not a list of 2"),
    ("views/0/evidence", None, "some views have evidence"),
    ("recipe/model", "hnn", "unknown model 'hnn'"),
    ("recipe/stages", [], "at least one stage"),
    ("recipe/stages/0/family", "hnn", "unknown family"),
    ("recipe/stages/0/iterations", True, "iterations is not of type int"),
    ("recipe/stages/1/limits/eta", "0.1", "limits.eta is not of type float"),
    ("recipe/stages/1/leaving/left_out", 2, "left_out must be a number between 0 and 1"),
    ("recipe/window", 10**30, "window is not of type int"),
    ("recipe/lowercase", 1, "lowercase is not of type bool"),
    ("recipe/new", 1, "recipe has an unknown 'new'"),
    ("facts", [], "header.facts is not an object"),
    ("facts/threshold", "a lot", "facts.threshold is not of type float"),
    ("facts/threshold", MISSING, "a threshold is missing"),
    ("facts/threshold", 1.5, "threshold must be a number between 0 and 1"),
    ("facts/text", "\ud800", "facts.text is not of type str"),
    ("history", [1], "history[0] is not an object"),
    ("history/0/loglik", 1, "loglik is not an object"),
    ("history/0/perplexity", {"forward": "low"}, "perplexity.forward is not of type float"),
    ("history/0/kl", 1.0, "history[0] has only some of"),
    ("progress", {"iterations": -1, "divergence": None}, "-1 of 3 iterations cannot be done"),
    ("progress", {"iterations": 4, "divergence": None}, "4 of 3 iterations cannot be done"),
    ("progress", {"iterations": "all"}, "progress has no divergence"),
]


@pytest.mark.parametrize("place, value, what", CRAFTED, ids=lambda x: x if isinstance(x, str) else "")
def test_crafted_headers_are_refused(saved, write, place, value, what):
    header, arrays = parts(saved.read_bytes())
    holder, key = at(header, place)
    holder[key] = value
    if value is MISSING:
        del holder[key]
    assert_refused(write("crafted", packed(header, arrays)), what)


def test_headers_that_are_no_objects_or_very_deep_are_refused(saved, write):
    _, arrays = parts(saved.read_bytes())
    for header in ([], None, 1, {"facts": json.loads("[" * 200 + "]" * 200)}):
        assert_refused(write("crafted", packed(header, arrays)), "it is not an object, or more than 50 deep")
    head = packed([], arrays)[:8]
    deep = b"[" * 100_000
    whole = head + len(deep).to_bytes(8, "little") + zlib.crc32(deep).to_bytes(4, "little") + deep
    assert_refused(write("deep", whole), "the model's header is not as aligner writes it")


def test_bytes_after_the_last_array_are_refused(saved, write):
    """The size that the header says is the file's, but no array has these bytes."""
    header, arrays = parts(saved.read_bytes())
    header["bytes"] += 8
    path = write("longer", packed(header, arrays + b"\0" * 8))
    assert_refused(path, "the model has bytes after its last array")


def test_the_deepest_header_can_be_read(tmp_path):
    """A header is an object itself, so that a fact in it may be one less deep."""
    for depth in (store.DEEPEST - 1, store.DEEPEST):
        path = tmp_path / str(depth)
        fact = json.loads("[" * depth + "]" * depth)
        store.write(path, {"fact": fact}, {})
        if depth < store.DEEPEST:
            assert store.read(path, lambda _: True)[0]["fact"] == fact
            continue
        with pytest.raises(DataError, match="more than 50 deep"):
            store.read(path, lambda _: True)


@pytest.mark.parametrize(
    "number, fits", [(2**63 - 1, True), (1 - 2**63, True), (2**63, False), (-(2**63), False)]
)
@pytest.mark.parametrize("form", [int, float])
def test_whole_numbers_have_room_in_64_bits(form, number, fits):
    if fits:
        return store.check_form(number, form, "here")
    with pytest.raises(ValueError, match=f"here is not of type {form.__name__}"):
        store.check_form(number, form, "here")


def test_the_last_word_has_the_largest_number(saved, tmp_path):
    """One more leads outside the vocabulary."""
    header, arrays = store.read(saved, lambda _: True)
    tgt, n_words = arrays["0.tgt"].copy(), len(arrays["0.null_fwd"])
    last = int(arrays["0.rows"][np.flatnonzero(np.diff(arrays["0.rows"]))[0] + 1]) - 1  # of the first row
    for number in (n_words - 1, n_words):
        tgt[last] = number
        store.write(tmp_path / str(number), header, arrays | {"0.tgt": tgt})
    Model.load(tmp_path / str(n_words - 1))
    assert_refused(str(tmp_path / str(n_words)), "tgt must be between")


BAD = [
    ("0.t", 0, np.nan, "t must be between"),
    ("0.t", 0, -1, "t must be between"),
    ("0.t", 1, np.inf, "t must be between"),
    ("0.null_fwd", 0, np.nan, "null_fwd must be between"),
    ("1.many_tgt", 0, 0, "many_tgt must be between"),
    ("1.many_tgt", 0, 1e30, "many_tgt must be between"),
    ("0.jump", 0, 0, "jump must be between"),
    ("0.first", 0, np.nan, "first must be between"),
    ("0.last", 0, 0, "last must be between"),
    ("0.tgt", 0, -1, "tgt must be between"),
    ("0.tgt", 0, 2**31 - 1, "tgt must be between"),
    ("0.tgt", 1, 0, "tgt does not rise within each row"),
    ("0.rows", 0, 1, "rows does not rise from 0 to"),
    ("0.rows", 1, 2**62, "rows does not rise from 0 to"),
    ("0.src.offsets", 1, 0, "src.offsets does not rise from 0 to"),
    ("0.src.text", 0, 255, "src.text is not UTF-8"),
    ("0.src.text", 0, ord("\n"), "src.text is not cut into words"),
    ("shares.keys", 0, 2**64 - 1, "shares.keys do not rise"),
    ("shares.offsets", 1, -1, "shares.offsets does not rise from 0 to"),
]


@pytest.mark.parametrize("name, k, value, what", BAD, ids=lambda x: x if isinstance(x, str) else "")
def test_arrays_that_cannot_be_are_refused(saved, tmp_path, name, k, value, what):
    """The checksums are right. A check that leaves out large arrays finds all but these."""
    header, arrays = store.read(saved, lambda _: True)
    arrays = {key: array.copy() for key, array in arrays.items()}
    arrays[name].reshape(-1)[k] = value
    path = str(tmp_path / "crafted")
    store.write(path, header, arrays)
    assert_refused(path, what)
    if name.split(".")[-1] in LARGE:
        Model.load(path, check=False)
    else:
        with pytest.raises(DataError, match=re.escape(what)):
            Model.load(path, check=False)


def test_words_are_cut_between_characters(tmp_path):
    model = train([("é", "x y"), ("à", "z")], plain(1, 1))
    model.save(tmp_path / "m")
    header, arrays = store.read(tmp_path / "m", lambda _: True)
    assert arrays["0.src.offsets"].tolist() == [0, 2, 4]
    store.write(tmp_path / "crafted", header, arrays | {"0.src.offsets": np.array([0, 1, 4])})
    assert_refused(str(tmp_path / "crafted"), "src.text is not cut into words")


def test_arrays_must_be_there_and_belong_together(saved, tmp_path):
    header, arrays = store.read(saved, lambda _: True)
    some = {name: array for name, array in arrays.items() if name != "0.tgt"}
    crafted = [
        (some, "there is no array t"),
        (arrays | {"0.more": arrays["0.t"]}, "there is an unknown array more"),
        (arrays | {"2.t": arrays["0.t"]}, "there is an unknown array 2.t"),
        (arrays | {"0.t": arrays["0.t"][1:]}, "t is float32"),
        (arrays | {"0.jump": arrays["0.jump"][:, 1:]}, "jump is float64 (2, 10), not float64 (2, 11)"),
        (arrays | {"0.null_rev": arrays["0.null_fwd"]}, "rows is int64"),
        (arrays | {"shares.entries": arrays["shares.entries"][1:]}, "shares.offsets does not rise"),
    ]
    for n, (changed, what) in enumerate(crafted):
        store.write(tmp_path / str(n), header, changed)
        assert_refused(str(tmp_path / str(n)), what)


def test_every_command_refuses_a_damaged_model_unless_told_not_to_look(saved, tmp_path, write):
    """The damage is a bit in the last of all arrays, the shares."""
    whole = saved.read_bytes()
    path = write("broken", whole[:-1] + bytes([whole[-1] ^ 1]))
    text = write("text", "the minister . ||| le ministre .\n")
    train = ["train", text, "--quiet", "--model", "ibm1", "-o", tmp_path / "new", "--init", path]
    for command in (["info", path], ["lexicon", path], ["decode", path, text], train):
        assert f"{path}: the model's shares.entries is damaged; copy it again" in run(*command, code=1)
        hasty = command[0] in ("info", "decode")  # the others use all of a model
        run(*command, "--no-check", code=0 if hasty else 2)


def test_a_compressed_model_is_refused_as_such(saved, write):
    for squeeze in (gzip.compress, lzma.compress):
        path = write("squeezed", squeeze(saved.read_bytes()))
        with pytest.raises(DataError, match="models are not compressed; decompress it first"):
            Model.load(path)


def test_a_file_that_is_cut_while_it_is_in_use_does_no_harm(saved, write, corpus):
    path = write("cut", saved.read_bytes())
    model = Model.load(path)
    links = Model.load(saved).align(corpus.part(0, 20))
    os.truncate(path, 10)
    assert same(model.align(corpus.part(0, 20)), links)


def test_large_files_are_mapped(saved, corpus, monkeypatch):
    some = corpus.part(0, 20)
    links = Model.load(saved).align(some)
    monkeypatch.setattr(store, "MAPPED", 100)
    _, arrays = store.read(saved, lambda _: True)
    owner: Any = arrays["0.t"]
    while isinstance(owner, np.ndarray):
        owner = owner.base
    assert isinstance(owner.obj if isinstance(owner, memoryview) else owner, mmap.mmap)
    assert same(Model.load(saved).align(some), links)


def test_info_prints_names_of_files_that_are_not_utf_8(saved, write):
    header, arrays = parts(saved.read_bytes())
    header["facts"]["src"] = "caf\udce9"
    path = write("named", packed(header, arrays))
    result = CliRunner().invoke(cli, ["info", str(path)])
    assert result.exit_code == 0 and b"src                caf\xe9\n" in result.stdout_bytes


def test_training_goes_on_with_the_same_word_pairs_only(corpus, tmp_path):
    """A file whose header is of this text, and whose arrays are of another."""
    some, other = (Corpus.from_pairs([pair]) for pair in (("a b c", "x y"), ("a b c", "x x y y")))
    recipe = recipe_of("loo", views=["word"], ibm1_iterations=1, hmm_iterations=1, iterations=1)
    for n, text in enumerate((some, other)):
        kept: list[str] = []

        def keep(model: Model, n: int = n, kept: list[str] = kept) -> None:
            kept.append(str(tmp_path / f"{n}.{len(kept)}"))
            model.save(kept[-1])

        learn(text, recipe, checkpoint=keep)
    for k, what in ((0, "view word has other word pairs"), (1, "2 sentence pairs are left out, not 1")):
        header, arrays = store.read(tmp_path / f"0.{k}", lambda _: True)
        if k == 0:
            arrays |= {
                "0.rows": np.array([0, 1, 1, 1]),
                "0.tgt": arrays["0.tgt"][:1],
                "0.t": arrays["0.t"][:1],
            }
        else:
            keys, offsets = arrays["shares.keys"], arrays["shares.offsets"]
            arrays |= {"shares.keys": np.tile(keys, 2), "shares.offsets": np.append(offsets, offsets[-1])}
        store.write(tmp_path / f"crafted{k}", header, arrays)
        with pytest.raises(DataError, match=what):
            learn(some, recipe, resume=Model.load(tmp_path / f"crafted{k}"))


def test_300_files_of_the_fuzzer():
    """Processes that die are counted, too. scripts/fuzz runs many more, on a build that sees every access."""
    command = [sys.executable, str(ROOT / "scripts" / "fuzz.py"), "--files", "300"]
    result = subprocess.run(command, capture_output=True, text=True)
    counts = dict(line.split() for line in result.stdout.splitlines())
    assert result.returncode == 0, result.stderr
    assert {counts[x] for x in ("changed", "traceback", "crashed")} == {"0"}
    assert int(counts["refused"]) > 200 and int(counts["valid"]) > 0 and int(counts["harmless"]) > 0
