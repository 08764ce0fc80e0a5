"""Models kept in the cache folder: found again, swapped or not, by several processes, damaged, too large."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from trained import assert_same_arrays, same

from aligner import Corpus, DataError, Links, Recipe
from aligner.decoding.combine import one_each
from aligner.decoding.kept import Kept
from aligner.training import cache
from aligner.training.cache import trained

RECIPE = Recipe.of(views=["word", "prefix3/prefix4"], ibm1_iterations=1, iterations=1)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty cache folder, which is not there yet; no warning was given before."""
    monkeypatch.setenv("ALIGNER_CACHE", str(tmp_path / "some" / "cache"))
    cache._tell.cache_clear()
    return tmp_path / "some" / "cache"


@pytest.fixture
def trainings(monkeypatch) -> list[Corpus]:
    """The texts that are trained on."""
    found, learn = [], cache.learn

    def counted(corpus, recipe, **settings):
        found.append(corpus)
        return learn(corpus, recipe, **settings)

    monkeypatch.setattr(cache, "learn", counted)
    return found


def text(n: int = 60, first: int = 0) -> Corpus:
    """Some sentence pairs of the generated corpus."""
    sides = [(ROOT / "data" / f"generated.{side}").read_text().splitlines() for side in ("src", "tgt")]
    return Corpus.from_pairs(list(zip(*(side[first : first + n] for side in sides), strict=True)))


def swap(corpus: Corpus) -> Corpus:
    return Corpus(corpus.tgt, corpus.src)


def both(kept: Kept, corpus: Corpus) -> list[Links]:
    """The links of both directions, with their scores."""
    found = list(kept.directions(corpus))
    return [Links.joined(block[k] for block in found) for k in range(2)]


def models(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.model"))


def test_a_model_is_trained_once_and_read_afterwards(folder, trainings):
    corpus = text()
    first, again = trained(corpus, RECIPE), trained(text(), RECIPE)
    assert len(trainings) == 1
    assert first.swapped == again.swapped
    for a, b in zip(both(first, corpus), both(again, corpus), strict=True):
        assert len(a.src) > 100 and same(a, b)
    assert [path.suffix for path in folder.iterdir()] == [".model"]  # no lock is left


def test_swapped_sides_have_the_same_model_and_swapped_links(folder, trainings):
    corpus = text()
    one, other = trained(corpus, RECIPE), trained(swap(corpus), cache._swapped(RECIPE))
    assert len(trainings) == 1
    assert one.swapped != other.swapped
    forward, reverse = both(one, corpus)
    back = both(other, swap(corpus))
    assert [sorted(x) for x in forward] == [sorted((i, j) for j, i in x) for x in back[1]]
    assert [sorted(x) for x in reverse] == [sorted((i, j) for j, i in x) for x in back[0]]
    assert forward.pairs() != reverse.pairs()
    for links in (forward, reverse, *back):  # in the order that all links of ours have
        assert all(x == sorted(x) for x in links)
    for direction, opposite in (("forward", "reverse"), ("reverse", "forward")):
        links = Links.joined(one.one_each(corpus, direction))
        assert same(links, Links.joined(other.one_each(swap(corpus), opposite)).transposed())


def test_one_link_each_is_in_the_callers_order(folder):
    for corpus in (text(), swap(text())):
        kept = trained(corpus, Recipe.of(views=["word"], ibm1_iterations=1, iterations=1))
        forward, reverse = both(kept, corpus)
        for direction in ("forward", "reverse"):
            wanted = one_each(forward, reverse, direction, kept.model.threshold)
            assert Links.joined(kept.one_each(corpus, direction)).pairs() == wanted.pairs()
        both_ways = [Links.joined(kept.one_each(corpus, x)) for x in ("forward", "reverse")]
        assert all(map(same, kept.one_each_way(corpus), both_ways))


def test_the_model_is_the_same_without_the_cache(folder, monkeypatch):
    kept = trained(text(), RECIPE)
    assert_same_arrays(kept.model, trained(text(), RECIPE, cached=False).model)
    for off in ("", "off"):
        monkeypatch.setenv("ALIGNER_CACHE", off)
        assert trained(text(), RECIPE).seen is not None  # it is trained now


def test_another_text_recipe_or_version_is_another_model(folder, trainings, monkeypatch):
    trained(text(), RECIPE)
    trained(text(59), RECIPE)
    trained(text(), Recipe.of(views=["word", "prefix3/prefix4"], ibm1_iterations=1, iterations=2))
    monkeypatch.setattr(cache, "__version__", "another")
    trained(text(), RECIPE)
    monkeypatch.setattr(cache, "_installed", lambda: "another")
    trained(text(), RECIPE)
    assert len(trainings) == len(models(folder)) == 5


def test_lower_case_is_kept_by_the_lowered_text(folder, trainings):
    recipe = Recipe.of("hmm", views=["word"], lowercase=True, ibm1_iterations=1, iterations=1)
    upper = Corpus.from_pairs([("A B", "X Y"), ("B", "y")])
    kept = trained(upper, recipe)
    again = trained(upper.lowered(), recipe)
    assert len(trainings) == 1
    for a, b in zip(both(kept, upper), both(again, upper), strict=True):
        assert same(a, b)


def test_the_folder_is_in_the_home_of_caches(tmp_path, monkeypatch):
    monkeypatch.delenv("ALIGNER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache._folder() == tmp_path / "aligner"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert cache._folder() == tmp_path / "me" / ".cache" / "aligner"


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied"])
def test_a_damaged_model_is_trained_again_and_replaced(damage, folder, trainings, caplog):
    trained(text(), RECIPE)
    (path,) = models(folder)
    whole = path.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    path.write_bytes({"cut": whole[:-7], "changed": changed, "emptied": b""}[damage])
    trained(text(), RECIPE)
    assert len(trainings) == 2
    assert caplog.text.count("the model is trained again") == 1
    assert str(path) in caplog.text
    trained(text(), RECIPE)
    assert len(trainings) == 2


def test_the_least_recently_used_model_goes_first(folder, trainings, monkeypatch):
    texts = [text(first=60 * n) for n in range(3)]
    for n in range(2):
        trained(texts[n], RECIPE)
        for path in models(folder):  # long ago, and the first is the older one
            os.utime(path, (path.stat().st_mtime - 1000,) * 2)
    trained(texts[0], RECIPE)  # used again
    sizes = sum(path.stat().st_size for path in models(folder))
    monkeypatch.setenv("ALIGNER_CACHE_SIZE", str(int(1.1 * sizes)))  # for two of three
    trained(texts[2], RECIPE)
    assert len(models(folder)) == 2
    trained(texts[0], RECIPE)
    trained(texts[2], RECIPE)
    assert len(trainings) == 3
    trained(texts[1], RECIPE)
    assert len(trainings) == 4


def test_a_model_larger_than_the_bound_is_not_kept(folder, trainings, monkeypatch, caplog):
    monkeypatch.setenv("ALIGNER_CACHE_SIZE", "1K")
    for _ in range(2):
        assert len(both(trained(text(), RECIPE), text())[0].src) > 100
    assert len(trainings) == 2
    assert list(folder.iterdir()) == []
    assert caplog.messages == [
        "the model is not kept for the next time: it has more bytes than all kept models together may have,"
        " 1,024"
    ]


def test_a_size_that_is_none_is_refused_before_training(folder, trainings, monkeypatch):
    monkeypatch.setenv("ALIGNER_CACHE_SIZE", "much")
    with pytest.raises(DataError, match=r"\$ALIGNER_CACHE_SIZE: 'much' is no size, as 500M or 4G are"):
        trained(text(), RECIPE)
    assert trainings == []


def test_what_killed_processes_left_is_removed(folder):
    folder.mkdir(parents=True)
    for name in (".00ff.model.01234567.part", "00ff.lock", "kept.txt"):
        (folder / name).write_text("x")
    trained(text(), RECIPE)
    assert sorted(path.suffix for path in folder.iterdir()) == [".model", ".txt"]


def test_a_folder_that_cannot_be_written_costs_the_cache_only(tmp_path, trainings, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ALIGNER_CACHE", str(tmp_path / "file" / "cache"))
    cache._tell.cache_clear()
    for _ in range(2):
        assert len(both(trained(text(), RECIPE), text())[0].src) > 100
    assert len(trainings) == 2
    assert caplog.messages == [
        f"{tmp_path}/file/cache cannot be used: Not a directory; the model is not kept for the next time"
    ]


def test_a_full_disk_costs_the_cache_only(folder, trainings, monkeypatch, caplog):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.store, "open_new", full)
    assert len(both(trained(text(), RECIPE), text())[0].src) > 100
    assert caplog.messages == [f"the model is not kept for the next time: {folder}: No space left on device"]
    assert list(folder.iterdir()) == []


def test_a_model_in_a_folder_that_can_only_be_read_is_used(folder, trainings, monkeypatch):
    trained(text(), RECIPE)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "utime", refuse)
    trained(text(), RECIPE)
    assert len(trainings) == 1


# argv: a file that has a letter for each training, a file that training waits for
PROCESS = """
import os, sys, time
from aligner import Recipe, read_corpus
from aligner.training import cache

learn = cache.learn

def slow(*arguments, **settings):
    with open(sys.argv[1], "a") as log:
        log.write("x")
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.01)
    return learn(*arguments, **settings)

cache.learn = slow
corpus = read_corpus(*sys.argv[3:])
kept = cache.trained(corpus, Recipe.of("hmm", views=["word"], ibm1_iterations=1, iterations=1))
print([links for block in kept.one_each(corpus, "forward") for links in block])
"""


class Processes:
    """Processes that want a model of the sample, and a log of their trainings."""

    def __init__(self, folder: Path) -> None:
        self.log, self.go = folder / "log", folder / "go"
        self.sides = [str(ROOT / "data" / f"sample.{side}") for side in ("en", "fr")]

    def start(self) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", PROCESS, str(self.log), str(self.go), *self.sides]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def start_two(self) -> list[subprocess.Popen[str]]:
        """One that trains until `go` is there, and one that waits for it."""
        first = self.start()
        end = time.monotonic() + 30
        while not self.log.exists() or self.log.read_text() != "x":
            assert time.monotonic() < end
            time.sleep(0.01)
        second = self.start()
        assert second.stderr is not None and select.select([second.stderr], [], [], 30)[0]
        assert second.stderr.readline() == "another process trains the same model; waiting for it\n"
        return [first, second]


@pytest.fixture
def processes(tmp_path) -> Processes:
    return Processes(tmp_path)


def test_of_two_processes_one_trains_and_the_other_waits(folder, processes):
    first, second = processes.start_two()
    processes.go.touch()
    (links, errors), (same_links, told) = first.communicate(timeout=30), second.communicate(timeout=30)
    assert processes.log.read_text() == "x"
    assert links == same_links and len(links) > 500
    assert errors == told == ""
    assert [path.suffix for path in folder.iterdir()] == [".model"]


def test_a_killed_process_leaves_the_training_to_the_next(folder, processes):
    first, second = processes.start_two()
    first.send_signal(signal.SIGKILL)
    first.communicate(timeout=30)
    processes.go.touch()
    links, _ = second.communicate(timeout=30)
    assert processes.log.read_text() == "xx"
    same_links, _ = processes.start().communicate(timeout=30)
    assert processes.log.read_text() == "xx"  # the model was read
    assert links == same_links and len(links) > 500
