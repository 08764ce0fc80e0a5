"""Phrase pairs: against their definition, against what Moses wrote, and against Moses where it is there."""

from __future__ import annotations

import gzip
import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import phrase_twins as twins
import pytest
from conftest import ROOT, shared_folder
from hypothesis import example, given
from hypothesis import strategies as st

from aligner import Corpus, DataError, LinkReader, Links, read_corpus
from aligner.uses import _phrases, phrases
from aligner.uses._table import Consolidator, Scorer
from aligner.uses.phrase_table import phrase_table
from aligner.uses.phrases import ORIENTATIONS, extract_phrases, shared_phrases
from aligner.uses.sorting import LineSorter

GOLDEN = Path(__file__).parent / "golden"
SYMMETRIZED = ROOT / "tests" / "links" / "golden" / "sample.symal.grow-diag-final-and"
L = 4  # words of a phrase in the golden files


@st.composite
def linked(draw):
    """Sentence pairs of random words and links, also in no order and twice."""
    sentences = []
    for _ in range(draw(st.integers(0, 4))):
        e, f = (draw(st.lists(st.sampled_from(words), max_size=7)) for words in ("abc", "xyz"))
        cells = list(itertools.product(range(len(e)), range(len(f))))
        links = draw(st.lists(st.sampled_from(cells), max_size=8)) if cells else []
        sentences.append((e, f, links))
    return sentences


def arrays(sentences) -> tuple[Corpus, Links]:
    text = Corpus.from_pairs([(e, f) for e, f, _ in sentences])
    return text, Links.from_pairs([links for _, _, links in sentences])


@given(linked(), st.sampled_from([1, 2, 3, 7, 1 << 30]))
def test_phrase_pairs_are_those_of_the_definition(sentences, max_length):
    found = extract_phrases(*arrays(sentences), max_length)
    expected = [twins.phrase_pairs(len(e), len(f), links, max_length) for e, f, links in sentences]
    assert list(found) == expected and len(found) == len(sentences)


# A search for phrase pairs that are farther away ends one source word too early: in one direction each.
TO_THE_RIGHT = [(list("abc"), list("xyz"), [(0, 1), (1, 0), (2, 2)])]
TO_THE_LEFT = [(list("abc"), list("xyz"), [(0, 1), (1, 2), (2, 0)])]


@given(linked(), st.sampled_from([1, 2, 3, 7]), st.sampled_from(ORIENTATIONS))
@example(TO_THE_LEFT, 7, "phrase-mslr")
@example(TO_THE_LEFT, 7, "hier-mslr")
def test_turns_are_those_of_the_definition(sentences, max_length, orientation):
    text, links = arrays(sentences)
    pairs = extract_phrases(text, links, max_length, [orientation])
    lines = phrases.orientation_lines(text, links, pairs).decode().splitlines()
    model, kind = orientation.split("-")
    expected = []
    for e, f, one in sentences:
        for turns in twins.turns(len(e), len(f), one, max_length, model, kind):
            shown = " ".join(twins.NO_TURN[kind] if x == twins.OTHER else x for x in turns)
            expected.append({"wbe": shown, "phrase": f" | {shown} | ", "hier": f" |  | {shown}"}[model])
    assert [line.split(" ||| ", 2)[2] for line in lines] == expected


@given(linked(), st.sampled_from([2, 7]), st.sampled_from(["msd", "mslr", "mono"]))
@example(TO_THE_RIGHT, 7, "mslr")
def test_hier_listens_to_phrase(sentences, max_length, first):
    text, links = arrays(sentences)
    pairs = extract_phrases(text, links, max_length, ["hier-mslr", f"phrase-{first}"])
    names = ["mono", "swap", "dleft", "dright", "other"]
    found = [(names[a], names[b]) for a, b in pairs.turns[:, 2:].tolist()]
    expected = []
    for e, f, one in sentences:
        expected += twins.turns(len(e), len(f), one, max_length, "hier", "mslr", [("phrase", first)])
    assert found == expected


@given(linked(), st.sampled_from([1, 3]))
def test_lines_are_made_of_words_and_links(sentences, max_length):
    text, links = arrays(sentences)
    pairs = extract_phrases(text, links, max_length)
    plain, inverse = [], []
    for e, f, one in sentences:
        for i1, i2, j1, j2 in twins.phrase_pairs(len(e), len(f), one, max_length):
            inside = sorted((link for link in one if j1 <= link[1] <= j2), key=lambda link: link[1])
            src, tgt = " ".join(e[i1 : i2 + 1]), " ".join(f[j1 : j2 + 1])
            plain.append(f"{src} ||| {tgt} ||| " + " ".join(f"{i - i1}-{j - j1}" for i, j in inside))
            inverse.append(f"{tgt} ||| {src} ||| " + " ".join(f"{j - j1}-{i - i1}" for i, j in inside))
    assert phrases.pair_lines(text, links, pairs).decode().splitlines() == plain
    assert phrases.inverse_lines(text, links, pairs).decode().splitlines() == inverse


@given(linked(), st.sampled_from([1, 3, 7]), st.sampled_from([1, 500, 1 << 20]))
def test_tables_are_those_of_the_definition(sentences, max_length, memory):
    text, links = arrays(sentences)
    parts = [(text.part(n, n + 1), links.part(n, n + 1)) for n in range(len(text))]
    lines = b"".join(phrase_table(parts, memory, max_length)).decode().splitlines()
    assert lines == sorted(lines)
    expected = twins.table(sentences, max_length)
    found = {tuple(line.split(" ||| ")[:2]): line.split(" ||| ")[2:] for line in lines}
    assert found.keys() == expected.keys() and len(found) == len(lines)
    for pair, (scores, chosen, counts) in expected.items():
        numbers, inside, shown, rest = found[pair]
        np.testing.assert_allclose([float(x) for x in numbers.split()], scores, rtol=1e-5, atol=0)
        assert inside.split() == [f"{i}-{j}" for i, j in sorted(chosen, key=lambda link: link[::-1])]
        assert shown.split() == [str(n) for n in counts] and rest == "|||"


def sample(data) -> tuple[Corpus, Links]:
    text = read_corpus(str(data / "sample.en"), str(data / "sample.fr")).part(0, 10)
    return text, LinkReader(str(SYMMETRIZED), base=0).read().part(0, 10)


def odd() -> tuple[Corpus, Links]:
    text = read_corpus(str(GOLDEN / "odd.src"), str(GOLDEN / "odd.tgt"))
    return text, LinkReader(str(GOLDEN / "odd.links"), text=text).read()


@pytest.mark.parametrize("name", ["sample", "odd"])
def test_lines_are_those_of_the_original(name, data):
    text, links = sample(data) if name == "sample" else odd()
    pairs = extract_phrases(text, links, L, ["wbe-msd"])
    for lines, end in (
        (phrases.pair_lines, "extract"),
        (phrases.inverse_lines, "extract.inv"),
        (phrases.orientation_lines, "wbe-msd.o"),
    ):
        assert lines(text, links, pairs) == (GOLDEN / f"{name}.{end}").read_bytes()


@pytest.mark.parametrize(
    "models", [*([name] for name in ORIENTATIONS), ["phrase-msd", "hier-mslr"]], ids=".".join
)
def test_orientations_are_those_of_the_original(models):
    text, links = odd()
    pairs = extract_phrases(text, links, L, models)
    expected = (GOLDEN / f"odd.{'.'.join(models)}.o").read_bytes()
    assert phrases.orientation_lines(text, links, pairs) == expected


def test_table_is_that_of_the_original(data):
    assert b"".join(phrase_table([sample(data)], 1 << 20, L)) == (GOLDEN / "sample.table").read_bytes()


def test_counts_have_six_digits():
    """As Moses writes and reads them: 1,234,567 is 1.23457e+06 in the table, and in the frequencies."""
    made = Consolidator()
    lines = made.add(b"a ||| x ||| 1234567 2000004 1 1 ||| 0-0\na ||| y ||| 1000000 1000000 1 1 ||| 0-0\n")
    assert lines + made.end() == (
        b"a ||| x ||| 0.617285 1 0.552487 1 ||| 0-0 ||| 2e+06 2.23457e+06 1.23457e+06 ||| |||\n"
        b"a ||| y ||| 1 1 0.447513 1 ||| 0-0 ||| 1e+06 2.23457e+06 1e+06 ||| |||\n"
    )


def test_weights_are_rounded_to_float_first():
    """As Moses has them: 0.1234565 is 0.123456 in six digits, but its float is 0.123457."""
    f, p = np.zeros(1, dtype=np.int32), np.array([[0.1234565, 0.5]])
    scorer = Scorer([(b"a", 0)], [(b"x", 0)], np.array([0, 0, 1]), f, p)
    assert scorer.add(b"x ||| a ||| 0-0\n") == b""
    assert scorer.end() == b"a ||| x ||| 1 1 0.5 0.123457 ||| 0-0\n"


def test_null_and_words_that_are_spelled_so():
    text, links = arrays([(["a", "NULL"], ["x", "y"], [(0, 0)])])
    lines = b"".join(phrase_table([(text, links)], 1000)).decode().splitlines()
    # NULL of the text is the NULL word. p(y | NULL) is a half: NULL is linked with NULL and with y.
    assert lines[0] == "a NULL ||| x y ||| 0.5 1 0.5 0.5 ||| 0-0 ||| 2 2 1 ||| |||"


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda text, links: extract_phrases(text, links, 0), "max_length must be a whole number between 1"),
        (lambda text, links: extract_phrases(text, links, 7, ["msd"]), "unknown orientation 'msd'"),
        (
            lambda text, links: extract_phrases(text, links, 7, ["wbe-msd", "hier-msd"]),
            "orientation wbe goes alone",
        ),
        (
            lambda text, links: extract_phrases(text, links, 7, ["hier-mslr", "hier-msd"]),
            "orientation has a model twice",
        ),
        (lambda text, _: extract_phrases(text, Links.from_pairs([[(0, 5)]])), "link 0-5 of sentence pair 0"),
    ],
)
def test_senseless_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(*arrays([(["a"], ["x"], [(0, 0)])]))


def test_links_of_another_text_are_refused():
    text, links = arrays([(["a"], ["x"], [(0, 0)])] * 2)
    with pytest.raises(DataError, match="links of 1 sentence pairs, the text has 2"):
        extract_phrases(text, links[:1])


def test_the_kernel_checks_at_its_door():
    text, links = arrays([(["a"], ["x"], [(0, 0)])])
    e, f = ((side.ids, side.offsets, side.vocab.text, side.vocab.offsets) for side in (text.src, text.tgt))
    pairs = extract_phrases(text, links, 7, ["wbe-msd"])
    of_links, names = (links.offsets, links.src, links.tgt), [b""] * 5
    good = [pairs.offsets, pairs.spans, pairs.turns, names, [b"", b""], 0]
    _phrases.format_pairs(e, f, *of_links, *good)
    for k, bad in (
        (0, pairs.offsets + 1),
        (1, pairs.spans + 1),
        (1, np.ascontiguousarray(pairs.spans[:, :3])),
        (2, pairs.turns + 5),
        (3, names[1:]),
        (4, [b""]),
        (5, 3),
    ):
        with pytest.raises(ValueError):
            _phrases.format_pairs(e, f, *of_links, *good[:k], bad, *good[k + 1 :])
    for model in ((3, 0), (0, 3), (-1, 0)):
        with pytest.raises(ValueError, match="there is no model"):
            _phrases.extract(text.src.offsets, text.tgt.offsets, *of_links, 7, [model])
    with pytest.raises(ValueError, match="text of 1 and 2"):
        two = Corpus.from_pairs([("a", "x")] * 2).tgt
        twice = two.ids, two.offsets, two.vocab.text, two.vocab.offsets
        _phrases.format_pairs(e, twice, *of_links, *good)


@pytest.mark.parametrize(
    "line",
    [b"x", b"x ||| a", b"x ||| a ||| 0\n", b"x ||| a ||| 0-\n", b"x ||| a ||| 0-1\n", b"x ||| a ||| 1-0\n"],
)
def test_lines_that_are_no_phrase_pairs_are_refused(line):
    """By the kernel. Nothing is read beyond the words."""
    none = np.zeros(2, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros((0, 2))
    scorer = Scorer([], [], *none)
    with pytest.raises(ValueError):
        scorer.add(line)
        scorer.end()
    with pytest.raises(ValueError):
        made = Consolidator()
        made.add(line)
        made.end()


def test_statistics(monkeypatch):
    monkeypatch.setattr("aligner.uses.sorting.CHUNK", 1)  # equal lines come in blocks of their own
    text, links = arrays([(["a", "b"], ["x"], [(0, 0)]), (["a"], ["x"], [(0, 0)]), ([], ["x"], [])])
    pairs = extract_phrases(text, links)
    for memory in (1, 1 << 20):
        found = phrases.Statistics()
        with LineSorter(memory) as lines:
            for n in range(3):
                part = text.part(n, n + 1), links.part(n, n + 1)
                one = extract_phrases(*part)
                found.add(*part, one)
                lines.add(phrases.orientation_lines(*part, one))
            found.count(lines)
        assert (found.n_sentences, found.n_pairs, found.n_distinct, found.n_once) == (3, 3, 2, 1)
        assert (found.lengths, found.n_words, found.n_unlinked) == ([4, 3], [3, 3], [1, 1])
    assert len(pairs.spans) == 3
    shown = [line.split()[-1] for line in phrases.Statistics().shown().splitlines()]
    assert shown == ["0", "0", "-", "-", "-", "0", "-", "-", "-"]


@given(linked(), linked())
def test_shared_phrases_are_those_of_the_definition(sentences, others):
    text, links = arrays(sentences)
    cut = [
        [(i, j) for i, j in other[2] if i < len(e) and j < len(f)]
        for (e, f, _), other in zip(sentences, others, strict=False)
    ]
    gold = Links.from_pairs([*cut, *([] for _ in sentences[len(cut) :])])
    expected = []
    for (e, f, one), other in zip(sentences, gold, strict=True):
        a, b = (set(twins.phrase_pairs(len(e), len(f), x, 3)) for x in (one, other))
        expected.append([len(a), len(b), len(a & b)])
    assert shared_phrases(links, gold, text, 3).tolist() == expected


def test_only_sure_links_of_gold_count():
    text, links = arrays([(["a", "b"], ["x", "y"], [(0, 0), (1, 1)])])
    gold = Links(links.offsets, links.src, links.tgt, np.array([1, 0], dtype=np.uint8))
    assert shared_phrases(links, gold, text).tolist() == [[3, 4, 2]]


MOSES = all(shutil.which(name) for name in ("extract", "score", "consolidate"))


@pytest.mark.skipif(not MOSES, reason="Moses' extract, score and consolidate are not on PATH")
def test_real_text_is_as_moses_has_it(tmp_path):
    """1,000 pairs of the Hansards, every second word linked along the diagonal: bytes are the originals'."""
    folder, n = shared_folder() / "hansards-en-fr", 1000
    for side in ("en", "fr"):
        with gzip.open(folder / f"train.{side}.gz") as file:
            (tmp_path / side).write_bytes(b"".join(itertools.islice(file, n)))
    text = read_corpus(str(tmp_path / "en"), str(tmp_path / "fr"))
    lengths = zip(text.src.lengths.tolist(), text.tgt.lengths.tolist(), strict=True)
    links = Links.from_pairs([[(k, k * J // I) for k in range(0, I, 2) if J] for I, J in lengths])
    lines = [" ".join(f"{i}-{j}" for i, j in one) for one in links]
    (tmp_path / "links").write_text("\n".join(lines) + "\n")
    aligner = Path(sys.executable).with_name("aligner")
    for command in (
        "extract fr en links moses 7 orientation --model hier-mslr 2>/dev/null",
        "LC_ALL=C sort moses > sorted; LC_ALL=C sort moses.inv > inv",
        f"{aligner} lexicon --links links --text en fr --format moses -o lex",
        "score sorted lex.f2e half 2>/dev/null; score inv lex.e2f other --Inverse 2>/dev/null",
        "LC_ALL=C sort other > half.inv; consolidate half half.inv table 2>/dev/null",
        f"{aligner} phrases en fr links --inverse --orientation hier-mslr -o ours",
        f"{aligner} phrases en fr links --table -o ours.table",
    ):
        subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    for part in ("", ".inv", ".o"):
        assert (tmp_path / f"ours{part}").read_bytes() == (tmp_path / f"moses{part}").read_bytes()
    assert (tmp_path / "ours.table").read_bytes() == (tmp_path / "table").read_bytes()
