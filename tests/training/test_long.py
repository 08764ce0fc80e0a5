"""Sentence pairs that are too long have no links, in training and in decoding; all else stays as it is."""

from __future__ import annotations

import numpy as np
import pytest
from trained import generated, run

from aligner import Constraints, Links, Recipe, train
from aligner.models.kinds import MODELS
from aligner.text import corpus as corpora
from aligner.text.corpus import Corpus
from aligner.training.loop import learn


def words(n: int, word: str = "w") -> list[str]:
    return [f"{word}{k % 7}" for k in range(n)]


def test_the_limit():
    """2^22 cells; a side of 1 to 15 words counts as 16, a side of none makes no lattice."""
    lengths = [(2048, 2048), (2048, 2049), (1, 1 << 18), (1, (1 << 18) + 1), (0, 1 << 22), (3_000_000, 2)]
    corpus = Corpus.from_pairs([("w " * i, "w " * j) for i, j in lengths])
    assert corpus.too_long.tolist() == [False, True, False, True, False, True]
    assert corpus.long_pairs(10) == [(12, 2048, 2049), (14, 1, (1 << 18) + 1), (16, 3_000_000, 2)]
    bounded = corpus.bounded()
    assert bounded.src.lengths.tolist() == [2048, 0, 1, 0, 0, 0]
    assert bounded.tgt.lengths.tolist() == [2048, 0, 1 << 18, 0, 1 << 22, 0]
    assert bounded.src.sentence(2) == ["w"] and bounded.tgt.sentence(0) == ["w"] * 2048
    assert bounded.bounded() is bounded


@pytest.mark.parametrize("name", MODELS)
def test_long_pairs_are_empty_pairs(name, monkeypatch, caplog):
    """Training and decoding are those of a text with empty lines instead; known links are left out.

    The words of long pairs are in the vocabulary, which Model 1 begins with: scores differ by up to 0.002.
    """
    some = generated().part(0, 40)
    pairs = [(some.src.sentence(n), some.tgt.sentence(n)) for n in range(40)]
    long, empty = list(pairs), list(pairs)
    long[3], long[17] = (words(33), words(40)), (words(60), words(30))
    empty[3] = empty[17] = ([], [])
    monkeypatch.setattr(corpora, "MOST_CELLS", 1200)
    recipe = Recipe.of(name, views=["word", "prefix3"], threshold=0.4)
    known = [[] for _ in pairs]
    known[0], known[3] = [(0, 1)], [(32, 39)]
    model = train(long, recipe, links=Links.from_pairs(known))
    assert "sentence pair 4: 33 x 40 words are too many" in caplog.text
    assert "(2 such pairs: 4, 18)" in caplog.text and len(caplog.records) == 1
    links = model.align(long, links=Links.from_pairs(known))
    known[3] = []
    other = train(empty, recipe, links=Links.from_pairs(known))
    assert other.align(empty, links=Links.from_pairs(known)).pairs() == links.pairs()
    assert links.pairs()[3] == links.pairs()[17] == [] and (0, 1) in links.pairs()[0]
    assert len(links) == 40
    if name == "shmm":
        few = [[] for _ in pairs]
        few[3] = [([("forward", 32, 39, 1.0)], "<=", 0.1)]
        assert train(long, recipe, constraints=Constraints.of(few)).align(long).pairs()[3] == []


def test_what_training_saw_is_what_decoding_sees(monkeypatch):
    monkeypatch.setattr(corpora, "MOST_CELLS", 300)
    corpus = generated().part(0, 60)
    assert 0 < np.count_nonzero(corpus.too_long) < 60
    model, seen = learn(corpus, Recipe.of(views=["word"]), memory=1 << 20)
    assert all(len(sight.text) == 60 for sight in seen)
    assert model.facts["pairs"] == 60


def test_commands_name_the_line(tmp_path, caplog):
    src, tgt, model = tmp_path / "src", tmp_path / "tgt", tmp_path / "model"
    lines = [(["a", "b"], ["x", "y"])] * 5
    lines[1] = lines[3] = (words(2049), words(2048))
    for path, k in ((src, 0), (tgt, 1)):
        path.write_text("".join(" ".join(line[k]) + "\n" for line in lines))
    place = f"{src}, line 2: 2,049 x 2,048 words are too many for one sentence pair; it has no links"

    def said(*arguments, **settings):
        caplog.clear()
        out = run(*arguments, **settings)
        (record,) = caplog.records
        assert "(2 such pairs: lines 2, 4)" in record.getMessage()
        return out.splitlines(), record.getMessage()

    links, message = said("align", src, tgt, "-q", "--save", model)
    assert message.startswith(place)
    assert [bool(line) for line in links] == [True, False, True, False, True]
    assert said("train", src, tgt, "-q", "-o", tmp_path / "again")[1].startswith(place)
    again, message = said("decode", model, src, tgt)
    assert again == links and message.startswith(place)
    both = "".join(f"{' '.join(a)} ||| {' '.join(b)}\n" for a, b in lines)
    again, message = said("decode", model, stdin=both)
    assert again == links and message.startswith("<stdin>, line 2: ")
    caplog.clear()
    assert "too long             2 (lines 2, 4)\n" in run("check", src, tgt)
