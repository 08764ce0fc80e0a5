"""Training on Dask: any number of shards and workers makes the model of one process, byte for byte."""

from __future__ import annotations

import gc
import inspect
import logging
import os
import re
import signal
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest
from cluster import bytes_of
from processes import started
from trained import SRC, TGT, generated, recipe_of, run

from aligner import Corpus, DataError, Model, Recipe, __version__, learn
from aligner.cluster.local import LocalView
from aligner.cluster.owners import Owned, slice_of
from aligner.text.cells import Seen
from aligner.text.views import see
from aligner.training.progress import Progress

pytest.importorskip("distributed")

from dask import config  # noqa: E402
from distributed import wait  # noqa: E402

from aligner.cluster import connection, tasks, workers  # noqa: E402
from aligner.cluster.connection import connected  # noqa: E402
from aligner.cluster.workers import learn_on  # noqa: E402

# Dask leaves sockets to the garbage collector, and says how loaded the machine is
pytestmark = [pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::UserWarning:distributed.*")]

SOME = generated().part(0, 50)
VIEWS = ["word", "prefix3", "prefix1/prefix5"]
# What is trained -> how many shards it has, and its recipe
TRAININGS: dict[str, tuple[int, Recipe]] = {
    "three views": (3, Recipe.of("loo", ibm1_iterations=1, iterations=1, views=VIEWS)),
    "three views, 5 shards": (5, Recipe.of("loo", ibm1_iterations=1, hmm_iterations=0, views=VIEWS)),
    **{
        name: (n, recipe_of(name, iterations=1, ibm1_iterations=1, views=["prefix3"]))
        for name, n in (("shmm", 2), ("hmm", 5), ("ibm1", 2), ("ibm2", 3), ("convex", 5))
    },
    "diagonal": (2, recipe_of("diagonal", iterations=2, views=["word"])),
    "classes": (2, Recipe.of("loo", ibm1_iterations=1, iterations=1, classes=3, views=VIEWS[:2])),
    "forward": (2, Recipe.of("hmm", direction="forward", ibm1_iterations=1, iterations=1, views=["word"])),
}


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    """Two processes."""
    with connected("local:2") as client:
        yield client


def saved(model: Model, folder: Path) -> bytes:
    model.save(folder / "model", overwrite=True)
    return (folder / "model").read_bytes()


@pytest.mark.parametrize("name", TRAININGS)
def test_workers_make_the_model_of_one_process(client, name, tmp_path):
    n, recipe = TRAININGS[name]
    found = learn_on(client, SOME, recipe, n_shards=n)
    assert saved(found, tmp_path) == saved(learn(SOME, recipe)[0], tmp_path)


def test_workers_send_what_shards_need(client):
    """Half of a shard's word pairs are on the other worker. Each is sent once, and so are its counts."""
    recipe = Recipe.of("loo", ibm1_iterations=5, iterations=5, views=["word"])
    sent, needed = bytes_of(client, generated(), recipe, 2)
    assert 0.45 < sent / needed < 0.75


def test_what_was_waited_for_leaves_the_workers_when_it_is_dropped(client):
    """At once, not when Python collects its garbage: workers would keep results of earlier iterations."""
    work = object.__new__(workers._Training)
    work.client, work.answer = client, lambda: None
    gc.collect()
    gc.disable()
    try:
        future = client.submit(time.sleep, 0.5, pure=False)
        key = future.key
        assert work.get([future]) == [None] and key in client.futures
        del future
        end = time.monotonic() + 5
        while key in client.futures and time.monotonic() < end:
            time.sleep(0.01)
        assert key not in client.futures
    finally:
        gc.enable()


def test_empty_shards_and_empty_sides(client, tmp_path):
    corpus = Corpus.of([("a b", "x y"), ("", "x"), ("b c", ""), ("c a", "y z")])
    recipe = recipe_of("loo", ibm1_iterations=1, iterations=1, views=["word"])
    found = learn_on(client, corpus, recipe, n_shards=4)
    assert saved(found, tmp_path) == saved(learn(corpus, recipe)[0], tmp_path)


@pytest.mark.parametrize("name, part", [("hmm", "HMM"), ("loo", "leave-one-out HMM")])
def test_an_iteration_that_is_done_again_is_counted_once(client, name, part, monkeypatch, capsys):
    """In the summary and in what is planned. What is lost of loo begins after Model 1, that of hmm before."""
    more = {"hmm_iterations": 0} if name == "loo" else {}
    recipe = Recipe.of(name, ibm1_iterations=2, iterations=2, views=["word"], **more)
    iterate, lost = workers._Training.iterate, []

    def lose(self, step) -> None:
        if len(self.model.history) == 3 and not lost:
            lost.append(step)
            raise CancelledError
        iterate(self, step)

    monkeypatch.setattr(workers._Training, "iterate", lose)
    progress = Progress()
    model = learn_on(client, SOME, recipe, progress=progress, n_shards=2)
    said = [line.rsplit(",", 1)[0] for line in capsys.readouterr().err.splitlines()]
    first, last = "Model 1, words: 2 iterations", f"{part}, words: 2 iterations"
    again = [f"{first} again"] if name == "hmm" else []
    assert said == [first, "a worker was lost: what it did is done again", *again, last]
    assert [entry["iteration"] for entry in model.history] == [1, 2, 3, 4]
    assert progress.done == pytest.approx(progress.planned)


@pytest.mark.parametrize("n_done", [1, 5])
def test_a_worker_that_is_killed_changes_no_bit(n_done, tmp_path, monkeypatch):
    recipe = Recipe.of("loo", ibm1_iterations=2, hmm_iterations=0, iterations=2, views=VIEWS[:2])
    iterate, number, killed, begun = workers._Training.iterate, workers._Training.number, [], []
    with connected("local:2") as client:

        def kill_first(self, step) -> None:
            begun.append((step.view, step.iteration))
            if len(self.model.history) == n_done and not killed:
                wait([x for own in self.held.t for both in own for x in both])
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
            iterate(self, step)

        def numbered(self, step) -> None:
            begun.append((step.view, -1))
            number(self, step)

        monkeypatch.setattr(workers._Training, "iterate", kill_first)
        monkeypatch.setattr(workers._Training, "number", numbered)
        found = learn_on(client, SOME, recipe, n_shards=2)
    assert killed and saved(found, tmp_path) == saved(learn(SOME, recipe)[0], tmp_path)
    # What comes before the part that is under way is not done again
    views, together = [(v, n) for v in (0, 1) for n in (-1, 0, 1)], {(-1, 2), (-1, 3)}
    assert begun[:3] == views[:3] and len(begun) > len(views) + len(together)
    assert n_done == 1 or begun[:6] == views and set(begun[6:]) == together


def test_what_a_part_begins_with_is_on_two_workers(client, monkeypatch):
    """Also where Dask has moved all of it to one worker, whose loss would take copies along."""
    recipe = Recipe.of("loo", ibm1_iterations=1, hmm_iterations=0, iterations=1, views=VIEWS[:2])
    do, hold, places = workers._Training.do, workers._Training.hold, []

    def moved(self, function, *given, at=None, **more):
        return do(self, function, *given, at=0 if function is tasks.renewed else at, **more)

    def held(self) -> None:
        hold(self)
        for _, *copies in (alike for own in self.held.t for alike in own):
            wait(copies)
            places.append({worker for some in client.who_has(copies).values() for worker in some})

    monkeypatch.setattr(workers._Training, "do", moved)
    monkeypatch.setattr(workers._Training, "hold", held)
    learn_on(client, SOME, recipe, n_shards=2)
    assert [len(some) for some in places] == 6 * [2]


@pytest.mark.parametrize("known", [[True, False], [False, False]])
def test_all_workers_may_be_lost_while_others_come(client, known, tmp_path, monkeypatch):
    """known: whether the scheduler has workers, when it is asked; at the first loss it may still have some"""
    recipe = TRAININGS["ibm1"][1]
    iterate, nthreads, left, lost = workers._Training.iterate, client.nthreads, [], []

    def lose(self, step) -> None:
        if not lost:
            lost.append(step)
            left.extend(known)
            raise CancelledError
        iterate(self, step)

    monkeypatch.setattr(workers._Training, "iterate", lose)
    monkeypatch.setattr(client, "nthreads", lambda: {} if left and not left.pop(0) else nthreads())
    model = learn_on(client, SOME, recipe, n_shards=2)
    assert lost and saved(model, tmp_path) == saved(learn(SOME, recipe)[0], tmp_path)


def test_a_scheduler_that_is_lost_is_an_error_that_says_what_to_do(client, monkeypatch):
    def fail(*_) -> None:
        raise OSError("Stream is closed")

    monkeypatch.setattr(workers._Training, "iterate", fail)
    with pytest.raises(OSError, match="Stream is closed"):  # it answers: the error is another one
        learn_on(client, SOME, TRAININGS["ibm1"][1], n_shards=2)

    def lose(*_) -> None:
        monkeypatch.setattr(client, "nthreads", fail)
        fail()

    monkeypatch.setattr(workers._Training, "iterate", lose)
    with pytest.raises(DataError, match="the scheduler of Dask was lost; start it and its workers again"):
        learn_on(client, SOME, TRAININGS["ibm1"][1], n_shards=2)


@pytest.mark.parametrize("found", ["has aligner 0.0.9", "cannot load aligner: no such module"])
@pytest.mark.parametrize("who", ["tcp:[^ ]*", "of the scheduler"])
def test_workers_and_schedulers_of_another_version_are_refused(client, who, found, monkeypatch):
    def version() -> str:
        if "0.0.9" not in found:
            raise ImportError("no such module")
        return "0.0.9"

    call = "run_on_scheduler" if who == "of the scheduler" else "run"
    ask = getattr(client, call)
    monkeypatch.setattr(client, call, lambda _, **more: ask(version, **more))
    with pytest.raises(DataError, match=f"process {who} {found}; this is aligner {__version__}; install"):
        learn_on(client, SOME, TRAININGS["ibm1"][1], n_shards=2)


def test_a_worker_that_is_lost_each_time_ends_the_training(monkeypatch):
    """All is lost with the only worker. That the first view is trained again does not count as getting on."""
    recipe = Recipe.of("loo", ibm1_iterations=1, hmm_iterations=0, iterations=1, views=VIEWS[:2])
    iterate = workers._Training.iterate
    with connected("local:1") as client:

        def kill_at_the_second_view(self, step) -> None:
            if step.view == 1:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            iterate(self, step)

        monkeypatch.setattr(workers, "MOST_LOSSES", 1)
        monkeypatch.setattr(workers._Training, "iterate", kill_at_the_second_view)
        with pytest.raises(DataError, match="workers were lost 2 times in one part"):
            learn_on(client, SOME, recipe, n_shards=2)


def test_a_worker_may_be_lost_while_the_text_is_sent_again(client, tmp_path, monkeypatch):
    recipe = TRAININGS["ibm1"][1]
    iterate, scatter, raised = workers._Training.iterate, client.scatter, []

    def lose(self, step) -> None:
        if not raised:
            raised.append("iterate")
            raise CancelledError
        iterate(self, step)

    def send(*given, **more):
        if raised == ["iterate"]:
            raised.append("scatter")
            raise KeyError("tcp://127.0.0.1:9")  # as of a worker that the scheduler does not know any more
        return scatter(*given, **more)

    monkeypatch.setattr(workers._Training, "iterate", lose)
    monkeypatch.setattr(client, "scatter", send)
    found = learn_on(client, SOME, recipe, n_shards=2)
    assert raised == ["iterate", "scatter"]
    assert saved(found, tmp_path) == saved(learn(SOME, recipe)[0], tmp_path)


def test_a_worker_may_be_lost_while_the_text_is_first_sent(tmp_path, monkeypatch):
    recipe = TRAININGS["ibm1"][1]
    with connected("local:2") as client:
        scatter, killed = client.scatter, []

        def kill_and_send(*given, workers, **more):
            if not killed:
                killed.append(client.run(os.getpid, workers=workers)[workers[0]])
                os.kill(killed[0], signal.SIGKILL)
            return scatter(*given, workers=workers, **more)

        monkeypatch.setattr(client, "scatter", kill_and_send)
        found = learn_on(client, SOME, recipe, n_shards=2)
    assert killed and saved(found, tmp_path) == saved(learn(SOME, recipe)[0], tmp_path)


def test_a_task_that_kills_its_workers_is_an_error_that_says_what_to_do(monkeypatch):
    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with config.set({"distributed.scheduler.allowed-failures": 1}), connected("local:1") as client:
        monkeypatch.setattr(
            workers._Training, "iterate", lambda self, step: self.get([client.submit(die, pure=False)])
        )
        with pytest.raises(DataError, match="2 workers were lost one after another, .*; their logs say why"):
            learn_on(client, SOME, TRAININGS["ibm1"][1], n_shards=1)


@pytest.mark.parametrize("view", VIEWS)
def test_owners_have_all_word_pairs_once(view):
    whole, text = Seen.of_own_words(SOME, view, 1), see(SOME, view)
    vocabs = text.src.vocab, text.tgt.vocab
    parts = [LocalView.of(SOME.part(a, a + 25), view, *vocabs, 1).pairs for a in (0, 25)]
    bounds = np.array([0, len(vocabs[0]) // 3, len(vocabs[0]) // 3, len(vocabs[0])])
    cut = [[slice_of(part, bounds, k) for k in range(3)] for part in parts]
    owned = [
        Owned.of(int(a), int(b), [x[k] for x in cut])
        for k, (a, b) in enumerate(zip(bounds, bounds[1:], strict=False))
    ]
    np.testing.assert_array_equal(np.concatenate([x.tgt for x in owned]), whole.tgt)
    widths = np.concatenate([np.diff(x.rows) for x in owned])
    np.testing.assert_array_equal(widths, np.diff(whole.rows))
    for n, part in enumerate(parts):
        again = np.concatenate([x.tgt[x.places[n]] for x in owned])
        np.testing.assert_array_equal(again, part.tgt[part.pair_tgt])
    assert [x for one in owned for x in one.words(vocabs[0]).words] == vocabs[0].words


def test_the_command_line(tmp_path):
    given = [SRC, TGT, "-q", "--model", "ibm1", "--fast", "--iterations", 1]
    run("train", *given, "-o", tmp_path / "one")
    run("train", *given, "-o", tmp_path / "two", "--cluster", "local:2")
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one").read_bytes()
    message = run("train", *given, "-o", tmp_path / "x", "--cluster", "tcp://127.0.0.1:9", code=1)
    assert "there is no scheduler of Dask at tcp://127.0.0.1:9" in message


def test_align_on_a_cluster(tmp_path):
    given = [SRC, TGT, "-q", "--model", "ibm1", "--fast", "--iterations", 1, "--threshold", "auto"]
    for name, more in (("one", []), ("two", ["--cluster", "local:2"])):
        files = [
            "-o",
            tmp_path / name,
            "--save",
            tmp_path / f"{name}.model",
            "--forward",
            tmp_path / f"{name}.fwd",
        ]
        run("align", *given, *files, *more)
    for end in ("", ".model", ".fwd"):
        assert (tmp_path / f"two{end}").read_bytes() == (tmp_path / f"one{end}").read_bytes()


# Options that a training on a cluster cannot honour
REFUSED = {
    "--init": "x", "--prior": "x", "--dictionary": "x", "--dev-src": "x", "--given": "x", "--exclude": "x",
    "--checkpoint": "x", "--memory": "1G",
}  # fmt: skip


@pytest.mark.parametrize("command", ["train", "align"])
def test_what_a_cluster_cannot_do_is_refused(command, tmp_path):
    given = [command, SRC, TGT, "-o", tmp_path / "x", "--cluster", "local:2"]
    refused = REFUSED | ({"--threads": "2"} if command == "train" else {})
    for name, value in refused.items():
        assert f"{name} is not for --cluster" in run(*given, name, value, code=2)
    # What goes with such an option only is refused by the command itself
    for name, value in (("--dev-gold", "x"), ("--prior-weight", "2"), ("--known-format", "gold")):
        run(*given, name, value, code=2)
    run(*given, "--resume", code=2)
    assert "forgets no word pairs" in run(*given, "--prune", "0.1", code=1)


@pytest.mark.parametrize("command", ["train", "align"])
def test_outputs_are_checked_before_workers_start(command, tmp_path, monkeypatch):
    def start(**_) -> None:
        raise AssertionError("workers are started")

    monkeypatch.setattr(connection, "LocalCluster", start)
    (tmp_path / "there").write_text("")
    for name, message in (("there", "the file exists"), ("nowhere/x", "no such folder")):
        given = [command, SRC, TGT, "-o", tmp_path / name, "--cluster", "local:2"]
        assert message in run(*given, code=1)


def test_every_setting_of_a_training_is_for_a_cluster_or_refused():
    """A setting that `learn_on` does not take is refused above, or has to do with memory and threads."""
    alone = inspect.signature(learn).parameters.keys() - inspect.signature(learn_on).parameters.keys()
    refused = {"init", "prior", "prior_weight", "development", "links", "resume", "checkpoint", "constraints"}
    assert alone == refused | {"n_threads", "memory"}


@pytest.mark.parametrize(
    "address", ["local:0", "local:9999", "local:2x", "local:-1", "local:", "local", "LOCAL:0"]
)
def test_a_number_of_workers_that_cannot_be_is_refused(address):
    with pytest.raises(DataError, match=f"{address}: the number of workers is to be from 1 to 256"):
        with connected(address):
            pass


def test_an_address_of_another_program_is_refused(client, monkeypatch):
    """One that is silent, one of a worker, and protocols that are not set up here."""
    monkeypatch.setattr(connection, "WITHIN", 0.1)
    silent = socket.create_server(("127.0.0.1", 0))
    worker = next(iter(client.nthreads()))
    for address, message in (
        (f"127.0.0.1:{silent.getsockname()[1]}", "nobody answers as Dask does within 0.1 s"),
        (worker, "it is the address of a worker"),
        ("tls://127.0.0.1:9", "there is no scheduler of Dask at tls://127.0.0.1:9: "),
        ("tcp://127.0.0.1", "there is no scheduler of Dask at tcp://127.0.0.1: "),
    ):
        with pytest.raises(DataError, match=message), connected(address):
            pass
    silent.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_prints_no_traceback_and_leaves_nothing(number, tmp_path):
    """As of Ctrl-C on a terminal, which goes to the workers, too. TERM goes to the process alone."""
    given = ["train", SRC, TGT, "-o", tmp_path / "x", "--cluster", "local:2", "--iterations", "1000"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "aligner", *given]
    with started(command, env={**os.environ, "TMPDIR": str(scratch)}) as process:
        deadline = time.monotonic() + 60
        while len(list(scratch.rglob("worker-*"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        _, said = process.communicate()
    assert process.returncode == 128 + number
    assert "Traceback" not in said
    assert not list(scratch.iterdir())


@pytest.mark.parametrize("more", [[], ["--cluster", "local:2"]], ids=["alone", "cluster"])
@pytest.mark.parametrize("number, told", [(signal.SIGINT, ["aligner: interrupted"]), (signal.SIGTERM, [])])
def test_a_signal_within_a_training_says_how_far_it_was(number, told, more, tmp_path):
    """The same with workers and without."""
    given = ["train", SRC, TGT, "-o", tmp_path / "x", "-v", "--fast", "--iterations", "100000", *more]
    with started([sys.executable, "-m", "aligner", *given]) as process:
        assert any(" loo " in line for line in process.stderr)
        process.send_signal(number)
        rest = [line for line in process.stderr.read().splitlines() if " loo " not in line]
        process.wait()
    assert process.returncode == 128 + number
    assert len(rest) == 1 + len(told) and rest[1:] == told
    assert re.fullmatch(r"leave-one-out HMM, first 4 letters: \d+ iterations?, [\d.]+ s", rest[0])


def test_dask_says_nothing_of_a_local_cluster(client):
    """Not even what it calls critical: a cluster that ends while tasks are under way prints tracebacks."""
    for name in ("distributed.scheduler", "distributed.client", "distributed.worker"):
        assert not logging.getLogger(name).isEnabledFor(logging.CRITICAL)


def test_a_text_without_words_is_told_once(client, caplog):
    learn_on(client, Corpus.of([]), Recipe.of("ibm1", iterations=1, views=["word"]))
    assert caplog.text.count("there is nothing to learn from") == 1


def test_two_local_clusters_at_once_warn_of_no_port():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with connected("local:1"), connected("local:1"):
            pass
    assert not [str(w.message) for w in told if "Port" in str(w.message)]
