"""Dictionaries that users have, and what they do in a training."""

from __future__ import annotations

import pytest
from trained import run

from aligner import Corpus, DataError, Recipe, learn
from aligner.lexicons.dictionary import read_dictionary
from aligner.training.prior import CountsPrior, warn_of_unknown


def written(tmp_path, text):
    path = tmp_path / "dictionary"
    path.write_bytes(text.encode())
    return str(path)


def entries(priors):
    src, tgt = priors.src.words, priors.tgt.words
    a, b, counts = priors.pairs
    return [(src[x], tgt[y], z) for x, y, z in zip(a.tolist(), b.tolist(), counts.tolist(), strict=True)]


def test_columns_counts_and_case(tmp_path, caplog):
    text = "# mine\nHouse\tmaison\nhouse  chambre 2.5\r\n\nice cream\tglace\ncream \t crème\t3\nx\ty\n"
    found = read_dictionary(written(tmp_path, text), lowercase=True)
    assert entries(found) == [
        ("house", "maison", 1), ("house", "chambre", 2.5), ("cream", "crème", 3), ("x", "y", 1),
    ]  # fmt: skip
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path / 'dictionary'}: 1 entries of several words are left out"
    ]
    assert entries(read_dictionary(written(tmp_path, "House maison\n"), lowercase=False))[0][0] == "House"
    with_space = read_dictionary(written(tmp_path, "10,000 10\u00a0000\n"), lowercase=False)
    assert entries(with_space) == [("10,000", "10\u00a0000", 1)]


@pytest.mark.parametrize(
    "text, what",
    [
        ("a b\nc\n", ":2: not an entry of a dictionary"),
        ("a b c d\n", ":1: not an entry of a dictionary"),
        ("a\t\tb\n", ":1: not an entry of a dictionary"),
        ("a b c\n", ":1: 'c' is not a number above 0"),
        ("a b 0\n", ":1: '0' is not a number above 0"),
        ("a b inf\n", ":1: 'inf' is not a number above 0"),
        ("a b\nc d 1e300\n", ":2: '1e300' is not a number above 0, at most 1000000000"),
        ("", ": the dictionary has no pair of single words"),
        ("a b\tc d\n", ": the dictionary has no pair of single words"),
    ],
)
def test_lines_that_are_wrong(tmp_path, text, what):
    with pytest.raises(DataError) as caught:
        read_dictionary(written(tmp_path, text), lowercase=True)
    assert f"dictionary{what}" in str(caught.value)


def test_what_a_dictionary_knows_is_linked(tmp_path):
    """Nothing else tells which of two words that always stand together is translated by which."""
    text = [("a b", "x y"), ("c", "z")] * 20
    one, other = (
        learn(Corpus.of(text, True, "ascii"), Recipe.of("loo"), prior=CountsPrior(given, partial=True))[0]
        for given in (
            read_dictionary(written(tmp_path, pairs), lowercase=True)
            for pairs in ("a x\nb y\n", "a y\nb x\n")
        )
    )
    assert [list(zip(m.align(text[:1]).src, m.align(text[:1]).tgt, strict=True)) for m in (one, other)] == [
        [(0, 0), (1, 1)],
        [(0, 1), (1, 0)],
    ]


@pytest.mark.parametrize("pairs, n, turned", [("x a\ny b\n", 0, 80), ("A X\n", 0, 0), ("a q\n", 20, 0)])
def test_turned_and_useless_dictionaries_are_told(tmp_path, caplog, pairs, n, turned):
    """A dictionary that knows few words is no wonder."""
    corpus = Corpus.of([("a b", "x y"), ("c", "z")] * 20)
    warn_of_unknown(CountsPrior(read_dictionary(written(tmp_path, pairs), lowercase=False), True), corpus)
    told = [record.getMessage().split(":")[0] for record in caplog.records]
    what = f"the dictionary knows {n} of 120 words of the text, and {turned} with its sides turned"
    assert told == ([] if n else [what])


def test_the_command(tmp_path):
    text = [str(tmp_path / name) for name in ("src", "tgt")]
    for path, line in zip(text, ("A b\nc\n", "x y\nz\n"), strict=True):
        with open(path, "w") as out:
            out.write(line * 20)
    path = written(tmp_path, "a y\nb x\n")
    links = run("align", *text, "-q", "--lowercase", "--dictionary", path)
    assert links.splitlines()[0] == "0-1 1-0"
    plain = run("align", *text, "-q", "--lowercase")
    assert run("align", *text, "-q", "--lowercase", "--dictionary", path, "--prior-weight", 0) == plain
    for others, what in (
        (["--prior", path], "--dictionary and --prior do not go together"),
        (["--init", path], "--dictionary and --init do not go together"),
        (["--cluster", "local:1"], "--dictionary is not for --cluster"),
    ):
        assert what in run("align", *text, "--dictionary", path, *others, code=2)
    often = "--dictionary", path, "--prior-weight", 100
    diagonal = run("align", *text, "-q", "--lowercase", "--model", "diagonal", *often)
    assert diagonal.splitlines()[0] == "0-1 1-0"  # counts take the place of the model's own prior
    unused = run("align", *text, "--prior-weight", 2, code=2)
    assert "--prior-weight is for --prior and --dictionary" in unused
