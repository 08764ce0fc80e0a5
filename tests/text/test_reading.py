"""Files of parallel text: whole lines, the three layouts, encodings, and what is refused where."""

from __future__ import annotations

import bz2
import gzip
import lzma
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import sentences

from aligner import DataError, read_corpus
from aligner.text._corpus import end_of_line
from aligner.text.corpus import Corpus
from aligner.text.reading import line_blocks
from aligner.text.sides import Side

pytestmark = pytest.mark.usefixtures("blocks")


def spelled(side: Side) -> list[list[str]]:
    return [side.sentence(n) for n in range(len(side))]


def both(corpus: Corpus) -> tuple[list[list[str]], list[list[str]]]:
    return spelled(corpus.src), spelled(corpus.tgt)


def text_of(lines: list[list[str]], end: str = "\n") -> str:
    return "".join(" ".join(line) + end for line in lines)


@st.composite
def parallel(draw):
    pairs = draw(st.lists(st.tuples(sentences, sentences), max_size=6))
    return [list(side) for side in zip(*pairs, strict=True)] if pairs else [[], []]


@given(lines=parallel(), end=st.sampled_from(["\n", "\r\n", " \n", "\t\n"]))
def test_two_files(tmp_path_factory, lines, end):
    folder = tmp_path_factory.getbasetemp()
    (folder / "src").write_bytes(text_of(lines[0], end).encode())
    (folder / "tgt").write_bytes(("\ufeff" + text_of(lines[1], end)).encode())
    corpus = read_corpus(str(folder / "src"), str(folder / "tgt"))
    src = [line[:] for line in lines[0]]
    if src and src[0] and src[0][0].startswith("\ufeff"):  # a byte order mark is not text
        src[0][0] = src[0][0][1:]
        src[0] = [word for word in src[0] if word]
    assert both(corpus) == (src, lines[1])


@given(lines=parallel())
def test_one_file_with_both_sides(tmp_path_factory, lines):
    path = tmp_path_factory.getbasetemp() / "both"
    if any(word in ("|||", "\ufeff") for side in lines for line in side for word in line):
        return
    for separator, layout in ((" ||| ", "bars"), ("\t", "tsv")):
        rows = (" ".join(a) + separator + " ".join(b) + "\n" for a, b in zip(*lines, strict=True))
        path.write_bytes("".join(rows).encode())
        assert both(read_corpus(str(path), layout=layout)) == (lines[0], lines[1])


def test_layout_is_seen(write):
    assert both(read_corpus(write("bars", "\na b ||| c\n||| d\ne |||\n"))) == (
        [[], ["a", "b"], [], ["e"]],
        [[], ["c"], ["d"], []],
    )
    assert both(read_corpus(write("tsv", "a b\tc\n\td\ne\t\n"))) == (
        [["a", "b"], [], ["e"]],
        [["c"], ["d"], []],
    )
    with pytest.raises(DataError, match=r"odd:1: neither \|\|\| nor a tab"):
        read_corpus(write("odd", "a b c\n"))
    with pytest.raises(DataError, match=r"odd:1: both \|\|\| and a tab on the line; name the layout"):
        read_corpus(write("odd", "a ||| b\tc\n"))
    assert both(read_corpus(write("odd", "a ||| b\tc\n"), layout="tsv")) == ([["a", "|||", "b"]], [["c"]])


def test_pairs_that_cannot_be_split(write):
    with pytest.raises(
        DataError, match=r"both:4: more than one \|\|\| on the line; .* at the first"
    ) as caught:
        read_corpus(write("both", "a ||| b\n" * 3 + "a ||| b ||| c\n"))
    assert (caught.value.setting, caught.value.value) == ("layout", "first-bar")
    with pytest.raises(DataError, match=r"both:3: no \|\|\| on the line"):
        read_corpus(write("both", "a ||| b\n\na|||b\n"))
    with pytest.raises(DataError, match="both:2: more than one tab"):
        read_corpus(write("both", "a\tb\na\tb\tc\n"))


def test_lines_are_split_at_the_first_bar(write):
    text = "a ||| b ||| c\n\n||| ||| |||\na|||b |||\n||||\t|||\tc\n"
    assert both(read_corpus(write("both", text), layout="first-bar")) == (
        [["a"], [], [], ["a|||b"], ["||||"]],
        [["b", "|||", "c"], [], ["|||", "|||"], [], ["c"]],
    )
    with pytest.raises(DataError, match=r"both:2: no \|\|\| on the line"):
        read_corpus(write("both", "a ||| b\na b\n"), layout="first-bar")
    with pytest.raises(ValueError, match="unknown layout 'bar'; there are bars, first-bar, tsv"):
        read_corpus(write("both", "a ||| b\n"), layout="bar")


def test_unequal_files(write):
    src, tgt = write("one", "a\nb\nc\n"), write("two", "a\nb\n")
    with pytest.raises(DataError, match=r"one has 3 lines, .*two has 2"):
        read_corpus(src, tgt)


def test_empty_lines_and_files_are_kept(write):
    corpus = read_corpus(write("src", "\n \t\na\n"), write("tgt", "x\n\n\n"))
    assert both(corpus) == ([[], [], ["a"]], [["x"], [], []])
    assert len(read_corpus(write("src", ""), write("tgt", ""))) == 0
    assert both(read_corpus(write("src", "a b"), write("tgt", "c"))) == ([["a", "b"]], [["c"]])


def test_invalid_utf8_says_where(write):
    good, bad = write("good", "a\n" * 6), write("bad", b"a\n" * 3 + b"ab\n\xc3\xa9 x\nab \xe9 c\n")
    with pytest.raises(DataError) as caught:
        read_corpus(good, bad)
    error = caught.value
    assert (error.file, error.line, error.column) == (bad, 6, 4)
    assert "byte 0xe9 at offset 17" in error.what and (error.hint, error.setting) == (
        "convert the text to UTF-8, or name the text's encoding, for example latin-1",
        "encoding",
    )


def test_invalid_bytes_of_another_encoding_say_where(write):
    bad = write("bad", b"a\nb\n" * 5 + b"\x81\n")
    with pytest.raises(DataError, match=r"bad:11: invalid cp1252 at byte 20 of the text"):
        read_corpus(bad, bad, encoding="cp1252")
    half = write("half", b"ab\ncd\n\xa4")  # half a character at the end
    with pytest.raises(DataError, match=r"half:3: invalid euc_jp at byte 6 of the text"):
        read_corpus(half, half, encoding="euc_jp")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8"])
def test_encodings(write, encoding):
    text = "l' été\nça\n"
    path = write("text", text.encode(encoding))
    assert spelled(read_corpus(path, path, encoding=encoding).src) == [["l'", "été"], ["ça"]]


def test_lowercase_folds_words_not_tokens(write):
    src = write("src", "The the THE\nÉté İ Straße\n")
    side = read_corpus(src, src, lowercase=True).src
    assert spelled(side) == [["the", "the", "the"], ["été", "i̇", "straße"]]
    assert side.vocab.words == ["the", "été", "i̇", "straße"]
    assert side.counts.tolist() == [3, 1, 1, 1]
    assert len(read_corpus(src, src).src.vocab) == 6


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, None])
def test_compressed_by_content(write, compress):
    if compress is None:
        zstd = pytest.importorskip("backports.zstd")
        compress = zstd.compress
    path = write("no-suffix", compress(b"a b\nc\n"))
    assert spelled(read_corpus(path, path).src) == [["a", "b"], ["c"]]


def test_hansards_wrapping(write):
    e = write("e", "<s snum=0001> a <s b </s>\r\n<s snum=0002>  </s>\n")
    f = write("f", "<s snum=0001> x </s>\n<s snum=0002> y </s>\n")
    assert both(read_corpus(e, f)) == ([["a", "<s", "b"], []], [["x"], ["y"]])
    plain = write("plain", "x </s>\n<s snum=0002> y </s>\n")  # the first line decides: tokens are kept
    assert spelled(read_corpus(plain, plain).src) == [["x", "</s>"], ["<s", "snum=0002>", "y", "</s>"]]
    torn = write("torn", "<s snum=0001> x </s>\n" * 3 + "y\n")
    with pytest.raises(DataError, match=r"torn:4: the line is not `<s snum=N>"):
        read_corpus(torn, torn)
    other = write("other", "<s snum=0001> x </s>\n<s snum=0003> y </s>\n")
    with pytest.raises(DataError, match=r"e:2: snum=2 stands beside snum=3 of .*other"):
        read_corpus(e, other)


@pytest.mark.parametrize(
    "line", ["<s snum=1>a</s>", "<s snum=> a </s>", "<ssnum=1> a </s>", "<s snum=1> a", "<s", ""]
)
def test_not_hansards(write, line):
    path = write("text", line + "\n")
    assert spelled(read_corpus(path, path).src) == [line.split()]


def test_a_very_long_line(write, monkeypatch):
    monkeypatch.setattr("aligner.files.CHUNK", 1 << 20)
    lines = [["w"] * 300_000, ["x" * 3_000_000]]
    path = write("text", text_of(lines))
    assert spelled(read_corpus(path, path).src) == lines


def test_stdin_cannot_be_both():
    with pytest.raises(DataError, match="stdin cannot be both sides"):
        read_corpus("-", "-")


def test_end_of_line():
    assert end_of_line(b"a\nbc\n", 0, 1) == 2
    assert end_of_line(b"a\nbc\n", 2, 1) == 5
    with pytest.raises(ValueError, match="fewer than 3 lines"):
        end_of_line(b"a\nbc\n", 0, 3)


def test_hansards_corpus(shared):
    folder = shared / "wpt2003-en-fr"
    wrapped = read_corpus(str(folder / "test.e"), str(folder / "test.f"), lowercase=True)
    assert len(wrapped) == 447
    plain = shared / "hansards-en-fr" / "test.en"  # the same sentences, with a few spellings changed
    again = read_corpus(str(plain), str(plain), lowercase=True).src
    np.testing.assert_array_equal(wrapped.src.offsets, again.offsets)
    assert spelled(wrapped.src)[0] == ["2", "."]


@given(
    chunks=st.lists(st.binary(max_size=12) | st.text("ab\n", max_size=12).map(str.encode), max_size=8),
    max_lines=st.integers(1, 5),
)
def test_blocks_are_whole_lines(chunks, max_lines):
    text = b"".join(chunks)
    blocks = list(line_blocks(iter(chunks), max_lines))
    joined = b"".join(block for block, _ in blocks)
    assert joined == text + (b"\n" if text and not text.endswith(b"\n") else b"")
    assert all(block.endswith(b"\n") and block.count(b"\n") == n for block, n in blocks)
    assert all(n == max_lines for _, n in blocks[:-1]) and all(0 < n <= max_lines for _, n in blocks[-1:])


@given(chunks=st.lists(st.text("ab\n", max_size=8).map(str.encode), max_size=8))
def test_eager_blocks_hold_nothing_back(chunks):
    seen = b""

    def feed():
        nonlocal seen
        for chunk in chunks:
            seen += chunk
            yield chunk

    given_out = b""
    for block, n in line_blocks(feed(), 4, eager=True):
        given_out += block
        assert n == block.count(b"\n") and given_out.startswith(seen[: seen.rfind(b"\n") + 1])
    assert given_out == seen + (b"\n" if seen and not seen.endswith(b"\n") else b"")


def test_both_sides_are_read_where_no_thread_can_start(write, monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert len(read_corpus(write("src", "a b\nc\n"), write("tgt", "x\ny z\n"))) == 2
