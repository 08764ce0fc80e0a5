"""CoNLL-U: written as it was read, to the byte; what is broken is refused with file, line and cure."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import DataError
from aligner.uses.conllu import FORM, HEAD, NO_HEAD, UPOS, cycle_of, read_conllu


def line(id: str, form: str = "w", head: str = "_", misc: str = "_") -> str:
    return "\t".join([id, form, "_", "_", "_", "_", head, "_", "_", misc]) + "\n"


WHOLE = (
    "# newdoc id = 1\n# text = aux A\n"
    + line("0.1", "pro", misc="CopyOf=-1")
    + line("1-2", "aux")
    + line("1", "à", "3")
    + line("2", "les", "3")
    + line("3", "New York", "0", "NER=B-LOC|SpaceAfter=No")
    + line("3.1")
    + line("3.2")
    + "\n# nothing = here\n\n"
    + line("1", "_", "0")
    + line("2", "a", "1")
    + "\n"
)
ENDS = {
    "as it should be": WHOLE,
    "no empty line at the end": WHOLE[:-1],
    "no line end at the end": WHOLE[:-2],
    "empty lines at the end": WHOLE + "\n\n",
    "CR LF": WHOLE.replace("\n", "\r\n"),
    "CR LF, no empty line": WHOLE.replace("\n", "\r\n")[:-2],
    "CR LF, no line end": WHOLE.replace("\n", "\r\n")[:-4],
    "CR LF, half a line end": WHOLE.replace("\n", "\r\n")[:-3],
    "CR LF, half an empty line": WHOLE.replace("\n", "\r\n")[:-1],
    "nothing": "",
}


@pytest.mark.parametrize("name", ENDS)
def test_files_are_written_as_they_were_read(name, write, blocks):
    sentences = list(read_conllu(path := write("any.conllu", ENDS[name])))
    assert "".join(x.text() for x in sentences).encode() == Path(path).read_bytes()
    assert [x.column(FORM) for x in sentences] == (
        [["à", "les", "New York"], [], ["_", "a"]] if ENDS[name] else []
    )
    assert [x.line for x in sentences] == ([1, 11, 13] if ENDS[name] else [])
    if sentences:
        assert sentences[0].heads() == [3, 3, 0] and sentences[0].has_multiword()
        assert not sentences[2].has_multiword() and repr(sentences[2]) == "Sentence(_ a)"


def test_real_files_are_written_as_they_were_read():
    """Those of a folder of Universal Dependencies, which does not come with the project."""
    folder = os.environ.get("ALIGNER_UD")
    if folder is None:
        pytest.skip("no ALIGNER_UD")
    paths = sorted(Path(folder).rglob("*.conllu"))
    assert paths
    for path in paths:
        sentences = list(read_conllu(str(path)))
        assert all(NO_HEAD not in x.heads() for x in sentences)
        assert "".join(x.text() for x in sentences).encode() == path.read_bytes()


def test_what_is_changed_is_written(write):
    first, *_ = read_conllu(write("any.conllu", WHOLE))
    first.words[1][UPOS] = "DET"
    assert first.text() == WHOLE.split("\n\n")[0].replace("les\t_\t_", "les\t_\tDET") + "\n\n"


def test_text_is_read_as_words_without_annotation(write, blocks):
    """Also text that looks like annotation at first. A line without words is a sentence."""
    path = write("text", "# 1 a\r\n\n b\tc d\u00a0e \nlast")
    sentences = list(read_conllu(path))
    assert [x.column(FORM) for x in sentences] == [["#", "1", "a"], [], ["b", "c", "d\u00a0e"], ["last"]]
    assert (
        sentences[2].text()
        == "# text = b c d\u00a0e\n" + line("1", "b") + line("2", "c") + line("3", "d\u00a0e") + "\n"
    )
    assert sentences[1].text() == "# text =\n\n" and [x.line for x in sentences] == [1, 2, 3, 4]
    again = list(read_conllu(write("again", "".join(x.text() for x in sentences))))
    assert [x.column(FORM) for x in again] == [x.column(FORM) for x in sentences]
    split = list(read_conllu(path, split="unicode"))
    assert split[2].column(FORM) == ["b", "c", "d", "e"]


def test_annotation_is_detected(write):
    """By its first line that is no comment, or by the name of the file."""
    assert len(next(read_conllu(write("x", line("1") + line("2"))))) == 2
    assert len(next(read_conllu(write("x", "# a\n" * 9 + line("1-2") + line("1") + line("2"))))) == 2
    assert next(read_conllu(write("x", line("2")))).plain
    with pytest.raises(DataError, match="ID '2' where word 1 is next"):
        next(read_conllu(write("x.conllu", line("2"))))


BROKEN = [
    (line("1") + "2\ta\n", 2, "2 columns where CoNLL-U has 10; an empty column is `_`"),
    ("1 a b\n", 1, "1 column where .* columns end at tabs"),
    (line("1") + " \n" + line("1"), 2, "a line of blanks; the line that ends a sentence is empty"),
    (line("1", ""), 1, "column FORM is empty; an empty column is `_`"),
    (line("1") + line("3"), 2, "ID '3' where word 2 is next; words count"),
    (line("1") + line("1"), 2, "ID '1' where word 2 is next"),
    (line("1") + line("x"), 2, "ID 'x' where word 2 is next"),
    (line("01"), 1, "ID '01' where"),
    (line("1-3") + line("1") + line("2"), 3, "2 words, and a multiword token up to 3"),
    (line("1-2") + line("1") + line("2-3"), 3, "ID '2-3' where"),
    (line("2-1"), 1, "ID '2-1' where"),
    (line("1") + line("0.1"), 2, "ID '0.1' where"),
    (line("1") + "# late\n", 2, "a comment among the words; comments stand first"),
    ("\n" + line("1"), 1, "an empty line that ends no sentence"),
    (line("1") + "\n\n" + line("1"), 3, "an empty line that ends no sentence"),
    (line("1") + line("2").replace("\n", "\r\n"), 2, "CR LF and others in LF"),
    ("# a\r\n" + line("1"), 2, "CR LF and others in LF"),
    (line("1", "a\xff".encode("latin-1").decode("latin-1")).encode("latin-1"), 1, "invalid UTF-8"),
]


@pytest.mark.parametrize("text, number, message", BROKEN, ids=[message for _, _, message in BROKEN])
def test_broken_files_are_refused(text, number, message, write):
    with pytest.raises(DataError, match=message) as refused:
        list(read_conllu(write("broken.conllu", text)))
    assert (Path(refused.value.file).name, refused.value.line) == ("broken.conllu", number)


HEADS = [
    (["2", "9"], 2, "HEAD '9' is no word of the sentence, which has 2"),
    (["2", "x"], 2, "HEAD 'x' is no word"),
    (["-1"], 1, "HEAD '-1' is no word"),
    (["00"], 1, "HEAD '00' is no word"),
    (["0", "2"], 2, "HEAD '2' is the word itself"),
    (["0", "1", "0"], 3, "two roots: words 1 and 3 have HEAD 0"),
    (["0", "4", "2", "3"], 2, "the heads are a cycle: 2 -> 4 -> 3 -> 2; heads must be a tree"),
]


@pytest.mark.parametrize("heads, number, message", HEADS, ids=[message for _, _, message in HEADS])
def test_broken_trees_are_refused(heads, number, message, write):
    text = "".join(line(str(k), head=head) for k, head in enumerate(heads, 1))
    sentence = next(read_conllu(write("tree.conllu", text)))
    with pytest.raises(DataError, match=message) as refused:
        sentence.heads()
    assert refused.value.line == number


@given(st.lists(st.integers(-1, 6), max_size=6))
def test_cycles_are_found(heads):
    """As by following the heads of each word for as many steps as there are words."""
    heads = [min(head, len(heads)) for head in heads]

    def ends(word: int) -> bool:
        for _ in range(len(heads) + 1):
            if word <= 0:
                return True
            word = heads[word - 1]
        return False

    cycle = cycle_of(heads)
    assert bool(cycle) != all(ends(word) for word in range(1, len(heads) + 1))
    if cycle:
        assert [heads[word - 1] for word in cycle] == [*cycle[1:], cycle[0]] and cycle[0] == min(cycle)


def test_long_sentences(write):
    text = "".join(line(str(k), head=str(k - 1)) for k in range(1, 3000)) + "\n"
    sentence = next(read_conllu(write("long.conllu", text)))
    assert len(sentence) == 2999 and sentence.text() == text and sentence.column(HEAD)[-1] == "2998"
    assert sentence.heads() == list(range(2999))
