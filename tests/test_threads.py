"""How many threads are used: what the process may use, what the work is worth, and what a fork allows."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from aligner import threads


def test_little_work_has_one_thread():
    assert threads.useful(8, 25) == threads.useful(8, 0) == threads.useful(1, 10**9) == 1
    assert [threads.useful(8, n * threads.CELLS) for n in (1, 2, 7, 8, 9)] == [1, 2, 7, 8, 8]
    assert threads.useful(0, 10**9) == 0 and threads.useful(-1, 0) == -1  # for the kernels to refuse


@pytest.mark.parametrize(
    ("text", "limit"),
    [("1", 1), ("2,1", 2), (" 03 ", 3), ("", 64), ("0", 64), ("-2", 64), ("many", 64), ("4x", 64)],
)
def test_the_environment_limits_threads(monkeypatch, text, limit):
    monkeypatch.setattr(threads, "quotas", lambda: iter(()))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert threads.available() == limit


def test_affinity_and_quotas_limit_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    for quotas, n in (([], 3), ([1.5], 2), ([0.1], 1), ([8.0, 2.0], 2)):
        monkeypatch.setattr(threads, "quotas", lambda quotas=quotas: iter(quotas))
        assert threads.available() == n


def test_quotas_of_both_versions(tmp_path):
    groups, root = tmp_path / "groups", tmp_path / "root"

    def write(**files):
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def found(text):
        groups.write_text(text)
        return list(threads.quotas(str(groups), str(root)))

    write(a__b__cpu_dot_max="max 100000\n", a__cpu_dot_max="250000 100000\n", cpu_dot_max="400000 100000\n")
    assert found("0::/a/b\n") == [2.5, 4.0]  # of the group and of those above
    assert found("0::/elsewhere/x\n") == [4.0]  # a container sees its own group as the root
    for part, quota in (("cpu,cpuacct/a", "150000\n"), ("cpu,cpuacct", "-1\n")):
        folder = root / part
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cpu.cfs_quota_us").write_text(quota)
        (folder / "cpu.cfs_period_us").write_text("100000\n")
    assert found("3:cpuset:/a\n2:cpu,cpuacct:/a\n") == [1.5]
    assert found("") == [] and list(threads.quotas(str(tmp_path / "none"), str(root))) == []


def test_a_fork_after_threads_does_not_hang(data):
    """OpenMP's threads are not in the child: more than one would be waited for for ever."""
    script = """
import os, signal, sys
from aligner import Recipe, read_corpus, threads, train
threads.CELLS = 1
corpus = read_corpus(*sys.argv[1:]).part(0, 200)
def links():
    model = train(corpus, Recipe.of("hmm", views=["word"], iterations=1, ibm1_iterations=1), n_threads=2)
    return model.align(corpus, decode="one-to-one", n_threads=2).pairs()
before = links()
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if links() == before and threads.useful(2, 100) == 1 else 1)
_, status = os.waitpid(child, 0)
assert threads.useful(2, 100) == 2
sys.exit(os.waitstatus_to_exitcode(status))
"""
    files = str(data / "generated.src"), str(data / "generated.tgt")
    quiet = "-W", "ignore::DeprecationWarning"  # Python 3.12 warns of forks in general
    done = subprocess.run([sys.executable, *quiet, "-c", script, *files], timeout=60)
    assert done.returncode == 0


@pytest.mark.parametrize("given", [None, "active"])
def test_threads_of_commands_sleep_while_they_wait(given):
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    environment |= {"OMP_DISPLAY_ENV": "verbose"} | ({} if given is None else {"OMP_WAIT_POLICY": given})
    words = [sys.executable, "-m", "aligner", "align", os.devnull, os.devnull]
    told = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60).stderr
    match = re.search(r"GOMP_SPINCOUNT = '(\d+)'", told)  # how often a thread looks before it sleeps
    if match is None:
        pytest.skip("there is no OpenMP, or one that does not tell its settings")
    assert (int(match[1]) > 0) == (given == "active")
