"""aligner shard, expect and update: a training in jobs on files."""

from __future__ import annotations

from pathlib import Path

import pytest
from trained import SRC, TGT, run

from aligner import Model


def step(model: object, folder: Path, n: int, new: object) -> str:
    """One step with n shards."""
    for k in range(1, n + 1):
        run("expect", model, folder / f"shard-{k}", "-o", folder / f"counts-{k}", "--overwrite", "-q")
    counts = [folder / f"counts-{k}" for k in range(n, 0, -1)]
    return run("update", model, *counts, "-o", new, "-q")


def finish(folder: Path, n: int) -> Path:
    model = folder / "start.model"
    while left := int(run("info", model, "--steps-left")):
        new = folder / f"left-{left - 1}.model"
        assert step(model, folder, n, new) == ""
        model = new
    return model


@pytest.mark.parametrize(
    "options, n",
    [("--ibm1-iterations 1 --iterations 1", 3), ("--model shmm --fast --lowercase --max-length 8", 2)],
)
def test_jobs_make_the_model_and_the_links_of_train(tmp_path, options, n):
    given = options.split()
    run("train", SRC, TGT, "-q", "-o", tmp_path / "one", *given)
    run("shard", SRC, TGT, "-q", "-o", tmp_path / "parts", "--shards", n, *given)
    model = finish(tmp_path / "parts", n)
    assert model.read_bytes() == (tmp_path / "one").read_bytes()
    links = [run("decode", model, tmp_path / "parts" / f"shard-{k}") for k in range(1, n + 1)]
    assert "".join(links) == run("decode", tmp_path / "one", SRC, TGT)
    assert all(links)


def test_class_files(tmp_path):
    for side, path in (("src", SRC), ("tgt", TGT)):
        run("classes", path, "--rounds", 1, "--classes", 4, "-o", tmp_path / side)
    given = [
        "--model",
        "hmm",
        "--fast",
        "--iterations",
        1,
        "--class-files",
        tmp_path / "src",
        tmp_path / "tgt",
    ]
    run("train", SRC, TGT, "-q", "-o", tmp_path / "one", *given)
    run("shard", SRC, TGT, "-q", "-o", tmp_path / "parts", "--shards", 2, *given)
    assert finish(tmp_path / "parts", 2).read_bytes() == (tmp_path / "one").read_bytes()
    assert "--class-files takes the place of --classes" in run(
        "shard", SRC, TGT, "-o", tmp_path / "x", "--shards", 2, *given, "--classes", 2, code=2
    )


def test_what_is_next_is_told(tmp_path):
    parts = tmp_path / "parts"
    run("shard", SRC, TGT, "-q", "-o", parts, "--shards", 2, "--model", "ibm1", "--iterations", 1, "--fast")
    start = parts / "start.model"
    assert "next               step 1 of 3, numbering word pairs, view 1 of 1 (words)\n" in run("info", start)
    assert "nothing is trained yet" in run("info", start)
    assert '"steps_left": 3' in run("info", start, "--json")
    assert "not finished: nothing is trained yet" in run("decode", start, SRC, TGT, code=1)
    step(start, parts, 2, tmp_path / "1")
    assert "step 2 of 3, iteration 1 of 1 of ibm1, view 1 of 1 (words)" in run("info", tmp_path / "1")
    step(tmp_path / "1", parts, 2, tmp_path / "2")
    assert "step 3 of 3, finding the threshold" in run("info", tmp_path / "2")
    step(tmp_path / "2", parts, 2, tmp_path / "3")
    assert "next " not in run("info", tmp_path / "3") and run("info", tmp_path / "3", "--steps-left") == "0\n"
    message = run("expect", tmp_path / "3", parts / "shard-1", "-o", tmp_path / "x", code=1)
    assert (
        message == f"aligner: {tmp_path / '3'}: the training of this model is finished; align text with it\n"
    )
    assert run("info", start, "--json", "--steps-left", code=2)


def test_files_that_are_wrong(tmp_path):
    parts = tmp_path / "parts"
    given = ["--model", "ibm1", "--iterations", 1, "--fast"]
    run("shard", SRC, TGT, "-q", "-o", parts, "--shards", 2, *given)
    start, one = parts / "start.model", parts / "shard-1"
    run("expect", start, one, "-q", "-o", tmp_path / "counts")
    assert "the file exists" in run("expect", start, one, "-o", tmp_path / "counts", code=1)
    for words, message in (
        (["expect", start, SRC, "-o", tmp_path / "x"], f"{SRC}: this is not a shard of aligner"),
        (["expect", start, start, "-o", tmp_path / "x"], "this is a model of aligner, not a shard"),
        (["expect", one, one, "-o", tmp_path / "x"], "this is a shard of aligner, not a model"),
        (["expect", start, one, "-o", "-"], "a counts file is a file, not stdin or stdout"),
        (["expect", start, one, "-o", tmp_path / "x.gz"], "counts files are not compressed"),
        (["update", start, tmp_path / "counts", "-o", tmp_path / "x"], "shards are missing: 2"),
        (["update", start, one, "-o", tmp_path / "x"], "this is a shard of aligner, not a counts file"),
        (["decode", start, tmp_path / "counts"], "not finished"),
    ):
        assert message in run(*words, code=1)
    assert not (tmp_path / "x").exists()
    assert "which is read" in run("update", start, tmp_path / "counts", "-o", start, "--overwrite", code=2)
    assert "--layout is for text" in run("decode", start, one, "--layout", "tsv", code=2)


def test_a_shard_of_another_text_is_named(tmp_path):
    given = ["-q", "--shards", 2, "--model", "ibm1", "--iterations", 1, "--fast"]
    run("shard", SRC, TGT, "-o", tmp_path / "parts", *given)
    run("shard", TGT, SRC, "-o", tmp_path / "other", *given)
    shard = tmp_path / "other" / "shard-1"
    message = run("expect", tmp_path / "parts" / "start.model", shard, "-o", tmp_path / "x", code=1)
    assert message.startswith(f"aligner: {shard}: the shard is of the text ")
    assert message.endswith("; give a shard that was cut with this model\n")


def test_the_folder_of_a_training(tmp_path):
    given = [SRC, TGT, "-q", "--model", "ibm1", "--fast", "-o", tmp_path / "parts", "--shards"]
    run("shard", *given, 5)
    assert len(list((tmp_path / "parts").iterdir())) == 6
    assert "the folder is not empty" in run("shard", *given, 2, code=1)
    run("shard", *given, 2, "--overwrite")
    assert sorted(x.name for x in (tmp_path / "parts").iterdir()) == ["shard-1", "shard-2", "start.model"]
    assert Model.load(tmp_path / "parts" / "start.model").facts["pairs"] == 60
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis").write_text("")
    message = run("shard", *given[:-2], other, "--shards", 2, "--overwrite", code=1)
    assert "the folder has files, and no training" in message
    assert [x.name for x in other.iterdir()] == ["thesis"]
    assert "this is no folder" in run("shard", *given[:-2], other / "thesis", "--shards", 2, code=1)


def test_a_folder_of_a_run_that_was_killed(tmp_path):
    given = [SRC, TGT, "-q", "--model", "ibm1", "--fast", "-o", tmp_path, "--shards", 1]
    (tmp_path / ".shard-1.abcdefgh.part").write_text("half")
    run("shard", *given)
    assert (tmp_path / "shard-1").exists()


def test_files_of_others_stay(tmp_path):
    """Also those that have the names of shards, as the text may have."""
    text = [tmp_path / "shard-1", tmp_path / "shard-2"]
    for file, path in zip(text, (SRC, TGT), strict=True):
        file.write_bytes(Path(path).read_bytes())
    message = run("shard", *text, "-q", "-o", tmp_path, "--shards", 1, "--overwrite", code=1)
    assert "shard-" in message and "no training has written this" in message
    assert [file.read_bytes() for file in text] == [Path(path).read_bytes() for path in (SRC, TGT)]


def test_a_training_that_is_not_finished_is_no_model_yet(tmp_path):
    """One that has no views, and one that has the first of two."""
    given = ["--model", "ibm1", "--iterations", 1, "--views", "word,prefix3"]
    run("shard", SRC, TGT, "-q", "-o", tmp_path, "--shards", 1, *given)
    step(tmp_path / "start.model", tmp_path, 1, tmp_path / "next.model")
    gold = Path(SRC).with_name("sample.gold")
    for name, done in (
        ("start.model", "nothing is trained yet"),
        ("next.model", "view 1 of 2, iteration 0 of 1"),
    ):
        model = tmp_path / name
        for words in (
            ["decode", model, SRC, TGT],
            ["train", SRC, TGT, "--init", model, "-o", tmp_path / "x"],
            ["align", SRC, TGT, "--prior", model],
            ["lexicon", model],
            ["check", SRC, TGT, "--model", model],
            ["view", model, SRC, TGT, "-o", tmp_path / "x"],
            ["tune", model, SRC, TGT, gold],
        ):
            message = (
                f"aligner: {model}: the training of this model is not finished: {done}; go on with it first"
            )
            assert run(*words, code=1).splitlines()[-1] == message
    assert not (tmp_path / "x").exists()
