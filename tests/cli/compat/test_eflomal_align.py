"""The program eflomal-align: its options, its refusals, its files."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import programs
import pytest
from conftest import ROOT

from aligner.compat import eflomal

SAMPLE = [str(ROOT / "data" / f"sample.{side}") for side in ("en", "fr")]


run = partial(programs.run, "eflomal-align")


@pytest.fixture(scope="module")
def wanted(tmp_path_factory) -> list[str]:
    """Links and scores of the sample, forward and reverse, by the Python interface."""
    paths = [tmp_path_factory.mktemp("wanted") / name for name in "frFR"]
    with open(SAMPLE[0]) as src, open(SAMPLE[1]) as tgt:
        eflomal.Aligner().align(src, tgt, *map(str, paths))
    return [path.read_text() for path in paths]


def outputs(folder, *options: str) -> list[str]:
    return [word for option in options for word in (option, str(folder / option.strip("-")))]


def test_two_files_are_aligned(tmp_path, wanted):
    result = run("-s", SAMPLE[0], "-t", SAMPLE[1], *outputs(tmp_path, "-f", "-r", "-F", "-R"))
    assert result.output == ""
    assert [(tmp_path / name).read_text() for name in "frFR"] == wanted
    assert [text.count("\n") for text in wanted] == [60] * 4


def test_long_options_may_be_cut_short(tmp_path, wanted):
    names = {"--forward-l": "f", "--reverse-l": "r"}
    words = [word for option, name in names.items() for word in (option, tmp_path / name)]
    words += [f"--target={SAMPLE[1]}", "--n-samp", 1, "--model=3"]
    run("--sou", SAMPLE[0], *words, code=2)  # or --source-prefix
    run("--source", SAMPLE[0], *words)
    assert [(tmp_path / name).read_text() for name in "fr"] == wanted[:2]


@pytest.mark.parametrize("stdin", [False, True])
def test_a_joint_file_is_aligned(tmp_path, wanted, write, stdin):
    sides = [Path(path).read_text().splitlines() for path in SAMPLE]
    text = "".join(f"{src} ||| {tgt}\n" for src, tgt in zip(*sides, strict=True))
    path = "-" if stdin else write("joint", text)
    run("-i", path, *outputs(tmp_path, "-f"), stdin=text if stdin else None)
    assert (tmp_path / "f").read_text() == wanted[0]


def test_existing_links_are_refused_without_overwrite(tmp_path, wanted):
    (tmp_path / "r").write_text("old")
    words = ["-s", SAMPLE[0], "-t", SAMPLE[1], *outputs(tmp_path, "-f", "-r")]
    assert "exists, will not overwrite!" in run(*words, code=1).output
    assert (tmp_path / "r").read_text() == "old" and not (tmp_path / "f").exists()
    with open(tmp_path / "r") as held:
        run(*words, "--overwrite")
        assert held.read() == wanted[1]  # the same file, written in place


def test_existing_scores_are_overwritten(tmp_path, wanted):
    (tmp_path / "F").write_text("old" * 1000)
    run("-s", SAMPLE[0], "-t", SAMPLE[1], *outputs(tmp_path, "-F"))
    assert (tmp_path / "F").read_text() == wanted[2]


@pytest.mark.parametrize(
    "words, message",
    [
        ((), "need to specify either -s and -t, or -i"),
        (("-s", SAMPLE[0]), "need to specify either -s and -t, or -i"),
        (("-s", SAMPLE[0], "-t", "missing"), "input file missing does not exist!"),
        (("-i", "missing"), "input file missing does not exist!"),
        (("-i", SAMPLE[0]), "sample.en:1: the line is not `source ||| target`"),
        (("-s", "-", "-t", "-"), "stdin cannot be both sides"),
        (("-i", "-", "-p", "-"), "stdin cannot be both text and priors"),
        (("-s", SAMPLE[0], "-t", "-", "-p", "-"), "stdin cannot be both text and priors"),
        (("-s", SAMPLE[0], "-t", SAMPLE[1], "-f", "missing/links"), "missing: no such folder"),
        (("-s", SAMPLE[0], "-t", SAMPLE[1], "-p", SAMPLE[0]), "sample.en:1: not a line of eflomal's priors"),
    ],
)
def test_refusals_exit_with_1(words, message):
    assert message in run(*words, code=1).stderr


def test_outputs_replace_nothing_that_is_read(write):
    src, tgt = write("src", "a\n"), write("tgt", "x\n")
    assert "which is read" in run("-s", src, "-t", tgt, "-f", src, "--overwrite", code=2).stderr
    assert "which is read" in run("-s", src, "-t", tgt, "-F", tgt, code=2).stderr
    assert (Path(src).read_text(), Path(tgt).read_text()) == ("a\n", "x\n")


def test_text_that_does_not_match_is_refused(write, tmp_path):
    words = ["-s", write("src", "a\nb\n"), "-t", write("tgt", "x\n"), *outputs(tmp_path, "-f")]
    assert f"{words[1]} has 2 sentences, {words[3]} has 1;" in run(*words, code=1).stderr
    words[1] = write("src", b"a\n\xe9\n")
    error = run(*words, code=1).stderr
    assert "src:2:1: invalid UTF-8" in error and "convert the text to UTF-8" in error
    assert not (tmp_path / "f").exists()


def test_options_that_change_nothing_are_named_in_one_line(tmp_path, wanted, caplog):
    words = ["-s", SAMPLE[0], "-t", SAMPLE[1], *outputs(tmp_path, "-f")]
    run(*words, "-l", "0.5", "-1", 3, "-2", 4, "-3", 5, "--debug")
    assert (tmp_path / "f").read_text() == wanted[0]
    assert [x.message for x in caplog.records] == ["options that change nothing here: -l -1 -2 -3 --debug"]


def test_verbose_tells_of_training(tmp_path):
    words = ["-s", SAMPLE[0], "-t", SAMPLE[1], *outputs(tmp_path, "-f"), "--overwrite"]
    assert "perplexity" in run(*words, "-v").stderr
    assert run(*words).stderr == ""


def test_it_starts_quickly():
    """No module that is slow to load comes with the command line of the program."""
    code = "import sys; from aligner.cli.compat import eflomal_align; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"scipy", "pandas", "tqdm", "xopen", "multiprocessing"} & set(eval(done.stdout))
