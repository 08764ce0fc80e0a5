"""symal: what the real one prints for the sample, its options, and what is told.

golden/symal has the A3 files of GIZA++ of data/sample.*, what giza2bal.pl makes of them, and what symal
prints for it. The names are values of -a; of -a=g with those of -d, -f and -b.
"""

from __future__ import annotations

import os
import subprocess
import sys

import oracle
import programs
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from programs import run
from strategies import directional

GOLDEN = programs.GOLDEN / "symal"
BAL = GOLDEN / "sample.bal"
GROWN = ["gnnn", "gnyn", "gnyy", "gynn", "gyyn", "gyyy"]
ONE_PAIR = b"1\n2 x y # 1 0\n2 a b # 2 2\n"


@pytest.mark.parametrize("name", GROWN)
def test_grown(name):
    d, f, b = ({"y": "yes", "n": "no"}[x] for x in name[1:])
    short = [f"-{option}={value}" for option, value in zip("adfb", name, strict=True)]
    long = ["-alignment=grow", f"-diagonal={d}", f"-final={f}", f"-both={b}"]
    for words in (short, long, [*long, "-verbose=yes", "-v=n"]):
        result = run("symal", *words, stdin=BAL.read_bytes())
        assert result.stdout_bytes == (GOLDEN / name).read_bytes()
        flags = [x == "y" for x in name[1:]]
        assert result.stderr == (
            "symal: computing grow alignment: diagonal ({:d}) final ({:d})both-uncovered ({:d})\n".format(
                *flags
            )
        )


@pytest.mark.parametrize(
    "name, long, says",
    [
        ("u", "union", "union"),
        ("i", "intersect", "intersect"),
        ("s2t", "srctotgt", "source-to-target"),
        ("t2s", "tgttosrc", "target-to-source"),
    ],
)
def test_sets(name, long, says):
    for word in (f"-a={name}", f"-alignment={long}"):
        result = run("symal", word, stdin=BAL.read_bytes())
        assert result.stdout_bytes == (GOLDEN / name).read_bytes()
        assert result.stderr == f"symal: computing {says} alignment\nSents: 60\n"


def test_a_full_stderr_costs_no_links():
    words = [sys.executable, "-m", "aligner", "symal", "-a=u", f"-i={BAL}"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            words, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=full
        )
    assert (done.returncode, done.stdout) == (0, (GOLDEN / "u").read_bytes())


def test_a_file_is_written_into(tmp_path):
    """Whoever holds the file open reads the links."""
    out = tmp_path / "links"
    out.write_text("old")
    with open(out, "rb") as held:
        assert run("symal", f"-i={BAL}", "-a=u", f"-o={out}").stdout_bytes == b""
        assert held.read() == (GOLDEN / "u").read_bytes()
    run("symal", "-i=missing", "-a=u", f"-o={out}", code=1)
    run("symal", f"-i={GOLDEN / 'u'}", "-a=u", f"-o={out}", code=1)
    assert out.read_bytes() == (GOLDEN / "u").read_bytes()


def test_the_other_commands_read_what_giza_wrote(data):
    """One golden chain from A3 files to links, by `symmetrize`, with the words of the text checked."""
    text = ["--text", data / "sample.en", data / "sample.fr"]
    both = GOLDEN / "fr-en.A3.final", GOLDEN / "en-fr.A3.final"
    for files in (both, [BAL]):
        result = run("symmetrize", *files, *text)
        assert result.stdout_bytes == (GOLDEN / "gyyy").read_bytes()
        assert run("symmetrize", *files, "-m", "srctotgt").stdout_bytes == (GOLDEN / "s2t").read_bytes()
    forward = run("convert", both[0], *text).stdout_bytes
    assert run("convert", BAL, "--from", "bal", *text, "--to", "wpt").output == run(
        "convert", "--to", "wpt", stdin=(GOLDEN / "t2s").read_bytes()
    ).output  # fmt: skip
    again = run("convert", "-", "--to", "a3", *text, stdin=forward).output.splitlines()
    golden = both[0].read_text().splitlines()
    assert [again[k] for k in range(len(again)) if k % 3] == [golden[k] for k in range(len(golden)) if k % 3]
    assert "sample.en" not in run("check", *text[1:], "--links", both[1], "--from", "a3-reverse").output
    assert "a3-reverse" in run("check", *text[1:], "--links", both[1], code=1).stderr


@given(pairs=st.lists(directional(), min_size=1, max_size=4), flags=st.tuples(*[st.booleans()] * 3))
def test_any_links(pairs, flags):
    text = ""
    for forward, reverse in pairs:
        n_src, n_tgt = (1 + max([0, *(link[k] for link in forward | reverse)]) for k in range(2))
        by = {j: i + 1 for i, j in forward}, {i: j + 1 for i, j in reverse}
        text += "1\n"
        for n, of in zip((n_tgt, n_src), by, strict=True):
            text += f"{n} {'# ' * n}# {' '.join(str(of.get(k, 0)) for k in range(n))}\n"
    words = [f"-{name}={'yes' if flag else 'no'}" for name, flag in zip("dfb", flags, strict=True)]
    lines = [oracle.symal(f, r, *flags) for f, r in pairs]
    expected = "".join(" ".join(f"{i}-{j}" for i, j in line) + "\n" for line in lines)
    assert run("symal", "-a=g", *words, stdin=text.encode()).stdout_bytes.decode() == expected


def test_long_sentences_are_read():
    """symal has room for 399 words."""
    n = 1000
    line = f"{n} {'w ' * n}# {' '.join(map(str, range(1, n + 1)))}\n"
    result = run("symal", "-a=i", stdin=f"1\n{line}{line}".encode())
    assert result.stdout_bytes.decode() == " ".join(f"{k}-{k}" for k in range(n)) + "\n"


def test_what_giza2bal_failed_at_keeps_its_link_and_is_told():
    failed = b"1\n1 ALIGN_ERR # 1\n1 ALIGN_ERR # 1\n"
    result = run("symal", "-a=u", stdin=ONE_PAIR + failed)
    assert result.stdout_bytes == b"0-1 1-1 0-0\n0-0\n"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-d=yes"],
        ["-a="],
        ["-a=grow-diag"],
        ["-d=maybe", "-a=g"],
        ["-alig=g"],
        ["-a", "g"],
        ["-i=missing", "-a=u"],
    ],
)
def test_what_is_wrong_has_exit_code_1(words):
    result = run("symal", *words, stdin=ONE_PAIR, code=1)
    assert result.stdout_bytes == b""
    assert "aligner: " in result.stderr


def test_words_without_meaning_are_named(caplog):
    result = run("symal", "-a=g", "-d=", "and", "-f=yes", stdin=ONE_PAIR)
    assert result.stdout_bytes == b"\n"
    assert [x.message for x in caplog.records] == [
        "-d= has no value, and is not used",
        "not used: and -f=yes",
    ]


def test_input_that_is_cut_off_is_an_error():
    result = run("symal", "-a=u", stdin=ONE_PAIR + b"1\n1 x # 0\n", code=1)
    assert "ends within a sentence pair" in result.stderr


def test_links_do_not_replace_what_is_read(tmp_path):
    both = tmp_path / "both.bal"
    both.write_bytes(ONE_PAIR)
    assert "which is read" in run("symal", "-a=u", f"-i={both}", f"-o={both}", code=2).stderr
    assert both.read_bytes() == ONE_PAIR
