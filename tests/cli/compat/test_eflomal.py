"""The program eflomal, which aligns text of numbers as eflomal's program in C does."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import programs
import pytest

GOLDEN = programs.GOLDEN / "eflomal"
TEXT = ["-s", str(GOLDEN / "sample.en.numbers"), "-t", str(GOLDEN / "sample.fr.numbers")]
FIRST, SECOND = "3 2\n2 0 1\n0\n1 1\n", "3 3\n2 2 1\n1 0\n1 1\n"


run = partial(programs.run, "eflomal")


def test_numbers_are_aligned(tmp_path, caplog):
    paths = [tmp_path / name for name in "frFR"]
    paths[0].write_text("old" * 10_000)
    words = [word for path in paths for word in (f"-{path.name}", path)]
    run(*TEXT, *words, "-q", "-m3", "-n", 3, "-N", 0.2, "-1", 5, "-2", 5, "-3", 20)
    assert [x.message for x in caplog.records] == ["options that change nothing here: -1 -2 -3"]
    found = [path.read_text().splitlines() for path in paths]
    assert [len(lines) for lines in found] == [60] * 4
    lengths = [
        [int(line.split()[0]) for line in Path(path).read_text().splitlines()[1:]] for path in TEXT[1::2]
    ]
    for n in range(60):
        for k, lines in ((1, found[0]), (0, found[1])):
            links = [tuple(map(int, link.split("-"))) for link in lines[n].split()]
            assert all(i < lengths[0][n] and j < lengths[1][n] for i, j in links)
            generated = [link[k] for link in links]
            assert generated == sorted(set(generated))
    assert sum(len(line.split()) for line in found[0]) > 400


@pytest.mark.parametrize("model", [1, 2, 3])
def test_equal_numbers_are_not_equal_words(tmp_path, model):
    """Word 0 of one side is not spelled like word 0 of the other: other numbers give the same links."""
    src = "".join(f"2 {2 * n} {2 * n + 1}\n" for n in range(10))
    found = []
    for first, second in ((1, 0), (0, 1)):
        tgt = "".join(f"2 {2 * n + first} {2 * n + second}\n" for n in range(10))
        run("-m", model, "-f", tmp_path / "f", "-q", stdin=f"10 20\n{src}10 20\n{tgt}")
        found.append((tmp_path / "f").read_text())
    assert found[0] == found[1]


def test_both_texts_may_come_from_stdin(tmp_path):
    run("-m", 1, "-f", tmp_path / "f", "-F", tmp_path / "F", "-q", stdin=FIRST + SECOND)
    assert (tmp_path / "f").read_text().split("\n")[1] == ""
    assert (tmp_path / "F").read_text().split("\n")[1] == "-0"  # as eflomal writes it


def test_priors_of_numbers(write, tmp_path):
    """Word 1 of the priors is word 0 of the text; 0 is NULL."""
    priors = write("priors", "3 4 2 1 1 1 1\n1 3 40\n0 1 2\n1 3\n1 3\n1 1 2\n3 1 2\n")
    words = ["-m", 1, "-F", tmp_path / "F", "-q", "-s", write("s", FIRST), "-t", write("t", SECOND)]
    run(*words)
    without = (tmp_path / "F").read_text()
    run(*words, "-p", priors)
    with_priors = (tmp_path / "F").read_text()
    assert float(with_priors.split("\n")[0]) < float(without.split("\n")[0])
    run(*words[:5], "-p", "-", stdin=FIRST + SECOND + Path(priors).read_text())
    assert (tmp_path / "F").read_text() == with_priors
    wrong = write("wrong", "3 4 2 0 0 0 0\n1 3 40\n1 3\n")
    assert "wrong:3: 3 numbers are wanted here" in run(*words, "-p", wrong, code=1).stderr
    more = write("more", "2 2 1 0 0 0 0\n1 1 1\n\n1 2 1\n")
    assert "more:3: more lines than the 1 that the first line tells" in run(*words, "-p", more, code=1).stderr
    wrong = write("wrong", "3 4 1 0 0 0 0\n1 3 many\n")
    assert "wrong:2: the count 'many'" in run(*words, "-p", wrong, code=1).stderr


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "text:1: 2 whole numbers are wanted here"),
        ("3\n", "text:1: 2 whole numbers are wanted here"),
        ("2 2\n1 0\n", "text:2: the first line tells of 2 sentences"),
        ("1 2\n2 0\n", "text:2: a line must have the number of its words"),
        ("2 2\n0\n\n", "text:3: a line must have the number of its words"),
        ("1 2\n1 2\n", "text:2: the number of a word must be between 0 and 1"),
        ("1 2\n1 -1\n", "text:2: the number of a word must be between 0 and 1"),
        (f"1 2\n1 {9:05000}\n", "text:2: the number of a word must be between 0 and 1"),
        (f"{10**20} 2\n1 0\n", "text:1: 2 whole numbers are wanted here"),
        (f"{9:05000} 2\n1 0\n", "text:1: 2 whole numbers are wanted here"),
    ],
)
def test_wrong_text_is_refused(write, text, message):
    words = ["-s", write("text", text), *TEXT[2:], "-m", 3]
    assert message in run(*words, code=1).stderr


def test_usage_exits_with_1_as_in_the_original():
    assert "Usage: " in run(*TEXT, code=1).stderr
    assert "Usage: " in run("-h", code=1).stderr
    assert "there is no model 4" in run(*TEXT, "-m", 4, code=1).stderr
    assert "there is no model 0" in run(*TEXT, "-m", 3, "-M", 0, code=1).stderr
    assert (
        "the source has 3 sentences, the target has 60"
        in run("-s", "-", *TEXT[2:], "-m", 3, code=1, stdin=FIRST).stderr
    )


def test_links_do_not_replace_what_is_read(write):
    text = write("text", FIRST)
    assert "which is read" in run("-s", text, "-t", text, "-m", 3, "-f", text, code=2).stderr
    assert Path(text).read_text() == FIRST
