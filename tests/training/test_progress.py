"""What a run says of itself: a plan that is carried out, the time that is left, words for people."""

from __future__ import annotations

import contextlib
import fcntl
import io
import os
import re
import struct
import sys
import termios
from collections.abc import Iterator

import pytest
from trained import generated, recipe_of

from aligner import LinkReader, Recipe
from aligner.decoding.posteriors import PROJECTIONS
from aligner.models.kinds import MODELS
from aligner.training import progress as module
from aligner.training.development import Development
from aligner.training.loop import learn
from aligner.training.progress import (
    COSTS,
    Progress,
    decoding,
    decoding_work,
    expected,
    kind_of,
    training_work,
)  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


def shown(monkeypatch) -> Terminal:
    """A terminal on which a bar is drawn at every step."""
    monkeypatch.setattr(module, "PATIENCE", 0)
    monkeypatch.setattr(module, "OFTEN", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr  # type: ignore[return-value]


def test_every_kind_of_work_has_a_cost():
    for model, kind in MODELS.items():
        constraints = ["none", "bijective", "symmetric"] if kind.leaving is not None else [None]
        for constraint in constraints:
            recipe = Recipe.of(model, constraint=constraint)
            assert {decoding(recipe.last), *map(kind_of, recipe.stages)} <= COSTS.keys()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("views", [("word",), ("word", "prefix3")])
def test_the_plan_is_carried_out(name, views):
    """Each kind of work takes as many cells as were planned: at the end nothing is left."""
    corpus = generated().part(0, 40)
    progress = Progress(aligns="trained")
    progress.mute = True
    model, seen = learn(corpus, recipe_of(name, views=views, iterations=2), progress=progress)
    assert progress.left() > 0
    blocks = model.directions(corpus, seen=seen)
    assert sum(len(forward) for forward, _ in progress.follow(blocks, corpus, model.recipe)) == 40
    assert progress.done == pytest.approx(progress.planned, rel=1e-9)
    assert progress.left() == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("project", PROJECTIONS)
def test_decoding_is_planned_as_it_is_projected(project):
    """Each projection has its own cost; both cost as much as the two."""
    recipe = recipe_of("hmm", iterations=1, views=["word"])
    kinds = {"both": ["hmm bijective", "hmm symmetric"], "none": ["hmm"]}
    wanted = kinds.get(project, ["hmm" if project == "trained" else f"hmm {project}"])
    work = decoding_work(recipe, 1000, project)
    assert work == {f"decode {kind}": expected(f"decode {kind}", 1000) for kind in wanted}
    corpus, progress = generated().part(0, 40), Progress(aligns=project)
    progress.mute = True
    model, _ = learn(corpus, recipe, progress=progress)
    blocks = model.directions(corpus, project=project)
    assert sum(len(forward) for forward, _ in progress.follow(blocks, corpus, recipe, project)) == 40
    assert progress.done == pytest.approx(progress.planned, rel=1e-9)


@pytest.mark.parametrize("name", ["shmm", "loo"])
def test_a_training_that_stops_or_goes_on_has_less_to_do(name, data):
    corpus, recipe = generated().part(0, 60), recipe_of(name, views=["word"], iterations=9)
    dev = Development(corpus, LinkReader(str(data / "generated.gold")).read().part(0, 60))
    stopped, rest, middle = Progress(), Progress(), []
    stopped.mute = rest.mute = True

    def keep(model) -> None:
        if len(model.history) == 3:
            middle.append((len(model.views), model.progress["iterations"]))
            raise KeyboardInterrupt

    learn(corpus, recipe, development=dev, progress=stopped)
    assert stopped.done == pytest.approx(stopped.planned, rel=1e-9)
    with pytest.raises(KeyboardInterrupt):
        learn(corpus, recipe, checkpoint=keep)
    n_cells = int((corpus.src.lengths * corpus.tgt.lengths).sum())
    whole = training_work(recipe, n_cells)
    after = training_work(recipe, n_cells, *middle[0])
    first = kind_of(recipe.stages[0])
    assert after[first] == 0 < whole[first]
    assert sum(after.values()) < sum(whole.values())


def test_work_after_a_view():
    """Of three views two have begun, and the second has had two of four iterations of Model 1."""
    recipe = Recipe.of("loo", views=["word", "prefix3", "prefix5"])
    work = training_work(recipe, 1000, 2, 2)
    assert work["ibm1"] == pytest.approx(expected("ibm1", 1000))  # of the third view
    assert work["ibm1 agreement"] == pytest.approx((2 + 3) * expected("ibm1 agreement", 1000))
    assert work["loo symmetric"] == pytest.approx(2 * expected("loo symmetric", 1000, 3))


def test_time_left_follows_the_pace_and_then_each_kind(clock):
    """A machine three times as slow; then a kind of work that takes twice as long as it should."""
    progress = Progress()
    progress.plan({"ibm1": 10.0, "hmm": 20.0})
    n = round(1 / expected("ibm1", 1))  # cells of a second
    assert progress.left() == pytest.approx(30)
    for done in range(1, 11):
        clock.now += 3
        progress.advance("ibm1", n)
        assert progress.left() == pytest.approx(3 * (30 - done), rel=1e-6)
    n = round(1 / expected("hmm", 1))
    for done in range(1, 21):
        clock.now += 6
        progress.advance("hmm", n)
        truth, wrong = 6 * (20 - done), 3 * (20 - done)
        assert wrong <= progress.left() <= truth * 1.001 + 1e-6
        if done == 10:
            assert progress.left() > 0.85 * truth
    progress.plan({"decode hmm": 4.0})
    progress.drop("decode hmm", round(2 / expected("decode hmm", 1)), 1)
    assert progress.left() == pytest.approx(2 * sum(progress.took.values()) / 30, rel=1e-3)


def test_time_between_two_things_is_nobodys(clock):
    progress = Progress()
    clock.now += 50
    progress.enter("decoding")
    clock.now += 1
    progress.advance("decode hmm", 1000)
    assert progress.took == {"decode hmm": 1}


def test_the_bar_says_what_goes_on(monkeypatch):
    terminal = shown(monkeypatch)
    with Progress(aligns="trained") as progress:
        recipe = Recipe.of("loo", views=["word", "prefix3"])
        model, seen = learn(generated().part(0, 60), recipe, progress=progress)
        progress.hide()
        learn(generated().part(0, 60), recipe, progress=progress)
    text = terminal.getvalue()
    pictures = re.findall(r"\r *(\d+)% \d\d:\d\d, \d\d:\d\d left: ([^\r\n]*?) \|[^|]*\|", text)
    assert 10 < len(pictures) < 60  # and none after the bar was hidden
    words = [doing for _, doing in pictures]
    for doing in (
        "numbering word pairs, view 1 of 2 (words)",
        "Model 1, view 2 of 2 (first 3 letters), iteration 3 of 4",
        "leave-one-out HMM, all 2 views together, iteration 3 of 3",
    ):
        assert doing in words
    assert all(int(share) <= 100 for share, _ in pictures)


def read_to_the_end(terminal: int) -> Iterator[str]:
    """What was written to a terminal whose other side is closed."""
    with open(terminal, "rb", buffering=0) as stream, contextlib.suppress(OSError):  # its end is an error
        while part := stream.read(4096):
            yield part.decode()


def test_a_narrow_terminal_has_the_numbers(monkeypatch):
    shown(monkeypatch)
    terminal, stderr = os.openpty()
    fcntl.ioctl(stderr, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 31, 0, 0))
    with open(stderr, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        with Progress() as progress:
            progress.plan({"hmm": 4.0})
            progress.enter("leave-one-out HMM, all 3 views together, iteration 2 of 3")
    text = "".join(read_to_the_end(terminal))
    assert re.search(r"\r +0% 00:00, 00:04 left: leave-\r", text)


def test_lines_of_a_training(capsys):
    text = generated().part(0, 60)
    learn(text, Recipe.of("loo", views=["word", "prefix3"]), progress=Progress())
    lines = [
        r"Model 1, view 1 of 2 \(words\): 4 iterations, \d+\.\d s",
        r"Model 1, view 2 of 2 \(first 3 letters\): 4 iterations, \d+\.\d s",
        r"leave-one-out HMM, all 2 views together: 3 iterations, \d+\.\d s",
    ]
    assert re.fullmatch("\n".join(lines) + "\n", capsys.readouterr().err)
    learn(text, Recipe.of("hmm", views=["word"], iterations=1), progress=Progress(verbose=True))
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 8 and said[-1].startswith("HMM, words: 1 iteration, ")
    assert re.match(r"  word hmm 6: perplexity \d.*reverse  \d.* s  .*tokens/s  \d+ MB$", said[-2])
    learn(text, Recipe.of("hmm", views=["word"], iterations=1))
    assert capsys.readouterr().err == ""


def test_nobody_reads(monkeypatch):
    """A stderr that is closed, full or missing stops nothing."""

    def full(_: str) -> int:
        raise BrokenPipeError

    terminal, recipe = shown(monkeypatch), Recipe.of("ibm1", views=["word"])
    monkeypatch.setattr(terminal, "write", full)
    for stream in (terminal, None):
        monkeypatch.setattr(sys, "stderr", stream)
        with Progress(verbose=True) as progress:
            progress.say("something")
            progress.mute = stream is None
            learn(generated().part(0, 20), recipe, progress=progress)
        assert progress.mute
