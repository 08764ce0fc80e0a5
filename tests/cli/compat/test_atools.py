"""atools: what the real one prints for the sample, exit codes, and answers line by line.

golden/atools, and tests/links/golden for the methods, have what fast_align's atools prints for data/sample.*.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from functools import partial

import oracle
import programs
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from strategies import directional, link_sets

from aligner.links.symmetrize import our_name

GOLDEN = programs.GOLDEN / "atools"
METHODS = ["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]


atools = partial(programs.run, "atools")


@pytest.mark.parametrize("command", ["convert", "invert", "display"])
def test_one_file(data, command):
    result = atools("-i", data / "sample.forward", "-c", command)
    assert result.stdout_bytes == (GOLDEN / command).read_bytes()
    piped = atools("-i", "-", "-c", command, stdin=(data / "sample.forward").read_bytes())
    assert piped.stdout_bytes == result.stdout_bytes


@pytest.mark.parametrize("command", [*METHODS, "fmeasure"])
def test_two_files(data, command):
    forward, reverse = (data / f"sample.{x}" for x in ("forward", "reverse"))
    golden = GOLDEN / command
    if command in METHODS:
        golden = ROOT / "tests" / "links" / "golden" / f"sample.atools.{our_name(command)}"
    for words in (
        ["-i", forward, "-j", reverse, "-c", command],
        [f"--input_1={forward}", "--input_2", reverse, f"--comm={command}"],
        [f"-i{forward}", f"-j{reverse}", f"-c{command}"],
    ):
        assert atools(*words).stdout_bytes == golden.read_bytes()
    lines = zip(*(path.read_bytes().splitlines(keepends=True) for path in (forward, reverse)), strict=True)
    turns = b"".join(line for pair in lines for line in pair)
    assert atools("-i", "-", "-j", "-", "-c", command, stdin=turns).stdout_bytes == golden.read_bytes()


@given(pairs=st.lists(directional() | st.tuples(link_sets, link_sets), min_size=1, max_size=4))
def test_any_links(pairs):
    """Also in the last column of other lines, in any order, and twice."""
    text = ""
    for n, pair in enumerate(pairs):
        for links in pair:
            text += (
                "a ||| b ||| " * (n % 2) + " ".join(f"{i}-{j}" for i, j in [*links, *list(links)[::2]]) + "\n"
            )
    lines = [oracle.atools(f, r, True, True, True) for f, r in pairs]
    expected = "".join(" ".join(f"{i}-{j}" for i, j in line) + "\n" for line in lines)
    assert atools("-i", "-", "-j", "-", "-c", "grow-diag-final-and", stdin=text.encode()).output == expected


def test_links_that_begin_at_1_are_taken_as_they_are(write):
    """Twenty lines without position 0 make our own commands ask; atools never asks."""
    path = write("links", "2-2 1-1\n" * 30)
    assert atools("-i", path, "-c", "convert").output == "1-1 2-2\n" * 30


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-c", "union"],
        ["-i", "FORWARD"],
        ["-i", "FORWARD", "-c", "soft-union"],
        ["-i", "FORWARD", "-c", "union"],
        ["-i", "FORWARD", "-j", "FORWARD", "-c", "convert"],
        ["-x"],
        ["-i", "FORWARD", "--inp", "FORWARD", "-c", "union"],
        ["-i", "missing", "-c", "convert"],
        ["-i", "FORWARD", "-j", "missing", "-c", "union"],
        ["-i", "GOLD", "-c", "convert"],
    ],
)
def test_wrong_usage_has_exit_code_1(data, words):
    files = {"FORWARD": str(data / "sample.forward"), "GOLD": str(data / "sample.gold")}
    result = atools(*(files.get(word, word) for word in words), code=1)
    assert result.stdout_bytes == b"" and result.stderr


def test_what_both_files_have_comes_before_the_error(write):
    """As in the original: the lines are printed, then exit code 1."""
    result = atools("-i", write("a", "0-0\n1-1\n2-2\n"), "-j", write("b", "0-1\n"), "-c", "union", code=1)
    assert result.stdout_bytes == b"0-0 0-1\n"
    assert "has 3 lines" in result.stderr and "has 1" in result.stderr
    odd = atools("-i", "-", "-j", "-", "-c", "union", stdin=b"0-0\n0-1\n2-2\n", code=1)
    assert odd.stdout_bytes == b"0-0 0-1\n"


def test_fmeasure_of_nothing(write):
    none, one, other = write("none", "\n"), write("one", "0-0\n"), write("other", "1-1\n")
    assert atools("-i", one, "-j", other, "-c", "fmeasure").output == "P: 0\nR: 0\nF: -nan\n"
    assert atools("-i", one, "-j", none, "-c", "fmeasure", code=1).stdout_bytes == b""


def test_two_lines_are_answered_at_once():
    """force_align.py keeps atools running, writes two lines, and waits for one."""
    words = [sys.executable, "-m", "aligner", "atools", "-i", "-", "-j", "-", "-c", "union"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONUNBUFFERED", None)  # it would hide what is not flushed
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None and process.stdout is not None
        for n in range(3):
            process.stdin.write(b"%d-0\n0-%d\n" % (n, n + 1))
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 60)[0]
            links = sorted({(n, 0), (0, n + 1)})
            assert process.stdout.readline().decode() == " ".join(f"{i}-{j}" for i, j in links) + "\n"
        process.stdin.close()
        assert process.wait(60) == 0
