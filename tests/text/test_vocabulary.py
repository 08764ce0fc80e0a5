"""Vocabulary files: a real SentencePiece model, Marian's YAML, JSON and lines; and files that are none."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aligner import DataError
from aligner.text.vocabulary import read_vocabulary

GOLDEN = Path(__file__).parent / "golden"


def test_pieces_of_a_model_are_those_that_its_export_has():
    model, export = (read_vocabulary(str(GOLDEN / name)) for name in ("sample.spm", "sample.spm.txt"))
    assert model.words == export.words and len(model) == 80
    assert model.words[:3] == ["</s>", "<unk>", "été"] and model.unknown == export.unknown == 1
    assert model.find(["été", "nowhere", "</s>"]).tolist() == [2, -1, 0]
    as_bytes = read_vocabulary(str(GOLDEN / "sample.spm"), "latin-1")
    assert [word.encode("latin-1").decode() for word in as_bytes.words] == model.words


def test_yaml_as_marian_writes_it(write):
    """Words that YAML would take for something else are in quotes."""
    lines = [
        "</s>: 0",
        "<unk>: 1",
        "the: 2",
        '",": 3',
        '"\\"": 4',
        "'it''s': 5",
        '"\\\\": 6',
        "a:b: 7",
        '":": 8',
        '"\\x85\\u00e9\\U0001f600": 9',
        "été: 12",
        "10: 11",
        '"\\xzz\\U99999999": 13',
    ]
    found = read_vocabulary(write("vocab.yml", "\n".join(lines) + "\n"))
    assert found.words[:9] == ["</s>", "<unk>", "the", ",", '"', "it's", "\\", "a:b", ":"]
    assert found.words[9:] == ["\x85é😀", "", "10", "été", r"\xzz\U99999999"]
    assert found.unknown == 1 and found.numbers["10"] == 11 and "" not in found.numbers


def test_json_and_the_unknown_word_of_nematus(write):
    found = read_vocabulary(write("vocab.json", json.dumps({"eos": 0, "UNK": 1, "é": 2})))
    assert found.words == ["eos", "UNK", "é"] and found.unknown == 1


def test_compressed_lines_with_counts(write):
    path = write("vocab.txt.gz", gzip.compress("a 12\nb\t-3.5\n\u3000x\n".encode()))
    found = read_vocabulary(path)
    assert found.words == ["a", "b", "\u3000x"] and found.unknown is None
    assert repr(found) == f"Vocabulary({path}, 3 words)"


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("v.txt", "", "v.txt: the vocabulary is empty"),
        ("v.txt", "a\n\nb\n", "v.txt:2: the line is empty; a vocabulary has a word on each line"),
        ("v.txt", "a\nb\na 3\n", "v.txt:3: the word of line 1 stands here again"),
        ("v.txt", b"a\n\xff\n", "is not utf-8"),
        ("v.yml", "a: 0\nb\n", "v.yml:2: the line is not `word: number`"),
        ("v.yml", b"a: 0\n\xff: 1\n", "v.yml:2: invalid UTF-8"),
        ("v.yml", "a: 99999999999999\n", "a word has a number above"),
        ("v.yml", f"a: {'9' * 5000}\n", "v.yml:1: the line is not `word: number`"),
        ("v.json", "{", "v.json: the file is not JSON"),
        ("v.json", '{"a":' * 100_000, "v.json: the file is not JSON"),
        ("v.json", '{"a": "b"}', "not an object of words and their numbers"),
        ("v.json", '{"a": -1}', "not an object of words and their numbers"),
        ("v.txt", "\na\nb\n", "damaged SentencePiece model; is this a vocabulary?"),
        ("v.spm", b"\n\x03\n\x01a" * 2, "damaged SentencePiece model; is this a vocabulary?"),
    ],
)
def test_what_is_no_vocabulary_is_refused(write, name, text, message):
    with pytest.raises(DataError) as error:
        read_vocabulary(write(name, text))
    assert message in str(error.value)


@given(cut=st.integers(1, 1200), change=st.binary(max_size=3))
def test_a_damaged_model_is_refused_or_read(tmp_path_factory, cut, change):
    """No other error than a DataError, and no wait."""
    path = tmp_path_factory.mktemp("damaged") / "vocab.spm"
    path.write_bytes((GOLDEN / "sample.spm").read_bytes()[:cut] + change)
    try:
        assert len(read_vocabulary(str(path))) > 0
    except DataError as error:
        assert "vocab.spm" in str(error)


@given(name=st.sampled_from(["v.txt", "v.yml", "v.json"]), text=st.binary(max_size=30))
def test_any_bytes_are_refused_or_read(tmp_path_factory, name, text):
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes({"v.json": b"{"}.get(name, b"") + text)
    try:
        assert len(read_vocabulary(str(path))) > 0
    except DataError as error:
        assert name in str(error)
