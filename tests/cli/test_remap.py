"""aligner remap, and --remap-src and --remap-tgt: files in, links out, and what is wrong with files."""

from __future__ import annotations

import gzip

import pytest
from click.testing import CliRunner

from aligner.cli import cli

FILES = {
    "en": "the hon. member\n\nhello world\n",
    "fr": "le député\n\nbonjour le monde\n",
    "en.bpe": "the hon@@ . mem@@ ber\n\nhel@@ lo world\n",
    "fr.bpe": "le dé@@ puté\n\nbon@@ jour le monde\n",
    "links": "0-0 2-1\n\n0-0 1-1 1-2\n",
    "bpe.links": "0-0 3-1 3-2 4-1 4-2\n\n0-0 0-1 1-0 1-1 2-2 2-3\n",
}
THERE = "--from en fr --to en.bpe fr.bpe"
BACK = "--from en.bpe fr.bpe --to en fr"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(words: str, **options):
    return CliRunner().invoke(cli, words.split(), **options)


def printed(words: str, **options) -> str:
    done = run(words, **options)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("block", [1, 2, 100])
def test_there_and_back(block, monkeypatch):
    monkeypatch.setattr("aligner.links.formats.BLOCK", block)
    monkeypatch.setattr("aligner.text.reading.BLOCK", 2)
    assert printed(f"remap links {THERE}") == FILES["bpe.links"]
    assert printed(f"remap bpe.links {BACK} --threads 1") == FILES["links"]
    assert printed(f"remap {THERE}", input=FILES["links"]) == FILES["bpe.links"]
    assert printed("remap links --from en fr --to en fr.bpe") == "0-0 2-1 2-2\n\n0-0 0-1 1-2 1-3\n"


def test_options():
    assert printed(f"remap links {THERE} --pieces first") == "0-0 3-1\n\n0-0 2-2 2-3\n"
    assert printed(f"remap links {THERE} --pieces last --to-scheme bpe") == "0-0 4-2\n\n1-1 2-2 2-3\n"
    assert printed(f"remap bpe.links {BACK} --merge mean").splitlines()[0] == "0-0:1 2-1:1"
    assert printed(f"remap bpe.links {BACK} --merge majority --from-scheme bpe,bpe") == FILES["links"]
    done = run(f"remap links {THERE} --to-scheme bpe,x")
    assert done.exit_code == 2 and "'bpe,x' is not one or two of sentencepiece, icu, bpe" in done.stderr
    done = run(f"remap links {THERE} --to-scheme words")
    assert (
        done.exit_code == 1 and 'en.bpe:1:5: the text is not that of en, line 1: "hon@@" here' in done.stderr
    )
    assert printed(f"remap links {THERE} -o out.gz") == ""
    with gzip.open("out.gz", "rt") as out:
        assert out.read() == FILES["bpe.links"]
    assert "the file exists" in run(f"remap links {THERE} -o out.gz").stderr
    assert "-o is en.bpe, which is read" in run(f"remap links {THERE} -o en.bpe --overwrite").stderr


@pytest.mark.parametrize(
    ("links", "found"),
    [
        ("0-0:0.5 2-1:0.25\n\n\n", "0-0:0.5 3-1:0.25 3-2:0.25 4-1:0.25 4-2:0.25\n\n\n"),
        ("0-0 2?1\n\n\n", "0-0 3?1 3?2 4?1 4?2\n\n\n"),
        ("1-1 3p2\n\n\n", "1-1 4p2 4p3 5p2 5p3\n\n\n"),
        ("1 1 1 S\n1 3 2 P\n", "0001 1 1 S\n0001 4 2 P\n0001 4 3 P\n0001 5 2 P\n0001 5 3 P\n"),
        ("0\t0-0-0.5\n1\t\n2\t\n", "0\t0-0-0.5\n1\t\n2\t\n"),
    ],
)
def test_formats(links, found, files):
    (files / "links").write_text(links)
    assert printed(f"remap links {THERE}") == found
    plain = printed(f"remap links {THERE} --output-format pharaoh")
    assert plain.startswith("0-0") and not set(plain) - set("0123456789- \n")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("links", "0-0\n", "en has 3 lines, links has links of 1"),
        ("links", "0-0\n\n\n\n\n", "en has 3 lines, links has links of 5"),
        ("fr.bpe", "le dé@@ puté\n\n", "fr.bpe has 2 lines, links has links of 3"),
        ("en", "the hon. member\n\nhello world\nmore\n", "en has 4 lines, links has links of 3"),
        ("links", "0-0 3-1\n\n\n", "links:1: link 3-1 of sentence 1 is outside its pair of 3 and 2 words"),
        ("links", "0-0 rubbish\n\n\n", "links:1:5: a position was expected"),
        ("links", "0-0:2\n\n\n", "score 2 of link 0-0 is not between 0 and 1"),
        (
            "en.bpe",
            "the hon@@ . mem@@ ber\n\nhel@@ lo word\n",
            'en.bpe:3:10: the text is not that of en, line 3: "word"',
        ),
        ("en.bpe", b"the \xff\n\n\n", "en.bpe:1:5: invalid UTF-8"),
        ("en.bpe", FILES["fr.bpe"], "en.bpe:1:1: the text is not that of en, line 1"),
    ],
)
def test_what_is_wrong_with_files(name, text, message, files):
    (files / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run(f"remap links {THERE} --merge majority -o out")
    assert done.exit_code == 1 and message in done.stderr, done.stderr
    assert not (files / "out").exists()


def test_what_is_left_out(files, caplog):
    (files / "en.bpe").write_text("[CLS] the hon ##. [SEP]\n")
    (files / "fr.bpe").write_text("le dé ##puté\n")
    (files / "en").write_text("the hon.\n")
    (files / "fr").write_text("le député\n")
    (files / "links").write_text("0-0 1-0 2-1 3-2 4-2\n")
    done = run(f"remap links {BACK}")
    assert done.stdout == "0-0 1-1\n"
    assert caplog.messages == ["links: 2 links of tokens that stand for no text left out"]
    caplog.clear()
    (files / "links").write_text("0-0:0.5\n")
    assert printed(f"remap links {THERE}") == "1-0:0.5\n" and caplog.messages == []
    assert printed(f"remap links {THERE} --output-format pharaoh") == "1-0\n"
    assert caplog.messages == ["links: 1 scores left out: pharaoh has no mark for them"]
    caplog.clear()
    (files / "fr").write_text("le\u00a0député\n")
    printed(f"remap links {THERE}")
    assert len(caplog.messages) == 1 and caplog.messages[0].startswith("fr, line 1: U+00A0 is part of a word")
    caplog.clear()
    (files / "links").write_text("0-1\n")
    assert "links:1: link 0-1 of sentence 1 is outside" in run(f"remap links {THERE}").stderr
    assert len(caplog.messages) == 1 and caplog.messages[0].startswith("fr, line 1: U+00A0 is part of a word")


def test_empty_files(files):
    for name in FILES:
        (files / name).write_text("")
    assert printed(f"remap links {THERE}") == ""


def test_align_and_decode_write_links_of_subwords(data, files):
    for language in ("en", "fr"):
        lines = (data / f"sample.{language}").read_text().splitlines()
        cut = [" ".join(f"{w[:3]}@@ {w[3:]}" if len(w) > 3 else w for w in line.split()) for line in lines]
        (files / f"cut.{language}").write_text("".join(line + "\n" for line in cut))
    text = f"{data}/sample.en {data}/sample.fr"
    fast = "-q --fast --model ibm1 --iterations 2"
    new = "--remap-src cut.en --remap-tgt cut.fr"
    printed(f"align {text} {fast} -o words --save model")
    expected = printed(f"remap words --from {text} --to cut.en cut.fr")
    assert printed(f"align {text} {fast} {new}") == expected
    assert printed(f"decode model {text} {new}") == expected
    lines = zip(*((data / f"sample.{x}").read_text().splitlines() for x in ("en", "fr")), strict=True)
    both = "".join(f"{a} ||| {b}\n" for a, b in lines)
    assert printed(f"decode model {new}", input=both) == expected
    one = printed(f"remap words --from {text} --to cut.en {data}/sample.fr --pieces last")
    assert printed(f"decode model {text} --remap-src cut.en --pieces last") == one
    assert ":" in printed(f"decode model {text} {new} --scores --merge mean")
    for words, code, message in (
        ("--pieces first", 2, "--pieces is for --remap-src and --remap-tgt"),
        (f"{new} --merge mean", 2, "--merge mean makes scores"),
        ("--remap-src nothing", 1, "nothing: No such file or directory"),
        ("--remap-src en", 1, "en:1:"),
        ("--remap-src cut.en -o cut.en --overwrite", 2, "which is read"),
    ):
        done = run(f"decode model {text} {words}")
        assert done.exit_code == code and message in done.stderr, done.stderr
    lines = (files / "cut.en").read_text().splitlines(True)
    for wrong, message in (
        (lines[:-1], "59 lines, the text has more"),
        ([*lines, "x\n"], "61 lines, the text has 60"),
    ):
        (files / "cut.en").write_text("".join(wrong))
        done = run(f"decode model {text} {new}")
        assert done.exit_code == 1 and f"cut.en has {message}" in done.stderr


@pytest.mark.parametrize("empty", ["cut.en", "cut.fr"])
def test_an_empty_file_is_named(data, files, empty):
    """It ends where the first part of the text begins, and the other file does not."""
    text = f"{data}/sample.en {data}/sample.fr"
    for language in ("en", "fr"):
        (files / f"cut.{language}").write_bytes((data / f"sample.{language}").read_bytes())
    (files / empty).write_text("")
    done = run(f"align {text} -q --fast --model ibm1 --iterations 1 --remap-src cut.en --remap-tgt cut.fr")
    assert done.exit_code == 1 and f"aligner: {empty} has 0 lines, the text has more" in done.stderr


@pytest.mark.parametrize(
    "words",
    [f"remap links {THERE}", "align en fr -q --remap-src en.bpe", "align en fr -q --dictionary en.bpe"],
)
def test_the_option_that_names_the_encoding_is_said(files, words):
    (files / "en.bpe").write_bytes(b"the \xff\n\n\n")
    done = run(words)
    assert done.exit_code == 1 and "for example latin-1: --encoding" in done.stderr, done.stderr
