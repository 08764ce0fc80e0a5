"""Word classes: files of them."""

from __future__ import annotations

import io

import pytest

from aligner.errors import DataError
from aligner.text.classes import read_classes, write_classes
from aligner.text.corpus import Vocab


def test_classes_of_a_file(write):
    classes = read_classes(write("classes", "le\t2\nla 7\r\nmaison\t5\n"))
    assert classes.n_classes == 3
    vocab = Vocab.of(["maison", "mot", "la", "le", "5"])
    assert classes.of(vocab).tolist() == [2, 0, 3, 1, 0]
    assert classes.of(vocab).dtype == "int32"
    assert classes.of(Vocab.of([])).tolist() == []
    write_classes(out := io.BytesIO(), classes)
    assert out.getvalue() == b"la\t4\nle\t2\nmaison\t3\n"


def test_a_file_without_words(write):
    classes = read_classes(write("classes", ""))
    assert classes.n_classes == 0 and classes.of(Vocab.of(["le"])).tolist() == [0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\t2\nb\n", r"classes:2: the line is not `word<TAB>class`"),
        ("a\t2\n\n", r"classes:2: the line is not"),
        ("a 2 3\n", r"classes:1: the line is not"),
        ("a\t2\nb\tx\n", r"classes:2: a class is a whole number"),
        ("a\t-2\n", r"classes:1: a class is a whole number"),
        ("a\t2\nb\t3\na\t2\n", r"classes:3: the word a has a line already"),
        (b"a\t2\n\xe9\t2\n", r"classes:2:1: invalid UTF-8"),
    ],
)
def test_what_is_no_file_of_classes(write, text, message):
    with pytest.raises(DataError, match=message):
        read_classes(write("classes", text))


def test_other_encodings(write):
    classes = read_classes(write("classes", b"\xe9t\xe9\t2\n"), encoding="latin-1")
    assert classes.of(Vocab.of(["été"])).tolist() == [1]
