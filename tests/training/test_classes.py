"""Training with classes of words: jumps depend on the class of the word that is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trained import SRC, TGT, assert_same_arrays, links_of, plain, recipe_of, run, same

from aligner import Corpus, DataError, Model, Recipe, store, train
from aligner.models.census import Census
from aligner.models.class_jumps import ClassJumps
from aligner.models.jumps import Jumps
from aligner.text.classes import WordClasses
from aligner.text.views import see
from aligner.training.loop import learn

Both = tuple[WordClasses, WordClasses]


def by_number(corpus: Corpus, n: int) -> Both:
    """Words in n classes by their ids, whatever the words."""
    src, tgt = (
        WordClasses(side.vocab, (np.arange(len(side.vocab)) % n + 1).astype(np.int32), n)
        for side in (corpus.src, corpus.tgt)
    )
    return src, tgt


def jumps_of(model: Model) -> ClassJumps:
    jumps = model.views[0].parameters.positions
    assert isinstance(jumps, ClassJumps)
    return jumps


def test_what_a_view_sees_has_the_class_of_most_tokens():
    corpus = Corpus.of([("abc abd abd xy", "u"), ("abe xz", "u u")])
    words = ["abc", "abd", "abe", "xz"]  # xy has no class
    assert corpus.src.vocab.words == ["abc", "abd", "xy", "abe", "xz"]
    sides = [WordClasses(Corpus.of([(" ".join(words), "u")]).src.vocab, np.array(c, np.int32), 3)
             for c in ([1, 2, 1, 3], [2, 2, 1, 3])]  # fmt: skip
    target = WordClasses(corpus.tgt.vocab, np.array([1], np.int32), 1)
    for side, expected in zip(sides, (1, 2), strict=True):  # of two classes with two tokens each, the first
        seen = Census.of(corpus, (side, target)).seen("prefix2")
        assert seen.src.vocab.words == see(corpus, "prefix2").src.vocab.words == ["ab", "xy", "xz"]
        assert seen.src.classes.tolist() == [expected, 0, 3] and seen.src.classes.dtype == np.int32
        assert seen.tgt.classes.tolist() == [1]
    assert Census.of(corpus, (sides[0], target)).seen("word").src.classes.tolist() == [1, 2, 0, 1, 3]


@pytest.mark.parametrize("name", ["hmm", "shmm", "loo"])
def test_one_class_of_all_words_changes_nothing_but_rounding(some, name):
    recipe = recipe_of(name, ibm1_iterations=2, iterations=2, views=("word", "prefix3"))
    a, b = (
        links_of(learn(some, recipe)[0], some),
        links_of(learn(some, recipe, classes=by_number(some, 1))[0], some),
    )
    for x, y in zip(a, b, strict=True):
        assert np.array_equal(x.src, y.src) and np.array_equal(x.tgt, y.tgt)
        np.testing.assert_allclose(x.scores, y.scores, rtol=0, atol=2e-3)


def test_classes_that_jump_differently_are_told_apart():
    """Source words of class 1 are translated in order, those of class 2 the other way round."""
    random = np.random.default_rng(0)
    lines = []
    for _ in range(400):
        words = random.choice(60, 6, replace=False).tolist()
        up = random.random() < 0.5
        src = [f"{'a' if up else 'b'}{x}" for x in words]
        tgt = [f"t{x}" for x in (words if up else words[::-1])]
        lines.append((" ".join(src), " ".join(tgt)))
    corpus = Corpus.of(lines)
    classes = tuple(
        WordClasses(
            side.vocab, np.array([1 + word.startswith("b") for word in side.vocab.words], np.int32), 2
        )
        for side in (corpus.src, corpus.tgt)
    )
    model, _ = learn(corpus, plain(3, 4), classes=classes)
    jump = jumps_of(model).by_class[0]
    W = 4
    assert jump[0, 1 + W + 1] > 1.5 * jump[0, 1 + W - 1]
    assert jump[1, 1 + W - 1] > 1.5 * jump[1, 1 + W + 1]


@pytest.mark.parametrize("name", ["hmm", "loo"])
def test_files_and_threads_and_restarts_change_no_bit(some, tmp_path, name):
    recipe = recipe_of(name, ibm1_iterations=2, iterations=2, hmm_iterations=1, views=("word", "prefix3"))
    classes, paths = by_number(some, 7), []

    def save(model: Model) -> None:
        paths.append(tmp_path / f"{len(paths)}.part")
        model.save(paths[-1])

    model, _ = learn(some, recipe, classes=classes, checkpoint=save)
    assert jumps_of(model).n_classes == 7
    for n_threads in (2, 8):
        assert_same_arrays(model, learn(some, recipe, classes=classes, n_threads=n_threads)[0])
    for path in paths:
        assert_same_arrays(model, learn(some, recipe, classes=classes, resume=Model.load(path))[0])
    model.save(tmp_path / "model")
    again = Model.load(tmp_path / "model")
    assert again.signature == model.signature and "|class_files:" in model.signature
    new = Corpus.of([("the small mayor unheard-of", "le petit maire inouï")])
    for text in (some, new):
        for a, b in zip(links_of(model, text), links_of(again, text), strict=True):
            assert same(a, b)
    again.save(tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == (tmp_path / "model").read_bytes()
    with pytest.raises(DataError, match="another text or recipe"):
        learn(some, recipe, classes=by_number(some, 6), resume=Model.load(paths[0]))


def test_a_training_goes_on_with_the_classes_of_the_model_that_it_starts_from(corpus):
    def part(start: int, stop: int) -> Corpus:
        """Some sentence pairs, and no words but theirs."""
        return Corpus.of([(corpus.src.sentence(n), corpus.tgt.sentence(n)) for n in range(start, stop)])

    some, more = part(0, 60), part(60, 100)
    first, _ = learn(some, plain(2, 1), classes=by_number(some, 5))
    old, model = jumps_of(first), train(more, plain(0, 1), init=first)
    classes = dict(zip(some.src.vocab.words, old.src_class.tolist(), strict=True))
    expected = [classes.get(word, 0) for word in more.src.vocab.words]
    assert jumps_of(model).src_class.tolist() == expected and set(expected) == set(range(6))
    others = {"init": plain(0, 1), "prior": plain(2, 1)}
    for name, recipe in others.items():
        model, _ = learn(more, recipe, **{name: first}, classes=by_number(more, 3))
        assert jumps_of(model).n_classes == 3
    assert type(train(more, plain(2, 1), prior=first).views[0].parameters.positions) is Jumps


def test_classes_that_are_no_use_are_refused(some, caplog):
    classes = by_number(some, 3)
    with pytest.raises(ValueError, match="ibm1 has no jumps"):
        learn(some, Recipe.of("ibm1"), classes=classes)
    with pytest.raises(ValueError, match="given or learned, not both"):
        learn(some, Recipe.of("hmm", classes=2), classes=classes)
    with pytest.raises(ValueError, match="classes must be"):
        learn(some, plain(1, 1), classes=(replace(classes[0], n_classes=5000), classes[1]))
    for wrong in (3, ("a", "b"), ({"a": 1}, {"b": 2}), classes[:1], (*classes, classes[0])):
        with pytest.raises(TypeError, match="classes must be two WordClasses, of source words and of target"):
            learn(some, plain(1, 1), classes=wrong)
    other = Corpus.of([("x y", "x y")])
    learn(some, plain(1, 1), classes=(by_number(other, 1)[0], classes[1]))
    assert "100% of the source tokens have no class" in caplog.text and "target" not in caplog.text


BAD = [
    ("by_class", 0.0, "by_class must be between"),
    ("src_class", 4, "src_class must be between 0 and 3"),
    ("tgt_class", -1, "tgt_class must be between 0 and 3"),
]


@pytest.mark.parametrize("name, value, what", BAD, ids=[name for name, *_ in BAD])
def test_files_with_impossible_classes_are_refused(some, tmp_path, name, value, what):
    model, _ = learn(some, plain(1, 1), classes=by_number(some, 3))
    model.save(tmp_path / "model")
    header, arrays = store.read(tmp_path / "model", lambda _: True)
    changed = arrays[f"0.{name}"].copy()
    changed.reshape(-1)[-1] = value
    for n, (array, message) in enumerate(((changed, what), (arrays[f"0.{name}"][:-1], f"{name} is"))):
        store.write(tmp_path / str(n), header, arrays | {f"0.{name}": array})
        with pytest.raises(DataError, match=message):
            Model.load(tmp_path / str(n))


def test_classes_of_files(write, tmp_path):
    """The files of mkcls, on the command line."""
    files = []
    for path in (SRC, TGT):
        words = sorted(set(path.read_text().split()))
        files.append(write(f"{path.name}.classes", "".join(f"{w}\t{2 + len(w) % 3}\n" for w in words)))
    asked = "train", SRC, TGT, "-q", "--model", "hmm", "--views", "word", "-o", tmp_path / "m"
    run(*asked, "--class-files", *files)
    jumps = jumps_of(Model.load(tmp_path / "m"))
    assert jumps.n_classes == 3 and set(jumps.src_class.tolist()) == {1, 2, 3}
    assert "give one of them" in run(*asked, "--overwrite", "--class-files", *files, "--classes", 3, code=2)
    wrong = run(*asked[:-2], "-o", tmp_path / "n", "--class-files", files[0], SRC, code=1)
    assert "the line is not `word<TAB>class`" in wrong
    ibm1 = run(
        "train", SRC, TGT, "-q", "--model", "ibm1", "-o", tmp_path / "n", "--class-files", *files, code=2
    )
    assert "--class-files is not for ibm1" in ibm1


def test_files_of_classes_are_in_utf_8(write, tmp_path):
    """As `aligner classes` writes them, also if the text has another encoding: no class of a word is lost."""
    lines = "\u00e9t\u00e9 il pleut\nil pleut\n"
    text = write("text", lines.encode("latin-1"))
    run("classes", text, "--encoding", "latin-1", "--classes", 3, "-o", tmp_path / "classes")
    asked = "train", text, text, "--encoding", "latin-1", "-q", "--model", "hmm", "--views", "word"
    files = "--class-files", tmp_path / "classes", tmp_path / "classes"
    run(*asked, "-o", tmp_path / "m", *files)
    assert 0 not in jumps_of(Model.load(tmp_path / "m")).src_class
    latin = write("latin", (tmp_path / "classes").read_text().encode("latin-1"))
    refused = run(*asked, "-o", tmp_path / "n", "--class-files", latin, latin, code=1)
    assert "latin:3:1: invalid UTF-8" in refused and "files of classes are in UTF-8" in refused
    assert not (tmp_path / "n").exists()
