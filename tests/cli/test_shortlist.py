"""shortlist: of links, models and lexicons; what it warns of, and what cannot be asked for."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import ROOT

from aligner.cli import cli
from aligner.uses.shortlist import MAGIC

GOLDEN = ROOT / "tests" / "uses" / "golden"
LEXICONS = ROOT / "tests" / "cli" / "compat" / "golden"
LINKS = ROOT / "tests" / "links" / "golden" / "sample.symal.grow-diag-final-and"
TEXT = ROOT / "data" / "sample.en", ROOT / "data" / "sample.fr"
VOCABS = "--vocabs", GOLDEN / "sample.vocab", GOLDEN / "sample.vocab"
WAYS = {"s2t": "forward", "t2s": "reverse"}


def run(*arguments: object, code: int = 0, stdin: bytes | None = None) -> bytes:
    """stdout of the command, or stderr if it must exit with another code than 0."""
    result = CliRunner().invoke(cli, ["shortlist", *map(str, arguments)], input=stdin)
    assert result.exit_code == code, result.output
    return result.stdout_bytes if code == 0 else result.stderr_bytes


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return trained(tmp_path_factory.mktemp("model") / "model")


def trained(path: Path, *more: str, views: str = "word") -> Path:
    settings = ["-q", "--model", "hmm", "--views", views, "--threads", "1", *more, "-o", str(path)]
    result = CliRunner().invoke(cli, ["train", *map(str, TEXT), *settings])
    assert result.exit_code == 0, result.output
    return path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("block", [7, 1 << 13])
def test_of_links_as_the_originals(monkeypatch, way, block):
    monkeypatch.setattr("aligner.links.formats.BLOCK", block)
    direction = "--direction", WAYS[way]
    found = run(LINKS, *TEXT, *VOCABS, "--best", 3, *direction)
    assert found == (GOLDEN / f"sample.pruned.{way}").read_bytes()
    found = run(LINKS, *TEXT, *VOCABS, "--best", 2, "--first", 5, "--binary", *direction)
    assert found == (GOLDEN / f"sample.{way}.bin").read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_of_a_lexicon_as_the_originals(tmp_path, way):
    """In the order of the lines that there are, NULL or not, compressed or from stdin."""
    lexicon = LEXICONS / f"sample.extract-lex.{way}"
    assert run(lexicon, *VOCABS, "--best", 3) == (GOLDEN / f"sample.pruned.{way}").read_bytes()
    packed = tmp_path / "lex.gz"
    packed.write_bytes(gzip.compress(lexicon.read_bytes()))
    wanted = (GOLDEN / f"sample.{way}.bin").read_bytes()
    out = tmp_path / "lex.bin"
    run(packed, *VOCABS, "--best", 2, "--first", 5, "--binary", "-o", out)
    assert out.read_bytes() == wanted
    stdin = lexicon.read_bytes()
    assert run("-", *VOCABS, "--best", 2, "--first", 5, "--binary", stdin=stdin) == wanted


def test_equal_probabilities_of_a_lexicon_keep_their_order(write):
    lexicon = write("lex", "z a 0.5\nx a 0.5\ny b 0.25\nNULL b 0.75\nx b 0.00000001\n")
    assert run(lexicon, "--best", 1) == b"z a 0.50000000\ny b 0.25000000\n"
    assert run(lexicon, "--min-prob", 0.3) == b"z a 0.50000000\nx a 0.50000000\n"


def test_a_shortlist_is_a_lexicon_whose_lines_may_repeat(write, caplog):
    """A word pair that stands twice with one probability is none to warn of."""
    first = run(LINKS, *TEXT, *VOCABS)
    caplog.clear()
    again = run(write("lex", first), *VOCABS)
    assert sorted(set(again.splitlines())) == sorted(set(first.splitlines()))
    assert not [message for message in caplog.messages if "repeat" in message]


def test_of_a_model(model, tmp_path):
    """The table of its words, or counts along its links of a text."""
    lines = run(model, "--best", 2).decode().splitlines()
    of_words = {}
    for line in lines:
        f, e, p = line.split(" ")
        of_words.setdefault(e, []).append((float(p), f))
    assert list(of_words) == sorted(of_words) and max(map(len, of_words.values())) == 2
    assert of_words["the"][0][0] >= of_words["the"][1][0] > 0
    links = tmp_path / "links"
    decode = ["decode", str(model), *map(str, TEXT), "--threads", "1", "-o", str(links)]
    assert CliRunner().invoke(cli, decode).exit_code == 0
    assert run(model, *TEXT, *VOCABS) == run(links, *TEXT, *VOCABS)


def test_words_of_a_text_are_not_lower_cased(tmp_path, caplog):
    """A model that lower-cases its text has lower-cased words; the text has its own."""
    low = trained(tmp_path / "low", "--lowercase")
    assert b" The " not in run(low) and "lower-cased" in caplog.text
    assert b" The " in run(low, *TEXT)


def test_models_that_have_no_such_table(tmp_path):
    cut = trained(tmp_path / "cut", views="prefix3")
    assert b"the model has no view of whole words" in run(cut, code=1)
    one = trained(tmp_path / "one", "--direction", "forward")
    assert run(one)
    assert b"there are no probabilities of direction reverse" in run(one, "--direction", "reverse", code=1)


def test_words_of_any_encoding_come_out_as_they_went_in(write):
    src, tgt = write("src", "été".encode("latin-1") + b"\n"), write("tgt", "\u3000夏\n")
    wanted = "\u3000夏 ".encode() + "été".encode("latin-1") + b" 1.00000000\n"
    assert run(write("links", "0-0\n"), src, tgt) == wanted
    vocabs = (
        write("v.src", b"<unk>\n" + "été".encode("latin-1") + b"\n"),
        write("v.tgt", "\u3000夏 1\n<unk>\n"),
    )
    packed = run(write("links", "0-0\n"), src, tgt, "--vocabs", *vocabs, "--binary", "--best", 1)
    assert packed[:8] == MAGIC.to_bytes(8, "little") and packed[48:] == bytes([0] * 16 + [1] + [0] * 11)


def test_warnings(write, caplog):
    files = write("links", "0-0 1-1\n"), write("src", "a b\n"), write("tgt", "x y\n")
    good = write("good", "<unk>\ny\nx\na\nb\n")
    run(*files, "--vocabs", good, good, "--binary")
    assert caplog.messages == []
    strange = write("strange", "<unk>\na\nx\ny\nlast\n")
    run(*files, "--vocabs", strange, strange, "--binary")
    assert "strange does not have 1 of 2 source words" in caplog.messages[0]
    assert "the last word of" in caplog.messages[1] and len(caplog.messages) == 2
    caplog.clear()
    run(*files, "--vocabs", strange, strange)
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(
    "links, src, tgt, message",
    [
        (
            "0-0\n0-1\n",
            "a\nb\n",
            "x\ny\n",
            "links:2: link 0-1 of sentence 2 is outside its pair of 1 and 1 words",
        ),
        (
            "1-1 2-2\n1-1\n",
            "a b\nc\n",
            "x y\nz\n",
            "links:1: link 2-2 of sentence 1 is outside its pair of 2 and 2",
        ),
        ("1-1\n", "a\n", "x\n", "the links look 1-based, so give their base: --base 1"),
        ("0-0\n", "a\nb\n", "x\ny\n", "links has 1 lines, {}/src has more; text and links must match"),
        ("0-0\n\n", "a\n", "x\n", "src has 1 lines, {}/links has more"),
        ("0?0\n", "a\n", "x\n", "links: the links look like gold; convert them to `i-j` first"),
        ("x a 0.5\n", "a\n", "x\n", "links:1:1: a position was expected; is this a file of links?"),
    ],
)
def test_links_that_do_not_fit_are_refused(write, tmp_path, monkeypatch, links, src, tgt, message):
    """With file, line and cure, whatever block they are in; nothing is written."""
    monkeypatch.setattr("aligner.links.formats.BLOCK", 1)
    files = [write(name, text) for name, text in (("links", links), ("src", src), ("tgt", tgt))]
    out = tmp_path / "out"
    assert message.format(tmp_path) in run(*files, "-o", out, code=1).decode()
    assert not out.exists()


def test_base(write):
    files = write("links", "1-1 2-2\n"), write("src", "a b\n"), write("tgt", "x y\n")
    assert run(*files, "--base", 1) == b"x a 1.00000000\ny b 1.00000000\n"


def test_what_is_no_lexicon_is_refused(write):
    message = run(write("links", "0-0 1-1\n"), code=1).decode()
    assert "links:1: the line is not `tgt src p`; is this a lexicon of extract_lex or a shortlist?" in message
    assert (
        "lex:2: the probability is not between 0 and 1"
        in run(write("lex", "x a 1\ny a 2\n"), code=1).decode()
    )
    assert run(write("lex", "")) == b""


def test_usage(model, write, tmp_path):
    lexicon = write("lex", "x a 1\n")
    for arguments, message in (
        ((lexicon, "src"), "give SRC and TGT, or neither"),
        ((lexicon, "--binary"), "--binary needs --vocabs SRC TGT"),
        ((lexicon, "--first", 3), "--first is for words of --vocabs"),
        ((lexicon, "--base", 1), "--base is for LINKS with SRC and TGT"),
        ((model, "--base", 1), "--base is for LINKS with SRC and TGT"),
        ((lexicon, "--direction", "reverse"), "a LEXICON has one direction"),
        ((lexicon, "--best", 0), "0 is not in the range"),
        (("-", "-", "tgt"), "only one file can be -"),
        ((lexicon, "-o", lexicon), "which is read"),
        ((), "Missing argument"),
    ):
        assert message in run(*arguments, code=2).decode()
    assert b"lex: the file exists" in run(model, "-o", lexicon, code=1)
    run(model, "-o", lexicon, "--overwrite")


def test_one_stdin_for_both_vocabularies(write):
    """A vocabulary of both sides may come from a pipe."""
    vocabulary = (GOLDEN / "sample.vocab").read_bytes()
    found = run(LINKS, *TEXT, "--vocabs", "-", "-", "--best", 3, stdin=vocabulary)
    assert found == (GOLDEN / "sample.pruned.s2t").read_bytes()


def test_interrupted_it_leaves_nothing(tmp_path):
    """While it waits for links that do not come."""
    command = [str(Path(sys.executable).with_name("aligner")), "shortlist", "-", *map(str, TEXT)]
    process = subprocess.Popen(
        [*command, "-o", str(tmp_path / "out")], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stderr is not None
    while not any(tmp_path.iterdir()):
        assert process.poll() is None
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(30) == 130 and process.stderr.read() == "aligner: interrupted\n"
    process.stdin.close()
    process.stderr.close()
    assert list(tmp_path.iterdir()) == []


def test_check_says_whether_links_are_for_guided_alignment(write, caplog):
    """check --guided and --vocabs: rows, and warnings of links and vocabularies of another text."""

    def check(*arguments: object, code: int = 0) -> str:
        result = CliRunner().invoke(cli, ["check", *map(str, arguments)])
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.stderr

    src, tgt = write("src", "a b c d\n" * 9), write("tgt", "x y\n" * 9)
    vocabs = "--vocabs", write("v.src", "<unk>\na\nb\nc\n"), write("v.tgt", "<unk>\nx\ny\n")
    good = write("good", "0-0 3-1 4-2\n" * 9)
    rows = dict(
        line.split("  ", 1) for line in check(src, tgt, "--links", good, "--guided", *vocabs).splitlines()
    )
    rows = {name: value.strip() for name, value in rows.items()}
    assert (rows["links"], rows["links of both ends"], rows["links end early"]) == ("27", "9", "0")
    assert rows["source words not in vocabulary"] == "9" and rows["target words not in vocabulary"] == "0"
    assert "v.src does not have 9 of 36 source words" in caplog.messages[0] and len(caplog.messages) == 1
    caplog.clear()
    check(src, tgt, "--links", write("early", "0-0:0.5\n" * 9), "--guided")
    assert "has scores, which Marian does not read" in caplog.messages[0]
    assert "end before the text does" in caplog.messages[1]
    bad = write("bad", "0-0\n" * 7 + "4-0\n" + "0-0\n")
    assert "bad:8: link 4-0 of sentence 8 is outside" in check(src, tgt, "--links", bad, "--guided", code=1)
    assert "--guided is for --links" in check(src, tgt, "--guided", code=2)
    assert "`aligner convert`" in check(src, tgt, "--links", good, "--guided", "--base", 1, code=2)
