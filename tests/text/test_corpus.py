"""Parallel text: ids against plain Python, the three layouts, and what is refused where."""

from __future__ import annotations

import bz2
import gzip
import lzma

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import sentences

from aligner import DataError, read_corpus
from aligner.text._corpus import Interner, Status, end_of_line, index_lines
from aligner.text.corpus import Corpus, Side


@pytest.fixture(autouse=True, scope="module", params=["whole", "in small blocks"])
def blocks(request):
    """Everything once as it is, and once in blocks of two lines from chunks of seven bytes."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "whole":
            patch.setattr("aligner.corpus.BLOCK", 2)
            patch.setattr("aligner.files.CHUNK", 7)
        yield


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


@given(lines=st.lists(st.text(st.sampled_from("ab\u00e9 \t\r\u00a0\u2028"), max_size=30), max_size=8))
def test_tokens_equal_slow_twin(lines):
    text = "".join(line + "\n" for line in lines).encode()
    words = Interner()
    ids, lengths = np.empty(len(text), np.int32), np.empty(len(lines), np.int64)
    status, n_lines, n = index_lines(text, words, ids, lengths, None)
    expected = [oracle.tokens(line.removesuffix("\r")) for line in lines]
    assert (status, n_lines) == (0, len(lines))
    assert lengths.tolist() == [len(line) for line in expected]
    flat = [token for line in expected for token in line]
    first_seen = list(dict.fromkeys(flat))
    assert ids[:n].tolist() == [first_seen.index(token) for token in flat]
    arena, starts = words.words()
    assert [arena[a:b].decode() for a, b in zip(starts[:-1], starts[1:], strict=True)] == first_seen


def test_many_words_of_every_length():
    """The table grows many times; words of 7, 8, 9 bytes and such with equal beginnings stay apart."""
    tokens = [f"{'x' * (k % 19)}{k}" for k in range(30_000)]
    text = (" ".join(tokens + tokens[::-1]) + "\n").encode()
    words = Interner()
    ids = np.empty(len(text), np.int32)
    _, _, n = index_lines(text, words, ids, np.empty(1, np.int64), None)
    assert n == 60_000 and len(words) == 30_000
    np.testing.assert_array_equal(ids[:30_000], np.arange(30_000))
    np.testing.assert_array_equal(ids[30_000:n], np.arange(30_000)[::-1])


@pytest.mark.parametrize("n", range(1, 41))
def test_a_word_is_the_same_wherever_it_stands(n):
    """At the beginning, in the middle and at the end of a line, and at the end of the text."""
    word = bytes(range(65, 65 + n))
    text = b"%b %b\t%b\r\n%b\n" % (word, word, word, word)
    ids = np.empty(len(text), np.int32)
    assert index_lines(text, words := Interner(), ids, np.empty(2, np.int64), None) == (0, 2, 4)
    assert len(words) == 1 and ids[:4].tolist() == [0] * 4


def test_words_of_equal_hash_stay_apart():
    """Two words of 16 bytes that the hash of _corpus.pyx cannot tell apart, made by turning it round."""

    def mix(h: int, eight: int) -> int:
        h = (h ^ eight) * 0x9E3779B97F4A7C15 % 2**64
        return h ^ (h >> 32)

    a, b = int.from_bytes(b"abcdefgh", "little"), int.from_bytes(b"ijklmnop", "little")
    for k in range(10_000):
        c = int.from_bytes(b"word%04d" % k, "little")
        d = b ^ mix(0, a) ^ mix(0, c)  # mix(mix(0, a), b) == mix(mix(0, c), d)
        pair = [x.to_bytes(8, "little") + y.to_bytes(8, "little") for x, y in ((a, b), (c, d))]
        if not set(pair[1]) & set(b" \t\n\r"):
            break
    words = Interner()
    index_lines(b" ".join(pair) + b"\n", words, np.empty(20, np.int32), np.empty(1, np.int64), None)
    assert words.words()[0] == b"".join(pair) and len(words) == 2


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
    with pytest.raises(DataError, match=r"odd:1: both \|\|\| and a tab.*--layout"):
        read_corpus(write("odd", "a ||| b\tc\n"))
    assert both(read_corpus(write("odd", "a ||| b\tc\n"), layout="tsv")) == ([["a", "|||", "b"]], [["c"]])


def test_pairs_that_cannot_be_split(write):
    with pytest.raises(DataError, match=r"both:4: more than one \|\|\| on the line"):
        read_corpus(write("both", "a ||| b\n" * 3 + "a ||| b ||| c\n"))
    with pytest.raises(DataError, match=r"both:3: no \|\|\| on the line"):
        read_corpus(write("both", "a ||| b\n\na|||b\n"))
    with pytest.raises(DataError, match="both:2: more than one tab"):
        read_corpus(write("both", "a\tb\na\tb\tc\n"))


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
    assert "byte 0xe9 at offset 17" in error.what and "--encoding latin-1" in str(error)


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


def test_parts(write):
    corpus = read_corpus(write("src", "a b\n\nc\n"), write("tgt", "x\ny z\n\n"))
    assert both(corpus.part(1, 3)) == ([[], ["c"]], [["y", "z"], []])
    assert both(corpus.part(0, 1)) == ([["a", "b"]], [["x"]])


def test_corpus_is_frozen(write):
    corpus = read_corpus(write("src", "a\n"), write("tgt", "b\n"))
    with pytest.raises(AttributeError):
        corpus.src = corpus.tgt  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        corpus.src.ids[0] = 1


def test_kernels_refuse_what_they_cannot_hold():
    words = Interner()
    with pytest.raises(ValueError, match="does not end in a newline"):
        index_lines(b"abc", words, np.empty(9, np.int32), np.empty(1, np.int64), None)
    with pytest.raises(ValueError, match="no room for the tokens"):
        index_lines(b"a b c d\n", words, np.empty(3, np.int32), np.empty(1, np.int64), None)
    status, line, _ = index_lines(b"a\nb\n", words, np.empty(9, np.int32), np.empty(1, np.int64), None)
    assert (status, line) == (Status.NO_ROOM, 1)


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


def test_words_are_found(write):
    vocab = read_corpus(write("s", "a \u00e9t\u00e9 " + "long" * 30 + " a b\n"), write("t", "x\n")).src.vocab
    assert vocab.find(["b", "x", "\u00e9t\u00e9", "long" * 30, "a", "b", "", "long"]).tolist() == [
        3,
        -1,
        1,
        2,
        0,
        3,
        -1,
        -1,
    ]
    assert vocab.find([]).tolist() == []
    assert read_corpus(write("e", ""), write("f", "")).src.vocab.find(["a"]).tolist() == [-1]
