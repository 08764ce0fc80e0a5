"""The programs fast-align and force-align, compared with transcripts of fast_align (golden/fast_align)."""

from __future__ import annotations

import math
import os
import re
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import programs
import pytest
from conftest import ROOT
from trained import generated, run

from aligner import Links, Recipe
from aligner.training import cache
from aligner.training.cache import trained

GOLDEN = programs.GOLDEN / "fast_align"
LINES = [
    f"{src} ||| {tgt}\n"
    for src, tgt in zip(
        *((ROOT / "data" / f"sample.{side}").read_text().splitlines() for side in ("en", "fr")), strict=True
    )
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """Where models of these tests are kept, so that each text is trained on once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(kept, monkeypatch) -> None:
    monkeypatch.setenv("ALIGNER_CACHE", str(kept))


@pytest.fixture(scope="module")
def both(tmp_path_factory) -> str:
    """The generated corpus as lines `source ||| target`."""
    path = tmp_path_factory.mktemp("text") / "both"
    sides = ((ROOT / "data" / f"generated.{side}").read_text().splitlines() for side in ("src", "tgt"))
    path.write_text("".join(f"{src} ||| {tgt}\n" for src, tgt in list(zip(*sides, strict=True))[:300]))
    return str(path)


@pytest.fixture
def new(write) -> str:
    """The lines that the transcripts have forced links of."""
    return write("new", "".join(LINES[20:40]))


def golden(name: str) -> str:
    return (GOLDEN / name).read_text()


def pairs(text: str) -> list[list[tuple[int, int]]]:
    """The links of each line."""
    return [[(int(i), int(j)) for i, j in re.findall(r"(\d+)-(\d+)", line)] for line in text.splitlines()]


def tension(errors: str) -> float:
    return float(re.findall(r"final tension: ([\d.]+)", errors)[-1])


def test_links_are_one_each_in_the_order_of_generated_words(both, folder):
    forward, reverse = (pairs(run("fast-align", "-i", both, *more)) for more in ([], ["-r"]))
    corpus = generated().part(0, 300)
    kept = trained(corpus, Recipe.of())
    assert forward == Links.joined(kept.one_each(corpus, "forward")).pairs()
    assert reverse == Links.joined(kept.one_each(corpus, "reverse")).pairs()
    assert forward != reverse and sum(map(len, forward)) > 2000
    for line in forward:
        assert [j for _, j in line] == sorted({j for _, j in line})
    for line in reverse:
        assert [i for i, _ in line] == sorted({i for i, _ in line})


def test_both_directions_and_swapped_sides_are_trained_once(both, write, tmp_path, monkeypatch):
    monkeypatch.setenv("ALIGNER_CACHE", str(tmp_path / "cache"))
    trainings, learn = [], cache.learn
    monkeypatch.setattr(cache, "learn", lambda *x, **y: trainings.append(1) or learn(*x, **y))
    swapped = "".join(
        " ||| ".join(reversed(line.split(" ||| "))) + "\n" for line in Path(both).read_text().splitlines()
    )
    forward = run("fast-align", "-i", both, "-dov")
    reverse = run("fast-align", "-i", both, "-dovr")
    turned = run("fast-align", "-i", write("swapped", swapped), "-dov")
    assert len(trainings) == 1
    assert pairs(turned) == [[(j, i) for i, j in line] for line in pairs(reverse)]
    assert run("fast-align", "-i", both, "-dov", "--no-cache") == forward
    assert len(trainings) == 2


def test_options_are_written_as_getopt_takes_them(both, folder):
    reverse = run("fast-align", "-i", both, "-r")
    for words in (
        ["-vodri", both],
        ["--input=" + both, "--reverse"],
        ["--in", both, "--rev", "--opt", "--fav", "--var", "--iter=3", "--no_n"],
        [*"-r -I3 -q 0.1 -a0.1 -T 4 -b 100 -m 1.0 -t -100000".split(), "-i" + both],
    ):
        assert run("fast-align", *words) == reverse
    assert "No such option" in run("fast-align", "-i", both, "--no", code=2)  # of a word, or of a cache


def test_one_line_names_the_options_that_change_nothing(both, folder, caplog):
    run("fast-align", "-i", both)
    assert caplog.messages == []
    run("fast-align", "-vodi", both, "-I", "3")
    assert caplog.messages == ["options that change nothing here: -d -v -I"]


def test_text_comes_from_stdin_too(both, folder):
    assert run("fast-align", "-i", "-", stdin=Path(both).read_text()) == run("fast-align", "-i", both)


def test_lines_that_lack_a_side_are_told_and_have_no_links(folder):
    result = programs.run("fast-align", "-i", GOLDEN / "odd.text")
    lines = result.stdout.split("\n")
    assert golden("odd.err") in result.stderr
    assert len(lines) == 11 + 1
    assert {n + 1 for n, line in enumerate(lines) if line} <= {1, 5, 6, 11}
    assert lines[0] == lines[4] == "0-0 1-1"


def test_nothing_comes_of_nothing(folder, write):
    result = programs.run("fast-align", "-i", write("empty", ""), "-d", "-o")
    assert result.stdout == ""
    assert "expected target length = source length * 1\n" in result.stderr
    assert tension(result.stderr) == 4


def test_no_such_text_is_an_error():
    assert "No such file or directory" in run("fast-align", "-i", "nowhere", code=1)
    assert "Missing option '-i'" in run("fast-align", code=2)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_stderr_has_what_other_programs_read(direction, write, folder):
    """Moses' fast-align-in-parts.perl takes each third tension, as five iterations print three."""
    more = ["-r"] if direction == "reverse" else []
    told = programs.run(
        "fast-align", "-i", write("text", "".join(LINES[:20])), "-d", "-o", "-v", *more
    ).stderr
    ratio = re.compile(r"^expected target length = source length \* ([\d.]+)$", re.M)
    assert ratio.findall(told) == ratio.findall(golden(f"{direction}.err"))
    assert len(re.findall(r"^     final tension: [\d.]+$", told, re.M)) == 3
    assert 0.1 <= tension(told) <= 14
    iterations = re.compile(r"^ITERATION .*$", re.M)
    assert iterations.findall(told) == iterations.findall(golden(f"{direction}.err"))
    assert "tension" not in programs.run("fast-align", "-i", write("text", LINES[0]), "-d").stderr


@pytest.mark.parametrize(
    ("transcript", "options"),
    [
        ("forward", ["-d", "-T", "7.86652", "-m", "1.20158"]),
        ("reverse", ["-d", "-T", "10.5645", "-m", "0.862316", "-r"]),
        ("uniform", ["-N"]),
    ],
)
def test_a_table_alone_gives_what_fast_align_gives(transcript, options, new):
    table = GOLDEN / ("reverse.table" if transcript == "reverse" else "forward.table")
    result = programs.run("fast-align", "-i", new, "-f", table, *options)
    assert result.stdout == golden(f"forced.{transcript}")
    total = sum(float(line.rsplit(" ", 1)[1]) for line in result.stdout.splitlines())
    assert f"Loaded {len(table.read_text().splitlines())} translation parameters.\n" in result.stderr
    assert float(result.stderr.split()[-1]) == pytest.approx(total, rel=1e-5)


def test_a_table_alone_cuts_lines_as_fast_align_does():
    text = "x y ||| z ||| w\tv\nein Buch\tthe  book\t\n"
    found = run("fast-align", "-i", "-", "-f", GOLDEN / "forward.table", stdin=text)
    assert found == golden("odd.forced")


def test_forced_lines_that_lack_a_side_have_no_links():
    found = programs.run(
        "fast-align", "-i", "-", "-f", GOLDEN / "forward.table", "-N", stdin="a\n\na ||| b\n||| b c\n"
    )
    assert [line.split("|||")[2].strip() for line in found.stdout.splitlines()] == ["", "", "0-0", ""]
    assert re.findall(r"Error in line \d", found.stderr) == [f"Error in line {n}" for n in (1, 2, 4)]


def test_a_damaged_table_is_refused(write):
    table = write("table", "a b -1\na b\n")
    assert f"{table}:2: the line is not" in run("fast-align", "-i", "-", "-f", table, code=1)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_the_table_has_probabilities_of_generated_words(direction, both, folder, tmp_path):
    more = ["-r"] if direction == "reverse" else []
    path = tmp_path / "table"
    run("fast-align", "-i", both, "-p", path, "-t", "-100000", *more)
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    total: dict[str, float] = {}
    for given, _, log_p in rows:
        total[given] = total.get(given, 0) + math.exp(float(log_p))
    np.testing.assert_allclose(list(total.values()), 1, rtol=1e-4)
    sides = [side.split() for line in Path(both).read_text().splitlines() for side in line.split(" ||| ")]
    src, tgt = ({word for side in sides[k::2] for word in side} for k in range(2))
    given, words = (src, tgt) if direction == "forward" else (tgt, src)
    assert {f for _, f, _ in rows} == words
    assert {e for e, _, _ in rows} <= given | {"<eps>"} and "<eps>" in total
    best = {e: max(float(p) for word, _, p in rows if word == e) for e in ("<eps>", next(iter(given)))}
    run("fast-align", "-i", both, "-p", path, *more)  # what is below the fourth power of the best is left out
    few = [line.split("\t") for line in path.read_text().splitlines()]
    for e, p in best.items():
        wanted = {f for word, f, x in rows if word == e and float(x) >= 4 * p}
        assert {f for word, f, _ in few if word == e} == wanted


def test_the_table_is_written_into_the_file_that_is_there(both, folder, tmp_path):
    path = tmp_path / "table"
    path.write_text("what was there " * 300_000)
    with path.open() as held:
        run("fast-align", "-i", both, "-p", path)
        assert held.read() == path.read_text()
    assert "what was there" not in path.read_text()
    assert (
        "conditional probabilities: /dev/null"
        in programs.run("fast-align", "-i", both, "-p", "/dev/null").stderr
    )
    assert not os.path.exists("/dev/null.model")


@pytest.mark.parametrize("swapped", [False, True])
def test_the_model_beside_a_table_gives_the_links_of_training(swapped, both, folder, tmp_path):
    table = tmp_path / "table"
    lines = [line.split(" ||| ") for line in Path(both).read_text().splitlines()]
    text = "".join(" ||| ".join(line[::-1] if swapped else line) + "\n" for line in lines)
    trained_links = run("fast-align", "-i", "-", "-p", table, "-s", stdin=text).splitlines()
    ratio = np.mean(
        [
            len(line.split(" ||| ")[1].split()) / len(line.split(" ||| ")[0].split())
            for line in text.splitlines()
        ]
    )
    forced = run("fast-align", "-i", "-", "-f", table, "-m", ratio, stdin=text).splitlines()
    for line, found, links in zip(text.splitlines(), forced, trained_links, strict=True):
        assert found.startswith(line + " |||")
        assert found.removeprefix(line + " ||| ").removeprefix("||| ") == links.removeprefix(" ||| ")
    reverse = run("fast-align", "-i", "-", "-r", stdin=text)
    forced = run("fast-align", "-i", "-", "-f", table, "-r", stdin=text)
    assert [line.split("|||")[2].strip() for line in forced.splitlines()] == reverse.splitlines()


def test_a_table_that_was_changed_counts_by_itself(both, folder, tmp_path, new, caplog):
    table = tmp_path / "table"
    run("fast-align", "-i", both, "-p", table)
    table.write_text(golden("forward.table"))
    options = ["-d", "-T", "7.86652", "-m", "1.20158"]
    assert run("fast-align", "-i", new, "-f", table, *options) == golden("forced.forward")
    assert caplog.messages == [f"{table}.model is not the model of this table; the table alone is used"]
    table.with_suffix(".model").write_bytes(b"aligner")
    assert run("fast-align", "-i", new, "-f", table, *options) == golden("forced.forward")
    assert "the table alone is used" in caplog.messages[1]


def test_scores_are_of_generated_words_and_lengths(both, folder):
    lines = run("fast-align", "-i", both, "-s").splitlines()
    links = run("fast-align", "-i", both).splitlines()
    assert [line.split(" ||| ")[0] for line in lines] == links
    scores = np.array([float(line.split(" ||| ")[1]) for line in lines])
    reverse = [float(line.split(" ||| ")[1]) for line in run("fast-align", "-i", both, "-sr").splitlines()]
    assert (scores < 0).all() and not np.allclose(scores, reverse, rtol=0.1)
    swapped = [" ||| ".join(line.split(" ||| ")[::-1]) for line in Path(both).read_text().splitlines()]
    turned = run("fast-align", "-i", "-", "-s", stdin="\n".join(swapped)).splitlines()
    assert [float(line.split(" ||| ")[1]) for line in turned] == reverse
    words = [len(line.split(" ||| ")[1].split()) for line in Path(both).read_text().splitlines()]
    assert np.corrcoef(scores, words)[0, 1] < -0.8  # each word costs


def test_lines_of_a_pipe_are_answered_as_they_come(new):
    words = [sys.executable, "-m", "aligner", "fast-align", "-i", "-", "-f", GOLDEN / "forward.table"]
    words += ["-d", "-T", "7.86652", "-m", "1.20158"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    with subprocess.Popen(words, **streams, text=True, bufsize=1, env=buffered) as process:
        assert process.stdin is not None and process.stdout is not None
        answers = []
        for line in LINES[20:24]:
            process.stdin.write(line)
            assert select.select([process.stdout], [], [], 30)[0], "no answer"
            answers.append(process.stdout.readline())
        process.stdin.close()
    assert answers == golden("forced.forward").splitlines(keepends=True)[:4]


@pytest.mark.parametrize("heuristic", ["grow-diag-final-and", "intersect"])
def test_force_align_gives_what_force_align_py_gives(heuristic):
    files = [
        GOLDEN / f"{direction}.{kind}" for direction in ("forward", "reverse") for kind in ("table", "err")
    ]
    more = [] if heuristic == "grow-diag-final-and" else [heuristic]
    found = run("force-align", *files, *more, stdin="".join(LINES[20:40]))
    assert found == golden(f"forced.{heuristic}")


def test_force_align_takes_the_models_beside_tables(both, folder, tmp_path):
    tables = [tmp_path / "forward", tmp_path / "reverse"]
    links = []
    for table, more in zip(tables, ([], ["-r"]), strict=True):
        links.append(run("fast-align", "-i", both, "-p", table, *more))
        table.with_suffix(".links").write_text(links[-1])
    text = Path(both).read_text() + "no target\n"
    found = run("force-align", tables[0], "/dev/null", tables[1], "/dev/null", stdin=text)
    files = [table.with_suffix(".links") for table in tables]
    assert found == run("symmetrize", *files, "--variant", "atools") + "\n"


@pytest.mark.parametrize("tension", ["1e-18", "1e5", "nan"])
def test_a_tension_that_cannot_be_computed_with_is_refused(tension):
    words = ["-i", "-", "-f", GOLDEN / "forward.table", "-T", tension]
    assert "'-T'" in run("fast-align", *words, stdin="a b c ||| x y z w\n", code=2)


def test_force_align_needs_a_tension_for_tables_alone(tmp_path):
    for told in ("", *(f"     final tension:{x}\n" for x in (" nan", "", " 1e5"))):
        errors = tmp_path / "errors"
        errors.write_text(told)
        files = [GOLDEN / "forward.table", errors, GOLDEN / "reverse.table", errors]
        assert f"{errors}: no line tells the final tension" in run("force-align", *files, code=1)


@pytest.mark.parametrize("line", ["a x", "a x one", "a x nan", "a x inf", "a x 1000"])
def test_a_wrong_line_of_a_table_is_refused(write, line):
    table = write("table", f"a x -0.1\n{line}\n")
    message = run("fast-align", "-i", "-", "-f", table, stdin="a ||| x\n", code=1)
    assert f"{table}:2: the line is not `word word log-probability`" in message


def test_text_and_tables_may_be_latin1(write, caplog):
    words = [f"\u00e9t\u00e9{n}" for n in range(3)]
    table = write("table", "".join(f"{word} {word} -0.1\n" for word in words).encode("latin-1"))
    text = write("text", f"{' '.join(words)} ||| {' '.join(reversed(words))}\n".encode("latin-1"))
    assert pairs(run("fast-align", "-i", text, "-f", table)) == [[(2, 0), (1, 1), (0, 2)]]
    assert [message.split(": ")[0] for message in caplog.messages] == [table, text]


def test_the_table_does_not_replace_the_text(both, folder):
    before = Path(both).read_text()
    assert "which is read" in run("fast-align", "-i", both, "-p", both, code=2)
    assert Path(both).read_text() == before


@pytest.mark.parametrize("words", [("-q", "nan"), ("-m", "nan"), ("-m", "inf"), ("-t", "nan")])
def test_numbers_are_finite(words, new):
    """Links and scores of other numbers mean nothing."""
    assert "is not a number" in run("fast-align", "-i", new, "-f", GOLDEN / "forward.table", *words, code=2)


def test_a_table_that_is_a_folder_costs_no_training(both, folder, tmp_path):
    error = run("fast-align", "-i", both, "-p", tmp_path, code=1)
    assert f"{tmp_path}: Is a directory" in error and "INITIAL PASS" not in error


def test_a_closed_stdout_costs_no_training(both):
    words = f"exec {sys.executable} -m aligner fast-align -i {both} >&-"
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "aligner: stdout is closed\n")


def test_a_model_that_cannot_be_written_costs_no_table(both, folder, tmp_path, caplog):
    model = tmp_path / "table.model"
    model.mkdir()
    run("fast-align", "-i", both, "-p", tmp_path / "table")
    assert (tmp_path / "table").read_text()
    assert caplog.messages == [f"the model beside the table cannot be written: {model}: Is a directory"]
