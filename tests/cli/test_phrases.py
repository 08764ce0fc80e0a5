"""aligner phrases, and evaluate --phrases."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from conftest import ROOT
from programs import run

GOLDEN = ROOT / "tests" / "uses" / "golden"
SYMMETRIZED = ROOT / "tests" / "links" / "golden" / "sample.symal.grow-diag-final-and"


@pytest.fixture
def sample(data, write) -> list[str]:
    """The text and the links that the originals were given."""
    files = ("en", data / "sample.en"), ("fr", data / "sample.fr"), ("links", SYMMETRIZED)
    return [write(name, b"".join(path.read_bytes().splitlines(keepends=True)[:10])) for name, path in files]


def golden(name: str, in_order: bool = False) -> bytes:
    text = (GOLDEN / name).read_bytes()
    return b"".join(sorted(text.splitlines(keepends=True))) if in_order else text


def test_files_of_moses(blocks, sample, tmp_path):
    """Under the names that Moses has for them, sorted and compressed or not."""
    options = ["--max-length", 4, "--inverse", "--orientation", "wbe-msd"]
    run("phrases", *sample, *options, "-o", tmp_path / "extract")
    run("phrases", *sample, *options, "--sort", "--memory", "1K", "-o", tmp_path / "extract.sorted.gz")
    for part, name in (("", "extract"), (".inv", "extract.inv"), (".o", "wbe-msd.o")):
        assert (tmp_path / f"extract{part}").read_bytes() == golden(f"sample.{name}")
        packed = (tmp_path / f"extract{part}.sorted.gz").read_bytes()
        assert gzip.decompress(packed) == golden(f"sample.{name}", in_order=True)


def test_results_on_stdout(blocks, sample):
    short = ["--max-length", 4]
    assert run("phrases", *sample, *short).stdout_bytes == golden("sample.extract")
    assert run("phrases", *sample, *short, "--sort").stdout_bytes == golden("sample.extract", in_order=True)
    assert run("phrases", *sample, *short, "--table").stdout_bytes == golden("sample.table")
    lines = run("phrases", *sample, *short, "--stats", "--memory", "1K").stdout.splitlines()
    assert lines[1].split() == ["phrase", "pairs", str(golden("sample.extract").count(b"\n"))]


def test_stdin_and_compressed_text(sample, write):
    src, tgt, links = sample
    packed = write("fr.gz", gzip.compress(Path(tgt).read_bytes()))
    for files, stdin in (((src, packed, "-"), links), (("-", tgt, links), src)):
        result = run("phrases", *files, "--max-length", 4, "--table", stdin=Path(stdin).read_bytes())
        assert result.stdout_bytes == golden("sample.table")


def test_other_formats_of_links(write):
    text = write("src", "a b\n\n\nc\n"), write("tgt", "x y\n\n\nz\n")
    expected = "a ||| x ||| 0-0\na b ||| x y ||| 0-0 1-1\nb ||| y ||| 0-0\nc ||| z ||| 0-0\n"
    for links in (
        "0-0 1-1\n\n\n0-0\n",
        "0-0:0.5 1-1:1\n\n\n0-0:1\n",
        "0-0 1?1\n\n\n0-0\n",
        "1 1 1\n1 2 2\n4 1 1\n",
        "0\t0-0 1-1\n1\t\n2\t\n3\t0-0\n",
    ):
        assert run("phrases", *text, write("links", links)).stdout == expected
    assert run("phrases", *text, write("links", "1-1 2-2\n\n\n1-1\n"), "--base", 1).stdout == expected
    assert run("phrases", *text, write("links", "1 1 1\n1 2 2\n")).stdout == expected.removesuffix(
        "c ||| z ||| 0-0\n"
    )


def test_nothing_in_nothing_out(write):
    for text, links in (("", ""), ("\n", "\n"), ("a\n", "\n")):
        files = write("src", text), write("tgt", text), write("links", links)
        for option in ([], ["--sort"], ["--table"]):
            assert run("phrases", *files, *option).stdout == ""
        assert run("phrases", *files, "--stats").stdout.splitlines()[1].split() == ["phrase", "pairs", "0"]


@pytest.mark.parametrize("option", [[], ["--sort"], ["--table"], ["--stats"]])
@pytest.mark.parametrize(
    "src, tgt, links, message",
    [
        (
            "a\nb\n",
            "x\ny\n",
            "0-0\n0-1\n",
            "links:2: link 0-1 of sentence 2 is outside its pair of 1 and 1 words",
        ),
        ("a\nb\n", "x\n", "0-0\n0-0\n", "tgt has 1 lines, {}/src has more; text and links must match"),
        ("a\n", "x\n", "0-0\n\n", "src has 1 lines, {}/links has more"),
        ("a\nb\n", "x\ny\n", "0-0\n", "links has 1 lines, {}/src has more"),
        ("a\n", "x\n", "0-x\n", "links:1:3: a position was expected"),
        (
            "a\na\nb ||| c\n",
            "x\nx\ny\n",
            "\n\n\n",
            "src:3: the word ||| separates the fields of phrase pairs; escape it",
        ),
        ("a\n", "|||\n", "0-0\n", "tgt:1: the word ||| separates the fields of phrase pairs"),
        (b"a\n\xff\n", "x\ny\n", "\n\n", "src:2:1: invalid UTF-8"),
        ("a\n", "x\n", "1-1\n", "the links look 1-based, so give their base: --base 1"),
    ],
)
def test_bad_input_is_refused(blocks, write, tmp_path, option, src, tgt, links, message):
    """With file, line and cure. No file is written."""
    files = write("src", src), write("tgt", tgt), write("links", links)
    result = run("phrases", *files, *option, "-o", tmp_path / "out", code=1)
    assert message.format(tmp_path) in result.stderr
    assert sorted(os.listdir(tmp_path)) == ["links", "src", "tgt"]


def test_long_sentence_pairs(blocks, write, tmp_path, monkeypatch):
    """Of which a model would need too much memory are refused. Others do without."""
    monkeypatch.setattr("aligner.uses.phrases.MOST_CELLS", 3)
    files = write("src", "a\na\nb c\n"), write("tgt", "x\nx\ny z\n"), write("links", "\n\n0-0\n")
    result = run("phrases", *files, "--orientation", "hier-msd", "-o", tmp_path / "out", code=1)
    assert "src:3: a sentence pair of 2 x 2 words is too long for hier-msd; leave it out" in result.stderr
    run("phrases", *files, "--orientation", "wbe-msd", "-o", tmp_path / "out")


def test_usage(sample, tmp_path, write):
    for words, message in (
        (["--inverse"], "--inverse and --orientation need -o OUT"),
        (["--table", "--stats"], "--table and --stats exclude each other"),
        (["--table", "--sort"], "--table and --stats exclude each other, and --sort"),
        (["--orientation", "wbe"], "Invalid value for '--orientation'"),
        (
            ["--orientation", "wbe-msd", "--orientation", "hier-msd", "-o", "x"],
            "--orientation wbe goes alone",
        ),
        (["--max-length", 0], "Invalid value for '--max-length'"),
        (["--memory", "much"], "'much' is no size"),
        (["-o", sample[0]], "which is read"),
    ):
        assert message in run("phrases", *sample, *words, code=2).stderr
    assert "only one file can be -" in run("phrases", "-", "-", sample[2], code=2).stderr
    there = write("out.o", "old")
    words = "--orientation", "wbe-msd", "-o", tmp_path / "out"
    assert "out.o: the file exists" in run("phrases", *sample, *words, code=1).stderr
    assert Path(there).read_text() == "old" and not (tmp_path / "out").exists()
    run("phrases", *sample, *words, "--overwrite")
    assert Path(there).read_text() != "old"


def test_evaluate_phrases(write):
    text = write("src", "a b\nc\n"), write("tgt", "x y\nz\n")
    hyp, gold = write("hyp", "0-0 1-1\n\n"), write("gold", "0-0 1?1\n0-0\n")
    asked = [hyp, gold, "--phrases", "--text", *text]
    shown = run("evaluate", *asked).stdout
    rows = {line[:16].strip(): line[16:].split()[0] for line in shown.splitlines() if "phrase" in line[:16]}
    assert rows == {
        "phrase precision": "66.67",
        "phrase recall": "40.00",
        "phrase F1": "50.00",
        "phrase pairs": "3",
    }
    assert "|phrases:7|" in shown
    found = json.loads(run("evaluate", *asked, "--json", "--by-sentence", "--bootstrap", 0).stdout)
    one = found["hypotheses"][0]["phrases"]
    assert one["counts"] == {"phrases": 3, "gold_phrases": 5, "shared_phrases": 2} and one["intervals"] == {}
    assert [row["gold_phrases"] for row in found["hypotheses"][0]["sentences"]] == [4, 1]
    lines = run("evaluate", *asked, "--by-sentence", "--max-length", 1).stdout.splitlines()
    table = [dict(zip(lines[0].split("\t"), line.split("\t"), strict=True)) for line in lines[1:-1]]
    assert [row["shared_phrases"] for row in table] == ["1", "0", "1"]
    assert [row["phrase precision"] for row in table] == ["50.00", "100.00", "50.00"]
    assert "|phrases:1|" in lines[-1]
    assert "--phrases needs --text" in run("evaluate", hyp, gold, "--phrases", code=2).stderr
    assert "--max-length is for --phrases" in run("evaluate", hyp, gold, "--max-length", 3, code=2).stderr
    two = run("evaluate", hyp, gold, hyp, "--phrases", "--text", *text, "--by-sentence").stdout.splitlines()
    assert len({len(line.split("\t")) for line in two[:-1]}) == 1
