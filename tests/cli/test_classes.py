"""aligner classes: how text is read, what is written and told."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from programs import run

TEXT = "The cat\nthe dog\r\na\tcat\na dog\n\na m\u00e9\u00a0o\n"


def classes_of(*words: str | Path, **streams) -> dict[str, str]:
    return dict(line.split("\t") for line in run("classes", *words, **streams).stdout.splitlines())


def test_text_is_read_as_other_commands_read_it(write, tmp_path):
    text = write("text", TEXT)
    plain = classes_of(text, "--classes", "2")
    assert plain.keys() == {"The", "the", "a", "cat", "dog", "m\u00e9\u00a0o"}
    assert plain["the"] == plain["a"] == "2" and plain["cat"] == plain["dog"] == "3"
    assert classes_of(text, "--lowercase").keys() == {"the", "a", "cat", "dog", "m\u00e9\u00a0o"}
    assert classes_of(text, "--split", "unicode").keys() == {"The", "the", "a", "cat", "dog", "m\u00e9", "o"}
    packed = tmp_path / "text.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert classes_of(packed, "--classes", "2") == plain
    assert (
        classes_of(write("latin", TEXT.encode("latin-1")), "--encoding", "latin-1", "--classes", "2") == plain
    )
    assert classes_of("--classes", "2", stdin=TEXT.encode()) == plain


def test_the_same_options_give_the_same_file(data, tmp_path):
    outs = [tmp_path / name for name in ("a", "b", "c", "d.gz")]
    for out, seed in zip(outs, (1, 1, 2, 1), strict=True):
        told = run("classes", data / "sample.en", "--rounds", "3", "--seed", seed, "-v", "-o", out).stderr
        lines = told.splitlines()
        assert re.fullmatch(r"round 1: noise 1\.2000, \d+ words moved, perplexity \d+\.\d{4}", lines[0])
        assert re.fullmatch(r"round \d+: 0 words moved, perplexity \d+\.\d{4}", lines[-1])
    texts = [out.read_bytes() for out in outs]
    assert texts[0] == texts[1] == gzip.decompress(texts[3]) != texts[2]
    words = [line.split(b"\t")[0] for line in texts[0].splitlines()]
    assert words == sorted(set((data / "sample.en").read_bytes().split()))


def test_what_is_refused(write):
    text = write("text", "a b\n")
    assert "which is read: give another name" in run("classes", text, "-o", text, code=2).output
    assert "0 is not in the range" in run("classes", text, "--classes", "0", code=2).output
    bad = write("bad", b"\xe9\n")
    assert "bad:1:1: invalid UTF-8" in run("classes", bad, code=1).output
    assert "--encoding" in run("classes", bad, code=1).output


def test_a_text_without_words(write):
    assert run("classes", write("text", "")).stdout == run("classes", write("lines", "\n\n")).stdout == ""
