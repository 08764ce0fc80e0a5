"""lexicon: tables of models, of links and of files, in every format, and what cannot be asked for."""

from __future__ import annotations

import gzip
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import ROOT

from aligner.cli import cli
from aligner.lexicons.formats import FORMATS

GOLDEN = ROOT / "tests" / "lexicons" / "golden"
LINKS = ROOT / "tests" / "links" / "golden" / "sample.symal.grow-diag-final-and"
COUNTED = ("--links", LINKS, "--text", ROOT / "data" / "sample.en", ROOT / "data" / "sample.fr")


def run(*arguments: object, code: int = 0) -> str:
    """stdout of the command, or stderr if it must exit with another code than 0."""
    result = CliRunner().invoke(cli, ["lexicon", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """A model whose evidence is kept, so that its rows do not sum to 1 by themselves."""
    path = tmp_path_factory.mktemp("model") / "model"
    files = [str(ROOT / "data" / name) for name in ("sample.en", "sample.fr")]
    result = CliRunner().invoke(cli, ["train", *files, "-q", "--fast", "--threads", "1", "-o", str(path)])
    assert result.exit_code == 0, result.output
    return path


def rows(text: str, separator: str = " ") -> dict[tuple[str, ...], float]:
    """The words of each line -> its last column"""
    lines = [line.split(separator) for line in text.splitlines()]
    return {tuple(line[:-1]): float(line[-1]) for line in lines}


def test_both_directions_are_written_as_the_originals_name_them(tmp_path):
    run(*COUNTED, "--format", "moses", "-o", tmp_path / "lex")
    for name in ("f2e", "e2f"):
        assert (tmp_path / f"lex.{name}").read_bytes() == (GOLDEN / f"sample.moses.{name}").read_bytes()
    assert (
        run(*COUNTED, "--format", "moses", "--direction", "reverse").encode()
        == (GOLDEN / "sample.moses.e2f").read_bytes()
    )
    run(*COUNTED, "--format", "marian", "-o", tmp_path / "lex")
    golden = ROOT / "tests" / "cli" / "compat" / "golden"
    for name in ("s2t", "t2s"):
        wanted = (golden / f"sample.extract-lex.{name}").read_bytes()
        assert (tmp_path / f"lex.{name}").read_bytes() == wanted
    assert "lex.s2t: the file exists" in run(*COUNTED, "--format", "marian", "-o", tmp_path / "lex", code=1)
    run(*COUNTED, "--format", "marian", "-o", tmp_path / "lex", "--overwrite")


def test_bicleaner_is_compressed_and_tells_what_it_leaves_out(tmp_path, caplog):
    run(*COUNTED, "--format", "bicleaner", "-o", tmp_path / "dict")
    for name in ("f2e", "e2f"):
        lines = gzip.decompress((tmp_path / f"dict.{name}.gz").read_bytes()).decode().splitlines()
        assert lines and all(len(line.split(" ")) == 3 for line in lines)
    assert len(caplog.messages) == 2 and "left out" in caplog.messages[0]


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("tsv", "giza")])
def test_rows_of_a_model_sum_to_one(model, name):
    """NULL's row, too, where the format leaves nothing out."""
    arguments = (model, "--format", name, "--min-prob", 0)
    forward, reverse = (run(*arguments, "--direction", way) for way in ("forward", "reverse"))
    separator, given = ("\t", 0) if name == "fast_align" else (" ", 1)
    null = FORMATS[name].null
    for text in (forward, reverse):
        sums = defaultdict(float)
        for words, p in rows(text, separator).items():
            sums[words[given]] += np.exp(p) if name == "fast_align" else p
        assert null in sums and len(sums) > 100
        if name in ("moses", "marian"):
            np.testing.assert_allclose(list(sums.values()), 1, atol=1e-4)
        else:
            assert max(sums.values()) < 1 + 1e-4


def test_a_model_has_the_same_table_in_every_format(model):
    """The words and numbers of tsv. --min-prob is 0.01 where it is not given."""
    tsv = [line.split("\t") for line in run(model, "--min-prob", 0).splitlines()]
    moses = rows(run(model, "--format", "moses", "--direction", "reverse", "--min-prob", 0))
    assert "NULL" not in {row[0] for row in tsv}
    found = {(row[0], row[1]): float(row[3]) for row in tsv if float(row[3])}
    assert found.keys() == {words for words in moses if words[1] != "NULL"}
    for words, p in found.items():
        np.testing.assert_allclose(moses[words], p, rtol=1e-5, atol=1e-7)
    few = rows(run(model, "--format", "moses", "--direction", "reverse"))
    assert few == {words: p for words, p in moses.items() if p >= 0.01} and len(few) < len(moses)


def test_top_of_each_word(model):
    best = rows(run(model, "--format", "marian", "--direction", "forward", "--top", 1))
    everything = rows(run(model, "--format", "marian", "--direction", "forward"))
    assert len({src for _, src in best}) == len(best)
    for (_, src), p in best.items():
        assert p == max(x for words, x in everything.items() if words[1] == src)


def test_tables_are_converted(tmp_path):
    """There and back; both directions from two files."""
    moses = [GOLDEN / f"sample.moses.{name}" for name in ("f2e", "e2f")]
    run("--from", "moses", moses[0], "--format", "fast_align", "-o", tmp_path / "fwd_params")
    assert (tmp_path / "fwd_params").read_text().count("<eps>") > 0
    run("--from", "moses", *moses, "--format", "marian", "-o", tmp_path / "lex")
    for name, old in zip(("s2t", "t2s"), moses, strict=True):
        assert (tmp_path / f"lex.{name}").read_bytes() == old.read_bytes()
    tsv = run("--from", "moses", *moses)
    (tmp_path / "tsv").write_text(tsv)
    assert run("--from", "tsv", tmp_path / "tsv") == tsv
    one = [line.split("\t") for line in run("--from", "moses", moses[0]).splitlines()]
    assert all(row[2] and not row[3] for row in one) and len(one) == len(tsv.splitlines())
    back = run("--from", "tsv", tmp_path / "tsv", "--format", "moses", "--direction", "forward")
    wanted = {words: p for words, p in rows(moses[0].read_text()).items() if "NULL" not in words}
    found = rows(back)
    assert found.keys() == wanted.keys()
    np.testing.assert_allclose([found[k] for k in wanted], list(wanted.values()), rtol=1e-5)


def test_tables_of_another_encoding(write, tmp_path):
    table = write("table", "été a 1\n".encode("latin-1"))
    assert run("--from", "moses", table, "--encoding", "latin-1") == "a\tété\t1\t\n"
    assert run("--from", "moses", table, code=1).endswith("for example latin-1: --encoding\n")
    again = run("--from", "moses", table, "--encoding", "latin-1", "-o", table, "--overwrite", code=2)
    assert "which is read: give another name" in again


def test_numbers_of_giza(tmp_path):
    vcb = "--vcb", GOLDEN / "sample20.src.vcb", GOLDEN / "sample20.tgt.vcb"
    table = GOLDEN / "sample20.t3.final"
    assert run("--from", "giza", table, *vcb, "--format", "giza") == table.read_text()
    text = run("--from", "giza", table, *vcb, "--format", "moses")
    (tmp_path / "lex.f2e").write_text(text)
    found = run("--from", "moses", tmp_path / "lex.f2e", *vcb, "--format", "giza")
    wanted = {words for words, p in rows(table.read_text()).items() if round(p, 7) > 1e-7}
    assert rows(found).keys() == wanted
    (tmp_path / "lex.e2f").write_text(text)  # as if of the other direction: src and tgt change places
    both = tmp_path / "empty", tmp_path / "lex.e2f"
    both[0].write_text("")
    swapped = run("--from", "moses", *both, "--vcb", vcb[2], vcb[1], "--format", "giza")
    assert swapped == found
    assert "giza needs --vcb SRC TGT" in run("--from", "giza", table, code=2)
    assert "--vcb is for giza" in run("--from", "moses", tmp_path / "lex.f2e", *vcb, code=2)
    assert "only one file can be -" in run("--from", "giza", "-", "--vcb", "-", vcb[2], code=2)
    wrong = run("--from", "giza", table, "--vcb", vcb[1], vcb[1], code=1)
    assert "stands for no word" in wrong


def test_both_directions_of_giza(write, tmp_path):
    """In a table of p(src | tgt) the numbers of target words come first."""
    vcb = "--vcb", write("src.vcb", "2 a 1\n3 b 1\n"), write("tgt.vcb", "2 x 1\n4 y 1\n")
    tables = write("forward", "0 4 1\n3 2 0.5\n"), write("reverse", "2 3 0.25\n")
    tsv = run("--from", "giza", *tables, *vcb)
    assert tsv == "b\tx\t0.5\t0.25\n"
    reverse = run("--from", "giza", *tables, *vcb, "--format", "giza", "--direction", "reverse")
    assert reverse == "2 3 0.25\n"
    assert run("--from", "giza", *tables, *vcb, "--format", "giza") == "0 4 1\n3 2 0.5\n"


def test_null_is_not_among_the_translations_of_tsv(write):
    text = write("src", "a a a\n"), write("tgt", "x\n")
    arguments = "--links", write("links", "0-0\n"), "--text", *text, "--top", 1
    assert run(*arguments) == "a\tx\t0.333333\t1\n"
    assert run(*arguments, "--format", "moses", "--direction", "forward") == "NULL a 0.6666667\n"


def test_links_are_no_table(write):
    text = write("src", "a\n"), write("tgt", "x\n")
    wrong = run("--links", write("links", "0-0\n"), "--text", *text, "--from", "moses", code=2)
    assert "--from is for a TABLE" in wrong


def test_words_end_where_the_user_says(write):
    text = write("src", "a\u00a0b\n"), write("tgt", "x y\n")
    arguments = "--links", write("links", "0-0 1-1\n"), "--text", *text
    assert run(*arguments, "--split", "unicode") == "a\tx\t1\t1\nb\ty\t1\t1\n"
    assert "link 1-1 of sentence 1 is outside its pair of 1 and 2 words" in run(*arguments, code=1)


def test_the_word_null_of_a_text_is_told(write, caplog):
    text = write("src", "NULL a\n"), write("tgt", "x y\n")
    links = write("links", "0-0 1-1\n")
    assert run("--links", links, "--text", *text) == "NULL\tx\t1\t1\na\ty\t1\t1\n"
    assert not caplog.messages
    moses = run("--links", links, "--text", *text, "--format", "moses", "--direction", "forward")
    assert moses == "x NULL 1.0000000\ny a 1.0000000\n"
    assert caplog.messages == ["the word NULL occurs 1 times in the text; it counts as the NULL word"]


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        ((), 2, "give MODEL, or --links with --text, or --from with TABLE"),
        (("--links", LINKS), 2, "give MODEL, or --links with --text"),
        ((*COUNTED, "model"), 2, "give MODEL, or --links"),
        (("a", "b"), 2, "give one MODEL; tables need --from"),
        (("--from", "moses", "a", "b", "c"), 2, "give one TABLE or two"),
        (("--from", "tsv", "a", "b"), 2, "give one TABLE."),
        (("--from", "moses", "-", "-"), 2, "only one file can be -"),
        ((*COUNTED, "--view", "word"), 2, "--view is for a MODEL"),
        ((*COUNTED, "--format", "moses"), 2, "give -o OUT, for OUT.f2e and OUT.e2f, or --direction"),
        ((*COUNTED, "--direction", "forward"), 2, "--direction is for formats with one direction a file"),
        (
            ("--from", "moses", GOLDEN / "sample.moses.f2e", "--format", "marian", "--direction", "reverse"),
            1,
            "there are no probabilities of direction reverse",
        ),
        (
            ("--from", "tsv", GOLDEN / "sample.moses.f2e"),
            1,
            "sample.moses.f2e:1: the line is not `src<TAB>tgt<TAB>p(tgt | src)<TAB>p(src | tgt)`;"
            " is this the file's format?: --from",
        ),
    ],
)
def test_what_cannot_be_asked_for(arguments, code, message):
    assert message in run(*arguments, code=code)
