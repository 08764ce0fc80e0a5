"""Checkpoints: training goes on to the same bytes, whatever was left; another training is refused."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trained import recipe_of

from aligner import Corpus, DataError, LinkReader, Model, Recipe, store, train
from aligner.training import loop, start
from aligner.training.checkpoint import FINISHED, JOURNAL, KEPT, Checkpoints
from aligner.training.development import Development

VIEWS = ("word", "prefix3")
SHORT = Recipe.of("hmm", ibm1_iterations=2, iterations=1, views=VIEWS)


def kept(folder: Path) -> list[str]:
    return sorted(x.name for x in folder.iterdir() if x.name != JOURNAL)


def entries(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / JOURNAL).read_text().splitlines()]


def checkpointed(folder: Path, text: Corpus, recipe: Recipe, resume: bool = False, **given) -> Model:
    """A training with checkpoints in a folder."""
    with Checkpoints(str(folder), resume) as checkpoints:
        model = checkpoints.learn(text, recipe, facts={"src": "a", "tgt": None}, **given)[0]
    assert checkpoints.failure is None
    return model


def written(model: Model) -> bytes:
    """The bytes of the model's file."""
    out = io.BytesIO()
    model.write(out)
    return out.getvalue()


def left_at_each_iteration(
    folder: Path, monkeypatch, text: Corpus, recipe: Recipe, **given
) -> tuple[Model, str, list[Path]]:
    """A training, its log without time and memory, and copies of its folder after each checkpoint."""
    copies: list[Path] = []
    save = Checkpoints.save

    def copied(self, model):
        save(self, model)
        copies.append(folder / f"copy{len(copies)}")
        shutil.copytree(self.folder, copies[-1])

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "save", copied)
        log = io.StringIO()
        model = checkpointed(folder / "run", text, recipe, log=log, **given)
    return model, untimed(log), copies


def untimed(log: io.StringIO) -> str:
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    spent = ("seconds", "tokens_per_second", "memory_mb")
    return "".join(
        json.dumps({key: x for key, x in line.items() if key not in spent}) + "\n" for line in lines
    )


@pytest.mark.parametrize("name", ["ibm1", "diagonal", "convex", "shmm", "loo"])
def test_training_goes_on_to_the_same_bytes(some, tmp_path, monkeypatch, name):
    """From each checkpoint: model, facts, history, signature and log."""
    recipe = recipe_of(name, iterations=2, ibm1_iterations=2, hmm_iterations=1, views=VIEWS)
    whole, log, copies = left_at_each_iteration(tmp_path, monkeypatch, some, recipe)
    assert len(copies) == len(whole.history) + 1
    assert written(whole) == written(train(some, recipe, facts={"src": "a", "tgt": None}))
    for n, folder in enumerate(copies):
        assert len(kept(folder)) == min(KEPT, n + 1)
        assert [x["iteration"] for x in entries(folder)] == [*range(1, n + 1), min(n + 1, len(whole.history))]
        again = io.StringIO()
        model = checkpointed(folder, some, recipe, resume=True, log=again)
        assert written(model) == written(whole) == (folder / FINISHED).read_bytes()
        assert model.signature == whole.signature and untimed(again) == log
        assert kept(folder) == kept(tmp_path / "run")
        for mine, first in zip(entries(folder), entries(tmp_path / "run"), strict=True):
            assert mine | {"seconds": 0} == first | {"seconds": 0}


def test_training_goes_on_with_all_that_it_may_begin_with(some, tmp_path, monkeypatch, data):
    """A model to start from, known links, a development set that stops it, and words of both cases."""
    first = train(some, Recipe.of("ibm1", iterations=1, views=VIEWS, lowercase=True))
    gold = LinkReader(str(data / "generated.gold")).read()
    links = replace(gold.part(0, 60), sure=None)
    links = replace(links, scores=np.where(np.arange(len(links.src)) % 2, 0.0, 1e12))
    given = {"init": first, "links": links, "development": Development(some.part(0, 40), gold.part(0, 40))}
    recipe = Recipe.of(
        "hmm", ibm1_iterations=1, iterations=9, views=VIEWS, lowercase=True, max_length=20, classes=4
    )
    whole, log, copies = left_at_each_iteration(tmp_path, monkeypatch, some, recipe, **given)
    assert len(whole.history) < 20
    for folder in copies:
        again = io.StringIO()
        assert written(checkpointed(folder, some, recipe, resume=True, log=again, **given)) == written(whole)
        assert untimed(again) == log


def test_a_finished_training_is_not_repeated(some, tmp_path, monkeypatch):
    whole = checkpointed(tmp_path / "run", some, SHORT)
    before = (tmp_path / "run" / JOURNAL).read_bytes()
    monkeypatch.setattr(loop, "_Run", None)
    assert written(checkpointed(tmp_path / "run", some, SHORT, resume=True)) == written(whole)
    assert (tmp_path / "run" / JOURNAL).read_bytes() == before
    assert written(Model.load(tmp_path / "run" / FINISHED)) == written(whole)


def test_a_folder_is_opened_once_and_not_by_chance(some, tmp_path):
    folder = tmp_path / "run"
    said: list[str] = []
    Checkpoints(str(folder), say=said.append).close()
    Checkpoints(str(folder), resume=True, say=said.append).close()  # nothing was written yet
    assert said == [f"{folder} has no checkpoint yet: training begins anew"]
    checkpointed(folder, some, SHORT)
    for files in ((JOURNAL,), tuple(kept(folder))):
        (other := tmp_path / files[0]).mkdir()
        for name in files:
            shutil.copy(folder / name, other)
        with pytest.raises(DataError, match="the folder has checkpoints of a training; choose") as refused:
            Checkpoints(str(other))
        assert refused.value.file == str(other) and refused.value.setting == "resume"
    script = f"from aligner.training.checkpoint import Checkpoints; Checkpoints({str(folder)!r}, resume=True)"
    open_here = Checkpoints(str(folder), resume=True, say=said.append)
    assert said[1:] == [f"{folder} has a checkpoint of a finished training"]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert f"{folder}: another training writes checkpoints here; wait" in done.stderr
    open_here.close()
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(DataError, match="no such folder; create it first"):
        Checkpoints(str(tmp_path / "a" / "b"))
    with pytest.raises(NotADirectoryError):
        Checkpoints(str(folder / JOURNAL))


def test_a_training_that_was_interrupted_goes_on_in_the_same_process(some, tmp_path, caplog):
    def interrupt(model: Model) -> None:
        save(model)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Checkpoints(str(tmp_path / "run")) as checkpoints:
        save, checkpoints.save = checkpoints.save, interrupt  # type: ignore[method-assign]
        checkpoints.learn(some, SHORT)
    assert caplog.messages == [f"{tmp_path / 'run'} has a checkpoint: training can be resumed from it"]
    facts = {"src": "a", "tgt": None}
    assert written(checkpointed(tmp_path / "run", some, SHORT, True)) == written(
        train(some, SHORT, facts=facts)
    )


def test_another_training_is_refused(some, corpus, tmp_path, monkeypatch, data):
    """The message says what differs and what to do. What is in the folder stays."""
    gold = LinkReader(str(data / "generated.gold")).read()
    links = replace(gold.part(0, 60), sure=None)
    model = train(some, SHORT)
    dev = Development(some.part(0, 40), gold.part(0, 40))
    folder = tmp_path / "run"
    checkpointed(folder, some, SHORT, prior=model)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = replace(SHORT, p0=0.3)
    for text, recipe, more, what in (
        (corpus.part(1, 61), SHORT, {"prior": model}, "it had another text"),
        (some, other, {"prior": model}, "it had p0 0.2, not 0.3"),
        (some, SHORT, {}, "it had a prior"),
        (some, SHORT, {"prior": model, "prior_weight": 2}, "it had another prior"),
        (some, SHORT, {"init": model}, "it had a prior; no model to start from"),
        (some, SHORT, {"prior": model, "development": dev}, "it had no development set"),
        (some, SHORT, {"prior": model, "links": links}, "it had no file of known links"),
        (some, replace(SHORT, views=("word",)), {"prior": model}, "it had views word,prefix3, not word"),
        (some, replace(SHORT, threshold=0.4), {"prior": model}, "it had threshold"),
    ):
        with pytest.raises(DataError, match=re.escape(what)) as refused:
            checkpointed(folder, text, recipe, resume=True, **more)
        assert refused.value.file == str(folder) and refused.value.setting == "checkpoint"
        assert str(refused.value).endswith("; give the same text and settings, or another folder")
    monkeypatch.setattr(start, "__version__", "9.9")
    with pytest.raises(DataError, match=r"it had version [\d.]+, not 9\.9"):
        checkpointed(folder, some, SHORT, resume=True, prior=model)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# Damage


def flipped(whole: bytes) -> bytes:
    return whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]


DAMAGES = {
    "cut off": lambda whole: whole[: len(whole) // 2],
    "one bit": flipped,
    "empty": lambda whole: b"",
    "of zeros": lambda whole: bytes(len(whole)),
    "no model": lambda whole: b"a ||| b\n",
}


@pytest.fixture(scope="module")
def trained_once(some, tmp_path_factory) -> tuple[Path, bytes]:
    """A folder that training left after iteration 4, and the bytes of the finished model."""
    folder = tmp_path_factory.mktemp("once")
    with pytest.MonkeyPatch.context() as patch:
        whole, _, copies = left_at_each_iteration(folder, patch, some, SHORT)
    return copies[3], written(whole)


@pytest.mark.parametrize("how", DAMAGES)
def test_the_checkpoint_before_a_damaged_one_is_taken(some, tmp_path, caplog, trained_once, how):
    shutil.copytree(trained_once[0], folder := tmp_path / "run")
    newest, older = folder / "iteration-0004.model", folder / "iteration-0003.model"
    newest.write_bytes(DAMAGES[how](newest.read_bytes()))
    said: list[str] = []
    Checkpoints(str(folder), resume=True, say=said.append).close()
    assert said == [f"{folder} has a checkpoint: view 1 of 2, iteration 3 of 3"]
    (told,) = caplog.messages
    assert told.startswith(f"{newest}: ") and told.endswith("; the checkpoint before it is looked for")
    assert written(checkpointed(folder, some, SHORT, resume=True)) == trained_once[1]
    assert [x["iteration"] for x in entries(folder)] == [1, 2, 3, 4, 4, 5, 6, 6]
    assert kept(folder) == [FINISHED, "iteration-0006.model"]
    shutil.rmtree(folder)
    shutil.copytree(trained_once[0], folder)
    for path in (newest, older):
        path.write_bytes(DAMAGES[how](path.read_bytes()))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(DataError, match="no checkpoint is whole; restore one, or remove") as refused:
        Checkpoints(str(folder), resume=True)
    assert refused.value.file == str(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_whole_model_that_is_another_one_is_not_taken(some, tmp_path, caplog, trained_once):
    """The journal knows its checksum."""
    shutil.copytree(trained_once[0], folder := tmp_path / "run")
    shutil.copy(folder / "iteration-0003.model", newest := folder / "iteration-0004.model")
    assert written(checkpointed(folder, some, SHORT, resume=True)) == trained_once[1]
    assert caplog.messages[0].startswith(f"{newest}: the journal tells of another file of this name;")


def test_files_that_are_gone(some, tmp_path, trained_once):
    """The journal alone does not go on, and is no reason to begin anew without a word."""
    shutil.copytree(trained_once[0], folder := tmp_path / "run")
    (folder / "iteration-0004.model").unlink()
    assert written(checkpointed(folder, some, SHORT, resume=True)) == trained_once[1]
    for name in kept(folder):
        (folder / name).unlink()
    with pytest.raises(DataError, match="no checkpoint is whole"):
        Checkpoints(str(folder), resume=True)


def test_a_model_that_came_before_its_line(some, tmp_path, trained_once):
    """As when the process is killed between the two: the model is whole. A line that was torn is ended."""
    shutil.copytree(trained_once[0], folder := tmp_path / "run")
    whole = (folder / JOURNAL).read_bytes()
    for torn in range(whole.rindex(b"{"), len(whole)):
        shutil.rmtree(folder)
        shutil.copytree(trained_once[0], folder)
        (folder / JOURNAL).write_bytes(whole[:torn])
        checkpoints = Checkpoints(str(folder), resume=True)
        assert checkpoints.newest is not None and len(checkpoints.newest.history) == 4
        if torn % 25 == 0:
            assert (
                written(checkpoints.learn(some, SHORT, facts={"src": "a", "tgt": None})[0]) == trained_once[1]
            )
            lines = (folder / JOURNAL).read_bytes().splitlines()
            assert [json.loads(line)["iteration"] for line in lines[-3:]] == [5, 6, 6]
        checkpoints.close()


@settings(max_examples=60)
@given(st.binary(max_size=300), st.integers(0, 400), st.booleans())
def test_a_damaged_journal_costs_nothing(some, tmp_path_factory, trained_once, more, place, replaces):
    """Any bytes among its lines, or in place of some: the models are what counts."""
    folder = tmp_path_factory.mktemp("journal")
    for path in trained_once[0].iterdir():
        os.link(path, folder / path.name)
    whole = (folder / JOURNAL).read_bytes()
    (folder / JOURNAL).unlink()
    (folder / JOURNAL).write_bytes(whole[:place] + more + whole[place + replaces * len(more) :])
    checkpoints = Checkpoints(str(folder), resume=True)
    assert checkpoints.newest is not None
    assert len(checkpoints.newest.history) in (3, 4)
    checkpoints.close()
    shutil.rmtree(folder)


@settings(max_examples=60)
@given(st.binary(max_size=100), st.integers(0, 100_000), st.booleans(), st.booleans())
def test_damaged_models_are_never_taken(tmp_path_factory, trained_once, more, place, replaces, known):
    """Any bytes among those of the newest, also if the journal does not know it."""
    folder = tmp_path_factory.mktemp("model")
    for path in trained_once[0].iterdir():
        if known or path.name != JOURNAL:
            os.link(path, folder / path.name)
    whole = (newest := folder / "iteration-0004.model").read_bytes()
    place %= len(whole)
    damaged = whole[:place] + more + whole[place + replaces * len(more) :]  # may be harmless, between arrays
    newest.unlink()
    newest.write_bytes(damaged)
    checkpoints = Checkpoints(str(folder), resume=True)
    assert checkpoints.newest is not None
    older = (folder / "iteration-0003.model").read_bytes()
    assert written(checkpoints.newest) in ((older, whole) if len(damaged) == len(whole) else (older,))
    checkpoints.close()
    shutil.rmtree(folder)


# Failures to write


def test_a_checkpoint_that_cannot_be_written_ends_no_training(some, tmp_path, monkeypatch, caplog):
    """The failure is told once. The checkpoint before stays, and the next one is tried."""
    folder, n_calls = tmp_path / "run", 0
    open_new = store.open_new

    def full(path, overwrite=False):
        nonlocal n_calls
        n_calls += 1
        if n_calls in (3, 4):
            assert kept(folder) == ["iteration-0001.model", "iteration-0002.model"]
            raise OSError(28, "No space left on device", str(path))
        return open_new(path, overwrite)

    monkeypatch.setattr(store, "open_new", full)
    assert written(checkpointed(folder, some, SHORT)) == written(
        train(some, SHORT, facts={"src": "a", "tgt": None})
    )
    assert caplog.messages == [
        f"{folder}/iteration-0003.model: No space left on device; training goes on without this checkpoint"
    ]
    assert [x["iteration"] for x in entries(folder)] == [1, 2, 5, 6, 6]


def test_the_last_failure_is_kept(some, tmp_path, monkeypatch):
    def full(path, overwrite=False):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(store, "open_new", full)
    checkpoints = Checkpoints(str(tmp_path / "run"))
    checkpoints.learn(some, SHORT)
    checkpoints.close()
    assert isinstance(checkpoints.failure, OSError)
    assert checkpoints.failure.filename == str(tmp_path / "run" / FINISHED)


def test_what_is_on_the_disk_when(some, tmp_path, monkeypatch):
    """The file before its name, the name before the line, the line before the next iteration."""
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("the system does not say which file is open")
    calls: list[str] = []
    fsync, replaced, unlink = os.fsync, os.replace, os.unlink

    def synced(handle):
        fsync(handle)
        name = os.path.basename(os.readlink(f"/proc/self/fd/{handle}"))
        calls.append("sync part" if name.endswith(".part") else f"sync {name}")

    def renamed(old, new):
        replaced(old, new)
        calls.append(f"name {os.path.basename(new)}")

    def removed(path):
        unlink(path)
        calls.append(f"remove {os.path.basename(path)}")

    for name, call in (("fsync", synced), ("replace", renamed), ("unlink", removed)):
        monkeypatch.setattr(os, name, call)
    checkpointed(tmp_path / "run", some, Recipe.of("ibm1", iterations=3, views=["word"]))
    wanted = [f"sync {tmp_path.name}"]
    for n, name in enumerate(
        ["iteration-0001.model", "iteration-0002.model", "iteration-0003.model", FINISHED]
    ):
        wanted += ["sync part", f"name {name}", "sync run"]
        wanted += [f"remove iteration-000{n - 1}.model"] if n >= KEPT else []
        wanted += [f"sync {JOURNAL}"]
    assert calls == wanted


def test_what_ends_a_training_leaves_a_word(some, tmp_path, caplog):
    checkpoints = Checkpoints(str(tmp_path))
    checkpoints.learn(some, SHORT)
    checkpoints.close(SystemExit(143))
    assert caplog.messages == [f"{tmp_path} has a checkpoint: training can be resumed from it"]
