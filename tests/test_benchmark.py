"""The scripts that measure, on little text; other aligners are our programs of their names."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import measure
import pytest
import reproduce
import symmetrization
from benchmark import COLUMNS
from conftest import ROOT
from contenders import CONTENDERS
from measure import ALIGNER, Cost, Job, in_turns, run
from processes import started
from texts import of_length, of_pairs, pairs_of

from aligner.models.kinds import MODELS

OTHERS = ["fast_align", "eflomal", "GIZA++", "mgiza"]
IBM1 = "aligner align --model ibm1"


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> str:
    """PATH with programs of the others' names."""
    folder = tmp_path_factory.mktemp("shims") / "bin"
    subprocess.run([ALIGNER, "shims", str(folder)], check=True)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def benchmark(folder: Path, path: str, *words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / "scripts/benchmark.py", "--rounds", "1", "--threads", "1", *words]
    environment = {**os.environ, "PATH": path}
    return subprocess.run([*command, "--out", folder], env=environment, capture_output=True, text=True)


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "benchmark.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_curves_over_pairs_and_lengths(path, tmp_path):
    done = benchmark(
        tmp_path, path, "--pairs", "60", "120", "--lengths", "5", "30", "--words", "600", "--only", IBM1
    )
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path)
    assert list(rows[0]) == list(COLUMNS) and {row["program"] for row in rows} == {IBM1}
    assert [(row["axis"], row["at"]) for row in rows] == [
        ("pairs", "60"), ("pairs", "120"), ("length", "5"), ("length", "30"),
    ]  # fmt: skip
    assert [row["pairs"] for row in rows] == ["60", "120", "120", "20"]
    assert [row["src_words"] for row in rows[2:]] == ["600", "600"] == [row["tgt_words"] for row in rows[2:]]
    for row in rows:
        assert 0 < float(row["cpu_seconds"]) and 10 < float(row["megabytes"]) < 1000
        assert 0 < float(row["aer"]) < 80 and row["heuristic"] == ""
    assert done.stdout == (tmp_path / "benchmark.md").read_text() and done.stdout.count(f"| {IBM1} | ") == 2
    for name in ("pairs", "length"):
        picture = (tmp_path / f"{name}.svg").read_text()
        assert picture.lstrip().startswith("<?xml") and all(
            title in picture for title in ("wall seconds", "memory (MB)", "AER (%)")
        )


def test_other_aligners_are_found_on_the_path(path, tmp_path, data):
    text = [str(data / f"sample.{x}") for x in ("en", "fr", "gold")]
    words = ["--text", *text, "--pairs", "60", "--lengths", "--only", IBM1, *OTHERS]
    done = benchmark(tmp_path, path, *words)
    assert done.returncode == 0, done.stderr
    found = {row["program"]: row for row in rows_of(tmp_path)}
    assert list(found) == [IBM1, *OTHERS]
    for name in OTHERS:
        assert 0 < float(found[name]["aer"]) < 60 and found[name]["heuristic"]
    missing = benchmark(tmp_path / "none", "/nonexistent", *words)  # git and bash are not there either
    assert missing.stderr.count(" is left out: not all of ") == len(OTHERS)


def test_what_takes_too_long_is_ended_and_gets_no_larger_text(path, tmp_path):
    words = ["--pairs", "60", "120", "--lengths", "--limit", "0.01", "--only", IBM1]
    done = benchmark(tmp_path, path, *words)
    assert done.returncode == 0, done.stderr
    (row,) = rows_of(tmp_path)
    assert row["at"] == "60" and row["wall_seconds"] == row["aer"] == ""
    assert "too long" in done.stdout


def test_what_cannot_be_is_refused(path, tmp_path, data):
    text = [str(data / f"sample.{x}") for x in ("en", "fr")]
    done = benchmark(tmp_path, path, "--text", *text, "--pairs", "61", "--only", IBM1)
    assert done.returncode and "sample.en has 60 lines: --pairs cannot be 61" in done.stderr
    done = benchmark(tmp_path, path, "--text", text[0], "--only", IBM1)
    assert done.returncode == 2 and "--text is SRC TGT, or SRC TGT GOLD" in done.stderr
    for words, message in (
        (["--text", "no.src", "no.tgt"], "No such file or directory: 'no.src'"),
        (["--pairs", "--lengths"], "there is no text to measure on"),
        (["--only", "GIZA++"], "no program is left to measure"),
    ):
        done = benchmark(tmp_path, "/bin", *words)
        assert done.returncode and done.stderr.splitlines()[-1].count(message) == 1


def test_every_model_is_measured():
    ours = [name for name in CONTENDERS if name.startswith("aligner align")]
    assert len(ours) == len(MODELS) + 2  # --fast, and --fast with two directions
    assert all(CONTENDERS[name].is_there() for name in ours)


def test_neighbours_are_joined_and_cut():
    pairs = [("a b c", "x y", "0-0 1?1 2-1"), ("d", "z w v", "0-2"), ("e f", "u t", "0-1"), ("g", "s", "0-0")]
    assert list(of_length(pairs, 3)) == [("a b c", "x y z", "0-0 1?1 2-1"), ("e f g", "u t s", "0-1 2-2")]
    assert list(of_length(pairs, 2)) == [
        ("a b", "x y", "0-0 1?1"),
        ("d e", "z w", ""),
    ]
    assert list(of_length([("a", "x", None), ("b", "y", "0-0")], 2)) == [("a b", "x y", None)]


def test_gold_is_of_the_last_lines(write, tmp_path):
    files = [write("src", "a\nb\u2028c\nd\n"), write("tgt", "x\ny\nz\n"), write("gold", "0-0\n0-0\n")]
    pairs = pairs_of([Path(file) for file in files])
    assert pairs == [("a", "x", None), ("b\u2028c", "y", "0-0"), ("d", "z", "0-0")]
    text = of_pairs(pairs, tmp_path / "text")
    assert text.n_pairs == 3 and text.gold.read_text() == "0-0\n0-0\n"
    assert (tmp_path / "text/both").read_text() == "a ||| x\nb\u2028c ||| y\nd ||| z\n"
    assert of_pairs([("a", "x", None)], tmp_path / "other").gold is None


def test_costs_are_those_of_the_program(tmp_path):
    held = b"x" * (300 << 20)  # Linux would count this as the program's
    idle = run(Job("sleep 0.3", tmp_path), 1, 60)
    assert idle.wall >= 0.3 and idle.cpu < 0.2 and idle.megabytes < 100 < len(held) >> 20
    busy = run(Job(f"{sys.executable} -c 'x = bytearray(200 << 20)'", tmp_path), 1, 60)
    assert 200 < busy.megabytes < 300 and busy.cpu > 0


def test_programs_take_turns_and_the_median_counts(monkeypatch, tmp_path):
    turns = []
    walls = {"a": [9.0, 1.0, 2.0], "b": [5.0, 5.0, 7.0]}

    def run(job: Job, cores: int, limit: float) -> Cost | None:
        turns.append(job.script)
        return Cost(walls[job.script].pop(0), 1.0, 10.0 * len(turns)) if job.script in walls else None

    monkeypatch.setattr(measure, "run", run)
    costs = in_turns({name: Job(name, tmp_path) for name in "abc"}, 3, 1, 60)
    assert turns == list("abcabab")  # c took too long
    assert costs == {"a": Cost(2.0, 1.0, 40.0), "b": Cost(5.0, 1.0, 50.0), "c": None}


def test_a_failure_is_said(tmp_path):
    with pytest.raises(SystemExit, match="(?s)this failed:\nfalse | true.*exit status 1"):
        run(Job("false | true", tmp_path), 1, 60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_and_what_it_measures(number, tmp_path):
    """Also a program that is in a session of its own, which Ctrl-C does not reach."""
    code = "import sys, pathlib; from measure import Job, leave_at_signals, run; leave_at_signals();"
    code += "run(Job('echo $$ > new; mv new pid; exec sleep 100', pathlib.Path(sys.argv[1])), 1, 100)"
    with started([sys.executable, "-c", code, tmp_path], cwd=ROOT / "scripts") as process:
        while process.poll() is None and not (tmp_path / "pid").exists():
            time.sleep(0.01)
        measured = int((tmp_path / "pid").read_text())
        process.send_signal(number)
        assert process.communicate()[1] == "" and process.returncode == 128 + number
    deadline = time.monotonic() + 10
    while is_running(measured) and time.monotonic() < deadline:  # it is killed; the system takes a moment
        time.sleep(0.01)
    assert not is_running(measured)


def is_running(process: int) -> bool:
    """Whether there is such a process, and more than its entry in the table."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True).stdout
    return state.strip()[:1] not in ("", "Z")


def test_symmetrization_is_compared_byte_for_byte(path, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", path)
    table = symmetrization.table(50, 1, 60)
    assert table.startswith("| 50 pairs, one core |") and table.count("\n") == 2 + len(symmetrization.JOBS)
    (tmp_path / "atools").write_text("#!/bin/sh\necho 0-0\n")
    (tmp_path / "atools").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{path}")
    with pytest.raises(SystemExit, match="atools gives other links"):
        symmetrization.table(50, 1, 60)


def test_tables_of_real_corpora(shared, monkeypatch, capsys):
    corpora = {"readme": [("hansards-en-fr", 200)], "new-text": [("hansards-en-fr", 200)]}
    monkeypatch.setattr(reproduce, "CORPUS_TABLES", corpora)
    words = ["--tables", *corpora, "--rounds", "1", "--threads", "1", "--data", str(shared)]
    monkeypatch.setattr(sys, "argv", ["reproduce", *words, "--only", "aligner align --fast"])
    reproduce.main()
    costs, new = capsys.readouterr().out.strip().split("\n\n")
    assert costs.splitlines()[2].startswith("| aligner align --fast | ") and costs.count("\n") == 2
    assert new.startswith("| hansards-en-fr, a model of 200 pairs, new text | AER |\n")
    assert [line.split("|")[1].strip() for line in new.splitlines()[2:]] == [
        "aligner train, aligner decode", "aligner train --model shmm, aligner decode",
    ]  # fmt: skip
