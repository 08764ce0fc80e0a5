"""Lines as fast_align cuts them into sides and words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aligner.text.fast_align import cut, read_pairs, stream_pairs


def slow_words(line: str) -> tuple[list[str], list[str]]:
    """Both sides of a line, letter by letter: a tab is the word `|||`, and the first such word separates."""
    words, word = [], ""
    for letter in line + " ":
        if letter in " \t":
            words += [word] if word else []
            words += ["|||"] if letter == "\t" else []
            word = ""
        else:
            word += letter
    if "|||" not in words:
        return words, []
    n = words.index("|||")
    return words[:n], words[n + 1 :]


def words(side: bytes) -> list[str]:
    return [word.decode() for word in side.split(b" ") if word]


@given(
    st.text("a| \t", max_size=14) | st.lists(st.sampled_from(["|||", "||||", "a", " ", "\t"])).map("".join)
)
@example("||| a ||| a")
@example("a ||| a\ta ||| a")
@example("a\ta ||| a")
def test_sides_are_cut_as_letter_by_letter(line):
    src, tgt = cut(line.encode())
    assert (words(src), words(tgt)) == slow_words(line)


@given(st.lists(st.text("ab| \t\u00a0", max_size=10), max_size=5))
def test_files_are_read_as_lines_are_cut(tmp_path_factory, lines):
    path = tmp_path_factory.mktemp("text") / "text"
    path.write_text("".join(line + "\n" for line in lines))
    corpus, odd = read_pairs(str(path))
    wanted = list(map(slow_words, lines))
    assert [(corpus.src.sentence(n), corpus.tgt.sentence(n)) for n in range(len(corpus))] == wanted
    assert odd == {n + 1: lines[n] for n, (src, tgt) in enumerate(wanted) if not src or not tgt}


def test_text_comes_in_parts_too(write):
    path = write("text", "a b ||| c\n\nd\te\n")
    parts, sides = zip(*stream_pairs(path), strict=True)
    assert [side for part in sides for side in part] == [(b"a b", b"c"), (b"", b""), (b"d", b"e")]
    assert [part.src.sentence(n) for part in parts for n in range(len(part))] == [["a", "b"], [], ["d"]]
    assert [part.tgt.sentence(n) for part in parts for n in range(len(part))] == [["c"], [], ["e"]]


@pytest.mark.parametrize("text", ["", "\n"])
def test_a_file_may_be_empty(text, write):
    corpus, odd = read_pairs(write("text", text))
    assert len(corpus) == len(odd) == len(text)


def test_lines_that_are_not_utf8_are_latin1(write, caplog):
    lines = [
        "ma\u00e7on ||| \u00e9t\u00e9".encode(),
        "ma\u00e7on ||| \u00e9t\u00e9".encode("latin-1"),
        b"\xff",
    ]
    path = write("text", b"".join(line + b"\n" for line in lines))
    corpus, odd = read_pairs(path)
    assert corpus.src.vocab.words == ["ma\u00e7on", "\u00ff"] and corpus.tgt.vocab.words == ["\u00e9t\u00e9"]
    assert odd == {3: "\u00ff"}
    assert caplog.messages == [
        f"{path}: 2 lines are not UTF-8, the first is line 2; they are read as Latin-1"
    ]
