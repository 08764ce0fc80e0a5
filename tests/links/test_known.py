"""Links known by hand: as weights, in training, and in what is printed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from trained import arrays, assert_same_arrays, generated, links_of, recipe_of, run, same

from aligner import Corpus, DataError, Links, train
from aligner.cli import cli
from aligner.links.known import SURE, known_of, weighted
from aligner.links.symmetrize import METHODS
from aligner.models.kinds import MODELS
from aligner.training.loop import learn

VIEWS = ("word", "prefix3")


@pytest.fixture(scope="module")
def some() -> Corpus:
    return generated().part(0, 80)


def marks(corpus: Corpus) -> tuple[Links, Links]:
    """Links that a model would hardly choose, to be given; and likely ones, to be excluded.

    Given ones stand across the diagonal, one a sentence pair, excluded ones on it. A third of the sentence
    pairs has none.
    """
    given, excluded = [], []
    for n, (I, J) in enumerate(zip(corpus.src.lengths, corpus.tgt.lengths, strict=True)):
        given.append([(0, int(J) - 1)] if n % 3 and J > 1 else [])
        excluded.append([(k, k) for k in range(min(I, J))] if n % 3 == 2 else [])
    return Links.from_pairs(given), Links.from_pairs(excluded)


def sets(links: Links) -> list[set[tuple[int, int]]]:
    return [set(part) for part in links.pairs()]


def obeys(links: Links, given: Links, excluded: Links) -> bool:
    """Whether all given links are there and no excluded one."""
    parts = zip(*map(sets, (links, given, excluded)), strict=True)
    return all(must <= found and not found & never for found, must, never in parts)


def test_weights_of_given_and_excluded():
    given = Links.from_pairs([[(0, 1), (1, 0)], [], [(2, 2)]])
    excluded = Links.from_pairs([[(0, 0)], [(1, 1)], []])
    both = weighted(given, excluded)
    assert both.pairs() == [[(0, 1), (1, 0), (0, 0)], [(1, 1)], [(2, 2)]]
    assert both.scores.tolist() == [SURE, SURE, 0, 0, SURE]
    assert weighted(given, None).pairs() == given.pairs()
    assert weighted(given, None).scores.tolist() == [SURE] * 3
    assert weighted(None, excluded).pairs() == excluded.pairs()
    assert weighted(None, excluded).scores.tolist() == [0, 0]
    assert weighted(None, None) is None
    with pytest.raises(DataError, match="known links are of 3 and of 2 sentence pairs; they must match"):
        weighted(given, excluded.part(0, 2))
    with pytest.raises(DataError, match="known links are of 2 and of 3 sentence pairs; they must match"):
        weighted(excluded.part(0, 2), given)


def test_known_links_as_kernels_take_them():
    """Sorted, each once; without scores all are given."""
    corpus = Corpus.from_pairs([("a b", "x y z"), ("", "x"), ("a", "x")])
    links = Links.from_pairs([[(1, 2), (0, 1), (1, 0), (1, 2)], [], [(0, 0)]])
    known = known_of(links, None, corpus).weights
    assert known.offsets.tolist() == [0, 3, 3, 4]
    assert list(zip(known.src, known.tgt, strict=True)) == [(0, 1), (1, 0), (1, 2), (0, 0)]
    assert (known.weight == np.float32(SURE)).all() and known.weight.dtype == np.float32
    weights = replace(links, scores=np.array([0.5, 0, 3, 0.5, SURE]))
    assert known_of(weights, None, corpus).weights.weight.tolist() == [0, 3, 0.5, np.float32(SURE)]
    assert known_of(None, None, corpus).weights is None
    assert known_of(Links.from_pairs([[], [], []]), None, corpus).weights is None


@pytest.mark.parametrize(
    "lists, scores, message",
    [
        ([[(0, 0)], []], None, "known links of 2 sentence pairs, the text has 3"),
        ([[], [], [(0, 0)], []], None, "known links of 4 sentence pairs, the text has 3"),
        ([[], []], None, "known links of 2 sentence pairs, the text has 3"),
        ([[(2, 0)], [], []], None, "known link 2-0 of sentence pair 1 is outside the pair"),
        ([[(1, 2)], [], [(0, 1)]], None, "known link 0-1 of sentence pair 3 is outside the pair"),
        ([[], [(0, 0)], []], None, "known link 0-0 of sentence pair 2 is outside the pair"),
        ([[(0, 0)], [], []], [-1.0], "weights of known links must be between 0 and 1e\\+12"),
        ([[(0, 0)], [], []], [2e12], "weights of known links must be between 0 and 1e\\+12"),
        ([[(0, 0)], [], []], [np.nan], "weights of known links must be between 0 and 1e\\+12"),
        ([[(1, 1), (0, 0), (1, 1)], [], []], [0, 1, SURE], "link 1-1 of sentence pair 1 is known twice"),
    ],
)
def test_what_cannot_be_known_is_refused(lists, scores, message):
    pairs = [("a b", "x y z"), ("", "x"), ("a", "x")]
    links = Links.from_pairs(lists)
    links = links if scores is None else replace(links, scores=np.array(scores, dtype=float))
    model = train(pairs)
    for attempt in (
        lambda: known_of(links, None, Corpus.from_pairs(pairs)),
        lambda: train(pairs, links=links),
        lambda: model.align(pairs, links=links),
    ):
        with pytest.raises(DataError, match=message):
            attempt()


@pytest.mark.parametrize("name", MODELS)
def test_given_links_are_there_and_excluded_ones_are_not(some, name):
    """When training with them, and when decoding with any model, by posteriors and by best paths."""
    given, excluded = marks(some)
    links = weighted(given, excluded)
    recipe = recipe_of(name, iterations=2, ibm1_iterations=2, views=VIEWS)
    plain = train(some, recipe)
    model, seen = learn(some, recipe, links=links, memory=1 << 30)
    assert not obeys(plain.align(some), given, Links.from_pairs([[]] * 80))
    assert not obeys(plain.align(some), Links.from_pairs([[]] * 80), excluded)
    known = known_of(links, None, some)
    for trained, sights in ((plain, None), (model, seen)):
        for method in METHODS:
            assert obeys(trained.align(some, links=links, symmetrize=method), given, excluded), method
        for viterbi in (False, True):
            for side in links_of(trained, some, seen=sights, known=known, viterbi=viterbi):
                assert obeys(side, given, excluded)
                at = {(n, *link): k for k, (n, link) in enumerate(flat(side))}
                for n, link in flat(given):
                    assert side.scores[at[(n, *link)]] == 1


def test_scores_of_given_links_are_said_to_be_unused(tmp_path, caplog):
    for name, text in (("s", "a b\n"), ("t", "x y\n"), ("g", "0-1:0.01\n")):
        (tmp_path / name).write_text(text)
    files = tmp_path / "s", tmp_path / "t", "--given", tmp_path / "g"
    assert "0-1" in run("align", *files, "-q", "--model", "ibm1")
    assert "g: scores of known links are not used" in caplog.text


def flat(links: Links) -> list[tuple[int, tuple[int, int]]]:
    return [(n, link) for n, part in enumerate(links.pairs()) for link in part]


@pytest.mark.parametrize("name", MODELS)
def test_weights_of_one_change_no_bit(some, name):
    recipe = recipe_of(name, iterations=2, ibm1_iterations=2, views=VIEWS)
    links = replace(marks(some)[1], scores=np.ones(len(marks(some)[1].src)))
    plain, model = train(some, recipe), train(some, recipe, links=links)
    assert_same_arrays(plain, model)
    for name in ("loglik", "objective"):  # a model has one of them, or both
        assert [x.get(name) for x in plain.history] == [x.get(name) for x in model.history]
    assert all("perplexity" not in entry for entry in model.history)  # weights would be in it
    assert same(plain.align(some), model.align(some, links=links))


@pytest.mark.parametrize("name", MODELS)
def test_known_links_teach_and_blocks_do_not_matter(monkeypatch, name):
    """A word pair that is given often is likelier elsewhere, an excluded one less likely."""
    pairs = [("a b", "x y"), ("b a", "y x"), ("a c", "x z"), ("b c d", "y z w")] * 3 + [("a b", "x y")]
    crossed = [[(0, 1), (1, 0)] if n % 4 == 0 else [] for n in range(12)] + [[]]
    given = Links.from_pairs(crossed)
    recipe = recipe_of(name, iterations=2, ibm1_iterations=2, views=["word"])
    plain, taught = train(pairs, recipe), train(pairs, recipe, links=given)
    refused = train(pairs, recipe, links=weighted(None, given))

    def t(model) -> np.ndarray:
        """t(y | a), t(a | y)"""
        lexicon, view = model.views[0].parameters.lexicon, model.views[0]
        a, y = view.src.words.index("a"), view.tgt.words.index("y")
        row = lexicon.tgt[lexicon.rows[a] : lexicon.rows[a + 1]].tolist()
        return lexicon.t[lexicon.rows[a] + row.index(y)]

    assert (t(taught) > 1.5 * t(plain)).all() and (t(refused) < t(plain)).all()
    monkeypatch.setattr("aligner.text.cells.LARGEST", 3)
    monkeypatch.setattr("aligner.text.cells.SCORED_CELLS", 5)
    assert_same_arrays(train(pairs, recipe, links=given), taught)
    assert sets(taught.align(pairs, links=given))[0] >= {(0, 1), (1, 0)}


def test_a_weight_between_makes_a_link_likelier(some):
    """Scores rise with the weight."""
    recipe = recipe_of("hmm", iterations=1, views=["word"])
    model = train(some, recipe)
    given = marks(some)[0]
    scores = []
    for weight in (0.1, 1.0, 10.0, 1e3):
        known = known_of(replace(given, scores=np.full(len(given.src), weight)), None, some)
        grid = np.zeros((80, 100, 100))
        side = links_of(model, some, known=known)[0]
        grid[side.sentences, side.src, side.tgt] = side.scores
        scores.append(grid[given.sentences, given.src, given.tgt])
    assert (np.diff(scores, axis=0) >= -1e-3).all()  # smaller scores are cut off
    assert (np.diff(np.mean(scores, axis=1)) > 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_known_links_with_pairs_that_are_too_long_to_train_on(some, name):
    """Training takes the known links of the pairs that are left; decoding those of all."""
    given, excluded = marks(some)
    links = weighted(given, excluded)
    recipe = recipe_of(name, iterations=1, ibm1_iterations=2, views=["word"], max_length=20)
    keep = np.maximum(some.src.lengths, some.tgt.lengths) <= 20
    assert 10 < keep.sum() < len(some) - 5
    model = train(some, recipe, links=links)
    short = some.select(keep)
    kept = [part for part, there in zip(links.pairs(), keep, strict=True) if there]
    left = replace(Links.from_pairs(kept), scores=links.scores[np.repeat(keep, np.diff(links.offsets))])
    assert_same_arrays(model, train(short, recipe, links=left))
    assert obeys(model.align(some, links=links), given, excluded)
    some_t = arrays(model)["word t"]
    assert not np.array_equal(some_t, arrays(train(some, recipe))["word t"])


def test_options(data, tmp_path, write):
    """--given and --exclude of align, train, decode and ibm1."""
    files = data / "sample.en", data / "sample.fr"
    text = Corpus.from_pairs(zip(*(path.read_text().splitlines() for path in files), strict=True))
    given, excluded = marks(text)

    def written(name: str, links: Links) -> str:
        lines = [" ".join(f"{i}-{j}" for i, j in part) for part in links.pairs()]
        return write(name, "".join(line + "\n" for line in lines))

    known = "--given", written("given", given), "--exclude", written("excluded", excluded)

    def found(output: str) -> Links:
        lines = [[link.split(":")[0].split("-") for link in line.split()] for line in output.splitlines()]
        return Links.from_pairs([[(int(i), int(j)) for i, j in line] for line in lines])

    models = [tmp_path / name for name in ("align", "train", "ibm1", "plain", "plain1")]
    output = run("align", *files, "-q", "--fast", *known, "--save", models[0], "--scores")
    assert obeys(found(output), given, excluded)
    assert all(f"{i}-{j}:1" in output.splitlines()[n].split() for n, (i, j) in flat(given))
    run("train", *files, "-q", "--fast", *known, "-o", models[1])
    run("ibm1", *files, "-q", "--fast", *known, "-o", models[2])
    run("train", *files, "-q", "--fast", "-o", models[3])
    run("ibm1", *files, "-q", "--fast", "-o", models[4])
    content = [path.read_bytes() for path in models]
    assert content[0] == content[1] != content[3] and content[2] != content[4]
    assert run("decode", models[1], *files, *known, "--scores") == output
    assert run("decode", models[1], *files, "--scores") != output
    for model in models:
        for viterbi in ([], ["--viterbi"]):
            for direction in ("both", "forward", "reverse"):
                options = *viterbi, "--direction", direction
                assert obeys(found(run("decode", model, *files, *known, *options)), given, excluded)
    none = Links.from_pairs([[]] * 60)
    assert obeys(found(run("decode", models[3], *files, *known[:2])), given, none)
    assert obeys(found(run("decode", models[3], *files, *known[2:])), none, excluded)


def test_options_are_checked(data, tmp_path, write):
    src, tgt = write("src", "a b\nc\n"), write("tgt", "x\ny z\n")
    model = tmp_path / "model"
    run("train", src, tgt, "-q", "-o", model)
    good, far, short = write("good", "0-0\n\n"), write("far", "0-0\n1-0\n"), write("short", "0-0\n")
    for command in (
        ["align"],
        ["train", "-o", tmp_path / "x"],
        ["ibm1", "-o", tmp_path / "x"],
        ["decode", model],
    ):
        quiet = [] if command[0] == "decode" else ["-q"]
        for options, message in (
            (["--given", good, "--exclude", good], "link 0-0 of sentence pair 1 is known twice"),
            (["--given", far], "far:2: link 1-0 of sentence 2 is outside its pair"),
            (["--exclude", far], "far:2: link 1-0 of sentence 2 is outside its pair"),
            (["--exclude", short], "short has links of 1 sentence, the text has 2"),
            (["--given", tmp_path / "none"], "No such file"),
        ):
            assert message in run(*command, src, tgt, *quiet, *options, code=1), (command, options)
        for option in ("--given", "--exclude"):
            assert "only one file can be -" in run(*command, "-", tgt, *quiet, option, "-", code=2)
    assert not (tmp_path / "x").exists()
    assert "which is read" in run("align", src, tgt, "-q", "--given", good, "-o", good, "--overwrite", code=2)
    assert "which is read" in run(
        "decode", model, src, tgt, "--given", good, "-o", good, "--overwrite", code=2
    )
    assert "are for two files" in run("decode", model, "--given", good, stdin="a ||| b\n", code=2)


def test_known_links_need_not_be_of_first_words(write):
    """Where none of many is of a sentence's first word, the user says what they count from."""
    src, tgt = write("src", "a b c\n" * 30), write("tgt", "x y z\n" * 30)
    given = write("given", "1-2\n" * 30)
    for base, link in (("0", "1-2"), ("1", "0-1")):
        links = run("align", src, tgt, "-q", "--fast", "--given", given, "--known-base", base)
        assert all(link in line.split() for line in links.splitlines())
    failed = CliRunner().invoke(cli, ["align", src, tgt, "-q", "--fast", "--given", given])
    assert failed.exit_code == 1 and "look 1-based" in failed.stderr and "--known-base" in failed.stderr
