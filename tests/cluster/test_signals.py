"""Signals that wait: what is under way is done first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from processes import started
from trained import SRC, TGT

from aligner.cluster.signals import held


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def number(request):
    """A signal whose handler raises an exception, as in the process `aligner`."""

    def leave(number, _) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(request.param, leave)
    yield request.param
    signal.signal(request.param, before)


def test_a_signal_waits(number):
    """Also if a thread, as libraries have some, takes it where the main thread blocks it."""
    done, stop = [], threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    with pytest.raises(SystemExit) as left, held():
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
        os.kill(os.getpid(), number)
        time.sleep(0.2)
        done.append("all")
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    stop.set()
    thread.join()
    assert (done, left.value.code) == (["all"], 128 + number)
    with pytest.raises(SystemExit):
        os.kill(os.getpid(), number)
        time.sleep(0.2)


def test_a_signal_that_is_ignored_stays_ignored(number):
    handler = signal.signal(number, signal.SIG_IGN)
    with held():
        os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.SIG_IGN
    signal.signal(number, handler)


def test_a_signal_is_answered_where_it_is_asked_for(number):
    """Also one that comes while an object is freed: an exception there would be printed, and lost."""

    class Freed:
        def __del__(self) -> None:
            os.kill(os.getpid(), number)
            for _ in range(1000):  # time to answer
                pass

    done = []
    with pytest.raises(SystemExit) as left, held() as answer:
        answer()
        Freed()
        done.append("freed")
        answer()
        done.append("more")
    assert (done, left.value.code) == (["freed"], 128 + number)


# INT comes while Dask is imported, and in a place where Python prints exceptions and goes on
IMPORTING = """
import os, signal, sys

class Lost:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "distributed":
            Lost()

sys.meta_path.insert(0, Finder())
from aligner.cli import main
main()
"""


def test_an_interrupt_while_dask_is_imported(tmp_path):
    pytest.importorskip("distributed")
    given = ["train", SRC, TGT, "-o", tmp_path / "x", "-q", "--cluster", "local:1"]
    command = [sys.executable, "-c", IMPORTING, *map(str, given)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, "aligner: interrupted\n")
    assert not list(tmp_path.iterdir())


# INT comes while a training frees what Dask's workers made
FREEING = """
import os, signal, threading
from distributed import Future

free = Future.__del__
def freed(self):
    free(self)
    if threading.current_thread() is threading.main_thread():
        Future.__del__ = free
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

Future.__del__ = freed
from aligner.cli import main
main()
"""


def test_an_interrupt_while_dask_frees_a_future(tmp_path):
    pytest.importorskip("distributed")
    long = ["--fast", "--iterations", 100000, "--cluster", "local:1"]
    with started([sys.executable, "-c", FREEING, "train", SRC, TGT, "-o", tmp_path / "x", *long]) as process:
        _, told = process.communicate()
    assert (process.returncode, told.splitlines()[-1]) == (130, "aligner: interrupted")
    assert "Exception ignored" not in told
    assert not list(tmp_path.iterdir())
