"""GIZA++ and mgiza: their parameters, their files, and the links of our models in them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from programs import GOLDEN, run

from aligner import Corpus, LinkReader, Recipe
from aligner.cli.compat import PROGRAMS
from aligner.cli.compat.giza_parameters import Parameters
from aligner.compat import giza
from aligner.text.giza import read_snt, read_vcb
from aligner.training import cache

FOLDER = GOLDEN / "train-model" / "corpus"
FILES = ["-c", FOLDER / "fr-en-int-train.snt", "-s", FOLDER / "en.vcb", "-t", FOLDER / "fr.vcb"]
# as train-model.perl calls GIZA++
MOSES = (
    "-m1 5 -m2 0 -m3 3 -m4 3 -model1dumpfrequency 1 -model4smoothfactor 0.4 -nodumps 1 -nsmooth 4"
    " -onlyaldumps 1 -p0 0.999 -CoocurrenceFile nowhere"
).split()


@pytest.fixture
def corpus():
    """The text of FILES: the source is English, which generates French."""
    return read_snt(str(FILES[1]), read_vcb(str(FILES[3])), read_vcb(str(FILES[5])))


def links_of(path: Path, corpus) -> list[list[tuple[int, int]]]:
    return [sorted(links) for links in LinkReader(str(path), "a3", text=corpus).read()]


def expected(corpus, model: str = "loo") -> list[list[tuple[int, int]]]:
    kept = cache.trained(corpus, Recipe.of(model))
    return [sorted(links) for block in kept.one_each(corpus, "forward") for links in block]


def test_a_call_of_moses(corpus, tmp_path, caplog):
    """The links are those of our model; the file is GIZA++'s, and is the only one."""
    run("giza", *MOSES, *FILES, "-o", tmp_path / "fr-en")
    assert [path.name for path in tmp_path.iterdir()] == ["fr-en.A3.final"]
    assert links_of(tmp_path / "fr-en.A3.final", corpus) == expected(corpus)
    golden = (GOLDEN / "train-model" / "giza.fr-en" / "fr-en.A3.final").read_text().splitlines()
    ours = (tmp_path / "fr-en.A3.final").read_text().splitlines()
    assert len(ours) == len(golden)
    costs = np.empty((len(corpus), 2))
    for _ in cache.trained(corpus, Recipe.of()).directions(corpus, costs=costs):
        pass
    scores = [f"{p:g}" for p in np.exp(-costs[:, 0] * corpus.tgt.lengths)]
    for line, (mine, theirs) in enumerate(zip(ours, golden, strict=True)):
        if line % 3 == 0:
            assert mine.rsplit(" ", 1)[0] == theirs.rsplit(" ", 1)[0]  # all but the score
            assert mine.rsplit(" ", 1)[1] == scores[line // 3]
        elif line % 3 == 1:
            assert mine == theirs
    assert caplog.text.count("\n") == 1
    assert "change nothing here: -model4smoothfactor -nsmooth -p0 -CoocurrenceFile" in caplog.text


def test_the_other_direction_is_not_trained_again(corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("ALIGNER_CACHE", str(tmp_path / "cache"))
    run("giza", *FILES, "-o", tmp_path / "fr-en")
    monkeypatch.setattr(cache, "learn", None)
    swapped = ["-c", FOLDER / "en-fr-int-train.snt", "-s", FOLDER / "fr.vcb", "-t", FOLDER / "en.vcb"]
    run("giza", *swapped, "-o", tmp_path / "en-fr")
    header = (tmp_path / "en-fr.A3.final").read_text().splitlines()
    assert header[1].split() == corpus.src.sentence(0)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("", "A3.final t3.final"),
        ("-onlyaldumps 1", "A3.final t3.final"),
        ("-nodumps 1 --onlyaldumps", "A3.final"),
        ("-nodumps 1", ""),
        ("-m3 0 -m4 0 -th 5", "Ahmm.5 thmm.5"),
        ("-m3 0 -m4 0 -HMM_Iterations 3 -hmmdump 3", "Ahmm.3 thmm.3"),
        ("-m3 0 -m4 0", ""),
        ("-m3 0 -m4 0 -mh 0 -m2 4 -t2 4", "A2.4 t2.4"),
        ("-m3 0 -m4 0 -mh 0 -t1 1", "A1.5 t1.5"),
        ("-m3 0 -m4 0 -m5 1", "A3.final t3.final"),
    ],
)
def test_files_are_called_as_by_giza(tmp_path, caplog, options, names):
    run("giza", *FILES, "-outputpath", tmp_path, "-o", "x", *options.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"x.{name}" for name in names.split()]
    assert ("no file is written" in caplog.text) == (not names)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ("-ncpus 3", "A3.final.part000 A3.final.part001 A3.final.part002"),
        ("-ncpus 1 -m3 0 -m4 0 -th 5", "Ahmm.5.part000"),
        ("-ncpus 2 -m3 0 -m4 0 -mh 0 -m2 4 -t2 4", "A2.4"),
        ("-ncpus 2 -m3 0 -m4 0 -mh 0 -t1 5", "A1.5.part0"),
    ],
)
def test_parts_of_mgiza(corpus, tmp_path, options, names):
    """The sentence pairs of all parts, one after another, are those of the text."""
    run("mgiza", *FILES, "-o", tmp_path / "x", *options.split())
    paths = [tmp_path / f"x.{name}" for name in names.split()]
    assert sorted(tmp_path.glob("x.A*")) == paths
    whole = tmp_path / "whole"
    whole.write_bytes(b"".join(path.read_bytes() for path in paths))
    assert links_of(whole, corpus) == expected(corpus, "ibm1" if "A1" in names else "loo")


def test_a_part_a_cpu(tmp_path, monkeypatch):
    monkeypatch.setattr("aligner.cli.compat.giza.available", lambda: 12)
    run("mgiza", *FILES, "-o", tmp_path / "x")
    assert len(list(tmp_path.glob("x.A3.final.part*"))) == 12


def test_the_table_has_probabilities_of_ids(corpus, tmp_path):
    run("giza", *FILES, "-o", tmp_path / "x")
    rows = [line.split(" ") for line in (tmp_path / "x.t3.final").read_text().splitlines()]
    pairs = [(int(e), int(f)) for e, f, _ in rows]
    assert pairs == sorted(set(pairs))
    totals: dict[str, float] = {}
    for e, _, p in rows:
        totals[e] = totals.get(e, 0) + float(p)
    assert "0" in totals  # NULL
    assert all(0.99 < total < 1.01 for total in totals.values())
    words = [read_vcb(str(path)) for path in (FILES[3], FILES[5])]
    together = {
        (words[0].id_of[e.encode()], words[1].id_of[f.encode()])
        for n in range(len(corpus))
        for e in corpus.src.sentence(n)
        for f in corpus.tgt.sentence(n)
    }
    assert {pair for pair in pairs if pair[0]} <= together


def test_a_second_text_is_aligned(write, tmp_path, corpus):
    lines = Path(FILES[1]).read_text().splitlines(keepends=True)
    run("giza", *FILES, "-o", tmp_path / "x", "-tc", write("test.snt", "".join(lines[3:9])))
    assert links_of(tmp_path / "x.tst.A3.final", corpus.part(1, 3)) == expected(corpus)[1:3]


def test_a_file_of_parameters(tmp_path, write):
    names = f"CORPUS FILE : {FILES[1]}\ns {FILES[3]}\nT {FILES[5]}\no {tmp_path / 'x'}\n"
    config = write("cfg", f"// a comment\n{names}d \n\np0 0.5\n")
    run("giza", config)
    first = (tmp_path / "x.A3.final").read_bytes()
    run("giza", config, "-o", tmp_path / "y")
    assert (tmp_path / "y.A3.final").read_bytes() == first
    assert "cfg:2: there is no parameter nothing" in run("giza", write("cfg", "\nnothing 1\n"), code=1).output


def test_names_of_parameters(caplog):
    given = Parameters.of(mgiza=False)
    words = (
        "-S",
        "a",
        "-hmmit",
        "3",
        "-NO. ITERATIONS MODEL 1",
        "7",
        "-foo",
        "9",
        "-model1",
        "2",
        "--log",
        "-t",
        "b",
    )
    assert given.read_words(words) == ["-foo", "9", "-model1", "2"]  # none, or several begin so
    assert given.values == {"s": "a", "mh": "3", "m1": "7", "t": "b"}
    assert given.unused == ["--log"]


@pytest.mark.parametrize("program", ["giza", "mgiza"])
@pytest.mark.parametrize(
    ("options", "what"),
    [
        ("", "give -s, -t, -c and -o"),
        ("-c x -o y", "-s and -t must be given"),
        ("-c", "-c needs a value"),
        ("-s a -t b -c d -oldTrPrbs z", "tables of GIZA++"),
        ("-s a -t b -c d -readtableprefix z", "tables of GIZA++"),
        ("-s a -t b -c d -compactalignmentformat 1", "usual format only"),
        ("-s - -t - -c d", "only one file can be -"),
        ("-s a -t b -c d -m1 many", "a whole number is needed"),
        ("-s a -t b -c d -m1 0 -mh 0 -m3 0 -m4 0", "no model has an iteration"),
    ],
)
def test_usage(program, options, what):
    assert what in run(program, *options.split(), code=2).output


def test_parts_are_bounded():
    assert "at most 1024 parts" in run("mgiza", *FILES, "-ncpus", "1e9", code=2).output


@pytest.mark.parametrize("option", ["-restart 1", "-previoust x", "-previoushmm x"])
def test_mgiza_cannot_go_on_from_tables(option):
    assert "tables of GIZA++" in run("mgiza", *FILES, *option.split(), code=2).output


def test_missing_files(tmp_path):
    assert "nowhere.vcb" in run("giza", *FILES, "-s", tmp_path / "nowhere.vcb", code=1).output


def test_what_is_missing_is_told_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr("aligner.cli.compat.giza.trained", None)
    lost = run("giza", *FILES, "-o", tmp_path / "nowhere/x", code=1).output
    assert "nowhere: no such folder; create it first" in lost
    assert (
        "lost.snt" in run("giza", *FILES, "-o", tmp_path / "x", "-tc", tmp_path / "lost.snt", code=1).output
    )


@pytest.mark.parametrize("program", ["giza", "mgiza", "mkcls", "plain2snt", "snt2cooc"])
def test_help(program):
    help = run(program, "--help").output
    assert PROGRAMS[program].help in " ".join(help.split())
    assert "Example:" in help and f"aligner {program} " in help


def test_words_of_other_encodings_stay_as_they_are(write, tmp_path, caplog):
    src, tgt = write("s.vcb", b"2 \xe9t\xe9 2\n"), write("t.vcb", b"2 summer 2\n")
    snt = write("x.snt", "1\n2\n2\n1\n2\n2\n")
    run("giza", "-c", snt, "-s", src, "-t", tgt, "-o", tmp_path / "x")
    assert b"NULL ({ }) \xe9t\xe9 ({ 1 }) \n" in (tmp_path / "x.A3.final").read_bytes()
    assert (tmp_path / "x.t3.final").read_text().endswith("2 2 1\n")
    assert "s.vcb is not UTF-8" in caplog.text


def test_vocabularies_may_be_pipes(tmp_path):
    """A pipe can be read once only."""
    run("giza", *FILES, "-o", tmp_path / "files")
    command = [sys.executable, "-m", "aligner", "giza", *FILES, "-s", "/dev/stdin", "-o", tmp_path / "pipe"]
    subprocess.run(command, input=Path(FILES[3]).read_bytes(), check=True)
    assert (tmp_path / "pipe.A3.final").read_bytes() == (tmp_path / "files.A3.final").read_bytes()


def test_a_score_is_never_0():
    long = Corpus.from_pairs([("a", "b " * 1000)])
    assert giza.probabilities(np.array([5.0]), long.tgt) > 0


def test_a_score_is_at_most_1(write, tmp_path):
    """Also where a sentence is copied: words that are spelled alike are smoothed by more than their share."""
    vcb, snt = write("x.vcb", "2 a 2\n"), write("x.snt", "1\n2 2\n2 2\n")
    run("giza", "-c", snt, "-s", vcb, "-t", vcb, "-o", tmp_path / "x")
    header = (tmp_path / "x.A3.final").read_text().splitlines()[0]
    assert 0 < float(header.rsplit(" ", 1)[1]) <= 1


def test_an_empty_side_stays(write, tmp_path):
    snt = write("x.snt", "1\n2 3\n2\n1\n\n3 2\n1\n2\n\n1\n3\n3\n")
    vcb = write("x.vcb", "2 a 2\n3 b 3\n")
    run("giza", "-c", snt, "-s", vcb, "-t", vcb, "-o", tmp_path / "x")
    lines = (tmp_path / "x.A3.final").read_text().splitlines()
    assert len(lines) == 12
    assert lines[3].startswith("# Sentence pair (2) source length 0 target length 2 ")
    assert lines[4:6] == ["b a ", "NULL ({ 1 2 }) "]
    assert lines[7:9] == ["", "NULL ({ }) a ({ }) "]
