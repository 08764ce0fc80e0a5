"""`aligner learn`, and `decode` and `align` with what it learned."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from trained import GOLD, SRC, TGT, run

from aligner import Combiner, Model, read_corpus
from aligner.models.kinds import MODELS

TEXT = SRC, TGT
ONE = "--threads", "1"
QUICK = "--folds", "2", *ONE


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    """A folder with a model, a combiner for it, and one that has a structure."""
    folder = tmp_path_factory.mktemp("learned")
    run("train", *TEXT, "-q", "-o", folder / "model", *ONE)
    run("learn", folder / "model", *TEXT, GOLD, "-o", folder / "combiner", *QUICK)
    run("learn", folder / "model", *TEXT, GOLD, "-o", folder / "matching", "--structure", "matching", *QUICK)
    return folder


def learn(files: Path, out: Path, *options: object, gold: object = GOLD, code: int = 0) -> str:
    return run("learn", files / "model", *TEXT, gold, "-o", out, *QUICK, *options, code=code)


def decode(files: Path, *options: object, code: int = 0, combiner: str = "combiner", **more) -> str:
    given = ("--combiner", files / combiner, *ONE, *options)
    return run("decode", files / "model", *TEXT, *given, code=code, **more)


# learn


def test_the_table(files, tmp_path):
    lines = learn(files, tmp_path / "new").splitlines()
    assert lines[0].split() == ["AER", "precision", "recall"]
    assert [line.split("  ")[0] for line in lines[1:3]] == ["model alone", "with combiner"]
    assert lines[3].startswith("60 sentence pairs, each held out once; p = 0.")
    assert lines[5] == "weight  feature" and len(lines) == 16
    weights = [abs(float(line.split()[0])) for line in lines[6:]]
    assert weights == sorted(weights, reverse=True)
    assert (tmp_path / "new").read_bytes() == (files / "combiner").read_bytes()
    found = json.loads(learn(files, tmp_path / "other", "--json"))
    assert found["pairs"] == 60 and len(found["features"]) == 10
    assert found["threshold"] == Combiner.load(tmp_path / "other").threshold
    shown = [float(line.split()[-3]) for line in lines[1:3]]
    assert shown == [round(100 * found[name]["aer"], 2) for name in ("model", "combiner")]


@pytest.mark.parametrize("options", [("--passes", "1"), ("--structure", "matching")])
def test_threads_change_no_byte(files, tmp_path, options, monkeypatch):
    monkeypatch.setattr("aligner.learning.classifier.CELL", 1)  # the text is large enough for threads
    given = files / "model", *TEXT, GOLD, "--folds", "2", *options
    for n in ("1", "2"):
        run("learn", *given, "-o", tmp_path / n, "--threads", n)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_text_and_gold_of_stdin(files, tmp_path):
    whole = (files / "combiner").read_bytes()
    for k, path in enumerate((*TEXT, GOLD)):
        names = [*TEXT, GOLD]
        names[k] = "-"
        run("learn", files / "model", *names, "-o", tmp_path / str(k), *QUICK, stdin=path.read_text())
        assert (tmp_path / str(k)).read_bytes() == whole
    message = run("learn", files / "model", "-", "-", GOLD, "-o", tmp_path / "x", *QUICK, code=2)
    assert "only one file can be - (stdin)" in message


def test_gold_of_any_format(files, tmp_path, write):
    """Also one that has links to NULL, which teach nothing."""
    talp = write("talp", run("convert", GOLD, "--to", "talp"))
    learn(files, tmp_path / "talp.combiner", "--gold-format", "talp", gold=talp)
    assert (tmp_path / "talp.combiner").read_bytes() == (files / "combiner").read_bytes()
    wpt = write("wpt", run("convert", GOLD, "--to", "wpt") + "0060 0 1 S\n0060 1 0 P\n")
    learn(files, tmp_path / "wpt.combiner", gold=wpt)
    assert (tmp_path / "wpt.combiner").read_bytes() == (files / "combiner").read_bytes()


BAD_GOLD = {
    "shorter": (lambda lines: lines[:-1], "59 sentences, the text has 60"),
    "longer": (lambda lines: [*lines, "0-0"], "61 sentences, the text has 60"),
    "outside": (lambda lines: [*lines[:-1], "0-99"], "link 0-99 of sentence 60 is outside its pair"),
    "possible": (lambda lines: [line.replace("-", "?") for line in lines], "there are no sure links"),
    "empty": (lambda lines: [""] * 60, "there are no sure links"),
    "scores": (lambda lines: ["0-0-0-0"] * 60, "gold"),
}


@pytest.mark.parametrize("name", BAD_GOLD)
def test_gold_that_is_refused(files, tmp_path, write, name):
    change, message = BAD_GOLD[name]
    gold = write("gold", "".join(f"{line}\n" for line in change(GOLD.read_text().splitlines())))
    told = learn(files, tmp_path / "new", gold=gold, code=1)
    assert message in told and told.startswith("aligner: ")
    assert not (tmp_path / "new").exists()


def test_few_sentences(files, tmp_path, write):
    some = [write(x.name, "".join(x.read_text().splitlines(True)[:19])) for x in (*TEXT, GOLD)]
    given = "learn", files / "model", *some, "-o", tmp_path / "new", *QUICK
    told = run(*given, code=1)
    assert told.endswith("20 are needed, 200 are good; label more sentence pairs, or allow so few: --force\n")
    assert "19 sentence pairs, each held out once" in run(*given, "--force")


def test_a_combiner_that_is_no_better(files, tmp_path, write):
    """Gold links that are the model's own: nothing is left to learn."""
    own = write("own", run("decode", files / "model", *TEXT, *ONE))
    done = subprocess.run(
        [*aligner("learn"), files / "model", *TEXT, own, "-o", tmp_path / "new", *QUICK],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "the combiner is no better than the model alone: label more sentence pairs" in done.stderr
    assert "model alone" in done.stdout and (tmp_path / "new").exists()


def aligner(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("aligner")), *words]


def test_options_that_do_not_go_together(files, tmp_path):
    for options, message in (
        (("--structure", "matching", "--passes", "2"), "--passes is for --structure none"),
        (("--structure", "matching", "--words"), "--words and --no-words are for --structure none"),
        (("--structure", "matching", "--no-words"), "--words and --no-words are for --structure none"),
        (("--passes", "3"), "3 is not in the range"),
        (("--folds", "1"), "1 is not in the range"),
        (("--penalty", "0"), "0.0 is not in the range"),
        (("--penalty", "nan"), "nan is not a number"),
        (("--structure", "tree"), "'tree' is not one of"),
    ):
        assert message in learn(files, tmp_path / "new", *options, code=2)
    assert not (tmp_path / "new").exists()


def test_outputs_are_not_replaced_by_mistake(files, tmp_path, write):
    path = write("new", "mine")
    assert "the file exists" in learn(files, path, code=1)
    assert Path(path).read_text() == "mine"
    learn(files, path, "--overwrite")
    assert Path(path).read_bytes() == (files / "combiner").read_bytes()
    assert "a combiner is a file, not stdin" in learn(files, "-", code=1)
    assert "combiners are not compressed" in learn(files, tmp_path / "x.gz", code=1)
    for read in (files / "model", GOLD):
        assert "which is read: give another name" in learn(files, read, "--overwrite", code=2)


def test_interrupted(files, tmp_path):
    """Nothing is left of a combiner that is half learned."""
    out = tmp_path / "new"
    command = [*aligner("learn"), files / "model", *TEXT, GOLD, "-o", out, "--folds", "100", *ONE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(600):
            if any(tmp_path.iterdir()):
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (130, "", "aligner: interrupted\n")
    assert list(tmp_path.iterdir()) == []


# decode and align


def test_links_are_those_of_python(files):
    combiner, model = Combiner.load(files / "combiner"), Model.load(files / "model")
    corpus = read_corpus(str(SRC), str(TGT))
    links = combiner.align(model, corpus)
    shown = "".join(" ".join(f"{i}-{j}" for i, j in one) + "\n" for one in links.pairs())
    assert decode(files) == shown != run("decode", files / "model", *TEXT, *ONE)
    scored = [line.split() for line in decode(files, "--scores").splitlines()]
    assert [[link.split(":")[0] for link in line] for line in scored] == [
        line.split() for line in shown.splitlines()
    ]
    assert all(combiner.threshold < float(link.split(":")[1]) <= 1 for line in scored for link in line)


def test_align_and_decode_print_the_same(files, tmp_path):
    """Training finds the same model again. The model that is saved has no threshold of the combiner's."""
    given = "align", *TEXT, "-q", "--combiner", files / "combiner", "--save", tmp_path / "saved", *ONE
    done = subprocess.run([*aligner(*given[:1]), *given[1:]], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (decode(files), "")
    assert (tmp_path / "saved").read_bytes() == (files / "model").read_bytes()
    again = run(*given, "--threshold", "0.2", "--overwrite", "--scores")
    assert again == decode(files, "--threshold", "0.2", "--scores")
    assert (tmp_path / "saved").read_bytes() == (files / "model").read_bytes()
    run(*given, "--overwrite", "--log-json", tmp_path / "log", "-o", os.devnull)
    first = json.loads((tmp_path / "log").read_text().splitlines()[0])
    assert "|combiner:" in first["signature"]


@pytest.mark.parametrize("combiner", ["combiner", "matching"])
def test_files_streams_and_threads(files, tmp_path, write, combiner):
    whole = decode(files, "--scores", combiner=combiner)
    lines = zip(SRC.read_text().splitlines(), TGT.read_text().splitlines(), strict=True)
    both = "".join(f"{a} ||| {b}\n" for a, b in lines)
    given = "decode", files / "model", "--combiner", files / combiner, "--scores"
    assert run(*given, *ONE, stdin=both) == whole
    assert run(*given, "--threads", "3", write("both", both)) == whole
    assert run(*given, *TEXT, "--threads", "3", "-o", tmp_path / "links.gz") == ""
    assert gzip.decompress((tmp_path / "links.gz").read_bytes()).decode() == whole


def test_ways_to_choose(files):
    links = {
        decode_by: [line.split() for line in decode(files, "--threshold", "0.2", *options).splitlines()]
        for decode_by, options in {
            "threshold": (),
            "one-to-one": ("--decode", "one-to-one"),
            "fertility": ("--decode", "fertility", "--max-fertility", "3"),
        }.items()
    }
    for name, most in (("one-to-one", 1), ("fertility", 3)):
        for line, every in zip(links[name], links["threshold"], strict=True):
            assert set(line) <= set(every)
            for side in (0, 1):
                words = [link.split("-")[side] for link in line]
                assert all(words.count(word) <= most for word in words)
    one = decode(files, "--decode", "one-to-one")
    assert run("align", *TEXT, "-q", "--combiner", files / "combiner", "--decode", "one-to-one", *ONE) == one


def test_empty_lines_and_unknown_words(files):
    given = "decode", files / "model", "--combiner", files / "combiner", *ONE
    assert run(*given, stdin="") == ""
    lines = run(*given, stdin="||| le\nthe |||\n|||\nthe zzz ||| le\u00a0x yyy\n").splitlines()
    assert lines[:3] == ["", "", ""] and len(lines) == 4


def test_known_links(files, write):
    """Given links are kept, excluded ones are not, as without a combiner."""
    first, *rest = decode(files).splitlines()
    link = first.split()[0]
    known = write("known", link + "\n" * 60)
    assert decode(files, "--exclude", known).splitlines()[0].split() != first.split()
    assert link not in decode(files, "--exclude", known).splitlines()[0].split()
    far = write("far", f"{int(link.split('-')[0])}-9" + "\n" * 60)
    assert f"{int(link.split('-')[0])}-9" in decode(files, "--given", far).splitlines()[0].split()
    message = decode(files, "--given", far, "--decode", "one-to-one", code=2)
    assert "--decode one-to-one is not for --given" in message
    aligned = run("align", *TEXT, "-q", "--combiner", files / "combiner", "--given", far, *ONE).splitlines()
    assert f"{int(link.split('-')[0])}-9" in aligned[0].split() and len(aligned) == len(rest) + 1


def test_sentence_scores(files, tmp_path):
    """Costs are the model's, whatever scores its links."""
    for name, options in (("plain", ()), ("combined", ("--combiner", files / "combiner"))):
        given = "decode", files / "model", *TEXT, "-o", os.devnull, *ONE, *options
        run(*given, "--sentence-scores", tmp_path / name)
    rows = [
        [line.split("\t") for line in (tmp_path / name).read_text().splitlines()]
        for name in ("plain", "combined")
    ]
    assert [row[:2] for row in rows[0]] == [row[:2] for row in rows[1]]
    assert [row[2] for row in rows[0]] != [row[2] for row in rows[1]]


REFUSED = {
    "--symmetrize": ("union",),
    "--viterbi": (),
    "--project": ("none",),
    "--at-precision": ("0.9",),
    "--at-recall": ("0",),
    "--direction": ("forward",),
    "--threshold": ("auto",),
    "--forward": ("forward",),
    "--reverse": ("reverse",),
}
OF = {"decode": {"--forward", "--reverse"}, "align": {"--at-precision", "--at-recall", "--direction"}}


@pytest.mark.parametrize("command", OF)
@pytest.mark.parametrize("option", REFUSED)
def test_options_that_a_combiner_replaces(files, tmp_path, command, option):
    if option in OF[command]:
        return
    first = ("decode", files / "model") if command == "decode" else ("align", "-q")
    given = *first, *TEXT, "--combiner", files / "combiner", option, *REFUSED[option], *ONE
    message = run(*given, code=2)
    assert f"{option} " in message and "does not go with --combiner" in message


def test_other_options_that_are_refused(files):
    for options, message in (
        (("--threshold", "points"), "--threshold points does not go with --combiner"),
        (("--symmetrize", "dual"), "--symmetrize does not go with --combiner"),
        (("--chain", "joint"), "--chain does not go with --combiner"),
        (("--rounds", "3"), "dual"),
        (("--max-fertility", "2"), "--max-fertility is for --decode fertility"),
    ):
        assert message in decode(files, *options, code=2)
    assert decode(files, "--direction", "both") == decode(files, "--project", "trained") == decode(files)


def test_files_of_other_kinds(files, tmp_path):
    """A command that is given a combiner for a model, or a model for a combiner, says what it is."""
    combiner, model = files / "combiner", files / "model"
    for words in (
        ("info", combiner),
        ("lexicon", combiner),
        ("decode", combiner, *TEXT),
        ("tune", combiner, *TEXT, GOLD),
        ("view", combiner, *TEXT, "--text"),
        ("curve", combiner, "--gold", GOLD, "--text", *TEXT),
        ("learn", combiner, *TEXT, GOLD, "-o", tmp_path / "new"),
        ("align", *TEXT, "-q", "--init", combiner),
    ):
        told = run(*words, code=1)
        assert told == f"aligner: {combiner}: this is a combiner of aligner, not a model\n", words
    for words in (("decode", model, *TEXT), ("align", *TEXT, "-q")):
        told = run(*words, "--combiner", model, code=1)
        assert told == f"aligner: {model}: this is a model of aligner, not a combiner\n"
        assert "not a combiner" in run(*words, "--combiner", SRC, code=1)
        assert "No such file" in run(*words, "--combiner", tmp_path / "none", code=1)
        assert "not from a pipe or a folder" in run(*words, "--combiner", "-", code=1)
    assert "which is read" in decode(files, "-o", combiner, "--overwrite", code=2)


def test_models_that_a_combiner_is_not_for(files, tmp_path):
    """Other views, or one direction, are refused, before a training too. Of another model there is a note."""
    combiner = "--combiner", files / "combiner"
    views = ", ".join(Combiner.load(files / "combiner").views)
    short = "-q", "--model", "hmm", "--ibm1-iterations", "1", "--iterations", "1"
    run("train", *TEXT, *short, "--views", "word", "-o", tmp_path / "word", *ONE)
    told = run("decode", tmp_path / "word", *TEXT, *combiner, code=1)
    assert f"the combiner is for models with the views {views}; {tmp_path / 'word'} has word" in told
    told = run("align", *TEXT, *short, "--views", "word", *combiner, code=1)
    assert f"with the views {views}; this model has word" in told
    told = run("align", *TEXT, "-q", "--fast", *combiner, code=1)
    assert "this model has " in told
    one_way = *TEXT, *short, "--views", views.replace(" ", ""), "--direction", "forward"
    run("train", *one_way, "-o", tmp_path / "one", *ONE)
    for words in (
        ("decode", tmp_path / "one", *TEXT, *combiner),
        ("learn", tmp_path / "one", *TEXT, GOLD, "-o", tmp_path / "new"),
    ):
        assert "a combiner is for models of both directions, and" in run(*words, code=1)
    run("train", *TEXT, *short, "--views", views.replace(" ", ""), "-o", tmp_path / "other", *ONE)
    command = [*aligner("decode"), tmp_path / "other", *TEXT, *combiner]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == (
        f"{files / 'combiner'} was learned with another model than {tmp_path / 'other'}:"
        " scores may mean something else\n"
    )
    assert len(done.stdout.splitlines()) == 60
    for quiet in ("-q",), ():
        command = [*aligner("align"), *TEXT, "--iterations", "1", *quiet, *ONE, *combiner]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"{files / 'combiner'} was learned with another model than that of this text" in done.stderr


def test_align_trains_the_views_of_the_combiner(tmp_path):
    """Those of a model would be others."""
    model, combiner = tmp_path / "model", tmp_path / "combiner"
    training = *TEXT, "-q", "--model", "hmm", "--iterations", "1", *ONE
    run("train", *training, "--views", "prefix4,suffix2", "-o", model)
    run("learn", model, *TEXT, GOLD, "-o", combiner, "--passes", "1", *QUICK)
    links = run("decode", model, *TEXT, "--combiner", combiner, *ONE)
    assert run("align", *training, "--combiner", combiner) == links


def test_a_tuned_model_is_no_other_model(files, tmp_path):
    run("tune", files / "model", *TEXT, GOLD, "--store", "-o", tmp_path / "tuned", *ONE)
    command = [*aligner("decode"), tmp_path / "tuned", *TEXT, "--combiner", files / "combiner"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == "" and done.stdout == decode(files)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_can_have_a_combiner(name, tmp_path):
    model, combiner = tmp_path / "model", tmp_path / "combiner"
    training = [*TEXT, "-q", "--model", name, "--fast", "--iterations", "1", *ONE]
    run("train", *training, "-o", model)
    run("learn", model, *TEXT, GOLD, "-o", combiner, "--passes", "1", *QUICK)
    links = run("decode", model, *TEXT, "--combiner", combiner, *ONE)
    assert links.count("-") > 200 and len(links.splitlines()) == 60
    assert run("align", *training, "--combiner", combiner) == links


def test_help_names_commands(tmp_path):
    shown = run("learn", "--help")
    assert "Example:" in shown and "aligner decode" in shown
    assert str(ROOT) not in shown


def test_files_without_sentences_and_without_links_are_named(files, tmp_path, write):
    empty, out = write("empty", ""), tmp_path / "out"
    assert "empty: no sentence pairs" in run("learn", files / "model", empty, empty, empty, "-o", out, code=1)
    n_lines = Path(SRC).read_text().count("\n")
    assert "none: there are no sure links; AER needs some" in learn(
        files, out, gold=write("none", "\n" * n_lines), code=1
    )
    assert not out.exists()
