"""aligner transfer, words, evaluate --edges, evaluate --spans, curve --kind edges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from conftest import ROOT

from aligner.cli import cli

DATA = ROOT / "data"
EN, FR = (str(DATA / f"annotated.{side}.conllu") for side in ("en", "fr"))
LINKS = (DATA / "annotated.links").read_text()


def run(*words: str, code: int = 0, **more) -> Result:
    done = CliRunner().invoke(cli, list(words), **more)
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def links(write) -> str:
    return write("links", LINKS)


@pytest.fixture
def scored(write) -> str:
    lines = (
        " ".join(f"{x}:0.{9 - k % 4}" for k, x in enumerate(line.split())) for line in LINKS.splitlines()
    )
    return write("scored", "".join(f"{line}\n" for line in lines))


@pytest.fixture
def text(write) -> str:
    return write("fr", run("words", FR).stdout)


def test_words_are_what_links_count(text):
    assert Path(text).read_text().splitlines()[0] == "M. Taylor accepte le rapport de le comité ."
    two = "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\t_\t_\t_\t_\t_\t_\t_\n2\t1 000\t_\t_\t_\t_\t_\t_\t_\t_\n"
    assert run("words", "-", input=two).stdout == "de 1_000\n"
    assert run("words", "-", input=two.replace("de", "\u00a0")).stdout == "_ 1_000\n"  # none is lost


def test_annotation_is_carried_to_text(links, text, tmp_path):
    done = run("transfer", EN, text, links, "-o", str(tmp_path / "out.conllu"))
    assert done.output == ""
    rows = [line.split("\t") for line in (tmp_path / "out.conllu").read_text().splitlines() if "\t" in line]
    gold = [
        x.split("\t") for x in Path(FR).read_text().splitlines() if "\t" in x and "-" not in x.split("\t")[0]
    ]
    both = list(zip(rows, gold, strict=True))
    assert sum(a[3] == b[3] for a, b in both) == 43 and sum(a[6] == b[6] for a, b in both) == 44
    assert run("transfer", EN, text, links).stdout == (tmp_path / "out.conllu").read_text()
    piped = run("transfer", EN, "-", links, input=Path(text).read_text()).stdout
    assert piped == (tmp_path / "out.conllu").read_text()


def test_an_annotated_target_is_written_as_it_was(links):
    whole = Path(FR).read_text()
    assert run("transfer", EN, FR, links).stdout == whole
    replaced = run("transfer", EN, FR, links, "--replace").stdout
    assert [x.split("\t")[:3] for x in replaced.splitlines()] == [
        x.split("\t")[:3] for x in whole.splitlines()
    ]
    assert [x for x in replaced.splitlines() if x[1:2] == "-"] == [
        x for x in whole.splitlines() if x[1:2] == "-"
    ]


def test_spans_go_to_a_file_of_the_same_form(scored, text, write, tmp_path):
    out = tmp_path / "spans"
    run("transfer", EN, text, scored, "--only", "spans", "--spans-to", str(out))
    assert out.read_text() == "1\t1\t2\tPER\t0.8\n3\t3\t4\tPER\t0.8\n5\t1\t5\tORG\t0.7\n"
    assert run("evaluate", "--spans", str(out), FR, "-b").stdout == "100.00\n"
    found = json.loads(run("evaluate", "--spans", str(out), FR, str(out), "--json").stdout)
    assert found["hypotheses"][1]["types"]["ORG"]["right"] == 1 and found["signature"].startswith(
        "SPANS|n:5|"
    )
    columns = write("columns", "".join(f"{word} O\n" for word in "M. Taylor a dit".split()))
    src, tgt, one = (
        write("src", "M. Taylor a dit\n"),
        write("tgt", "Mr. Taylor said\n"),
        write("one", "1-1\n"),
    )
    new = tmp_path / "new"
    run("transfer", src, tgt, one, "--spans", columns, "--spans-to", str(new))
    assert new.read_text() == "Mr.\tO\nTaylor\tO\nsaid\tO\n\n"


def test_edges_over_thresholds(scored, links, tmp_path):
    table = run("evaluate", scored, FR, "--edges", EN).stdout.splitlines()
    assert table[0].split() == ["threshold", "links", "edges", "a", "sentence", "conserved", "accuracy"]
    assert len(table) == 12 and table[-1].startswith("EDGES|n:5|filters:none|version:")
    assert table[1].split() == ["0", "46", "42", "8.40", "40", "95.24"]
    assert table[9].split()[:3] == ["0.8", "14", "1"]
    one = run("evaluate", links, FR, "--edges", EN).stdout.splitlines()
    assert one[1].split()[0] == "all" and len(one) == 3
    found = json.loads(run("evaluate", scored, FR, links, "--edges", EN, "--json", "--no-punct").stdout)
    assert [len(x["rows"]) for x in found["hypotheses"]] == [10, 1] and "no-punct" in found["signature"]
    tsv = run("curve", "--kind", "edges", f"ours={scored}", links, "--edges", EN, "--gold", FR).stdout
    rows = [line.split("\t") for line in tsv.splitlines()]
    assert rows[0][:4] == ["name", "least score", "edges", "conserved"]
    assert rows[1][:4] == ["ours", "0.600000", "42", "40"] and rows[2][:4] == [links, "", "42", "40"]


USAGE = [
    ("evaluate {links} {fr} --edges {en} --score-only", "--score-only is not for --edges."),
    ("evaluate {fr} {fr} --spans --bootstrap 3", "--bootstrap is not for --spans."),
    ("evaluate {fr} {fr} --spans --json -b", "not with --json"),
    ("evaluate {links} {links} --compatible", "are for --edges."),
    ("evaluate {links} - {links} --edges {en}", "stdin can be read only once"),
    ("evaluate {links} {fr} --edges {en} --spans", "--edges and --spans"),
    ("curve {links} --gold {fr} --kind edges", "--kind edges and --edges go together."),
    (
        "curve {links} --gold {fr} --kind edges --edges {en} --first 3",
        "--first is not for --kind edges",
    ),
    ("curve {links} --gold {links} --no-punct", "are for --kind edges."),
    ("transfer {en} {fr} {links} --only upos --spans {fr}", "are for --only spans."),
    ("transfer {en} {fr} {links} --span-key a=b", "a name without blanks"),
    ("transfer {en} {fr} {links} --ratio nan", "nan is not a number"),
    ("transfer - - {links}", "stdin"),
    ("transfer {en} {fr} {links} -o {fr}", "which is read: give another name."),
]


@pytest.mark.parametrize("words, message", USAGE, ids=[x[0] for x in USAGE])
def test_wrong_usage(words, message, links):
    done = run(*words.format(en=EN, fr=FR, links=links).split(), code=2)
    assert message in " ".join(done.stderr.split())


BAD = [
    ("transfer {fr} {en} {links}", "links:2: link 7-9 of sentence 2 is outside"),
    ("transfer {en} {links} {text}", "text:1:"),
    ("transfer {links} {en} {text}", "text:1:"),
    ("transfer {en} {fr} {short}", "1 sentence in"),
    ("transfer {en} {fr} {links} --text {text} {text}", "text:1: 1 word, the sentence in"),
    ("transfer {en} {fr} {links} --threshold 0.5", "links: the links have no scores"),
    ("transfer {en} {plain} {links} --compatible", "no parts of speech"),
    ("transfer {en} {fr} /nowhere", "/nowhere: No such file"),
    ("evaluate {links} {en} --edges {fr}", "is outside its pair"),
    ("evaluate /dev/null /dev/null --edges /dev/null", "no sentences to score"),
    ("evaluate --spans {en} {fr}", "both must have the same words"),
]


@pytest.mark.parametrize("words, message", BAD, ids=[x[0] for x in BAD])
def test_bad_data(words, message, links, text, write):
    files = {"en": EN, "fr": FR, "links": links, "plain": text}
    files |= {"text": write("text", "one\n" * 5), "short": write("short", "0-0\n")}
    done = run(*words.format(**files).split(), code=1)
    assert message in done.stderr and "Traceback" not in done.stderr and done.stdout.count("\n") < 60


def test_other_encodings(links, text, write):
    """The message names the option that reads the file."""
    whole = write("latin.conllu", Path(FR).read_text().encode("latin-1"))
    columns = write("columns", "é O\n".encode("latin-1"))
    for words in (("words", whole), ("transfer", EN, text, links, "--spans", columns)):
        assert "for example latin-1: --encoding" in run(*words, code=1).stderr
    assert run("words", whole, "--encoding", "latin-1").stdout == Path(text).read_text()


def test_the_text_of_the_links_is_checked(links, text, write):
    en = write("en", run("words", EN).stdout)
    given = ("transfer", EN, text, links)
    assert run(*given, "--text", en, text).stdout == run(*given).stdout


def test_an_empty_line_before_conllu_makes_no_text_of_it():
    done = run("words", code=1, input="\r\n\n" + Path(EN).read_text())
    assert "<stdin>:2: an empty line that ends no sentence" in done.stderr and not done.stdout


def test_text_in_place_of_annotation_is_named(links, text, write, caplog):
    """It carries nothing. With a file of spans it may be the source all the same."""
    source, some = write("en", run("words", EN).stdout), "is no CoNLL-U, but text"
    run("transfer", EN, text, links)
    run("transfer", source, text, links, "--spans", write("spans", "1\t0\t1\tPER\n"))
    assert not caplog.messages
    run("transfer", source, text, links)
    assert [some in message for message in caplog.messages] == [True]
    run("evaluate", links, text, "--edges", source)
    assert len(caplog.messages) == 3 and f"{text} {some}" in caplog.text
